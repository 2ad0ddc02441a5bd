/* What a step does that follows from the forest alone is worked out once for each of its states: jobs, their
 * threads, where ghosts come from, and which slabs can do without messages. */
#include "lbm/lbm_impl.h"

void gab_lbm_drop_plan(gab_lbm_plan *plan)
{
  gab_lbm_release_jobs(&plan->jobs);
  gab_free(&plan->queues);
  *plan = (gab_lbm_plan){0};
}

/* ------------------------------------------------------------------------------------------ before messages
 */

/* True if a message fills ghosts at this side (-1, 0, 1) of the slab axis. */
static bool awaits(const gab_lbm_model *model, const gab_lbm_block *block, int side)
{
  for (int direction = 0; direction < GAB_DIRECTIONS; ++direction) {
    int offset[3];
    gab_direction_offset(direction, offset);
    /* seen by the sender: it lies on the other side */
    if (block->remote >> direction & 1 && -offset[model->slab_axis] == side) return true;
  }
  return false;
}

/* A slab beside ghosts from a message has to wait for it, its links too; and since a link may look at what
 * the sweep of the next slab takes away, that sweep waits for the links. */
static void set_early(const gab_lbm_model *model, gab_lbm_block *block)
{
  const size_t slabs = (size_t)model->slabs;
  block->early_sweep = block->early_links = (gab_lbm_slabs){0, 0};
  if (awaits(model, block, 0)) return;
  const size_t below = awaits(model, block, -1), above = awaits(model, block, 1);
  if (2 * below + 2 * above >= slabs && below + above > 0) return;
  block->early_sweep = (gab_lbm_slabs){2 * below, slabs - 2 * above};
  block->early_links = (gab_lbm_slabs){below, slabs - above};
}

/* ------------------------------------------------------------------------------------------ shares */

static uint64_t weight_of(const gab_lbm_job *job, size_t slabs)
{
  return 1 + job->block->fluid_cells * (job->last_slab - job->first_slab) / slabs;
}

/* Jobs side by side go to the same thread, so that blocks side by side meet in its caches. */
static gab_status share_out(const gab_lbm_model *model, gab_lbm_plan *plan)
{
  void *memory;
  GAB_TRY(gab_alloc(plan->threads * sizeof(gab_lbm_queue), GAB_MEMORY_OTHER, &memory));
  plan->queues = memory;
  uint64_t all = 0, done = 0;
  const size_t slabs = (size_t)model->slabs, count = plan->jobs.count;
  for (size_t i = 0; i < count; ++i) all += weight_of(&plan->jobs.list[i], slabs);
  size_t i = 0;
  for (size_t thread = 0; thread < plan->threads; ++thread) {
    gab_lbm_queue *queue = &plan->queues[thread];
    const uint64_t due = all * (thread + 1) / plan->threads;
    queue->first = i;
    while (i < count && done + weight_of(&plan->jobs.list[i], slabs) / 2 < due)
      done += weight_of(&plan->jobs.list[i++], slabs);
    if (thread + 1 == plan->threads) i = count;
    queue->last = i;
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ all of it */

static gab_status make_plan(gab_lbm *lbm, gab_lbm_stage *stage, gab_lbm_plan *plan)
{
  plan->threads = gab_thread_count();
  GAB_TRY(gab_lbm_make_jobs(lbm, (int)(stage - lbm->stage), &plan->jobs));
  GAB_TRY(share_out(&lbm->model, plan));
  const gab_lbm_jobs *jobs = &plan->jobs;
  for (size_t i = 0; i < jobs->count; ++i) {
    jobs->list[i].block->fetch_count = 0;
    jobs->list[i].block->remote = 0;
  }
  gab_exchange_visit(stage->exchange, gab_lbm_note_way, &lbm->model);
  for (size_t i = 0; i < jobs->count; i += jobs->list[i].parts) {
    gab_lbm_block *block = jobs->list[i].block;
    set_early(&lbm->model, block);
    const size_t early = block->early_sweep.last - block->early_sweep.first;
    plan->has_early = plan->has_early || early > 0;
    plan->has_late = plan->has_late || early < (size_t)lbm->model.slabs;
  }
  return GAB_OK;
}

gab_status gab_lbm_update_plan(gab_lbm *lbm, int level)
{
  gab_lbm_stage *stage = &lbm->stage[level];
  gab_lbm_plan *plan = &stage->plan;
  uint64_t number;
  GAB_TRY(gab_exchange_plan(stage->exchange, &number));
  if (plan->exchange == number && plan->threads == gab_thread_count()) return GAB_OK;
  gab_lbm_drop_plan(plan);
  gab_status status = make_plan(lbm, stage, plan);
  if (status != GAB_OK) gab_lbm_drop_plan(plan);
  else plan->exchange = number;
  return status;
}
