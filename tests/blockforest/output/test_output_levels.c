/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Files of a forest of several levels: every cell has its position and size. */
#include "tests/blockforest/output/output_common.h"

#include "blockforest/adaptation/adapt.h"
#include "blockforest/pictures/png_canvas_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <hdf5.h>
#ifdef GAB_HAVE_PNG
#include <png.h>
#endif
#include <string.h>
#include <unistd.h>

static gab_world *world;
static char folder[64] = "/tmp/gabion-levels-XXXXXX";

/* A linear function of the centre of the cell, plus a small term for the level. */
static double place_value(const double at[3], int level)
{
  return at[0] + 7 * at[1] + 50 * at[2] + 1e-3 * level;
}

static gab_status place_evaluate(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user;
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(forest, block, x, y, z, at);
        *values++ = place_value(at, gab_block_level(forest, block));
      }
  return GAB_OK;
}

static const gab_quantity place = {.name = "place", .components = 1, .evaluate = place_evaluate};

/* Fine around one corner of the domain. */
static gab_mark corner(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 && cells->lo[2] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_status stay(void *context, gab_proxies *proxies)
{
  (void)context, (void)proxies;
  return GAB_OK;
}

static gab_forest *make_forest(int dimension)
{
  gab_forest *forest = NULL;
  gab_forest_options options = {.grid = {.dimension = dimension, .roots = {3, 2, dimension == 3 ? 2 : 1}},
                                .cells = {4, 6, dimension == 3 ? 4 : 1},
                                .origin = {-1.0, 0.5, 2.0},
                                .dx = 0.5};
  gab_refine_report report;
  assert_int_equal(gab_forest_create(world, &options, &forest), GAB_OK);
  assert_int_equal(gab_forest_build(forest, corner, NULL, 2, stay, NULL, &report), GAB_OK);
  assert_true(report.split >= 2);
  return forest;
}

/* ---------------------------------------------------------------------------------------- volume */

/* One "<DataItem ...>z y x</DataItem>" behind `*text`. */
static void read_vector(const char **text, double values[3])
{
  *text = strstr(*text, "<DataItem");
  assert_non_null(*text);
  *text = strchr(*text, '>') + 1;
  assert_int_equal(sscanf(*text, "%lf %lf %lf", &values[2], &values[1], &values[0]), 3);
}

/* The block selected by the text behind `*text`, "|row 0 0 0:1 1 1 1:1 z y x:rows z y x". */
static void read_selection(hid_t file, const char *text, int level, const int32_t cells[3], double *values)
{
  unsigned long long row, rows;
  int chosen, z, y, x;
  char name[128];
  text = strstr(text, ":/fields/place/");
  assert_non_null(text);
  assert_int_equal(sscanf(text, ":/fields/place/level-%d|%llu 0 0 0:1 1 1 1:1 %d %d %d:%llu", &chosen, &row,
                          &z, &y, &x, &rows),
                   6);
  assert_int_equal(chosen, level);
  assert_true(x == cells[0] && y == cells[1] && z == cells[2]);
  snprintf(name, sizeof name, "/fields/place/level-%d", level);
  hsize_t extent[4], start[4] = {row, 0, 0, 0};
  hid_t field = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(field);
  assert_true(field >= 0);
  assert_int_equal(H5Sget_simple_extent_dims(space, extent, NULL), 4);
  assert_int_equal(extent[0], rows);
  extent[0] = 1;
  hid_t memory = H5Screate_simple(4, extent, NULL);
  assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0);
  assert_true(H5Dread(field, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(field);
}

/* The cells of one block at the described positions, with their values in the file. */
static double check_grid(const gab_forest *forest, hid_t file, const char *grid)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  double origin[3], spacing[3], values[4 * 6 * 4], *next = values;
  unsigned long long id;
  assert_int_equal(sscanf(grid, "<Grid Name=\"block-%llx\"", &id), 1);
  const gab_block *block = gab_forest_find(forest, id);
  assert_non_null(block);
  int level = gab_block_level(forest, block);
  read_vector(&grid, origin);
  read_vector(&grid, spacing);
  read_selection(file, grid, level, cells, values);
  bool flat = gab_forest_get_options(forest)->grid.dimension == 2;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        double at[3] = {origin[0] + (x + 0.5) * spacing[0], origin[1] + (y + 0.5) * spacing[1],
                        origin[2] + (z + 0.5) * spacing[2]};
        if (flat) at[2] = origin[2] + 0.5 * spacing[0]; /* all levels have the same thickness in pictures */
        assert_true(fabs(*next++ - place_value(at, level)) < 1e-9);
      }
  return cells[0] * spacing[0] * cells[1] * spacing[1] * cells[2] * spacing[2];
}

