/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of all blocks of a process, for temporal blocking: swept cells, links, and populations for ghosts of other blocks of this
 * process. */
#include "lbm/step/temporal_block_impl.h"

#include "lbm/step/fused/fused_impl.h"
#include "core/base/lower_bound_impl.h"

#include <stdlib.h>

void gab_temporal_plan_destroy(gab_temporal_plan **plan)
{
  if (!*plan) return;
  for (size_t i = 0; i < (*plan)->block_count; i++) gab_free(&(*plan)->blocks[i].starts);
  for (size_t i = 0; i < (*plan)->segment_count; i++) {
    gab_free(&(*plan)->segments[i].row_runs);
    gab_free(&(*plan)->segments[i].runs);
  }
  gab_free(&(*plan)->segments);
  gab_free(&(*plan)->blocks);
  gab_free(&(*plan)->ways);
  gab_free(plan);
}

/* ------------------------------------------------------------------------------------------ where it can be done */

/* Ghosts of rows must come from adjacent rows, not from the other end of a periodic domain. */
static bool is_beside(const gab_lbm_model *model, const gab_lbm_block *target, const gab_lbm_fetch *fetch)
{
  int offset[3];
  gab_direction_offset((int)(fetch->side - model->ghost_sides), offset);
  for (int axis = 1; axis < model->lattice->dimension; axis++)
    if (target->first[axis] - fetch->source->first[axis] != (int64_t)offset[axis] * model->cells[axis])
      return false;
  return true;
}

static bool is_possible(const gab_lbm_model *model, gab_lbm_block *const *blocks, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const gab_lbm_block *block = blocks[i];
    if (block->sparse || block->dst || block->remote || block->interface) return false;
    for (int k = 0; k < block->fetch_count; k++)
      if (!is_beside(model, block, &block->fetches[k])) return false;
  }
  return count > 0;
}

/* ------------------------------------------------------------------------------------------ links */

/* Distance from the boundary cell that sends in direction q to the fluid cell. */
static ptrdiff_t forth(const gab_lbm_model *model, int q)
{
  const int8_t *c = model->lattice->c[q];
  return c[0] * model->map.stride[0] + c[1] * model->map.stride[1] + c[2] * model->map.stride[2];
}

/* A list of links as its first fluid cells, in the order of runs (links.c). */
static size_t fluid_cell(const gab_lbm_model *model, const gab_links *links, int list, size_t i)
{
#define CELL_OF(of) gab_place(links->of[i].to, forth(model, links->of[i].q))
  switch (list) {
  case GAB_LINK_COPIES:
    return CELL_OF(copies);
  case GAB_LINK_VELOCITIES:
    return CELL_OF(velocities);
  case GAB_LINK_LINEARS:
    return CELL_OF(linears);
  case GAB_LINK_TURBULENTS:
    return CELL_OF(turbulents);
  case GAB_LINK_SLIPS:
    return CELL_OF(slips);
  default:
    return CELL_OF(opens);
  }
#undef CELL_OF
}

