/* SPDX-License-Identifier: Apache-2.0 */
/* A collision model of a program: a power-law fluid of exponent 1/2, whose shear stress is K times the square root of the shear rate.
 *
 *   gabion-launch -n 2 build/bin/own_collision run apps/tutorial/own_collision.yaml
 *
 * The page: doc/own-collision.md. */
#include "apps/driver/flow/flow.h"
#include "lbm/collision/collision.h"
#include "lbm/lbm.h"
#include "lbm/setup/units.h"

#include <math.h>
#include <stdio.h>

static const double smallest_rate =
    0.4; /* relaxation rate of a fluid at rest, whose viscosity would be infinite */

/* With P the second moments beyond equilibrium and S the strain rate, P = -2 rho S / (3 omega). */
static double rate_of_cell(double k, double rho, double square)
{
  const double root = sqrt(9 * k * k + 6 * sqrt(square / 2) / rho) - 3 * k;
  return fmax(root > 0 ? 1 / (3 * k / root + 0.5) : 0, smallest_rate);
}

static void collide(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced, double *f)
{
  const double *force = rates->force;
  double drho = 0, u[3] = {0, 0, 0}, excess[GAB_LATTICE_MAX_Q], square = 0, power = 0;
  (void)forced;
  for (int q = 0; q < lattice->q; q++) {
    drho += f[q];
    for (int axis = 0; axis < 3; axis++) u[axis] += lattice->c[q][axis] * f[q];
  }
  for (int axis = 0; axis < 3; axis++) {
    u[axis] = (u[axis] + 0.5 * force[axis]) / (1 + drho);
    power += u[axis] * force[axis];
  }
  for (int q = 0; q < lattice->q; q++) excess[q] = f[q] - gab_lattice_equilibrium(lattice, q, drho, u);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double moment = 0.5 * (u[i] * force[j] + u[j] * force[i]);
      for (int q = 0; q < lattice->q; q++) moment += lattice->c[q][i] * lattice->c[q][j] * excess[q];
      square += moment * moment;
    }
  const double even = rate_of_cell(rates->numbers[0], 1 + drho, square),
               odd = 1 / (0.5 + 3. / 16 / (1 / even - 0.5));
  for (int q = 0; q < lattice->q; q++) { /* TRT with the force of Guo, Zheng & Shi (2002) */
    const int back = gab_lattice_opposite(q);
    if (back < q) continue;
    double cf = 0, cu = 0;
    for (int axis = 0; axis < 3; axis++) {
      cf += lattice->c[q][axis] * force[axis];
      cu += lattice->c[q][axis] * u[axis];
    }
    const double w = lattice->weight[q];
    const double both =
        -even * 0.5 * (excess[q] + excess[back]) + (1 - 0.5 * even) * w * (9 * cu * cf - 3 * power);
    const double one = -odd * 0.5 * (excess[q] - excess[back]) + (1 - 0.5 * odd) * w * 3 * cf;
    f[q] += both + one;
    if (back != q) f[back] += both - one;
  }
}

/* Physical units: K in Pa s^(1/2), by density in m^2 / s^(3/2). */
static gab_status read(const gab_config *config, const gab_units *units, gab_lbm_options *options)
{
  options->numbers[0] = gab_config_real(config, "lbm.consistency") / units->density * units->dt *
                        sqrt(units->dt) / (units->dx * units->dx);
  return GAB_OK;
}

static gab_status check(const gab_config *config, const gab_units *units, const gab_lbm_options *options)
{
  (void)units;
  if (options->numbers[0] > 0 && options->numbers[0] < 1) return GAB_OK;
  return gab_config_fail(config, "lbm.consistency", "is %g in lattice units: must be below 1; lower units.dt",
                         options->numbers[0]);
}

/* Stress keeps its lattice value on finer levels, the shear rate halves from one level to the next. */
static void scale(const gab_lbm_options *options, gab_collision_rates *rates)
{
  rates->numbers[0] = options->numbers[0] * sqrt(ldexp(1, rates->level));
}

static double magic(const gab_lbm_options *options, double even)
{
  (void)options, (void)even;
  return 3. / 16;
}

static const gab_config_key keys[] = {{.name = "consistency",
                                       .type = GAB_CONFIG_REAL,
                                       .min = 0,
                                       .min_excluded = true,
                                       .max = INFINITY,
                                       .unit = "Pa s^0.5",
                                       .default_text = "1",
                                       .doc = "Shear stress over the square root of the shear rate."}};
static const gab_config_section section = {
    .path = "lbm", .doc = "With collision: power_law.", .keys = keys, .count = 1, .optional = true};
static const char *const own[] = {"lbm.consistency", NULL};
static const gab_collision power_law = {.name = "power_law",
                                        .title = "PowerLaw",
                                        .doc = "a shear-thinning fluid",
                                        .revision = 1,
                                        .kernels = &gab_collision_kernels_of_cell,
                                        .cell = collide,
                                        .keys = own,
                                        .section = &section,
                                        .read = read,
                                        .check = check,
                                        .magic = magic,
                                        .rates = scale};

int main(int argc, char **argv)
{
  const gab_solver *const solvers[] = {&gab_solver_flow};
  if (gab_collision_register(&power_law) != GAB_OK) {
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  return gab_app_main(argc, argv, solvers, 1);
}
