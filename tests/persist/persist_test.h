/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the tests of persistent communicators: a world with a communicator whose errors return, a folder,
 * and opening a key with a line of settings. Closing a key and opening it again corresponds to a restarted job. */
#ifndef GABION_TESTS_PERSIST_TEST_H
#define GABION_TESTS_PERSIST_TEST_H

#include "resilience/persist/persist.h"
#include "tests/mpi_test.h"

static gab_world *world;
static gab_comm *shared;
static MPI_Comm comm;
static int rank, size;
static char folder[300];

static void test_begin(int *argc, char ***argv)
{
  REQUIRE_OK(gab_world_create(argc, argv, &world));
  REQUIRE_OK(gab_world_dup(world, &shared));
  comm = gab_comm_mpi(shared);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const char *place = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  snprintf(folder, sizeof folder, "%s/gabion-persist-test-XXXXXX", place);
  if (rank == 0) REQUIRE(mkdtemp(folder) != NULL);
  REQUIRE(MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, comm) == MPI_SUCCESS);
}

/* Everything was discarded: the folder is empty. */
static int test_finish(void)
{
  MPI_Barrier(comm);
  if (rank == 0) CHECK(rmdir(folder) == 0);
  return test_end(&world);
}

/* "depth=2 order=lifo": keys without persist_; the folder is set. */
static int open_with(MPI_Comm from, const char *key, const char *settings, MPI_Comm *persistent)
{
  char copy[400], *rest = copy;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_folder", folder);
  MPI_Info_set(info, "persist_node_folder", folder);
  snprintf(copy, sizeof copy, "%s", settings);
  for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
    char name[64] = "persist_", *value = strchr(word, '=');
    *value = '\0';
    snprintf(name, sizeof name, "persist_%s", word);
    MPI_Info_set(info, name, value + 1);
  }
  const int code = MPIX_Comm_persist(from, key, info, persistent);
  MPI_Info_free(&info);
  return code;
}

static MPI_Comm open_key(const char *key, const char *settings)
{
  MPI_Comm persistent;
  REQUIRE(open_with(comm, key, settings, &persistent) == MPI_SUCCESS);
  return persistent;
}

/* As in a job that ends and is restarted. */
static MPI_Comm again(MPI_Comm persistent, const char *key, const char *settings)
{
  REQUIRE(MPI_Comm_free(&persistent) == MPI_SUCCESS && persistent == MPI_COMM_NULL);
  REQUIRE(!gab_failure());
  return open_key(key, settings);
}

static void discard(MPI_Comm persistent)
{
  REQUIRE(gab_persist_discard(&persistent) == MPI_SUCCESS && persistent == MPI_COMM_NULL);
}

static inline void put(MPI_Comm persistent, int target, int tag, int value)
{
  REQUIRE(MPI_Send(&value, 1, MPI_INT, target, tag, persistent) == MPI_SUCCESS);
}

/* The value, or -1 if nothing is stored. */
static inline int get(MPI_Comm persistent, int source, int tag)
{
  int value = -2, count = 0;
  MPI_Status status;
  const int code = MPI_Recv(&value, 1, MPI_INT, source, tag, persistent, &status);
  if (gab_persist_error_of(code) == GAB_PERSIST_NOTHING) return -1;
  REQUIRE(code == MPI_SUCCESS);
  REQUIRE(source == MPI_ANY_SOURCE || status.MPI_SOURCE == source);
  REQUIRE(tag == MPI_ANY_TAG || status.MPI_TAG == tag);
  REQUIRE(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 1);
  return value;
}

static inline void commit(MPI_Comm persistent) { REQUIRE(gab_persist_commit(persistent) == MPI_SUCCESS); }

static inline bool failed_with(int code, gab_persist_error error)
{
  return gab_persist_error_of(code) == error;
}

#endif
