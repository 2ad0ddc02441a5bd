/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
#include "tests/blockforest/output/output_common.h"

#include "blockforest/pictures/png_canvas_impl.h"
#include "core/base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <hdf5.h>
#include <math.h>
#ifdef GAB_HAVE_PNG
#include <png.h>
#endif
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static gab_world *world;
static gab_forest *forest;
static char folder[64] = "/tmp/gabion-output-XXXXXX";

static long file_size(const char *name)
{
  char path[512];
  struct stat info;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static int count_entries(const char *subfolder)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, subfolder);
  DIR *entries = opendir(path);
  assert_non_null(entries);
  int count = 0;
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
    count += entry->d_name[0] != '.';
  closedir(entries);
  return count;
}

/* Files larger than this fail as on a full disk (with another errno). */
static void limit_files(rlim_t bytes)
{
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* ------------------------------------------------------------------------------------ quantities, schedules */

static void quantities_are_found_by_name_and_component(void **state)
{
  (void)state;
  gab_quantity_list list = {case_quantities, 2};
  const gab_quantity *found = NULL;
  gab_component component;
  assert_int_equal(gab_quantity_find_scalar(list, "velocity.y", &found, &component), GAB_OK);
  assert_ptr_equal(found, &case_quantities[1]);
  assert_int_equal(component, GAB_COMPONENT_Y);
  assert_int_equal(gab_quantity_find_scalar(list, "velocity", &found, &component), GAB_OK);
  assert_int_equal(component, GAB_COMPONENT_MAGNITUDE);
  assert_int_equal(gab_quantity_find_scalar(list, "density.x", &found, &component), GAB_ERR_INPUT);
  assert_int_equal(gab_quantity_find_scalar(list, "velocity.w", &found, &component), GAB_ERR_INPUT);
  assert_int_equal(gab_quantity_find(list, "densities", &found), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "density, velocity"));
  const double vector[3] = {2, -3, 6};
  assert_true(gab_quantity_scalar(&case_quantities[1], GAB_COMPONENT_MAGNITUDE, vector) == 7.0);
  assert_true(gab_quantity_scalar(&case_quantities[1], GAB_COMPONENT_Y, vector) == -3.0);
}

static void schedules_are_due_from_their_start(void **state)
{
  (void)state;
  gab_schedule schedule = {.every = 3, .start = 4};
  const bool due[] = {false, false, false, false, true, false, false, true, false, false, true};
  for (int step = 0; step < 11; step++) assert_int_equal(gab_schedule_due(schedule, step), due[step]);
  assert_false(gab_schedule_due((gab_schedule){0}, 0));
}

/* Rows at intervals of physical time: the k-th is at the step nearest to k intervals, also after millions of them. */
static void intervals_do_not_drift(void **state)
{
  (void)state;
  const double intervals[] = {1.25, 1 / 0.7, 6.5 / 0.9, 1000.4, 1234567.75};
  for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
    const gab_schedule schedule = {.every = 1, .start = 3, .interval = intervals[i]};
    int64_t count = 0;
    for (gab_step step = 0; step < 4000; step++) {
      assert_int_equal(gab_schedule_count(schedule, step), count);
      const bool due = step == 3 + llround((double)count * intervals[i]);
      assert_int_equal(gab_schedule_due(schedule, step), due);
      count += due;
    }
    for (int64_t k = 9999990; k < 10000000; k++) {
      const gab_step step = gab_schedule_step(schedule, k);
      assert_true(fabs((double)(step - 3) - (double)k * intervals[i]) <= 0.5);
      assert_true(gab_schedule_due(schedule, step));
      assert_int_equal(gab_schedule_count(schedule, step), k);
      if (intervals[i] > 2) assert_false(gab_schedule_due(schedule, step + 1));
    }
  }
  const gab_schedule whole = {.every = 4, .start = 1};
  for (gab_step step = 0; step < 20; step++)
    assert_int_equal(gab_schedule_count(whole, step), step < 2 ? 0 : (step + 2) / 4);
}

