/* SPDX-License-Identifier: Apache-2.0 */
/** @file timeloop.h
 *  @brief The time loop: tasks, what is due after a step, and protection against the loss of processes.
 *
 *  @code
 *    gab_timeloop *loop;
 *    GAB_TRY(gab_timeloop_create(forest, 1000, &loop));
 *    GAB_TRY(gab_timeloop_add_task(loop, "diffuse", diffuse, &app));
 *    GAB_TRY(gab_timeloop_protect(loop, &(gab_protection){.every = {.steps = 100}}));
 *    GAB_TRY(gab_timeloop_run(loop));
 *  @endcode
 *
 *  A step is: all tasks in order; the step number grows; the post-step actions that are due; a checkpoint if one is due.
 *  When the world breaks anywhere in this, the loop recovers and goes on from the restored step: tasks and
 *  post-step actions see the same steps again. They need no fault code of their own; what they compute between the fault
 *  and their return is discarded.
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
 *  @param[in] step  that is being computed, from 0: the state is that after `step` steps
 *  @return ::GAB_ERR_FAULT passes through to the recovery; any other failure, even of a single process, ends
 *  the run on all with that status */
typedef gab_status (*gab_task_fn)(void *user, gab_step step);

/** Steps of a loop that only a criterion ends (gab_timeloop_add_end()). */
#define GAB_STEPS_OPEN ((gab_step)INT64_C(9000000000000000))

/** Local. @param[in] forest  borrowed @param[in] steps  to be computed in all, or #GAB_STEPS_OPEN */
gab_status gab_timeloop_create(gab_forest *forest, gab_step steps, gab_timeloop **loop);
void gab_timeloop_destroy(gab_timeloop **loop);

/** Adds a task of every step. Local; the same in the same order on all ranks, like everything below.
 *  @return ::GAB_ERR_STATE, as of everything that is added, once the loop runs */
gab_status gab_timeloop_add_task(gab_timeloop *loop, const char *name, gab_task_fn run, void *user);

/** Computes several steps at once, without messages; the offered number may differ between ranks.
 *  @param[in] step  the first, as of a task
 *  @param[in] most  steps, two or more, whose intermediate states are not read
 *  @param[out] taken  number of computed steps; 0: nothing was done, and the tasks compute the next step
 *  @return as a task */
typedef gab_status (*gab_temporal_block_fn)(void *user, gab_step step, gab_step most, gab_step *taken);

/** Declares that a temporal block may replace the last `tasks` tasks for several steps: up to the next
 *  post-step action, monitor, checkpoint, stop request or fault injection. Steps are computed one by one
 *  while copies of a checkpoint or parts of a file are sent, with strategy `local`, whose steps are logged,
 *  and if the loop has other tasks. A temporal block ends with the end of its last step. Local; one for a
 *  loop.
 *  @param[in] name  of its timer
 *  @return ::GAB_ERR_STATE for a second one, ::GAB_ERR_ARGUMENT if there are not so many tasks yet */
gab_status gab_timeloop_add_temporal_block(gab_timeloop *loop, const char *name, int tasks,
                                           gab_temporal_block_fn run, void *user);

/** Adds something that is done after the steps for which `due` says so, and before the first step:
 *  reductions, output, checks. `step` is the number of steps done.
 *  @param[in] due  pure, the same on all ranks; NULL: after every step */
gab_status gab_timeloop_add_action(gab_timeloop *loop, const char *name,
                                   bool (*due)(const void *user, gab_step step), gab_task_fn run, void *user);

/** Adds a live monitor: a look at the state after the steps for which `due` says so, before their post-step actions, and also
 *  before a checkpoint is taken and at the end. A check that finds what cannot be returns ::GAB_ERR_SUSPECT with a
 *  message, on any rank. Then all go back to the last checkpoint, as after a death but with nobody lost: a bit that
 *  flipped in memory does not do so again. If a monitor complains again before the run has got past the step of the
 *  last complaint, the run ends with ::GAB_ERR_DIVERGED, as it does in a loop without protection. Errors found late
 *  may be part of the checkpoint already: then this is how it ends.
 *  @param[in] due  pure, the same on all ranks; NULL: after every step
 *  @param[in] check  a local look needs no communication */
