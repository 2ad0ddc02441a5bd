/* SPDX-License-Identifier: Apache-2.0 */
/* Common checkpoints of local recovery: copies, acknowledgements along a tree during the steps, and data logged with them:
 * decisions and global sections. */
#include "resilience/local/protocol/local_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- values of the tree */

gab_status gab_local_tell_values(gab_local *local, const gab_local_partner *partner)
{
  const gab_local_note up = {.kind = NOTE_HAVE,
                             .checkpoint = local->reported_have,
                             .number = local->reported_arrived,
                             .value = local->asked_to_stop};
  const gab_local_note down = {
      .kind = NOTE_COMMITTED, .checkpoint = local->committed, .number = local->entered};
  const gab_process process = gab_local_process(local, partner->rank);
  if (!partner->is_up) return GAB_OK;
  if (partner->roles & ROLE_PARENT) GAB_TRY(gab_local_tell(local, process, up, NULL));
  return partner->roles & ROLE_CHILD ? gab_local_tell(local, process, down, NULL) : GAB_OK;
}

static gab_status tell_relatives(gab_local *local, uint32_t role)
{
  for (size_t i = 0; i < local->partner_count; i++)
    if (local->partners[i].roles & role) GAB_TRY(gab_local_tell_values(local, &local->partners[i]));
  return GAB_OK;
}

gab_status gab_local_learn_committed(gab_local *local, gab_step checkpoint)
{
  if (checkpoint <= local->committed) return GAB_OK;
  const gab_step before = local->committed;
  local->committed = checkpoint;
  GAB_TRY(gab_local_learn_cluster_committed(local, checkpoint));
  gab_local_prune(local);
  for (size_t i = 0; i < local->partner_count; i++) gab_local_prune_protected(local, &local->partners[i]);
  /* one checkpoint late: the holder of a lost rank may not know this commit yet */
  gab_msglog_free_before(local->msglog, before);
  gab_local_free_hashes(local, before);
  if (before > local->base) local->base = before;
  return tell_relatives(local, ROLE_CHILD);
}

gab_status gab_local_learn_entered(gab_local *local, uint64_t section)
{
  if (section <= local->entered) return GAB_OK;
  local->entered = section;
  if (section > local->arrived) return gab_local_hand_over(local, GAB_LOCAL_GLOBAL_SECTION, local->rank);
  for (size_t i = 0; i < local->partner_count; i++)
    if (!local->partners[i].is_up)
      return gab_local_hand_over(local, GAB_LOCAL_GLOBAL_SECTION, local->partners[i].rank);
  return tell_relatives(local, ROLE_CHILD);
}

gab_status gab_local_update_tree(gab_local *local)
{
  gab_step have = local->common_acknowledged;
  uint64_t arrived = local->arrived;
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *partner = &local->partners[i];
    if (!(partner->roles & ROLE_CHILD)) continue;
    if (partner->have < have) have = partner->have;
    if (partner->arrived < arrived) arrived = partner->arrived;
  }
  const bool is_news = have > local->reported_have || arrived > local->reported_arrived;
  if (have > local->reported_have) local->reported_have = have;
  if (arrived > local->reported_arrived) local->reported_arrived = arrived;
  if (!is_news) return GAB_OK;
  if (local->rank != 0) return tell_relatives(local, ROLE_PARENT);
  GAB_TRY(gab_local_learn_committed(local, local->reported_have));
  return gab_local_learn_entered(local, local->reported_arrived);
}

gab_status gab_local_on_have(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *child = gab_local_current(local, source, note);
  if (!child) return GAB_OK;
  if (note->checkpoint > child->have) child->have = note->checkpoint;
  if (note->number > child->arrived) child->arrived = note->number;
  GAB_TRY(gab_local_ask_to_stop(local, note->value));
  return gab_local_update_tree(local);
}

gab_status gab_local_on_committed(gab_local *local, gab_process source, const gab_local_note *note)
{
  if (!gab_local_current(local, source, note)) return GAB_OK;
  GAB_TRY(gab_local_learn_committed(local, note->checkpoint));
  return gab_local_learn_entered(local, note->number);
}

/* ---------------------------------------------------------------- copies */

static gab_local_partner *reachable_holder(const gab_local *local)
{
  gab_local_partner *holder =
      gab_local_find(local, local->application.holder(local->application.user, local->rank));
  return holder && holder->is_up ? holder : NULL;
}

static gab_status send_copy(gab_local *local, const gab_local_partner *holder, const gab_local_image *image)
{
  const gab_local_note note = {.kind = NOTE_COPY,
                               .checkpoint = image->checkpoint,
                               .number = image->decisions,
                               .value = (uint64_t)local->committed,
                               .own = image->own};
  return gab_local_tell(local, gab_local_process(local, holder->rank), note, &image->bytes);
}

