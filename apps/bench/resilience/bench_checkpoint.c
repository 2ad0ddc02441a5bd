/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots in memory: taking them, restoring them, adopting blocks of a dead rank. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "core/messages/port.h"
#include "resilience/checkpoint/checkpoint.h"

#include <signal.h>
#include <unistd.h>

/* A flow, its snapshots, and the ceilings for as many bytes as the image of this process has. */
typedef struct stage {
  bench_flow flow;
  gab_checkpoint *checkpoint;
  bench_copy copy;
  bench_swap swap;
  double all_bytes;    /* of the images of all processes */
  gab_within_node way; /* way of images to their holders */
  const char *variant; /* part of names before the measured quantity */
} stage;

typedef struct full_name {
  char text[64];
} full_name;

static full_name name_of(const stage *s, const char *group, const char *what)
{
  full_name name;
  snprintf(name.text, sizeof name.text, "%s.%s%s", group, s->variant, what);
  return name;
}

static void close_stage(stage *s)
{
  gab_checkpoint_destroy(&s->checkpoint);
  bench_flow_destroy(&s->flow);
  bench_copy_destroy(&s->copy);
  bench_swap_destroy(&s->swap);
}

/* Two snapshots first: afterwards both buffers have their memory. */
static gab_status fill_stage(bench *b, const gab_redundancy *redundancy, stage *s)
{
  GAB_TRY(gab_checkpoint_create(s->flow.forest, redundancy, &s->checkpoint));
  GAB_TRY(gab_checkpoint_set_within_node(s->checkpoint, s->way));
  for (int i = 0; i < 2; i++) GAB_TRY(gab_checkpoint_take(s->checkpoint, i));
  uint64_t bytes = gab_checkpoint_get_stats(s->checkpoint).image_bytes, sum = bytes;
  GAB_TRY(gab_world_sum_u64(b->world, &sum, 1));
  GAB_TRY(gab_world_max_u64(b->world, &bytes, 1));
  s->all_bytes = (double)sum;
  GAB_TRY(bench_copy_create((size_t)bytes, &s->copy));
  return bench_swap_create(b, (size_t)bytes, GAB_CHUNK_BYTES, &s->swap);
}

/* The usual box in blocks, as many on each of 2, 4 and 8 processes: images of one size. Or for each process a box of
 * that size, of one block. */
typedef enum division { BLOCKS, ONE_BLOCK } division;

static const char *variant_of(division division, gab_within_node way)
{
  static const char *const names[][GAB_WITHIN_NODE_COUNT] = {
      [BLOCKS] = {"", "share.", "send."},
      [ONE_BLOCK] = {"one-block.", "one-block.share.", "one-block.send."}};
  return names[division][way];
}

static gab_status open_stage(bench *b, const gab_redundancy *redundancy, division division,
                             gab_within_node way, stage *s)
{
  *s = (stage){.way = way, .variant = variant_of(division, way)};
  bench_flow_options options = bench_flow_usual(b, division == ONE_BLOCK ? bench_edge(b)
                                                   : b->quick            ? 24
                                                                         : 32);
  if (division == ONE_BLOCK) options.roots[2] = bench_processes(b);
  GAB_TRY(bench_flow_create(b, &options, &s->flow));
  gab_status status = fill_stage(b, redundancy, s);
  if (status != GAB_OK) close_stage(s);
  return status;
}

static gab_status with_way(bench *b, const gab_redundancy *redundancy, division division, gab_within_node way,
                           gab_status (*measure)(bench *b, stage *s))
{
  stage s;
  GAB_TRY(open_stage(b, redundancy, division, way, &s));
  gab_status status = measure(b, &s);
  close_stage(&s);
  return status;
}

static gab_status with_scheme(bench *b, const gab_redundancy *redundancy, division division,
                              gab_status (*measure)(bench *b, stage *s))
{
  return with_way(b, redundancy, division, GAB_WITHIN_NODE_COPY, measure);
}

static gab_status with_stage(bench *b, division division, gab_status (*measure)(bench *b, stage *s))
{
  return with_scheme(b, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, division, measure);
}

/* A number other than a time: the same in every repetition. */
static void report_number(bench *b, const char *name, double value, double ceiling, const char *unit)
{
  bench_report(b, &(bench_result){.name = name,
                                  .value = value,
                                  .min = value,
                                  .max = value,
                                  .samples = 1,
                                  .unit = unit,
                                  .ceiling = ceiling,
                                  .processes = bench_processes(b)});
}

