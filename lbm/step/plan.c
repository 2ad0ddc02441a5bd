/* SPDX-License-Identifier: Apache-2.0 */
/* Plan of a step: everything that depends only on the forest, once per state of the forest. Blocks swept together, jobs and
 * their threads, sources of ghosts, and slabs that need no messages. */
#include "lbm/step/temporal_block_impl.h"
#include "lbm/step/fused/fused_impl.h"

#include <stdlib.h>

void gab_lbm_drop_plan(gab_lbm_plan *plan)
{
  gab_lbm_release_jobs(&plan->jobs);
  gab_free(&plan->queues);
  gab_free(&plan->runs);
  gab_free(&plan->run_starts);
  gab_temporal_plan_destroy(&plan->temporal);
  *plan = (gab_lbm_plan){0};
}

/* ------------------------------------------------------------------------------------------ before messages
 */

/* True if a message fills ghosts at this side (-1, 0, 1) of the slab axis. */
static bool awaits(const gab_lbm_model *model, const gab_lbm_block *block, int side)
{
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    /* direction from the sender: it is on the other side */
    if (block->remote >> direction & 1 && -offset[model->slab_axis] == side) return true;
  }
  return false;
}

/* A slab next to ghosts from a message waits for it, and so do its links. A link may read populations that the sweep of the
 * next slab overwrites, so that sweep waits for the links. */
static void set_early(const gab_lbm_model *model, gab_lbm_block *first)
{
  const size_t slabs = (size_t)model->slabs;
  gab_lbm_slabs sweep = {0, 0}, links = {0, 0};
  bool beside = false, below = false, above = false;
  for (const gab_lbm_block *block = first; block; block = block->next) {
    beside = beside || awaits(model, block, 0);
    below = below || awaits(model, block, -1);
    above = above || awaits(model, block, 1);
  }
  if (!beside && (2 * (size_t)below + 2 * (size_t)above < slabs || !(below || above))) {
    sweep = (gab_lbm_slabs){2 * (size_t)below, slabs - 2 * (size_t)above};
    links = (gab_lbm_slabs){below, slabs - above};
  }
  for (gab_lbm_block *block = first; block; block = block->next) {
    block->early_sweep = sweep;
    block->early_links = links;
  }
}

/* ------------------------------------------------------------------------------------------ fused groups */

/* A block during the construction of fused groups. */
typedef struct member {
  gab_lbm_block *block;
  size_t index; /* in the order of blocks; for the first of a fused group the minimum of all */
} member;

static int in_order_of_fields(const void *a, const void *b)
{
  const member *x = a, *y = b;
  const int difference = gab_fused_compare(x->block, y->block);
  if (difference != 0) return difference;
  return gab_fused_column(x->block) < gab_fused_column(y->block) ? -1 : 1;
}

static int in_order(const void *a, const void *b)
{
  const member *x = a, *y = b;
  return (x->index > y->index) - (x->index < y->index);
}

/* Blocks of a fused field are swept together, neighbours or not: ghosts, links and cells of all blocks slab by slab, like
 * one block. Rows are then contiguous in memory, and all data loaded is used. @param[in,out] members  in the order of fused
 * fields and columns; afterwards fused groups by their first blocks @return number of groups */
static size_t chain(member *members, size_t count)
{
  size_t groups = 0;
  gab_lbm_block *last = NULL;
  for (size_t i = 0; i < count; i++) {
    const member it = members[i];
    if (last && gab_fused_compare(last, it.block) == 0) {
      last->next = it.block;
      if (it.index < members[groups - 1].index) members[groups - 1].index = it.index;
    } else members[groups++] = it;
    last = it.block;
  }
  return groups;
}