static gab_status send_decision(gab_local *local, const gab_local_partner *holder, uint64_t number)
{
  const gab_local_note note = {.kind = NOTE_DECISION,
                               .number = number,
                               .value = local->decisions.values[number - local->decisions.base]};
  return gab_local_tell(local, gab_local_process(local, holder->rank), note, NULL);
}

gab_status gab_local_renew_copies(gab_local *local, bool all)
{
  const gab_local_partner *holder = reachable_holder(local);
  if (!holder) return GAB_OK;
  /* decisions first: a holder that has an image must have the decisions since, too */
  const gab_local_decisions *made = &local->decisions;
  for (uint64_t number = made->base; number < made->base + made->count; number++)
    if (all || number >= local->decided_logged) GAB_TRY(send_decision(local, holder, number));
  /* The image of the next rollback is sent first, so that a death does not leave the holder with an older one only. */
  const gab_local_image *first =
      all ? gab_local_newest(&local->images, gab_local_may_go_back_to(local, NULL)) : NULL;
  if (first) GAB_TRY(send_copy(local, holder, first));
  for (int i = 0; i < local->images.count; i++) {
    const gab_local_image *image = &local->images.list[i];
    if (image != first && (all || image->checkpoint > local->acknowledged))
      GAB_TRY(send_copy(local, holder, image));
  }
  return GAB_OK;
}

bool gab_local_has_to_wait(const gab_local *local, bool own)
{
  if (local->setup.own_times && local->cluster_committed < local->taken) return true;
  return !own && local->committed < local->common;
}

static gab_status take(gab_local *local, gab_step step, bool own, const gab_buffer *image, bool *taken)
{
  *taken = false;
  if (local->state != GAB_LOCAL_ACTIVE) GAB_FAIL(GAB_ERR_STATE, "this process runs no rank now");
  if (step <= local->taken)
    GAB_FAIL(GAB_ERR_ARGUMENT, "checkpoint %" GAB_PRI_STEP " comes after %" GAB_PRI_STEP, step, local->taken);
  if (local->arrived > local->left)
    GAB_FAIL(GAB_ERR_STATE, "a checkpoint is not possible within a global section");
  if (gab_local_has_to_wait(local, own) || !gab_local_is_verified(local)) return GAB_OK;
  gab_buffer whole = gab_local_take_idle(&local->images);
  gab_status status = gab_local_pack_image(local, step, own, image, &whole);
  const gab_local_image what = {.checkpoint = step, .own = own, .decisions = local->decided};
  if (status == GAB_OK) status = gab_local_keep_packed(&local->images, &what, &whole);
  gab_buffer_release(&whole);
  GAB_TRY(status);
  gab_local_prune(local);
  GAB_TRY(gab_msglog_begin_interval(local->msglog, step));
  local->taken = step;
  if (!own) local->common = step;
  local->stats.own_checkpoints += own;
  *taken = true;
  const gab_local_partner *holder = reachable_holder(local);
  return holder ? send_copy(local, holder, &local->images.list[local->images.count - 1]) : GAB_OK;
}

gab_status gab_local_checkpoint(gab_local *local, gab_step step, const gab_buffer *image, bool *taken)
{
  return take(local, step, false, image, taken);
}

gab_status gab_local_checkpoint_own(gab_local *local, gab_step step, const gab_buffer *image, bool *taken)
{
  *taken = false;
  if (!local->setup.own_times)
    GAB_FAIL(GAB_ERR_STATE, "checkpoint %" GAB_PRI_STEP " of a single cluster needs setup.own_times", step);
  return take(local, step, true, image, taken);
}

gab_status gab_local_on_copy(gab_local *local, gab_process source, const gab_local_note *note, gab_reader *in,
                             gab_buffer *payload)
{
  gab_local_partner *protected = gab_local_current(local, source, note);
  if (!protected) return GAB_OK;
  GAB_TRY(gab_local_learn_committed(local, (gab_step)note->value));
  const gab_local_image what = {.checkpoint = note->checkpoint, .own = note->own, .decisions = note->number};
  gab_buffer bytes = gab_local_take_idle(&protected->images);
  gab_status status = GAB_OK;
  if (payload) gab_buffer_swap(&bytes, payload);
  else status = gab_put_bytes(&bytes, in->at, gab_reader_left(in));
  if (status == GAB_OK) status = gab_local_keep_packed(&protected->images, &what, &bytes);
  gab_buffer_release(&bytes);
  GAB_TRY(status);
  gab_local_prune_protected(local, protected);
  const gab_local_note answer = {.kind = NOTE_COPIED, .checkpoint = note->checkpoint, .own = note->own};
  return gab_local_tell(local, source, answer, NULL);
}

