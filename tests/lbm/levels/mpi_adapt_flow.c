/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,4 quick=1 timeout=120 */
/* A flow with random refinement and coarsening of blocks every few steps conserves mass and momentum to rounding, and
 * a uniform flow stays uniform. The result does not depend on the owners of blocks, on the storage of their cells, or
 * on shared lists. Blocks take the state of a convective side along: children copy it, their parent gets the mean. */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "lbm/lbm_impl.h"
#include "tests/lbm/lbm_common.h"

enum { ROUNDS = 4, STEPS = 3, MAX_LEVEL = 2 };

typedef struct random_marks {
  uint64_t round;
} random_marks;

static gab_status mark_block(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const random_marks *marks = user;
  (void)forest;
  uint64_t dice = gab_hash_counter(marks->round, 3, gab_block_get_id(block)) % 10;
  /* siblings must agree on coarsening, so most of them mark it */
  *mark = marks->round % 2 ? (dice < 9 ? GAB_MARK_COARSEN : GAB_MARK_KEEP)
                           : (dice < 3 ? GAB_MARK_REFINE : GAB_MARK_KEEP);
  return GAB_OK;
}

static gab_status scatter(void *context, gab_proxies *proxies)
{
  const random_marks *marks = context;
  const gab_members *members = gab_world_members(gab_proxies_world(proxies));
  uint64_t count = (uint64_t)gab_members_count(members);
  size_t local = gab_proxies_count(proxies);
  gab_rank *targets = malloc((local + 1) * sizeof *targets);
  REQUIRE(targets);
  for (size_t i = 0; i < local; i++) {
    uint64_t dice = gab_hash_counter(marks->round, 4, gab_proxies_get(proxies, i)->id);
    targets[i] = gab_members_rank(members, (int32_t)(dice % count));
  }
  gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status;
}

typedef struct outcome {
  uint64_t checksum, split, merged;
  gab_lbm_integrals before, after;
  double worst; /* distance from the uniform flow */
} outcome;

static void compare_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  outcome *seen = user;
  const double wanted[3] = {0.04, -0.03, 0};
  (void)cell;
  if (!fluid) return;
  seen->worst = fmax(seen->worst, fabs(density - 1));
  for (int axis = 0; axis < 3; axis++) seen->worst = fmax(seen->worst, fabs(u[axis] - wanted[axis]));
}

static outcome run(gab_world *world, const flow_case *given, bool scattered)
{
  outcome seen;
  memset(&seen, 0, sizeof seen);
  flow it = flow_open(world, given);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &seen.before));
  random_marks marks = {0};
  gab_adapt_options options = {.max_level = MAX_LEVEL, .mark = mark_block, .user = &marks};
  options.distribute = scattered ? scatter : NULL;
  options.distribute_context = &marks;
  for (; marks.round < ROUNDS; marks.round++) {
    gab_adapt_report report;
    REQUIRE_OK(gab_forest_adapt(it.forest, &options, &report));
    seen.split += report.grid.split;
    seen.merged += report.grid.merged;
    flow_run(&it, STEPS);
  }
  REQUIRE_OK(gab_lbm_check_finite(it.lbm, NULL));
  REQUIRE_OK(gab_lbm_integrate(it.lbm, true, &seen.after));
  flow_visit(&it, compare_cell, &seen);
  REQUIRE_OK(gab_world_max_f64(world, &seen.worst, 1));
  REQUIRE_OK(gab_forest_checksum(it.forest, &seen.checksum));
  flow_close(&it);
  return seen;
}

static void smooth(void *user, const double centre[3], gab_lbm_state *state)
{
  (void)user;
  const double k = 2 * 3.14159265358979323846 / 12;
  state->density += 0.01 * sin(k * centre[0] + 1);
  state->velocity[0] += 0.03 * sin(k * centre[1]) + 0.01;
  state->velocity[1] += 0.02 * cos(k * centre[0]);
}

static flow_case make_case(int dimension)
{
  const bool deep = dimension == 3;
  flow_case given = {
      .dimension = dimension, .cells = {12, deep ? 8 : 12, deep ? 8 : 1}, .block = {4, 4, deep ? 4 : 1}};
  given.options.omega = 1.6;
  return given;
}

