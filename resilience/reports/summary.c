/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/reports/summary.h"
#include "blockforest/output/output_files.h"

#include "core/base/build.h"
#include "core/memory/system_memory.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/base/timer.h"
#include "resilience/loop/timeloop_impl.h"
#include "resilience/run_folder/run_lock_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static gab_status gather_timings(gab_timeloop *loop, gab_world *world, gab_summary *summary)
{
  gab_timers *timers = gab_timeloop_timers(loop);
  double totals[GAB_MOST_TIMINGS], least[GAB_MOST_TIMINGS], most[GAB_MOST_TIMINGS];
  gab_exact_sum sums[GAB_MOST_TIMINGS];
  size_t count = gab_timers_count(timers);
  if (count > GAB_MOST_TIMINGS) count = GAB_MOST_TIMINGS;
  for (size_t i = 0; i < count; i++) {
    gab_timer_summary timer;
    GAB_TRY(gab_timers_summary(timers, i, &timer));
    snprintf(summary->timings[i].name, sizeof summary->timings[i].name, "%s", timer.name);
    totals[i] = least[i] = most[i] = timer.total;
    gab_exact_clear(&sums[i]);
    gab_exact_add(&sums[i], totals[i]);
  }
  GAB_TRY(gab_world_min_f64(world, least, count));
  GAB_TRY(gab_world_max_f64(world, most, count));
  GAB_TRY(gab_world_sum_exact(world, sums, count));
  for (size_t i = 0; i < count; i++) {
    summary->timings[i].min = least[i];
    summary->timings[i].max = most[i];
    summary->timings[i].mean = gab_exact_value(&sums[i]) / summary->living;
  }
  summary->timing_count = count;
  return GAB_OK;
}

gab_status gab_summary_gather(gab_timeloop *loop, gab_summary *summary)
{
  gab_forest *forest = gab_timeloop_forest(loop);
  gab_world *world = gab_forest_world(forest);
  *summary = (gab_summary){.stats = gab_timeloop_get_stats(loop)};
  GAB_TRY(gab_forest_checksum(forest, &summary->checksum));
  GAB_TRY(gab_forest_global_blocks(forest, &summary->blocks));
  summary->ranks = gab_world_members(world)->ranks;
  summary->living = gab_members_count(gab_world_members(world));
  summary->spares = gab_world_first_processes(world) - summary->ranks;
  summary->spares_left = gab_world_spares(world);
  summary->threads = 1;
#ifdef _OPENMP
  summary->threads = omp_get_max_threads();
#endif
  uint64_t most[3] = {gab_memory_peak(GAB_MEMORY_USE_COUNT), gab_memory_now(GAB_MEMORY_USE_COUNT),
                      gab_system_memory_resident_peak()};
  uint64_t sums[2] = {gab_memory_now(GAB_MEMORY_FIELD), gab_memory_now(GAB_MEMORY_SNAPSHOT)};
  GAB_TRY(gab_world_max_u64(world, most, 3));
  GAB_TRY(gab_world_sum_u64(world, sums, 2));
  gab_local_totals *local = &summary->stats.local;
  uint64_t local_most[4] = {local->steps_again, local->meetings, local->msglog_peak, local->largest_copied};
  uint64_t local_sums[11] = {
      local->replayed,     local->left_out,        local->logged,           local->copied,
      local->jumps,        local->compared,        local->rollbacks,        local->undone,
      local->logged_bytes, local->own_checkpoints, local->restored_messages};
  GAB_TRY(gab_world_max_u64(world, local_most, 4));
  GAB_TRY(gab_world_sum_u64(world, local_sums, 11));
  local->steps_again = local_most[0];
  local->meetings = local_most[1];
  local->msglog_peak = local_most[2];
  local->largest_copied = local_most[3];
  local->replayed = local_sums[0];
  local->left_out = local_sums[1];
  local->logged = local_sums[2];
  local->copied = local_sums[3];
  local->jumps = local_sums[4];
  local->compared = local_sums[5];
  local->rollbacks = local_sums[6];
  local->undone = local_sums[7];
  local->logged_bytes = local_sums[8];
  local->own_checkpoints = local_sums[9];
  local->restored_messages = local_sums[10];
  summary->memory_peak = most[0];
  summary->memory_now = most[1];
  summary->memory_resident = most[2];
  summary->memory_field = sums[0];
  summary->memory_snapshot = sums[1];
  return gather_timings(loop, world, summary);
}

