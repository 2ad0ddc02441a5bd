/* SPDX-License-Identifier: Apache-2.0 */
/* Local recovery: creation of a machine, dispatch of messages and deaths. */
#include "resilience/local/protocol/local_impl.h"

#include <string.h>

const char *gab_local_reason_name(gab_local_reason reason)
{
  static const char *const names[GAB_LOCAL_REASON_COUNT] = {
      [GAB_LOCAL_NO_CHECKPOINT] = "no checkpoint",
      [GAB_LOCAL_HOLDER_LOST] = "holder lost",
      [GAB_LOCAL_POOL_EMPTY] = "pool empty",
      [GAB_LOCAL_GLOBAL_SECTION] = "global section",
  };
  return (unsigned)reason < GAB_LOCAL_REASON_COUNT ? names[reason] : "unknown";
}

/* ---------------------------------------------------------------- creation */

static gab_status begin_active(gab_local *local, const gab_local_setup *setup)
{
  local->rank = (gab_rank)setup->process;
  local->state = GAB_LOCAL_ACTIVE;
  for (int32_t i = 0; i < setup->neighbour_count; i++)
    GAB_TRY(gab_local_add_partner(local, setup->neighbours[i], ROLE_NEIGHBOUR));
  for (int32_t i = 0; i < setup->protected_count; i++)
    GAB_TRY(gab_local_add_partner(local, setup->protected_ranks[i], ROLE_PROTECTED));
  GAB_TRY(gab_local_add_relatives(local));
  GAB_TRY(gab_local_make_members(local));
  for (size_t i = 0; i < local->partner_count; i++)
    local->partners[i].is_up = local->partners[i].was_met = true;
  return GAB_OK;
}

gab_status gab_local_create(const gab_local_setup *setup, const gab_local_transport *transport,
                            const gab_local_application *application, gab_local **local)
{
  *local = NULL;
  if (setup->ranks < 2 || setup->ahead < 2 || setup->children < 1 || setup->contexts > GAB_LOCAL_CONTEXTS ||
      setup->process < 0 || setup->process >= (gab_process)setup->ranks + setup->spares)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "local recovery: %" GAB_PRI_RANK " ranks, process %" GAB_PRI_PROCESS ", %" PRIu64
             " messages ahead, %" PRIu32 " contexts",
             setup->ranks, setup->process, setup->ahead, setup->contexts);
  if (setup->verify && !application->differs)
    GAB_FAIL(GAB_ERR_ARGUMENT, "local recovery: setup.verify needs the callback `differs`");
  gab_local *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->setup = *setup;
  made->setup.neighbours = made->setup.protected_ranks = NULL;
  made->transport = *transport;
  made->application = *application;
  made->rank = GAB_NO_RANK;
  made->image_from = GAB_NO_PROCESS;
  made->taken = made->acknowledged = made->committed = made->base = made->line = made->reported_have = -1;
  made->common = made->common_acknowledged = made->cluster_committed = made->reported_cluster_have = -1;
  gab_status status = gab_msglog_create(setup->copy_below, &made->msglog);
  if (status == GAB_OK && setup->process < (gab_process)setup->ranks) status = begin_active(made, setup);
  if (status == GAB_OK) *local = made;
  else gab_local_destroy(&made);
  return status;
}

static void forget_deferred(gab_local *local)
{
  for (size_t i = 0; i < local->deferred_count; i++) gab_buffer_release(&local->deferred[i].bytes);
  gab_free(&local->deferred);
  local->deferred_count = 0;
}

void gab_local_destroy(gab_local **pointer)
{
  gab_local *local = *pointer;
  if (!local) return;
  *pointer = NULL;
  for (size_t i = 0; i < local->partner_count; i++) gab_local_release_partner(&local->partners[i]);
  gab_free(&local->partners);
  gab_free(&local->addresses);
  gab_free(&local->members);
  gab_local_forget_images(&local->images);
  gab_free(&local->decisions.values);
  forget_deferred(local);
  gab_buffer_release(&local->head);
  gab_msglog_destroy(&local->msglog);
  gab_free(&local);
}

gab_status gab_local_hand_over(gab_local *local, gab_local_reason reason, gab_rank rank)
{
  if (local->state == GAB_LOCAL_OVER) return GAB_OK;
  local->state = GAB_LOCAL_OVER;
  local->transport.hand_over(local->transport.user, reason, rank);
  return GAB_OK;
}

/* ---------------------------------------------------------------- dispatch */

static gab_status handle(gab_local *local, gab_process source, const gab_local_note *note, gab_reader *in,
                         gab_buffer *payload)
{
  GAB_TRY(gab_local_learn_from(local, note));
  gab_local_learn_taken(local, note);
  switch (note->kind) {
  case NOTE_HELLO:
    return gab_local_on_hello(local, source, note, in);
  case NOTE_PROGRESS:
    return gab_local_on_progress(local, source, note);
  case NOTE_LOST:
    return gab_local_on_lost(local, source, note);
  case NOTE_ACCEPT:
    return gab_local_on_accept(local, source, note);
  case NOTE_REFUSE:
    return gab_local_on_refuse(local, source, note);
  case NOTE_RUNS:
    return gab_local_on_runs(local, note);
  case NOTE_NOT_ME:
    return gab_local_on_not_me(local, source, note);
  case NOTE_COPY:
    return gab_local_on_copy(local, source, note, in, payload);
  case NOTE_COPIED:
    return gab_local_on_copied(local, source, note);
  case NOTE_HAVE:
    return gab_local_on_have(local, source, note);
  case NOTE_COMMITTED:
    return gab_local_on_committed(local, source, note);
  case NOTE_DECISION:
    return gab_local_on_decision(local, source, note);
  case NOTE_DECIDED:
    return gab_local_on_decided(local, source, note);
  case NOTE_HASH:
    return gab_local_on_hash(local, source, note, in);
  case NOTE_COMPARED:
    return gab_local_on_compared(local, source, note);
  case NOTE_CLUSTER_HAVE:
    return gab_local_on_cluster_have(local, source, note);
  case NOTE_RECEIVED:
    return gab_local_on_received(local, source, note, in);
  default:
    return GAB_OK; /* an unexpected image; a commit in the cluster, which is in the head */
  }
}

