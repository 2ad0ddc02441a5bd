/* SPDX-License-Identifier: Apache-2.0 */
/* A temporal block: several steps while the cells are in a cache. Order and reasons: temporal_block_impl.h. */
#include "lbm/step/temporal_block_impl.h"

#include "lbm/step/fused/fused_impl.h"
#include "core/base/lower_bound_impl.h"

#include <math.h>

enum step_part { PART_GHOSTS, PART_LINKS, PART_CELLS, PART_COUNT };

typedef struct temporal_block {
  gab_lbm *lbm;
  const gab_temporal_plan *plan;
  gab_temporal_shape shape;
  double ramp[GAB_TEMPORAL_STEPS][GAB_SIDE_FACTORS];
} temporal_block;

/* Distance in planes, or rows, of a part of a step behind the head, and from borders of threads. */
static int64_t behind(int step, enum step_part part) { return 2 * (int64_t)step + (int64_t)part; }

static const gab_lbm_block *view_of(const gab_lbm_model *model, const gab_temporal_block *it, int step)
{
  const gab_storage *now = step % 2 == 0 ? it->block->now : it->block->now->next;
  return &it->view[now - model->storage];
}

/* ------------------------------------------------------------------------------------------ rows of a segment */

/* Rows [lo, hi) of a plane, in numbers of the block. */
typedef struct stretch {
  int32_t plane, lo, hi;
} stretch;

static void ghosts_of(const temporal_block *it, const gab_temporal_segment *segment, stretch at, int step)
{
  const gab_temporal_plan *plan = it->plan;
  for (size_t i = 0; i < segment->way_count; i++) {
    const gab_temporal_way *way = &segment->ways[i];
    if (way->plane >= 0 && way->plane != at.plane) continue;
    if (way->row >= 0 && (way->row < at.lo || way->row >= at.hi)) continue;
    int32_t first[3] = {0, 0, 0}, extent[3] = {way->fetch->side->extent[0] * way->fetch->blocks, 1, 1};
    if (way->plane < 0) first[plan->plane_axis] = at.plane;
    if (way->row < 0) {
      first[plan->row_axis] = at.lo;
      extent[plan->row_axis] = at.hi - at.lo;
    }
    const gab_lbm_model *model = &it->lbm->model;
    const gab_lbm_fetch fetch = {.source = view_of(model, way->source, step), .side = way->fetch->side};
    gab_lbm_fetch_part(model, view_of(model, way->target, step), &fetch, first, extent);
  }
}

static void links_of(const temporal_block *it, const gab_temporal_segment *segment, stretch at, int step)
{
  const size_t row = (size_t)at.plane * (size_t)it->plan->rows;
  for (size_t i = 0; i < segment->count; i++) {
    const gab_lbm_job job = {
        .block = (gab_lbm_block *)(uintptr_t)view_of(&it->lbm->model, &segment->blocks[i], step),
        .parts = 1,
        .first_slab = row + (size_t)at.lo,
        .last_slab = row + (size_t)at.hi};
    gab_links_apply(&it->lbm->model, &job, it->ramp[step]);
  }
}

static void cells_of(const temporal_block *it, const gab_temporal_segment *segment, stretch at, int step)
{
  const gab_lbm_model *model = &it->lbm->model;
  const gab_lbm_block *block = view_of(model, segment->blocks, step);
  const size_t row = (size_t)at.plane * (size_t)it->plan->rows,
               first = segment->row_runs[row + (size_t)at.lo], last = segment->row_runs[row + (size_t)at.hi];
  const gab_run *end = segment->runs + segment->row_runs[(size_t)it->plan->rows * (size_t)it->plan->planes];
  gab_lbm_sweep_runs(model, block, block->src->data, block->src->data, block->now, block->now->next,
                     segment->runs + first, last - first, end);
}

/* ------------------------------------------------------------------------------------------ rows of the domain */

/* The first segment whose planes end after a plane. */
static size_t first_segment(const gab_temporal_plan *plan, int64_t plane)
{
  size_t first = 0;
  GAB_LOWER_BOUND(size_t, first, plan->segment_count, i, plan->segments[i].plane + plan->planes <= plane);
  return first;
}