static void conserved_and_owners_do_not_matter(gab_world *world, int dimension, bool with_force)
{
  flow_case given = make_case(dimension);
  given.options.initial = smooth;
  if (with_force) given.options.force[1] = 1e-5;
  outcome still = run(world, &given, false), scattered = run(world, &given, true);
  REQUIRE(memcmp(&still, &scattered, sizeof still) == 0);
  REQUIRE(still.split > 2 && still.merged > 0 && still.after.strain > 0);
  REQUIRE_NEAR(still.after.mass / still.before.mass, 1, 1e-13);
  const double pushed = given.options.force[1] * still.before.mass * ROUNDS * STEPS;
  REQUIRE_NEAR(still.after.momentum[0], still.before.momentum[0], 1e-14 * still.before.mass);
  REQUIRE_NEAR(still.after.momentum[1], still.before.momentum[1] + pushed, 1e-14 * still.before.mass);
}

static void uniform_flow_stays_uniform(gab_world *world, int dimension, const gab_collision *collision)
{
  flow_case given = make_case(dimension);
  given.options.collision = collision;
  given.options.velocity[0] = 0.04;
  given.options.velocity[1] = -0.03;
  outcome seen = run(world, &given, true);
  REQUIRE_NEAR(seen.worst, 0, 1e-14);
}

/* ------------------------------------------------------------------ the same bits with other storage */

static gab_status mark_all(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)forest;
  (void)block;
  *mark = *(const gab_mark *)user;
  return GAB_OK;
}

/* All blocks are refined, then all are coarsened. */
static uint64_t there_and_back(gab_world *world, const flow_case *given)
{
  uint64_t checksum;
  flow it = flow_open(world, given);
  for (int round = 0; round < 2; round++) {
    gab_mark mark = round == 0 ? GAB_MARK_REFINE : GAB_MARK_COARSEN;
    const gab_adapt_options options = {.max_level = 1, .mark = mark_all, .user = &mark};
    gab_adapt_report report;
    flow_run(&it, STEPS);
    REQUIRE_OK(gab_forest_adapt(it.forest, &options, &report));
    REQUIRE(report.changed);
  }
  flow_run(&it, 1);
  REQUIRE_OK(gab_forest_checksum(it.forest, &checksum));
  flow_close(&it);
  return checksum;
}

/* Sparse blocks are split and merged cell by cell, others row by row; blocks are in separate fields or fused. */
static void storage_does_not_matter(gab_world *world, int dimension, bool in_float,
                                    const gab_collision *collision)
{
  static const char *const kernels[] = {"in_place", "vector", "sparse", "in_place",
                                        "in_place", "sparse", "auto"};
  static const int fused_blocks[] = {1, 0, 1, 2, 5, 4, 16};
  flow_case given = make_case(dimension);
  given.options.initial = smooth;
  given.options.collision = collision;
  given.options.precision = in_float ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE;
  for (int with_force = 0; with_force < 2; with_force++) {
    uint64_t whole = 0, parts = 0;
    given.options.force[0] = with_force ? 2e-5 : 0;
    given.options.force[1] = with_force ? -1e-5 : 0;
    for (int k = 0; k < 7; k++) {
      given.options.kernel = kernels[k];
      given.options.fused_blocks = fused_blocks[k];
      const uint64_t back = there_and_back(world, &given), here = run(world, &given, k > 2).checksum;
      if (k == 0) whole = back, parts = here;
      REQUIRE(back == whole && here == parts);
    }
  }
}

/* Specks at corners of cells make no cell solid on any level, but blocks near them do not share their lists. With all
 * kinds of sides next to a block; or with small bodies, at a side and at one end of the domain, which blocks at the
 * other end see across a periodic side. */
