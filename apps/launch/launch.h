/* SPDX-License-Identifier: Apache-2.0 */
/** @file launch.h
 *  @brief gabion-launch: starts a run under mpirun, watches it, and reports its exit code.
 *
 *  mpirun's exit code is unreliable after the death of a process, and a run may hang inside the MPI library. So launcher
 *  and program communicate by files in a private folder of the attempt, whose names are in the environment of every
 *  process: GABION_COMPLETION (exit code, written by the root at the end), GABION_PROGRESS (sign of life),
 *  GABION_BEGUN (MPI_Init was reached) and GABION_STOP (request to stop). The public contract, with all other variables,
 *  is doc/launcher.md.
 *
 *  The name of the folder also identifies the processes of the job: it is in their environment. On one machine TMPDIR
 *  points into it, and shared-memory segments go to their own folder, so that nothing of a killed run remains and no
 *  other run is touched. The folder is removed after the attempt.
 *
 *  Stability: internal to gabion-launch.
 */
#ifndef GABION_APPS_LAUNCH_LAUNCH_H
#define GABION_APPS_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum {
  LAUNCH_NO_COMPLETION = 1, /**< exit code of a run that left no completion marker */
  LAUNCH_AGAIN =
      76, /**< exit code of a run that wants to be started again: it says what is lost, if anything */
  LAUNCH_REQUEUE = 75,  /**< exit code of a run that was told to stop and can be continued */
  LAUNCH_BAD_USAGE = 2, /**< exit code for a wrong command line */
  LAUNCH_PATH = 1024    /**< longest path of the launcher's own files, with the terminating zero */
};

/** Whether processes are bound to cores. */
typedef enum launch_pin {
  LAUNCH_PIN_AUTO, /**< on one machine that the job fills and nobody else uses */
  LAUNCH_PIN_ALWAYS,
  LAUNCH_PIN_NEVER
} launch_pin;

/** What the command line asked for. */
typedef struct launch_options {
  const char *mpirun;    /**< path of mpirun */
  const char *mpi_args;  /**< more arguments for mpirun, separated by blanks; may be NULL */
  const char *trace_dir; /**< where stack traces of a stalled run go */
  int processes;         /**< that compute */
  int spares;            /**< processes beside them that wait for their turn; -1: as the case says */
  bool spares_per_node;  /**< so many on each node */
  int all_spares;        /**< on all nodes together */
  int threads;    /**< OpenMP threads of each process; 0: OMP_NUM_THREADS, else a fair share of the cores */
  int retries;    /**< restarts allowed after stalls */
  int relaunches; /**< restarts allowed after the whole job ended, from the memory of the nodes that are left */
  const char *hosts;   /**< "a:4,b:4"; NULL: where mpirun likes */
  const char *agent;   /**< starts a command on a host, like ssh; NULL: what mpirun takes */
  double stall;        /**< seconds without progress that count as a hang; 0: never */
  double start_within; /**< seconds until the first sign of life; 0: as for `stall` */
  int start_retries;   /**< starts again of a run that has not begun to compute */
  int first_attempt;   /**< its number: 1 if the run goes on from what an earlier launcher has left */
  double dead_after;   /**< seconds after which a process that does not speak counts as dead; 0: never */
  double
      cut_after; /**< seconds without an acknowledgement after which a node is cut off; 0: never, -1: not told */
  double grace;       /**< seconds for mpirun to end after the completion marker is there */
  double stop_within; /**< seconds for the run to save its state after the launcher was told to stop */
  launch_pin pin;
  bool tcp;           /**< no shared memory between processes */
  bool verbose;       /**< print the command line of mpirun */
  bool several_nodes; /**< the job may have processes on other machines */
  char **program;     /**< program and its arguments, NULL-terminated */
} launch_options;

enum { LAUNCH_SAID = 1 << 16 /**< of what a command on a node says so much is read */ };

/** A command on a node. */
typedef struct launch_call {
  char host[256];
  int places; /**< processes that it has capacity for */
  int code;   /**< exit code; -1: no answer in time */
  char *said; /**< its standard output */
  pid_t pid;  /**< while it runs */
  double until;
  FILE *output;
} launch_call;

/** The folder of each node for what the next attempt goes on from. */
typedef struct launch_memory {
  char parent[LAUNCH_PATH], name[80];
  bool found; /**< an earlier launcher of the same command has left it */
} launch_memory;

/** The private places of one attempt; the files are named in the environment of the program. */
typedef struct launch_places {
  char dir[LAUNCH_PATH]; /**< holds the two files below; TMPDIR of the job */
  char shm[LAUNCH_PATH]; /**< shared-memory segments; "" where the MPI decides */
  char completion[LAUNCH_PATH + 16];
  char begun[LAUNCH_PATH + 16];
  char progress[LAUNCH_PATH + 16];
  char stop[LAUNCH_PATH + 16];
} launch_places;

/** Processes of the program on this machine. */
typedef struct launch_ranks {
  int living;  /**< ranks, each counted once, whatever processes of their own they have */
  int stopped; /**< processes that are stopped by a signal */
  int going;   /**< processes that are not */
} launch_ranks;

/** How an attempt ended. */
typedef enum launch_end {
  LAUNCH_COMPLETED,  /**< with a marker: `code` is the run's */
  LAUNCH_INCOMPLETE, /**< mpirun ended without a marker; it was explained on stderr */
  LAUNCH_STALLED,    /**< no progress; the job was stopped and traced */
  LAUNCH_NOT_UP, /**< no sign of life, or ended without one: nothing was computed; `code` is LAUNCH_AGAIN if the
                          death of a process was the cause */
  LAUNCH_SIGNALLED /**< the launcher was told to stop and the run did not by itself; `code` is 128 + signal, or
                        LAUNCH_REQUEUE if it had not begun to compute */
} launch_end;

