/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Planes: second degree is exact on all levels, smooth functions converge, solid cells are excluded; rows survive
 * rollbacks and damage. */
#include "tests/blockforest/output/output_common.h"

#include "blockforest/output/planes/plane_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gab_world *world;
static char folder[64] = "/tmp/gabion-planes-XXXXXX";
static double shift; /* of the values, by step */

typedef double function(const double at[3]);

static double second_degree(const double at[3])
{
  return shift + 1 + at[0] * at[0] - 2 * at[0] * at[1] * at[1] + 3 * at[1] * at[2] + at[2];
}

static double smooth(const double at[3]) { return sin(at[0]) * cos(2 * at[1]) + sin(at[2] + at[1]); }

static bool is_solid(const double at[3])
{
  return fabs(at[0]) < 0.5 && at[1] < 0.5 + 1.0; /* a box at the lower side */
}

static gab_status evaluate(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  function *const *of = user;
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(forest, block, x, y, z, at);
        if (gab_forest_get_options(forest)->grid.dimension == 2) at[2] = 0;
        *values++ = of[1] && is_solid(at) ? NAN : of[0](at);
      }
  return GAB_OK;
}

static gab_mark corner(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 && cells->lo[2] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_forest *make_forest(int dimension, int32_t cells, double dx)
{
  gab_forest *forest = NULL;
  gab_forest_options options = {.grid = {.dimension = dimension, .roots = {3, 2, dimension == 3 ? 2 : 1}},
                                .cells = {cells, cells, dimension == 3 ? cells : 1},
                                .origin = {-1.0, 0.5, 2.0},
                                .dx = dx};
  gab_refine_report report;
  assert_int_equal(gab_forest_create(world, &options, &forest), GAB_OK);
  assert_int_equal(gab_forest_build(forest, corner, NULL, 2, case_stay, NULL, &report), GAB_OK);
  assert_true(report.split >= 2);
  return forest;
}

static gab_plane *make_plane(gab_forest *forest, int axis, double position, double spacing,
                             function *const of[2])
{
  gab_plane *plane = NULL;
  const gab_quantity quantity = {
      .name = "value", .unit = "m", .components = 1, .evaluate = evaluate, .user = (void *)(uintptr_t)of};
  gab_plane_options options = {.folder = folder,
                               .name = "plane",
                               .axis = axis,
                               .position = position,
                               .spacing = spacing,
                               .quantities = &quantity,
                               .quantity_count = 1,
                               .time_unit = "s"};
  assert_int_equal(gab_plane_create(forest, &options, &plane), GAB_OK);
  return plane;
}

static const char *file(void)
{
  static char path[128];
  snprintf(path, sizeof path, "%s/plane.h5", folder);
  return path;
}

/* The largest difference of the points (positions are rounded to 2^-32 cells) of the last row from a function. */
static double error_of(function *of, int *missing)
{
  gab_plane_input in;
  double most = 0, *values;
  assert_int_equal(gab_plane_input_open(file(), &in), GAB_OK);
  values = calloc((size_t)(in.points[0] * in.points[1]), sizeof *values);
  assert_non_null(values);
  assert_int_equal(gab_plane_input_read(&in, "value", 1, in.rows - 1, values), GAB_OK);
  const int first = in.axis == 0 ? 1 : 0, second = in.axis == 2 ? 1 : 2;
  if (missing) *missing = 0;
  for (int64_t j = 0; j < in.points[1]; j++)
    for (int64_t i = 0; i < in.points[0]; i++) {
      double at[3] = {in.origin[0], in.origin[1], in.dimension == 3 ? in.origin[2] : 0};
      const double value = values[j * in.points[0] + i];
      at[first] += (double)i * in.spacing[0];
      if (in.dimension == 3) at[second] += (double)j * in.spacing[1];
      assert_true(missing || isfinite(value));
      if (!isfinite(value)) (*missing)++;
      else most = fmax(most, fabs(value - of(at)));
    }
  free(values);
  gab_plane_input_close(&in);
  return most;
}

static double error_on(int dimension, int axis, double position, int32_t cells, double dx, function *of)
{
  function *const which[2] = {of, NULL};
  gab_forest *forest = make_forest(dimension, cells, dx);
  gab_plane *plane = make_plane(forest, axis, position, 0.7 * dx, which);
  assert_int_equal(gab_plane_write(plane, 0, 0.0), GAB_OK);
  const double error = error_of(of, NULL);
  gab_plane_destroy(&plane);
  gab_forest_destroy(&forest);
  unlink(file());
  return error;
}

static void polynomials_are_exact(void **state)
{
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int axis = 0; axis < dimension; axis++) {
      const double lower[3] = {-1, 0.5, 2}, upper[3] = {5, 4.5, 6};
      for (int k = 0; k <= 8; k++) /* also sides, and borders of blocks and levels */
        assert_true(error_on(dimension, axis, lower[axis] + k * (upper[axis] - lower[axis]) / 8, 4, 0.5,
                             second_degree) < 1e-8);
    }
}

static void smooth_functions_converge(void **state)
{
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    const double coarse = error_on(dimension, 0, 0.37, 4, 0.5, smooth),
                 fine = error_on(dimension, 0, 0.37, 8, 0.25, smooth);
    assert_true(coarse > 1e-3 && log2(coarse / fine) > 2);
  }
}

