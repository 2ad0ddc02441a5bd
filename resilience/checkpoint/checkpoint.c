/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/checkpoint/checkpoint_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/schemes/domains_impl.h"

gab_snapshot *gab_checkpoint_next(gab_checkpoint *checkpoint)
{
  return &checkpoint->snapshots[checkpoint->single ? checkpoint->valid : !checkpoint->valid];
}

gab_status gab_snapshot_find_survivors(const gab_checkpoint *checkpoint, gab_snapshot *snapshot)
{
  if (snapshot->serial == 0) return GAB_OK;
  return gab_members_survivors(&snapshot->members, gab_world_members(checkpoint->world),
                               &snapshot->survivors);
}

gab_status gab_single_snapshot_torn(void)
{
  GAB_FAIL(GAB_ERR_LOST,
           "a fault came while a snapshot was being taken, and memory holds one only: the one before is "
           "overwritten (resilience.memory.buffers: 2 would keep it)");
}

static void init_snapshot(gab_snapshot *snapshot)
{
  gab_buffer_init(&snapshot->own, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&snapshot->replicated, GAB_MEMORY_SNAPSHOT);
  gab_members_init(&snapshot->members, 0);
  gab_members_init(&snapshot->survivors, 0);
  gab_placement_init(&snapshot->placement);
  gab_buffer_init(&snapshot->parities.rows, GAB_MEMORY_SNAPSHOT);
}

static void release_snapshot(gab_snapshot *snapshot)
{
  gab_buffer_release(&snapshot->own);
  gab_buffer_release(&snapshot->replicated);
  gab_members_release(&snapshot->members);
  gab_members_release(&snapshot->survivors);
  gab_free(&snapshot->handed);
  gab_placement_release(&snapshot->placement);
  gab_redundancy_release(snapshot);
}

/* Distance of two processes by failure domains, for the choice of spares. */
static int distance(const void *user, gab_process a, gab_process b)
{
  const gab_domains *domains = user;
  int far = 0;
  if (a >= gab_domains_ranks(domains) || b >= gab_domains_ranks(domains))
    return GAB_FARTHEST; /* respawned since the domains were found */
  for (int kind = GAB_DOMAIN_NODE; kind <= GAB_DOMAIN_ISLAND; kind++)
    far += !gab_domains_together(domains, (gab_domain_kind)kind, (gab_rank)a, (gab_rank)b);
  return far;
}

void gab_checkpoint_tell_distances(gab_checkpoint *checkpoint)
{
  if (checkpoint->domains) gab_world_set_distance(checkpoint->world, distance, checkpoint->domains);
}

/* Finds the domains if needed, and verifies that a placement of the requested redundancy exists. Collective. */
static gab_status open_redundancy(gab_checkpoint *made)
{
  const gab_redundancy *asked = &made->redundancy;
  gab_domain_kind wanted = asked->separate > asked->within ? asked->separate : asked->within;
  gab_placement placement;
  gab_placement_init(&placement);
  gab_status status = gab_placement_make(&placement, asked, gab_world_members(made->world), NULL);
  gab_placement_release(&placement);
  GAB_TRY(status);
  if (asked->separate == GAB_DOMAIN_NONE && asked->within <= GAB_DOMAIN_NONE) return GAB_OK;
  status = gab_domains_find(made->world, asked->domains_file, wanted, &made->domains);
  made->redundancy.domains_file = NULL; /* the caller's */
  gab_checkpoint_tell_distances(made);
  return status;
}

gab_status gab_checkpoint_create(gab_forest *forest, const gab_redundancy *redundancy,
                                 gab_checkpoint **checkpoint)
{
  *checkpoint = NULL;
  gab_checkpoint *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  made->world = gab_forest_world(forest);
  made->redundancy = *redundancy;
  if (!made->redundancy.scheme) made->redundancy.scheme = &gab_scheme_pairwise;
  made->stats.last_step = -1;
  made->stats.ratio = 1;
  made->donor = GAB_NO_RANK;
  gab_buffer_init(&made->transfer.compressed, GAB_MEMORY_SNAPSHOT);
  for (int i = 0; i < 2; i++) init_snapshot(&made->snapshots[i]);
  for (int i = 0; i < 2; i++) gab_metadata_images_init(&made->metadata_images[i]);
  gab_status status = gab_port_create(made->world, "checkpoint", &made->port);
  if (status == GAB_OK) status = gab_port_create(made->world, "copies", &made->transfer.moves.port);
  if (status == GAB_OK) status = open_redundancy(made);
  if (status != GAB_OK) gab_checkpoint_destroy(&made);
  *checkpoint = made;
  return status;
}

