/* SPDX-License-Identifier: Apache-2.0 */
/* Global restart behind one call: the listing of Reinit++ (Georgakoudis et al. 2020, figure 2, put right: argc and argv as
 * they are, a checkpoint that all load alike), with processes killed at every place; all end with the undisturbed sum, or
 * with the same error. For script_reinit.sh: helper_reinit SCENARIO FILE runs it; without an argument it lists names,
 * ranks, spares and exit codes. FILE signals that another process waits. */
#include "core/messages/collective.h"
#include "resilience/checkpoint/checkpoint.h"
#include "resilience/recovery/reinit.h"
#include "resilience/reports/completion.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                                   \
  do {                                                                                                       \
    if (!(condition)) give_up(#condition, __LINE__);                                                         \
  } while (0)

enum { STEPS = 12, MOST_DEATHS = 8, MOST_SPARES = 4, BUSY = 0, WAITS = 2 };

/* Deaths: a rank in one of its incarnations; a spare by its number, killed by rank 0 in that step. */
typedef enum place {
  AT_REST,
  IN_COMPUTING,
  BEFORE_CHECKPOINT,
  ENTERING,
  RESTORING,
  RETURNED,
  BEFORE_ALL_CALLED
} place;
typedef struct death {
  gab_rank rank;
  gab_incarnation incarnation;
  place where;
  int step;
} death;

/* IS_BUSY: a survivor computes for a second while another one waits in the repair. TWICE: gab_reinit() is called again
 * after its return; the second death is in that call. */
typedef enum play_mode { FULL_SIZE = 0, SHRINKS = 1, RESPAWNS = 2, TWICE = 4, IS_BUSY = 8 } play_mode;

typedef struct scenario {
  const char *name;
  int ranks, spares;
  play_mode mode;
  gab_status ends;
  death deaths[MOST_DEATHS];
} scenario;

static gab_world *world;
static gab_comm *comm;
static const scenario *play;
static int cleaned, calls, round_of_play;
static const char *file;
static bool was_spare;
static uint64_t spare_pids[MOST_SPARES];

static void give_up(const char *what, int line)
{
  printf("helper_reinit (%s): process %d, rank %d, line %d: wrong: %s (%s)\n", play->name,
         (int)gab_world_process(world), (int)gab_world_rank(world), line, what, gab_error_message());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void pass(place where, int step)
{
  const gab_rank me = gab_world_rank(world);
  for (int i = 0; i < MOST_DEATHS && play->deaths[i].step >= 0; i++) {
    const death *d = &play->deaths[i];
    if ((play->mode & TWICE) && i != round_of_play) continue;
    if (d->rank == me && d->incarnation == gab_world_incarnation(world, me) && d->where == where &&
        d->step == step)
      kill(getpid(), SIGKILL);
  }
}

/* Rank 0 kills an idle spare, and continues when it is dead. No other process detects it. */
static void lose_spares(int step)
{
  for (int i = 0; i < MOST_DEATHS && play->deaths[i].step >= 0; i++) {
    const death *d = &play->deaths[i];
    if (d->where != AT_REST || d->step != step || gab_world_rank(world) != 0 || !spare_pids[d->rank])
      continue;
    const pid_t pid = (pid_t)spare_pids[d->rank];
    spare_pids[d->rank] = 0;
    for (kill(pid, SIGKILL); kill(pid, 0) == 0;) usleep(1000);
    usleep(200000); /* the other idle spares poll meanwhile */
  }
}

/* It enters the repair a second after the other one. */
static void compute_for_long(int step)
{
  if (!(play->mode & IS_BUSY) || gab_world_rank(world) != BUSY || step != play->deaths[0].step || calls > 1)
    return;
  while (access(file, F_OK) != 0) nanosleep(&(struct timespec){0, 2000000}, NULL);
  sleep(1);
}

static void on_phase(void *user, gab_world *w, gab_fault_point phase)
{
  (void)user;
  if (phase != GAB_FAULT_POINT_REPAIR || !(play->mode & IS_BUSY) || gab_world_rank(w) != WAITS) return;
  const int made = open(file, O_CREAT | O_WRONLY, 0600);
  if (made >= 0) close(made);
}

/* ------------------------------------------------------------------------------------ the application */

typedef struct application {
  int step;
  uint64_t value; /* of this rank */
  gab_forest *forest;
  gab_checkpoint *checkpoint;
  gab_reinit_state last;
} application;

static gab_status pack(void *user, gab_buffer *out)
{
  const application *app = user;
  GAB_TRY(gab_put_i32(out, app->step));
  return gab_put_u64(out, app->value);
}

static gab_status unpack(void *user, gab_reader *in)
{
  application *app = user;
  int32_t step;
  GAB_TRY(gab_get_i32(in, &step));
  app->step = step;
  return gab_get_u64(in, &app->value);
}

/* A survivor that adopts adds the value, so that the sum over all is unchanged. */
static gab_status adopt(void *user, gab_rank dead, gab_reader *in)
{
  application *app = user;
  int32_t step;
  uint64_t value;
  (void)dead;
  GAB_TRY(gab_get_i32(in, &step));
  GAB_TRY(gab_get_u64(in, &value));
  app->value += value;
  return GAB_OK;
}

static void count_cleanup(void *user)
{
  REQUIRE(cleaned % 2 == *(int *)user); /* in reverse order */
  cleaned++;
}

/* Step of an ordinary MPI program: a ring, on the communicator of the application. */
static gab_status compute(application *app)
{
  int comm_rank, size;
  uint64_t mine = app->value, theirs = 0;
  MPI_Comm_rank(gab_comm_mpi(comm), &comm_rank);
  MPI_Comm_size(gab_comm_mpi(comm), &size);
  pass(IN_COMPUTING, app->step);
  lose_spares(app->step);
  compute_for_long(app->step);
  MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (comm_rank + 1) % size, 0, &theirs, 1, MPI_UINT64_T,
               (comm_rank + size - 1) % size, 0, gab_comm_mpi(comm), MPI_STATUS_IGNORE);
  GAB_TRY(gab_reinit_test(world)); /* received data is garbage after a fault */
  app->value = (mine & 0xffffffffu) + 3 * (theirs & 0xffffffffu) + (uint64_t)app->step;
  app->step++;
  return GAB_OK;
}

static gab_status foo(gab_world *w, int argc, char **argv, gab_reinit_state state, void *user)
{
  static int first = 1, second = 0;
  application *app = user;
  (void)argc, (void)argv;
  calls++;
  app->last = state;
  REQUIRE(w == world && !gab_world_is_spare(world));
  REQUIRE(state == (calls > 1 ? GAB_REINIT_REINITED : was_spare ? GAB_REINIT_RESTARTED : GAB_REINIT_NEW));
  if ((play->mode & IS_BUSY) && state == GAB_REINIT_REINITED && gab_world_rank(w) == WAITS)
    REQUIRE(gab_world_repair_times(w).waited > 0.5); /* of the second that it has waited at least */
  pass(ENTERING, app->step);
  REQUIRE(gab_reinit(w, argc, argv, foo, user) == GAB_ERR_STATE);
  GAB_TRY(gab_reinit_add_cleanup(world, count_cleanup, &first));
  GAB_TRY(gab_reinit_add_cleanup(world, count_cleanup, &second));
  /* The state says nothing about data: a checkpoint exists because one is taken in the first call. */
  if (state == GAB_REINIT_NEW) GAB_TRY(gab_checkpoint_take(app->checkpoint, 0));
  gab_restore_report report;
  if (state != GAB_REINIT_NEW) GAB_TRY(gab_checkpoint_restore(app->checkpoint, &report));
  if (state != GAB_REINIT_NEW) pass(RESTORING, app->step);
  if (state != GAB_REINIT_NEW)
    GAB_TRY(gab_checkpoint_take(app->checkpoint, app->step)); /* renews the copies */
  while (app->step < STEPS) {
    GAB_TRY(compute(app));
    pass(BEFORE_CHECKPOINT, app->step);
    GAB_TRY(gab_checkpoint_take(app->checkpoint, app->step));
  }
  pass(RETURNED, app->step);
  return GAB_OK;
}

static gab_status fail_on_the_last(gab_world *w, int argc, char **argv, gab_reinit_state state, void *user)
{
  (void)argc, (void)argv, (void)state, (void)user;
  if (gab_world_rank(w) == gab_world_members(w)->ranks - 1)
    GAB_FAIL(GAB_ERR_INPUT, "this one does not like it");
  return gab_world_barrier(w);
}

/* Result of an undisturbed run, computed by one process. */
static uint64_t expected_sum(int ranks)
{
  uint64_t now[64], next[64], sum = 0;
  for (int i = 0; i < ranks; i++) now[i] = (uint64_t)i + 1;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < ranks; i++)
      next[i] = (now[i] & 0xffffffffu) + 3 * (now[(i + ranks - 1) % ranks] & 0xffffffffu) + (uint64_t)step;
    memcpy(now, next, sizeof now);
  }
  for (int i = 0; i < ranks; i++) sum += now[i];
  return sum;
}

