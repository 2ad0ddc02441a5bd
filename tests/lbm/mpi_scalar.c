/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=1 timeout=120 */
/* A scalar carried by a flow (lbm/scalar/scalar.h), in 2D and 3D. A wave that is carried and decays has errors of
 * second order. Heat between sides with values is conducted by Fourier's law, along each axis, also across two
 * levels. The sum changes by the flux through the sides, and is constant without flux. Buoyancy gives the fluid its
 * momentum along its axis. Unsupported cases are refused. */
#include "lbm/scalar/scalar.h"

#include "blockforest/adaptation/adapt.h"
#include "core/base/exact_sum.h"
#include "core/messages/collective.h"
#include "lbm/observe/quantities.h"
#include "lbm/step/local_force.h"
#include "loadbalance/balance.h"
#include "tests/misuse.h"

#include <math.h>

typedef struct carried {
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_scalar *scalar;
} carried;

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 && cells->lo[2] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* Two blocks along each axis, of `cells' in total. @param[in] closed  walls all around, otherwise periodic @param[in] finest
 * level of a corner */
static carried make(gab_world *world, int dimension, int32_t cells, bool closed, int finest,
                    const double velocity[3], const gab_lbm_scalar_options *options)
{
  const bool deep = dimension == 3;
  const gab_forest_options grid = {.grid = {dimension, {2, 2, deep ? 2 : 1}},
                                   .cells = {cells / 2, cells / 2, deep ? cells / 2 : 1},
                                   .periodic = {!closed, !closed, deep && !closed},
                                   .dx = 1};
  gab_lbm_options flow = {
      .omega = 1.3, .kernel = "in_place", .velocity = {velocity[0], velocity[1], deep ? velocity[2] : 0}};
  carried made;
  for (int side = 0; closed && side < 2 * dimension; side++)
    flow.sides[side] = (gab_side){.kind = GAB_SIDE_WALL};
  REQUIRE_OK(gab_forest_create(world, &grid, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, &flow, &made.lbm));
  REQUIRE_OK(gab_lbm_scalar_create(made.forest, made.lbm, options, finest, &made.scalar));
  REQUIRE_OK(gab_forest_build(made.forest, finest > 0 ? refine_first : NULL, NULL, finest,
                              gab_balance_distribute, NULL, NULL));
  return made;
}

static void drop(carried *it)
{
  gab_lbm_scalar_destroy(&it->scalar);
  gab_lbm_destroy(&it->lbm);
  gab_forest_destroy(&it->forest);
}

static void run(carried *it, int steps)
{
  for (int step = 0; step < steps; step++) {
    REQUIRE_OK(gab_lbm_step(it->lbm));
    REQUIRE_OK(gab_lbm_scalar_step(it->scalar));
  }
  REQUIRE_OK(gab_lbm_scalar_check_finite(it->scalar));
}

/* Called for each cell: centre in cells of level 0, its volume, its numbers. */
typedef void cell_fn(void *user, const double centre[3], double volume, gab_field *now, const int32_t at[3]);

static void visit(const carried *it, cell_fn *see, void *user)
{
  const int dimension = gab_forest_get_options(it->forest)->grid.dimension;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    gab_field *now = gab_block_data(block, gab_lbm_scalar_data(it->scalar));
    int32_t at[3];
    double centre[3];
    for (at[2] = 0; at[2] < now->shape.cells[2]; at[2]++)
      for (at[1] = 0; at[1] < now->shape.cells[1]; at[1]++)
        for (at[0] = 0; at[0] < now->shape.cells[0]; at[0]++) {
          gab_block_cell_centre(it->forest, block, at[0], at[1], at[2], centre);
          see(user, centre, ldexp(1, -dimension * gab_block_level(it->forest, block)), now, at);
        }
  }
}

/* ---- a wave */

typedef struct wave {
  double number, speed, amplitude; /* of k.x - speed t; amplitude now */
  int dimension, steps;
  double error;
} wave;

static double wave_at(const wave *by, const double centre[3])
{
  double phase = -by->speed * by->steps;
  for (int axis = 0; axis < by->dimension; axis++) phase += by->number * centre[axis];
  return by->amplitude * sin(phase);
}

static void set_wave(void *user, const double centre[3], double volume, gab_field *now, const int32_t at[3])
{
  (void)volume;
  gab_field_set(now, at[0], at[1], at[2], 0, wave_at(user, centre));
}

static void compare_wave(void *user, const double centre[3], double volume, gab_field *now,
                         const int32_t at[3])
{
  wave *by = user;
  (void)volume;
  by->error = fmax(by->error, fabs(gab_field_get(now, at[0], at[1], at[2], 0) - wave_at(by, centre)));
}

/* With half the width of cells the flow is half as fast, in four times as many steps. */
static double wave_error(gab_world *world, int dimension, int fine)
{
  const int32_t cells = 16 * fine;
  const double velocity[3] = {0.06 / fine, -0.02 / fine, 0.03 / fine};
  const gab_lbm_scalar_options options = {.name = "wave", .diffusivity = 0.05};
  wave by = {.number = 2 * acos(-1.0) / cells, .amplitude = 1, .dimension = dimension};
  carried it = make(world, dimension, cells, false, false, velocity, &options);
  visit(&it, set_wave, &by);
  by.steps = 60 * fine * fine;
  run(&it, by.steps);
  for (int axis = 0; axis < dimension; axis++) by.speed += by.number * velocity[axis];
  by.amplitude = exp(-options.diffusivity * dimension * by.number * by.number * by.steps);
  visit(&it, compare_wave, &by);
  REQUIRE_OK(gab_world_max_f64(world, &by.error, 1));
  drop(&it);
  return by.error;
}

/* ---- conduction */

typedef struct profile {
  int axis;
  double length, error;
} profile;

static double profile_at(const profile *by, const double centre[3])
{
  return 3 - 2 * centre[by->axis] / by->length;
}

static void set_profile(void *user, const double centre[3], double volume, gab_field *now,
                        const int32_t at[3])
{
  (void)volume;
  gab_field_set(now, at[0], at[1], at[2], 0, profile_at(user, centre));
}

static void compare_profile(void *user, const double centre[3], double volume, gab_field *now,
                            const int32_t at[3])
{
  profile *by = user;
  (void)volume;
  by->error = fmax(by->error, fabs(gab_field_get(now, at[0], at[1], at[2], 0) - profile_at(by, centre)));
}

static void conducts(gab_world *world, int dimension, int axis, bool refined)
{
  enum { CELLS = 8 };
  const double expected = 0.03 * 2 / CELLS * (dimension == 3 ? CELLS * CELLS : CELLS);
  gab_lbm_scalar_options options = {.name = "heat", .diffusivity = 0.03};
  gab_lbm_scalar_flux flux;
  profile by = {.axis = axis, .length = CELLS};
  options.sides[2 * axis] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 3};
  options.sides[2 * axis + 1] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 1};
  carried it = make(world, dimension, CELLS, true, refined, (double[3]){0}, &options);
  visit(&it, set_profile, &by);
  run(&it, 40);
  visit(&it, compare_profile, &by);
  CHECK(by.error < 1e-12);
  REQUIRE_OK(gab_lbm_scalar_measure(it.scalar, axis, &flux));
  CHECK(fabs(flux.lower / expected - 1) < 1e-12 && fabs(flux.upper / expected - 1) < 1e-12);
  CHECK(fabs(flux.volume / CELLS / expected - 1) < 1e-12 && flux.change < 1e-13);
  REQUIRE_OK(gab_lbm_scalar_measure(it.scalar, (axis + 1) % dimension, &flux));
  CHECK(fabs(flux.lower) < 1e-12 && fabs(flux.upper) < 1e-12 && fabs(flux.volume) < 1e-12);
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const double step = ldexp(2.0 / CELLS, -gab_block_level(it.forest, block));
    CHECK(fabs(gab_lbm_scalar_difference(it.scalar, block) / step - 1) < 1e-11);
  }
  drop(&it);
}

/* ---- conservation */

static void set_spot(void *user, const double centre[3], double volume, gab_field *now, const int32_t at[3])
{
  (void)user, (void)volume;
  gab_field_set(now, at[0], at[1], at[2], 0, 1 + sin(centre[0] + 2 * centre[1]) + cos(centre[2] * centre[0]));
}

static void add_value(void *user, const double centre[3], double volume, gab_field *now, const int32_t at[3])
{
  (void)centre;
  gab_exact_add(user, volume * gab_field_get(now, at[0], at[1], at[2], 0));
}

static double sum_of(gab_world *world, const carried *it)
{
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  visit(it, add_value, &sum);
  REQUIRE_OK(gab_world_sum_exact(world, &sum, 1));
  return gab_exact_value(&sum);
}

/* With a flow, also between walls, on one level, on two and on three. */
static void sum_stays(gab_world *world, int dimension, bool closed, int finest)
{
  const double moves = finest > 1 ? 0.05 : 0.1, velocity[3] = {moves, -moves / 2, moves};
  const gab_lbm_scalar_options options = {.name = "salt", .diffusivity = finest > 1 ? 0.006 : 0.03};
  carried it = make(world, dimension, 8, closed, finest, velocity, &options);
  uint64_t level = 0;
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const uint64_t here = (uint64_t)gab_block_level(it.forest, gab_forest_block(it.forest, b));
    level = here > level ? here : level;
  }
  REQUIRE_OK(gab_world_max_u64(world, &level, 1));
  CHECK(level == (uint64_t)finest);
  gab_lbm_scalar_flux flux;
  visit(&it, set_spot, NULL);
  const double before = sum_of(world, &it);
  REQUIRE_OK(gab_lbm_scalar_measure(it.scalar, 0, &flux));
  CHECK(flux.change > 1e-3);
  run(&it, 50);
  CHECK(fabs(sum_of(world, &it) / before - 1) < 1e-13);
  drop(&it);
}

/* The sum changes by the flux through the sides of an axis. */
static void sides_account_for_the_sum(gab_world *world, int dimension, int axis, bool refined)
{
  gab_lbm_scalar_options options = {.name = "heat", .diffusivity = 0.03};
  gab_lbm_scalar_flux flux;
  const double moves = 0.1;
  options.sides[2 * axis] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 2};
  options.sides[2 * axis + 1] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, -1};
  carried it = make(world, dimension, 8, true, refined, (double[3]){moves, moves, moves}, &options);
  visit(&it, set_spot, NULL);
  run(&it, 3);
  const double before = sum_of(world, &it);
  REQUIRE_OK(gab_lbm_scalar_measure(it.scalar, axis, &flux));
  REQUIRE_OK(gab_lbm_scalar_step(it.scalar)); /* with the flow unchanged */
  CHECK(fabs(flux.lower) > 1e-3 && fabs(flux.upper) > 1e-3 && fabs(flux.lower - flux.upper) > 1e-3);
  CHECK(fabs(sum_of(world, &it) - before - (flux.lower - flux.upper)) < 1e-11);
  drop(&it);
}

/* ---- buoyancy */

typedef struct pushed {
  int axis;
  double expected, error;
} pushed;

static void compare_momentum(void *user, const double centre[3], double volume, gab_field *now,
                             const int32_t at[3])
{
  pushed *by = user;
  (void)centre, (void)volume;
  for (int c = 1; c < now->shape.components; c++)
    by->error = fmax(
        by->error, fabs(gab_field_get(now, at[0], at[1], at[2], c) - (c - 1 == by->axis ? by->expected : 0)));
}

static void drives(gab_world *world, int dimension, int axis)
{
  enum { STEPS = 10 };
  gab_lbm_scalar_options options = {.name = "heat", .diffusivity = 0.03, .reference = 0.25};
  options.buoyancy[axis] = 1e-4;
  carried it = make(world, dimension, 8, false, false, (double[3]){0}, &options);
  pushed by = {.axis = axis, .expected = 1e-4 * 0.5 * (STEPS - 0.5)}; /* half of the last push */
  gab_lbm_scalar_fill(it.scalar, 0.75);
  run(&it, STEPS);
  visit(&it, compare_momentum, &by);
  CHECK(by.error < 1e-15);
  drop(&it);
}

/* ---- refused */

struct subject {
  gab_world *world;
};

static gab_status try_with(subject *it, gab_lbm_scalar_options options, gab_side_kind kind,
                           const gab_body *body)
{
  gab_forest_options grid = {.grid = {2, {2, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true}, .dx = 1};
  const gab_side side = {.kind = kind, .density = 1};
  const gab_lbm_options flow = {
      .omega = 1.3, .kernel = "in_place", .sides = {{0}, {0}, side, {.kind = GAB_SIDE_WALL}}};
  const gab_domain domain = gab_lbm_domain(&grid);
  gab_geometry *geometry;
  carried made;
  REQUIRE_OK(gab_geometry_create(&domain, body, body != NULL, &geometry));
  REQUIRE_OK(gab_forest_create(it->world, &grid, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, geometry, &flow, &made.lbm));
  const gab_status status = gab_lbm_scalar_create(made.forest, made.lbm, &options, 0, &made.scalar);
  CHECK(status == GAB_OK || made.scalar == NULL);
  drop(&made);
  gab_geometry_destroy(&geometry);
  return status;
}

static const gab_lbm_scalar_options good = {.name = "heat", .diffusivity = 0.1};

static gab_status no_name(subject *it)
{
  return try_with(it, (gab_lbm_scalar_options){.diffusivity = 0.1}, GAB_SIDE_WALL, NULL);
}
static gab_status too_much(subject *it)
{
  gab_lbm_scalar_options options = good;
  options.diffusivity = 0.26;
  return try_with(it, options, GAB_SIDE_WALL, NULL);
}
static gab_status not_a_number(subject *it)
{
  gab_lbm_scalar_options options = good;
  options.diffusivity = NAN;
  return try_with(it, options, GAB_SIDE_WALL, NULL);
}
static gab_status negative(subject *it)
{
  gab_lbm_scalar_options options = good;
  options.diffusivity = -0.1;
  return try_with(it, options, GAB_SIDE_WALL, NULL);
}
static gab_status too_fast(subject *it)
{
  (void)it;
  return gab_lbm_scalar_check_stable(0.01, 3, 0, 0.2);
}
static gab_status too_fine(subject *it)
{
  (void)it;
  return gab_lbm_scalar_check_stable(0.05, 3, 1, 0.2);
}
static void blow(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                 double *const force[3])
{
  (void)user, (void)block, (void)first;
  for (int32_t i = 0; i < count; i++) force[0][i] = 1e-5;
}
static gab_status driven_otherwise(subject *it)
{
  static const gab_local_force wind = {.name = "wind", .row = blow};
  const gab_lbm_scalar_options heat = {.name = "heat", .diffusivity = 0.1, .buoyancy = {0, 1e-5}};
  carried made = make(it->world, 2, 8, false, false, (double[3]){0}, &good);
  gab_lbm_scalar *second;
  REQUIRE_OK(gab_lbm_set_local_force(made.lbm, &wind));
  const gab_status status = gab_lbm_scalar_create(made.forest, made.lbm, &heat, 0, &second);
  drop(&made);
  return status;
}

static void is_refused(gab_world *world)
{
  subject it = {world};
  static const misuse rows[] = {
      MISUSE(no_name, ARGUMENT, "without a name"),
      MISUSE(too_much, INPUT, "unstable above 1/4"),
      MISUSE(not_a_number, INPUT, "unstable above 1/4"),
      MISUSE(driven_otherwise, ARGUMENT, "has the local force wind"),
      MISUSE(negative, INPUT, "unstable below 0"),
      MISUSE(too_fast, INPUT, "unstable below 0.02"),
      MISUSE(too_fine, INPUT, "unstable above 1/6"),
  };
  are_refused(&it, rows, sizeof rows / sizeof rows[0]);
  CHECK(gab_lbm_scalar_check_stable(0.04, 3, 1, 0.2) == GAB_OK);
  CHECK(try_with(&it, good, GAB_SIDE_FREE_SLIP, NULL) == GAB_OK);
}

/* Velocity of the flow in output: without the half of the force that belongs to the next step. */
static void check_velocity(const carried *it, double expected)
{
  gab_lbm_quantities *view;
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity *velocity;
  double values[3 * 4 * 4];
  REQUIRE_OK(
      gab_lbm_quantities_create(it->forest, it->lbm, &(gab_units){.dx = 1, .dt = 1, .density = 1}, 0, &view));
  REQUIRE_OK(gab_quantity_find(gab_lbm_quantities_list(view, 2, items), "velocity", &velocity));
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    REQUIRE_OK(velocity->evaluate(velocity->user, it->forest, gab_forest_block(it->forest, b), values));
    for (int i = 0; i < 16; i++) CHECK(fabs(values[3 * i + 1] - expected) < 1e-15 && values[3 * i] == 0);
  }
  gab_lbm_quantities_destroy(&view);
}

/* Two scalars that drive one flow: their forces add up, and each sees the momentum with half of both. */
static void both_drive(gab_world *world)
{
  enum { STEPS = 10 };
  const gab_lbm_scalar_options heat = {.name = "heat", .diffusivity = 0.1, .buoyancy = {0, 1e-4}},
                               salt = {.name = "salt", .diffusivity = 0.1, .buoyancy = {0, -3e-5}};
  const gab_forest_options grid = {
      .grid = {2, {2, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true, true}, .dx = 1};
  const gab_lbm_options flow = {.omega = 1.3, .kernel = "in_place"};
  carried it;
  gab_lbm_scalar *second;
  pushed by = {.axis = 1, .expected = (1e-4 - 3e-5) * (STEPS - 0.5)};
  REQUIRE_OK(gab_forest_create(world, &grid, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, NULL, &flow, &it.lbm));
  REQUIRE_OK(gab_lbm_scalar_create(it.forest, it.lbm, &heat, 0, &it.scalar));
  REQUIRE_OK(gab_lbm_scalar_create(it.forest, it.lbm, &salt, 0, &second));
  REQUIRE_OK(gab_forest_build(it.forest, NULL, NULL, 0, gab_balance_distribute, NULL, NULL));
  gab_lbm_scalar_fill(it.scalar, 1);
  gab_lbm_scalar_fill(second, 1);
  run(&it, STEPS);
  visit(&it, compare_momentum, &by);
  CHECK(by.error < 1e-15);
  check_velocity(&it, by.expected);
  gab_lbm_scalar_destroy(&it.scalar); /* in any order: the second one still drives the flow */
  it.scalar = second;
  run(&it, 1);
  by.expected = (1e-4 - 3e-5) * STEPS - 3e-5 / 2;
  visit(&it, compare_momentum, &by);
  CHECK(by.error < 1e-15);
  drop(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++) {
    const double coarse = wave_error(world, dimension, 1), fine = wave_error(world, dimension, 2);
    CHECK(coarse < 0.05 && log2(coarse / fine) > 1.8);
    for (int axis = 0; axis < dimension; axis++) {
      conducts(world, dimension, axis, false);
      conducts(world, dimension, axis, true);
      drives(world, dimension, axis);
      sides_account_for_the_sum(world, dimension, axis, false);
      sides_account_for_the_sum(world, dimension, axis, true);
    }
    sum_stays(world, dimension, false, 0);
    for (int finest = 0; finest <= 2; finest++) sum_stays(world, dimension, true, finest);
  }
  is_refused(world);
  both_drive(world);
  return test_end(&world);
}
