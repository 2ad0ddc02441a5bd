/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-bench: command line and the list of benchmarks. */
#include "apps/bench/bench_phases.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct entry {
  const char *name;
  bench_fn run;
  int32_t least_processes;
  bool needs_ulfm;
  const char *doc;
} entry;

static const entry entries[] = {
    {"bandwidth", bench_bandwidth, 1, false, "19- and 9-stream loops and memcpy: the ceilings"},
    {"kernels", bench_kernels, 1, false, "LBM kernels alone against the ceiling of their traffic"},
    {"sweeps", bench_sweeps, 1, false, "LBM in a closed box, walls included, against the in-place ceiling"},
    {"steps", bench_steps, 1, false, "whole LBM steps with ghost exchange between two blocks"},
    {"team", bench_team, 1, false, "one of them with all threads: for threads against processes"},
    {"blocks", bench_blocks, 1, false, "small blocks against one large block, and where the time goes"},
    {"temporal-blocking", bench_temporal_blocking, 1, false,
     "several steps in one sweep through memory against the in-place ceiling of one"},
    {"porous", bench_porous, 1, false, "a porous medium, 30 % fluid, against index lists; its memory"},
    {"levels", bench_levels, 1, false,
     "four levels against one: steps of small blocks, and where the time goes"},
    {"regrid", bench_regrid, 1, false, "blocks that split, merge and move: parts of an adaptation, in steps"},
    {"proxies", bench_proxies, 1, false, "refining and balancing up to a million blocks without data"},
    {"delays", bench_delays, 1, false, "the model of how delays spread, on a million processes"},
    {"phasefield", bench_phasefield, 1, false, "the phase field, region by region, against arithmetic alone"},
    {"growth", bench_growth, 1, false,
     "the phase field where its grid follows the front, against a fine grid"},
    {"count", bench_count, 1, false, "a few steps in a small box, to be run under callgrind"},
    {"transport", bench_transport, 2, false, "MPI latency and bandwidth, ports"},
    {"gather", bench_gather, 2, false,
     "strings of all to the root against a root that asks one after another"},
    {"exchange", bench_exchange, 1, false, "ghost exchange against MPI and memcpy"},
    {"checkpoint", bench_checkpoint, 2, false, "snapshots in memory: pack, exchange, commit"},
    {"overlap", bench_overlap, 2, false, "snapshots behind the steps: what blocks, what the steps lose"},
    {"schemes", bench_schemes, 2, false,
     "the same by scheme: rate, redundant bytes, bytes on the network, memory"},
    {"restore", bench_restore, 2, true, "going back to a snapshot, into blocks that are there"},
    {"paper", bench_paper, 2, false, "snapshots and their way back with the blocks of Kohl et al. 2017"},
    {"recovery", bench_recovery, 2, true, "a death in a time loop, part by part; kills a process"},
    {"adoption", bench_adoption, 2, true, "taking over a dead rank's blocks; kills a process"},
};
enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

typedef struct options {
  bool list, quick, chosen[ENTRY_COUNT];
  const char *json;
} options;

static void print_help(void)
{
  printf("usage: gabion-bench [--list] [--only NAME,...] [--quick] [--json FILE]\n"
         "\n"
         "  --list         the benchmarks\n"
         "  --only NAME,.. these only\n"
         "  --quick        smaller domains, fewer repetitions\n"
         "  --json FILE    appends one line of JSON per result to FILE and prints the table to standard "
         "output;\n"
         "                 without it the lines go to standard output, the table to standard error\n"
         "\n"
         "Runs on as many processes as the launcher starts; benchmarks that need more are left out.\n");
}

static void print_list(void)
{
  for (int i = 0; i < ENTRY_COUNT; i++) printf("%-12s %s\n", entries[i].name, entries[i].doc);
}

