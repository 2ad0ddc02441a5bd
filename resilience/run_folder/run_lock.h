/* SPDX-License-Identifier: Apache-2.0 */
/** @file run_lock.h
 *  @brief Lock of an output folder: one run at a time.
 *
 *  A run that writes into a folder holds FOLDER/run.lock: a line of JSON with the run's id, host, process and start, made by
 *  link(), which is atomic on shared file systems too. A second run is refused as long as the first one lives.
 *
 *  On the owner's machine (same boot, same process numbers) its root process, and the launcher or mpirun that started it,
 *  show whether it lives. From another machine its heartbeat does: a thread of the root touches the file every five
 *  seconds, and its age is measured by the clock of the file system; after a minute without, the owner is dead. A run that
 *  cannot decide waits until it can.
 *
 *  The lock of a dead owner is taken over: it is first moved away and checked again, so that one of several contenders gets
 *  it. A run that the launcher restarts has the id of the attempt before (GABION_LAUNCH_ID) and takes its lock at once. So
 *  does the run of a launcher that resumes from the node memory of a killed one (GABION_SUCCEEDS: the id of that one),
 *  since it has verified on the nodes that no process of it lives. When the root dies and the run recovers, the next root
 *  continues the lock. An owner that finds its lock taken (it was stopped for more than a minute, say) ends.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_RUN_LOCK_H
#define GABION_RESILIENCE_RUN_LOCK_H

#include "core/world/world.h"
#include "resilience/recovery/fence.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the file in the output folder. */
#define GAB_RUN_LOCK_FILE "run.lock"

typedef struct gab_run_lock gab_run_lock;

/** Makes the folder if need be and takes its lock. Collective; takes up to a minute where an owner on another
 * machine has to be watched.
 *  @param[out] lock  owned by the caller, to be released by gab_run_lock_release() on all
 *  @return ::GAB_ERR_INPUT on all with host, process and start of the run that holds it, or if the folder
 * cannot be written */
gab_status gab_run_lock_take(gab_world *world, const char *folder, gab_run_lock **lock);

/** Whether a living run holds the lock of a folder, which is not taken. Local. An owner on another machine lives if it gave a
 *  sign of life within a minute, by the clock of this machine.
 *  @param[out] whose  describes the run; may be NULL @param[in] capacity  of it */
bool gab_run_lock_is_held(const char *folder, char *whose, size_t capacity);

/** What becomes of the file. */
typedef enum gab_run_lock_end {
  GAB_RUN_LOCK_REMOVE, /**< the folder is free, and gone if it was made for this run and is empty */
  GAB_RUN_LOCK_LEAVE   /**< for the next attempt of the same run; for others it is that of a dead run */
} gab_run_lock_end;

/** When nothing is written any more. Local; to be called by all. Nulls the handle. */
void gab_run_lock_release(gab_run_lock **lock, gab_run_lock_end end);

#ifdef __cplusplus
}
#endif
#endif
