/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/planes/plane_file_impl.h"
#include "blockforest/hdf5/hdf5_image_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/output_retry_impl.h"
#include "core/base/log.h"
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t gab_plane_row_bytes(const gab_plane_shape *shape)
{
  size_t values = 0;
  for (size_t q = 0; q < shape->quantity_count; q++) values += (size_t)shape->quantities[q].components;
  return GAB_PLANE_ROW_HEAD + values * (size_t)shape->points[0] * (size_t)shape->points[1] * sizeof(double);
}

void gab_plane_file_release(gab_plane_file *file)
{
  gab_buffer_release(&file->head);
  gab_free(&file->path);
}

/* ---------------------------------------------------------------------------------------- the head */

/* A quantity in a row: [up][across], of a vector [up][across][3]; in 2D [along] and [along][3]. */
static hid_t values_type(const gab_plane_shape *shape, const gab_quantity *quantity)
{
  hsize_t extent[3];
  unsigned rank = 0;
  if (shape->dimension == 3) extent[rank++] = (hsize_t)shape->points[1];
  extent[rank++] = (hsize_t)shape->points[0];
  if (quantity->components > 1) extent[rank++] = (hsize_t)quantity->components;
  return H5Tarray_create2(H5T_NATIVE_DOUBLE, rank, extent);
}

static hid_t row_type(const gab_plane_shape *shape)
{
  const hid_t type = H5Tcreate(H5T_COMPOUND, gab_plane_row_bytes(shape));
  size_t at = GAB_PLANE_ROW_HEAD;
  H5Tinsert(type, "step", 0, H5T_NATIVE_INT64);
  H5Tinsert(type, "time", 8, H5T_NATIVE_DOUBLE);
  for (size_t q = 0; q < shape->quantity_count; q++) {
    const hid_t values = values_type(shape, &shape->quantities[q]);
    H5Tinsert(type, shape->quantities[q].name, at, values);
    at += H5Tget_size(values);
    H5Tclose(values);
  }
  return type;
}

static void put_attributes(gab_hdf5_image *file, const gab_plane_shape *shape)
{
  const int32_t format = GAB_PLANE_FORMAT;
  const char axis[2] = {"xyz"[shape->axis], 0};
  char name[GAB_OUTPUT_LABEL_CAPACITY];
  const int along = shape->dimension - 1;
  gab_hdf5_put_text(file, file->file, "writer", "gabion");
  gab_hdf5_put_text(file, file->file, "content", "plane");
  gab_hdf5_put_attribute(file, file->file, "format", H5T_NATIVE_INT32, 1, &format);
  gab_hdf5_put_text(file, file->file, "case", shape->identity ? shape->identity : "");
  gab_hdf5_put_text(file, file->file, "axis", axis);
  gab_hdf5_put_attribute(file, file->file, "position", H5T_NATIVE_DOUBLE, 1, &shape->position);
  gab_hdf5_put_attribute(file, file->file, "origin", H5T_NATIVE_DOUBLE, 3, shape->origin);
  gab_hdf5_put_attribute(file, file->file, "spacing", H5T_NATIVE_DOUBLE, (hsize_t)along, shape->spacing);
  gab_hdf5_put_attribute(file, file->file, "points", H5T_NATIVE_INT64, (hsize_t)along, shape->points);
  gab_hdf5_put_text(file, file->file, "unit of time", shape->time_unit ? shape->time_unit : "");
  for (size_t q = 0; q < shape->quantity_count; q++) {
    snprintf(name, sizeof name, "unit of %.100s", shape->quantities[q].name);
    gab_hdf5_put_text(file, file->file, name, shape->quantities[q].unit ? shape->quantities[q].unit : "");
  }
}

