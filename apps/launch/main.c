/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-launch: command line, attempts, rescue log. */
#include "apps/launch/launch.h"

#include "core/system/environment.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEAST_DEAD_AFTER 0.5
#define LEAST_CUT_AFTER  4.0  /* keep-alives are counted in seconds */
#define USUAL_CUT_AFTER  60.0 /* on several nodes */

static void print_help(const launch_options *options)
{
  printf(
      "usage: gabion-launch [options] [--] PROGRAM [ARGUMENTS]\n"
      "\n"
      "Starts PROGRAM on N processes under mpirun, watches it, and exits with the exit code of the run.\n"
      "\n"
      "  -n N               processes (default %d)\n"
      "  --spares K[/node]  K spare processes in addition, or K per node, which wait without computing and\n"
      "                     replace dead processes (resilience.strategies: [spare, ...]). Default: for\n"
      "                     `gabion run CASE' the value of the case (resilience.spares), else 0\n"
      "  -t N               OpenMP threads per process (default: OMP_NUM_THREADS, else cores / processes)\n"
      "  --pin WHEN         bind processes to cores, and threads within: auto (on one machine that the job\n"
      "                     fills alone), always (where there are enough cores), never (default auto; never\n"
      "                     if the arguments for mpirun have --bind-to or --map-by)\n"
      "  --stall SECONDS    stop and restart a run without progress for this time (default %g; 0: never)\n"
      "  --retries N        maximum number of restarts after stalls (default %d)\n"
      "  --start-within SECONDS  stop a run without a sign of life for this time after its start, e.g. when\n"
      "                     a process died inside MPI_Init and the others wait there (default %g; 0: as\n"
      "                     --stall)\n"
      "  --start-retries N  maximum number of restarts of a run that lost a process before its first step\n"
      "                     (nothing is lost then), or all processes but spares (default %d)\n"
      "  --dead-after SECONDS  a process that is silent for this time, e.g. stopped by a signal, counts as\n"
      "                     dead, and ends itself if it wakes up. At least ten times the longest step, set-up\n"
      "                     or file output; not for jobs that are suspended as a whole (default: never)\n"
      "  --cut-after SECONDS  a node is cut off if nothing sent to it over TCP is acknowledged for this time.\n"
      "                     Its system acknowledges, so long steps and suspended processes do not matter\n"
      "                     (default: as --dead-after, else %g on several nodes; 0: never)\n"
      "  --relaunch N       maximum number of restarts after the death of a node, which ends the whole job:\n"
      "                     the run resumes from node memory, copies included (default %d). After the death of\n"
      "                     the launcher the same command resumes from there too\n"
      "  --hosts LIST       nodes and their places, e.g. a:4,b:4; a relaunch omits nodes that do not answer\n"
      "  --agent PROGRAM    program that starts commands on nodes (default: ssh)\n"
      "  --grace SECONDS    time for mpirun to end after the run has completed (default %g)\n"
      "  --stop-within SECONDS  on SIGTERM or Ctrl-C the launcher asks the run to save its state and to end\n"
      "                     with code 75, and ends it after this time, or at a second signal a second or more\n"
      "                     later (default %g). A run before its first step is ended after 5 s with 75: nothing\n"
      "                     is lost\n"
      "  --traces FOLDER    folder for stack traces of a stalled run (default: current folder)\n"
      "  --tcp              use TCP between the processes of a machine instead of shared memory\n"
      "  --mpirun PATH      the mpirun to use (default %s)\n"
      "  --mpi-args \"...\"   further arguments for mpirun, e.g. \"--host a:4,b:4\"\n"
      "  -v, --verbose      print the command line of mpirun\n"
      "  -h, --help         this text\n",
      options->processes, options->stall, options->retries, options->start_within, options->start_retries,
      USUAL_CUT_AFTER, options->relaunches, options->grace, options->stop_within, options->mpirun);
  printf(
      "\n"
      "Exit code: that of the completion marker of the run (0 done, 2 invalid input, 3 data lost,\n"
      "4 diverged, 75 requeue, 76 start again: lost a process before the first step, or all but spares);\n"
      "1 if it ended without completing or kept hanging; 128 + signal if the launcher was told to stop;\n"
      "2 for a wrong command line.\n"
      "Environment of the program: GABION_COMPLETION, GABION_PROGRESS (files to write), GABION_STOP (file\n"
      "that requests a stop), GABION_ATTEMPT, GABION_PINNED (1: bound to cores), GABION_RESPAWN (1: dead\n"
      "processes may be replaced by new ones). GABION_SPAWN_WITHIN=SECONDS, set by the user: time for that\n"
      "(default 30). All variables: doc/launcher.md.\n"
      "GABION_RESCUE_LOG=FILE: a line is appended there whenever a hung run is stopped.\n"
#ifndef GAB_HAVE_ULFM
      "This MPI has no fault tolerance: a run ends when one of its processes dies.\n"
#endif
  );
}

