/* SPDX-License-Identifier: Apache-2.0 */
/* Command line of mpirun, and the environment of mpirun and of the program. */
#include "apps/launch/launch.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEARTBEATS 10 /* heartbeats in the time after which a process counts as dead */

extern char **environ;

static void add(launch_words *list, const char *word)
{
  if (list->count + 1 >= list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 32;
    char **more = realloc(list->word, list->capacity * sizeof *more);
    if (!more) exit(LAUNCH_NO_COMPLETION);
    list->word = more;
  }
  list->word[list->count++] = strdup(word);
  list->word[list->count] = NULL;
}

static void add_all(launch_words *list, const char *text)
{
  char *copy = strdup(text), *rest = copy;
  for (char *word; copy && (word = strsep(&rest, " "));)
    if (*word) add(list, word);
  free(copy);
}

#ifdef GAB_HAVE_ULFM
/* A stopped process keeps its connections, so only its silence reveals it. Heartbeats are sent during waits, since a
 * thread for them makes MPI hang. Each process observes one other. A detected death is broadcast over MPI's own
 * connections, since daemons inform only processes of their node; an uninformed process would wait for the dead one
 * in the agreement of the repair. Reports of a cut-off process must not arrive after the cable is restored:
 * core/world/quarantine.h. The stack trace that MPI prints when it ends a process that was wrongly declared dead is
 * disabled. */
static void add_detector(launch_words *list, const launch_options *options)
{
  char text[256];
  if (options->cut_after > 0 || options->dead_after > 0)
    add_all(list, "--mca mpi_ft_propagator_with_rbcast 1");
  /* mpirun would end the whole job if a node has not answered for eight minutes, also for processes that continue
   * without it. */
  if (options->cut_after > 0 && options->several_nodes) add_all(list, "--prtemca oob_tcp_keepalive_time 0");
  if (options->dead_after <= 0) return;
  snprintf(text, sizeof text,
           "--mca mpi_ft_detector 1 --mca mpi_ft_detector_period %g --mca mpi_ft_detector_timeout %g"
           " --mca opal_signal 7,8,11",
           options->dead_after / HEARTBEATS, options->dead_after);
  add_all(list, text);
}
#endif

#ifdef GAB_OPEN_MPI
/* MPI takes the lowest free port, which may be that of a dead process to which others still connect. The kernel
 * assigns ports in turn. On several nodes the site may prescribe ports. */
static void add_ports(launch_words *list, const launch_options *options)
{
  const bool is_told = (options->mpi_args && strstr(options->mpi_args, "btl_tcp_port_")) ||
                       getenv("OMPI_MCA_btl_tcp_port_min_v4") || getenv("OMPI_MCA_btl_tcp_port_range_v4");
  if (!options->several_nodes && !is_told)
    add_all(list, "--mca btl_tcp_port_min_v4 0 --mca btl_tcp_port_range_v4 1");
}
#endif

/* Each flag is necessary, as hundreds of real kills have shown: without async_mpi_finalize MPI_Finalize hangs after
 * a death; han is not a fault-tolerant collective component; with several daemons the first contact with a dead rank
 * hangs unless all are added at the start. The TCP limits avoid rendezvous transfers, which a revocation may abort
 * fatally. Without the last two the death of a spawned process ends the job. */
