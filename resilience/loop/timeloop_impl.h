/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the time loop share, and those that report on it. Internal. */
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
  bool (*due)(const void *user, gab_step step); /* of post-step actions; NULL: always */
  gab_task_fn run;
  void *user;
  gab_timer timer;
  bool at_rest; /* of monitors: nothing is due after a step */
} gab_task;

typedef struct gab_task_list {
  gab_task tasks[GAB_MOST_TASKS];
  int count;
} gab_task_list;

/* Several steps at once, in the place of tasks. */
typedef struct gab_loop_temporal_block {
  gab_temporal_block_fn run; /* NULL: none */
  void *user;
  gab_timer timer;
  int tasks; /* the last so many of the loop */
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
  gab_step next; /* of its next checkpoint; -1: none is due, or not known yet */
  double last;   /* seconds: when its last one was taken */
} gab_clock;

/* What checkpoints cost the run in all, of two ways to take one, in seconds: the more recent the more it counts. Which steps
 * were slowed down by copies behind them is not asked: all that steps took beyond the usual is theirs. */
typedef struct gab_overlap_costs {
  double seconds[2]; /* [0]: that are waited for, [1]: whose copies travel behind the steps */
  uint64_t count[2]; /* of which that is known */
} gab_overlap_costs;

/* A checkpoint in memory whose copies travel behind the steps. */
typedef struct gab_overlap {
  gab_overlap_mode wanted;
  gab_overlap_costs costs; /* of this process; only what is known of all decides */
  double rested;           /* since then nothing has been under way; of these: gab_overlap_watch() ... */
  gab_step rested_from;    /* ... and the step it was */
  double began, usual;     /* the one under way, and what a step took before it; 0: not known */
  bool to_disk;            /* the one under way goes there when it is complete */
  gab_step lag;   /* steps between begin and completion of the next one, the same on all; 0: no overlap */
  gab_step from;  /* step of the one under way */
  gab_step until; /* at which all complete it */
  gab_step there; /* after which this rank had nothing under way any more; -1: not yet */
} gab_overlap;

/* Present only when the loop is protected. */
typedef struct gab_protection_state {
  gab_step scrub;   /* steps between two looks at what lies in memory; 0: never */
  int32_t told;     /* members when it was said what is kept of whom */
  int32_t replaced; /* spares that had taken a rank by then */
  bool separate;    /* any one failure domain could be lost as a whole then */
  gab_clock memory, on_disk;
  gab_overlap overlap;
  double past_seconds; /* that jobs before this one ran for ... */
  int past_losses;     /* ... and how many of them were lost */
  uint64_t
      killed;    /* processes that the system of this node had ended for lack of memory when the run began */
  gab_step look; /* at which the clocks are set again though nothing is taken; -1: none */
  gab_checkpoint *checkpoint;
  gab_disk *disk; /* NULL: none */
  gab_fault_injector *injector;
  gab_fence *fence;          /* NULL: no part of the run can be cut off */
  gab_run_lock *fenced_lock; /* that looks at it; borrowed; NULL: none */
  double fence_looked;       /* seconds: when the folder was last asked */
  gab_stop *stop;
  char node_memory[1000];         /* where snapshots of this node lie; "": in the memory of the processes */
  gab_memory_key node_key;        /* what they are stamped with */
  int buffers;                    /* asked for, or needed by what the case asks for; 0: neither */
  bool spent;                     /* the run has come to an end from which nobody goes on there */
  gab_node_restart *node_restart; /* what was found there, until there is a new snapshot */
  gab_recovery recovery;          /* context of the strategies */
  gab_rebalance_fn rebalance;     /* NULL: blocks stay where they were adopted */
  void *rebalance_user;
  gab_local_run *local; /* NULL: no local recovery */
  const gab_strategy *strategies[GAB_MOST_STRATEGIES];
  int strategy_count;
  int futile_recoveries; /* recoveries in a row without a death and without a new checkpoint between them */
  gab_step suspected;    /* the last step after which a monitor complained; -1: none yet */
  gab_step furthest;     /* that was ever restored */
  int tries;             /* recoveries from deaths since that grew */
  int most_tries;
} gab_protection_state;

struct gab_timeloop {
  gab_forest *forest;
  gab_world *world;
  gab_step steps, step;
  gab_approximated approximated; /* part of the state */
  bool is_running;               /* or has run: what it consists of is fixed */
  bool actions_pending; /* the post-step actions of the present step have not been done; part of the state */
  int next_action;      /* of those, the first that has not been done; part of the state */
  gab_task_list tasks, monitors, actions, finishes;
  gab_loop_temporal_block temporal_block;
  gab_loop_end ends[GAB_MOST_ENDS];
  int end_count;
  gab_step monitored; /* the step after which the monitors that were due have looked; -1: none */
  gab_timers *timers; /* one per task, post-step action and finish, and the three below */
  gab_timer checkpoint_timer, disk_timer, recovery_timer;
  gab_entity entities[GAB_MOST_TASKS];
  int entity_count;
  gab_protection_state *protection;
  gab_restart *restart; /* what the run begins with; NULL: the state of the forest */
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
  gab_step furthest;           /* step that this process has computed, or gone on from */
  double longest_step;         /* seconds, with what was due after it */
  double started, recent_time; /* of the run; of the last progress line */
  gab_step recent_step;
  double mean_steps,
      mean_seconds;     /* of about the last minute, for how long the rest will take (progress.c) */
  uint64_t own_updates; /* asked for by the application; 0: count the cells */
};

