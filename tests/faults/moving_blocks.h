/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tests of local recovery: the automaton whose ranks exchange their blocks in a section, so that neighbours
 * change. To be included after tests/faults/automaton.c. */
#ifndef GABION_TESTS_MOVING_BLOCKS_H
#define GABION_TESTS_MOVING_BLOCKS_H

#include "core/messages/collective.h"

typedef struct moving_blocks {
  automaton app;
  gab_timeloop *loop;
  gab_step steps;
  uint64_t counted; /* by each rank, whatever it is; at the end the sum of all */
  bool right;       /* the same on all: so are all cells, at the end */
} moving_blocks;

/* With the sum that feeds back, by logged messages. */
static gab_status moving_blocks_step(moving_blocks *run, gab_step step)
{
  if (step == 0) GAB_TRY(automaton_sum(&run->app, 0));
  GAB_TRY(automaton_step(&run->app, step));
  return automaton_sum_due(&run->app, step + 1) ? automaton_sum(&run->app, step + 1) : GAB_OK;
}

static const int32_t *moving_blocks_places;

static gab_status moving_blocks_permute(const gab_balance_options *options, gab_proxies *proxies,
                                        int32_t **part, gab_balance_report *report)
{
  const gab_world *world = gab_proxies_world(proxies);
  void *memory;
  (void)options, (void)report;
  GAB_TRY(gab_alloc((gab_proxies_count(proxies) + 1) * sizeof **part, GAB_MEMORY_OTHER, &memory));
  *part = memory;
  for (size_t i = 0; i < gab_proxies_count(proxies); i++)
    (*part)[i] = moving_blocks_places[gab_world_rank(world)];
  return GAB_OK;
}

/* Each rank sends all its blocks to another one. @param[in] places  targets, [ranks] */
static gab_status moving_blocks_move(moving_blocks *run, const int32_t *places)
{
  static const gab_balancer permutation = {
      .name = "permutation", .doc = "", .is_built = true, .assign = moving_blocks_permute};
  const gab_balance_options other = {.balancer = &permutation};
  moving_blocks_places = places;
  return gab_balance_forest(run->app.forest, &other, NULL);
}

static gab_status moving_blocks_judge(void *user, gab_step step)
{
  moving_blocks *run = user;
  uint64_t wrong = automaton_is_right(&run->app, run->steps) && step == run->steps ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(run->app.world, &run->counted, 1));
  GAB_TRY(gab_world_sum_u64(run->app.world, &wrong, 1));
  run->right = wrong == 0;
  return GAB_OK;
}

/* @param[in] compute  of a step @param[in] move  when it is due; both of `user` */
static gab_status moving_blocks_run(moving_blocks *run, const gab_protection *protection, gab_task_fn compute,
                                    bool (*due)(const void *user, gab_step step), gab_task_fn move,
                                    void *user)
{
  const gab_entity total = automaton_entity(&run->app);
  GAB_TRY(gab_timeloop_create(run->app.forest, run->steps, &run->loop));
  GAB_TRY(gab_timeloop_add_task(run->loop, "automaton", compute, user));
  GAB_TRY(gab_timeloop_add_action(run->loop, "move", due, move, user));
  GAB_TRY(gab_timeloop_add_finish(run->loop, "judge", moving_blocks_judge, run));
  GAB_TRY(gab_timeloop_add_entity(run->loop, &total));
  GAB_TRY(gab_timeloop_protect(run->loop, protection));
  return gab_timeloop_run(run->loop);
}

static gab_fault_injection moving_blocks_death(gab_rank rank, gab_step step)
{
  return (gab_fault_injection){
      .step = step, .point = GAB_FAULT_POINT_EXCHANGE, .visit = 1, .rank_count = 1, .ranks = {rank}};
}

#endif
