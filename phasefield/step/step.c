/* SPDX-License-Identifier: Apache-2.0 */
/* A step: exchanges and sweeps. */
#include "phasefield/levels/levels_impl.h"

#include "core/system/threads.h"
#include "core/base/log.h"

#include <string.h>

/* Waking threads up costs as much as some thousands of cells. */
static bool is_worth_threads(const gab_phasefield *phasefield)
{
  const int32_t *cells = phasefield->model.cells;
  const double each = (double)cells[0] * cells[1] * cells[2];
  return each * (double)gab_forest_block_count(phasefield->forest) > 8192;
}

void gab_phasefield_fill_rest(const gab_phasefield_block *block, gab_phasefield_which which)
{
  const bool is_phi = which == WHICH_PHI || which == WHICH_PHI_NEW;
  if (is_phi && (block->beside || gab_phasefield_is_coarse(block))) gab_phasefield_fill_beside(block, which);
  gab_phasefield_fill_sides(block->model, block, which);
}

static void fill_all_sides(const gab_phasefield *phasefield, gab_phasefield_which which)
{
  const size_t blocks = gab_forest_block_count(phasefield->forest);
#pragma omp parallel for schedule(dynamic) if (is_worth_threads(phasefield))
  for (size_t i = 0; i < blocks; i++) {
    const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    if (which == WHICH_PHI_NEW && gab_phasefield_is_coarse(block))
      continue; /* phi_new is phi, with its ghosts */
    gab_phasefield_fill_rest(block, which);
  }
}

/* ------------------------------------------------------------------------------------------ waiting cells */

/* The cells of a block without ghosts of other ranks in their stencil. Cuts between whole layers are nearly free;
 * others would cost more than waiting for a message: a block next to another rank's along an axis normal to the
 * growth waits. */
static gab_box inner_of(const gab_phasefield *phasefield, const gab_block *place,
                        const gab_phasefield_block *block)
{
  const gab_rank here = gab_world_rank(gab_forest_world(phasefield->forest));
  const gab_neighbour *rows = gab_block_neighbours(place);
  const int axis = phasefield->model.axis;
  gab_box inner = gab_field_interior(block->phi);
  for (size_t r = 0; r < gab_block_neighbour_count(place); r++) {
    int offset[3];
    gab_direction_offset(rows[r].direction, offset);
    const bool is_corner = offset[0] != 0 && offset[1] != 0 && offset[2] != 0;
    if (rows[r].owner == here || is_corner || block->beside >> rows[r].direction & 1) continue;
    if (offset[axis] < 0) inner.lo[axis] = 1;
    else if (offset[axis] > 0) inner.hi[axis] = phasefield->model.cells[axis] - 1;
    else return (gab_box){{0, 0, 0}, {0, 0, 0}};
  }
  return gab_box_count(&inner) > 0 ? inner : (gab_box){{0, 0, 0}, {0, 0, 0}};
}

/* Updates data that depends on neighbours. */
static void join(gab_phasefield *phasefield)
{
  bool some_wait = false, some_do_not = false;
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    const gab_box all = gab_field_interior(block->phi);
    block->beside = gab_phasefield_beside(phasefield->forest, gab_forest_block(phasefield->forest, i));
    block->inner = inner_of(phasefield, gab_forest_block(phasefield->forest, i), block);
    const size_t inner = gab_box_count(&block->inner);
    some_wait = some_wait || inner < gab_box_count(&all);
    some_do_not = some_do_not || inner > 0;
  }
  phasefield->overlaps = some_wait && some_do_not;
  phasefield->inner_is_swept = false;
  gab_phasefield_bulk_begin(phasefield);
}

/* ------------------------------------------------------------------------------------------ exchanges */

/* Computes derived data: mu, and the ghosts of phi. Needed for new blocks and after rollbacks; all ranks detect that
 * together, because the revision of the forest increases on all of them. */
