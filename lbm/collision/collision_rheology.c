/* SPDX-License-Identifier: Apache-2.0 */
/* TRT with a viscosity that depends on the shear rate of the cell. With n_ij the second moments that arrive beyond equilibrium,
 * S_ij = -3 omega n_ij / (2 rho) and 1/omega = 3 nu + 1/2. So the shear rate g = sqrt(2 S:S) solves
 *   3 nu(g) g + g / 2 = 3 sqrt(2 n:n) / (2 rho),
 * in which the left side grows with g. On level L a step is 2^-L of one of level 0, and so is g; stress over density is the same in
 * lattice units of all levels. With g of level 0 only the second term changes, to g / 2^(L + 1). */
#include "lbm/collision/rheology.h"
#include "lbm/lbm_impl.h"

#include <math.h>

enum { LAW, K, EXPONENT, YIELD, TIME, AT_HIGH, LEAST, LARGEST };

gab_rheology gab_rheology_of(const double numbers[GAB_COLLISION_NUMBERS])
{
  return (gab_rheology){.law = (gab_rheology_law)numbers[LAW],
                        .k = numbers[K],
                        .exponent = numbers[EXPONENT],
                        .yield = numbers[YIELD],
                        .time = numbers[TIME],
                        .at_high = numbers[AT_HIGH],
                        .least = numbers[LEAST],
                        .largest = numbers[LARGEST]};
}

static bool is_valid(const gab_rheology *fluid)
{
  const bool is_known = fluid->law >= GAB_RHEOLOGY_POWER_LAW && fluid->law <= GAB_RHEOLOGY_HERSCHEL_BULKLEY;
  return is_known && fluid->k > 0 && isfinite(fluid->k) && fluid->exponent > 0 && isfinite(fluid->exponent) &&
         fluid->yield >= 0 && isfinite(fluid->yield) && fluid->time >= 0 && isfinite(fluid->time) &&
         fluid->at_high >= 0 && (fluid->at_high == 0 || fluid->at_high < fluid->k) && fluid->least > 0 &&
         fluid->largest >= fluid->least && isfinite(fluid->largest);
}

gab_status gab_rheology_set(const gab_rheology *fluid, gab_lbm_options *options)
{
  if (!is_valid(fluid))
    GAB_FAIL(
        GAB_ERR_ARGUMENT,
        "not a fluid: k %g, exponent %g, yield stress %g, time %g, viscosity at high shear rates %g, from %g to %g",
        fluid->k, fluid->exponent, fluid->yield, fluid->time, fluid->at_high, fluid->least, fluid->largest);
  options->collision = &gab_collision_rheology;
  double *numbers = options->numbers;
  numbers[LAW] = fluid->law;
  numbers[K] = fluid->k;
  numbers[EXPONENT] = fluid->exponent;
  numbers[YIELD] = fluid->yield;
  numbers[TIME] = fluid->time;
  numbers[AT_HIGH] = fluid->at_high;
  numbers[LEAST] = fluid->least;
  numbers[LARGEST] = fluid->largest;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ viscosity */

/* @param[in] log_g  logarithm of the shear rate g @param[out] slope  derivative of nu(g) g, above 0 */
static double viscosity_at(const gab_rheology *fluid, double g, double log_g, double *slope)
{
  double nu = 0;
  if (fluid->law == GAB_RHEOLOGY_CARREAU) {
    const double square = fluid->time * g * (fluid->time * g);
    const double varies = (fluid->k - fluid->at_high) * pow(1 + square, 0.5 * (fluid->exponent - 1));
    nu = fluid->at_high + varies;
    *slope = nu + varies * (fluid->exponent - 1) * square / (1 + square);
  } else {
    nu = fluid->exponent == 1 ? fluid->k : fluid->k * exp((fluid->exponent - 1) * log_g);
    *slope = fluid->exponent * nu;
    if (fluid->yield > 0) {
      const double lost = expm1(-fluid->time * g);
      nu -= fluid->yield * lost / g;
      *slope += fluid->yield * fluid->time * (1 + lost);
    }
  }
  if (nu > fluid->least && nu < fluid->largest) return nu;
  return *slope = fmin(fmax(nu, fluid->least), fluid->largest);
}

double gab_rheology_viscosity(const gab_rheology *fluid, double shear_rate)
{
  const double least = 1e-100; /* laws divide by the shear rate */
  const double g = fmax(shear_rate, least);
  double slope;
  return viscosity_at(fluid, g, log(g), &slope);
}

/* A shear rate near that of a viscous stress over density. */
static double guess(const gab_rheology *fluid, double reference, double stress)
{
  if (fluid->law == GAB_RHEOLOGY_CARREAU) return stress / reference;
  const double plug = 0.9 * fluid->yield;
  if (stress < plug) return -log1p(-stress / fluid->yield) / fluid->time;
  return pow((stress - plug) / fluid->k, 1 / fluid->exponent);
}

/* The viscosity at which 3 nu(g) g + half g = stress: by Newton's method for the logarithms of both sides, which are close to lines,
 * kept between bounds. The last step needs no further value of the law, since the equation itself gives nu. */
static double viscosity_of_stress(const gab_rheology *fluid, double reference, double half, double stress)
{
  enum { MOST = 60 };
  const double near = 1e-7; /* squared by the last step */
  double lo = stress / (3 * fluid->largest + half), hi = stress / (3 * fluid->least + half), slope;
  if (!(lo > 1e-100)) return gab_rheology_viscosity(fluid, 0); /* at rest, or not a number */
  double g = fmin(fmax(1 / (1 / guess(fluid, reference, stress / 3) + half / stress), lo), hi),
         log_g = log(g);
  for (int i = 0; i < MOST; i++) {
    const double found = (3 * viscosity_at(fluid, g, log_g, &slope) + half) * g;
    const double step = log(stress / found) * found / ((3 * slope + half) * g);
    const bool is_near = fabs(found - stress) <= near * stress;
    if (found < stress) lo = g;
    else hi = g;
    log_g += step;
    g = exp(log_g);
    if (is_near) break;
    if (g > lo && g < hi) continue;
    g = sqrt(lo) * sqrt(hi);
    log_g = log(g);
  }
  return fmin(fmax((stress / g - half) / 3, fluid->least), fluid->largest);
}

/* ------------------------------------------------------------------------------------------ a cell */

static double rate_of_strain(const gab_collision_rates *rates, double shear_rate)
{
  const gab_rheology fluid = gab_rheology_of(rates->numbers);
  return 1 / (3 * ldexp(gab_rheology_viscosity(&fluid, shear_rate), rates->level) + 0.5);
}

static double rate_of_stress(const gab_collision_rates *rates, double rho, double square)
{
  const gab_rheology fluid = gab_rheology_of(rates->numbers);
  const double reference = ldexp((1 / rates->even - 0.5) / 3, -rates->level);
  const double nu =
      viscosity_of_stress(&fluid, reference, ldexp(0.5, -rates->level), 1.5 * sqrt(2 * square) / rho);
  return 1 / (3 * ldexp(nu, rates->level) + 0.5);
}

/* n:n of what arrives: second moments without those of the equilibrium, rho u u + drho / 3. */
static double square_of_moments(const gab_lattice *lattice, const double force[3], const double *f,
                                double *rho)
{
  double drho = f[0], u[3] = {0, 0, 0}, moment[3][3] = {{0}}, square = 0;
  for (int q = 1; q < lattice->q; q++) {
    const double c[3] = {lattice->c[q][0], lattice->c[q][1], lattice->c[q][2]};
    drho += f[q];
    for (int i = 0; i < 3; i++) {
      u[i] += c[i] * f[q];
      for (int j = i; j < 3; j++) moment[i][j] += c[i] * c[j] * f[q];
    }
  }
  *rho = 1 + drho;
  for (int axis = 0; axis < 3; axis++) u[axis] = (u[axis] + 0.5 * force[axis]) / *rho;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      const bool is_pressure = i == j && i < lattice->dimension;
      const double beyond = moment[i][j] - (is_pressure ? drho / 3 : 0) - *rho * u[i] * u[j] +
                            0.5 * (u[i] * force[j] + u[j] * force[i]);
      square += (i == j ? 1 : 2) * (beyond * beyond);
    }
  return square;
}