launch_words launch_command(const launch_options *options, const launch_places *places, int pinned)
{
  launch_words list = {0};
  char text[LAUNCH_PATH];
  add(&list, options->mpirun);
#ifdef GAB_HAVE_ULFM
  add_all(&list, "--with-ft ulfm --mca coll ^han --mca async_mpi_finalize 1 --mca mpi_add_procs_cutoff 1024");
  add_all(&list, "--prtemca state_base_recoverable 1 --prtemca state_base_notify_errors 1");
  add_detector(&list, options);
#endif
#ifdef GAB_OPEN_MPI
  /* One machine is usually shared with other runs or a desktop, so waiting processes yield their core; otherwise
   * concurrent runs are very slow. */
  if (!options->several_nodes) add_all(&list, "--oversubscribe --mca mpi_yield_when_idle 1");
  add_ports(&list, options);
  if (pinned > 0) {
    snprintf(text, sizeof text, "--map-by slot:PE=%d --bind-to core", pinned);
    add_all(&list, text);
  } else if (!options->mpi_args || !strstr(options->mpi_args, "--bind-to")) {
    add_all(&list, "--bind-to none");
  }
  if (options->tcp)
    add_all(&list, "--mca btl tcp,self --mca btl_tcp_eager_limit 1048576"
                   " --mca btl_tcp_rndv_eager_limit 1048576 --mca btl_tcp_max_send_size 1048576");
  if (places->shm[0]) {
    snprintf(text, sizeof text, "--mca btl_sm_backing_directory %.900s", places->shm);
    add_all(&list, text);
  }
  if (options->several_nodes) /* local processes inherit the environment, remote ones do not */
    for (char **variable = environ; *variable; variable++) {
      size_t length = strcspn(*variable, "=");
      if (length >= sizeof text || (strncmp(*variable, "GABION_", 7) && strncmp(*variable, "OMP_", 4)))
        continue;
      snprintf(text, sizeof text, "%.*s", (int)length, *variable);
      add(&list, "-x");
      add(&list, text);
    }
#else
  (void)places, (void)pinned;
#endif
  if (options->hosts) {
    add(&list, "--host");
    add(&list, options->hosts);
  }
  if (options->agent) {
    add_all(&list, "--prtemca plm_ssh_agent");
    add(&list, options->agent);
  }
  snprintf(text, sizeof text, "-n %d", options->processes + options->all_spares);
  add_all(&list, text);
  if (options->mpi_args) add_all(&list, options->mpi_args);
  for (char **word = options->program; *word; word++) add(&list, *word);
  return list;
}

/* The threads of all processes must not exceed the cores: with the default of OpenMP, all cores per process, they
 * wait for each other a hundred times longer than they compute. @return as launch_environment() */
static int set_threads(const launch_options *options)
{
  cpu_set_t mine;
  const int cores = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
  const char *told = getenv("OMP_NUM_THREADS");
  const int fair = cores / options->processes > 1 ? cores / options->processes : 1;
  const int threads = options->threads > 0 ? options->threads : told ? atoi(told) : fair;
  char text[16];
  snprintf(text, sizeof text, "%d", threads);
  if (options->threads > 0 || (!told && !options->several_nodes)) setenv("OMP_NUM_THREADS", text, 1);
  if (!options->several_nodes && (long)threads * options->processes > cores)
    setenv("OMP_WAIT_POLICY", "passive", 0);
  const char *why_not = launch_why_not_pinned(options, threads);
  setenv("GABION_PINNED", why_not ? "0" : "1", 1);
  if (!why_not) {
    setenv("OMP_PLACES", "cores", 0);
    setenv("OMP_PROC_BIND", "close", 0);
  }
  if (options->verbose && why_not) launch_say("processes are not bound to cores: %s", why_not);
  else if (options->verbose)
    launch_say("each process is bound to %d core%s", threads, threads == 1 ? "" : "s");
  return why_not ? 0 : threads;
}

int launch_environment(const launch_options *options, const launch_places *places, int attempt)
{
  const int pinned = set_threads(options);
  char text[16];
  snprintf(text, sizeof text, "%d", attempt);
  setenv("GABION_COMPLETION", places->completion, 1);
  setenv("GABION_PROGRESS", places->progress, 1);
  setenv("GABION_BEGUN", places->begun, 1);
  setenv("GABION_STOP", places->stop, 1);
  setenv("GABION_RESPAWN", "1", 1);
  setenv("GABION_LOOPBACK", options->several_nodes ? "0" : "1", 0);
  setenv("GABION_ATTEMPT", text, 1);
  snprintf(text, sizeof text, "%d%s", options->spares, options->spares_per_node ? "/node" : "");
  if (options->spares > 0) setenv("GABION_SPARES", text, 1);
  else unsetenv("GABION_SPARES");
  snprintf(text, sizeof text, "%g", options->dead_after);
  if (options->dead_after > 0) setenv("GABION_DEAD_AFTER", text, 1);
  else unsetenv("GABION_DEAD_AFTER");
  snprintf(text, sizeof text, "%g", options->cut_after);
  if (options->cut_after > 0) setenv("GABION_CUT_AFTER", text, 1);
  else unsetenv("GABION_CUT_AFTER");
  setenv("GABION_TERMINAL", isatty(STDOUT_FILENO) ? "1" : "0", 1);
  if (!options->several_nodes) setenv("TMPDIR", places->dir, 1);
  if (geteuid() == 0) { /* mpirun refuses root without two variables; containers run as root */
    static const char *const permissions[] = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                              "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"};
    for (size_t i = 0; i < sizeof permissions / sizeof *permissions; i++) setenv(permissions[i], "1", 1);
  }
  return pinned;
}
