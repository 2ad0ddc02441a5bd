/* SPDX-License-Identifier: Apache-2.0 */
/* Verification of local recovery: a restored rank recomputes messages that its partners have. They are not sent, but
 * their hashes are compared. */
#include "resilience/local/protocol/local_impl.h"

#include "core/base/hash.h"

#include <string.h>

/* The hash includes the label: equal bytes in another step are another message. */
static uint64_t hash_of(const gab_local *local, const gab_msglog_label *label, const unsigned char *bytes,
                        size_t count)
{
  const size_t skipped = local->setup.unhashed < count ? local->setup.unhashed : count;
  const uint64_t seed = gab_hash_counter((uint64_t)label->step, label->pattern, label->iteration);
  return gab_hash64_fast(bytes + skipped, count - skipped, seed);
}

/* ---------------------------------------------------------------- hashes of received messages */

gab_status gab_local_keep_hash(const gab_local *local, gab_local_channel *channel,
                               const gab_local_arrival *arrival)
{
  gab_local_hashes *hashes = &channel->hashes;
  if (!local->setup.verify) return GAB_OK;
  if (hashes->count == hashes->capacity) {
    const size_t more = hashes->capacity ? 2 * hashes->capacity : 16;
    GAB_TRY(GAB_RESIZE_ARRAY(&hashes->list, more, GAB_MEMORY_OTHER));
    hashes->capacity = more;
  }
  hashes->list[hashes->count++] = (gab_local_hash){
      .value = hash_of(local, &arrival->label, arrival->bytes.data, arrival->bytes.size),
      .step = arrival->label.step,
  };
  return GAB_OK;
}

void gab_local_forget_hashes(gab_local_channel *channel, uint64_t from)
{
  gab_local_hashes *hashes = &channel->hashes;
  if (from < hashes->base) from = hashes->base;
  if (from - hashes->base < hashes->count) hashes->count = (size_t)(from - hashes->base);
}

void gab_local_restart_hashes(gab_local_channel *channel)
{
  channel->hashes.count = 0;
  channel->hashes.base = channel->delivered;
}

/* A rank sends again only messages of the step of its checkpoint or later. */
static void free_hashes(gab_local_hashes *hashes, gab_step before)
{
  size_t many = 0;
  while (many < hashes->count && hashes->list[many].step < before) many++;
  if (many == 0) return;
  memmove(hashes->list, hashes->list + many, (hashes->count - many) * sizeof *hashes->list);
  hashes->base += many;
  hashes->count -= many;
}

void gab_local_free_hashes(gab_local *local, gab_step before)
{
  for (size_t i = 0; i < local->partner_count && local->setup.verify; i++)
    for (uint32_t c = 0; c < local->setup.contexts; c++)
      free_hashes(&local->partners[i].channels[c].hashes, before);
}

/* ---------------------------------------------------------------- hashes of recomputed messages */

static gab_status tell_hash(gab_local *local, gab_local_partner *to, uint32_t context,
                            const gab_msglog_entry *entry)
{
  gab_buffer body;
  gab_buffer_init(&body, GAB_MEMORY_OTHER);
  gab_status status = gab_put_u32(&body, context);
  if (status == GAB_OK) status = gab_put_u64(&body, entry->number);
  if (status == GAB_OK) status = gab_put_u32(&body, entry->label.pattern);
  if (status == GAB_OK) status = gab_put_u64(&body, entry->label.iteration);
  const gab_local_note note = {.kind = NOTE_HASH,
                               .checkpoint = entry->label.step,
                               .number = ++to->hashes_sent,
                               .value = hash_of(local, &entry->label, entry->data, entry->bytes)};
  if (status == GAB_OK) status = gab_local_tell(local, gab_local_process(local, to->rank), note, &body);
  gab_buffer_release(&body);
  return status;
}

gab_status gab_local_leave_out(gab_local *local, gab_local_partner *to, uint32_t context)
{
  gab_local_channel *channel = &to->channels[context];
  const uint64_t next = gab_msglog_next(local->msglog, to->rank, context);
  for (; channel->handled < channel->sent && channel->handled < next; channel->handled++) {
    const gab_msglog_entry *entry = gab_msglog_find(local->msglog, to->rank, context, channel->handled);
    local->stats.left_out++;
    if (entry && local->setup.verify) GAB_TRY(tell_hash(local, to, context, entry));
  }
  return GAB_OK;
}

bool gab_local_is_verified(const gab_local *local)
{
  if (!local->setup.verify || local->life == 0) return true; /* a process of the start recomputes nothing */
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *partner = &local->partners[i];
    /* the omitted messages are unknown before the greeting is answered */
    if (!partner->is_down && (!partner->is_up || partner->hashes_answered < partner->hashes_sent))
      return false;
  }
  return true;
}

/* ---------------------------------------------------------------- comparing */

static gab_status compare(gab_local *local, const gab_local_hashes *known, const gab_local_note *note,
                          gab_local_difference *message)
{
  const uint64_t number = message->number;
  /* Unknown: older than the stored hashes, or this rank was restored after it got the message. */
  if (number < known->base || number - known->base >= known->count) return GAB_OK;
  const gab_local_hash *first = &known->list[number - known->base];
  local->stats.compared++;
  if (first->value == note->value) return GAB_OK;
  message->first_step = first->step;
  GAB_TRY(local->application.differs(local->application.user, message));
  GAB_FAIL(GAB_ERR_CORRUPT, "a recomputed message of rank %" GAB_PRI_RANK " differs from the first one",
           message->from);
}

gab_status gab_local_on_hash(gab_local *local, gab_process source, const gab_local_note *note, gab_reader *in)
{
  gab_local_partner *partner = gab_local_current(local, source, note);
  gab_local_difference message = {.from = note->from, .to = local->rank, .label = {.step = note->checkpoint}};
  if (!partner) return GAB_OK;
  GAB_TRY(gab_get_u32(in, &message.context));
  GAB_TRY(gab_get_u64(in, &message.number));
  GAB_TRY(gab_get_u32(in, &message.label.pattern));
  GAB_TRY(gab_get_u64(in, &message.label.iteration));
  if (message.context >= local->setup.contexts)
    GAB_FAIL(GAB_ERR_CORRUPT, "local recovery: received a hash of unknown context %" PRIu32, message.context);
  GAB_TRY(compare(local, &partner->channels[message.context].hashes, note, &message));
  return gab_local_tell(local, source, (gab_local_note){.kind = NOTE_COMPARED, .number = note->number}, NULL);
}

gab_status gab_local_on_compared(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *partner = gab_local_current(local, source, note);
  if (partner && note->number > partner->hashes_answered) partner->hashes_answered = note->number;
  return GAB_OK;
}
