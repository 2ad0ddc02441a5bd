/* SPDX-License-Identifier: Apache-2.0 */
/* What the headers of resilience/ forbid is refused by all ranks alike: a run that would do nothing and end
 * well (no blocks, no task, a second time), what is added too late, monitors that the program does not have.
 * gabion-test: np=1,3 quick=3 timeout=60 */
#include "blockforest/adaptation/adapt.h"
#include "blockforest/exchange/block_field.h"
#include "core/base/log.h"
#include "resilience/resilience_config.h"
#include "tests/mpi_test.h"

#include <stdlib.h>
#include <string.h>

typedef struct subject {
  gab_world *world;
  gab_forest *forest;
  gab_timeloop *loop;
  bool protected; /* by this run of the table */
  int steps, looks;
} subject;

static const gab_block_field field = {.shape = {.cells = {4, 4, 1}, .ghosts = {1, 1, 0}, .components = 1}};

static gab_status count_step(void *user, gab_step step)
{
  (void)step;
  ((subject *)user)->steps++;
  return GAB_OK;
}

static gab_status look(void *user, gab_step step)
{
  (void)step;
  ((subject *)user)->looks++;
  return GAB_OK;
}

static gab_status add_answer(void *user, gab_timeloop *loop)
{
  return gab_timeloop_add_monitor(loop, "answer", NULL, look, user);
}

static gab_status pack_nothing(void *user, gab_buffer *out)
{
  (void)user;
  return gab_put_u8(out, 0);
}
static gab_status unpack_nothing(void *user, gab_reader *in)
{
  uint8_t zero;
  (void)user;
  return gab_get_u8(in, &zero);
}

/* Rank 0 has all blocks: what is refused must not depend on who has some. */
static gab_status to_the_first(void *context, gab_proxies *proxies)
{
  (void)context;
  gab_rank *targets = calloc(gab_proxies_count(proxies) + 1, sizeof *targets);
  const gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status;
}

static void fill(subject *it)
{
  CHECK(gab_forest_build(it->forest, NULL, NULL, 0, to_the_first, NULL, NULL) == GAB_OK);
}

static void protect(subject *it)
{
  if (it->protected)
    CHECK(gab_timeloop_protect(it->loop, &(gab_protection){.every = {.steps = 2}}) == GAB_OK);
}

static void add_task(subject *it)
{
  CHECK(gab_timeloop_add_task(it->loop, "task", count_step, it) == GAB_OK);
}

/* ---- a run that does nothing */

static gab_status run_without_blocks(subject *it)
{
  add_task(it);
  protect(it);
  const gab_status status = gab_timeloop_run(it->loop);
  CHECK(it->steps == 0);
  return status;
}

/* An application that counts updates itself is not asked for them. */
static gab_status run_without_blocks_but_with_updates(subject *it)
{
  gab_timeloop_set_updates(it->loop, 100);
  return run_without_blocks(it);
}

static gab_status run_without_tasks(subject *it)
{
  fill(it);
  protect(it);
  return gab_timeloop_run(it->loop);
}

static gab_status run_twice(subject *it)
{
  fill(it);
  add_task(it);
  protect(it);
  CHECK(gab_timeloop_run(it->loop) == GAB_OK && it->steps == 4);
  return gab_timeloop_run(it->loop);
}

/* ---- too late */

static gab_status add_while_running(void *user, gab_step step)
{
  (void)step;
  subject *it = user;
  const gab_entity entity = {.name = "late", .user = it, .pack = pack_nothing, .unpack = unpack_nothing};
  CHECK(gab_timeloop_add_action(it->loop, "late", NULL, count_step, it) == GAB_ERR_STATE);
  CHECK(gab_timeloop_add_monitor(it->loop, "late", NULL, look, it) == GAB_ERR_STATE);
  CHECK(gab_timeloop_add_finish(it->loop, "late", count_step, it) == GAB_ERR_STATE);
  CHECK(gab_timeloop_add_entity(it->loop, &entity) == GAB_ERR_STATE);
  CHECK(gab_timeloop_protect(it->loop, &(gab_protection){.every = {.steps = 1}}) == GAB_ERR_STATE);
  return gab_timeloop_add_task(it->loop, "late", count_step, it);
}
static gab_status add_in_the_run(subject *it)
{
  fill(it);
  CHECK(gab_timeloop_add_task(it->loop, "add", add_while_running, it) == GAB_OK);
  protect(it);
  return gab_timeloop_run(it->loop);
}

static gab_status continue_when_protected(subject *it)
{
  gab_restart *restart;
  CHECK(gab_timeloop_protect(it->loop, &(gab_protection){.every = {.steps = 2}}) == GAB_OK);
  CHECK(gab_restart_find(it->world, "no such folder", false, &restart) == GAB_OK);
  return gab_timeloop_continue(it->loop, restart);
}

