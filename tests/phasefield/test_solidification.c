/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=120 */
/* Solidification with diffusion: equilibrium at rest, conservation, the Stefan problem, temperature,
 * symmetry, the moving window. Called with the word `table' it prints what came out and what is expected. */
#include "phase_common.h"
#include "table.h"

static gab_world *world;
static const double pi = 3.14159265358979323846;

/* The symmetric eutectic in a box of 3 x 3 units of length per cell, closed, isothermal. */
static phase_case eutectic(int32_t width, int32_t height, double temperature)
{
  phase_case given = {.dimension = 2, .cells = {width, height, 1}, .block = {width, height, 1}, .dx = 3};
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = 8;
  equal_interfaces(&given.options, 1, 0.3713);
  given.options.triple = 10;
  given.options.dt = 0.18;
  given.options.interpolation = GAB_INTERPOLATION_CUBIC;
  given.options.temperature.value = temperature;
  given.options.mu[0] = given.options.mu[1] = 1;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.sides[0].kind = given.options.sides[1].kind = GAB_PHASEFIELD_PERIODIC;
  return given;
}

/* Lamellae of given widths side by side up to a height, melt above. */
typedef struct lamellae {
  int32_t ends[3];
  int phase[3];
  int64_t height;
} lamellae;

static void lamellae_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)mu;
  const lamellae *l = user;
  int k = 0;
  while (k < 2 && cell[0] >= l->ends[k]) k++;
  phi[cell[1] < l->height ? l->phase[k] : 3] = 1;
}

/* From a sharp interface solute has to leave its solid side, where little diffuses: that takes its time. */
static void the_eutectic_is_at_rest_at_its_temperature(void)
{
  lamellae l = {.ends = {4, 4, 4}, .phase = {0, 0, 0}, .height = 10};
  for (int solid = 0; solid < 3; solid++) {
    phase_case given = eutectic(4, 20, 1);
    l.phase[0] = solid;
    given.options.initial = lamellae_state;
    given.options.initial_user = &l;
    phase_run it = phase_open(world, &given);
    phase_steps(&it, 42000);
    double before = phase_sums(&it).fraction[solid] / it.cells[0];
    phase_steps(&it, 2000);
    double speed = 3 * (phase_sums(&it).fraction[solid] / it.cells[0] - before) / (2000 * given.options.dt);
    char what[80];
    snprintf(what, sizeof what, "equilibrium at T_E and mu_E, speed of the front of solid %d", solid);
    table_row(what, speed, 0, 1e-6);
    phase_close(&it);
  }
}

/* ------------------------------------------------------------------------------------------ mass */

static void rough_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user;
  const int64_t grain[3] = {cell[0] / 6, cell[1] / 7, 0};
  phi[cell[1] > 14 ? 3 : (int)(noise(1, grain) * 4)] = 1;
  for (int i = 0; i < 2; i++) mu[i] += 0.05 * noise(5 + (uint64_t)i, cell);
}

static void components_are_conserved_in_a_closed_box(void)
{
  for (int k = 0; k < 2; k++) {
    phase_case given = eutectic(36, 30, 0.97);
    given.options.initial = rough_state;
    given.options.kernel = k == 0 ? "fast" : "reference";
    given.options.temperature.gradient = 1e-4;
    given.options.temperature.velocity = 0.02;
    phase_run it = phase_open(world, &given);
    gab_phasefield_integrals before = phase_sums(&it);
    phase_steps(&it, 1000);
    gab_phasefield_integrals after = phase_sums(&it);
    REQUIRE(fabs(after.fraction[3] - before.fraction[3]) > 10);
    for (int i = 0; i < 2; i++)
      table_row(k == 0 ? "sum of c over 1000 steps, fast kernel, relative drift"
                       : "sum of c over 1000 steps, reference kernel, relative drift",
                after.content[i] / before.content[i] - 1, 0, 1e-12);
    phase_close(&it);
  }
}

/* ------------------------------------------------------------------------------------------ Stefan */

enum { STEFAN_LENGTH = 320 };

typedef struct stefan {
  double lambda, omega, start; /* place of the front at the start, in cells of width 1 */
} stefan;

/* Similarity solution: mu = -omega (1 - erfc(x / 2 sqrt(t)) / erfc(lambda)) in the melt, 0 in the solid. */
static void stefan_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const stefan *s = user;
  const double x = (double)cell[1] + 0.5, place = fmax(-pi / 2, fmin(pi / 2, 4 * (x - s->start) / (pi * 4)));
  phi[0] = 0.5 * (1 - sin(place));
  phi[1] = 1 - phi[0];
  const double root = s->start / (2 * s->lambda); /* sqrt(t) */
  mu[0] = x > s->start ? -s->omega * (1 - erfc(x / (2 * root)) / erfc(s->lambda)) : 0;
}

