/* SPDX-License-Identifier: Apache-2.0 */
/* Work per slab for all kinds of blocks: links, and the sweep of a block or of fused blocks. */
#include "lbm/sparse/sparse_impl.h"

static void sweep_dense(const gab_lbm_model *model, gab_lbm_block *block, const gab_run *runs,
                        const size_t *start, size_t slab)
{
  const size_t slabs = (size_t)model->slabs;
  const size_t first = start[slab], last = start[slab + 1];
  void *to = block->dst ? block->dst->data : block->src->data;
  gab_lbm_sweep_runs(model, block, block->src->data, to, block->now, block->now->next, runs + first,
                     last - first, runs + start[slabs]);
}

void gab_lbm_sweep_slab(const gab_lbm_model *model, gab_lbm_block *block, size_t slab)
{
  if (block->sparse) gab_sparse_sweep(model, block, slab);
  else sweep_dense(model, block, block->runs, block->run_start, slab);
  if (model->local_force) gab_lbm_push_slab(model, block, slab);
}

void gab_lbm_sweep_fused(const gab_lbm_model *model, gab_lbm_block *first, size_t slab)
{
  if (first->sparse) gab_sparse_sweep(model, first, slab);
  else sweep_dense(model, first, first->fused_runs, first->fused_start, slab);
  for (const gab_lbm_block *block = first; block && model->local_force; block = block->next)
    gab_lbm_push_slab(model, block, slab);
}

void gab_links_apply(const gab_lbm_model *model, const gab_lbm_job *job, const double ramp[GAB_SIDE_COUNT])
{
  if (job->block->sparse) gab_sparse_apply_links(model, job, ramp);
  else gab_links_apply_dense(model, job, ramp);
}