static double number_of(const char *option, const char *text, double least)
{
  char *end;
  double value = strtod(text, &end);
  if (end != text && !*end && value >= least && value <= 1e9) return value;
  launch_say("%s: `%s': expected a number >= %g (see --help)", option, text, least);
  exit(LAUNCH_BAD_USAGE);
}

static launch_pin pin_of(const char *text)
{
  static const char *const names[] = {
      [LAUNCH_PIN_AUTO] = "auto", [LAUNCH_PIN_ALWAYS] = "always", [LAUNCH_PIN_NEVER] = "never"};
  for (int pin = 0; pin < 3; pin++)
    if (!strcmp(text, names[pin])) return (launch_pin)pin;
  launch_say("--pin: `%s' is neither auto nor always nor never (see --help)", text);
  exit(LAUNCH_BAD_USAGE);
}

enum {
  OPTION_PIN = 256,
  OPTION_SPARES,
  OPTION_STALL,
  OPTION_RETRIES,
  OPTION_START_WITHIN,
  OPTION_START_RETRIES,
  OPTION_GRACE,
  OPTION_DEAD_AFTER,
  OPTION_CUT_AFTER,
  OPTION_RELAUNCH,
  OPTION_HOSTS,
  OPTION_AGENT,
  OPTION_STOP_WITHIN,
  OPTION_TRACES,
  OPTION_TCP,
  OPTION_MPIRUN,
  OPTION_MPI_ARGS
};

static const struct option known[] = {{"np", required_argument, NULL, 'n'},
                                      {"spares", required_argument, NULL, OPTION_SPARES},
                                      {"pin", required_argument, NULL, OPTION_PIN},
                                      {"stall", required_argument, NULL, OPTION_STALL},
                                      {"retries", required_argument, NULL, OPTION_RETRIES},
                                      {"start-within", required_argument, NULL, OPTION_START_WITHIN},
                                      {"start-retries", required_argument, NULL, OPTION_START_RETRIES},
                                      {"grace", required_argument, NULL, OPTION_GRACE},
                                      {"dead-after", required_argument, NULL, OPTION_DEAD_AFTER},
                                      {"cut-after", required_argument, NULL, OPTION_CUT_AFTER},
                                      {"relaunch", required_argument, NULL, OPTION_RELAUNCH},
                                      {"hosts", required_argument, NULL, OPTION_HOSTS},
                                      {"agent", required_argument, NULL, OPTION_AGENT},
                                      {"stop-within", required_argument, NULL, OPTION_STOP_WITHIN},
                                      {"traces", required_argument, NULL, OPTION_TRACES},
                                      {"tcp", no_argument, NULL, OPTION_TCP},
                                      {"mpirun", required_argument, NULL, OPTION_MPIRUN},
                                      {"mpi-args", required_argument, NULL, OPTION_MPI_ARGS},
                                      {"verbose", no_argument, NULL, 'v'},
                                      {"help", no_argument, NULL, 'h'},
                                      {0}};

static void parse(int argc, char **argv, launch_options *options)
{
  /* "+": the first word that is not an option is the program, followed by its arguments. */
  for (int key; (key = getopt_long(argc, argv, "+n:t:vh", known, NULL)) != -1;) switch (key) {
    case 'n':
      options->processes = (int)number_of("-n", optarg, 1);
      break;
    case 't':
      options->threads = (int)number_of("-t", optarg, 1);
      break;
    case OPTION_SPARES:
      if (launch_spares_read(optarg, options)) break;
      launch_say("--spares: `%s' is neither a number of processes nor NUMBER/node (see --help)", optarg);
      exit(LAUNCH_BAD_USAGE);
    case OPTION_PIN:
      options->pin = pin_of(optarg);
      break;
    case OPTION_STALL:
      options->stall = number_of("--stall", optarg, 0);
      break;
    case OPTION_RETRIES:
      options->retries = (int)number_of("--retries", optarg, 0);
      break;
    case OPTION_START_WITHIN:
      options->start_within = number_of("--start-within", optarg, 0);
      break;
    case OPTION_START_RETRIES:
      options->start_retries = (int)number_of("--start-retries", optarg, 0);
      break;
    case OPTION_GRACE:
      options->grace = number_of("--grace", optarg, 0);
      break;
    case OPTION_DEAD_AFTER:
      options->dead_after = number_of("--dead-after", optarg, 0);
      break;
    case OPTION_CUT_AFTER:
      options->cut_after = number_of("--cut-after", optarg, 0);
      break;
    case OPTION_RELAUNCH:
      options->relaunches = (int)number_of("--relaunch", optarg, 0);
      break;
    case OPTION_HOSTS:
      options->hosts = optarg;
      break;
    case OPTION_AGENT:
      options->agent = optarg;
      break;
    case OPTION_STOP_WITHIN:
      options->stop_within = number_of("--stop-within", optarg, 0);
      break;
    case OPTION_TRACES:
      options->trace_dir = optarg;
      break;
    case OPTION_TCP:
      options->tcp = true;
      break;
    case OPTION_MPIRUN:
      options->mpirun = optarg;
      break;
    case OPTION_MPI_ARGS:
      options->mpi_args = optarg;
      break;
    case 'v':
      options->verbose = true;
      break;
    case 'h':
      print_help(options);
      exit(0);
    default:
      fprintf(stderr, "try: gabion-launch --help\n");
      exit(LAUNCH_BAD_USAGE);
    }
  options->program = argv + optind;
}

