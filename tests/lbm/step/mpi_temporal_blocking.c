/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=120 */
/* Several steps in a temporal block give the bits of single steps, for random flows: in blocks and fused fields, with
 * walls, open sides and bodies, any number of threads, and bands of any width. Where temporal blocking is impossible, steps
 * are taken one at a time, with the same bits. */
#include "lbm/step/temporal_block_impl.h"
#include "tests/lbm/drawn_flows.h"
#include "tests/lbm/step/fused_common.h"
#include "tests/threads.h"

enum { FLOWS = 40, ROUNDS = 4, BODIES = 2 };

typedef struct drawn_flow {
  flow_case given;
  gab_body bodies[BODIES];
  bool is_round; /* periodic along rows or planes: no temporal blocks then */
  int threads;
} drawn_flow;

/* Cache per thread, fixed for all flows here: the same number of steps per block on any machine. */
static flow open_with_cache(gab_world *world, const flow_case *given)
{
  flow made = flow_open(world, given);
  made.lbm->temporal_cache = (size_t)12 << 20;
  return made;
}

/* ------------------------------------------------------------------------------------------ flows */

static void draw_grid(drawing *from, int processes, drawn_flow *made)
{
  flow_case *given = &made->given;
  given->dimension = draw(from, 4) ? 3 : 2;
  const int last = given->dimension - 1;
  for (int axis = 0; axis < 3; axis++) {
    const int blocks = (axis == last ? processes : 1) + (int)draw(from, 3);
    given->block[axis] = axis > last ? 1 : axis == last ? 40 / blocks : 2 + (int)draw(from, 9);
    given->cells[axis] = axis > last ? 1 : blocks * given->block[axis];
  }
}

static void draw_flow(drawing *from, int processes, drawn_flow *made)
{
  static const gab_collision *const models[] = {&gab_collision_trt, &gab_collision_srt, &gab_collision_mrt};
  *made = (drawn_flow){.threads = 1 + (int)draw(from, 3)};
  gab_lbm_options *options = &made->given.options;
  draw_grid(from, processes, made);
  made->is_round = draw_sides(from, &made->given, (const uint64_t[3]){3, 12, 12});
  draw_bodies(from, &made->given, made->bodies, BODIES, 3, 4.5);
  options->omega = draw_real(from, 0.8, 1.8);
  options->kernel = "in_place";
  options->fused_blocks = (int)draw(from, 6);
  options->precision = draw(from, 2) ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE;
  options->mixed = options->precision == GAB_PRECISION_FLOAT && draw(from, 2);
  const bool is_wide = made->given.dimension == 3 && draw(from, 3) == 0; /* the kernel does not support MRT */
  options->lattice = made->given.dimension == 2 ? &gab_lattice_d2q9
                     : is_wide                  ? &gab_lattice_d3q27
                                                : &gab_lattice_d3q19;
  options->collision = models[draw(from, is_wide ? 2 : 3)];
  options->force[0] = draw(from, 2) ? 1e-5 : 0;
  options->initial = made->given.dimension == 3 ? noisy_state : noisy_plane;
}

/* ------------------------------------------------------------------------------------------ temporal blocks of any shape */

static uint64_t checksum_of(const flow *it)
{
  uint64_t sum;
  REQUIRE_OK(gab_forest_checksum(it->forest, &sum));
  return sum;
}

static void the_bits_are_those_of_steps(gab_world *world, uint64_t seed, uint64_t *temporally_blocked)
{
  drawing from = {.seed = seed, .stream = 91};
  drawn_flow given;
  const int processes = (int)gab_members_count(gab_world_members(world));
  draw_flow(&from, processes, &given);
  flow one = flow_open(world, &given.given), many = open_with_cache(world, &given.given);
  for (int round = 0; round < ROUNDS; round++) {
    const gab_temporal_shape shape = {.steps = 1 + (int)draw(&from, GAB_TEMPORAL_STEPS),
                                      .band = 1 + (int64_t)draw(&from, 14)};
    gab_step taken;
    use_threads(given.threads);
    REQUIRE_OK(gab_temporal_take(many.lbm, shape, shape.steps, &taken));
    const bool has_planes = given.threads == 1 || 40 / given.threads > 4 * shape.steps;
    const bool has_none =
        given.is_round || gab_lbm_balances_walls(many.lbm); /* walls are balanced in each step */
    if (processes == 1) REQUIRE(taken == (has_none ? 1 : has_planes ? shape.steps : taken));
    REQUIRE(taken >= 1 && taken <= shape.steps);
    use_threads(1);
    flow_run(&one, (int)taken);
    const bool is_same = checksum_of(&one) == checksum_of(&many);
    if (!is_same)
      fprintf(stderr, "flow %d, round %d: %d of %d steps, %d threads, bands of %d\n", (int)seed, round,
              (int)taken, shape.steps, given.threads, (int)shape.band);
    REQUIRE(is_same);
    REQUIRE(hash_of_messages(&one) == hash_of_messages(&many));
    REQUIRE(gab_lbm_get_step(many.lbm) == gab_lbm_get_step(one.lbm));
  }
  *temporally_blocked += many.lbm->temporally_blocked_steps;
  flow_close(&one);
  flow_close(&many);
}

