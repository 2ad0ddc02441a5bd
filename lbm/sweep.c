/* A step, slab by slab. A slab is some layers of a block across its last axis.
 *
 * Before a cell is swept, the ghosts and boundary cells around it must have sent. A link of a cell looks no
 * further than one cell, ghosts included, and has to do so before the sweep takes what lies there. So of
 * slabs s, s - 1, s - 2 the ghosts, the links and the cells can be done in turn, and the lines of memory that
 * the one brings into the caches are still there for the next: ghosts and links across x cost no second way
 * to the memory, and small blocks are looked at once.
 *
 * Where a block is shared by threads, the slabs at both ends of the shares come first: the ghosts of all, the
 * links of all, then the rest. */
#include "lbm/lbm_impl.h"

#include <math.h>

typedef struct step_of {
  const gab_lbm_model *model;
  double ramp[GAB_SIDE_COUNT];
} step_of;

/* The slabs of a share that other threads need something of. */
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

static void ghosts_of_slab(const step_of *step, const gab_lbm_job *job, size_t slab)
{
  gab_lbm_job one = slab_of(job, slab);
  gab_lbm_fill_ghosts(step->model, &one, false);
}

static void links_of_slab(const step_of *step, const gab_lbm_job *job, size_t slab)
{
  gab_lbm_job one = slab_of(job, slab);
  gab_links_apply(step->model, &one, step->ramp);
}

static void sweep_slab(const step_of *step, const gab_lbm_job *job, size_t slab)
{
  gab_lbm_block *block = job->block;
  size_t first = block->run_start[slab], last = block->run_start[slab + 1];
  const gab_sweep sweep = {.from = block->src->data,
                           .to = block->dst ? block->dst->data : block->src->data,
                           .before = block->now,
                           .after = block->now->next,
                           .rates = &step->model->rates};
  step->model->kernel->run(&sweep, block->runs + first, last - first);
}

static void early_ghosts(const step_of *step, const gab_lbm_job *job)
{
  if (job->part == 0) gab_lbm_fill_ghosts(step->model, job, true);
  for (size_t s = job->first_slab; s < job->last_slab; ++s)
    if (ghosts_come_first(job, s)) ghosts_of_slab(step, job, s);
}

static void early_links(const step_of *step, const gab_lbm_job *job)
{
  for (size_t s = job->first_slab; s < job->last_slab; ++s)
    if (links_come_first(job, s)) links_of_slab(step, job, s);
}

/* All that is left of a share. */
static void main_part(const step_of *step, const gab_lbm_job *job, bool is_settled, bool with_sweep)
{
  if (!is_settled && job->parts == 1) gab_lbm_fill_ghosts(step->model, job, true);
  for (size_t s = job->first_slab; s < job->last_slab + 2; ++s) {
    if (!is_settled && s < job->last_slab && !ghosts_come_first(job, s)) ghosts_of_slab(step, job, s);
    if (!is_settled && s > job->first_slab && s <= job->last_slab && !links_come_first(job, s - 1))
      links_of_slab(step, job, s - 1);
    if (with_sweep && s >= job->first_slab + 2) sweep_slab(step, job, s - 2);
  }
}

static void ramps_at(const gab_lbm *lbm, double ramp[GAB_SIDE_COUNT])
{
  const double pi = 3.14159265358979323846;
  for (int side = 0; side < GAB_SIDE_COUNT; ++side) {
    double steps = lbm->model.options.sides[side].ramp_steps, now = (double)lbm->step;
    ramp[side] = now >= steps ? 1 : (1 - cos(pi * now / steps)) / 2;
  }
}

/* Small blocks side by side go to the same thread as far as that leaves enough to share out. */
static int chunk_of(size_t jobs)
{
#ifdef _OPENMP
  enum { CHUNKS_PER_THREAD = 16 };
  size_t chunk = jobs / ((size_t)gab_thread_count() * CHUNKS_PER_THREAD);
  return chunk < 1 ? 1 : chunk > 64 ? 64 : (int)chunk;
#else
  (void)jobs;
  return 1;
#endif
}

static void run_jobs(const gab_lbm *lbm, const gab_lbm_jobs *jobs, bool with_sweep)
{
  step_of step = {.model = &lbm->model};
  ramps_at(lbm, step.ramp);
  const bool shared = jobs->count > 0 && jobs->list[0].parts > 1;
  const int chunk = chunk_of(jobs->count);
  (void)chunk;
#pragma omp parallel
  {
    if (shared && !lbm->is_settled) {
#pragma omp for schedule(static)
      for (size_t i = 0; i < jobs->count; ++i) early_ghosts(&step, &jobs->list[i]);
#pragma omp for schedule(static)
      for (size_t i = 0; i < jobs->count; ++i) early_links(&step, &jobs->list[i]);
    }
#pragma omp for schedule(dynamic, chunk)
    for (size_t i = 0; i < jobs->count; ++i) main_part(&step, &jobs->list[i], lbm->is_settled, with_sweep);
  }
}

gab_status gab_lbm_settle(gab_lbm *lbm)
{
  if (lbm->is_settled) return GAB_OK;
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, &jobs));
  run_jobs(lbm, &jobs, false);
  gab_lbm_release_jobs(&jobs);
  gab_lbm_forget_ghosts(lbm);
  lbm->is_settled = true;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ stepping */

gab_status gab_lbm_exchange_start(gab_lbm *lbm)
{
  gab_lbm_forget_ghosts(lbm); /* an exchange that a fault cut short may have left some */
  lbm->is_settled = true;
  return gab_exchange_start(lbm->exchange);
}

gab_status gab_lbm_exchange_finish(gab_lbm *lbm)
{
  GAB_TRY(gab_exchange_finish(lbm->exchange));
  lbm->is_settled = false;
  lbm->revision = gab_forest_revision(lbm->forest);
  if (!lbm->wants_forces) return GAB_OK;
  GAB_TRY(gab_lbm_settle(lbm));
  gab_lbm_add_forces(lbm);
  return GAB_OK;
}

/* After a sweep over all of the block. */
static void turn_over(gab_lbm_block *block)
{
  block->now = block->now->next;
  if (!block->dst) return;
  gab_field *done = block->dst;
  block->dst = block->src;
  block->src = done;
}

gab_status gab_lbm_collide(gab_lbm *lbm)
{
  gab_world_enter(lbm->world, GAB_PHASE_COMPUTE);
  GAB_TRY(gab_world_check(lbm->world));
  if (!lbm->is_settled && lbm->revision != gab_forest_revision(lbm->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest changed between the exchange and the collision of a step");
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, &jobs));
  run_jobs(lbm, &jobs, true);
  for (size_t i = 0; i < jobs.count; i += jobs.list[i].parts) turn_over(jobs.list[i].block);
  gab_lbm_release_jobs(&jobs);
  gab_lbm_forget_ghosts(lbm);
  lbm->is_settled = true;
  ++lbm->step;
  return GAB_OK;
}

gab_status gab_lbm_step(gab_lbm *lbm)
{
  GAB_TRY(gab_lbm_exchange_start(lbm));
  GAB_TRY(gab_lbm_exchange_finish(lbm));
  return gab_lbm_collide(lbm);
}
