/* SPDX-License-Identifier: Apache-2.0 */
/* What fence.c (a part as a whole) and fence_token.c (the files) share. Internal. */
#ifndef GABION_RESILIENCE_FENCE_IMPL_H
#define GABION_RESILIENCE_FENCE_IMPL_H

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

#endif