/* Each seventh step of another schedule, from its third one on. */
static void strides_choose_among_the_steps(void **state)
{
  (void)state;
  const gab_schedule schedules[] = {{.every = 3, .start = 4}, {.every = 1, .interval = 2.3}};
  for (size_t i = 0; i < 2; i++) {
    gab_schedule some = schedules[i];
    some.stride = 7;
    some.skip = 2;
    int64_t all = 0, chosen = 0;
    for (gab_step step = 0; step < 400; step++) {
      const bool due = gab_schedule_due(schedules[i], step), is_chosen = due && all % 7 == 2;
      assert_int_equal(gab_schedule_count(some, step), chosen);
      assert_int_equal(gab_schedule_due(some, step), is_chosen);
      if (is_chosen) assert_int_equal(gab_schedule_step(some, chosen), step);
      all += due;
      chosen += is_chosen;
    }
    assert_true(chosen > 15);
  }
}

/* ------------------------------------------------------------------------------------ pictures */

static void colour_maps_rise_evenly(void **state)
{
  (void)state;
  gab_rgb map[256];
  gab_colour_map(false, map);
  double before = 0.2126 * map[0].r + 0.7152 * map[0].g + 0.0722 * map[0].b;
  assert_true(before < 40);
  for (int i = 1; i < 256; i++) {
    double grey = 0.2126 * map[i].r + 0.7152 * map[i].g + 0.0722 * map[i].b;
    assert_true(grey > before - 0.5 && grey < before + 3.0);
    before = grey;
  }
  gab_colour_map(true, map);
  assert_true(map[0].b > map[0].r + 60 && map[255].r > map[255].b + 60);
  assert_true(map[128].r > 235 && map[128].g > 235 && map[128].b > 235);
}

static void every_letter_can_be_drawn(void **state)
{
  (void)state;
  gab_canvas canvas;
  assert_int_equal(gab_canvas_create(&canvas, 40, 40, (gab_rgb){255, 255, 255}), GAB_OK);
  for (int c = '!'; c <= '~'; c++) {
    char text[2] = {(char)c, 0};
    gab_canvas_fill(&canvas, 0, 0, 40, 40, (gab_rgb){255, 255, 255});
    gab_canvas_text(&canvas, 10, 28, 14, GAB_TEXT_LEFT, (gab_rgb){0, 0, 0}, text);
    double ink = 0;
    for (int i = 0; i < 1600; i++) ink += (255 - canvas.pixels[i].r) / 255.0;
    assert_true(ink > 3 && ink < 120);
  }
  gab_canvas_text(&canvas, -30, 2, 14, GAB_TEXT_LEFT, (gab_rgb){0, 0, 0}, "clipped on all sides \xff\xc2");
  assert_true(gab_canvas_text_width(14, "wide") > gab_canvas_text_width(14, "ill"));
  gab_canvas_release(&canvas);
}

#ifdef GAB_HAVE_PNG
typedef struct picture {
  png_image image;
  gab_rgb *pixels;
} picture;

static picture load_picture(const char *name)
{
  picture loaded;
  char path[512];
  memset(&loaded, 0, sizeof loaded);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  loaded.image.version = PNG_IMAGE_VERSION;
  assert_true(png_image_begin_read_from_file(&loaded.image, path));
  loaded.image.format = PNG_FORMAT_RGB;
  loaded.pixels = malloc(PNG_IMAGE_SIZE(loaded.image));
  assert_non_null(loaded.pixels);
  assert_true(png_image_finish_read(&loaded.image, NULL, loaded.pixels, 0, NULL));
  return loaded;
}

static void a_slice_shows_each_cell_in_its_colour(void **state)
{
  (void)state;
  gab_slice *slice = NULL;
  gab_slice_options options = {.folder = folder,
                               .name = "cells",
                               .quantity = &case_quantities[0],
                               .axis = 1,
                               .position = 1.7}; /* y cell 9 */
  assert_int_equal(gab_slice_create(forest, &options, &slice), GAB_OK);
  assert_int_equal(gab_slice_write(slice, 12, 0.5), GAB_OK);
  gab_slice_layout layout = gab_slice_get_layout(slice);
  picture shown = load_picture("cells_0000000012.png");
  gab_rgb map[256];
  gab_colour_map(false, map);
  assert_true(layout.width >= 800 && layout.width <= 1600);
  assert_int_equal(layout.width, (int)(24 * layout.pixels_per_cell));
  for (int64_t z = 0; z < 8; z++) {
    for (int64_t x = 0; x < 24; x++) {
      const int64_t at[3] = {x, 9, z};
      double value = case_density(at), t = (value - layout.range[0]) / (layout.range[1] - layout.range[0]);
      size_t column = (size_t)(layout.left + (x + 0.5) * layout.pixels_per_cell);
      size_t row = (size_t)(layout.top + layout.height - (z + 0.5) * layout.pixels_per_cell);
      gab_rgb pixel = shown.pixels[row * shown.image.width + column];
      gab_rgb expected = {228, 228, 232}; /* no block there */
      if (x < 18 || z < 4) expected = isnan(value) ? (gab_rgb){150, 150, 154} : map[(int)(t * 255 + 0.5)];
      assert_memory_equal(&pixel, &expected, sizeof pixel);
    }
  }
  free(shown.pixels);
  gab_slice_destroy(&slice);
}

