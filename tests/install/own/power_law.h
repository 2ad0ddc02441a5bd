/* SPDX-License-Identifier: Apache-2.0 */
/* A collision of a program's own, cell by cell: a fluid whose shear stress is k times the square root of the rate of shear, a power
 * law with the exponent 1/2; fluid.omega only says with which rate stress is handed on where levels meet. TRT with the magic parameter 3/16 and the force of
 * Guo, Zheng & Shi (2002), its rate that of each cell: with P the second moments beyond equilibrium and S the rate of strain,
 * P = -2 rho S / (3 omega), so that the rate of shear g = sqrt(2 S:S) is the root of g (3 nu + 1/2) = 3 sqrt(P:P / 2) / rho. */
#include "lbm/collision/collision.h"
#include "lbm/lbm.h"

#include <math.h>

static const double thickest = 0.4; /* the rate at rest */

static double power_law_rate(const gab_collision_rates *rates, double rho, double square)
{
  const double k = rates->numbers[0], root = sqrt(9 * k * k + 6 * sqrt(square / 2) / rho) - 3 * k;
  const double omega = root > 0 ? 1 / (3 * k / root + 0.5) : 0;
  return fmax(omega, thickest);
}

static void power_law_cell(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced,
                           double *f)
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
  const double even = power_law_rate(rates, 1 + drho, square), odd = 1 / (0.5 + 3. / 16 / (1 / even - 0.5));
  for (int q = 0; q < lattice->q; q++) {
    const int back = gab_lattice_opposite(q);
    if (back < q) continue;
    const int8_t *c = lattice->c[q];
    const double along = c[0] * force[0] + c[1] * force[1] + c[2] * force[2],
                 with = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    const double sum = 0.5 * (excess[q] + excess[back]), difference = 0.5 * (excess[q] - excess[back]);
    const double both = -even * sum + (1 - 0.5 * even) * lattice->weight[q] * (9 * with * along - 3 * power),
                 one = -odd * difference + (1 - 0.5 * odd) * lattice->weight[q] * 3 * along;
    f[q] += both + one;
    if (back != q) f[back] += both - one;
  }
}

/* The stress is the same in lattice units on all levels, the rate of shear half as large on the next one. */
static void power_law_rates(const gab_lbm_options *options, gab_collision_rates *rates)
{
  rates->numbers[0] = options->numbers[0] * sqrt(ldexp(1, rates->level));
}

static gab_status read_power_law(const gab_config *config, const struct gab_units *units,
                                 gab_lbm_options *options)
{
  (void)units;
  options->numbers[0] = gab_config_real(config, "lbm.consistency");
  return GAB_OK;
}

static double power_law_magic(const gab_lbm_options *options, double even)
{
  (void)options, (void)even;
  return 3. / 16;
}

static const gab_config_key power_law_keys[] = {
    {.name = "consistency",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 1,
     .default_text = "0.01",
     .doc =
         "For collision: power_law. Shear stress over the square root of the rate of shear, in lattice units."}};
static const gab_config_section power_law_section = {
    .path = "lbm", .doc = "For collision: power_law.", .keys = power_law_keys, .count = 1, .optional = true};
static const char *const power_law_own[] = {"lbm.consistency", NULL};

static const gab_collision power_law = {.name = "power_law",
                                        .title = "PowerLaw",
                                        .doc = "a fluid that shear makes thin",
                                        .revision = 1,
                                        .kernels = &gab_collision_kernels_of_cell,
                                        .cell = power_law_cell,
                                        .keys = power_law_own,
                                        .section = &power_law_section,
                                        .read = read_power_law,
                                        .magic = power_law_magic,
                                        .rates = power_law_rates};
