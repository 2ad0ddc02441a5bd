/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of fence.c (collective part) and fence_token.c (files). */
#ifndef GABION_RESILIENCE_FENCE_IMPL_H
#define GABION_RESILIENCE_FENCE_IMPL_H

#include "resilience/recovery/fence.h"
#include "core/world/members.h"
#include "core/world/world.h"

enum { GAB_FENCE_PATH = 1200 };

/* A process that claims a token, and the part of the run that it represents. */
typedef struct gab_claimant {
  const char *folder; /* of the tokens */
  uint64_t job;       /* random, since each job numbers its processes from 0 */
  gab_process process;
  const gab_members *processes; /* alive in the world of the part */
  int32_t members;              /* number of active processes among them */
  gab_epoch epoch;
  double patience;
  gab_world *world; /* receives signs of life while this process waits; NULL: none */
} gab_claimant;

typedef enum gab_verdict { GAB_VERDICT_OURS, GAB_VERDICT_THEIRS, GAB_VERDICT_NO_FOLDER } gab_verdict;

/* Step 2 of the protocol in fence.h. Local; includes the wait of the part. @param[in,out] token in: the last known
 * token of the part; out: the new one with GAB_VERDICT_OURS @param[out] what GAB_VERDICT_OURS or
 * GAB_VERDICT_THEIRS
 * @return GAB_ERR_IO, GAB_ERR_INPUT if the folder or a token cannot be read or written; GAB_ERR_FAULT after a
 * fault during the wait */
gab_status gab_token_ask(const gab_claimant *claimant, uint64_t *token, bool can_go_on, gab_verdict *what);
/* Whether another part has the token after `token`. An unreadable token belongs to no part. */
bool gab_token_is_theirs(const gab_claimant *claimant, uint64_t token);
/* Whether that token exists and ends the run, i.e. names no part. */
bool gab_token_is_last(const gab_claimant *claimant, uint64_t number);
/* Creates the first token of a job, numbered after all existing ones, which are then removed. */
gab_status gab_token_begin(const gab_claimant *claimant, uint64_t *token);

/** Creates the next token of a folder, whose lock this run must hold (gab_run_lock_take()). Collective.
 *  @param[in] folder  of the run's output; exists
 *  @param[in] patience wait of a part that has lost half of the processes or more, in seconds; 0: no wait
 *  @param[out] fence  owned by the caller
 *  @return ::GAB_ERR_IO on all with the reason */
gab_status gab_fence_begin(gab_world *world, const char *folder, double patience, gab_fence **fence);

/** Claims the right to continue for this part, after a repair. Collective over its members. Ends the processes
 * if another part continues. @param[in] can_go_on false: the part only records the end of the run; the same on
 * all
 * @return GAB_OK with the next token; ::GAB_ERR_FAULT: a process died meanwhile; repair and call again */
gab_status gab_fence_claim(gab_fence *fence, bool can_go_on);

/** Called in a part without a process that was active from the start or took a checkpoint itself, e.g. in a part of
 * spares. Active processes may be alive beyond the cut and complete, so this part must not take a token that would end
 * them. Ends the process if a cut was announced since the last token, or the folder is out of reach. Local. NULL: nothing. */
void gab_fence_leave_to_active(const gab_fence *fence);

/** Creates the last token of a run, after all have agreed on its end, so that no part continues, e.g. one
 * that was cut off at that moment. Collective. Ends the processes if another part has continued. @param[in]
 * fence NULL: nothing @return GAB_OK: the run is over; ::GAB_ERR_FAULT: a process died before; repair and
 * continue */
gab_status gab_fence_close(gab_fence *fence);

/** Ends the process if another part has continued. Called before a file is renamed or a row is appended. Local:
 * reads the folder once. NULL: nothing. */
void gab_fence_check(const gab_fence *fence);

/** Releases the memory; files stay. Nulls the handle. */
void gab_fence_release(gab_fence **fence);

#endif
