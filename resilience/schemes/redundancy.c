/* SPDX-License-Identifier: Apache-2.0 */
/* Images stored by each rank for others, as the scheme requires. */
#include "resilience/schemes/redundancy_impl.h"
#include "resilience/schemes/placement_impl.h"

/* ---------------------------------------------------------------- who keeps what */

static gab_status add_copy(void *user, gab_rank rank, int number)
{
  gab_snapshot *next = user;
  if (next->copy_count == next->copy_capacity) {
    int capacity = next->copy_capacity + 4;
    GAB_TRY(GAB_RESIZE_ARRAY(&next->copies, (size_t)capacity, GAB_MEMORY_OTHER));
    for (int i = next->copy_capacity; i < capacity; i++) {
      next->copies[i] = (gab_copy){.rank = GAB_NO_RANK};
      gab_buffer_init(&next->copies[i].image, GAB_MEMORY_SNAPSHOT);
      gab_buffer_init(&next->copies[i].answer, GAB_MEMORY_MESSAGE);
    }
    next->copy_capacity = capacity;
  }
  gab_copy *copy = &next->copies[next->copy_count++];
  copy->rank = rank;
  copy->number = number;
  copy->condition = GAB_CONDITION_UNKNOWN;
  copy->decision = GAB_OFFER_NONE;
  gab_copy_forget(copy);
  return GAB_OK;
}

/* Memory of copies that this rank does not keep any more. */
static void release_unused(gab_snapshot *next)
{
  for (int i = next->copy_count; i < next->copy_capacity; i++) gab_copy_release(&next->copies[i]);
}

gab_status gab_redundancy_plan(gab_checkpoint *checkpoint, gab_snapshot *next, const gab_domains *domains)
{
  GAB_TRY(gab_placement_make(&next->placement, &checkpoint->redundancy, &next->members, domains));
  next->copy_count = 0;
  next->shared_holders = 0;
  GAB_TRY(gab_placement_each_kept(&next->placement, gab_world_rank(checkpoint->world), add_copy, next));
  release_unused(next);
  bool grouped =
      gab_placement_group(&next->placement, gab_world_rank(checkpoint->world), &next->parities.group);
  if (!grouped) next->parities.group.count = 0;
  if (!grouped || next->parities.group.parities == 0) gab_buffer_release(&next->parities.rows);
  return GAB_OK;
}

/* ---------------------------------------------------------------- sending it round */

gab_status gab_redundancy_begin(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  if (next->placement.scheme->kind == GAB_SCHEME_COPIES) return gab_transfer_begin(checkpoint, next);
  checkpoint->transfer.there = true;
  return gab_parities_make(checkpoint, next, NULL, false, &next->parities);
}

gab_status gab_redundancy_exchange(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  GAB_TRY(gab_redundancy_begin(checkpoint, next));
  return gab_transfer_finish(checkpoint, next);
}

size_t gab_redundancy_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = 0;
  for (int i = 0; i < snapshot->copy_count; i++) bytes += gab_message_bytes(&snapshot->copies[i].image);
  if (snapshot->parities.group.count > 0) bytes += snapshot->parities.rows.size;
  return bytes;
}

size_t gab_redundancy_shared_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = 0;
  for (int i = 0; i < snapshot->copy_count; i++)
    if (snapshot->copies[i].image.fixed) bytes += gab_message_bytes(&snapshot->copies[i].image);
  return bytes;
}

size_t gab_redundancy_raw_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = snapshot->parities.group.count > 0 ? snapshot->parities.rows.size : 0;
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_buffer *image = &snapshot->copies[i].image;
    size_t raw;
    bytes += gab_image_is_compressed(image, &raw) ? raw : gab_message_bytes(image);
  }
  return bytes;
}

size_t gab_redundancy_sent(const gab_snapshot *snapshot, gab_rank rank)
{
  const gab_group *group = &snapshot->parities.group;
  size_t copies = 0;
  if (group->count > 0)
    return (size_t)group->parities * (size_t)gab_group_pieces(group) * snapshot->parities.piece;
  for (int k = 0; k < gab_placement_copies(&snapshot->placement); k++)
    copies += gab_placement_holder(&snapshot->placement, rank, k) != GAB_NO_RANK;
  return (copies - (size_t)snapshot->shared_holders) * snapshot->sent_each;
}

void gab_redundancy_release(gab_snapshot *snapshot)
{
  for (int k = 0; k < snapshot->copy_capacity; k++) gab_copy_release(&snapshot->copies[k]);
  gab_free(&snapshot->copies);
  gab_buffer_release(&snapshot->parities.rows);
}