static bool choose(options *chosen, char *names)
{
  char *rest = NULL;
  for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    int found = 0;
    while (found < ENTRY_COUNT && strcmp(entries[found].name, name) != 0) found++;
    if (found == ENTRY_COUNT) {
      fprintf(stderr, "gabion-bench: no benchmark `%s' (see --list)\n", name);
      return false;
    }
    chosen->chosen[found] = true;
  }
  return true;
}

/* @return -1 to continue, otherwise the exit code */
static int read_options(int argc, char **argv, options *read)
{
  static const struct option table[] = {
      {"list", no_argument, NULL, 'l'},  {"only", required_argument, NULL, 'o'},
      {"quick", no_argument, NULL, 'q'}, {"json", required_argument, NULL, 'j'},
      {"help", no_argument, NULL, 'h'},  {NULL, 0, NULL, 0}};
  bool some = false;
  for (int c; (c = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
    if (c == 'l') print_list();
    else if (c == 'h') print_help();
    else if (c == 'q') read->quick = true;
    else if (c == 'j') read->json = optarg;
    else if (c != 'o') return 2;
    else if (!choose(read, optarg)) return 2;
    some = some || c == 'o';
    if (c == 'l' || c == 'h') return 0;
  }
  if (optind < argc) {
    fprintf(stderr, "gabion-bench: `%s' is no option (see --help)\n", argv[optind]);
    return 2;
  }
  for (int i = 0; i < ENTRY_COUNT && !some; i++) read->chosen[i] = true;
  return -1;
}

static gab_status run_entry(bench *b, const entry *it)
{
  if (bench_processes(b) < it->least_processes) {
    bench_remark(b, "%s: needs %" PRId32 " processes", it->name, it->least_processes);
    return GAB_OK;
  }
  if (it->needs_ulfm && !gab_world_survives_deaths(b->world)) {
    bench_remark(b, "%s: this MPI does not survive deaths", it->name);
    return GAB_OK;
  }
  bench_set_threads(b, b->most_threads);
  return it->run(b);
}

static gab_status open_outputs(bench *b, const options *chosen)
{
  if (!gab_world_is_root(b->world)) return GAB_OK;
  b->table = chosen->json ? stdout : stderr;
  b->json = chosen->json ? fopen(chosen->json, "a") : stdout;
  if (!b->json) GAB_FAIL(GAB_ERR_INPUT, "cannot write %s", chosen->json);
  return GAB_OK;
}

/* A failure on one process fails on all. */
static gab_status run_all(bench *b, const options *chosen)
{
  gab_status status = open_outputs(b, chosen);
  for (int i = 0; status == GAB_OK && i < ENTRY_COUNT; i++)
    if (chosen->chosen[i]) status = run_entry(b, &entries[i]);
  if (status != GAB_OK && status != GAB_ERR_FAULT) {
    gab_log_all(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
    if (gab_world_survives_deaths(b->world) && bench_processes(b) > 1) gab_world_raise(b->world, status);
  }
  if (gab_world_check(b->world) == GAB_OK) return status;
  gab_status abort_request = GAB_OK;
  if (gab_world_repair(b->world, &abort_request) == GAB_OK && abort_request != GAB_OK) return abort_request;
  return status == GAB_OK ? GAB_ERR_FAULT : status;
}

int main(int argc, char **argv)
{
  options chosen = {0};
  int code = read_options(argc, argv, &chosen);
  if (code >= 0) return code;
  bench b = {.quick = chosen.quick, .repetitions = chosen.quick ? 5 : 9};
  if (gab_world_create(NULL, NULL, &b.world) != GAB_OK) {
    fprintf(stderr, "gabion-bench: %s\n", gab_error_message());
    return 1;
  }
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
#ifdef _OPENMP
  b.most_threads = omp_get_max_threads();
#else
  b.most_threads = 1;
#endif
  gab_status status = run_all(&b, &chosen);
  if (b.json && b.json != stdout) fclose(b.json);
  code = gab_report_completion(b.world, gab_status_exit_code(status));
  gab_world_destroy(&b.world);
  return code;
}
