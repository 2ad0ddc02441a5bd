/* SPDX-License-Identifier: Apache-2.0 */
/** @file local_recovery_impl.h
 *  @brief Recovery of single ranks as the time loop sees it: the table of a strategy that rolls back only the lost ranks.
 *
 *  gab_strategy.local points to such a table; NULL: all ranks roll back together. The time loop, its recovery and its reports
 *  reach local recovery through this table only, by gab_loop_local(), which is NULL unless create() has made a run.
 *
 *  State of a process between two steps:
 *
 *    off       messages are not logged; all ranks recover from a fault
 *    on        messages are logged; only the rank of a dead process rolls back
 *    section   messages are not logged, but the logs of the generation are kept; all ranks recover from a fault
 *
 *    off     -> on       begin(), with a checkpoint
 *    on      -> section  enter()
 *    section -> on       checkpoint(), with a checkpoint
 *    any     -> off      after_repair()
 *    (spare) -> on       in gab_world_rest(), when it has taken the rank of a dead process
 *
 *  Invariants. (1) All active ranks are in the same state when they take a step. (2) Post-step actions, checkpoints on disk and
 *  the end of a run execute in state `off' or `section'. (3) A function that returns ::GAB_ERR_FAULT leaves the state to
 *  go_back() or to a repair.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_LOCAL_RECOVERY_IMPL_H
#define GABION_RESILIENCE_LOCAL_RECOVERY_IMPL_H

#include "resilience/recovery/recovery.h"

struct gab_protection;
struct gab_timeloop;

struct gab_local_recovery {
  /* Refuses options that exclude local recovery. Pure. @return ::GAB_ERR_INPUT */
  gab_status (*check)(const struct gab_protection *options);
  /* Creates the run of a loop that has not started. Collective. @param[out] run  owned by the caller; NULL after a failure */
  gab_status (*create)(struct gab_timeloop *loop, const struct gab_protection *options, gab_local_run **run);
  /* Releases it; NULL is allowed. Local. */
  void (*destroy)(gab_local_run **run);
  /* Before a step. State off -> on; otherwise, or if the run has to continue without local recovery, it does nothing. All ranks
   * are at the same step, in an intact world. Collective in state `off'. */
  gab_status (*begin)(struct gab_timeloop *loop);
  /* Before work that involves all ranks. State on -> section; otherwise it does nothing. Collective. @return
   * ::GAB_ERR_FAULT if a rank was restored since begin(): all ranks recover and resume from the same step */
  gab_status (*enter)(struct gab_timeloop *loop);
  /* After a step, instead of gab_protection_checkpoint() and gab_protection_stop(): due checkpoints and stop
   * requests. State section -> on. @param[out] done false: the state is `off', and the loop must call these two */
  gab_status (*checkpoint)(struct gab_timeloop *loop, bool *done);
  /* Between tasks: serves messages of other ranks. Local. */
  gab_status (*help)(struct gab_timeloop *loop);
  /* Whether the state is `on'. Local. */
  bool (*is_on)(const struct gab_timeloop *loop);
  /* After ::GAB_ERR_FAULT: restores the checkpoint from which only this rank (or its cluster) resumes. Local.
   * @param[out] alone true: done; false: all ranks must recover */
  gab_status (*go_back)(struct gab_timeloop *loop, bool *alone);
  /* Before a repair of all ranks: updates the claim of a process that took a rank. Local. @return true if all ranks are
   * gathering for a section, so that the repair does not follow from a new fault */
  bool (*before_repair)(struct gab_timeloop *loop);
  /* After a repair: images become snapshots, and takeovers become fault records. State any -> off. Local.
   * @param[in,out] before members before the fault */
  gab_status (*after_repair)(struct gab_timeloop *loop, gab_members *before);
  /* Number of takeovers that no repair has counted yet, as known to this rank; complete on the root. Local. */
  int (*faults)(const struct gab_timeloop *loop);
};

#endif