/* One part of one step in the rows [lo, hi) of a plane. */
static void rows_of(const temporal_block *it, gab_lbm_clock *clock, int64_t plane, int64_t lo, int64_t hi,
                    int step, enum step_part part)
{
  const gab_temporal_plan *plan = it->plan;
  const double start = clock ? gab_seconds() : 0;
  for (size_t i = first_segment(plan, plane); i < plan->segment_count; i++) {
    const gab_temporal_segment *segment = &plan->segments[i];
    if (segment->plane > plane) break;
    const int64_t a = lo - segment->row, e = hi - segment->row;
    const stretch at = {.plane = (int32_t)(plane - segment->plane),
                        .lo = a < 0 ? 0 : (int32_t)(a < plan->rows ? a : plan->rows),
                        .hi = e < 0 ? 0 : (int32_t)(e < plan->rows ? e : plan->rows)};
    if (at.lo >= at.hi) continue;
    if (part == PART_GHOSTS) ghosts_of(it, segment, at, step);
    else if (part == PART_LINKS) links_of(it, segment, at, step);
    else cells_of(it, segment, at, step);
  }
  if (!clock) return;
  double *const sums[PART_COUNT] = {&clock->ghosts, &clock->links, &clock->sweep};
  *sums[part] += gab_seconds() - start;
}

/* The planes [lo, hi) of a thread; at inner ends it keeps its distance from those of another. */
typedef struct share {
  int64_t lo, hi;
  bool inner_lo, inner_hi;
} share;

static share share_of(const gab_temporal_plan *plan, size_t thread, size_t threads)
{
  const int64_t all = plan->plane_hi - plan->plane_lo;
  return (share){.lo = plan->plane_lo + all * (int64_t)thread / (int64_t)threads,
                 .hi = plan->plane_lo + all * (int64_t)(thread + 1) / (int64_t)threads,
                 .inner_lo = thread > 0,
                 .inner_hi = thread + 1 < threads};
}

/* Advances all steps behind a plane of the head, in the band of rows [lo, hi) of the head. */
static void one_head(const temporal_block *it, gab_lbm_clock *clock, const share *mine, int64_t head,
                     int64_t lo, int64_t hi)
{
  const gab_temporal_plan *plan = it->plan;
  for (int step = 0; step < it->shape.steps; step++)
    for (int part = 0; part < PART_COUNT; part++) {
      const int64_t away = behind(step, part), plane = head - away;
      if (plane < mine->lo + (mine->inner_lo ? away : 0) || plane >= mine->hi - (mine->inner_hi ? away : 0))
        continue;
      int64_t from = lo - away, to = hi - away;
      if (from < plan->row_lo) from = plan->row_lo;
      if (to > plan->row_hi) to = plan->row_hi;
      if (from < to) rows_of(it, clock, plane, from, to, step, part);
    }
}

static void bands(const temporal_block *it, gab_lbm_clock *clock, const share *mine)
{
  const gab_temporal_plan *plan = it->plan;
  const int64_t late = behind(it->shape.steps - 1, PART_CELLS);
  for (int64_t lo = plan->row_lo; lo < plan->row_hi + late; lo += it->shape.band)
    for (int64_t head = mine->lo; head < mine->hi + late; head++)
      one_head(it, clock, mine, head, lo, lo + it->shape.band);
}

/* Planes omitted at borders of threads; all threads share their rows. */
static void borders(const temporal_block *it, gab_lbm_clock *clock, size_t thread, size_t threads)
{
  const gab_temporal_plan *plan = it->plan;
  const int64_t rows = plan->row_hi - plan->row_lo;
  for (int step = 0; step < it->shape.steps; step++)
    for (int part = 0; part < PART_COUNT; part++) {
      const int64_t away = behind(step, part), all = (int64_t)(threads - 1) * 2 * away * rows;
      int64_t next = all * (int64_t)thread / (int64_t)threads;
      const int64_t last = all * (int64_t)(thread + 1) / (int64_t)threads;
      while (next < last) {
        const int64_t line = next / rows, row = next % rows;
        const share above = share_of(plan, (size_t)(line / (2 * away)) + 1, threads);
        const int64_t end = last - next < rows - row ? row + (last - next) : rows;
        rows_of(it, clock, above.lo - away + line % (2 * away), plan->row_lo + row, plan->row_lo + end, step,
                part);
        next += end - row;
      }
#pragma omp barrier
    }
}

/* ------------------------------------------------------------------------------------------ how many at once */

/* Bytes that must stay in the cache: the planes from the head to the last step, in a band including its shift. */
static int64_t band_in(size_t bytes, size_t row_bytes, int steps)
{
  return (int64_t)(bytes / ((size_t)behind(steps, PART_LINKS) + 1) / row_bytes) - 2 * steps;
}

