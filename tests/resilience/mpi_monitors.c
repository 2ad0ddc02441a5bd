/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors: a bit flip in a field of a running simulation is detected, all ranks roll back, and the result is the
 * undisturbed one; a repeated error ends the run with a message. */
/* gabion-test: np=1,2,4 quick=2 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"

enum { STEPS = 22, FLIP_AT = 13 };

typedef struct setting {
  automaton *app;
  int flips, most_flips;
  int looks;
  gab_step last_look;
  bool never_due;
} setting;

/* In the middle of a step, in the memory of one rank. */
static gab_status flip_a_bit(void *user, gab_step step)
{
  setting *s = user;
  const gab_members *members = gab_world_members(s->app->world);
  if (step != FLIP_AT || s->flips == s->most_flips) return GAB_OK;
  s->flips++;
  if (gab_world_rank(s->app->world) != gab_members_rank(members, gab_members_count(members) - 1))
    return GAB_OK;
  automaton_block *cells = gab_block_data(gab_forest_block(s->app->forest, 0), s->app->data);
  cells->now[2][2][2] ^= UINT64_C(1) << 17;
  return GAB_OK;
}

static bool every_third(const void *user, gab_step step)
{
  const setting *s = user;
  return !s->never_due && step % 3 == 0;
}

/* Compares with the right answer; alarms on the ranks with wrong values only. */
static gab_status compare(void *user, gab_step step)
{
  setting *s = user;
  s->looks++;
  CHECK(step > s->last_look || s->flips > 0);
  s->last_look = step;
  if (!automaton_is_right(s->app, step)) GAB_FAIL(GAB_ERR_SUSPECT, "not the answer");
  return GAB_OK;
}

static gab_status run(setting *s, const gab_protection *protection, gab_run_stats *stats)
{
  automaton *app = s->app;
  gab_entity entity = automaton_entity(app);
  gab_timeloop *loop;
  s->last_look = -1;
  CHECK(gab_timeloop_create(app->forest, STEPS, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "automaton", automaton_step, app) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "flip", flip_a_bit, s) == GAB_OK);
  CHECK(gab_timeloop_add_action(loop, "sum", automaton_sum_due, automaton_sum, app) == GAB_OK);
  CHECK(gab_timeloop_add_monitor(loop, "answer", every_third, compare, s) == GAB_OK);
  CHECK(gab_timeloop_add_entity(loop, &entity) == GAB_OK);
  if (protection) CHECK(gab_timeloop_protect(loop, protection) == GAB_OK);
  gab_status status = gab_timeloop_run(loop);
  *stats = gab_timeloop_get_stats(loop);
  gab_timeloop_destroy(&loop);
  return status;
}

static void with_automaton(gab_world *world, setting s, void (*claim)(setting *s))
{
  automaton app;
  CHECK(automaton_create(&app, world, (int32_t[]){3, 2, 2}) == GAB_OK);
  s.app = &app;
  claim(&s);
  automaton_destroy(&app);
}

static void nobody_complains_in_vain(setting *s)
{
  gab_run_stats stats;
  CHECK(run(s, &(gab_protection){.every = {.steps = 5}}, &stats) == GAB_OK);
  CHECK(stats.suspicions == 0 && stats.steps_computed == STEPS && automaton_is_right(s->app, STEPS));
  /* 0, 3, …, 21; before the checkpoints of 5, 10, 20; at the end */
  CHECK(s->looks == 8 + 3 + 1);
}

static void a_flip_is_found_and_forgotten(setting *s)
{
  gab_run_stats stats;
  CHECK(run(s, &(gab_protection){.every = {.steps = 5}}, &stats) == GAB_OK);
  CHECK(s->flips == 1 && automaton_is_right(s->app, STEPS));
  CHECK(stats.suspicions == 1 && stats.fault_count == 0 && stats.lost_ranks == 0);
  /* From 15 to 10; other ranks may learn of the alarm a step earlier or later. */
  const gab_step slack = gab_members_count(gab_world_members(s->app->world)) - 1;
  CHECK(stats.rolled_back >= 5 - slack && stats.rolled_back <= 5 + slack);
  CHECK(stats.steps_computed == STEPS + (uint64_t)stats.rolled_back);
}

static void so_with_copies_behind_the_steps(setting *s)
{
  gab_run_stats stats;
  CHECK(run(s, &(gab_protection){.every = {.steps = 6}, .overlap = true}, &stats) == GAB_OK);
  CHECK(s->flips == 1 && automaton_is_right(s->app, STEPS) && stats.suspicions == 1);
}

static void what_happens_again_is_no_chance(setting *s)
{
  gab_run_stats stats;
  CHECK(run(s, &(gab_protection){.every = {.steps = 5}}, &stats) == GAB_ERR_DIVERGED);
  CHECK(stats.suspicions == 2);
  CHECK(strstr(gab_error_message(), "monitor 'answer' at step 15: not the answer") != NULL);
  CHECK(strstr(gab_error_message(), "not a transient error") != NULL);
}

static void without_protection_it_is_the_end(setting *s)
{
  gab_run_stats stats;
  CHECK(run(s, NULL, &stats) == GAB_ERR_DIVERGED);
  CHECK(strstr(gab_error_message(), "not protected") != NULL);
}

static void run_all(gab_world *world)
{
  with_automaton(world, (setting){.most_flips = 0}, nobody_complains_in_vain);
  with_automaton(world, (setting){.most_flips = 1}, a_flip_is_found_and_forgotten);
  with_automaton(world, (setting){.most_flips = 1, .never_due = true}, a_flip_is_found_and_forgotten);
  with_automaton(world, (setting){.most_flips = 1}, so_with_copies_behind_the_steps);
  with_automaton(world, (setting){.most_flips = 9}, what_happens_again_is_no_chance);
  with_automaton(world, (setting){.most_flips = 1}, without_protection_it_is_the_end);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR);
  run_all(world);
  return test_end(&world);
}
