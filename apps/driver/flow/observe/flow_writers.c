/* SPDX-License-Identifier: Apache-2.0 */
/* The writers that only a flow has: probes, forces, integrals. */
#include "apps/driver/flow/simulation.h"
#include "apps/driver/run/run_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- probes */

typedef struct probe_list {
  double (*points)[3];
  char (*names)[GAB_BODY_NAME_LENGTH * 2];
  const char **name_list;
  size_t count;
} probe_list;

static void add_point(probe_list *list, const double *at, size_t coordinates, const char *name, int number)
{
  for (size_t d = 0; d < 3; d++) list->points[list->count][d] = d < coordinates ? at[d] : 0;
  if (number < 0) snprintf(list->names[list->count], sizeof list->names[0], "%s", name);
  else snprintf(list->names[list->count], sizeof list->names[0], "%s%d", name, number);
  list->name_list[list->count] = list->names[list->count];
  list->count++;
}

static void collect_points(const gab_config *config, const output_plan *plan, probe_list *list)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < plan->point_count; i++) {
    size_t count;
    const double *at = gab_config_reals(config, gab_config_path(path, "output.points.%zu.at", i), &count);
    add_point(list, at, count, gab_config_string(config, gab_config_path(path, "output.points.%zu.name", i)),
              -1);
  }
  for (size_t i = 0; i < plan->line_count; i++) {
    size_t count, other;
    const double *from = gab_config_reals(config, gab_config_path(path, "output.lines.%zu.from", i), &count);
    const double *to = gab_config_reals(config, gab_config_path(path, "output.lines.%zu.to", i), &other);
    int64_t points = gab_config_int(config, gab_config_path(path, "output.lines.%zu.count", i));
    const char *name = gab_config_string(config, gab_config_path(path, "output.lines.%zu.name", i));
    if (other < count) count = other;
    for (int64_t k = 0; k < points; k++) {
      double at[3] = {0, 0, 0}, share = (double)k / (double)(points - 1);
      for (size_t d = 0; d < count; d++) at[d] = (1 - share) * from[d] + share * to[d];
      add_point(list, at, count, name, (int)k);
    }
  }
}

static size_t count_points(const gab_config *config, const output_plan *plan)
{
  size_t count = plan->point_count;
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < plan->line_count; i++)
    count += (size_t)gab_config_int(config, gab_config_path(path, "output.lines.%zu.count", i));
  return count;
}

static gab_status add_probe_writer(simulation *which, probe_list *list)
{
  const flow_case *found = which->parameters;
  size_t count = count_points(found->base.config, &found->output);
  GAB_TRY(GAB_NEW_ARRAY(&list->points, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&list->names, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&list->name_list, count, GAB_MEMORY_OTHER));
  collect_points(found->base.config, &found->output, list);
  gab_quantity picked[GAB_APP_MOST_PICKED];
  gab_probes_options options = {.points = (const double(*)[3])list->points,
                                .names = list->name_list,
                                .point_count = count,
                                .quantities = picked};
  GAB_TRY(gab_app_run_pick(&which->base, "output.probes.quantities", picked, &options.quantity_count));
  return gab_app_blame(found->base.config, "output.probes",
                       gab_output_add_probes(which->base.output, found->output.probes, &options));
}

static gab_status add_probes(simulation *which)
{
  if (which->parameters->output.probes.every == 0) return GAB_OK;
  probe_list list = {.count = 0};
  gab_status status = add_probe_writer(which, &list);
  gab_free(&list.points);
  gab_free(&list.names);
  gab_free(&list.name_list);
  return status;
}

/* ---------------------------------------------------------------- forces and integrals */

enum { COLUMN_CAPACITY = GAB_BODY_NAME_LENGTH + FORCES_COLUMN_CAPACITY + 1 };

static gab_status add_forces(simulation *which)
{
  const flow_case *found = which->parameters;
  if (found->output.forces.every == 0) return GAB_OK;
  char of_body[FORCES_MOST_COLUMNS][FORCES_COLUMN_CAPACITY];
  const size_t bodies = found->setup.body_count, each = (size_t)gab_app_forces_columns(which, of_body);
  size_t count = 0;
  void *memory, *list;
  GAB_TRY(gab_alloc(bodies * each * COLUMN_CAPACITY, GAB_MEMORY_OTHER, &memory));
  gab_status status = gab_alloc(bodies * each * sizeof(char *), GAB_MEMORY_OTHER, &list);
  if (status != GAB_OK) {
    gab_free(&memory);
    return status;
  }
  char(*names)[COLUMN_CAPACITY] = memory;
  const char **columns = list;
  for (size_t i = 0; i < bodies; i++)
    for (size_t k = 0; k < each; k++, count++) {
      snprintf(names[count], COLUMN_CAPACITY, "%s.%.15s", gab_geometry_body(which->geometry, i)->name,
               of_body[k]);
      columns[count] = names[count];
    }
  status = gab_output_add_series(which->base.output, found->output.forces, "forces", columns, count,
                                 gab_app_forces_row, which, NULL);
  status = gab_app_blame(found->base.config, "bodies", status);
  if (status == GAB_OK)
    status = gab_app_flow_converged_prepare(&which->until, found->base.config, found->output.forces, columns,
                                            count);
  if (status == GAB_OK)
    status = gab_app_flow_periodic_prepare(&which->until, found->base.config, columns, count);
  gab_free(&memory);
  gab_free(&list);
  return status;
}

static gab_status add_integrals(simulation *which)
{
  const output_plan *plan = &which->parameters->output;
  const char *columns[7];
  size_t count = sizeof gab_app_integrals_columns / sizeof gab_app_integrals_columns[0];
  if (plan->integrals.every == 0) return GAB_OK;
  memcpy(columns, gab_app_integrals_columns, sizeof gab_app_integrals_columns);
  columns[count] = "strain";
  return gab_output_add_series(which->base.output, plan->integrals, "integrals", columns,
                               count + plan->strain, gab_app_integrals_row, which, NULL);
}

/* ---------------------------------------------------------------- all */

void gab_app_simulation_pick_evidence(const gab_app_run *it, gab_quantity *picked, size_t *count,
                                      const char **quantity, gab_slice_options *slice)
{
  static const char *const names[] = {"velocity", "density"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const gab_quantity *found;
    if (gab_quantity_find(it->quantities, names[i], &found) == GAB_OK) picked[(*count)++] = *found;
  }
  *quantity = "speed";
  slice->axis = 2;
}

gab_status gab_app_simulation_add_writers(gab_app_run *it)
{
  simulation *which = (simulation *)it;
  GAB_TRY(add_probes(which));
  GAB_TRY(add_forces(which));
  GAB_TRY(gab_app_side_series_add(which));
  GAB_TRY(gab_app_porous_add(which));
  if (which->scalars) GAB_TRY(gab_app_flow_scalars_add_writers(which->scalars, it->output));
  if (which->tracers) GAB_TRY(gab_app_flow_tracers_add_writers(which->tracers, it->output));
  GAB_TRY(gab_app_flow_means_add_writers(it, &which->parameters->means, which->means, &which->profile));
  GAB_TRY(add_integrals(which));
  return gab_app_planes_add(which); /* last: errors of equal names belong to the planes */
}
