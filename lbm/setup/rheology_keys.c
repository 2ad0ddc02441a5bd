/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/rheology_keys.h"

#include "lbm/collision/rheology.h"
#include "lbm/lbm_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POSITIVE .min = 0, .max = INFINITY, .min_excluded = true

enum { NEWTONIAN = -1 };

static const gab_config_key keys[] = {
    {.name = "model",
     .type = GAB_CONFIG_CHOICE,
     .choices = "newtonian|power_law|carreau|herschel_bulkley",
     .default_text = "newtonian",
     .doc =
         "How the viscosity depends on the shear rate g: doc/fluids.md. power_law: consistency g^(exponent - 1). carreau: from viscosity "
         "at rest to viscosity_at_high_shear. herschel_bulkley: a power law and a yield stress."},
    {.name = "consistency",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "Pa s^exponent",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Of power_law and herschel_bulkley. Instead of viscosity and reynolds, which give the viscosity at the shear rate velocity / "
         "length without a yield stress."},
    {.name = "exponent",
     .type = GAB_CONFIG_REAL,
     .min = 0.05,
     .max = 5,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Of all models but newtonian: below 1 thinner in shear, above 1 thicker. Of herschel_bulkley 1 (default): Bingham."},
    {.name = "yield_stress",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .unit = "Pa",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Of herschel_bulkley: shear stress below which the fluid hardly flows."},
    {.name = "regularisation",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Of herschel_bulkley: time m in yield_stress (1 - exp(-m g)) / g (Papanastasiou 1987). Default: 1000 length / velocity."},
    {.name = "relaxation_time",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Of carreau: 1 over the shear rate at which the viscosity begins to change."},
    {.name = "viscosity_at_high_shear",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .unit = "m^2/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Of carreau: kinematic viscosity at high shear rates, below viscosity. Default: 0."},
    {.name = "least_viscosity",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "m^2/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Of all models but newtonian: lower limit of the viscosity. Default: a thousandth of the reference viscosity."},
    {.name = "largest_viscosity",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "m^2/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Of all models but newtonian: upper limit of the viscosity. Default: 1000 times the reference viscosity, and the "
         "yield stress times regularisation over density in addition."},
};
static const gab_config_section section = {
    .path = "fluid", .doc = "", .keys = keys, .count = sizeof keys / sizeof keys[0], .optional = true};

/* Which models have a key. */
#define OF(law) (1U << GAB_RHEOLOGY_##law)
static const struct {
  const char *path;
  unsigned used, needed;
} uses[] = {
    {"fluid.consistency", OF(POWER_LAW) | OF(HERSCHEL_BULKLEY), 0},
    {"fluid.exponent", OF(POWER_LAW) | OF(CARREAU) | OF(HERSCHEL_BULKLEY), OF(POWER_LAW) | OF(CARREAU)},
    {"fluid.yield_stress", OF(HERSCHEL_BULKLEY), OF(HERSCHEL_BULKLEY)},
    {"fluid.regularisation", OF(HERSCHEL_BULKLEY), 0},
    {"fluid.relaxation_time", OF(CARREAU), OF(CARREAU)},
    {"fluid.viscosity_at_high_shear", OF(CARREAU), 0},
    {"fluid.least_viscosity", OF(POWER_LAW) | OF(CARREAU) | OF(HERSCHEL_BULKLEY), 0},
    {"fluid.largest_viscosity", OF(POWER_LAW) | OF(CARREAU) | OF(HERSCHEL_BULKLEY), 0},
};

gab_status gab_rheology_declare(gab_config *config) { return gab_config_declare(config, &section); }

static int law_of(const gab_config *config) { return gab_config_choice_index(config, "fluid.model") - 1; }

static double given(const gab_config *config, const char *path, double otherwise)
{
  return gab_config_is_set(config, path) ? gab_config_real(config, path) : otherwise;
}

static double exponent_of(const gab_config *config) { return given(config, "fluid.exponent", 1); }

static gab_status check_keys(const gab_config *config)
{
  const int law = law_of(config);
  const char *model = gab_config_string(config, "fluid.model");
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
    const bool is_set = gab_config_is_set(config, uses[i].path);
    if (is_set && (law == NEWTONIAN || !(uses[i].used >> law & 1)))
      return gab_config_fail(config, uses[i].path, "has no effect with fluid.model: %s", model);
    if (!is_set && law != NEWTONIAN && uses[i].needed >> law & 1)
      return gab_config_fail(config, "fluid.model", "%s needs %s", model, uses[i].path);
  }
  return GAB_OK;
}

/* fluid.velocity / fluid.length, 1/s. */
static gab_status read_shear_rate(const gab_config *config, double *rate)
{
  if (!gab_config_is_set(config, "fluid.velocity") || !gab_config_is_set(config, "fluid.length"))
    return gab_config_fail(
        config, "fluid.model",
        "%s needs fluid.velocity and fluid.length: their ratio is the reference shear rate",
        gab_config_string(config, "fluid.model"));
  *rate = gab_config_real(config, "fluid.velocity") / gab_config_real(config, "fluid.length");
  return GAB_OK;
}

gab_status gab_rheology_read_viscosity(const gab_config *config, double *viscosity)
{
  const char *path = "fluid.consistency";
  double rate = 0;
  GAB_TRY(check_keys(config));
  if (!gab_config_is_set(config, path)) return GAB_OK;
  if (gab_config_is_set(config, "fluid.viscosity") || gab_config_is_set(config, "fluid.reynolds"))
    return gab_config_fail(config, path,
                           "gives the viscosity already: leave out fluid.viscosity and fluid.reynolds");
  GAB_TRY(read_shear_rate(config, &rate));
  *viscosity = gab_config_real(config, path) / gab_config_real(config, "fluid.density") *
               pow(rate, exponent_of(config) - 1);
  return GAB_OK;
}

gab_status gab_rheology_read(const gab_config *config, const gab_units *units, double viscosity,
                             gab_lbm_options *options)
{
  const int law = law_of(config);
  const double wide = 1000, to_lattice = units->dt / (units->dx * units->dx), nu = viscosity;
  double rate = 0;
  if (law == NEWTONIAN) return GAB_OK;
  if (options->collision != &gab_collision_trt)
    return gab_config_fail(config, "lbm.collision", "must be trt with fluid.model: %s",
                           gab_config_string(config, "fluid.model"));
  gab_rheology fluid = {.law = (gab_rheology_law)law, .exponent = exponent_of(config), .k = nu * to_lattice};
  if (law == GAB_RHEOLOGY_CARREAU) {
    const char *path = "fluid.viscosity_at_high_shear";
    fluid.time = gab_config_real(config, "fluid.relaxation_time") / units->dt;
    fluid.at_high = given(config, path, 0) * to_lattice;
    if (fluid.at_high >= fluid.k)
      return gab_config_fail(config, path, "must be below the viscosity at rest, %g m^2/s", nu);
  } else {
    GAB_TRY(read_shear_rate(config, &rate));
    fluid.k *= pow(rate * units->dt, 1 - fluid.exponent);
  }
  double most = wide * nu;
  if (law == GAB_RHEOLOGY_HERSCHEL_BULKLEY) {
    const double stress = gab_config_real(config, "fluid.yield_stress") / units->density;
    const double time = given(config, "fluid.regularisation", wide / rate);
    fluid.yield = stress * units->dt * units->dt / (units->dx * units->dx);
    fluid.time = time / units->dt;
    most += stress * time;
  }
  const double least = given(config, "fluid.least_viscosity",
                             fmax(nu / wide, given(config, "fluid.viscosity_at_high_shear", 0)));
  most = given(config, "fluid.largest_viscosity", most);
  if (least > most)
    return gab_config_fail(config,
                           gab_config_is_set(config, "fluid.least_viscosity") ? "fluid.least_viscosity"
                                                                              : "fluid.largest_viscosity",
                           "the least viscosity, %g m^2/s, is above the largest, %g", least, most);
  fluid.least = least * to_lattice;
  fluid.largest = most * to_lattice;
  if (gab_rheology_set(&fluid, options) == GAB_OK) return GAB_OK;
  return gab_config_fail(config, "fluid.model", "cannot be: %s", gab_error_message());
}

void gab_rheology_describe(const gab_config *config, const gab_units *units, const gab_lbm_options *options,
                           char *text, size_t capacity)
{
  text[0] = '\0';
  if (options->collision != &gab_collision_rheology) return;
  const gab_rheology fluid = gab_rheology_of(options->numbers);
  const double to_physical = units->dx * units->dx / units->dt;
  const char *model = gab_config_string(config, "fluid.model");
  int used = snprintf(text, capacity, "%s, exponent %g", model, fluid.exponent);
#define APPEND(...)                                                                                          \
  used += (size_t)used < capacity ? snprintf(text + used, capacity - (size_t)used, __VA_ARGS__) : 0
  if (fluid.law != GAB_RHEOLOGY_CARREAU)
    APPEND(", consistency %.4g Pa s^%g",
           fluid.k * to_physical * units->density * pow(units->dt, fluid.exponent - 1), fluid.exponent);
  if (fluid.law == GAB_RHEOLOGY_CARREAU)
    APPEND(", relaxation time %.4g s, at high shear %.4g m^2/s", fluid.time * units->dt,
           fluid.at_high * to_physical);
  if (fluid.law == GAB_RHEOLOGY_HERSCHEL_BULKLEY)
    APPEND(", yield stress %.4g Pa, regularisation %.4g s",
           fluid.yield * units->density * to_physical / units->dt, fluid.time * units->dt);
  APPEND(", viscosity from %.3g to %.3g m^2/s", fluid.least * to_physical, fluid.largest * to_physical);
#undef APPEND
}
