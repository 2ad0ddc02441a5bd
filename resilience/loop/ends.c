/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of a time loop before its last step. */
#include "resilience/loop/timeloop_impl.h"

#include <stdio.h>

gab_status gab_timeloop_add_end(gab_timeloop *loop, const char *name,
                                bool (*due)(const void *user, gab_step step), gab_end_fn is_met,
                                const void *user)
{
  if (loop->is_running)
    GAB_FAIL(GAB_ERR_STATE, "end '%s' is added to a time loop that is running or has run", name);
  if (!is_met) GAB_FAIL(GAB_ERR_ARGUMENT, "end '%s' of the time loop has no function", name);
  if (loop->end_count == GAB_MOST_ENDS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add end '%s': there are %d already", name, GAB_MOST_ENDS);
  gab_loop_end *end = &loop->ends[loop->end_count++];
  *end = (gab_loop_end){.due = due, .is_met = is_met, .user = user};
  snprintf(end->name, sizeof end->name, "%s", name);
  return GAB_OK;
}

bool gab_timeloop_end_reason(const gab_timeloop *loop, char *text, size_t capacity)
{
  char why[160];
  for (int i = 0; i < loop->end_count; i++) {
    const gab_loop_end *end = &loop->ends[i];
    why[0] = '\0';
    if ((end->due && !end->due(end->user, loop->step)) ||
        !end->is_met(end->user, loop->step, why, sizeof why))
      continue;
    snprintf(text, capacity, "%s%s%s", end->name, why[0] ? ": " : "", why);
    return true;
  }
  return false;
}

bool gab_loop_is_over(const gab_timeloop *loop)
{
  char text[8];
  return loop->step >= loop->steps ||
         (loop->end_count > 0 && gab_timeloop_end_reason(loop, text, sizeof text));
}

bool gab_loop_may_end(const gab_timeloop *loop, gab_step step)
{
  for (int i = 0; i < loop->end_count; i++)
    if (!loop->ends[i].due || loop->ends[i].due(loop->ends[i].user, step)) return true;
  return false;
}
