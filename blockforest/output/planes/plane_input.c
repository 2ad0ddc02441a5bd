/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/planes/plane_input.h"
#include "blockforest/hdf5/hdf5_lock.h"
#include "blockforest/hdf5/hdf5_open.h"
#include "blockforest/output/planes/plane_file_impl.h"

#include <hdf5.h>
#include <math.h>
#include <string.h>

/* Reads an attribute of the file, completely or not at all. */
static bool read_numbers(hid_t file, const char *name, hid_t type, hsize_t count, void *values)
{
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  if (attribute < 0) return false;
  const hid_t space = H5Aget_space(attribute);
  const bool fits =
      H5Sget_simple_extent_npoints(space) == (hssize_t)count && H5Aread(attribute, type, values) >= 0;
  H5Sclose(space);
  H5Aclose(attribute);
  return fits;
}

static bool read_text(hid_t file, const char *name, char text[16])
{
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
  bool fits = attribute >= 0;
  text[0] = '\0';
  H5Tset_size(type, 16);
  if (fits) {
    const hid_t there = H5Aget_type(attribute);
    fits = H5Tget_class(there) == H5T_STRING && H5Tis_variable_str(there) == 0 &&
           H5Aread(attribute, type, text) >= 0;
    text[15] = '\0';
    H5Tclose(there);
    H5Aclose(attribute);
  }
  H5Tclose(type);
  return fits;
}

static gab_status read_grid(hid_t file, gab_plane_input *made)
{
  char content[16], axis[16];
  int32_t format = 0;
  if (!read_text(file, "content", content) || strcmp(content, "plane") != 0 ||
      !read_numbers(file, "format", H5T_NATIVE_INT32, 1, &format))
    GAB_FAIL(GAB_ERR_INPUT, "%s is not a file of a plane (output.planes)", made->path);
  if (format != GAB_PLANE_FORMAT)
    GAB_FAIL(GAB_ERR_INPUT, "%s has format %d of planes; this program reads format %d", made->path, format,
             (int)GAB_PLANE_FORMAT);
  bool fits = read_text(file, "axis", axis) && axis[0] >= 'x' && axis[0] <= 'z' && !axis[1] &&
              read_numbers(file, "position", H5T_NATIVE_DOUBLE, 1, &made->position) &&
              read_numbers(file, "origin", H5T_NATIVE_DOUBLE, 3, made->origin);
  made->axis = axis[0] - 'x';
  made->points[0] = made->points[1] = 1;
  made->spacing[0] = made->spacing[1] = 1;
  for (made->dimension = 3; fits && made->dimension >= 2; made->dimension--)
    if (read_numbers(file, "points", H5T_NATIVE_INT64, (hsize_t)made->dimension - 1, made->points)) break;
  fits = fits && made->dimension >= 2 &&
         read_numbers(file, "spacing", H5T_NATIVE_DOUBLE, (hsize_t)made->dimension - 1, made->spacing);
  for (int k = 0; k < 2; k++)
    fits = fits && made->points[k] > 0 && made->points[k] < 1000000 && made->spacing[k] > 0 &&
           isfinite(made->spacing[k]);
  if (!fits) GAB_FAIL(GAB_ERR_INPUT, "%s: its grid is incomplete", made->path);
  return GAB_OK;
}

/* A type with one member of a compound type, as stored in memory. */
static hid_t one_member(const char *name, hid_t type, size_t bytes)
{
  const hid_t made = H5Tcreate(H5T_COMPOUND, bytes);
  H5Tinsert(made, name, 0, type);
  return made;
}

static gab_status read_times(hid_t file, gab_plane_input *made)
{
  const hid_t table = H5Dopen2(file, "rows", H5P_DEFAULT);
  if (table < 0) GAB_FAIL(GAB_ERR_INPUT, "%s has no rows", made->path);
  const hid_t space = H5Dget_space(table), type = one_member("time", H5T_NATIVE_DOUBLE, sizeof(double));
  const hssize_t rows = H5Sget_simple_extent_npoints(space);
  gab_status status = GAB_OK;
  if (rows < 1) status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s has no rows", made->path);
  made->rows = rows < 1 ? 0 : (uint64_t)rows;
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&made->times, (size_t)made->rows, GAB_MEMORY_OTHER);
  if (status == GAB_OK && H5Dread(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, made->times) < 0)
    status = gab_hdf5_failure(made->path);
  for (uint64_t i = 0; status == GAB_OK && i < made->rows; i++)
    if (!isfinite(made->times[i]) || (i > 0 && !(made->times[i] > made->times[i - 1])))
      status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s: the times of its rows do not ascend",
                             made->path);
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(table);
  return status;
}

