/* SPDX-License-Identifier: Apache-2.0 */
/* A temporal block is offered all steps up to the next one that anybody looks at, and none more: for post-step actions, monitors,
 * clocks, looks at memory, questions whether to stop, and fault injections drawn at random, compared with asking all of them step
 * by step. */
/* gabion-test: np=1,2 quick=2 timeout=60 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/loop/timeloop_impl.h"

enum { LOOPS = 60, DRAWS = 60, STEPS = 90, OBSERVERS = 3, INJECTIONS = 2 };

typedef struct drawing {
  uint64_t seed, count;
} drawing;
static gab_step draw(drawing *from, gab_step below)
{
  return (gab_step)(gab_hash_counter(from->seed, 7, from->count++) % (uint64_t)below);
}

/* ---------------------------------------------------------------- a loop of everything */

typedef struct observer {
  gab_step every, first; /* 0: after every step */
} observer;

typedef struct setting {
  observer action[OBSERVERS], monitor[OBSERVERS];
  int actions, monitors;
  gab_fault_injection injection[INJECTIONS];
  int visits[INJECTIONS];
  size_t injections;
  gab_step scrub, asked_at; /* asked_at: of the last question, the next is one step behind it */
  gab_timeloop *loop;
} setting;

static bool due(const void *user, gab_step step)
{
  const observer *it = user;
  return step >= it->first && (step - it->first) % it->every == 0;
}
static gab_status nothing(void *user, gab_step step)
{
  (void)user, (void)step;
  return GAB_OK;
}
static gab_status temporal_block(void *user, gab_step step, gab_step most, gab_step *taken)
{
  (void)user, (void)step, (void)most;
  *taken = 0;
  return GAB_OK;
}

static observer draw_observer(drawing *from)
{
  const gab_step every = draw(from, 8) ? 1 + draw(from, 30) : 0;
  return (observer){.every = every, .first = draw(from, STEPS)};
}

/* They flip a bit of a rank, and nobody dies. One of an incarnation that nobody has never fires. */
static gab_fault_injection draw_injection(drawing *from)
{
  return (gab_fault_injection){.step = draw(from, 3 * STEPS / 2),
                               .point = draw(from, 2) ? GAB_FAULT_POINT_COMPUTE : GAB_FAULT_POINT_SNAPSHOT,
                               .visit = 1 + (int)draw(from, 3),
                               .incarnation = draw(from, 4) ? 0 : 1,
                               .rank_count = 1,
                               .flips = true};
}

static void open_loop(gab_forest *forest, drawing *from, setting *made)
{
  *made = (setting){.actions = (int)draw(from, OBSERVERS + 1),
                    .monitors = (int)draw(from, OBSERVERS + 1),
                    .injections = (size_t)draw(from, INJECTIONS + 1),
                    .scrub = draw(from, 3) ? 0 : 1 + draw(from, 20)};
  for (size_t i = 0; i < made->injections; i++) made->injection[i] = draw_injection(from);
  REQUIRE_OK(gab_timeloop_create(forest, STEPS, &made->loop));
  REQUIRE_OK(gab_timeloop_add_task(made->loop, "one", nothing, NULL));
  REQUIRE_OK(gab_timeloop_add_task(made->loop, "two", nothing, NULL));
  REQUIRE_OK(gab_timeloop_add_temporal_block(made->loop, "both", 2, temporal_block, NULL));
  for (int i = 0; i < made->actions; i++) {
    made->action[i] = draw_observer(from);
    REQUIRE_OK(gab_timeloop_add_action(made->loop, "action", made->action[i].every ? due : NULL, nothing,
                                       &made->action[i]));
  }
  for (int i = 0; i < made->monitors; i++) {
    made->monitor[i] = draw_observer(from);
    REQUIRE_OK(gab_timeloop_add_monitor(made->loop, "monitor", made->monitor[i].every ? due : NULL, nothing,
                                        &made->monitor[i]));
  }
  const gab_protection protection = {.every = {.steps = 10},
                                     .scrub = made->scrub,
                                     .injections = made->injection,
                                     .injection_count = made->injections};
  REQUIRE_OK(gab_timeloop_protect(made->loop, &protection));
}

/* ---------------------------------------------------------------- asking all, step by step */

static bool has_come(gab_step at, gab_step step) { return at >= 0 && step >= at; }

static bool waits(const setting *it, size_t i)
{
  return it->injection[i].incarnation == 0 && it->visits[i] < it->injection[i].visit;
}

/* Whether the steps beyond that one may not be taken together with those before. */
static bool is_an_end(const setting *it, gab_step step)
{
  const gab_protection_state *protection = it->loop->protection;
  bool ends = step >= STEPS || step > it->asked_at || has_come(protection->memory.next, step) ||
              has_come(protection->on_disk.next, step) || has_come(protection->look, step) ||
              (it->scrub > 0 && step % it->scrub == 0);
  for (int i = 0; i < it->actions; i++) ends |= it->action[i].every == 0 || due(&it->action[i], step);
  for (int i = 0; i < it->monitors; i++) ends |= it->monitor[i].every == 0 || due(&it->monitor[i], step);
  for (size_t i = 0; i < it->injections; i++) ends |= waits(it, i) && step >= it->injection[i].step;
  return ends;
}

static gab_step steps_to_an_end(const setting *it)
{
  gab_step steps = 1;
  while (steps < GAB_MOST_TEMPORAL_STEPS && !is_an_end(it, it->loop->step + steps)) steps++;
  return steps;
}

