/* SPDX-License-Identifier: Apache-2.0 */
/** @file timeloop.h
 *  @brief The time loop: tasks, post-step actions, and protection against the loss of processes.
 *
 *  @code
 *    gab_timeloop *loop;
 *    GAB_TRY(gab_timeloop_create(forest, 1000, &loop));
 *    GAB_TRY(gab_timeloop_add_task(loop, "diffuse", diffuse, &app));
 *    GAB_TRY(gab_timeloop_protect(loop, &(gab_protection){.every = {.steps = 100}}));
 *    GAB_TRY(gab_timeloop_run(loop));
 *  @endcode
 *
 *  A step consists of all tasks in order, the increment of the step number, due post-step actions, and a checkpoint if one
 *  is due. After a fault at any point the loop recovers and resumes from the restored step, so tasks and post-step actions
 *  see the same steps again. They need no fault handling; results between the fault and their return are
 *  discarded.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_RESILIENCE_TIMELOOP_H
#define GABION_RESILIENCE_TIMELOOP_H

#include "core/base/timer.h"
#include "resilience/loop/fault_injection.h"
#include "core/base/entity.h"
#include "resilience/loop/interval.h"
#include "resilience/recovery/recovery.h"
#include "resilience/disk/restart.h"
#include "resilience/run_folder/run_lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_timeloop gab_timeloop;

/** Part of a step. Collective unless it does not communicate.
 *  @param[in] step index of the step, from 0: the state is that after `step` steps
 *  @return ::GAB_ERR_FAULT starts the recovery; any other error, even on a single process, ends the run on all with
 *  that status */
typedef gab_status (*gab_task_fn)(void *user, gab_step step);

/** Number of steps of a loop that ends only by a criterion (gab_timeloop_add_end()). */
#define GAB_STEPS_OPEN ((gab_step)INT64_C(9000000000000000))

/** Local. @param[in] forest  borrowed @param[in] steps total number of steps, or #GAB_STEPS_OPEN */
gab_status gab_timeloop_create(gab_forest *forest, gab_step steps, gab_timeloop **loop);
void gab_timeloop_destroy(gab_timeloop **loop);

/** Adds a task of every step. Local; the same in the same order on all ranks, like all additions below. @return
 *  ::GAB_ERR_STATE once the loop runs, as for all additions */
gab_status gab_timeloop_add_task(gab_timeloop *loop, const char *name, gab_task_fn run, void *user);

/** Computes several steps at once, without messages; the offered number may differ between ranks.
 *  @param[in] step the first step, as for a task
 *  @param[in] most  steps, two or more, whose intermediate states are not read
 *  @param[out] taken  number of computed steps; 0: nothing was done, and the tasks compute the next step
 *  @return as a task */
typedef gab_status (*gab_temporal_block_fn)(void *user, gab_step step, gab_step most, gab_step *taken);

/** Declares that a temporal block may replace the last `tasks` tasks for several steps: up to the next
 *  post-step action, monitor, checkpoint, stop request or fault injection. Steps are computed one by one
 *  while copies of a checkpoint or parts of a file are sent, with strategy `local`, whose steps are logged,
 *  and if the loop has other tasks. A temporal block ends with the end of its last step. Local; one per
 *  loop.
 *  @param[in] name  of its timer
 *  @return ::GAB_ERR_STATE for a second one, ::GAB_ERR_ARGUMENT if there are fewer tasks */
gab_status gab_timeloop_add_temporal_block(gab_timeloop *loop, const char *name, int tasks,
                                           gab_temporal_block_fn run, void *user);

/** Adds a post-step action (reductions, output, checks), which runs before the first step and after steps for which
 *  `due` returns true. `step` is the number of completed steps.
 *  @param[in] due  pure, the same on all ranks; NULL: after every step */
gab_status gab_timeloop_add_action(gab_timeloop *loop, const char *name,
                                   bool (*due)(const void *user, gab_step step), gab_task_fn run, void *user);

/** Adds a monitor: a check of the state after steps for which `due` returns true, before their post-step actions, and
 *  also before each checkpoint and at the end. A check that finds an impossible state, on any rank, returns
 *  ::GAB_ERR_SUSPECT with a message. All ranks then roll back to the last checkpoint, and no rank is lost: a bit flip
 *  in memory does not recur. If a monitor fails again before the run has passed the step of the last alarm, the run
 *  ends with ::GAB_ERR_DIVERGED, as it does without protection. So does a run whose checkpoint already contains the
 *  error.
 *  @param[in] due  pure, the same on all ranks; NULL: after every step
 *  @param[in] check a local check needs no communication */
