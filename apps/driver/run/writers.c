/* SPDX-License-Identifier: Apache-2.0 */
/* Writers of all solvers, from the section `output`: fields, slices, output of a diverged run. */
#include "apps/driver/driver.h"
#include "apps/driver/case/case_impl.h"
#include "apps/driver/run/run_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- fields */

static gab_status pick_names(const gab_app_run *it, const char *path, const char *const *names, size_t count,
                             gab_quantity *picked)
{
  for (size_t i = 0; i < count; i++) {
    const gab_quantity *found;
    if (gab_quantity_find(it->quantities, names[i], &found) != GAB_OK)
      return gab_config_fail(it->parameters->config, path, "%s", gab_error_message());
    picked[i] = *found;
  }
  return GAB_OK;
}

gab_status gab_app_run_pick(const gab_app_run *it, const char *path, gab_quantity *picked, size_t *count)
{
  const char *const *names = gab_config_strings(it->parameters->config, path, count);
  return pick_names(it, path, names, *count, picked);
}

static unsigned formats(const gab_config *config)
{
  unsigned sum = 0;
  size_t count;
  const char *const *names = gab_config_strings(config, "output.fields.format", &count);
  for (size_t i = 0; i < count; i++)
    sum |= strcmp(names[i], "vtkhdf") == 0 ? GAB_VOLUME_VTKHDF : GAB_VOLUME_GABION;
  return sum;
}

bool gab_app_run_writes_vtkhdf(const gab_app_run *it)
{
  return formats(it->parameters->config) & GAB_VOLUME_VTKHDF;
}

static gab_status add_fields(gab_app_run *it)
{
  const gab_config *config = it->parameters->config;
  const char *const path = "output.fields.quantities", *const *usual = it->parameters->solver->usual_fields;
  gab_quantity picked[GAB_APP_MOST_PICKED];
  gab_schedule schedule;
  if (!gab_config_is_set(config, "output.fields")) return GAB_OK;
  gab_volume_options options = {.quantities = picked,
                                .precision = gab_config_choice_index(config, "output.fields.precision") == 0
                                                 ? GAB_OUTPUT_FLOAT
                                                 : GAB_OUTPUT_DOUBLE,
                                .compression = gab_app_compression_read(config, "output.fields"),
                                .formats = formats(config),
                                .has_levels = it->finest_level > 0};
  if (gab_config_is_set(config, path)) {
    GAB_TRY(gab_app_run_pick(it, path, picked, &options.quantity_count));
  } else {
    while (usual[options.quantity_count]) options.quantity_count++;
    GAB_TRY(pick_names(it, path, usual, options.quantity_count, picked));
  }
  GAB_TRY(gab_app_schedule_read(config, "output.fields", it->parameters->dt, &schedule));
  schedule.last = gab_config_bool(config, "output.fields.final");
  return gab_app_blame(config, "output.fields", gab_output_add_volume(it->output, schedule, &options));
}

/* ---------------------------------------------------------------- slices */

static double middle(const gab_app_run *it, int axis)
{
  const gab_forest_options *domain = &it->parameters->domain;
  const double cells = (double)domain->grid.roots[axis] * domain->cells[axis];
  return domain->origin[axis] + 0.5 * cells * domain->dx;
}

static gab_status add_slice(gab_app_run *it, size_t index)
{
  const gab_config *config = it->parameters->config;
  const gab_solver *solver = it->parameters->solver;
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_schedule schedule;
  gab_config_path(item, "output.slices.%zu", index);
  GAB_TRY(gab_app_schedule_read(config, item, it->parameters->dt, &schedule));
  schedule.last = gab_config_bool(config, gab_config_path(path, "%s.final", item));
  gab_slice_options options = {
      .axis = gab_config_choice_index(config, gab_config_path(path, "%s.axis", item)),
      .outlines = gab_config_bool(config, gab_config_path(path, "%s.outlines", item))};
  gab_config_path(path, "%s.outlined", item);
  options.outlined = (gab_outline)gab_config_choice_index(config, path); /* in the order of the enum */
  gab_config_path(path, "%s.quantity", item);
  const char *quantity = gab_app_slice_quantity(it->parameters, index);
  if (gab_quantity_find_scalar(it->quantities, quantity, &options.quantity, &options.component) != GAB_OK)
    return gab_config_fail(config, path, "%s", gab_error_message());
  options.position = middle(it, options.axis);
  gab_config_path(path, "%s.position", item);
  if (gab_config_is_set(config, path)) options.position = gab_config_real(config, path);
  gab_config_path(path, "%s.name", item);
  if (gab_config_is_set(config, path)) options.name = gab_config_string(config, path);
  gab_config_path(path, "%s.tracers", item);
  if (gab_config_bool(config, path) && !it->tracers)
    return gab_config_fail(config, path, "the case has no tracers");
  if (gab_config_bool(config, path)) options.particles = it->tracers;
  gab_config_path(path, "%s.range", item);
  options.fixed_range = gab_config_is_set(config, path);
  size_t count;
  const double *range = gab_config_reals(config, path, &count);
  for (size_t i = 0; i < count; i++) options.range[i] = range[i];
  if (solver->settle_slice) GAB_TRY(solver->settle_slice(it, quantity, &options));
  return gab_app_slice_settle(config, index, gab_output_add_slice(it->output, schedule, &options));
}

/* ---------------------------------------------------------------- output of a diverged run */

/* The default fields, unless the solver chooses others. */
static gab_status pick_evidence(gab_app_run *it, gab_quantity *picked, size_t *count, const char **quantity,
                                gab_slice_options *slice)
{
  const gab_solver *solver = it->parameters->solver;
  if (solver->pick_evidence) {
    solver->pick_evidence(it, picked, count, quantity, slice);
    return GAB_OK;
  }
  while (solver->usual_fields[*count]) (*count)++;
  *quantity = solver->usual_slice;
  slice->axis = 2;
  return pick_names(it, "output.fields", solver->usual_fields, *count, picked);
}

static gab_status add_evidence(gab_app_run *it, gab_output *output, const char *name)
{
  const char *quantity;
  gab_quantity picked[GAB_APP_MOST_EVIDENCE];
  gab_volume_options volume = {
      .name = name, .quantities = picked, .compression = gab_volume_usual_compression()};
  gab_slice_options slice = {.name = name};
  GAB_TRY(pick_evidence(it, picked, &volume.quantity_count, &quantity, &slice));
  GAB_TRY(gab_output_add_volume(output, (gab_schedule){0}, &volume));
  if (!gab_slice_is_built()) return GAB_OK;
  GAB_TRY(gab_quantity_find_scalar(it->quantities, quantity, &slice.quantity, &slice.component));
  slice.position = middle(it, slice.axis);
  return gab_output_add_slice(output, (gab_schedule){0}, &slice);
}

gab_status gab_app_run_add_writers(gab_app_run *it)
{
  const size_t slices = gab_config_count(it->parameters->config, "output.slices");
  GAB_TRY(add_fields(it));
  for (size_t i = 0; i < slices; i++) GAB_TRY(add_slice(it, i));
  GAB_TRY(add_evidence(it, it->failure_output, "diverged"));
  return add_evidence(it, it->good_output, "last_good");
}
