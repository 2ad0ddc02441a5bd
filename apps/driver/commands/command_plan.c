/* SPDX-License-Identifier: Apache-2.0 */
/* gabion plan: a run on many processes, planned by one that makes no data. */
#include "apps/driver/delays/plan_delays.h"
#include "apps/driver/case/numbers.h"
#include "apps/driver/plan/plan.h"

#include "core/base/log.h"

#include <string.h>

static const char usage[] =
    "usage: gabion plan CASE.yaml [-n PROCESSES] [options]\n"
    "       gabion plan --traffic FILE [--per-node N] [--clusters K --write FILE] [--json]: clusters of\n"
    "                       processes, from the traffic of a run\n"
    "       gabion plan --delays [CASE.yaml -n PROCESSES] [options]: delays by failures (--delays --help)\n"
    "\n"
    "Builds the initial grid of a case without data, refined as in a run, and partitions it for the\n"
    "given number of processes. Prints blocks of each level and imbalance, memory per process now and\n"
    "at the peak of a recovery, messages and bytes per step, cost and interval of checkpoints. Computes\n"
    "nothing and needs no mpirun: 100000 processes are planned in less than a minute.\n"
    "\n"
    "  -n PROCESSES          default: the recommendation of the case\n"
    "  --scheme NAME         redundancy scheme: pairwise, ring, parity, reed-solomon, none\n"
    "  --copies N            copies of the state of each process\n"
    "  --group N             processes per group of parity and reed-solomon\n"
    "  --losses N            losses per group that reed-solomon survives\n"
    "  --per-node N          processes per node, which may be lost together\n"
    "  --per-island N        nodes per island of the network\n"
    "  --memory BYTES        memory per process; also reports the minimum number of processes\n"
    "  --balance NAME        load balancer: hilbert, morton, diffusion, graph\n"
    "  --bandwidth BYTES     bytes per second of a process while it packs and sends (default: measured\n"
    "                        by a memory copy)\n"
    "  --mtbf SECONDS        mean time between failures of the whole run\n"
    "  --mtbf-process SECONDS, --mtbf-node SECONDS\n"
    "                        of each process or node instead; N of them fail N times as often (Kohl et\n"
    "                        al. 2017, eq. 1)\n"
    "  --cycles N            cycles of the solver of an implicit field in each solve (default 11)\n"
    "  --rate UPDATES        cell updates per second of a process: converts seconds to steps\n"
    "  --clusters [K]        message logs between clusters of processes (Ropars et al. 2013, table 1),\n"
    "                        for 1, 2, 4, ... clusters of whole nodes, and the share that rolls back at a\n"
    "                        death; without reductions, and too much where levels meet: see --traffic.\n"
    "                        K: also for K clusters\n"
    "  --least GOAL          minimise the total log (total, default) or the largest log of a process\n"
    "                        (largest) in the division into K clusters\n"
    "  --write FILE          write the division into K clusters for resilience.local.clusters\n"
    "  --traffic FILE        use the traffic of a run (gabion run --traffic)\n"
    "  --json                machine-readable, in bytes and seconds\n"
    "  --set KEY=VALUE, -s   override the file; may be repeated\n"
    "\n"
    "Options without a default take their value from the case.\n"
    "\n"
    "Memory: fields with ghost layers (a flow: one or two fields of populations, or fused blocks; of\n"
    "blocks with few fluid cells only these), and two snapshots of the own image and of stored images:\n"
    "S (1 + 2 R) with R - 1 copies, Kohl et al. 2017, eq. 2; R is 1 + k/(n - k) with coded groups of n\n"
    "that survive k losses. At the peak of a recovery one process has adopted the blocks of a dead one\n"
    "and packs them with its own. Not included: tables, lists and message buffers, about 1 MB per\n"
    "process and some kB per block.\n"
    "Bytes and messages per step: ghosts sent to other processes; between levels those of the finer\n"
    "level, and what the solver of an implicit field sends. Not included: other reductions, output and\n"
    "checkpoints.\n";

/* ---------------------------------------------------------------- command line */

static gab_status take_goal(const char *value, bool *largest)
{
  *largest = strcmp(value, "largest") == 0;
  if (!*largest && strcmp(value, "total") != 0)
    GAB_FAIL(GAB_ERR_INPUT, "--least %s: total or largest", value);
  return GAB_OK;
}

static gab_status take(plan_options *options, const char *name, const char *value)
{
  if (strcmp(name, "-n") == 0) return gab_app_count_read(name, value, 1, 10000000, &options->ranks);
  if (strcmp(name, "--copies") == 0) return gab_app_count_read(name, value, 0, 16, &options->copies);
  if (strcmp(name, "--group") == 0)
    return gab_app_count_read(name, value, 2, GAB_MOST_GROUP / 2, &options->group);
  if (strcmp(name, "--losses") == 0)
    return gab_app_count_read(name, value, 1, GAB_MOST_LOSSES, &options->losses);
  if (strcmp(name, "--per-node") == 0) return gab_app_count_read(name, value, 1, 1000000, &options->per_node);
  if (strcmp(name, "--per-island") == 0)
    return gab_app_count_read(name, value, 1, 1000000, &options->per_island);
  if (strcmp(name, "--memory") == 0) return gab_app_real_read(name, value, 1, &options->memory);
  if (strcmp(name, "--bandwidth") == 0) return gab_app_real_read(name, value, 1, &options->bandwidth);
  if (strcmp(name, "--mtbf") == 0) return gab_app_real_read(name, value, 1e-6, &options->mtbf);
  if (strcmp(name, "--mtbf-process") == 0)
    return gab_app_real_read(name, value, 1e-6, &options->mtbf_process);
  if (strcmp(name, "--mtbf-node") == 0) return gab_app_real_read(name, value, 1e-6, &options->mtbf_node);
  if (strcmp(name, "--cycles") == 0) return gab_app_real_read(name, value, 1e-3, &options->cycles);
  if (strcmp(name, "--rate") == 0) return gab_app_real_read(name, value, 1e-6, &options->rate);
  if (strcmp(name, "--least") == 0) return take_goal(value, &options->least_largest);
  if (strcmp(name, "--traffic") == 0) options->traffic = value;
  else if (strcmp(name, "--write") == 0) options->write = value;
  else if (strcmp(name, "--scheme") == 0) options->scheme = value;
  else options->strategy = value;
  return GAB_OK;
}