/* ---- ends.c */

/* Whether the present step is the last one. Pure. */
bool gab_loop_is_over(const gab_timeloop *loop);
/* Whether a criterion is asked after that step. Pure. */
bool gab_loop_may_end(const gab_timeloop *loop, gab_step step);

/* ---- protection.c */

/* Table of the local recovery of the loop; NULL: it has none. Pure. */
const gab_local_recovery *gab_loop_local(const gab_timeloop *loop);
void gab_protection_destroy(gab_protection_state **protection);
/* The run is over, as all have agreed: no part of it goes on any more. Collective. GAB_ERR_FAULT: it is not, yet. */
gab_status gab_protection_close_fence(gab_timeloop *loop);
/* Ends the process if another part of the run has gone on; at most once a second, on the root. Local. */
void gab_protection_check_fence(gab_timeloop *loop);

/* ---- initial_state.c: the state that a run begins with */

/* Notes the entities per rank as they are before the first step, on spares, too: a rank to which nothing falls of a
 * checkpoint of fewer ranks goes back to that. Where a spare cannot pack them that is an error if it comes to it. Local. */
gab_status gab_protection_keep_untouched(gab_timeloop *loop);
/* Loads the state which the run continues, if any. Collective. */
gab_status gab_protection_begin(gab_timeloop *loop);
/* Takes the memory of checkpoints, and the first one, of the state of the forest or of that which the run continues: after
 * gab_protection_begin(). Collective. */
gab_status gab_protection_start(gab_timeloop *loop);

/* ---- clocks.c */

/* At the end of a step: helps a write to disk along, takes the checkpoints that are due, and decides when the
 * next ones are. Collective. */
gab_status gab_protection_checkpoint(gab_timeloop *loop);
/* Between tasks and after steps: helps copies along that are under way. Local. */
gab_status gab_protection_help(gab_timeloop *loop);
/* Copies lie in memory for long: what changes there is to be found while there is something to replace it by. If it
 * is time for a look. Collective. */
gab_status gab_protection_scrub(gab_timeloop *loop);
/* Takes one in memory now, and begins to write it to disk. Collective. */
gab_status gab_protection_take(gab_timeloop *loop, bool to_disk);
/* Decides when the next ones are. Collective. */
gab_status gab_protection_set_clocks(gab_timeloop *loop);
/* Brings the state as it is to disk, and waits until it lies there. Collective.
 * @param[out] safe  the same on all: false without a level on disk, or if the disk refused, which is reported */
gab_status gab_protection_disk_now(gab_timeloop *loop, bool *safe);
/* Waits for a write that is under way. Collective: each one helps with its part. */
gab_status gab_protection_disk_wait(gab_timeloop *loop);
/* As gab_protection_disk_now() at the last step, if there are to be checkpoints on disk. */
gab_status gab_protection_finish(gab_timeloop *loop);
/* After a recovery: begins the write again that was interrupted, here or elsewhere. Collective. */
gab_status gab_protection_disk_again(gab_timeloop *loop, bool interrupted);
bool gab_protection_uses_disk(const gab_protection_state *protection);

/* ---- run_stats.c */

/* Mean time of a step so far; 0: none yet. */
double gab_protection_step_seconds(const gab_timeloop *loop);

/* ---- overlap.c */

/* Seconds of the run without what post-step actions took. */
double gab_overlap_watch(const gab_timeloop *loop);
/* Steps behind which the copies of this rank would get through; 0: they are not to. Local. */
uint64_t gab_overlap_wanted_lag(const gab_timeloop *loop);
/* Everyone takes the same number of steps. @param[in] wanted  the most that anybody wants */
void gab_overlap_set_lag(gab_timeloop *loop, uint64_t wanted);
/* One more has cost so much. @param[in] behind  the steps */
void gab_overlap_note(gab_overlap_costs *costs, bool behind, double seconds);
/* Whether the next one is to travel behind the steps: what has cost less, and each now and then, so that it stays known. Pure. */
bool gab_overlap_pays(const gab_overlap_costs *costs);
/* What all know together; the most that anybody knows. Collective. */
gab_status gab_overlap_compare(gab_timeloop *loop, gab_overlap_costs *all);

/* ---- stop_in_time.c */

