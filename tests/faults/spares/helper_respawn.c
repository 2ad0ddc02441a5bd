/* SPDX-License-Identifier: Apache-2.0 */
/* Deaths during a respawn: at each of its steps, a replacement process or the one that starts it dies. In the end all ranks
 * are restored, and all agree on which process runs which rank. For script_respawn_edges.sh:
 *
 *   helper_respawn PLACE     runs it; without an argument it lists the places, with the number of deaths
 *
 * Functions of MPI are intercepted, so that the places are between MPI calls. A process that must die only once records
 * this in a file. */
#include "core/messages/collective.h"
#include "resilience/reports/completion.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                                   \
  do {                                                                                                       \
    if (!(condition)) give_up(#condition, __LINE__);                                                         \
  } while (0)

/* At places before STARTER_BEFORE_SPAWN a replacement process dies, at the others the process that starts it. */
typedef enum place {
  NOWHERE,
  BEFORE_INIT,
  BEHIND_INIT,
  BEHIND_BRIDGE,
  BEHIND_WIDENING,
  IN_SETUP,
  BEHIND_SETUP,
  STARTER_BEFORE_SPAWN,
  STARTER_BEHIND_SPAWN,
  STARTER_BEHIND_BRIDGE,
  STARTER_BEHIND_WIDENING,
  AGAIN_AND_AGAIN, /* each replacement process dies: three attempts, then the run continues without the rank */
  LATER,           /* a replacement process dies later in the run */
  TWICE,           /* two ranks at once */
  PLACES
} place;

static const struct {
  const char *name;
  uint64_t deaths; /* minimum number of deaths of active processes */
} places[PLACES] = {
    {"nobody dies", 0},
    {"a replacement process, before MPI_Init", 2}, /* the process that waits for it is abandoned */
    {"a replacement process, before it meets the one that started it", 2},
    {"a replacement process that has met the one that started it", 1},
    {"a replacement process that all have met", 1},
    {"a replacement process in its set-up", 1},
    {"a replacement process behind its set-up", 1},
    {"the starting process, before it does", 2},
    {"the starting process, when it has", 2},
    {"the starting process, when it has met the replacement process", 2},
    {"the starting process, when all have met the replacement process", 2},
    {"each replacement process", 1},
    {"a replacement process, later", 2},
    {"two at once, and replacement processes are two", 2}};

static gab_world *world;
static place where;
static const char *once;

static void give_up(const char *what, int line)
{
  printf("helper_respawn (%s), process %d, line %d: wrong: %s (%s)\n", places[where].name,
         (int)gab_world_process(world), line, what, gab_error_message());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static bool is_replacement(void) { return getenv("GABION_SPAWNED") != NULL; }

static void pass(place here)
{
  if (where != here || is_replacement() != (here < STARTER_BEFORE_SPAWN)) return;
  if (open(once, O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) kill(getpid(), SIGKILL);
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
  pass(BEFORE_INIT);
  const int code = PMPI_Init_thread(argc, argv, wanted, given);
  pass(BEHIND_INIT);
  return code;
}

int MPI_Comm_spawn(const char *program, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *inter, int codes[])
{
  pass(STARTER_BEFORE_SPAWN);
  const int code = PMPI_Comm_spawn(program, argv, count, info, root, comm, inter, codes);
  pass(STARTER_BEHIND_SPAWN);
  return code;
}

/* On a replacement process, and on the process that starts it, the first call of a round connects both; the others make no
 * such call. */
int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *merged)
{
  int local;
  MPI_Comm_size(inter, &local);
  const int code = PMPI_Intercomm_merge(inter, high, merged);
  static int merges;
  const bool is_bridge = high ? merges++ == 0 : local == 1;
  if (high) pass(is_bridge ? BEHIND_BRIDGE : BEHIND_WIDENING);
  int comm_rank = -1;
  if (code == MPI_SUCCESS) MPI_Comm_rank(*merged, &comm_rank);
  if (!high && comm_rank == 0) pass(is_bridge ? STARTER_BEHIND_BRIDGE : STARTER_BEHIND_WIDENING);
  return code;
}

/* ------------------------------------------------------------------------------------ the run */

static uint64_t rounds; /* equal on all; sent to a replacement process */

static gab_status compare(void)
{
  const gab_members *members = gab_world_members(world);
  uint64_t low[3], high[3], mine[3] = {gab_world_epoch(world), (uint64_t)gab_members_count(members), 0};
  for (gab_rank rank = 0; rank < members->ranks; rank++)
    mine[2] = mine[2] * 1000003u + (uint64_t)(gab_members_process(members, rank) + 1) * 101u +
              gab_members_incarnation(members, rank);
  memcpy(low, mine, sizeof mine);
  memcpy(high, mine, sizeof mine);
  GAB_TRY(gab_world_max_u64(world, &rounds, 1));
  GAB_TRY(gab_world_min_u64(world, low, 3));
  GAB_TRY(gab_world_max_u64(world, high, 3));
  REQUIRE(memcmp(low, high, sizeof low) == 0);
  return GAB_OK;
}

static gab_status one_round(void)
{
  const gab_rank me = gab_world_rank(world);
  const gab_incarnation mine = gab_world_incarnation(world, me);
  uint64_t sum = 1;
  uint32_t flags = 1;
  if (where != NOWHERE && rounds == 2 && mine == 0 && (me == 1 || (where == TWICE && me == 0)))
    kill(getpid(), SIGKILL);
  if (where == LATER && rounds == 5 && me == 1 && mine == 1) kill(getpid(), SIGKILL);
  GAB_TRY(gab_world_sum_u64(world, &sum, 1));
  REQUIRE(sum == (uint64_t)gab_members_count(gab_world_members(world)));
  GAB_TRY(gab_world_agree(world, &flags));
  rounds++;
  return GAB_OK;
}

static void play(gab_status status)
{
  gab_status abort_request;
  while (status != GAB_OK || rounds < 10) {
    if (status == GAB_OK) status = one_round();
    while (status != GAB_OK) {
      REQUIRE(status == GAB_ERR_FAULT);
      REQUIRE(gab_world_repair(world, &abort_request) == GAB_OK && abort_request == GAB_OK);
      status = compare();
    }
  }
}

static void check_end(gab_rank ranks)
{
  const gab_members *members = gab_world_members(world);
  uint64_t deaths = (uint64_t)members->gone_count;
  for (int32_t i = 0; i < members->return_count; i++) deaths += members->returns[i].incarnation;
  REQUIRE(members->ranks == ranks);
  REQUIRE(gab_members_count(members) == ranks - (where == AGAIN_AND_AGAIN));
  REQUIRE(deaths >= places[where].deaths); /* a replacement process counts once it was received */
}

int main(int argc, char **argv)
{
  gab_status abort_request;
  for (int i = 0; i < PLACES && argc < 2; i++) printf("%d %s\n", i, places[i].name);
  if (argc < 2) return 0;
  where = (place)(atoi(argv[1]) % PLACES);
  once = getenv("RESPAWN_ONCE");
  REQUIRE(gab_world_create(&argc, &argv, &world) == GAB_OK);
  const gab_rank ranks = gab_world_members(world)->ranks;
  uint64_t told =
      gab_world_is_root(world) ? 7 : 0; /* a replacement process gets the result of the others' set-up */
  REQUIRE(gab_world_max_u64(world, &told, 1) == GAB_OK && told == 7);
  REQUIRE(gab_world_why_no_respawn(world) == NULL);
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES | GAB_REPLACEMENT_RESPAWN);
  const bool is_new = is_replacement();
  if (where == AGAIN_AND_AGAIN && is_new) kill(getpid(), SIGKILL);
  pass(IN_SETUP);
  REQUIRE(gab_world_rest(world, &abort_request) == GAB_OK && abort_request == GAB_OK);
  pass(BEHIND_SETUP);
  play(is_new ? compare() : GAB_OK);
  check_end(ranks);
  const bool speaks = gab_world_is_root(world);
  REQUIRE(gab_world_dismiss(world, GAB_OK) == GAB_OK);
  REQUIRE(gab_report_completion(world, 0) ==
          0); /* a replacement process whose starter died may still wait in MPI_Init */
  gab_world_destroy(&world);
  if (speaks) puts("gabion-test: passed");
  return 0;
}
