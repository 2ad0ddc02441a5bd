/** @file fence.h
 *  @brief Of parts of a run that take each other for dead, one goes on: fencing tokens.
 *
 *  A node that is cut off from the others sees what they see: silence. Each part repairs its world, may hold copies of
 *  all blocks, and could go on, both into the same output folder. So nobody goes on, and nobody says that the run has
 *  ended, without the next token.
 *
 *  Tokens are the files FOLDER/fencing/1, 2, …: made whole by link(), which is atomic on shared file systems too, so
 *  that of several that want a number one gets it. A token names the seats of the part that made it. A run takes one
 *  when it begins, and one in every recovery from a death, once its world is repaired and before anything is written:
 *  restoring entities cuts series back in their files.
 *
 *  The protocol, for a part P of a run (all that were in its world when the repair ended), whose members know number k
 *  of the last token that they hold:
 *  1. The members learn the largest k that one of them knows.
 *  2. The member with the lowest seat looks at number k + 1. Not there: makes it, naming P. There, and its own seat
 *     among those named: it is of a recovery that a further death broke off; goes on with k + 2. Otherwise the part is
 *     cut off. Behind a number that it could make must be none that does not name it.
 *  3. All learn what came out, and agree that they did. Where that fails, another repair, another round.
 *  A run that has agreed that it is over takes one more, by its root, that names nobody.
 *
 *  Invariants. (1) Two parts that know the same k compete for the same number: tokens between that name the seats of
 *  both were made before they parted. (2) A part goes on only when all that its token names have agreed behind it; a
 *  process that two parts believe to have takes part in one repair at a time, so agrees in one of them only. (3) A seat
 *  is never used again, so that nobody is named by chance. (4) The newest token stays, also when the run has ended.
 *
 *  A part that has lost half of those named by its last token, or more, waits before it asks, so that the larger part is
 *  first; one that cannot restore waits twice as long. Where cuts are announced (core/world/quarantine.h) and none was since that token,
 *  the others are dead, and nobody waits. Its members hear of each other meanwhile, and what dies breaks the
 *  wait off. Who is cut off, or cannot reach the folder, ends by a signal that
 *  nobody can catch: no file is closed, no buffer flushed, nothing finalised; node memory stays as it is.
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

/** Of a part in which nobody holds a checkpoint that it took itself and nobody played a slot from the start, as of spares that
 *  were cut off: those who do may live beyond the cut and miss nobody, so that a token would end them. Ends the process if a cut
 *  was announced since the last token, or the folder is out of reach. Local. NULL: nothing. */
void gab_fence_leave_to_players(const gab_fence *fence);

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
