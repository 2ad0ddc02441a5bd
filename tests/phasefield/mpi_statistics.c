/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* Layers and distances are those of a pattern that is known, for any number of processes and blocks. */
#include "core/messages/collective.h"
#include "phase_common.h"
#include "phasefield/observe/statistics.h"

enum { NX = 24, ACROSS = 12, HEIGHT = 10, SOLID = 6, PERIOD = 12 };

/* ABC along x with a period of 12 cells below row 6, A two cells wider than C; from row 2 on half of it is B
 * (in 3D: where y < 6), which gives lines along y something to cut. */
static void pattern(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const phase_case *given = user;
  const int64_t up = cell[given->dimension - 1], x = cell[0] % PERIOD;
  (void)mu;
  if (up >= SOLID) phi[3] = 1;
  else if (given->dimension == 3 && up >= 2 && cell[1] < ACROSS / 2) phi[1] = 1;
  else phi[x < 5 ? 0 : x < 9 ? 1 : 2] = 1;
}

static phase_run open_pattern(gab_world *world, phase_case *given)
{
  given->dx = 0.5;
  given->options = (gab_phasefield_options){.thermo = symmetric_eutectic(), .epsilon = 1.5, .dt = 1e-3};
  equal_interfaces(&given->options, 1, 1);
  given->options.temperature.value = 1;
  given->options.sides[2 * given->dimension - 2].kind = GAB_PHASEFIELD_CLOSED;
  given->options.sides[2 * given->dimension - 1].kind = GAB_PHASEFIELD_CLOSED;
  given->options.mu[0] = given->options.mu[1] = 1;
  given->options.initial = pattern;
  given->options.initial_user = given;
  return phase_open(world, given);
}

static bool close_to(double got, double expected) { return fabs(got - expected) < 1e-12 * fabs(expected); }

static void check_layers(phase_run *it, int rows_below)
{
  gab_phasefield_layer layers[HEIGHT];
  REQUIRE_OK(gab_phasefield_layers(it->model, 0, HEIGHT, layers));
  for (int row = 0; row < HEIGHT; row++) {
    const double *f = layers[row].fraction;
    REQUIRE(close_to(f[3], row >= SOLID) || f[3] == 0);
    REQUIRE((f[3] == 1) == (row >= SOLID));
    if (row < rows_below)
      REQUIRE(close_to(f[0], 5. / 12) && close_to(f[1], 4. / 12) && close_to(f[2], 3. / 12));
    if (row >= SOLID) REQUIRE(close_to(layers[row].content[0], 1. / 3));
  }
  /* From another row on: the same numbers. */
  gab_phasefield_layer some[3];
  REQUIRE_OK(gab_phasefield_layers(it->model, 4, 3, some));
  for (int row = 0; row < 3; row++) REQUIRE(some[row].fraction[1] == layers[4 + row].fraction[1]);
}

static void in_two_dimensions(gab_world *world, int32_t wide)
{
  phase_case given = {.dimension = 2, .cells = {NX, HEIGHT, 1}, .block = {wide, 5, 1}};
  phase_run it = open_pattern(world, &given);
  gab_phasefield_spacing found;
  check_layers(&it, SOLID);
  REQUIRE_OK(gab_phasefield_measure(it.model, 3, &found));
  REQUIRE(close_to(found.width, 4 * 0.5));
  for (int a = 0; a < 3; a++) REQUIRE(close_to(found.spacing[a], PERIOD * 0.5));
  REQUIRE(isinf(found.spacing[3]));
  REQUIRE_OK(gab_phasefield_measure(it.model, SOLID, &found));
  REQUIRE(isinf(found.width) && isinf(found.spacing[0]));
  REQUIRE(gab_phasefield_measure(it.model, HEIGHT, &found) == GAB_ERR_ARGUMENT);
  phase_close(&it);
}

static void in_three_dimensions(gab_world *world)
{
  phase_case given = {.dimension = 3, .cells = {NX, ACROSS, HEIGHT}, .block = {8, 6, 5}};
  phase_run it = open_pattern(world, &given);
  gab_phasefield_spacing found;
  check_layers(&it, 2);
  /* Row 1: lines along x cut 6 times each, those along y never. */
  const double length = 2 * NX * ACROSS * 0.5;
  REQUIRE_OK(gab_phasefield_measure(it.model, 1, &found));
  REQUIRE(close_to(found.width, length / (6 * ACROSS)));
  for (int a = 0; a < 3; a++) REQUIRE(close_to(found.spacing[a], length / (2 * ACROSS)));
  /* Row 4: half of the lines along x; along y twice in the 16 of 24 columns without B, where B has one piece and A or
   * C the other. */
  REQUIRE_OK(gab_phasefield_measure(it.model, 4, &found));
  REQUIRE(close_to(found.width, length / (6 * ACROSS / 2 + 2 * 16)));
  REQUIRE(close_to(found.spacing[0], length / (2 * ACROSS / 2 + 10)));
  REQUIRE(close_to(found.spacing[1], length / (2 * ACROSS / 2 + 16)));
  REQUIRE(close_to(found.spacing[2], length / (2 * ACROSS / 2 + 6)));
  phase_close(&it);
}

int main(void)
{
  gab_world *world = NULL;
  REQUIRE_OK(gab_world_create(NULL, NULL, &world));
  in_two_dimensions(world, 6);
  in_two_dimensions(world, 12);
  in_three_dimensions(world);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