static double stefan_lambda(double omega)
{
  double low = 0, high = 3;
  for (int i = 0; i < 100; i++) {
    double middle = 0.5 * (low + high);
    if (sqrt(pi) * middle * exp(middle * middle) * erfc(middle) < omega) low = middle;
    else high = middle;
  }
  return low;
}

/* lambda from the growth of the square of the place of the front, over theory. */
static double stefan_run(gab_interpolation interpolation, bool trapping)
{
  stefan s = {.omega = 0.5, .start = 40};
  s.lambda = stefan_lambda(s.omega);
  phase_case given = {
      .dimension = 2, .cells = {2, STEFAN_LENGTH, 1}, .block = {2, STEFAN_LENGTH, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 1, 0);
  given.options.epsilon = 4;
  given.options.interpolation = interpolation;
  given.options.no_antitrapping = !trapping;
  equal_interfaces(&given.options, 0.5, 0);
  REQUIRE_OK(gab_thermo_prepare(&given.options.thermo));
  REQUIRE_OK(gab_phasefield_fill_tau(&given.options, 1, (const double[1]){0}));
  given.options.dt = 0.2;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.sides[0].kind = given.options.sides[1].kind = GAB_PHASEFIELD_PERIODIC;
  given.options.sides[3] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {-s.omega}};
  given.options.initial = stefan_state;
  given.options.initial_user = &s;
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 3000);
  double before = phase_sums(&it).fraction[0] / it.cells[0];
  const int steps = 15000;
  phase_steps(&it, steps);
  double after = phase_sums(&it).fraction[0] / it.cells[0];
  phase_close(&it);
  return sqrt((after * after - before * before) / (4 * steps * given.options.dt)) / s.lambda;
}

static void a_front_advances_as_stefan_says(void)
{
  double with = stefan_run(GAB_INTERPOLATION_MOELANS, true),
         without = stefan_run(GAB_INTERPOLATION_MOELANS, false);
  table_row("Stefan, lambda / theory, Moelans h", with, 1, 0.015);
  table_row("Stefan, lambda / theory, cubic h", stefan_run(GAB_INTERPOLATION_CUBIC, true), 1, 0.015);
  if (table_wanted) printf("%-66s %14.8g\n", "Stefan, lambda / theory, Moelans h, without J_at", without);
  REQUIRE(fabs(without - 1) > 3 * fabs(with - 1));
}

/* ------------------------------------------------------------------------------------------ temperature */

static void melt_only(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user, (void)cell, (void)mu;
  phi[1] = 1;
}

