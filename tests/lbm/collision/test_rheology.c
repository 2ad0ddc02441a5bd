/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=120 */
/* Fluids whose viscosity depends on the shear rate, in channels and pipes that a force drives: the stress is known, the law gives the
 * shear rate, and its integral the velocity. The laws are written here again. */
#include "lbm/collision/rheology.h"
#include "tests/lbm/lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;

/* Stress over density at a shear rate. */
static double stress_at(const gab_rheology *fluid, double g)
{
  const double power = fluid->k * pow(g, fluid->exponent);
  switch (fluid->law) {
  case GAB_RHEOLOGY_POWER_LAW:
    return power;
  case GAB_RHEOLOGY_HERSCHEL_BULKLEY:
    return power + fluid->yield * (1 - exp(-fluid->time * g));
  default:
    break;
  }
  const double share = pow(1 + pow(fluid->time * g, 2), (fluid->exponent - 1) / 2);
  return g * (fluid->at_high + (fluid->k - fluid->at_high) * share);
}

static double shear_rate_of(const gab_rheology *fluid, double stress)
{
  double lo = 1e-12, hi = 1;
  for (int i = 0; i < 48; i++) {
    const double middle = sqrt(lo * hi);
    if (stress_at(fluid, middle) < stress) lo = middle;
    else hi = middle;
  }
  return lo;
}

/* A channel or a pipe; its half height or radius is `half`, the stress there force * half * (pipe: 1/2). */
typedef struct duct {
  gab_rheology fluid;
  double half, force, centre[2];
  bool is_pipe;
} duct;

/* By Simpson's rule from the distance s of the middle to the wall. */
static double speed_at(const duct *of, double s)
{
  enum { PARTS = 32 };
  const double width = (of->half - s) / PARTS, per_length = of->force * (of->is_pipe ? 0.5 : 1);
  double sum = 0;
  for (int i = 0; i <= PARTS; i++) {
    const double weight = i == 0 || i == PARTS ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * shear_rate_of(&of->fluid, per_length * (s + i * width));
  }
  return s < of->half ? sum * width / 3 : 0;
}

static double distance_of(const duct *of, double first, double second)
{
  return of->is_pipe ? hypot(first - of->centre[0], second - of->centre[1]) : fabs(second - of->centre[1]);
}

static void profile(void *user, const double centre[3], gab_lbm_state *state)
{
  const duct *of = user;
  if (of->is_pipe) state->velocity[2] = speed_at(of, distance_of(of, centre[0], centre[1]));
  else state->velocity[0] = speed_at(of, distance_of(of, 0, centre[1]));
}

typedef struct comparison {
  const duct *of;
  double largest, fastest;
} comparison;

static void compare(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  comparison *it = user;
  (void)density;
  if (!fluid) return;
  const double exact = speed_at(it->of, distance_of(it->of, (double)cell[0] + 0.5, (double)cell[1] + 0.5));
  it->largest = fmax(it->largest, fabs(u[it->of->is_pipe ? 2 : 0] - exact));
  it->fastest = fmax(it->fastest, exact);
}

