/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of all sizes arrive whole and in order between all places, lent memory comes back, a death is told to all and
 * again to who sends to the dead, and the living talk on without a repair; whoever is near, or is no more. Who takes a message gets no
 * memory of a longer one with it. */
/* gabion-test: np=2,3,5 quick=3 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "core/messages/port.h"
#include "core/messages/logged/reliable_channel.h"
#include "tests/mpi_test.h"

static const size_t sizes[] = {0, 1, 4096, 4097, GAB_CHUNK_BYTES, GAB_CHUNK_BYTES + 1, 3 * 1024 * 1024};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 8, HEAD = 12 };

static struct {
  gab_reliable_channel *channel;
  gab_process places, me;
  uint64_t came[MOST]; /* received from each place */
  int down[MOST];
  int returned; /* lent memory */
  size_t bytes;
  const unsigned char
      *longest; /* memory of the longest received message that the reliable channel still has; NULL: taken */
} state;

static unsigned char byte_of(gab_process from, gab_process to, uint64_t number, size_t at)
{
  return (unsigned char)(from * 37 + to * 5 + (int)number * 11 + (int)(at * 31) + (int)(at >> 12));
}

/* Some of the long messages are taken, the others are left. None has more than twice the memory that it needs, except that
 * the memory of the longest, if left, is kept for the next one of that length. */
static void keep_or_leave(gab_buffer *payload, bool takes)
{
  const bool is_longest = payload->size > 2 * GAB_CHUNK_BYTES;
  REQUIRE(payload->capacity / 2 <= payload->size);
  if (is_longest) REQUIRE(!state.longest || state.longest == payload->data);
  if (is_longest) state.longest = takes ? NULL : payload->data;
  if (!takes) return;
  gab_buffer taken;
  gab_buffer_init(&taken, GAB_MEMORY_MESSAGE);
  gab_buffer_swap(&taken, payload);
  gab_buffer_release(&taken);
}

static gab_status on_message(void *user, gab_process place, uint32_t lane, const void *bytes, size_t count,
                             gab_buffer *payload)
{
  (void)user;
  const uint64_t number = state.came[place]++;
  const unsigned char *at = bytes;
  const size_t behind = payload ? payload->size : 0;
  REQUIRE(lane == number % 3 && count + behind == HEAD + sizes[number % SIZES]);
  REQUIRE(!payload || count == HEAD);
  bool right = true;
  for (size_t i = 0; i < count; i++) right = right && at[i] == byte_of(place, state.me, number, i);
  for (size_t i = 0; i < behind; i++)
    right = right && payload->data[i] == byte_of(place, state.me, number, count + i);
  REQUIRE(right);
  state.bytes += count + behind;
  if (payload) keep_or_leave(payload, number % 2 == 0);
  return GAB_OK;
}

static gab_status on_down(void *user, gab_process place)
{
  (void)user;
  state.down[place]++;
  return GAB_OK;
}

static void on_sent(void *user, void *lent)
{
  (void)user;
  free(lent);
  state.returned++;
}

/* @param[out] lent  memory was lent */
static gab_status try_to_send(gab_process to, uint64_t number, bool *lent)
{
  const size_t bytes = sizes[number % SIZES];
  unsigned char head[HEAD], *payload = malloc(bytes + 1);
  const bool lends = *lent = (number + (uint64_t)to) % 2 == 0;
  REQUIRE(payload);
  for (size_t i = 0; i < HEAD; i++) head[i] = byte_of(state.me, to, number, i);
  for (size_t i = 0; i < bytes; i++) payload[i] = byte_of(state.me, to, number, HEAD + i);
  gab_buffer over = gab_buffer_over(head, HEAD);
  over.size = HEAD;
  const gab_status status = gab_reliable_channel_send(state.channel, to, (uint32_t)(number % 3), &over,
                                                      payload, bytes, lends ? payload : NULL);
  if (!lends) {
    memset(payload, 0, bytes);
    free(payload);
  }
  return status;
}

static bool send(gab_process to, uint64_t number)
{
  bool lent;
  REQUIRE_OK(try_to_send(to, number, &lent));
  return lent;
}

