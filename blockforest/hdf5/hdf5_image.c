/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/hdf5/hdf5_image_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "core/memory/memory.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------- failures */

static herr_t find_cause(unsigned n, const H5E_error2_t *error, void *cause)
{
  (void)n;
  snprintf(cause, GAB_HDF5_CAUSE_CAPACITY, "%.200s", error->desc ? error->desc : "no reason given");
  return 1; /* the innermost one */
}

static void note_failure(gab_hdf5_image *image)
{
  if (image->failed) return;
  image->failed = true;
  snprintf(image->cause, sizeof image->cause, "no reason given");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_cause, image->cause);
}

bool gab_hdf5_check(gab_hdf5_image *image, int64_t returned)
{
  if (returned < 0) note_failure(image);
  return returned >= 0;
}

gab_status gab_hdf5_image_status(const gab_hdf5_image *image, const char *path)
{
  if (!image->failed) return GAB_OK;
  GAB_FAIL(GAB_ERR_IO, "HDF5 cannot make %s: %s", path, image->cause);
}

/* ---------------------------------------------------------------------------------------- content */

void gab_hdf5_put_attribute(gab_hdf5_image *image, hid_t object, const char *name, hid_t type, hsize_t count,
                            const void *values)
{
  if (image->failed) return;
  hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (gab_hdf5_check(image, attribute)) {
    gab_hdf5_check(image, H5Awrite(attribute, type, values));
    gab_hdf5_check(image, H5Aclose(attribute));
  }
  H5Sclose(space);
}

void gab_hdf5_put_text(gab_hdf5_image *image, hid_t object, const char *name, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  gab_hdf5_put_attribute(image, object, name, type, 1, text);
  H5Tclose(type);
}