/* @param[in] size  cells of the height or the diameter @return largest error over the largest speed */
static double error_of(gab_rheology fluid, int size, bool is_pipe, int steps)
{
  const double speed = 0.32 / size, rate = speed / size, viscosity = 1. / 6;
  const int32_t width = size + 4;
  duct of = {.fluid = fluid, .half = size / 2., .is_pipe = is_pipe};
  /* `fluid` has units of the reference viscosity and shear rate. */
  of.fluid.k *= fluid.law == GAB_RHEOLOGY_CARREAU ? viscosity : viscosity * pow(rate, 1 - fluid.exponent);
  of.fluid.yield *= viscosity * rate;
  of.fluid.time /= rate;
  of.fluid.at_high *= viscosity;
  of.fluid.least = 1e-4 * viscosity;
  of.fluid.largest = 1e5 * viscosity;
  double lo = 0, hi = 1;
  for (int i = 0; i < 60; i++) {
    of.force = (lo + hi) / 2;
    if (speed_at(&of, 0) < speed) lo = of.force;
    else hi = of.force;
  }
  const gab_body pipe = {.shape = GAB_SHAPE_CYLINDER,
                         .inside_is_fluid = true,
                         .axis = 2,
                         .centre = {width / 2. + 0.1, width / 2. - 0.2, 0},
                         .radius = size / 2.,
                         .wall = GAB_WALL_INTERPOLATED};
  flow_case given = {.dimension = is_pipe ? 3 : 2, .cells = {4, size, 1}, .block = {4, size / 2, 1}};
  of.centre[1] = size / 2.;
  if (is_pipe) {
    memcpy(of.centre, pipe.centre, sizeof of.centre);
    given.cells[0] = given.cells[1] = given.block[0] = given.block[1] = width;
    given.cells[2] = given.block[2] = 2;
    given.bodies = &pipe;
    given.body_count = 1;
  }
  given.options = (gab_lbm_options){
      .omega = 1 / (3 * viscosity + 0.5), .magic = 3. / 16, .initial = profile, .initial_user = &of};
  given.options.force[is_pipe ? 2 : 0] = of.force;
  REQUIRE_OK(gab_rheology_set(&of.fluid, &given.options));
  for (int side = 0; side < (is_pipe ? 4 : 0); side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  flow it = flow_open(world, &given);
  flow_run(&it, steps);
  comparison seen = {.of = &of};
  flow_visit(&it, compare, &seen);
  flow_close(&it);
  return seen.largest / seen.fastest;
}

/* Of a thickening fluid 1 / viscosity has a cusp in the middle of a channel, where the order is 1 + 1 / n. */
static const struct {
  const char *name;
  double order;
  gab_rheology fluid;
} fluids[] = {
    {"power law, exponent 0.5", 1.9, {.law = GAB_RHEOLOGY_POWER_LAW, .k = 1, .exponent = 0.5}},
    {"power law, exponent 1.5", 1.6, {.law = GAB_RHEOLOGY_POWER_LAW, .k = 1, .exponent = 1.5}},
    {"Carreau", 1.9, {.law = GAB_RHEOLOGY_CARREAU, .k = 4, .exponent = 0.3, .time = 1.5, .at_high = 0.2}},
    {"Bingham", 1.9, {.law = GAB_RHEOLOGY_HERSCHEL_BULKLEY, .k = 1, .exponent = 1, .yield = 1, .time = 50}},
    {"Herschel-Bulkley",
     1.9,
     {.law = GAB_RHEOLOGY_HERSCHEL_BULKLEY, .k = 1, .exponent = 0.6, .yield = 0.5, .time = 50}},
};

static void compare_orders(bool is_pipe, int coarse, double lower)
{
  for (size_t i = 0; i < sizeof fluids / sizeof fluids[0]; i += is_pipe ? 2 : 1) {
    double errors[2];
    for (int k = 0; k < 2; k++) {
      const int size = coarse << k;
      errors[k] = error_of(fluids[i].fluid, size, is_pipe, size * size * 6);
    }
    const double order = log2(errors[0] / errors[1]);
    print_message("%s, %s: %.2e, %.2e, order %.2f\n", is_pipe ? "pipe" : "channel", fluids[i].name, errors[0],
                  errors[1], order);
    if (!(order >= fluids[i].order - lower && errors[1] < 0.02))
      fail_msg("%s: errors %g and %g, order %.2f", fluids[i].name, errors[0], errors[1], order);
  }
}

static void channels_converge_with_second_order(void **state)
{
  (void)state;
  compare_orders(false, 16, 0);
}

static void pipes_converge_with_second_order(void **state)
{
  (void)state;
  compare_orders(true, 10, 0.3);
}

static void sponges_with_a_viscosity_are_refused(void **state)
{
  (void)state;
  gab_lbm_options options = {.omega = 1, .magic = 3. / 16};
  const gab_rheology fluid = {
      .law = GAB_RHEOLOGY_POWER_LAW, .k = 0.1, .exponent = 0.5, .least = 0.01, .largest = 1};
  assert_int_equal(gab_rheology_set(&fluid, &options), GAB_OK);
  gab_side *side = &options.sides[GAB_SIDE_X_MAX];
  *side = (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1};
  side->sponge = (gab_sponge){.thickness = 5, .rate = 0.1, .viscosity = 1};
  assert_int_equal(options.collision->check(NULL, NULL, &options), GAB_OK);
  side->sponge.viscosity = 10;
  assert_int_equal(options.collision->check(NULL, NULL, &options), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "boundaries.x_max.sponge_viscosity"));
}

int main(void)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_converge_with_second_order),
      cmocka_unit_test(sponges_with_a_viscosity_are_refused),
      cmocka_unit_test(pipes_converge_with_second_order),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}
