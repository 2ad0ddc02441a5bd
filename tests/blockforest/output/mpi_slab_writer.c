/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* Slabs that left a moving window and the final window are assembled into one field: each cell has its position and
 * value, also after removal and rewriting. Incomplete or inconsistent parts are refused. */
#include "tests/blockforest/output/output_common.h"

#include "blockforest/output/fields/slab_writer.h"
#include "core/messages/collective.h"

#include <hdf5.h>
#include <string.h>
#include <unistd.h>

enum { NX = 24, NY = 10, NZ = 8, LEFT = 5 }; /* the window finally has moved by LEFT rows */

static const char folder[] = "."; /* the folder of this run */
static int64_t shift;             /* present position of the window */

/* A window over an endless pattern. */
static double pattern(int64_t x, int64_t y, int64_t row, int component)
{
  return (double)((row * NY + y) * NX + x) + 0.25 * component;
}

static gab_status look(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const gab_quantity *quantity = user;
  const gab_box box = gab_block_cells(forest, block);
  for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
    for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
      for (int64_t x = box.lo[0]; x < box.hi[0]; x++)
        for (int c = 0; c < quantity->components; c++) *values++ = pattern(x, y, z + shift, c);
  return GAB_OK;
}

static gab_quantity shown[2] = {{.name = "one", .components = 1, .evaluate = look, .user = &shown[0]},
                                {.name = "three", .components = 3, .evaluate = look, .user = &shown[1]}};

static void read_whole(hid_t file, const char *name, void *values)
{
  hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  EXPECT(data >= 0 && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(data);
}

static void check_whole(const char *path)
{
  static double one[(NZ + LEFT) * NY * NX], three[(NZ + LEFT) * NY * NX][3];
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT(file >= 0);
  read_whole(file, "/fields/one/whole", one);
  read_whole(file, "/fields/three/whole", three);
  H5Fclose(file);
  for (int64_t row = 0, i = 0; row < NZ + LEFT; row++)
    for (int64_t y = 0; y < NY; y++)
      for (int64_t x = 0; x < NX; x++, i++) {
        EXPECT(one[i] == pattern(x, y, row, 0));
        for (int c = 0; c < 3; c++) EXPECT(three[i][c] == pattern(x, y, row, c));
      }
}

static void refused(const char *parts, const char *whole, const char *says)
{
  gab_slabs_assembled found;
  EXPECT(gab_slabs_assemble(parts, whole, false, &found) == GAB_ERR_INPUT);
  EXPECT(strstr(gab_error_message(), says));
}

/* On the root, after all writes. */
static void assemble(const char *parts)
{
  char whole[300], path[512];
  gab_slabs_assembled found;
  snprintf(whole, sizeof whole, "%s/solid", folder);
  EXPECT_OK(gab_slabs_assemble(parts, whole, true, &found));
  EXPECT(found.parts == 8 * (3 + 2) && found.cells[2] == NZ + LEFT && found.first[2] == 0);
  snprintf(path, sizeof path, "%s.xdmf", whole);
  EXPECT(access(path, R_OK) == 0);
  snprintf(path, sizeof path, "%s.h5", whole);
  EXPECT(access(path, F_OK) != 0);
  EXPECT_OK(gab_slabs_assemble(parts, whole, false, &found));
  check_whole(path);

  char copy[800];
  snprintf(copy, sizeof copy, "cp %s/slab_0000000001-00000-00006.h5 %s/twin.h5", parts, parts);
  EXPECT(system(copy) == 0);
  refused(parts, whole, "have cells in common");
  snprintf(copy, sizeof copy, "rm %s/twin.h5 %s/slab_0000000001-00000-00006.h5", parts, parts);
  EXPECT(system(copy) == 0);
  refused(parts, whole, "are missing");
  snprintf(copy, sizeof copy, "rm %s/slab_0000000001-*", parts);
  EXPECT(system(copy) == 0);
  refused(parts, whole, "the rows from 1 to 2 are missing");
  refused(folder, whole, "has no fields that can be read"); /* solid.h5 is not a part */
}

int main(void)
{
  gab_world *world = NULL;
  EXPECT_OK(gab_world_create(NULL, NULL, &world));
  gab_forest_options options = case_options;
  options.exists = NULL;
  const char *place = "parts";
  gab_forest *forest = case_forest(world, &options);
  gab_slab_writer *parts = NULL;
  const gab_slab_writer_options what = {
      .folder = place, .quantities = shown, .quantity_count = 2, .precision = GAB_OUTPUT_DOUBLE};
  EXPECT_OK(gab_slab_writer_create(forest, &what, &parts));
  /* Slabs of 1, 2 and 2 rows; then a rollback, and the last slab is written again. */
  for (int again = 0; again < 2; again++) {
    const int64_t height[3] = {1, 2, 2};
    shift = again ? 3 : 0;
    EXPECT_OK(gab_slab_writer_remove(parts, "slab", shift));
    for (int k = again ? 2 : 0; k < 3; shift += height[k++])
      EXPECT_OK(gab_slab_writer_write(parts, "slab", 0, height[k], shift, 10 * k, k));
    EXPECT_OK(gab_slab_writer_write(parts, "last", 0, NZ, shift, 40, 4.0));
  }
  EXPECT(shift == LEFT);
  if (gab_world_is_root(world)) assemble(place);
  EXPECT_OK(gab_world_barrier(world));
  /* Removes row 3 and above: the first slab is left. */
  EXPECT_OK(gab_slab_writer_remove(parts, "slab", 3));
  EXPECT_OK(gab_slab_writer_remove(parts, "last", 0));
  if (gab_world_is_root(world)) {
    gab_slabs_assembled found;
    char whole[300];
    snprintf(whole, sizeof whole, "%s/solid", folder);
    EXPECT_OK(gab_slabs_assemble(place, whole, false, &found));
    EXPECT(found.parts == 8 && found.cells[2] == 1 && found.cells[0] == NX);
  }
  gab_slab_writer_destroy(&parts);
  gab_forest_destroy(&forest);
  EXPECT_OK(gab_world_barrier(world));
  return test_end(&world);
}