static void slices_that_cannot_be_are_refused(void **state)
{
  (void)state;
  gab_slice *slice = NULL;
  gab_slice_options options = {.folder = folder, .quantity = &case_quantities[0], .axis = 2, .position = 99};
  assert_int_equal(gab_slice_create(forest, &options, &slice), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "outside the domain"));
  options = (gab_slice_options){.folder = folder, .quantity = &case_quantities[0], .axis = 3};
  assert_int_equal(gab_slice_create(forest, &options, &slice), GAB_ERR_INPUT);
  options = (gab_slice_options){
      .folder = folder, .quantity = &case_quantities[0], .position = 0, .fixed_range = true, .range = {2, 1}};
  assert_int_equal(gab_slice_create(forest, &options, &slice), GAB_ERR_INPUT);
  assert_null(slice);
}

static void large_slices_are_reduced(void **state)
{
  (void)state;
  gab_forest *large = NULL;
  gab_slice *slice = NULL;
  gab_forest_options wide = {.grid = {.dimension = 2, .roots = {41, 3, 1}}, .cells = {100, 70, 1}, .dx = 1.0};
  gab_slice_options options = {.folder = folder, .name = "wide", .quantity = &case_quantities[0], .axis = 2};
  large = case_forest(world, &wide);
  assert_int_equal(gab_slice_create(large, &options, &slice), GAB_OK);
  assert_int_equal(gab_slice_write(slice, 0, 0.0), GAB_OK);
  gab_slice_layout layout = gab_slice_get_layout(slice);
  assert_int_equal(layout.width, 1367); /* every third of 4100 cells */
  assert_int_equal(layout.height, 70);
  picture shown = load_picture("wide_0000000000.png");
  gab_rgb map[256];
  gab_colour_map(false, map);
  const int64_t at[3] = {3 * 700 + 1, 3 * 20 + 1, 0};
  double t = (case_density(at) - layout.range[0]) / (layout.range[1] - layout.range[0]);
  gab_rgb pixel = shown.pixels[(size_t)(layout.top + layout.height - 1 - 20) * shown.image.width +
                               (size_t)(layout.left + 700)];
  assert_memory_equal(&pixel, &map[(int)(t * 255 + 0.5)], sizeof pixel);
  free(shown.pixels);
  gab_slice_destroy(&slice);
  gab_forest_destroy(&large);
}
#endif

/* ------------------------------------------------------------------------------------ series and probes */

static void numbers_read_back_as_they_were(void **state)
{
  (void)state;
  const double values[] = {0.1,           1.0 / 3.0,          -5e-324, 1.7976931348623157e308,
                           123456789.125, 0.30000000000000004};
  char text[GAB_OUTPUT_NUMBER];
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    gab_output_number(values[i], text);
    assert_true(strtod(text, NULL) == values[i]);
  }
  gab_output_number(0.1, text);
  assert_string_equal(text, "0.1");
  gab_output_number(-NAN, text);
  assert_string_equal(text, "nan");
}

/* The whole content of a file. */
static void assert_has_text(const char *name, const char *expected)
{
  char path[512], text[4096] = "";
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  assert_int_equal(length, strlen(expected));
  assert_memory_equal(text, expected, length);
}

