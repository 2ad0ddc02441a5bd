/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=3 timeout=60 */
/* Tracers in known velocity fields (blockforest/particles/tracers.h): second order in the time step and in the width
 * of cells, on one level and across three. They do not enter solid cells or pass closed sides, leave through open
 * ones, and wrap at periodic ones. Velocities next to a wall and a border of levels are exact for linear fields.
 * Owners of blocks do not matter. Too large steps are refused. */
#include "blockforest/particles/tracers.h"

#include "blockforest/forest/position.h"
#include "core/messages/collective.h"
#include "tests/blockforest/particles/particles_common.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef void (*flow_fn)(const double at[3], double time, double velocity[3]);

typedef struct box {
  gab_forest *forest;
  gab_tracers *tracers;
  flow_fn flow;
  bool has_solid;
} box;

/* Closed orbits: around the centre of the unit square, ... */
static double turned(double time) { return 2 * time + 0.6 * sin(3 * time) / 3; }
static void rotation(const double at[3], double time, double velocity[3])
{
  const double rate = 2 + 0.6 * cos(3 * time);
  velocity[0] = -rate * (at[1] - 0.5);
  velocity[1] = rate * (at[0] - 0.5);
}
/* ... and a vortex that fills it. */
static void vortex(const double at[3], double time, double velocity[3])
{
  (void)time;
  velocity[0] = -sin(PI * at[0]) * cos(PI * at[1]);
  velocity[1] = cos(PI * at[0]) * sin(PI * at[1]);
}
static void to_the_right(const double at[3], double time, double velocity[3])
{
  (void)at, (void)time;
  velocity[0] = 1;
  velocity[1] = 0;
}
/* No slip at y = 0. */
static void shear(const double at[3], double time, double velocity[3])
{
  (void)time;
  velocity[0] = 2 * at[1];
  velocity[1] = 0;
}

/* The right half of the box, except its top quarter. */
static bool solid(void *user, int level, const int64_t cell[3], double velocity[3])
{
  const int64_t all = (int64_t) * (const int32_t *)user << level;
  (void)velocity;
  return cell[0] >= all / 2 && cell[1] < all * 3 / 4;
}

static int32_t all_cells;

static void make(gab_world *world, box *it, int32_t cells, flow_fn flow, bool levels, bool has_solid,
                 bool periodic, bool closed)
{
  static gab_rank ranks;
  const gab_forest_options options = {.grid = {2, {4, 4, 1}},
                                      .periodic = {periodic, periodic, false},
                                      .cells = {cells / 4, cells / 4, 1},
                                      .dx = 1. / cells};
  gab_tracers_options tracers = {
      .name = "tracers", .is_solid = has_solid ? solid : NULL, .user = &all_cells, .is_timed = true};
  ranks = gab_world_members(world)->ranks;
  all_cells = cells;
  for (int side = 0; side < 6; side++) tracers.closed[side] = closed;
  *it = (box){.flow = flow, .has_solid = has_solid};
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_tracers_create(it->forest, &tracers, &it->tracers));
  REQUIRE_OK(gab_forest_build(it->forest, levels ? around_the_middle : NULL, &all_cells, 2, blocks_in_turn,
                              &ranks, NULL));
}

static void destroy(box *it)
{
  gab_tracers_destroy(&it->tracers);
  gab_forest_destroy(&it->forest);
}

static void set_flow(box *it, double time)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_box box = gab_block_cells(it->forest, block);
    gab_field *field = gab_tracers_velocity(it->tracers, block);
    for (int32_t y = 0; y < field->shape.cells[1]; y++)
      for (int32_t x = 0; x < field->shape.cells[0]; x++) {
        double at[3], velocity[3] = {0, 0, 0};
        const int64_t cell[3] = {box.lo[0] + x, box.lo[1] + y, 0};
        gab_block_cell_centre(it->forest, block, x, y, 0, at);
        it->flow(at, time, velocity);
        const bool is_solid =
            it->has_solid && solid(&all_cells, gab_block_level(it->forest, block), cell, velocity);
        for (int k = 0; k < 2; k++) gab_field_set(field, x, y, 0, k, is_solid ? NAN : velocity[k]);
      }
  }
}

