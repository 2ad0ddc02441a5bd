/* SPDX-License-Identifier: Apache-2.0 */
/* A small computation on a ring in which processes die, for tests of deaths in the job: each rank has a number, which is
 * combined with that of its neighbour at every step. Spares replace dead processes. */
#ifndef GABION_TESTS_PERSIST_DEATHS_H
#define GABION_TESTS_PERSIST_DEATHS_H

#include "core/messages/collective.h"
#include "resilience/persist/persist.h"
#include "tests/mpi_test.h"

#include <sys/time.h>

enum { STEPS = 200 };

static gab_world *world;
static gab_comm *shared;
static MPI_Comm comm, persistent = MPI_COMM_NULL;
static int comm_rank, size;
static char folder[300];
static bool was_called; /* this process was a spare */
static uint64_t doomed; /* bits: processes that must die */

static inline uint64_t mixed(uint64_t value, uint64_t neighbour)
{
  return (value * 6364136223846793005u + neighbour) ^ (value >> 7);
}

/* The undisturbed result of a rank. */
static inline uint64_t undisturbed(int rank)
{
  uint64_t value[16], next[16];
  for (int i = 0; i < size; i++) value[i] = 1000 + (uint64_t)i;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < size; i++) next[i] = mixed(value[i], value[(i + size - 1) % size]);
    memcpy(value, next, sizeof value);
  }
  return value[rank];
}

static void refresh(void)
{
  comm = gab_comm_mpi(shared);
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &size);
}

/* Everything until the spares idle. @return false on a spare that was not needed */
static bool deaths_begin(int *argc, char ***argv, const char *spares)
{
  setenv("GABION_SPARES", spares, 1);
  REQUIRE_OK(gab_world_create(argc, argv, &world));
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  REQUIRE_OK(gab_world_dup(world, &shared));
  snprintf(folder, sizeof folder, "/tmp/gabion-persist-test-XXXXXX");
  if (gab_world_is_root(world)) REQUIRE(mkdtemp(folder) != NULL);
  gab_buffer name = {0};
  REQUIRE_OK(gab_put_string(&name, folder));
  REQUIRE_OK(gab_world_broadcast(world, 0, &name));
  gab_reader reader = gab_reader_of_buffer(&name);
  REQUIRE_OK(gab_get_string(&reader, folder, sizeof folder));
  gab_buffer_release(&name);
  const bool was_spare = gab_world_is_spare(world);
  gab_status abort_request;
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
  if (gab_world_is_spare(world)) return false;
  was_called = was_spare;
  refresh();
  return true;
}

static int deaths_end(bool active)
{
  if (active) REQUIRE_OK(gab_world_max_u64(world, &doomed, 1));
  if (active && gab_world_is_root(world)) {
    char command[400];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
  }
  REQUIRE_OK(gab_world_dismiss(world, GAB_OK));
  REQUIRE_OK(gab_world_max_u64(world, &doomed, 1)); /* spares need it, too */
  for (int process = 0; process < 64; process++)
    if (doomed >> process & 1) test_doom(process);
  return test_end(&world);
}

/* Opens the key, again after further deaths, until it is open or refused. @return reason of the refusal */
static gab_persist_error deaths_open(const char *settings)
{
  int code;
  do {
    gab_status abort_request;
    while (gab_world_check(world) != GAB_OK)
      REQUIRE(gab_world_repair(world, &abort_request) == GAB_OK && abort_request == GAB_OK);
    refresh();
    char copy[400], *rest = copy;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "persist_folder", folder);
    MPI_Info_set(info, "persist_node_folder", folder);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
      char name[64], *value = strchr(word, '=');
      *value = '\0';
      snprintf(name, sizeof name, "persist_%s", word);
      MPI_Info_set(info, name, value + 1);
    }
    code = MPIX_Comm_persist(comm, "deaths", info, &persistent);
    MPI_Info_free(&info);
  } while (code != MPI_SUCCESS && gab_world_check(world) != GAB_OK);
  return gab_persist_error_of(code);
}

static void die(int signal_number)
{
  (void)signal_number;
  kill(getpid(), SIGKILL);
}

/* This process dies soon, at any place. */
static inline void die_within(long microseconds)
{
  signal(SIGALRM, die);
  const struct itimerval when = {.it_value = {microseconds / 1000000, microseconds % 1000000 + 1}};
  setitimer(ITIMER_REAL, &when, NULL);
}

#endif
