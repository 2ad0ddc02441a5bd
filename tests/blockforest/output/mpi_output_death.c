/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=3 timeout=60 needs=ulfm labels=quick */
/* The writing rank dies while files are written; the next rank continues, and series and fields are those of a run
 * without deaths. Images of blocks are stored in files here, since checkpoint copies are not under test. */
#include "tests/blockforest/output/output_common.h"

#include "core/messages/collective.h"

#include <hdf5.h>
#include <string.h>
#include <unistd.h>

#define BACK  13 /* the step of the checkpoint */
#define DEATH 24
#define LAST  30

static char folder[64] = "output-death-test";

static gab_status row(void *user, gab_step step, double time, double *values)
{
  (void)user;
  values[0] = (double)step + time;
  return GAB_OK;
}

static gab_output *make_output(gab_forest *forest, const char *path)
{
  static const char *const columns[] = {"value"};
  static const double points[1][3] = {{-0.95, 0.55, 2.01}};
  gab_output *output = NULL;
  gab_volume_options volume = {
      .quantities = case_quantities, .quantity_count = 2, .formats = GAB_VOLUME_GABION | GAB_VOLUME_VTKHDF};
  gab_probes_options probes = {
      .points = points, .point_count = 1, .quantities = case_quantities, .quantity_count = 2};
  gab_plane_options plane = {.name = "plane",
                             .axis = 0,
                             .position = 0.3,
                             .spacing = 0.1,
                             .quantities = case_quantities,
                             .quantity_count = 2,
                             .identity = "a case"};
  EXPECT_OK(gab_output_create(forest, path, &output));
  EXPECT_OK(gab_output_add_series(output, (gab_schedule){.every = 1}, "series", columns, 1, row, NULL, NULL));
  EXPECT_OK(gab_output_add_volume(output, (gab_schedule){.every = 4}, &volume));
  EXPECT_OK(gab_output_add_probes(output, (gab_schedule){.every = 2}, &probes));
  EXPECT_OK(gab_output_add_plane(output, (gab_schedule){.every = 3}, &plane));
  return output;
}

static gab_status run_steps(gab_output *output, gab_step from, gab_step to)
{
  for (gab_step step = from; step <= to; step++) GAB_TRY(gab_output_write(output, step, 0.5 * (double)step));
  return GAB_OK;
}

static void image_path(gab_rank rank, char path[128])
{
  snprintf(path, 128, "%s/image-%" GAB_PRI_RANK, folder, rank);
}

static void keep_image(const gab_forest *forest)
{
  char path[128];
  gab_buffer image = {0};
  image_path(gab_world_rank(gab_forest_world(forest)), path);
  EXPECT_OK(gab_forest_pack(forest, &image));
  FILE *file = fopen(path, "wb");
  EXPECT(file && fwrite(image.data, 1, image.size, file) == image.size && fclose(file) == 0);
  gab_buffer_release(&image);
}

static gab_rank heir(void *members, gab_rank owner)
{
  return gab_members_has(members, owner) ? owner : gab_members_rank(members, 0);
}

static void read_image(gab_rank rank, gab_buffer *image)
{
  char path[128], bytes[4096];
  image_path(rank, path);
  FILE *file = fopen(path, "rb");
  EXPECT(file);
  for (size_t count = fread(bytes, 1, sizeof bytes, file); count;
       count = fread(bytes, 1, sizeof bytes, file)) {
    EXPECT_OK(gab_put_bytes(image, bytes, count));
  }
  fclose(file);
}

/* Every rank restores its own image, the first living one also that of rank 0. */
static void restore_forest(gab_forest *forest)
{
  gab_world *world = gab_forest_world(forest);
  gab_buffer images[2] = {{0}, {0}};
  gab_reader readers[2];
  size_t count = gab_world_is_root(world) ? 2 : 1;
  read_image(gab_world_rank(world), &images[0]);
  if (count == 2) read_image(0, &images[1]);
  for (size_t i = 0; i < 2; i++) readers[i] = gab_reader_of_buffer(&images[i]);
  gab_members members;
  gab_members_init(&members, 0);
  EXPECT_OK(gab_members_copy(&members, gab_world_members(world)));
  EXPECT_OK(gab_forest_restore(forest, readers, count, heir, &members));
  gab_members_release(&members);
  for (size_t i = 0; i < 2; i++) gab_buffer_release(&images[i]);
}

