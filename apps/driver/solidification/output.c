/* What a phase field leaves behind: series, pictures, fields, evidence. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"
#include "phasefield/observe/statistics.h"

#include <math.h>
#include <string.h>

enum {
  SERIES_COLUMNS = 5,
  MOST_COLUMNS = SERIES_COLUMNS + 2 + 2 * GAB_MOST_PHASES + 2 * GAB_MOST_INDEPENDENTS,
  COLUMN_CAPACITY = GAB_PHASE_NAME_LENGTH + 16,
  MOST_PICKED = 16
};

double growth_time(const growth *it, gab_step step)
{
  return (double)step * it->parameters->setup.options.dt;
}

/* ---------------------------------------------------------------- front.csv */

static int64_t rows_of(const growth *it)
{
  const int axis = it->parameters->forest.grid.dimension - 1;
  return (int64_t)it->parameters->forest.grid.roots[axis] * it->parameters->forest.cells[axis];
}

/* From the last row to this one; a row that is asked for again has what it had. */
static double velocity_of(growth *it, gab_step step, double time, double height)
{
  front_record *last = &it->front;
  if (step == last->step) return last->velocity;
  const double velocity = last->step < 0 ? NAN : (height - last->height) / (time - last->time);
  *last = (front_record){.step = step, .time = time, .height = height, .velocity = velocity};
  return velocity;
}

/* Widths and spacings of the solids in the layer that lies the width of an interface below the mean front. */
static gab_status put_spacings(growth *it, double height, double **values)
{
  const gab_phasefield_options *o = &it->parameters->setup.options;
  const int melt = o->thermo.phases - 1;
  const double depth = 2.4674011002723395 * o->epsilon / it->parameters->forest.dx;
  gab_phasefield_spacing found = {.width = NAN};
  for (int a = 0; a < melt; a++) found.spacing[a] = NAN;
  if (height > depth) GAB_TRY(gab_phasefield_measure(it->model, (int64_t)(height - depth), &found));
  *(*values)++ = found.width;
  for (int a = 0; a < melt; a++) *(*values)++ = found.spacing[a];
  return GAB_OK;
}

static gab_status put_ledger(growth *it, const gab_phasefield_integrals *sums, double **values)
{
  double gained[GAB_MOST_INDEPENDENTS];
  GAB_TRY(gab_phasefield_ledger(it->model, gained));
  for (int i = 0; i < it->parameters->setup.options.thermo.independents; i++) {
    *(*values)++ = sums->content[i];
    *(*values)++ = gained[i];
  }
  return GAB_OK;
}

/* Height of the front and of the mean solid with the window's shift, undercooling at the front, fractions of
 * the solids, and so on: in the order of add_series(). */
static gab_status series_row(void *user, gab_step step, double time, double *values)
{
  growth *it = user;
  const gab_phasefield_setup *setup = &it->parameters->setup;
  const int melt = setup->options.thermo.phases - 1;
  const double shift = (double)gab_phasefield_get_shift(it->model), dx = it->parameters->forest.dx;
  gab_phasefield_integrals sums;
  int64_t front;
  GAB_TRY(gab_phasefield_front(it->model, &front));
  GAB_TRY(gab_phasefield_integrate(it->model, &sums));
  const double warm = gab_phasefield_temperature_at(it->model, front);
  const double height = (double)rows_of(it) * (1 - sums.fraction[melt] / sums.cells);
  *values++ = ((double)front + 1 + shift) * dx;
  *values++ = (height + shift) * dx;
  *values++ = warm;
  *values++ = setup->has_eutectic ? setup->eutectic_temperature - warm : NAN;
  *values++ = shift;
  for (int a = 0; a < melt; a++) *values++ = sums.fraction[a] / (sums.cells - sums.fraction[melt]);
  GAB_TRY(put_ledger(it, &sums, &values));
  *values++ = velocity_of(it, step, time, (height + shift) * dx);
  return put_spacings(it, height, &values);
}

