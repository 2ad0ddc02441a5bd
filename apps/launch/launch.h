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
  LAUNCH_AGAIN = 76,    /**< exit code of a run that requests a restart; its message names the loss, if any */
  LAUNCH_REQUEUE = 75,  /**< exit code of a run that was stopped and can be resumed */
  LAUNCH_BAD_USAGE = 2, /**< exit code for an invalid command line */
  LAUNCH_PATH = 1024    /**< longest path of the launcher's own files, with the terminating zero */
};

/** Whether processes are bound to cores. */
typedef enum launch_pin {
  LAUNCH_PIN_AUTO, /**< if the job fills one otherwise idle machine */
  LAUNCH_PIN_ALWAYS,
  LAUNCH_PIN_NEVER
} launch_pin;

/** Options of the command line. */
typedef struct launch_options {
  const char *mpirun;    /**< path of mpirun */
  const char *mpi_args;  /**< more arguments for mpirun, separated by blanks; may be NULL */
  const char *trace_dir; /**< folder for stack traces of a stalled run */
  int processes;         /**< active processes */
  int spares;            /**< spare processes; -1: value of the case */
  bool spares_per_node;  /**< `spares` is the number per node */
  int all_spares;        /**< spares of all nodes */
  int threads;    /**< OpenMP threads of each process; 0: OMP_NUM_THREADS, else a fair share of the cores */
  int retries;    /**< limit of restarts after stalls */
  int relaunches; /**< limit of restarts from node memory after the end of the whole job */
  const char *hosts;   /**< "a:4,b:4"; NULL: chosen by mpirun */
  const char *agent;   /**< starts a command on a host, like ssh; NULL: the default of mpirun */
  double stall;        /**< seconds without progress that count as a hang; 0: never */
  double start_within; /**< seconds until the first sign of life; 0: as for `stall` */
  int start_retries;   /**< limit of restarts of a run before its first step */
  int first_attempt;   /**< number of the first attempt: 1 if the run resumes from an earlier launcher */
  double dead_after;   /**< seconds after which a silent process counts as dead; 0: never */
  double
      cut_after; /**< seconds without an acknowledgement after which a node is cut off; 0: never, -1: not given */
  double grace;       /**< seconds for mpirun to end after the completion marker exists */
  double stop_within; /**< seconds for the run to save its state after a stop request */
  launch_pin pin;
  bool tcp;           /**< no shared memory between processes */
  bool verbose;       /**< print the command line of mpirun */
  bool several_nodes; /**< the job may have processes on other machines */
  char **program;     /**< program and its arguments, NULL-terminated */
} launch_options;

enum { LAUNCH_SAID = 1 << 16 /**< limit of the output of a command on a node */ };

/** A command on a node. */
typedef struct launch_call {
  char host[256];
  int places; /**< number of processes for which it has capacity */
  int code;   /**< exit code; -1: no answer in time */
  char *said; /**< its standard output */
  pid_t pid;  /**< while it runs */
  double until;
  FILE *output;
} launch_call;

/** Folder on each node for the state from which the next attempt resumes. */
typedef struct launch_memory {
  char parent[LAUNCH_PATH], name[80];
  bool found; /**< left by an earlier launcher of the same command */
} launch_memory;

/** Private folders and files of one attempt; the files are named in the environment of the program. */
typedef struct launch_places {
  char dir[LAUNCH_PATH]; /**< holds the two files below; TMPDIR of the job */
  char shm[LAUNCH_PATH]; /**< shared-memory segments; "": chosen by MPI */
  char completion[LAUNCH_PATH + 16];
  char begun[LAUNCH_PATH + 16];
  char progress[LAUNCH_PATH + 16];
  char stop[LAUNCH_PATH + 16];
} launch_places;

/** Processes of the program on this machine. */
typedef struct launch_ranks {
  int living;  /**< ranks, each counted once, regardless of child processes */
  int stopped; /**< processes stopped by a signal */
  int going;   /**< processes not stopped */
} launch_ranks;

/** End of an attempt. */
typedef enum launch_end {
  LAUNCH_COMPLETED,  /**< with a completion marker: `code` is that of the run */
  LAUNCH_INCOMPLETE, /**< mpirun ended without a marker; reported on stderr */
  LAUNCH_STALLED,    /**< no progress; the job was stopped and traced */
  LAUNCH_NOT_UP, /**< no sign of life: nothing was computed; `code` is LAUNCH_AGAIN if the cause was the death of a process */
  LAUNCH_SIGNALLED /**< stopped by the launcher after a stop request; `code` is 128 + signal, or LAUNCH_REQUEUE before the first step */
} launch_end;

typedef struct launch_result {
  launch_end end;
  int code;
  char last_progress[128];       /**< the last line of progress, "" if none */
  char traces[LAUNCH_PATH + 64]; /**< file of stack traces, "" if none */
} launch_result;

