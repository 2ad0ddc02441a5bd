/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=3 timeout=60 */
/* Files of particles (blockforest/output/particle_output.h): id, position and columns of each, in the order of ids;
 * the same bytes for any owners of the blocks. A run with a rollback leaves the files of an undisturbed one. Columns
 * outside of the record are refused. With a folder as argument the files stay, for the script that reads them with
 * VTK. */
#include "blockforest/output/output.h"
#include "core/messages/collective.h"
#include "tests/blockforest/adapt/adapting.h"

#include <hdf5.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 150, CELLS = 8 };

typedef struct dot {
  gab_particle base;
  double velocity[3];
  int64_t born;
  uint64_t colour;
} dot;

static const gab_particle_column columns[] = {
    {"velocity", "m/s", offsetof(dot, velocity), 3, GAB_PARTICLE_F64},
    {"born", NULL, offsetof(dot, born), 1, GAB_PARTICLE_I64},
    {"colour", "", offsetof(dot, colour), 1, GAB_PARTICLE_U64}};

static char folder[512];

typedef struct box {
  gab_forest *forest;
  gab_particles *dots;
  gab_output *output;
} box;

static double draw(uint64_t what, uint64_t which) { return gab_hash_uniform(5, what, which); }

/* Ids and positions in different orders. */
static dot dot_of(uint64_t number)
{
  const uint64_t id = (number * 7) % COUNT;
  return (dot){.base = {.id = 1000 + id, .at = {draw(1, number), draw(2, number), 0.25}},
               .velocity = {draw(3, number), -(double)id, 0.5},
               .born = -(int64_t)number,
               .colour = UINT64_MAX - id};
}

static void make(gab_world *world, box *it, const char *to, uint64_t count)
{
  gab_rank ranks = gab_world_members(world)->ranks;
  const gab_forest_options options = {
      .grid = {2, {4, 4, 1}}, .cells = {CELLS, CELLS, 1}, .dx = 1. / (4 * CELLS)};
  const gab_particle_output_options what = {.name = "dots", .columns = columns, .column_count = 3};
  REQUIRE_OK(gab_output_folder_make(world, to));
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_particles_create(it->forest, &(gab_particle_kind){"dots", sizeof(dot)}, &it->dots));
  REQUIRE_OK(gab_forest_build(it->forest, NULL, NULL, 0, blocks_in_turn, &ranks, NULL));
  REQUIRE_OK(gab_output_create(it->forest, to, &it->output));
  REQUIRE_OK(gab_output_add_particles(it->output, (gab_schedule){.every = 10}, it->dots, &what));
  REQUIRE(gab_output_add_particles(it->output, (gab_schedule){.every = 20}, it->dots, &what) ==
          GAB_ERR_INPUT); /* the same files */
  for (uint64_t i = 0; i < count; i++) {
    const dot one = dot_of(i);
    REQUIRE_OK(gab_particles_add(it->dots, &one, NULL));
  }
}

static void destroy(box *it)
{
  gab_output_destroy(&it->output);
  gab_particles_destroy(&it->dots);
  gab_forest_destroy(&it->forest);
}

/* ---------------------------------------------------------------- reading back */