static gab_status add_series(growth *it)
{
  const gab_thermo *thermo = &it->parameters->setup.options.thermo;
  static const char *const ledger[] = {"content_1", "gained_1",  "content_2",
                                       "gained_2",  "content_3", "gained_3"};
  const char *columns[MOST_COLUMNS] = {"front", "height", "temperature", "undercooling", "shift"};
  char spacing[GAB_MOST_PHASES][COLUMN_CAPACITY];
  size_t count = SERIES_COLUMNS;
  const int melt = thermo->phases - 1;
  if (it->parameters->series_every == 0) return GAB_OK;
  for (int a = 0; a < melt; a++) columns[count++] = thermo->phase[a].name;
  for (int i = 0; i < 2 * thermo->independents; i++) columns[count++] = ledger[i];
  columns[count++] = "velocity";
  columns[count++] = "width";
  for (int a = 0; a < melt; a++) {
    snprintf(spacing[a], COLUMN_CAPACITY, "spacing_%s", thermo->phase[a].name);
    columns[count++] = spacing[a];
  }
  return driver_blame(it->parameters->base.config, "phasefield.phases",
                      gab_output_add_series(it->output, (gab_schedule){.every = it->parameters->series_every},
                                            "front", columns, count, series_row, it, NULL));
}

/* ---------------------------------------------------------------- profile.csv */

/* All layers of one step: one row each. */
static gab_status write_profile(growth *it, gab_step step)
{
  const gab_thermo *thermo = &it->parameters->setup.options.thermo;
  const size_t rows = (size_t)rows_of(it),
               columns = 3 + (size_t)thermo->phases + (size_t)thermo->independents;
  const int64_t shift = gab_phasefield_get_shift(it->model);
  const int axis = it->parameters->forest.grid.dimension - 1;
  void *memory, *table = NULL;
  GAB_TRY(gab_alloc(rows * sizeof(gab_phasefield_layer), GAB_MEMORY_OTHER, &memory));
  const gab_phasefield_layer *layers = memory;
  gab_status status = gab_alloc(rows * columns * sizeof(double), GAB_MEMORY_OTHER, &table);
  if (status == GAB_OK) status = gab_phasefield_layers(it->model, 0, rows, memory);
  double *value = table;
  for (size_t row = 0; row < rows && status == GAB_OK; row++) {
    const int64_t absolute = (int64_t)row + shift;
    *value++ = (double)absolute;
    *value++ = it->parameters->forest.origin[axis] + ((double)absolute + 0.5) * it->parameters->forest.dx;
    *value++ = gab_phasefield_temperature_at(it->model, (int64_t)row);
    for (int a = 0; a < thermo->phases; a++) *value++ = layers[row].fraction[a];
    for (int i = 0; i < thermo->independents; i++) *value++ = layers[row].content[i];
  }
  if (status == GAB_OK)
    status = gab_series_append_rows(it->profile, step, growth_time(it, step), table, rows);
  gab_free(&table);
  gab_free(&memory);
  return gab_output_settle(it->world, status);
}

static gab_status add_profile(growth *it)
{
  const gab_thermo *thermo = &it->parameters->setup.options.thermo;
  static const char *const contents[] = {"c_1", "c_2", "c_3"};
  const char *columns[3 + GAB_MOST_PHASES + GAB_MOST_INDEPENDENTS] = {"row", "height", "temperature"};
  size_t count = 3;
  if (!gab_config_is_set(it->parameters->base.config, "output.profile")) return GAB_OK;
  GAB_TRY(output_schedule_read(it->parameters->base.config, "output.profile",
                               it->parameters->setup.options.dt, &it->profile_schedule));
  for (int a = 0; a < thermo->phases; a++) columns[count++] = thermo->phase[a].name;
  for (int i = 0; i < thermo->independents; i++) columns[count++] = contents[i];
  return driver_blame(it->parameters->base.config, "phasefield.phases",
                      gab_output_add_series(it->output, it->profile_schedule, "profile", columns, count, NULL,
                                            NULL, &it->profile));
}

/* ---------------------------------------------------------------- pictures and fields */

