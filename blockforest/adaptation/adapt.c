/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/adaptation/adapt.h"

#include "blockforest/adaptation/apply_regrid_impl.h"
#include "blockforest/forest/forest_impl.h"
#include "blockforest/adaptation/proxy_impl.h"
#include "blockforest/forest/tasks_impl.h"
#include "core/messages/collective.h"

typedef struct marking {
  const gab_forest *forest;
  const gab_adapt_options *options;
  gab_mark *marks;
} marking;

static gab_status mark_block(void *context, size_t index)
{
  const marking *job = context;
  job->marks[index] = GAB_MARK_KEEP;
  return job->options->mark(job->options->user, job->forest, job->forest->blocks[index], &job->marks[index]);
}

/* Allocates marks. A failure breaks the world, since the other processes continue with messages. */
static gab_status make_marks(gab_forest *forest, size_t count, gab_mark **marks)
{
  gab_status status = GAB_NEW_ARRAY(marks, count, GAB_MEMORY_OTHER);
  return status == GAB_OK ? GAB_OK : gab_forest_abandon(forest, status);
}

/* Determines the grid that the criterion requests. */
static gab_status decide(gab_forest *forest, const gab_adapt_options *options, gab_proxies **proxies,
                         gab_refine_report *report)
{
  marking job = {forest, options, NULL};
  GAB_TRY(make_marks(forest, forest->block_count, &job.marks));
  gab_status status = gab_tasks_run(forest->block_count, mark_block, &job);
  if (status != GAB_OK) status = gab_forest_abandon(forest, status);
  if (status == GAB_OK) status = gab_proxies_of_forest(forest, proxies);
  if (status == GAB_OK) status = gab_proxies_refine(*proxies, job.marks, options->max_level, report);
  gab_free(&job.marks);
  return status;
}

static gab_status distribute(gab_forest *forest, gab_distribute_fn function, void *context,
                             gab_proxies *proxies)
{
  gab_world_enter(forest->world, GAB_FAULT_POINT_ADAPT_BALANCE);
  return function ? function(context, proxies) : GAB_OK;
}

static gab_status change(gab_forest *forest, const gab_adapt_options *options, gab_proxies **proxies,
                         gab_adapt_report *report)
{
  gab_regrid_report moved;
  GAB_TRY(distribute(forest, options->distribute, options->distribute_context, *proxies));
  GAB_TRY(gab_forest_apply_regrid_counted(forest, proxies, &moved));
  report->changed = true;
  report->moved_bytes = moved.sent_bytes;
  report->peak_bytes = moved.peak_bytes;
  return gab_world_sum_u64(forest->world, &report->moved_bytes, 1);
}

gab_status gab_forest_adapt(gab_forest *forest, const gab_adapt_options *options, gab_adapt_report *report)
{
  gab_adapt_report result = {.changed = false};
  gab_proxies *proxies = NULL;
  GAB_TRY(gab_world_check(forest->world));
  if (forest->torn)
    GAB_FAIL(GAB_ERR_STATE, "a migration or adaptation of this forest failed; restore it first");
  if (!options->mark) GAB_FAIL(GAB_ERR_ARGUMENT, "a forest is to be adapted without a criterion");
  if (options->max_level > 0) GAB_TRY(gab_forest_check_even(forest));
  gab_world_enter(forest->world, GAB_FAULT_POINT_ADAPT_MARK);
  gab_status status = decide(forest, options, &proxies, &result.grid);
  if (status == GAB_OK && result.grid.split + result.grid.merged > 0)
    status = change(forest, options, &proxies, &result);
  gab_proxies_destroy(&proxies);
  if (report) *report = result;
  return status;
}

/* ------------------------------------------------------------------ the first grid */

typedef struct placing {
  gab_proxies *proxies;
  gab_mark_place_fn mark;
  void *user;
  int max_level;
  gab_mark *marks;
} placing;

static gab_status mark_place(void *context, size_t index)
{
  const placing *job = context;
  gab_block_id id = gab_proxies_get(job->proxies, index)->id;
  gab_box cells = gab_proxies_cells(job->proxies, id);
  int level = gab_proxies_level(job->proxies, id);
  bool refine = level < job->max_level && job->mark(job->user, level, &cells) == GAB_MARK_REFINE;
  job->marks[index] = refine ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  return GAB_OK;
}

static gab_status refine_once(placing *job, gab_refine_report *report)
{
  const size_t count = gab_proxies_count(job->proxies);
  gab_status status = GAB_NEW_ARRAY(&job->marks, count, GAB_MEMORY_OTHER);
  if (status != GAB_OK) return gab_proxies_abandon(job->proxies, status);
  status = gab_tasks_run(count, mark_place, job);
  if (status == GAB_OK) status = gab_proxies_refine(job->proxies, job->marks, job->max_level, report);
  gab_free(&job->marks);
  return status;
}

/* Terminates, since each round but the last refines and none coarsens. */
gab_status gab_proxies_refine_places(gab_proxies *proxies, gab_mark_place_fn mark, void *user, int max_level,
                                     gab_refine_report *report)
{
  placing job = {.proxies = proxies, .mark = mark, .user = user, .max_level = max_level};
  gab_refine_report round, total = {0};
  do {
    GAB_TRY(refine_once(&job, &round));
    total.split += round.split;
    total.forced += round.forced;
    total.rounds += round.rounds;
    total.blocks = round.blocks;
  } while (round.split > 0);
  if (report) *report = total;
  return GAB_OK;
}

static gab_status count_proxies(gab_forest *forest, const gab_proxies *proxies, gab_refine_report *report)
{
  report->blocks = gab_proxies_count(proxies);
  return gab_world_sum_u64(forest->world, &report->blocks, 1);
}

gab_status gab_forest_build(gab_forest *forest, gab_mark_place_fn mark, void *user, int max_level,
                            gab_distribute_fn distribute_proxies, void *distribute_context,
                            gab_refine_report *report)
{
  uint64_t blocks;
  gab_refine_report result = {0};
  gab_proxies *proxies = NULL;
  if (!distribute_proxies)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a forest is to be built, but nothing distributes its blocks");
  GAB_TRY(gab_forest_global_blocks(forest, &blocks));
  if (blocks > 0) GAB_FAIL(GAB_ERR_STATE, "the forest has blocks already");
  if (mark && max_level > 0) GAB_TRY(gab_forest_check_even(forest));
  gab_world_enter(forest->world, GAB_FAULT_POINT_ADAPT_MARK);
  gab_status status = gab_proxies_create_on(forest->world, &forest->options, forest->port, &proxies);
  if (status == GAB_OK)
    status = mark ? gab_proxies_refine_places(proxies, mark, user, max_level, &result)
                  : count_proxies(forest, proxies, &result);
  if (status == GAB_OK) status = distribute(forest, distribute_proxies, distribute_context, proxies);
  if (status == GAB_OK) status = gab_forest_apply_regrid(forest, &proxies);
  if (status != GAB_OK) gab_forest_clear(forest);
  gab_proxies_destroy(&proxies);
  if (report) *report = result;
  return status;
}
