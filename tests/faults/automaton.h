/* SPDX-License-Identifier: Apache-2.0 */
/* A cellular automaton on blocks, for tests: cheap, chaotic, and known. Every cell holds 64 bits; its next
 * value mixes its own with those of its face neighbours. One wrong, stale or lost ghost value spreads over
 * the whole domain within as many steps as the domain has cells across. The answer is computed again on a
 * plain array, so a run can judge itself. */
#ifndef GABION_TESTS_AUTOMATON_H
#define GABION_TESTS_AUTOMATON_H

#include "blockforest/exchange/exchange.h"
#include "loadbalance/balance.h"
#include "resilience/loop/timeloop.h"

enum { AUTOMATON_CELLS = 4, AUTOMATON_GHOSTED = AUTOMATON_CELLS + 2 };

/* The data of a block, with one ghost layer. */
typedef struct automaton_block {
  uint64_t now[AUTOMATON_GHOSTED][AUTOMATON_GHOSTED][AUTOMATON_GHOSTED];
  uint64_t next[AUTOMATON_GHOSTED][AUTOMATON_GHOSTED][AUTOMATON_GHOSTED];
} automaton_block;

typedef struct automaton {
  gab_world *world;
  gab_forest *forest;
  gab_exchange *exchange;
  gab_data_id data;
  int32_t roots[3];
  uint64_t total; /* reduced every few steps, feeds back into the state */
} automaton;

gab_status automaton_create(automaton *app, gab_world *world, const int32_t roots[3]);
void automaton_destroy(automaton *app);
/* One step; the task of a time loop. */
gab_status automaton_step(void *user, gab_step step);
/* Sums all cells over all ranks every seventh step: a reduction that feeds back. The post-step action of a time loop. */
bool automaton_sum_due(const void *user, gab_step step);
gab_status automaton_sum(void *user, gab_step step);
/* The entity that holds the sum. */
gab_entity automaton_entity(automaton *app);
/* Adds the task, the sum as a post-step action, and the entity to a time loop. */
gab_status automaton_add(automaton *app, gab_timeloop *loop);
/* Rebalancing callback. */
gab_status automaton_rebalance(void *user, gab_forest *forest);
/* Compares the local blocks with the answer after `steps` steps; prints the first difference. */
bool automaton_is_right(const automaton *app, gab_step steps);

#endif
