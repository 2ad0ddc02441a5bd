/* SPDX-License-Identifier: Apache-2.0 */
/* An entity that a spare cannot pack before it runs a rank, since it has no data of it yet: that is not an error
 * until the data is needed. The spare takes the rank of the victim, with the data packed by it. */
/* gabion-test: np=5 timeout=120 needs=ulfm labels=quick */
/* gabion-test: np=5 env=GABION_TEST_LOCAL=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

enum { ACTIVE = 4, EVERY = 10, STEPS = 40 };

typedef struct counter {
  uint64_t *steps; /* NULL on a process that has not run a rank */
  uint64_t capacity;
} counter;

static gab_status pack_steps(void *user, gab_buffer *out)
{
  const counter *it = user;
  if (!it->steps) GAB_FAIL(GAB_ERR_STATE, "there is nothing to pack on a spare");
  return gab_put_u64(out, *it->steps);
}

static gab_status unpack_steps(void *user, gab_reader *in)
{
  counter *it = user;
  it->steps = &it->capacity;
  return gab_get_u64(in, it->steps);
}

static gab_status count_step(void *user, gab_step step)
{
  counter *it = user;
  CHECK(*it->steps == (uint64_t)step);
  ++*it->steps;
  return GAB_OK;
}

int main(int argc, char **argv)
{
  const bool local = getenv("GABION_TEST_LOCAL") != NULL;
  const gab_fault_injection death = {.step = 27,
                                     .point = GAB_FAULT_POINT_EXCHANGE,
                                     .visit = 1,
                                     .rank_count = 1,
                                     .ranks = {1},
                                     .incarnation = 0};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .injections = &death,
                                     .injection_count = 1,
                                     .strategies = {local ? &gab_strategy_local : &gab_strategy_spare}};
  automaton app;
  counter counted = {0};
  const gab_entity steps = {.name = "steps",
                            .kind = GAB_ENTITY_PER_RANK,
                            .user = &counted,
                            .pack = pack_steps,
                            .unpack = unpack_steps};
  gab_timeloop *loop;
  gab_world *world;
  setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == 1);
  if (!gab_world_is_spare(world)) counted.steps = &counted.capacity;
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(gab_timeloop_create(app.forest, STEPS, &loop));
  REQUIRE_OK(automaton_add(&app, loop));
  REQUIRE_OK(gab_timeloop_add_task(loop, "count", count_step, &counted));
  REQUIRE_OK(gab_timeloop_add_entity(loop, &steps));
  REQUIRE_OK(gab_timeloop_protect(loop, &protection));
  const gab_status status = gab_timeloop_run(loop);
  test_doom(1);
  REQUIRE_OK(status);
  CHECK(!gab_world_is_spare(world));
  CHECK(counted.capacity == STEPS);
  CHECK(automaton_is_right(&app, STEPS));
  gab_timeloop_destroy(&loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&app);
  return test_end(&world);
}
