/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: an HDF5 file that is built in memory and then written at once. All functions are local.
 *
 * HDF5's core driver builds the file, and Gabion writes it. HDF5 itself cannot close a file if the disk rejects the
 * last bytes: it retries at the end of the program and crashes. The cost is memory for the whole file during the
 * write. */
#ifndef GABION_BLOCKFOREST_HDF5_IMAGE_IMPL_H
#define GABION_BLOCKFOREST_HDF5_IMAGE_IMPL_H

#include "blockforest/hdf5/hdf5_lock.h"
#include "core/base/status.h"

#include <hdf5.h>
#include <stdbool.h>

#define GAB_HDF5_CAUSE_CAPACITY 256

/* A file under construction. The first failure is stored, and later calls do nothing. */
typedef struct gab_hdf5_image {
  hid_t file;
  void *bytes; /* of the unfinished file */
  size_t capacity;
  size_t size; /* of the finished file */
  bool failed;
  char cause[GAB_HDF5_CAUSE_CAPACITY];
} gab_hdf5_image;

/* Opens a new image, which must not move in memory. Call this and all functions that fill and finish it between
 * gab_hdf5_lock() and gab_hdf5_unlock(). */
void gab_hdf5_image_open(gab_hdf5_image *image, size_t increment);
/* The same in the oldest format, without checksums of metadata, and with each dataset at a separate place. Not to be
 * finished: the caller closes the file, and uses the bytes. */
void gab_hdf5_image_open_plain(gab_hdf5_image *image, size_t increment);
/* The same for a file whose large arrays are not in memory: datasets that are allocated early and never filled. All
 * metadata is in the first `metadata` bytes after the superblock; more makes HDF5 put some of it behind the arrays. */
void gab_hdf5_image_open_head(gab_hdf5_image *image, size_t metadata);
/* Finishes such an image: its first image->capacity bytes are in memory. @param[out] size  of the whole file */
gab_status gab_hdf5_image_finish_head(gab_hdf5_image *image, const char *path, uint64_t *size);
/* Finishes the image in memory. @param[in] path for messages */
gab_status gab_hdf5_image_finish(gab_hdf5_image *image, const char *path);
/* Writes a finished image to `path`, first under a temporary name. May wait for the disk, so call it after
 * gab_hdf5_unlock(). GAB_ERR_IO with path and cause; then no file remains. */
gab_status gab_hdf5_image_save(const gab_hdf5_image *image, const char *path);
/* Frees the memory without disk access. Call it between gab_hdf5_lock() and gab_hdf5_unlock(). */
void gab_hdf5_image_close(gab_hdf5_image *image);
/* Returns the stored failure as a status; GAB_OK if there is none. */
gab_status gab_hdf5_image_status(const gab_hdf5_image *image, const char *path);

/* Stores a failure of the HDF5 call that has just returned. */
bool gab_hdf5_check(gab_hdf5_image *image, int64_t returned);
void gab_hdf5_put_attribute(gab_hdf5_image *image, hid_t object, const char *name, hid_t type, hsize_t count,
                            const void *values);
void gab_hdf5_put_text(gab_hdf5_image *image, hid_t object, const char *name, const char *text);
/* @param[in] compression  of deflate; 0: none */
void gab_hdf5_put_table(gab_hdf5_image *image, hid_t group, const char *name, hid_t type, int rank,
                        const hsize_t *extent, int compression, const void *values);
/* @return the group, to be closed if it is not negative */
hid_t gab_hdf5_make_group(gab_hdf5_image *image, const char *name);
/* Creates the properties of a dataset, which the caller closes: contiguous, or in compressed chunks of moderate size. */
hid_t gab_hdf5_layout(int rank, const hsize_t *extent, size_t value_size, int compression);
/* Creates a dataset for a field of doubles or (`single`) floats; the caller closes it if it is not negative. */
hid_t gab_hdf5_make_field(gab_hdf5_image *image, hid_t group, const char *name, int rank,
                          const hsize_t *extent, bool single, int compression);
/* Writes one row along the slowest axis of a field, or (row < 0) the whole field. `narrow`: buffer for the written
 * values as floats if the field is single; else NULL. */
void gab_hdf5_fill_field(gab_hdf5_image *image, hid_t field, int64_t row, const double *values,
                         float *narrow);
/* Creates and fills the dataset of a whole field. */
void gab_hdf5_put_field(gab_hdf5_image *image, hid_t group, const char *name, int rank, const hsize_t *extent,
                        int compression, const double *values, float *narrow);

#endif