static void compare_files(const char *name)
{
  char a[128], b[128];
  snprintf(a, sizeof a, "%s/%s", folder, name);
  snprintf(b, sizeof b, "%s/undisturbed/%s", folder, name);
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

static bool there_is(gab_step step, gab_rank rank)
{
  char path[128];
  snprintf(path, sizeof path, "%s/fields/fields_%010" GAB_PRI_STEP ".s%04" GAB_PRI_RANK ".h5", folder, step,
           rank);
  return access(path, F_OK) == 0;
}

static void the_files_are_those_of_the_survivors(void)
{
  compare_files("series.csv");
  compare_files("probes.csv");
  compare_files("plane.h5");
  compare_files("fields/fields.xdmf");
  compare_files("fields/fields.vtkhdf.series");
  for (gab_step step = 0; step <= 28; step += 4) { /* also those of three ranks and of two */
    char name[64];
    snprintf(name, sizeof name, "fields/fields_%010" GAB_PRI_STEP ".vtkhdf", step);
    compare_files(name);
  }
  EXPECT(there_is(12, 0)); /* written before the death */
  for (gab_step step = 16; step <= 28; step += 4) {
    EXPECT(!there_is(step, 0) && there_is(step, 1) && there_is(step, 2));
  }
}

static void remove_folder(void)
{
  char command[128];
  snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
  EXPECT(system(command) == 0);
}

/* Rank 0 dies at the begin of the output of that step. */
static void die_in_output(void *user, gab_world *world, gab_fault_point point)
{
  (void)user;
  if (point == GAB_FAULT_POINT_OUTPUT && gab_world_rank(world) == 0 && gab_world_step(world) == DEATH)
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
  gab_world *world = NULL;
  gab_buffer cursors = {0};
  char other[80];
  EXPECT_OK(gab_world_create(&argc, &argv, &world));
  snprintf(other, sizeof other, "%s/undisturbed", folder);
  if (gab_world_is_root(world)) {
    remove_folder();
    EXPECT_OK(gab_output_folder_prepare(other));
    EXPECT_OK(gab_output_folder_prepare(folder));
  }
  EXPECT_OK(gab_world_barrier(world));
  gab_forest *forest = case_forest(world, &case_options);
  gab_output *output = make_output(forest, other);
  EXPECT_OK(run_steps(output, 0, LAST));
  gab_output_destroy(&output);

  output = make_output(forest, folder);
  EXPECT_OK(run_steps(output, 0, BACK));
  EXPECT_OK(gab_output_pack(output, &cursors));
  keep_image(forest);
  EXPECT_OK(run_steps(output, BACK + 1, DEATH - 1));
  gab_world_set_fault_point_hook(world, die_in_output, NULL);
  test_doom(0);
  gab_world_set_step(world, DEATH);
  EXPECT(run_steps(output, DEATH, LAST) == GAB_ERR_FAULT);

  gab_status abort_request = GAB_OK;
  EXPECT_OK(gab_world_repair(world, &abort_request));
  EXPECT(abort_request == GAB_OK && gab_members_count(gab_world_members(world)) == 2);
  restore_forest(forest);
  gab_reader reader = gab_reader_of_buffer(&cursors);
  EXPECT_OK(gab_output_unpack(output, &reader));
  gab_world_set_step(world, BACK);
  EXPECT_OK(run_steps(output, BACK + 1, LAST));
  gab_output_destroy(&output);
  EXPECT_OK(gab_world_barrier(world));
  if (gab_world_is_root(world)) {
    the_files_are_those_of_the_survivors();
    remove_folder();
  }
  gab_buffer_release(&cursors);
  gab_forest_destroy(&forest);
  return test_end(&world);
}
