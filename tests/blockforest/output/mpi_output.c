/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=90 */
/* Output does not depend on owners, and a run with a rollback leaves the files of an undisturbed one. With a folder
 * as argument the files stay, for the scripts that check them. */
#include "tests/blockforest/output/output_common.h"

#include "blockforest/output/output_retry.h"
#include "core/messages/collective.h"

#include <dirent.h>
#include <hdf5.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[512];

static long count_files(const char *subfolder, const char *part)
{
  char path[1024];
  snprintf(path, sizeof path, "%s%s", folder, subfolder);
  DIR *entries = opendir(path);
  EXPECT(entries);
  long count = 0;
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    count += strstr(entry->d_name, part) != NULL;
  }
  closedir(entries);
  return count;
}

/* ------------------------------------------------------------------------------------ reading back */

static void read_table(hid_t file, const char *name, hid_t type, void *values)
{
  hid_t table = H5Dopen2(file, name, H5P_DEFAULT);
  EXPECT(table >= 0);
  EXPECT(H5Dread(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(table);
}

/* One block of /fields/QUANTITY/level-0, [block][z][y][x] or [block][z][y][x][component]. */
static void read_block(hid_t file, const char *quantity, size_t blocks, int32_t row, int components,
                       double *values)
{
  const int32_t *cells = case_options.cells;
  const int rank = components == 3 ? 5 : 4;
  const hsize_t expected[5] = {blocks, (hsize_t)cells[2], (hsize_t)cells[1], (hsize_t)cells[0], 3};
  const hsize_t start[5] = {(hsize_t)row, 0, 0, 0, 0};
  hsize_t extent[5];
  char name[128];
  snprintf(name, sizeof name, "/fields/%s/level-0", quantity);
  hid_t field = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(field);
  EXPECT(field >= 0 && H5Sget_simple_extent_dims(space, extent, NULL) == rank);
  EXPECT(memcmp(extent, expected, (size_t)rank * sizeof *extent) == 0);
  extent[0] = 1;
  hid_t memory = H5Screate_simple(rank, extent, NULL);
  EXPECT(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0);
  EXPECT(H5Dread(field, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(field);
}

static void check_field(hid_t file, const char *quantity, size_t blocks, int32_t row, const double origin[3],
                        int components)
{
  const int32_t *cells = case_options.cells;
  double values[6 * 5 * 4 * 3], *next = values;
  read_block(file, quantity, blocks, row, components, values);
  int64_t lo[3], at[3];
  for (int d = 0; d < 3; d++) lo[d] = lround((origin[d] - case_options.origin[d]) / case_options.dx);
  for (at[2] = lo[2]; at[2] < lo[2] + cells[2]; at[2]++) {
    for (at[1] = lo[1]; at[1] < lo[1] + cells[1]; at[1]++) {
      for (at[0] = lo[0]; at[0] < lo[0] + cells[0]; at[0]++) {
        for (int c = 0; c < components; c++, next++) {
          double expected = components == 1 ? case_density(at) : case_velocity(at, c);
          EXPECT(isnan(expected) ? isnan(*next) : *next == expected);
        }
      }
    }
  }
}

/* @return number of blocks in the file of one rank, after a check of all their cells; 0 if there is no file */
static size_t check_file(gab_rank rank, gab_step step, uint64_t *id_sum)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/fields/fields_%010" GAB_PRI_STEP ".s%04" GAB_PRI_RANK ".h5", folder, step,
           rank);
  if (access(path, F_OK) != 0) return 0;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT(file >= 0);
  hid_t table = H5Dopen2(file, "/blocks/id", H5P_DEFAULT), space = H5Dget_space(table);
  size_t blocks = (size_t)H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  H5Dclose(table);
  uint64_t *ids = malloc(blocks * sizeof *ids);
  int32_t *owners = malloc(blocks * sizeof *owners), *rows = malloc(blocks * sizeof *rows);
  double *origins = malloc(3 * blocks * sizeof *origins);
  EXPECT(ids && owners && rows && origins);
  read_table(file, "/blocks/id", H5T_NATIVE_UINT64, ids);
  read_table(file, "/blocks/owner", H5T_NATIVE_INT32, owners);
  read_table(file, "/blocks/row", H5T_NATIVE_INT32, rows);
  read_table(file, "/blocks/origin", H5T_NATIVE_DOUBLE, origins);
  for (size_t i = 0; i < blocks; i++) {
    EXPECT(owners[i] == rank);
    *id_sum += ids[i];
    check_field(file, "density", blocks, rows[i], &origins[3 * i], 1);
    check_field(file, "velocity", blocks, rows[i], &origins[3 * i], 3);
  }
  free(ids);
  free(owners);
  free(rows);
  free(origins);
  H5Fclose(file);
  return blocks;
}

/* The files of all ranks together contain every block of the forest once, with the correct values. */
static void all_cells_of_a_step_are_in_the_files(gab_forest *forest, gab_step step)
{
  gab_world *world = gab_forest_world(forest);
  uint64_t count = gab_forest_block_count(forest), ids = 0, found_ids = 0, found = 0;
  for (size_t i = 0; i < count; i++) ids += gab_block_get_id(gab_forest_block(forest, i));
  EXPECT_OK(gab_world_sum_u64(world, &count, 1));
  EXPECT_OK(gab_world_sum_u64(world, &ids, 1));
  if (gab_world_is_root(world)) {
    for (gab_rank rank = 0; rank < 8; rank++) found += check_file(rank, step, &found_ids);
    EXPECT(found == count && found_ids == ids);
    EXPECT(count == 15);
    EXPECT(count_files("/fields", ".tmp") == 0);
  }
  EXPECT_OK(gab_world_barrier(world));
}

/* ------------------------------------------------------------------------------------ a rollback */

static gab_status row(void *user, gab_step step, double time, double *values)
{
  (void)user;
  values[0] = (double)step / 3.0;
  values[1] = time > 1.5 ? NAN : -time;
  return GAB_OK;
}

static gab_output *make_output(gab_forest *forest, const char *path)
{
  static const char *const columns[] = {"third", "negative"};
  static const double points[3][3] = {{-0.95, 0.55, 2.01}, {1.99, 0.6, 2.9}, {-0.125, 1.2, 2.05}};
  gab_output *output = NULL;
  gab_quantity quantities[] = {case_quantities[0], case_quantities[1], *gab_quantity_owner()};
  gab_volume_options volume = {.quantities = quantities, .quantity_count = 3, .precision = GAB_OUTPUT_FLOAT};
  gab_slice_options slice = {.quantity = &case_quantities[0], .axis = 2, .position = 2.1};
  gab_probes_options probes = {
      .points = points, .point_count = 3, .quantities = case_quantities, .quantity_count = 2};
  volume.compression = 4;
  EXPECT_OK(gab_output_create(forest, path, &output));
  EXPECT_OK(gab_output_add_volume(output, (gab_schedule){.every = 10}, &volume));
  if (gab_slice_is_built()) {
    EXPECT_OK(gab_output_add_slice(output, (gab_schedule){.every = 20}, &slice));
    slice = (gab_slice_options){
        .quantity = &case_quantities[1], .component = GAB_COMPONENT_Y, .axis = 0, .position = -1.0};
    EXPECT_OK(gab_output_add_slice(output, (gab_schedule){.every = 20}, &slice));
  }
  EXPECT_OK(gab_output_add_probes(output, (gab_schedule){.every = 1, .start = 1}, &probes));
  EXPECT_OK(gab_output_add_series(output, (gab_schedule){.every = 2}, "series", columns, 2, row, NULL, NULL));
  return output;
}

static void run_steps(gab_output *output, gab_step from, gab_step to)
{
  for (gab_step step = from; step <= to; step++) {
    EXPECT(gab_output_due(output, step));
    EXPECT_OK(gab_output_write(output, step, 0.125 * (double)step));
  }
}

/* All blocks to the lowest rank, or back to equal parts. */
static void move_blocks(gab_forest *forest, bool together)
{
  size_t count = gab_forest_block_count(forest);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  EXPECT(targets);
  for (size_t i = 0; i < count; i++) {
    gab_block_id id = gab_block_get_id(gab_forest_block(forest, i));
    targets[i] = together ? gab_world_root(gab_forest_world(forest)) : case_owner(forest, id);
  }
  EXPECT_OK(gab_forest_migrate(forest, targets));
  free(targets);
}

static void leave_stale_file(const char *name)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/fields/%s", folder, name);
  FILE *file = fopen(path, "w");
  EXPECT(file && fputs("stale", file) >= 0);
  fclose(file);
}

static void compare_files(const char *name)
{
  char a[1024], b[1024];
  snprintf(a, sizeof a, "%s/%s", folder, name);
  snprintf(b, sizeof b, "%s/undisturbed/%s", folder, name);
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  EXPECT(x && y);
  int c, d;
  long length = 0;
  do {
    c = getc(x);
    d = getc(y);
    EXPECT(c == d);
    length++;
  } while (c != EOF);
  EXPECT(length > 10);
  fclose(x);
  fclose(y);
}

/* The folder of the root is below a file: no rank continues as if it existed. */
static void a_folder_that_cannot_be_made_is_an_error_on_all(gab_world *world)
{
  char below[600];
  EXPECT_OK(gab_output_folder_make(world, folder));
  if (gab_world_is_root(world)) {
    snprintf(below, sizeof below, "%s/a_file", folder);
    FILE *file = fopen(below, "w");
    EXPECT(file && fclose(file) == 0);
  }
  snprintf(below, sizeof below, "%s/a_file/out", folder);
  EXPECT(gab_output_folder_make(world, below) == GAB_ERR_INPUT);
  EXPECT(strstr(gab_error_message(), "a_file") != NULL);
  EXPECT_OK(gab_world_barrier(world));
  snprintf(below, sizeof below, "%s/a_file", folder);
  if (gab_world_is_root(world)) EXPECT(unlink(below) == 0);
}

static void a_run_that_went_back_leaves_the_same_files(gab_forest *forest)
{
  gab_world *world = gab_forest_world(forest);
  gab_buffer cursors = {0};
  char other[600];
  snprintf(other, sizeof other, "%s/undisturbed", folder);
  EXPECT_OK(gab_output_folder_make(world, folder));
  EXPECT_OK(gab_output_folder_make(world, other));

  gab_output *undisturbed = make_output(forest, other);
  run_steps(undisturbed, 0, 24);
  gab_output_destroy(&undisturbed);

  gab_output *output = make_output(forest, folder);
  run_steps(output, 0, 13);
  const gab_entity entity = gab_output_entity(output);
  EXPECT(strcmp(entity.name, "output") == 0 && entity.kind == GAB_ENTITY_REPLICATED);
  EXPECT_OK(entity.pack(entity.user, &cursors));
  run_steps(output, 14, 23);
  all_cells_of_a_step_are_in_the_files(forest, 20);
  if (gab_world_is_root(world)) {
    leave_stale_file("fields_0000000020.s0099.h5");
    leave_stale_file("fields_0000000030.xdmf");
    leave_stale_file("fields_0000000030.s0001.h5");
    leave_stale_file("fields_0000000020.s0001.h5.tmp");
  }
  gab_reader reader = gab_reader_of_buffer(&cursors);
  EXPECT_OK(entity.unpack(entity.user, &reader));
  EXPECT_OK(gab_reader_expect_end(&reader));
  move_blocks(forest, true);
  run_steps(output, 14, 24);
  all_cells_of_a_step_are_in_the_files(forest, 20);
  if (gab_world_is_root(world)) {
    EXPECT(count_files("/fields", "0000000020.s") == 1);
    EXPECT(count_files("/fields", "0000000030") == 0);
    EXPECT(count_files("/fields", ".xdmf") == 4);
    EXPECT(count_files("", ".png") == (gab_slice_is_built() ? 4 : 0));
  }
  move_blocks(forest, false);
  gab_output_destroy(&output);
  EXPECT_OK(gab_world_barrier(world));
  if (gab_world_is_root(world)) {
    compare_files("series.csv");
    compare_files("probes.csv");
    compare_files("fields/fields.xdmf");
    if (gab_slice_is_built()) compare_files("density-z2.1_0000000020.png");
    if (gab_slice_is_built()) compare_files("velocity.y-x-1_0000000020.png");
  }
  gab_buffer_release(&cursors);
}

/* ------------------------------------------------------------------------------------ failures */

static void a_missing_folder_is_reported_on_all_ranks(gab_forest *forest)
{
  gab_volume *volume = NULL;
  gab_volume_options options = {
      .folder = "/nowhere/at/all", .quantities = case_quantities, .quantity_count = 2};
  EXPECT_OK(gab_volume_create(forest, &options, &volume));
  EXPECT(gab_volume_write(volume, 1, 0.0) == GAB_ERR_IO);
  EXPECT(strstr(gab_error_message(), "/nowhere/at/all") && strstr(gab_error_message(), "No such file"));
  gab_volume_destroy(&volume);
}

/* For scripts: lines "file:/dataset bytes extent..." on the standard input; all must exist as described. */
static int datasets_are_as_described(void)
{
  char line[1024], name[1024];
  int lines = 0;
  for (; fgets(line, sizeof line, stdin); lines++) {
    int precision = 0, used = 0;
    EXPECT(sscanf(line, "%1023s %d%n", name, &precision, &used) == 2);
    char *colon = strrchr(name, ':');
    EXPECT(colon);
    *colon = '\0';
    hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT(file >= 0);
    hid_t table = H5Dopen2(file, colon + 1, H5P_DEFAULT), space = H5Dget_space(table),
          type = H5Dget_type(table);
    hsize_t extent[8];
    int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    EXPECT(rank >= 3 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == (size_t)precision);
    char *next = line + used;
    for (int d = 0; d < rank; d++) EXPECT(strtoull(next, &next, 10) == extent[d]);
    EXPECT(*next == '\n');
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(table);
    H5Fclose(file);
  }
  return lines > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "--described") == 0) return datasets_are_as_described();
  gab_world *world = NULL;
  EXPECT_OK(gab_world_create(&argc, &argv, &world));
  /* a full disk stays full: no process may wait, since a failed process ends the waiting ones */
  gab_output_set_retry(0);
  bool stays = argc > 1;
  const gab_members *members = gab_world_members(world);
  if (stays) snprintf(folder, sizeof folder, "%s", argv[1]);
  else snprintf(folder, sizeof folder, "output-test-np%d", (int)gab_members_count(members));
  gab_forest *forest = case_forest(world, &case_options);
  a_folder_that_cannot_be_made_is_an_error_on_all(gab_forest_world(forest));
  a_run_that_went_back_leaves_the_same_files(forest);
  a_missing_folder_is_reported_on_all_ranks(forest);
  gab_forest_destroy(&forest);
  if (!stays && gab_world_is_root(world)) {
    char command[600];
    snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
    EXPECT(system(command) == 0);
  }
  EXPECT_OK(gab_world_barrier(world));
  return test_end(&world);
}
