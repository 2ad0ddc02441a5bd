/* SPDX-License-Identifier: Apache-2.0 */
/* A relaxation time per moment. The arithmetic: kernel_cell_impl.h. */
#include "lbm/kernels/kernel_cell_impl.h"
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#include <math.h>

#define MODEL          mrt
#define MODEL_PATH     "/MRT"
#define MRT            1
#define CELL           "lbm/kernels/source/kernel_cell.inc"
#define CELL_RATES     "lbm/kernels/source/kernel_cell_rates.inc"
#define REFERENCE_CELL "lbm/kernels/source/kernel_reference_body.inc"
#define ON_LATTICE     HAS_MRT
#include "lbm/kernels/source/kernel_families.inc"

/* Space: d'Humieres et al. 2002, section 3. Plane: Lallemand & Luo 2000; among the published ones they are
 * stable at the highest speeds and omegas with the equilibrium of second order
 * (tests/lbm/collision/test_von_neumann.c). */
static const gab_mrt_rates usual_rates[] = {
    [2] = {.energy = 1.64, .energy_square = 1.54, .energy_flux = 1.9, .stress = 1.4, .third = 1.98},
    [3] = {.energy = 1.19, .energy_square = 1.4, .energy_flux = 1.2, .stress = 1.4, .third = 1.98}};

/* There is a magic parameter only if the file says so. */
static gab_status read_rates(const gab_config *config, const struct gab_units *units,
                             gab_lbm_options *options)
{
  const struct {
    const char *path;
    double *to;
  } rates[] = {{"lbm.rate_energy", &options->mrt.energy},
               {"lbm.rate_energy_square", &options->mrt.energy_square},
               {"lbm.rate_energy_flux", &options->mrt.energy_flux},
               {"lbm.rate_stress", &options->mrt.stress},
               {"lbm.rate_third", &options->mrt.third}};
  (void)units;
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
    if (gab_config_is_set(config, rates[i].path)) *rates[i].to = gab_config_real(config, rates[i].path);
  const bool has_magic = gab_config_is_set(config, "lbm.magic");
  if (has_magic) options->magic = gab_config_real(config, "lbm.magic");
  if (has_magic && options->mrt.energy_flux > 0)
    return gab_config_fail(config, "lbm.rate_energy_flux",
                           "lbm.magic, %g, gives this rate: one of them is enough", options->magic);
  return GAB_OK;
}

/* A rate of 0 is left to the magic parameter. */
static gab_mrt_rates rates_wanted(const gab_lbm_options *options)
{
  const gab_mrt_rates *usual = &usual_rates[options->lattice->dimension];
  gab_mrt_rates rates = options->mrt;
  if (rates.energy == 0) rates.energy = usual->energy;
  if (rates.energy_square == 0) rates.energy_square = usual->energy_square;
  if (rates.stress == 0) rates.stress = usual->stress;
  if (options->magic > 0) return rates;
  if (rates.energy_flux == 0) rates.energy_flux = usual->energy_flux;
  if (rates.third == 0) rates.third = usual->third;
  return rates;
}

static void fill_rates(gab_lbm_options *options) { options->mrt = rates_wanted(options); }

static gab_status check_rates(const gab_config *config, const struct gab_units *units,
                              const gab_lbm_options *options)
{
  const gab_mrt_rates *rates = &options->mrt;
  const struct {
    const char *path;
    double rate;
  } all[] = {{"lbm.rate_energy", rates->energy},
             {"lbm.rate_energy_square", rates->energy_square},
             {"lbm.rate_energy_flux", rates->energy_flux},
             {"lbm.rate_stress", rates->stress},
             {"lbm.rate_third", rates->third}};
  (void)units;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (!(all[i].rate >= 0 && all[i].rate <= 2))
      return gab_config_fail(config, all[i].path, "a rate of MRT cannot be %g", all[i].rate);
  if (!(options->magic >= 0 && isfinite(options->magic)))
    return gab_config_fail(config, "lbm.magic", "the magic parameter must be positive, not %g",
                           options->magic);
  if (options->magic > 0 && rates->energy_flux > 0)
    return gab_config_fail(
        config, "lbm.rate_energy_flux",
        "MRT: the magic parameter %g gives the rate of the energy flux, so it cannot be %g besides",
        options->magic, rates->energy_flux);
  return GAB_OK;
}

static bool has_magic(const gab_lbm_options *options) { return options->magic > 0; }

static double magic_of(const gab_lbm_options *options, double even)
{
  return has_magic(options) ? options->magic : even * (1 / rates_wanted(options).energy_flux - 0.5);
}

/* The squared norms of the moments: 2394, 252, 72 (24 for the second stress-like one), 8; 36 and 36. */
static void set_rates(const gab_lbm_options *options, gab_collision_rates *rates)
{
  const bool deep = options->lattice->dimension == 3;
  const gab_mrt_rates *mrt = &options->mrt;
  rates->energy = (mrt->energy - rates->even) / (deep ? 2394 : 36);
  rates->energy_square = (mrt->energy_square - rates->even) / (deep ? 252 : 36);
  rates->stress = (mrt->stress - rates->even) / 72;
  rates->third = mrt->third == 0 ? 0 : (mrt->third - rates->odd) / 8;
}

static double *rate_of_energy(gab_lbm_options *options) { return &options->mrt.energy; }

static const char *const keys[] = {"lbm.magic",
                                   "lbm.rate_energy",
                                   "lbm.rate_energy_square",
                                   "lbm.rate_energy_flux",
                                   "lbm.rate_stress",
                                   "lbm.rate_third",
                                   NULL};
static const char *const keys_of_space[] = {"lbm.rate_stress", "lbm.rate_third", NULL};

const gab_collision gab_collision_mrt = {
    .name = "mrt",
    .title = "MRT",
    .doc = "one relaxation time per moment (d'Humieres et al. 2002)",
    .revision = 3, /* since the rates that are left out are the published ones */
    .kernels = &gab_kernels_mrt,
    .lattices = "its orthogonal basis and its rates are those published for D2Q9 and D3Q19",
    .keys = keys,
    .keys_of_space = keys_of_space,
    .read = read_rates,
    .fill = fill_rates,
    .check = check_rates,
    .magic = magic_of,
    .rates = set_rates,
    .bulk = rate_of_energy,
    .has_odd_rate = true,
    .has_magic = has_magic,
    .wave_reynolds = 6,
    .border_reynolds_of_space = 30,
    .calmer = (const char *const[]){"mrt without lbm.magic", NULL},
};
