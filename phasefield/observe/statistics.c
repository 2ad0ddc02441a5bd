/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of cells and distances in them. */
#include "phasefield/observe/statistics.h"
#include "core/messages/collective.h"
#include "phasefield/levels/levels_impl.h"

/* ------------------------------------------------------------------------------------------ layers */

enum { LAYER_SUMS = GAB_MOST_PHASES + GAB_MOST_INDEPENDENTS, LAYERS_AT_ONCE = 32 };

/* A wide cell is in several rows, and counts there as the cells of the domain that it covers. */
static void add_block(const gab_phasefield_block *block, int64_t first, size_t count,
                      gab_exact_sum (*sums)[LAYER_SUMS])
{
  const gab_phasefield_model *model = block->model;
  const int64_t width = (int64_t)1 << model->coarser;
  const double weight = (double)((int64_t)1 << (model->coarser * (model->dimension - 1)));
  int32_t at[3];
  for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < model->cells[1]; at[1]++) {
      const int64_t lowest =
          (block->first[model->axis] + at[model->axis]) * width - first; /* the axis is not x */
      for (int64_t row = lowest; row < lowest + width; row++) {
        if (row < 0 || row >= (int64_t)count) continue;
        for (at[0] = 0; at[0] < model->cells[0]; at[0]++) {
          for (int a = 0; a < model->phases; a++)
            gab_exact_add(&sums[row][a], weight * gab_field_get(block->phi, at[0], at[1], at[2], a));
          for (int i = 0; i < model->independents; i++)
            gab_exact_add(&sums[row][GAB_MOST_PHASES + i],
                          weight * gab_field_get(block->c, at[0], at[1], at[2], i));
        }
      }
    }
}

/* A handful of layers. */
static gab_status some_layers(gab_phasefield *phasefield, int64_t first, size_t count,
                              gab_exact_sum (*sums)[LAYER_SUMS], gab_phasefield_layer *layers)
{
  const gab_phasefield_model *model = &phasefield->model;
  double cells = 1;
  for (int d = 0; d < 3; d++)
    if (d != model->axis) cells *= (double)model->domain[d];
  for (size_t row = 0; row < count; row++)
    for (int i = 0; i < LAYER_SUMS; i++) gab_exact_clear(&sums[row][i]);
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++)
    add_block(gab_phasefield_block_of(phasefield, i), first, count, sums);
  GAB_TRY(gab_world_sum_exact(gab_forest_world(phasefield->forest), sums[0], count * LAYER_SUMS));
  for (size_t row = 0; row < count; row++) {
    for (int a = 0; a < GAB_MOST_PHASES; a++)
      layers[row].fraction[a] = gab_exact_value(&sums[row][a]) / cells;
    for (int i = 0; i < GAB_MOST_INDEPENDENTS; i++)
      layers[row].content[i] = gab_exact_value(&sums[row][GAB_MOST_PHASES + i]) / cells;
  }
  return GAB_OK;
}

gab_status gab_phasefield_layers(gab_phasefield *phasefield, int64_t first, size_t count,
                                 gab_phasefield_layer *layers)
{
  void *memory;
  gab_status status = GAB_OK;
  GAB_TRY(gab_alloc(sizeof(gab_exact_sum[LAYERS_AT_ONCE][LAYER_SUMS]), GAB_MEMORY_OTHER, &memory));
  for (size_t done = 0; done < count && status == GAB_OK; done += LAYERS_AT_ONCE) {
    const size_t now = count - done < LAYERS_AT_ONCE ? count - done : LAYERS_AT_ONCE;
    status = some_layers(phasefield, first + (int64_t)done, now, memory, layers + done);
  }
  gab_free(&memory);
  return status;
}

/* ------------------------------------------------------------------------------------------ spacing */

static int largest(const gab_phasefield_model *model, const gab_phasefield_block *block, const int32_t at[3])
{
  int best = 0;
  for (int a = 1; a < model->phases; a++)
    if (gab_field_get(block->phi, at[0], at[1], at[2], a) >
        gab_field_get(block->phi, at[0], at[1], at[2], best))
      best = a;
  return best;
}

/* Faces between cells of different phases, counted at both phases, and in all. Ghosts beyond closed sides are
 * like their cells. */
static void count_block(const gab_phasefield_model *model, const gab_phasefield_block *block, int32_t layer,
                        uint64_t *counts)
{
  int32_t upper[3] = {model->cells[0], model->cells[1], model->cells[2]}, at[3] = {0, 0, 0};
  upper[model->axis] = layer + 1;
  for (at[2] = model->axis == 2 ? layer : 0; at[2] < upper[2]; at[2]++)
    for (at[1] = model->axis == 1 ? layer : 0; at[1] < upper[1]; at[1]++)
      for (at[0] = 0; at[0] < upper[0]; at[0]++)
        for (int d = 0; d < model->axis; d++) {
          int32_t before[3] = {at[0], at[1], at[2]};
          before[d]--;
          const int here = largest(model, block, at), there = largest(model, block, before);
          if (here == there) continue;
          counts[here]++;
          counts[there]++;
          counts[GAB_MOST_PHASES]++;
        }
}

gab_status gab_phasefield_measure(gab_phasefield *phasefield, int64_t row, gab_phasefield_spacing *spacing)
{
  const gab_phasefield_model *model = &phasefield->model;
  uint64_t counts[GAB_MOST_PHASES + 1] = {0};
  if (row < 0 || row >= model->domain[model->axis])
    GAB_FAIL(GAB_ERR_ARGUMENT, "there is no row %" PRId64 " among %" PRId64, row, model->domain[model->axis]);
  if (phasefield->levels) GAB_TRY(gab_phasefield_settle(phasefield)); /* finds the neighbours */
  phasefield->phi_ghosts.which = WHICH_PHI;
  GAB_TRY(gab_exchange_start(phasefield->phi_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    const int64_t layer = row - block->first[model->axis];
    if (gab_phasefield_is_coarse(block)) continue; /* of one phase */
    gab_phasefield_fill_rest(block, WHICH_PHI);
    if (layer >= 0 && layer < model->cells[model->axis]) count_block(model, block, (int32_t)layer, counts);
  }
  GAB_TRY(gab_world_sum_u64(gab_forest_world(phasefield->forest), counts, GAB_MOST_PHASES + 1));
  double length = model->axis * model->dx; /* of all lines: each cell is on one in every direction across */
  for (int d = 0; d < model->axis; d++) length *= (double)model->domain[d];
  spacing->width = length / (double)counts[GAB_MOST_PHASES];
  for (int a = 0; a < GAB_MOST_PHASES; a++) spacing->spacing[a] = 2 * length / (double)counts[a];
  return GAB_OK;
}
