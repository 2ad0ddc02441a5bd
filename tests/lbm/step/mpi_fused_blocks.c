/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=1 timeout=120 */
/* Adjacent blocks in one field: random flows give the same bits in fused fields of any width as in separate fields, through
 * migrations, adaptations and a rollback; after a rollback they send the same messages as before; and fused fields release
 * the memory of blocks that have left. */
#include "blockforest/adaptation/adapt.h"
#include "core/memory/memory.h"
#include "core/messages/collective.h"
#include "lbm/lbm_impl.h"
#include "tests/lbm/drawn_flows.h"
#include "tests/lbm/step/fused_common.h"
#include "tests/threads.h"

enum { FLOWS = 12, VARIANTS = 3, ROUNDS = 5, BODIES = 2 };

typedef struct drawn_flow {
  flow_case given;
  gab_body bodies[BODIES];
  bool adapts, recomputes;
  int steps, threads;
  uint64_t seed, round;
} drawn_flow;

typedef struct outcome {
  uint64_t checksum[ROUNDS + 1];
  double force[BODIES][3];
  gab_lbm_integrals sums;
} outcome;

/* ------------------------------------------------------------------------------------------ flows */

static void draw_grid(drawing *from, drawn_flow *made)
{
  const bool is_deep = draw(from, 2);
  flow_case *given = &made->given;
  given->dimension = is_deep ? 3 : 2;
  made->adapts = draw(from, 2);
  for (int axis = 0; axis < 3; axis++) {
    const bool is_flat = axis == 2 && !is_deep;
    /* some so high that a slab is one layer in a wide fused field */
    const int cells = made->adapts ? 4 + 2 * (int)draw(from, 2)
                      : axis == 1  ? 3 + (int)draw(from, 10)
                                   : 2 + (int)draw(from, 8),
              blocks = axis == 0 ? 2 + (int)draw(from, 5) : 1 + (int)draw(from, 3);
    given->block[axis] = is_flat ? 1 : cells;
    given->cells[axis] = is_flat ? 1 : cells * blocks;
  }
}

static drawn_flow draw_flow(drawing *from)
{
  drawn_flow made = {.seed = from->seed};
  draw_grid(from, &made);
  draw_sides(from, &made.given, (const uint64_t[3]){3, 3, 3});
  draw_bodies(from, &made.given, made.bodies, BODIES, 2, 3.5);
  draw_sponges(from, &made.given);
  gab_lbm_options *options = &made.given.options;
  options->omega = draw_real(from, 0.8, 1.8);
  options->precision = draw(from, 2) ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE;
  if (made.given.dimension == 3) options->lattice = draw(from, 2) ? &gab_lattice_d3q27 : &gab_lattice_d3q19;
  options->initial = made.given.dimension == 3 ? noisy_state : noisy_plane;
  made.recomputes = draw(from, 3) == 0;
  made.steps = 1 + (int)draw(from, 4);
  return made;
}

/* ------------------------------------------------------------------------------------------ runs */

static gab_status mark_block(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const drawn_flow *given = user;
  const uint64_t dice = gab_hash_counter(given->seed + given->round, 3, gab_block_get_id(block)) % 10;
  (void)forest;
  *mark = given->round % 2 ? (dice < 8 ? GAB_MARK_COARSEN : GAB_MARK_KEEP)
                           : (dice < 3 ? GAB_MARK_REFINE : GAB_MARK_KEEP);
  return GAB_OK;
}

static gab_rank owner_of(const drawn_flow *given, gab_world *world, gab_block_id id)
{
  const gab_members *members = gab_world_members(world);
  const uint64_t dice = gab_hash_counter(given->seed + given->round, 5, id);
  return gab_members_rank(members,
                          dice % 5 < 3 ? 0 : (int32_t)(dice / 5 % (uint64_t)gab_members_count(members)));
}

static gab_status scatter(void *context, gab_proxies *proxies)
{
  const size_t count = gab_proxies_count(proxies);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  REQUIRE(targets);
  for (size_t i = 0; i < count; i++)
    targets[i] = owner_of(context, gab_proxies_world(proxies), gab_proxies_get(proxies, i)->id);
  gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status;
}

static void migrate(gab_world *world, flow *it, const drawn_flow *given)
{
  const size_t count = gab_forest_block_count(it->forest);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  REQUIRE(targets);
  for (size_t i = 0; i < count; i++)
    targets[i] = owner_of(given, world, gab_block_get_id(gab_forest_block(it->forest, i)));
  REQUIRE_OK(gab_forest_migrate(it->forest, targets));
  free(targets);
}