gab_status gab_timeloop_add_monitor(gab_timeloop *loop, const char *name,
                                    bool (*due)(const void *user, gab_step step), gab_task_fn check,
                                    void *user);

/** Adds a live monitor of the state at rest: a look ahead of each checkpoint, at the end, and again when the own image of
 *  a checkpoint has been packed, before that counts: what changes by itself between a step and the image does not get
 *  into the state to which all would go back. Else like gab_timeloop_add_monitor().
 *  @param[in] check  without communication */
GAB_EXTENDER gab_status gab_timeloop_add_rest_monitor(gab_timeloop *loop, const char *name, gab_task_fn check,
                                                      void *user);

/** Whether the run ends here, before all steps are done. Pure, and equal on all ranks: a function of replicated state
 *  (::GAB_ENTITY_REPLICATED), of the step and of parameters, so that it needs no communication and gives the same after a
 *  recovery. What depends on blocks, a task reduces and stores in such an entity.
 *  @param[in] step  steps done @param[out] why  "" on entry; for the log and summary.json */
typedef bool (*gab_end_fn)(const void *user, gab_step step, char *why, size_t capacity);

enum { GAB_MOST_ENDS = 8 };

/** Adds a criterion by which the run ends before its last step: steady, a target reached. It is asked after the steps for which
 *  `due` says so, and before the first one; the run then ends as after its last step, with post-step actions, monitors, a
 *  checkpoint on disk and finishes. Where only some ranks want to end, the run does not return.
 *  @param[in] due  pure, the same on all ranks; NULL: after every step
 *  @return ::GAB_ERR_STATE while the loop runs, ::GAB_ERR_ARGUMENT without a function or with #GAB_MOST_ENDS already */
gab_status gab_timeloop_add_end(gab_timeloop *loop, const char *name,
                                bool (*due)(const void *user, gab_step step), gab_end_fn is_met,
                                const void *user);

/** Whether a criterion ends the run at the present step. @param[out] text  "NAME: why", unchanged if not */
bool gab_timeloop_end_reason(const gab_timeloop *loop, char *text, size_t capacity);

/** Adds something that is done once, when all steps are: still protected, so that a death there takes the run
 *  back and lets it come here again. */
gab_status gab_timeloop_add_finish(gab_timeloop *loop, const char *name, gab_task_fn run, void *user);

/** Called on all living ranks when the run ends by a failure, with the state as it was left: to write the
 *  field that diverged. The world is repaired, unless that was what failed. With ::GAB_ERR_LOST the forest is
 *  not whole. Its own failure is only logged. */
gab_status gab_timeloop_on_failure(gab_timeloop *loop,
                                   gab_status (*call)(void *user, gab_step step, gab_status why), void *user);

/** For such a callback: takes the state back to the last checkpoint in memory, to be looked at; nothing goes
 * on from there. The monitors have looked at it before it became one. Collective.
 *  @param[out] step  its step; -1: there is none, and the state stays as it is
 *  @return as gab_checkpoint_restore() */
GAB_EXTENDER gab_status gab_timeloop_go_back(gab_timeloop *loop, gab_step *step);

/** Takes a checkpoint ahead of an end for which all ranks have the same reason, such as a disk that refused for too
 *  long: where snapshots lie in the memory of the nodes (gab_protection.node_memory), another job resumes from there, and does the post-step
 *  actions of this step again. Else, and with strategy `local`, does nothing. Collective. @return as a checkpoint */
GAB_EXTENDER gab_status gab_timeloop_keep(gab_timeloop *loop);

/** Registers state that is rolled back with the blocks, as the step counter of the loop is. */
gab_status gab_timeloop_add_entity(gab_timeloop *loop, const gab_entity *entity);

/** Whether messages that a rank makes again, which came back by strategy `local`, are compared with what others had
 *  received. */
typedef enum gab_verify { GAB_VERIFY_IN_DEBUG_BUILDS, GAB_VERIFY_ALWAYS, GAB_VERIFY_NEVER } gab_verify;