/* ------------------------------------------------------------------------------------ scenarios */

#define NOBODY                                                                                               \
  {                                                                                                          \
    .step = -1                                                                                               \
  }
/* Copies are half the ring away. */
static const scenario scenarios[] = {
    {"nobody", 2, 1, FULL_SIZE, GAB_OK, {NOBODY}},
    {"computing", 2, 1, FULL_SIZE, GAB_OK, {{1, 0, IN_COMPUTING, 5}, NOBODY}},
    {"the root", 2, 1, FULL_SIZE, GAB_OK, {{0, 0, IN_COMPUTING, 5}, NOBODY}},
    {"checkpoint", 2, 1, FULL_SIZE, GAB_OK, {{1, 0, BEFORE_CHECKPOINT, 7}, NOBODY}},
    {"some have returned", 2, 1, FULL_SIZE, GAB_OK, {{1, 0, RETURNED, STEPS}, NOBODY}},
    {"no spare left",
     3,
     1,
     FULL_SIZE,
     GAB_ERR_LOST,
     {{1, 0, IN_COMPUTING, 5}, {1, 1, IN_COMPUTING, 8}, NOBODY}},
    {"no spare at all", 3, 0, FULL_SIZE, GAB_ERR_LOST, {{1, 0, IN_COMPUTING, 5}, NOBODY}},
    {"shrinking", 3, 0, SHRINKS, GAB_OK, {{1, 0, RETURNED, STEPS}, NOBODY}},
    {"before all have called", 3, 1, FULL_SIZE, GAB_ERR_AGAIN, {{1, 0, BEFORE_ALL_CALLED, 0}, NOBODY}},
    {"before all have called, without spares",
     3,
     0,
     FULL_SIZE,
     GAB_ERR_AGAIN,
     {{1, 0, BEFORE_ALL_CALLED, 0}, NOBODY}},
    {"an error of one", 3, 1, FULL_SIZE, GAB_ERR_INPUT, {NOBODY}},
    {"two in turn", 4, 2, FULL_SIZE, GAB_OK, {{1, 0, IN_COMPUTING, 3}, {2, 0, BEFORE_CHECKPOINT, 8}, NOBODY}},
    {"who took over", 4, 2, FULL_SIZE, GAB_OK, {{1, 0, IN_COMPUTING, 3}, {1, 1, IN_COMPUTING, 8}, NOBODY}},
    {"who takes over", 4, 2, FULL_SIZE, GAB_OK, {{1, 0, IN_COMPUTING, 3}, {1, 1, ENTERING, 0}, NOBODY}},
    {"while restoring", 4, 2, FULL_SIZE, GAB_OK, {{1, 0, IN_COMPUTING, 3}, {1, 1, RESTORING, 3}, NOBODY}},
    {"another one while restoring",
     4,
     2,
     FULL_SIZE,
     GAB_OK,
     {{1, 0, IN_COMPUTING, 3}, {2, 0, RESTORING, 3}, NOBODY}},
    {"two at once", 4, 2, FULL_SIZE, GAB_OK, {{0, 0, IN_COMPUTING, 6}, {1, 0, IN_COMPUTING, 6}, NOBODY}},
    {"respawned", 2, 0, RESPAWNS, GAB_OK, {{1, 0, IN_COMPUTING, 5}, NOBODY}},
    {"the root, respawned", 3, 0, RESPAWNS, GAB_OK, {{0, 0, BEFORE_CHECKPOINT, 7}, NOBODY}},
    {"respawned when some have returned", 3, 0, RESPAWNS, GAB_OK, {{1, 0, RETURNED, STEPS}, NOBODY}},
    {"respawned, and again",
     3,
     0,
     RESPAWNS,
     GAB_OK,
     {{1, 0, IN_COMPUTING, 3}, {1, 1, IN_COMPUTING, 8}, NOBODY}},
    {"respawned, while restoring",
     4,
     0,
     RESPAWNS,
     GAB_OK,
     {{1, 0, IN_COMPUTING, 3}, {1, 1, RESTORING, 3}, {2, 0, IN_COMPUTING, 7}, NOBODY}},
    {"two respawned at once",
     4,
     0,
     RESPAWNS,
     GAB_OK,
     {{0, 0, IN_COMPUTING, 6}, {1, 0, IN_COMPUTING, 6}, NOBODY}},
    {"before all have called, with respawning",
     3,
     0,
     RESPAWNS,
     GAB_ERR_AGAIN,
     {{1, 0, BEFORE_ALL_CALLED, 0}, NOBODY}},
    {"a spare first, then respawned",
     3,
     1,
     RESPAWNS,
     GAB_OK,
     {{1, 0, IN_COMPUTING, 3}, {2, 0, IN_COMPUTING, 8}, NOBODY}},
    {"an idle spare", 2, 2, FULL_SIZE, GAB_OK, {{0, 0, AT_REST, 3}, NOBODY}},
    {"an idle spare, and who needs another one",
     3,
     2,
     FULL_SIZE,
     GAB_OK,
     {{0, 0, AT_REST, 3}, {1, 0, IN_COMPUTING, 6}, NOBODY}},
    {"the last idle spare, and who needs it",
     3,
     1,
     FULL_SIZE,
     GAB_ERR_LOST,
     {{0, 0, AT_REST, 3}, {1, 0, IN_COMPUTING, 6}, NOBODY}},
    {"all that run a rank, whose checkpoints die with them",
     2,
     2,
     FULL_SIZE,
     GAB_ERR_LOST,
     {{0, 0, IN_COMPUTING, 5}, {1, 0, IN_COMPUTING, 5}, NOBODY}},
    {"twice", 3, 2, FULL_SIZE, GAB_OK, {{1, 0, IN_COMPUTING, 5}, {1, 1, BEFORE_CHECKPOINT, 8}, NOBODY}},
    {"a survivor is busy", 3, 1, IS_BUSY, GAB_OK, {{1, 0, IN_COMPUTING, 5}, NOBODY}},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* Number of deaths of active processes until the end of this round. */
static uint64_t deaths_meant(void)
{
  uint64_t meant = 0;
  for (int i = 0; i < MOST_DEATHS && play->deaths[i].step >= 0; i++) {
    const bool later = (play->mode & TWICE) && i > round_of_play;
    meant += play->deaths[i].where != AT_REST && !later;
  }
  return meant;
}

static void tell_pids(int ranks)
{
  const gab_process process = gab_world_process(world) - ranks;
  if (play->deaths[0].where != AT_REST) return;
  if (process >= 0 && process < MOST_SPARES) spare_pids[process] = (uint64_t)getpid();
  REQUIRE(gab_world_max_u64(world, spare_pids, MOST_SPARES) == GAB_OK);
}

/* One complete gab_reinit(). */
static gab_status play_round(int argc, char **argv, application *app)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  calls = cleaned = 0;
  was_spare = gab_world_is_spare(world);
  app->value = (uint64_t)gab_world_rank(world) + 1;
  app->step = 0;
  const gab_status status =
      gab_reinit(world, argc, argv, play->ends == GAB_ERR_INPUT ? fail_on_the_last : foo, app);
  uint64_t deaths = (uint64_t)gab_world_members(world)->gone_count;
  for (int32_t i = 0; i < gab_world_members(world)->return_count; i++)
    deaths += gab_world_members(world)->returns[i].incarnation;
  REQUIRE(deaths == deaths_meant()); /* no other process died */
  if (status == GAB_OK) {
    uint64_t sum = gab_world_is_spare(world) ? 0 : app->value;
    REQUIRE(gab_world_sum_u64(world, &sum, 1) == GAB_OK);
    REQUIRE(sum == expected_sum(ranks));
    REQUIRE((play->mode & SHRINKS) || gab_members_count(gab_world_members(world)) == ranks);
    if (deaths_meant() == 0) REQUIRE(calls == !was_spare); /* the death of an idle spare was not detected */
    if (calls > 1) REQUIRE(app->last == GAB_REINIT_REINITED && cleaned == 2 * (calls - 1));
  }
  return status;
}

