/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks exchange their blocks back and forth, so that neighbours change in each of five sections. The partners of a rank,
 * and the ranks whose messages its reliable channel reads, are the same whenever the blocks lie alike, and do not increase.
 * Soon after the last section a process dies, then a former neighbour of it: each recovers alone. The same with own
 * checkpoints of each rank in between (GABION_TEST_OWN: the interval in steps). With GABION_TEST_PAIR two neighbours since
 * the last section die in the same step: they roll back to own checkpoints of different steps, and the one that rolls back
 * further needs messages that the other sent before its own checkpoint. Only the log in that image has them. */
/* gabion-test: np=10 timeout=120 needs=ulfm */
/* gabion-test: np=10 env=GABION_TEST_OWN=3 */
/* gabion-test: np=10 env=GABION_TEST_PAIR=3 */
/* gabion-test: np=10 env=GABION_TEST_PAIR=4 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "tests/faults/moving_blocks.h"

#include "core/base/log.h"
#include "core/world/world_impl.h"
#include "resilience/local/local_run_impl.h"
#include "resilience/reports/completion.h"

#include <errno.h>

enum { ACTIVE = 8, SPARES = 2, EVERY = 10, STEPS = 70, LAST_MOVE = 50 };

/* Ranks that die; LATER was a neighbour of FIRST before the last section, BESIDE is one since. With an interval of 3 own
 * steps FIRST takes checkpoints at 52 and 55, BESIDE at 53 and 56; with 4 at 53 and 57, and at 51 and 55: always different
 * steps, for any state of their holders. */
enum { FIRST = 3, LATER = 4, BESIDE = 6, PAIR_STEP = LAST_MOVE + 7 };

typedef struct moving_life {
  moving_blocks blocks;
  uint64_t partners[2]; /* by arrangement of the blocks: a bit for each rank; 0: not yet recorded */
  int changed;          /* steps in which they differed from the first time */
  int strangers;        /* steps in which the reliable channel read messages of others than partners */
  int looked;
  uint64_t awaited; /* the process with which BESIDE dies; 0: it does not */
} moving_life;

static uint64_t partners_of(const gab_local *machine)
{
  uint64_t mask = 0;
  for (gab_rank rank = 0; rank < ACTIVE; rank++)
    if (gab_local_is_partner(machine, rank)) mask |= UINT64_C(1) << rank;
  return mask;
}

static void look(moving_life *life, gab_step step)
{
  const gab_local_run *run = life->blocks.loop->protection->local;
  const gab_rank me = gab_world_rank(life->blocks.app.world);
  const int moves = (int)(step / EVERY), way = moves % 2;
  if (step > LAST_MOVE) return;
  const uint64_t now = partners_of(run->machine);
  life->looked++;
  if (life->partners[way] == 0) life->partners[way] = now;
  life->changed += life->partners[way] != now;
  life->strangers += gab_reliable_channel_statistics(run->channel).near > (size_t)__builtin_popcountll(now);
  /* A neighbour of the other arrangement that is not a partner. */
  if (way == 1) life->blocks.counted += (now >> ((me + 1) % ACTIVE) & 1) == 0;
}

/* Reads no message meanwhile: the replacement of the first one gets none of the data that this process stores. */
static void die_with(pid_t other)
{
  for (; kill(other, 0) == 0 || errno != ESRCH; usleep(1000)) gab_mpi_progress();
  raise(SIGKILL);
}

static gab_status compute(void *user, gab_step step)
{
  moving_life *life = user;
  if (life->awaited != 0 && step == PAIR_STEP && gab_world_process(life->blocks.app.world) == BESIDE)
    die_with((pid_t)life->awaited);
  look(life, step);
  return moving_blocks_step(&life->blocks, step);
}

static bool move_due(const void *user, gab_step step)
{
  (void)user;
  return step > 0 && step <= LAST_MOVE && step % EVERY == 0;
}

/* Ranks lie along a ring of blocks: alternately next to the following ones, and to those three further. */
static gab_status move(void *user, gab_step step)
{
  static const int32_t places[ACTIVE] = {0, 3, 6, 1, 4, 7, 2, 5};
  moving_life *life = user;
  (void)step;
  return moving_blocks_move(&life->blocks, places);
}

int main(int argc, char **argv)
{
  /* A dying rank has the ghosts of the step before, so all other ranks, at most four blocks away along the ring, have at
   * least begun the step of the last move. There they read their partners' messages and know that its checkpoint is
   * committed, since they wait for the commit as long as needed. So a death rolls back to that checkpoint, not to the grid
   * before. */
  const char *const pair = getenv("GABION_TEST_PAIR"), *const own = pair ? pair : getenv("GABION_TEST_OWN");
  const gab_fault_injection injections[] = {moving_blocks_death(FIRST, pair ? PAIR_STEP : LAST_MOVE + 4),
                                            moving_blocks_death(LATER, LAST_MOVE + 8)};
  const gab_rank second = pair ? BESIDE : LATER;
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .own_every = own ? strtol(own, NULL, 10) : 0,
                                     .commit_wait = 1e6, /* times the interval since the last checkpoint */
                                     .verify = GAB_VERIFY_ALWAYS,
                                     .injections = injections,
                                     .injection_count = pair ? 1 : 2,
                                     .strategies = {&gab_strategy_local}};
  moving_life life = {.blocks = {.steps = STEPS}};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&life.blocks.app, world, (int32_t[]){32, 2, 2}));
  if (pair && gab_world_process(world) == FIRST) life.awaited = (uint64_t)getpid();
  if (pair) REQUIRE_OK(gab_world_max_u64(world, &life.awaited, 1));
  REQUIRE_OK(moving_blocks_run(&life.blocks, &protection, compute, move_due, move, &life));
  test_doom(FIRST);
  test_doom(second);
  const gab_run_stats stats = gab_timeloop_get_stats(life.blocks.loop);
  CHECK(life.blocks.right);
  CHECK(stats.fault_count == 2 && stats.local.faults == 2);
  CHECK(stats.local.steps_again == 0 && stats.local.meetings == 0);
  CHECK(life.changed == 0 && life.strangers == 0);
  CHECK(life.blocks.counted > 0);
  if (gab_world_process(world) < ACTIVE) CHECK(life.looked == LAST_MOVE + 1);
  CHECK((stats.local.own_checkpoints > 0) == (own != NULL));
  if (gab_world_process(world) >= ACTIVE) CHECK((stats.local.restored_messages > 0) == (own != NULL));
  gab_timeloop_destroy(&life.blocks.loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.blocks.app);
  return test_end(&world);
}
