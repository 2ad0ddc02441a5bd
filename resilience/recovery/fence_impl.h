/* SPDX-License-Identifier: Apache-2.0 */
/* What fence.c (a part as a whole) and fence_token.c (the files) share. Internal. */
#ifndef GABION_RESILIENCE_FENCE_IMPL_H
#define GABION_RESILIENCE_FENCE_IMPL_H

#include "resilience/recovery/fence.h"
#include "core/world/members.h"
#include "core/world/world.h"

enum { GAB_FENCE_PATH = 1200 };

/* Who asks, for which part. */
typedef struct gab_claimant {
  const char *folder; /* of the tokens */
  uint64_t job;       /* made by chance: processes are numbered anew in every job */
  gab_process process;
  const gab_members *processes; /* that live in the world of the part */
  int32_t members;              /* those of them that run a rank */
  gab_epoch epoch;
  double patience;
  gab_world *world; /* that hears of this process while it waits; NULL: none */
} gab_claimant;

typedef enum gab_verdict { GAB_VERDICT_OURS, GAB_VERDICT_THEIRS, GAB_VERDICT_NO_FOLDER } gab_verdict;

/* Step 2 of the protocol in fence.h. Local; waits as long as the part is to wait.
 * @param[in,out] token  the last that the part is known to hold; with GAB_VERDICT_OURS the new one
 * @param[out] what  GAB_VERDICT_OURS or GAB_VERDICT_THEIRS
 * @return GAB_ERR_IO, GAB_ERR_INPUT if the folder or a token cannot be read or written; GAB_ERR_FAULT if the world broke
 * while it waited */
gab_status gab_token_ask(const gab_claimant *claimant, uint64_t *token, bool can_go_on, gab_verdict *what);
/* Whether another part has the token behind `token`. What cannot be read is nobody's. */
bool gab_token_is_theirs(const gab_claimant *claimant, uint64_t token);
/* Whether that token is there, and the run is over with it: it names nobody. */
bool gab_token_is_last(const gab_claimant *claimant, uint64_t number);
/* The first token of a job, behind all that are there, which are then removed. */
gab_status gab_token_begin(const gab_claimant *claimant, uint64_t *token);

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

#endif
