/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/vtkhdf/vtk_file_impl.h"
#include "blockforest/output/output_retry_impl.h"
#include "core/messages/collective.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------- the head */

size_t gab_vtk_type_bytes(gab_vtk_type type)
{
  switch (type) {
  case GAB_VTK_F64:
  case GAB_VTK_I64:
    return 8;
  case GAB_VTK_U8:
    return 1;
  case GAB_VTK_F32:
  case GAB_VTK_I32:
    break;
  }
  return 4;
}

static hid_t hdf5_type(gab_vtk_type type)
{
  switch (type) {
  case GAB_VTK_F64:
    return H5T_NATIVE_DOUBLE;
  case GAB_VTK_I32:
    return H5T_NATIVE_INT32;
  case GAB_VTK_I64:
    return H5T_NATIVE_INT64;
  case GAB_VTK_U8:
    return H5T_NATIVE_UINT8;
  case GAB_VTK_F32:
    break;
  }
  return H5T_NATIVE_FLOAT;
}

static uint64_t bytes_of(const gab_vtk_array *array)
{
  uint64_t bytes = gab_vtk_type_bytes(array->type);
  for (int k = 0; k < array->axes; k++) bytes *= array->extent[k];
  return bytes;
}

/* Chunks of equal size without filters, allocated at once, need no index: they follow one another (format 1.10). */
static haddr_t place_of(hid_t made, const gab_vtk_array *array)
{
#if H5_VERSION_GE(1, 10, 5)
  if (array->chunk[0] > 0) {
    hsize_t first[GAB_VTK_MOST_AXES] = {0}, last[GAB_VTK_MOST_AXES], bytes, chunks = 1;
    haddr_t at = HADDR_UNDEF, end = HADDR_UNDEF;
    unsigned filters;
    for (int k = 0; k < array->axes; k++) {
      last[k] = array->extent[k] - array->chunk[k];
      chunks *= array->extent[k] / array->chunk[k];
    }
    if (H5Dget_chunk_info_by_coord(made, first, &filters, &at, &bytes) < 0 ||
        H5Dget_chunk_info_by_coord(made, last, &filters, &end, &bytes) < 0)
      return HADDR_UNDEF;
    return at != HADDR_UNDEF && end == at + (chunks - 1) * bytes ? at : HADDR_UNDEF;
  }
#endif
  return H5Dget_offset(made);
}

/* @return first byte of the array; 0 for an array without values */
static uint64_t make_array(gab_hdf5_image *image, const gab_vtk_array *array)
{
  haddr_t at = 0;
  if (image->failed) return 0;
  const hid_t space = H5Screate_simple(array->axes, array->extent, NULL),
              layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(layout, false);
  if (array->chunk[0] > 0) H5Pset_chunk(layout, array->axes, array->chunk);
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
  const hid_t made =
      H5Dcreate2(image->file, array->path, hdf5_type(array->type), space, H5P_DEFAULT, layout, H5P_DEFAULT);
  if (gab_hdf5_check(image, made)) {
    if (array->unit) gab_hdf5_put_text(image, made, "unit", array->unit);
    if (bytes_of(array) > 0) at = place_of(made, array);
    gab_hdf5_check(image, H5Dclose(made));
  }
  H5Pclose(layout);
  H5Sclose(space);
  return at == HADDR_UNDEF ? UINT64_MAX : at;
}

/* Bytes of metadata that HDF5 reserves at the begin of the file. */
static size_t metadata_bytes(size_t arrays) { return ((size_t)8 << 10) + ((size_t)1 << 10) * arrays; }

/* Finds where the head ends. @return false unless the arrays are the rest of the file */
static bool find_head(const gab_hdf5_image *image, const gab_vtk_head *what, const uint64_t *at,
                      uint64_t size, uint64_t *head)
{
  uint64_t arrays = 0;
  *head = size;
  for (size_t i = 0; i < what->array_count; i++) {
    const uint64_t bytes = bytes_of(&what->arrays[i]);
    if (at[i] == UINT64_MAX || at[i] + bytes > size) return false;
    if (bytes > 0 && at[i] < *head) *head = at[i];
    arrays += bytes;
  }
  return image->capacity <= *head && arrays <= size - *head;
}

/* @param[out] head  the bytes before the first array @param[out] size  of the file */
static gab_status make_head(const char *path, const gab_vtk_head *what, gab_buffer *head, uint64_t *at,
                            uint64_t *size)
{
  gab_hdf5_image image;
  uint64_t bytes = 0;
  gab_hdf5_lock();
  gab_hdf5_image_open_head(&image, metadata_bytes(what->array_count));
  if (!image.failed) what->describe(what->user, &image);
  for (size_t i = 0; i < what->array_count; i++) at[i] = make_array(&image, &what->arrays[i]);
  gab_status status = gab_hdf5_image_finish_head(&image, path, size);
  if (status == GAB_OK && !find_head(&image, what, at, *size, &bytes))
    status = gab_error_set(
        GAB_ERR_STATE, __FILE__, __LINE__,
        "%s: this HDF5 library does not place the arrays behind the metadata; use version 1.10.5 or "
        "later",
        path);
  void *rest;
  if (status == GAB_OK) status = gab_put_bytes(head, image.bytes, image.capacity);
  if (status == GAB_OK) status = gab_buffer_extend(head, (size_t)bytes - image.capacity, &rest);
  if (status == GAB_OK) memset(rest, 0, (size_t)bytes - image.capacity);
  gab_hdf5_image_close(&image);
  gab_hdf5_unlock();
  return status;
}