/* Has anybody asked the run to stop? Then takes a last checkpoint and fails with GAB_ERR_REQUEUE. Collective. */
gab_status gab_protection_stop(gab_timeloop *loop);
/* Stops here, for that reason: takes a last checkpoint and fails. Collective. @return ::GAB_ERR_REQUEUE, or ::GAB_ERR_ENDED if there is
 * nothing on disk to go on from */
gab_status gab_protection_stop_now(gab_timeloop *loop, gab_stop_reason reason);
/* Seconds that it takes to stop if what is not asked for now is answered at the next checkpoint and done at the one after. */
double gab_protection_time_to_stop_later(const gab_timeloop *loop);

/* ---- recover.c */

/* After `why` ended a step here: recovers, or ends the run on all with one status. Collective.
 * @param[in] called  of a spare that was called, the abort request of the repair that did it; else NULL */
gab_status gab_protection_recover(gab_timeloop *loop, gab_status why, const gab_status *called);

/* ---- loop_history.c: what is not rolled back, and a replacement process has to know */

gab_status gab_protection_pack_history(void *loop, gab_buffer *out);
gab_status gab_protection_unpack_history(void *loop, gab_reader *in);

/* ---- recovery_report.c, fault_report.c, redundancy_report.c (resilience/reports) */

/* Writes the event `fault noticed', with the phase that the world was in. Local. */
void gab_recovery_note_fault(const gab_timeloop *loop);
/* Writes the event of a spare that was called to run a rank. Local. */
void gab_recovery_note_called(const gab_timeloop *loop);
/* Warns if the system of this node has ended processes of the run for lack of memory. Local. */
void gab_recovery_suspect_memory(const gab_protection_state *protection);
/* Adds a recovery to the statistics, the log, the events and tells the application. Local. */
void gab_recovery_report(gab_timeloop *loop, const gab_fault *fault);

/* Members of an object that tell of a fault, the same in events.jsonl and summary.json. @param[in] lost ranks
 * to be listed, perhaps not all of them */
void gab_fault_to_json(gab_json *json, const gab_fault *fault, const gab_rank *lost, int32_t count);
/* "nobody", "rank 3", "ranks 0, 2", "ranks 0, 1, 2 and 9 more": of `count` ranks those that are `listed`, as far as there is
 * capacity. @param[in] capacity  64 or more @return text */
const char *gab_fault_who(const gab_rank *lost, int32_t listed, int32_t count, char *text, size_t capacity);
/* Says what is kept of whom when that is new: the numbers of a scheme change with the members. */
void gab_protection_tell(gab_timeloop *loop);
/* Warns where deaths will not be survived. Local. */
void gab_protection_warn(const gab_timeloop *loop);

/* ---- temporal_steps.c */

/* Steps from the present one, 1 or more, between which nobody looks: not at the state (post-step actions, monitors, checkpoints),
 * not at the number of the step (questions, fault injections). 1 where the loop has no temporal block, or tasks beside those of
 * the temporal block. Pure. */
gab_step gab_temporal_steps(const gab_timeloop *loop);

/* ---- buffers.c */

/* What decides it. Zero-initialise but for `strategies`. */
typedef struct gab_buffer_needs {
  int asked;                             /* 1 or 2; 0: nobody has asked */
  const gab_strategy *const *strategies; /* GAB_MOST_STRATEGIES, those of the run first, the others NULL */
  bool scrubs;                           /* images are verified */
  bool looks_at_rest;                    /* a monitor looks at the state that is packed */
  bool writes;                           /* checkpoints go to disk */
  bool of_node;                          /* snapshots lie in the memory of nodes */
} gab_buffer_needs;
/* Snapshots that there has to be capacity for, 1 or 2. Pure. */
int gab_buffers_needed(const gab_buffer_needs *needs, const gab_placement *placement);
/* Tells the checkpoint, where the case has not. Local, with the same result on all. */
gab_status gab_protection_choose_buffers(gab_timeloop *loop);

/* ---- monitors.c */

/* Lets those look that are due. Ahead of a checkpoint all do, so that nothing that is wrong becomes a snapshot. */
gab_status gab_monitors_look(gab_timeloop *loop, bool all);
/* Those that look at the state at rest do so again. */
gab_status gab_monitors_look_at_rest(gab_timeloop *loop);
/* After all went back because a monitor complained: counts it and says so. Collective. @param[in] complained
 * this rank did
 * @return GAB_ERR_DIVERGED on all if the run did not get past the step of the complaint before: no chance */
gab_status gab_monitors_judge(gab_timeloop *loop, const gab_fault *fault, bool complained);

/* ---- progress.c */

/* After a step: the line of the log and the files that say how far the run is. Local. */
void gab_progress_report(gab_timeloop *loop);
/* The file for good, at the end. Local. */
void gab_progress_end(const gab_timeloop *loop, gab_status status);

#endif
