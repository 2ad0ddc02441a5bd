/* SPDX-License-Identifier: Apache-2.0 */
/* Large-eddy simulation after Smagorinsky 1963: a turbulent viscosity (C Delta)^2 |S| with Delta the width of a cell
 * and |S| = sqrt(2 S:S), on top of that of the fluid. The rate of strain is in the populations of the cell itself
 * (Hou, Sterling, Chen & Doolen 1996): with n_ij the second moments beyond equilibrium and 1/omega the relaxation time
 * tau, S_ij = -3 n_ij / (2 rho tau), so that tau = tau_0 + 3 C^2 |S| is the root of a quadratic,
 *   tau = (tau_0 + sqrt(tau_0^2 + 18 C^2 sqrt(2 n:n) / rho)) / 2.
 * All else is the recursive-regularised collision, which bears the small viscosities that such runs have. Levels: C
 * is the same on all of them, and Delta the width of their cells. */
#include "lbm/kernels/kernel_cell_impl.h"
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#include <math.h>

#define SQUARE_ROOT(a) _Generic((a), float : sqrtf, default : sqrt)(a)
/* 1 - 1/tau of a cell; norm: n:n, inverse: 1/rho. */
#define KEEP(real, norm, inverse)                                                                            \
  (R(1) - R(2) / (tau + SQUARE_ROOT(GAB_FMA(eddies * (inverse), SQUARE_ROOT(R(2) * (norm)), tau * tau))))
#define KEEP_RATES const REAL tau = R(1 / rates->even), eddies = R(rates->eddies);

#define MODEL          smagorinsky
#define MODEL_PATH     "/Smagorinsky"
#define CELL           "lbm/kernels/source/kernel_cell_recursive.inc"
#define CELL_RATES     "lbm/kernels/source/kernel_cell_recursive_rates.inc"
#define REFERENCE_CELL "lbm/kernels/source/kernel_reference_recursive.inc"
#define ON_LATTICE     HAS_HERMITE
#include "lbm/kernels/source/kernel_families.inc"

static const double usual_constant = 0.1;

static const gab_config_key keys[] = {
    {.name = "smagorinsky",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 1,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Constant C of the turbulent viscosity (C dx)^2 |S|. Default: 0.1, for shear flows; 0.16 "
            "to 0.2 for isotropic turbulence."},
};
static const gab_config_section section = {.path = "lbm",
                                           .doc = "Only with `collision: smagorinsky`.",
                                           .keys = keys,
                                           .count = sizeof keys / sizeof keys[0],
                                           .optional = true};
static const char *const own_keys[] = {"lbm.smagorinsky", NULL};

static gab_status read_constant(const gab_config *config, const struct gab_units *units,
                                gab_lbm_options *options)
{
  (void)units;
  if (gab_config_is_set(config, "lbm.smagorinsky"))
    options->smagorinsky = gab_config_real(config, "lbm.smagorinsky");
  return GAB_OK;
}

static void fill_constant(gab_lbm_options *options)
{
  if (options->smagorinsky == 0) options->smagorinsky = usual_constant;
}

static gab_status check_constant(const gab_config *config, const struct gab_units *units,
                                 const gab_lbm_options *options)
{
  (void)units;
  if (!(options->smagorinsky > 0 && options->smagorinsky <= 1))
    return gab_config_fail(config, "lbm.smagorinsky",
                           "the constant of Smagorinsky must be above 0 and at most 1, not %g",
                           options->smagorinsky);
  return GAB_OK;
}

static void set_eddies(const gab_lbm_options *options, gab_collision_rates *rates)
{
  rates->eddies = 18 * options->smagorinsky * options->smagorinsky;
}

static double rate_of_stress(const gab_collision_rates *rates, double rho, double square)
{
  const double tau = 1 / rates->even;
  return 2 / (tau + sqrt(tau * tau + rates->eddies * sqrt(2 * square) / rho));
}

static double magic_of_omega(const gab_lbm_options *options, double even)
{
  (void)options;
  return even * even;
}

const gab_collision gab_collision_smagorinsky = {
    .name = "smagorinsky",
    .title = "Smagorinsky",
    .doc = "rr with a turbulent viscosity of each cell (Smagorinsky 1963)",
    .revision = 2, /* since walls that move give momentum of third order, too */
    .kernels = &gab_kernels_smagorinsky,
    .keys = own_keys,
    .section = &section,
    .read = read_constant,
    .fill = fill_constant,
    .check = check_constant,
    .equilibrium_beyond = gab_collision_equilibrium_beyond,
    .magic = magic_of_omega,
    .rates = set_eddies,
    .rate_of_stress = rate_of_stress,
};
