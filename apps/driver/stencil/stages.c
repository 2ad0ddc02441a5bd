/* SPDX-License-Identifier: Apache-2.0 */
/* Several stages in a step: integration methods for stencils with a rate, and the fields of their stages. */
#include "apps/driver/stencil/stencil_impl.h"

#include <string.h>

/* rk2, rk3: Shu & Osher 1988, J. Comput. Phys. 77, 439, eq. 2.16 and 2.18. rk4: the last stage is a sum of the
 * previous states, -first/3 + now1/3 + 2 now2/3 + now3/3 + dt rate/6, so that rates need not be stored. */
static const stencil_integrator integrators[] = {
    {.name = "euler", .stages = 1, .stage = {{.now = 1, .rate = 1}}},
    {.name = "rk2",
     .stages = 2,
     .stage = {{.now = 1, .rate = 1}, {.time = 1, .first = 0.5, .now = 0.5, .rate = 0.5}}},
    {.name = "rk3",
     .stages = 3,
     .stage = {{.now = 1, .rate = 1},
               {.time = 1, .first = 0.75, .now = 0.25, .rate = 0.25},
               {.time = 0.5, .first = 1.0 / 3, .now = 2.0 / 3, .rate = 2.0 / 3}}},
    {.name = "rk4",
     .stages = 4,
     .has_sum = true,
     .stage = {{.now = 1, .rate = 0.5},
               {.time = 0.5, .first = 1, .rate = 0.5, .first_in_sum = -1.0 / 3, .now_in_sum = 1.0 / 3},
               {.time = 0.5, .first = 1, .rate = 1, .now_in_sum = 2.0 / 3},
               {.time = 1, .now = 1.0 / 3, .rate = 1.0 / 6, .sum = 1}}}};
enum { INTEGRATORS = sizeof integrators / sizeof integrators[0] };

/* ---------------------------------------------------------------- parameters */

static gab_config_choice integrator_choice(int index)
{
  return (gab_config_choice){.name = index < INTEGRATORS ? integrators[index].name : NULL};
}

gab_status gab_app_stencil_integrator_declare(gab_config *config)
{
  static gab_config_key key;
  static gab_config_section section;
  if (!gab_app_stencil->rate) return GAB_OK;
  key = (gab_config_key){.name = "integrator",
                         .type = GAB_CONFIG_CHOICE,
                         .choice_at = integrator_choice,
                         .default_text = gab_app_stencil->integrator ? gab_app_stencil->integrator : "rk3",
                         .doc = "Integration in time: one to four stages per step, of as high an order."};
  section = (gab_config_section){
      .path = gab_app_stencil->name, .doc = gab_app_stencil->title, .keys = &key, .count = 1};
  return gab_app_declare(config, &section, 1);
}

void gab_app_stencil_integrator_read(stencil_case *which)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  if (!gab_app_stencil->rate) return;
  which->integrator =
      &integrators[gab_config_choice_index(which->base.config, gab_app_stencil_path(path, "integrator"))];
}

/* ---------------------------------------------------------------- fields */

int gab_app_stencil_stage_fields(const stencil_case *which)
{
  return (gab_app_stencil_stages(which) > 1) + (which->integrator && which->integrator->has_sum);
}

gab_status gab_app_stencil_add_stages(stencil_run *it)
{
  const int fields = gab_app_stencil_stage_fields(it->parameters);
  const gab_block_data_kind first = gab_block_field_scratch(&it->shape, "first"),
                            sum = gab_block_field_scratch(&it->shape, "sum");
  if (fields > 0) GAB_TRY(gab_forest_add_data(it->base.forest, &first, &it->first));
  return fields > 1 ? gab_forest_add_data(it->base.forest, &sum, &it->sum) : GAB_OK;
}

/* ---------------------------------------------------------------- a stage */

static double *row_of(gab_field *field, int component, int32_t y, int32_t z)
{
  return (double *)field->data + gab_field_index(&field->map, 0, y, z, component);
}

/* Sums in a fixed order, so that bits do not depend on the number of omitted terms. */
static void add_to_sum(const stencil_stage *stage, int32_t cells, const double *first, const double *now,
                       double *sum)
{
  if (stage->now_in_sum == 0) return;
  if (stage->first_in_sum != 0)
    for (int32_t x = 0; x < cells; x++) sum[x] = stage->first_in_sum * first[x] + stage->now_in_sum * now[x];
  else
    for (int32_t x = 0; x < cells; x++) sum[x] += stage->now_in_sum * now[x];
}

static void combine(const stencil_stage *stage, double dt, int32_t cells, const double *first,
                    const double *now, const double *sum, double *next)
{
  const double rate = stage->rate * dt;
  if (stage->sum != 0)
    for (int32_t x = 0; x < cells; x++) next[x] = sum[x] + stage->now * now[x] + rate * next[x];
  else if (stage->first == 0)
    for (int32_t x = 0; x < cells; x++) next[x] = now[x] + rate * next[x];
  else if (stage->now == 0)
    for (int32_t x = 0; x < cells; x++) next[x] = first[x] + rate * next[x];
  else
    for (int32_t x = 0; x < cells; x++)
      next[x] = stage->first * first[x] + (stage->now * now[x] + rate * next[x]);
}

void gab_app_stencil_integrate(const stencil_run *it, size_t index)
{
  const gab_block *block = gab_forest_block(it->base.forest, index);
  const stencil_integrator *by = it->parameters->integrator;
  const stencil_stage *stage = &by->stage[it->stage];
  gab_field *now = gab_block_data(block, it->now), *next = gab_block_data(block, it->next),
            *first = it->stage > 0 ? gab_block_data(block, it->first) : now,
            *sum = by->has_sum ? gab_block_data(block, it->sum) : next;
  const int32_t *cells = now->shape.cells;
  for (int c = 0; c < now->shape.components; c++)
    for (int32_t z = 0; z < cells[2]; z++)
      for (int32_t y = 0; y < cells[1]; y++) {
        const double *old = row_of(first, c, y, z), *here = row_of(now, c, y, z);
        double *total = row_of(sum, c, y, z);
        add_to_sum(stage, cells[0], old, here, total);
        combine(stage, it->dt, cells[0], old, here, total, row_of(next, c, y, z));
      }
}

gab_status gab_app_stencil_end_stage(const stencil_run *it)
{
  const bool keeps_first = it->stage == 0 && gab_app_stencil_stages(it->parameters) > 1;
  for (size_t i = 0; i < gab_forest_block_count(it->base.forest); i++) {
    const gab_block *block = gab_forest_block(it->base.forest, i);
    GAB_TRY(gab_field_swap(gab_block_data(block, it->now), gab_block_data(block, it->next)));
    if (keeps_first)
      GAB_TRY(gab_field_swap(gab_block_data(block, it->next), gab_block_data(block, it->first)));
  }
  return GAB_OK;
}
