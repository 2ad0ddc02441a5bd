/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a case fits into the available memory, before anything is allocated: otherwise the system would kill
 * processes later. */
#include "apps/driver/driver.h"

#include "core/memory/system_memory.h"
#include "core/messages/collective.h"
#include "core/world/launcher.h"
#include "resilience/reports/completion.h"
#include "resilience/resilience_config.h"

#include <stdlib.h>
#include <string.h>

/* "19.1 TB" */
static const char *bytes_text(double bytes, char text[32])
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 5; unit++) bytes /= 1000;
  snprintf(text, 32, "%.3g %s", bytes, units[unit]);
  return text;
}

/* Processes of this run on this machine, from the MPI launcher; 1 if unknown: a low estimate is preferred. */
static int local_processes(int all)
{
  const int32_t told = gab_launcher_local_processes();
  return told >= 1 && told <= all ? told : 1;
}

gab_status gab_app_snapshot_factor(const gab_config *config, int32_t processes, double *factor)
{
  gab_redundancy redundancy;
  gab_members all;
  gab_placement placement;
  GAB_TRY(gab_resilience_redundancy(config, &redundancy));
  gab_members_init(&all, processes);
  gab_placement_init(&placement);
  gab_status status = gab_placement_make(&placement, &redundancy, &all, NULL);
  *factor = status == GAB_OK ? gab_resilience_buffers(config, &placement) *
                                   (1 + gab_placement_get_costs(&placement, 1).kept)
                             : 1;
  gab_placement_release(&placement);
  gab_members_release(&all);
  return GAB_OK; /* reported later with a better message */
}

/* Minimum memory of a process, with `cells` in all. */
static double need_of(const gab_app_memory *memory, double cells, int processes, double snapshots)
{
  return cells / processes * (memory->state + memory->image * snapshots);
}

gab_status gab_app_memory_check(const gab_config *config, const gab_app_memory *memory, int processes,
                                int here)
{
  double snapshots;
  const gab_system_memory system = gab_system_memory_look();
  if (!system.known) return GAB_OK;
  GAB_TRY(gab_app_snapshot_factor(config, processes, &snapshots));
  const double free = (double)system.available;
  double cells = memory->cells;
  if (need_of(memory, cells, processes, snapshots) * here <= free) return GAB_OK;
  if (memory->count) { /* fewer cells may be fluid */
    const double most = free / here / need_of(memory, 1, processes, snapshots);
    cells = memory->count(memory->user, most);
    if (cells <= most) return GAB_OK;
  }
  const double need = need_of(memory, cells, processes, snapshots);
  char all[32], each[32], node[32], left[32], limit[32], where[64] = "";
  if (system.limit > 0)
    snprintf(where, sizeof where, " of the %s of its control group", bytes_text((double)system.limit, limit));
  return gab_config_fail(
      config, "domain.cells",
      "%.4g cells need about %s: %s for each of %d process%s, %s for the %d on this node, where %s%s are "
      "free; more nodes, fewer cells, or --overcommit to try it all the same",
      cells, bytes_text(need * processes, all), bytes_text(need, each), processes, processes == 1 ? "" : "es",
      bytes_text(need * here, node), here, bytes_text(free, left), where);
}

gab_status gab_app_memory_settle(gab_world *world, const gab_app_case *which, const gab_app_memory *memory)
{
  const int processes = (int)gab_members_count(gab_world_members(world));
  /* A restarted run has fitted before, and its images are still in memory. */
  if (which->options->overcommit || gab_launch_attempt() > 0) return GAB_OK;
  return gab_world_reduce_status(
      world, gab_app_memory_check(which->config, memory, processes, local_processes(processes)));
}
