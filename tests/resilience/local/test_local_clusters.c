/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=240 */
/* Clusters of ranks under local recovery: a death rolls back its cluster only. local_net.h has the assertions of all
 * runs; these are the situations of doc/clusters.md, each at many moments. */
#include "tests/resilience/local/local_ring.h"

/* A ring in clusters of `size` neighbours; the last one may be smaller. */
static schedule clusters(gab_rank ranks, gab_process spares, gab_rank size, int shift)
{
  schedule plan = ring(ranks, spares, shift);
  plan.problem.clusters = true;
  for (gab_rank s = 0; s < ranks; s++) plan.problem.cluster[s] = s / size;
  return plan;
}

typedef struct tally {
  long tried, finished;
  gab_local_stats sum;
} tally;

/* A run may be handed over before the first commit is known, in the section at the end, or if `may_be`. */
static void try(const schedule *plan, tally *tally, int may_be)
{
  const outcome out = run(plan);
  tally->tried++;
  tally->finished += out.finished;
  tally->sum.rollbacks += out.stats.rollbacks;
  tally->sum.replayed += out.stats.replayed;
  tally->sum.left_out += out.stats.left_out;
  tally->sum.jumps += out.stats.jumps;
  tally->sum.stale += out.stats.stale;
  if (out.over && (int)out.reason != may_be)
    assert_true(out.reason == GAB_LOCAL_NO_CHECKPOINT || out.reason == GAB_LOCAL_GLOBAL_SECTION);
}

static void larger_clusters_log_less(void **state)
{
  (void)state;
  uint64_t before = UINT64_MAX;
  for (gab_rank size = 1; size <= 8; size *= 2) {
    const schedule plan = clusters(8, 0, size, 1);
    const outcome out = run(&plan);
    assert_true(out.finished);
    assert_int_equal(out.stats.rollbacks + out.stats.stale + out.stats.replayed + out.stats.left_out, 0);
    assert_true(out.stats.logged_bytes < before);
    before = out.stats.logged_bytes;
  }
  assert_int_equal(before, 0);
}

static void a_single_death_takes_its_cluster_back(void **state)
{
  (void)state;
  tally tally = {0};
  for (gab_rank size = 2; size <= 6; size++) {
    schedule plan = clusters(6, 1, size, 3);
    const long events = run(&plan).events;
    plan.death_count = 1;
    for (long event = 0; event < events; event += 3 * stride(3))
      for (gab_process process = 0; process < 6; process += 2) {
        plan.deaths[0] = (death){event, process};
        try(&plan, &tally, -1);
      }
  }
  assert_true(tally.finished * 10 > tally.tried * 6);
  assert_true(tally.sum.rollbacks > 0 && tally.sum.replayed > 0 && tally.sum.left_out > 0);
}

static void a_whole_cluster_comes_back(void **state)
{
  (void)state;
  tally tally = {0};
  schedule plan = clusters(6, 4, 2, 3);
  const long events = run(&plan).events;
  plan.death_count = 2;
  for (long event = 0; event < events; event += stride(3))
    for (long later = 0; later < 60; later += 11) {
      plan.deaths[0] = (death){event, 2};
      plan.deaths[1] = (death){event + later, 3};
      try(&plan, &tally, -1);
    }
  assert_true(tally.finished * 10 > tally.tried * 6);
}

/* A rank that is restored later may be greeted with an unknown recovery line, and greet with an old one. */
static void members_that_come_back_in_any_order_find_each_other(void **state)
{
  (void)state;
  tally tally = {0};
  for (uint64_t seed = 1; seed <= 2500; seed += (uint64_t)stride(5)) {
    schedule plan = clusters(7, 4, 4, 3);
    plan.seed = seed;
    plan.choices = NULL;
    plan.problem.holder[0] = 5;
    plan.problem.holder[3] = 5;
    plan.problem.steps = 14;
    const long event = 300 + (long)(mix(seed, 1) % 500);
    for (uint64_t i = 0; i < 3; i++)
      plan.deaths[plan.death_count++] =
          (death){event + (long)(mix(seed, 3 + i) % 60), (gab_process)(i + (seed & 1))};
    try(&plan, &tally, -1);
  }
  assert_true(tally.finished * 10 > tally.tried * 8);
}

/* Adjacent clusters and others; the dead ranks store no images for each other. */
static void two_clusters_at_once(void **state)
{
  (void)state;
  tally tally = {0};
  schedule plan = clusters(8, 3, 2, 3);
  const long events = run(&plan).events;
  plan.death_count = 2;
  for (long event = 0; event < events; event += stride(3))
    for (long later = 0; later < 40; later += 13) {
      plan.deaths[0] = (death){event, 1};
      plan.deaths[1] = (death){event + later, later % 2 ? 2 : 5};
      try(&plan, &tally, -1);
    }
  assert_true(tally.finished * 10 > tally.tried * 6);
  assert_true(tally.sum.rollbacks > 0 && tally.sum.replayed > 0);
}

/* Another member, or the replacement process, dies during rollback or recomputation; random events. */
static void a_death_while_a_cluster_goes_back(void **state)
{
  (void)state;
  tally tally = {0};
  for (uint64_t seed = 1; seed <= 1500; seed += (uint64_t)stride(5)) {
    schedule plan = clusters(9, 4, 3, 4);
    const gab_process first_spare = 9 + 1, victims[] = {0, 2, first_spare, 3};
    plan.seed = seed;
    plan.choices = NULL;
    long event = 400 + (long)(mix(seed, 1) % 600);
    plan.deaths[plan.death_count++] = (death){event, 1};
    for (uint64_t i = 0; i < 1 + seed % 2; i++) {
      event += (long)(mix(seed, 2 + i) % 120);
      plan.deaths[plan.death_count++] = (death){event, victims[mix(seed, 9 + i) % 4]};
    }
    try(&plan, &tally, GAB_LOCAL_HOLDER_LOST);
  }
  assert_true(tally.finished * 10 > tally.tried * 7);
  assert_true(tally.sum.stale > 0);
}

