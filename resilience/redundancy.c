/* What a scheme makes of the images of a snapshot: who keeps copies of whose, and their exchange. */
#include "resilience/checkpoint_impl.h"

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
gab_status gab_redundancy_plan(gab_checkpoint *checkpoint, gab_snapshot *next)
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
gab_status gab_redundancy_exchange(gab_checkpoint *checkpoint, gab_snapshot *next)
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

size_t gab_redundancy_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = 0;
  for (int i = 0; i < snapshot->copy_count; i++) bytes += gab_message_bytes(&snapshot->copies[i].image);
  return bytes;
}
