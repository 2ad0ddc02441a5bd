/* SPDX-License-Identifier: Apache-2.0 */
/* How many snapshots fit into the memory of a process. */
#include "resilience/disk/disk_impl.h"
#include "resilience/loop/timeloop_impl.h"

/* What can make a process go back to a checkpoint that no process has a copy of? A death can not, without the disk. A monitor that
 * looks at the state at rest can, while the next one is under way, and so can those that approximate what is lost. While the disk writes
 * an image, the next one needs another place. For monitors in general two are asked for by the case: an older image is what is left
 * if a bit of the newest one has changed. */
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
  if (protection->buffers) return GAB_OK; /* the checkpoint has been told */
  gab_placement_init(&placement);
  const gab_status status = gab_placement_make(&placement, &checkpoint->redundancy,
                                               gab_world_members(loop->world), checkpoint->domains);
  if (status == GAB_OK) checkpoint->single = checkpoint->meets = gab_buffers_needed(&needs, &placement) == 1;
  gab_placement_release(&placement);
  return status;
}