/* Two adjacent clusters: holders of one learn of commits early, those of the other late, so they restore different
 * checkpoints, and one of them jumps to the later one as a whole. */
static void a_cluster_that_lacks_messages_jumps_as_a_whole(void **state)
{
  (void)state;
  tally tally = {0};
  for (uint64_t seed = 1; seed <= 1500; seed += (uint64_t)stride(5)) {
    schedule plan = clusters(9, 4, 2, 3);
    uint64_t random = mix(seed, 78);
    plan.seed = seed * 7919;
    plan.choices = NULL;
    plan.problem.steps = 7;
    plan.problem.checkpoint_every = 1;
    plan.problem.reduce_every = plan.problem.decide_every = 0;
    for (gab_rank s = 0; s < 9; s++) plan.problem.cluster[s] = s < 4 ? 0 : s < 6 ? 1 : s < 8 ? 2 : 3;
    plan.problem.holder[4] = 8;
    plan.problem.holder[5] = 3;
    plan.problem.holder[6] = 0;
    plan.problem.holder[7] = 0;
    const long event = 250 + (long)(next_random(&random) % 300);
    for (gab_process process = 4; process <= 7; process++)
      if (process == 5 || process == 6 || next_random(&random) % 2)
        plan.deaths[plan.death_count++] = (death){event + (long)(next_random(&random) % 25), process};
    try(&plan, &tally, -1);
  }
  assert_true(tally.finished * 10 > tally.tried * 9);
  assert_true(tally.sum.jumps > 0);
}

static void what_a_section_leaves_behind_is_not_passed_again(void **state)
{
  (void)state;
  tally tally = {0};
  schedule plan = clusters(6, 1, 3, 3);
  plan.problem.section_at = 6;
  const long events = run(&plan).events;
  plan.death_count = 1;
  for (long event = 0; event < events; event += stride(3)) {
    plan.deaths[0] = (death){event, 4};
    try(&plan, &tally, -1);
  }
  assert_true(tally.finished * 2 > tally.tried);
}

/* Rank 0 alone replays to several ranks. `clustered`: they roll back together and wait for each other, so messages
 * to one stay undelivered until another one has got its own. */
static long replay_to_many(bool clustered, uint64_t ahead, tally *tally)
{
  long beyond = 0;
  for (uint64_t seed = 1; seed <= 400; seed += (uint64_t)stride(3)) {
    schedule plan = ring(6, 4, 3);
    plan.seed = seed;
    plan.choices = NULL;
    plan.problem.clusters = clustered;
    plan.problem.ahead = ahead;
    plan.problem.steps = 28;
    plan.problem.checkpoint_every = 9;
    plan.problem.stop_behind = 0;
    plan.problem.holder[5] = 0; /* it stores no image of the ranks that die with it */
    plan.problem.holder[4] = 0;
    for (gab_rank s = 0; s < 6; s++) {
      plan.problem.cluster[s] = s > 0 && s < 4 ? 1 : s;
      plan.problem.adjacent[0][s] = plan.problem.adjacent[s][0] = s > 0;
      if (s > 0 && s < 3) plan.problem.holder[s] = s + 3;
    }
    plan.problem.holder[3] = 0;
    const long event = 900 + (long)(mix(seed, 5) % 400);
    plan.death_count = clustered ? 1 : 3;
    for (int i = 0; i < plan.death_count; i++) plan.deaths[i] = (death){event + i, (gab_process)(1 + i)};
    const outcome out = run(&plan);
    tally->tried++;
    tally->finished += out.finished;
    tally->sum.replayed += out.stats.replayed;
    beyond += out.beyond;
  }
  assert_true(tally->finished * 10 > tally->tried * 6);
  return beyond;
}

static void a_process_replays_to_several_within_one_limit(void **state)
{
  (void)state;
  for (uint64_t ahead = 2; ahead <= 8; ahead *= 2) {
    tally tally = {0};
    replay_to_many(false, ahead, &tally);
    assert_true(tally.sum.replayed > (uint64_t)tally.finished * ahead);
  }
}

static void who_waits_for_another_one_does_not_take_its_messages_capacity(void **state)
{
  (void)state;
  tally tally = {0};
  assert_true(replay_to_many(true, 2, &tally) > tally.finished);
}

static void without_a_spare_it_is_handed_over(void **state)
{
  (void)state;
  schedule plan = clusters(4, 0, 2, 2);
  plan.deaths[0] = (death){run(&plan).events / 2, 2};
  plan.death_count = 1;
  const outcome out = run(&plan);
  assert_true(out.over);
  assert_int_equal(out.reason, GAB_LOCAL_POOL_EMPTY);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(larger_clusters_log_less),
      cmocka_unit_test(a_single_death_takes_its_cluster_back),
      cmocka_unit_test(a_whole_cluster_comes_back),
      cmocka_unit_test(members_that_come_back_in_any_order_find_each_other),
      cmocka_unit_test(two_clusters_at_once),
      cmocka_unit_test(a_death_while_a_cluster_goes_back),
      cmocka_unit_test(a_cluster_that_lacks_messages_jumps_as_a_whole),
      cmocka_unit_test(what_a_section_leaves_behind_is_not_passed_again),
      cmocka_unit_test(a_process_replays_to_several_within_one_limit),
      cmocka_unit_test(who_waits_for_another_one_does_not_take_its_messages_capacity),
      cmocka_unit_test(without_a_spare_it_is_handed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
