/* What a scheme makes of the images of a snapshot: who keeps copies of whose, and their exchange. */
#include "resilience/redundancy_impl.h"

gab_status gab_buffer_fit(gab_buffer *buffer, size_t bytes)
{
  gab_buffer_clear(buffer);
  if (buffer->capacity < bytes || buffer->capacity - bytes > bytes / 64 + 4096) gab_buffer_release(buffer);
  return gab_buffer_reserve(buffer, bytes);
}

/* What was received into a buffer that had to grow for it may have grown too far. */
static gab_status trim(gab_buffer *buffer)
{
  if (buffer->capacity - buffer->size <= buffer->size / 64 + 4096) return GAB_OK;
  void *memory = buffer->data;
  GAB_TRY(gab_realloc(buffer->size, buffer->use, &memory));
  buffer->data = memory;
  buffer->capacity = buffer->size;
  return GAB_OK;
}

/* ---------------------------------------------------------------- who keeps what */

static gab_status add_copy(void *user, gab_slot slot, int number)
{
  gab_snapshot *next = user;
  if (next->copy_count == next->copy_room) {
    void *grown = next->copies;
    int room = next->copy_room + 4;
    GAB_TRY(gab_realloc((size_t)room * sizeof(gab_copy), GAB_MEMORY_OTHER, &grown));
    next->copies = grown;
    for (int i = next->copy_room; i < room; i++) gab_buffer_init(&next->copies[i].image, GAB_MEMORY_SNAPSHOT);
    next->copy_room = room;
  }
  gab_copy *copy = &next->copies[next->copy_count++];
  copy->slot = slot;
  copy->number = number;
  copy->condition = GAB_CONDITION_UNKNOWN;
  return GAB_OK;
}

/* Memory of copies that this slot does not keep any more. */
static void release_unused(gab_snapshot *next)
{
  for (int i = next->copy_count; i < next->copy_room; i++) gab_buffer_release(&next->copies[i].image);
}

gab_status gab_redundancy_plan(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  GAB_TRY(gab_placement_make(&next->placement, &checkpoint->redundancy, &next->members, checkpoint->domains));
  next->copy_count = 0;
  GAB_TRY(gab_placement_each_kept(&next->placement, gab_world_slot(checkpoint->world), add_copy, next));
  release_unused(next);
  bool grouped =
      gab_placement_group(&next->placement, gab_world_slot(checkpoint->world), &next->parities.group);
  if (!grouped) next->parities.group.count = 0;
  if (!grouped || next->parities.group.parities == 0) gab_buffer_release(&next->parities.rows);
  return GAB_OK;
}

/* ---------------------------------------------------------------- copies */

/* One round moves copy number k of every image: a message can be under way to one holder only, since its
 * envelope names the receiver. Nobody waits for a later round, so all get through. */
static gab_status exchange_copies(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_slot me = gab_world_slot(checkpoint->world);
  for (int k = 0; k < gab_placement_copies(&next->placement); k++) {
    for (int i = 0; i < next->copy_count; i++)
      if (next->copies[i].number == k)
        GAB_TRY(gab_port_receive(checkpoint->port, next->copies[i].slot, &next->copies[i].image,
                                 GAB_SIZE_UNKNOWN));
    gab_slot holder = gab_placement_holder(&next->placement, me, k);
    if (holder != GAB_NO_SLOT) GAB_TRY(gab_port_send(checkpoint->port, holder, &next->own));
    GAB_TRY(gab_port_finish(checkpoint->port));
  }
  for (int i = 0; i < next->copy_count; i++) GAB_TRY(trim(&next->copies[i].image));
  return GAB_OK;
}

gab_status gab_redundancy_exchange(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  if (next->placement.scheme->kind == GAB_SCHEME_COPIES) return exchange_copies(checkpoint, next);
  return gab_parities_make(checkpoint, next, NULL, false, &next->parities);
}

size_t gab_redundancy_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = 0;
  for (int i = 0; i < snapshot->copy_count; i++) bytes += gab_message_bytes(&snapshot->copies[i].image);
  if (snapshot->parities.group.count > 0) bytes += snapshot->parities.rows.size;
  return bytes;
}

size_t gab_redundancy_sent(const gab_snapshot *snapshot, gab_slot slot)
{
  const gab_group *group = &snapshot->parities.group;
  size_t copies = 0;
  if (group->count > 0)
    return (size_t)group->parities * (size_t)gab_group_pieces(group) * snapshot->parities.piece;
  for (int k = 0; k < gab_placement_copies(&snapshot->placement); k++)
    copies += gab_placement_holder(&snapshot->placement, slot, k) != GAB_NO_SLOT;
  return copies * gab_message_bytes(&snapshot->own);
}

void gab_redundancy_release(gab_snapshot *snapshot)
{
  for (int k = 0; k < snapshot->copy_room; k++) gab_buffer_release(&snapshot->copies[k].image);
  gab_free(&snapshot->copies);
  gab_buffer_release(&snapshot->parities.rows);
}
