/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of the time loop and its reports. */
#ifndef GABION_RESILIENCE_TIMELOOP_IMPL_H
#define GABION_RESILIENCE_TIMELOOP_IMPL_H

#include "resilience/disk/node_restart.h"
#include "resilience/loop/local_recovery_impl.h"
#include "resilience/loop/stop.h"
#include "resilience/loop/timeloop.h"

enum {
  GAB_MOST_TASKS = 64,
  GAB_TASK_NAME = 48,
  GAB_MOST_FAULT_RECORDS = 64,
  GAB_MOST_FUTILE_RECOVERIES = 100,
  GAB_MOST_TEMPORAL_STEPS = 16, /* offered to a temporal block */
  GAB_USUAL_TRIES = 10,
  GAB_USUAL_FENCE_WAIT = 5 /* seconds */
};
#define GAB_PROGRESS_FILE "progress.json" /* in the folder of the run */

typedef struct gab_task {
  char name[GAB_TASK_NAME];
  bool (*due)(const void *user, gab_step step); /* post-step actions; NULL: always */
  gab_task_fn run;
  void *user;
  gab_timer timer;
  bool at_rest; /* monitors at rest: not due after a step */
} gab_task;

typedef struct gab_task_list {
  gab_task tasks[GAB_MOST_TASKS];
  int count;
} gab_task_list;

/* A temporal block, which replaces tasks. */
typedef struct gab_loop_temporal_block {
  gab_temporal_block_fn run; /* NULL: none */
  void *user;
  gab_timer timer;
  int tasks; /* number of replaced tasks, the last of the loop */
} gab_loop_temporal_block;

/* A criterion by which the run ends. */
typedef struct gab_loop_end {
  char name[GAB_TASK_NAME];
  bool (*due)(const void *user, gab_step step); /* NULL: always */
  gab_end_fn is_met;
  const void *user;
} gab_loop_end;

/* One of the two levels of checkpoints. */
typedef struct gab_clock {
  gab_interval every;
  gab_step next; /* step of the next checkpoint; -1: none, or unknown */
  double last;   /* time of the last checkpoint in seconds */
} gab_clock;

/* Mean cost of checkpoints in two modes, in seconds, with larger weights for recent ones. The slowdown of all steps
 * during a transfer is attributed to the copies. */
typedef struct gab_overlap_costs {
  double seconds[2]; /* [0]: blocking, [1]: copies overlap with steps */
  uint64_t count[2]; /* number of samples */
} gab_overlap_costs;

/* A checkpoint in memory whose copies overlap with steps. */
typedef struct gab_overlap {
  gab_overlap_mode wanted;
  gab_overlap_costs costs; /* of this process; the decision uses the values of all */
  double rested;           /* since then no transfer was in progress: gab_overlap_watch() ... */
  gab_step rested_from;    /* ... and its step */
  double began, usual;     /* start of the present one, and time of a step before it; 0: unknown */
  bool to_disk;            /* the present one is written to disk on completion */
  gab_step lag;            /* steps from start to completion of the next one, equal on all; 0: no overlap */
  gab_step from;           /* step of the present one */
  gab_step until;          /* step of its completion on all */
  gab_step there;          /* step after which the transfers of this rank were complete; -1: not yet */
} gab_overlap;

