/* SPDX-License-Identifier: Apache-2.0 */
/** @file slab_writer.h
 *  @brief Boxes of cells in files of their own, and the whole that is made of them afterwards.
 *
 *  For what leaves a moving window: cells are counted from the place where the window began, so each has a
 * number that it keeps. Every block writes its own part of a box, with the serial HDF5 library; nothing is
 * collective but the outcome. A file is named by its place alone:
 *
 *      FOLDER/NAME_0000000120-00040-00000.h5      row 120 along the last axis and up; y from 40, x from 0
 * (2D: x)
 *
 *  and holds /fields/QUANTITY/part ([z][y][x], or [z][y][x][3] for a vector) with the attributes `first` (x,
 * y, z of the first cell), `cells`, `axis`, `spacing`, `origin` (coordinates of that cell's lower corner),
 * `step`, `time`. It does not tell who wrote it: what is written again after a rollback is the same bytes,
 * whoever owns the block now. Files appear under their name when they are whole.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_SLAB_WRITER_H
#define GABION_BLOCKFOREST_SLAB_WRITER_H

#include "blockforest/output/fields/hdf5_output.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_slab_writer gab_slab_writer;

typedef struct gab_slab_writer_options {
  const char *folder;             /**< copied; made when something is written */
  const gab_quantity *quantities; /**< copied */
  size_t quantity_count;          /**< at least 1 */
  gab_output_precision precision; /**< of the files */
  int compression;                /**< 0 none … 9 (deflate of HDF5) */
} gab_slab_writer_options;

/** Local. @param[in] forest  of one level; borrowed as long as the writer lives
 *  @return ::GAB_ERR_INPUT if compression is asked for and HDF5 was built without it */
gab_status gab_slab_writer_create(gab_forest *forest, const gab_slab_writer_options *options,
                                  gab_slab_writer **writer);
void gab_slab_writer_destroy(gab_slab_writer **writer);

/** Writes the rows [lo, hi) of the domain, cut across the last axis, by the blocks that have cells there.
 * Collective.
 *  @param[in] name   first part of the file names
 *  @param[in] shift  rows that the window has moved: added to the number of a row
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_IO with path and cause, ::GAB_ERR_FAULT in a broken world
 */
gab_status gab_slab_writer_write(gab_slab_writer *writer, const char *name, int64_t lo, int64_t hi,
                                 int64_t shift, gab_step step, double time);

/** Removes the files NAME_* whose first row is `row` or above, and what was not finished: what an older run
 * in this folder has left. Collective; the root does it while the others wait. */
gab_status gab_slab_writer_remove(gab_slab_writer *writer, const char *name, int64_t row);

/** What gab_slabs_assemble() has found. */
typedef struct gab_slabs_assembled {
  int64_t first[3], cells[3];
  size_t parts;
} gab_slabs_assembled;

/** Makes one field of all parts in a folder, whatever their names: `path`.h5 with /fields/QUANTITY/whole and
 * the attributes of a part but step and time, and `path`.xdmf for ParaView. Needs memory for one part at a
 * time. Local.
 *  @param[in] linked  only the description is written, which points to the parts where they are
 *  @return ::GAB_ERR_INPUT if there are no parts, or they do not fit together: a cell is missing or there
 * twice;
 *  ::GAB_ERR_IO with path and cause */
gab_status gab_slabs_assemble(const char *folder, const char *path, bool linked, gab_slabs_assembled *whole);

#ifdef __cplusplus
}
#endif
#endif
