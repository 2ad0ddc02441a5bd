/* SPDX-License-Identifier: Apache-2.0 */
/* A step, slab by slab. A slab is some layers of a block across its last axis.
 *
 * Before a cell is swept, the ghosts and boundary cells around it must have sent. A link of a cell reads one cell away at most,
 * ghosts included, and must do so before the sweep takes that population. So ghosts, links and cells of slabs s, s - 1, s - 2
 * can be computed in turn, while their cache lines are still present: ghosts and links across x need no second pass over
 * memory, and small blocks are read once.
 *
 * If threads share a block, the slabs at both ends of the shares come first: the ghosts of all, the links of all, then the rest.
 *
 * While messages are in transit, slabs that need none can be computed (plan.c). The others are not affected: the sweep of a cell
 * touches only its arrivals (storage_impl.h), and populations that are packed, or fetched by other blocks, have been sent to
 * cells outside of this block. */
#include "lbm/levels/level_interface_impl.h"
#include "lbm/sides/side_plane_impl.h"
#include "lbm/step/fused/fused_impl.h"

#include "core/base/log.h"

#include <math.h>

/* Slabs to process: all, those that need no pending messages, or the others. */
typedef enum step_phase { PHASE_ALL, PHASE_EARLY, PHASE_LATE } step_phase;

typedef struct step_of {
  const gab_lbm_model *model;
  const gab_lbm_stage *stage;
  gab_lbm_plan *plan;
  step_phase phase;
  bool with_ghosts, with_sweep;
  /* Next to other levels. */
  int sub;
  bool with_pulls, with_corrections, with_picks;
  double ramp[GAB_SIDE_FACTORS], growth[GAB_SIDE_FACTORS]; /* growth: until s2 of the finer level */
} step_of;

/* Data of a thread in addition to the step. */
typedef struct worker {
  gab_lbm_clock *clock; /* NULL: timing is off */
  bool talks;           /* advances messages */
  size_t cells;         /* cells swept since it last did so */
  gab_status status;
} worker;

static bool is_due(const step_of *step, gab_lbm_slabs early, size_t slab)
{
  if (step->phase == PHASE_ALL) return true;
  bool is_early = early.first <= slab && slab < early.last;
  return is_early == (step->phase == PHASE_EARLY);
}
/* All local ghosts of a block are set early if any slab is. */
static bool ghosts_are_due(const step_of *step, const gab_lbm_block *block)
{
  if (!step->with_ghosts) return false;
  if (step->phase == PHASE_ALL) return true;
  bool are_early = block->early_sweep.first < block->early_sweep.last;
  return are_early == (step->phase == PHASE_EARLY);
}
static bool links_are_due(const step_of *step, const gab_lbm_block *block, size_t slab)
{
  return step->with_ghosts && is_due(step, block->early_links, slab);
}

/* Slabs of a share from which other threads need data. */
static bool ghosts_come_first(const gab_lbm_job *job, size_t slab)
{
  return job->parts > 1 && (slab < job->first_slab + 2 || slab + 2 >= job->last_slab);
}
static bool links_come_first(const gab_lbm_job *job, size_t slab)
{
  return job->parts > 1 && (slab == job->first_slab || slab + 1 == job->last_slab);
}

static gab_lbm_job slab_of(const gab_lbm_job *job, size_t slab)
{
  gab_lbm_job one = *job;
  one.first_slab = slab;
  one.last_slab = slab + 1;
  return one;
}

/* ------------------------------------------------------------------------------------------ one slab */

static double now(const worker *by) { return by->clock ? gab_seconds() : 0; }

static void ghosts_of_slab(const step_of *step, worker *by, const gab_lbm_job *job, size_t slab)
{
  const double start = now(by);
  gab_lbm_job one = slab_of(job, slab);
  for (; one.block; one.block = one.block->next) gab_lbm_fill_ghosts(step->model, &one, false);
  if (by->clock) by->clock->ghosts += now(by) - start;
}

static void ghosts_across(const step_of *step, worker *by, const gab_lbm_job *job)
{
  const double start = now(by);
  gab_lbm_job one = *job;
  for (; one.block; one.block = one.block->next) gab_lbm_fill_ghosts(step->model, &one, true);
  if (by->clock) by->clock->ghosts += now(by) - start;
}

static void links_of_slab(const step_of *step, worker *by, const gab_lbm_job *job, size_t slab)
{
  const double start = now(by);
  gab_lbm_job one = slab_of(job, slab);
  for (; one.block; one.block = one.block->next) gab_links_apply(step->model, &one, step->ramp);
  if (by->clock) by->clock->links += now(by) - start;
}

