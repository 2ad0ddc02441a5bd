/* SPDX-License-Identifier: Apache-2.0 */
/** @file particle_output.h
 *  @brief Particles in HDF5 files with XDMF descriptions, for ParaView and Python.
 *
 *  One file for each step, in FOLDER/fields:
 *
 *  - NAME_0000001000.h5: `/particles/id`, `/particles/position` (x, y, z) and a dataset for each column, in ascending order of ids
 *    (doc/field-format.md).
 *  - NAME_0000001000.xdmf: its description; NAME.xdmf: all steps so far, the file to open.
 *
 *  The files are a function of the particles alone: the same bytes for any number of processes. The root gathers all
 *  particles while it writes: with 8 columns, about 200 bytes per particle.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_PARTICLE_OUTPUT_H
#define GABION_BLOCKFOREST_PARTICLE_OUTPUT_H

#include "blockforest/particles/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Type of a number in a record; 8 bytes each. */
typedef enum gab_particle_number {
  GAB_PARTICLE_F64 = 0,
  GAB_PARTICLE_I64,
  GAB_PARTICLE_U64
} gab_particle_number;

/** A column: numbers of a record for output. */
typedef struct gab_particle_column {
  const char *name; /**< letters, digits, `_` and `-`; not `id`, `position` or `row` */
  const char *unit; /**< for readers; NULL or "" if it has none */
  size_t offset;    /**< in the record: offsetof(tracer, velocity) */
  int components;   /**< 1, or 3 for a vector */
  gab_particle_number type;
} gab_particle_column;

enum { GAB_PARTICLE_MOST_COLUMNS = 32 };

typedef struct gab_particle_output_options {
  const char *folder;                 /**< the run's output folder, prepared by gab_output_folder_make() */
  const char *name;                   /**< first part of the file names */
  const gab_particle_column *columns; /**< copied; names and units are borrowed as long as the writer lives */
  size_t column_count;                /**< at most ::GAB_PARTICLE_MOST_COLUMNS */
  int compression;                    /**< 0 none … 9 (deflate of HDF5) */
} gab_particle_output_options;

typedef struct gab_particle_output gab_particle_output;

/** Local. @param[in] particles  borrowed as long as the writer lives
 *  @return ::GAB_ERR_ARGUMENT for columns outside of the record; ::GAB_ERR_INPUT for an invalid name, or compression
 *  without zlib */
gab_status gab_particle_output_create(const gab_particles *particles,
                                      const gab_particle_output_options *options,
                                      gab_particle_output **output);
void gab_particle_output_destroy(gab_particle_output **output);
/** First part of the names of its files. */
GAB_EXTENDER const char *gab_particle_output_name(const gab_particle_output *output);

/** Writes the particles as those of `step`. Collective. @param[in] time  physical time, shown by ParaView
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_IO with path and cause (no incomplete files remain),
 *  ::GAB_ERR_FAULT in a broken world */
gab_status gab_particle_output_write(gab_particle_output *output, gab_step step, double time);

/** Notifies the writer of a rollback: the next write removes later steps. Local. A repair of the world is noticed
 *  without this call. */
GAB_EXTENDER void gab_particle_output_rewind(gab_particle_output *output);

#ifdef __cplusplus
}
#endif
#endif