static gab_status add_slice(growth *it, size_t index)
{
  const gab_config *config = it->parameters->base.config;
  const gab_forest_options *forest = &it->parameters->forest;
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_schedule schedule;
  gab_config_path(item, "output.slices.%zu", index);
  GAB_TRY(output_schedule_read(config, item, it->parameters->setup.options.dt, &schedule));
  gab_slice_options options = {.axis = gab_config_choice(config, gab_config_path(path, "%s.axis", item)),
                               .outlines =
                                   gab_config_bool(config, gab_config_path(path, "%s.outlines", item))};
  gab_config_path(path, "%s.outlined", item);
  options.outlined = gab_config_choice(config, path) == 0 ? GAB_OUTLINE_OWNER : GAB_OUTLINE_LEVEL;
  gab_config_path(path, "%s.quantity", item);
  const char *name = gab_config_is_set(config, path) ? gab_config_string(config, path) : "phase";
  if (gab_quantity_find_scalar(it->quantities, name, &options.quantity, &options.component) != GAB_OK)
    return gab_config_fail(config, path, "%s", gab_error_message());
  const double cells = (double)forest->grid.roots[options.axis] * forest->cells[options.axis];
  options.position = forest->origin[options.axis] + 0.5 * cells * forest->dx;
  gab_config_path(path, "%s.position", item);
  if (gab_config_is_set(config, path)) options.position = gab_config_real(config, path);
  gab_config_path(path, "%s.name", item);
  if (gab_config_is_set(config, path)) options.name = gab_config_string(config, path);
  size_t count;
  gab_config_path(path, "%s.range", item);
  const double *range = gab_config_reals(config, path, &count);
  for (size_t i = 0; i < count; i++) options.range[i] = range[i];
  options.fixed_range = count == 2;
  if (strcmp(name, "phase") == 0 &&
      !options.fixed_range) { /* the same colours from the first to the last picture */
    options.fixed_range = true;
    options.range[1] = it->parameters->setup.options.thermo.phases - 1;
  }
  if (options.outlines && options.outlined == GAB_OUTLINE_OWNER) GAB_TRY(growth_add_lost_slice(it, &options));
  return driver_slice_settle(config, index, gab_output_add_slice(it->output, schedule, &options));
}

static gab_status add_fields(growth *it)
{
  const gab_config *config = it->parameters->base.config;
  if (!gab_config_is_set(config, "output.fields")) return GAB_OK;
  static const char *const usual[] = {"phase", "solid"};
  const char *const *names = usual;
  size_t count = 2;
  gab_schedule schedule;
  gab_quantity picked[MOST_PICKED];
  if (gab_config_is_set(config, "output.fields.quantities"))
    names = gab_config_strings(config, "output.fields.quantities", &count);
  for (size_t i = 0; i < count; i++) {
    const gab_quantity *found;
    if (gab_quantity_find(it->quantities, names[i], &found) != GAB_OK)
      return gab_config_fail(config, "output.fields.quantities", "%s", gab_error_message());
    picked[i] = *found;
  }
  GAB_TRY(output_schedule_read(config, "output.fields", it->parameters->setup.options.dt, &schedule));
  const gab_volume_options options = {.quantities = picked,
                                      .quantity_count = count,
                                      .precision = gab_config_choice(config, "output.fields.precision") == 0
                                                       ? GAB_OUTPUT_FLOAT
                                                       : GAB_OUTPUT_DOUBLE,
                                      .compression = output_compression_read(config, "output.fields")};
  return driver_blame(config, "output.fields", gab_output_add_volume(it->output, schedule, &options));
}

/* What a run that diverged leaves: where it went wrong can be seen. */
static gab_status add_evidence(growth *it, gab_output *output, const char *name)
{
  gab_quantity picked[1 + GAB_MOST_PHASES + 2 * GAB_MOST_INDEPENDENTS];
  size_t count = 0;
  for (size_t i = 0; i < it->quantities.count; i++) {
    const char *own = it->quantities.items[i].name;
    if (strcmp(own, "phase") == 0 || strncmp(own, "phi_", 4) == 0 || strncmp(own, "mu_", 3) == 0 ||
        strncmp(own, "c_", 2) == 0)
      picked[count++] = it->quantities.items[i];
  }
  const gab_volume_options volume = {.name = name,
                                     .quantities = picked,
                                     .quantity_count = count,
                                     .compression = gab_volume_usual_compression()};
  GAB_TRY(gab_output_add_volume(output, (gab_schedule){0}, &volume));
  if (!gab_slice_is_built()) return GAB_OK;
  const gab_forest_options *forest = &it->parameters->forest;
  gab_slice_options slice = {.name = name, .axis = forest->grid.dimension == 2 ? 2 : 1, .outlines = true};
  GAB_TRY(gab_quantity_find_scalar(it->quantities, "phase", &slice.quantity, &slice.component));
  slice.position = forest->origin[slice.axis] +
                   0.5 * (double)forest->grid.roots[slice.axis] * forest->cells[slice.axis] * forest->dx;
  return gab_output_add_slice(output, (gab_schedule){0}, &slice);
}