typedef struct launch_result {
  launch_end end;
  int code;
  char last_progress[128];       /**< the last line of progress, "" if none */
  char traces[LAUNCH_PATH + 64]; /**< file of stack traces, "" if none */
} launch_result;

/* say.c */
/** A line on stderr, with the launcher's name before it. */
void launch_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* wait.c */
/** Seconds of a monotonic clock. */
double launch_seconds(void);
/** Blocks the signals that launch_attempt() waits for; to be called once before it. */
void launch_block_signals(void);

/* places.c */
/** Makes the private folders. @return false and a message if that is impossible */
bool launch_places_create(bool several_nodes, launch_places *places);
/** Has this machine look at the folder anew, on a file system that it shares with others: what another node has made
 *  there may stay unseen for a minute, since a name that was not there is remembered (NFS). */
void launch_places_refresh(const launch_places *places);
/** Removes them with everything inside. */
void launch_places_remove(launch_places *places);
/** True if the environment or the arguments for mpirun speak of more than one machine. */
bool launch_spans_nodes(const char *mpi_args);
/** Reads the first line of a small file without its newline. @return false if there is none */
bool launch_read_line(const char *path, char *line, size_t capacity);

/** Words of a command line, NULL-terminated; never freed. */
typedef struct launch_words {
  char **word;
  size_t count, capacity;
} launch_words;

/* command.c: both in the process that becomes mpirun */
/** Puts what program and mpirun are to know into the environment. @return cores that each process is bound to; 0: not
 *  bound */
int launch_environment(const launch_options *options, const launch_places *places, int attempt);
/** @return the command line of mpirun */
launch_words launch_command(const launch_options *options, const launch_places *places, int pinned);

/* processes.c */
/** Calls `visit` for every process of this machine that belongs to the job of `places`. */
int launch_each_process(const launch_places *places, void (*visit)(pid_t pid, void *data), void *data);
/** Sends a signal to all of them. @return how many there were */
int launch_signal_all(const launch_places *places, int signal);
/** Counts those of the program among them; who has ended and was not waited for yet is none. */
launch_ranks launch_look_at_ranks(const launch_places *places);
/** Says on stderr of each of them, which were killed, what it still does. @return how many there are */
int launch_report_all(const launch_places *places);
/** Writes stack traces and kernel state of all of them. @return number of processes described */
int launch_trace_all(const launch_places *places, const char *path);
/** True if a program of that name is on PATH, or is a path to something executable. */
bool launch_is_program(const char *name);

/* node_commands.c */
/** Whether all hosts of "a:4,b:4" are host names. Agents take a word that begins with `-` for an option, which may run a
 *  command. @return false and a message if not */
bool launch_hosts_are_sound(const char *hosts);
/** Those of "a:4,b:4,c" whose node answers: `AGENT HOST true` succeeds within ten seconds. All are asked at once.
 *  @param[out] hosts  the rest in the same form, to be freed @param[out] places  processes that they have capacity for
 *  @return number of hosts left out, each named on stderr */
int launch_hosts_that_answer(const char *all, const char *agent, char **hosts, int *places);
/** Runs a command on every host of such a list at once, each for ten seconds at most: `AGENT HOST WORDS...`,
 *  `ssh -- HOST WORDS...`.
 *  @param[in] words  NULL-terminated; quoted for the shell that agents hand them to @param[in] input  what it reads
 *  @param[out] calls  what became of it, to be given to launch_calls_free() @return number of hosts */
int launch_call_hosts(const char *hosts, const char *agent, const char *const words[], const char *input,
                      launch_call **calls);
void launch_calls_free(launch_call *calls, int count);
/** Path of this program, which has to be the same on all nodes. */
const char *launch_own_path(void);

/* node_memory_folder.c */
/** Removes what launchers of this user that were killed have left in the memory of the nodes; with --relaunch makes
 *  the folder of this run on each of them, or takes over that of the same command, and names it in the environment. */
void launch_memory_begin(const launch_options *options, launch_memory *memory);
/** Removes it on each of the hosts (NULL: here). */
void launch_memory_end(const char *hosts, const char *agent, const launch_memory *memory);
/* Keeps the folders for the same command, for a day: launchers of other commands leave them alone. */
void launch_memory_keep(const char *hosts, const char *agent, const launch_memory *memory);
/** The part of it on a node: `gabion-launch --on-node WORDS...`. @return exit code */
int launch_on_node(int count, char **words);
/** Puts GABION_LAUNCH_ID and GABION_LAUNCHER into the environment. */
void launch_introduce(void);

/* spare_count.c */
/** Reads "K" or "K/node". @return false if it is neither; the options are then as they were */
bool launch_spares_read(const char *text, launch_options *options);
/** Asks `gabion run CASE` how many the case wants; any other program wants none. */
void launch_spares_ask(launch_options *options);
/** Finds all_spares. @return false and a message if it is not known how many nodes there are */
bool launch_spares_count(launch_options *options);
/** Leaves as many of them as there are places for beside those that compute, in a job on other nodes than before. */
void launch_spares_fit(launch_options *options, int places);

/* pinning.c */
/** @return NULL if processes of so many threads are to be bound to cores, else why not */
const char *launch_why_not_pinned(const launch_options *options, int threads);

/* job.c */
/** Runs the program once, from start to end, and cleans up behind it. */
void launch_attempt(const launch_options *options, int attempt, launch_result *result);

#endif
