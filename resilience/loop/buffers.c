/* SPDX-License-Identifier: Apache-2.0 */
/* The number of snapshots in memory. */
#include "resilience/disk/disk_impl.h"
#include "resilience/loop/timeloop_impl.h"

/* When does a process roll back to a checkpoint without copies? Not after a death, except from disk. A monitor at
 * rest may require it while the next checkpoint is under way, and so may approximation of lost data. While an image
 * is written to disk, the next one needs another buffer. Other monitors do not require two; a case can set two to
 * keep an older image in case a bit of the newest one flips. */
int gab_buffers_needed(const gab_buffer_needs *needs, const gab_placement *placement)
{
  if (needs->asked) return needs->asked;
  if (needs->scrubs || needs->looks_at_rest || needs->writes || needs->of_node) return 2;
  for (int i = 0; i < GAB_MOST_STRATEGIES && needs->strategies[i]; i++)
    if (needs->strategies[i]->local || needs->strategies[i]->approximates) return 2;
  return gab_placement_get_costs(placement, 1).kept > 0 ? 2 : 1;
}

gab_status gab_protection_choose_buffers(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  gab_checkpoint *checkpoint = protection->checkpoint;
  gab_buffer_needs needs = {.asked = protection->buffers,
                            .strategies = protection->strategies,
                            .scrubs = protection->scrub > 0,
                            .writes = gab_protection_uses_disk(protection),
                            .of_node = protection->node_memory[0] != '\0'};
  gab_placement placement;
  for (int i = 0; i < loop->monitors.count; i++)
    needs.looks_at_rest = needs.looks_at_rest || loop->monitors.tasks[i].at_rest;
  if (protection->buffers) return GAB_OK; /* set in the checkpoint already */
  gab_placement_init(&placement);
  const gab_status status = gab_placement_make(&placement, &checkpoint->redundancy,
                                               gab_world_members(loop->world), checkpoint->domains);
  if (status == GAB_OK) checkpoint->single = checkpoint->meets = gab_buffers_needed(&needs, &placement) == 1;
  gab_placement_release(&placement);
  return status;
}
