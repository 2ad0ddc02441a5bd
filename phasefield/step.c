/* A step: exchanges and sweeps. */
#include "phasefield/phasefield_impl.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

gab_phasefield_block *gab_phasefield_block_of(const gab_phasefield *phasefield, size_t index)
{
  return gab_block_data(gab_forest_block(phasefield->forest, index), phasefield->data);
}

/* Waking threads up costs as much as some thousands of cells. */
static bool is_worth_threads(const gab_phasefield *phasefield)
{
  const int32_t *cells = phasefield->model.cells;
  const double each = (double)cells[0] * cells[1] * cells[2];
  return each * (double)gab_forest_block_count(phasefield->forest) > 8192;
}

static void fill_all_sides(const gab_phasefield *phasefield, gab_phasefield_which which)
{
  const size_t blocks = gab_forest_block_count(phasefield->forest);
#pragma omp parallel for schedule(dynamic) if (is_worth_threads(phasefield))
  for (size_t i = 0; i < blocks; ++i)
    gab_phasefield_fill_sides(&phasefield->model, gab_phasefield_block_of(phasefield, i), which);
}

/* ------------------------------------------------------------------------------------------ exchanges */

/* What is not stored: mu, and the ghosts of phi. Needed when blocks are new here, or went back in time; all
 * slots find that out together, because the revision of the forest grows on all of them. */
static gab_status make_derived(gab_phasefield *phasefield)
{
  const size_t blocks = gab_forest_block_count(phasefield->forest);
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < blocks; ++i)
    gab_phasefield_make_mu(&phasefield->model, gab_phasefield_block_of(phasefield, i));
  phasefield->phi_ghosts.which = WHICH_PHI;
  GAB_TRY(gab_exchange_start(phasefield->phi_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  fill_all_sides(phasefield, WHICH_PHI);
  phasefield->revision = gab_forest_revision(phasefield->forest);
  return GAB_OK;
}

gab_status gab_phasefield_exchange_mu_start(gab_phasefield *phasefield)
{
  GAB_TRY(gab_world_check(gab_forest_world(phasefield->forest)));
  if (phasefield->revision != gab_forest_revision(phasefield->forest)) GAB_TRY(make_derived(phasefield));
  return gab_exchange_start(phasefield->mu_exchange);
}

gab_status gab_phasefield_exchange_mu_finish(gab_phasefield *phasefield)
{
  GAB_TRY(gab_exchange_finish(phasefield->mu_exchange));
  fill_all_sides(phasefield, WHICH_MU);
  return GAB_OK;
}

gab_status gab_phasefield_exchange_phi_start(gab_phasefield *phasefield)
{
  phasefield->phi_ghosts.which = WHICH_PHI_NEW;
  return gab_exchange_start(phasefield->phi_exchange);
}

gab_status gab_phasefield_exchange_phi_finish(gab_phasefield *phasefield)
{
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  fill_all_sides(phasefield, WHICH_PHI_NEW);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ sweeps */

static size_t threads(void)
{
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

/* Blocks are cut across the axis of growth where there are fewer of them than threads have use for. */
static gab_status sweep(gab_phasefield *phasefield,
                        gab_status (*run)(const gab_phasefield_model *model, const gab_phasefield_job *job))
{
  enum { JOBS_PER_THREAD = 4 };
  const gab_phasefield_model *model = &phasefield->model;
  const size_t blocks = gab_forest_block_count(phasefield->forest), wanted = threads() * JOBS_PER_THREAD;
  const size_t layers = (size_t)model->cells[model->axis];
  size_t parts = threads() == 1 || !is_worth_threads(phasefield) || blocks == 0 || blocks >= wanted
                     ? 1
                     : (wanted + blocks - 1) / blocks;
  if (parts > layers) parts = layers;
  bool starved = false;
#pragma omp parallel for schedule(dynamic) if (is_worth_threads(phasefield))
  for (size_t i = 0; i < blocks * parts; ++i) {
    gab_phasefield_job job = {.block = gab_phasefield_block_of(phasefield, i / parts)};
    job.box = gab_field_interior(job.block->phi);
    job.box.lo[model->axis] = (int64_t)(layers * (i % parts) / parts);
    job.box.hi[model->axis] = (int64_t)(layers * (i % parts + 1) / parts);
    if (run(model, &job) != GAB_OK) {
#pragma omp atomic write
      starved = true;
    }
  }
  if (starved) GAB_FAIL(GAB_ERR_MEMORY, "no memory for the sweep of a phase field");
  return GAB_OK;
}

gab_status gab_phasefield_sweep_phi(gab_phasefield *phasefield)
{
  gab_world *world = gab_forest_world(phasefield->forest);
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_PHASE_COMPUTE);
  if (phasefield->revision != gab_forest_revision(phasefield->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest has changed since the exchange");
  return sweep(phasefield, phasefield->model.kernel->phi);
}

static void swap_fields(gab_field **a, gab_field **b)
{
  gab_field *keep = *a;
  *a = *b;
  *b = keep;
}

gab_status gab_phasefield_sweep_mu(gab_phasefield *phasefield)
{
  GAB_TRY(gab_world_check(gab_forest_world(phasefield->forest)));
  if (phasefield->revision != gab_forest_revision(phasefield->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest has changed since the exchange");
  gab_phasefield_ledger_step(phasefield);
  GAB_TRY(sweep(phasefield, phasefield->model.kernel->mu));
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); ++i) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    swap_fields(&block->phi, &block->phi_new);
    swap_fields(&block->mu, &block->mu_new);
  }
  ++phasefield->model.step;
  return GAB_OK;
}

gab_status gab_phasefield_step(gab_phasefield *phasefield)
{
  GAB_TRY(gab_phasefield_exchange_mu_start(phasefield));
  GAB_TRY(gab_phasefield_sweep_phi(phasefield));
  GAB_TRY(gab_phasefield_exchange_phi_start(phasefield));
  GAB_TRY(gab_phasefield_exchange_mu_finish(phasefield));
  GAB_TRY(gab_phasefield_exchange_phi_finish(phasefield));
  return gab_phasefield_sweep_mu(phasefield);
}

/* ------------------------------------------------------------------------------------------ place in time */

gab_step gab_phasefield_get_step(const gab_phasefield *phasefield) { return phasefield->model.step; }
int64_t gab_phasefield_get_shift(const gab_phasefield *phasefield) { return phasefield->model.shift; }

gab_status gab_phasefield_pack(void *phasefield, gab_buffer *out)
{
  const gab_phasefield *it = phasefield;
  GAB_TRY(gab_put_string(out, it->model.kernel->name));
  GAB_TRY(gab_put_i64(out, it->model.step));
  return gab_put_i64(out, it->model.shift);
}

gab_status gab_phasefield_unpack(void *phasefield, gab_reader *in)
{
  gab_phasefield *it = phasefield;
  int64_t step, shift;
  char kernel[64];
  GAB_TRY(gab_get_string(in, kernel, sizeof kernel));
  if (strcmp(kernel, it->model.kernel->name) != 0)
    GAB_FAIL(GAB_ERR_INPUT,
             "the state was computed by the kernel `%s', which `%s' does not continue to the same bits",
             kernel, it->model.kernel->name);
  GAB_TRY(gab_get_i64(in, &step));
  GAB_TRY(gab_get_i64(in, &shift));
  if (step < 0 || shift < 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "a phase field cannot be at step %" PRId64 " with its window at %" PRId64, step,
             shift);
  it->model.step = step;
  it->model.shift = shift;
  it->revision = 0;
  return GAB_OK;
}
