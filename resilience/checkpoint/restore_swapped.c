/* SPDX-License-Identifier: Apache-2.0 */
/* Restore from copies only, without a death: each rank restores the state of the rank whose copy it stores. */
#include "resilience/checkpoint/checkpoint_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"

typedef struct part {
  const gab_snapshot *snapshot;
  const gab_copy *copy; /* becomes the state of this rank */
  int copies;           /* number of candidates */
  gab_buffer expanded;  /* of a compressed copy */
} part;

static gab_rank keeper(void *context, gab_rank rank)
{
  const part *p = context;
  return gab_placement_holder(&p->snapshot->placement, rank, 0);
}

/* If first copies are a shift around the ring, each rank stores exactly one of them. */
static gab_status find_part(const gab_checkpoint *checkpoint, part *found)
{
  const gab_snapshot *snapshot = &checkpoint->snapshots[checkpoint->valid];
  const gab_members *now = gab_world_members(checkpoint->world);
  *found = (part){.snapshot = snapshot};
  gab_buffer_init(&found->expanded, GAB_MEMORY_SNAPSHOT);
  if (!snapshot->complete) GAB_FAIL(GAB_ERR_STATE, "there is no snapshot to go back to");
  if (gab_placement_copies(&snapshot->placement) == 0 || snapshot->placement.scheme->holder ||
      gab_members_count(now) < 2 || gab_members_count(now) != gab_members_count(&snapshot->members))
    GAB_FAIL(GAB_ERR_STATE, "scheme %s keeps no copy of everybody on somebody living",
             snapshot->placement.scheme->name);
  for (int i = 0; i < snapshot->copy_count; i++) {
    if (snapshot->copies[i].number != 0) continue;
    found->copy = &snapshot->copies[i];
    found->copies++;
  }
  return GAB_OK;
}

static gab_status open_part(part *p, gab_rank me, gab_image_list *list)
{
  if (p->copies != 1)
    GAB_FAIL(GAB_ERR_STATE, "rank %" GAB_PRI_RANK " keeps %d first copies, not one", me, p->copies);
  list->replicated = gab_reader_of_buffer(&p->snapshot->replicated);
  if (!gab_checksum_matches(&list->replicated))
    GAB_FAIL(GAB_ERR_CORRUPT, "the replicated entities at rank %" GAB_PRI_RANK " have changed in memory", me);
  const gab_buffer *image = &p->copy->image;
  if (gab_image_is_compressed(image, NULL)) {
    GAB_TRY(gab_image_expand(image, &p->expanded));
    image = &p->expanded;
  }
  gab_image_view *view = &list->images[list->count++];
  view->rank = p->copy->rank;
  return gab_image_open(image, p->snapshot, view->rank, me, &view->forest, &view->entities);
}

/* All ranks get the worst status, so all restore or none. */
static gab_status agree_on(gab_checkpoint *checkpoint, gab_status status)
{
  uint64_t worst = (uint64_t)status;
  GAB_TRY(gab_world_max_u64(checkpoint->world, &worst, 1));
  if (status != GAB_OK || worst == (uint64_t)GAB_OK) return status;
  GAB_FAIL((gab_status)worst, "another rank has no whole copy to go back to");
}

gab_status gab_checkpoint_restore_swapped(gab_checkpoint *checkpoint, gab_restore_report *report)
{
  part p;
  gab_image_list list = {0};
  *report = (gab_restore_report){.step = -1};
  GAB_TRY(find_part(checkpoint, &p));
  double start = gab_seconds();
  gab_status status = gab_images_begin(&list, 1);
  if (status == GAB_OK) status = open_part(&p, gab_world_rank(checkpoint->world), &list);
  status = agree_on(checkpoint, status);
  double agreed = gab_seconds();
  if (status == GAB_OK) status = gab_images_restore_blocks(checkpoint, &list, keeper, &p);
  if (status == GAB_OK) status = gab_images_restore_entities(checkpoint, &list);
  gab_images_release(&list);
  gab_buffer_release(&p.expanded);
  GAB_TRY(status);
  report->step = p.snapshot->step;
  report->adopted = gab_forest_block_count(checkpoint->forest);
  report->agree_seconds = agreed - start;
  report->seconds = gab_seconds() - agreed;
  return GAB_OK;
}