/* @return position of the first row */
static uint64_t put_rows(gab_hdf5_image *file, const gab_plane_shape *shape, hsize_t rows)
{
  uint64_t at = 0;
  if (file->failed) return 0;
  const hid_t type = row_type(shape), space = H5Screate_simple(1, &rows, NULL),
              layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(layout, false);
  H5Pset_layout(layout, H5D_CONTIGUOUS);
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
  const hid_t table = H5Dcreate2(file->file, "rows", type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  if (gab_hdf5_check(file, table)) {
    at = H5Dget_offset(table);
    gab_hdf5_check(file, H5Dclose(table));
  }
  H5Pclose(layout);
  H5Sclose(space);
  H5Tclose(type);
  return at;
}

static uint64_t number_at(const unsigned char *bytes)
{
  uint64_t value = 0;
  for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
  return value;
}

/* The head of a file for a number of rows; the image does not contain the rows. */
static gab_status make_head(const gab_plane_shape *shape, const char *path, hsize_t rows, gab_buffer *head)
{
  enum { END = 40 }; /* place of the end of the file in the superblock, version 0 */
  gab_hdf5_image file;
  gab_hdf5_lock();
  gab_hdf5_image_open_plain(&file, (size_t)1 << 16);
  if (!file.failed) put_attributes(&file, shape);
  const uint64_t start = put_rows(&file, shape, rows);
  if (!file.failed) gab_hdf5_check(&file, H5Fclose(file.file));
  if (!file.failed) file.file = H5I_INVALID_HID;
  gab_status status = gab_hdf5_image_status(&file, path);
  if (status == GAB_OK &&
      (start <= END || start > file.capacity ||
       number_at((const unsigned char *)file.bytes + END) != start + rows * gab_plane_row_bytes(shape)))
    status = gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__,
                           "%s: this HDF5 library puts the rows elsewhere than at the end of the file", path);
  if (status == GAB_OK) status = gab_put_bytes(head, file.bytes, (size_t)start);
  gab_hdf5_image_close(&file);
  gab_hdf5_unlock();
  return status;
}

static void set_number(unsigned char *bytes, uint64_t value)
{
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(value >> (8 * i));
}

/* Makes the head for a number of rows. */
static void fill_in(const gab_plane_file *file, uint64_t rows, unsigned char *head)
{
  memcpy(head, file->head.data, file->head.size);
  for (int i = 0; i < file->number_count; i++)
    set_number(head + file->numbers[i].at, file->numbers[i].first + rows * file->numbers[i].each);
}

/* Finds the numbers that depend on the rows: their count, their bytes, the end of the file. */
static gab_status find_numbers(gab_plane_file *file, const gab_buffer heads[3])
{
  const gab_plane_number known[3] = {{.first = 0, .each = 1},
                                     {.first = 0, .each = file->row_bytes},
                                     {.first = heads[0].size, .each = file->row_bytes}};
  bool same = heads[0].size == heads[1].size && heads[0].size == heads[2].size;
  for (size_t at = 0; same && at + 8 <= heads[0].size; at++)
    for (int k = 0; k < 3; k++) {
      bool fits = true;
      for (unsigned rows = 1; rows <= 3; rows++)
        fits = fits && number_at((const unsigned char *)heads[rows - 1].data + at) ==
                           known[k].first + rows * known[k].each;
      if (!fits) continue;
      same = file->number_count < GAB_PLANE_NUMBERS;
      if (same)
        file->numbers[file->number_count++] =
            (gab_plane_number){.at = at, .first = known[k].first, .each = known[k].each};
      break;
    }
  unsigned char *made = NULL;
  if (same) GAB_TRY(GAB_NEW_ARRAY(&made, heads[0].size, GAB_MEMORY_OTHER));
  for (unsigned rows = 1; same && rows <= 3; rows++) {
    fill_in(file, rows, made);
    same = memcmp(made, heads[rows - 1].data, heads[0].size) == 0;
  }
  gab_free(&made);
  if (!same)
    GAB_FAIL(GAB_ERR_STATE,
             "%s: this HDF5 library makes files whose head does not follow from the number of rows",
             file->path);
  return GAB_OK;
}

static void find_identity(gab_plane_file *file, const gab_plane_shape *shape)
{
  const size_t bytes = shape->identity ? strlen(shape->identity) : 0;
  for (size_t at = 0; bytes > 0 && at + bytes <= file->head.size && file->identity_bytes == 0; at++)
    if (memcmp((const unsigned char *)file->head.data + at, shape->identity, bytes) == 0) {
      file->identity_at = at;
      file->identity_bytes = bytes;
    }
}

