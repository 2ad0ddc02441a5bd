/* The snapshots of a checkpoint as such: which is written next, who has survived since one, memory for their images. */
#include "resilience/checkpoint/checkpoint_impl.h"

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
  GAB_FAIL(
      GAB_ERR_LOST,
      "a fault came while a snapshot was being taken, and memory has room for one only: the one before is "
      "overwritten (resilience.memory.buffers: 2 would keep it)");
}

gab_status gab_buffer_fit(gab_buffer *buffer, size_t bytes)
{
  gab_buffer_clear(buffer);
  if (buffer->capacity >= bytes && buffer->capacity - bytes <= bytes / 64 + 4096) return GAB_OK;
  void *memory = buffer->data;
  const gab_status status = gab_realloc_unset(bytes, buffer->use, &memory);
  if (status == GAB_OK || !memory) buffer->capacity = status == GAB_OK ? bytes : 0;
  buffer->data = memory;
  return status;
}

static bool has_holder_beside(const gab_checkpoint *checkpoint, const gab_placement *placement)
{
  for (int k = 0; placement->scheme && k < gab_placement_copies(placement); k++) {
    const gab_slot holder = gab_placement_holder(placement, gab_world_slot(checkpoint->world), k);
    if (holder != GAB_NO_SLOT && gab_offer_is_of_use(checkpoint, holder)) return true;
  }
  return false;
}

/* Where the system gives none that others can see, once is often enough to ask: each time what there is would have to go ahead of it. */
gab_status gab_own_image_fit(const gab_checkpoint *checkpoint, gab_snapshot *snapshot, size_t bytes)
{
  gab_buffer *own = &snapshot->own;
  gab_shared_key key;
  void *memory;
  if (gab_shared_key_of(own->data, &key)) {
    if (gab_buffer_fit(own, bytes) == GAB_OK) return GAB_OK;
  } else if (snapshot->own_unseen || !has_holder_beside(checkpoint, &snapshot->placement)) {
    return gab_buffer_fit(own, bytes);
  }
  gab_buffer_release(own);
  const bool is_there = gab_alloc_shared(bytes, own->use, &memory) == GAB_OK;
  snapshot->own_unseen = !is_there || !gab_shared_key_of(memory, &key);
  if (!is_there) return gab_buffer_fit(own, bytes);
  own->data = memory;
  own->capacity = bytes;
  return GAB_OK;
}