static void check_volume(int dimension)
{
  gab_forest *forest = make_forest(dimension);
  gab_volume *volume = NULL;
  gab_quantity quantities[] = {place, *gab_quantity_level()};
  gab_volume_options options = {.folder = folder,
                                .name = dimension == 3 ? "room" : "plane",
                                .quantities = quantities,
                                .quantity_count = 2,
                                .precision = GAB_OUTPUT_DOUBLE};
  assert_int_equal(gab_volume_create(forest, &options, &volume), GAB_OK);
  assert_int_equal(gab_volume_write(volume, 4, 0.25), GAB_OK);
  char path[256], *text = calloc(1, 1 << 20);
  assert_non_null(text);
  snprintf(path, sizeof path, "%s/fields/%s_0000000004.xdmf", folder, options.name);
  FILE *description = fopen(path, "r");
  assert_non_null(description);
  assert_true(fread(text, 1, (1 << 20) - 1, description) > 0);
  fclose(description);
  snprintf(path, sizeof path, "%s/fields/%s_0000000004.s0000.h5", folder, options.name);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  size_t grids = 0;
  double filled = 0;
  for (const char *grid = text; (grid = strstr(grid, "<Grid Name=\"block-")); grid++, grids++)
    filled += check_grid(forest, file, grid);
  assert_int_equal(grids, gab_forest_block_count(forest));
  double whole = 1;
  gab_box all = gab_forest_domain_cells(forest);
  for (int axis = 0; axis < 3; axis++) whole *= 0.5 * (double)all.hi[axis];
  assert_true(fabs(filled - whole) < 1e-9);
  H5Fclose(file);
  free(text);
  gab_volume_destroy(&volume);
  gab_forest_destroy(&forest);
}

static void grids_of_all_levels_fill_the_domain_once(void **state)
{
  (void)state;
  check_volume(2);
  check_volume(3);
}

/* ---------------------------------------------------------------------------------------- pictures */

static void probes_ask_the_block_that_has_the_point(void **state)
{
  (void)state;
  gab_forest *forest = make_forest(3);
  gab_probes *probes = NULL;
  char path[128];
  const double points[][3] = {{-0.99, 0.51, 2.01}, {-1 + 2.0, 0.5 + 3.0, 2.0}, {4.9, 6.4, 5.9}};
  const double width[] = {0.125, 0.5, 0.5};
  double values[3];
  snprintf(path, sizeof path, "%s/probes.csv", folder);
  gab_probes_options options = {
      .path = path, .points = points, .point_count = 3, .quantities = &place, .quantity_count = 1};
  assert_int_equal(gab_probes_create(forest, &options, &probes), GAB_OK);
  assert_int_equal(gab_probes_sample(probes, values), GAB_OK);
  for (int p = 0; p < 3; p++) {
    double centre[3], nearest = INFINITY;
    for (int level = 0; level <= 2; level++) {
      double h = ldexp(0.5, -level);
      if (h != width[p]) continue;
      for (int axis = 0; axis < 3; axis++) {
        double lower = (double[3]){-1.0, 0.5, 2.0}[axis];
        centre[axis] = lower + (floor((points[p][axis] - lower) / h) + 0.5) * h;
      }
      nearest = place_value(centre, level);
    }
    assert_true(fabs(values[p] - nearest) < 1e-9);
  }
  gab_probes_destroy(&probes);
  gab_forest_destroy(&forest);
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

static gab_rgb pixel_at(const picture *shown, const gab_slice_layout *layout, double x, double y)
{
  size_t column = (size_t)(layout->left + x * layout->pixels_per_cell);
  size_t row = (size_t)(layout->top + layout->height - y * layout->pixels_per_cell);
  return shown->pixels[row * shown->image.width + column];
}

static void check_cell(const gab_forest *forest, const gab_block *block, int32_t x, int32_t y, int32_t z,
                       const picture *shown, const gab_slice_layout *layout, const gab_rgb map[256])
{
  double at[3];
  int level = gab_block_level(forest, block);
  gab_block_cell_centre(forest, block, x, y, z, at);
  double t =
      ((double)(float)place_value(at, level) - layout->range[0]) / (layout->range[1] - layout->range[0]);
  gab_rgb expected = map[(int)(t * 255 + 0.5)];
  /* near the corners of the cell, so that its size counts */
  double centre[2] = {(at[0] + 1.0) / 0.5, (at[1] - 0.5) / 0.5}, reach = 0.4 * ldexp(1, -level);
  for (int i = 0; i < 4; i++) {
    gab_rgb pixel =
        pixel_at(shown, layout, centre[0] + (i & 1 ? reach : -reach), centre[1] + (i & 2 ? reach : -reach));
    assert_memory_equal(&pixel, &expected, sizeof pixel);
  }
}

/* @param[in] plane  z of the slice in cells of level 0, anywhere within a cell of the finest level */
static void check_slice(int dimension, double plane)
{
  gab_forest *forest = make_forest(dimension);
  gab_slice *slice = NULL;
  gab_slice_options options = {
      .folder = folder, .name = "levels", .quantity = &place, .axis = 2, .position = 2.0 + 0.5 * plane};
  assert_int_equal(gab_slice_create(forest, &options, &slice), GAB_OK);
  assert_int_equal(gab_slice_write(slice, 0, 0.0), GAB_OK);
  gab_slice_layout layout = gab_slice_get_layout(slice);
  picture shown = load_picture("levels_0000000000.png");
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  gab_rgb map[256];
  gab_colour_map(false, map);
  size_t cut = 0;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    gab_box box = gab_block_cells(forest, block);
    int64_t z = (int64_t)floor(ldexp(plane, gab_block_level(forest, block)));
    if (dimension == 3 && (z < box.lo[2] || z >= box.hi[2])) continue;
    cut++;
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++)
        check_cell(forest, block, x, y, dimension == 3 ? (int32_t)(z - box.lo[2]) : 0, &shown, &layout, map);
  }
  assert_true(cut > 6);
  free(shown.pixels);
  gab_slice_destroy(&slice);
  gab_forest_destroy(&forest);
}

