/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=60 */
/* The same flow in other blocks, on other owners, with other threads and kernels, packed and unpacked, moved during
 * the run: every cell and every sum equal to the last bit. */
#include "core/messages/collective.h"
#include "lbm_common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { STEPS = 40, MOST_BLOCKS = 128 };

typedef struct outcome {
  uint64_t hash;
  double force[2][3];
  gab_lbm_integrals sums;
} outcome;

static void set_threads(int count)
{
#ifdef _OPENMP
  omp_set_num_threads(count);
#else
  (void)count;
#endif
}

static void finish(gab_world *world, flow *it, outcome *out)
{
  gab_lbm_request_forces(it->lbm);
  flow_run(it, 1);
  REQUIRE_OK(gab_lbm_forces(it->lbm, out->force));
  REQUIRE_OK(gab_lbm_integrate(it->lbm, true, &out->sums));
  REQUIRE_OK(gab_lbm_check_finite(it->lbm, NULL));
  double last[3];
  REQUIRE_OK(gab_lbm_force(it->lbm, 1, last));
  REQUIRE(memcmp(last, out->force[1], sizeof last) == 0);
  out->hash = flow_hash(it);
  REQUIRE_OK(gab_world_sum_u64(world, &out->hash, 1));
}

static outcome run(gab_world *world, const flow_case *given)
{
  outcome out;
  memset(&out, 0, sizeof out);
  flow it = flow_open(world, given);
  flow_run(&it, STEPS);
  finish(world, &it, &out);
  flow_close(&it);
  return out;
}

/* All blocks move to the first rank half-way, then back. */
static outcome run_moving(gab_world *world, const flow_case *given)
{
  outcome out;
  memset(&out, 0, sizeof out);
  flow it = flow_open(world, given);
  flow_run(&it, STEPS / 4);
  gab_rank targets[MOST_BLOCKS];
  REQUIRE(gab_forest_block_count(it.forest) <= MOST_BLOCKS);
  for (int i = 0; i < MOST_BLOCKS; i++) targets[i] = gab_world_root(world);
  REQUIRE_OK(gab_forest_migrate(it.forest, targets));
  flow_run(&it, STEPS / 4);
  REQUIRE_OK(gab_balance_forest(it.forest, NULL, NULL));
  flow_run(&it, STEPS / 2);
  finish(world, &it, &out);
  flow_close(&it);
  return out;
}

/* Half of the steps, an image, a new flow from that image, the other half. */
static outcome run_restored(gab_world *world, const flow_case *given)
{
  outcome out;
  memset(&out, 0, sizeof out);
  flow first = flow_open(world, given);
  flow_run(&first, STEPS / 2);
  flow_image image;
  flow_pack(&first, &image);
  REQUIRE(gab_lbm_get_step(first.lbm) == STEPS / 2);
  flow_run(&first, 3); /* overwritten by the restore */
  flow_restore(&first, &image);
  flow_run(&first, STEPS / 2);
  finish(world, &first, &out);
  flow_image_release(&image);
  flow_close(&first);
  return out;
}

static void expect_same(const outcome *a, const outcome *b, const char *what)
{
  if (memcmp(a, b, sizeof *a) == 0) return;
  fprintf(stderr, "%s: hash %016" PRIx64 " and %016" PRIx64 ", mass %.17g and %.17g, force %.17g and %.17g\n",
          what, a->hash, b->hash, a->sums.mass, b->sums.mass, a->force[0][0], b->force[0][0]);
  _Exit(1);
}

/* Blocks in separate fields, and in fused fields for more and fewer blocks than are adjacent. */
static void fused_fields_do_not_matter(gab_world *world, const flow_case *given, const int32_t (*blocks)[3],
                                       int count, const outcome *wanted)
{
  static const int places[] = {1, 2, 3, 16};
  for (int i = 0; i < count; i++)
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
      flow_case other = *given;
      memcpy(other.block, blocks[i], sizeof other.block);
      other.options.fused_blocks = places[p];
      const outcome still = run(world, &other), moving = run_moving(world, &other);
      expect_same(wanted, &still, "fused fields");
      expect_same(wanted, &moving, "blocks moving between fused fields");
      if (places[p] != 3) continue;
      set_threads(3);
      const outcome threaded = run(world, &other), restored = run_restored(world, &other);
      set_threads(1);
      expect_same(wanted, &threaded, "fused fields and three threads");
      expect_same(wanted, &restored, "fused fields, restored");
    }
}

