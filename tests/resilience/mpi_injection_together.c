/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of one fault injection are lost together, also where one of them is behind and would notice the death of the
 * other first; who is named with one that has died long before lives until its own time. */
/* gabion-test: np=4 timeout=60 needs=ulfm labels=quick */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { STEP = 25, STEPS = 40 };

/* One rank that stays behind, at the end of the step before, until another one is dead. */
typedef struct straggler {
  automaton *app;
  gab_rank rank;
  pid_t awaited;
} straggler;

static gab_status stay_behind(void *user, gab_step step)
{
  const straggler *s = user;
  if (step != STEP - 1 || gab_world_rank(s->app->world) != s->rank) return GAB_OK;
  while (kill(s->awaited, 0) == 0 || errno != ESRCH) usleep(1000);
  return GAB_OK;
}

static gab_status run(automaton *app, const gab_fault_injection *injections, size_t count, straggler *behind,
                      gab_run_stats *stats)
{
  gab_timeloop *loop;
  gab_protection protection = {.every = {.steps = 10},
                               .injections = injections,
                               .injection_count = count,
                               .rebalance = automaton_rebalance};
  GAB_TRY(gab_timeloop_create(app->forest, STEPS, &loop));
  const gab_entity entity = automaton_entity(app);
  gab_status status = gab_timeloop_add_entity(loop, &entity);
  if (status == GAB_OK) status = gab_timeloop_add_task(loop, "automaton", automaton_step, app);
  if (status == GAB_OK) status = gab_timeloop_add_action(loop, "sum", automaton_sum_due, automaton_sum, app);
  if (status == GAB_OK && behind) status = gab_timeloop_add_task(loop, "stay behind", stay_behind, behind);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, &protection);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  *stats = gab_timeloop_get_stats(loop);
  gab_timeloop_destroy(&loop);
  return status;
}

/* Rank 1, whose images are at 3, dies alone, before the first checkpoint but that of the start; 3 is named
 * with it later on. */
static void an_earlier_death_does_not_count(automaton *app)
{
  const gab_fault_injection injections[] = {
      {.step = 8, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {1}},
      {.step = 10000, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 2, .ranks = {1, 3}}};
  gab_run_stats stats;
  test_doom(1);
  CHECK(run(app, injections, 2, NULL, &stats) == GAB_OK);
  CHECK(stats.fault_count == 1 && stats.lost_ranks == 1 && automaton_is_right(app, STEPS));
}

/* Of the three that are left 0 and 2 hold each other's images. */
static void who_is_behind_dies_too(automaton *app, pid_t zero)
{
  const gab_fault_injection injection = {
      .step = STEP, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 2, .ranks = {0, 2}};
  straggler behind = {.app = app, .rank = 2, .awaited = zero};
  gab_run_stats stats;
  test_doom(0);
  test_doom(2);
  CHECK(run(app, &injection, 1, &behind, &stats) == GAB_ERR_LOST);
  CHECK(strstr(gab_error_message(), "died and so did all holders of their images") != NULL);
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR); /* the warnings are wanted */
  uint64_t zero = gab_world_rank(world) == 0 ? (uint64_t)getpid() : 0;
  CHECK(gab_world_sum_u64(world, &zero, 1) == GAB_OK);
  CHECK(automaton_create(&app, world, (int32_t[]){3, 2, 2}) == GAB_OK);
  an_earlier_death_does_not_count(&app);
  who_is_behind_dies_too(&app, (pid_t)zero);
  automaton_destroy(&app);
  return test_end(&world);
}
