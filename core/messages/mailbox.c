/* SPDX-License-Identifier: Apache-2.0 */
/** @file mailbox.c
 *  @brief Mailboxes: sending, the queue of early messages, and receives that match source, tag and id. */
#include "core/messages/mailbox.h"

#include "core/world/world_impl.h"

#include <string.h>

enum {
  TAG_BYTES = 4,       /* before the payload */
  MOST_AT_ONCE = 64,   /* messages read from one source before the next one */
  LOOKS_PER_CHECK = 64 /* polls between two checks for deaths */
};

/* ------------------------------------------------------------------------------------ the queue */

static void drop(gab_letter **letter)
{
  gab_buffer_release(&(*letter)->bytes);
  gab_free(letter);
}

void gab_mailbox_empty(gab_mailbox *mailbox)
{
  while (mailbox->first) {
    gab_letter *letter = mailbox->first;
    mailbox->first = letter->next;
    drop(&letter);
  }
  mailbox->end = &mailbox->first;
}

gab_status gab_mailbox_put(gab_mailbox *mailbox, gab_buffer *message)
{
  gab_envelope envelope;
  uint32_t tag;
  gab_reader in = gab_message_reader(message);
  GAB_TRY(gab_message_envelope(message, &envelope));
  GAB_TRY(gab_get_u32(&in, &tag));
  gab_letter *letter;
  GAB_TRY(GAB_NEW(&letter, GAB_MEMORY_OTHER));
  letter->about = (gab_mail){.source = envelope.source,
                             .tag = tag,
                             .bytes = gab_reader_left(&in),
                             .id = {envelope.pattern, envelope.iteration},
                             .step = envelope.step};
  gab_buffer_init(&letter->bytes, GAB_MEMORY_MESSAGE);
  gab_buffer_swap(&letter->bytes, message);
  *mailbox->end = letter;
  mailbox->end = &letter->next;
  return GAB_OK;
}

size_t gab_mailbox_waiting(const gab_mailbox *mailbox)
{
  size_t count = 0;
  if (!mailbox->world || mailbox->epoch != mailbox->world->epoch) return 0;
  for (const gab_letter *letter = mailbox->first; letter; letter = letter->next) count++;
  return count;
}

/* Position of the first message that matches. */
static gab_letter **find(gab_mailbox *mailbox, gab_rank source, uint32_t tag)
{
  const gab_pattern_id id = gab_pattern_active(mailbox->world);
  gab_letter **place = &mailbox->first;
  for (; *place; place = &(*place)->next) {
    const gab_mail *mail = &(*place)->about;
    if (mail->tag == tag && mail->id.pattern == id.pattern && mail->id.iteration == id.iteration &&
        (source == GAB_ANY_RANK || mail->source == source))
      return place;
  }
  return NULL;
}

static void take_out(gab_mailbox *mailbox, gab_letter **place)
{
  gab_letter *letter = *place;
  *place = letter->next;
  if (mailbox->end == &letter->next) mailbox->end = place;
  drop(&letter);
}

/* ------------------------------------------------------------------------------------ life */

gab_status gab_mailbox_create(gab_world *world, const char *name, gab_mailbox **mailbox)
{
  *mailbox = NULL;
  if (world->mail_is_closed)
    GAB_FAIL(GAB_ERR_STATE, "mailbox %s must be made before the time loop runs, which protects it", name);
  gab_mailbox *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  const gab_status status = gab_port_create(world, name, &made->port);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  gab_port_set_logged(made->port);
  made->world = world;
  made->epoch = world->epoch;
  made->end = &made->first;
  made->older = world->mailboxes;
  world->mailboxes = made;
  *mailbox = made;
  return GAB_OK;
}

static void forget_sent(gab_mailbox *mailbox)
{
  while (mailbox->sending) {
    gab_parcel *parcel = mailbox->sending;
    mailbox->sending = parcel->next;
    gab_buffer_release(&parcel->bytes);
    gab_free(&parcel);
  }
}

void gab_mailbox_destroy(gab_mailbox **pointer)
{
  gab_mailbox *mailbox = *pointer;
  if (!mailbox) return;
  *pointer = NULL;
  gab_mailbox **place = &mailbox->world->mailboxes;
  while (*place != mailbox) place = &(*place)->older;
  *place = mailbox->older;
  gab_mailbox_empty(mailbox);
  gab_port_destroy(&mailbox->port); /* cancels transfers that use the memory released below */
  forget_sent(mailbox);
  gab_free(&mailbox);
}

/* ------------------------------------------------------------------------------------ sending */

static gab_status pack(gab_buffer *message, uint32_t tag, const void *bytes, size_t count)
{
  GAB_TRY(gab_message_begin(message));
  GAB_TRY(gab_put_u32(message, tag));
  return gab_put_bytes(message, bytes, count);
}

gab_status gab_mailbox_send(gab_mailbox *mailbox, gab_rank target, uint32_t tag, const void *bytes,
                            size_t count)
{
  gab_parcel *parcel;
  GAB_TRY(GAB_NEW(&parcel, GAB_MEMORY_OTHER));
  gab_buffer_init(&parcel->bytes, GAB_MEMORY_MESSAGE);
  gab_status status = pack(&parcel->bytes, tag, bytes, count);
  if (status == GAB_OK) status = gab_port_send(mailbox->port, target, &parcel->bytes);
  if (status == GAB_OK) {
    parcel->next = mailbox->sending;
    mailbox->sending = parcel;
    return GAB_OK;
  }
  gab_buffer_release(&parcel->bytes); /* after a failure the buffer is no longer lent */
  gab_free(&parcel);
  return status;
}