/* Cell updates per second that brought the run forward, over everything the loop did. Steps that were rolled
 * back count for as much as the mean step. */
static double useful_rate(const gab_summary *summary, const gab_timeloop *loop)
{
  const gab_run_stats *stats = &summary->stats;
  if (!(stats->seconds > 0) || stats->steps_computed == 0) return 0;
  const double mean = stats->updates_computed / (double)stats->steps_computed;
  return (double)(gab_timeloop_step(loop) - stats->first_step) * mean / stats->seconds;
}

static void put_faults(gab_json *json, const gab_run_stats *stats)
{
  gab_json_list(json, "faults");
  for (int i = 0; i < stats->fault_record_count; i++) {
    const gab_fault_record *record = &stats->faults[i];
    gab_json_object(json, NULL);
    gab_fault_to_json(json, &record->fault, record->lost,
                      record->fault.lost_count < GAB_MOST_LOST_RECORDS ? record->fault.lost_count
                                                                       : GAB_MOST_LOST_RECORDS);
    gab_json_close(json);
  }
  gab_json_close(json);
}

static void put_timings(gab_json *json, const gab_summary *summary)
{
  gab_json_list(json, "timings");
  for (size_t i = 0; i < summary->timing_count; i++) {
    const gab_timing *timing = &summary->timings[i];
    gab_json_object(json, NULL);
    gab_json_text(json, "name", timing->name);
    gab_json_rounded(json, "min", timing->min, 4);
    gab_json_rounded(json, "mean", timing->mean, 4);
    gab_json_rounded(json, "max", timing->max, 4);
    gab_json_close(json);
  }
  gab_json_close(json);
}

/* Cost of checkpoints on disk for the step loop, as a share of it: measured, and by the first-order model from cost
 * and interval, to which failures add the repeated steps. */
static double disk_share(const gab_run_stats *stats)
{
  return stats->seconds > 0 ? (stats->disk.blocking_seconds + stats->disk.waiting_seconds) / stats->seconds
                            : 0;
}

static double disk_model(const gab_run_stats *stats)
{
  const gab_disk_stats *disk = &stats->disk;
  if (!(stats->disk_interval > 0) || disk->begun == 0) return 0;
  return gab_interval_overhead(stats->disk_interval, stats->disk_mtbf,
                               disk->blocking_seconds / (double)disk->begun);
}

static void put_disk(gab_json *json, const gab_run_stats *stats)
{
  const gab_disk_stats *disk = &stats->disk;
  gab_json_object(json, "disk");
  gab_json_uint(json, "written", disk->written);
  gab_json_uint(json, "failed", disk->failed);
  gab_json_int(json, "last_step", disk->last_step);
  gab_json_uint(json, "bytes", disk->last_bytes);
  gab_json_rounded(json, "seconds", disk->last_seconds, 6);
  gab_json_rounded(json, "blocking", disk->blocking_seconds, 6);
  gab_json_rounded(json, "waiting", disk->waiting_seconds, 6);
  gab_json_rounded(json, "interval", stats->disk_interval, 3);
  gab_json_rounded(json, "overhead", disk_share(stats), 6);
  gab_json_rounded(json, "overhead_model", disk_model(stats), 6);
  gab_json_close(json);
}

