/* SPDX-License-Identifier: Apache-2.0 */
/* A process is killed during a run; duration of each part of the recovery: the others continue without it, or, in a
 * job with spare processes, one of those takes its rank. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "resilience/loop/timeloop.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 30, EVERY = 10, DEATH = 15 };

typedef struct trial {
  bench *b;
  bench_flow flow;
  int32_t processes; /* before the death */
  char folder[256];  /* for the events; "" if there is none */
} trial;

/* ---------------------------------------------------------------- the run */

static gab_status compute(void *user, gab_step step)
{
  (void)step;
  trial *t = user;
  return gab_lbm_step(t->flow.lbm);
}

static gab_status rebalance(void *user, gab_forest *forest)
{
  (void)user;
  return gab_balance_forest(forest, NULL, NULL);
}

static gab_status protect(trial *t, gab_timeloop *loop)
{
  gab_rank victim = gab_members_rank(gab_world_members(t->b->world), t->processes / 2);
  gab_fault_injection injection = {
      .step = DEATH, .point = GAB_FAULT_POINT_EXCHANGE, .visit = 1, .rank_count = 1, .ranks = {victim}};
  gab_protection protection = {.every = {.steps = EVERY},
                               .rebalance = rebalance,
                               .folder = t->folder[0] ? t->folder : NULL,
                               .injections = &injection,
                               .injection_count = 1};
  return gab_timeloop_protect(loop, &protection);
}

static gab_status run(trial *t, gab_fault *fault)
{
  gab_timeloop *loop;
  GAB_TRY(gab_timeloop_create(t->flow.forest, STEPS, &loop));
  gab_status status = gab_timeloop_add_task(loop, "flow", compute, t);
  if (status == GAB_OK) status = protect(t, loop);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  gab_run_stats stats = gab_timeloop_get_stats(loop);
  const bool took_part = !gab_world_is_spare(t->b->world);
  if (status == GAB_OK && took_part && stats.fault_count != 1)
    status =
        gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__, "%d recoveries instead of one", stats.fault_count);
  if (status == GAB_OK && took_part) *fault = stats.faults[0].fault;
  gab_timeloop_destroy(&loop);
  return status;
}

/* ---------------------------------------------------------------- from the kill to its notice */

static bool event_time(const char *line, const char *event, double *time)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"event\": \"%s\"", event);
  const char *at = strstr(line, "\"time\": ");
  if (!at || !strstr(line, wanted)) return false;
  *time = strtod(at + strlen("\"time\": "), NULL);
  return true;
}

/* Seconds until the first and until the last survivor noticed; false if the events do not contain it, e.g. if the
 * processes have no common folder. */
static bool read_detection(const trial *t, double seconds[2])
{
  char path[300], line[4096];
  snprintf(path, sizeof path, "%s/events.jsonl", t->folder);
  FILE *file = t->folder[0] ? fopen(path, "r") : NULL;
  if (!file) return false;
  double killed = 0, first = DBL_MAX, last = 0, time;
  while (fgets(line, sizeof line, file)) {
    if (event_time(line, "fault injection", &time)) killed = time;
    if (!event_time(line, "fault noticed", &time)) continue;
    if (time < first) first = time;
    if (time > last) last = time;
  }
  fclose(file);
  seconds[0] = first - killed;
  seconds[1] = last - killed;
  return killed > 0 && last > 0;
}

static gab_status make_folder(trial *t)
{
  char name[sizeof t->folder] = "";
  if (gab_world_is_root(t->b->world)) {
    const char *where = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/gabion-bench-XXXXXX", where ? where : "/tmp");
    if (!mkdtemp(name)) name[0] = '\0';
  }
  gab_buffer bytes = {0};
  gab_status status = gab_put_bytes(&bytes, name, sizeof name);
  if (status == GAB_OK) status = gab_world_broadcast(t->b->world, gab_world_root(t->b->world), &bytes);
  gab_reader in = gab_reader_of_buffer(&bytes);
  if (status == GAB_OK) status = gab_get_bytes(&in, t->folder, sizeof t->folder);
  gab_buffer_release(&bytes);
  return status;
}

static void remove_folder(const trial *t)
{
  if (!gab_world_is_root(t->b->world) || !t->folder[0]) return;
  char path[300];
  snprintf(path, sizeof path, "%s/events.jsonl", t->folder);
  unlink(path);
  rmdir(t->folder);
}

/* ---------------------------------------------------------------- the benchmark */

static void report_part(trial *t, const gab_fault *fault, const char *part, double seconds)
{
  char name[64];
  const double value = 1e3 * seconds;
  snprintf(name, sizeof name, "recovery.%s%s", fault->returned > 0 ? "spare." : "", part);
  bench_report(t->b, &(bench_result){.name = name,
                                     .value = value,
                                     .min = value,
                                     .max = value,
                                     .samples = 1,
                                     .unit = "ms",
                                     .processes = t->processes});
}

/* Of each part the longest time that anybody spent in it: one that was called counts from when the others
 * noticed. */
static gab_status report_parts(trial *t, const gab_fault *fault)
{
  static const char *const parts_by_name[] = {"revoke",        "shrink",    "agree",    "restore",
                                              "protect-again", "rebalance", "all-parts"};
  double parts[] = {fault->revoke,    fault->shrink,    fault->agree,  fault->restore,
                    fault->reprotect, fault->rebalance, fault->seconds};
  enum { COUNT = sizeof parts / sizeof parts[0] };
  GAB_TRY(gab_world_max_f64(t->b->world, parts, COUNT));
  double noticed[2];
  if (gab_world_is_root(t->b->world)) {
    if (read_detection(t, noticed)) {
      report_part(t, fault, "detect.first", noticed[0]);
      report_part(t, fault, "detect.last", noticed[1]);
    } else {
      bench_remark(t->b, "recovery.detect: no events of all processes in one folder");
    }
  }
  for (int i = 0; i < COUNT; i++) report_part(t, fault, parts_by_name[i], parts[i]);
  return GAB_OK;
}

gab_status bench_recovery(bench *b)
{
  trial t = {.b = b, .processes = bench_processes(b)};
  bench_flow_options options = {
      .lattice = &gab_lattice_d3q19, .kernel = "vector", .roots = {4, 4, 4}, .cells = {16, 16, 16}};
  GAB_TRY(make_folder(&t));
  gab_status status = bench_flow_create(b, &options, &t.flow);
  gab_fault fault = {.noticed_step = 0};
  if (status == GAB_OK) status = run(&t, &fault);
  if (status == GAB_OK) status = report_parts(&t, &fault);
  bench_flow_destroy(&t.flow);
  remove_folder(&t);
  return status;
}
