/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: an HDF5 file that is made in memory and then written in one piece. Nothing here communicates.
 *
 * HDF5's core driver makes it, we write it: left to write by itself, HDF5 cannot let go of a file whose last
 * bytes the disk refuses: it tries again at the end of the program, and crashes there. The price is the
 * memory of the whole file for that moment. */
#ifndef GABION_BLOCKFOREST_HDF5_IMAGE_IMPL_H
#define GABION_BLOCKFOREST_HDF5_IMAGE_IMPL_H

#include "blockforest/hdf5/hdf5_lock.h"
#include "core/base/status.h"

#include <hdf5.h>
#include <stdbool.h>

#define GAB_HDF5_CAUSE_CAPACITY 256

/* A file that is being made. The first failure is kept; after it nothing more is tried. */
typedef struct gab_hdf5_image {
  hid_t file;
  void *bytes; /* of the file, as far as it is made */
  size_t capacity;
  size_t size; /* of the finished file */
  bool failed;
  char cause[GAB_HDF5_CAUSE_CAPACITY];
} gab_hdf5_image;

/* Opens a new one, which stays where it is in memory. This, and what fills and completes it, between gab_hdf5_lock() and
 * gab_hdf5_unlock(). */
void gab_hdf5_image_open(gab_hdf5_image *image, size_t increment);
/* Completes it in memory. @param[in] path  for messages */
gab_status gab_hdf5_image_finish(gab_hdf5_image *image, const char *path);
/* Writes a finished one to `path`, under a temporary name first; may wait for the disk, so behind gab_hdf5_unlock().
 * GAB_ERR_IO with path and cause; no file is left then. */
gab_status gab_hdf5_image_save(const gab_hdf5_image *image, const char *path);
/* Frees the memory; touches no disk. Between gab_hdf5_lock() and gab_hdf5_unlock(). */
void gab_hdf5_image_close(gab_hdf5_image *image);
/* Makes a status of the failure that was noted; GAB_OK if there is none. */
gab_status gab_hdf5_image_status(const gab_hdf5_image *image, const char *path);

/* Notes a failure of the HDF5 call that has just returned. */
bool gab_hdf5_check(gab_hdf5_image *image, int64_t returned);
void gab_hdf5_put_attribute(gab_hdf5_image *image, hid_t object, const char *name, hid_t type, hsize_t count,
                            const void *values);
void gab_hdf5_put_text(gab_hdf5_image *image, hid_t object, const char *name, const char *text);
/* @param[in] compression  of deflate; 0: none */
void gab_hdf5_put_table(gab_hdf5_image *image, hid_t group, const char *name, hid_t type, int rank,
                        const hsize_t *extent, int compression, const void *values);
/* @return the group, to be closed if it is not negative */
hid_t gab_hdf5_make_group(gab_hdf5_image *image, const char *name);
/* The properties of a dataset, to be closed: as it is, or in compressed chunks of moderate size. */
hid_t gab_hdf5_layout(int rank, const hsize_t *extent, size_t value_size, int compression);
/* A dataset for a field, of doubles or (`single`) of floats, to be closed if it is not negative. */
hid_t gab_hdf5_make_field(gab_hdf5_image *image, hid_t group, const char *name, int rank,
                          const hsize_t *extent, bool single, int compression);
/* Writes one row along the slowest axis of a field, or (row < 0) all of it. `narrow`: capacity for what is
 * written, if the field is single; else NULL. */
void gab_hdf5_fill_field(gab_hdf5_image *image, hid_t field, int64_t row, const double *values,
                         float *narrow);
/* Both at once, for a field that is written as a whole. */
void gab_hdf5_put_field(gab_hdf5_image *image, hid_t group, const char *name, int rank, const hsize_t *extent,
                        int compression, const double *values, float *narrow);

#endif
