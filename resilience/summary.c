#include "resilience/summary.h"

#include "core/collective.h"
#include "core/file.h"
#include "core/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
  summary->slots = gab_world_members(world)->slots;
  summary->living = gab_members_count(gab_world_members(world));
  summary->threads = 1;
#ifdef _OPENMP
  summary->threads = omp_get_max_threads();
#endif
  uint64_t most[2] = {gab_memory_peak(GAB_MEMORY_USE_COUNT), gab_memory_now(GAB_MEMORY_USE_COUNT)};
  uint64_t sums[2] = {gab_memory_now(GAB_MEMORY_FIELD), gab_memory_now(GAB_MEMORY_SNAPSHOT)};
  GAB_TRY(gab_world_max_u64(world, most, 2));
  GAB_TRY(gab_world_sum_u64(world, sums, 2));
  summary->memory_peak = most[0];
  summary->memory_now = most[1];
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

static void print_faults(FILE *file, const gab_run_stats *stats)
{
  fprintf(file, "  \"faults\": [");
  for (int i = 0; i < stats->fault_record_count; i++) {
    const gab_fault_record *record = &stats->faults[i];
    const gab_fault *fault = &record->fault;
    fprintf(file, "%s\n    {\"lost\": [", i ? "," : "");
    for (int32_t k = 0; k < fault->lost_count && k < 8; k++)
      fprintf(file, "%s%" GAB_PRI_SLOT, k ? ", " : "", record->lost[k]);
    fprintf(file,
            "], \"lost_count\": %d, \"noticed_step\": %" GAB_PRI_STEP ", \"restored_step\": %" GAB_PRI_STEP
            ", \"rounds\": %d, \"seconds\": %.6f, \"revoke\": %.6f, \"shrink\": %.6f, \"agree\": %.6f, "
            "\"restore\": %.6f, \"reprotect\": %.6f, \"rebalance\": %.6f, \"reconstructed_blocks\": %" PRIu64 "}",
            fault->lost_count, fault->noticed_step, fault->restored_step, fault->rounds, fault->seconds,
            fault->revoke, fault->shrink, fault->agree, fault->restore, fault->reprotect, fault->rebalance,
            fault->made_up);
  }
  fprintf(file, "%s],\n", stats->fault_record_count ? "\n  " : "");
}

static void print_timings(FILE *file, const gab_summary *summary)
{
  fprintf(file, "  \"timings\": [");
  for (size_t i = 0; i < summary->timing_count; i++) {
    const gab_timing *timing = &summary->timings[i];
    fprintf(file, "%s\n    {\"name\": \"%s\", \"min\": %.4f, \"mean\": %.4f, \"max\": %.4f}", i ? "," : "",
            timing->name, timing->min, timing->mean, timing->max);
  }
  fprintf(file, "%s],\n", summary->timing_count ? "\n  " : "");
}

/* What the level on disk costs the step loop, as a share of it: measured, and by the first-order model from
 * cost and interval, to which failures add what has to be computed again. */
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

static void print_disk(FILE *file, const gab_run_stats *stats)
{
  const gab_disk_stats *disk = &stats->disk;
  fprintf(file,
          "  \"disk\": {\"written\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"last_step\": %" GAB_PRI_STEP
          ", \"bytes\": %" PRIu64
          ", \"seconds\": %.6f, \"blocking\": %.6f, \"waiting\": %.6f, \"interval\": %.3f, "
          "\"overhead\": %.6f, \"overhead_model\": %.6f},\n",
          disk->written, disk->failed, disk->last_step, disk->last_bytes, disk->last_seconds,
          disk->blocking_seconds, disk->waiting_seconds, stats->disk_interval, disk_share(stats),
          disk_model(stats));
}