static void put_checkpoints(gab_json *json, const gab_checkpoint_stats *checkpoint)
{
  gab_json_object(json, "checkpoints");
  gab_json_uint(json, "taken", checkpoint->taken);
  gab_json_uint(json, "image_bytes", checkpoint->image_bytes);
  gab_json_uint(json, "copies_bytes", checkpoint->copies_bytes);
  gab_json_uint(json, "copied_bytes", checkpoint->copied_bytes);
  gab_json_uint(json, "shared_bytes", checkpoint->shared_bytes);
  gab_json_uint(json, "metadata_bytes", checkpoint->metadata_bytes);
  gab_json_uint(json, "sent_bytes", checkpoint->sent_bytes);
  gab_json_rounded(json, "ratio", checkpoint->ratio, 4);
  gab_json_uint(json, "compressed_bytes", checkpoint->compressed_bytes);
  gab_json_rounded(json, "compress", checkpoint->compress_seconds, 6);
  gab_json_uint(json, "replaced", checkpoint->replaced);
  gab_json_rounded(json, "seconds", checkpoint->total_seconds, 6);
  gab_json_rounded(json, "pack", checkpoint->pack_seconds, 6);
  gab_json_rounded(json, "exchange", checkpoint->exchange_seconds, 6);
  gab_json_rounded(json, "commit", checkpoint->commit_seconds, 6);
  gab_json_close(json);
}

/* Local recovery, with messages counted over all ranks. */
static void put_local(gab_json *json, const gab_local_totals *local)
{
  if (local->logged + local->copied == 0) return;
  gab_json_object(json, "local");
  gab_json_uint(json, "faults", local->faults);
  gab_json_uint(json, "meetings", local->meetings);
  gab_json_uint(json, "replayed", local->replayed);
  gab_json_uint(json, "left_out", local->left_out);
  gab_json_uint(json, "compared", local->compared);
  gab_json_uint(json, "jumps", local->jumps);
  gab_json_uint(json, "members_rolled_back", local->rollbacks);
  gab_json_uint(json, "member_steps_computed_again", local->undone);
  gab_json_uint(json, "logged_bytes", local->logged_bytes);
  gab_json_uint(json, "cluster_checkpoints", local->own_checkpoints);
  gab_json_uint(json, "log_messages_restored", local->restored_messages);
  gab_json_uint(json, "logged", local->logged);
  gab_json_uint(json, "copied", local->copied);
  gab_json_uint(json, "largest_copied_bytes", local->largest_copied);
  gab_json_uint(json, "message_log_peak_per_rank", local->msglog_peak);
  gab_json_close(json);
}

