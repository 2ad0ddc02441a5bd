/* SPDX-License-Identifier: Apache-2.0 */
/* Work units of threads (blocks, or parts of them), and the sweep of a slab: of a dense or sparse block, or of fused blocks. */
#include "lbm/porous/drag_impl.h"
#include "lbm/sparse/sparse_impl.h"

/* ---------------------------------------------------------------- work units */

static bool is_on(const gab_lbm *lbm, size_t index, int level)
{
  return level < 0 || gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, index))->at->level == level;
}

gab_status gab_lbm_jobs_of(const gab_lbm *lbm, gab_lbm_block *const *blocks, size_t count, gab_lbm_jobs *jobs)
{
  enum { JOBS_PER_THREAD = 4 };
  *jobs = (gab_lbm_jobs){0};
  const size_t wanted = gab_thread_count() * JOBS_PER_THREAD;
  if (count == 0) return GAB_OK;
  const size_t parts = gab_thread_count() == 1 || count >= wanted ? 1 : (wanted + count - 1) / count;
  GAB_TRY(GAB_NEW_ARRAY(&jobs->list, count * parts, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++)
    for (size_t part = 0; part < parts; part++) {
      gab_lbm_job *job = &jobs->list[jobs->count++];
      *job = (gab_lbm_job){.block = blocks[i], .part = part, .parts = parts};
      gab_lbm_share(job, (size_t)lbm->model.slabs, &job->first_slab, &job->last_slab);
    }
  return GAB_OK;
}

gab_status gab_lbm_list_blocks(const gab_lbm *lbm, int level, gab_lbm_block ***blocks, size_t *count)
{
  const size_t all = gab_forest_block_count(lbm->forest);
  *blocks = NULL;
  *count = 0;
  GAB_TRY(GAB_NEW_ARRAY(blocks, all, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < all; i++)
    if (is_on(lbm, i, level)) (*blocks)[(*count)++] = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
  return GAB_OK;
}

gab_status gab_lbm_make_jobs(const gab_lbm *lbm, int level, gab_lbm_jobs *jobs)
{
  gab_lbm_block **blocks;
  size_t count;
  *jobs = (gab_lbm_jobs){0};
  GAB_TRY(gab_lbm_list_blocks(lbm, level, &blocks, &count));
  gab_status status = gab_lbm_jobs_of(lbm, blocks, count, jobs);
  gab_free(&blocks);
  return status;
}

void gab_lbm_release_jobs(gab_lbm_jobs *jobs)
{
  gab_free(&jobs->list);
  jobs->count = 0;
}

/* ---------------------------------------------------------------- the sweep of a slab */

static void sweep_dense(const gab_lbm_model *model, gab_lbm_block *block, const gab_run *runs,
                        const size_t *start, size_t slab)
{
  const size_t slabs = (size_t)model->slabs;
  const size_t first = start[slab], last = start[slab + 1];
  void *to = block->dst ? block->dst->data : block->src->data;
  gab_lbm_sweep_runs(model, block, block->src->data, to, block->now, block->now->next, runs + first,
                     last - first, runs + start[slabs]);
}

/* Changes of populations after the sweep of a dense block, or of a fused group. */
static void change_sent(const gab_lbm_model *model, const gab_lbm_block *block, size_t slab,
                        const double ramp[GAB_SIDE_FACTORS])
{
  const gab_sponge_cells cells = {.field = block->dst ? block->dst : block->src,
                                  .sent = block->now->next->sent};
  if (model->sponges && !block->sparse) gab_sponge_apply(model, block, slab, &cells, ramp);
  if (model->local_force) gab_lbm_push_slab(model, block, slab);
  if (model->porous && !block->sparse) gab_porous_apply(model, block, slab, &cells);
}

void gab_lbm_sweep_slab(const gab_lbm_model *model, gab_lbm_block *block, size_t slab,
                        const double ramp[GAB_SIDE_FACTORS])
{
  if (block->sparse) gab_sparse_sweep(model, block, slab, ramp);
  else sweep_dense(model, block, block->runs, block->run_start, slab);
  change_sent(model, block, slab, ramp);
}

void gab_lbm_sweep_fused(const gab_lbm_model *model, gab_lbm_block *first, size_t slab,
                         const double ramp[GAB_SIDE_FACTORS])
{
  if (first->sparse) gab_sparse_sweep(model, first, slab, ramp);
  else sweep_dense(model, first, first->fused_runs, first->fused_start, slab);
  const bool changes = model->sponges || model->local_force || model->porous;
  for (const gab_lbm_block *block = first; block && changes; block = block->next)
    change_sent(model, block, slab, ramp);
}