static void a_series_goes_back_to_its_cursor(void **state)
{
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/back.csv", folder);
  static const char *const columns[] = {"a", "b"};
  gab_series *series = NULL;
  gab_buffer early = {0}, late = {0};
  assert_int_equal(gab_series_create(world, path, columns, 2, &series), GAB_OK);
  assert_int_equal(gab_series_pack(series, &early), GAB_OK);
  for (gab_step step = 0; step < 5; step++) {
    const double values[2] = {0.1 * (double)step, 1e300};
    assert_int_equal(gab_series_append(series, step, 0.5, values), GAB_OK);
  }
  const double again[2] = {7, 7};
  assert_int_equal(gab_series_append(series, 4, 0.5, again), GAB_OK); /* already written: ignored */
  assert_int_equal(gab_series_append(series, 3, 0.5, again), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_series_pack(series, &late), GAB_OK);
  long length = file_size("back.csv");
  assert_int_equal(length, gab_series_cursor(series));
  assert_int_equal(gab_series_append(series, 9, 0.5, again), GAB_OK);
  assert_int_equal(gab_series_flush(series), GAB_OK);
  assert_true(file_size("back.csv") > length);
  gab_reader reader = gab_reader_of_buffer(&late);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  assert_int_equal(file_size("back.csv"), length);
  reader = gab_reader_of_buffer(&early);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  assert_int_equal(file_size("back.csv"), 0);
  reader = gab_reader_of_buffer(&late); /* missing rows: the next one follows the header */
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  gab_log_set_level(GAB_LOG_INFO, GAB_LOG_INFO);
  assert_int_equal(gab_series_append(series, 5, 0.5, again), GAB_OK);
  assert_int_equal(gab_series_flush(series), GAB_OK);
  assert_has_text("back.csv", "step,time,a,b\n5,0.5,7,7\n");
  reader = gab_reader_of(late.data, 9);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_ERR_CORRUPT);
  gab_series_destroy(&series);
  gab_buffer_release(&early);
  gab_buffer_release(&late);
}

/* Strategy `local': recomputed rows equal the written ones; a later rollback may still return to a checkpoint after
 * them. */
static void a_root_that_goes_back_alone_keeps_rows(void **state)
{
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/alone.csv", folder);
  static const char *const columns[] = {"a"};
  gab_series *series = NULL;
  gab_buffer early = {0}, late = {0};
  const double values[2] = {1.5, 2.5};
  assert_int_equal(gab_series_create(world, path, columns, 1, &series), GAB_OK);
  assert_int_equal(gab_series_append(series, 0, 0, &values[0]), GAB_OK);
  assert_int_equal(gab_series_pack(series, &early), GAB_OK);
  const long first = file_size("alone.csv");
  for (gab_step step = 1; step < 4; step++)
    assert_int_equal(gab_series_append(series, step, 0, &values[1]), GAB_OK);
  assert_int_equal(gab_series_pack(series, &late), GAB_OK);
  const long length = file_size("alone.csv");
  gab_world_set_policy(world, GAB_POLICY_MARK_DOWN);
  gab_reader reader = gab_reader_of_buffer(&early);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  assert_int_equal(file_size("alone.csv"), length);
  assert_int_equal(gab_series_append(series, 1, 0, &values[1]), GAB_OK); /* as before */
  assert_int_equal(gab_series_flush(series), GAB_OK);
  assert_int_equal(file_size("alone.csv"), length);
  gab_world_set_policy(world, GAB_POLICY_REVOKE_ALL);
  reader = gab_reader_of_buffer(&late); /* all ranks go back, to a later checkpoint */
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  assert_int_equal(file_size("alone.csv"), length);
  /* Other rows replace these; rows that are not written again are removed with the series. */
  gab_world_set_policy(world, GAB_POLICY_MARK_DOWN);
  reader = gab_reader_of_buffer(&early);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  assert_int_equal(gab_series_append(series, 1, 0, &values[0]), GAB_OK);
  assert_int_equal(gab_series_flush(series), GAB_OK);
  assert_int_equal(file_size("alone.csv"), gab_series_cursor(series));
  reader = gab_reader_of_buffer(&early);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  assert_true(file_size("alone.csv") > first);
  gab_series_destroy(&series);
  assert_int_equal(file_size("alone.csv"), first);
  gab_world_set_policy(world, GAB_POLICY_REVOKE_ALL);
  gab_buffer_release(&early);
  gab_buffer_release(&late);
}

static void put_row(gab_series *series, gab_step step)
{
  const double value = (double)step;
  assert_int_equal(gab_series_append(series, step, 0, &value), GAB_OK);
  assert_int_equal(gab_series_flush(series), GAB_OK);
}