/* ------------------------------------------------------------------------------------------ steps in all */

static flow_case box_of(int dimension)
{
  flow_case made = {.dimension = dimension, .cells = {12, 12, 36}, .block = {6, 4, 12}};
  if (dimension == 2) made = (flow_case){.dimension = 2, .cells = {12, 36, 1}, .block = {6, 12, 1}};
  for (int side = 0; side < 2 * dimension; side++) made.options.sides[side].kind = GAB_SIDE_WALL;
  made.options.omega = 1.6;
  made.options.initial = dimension == 3 ? noisy_state : noisy_plane;
  return made;
}

/* The last temporal block is shorter; a new grid has a new plan. */
static void any_number_of_steps_is_taken(gab_world *world, int dimension)
{
  static const gab_step counts[] = {1, 0, 7, 4, 13, 2};
  const flow_case given = box_of(dimension);
  const bool alone = gab_members_count(gab_world_members(world)) == 1;
  flow one = flow_open(world, &given), many = open_with_cache(world, &given);
  use_threads(2);
  gab_step all = 0;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    REQUIRE_OK(gab_lbm_steps(many.lbm, counts[i], 4));
    flow_run(&one, (int)counts[i]);
    all += counts[i];
    REQUIRE(gab_lbm_get_step(many.lbm) == all);
    REQUIRE(checksum_of(&one) == checksum_of(&many));
    if (i != 2) continue;
    gab_buffer image = {0};
    REQUIRE_OK(gab_forest_pack(many.forest, &image));
    REQUIRE_OK(gab_lbm_steps(many.lbm, 3, 3)); /* discarded by the restore */
    gab_reader reader = gab_reader_of_buffer(&image);
    REQUIRE_OK(gab_forest_restore(many.forest, &reader, 1, NULL, NULL));
    gab_lbm_set_step(many.lbm, all);
    gab_buffer_release(&image);
    flow_run(&many, 1); /* other blocks: the plan of temporal blocks was dropped with that of steps */
    REQUIRE(!many.lbm->stage[0].plan.knows_temporal_plan);
    flow_run(&one, 1);
    all++;
  }
  /* 7 = 4 + 3, 3, 4, 13 = 4 + 3 + 3 + 3, 2 */
  REQUIRE(many.lbm->temporally_blocked_steps == (alone ? 7 + 3 + 4 + 13 + 2 : 0));
  REQUIRE_OK(gab_lbm_steps(many.lbm, 9, 0)); /* all data fits into the caches: no gain */
  REQUIRE(many.lbm->temporally_blocked_steps == (alone ? 29 : 0));
  flow_run(&one, 9);
  REQUIRE(checksum_of(&one) == checksum_of(&many));
  REQUIRE(gab_lbm_steps(many.lbm, -1, 0) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_lbm_steps(many.lbm, 1, -1) == GAB_ERR_ARGUMENT);
  use_threads(1);
  flow_close(&one);
  flow_close(&many);
}

/* A step with forces, or one that is computed twice, is a single step; the others use temporal blocks. */
static void steps_that_are_looked_at_are_alone(gab_world *world)
{
  flow_case given = box_of(3);
  const gab_body ball = {.shape = GAB_SHAPE_SPHERE, .centre = {6, 6, 15}, .radius = 2.7};
  given.bodies = &ball;
  given.body_count = 1;
  given.options.kernel = "in_place";
  const bool alone = gab_members_count(gab_world_members(world)) == 1;
  flow one = flow_open(world, &given), many = open_with_cache(world, &given);
  double wanted[1][3], seen[1][3];
  gab_lbm_request_forces(one.lbm);
  gab_lbm_request_forces(many.lbm);
  REQUIRE_OK(gab_lbm_steps(many.lbm, 5, 4));
  flow_run(&one, 5);
  REQUIRE_OK(gab_lbm_forces(one.lbm, wanted));
  REQUIRE_OK(gab_lbm_forces(many.lbm, seen));
  REQUIRE(memcmp(wanted, seen, sizeof seen) == 0);
  REQUIRE(many.lbm->temporally_blocked_steps == (alone ? 4 : 0));
  REQUIRE_OK(gab_lbm_request_recomputation(many.lbm, 1));
  REQUIRE_OK(gab_lbm_steps(many.lbm, 5, 4));
  REQUIRE_OK(gab_lbm_check_recomputed(many.lbm, false));
  REQUIRE(many.lbm->temporally_blocked_steps ==
          (alone ? 4 + 3 : 0)); /* the second one checks the result of the first */
  flow_run(&one, 5);
  REQUIRE(checksum_of(&one) == checksum_of(&many));
  flow_close(&one);
  flow_close(&many);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  uint64_t temporally_blocked = 0;
  for (uint64_t seed = 0; seed < FLOWS; seed++) the_bits_are_those_of_steps(world, seed, &temporally_blocked);
  const bool alone = gab_members_count(gab_world_members(world)) == 1;
  REQUIRE(alone == (temporally_blocked > 100));
  for (int dimension = 2; dimension <= 3; dimension++) any_number_of_steps_is_taken(world, dimension);
  steps_that_are_looked_at_are_alone(world);
  return test_end(&world);
}