/* Gaps at borders of threads must not reach the next gap. */
static bool has_planes(const gab_temporal_plan *plan, size_t threads, int steps)
{
  const int64_t planes = (plan->plane_hi - plan->plane_lo) / (int64_t)threads;
  return threads == 1 || planes > 2 * behind(steps - 1, PART_CELLS);
}

/* Rows of a band for `steps` steps; 0: a temporal block is not worthwhile. With few rows per step, most of a band is loaded
 * again for the next one. */
static int64_t band_of(const gab_temporal_plan *plan, size_t cache, size_t threads, int steps)
{
  enum { ROWS_PER_STEP = 4 };
  const int64_t all = plan->row_hi - plan->row_lo + 2 * (int64_t)steps,
                band = band_in(cache, plan->row_bytes, steps);
  if (!has_planes(plan, threads, steps)) return 0;
  return band >= all ? all : band >= ROWS_PER_STEP * steps ? band : 0;
}

gab_temporal_shape gab_temporal_shape_of(const gab_temporal_plan *plan, size_t cache, size_t threads,
                                         int most, gab_step left)
{
  enum { USUAL = 4 };
  const size_t cells = (size_t)(plan->row_hi - plan->row_lo) * (size_t)(plan->plane_hi - plan->plane_lo);
  int steps = most == 0 ? USUAL : most < GAB_TEMPORAL_STEPS ? most : GAB_TEMPORAL_STEPS;
  if (steps > left) steps = (int)left;
  /* no gain if the cells fit into the caches */
  if (most == 0 && plan->row_bytes * cells <= cache * threads) steps = 1;
  while (steps > 1 && band_of(plan, cache, threads, steps) == 0) steps--;
  if (steps < 2) return (gab_temporal_shape){.steps = 1};
  /* equal blocks instead of a last one with a single step */
  const gab_step blocks = (left + steps - 1) / steps;
  const int alike = (int)((left + blocks - 1) / blocks);
  if (band_of(plan, cache, threads, alike) > 0) steps = alike;
  return (gab_temporal_shape){.steps = steps, .band = band_of(plan, cache, threads, steps)};
}

/* ------------------------------------------------------------------------------------------ main */

static void run_temporal_block(gab_lbm *lbm, const gab_temporal_plan *plan, gab_temporal_shape shape)
{
  temporal_block it = {.lbm = lbm, .plan = plan, .shape = shape};
  for (int step = 0; step < shape.steps; step++)
    gab_lbm_ramps(lbm, (double)(lbm->step + step), it.ramp[step]);
#pragma omp parallel
  {
    const size_t thread = gab_thread_number(), threads = gab_team_size();
    gab_lbm_clock *clock = thread < lbm->clocks ? &lbm->clock[thread] : NULL;
    const double start = clock ? gab_seconds() : 0;
    const share mine = share_of(plan, thread, threads);
    bands(&it, clock, &mine);
#pragma omp barrier
    if (threads > 1) borders(&it, clock, thread, threads);
    if (clock) clock->all += gab_seconds() - start;
  }
  for (size_t i = 0; i < plan->block_count; i++) {
    gab_lbm_block *block = plan->blocks[i].block;
    for (int step = 0; step < shape.steps; step++) {
      block->now = block->now->next;
      gab_fused_turn_over(block);
    }
  }
}

/* The next steps may compute the state only. */
static bool may_block_in_time(const gab_lbm *lbm)
{
  for (int k = 0; k < gab_lbm_condition_count(&lbm->model.options); k++)
    if (lbm->model.reads_next_cell[k])
      return false; /* sweeps come too early for links that read the next cell */
  if (lbm->model.walls.is_on)
    return false; /* the wall balance of a step depends on all cells of the step before */
  return lbm->deepest == 0 && !lbm->wants_forces && !gab_lbm_recompute_waits(lbm) &&
         !lbm->model.local_force && !lbm->model.sponges && !lbm->model.state_sides && !lbm->model.porous &&
         !lbm->model.plays_planes && !lbm->model.times_blocks && lbm->model.kernel->in_place;
}

