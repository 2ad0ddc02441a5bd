/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of a checkpoint: the next one to write, survivors since one, memory of their images. */
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
  GAB_FAIL(GAB_ERR_LOST,
           "a fault came while a snapshot was being taken, and memory holds one only: the one before is "
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
