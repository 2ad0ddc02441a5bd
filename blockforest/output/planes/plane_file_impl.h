/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the HDF5 file of a plane. It has attributes and one dataset `rows` of a compound type, contiguous, at the
 * end of the file. The part before it, the head, is a function of the attributes and the number of rows, with a
 * constant size. So rows are appended and cut as in a text file, and the bytes do not depend on the history of the
 * file. HDF5 makes the heads for the first rows in memory; their comparison yields the numbers that depend on the
 * rows. No communication. */
#ifndef GABION_BLOCKFOREST_PLANE_FILE_IMPL_H
#define GABION_BLOCKFOREST_PLANE_FILE_IMPL_H

#include "blockforest/output/output_quantity.h"
#include "core/base/buffer.h"

enum {
  GAB_PLANE_FORMAT = 1,
  GAB_PLANE_ROW_HEAD = 16, /* bytes of a row before its values: step, time */
  GAB_PLANE_NUMBERS = 8    /* most numbers in the head that depend on the rows */
};

/* Metadata of the rows. */
typedef struct gab_plane_shape {
  int dimension, axis;
  double position, origin[3], spacing[2]; /* origin: the first point */
  int64_t points[2];
  const gab_quantity *quantities; /* borrowed, as are their texts */
  size_t quantity_count;
  const char *time_unit, *identity;
} gab_plane_shape;

/* A 64-bit number in the head: first + rows * each. */
typedef struct gab_plane_number {
  size_t at;
  uint64_t first, each;
} gab_plane_number;

typedef struct gab_plane_file {
  char *path;
  gab_buffer head; /* empty: not made yet */
  size_t row_bytes;
  gab_plane_number numbers[GAB_PLANE_NUMBERS];
  int number_count;
  size_t identity_at, identity_bytes; /* of the case in the head: a resumed run may have another identity */
  int error;                          /* errno of the last failure */
  /* The root alone went back, see gab_series_file.overlaps. */
  bool overlaps;
  bool has_warned;
} gab_plane_file;

size_t gab_plane_row_bytes(const gab_plane_shape *shape);

/* Puts row number `index` after the rows of earlier steps and cuts off later rows, unless it overlaps. A warning
 * names missing earlier rows. @param[in] row  of file->row_bytes, begins with its step and time
 * @return GAB_ERR_IO with path and cause; waits while the disk refuses */
gab_status gab_plane_file_write(gab_plane_file *file, const gab_plane_shape *shape, uint64_t index,
                                const void *row);
/* Cuts it to a number of rows, unless it overlaps; removes it if there are none. @param[in] last  step of the last row */
gab_status gab_plane_file_cut(gab_plane_file *file, const gab_plane_shape *shape, uint64_t rows,
                              gab_step last);
/* Renames an existing file to the first free name of NAME_1.h5, NAME_2.h5, ..., and warns. */
gab_status gab_plane_file_set_aside(gab_plane_file *file, const char *why);
void gab_plane_file_release(gab_plane_file *file);

#endif
