/* SPDX-License-Identifier: Apache-2.0 */
/** @file recovery.h
 *  @brief Recovery strategies: treatment of lost ranks and return of the state after a fault.
 *
 *  - `shrink`: repair without the dead; all roll back, donors adopt the blocks of the dead (Kohl et al. 2017, algorithms 3
 *    and 4);
 *  - `spare`: spare processes run the lost ranks in the next incarnation; donors send the images; all roll back; same blocks;
 *  - `respawn`: as `spare`, with processes started by MPI_Comm_spawn where no spare is left; three tries per repair;
 *  - `reconstruct`: as `shrink`; blocks without any copy are approximated (gab_checkpoint_reconstruct()), which is reported;
 *  - `disk`: all survivors restore the newest complete checkpoint on disk (resilience/disk/restart.h);
 *  - `local` (Gamell et al. 2015): a spare runs the lost rank and rolls back alone; its neighbours replay their messages; no
 *    repair.
 *
 *  A strategy is a table: treatment of the processes (replacement), return of the state (restore), and what it must store
 *  for that. All other phases of a recovery are the same for all strategies; resilience/loop/recover.c names them in order.
 *  Strategies are tried in the order of the parameter file; a fault that one cannot handle is left to the next.
 *  gab_strategies_check() refuses an order in which one can never be reached. An application may register its own.
 *
 *  A further death during a recovery starts it again from the repair. The restored snapshot stays readable until the next
 *  one is committed. Phases in detail: doc/recovery.md; behaviour of Open MPI: doc/ulfm.md.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_RECOVERY_H
#define GABION_RESILIENCE_RECOVERY_H

#include "resilience/checkpoint/checkpoint.h"
#include "resilience/disk/disk.h"
#include "resilience/reports/events.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rebalances the blocks; collective. @return ::GAB_ERR_FAULT after a fault */
typedef gab_status (*gab_rebalance_fn)(void *user, gab_forest *forest);

/** A fault and the cost of its recovery. */
typedef struct gab_fault {
  gab_step noticed_step;       /**< step of this rank when it noticed the fault */
  gab_step restored_step;      /**< step of the restored state */
  int32_t lost_count;          /**< ranks that died */
  const gab_rank *lost;        /**< ascending; borrowed, valid during the callback */
  const char *strategy;        /**< name of the successful strategy; borrowed from its table */
  bool is_local;               /**< only the lost ranks rolled back (gab_strategy.local) */
  int32_t returned;            /**< number of lost ranks that returned, run by other processes */
  gab_incarnation incarnation; /**< highest incarnation among these; 0: none returned */
  int32_t respawned;           /**< number of these run by respawned processes */
  uint64_t adopted;            /**< blocks that this rank adopted */
  uint64_t approximated;       /**< blocks of all ranks that strategy `reconstruct` approximated */
  bool from_disk;              /**< memory was insufficient */
  bool suspect;                /**< alarm of a monitor, whose message is the present error message */
  int rounds;                  /**< number of repairs; more than 1 after deaths during the recovery */
  double seconds;              /**< from noticing to resuming */
  double revoke, shrink, agree, restore, reprotect, rebalance; /**< parts of the last round, in seconds */
} gab_fault;

/** Approximated part of a state; belongs to the state. */
typedef struct gab_approximated {
  uint64_t blocks; /**< of all ranks, in all recoveries that led to it; 0: nothing, the state is exact */
  gab_step since;  /**< step of the first of them, if any */
} gab_approximated;

/** Local recovery of a time loop: its table (resilience/loop/local_recovery_impl.h) and its run; internal. */
typedef struct gab_local_recovery gab_local_recovery;
typedef struct gab_local_run gab_local_run;

/** Context of a strategy. All borrowed. */
typedef struct gab_recovery {
  gab_world *world;
  gab_forest *forest;
  gab_checkpoint *checkpoint;
  gab_events *events;
  gab_disk *disk;                 /**< NULL: no checkpoints on disk */
  gab_approximated *approximated; /**< count of approximated blocks; NULL: not counted */
  gab_local_run *local;           /**< NULL: no local recovery */
} gab_recovery;

/** A recovery strategy. */
typedef struct gab_strategy {
  const char *name;
  const char *doc;
  /** Restores the state in a world that was just repaired; sets fault->restored_step and restore, adds to adopted. The
   *  recovery then takes a checkpoint of this state and rebalances. Collective.
   *  @return GAB_OK; ::GAB_ERR_FAULT: a process died meanwhile, the recovery starts again; ::GAB_ERR_LOST: this strategy
   *  cannot restore the state, the next one may */
  gab_status (*restore)(const gab_recovery *recovery, gab_fault *fault);
  gab_replacement
      replacement; /**< treatment of the ranks of dead processes in repairs while this strategy is in the list */
  bool
      approximates; /**< needs metadata images of all ranks to be stored (gab_checkpoint_keep_metadata_images()) */
  const gab_local_recovery *
      local; /**< table of a strategy that restores single ranks without a repair; `restore` only confirms that
                                        all may continue, without a checkpoint or rebalancing. NULL: all ranks roll back */
  bool needs_disk; /**< restores from disk: by default only with checkpoints on disk */
} gab_strategy;

/** Only lost ranks roll back, while there are spares (doc/local-recovery.md). Must be the first of a list. */
extern const gab_strategy gab_strategy_local;
/** Keeps the full size while there are spares. */
extern const gab_strategy gab_strategy_spare;
/** Keeps the full size while processes can be started. Alone in a list, before strategies that leave ranks vacant,
 *  or after `spare`, for ranks without a spare. */
extern const gab_strategy gab_strategy_respawn;
extern const gab_strategy gab_strategy_shrink;
/** As shrink, but blocks without any image are approximated. Needs metadata images (gab_checkpoint_keep_metadata_images()). */
extern const gab_strategy gab_strategy_reconstruct;
/** All ranks restore the newest complete checkpoint on disk, in the same job; then as shrink. */
extern const gab_strategy gab_strategy_disk;

/** Registers a user-defined strategy, which can then be chosen by name. Before the configuration is read, the same on all
 * processes. @param[in] strategy borrowed until the process ends @return ::GAB_ERR_ARGUMENT if the name is taken, restore
 * is missing or the table is full */
gab_status gab_strategy_register(const gab_strategy *strategy);
/** @return NULL with an error message that lists the names */
const gab_strategy *gab_strategy_by_name(const char *name);
/** @return strategy number `index`, NULL after the last */
const gab_strategy *gab_strategy_at(int index);

enum { GAB_MOST_STRATEGIES = 8 };

#ifdef __cplusplus
}
#endif
#endif