/* Present only when the loop is protected. */
typedef struct gab_protection_state {
  gab_step scrub;   /* steps between two verifications of images in memory; 0: never */
  int32_t told;     /* number of members at the last report of the placement */
  int32_t replaced; /* spares with a rank at that time */
  bool separate;    /* any one failure domain could be lost at that time */
  gab_clock memory, on_disk;
  gab_overlap overlap;
  double past_seconds; /* run time of earlier jobs ... */
  int past_losses;     /* ... and number of their losses */
  uint64_t killed;     /* processes of this node killed for lack of memory before the start of the run */
  gab_step look;       /* step at which clocks are set without a checkpoint; -1: none */
  gab_checkpoint *checkpoint;
  gab_disk *disk; /* NULL: none */
  gab_fault_injector *injector;
  gab_fence *fence;          /* NULL: no part of the run can be cut off */
  gab_run_lock *fenced_lock; /* its user; borrowed; NULL: none */
  double fence_looked;       /* time of the last check of the folder in seconds */
  gab_stop *stop;
  char node_memory[1000];         /* folder of snapshots of this node; "": in process memory */
  gab_memory_key node_key;        /* key of these snapshots */
  int buffers;                    /* requested or needed by the case; 0: neither */
  bool spent;                     /* no later job will resume from node memory */
  gab_node_restart *node_restart; /* snapshot found in node memory, until a new one exists */
  gab_recovery recovery;          /* context of the strategies */
  gab_rebalance_fn rebalance;     /* NULL: blocks stay where they were adopted */
  void *rebalance_user;
  gab_local_run *local; /* NULL: no local recovery */
  const gab_strategy *strategies[GAB_MOST_STRATEGIES];
  int strategy_count;
  int futile_recoveries; /* recoveries in a row without a death and without a new checkpoint between them */
  gab_step suspected;    /* last step with an alarm of a monitor; -1: none yet */
  gab_step furthest;     /* latest step that was ever restored */
  int tries;             /* recoveries from deaths since that increased */
  int most_tries;
} gab_protection_state;

struct gab_timeloop {
  gab_forest *forest;
  gab_world *world;
  gab_step steps, step;
  gab_approximated approximated; /* part of the state */
  bool is_running;               /* or has run: its parts are fixed */
  bool actions_pending;          /* post-step actions of the present step are pending; part of the state */
  int next_action;               /* the first pending one; part of the state */
  gab_task_list tasks, monitors, actions, finishes;
  gab_loop_temporal_block temporal_block;
  gab_loop_end ends[GAB_MOST_ENDS];
  int end_count;
  gab_step monitored; /* last step that the due monitors have checked; -1: none */
  gab_timers *timers; /* one per task, post-step action and finish, and the three below */
  gab_timer checkpoint_timer, disk_timer, recovery_timer;
  gab_entity entities[GAB_MOST_TASKS];
  int entity_count;
  gab_protection_state *protection;
  gab_restart *restart; /* checkpoint to resume from; NULL: state of the forest */
  gab_events *events;   /* NULL without protection */
  gab_run_lock *lock;   /* of the folder of the run; NULL: none */
  char folder[1000];    /* of the run, for progress.json; "": none */
  gab_fault_fn on_fault;
  void *on_fault_user;
  gab_checkpoint_fn on_checkpoint;
  void *on_checkpoint_user;
  gab_status (*on_failure)(void *user, gab_step step, gab_status why);
  void *on_failure_user;
  gab_run_stats stats;
  gab_fault_record records[GAB_MOST_FAULT_RECORDS];
  gab_step furthest;           /* latest step that this process has computed or resumed from */
  double longest_step;         /* seconds, including its post-step actions */
  double started, recent_time; /* of the run; of the last progress line */
  gab_step recent_step;
  double mean_steps, mean_seconds; /* over about the last minute, for the estimate of the rest (progress.c) */
  uint64_t own_updates;            /* set by the application; 0: number of cells */
};

/* ---- ends.c */

/* Whether the present step is the last one. Pure. */
bool gab_loop_is_over(const gab_timeloop *loop);
/* Whether a criterion is evaluated after that step. Pure. */
bool gab_loop_may_end(const gab_timeloop *loop, gab_step step);

/* ---- protection.c */

/* Table of the local recovery of the loop; NULL: it has none. Pure. */
const gab_local_recovery *gab_loop_local(const gab_timeloop *loop);
void gab_protection_destroy(gab_protection_state **protection);
/* Closes the fence after all have agreed on the end of the run, so that no part of it continues. Collective. GAB_ERR_FAULT: not closed. */
gab_status gab_protection_close_fence(gab_timeloop *loop);
/* Ends the process if another part of the run has continued; checks at most once per second, on the root. Local. */
void gab_protection_check_fence(gab_timeloop *loop);

