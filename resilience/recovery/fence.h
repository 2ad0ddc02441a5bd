/* SPDX-License-Identifier: Apache-2.0 */
/** @file fence.h
 *  @brief Fencing tokens: of parts of a run that take each other for dead, one continues.
 *
 *  Tokens are the files FOLDER/fencing/1, 2, …, made by link(), which is atomic on shared file systems too. A token names
 *  the processes of the part that made it. A run takes one when it begins, one in every recovery from a death (after the
 *  repair and before entities are restored, which may change files), and one when it has agreed that it is over.
 *
 *  A part continues only if it holds the next token. A process that is cut off, or cannot reach the folder, ends by an
 *  uncatchable signal: it closes no file, and node memory stays as it is. A part that has lost half of the processes of
 *  its last token, or more, waits before it asks; one that cannot restore waits twice as long. With announced cuts
 *  (core/world/quarantine.h) and none since that token, nobody waits.
 *
 *  Protocol and invariants: doc/recovery.md, "Fencing tokens".
 *
 *  Tier: extender header.
 */
#ifndef GABION_RESILIENCE_FENCE_H
#define GABION_RESILIENCE_FENCE_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_fence gab_fence;

/** Begins with the next token of a folder, which must be this run's (gab_run_lock_take()). Collective.
 *  @param[in] folder  of the run's output; exists
 *  @param[in] patience  seconds that a part which has lost half or more waits; 0: never
 *  @param[out] fence  owned by the caller
 *  @return ::GAB_ERR_IO on all with the reason */
gab_status gab_fence_begin(gab_world *world, const char *folder, double patience, gab_fence **fence);

/** Whether this part is the one that goes on, in a world that was just repaired. Collective over its members. Does not
 *  return where another part is.
 *  @param[in] can_go_on  false: only to say for all that the run has ended; the same on all
 *  @return GAB_OK with the next token; ::GAB_ERR_FAULT: somebody died meanwhile, repair and ask again */
gab_status gab_fence_claim(gab_fence *fence, bool can_go_on);

/** Of a part in which nobody holds a checkpoint that it took itself and nobody ran a rank from the start, as of
 *  spares that were cut off: those who do may live beyond the cut and miss nobody, so that a token would end them. Ends the process if a cut
 *  was announced since the last token, or the folder is out of reach. Local. NULL: nothing. */
void gab_fence_leave_to_active(const gab_fence *fence);

/** The last token of a run that is over, as all have just agreed: none of it goes on behind that, such as a part which was
 *  cut off in that moment and has not heard of it. Collective. Does not return where another part has gone on.
 *  @param[in] fence  NULL: nothing
 *  @return GAB_OK: it is over; ::GAB_ERR_FAULT: somebody died before that was said, repair and go on */
gab_status gab_fence_close(gab_fence *fence);

/** Ends the process if another part has gone on: before a file gets its name, a row is appended. Local: one look at
 *  the folder. NULL: nothing. */
void gab_fence_check(const gab_fence *fence);

/** Releases the memory; files stay. Nulls the handle. */
void gab_fence_release(gab_fence **fence);

#ifdef __cplusplus
}
#endif
#endif