gab_status gab_local_on_copied(gab_local *local, gab_process source, const gab_local_note *note)
{
  if (!gab_local_current(local, source, note)) return GAB_OK;
  if (note->checkpoint > local->acknowledged) local->acknowledged = note->checkpoint;
  if (!note->own && note->checkpoint > local->common_acknowledged)
    local->common_acknowledged = note->checkpoint;
  gab_local_publish_answer(local);
  GAB_TRY(gab_local_update_cluster(local));
  return gab_local_update_tree(local);
}

bool gab_local_is_settled(const gab_local *local)
{
  if (local->state != GAB_LOCAL_ACTIVE || gab_local_has_to_wait(local, false)) return false;
  if (!gab_local_is_verified(local)) return false;
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *partner = &local->partners[i];
    if (!partner->is_up) return false;
    if ((partner->roles & ROLE_PROTECTED) && !gab_local_has_image(&partner->images, local->common))
      return false;
  }
  return true;
}

/* ---------------------------------------------------------------- decisions */

gab_status gab_local_log_decision(gab_local_decisions *decisions, uint64_t number, uint64_t value)
{
  if (decisions->count == 0) decisions->base = number;
  const uint64_t end = decisions->base + decisions->count;
  if (number < end) return GAB_OK;
  if (number > end)
    GAB_FAIL(GAB_ERR_CORRUPT, "received decision %" PRIu64 ", expected %" PRIu64, number, end);
  GAB_TRY(GAB_RESIZE_ARRAY(&decisions->values, decisions->count + 1, GAB_MEMORY_OTHER));
  decisions->values[decisions->count++] = value;
  return GAB_OK;
}

gab_status gab_local_decide(gab_local *local, uint64_t proposal, uint64_t *value, bool *decided)
{
  *decided = false;
  if (local->state != GAB_LOCAL_ACTIVE) GAB_FAIL(GAB_ERR_STATE, "this process runs no rank now");
  gab_local_decisions *made = &local->decisions;
  if (made->count == 0) made->base = local->decided;
  if (local->decided < local->decided_logged) {
    *value = made->values[local->decided++ - made->base];
    *decided = true;
    return GAB_OK;
  }
  if (made->base + made->count > local->decided) return GAB_OK; /* in transit to the holder */
  GAB_TRY(gab_local_log_decision(made, local->decided, proposal));
  const gab_local_partner *holder = reachable_holder(local);
  return holder ? send_decision(local, holder, local->decided) : GAB_OK;
}

gab_status gab_local_decide_behind(gab_local *local, uint64_t proposal, uint64_t *value)
{
  gab_local_decisions *made = &local->decisions;
  *value = proposal;
  /* logged, or in transit to the holder since before this rank rolled back with its cluster */
  if (local->decided < made->base + made->count) {
    *value = made->values[local->decided++ - made->base];
    return GAB_OK;
  }
  const gab_local_partner *holder = reachable_holder(local);
  const uint64_t number = local->decided++;
  GAB_TRY(gab_local_log_decision(made, number, proposal));
  return holder ? send_decision(local, holder, number) : GAB_OK;
}

gab_status gab_local_on_decision(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *protected = gab_local_current(local, source, note);
  if (!protected) return GAB_OK;
  GAB_TRY(gab_local_log_decision(&protected->decisions, note->number, note->value));
  return gab_local_tell(local, source, (gab_local_note){.kind = NOTE_DECIDED, .number = note->number}, NULL);
}

gab_status gab_local_on_decided(gab_local *local, gab_process source, const gab_local_note *note)
{
  if (!gab_local_current(local, source, note)) return GAB_OK;
  if (note->number >= local->decided_logged) local->decided_logged = note->number + 1;
  return GAB_OK;
}

/* ---------------------------------------------------------------- global sections */

gab_status gab_local_arrive(gab_local *local)
{
  if (local->state != GAB_LOCAL_ACTIVE) GAB_FAIL(GAB_ERR_STATE, "this process runs no rank now");
  if (local->arrived > local->left || !gab_local_is_verified(local)) return GAB_OK;
  local->arrived++;
  return gab_local_update_tree(local);
}

bool gab_local_is_inside(const gab_local *local)
{
  return local->arrived > local->left && local->entered >= local->arrived;
}

gab_status gab_local_leave(gab_local *local)
{
  if (!gab_local_is_inside(local)) GAB_FAIL(GAB_ERR_STATE, "this process is not in a global section");
  local->left = local->arrived;
  return GAB_OK;
}