static gab_status task_of_no_function(subject *it)
{
  return gab_timeloop_add_task(it->loop, "empty", NULL, NULL);
}

/* ---- monitors */

static const gab_monitor own[] = {{"answer", "knows it", add_answer}};

static gab_status run_with_monitors(subject *it, const char *text, gab_monitor_list list)
{
  gab_config *config;
  CHECK(gab_config_create(&config) == GAB_OK);
  CHECK(gab_resilience_declare(config) == GAB_OK);
  CHECK(gab_config_load_text(config, "case.yaml", text, strlen(text)) == GAB_OK);
  CHECK(gab_config_check(config) == GAB_OK);
  const gab_resilience_context context = {.monitors = list, .monitor_user = it};
  gab_status checked = gab_resilience_check(config, list);
  gab_status status = gab_resilience_protect(it->loop, config, &context);
  CHECK(status == checked);
  gab_config_destroy(&config);
  return status;
}
static gab_status monitor_of_another_program(subject *it)
{
  return run_with_monitors(it, "resilience:\n  monitors: [answer, mass]\n", (gab_monitor_list){own, 1});
}
static gab_status monitor_where_there_are_none(subject *it)
{
  return run_with_monitors(it, "resilience:\n  monitors: [answer]\n", (gab_monitor_list){NULL, 0});
}

static void a_monitor_that_is_asked_for_looks(subject *it)
{
  fill(it);
  add_task(it);
  CHECK(run_with_monitors(it, "resilience: {monitors: [answer]}\n", (gab_monitor_list){own, 1}) == GAB_OK);
  CHECK(gab_timeloop_run(it->loop) == GAB_OK);
  CHECK(it->looks >= 4);
}

static void a_monitor_that_nobody_asks_for_does_not(subject *it)
{
  fill(it);
  add_task(it);
  CHECK(run_with_monitors(it, "resilience: {copies: 1}\n", (gab_monitor_list){own, 1}) == GAB_OK);
  CHECK(gab_timeloop_run(it->loop) == GAB_OK);
  CHECK(it->looks == 0);
}

/* ---- all of it */

typedef struct misuse {
  const char *what;
  gab_status (*call)(subject *it);
  gab_status expected;
  const char *says;
} misuse;

static const misuse misuses[] = {
    {"no blocks", run_without_blocks, GAB_ERR_STATE, "the forest has no blocks"},
    {"no blocks, updates", run_without_blocks_but_with_updates, GAB_ERR_STATE, "the forest has no blocks"},
    {"no tasks", run_without_tasks, GAB_ERR_STATE, "no task: 4 steps"},
    {"run twice", run_twice, GAB_ERR_STATE, "has run already"},
    {"added in the run", add_in_the_run, GAB_ERR_STATE, "'late' is added to a time loop that is running"},
    {"no function", task_of_no_function, GAB_ERR_ARGUMENT, "task 'empty'"},
    {"another program's monitor", monitor_of_another_program, GAB_ERR_INPUT,
     "case.yaml:2:13: resilience.monitors: no monitor 'mass' (there are: answer)"},
    {"no monitors at all", monitor_where_there_are_none, GAB_ERR_INPUT,
     "case.yaml:2:13: resilience.monitors: no monitor 'answer' (this program has none)"},
    {"continued when protected", continue_when_protected, GAB_ERR_STATE, "protected already"},
};

static void prepare(gab_world *world, bool protected, subject *it)
{
  const gab_forest_options options = {.grid = {2, {2, 1, 1}}, .cells = {4, 4, 1}, .dx = 1};
  const gab_block_data_kind kind = gab_block_field_data(&field, "u");
  gab_data_id id;
  *it = (subject){.world = world, .protected = protected};
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &kind, &id));
  REQUIRE_OK(gab_timeloop_create(it->forest, 4, &it->loop));
}

static void release(subject *it)
{
  gab_timeloop_destroy(&it->loop);
  gab_forest_destroy(&it->forest);
}

static void is_refused(subject *it, const misuse *one)
{
  gab_error_clear();
  const gab_status status = one->call(it);
  const bool refused = status == one->expected && strstr(gab_error_message(), one->says);
  if (!refused) fprintf(stderr, "%s: %s (%s)\n", one->what, gab_status_name(status), gab_error_message());
  CHECK(refused);
}

static void try_all(gab_world *world, bool protected)
{
  for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
    subject it;
    prepare(world, protected, &it);
    is_refused(&it, &misuses[i]);
    release(&it);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  subject it;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  if (test_may_break(world)) try_all(world, false); /* a run that fails breaks the world */
  if (gab_world_survives_deaths(world)) try_all(world, true);
  prepare(world, false, &it);
  a_monitor_that_is_asked_for_looks(&it);
  release(&it);
  prepare(world, false, &it);
  a_monitor_that_nobody_asks_for_does_not(&it);
  release(&it);
  return test_end(&world);
}
