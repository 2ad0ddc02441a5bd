#include "resilience/checkpoint_impl.h"

#include "core/collective.h"
#include "core/log.h"

gab_status gab_checkpoint_create(gab_forest *forest, const gab_scheme *scheme, int copies,
                                 gab_checkpoint **checkpoint)
{
  *checkpoint = NULL;
  if (copies < 0) GAB_FAIL(GAB_ERR_ARGUMENT, "%d copies of each image asked for", copies);
  void *memory;
  GAB_TRY(gab_alloc(sizeof(gab_checkpoint), GAB_MEMORY_OTHER, &memory));
  gab_checkpoint *made = memory;
  made->forest = forest;
  made->world = gab_forest_world(forest);
  made->scheme = scheme;
  made->copies = copies;
  made->stats.last_step = -1;
  for (int i = 0; i < 2; i++) {
    gab_buffer_init(&made->snapshots[i].own, GAB_MEMORY_SNAPSHOT);
    gab_buffer_init(&made->snapshots[i].replicated, GAB_MEMORY_SNAPSHOT);
    gab_members_init(&made->snapshots[i].members, 0);
  }
  gab_status status = gab_port_create(made->world, "checkpoint", &made->port);
  if (status != GAB_OK) gab_free(&made);
  else *checkpoint = made;
  return status;
}

void gab_checkpoint_destroy(gab_checkpoint **checkpoint)
{
  gab_checkpoint *gone = *checkpoint;
  if (!gone) return;
  gab_port_destroy(&gone->port);
  gab_buffer_release(&gone->untouched);
  for (int i = 0; i < 2; i++) {
    gab_snapshot *snapshot = &gone->snapshots[i];
    gab_buffer_release(&snapshot->own);
    gab_buffer_release(&snapshot->replicated);
    gab_members_release(&snapshot->members);
    for (int k = 0; k < snapshot->copy_room; k++) gab_buffer_release(&snapshot->copies[k].image);
    gab_free(&snapshot->copies);
  }
  gab_free(checkpoint);
}

/* The number of all blocks changes only with the revision; counting it is a reduction. */
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

static void note_cost(gab_checkpoint *checkpoint, const gab_snapshot *taken, const double at[4])
{
  gab_checkpoint_stats *stats = &checkpoint->stats;
  stats->taken++;
  stats->last_step = taken->step;
  stats->image_bytes = gab_message_bytes(&taken->own);
  stats->copies_bytes = gab_redundancy_bytes(taken);
  stats->pack_seconds += at[1] - at[0];
  stats->exchange_seconds += at[2] - at[1];
  stats->commit_seconds += at[3] - at[2];
  stats->last_seconds = at[3] - at[0];
  stats->total_seconds += stats->last_seconds;
}

gab_status gab_checkpoint_take(gab_checkpoint *checkpoint, gab_step step)
{
  gab_world *world = checkpoint->world;
  GAB_TRY(gab_world_check(world));
  GAB_TRY(count_blocks(checkpoint));
  double at[4] = {gab_seconds()};
  gab_world_enter(world, GAB_PHASE_SNAPSHOT);
  gab_snapshot *next = &checkpoint->snapshots[!checkpoint->valid];
  next->complete = false;
  if (checkpoint->before_overwrite) checkpoint->before_overwrite(checkpoint->overwrite_user, next);
  next->serial = checkpoint->snapshots[checkpoint->valid].serial + 1;
  next->step = step;
  next->blocks = checkpoint->forest_blocks;
  next->own_blocks = gab_forest_block_count(checkpoint->forest);
  GAB_TRY(gab_members_copy(&next->members, gab_world_members(world)));
  GAB_TRY(gab_image_pack(checkpoint, next));
  GAB_TRY(gab_redundancy_plan(checkpoint, next));
  at[1] = gab_seconds();

  gab_world_enter(world, GAB_PHASE_SNAPSHOT);
  GAB_TRY(gab_redundancy_exchange(checkpoint, next));
  next->complete = true;
  gab_world_enter(world, GAB_PHASE_SNAPSHOT);
  at[2] = gab_seconds();

  gab_world_enter(world, GAB_PHASE_COMMIT);
  uint32_t flags = 1;
  GAB_TRY(gab_world_agree(world, &flags));

  gab_world_enter(world, GAB_PHASE_SWAP);
  checkpoint->valid = !checkpoint->valid;
  at[3] = gab_seconds();
  note_cost(checkpoint, next, at);
  return GAB_OK;
}

gab_checkpoint_stats gab_checkpoint_get_stats(const gab_checkpoint *checkpoint) { return checkpoint->stats; }
