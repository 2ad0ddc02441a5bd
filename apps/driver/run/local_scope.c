/* SPDX-License-Identifier: Apache-2.0 */
/* Effect of strategy `local` on a run: overlap of delays, and whether it is active at all. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/messages/logged/message_logger.h"

bool gab_app_wants_local(const gab_app_case *which)
{
  double limit;
  bool clusters;
  gab_step own_every;
  return gab_resilience_logs(which->config, &limit, &clusters, &own_every);
}

/* Maximum number of steps between two outputs, including start and end. */
static gab_step longest_without_output(const gab_app_run *it)
{
  gab_step longest = 0, last = 0;
  for (gab_step step = 1; step <= it->parameters->steps; step++) {
    if (step < it->parameters->steps && !gab_output_due(it->output, step)) continue;
    if (step - last > longest) longest = step - last;
    last = step;
  }
  return longest;
}

static void say_how_far(const gab_app_run *it)
{
  enum { MOST = 10000000 }; /* steps checked, quickly */
  const gab_step steps = it->parameters->steps;
  const gab_step longest = steps <= MOST ? longest_without_output(it) : steps;
  if (longest == steps) return;
  gab_log(
      GAB_LOG_INFO,
      "  local recovery: fields, pictures and series are written with all processes, and each of their steps "
      "is one of a checkpoint: delays mask each other over %" GAB_PRI_STEP
      " steps at most, less where the grid, owners or a window change or a checkpoint goes to disk",
      longest);
}

void gab_app_run_describe_local(const gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  if (!gab_app_wants_local(which)) return;
  if (which->solver->own_comms)
    gab_log(GAB_LOG_WARNING,
            "strategy 'local' will not be in force: the program has its own communicators "
            "(gab_solver.own_comms of %s), which all repair together: its faults are global, by "
            "the strategies behind 'local'",
            which->solver->name);
  else say_how_far(it);
}

void gab_app_run_warn_of_comms(const gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  if (gab_app_wants_local(which) && gab_world_has_own_comms(it->world) && !which->solver->own_comms)
    gab_log(GAB_LOG_WARNING,
            "the program has its own communicators, and gab_solver.own_comms of %s does not say "
            "so: `check' and `plan' take strategy 'local' for in force",
            which->solver->name);
}