/* The thread that calls MPI advances messages now and then. */
static void help_messages(const step_of *step, worker *by, const gab_lbm_block *block)
{
  enum { CELLS_BETWEEN = 16384 };
  by->cells += (size_t)(gab_lbm_fluid_of(block) / (uint64_t)step->model->slabs);
  if (!by->talks || by->cells < CELLS_BETWEEN) return;
  by->cells = 0;
  bool done = false;
  by->status = gab_exchange_progress(step->stage->exchange, &done);
  by->talks = by->status == GAB_OK && !done;
}

static void sweep_slab(const step_of *step, worker *by, const gab_lbm_job *job, size_t slab)
{
  const double start = now(by);
  gab_lbm_sweep_fused(step->model, job->block, slab, step->ramp);
  if (by->clock) by->clock->sweep += now(by) - start;
  if (by->talks) help_messages(step, by, job->block);
}

/* ------------------------------------------------------------------------------------------ other levels */

/* Work of blocks before ghosts and links, and between these and the sweep. Populations collected for s1 were sent by the
 * previous sweep. */
static void prepare(const step_of *step, worker *by, const gab_lbm_block *first)
{
  if (!(step->with_pulls || step->with_corrections)) return;
  const double start = now(by);
  for (const gab_lbm_block *block = first; block; block = block->next) {
    if (step->with_pulls && step->sub == 0) gab_level_interface_coalesce_first(block);
    if (step->with_pulls) gab_level_interface_explode(block, step->sub, step->ramp);
    if (step->with_corrections) gab_level_interface_find_arrivals(step->model, block);
  }
  for (const gab_lbm_block *block = first; block && step->with_corrections; block = block->next)
    gab_level_interface_correct(block, step->ramp, step->growth, false);
  if (by->clock) by->clock->interfaces += now(by) - start;
}

/* After the sweep of the whole block. */
static void pick_up_block(const step_of *step, worker *by, const gab_lbm_block *block)
{
  if (!block->interface || !step->with_picks) return;
  const double start = now(by);
  gab_level_interface_coalesce_second(block, block->dst ? block->dst : block->src, block->now->next);
  if (by->clock) by->clock->interfaces += now(by) - start;
}

static void pick_up(const step_of *step, worker *by, const gab_lbm_block *first)
{
  for (const gab_lbm_block *block = first; block; block = block->next) pick_up_block(step, by, block);
}

/* ------------------------------------------------------------------------------------------ one share */

static void early_ghosts(const step_of *step, worker *by, const gab_lbm_job *job)
{
  if (!ghosts_are_due(step, job->block)) return;
  if (job->part == 0) ghosts_across(step, by, job);
  for (size_t s = job->first_slab; s < job->last_slab; s++)
    if (ghosts_come_first(job, s)) ghosts_of_slab(step, by, job, s);
}

static void early_links(const step_of *step, worker *by, const gab_lbm_job *job)
{
  for (size_t s = job->first_slab; s < job->last_slab; s++)
    if (links_come_first(job, s) && links_are_due(step, job->block, s)) links_of_slab(step, by, job, s);
}

/* The rest of a share. */
static void main_part(const step_of *step, worker *by, const gab_lbm_job *job)
{
  const gab_lbm_block *block = job->block;
  const bool ghosts = ghosts_are_due(step, block);
  if (job->parts == 1) prepare(step, by, block);
  if (ghosts && job->parts == 1) ghosts_across(step, by, job);
  for (size_t s = job->first_slab; s < job->last_slab + 2; s++) {
    if (ghosts && s < job->last_slab && !ghosts_come_first(job, s)) ghosts_of_slab(step, by, job, s);
    if (s > job->first_slab && s <= job->last_slab && !links_come_first(job, s - 1) &&
        links_are_due(step, block, s - 1))
      links_of_slab(step, by, job, s - 1);
    if (step->with_sweep && s >= job->first_slab + 2 && is_due(step, block->early_sweep, s - 2))
      sweep_slab(step, by, job, s - 2);
  }
  if (job->parts == 1) pick_up(step, by, block);
}

/* For balancing; several threads may share a block. The time of a fused group is divided by fluid cells. */
static void timed_part(const step_of *step, worker *by, const gab_lbm_job *job)
{
  const double start = gab_thread_seconds();
  main_part(step, by, job);
  const double taken = (gab_thread_seconds() - start) * 1e9, fluid = (double)gab_lbm_fluid_of(job->block);
  for (gab_lbm_block *block = job->block; block; block = block->next) {
    const uint64_t share = (uint64_t)(fluid > 0 ? taken * ((double)block->fluid_cells / fluid) : taken);
#pragma omp atomic
    block->work += share;
  }
}