/* ------------------------------------------------------------------------------------ looking */

static gab_status help_sent(gab_mailbox *mailbox)
{
  bool done;
  GAB_TRY(gab_port_progress(mailbox->port, &done));
  if (!done) return GAB_OK;
  GAB_TRY(gab_port_finish(mailbox->port)); /* does not wait */
  forget_sent(mailbox);
  return GAB_OK;
}

/* Reads all arrived messages of one source, in the order of its channel. */
static gab_status look_at(gab_mailbox *mailbox, gab_rank source)
{
  for (int taken = 0; taken < MOST_AT_ONCE; taken++) {
    bool there;
    gab_buffer message;
    gab_buffer_init(&message, GAB_MEMORY_MESSAGE);
    gab_status status = gab_port_poll(mailbox->port, source, &message, &there);
    if (status == GAB_OK && there) status = gab_mailbox_put(mailbox, &message);
    gab_buffer_release(&message);
    GAB_TRY(status);
    if (!there) return GAB_OK;
  }
  return GAB_OK;
}

static gab_status test_receives(gab_mailbox *mailbox, gab_rank source)
{
  const gab_members *members = &mailbox->world->members;
  const int32_t count = gab_members_count(members);
  GAB_TRY(help_sent(mailbox));
  if (source != GAB_ANY_RANK) {
    GAB_TRY(look_at(mailbox, source));
  } else {
    for (int32_t k = 0; k < count && k < GAB_MAILBOX_LOOKS; k++) {
      mailbox->next = (mailbox->next + 1) % count;
      GAB_TRY(look_at(mailbox, gab_members_rank(members, mailbox->next)));
    }
  }
  return gab_mailboxes_check(mailbox->world);
}

static gab_status check_request(gab_mailbox *mailbox, gab_rank source)
{
  gab_world *world = mailbox->world;
  GAB_TRY(gab_world_check(world));
  if (mailbox->epoch != world->epoch) {
    gab_mailbox_empty(mailbox);
    mailbox->epoch = world->epoch;
  }
  if (source == GAB_ANY_RANK && world->patterns.active == GAB_DEFAULT_PATTERN)
    GAB_FAIL(GAB_ERR_STATE,
             "mailbox %s: a message from any source can be received within an iteration of a "
             "pattern only (gab_pattern_begin())",
             mailbox->port->name);
  if (source != GAB_ANY_RANK && !gab_members_has(&world->members, source))
    GAB_FAIL(GAB_ERR_ARGUMENT, "mailbox %s: rank %" GAB_PRI_RANK " does not take part", mailbox->port->name,
             source);
  return GAB_OK;
}

gab_status gab_mailbox_probe(gab_mailbox *mailbox, gab_rank source, uint32_t tag, bool *there,
                             gab_mail *found)
{
  *there = false;
  GAB_TRY(check_request(mailbox, source));
  gab_letter **place = find(mailbox, source, tag);
  if (!place) {
    GAB_TRY(test_receives(mailbox, source));
    /* A program that only probes must detect deaths, too. */
    if (!mailbox->world->logger) GAB_TRY(gab_world_look_for_deaths(mailbox->world));
    place = find(mailbox, source, tag);
  }
  *there = place != NULL;
  if (place && found) *found = (*place)->about;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ receiving */

static gab_status wait_for(gab_mailbox *mailbox, gab_rank source, uint32_t tag, gab_letter ***place)
{
  gab_world *world = mailbox->world;
  for (int looks = 0, since = 0;; gab_world_pause(world, &looks)) {
    *place = find(mailbox, source, tag);
    if (*place) return GAB_OK;
    GAB_TRY(test_receives(mailbox, source));
    *place = find(mailbox, source, tag);
    if (*place) return GAB_OK;
    if (source == world->rank)
      GAB_FAIL(GAB_ERR_STATE, "mailbox %s: no message from oneself is there, and none can come",
               mailbox->port->name);
    if (++since % LOOKS_PER_CHECK == 0 && !world->logger) GAB_TRY(gab_world_look_for_deaths(world));
  }
}

gab_status gab_mailbox_receive(gab_mailbox *mailbox, gab_rank source, uint32_t tag, void *bytes,
                               size_t capacity, gab_mail *got)
{
  gab_letter **place;
  GAB_TRY(check_request(mailbox, source));
  GAB_TRY(wait_for(mailbox, source, tag, &place));
  const gab_mail mail = (*place)->about;
  if (got) *got = mail;
  if (mail.bytes > capacity)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "mailbox %s: the message from rank %" GAB_PRI_RANK
             " has %zu bytes, and there is capacity for %zu",
             mailbox->port->name, mail.source, mail.bytes, capacity);
  if (mail.bytes > 0) memcpy(bytes, (*place)->bytes.data + GAB_ENVELOPE_BYTES + TAG_BYTES, mail.bytes);
  take_out(mailbox, place);
  return GAB_OK;
}