gab_status growth_add_writers(growth *it)
{
  const size_t slices = gab_config_count(it->parameters->base.config, "output.slices");
  GAB_TRY(gab_output_create(it->forest, it->folder, &it->output));
  GAB_TRY(gab_output_create(it->forest, it->folder, &it->failure_output));
  GAB_TRY(gab_output_create(it->forest, it->folder, &it->good_output));
  GAB_TRY(gab_output_create(it->forest, it->folder, &it->recovery_output));
  it->front.step = -1;
  GAB_TRY(add_fields(it));
  for (size_t i = 0; i < slices; i++) GAB_TRY(add_slice(it, i));
  GAB_TRY(add_series(it));
  GAB_TRY(add_profile(it));
  GAB_TRY(growth_add_slabs(it));
  GAB_TRY(add_evidence(it, it->failure_output, "diverged"));
  return add_evidence(it, it->good_output, "last_good");
}

/* ---------------------------------------------------------------- when */

static bool profile_due(const growth *it, gab_step step)
{
  return it->profile && gab_schedule_due(it->profile_schedule, step);
}

bool growth_output_due(const void *user, gab_step step)
{
  const growth *it = user;
  return gab_output_due(it->output, step) || profile_due(it, step);
}

gab_status growth_write_output(void *user, gab_step step)
{
  growth *it = user;
  GAB_TRY(gab_output_write(it->output, step, growth_time(it, step)));
  return profile_due(it, step) ? write_profile(it, step) : GAB_OK;
}

gab_status growth_finish_output(growth *it, gab_step step)
{
  GAB_TRY(
      gab_output_write_now(it->output, GAB_OUTPUT_VOLUME | GAB_OUTPUT_SLICE, step, growth_time(it, step)));
  GAB_TRY(growth_finish_slabs(it, step));
  return gab_output_flush(it->output);
}

gab_status growth_leave_evidence(growth *it, gab_output *output, const char *name, gab_step step)
{
  GAB_TRY(gab_output_write_now(output, GAB_OUTPUT_ALL, step, growth_time(it, step)));
  gab_log(GAB_LOG_INFO, "the state of step %" GAB_PRI_STEP " is in %s/fields/%s.xdmf%s%s%s", step, it->folder,
          name, gab_slice_is_built() ? " and " : "", gab_slice_is_built() ? name : "",
          gab_slice_is_built() ? "_*.png" : "");
  return GAB_OK;
}

gab_status growth_pack_output(void *user, gab_buffer *out)
{
  const growth *it = user;
  GAB_TRY(gab_put_i64(out, it->front.step));
  GAB_TRY(gab_put_f64(out, it->front.time));
  GAB_TRY(gab_put_f64(out, it->front.height));
  GAB_TRY(gab_put_f64(out, it->front.velocity));
  return gab_output_pack(it->output, out);
}

gab_status growth_unpack_output(void *user, gab_reader *in)
{
  growth *it = user;
  int64_t step;
  GAB_TRY(gab_get_i64(in, &step));
  it->front.step = step;
  GAB_TRY(gab_get_f64(in, &it->front.time));
  GAB_TRY(gab_get_f64(in, &it->front.height));
  GAB_TRY(gab_get_f64(in, &it->front.velocity));
  it->slabs_known = false;
  if (it->keep_series) { /* the series tell how it diverged */
    in->at = in->end;
    return GAB_OK;
  }
  return gab_output_unpack(it->output, in);
}
