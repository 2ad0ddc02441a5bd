/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of every run besides the steps of its solver: post-step actions, state to be saved, and the end. */
#include "apps/driver/driver.h"
#include "apps/driver/plan/plan_traffic.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "apps/driver/run/run_impl.h"

#include <string.h>

static const gab_solver *solver_of(const gab_app_run *it) { return it->parameters->solver; }

double gab_app_run_time(const gab_app_run *it, gab_step step)
{
  return solver_of(it)->time ? solver_of(it)->time(it, step) : (double)step * it->parameters->dt;
}

/* ---------------------------------------------------------------- looking whether the state can be right */

static bool check_due(const void *user, gab_step step)
{
  const gab_app_run *it = user;
  const gab_step every = it->parameters->check_every;
  return every > 0 && (step % every == 0 || step == it->parameters->steps);
}

/* All ranks learn of it at the same step, so that later output is a consistent state. */
static gab_status check(void *user, gab_step step)
{
  gab_app_run *it = user;
  (void)step;
  return gab_world_reduce_status(it->world, solver_of(it)->check_finite(it));
}

gab_status gab_app_run_add_check(gab_app_run *it)
{
  if (!solver_of(it)->check_finite) return GAB_OK;
  return gab_timeloop_add_monitor(it->loop, "check", check_due, check, it);
}

bool gab_app_run_recomputes(const gab_app_run *it, gab_step steps)
{
  return gab_app_recompute_plan_has(&it->parameters->recompute, steps);
}

static bool recompute_due(const void *user, gab_step step)
{
  const gab_app_run *it = user;
  return gab_app_recompute_plan_looks(&it->parameters->recompute, step);
}

static gab_status check_recomputed(void *user, gab_step step)
{
  gab_app_run *it = user;
  (void)step;
  return solver_of(it)->check_recomputed(it, false);
}

static gab_status check_at_rest(void *user, gab_step step)
{
  gab_app_run *it = user;
  (void)step;
  return solver_of(it)->check_recomputed(it, true);
}

/* A bit that flips while output is written must not get into the next checkpoint: so blocks are checked before each
 * checkpoint, even if they were checked after the step. */
gab_status gab_app_run_add_recompute(void *user, gab_timeloop *loop)
{
  GAB_TRY(gab_timeloop_add_monitor(loop, "recompute", recompute_due, check_recomputed, user));
  return gab_timeloop_add_rest_monitor(loop, "recompute, at rest", check_at_rest, user);
}

/* ---------------------------------------------------------------- output */

static bool output_due(const void *user, gab_step step)
{
  const gab_app_run *it = user;
  return gab_output_due(it->output, step);
}

static gab_status update(gab_app_run *it)
{
  return solver_of(it)->update_quantities ? solver_of(it)->update_quantities(it) : GAB_OK;
}

/* Reports data that could not be written because the disk of one process refused it. */
static gab_status keep_unwritten(gab_app_run *it, gab_status status)
{
  char why[1024];
  if (status != GAB_ERR_IO) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  const gab_status kept = gab_timeloop_keep(it->loop);
  if (kept == GAB_ERR_FAULT) return kept;
  GAB_FAIL(GAB_ERR_IO, "%s", why);
}

static gab_status write_output(void *user, gab_step step)
{
  gab_app_run *it = user;
  if (gab_output_looks_around(it->output, step)) GAB_TRY(update(it));
  return keep_unwritten(it, gab_output_write(it->output, step, gab_app_run_time(it, step)));
}

gab_status gab_app_run_add_output(gab_app_run *it)
{
  return gab_timeloop_add_action(it->loop, "output", output_due, write_output, it);
}

static gab_status pack_output(void *user, gab_buffer *out)
{
  const gab_app_run *it = user;
  if (solver_of(it)->pack_series) GAB_TRY(solver_of(it)->pack_series(it, out));
  return gab_output_pack(it->output, out);
}

static gab_status unpack_output(void *user, gab_reader *in)
{
  gab_app_run *it = user;
  if (solver_of(it)->unpack_series) GAB_TRY(solver_of(it)->unpack_series(it, in));
  if (it->keep_series) { /* the series show how it diverged */
    in->at = in->end;
    return GAB_OK;
  }
  return gab_output_unpack(it->output, in);
}

/* ---------------------------------------------------------------- the end */

static void put_grid(const gab_app_run *it, gab_json *json)
{
  int levels = GAB_BALANCE_LEVELS;
  const int least = solver_of(it)->levels ? solver_of(it)->levels(it) : it->adaptation.finest + 1;
  while (levels > least && it->level_blocks[levels - 1] == 0) levels--;
  gab_json_object(json, "grid");
  if (solver_of(it)->put_grid) solver_of(it)->put_grid(it, json);
  gab_json_list(json, "blocks_of_levels");
  for (int level = 0; level < levels; level++) gab_json_uint(json, NULL, it->level_blocks[level]);
  gab_json_close(json);
  gab_json_close(json);
}

