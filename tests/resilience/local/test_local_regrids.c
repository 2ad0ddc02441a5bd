/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=240 */
/* Local recovery after regrids: partners are the present ones after any change of neighbours; deaths right after a
 * regrid, of former neighbours and of ranks that became neighbours again; messages across a regrid are never lost
 * silently. local_net.h has the assertions of all runs. */
#include "tests/resilience/local/local_ring.h"

/* A ring, and after every second section another ring with ranks two or three apart. */
static schedule rings(gab_rank ranks, gab_process spares, int sections, int apart)
{
  schedule plan = ring(ranks, spares, 2);
  problem *problem = &plan.problem;
  problem->checkpoint_every = problem->section_every = 2;
  problem->section_at = 2;
  problem->section_end = 2 * sections + 1;
  problem->steps = 2 * sections + 8;
  problem->stop_behind = 0;
  problem->regrids = problem->verify = true;
  for (gab_rank s = 0; s < ranks; s++)
    problem->later[s][(s + apart) % ranks] = problem->later[(s + apart) % ranks][s] = true;
  return plan;
}

/* check_partners() checks them in each section; this test limits their number. */
static void partners_stay_as_many_as_there_are_roles(void **state)
{
  (void)state;
  for (int apart = 2; apart <= 4; apart++)
    for (int sections = 1; sections <= 9; sections++) {
      const schedule plan = rings(9, 0, sections, apart);
      const outcome out = run(&plan);
      assert_true(out.finished);
      assert_in_range(out.most_partners, 1,
                      2 + 2 + 3); /* neighbours; holder and protected rank; parent and children */
    }
}

typedef struct tally {
  long tried, finished, regridded, former, across;
} tally;

static void try(const schedule *plan, tally *tally)
{
  const outcome out = run(plan);
  tally->tried++;
  tally->finished += out.finished;
  tally->regridded += out.met.regridded;
  tally->former += out.met.former;
  if (out.over) assert_int_equal(out.reason, GAB_LOCAL_GLOBAL_SECTION);
}

/* Up to the checkpoint after the regrid a death is handed over; later ones are recovered with the present
 * neighbours. */
static void a_death_behind_a_regrid_is_recovered_by_the_neighbours_of_now(void **state)
{
  (void)state;
  tally all = {0}, late = {0};
  for (int sections = 1; sections <= 4; sections++) {
    schedule plan = rings(7, 1, sections, 3);
    plan.death_count = 1;
    plan.behind[0] = sections;
    for (long event = 0; event < 400; event += 3 * stride(3))
      for (gab_process process = 0; process < 7; process++) {
        plan.deaths[0] = (death){event, process};
        try(&plan, event < 200 ? &all : &late);
      }
  }
  assert_true(late.finished * 10 > late.tried * 9);
  assert_true(all.finished > 0 && all.regridded > 1000 / stride(3) && all.former > 1000 / stride(3));
}

static void so_are_two_that_were_neighbours_before(void **state)
{
  (void)state;
  tally all = {0};
  for (uint64_t seed = 1; seed <= 1500; seed += (uint64_t)stride(5)) {
    schedule plan = rings(8, 3, 1 + (int)(seed % 4), 3);
    plan.seed = seed;
    plan.choices = NULL;
    plan.death_count = 2;
    plan.behind[0] = plan.behind[1] = 1 + (int)(seed % 4);
    plan.deaths[0] = (death){150 + (long)(mix(seed, 1) % 250), (gab_process)(seed % 8)};
    plan.deaths[1] = (death){plan.deaths[0].event + (long)(mix(seed, 2) % 60), (gab_process)((seed + 1) % 8)};
    try(&plan, &all);
  }
  assert_true(all.finished * 10 > all.tried * 7);
  assert_true(all.former > 1000 / stride(5));
}

/* A member of the cluster of the lost rank may know the commit of the checkpoint after the regrid before the holder
 * does. The rank is then restored from the image before the regrid, with its former partners, and jumps to the later
 * one. */
static void a_cluster_goes_on_from_behind_a_regrid(void **state)
{
  (void)state;
  tally all = {0};
  gab_local_stats sum = {0};
  for (uint64_t seed = 1; seed <= 4000; seed += (uint64_t)stride(5)) {
    schedule plan = rings(8, 2, 1 + (int)(seed % 2), 3);
    plan.seed = seed;
    plan.choices = NULL;
    plan.problem.clusters = true; /* one cluster of all ranks but the last, which may know first */
    plan.problem.cluster[7] = (gab_rank)(seed % 3 == 0);
    plan.death_count = 1;
    plan.behind[0] = 1 + (int)(seed % 2);
    plan.deaths[0] = (death){100 + (long)(mix(seed, 1) % 150), (gab_process)(seed % 7)};
    const outcome out = run(&plan);
    all.tried++;
    all.finished += out.finished;
    all.across += out.met.across;
    sum.rollbacks += out.stats.rollbacks;
    sum.jumps += out.stats.jumps;
    if (out.over) assert_int_equal(out.reason, GAB_LOCAL_GLOBAL_SECTION);
  }
  assert_true(all.finished * 10 > all.tried);
  assert_true(sum.rollbacks > 1000 / (uint64_t)stride(5));
  assert_true(all.across > 0);
}

/* The message is in the queue when the two cease to be neighbours, arrives later, or after they are neighbours
 * again. */
static void what_is_sent_before_a_regrid_and_not_received_is_an_error(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 400; seed += (uint64_t)stride(5)) {
    schedule plan = rings(6, 0, 2 + (int)(seed % 4), 2);
    plan.seed = seed;
    if (seed >= 4) plan.choices = NULL;
    plan.problem.extra = 1;
    plan.problem.extra_until = (int)(seed % 3);
    plan.problem.reduce_every = plan.problem.decide_every = 0;
    const outcome out = run_schedule(&plan, false, NULL);
    assert_false(out.finished);
    assert_non_null(strstr(out.failure, "must be received before it"));
  }
}

/* New neighbours would not know the process of a restored rank. Schedules that would stop for a gathering in a
 * section continue without it, and are refused. */
static void nobody_gets_neighbours_who_came_back_before(void **state)
{
  (void)state;
  long gathered = 0, refused = 0;
  for (long event = 0; event < 600; event += 4)
    for (gab_process process = 0; process < 7; process++) {
      schedule plan = rings(7, 1, 3, 3);
      plan.problem.section_at = 6;
      plan.problem.section_end = 9;
      plan.death_count = 1;
      plan.deaths[0] = (death){event, process};
      if (!run(&plan).gathers) continue;
      plan.problem.stays = true;
      const outcome out = run_schedule(&plan, false, NULL);
      gathered++;
      refused += strstr(out.failure, "a rank was restored in this generation") != NULL;
    }
  assert_true(gathered > 100);
  assert_int_equal(refused, gathered);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(partners_stay_as_many_as_there_are_roles),
      cmocka_unit_test(a_death_behind_a_regrid_is_recovered_by_the_neighbours_of_now),
      cmocka_unit_test(so_are_two_that_were_neighbours_before),
      cmocka_unit_test(a_cluster_goes_on_from_behind_a_regrid),
      cmocka_unit_test(what_is_sent_before_a_regrid_and_not_received_is_an_error),
      cmocka_unit_test(nobody_gets_neighbours_who_came_back_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