/* say.c */
/** Prints a line on stderr, with the launcher's name. */
void launch_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* wait.c */
/** Seconds of a monotonic clock. */
double launch_seconds(void);
/** Blocks the signals that launch_attempt() waits for; call it once before. */
void launch_block_signals(void);

/* places.c */
/** Creates the private folders. @return false with a message on failure */
bool launch_places_create(bool several_nodes, launch_places *places);
/** Refreshes the folder on a shared file system: files that another node has created may be invisible for a minute,
 *  since NFS caches missing names. */
void launch_places_refresh(const launch_places *places);
/** Removes them with everything inside. */
void launch_places_remove(launch_places *places);
/** Whether the environment or the arguments for mpirun name more than one machine. */
bool launch_spans_nodes(const char *mpi_args);
/** Reads the first line of a small file without its newline. @return false if there is none */
bool launch_read_line(const char *path, char *line, size_t capacity);

/** Words of a command line, NULL-terminated; never freed. */
typedef struct launch_words {
  char **word;
  size_t count, capacity;
} launch_words;

/* command.c: called in the process that becomes mpirun */
/** Sets the environment of program and mpirun. @return cores per process if bound; 0: not bound */
int launch_environment(const launch_options *options, const launch_places *places, int attempt);
/** @return the command line of mpirun */
launch_words launch_command(const launch_options *options, const launch_places *places, int pinned);

/* processes.c */
/** Calls `visit` for every process of this machine that belongs to the job of `places`. */
int launch_each_process(const launch_places *places, void (*visit)(pid_t pid, void *data), void *data);
/** Sends a signal to all of them. @return their number */
int launch_signal_all(const launch_places *places, int signal);
/** Counts the processes of the program among them, without zombies. */
launch_ranks launch_look_at_ranks(const launch_places *places);
/** Reports on stderr the state of each killed process that still exists. @return their number */
int launch_report_all(const launch_places *places);
/** Writes stack traces and kernel state of all of them. @return number of processes described */
int launch_trace_all(const launch_places *places, const char *path);
/** Whether the name is a program on PATH or the path of an executable. */
bool launch_is_program(const char *name);

/* node_commands.c */
/** Checks whether all hosts of "a:4,b:4" are host names. Agents treat a word that begins with `-` as an option,
 *  which may run a command. @return false with a message if not */
bool launch_hosts_are_sound(const char *hosts);
/** Determines the hosts of "a:4,b:4,c" that answer: `AGENT HOST true` succeeds within ten seconds. All are called at
 *  once. @param[out] hosts these in the same form, to be freed @param[out] places number of processes for which they
 *  have capacity @return number of omitted hosts, each named on stderr */
int launch_hosts_that_answer(const char *all, const char *agent, char **hosts, int *places);
/** Runs a command on all hosts of such a list at once, each for at most ten seconds: `AGENT HOST WORDS...`, `ssh --
 *  HOST WORDS...`. @param[in] words NULL-terminated; quoted for the shell of the agent @param[in] input standard
 *  input @param[out] calls results, released by launch_calls_free() @return number of hosts */
int launch_call_hosts(const char *hosts, const char *agent, const char *const words[], const char *input,
                      launch_call **calls);
void launch_calls_free(launch_call *calls, int count);
/** Path of this program, which must be the same on all nodes. */
const char *launch_own_path(void);

/* node_memory_folder.c */
/** Removes leftovers of killed launchers of this user in node memory. With --relaunch it creates the folder of this
 *  run on each node, or takes over that of the same command, and names it in the environment. */
void launch_memory_begin(const launch_options *options, launch_memory *memory);
/** Removes the folder on each of the hosts (NULL: this one). */
void launch_memory_end(const char *hosts, const char *agent, const launch_memory *memory);
/* Keeps the folders for the same command for a day: launchers of other commands do not remove them. */
void launch_memory_keep(const char *hosts, const char *agent, const launch_memory *memory);
/** The part on a node: `gabion-launch --on-node WORDS...`. @return exit code */
int launch_on_node(int count, char **words);
/** Sets GABION_LAUNCH_ID and GABION_LAUNCHER in the environment. */
void launch_introduce(void);

/* spare_count.c */
/** Parses "K" or "K/node". @return false for other text; the options are then unchanged */
bool launch_spares_read(const char *text, launch_options *options);
/** Gets the number of spares of the case from `gabion run CASE`; other programs have none. */
void launch_spares_ask(launch_options *options);
/** Determines all_spares. @return false with a message if the number of nodes is unknown */
bool launch_spares_count(launch_options *options);
/** Reduces the spares to the places that remain besides active processes, in a job on other nodes. */
void launch_spares_fit(launch_options *options, int places);

/* pinning.c */
/** @return NULL if processes with `threads` threads are bound to cores, else the reason why not */
const char *launch_why_not_pinned(const launch_options *options, int threads);

/* job.c */
/** Runs the program once, from start to end, and cleans up. */
void launch_attempt(const launch_options *options, int attempt, launch_result *result);

#endif
