/* SPDX-License-Identifier: Apache-2.0 */
/* Replacement processes: the information that they get about earlier snapshots, and the transfer of the state of their rank.
 *
 * With respect to snapshots a process is
 *   new       without a snapshot of its own; it may have restored one with the help of others (`since`)
 *   half      with one snapshot of its own; it can restore the one before with help
 *   complete  with two of its own, or active since the start
 *
 * Invariants. (1) A replacement process can restore everything that a complete process can, so it narrows the choice of the
 * snapshot only by snapshots in which it took part itself. (2) The donor of a recovery is complete, or as close to it as any
 * process: it holds every snapshot that may be chosen. (3) A replacement process counts only as holder of images that it received
 * in a snapshot that it completed, since survivors of a snapshot are the ranks with the same incarnation as then. Its own image
 * is the exception: see the transfer of an image in checkpoint_impl.h. */
#include "resilience/checkpoint/checkpoint_impl.h"

#include "core/base/checkpoint_format.h"
#include "core/messages/collective.h"

enum { COMPLETE, HALF, WITHOUT, NEW }; /* WITHOUT: active from the start, no snapshot yet */

bool gab_replacements_possible(const gab_checkpoint *checkpoint)
{
  return gab_world_members(checkpoint->world)->return_count > 0;
}

bool gab_replacement_was_handed(const gab_snapshot *snapshot, gab_rank rank)
{
  for (int i = 0; i < snapshot->handed_count; i++)
    if (snapshot->handed[i] == rank) return true;
  return false;
}

/* Whether the part of `rank` in a snapshot has to be sent to it. Pure. */
static bool needs_part(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot, gab_rank rank)
{
  return gab_members_has(&snapshot->members, rank) && !gab_members_has(&snapshot->survivors, rank) &&
         gab_members_has(gab_world_members(checkpoint->world), rank) &&
         !gab_replacement_was_handed(snapshot, rank);
}

/* ---------------------------------------------------------------- the donor */

static uint64_t how_new(const gab_checkpoint *checkpoint)
{
  const bool any = checkpoint->snapshots[0].complete || checkpoint->snapshots[1].complete;
  if (!any)
    return gab_world_incarnation(checkpoint->world, gab_world_rank(checkpoint->world)) > 0 ? NEW : WITHOUT;
  return checkpoint->since > 0 ? HALF : COMPLETE;
}

gab_status gab_replacements_find_donor(gab_checkpoint *checkpoint)
{
  const gab_rank me = gab_world_rank(checkpoint->world);
  const bool came_back = gab_world_incarnation(checkpoint->world, me) > 0;
  uint64_t least[2] = {how_new(checkpoint) << 32 | (uint32_t)me,
                       gab_replacements_known_processes(checkpoint)};
  if (came_back && checkpoint->stats.taken == 0 && checkpoint->since == 0) checkpoint->since = UINT64_MAX;
  GAB_TRY(gab_world_min_u64(checkpoint->world, least, 2));
  checkpoint->donor = (gab_rank)(uint32_t)least[0];
  checkpoint->donor_has_snapshot = least[0] >> 32 < WITHOUT;
  checkpoint->all_are_new = least[0] >> 32 == NEW;
  return gab_replacements_place(checkpoint, least[1]);
}

/* ---------------------------------------------------------------- heads */

static gab_status put_heads(const gab_checkpoint *checkpoint, gab_buffer *out)
{
  const gab_snapshot *both = checkpoint->snapshots;
  GAB_TRY(gab_put_u8(out, (uint8_t)(both[0].complete + both[1].complete)));
  for (int i = 0; i < 2; i++) {
    if (!both[i].complete) continue;
    GAB_TRY(gab_put_u64(out, both[i].serial));
    GAB_TRY(gab_put_i64(out, both[i].step));
    GAB_TRY(gab_put_u64(out, both[i].blocks));
    GAB_TRY(gab_put_u8(out, both[i].placement.domains != NULL));
    GAB_TRY(gab_members_pack(&both[i].members, out));
    GAB_TRY(gab_members_pack(&both[i].placement.members,
                             out)); /* other ranks too, if ranks were assigned without a repair */
  }
  return GAB_OK;
}

