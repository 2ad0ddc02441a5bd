/* SPDX-License-Identifier: Apache-2.0 */
/* Compares rows of the output of `gabion assemble' for two runs:
 *   helper_rows A.h5 B.h5 QUANTITY FIRST COUNT
 * prints the number of cells, of different ones, and the largest difference. Two-dimensional. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The rows of one file, z = 0. */
static double *rows_of(const char *path, const char *quantity, long first, long count, hsize_t *width)
{
  char name[256];
  hsize_t extent[3];
  snprintf(name, sizeof name, "/fields/%s/whole", quantity);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t data = file < 0 ? file : H5Dopen2(file, name, H5P_DEFAULT);
  hid_t space = data < 0 ? data : H5Dget_space(data);
  if (space < 0 || H5Sget_simple_extent_dims(space, extent, NULL) != 3) return NULL;
  *width = extent[2];
  if (first < 0 || (hsize_t)(first + count) > extent[1]) return NULL;
  const hsize_t start[3] = {0, (hsize_t)first, 0}, size[3] = {1, (hsize_t)count, extent[2]};
  double *values = malloc((size_t)(size[1] * size[2]) * sizeof(double));
  hid_t memory = H5Screate_simple(3, size, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL);
  const herr_t read = H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return read < 0 ? NULL : values;
}

int main(int argc, char **argv)
{
  hsize_t widths[2] = {0, 0};
  if (argc != 6) return 2;
  const long first = atol(argv[4]), count = atol(argv[5]);
  double *values[2];
  for (int k = 0; k < 2; k++) {
    values[k] = rows_of(argv[1 + k], argv[3], first, count, &widths[k]);
    if (!values[k]) {
      printf("%s has no %ld rows of %s from %ld on\n", argv[1 + k], count, argv[3], first);
      return 1;
    }
  }
  if (widths[0] != widths[1]) return 1;
  size_t cells = (size_t)widths[0] * (size_t)count, differ = 0;
  double most = 0;
  for (size_t i = 0; i < cells; i++) {
    differ += values[0][i] != values[1][i];
    most = fmax(most, fabs(values[0][i] - values[1][i]));
  }
  printf("%zu %zu %g\n", cells, differ, most);
  free(values[0]);
  free(values[1]);
  return 0;
}
