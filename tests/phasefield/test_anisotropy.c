/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=120 labels=quick */
/* Interfaces with four-fold anisotropy: the potential, its derivatives, the shape of a particle in
 * equilibrium, the symmetry of a dendrite. Called with the word `table' it prints what came out and what is
 * expected. */
#include "phase_common.h"
#include "phasefield/phasefield_impl.h"
#include "table.h"

static gab_world *world;
static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------------------------ derivatives */

/* p = d(a^2 |q|^2) / dq against differences of the potential, in random directions. */
static void derived_terms_are_the_derivatives(void)
{
  double worst = 0, largest = 0;
  for (int64_t sample = 0; sample < 2000; sample++) {
    const int dimension = 2 + (int)(sample % 2);
    const double delta = 0.13 * (noise(1, (const int64_t[3]){sample, 0, 0}) - 0.5), step = 1e-5;
    double q[3] = {0}, factor[3];
    for (int k = 0; k < dimension; k++)
      q[k] = 2 * noise(2 + (uint64_t)k, (const int64_t[3]){sample, 0, 0}) - 1;
    (void)gab_phasefield_anisotropy(dimension, delta, q, factor);
    for (int k = 0; k < dimension; k++) {
      double energy[2];
      for (int side = 0; side < 2; side++) {
        double moved[3] = {q[0], q[1], q[2]}, square = 0;
        moved[k] += side ? step : -step;
        const double a = gab_phasefield_anisotropy(dimension, delta, moved, NULL);
        for (int j = 0; j < dimension; j++) square += moved[j] * moved[j];
        energy[side] = a * a * square;
      }
      const double p = 2 * q[k] * factor[k];
      worst = fmax(worst, fabs(p - (energy[1] - energy[0]) / (2 * step)));
      largest = fmax(largest, fabs(p - 2 * q[k]));
    }
  }
  table_row("anisotropy: derivative of the potential, largest error", worst, 0, 1e-8);
  REQUIRE(largest > 0.5);
}

/* ------------------------------------------------------------------------------------------ equilibrium */

enum { EDGE = 40 };

/* A quarter of a disc around the corner. */
static void disc_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)mu;
  const double *radius = user, x = (double)cell[0] + 0.5, y = (double)cell[1] + 0.5;
  phi[0] = 0.5 * (1 - sin(fmax(-pi / 2, fmin(pi / 2, 4 * (sqrt(x * x + y * y) - *radius) / (pi * 4)))));
  phi[1] = 1 - phi[0];
}

/* Where phi of the solid falls through 1/2 along the lower side, or along the diagonal. */
static double reach(const phase_run *it, bool diagonal)
{
  double before = 1;
  for (int64_t i = 0; i < EDGE; i++) {
    const double here = phase_value(it, 'p', i, diagonal ? i : 0, 0, 0);
    if (here < 0.5) return ((double)i - 0.5 + (before - 0.5) / (before - here)) * (diagonal ? sqrt(2) : 1);
    before = here;
  }
  REQUIRE(!"the particle ends inside");
  return 0;
}

/* In a closed box a particle becomes the shape of Wulff: the distance of its faces is a (psi_l - psi_s) /
 * gamma, so with a = 1 + delta cos 4 theta it reaches (1 + delta) / (1 - delta) times as far along the axes
 * as between them. */
static void a_particle_at_rest_has_the_shape_of_wulff(void)
{
  const double delta = 0.05;
  double radius = 24;
  phase_case given = {.dimension = 2, .cells = {EDGE, EDGE, 1}, .block = {EDGE, EDGE, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 0.5, 0.0425);
  given.options.thermo.phase[0].diffusivity = 1;
  given.options.epsilon = 4;
  equal_interfaces(&given.options, 1, 1);
  given.options.anisotropy[0][1] = given.options.anisotropy[1][0] = delta;
  given.options.dt = 0.12;
  given.options.initial = disc_state;
  given.options.initial_user = &radius;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 12000);
  const double along = reach(&it, false), between = reach(&it, true);
  const double mu = phase_value(&it, 'm', EDGE - 1, EDGE - 1, 0, 0),
               inside = phase_value(&it, 'm', 0, 0, 0, 0);
  gab_thermo thermo = given.options.thermo;
  REQUIRE_OK(gab_thermo_prepare(&thermo));
  const double drive =
      gab_thermo_grand_potential(&thermo, 1, 0, &mu) - gab_thermo_grand_potential(&thermo, 0, 0, &mu);
  table_row("shape of Wulff, delta = 0.05: reach along axis / diagonal", along / between,
            (1 + delta) / (1 - delta), 0.01);
  table_row("shape of Wulff: (psi_l - psi_s) reach / gamma along the axis", drive * along, 1 + delta, 0.03);
  table_row("shape of Wulff: mu inside and far outside", inside - mu, 0, 1e-4);
  phase_close(&it);
}