static gab_status prepare(gab_plane_file *file, const gab_plane_shape *shape)
{
  gab_buffer heads[3] = {{0}, {0}, {0}};
  if (file->head.size > 0) return GAB_OK;
  file->row_bytes = gab_plane_row_bytes(shape);
  gab_status status = GAB_OK;
  for (unsigned rows = 1; rows <= 3 && status == GAB_OK; rows++)
    status = make_head(shape, file->path, rows, &heads[rows - 1]);
  if (status == GAB_OK) status = gab_put_bytes(&file->head, heads[0].data, heads[0].size);
  if (status == GAB_OK) status = find_numbers(file, heads);
  if (status == GAB_OK) find_identity(file, shape);
  if (status != GAB_OK) gab_buffer_release(&file->head);
  for (int i = 0; i < 3; i++) gab_buffer_release(&heads[i]);
  return status;
}

/* ---------------------------------------------------------------------------------------- the file */

static gab_status refuse(gab_plane_file *file, const char *what, int error)
{
  file->error = error;
  return gab_output_refused(what, file->path, error);
}

gab_status gab_plane_file_set_aside(gab_plane_file *file, const char *why)
{
  char aside[GAB_OUTPUT_PATH_CAPACITY];
  struct stat info;
  const int stem = (int)(strlen(file->path) - strlen(".h5"));
  if (stat(file->path, &info) != 0 || info.st_size == 0) return GAB_OK;
  for (int number = 1;; number++) {
    GAB_TRY(gab_output_path(aside, "%.*s_%d.h5", stem, file->path, number));
    if (lstat(aside, &info) != 0) break;
  }
  if (rename(file->path, aside) != 0) return refuse(file, "move aside", errno);
  gab_log_all(GAB_LOG_WARNING, "%s %s: it is %s now, and a new one begins", file->path, why, aside);
  return GAB_OK;
}

