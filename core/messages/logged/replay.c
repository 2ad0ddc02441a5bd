/* SPDX-License-Identifier: Apache-2.0 */
/** @file replay.c
 * @brief The collective calls of the set-up, recorded on all processes and replayed to a process that is started later.
 *
 * A respawned process executes the same set-up as the others, but alone: their collective calls are finished. On a process
 * without a rank these calls return the same as on all others, since it contributes nothing. So another process sends its
 * record to the replacement process, whose calls return the recorded results. Other conditions may differ: e.g. the case
 * file may have been changed or removed meanwhile. */
#include "core/world/world_impl.h"

#include <string.h>

static const char *const names[] = {[GAB_REPLAY_BROADCAST] = "broadcast",
                                    [GAB_REPLAY_REDUCTION] = "reduction",
                                    [GAB_REPLAY_SCAN] = "prefix sum",
                                    [GAB_REPLAY_AGREEMENT] = "agreement"};

bool gab_world_replays(const gab_world *world) { return world->replay.state == GAB_REPLAY_READS; }

void gab_replay_end(gab_world *world)
{
  if (world->replay.state != GAB_REPLAY_NONE) world->replay.state = GAB_REPLAY_OVER;
  gab_buffer_release(&world->replay.record);
}

void gab_replay_close(gab_world *world)
{
  if (world->replay.state == GAB_REPLAY_WRITES) world->replay.state = GAB_REPLAY_OVER;
}

void gab_replay_give_up(gab_world *world, const char *why)
{
  if (world->replay.state == GAB_REPLAY_NONE || world->replay.state == GAB_REPLAY_LOST) return;
  gab_replay_end(world);
  world->replay.state = GAB_REPLAY_LOST;
  world->replay.why_lost = why;
}

void gab_replay_note(gab_world *world, gab_replay_kind kind, const void *bytes, size_t count)
{
  gab_buffer *record = &world->replay.record;
  if (world->replay.state != GAB_REPLAY_WRITES) return;
  if (record->size + count > GAB_REPLAY_MOST_BYTES || gab_put_u8(record, (uint8_t)kind) != GAB_OK ||
      gab_put_u64(record, count) != GAB_OK || gab_put_bytes(record, bytes, count) != GAB_OK)
    gab_replay_give_up(
        world,
        "the collective calls of the set-up have given more than the 1 MiB that is kept for processes to "
        "come");
}

gab_status gab_replay_next(gab_world *world, gab_replay_kind kind, gab_reader *bytes)
{
  const gab_buffer *record = &world->replay.record;
  gab_reader in = gab_reader_of_buffer(record);
  uint8_t was;
  uint64_t count;
  if (in.at) in.at += world->replay.at;
  if (gab_reader_left(&in) == 0)
    GAB_FAIL(GAB_ERR_STATE, "a respawned process calls for a %s that the others did not have in their set-up",
             names[kind]);
  GAB_TRY(gab_get_u8(&in, &was));
  GAB_TRY(gab_get_u64(&in, &count));
  if (was != kind || count > gab_reader_left(&in))
    GAB_FAIL(GAB_ERR_STATE, "a respawned process calls for a %s where the others had a %s in their set-up",
             names[kind], was < GAB_REPLAY_KINDS ? names[was] : "thing unknown");
  *bytes = in;
  bytes->end = in.at + count;
  world->replay.at = (size_t)(bytes->end - record->data);
  return GAB_OK;
}

gab_status gab_replay_into(gab_world *world, gab_replay_kind kind, void *bytes, size_t count)
{
  gab_reader in;
  GAB_TRY(gab_replay_next(world, kind, &in));
  if (gab_reader_left(&in) != count)
    GAB_FAIL(GAB_ERR_STATE, "a respawned process calls for a %s of %zu bytes where the others had one of %zu",
             names[kind], count, gab_reader_left(&in));
  if (count > 0) memcpy(bytes, in.at, count);
  return GAB_OK;
}