gab_status gab_timeloop_add_monitor(gab_timeloop *loop, const char *name,
                                    bool (*due)(const void *user, gab_step step), gab_task_fn check,
                                    void *user);

/** Adds a monitor of the state at rest: it checks before each checkpoint, at the end, and after the own image was
 *  packed, before the checkpoint is committed. So a change of memory between a step and the image does not enter a
 *  checkpoint. Else like gab_timeloop_add_monitor().
 *  @param[in] check  without communication */
GAB_EXTENDER gab_status gab_timeloop_add_rest_monitor(gab_timeloop *loop, const char *name, gab_task_fn check,
                                                      void *user);

/** Returns whether the run ends here, before its last step. Pure, and equal on all ranks: a function of replicated
 *  state (::GAB_ENTITY_REPLICATED), step and parameters, so that it needs no communication and is reproducible after
 *  a recovery. Values that depend on blocks are reduced by a task and stored in such an entity. @param[in] step
 *  completed steps @param[out] why "" on entry; for the log and summary.json */
typedef bool (*gab_end_fn)(const void *user, gab_step step, char *why, size_t capacity);

enum { GAB_MOST_ENDS = 8 };

/** Adds a criterion that ends the run before its last step, e.g. a steady state. It is evaluated before the first step
 *  and after steps for which `due` returns true. The run then ends as after its last step, with post-step actions,
 *  monitors, a checkpoint on disk and finishes. The criterion must agree on all ranks, or the run deadlocks.
 *  @param[in] due  pure, the same on all ranks; NULL: after every step
 *  @return ::GAB_ERR_STATE while the loop runs, ::GAB_ERR_ARGUMENT without a function or with #GAB_MOST_ENDS already */
gab_status gab_timeloop_add_end(gab_timeloop *loop, const char *name,
                                bool (*due)(const void *user, gab_step step), gab_end_fn is_met,
                                const void *user);

/** Whether a criterion ends the run at the present step. @param[out] text "NAME: why", unchanged otherwise */
bool gab_timeloop_end_reason(const gab_timeloop *loop, char *text, size_t capacity);

/** Adds a final action, which runs once after all steps. It is still protected: after a death the run rolls back and
 *  repeats it. */
gab_status gab_timeloop_add_finish(gab_timeloop *loop, const char *name, gab_task_fn run, void *user);

/** Sets a callback for runs that end by a failure, e.g. to write a diverged field. It is called on all live ranks
 *  with the last state. The world is repaired, unless the repair failed. With ::GAB_ERR_LOST the forest is
 *  incomplete. An error of the callback is only logged. */
gab_status gab_timeloop_on_failure(gab_timeloop *loop,
                                   gab_status (*call)(void *user, gab_step step, gab_status why), void *user);

/** For such a callback: restores the last checkpoint in memory for inspection; the run does not resume.
 *  Monitors have checked that state. Collective. @param[out] step its step; -1: there is none, and the state is
 *  unchanged
 *  @return as gab_checkpoint_restore() */
GAB_EXTENDER gab_status gab_timeloop_go_back(gab_timeloop *loop, gab_step *step);

/** Takes a checkpoint before an end for which all ranks have the same reason, such as a disk that failed for too
 *  long. With snapshots in node memory (gab_protection.node_memory) another job resumes from there and repeats the
 *  post-step actions of this step. Else, and with strategy `local`, does nothing. Collective. @return as a checkpoint */
GAB_EXTENDER gab_status gab_timeloop_keep(gab_timeloop *loop);

/** Registers state that is rolled back with the blocks. */
gab_status gab_timeloop_add_entity(gab_timeloop *loop, const gab_entity *entity);

/** Strategy `local`: whether recomputed messages of a restored rank are compared with the ones that others had
 *  received. */
typedef enum gab_verify { GAB_VERIFY_IN_DEBUG_BUILDS, GAB_VERIFY_ALWAYS, GAB_VERIFY_NEVER } gab_verify;

/** Whether copies of a checkpoint travel during the next steps, so that it stops the run for the own image only. */
typedef enum gab_overlap_mode {
  GAB_OVERLAP_NEVER = 0, /**< wait for the copies */
  GAB_OVERLAP_ALWAYS,
  GAB_OVERLAP_AUTO /**< the cheaper mode as measured, from the wait and the slowdown of
                        steps. Both are tried at first, and again at intervals */
} gab_overlap_mode;

