/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations give what closed forms say, on any number of processes. */
/* gabion-test: np=1,2,3,4,5,7,8,9 quick=4 timeout=60 */
#include "core/messages/collective.h"
#include "tests/mpi_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static gab_world *world;
static uint64_t ranks, me;

static void sums_and_extremes_follow_closed_forms(void)
{
  uint64_t sum[3] = {me, 1, UINT64_MAX}, high[2] = {me, 7}, low[2] = {me + 5, 7};
  REQUIRE(gab_world_sum_u64(world, sum, 3) == GAB_OK);
  REQUIRE(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == ranks && sum[2] == (uint64_t)0 - ranks);
  REQUIRE(gab_world_max_u64(world, high, 2) == GAB_OK && high[0] == ranks - 1 && high[1] == 7);
  REQUIRE(gab_world_min_u64(world, low, 2) == GAB_OK && low[0] == 5 && low[1] == 7);
  double top[4] = {(double)me, -(double)me, me == ranks - 1 ? NAN : 1.0, me % 2 ? 0.0 : -0.0};
  double bottom[3] = {-(double)me, me == 0 ? -INFINITY : 3.0, me == 0 ? -0.0 : 0.0};
  REQUIRE(gab_world_max_f64(world, top, 4) == GAB_OK);
  REQUIRE(top[0] == (double)(ranks - 1) && top[1] == 0.0 && isnan(top[2]) &&
          !!signbit(top[3]) == (ranks == 1));
  REQUIRE(gab_world_min_f64(world, bottom, 3) == GAB_OK);
  REQUIRE(bottom[0] == -(double)(ranks - 1) && bottom[1] == -INFINITY && signbit(bottom[2]));
}

static void exact_sums_do_not_round_on_the_way(void)
{
  gab_exact_sum sums[2];
  gab_exact_clear(&sums[0]);
  gab_exact_clear(&sums[1]);
  gab_exact_add(&sums[0], me == 0 ? 1e300 : 1.0);
  if (me == ranks - 1) gab_exact_add(&sums[0], -1e300);
  gab_exact_add(&sums[1], 0.1);
  REQUIRE(gab_world_sum_exact(world, sums, 2) == GAB_OK);
  REQUIRE(gab_exact_value(&sums[0]) == (double)(ranks - 1));
  gab_exact_sum alone;
  gab_exact_clear(&alone);
  for (uint64_t i = 0; i < ranks; i++) gab_exact_add(&alone, 0.1);
  REQUIRE(gab_exact_value(&sums[1]) == gab_exact_value(&alone));
}

static void large_reductions_travel_in_chunks(void)
{
  static uint64_t values[300000];
  for (size_t i = 0; i < 300000; i++) values[i] = i * (me + 1);
  REQUIRE(gab_world_sum_u64(world, values, 300000) == GAB_OK);
  for (size_t i = 0; i < 300000; i++) REQUIRE(values[i] == i * ranks * (ranks + 1) / 2);
}

static void a_scan_gives_what_lies_before(void)
{
  uint64_t before = 99, total = 99;
  REQUIRE(gab_world_scan_u64(world, me * me + 1, &before, &total) == GAB_OK);
  uint64_t expected = 0, all = 0;
  for (uint64_t i = 0; i < ranks; i++) {
    if (i < me) expected += i * i + 1;
    all += i * i + 1;
  }
  REQUIRE(before == expected && total == all);
  REQUIRE(gab_world_scan_u64(world, UINT64_MAX, &before, NULL) == GAB_OK && before == (uint64_t)0 - me);
}

static void a_broadcast_reaches_all_from_any_rank(void)
{
  static const size_t sizes[] = {0, 1, 100, 2 * GAB_ALIGNMENT, 3000001};
  for (uint64_t root = 0; root < ranks; root++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      gab_buffer bytes = {0};
      void *place;
      REQUIRE(gab_buffer_extend(&bytes, me == root ? sizes[s] : 13, &place) == GAB_OK);
      if (bytes.size > 0) memset(place, me == root ? (int)(root + s) : 255, bytes.size);
      REQUIRE(gab_world_broadcast(world, (gab_rank)root, &bytes) == GAB_OK);
      REQUIRE(bytes.size == sizes[s]);
      for (size_t i = 0; i < bytes.size; i++) REQUIRE(bytes.data[i] == (unsigned char)(root + s));
      gab_buffer_release(&bytes);
    }
}

static uint64_t visits;

