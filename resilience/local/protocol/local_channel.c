/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of local recovery: greeting, sequence numbers, omitted messages, and replay from the message log. */
#include "resilience/local/protocol/local_impl.h"

#include <string.h>

/* Kind of a message, in its head. */
typedef enum way { LIVE, REPLAYED, REPLAYED_AND_ASKS } way;

void gab_local_forget_arrivals(gab_local_partner *partner)
{
  for (int c = 0; c < GAB_LOCAL_CONTEXTS; c++) {
    gab_local_channel *channel = &partner->channels[c];
    for (size_t i = 0; i < channel->arrived_count; i++) gab_buffer_release(&channel->arrived[i].bytes);
    gab_free(&channel->arrived);
    channel->arrived_count = 0;
    gab_local_forget_hashes(channel, channel->delivered);
  }
}

/* ---------------------------------------------------------------- sending */

static gab_status transmit(gab_local *local, const gab_local_partner *to, uint32_t context,
                           gab_msglog_entry *entry, way way)
{
  gab_buffer *head = &local->head;
  gab_buffer_clear(head);
  GAB_TRY(gab_put_i32(head, local->rank));
  GAB_TRY(gab_put_u32(head, local->incarnation));
  GAB_TRY(gab_put_i32(head, to->rank));
  GAB_TRY(gab_put_u32(head, gab_local_incarnation_of(local, to->rank)));
  GAB_TRY(gab_put_u32(head, to->life));
  GAB_TRY(gab_put_u32(head, context));
  GAB_TRY(gab_put_u64(head, entry->number));
  GAB_TRY(gab_put_i64(head, entry->label.step));
  GAB_TRY(gab_put_u32(head, entry->label.pattern));
  GAB_TRY(gab_put_u64(head, entry->label.iteration));
  GAB_TRY(gab_put_u8(head, (uint8_t)way));
  if (way != LIVE && !to->is_inner) local->stats.replayed++;
  return local->transport.send(local->transport.user, gab_local_process(local, to->rank), 1 + context, head,
                               entry->data, entry->bytes, entry);
}

static gab_status send_next(gab_local *local, gab_local_partner *to, uint32_t context, way way)
{
  gab_local_channel *channel = &to->channels[context];
  gab_msglog_entry *entry = gab_msglog_find(local->msglog, to->rank, context, channel->sent);
  if (!entry)
    GAB_FAIL(GAB_ERR_STATE,
             "rank %" GAB_PRI_RANK " cannot replay message %" PRIu64 " to rank %" GAB_PRI_RANK
             ": its message log has freed it",
             local->rank, channel->sent, to->rank);
  GAB_TRY(transmit(local, to, context, entry, way));
  channel->sent++;
  if (way != LIVE) channel->replayed = channel->sent;
  return GAB_OK;
}

/* Replays several messages. The last one requests a note on delivery, independent of later messages. */
static gab_status replay(gab_local *local, gab_local_partner *to, uint32_t context, uint64_t left)
{
  const uint64_t many = gab_local_may_replay(local, &to->channels[context], left);
  for (uint64_t i = 1; i <= many; i++)
    GAB_TRY(send_next(local, to, context, i == many || i == (many + 1) / 2 ? REPLAYED_AND_ASKS : REPLAYED));
  return GAB_OK;
}

gab_status gab_local_pump(gab_local *local, gab_local_partner *to, uint32_t context)
{
  gab_local_channel *channel = &to->channels[context];
  const uint64_t next = gab_msglog_next(local->msglog, to->rank, context);
  if (!to->is_up) return GAB_OK;
  GAB_TRY(gab_local_leave_out(local, to, context));
  if (channel->is_replaying) GAB_TRY(replay(local, to, context, next - channel->sent));
  while (!channel->is_replaying && channel->sent < next) GAB_TRY(send_next(local, to, context, LIVE));
  if (channel->sent > channel->handled) channel->handled = channel->sent < next ? channel->sent : next;
  if (channel->sent >= next) channel->is_replaying = false;
  /* If the partner needs the message again, this rank rolls back too and recomputes it. */
  if (to->is_inner) gab_msglog_free_below(local->msglog, to->rank, context, channel->sent);
  return GAB_OK;
}

static gab_status check_active(const gab_local *local, gab_rank rank, uint32_t context)
{
  if (local->state != GAB_LOCAL_ACTIVE) GAB_FAIL(GAB_ERR_STATE, "this process runs no rank now");
  if (!gab_local_find(local, rank) || context >= local->setup.contexts)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "rank %" GAB_PRI_RANK " in context %" PRIu32 " is not a partner of rank %" GAB_PRI_RANK, rank,
             context, local->rank);
  return GAB_OK;
}