/* "2026-11-22T06:33:55Z" */
static void put_date(gab_json *json, const char *key, double seconds_since_1970)
{
  char text[32] = "";
  const time_t seconds = (time_t)seconds_since_1970;
  struct tm parts;
  if (gmtime_r(&seconds, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  gab_json_text(json, key, text);
}

/* Which program, where and when. */
static void put_origin(gab_json *json, const gab_timeloop *loop)
{
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const double end = gab_seconds_since_1970();
  gab_json_text(json, "version", GAB_VERSION);
  if (gab_build_commit()[0]) gab_json_text(json, "commit", gab_build_commit());
  else gab_json_null(json, "commit");
  gab_json_text(json, "host", host);
  if (loop->lock) gab_json_text(json, "run", gab_run_lock_id(loop->lock));
  put_date(json, "start", end - (gab_seconds() - loop->started) - loop->stats.reserve_seconds);
  put_date(json, "end", end);
}

static void put_all(gab_json *json, const gab_summary *summary, const gab_timeloop *loop, gab_status status)
{
  const gab_run_stats *stats = &summary->stats;
  gab_json_text(json, "status", gab_status_name(status));
  gab_json_int(json, "exit_code", gab_status_exit_code(status));
  char why[240] = "all steps are done";
  if (status == GAB_OK) gab_timeloop_end_reason(loop, why, sizeof why);
  gab_json_text(json, "reason", status == GAB_OK ? why : gab_error_message());
  put_origin(json, loop);
  gab_json_int(json, "steps", gab_timeloop_step(loop));
  gab_json_int(json, "steps_wanted", gab_timeloop_steps(loop));
  gab_json_int(json, "first_step", stats->first_step);
  gab_json_uint(json, "steps_computed", stats->steps_computed);
  gab_json_uint(json, "temporally_blocked_steps", stats->temporally_blocked_steps);
  if (status == GAB_ERR_LOST) gab_json_null(json, "checksum");
  else gab_json_format(json, "checksum", "%016" PRIx64, summary->checksum);
  gab_json_rounded(json, "seconds", stats->seconds, 3);
  gab_json_rounded(json, "seconds_reserving_memory", stats->reserve_seconds, 3);
  gab_json_rounded(json, "cell_updates_per_second", useful_rate(summary, loop), 0);
  gab_json_object(json, "seconds_in");
  gab_json_rounded(json, "steps", stats->step_seconds, 3);
  gab_json_rounded(json, "actions", stats->action_seconds, 3);
  gab_json_rounded(json, "checkpoints", stats->checkpoint.total_seconds, 3);
  gab_json_rounded(json, "recoveries", stats->recovery_seconds, 3);
  gab_json_close(json);
  gab_json_int(json, "ranks", summary->ranks);
  gab_json_int(json, "living", summary->living);
  gab_json_int(json, "spares", summary->spares);
  gab_json_int(json, "spares_left", summary->spares_left);
  gab_json_int(json, "threads", summary->threads);
  gab_json_uint(json, "blocks", summary->blocks);
  gab_json_int(json, "fault_count", stats->fault_count);
  gab_json_int(json, "lost_ranks", stats->lost_ranks);
  gab_json_int(json, "suspicions", stats->suspicions);
  gab_json_int(json, "steps_rolled_back", stats->rolled_back);
  gab_json_uint(json, "survivor_steps_computed_again", stats->local.steps_again);
  put_local(json, &stats->local);
  gab_json_uint(json, "reconstructed_blocks", stats->approximated.blocks);
  if (stats->approximated.blocks) gab_json_int(json, "approximate_from_step", stats->approximated.since);
  put_faults(json, stats);
  put_timings(json, summary);
  put_checkpoints(json, &stats->checkpoint);
  put_disk(json, stats);
  gab_json_object(json, "memory");
  gab_json_uint(json, "peak_per_rank", summary->memory_peak);
  gab_json_uint(json, "most_per_rank", summary->memory_now);
  gab_json_uint(json, "resident_peak_per_rank", summary->memory_resident);
  gab_json_uint(json, "fields_of_all", summary->memory_field);
  gab_json_uint(json, "snapshots_of_all", summary->memory_snapshot);
  gab_json_close(json);
}

gab_status gab_summary_write(const gab_summary *summary, gab_timeloop *loop, gab_status status,
                             const char *folder, gab_summary_extra extra)
{
  if (!gab_world_is_root(gab_forest_world(gab_timeloop_forest(loop)))) return GAB_OK;
  char path[1100];
  gab_buffer text = {0};
  if (snprintf(path, sizeof path, "%s/summary.json", folder) >= (int)sizeof path)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %s is too long", folder);
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  put_all(json, summary, loop, status);
  if (extra.put) extra.put(extra.user, json);
  gab_status written = gab_json_end(&json, &text);
  if (written == GAB_OK) written = gab_output_file_save(path, text.data, text.size);
  gab_buffer_release(&text);
  return written;
}

static void log_fault(const gab_fault_record *record, bool with_clusters)
{
  const gab_fault *fault = &record->fault;
  char lost[160];
  gab_log(GAB_LOG_INFO,
          "  survived: %s died at step %" GAB_PRI_STEP "; %" GAB_PRI_STEP
          " steps were computed again%s; recovery took %.3f s",
          gab_fault_who(record->lost, GAB_MOST_LOST_RECORDS, fault->lost_count, lost, sizeof lost),
          fault->noticed_step, fault->noticed_step - fault->restored_step,
          !fault->is_local ? ""
          : with_clusters  ? " by the process that took over and by its cluster"
                           : " by the process that took over, none by others",
          fault->seconds);
}

/* The parts that took most; all are in summary.json. */
static void log_timings(const gab_summary *summary, double seconds)
{
  enum { SHOWN = 5 };
  const gab_timing *top[SHOWN] = {NULL};
  for (size_t i = 0; i < summary->timing_count; i++) {
    const gab_timing *timing = &summary->timings[i];
    for (int k = 0; k < SHOWN && timing; k++) {
      if (top[k] && top[k]->mean >= timing->mean) continue;
      const gab_timing *pushed = top[k];
      top[k] = timing;
      timing = pushed;
    }
  }
  for (int k = 0; k < SHOWN && top[k]; k++)
    if (top[k]->mean > 0.01)
      gab_log(GAB_LOG_INFO, "  %-28s %8.2f s a process (%.2f to %.2f), %2.0f %% of the run", top[k]->name,
              top[k]->mean, top[k]->min, top[k]->max, 100 * top[k]->mean / fmax(seconds, 1e-9));
}

void gab_summary_log(const gab_summary *summary, gab_timeloop *loop, const char *folder)
{
  const gab_run_stats *stats = &summary->stats;
  gab_log(GAB_LOG_INFO,
          "done: %" GAB_PRI_STEP " steps in %.1f s, %.1f million cell updates per second, all included",
          gab_timeloop_step(loop), stats->seconds, useful_rate(summary, loop) * 1e-6);
  if (stats->temporally_blocked_steps > 0)
    gab_log(GAB_LOG_INFO, "  %" PRIu64 " of %" PRIu64 " computed steps were taken several at once",
            stats->temporally_blocked_steps, stats->steps_computed);
  for (int i = 0; i < stats->fault_record_count; i++)
    log_fault(&stats->faults[i], stats->local.steps_again > 0);
  if (stats->fault_count > stats->fault_record_count)
    gab_log(GAB_LOG_INFO, "  and %d more faults", stats->fault_count - stats->fault_record_count);
  if (stats->suspicions)
    gab_log(GAB_LOG_INFO, "  went back %d time%s because a monitor complained", stats->suspicions,
            stats->suspicions == 1 ? "" : "s");
  if (stats->checkpoint.taken)
    gab_log(GAB_LOG_INFO,
            "  %" PRIu64 " checkpoints cost %.2f s in all (%.1f %% of the run), %.1f MB per process",
            stats->checkpoint.taken, stats->checkpoint.total_seconds,
            stats->seconds > 0 ? 100 * stats->checkpoint.total_seconds / stats->seconds : 0.0,
            (double)stats->checkpoint.image_bytes * 1e-6);
  if (stats->checkpoint.compressed_bytes)
    gab_log(GAB_LOG_INFO, "  copies compressed %.2f : 1 at %.2f GB/s", stats->checkpoint.ratio,
            (double)stats->checkpoint.compressed_bytes / fmax(stats->checkpoint.compress_seconds, 1e-9) *
                1e-9);
  if (stats->disk.begun)
    gab_log(GAB_LOG_INFO,
            "  %" PRIu64
            " checkpoints on disk, the last one %.1f MB in %.2f s behind the steps, which paid %.2f s in "
            "all; waiting at the end %.2f s (%.2f %% of the run; model %.2f %%)",
            stats->disk.written, (double)stats->disk.last_bytes * 1e-6, stats->disk.last_seconds,
            stats->disk.blocking_seconds, stats->disk.waiting_seconds, 100 * disk_share(stats),
            100 * disk_model(stats));
  log_timings(summary, stats->seconds);
  gab_log(GAB_LOG_INFO, "  %d of %d processes left, at most %.1f MB in one of them", summary->living,
          summary->ranks, (double)summary->memory_peak * 1e-6);
  if (stats->approximated.blocks)
    gab_log(GAB_LOG_WARNING,
            "  checksum %016" PRIx64 ", of an APPROXIMATION from step %" GAB_PRI_STEP " on: %" PRIu64
            " block%s of which no copy was left %s approximated",
            summary->checksum, stats->approximated.since, stats->approximated.blocks,
            stats->approximated.blocks == 1 ? "" : "s", stats->approximated.blocks == 1 ? "was" : "were");
  else
    gab_log(GAB_LOG_INFO,
            "  checksum %016" PRIx64 " (the same for any number of processes, threads and deaths)",
            summary->checksum);
  if (folder) gab_log(GAB_LOG_INFO, "  results are in %s (summary.json, events.jsonl, log.txt)", folder);
}
