/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's part of an image, and the restore of a rank from an image. */
#include "resilience/local/protocol/local_impl.h"

/* ---------------------------------------------------------------- taking */

static gab_status pack_partners(const gab_local *local, gab_buffer *out)
{
  GAB_TRY(gab_put_u64(out, local->partner_count));
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *partner = &local->partners[i];
    GAB_TRY(gab_put_i32(out, partner->rank));
    GAB_TRY(gab_put_u32(out, partner->roles));
    for (uint32_t c = 0; c < local->setup.contexts; c++)
      GAB_TRY(gab_put_u64(out, partner->channels[c].delivered));
  }
  return GAB_OK;
}

gab_status gab_local_pack_image(const gab_local *local, gab_step step, bool own,
                                const gab_buffer *application, gab_buffer *out)
{
  GAB_TRY(gab_local_pack_addresses(local, out));
  GAB_TRY(pack_partners(local, out));
  GAB_TRY(gab_msglog_pack_numbers(local->msglog, out));
  GAB_TRY(gab_put_u64(out, local->decided));
  GAB_TRY(gab_put_u64(out, local->left));
  GAB_TRY(gab_local_pack_log(local, own, step, out));
  return gab_put_bytes(out, application->data, application->size);
}

static gab_status skip_addresses(gab_reader *in)
{
  size_t count;
  gab_reader skipped;
  GAB_TRY(gab_get_count(in, 12, &count));
  return gab_get_view(in, 12 * count, &skipped);
}

gab_status gab_local_each_delivered(const gab_local *local, gab_reader image,
                                    gab_status (*call)(void *user, gab_rank rank, gab_reader numbers),
                                    void *user)
{
  size_t count;
  GAB_TRY(skip_addresses(&image));
  GAB_TRY(gab_get_count(&image, 8 + 8 * local->setup.contexts, &count));
  for (size_t i = 0; i < count; i++) {
    gab_rank rank;
    uint32_t roles;
    gab_reader numbers;
    GAB_TRY(gab_get_i32(&image, &rank));
    GAB_TRY(gab_get_u32(&image, &roles));
    GAB_TRY(gab_get_view(&image, 8 * (size_t)local->setup.contexts, &numbers));
    GAB_TRY(call(user, rank, numbers));
  }
  return GAB_OK;
}

/* Skips to the part of the application. */
static gab_status skip_head(const gab_local *local, gab_reader *in)
{
  size_t count;
  gab_reader skipped;
  GAB_TRY(skip_addresses(in));
  GAB_TRY(gab_get_count(in, 8 + 8 * local->setup.contexts, &count)); /* partners */
  GAB_TRY(gab_get_view(in, (8 + 8 * (size_t)local->setup.contexts) * count, &skipped));
  GAB_TRY(gab_get_count(in, 16, &count)); /* sequence numbers of the message log */
  GAB_TRY(gab_get_view(in, 16 * count, &skipped));
  GAB_TRY(gab_get_view(in, 16, &skipped));
  return gab_local_skip_log(local, in);
}