static const char *const valued[] = {
    "-n",         "--scheme",       "--copies",    "--group",   "--losses",
    "--per-node", "--per-island",   "--memory",    "--balance", "--bandwidth",
    "--mtbf",     "--mtbf-process", "--mtbf-node", "--rate",    "--traffic",
    "--least",    "--write",        "--cycles",    NULL};

/* The option of `word`, its value behind a sign of equality if there is one. */
static const char *find_option(const char *word, const char **value)
{
  *value = NULL;
  for (int k = 0; valued[k]; k++) {
    size_t length = strlen(valued[k]);
    if (strncmp(word, valued[k], length) != 0) continue;
    if (word[length] == '=') *value = word + length + 1;
    if (word[length] == '\0' || word[length] == '=') return valued[k];
  }
  return NULL;
}

static bool is_number(const char *word) { return word[0] && word[strspn(word, "0123456789")] == '\0'; }

/* Takes the options of this command out of argv; the rest is left for gab_app_options_parse(). */
static gab_status plan_options_parse(int argc, char **argv, plan_options *options)
{
  static const char clusters[] = "--clusters";
  int left = 0;
  *options = (plan_options){.copies = -1};
  for (int i = 0; i < argc; i++) {
    const char *value, *name = find_option(argv[i], &value);
    if (strcmp(argv[i], "--json") == 0) {
      options->json = true;
    } else if (strncmp(argv[i], clusters, strlen(clusters)) == 0) {
      const char *number = argv[i] + strlen(clusters);
      options->clusters = true;
      if (*number == '=') number++;
      else if (*number == '\0' && i + 1 < argc && is_number(argv[i + 1])) number = argv[++i];
      if (*number) GAB_TRY(gab_app_count_read(clusters, number, 1, INT32_MAX, &options->divide));
    } else if (!name) {
      argv[left++] = argv[i];
    } else {
      if (!value && i + 1 == argc) GAB_FAIL(GAB_ERR_INPUT, "%s needs a value", name);
      GAB_TRY(take(options, name, value ? value : argv[++i]));
    }
  }
  if ((options->mtbf > 0) + (options->mtbf_process > 0) + (options->mtbf_node > 0) > 1)
    GAB_FAIL(GAB_ERR_INPUT,
             "--mtbf, --mtbf-process, --mtbf-node: one of them says how often something fails");
  if ((options->write || options->least_largest) && options->divide == 0)
    GAB_FAIL(GAB_ERR_INPUT, "--write and --least are about a division: into how many? (--clusters K)");
  GAB_TRY(gab_app_options_parse(left, argv, "s", &options->common));
  options->common.cycles = options->cycles;
  return GAB_OK;
}

/* ---------------------------------------------------------------- the command */

typedef struct planning {
  const gab_app_case *which;
  const plan_options *options;
  double started; /* gab_seconds() when the world was there */
} planning;

static gab_status plan_grid(void *user, const gab_app_plan *plan)
{
  const planning *it = user;
  plan_numbers numbers = {0};
  gab_status status = gab_app_plan_work_out(it->which, plan, it->options, &numbers);
  numbers.planning_seconds = gab_seconds() - it->started;
  if (status == GAB_OK && it->options->json) status = gab_app_plan_print_json(it->which, &numbers, stdout);
  else if (status == GAB_OK) gab_app_plan_print(it->which, &numbers, stdout);
  gab_app_plan_release(&numbers);
  return status;
}

static gab_status plan(const plan_options *options)
{
  gab_app_case *which;
  gab_status status = gab_app_case_from_file(&options->common, &which);
  planning it = {.which = which, .options = options};
  const int32_t ranks = status == GAB_OK && !options->ranks
                            ? (int32_t)gab_config_int(which->config, "run.processes")
                            : (int32_t)options->ranks;
  if (status == GAB_OK) status = gab_app_case_plan(which, ranks, plan_grid, &it, &it.started);
  gab_app_case_destroy(&which);
  return status;
}

int gab_app_command_plan(int argc, char **argv)
{
  plan_options options;
  if (gab_app_delays_are_asked_for(argc, argv)) return gab_app_command_delays(argc, argv);
  gab_status status = plan_options_parse(argc, argv, &options);
  if (status == GAB_OK && options.common.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK && options.traffic && options.common.word)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                           "--traffic: the traffic of a run suffices; give no case");
  if (status == GAB_OK)
    status = options.traffic ? gab_app_plan_clusters_of_run(&options, stdout) : plan(&options);
  if (status == GAB_OK && fflush(stdout) != 0) status = GAB_ERR_IO;
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return gab_status_exit_code(status);
}
