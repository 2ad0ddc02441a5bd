/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,4 long=1 timeout=120 */
/* Streaming in place gives the bits of the reference with two grids in every state: the checksum of the packed populations,
 * forces and integrals after even and odd numbers of steps, for all lattices, precisions, collisions, forcings and kinds of
 * boundaries; also with other blocks and threads, after migrating blocks and after restoring them at odd steps, so that
 * neighbours are in different states. */
#include "tests/lbm/step/streaming_common.h"

static size_t field_bytes(gab_world *world, const char *kernel)
{
  flow_case given = {.dimension = 3, .cells = {24, 24, 24}, .block = {12, 12, 24}};
  given.options.omega = 1;
  given.options.kernel = kernel;
  size_t before = gab_memory_now(GAB_MEMORY_FIELD);
  flow it = flow_open(world, &given);
  size_t bytes = gab_memory_now(GAB_MEMORY_FIELD) - before;
  flow_run(&it, 2);
  REQUIRE(gab_memory_now(GAB_MEMORY_FIELD) - before == bytes);
  flow_close(&it);
  return bytes;
}

/* Populations only: other data, such as flags, is less than 2 % of one grid. */
static void expect_half_of_the_memory(gab_world *world)
{
  size_t one = field_bytes(world, "in_place"), two = field_bytes(world, "vector");
  REQUIRE(one > 0 && two > 0);
  REQUIRE_NEAR((double)two / (double)one, 2, 0.04);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const families kinds = {.main = "in_place", .other = "vector"};
  const gab_collision *const on_full[] = {&gab_collision_smagorinsky, &gab_collision_trt, &gab_collision_rr,
                                          &gab_collision_srt};
  set_threads(1);
  for (int variant = 0; variant < 24; variant++)
    for (int sides = 0; sides < 4; sides++)
      if (sides == variant % 4 || sides == (variant / 4 + 1) % 4)
        check_flow(world, &kinds, gab_lattice_usual(2 + (variant & 1)), variant & 2 ? 1 : 0,
                   gab_collision_at(variant / 8), variant & 4, sides);
  check_flow(world, &kinds, &gab_lattice_d2q9, 2, &gab_collision_trt, true, 1);
  check_flow(world, &kinds, &gab_lattice_d3q19, 2, &gab_collision_mrt, false, 2);
  for (int sides = 0; sides < 4; sides++) {
    check_flow(world, &kinds, gab_lattice_usual(2 + sides % 2), sides % 3, &gab_collision_rr, sides / 2,
               sides);
    check_flow(world, &kinds, gab_lattice_usual(3 - sides % 2), sides % 3, &gab_collision_smagorinsky,
               sides / 2, sides);
    check_flow(world, &kinds, &gab_lattice_d3q27, sides % 3, on_full[sides], sides % 2, sides);
  }
  for (int sides = 0; sides < 4; sides++) check_slabs(world, "in_place", 2 + sides % 2, sides);
  check_slabs(world, "in_place", 3, 2);
  expect_half_of_the_memory(world);
  return test_end(&world);
}