/** How a run is protected. Zero-initialise; every zero has a meaning. */
typedef struct gab_protection {
  gab_interval every;          /**< between checkpoints; 0 steps: only one at the start */
  gab_overlap_mode overlap;    /**< parities of coded schemes are always waited for */
  gab_compression compression; /**< of copies */
  gab_within_node within_node; /**< transfer of copies to processes of the same node */
  int buffers; /**< number of snapshots in memory. 1: no overlap, and no valid snapshot while one is taken; 0: 1 if
                     no process stores data of another and nothing else needs two, else 2. User-defined monitors that do
                     not check at rest are not considered: set 2 to keep an older image for them */
  gab_step scrub;            /**< steps between two verifications of all images in memory; 0: never */
  gab_redundancy redundancy; /**< redundancy of images */
  const gab_strategy *strategies[GAB_MOST_STRATEGIES]; /**< tried in this order; all NULL: shrink */
  gab_rebalance_fn rebalance; /**< after a loss; NULL: blocks stay on their adopters */
  void *rebalance_user;
  const char *folder; /**< for events.jsonl and progress.json; NULL: none */
  gab_run_lock *lock; /**< lock of that folder, borrowed; the run ends if it is lost; NULL: none */
  /** wait, in seconds, of a part that has lost half of the processes or more before it continues alone (fence.h); 0:
   *  5, or the value of gabion-launch --cut-after if larger */
  double fence_wait;
  double deadline; /**< latest end of the run, in seconds since 1970 (stop.h); 0: none */
  /** strategy `local`: limit of the message log of a process, in units of the largest image of a rank, if steps log
   *  alike; 0: none. Costs a reduction before each checkpoint */
  double log_limit;
  gab_verify verify; /**< strategy `local` */
  /** strategy `local`: maximum wait of a checkpoint for its commit, as a share of the time since the last one; 0: 1
   *  %, negative: no wait */
  double commit_wait;
  /** strategy `local`: children of a rank in the tree of acknowledgements of commits; 0: 8 */
  gab_rank commit_children;
  /** strategy `local`: clusters of ranks that roll back together: "rank" (NULL), "node", a number of clusters, or the
   *  path of a file, as resilience.local.clusters; read during the call */
  const char *local_clusters;
  /** strategy `local`: interval, in steps, of checkpoints of single clusters between those of `every`, with their
   *  logs in the images; below `every`, not with log_limit and mailboxes; 0: none */
  gab_step own_every;
  int tries;             /**< limit of recoveries from deaths without progress; 0: 10 */
  gab_disk_options disk; /**< folder NULL: no checkpoints on disk */
  /** interval of checkpoints on disk; 0 steps: only after a stop request. The last state is written too */
  gab_interval disk_every;
  /** Folder of snapshots in node memory, in a subfolder named after the node, from which another job can resume
   *  (node_restart.h); e.g. /dev/shm/NAME, not shared with other runs. NULL: in the memory of the processes. */
  const char *node_memory;
  const gab_fault_injection *injections;
  size_t injection_count;
} gab_protection;

/** Turns the protection on: the one line that gives an application resilience. Collective (opens a port;
 *  reports an unwritable events file to all). Copies the structure, but borrows strategies, scheme and
 *  rebalance_user.
 *  @return ::GAB_ERR_STATE if it is on already or the loop runs; ::GAB_ERR_INPUT for strategy `reconstruct`
 *  with data that cannot be approximated; errors of schemes, fault injections and the folder */
gab_status gab_timeloop_protect(gab_timeloop *loop, const gab_protection *protection);

/** Resumes the run from the newest complete checkpoint of `restart` instead of the state of the forest:
 *  gab_timeloop_run() loads it, distributes the blocks by the rebalancing callback, and resumes from its step. Events
 *  are appended to their file. Before gab_timeloop_protect(). Local. @param[in] restart owned by the loop, also after
 *  an error
 *  @return ::GAB_ERR_STATE if the loop is protected already */
gab_status gab_timeloop_continue(gab_timeloop *loop, gab_restart *restart);

/** Sets a callback for recoveries from deaths, called on all live ranks after each. */
typedef void (*gab_fault_fn)(void *user, const gab_fault *fault);
void gab_timeloop_on_fault(gab_timeloop *loop, gab_fault_fn call, void *user);

/** Sets a callback for applications that derive data from the state by messages after a change of the forest (e.g.
 *  ghosts that are not packed) and keep them over many steps. Under strategy `local`, a rank that rolls back alone
 *  would derive them alone, without answers of others. So `call` must drop such data, and the next step derives them
 *  again. It is called after each checkpoint of local recovery, on all at the same step, and on a rank that was
 *  restored from one; never without local recovery, where all ranks roll back together. One per loop. Local. */
