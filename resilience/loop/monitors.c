/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors: check whether the state is possible. After an alarm all roll back once; a second alarm ends the run.
 */
#include "resilience/loop/monitor.h"
#include "resilience/loop/timeloop_impl.h"

#include "core/base/registry_impl.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/events_impl.h"

#include <stdio.h>
#include <string.h>

static gab_registry registered = {.kind = "monitor", .most = GAB_MOST_MONITORS};

const gab_monitor *gab_monitor_at(int index) { return gab_registry_at(&registered, index); }

gab_status gab_monitor_register(const gab_monitor *monitor)
{
  if (!monitor->name || !monitor->name[0] || !monitor->add)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a monitor needs a name and a function that adds it");
  return gab_registry_add(&registered, monitor);
}

const gab_monitor *gab_monitor_find(gab_monitor_list list, const char *name)
{
  char names[512] = "";
  size_t used = 0;
  const gab_monitor *found = NULL, *next;
  for (size_t i = 0; (next = i < list.count ? &list.items[i] : gab_monitor_at((int)(i - list.count))); i++) {
    if (strcmp(next->name, name) == 0 && found) {
      (void)gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                          "there are two monitors '%s': one of the solver, and one that was registered",
                          name);
      return NULL;
    }
    if (strcmp(next->name, name) == 0) found = next;
    if (used < sizeof names)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", next->name);
  }
  if (!found)
    (void)gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no monitor '%s' (%s%s)", name,
                        used ? "there are: " : "this program has none", names);
  return found;
}

/* The message of a monitor, with its name and the step in front. */
static gab_status complain(const gab_timeloop *loop, const gab_task *monitor)
{
  char why[1024];
  snprintf(why, sizeof why, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_SUSPECT, "monitor '%s' at step %" GAB_PRI_STEP ": %s", monitor->name, loop->step, why);
}

static gab_status run_monitor(gab_timeloop *loop, const gab_task *monitor)
{
  gab_timer_start(loop->timers, monitor->timer);
  gab_status status = monitor->run(monitor->user, loop->step);
  gab_timer_stop(loop->timers, monitor->timer);
  if (status == GAB_ERR_SUSPECT) return complain(loop, monitor);
  return status == GAB_OK ? gab_world_check(loop->world) : status;
}

gab_status gab_monitors_look(gab_timeloop *loop, bool all)
{
  const bool anew = loop->monitored != loop->step;
  for (int i = 0; i < loop->monitors.count; i++) {
    const gab_task *monitor = &loop->monitors.tasks[i];
    const bool due = !monitor->due || monitor->due(monitor->user, loop->step);
    if (anew ? due || all : all && !due) GAB_TRY(run_monitor(loop, monitor));
  }
  loop->monitored = loop->step;
  return GAB_OK;
}

gab_status gab_monitors_look_at_rest(gab_timeloop *loop)
{
  for (int i = 0; i < loop->monitors.count; i++)
    if (loop->monitors.tasks[i].at_rest) GAB_TRY(run_monitor(loop, &loop->monitors.tasks[i]));
  return GAB_OK;
}

gab_status gab_monitors_judge(gab_timeloop *loop, const gab_fault *fault, bool complained)
{
  gab_protection_state *protection = loop->protection;
  char why[1024];
  snprintf(why, sizeof why, "%s", gab_error_message());
  uint64_t step = complained ? (uint64_t)fault->noticed_step + 1 : 0;
  GAB_TRY(gab_world_max_u64(loop->world, &step, 1));
  const gab_step at = (gab_step)step - 1, before = protection->suspected;
  loop->stats.suspicions++;
  protection->suspected = at > before ? at : before;
  if (gab_world_is_root(loop->world)) {
    gab_json *event = gab_event_begin(loop->events, "suspect");
    gab_json_int(event, "at_step", at);
    gab_json_int(event, "restored_step", fault->restored_step);
    gab_json_text(event, "why", why);
    gab_event_end(loop->events, &event);
  }
  if (at <= before) { /* a failure breaks the world, so it follows only after all know it */
    uint32_t flags = 1;
    GAB_TRY(gab_world_agree(loop->world, &flags));
    GAB_FAIL(GAB_ERR_DIVERGED,
             "%s; the same after the rollback to step %" GAB_PRI_STEP ": not a transient error", why,
             fault->restored_step);
  }
  gab_log(GAB_LOG_WARNING, "%s: perhaps a fault of the hardware, all go back to step %" GAB_PRI_STEP, why,
          fault->restored_step);
  return GAB_OK;
}