/** Whether the copies of a checkpoint travel behind the next steps, so that it stops the run for the own copy only. */
typedef enum gab_overlap_mode {
  GAB_OVERLAP_NEVER = 0, /**< they are waited for */
  GAB_OVERLAP_ALWAYS,
  GAB_OVERLAP_AUTO /**< what has cost the run less so far: what it stood still for, and what steps took longer meanwhile. Both are
                        tried at first, and again now and then */
} gab_overlap_mode;

/** How a run is protected. Zero-initialise; every zero has a meaning. */
typedef struct gab_protection {
  gab_interval every;          /**< between checkpoints; 0 steps: only one at the start */
  gab_overlap_mode overlap;    /**< parities of coded schemes are waited for all the same */
  gab_compression compression; /**< of copies */
  gab_within_node within_node; /**< how copies come to processes of the same node */
  int buffers; /**< snapshots in memory: 2; 1: nothing overlaps then, since each is a time without any; 0: 1 where no
                     process keeps anything of another and nothing else needs two, else 2. A monitor of a program's own that
                     does not look at rest does not count: to have an older image where it finds something, ask for 2 */
  gab_step scrub;            /**< steps between two verifications of all images in memory; 0: never */
  gab_redundancy redundancy; /**< what is kept of each image beside the own */
  const gab_strategy *strategies[GAB_MOST_STRATEGIES]; /**< tried in this order; all NULL: shrink */
  gab_rebalance_fn rebalance;                          /**< after a loss; NULL: blocks stay where adopted */
  void *rebalance_user;
  const char *folder; /**< for events.jsonl and progress.json; NULL: none */
  gab_run_lock *lock; /**< of that folder, borrowed: a run that has lost it ends; NULL: none */
  double
      fence_wait; /**< seconds that a part of the run which has lost half of its processes or more waits before it
                         goes on alone (fence.h); 0: five, or those of gabion-launch --cut-after if that is more */
  double deadline; /**< seconds since 1970 by which the run has to have stopped (stop.h); 0: none */
  double
      log_limit; /**< of strategy `local`: bytes of logged messages that a process keeps at most, in units of the largest image
                         of a rank, as far as steps log alike; 0: none. Else all ask each other ahead of each checkpoint */
  gab_verify verify; /**< of strategy `local` */
  double
      commit_wait; /**< of strategy `local`: how long a checkpoint waits at most for the word that all have it, as a share of the time
                         since the last one; 0: one per cent, negative: not at all */
  gab_rank
      commit_children; /**< of strategy `local`: of a rank in the tree in which that word comes; 0: eight */
  const char *
      local_clusters; /**< of strategy `local`, which ranks go back together: "rank" (NULL), "node", a number of clusters, or
                         the path of a file, as the parameter resilience.local.clusters; read during the call */
  gab_step
      own_every; /**< of strategy `local`: each cluster takes a checkpoint of its own every so many steps, between those of
                         `every`, with its log in the image; less than `every`, not with log_limit and mailboxes; 0: none */
  int tries; /**< recoveries from deaths, without getting any further, before it gives up; 0: ten */
  gab_disk_options disk; /**< its folder is NULL: no checkpoints on disk */
  gab_interval
      disk_every; /**< between checkpoints on disk; 0 steps: none, but when the run is asked to stop. The
                                last state is written too */
  /** Snapshots lie in a folder of that folder named after the node, from where another job can go on (node_restart.h);
   *  e.g. /dev/shm/NAME, not to be shared with other runs; NULL: in the memory of the processes. */
  const char *node_memory;
  const gab_fault_injection *injections;
  size_t injection_count;
} gab_protection;

/** Turns the protection on: the one line that gives an application resilience. Collective (opens a port, and
 *  tells all if the root cannot write its events). Copies everything but what the pointers in strategies,
 *  scheme and rebalance_user point to.
 *  @return ::GAB_ERR_STATE if it is on already, or the loop runs; ::GAB_ERR_INPUT if one of the strategies is
 * `reconstruct` and there is data that cannot be approximated; errors of schemes, fault injections and the folder */
gab_status gab_timeloop_protect(gab_timeloop *loop, const gab_protection *protection);