static void read_column(hid_t file, const char *name, hid_t type, hsize_t components, const char *unit,
                        void *values)
{
  char path[64], found[16] = "";
  hsize_t extent[2] = {0, 1};
  snprintf(path, sizeof path, "/particles/%s", name);
  hid_t table = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(table);
  REQUIRE(table >= 0 && H5Sget_simple_extent_dims(space, extent, NULL) == (components == 1 ? 1 : 2));
  REQUIRE(extent[0] == COUNT && extent[1] == components);
  REQUIRE(H5Dread(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  hid_t attribute = H5Aopen(table, "unit", H5P_DEFAULT), text = H5Aget_type(attribute);
  REQUIRE(H5Aread(attribute, text, found) >= 0 && strcmp(found, unit) == 0);
  H5Tclose(text);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Dclose(table);
}

static void check_file(const char *path, int64_t step)
{
  static uint64_t ids[COUNT], colours[COUNT];
  static int64_t born[COUNT];
  static double places[COUNT][3], velocities[COUNT][3];
  int64_t found;
  double time;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  REQUIRE(file >= 0);
  hid_t attribute = H5Aopen(file, "step", H5P_DEFAULT);
  REQUIRE(H5Aread(attribute, H5T_NATIVE_INT64, &found) >= 0 && found == step);
  H5Aclose(attribute);
  attribute = H5Aopen(file, "time", H5P_DEFAULT);
  REQUIRE(H5Aread(attribute, H5T_NATIVE_DOUBLE, &time) >= 0 && time == 0.5 * (double)step);
  H5Aclose(attribute);
  read_column(file, "id", H5T_NATIVE_UINT64, 1, "", ids);
  read_column(file, "position", H5T_NATIVE_DOUBLE, 3, "", places);
  read_column(file, "velocity", H5T_NATIVE_DOUBLE, 3, "m/s", velocities);
  read_column(file, "born", H5T_NATIVE_INT64, 1, "", born);
  read_column(file, "colour", H5T_NATIVE_UINT64, 1, "", colours);
  H5Fclose(file);
  for (uint64_t i = 0; i < COUNT; i++) {
    const dot one = dot_of(i);
    const uint64_t row = one.base.id - 1000;
    REQUIRE(ids[row] == one.base.id && born[row] == one.born && colours[row] == one.colour);
    REQUIRE(places[row][0] == one.base.at[0] && places[row][1] == one.base.at[1] && places[row][2] == 0);
    REQUIRE(memcmp(velocities[row], one.velocity, sizeof one.velocity) == 0);
  }
}

/* Hash of the content of a file; of an empty one if there is none. */
static uint64_t hash_of(const char *part, const char *name)
{
  static unsigned char bytes[1 << 20];
  char path[1024];
  snprintf(path, sizeof path, "%s/%s/fields/%s", folder, part, name);
  FILE *file = fopen(path, "rb");
  size_t size = 0;
  if (file) size = fread(bytes, 1, sizeof bytes, file);
  if (file) fclose(file);
  return size > 0 ? gab_hash64(bytes, size, 1) : 0;
}

static void write_steps(box *it, int first, int last)
{
  for (int step = first; step <= last; step += 10) REQUIRE_OK(gab_output_write(it->output, step, 0.5 * step));
}

static void go_back(box *it)
{
  gab_buffer cursors;
  gab_buffer_init(&cursors, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_output_pack(it->output, &cursors));
  gab_reader in = gab_reader_of_buffer(&cursors);
  REQUIRE_OK(gab_output_unpack(it->output, &in));
  gab_buffer_release(&cursors);
}

/* All blocks on one rank, directly to step 20; and in turn over the ranks, with a rollback from step 40. */
static void writes_the_same(gab_world *world)
{
  static const char *const names[] = {"dots.xdmf",           "dots_0000000000.h5",   "dots_0000000010.h5",
                                      "dots_0000000020.h5",  "dots_0000000000.xdmf", "dots_0000000010.xdmf",
                                      "dots_0000000020.xdmf"};
  char path[1024];
  box it = {0};
  gab_rank targets[16] = {0};
  snprintf(path, sizeof path, "%s/one", folder);
  make(world, &it, path, COUNT);
  REQUIRE_OK(gab_forest_migrate(it.forest, targets));
  write_steps(&it, 0, 20);
  destroy(&it);
  snprintf(path, sizeof path, "%s/all", folder);
  make(world, &it, path, COUNT);
  write_steps(&it, 0, 40);
  go_back(&it);
  write_steps(&it, 20, 20);
  REQUIRE_OK(gab_output_flush(it.output));
  destroy(&it);
  if (gab_world_is_root(world)) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
      REQUIRE(hash_of("one", names[i]) != 0 && hash_of("one", names[i]) == hash_of("all", names[i]));
    REQUIRE(hash_of("all", "dots_0000000030.h5") == 0 && hash_of("all", "dots_0000000040.xdmf") == 0);
    snprintf(path, sizeof path, "%s/all/fields/dots_0000000010.h5", folder);
    check_file(path, 10);
  }
  REQUIRE_OK(gab_world_barrier(world));
}

/* A file without particles exists, with its columns. */
static void writes_none(gab_world *world)
{
  char path[1024];
  box it = {0};
  snprintf(path, sizeof path, "%s/none", folder);
  make(world, &it, path, 0);
  write_steps(&it, 0, 0);
  if (gab_world_is_root(world)) {
    snprintf(path, sizeof path, "%s/none/fields/dots_0000000000.h5", folder);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t table = H5Dopen2(file, "/particles/velocity", H5P_DEFAULT), space = H5Dget_space(table);
    REQUIRE(table >= 0 && H5Sget_simple_extent_npoints(space) == 0);
    H5Sclose(space);
    H5Dclose(table);
    H5Fclose(file);
  }
  REQUIRE_OK(gab_world_barrier(world));
  destroy(&it);
}

static void refuses(gab_world *world)
{
  box it = {0};
  gab_particle_output *none;
  char path[1024];
  snprintf(path, sizeof path, "%s/refused", folder);
  make(world, &it, path, 1);
  const gab_particle_column beyond = {"colour", "", offsetof(dot, colour), 3, GAB_PARTICLE_U64};
  const gab_particle_column own = {"position", "", offsetof(dot, velocity), 3, GAB_PARTICLE_F64};
  const gab_particle_column slash = {"a/b", "", offsetof(dot, colour), 1, GAB_PARTICLE_U64};
  gab_particle_output_options options = {
      .folder = path, .name = "dots", .columns = &beyond, .column_count = 1};
  REQUIRE(gab_particle_output_create(it.dots, &options, &none) == GAB_ERR_ARGUMENT && !none);
  options.columns = &own;
  REQUIRE(gab_particle_output_create(it.dots, &options, &none) == GAB_ERR_ARGUMENT);
  options.columns = &slash;
  REQUIRE(gab_particle_output_create(it.dots, &options, &none) == GAB_ERR_INPUT);
  options.column_count = 0;
  options.compression = 10;
  REQUIRE(gab_particle_output_create(it.dots, &options, &none) == GAB_ERR_INPUT);
  options.compression = gab_volume_usual_compression();
  REQUIRE_OK(gab_particle_output_create(it.dots, &options, &none));
  REQUIRE(strcmp(gab_particle_output_name(none), "dots") == 0);
  gab_particle_output_rewind(none);
  REQUIRE_OK(gab_particle_output_write(none, 3, 0.25));
  if (gab_world_is_root(world)) REQUIRE(hash_of("refused", "dots_0000000003.h5") != 0);
  gab_particle_output_destroy(&none);
  destroy(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const char *top = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  uint64_t number = (uint64_t)getpid();
  if (argc > 1) {
    snprintf(folder, sizeof folder, "%s", argv[1]);
  } else {
    REQUIRE_OK(gab_world_max_u64(world, &number, 1));
    snprintf(folder, sizeof folder, "%s/gabion-particles-%" PRIu64, top, number);
  }
  writes_the_same(world);
  writes_none(world);
  refuses(world);
  if (argc == 1 && gab_world_is_root(world)) {
    char command[640];
    snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
    REQUIRE(system(command) == 0);
  }
  return test_end(&world);
}
