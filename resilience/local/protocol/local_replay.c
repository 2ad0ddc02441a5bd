/* SPDX-License-Identifier: Apache-2.0 */
/* Limit of a replay: at most `ahead` messages that are not delivered yet, over all channels of this process (Ropars et al. 2013,
 * section 5.2.2: up to 50 of a process).
 *
 * A common limit alone would not do. Of two ranks that roll back, one may wait for the other, and that one for a message of this
 * process, while the messages replayed to the first are undelivered and use the whole limit. So channels share the limit evenly,
 * and one with nothing in transit may always send one message: then a rank that waits for a message of this process gets it, since
 * all before it on its channel are delivered. With more channels than `ahead`, or where one starts while the others use all, that
 * exceeds the limit by at most one per channel. */
#include "resilience/local/protocol/local_impl.h"

static uint64_t under_way_on(const gab_local_channel *channel)
{
  return channel->replayed > channel->acknowledged ? channel->replayed - channel->acknowledged : 0;
}

/* @param[out] channels  that have more to replay @return messages of all that are not known to be delivered */
static uint64_t under_way(const gab_local *local, uint64_t *channels)
{
  uint64_t sum = 0;
  *channels = 0;
  for (size_t i = 0; i < local->partner_count; i++)
    for (uint32_t c = 0; c < local->setup.contexts && local->partners[i].up; c++) {
      const gab_local_channel *channel = &local->partners[i].channels[c];
      sum += under_way_on(channel);
      *channels += channel->replaying;
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
  /* half of a share at a time: each lot asks to hear of it */
  return many == left || many >= (share + 1) / 2 ? many : 0;
}

void gab_local_begin_replay(gab_local_channel *channel, uint64_t next)
{
  channel->replaying = channel->sent < next;
  channel->replayed = channel->acknowledged = channel->sent;
}

/* Another channel may use the share of the limit that it frees. */
gab_status gab_local_on_progress(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *partner = gab_local_current(local, source, note);
  if (!partner || note->number >= local->setup.contexts) return GAB_OK;
  gab_local_channel *channel = &partner->channels[note->number];
  if (note->value > channel->acknowledged) channel->acknowledged = note->value;
  for (size_t i = 0; i < local->partner_count; i++)
    for (uint32_t c = 0; c < local->setup.contexts; c++)
      if (local->partners[i].channels[c].replaying) GAB_TRY(gab_local_pump(local, &local->partners[i], c));
  return GAB_OK;
}
