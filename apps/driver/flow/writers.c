/* The writers of a run, as the section `output` asks for them. */
#include "apps/driver/flow/simulation.h"

#include <string.h>

/* ---------------------------------------------------------------- fields */

static gab_status pick(const simulation *which, const char *path, gab_quantity *picked, size_t *count)
{
  const char *const *names = gab_config_strings(which->parameters->base.config, path, count);
  for (size_t i = 0; i < *count; i++) {
    const gab_quantity *found;
    GAB_TRY(gab_quantity_find(which->quantities, names[i], &found));
    picked[i] = *found;
  }
  return GAB_OK;
}

enum { MOST_PICKED = 16 }; /* the length of the lists in the tables */

static gab_status add_fields(simulation *which)
{
  const gab_config *config = which->parameters->base.config;
  if (!which->parameters->output.fields) return GAB_OK;
  gab_quantity picked[MOST_PICKED];
  gab_volume_options options = {.quantities = picked,
                                .precision = gab_config_choice(config, "output.fields.precision") == 0
                                                 ? GAB_OUTPUT_FLOAT
                                                 : GAB_OUTPUT_DOUBLE,
                                .compression = output_compression_read(config, "output.fields")};
  GAB_TRY(pick(which, "output.fields.quantities", picked, &options.quantity_count));
  return driver_blame(
      config, "output.fields",
      gab_output_add_volume(which->output, which->parameters->output.fields_schedule, &options));
}

/* ---------------------------------------------------------------- slices */

static double middle(const gab_domain *domain, int axis)
{
  return domain->origin[axis] + 0.5 * (double)domain->cells[axis] * domain->dx;
}

static gab_status add_slice(simulation *which, size_t index)
{
  const gab_config *config = which->parameters->base.config;
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(item, "output.slices.%zu", index);
  gab_schedule schedule;
  GAB_TRY(output_schedule_read(config, item, which->parameters->setup.units.dt, &schedule));
  gab_slice_options options = {.axis = gab_config_choice(config, gab_config_path(path, "%s.axis", item)),
                               .outlines =
                                   gab_config_bool(config, gab_config_path(path, "%s.outlines", item))};
  gab_config_path(path, "%s.outlined", item);
  options.outlined = (gab_outline)gab_config_choice(config, path); /* in the order of the enum */
  GAB_TRY(gab_quantity_find_scalar(which->quantities,
                                   gab_config_string(config, gab_config_path(path, "%s.quantity", item)),
                                   &options.quantity, &options.component));
  options.position = middle(&which->parameters->domain, options.axis);
  gab_config_path(path, "%s.position", item);
  if (gab_config_is_set(config, path)) options.position = gab_config_real(config, path);
  gab_config_path(path, "%s.name", item);
  if (gab_config_is_set(config, path)) options.name = gab_config_string(config, path);
  gab_config_path(path, "%s.range", item);
  options.fixed_range = gab_config_is_set(config, path);
  size_t count;
  const double *range = gab_config_reals(config, path, &count);
  for (size_t i = 0; i < count; i++) options.range[i] = range[i];
  return driver_slice_settle(config, index, gab_output_add_slice(which->output, schedule, &options));
}

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
  void *memory;
  GAB_TRY(gab_alloc(count * sizeof *list->points, GAB_MEMORY_OTHER, &memory));
  list->points = memory;
  GAB_TRY(gab_alloc(count * sizeof *list->names, GAB_MEMORY_OTHER, &memory));
  list->names = memory;
  GAB_TRY(gab_alloc(count * sizeof *list->name_list, GAB_MEMORY_OTHER, &memory));
  list->name_list = memory;
  collect_points(found->base.config, &found->output, list);
  gab_quantity picked[MOST_PICKED];
  gab_probes_options options = {.points = (const double(*)[3])list->points,
                                .names = list->name_list,
                                .point_count = count,
                                .quantities = picked};
  GAB_TRY(pick(which, "output.probes.quantities", picked, &options.quantity_count));
  return driver_blame(found->base.config, "output.probes",
                      gab_output_add_probes(which->output, found->output.probes, &options));
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

enum { COLUMN_CAPACITY = GAB_BODY_NAME_LENGTH + 8 };

static gab_status add_forces(simulation *which)
{
  const flow_case *found = which->parameters;
  if (found->output.forces.every == 0) return GAB_OK;
  size_t bodies = found->setup.body_count, count = 0;
  void *memory, *list;
  GAB_TRY(gab_alloc(bodies * 6 * COLUMN_CAPACITY, GAB_MEMORY_OTHER, &memory));
  gab_status status = gab_alloc(bodies * 6 * sizeof(char *), GAB_MEMORY_OTHER, &list);
  if (status != GAB_OK) {
    gab_free(&memory);
    return status;
  }
  char(*names)[COLUMN_CAPACITY] = memory;
  const char **columns = list;
  for (size_t i = 0; i < bodies; i++)
    for (int k = 0; k < (which->force_scale > 0 ? 2 : 1); k++)
      for (int d = 0; d < found->domain.dimension; d++, count++) {
        snprintf(names[count], COLUMN_CAPACITY, "%s.%c%c", gab_geometry_body(which->geometry, i)->name,
                 "fc"[k], "xyz"[d]);
        columns[count] = names[count];
      }
  status = gab_output_add_series(which->output, found->output.forces, "forces", columns, count, forces_row,
                                 which, NULL);
  gab_free(&memory);
  gab_free(&list);
  return driver_blame(found->base.config, "bodies", status);
}

static gab_status add_integrals(simulation *which)
{
  const output_plan *plan = &which->parameters->output;
  const char *columns[7];
  size_t count = sizeof integrals_columns / sizeof integrals_columns[0];
  if (plan->integrals.every == 0) return GAB_OK;
  memcpy(columns, integrals_columns, sizeof integrals_columns);
  columns[count] = "strain";
  return gab_output_add_series(which->output, plan->integrals, "integrals", columns, count + plan->strain,
                               integrals_row, which, NULL);
}

/* ---------------------------------------------------------------- what a diverged run leaves */

static gab_status add_evidence(simulation *which, gab_output *output, const char *name)
{
  const gab_domain *domain = &which->parameters->domain;
  static const char *const names[] = {"velocity", "density"};
  gab_quantity picked[2];
  gab_volume_options volume = {
      .name = name, .quantities = picked, .quantity_count = 2, .compression = gab_volume_usual_compression()};
  for (size_t i = 0; i < 2; i++) {
    const gab_quantity *found;
    GAB_TRY(gab_quantity_find(which->quantities, names[i], &found));
    picked[i] = *found;
  }
  GAB_TRY(gab_output_add_volume(output, (gab_schedule){0}, &volume));
  if (!gab_slice_is_built()) return GAB_OK;
  gab_slice_options slice = {.name = name, .axis = 2, .position = middle(domain, 2)};
  GAB_TRY(gab_quantity_find_scalar(which->quantities, "speed", &slice.quantity, &slice.component));
  return gab_output_add_slice(output, (gab_schedule){0}, &slice);
}

gab_status simulation_add_writers(simulation *which)
{
  GAB_TRY(add_fields(which));
  for (size_t i = 0; i < which->parameters->output.slice_count; i++) GAB_TRY(add_slice(which, i));
  GAB_TRY(add_probes(which));
  GAB_TRY(add_forces(which));
  GAB_TRY(add_integrals(which));
  GAB_TRY(add_evidence(which, which->failure_output, "diverged"));
  return add_evidence(which, which->good_output, "last_good");
}
