/* SPDX-License-Identifier: Apache-2.0 */
/* Translation between ranks and indices, against a plain array. */
/* gabion-test: labels=quick */
#include "core/world/members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/hash.h"

enum { RANKS = 40 };

static void require_like(const gab_members *members, const bool *there)
{
  int32_t index = 0;
  for (gab_rank rank = 0; rank < RANKS; rank++) {
    assert_int_equal(gab_members_has(members, rank), there[rank]);
    assert_int_equal(gab_members_index(members, rank), there[rank] ? index : -1);
    if (!there[rank]) continue;
    assert_int_equal(gab_members_rank(members, index), rank);
    index++;
  }
  assert_int_equal(gab_members_count(members), index);
  assert_int_equal(gab_members_rank(members, index), GAB_NO_RANK);
  assert_int_equal(gab_members_rank(members, -1), GAB_NO_RANK);
  assert_false(gab_members_has(members, -1));
  assert_false(gab_members_has(members, RANKS));
  assert_int_equal(gab_members_index(members, GAB_NO_RANK), -1);
}

static void members_translate_like_a_plain_array(void **state)
{
  (void)state;
  for (uint64_t round = 0; round < 50; round++) {
    gab_members members;
    bool there[RANKS];
    for (int i = 0; i < RANKS; i++) there[i] = true;
    gab_members_init(&members, RANKS);
    require_like(&members, there);
    for (uint64_t i = 0; i < RANKS + 20; i++) {
      const gab_rank rank = (gab_rank)(gab_hash_counter(7, round, i) % (RANKS + 4)) - 2;
      assert_int_equal(gab_members_remove(&members, rank), GAB_OK);
      if (rank >= 0 && rank < RANKS) there[rank] = false;
      require_like(&members, there);
    }
    gab_members_release(&members);
  }
}

static void members_can_all_be_gone(void **state)
{
  (void)state;
  gab_members members;
  bool there[RANKS] = {false};
  gab_members_init(&members, RANKS);
  for (gab_rank rank = RANKS - 1; rank >= 0; rank--)
    assert_int_equal(gab_members_remove(&members, rank), GAB_OK);
  require_like(&members, there);
  gab_members_release(&members);
  gab_members_init(&members, 0);
  assert_int_equal(gab_members_count(&members), 0);
  assert_int_equal(gab_members_rank(&members, 0), GAB_NO_RANK);
  gab_members_release(&members);
}