/* The file is removed between two rows. */
static void a_file_that_is_gone_is_written_again(void **state)
{
  (void)state;
  char path[128], aside[128];
  snprintf(path, sizeof path, "%s/gone.csv", folder);
  snprintf(aside, sizeof aside, "%s/aside.csv", folder);
  static const char *const columns[] = {"a"};
  static const char rows[] = "step,time,a\n0,0,0\n1,0,1\n2,0,2\n";
  gab_series *series = NULL;
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  assert_int_equal(gab_series_create(world, path, columns, 1, &series), GAB_OK);
  put_row(series, 0);
  assert_int_equal(unlink(path), 0);
  put_row(series, 1);
  assert_int_equal(rename(path, aside), 0);
  put_row(series, 2);
  assert_has_text("gone.csv", rows);
  assert_has_text("aside.csv", "step,time,a\n0,0,0\n1,0,1\n");
  /* Another file in its place is kept; one with the same content, as saved by an editor, is used. */
  assert_int_equal(rename(aside, path), 0);
  assert_int_equal(gab_series_flush(series), GAB_OK);
  assert_has_text("gone.csv", rows);
  assert_has_text("gone_1.csv", "step,time,a\n0,0,0\n1,0,1\n");
  FILE *copy = fopen(aside, "wb");
  assert_non_null(copy);
  assert_true(fputs(rows, copy) >= 0 && fclose(copy) == 0);
  assert_int_equal(rename(aside, path), 0);
  put_row(series, 3);
  assert_has_text("gone.csv", "step,time,a\n0,0,0\n1,0,1\n2,0,2\n3,0,3\n");
  assert_int_equal(file_size("gone_2.csv"), -1);
  gab_series_destroy(&series);
  gab_log_set_level(GAB_LOG_INFO, GAB_LOG_INFO);
}

/* Cut rows are lost: the next row follows the last whole one, and a rollback finds rows by their steps. */
static void a_file_that_was_cut_gets_no_hole(void **state)
{
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/cut.csv", folder);
  static const char *const columns[] = {"a"};
  gab_series *series = NULL;
  gab_buffer early = {0};
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  assert_int_equal(gab_series_create(world, path, columns, 1, &series), GAB_OK);
  for (gab_step step = 0; step < 4; step++) put_row(series, step);
  assert_int_equal(gab_series_pack(series, &early), GAB_OK);
  put_row(series, 4);
  assert_int_equal(truncate(path, (off_t)strlen("step,time,a\n0,0,0\n1,0")), 0);
  put_row(series, 5);
  assert_has_text("cut.csv", "step,time,a\n0,0,0\n5,0,5\n");
  put_row(series, 6);
  gab_reader reader = gab_reader_of_buffer(&early);
  assert_int_equal(gab_series_unpack(series, &reader), GAB_OK);
  put_row(series, 4);
  assert_has_text("cut.csv", "step,time,a\n0,0,0\n4,0,4\n");
  assert_int_equal(truncate(path, 0), 0);
  put_row(series, 5);
  assert_has_text("cut.csv", "step,time,a\n5,0,5\n");
  gab_series_destroy(&series);
  gab_log_set_level(GAB_LOG_INFO, GAB_LOG_INFO);
  gab_buffer_release(&early);
}

static void a_full_disk_leaves_whole_rows(void **state)
{
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/full.csv", folder);
  static const char *const columns[] = {"a"};
  gab_series *series = NULL;
  const double value = 0.123456789012345;
  assert_int_equal(gab_series_create(world, path, columns, 1, &series), GAB_OK);
  assert_int_equal(gab_series_append(series, 0, 0, &value), GAB_OK);
  assert_int_equal(gab_series_flush(series), GAB_OK);
  long whole = file_size("full.csv");
  limit_files((rlim_t)whole + 10);
  assert_int_equal(gab_series_append(series, 1, 0, &value), GAB_OK);
  assert_int_equal(gab_series_flush(series), GAB_ERR_IO);
  assert_non_null(strstr(gab_error_message(), strerror(EFBIG)));
  assert_int_equal(file_size("full.csv"), whole);
  limit_files(RLIM_INFINITY);
  assert_int_equal(gab_series_flush(series), GAB_OK); /* nothing was lost */
  assert_int_equal(file_size("full.csv"), gab_series_cursor(series));
  gab_series_destroy(&series);
}