static void print_all(FILE *file, const gab_summary *summary, const gab_timeloop *loop, gab_status status,
                      const char *extra)
{
  const gab_run_stats *stats = &summary->stats;
  const gab_checkpoint_stats *checkpoint = &stats->checkpoint;
  fprintf(file, "{\n  \"status\": \"%s\",\n  \"exit_code\": %d,\n", gab_status_name(status),
          gab_status_exit_code(status));
  fprintf(file, "  \"steps\": %" GAB_PRI_STEP ",\n  \"steps_computed\": %" PRIu64 ",\n",
          gab_timeloop_step(loop), stats->steps_computed);
  fprintf(file, "  \"checksum\": \"%016" PRIx64 "\",\n", summary->checksum);
  fprintf(file, "  \"seconds\": %.3f,\n  \"cell_updates_per_second\": %.6g,\n", stats->seconds,
          useful_rate(summary, loop));
  fprintf(
      file,
      "  \"seconds_in\": {\"steps\": %.3f, \"duties\": %.3f, \"checkpoints\": %.3f, \"recoveries\": %.3f},\n",
      stats->step_seconds, stats->duty_seconds, checkpoint->total_seconds, stats->recovery_seconds);
  fprintf(file, "  \"slots\": %d,\n  \"living\": %d,\n  \"threads\": %d,\n  \"blocks\": %" PRIu64 ",\n",
          summary->slots, summary->living, summary->threads, summary->blocks);
  fprintf(file,
          "  \"fault_count\": %d,\n  \"lost_slots\": %d,\n  \"suspicions\": %d,\n  \"steps_rolled_back\": %" GAB_PRI_STEP ",\n",
          stats->fault_count, stats->lost_slots, stats->suspicions, stats->rolled_back);
  fprintf(file, "  \"reconstructed_blocks\": %" PRIu64 ",\n", stats->made_up.blocks);
  if (stats->made_up.blocks)
    fprintf(file, "  \"approximate_from_step\": %" GAB_PRI_STEP ",\n", stats->made_up.since);
  print_faults(file, stats);
  print_timings(file, summary);
  fprintf(file,
          "  \"checkpoints\": {\"taken\": %" PRIu64 ", \"image_bytes\": %zu, \"copies_bytes\": %zu, "
          "\"copied_bytes\": %zu, \"skeleton_bytes\": %zu, \"sent_bytes\": %zu, \"ratio\": %.4f, \"compressed_bytes\": %" PRIu64
          ", \"compress\": %.6f, \"replaced\": %" PRIu64
          ", \"seconds\": %.6f, \"pack\": %.6f, \"exchange\": %.6f, \"commit\": %.6f},\n",
          checkpoint->taken, checkpoint->image_bytes, checkpoint->copies_bytes, checkpoint->copied_bytes, checkpoint->skeleton_bytes, checkpoint->sent_bytes,
          checkpoint->ratio, checkpoint->compressed_bytes, checkpoint->compress_seconds, checkpoint->replaced, checkpoint->total_seconds, checkpoint->pack_seconds,
          checkpoint->exchange_seconds, checkpoint->commit_seconds);
  print_disk(file, stats);
  fprintf(file,
          "  \"memory\": {\"peak_of_a_slot\": %" PRIu64 ", \"most_of_a_slot\": %" PRIu64
          ", \"fields_of_all\": %" PRIu64 ", \"snapshots_of_all\": %" PRIu64 "}",
          summary->memory_peak, summary->memory_now, summary->memory_field, summary->memory_snapshot);
  fprintf(file, "%s%s\n}\n", extra ? ",\n  " : "", extra ? extra : "");
}

gab_status gab_summary_write(const gab_summary *summary, gab_timeloop *loop, gab_status status,
                             const char *folder, const char *extra)
{
  if (!gab_world_is_root(gab_forest_world(gab_timeloop_forest(loop)))) return GAB_OK;
  char path[1100], *text = NULL;
  size_t length = 0;
  if (snprintf(path, sizeof path, "%s/summary.json", folder) >= (int)sizeof path)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %s is too long", folder);
  FILE *file = open_memstream(&text, &length);
  if (!file) GAB_FAIL(GAB_ERR_MEMORY, "no memory for the summary");
  print_all(file, summary, loop, status, extra);
  gab_status written = GAB_OK;
  if (fclose(file) != 0)
    written = gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "no memory for the summary");
  if (written == GAB_OK) written = gab_file_replace(path, text, length, GAB_FILE_RENAMED);
  free(text);
  return written;
}