/* Leaves the first block of each fused group in the list, in the order of blocks. */
static gab_status make_groups(gab_lbm_block **blocks, size_t count, size_t *groups)
{
  size_t alone = 0, in_fused = 0;
  member *members;
  GAB_TRY(GAB_NEW_ARRAY(&members, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    gab_lbm_block *block = blocks[i];
    block->next = NULL;
    block->fused_runs = block->runs;
    block->fused_start = block->run_start;
    const member it = {block, i};
    if (block->in_fused) members[in_fused++] = it;
    else members[count - ++alone] = it;
  }
  if (in_fused > 1) qsort(members, in_fused, sizeof *members, in_order_of_fields);
  size_t made = chain(members, in_fused);
  for (size_t i = in_fused; i < count; i++) members[made++] = members[i];
  if (made > 1) qsort(members, made, sizeof *members, in_order);
  for (size_t i = 0; i < made; i++) blocks[i] = members[i].block;
  *groups = made;
  gab_free(&members);
  return GAB_OK;
}

static bool is_before(const gab_run *a, const gab_run *b) { return a->z != b->z ? a->z < b->z : a->y < b->y; }

/* The rows of a slab of a fused group: the runs of its blocks, adjacent ones of a row merged. */
static gab_run *join_rows(const gab_lbm_block *first, size_t slab, gab_run *to)
{
  const gab_lbm_block *of[GAB_FUSED_MOST];
  size_t next[GAB_FUSED_MOST], count = 0;
  for (const gab_lbm_block *block = first; block; block = block->next) {
    next[count] = block->run_start[slab];
    of[count++] = block;
  }
  for (;;) {
    const gab_run *line = NULL;
    for (size_t i = 0; i < count; i++) {
      const gab_run *run = next[i] < of[i]->run_start[slab + 1] ? &of[i]->runs[next[i]] : NULL;
      if (run && (!line || is_before(run, line))) line = run;
    }
    if (!line) return to;
    const gab_run at = *line;
    gab_run *last = NULL;
    for (size_t i = 0; i < count; i++)
      for (; next[i] < of[i]->run_start[slab + 1]; next[i]++) {
        gab_run run = of[i]->runs[next[i]];
        if (run.z != at.z || run.y != at.y) break;
        const int32_t distance = gab_fused_column(of[i]) - gab_fused_column(first);
        run.start += (uint32_t)distance;
        run.x += distance;
        if (last && last->x + last->length == run.x) last->length += run.length;
        else *(last = to++) = run;
      }
  }
}

static gab_status make_rows(const gab_lbm_model *model, gab_lbm_plan *plan, gab_lbm_block *const *firsts,
                            size_t count)
{
  const size_t slabs = (size_t)model->slabs;
  size_t rows = 0, groups = 0;
  for (size_t i = 0; i < count; i++) {
    if (!firsts[i]->next) continue;
    groups++;
    for (const gab_lbm_block *block = firsts[i]; block; block = block->next) rows += block->run_count;
  }
  if (groups == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&plan->runs, rows, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&plan->run_starts, groups * (slabs + 1), GAB_MEMORY_OTHER));
  gab_run *to = plan->runs;
  size_t *start = plan->run_starts;
  for (size_t i = 0; i < count; i++) {
    if (!firsts[i]->next) continue;
    firsts[i]->fused_runs = to;
    firsts[i]->fused_start = start;
    const gab_run *begin = to;
    for (size_t slab = 0; slab < slabs; slab++) {
      *start++ = (size_t)(to - begin);
      to = join_rows(firsts[i], slab, to);
    }
    *start++ = (size_t)(to - begin);
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ shares */

static uint64_t weight_of(const gab_lbm_job *job, size_t slabs)
{
  return 1 + gab_lbm_fluid_of(job->block) * (job->last_slab - job->first_slab) / slabs;
}

/* Adjacent jobs go to the same thread, so that adjacent blocks share its caches. */
static gab_status share_out(const gab_lbm_model *model, gab_lbm_plan *plan)
{
  GAB_TRY(GAB_NEW_ARRAY(&plan->queues, plan->threads, GAB_MEMORY_OTHER));
  uint64_t all = 0, done = 0;
  const size_t slabs = (size_t)model->slabs, count = plan->jobs.count;
  for (size_t i = 0; i < count; i++) all += weight_of(&plan->jobs.list[i], slabs);
  size_t i = 0;
  for (size_t thread = 0; thread < plan->threads; thread++) {
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

/* ------------------------------------------------------------------------------------------ main */

/* @param[in,out] blocks  of the level; afterwards the first of each fused group */
static gab_status plan_blocks(gab_lbm *lbm, gab_lbm_stage *stage, gab_lbm_block **blocks, size_t count)
{
  gab_lbm_plan *plan = &stage->plan;
  const gab_lbm_model *model = &lbm->model;
  for (size_t i = 0; i < count; i++) {
    blocks[i]->fetch_count = 0;
    blocks[i]->remote = 0;
  }
  gab_exchange_visit(stage->exchange, gab_lbm_note_way, &lbm->model);
  size_t groups;
  GAB_TRY(make_groups(blocks, count, &groups));
  for (size_t i = 0; i < groups; i++) gab_lbm_join_ways(model->ghost_sides, blocks[i]);
  GAB_TRY(make_rows(model, plan, blocks, groups));
  for (size_t i = 0; i < groups; i++) {
    set_early(model, blocks[i]);
    const size_t early = blocks[i]->early_sweep.last - blocks[i]->early_sweep.first;
    plan->has_early = plan->has_early || early > 0;
    plan->has_late = plan->has_late || early < (size_t)model->slabs;
  }
  GAB_TRY(gab_lbm_jobs_of(lbm, blocks, groups, &plan->jobs));
  return share_out(model, plan);
}

static gab_status make_plan(gab_lbm *lbm, gab_lbm_stage *stage)
{
  gab_lbm_block **blocks;
  size_t count;
  stage->plan.threads = gab_thread_count();
  GAB_TRY(gab_lbm_list_blocks(lbm, (int)(stage - lbm->stage), &blocks, &count));
  gab_status status = plan_blocks(lbm, stage, blocks, count);
  gab_free(&blocks);
  return status;
}

gab_status gab_lbm_update_plan(gab_lbm *lbm, int level)
{
  gab_lbm_stage *stage = &lbm->stage[level];
  gab_lbm_plan *plan = &stage->plan;
  uint64_t number;
  GAB_TRY(gab_exchange_plan(stage->exchange, &number));
  if (plan->exchange == number && plan->threads == gab_thread_count()) return GAB_OK;
  gab_lbm_drop_plan(plan);
  gab_status status = make_plan(lbm, stage);
  if (status != GAB_OK) gab_lbm_drop_plan(plan);
  else plan->exchange = number;
  return status;
}
