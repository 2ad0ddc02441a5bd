/* SPDX-License-Identifier: Apache-2.0 */
/* Output of a phase field: series, pictures, fields, evidence. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "phasefield/observe/statistics.h"
#include "apps/driver/case/case_impl.h"

#include <math.h>
#include <string.h>

enum {
  SERIES_COLUMNS = 5,
  MOST_COLUMNS = SERIES_COLUMNS + 2 + 2 * GAB_MOST_PHASES + 2 * GAB_MOST_INDEPENDENTS,
  COLUMN_CAPACITY = GAB_PHASE_NAME_LENGTH + 16
};

/* ---------------------------------------------------------------- front.csv */

static int64_t rows_of(const growth *it)
{
  const int axis = it->parameters->base.domain.grid.dimension - 1;
  return (int64_t)it->parameters->base.domain.grid.roots[axis] * it->parameters->base.domain.cells[axis];
}

/* From the last row to this one; a repeated row keeps its value. */
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
  const double depth = 2.4674011002723395 * o->epsilon / it->parameters->base.domain.dx;
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

/* Height of the front and of the mean solid with the window's shift, undercooling at the front, fractions of the
 * solids and further values, in the order of add_series(). */
static gab_status series_row(void *user, gab_step step, double time, double *values)
{
  growth *it = user;
  const gab_phasefield_setup *setup = &it->parameters->setup;
  const int melt = setup->options.thermo.phases - 1;
  const double shift = (double)gab_phasefield_get_shift(it->model), dx = it->parameters->base.domain.dx;
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
  return gab_app_blame(
      it->parameters->base.config, "phasefield.phases",
      gab_output_add_series(it->base.output,
                            (gab_schedule){.every = it->parameters->series_every, .last = true}, "front",
                            columns, count, series_row, it, NULL));
}

/* ---------------------------------------------------------------- profile.csv */

/* All layers: a row each. */
static gab_status profile_rows(void *user, gab_step step, double time, double **table, size_t *count)
{
  const growth *it = user;
  const gab_thermo *thermo = &it->parameters->setup.options.thermo;
  const size_t rows = (size_t)rows_of(it),
               columns = 3 + (size_t)thermo->phases + (size_t)thermo->independents;
  const int64_t shift = gab_phasefield_get_shift(it->model);
  const int axis = it->parameters->base.domain.grid.dimension - 1;
  gab_phasefield_layer *layers;
  (void)step, (void)time;
  *table = NULL;
  *count = rows;
  GAB_TRY(GAB_NEW_ARRAY(&layers, rows, GAB_MEMORY_OTHER));
  gab_status status = GAB_NEW_ARRAY(table, rows * columns, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = gab_phasefield_layers(it->model, 0, rows, layers);
  double *value = *table;
  for (size_t row = 0; row < rows && status == GAB_OK; row++) {
    const int64_t absolute = (int64_t)row + shift;
    *value++ = (double)absolute;
    *value++ =
        it->parameters->base.domain.origin[axis] + ((double)absolute + 0.5) * it->parameters->base.domain.dx;
    *value++ = gab_phasefield_temperature_at(it->model, (int64_t)row);
    for (int a = 0; a < thermo->phases; a++) *value++ = layers[row].fraction[a];
    for (int i = 0; i < thermo->independents; i++) *value++ = layers[row].content[i];
  }
  gab_free(&layers);
  return status;
}

static gab_status add_profile(growth *it)
{
  const gab_thermo *thermo = &it->parameters->setup.options.thermo;
  static const char *const contents[] = {"c_1", "c_2", "c_3"};
  const char *columns[3 + GAB_MOST_PHASES + GAB_MOST_INDEPENDENTS] = {"row", "height", "temperature"};
  size_t count = 3;
  gab_schedule schedule;
  if (!gab_config_is_set(it->parameters->base.config, "output.profile")) return GAB_OK;
  GAB_TRY(gab_app_schedule_read(it->parameters->base.config, "output.profile",
                                it->parameters->setup.options.dt, &schedule));
  for (int a = 0; a < thermo->phases; a++) columns[count++] = thermo->phase[a].name;
  for (int i = 0; i < thermo->independents; i++) columns[count++] = contents[i];
  return gab_app_blame(
      it->parameters->base.config, "phasefield.phases",
      gab_output_add_table(it->base.output, schedule, "profile", columns, count, profile_rows, it));
}

/* ---------------------------------------------------------------- pictures */

/* The same colours from the first to the last picture. */
gab_status gab_app_growth_settle_slice(gab_app_run *run, const char *quantity, gab_slice_options *options)
{
  growth *it = (growth *)run;
  if (strcmp(quantity, "phase") == 0 && !options->fixed_range) {
    options->fixed_range = true;
    options->range[1] = it->parameters->setup.options.thermo.phases - 1;
  }
  if (options->outlines && options->outlined == GAB_OUTLINE_OWNER)
    return gab_app_growth_add_lost_slice(it, options);
  return GAB_OK;
}

/* Where it went wrong can be seen. */
void gab_app_growth_pick_evidence(const gab_app_run *run, gab_quantity *picked, size_t *count,
                                  const char **quantity, gab_slice_options *slice)
{
  _Static_assert(GAB_APP_MOST_EVIDENCE >= 1 + GAB_MOST_PHASES + 2 * GAB_MOST_INDEPENDENTS,
                 "capacity for all");
  for (size_t i = 0; i < run->quantities.count; i++) {
    const char *own = run->quantities.items[i].name;
    if (strcmp(own, "phase") == 0 || strncmp(own, "phi_", 4) == 0 || strncmp(own, "mu_", 3) == 0 ||
        strncmp(own, "c_", 2) == 0)
      picked[(*count)++] = run->quantities.items[i];
  }
  *quantity = "phase";
  slice->axis = run->parameters->domain.grid.dimension == 2 ? 2 : 1;
  slice->outlines = true;
}

/* ---------------------------------------------------------------- all */

gab_status gab_app_growth_add_writers(gab_app_run *run)
{
  growth *it = (growth *)run;
  it->front.step = -1;
  GAB_TRY(add_series(it));
  GAB_TRY(add_profile(it));
  return gab_app_growth_add_slabs(it);
}

gab_status gab_app_growth_pack_series(const gab_app_run *run, gab_buffer *out)
{
  const growth *it = (const growth *)run;
  GAB_TRY(gab_put_i64(out, it->front.step));
  GAB_TRY(gab_put_f64(out, it->front.time));
  GAB_TRY(gab_put_f64(out, it->front.height));
  return gab_put_f64(out, it->front.velocity);
}

gab_status gab_app_growth_unpack_series(gab_app_run *run, gab_reader *in)
{
  growth *it = (growth *)run;
  int64_t step;
  GAB_TRY(gab_get_i64(in, &step));
  it->front.step = step;
  GAB_TRY(gab_get_f64(in, &it->front.time));
  GAB_TRY(gab_get_f64(in, &it->front.height));
  it->slabs_known = false;
  return gab_get_f64(in, &it->front.velocity);
}