void gab_hdf5_put_table(gab_hdf5_image *image, hid_t group, const char *name, hid_t type, int rank,
                        const hsize_t *extent, int compression, const void *values)
{
  if (image->failed) return;
  hid_t space = H5Screate_simple(rank, extent, NULL);
  hid_t layout = gab_hdf5_layout(rank, extent, H5Tget_size(type), compression);
  hid_t table = H5Dcreate2(group, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  if (gab_hdf5_check(image, table)) {
    gab_hdf5_check(image, H5Dwrite(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    gab_hdf5_check(image, H5Dclose(table));
  }
  H5Pclose(layout);
  H5Sclose(space);
}

hid_t gab_hdf5_make_group(gab_hdf5_image *image, const char *name)
{
  if (image->failed) return H5I_INVALID_HID;
  hid_t plain = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(plain, false);
  hid_t group = H5Gcreate2(image->file, name, H5P_DEFAULT, plain, H5P_DEFAULT);
  gab_hdf5_check(image, group);
  H5Pclose(plain);
  return group;
}

/* Several small blocks share a chunk, since its place in the file would otherwise take more space than its content.
 * Large blocks are cut, so that a reader need not unpack all for a part. Pieces are about equally large. */
static void choose_chunk(int rank, const hsize_t *extent, size_t value_size, hsize_t *chunk)
{
  const size_t enough = (size_t)64 << 10; /* bytes */
  size_t bytes = value_size;
  for (int k = rank - 1; k >= 0; k--) {
    const size_t most = bytes < enough ? enough / bytes : 1; /* rows of the faster axes */
    const hsize_t pieces = (extent[k] + most - 1) / most;
    chunk[k] = pieces > 1 ? (extent[k] + pieces - 1) / pieces : extent[k];
    bytes *= chunk[k];
  }
}

hid_t gab_hdf5_layout(int rank, const hsize_t *extent, size_t value_size, int compression)
{
  hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(layout, false);
  if (compression > 0) {
    hsize_t chunk[H5S_MAX_RANK];
    choose_chunk(rank, extent, value_size, chunk);
    H5Pset_chunk(layout, rank, chunk);
    H5Pset_shuffle(layout);
    H5Pset_deflate(layout, (unsigned)compression);
  } else {
    H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER); /* in chunks only the part beyond the end is affected */
  }
  return layout;
}

hid_t gab_hdf5_make_field(gab_hdf5_image *image, hid_t group, const char *name, int rank,
                          const hsize_t *extent, bool single, int compression)
{
  if (image->failed) return H5I_INVALID_HID;
  hid_t layout = gab_hdf5_layout(rank, extent, single ? sizeof(float) : sizeof(double), compression);
  hid_t space = H5Screate_simple(rank, extent, NULL);
  hid_t field = H5Dcreate2(group, name, single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, space, H5P_DEFAULT, layout,
                           H5P_DEFAULT);
  gab_hdf5_check(image, field);
  H5Sclose(space);
  H5Pclose(layout);
  return field;
}

void gab_hdf5_fill_field(gab_hdf5_image *image, hid_t field, int64_t row, const double *values, float *narrow)
{
  if (image->failed) return;
  hsize_t start[H5S_MAX_RANK] = {0}, extent[H5S_MAX_RANK];
  hid_t there = H5Dget_space(field);
  const int rank = H5Sget_simple_extent_dims(there, extent, NULL);
  if (row >= 0) {
    start[0] = (hsize_t)row;
    extent[0] = 1;
    gab_hdf5_check(image, H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, extent, NULL));
  }
  hid_t here = H5Screate_simple(rank, extent, NULL);
  if (narrow) {
    const hssize_t count = H5Sget_simple_extent_npoints(here);
    for (hssize_t i = 0; i < count; i++) narrow[i] = (float)values[i];
  }
  gab_hdf5_check(image, H5Dwrite(field, narrow ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, here, there,
                                 H5P_DEFAULT, narrow ? (const void *)narrow : values));
  H5Sclose(here);
  H5Sclose(there);
}

void gab_hdf5_put_field(gab_hdf5_image *image, hid_t group, const char *name, int rank, const hsize_t *extent,
                        int compression, const double *values, float *narrow)
{
  hid_t field = gab_hdf5_make_field(image, group, name, rank, extent, narrow != NULL, compression);
  if (field < 0) return;
  gab_hdf5_fill_field(image, field, -1, values, narrow);
  gab_hdf5_check(image, H5Dclose(field));
}

/* ---------------------------------------------------------------------------------------- the file */

/* Written files are as small as the format allows, for ParaView (HDF5 1.10 or later). */
static herr_t set_format(hid_t access)
{
#if H5_VERSION_GE(1, 10, 2)
  return H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
#else
  return H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
#endif
}

/* The driver's memory is ours: it outlives the file. Only a file that is closed is one that others can open:
 * until then it says that somebody is writing it. */

static void *resize_memory(void *pointer, size_t size, H5FD_file_image_op_t operation, void *user)
{
  (void)operation;
  gab_hdf5_image *image = user;
  if (pointer != image->bytes) return NULL;
  if (gab_realloc(size, GAB_MEMORY_OTHER, &image->bytes) != GAB_OK) return NULL;
  image->capacity = size;
  return image->bytes;
}

static herr_t keep_memory(void *pointer, H5FD_file_image_op_t operation, void *user)
{
  (void)pointer, (void)operation, (void)user;
  return 0;
}

static void *share_user(void *user) { return user; }

static herr_t forget_user(void *user)
{
  (void)user;
  return 0;
}

/* @param[in] metadata  bytes for all metadata, at the begin; 0: where HDF5 puts them */
static void open_image(gab_hdf5_image *image, size_t increment, bool plain, size_t metadata)
{
  /* An impossible file name: otherwise HDF5 would read an existing file. */
  static const char *const nowhere = "/dev/null/gabion.h5";
  *image = (gab_hdf5_image){.file = H5I_INVALID_HID};
  H5FD_file_image_callbacks_t memory = {.image_realloc = resize_memory,
                                        .image_free = keep_memory,
                                        .udata_copy = share_user,
                                        .udata_free = forget_user,
                                        .udata = image};
  hid_t in_memory = H5Pcreate(H5P_FILE_ACCESS), timeless = H5Pcreate(H5P_FILE_CREATE);
  gab_hdf5_check(image, H5Pset_fapl_core(in_memory, increment, false));
  gab_hdf5_check(image, H5Pset_file_image_callbacks(in_memory, &memory));
  gab_hdf5_check(image, H5Pset_fclose_degree(in_memory, H5F_CLOSE_STRONG));
  if (!plain) gab_hdf5_check(image, set_format(in_memory));
  if (plain || metadata) gab_hdf5_check(image, H5Pset_small_data_block_size(in_memory, 0));
  if (metadata) gab_hdf5_check(image, H5Pset_meta_block_size(in_memory, metadata));
  gab_hdf5_check(image, H5Pset_obj_track_times(timeless, false));
  image->file = H5Fcreate(nowhere, H5F_ACC_TRUNC, timeless, in_memory);
  gab_hdf5_check(image, image->file);
  H5Pclose(timeless);
  H5Pclose(in_memory);
}

void gab_hdf5_image_open(gab_hdf5_image *image, size_t increment) { open_image(image, increment, false, 0); }

void gab_hdf5_image_open_plain(gab_hdf5_image *image, size_t increment)
{
  open_image(image, increment, true, 0);
}

void gab_hdf5_image_open_head(gab_hdf5_image *image, size_t metadata)
{
  open_image(image, 1, false, metadata); /* the memory then ends with the last byte that HDF5 has written */
}

/* Where the file ends, as its superblock (of version 2 or 3) says. 0: it is none. */
static uint64_t end_of_file(const gab_hdf5_image *image)
{
  enum { VERSION = 8, WIDTH = 9, END = 28, SUPERBLOCK = 48 };
  const unsigned char *bytes = image->bytes;
  uint64_t end = 0;
  if (image->capacity < SUPERBLOCK || bytes[VERSION] < 2 || bytes[WIDTH] != sizeof end) return 0;
  for (int i = 7; i >= 0; i--) end = end << 8 | bytes[END + i];
  return end;
}

gab_status gab_hdf5_image_finish_head(gab_hdf5_image *image, const char *path, uint64_t *size)
{
  GAB_TRY(gab_hdf5_image_status(image, path));
  gab_hdf5_check(image, H5Fclose(image->file));
  image->file = H5I_INVALID_HID;
  GAB_TRY(gab_hdf5_image_status(image, path));
  *size = end_of_file(image);
  if (*size == 0) GAB_FAIL(GAB_ERR_CORRUPT, "HDF5 has made no file of %s that could be written", path);
  return GAB_OK;
}

gab_status gab_hdf5_image_finish(gab_hdf5_image *image, const char *path)
{
  uint64_t size;
  GAB_TRY(gab_hdf5_image_finish_head(image, path, &size));
  if (size > image->capacity)
    GAB_FAIL(GAB_ERR_CORRUPT, "HDF5 has made no file of %s that could be written", path);
  image->size = (size_t)size;
  return GAB_OK;
}

gab_status gab_hdf5_image_save(const gab_hdf5_image *image, const char *path)
{
  return gab_output_file_save(path, image->bytes, image->size);
}

void gab_hdf5_image_close(gab_hdf5_image *image)
{
  if (image->file >= 0) (void)H5Fclose(image->file);
  image->file = H5I_INVALID_HID;
  gab_free(&image->bytes);
  image->capacity = 0;
}
