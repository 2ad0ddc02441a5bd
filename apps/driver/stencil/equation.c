/* SPDX-License-Identifier: Apache-2.0 */
/* The equation of this program: its table, and values derived from it. */
#include "apps/driver/stencil/stencil_impl.h"

#include <math.h>
#include <stdio.h>

const gab_stencil *gab_app_stencil;

int gab_app_stencil_count(const char *const *names)
{
  int count = 0;
  while (names && names[count]) count++;
  return count;
}

int gab_app_stencil_field_count(void) { return gab_app_stencil_count(gab_app_stencil->fields); }

int gab_app_stencil_depth(void) { return gab_app_stencil->depth > 0 ? gab_app_stencil->depth : 1; }

const char *gab_app_stencil_path(char path[GAB_CONFIG_PATH_CAPACITY], const char *key)
{
  return gab_config_path(path, "%s.%s", gab_app_stencil->name, key);
}

const char *gab_app_stencil_function(void) { return gab_app_stencil->rate ? "rate" : "update"; }

int gab_app_stencil_stages(const stencil_case *which)
{
  if (which->integrator) return which->integrator->stages;
  return gab_app_stencil->stages > 0 ? gab_app_stencil->stages : 1;
}

double gab_app_stencil_stage_time(const stencil_run *it)
{
  if (it->parameters->integrator) return it->parameters->integrator->stage[it->stage].time;
  return gab_app_stencil->stage_times ? gab_app_stencil->stage_times[it->stage] : 0;
}

double gab_app_stencil_time(const stencil_run *it, gab_step step)
{
  return it->parameters->cfl > 0 ? it->time : (double)step * it->parameters->base.dt;
}

gab_stencil_block gab_app_stencil_block_of(const stencil_run *it, size_t index, gab_step step)
{
  const gab_forest *forest = it->base.forest;
  const gab_block *block = gab_forest_block(forest, index);
  const int32_t *cells = it->shape.shape.cells;
  return (gab_stencil_block){.config = it->base.parameters->config,
                             .forest = forest,
                             .block = block,
                             .step = step,
                             .stage = it->stage,
                             .time = gab_app_stencil_time(it, step) + gab_app_stencil_stage_time(it) * it->dt,
                             .dt = it->dt,
                             .width = ldexp(1, it->parameters->finest - gab_block_level(forest, block)),
                             .cells = {cells[0], cells[1], cells[2]},
                             .now = gab_block_data(block, it->now),
                             .next = gab_block_data(block, it->next),
                             .first = gab_block_data(block, it->stage > 0 ? it->first : it->now)};
}

void gab_app_stencil_name_block(const gab_stencil_block *at, char *text, size_t capacity)
{
  const gab_box cells = gab_block_cells(at->forest, at->block);
  const int level = gab_block_level(at->forest, at->block),
            axes = gab_forest_get_options(at->forest)->grid.dimension;
  size_t length = (size_t)snprintf(text, capacity, "block");
  for (int axis = 0; axis < axes && length < capacity; axis++)
    length += (size_t)snprintf(text + length, capacity - length, "%s %c %" PRId64 "..%" PRId64,
                               axis ? "," : "", "xyz"[axis], cells.lo[axis], cells.hi[axis] - 1);
  if (level > 0 && length < capacity) snprintf(text + length, capacity - length, ", level %d", level);
}

static void name_block(const void *what, char *text, size_t capacity)
{
  gab_app_stencil_name_block(what, text, capacity);
}

void gab_app_stencil_update(const gab_stencil_block *at)
{
  gab_field_computes(name_block, at);
  if (gab_app_stencil->rate) gab_app_stencil->rate(at);
  else gab_app_stencil->update(at);
  gab_field_computes(NULL, NULL);
}
