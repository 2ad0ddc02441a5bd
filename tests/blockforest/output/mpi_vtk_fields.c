/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* VTKHDF files: the dual mesh of a random forest has no hanging nodes, its points have the values of cells, and the bytes do
 * not depend on owners. With a folder as argument the files stay, for script_output_vtk.sh. With --time N and a folder it
 * measures output of N^3 blocks of 8^3 cells (doc/field-format.md). */
#include "tests/blockforest/output/output_common.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/messages/collective.h"

#include <dirent.h>
#include <hdf5.h>
#include <string.h>
#include <sys/stat.h>

static char folder[400];

/* ---------------------------------------------------------------------------------------- the state */

static double noise_at(const double at[3]) { return gab_hash64(at, 3 * sizeof *at, 7) % 1000 / 1000.0; }

/* Some cells have no value. */
static bool is_hole(const double at[3]) { return gab_hash64(at, 3 * sizeof *at, 8) % 20 == 0; }

typedef enum kind { NOISE, HOLES, PLACE } kind;

static gab_status evaluate(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const kind what = *(const kind *)user;
  const gab_forest_options *domain = gab_forest_get_options(forest);
  for (int32_t z = 0; z < domain->cells[2]; z++)
    for (int32_t y = 0; y < domain->cells[1]; y++)
      for (int32_t x = 0; x < domain->cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(forest, block, x, y, z, at);
        if (domain->grid.dimension == 2) at[2] = domain->origin[2] + 0.5 * domain->dx;
        if (what == PLACE)
          for (int axis = 0; axis < 3; axis++) *values++ = at[axis];
        else *values++ = what == HOLES && is_hole(at) ? NAN : noise_at(at);
      }
  return GAB_OK;
}

static kind kinds[] = {NOISE, HOLES, PLACE};
static const gab_quantity
    noise = {.name = "noise", .components = 1, .evaluate = evaluate, .user = &kinds[NOISE]},
    holes = {.name = "noise", .components = 1, .evaluate = evaluate, .user = &kinds[HOLES]},
    place = {.name = "place", .unit = "m", .components = 3, .evaluate = evaluate, .user = &kinds[PLACE]};