static void start(box *it)
{
  set_flow(it, 0);
  REQUIRE_OK(gab_tracers_exchange(it->tracers));
}

static uint64_t run(box *it, int steps, double dt)
{
  uint64_t removed = 0;
  for (int s = 1; s <= steps; s++) {
    uint64_t more;
    set_flow(it, s * dt);
    REQUIRE_OK(gab_tracers_step(it->tracers, dt, &more));
    removed += more;
  }
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(it->forest), &removed, 1));
  return removed;
}

/* Position of a tracer, on all processes. */
static bool find(const box *it, uint64_t id, double at[3])
{
  double found[3] = {-INFINITY, -INFINITY, 0};
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    size_t count;
    const gab_tracer *all =
        gab_particles_of(gab_tracers_particles(it->tracers), gab_forest_block(it->forest, b), &count);
    for (size_t i = 0; i < count; i++)
      if (all[i].base.id == id) memcpy(found, all[i].base.at, sizeof found);
  }
  REQUIRE_OK(gab_world_max_f64(gab_forest_world(it->forest), found, 2));
  memcpy(at, found, sizeof found);
  return isfinite(found[0]);
}

/* ---------------------------------------------------------------- order */

static double error_of_rotation(gab_world *world, int steps)
{
  box it;
  const double at[3] = {0.83, 0.5, 0}, time = 2;
  double found[3];
  make(world, &it, 32, rotation, false, false, false, false);
  start(&it);
  REQUIRE_OK(gab_tracers_add(it.tracers, 7, at, 0, NULL));
  run(&it, steps, time / steps);
  REQUIRE(find(&it, 7, found));
  const double angle = turned(time);
  destroy(&it);
  return hypot(found[0] - (0.5 + 0.33 * cos(angle)), found[1] - (0.5 + 0.33 * sin(angle)));
}

/* By classical Runge-Kutta steps of fourth order, with errors far below the tested ones. */
static void follow(flow_fn flow, double at[3], double time)
{
  const int steps = 4000;
  const double dt = time / steps;
  for (int s = 0; s < steps; s++) {
    double k[4][3] = {{0}}, to[3];
    for (int stage = 0; stage < 4; stage++) {
      const double by = stage == 0 ? 0 : stage == 3 ? dt : 0.5 * dt;
      for (int d = 0; d < 2; d++) to[d] = at[d] + (stage > 0 ? by * k[stage - 1][d] : 0);
      flow(to, s * dt + by, k[stage]);
    }
    for (int d = 0; d < 2; d++) at[d] += dt / 6 * (k[0][d] + 2 * k[1][d] + 2 * k[2][d] + k[3][d]);
  }
}

static double error_of_vortex(gab_world *world, int32_t cells, int steps, bool levels)
{
  box it;
  const double time = 2;
  double sum = 0;
  make(world, &it, cells, vortex, levels, false, false, true);
  start(&it);
  for (int i = 0; i < 8; i++) {
    const double at[3] = {0.5 + 0.055 * (i + 1), 0.47, 0};
    REQUIRE_OK(gab_tracers_add(it.tracers, (uint64_t)i, at, 0, NULL));
  }
  run(&it, steps, time / steps);
  for (int i = 0; i < 8; i++) {
    double at[3] = {0.5 + 0.055 * (i + 1), 0.47, 0}, found[3];
    follow(vortex, at, time);
    REQUIRE(find(&it, (uint64_t)i, found));
    sum += pow(found[0] - at[0], 2) + pow(found[1] - at[1], 2);
  }
  destroy(&it);
  return sqrt(sum / 8);
}