/* Place for a missing head: it must not overwrite a held snapshot, and preferably is the buffer that has the received
 * image. NULL if it is known, or if no buffer is free; then it will not be chosen. */
static gab_snapshot *place_for(gab_checkpoint *checkpoint, uint64_t serial)
{
  gab_snapshot *place = NULL;
  for (int i = 0; i < 2; i++) {
    gab_snapshot *snapshot = &checkpoint->snapshots[i];
    if (snapshot->serial == serial && snapshot->complete) return NULL;
    if (snapshot->serial == serial && snapshot->keeps_handed) return snapshot;
    if (snapshot->complete || snapshot->told) continue;
    if (!place || place->keeps_handed) place = snapshot;
  }
  return place;
}

static gab_status take_head(gab_checkpoint *checkpoint, gab_reader *in)
{
  gab_snapshot head = {.told = true};
  gab_members_init(&head.members, 0);
  gab_members_init(&head.survivors, 0); /* in the plan, on this rank */
  int64_t step;
  uint8_t has_domains;
  GAB_TRY(gab_get_u64(in, &head.serial));
  GAB_TRY(gab_get_i64(in, &step));
  GAB_TRY(gab_get_u64(in, &head.blocks));
  GAB_TRY(gab_get_u8(in, &has_domains));
  GAB_TRY(gab_members_unpack(&head.members, in));
  GAB_TRY(gab_members_unpack(&head.survivors, in));
  gab_snapshot *place = checkpoint->since > 0 ? place_for(checkpoint, head.serial) : NULL;
  gab_status status = GAB_OK;
  if (place) {
    place->blocks = head.blocks;
    place->own_blocks = 0;
    place->told = true;
    if (place->serial != head.serial || !place->keeps_handed) gab_buffer_clear(&place->own);
    place->keeps_handed = false;
    place->serial = head.serial;
    place->step = step;
    gab_buffer_clear(&place->replicated);
    status = gab_members_copy(&place->members, &head.survivors);
    if (status == GAB_OK)
      status = gab_redundancy_plan(checkpoint, place, has_domains ? checkpoint->domains : NULL);
    if (status == GAB_OK) status = gab_members_copy(&place->members, &head.members);
    place->copy_count = 0; /* it stores no copies of that time */
    place->parities.group.count = 0;
  }
  gab_members_release(&head.members);
  gab_members_release(&head.survivors);
  return status;
}

static gab_status take_heads(gab_checkpoint *checkpoint, gab_reader in)
{
  uint8_t count;
  for (int i = 0; i < 2; i++) { /* those of an earlier recovery */
    checkpoint->snapshots[i].keeps_handed = checkpoint->snapshots[i].told;
    checkpoint->snapshots[i].told = false;
  }
  GAB_TRY(gab_get_u8(&in, &count));
  for (int i = 0; i < count; i++) GAB_TRY(take_head(checkpoint, &in));
  return GAB_OK;
}

/* ---------------------------------------------------------------- who holds the image that it was handed */

static bool holds_handed(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot)
{
  const gab_rank me = gab_world_rank(checkpoint->world);
  gab_reader forest, entities;
  return snapshot->told && snapshot->own.size > 0 && snapshot->placement.scheme->kind == GAB_SCHEME_COPIES &&
         gab_image_open(&snapshot->own, snapshot, me, me, &forest, &entities) == GAB_OK;
}

static gab_status append(void *user, gab_rank from, gab_reader bytes)
{
  (void)from;
  return gab_put_bytes(user, bytes.at, gab_reader_left(&bytes));
}

static gab_status add_handed(gab_snapshot *snapshot, gab_rank rank)
{
  GAB_TRY(gab_list_reserve(&snapshot->handed, (size_t)snapshot->handed_count, sizeof *snapshot->handed));
  snapshot->handed[snapshot->handed_count++] = rank;
  return GAB_OK;
}

