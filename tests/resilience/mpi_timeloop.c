/* SPDX-License-Identifier: Apache-2.0 */
/* What a time loop promises beside surviving: per-rank entities are adopted, abort requests end all alike, order of
 * tasks and post-step actions, callbacks. */
/* gabion-test: np=1,2,4 quick=4 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"

#include <fenv.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <string.h>

static int agreements;

int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
  agreements++;
  return PMPIX_Comm_agree(comm, flag);
}

/* A ledger that every rank keeps for itself; the sum over all ranks must survive deaths. */
typedef struct ledger {
  gab_world *world;
  uint64_t entries;
} ledger;

static gab_status write_entry(void *user, gab_step step)
{
  ledger *l = user;
  l->entries += (uint64_t)step * 100 + (uint64_t)gab_world_rank(l->world) + 1;
  return gab_world_barrier(l->world);
}
static gab_status pack_ledger(void *user, gab_buffer *out)
{
  const ledger *l = user;
  return gab_put_u64(out, l->entries);
}
static gab_status unpack_ledger(void *user, gab_reader *in)
{
  ledger *l = user;
  return gab_get_u64(in, &l->entries);
}
static gab_status adopt_ledger(void *user, gab_rank dead, gab_reader *in)
{
  (void)dead;
  ledger *l = user;
  uint64_t entries;
  GAB_TRY(gab_get_u64(in, &entries));
  l->entries += entries;
  return GAB_OK;
}
static void forget_loss(void *user, const gab_fault *fault)
{
  int *lost = user;
  *lost += fault->lost_count;
  CHECK(fault->restored_step <= fault->noticed_step);
  for (int32_t i = 1; i < fault->lost_count; i++) CHECK(fault->lost[i - 1] < fault->lost[i]);
}

/* Every rank writes step * 100 + rank + 1 in each step; rank `victim` dies in step `at`, back to `from`. */
static uint64_t ledger_answer(gab_rank ranks, gab_step steps, gab_rank victim, gab_step from)
{
  uint64_t sum = 0;
  for (gab_rank rank = 0; rank < ranks; rank++)
    for (gab_step step = 0; step < (rank == victim ? from : steps); step++)
      sum += (uint64_t)step * 100 + (uint64_t)rank + 1;
  return sum;
}

static void a_dead_ranks_entity_is_merged_by_its_adopter(automaton *app)
{
  gab_rank ranks = gab_world_members(app->world)->ranks;
  if (ranks < 2) return;
  ledger l = {.world = app->world};
  gab_entity entity = {.name = "ledger",
                       .kind = GAB_ENTITY_PER_RANK,
                       .user = &l,
                       .pack = pack_ledger,
                       .unpack = unpack_ledger,
                       .adopt = adopt_ledger};
  gab_fault_injection injection = {
      .step = 7, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {ranks - 1}};
  gab_timeloop *loop;
  int lost = 0;
  test_doom(ranks - 1);
  CHECK(gab_timeloop_create(app->forest, 12, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "write", write_entry, &l) == GAB_OK);
  CHECK(gab_timeloop_add_entity(loop, &entity) == GAB_OK);
  gab_protection protection = {.every = {.steps = 5}, .injections = &injection, .injection_count = 1};
  CHECK(gab_timeloop_protect(loop, &protection) == GAB_OK);
  CHECK(gab_timeloop_protect(loop, &protection) == GAB_ERR_STATE);
  gab_timeloop_on_fault(loop, forget_loss, &lost);
  CHECK(gab_timeloop_run(loop) == GAB_OK);
  CHECK(lost == 1);
  uint64_t sum = l.entries;
  CHECK(gab_world_sum_u64(app->world, &sum, 1) == GAB_OK);
  CHECK(sum == ledger_answer(ranks, 12, ranks - 1, 5));
  gab_run_stats stats = gab_timeloop_get_stats(loop);
  CHECK(stats.fault_count == 1 && stats.lost_ranks == 1 && stats.rolled_back == 2);
  CHECK(stats.steps_computed == 14);
  gab_timeloop_destroy(&loop);
}