/* xi = T / 2 in the melt: in a closed box c stays, mu drifts by -chi^-1 dc/dT dT = dT / 2. */
static void mu_drifts_with_the_temperature_where_c_depends_on_it(void)
{
  phase_case given = {.dimension = 2, .cells = {4, 8, 1}, .block = {4, 8, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 1, 0);
  given.options.thermo.phase[1].linear[0] = sloped(0, 0.5);
  given.options.epsilon = 4;
  equal_interfaces(&given.options, 1, 1);
  given.options.dt = 0.2;
  given.options.temperature = (gab_phasefield_temperature){1, 0, 0};
  given.options.temperature.gradient = 0.1;
  given.options.temperature.velocity = 0.3;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.initial = melt_only;
  for (int k = 0; k < 2; k++) {
    given.cells[1] = given.block[1] = 1; /* one row, so that nothing flows along the gradient */
    given.options.kernel = k == 0 ? "fast" : "reference";
    phase_run it = phase_open(world, &given);
    double c = phase_value(&it, 'c', 1, 0, 0, 0), mu = phase_value(&it, 'm', 1, 0, 0, 0);
    double warm = gab_phasefield_temperature_at(it.model, 0);
    phase_steps(&it, 500);
    double cold = gab_phasefield_temperature_at(it.model, 0);
    table_row("c of a melt that cools", phase_value(&it, 'c', 1, 0, 0, 0) - c, 0, 1e-12);
    table_row("mu of a melt that cools by 3", phase_value(&it, 'm', 1, 0, 0, 0) - mu, 0.5 * (cold - warm),
              1e-12);
    REQUIRE(fabs(cold - warm + 3) < 1e-12);
    phase_close(&it);
  }
}

/* ------------------------------------------------------------------------------------------ symmetry */

static void permuted_solids_grow_alike(void)
{
  double fractions[3][3];
  for (int turn = 0; turn < 3; turn++) {
    lamellae l = {.ends = {9, 21, 36}, .phase = {turn, (turn + 1) % 3, (turn + 2) % 3}, .height = 12};
    phase_case given = eutectic(36, 40, 0.95);
    given.options.initial = lamellae_state;
    given.options.initial_user = &l;
    phase_run it = phase_open(world, &given);
    phase_steps(&it, 1500);
    gab_phasefield_integrals sums = phase_sums(&it);
    for (int k = 0; k < 3; k++) fractions[turn][k] = sums.fraction[l.phase[k]];
    phase_close(&it);
  }
  for (int turn = 1; turn < 3; turn++)
    for (int k = 0; k < 3; k++)
      table_row("fraction of a solid when the solids are permuted, relative",
                fractions[turn][k] / fractions[0][k] - 1, 0, 1e-3);
}

/* ------------------------------------------------------------------------------------------ window */

/* Steps with a moving window, and in a sufficiently long domain: the same to the last bit except for the influence of
 * the ends, noise included. */
static void a_window_shows_what_a_long_domain_does(void)
{
  enum { HEIGHT = 60, STEPS = 16, MOVE = 3 };
  lamellae l = {.ends = {7, 15, 24}, .phase = {0, 1, 2}, .height = 34};
  phase_run runs[2];
  for (int k = 0; k < 2; k++) {
    phase_case given = eutectic(24, k == 0 ? HEIGHT : HEIGHT + MOVE, 0.95);
    given.options.temperature = (gab_phasefield_temperature){0.94, 1e-4, 0.05};
    given.options.thermo.phase[3].linear[1].slope = 1e-3; /* c of the melt moves with T */
    given.options.sides[3] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
    given.options.noise = (gab_phasefield_noise){0.2, 11};
    given.options.initial = lamellae_state;
    given.options.initial_user = &l;
    runs[k] = phase_open(world, &given);
  }
  phase_steps(&runs[0], STEPS / 2);
  REQUIRE_OK(gab_phasefield_shift(runs[0].model, MOVE));
  REQUIRE(gab_phasefield_get_shift(runs[0].model) == MOVE);
  phase_steps(&runs[0], STEPS / 2);
  phase_steps(&runs[1], STEPS);
  int64_t front;
  REQUIRE_OK(gab_phasefield_front(runs[1].model, &front));
  REQUIRE(front >= 33 && front < 38);
  double apart = 0;
  for (int64_t y = STEPS; y < HEIGHT - STEPS - MOVE; y++)
    for (int64_t x = 0; x < 24; x++)
      for (int k = 0; k < 8; k++) {
        const char what = k < 4 ? 'p' : k < 6 ? 'c' : 'm';
        apart = fmax(apart, fabs(phase_value(&runs[0], what, x, y, 0, k < 4 ? k : k % 2) -
                                 phase_value(&runs[1], what, x, y + MOVE, 0, k < 4 ? k : k % 2)));
      }
  table_row("moving window against a long domain, largest difference", apart, 0, 0);
  for (int k = 0; k < 2; k++) phase_close(&runs[k]);
}

/* A driven front below a reservoir, with a moving window: the gain of the domain has entered. */
static void the_ledger_closes(void)
{
  lamellae l = {.ends = {8, 16, 24}, .phase = {0, 1, 2}, .height = 14};
  phase_case given = eutectic(24, 40, 0.9);
  given.options.temperature = (gab_phasefield_temperature){0.9, 1e-4, 0.05};
  given.options.sides[3] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1.01, 0.98}};
  given.options.initial = lamellae_state;
  given.options.initial_user = &l;
  phase_run it = phase_open(world, &given);
  const gab_phasefield_integrals before = phase_sums(&it);
  for (int k = 0; k < 10; k++) {
    phase_steps(&it, 100);
    REQUIRE_OK(gab_phasefield_shift(it.model, 1));
  }
  const gab_phasefield_integrals after = phase_sums(&it);
  double gained[2];
  REQUIRE_OK(gab_phasefield_ledger(it.model, gained));
  for (int i = 0; i < 2; i++) {
    REQUIRE(fabs(gained[i]) > 0.1);
    table_row("in and out with window and reservoir over 1000 steps, relative",
              (after.content[i] - gained[i]) / before.content[i] - 1, 0, 1e-12);
  }
  phase_close(&it);
}

int main(int argc, char **argv)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  table_begin(argc, argv);
  the_eutectic_is_at_rest_at_its_temperature();
  components_are_conserved_in_a_closed_box();
  a_front_advances_as_stefan_says();
  mu_drifts_with_the_temperature_where_c_depends_on_it();
  permuted_solids_grow_alike();
  a_window_shows_what_a_long_domain_does();
  the_ledger_closes();
  gab_world_destroy(&world);
  return table_failures > 0;
}
