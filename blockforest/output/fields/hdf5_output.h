/* SPDX-License-Identifier: Apache-2.0 */
/** @file hdf5_output.h
 *  @brief Volume output: quantities on all blocks as HDF5 files with XDMF descriptions, or as VTKHDF files.
 *
 *  VTKHDF files: blockforest/output/vtkhdf/vtk_fields.h. Otherwise every rank with blocks writes its own file per step, with the serial HDF5 library: no collective file operation can
 *  hang on a dead process. In FOLDER/fields:
 *
 *  - NAME_0000001000.s0003.h5: the blocks of rank 3 at step 1000 (doc/field-format.md).
 *    `/fields/QUANTITY/level-L` has all blocks of level L, [block][z][y][x], or [block][z][y][x][3] for a
 *    vector, optionally compressed; NaN marks cells without a value; attribute `unit` of the group.
 *    Tables with a row per block: `/blocks/id`, `owner`, `level`, `row` (index of the block in its level),
 *    `origin` (x, y, z of the lower corner), `spacing` (width of a cell). Attributes of the file:
 *    `format` (2), `step`, `time`, `cells` (of a block).
 *  - NAME_0000001000.xdmf: that step, one uniform grid per block.
 *  - NAME.xdmf: all steps so far, as a time series. This is the file to open.
 *
 *  The file of a rank is made in memory and written in one piece, so that a full disk is noticed and does no harm.
 *  Files are written under a temporary name, closed, and renamed when they are complete. After a rollback a step
 *  replaces the old one. The first write after a repair removes files of later steps, and files of vanished ranks for
 *  this step.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_HDF5_OUTPUT_H
#define GABION_BLOCKFOREST_HDF5_OUTPUT_H

#include "blockforest/output/output_quantity.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_volume gab_volume;

/** Formats of volume output, to be combined. */
typedef enum gab_volume_format {
  GAB_VOLUME_GABION = 1, /**< a file per rank, with XDMF; a later run can start from it */
  GAB_VOLUME_VTKHDF = 2  /**< one file, for VTK and ParaView */
} gab_volume_format;

typedef struct gab_volume_options {
  const char *folder;             /**< the run's output folder, prepared by gab_output_folder_prepare() */
  const char *name;               /**< first part of the file names; NULL: "fields" */
  const gab_quantity *quantities; /**< copied */
  size_t quantity_count;          /**< at least 1 */
  gab_output_precision precision; /**< of the files */
  int compression; /**< 0 none … 9 (deflate of HDF5, bytes shuffled); 1 is nearly as small as 9. Not of VTKHDF */
  unsigned formats; /**< sum of ::gab_volume_format; 0: ::GAB_VOLUME_GABION */
  bool has_levels;  /**< of VTKHDF: the grid may get several levels during the run, so no step is an image */
} gab_volume_options;

/** Default compression: 1, or 0 if HDF5 was built without zlib. Local. */
int gab_volume_usual_compression(void);

/** Local. @param[in] forest  borrowed as long as the writer lives
 *  @return ::GAB_ERR_INPUT for compression if HDF5 was built without it */
gab_status gab_volume_create(gab_forest *forest, const gab_volume_options *options, gab_volume **volume);
void gab_volume_destroy(gab_volume **volume);

/** Writes the present state as that of `step`. Collective.
 *  @param[in] time  physical time, shown by ParaView
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_IO with path and cause if any rank could not write (no incomplete
 *  files remain), ::GAB_ERR_FAULT in a broken world */
gab_status gab_volume_write(gab_volume *volume, gab_step step, double time);

/** Tells the writer that the run went back: the next write looks at the folder anew. Local. A repair of the
 *  world is noticed without that. */
void gab_volume_rewind(gab_volume *volume);

#ifdef __cplusplus
}
#endif
#endif