static void draw_moment(drawing *from, setting *it)
{
  gab_protection_state *protection = it->loop->protection;
  gab_step *const clocks[] = {&protection->memory.next, &protection->on_disk.next, &protection->look};
  it->loop->step = draw(from, STEPS);
  for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
    *clocks[i] = draw(from, 2) ? -1 : it->loop->step - 2 + draw(from, 30);
  it->asked_at = draw(from, 2) ? STEPS : it->loop->step - 2 + draw(from, 30);
  gab_stop_restart(protection->stop, it->asked_at);
}

/* Comes to the fault point of a fault injection, as a step may. */
static void visit(gab_world *world, setting *it, gab_fault_point point)
{
  gab_world_set_step(world, it->loop->step);
  gab_world_enter(world, point);
  for (size_t i = 0; i < it->injections; i++)
    if (it->injection[i].incarnation == 0 && it->injection[i].point == point &&
        it->loop->step >= it->injection[i].step)
      it->visits[i]++;
}

/* ---------------------------------------------------------------- claims */

static void as_many_as_nobody_looks_at(automaton *app)
{
  gab_step longest = 0, all = 0;
  for (uint64_t seed = 1; seed <= LOOPS; seed++) {
    drawing from = {.seed = seed};
    setting it;
    open_loop(app->forest, &from, &it);
    for (int i = 0; i < DRAWS; i++) {
      draw_moment(&from, &it);
      const gab_step offered = gab_temporal_steps(it.loop), expected = steps_to_an_end(&it);
      if (offered != expected)
        fprintf(stderr, "loop %d, draw %d, step %d: %d steps are offered, %d expected\n", (int)seed, i,
                (int)it.loop->step, (int)offered, (int)expected);
      REQUIRE(offered == expected);
      if (offered > longest) longest = offered;
      all += offered > 1;
      if (draw(&from, 6) == 0)
        visit(app->world, &it, draw(&from, 2) ? GAB_FAULT_POINT_COMPUTE : GAB_FAULT_POINT_SNAPSHOT);
    }
    gab_timeloop_destroy(&it.loop);
  }
  CHECK(longest == GAB_MOST_TEMPORAL_STEPS && all > LOOPS * DRAWS / 10);
}

/* Until all have been asked for the first time nobody knows when that is; what travels or is logged wants each step. */
static void one_where_each_step_counts(automaton *app)
{
  gab_timeloop *loop;
  REQUIRE_OK(gab_timeloop_create(app->forest, STEPS, &loop));
  REQUIRE_OK(gab_timeloop_add_task(loop, "one", nothing, NULL));
  REQUIRE_OK(gab_timeloop_add_temporal_block(loop, "temporal block", 1, temporal_block, NULL));
  CHECK(gab_temporal_steps(loop) == GAB_MOST_TEMPORAL_STEPS);
  REQUIRE_OK(gab_timeloop_protect(loop, &(gab_protection){.every = {.steps = 0}}));
  CHECK(gab_temporal_steps(loop) == 1);
  gab_stop_restart(loop->protection->stop, 5);
  CHECK(gab_temporal_steps(loop) == 6);
  loop->protection->local = (gab_local_run *)&loop; /* steps are logged */
  CHECK(gab_temporal_steps(loop) == 1);
  loop->protection->local = NULL;
  REQUIRE_OK(gab_checkpoint_begin(loop->protection->checkpoint, 0)); /* its copies travel */
  CHECK(gab_temporal_steps(loop) == 1);
  REQUIRE_OK(gab_checkpoint_complete(loop->protection->checkpoint));
  CHECK(gab_temporal_steps(loop) == 6);
  gab_timeloop_destroy(&loop);
}

static void one_beside_tasks_that_it_does_not_know(automaton *app)
{
  gab_timeloop *loop;
  REQUIRE_OK(gab_timeloop_create(app->forest, STEPS, &loop));
  CHECK(gab_timeloop_add_temporal_block(loop, "temporal block", 1, temporal_block, NULL) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_timeloop_add_task(loop, "one", nothing, NULL));
  REQUIRE_OK(gab_timeloop_add_task(loop, "two", nothing, NULL));
  CHECK(gab_temporal_steps(loop) == 1);
  CHECK(gab_timeloop_add_temporal_block(loop, "temporal block", 2, NULL, NULL) == GAB_ERR_ARGUMENT);
  CHECK(gab_timeloop_add_temporal_block(loop, "temporal block", 3, temporal_block, NULL) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_timeloop_add_temporal_block(loop, "temporal block", 1, temporal_block,
                                             NULL)); /* "one" is in front of it */
  CHECK(gab_temporal_steps(loop) == 1);
  CHECK(gab_timeloop_add_temporal_block(loop, "temporal block", 2, temporal_block, NULL) == GAB_ERR_STATE);
  gab_timeloop_destroy(&loop);
  REQUIRE_OK(gab_timeloop_create(app->forest, STEPS, &loop));
  REQUIRE_OK(gab_timeloop_add_task(loop, "one", nothing, NULL));
  REQUIRE_OK(gab_timeloop_add_temporal_block(loop, "temporal block", 1, temporal_block, NULL));
  CHECK(gab_temporal_steps(loop) == GAB_MOST_TEMPORAL_STEPS);
  REQUIRE_OK(gab_timeloop_add_task(loop, "behind it", nothing, NULL));
  CHECK(gab_temporal_steps(loop) == 1);
  gab_timeloop_destroy(&loop);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  automaton app;
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){2, 2, 2}));
  one_beside_tasks_that_it_does_not_know(&app);
  one_where_each_step_counts(&app);
  as_many_as_nobody_looks_at(&app);
  automaton_destroy(&app);
  return test_end(&world);
}