static void sharing_does_not_matter(gab_world *world, int dimension, bool with_bodies, gab_side_kind outlet)
{
  enum { SPACING = 4, BODIES = 2, MOST = BODIES + 27 };
  gab_body all[MOST] = {
      {.shape = GAB_SHAPE_SPHERE, .centre = {1, 5, dimension == 3 ? 6 : 0.5}, .radius = 0.95},
      {.shape = GAB_SHAPE_BOX, .lo = {8, 0, -1}, .hi = {8.8, 0.3, 9}, .velocity = {0.01}}};
  gab_body *specks = all + BODIES;
  size_t count = 0;
  flow_case given = make_case(dimension);
  for (int z = 0; z < (dimension == 3 ? given.cells[2] : 1); z += SPACING)
    for (int y = 0; y < given.cells[1]; y += SPACING)
      for (int x = 0; x < given.cells[0]; x += SPACING)
        specks[count++] = (gab_body){
            .shape = GAB_SHAPE_SPHERE, .centre = {x + 2, y + 2, dimension == 3 ? z + 2 : 0}, .radius = 1e-3};
  given.options.initial = smooth;
  given.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.02, 0.01}};
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = outlet, .advection = 0.05};
  given.options.sides[GAB_SIDE_Y_MIN].kind = GAB_SIDE_WALL;
  given.options.sides[GAB_SIDE_Y_MAX] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.03}};
  if (dimension == 3) given.options.sides[GAB_SIDE_Z_MIN].kind = GAB_SIDE_FREE_SLIP;
  if (dimension == 3) given.options.sides[GAB_SIDE_Z_MAX].kind = GAB_SIDE_PRESSURE;
  if (with_bodies)
    for (int side = 0; side < GAB_SIDE_COUNT; side++)
      if (side / 2 != 1) given.options.sides[side] = (gab_side){.kind = GAB_SIDE_PERIODIC};
  given.bodies = with_bodies ? all : NULL;
  given.body_count = with_bodies ? BODIES : 0;
  const uint64_t shared = run(world, &given, true).checksum;
  given.bodies = with_bodies ? all : specks;
  given.body_count += count;
  REQUIRE(run(world, &given, true).checksum == shared);
}

/* ------------------------------------------------------------------ the state of sides */

/* The sum of the state over all blocks, and of its square, each number with the share of its face in one of level 0. */
static void sum_states(gab_world *world, const flow *it, double sums[2])
{
  const int dimension = it->lbm->model.lattice->dimension;
  sums[0] = sums[1] = 0;
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    const gab_side_state *state = gab_block_data(block, it->lbm->side_states);
    const double share = ldexp(1, -(dimension - 1) * gab_block_level(it->forest, block));
    for (size_t k = 0; k < state->start[GAB_SIDE_COUNT]; k++) {
      REQUIRE(!isnan(state->now[k]));
      sums[0] += share * state->now[k];
      sums[1] += share * state->now[k] * state->now[k];
    }
  }
  gab_exact_sum exact[2] = {0};
  for (int k = 0; k < 2; k++) gab_exact_add(&exact[k], sums[k]);
  REQUIRE_OK(gab_world_sum_exact(world, exact, 2));
  for (int k = 0; k < 2; k++) sums[k] = gab_exact_value(&exact[k]);
}

static void adapt_all(flow *it, gab_mark mark)
{
  const gab_adapt_options options = {.max_level = 1, .mark = mark_all, .user = &mark};
  gab_adapt_report report;
  REQUIRE_OK(gab_forest_adapt(it->forest, &options, &report));
  REQUIRE(report.changed);
}

static void states_go_along(gab_world *world, int dimension)
{
  flow_case given = make_case(dimension);
  double before[2], fine[2], coarse[2];
  given.options.initial = smooth;
  given.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.02}};
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_CONVECTIVE, .advection = 0.05};
  flow it = flow_open(world, &given);
  flow_run(&it, STEPS);
  sum_states(world, &it, before);
  adapt_all(&it, GAB_MARK_REFINE);
  sum_states(world, &it, fine);
  for (int k = 0; k < 2; k++) REQUIRE_NEAR(fine[k], before[k], 1e-14);
  flow_run(&it, STEPS);
  sum_states(world, &it, fine);
  REQUIRE(fabs(fine[0] - before[0]) > 1e-6);
  adapt_all(&it, GAB_MARK_COARSEN);
  sum_states(world, &it, coarse);
  REQUIRE_NEAR(coarse[0], fine[0], 1e-14);
  REQUIRE(coarse[1] < fine[1]); /* means */
  flow_close(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++) {
    conserved_and_owners_do_not_matter(world, dimension, false);
    uniform_flow_stays_uniform(world, dimension, &gab_collision_trt);
    uniform_flow_stays_uniform(world, dimension, &gab_collision_rr);
  }
  conserved_and_owners_do_not_matter(world, 2, true);
  for (int dimension = 2; dimension <= 3; dimension++) {
    for (int in_float = 0; in_float < 2; in_float++)
      storage_does_not_matter(world, dimension, in_float, &gab_collision_trt);
    storage_does_not_matter(world, dimension, false, &gab_collision_rr);
    for (int with_bodies = 0; with_bodies < 2; with_bodies++)
      sharing_does_not_matter(world, dimension, with_bodies, GAB_SIDE_OUTFLOW);
    sharing_does_not_matter(world, dimension, false, GAB_SIDE_CONVECTIVE);
    states_go_along(world, dimension);
  }
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