static void put_results(const gab_app_run *it, gab_json *json)
{
  if (!solver_of(it)->put_results) return;
  gab_json_object(json, "results");
  solver_of(it)->put_results(it, json);
  gab_json_close(json);
}

/* The case and its results. */
static void put_case(void *user, gab_json *json)
{
  const gab_app_run *it = user;
  put_grid(it, json);
  put_results(it, json);
  gab_app_put_case(json, it->parameters, gab_app_run_time(it, gab_timeloop_step(it->loop)));
}

static gab_status count_blocks(gab_app_run *it)
{
  memset(it->level_blocks, 0, sizeof it->level_blocks);
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++)
    it->level_blocks[gab_block_level(it->forest, gab_forest_block(it->forest, i))]++;
  return gab_world_sum_u64(it->world, it->level_blocks, GAB_BALANCE_LEVELS);
}

static gab_status write_summary(gab_app_run *it, gab_status why)
{
  GAB_TRY(gab_summary_gather(it->loop, &it->summary));
  GAB_TRY(count_blocks(it));
  if (solver_of(it)->recomputation) {
    const gab_sample_report sample = solver_of(it)->recomputation(it);
    GAB_TRY(gab_app_recompute_report(it->world, &it->parameters->recompute, &sample));
  }
  const gab_summary_extra extra = {put_case, it};
  return gab_world_reduce_status(it->world,
                                 gab_summary_write(&it->summary, it->loop, why, it->folder, extra));
}

static gab_status write_end(gab_app_run *it, gab_step step)
{
  if (gab_output_lacks_last(it->output, step)) {
    GAB_TRY(update(it));
    GAB_TRY(gab_output_write_last(it->output, step, gab_app_run_time(it, step)));
  }
  if (solver_of(it)->finish) GAB_TRY(solver_of(it)->finish(it, step));
  GAB_TRY(gab_output_flush(it->output));
  return write_summary(it, GAB_OK);
}

static gab_status finish(void *user, gab_step step)
{
  gab_app_run *it = user;
  return keep_unwritten(it, write_end(it, step));
}

static gab_status write_failed(gab_app_run *it, gab_output *output, const char *what, const char *name,
                               gab_step step)
{
  GAB_TRY(update(it));
  GAB_TRY(gab_output_write_now(output, GAB_OUTPUT_ALL, step, gab_app_run_time(it, step)));
  gab_log(GAB_LOG_INFO, "the %s, of step %" GAB_PRI_STEP ", is in %s/fields/%s.xdmf%s%s%s", what, step,
          it->folder, name, gab_slice_is_built() ? " and " : "", gab_slice_is_built() ? name : "",
          gab_slice_is_built() ? "_*.png" : "");
  return GAB_OK;
}

/* A run that diverged leaves its last state, to show the place, and the last checkpoint before it, to show the cause. The
 * summary is that of the diverged state. */
static gab_status leave_evidence(gab_app_run *it, gab_step step, gab_status why)
{
  gab_step good;
  GAB_TRY(write_failed(it, it->failure_output, "state that diverged", "diverged", step));
  GAB_TRY(gab_output_flush(it->output));
  GAB_TRY(write_summary(it, why));
  if (solver_of(it)->name_levers) solver_of(it)->name_levers(it);
  it->keep_series = true;
  GAB_TRY(gab_timeloop_go_back(it->loop, &good));
  if (good < 0) return GAB_OK;
  if (solver_of(it)->check_finite)
    GAB_TRY(gab_world_reduce_status(it->world, solver_of(it)->check_finite(it)));
  return write_failed(it, it->good_output, "last good state", "last_good", good);
}

/* Every run reports why it ended; with output of the wrong field if it diverged. */
static gab_status note_failure(void *user, gab_step step, gab_status why)
{
  gab_app_run *it = user;
  if (why == GAB_ERR_DIVERGED) return leave_evidence(it, step, why);
  GAB_TRY(gab_output_flush(it->output));
  return write_summary(it, why);
}

gab_status gab_app_run_add_actions(gab_app_run *it)
{
  const gab_entity output = {.name = "output",
                             .kind = GAB_ENTITY_REPLICATED,
                             .user = it,
                             .pack = pack_output,
                             .unpack = unpack_output};
  GAB_TRY(gab_timeloop_add_entity(it->loop, &output));
  GAB_TRY(gab_app_traffic_add(it->traffic, it->parameters->options->traffic, it->loop, it->world));
  GAB_TRY(gab_timeloop_add_finish(it->loop, "finish", finish, it));
  return gab_timeloop_on_failure(it->loop, note_failure, it);
}
