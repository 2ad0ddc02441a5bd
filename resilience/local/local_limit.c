/* SPDX-License-Identifier: Apache-2.0 */
/* Limit of the message logs: the next checkpoint is taken earlier, since logs are freed after it. Before each
 * checkpoint all ranks reduce its step by logged messages, so a restored rank gets the same result. */
#include "resilience/local/local_run_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"

/* Logs are freed one checkpoint late: a log reaches back to the checkpoint before the newest one that is known to be
 * committed, which is the last one taken or its predecessor. */
enum { INTERVALS_KEPT = 3 };

static uint64_t logged_bytes(const gab_local_run *run)
{
  return gab_local_statistics(run->machine).logged_bytes;
}

void gab_local_limit_mark(gab_local_run *run)
{
  run->logged_before = logged_bytes(run);
  run->logged_since = run->loop->step;
}

/* Number of steps with `rate` bytes each that stay within the limit; 0: not even one step. */
static uint64_t steps_within(double limit, uint64_t rate, uint64_t state)
{
  const double steps = limit * (double)state / (INTERVALS_KEPT * (double)(rate > 0 ? rate : 1));
  return steps < 1e15 ? (uint64_t)steps : (uint64_t)1e15;
}

gab_status gab_local_limit_measure(gab_local_run *run)
{
  const gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  const gab_step steps = run->loop->step - run->logged_since;
  if (!(run->log_limit > 0) || steps <= 0) return GAB_OK;
  const uint64_t bytes = logged_bytes(run) - run->logged_before;
  uint64_t most[2] = {(bytes + (uint64_t)steps - 1) / (uint64_t)steps,
                      gab_message_bytes(&checkpoint->snapshots[checkpoint->valid].own)};
  GAB_TRY(gab_world_max_u64(run->world, most, 2));
  uint64_t within = steps_within(run->log_limit, most[0], most[1]);
  if (within == 0 && run->log_steps != 1)
    gab_log(GAB_LOG_WARNING,
            "resilience.local.log_limit: a step logs %" PRIu64 " bytes, a state has %" PRIu64
            ": there is a checkpoint after every step, and the logs are longer than the limit",
            most[0], most[1]);
  if (within == 0) within = 1;
  if (run->log_steps == 0 || within < run->log_steps) run->log_steps = within;
  return GAB_OK;
}

void gab_local_limit_apply(gab_local_run *run)
{
  gab_clock *clock = &run->loop->protection->memory;
  /* If unknown, the bytes of one step are measured first. */
  const gab_step next = run->loop->step + (run->log_steps > 0 ? (gab_step)run->log_steps : 1);
  if (run->log_limit > 0 && (clock->next < 0 || next < clock->next)) clock->next = next;
}
