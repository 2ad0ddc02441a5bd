/* SPDX-License-Identifier: Apache-2.0 */
/* Number of steps for temporal blocking: up to the next output, monitor, stop query or fault injection. */
#include "resilience/loop/timeloop_impl.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/loop/fault_injection_impl.h"

static gab_step least(gab_step a, gab_step b) { return a < b ? a : b; }

/* Steps until step `at`, at least one. @param[in] at -1: never */
static gab_step until(gab_step at, gab_step step, gab_step most)
{
  if (at < 0) return most;
  return at > step ? least(at - step, most) : 1;
}

/* Whether an item of the list is due after that step. */
static bool has_due(const gab_task_list *list, gab_step step)
{
  for (int i = 0; i < list->count; i++)
    if (!list->tasks[i].due || list->tasks[i].due(list->tasks[i].user, step)) return true;
  return false;
}

/* Logged steps, and overlapped copies and parts of files, need single steps; a fault injection needs its fault point
 * in the step that it names. */
static gab_step limit_by_protection(const gab_protection_state *protection, gab_step step, gab_step most)
{
  const gab_step scrub = protection->scrub;
  if (protection->local || gab_checkpoint_is_pending(protection->checkpoint) ||
      (protection->disk && gab_disk_is_busy(protection->disk)))
    return 1;
  if (scrub > 0) most = least(most, scrub - step % scrub);
  most = until(protection->memory.next, step, most);
  most = until(protection->on_disk.next, step, most);
  most = until(protection->look, step, most);
  if (protection->injector) most = until(gab_fault_injector_next(protection->injector), step, most);
  return until(gab_stop_next(protection->stop), step, most);
}

static gab_step limit_by_ends(const gab_timeloop *loop, gab_step most)
{
  gab_step steps = 1;
  while (steps < most && !gab_loop_may_end(loop, loop->step + steps)) steps++;
  return steps < most ? steps : most;
}

gab_step gab_temporal_steps(const gab_timeloop *loop)
{
  gab_step most = least(loop->steps - loop->step, GAB_MOST_TEMPORAL_STEPS), steps = 1;
  if (!loop->temporal_block.run || loop->temporal_block.tasks != loop->tasks.count) return 1;
  if (loop->protection) most = limit_by_protection(loop->protection, loop->step, most);
  most = limit_by_ends(loop, most);
  while (steps < most && !has_due(&loop->actions, loop->step + steps) &&
         !has_due(&loop->monitors, loop->step + steps))
    steps++;
  return steps;
}
