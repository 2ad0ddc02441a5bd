/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums over all cells of a stencil: no digit depends on the number of processes. */
#include "apps/driver/stencil/stencil_impl.h"

#include "core/base/exact_sum.h"
#include "core/messages/collective.h"

#include <math.h>

gab_status gab_app_stencil_visit(const stencil_run *it, stencil_cell_fn *see, void *user)
{
  const int32_t *cells = it->shape.shape.cells;
  for (size_t i = 0; i < gab_forest_block_count(it->base.forest); i++) {
    const gab_block *block = gab_forest_block(it->base.forest, i);
    const gab_field *now = gab_block_data(block, it->now);
    for (int32_t z = 0; z < cells[2]; z++)
      for (int32_t y = 0; y < cells[1]; y++)
        for (int32_t x = 0; x < cells[0]; x++) {
          double values[GAB_STENCIL_MOST_FIELDS];
          for (int f = 0; f < now->shape.components; f++) values[f] = gab_field_get(now, x, y, z, f);
          GAB_TRY(see(user, block, (const int32_t[3]){x, y, z}, values));
        }
  }
  return GAB_OK;
}

typedef struct summing {
  const stencil_run *it;
  gab_exact_sum sums[GAB_STENCIL_MOST_SUMS];
} summing;

/* A coarse cell counts as its number of finest cells, a power of two, so that no rounding occurs. */
static gab_status add_cell(void *user, const gab_block *block, const int32_t at[3], double *values)
{
  summing *by = user;
  const gab_forest *forest = by->it->base.forest;
  const int wider = by->it->parameters->finest - gab_block_level(forest, block);
  double terms[GAB_STENCIL_MOST_SUMS];
  (void)at;
  if (gab_app_stencil->add) gab_app_stencil->add(values, terms);
  for (int i = 0; gab_app_stencil->sums[i]; i++)
    gab_exact_add(&by->sums[i], ldexp(gab_app_stencil->add ? terms[i] : values[i],
                                      wider * gab_forest_get_options(forest)->grid.dimension));
  return GAB_OK;
}

gab_status gab_app_stencil_sums_row(void *user, gab_step step, double time, double *row)
{
  const stencil_run *it = user;
  const int count = gab_app_stencil_count(gab_app_stencil->sums);
  summing by = {.it = it};
  (void)step, (void)time;
  for (int i = 0; i < count; i++) gab_exact_clear(&by.sums[i]);
  GAB_TRY(gab_app_stencil_visit(it, add_cell, &by));
  GAB_TRY(gab_world_sum_exact(it->base.world, by.sums, count));
  for (int i = 0; i < count; i++) row[i] = gab_exact_value(&by.sums[i]);
  return GAB_OK;
}
