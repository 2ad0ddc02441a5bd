/* SPDX-License-Identifier: Apache-2.0 */
/* Replacement of data that changed in memory or was lost with a failed rank: images from another copy or from the rest of
 * their group, replicated entities from any rank. The list of changed data is short and known to all ranks, so all derive
 * the same sources. */
#include "resilience/schemes/redundancy_impl.h"

#include "core/base/checkpoint_format.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/events_impl.h"
#include "resilience/schemes/placement_impl.h"

#include <stdio.h>
#include <string.h>

typedef enum part { PART_IMAGE, PART_REPLICATED, PART_PARITIES } part;

/* The image of `rank` (or other bytes) as stored by `holder`. */
typedef struct changed {
  int32_t part;
  gab_rank holder, rank;
  int32_t condition; /* neither unknown nor intact */
} changed;

typedef struct repairing {
  gab_checkpoint *checkpoint;
  gab_snapshot *snapshot;
  const gab_members *now;
  gab_rank me;
  changed *list;
  size_t count;
  gab_rescued *rescued;
} repairing;

/* ---------------------------------------------------------------- what has changed here */

static gab_condition verify_hash(gab_reader bytes)
{
  if (gab_reader_left(&bytes) == 0) return GAB_CONDITION_ABSENT;
  return gab_checksum_matches(&bytes) ? GAB_CONDITION_WHOLE : GAB_CONDITION_CHANGED;
}

static bool check_message(const gab_buffer *message, gab_condition *condition)
{
  if (*condition == GAB_CONDITION_UNKNOWN) *condition = verify_hash(gab_message_reader(message));
  return *condition == GAB_CONDITION_WHOLE;
}

static bool check_bytes(const gab_buffer *bytes, gab_condition *condition)
{
  if (*condition == GAB_CONDITION_UNKNOWN) *condition = verify_hash(gab_reader_of_buffer(bytes));
  return *condition == GAB_CONDITION_WHOLE;
}

/* A copy whose hash is recomputed in place may be intact but belong to another snapshot: its rank may have written the next
 * one there, and died before the others began it. */
static bool check_copy(const gab_snapshot *snapshot, gab_copy *copy)
{
  gab_reader forest, entities;
  const bool known = copy->condition != GAB_CONDITION_UNKNOWN,
             whole = check_message(&copy->image, &copy->condition);
  if (!copy->image.fixed) return whole;
  if (whole && !known &&
      gab_image_cut(gab_message_reader(&copy->image), GAB_CHECKPOINT_FORMAT, snapshot->serial, snapshot->step,
                    copy->rank, &forest, &entities) != GAB_OK)
    copy->condition = GAB_CONDITION_OVERWRITTEN;
  return copy->condition == GAB_CONDITION_WHOLE;
}

void gab_condition_forget(gab_snapshot *snapshot)
{
  snapshot->own_condition = snapshot->replicated_condition = GAB_CONDITION_UNKNOWN;
  snapshot->parities.condition = GAB_CONDITION_UNKNOWN;
  for (int i = 0; i < snapshot->copy_count; i++) snapshot->copies[i].condition = GAB_CONDITION_UNKNOWN;
}

static bool has_parities(const gab_snapshot *snapshot)
{
  return snapshot->parities.group.count > 0 && snapshot->parities.group.parities > 0;
}

static bool somebody_is_gone(const gab_group *group, const gab_members *now)
{
  for (int i = 0; i < group->count; i++)
    if (!gab_members_has(now, group->ranks[i])) return true;
  return false;
}

bool gab_condition_is_good(const gab_checkpoint *checkpoint, gab_snapshot *snapshot)
{
  const gab_members *now = &snapshot->survivors;
  if (snapshot->told) return true; /* no part of it is stored here */
  gab_rank me = gab_world_rank(checkpoint->world);
  bool good = check_message(&snapshot->own, &snapshot->own_condition);
  good = check_bytes(&snapshot->replicated, &snapshot->replicated_condition) && good;
  for (int i = 0; i < snapshot->copy_count; i++) {
    gab_copy *copy = &snapshot->copies[i];
    if (gab_members_has(now, copy->rank) ||
        gab_placement_restorer(&snapshot->placement, now, copy->rank) != me)
      continue;
    good = check_copy(snapshot, copy) && good;
  }
  if (has_parities(snapshot) && somebody_is_gone(&snapshot->parities.group, now))
    good = check_bytes(&snapshot->parities.rows, &snapshot->parities.condition) && good;
  return good;
}

