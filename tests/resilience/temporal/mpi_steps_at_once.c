/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that takes several steps at once shows everybody what one that takes them one by one does, at the same steps: post-step
 * actions, monitors, checkpoints, fault injections; and ends with the same result, whoever dies on the way and whoever asks it to
 * stop. */
/* gabion-test: np=1,2,4 quick=2 timeout=120 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "resilience/disk/restart.h"
#include "resilience/loop/timeloop_impl.h"

#include <unistd.h>

enum { STEPS = 100, CASES = 24, MOST_SEEN = 4 * STEPS + 100, BLOCK_STEPS = 5 };

/* A number that each step changes, equal on all ranks; who looked at it, and when. The automaton's blocks are but the
 * state whose bits flip. */
typedef struct chain {
  automaton *app;
  gab_timeloop *loop;
  uint64_t value;
  uint64_t blocks;  /* hash of what they held when it was last looked at */
  gab_step stop_at; /* a process is told to stop behind that step; -1: none */
  bool by_steps;    /* nothing in it is by the clock: traces can be compared */
  gab_step temporally_blocked;
  gab_step behind;      /* steps behind which copies travelled */
  int once_a_step;      /* calls of a task that is no part of the temporal block */
  gab_step restored[2]; /* by recoveries */
  int recoveries;
  int count;
  struct {
    char who;
    gab_step step;
    uint64_t value;
  } seen[MOST_SEEN];
} chain;

static uint64_t values[STEPS + 1]; /* behind each step */

static uint64_t next_of(uint64_t value, gab_step step) { return gab_hash_counter(value, 3, (uint64_t)step); }

/* Looks at the number, which has to be that of the step. */
static void see(chain *it, char who, gab_step step)
{
  CHECK(it->value == values[step]);
  REQUIRE(it->count < MOST_SEEN);
  it->seen[it->count].who = who;
  it->seen[it->count].step = step;
  it->seen[it->count++].value = it->value;
}

static uint64_t hash_of_blocks(const automaton *app)
{
  uint64_t hash = 0;
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++) {
    const automaton_block *block = gab_block_data(gab_forest_block(app->forest, i), app->data);
    hash = gab_hash64(block->now, sizeof block->now, hash);
  }
  return hash;
}

/* Ahead of a step: has a bit flipped since the last one? */
static void look_for_flips(chain *it, gab_step step)
{
  const uint64_t now = hash_of_blocks(it->app);
  if (now != it->blocks) see(it, 'f', step);
  it->blocks = now;
}

/* ---------------------------------------------------------------- what the loop does */

static gab_status first_half(void *user, gab_step step)
{
  chain *it = user;
  const gab_protection_state *protection = it->loop->protection;
  it->behind += protection && gab_checkpoint_is_pending(protection->checkpoint);
  look_for_flips(it, step);
  return GAB_OK;
}
static gab_status count_step(void *user, gab_step step)
{
  (void)step;
  ((chain *)user)->once_a_step++;
  return GAB_OK;
}
static gab_status second_half(void *user, gab_step step)
{
  chain *it = user;
  CHECK(it->value == values[step]);
  it->value = next_of(it->value, step);
  return GAB_OK;
}

/* Sometimes nothing. */
static gab_status temporal_block(void *user, gab_step step, gab_step most, gab_step *taken)
{
  chain *it = user;
  const gab_protection_state *protection = it->loop->protection;
  CHECK(most > 1 && step + most <= STEPS);
  CHECK(!protection || !gab_checkpoint_is_pending(protection->checkpoint));
  *taken = gab_hash_counter((uint64_t)step, 1, (uint64_t)most) % 8 == 0 ? 0
           : most < BLOCK_STEPS                                         ? most
                                                                        : BLOCK_STEPS;
  if (*taken == 0) return GAB_OK;
  look_for_flips(it, step);
  for (gab_step k = 0; k < *taken; k++) it->value = next_of(it->value, step + k);
  it->temporally_blocked += *taken;
  return GAB_OK;
}

static bool every_7(const void *user, gab_step step) { return (void)user, step % 7 == 0; }
static bool every_11(const void *user, gab_step step) { return (void)user, step % 11 == 0; }
static bool every_13(const void *user, gab_step step) { return (void)user, step % 13 == 5; }

static gab_status action_a(void *user, gab_step step)
{
  chain *it = user;
  see(it, 'a', step);
  if (step == it->stop_at && gab_world_rank(it->app->world) == 0) raise(SIGTERM);
  return GAB_OK;
}
static gab_status action_b(void *user, gab_step step)
{
  see(user, 'b', step);
  return GAB_OK;
}
static gab_status monitor(void *user, gab_step step)
{
  see(user, 'm', step);
  return GAB_OK;
}

static gab_status pack_value(void *user, gab_buffer *out)
{
  chain *it = user;
  see(it, 'p', it->loop->step);
  return gab_put_u64(out, it->value);
}
static gab_status unpack_value(void *user, gab_reader *in)
{
  chain *it = user;
  return gab_get_u64(in, &it->value);
}