gab_status gab_local_each_image(const gab_local *local, gab_rank rank, gab_local_image_fn call, void *user)
{
  const gab_local_partner *protected = gab_local_find(local, rank);
  const gab_local_images *images = rank == local->rank ? &local->images
                                   : protected         ? &protected->images
                                                       : NULL;
  for (int i = 0; images && i < images->count; i++) {
    if (images->list[i].own) continue;
    gab_reader in = gab_reader_of_buffer(&images->list[i].bytes);
    GAB_TRY(skip_head(local, &in));
    GAB_TRY(call(user, images->list[i].checkpoint, in));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- sending */

static gab_status pack_decisions(const gab_local *local, const gab_local_partner *protected,
                                 const gab_local_image *image, gab_buffer *out)
{
  const gab_local_decisions *decisions = &protected->decisions;
  const uint64_t end = decisions->base + decisions->count;
  GAB_TRY(gab_local_pack_addresses(local, out));
  GAB_TRY(gab_put_u64(out, end > image->decisions ? end - image->decisions : 0));
  for (uint64_t number = image->decisions; number < end; number++)
    GAB_TRY(gab_put_u64(out, decisions->values[number - decisions->base]));
  GAB_TRY(gab_local_pack_commons(local, &protected->images, image, out));
  return gab_put_bytes(out, image->bytes.data, image->bytes.size);
}

gab_status gab_local_send_image(gab_local *local, gab_local_partner *protected, gab_process target,
                                gab_step at_least)
{
  const gab_local_image *image =
      gab_local_newest(&protected->images, gab_local_may_go_back_to(local, protected));
  if (!image || image->checkpoint < at_least)
    return gab_local_hand_over(local, GAB_LOCAL_HOLDER_LOST, protected->rank);
  gab_buffer body;
  gab_buffer_init(&body, GAB_MEMORY_OTHER);
  gab_status status = pack_decisions(local, protected, image, &body);
  const gab_local_note note = {.kind = NOTE_IMAGE,
                               .checkpoint = image->checkpoint,
                               .number = image->decisions,
                               .value = (uint64_t)local->committed,
                               .own = image->own};
  if (status == GAB_OK) status = gab_local_tell(local, target, note, &body);
  gab_buffer_release(&body);
  return status;
}

/* ---------------------------------------------------------------- restoring */

/* @param[in] all_have common checkpoint that all ranks have */
static gab_status restore_partners(gab_local *local, gab_step checkpoint, gab_step all_have, gab_reader *in)
{
  size_t count;
  GAB_TRY(gab_get_count(in, 8 + 8 * local->setup.contexts, &count));
  /* Roles come from the image: neighbours may differ between checkpoints before and after a section. */
  for (size_t i = 0; i < local->partner_count; i++) local->partners[i].roles = 0;
  for (size_t i = 0; i < count; i++) {
    gab_rank rank;
    uint32_t roles;
    GAB_TRY(gab_get_i32(in, &rank));
    GAB_TRY(gab_get_u32(in, &roles));
    GAB_TRY(gab_local_add_partner(local, rank, roles));
    gab_local_partner *partner = gab_local_find(local, rank);
    gab_local_forget_arrivals(partner);
    partner->is_up = false;
    if (all_have > partner->have) partner->have = all_have;
    if (checkpoint > partner->cluster_have) partner->cluster_have = checkpoint;
    for (uint32_t c = 0; c < local->setup.contexts; c++)
      GAB_TRY(gab_get_u64(in, &partner->channels[c].delivered));
    for (uint32_t c = 0; c < local->setup.contexts; c++) gab_local_restart_hashes(&partner->channels[c]);
  }
  gab_local_drop_former(local);
  return GAB_OK;
}

static gab_status restore_decisions(gab_local *local, uint64_t made, gab_reader *in)
{
  size_t count;
  gab_local_decisions *decisions = &local->decisions;
  gab_free(&decisions->values);
  *decisions = (gab_local_decisions){.base = made};
  GAB_TRY(gab_get_count(in, 8, &count));
  for (size_t i = 0; i < count; i++) {
    uint64_t value;
    GAB_TRY(gab_get_u64(in, &value));
    GAB_TRY(gab_local_log_decision(decisions, made + i, value));
  }
  local->decided_logged = made + count;
  return GAB_OK;
}

/* A rank that rolls back with its cluster stores its progress, since its messages may still be in transit. */
static void note_made(gab_local *local)
{
  for (size_t i = 0; i < local->partner_count; i++)
    for (uint32_t c = 0; c < local->setup.contexts; c++) {
      gab_local_channel *channel = &local->partners[i].channels[c];
      const uint64_t next = gab_msglog_next(local->msglog, local->partners[i].rank, c);
      if (next > channel->had) channel->had = next;
    }
}

/* @param[in] committed newest checkpoint known to be committed by all */
static gab_status restore_machine(gab_local *local, gab_step checkpoint, gab_step committed, gab_reader *in)
{
  const gab_step all_have = local->setup.own_times ? committed : checkpoint;
  note_made(local);
  GAB_TRY(gab_local_unpack_addresses(local, in));
  GAB_TRY(restore_partners(local, checkpoint, all_have, in));
  GAB_TRY(gab_msglog_restart(local->msglog, checkpoint, in));
  for (size_t i = 0; i < local->partner_count; i++)
    for (uint32_t c = 0; c < local->setup.contexts; c++)
      local->partners[i].channels[c].handled = gab_msglog_next(local->msglog, local->partners[i].rank, c);
  GAB_TRY(gab_get_u64(in, &local->decided));
  GAB_TRY(gab_get_u64(in, &local->left));
  local->arrived = local->left;
  if (local->entered < local->left) local->entered = local->left;
  local->taken = local->base = local->common = checkpoint;
  GAB_TRY(gab_local_unpack_log(local, checkpoint, &local->common, in));
  if (local->acknowledged < checkpoint) local->acknowledged = checkpoint;
  if (local->common_acknowledged < local->common) local->common_acknowledged = local->common;
  /* an answer for a later checkpoint stays: that checkpoint may be committed before this rank reaches it again */
  if (local->answered <= checkpoint) local->answer = 0;
  if (local->reported_have < all_have) local->reported_have = all_have;
  if (local->reported_cluster_have < checkpoint) local->reported_cluster_have = checkpoint;
  if (local->reported_arrived < local->left) local->reported_arrived = local->left;
  for (size_t i = 0; i < local->partner_count; i++)
    if (local->partners[i].arrived < local->left) local->partners[i].arrived = local->left;
  return GAB_OK;
}

static gab_status keep_own_image(gab_local *local, const gab_local_note *note, gab_reader in)
{
  gab_buffer bytes = gab_buffer_over((void *)(uintptr_t)in.at, gab_reader_left(&in));
  bytes.size = gab_reader_left(&in);
  const gab_local_image what = {.checkpoint = note->checkpoint, .own = note->own, .decisions = note->number};
  return gab_local_keep_image(&local->images, &what, &bytes);
}

gab_status gab_local_restore(gab_local *local, gab_step checkpoint, gab_step committed, gab_reader in)
{
  local->life++;
  GAB_TRY(restore_machine(local, checkpoint, committed, &in));
  GAB_TRY(gab_local_make_members(local));
  /* the other ranks do not enter the section again */
  if (local->entered > local->left) return gab_local_hand_over(local, GAB_LOCAL_GLOBAL_SECTION, local->rank);
  /* The holder was restored and had not received this image again when the rank died: no copy exists. */
  if (local->setup.own_times && !gab_local_has_image(&local->images, local->common))
    return gab_local_hand_over(local, GAB_LOCAL_HOLDER_LOST, local->rank);
  gab_step *known = local->setup.own_times ? &local->cluster_committed : &local->committed;
  if (*known < checkpoint) *known = checkpoint;
  GAB_TRY(gab_local_learn_committed(local, committed));
  GAB_TRY(local->application.restore(local->application.user, local->rank, checkpoint, in));
  local->state = GAB_LOCAL_ACTIVE;
  for (size_t i = 0; i < local->partner_count; i++)
    if (!local->partners[i].is_down) GAB_TRY(gab_local_greet(local, &local->partners[i], true));
  return GAB_OK;
}

gab_status gab_local_on_image(gab_local *local, const gab_local_note *note, gab_reader *in)
{
  GAB_TRY(gab_local_unpack_addresses(local, in));
  GAB_TRY(restore_decisions(local, note->number, in));
  gab_local_forget_images(&local->images);
  GAB_TRY(gab_local_unpack_commons(local, in));
  GAB_TRY(keep_own_image(local, note, *in));
  local->line = note->checkpoint;
  return gab_local_restore(local, note->checkpoint, (gab_step)note->value, *in);
}