static bool is_sound(const launch_options *options)
{
  if (!options->program[0]) launch_say("no program given (see --help)");
  else if (!launch_is_program(options->program[0]))
    launch_say("%s: no such program, or not executable", options->program[0]);
  else if (access(options->mpirun, X_OK))
    launch_say("%s: no mpirun there; give another with --mpirun, or run scripts/setup.sh", options->mpirun);
  else if (options->hosts && !launch_hosts_are_sound(options->hosts)) return false;
  else if (options->dead_after > 0 && options->dead_after < LEAST_DEAD_AFTER)
    launch_say("--dead-after %g: less than %g s is no more than a busy machine (see --help)",
               options->dead_after, LEAST_DEAD_AFTER);
  else if (options->cut_after > 0 && options->cut_after < LEAST_CUT_AFTER)
    launch_say("--cut-after %g: less than %g s is no more than a busy network (see --help)",
               options->cut_after, LEAST_CUT_AFTER);
#ifndef GAB_HAVE_ULFM
  else if (options->dead_after > 0 || options->cut_after > 0)
    launch_say("--dead-after and --cut-after need an MPI with fault tolerance (ULFM)");
#endif
  else return true;
  return false;
}

/* A batch system may name a folder in TMPDIR that this machine does not have. */
static void complete_environment(void)
{
  const char *folder = getenv("TMPDIR");
  gab_environment_complete();
  if (!folder || !*folder || access(folder, W_OK | X_OK) == 0) return;
  launch_say("TMPDIR=%s: %s; using /tmp instead", folder, strerror(errno));
  setenv("TMPDIR", "/tmp", 1);
}

/* Without a limit a cut cable would cause an endless wait. If silent processes count as dead, so do cut-off nodes. */
static void choose_cut_after(launch_options *options)
{
#ifdef GAB_HAVE_ULFM
  const double usual = options->several_nodes ? USUAL_CUT_AFTER : 0;
  if (options->cut_after < 0) options->cut_after = options->dead_after > 0 ? options->dead_after : usual;
  if (options->cut_after == 0) return;
  if (options->dead_after > 0 && options->dead_after < options->cut_after)
    options->cut_after = options->dead_after;
  if (options->cut_after < LEAST_CUT_AFTER) options->cut_after = LEAST_CUT_AFTER;
#else
  options->cut_after = 0;
#endif
}

static void log_rescue(const launch_options *options, int attempt, const launch_result *result, bool again)
{
  const char *path = getenv("GABION_RESCUE_LOG");
  FILE *file = path && *path ? fopen(path, "a") : NULL;
  if (!file) {
    if (path && *path) launch_say("cannot append to %s", path);
    return;
  }
  char now[32];
  time_t seconds = time(NULL);
  strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
  fprintf(file, "%s %s attempt=%d processes=%d stall=%g progress=\"%s\" traces=%s command=", now,
          again ? "rescued" : "gave-up", attempt, options->processes, options->stall, result->last_progress,
          result->traces[0] ? result->traces : "none");
  for (char **word = options->program; *word; word++)
    fprintf(file, "%s%s", word == options->program ? "" : " ", *word);
  fprintf(file, "\n");
  fclose(file);
}

/* Handles a run that hung. @return true to restart it */
static bool rescue(const launch_options *options, int attempt, int *stalls, const launch_result *result)
{
  const bool again = (*stalls)++ < options->retries;
  log_rescue(options, attempt, result, again);
  if (again)
    launch_say("rescued: starting the run again (restart %d of at most %d)", *stalls, options->retries);
  else launch_say("giving up after %d attempts that hung", *stalls);
  return again;
}