static gab_status take_handed(gab_checkpoint *checkpoint, gab_reader in)
{
  while (gab_reader_left(&in) > 0) {
    gab_rank rank;
    uint64_t serial;
    GAB_TRY(gab_get_i32(&in, &rank));
    GAB_TRY(gab_get_u64(&in, &serial));
    for (int i = 0; i < 2; i++)
      if (checkpoint->snapshots[i].serial == serial) GAB_TRY(add_handed(&checkpoint->snapshots[i], rank));
  }
  return GAB_OK;
}

/* Informs all ranks. Collective. */
static gab_status spread_handed(gab_checkpoint *checkpoint)
{
  gab_world *world = checkpoint->world;
  gab_buffer here, all;
  gab_status status = GAB_OK;
  gab_buffer_init(&here, GAB_MEMORY_OTHER);
  gab_buffer_init(&all, GAB_MEMORY_OTHER);
  for (int i = 0; i < 2; i++) {
    gab_snapshot *snapshot = &checkpoint->snapshots[i];
    snapshot->handed_count = 0;
    if (!holds_handed(checkpoint, snapshot)) continue;
    if (status == GAB_OK) status = gab_put_i32(&here, gab_world_rank(world));
    if (status == GAB_OK) status = gab_put_u64(&here, snapshot->serial);
  }
  if (status == GAB_OK) status = gab_world_gather(world, &here, append, &all);
  if (status == GAB_OK) status = gab_world_broadcast(world, gab_world_root(world), &all);
  if (status == GAB_OK) status = take_handed(checkpoint, gab_reader_of_buffer(&all));
  gab_buffer_release(&here);
  gab_buffer_release(&all);
  return status;
}

gab_status gab_replacements_brief(gab_checkpoint *checkpoint)
{
  gab_world *world = checkpoint->world;
  if (checkpoint->donor == GAB_NO_RANK) GAB_TRY(gab_replacements_find_donor(checkpoint));
  if (!checkpoint->donor_has_snapshot && checkpoint->single && checkpoint->stats.taken > 0)
    return gab_single_snapshot_torn();
  if (!checkpoint->donor_has_snapshot) GAB_FAIL(GAB_ERR_LOST, "no process is left that holds a snapshot");
  const bool is_donor = gab_world_rank(world) == checkpoint->donor;
  gab_buffer heads;
  gab_buffer_init(&heads, GAB_MEMORY_OTHER);
  gab_status status = is_donor ? put_heads(checkpoint, &heads) : GAB_OK;
  if (status == GAB_OK) status = gab_world_broadcast(world, checkpoint->donor, &heads);
  if (status == GAB_OK) status = take_heads(checkpoint, gab_reader_of_buffer(&heads));
  gab_buffer_release(&heads);
  return status == GAB_OK ? spread_handed(checkpoint) : status;
}

/* ---------------------------------------------------------------- the parts of the lost */

/* All ranks take part, since it is a broadcast; those that have them keep theirs. */
static gab_status spread_replicated(gab_checkpoint *checkpoint, gab_snapshot *snapshot)
{
  gab_buffer bytes;
  gab_buffer_init(&bytes, GAB_MEMORY_OTHER);
  gab_status status = GAB_OK;
  if (gab_world_rank(checkpoint->world) == checkpoint->donor)
    status = gab_put_bytes(&bytes, snapshot->replicated.data, snapshot->replicated.size);
  if (status == GAB_OK) status = gab_world_broadcast(checkpoint->world, checkpoint->donor, &bytes);
  if (status == GAB_OK && snapshot->told) {
    gab_buffer_clear(&snapshot->replicated);
    status = gab_put_bytes(&snapshot->replicated, bytes.data, bytes.size);
  }
  gab_buffer_release(&bytes);
  return status;
}

static gab_rank restorer_of(const gab_snapshot *snapshot, gab_rank rank)
{
  return gab_placement_restorer(&snapshot->placement, &snapshot->survivors, rank);
}

/* Reconstructed or decompressed images are separate from the copies. */
static bool is_rescued(const gab_rescued *rescued, gab_rank rank)
{
  for (int i = 0; i < rescued->count; i++)
    if (rescued->images[i].rank == rank) return true;
  return false;
}

