/* SPDX-License-Identifier: Apache-2.0 */
/* Fifty recoveries in one run: as many real deaths as leave two ranks, the rest by a revoked communicator of
 * the application's own. The result is right, and nothing grows from one recovery to the next. */
/* gabion-test: np=2,6 quick=2 timeout=120 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/faults/open_files.h"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <mpi-ext.h>

/* Messages that a fault cut off are held until the next repair, so single recoveries differ: the most held in
 * recoveries 11 to 30 is compared with the most held in 31 to 50. */
enum { RECOVERIES = 50, EVERY = 4, SETTLED = 10, HALF = 30, STEPS = EVERY * (RECOVERIES + 3) };

/* Resources held by a process after a recovery. */
typedef struct holdings {
  size_t memory;
  int files;
} holdings;

typedef struct breaker {
  automaton app;
  gab_comm *own; /* the application's communicator, rebuilt by every repair */
  int recoveries;
  gab_step broken_at; /* not to break the same step again after the rollback */
  holdings earlier, later;
  int lost;
  bool right;
} breaker;

static holdings take_stock(void) { return (holdings){gab_memory_now(GAB_MEMORY_USE_COUNT), open_files()}; }

/* Somebody revokes in every EVERY-th step; the number of real deaths has its share by fault injections. */
static gab_status disturb(void *user, gab_step step)
{
  breaker *b = user;
  if (step % EVERY != 2 || step <= b->broken_at || b->recoveries >= RECOVERIES) return GAB_OK;
  b->broken_at = step;
  const gab_members *members = gab_world_members(b->app.world);
  gab_rank whose = gab_members_rank(members, (int32_t)(step / EVERY) % gab_members_count(members));
  if (gab_world_rank(b->app.world) == whose) {
    MPIX_Comm_revoke(gab_comm_mpi(b->own));
    MPI_Barrier(gab_comm_mpi(b->own)); /* its code is ignored, as an application might */
  }
  return GAB_OK;
}

static void count_recovery(void *user, const gab_fault *fault)
{
  breaker *b = user;
  b->recoveries++;
  b->lost += fault->lost_count;
  if (b->recoveries <= SETTLED) return;
  holdings now = take_stock(), *most = b->recoveries <= HALF ? &b->earlier : &b->later;
  if (now.memory > most->memory) most->memory = now.memory;
  if (now.files > most->files) most->files = now.files;
}

static gab_status judge_result(void *user, gab_step step)
{
  breaker *b = user;
  uint64_t wrong = automaton_is_right(&b->app, STEPS) && step == STEPS ? 0 : 1;
  if (b->later.memory > b->earlier.memory || b->later.files > b->earlier.files) {
    printf("rank %" GAB_PRI_RANK ": memory %zu then %zu, files %d then %d\n", gab_world_rank(b->app.world),
           b->earlier.memory, b->later.memory, b->earlier.files, b->later.files);
    wrong = 1;
  }
  GAB_TRY(gab_world_sum_u64(b->app.world, &wrong, 1));
  b->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(breaker *b, const gab_protection *protection)
{
  gab_timeloop *loop;
  GAB_TRY(gab_world_dup(b->app.world, &b->own));
  GAB_TRY(gab_timeloop_create(b->app.forest, STEPS, &loop));
  gab_status status = gab_timeloop_add_task(loop, "disturb", disturb, b);
  if (status == GAB_OK) status = automaton_add(&b->app, loop);
  if (status == GAB_OK) status = gab_timeloop_add_finish(loop, "judge", judge_result, b);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, protection);
  gab_timeloop_on_fault(loop, count_recovery, b);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  gab_timeloop_destroy(&loop);
  return status;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  gab_fault_injection injections[16] = {{.step = 0}};
  gab_rank ranks = gab_world_members(world)->ranks;
  gab_protection protection = {
      .every = {.steps = EVERY}, .rebalance = automaton_rebalance, .injections = injections};
  for (gab_rank rank = 2; rank < ranks; rank++) {
    test_doom(rank);
    injections[protection.injection_count++] =
        (gab_fault_injection){.step = EVERY * rank,
                              .point = rank % 2 ? GAB_FAULT_POINT_EXCHANGE : GAB_FAULT_POINT_SNAPSHOT,
                              .visit = 1,
                              .rank_count = 1,
                              .ranks = {rank}};
  }
  breaker b = {.broken_at = -1};
  REQUIRE_OK(automaton_create(&b.app, world, (int32_t[]){3, 2, 2}));
  REQUIRE_OK(run(&b, &protection));
  REQUIRE(b.right);
  REQUIRE(b.recoveries >= RECOVERIES && b.lost == ranks - 2);
  if (gab_world_is_root(world)) printf("%d recoveries, %d deaths\n", b.recoveries, b.lost);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&b.app);
  return test_end(&world);
}
