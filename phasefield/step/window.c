/* SPDX-License-Identifier: Apache-2.0 */
/* The moving window: whole rows leave at the bottom, melt comes in on top. */
#include "core/messages/collective.h"
#include "phasefield/levels/levels_impl.h"

#include <string.h>

gab_status gab_phasefield_front(gab_phasefield *phasefield, int64_t *row)
{
  const gab_phasefield_model *model = &phasefield->model;
  uint64_t above = 0; /* row + 1 */
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    int32_t at[3];
    for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
      for (at[1] = 0; at[1] < model->cells[1]; at[1]++)
        for (at[0] = 0; at[0] < model->cells[0]; at[0]++) {
          const uint64_t mine = (uint64_t)(block->first[model->axis] + at[model->axis] + 1)
                                << block->model->coarser;
          if (mine > above && gab_field_get(block->phi, at[0], at[1], at[2], model->melt) < 0.5) above = mine;
        }
  }
  GAB_TRY(gab_world_max_u64(gab_forest_world(phasefield->forest), &above, 1));
  *row = (int64_t)above - 1;
  return GAB_OK;
}

/* Every cell takes the value of the cell above; the topmost one its ghost. */
static void shift_field(const gab_phasefield_model *model, gab_field *field)
{
  gab_box to = gab_field_interior(field), from;
  for (int64_t layer = 0; layer < model->cells[model->axis]; layer++) {
    to.lo[model->axis] = layer;
    to.hi[model->axis] = layer + 1;
    from = to;
    from.lo[model->axis]++;
    from.hi[model->axis]++;
    gab_field_copy_box(field, &to, field, &from, NULL, field->shape.components);
  }
}

/* The new row: phi continues, c is that of the melt with the mu of the reservoir above or, beyond a closed side, with
 * the mu of the row below. mu of that row has not been shifted yet. */
static void enter_row(const gab_phasefield_model *model, const gab_phasefield_block *block)
{
  const gab_phasefield_side *side = &model->options.sides[2 * model->axis + 1];
  const gab_phasefield_slice slice =
      gab_phasefield_slice_at(model, model->domain[model->axis] - 1, model->step);
  gab_box box = gab_field_interior(block->c);
  box.lo[model->axis] = box.hi[model->axis] - 1;
  for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
    for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
      for (int64_t x = box.lo[0]; x < box.hi[0]; x++) {
        double phi[GAB_MOST_PHASES], mu[GAB_MOST_INDEPENDENTS], c[GAB_MOST_INDEPENDENTS];
        for (int a = 0; a < model->phases; a++)
          phi[a] = gab_field_get(block->phi, (int32_t)x, (int32_t)y, (int32_t)z, a);
        for (int i = 0; i < model->independents; i++)
          mu[i] = side->kind == GAB_PHASEFIELD_RESERVOIR
                      ? side->mu[i]
                      : gab_field_get(block->mu, (int32_t)x, (int32_t)y, (int32_t)z, i);
        gab_phasefield_c_of_mu(model, &slice, phi, mu, c);
        for (int i = 0; i < model->independents; i++)
          gab_field_set(block->c, (int32_t)x, (int32_t)y, (int32_t)z, i, c[i]);
      }
}

static gab_status shift_once(gab_phasefield *phasefield)
{
  gab_phasefield_model *model = &phasefield->model;
  phasefield->phi_ghosts.which = WHICH_PHI;
  GAB_TRY(gab_exchange_start(phasefield->phi_exchange));
  GAB_TRY(gab_exchange_start(phasefield->c_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->c_exchange));
  model->shift++;
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    const bool top = block->first[model->axis] + model->cells[model->axis] == model->domain[model->axis];
    gab_phasefield_fill_sides(model, block, WHICH_PHI);
    if (block->first[model->axis] == 0) gab_phasefield_ledger_row(phasefield, block, 0, -1);
    shift_field(model, block->phi);
    shift_field(model, block->c);
    if (top) {
      enter_row(model, block);
      gab_phasefield_ledger_row(phasefield, block, model->cells[model->axis] - 1, 1);
    }
    gab_phasefield_make_mu(model, block);
  }
  phasefield->revision = 0; /* the ghosts of phi are those of the old place */
  return GAB_OK;
}

gab_status gab_phasefield_shift(gab_phasefield *phasefield, int64_t rows)
{
  const gab_phasefield_model *model = &phasefield->model;
  if (model->options.sides[2 * model->axis].kind == GAB_PHASEFIELD_PERIODIC)
    GAB_FAIL(GAB_ERR_STATE, "a window cannot move along a periodic axis");
  if (rows < 0 || rows > model->domain[model->axis])
    GAB_FAIL(GAB_ERR_ARGUMENT, "a window of %" PRId64 " rows cannot move by %" PRId64,
             model->domain[model->axis], rows);
  GAB_TRY(gab_world_check(gab_forest_world(phasefield->forest)));
  if (phasefield->revision != gab_forest_revision(phasefield->forest))
    for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
      gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
      gab_phasefield_make_mu(block->model, block);
    }
  if (phasefield->levels) return gab_phasefield_levels_shift(phasefield, rows);
  for (int64_t row = 0; row < rows; row++) GAB_TRY(shift_once(phasefield));
  return GAB_OK;
}