static gab_status list_image(gab_checkpoint *checkpoint, const gab_snapshot *snapshot, gab_copy *copy,
                             gab_image_way way, gab_image_moves *moves)
{
  const gab_rank me = gab_world_rank(checkpoint->world);
  if (!needs_part(checkpoint, snapshot, copy->rank) || restorer_of(snapshot, copy->rank) != me) return GAB_OK;
  return gab_image_moves_send(moves, copy->rank, &copy->image, way);
}

/* A copy stays on this rank until the next snapshot, also if the receiver dies. Rescued images are reconstructed again. */
static gab_status list_images(gab_checkpoint *checkpoint, gab_snapshot *snapshot, gab_rescued *rescued,
                              gab_image_moves *moves)
{
  for (int i = 0; i < rescued->count; i++)
    GAB_TRY(list_image(checkpoint, snapshot, &rescued->images[i], GAB_IMAGE_SENT, moves));
  for (int i = 0; i < snapshot->copy_count; i++) {
    gab_copy *copy = &snapshot->copies[i];
    bool first = !is_rescued(rescued, copy->rank);
    for (int k = 0; k < i; k++) first = first && snapshot->copies[k].rank != copy->rank;
    if (first) GAB_TRY(list_image(checkpoint, snapshot, copy, GAB_IMAGE_KEPT, moves));
  }
  return GAB_OK;
}

/* Verifies that the received part is the packed one. */
static gab_status check_part(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot)
{
  const gab_rank me = gab_world_rank(checkpoint->world);
  gab_reader forest, entities, replicated = gab_reader_of_buffer(&snapshot->replicated),
                               image = gab_message_reader(&snapshot->own);
  if (!gab_checksum_matches(&replicated))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "the replicated entities that were sent to rank %" GAB_PRI_RANK " are not whole", me);
  if (!gab_checksum_matches(&image))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "the image of rank %" GAB_PRI_RANK " (snapshot of step %" GAB_PRI_STEP
             ") arrived damaged from rank %" GAB_PRI_RANK ": its hash does not match",
             me, snapshot->step, restorer_of(snapshot, me));
  return gab_image_cut(gab_message_reader(&snapshot->own), GAB_CHECKPOINT_FORMAT, snapshot->serial,
                       snapshot->step, me, &forest, &entities);
}

static gab_status hand_over(gab_checkpoint *checkpoint, gab_snapshot *snapshot, gab_rescued *rescued,
                            bool is_served)
{
  const gab_rank me = gab_world_rank(checkpoint->world);
  gab_image_moves moves = {.port = checkpoint->port};
  gab_status status = is_served
                          ? gab_image_moves_receive(&moves, restorer_of(snapshot, me), &snapshot->own, NULL)
                          : list_images(checkpoint, snapshot, rescued, &moves);
  if (status == GAB_OK) status = gab_image_moves_post(&moves);
  if (status == GAB_OK) gab_world_enter(checkpoint->world, GAB_FAULT_POINT_HAND_OVER);
  if (status == GAB_OK) status = gab_image_moves_finish(&moves);
  status = gab_image_moves_end(&moves, status); /* a failure releases the rescued images */
  gab_image_moves_release(&moves);
  return status;
}

gab_status gab_replacements_serve(gab_checkpoint *checkpoint, gab_snapshot *snapshot, gab_rescued *rescued)
{
  const bool is_served = needs_part(checkpoint, snapshot, gab_world_rank(checkpoint->world));
  GAB_TRY(spread_replicated(checkpoint, snapshot));
  GAB_TRY(hand_over(checkpoint, snapshot, rescued, is_served));
  return is_served ? check_part(checkpoint, snapshot) : GAB_OK;
}

void gab_replacement_settle(gab_checkpoint *checkpoint, gab_snapshot *snapshot)
{
  snapshot->own_blocks = gab_forest_block_count(checkpoint->forest);
  checkpoint->since = snapshot->serial;
}
