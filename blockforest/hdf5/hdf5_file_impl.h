/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the HDF5 file of one rank at one step. Nothing here communicates. */
#ifndef GABION_BLOCKFOREST_HDF5_FILE_IMPL_H
#define GABION_BLOCKFOREST_HDF5_FILE_IMPL_H

#include "blockforest/output/output_quantity.h"

/* Of files as they are written now: /fields/QUANTITY/level-L is [block][z][y][x]. Files without this
 * attribute are of format 1: /fields/QUANTITY/block-ID, each block on its own. */
#define GAB_HDF5_FORMAT 2

#define GAB_HDF5_LEVEL_NAME 24

/* The dataset of a level in a quantity's group. */
void gab_hdf5_level_name(int level, char name[GAB_HDF5_LEVEL_NAME]);

/* Number of local blocks of that level. In the fields of a level they are in the order of the forest. */
size_t gab_hdf5_blocks_of_level(const gab_forest *forest, int level);

/* Content of a file. */
typedef struct gab_hdf5_content {
  const gab_forest *forest;
  const gab_quantity *quantities;
  size_t quantity_count;
  gab_output_precision precision;
  int compression;
  gab_step step;
  double time;
  double *values; /* capacity for one block of the widest quantity */
  float *narrow;  /* the same in single precision; NULL in double precision */
} gab_hdf5_content;

/* Writes all local blocks (at least one) to `path`: under a temporary name first. On failure no file is left.
 * GAB_ERR_IO with path and cause. */
gab_status gab_hdf5_write_blocks(const char *path, const gab_hdf5_content *content);

/* True if HDF5 can deflate. */
bool gab_hdf5_can_compress(void);

/* Checks a level of compression, 0 (none) to 9. `what` names the output in messages. GAB_ERR_INPUT outside, or without zlib. */
gab_status gab_hdf5_compression_check(const char *what, int level);

#endif