gab_status gab_local_send(gab_local *local, gab_rank target, uint32_t context, const gab_msglog_label *label,
                          gab_buffer *message)
{
  gab_msglog_entry *entry;
  GAB_TRY(check_active(local, target, context));
  gab_local_partner *to = gab_local_find(local, target);
  GAB_TRY(gab_msglog_append(local->msglog, target, context, label, message, &entry));
  if (!to->is_inner) local->stats.logged_bytes += entry->bytes;
  return gab_local_pump(local, to, context);
}

/* ---------------------------------------------------------------- receiving */

gab_status gab_local_receive(gab_local *local, gab_rank source, uint32_t context, gab_buffer *message,
                             gab_msglog_label *label, bool *there)
{
  GAB_TRY(check_active(local, source, context));
  gab_local_partner *from = gab_local_find(local, source);
  gab_local_channel *channel = &from->channels[context];
  *there = channel->arrived_count > 0;
  if (!*there) return GAB_OK;
  gab_local_arrival first = channel->arrived[0];
  channel->arrived_count--;
  memmove(channel->arrived, channel->arrived + 1, channel->arrived_count * sizeof first);
  gab_buffer_swap(message, &first.bytes);
  gab_buffer_release(&first.bytes);
  if (label) *label = first.label;
  channel->delivered++;
  if (!first.wants_note || from->is_down)
    return GAB_OK; /* a replay may arrive before the answer to the greeting, which uses another lane */
  const gab_local_note note = {.kind = NOTE_PROGRESS, .number = context, .value = channel->delivered};
  return gab_local_tell(local, gab_local_process(local, source), note, NULL);
}

/* @param[in] in rest of the message after the head @param[in,out] payload NULL: use `in`; else its memory is taken */
static gab_status take_in(const gab_local *local, gab_local_channel *channel, const gab_local_arrival *head,
                          gab_reader in, gab_buffer *payload)
{
  GAB_TRY(gab_list_reserve(&channel->arrived, channel->arrived_count, sizeof *channel->arrived));
  gab_local_arrival *place = &channel->arrived[channel->arrived_count];
  *place = *head;
  gab_buffer_init(&place->bytes, GAB_MEMORY_MESSAGE);
  if (payload) gab_buffer_swap(&place->bytes, payload);
  else GAB_TRY(gab_put_bytes(&place->bytes, in.at, gab_reader_left(&in)));
  channel->arrived_count++;
  if (channel->delivered + channel->arrived_count > channel->reached)
    channel->reached = channel->delivered + channel->arrived_count;
  return gab_local_keep_hash(local, channel, place);
}

/* The sender is no longer a partner, or has become one again. Without this error the message would be lost silently. */
static gab_status came_late(const gab_local *local, gab_rank from, const gab_local_arrival *head)
{
  GAB_FAIL(GAB_ERR_STATE,
           "a message of step %" GAB_PRI_STEP " from rank %" GAB_PRI_RANK " to rank %" GAB_PRI_RANK
           " arrived after a section that changed the neighbours: messages sent before a checkpoint"
           " must be received before it",
           head->label.step, from, local->rank);
}

/* A message of an earlier life may arrive after the greeting that did not count it. Then its replay is the
 * duplicate, and the replaying rank still waits for the note on delivery. */
static gab_status answer_again(gab_local *local, gab_local_partner *from, uint32_t context, uint64_t number)
{
  gab_local_channel *channel = &from->channels[context];
  if (number >= channel->delivered) {
    channel->arrived[number - channel->delivered].wants_note = true;
    return GAB_OK;
  }
  if (from->is_down) return GAB_OK;
  const gab_local_note note = {.kind = NOTE_PROGRESS, .number = context, .value = channel->delivered};
  return gab_local_tell(local, gab_local_process(local, from->rank), note, NULL);
}

