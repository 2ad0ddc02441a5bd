/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: inflow through reservoirs and with the window, minus outflow with the window. */
#include "core/messages/collective.h"
#include "phasefield/phasefield_impl.h"

/* Cells of the finest level per cell of the model. */
static double weight_of(const gab_phasefield_model *model)
{
  return (double)((int64_t)1 << (model->coarser * model->dimension));
}

/* Flux that the sweep adds to a cell through a face of the domain, computed from the same numbers. The ghost has the
 * fractions of the cell, so no phase grows across the face, and M grad mu is the only current. */
static void add_cell(const gab_phasefield_model *model, const gab_phasefield_block *block,
                     const int32_t at[3], int axis, int32_t out, gab_exact_sum *sums)
{
  const int n = model->independents;
  int32_t ghost[3] = {at[0], at[1], at[2]};
  ghost[axis] += out;
  double slope[GAB_MOST_INDEPENDENTS];
  for (int i = 0; i < n; i++)
    slope[i] = (gab_field_get(block->mu, ghost[0], ghost[1], ghost[2], i) -
                gab_field_get(block->mu, at[0], at[1], at[2], i)) /
               model->dx;
  for (int i = 0; i < n; i++) {
    double flux = 0;
    for (int a = 0; a < model->phases; a++) {
      double row = 0;
      for (int j = 0; j < n; j++) row += model->options.thermo.susceptibility[a][i][j] * slope[j];
      flux += gab_field_get(block->phi, at[0], at[1], at[2], a) * model->options.thermo.phase[a].diffusivity *
              row;
    }
    gab_exact_add(&sums[i], weight_of(model) * (model->options.dt / model->dx * flux));
  }
}

static void add_side(const gab_phasefield_model *model, const gab_phasefield_block *block, int side,
                     gab_exact_sum *sums)
{
  const int axis = side / 2;
  gab_box box = gab_field_interior(block->mu);
  if (side % 2 == 0) box.hi[axis] = 1;
  else box.lo[axis] = box.hi[axis] - 1;
  for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
    for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
      for (int64_t x = box.lo[0]; x < box.hi[0]; x++)
        add_cell(model, block, (const int32_t[3]){(int32_t)x, (int32_t)y, (int32_t)z}, axis,
                 side % 2 == 0 ? -1 : 1, sums);
}

void gab_phasefield_ledger_step(gab_phasefield *phasefield)
{
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++)
    for (int side = 0; side < 2 * phasefield->model.dimension; side++) {
      const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
      const gab_phasefield_model *model = block->model;
      if (model->options.sides[side].kind == GAB_PHASEFIELD_RESERVOIR &&
          gab_phasefield_is_at_side(model, block, side))
        add_side(model, block, side, phasefield->ledger);
    }
}

void gab_phasefield_ledger_row(gab_phasefield *phasefield, const gab_phasefield_block *block, int32_t row,
                               double sign)
{
  const gab_phasefield_model *model = block->model;
  gab_box box = gab_field_interior(block->c);
  sign *= weight_of(model);
  box.lo[model->axis] = row;
  box.hi[model->axis] = row + 1;
  for (int i = 0; i < model->independents; i++)
    for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
      for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
        for (int64_t x = box.lo[0]; x < box.hi[0]; x++)
          gab_exact_add(&phasefield->ledger[i],
                        sign * gab_field_get(block->c, (int32_t)x, (int32_t)y, (int32_t)z, i));
}

gab_status gab_phasefield_ledger(gab_phasefield *phasefield, double *gained)
{
  gab_exact_sum sums[GAB_MOST_INDEPENDENTS];
  for (int i = 0; i < GAB_MOST_INDEPENDENTS; i++) sums[i] = phasefield->ledger[i];
  GAB_TRY(gab_world_sum_exact(gab_forest_world(phasefield->forest), sums, GAB_MOST_INDEPENDENTS));
  for (int i = 0; i < phasefield->model.independents; i++) gained[i] = gab_exact_value(&sums[i]);
  return GAB_OK;
}

gab_status gab_phasefield_ledger_pack(void *phasefield, gab_buffer *out)
{
  return gab_put_bytes(out, ((gab_phasefield *)phasefield)->ledger,
                       sizeof(gab_exact_sum[GAB_MOST_INDEPENDENTS]));
}

gab_status gab_phasefield_ledger_unpack(void *phasefield, gab_reader *in)
{
  return gab_get_bytes(in, ((gab_phasefield *)phasefield)->ledger,
                       sizeof(gab_exact_sum[GAB_MOST_INDEPENDENTS]));
}

gab_status gab_phasefield_ledger_adopt(void *phasefield, gab_rank dead, gab_reader *in)
{
  (void)dead;
  gab_exact_sum theirs[GAB_MOST_INDEPENDENTS];
  GAB_TRY(gab_get_bytes(in, theirs, sizeof theirs));
  for (int i = 0; i < GAB_MOST_INDEPENDENTS; i++)
    gab_exact_merge(&((gab_phasefield *)phasefield)->ledger[i], &theirs[i]);
  return GAB_OK;
}