static gab_status visit(void *user, gab_rank from, gab_reader bytes)
{
  REQUIRE((uint64_t)from == visits++);
  REQUIRE(gab_reader_left(&bytes) == (size_t)from * 100000);
  while (gab_reader_left(&bytes) > 0) {
    uint8_t byte;
    REQUIRE(gab_get_u8(&bytes, &byte) == GAB_OK && byte == (uint8_t)from);
  }
  return from == *(gab_rank *)user ? gab_error_set(GAB_ERR_IO, "here", 1, "disk full") : GAB_OK;
}

/* The upper half of the ranks fails, each with a different status. */
static void all_ranks_get_the_status_and_message_of_the_lowest_that_failed(void)
{
  const uint64_t first = ranks / 2;
  gab_status mine = GAB_OK;
  char expected[128];
  REQUIRE_OK(gab_world_reduce_status(world, GAB_OK));
  if (me >= first)
    mine = gab_error_set(me == first ? GAB_ERR_IO : GAB_ERR_MEMORY, __FILE__, __LINE__,
                         "disk %" PRIu64 " is full", me);
  REQUIRE(gab_world_reduce_status(world, mine) == GAB_ERR_IO);
  if (me == first) snprintf(expected, sizeof expected, "disk %" PRIu64 " is full", first);
  else snprintf(expected, sizeof expected, "rank %" PRIu64 ": disk %" PRIu64 " is full", first, first);
  REQUIRE(strcmp(gab_error_message(), expected) == 0);
  /* No rank waits for one whose communicator is revoked; here all are revoked. */
  REQUIRE(gab_world_reduce_status(world, GAB_ERR_FAULT) == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_reduce_status(world, GAB_OK));
}

static void a_gather_visits_all_in_order_and_hands_a_refusal_to_the_root_alone(void)
{
  gab_buffer mine = {0};
  void *place;
  gab_rank nobody = GAB_NO_RANK, second = 1;
  REQUIRE(gab_buffer_extend(&mine, (size_t)me * 100000, &place) == GAB_OK);
  if (mine.size > 0) memset(place, (int)me, mine.size);
  visits = 0;
  REQUIRE(gab_world_gather(world, &mine, visit, &nobody) == GAB_OK);
  REQUIRE(visits == (me == 0 ? ranks : 0));
  visits = 0;
  const gab_status status = gab_world_gather(world, &mine, visit, &second);
  REQUIRE(status == (me == 0 && ranks > 1 ? GAB_ERR_IO : GAB_OK));
  if (me == 0) REQUIRE(visits == (ranks > 1 ? 2 : 1));
  gab_buffer_release(&mine);
  REQUIRE(gab_world_barrier(world) == GAB_OK);
}

static int announcements;
static void count_reductions(void *user, gab_world *w, gab_fault_point point)
{
  REQUIRE(user == &announcements && w == world);
  if (point == GAB_FAULT_POINT_REDUCTION) announcements++;
}

static void each_operation_announces_itself_once(void)
{
  uint64_t value = 1, before;
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  gab_world_set_fault_point_hook(world, count_reductions, &announcements);
  REQUIRE(gab_world_barrier(world) == GAB_OK && announcements == 1);
  REQUIRE(gab_world_sum_u64(world, &value, 1) == GAB_OK && announcements == 2);
  REQUIRE(gab_world_sum_exact(world, &sum, 1) == GAB_OK && announcements == 3);
  REQUIRE(gab_world_scan_u64(world, 1, &before, NULL) == GAB_OK && announcements == 4);
  gab_world_set_fault_point_hook(world, NULL, NULL);
}

static void flags_are_anded_bit_by_bit(void)
{
  uint32_t flags = 0xffffu ^ (1u << me);
  REQUIRE(gab_world_agree(world, &flags) == GAB_OK);
  REQUIRE(flags == (0xffffu << ranks & 0xffffu));
  flags = 0x8001u;
  REQUIRE(gab_world_agree(world, &flags) == GAB_OK && flags == 0x8001u);
  flags = 0x10000u; /* refused locally: the bit would be lost */
  REQUIRE(gab_world_agree(world, &flags) == GAB_ERR_ARGUMENT);
}

int main(int argc, char **argv)
{
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  ranks = (uint64_t)gab_members_count(gab_world_members(world));
  me = (uint64_t)gab_world_rank(world);
  sums_and_extremes_follow_closed_forms();
  exact_sums_do_not_round_on_the_way();
  large_reductions_travel_in_chunks();
  a_scan_gives_what_lies_before();
  a_broadcast_reaches_all_from_any_rank();
  all_ranks_get_the_status_and_message_of_the_lowest_that_failed();
  a_gather_visits_all_in_order_and_hands_a_refusal_to_the_root_alone();
  each_operation_announces_itself_once();
  flags_are_anded_bit_by_bit();
  gab_world_destroy(&world);
  REQUIRE(!world);
  return test_end(&world);
}