static void is_of_second_order(gab_world *world)
{
  const double slow = error_of_rotation(world, 40), fast = error_of_rotation(world, 80);
  REQUIRE(fast < 1e-2 && log2(slow / fast) > 1.9);
  for (int levels = 0; levels < 2; levels++) {
    const double coarse = error_of_vortex(world, 32, 100, levels),
                 fine = error_of_vortex(world, 64, 200, levels);
    if (gab_world_is_root(world) && getenv("GABION_TEST_SHOWS"))
      printf("levels %d: rotation %.3g, %.3g; vortex %.3g, %.3g: order %.3f\n", levels, slow, fast, coarse,
             fine, log2(coarse / fine));
    REQUIRE(fine < 2e-3 && log2(coarse / fine) > 1.9);
  }
}

/* ---------------------------------------------------------------- walls and sides */

static void stays_out_of_walls(gab_world *world)
{
  box it;
  make(world, &it, 32, to_the_right, false, true, false, false);
  start(&it);
  uint64_t added = 0;
  for (int i = 0; i < 32; i++) {
    bool is_here;
    REQUIRE_OK(gab_tracers_add(it.tracers, (uint64_t)i, (double[3]){0.3, (i + 0.5) / 32, 0}, 0, NULL));
    REQUIRE_OK(
        gab_tracers_add(it.tracers, 100 + (uint64_t)i, (double[3]){0.8, (i + 0.5) / 32, 0}, 0, &is_here));
    added += is_here;
  }
  REQUIRE_OK(gab_world_sum_u64(world, &added, 1));
  REQUIRE(added == 8); /* the others are in the solid */
  const uint64_t removed = run(&it, 200, 0.01);
  REQUIRE(removed == 16); /* above the solid they leave, the others stop at it */
  for (int i = 0; i < 24; i++) {
    double at[3];
    REQUIRE(find(&it, (uint64_t)i, at));
    REQUIRE(at[0] > 0.45 && at[0] < 0.5);
  }
  destroy(&it);
}

static void keeps_closed_sides(gab_world *world)
{
  box it;
  uint64_t counted;
  make(world, &it, 16, to_the_right, false, false, false, true);
  start(&it);
  for (int i = 0; i < 16; i++)
    REQUIRE_OK(gab_tracers_add(it.tracers, (uint64_t)i, (double[3]){0.9, (i + 0.5) / 16, 0}, 0, NULL));
  REQUIRE(run(&it, 20, 0.02) == 0);
  REQUIRE_OK(gab_particles_count(gab_tracers_particles(it.tracers), &counted));
  REQUIRE(counted == 16);
  destroy(&it);
}

static void wraps(gab_world *world)
{
  box it;
  double at[3];
  make(world, &it, 16, to_the_right, false, false, true, false);
  start(&it);
  REQUIRE_OK(gab_tracers_add(it.tracers, 3, (double[3]){0.9, 0.5, 0}, 0, NULL));
  REQUIRE(run(&it, 40, 0.05) == 0);
  REQUIRE(find(&it, 3, at));
  REQUIRE(fabs(at[0] - 0.9) < 1e-12 && fabs(at[1] - 0.5) < 1e-12);
  destroy(&it);
}

/* In a linear field that vanishes at the lower side: between the first and last centre of cells, and down to the
 * side. */
static void is_exact_for_linear_fields(gab_world *world, bool levels)
{
  box it;
  make(world, &it, 32, shear, levels, false, false, true);
  start(&it);
  for (int i = 0; i < 400; i++) {
    const double at[3] = {(i % 20 + 0.5) / 20, (double)(i / 20) / 20 + 1e-3, 0};
    REQUIRE_OK(gab_tracers_add(it.tracers, (uint64_t)i, at, 0, NULL));
  }
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    size_t count;
    const gab_tracer *all =
        gab_particles_of(gab_tracers_particles(it.tracers), gab_forest_block(it.forest, b), &count);
    for (size_t i = 0; i < count; i++) {
      REQUIRE(fabs(all[i].velocity[0] - 2 * all[i].base.at[1]) < 1e-13);
      REQUIRE(all[i].velocity[1] == 0 && all[i].velocity[2] == 0);
    }
  }
  destroy(&it);
}

