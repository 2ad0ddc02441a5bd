/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping a run: requests climb the tree of acknowledgements, answers come with the commit of a checkpoint. No
 * process waits, and all get the same answer, since news of a commit always carries it. */
#include "resilience/local/protocol/local_impl.h"

gab_status gab_local_ask_to_stop(gab_local *local, uint64_t why)
{
  if (why == 0 || local->asked_to_stop) return GAB_OK;
  local->asked_to_stop = why;
  for (size_t i = 0; i < local->partner_count; i++)
    if (local->partners[i].roles & ROLE_PARENT) GAB_TRY(gab_local_tell_values(local, &local->partners[i]));
  return GAB_OK;
}

uint64_t gab_local_asked_to_stop(const gab_local *local) { return local->asked_to_stop; }

void gab_local_learn_stop(gab_local *local, gab_step checkpoint, uint64_t why)
{
  if (why == 0 || local->stop_why) return;
  local->stop_behind = checkpoint;
  local->stop_why = why;
}

gab_status gab_local_answer(gab_local *local, gab_step checkpoint, uint64_t proposal)
{
  if (local->state != GAB_LOCAL_ACTIVE || local->rank != 0)
    GAB_FAIL(GAB_ERR_STATE, "only the first rank answers stop requests");
  if (checkpoint <= local->taken)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "checkpoint %" GAB_PRI_STEP " is taken already: too late for its answer to stop requests",
             checkpoint);
  local->answered = checkpoint;
  return gab_local_decide_behind(local, proposal, &local->answer);
}

/* The decision was sent to the holder before the image, so it is logged if the image has arrived. Before that,
 * neither the answer nor the commit is known to any rank. */
void gab_local_publish_answer(gab_local *local)
{
  if (local->acknowledged >= local->answered) gab_local_learn_stop(local, local->answered, local->answer);
}

bool gab_local_stops(const gab_local *local, uint64_t *why)
{
  *why = local->stop_why && local->stop_behind == local->common ? local->stop_why : 0;
  return local->state == GAB_LOCAL_ACTIVE && !gab_local_has_to_wait(local, false) &&
         gab_local_is_verified(local);
}