static gab_status put_at(gab_plane_file *file, int descriptor, uint64_t at, const void *bytes, size_t count)
{
  for (size_t done = 0; done < count;) {
    errno = 0;
    const ssize_t now = pwrite(descriptor, (const char *)bytes + done, count - done, (off_t)(at + done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return refuse(file, "write", errno ? errno : ENOSPC);
    done += (size_t)now;
  }
  return GAB_OK;
}

static uint64_t place_of_row(const gab_plane_file *file, uint64_t row)
{
  return file->head.size + row * file->row_bytes;
}

/* Whole rows of a file that begins with the head of this plane. @return -1: it has another head */
static int64_t rows_of(const gab_plane_file *file, int descriptor)
{
  struct stat info;
  unsigned char *here = NULL;
  int64_t rows = -1;
  const size_t size = file->head.size;
  if (fstat(descriptor, &info) != 0) return 0;
  if (info.st_size == 0) return 0;
  if ((uint64_t)info.st_size < size || GAB_NEW_ARRAY(&here, 2 * size, GAB_MEMORY_OTHER) != GAB_OK) return -1;
  if (pread(descriptor, here, size, 0) == (ssize_t)size) {
    fill_in(file, 1, here + size);
    for (int i = 0; i < file->number_count; i++)
      memcpy(here + size + file->numbers[i].at, here + file->numbers[i].at, 8);
    memcpy(here + size + file->identity_at, here + file->identity_at, file->identity_bytes);
    if (memcmp(here, here + size, size) == 0)
      rows = (int64_t)(((uint64_t)info.st_size - size) / file->row_bytes);
  }
  gab_free(&here);
  return rows;
}

static gab_step step_of_row(const gab_plane_file *file, int descriptor, uint64_t row)
{
  int64_t step = -1;
  return pread(descriptor, &step, sizeof step, (off_t)place_of_row(file, row)) == sizeof step ? step : -1;
}

/* Number of rows before a step, at most `index`. */
static uint64_t rows_before(gab_plane_file *file, int descriptor, uint64_t index, gab_step step)
{
  const int64_t there = rows_of(file, descriptor);
  uint64_t rows = there < 0 ? 0 : (uint64_t)there < index ? (uint64_t)there : index;
  while (rows > 0 && step_of_row(file, descriptor, rows - 1) >= step) rows--;
  if (rows < index && !file->has_warned)
    gab_log_all(GAB_LOG_WARNING,
                "%s was cut, changed or removed: %" PRIu64 " of its rows up to step %" GAB_PRI_STEP
                " are missing; the later ones follow",
                file->path, index - rows, step - 1);
  file->has_warned |= rows < index;
  return rows;
}

static gab_status end_at(gab_plane_file *file, int descriptor, uint64_t rows)
{
  unsigned char *head = NULL;
  GAB_TRY(GAB_NEW_ARRAY(&head, file->head.size, GAB_MEMORY_OTHER));
  fill_in(file, rows, head);
  gab_status status =
      ftruncate(descriptor, (off_t)place_of_row(file, rows)) == 0 ? GAB_OK : refuse(file, "cut", errno);
  if (status == GAB_OK) status = put_at(file, descriptor, 0, head, file->head.size);
  gab_free(&head);
  return status;
}

static gab_status open_file(gab_plane_file *file, int flags, int *descriptor)
{
  char why[GAB_RUN_FILE_WHY];
  *descriptor = gab_run_file_open(file->path, flags, why);
  if (*descriptor >= 0) return GAB_OK;
  if (errno == ENOENT && !(flags & O_CREAT)) return GAB_OK;
  file->error = errno;
  if (errno != EPERM) return refuse(file, "open", errno);
  GAB_FAIL(GAB_ERR_IO, "%s", why);
}

static gab_status write_row(gab_plane_file *file, uint64_t index, const void *row)
{
  int descriptor;
  int64_t step;
  memcpy(&step, row, sizeof step);
  GAB_TRY(open_file(file, O_RDWR | O_CREAT, &descriptor));
  if (rows_of(file, descriptor) < 0) {
    close(descriptor);
    GAB_TRY(gab_plane_file_set_aside(file, "has another content than the run wrote into it"));
    GAB_TRY(open_file(file, O_RDWR | O_CREAT, &descriptor));
  }
  const uint64_t place = rows_before(file, descriptor, index, step);
  const int64_t there = rows_of(file, descriptor);
  uint64_t rows = place + 1;
  /* A recomputed step has the same row. */
  if (file->overlaps && there > (int64_t)rows && step_of_row(file, descriptor, place) == step)
    rows = (uint64_t)there;
  else file->overlaps = false;
  gab_status status = put_at(file, descriptor, place_of_row(file, place), row, file->row_bytes);
  if (status == GAB_OK) status = end_at(file, descriptor, rows);
  else if (there > 0 && there <= (int64_t)place)
    (void)!ftruncate(descriptor, (off_t)place_of_row(file, place));
  if (close(descriptor) != 0 && status == GAB_OK) status = refuse(file, "write", errno);
  return status;
}

gab_status gab_plane_file_write(gab_plane_file *file, const gab_plane_shape *shape, uint64_t index,
                                const void *row)
{
  gab_status status = prepare(file, shape);
  if (status != GAB_OK) return status;
  do status = write_row(file, index, row);
  while (status == GAB_ERR_IO && gab_output_may_retry(file->path, file->error));
  if (status == GAB_OK) gab_output_succeeded(file->path);
  return status;
}

static gab_status cut(gab_plane_file *file, uint64_t rows, gab_step last)
{
  int descriptor;
  if (file->overlaps) return GAB_OK;
  if (rows == 0) return unlink(file->path) == 0 || errno == ENOENT ? GAB_OK : refuse(file, "remove", errno);
  GAB_TRY(open_file(file, O_RDWR, &descriptor));
  if (descriptor < 0) return GAB_OK; /* the next row warns */
  gab_status status = GAB_OK;
  if (rows_of(file, descriptor) > 0) {
    const uint64_t kept = rows_before(file, descriptor, rows, last + 1);
    if (kept > 0) status = end_at(file, descriptor, kept);
  }
  if (close(descriptor) != 0 && status == GAB_OK) status = refuse(file, "write", errno);
  return status;
}

gab_status gab_plane_file_cut(gab_plane_file *file, const gab_plane_shape *shape, uint64_t rows,
                              gab_step last)
{
  gab_status status = prepare(file, shape);
  if (status != GAB_OK) return status;
  do status = cut(file, rows, last);
  while (status == GAB_ERR_IO && gab_output_may_retry(file->path, file->error));
  return status;
}
