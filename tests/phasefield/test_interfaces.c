/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=120 labels=quick */
/* Interfaces without diffusion: profile, surface energy, motion by driving force and curvature, junctions.
 * Called with the word `table' it prints what came out and what is expected. */
#include "phase_common.h"
#include "table.h"

static gab_world *world;
static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------------------------ a plane front */

typedef struct plane {
  double height; /* in cells */
  int solids;
} plane;

static void plane_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)mu;
  const plane *p = user;
  if ((double)cell[1] + 0.5 < p->height) phi[0] = 1;
  else phi[p->solids] = 1;
}

static phase_case plane_case(plane *p, double resolution, double drive, int32_t length)
{
  phase_case given = {.dimension = 2, .cells = {2, length, 1}, .block = {2, length, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 0, drive);
  given.options.epsilon = resolution;
  equal_interfaces(&given.options, 1, 1);
  given.options.dt = 0.2;
  given.options.initial = plane_state;
  given.options.initial_user = p;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.sides[0].kind = given.options.sides[1].kind = GAB_PHASEFIELD_PERIODIC;
  return given;
}

/* Largest distance from 1/2 (1 - sin(4 x / pi epsilon)) around the place where the fractions say it is. */
static double profile_error(phase_run *it, double epsilon)
{
  const double height = phase_sums(it).fraction[0] / it->cells[0];
  double worst = 0;
  for (int32_t y = 0; y < it->cells[1]; y++) {
    double x = fmax(-pi / 2, fmin(pi / 2, 4 * (y + 0.5 - height) / (pi * epsilon)));
    worst = fmax(worst, fabs(phase_value(it, 'p', 0, y, 0, 0) - 0.5 * (1 - sin(x))));
  }
  return worst;
}

static void a_plane_interface_has_its_profile_and_energy(void)
{
  const double resolutions[2] = {4, 8}, energy[2] = {.9955, .9989};
  double error[2];
  char what[100];
  for (int i = 0; i < 2; i++) {
    plane p = {.height = 30, .solids = 1};
    phase_case given = plane_case(&p, resolutions[i], 0, 60);
    phase_run it = phase_open(world, &given);
    phase_steps(&it, 4000);
    error[i] = profile_error(&it, resolutions[i]);
    snprintf(what, sizeof what, "interface profile, largest error, epsilon/dx = %g", resolutions[i]);
    table_row(what, error[i], 0, 0.01);
    snprintf(what, sizeof what, "surface energy, epsilon/dx = %g", resolutions[i]);
    table_row(what, phase_sums(&it).energy / it.cells[0], energy[i], i == 0 ? 0.0055 : 0.0012);
    phase_close(&it);
  }
  table_row("interface profile, order of the error", log2(error[0] / error[1]), 2, 0.5);
}

/* phi = 1 / (1 + exp(3 x / epsilon)), of the same energy. */
static void the_well_has_its_profile_and_energy(void)
{
  plane p = {.height = 30, .solids = 1};
  phase_case given = plane_case(&p, 4, 0, 60);
  given.options.potential = GAB_POTENTIAL_WELL;
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 3000);
  double worst = 0;
  for (int32_t y = 0; y < it.cells[1]; y++)
    worst = fmax(worst, fabs(phase_value(&it, 'p', 0, y, 0, 0) - 1 / (1 + exp(3 * (y + 0.5 - 30) / 4))));
  table_row("well: interface profile, largest error, epsilon/dx = 4", worst, 0, 0.01);
  table_row("well: surface energy, epsilon/dx = 4", phase_sums(&it).energy / it.cells[0], 1, 0.02);
  phase_close(&it);
}

static void a_driven_front_moves_at_its_speed(void)
{
  const double resolutions[2] = {4, 8}, tolerance[2] = {0.05, 0.03};
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < 2; i++) {
      plane p = {.height = 30, .solids = 1};
      const double drive = 0.04 * 4 / resolutions[i];
      phase_case given = plane_case(&p, resolutions[i], drive, 100);
      given.options.interpolation = (gab_interpolation)h;
      phase_run it = phase_open(world, &given);
      phase_steps(&it, 2000);
      double before = phase_sums(&it).fraction[0];
      phase_steps(&it, 2500);
      double speed = (phase_sums(&it).fraction[0] - before) / it.cells[0] / (2500 * given.options.dt);
      char what[100];
      snprintf(what, sizeof what, "plane front, v tau / (psi_l - psi_s), %s h, epsilon/dx = %g",
               h == 0 ? "Moelans" : "cubic", resolutions[i]);
      table_row(what, speed / drive, 1, tolerance[i]);
      phase_close(&it);
    }
}

/* ------------------------------------------------------------------------------------------ circles */

typedef struct ball {
  int dimension;
  double radius, epsilon;
} ball;

/* A quarter or eighth of a ball around the corner of the domain. */
static void ball_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)mu;
  const ball *b = user;
  double square = 0;
  for (int k = 0; k < b->dimension; k++) square += ((double)cell[k] + 0.5) * ((double)cell[k] + 0.5);
  double x = fmax(-pi / 2, fmin(pi / 2, 4 * (sqrt(square) - b->radius) / (pi * b->epsilon)));
  phi[0] = 0.5 * (1 - sin(x));
  phi[1] = 1 - phi[0];
}

static phase_case ball_case(ball *b, int32_t edge, double drive)
{
  phase_case given = {.dimension = b->dimension, .dx = 1};
  for (int k = 0; k < 3; k++) given.cells[k] = given.block[k] = k < b->dimension ? edge : 1;
  given.options.thermo = simple_system(2, 0, drive);
  given.options.epsilon = b->epsilon;
  equal_interfaces(&given.options, 1, 1);
  given.options.dt = 0.15;
  given.options.initial = ball_state;
  given.options.initial_user = b;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  return given;
}