/* ---- initial_state.c: initial state of a run */

/* Stores the entities per rank before the first step, on spares too: a rank that gets nothing from a checkpoint of
 * fewer ranks restores them. If a spare cannot pack them, the error is raised only when they are needed. Local. */
gab_status gab_protection_keep_untouched(gab_timeloop *loop);
/* Loads the state to resume from, if any. Collective. */
gab_status gab_protection_begin(gab_timeloop *loop);
/* Reserves the memory of checkpoints and takes the first one, after gab_protection_begin().
 * Collective. */
gab_status gab_protection_start(gab_timeloop *loop);

/* ---- clocks.c */

/* At the end of a step: advances a write to disk, takes due checkpoints, and schedules the next ones.
 * Collective. */
gab_status gab_protection_checkpoint(gab_timeloop *loop);
/* Between tasks and after steps: advances copies in transit. Local. */
gab_status gab_protection_help(gab_timeloop *loop);
/* Verifies images in memory, if due, so that a changed one is found while it can be replaced.
 * Collective. */
gab_status gab_protection_scrub(gab_timeloop *loop);
/* Takes a checkpoint in memory and starts to write it to disk. Collective. */
gab_status gab_protection_take(gab_timeloop *loop, bool to_disk);
/* Schedules the next checkpoints. Collective. */
gab_status gab_protection_set_clocks(gab_timeloop *loop);
/* Writes the present state to disk and waits for completion. Collective. @param[out] safe equal on all: false
 * without checkpoints on disk, or after a disk error, which is reported */
gab_status gab_protection_disk_now(gab_timeloop *loop, bool *safe);
/* Waits for a write in progress. Collective: each process advances its part. */
gab_status gab_protection_disk_wait(gab_timeloop *loop);
/* As gab_protection_disk_now() at the last step, if checkpoints on disk are enabled. */
gab_status gab_protection_finish(gab_timeloop *loop);
/* After a recovery: restarts a write that was interrupted, here or on another process. Collective. */
gab_status gab_protection_disk_again(gab_timeloop *loop, bool interrupted);
bool gab_protection_uses_disk(const gab_protection_state *protection);

/* ---- run_stats.c */

/* Mean time of a step so far; 0: none yet. */
double gab_protection_step_seconds(const gab_timeloop *loop);

/* ---- overlap.c */

/* Run time without post-step actions, in seconds. */
double gab_overlap_watch(const gab_timeloop *loop);
/* Number of steps during which the copies of this rank would arrive; 0: no overlap. Local. */
uint64_t gab_overlap_wanted_lag(const gab_timeloop *loop);
/* Sets the number of steps, equal on all. @param[in] wanted maximum over ranks */
void gab_overlap_set_lag(gab_timeloop *loop, uint64_t wanted);
/* Adds a sample of the cost. @param[in] behind copies overlapped with steps */
void gab_overlap_note(gab_overlap_costs *costs, bool behind, double seconds);
/* Whether the next checkpoint should overlap: the cheaper mode, and each mode at intervals, to keep its cost known. Pure. */
bool gab_overlap_pays(const gab_overlap_costs *costs);
/* Reduces the costs over all processes. Collective. */
gab_status gab_overlap_compare(gab_timeloop *loop, gab_overlap_costs *all);

/* ---- stop_in_time.c */

/* After a stop request: takes a last checkpoint and returns GAB_ERR_REQUEUE. Collective. */
gab_status gab_protection_stop(gab_timeloop *loop);
/* Stops for that reason: takes a last checkpoint. Collective. @return ::GAB_ERR_REQUEUE, or ::GAB_ERR_ENDED without
 * a checkpoint on disk */
gab_status gab_protection_stop_now(gab_timeloop *loop, gab_stop_reason reason);
/* Time in seconds of a stop that is requested later, answered at the next checkpoint and executed at the one after. */
double gab_protection_time_to_stop_later(const gab_timeloop *loop);

/* ---- recover.c */

