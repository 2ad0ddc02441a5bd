/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of a stencil's run before its last step: steady state, program, or time. All are functions of replicated
 * state. */
#include "apps/driver/stencil/stencil_impl.h"

#include "core/messages/collective.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- parameters */

static bool has_table(void) { return gab_app_stencil->sums || gab_app_stencil->ended; }

gab_status gab_app_stencil_end_declare(gab_config *config)
{
  static const gab_config_key keys[] = {
      {.name = "every",
       .type = GAB_CONFIG_INT,
       .unit = "steps",
       .min = 1,
       .max = 9e15,
       .default_text = "100",
       .outside = true,
       .doc = "Steps between two rows of the table of sums, and between two checks for the end of the run."},
      {.name = "steady",
       .type = GAB_CONFIG_REAL,
       .min = 0,
       .min_excluded = true,
       .max = INFINITY,
       .default_text = GAB_CONFIG_OPTIONAL,
       .outside = true,
       .doc = "The run ends when no field changes faster than that in any cell, per unit of time."}};
  static gab_config_section section;
  section = (gab_config_section){.path = gab_app_stencil->name, .doc = gab_app_stencil->title, KEYS(keys)};
  return has_table() ? gab_app_declare(config, &section, 1) : GAB_OK;
}

gab_status gab_app_stencil_end_read(stencil_case *which)
{
  const gab_config *config = which->base.config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  which->end = INFINITY;
  if (has_table()) {
    which->look_every = gab_config_int(config, gab_app_stencil_path(path, "every"));
    if (gab_config_is_set(config, gab_app_stencil_path(path, "steady")))
      which->steady = gab_config_real(config, path);
  }
  if (which->cfl == 0 || !gab_config_is_set(config, "run.time")) return GAB_OK;
  which->end = gab_config_real(config, "run.time");
  which->base.steps = GAB_STEPS_OPEN;
  return GAB_OK;
}

/* ---------------------------------------------------------------- measures */

static bool measures(const stencil_case *which) { return which->steady > 0 || gab_app_stencil->ended; }

static bool is_due(const void *user, gab_step step)
{
  const stencil_run *it = user;
  return step > 0 && step % it->parameters->look_every == 0;
}

/* The largest change of a field in a block in the last step. */
static double change_of(const gab_field *now, const gab_field *old, int field)
{
  const int32_t *cells = now->shape.cells;
  double most = 0;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++)
        most = fmax(most, fabs(gab_field_get(now, x, y, z, field) - gab_field_get(old, x, y, z, field)));
  return most;
}

/* The state before the step is still in memory: `first', or `next' of a step of one stage. */
static gab_status measure_change(stencil_run *it)
{
  const int fields = gab_app_stencil_field_count();
  const gab_data_id before = gab_app_stencil_stages(it->parameters) > 1 ? it->first : it->next;
  for (int f = 0; f < fields; f++) it->change[f] = 0;
  for (size_t i = 0; i < gab_forest_block_count(it->base.forest); i++) {
    const gab_block *block = gab_forest_block(it->base.forest, i);
    for (int f = 0; f < fields; f++)
      it->change[f] =
          fmax(it->change[f], change_of(gab_block_data(block, it->now), gab_block_data(block, before), f));
  }
  GAB_TRY(gab_world_max_f64(it->base.world, it->change, (size_t)fields));
  for (int f = 0; f < fields; f++) it->change[f] /= it->dt;
  return GAB_OK;
}

gab_status gab_app_stencil_end_measure(stencil_run *it, gab_step steps)
{
  if (!measures(it->parameters) || !is_due(it, steps)) return GAB_OK;
  it->measured = steps;
  GAB_TRY(measure_change(it));
  return gab_app_stencil->sums ? gab_app_stencil_sums_row(it, steps, 0, it->sums) : GAB_OK;
}

static gab_status pack_measures(void *user, gab_buffer *out)
{
  const stencil_run *it = user;
  GAB_TRY(gab_put_i64(out, it->measured));
  GAB_TRY(gab_put_bytes(out, it->change, sizeof it->change));
  return gab_put_bytes(out, it->sums, sizeof it->sums);
}

static gab_status unpack_measures(void *user, gab_reader *in)
{
  stencil_run *it = user;
  int64_t measured;
  GAB_TRY(gab_get_i64(in, &measured));
  it->measured = measured;
  GAB_TRY(gab_get_bytes(in, it->change, sizeof it->change));
  return gab_get_bytes(in, it->sums, sizeof it->sums);
}

/* ---------------------------------------------------------------- criteria */

static bool is_steady(const void *user, gab_step step, char *why, size_t capacity)
{
  const stencil_run *it = user;
  double most = 0;
  if (it->measured != step) return false;
  for (int f = 0; f < gab_app_stencil_field_count(); f++) most = fmax(most, it->change[f]);
  if (!(most <= it->parameters->steady)) return false;
  snprintf(why, capacity, "fields change by at most %g per unit of time, %s.steady is %g", most,
           gab_app_stencil->name, it->parameters->steady);
  return true;
}

static bool is_ended(const void *user, gab_step step, char *why, size_t capacity)
{
  const stencil_run *it = user;
  if (it->measured != step) return false;
  const char *reason = gab_app_stencil->ended(&(gab_stencil_end){.config = it->base.parameters->config,
                                                                 .step = step,
                                                                 .time = gab_app_stencil_time(it, step),
                                                                 .sums = it->sums,
                                                                 .change = it->change});
  if (reason) snprintf(why, capacity, "%s", reason);
  return reason != NULL;
}

static bool is_late(const void *user, gab_step step, char *why, size_t capacity)
{
  const stencil_run *it = user;
  (void)step;
  if (it->time < it->parameters->end) return false;
  snprintf(why, capacity, "%g is reached", it->parameters->end);
  return true;
}

gab_status gab_app_stencil_add_ends(stencil_run *it)
{
  const stencil_case *which = it->parameters;
  const gab_entity entity = {.name = "measures of the end",
                             .kind = GAB_ENTITY_REPLICATED,
                             .user = it,
                             .pack = pack_measures,
                             .unpack = unpack_measures};
  gab_timeloop *loop = it->base.loop;
  it->measured = -1;
  if (has_table()) GAB_TRY(gab_timeloop_add_entity(loop, &entity)); /* a resumed run may set `steady' */
  if (which->end < INFINITY) GAB_TRY(gab_timeloop_add_end(loop, "run.time", NULL, is_late, it));
  if (which->steady > 0) GAB_TRY(gab_timeloop_add_end(loop, "steady", is_due, is_steady, it));
  return gab_app_stencil->ended ? gab_timeloop_add_end(loop, gab_app_stencil->name, is_due, is_ended, it)
                                : GAB_OK;
}