static gab_status put_finding(gab_buffer *out, part which, gab_rank holder, gab_rank rank,
                              gab_condition condition)
{
  GAB_TRY(gab_put_i32(out, which));
  GAB_TRY(gab_put_i32(out, holder));
  GAB_TRY(gab_put_i32(out, rank));
  return gab_put_i32(out, (int32_t)condition);
}

static gab_status put_findings(const repairing *m, gab_buffer *out)
{
  gab_snapshot *snapshot = m->snapshot;
  if (snapshot->told) return GAB_OK;
  if (!check_message(&snapshot->own, &snapshot->own_condition))
    GAB_TRY(put_finding(out, PART_IMAGE, m->me, m->me, snapshot->own_condition));
  if (!check_bytes(&snapshot->replicated, &snapshot->replicated_condition))
    GAB_TRY(put_finding(out, PART_REPLICATED, m->me, m->me, snapshot->replicated_condition));
  for (int i = 0; i < snapshot->copy_count; i++)
    if (!check_copy(snapshot, &snapshot->copies[i]))
      GAB_TRY(put_finding(out, PART_IMAGE, m->me, snapshot->copies[i].rank, snapshot->copies[i].condition));
  if (has_parities(snapshot) && !check_bytes(&snapshot->parities.rows, &snapshot->parities.condition))
    GAB_TRY(put_finding(out, PART_PARITIES, m->me, m->me, snapshot->parities.condition));
  return GAB_OK;
}

/* ---------------------------------------------------------------- what has changed anywhere */

static gab_status append(void *user, gab_rank from, gab_reader bytes)
{
  (void)from;
  return gab_put_bytes(user, bytes.at, gab_reader_left(&bytes));
}