/* After `why` ended a step here: recovers, or ends the run on all with one status. Collective.
 * @param[in] called on an assigned spare, the abort request of the repair; else NULL */
gab_status gab_protection_recover(gab_timeloop *loop, gab_status why, const gab_status *called);

/* ---- loop_history.c: history of the run, which is not rolled back */

gab_status gab_protection_pack_history(void *loop, gab_buffer *out);
gab_status gab_protection_unpack_history(void *loop, gab_reader *in);

/* ---- recovery_report.c, fault_report.c, redundancy_report.c (resilience/reports) */

/* Writes the event `fault noticed', with the phase of the world. Local. */
void gab_recovery_note_fault(const gab_timeloop *loop);
/* Writes the event of a spare that got a rank. Local. */
void gab_recovery_note_called(const gab_timeloop *loop);
/* Warns if the system of this node has killed processes of the run for lack of memory. Local. */
void gab_recovery_suspect_memory(const gab_protection_state *protection);
/* Adds a recovery to statistics, log and events, and informs the application. Local. */
void gab_recovery_report(gab_timeloop *loop, const gab_fault *fault);

/* Writes the members of a fault, for events.jsonl and summary.json. @param[in] lost ranks to list, possibly not
 * all */
void gab_fault_to_json(gab_json *json, const gab_fault *fault, const gab_rank *lost, int32_t count);
/* "nobody", "rank 3", "ranks 0, 2", "ranks 0, 1, 2 and 9 more": of `count` ranks those that are `listed`, as far as there is
 * capacity. @param[in] capacity  64 or more @return text */
const char *gab_fault_who(const gab_rank *lost, int32_t listed, int32_t count, char *text, size_t capacity);
/* Logs the placement if it has changed with the members. */
void gab_protection_tell(gab_timeloop *loop);
/* Warns if deaths would not be survived. Local. */
void gab_protection_warn(const gab_timeloop *loop);

/* ---- temporal_steps.c */

/* Number of steps from the present one, at least 1, without a use of the state (post-step actions, monitors,
 * checkpoints) or of the step number (stop queries, fault injections) in between. 1 without a temporal block, or
 * with tasks that it does not replace. Pure. */
gab_step gab_temporal_steps(const gab_timeloop *loop);

/* ---- buffers.c */

/* Inputs of the decision. Zero-initialise except `strategies`. */
typedef struct gab_buffer_needs {
  int asked;                             /* 1 or 2; 0: not requested */
  const gab_strategy *const *strategies; /* GAB_MOST_STRATEGIES, those of the run first, the others NULL */
  bool scrubs;                           /* images are verified */
  bool looks_at_rest;                    /* a monitor checks the packed state */
  bool writes;                           /* checkpoints go to disk */
  bool of_node;                          /* snapshots lie in the memory of nodes */
} gab_buffer_needs;
/* Number of snapshots in memory, 1 or 2. Pure. */
int gab_buffers_needed(const gab_buffer_needs *needs, const gab_placement *placement);
/* Sets the number in the checkpoint unless the case has set it. Local, with the same result on all. */
gab_status gab_protection_choose_buffers(gab_timeloop *loop);

/* ---- monitors.c */

/* Runs the due monitors; before a checkpoint all of them, so that no erroneous state is stored. */
gab_status gab_monitors_look(gab_timeloop *loop, bool all);
/* Runs the monitors at rest again. */
gab_status gab_monitors_look_at_rest(gab_timeloop *loop);
/* After a rollback for an alarm of a monitor: counts and logs it. Collective. @param[in] complained
 * alarm on this rank @return GAB_ERR_DIVERGED on all if the run has not passed the step of the previous
 * alarm */
gab_status gab_monitors_judge(gab_timeloop *loop, const gab_fault *fault, bool complained);

/* ---- progress.c */

/* After a step: writes the line of progress and the progress files. Local. */
void gab_progress_report(gab_timeloop *loop);
/* Writes the final progress file. Local. */
void gab_progress_end(const gab_timeloop *loop, gab_status status);

#endif