static void log_fault(const gab_fault_record *record)
{
  const gab_fault *fault = &record->fault;
  char lost[96] = "";
  for (int32_t k = 0; k < fault->lost_count && k < 8; k++) {
    size_t used = strlen(lost);
    snprintf(lost + used, sizeof lost - used, "%s%" GAB_PRI_SLOT, k ? ", " : "", record->lost[k]);
  }
  gab_log(GAB_LOG_INFO,
          "  survived: slot%s %s died at step %" GAB_PRI_STEP "; %" GAB_PRI_STEP
          " steps were computed again; recovery took %.3f s",
          fault->lost_count == 1 ? "" : "s", lost, fault->noticed_step,
          fault->noticed_step - fault->restored_step, fault->seconds);
}

/* The three parts that took most; all are in summary.json. */
static void log_timings(const gab_summary *summary)
{
  const gab_timing *top[3] = {NULL};
  for (size_t i = 0; i < summary->timing_count; i++) {
    const gab_timing *timing = &summary->timings[i];
    for (int k = 0; k < 3 && timing; k++) {
      if (top[k] && top[k]->mean >= timing->mean) continue;
      const gab_timing *pushed = top[k];
      top[k] = timing;
      timing = pushed;
    }
  }
  for (int k = 0; k < 3 && top[k]; k++)
    if (top[k]->mean > 0.01)
      gab_log(GAB_LOG_INFO, "  %-24s %8.2f s a process (%.2f to %.2f)", top[k]->name, top[k]->mean,
              top[k]->min, top[k]->max);
}

void gab_summary_log(const gab_summary *summary, gab_timeloop *loop, const char *folder)
{
  const gab_run_stats *stats = &summary->stats;
  gab_log(GAB_LOG_INFO, "done: %" GAB_PRI_STEP " steps in %.1f s, %.1f million cell updates per second",
          gab_timeloop_step(loop), stats->seconds, useful_rate(summary, loop) * 1e-6);
  for (int i = 0; i < stats->fault_record_count; i++) log_fault(&stats->faults[i]);
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
            (double)stats->checkpoint.compressed_bytes / fmax(stats->checkpoint.compress_seconds, 1e-9) * 1e-9);
  if (stats->disk.begun)
    gab_log(GAB_LOG_INFO,
            "  %" PRIu64
            " checkpoints on disk, the last one %.1f MB in %.2f s behind the steps, which paid %.2f s in "
            "all; waiting at the end %.2f s (%.2f %% of the run; model %.2f %%)",
            stats->disk.written, (double)stats->disk.last_bytes * 1e-6, stats->disk.last_seconds,
            stats->disk.blocking_seconds, stats->disk.waiting_seconds, 100 * disk_share(stats),
            100 * disk_model(stats));
  log_timings(summary);
  gab_log(GAB_LOG_INFO, "  %d of %d processes left, at most %.1f MB in one of them", summary->living,
          summary->slots, (double)summary->memory_peak * 1e-6);
  if (stats->made_up.blocks)
    gab_log(GAB_LOG_WARNING,
            "  checksum %016" PRIx64 ", of an APPROXIMATION from step %" GAB_PRI_STEP " on: %" PRIu64
            " block%s of which no copy was left %s made up",
            summary->checksum, stats->made_up.since, stats->made_up.blocks, stats->made_up.blocks == 1 ? "" : "s",
            stats->made_up.blocks == 1 ? "was" : "were");
  else
    gab_log(GAB_LOG_INFO,
            "  checksum %016" PRIx64 " (the same for any number of processes, threads and deaths)",
            summary->checksum);
  if (folder) gab_log(GAB_LOG_INFO, "  results are in %s (summary.json, events.jsonl, log.txt)", folder);
}