static void change_grid(gab_world *world, flow *it, drawn_flow *given)
{
  if (!given->adapts) {
    if (given->round % 2) migrate(world, it, given);
    return;
  }
  gab_adapt_report report;
  const gab_adapt_options options = {
      .max_level = 1, .mark = mark_block, .user = given, .distribute = scatter, .distribute_context = given};
  REQUIRE_OK(gab_forest_adapt(it->forest, &options, &report));
}

static void take_steps(flow *it, const drawn_flow *given, outcome *out)
{
  for (int step = 0; step < given->steps; step++) {
    const bool with_forces = (given->round + (uint64_t)step) % 3 == 0;
    double force[BODIES][3];
    if (given->recomputes) REQUIRE_OK(gab_lbm_request_recomputation(it->lbm, 0.5));
    if (with_forces) gab_lbm_request_forces(it->lbm);
    REQUIRE_OK(gab_lbm_step(it->lbm));
    REQUIRE_OK(gab_lbm_check_recomputed(it->lbm, false));
    if (!with_forces) continue;
    REQUIRE_OK(gab_lbm_forces(it->lbm, force));
    for (size_t body = 0; body < given->given.body_count; body++)
      for (int axis = 0; axis < 3; axis++) out->force[body][axis] += force[body][axis];
  }
}

static void go_back(flow *it)
{
  flow_image image;
  flow_pack(it, &image);
  flow_run(it, 2); /* to be rolled back */
  flow_restore(it, &image);
  flow_image_release(&image);
}

static outcome run(gab_world *world, drawn_flow *given)
{
  outcome out;
  memset(&out, 0, sizeof out);
  given->given.bodies = given->bodies;
#ifdef _OPENMP
  omp_set_num_threads(given->threads);
#endif
  flow it = flow_open(world, &given->given);
  for (given->round = 0; given->round < ROUNDS; given->round++) {
    change_grid(world, &it, given);
    take_steps(&it, given, &out);
    if (given->round == 2) go_back(&it);
    if (given->round == 3) REQUIRE_OK(gab_lbm_clear_solid(it.lbm));
    REQUIRE_OK(gab_forest_checksum(it.forest, &out.checksum[given->round]));
  }
  flow_run(&it, 18); /* long enough without changes for blocks to be made adjacent */
  REQUIRE_OK(gab_lbm_integrate(it.lbm, true, &out.sums));
  REQUIRE_OK(gab_forest_checksum(it.forest, &out.checksum[ROUNDS]));
  flow_close(&it);
  return out;
}

static void widths_do_not_matter(gab_world *world)
{
  static const char *const kernels[] = {"in_place", "auto", "sparse", "in_place"};
  for (uint64_t seed = 0; seed < FLOWS; seed++) {
    drawing from = {.seed = seed, .stream = 77};
    drawn_flow given = draw_flow(&from);
    given.given.options.kernel = "in_place";
    given.given.options.fused_blocks = given.threads = 1;
    const outcome wanted = run(world, &given);
    for (int variant = 0; variant < VARIANTS; variant++) {
      given.given.options.kernel = kernels[draw(&from, 4)];
      given.given.options.fused_blocks = variant == 0 ? 16 : 2 + (int)draw(&from, 6);
      given.threads = 1 + (int)draw(&from, 3);
      const outcome seen = run(world, &given);
      if (memcmp(&wanted, &seen, sizeof seen) != 0)
        fprintf(stderr, "flow %d: %s, %d side by side, %d threads\n", (int)seed, given.given.options.kernel,
                given.given.options.fused_blocks, given.threads);
      REQUIRE(memcmp(&wanted, &seen, sizeof seen) == 0);
    }
  }
}

/* ------------------------------------------------------------------------------------------ messages */

