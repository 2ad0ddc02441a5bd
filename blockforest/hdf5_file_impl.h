/* Internal: the HDF5 file of one slot at one step. Nothing here communicates. */
#ifndef GABION_BLOCKFOREST_HDF5_FILE_IMPL_H
#define GABION_BLOCKFOREST_HDF5_FILE_IMPL_H

#include "blockforest/hdf5_output.h"

/* What goes into a file. */
typedef struct gab_hdf5_content {
  const gab_forest *forest;
  const gab_quantity *quantities;
  size_t quantity_count;
  gab_output_precision precision;
  int compression;
  gab_step step;
  double time;
  double *values; /* room for one block of the widest quantity */
  float *narrow;  /* the same in single precision; NULL in double precision */
} gab_hdf5_content;

/* Writes all local blocks (at least one) to `path`: under a temporary name first. On failure no file is left.
 * GAB_ERR_IO with path and cause. */
gab_status gab_hdf5_write_blocks(const char *path, const gab_hdf5_content *content);

/* True if HDF5 can deflate. */
bool gab_hdf5_can_compress(void);

#endif