/* First link of each row. @return false if links are not in the order of rows */
static bool find_starts(const gab_lbm_model *model, const gab_temporal_plan *plan, gab_temporal_block *it)
{
  const gab_lbm_block *block = it->block;
  const gab_links *links = &block->links;
  const size_t rows = (size_t)plan->rows * (size_t)plan->planes,
               counts[GAB_LINK_LISTS] = {links->copy_count, links->velocity_count,  links->linear_count,
                                         links->open_count, links->turbulent_count, links->slip_count};
  for (int list = 0; list < GAB_LINK_LISTS; list++) {
    size_t next = 0, row = 0;
    for (size_t k = 0; k < block->run_count; k++) {
      const gab_run *run = &block->runs[k];
      const int32_t at[3] = {run->x, run->y, run->z};
      const size_t in = (size_t)at[plan->plane_axis] * (size_t)plan->rows + (size_t)at[plan->row_axis];
      while (row <= in) it->starts[row++][list] = next;
      for (; next < counts[list]; next++) {
        const size_t cell = fluid_cell(model, links, list, next);
        if (cell < run->start || cell >= (size_t)run->start + (size_t)run->length) break;
      }
    }
    while (row <= rows) it->starts[row++][list] = next;
    if (next != counts[list]) return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------ segments */

static int in_order(const void *a, const void *b)
{
  const gab_temporal_segment *x = a, *y = b;
  if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  const int64_t left = x->blocks->block->first[0], right = y->blocks->block->first[0];
  return (left > right) - (left < right);
}

/* The blocks from left to right, segment by segment. */
static void chain(gab_temporal_plan *plan, gab_lbm_block *const *blocks, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (blocks[i]->left) continue;
    gab_temporal_segment *segment = &plan->segments[plan->segment_count++];
    segment->blocks = &plan->blocks[plan->block_count];
    segment->plane = blocks[i]->first[plan->plane_axis];
    segment->row = blocks[i]->first[plan->row_axis];
    for (gab_lbm_block *block = blocks[i]; block; block = block->right) {
      plan->blocks[plan->block_count++].block = block;
      segment->count++;
    }
  }
  qsort(plan->segments, plan->segment_count, sizeof *plan->segments, in_order);
}

/* Runs of a segment; adjacent runs of a row are merged. */
static gab_status join_rows(const gab_temporal_plan *plan, gab_temporal_segment *segment)
{
  const size_t rows = (size_t)plan->rows * (size_t)plan->planes;
  size_t all = 0, next[GAB_FUSED_MOST] = {0};
  for (size_t i = 0; i < segment->count; i++) all += segment->blocks[i].block->run_count;
  GAB_TRY(GAB_NEW_ARRAY(&segment->runs, all, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&segment->row_runs, rows + 1, GAB_MEMORY_OTHER));
  const gab_lbm_block *first = segment->blocks->block;
  gab_run *to = segment->runs;
  for (size_t row = 0; row < rows; row++) {
    gab_run *last = NULL;
    segment->row_runs[row] = (size_t)(to - segment->runs);
    for (size_t i = 0; i < segment->count; i++) {
      const gab_lbm_block *block = segment->blocks[i].block;
      const int32_t distance = i == 0 ? 0 : gab_fused_column(block) - gab_fused_column(first);
      for (; next[i] < block->run_count; next[i]++) {
        gab_run run = block->runs[next[i]];
        const int32_t at[3] = {run.x, run.y, run.z};
        if ((size_t)at[plan->plane_axis] * (size_t)plan->rows + (size_t)at[plan->row_axis] != row) break;
        run.start += (uint32_t)distance;
        run.x += distance;
        if (last && last->x + last->length == run.x) last->length += run.length;
        else *(last = to++) = run;
      }
    }
  }
  segment->row_runs[rows] = (size_t)(to - segment->runs);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ ghosts */

static int by_address(const void *a, const void *b)
{
  const gab_temporal_block *x = *(gab_temporal_block *const *)a, *y = *(gab_temporal_block *const *)b;
  return (x->block > y->block) - (x->block < y->block);
}

static const gab_temporal_block *find(gab_temporal_block *const *sorted, size_t count,
                                      const gab_lbm_block *block)
{
  const gab_temporal_block key = {.block = (gab_lbm_block *)(uintptr_t)block}, *at = &key;
  gab_temporal_block *const *found = bsearch(&at, sorted, count, sizeof *sorted, by_address);
  return found ? *found : NULL;
}

/* -1: all of the source's planes, or rows, send in the direction of that offset. */
static int32_t leaves_by(int offset, int32_t count) { return offset == 0 ? -1 : offset > 0 ? count - 1 : 0; }

static int by_source(const void *a, const void *b)
{
  const gab_temporal_way *x = a, *y = b;
  return (x->source > y->source) - (x->source < y->source);
}

static void note_ways(const gab_lbm_model *model, gab_temporal_plan *plan, gab_temporal_block *const *sorted)
{
  for (size_t i = 0; i < plan->block_count; i++)
    for (int k = 0; k < plan->blocks[i].block->fetch_count; k++) {
      const gab_lbm_fetch *fetch = &plan->blocks[i].block->fetches[k];
      int offset[3];
      gab_direction_offset((int)(fetch->side - model->ghost_sides), offset);
      plan->ways[plan->way_count++] =
          (gab_temporal_way){.target = &plan->blocks[i],
                             .source = find(sorted, plan->block_count, fetch->source),
                             .fetch = fetch,
                             .plane = leaves_by(offset[plan->plane_axis], plan->planes),
                             .row = leaves_by(offset[plan->row_axis], plan->rows)};
    }
  if (plan->way_count > 1) qsort(plan->ways, plan->way_count, sizeof *plan->ways, by_source);
}

/* All ways, sorted by the segment in which they begin. */
static gab_status list_ways(const gab_lbm_model *model, gab_temporal_plan *plan)
{
  size_t count = 0;
  gab_temporal_block **sorted;
  for (size_t i = 0; i < plan->block_count; i++) count += (size_t)plan->blocks[i].block->fetch_count;
  GAB_TRY(GAB_NEW_ARRAY(&plan->ways, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&sorted, plan->block_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < plan->block_count; i++) sorted[i] = &plan->blocks[i];
  qsort(sorted, plan->block_count, sizeof *sorted, by_address);
  note_ways(model, plan, sorted);
  gab_free(&sorted);
  /* Ways without a known source come first; a temporal block would not update their ghosts. */
  if (plan->way_count > 0 && !plan->ways[0].source)
    GAB_FAIL(GAB_ERR_STATE, "ghosts come from a block that a temporal block does not know");
  for (size_t i = 0; i < plan->segment_count; i++) {
    gab_temporal_segment *segment = &plan->segments[i];
    size_t first = 0;
    GAB_LOWER_BOUND(size_t, first, plan->way_count, k, plan->ways[k].source < segment->blocks);
    segment->ways = &plan->ways[first];
    while (first + segment->way_count < plan->way_count &&
           segment->ways[segment->way_count].source < segment->blocks + segment->count)
      segment->way_count++;
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ main */

static void measure(const gab_lbm_model *model, gab_temporal_plan *plan)
{
  uint64_t cells = 0;
  plan->plane_lo = plan->row_lo = INT64_MAX;
  plan->plane_hi = plan->row_hi = INT64_MIN;
  for (size_t i = 0; i < plan->segment_count; i++) {
    const gab_temporal_segment *it = &plan->segments[i];
    if (it->plane < plan->plane_lo) plan->plane_lo = it->plane;
    if (it->row < plan->row_lo) plan->row_lo = it->row;
    if (it->plane + plan->planes > plan->plane_hi) plan->plane_hi = it->plane + plan->planes;
    if (it->row + plan->rows > plan->row_hi) plan->row_hi = it->row + plan->rows;
    for (size_t k = 0; k < it->count; k++) cells += it->blocks[k].block->fluid_cells;
  }
  const uint64_t all = (uint64_t)(plan->plane_hi - plan->plane_lo) * (uint64_t)(plan->row_hi - plan->row_lo);
  plan->row_bytes =
      (size_t)(cells / all + 1) * (size_t)model->lattice->q * gab_precision_bytes(model->options.precision);
}

static gab_status fill(const gab_lbm_model *model, gab_temporal_plan *plan, gab_lbm_block *const *blocks,
                       size_t count, bool *possible)
{
  const size_t rows = (size_t)plan->rows * (size_t)plan->planes;
  GAB_TRY(GAB_NEW_ARRAY(&plan->blocks, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&plan->segments, count, GAB_MEMORY_OTHER));
  chain(plan, blocks, count);
  for (size_t i = 0; i < plan->segment_count; i++) GAB_TRY(join_rows(plan, &plan->segments[i]));
  for (size_t i = 0; *possible && i < plan->block_count; i++) {
    gab_temporal_block *it = &plan->blocks[i];
    GAB_TRY(GAB_NEW_ARRAY(&it->starts, rows + 1, GAB_MEMORY_OTHER));
    *possible = find_starts(model, plan, it);
    for (int state = 0; state < 2; state++) {
      it->view[state] = *it->block;
      it->view[state].links.start = it->starts;
      it->view[state].now = &model->storage[state];
    }
  }
  measure(model, plan);
  return list_ways(model, plan);
}

gab_status gab_temporal_plan_create(gab_lbm *lbm, gab_temporal_plan **made)
{
  const gab_lbm_model *model = &lbm->model;
  const bool in_space = model->lattice->dimension == 3;
  *made = NULL;
  gab_lbm_block **blocks;
  size_t count;
  GAB_TRY(gab_lbm_list_blocks(lbm, -1, &blocks, &count));
  bool possible = lbm->deepest == 0 && model->kernel->in_place && is_possible(model, blocks, count);
  gab_temporal_plan *plan = NULL;
  gab_status status = possible ? GAB_NEW(&plan, GAB_MEMORY_OTHER) : GAB_OK;
  if (status == GAB_OK && possible) {
    plan->plane_axis = model->slab_axis;
    plan->row_axis = in_space ? 1 : 2;
    plan->rows = model->cells[plan->row_axis];
    plan->planes = model->cells[plan->plane_axis];
    status = fill(model, plan, blocks, count, &possible);
  }
  gab_free(&blocks);
  if (status != GAB_OK || !possible) gab_temporal_plan_destroy(&plan);
  *made = plan;
  return status;
}