static gab_status defer(gab_local *local, gab_process source, gab_reader in, const gab_buffer *payload)
{
  GAB_TRY(gab_list_reserve(&local->deferred, local->deferred_count, sizeof *local->deferred));
  gab_local_deferred *place = &local->deferred[local->deferred_count];
  *place = (gab_local_deferred){.source = source};
  GAB_TRY(gab_put_bytes(&place->bytes, in.at, gab_reader_left(&in)));
  if (payload) GAB_TRY(gab_put_bytes(&place->bytes, payload->data, payload->size));
  local->deferred_count++;
  return GAB_OK;
}

static gab_status on_note(gab_local *local, gab_process source, gab_reader in, gab_buffer *payload);

/* Handles notes that arrived while restoring. If one of them causes another restore, the rest is deferred again. */
static gab_status handle_deferred(gab_local *local)
{
  gab_local_deferred *list = local->deferred;
  const size_t count = local->deferred_count;
  gab_status status = GAB_OK;
  local->deferred = NULL;
  local->deferred_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (status == GAB_OK) status = on_note(local, list[i].source, gab_reader_of_buffer(&list[i].bytes), NULL);
    gab_buffer_release(&list[i].bytes);
  }
  gab_free(&list);
  return status;
}

static gab_status on_note(gab_local *local, gab_process source, gab_reader in, gab_buffer *payload)
{
  const gab_reader whole = in;
  gab_local_note note;
  GAB_TRY(gab_local_read_note(local, &in, &note));
  if (payload && gab_reader_left(&in) > 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "a note has %zu bytes between head and payload", gab_reader_left(&in));
  if (payload) in = gab_reader_of_buffer(payload);
  gab_local_learn_stop(local, note.stop_behind, note.stop_why);
  /* answered in every state: the sender waits, and the state does not change */
  if (note.kind == NOTE_OFFER) return gab_local_on_offer(local, source, &note);
  if (note.kind == NOTE_WHO) return gab_local_on_who(local, source, &note);
  if (note.kind == NOTE_FETCH && local->partner_count > 0) return gab_local_on_fetch(local, source, &note);
  if (local->state == GAB_LOCAL_SPARE && note.kind == NOTE_RUNS)
    return gab_local_learn(local, note.about, note.about_process, note.about_incarnation);
  if (local->state == GAB_LOCAL_RESTORING) {
    if (note.kind != NOTE_IMAGE || source != local->image_from) return defer(local, source, whole, payload);
    GAB_TRY(gab_local_on_image(local, &note, &in));
    GAB_TRY(gab_local_tell_spares(local));
    return handle_deferred(local);
  }
  return local->state == GAB_LOCAL_ACTIVE ? handle(local, source, &note, &in, payload) : GAB_OK;
}

gab_status gab_local_deliver(gab_local *local, gab_process source, uint32_t lane, const void *bytes,
                             size_t count, gab_buffer *payload)
{
  const gab_reader in = gab_reader_of(bytes, count);
  if (local->state == GAB_LOCAL_OVER) return GAB_OK;
  return lane == GAB_LOCAL_CONTROL ? on_note(local, source, in, payload)
                                   : gab_local_on_message(local, source, lane - 1, in, payload);
}

bool gab_local_is_followed(const gab_local *local, uint32_t lane, const void *bytes, size_t count)
{
  gab_local_note note;
  gab_reader in = gab_reader_of(bytes, count);
  if (lane != GAB_LOCAL_CONTROL) return true;
  if (gab_local_read_note(local, &in, &note) == GAB_OK) return note.kind != NOTE_RUNS;
  gab_error_clear(); /* gab_local_deliver() refuses it */
  return true;
}

gab_status gab_local_peer_down(gab_local *local, gab_process process)
{
  if (local->state == GAB_LOCAL_OVER || local->state == GAB_LOCAL_SPARE) return GAB_OK;
  if (local->state == GAB_LOCAL_RESTORING && process == local->image_from)
    return gab_local_hand_over(local, GAB_LOCAL_HOLDER_LOST, local->rank);
  for (size_t i = 0; i < local->partner_count; i++) {
    gab_local_partner *partner = &local->partners[i];
    if (gab_local_process(local, partner->rank) == process) GAB_TRY(gab_local_mark_down(local, partner));
    if (local->state == GAB_LOCAL_OVER) return GAB_OK;
  }
  return gab_local_spare_down(local, process);
}

/* ---------------------------------------------------------------- queries */

gab_local_state gab_local_state_of(const gab_local *local) { return local->state; }
gab_rank gab_local_rank(const gab_local *local) { return local->rank; }
gab_process gab_local_process_of(const gab_local *local, gab_rank rank)
{
  return gab_local_process(local, rank);
}
uint32_t gab_local_taken_over(const gab_local *local) { return local->taken_over; }
gab_step gab_local_committed(const gab_local *local) { return local->committed; }
gab_step gab_local_committed_in_cluster(const gab_local *local)
{
  return gab_local_may_go_back_to(local, NULL);
}
gab_local_stats gab_local_statistics(const gab_local *local) { return local->stats; }
gab_msglog *gab_local_msglog(gab_local *local) { return local->msglog; }
