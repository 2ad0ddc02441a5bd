/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=120 threads=2 */
/* Sweeping while messages are in transit changes no bit: blocks of many slabs, divided across and along the slabs, with
 * interpolated walls across the borders, an inlet and an outlet, one grid and two, one thread and two; after even and odd
 * numbers of steps, and with forces requested in between. A step begun that way must be finished before another exchange,
 * and on the same forest. Only the first step allocates. */
#include "tests/lbm/lbm_common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { STEPS = 3, FORCE_STEP = 1 };

static void set_threads(int count)
{
#ifdef _OPENMP
  omp_set_num_threads(count);
#else
  (void)count;
#endif
}

/* Two thirds of the length: the borders between processes cross the ball. */
static flow_case case_of(const char *kernel, const int32_t block[3])
{
  static const gab_body ball = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {20.3, 19.6, 31.4}, .radius = 14.2};
  flow_case made = {.dimension = 3, .cells = {48, 48, 72}, .bodies = &ball, .body_count = 1};
  memcpy(made.block, block, sizeof made.block);
  made.options = (gab_lbm_options){.omega = 1.3, .kernel = kernel, .velocity = {0, 0, 0.04}};
  made.options.sides[GAB_SIDE_X_MIN].kind = made.options.sides[GAB_SIDE_X_MAX].kind = GAB_SIDE_WALL;
  made.options.sides[GAB_SIDE_Y_MIN].kind = made.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_FREE_SLIP;
  made.options.sides[GAB_SIDE_Z_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0, 0, 0.05}};
  made.options.sides[GAB_SIDE_Z_MAX].kind = GAB_SIDE_OUTFLOW;
  return made;
}

typedef struct outcome {
  uint64_t odd, even;
  double force[3];
} outcome;

static void step(flow *it, bool ahead)
{
  REQUIRE_OK(gab_lbm_exchange_start(it->lbm));
  if (ahead) REQUIRE_OK(gab_lbm_collide_inner(it->lbm));
  REQUIRE_OK(gab_lbm_exchange_finish(it->lbm));
  REQUIRE_OK(gab_lbm_collide(it->lbm));
}

static outcome run(gab_world *world, const flow_case *given, bool ahead, int threads)
{
  outcome made = {0};
  set_threads(threads);
  flow it = flow_open(world, given);
  for (int i = 0; i < STEPS; i++) {
    if (i == FORCE_STEP) gab_lbm_request_forces(it.lbm);
    step(&it, ahead);
  }
  REQUIRE_OK(gab_forest_checksum(it.forest, &made.odd));
  step(&it, ahead);
  REQUIRE_OK(gab_forest_checksum(it.forest, &made.even));
  REQUIRE_OK(gab_lbm_force(it.lbm, 0, made.force));
  flow_close(&it);
  return made;
}

static void expect_equal(const outcome *a, const outcome *b)
{
  REQUIRE(a->odd == b->odd);
  REQUIRE(a->even == b->even);
  REQUIRE(memcmp(a->force, b->force, sizeof a->force) == 0);
}

static void check(gab_world *world, const char *kernel, const int32_t block[3])
{
  const flow_case given = case_of(kernel, block);
  const outcome plain = run(world, &given, false, 1);
  REQUIRE(plain.force[2] != 0);
  for (int threads = 1; threads <= 2; threads++) {
    const outcome ahead = run(world, &given, true, threads);
    expect_equal(&plain, &ahead);
  }
}

/* Some slabs are swept early, but not all if messages are awaited. */
static void expect_work_ahead(gab_world *world, const int32_t block[3])
{
  set_threads(1);
  const flow_case given = case_of("in_place", block);
  flow it = flow_open(world, &given);
  REQUIRE_OK(gab_lbm_exchange_start(it.lbm));
  REQUIRE_OK(gab_lbm_time_parts(it.lbm, true));
  REQUIRE_OK(gab_lbm_collide_inner(it.lbm));
  const bool alone = gab_members_count(gab_world_members(world)) == 1;
  const bool some = gab_lbm_get_times(it.lbm).sweep > 0;
  REQUIRE_OK(gab_lbm_time_parts(it.lbm, true));
  REQUIRE_OK(gab_lbm_exchange_finish(it.lbm));
  if (!alone) REQUIRE(gab_lbm_exchange_start(it.lbm) == GAB_ERR_STATE);
  REQUIRE_OK(gab_lbm_collide(it.lbm));
  const bool rest = gab_lbm_get_times(it.lbm).sweep > 0;
  REQUIRE(some == !alone);
  REQUIRE(rest);
  step(&it, false);
  flow_close(&it);
}

/* The same blocks, restored from their image: counts as another forest. */
static void restore_as_it_was(gab_forest *forest)
{
  gab_buffer image = {0};
  REQUIRE_OK(gab_forest_pack(forest, &image));
  gab_reader in = gab_reader_of_buffer(&image);
  REQUIRE_OK(gab_forest_restore(forest, &in, 1, NULL, NULL));
  gab_buffer_release(&image);
}

/* Ghosts of a changed forest are not swept, whether boundaries have been written already (a step with forces) or not. */
static void expect_refusal(gab_world *world, const int32_t block[3])
{
  const flow_case given = case_of("in_place", block);
  flow it = flow_open(world, &given);
  for (int with_forces = 0; with_forces < 2; with_forces++) {
    if (with_forces) gab_lbm_request_forces(it.lbm);
    REQUIRE_OK(gab_lbm_exchange_start(it.lbm));
    REQUIRE_OK(gab_lbm_exchange_finish(it.lbm));
    restore_as_it_was(it.forest);
    REQUIRE(gab_lbm_collide(it.lbm) == GAB_ERR_STATE);
    step(&it, true);
  }
  flow_close(&it);
}

/* After planning, a step allocates no memory, not even temporarily. */
static void expect_no_allocation(gab_world *world, const int32_t block[3])
{
  const flow_case given = case_of("in_place", block);
  flow it = flow_open(world, &given);
  flow_run(&it, 2);
  gab_memory_reset_peak();
  const size_t before = gab_memory_now(GAB_MEMORY_USE_COUNT);
  flow_run(&it, 2);
  REQUIRE(gab_memory_peak(GAB_MEMORY_USE_COUNT) == before);
  flow_close(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const int32_t thick[3] = {48, 48, 24}, columns[3] = {24, 24, 72};
  check(world, "in_place", thick);
  check(world, "vector", thick);
  check(world, "in_place", columns);
  expect_work_ahead(world, thick);
  expect_refusal(world, thick);
  expect_no_allocation(world, thick);
  expect_no_allocation(world, columns);
  return test_end(&world);
}
