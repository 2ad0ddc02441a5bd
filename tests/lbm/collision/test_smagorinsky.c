/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=120 */
/* The eddy viscosity of Smagorinsky has its definition: a channel driven by a force has the shear rate s of (nu + C^2
 * s) s = g y, y from the centre line, and so a known profile. */
#include "tests/lbm/lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;

enum { HEIGHT = 24 };
static const double viscosity = 0.01, constant = 0.8, acceleration = 3e-5;

static double shear_at(double y)
{
  const double a = constant * constant;
  return (-viscosity + sqrt(viscosity * viscosity + 4 * a * acceleration * y)) / (2 * a);
}

/* The integral of the shear from the wall to the distance y from the centre line, in elementary functions. */
static double speed_at(double y)
{
  const double a = constant * constant, half = HEIGHT / 2.0, b = 4 * a * acceleration;
  const double root = sqrt(viscosity * viscosity + b * half), inner = sqrt(viscosity * viscosity + b * y);
  return (-viscosity * (half - y) + 2 / (3 * b) * (root * root * root - inner * inner * inner)) / (2 * a);
}

static void profile(void *user, const double centre[3], gab_lbm_state *state)
{
  (void)user;
  const double y = centre[1] - HEIGHT / 2.0;
  state->velocity[0] = speed_at(fabs(y));
}

typedef struct comparison {
  double largest, middle;
} comparison;

static void compare(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  comparison *it = user;
  (void)fluid;
  (void)density;
  const double y = fabs((double)cell[1] + 0.5 - HEIGHT / 2.0);
  it->largest = fmax(it->largest, fabs(u[0] - speed_at(y)));
  if (y < 1) it->middle = u[0];
}

static comparison channel(int dimension, const gab_collision *model, double *strain)
{
  flow_case given = {.dimension = dimension,
                     .cells = {4, HEIGHT, dimension == 3 ? 4 : 1},
                     .block = {4, HEIGHT / 2, dimension == 3 ? 4 : 1}};
  given.options = (gab_lbm_options){.collision = model,
                                    .omega = 1 / (3 * viscosity + 0.5),
                                    .smagorinsky = constant,
                                    .force = {acceleration},
                                    .initial = profile};
  given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  flow it = flow_open(world, &given);
  flow_run(&it, dimension == 3 ? 1500 : 6000);
  comparison seen = {0};
  flow_visit(&it, compare, &seen);
  gab_lbm_integrals sums;
  REQUIRE_OK(gab_lbm_integrate(it.lbm, true, &sums));
  *strain = sums.strain / (double)sums.fluid_cells;
  flow_close(&it);
  return seen;
}

static void a_channel_has_the_profile_of_the_turbulent_viscosity(void **state)
{
  (void)state;
  double strain, mean = 0;
  for (int i = 0; i < HEIGHT; i++) { /* S:S = s^2 / 2 */
    const double s = shear_at(fabs(i + 0.5 - HEIGHT / 2.0));
    mean += 0.5 * s * s / HEIGHT;
  }
  for (int dimension = 2; dimension <= 3; dimension++) {
    const comparison seen = channel(dimension, &gab_collision_smagorinsky, &strain);
    if (!(seen.largest < 0.01 * speed_at(0)))
      fail_msg("%dD: the speed differs by up to %g of %g", dimension, seen.largest, speed_at(0));
    if (!(fabs(strain / mean - 1) < 0.01))
      fail_msg("%dD: mean of S:S is %g, not %g", dimension, strain, mean);
  }
  /* Without eddy viscosity the flow is much faster: the comparisons above are significant. */
  const comparison laminar = channel(2, &gab_collision_rr, &strain);
  assert_true(laminar.middle > 1.3 * speed_at(0));
}

int main(void)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_channel_has_the_profile_of_the_turbulent_viscosity),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}