static gab_status fail_on_one(void *user, gab_step step)
{
  const automaton *app = user;
  if (step == 3 && gab_world_is_root(app->world)) GAB_FAIL(GAB_ERR_DIVERGED, "step 3 blew up");
  return gab_world_barrier(app->world);
}
static gab_status note_why(void *user, gab_step step, gab_status why)
{
  gab_status *noted = user;
  (void)step;
  *noted = why;
  return GAB_OK;
}

static void a_failure_of_one_rank_ends_all_with_its_status_and_words(automaton *app, bool protected)
{
  gab_timeloop *loop;
  gab_status noted = GAB_OK;
  CHECK(gab_timeloop_create(app->forest, 10, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "fail", fail_on_one, app) == GAB_OK);
  CHECK(gab_timeloop_on_failure(loop, note_why, &noted) == GAB_OK);
  if (protected) CHECK(gab_timeloop_protect(loop, &(gab_protection){.every = {.steps = 2}}) == GAB_OK);
  CHECK(gab_timeloop_run(loop) == GAB_ERR_DIVERGED);
  CHECK(noted == GAB_ERR_DIVERGED);
  CHECK(strstr(gab_error_message(), "step 3 blew up") != NULL);
  CHECK(gab_world_check(app->world) == GAB_OK);
  gab_timeloop_destroy(&loop);
}

static gab_status claim_a_fault(void *user, gab_step step)
{
  (void)user;
  return step == 2 ? GAB_ERR_FAULT : GAB_OK;
}

static void faults_without_deaths_do_not_go_on_for_ever(automaton *app)
{
  gab_timeloop *loop;
  CHECK(gab_timeloop_create(app->forest, 10, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "claim", claim_a_fault, NULL) == GAB_OK);
  CHECK(gab_timeloop_protect(loop, &(gab_protection){.every = {.steps = 5}}) == GAB_OK);
  CHECK(gab_timeloop_run(loop) == GAB_ERR_STATE);
  CHECK(strstr(gab_error_message(), "without a death") != NULL);
  gab_timeloop_destroy(&loop);
}

/* Tasks see the steps done; post-step actions come before the first step and after each. */
typedef struct trace {
  char text[256];
} trace;
static gab_status trace_task(void *user, gab_step step)
{
  trace *t = user;
  size_t used = strlen(t->text);
  snprintf(t->text + used, sizeof t->text - used, "t%" GAB_PRI_STEP " ", step);
  return GAB_OK;
}
static gab_status trace_action(void *user, gab_step step)
{
  trace *t = user;
  size_t used = strlen(t->text);
  snprintf(t->text + used, sizeof t->text - used, "d%" GAB_PRI_STEP " ", step);
  return GAB_OK;
}
static bool even(const void *user, gab_step step)
{
  (void)user;
  return step % 2 == 0;
}

static void actions_come_before_the_first_step_and_when_due(automaton *app)
{
  gab_timeloop *loop;
  trace t = {""};
  CHECK(gab_timeloop_create(app->forest, 4, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "task", trace_task, &t) == GAB_OK);
  CHECK(gab_timeloop_add_action(loop, "action", even, trace_action, &t) == GAB_OK);
  CHECK(gab_timeloop_run(loop) == GAB_OK);
  CHECK(strcmp(t.text, "d0 t0 t1 d2 t2 t3 d4 ") == 0);
  gab_timeloop_destroy(&loop);
}

/* As an application does whose grid changes after the second step. */
static gab_status grow(void *user, gab_step step)
{
  gab_timeloop *const *loop = user;
  gab_timeloop_set_updates(*loop, step < 2 ? 100 : 300);
  return GAB_OK;
}