static void probes_read_the_cell_that_contains_them(void **state)
{
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/points.csv", folder);
  /* A lower face, the upper corner of the domain (without a block), an upper face, a solid cell. */
  static const double points[4][3] = {
      {-0.25, 0.5, 2.0}, {2.0, 1.75, 3.0}, {2.0, 0.5, 2.0}, {-0.06, 1.2, 2.01}};
  gab_probes_options options = {
      .path = path, .points = points, .point_count = 4, .quantities = case_quantities, .quantity_count = 1};
  gab_probes *probes = NULL;
  double values[4];
  assert_int_equal(gab_probes_create(forest, &options, &probes), GAB_OK);
  assert_int_equal(gab_probes_sample(probes, values), GAB_OK);
  assert_true(values[0] == case_density((const int64_t[3]){6, 0, 0}));
  assert_true(isnan(values[1]) && isnan(values[3]));
  assert_true(values[2] == case_density((const int64_t[3]){23, 0, 0}));
  gab_probes_destroy(&probes);
  static const double outside[1][3] = {{-1.01, 1, 2.5}};
  options.points = outside;
  options.point_count = 1;
  assert_int_equal(gab_probes_create(forest, &options, &probes), GAB_ERR_INPUT);
}

/* ------------------------------------------------------------------------------------ folders and full disks */

static void a_folder_that_cannot_be_is_bad_input(void **state)
{
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/a/deep/folder", folder);
  assert_int_equal(gab_output_folder_prepare(path), GAB_OK);
  assert_int_equal(gab_output_folder_prepare(path), GAB_OK); /* is there already */
  assert_int_equal(count_entries("a/deep/folder"), 1);
  snprintf(path, sizeof path, "%s/file", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
  assert_int_equal(gab_output_folder_prepare(path), GAB_ERR_INPUT);
  snprintf(path, sizeof path, "%s/file/below", folder);
  assert_int_equal(gab_output_folder_prepare(path), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), strerror(ENOTDIR)));
  assert_int_equal(gab_output_folder_prepare("/proc/gabion"), GAB_ERR_INPUT);
  assert_int_equal(gab_output_folder_prepare(""), GAB_ERR_INPUT);
}

/* Wherever the disk gets full while a file is written: an error, and no file. */
/* Probes of density at steps 0, 2, 4, ...; fields with a quantity of neighbouring cells at 3, 7, ...; a series at
 * every step. */
static void only_what_is_due_looks_around(void **state)
{
  (void)state;
  gab_output *output;
  gab_quantity around = case_quantities[1], alone = case_quantities[0];
  alone.pointwise = true;
  const gab_quantity both[2] = {alone, around};
  const double point[1][3] = {{0, 1, 2.5}};
  const char *const column = "value";
  const gab_probes_options probes = {
      .points = point, .point_count = 1, .quantities = &alone, .quantity_count = 1};
  gab_probes_options far = probes;
  far.path = "/tmp/gabion-never-written.csv";
  far.quantities = &around;
  const gab_volume_options fields = {.quantities = both, .quantity_count = 2};
  assert_int_equal(gab_output_create(forest, folder, &output), GAB_OK);
  assert_int_equal(gab_output_add_probes(output, (gab_schedule){.every = 2}, &probes), GAB_OK);
  assert_int_equal(
      gab_output_add_series(output, (gab_schedule){.every = 1}, "always", &column, 1, NULL, NULL, NULL),
      GAB_OK);
  for (gab_step step = 0; step < 8; step++) assert_false(gab_output_looks_around(output, step));
  assert_int_equal(gab_output_add_volume(output, (gab_schedule){.every = 4, .start = 3}, &fields), GAB_OK);
  for (gab_step step = 0; step < 12; step++)
    assert_int_equal(gab_output_looks_around(output, step), step % 4 == 3);
  assert_int_equal(gab_output_add_probes(output, (gab_schedule){.every = 6}, &far), GAB_OK);
  for (gab_step step = 0; step < 12; step++)
    assert_int_equal(gab_output_looks_around(output, step), step % 4 == 3 || step % 6 == 0);
#ifdef GAB_HAVE_PNG
  gab_slice_options slice = {.quantity = &alone, .axis = 2, .position = 2.5};
  assert_int_equal(gab_output_add_slice(output, (gab_schedule){.every = 1}, &slice), GAB_OK);
  assert_false(gab_output_looks_around(output, 1));
  slice.quantity = &around;
  assert_int_equal(gab_output_add_slice(output, (gab_schedule){.every = 1}, &slice), GAB_OK);
  assert_true(gab_output_looks_around(output, 1));
#endif
  gab_output_destroy(&output);
}