/* Whether the job ended with its state in node memory, or before it had one, with or without a message. */
static bool wants_again(const launch_result *result)
{
  return result->end == LAUNCH_INCOMPLETE || result->end == LAUNCH_NOT_UP ||
         (result->end == LAUNCH_COMPLETED && result->code == LAUNCH_AGAIN);
}

/* Handles a run that lost a process before its first step, or requests a restart. @return true to restart it on the
 * same nodes */
static bool restart(const launch_options *options, int attempt, int *starts, const launch_result *result)
{
  if (result->end == LAUNCH_INCOMPLETE) return false;
  const bool again = (*starts)++ < options->start_retries;
  if (result->end == LAUNCH_NOT_UP) log_rescue(options, attempt, result, again);
  if (again)
    launch_say("%sstarting the run again (start %d of at most %d)",
               result->end == LAUNCH_NOT_UP ? "nothing is lost: " : "", *starts + 1,
               options->start_retries + 1);
  else
    launch_say("giving up after %d start%s that failed (--start-retries)", *starts, *starts == 1 ? "" : "s");
  return again;
}

/* Handles the end of the whole job, e.g. after the death of a node's daemon. @return true to restart it on the
 * remaining nodes */
static bool relaunch(launch_options *options, char **hosts, int *relaunches)
{
  if (*relaunches == options->relaunches) {
    launch_say("giving up after %d relaunches", *relaunches);
    return false;
  }
  char *left = NULL;
  int places = 0;
  ++*relaunches;
  if (options->hosts && launch_hosts_that_answer(options->hosts, options->agent, &left, &places) > 0) {
    if (places == 0) {
      launch_say("no node answers: giving up");
      free(left);
      return false;
    }
    free(*hosts);
    options->hosts = *hosts = left;
    if (options->processes > places) options->processes = places;
    launch_spares_fit(options, places);
  } else {
    free(left);
  }
  launch_say(
      "relaunching on %d processes (relaunch %d of at most %d); a program that keeps checkpoints in the memory of the"
      " nodes resumes from them, another one starts again",
      options->processes, *relaunches, options->relaunches);
  return true;
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "--on-node")) return launch_on_node(argc - 2, argv + 2);
  launch_options options = {.mpirun = GAB_MPIRUN,
                            .trace_dir = ".",
                            .processes = 4,
                            .spares = -1,
                            .cut_after = -1,
                            .retries = 2,
                            .stall = 300,
                            .start_within = 30,
                            .start_retries = 1,
                            .grace = 10,
                            .stop_within = 120};
  parse(argc, argv, &options);
  if (!is_sound(&options)) return LAUNCH_BAD_USAGE;
  complete_environment();
  options.several_nodes = options.hosts || launch_spans_nodes(options.mpi_args);
  choose_cut_after(&options);
  if (options.spares < 0) {
    options.spares = 0;
    launch_spares_ask(&options);
  }
  if (!launch_spares_count(&options)) return LAUNCH_BAD_USAGE;
  if (options.mpi_args && (strstr(options.mpi_args, "--bind-to") || strstr(options.mpi_args, "--map-by")))
    options.pin = LAUNCH_PIN_NEVER;
  char started[32];
  snprintf(started, sizeof started, "%lld", (long long)time(NULL));
  setenv("GABION_STARTED", started, 1);
  launch_introduce();
  launch_block_signals();
  char *hosts = NULL; /* hosts that answered last */
  const char *all_hosts = options.hosts;
  launch_memory memory;
  launch_memory_begin(&options, &memory);
  options.first_attempt = memory.found;
  launch_result result;
  int stalls = 0, starts = 0, relaunches = 0;
  for (int attempt = options.first_attempt;; attempt++) {
    launch_attempt(&options, attempt, &result);
    if (result.end == LAUNCH_STALLED) {
      if (!rescue(&options, attempt, &stalls, &result)) break;
    } else if (!wants_again(&result)) {
      break;
    } else if (options.relaunches > 0 ? !relaunch(&options, &hosts, &relaunches)
                                      : !restart(&options, attempt, &starts, &result)) {
      break;
    }
  }
  if (result.end == LAUNCH_COMPLETED && result.code == LAUNCH_AGAIN && memory.name[0]) {
    launch_memory_keep(all_hosts, options.agent, &memory);
    launch_say(
        "the state stays in the memory of the nodes (%s/%s) for a day: the same command resumes from there",
        memory.parent, memory.name);
  } else {
    launch_memory_end(all_hosts, options.agent, &memory);
  }
  free(hosts);
  return result.code;
}