/* The energy of plane interfaces along an axis is gamma (1 + delta), and their width as well. */
static void lower_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user, (void)mu;
  phi[cell[1] < 20 ? 0 : 1] = 1;
}

static void a_plane_interface_has_the_energy_of_its_direction(void)
{
  phase_case given = {.dimension = 2, .cells = {2, 40, 1}, .block = {2, 40, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 0, 0);
  given.options.epsilon = 4;
  equal_interfaces(&given.options, 1, 1);
  given.options.anisotropy[0][1] = given.options.anisotropy[1][0] = 0.06;
  given.options.dt = 0.12;
  given.options.initial = lower_state;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 3000);
  table_row("anisotropy 0.06: energy of an interface across an axis", phase_sums(&it).energy / it.cells[0],
            1.06, 0.0075);
  phase_close(&it);
}

/* ------------------------------------------------------------------------------------------ a dendrite */

enum { BOX = 72 };

static void seed_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user;
  const double x = (double)(2 * cell[0] + 1 - BOX), y = (double)(2 * cell[1] + 1 - BOX);
  const bool solid = x * x + y * y < 4 * 8 * 8;
  phi[solid ? 0 : 1] = 1;
  mu[0] = solid ? 0 : -0.55;
}

/* Every cell equals its images under all mirrors of the square to the last bit; the arms lead. */
static void a_dendrite_has_four_fold_symmetry_to_the_last_bit(const char *kernel)
{
  phase_case given = {.dimension = 2, .cells = {BOX, BOX, 1}, .block = {24, 36, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 1, 0);
  given.options.epsilon = 4;
  equal_interfaces(&given.options, 0.4, 0);
  REQUIRE_OK(gab_thermo_prepare(&given.options.thermo));
  REQUIRE_OK(gab_phasefield_fill_tau(&given.options, 1, (const double[1]){0}));
  given.options.anisotropy[0][1] = given.options.anisotropy[1][0] = 0.05;
  given.options.kinetic_anisotropy[0][1] = given.options.kinetic_anisotropy[1][0] = 0.1;
  given.options.dt = 0.1;
  given.options.kernel = kernel;
  given.options.initial = seed_state;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 1500);
  double apart = 0;
  for (int64_t y = 0; y < BOX / 2; y++)
    for (int64_t x = 0; x <= y; x++) {
      const int64_t u = BOX - 1 - x, v = BOX - 1 - y;
      const int64_t images[7][2] = {{u, y}, {x, v}, {u, v}, {y, x}, {v, x}, {y, u}, {v, u}};
      for (int what = 0; what < 2; what++)
        for (int i = 0; i < 7; i++)
          apart = fmax(apart, fabs(phase_value(&it, what ? 'c' : 'p', x, y, 0, 0) -
                                   phase_value(&it, what ? 'c' : 'p', images[i][0], images[i][1], 0, 0)));
    }
  char what[100];
  snprintf(what, sizeof what, "dendrite, %s kernel: largest difference of mirror images", kernel);
  table_row(what, apart, 0, 0);
  double arm = 0, diagonal = 0;
  for (int64_t i = BOX / 2; i < BOX; i++) {
    arm += phase_value(&it, 'p', i, BOX / 2, 0, 0);
    diagonal += sqrt(2) * phase_value(&it, 'p', i, i, 0, 0);
  }
  if (table_wanted) printf("%-66s %14.8g\n", "  reach along the axis / along the diagonal", arm / diagonal);
  REQUIRE(arm > 1.15 * diagonal && diagonal > 8);
  phase_close(&it);
}

int main(int argc, char **argv)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  table_begin(argc, argv);
  derived_terms_are_the_derivatives();
  a_plane_interface_has_the_energy_of_its_direction();
  a_particle_at_rest_has_the_shape_of_wulff();
  a_dendrite_has_four_fold_symmetry_to_the_last_bit("fast");
  a_dendrite_has_four_fold_symmetry_to_the_last_bit("reference");
  gab_world_destroy(&world);
  return table_failures > 0;
}
