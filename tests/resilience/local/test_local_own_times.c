/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=300 */
/* Checkpoints of single clusters between the common ones: the situations of doc/clusters.md, each at many moments.
 * local_net.h has the assertions of all runs. */
#include "tests/resilience/local/local_ring.h"

/* A ring in clusters of `size` neighbours. Common checkpoints are far apart. */
static schedule own_times(gab_rank ranks, gab_process spares, gab_rank size, int shift)
{
  schedule plan = ring(ranks, spares, shift);
  plan.problem.clusters = size > 1;
  for (gab_rank s = 0; s < ranks; s++) plan.problem.cluster[s] = s / size;
  plan.problem.steps = 20;
  plan.problem.checkpoint_every = 9;
  plan.problem.own_every = 3;
  plan.problem.stop_behind = 9;
  return plan;
}

typedef struct tally {
  long tried, finished, own;
  gab_local_stats sum;
} tally;

static outcome try(const schedule *plan, tally *tally)
{
  const outcome out = run(plan);
  tally->tried++;
  tally->finished += out.finished;
  tally->own += out.met.own;
  tally->sum.rollbacks += out.stats.rollbacks;
  tally->sum.replayed += out.stats.replayed;
  tally->sum.left_out += out.stats.left_out;
  tally->sum.restored_messages += out.stats.restored_messages;
  return out;
}

static void each_cluster_takes_them_at_steps_of_its_own(void **state)
{
  (void)state;
  schedule plan = own_times(6, 0, 2, 3);
  uint64_t expected = 0;
  for (gab_rank s = 0; s < 6; s++)
    for (int step = 0; step < plan.problem.steps; step++) expected += takes_own(&plan.problem, s, step);
  const outcome out = run(&plan);
  assert_true(out.finished);
  assert_int_equal(out.stats.own_checkpoints, expected);
  assert_int_equal(out.stats.rollbacks + out.stats.replayed + out.stats.restored_messages, 0);
  plan.problem.own_every = 0;
  assert_int_equal(run(&plan).stats.own_checkpoints, 0);
}

/* Other clusters free logs up to a committed checkpoint; without this news the log would be longest. */
static void logs_are_freed_when_their_receivers_commit(void **state)
{
  (void)state;
  schedule plan = own_times(6, 0, 2, 3);
  plan.problem.steps = 30;
  plan.problem.checkpoint_every = 14;
  plan.problem.reduce_every = plan.problem.decide_every = 0;
  plan.problem.own_every = 2;
  const uint64_t often = run(&plan).most_kept;
  plan.problem.own_every = 0;
  const uint64_t seldom = run(&plan).most_kept;
  assert_true(often * 2 < seldom);
}

static void a_death_leads_back_to_an_own_checkpoint(void **state)
{
  (void)state;
  for (gab_rank size = 1; size <= 3; size++) {
    tally tally = {0};
    schedule plan = own_times(6, 1, size, 3);
    const long events = run(&plan).events;
    plan.death_count = 1;
    for (long event = 0; event < events; event += 5 * stride(3))
      for (gab_process process = 0; process < 6; process += 2) {
        plan.deaths[0] = (death){event, process};
        const outcome out = try(&plan, &tally);
        if (out.over)
          assert_true(out.reason == GAB_LOCAL_NO_CHECKPOINT || out.reason == GAB_LOCAL_GLOBAL_SECTION);
      }
    assert_true(tally.finished * 10 > tally.tried * 6);
    assert_true(tally.own * 2 > tally.finished);
    assert_true(tally.sum.replayed > 0 && tally.sum.left_out > 0 && tally.sum.restored_messages > 0);
    assert_true((tally.sum.rollbacks > 0) == (size > 1));
  }
}

