/* SPDX-License-Identifier: Apache-2.0 */
/* Partners of a rank in local recovery: roles, addition and removal. */
#include "resilience/local/protocol/local_impl.h"

#include <string.h>

gab_local_partner *gab_local_find(const gab_local *local, gab_rank rank)
{
  for (size_t i = 0; i < local->partner_count; i++)
    if (local->partners[i].rank == rank) return &local->partners[i];
  return NULL;
}

bool gab_local_is_partner(const gab_local *local, gab_rank rank)
{
  return gab_local_find(local, rank) != NULL;
}

gab_local_partner *gab_local_current(const gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *partner = gab_local_find(local, note->from);
  if (!partner || partner->is_down || gab_local_process(local, note->from) != source ||
      gab_local_incarnation_of(local, note->from) != note->from_incarnation ||
      partner->life != note->from_life)
    return NULL;
  return partner;
}

/* ---------------------------------------------------------------- there they are */

gab_status gab_local_add_partner(gab_local *local, gab_rank rank, uint32_t roles)
{
  gab_local_partner *partner = gab_local_find(local, rank);
  if (rank == local->rank)
    GAB_FAIL(GAB_ERR_ARGUMENT, "rank %" GAB_PRI_RANK " cannot be its own partner", rank);
  if (partner) {
    partner->roles |= roles;
    return GAB_OK;
  }
  GAB_TRY(gab_list_reserve(&local->partners, local->partner_count, sizeof *local->partners));
  size_t place = local->partner_count++;
  for (; place > 0 && local->partners[place - 1].rank > rank; place--)
    local->partners[place] = local->partners[place - 1];
  local->partners[place] = (gab_local_partner){.rank = rank,
                                               .roles = roles,
                                               .is_inner = gab_local_is_member(local, rank),
                                               .asking = -1,
                                               .have = -1,
                                               .cluster_have = -1,
                                               .cluster_committed = -1};
  return GAB_OK;
}

/* Adds holder, parent and children of the own rank. */
gab_status gab_local_add_relatives(gab_local *local)
{
  const gab_rank me = local->rank;
  GAB_TRY(gab_local_add_partner(local, local->application.holder(local->application.user, me), ROLE_HOLDER));
  const gab_rank children = local->setup.children;
  if (me > 0) GAB_TRY(gab_local_add_partner(local, (me - 1) / children, ROLE_PARENT));
  for (gab_rank i = 1; i <= children && (int64_t)children * me + i < local->setup.ranks; i++)
    GAB_TRY(gab_local_add_partner(local, children * me + i, ROLE_CHILD));
  return GAB_OK;
}

/* ---------------------------------------------------------------- removal */

void gab_local_release_partner(gab_local_partner *partner)
{
  gab_local_forget_arrivals(partner);
  for (int c = 0; c < GAB_LOCAL_CONTEXTS; c++) gab_free(&partner->channels[c].hashes.list);
  gab_local_forget_images(&partner->images);
  gab_free(&partner->decisions.values);
  gab_free(&partner->askers);
}

/* Messages sent before the section must be delivered, since none may be in transit at a checkpoint; others would be
 * lost. */
static gab_status check_delivered(const gab_local *local, const gab_local_partner *partner)
{
  for (uint32_t c = 0; c < local->setup.contexts; c++)
    if (partner->channels[c].arrived_count > 0)
      GAB_FAIL(GAB_ERR_STATE,
               "rank %" GAB_PRI_RANK " is no longer a neighbour of rank %" GAB_PRI_RANK
               ", which has not received %zu messages of it in context %" PRIu32
               ": messages sent before a checkpoint must be received before it",
               partner->rank, local->rank, partner->channels[c].arrived_count, c);
  return GAB_OK;
}

void gab_local_drop_former(gab_local *local)
{
  size_t kept = 0;
  for (size_t i = 0; i < local->partner_count; i++) {
    gab_local_partner *partner = &local->partners[i];
    if (partner->roles != 0) {
      local->partners[kept++] = *partner;
      continue;
    }
    gab_msglog_forget_target(local->msglog, partner->rank);
    gab_local_release_partner(partner);
  }
  local->partner_count = kept;
}

/* A former neighbour may become one again. Its new sequence numbers begin above all former ones (fewer than 2^32
 * between two sections), so old messages are never mistaken for new ones. */
static gab_status begin_channels(gab_local *local, gab_local_partner *partner)
{
  const uint64_t first = local->arrived << GAB_LOCAL_SECTION_SHIFT;
  partner->is_up = partner->was_met = true; /* deaths are reported later */
  for (uint32_t c = 0; c < local->setup.contexts; c++) {
    gab_local_channel *channel = &partner->channels[c];
    GAB_TRY(gab_msglog_begin_channel(local->msglog, partner->rank, c, first));
    channel->delivered = channel->handled = channel->sent = first;
    gab_local_begin_replay(channel, first);
    gab_local_restart_hashes(channel);
  }
  return GAB_OK;
}

/* Roles are symmetric (neighbours, holder and protected rank, parent and child, members of a cluster), so both sides
 * drop their channels in the same section. No rank resumes from an image before the section, since all have entered
 * it (local_image.c); earlier messages are therefore never requested again. New channels assume that the partner is
 * in its first life on its original process, so no rank may have been restored. */
gab_status gab_local_set_neighbours(gab_local *local, const gab_rank *neighbours, int32_t count)
{
  if (!gab_local_is_inside(local)) GAB_FAIL(GAB_ERR_STATE, "this process is not in a global section");
  if (local->life > 0 || local->address_count > 0)
    GAB_FAIL(GAB_ERR_STATE, "a rank was restored in this generation: new neighbours do not know its process");
  for (size_t i = 0; i < local->partner_count; i++) local->partners[i].roles &= ~(uint32_t)ROLE_NEIGHBOUR;
  for (int32_t i = 0; i < count; i++) {
    const bool is_new = !gab_local_find(local, neighbours[i]);
    GAB_TRY(gab_local_add_partner(local, neighbours[i], ROLE_NEIGHBOUR));
    if (is_new) GAB_TRY(begin_channels(local, gab_local_find(local, neighbours[i])));
  }
  for (size_t i = 0; i < local->partner_count; i++)
    if (local->partners[i].roles == 0) GAB_TRY(check_delivered(local, &local->partners[i]));
  gab_local_drop_former(local);
  return GAB_OK;
}