/* The plan of temporal blocks is owned by that of steps. @param[out] plan  NULL: one step at a time */
static gab_status plan_of(gab_lbm *lbm, const gab_temporal_plan **plan)
{
  gab_lbm_plan *steps = &lbm->stage[0].plan;
  *plan = NULL;
  if (!may_block_in_time(lbm)) return GAB_OK;
  GAB_TRY(gab_lbm_update_plan(lbm, 0));
  if (!steps->knows_temporal_plan) GAB_TRY(gab_temporal_plan_create(lbm, &steps->temporal));
  steps->knows_temporal_plan = true;
  *plan = steps->temporal;
  return GAB_OK;
}

static gab_status collide_temporal_block(gab_lbm *lbm, const gab_temporal_plan *plan,
                                         gab_temporal_shape shape)
{
  gab_lbm_stage *stage = &lbm->stage[0];
  gab_world_enter(lbm->world, GAB_FAULT_POINT_COMPUTE);
  GAB_TRY(gab_world_check(lbm->world));
  run_temporal_block(lbm, plan, shape);
  stage->is_settled = true;
  lbm->ghosts = GAB_GHOSTS_STALE;
  lbm->step += shape.steps;
  lbm->temporally_blocked_steps += (uint64_t)shape.steps;
  return GAB_OK;
}

/* Steps before the first one with a side factor that is not finite or beyond its limit; gab_lbm_exchange_start() refuses that step. */
static int finite_steps(const gab_lbm *lbm, int steps)
{
  for (int step = 1; step < steps; step++) {
    double factor[GAB_SIDE_FACTORS];
    gab_lbm_ramps(lbm, (double)(lbm->step + step), factor);
    for (int k = 0; k < GAB_SIDE_FACTORS; k++)
      if (!isfinite(factor[k])) return step;
    for (int k = 0; k < gab_lbm_condition_count(&lbm->model.options); k++)
      if (gab_lbm_condition(&lbm->model.options, k)->is_measured &&
          gab_lbm_check_factor(lbm, k, (double)(lbm->step + step)) != GAB_OK) {
        gab_error_clear();
        return step;
      }
  }
  return steps;
}

gab_status gab_temporal_try(gab_lbm *lbm, gab_temporal_shape wanted, gab_step left, gab_step *taken)
{
  const gab_temporal_plan *plan;
  *taken = 0;
  if (gab_forest_revision(lbm->forest) == 0 || gab_lbm_lacks_flow_rate(lbm) >= 0)
    return GAB_OK; /* a single step reports the error */
  GAB_TRY(gab_lbm_join(lbm));
  gab_lbm_pack_fused(lbm);
  GAB_TRY(plan_of(lbm, &plan));
  if (!plan) return GAB_OK;
  gab_temporal_shape shape =
      gab_temporal_shape_of(plan, lbm->temporal_cache, gab_thread_count(), wanted.steps, left);
  shape.steps = finite_steps(lbm, shape.steps);
  if (shape.steps < 2) return GAB_OK;
  if (wanted.band > 0) shape.band = wanted.band;
  GAB_TRY(gab_lbm_exchange_start(lbm));
  GAB_TRY(gab_lbm_exchange_finish(lbm));
  *taken = shape.steps;
  return collide_temporal_block(lbm, plan, shape);
}

gab_status gab_temporal_take(gab_lbm *lbm, gab_temporal_shape wanted, gab_step left, gab_step *taken)
{
  GAB_TRY(gab_temporal_try(lbm, wanted, left, taken));
  if (*taken > 0) return GAB_OK;
  *taken = 1;
  return gab_lbm_step(lbm);
}

static gab_status check_numbers(gab_step count, int temporal_steps)
{
  if (count < 0 || temporal_steps < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%" GAB_PRI_STEP " steps asked for, %d at once", count, temporal_steps);
  return GAB_OK;
}

gab_status gab_lbm_steps(gab_lbm *lbm, gab_step count, int temporal_steps)
{
  GAB_TRY(check_numbers(count, temporal_steps));
  for (gab_step taken; count > 0; count -= taken)
    GAB_TRY(gab_temporal_take(lbm, (gab_temporal_shape){.steps = temporal_steps}, count, &taken));
  return GAB_OK;
}

gab_status gab_lbm_temporal_block(gab_lbm *lbm, gab_step most, int temporal_steps, gab_step *taken)
{
  *taken = 0;
  GAB_TRY(check_numbers(most, temporal_steps));
  return most > 1 ? gab_temporal_try(lbm, (gab_temporal_shape){.steps = temporal_steps}, most, taken)
                  : GAB_OK;
}