/* All processes send all sizes `rounds` times to all live ones. */
static void all_pairs(uint64_t first, uint64_t rounds, gab_process living)
{
  int lent = 0;
  const int before = state.returned;
  for (uint64_t number = first; number < first + rounds * SIZES; number++)
    for (gab_process to = 0; to < living; to++)
      if (to != state.me) lent += send(to, number);
  for (gab_process from = 0; from < living; from++)
    while (from != state.me && state.came[from] < first + rounds * SIZES)
      REQUIRE_OK(gab_reliable_channel_serve(state.channel));
  while (state.returned < before + lent) REQUIRE_OK(gab_reliable_channel_serve(state.channel));
  REQUIRE(state.returned == before + lent);
}

/* Tells all that this process has finished, and waits for the same from them, or for the repair, which begins later. */
static void end(uint64_t number, gab_process living)
{
  gab_status status = GAB_OK;
  bool lent;
  for (gab_process to = 0; to < living && status == GAB_OK; to++)
    if (to != state.me) status = try_to_send(to, number, &lent);
  for (gab_process from = 0; from < living; from++)
    while (from != state.me && state.came[from] <= number && status == GAB_OK)
      status = gab_reliable_channel_serve(state.channel);
  REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT);
}

/* Visits the near places one after the other; removes all but `next`, or none. */
typedef struct near_places {
  gab_process next;
  bool all_stay;
  int count; /* number of visited places */
  bool right;
} near_places;

static bool stays(const void *user, gab_process place)
{
  near_places *asked = *(near_places *const *)user;
  asked->count++;
  asked->right = asked->right || place == asked->next;
  return asked->all_stay || place == asked->next;
}

static near_places keep_near(gab_process next, bool all_stay)
{
  near_places asked = {.next = next, .all_stay = all_stay}, *of = &asked;
  gab_reliable_channel_keep_near(state.channel, stays, &of);
  return asked;
}

/* Only the next process remains near; messages of the others still arrive. */
static void leave_one_near(void)
{
  const gab_process next = (state.me + 1) % state.places;
  for (int twice = 0; twice < 2; twice++)
    for (gab_process place = 0; place < state.places; place++)
      if (place != state.me) REQUIRE_OK(gab_reliable_channel_add_near(state.channel, place));
  REQUIRE(gab_reliable_channel_statistics(state.channel).near == (size_t)state.places - 1);
  near_places asked = keep_near(next, false);
  REQUIRE(asked.count == state.places - 1 && asked.right);
  REQUIRE(gab_reliable_channel_statistics(state.channel).near == 1);
  asked = keep_near(next, true);
  REQUIRE(asked.count == 1 && asked.right);
  REQUIRE(gab_reliable_channel_statistics(state.channel).near == 1);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_status abort_request;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const gab_reliable_channel_events events = {.message = on_message, .down = on_down, .sent = on_sent};
  gab_world_set_policy(world, GAB_POLICY_MARK_DOWN);
  REQUIRE_OK(gab_reliable_channel_create(world, &events, &state.channel));
  state.places = gab_reliable_channel_places(state.channel);
  state.me = gab_reliable_channel_place(state.channel);
  REQUIRE(state.places == gab_world_members(world)->ranks && state.me == gab_world_rank(world));
  leave_one_near();
  all_pairs(0, 3, state.places);
  (void)keep_near(GAB_NO_PROCESS, false);
  REQUIRE(gab_reliable_channel_statistics(state.channel).near == 0);

  /* The last process dies after it has received from all; the others detect it and continue. */
  const gab_process dead = state.places - 1;
  REQUIRE_OK(gab_world_barrier(world));
  test_kill(world, dead);
  while (state.down[dead] == 0) REQUIRE_OK(gab_reliable_channel_serve(state.channel));
  const int told = state.down[dead];
  (void)send(dead, 3 * SIZES);
  for (int i = 0; i < 3; i++) REQUIRE_OK(gab_reliable_channel_serve(state.channel));
  REQUIRE(state.down[dead] > told);
  for (gab_process place = 0; place < dead; place++) REQUIRE(state.down[place] == 0);
  all_pairs(3 * SIZES, 2, dead);
  end(5 * SIZES, dead);

  REQUIRE_OK(gab_world_repair(world, &abort_request));
  gab_reliable_channel_destroy(&state.channel);
  REQUIRE(gab_members_count(gab_world_members(world)) == dead);
  return test_end(&world);
}