/* Bytes of the rates, in all processes. */
static gab_status report_counted(bench *b, const stage *s)
{
  static const char *const names[] = {"images", "copies", "sent", "compressed", "memory"};
  enum { COUNT = sizeof names / sizeof names[0] };
  const gab_checkpoint_stats stats = gab_checkpoint_get_stats(s->checkpoint);
  uint64_t bytes[COUNT] = {stats.image_bytes, stats.copies_bytes, stats.sent_bytes, stats.compressed_bytes,
                           gab_memory_now(GAB_MEMORY_SNAPSHOT)};
  GAB_TRY(gab_world_sum_u64(b->world, bytes, COUNT));
  for (int i = 0; i < COUNT; i++)
    report_number(b, name_of(s, "checkpoint", names[i]).text, (double)bytes[i] * 1e-6, 0, "MB");
  return GAB_OK;
}

/* ---------------------------------------------------------------- taking */

enum { PACK, EXCHANGE, COMMIT, TOTAL, MEMCPY, MPI, STEP, PART_COUNT };

static gab_status take_once(bench *b, stage *s, double seconds[PART_COUNT])
{
  GAB_TRY(bench_time(b, bench_copy_run, &s->copy, &seconds[MEMCPY]));
  GAB_TRY(bench_time(b, bench_swap_run, &s->swap, &seconds[MPI]));
  GAB_TRY(bench_time(b, bench_flow_step, &s->flow, &seconds[STEP]));
  seconds[STEP] /= BENCH_SWEEPS;
  gab_checkpoint_stats before = gab_checkpoint_get_stats(s->checkpoint);
  GAB_TRY(gab_world_barrier(b->world));
  GAB_TRY(gab_checkpoint_take(s->checkpoint, before.last_step + 1));
  gab_checkpoint_stats after = gab_checkpoint_get_stats(s->checkpoint);
  seconds[PACK] = after.pack_seconds - before.pack_seconds;
  seconds[EXCHANGE] = after.exchange_seconds - before.exchange_seconds;
  seconds[COMMIT] = after.commit_seconds - before.commit_seconds;
  seconds[TOTAL] = after.last_seconds;
  return gab_world_max_f64(b->world, seconds, TOTAL + 1);
}

/* Rates of all bytes from times of parts, and their share of the ceiling's rate, sample by sample. */
static void report_rate(bench *b, const stage *s, const char *name, double (*times)[PART_COUNT], int part,
                        bool memcpy_counts, bool mpi_counts)
{
  double rates[BENCH_MOST_SAMPLES], ceilings[BENCH_MOST_SAMPLES], shares[BENCH_MOST_SAMPLES];
  for (int i = 0; i < b->repetitions; i++) {
    double best = (memcpy_counts ? times[i][MEMCPY] : 0) + (mpi_counts ? times[i][MPI] : 0);
    rates[i] = s->all_bytes / times[i][part];
    ceilings[i] = s->all_bytes / best;
    shares[i] = rates[i] / ceilings[i];
  }
  bench_pair_result result = {.rate = bench_summarise(rates, b->repetitions),
                              .ceiling = bench_summarise(ceilings, b->repetitions),
                              .share = bench_summarise(shares, b->repetitions).median};
  bench_report_pair(b, name, &result, 1e-9, "GB/s");
}

static void report_milliseconds(bench *b, const char *name, double (*times)[PART_COUNT], int part)
{
  double samples[BENCH_MOST_SAMPLES];
  for (int i = 0; i < b->repetitions; i++) samples[i] = times[i][part];
  bench_series series = bench_summarise(samples, b->repetitions);
  bench_report_series(b, name, &series, 1e3, "ms");
}

/* Of the same flow, right before. */
static void report_steps(bench *b, const char *name, double (*times)[PART_COUNT], int part)
{
  double samples[BENCH_MOST_SAMPLES];
  for (int i = 0; i < b->repetitions; i++) samples[i] = times[i][part] / times[i][STEP];
  bench_series series = bench_summarise(samples, b->repetitions);
  bench_report_series(b, name, &series, 1, "steps");
}

static gab_status measure_taking(bench *b, stage *s)
{
  double times[BENCH_MOST_SAMPLES][PART_COUNT];
  for (int i = 0; i < b->repetitions; i++) GAB_TRY(take_once(b, s, times[i]));
  report_rate(b, s, name_of(s, "checkpoint", "pack").text, times, PACK, true, false);
  report_rate(b, s, name_of(s, "checkpoint", "exchange").text, times, EXCHANGE, false, true);
  report_milliseconds(b, name_of(s, "checkpoint", "commit").text, times, COMMIT);
  report_rate(b, s, name_of(s, "checkpoint", "total").text, times, TOTAL, true, true);
  report_milliseconds(b, name_of(s, "checkpoint", "total.time").text, times, TOTAL);
  report_steps(b, name_of(s, "checkpoint", "total.steps").text, times, TOTAL);
  return report_counted(b, s);
}