static void note_recovery(void *user, const gab_fault *fault)
{
  chain *it = user;
  REQUIRE(it->recoveries < 2);
  it->restored[it->recoveries++] = fault->restored_step;
}

/* @param[in] what  bits: a post-step action, another one, a monitor, a task behind those of the temporal block */
static gab_status run(chain *it, int what, bool blocks_in_time, const gab_protection *protection,
                      gab_run_stats *stats)
{
  const gab_entity value = {
      .name = "value", .kind = GAB_ENTITY_REPLICATED, .user = it, .pack = pack_value, .unpack = unpack_value};
  it->value = values[0];
  it->count = 0;
  it->temporally_blocked = 0;
  it->blocks = hash_of_blocks(it->app);
  REQUIRE_OK(gab_timeloop_create(it->app->forest, STEPS, &it->loop));
  REQUIRE_OK(gab_timeloop_add_entity(it->loop, &value));
  REQUIRE_OK(gab_timeloop_add_task(it->loop, "first half", first_half, it));
  REQUIRE_OK(gab_timeloop_add_task(it->loop, "second half", second_half, it));
  if (blocks_in_time)
    REQUIRE_OK(gab_timeloop_add_temporal_block(it->loop, "temporal block", 2, temporal_block, it));
  if (what & 8) REQUIRE_OK(gab_timeloop_add_task(it->loop, "count", count_step, it));
  if (what & 1) REQUIRE_OK(gab_timeloop_add_action(it->loop, "a", every_7, action_a, it));
  if (what & 2) REQUIRE_OK(gab_timeloop_add_action(it->loop, "b", every_11, action_b, it));
  if (what & 4) REQUIRE_OK(gab_timeloop_add_monitor(it->loop, "m", every_13, monitor, it));
  gab_timeloop_set_updates(it->loop, 10);
  gab_timeloop_on_fault(it->loop, note_recovery, it);
  if (protection) REQUIRE_OK(gab_timeloop_protect(it->loop, protection));
  const gab_status status = gab_timeloop_run(it->loop);
  *stats = gab_timeloop_get_stats(it->loop);
  CHECK(stats->temporally_blocked_steps == (uint64_t)it->temporally_blocked);
  CHECK(stats->updates_computed == 10 * (double)stats->steps_computed);
  CHECK(it->value == values[gab_timeloop_step(it->loop)]);
  gab_timeloop_destroy(&it->loop);
  return status;
}

/* ---------------------------------------------------------------- the same for all who look */

static bool saw_the_same(const chain *a, const chain *b)
{
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++)
    if (a->seen[i].who != b->seen[i].who || a->seen[i].step != b->seen[i].step ||
        a->seen[i].value != b->seen[i].value)
      return false;
  return true;
}

static void say(const char *name, const chain *it)
{
  fprintf(stderr, "%s:", name);
  for (int i = 0; i < it->count; i++) fprintf(stderr, " %c%d", it->seen[i].who, (int)it->seen[i].step);
  fprintf(stderr, "\n");
}

static gab_protection draw_protection(uint64_t number, bool *by_steps)
{
  static const gab_step intervals[] = {0, 9, 1, 40};
  gab_protection made = {.every = {.steps = intervals[number % 4]},
                         .scrub = number % 3 == 2 ? 17 : 0,
                         .overlap = number % 5 == 3};
  if (number % 6 == 5) made.every = (gab_interval){.mode = GAB_INTERVAL_SECONDS, .seconds = 1e-4};
  if (number % 12 == 11) made.every = (gab_interval){.mode = GAB_INTERVAL_AUTO, .mtbf = 10};
  *by_steps = made.every.mode == GAB_INTERVAL_STEPS && !made.overlap;
  return made;
}

#ifndef STEPS_AT_ONCE_STRIDE /* on more than two ranks: waiting for each other is dear; mpi_steps_at_once_long.c has all */
#define STEPS_AT_ONCE_STRIDE 5
#endif

static void all_see_what_they_see_of_single_steps(automaton *app)
{
  const uint64_t stride = gab_world_members(app->world)->ranks > 2 ? STEPS_AT_ONCE_STRIDE : 1;
  static chain one, many;
  gab_step temporally_blocked = 0;
  int flips = 0;
  for (uint64_t number = 0; number < CASES; number += stride) {
    one = many = (chain){.app = app, .stop_at = -1};
    bool by_steps;
    gab_protection protection = draw_protection(number, &by_steps);
    const gab_fault_injection injections[2] = {{.step = 10 + (gab_step)number,
                                                .point = GAB_FAULT_POINT_COMPUTE,
                                                .visit = 1 + (int)number % 4,
                                                .rank_count = 1,
                                                .flips = true,
                                                .bit = 100 + number},
                                               {.step = 60 + (gab_step)number,
                                                .point = GAB_FAULT_POINT_SNAPSHOT,
                                                .visit = 1,
                                                .rank_count = 1,
                                                .flips = true,
                                                .bit = 200 + number}};
    protection.injections = injections;
    protection.injection_count = number % 3;
    gab_run_stats stats[2];
    const bool protects = number % 8 != 7;
    CHECK(run(&one, (int)number % 8, false, protects ? &protection : NULL, &stats[0]) == GAB_OK);
    CHECK(run(&many, (int)number % 8, true, protects ? &protection : NULL, &stats[1]) == GAB_OK);
    CHECK(stats[0].steps_computed == STEPS && stats[1].steps_computed == STEPS);
    CHECK(stats[0].temporally_blocked_steps == 0 && stats[1].local.steps_again == 0);
    const bool is_same = !by_steps || saw_the_same(&one, &many);
    if (!is_same) {
      say("one by one", &one);
      say("at once", &many);
    }
    CHECK(is_same);
    if (protects && protection.every.mode == GAB_INTERVAL_STEPS && protection.every.steps == 1)
      CHECK(many.temporally_blocked == 0);
    for (int i = 0; i < many.count; i++) flips += many.seen[i].who == 'f';
    temporally_blocked += many.temporally_blocked;
  }
  CHECK(temporally_blocked > CASES * STEPS / 4 / (gab_step)stride);
  if (gab_world_rank(app->world) == 0) CHECK(flips > (stride > 1 ? 1 : 5));
}