void gab_checkpoint_destroy(gab_checkpoint **checkpoint)
{
  gab_checkpoint *gone = *checkpoint;
  if (!gone) return;
  gab_port_destroy(&gone->transfer.moves.port);
  gab_port_destroy(&gone->port);
  gab_buffer_release(&gone->transfer.compressed);
  (void)gab_image_moves_end(&gone->transfer.moves, GAB_OK);
  gab_image_moves_release(&gone->transfer.moves);
  gab_buffer_release(&gone->untouched);
  for (int i = 0; i < 2; i++) release_snapshot(&gone->snapshots[i]);
  for (int i = 0; i < 2; i++) gab_metadata_images_release(&gone->metadata_images[i]);
  if (gone->domains) gab_world_set_distance(gone->world, NULL, NULL);
  gab_domains_destroy(&gone->domains);
  gab_free(checkpoint);
}

/* The number of all blocks changes only with the revision; counting needs a reduction. */
static gab_status count_blocks(gab_checkpoint *checkpoint)
{
  uint64_t revision = gab_forest_revision(checkpoint->forest);
  if (checkpoint->counted && checkpoint->forest_revision == revision) return GAB_OK;
  checkpoint->counted = false;
  GAB_TRY(gab_forest_global_blocks(checkpoint->forest, &checkpoint->forest_blocks));
  checkpoint->forest_revision = revision;
  checkpoint->counted = true;
  return GAB_OK;
}

static void note_cost(gab_checkpoint *checkpoint, const gab_snapshot *taken)
{
  gab_checkpoint_stats *stats = &checkpoint->stats;
  stats->taken++;
  stats->last_step = taken->step;
  stats->image_bytes = gab_message_bytes(&taken->own);
  stats->copies_bytes = gab_redundancy_bytes(taken);
  stats->copied_bytes = gab_redundancy_raw_bytes(taken);
  stats->shared_bytes = gab_redundancy_shared_bytes(taken);
  stats->metadata_bytes = gab_metadata_images_bytes(&checkpoint->metadata_images[taken->metadata_images]);
  stats->sent_bytes = gab_redundancy_sent(taken, gab_world_rank(checkpoint->world));
  stats->ratio = taken->sent_each ? (double)stats->image_bytes / (double)taken->sent_each : 1;
  checkpoint->all_sent += (double)stats->sent_bytes;
  stats->last_seconds = checkpoint->pending_seconds;
  stats->total_seconds += checkpoint->pending_seconds;
}

/* Adds the time since `start` to one of the stats. @return now */
static double charge(gab_checkpoint *checkpoint, double start, double *part)
{
  const double now = gab_seconds();
  checkpoint->pending_seconds += now - start;
  *part += now - start;
  return now;
}

gab_status gab_checkpoint_set_buffers(gab_checkpoint *checkpoint, int buffers)
{
  if (buffers < 1 || buffers > 2)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d buffers for snapshots: there are 1 or 2", buffers);
  if (checkpoint->stats.taken > 0) GAB_FAIL(GAB_ERR_STATE, "there are snapshots already");
  checkpoint->single = buffers == 1;
  return GAB_OK;
}

/* A snapshot that was begun before a repair is not pending: its messages were dropped with the fault. */
bool gab_checkpoint_is_pending(const gab_checkpoint *checkpoint)
{
  return checkpoint->pending && checkpoint->begun_in == gab_world_epoch(checkpoint->world);
}

/* Sets the members that are known before packing. */
static gab_status set_head(gab_checkpoint *checkpoint, gab_snapshot *next, gab_step step)
{
  next->complete = next->told = false;
  next->handed_count = 0;
  if (checkpoint->before_overwrite) checkpoint->before_overwrite(checkpoint->overwrite_user, next);
  next->serial = checkpoint->snapshots[checkpoint->valid].serial + 1;
  next->step = step;
  next->blocks = checkpoint->forest_blocks;
  next->own_blocks = gab_forest_block_count(checkpoint->forest);
  return gab_members_copy(&next->members, gab_world_members(checkpoint->world));
}

