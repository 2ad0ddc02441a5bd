/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/campaign/refined_case.h"

#include "lbm/setup/turbulence.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static gab_status set(gab_app_refined *refined, const char *format, ...) GAB_PRINTF(2, 3);
static gab_status set(gab_app_refined *refined, const char *format, ...)
{
  if (refined->count == GAB_APP_MOST_SETTINGS)
    GAB_FAIL(GAB_ERR_INPUT, "more than %d parameters depend on the grid", GAB_APP_MOST_SETTINGS);
  char *text = refined->settings[refined->count++];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, GAB_APP_SETTING_LENGTH, format, arguments);
  va_end(arguments);
  if (length >= GAB_APP_SETTING_LENGTH) GAB_FAIL(GAB_ERR_INPUT, "too long for another grid: %s", text);
  return GAB_OK;
}

static gab_status set_number(gab_app_refined *refined, const gab_config_number *number, double times)
{
  char text[GAB_APP_SETTING_LENGTH];
  size_t used = 0;
  for (size_t i = 0; i < number->count && used < sizeof text; i++) {
    if (i > 0) used += (size_t)snprintf(text + used, sizeof text - used, ", ");
    if (used >= sizeof text) break;
    if (number->ints)
      used += (size_t)snprintf(text + used, sizeof text - used, "%" PRId64,
                               number->ints[i] * (int64_t)llround(times));
    else used += (size_t)snprintf(text + used, sizeof text - used, "%.17g", number->reals[i] * times);
  }
  if (used >= sizeof text) GAB_FAIL(GAB_ERR_INPUT, "too long for another grid: %s", number->path);
  const bool is_list = number->key->length_max > 0;
  return set(refined, "%s=%s%s%s", number->path, is_list ? "[" : "", text, is_list ? "]" : "");
}

static bool begins(const char *path, const char *section)
{
  return strncmp(path, section, strlen(section)) == 0;
}

/* By how much a number that was given changes; 1: not at all. */
static double change_of(const gab_config_number *number, double factor, double steps)
{
  static const char *const kept[] = {"balance.", "resilience.", "initial.", "domain.block",
                                     "fluid.mean_velocity_every"};
  const char *path = number->path, *unit = number->key->unit ? number->key->unit : "";
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
    if (begins(path, kept[i])) return 1;
  if (strcmp(path, "domain.dx") == 0) return 1 / factor;
  if (strcmp(path, "units.dt") == 0) return 1 / steps;
  if (strcmp(path, "run.steps") == 0 || strcmp(unit, "steps") == 0) return steps;
  if (strcmp(unit, "cells") == 0) return factor;
  return strcmp(unit, "cells per step") == 0 ? factor / steps : 1;
}

/* The time step, unless a number that was given says it. */
static gab_status set_step(const gab_app_case *which, double factor, gab_app_scaling scaling,
                           gab_app_refined *refined)
{
  const gab_config *config = which->config;
  const double steps = scaling == GAB_APP_SCALING_DIFFUSIVE ? factor * factor : factor;
  const bool has_omega = gab_config_is_set(config, "fluid.omega");
  const bool has_viscosity = gab_config_is_set(config, "fluid.viscosity") ||
                             gab_config_is_set(config, "fluid.reynolds") ||
                             gab_config_is_set(config, "fluid.consistency");
  if (scaling == GAB_APP_SCALING_ACOUSTIC && has_omega)
    return gab_config_fail(
        config, "fluid.omega",
        "acoustic scaling changes it: give the viscosity and the time step instead (units), or "
        "--scaling diffusive");
  if (gab_config_is_set(config, "units.dt") || gab_config_is_set(config, "units.lattice_velocity") ||
      (has_omega && has_viscosity))
    return GAB_OK;
  return set(refined, "units.dt=%.17g", which->dt / steps);
}

/* Rounded to whole steps, a time would be another one on each grid. */
static gab_status set_time(const gab_app_case *which, gab_app_refined *refined)
{
  if (!gab_config_is_set(which->config, "run.time")) return GAB_OK;
  const double time = gab_config_real(which->config, "run.time"), taken = (double)which->steps * which->dt;
  return fabs(taken - time) <= 1e-9 * time ? GAB_OK : set(refined, "run.time=%.17g", taken);
}

/* Without `shortest` a finer grid would start with shorter waves, another flow. */
static gab_status set_waves(const gab_app_case *which, gab_app_refined *refined)
{
  const gab_forest_options *domain = &which->domain;
  double shortest = 4 * domain->dx;
  if (strcmp(gab_config_string(which->config, "initial.type"), "turbulence") != 0 ||
      gab_config_is_set(which->config, "initial.shortest"))
    return GAB_OK;
  for (int axis = 0; axis < domain->grid.dimension; axis++)
    shortest = fmax(shortest, (double)domain->grid.roots[axis] * domain->cells[axis] * domain->dx /
                                  GAB_TURBULENCE_MOST_WAVES);
  return set(refined, "initial.shortest=%.17g", shortest);
}

/* The default of sponge_damping depends on the cells of the layer. */
static gab_status check_sponge(const gab_config *config, const char *path)
{
  char damping[GAB_CONFIG_PATH_CAPACITY];
  const char *dot = strrchr(path, '.');
  if (!dot || strcmp(dot + 1, "sponge_thickness") != 0) return GAB_OK;
  gab_config_path(damping, "%.*s.sponge_damping", (int)(dot - path), path);
  return gab_config_is_set(config, damping)
             ? GAB_OK
             : gab_config_fail(
                   config, path,
                   "needs sponge_damping to be the same on all grids: its default depends on the cells "
                   "of the layer");
}

gab_status gab_app_refine_case(const gab_app_case *which, int64_t factor, gab_app_scaling scaling,
                               gab_app_refined *refined)
{
  const double times = (double)factor, steps = scaling == GAB_APP_SCALING_DIFFUSIVE ? times * times : times;
  gab_config_number number;
  refined->count = 0;
  if (strcmp(which->solver->name, "flow") != 0)
    GAB_FAIL(GAB_ERR_INPUT, "solver '%s': only flows can be converted to another grid", which->solver->name);
  if (factor == 1) return GAB_OK;
  for (size_t at = 0; gab_config_next_number(which->config, &at, &number);) {
    const double change = change_of(&number, times, steps);
    GAB_TRY(check_sponge(which->config, number.path));
    if (change != 1) GAB_TRY(set_number(refined, &number, change));
  }
  if (!gab_config_is_set(which->config, "domain.dx") && !gab_config_is_set(which->config, "domain.length"))
    GAB_TRY(set(refined, "domain.dx=%.17g", 1 / times));
  GAB_TRY(set_time(which, refined));
  GAB_TRY(set_waves(which, refined));
  return set_step(which, times, scaling, refined);
}