/* Next to solid cells the order is still two; points in them have no value. */
static void solid_cells_have_no_value(void **state)
{
  (void)state;
  double error[2];
  for (int fine = 0; fine < 2; fine++) {
    function *const which[2] = {smooth, smooth};
    int missing;
    gab_forest *forest = make_forest(2, fine ? 8 : 4, fine ? 0.25 : 0.5);
    gab_plane *plane = make_plane(forest, 1, 0.8, 0.05, which);
    assert_int_equal(gab_plane_write(plane, 0, 0.0), GAB_OK);
    error[fine] = error_of(smooth, &missing);
    assert_int_equal(missing, 20); /* 1 / 0.05 */
    gab_plane_destroy(&plane);
    gab_forest_destroy(&forest);
    unlink(file());
  }
  assert_true(error[0] > 1e-3 && log2(error[0] / error[1]) > 1.7);
}

static long size_of_file(void)
{
  struct stat info;
  return stat(file(), &info) == 0 ? (long)info.st_size : -1;
}

static unsigned char *content(long *size)
{
  *size = size_of_file();
  unsigned char *bytes = malloc((size_t)*size + 1);
  FILE *in = fopen(file(), "rb");
  assert_true(bytes && in && *size > 0);
  assert_int_equal(fread(bytes, 1, (size_t)*size, in), *size);
  fclose(in);
  return bytes;
}

static void write_steps(gab_plane *plane, int from, int to)
{
  for (int step = from; step <= to; step++) {
    shift = step;
    assert_int_equal(gab_plane_write(plane, step, 0.1 * step), GAB_OK);
  }
}

static uint64_t rows_there(double *first)
{
  gab_plane_input in;
  assert_int_equal(gab_plane_input_open(file(), &in), GAB_OK);
  const uint64_t rows = in.rows;
  *first = in.times[0];
  gab_plane_input_close(&in);
  return rows;
}

/* The bytes are a function of the rows, whatever the history of the file. */
static void rows_survive(void **state)
{
  (void)state;
  function *const which[2] = {second_degree, NULL};
  gab_forest *forest = make_forest(3, 4, 0.5);
  gab_buffer cursor = {0};
  long size, again;
  double first;
  gab_plane *plane = make_plane(forest, 2, 3.1, 0.4, which);
  write_steps(plane, 0, 9);
  unsigned char *undisturbed = content(&size);
  gab_plane_destroy(&plane);
  unlink(file());

  plane = make_plane(forest, 2, 3.1, 0.4, which);
  write_steps(plane, 0, 3);
  assert_int_equal(gab_plane_pack(plane, &cursor), GAB_OK);
  write_steps(plane, 4, 7);
  gab_reader reader = gab_reader_of_buffer(&cursor);
  assert_int_equal(gab_plane_unpack(plane, &reader), GAB_OK);
  assert_int_equal(rows_there(&first), 4);
  write_steps(plane, 4, 5);
  gab_plane_destroy(&plane); /* another process, with an incomplete last row */
  assert_int_equal(truncate(file(), size_of_file() - 20), 0);
  plane = make_plane(forest, 2, 3.1, 0.4, which);
  reader = gab_reader_of_buffer(&cursor);
  assert_int_equal(gab_plane_unpack(plane, &reader), GAB_OK);
  write_steps(plane, 4, 9);
  unsigned char *disturbed = content(&again);
  assert_int_equal(size, again);
  assert_memory_equal(undisturbed, disturbed, (size_t)size);
  assert_true(error_of(second_degree, NULL) < 1e-8);

  /* A file that was removed has the later rows, and is complete after a rollback to its beginning. */
  unlink(file());
  shift = 10;
  write_steps(plane, 10, 11);
  assert_int_equal(rows_there(&first), 2);
  assert_true(fabs(first - 1) < 1e-12);
  gab_plane_destroy(&plane);
  gab_forest_destroy(&forest);
  gab_buffer_release(&cursor);
  free(undisturbed);
  free(disturbed);
  unlink(file());
}

static void refuses_what_cannot_be(void **state)
{
  (void)state;
  function *const which[2] = {smooth, NULL};
  gab_forest *forest = make_forest(2, 4, 0.5);
  const gab_quantity quantity = {
      .name = "value", .components = 1, .evaluate = evaluate, .user = (void *)(uintptr_t)which};
  gab_plane_options options = {.folder = folder,
                               .name = "plane",
                               .axis = 2,
                               .spacing = 1,
                               .quantities = &quantity,
                               .quantity_count = 1};
  gab_plane *plane;
  gab_plane_input in;
  double value;
  assert_int_equal(gab_plane_create(forest, &options, &plane), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "no axis z"));
  options.axis = 0;
  options.position = 5.1;
  assert_int_equal(gab_plane_create(forest, &options, &plane), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "[-1, 5]"));
  options.position = 5;
  assert_int_equal(gab_plane_create(forest, &options, &plane), GAB_OK);
  assert_int_equal(gab_plane_input_open(file(), &in), GAB_ERR_IO);
  assert_int_equal(gab_plane_write(plane, 3, 1.0), GAB_OK);
  assert_int_equal(gab_plane_input_open(file(), &in), GAB_OK);
  assert_int_equal(gab_plane_input_read(&in, "value", 3, 0, &value), GAB_ERR_INPUT);
  assert_int_equal(gab_plane_input_read(&in, "pressure", 1, 0, &value), GAB_ERR_INPUT);
  assert_int_equal(gab_plane_input_read(&in, "value", 1, 1, &value), GAB_ERR_INPUT);
  gab_plane_input_close(&in);
  gab_plane_destroy(&plane);
  gab_forest_destroy(&forest);
  unlink(file());
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_are_exact), cmocka_unit_test(smooth_functions_converge),
      cmocka_unit_test(solid_cells_have_no_value), cmocka_unit_test(rows_survive),
      cmocka_unit_test(refuses_what_cannot_be)};
  if (gab_world_create(&argc, &argv, &world) != GAB_OK || !mkdtemp(folder)) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  rmdir(folder);
  gab_world_destroy(&world);
  return failed;
}