gab_status bench_checkpoint(bench *b)
{
  const gab_redundancy pairwise = {.scheme = &gab_scheme_pairwise};
  for (int d = BLOCKS; d <= ONE_BLOCK; d++)
    for (int way = 0; way < GAB_WITHIN_NODE_COUNT; way++)
      GAB_TRY(with_way(b, &pairwise, (division)d, (gab_within_node)way, measure_taking));
  return GAB_OK;
}

/* ---------------------------------------------------------------- schemes */

static void report_of_scheme(bench *b, const char *scheme, const char *what, double value, double ceiling,
                             const char *unit)
{
  char name[64];
  snprintf(name, sizeof name, "scheme.%s.%s", scheme, what);
  report_number(b, name, value, ceiling, unit);
}

/* Bytes kept besides the own images, compared with the documented bytes of the scheme and with whole copies. */
static gab_status report_bytes(bench *b, const stage *s, const char *scheme)
{
  gab_checkpoint_stats stats = gab_checkpoint_get_stats(s->checkpoint);
  uint64_t bytes[3] = {stats.image_bytes, stats.copies_bytes, stats.sent_bytes};
  uint64_t memory[2] = {gab_memory_now(GAB_MEMORY_SNAPSHOT), stats.image_bytes};
  GAB_TRY(gab_world_sum_u64(b->world, bytes, 3));
  GAB_TRY(gab_world_max_u64(b->world, memory, 2));
  double own = (double)bytes[0];
  gab_placement_costs costs =
      gab_placement_get_costs(gab_checkpoint_placement(s->checkpoint), (double)memory[1]);
  report_of_scheme(b, scheme, "redundant", (double)bytes[1] / own, costs.kept / (double)memory[1], "images");
  report_of_scheme(b, scheme, "sent", (double)bytes[2] / own, costs.sent / (double)memory[1], "images");
  report_of_scheme(b, scheme, "of-pairwise", (own + (double)bytes[1]) / (2 * own), 0, "bytes");
  double due = 2 * ((double)memory[1] + costs.kept);
  report_of_scheme(b, scheme, "memory", (double)memory[0] * 1e-6, due * 1e-6, "MB");
  return GAB_OK;
}

/* One copy of each byte of an image, and its messages by the scheme through MPI alone. */
static gab_status measure_scheme(bench *b, stage *s)
{
  double times[BENCH_MOST_SAMPLES][PART_COUNT];
  char name[64];
  const gab_placement *placement = gab_checkpoint_placement(s->checkpoint);
  const char *scheme = placement->scheme->name;
  gab_checkpoint_stats stats = gab_checkpoint_get_stats(s->checkpoint);
  uint64_t sent = stats.sent_bytes;
  GAB_TRY(gab_world_max_u64(b->world, &sent, 1));
  s->swap.bytes = sent < s->swap.bytes ? (size_t)sent : s->swap.bytes;
  double more = s->swap.bytes ? (double)sent / (double)s->swap.bytes : 0; /* several copies: as often */
  for (int i = 0; i < b->repetitions; i++) {
    GAB_TRY(take_once(b, s, times[i]));
    times[i][MPI] *= more;
  }
  snprintf(name, sizeof name, "scheme.%s.total", scheme);
  report_rate(b, s, name, times, TOTAL, true, true);
  snprintf(name, sizeof name, "scheme.%s.exchange", scheme);
  if (sent > 0) report_rate(b, s, name, times, EXCHANGE, false, true);
  return report_bytes(b, s, scheme);
}

gab_status bench_schemes(bench *b)
{
  static const gab_redundancy schemes[] = {{.scheme = &gab_scheme_pairwise},
                                           {.scheme = &gab_scheme_ring, .copies = 2},
                                           {.scheme = &gab_scheme_parity, .group = 8},
                                           {.scheme = &gab_scheme_reed_solomon, .group = 8, .losses = 2}};
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
    GAB_TRY(with_scheme(b, &schemes[i], BLOCKS, measure_scheme));
  return GAB_OK;
}

/* ---------------------------------------------------------------- going back */

/* Breaks the world without a death, from the last rank. */
static gab_status break_world(bench *b)
{
  const gab_members *members = gab_world_members(b->world);
  if (gab_world_rank(b->world) == gab_members_rank(members, gab_members_count(members) - 1))
    return gab_world_raise(b->world, GAB_ERR_REQUEUE);
  gab_status status = gab_world_barrier(b->world);
  if (status == GAB_OK) GAB_FAIL(GAB_ERR_STATE, "the world was not broken");
  return status;
}

/* Repair, then restore. @param[out] seconds  of the restore without the agreement on the snapshot */
static gab_status mend(bench *b, stage *s, gab_restore_report *report, double *repair_seconds)
{
  gab_status abort_request;
  GAB_TRY(gab_world_repair(b->world, &abort_request));
  gab_repair_times times = gab_world_repair_times(b->world);
  *repair_seconds = times.revoke + times.shrink + times.agree;
  return gab_checkpoint_restore(s->checkpoint, report);
}