/* Each rolls back to a checkpoint of its own and needs earlier messages of the other from the log in its image. */
static void clusters_that_are_lost_together_live_on_their_logs(void **state)
{
  (void)state;
  for (gab_rank size = 1; size <= 2; size++) {
    tally tally = {0};
    schedule plan = own_times(8, 3, size, 3);
    const long events = run(&plan).events;
    plan.death_count = 2;
    for (long event = 0; event < events; event += 2 * stride(3))
      for (long later = 0; later < 40; later += 13) {
        plan.deaths[0] = (death){event, 1};
        plan.deaths[1] = (death){event + later, 2};
        try(&plan, &tally);
      }
    assert_true(tally.finished * 10 > tally.tried * 6);
    assert_true(tally.own > 0 && tally.sum.restored_messages > 0 && tally.sum.replayed > 0);
  }
}

/* A restored holder gets its copies again, and then it or its protected rank dies: the holder must not have an older
 * image only. */
static void a_holder_that_came_back_has_nothing_older_alone(void **state)
{
  (void)state;
  tally tally = {0};
  for (uint64_t seed = 1; seed <= 4000; seed += (uint64_t)stride(5)) {
    schedule plan = own_times(7, 3, 1 + (gab_rank)(seed % 3), 3);
    plan.seed = seed;
    plan.choices = NULL;
    plan.problem.verify = seed % 2;
    const gab_rank rank = (gab_rank)(mix(seed, 1) % 7);
    const long event = 400 + (long)(mix(seed, 2) % 500);
    plan.deaths[plan.death_count++] = (death){event, plan.problem.holder[rank]};
    plan.deaths[plan.death_count++] = (death){event + 40 + (long)(mix(seed, 3) % 120), rank};
    try(&plan, &tally);
  }
  assert_true(tally.finished * 10 > tally.tried * 2);
  assert_true(tally.own > 0);
}

/* Only the common checkpoint of the start exists. The rank dies when its new holder has the image of the cluster's
 * rollback but not the common image. No copy of the latter exists, so the run is handed over. */
static void who_comes_back_without_the_common_image_hands_over(void **state)
{
  (void)state;
  tally tally = {0};
  long over = 0;
  for (uint64_t seed = 1; seed <= 4000; seed += (uint64_t)stride(5)) {
    schedule plan = own_times(4, 3, 3 + (gab_rank)(seed % 2), 3);
    plan.seed = seed;
    plan.choices = NULL;
    plan.problem.checkpoint_every = plan.problem.steps;
    plan.problem.stop_behind = 0;
    const gab_rank rank = (gab_rank)(mix(seed, 1) % 4);
    const long event = 200 + (long)(mix(seed, 2) % 200);
    plan.deaths[plan.death_count++] = (death){event, plan.problem.holder[rank]};
    plan.deaths[plan.death_count++] = (death){event + 20 + (long)(mix(seed, 3) % 80), rank};
    const outcome out = try(&plan, &tally);
    over += out.over && out.reason == GAB_LOCAL_HOLDER_LOST;
  }
  assert_true(over > 0 && tally.finished > 0 && tally.own > 0);
}

/* A rank is restored from a checkpoint of its cluster, then its holder is restored and gets copies from it. After a
 * third death without a spare all roll back to the last common checkpoint, of which the rank's image must exist. */
static void a_rank_that_came_back_has_the_common_image_for_its_next_holder(void **state)
{
  (void)state;
  tally tally = {0};
  long empty = 0;
  for (gab_rank size = 1; size <= 3; size += 2)
    for (uint64_t seed = 1; seed <= 300; seed += (uint64_t)stride(5)) {
      schedule plan = own_times(9, 2, size, 3);
      plan.problem.own_every = 2;
      const long step = run(&plan).events / plan.problem.steps;
      plan.seed = seed;
      plan.choices = NULL;
      plan.deaths[plan.death_count++] = (death){11 * step + (long)(mix(seed, 1) % (uint64_t)step), 1};
      plan.deaths[plan.death_count++] = (death){14 * step + (long)(mix(seed, 2) % (uint64_t)step), 4};
      plan.deaths[plan.death_count++] = (death){16 * step + (long)(mix(seed, 3) % (uint64_t)step), 6};
      const outcome out = try(&plan, &tally);
      empty += out.over && out.reason == GAB_LOCAL_POOL_EMPTY;
    }
  assert_true(empty * 10 > tally.tried * 5);
  assert_true(tally.own * 2 > tally.tried);
}