gab_status gab_local_on_message(gab_local *local, gab_process source, uint32_t context, gab_reader in,
                                gab_buffer *payload)
{
  gab_rank from, to;
  gab_incarnation from_incarnation, to_incarnation;
  uint32_t to_life, its_context;
  uint64_t number;
  uint8_t way;
  gab_local_arrival head = {0};
  GAB_TRY(gab_get_i32(&in, &from));
  GAB_TRY(gab_get_u32(&in, &from_incarnation));
  GAB_TRY(gab_get_i32(&in, &to));
  GAB_TRY(gab_get_u32(&in, &to_incarnation));
  GAB_TRY(gab_get_u32(&in, &to_life));
  GAB_TRY(gab_get_u32(&in, &its_context));
  GAB_TRY(gab_get_u64(&in, &number));
  GAB_TRY(gab_get_i64(&in, &head.label.step));
  GAB_TRY(gab_get_u32(&in, &head.label.pattern));
  GAB_TRY(gab_get_u64(&in, &head.label.iteration));
  GAB_TRY(gab_get_u8(&in, &way));
  if (payload && gab_reader_left(&in) > 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "a message has %zu bytes between head and payload", gab_reader_left(&in));
  head.wants_note = way == REPLAYED_AND_ASKS;
  const bool for_me = local->state == GAB_LOCAL_ACTIVE && to == local->rank &&
                      to_incarnation == local->incarnation && to_life == local->life;
  gab_local_partner *partner = for_me ? gab_local_find(local, from) : NULL;
  if (for_me && !partner) return came_late(local, from, &head);
  if (!partner || gab_local_process(local, from) != source ||
      gab_local_incarnation_of(local, from) != from_incarnation) {
    local->stats.stale++;
    return GAB_OK;
  }
  if (its_context != context || context >= local->setup.contexts)
    GAB_FAIL(GAB_ERR_CORRUPT, "received a message of context %" PRIu32 " in context %" PRIu32, its_context,
             context);
  gab_local_channel *channel = &partner->channels[context];
  const uint64_t due = channel->delivered + channel->arrived_count;
  if (number >> GAB_LOCAL_SECTION_SHIFT < due >> GAB_LOCAL_SECTION_SHIFT)
    return came_late(local, from, &head);
  if (number < due) {
    local->stats.duplicates++;
    return head.wants_note ? answer_again(local, partner, context, number) : GAB_OK;
  }
  if (number > due)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "received message %" PRIu64 " from rank %" GAB_PRI_RANK " on rank %" GAB_PRI_RANK
             ", expected %" PRIu64,
             number, from, local->rank, due);
  return take_in(local, channel, &head, in, payload);
}

/* ---------------------------------------------------------------- greeting */

gab_status gab_local_greet(gab_local *local, const gab_local_partner *partner, bool answer)
{
  gab_buffer body;
  gab_buffer_init(&body, GAB_MEMORY_OTHER);
  gab_status status = partner->is_inner ? gab_local_pack_line(local, partner, &body) : GAB_OK;
  for (uint32_t c = 0; c < local->setup.contexts && status == GAB_OK; c++) {
    /* undelivered messages count too: a partner in a later life of the same incarnation would not send them again.
     * They are dropped only before another greeting. */
    status = gab_put_u64(&body, partner->channels[c].delivered + partner->channels[c].arrived_count);
    if (status == GAB_OK) status = gab_put_u64(&body, gab_msglog_first(local->msglog, partner->rank, c));
  }
  if (status == GAB_OK) status = gab_put_i64(&body, local->reported_have);
  if (status == GAB_OK) status = gab_put_u64(&body, local->reported_arrived);
  if (status == GAB_OK) status = gab_put_i64(&body, local->committed);
  if (status == GAB_OK) status = gab_put_u64(&body, local->entered);
  const gab_local_note note = {.kind = NOTE_HELLO, .checkpoint = local->base, .value = answer};
  if (status == GAB_OK) status = gab_local_tell(local, gab_local_process(local, partner->rank), note, &body);
  gab_buffer_release(&body);
  return status;
}

/* Opens the channels to a partner in a new life. @param[out] behind it cannot replay messages that this rank lacks */
static gab_status open_channels(gab_local *local, gab_local_partner *partner, gab_reader *in, bool *behind)
{
  *behind = false;
  partner->is_up = true;
  for (uint32_t c = 0; c < local->setup.contexts; c++) {
    gab_local_channel *channel = &partner->channels[c];
    uint64_t first;
    GAB_TRY(gab_get_u64(in, &channel->sent));
    GAB_TRY(gab_get_u64(in, &first));
    const uint64_t next = gab_msglog_next(local->msglog, partner->rank, c);
    if (partner->is_inner && channel->sent != gab_msglog_first(local->msglog, partner->rank, c))
      GAB_FAIL(GAB_ERR_CORRUPT,
               "rank %" GAB_PRI_RANK " expects message %" PRIu64 " of rank %" GAB_PRI_RANK
               ", which starts with another one after the rollback of their cluster",
               partner->rank, channel->sent, local->rank);
    gab_local_begin_replay(channel, next);
    if (first > channel->delivered + channel->arrived_count) *behind = true;
    /* the partner will detect the same, jump, and greet again */
    if (channel->sent < gab_msglog_first(local->msglog, partner->rank, c)) partner->is_up = false;
    if (local->setup.own_times && (*behind || !partner->is_up))
      GAB_FAIL(GAB_ERR_CORRUPT,
               "ranks %" GAB_PRI_RANK " and %" GAB_PRI_RANK
               " have rolled back to a checkpoint for which no log of their messages is stored: "
               "their images must contain it",
               local->rank, partner->rank);
  }
  return GAB_OK;
}