static gab_mark mark(void *user, int level, const gab_box *cells)
{
  const int64_t key[4] = {level, cells->lo[0], cells->lo[1], cells->lo[2]};
  (void)user;
  return gab_hash64(key, sizeof key, 3) % 10 < 4 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_forest *make_forest(gab_world *world, int dimension, int levels)
{
  const bool is_flat = dimension == 2;
  const gab_forest_options options = {.grid = {.dimension = dimension, .roots = {3, 2, is_flat ? 1 : 2}},
                                      .cells = {4, 6, is_flat ? 1 : 4},
                                      .periodic = {true},
                                      .origin = {-1.0, 0.5, 2.0},
                                      .dx = 0.5};
  gab_forest *forest = NULL;
  EXPECT_OK(gab_forest_create(world, &options, &forest));
  EXPECT_OK(gab_forest_build(forest, levels > 0 ? mark : NULL, NULL, levels, case_stay, NULL, NULL));
  return forest;
}

/* Blocks in turn to all ranks, or all to the last one. */
static void move_blocks(gab_forest *forest, bool to_last)
{
  const gab_members *members = gab_world_members(gab_forest_world(forest));
  const int32_t ranks = gab_members_count(members);
  const size_t count = gab_forest_block_count(forest);
  gab_rank *targets = calloc(count + 1, sizeof *targets);
  EXPECT(targets);
  for (size_t b = 0; b < count; b++) {
    const gab_block_id id = gab_block_get_id(gab_forest_block(forest, b));
    targets[b] =
        gab_members_rank(members, to_last ? ranks - 1 : (int32_t)(gab_hash64(&id, 8, 5) % (uint64_t)ranks));
  }
  EXPECT_OK(gab_forest_migrate(forest, targets));
  free(targets);
}

static void write_step(gab_forest *forest, const char *name, const gab_quantity *scalar)
{
  const gab_quantity quantities[] = {*scalar, place, *gab_quantity_level()};
  gab_volume *volume = NULL;
  const gab_volume_options options = {.folder = folder,
                                      .name = name,
                                      .quantities = quantities,
                                      .quantity_count = scalar == &holes ? 1 : 3,
                                      .precision = GAB_OUTPUT_DOUBLE,
                                      .formats = GAB_VOLUME_VTKHDF};
  EXPECT_OK(gab_volume_create(forest, &options, &volume));
  EXPECT_OK(gab_volume_write(volume, 4, 0.25));
  gab_volume_destroy(&volume);
}

/* ---------------------------------------------------------------------------------------- reading */

static hid_t open_step(const char *name)
{
  char path[512];
  snprintf(path, sizeof path, "%s/fields/%s_0000000004.vtkhdf", folder, name);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT(file >= 0);
  return file;
}

/* ParaView 5.11 takes a terminator for a letter of the type. */
static void the_type_has_no_terminator(const char *name, const char *expected)
{
  char text[32] = "";
  const hid_t file = open_step(name),
              attribute = H5Aopen_by_name(file, "VTKHDF", "Type", H5P_DEFAULT, H5P_DEFAULT),
              type = H5Aget_type(attribute);
  EXPECT(H5Tget_size(type) == strlen(expected) && H5Aread(attribute, type, text) >= 0);
  EXPECT(strcmp(text, expected) == 0);
  H5Tclose(type);
  H5Aclose(attribute);
  H5Fclose(file);
}

/* All numbers of a dataset, as those of a type of the memory. */
static void *read_all(hid_t file, const char *path, hid_t type, size_t *count)
{
  const hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
  EXPECT(set >= 0);
  *count = (size_t)H5Sget_simple_extent_npoints(space);
  void *values = malloc(*count * H5Tget_size(type) + 1);
  EXPECT(values && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  return values;
}

typedef struct mesh {
  size_t points, cells, corners;
  double *at, *noise, *level, *place;
  int64_t *connectivity;
} mesh;

static mesh read_mesh(const char *name, int dimension, bool is_whole)
{
  mesh m = {.corners = (size_t)1 << dimension};
  size_t count;
  const hid_t file = open_step(name);
  m.at = read_all(file, "/VTKHDF/Points", H5T_NATIVE_DOUBLE, &count);
  m.points = count / 3;
  m.noise = read_all(file, "/VTKHDF/PointData/noise", H5T_NATIVE_DOUBLE, &count);
  EXPECT(count == m.points);
  if (is_whole) m.level = read_all(file, "/VTKHDF/PointData/level", H5T_NATIVE_DOUBLE, &count);
  if (is_whole) m.place = read_all(file, "/VTKHDF/PointData/place", H5T_NATIVE_DOUBLE, &count);
  m.connectivity = read_all(file, "/VTKHDF/Connectivity", H5T_NATIVE_INT64, &count);
  m.cells = count / m.corners;
  int64_t *offsets = read_all(file, "/VTKHDF/Offsets", H5T_NATIVE_INT64, &count);
  uint8_t *types = read_all(file, "/VTKHDF/Types", H5T_NATIVE_UINT8, &count);
  EXPECT(count == m.cells);
  for (size_t c = 0; c <= m.cells; c++) EXPECT(offsets[c] == (int64_t)(c * m.corners));
  for (size_t c = 0; c < m.cells; c++) EXPECT(types[c] == (dimension == 3 ? 12 : 9));
  for (size_t i = 0; i < m.cells * m.corners; i++)
    EXPECT(m.connectivity[i] >= 0 && m.connectivity[i] < (int64_t)m.points);
  free(offsets);
  free(types);
  H5Fclose(file);
  return m;
}

static void release_mesh(mesh *m)
{
  free(m->at);
  free(m->noise);
  free(m->level);
  free(m->place);
  free(m->connectivity);
}

/* ---------------------------------------------------------------------------------------- claims */

static void points_have_the_values_of_cells(const mesh *m)
{
  for (size_t i = 0; i < m->points; i++) EXPECT(m->noise[i] == noise_at(m->at + 3 * i));
  EXPECT(memcmp(m->place, m->at, 3 * m->points * sizeof *m->at) == 0);
}

typedef struct face {
  int64_t points[4]; /* ascending; -1: fewer points */
} face;

static int compare_numbers(const void *a, const void *b)
{
  const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

static int compare_faces(const void *a, const void *b)
{
  const face *left = a, *right = b;
  for (int k = 0; k < 4; k++)
    if (left->points[k] != right->points[k]) return left->points[k] < right->points[k] ? -1 : 1;
  return 0;
}

/* Distinct points of a face. @return their number */
static int make_face(const int64_t *cell, const int *corners, int count, face *made)
{
  int distinct = 0;
  for (int k = 0; k < 4; k++) made->points[k] = -1;
  for (int k = 0; k < count; k++) {
    bool is_new = true;
    for (int j = 0; j < distinct; j++) is_new = is_new && made->points[j] != cell[corners[k]];
    if (is_new) made->points[distinct++] = cell[corners[k]];
  }
  qsort(made->points, (size_t)distinct, sizeof *made->points, compare_numbers);
  return distinct;
}

/* Whether all points are centres of cells at one side of the domain. */
static bool is_at_side(const mesh *m, const face *of, const gab_forest_options *domain)
{
  const int dimension = domain->grid.dimension;
  for (int side = 0; side < 2 * dimension; side++) {
    const int axis = side / 2;
    const double length = domain->dx * domain->cells[axis] * domain->grid.roots[axis];
    bool all = true;
    for (int k = 0; k < 4 && of->points[k] >= 0; k++) {
      const double from = m->at[3 * of->points[k] + axis] - domain->origin[axis];
      const double half = 0.5 * ldexp(domain->dx, -(int)m->level[of->points[k]]);
      all = all && fabs((side % 2 ? length - from : from) - half) < 1e-9;
    }
    if (all) return true;
  }
  return false;
}

static void faces_have_two_cells_except_at_sides(const mesh *m, const gab_forest_options *domain)
{
  static const int of_hexahedron[6][4] = {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4},
                                          {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}};
  static const int of_quad[4][4] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
  const int dimension = domain->grid.dimension, sides = 2 * dimension;
  face *all = malloc(m->cells * (size_t)sides * sizeof *all + 1);
  size_t count = 0, shared = 0, collapsed = 0;
  EXPECT(all);
  for (size_t c = 0; c < m->cells; c++)
    for (int s = 0; s < sides; s++) {
      const int *const corners = dimension == 3 ? of_hexahedron[s] : of_quad[s];
      const int points =
          make_face(m->connectivity + c * m->corners, corners, dimension == 3 ? 4 : 2, &all[count]);
      if (points >= dimension) count++;
      collapsed += points < dimension;
    }
  qsort(all, count, sizeof *all, compare_faces);
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && compare_faces(&all[i], &all[next]) == 0;) next++;
    EXPECT(next - i == 2 || (next - i == 1 && is_at_side(m, &all[i], domain)));
    shared += next - i == 2;
  }
  EXPECT(shared > m->cells && collapsed > 10);
  free(all);
}

