/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/hdf5/hdf5_array.h"

#include "blockforest/hdf5/hdf5_lock.h"
#include "blockforest/hdf5/hdf5_open.h"
#include "core/memory/memory.h"
#include "core/system/file.h"

#include <hdf5.h>
#include <stdio.h>

/* An open data set of numbers. */
typedef struct array {
  hid_t file, set, space;
  int dimension;
  hsize_t size[3]; /* in its own order, slowest first */
} array;

static void close_array(array *opened)
{
  if (opened->space >= 0) H5Sclose(opened->space);
  if (opened->set >= 0) H5Dclose(opened->set);
  if (opened->file >= 0) H5Fclose(opened->file);
}

/* @param[in] dimension  that it has to have */
static gab_status open_array(const char *path, const char *dataset, int dimension, array *opened)
{
  char subject[1024];
  *opened = (array){-1, -1, -1, 0, {1, 1, 1}};
  snprintf(subject, sizeof subject, "%s: data set '%s'", path, dataset);
  opened->file = gab_hdf5_open(path);
  if (opened->file < 0) return gab_hdf5_unreadable(path);
  opened->set = H5Dopen2(opened->file, dataset, H5P_DEFAULT);
  if (opened->set < 0) GAB_FAIL(GAB_ERR_INPUT, "%s is not there", subject);
  const hid_t type = H5Dget_type(opened->set);
  const H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  if (type >= 0) H5Tclose(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) GAB_FAIL(GAB_ERR_INPUT, "%s has no numbers", subject);
  opened->space = H5Dget_space(opened->set);
  opened->dimension = opened->space < 0 ? -1 : H5Sget_simple_extent_ndims(opened->space);
  if (opened->dimension < 0) return gab_hdf5_failure(subject);
  if (opened->dimension != dimension)
    GAB_FAIL(GAB_ERR_INPUT, "%s has %d dimensions, the domain %d", subject, opened->dimension, dimension);
  if (H5Sget_simple_extent_dims(opened->space, opened->size, NULL) < 0) return gab_hdf5_failure(subject);
  return GAB_OK;
}

static gab_status read_size(const char *path, const char *dataset, int dimension, int64_t size[3])
{
  array opened;
  const gab_status status = open_array(path, dataset, dimension, &opened);
  for (int axis = 0; axis < 3; axis++)
    size[axis] = status == GAB_OK && axis < dimension ? (int64_t)opened.size[dimension - 1 - axis] : 1;
  close_array(&opened);
  GAB_TRY(status);
  for (int axis = 0; axis < 3; axis++)
    if (size[axis] < 1) GAB_FAIL(GAB_ERR_INPUT, "%s: data set '%s' is empty", path, dataset);
  return GAB_OK;
}

gab_status gab_hdf5_array_size(const char *path, const char *dataset, int dimension, int64_t size[3])
{
  GAB_TRY(gab_file_check(path));
  gab_hdf5_lock();
  const gab_status status = read_size(path, dataset, dimension, size);
  gab_hdf5_unlock();
  return status;
}

/* One layer of constant z, x and y as they lie. */
static gab_status read_layer(const array *opened, int64_t z, const int64_t size[3], double *values)
{
  const hsize_t start[3] = {(hsize_t)z, 0, 0}, all[2] = {(hsize_t)size[1], (hsize_t)size[0]};
  const hsize_t count[3] = {1, (hsize_t)size[1], (hsize_t)size[0]}, flat = all[0] * all[1];
  const int skip = 3 - opened->dimension;
  const hid_t memory = H5Screate_simple(1, &flat, NULL);
  const bool read =
      memory >= 0 &&
      H5Sselect_hyperslab(opened->space, H5S_SELECT_SET, start + skip, NULL, count + skip, NULL) >= 0 &&
      H5Dread(opened->set, H5T_NATIVE_DOUBLE, memory, opened->space, H5P_DEFAULT, values) >= 0;
  const gab_status status = read ? GAB_OK : gab_hdf5_failure("a layer of a data set");
  if (memory >= 0) H5Sclose(memory);
  return status;
}

static gab_status read_layers(const array *opened, const int64_t size[3], double *values,
                              gab_hdf5_row_fn *row, void *user)
{
  for (int64_t z = 0; z < size[2]; z++) {
    GAB_TRY(read_layer(opened, z, size, values));
    for (int64_t y = 0; y < size[1]; y++) row(user, y, z, values + y * size[0]);
  }
  return GAB_OK;
}

gab_status gab_hdf5_array_read(const char *path, const char *dataset, int dimension, const int64_t size[3],
                               gab_hdf5_row_fn *row, void *user)
{
  array opened;
  double *values;
  GAB_TRY(GAB_NEW_ARRAY(&values, (size_t)(size[0] * size[1]), GAB_MEMORY_OTHER));
  gab_hdf5_lock();
  gab_status status = open_array(path, dataset, dimension, &opened);
  if (status == GAB_OK) status = read_layers(&opened, size, values, row, user);
  close_array(&opened);
  gab_hdf5_unlock();
  gab_free(&values);
  return status;
}
