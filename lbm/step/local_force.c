/* What a cell has sent lies in places of its own, whatever the pattern (storage_impl.h): so cells can be changed in any order,
 * by any thread. */
#include "lbm/step/local_force.h"

#include "lbm/lbm_impl.h"

static gab_status check(const gab_lbm *lbm, const gab_local_force *force)
{
  if (!force || !force->name || !force->row)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a local force without a name or a function");
  if (lbm->ghosts != GAB_GHOSTS_STALE)
    GAB_FAIL(GAB_ERR_STATE, "%s is to act between two steps, but an exchange of ghosts has begun",
             force->name);
  if (lbm->recompute)
    GAB_FAIL(GAB_ERR_STATE, "%s would act once on blocks that are computed twice", force->name);
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); ++i) {
    const gab_lbm_block *block = gab_block_data(gab_forest_block(lbm->forest, i), lbm->data);
    if (block->at->level > 0)
      GAB_FAIL(GAB_ERR_STATE, "%s acts on level 0, but there is a block of level %d", force->name,
               block->at->level);
    if (block->sparse)
      GAB_FAIL(GAB_ERR_STATE, "%s acts on blocks that store all cells: the kernel has to be in_place",
               force->name);
  }
  return GAB_OK;
}

static void push_row(const gab_lbm_model *model, const gab_lbm_block *block, size_t start, int32_t count,
                     double force[3][GAB_LBM_ROW])
{
  const gab_lattice *lattice = model->lattice;
  for (int q = 1; q < lattice->q; ++q)
    for (int32_t i = 0; i < count; ++i) {
      const size_t place = gab_place(start + (size_t)i, block->now->sent[q]);
      double along = 0;
      for (int axis = 0; axis < lattice->dimension; ++axis) along += lattice->c[q][axis] * force[axis][i];
      gab_value_set(block->src, place, gab_value_at(block->src, place) + 3 * lattice->weight[q] * along);
    }
}

static void push_block(const gab_lbm *lbm, const gab_block *place, const gab_local_force *force)
{
  const gab_lbm_block *block = gab_block_data(place, lbm->data);
  for (size_t r = 0; r < block->run_count; ++r) {
    const gab_run *run = &block->runs[r];
    for (int32_t done = 0; done < run->length; done += GAB_LBM_ROW) {
      const int32_t left = run->length - done, count = left < GAB_LBM_ROW ? left : GAB_LBM_ROW;
      double rows[3][GAB_LBM_ROW] = {{0}};
      double *const to[3] = {rows[0], rows[1], rows[2]};
      force->row(force->user, place, (const int32_t[3]){run->x + done, run->y, run->z}, count, to);
      push_row(&lbm->model, block, (size_t)run->start + (size_t)done, count, rows);
    }
  }
}

gab_status gab_lbm_apply_local_force(gab_lbm *lbm, const gab_local_force *force)
{
  GAB_TRY(check(lbm, force));
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(lbm->forest);
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < count; ++i) push_block(lbm, gab_forest_block(lbm->forest, (size_t)i), force);
  return GAB_OK;
}