static void copies_live_apart(void **state)
{
  (void)state;
  gab_members members, copy = {0};
  gab_members_init(&members, RANKS);
  assert_int_equal(gab_members_remove(&members, 3), GAB_OK);
  assert_int_equal(gab_members_copy(&copy, &members), GAB_OK);
  assert_int_equal(gab_members_remove(&members, 5), GAB_OK);
  assert_int_equal(gab_members_count(&copy), RANKS - 1);
  assert_true(gab_members_has(&copy, 5));
  assert_int_equal(gab_members_copy(&copy, &members), GAB_OK);
  assert_false(gab_members_has(&copy, 5));
  gab_members_release(&members);
  gab_members_release(&copy);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

static void packed_members_come_back(void **state)
{
  (void)state;
  gab_members members, back;
  gab_buffer packed = {0};
  bool there[RANKS];
  for (int i = 0; i < RANKS; i++) there[i] = i % 3 != 0;
  gab_members_init(&members, RANKS);
  gab_members_init(&back, 2);
  for (gab_rank rank = 0; rank < RANKS; rank += 3)
    assert_int_equal(gab_members_remove(&members, rank), GAB_OK);
  assert_int_equal(gab_members_pack(&members, &packed), GAB_OK);
  gab_reader reader = gab_reader_of_buffer(&packed);
  assert_int_equal(gab_members_unpack(&back, &reader), GAB_OK);
  assert_int_equal(gab_reader_left(&reader), 0);
  require_like(&back, there);
  gab_members_release(&members);
  gab_members_release(&back);
  gab_buffer_release(&packed);
}

/* Against a plain table of processes and incarnations. */
static void ranks_come_back_in_their_next_incarnation(void **state)
{
  (void)state;
  for (uint64_t round = 0; round < 30; round++) {
    gab_members members, then, survivors = {0};
    gab_process process[RANKS], next = RANKS;
    gab_incarnation incarnation[RANKS] = {0}, incarnation_then[RANKS] = {0};
    bool there_then[RANKS] = {false};
    gab_members_init(&members, RANKS);
    gab_members_init(&then, 0);
    for (gab_rank rank = 0; rank < RANKS; rank++) process[rank] = rank;
    for (uint64_t i = 0; i < 150; i++) {
      const gab_rank rank = (gab_rank)(gab_hash_counter(11, round, i) % RANKS);
      if (process[rank] != GAB_NO_PROCESS && gab_hash_counter(13, round, i) % 3) {
        assert_int_equal(gab_members_return(&members, rank, next), GAB_ERR_ARGUMENT);
        assert_int_equal(gab_members_remove(&members, rank), GAB_OK);
        process[rank] = GAB_NO_PROCESS;
      } else if (process[rank] == GAB_NO_PROCESS) {
        assert_int_equal(gab_members_return(&members, rank, next), GAB_OK);
        process[rank] = next++;
        incarnation[rank]++;
      }
      if (i == 70) {
        assert_int_equal(gab_members_copy(&then, &members), GAB_OK);
        for (gab_rank s = 0; s < RANKS; s++) there_then[s] = process[s] != GAB_NO_PROCESS;
        for (gab_rank s = 0; s < RANKS; s++) incarnation_then[s] = incarnation[s];
      }
      for (gab_rank s = 0; s < RANKS; s++) {
        assert_int_equal(gab_members_process(&members, s), process[s]);
        assert_int_equal(gab_members_incarnation(&members, s), incarnation[s]);
        if (process[s] != GAB_NO_PROCESS)
          assert_int_equal(gab_members_rank_of_process(&members, process[s]), s);
      }
      assert_int_equal(gab_members_rank_of_process(&members, next), GAB_NO_RANK);
    }
    assert_int_equal(gab_members_survivors(&then, &members, &survivors), GAB_OK);
    for (gab_rank s = 0; s < RANKS; s++) {
      const bool survived =
          there_then[s] && process[s] != GAB_NO_PROCESS && incarnation[s] == incarnation_then[s];
      assert_int_equal(gab_members_has_survived(&then, &members, s), survived);
      assert_int_equal(gab_members_has(&survivors, s), survived);
    }
    gab_members_release(&survivors);
    gab_members_release(&then);
    gab_members_release(&members);
  }
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

static void a_process_runs_one_rank_at_a_time(void **state)
{
  (void)state;
  gab_members members;
  gab_members_init(&members, 4);
  assert_int_equal(gab_members_remove(&members, 1), GAB_OK);
  assert_int_equal(gab_members_remove(&members, 2), GAB_OK);
  assert_int_equal(gab_members_return(&members, 1, 3), GAB_ERR_ARGUMENT); /* runs rank 3 */
  assert_int_equal(gab_members_return(&members, 1, 4), GAB_OK);
  assert_int_equal(gab_members_return(&members, 2, 4), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_members_return(&members, 4, 5), GAB_ERR_ARGUMENT); /* not a rank */
  assert_int_equal(gab_members_return(&members, 2, GAB_NO_PROCESS), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_members_count(&members), 3);
  gab_members_release(&members);
}

static void packed_returns_come_back(void **state)
{
  (void)state;
  gab_members members, back = {0};
  gab_buffer packed = {0}, cut = {0};
  gab_members_init(&members, 5);
  for (gab_rank rank = 1; rank < 4; rank++) assert_int_equal(gab_members_remove(&members, rank), GAB_OK);
  assert_int_equal(gab_members_return(&members, 3, 7), GAB_OK);
  assert_int_equal(gab_members_remove(&members, 3), GAB_OK);
  assert_int_equal(gab_members_return(&members, 3, 9), GAB_OK);
  assert_int_equal(gab_members_return(&members, 1, 8), GAB_OK);
  assert_int_equal(gab_members_pack(&members, &packed), GAB_OK);
  gab_reader reader = gab_reader_of_buffer(&packed);
  assert_int_equal(gab_members_unpack(&back, &reader), GAB_OK);
  assert_int_equal(gab_reader_left(&reader), 0);
  assert_int_equal(gab_members_process(&back, 3), 9);
  assert_int_equal(gab_members_incarnation(&back, 3), 2);
  assert_int_equal(gab_members_process(&back, 1), 8);
  assert_int_equal(gab_members_process(&back, 2), GAB_NO_PROCESS);
  for (size_t bytes = 0; bytes < packed.size; bytes++) { /* truncated anywhere: refused without changes */
    gab_buffer_clear(&cut);
    assert_int_equal(gab_put_bytes(&cut, packed.data, bytes), GAB_OK);
    reader = gab_reader_of_buffer(&cut);
    assert_int_equal(gab_members_unpack(&back, &reader), GAB_ERR_CORRUPT);
    assert_int_equal(gab_members_count(&back), 4);
  }
  gab_members_release(&members);
  gab_members_release(&back);
  gab_buffer_release(&packed);
  gab_buffer_release(&cut);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

static void require_refused(int32_t ranks, uint64_t count, const gab_rank *gone, size_t given)
{
  gab_buffer packed = {0};
  gab_members members;
  gab_members_init(&members, 5);
  assert_int_equal(gab_put_i32(&packed, ranks), GAB_OK);
  assert_int_equal(gab_put_u64(&packed, count), GAB_OK);
  for (size_t i = 0; i < given; i++) assert_int_equal(gab_put_i32(&packed, gone[i]), GAB_OK);
  gab_reader reader = gab_reader_of_buffer(&packed);
  const gab_reader before = reader;
  assert_int_equal(gab_members_unpack(&members, &reader), GAB_ERR_CORRUPT);
  assert_ptr_equal(reader.at, before.at);
  assert_int_equal(gab_members_count(&members), 5);
  gab_members_release(&members);
  gab_buffer_release(&packed);
}

static void nonsense_is_not_unpacked(void **state)
{
  (void)state;
  require_refused(-1, 0, NULL, 0);
  require_refused(4, 2, (gab_rank[]){1}, 1);
  require_refused(4, 2, (gab_rank[]){1, 1}, 2);
  require_refused(4, 2, (gab_rank[]){2, 1}, 2);
  require_refused(4, 1, (gab_rank[]){4}, 1);
  require_refused(4, 1, (gab_rank[]){-1}, 1);
  require_refused(1, 2, (gab_rank[]){0, 1}, 2);
  require_refused(4, UINT64_MAX, (gab_rank[]){0, 1}, 2);
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_translate_like_a_plain_array),
      cmocka_unit_test(members_can_all_be_gone),
      cmocka_unit_test(copies_live_apart),
      cmocka_unit_test(packed_members_come_back),
      cmocka_unit_test(ranks_come_back_in_their_next_incarnation),
      cmocka_unit_test(a_process_runs_one_rank_at_a_time),
      cmocka_unit_test(packed_returns_come_back),
      cmocka_unit_test(nonsense_is_not_unpacked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
