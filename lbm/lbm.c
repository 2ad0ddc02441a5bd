#include "lbm/lbm_impl.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* ------------------------------------------------------------------------------------------ jobs */

size_t gab_thread_count(void)
{
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

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
  void *list;
  GAB_TRY(gab_alloc(count * parts * sizeof(gab_lbm_job), GAB_MEMORY_OTHER, &list));
  jobs->list = list;
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
  void *memory;
  *blocks = NULL;
  *count = 0;
  GAB_TRY(gab_alloc(all * sizeof **blocks, GAB_MEMORY_OTHER, &memory));
  *blocks = memory;
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

gab_step gab_lbm_get_step(const gab_lbm *lbm) { return lbm->step; }
void gab_lbm_set_step(gab_lbm *lbm, gab_step step) { lbm->step = step; }

gab_status gab_lbm_clear_solid(gab_lbm *lbm)
{
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++)
    GAB_TRY(gab_lbm_clear_solid_of(&lbm->model, gab_block_data(gab_forest_block(lbm->forest, i), lbm->data)));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ facts */

const gab_lbm_options *gab_lbm_get_options(const gab_lbm *lbm) { return &lbm->model.options; }
const gab_geometry *gab_lbm_get_geometry(const gab_lbm *lbm) { return lbm->model.geometry; }
gab_data_id gab_lbm_data(const gab_lbm *lbm) { return lbm->data; }
const char *gab_lbm_kernel_name(const gab_lbm *lbm) { return lbm->model.kernel->name; }
double gab_lbm_viscosity(const gab_lbm *lbm) { return (1 / lbm->model.level[0].rates.even - 0.5) / 3; }

gab_lbm_counts gab_lbm_count(const gab_lbm *lbm)
{
  gab_lbm_counts counts = {0};
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    const int32_t *cells = lbm->model.cells;
    const gab_links *links = &block->links;
    counts.fluid_cells += block->fluid_cells;
    counts.cells += (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2];
    counts.links += links->copied_cells + links->velocity_count + links->linear_count +
                    links->pressure_count + links->outflow_count;
    counts.fallback_links += links->fallbacks;
  }
  return counts;
}
