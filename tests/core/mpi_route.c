/* SPDX-License-Identifier: Apache-2.0 */
/* Routed items arrive as if every rank knew all targets of all others. */
/* gabion-test: np=1,2,3,4,5,6,7,8,9 quick=4 timeout=60 */
#include "core/messages/collective.h"
#include "core/base/hash.h"
#include "tests/mpi_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gab_world *world;
static gab_rank ranks, me;

/* Items of rank `from` in a round, known to all ranks. */
static size_t count_of(uint64_t round, gab_rank from)
{
  if (round == 0) return 0;
  return (size_t)(gab_hash_counter(round, 1, (uint64_t)from) % (round == 1 ? 2 : 200));
}

static gab_rank target_of(uint64_t round, gab_rank from, size_t item)
{
  if (round == 2) return ranks - 1;
  return (gab_rank)(gab_hash_counter(round, 2 + (uint64_t)from, item) % (uint64_t)ranks);
}

static unsigned char byte_of(uint64_t round, gab_rank from, size_t item, size_t place)
{
  return (unsigned char)gab_hash_counter(round, 1000 + (uint64_t)from, item * 64 + place);
}

static void require_received(uint64_t round, size_t item_bytes, const gab_buffer *received, size_t count)
{
  gab_reader reader = gab_reader_of_buffer(received);
  size_t expected = 0;
  for (gab_rank from = 0; from < ranks; from++)
    for (size_t i = 0; i < count_of(round, from); i++) {
      if (target_of(round, from, i) != me) continue;
      gab_rank source = GAB_NO_RANK;
      uint8_t byte = 0;
      expected++;
      REQUIRE(gab_get_i32(&reader, &source) == GAB_OK && source == from);
      for (size_t b = 0; b < item_bytes; b++)
        REQUIRE(gab_get_u8(&reader, &byte) == GAB_OK && byte == byte_of(round, from, i, b));
    }
  REQUIRE(count == expected && gab_reader_left(&reader) == 0);
}

static void play(uint64_t round, size_t item_bytes)
{
  const size_t count = count_of(round, me);
  unsigned char *items = malloc(count * item_bytes + 1);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  gab_buffer received = {0};
  size_t received_count = 99;
  REQUIRE(items && targets && gab_put_u8(&received, 7) == GAB_OK);
  for (size_t i = 0; i < count; i++) {
    targets[i] = target_of(round, me, i);
    for (size_t b = 0; b < item_bytes; b++) items[i * item_bytes + b] = byte_of(round, me, i, b);
  }
  REQUIRE(gab_world_route(world, items, targets, count, item_bytes, &received, &received_count) == GAB_OK);
  require_received(round, item_bytes, &received, received_count);
  free(items);
  free(targets);
  gab_buffer_release(&received);
}

static void a_target_outside_is_refused(void)
{
  if (ranks > 1) return; /* other ranks would wait for this process */
  gab_buffer received = {0};
  size_t count;
  REQUIRE(gab_world_route(world, "x", &ranks, 1, 1, &received, &count) == GAB_ERR_ARGUMENT);
}

int main(int argc, char **argv)
{
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  ranks = gab_members_count(gab_world_members(world));
  me = gab_world_rank(world);
  for (uint64_t round = 0; round < 25; round++)
    play(round, round % 4 == 3 ? 0 : 1 + (size_t)(round * 7 % 40));
  a_target_outside_is_refused();
  gab_world_destroy(&world);
  REQUIRE(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0);
  return test_end(&world);
}