static void updates_are_counted_as_the_grid_changes(automaton *app)
{
  gab_timeloop *loop;
  trace t = {""};
  CHECK(gab_timeloop_create(app->forest, 5, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "task", trace_task, &t) == GAB_OK);
  CHECK(gab_timeloop_add_action(loop, "grow", even, grow, &loop) == GAB_OK);
  CHECK(gab_timeloop_run(loop) == GAB_OK);
  const gab_run_stats stats = gab_timeloop_get_stats(loop);
  CHECK(stats.updates_per_step == 300);
  CHECK(stats.updates_computed == 2 * 100 + 3 * 300);
  gab_timeloop_destroy(&loop);
}

static void checkpoints_by_time_are_taken_and_restore(automaton *app)
{
  gab_timeloop *loop;
  CHECK(gab_timeloop_create(app->forest, 60, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "automaton", automaton_step, app) == GAB_OK);
  gab_interval every = {.mode = GAB_INTERVAL_SECONDS, .seconds = 1e-9};
  CHECK(gab_timeloop_protect(loop, &(gab_protection){.every = every}) == GAB_OK);
  CHECK(gab_timeloop_run(loop) == GAB_OK);
  CHECK(gab_timeloop_get_stats(loop).checkpoint.taken > 30); /* ten steps to measure, then every step */
  gab_timeloop_destroy(&loop);
}

static gab_status look_at_rounding(void *user, gab_step step)
{
  (void)user, (void)step;
  CHECK(fegetround() == FE_TONEAREST);
  return GAB_OK;
}

/* However the program, or one process of it, has them when it comes. */
static void numbers_are_rounded_to_nearest(automaton *app)
{
  gab_timeloop *loop;
  if (gab_world_is_root(app->world)) fesetround(FE_DOWNWARD);
  REQUIRE_OK(gab_timeloop_create(app->forest, 1, &loop));
  REQUIRE_OK(gab_timeloop_add_task(loop, "look", look_at_rounding, NULL));
  REQUIRE_OK(gab_timeloop_run(loop));
  gab_timeloop_destroy(&loop);
}

/* @return how often all agreed in a run */
static int agreements_of_run(automaton *app, gab_step every, uint64_t *checkpoints)
{
  gab_timeloop *loop;
  const gab_protection protection = {.every = {.steps = every}};
  REQUIRE_OK(gab_timeloop_create(app->forest, 60, &loop));
  REQUIRE_OK(automaton_add(app, loop));
  REQUIRE_OK(gab_timeloop_protect(loop, &protection));
  const int before = agreements;
  REQUIRE_OK(gab_timeloop_run(loop));
  *checkpoints = gab_timeloop_get_stats(loop).checkpoint.taken;
  gab_timeloop_destroy(&loop);
  return agreements - before;
}

static void a_checkpoint_costs_one_agreement(automaton *app)
{
  uint64_t few, many;
  const int of_few = agreements_of_run(app, 20, &few), of_many = agreements_of_run(app, 5, &many);
  CHECK(many >= few + 8 && (uint64_t)(of_many - of_few) == many - few);
}

/* A sum over all ranks that grows in each step, and ends the run. */
typedef struct goal {
  gab_world *world;
  uint64_t reached;
  int finished;
} goal;

static gab_status approach(void *user, gab_step step)
{
  goal *g = user;
  uint64_t more = 1;
  (void)step;
  GAB_TRY(gab_world_max_u64(g->world, &more, 1));
  g->reached += more;
  return GAB_OK;
}
static gab_status approach_at_once(void *user, gab_step step, gab_step most, gab_step *taken)
{
  *taken = most;
  for (gab_step i = 0; i < most; i++) GAB_TRY(approach(user, step + i));
  return GAB_OK;
}
static gab_status pack_goal(void *user, gab_buffer *out)
{
  const goal *g = user;
  return gab_put_u64(out, g->reached);
}
static gab_status unpack_goal(void *user, gab_reader *in)
{
  goal *g = user;
  return gab_get_u64(in, &g->reached);
}
static bool even_step(const void *user, gab_step step)
{
  (void)user;
  return step % 2 == 0;
}
static bool is_reached(const void *user, gab_step step, char *why, size_t capacity)
{
  const goal *g = user;
  CHECK(step == (gab_step)g->reached && step % 2 == 0);
  snprintf(why, capacity, "%d", (int)g->reached);
  return g->reached >= 13;
}
static gab_status note_finish(void *user, gab_step step)
{
  goal *g = user;
  CHECK(step == 14);
  g->finished++;
  return GAB_OK;
}