static void volume_files_are_whole_or_not_there(void **state)
{
  (void)state;
  gab_volume *volume = NULL;
  gab_volume_options options = {.folder = folder,
                                .name = "limit",
                                .quantities = case_quantities,
                                .quantity_count = 2,
                                .precision = GAB_OUTPUT_DOUBLE};
  assert_int_equal(gab_output_folder_prepare(folder), GAB_OK);
  assert_int_equal(gab_volume_create(forest, &options, &volume), GAB_OK);
  assert_int_equal(gab_volume_write(volume, 0, 0.0), GAB_OK);
  long whole = file_size("fields/limit_0000000000.s0000.h5");
  int before = count_entries("fields");
  assert_int_equal(before, 3);
  for (int part = 0; part < 16; part++) {
    limit_files((rlim_t)(whole * part / 16));
    assert_int_equal(gab_volume_write(volume, 1, 0.5), GAB_ERR_IO);
    assert_non_null(strstr(gab_error_message(), "limit_0000000001"));
    limit_files(RLIM_INFINITY);
    assert_int_equal(count_entries("fields"), before);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
  }
  assert_int_equal(gab_volume_write(volume, 1, 0.5), GAB_OK); /* there is space again */
  assert_int_equal(count_entries("fields"), before + 2);
  gab_volume_destroy(&volume);
}

static void pictures_are_whole_or_not_there(void **state)
{
  (void)state;
  if (!gab_slice_is_built()) return;
  gab_slice *slice = NULL;
  gab_slice_options options = {
      .folder = folder, .name = "limit", .quantity = &case_quantities[0], .axis = 2, .position = 2.0};
  assert_int_equal(gab_slice_create(forest, &options, &slice), GAB_OK);
  limit_files(3000);
  assert_int_equal(gab_slice_write(slice, 1, 0.5), GAB_ERR_IO);
  limit_files(RLIM_INFINITY);
  assert_int_equal(file_size("limit_0000000001.png"), -1);
  assert_int_equal(file_size("limit_0000000001.png.tmp"), -1);
  gab_slice_destroy(&slice);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantities_are_found_by_name_and_component),
      cmocka_unit_test(schedules_are_due_from_their_start),
      cmocka_unit_test(intervals_do_not_drift),
      cmocka_unit_test(strides_choose_among_the_steps),
      cmocka_unit_test(colour_maps_rise_evenly),
      cmocka_unit_test(every_letter_can_be_drawn),
#ifdef GAB_HAVE_PNG
      cmocka_unit_test(a_slice_shows_each_cell_in_its_colour),
      cmocka_unit_test(slices_that_cannot_be_are_refused),
      cmocka_unit_test(large_slices_are_reduced),
#endif
      cmocka_unit_test(numbers_read_back_as_they_were),
      cmocka_unit_test(a_series_goes_back_to_its_cursor),
      cmocka_unit_test(a_root_that_goes_back_alone_keeps_rows),
      cmocka_unit_test(a_file_that_is_gone_is_written_again),
      cmocka_unit_test(a_file_that_was_cut_gets_no_hole),
      cmocka_unit_test(a_full_disk_leaves_whole_rows),
      cmocka_unit_test(probes_read_the_cell_that_contains_them),
      cmocka_unit_test(a_folder_that_cannot_be_is_bad_input),
      cmocka_unit_test(only_what_is_due_looks_around),
      cmocka_unit_test(volume_files_are_whole_or_not_there),
      cmocka_unit_test(pictures_are_whole_or_not_there),
  };
  signal(SIGXFSZ, SIG_IGN);
  if (!mkdtemp(folder) || gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  forest = case_forest(world, &case_options);
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_forest_destroy(&forest);
  gab_world_destroy(&world);
  char command[128];
  snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
  return system(command) == 0 ? failed : 1;
}