/* ------------------------------------------------------------------------------------------ all shares */

/* First the jobs planned for this thread, then jobs of others that are not started. */
static void work_off(const step_of *step, worker *by)
{
  const size_t threads = step->plan->threads, mine = gab_thread_number();
  for (size_t k = 0; k < threads; k++) {
    gab_lbm_queue *queue = &step->plan->queues[(mine + k) % threads];
    for (;;) {
      size_t i = atomic_fetch_add_explicit(&queue->next, 1, memory_order_relaxed);
      if (i >= queue->last) break;
      step->plan->jobs.list[i].by = mine;
      if (step->model->times_blocks) timed_part(step, by, &step->plan->jobs.list[i]);
      else main_part(step, by, &step->plan->jobs.list[i]);
    }
  }
}

static void work(const step_of *step, worker *by)
{
  const gab_lbm_jobs *jobs = &step->plan->jobs;
  const bool shared = jobs->count > 0 && jobs->list[0].parts > 1;
  const double start = now(by);
  if (shared && (step->with_pulls || step->with_corrections)) {
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < jobs->count; i++)
      if (jobs->list[i].part == 0) prepare(step, by, jobs->list[i].block);
  }
  if (shared && step->with_ghosts) {
#pragma omp for schedule(static)
    for (size_t i = 0; i < jobs->count; i++) early_ghosts(step, by, &jobs->list[i]);
#pragma omp for schedule(static)
    for (size_t i = 0; i < jobs->count; i++) early_links(step, by, &jobs->list[i]);
  }
  work_off(step, by);
  if (shared && step->with_picks) {
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < jobs->count; i++)
      if (jobs->list[i].part == 0) pick_up(step, by, jobs->list[i].block);
  }
  if (by->clock) by->clock->all += now(by) - start;
}

static void find_ramps(const gab_lbm *lbm, const gab_lbm_substep *at, step_of *step)
{
  gab_lbm_ramps(lbm, at->time, step->ramp);
  if (!step->with_corrections) return;
  gab_lbm_ramps(lbm, at->time + ldexp(1, -(at->level + 1)), step->growth);
  for (int k = 0; k < GAB_SIDE_FACTORS; k++) step->growth[k] -= step->ramp[k];
}

/* Of planes with links of this process. */
static gab_status read_planes(const gab_lbm_model *model, double time)
{
  for (int k = 0; model->plays_planes && k < gab_lbm_condition_count(&model->options); k++) {
    gab_side_plane *plane = gab_lbm_condition(&model->options, k)->plane;
    if (plane && plane->is_wanted) GAB_TRY(gab_side_plane_set_time(plane, time));
  }
  return GAB_OK;
}

/* @return status of message progress, in the early phase */
static gab_status run_phase(const gab_lbm *lbm, step_of *step, const gab_lbm_substep *at)
{
  gab_lbm_plan *plan = step->plan;
  gab_status status = GAB_OK;
  if (plan->jobs.count == 0) return GAB_OK;
  find_ramps(lbm, at, step);
  GAB_TRY(read_planes(&lbm->model, at->time));
  for (size_t thread = 0; thread < plan->threads; thread++)
    atomic_store_explicit(&plan->queues[thread].next, plan->queues[thread].first, memory_order_relaxed);
#pragma omp parallel
  {
    const int number = (int)gab_thread_number();
    worker by = {.clock = (size_t)number < lbm->clocks ? &lbm->clock[number] : NULL,
                 .talks = number == 0 && step->phase == PHASE_EARLY};
    work(step, &by);
    if (number == 0) status = by.status;
  }
  return status;
}

static step_of step_on(gab_lbm *lbm, int level, step_phase phase)
{
  gab_lbm_stage *stage = &lbm->stage[level];
  return (step_of){.model = &lbm->model,
                   .stage = stage,
                   .plan = &stage->plan,
                   .phase = phase,
                   .with_ghosts = !stage->is_settled};
}

/* ------------------------------------------------------------------------------------------ one level */

gab_status gab_lbm_start_on(gab_lbm *lbm, int level)
{
  gab_lbm_stage *stage = &lbm->stage[level];
  const double start = gab_lbm_clock_now(lbm);
  if (stage->inner_is_swept && stage->revision == gab_forest_revision(lbm->forest))
    GAB_FAIL(GAB_ERR_STATE, "a step whose inner cells are swept already has to end by gab_lbm_collide()");
  stage->inner_is_swept = false;
  stage->is_settled = true;
  gab_status status = gab_exchange_start(stage->exchange);
  gab_lbm_clock_messages(lbm, start);
  return status;
}

