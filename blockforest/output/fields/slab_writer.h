/* SPDX-License-Identifier: Apache-2.0 */
/** @file slab_writer.h
 *  @brief Boxes of cells in separate files, and their assembly into one field.
 *
 *  For cells that leave a moving window. Cells are counted from the first position of the window, so each keeps its
 *  number. Every block writes its own part of a box, with the serial HDF5 library; only the status is collective. The
 *  position alone gives the name of a file:
 *
 *      FOLDER/NAME_0000000120-00040-00000.h5      row 120 along the last axis and up; y from 40, x from 0 (2D: x)
 *
 *  It has /fields/QUANTITY/part ([z][y][x], or [z][y][x][3] for a vector) with the attributes `first` (x, y, z of the
 *  first cell), `cells`, `axis`, `spacing`, `origin` (coordinates of that cell's lower corner), `step`, `time`. It does
 *  not name the writing rank: after a rollback any owner writes the same bytes. Complete files get their name by a
 *  rename.
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
  const char *folder;             /**< copied; made by the first write */
  const gab_quantity *quantities; /**< copied */
  size_t quantity_count;          /**< at least 1 */
  gab_output_precision precision; /**< of the files */
  int compression;                /**< 0 none … 9 (deflate of HDF5) */
} gab_slab_writer_options;

/** Local. @param[in] forest  of one level; borrowed as long as the writer lives
 * @return ::GAB_ERR_INPUT for compression if HDF5 was built without it */
gab_status gab_slab_writer_create(gab_forest *forest, const gab_slab_writer_options *options,
                                  gab_slab_writer **writer);
void gab_slab_writer_destroy(gab_slab_writer **writer);

/** Writes the rows [lo, hi) of the domain across the last axis, each block its own cells. Collective.
 * @param[in] name   first part of the file names
 * @param[in] shift  rows that the window has moved: added to the number of a row
 * @return on all ranks the same: GAB_OK, ::GAB_ERR_IO with path and cause, ::GAB_ERR_FAULT in a broken world
 */
gab_status gab_slab_writer_write(gab_slab_writer *writer, const char *name, int64_t lo, int64_t hi,
                                 int64_t shift, gab_step step, double time);

/** Removes files of an older run in this folder: files NAME_* whose first row is `row` or above, and incomplete
 * files. Collective; the root removes while the others wait. */
gab_status gab_slab_writer_remove(gab_slab_writer *writer, const char *name, int64_t row);

/** Result of gab_slabs_assemble(). */
typedef struct gab_slabs_assembled {
  int64_t first[3], cells[3];
  size_t parts;
} gab_slabs_assembled;

/** Makes one field of all parts in a folder, whatever their names: `path`.h5 with /fields/QUANTITY/whole and the
 * attributes of a part except step and time, and `path`.xdmf for ParaView. Needs memory for one part at a time.
 * Local.
 * @param[in] linked  write only the description, with links to the parts
 * @return ::GAB_ERR_INPUT if there are no parts, or a cell is missing or repeated; ::GAB_ERR_IO with path and cause */
gab_status gab_slabs_assemble(const char *folder, const char *path, bool linked, gab_slabs_assembled *whole);

#ifdef __cplusplus
}
#endif
#endif
