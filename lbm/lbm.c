#include "lbm/lbm_impl.h"

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ------------------------------------------------------------------------------------------ jobs */

static size_t thread_count(void)
{
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

gab_status gab_lbm_make_jobs(const gab_lbm *lbm, gab_lbm_jobs *jobs)
{
  enum { JOBS_PER_THREAD = 4 };
  *jobs = (gab_lbm_jobs){0};
  size_t blocks = gab_forest_block_count(lbm->forest), wanted = thread_count() * JOBS_PER_THREAD;
  if (blocks == 0) return GAB_OK;
  size_t parts = thread_count() == 1 || blocks >= wanted ? 1 : (wanted + blocks - 1) / blocks;
  void *list;
  GAB_TRY(gab_alloc(blocks * parts * sizeof(gab_lbm_job), GAB_MEMORY_OTHER, &list));
  jobs->list = list;
  for (size_t i = 0; i < blocks; ++i) {
    gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    for (size_t part = 0; part < parts; ++part)
      jobs->list[jobs->count++] = (gab_lbm_job){.block = block, .part = part, .parts = parts};
  }
  return GAB_OK;
}

void gab_lbm_release_jobs(gab_lbm_jobs *jobs)
{
  gab_free(&jobs->list);
  jobs->count = 0;
}

/* ------------------------------------------------------------------------------------------ stepping */

gab_status gab_lbm_exchange_start(gab_lbm *lbm) { return gab_exchange_start(lbm->exchange); }

static void ramps_at(const gab_lbm *lbm, double ramp[GAB_SIDE_COUNT])
{
  const double pi = 3.14159265358979323846;
  for (int side = 0; side < GAB_SIDE_COUNT; ++side) {
    double steps = lbm->model.options.sides[side].ramp_steps, now = (double)lbm->step;
    ramp[side] = now >= steps ? 1 : (1 - cos(pi * now / steps)) / 2;
  }
}

gab_status gab_lbm_exchange_finish(gab_lbm *lbm)
{
  GAB_TRY(gab_exchange_finish(lbm->exchange));
  double ramp[GAB_SIDE_COUNT];
  ramps_at(lbm, ramp);
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, &jobs));
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < jobs.count; ++i) gab_links_apply(&lbm->model, &jobs.list[i], ramp);
  gab_lbm_release_jobs(&jobs);
  if (lbm->wants_forces) gab_lbm_add_forces(lbm);
  return GAB_OK;
}

static void collide_job(const gab_lbm_model *model, const gab_lbm_job *job)
{
  gab_lbm_block *block = job->block;
  size_t first, last;
  gab_lbm_share(job, block->run_count, &first, &last);
  const gab_sweep sweep = {.from = block->src->data,
                           .to = block->dst ? block->dst->data : block->src->data,
                           .before = block->now,
                           .after = block->now->next,
                           .rates = &model->rates};
  model->kernel->run(&sweep, block->runs + first, last - first);
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
  gab_lbm_jobs jobs;
  GAB_TRY(gab_lbm_make_jobs(lbm, &jobs));
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < jobs.count; ++i) collide_job(&lbm->model, &jobs.list[i]);
  for (size_t i = 0; i < jobs.count; i += jobs.list[i].parts) turn_over(jobs.list[i].block);
  gab_lbm_release_jobs(&jobs);
  ++lbm->step;
  return GAB_OK;
}

gab_status gab_lbm_step(gab_lbm *lbm)
{
  GAB_TRY(gab_lbm_exchange_start(lbm));
  GAB_TRY(gab_lbm_exchange_finish(lbm));
  return gab_lbm_collide(lbm);
}

gab_step gab_lbm_get_step(const gab_lbm *lbm) { return lbm->step; }
void gab_lbm_set_step(gab_lbm *lbm, gab_step step) { lbm->step = step; }

/* ------------------------------------------------------------------------------------------ facts */

const gab_lbm_options *gab_lbm_get_options(const gab_lbm *lbm) { return &lbm->model.options; }
const gab_geometry *gab_lbm_get_geometry(const gab_lbm *lbm) { return lbm->model.geometry; }
gab_data_id gab_lbm_data(const gab_lbm *lbm) { return lbm->data; }
const char *gab_lbm_kernel_name(const gab_lbm *lbm) { return lbm->model.kernel->name; }
double gab_lbm_viscosity(const gab_lbm *lbm) { return (1 / lbm->model.rates.even - 0.5) / 3; }

gab_lbm_counts gab_lbm_count(const gab_lbm *lbm)
{
  gab_lbm_counts counts = {0};
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); ++i) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    const int32_t *cells = block->src->shape.cells;
    const gab_links *links = &block->links;
    counts.fluid_cells += block->fluid_cells;
    counts.cells += (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2];
    counts.links += links->copied_cells + links->velocity_count + links->linear_count +
                    links->pressure_count + links->outflow_count;
    counts.fallback_links += links->fallbacks;
  }
  return counts;
}