/* R^2 or R^3 from the volume. */
static double radius_of(phase_run *it, int dimension)
{
  double volume = phase_sums(it).fraction[0];
  return dimension == 2 ? sqrt(4 * volume / pi) : cbrt(6 * volume / pi);
}

static void balls_shrink_by_their_curvature(void)
{
  for (int dimension = 2; dimension <= 3; dimension++) {
    ball b = {.dimension = dimension, .radius = dimension == 2 ? 40 : 26, .epsilon = 4};
    phase_case given = ball_case(&b, dimension == 2 ? 56 : 36, 0);
    phase_run it = phase_open(world, &given);
    phase_steps(&it, 100);
    double before = radius_of(&it, dimension);
    const int steps = dimension == 2 ? 1600 : 500;
    phase_steps(&it, steps);
    double after = radius_of(&it, dimension);
    table_row(dimension == 2 ? "shrinking circle, rate of R^2 / theory"
                             : "shrinking sphere, rate of R^2 / theory",
              (before * before - after * after) / (2 * (dimension - 1) * steps * given.options.dt), 1, 0.02);
    phase_close(&it);
  }
}

/* The drive at which a circle neither grows nor shrinks, from its speed at two drives next to that. */
static void a_circle_is_at_rest_at_the_drive_of_its_curvature(void)
{
  double rate[2];
  const double drives[2] = {0.97 / 30, 1.03 / 30};
  for (int i = 0; i < 2; i++) {
    ball b = {.dimension = 2, .radius = 30, .epsilon = 4};
    phase_case given = ball_case(&b, 44, drives[i]);
    phase_run it = phase_open(world, &given);
    phase_steps(&it, 200);
    double before = radius_of(&it, 2);
    phase_steps(&it, 200);
    rate[i] = radius_of(&it, 2) - before;
    phase_close(&it);
  }
  double balance = drives[0] - rate[0] * (drives[1] - drives[0]) / (rate[1] - rate[0]);
  table_row("Gibbs-Thomson, (psi_l - psi_s) R / gamma at rest", balance * 30, 1, 0.03);
}

/* ------------------------------------------------------------------------------------------ three phases */

enum { WIDTH = 60, HEIGHT = 90 };

/* Grains 0 and 1 side by side below grain 2. */
static void groove_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user, (void)mu;
  phi[cell[1] >= HEIGHT / 2 ? 2 : cell[0] < WIDTH / 2 ? 0 : 1] = 1;
}

static phase_case groove_case(double gamma_between)
{
  phase_case given = {.dimension = 2, .cells = {WIDTH, HEIGHT, 1}, .block = {WIDTH, HEIGHT, 1}, .dx = 1};
  given.options.thermo = simple_system(3, 0, 0);
  given.options.epsilon = 4;
  equal_interfaces(&given.options, 1, 1);
  given.options.gamma[0][1] = given.options.gamma[1][0] = gamma_between;
  given.options.tau[0][1] = given.options.tau[1][0] = gamma_between;
  given.options.triple = 10;
  given.options.dt = 0.16;
  given.options.initial = groove_state;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  return given;
}

/* The boundary between two grains pulls a third one down: in the steady state its surface turns by
 * asin(gamma_01 / 2 gamma) from the wall to the junction, and sinks with that angle times (gamma / tau) /
 * (width / 2). */
static void junctions_have_the_angles_of_young(void)
{
  const double gammas[2] = {1, 0.6};
  for (int i = 0; i < 2; i++) {
    phase_case given = groove_case(gammas[i]);
    phase_run it = phase_open(world, &given);
    phase_steps(&it, 5000);
    double before = phase_sums(&it).fraction[2];
    phase_steps(&it, 2500);
    double speed = (phase_sums(&it).fraction[2] - before) / WIDTH / (2500 * given.options.dt);
    double turned = speed * WIDTH / 2 * 180 / pi, expected = asin(gammas[i] / 2) * 180 / pi;
    table_row(i == 0 ? "triple junction, equal energies: angle of the upper grain"
                     : "triple junction, gamma_12 = 0.6: angle of the upper grain",
              180 - 2 * turned, 180 - 2 * expected, i == 0 ? 2 : 4);
    phase_close(&it);
  }
}

/* Far from the junction the third grain is not in the interface of the other two, not even a little. */
static void a_third_phase_is_absent_from_interfaces_of_two(void)
{
  phase_case given = groove_case(1);
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 1500);
  double foreign = 0, inside = 0;
  for (int32_t y = 0; y < 12; y++)
    for (int32_t x = 0; x < WIDTH; x++) {
      foreign += phase_value(&it, 'p', x, y, 0, 2);
      inside += phase_value(&it, 'p', x, y, 0, 0) * phase_value(&it, 'p', x, y, 0, 1) > 0.1;
    }
  for (int32_t x = 0; x < 6; x++)
    for (int32_t y = 0; y < HEIGHT; y++) foreign += phase_value(&it, 'p', x, y, 0, 1);
  table_row("third phase in interfaces of two, gamma_abc = 10", foreign, 0, 0);
  REQUIRE(inside > 20);
  phase_close(&it);
}

int main(int argc, char **argv)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  table_begin(argc, argv);
  a_plane_interface_has_its_profile_and_energy();
  the_well_has_its_profile_and_energy();
  a_driven_front_moves_at_its_speed();
  balls_shrink_by_their_curvature();
  a_circle_is_at_rest_at_the_drive_of_its_curvature();
  junctions_have_the_angles_of_young();
  a_third_phase_is_absent_from_interfaces_of_two();
  gab_world_destroy(&world);
  return table_failures > 0;
}