static void each_pixel_shows_the_cell_there_of_whatever_level(void **state)
{
  (void)state;
  check_slice(2, 0);
  check_slice(3, 0.1);
  check_slice(3, 1.9);
}

static void outlines_tell_the_level(void **state)
{
  (void)state;
  gab_forest *forest = make_forest(2);
  gab_slice *slice = NULL;
  gab_slice_options options = {.folder = folder,
                               .name = "outlines",
                               .quantity = &place,
                               .axis = 2,
                               .outlines = true,
                               .outlined = GAB_OUTLINE_LEVEL};
  assert_int_equal(gab_slice_create(forest, &options, &slice), GAB_OK);
  assert_int_equal(gab_slice_write(slice, 0, 0.0), GAB_OK);
  gab_slice_layout layout = gab_slice_get_layout(slice);
  picture shown = load_picture("outlines_0000000000.png");
  size_t of_level[3] = {0};
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    int level = gab_block_level(forest, block);
    gab_box box = gab_block_cells(forest, block);
    gab_rgb expected = gab_colour_of_number(level);
    double inside = 0.5 / layout.pixels_per_cell; /* half a pixel */
    gab_rgb lower = pixel_at(&shown, &layout, ldexp((double)box.lo[0], -level) + inside,
                             ldexp((double)box.lo[1], -level) + inside);
    gab_rgb upper = pixel_at(&shown, &layout, ldexp((double)box.hi[0], -level) - inside,
                             ldexp((double)box.hi[1], -level) - inside);
    assert_memory_equal(&lower, &expected, sizeof lower);
    assert_memory_equal(&upper, &expected, sizeof upper);
    of_level[level]++;
  }
  assert_true(of_level[0] > 0 && of_level[1] > 0 && of_level[2] == 4);
  free(shown.pixels);
  gab_slice_destroy(&slice);
  gab_forest_destroy(&forest);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grids_of_all_levels_fill_the_domain_once),
      cmocka_unit_test(probes_ask_the_block_that_has_the_point),
#ifdef GAB_HAVE_PNG
      cmocka_unit_test(each_pixel_shows_the_cell_there_of_whatever_level),
      cmocka_unit_test(outlines_tell_the_level),
#endif
  };
  if (!mkdtemp(folder) || gab_output_folder_prepare(folder) != GAB_OK) return 1;
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  char command[128];
  snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
  return system(command) == 0 ? failed : 1;
}