static void check_case(gab_world *world, flow_case given, const int32_t (*blocks)[3], int count)
{
  outcome first = run(world, &given);
  REQUIRE(first.hash != 0 && first.force[0][0] != 0 && first.sums.strain > 0);
  for (int i = 0; i < count; i++) {
    flow_case other = given;
    memcpy(other.block, blocks[i], sizeof other.block);
    outcome again = run(world, &other);
    expect_same(&first, &again, "other blocks");
  }
  set_threads(3);
  outcome threaded = run(world, &given);
  set_threads(1);
  expect_same(&first, &threaded, "three threads");
  outcome moving = run_moving(world, &given);
  expect_same(&first, &moving, "moving blocks");
  outcome restored = run_restored(world, &given);
  expect_same(&first, &restored, "restored");
  fused_fields_do_not_matter(world, &given, blocks, count, &first);
  given.options.kernel = "sparse";
  const outcome sparse = run(world, &given);
  expect_same(&first, &sparse, "sparse blocks");
  given.options.kernel = "reference";
  outcome reference = run(world, &given);
  expect_same(&first, &reference, "reference kernel");
}

/* A channel with a growing inlet, an outlet, a wall, free slip, an interpolated disc and a moving block. */
static void plane_flow(gab_world *world, gab_precision precision)
{
  const gab_body bodies[2] = {
      {.shape = GAB_SHAPE_CYLINDER,
       .axis = 2,
       .wall = GAB_WALL_INTERPOLATED,
       .centre = {9.3, 11.8, 0},
       .radius = 4.1},
      {.shape = GAB_SHAPE_BOX, .lo = {20, 6, 0}, .hi = {30, 14, 1}, .velocity = {0.01, 0.02, 0}}};
  flow_case given = {
      .dimension = 2, .cells = {48, 24, 1}, .block = {12, 6, 1}, .bodies = bodies, .body_count = 2};
  gab_side *sides = given.options.sides;
  sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY,
                                     .velocity = {0.05, 0, 0},
                                     .profile = GAB_PROFILE_PARABOLIC,
                                     .ramp_steps = 30};
  sides[GAB_SIDE_X_MAX].kind = GAB_SIDE_OUTFLOW;
  sides[GAB_SIDE_Y_MIN].kind = GAB_SIDE_WALL;
  sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_FREE_SLIP;
  given.options.omega = 1.7;
  given.options.precision = precision;
  given.options.initial = noisy_plane;
  const int32_t blocks[][3] = {{6, 12, 1}, {24, 4, 1}, {12, 24, 1}, {3, 3, 1}};
  check_case(world, given, blocks, 4);
}

/* A periodic box with a force, a ball across its sides, and a pressure difference. */
static void deep_flow(gab_world *world, const gab_lattice *lattice)
{
  const gab_body bodies[2] = {
      {.shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {0.4, 5.7, 6.1}, .radius = 3.3},
      {.shape = GAB_SHAPE_BOX, .lo = {6, 0, 0}, .hi = {9, 6, 12}}};
  flow_case given = {
      .dimension = 3, .cells = {12, 12, 12}, .block = {6, 6, 6}, .bodies = bodies, .body_count = 2};
  given.options.sides[GAB_SIDE_Z_MIN] = (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1.01};
  given.options.sides[GAB_SIDE_Z_MAX].kind = GAB_SIDE_PRESSURE;
  given.options.force[0] = 1e-4;
  given.options.force[2] = -3e-5;
  given.options.omega = 1.4;
  given.options.lattice = lattice;
  given.options.initial = noisy_state;
  const int32_t blocks[][3] = {{12, 6, 4}, {3, 12, 12}, {4, 4, 4}};
  check_case(world, given, blocks, 3);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  set_threads(1);
  plane_flow(world, GAB_PRECISION_DOUBLE);
  plane_flow(world, GAB_PRECISION_FLOAT);
  deep_flow(world, &gab_lattice_d3q19);
  deep_flow(world, &gab_lattice_d3q27);
  return test_end(&world);
}
