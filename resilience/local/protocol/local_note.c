/* SPDX-License-Identifier: Apache-2.0 */
/* Control messages of local recovery, and the list of replacement processes. */
#include "resilience/local/protocol/local_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- addresses */

static const gab_local_address *find_address(const gab_local *local, gab_rank rank)
{
  for (size_t i = 0; i < local->address_count; i++)
    if (local->addresses[i].rank == rank) return &local->addresses[i];
  return NULL;
}

gab_process gab_local_process(const gab_local *local, gab_rank rank)
{
  const gab_local_address *address = find_address(local, rank);
  return address ? address->process : (gab_process)rank;
}

gab_incarnation gab_local_incarnation_of(const gab_local *local, gab_rank rank)
{
  const gab_local_address *address = find_address(local, rank);
  return address ? address->incarnation : 0;
}

/* Resets the knowledge of the previous active process. Others may announce a spare before its acceptance arrives
 * here; it then still waits for its image. */
static void forget_process(gab_local_partner *partner, gab_incarnation incarnation)
{
  gab_local_forget_arrivals(partner);
  partner->is_up = partner->is_down = false;
  partner->is_offered = partner->is_offered && incarnation == partner->offer_incarnation;
  partner->life = 0;
  partner->asking = -1;
  partner->hashes_sent = partner->hashes_answered =
      0; /* hashes that it had not compared cannot be compared any more */
}

gab_status gab_local_learn(gab_local *local, gab_rank rank, gab_process process, gab_incarnation incarnation)
{
  if (incarnation <= gab_local_incarnation_of(local, rank)) return GAB_OK;
  gab_local_partner *partner = gab_local_find(local, rank);
  if (partner) forget_process(partner, incarnation);
  gab_local_address *place = (gab_local_address *)find_address(local, rank);
  if (!place) {
    GAB_TRY(gab_list_reserve(&local->addresses, local->address_count, sizeof *local->addresses));
    place = &local->addresses[local->address_count++];
  }
  *place = (gab_local_address){rank, process, incarnation};
  return GAB_OK;
}

gab_status gab_local_pack_addresses(const gab_local *local, gab_buffer *out)
{
  GAB_TRY(gab_put_u64(out, local->address_count));
  for (size_t i = 0; i < local->address_count; i++) {
    GAB_TRY(gab_put_i32(out, local->addresses[i].rank));
    GAB_TRY(gab_put_i32(out, local->addresses[i].process));
    GAB_TRY(gab_put_u32(out, local->addresses[i].incarnation));
  }
  return GAB_OK;
}

gab_status gab_local_unpack_addresses(gab_local *local, gab_reader *in)
{
  size_t count;
  GAB_TRY(gab_get_count(in, 12, &count));
  for (size_t i = 0; i < count; i++) {
    gab_local_address address;
    GAB_TRY(gab_get_i32(in, &address.rank));
    GAB_TRY(gab_get_i32(in, &address.process));
    GAB_TRY(gab_get_u32(in, &address.incarnation));
    GAB_TRY(gab_local_learn(local, address.rank, address.process, address.incarnation));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- numbers of takeovers */

uint32_t gab_local_taken_known(const gab_local *local)
{
  uint32_t known = local->taken_over;
  for (size_t i = 0; i < local->partner_count; i++)
    if (local->partners[i].roles & ROLE_CHILD) known += local->partners[i].taken_below;
  return known;
}

/* Both never decrease, so old notes are harmless. */
void gab_local_learn_taken(const gab_local *local, const gab_local_note *note)
{
  gab_local_partner *partner = gab_local_find(local, note->from);
  if (!partner || note->kind == NOTE_ACCEPT) return; /* an acceptance counts when the image is sent */
  if (note->from_taken > partner->taken_over) partner->taken_over = note->from_taken;
  if (note->taken_below > partner->taken_below) partner->taken_below = note->taken_below;
}

/* ---------------------------------------------------------------- notes */

gab_status gab_local_tell(gab_local *local, gab_process target, gab_local_note note, const gab_buffer *body)
{
  gab_buffer *head = &local->head;
  gab_buffer_clear(head);
  GAB_TRY(gab_put_u32(head, note.kind));
  GAB_TRY(gab_put_i32(head, local->rank));
  GAB_TRY(gab_put_u32(head, local->incarnation));
  GAB_TRY(gab_put_u32(head, local->life));
  GAB_TRY(gab_put_u32(head, local->taken_over));
  GAB_TRY(gab_put_u32(head, gab_local_taken_known(local)));
  GAB_TRY(gab_put_i32(head, note.about));
  GAB_TRY(gab_put_u32(head, note.about_incarnation));
  GAB_TRY(gab_put_i32(head, note.about_process));
  GAB_TRY(gab_put_i64(head, note.checkpoint));
  GAB_TRY(gab_put_u64(head, note.number));
  GAB_TRY(gab_put_u64(head, note.value));
  GAB_TRY(gab_put_i64(head, local->stop_behind));
  GAB_TRY(gab_put_u64(head, local->stop_why));
  if (local->setup.own_times) {
    GAB_TRY(gab_put_i64(head, local->committed));
    GAB_TRY(gab_put_i64(head, local->cluster_committed));
    GAB_TRY(gab_put_u8(head, note.own));
  }
  return local->transport.send(local->transport.user, target, GAB_LOCAL_CONTROL, head,
                               body ? body->data : NULL, body ? body->size : 0, NULL);
}

gab_status gab_local_read_note(const gab_local *local, gab_reader *in, gab_local_note *note)
{
  *note = (gab_local_note){.committed = -1, .cluster_committed = -1};
  GAB_TRY(gab_get_u32(in, &note->kind));
  GAB_TRY(gab_get_i32(in, &note->from));
  GAB_TRY(gab_get_u32(in, &note->from_incarnation));
  GAB_TRY(gab_get_u32(in, &note->from_life));
  GAB_TRY(gab_get_u32(in, &note->from_taken));
  GAB_TRY(gab_get_u32(in, &note->taken_below));
  GAB_TRY(gab_get_i32(in, &note->about));
  GAB_TRY(gab_get_u32(in, &note->about_incarnation));
  GAB_TRY(gab_get_i32(in, &note->about_process));
  GAB_TRY(gab_get_i64(in, &note->checkpoint));
  GAB_TRY(gab_get_u64(in, &note->number));
  GAB_TRY(gab_get_u64(in, &note->value));
  GAB_TRY(gab_get_i64(in, &note->stop_behind));
  GAB_TRY(gab_get_u64(in, &note->stop_why));
  if (local->setup.own_times) {
    GAB_TRY(gab_get_i64(in, &note->committed));
    GAB_TRY(gab_get_i64(in, &note->cluster_committed));
    GAB_TRY(gab_get_u8(in, &note->own));
  }
  if (note->kind >= NOTE_KIND_COUNT)
    GAB_FAIL(GAB_ERR_CORRUPT, "local recovery: unknown kind of note, %" PRIu32, note->kind);
  return GAB_OK;
}