static int play_scenario(int *argc, char ***argv)
{
  application app = {.value = 0};
  REQUIRE(gab_world_create(argc, argv, &world) == GAB_OK);
  gab_world_set_fault_point_hook(world, on_phase, NULL);
  const gab_rank ranks = gab_world_members(world)->ranks;
  REQUIRE(ranks == play->ranks && gab_world_spares(world) == play->spares);
  tell_pids(ranks);
  REQUIRE(gab_world_dup(world, &comm) == GAB_OK);
  const gab_forest_options options = {
      .grid = {.dimension = 2, .roots = {1, 1, 1}}, .cells = {4, 4, 1}, .dx = 1};
  REQUIRE(gab_forest_create(world, &options, &app.forest) ==
          GAB_OK); /* without blocks: only entities survive */
  REQUIRE(gab_checkpoint_create(app.forest, &(gab_redundancy){.scheme = NULL}, &app.checkpoint) == GAB_OK);
  const gab_entity entity = {.name = "value",
                             .kind = GAB_ENTITY_PER_RANK,
                             .user = &app,
                             .pack = pack,
                             .unpack = unpack,
                             .adopt = adopt};
  REQUIRE(gab_checkpoint_add_entity(app.checkpoint, &entity) == GAB_OK);
  pass(BEFORE_ALL_CALLED, 0);
  gab_reinit_allow_shrinking(world, play->mode & SHRINKS);
  REQUIRE(gab_reinit_allow_respawning(world, play->mode & RESPAWNS) == GAB_OK);
  gab_status status = GAB_OK;
  for (; round_of_play < (play->mode & TWICE ? 2 : 1); round_of_play++) {
    status = play_round(*argc, *argv, &app);
    REQUIRE(status == play->ends); /* on spares too */
  }
  REQUIRE(gab_reinit_add_cleanup(world, count_cleanup, NULL) == GAB_ERR_STATE);
  if (status == GAB_OK && (play->mode & RESPAWNS)) { /* a respawned process could not get here */
    REQUIRE(gab_reinit_allow_respawning(world, true) == GAB_ERR_STATE);
    REQUIRE(gab_reinit(world, *argc, *argv, foo, &app) == GAB_ERR_STATE);
    REQUIRE(strstr(gab_error_message(), "cannot be respawned"));
  }
  gab_checkpoint_destroy(&app.checkpoint);
  gab_forest_destroy(&app.forest);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  REQUIRE(code == gab_status_exit_code(play->ends));
  REQUIRE(gab_world_barrier(world) == GAB_OK); /* all have checked before one prints it */
  if (gab_world_is_root(world)) puts("gabion-test: passed");
  fflush(stdout);
  gab_world_destroy(&world);
  return code;
}

int main(int argc, char **argv)
{
  for (int i = 0; i < SCENARIOS && argc < 3; i++)
    printf("%d %d %d %d %s\n", i, scenarios[i].ranks, scenarios[i].spares,
           gab_status_exit_code(scenarios[i].ends), scenarios[i].name);
  if (argc < 3) return 0;
  play = &scenarios[atoi(argv[1]) % SCENARIOS];
  file = argv[2];
  return play_scenario(&argc, &argv);
}
