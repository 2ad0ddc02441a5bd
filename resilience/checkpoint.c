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

enum { IMAGE_HEAD_ROOM = 64 }; /* hash and head of an image, and a little for entities */

static gab_status pack_own(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  size_t forest_bytes = gab_forest_packed_size(checkpoint->forest);
  gab_buffer *own = &next->own;
  GAB_TRY(gab_message_begin(own));
  GAB_TRY(gab_buffer_reserve(own, forest_bytes + IMAGE_HEAD_ROOM));
  size_t sealed_at = own->size;
  GAB_TRY(gab_seal_begin(own));
  GAB_TRY(gab_put_u32(own, GAB_IMAGE_MAGIC));
  GAB_TRY(gab_put_u32(own, GAB_IMAGE_VERSION));
  GAB_TRY(gab_put_i32(own, gab_world_slot(checkpoint->world)));
  GAB_TRY(gab_put_u64(own, next->serial));
  GAB_TRY(gab_put_i64(own, next->step));
  GAB_TRY(gab_put_u64(own, forest_bytes));
  GAB_TRY(gab_forest_pack(checkpoint->forest, own));
  GAB_TRY(gab_entities_pack(checkpoint, GAB_ENTITY_PER_SLOT, own));
  gab_seal_end(own, sealed_at);
  gab_buffer_clear(&next->replicated);
  GAB_TRY(gab_seal_begin(&next->replicated));
  GAB_TRY(gab_entities_pack(checkpoint, GAB_ENTITY_REPLICATED, &next->replicated));
  gab_seal_end(&next->replicated, 0);
  return GAB_OK;
}

static gab_status add_copy(gab_snapshot *next, gab_slot slot, gab_copy **copy)
{
  if (next->copy_count == next->copy_room) {
    void *grown = next->copies;
    int room = next->copy_room + 4;
    GAB_TRY(gab_realloc((size_t)room * sizeof(gab_copy), GAB_MEMORY_OTHER, &grown));
    next->copies = grown;
    for (int i = next->copy_room; i < room; i++) gab_buffer_init(&next->copies[i].image, GAB_MEMORY_SNAPSHOT);
    next->copy_room = room;
  }
  *copy = &next->copies[next->copy_count++];
  (*copy)->slot = slot;
  return GAB_OK;
}

/* The number of the copy of member `index` that member `keeper` keeps, -1 if none. A scheme may name a member
 * twice or the member itself: one copy in one place is enough, and the own image is there anyway. */
static int copy_kept(const gab_scheme *scheme, int32_t index, int32_t count, int copies, int32_t keeper)
{
  for (int k = 0; index != keeper && k < copies; k++)
    if (scheme->holder(index, count, k, copies) == keeper) return k;
  return -1;
}

/* Finds whose images this slot keeps: every member is asked for its holders, which takes time but no memory.
 */
static gab_status plan_copies(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const gab_members *members = gab_world_members(checkpoint->world);
  int32_t count = gab_members_count(members),
          me = gab_members_index(members, gab_world_slot(checkpoint->world));
  int copies = gab_scheme_copies(checkpoint->scheme, count, checkpoint->copies);
  next->copy_count = 0;
  for (int32_t i = 0; i < count; i++) {
    int number = copy_kept(checkpoint->scheme, i, count, copies, me);
    gab_copy *copy;
    if (number < 0) continue;
    GAB_TRY(add_copy(next, gab_members_slot(members, i), &copy));
    copy->number = number;
  }
  return GAB_OK;
}

/* One round moves copy number k of every image: a message can be under way to one holder only, since its
 * envelope names the receiver. Nobody waits for a later round, so all get through. */
static gab_status exchange_images(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const gab_members *members = gab_world_members(checkpoint->world);
  int32_t count = gab_members_count(members),
          me = gab_members_index(members, gab_world_slot(checkpoint->world));
  int copies = gab_scheme_copies(checkpoint->scheme, count, checkpoint->copies);
  for (int k = 0; k < copies; k++) {
    for (int i = 0; i < next->copy_count; i++)
      if (next->copies[i].number == k)
        GAB_TRY(gab_port_receive(checkpoint->port, next->copies[i].slot, &next->copies[i].image,
                                 GAB_SIZE_UNKNOWN));
    int32_t holder = checkpoint->scheme->holder(me, count, k, copies);
    if (copy_kept(checkpoint->scheme, me, count, copies, holder) == k)
      GAB_TRY(gab_port_send(checkpoint->port, gab_members_slot(members, holder), &next->own));
    GAB_TRY(gab_port_finish(checkpoint->port));
  }
  return GAB_OK;
}

static size_t bytes_of_copies(const gab_snapshot *snapshot)
{
  size_t bytes = 0;
  for (int i = 0; i < snapshot->copy_count; i++) bytes += gab_message_bytes(&snapshot->copies[i].image);
  return bytes;
}

static void note_cost(gab_checkpoint *checkpoint, const gab_snapshot *taken, const double at[4])
{
  gab_checkpoint_stats *stats = &checkpoint->stats;
  stats->taken++;
  stats->last_step = taken->step;
  stats->image_bytes = gab_message_bytes(&taken->own);
  stats->copies_bytes = bytes_of_copies(taken);
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
  next->serial = checkpoint->snapshots[checkpoint->valid].serial + 1;
  next->step = step;
  next->blocks = checkpoint->forest_blocks;
  next->own_blocks = gab_forest_block_count(checkpoint->forest);
  GAB_TRY(gab_members_copy(&next->members, gab_world_members(world)));
  GAB_TRY(pack_own(checkpoint, next));
  GAB_TRY(plan_copies(checkpoint, next));
  at[1] = gab_seconds();

  gab_world_enter(world, GAB_PHASE_SNAPSHOT);
  GAB_TRY(exchange_images(checkpoint, next));
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