static gab_status take_values(gab_local *local, gab_local_partner *partner, gab_reader *in)
{
  gab_step have, committed;
  uint64_t arrived, entered;
  GAB_TRY(gab_get_i64(in, &have));
  GAB_TRY(gab_get_u64(in, &arrived));
  GAB_TRY(gab_get_i64(in, &committed));
  GAB_TRY(gab_get_u64(in, &entered));
  if (have > partner->have) partner->have = have;
  if (arrived > partner->arrived) partner->arrived = arrived;
  GAB_TRY(gab_local_learn_committed(local, committed));
  GAB_TRY(gab_local_learn_entered(local, entered));
  return gab_local_update_tree(local);
}

/* Handles a partner in a life that was not greeted yet. */
static gab_status on_new_life(gab_local *local, gab_local_partner *partner, const gab_local_note *note,
                              gab_reader *in)
{
  bool behind;
  partner->is_down = false;
  partner->was_met = true;
  partner->life = note->from_life;
  partner->asking = -1;
  GAB_TRY(open_channels(local, partner, in, &behind));
  GAB_TRY(take_values(local, partner, in));
  if (local->state != GAB_LOCAL_ACTIVE) return GAB_OK;
  if (behind) return gab_local_jump(local, note->checkpoint);
  /* the answer carries the values of the tree; if this is an answer, they may have grown since the greeting */
  if (note->value) GAB_TRY(gab_local_greet(local, partner, false));
  else GAB_TRY(gab_local_tell_values(local, partner));
  GAB_TRY(gab_local_tell_cluster_values(local, partner));
  if (partner->roles & ROLE_HOLDER) {
    const bool all = note->from_incarnation != local->renewed;
    local->renewed = note->from_incarnation;
    GAB_TRY(gab_local_renew_copies(local, all));
  }
  GAB_TRY(gab_local_answer_askers(local, partner));
  for (uint32_t c = 0; c < local->setup.contexts; c++) GAB_TRY(gab_local_pump(local, partner, c));
  return GAB_OK;
}

/* Whether the partner has messages that this rank has not recomputed. Messages that it had before it rolled back
 * with its cluster count too. */
static bool lacks_messages(const gab_local *local, const gab_local_partner *partner)
{
  for (uint32_t c = 0; c < local->setup.contexts; c++) {
    const uint64_t next = gab_msglog_next(local->msglog, partner->rank, c);
    if (partner->channels[c].sent > next || partner->channels[c].had > next) return true;
  }
  return false;
}

bool gab_local_is_behind(const gab_local *local)
{
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *partner = &local->partners[i];
    if (!(partner->roles & ROLE_NEIGHBOUR)) continue;
    if (partner->is_down ? !partner->was_met : !partner->is_up)
      return true; /* its sequence numbers are unknown yet */
    if (lacks_messages(local, partner)) return true;
  }
  return false;
}

gab_status gab_local_on_hello(gab_local *local, gab_process source, const gab_local_note *note,
                              gab_reader *in)
{
  gab_local_partner *partner = gab_local_find(local, note->from);
  const gab_incarnation known = gab_local_incarnation_of(local, note->from);
  if (!partner || note->from_incarnation < known ||
      (note->from_incarnation == known && (note->from_life < partner->life || partner->is_down))) {
    local->stats.stale++;
    return GAB_OK;
  }
  GAB_TRY(gab_local_learn(local, note->from, source, note->from_incarnation));
  if (note->from_incarnation > known || !partner->is_up) GAB_TRY(gab_local_on_new_process(local, note->from));
  bool same = true;
  if (partner->is_inner) GAB_TRY(gab_local_meet_line(local, partner, note, in, &same));
  if (!same) return GAB_OK;
  if (!partner->is_up || note->from_life > partner->life) return on_new_life(local, partner, note, in);
  for (uint32_t i = 0; i < 2 * local->setup.contexts; i++) {
    uint64_t known_already;
    GAB_TRY(gab_get_u64(in, &known_already));
  }
  GAB_TRY(take_values(local, partner, in));
  return note->value && local->state == GAB_LOCAL_ACTIVE ? gab_local_greet(local, partner, false) : GAB_OK;
}