typedef void (*gab_checkpoint_fn)(void *user, gab_step step);
void gab_timeloop_on_checkpoint(gab_timeloop *loop, gab_checkpoint_fn call, void *user);

/** Sets the cell updates of one step over all ranks, for the rates in progress line and summary; 0: all cells of all
 *  blocks at the start. Call it again after a change of the grid; equal on all ranks. */
void gab_timeloop_set_updates(gab_timeloop *loop, uint64_t cell_updates_per_step);

/** Runs to the last step, with rounding to nearest and denormal numbers enabled (core/system/float_modes.h).
 *  Collective; once for each loop.
 *  @return GAB_OK on all; or the final status of the run, equal on all: ::GAB_ERR_STATE for a loop that has run
 *  already, has steps but no task, or whose forest has no blocks after loading */
gab_status gab_timeloop_run(gab_timeloop *loop);

/** Steps done so far. */
gab_step gab_timeloop_step(const gab_timeloop *loop);
gab_step gab_timeloop_steps(const gab_timeloop *loop);
gab_forest *gab_timeloop_forest(const gab_timeloop *loop);

/** One timer per task, post-step action and finish under its name, and "checkpoint" and "recovery". An application
 *  may add timers, the same on all ranks; the summary lists them. Timers are not rolled back. */
GAB_EXTENDER gab_timers *gab_timeloop_timers(gab_timeloop *loop);

enum { GAB_MOST_LOST_RECORDS = 8 }; /**< ranks that are remembered of a fault */

/** A fault as it is remembered; `lost` are the first few of lost_count. */
typedef struct gab_fault_record {
  gab_fault fault; /**< its pointer `lost` is NULL here */
  gab_rank lost[GAB_MOST_LOST_RECORDS];
} gab_fault_record;

/** Counts of local recovery on this rank. */
typedef struct gab_local_totals {
  uint64_t steps_again;  /**< steps that this process computed a second time, whatever the strategy */
  uint64_t faults;       /**< ranks that came back alone */
  uint64_t meetings;     /**< agreements and repairs while it was on: 0 */
  uint64_t replayed;     /**< replayed messages */
  uint64_t left_out;     /**< suppressed sends: the receiver had the message already */
  uint64_t compared;     /**< such messages of other ranks, compared here with those received first */
  uint64_t jumps;        /**< number of resumptions of a returned rank from a later checkpoint */
  uint64_t rollbacks;    /**< times that a rank went back since another one of its cluster had died */
  uint64_t undone;       /**< steps that they had computed, and computed again: not counted in steps_again */
  uint64_t logged_bytes; /**< of messages to other clusters */
  uint64_t own_checkpoints;   /**< that a cluster took alone */
  uint64_t restored_messages; /**< logged ones that came back with an image */
  uint64_t logged, copied;    /**< messages logged by transfer of the buffer, and by copying */
  size_t msglog_peak;         /**< bytes of logged messages at most */
  size_t largest_copied;      /**< bytes of the largest message that was copied: large ones change hands */
} gab_local_totals;

/** Statistics of the run so far, as seen by this rank. */
typedef struct gab_run_stats {
  double seconds;                    /**< in gab_timeloop_run(), without those of the next line */
  double reserve_seconds;            /**< allocation of checkpoint memory before the first step */
  double step_seconds;               /**< thereof in tasks */
  double action_seconds;             /**< thereof in post-step actions */
  uint64_t steps_computed;           /**< including rolled-back steps */
  uint64_t temporally_blocked_steps; /**< thereof several at once: gab_timeloop_add_temporal_block() */
  uint64_t updates_per_step;         /**< cell updates of one step over all ranks, at present */
  double updates_computed;           /**< in all steps_computed */
  int fault_count;                   /**< recoveries from deaths */
  int lost_ranks;                    /**< in all of them */
  const gab_fault_record *faults;    /**< the first fault_record_count of them; borrowed */
  int fault_record_count;
  double recovery_seconds;
  gab_approximated approximated; /**< approximated parts of the state */
  int suspicions;                /**< rollbacks of all ranks because of a monitor */
  gab_step rolled_back;          /**< steps computed in vain */
  gab_checkpoint_stats checkpoint;
  gab_disk_stats disk;
  gab_local_totals local;
  double disk_mtbf;     /**< as given for the level on disk; 0: not */
  double disk_interval; /**< seconds between the last two checkpoints on disk; 0: there were no two */
  gab_step first_step;  /**< at which this job began: 0 unless it continues another one */
} gab_run_stats;
gab_run_stats gab_timeloop_get_stats(const gab_timeloop *loop);

#ifdef __cplusplus
}
#endif
#endif