gab_status gab_checkpoint_begin(gab_checkpoint *checkpoint, gab_step step)
{
  gab_world *world = checkpoint->world;
  gab_snapshot *next = gab_checkpoint_next(checkpoint);
  GAB_TRY(gab_world_check(world));
  if (gab_checkpoint_is_pending(checkpoint))
    GAB_FAIL(GAB_ERR_STATE, "the snapshot of step %" GAB_PRI_STEP " is not complete yet", next->step);
  GAB_TRY(count_blocks(checkpoint));
  checkpoint->pending = false;
  checkpoint->pending_seconds = 0;
  double at = gab_seconds();
  if (checkpoint->single && checkpoint->meets) GAB_TRY(gab_world_barrier(world));
  gab_world_enter(world, GAB_FAULT_POINT_SNAPSHOT);
  GAB_TRY(set_head(checkpoint, next, step));
  GAB_TRY(gab_redundancy_plan(checkpoint, next, checkpoint->domains));
  GAB_TRY(gab_entities_create(checkpoint, next->serial));
  GAB_TRY(gab_image_pack(checkpoint, next));
  at = charge(checkpoint, at, &checkpoint->stats.pack_seconds);

  gab_world_enter(world, GAB_FAULT_POINT_SNAPSHOT);
  GAB_TRY(gab_metadata_images_spread(checkpoint, next));
  GAB_TRY(gab_redundancy_begin(checkpoint, next));
  checkpoint->begun_in = gab_world_epoch(world);
  checkpoint->pending = true;
  charge(checkpoint, at, &checkpoint->stats.exchange_seconds);
  return GAB_OK;
}

gab_status gab_checkpoint_progress(gab_checkpoint *checkpoint, bool *there)
{
  *there = true;
  if (!gab_checkpoint_is_pending(checkpoint)) return GAB_OK;
  const double start = gab_seconds();
  GAB_TRY(gab_redundancy_help(checkpoint, gab_checkpoint_next(checkpoint)));
  *there = checkpoint->transfer.there;
  charge(checkpoint, start, &checkpoint->stats.exchange_seconds);
  return GAB_OK;
}

gab_status gab_checkpoint_complete(gab_checkpoint *checkpoint)
{
  gab_world *world = checkpoint->world;
  gab_snapshot *next = gab_checkpoint_next(checkpoint);
  GAB_TRY(gab_world_check(world));
  if (!gab_checkpoint_is_pending(checkpoint)) GAB_FAIL(GAB_ERR_STATE, "no snapshot was begun");
  double at = gab_seconds();
  GAB_TRY(gab_redundancy_finish(checkpoint, next));
  next->complete = true;
  gab_world_enter(world, GAB_FAULT_POINT_SNAPSHOT);
  at = charge(checkpoint, at, &checkpoint->stats.exchange_seconds);

  gab_world_enter(world, GAB_FAULT_POINT_COMMIT);
  uint32_t flags = 1;
  GAB_TRY(gab_world_agree(world, &flags));

  gab_world_enter(world, GAB_FAULT_POINT_SWAP);
  if (!checkpoint->single) checkpoint->valid = !checkpoint->valid;
  gab_entities_swap(checkpoint);
  checkpoint->pending = false;
  /* With two own snapshots, or the only possible one, a replacement process counts as complete. */
  if (checkpoint->single || (checkpoint->snapshots[0].complete && checkpoint->snapshots[1].complete))
    checkpoint->since = 0;
  charge(checkpoint, at, &checkpoint->stats.commit_seconds);
  note_cost(checkpoint, next);
  return GAB_OK;
}

gab_status gab_checkpoint_take(gab_checkpoint *checkpoint, gab_step step)
{
  GAB_TRY(gab_checkpoint_begin(checkpoint, step));
  return gab_checkpoint_complete(checkpoint);
}

gab_status gab_snapshots_forget(gab_checkpoint *checkpoint, uint64_t serial)
{
  for (int i = 0; i < 2; i++)
    if (checkpoint->snapshots[i].serial > serial) serial = checkpoint->snapshots[i].serial;
  GAB_TRY(gab_world_max_u64(checkpoint->world, &serial, 1));
  for (int i = 0; i < 2; i++) checkpoint->snapshots[i].complete = checkpoint->snapshots[i].told = false;
  checkpoint->since = 0;       /* no rank has data that a replacement process lacks */
  checkpoint->counted = false; /* all processes count the blocks again, as a replacement process has to */
  checkpoint->snapshots[checkpoint->valid].serial = serial;
  return GAB_OK;
}

gab_checkpoint_stats gab_checkpoint_get_stats(const gab_checkpoint *checkpoint) { return checkpoint->stats; }

void gab_checkpoint_set_events(gab_checkpoint *checkpoint, gab_events *events)
{
  checkpoint->events = events;
}

const gab_placement *gab_checkpoint_placement(const gab_checkpoint *checkpoint)
{
  const gab_snapshot *valid = &checkpoint->snapshots[checkpoint->valid];
  return valid->complete ? &valid->placement : NULL;
}

const gab_redundancy *gab_checkpoint_redundancy(const gab_checkpoint *checkpoint)
{
  return &checkpoint->redundancy;
}