/* Of the whole mesh those cells are left that have values at all corners. */
static void cells_without_a_value_are_left_out(const mesh *whole, const mesh *rest)
{
  size_t expected = 0;
  EXPECT(whole->points == rest->points);
  for (size_t c = 0; c < whole->cells; c++) {
    bool is_sound = true;
    for (size_t k = 0; k < whole->corners; k++)
      is_sound = is_sound && !isnan(rest->noise[whole->connectivity[c * whole->corners + k]]);
    expected += is_sound;
  }
  for (size_t i = 0; i < rest->cells * rest->corners; i++) EXPECT(!isnan(rest->noise[rest->connectivity[i]]));
  EXPECT(expected == rest->cells && expected < whole->cells && expected > whole->cells / 4);
}

static void an_image_has_the_values_of_cells(const char *name, const gab_forest_options *domain)
{
  size_t count, i = 0;
  const hid_t file = open_step(name);
  double *values = read_all(file, "/VTKHDF/PointData/noise", H5T_NATIVE_DOUBLE, &count), at[3];
  int64_t n[3];
  for (int axis = 0; axis < 3; axis++) n[axis] = (int64_t)domain->grid.roots[axis] * domain->cells[axis];
  EXPECT(count == (size_t)(n[0] * n[1] * n[2]));
  for (int64_t z = 0; z < n[2]; z++)
    for (int64_t y = 0; y < n[1]; y++)
      for (int64_t x = 0; x < n[0]; x++) {
        const int64_t cell[3] = {x, y, z};
        for (int axis = 0; axis < 3; axis++)
          at[axis] = domain->origin[axis] + domain->dx * ((double)cell[axis] + 0.5);
        EXPECT(values[i++] == noise_at(at));
      }
  free(values);
  H5Fclose(file);
}

static void compare_files(const char *name, const char *other)
{
  char a[800], b[800];
  snprintf(a, sizeof a, "%s/fields/%s", folder, name);
  snprintf(b, sizeof b, "%s/%s", other, name);
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  EXPECT(x && y);
  int c, d;
  do {
    c = getc(x);
    d = getc(y);
    EXPECT(c == d);
  } while (c != EOF);
  EXPECT(ftell(x) > 100);
  fclose(x);
  fclose(y);
}

/* Each file in the other folder has one with the same bytes here. */
static void bytes_do_not_depend_on_owners(const char *other, size_t expected)
{
  DIR *entries = opendir(other);
  size_t count = 0;
  EXPECT(entries);
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    if (entry->d_name[0] == '.') continue;
    compare_files(entry->d_name, other);
    count++;
  }
  closedir(entries);
  EXPECT(count == expected);
}

static void check_files(int dimension, const gab_forest_options *domain, const char *name,
                        const char *with_holes)
{
  mesh whole = read_mesh(name, dimension, true), rest = read_mesh(with_holes, dimension, false);
  points_have_the_values_of_cells(&whole);
  faces_have_two_cells_except_at_sides(&whole, domain);
  cells_without_a_value_are_left_out(&whole, &rest);
  release_mesh(&whole);
  release_mesh(&rest);
}

