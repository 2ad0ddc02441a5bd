/* SPDX-License-Identifier: Apache-2.0 */
/* Limit of a replay: at most `ahead` undelivered messages over all channels of this process (Ropars et al. 2013,
 * section 5.2.2: up to 50 per process).
 *
 * A common limit could deadlock: of two ranks that roll back, one may wait for the other, which waits for a message
 * of this process, while undelivered messages to the first use the whole limit. So channels share the limit evenly,
 * and a channel without messages in transit may always send one. A rank that waits for a message of this process
 * then gets it, since all earlier messages of its channel are delivered. This exceeds the limit by at most one
 * message per channel. */
#include "resilience/local/protocol/local_impl.h"

static uint64_t under_way_on(const gab_local_channel *channel)
{
  return channel->replayed > channel->acknowledged ? channel->replayed - channel->acknowledged : 0;
}

/* @param[out] channels number of channels with messages to replay @return replayed messages not known to be
 * delivered */
static uint64_t under_way(const gab_local *local, uint64_t *channels)
{
  uint64_t sum = 0;
  *channels = 0;
  for (size_t i = 0; i < local->partner_count; i++)
    for (uint32_t c = 0; c < local->setup.contexts && local->partners[i].is_up; c++) {
      const gab_local_channel *channel = &local->partners[i].channels[c];
      sum += under_way_on(channel);
      *channels += channel->is_replaying;
    }
  return sum;
}

uint64_t gab_local_may_replay(const gab_local *local, const gab_local_channel *channel, uint64_t left)
{
  const uint64_t ahead = local->setup.ahead, own = under_way_on(channel);
  uint64_t channels;
  const uint64_t all = under_way(local, &channels);
  const uint64_t share = channels < ahead ? ahead / channels : 1;
  const uint64_t capacity = all < ahead ? ahead - all : 0;
  uint64_t many = own < share ? share - own : 0;
  if (many > capacity) many = capacity;
  if (many > left) many = left;
  if (own == 0) return many > 0 || left == 0 ? many : 1;
  /* half of a share at a time: each batch requests a note on delivery */
  return many == left || many >= (share + 1) / 2 ? many : 0;
}

void gab_local_begin_replay(gab_local_channel *channel, uint64_t next)
{
  channel->is_replaying = channel->sent < next;
  channel->replayed = channel->acknowledged = channel->sent;
}

/* Other channels may use the freed share of the limit. */
gab_status gab_local_on_progress(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *partner = gab_local_current(local, source, note);
  if (!partner || note->number >= local->setup.contexts) return GAB_OK;
  gab_local_channel *channel = &partner->channels[note->number];
  if (note->value > channel->acknowledged) channel->acknowledged = note->value;
  for (size_t i = 0; i < local->partner_count; i++)
    for (uint32_t c = 0; c < local->setup.contexts; c++)
      if (local->partners[i].channels[c].is_replaying) GAB_TRY(gab_local_pump(local, &local->partners[i], c));
  return GAB_OK;
}