/* The first even step after 13 of 100, also where several steps are taken at once, and after a death behind the last checkpoint. */
static void a_criterion_ends_the_run_at_the_first_step_that_is_asked(automaton *app, bool at_once,
                                                                     gab_rank victim)
{
  goal g = {.world = app->world};
  const gab_entity entity = {
      .name = "goal", .kind = GAB_ENTITY_REPLICATED, .user = &g, .pack = pack_goal, .unpack = unpack_goal};
  gab_fault_injection injection = {
      .step = 13, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {victim}};
  const gab_protection protection = {
      .every = {.steps = 4}, .injections = &injection, .injection_count = victim != GAB_NO_RANK};
  gab_timeloop *loop;
  char why[32] = "none";
  if (victim != GAB_NO_RANK) test_doom(victim);
  REQUIRE_OK(gab_timeloop_create(app->forest, 100, &loop));
  REQUIRE_OK(gab_timeloop_add_task(loop, "approach", approach, &g));
  if (at_once) REQUIRE_OK(gab_timeloop_add_temporal_block(loop, "at once", 1, approach_at_once, &g));
  REQUIRE_OK(gab_timeloop_add_entity(loop, &entity));
  CHECK(gab_timeloop_add_end(loop, "nothing", NULL, NULL, &g) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_timeloop_add_end(loop, "goal", even_step, is_reached, &g));
  REQUIRE_OK(gab_timeloop_add_finish(loop, "note", note_finish, &g));
  REQUIRE_OK(gab_timeloop_protect(loop, &protection));
  CHECK(!gab_timeloop_end_reason(loop, why, sizeof why) && strcmp(why, "none") == 0);
  REQUIRE_OK(gab_timeloop_run(loop));
  CHECK(gab_timeloop_step(loop) == 14 && gab_timeloop_steps(loop) == 100 && g.finished == 1);
  CHECK(gab_timeloop_end_reason(loop, why, sizeof why) && strcmp(why, "goal: 14") == 0);
  CHECK(gab_timeloop_add_end(loop, "late", NULL, is_reached, &g) == GAB_ERR_STATE);
  CHECK((gab_timeloop_get_stats(loop).temporally_blocked_steps > 0) == at_once);
  gab_timeloop_destroy(&loop);
}

int main(int argc, char **argv)
{
  gab_world *world;
  fesetround(FE_UPWARD);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  CHECK(fegetround() == FE_TONEAREST);
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  automaton app = {.forest = NULL};
  CHECK(automaton_create(&app, world, (int32_t[]){2, 2, 2}) == GAB_OK);
  numbers_are_rounded_to_nearest(&app);
  actions_come_before_the_first_step_and_when_due(&app);
  updates_are_counted_as_the_grid_changes(&app);
  checkpoints_by_time_are_taken_and_restore(&app);
  a_checkpoint_costs_one_agreement(&app);
  a_failure_of_one_rank_ends_all_with_its_status_and_words(&app, true);
  a_failure_of_one_rank_ends_all_with_its_status_and_words(&app, false);
  faults_without_deaths_do_not_go_on_for_ever(&app);
  a_criterion_ends_the_run_at_the_first_step_that_is_asked(&app, false, GAB_NO_RANK);
  a_criterion_ends_the_run_at_the_first_step_that_is_asked(&app, true, GAB_NO_RANK);
  const gab_rank ranks = gab_world_members(world)->ranks;
  a_dead_ranks_entity_is_merged_by_its_adopter(&app);
  if (ranks == 4) a_criterion_ends_the_run_at_the_first_step_that_is_asked(&app, false, 0);
  automaton_destroy(&app);
  return test_end(&world);
}
