/* SPDX-License-Identifier: Apache-2.0 */
/* Failure domains of respawned processes: a process joins the domains of the process next to which it was started.
 * Replacement processes know the domains of the start, others those of the last recovery. So the donor computes the new
 * domains alone, since this expands the runs, and broadcasts them.
 *
 * The order of existing processes does not change (gab_domains_extend()), so placements of earlier snapshots are the
 * same with the new domains; they are rebuilt, since a placement counts places. */
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/schemes/domains_impl.h"

#include "core/messages/collective.h"

uint64_t gab_replacements_known_processes(const gab_checkpoint *checkpoint)
{
  return checkpoint->domains ? (uint64_t)gab_domains_ranks(checkpoint->domains) : UINT64_MAX;
}

/* On the donor, whose domains may be complete already. */
static gab_status put_domains(const gab_checkpoint *checkpoint, gab_buffer *out)
{
  const gab_world *world = checkpoint->world;
  const gab_process known = gab_domains_ranks(checkpoint->domains), processes = gab_world_processes(world);
  gab_domains *extended;
  gab_process *origins;
  GAB_TRY(GAB_NEW_ARRAY(&origins, (size_t)(processes - known), GAB_MEMORY_OTHER));
  for (gab_process process = known; process < processes; process++)
    origins[process - known] = gab_world_process_beside(world, process);
  gab_status status = gab_domains_extend(checkpoint->domains, origins, processes - known, &extended);
  if (status == GAB_OK) status = gab_domains_pack(extended, out);
  gab_domains_destroy(&extended);
  gab_free(&origins);
  return status;
}

static gab_status place_again(gab_checkpoint *checkpoint, gab_snapshot *snapshot)
{
  if (!snapshot->placement.domains) return GAB_OK; /* no snapshot, or one without domains */
  return gab_placement_make(&snapshot->placement, &checkpoint->redundancy, &snapshot->members,
                            checkpoint->domains);
}

static gab_status take_domains(gab_checkpoint *checkpoint, gab_reader in)
{
  gab_domains *before = checkpoint->domains, *fresh;
  gab_status status = GAB_OK;
  GAB_TRY(gab_domains_unpack(&in, &fresh));
  checkpoint->domains = fresh;
  gab_checkpoint_tell_distances(checkpoint);
  for (int i = 0; i < 2 && status == GAB_OK; i++) status = place_again(checkpoint, &checkpoint->snapshots[i]);
  gab_domains_destroy(&before);
  return status;
}

gab_status gab_replacements_place(gab_checkpoint *checkpoint, uint64_t least_known)
{
  gab_world *world = checkpoint->world;
  gab_buffer bytes;
  if (!checkpoint->domains || least_known >= (uint64_t)gab_world_processes(world)) return GAB_OK;
  gab_buffer_init(&bytes, GAB_MEMORY_OTHER);
  gab_status status = GAB_OK;
  if (gab_world_rank(world) == checkpoint->donor) status = put_domains(checkpoint, &bytes);
  if (status == GAB_OK) status = gab_world_broadcast(world, checkpoint->donor, &bytes);
  if (status == GAB_OK) status = take_domains(checkpoint, gab_reader_of_buffer(&bytes));
  gab_buffer_release(&bytes);
  return status;
}