/* ---------------------------------------------------------------------------------------- the file */

static void put_at(gab_vtk_file *file, uint64_t at, const void *bytes, size_t count)
{
  for (size_t done = 0; done < count && !file->error;) {
    errno = 0;
    const ssize_t now =
        pwrite(file->descriptor, (const char *)bytes + done, count - done, (off_t)(at + done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      const int error = errno ? errno : ENOSPC;
      if (!gab_output_may_retry(file->path, error)) file->error = error;
    } else {
      done += (size_t)now;
    }
  }
}

static gab_status open_it(gab_vtk_file *file, int flags)
{
  do {
    if (flags & O_EXCL)
      (void)unlink(file->temporary); /* of a process that died, or a link planted by another user */
    file->descriptor = open(file->temporary, flags | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
    file->error = file->descriptor < 0 ? errno : 0;
  } while (file->error && gab_output_may_retry(file->path, file->error));
  return file->error ? gab_output_refused("open", file->temporary, file->error) : GAB_OK;
}

/* On the root. */
static gab_status begin(gab_vtk_file *file, const gab_vtk_head *what)
{
  gab_buffer head = {0};
  uint64_t size = 0;
  gab_status status = make_head(file->path, what, &head, file->at, &size);
  if (status == GAB_OK) status = open_it(file, O_CREAT | O_EXCL);
  if (status == GAB_OK) {
    if (ftruncate(file->descriptor, (off_t)size) != 0) file->error = errno;
    put_at(file, 0, head.data, head.size);
    if (file->error) status = gab_output_refused("write", file->path, file->error);
  }
  gab_buffer_release(&head);
  return status;
}

static void close_it(gab_vtk_file *file)
{
  if (file->descriptor < 0) return;
  /* Delayed errors of the disk appear at close() at the latest. */
  if (close(file->descriptor) != 0 && !file->error) file->error = errno;
  file->descriptor = -1;
}

/* The places of the arrays, known to the root. */
static gab_status share_places(gab_vtk_file *file)
{
  gab_buffer places = {0};
  gab_status status = GAB_OK;
  if (gab_world_is_root(file->world)) status = gab_put_bytes(&places, file->at, sizeof file->at);
  status = gab_world_reduce_status(file->world, status);
  if (status == GAB_OK) status = gab_world_broadcast(file->world, gab_world_root(file->world), &places);
  if (status == GAB_OK) {
    gab_reader in = gab_reader_of_buffer(&places);
    status = gab_get_bytes(&in, file->at, sizeof file->at);
  }
  gab_buffer_release(&places);
  return status;
}

gab_status gab_vtk_file_open(gab_vtk_file *file, gab_world *world, const char *path, const gab_vtk_head *head)
{
  const bool is_root = gab_world_is_root(world);
  file->world = world;
  file->descriptor = -1;
  file->error = 0;
  memset(file->at, 0, sizeof file->at);
  GAB_TRY(gab_output_path(file->path, "%s", path));
  GAB_TRY(gab_output_path(file->temporary, "%s" GAB_OUTPUT_TEMPORARY, path));
  gab_status status = gab_world_reduce_status(world, is_root ? begin(file, head) : GAB_OK);
  if (status == GAB_OK) status = share_places(file);
  if (status == GAB_OK) status = gab_world_reduce_status(world, is_root ? GAB_OK : open_it(file, 0));
  if (status == GAB_OK) return GAB_OK;
  close_it(file);
  if (is_root) (void)unlink(file->temporary);
  return status;
}

void gab_vtk_file_put(gab_vtk_file *file, size_t array, uint64_t offset, const void *bytes, size_t count)
{
  put_at(file, file->at[array] + offset, bytes, count);
}

static gab_status rename_it(gab_vtk_file *file)
{
  while (rename(file->temporary, file->path) != 0) {
    const int error = errno;
    if (!gab_output_may_retry(file->path, error)) return gab_output_refused("write", file->path, error);
  }
  gab_output_succeeded(file->path);
  return GAB_OK;
}

gab_status gab_vtk_file_commit(gab_vtk_file *file, gab_status status)
{
  const bool is_root = gab_world_is_root(file->world);
  close_it(file);
  if (status == GAB_OK && file->error) status = gab_output_refused("write", file->path, file->error);
  status = gab_world_reduce_status(file->world, status);
  if (status == GAB_OK) status = gab_world_reduce_status(file->world, is_root ? rename_it(file) : GAB_OK);
  if (status != GAB_OK && is_root) (void)unlink(file->temporary);
  return status;
}