/* Gives everybody the same list, in the order of the holders. Collective. */
static gab_status gather(repairing *m, gab_buffer *here, gab_buffer *all)
{
  gab_world *world = m->checkpoint->world;
  GAB_TRY(gab_world_gather(world, here, append, all));
  GAB_TRY(gab_world_broadcast(world, gab_world_root(world), all));
  gab_reader in = gab_reader_of_buffer(all);
  m->count = all->size / sizeof(changed);
  GAB_TRY(GAB_NEW_ARRAY(&m->list, m->count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < m->count; i++) {
    GAB_TRY(gab_get_i32(&in, &m->list[i].part));
    GAB_TRY(gab_get_i32(&in, &m->list[i].holder));
    GAB_TRY(gab_get_i32(&in, &m->list[i].rank));
    GAB_TRY(gab_get_i32(&in, &m->list[i].condition));
  }
  return GAB_OK;
}

static gab_status find_changed(repairing *m)
{
  gab_buffer here, all;
  gab_buffer_init(&here, GAB_MEMORY_OTHER);
  gab_buffer_init(&all, GAB_MEMORY_OTHER);
  gab_status status = put_findings(m, &here);
  if (status == GAB_OK) status = gather(m, &here, &all);
  gab_buffer_release(&here);
  gab_buffer_release(&all);
  return status;
}

/* ---------------------------------------------------------------- who helps */

static bool is_changed(const repairing *m, part which, gab_rank holder, gab_rank rank)
{
  for (size_t i = 0; i < m->count; i++)
    if (m->list[i].part == (int32_t)which && m->list[i].holder == holder && m->list[i].rank == rank)
      return true;
  return false;
}

static bool has_whole_image(const repairing *m, gab_rank holder, gab_rank rank)
{
  return holder != GAB_NO_RANK && gab_members_has(m->now, holder) && !is_changed(m, PART_IMAGE, holder, rank);
}

/* A live rank that has the data that another one lacks; GAB_NO_RANK if there is none. */
static gab_rank find_source(const repairing *m, const changed *lack)
{
  if (lack->part == PART_REPLICATED) {
    for (int32_t i = 0; i < gab_members_count(m->now); i++) {
      gab_rank rank = gab_members_rank(m->now, i);
      if (!is_changed(m, PART_REPLICATED, rank, rank)) return rank;
    }
    return GAB_NO_RANK;
  }
  if (has_whole_image(m, lack->rank, lack->rank)) return lack->rank;
  for (int k = 0; k < gab_placement_copies(&m->snapshot->placement); k++) {
    gab_rank holder = gab_placement_holder(&m->snapshot->placement, lack->rank, k);
    if (has_whole_image(m, holder, lack->rank)) return holder;
  }
  return GAB_NO_RANK;
}

static void find_losses(const repairing *m, const gab_group *group, gab_group_losses *losses)
{
  for (int i = 0; i < group->count; i++) {
    gab_rank rank = group->ranks[i];
    losses->living[i] = gab_members_has(m->now, rank);
    losses->image_gone[i] = !losses->living[i] || is_changed(m, PART_IMAGE, rank, rank);
    losses->parity_gone[i] = !losses->living[i] || is_changed(m, PART_PARITIES, rank, rank);
  }
  for (int i = 0; i < group->count; i++) {
    losses->target[i] = -1;
    if (losses->image_gone[i])
      losses->target[i] = losses->living[i] ? i : gab_group_restorer(group, losses->living, i);
  }
}

/* More members died than the group tolerates: their blocks are approximated, or lost. */
static bool is_given_up(const gab_group *group, const gab_group_losses *losses)
{
  for (int i = 0; i < group->count; i++)
    if (losses->image_gone[i] && losses->target[i] < 0) return true;
  return false;
}

/* Whether an entry of the list can be repaired; parities only as far as images need them. */
static bool can_repair(const repairing *m, const changed *lack)
{
  gab_group group;
  gab_group_losses losses;
  bool grouped = gab_placement_group(&m->snapshot->placement, lack->holder, &group);
  if (lack->part == PART_REPLICATED || !grouped) return find_source(m, lack) != GAB_NO_RANK;
  find_losses(m, &group, &losses);
  if (lack->part == PART_PARITIES && is_given_up(&group, &losses)) return true; /* no longer needed */
  return gab_group_can_rebuild(&group, &losses);
}

static const char *name_of(int32_t which)
{
  return which == PART_IMAGE ? "image" : which == PART_REPLICATED ? "replicated entities" : "parities";
}

static const char *what_happened(int32_t condition)
{
  return condition == GAB_CONDITION_ABSENT        ? "a transfer of it broke off"
         : condition == GAB_CONDITION_OVERWRITTEN ? "overwritten by another snapshot"
                                                  : "changed in memory, its hash does not match";
}

static gab_status check_all(const repairing *m)
{
  for (size_t i = 0; i < m->count; i++) {
    const changed *lack = &m->list[i];
    if (can_repair(m, lack)) continue;
    GAB_FAIL(GAB_ERR_LOST,
             "the %s of rank %" GAB_PRI_RANK " that rank %" GAB_PRI_RANK
             " holds (snapshot of step %" GAB_PRI_STEP "): %s, and no whole copy is left to replace it",
             name_of(lack->part), lack->rank, lack->holder, m->snapshot->step,
             what_happened(lack->condition));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- putting it right */

static void log_replaced(const repairing *m, part which, gab_rank rank, const char *from)
{
  const char *what = name_of(which);
  m->checkpoint->stats.replaced++;
  gab_log_all(GAB_LOG_WARNING,
              "the %s of rank %" GAB_PRI_RANK " held here (snapshot of step %" GAB_PRI_STEP
              ") had changed in memory: replaced from %s",
              what, rank, m->snapshot->step, from);
  gab_json *event = gab_event_begin(m->checkpoint->events, "replaced");
  gab_json_text(event, "what", what);
  gab_json_int(event, "of_rank", rank);
  gab_json_int(event, "of_step", m->snapshot->step);
  gab_json_text(event, "from", from);
  gab_event_end(m->checkpoint->events, &event);
}

static gab_buffer *image_here(const repairing *m, gab_rank rank, gab_condition **condition)
{
  gab_snapshot *snapshot = m->snapshot;
  *condition = &snapshot->own_condition;
  if (rank == m->me) return &snapshot->own;
  for (int i = 0; i < snapshot->copy_count; i++)
    if (snapshot->copies[i].rank == rank) {
      *condition = &snapshot->copies[i].condition;
      return &snapshot->copies[i].image;
    }
  return NULL;
}

/* Expands an image that was received as a compressed copy. The hash of the image itself is verified, too. */
static gab_status expand_in_place(gab_buffer *image)
{
  gab_buffer raw;
  gab_condition seen = GAB_CONDITION_UNKNOWN;
  if (!gab_image_is_compressed(image, NULL)) return GAB_OK;
  gab_buffer_init(&raw, GAB_MEMORY_SNAPSHOT);
  gab_status status = gab_image_expand(image, &raw);
  if (status == GAB_OK && !check_message(&raw, &seen))
    status =
        gab_error_set(GAB_ERR_CORRUPT, __FILE__, __LINE__, "what a compressed image expands to is not whole");
  if (status == GAB_OK) gab_buffer_swap(image, &raw);
  gab_buffer_release(&raw);
  return status;
}

/* A writer to disk that still reads the old bytes keeps them. */
static gab_status put_in_place(const repairing *m, gab_rank rank, gab_buffer *fresh)
{
  gab_condition *condition, seen = GAB_CONDITION_UNKNOWN;
  gab_buffer *place = image_here(m, rank, &condition);
  if (!check_message(fresh, &seen))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "an image of rank %" GAB_PRI_RANK " that was to replace another one is not whole", rank);
  if (place == &m->snapshot->own) GAB_TRY(expand_in_place(fresh));
  if (place == &m->snapshot->own && m->checkpoint->before_overwrite)
    m->checkpoint->before_overwrite(m->checkpoint->overwrite_user, m->snapshot);
  gab_buffer_swap(place, fresh);
  *condition = GAB_CONDITION_WHOLE;
  return GAB_OK;
}

static gab_status send_one(const repairing *m, gab_rank to, gab_buffer *image, gab_image_way way)
{
  gab_image_moves moves = {.port = m->checkpoint->port};
  const gab_status status = gab_image_moves_run(&moves, gab_image_moves_send(&moves, to, image, way));
  gab_image_moves_release(&moves);
  return status;
}

static gab_status receive_one(const repairing *m, gab_rank from, gab_buffer *image)
{
  gab_image_moves moves = {.port = m->checkpoint->port};
  const gab_status status = gab_image_moves_run(&moves, gab_image_moves_receive(&moves, from, image, NULL));
  gab_image_moves_release(&moves);
  return status;
}

static gab_status replace_image(const repairing *m, const changed *lack, gab_rank source)
{
  gab_condition *condition;
  if (source == m->me)
    return send_one(m, lack->holder, image_here(m, lack->rank, &condition), GAB_IMAGE_KEPT);
  gab_buffer fresh;
  char from[64];
  gab_buffer_init(&fresh, GAB_MEMORY_SNAPSHOT);
  gab_status status = receive_one(m, source, &fresh);
  if (status == GAB_OK) status = put_in_place(m, lack->rank, &fresh);
  gab_buffer_release(&fresh);
  snprintf(from, sizeof from, "rank %" GAB_PRI_RANK, source);
  if (status == GAB_OK) log_replaced(m, PART_IMAGE, lack->rank, from);
  return status;
}

static gab_status replace_replicated(const repairing *m, gab_rank holder, gab_rank source)
{
  gab_buffer message, *replicated = &m->snapshot->replicated;
  char from[64];
  gab_buffer_init(&message, GAB_MEMORY_MESSAGE);
  gab_status status = gab_message_begin(&message);
  if (status == GAB_OK && source == m->me) {
    status = gab_put_bytes(&message, replicated->data, replicated->size);
    if (status == GAB_OK) status = send_one(m, holder, &message, GAB_IMAGE_SENT);
  } else if (status == GAB_OK) {
    status = receive_one(m, source, &message);
  }
  if (status == GAB_OK && source != m->me) {
    gab_reader in = gab_message_reader(&message);
    gab_buffer_clear(replicated);
    status = gab_put_bytes(replicated, in.at, gab_reader_left(&in));
    m->snapshot->replicated_condition = GAB_CONDITION_UNKNOWN;
    if (status == GAB_OK && !check_bytes(replicated, &m->snapshot->replicated_condition))
      status =
          gab_error_set(GAB_ERR_CORRUPT, __FILE__, __LINE__, "replicated entities that came are not whole");
    snprintf(from, sizeof from, "rank %" GAB_PRI_RANK, source);
    if (status == GAB_OK) log_replaced(m, PART_REPLICATED, m->me, from);
  }
  gab_buffer_release(&message);
  return status;
}

/* Processes entries in the order of the list; only two ranks take part in each. */
static gab_status replace_listed(const repairing *m)
{
  bool grouped = m->snapshot->parities.group.count > 0;
  for (size_t i = 0; i < m->count; i++) {
    const changed *lack = &m->list[i];
    if (lack->part == PART_PARITIES || (grouped && lack->part == PART_IMAGE)) continue;
    gab_rank source = find_source(m, lack);
    if (source != m->me && lack->holder != m->me) continue;
    if (lack->part == PART_IMAGE) GAB_TRY(replace_image(m, lack, source));
    else GAB_TRY(replace_replicated(m, lack->holder, source));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- the own group */

static gab_status keep_rescued(const repairing *m, gab_rank rank, gab_buffer *image)
{
  gab_rescued *rescued = m->rescued;
  gab_condition seen = GAB_CONDITION_UNKNOWN;
  if (!check_message(image, &seen))
    GAB_FAIL(GAB_ERR_CORRUPT, "the image of rank %" GAB_PRI_RANK " that was put together is not whole", rank);
  GAB_TRY(gab_list_reserve(&rescued->images, (size_t)rescued->count, sizeof(gab_copy)));
  gab_copy *kept = &rescued->images[rescued->count++];
  *kept = (gab_copy){.rank = rank, .condition = seen};
  gab_buffer_init(&kept->image, GAB_MEMORY_SNAPSHOT);
  gab_buffer_swap(&kept->image, image);
  return GAB_OK;
}

static gab_status take_images(const repairing *m, const gab_group_losses *losses, gab_buffer *images)
{
  const gab_group *group = &m->snapshot->parities.group;
  for (int i = 0; i < group->count; i++) {
    if (losses->target[i] != group->index) continue;
    if (losses->living[i]) {
      GAB_TRY(put_in_place(m, group->ranks[i], &images[i]));
      log_replaced(m, PART_IMAGE, group->ranks[i], "the rest of its group");
    } else {
      GAB_TRY(keep_rescued(m, group->ranks[i], &images[i]));
    }
  }
  return GAB_OK;
}

static gab_status rebuild_images(const repairing *m, const gab_group_losses *losses)
{
  gab_buffer images[GAB_MOST_GROUP];
  for (int i = 0; i < GAB_MOST_GROUP; i++) gab_buffer_init(&images[i], GAB_MEMORY_SNAPSHOT);
  gab_status status = gab_group_rebuild(m->checkpoint, m->snapshot, losses, images);
  if (status == GAB_OK) status = take_images(m, losses, images);
  for (int i = 0; i < GAB_MOST_GROUP; i++) gab_buffer_release(&images[i]);
  return status;
}

/* New parities are computed next to the old ones, which remain readable until then. */
static gab_status remake_parities(const repairing *m, const gab_group_losses *losses)
{
  gab_parities fresh = m->snapshot->parities;
  gab_buffer_init(&fresh.rows, GAB_MEMORY_SNAPSHOT);
  gab_status status = gab_parities_make(m->checkpoint, m->snapshot, losses->parity_gone, true, &fresh);
  if (status == GAB_OK && losses->parity_gone[fresh.group.index]) {
    gab_buffer_swap(&fresh.rows, &m->snapshot->parities.rows);
    m->snapshot->parities.condition = GAB_CONDITION_UNKNOWN;
    log_replaced(m, PART_PARITIES, m->me, "its group");
  }
  gab_buffer_release(&fresh.rows);
  return status;
}

static gab_status repair_group(const repairing *m)
{
  const gab_group *group = &m->snapshot->parities.group;
  gab_group_losses losses;
  bool image = false, parity = false, all_live = true;
  if (!has_parities(m->snapshot)) return GAB_OK;
  find_losses(m, group, &losses);
  if (is_given_up(group, &losses)) return GAB_OK;
  for (int i = 0; i < group->count; i++) {
    image = image || losses.image_gone[i];
    parity = parity || losses.parity_gone[i];
    all_live = all_live && losses.living[i];
  }
  if (image) GAB_TRY(rebuild_images(m, &losses));
  return parity && all_live ? remake_parities(m, &losses) : GAB_OK;
}

void gab_rescued_release(gab_rescued *rescued)
{
  for (int i = 0; i < rescued->count; i++) gab_buffer_release(&rescued->images[i].image);
  gab_free(&rescued->images);
  rescued->count = 0;
}

/* Expands compressed copies of failed ranks that this rank restores. */
static gab_status expand_adopted(const repairing *m)
{
  gab_snapshot *snapshot = m->snapshot;
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_copy *copy = &snapshot->copies[i];
    if (gab_members_has(m->now, copy->rank) || !gab_image_is_compressed(&copy->image, NULL) ||
        gab_placement_restorer(&snapshot->placement, m->now, copy->rank) != m->me)
      continue;
    gab_buffer raw;
    gab_buffer_init(&raw, GAB_MEMORY_SNAPSHOT);
    gab_status status = gab_image_expand(&copy->image, &raw);
    if (status == GAB_OK) status = keep_rescued(m, copy->rank, &raw);
    gab_buffer_release(&raw);
    GAB_TRY(status);
  }
  return GAB_OK;
}

static repairing repairing_of(gab_checkpoint *checkpoint, gab_snapshot *snapshot, gab_rescued *rescued)
{
  return (repairing){.checkpoint = checkpoint,
                     .snapshot = snapshot,
                     .now = &snapshot->survivors,
                     .me = gab_world_rank(checkpoint->world),
                     .rescued = rescued};
}

gab_status gab_redundancy_expand(gab_checkpoint *checkpoint, gab_snapshot *snapshot, gab_rescued *rescued)
{
  const repairing m = repairing_of(checkpoint, snapshot, rescued);
  return expand_adopted(&m);
}

gab_status gab_redundancy_repair(gab_checkpoint *checkpoint, gab_snapshot *snapshot, bool all_good,
                                 gab_rescued *rescued)
{
  repairing m = repairing_of(checkpoint, snapshot, rescued);
  gab_status status = all_good ? GAB_OK : find_changed(&m);
  if (status == GAB_OK) status = check_all(&m);
  if (status == GAB_OK) status = replace_listed(&m);
  if (status == GAB_OK) status = repair_group(&m);
  if (status == GAB_OK) status = expand_adopted(&m);
  gab_free(&m.list);
  return status;
}

/* ---------------------------------------------------------------- between checkpoints */

gab_status gab_checkpoint_scrub(gab_checkpoint *checkpoint, bool *beyond)
{
  gab_snapshot *snapshot = &checkpoint->snapshots[checkpoint->valid];
  gab_rescued nobody = {0};
  *beyond = false;
  GAB_TRY(gab_world_check(checkpoint->world));
  if (!snapshot->complete) return GAB_OK;
  GAB_TRY(gab_snapshot_find_survivors(checkpoint, snapshot));
  gab_condition_forget(snapshot);
  uint64_t good = gab_condition_is_good(checkpoint, snapshot);
  for (int i = 0; i < snapshot->copy_count; i++) good = check_copy(snapshot, &snapshot->copies[i]) && good;
  if (has_parities(snapshot))
    good = check_bytes(&snapshot->parities.rows, &snapshot->parities.condition) && good;
  GAB_TRY(gab_world_min_u64(checkpoint->world, &good, 1));
  if (good) return GAB_OK;
  gab_status status = gab_redundancy_repair(checkpoint, snapshot, false, &nobody);
  gab_rescued_release(&nobody);
  *beyond = status == GAB_ERR_LOST;
  return *beyond ? GAB_OK : status;
}