/* ---------------------------------------------------------------- owners, misuse */

static uint64_t checksum_of(gab_world *world, bool moves)
{
  box it;
  uint64_t checksum;
  make(world, &it, 32, vortex, true, false, false, true);
  start(&it);
  for (int i = 0; i < 200; i++)
    REQUIRE_OK(gab_tracers_add(it.tracers, (uint64_t)(i * 77 % 200),
                               (double[3]){0.02 + 0.0048 * i, 0.02 + 0.0048 * (i * 31 % 200), 0}, i, NULL));
  for (int round = 0; round < 5; round++) {
    const size_t count = gab_forest_block_count(it.forest);
    gab_rank *targets = malloc((count + 1) * sizeof *targets);
    for (size_t i = 0; i < count; i++)
      targets[i] = (gab_rank)((gab_block_get_id(gab_forest_block(it.forest, i)) + (uint64_t)round) %
                              (uint64_t)gab_world_members(world)->ranks);
    if (moves) REQUIRE_OK(gab_forest_migrate(it.forest, targets));
    free(targets);
    run(&it, 8, 0.02);
  }
  REQUIRE_OK(gab_forest_checksum(it.forest, &checksum));
  destroy(&it);
  return checksum;
}

/* The work of tracers is counted for their blocks, until it is reset. Blocks without tracers have none. */
static void counts_work(gab_world *world)
{
  box it;
  make(world, &it, 32, vortex, false, false, false, true);
  start(&it);
  for (int i = 0; i < 200; i++) /* in the left half */
    REQUIRE_OK(
        gab_tracers_add(it.tracers, (uint64_t)i, (double[3]){0.1 + 0.001 * i, 0.1 + 0.004 * i, 0}, 0, NULL));
  run(&it, 2, 0.01);
  for (int round = 0; round < 2; round++)
    for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
      const gab_block *block = gab_forest_block(it.forest, b);
      const bool is_left = gab_block_cells(it.forest, block).lo[0] < 16;
      size_t count;
      (void)gab_particles_of(gab_tracers_particles(it.tracers), block, &count);
      const uint64_t work = gab_forest_block_work(it.forest, block, round == 0);
      if (round == 0 && count > 0) REQUIRE(work > 0);
      if (round == 1 || !is_left) REQUIRE(work == 0);
    }
  destroy(&it);
}

static void refuses(gab_world *world)
{
  box it;
  make(world, &it, 16, to_the_right, false, false, true, false);
  start(&it);
  REQUIRE(gab_block_data(gab_forest_block(it.forest, 0), gab_tracers_velocity_data(it.tracers)) ==
          gab_tracers_velocity(it.tracers, gab_forest_block(it.forest, 0)));
  REQUIRE(gab_tracers_add(it.tracers, 1, (double[3]){NAN, 0, 0}, 0, NULL) == GAB_ERR_INPUT);
  for (int i = 0; i < 16; i++)
    REQUIRE_OK(
        gab_tracers_add(it.tracers, (uint64_t)i, (double[3]){(i + 0.5) / 16, (i + 0.5) / 16, 0}, 0, NULL));
  set_flow(&it, 0);
  (void)gab_world_barrier(world);
  const gab_status status = gab_tracers_step(it.tracers, 0.3, NULL);
  REQUIRE(status == GAB_ERR_ARGUMENT || status == GAB_ERR_FAULT);
  destroy(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  is_of_second_order(world);
  stays_out_of_walls(world);
  keeps_closed_sides(world);
  wraps(world);
  for (int levels = 0; levels < 2; levels++) is_exact_for_linear_fields(world, levels);
  REQUIRE(checksum_of(world, false) == checksum_of(world, true));
  counts_work(world);
  if (test_may_break(world)) refuses(world);
  return test_end(&world);
}
