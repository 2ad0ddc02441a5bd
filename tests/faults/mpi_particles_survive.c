/* SPDX-License-Identifier: Apache-2.0 */
/* Particles of a run that loses processes: each equals, to the last bit, that of a list of all, under strategies
 * `shrink' (with rebalancing), `spare' and `local' (GABION_TEST_STRATEGY), and after a death with records in transit. */
/* gabion-test: np=4 quick=4 timeout=60 needs=ulfm */
/* gabion-test: np=5 env=GABION_TEST_STRATEGY=spare */
/* gabion-test: np=5 env=GABION_TEST_STRATEGY=local */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "blockforest/particles/particles.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <math.h>
#include <string.h>

enum { COUNT = 300, STEPS = 40, EVERY = 10, ACTIVE = 4, VICTIM = 1, CELLS = 8 };

typedef struct dot {
  gab_particle base;
  double speed[2];
} dot;

typedef struct swarm {
  gab_forest *forest;
  gab_particles *dots;
  bool right;
} swarm;

/* Multiples of 2^-20 below 1, so that no step rounds. */
static double draw(uint64_t what, uint64_t which)
{
  return (double)(gab_hash_counter(3, what, which) >> 44) * 0x1p-20;
}

static dot dot_at_start(uint64_t number)
{
  return (dot){.base = {.id = (number * 7) % COUNT, .at = {draw(1, number), draw(2, number), 0}},
               .speed = {floor(0x1p18 * (draw(3, number) - 0.5)) * 0x1p-20, 0}};
}

/* The speed turns by where the particle is, which a wrong place would spread. */
static void push(dot *one)
{
  one->base.at[0] += one->speed[0];
  one->base.at[1] += one->base.at[0] < 0.5 ? 0x1p-5 : -0x1p-6;
}

static gab_status compute(void *user, gab_step step)
{
  swarm *it = user;
  (void)step;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    size_t count;
    dot *dots = gab_particles_of(it->dots, gab_forest_block(it->forest, b), &count);
    for (size_t i = 0; i < count; i++) push(&dots[i]);
  }
  return gab_particles_move(it->dots, NULL);
}

static double wrapped(double at) { return at < 0 ? at + 1 : at >= 1 ? at - 1 : at; }

static gab_status judge(void *user, gab_step step)
{
  static dot all[COUNT];
  swarm *it = user;
  uint64_t found = 0, wrong = 0;
  for (uint64_t i = 0; i < COUNT; i++) {
    const dot one = dot_at_start(i);
    all[one.base.id] = one;
  }
  for (int s = 0; s < STEPS; s++)
    for (int i = 0; i < COUNT; i++) {
      push(&all[i]);
      for (int axis = 0; axis < 2; axis++) all[i].base.at[axis] = wrapped(all[i].base.at[axis]);
    }
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    size_t count;
    const dot *dots = gab_particles_of(it->dots, gab_forest_block(it->forest, b), &count);
    found += count;
    for (size_t i = 0; i < count; i++) wrong += memcmp(&dots[i], &all[dots[i].base.id], sizeof dots[i]) != 0;
  }
  GAB_TRY(gab_world_sum_u64(gab_forest_world(it->forest), &found, 1));
  GAB_TRY(gab_world_sum_u64(gab_forest_world(it->forest), &wrong, 1));
  it->right = found == COUNT && wrong == 0 && step == STEPS;
  return GAB_OK;
}

static void make(gab_world *world, swarm *it)
{
  const gab_forest_options options = {
      .grid = {2, {4, 4, 1}}, .periodic = {true, true, false}, .cells = {CELLS, CELLS, 1}, .dx = 0x1p-5};
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_particles_create(it->forest, &(gab_particle_kind){"dots", sizeof(dot)}, &it->dots));
  REQUIRE_OK(gab_balance_initial(it->forest, NULL, NULL));
  for (uint64_t i = 0; i < COUNT; i++) {
    const dot one = dot_at_start(i);
    REQUIRE_OK(gab_particles_add(it->dots, &one, NULL));
  }
}

int main(int argc, char **argv)
{
  const char *const name = getenv("GABION_TEST_STRATEGY");
  const gab_strategy *const strategy = name ? gab_strategy_by_name(name) : &gab_strategy_shrink;
  const gab_fault_injection injections[] = {
      {.step = 23, .point = GAB_FAULT_POINT_EXCHANGE, .visit = 1, .rank_count = 1, .ranks = {VICTIM}},
      {.step = 31, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {3}}};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .verify = GAB_VERIFY_ALWAYS,
                                     .rebalance = name ? NULL : automaton_rebalance,
                                     .injections = injections,
                                     .injection_count = name ? 1 : 2,
                                     .strategies = {strategy}};
  gab_world *world;
  gab_timeloop *loop;
  swarm it = {0};
  if (name) setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(strategy && gab_world_members(world)->ranks == ACTIVE);
  make(world, &it);
  REQUIRE_OK(gab_timeloop_create(it.forest, STEPS, &loop));
  REQUIRE_OK(gab_timeloop_add_task(loop, "dots", compute, &it));
  REQUIRE_OK(gab_timeloop_add_finish(loop, "judge", judge, &it));
  REQUIRE_OK(gab_timeloop_protect(loop, &protection));
  REQUIRE_OK(gab_timeloop_run(loop));
  test_doom(VICTIM);
  if (!name) test_doom(3);
  if (!gab_world_is_spare(world)) {
    const gab_run_stats stats = gab_timeloop_get_stats(loop);
    CHECK(it.right);
    CHECK(stats.fault_count == (name ? 1 : 2));
    CHECK(stats.local.faults == (strategy->local ? 1 : 0));
  }
  gab_timeloop_destroy(&loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  gab_particles_destroy(&it.dots);
  gab_forest_destroy(&it.forest);
  return test_end(&world);
}
