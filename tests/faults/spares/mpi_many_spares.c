/* SPDX-License-Identifier: Apache-2.0 */
/* One rank dies repeatedly, and each time another spare runs it, until none is left. The result is right at full size, and
 * resources of the survivors do not grow from one recovery to the next: memory as counted here and by the system, files,
 * requests.
 *
 *   mpi_many_spares SPARES */
/* gabion-test: np=11 timeout=120 needs=ulfm args=8 */
#include "tests/faults/automaton.c"
#include "tests/faults/open_files.h"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "core/world/world_impl.h"
#include "resilience/reports/completion.h"

/* Single recoveries differ by the phase of the death, and MPI and the allocator use new memory on first use: the first
 * three, one of each phase, are not compared. */
enum { EVERY = 4, ACTIVE = 3, VICTIM = 1, MOST_SPARES = 56, SETTLED = 3 };

typedef struct holdings {
  uint64_t counted; /* bytes, counted by this library */
  long resident,
      data; /* kB: RssAnon, VmData; without MPI's pages in shared memory, which grow with each peer */
  int files;
  size_t requests;
} holdings;

typedef struct long_life {
  automaton app;
  int spares, recoveries;
  gab_step steps;
  uint64_t image; /* bytes of a rank */
  holdings earlier;
  gab_timeloop *loop;
  int returned;
  bool right;
} long_life;

static long status_line(const char *name)
{
  char line[256];
  long kilobytes = -1;
  FILE *file = fopen("/proc/self/status", "r");
  REQUIRE(file);
  while (fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) kilobytes = atol(line + strlen(name) + 1);
  fclose(file);
  REQUIRE(kilobytes > 0);
  return kilobytes;
}

static size_t requests_under_way(const gab_world *world)
{
  size_t count = 0;
  for (const gab_port *port = world->ports; port; port = port->next)
    count += port->traffic ? port->traffic->request_count : 0;
  for (const gab_traffic *given_up = world->deferred; given_up; given_up = given_up->next)
    count += given_up->request_count;
  return count;
}

static holdings take_stock(const gab_world *world)
{
  return (holdings){.counted = gab_memory_now(GAB_MEMORY_USE_COUNT),
                    .resident = status_line("RssAnon"),
                    .data = status_line("VmData"),
                    .files = open_files(),
                    .requests = requests_under_way(world)};
}

/* Half of an image per recovery: a leak of one message per recovery would exceed it. */
static void compare(const long_life *life, const holdings *now)
{
  const holdings *then = &life->earlier;
  const long more = (long)(life->image / 2048) * (life->spares - SETTLED);
  const long counted = (long)(now->counted / 1024) - (long)(then->counted / 1024);
  printf("rank %" GAB_PRI_RANK ": from recovery %d to %d counted memory %" PRIu64 " -> %" PRIu64
         " byte, RssAnon %ld -> %ld kB, VmData %ld -> %ld kB (%ld kB more would be a leak), files %d -> %d, "
         "requests %zu\n",
         gab_world_rank(life->app.world), (int)SETTLED, life->spares, then->counted, now->counted,
         then->resident, now->resident, then->data, now->data, more, then->files, now->files, now->requests);
  CHECK(counted < more); /* the faults are recorded */
  /* Pages that were mapped before may be used late. */
  CHECK(now->resident - then->resident < more || now->data <= then->data);
  CHECK(now->data - then->data < more);
  CHECK(now->files == then->files);
  CHECK(now->requests == 0);
}

static void count_recovery(void *user, const gab_fault *fault)
{
  long_life *life = user;
  life->recoveries++;
  REQUIRE(!fault->is_local && (fault->incarnation > 0) == (fault->returned > 0));
  life->returned += fault->returned;
  if (life->recoveries == SETTLED) {
    life->earlier = take_stock(life->app.world);
    life->image = gab_timeloop_get_stats(life->loop).checkpoint.image_bytes;
  }
  if (life->recoveries != life->spares) return;
  const holdings now = take_stock(life->app.world);
  compare(life, &now);
}

static gab_status judge_result(void *user, gab_step step)
{
  long_life *life = user;
  uint64_t wrong = automaton_is_right(&life->app, life->steps) && step == life->steps ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(long_life *life, const gab_protection *protection)
{
  GAB_TRY(gab_timeloop_create(life->app.forest, life->steps, &life->loop));
  gab_timeloop *loop = life->loop;
  gab_status status = automaton_add(&life->app, loop);
  if (status == GAB_OK) status = gab_timeloop_add_finish(loop, "judge", judge_result, life);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, protection);
  gab_timeloop_on_fault(loop, count_recovery, life);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  gab_timeloop_destroy(&life->loop);
  return status;
}

/* Each incarnation of the victim ends a little later than the one before. Spares get the rank in their order. */
static void doom(gab_fault_injection *injections, int spares)
{
  static const gab_fault_point points[] = {GAB_FAULT_POINT_EXCHANGE, GAB_FAULT_POINT_SNAPSHOT,
                                           GAB_FAULT_POINT_COMPUTE};
  for (int life = 0; life < spares; life++) {
    test_doom(life == 0 ? VICTIM : ACTIVE + life - 1);
    injections[life] = (gab_fault_injection){.step = EVERY * (life + 1) + life % EVERY,
                                             .point = points[life % 3],
                                             .visit = 1,
                                             .rank_count = 1,
                                             .ranks = {VICTIM},
                                             .incarnation = (gab_incarnation)life};
  }
}

int main(int argc, char **argv)
{
  static const gab_strategy *const by_spares_alone = &gab_strategy_spare;
  static gab_fault_injection injections[MOST_SPARES];
  long_life life = {.spares = argc > 1 ? atoi(argv[1]) : 0};
  gab_world *world;
  setenv("GABION_SPARES", argc > 1 ? argv[1] : "", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(life.spares > SETTLED && life.spares <= MOST_SPARES);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == life.spares);
  doom(injections, life.spares);
  life.steps = EVERY * (life.spares + 3);
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .rebalance = automaton_rebalance,
                                     .injections = injections,
                                     .injection_count = (size_t)life.spares,
                                     .strategies = {by_spares_alone}};
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){16, 16, 8}));
  REQUIRE_OK(run(&life, &protection));
  REQUIRE(life.right);
  REQUIRE(gab_members_count(gab_world_members(world)) == ACTIVE && gab_world_spares(world) == 0);
  if (gab_world_rank(world) != VICTIM)
    REQUIRE(life.recoveries == life.spares && life.returned == life.spares);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