gab_status gab_plane_input_open(const char *path, gab_plane_input *input)
{
  *input = (gab_plane_input){.path = NULL};
  GAB_TRY(GAB_NEW_ARRAY(&input->path, strlen(path) + 1, GAB_MEMORY_OTHER));
  memcpy(input->path, path, strlen(path) + 1);
  gab_hdf5_lock();
  const hid_t file = gab_hdf5_open(path);
  gab_status status = file < 0 ? gab_hdf5_unreadable(path) : read_grid(file, input);
  if (status == GAB_OK) status = read_times(file, input);
  if (file >= 0) H5Fclose(file);
  gab_hdf5_unlock();
  if (status != GAB_OK) gab_plane_input_close(input);
  return status;
}

void gab_plane_input_close(gab_plane_input *input)
{
  gab_free(&input->path);
  gab_free(&input->times);
  *input = (gab_plane_input){.path = NULL};
}

/* ---------------------------------------------------------------------------------------- rows */

static hid_t array_type(const gab_plane_input *input, int components)
{
  hsize_t extent[3];
  unsigned rank = 0;
  if (input->dimension == 3) extent[rank++] = (hsize_t)input->points[1];
  extent[rank++] = (hsize_t)input->points[0];
  if (components > 1) extent[rank++] = (hsize_t)components;
  return H5Tarray_create2(H5T_NATIVE_DOUBLE, rank, extent);
}

static bool has_member(hid_t table, const char *name, hid_t like)
{
  const hid_t type = H5Dget_type(table);
  const int index = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, name) : -1;
  bool fits = index >= 0;
  if (fits) {
    const hid_t there = H5Tget_member_type(type, (unsigned)index);
    hsize_t a[H5S_MAX_RANK], b[H5S_MAX_RANK];
    const int rank = H5Tget_class(there) == H5T_ARRAY ? H5Tget_array_dims2(there, a) : -1;
    fits = rank == H5Tget_array_dims2(like, b) && memcmp(a, b, (size_t)rank * sizeof *a) == 0;
    H5Tclose(there);
  }
  H5Tclose(type);
  return fits;
}

static gab_status read_row(hid_t file, const gab_plane_input *input, const char *quantity, int components,
                           uint64_t row, double *values)
{
  const hsize_t start = row, one = 1;
  const hid_t table = H5Dopen2(file, "rows", H5P_DEFAULT);
  if (table < 0) return gab_hdf5_failure(input->path);
  const hid_t array = array_type(input, components), space = H5Dget_space(table),
              memory = H5Screate_simple(1, &one, NULL),
              type = one_member(quantity, array, H5Tget_size(array));
  gab_status status = GAB_OK;
  if (!has_member(table, quantity, array))
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s has no %s%s in its rows", input->path,
                           components == 3 ? "vector " : "", quantity);
  else if (H5Sget_simple_extent_npoints(space) <= (hssize_t)row)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s has lost rows while the run reads it",
                           input->path);
  else if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, NULL) < 0 ||
           H5Dread(table, type, memory, space, H5P_DEFAULT, values) < 0)
    status = gab_hdf5_failure(input->path);
  H5Tclose(type);
  H5Sclose(memory);
  H5Sclose(space);
  H5Tclose(array);
  H5Dclose(table);
  return status;
}

gab_status gab_plane_input_read(const gab_plane_input *input, const char *quantity, int components,
                                uint64_t row, double *values)
{
  gab_hdf5_lock();
  const hid_t file = gab_hdf5_open(input->path);
  const gab_status status =
      file < 0 ? gab_hdf5_unreadable(input->path) : read_row(file, input, quantity, components, row, values);
  if (file >= 0) H5Fclose(file);
  gab_hdf5_unlock();
  return status;
}