static void a_death_while_a_cluster_goes_back(void **state)
{
  (void)state;
  tally tally = {0};
  for (uint64_t seed = 1; seed <= 1500; seed += (uint64_t)stride(5)) {
    schedule plan = own_times(9, 4, 3, 4);
    const gab_process victims[] = {0, 2, 9 + 1, 3};
    plan.seed = seed;
    plan.choices = NULL;
    long event = 500 + (long)(mix(seed, 1) % 800);
    plan.deaths[plan.death_count++] = (death){event, 1};
    for (uint64_t i = 0; i < 1 + seed % 2; i++) {
      event += (long)(mix(seed, 2 + i) % 120);
      plan.deaths[plan.death_count++] = (death){event, victims[mix(seed, 9 + i) % 4]};
    }
    try(&plan, &tally);
  }
  assert_true(tally.finished * 10 > tally.tried * 6);
  assert_true(tally.own > 0 && tally.sum.rollbacks > 0);
}

/* A rank is lost together with the rank whose image it stores: the announcement of a dead spare must not end the
 * offer to the next one. */
static void a_spare_that_accepted_and_died_is_followed_by_the_next(void **state)
{
  (void)state;
  tally tally = {0};
  for (uint64_t seed = 1; seed <= 4000; seed++) { /* few of them hit the situation */
    schedule plan = own_times(3, 5, 1, 1);
    kill_first_spare_while_it_answers(&plan, seed, 150);
    assert_true(try(&plan, &tally).over);
  }
}

static void where_they_are_not_asked_for_they_are_refused(void **state)
{
  (void)state;
  simulated simulated = {0};
  const gab_rank neighbours[] = {1};
  const gab_local_setup setup = {
      .ranks = 2, .contexts = 1, .ahead = 2, .children = 1, .neighbours = neighbours, .neighbour_count = 1};
  const gab_local_transport transport = {.user = &simulated, .send = net_send, .hand_over = net_hand_over};
  problem problem = {.ranks = 2, .holder = {1, 0}};
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->problem = &problem;
  simulated.world = w;
  const gab_local_application application = {
      .user = &simulated, .holder = app_holder, .restore = app_restore};
  gab_buffer image;
  bool taken = true;
  gab_buffer_init(&image, GAB_MEMORY_OTHER);
  assert_int_equal(gab_local_create(&setup, &transport, &application, &simulated.local), GAB_OK);
  assert_int_equal(gab_local_checkpoint_own(simulated.local, 1, &image, &taken), GAB_ERR_STATE);
  assert_false(taken);
  gab_local_destroy(&simulated.local);
  gab_buffer_release(&image);
  free(w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_cluster_takes_them_at_steps_of_its_own),
      cmocka_unit_test(logs_are_freed_when_their_receivers_commit),
      cmocka_unit_test(a_death_leads_back_to_an_own_checkpoint),
      cmocka_unit_test(clusters_that_are_lost_together_live_on_their_logs),
      cmocka_unit_test(a_holder_that_came_back_has_nothing_older_alone),
      cmocka_unit_test(who_comes_back_without_the_common_image_hands_over),
      cmocka_unit_test(a_rank_that_came_back_has_the_common_image_for_its_next_holder),
      cmocka_unit_test(a_death_while_a_cluster_goes_back),
      cmocka_unit_test(a_spare_that_accepted_and_died_is_followed_by_the_next),
      cmocka_unit_test(where_they_are_not_asked_for_they_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