static gab_status make_derived(gab_phasefield *phasefield)
{
  const size_t blocks = gab_forest_block_count(phasefield->forest);
  join(phasefield);
  gab_phasefield_levels_sync(phasefield);
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < blocks; i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    gab_phasefield_make_mu(block->model, block);
  }
  phasefield->phi_ghosts.which = WHICH_PHI;
  GAB_TRY(gab_exchange_start(phasefield->phi_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  fill_all_sides(phasefield, WHICH_PHI);
  for (size_t i = 0; i < blocks; i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    if (gab_phasefield_is_coarse(block)) GAB_TRY(gab_field_copy(block->phi_new, block->phi));
  }
  phasefield->revision = gab_forest_revision(phasefield->forest);
  return GAB_OK;
}

gab_status gab_phasefield_settle(gab_phasefield *phasefield)
{
  return phasefield->revision == gab_forest_revision(phasefield->forest) ? GAB_OK : make_derived(phasefield);
}

gab_status gab_phasefield_fill_ghosts(gab_phasefield *phasefield)
{
  GAB_TRY(gab_phasefield_settle(phasefield));
  phasefield->phi_ghosts.which = WHICH_PHI;
  GAB_TRY(gab_exchange_start(phasefield->phi_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  fill_all_sides(phasefield, WHICH_PHI);
  GAB_TRY(gab_exchange_start(phasefield->mu_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->mu_exchange));
  fill_all_sides(phasefield, WHICH_MU);
  GAB_TRY(gab_phasefield_levels_exchange(phasefield));
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++)
    gab_phasefield_block_of(phasefield, i)->astray = 0; /* the next step finds out by itself */
  return GAB_OK;
}

void gab_phasefield_forget_derived(gab_phasefield *phasefield) { phasefield->revision = 0; }

/* An aborted step, e.g. after a death, starts again. */
static gab_status note_call(gab_phasefield *phasefield, gab_status status, unsigned call)
{
  if (status == GAB_OK) phasefield->made = call == GAB_PHASEFIELD_MU_STARTED ? call : phasefield->made | call;
  return status;
}

/* Requires the earlier calls of a step. */
static gab_status needs(const gab_phasefield *phasefield, unsigned calls, const char *what)
{
  static const struct {
    unsigned call;
    const char *name;
  } names[] = {{GAB_PHASEFIELD_MU_STARTED, "exchange_mu_start"},
               {GAB_PHASEFIELD_PHI_SWEPT, "sweep_phi"},
               {GAB_PHASEFIELD_PHI_STARTED, "exchange_phi_start"},
               {GAB_PHASEFIELD_MU_FINISHED, "exchange_mu_finish"},
               {GAB_PHASEFIELD_PHI_FINISHED, "exchange_phi_finish"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (calls & ~phasefield->made & names[i].call)
      GAB_FAIL(GAB_ERR_STATE, "gab_phasefield_%s() without gab_phasefield_%s() in this step", what,
               names[i].name);
  return GAB_OK;
}

static gab_status check_revision(const gab_phasefield *phasefield)
{
  GAB_TRY(gab_world_check(gab_forest_world(phasefield->forest)));
  if (phasefield->revision != gab_forest_revision(phasefield->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest has changed since the exchange");
  return GAB_OK;
}

gab_status gab_phasefield_exchange_mu_start(gab_phasefield *phasefield)
{
  GAB_TRY(gab_world_check(gab_forest_world(phasefield->forest)));
  if (gab_forest_revision(phasefield->forest) == 0)
    GAB_FAIL(GAB_ERR_STATE,
             "the forest of the phase field has no blocks yet (gab_balance_initial() or gab_forest_build())");
  GAB_TRY(gab_phasefield_settle(phasefield));
  GAB_TRY(gab_phasefield_recompute_begin(phasefield));
  return note_call(phasefield, gab_exchange_start(phasefield->mu_exchange), GAB_PHASEFIELD_MU_STARTED);
}

gab_status gab_phasefield_exchange_mu_finish(gab_phasefield *phasefield)
{
  GAB_TRY(gab_exchange_finish(phasefield->mu_exchange));
  fill_all_sides(phasefield, WHICH_MU);
  GAB_TRY(gab_phasefield_levels_exchange(phasefield));
  return note_call(phasefield, gab_phasefield_levels_check(phasefield), GAB_PHASEFIELD_MU_FINISHED);
}

gab_status gab_phasefield_exchange_phi_start(gab_phasefield *phasefield)
{
  GAB_TRY(needs(phasefield, GAB_PHASEFIELD_PHI_SWEPT, "exchange_phi_start"));
  phasefield->phi_ghosts.which = WHICH_PHI_NEW;
  return note_call(phasefield, gab_exchange_start(phasefield->phi_exchange), GAB_PHASEFIELD_PHI_STARTED);
}

gab_status gab_phasefield_exchange_phi_finish(gab_phasefield *phasefield)
{
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  fill_all_sides(phasefield, WHICH_PHI_NEW);
  return note_call(phasefield, GAB_OK, GAB_PHASEFIELD_PHI_FINISHED);
}

/* ------------------------------------------------------------------------------------------ sweeps */

typedef gab_status (*sweep_fn)(const gab_phasefield_model *model, const gab_phasefield_job *job);

typedef enum sweep_region { REGION_ALL, REGION_INNER, REGION_SHELL } sweep_region;

enum { MOST_PIECES = 2 };

/* The part of a box of whole layers of a block that belongs to the region. @return number of boxes */
static int pieces_of(const gab_phasefield_block *block, gab_box part, sweep_region region,
                     gab_box pieces[MOST_PIECES])
{
  const int axis = block->model->axis;
  const gab_box *inner = &block->inner;
  if (region == REGION_ALL || (region == REGION_SHELL && gab_box_count(inner) == 0)) {
    pieces[0] = part;
    return 1;
  }
  int count = 0;
  for (int side = 0; side < 2; side++) {
    gab_box piece = part;
    if (region == REGION_INNER) {
      if (side == 1) continue;
      if (piece.lo[axis] < inner->lo[axis]) piece.lo[axis] = inner->lo[axis];
      if (piece.hi[axis] > inner->hi[axis]) piece.hi[axis] = inner->hi[axis];
    } else if (side == 0 && piece.hi[axis] > inner->lo[axis]) piece.hi[axis] = inner->lo[axis];
    else if (side == 1 && piece.lo[axis] < inner->hi[axis]) piece.lo[axis] = inner->hi[axis];
    if (gab_box_count(&piece) > 0) pieces[count++] = piece;
  }
  return count;
}

/* Between two boxes the thread that calls MPI progresses pending messages. */
static void help_messages(gab_phasefield *phasefield, bool *talks, gab_status *status)
{
  bool done = true;
  if (gab_thread_number() != 0) return;
  if (!*talks) return;
  *status = gab_exchange_progress(phasefield->phi_exchange, &done);
  *talks = *status == GAB_OK && !done;
}

void gab_phasefield_time_blocks(gab_phasefield *phasefield, bool on) { phasefield->times_blocks = on; }

static void note_work(gab_phasefield_block *block, double start)
{
  const uint64_t taken = (uint64_t)((gab_thread_seconds() - start) * 1e9);
#pragma omp atomic
  block->work += taken;
}

/* The slices that kernels will ask for. */
static gab_status fill_slices(gab_phasefield *phasefield)
{
  enum { LEVELS = GAB_PHASEFIELD_MOST_LEVELS + 1 };
  const gab_phasefield_model *models[LEVELS] = {NULL};
  int64_t first[LEVELS], last[LEVELS];
  const int axis = phasefield->model.axis;
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    const int k = block->model->coarser;
    const int64_t low = block->first[axis] - 1, high = block->first[axis] + block->model->cells[axis] + 1;
    if (!models[k] || low < first[k]) first[k] = low;
    if (!models[k] || high > last[k]) last[k] = high;
    models[k] = block->model;
  }
  for (int k = 0; k < LEVELS; k++)
    if (models[k]) GAB_TRY(gab_phasefield_slices_fill(models[k], first[k], last[k]));
  return GAB_OK;
}

/* Blocks are cut across the axis of growth where there are fewer of them than threads have use for. */
static gab_status sweep(gab_phasefield *phasefield, sweep_fn run, sweep_region region)
{
  enum { JOBS_PER_THREAD = 4 };
  const bool is_phi = run != phasefield->model.kernel->mu;
  const gab_phasefield_model *model = &phasefield->model;
  const size_t blocks = gab_forest_block_count(phasefield->forest),
               wanted = gab_thread_count() * JOBS_PER_THREAD;
  const size_t layers = (size_t)model->cells[model->axis];
  size_t parts = gab_thread_count() == 1 || !is_worth_threads(phasefield) || blocks == 0 || blocks >= wanted
                     ? 1
                     : (wanted + blocks - 1) / blocks;
  if (parts > layers) parts = layers;
  bool starved = false, talks = region == REGION_INNER;
  gab_status status = GAB_OK;
  GAB_TRY(fill_slices(phasefield));
#pragma omp parallel for schedule(dynamic) if (is_worth_threads(phasefield))
  for (size_t i = 0; i < blocks * parts; i++) {
    gab_phasefield_job job = {.block = gab_phasefield_block_of(phasefield, i / parts)};
    gab_box part = gab_field_interior(job.block->phi), pieces[MOST_PIECES];
    if (is_phi && (gab_phasefield_is_coarse(job.block) || job.block->bulk.is_skipped))
      continue; /* of one phase: phi_new is phi */
    if (is_phi) job.is_mixed = &job.block->bulk.is_mixed;
    else if (job.block->bulk.is_skipped) job.bulk = job.block->bulk.phase + 1;
    part.lo[model->axis] = (int64_t)(layers * (i % parts) / parts);
    part.hi[model->axis] = (int64_t)(layers * (i % parts + 1) / parts);
    const double start = phasefield->times_blocks ? gab_thread_seconds() : 0;
    const int count = pieces_of(job.block, part, region, pieces);
    if (i % parts == 0) job.block->by[!is_phi] = gab_thread_number();
    for (int k = 0; k < count; k++) {
      job.box = pieces[k];
      if (run(job.block->model, &job) != GAB_OK) {
#pragma omp atomic write
        starved = true;
      }
    }
    if (phasefield->times_blocks) note_work(job.block, start);
    help_messages(phasefield, &talks, &status);
  }
  if (starved) GAB_FAIL(GAB_ERR_MEMORY, "no memory for the sweep of a phase field");
  return status;
}

static gab_status sweep_phi(gab_phasefield *phasefield, bool stale)
{
  gab_world *world = gab_forest_world(phasefield->forest);
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_FAULT_POINT_COMPUTE);
  GAB_TRY(check_revision(phasefield));
  gab_phasefield_bulk_decide(phasefield, stale);
  GAB_TRY(sweep(phasefield, gab_phasefield_run_phi, REGION_ALL));
  gab_phasefield_bulk_enter(phasefield);
  return GAB_OK;
}

gab_status gab_phasefield_sweep_phi_stale(gab_phasefield *phasefield) { return sweep_phi(phasefield, true); }

gab_status gab_phasefield_sweep_phi(gab_phasefield *phasefield)
{
  GAB_TRY(check_revision(phasefield));
  GAB_TRY(needs(phasefield, GAB_PHASEFIELD_MU_STARTED, "sweep_phi"));
  return note_call(phasefield, sweep_phi(phasefield, false), GAB_PHASEFIELD_PHI_SWEPT);
}

static void swap_fields(gab_field **a, gab_field **b)
{
  gab_field *keep = *a;
  *a = *b;
  *b = keep;
}

gab_status gab_phasefield_sweep_mu_inner(gab_phasefield *phasefield)
{
  GAB_TRY(check_revision(phasefield));
  GAB_TRY(needs(phasefield, GAB_PHASEFIELD_PHI_STARTED | GAB_PHASEFIELD_MU_FINISHED, "sweep_mu_inner"));
  if (!phasefield->overlaps || phasefield->inner_is_swept) return GAB_OK;
  fill_all_sides(phasefield, WHICH_PHI_NEW); /* those not continued from pending ghosts are correct */
  phasefield->inner_is_swept = true;
  return sweep(phasefield, phasefield->model.kernel->mu, REGION_INNER);
}

gab_status gab_phasefield_sweep_mu(gab_phasefield *phasefield)
{
  GAB_TRY(check_revision(phasefield));
  GAB_TRY(needs(phasefield, GAB_PHASEFIELD_MU_FINISHED | GAB_PHASEFIELD_PHI_FINISHED, "sweep_mu"));
  return gab_phasefield_sweep_mu_stale(phasefield);
}

gab_status gab_phasefield_sweep_mu_stale(gab_phasefield *phasefield)
{
  GAB_TRY(check_revision(phasefield));
  phasefield->made = 0;
  gab_phasefield_ledger_step(phasefield);
  GAB_TRY(sweep(phasefield, phasefield->model.kernel->mu,
                phasefield->inner_is_swept ? REGION_SHELL : REGION_ALL));
  phasefield->inner_is_swept = false;
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    swap_fields(&block->phi, &block->phi_new);
    swap_fields(&block->mu, &block->mu_new);
  }
  phasefield->model.step++;
  gab_phasefield_levels_sync(phasefield);
  return gab_phasefield_recompute_end(phasefield);
}

gab_status gab_phasefield_step(gab_phasefield *phasefield)
{
  GAB_TRY(gab_phasefield_exchange_mu_start(phasefield));
  GAB_TRY(gab_phasefield_sweep_phi(phasefield));
  GAB_TRY(gab_phasefield_exchange_phi_start(phasefield));
  GAB_TRY(gab_phasefield_exchange_mu_finish(phasefield));
  GAB_TRY(gab_phasefield_sweep_mu_inner(phasefield));
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
  gab_phasefield_levels_sync(it);
  it->revision = 0;
  return GAB_OK;
}