/* A body across several blocks and up to a corner of the domain; blocks migrate before. */
static void restored_runs_send_the_same(gab_world *world, int fused_blocks)
{
  enum { STEPS = 4 };
  const gab_body bodies[2] = {{.shape = GAB_SHAPE_BOX, .lo = {14, 6, 0}, .hi = {26, 18, 1}},
                              {.shape = GAB_SHAPE_BOX, .lo = {-1, 27, 0}, .hi = {3, 41, 1}}};
  drawn_flow moves = {.seed = 5};
  flow_case given = {
      .dimension = 2, .cells = {48, 40, 1}, .block = {8, 8, 1}, .bodies = bodies, .body_count = 2};
  for (int side = 0; side < 4; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  given.options.omega = 1.5;
  given.options.initial = noisy_plane;
  given.options.fused_blocks = fused_blocks;
  given.options.kernel = "in_place";
  flow first = flow_open(world, &given);
  for (moves.round = 0; moves.round < 9; moves.round++) {
    migrate(world, &first, &moves);
    flow_run(&first, 1 + (int)(moves.round % 3));
  }
  REQUIRE_OK(gab_lbm_clear_solid(first.lbm));
  flow_image image;
  flow_pack(&first, &image);
  flow again = flow_open(world, &given);
  flow_run(&again, 3); /* its fields have other contents */
  flow_restore(&again, &image);
  REQUIRE_OK(gab_lbm_clear_solid(again.lbm));
  for (int step = 0; step < STEPS; step++) {
    REQUIRE(hash_of_messages(&first) == hash_of_messages(&again));
    flow_run(&first, 1);
    flow_run(&again, 1);
  }
  flow_image_release(&image);
  flow_close(&first);
  flow_close(&again);
}

/* ------------------------------------------------------------------------------------------ memory */

static uint64_t fields_per_block(const flow *it)
{
  const size_t count = gab_forest_block_count(it->forest);
  return count > 0 ? gab_memory_now(GAB_MEMORY_FIELD) / count : 0;
}

/* All blocks go to the last rank; or all leave it except the first, the third, ... of their row: one of `kept` stays. */
static void move_rows(gab_world *world, flow *it, int kept)
{
  const gab_members *members = gab_world_members(world);
  const gab_rank last = gab_members_rank(members, gab_members_count(members) - 1);
  const size_t count = gab_forest_block_count(it->forest);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  REQUIRE(targets);
  for (size_t i = 0; i < count; i++) {
    const gab_box cells = gab_block_cells(it->forest, gab_forest_block(it->forest, i));
    targets[i] = cells.lo[0] / 4 % kept != 0 ? gab_world_root(world) : last;
  }
  REQUIRE_OK(gab_forest_migrate(it->forest, targets));
  free(targets);
}

/* One to four blocks of each row of eight stay: the remaining ones are then moved together. */
static void fused_fields_are_given_back(gab_world *world, int places, int kept)
{
  flow_case given = {.dimension = 3, .cells = {32, 32, 32}, .block = {4, 4, 4}};
  given.options.omega = 1.5;
  given.options.initial = noisy_state;
  given.options.fused_blocks = 1;
  flow it = flow_open(world, &given);
  const uint64_t alone = fields_per_block(&it);
  flow_close(&it);
  given.options.fused_blocks = places;
  it = flow_open(world, &given);
  move_rows(world, &it, 1);
  flow_run(&it, 1);
  REQUIRE(fields_per_block(&it) < alone + alone / 4);
  move_rows(world, &it, kept);
  flow_run(&it, 1);
  REQUIRE(fields_per_block(&it) <
          alone + alone * 3 / 4); /* half of it may be empty, and a part of the last one */
  flow_close(&it);
}

/* ------------------------------------------------------------------------------------------ order of calls */

/* A sweep with the present ghosts, before any exchange, does not affect later steps. */
static void the_first_sweep_may_be_stale(gab_world *world)
{
  const gab_body body = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {16.3, 11.8, 11.1}, .radius = 6.1};
  uint64_t checksums[2];
  for (int fused_blocks = 1; fused_blocks <= 4; fused_blocks += 3) {
    flow_case given = {
        .dimension = 3, .cells = {32, 24, 24}, .block = {4, 6, 6}, .bodies = &body, .body_count = 1};
    given.options.omega = 1.5;
    given.options.initial = noisy_state;
    given.options.fused_blocks = fused_blocks;
    given.options.kernel = "in_place";
    flow it = flow_open(world, &given);
    REQUIRE_OK(gab_lbm_collide_stale(it.lbm));
    flow_image image;
    flow_pack(&it, &image);
    flow again = flow_open(world, &given);
    flow_restore(&again, &image);
    flow_image_release(&image);
    flow_run(&it, 4);
    flow_run(&again, 4);
    REQUIRE_OK(gab_forest_checksum(it.forest, &checksums[0]));
    REQUIRE_OK(gab_forest_checksum(again.forest, &checksums[1]));
    REQUIRE(checksums[0] == checksums[1]);
    flow_close(&again);
    flow_close(&it);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  widths_do_not_matter(world);
#ifdef _OPENMP
  omp_set_num_threads(1);
#endif
  for (int fused_blocks = 1; fused_blocks <= 4; fused_blocks *= 2)
    restored_runs_send_the_same(world, fused_blocks);
  for (int kept = 2; kept <= 8; kept++)
    for (int places = 4; places <= 16; places *= 2) fused_fields_are_given_back(world, places, kept);
  the_first_sweep_may_be_stale(world);
  return test_end(&world);
}