/** Lets the run begin with the newest whole checkpoint of those found, instead of the state that the forest
 *  has: gab_timeloop_run() loads it, shares the blocks out by the rebalancing callback, and goes on from its
 *  step. Events go on in their file. Before gab_timeloop_protect(). Local.
 *  @param[in] restart  owned by the loop from now on, whatever the outcome
 *  @return ::GAB_ERR_STATE if the loop is protected already */
gab_status gab_timeloop_continue(gab_timeloop *loop, gab_restart *restart);

/** Sets a callback for recoveries from deaths, called on all living ranks after each. */
typedef void (*gab_fault_fn)(void *user, const gab_fault *fault);
void gab_timeloop_on_fault(gab_timeloop *loop, gab_fault_fn call, void *user);

/** For applications that make data from the state by messages when the forest has changed (ghosts that are not packed,
 *  say), and keep them over many steps. Under strategy `local` a rank that goes back alone does so by itself, and nobody
 *  answers, unless all did the same behind the checkpoint from which it goes on: so `call` is to forget such data, and the
 *  next step makes them anew. Called behind each checkpoint of local recovery, on all at the same step, and where a rank
 *  has gone back to one; never without local recovery, where all go back together. One for a loop. Local. */
typedef void (*gab_checkpoint_fn)(void *user, gab_step step);
void gab_timeloop_on_checkpoint(gab_timeloop *loop, gab_checkpoint_fn call, void *user);

/** Cell updates of one step over all ranks, for the rates in the progress line and the summary; 0: all cells
 *  of all blocks when the run begins. To be called again when the grid has changed, equal on all ranks. */
void gab_timeloop_set_updates(gab_timeloop *loop, uint64_t cell_updates_per_step);

/** Runs to the last step, with rounding to nearest and denormal numbers as they are (core/system/float_modes.h). Collective;
 *  once for each loop.
 *  @return GAB_OK on all; or the status that ended the run, on all the same: ::GAB_ERR_STATE for a loop that
 * has run already, has steps but no task, or whose forest has no blocks once what it continues is loaded */
gab_status gab_timeloop_run(gab_timeloop *loop);

/** Steps done so far. */
gab_step gab_timeloop_step(const gab_timeloop *loop);
gab_step gab_timeloop_steps(const gab_timeloop *loop);
gab_forest *gab_timeloop_forest(const gab_timeloop *loop);

/** One timer per task, post-step action and finish under its name, and "checkpoint" and "recovery"; an application may
 * add its own, the same ones on all ranks, and finds them in the summary. Not rolled back: spent is spent. */
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
  uint64_t jumps;        /**< times that a rank which had come back went on from a later checkpoint */
  uint64_t rollbacks;    /**< times that a rank went back since another one of its cluster had died */
  uint64_t undone;       /**< steps that they had computed, and computed again: not counted in steps_again */
  uint64_t logged_bytes; /**< of messages to other clusters */
  uint64_t own_checkpoints;   /**< that a cluster took alone */
  uint64_t restored_messages; /**< logged ones that came back with an image */
  uint64_t logged, copied;    /**< messages logged by transfer of the buffer, and by copying */
  size_t msglog_peak;         /**< bytes of logged messages at most */
  size_t largest_copied;      /**< bytes of the largest message that was copied: large ones change hands */
} gab_local_totals;

/** What happened so far, as this rank saw it. */
typedef struct gab_run_stats {
  double seconds;                    /**< in gab_timeloop_run(), without those of the next line */
  double reserve_seconds;            /**< allocation of checkpoint memory before the first step */
  double step_seconds;               /**< thereof in tasks */
  double action_seconds;             /**< thereof in post-step actions */
  uint64_t steps_computed;           /**< including those that were rolled back */
  uint64_t temporally_blocked_steps; /**< thereof several at once: gab_timeloop_add_temporal_block() */
  uint64_t updates_per_step;         /**< cell updates of one step over all ranks, at present */
  double updates_computed;           /**< in all steps_computed */
  int fault_count;                   /**< recoveries from deaths */
  int lost_ranks;                    /**< in all of them */
  const gab_fault_record *faults;    /**< the first fault_record_count of them; borrowed */
  int fault_record_count;
  double recovery_seconds;
  gab_approximated approximated; /**< what of the state is an approximation */
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