static void run(const char *command) { EXPECT(system(command) == 0); }

static void check_all(gab_world *world)
{
  char command[1300], other[500];
  gab_forest *levels[2], *images[2];
  for (int k = 0; k < 2; k++) {
    levels[k] = make_forest(world, 2 + k, 2);
    images[k] = make_forest(world, 2 + k, 0);
  }
  snprintf(other, sizeof other, "%s/last", folder);
  for (int to_last = 1; to_last >= 0; to_last--) {
    EXPECT_OK(gab_output_folder_make(world, folder));
    for (int k = 0; k < 2; k++) {
      move_blocks(levels[k], to_last);
      move_blocks(images[k], to_last);
      write_step(levels[k], k == 1 ? "levels" : "flat", &noise);
      write_step(levels[k], k == 1 ? "holes" : "flat_holes", &holes);
      write_step(images[k], k == 1 ? "image" : "flat_image", &noise);
    }
    snprintf(command, sizeof command, "mv '%s/fields' '%s'", folder, other);
    if (to_last && gab_world_is_root(world)) run(command);
  }
  if (gab_world_is_root(world)) {
    bytes_do_not_depend_on_owners(other, 22); /* files of steps, series and meshes */
    check_files(2, gab_forest_get_options(levels[0]), "flat", "flat_holes");
    check_files(3, gab_forest_get_options(levels[1]), "levels", "holes");
    the_type_has_no_terminator("levels", "UnstructuredGrid");
    the_type_has_no_terminator("image", "ImageData");
    an_image_has_the_values_of_cells("flat_image", gab_forest_get_options(images[0]));
    an_image_has_the_values_of_cells("image", gab_forest_get_options(images[1]));
  }
  for (int k = 0; k < 2; k++) {
    gab_forest_destroy(&levels[k]);
    gab_forest_destroy(&images[k]);
  }
}

/* ---------------------------------------------------------------------------------------- times */

static double folder_bytes(void)
{
  char path[1000];
  struct stat info;
  double sum = 0;
  snprintf(path, sizeof path, "%s/fields", folder);
  DIR *entries = opendir(path);
  EXPECT(entries);
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    snprintf(path, sizeof path, "%s/fields/%.200s", folder, entry->d_name);
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) sum += (double)info.st_size;
  }
  closedir(entries);
  return sum;
}

/* Time of two steps: the second one finds its mesh. */
static void time_format(gab_forest *forest, unsigned formats, bool has_levels, const char *title)
{
  char command[600];
  gab_world *world = gab_forest_world(forest);
  const gab_quantity quantities[] = {noise, place};
  const gab_volume_options options = {.folder = folder,
                                      .quantities = quantities,
                                      .quantity_count = 2,
                                      .compression = 1,
                                      .formats = formats,
                                      .has_levels = has_levels};
  gab_volume *volume = NULL;
  snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
  if (gab_world_is_root(world)) run(command);
  EXPECT_OK(gab_output_folder_make(world, folder));
  EXPECT_OK(gab_volume_create(forest, &options, &volume));
  for (int step = 1; step <= 2; step++) {
    EXPECT_OK(gab_world_barrier(world));
    const double start = gab_seconds();
    EXPECT_OK(gab_volume_write(volume, step, step));
    const double seconds = gab_seconds() - start;
    if (gab_world_is_root(world))
      printf("%-24s step %d: %7.3f s, %8.3f MB in the folder\n", title, step, seconds, folder_bytes() / 1e6);
  }
  gab_volume_destroy(&volume);
}

static void time_all(gab_world *world, int32_t blocks)
{
  const gab_forest_options options = {
      .grid = {.dimension = 3, .roots = {blocks, blocks, blocks}}, .cells = {8, 8, 8}, .dx = 1};
  gab_forest *forest = case_forest(world, &options);
  time_format(forest, GAB_VOLUME_GABION, false, "gabion, XDMF");
  time_format(forest, GAB_VOLUME_VTKHDF, false, "VTKHDF, image");
  time_format(forest, GAB_VOLUME_VTKHDF, true, "VTKHDF, unstructured");
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world = NULL;
  EXPECT_OK(gab_world_create(&argc, &argv, &world));
  const bool is_timed = argc == 4 && strcmp(argv[1], "--time") == 0, stays = argc > 1;
  if (stays) snprintf(folder, sizeof folder, "%s", argv[argc - 1]);
  else snprintf(folder, sizeof folder, "vtk-test-np%d", (int)gab_members_count(gab_world_members(world)));
  if (is_timed) time_all(world, atoi(argv[2]));
  else check_all(world);
  char command[600];
  snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
  if (!stays && gab_world_is_root(world)) run(command);
  EXPECT_OK(gab_world_barrier(world));
  return test_end(&world);
}