gab_status gab_lbm_finish_on(gab_lbm *lbm, int level)
{
  gab_lbm_stage *stage = &lbm->stage[level];
  const double start = gab_lbm_clock_now(lbm);
  GAB_TRY(gab_exchange_finish(stage->exchange));
  stage->is_settled = false;
  stage->revision = gab_forest_revision(lbm->forest);
  gab_lbm_clock_messages(lbm, start);
  return GAB_OK;
}

/* Ghosts in coarser blocks need no messages of this level: they are filled in all blocks. */
gab_status gab_lbm_collide_inner_on(gab_lbm *lbm, const gab_lbm_substep *at)
{
  gab_lbm_stage *stage = &lbm->stage[at->level];
  if (lbm->wants_forces || at->has_finer || gab_lbm_recompute_waits(lbm)) return GAB_OK;
  GAB_TRY(gab_lbm_update_plan(lbm, at->level));
  const gab_lbm_plan *plan = &stage->plan;
  if (!plan->has_early || !plan->has_late) return GAB_OK; /* a single phase costs less */
  stage->inner_is_swept = true;
  stage->is_settled = false;
  stage->revision = gab_forest_revision(lbm->forest);
  step_of step = step_on(lbm, at->level, PHASE_EARLY);
  step.with_sweep = true;
  step.with_pulls = at->has_coarser;
  step.sub = at->sub;
  return run_phase(lbm, &step, at);
}

gab_status gab_lbm_settle_on(gab_lbm *lbm, const gab_lbm_substep *at)
{
  gab_lbm_stage *stage = &lbm->stage[at->level];
  if (stage->is_settled) return GAB_OK;
  GAB_TRY(gab_lbm_update_plan(lbm, at->level));
  step_of step = step_on(lbm, at->level, PHASE_ALL);
  step.with_pulls = at->has_coarser;
  step.sub = at->sub;
  GAB_TRY(run_phase(lbm, &step, at));
  stage->is_settled = true;
  return GAB_OK;
}

/* After a sweep of the whole block. */
static void turn_over(gab_lbm_block *block)
{
  gab_side_state_turn_over(block->side_state);
  block->now = block->now->next;
  gab_fused_turn_over(block);
  if (!block->dst) return;
  gab_field *done = block->dst;
  block->dst = block->src;
  block->src = done;
}

/* The input of the blocks in the sample must be complete in their fields. */
static gab_status keep_sample(gab_lbm *lbm, const gab_lbm_substep *at)
{
  GAB_TRY(gab_lbm_settle_on(lbm, at));
  if (at->has_finer) {
    step_of step = step_on(lbm, at->level, PHASE_ALL);
    step.with_corrections = true;
    GAB_TRY(run_phase(lbm, &step, at));
  }
  return gab_lbm_recompute_keep(lbm, at);
}

gab_status gab_lbm_collide_on(gab_lbm *lbm, const gab_lbm_substep *at)
{
  gab_lbm_stage *stage = &lbm->stage[at->level];
  gab_world_enter(lbm->world, GAB_FAULT_POINT_COMPUTE);
  GAB_TRY(gab_world_check(lbm->world));
  if (stage->revision > 0 && stage->revision != gab_forest_revision(lbm->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest changed between the exchange and the collision of a step");
  GAB_TRY(gab_lbm_update_plan(lbm, at->level));
  GAB_TRY(gab_lbm_recompute_begin(lbm, at->level));
  const bool twice = gab_lbm_recompute_is_due(lbm, at);
  if (twice) GAB_TRY(keep_sample(lbm, at));
  step_of step = step_on(lbm, at->level, stage->inner_is_swept ? PHASE_LATE : PHASE_ALL);
  step.with_sweep = true;
  step.sub = at->sub;
  step.with_pulls = at->has_coarser && !stage->is_settled && !stage->inner_is_swept;
  step.with_corrections = at->has_finer && !twice;
  step.with_picks = at->has_coarser && at->sub == 0;
  GAB_TRY(run_phase(lbm, &step, at));
  const gab_lbm_jobs *jobs = &stage->plan.jobs;
  for (size_t i = 0; i < jobs->count; i += jobs->list[i].parts)
    for (gab_lbm_block *block = jobs->list[i].block; block; block = block->next) turn_over(block);
  gab_wall_balance_collect(lbm, at->level);
  stage->inner_is_swept = false;
  stage->is_settled = true;
  return twice ? gab_lbm_recompute_compare(lbm, at) : GAB_OK;
}
