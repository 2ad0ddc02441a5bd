/* SPDX-License-Identifier: Apache-2.0 */
/* Under local recovery rank 0 decides by its clock, so a repetition would decide otherwise. It dies when a decision is
 * logged and no other rank has received it; another rank dies later. The restored ranks follow the logged decisions, as all
 * others have done. */
/* gabion-test: np=6 timeout=120 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "core/messages/logged/message_logger.h"
#include "core/messages/collective.h"
#include "resilience/reports/completion.h"

enum { ACTIVE = 4, SPARES = 2, EVERY = 10, STEPS = 42, PAUSE = 3, DEATH = 27, COUNT = STEPS / PAUSE };

typedef struct clocked {
  automaton app;
  gab_timeloop *loop;
  uint64_t decided[COUNT]; /* state, like the automaton */
  uint64_t proposed;       /* by this process for step DEATH; 0: never */
  bool right;
} clocked;

static gab_status decide(clocked *life, gab_step step)
{
  uint64_t value = (uint64_t)(1e9 * gab_seconds());
  if (step == DEATH) life->proposed = value;
  GAB_TRY(gab_world_decide(life->app.world, &value));
  life->decided[step / PAUSE] = value;
  return GAB_OK;
}

static gab_status compute(void *user, gab_step step)
{
  clocked *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  if (step % PAUSE == 0) GAB_TRY(decide(life, step));
  GAB_TRY(automaton_step(&life->app, step));
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static gab_status pack(void *user, gab_buffer *out)
{
  const clocked *life = user;
  GAB_TRY(gab_put_u64(out, life->app.total));
  return gab_put_bytes(out, life->decided, sizeof life->decided);
}

static gab_status unpack(void *user, gab_reader *in)
{
  clocked *life = user;
  GAB_TRY(gab_get_u64(in, &life->app.total));
  return gab_get_bytes(in, life->decided, sizeof life->decided);
}

/* All ranks followed the same decisions from the first to the last. */
static gab_status judge_result(void *user, gab_step step)
{
  clocked *life = user;
  gab_world *world = life->app.world;
  gab_buffer first;
  gab_buffer_init(&first, GAB_MEMORY_OTHER);
  gab_status status = gab_put_bytes(&first, life->decided, sizeof life->decided);
  if (status == GAB_OK) status = gab_world_broadcast(world, 0, &first);
  uint64_t wrong = step != STEPS || !automaton_is_right(&life->app, STEPS) ||
                   first.size != sizeof life->decided ||
                   memcmp(first.data, life->decided, sizeof life->decided) != 0;
  for (int i = 1; i < COUNT; i++) wrong |= life->decided[i] <= life->decided[i - 1];
  gab_buffer_release(&first);
  GAB_TRY(status);
  GAB_TRY(gab_world_sum_u64(world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(clocked *life)
{
  const gab_fault_injection injections[] = {{.step = DEATH,
                                             .point = GAB_FAULT_POINT_REDUCTION,
                                             .visit = 1,
                                             .rank_count = 1,
                                             .ranks = {0},
                                             .incarnation = 0},
                                            {.step = DEATH + 8,
                                             .point = GAB_FAULT_POINT_COMPUTE,
                                             .visit = 1,
                                             .rank_count = 1,
                                             .ranks = {2},
                                             .incarnation = 0}};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .injections = injections,
                                     .injection_count = sizeof injections / sizeof injections[0],
                                     .strategies = {&gab_strategy_local}};
  const gab_entity state = {
      .name = "clocked", .kind = GAB_ENTITY_REPLICATED, .user = life, .pack = pack, .unpack = unpack};
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->loop));
  GAB_TRY(gab_timeloop_add_task(life->loop, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_finish(life->loop, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(life->loop, &state));
  GAB_TRY(gab_timeloop_protect(life->loop, &protection));
  return gab_timeloop_run(life->loop);
}

int main(int argc, char **argv)
{
  clocked life = {.loop = NULL};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(run(&life));
  test_doom(0), test_doom(2);
  REQUIRE(life.right);
  const gab_run_stats stats = gab_timeloop_get_stats(life.loop);
  CHECK(stats.local.faults == 2 && stats.local.steps_again == 0);
  /* the restored rank 0 proposed a later time and used the logged decision */
  if (gab_world_rank(world) == 0) CHECK(life.proposed > life.decided[DEATH / PAUSE]);
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