static void collide(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced, double *f)
{
  double rho;
  const double square = square_of_moments(lattice, rates->force, f, &rho);
  const double magic = (1 / rates->even - 0.5) * (1 / rates->odd - 0.5);
  gab_collision_rates here = *rates;
  here.even = rate_of_stress(rates, rho, square);
  here.odd = 1 / (0.5 + magic / (1 / here.even - 0.5));
  gab_collide_two_rates(lattice, &here, forced, f);
}

/* They scale the stress as if the rate of the cell was that of the level. */
gab_status gab_rheology_check_sides(const gab_config *config, const gab_lbm_options *options)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  if (options->collision != &gab_collision_rheology) return GAB_OK;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_sponge *sponge = &gab_lbm_condition(options, k)->sponge;
    const bool has_eddies = sponge->roughness > 0;
    if (!has_eddies && !(sponge->viscosity > 1)) continue;
    return gab_config_fail(
        config,
        gab_config_path(path, "%s.%s", gab_condition_path(options->patches, k),
                        has_eddies ? "eddy_height" : "sponge_viscosity"),
        "needs fluid.model: newtonian: it would lower the viscosity of cells above that of the reference");
  }
  return GAB_OK;
}

static gab_status check(const gab_config *config, const struct gab_units *units,
                        const gab_lbm_options *options)
{
  const gab_rheology fluid = gab_rheology_of(options->numbers);
  if (!is_valid(&fluid)) return gab_config_fail(config, "fluid.model", "has numbers that cannot be");
  GAB_TRY(gab_rheology_check_sides(config, options));
  return gab_collision_trt.check(config, units, options);
}

static gab_status read(const gab_config *config, const struct gab_units *units, gab_lbm_options *options)
{
  return gab_collision_trt.read(config, units, options);
}

static void fill(gab_lbm_options *options) { gab_collision_trt.fill(options); }

static double magic_of(const gab_lbm_options *options, double even)
{
  return gab_collision_trt.magic(options, even);
}

static bool always(const gab_lbm_options *options)
{
  (void)options;
  return true;
}

static const char *const keys[] = {"lbm.magic", "fluid.least_viscosity", NULL};

const gab_collision gab_collision_rheology = {
    .name = "trt with fluid.model",
    .title = "TRT-rheology",
    .doc = "TRT with a viscosity that depends on the shear rate",
    .kernels = &gab_collision_kernels_of_cell,
    .cell = collide,
    .keys = keys,
    .read = read,
    .fill = fill,
    .check = check,
    .magic = magic_of,
    .rate_of_stress = rate_of_stress,
    .rate_of_strain = rate_of_strain,
    .has_odd_rate = true,
    .has_magic = always,
    .wave_reynolds = 15,
    .calmer = (const char *const[]){NULL},
};