/* ---------------------------------------------------------------- steps by themselves */

static void a_task_that_no_pass_does_is_done_in_each_step(automaton *app)
{
  static chain it;
  gab_run_stats stats;
  it = (chain){.app = app, .stop_at = -1};
  CHECK(run(&it, 8, true, NULL, &stats) == GAB_OK);
  CHECK(it.once_a_step == STEPS && it.temporally_blocked == 0);
}

/* Those of checkpoints on their way to the disk, of which no clock in memory is due meanwhile. */
static void copies_travel_behind_steps_that_are_taken_one_by_one(automaton *app)
{
  static chain it;
  const gab_rank ranks = gab_world_members(app->world)->ranks;
  char folder[64];
  gab_run_stats stats;
  snprintf(folder, sizeof folder, "steps-at-once-np%" GAB_PRI_RANK ".tmp", ranks);
  const gab_protection protection = {
      .overlap = GAB_OVERLAP_ALWAYS, .disk = {.folder = folder}, .disk_every = {.steps = 20}};
  if (gab_world_is_root(app->world)) CHECK(gab_restart_remove_all(folder) == GAB_OK);
  it = (chain){.app = app, .stop_at = -1};
  CHECK(run(&it, 0, true, &protection, &stats) == GAB_OK);
  CHECK(it.temporally_blocked > 0 && (ranks == 1 || it.behind > 0));
  if (gab_world_is_root(app->world)) CHECK(gab_restart_remove_all(folder) == GAB_OK && rmdir(folder) == 0);
}

/* ---------------------------------------------------------------- told to stop */

static void one_that_is_told_to_stop_does_so_at_the_end_of_a_step(automaton *app)
{
  static chain it;
  gab_run_stats stats;
  it = (chain){.app = app, .stop_at = 21};
  CHECK(run(&it, 1, true, &(gab_protection){.every = {.steps = 50}}, &stats) == GAB_ERR_ENDED);
  CHECK(stats.steps_computed >= 22 && stats.steps_computed <= 21 + 64 && it.temporally_blocked > 0);
}

/* ---------------------------------------------------------------- deaths */

/* All go back to the last checkpoint, and end where nobody died. */
static void deaths_in_the_midst_change_nothing(automaton *app)
{
  static chain it;
  const gab_rank ranks = gab_world_members(app->world)->ranks;
  if (ranks < 2) return;
  const gab_fault_injection injections[2] = {
      {.step = 38, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {ranks - 1}},
      {.step = 71, .point = GAB_FAULT_POINT_SNAPSHOT, .visit = 1, .rank_count = 1, .ranks = {ranks - 2}}};
  const gab_protection protection = {.every = {.steps = 15},
                                     .injections = injections,
                                     .injection_count = ranks > 2 ? 2 : 1,
                                     .rebalance = automaton_rebalance};
  gab_run_stats stats;
  it = (chain){.app = app, .stop_at = -1};
  test_doom(ranks - 1);
  if (ranks > 2) test_doom(ranks - 2);
  CHECK(run(&it, 3, true, &protection, &stats) == GAB_OK);
  CHECK(stats.fault_count == (int)protection.injection_count);
  CHECK(it.recoveries == stats.fault_count && it.restored[0] == 30);
  if (ranks > 2) CHECK(it.restored[1] == 60);
  CHECK(stats.steps_computed == STEPS + (uint64_t)stats.rolled_back);
  CHECK(stats.local.steps_again == (uint64_t)stats.rolled_back);
  CHECK(it.temporally_blocked > 0);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  for (gab_step step = 0; step < STEPS; step++) values[step + 1] = next_of(values[step], step);
  automaton app;
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){2, 2, 2}));
  all_see_what_they_see_of_single_steps(&app);
  a_task_that_no_pass_does_is_done_in_each_step(&app);
  copies_travel_behind_steps_that_are_taken_one_by_one(&app);
  deaths_in_the_midst_change_nothing(&app);
  one_that_is_told_to_stop_does_so_at_the_end_of_a_step(&app); /* a process does not forget it */
  automaton_destroy(&app);
  return test_end(&world);
}