enum { RESTORE_ALL, RESTORE_VERIFY, RESTORE_UNPACK, RESTORE_REPAIR, RESTORE_PARTS };

static void report_restore(bench *b, const stage *s, const char *name, double (*times)[RESTORE_PARTS],
                           const double *copies, int part)
{
  double rates[BENCH_MOST_SAMPLES], ceilings[BENCH_MOST_SAMPLES], shares[BENCH_MOST_SAMPLES];
  for (int i = 0; i < b->repetitions; i++) {
    rates[i] = s->all_bytes / times[i][part];
    ceilings[i] = s->all_bytes / copies[i];
    shares[i] = rates[i] / ceilings[i];
  }
  const bench_pair_result result = {.rate = bench_summarise(rates, b->repetitions),
                                    .ceiling = bench_summarise(ceilings, b->repetitions),
                                    .share = bench_summarise(shares, b->repetitions).median};
  bench_report_pair(b, name, &result, 1e-9, "GB/s");
}

static gab_status measure_restore(bench *b, stage *s)
{
  double copies[BENCH_MOST_SAMPLES], times[BENCH_MOST_SAMPLES][RESTORE_PARTS], repairs[BENCH_MOST_SAMPLES];
  for (int i = 0; i < b->repetitions; i++) {
    gab_restore_report report;
    GAB_TRY(bench_time(b, bench_copy_run, &s->copy, &copies[i]));
    gab_status status = break_world(b);
    if (status != GAB_ERR_FAULT) return status;
    GAB_TRY(mend(b, s, &report, &times[i][RESTORE_REPAIR]));
    times[i][RESTORE_ALL] = report.seconds;
    times[i][RESTORE_VERIFY] = report.verify_seconds;
    times[i][RESTORE_UNPACK] = report.seconds - report.verify_seconds;
    GAB_TRY(gab_world_max_f64(b->world, times[i], RESTORE_PARTS));
    repairs[i] = times[i][RESTORE_REPAIR];
  }
  report_restore(b, s, name_of(s, "restore", "in-place").text, times, copies, RESTORE_ALL);
  report_restore(b, s, name_of(s, "restore", "in-place.verify").text, times, copies, RESTORE_VERIFY);
  report_restore(b, s, name_of(s, "restore", "in-place.unpack").text, times, copies, RESTORE_UNPACK);
  const bench_series repair = bench_summarise(repairs, b->repetitions);
  bench_report_series(b, name_of(s, "restore", "repair-without-death").text, &repair, 1e3, "ms");
  return GAB_OK;
}

gab_status bench_restore(bench *b)
{
  GAB_TRY(with_stage(b, BLOCKS, measure_restore));
  return with_stage(b, ONE_BLOCK, measure_restore);
}

/* ---------------------------------------------------------------- taking over */

/* The last rank dies; the rank that adopts its blocks reports the cost. Rates are of the bytes that the slowest
 * process restores, its own image included. */
static gab_status measure_adoption(bench *b, stage *s)
{
  const gab_members *members = gab_world_members(b->world);
  int32_t processes = gab_members_count(members);
  double copy, own = (double)gab_checkpoint_get_stats(s->checkpoint).image_bytes,
               others = (double)gab_checkpoint_get_stats(s->checkpoint).copies_bytes;
  GAB_TRY(bench_time(b, bench_copy_run, &s->copy, &copy));
  if (gab_world_rank(b->world) == gab_members_rank(members, processes - 1)) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  gab_status status = gab_world_barrier(b->world);
  if (status == GAB_OK) GAB_FAIL(GAB_ERR_STATE, "the world was not broken");
  if (status != GAB_ERR_FAULT) return status;
  gab_restore_report report;
  double repair;
  GAB_TRY(mend(b, s, &report, &repair));
  double values[2] = {0, report.seconds};
  if (report.adopted > 0) values[0] = (own + others) / report.seconds;
  GAB_TRY(gab_world_max_f64(b->world, values, 2));
  bench_report(b, &(bench_result){.name = "adoption.rate",
                                  .value = values[0] * 1e-9,
                                  .min = values[0] * 1e-9,
                                  .max = values[0] * 1e-9,
                                  .samples = 1,
                                  .unit = "GB/s",
                                  .ceiling = (double)s->copy.bytes / copy * 1e-9,
                                  .processes = processes});
  bench_report(b, &(bench_result){.name = "adoption.time",
                                  .value = values[1] * 1e3,
                                  .min = values[1] * 1e3,
                                  .max = values[1] * 1e3,
                                  .samples = 1,
                                  .unit = "ms",
                                  .processes = processes});
  return GAB_OK;
}

gab_status bench_adoption(bench *b) { return with_stage(b, BLOCKS, measure_adoption); }
