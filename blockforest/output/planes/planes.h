/* SPDX-License-Identifier: Apache-2.0 */
/** @file planes.h
 *  @brief Planes: quantities on a uniform grid in a plane across an axis (in 2D a line), step by step in one HDF5 file.
 *
 *  A point has the value of a polynomial through its cell and the neighbours in the same block. The polynomial is of
 *  second degree along each axis (linear in a block of two cells); next to cells without a value, differences use the
 *  neighbours with one. It is of second order or higher, except where no neighbour has a value, and needs no messages.
 *  Points in cells without a value, or outside of all blocks, are NaN.
 *
 *  The file (doc/field-format.md) has one row per step. It is a function of its rows: after a rollback its bytes are
 *  those of an undisturbed run, on any number of processes.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_PLANES_H
#define GABION_BLOCKFOREST_PLANES_H

#include "blockforest/output/output_quantity.h"
#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_plane gab_plane;

enum { GAB_PLANE_MOST_QUANTITIES = 16 };

typedef struct gab_plane_options {
  const char *folder; /**< of the file; must exist */
  const char *name;   /**< the file is FOLDER/NAME.h5 */
  int axis;           /**< normal of the plane; 2D: 0 or 1 */
  double position;    /**< on that axis */
  double spacing;     /**< of the points, > 0; rounded to a whole number of points along each axis */
  const gab_quantity *quantities; /**< copied; names and units are borrowed as long as the plane lives */
  size_t quantity_count;          /**< 1 to #GAB_PLANE_MOST_QUANTITIES */
  const char *time_unit;          /**< for readers; NULL or "" if it has none */
  const char *identity;           /**< of the case, for the attribute `case`; at most 64 bytes; NULL: none */
} gab_plane_options;

/** Local. @param[in] forest  borrowed as long as the plane lives
 *  @return ::GAB_ERR_INPUT for an invalid name, and for a plane outside of the domain */
gab_status gab_plane_create(gab_forest *forest, const gab_plane_options *options, gab_plane **plane);
void gab_plane_destroy(gab_plane **plane);
const char *gab_plane_name(const gab_plane *plane);

/** Evaluates the quantities and appends a row. Collective; a step that already has a row is ignored.
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_IO with path and cause, ::GAB_ERR_FAULT in a broken world */
gab_status gab_plane_write(gab_plane *plane, gab_step step, double time);

/** Number of rows and the step of the last one: the same bytes on all ranks. Local. */
gab_status gab_plane_pack(const gab_plane *plane, gab_buffer *out);
/** Returns to a packed cursor, or advances to it after a restart: the root cuts the file. Local. @return as
 *  gab_series_unpack() */
gab_status gab_plane_unpack(gab_plane *plane, gab_reader *in);
/** Starts without rows; an existing file is moved aside. Local. */
gab_status gab_plane_begin_anew(gab_plane *plane);
/** A hash of grid and quantities, on which the rows depend. */
uint64_t gab_plane_hash(const gab_plane *plane);

#ifdef __cplusplus
}
#endif
#endif
