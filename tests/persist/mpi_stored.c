/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=60 */
/* Messages sent through a persistent communicator are returned after it is opened again, in epochs, by signature and order. */
#include "tests/persist/persist_test.h"

/* Values of sender, target, tag and number are all different. */
static int value_of(int source, int target, int tag, int number)
{
  return ((source * 10 + target) * 10 + tag) * 1000 + number;
}

static void epochs_are_whole(void)
{
  const char *const settings = "store=file", *const key = "epochs";
  MPI_Comm p = open_key(key, settings);
  CHECK(!gab_failure());
  CHECK(get(p, rank, 1) == -1);
  put(p, rank, 1, 10);
  CHECK(get(p, rank, 1) == -1); /* stored, not delivered */
  p = again(p, key, settings);  /* nothing was committed */
  CHECK(!gab_failure());
  CHECK(get(p, rank, 1) == -1);
  put(p, rank, 1, 20);
  put(p, rank, 2, 21);
  commit(p);
  put(p, rank, 1, 30); /* of an epoch that is never committed */
  p = again(p, key, settings);
  CHECK(gab_failure());
  CHECK(get(p, rank, 2) == 21);
  CHECK(get(p, rank, 1) == 20);
  CHECK(get(p, rank, 1) == -1);
  long long epoch = -1;
  CHECK(gab_persist_status(p, &epoch, MPI_ANY_SOURCE, MPI_ANY_TAG, NULL) == MPI_SUCCESS && epoch == 1);
  put(p, rank, 1, 40); /* with the number of the message 30 */
  commit(p);
  commit(p); /* an epoch without messages */
  p = again(p, key, settings);
  CHECK(get(p, rank, 1) == 40);
  CHECK(get(p, rank, 2) == 21);
  CHECK(gab_persist_status(p, &epoch, MPI_ANY_SOURCE, MPI_ANY_TAG, NULL) == MPI_SUCCESS && epoch == 3);
  discard(p);
  CHECK(!gab_failure());
  p = open_key(key, settings); /* a new run */
  CHECK(!gab_failure());
  CHECK(get(p, rank, 1) == -1);
  discard(p);
}

static void each_has_its_own_epochs(void)
{
  MPI_Comm p = open_key("own epochs", "commit=self");
  for (int i = 1; i <= rank; i++) {
    put(p, rank, 1, i);
    commit(p);
  }
  p = again(p, "own epochs", "commit=self");
  CHECK(gab_failure() == (rank > 0));
  CHECK(get(p, rank, 1) == (rank > 0 ? rank : -1));
  discard(p);
}

/* A commit in which not all take part is void. */
static void common_epochs(void)
{
  const char *const settings = "commit=together depth=2";
  MPI_Comm p = open_key("common epochs", settings);
  put(p, (rank + 1) % size, 1, 100 + rank);
  commit(p);
  put(p, (rank + 1) % size, 1, 200 + rank);
  commit(p);
  put(p, (rank + 1) % size, 1, 300 + rank);
  p = again(p, "common epochs", settings);
  CHECK(gab_failure());
  const int before = (rank + size - 1) % size;
  CHECK(get(p, before, 1) == 100 + before);
  CHECK(get(p, before, 1) == 200 + before);
  CHECK(get(p, before, 1) == -1);
  discard(p);
}

static void each_send_is_an_epoch(void)
{
  MPI_Comm p = open_key("each", "commit=each");
  put(p, rank, 1, 10);
  put(p, rank, 2, 11);
  p = again(p, "each", "commit=each");
  CHECK(gab_failure());
  CHECK(get(p, rank, 1) == 10 && get(p, rank, 2) == 11);
  discard(p);
}

static void depth_and_order(const char *settings, int depth, bool lifo)
{
  MPI_Comm p = open_key("depth", settings);
  for (int number = 1; number <= 7; number++) {
    for (int target = 0; target < size; target++)
      for (int tag = 1; tag <= 2; tag++) put(p, target, tag, value_of(rank, target, tag, number));
    if (number == 4) commit(p);
  }
  commit(p);
  p = again(p, "depth", settings);
  for (int source = 0; source < size; source++)
    for (int tag = 2; tag >= 1; tag--) {
      long long waiting = -1;
      CHECK(gab_persist_status(p, NULL, source, tag, &waiting) == MPI_SUCCESS && waiting == depth);
      for (int i = 0; i < depth; i++)
        CHECK(get(p, source, tag) == value_of(source, rank, tag, lifo ? 7 - i : 7 - depth + 1 + i));
      CHECK(get(p, source, tag) == -1);
    }
  discard(p);
}

/* From a named source in the order of its sends; from any source by rank. */
static void wildcards(void)
{
  MPI_Comm p = open_key("wildcards", "depth=all");
  for (int target = 0; target < size; target++)
    for (int number = 1; number <= 3; number++)
      for (int tag = 3; tag >= 1; tag--) put(p, target, tag, value_of(rank, target, tag, number));
  commit(p);
  p = again(p, "wildcards", "depth=all");
  CHECK(get(p, MPI_ANY_SOURCE, 2) == value_of(0, rank, 2, 1));
  CHECK(get(p, size - 1, MPI_ANY_TAG) == value_of(size - 1, rank, 3, 1));
  const int next_tag = size == 1 ? 1 : 2;
  CHECK(get(p, size - 1, MPI_ANY_TAG) == value_of(size - 1, rank, next_tag, 1));
  int count = 3, last = -1;
  for (int value; (value = get(p, MPI_ANY_SOURCE, MPI_ANY_TAG)) != -1; count++) {
    CHECK(value / 10000 >= last); /* sources ascend */
    last = value / 10000;
  }
  CHECK(count == 9 * size);
  discard(p);
}

static void many_messages(void)
{
  enum { MANY = 10000 };
  MPI_Comm p = open_key("many", "depth=all");
  for (int i = 0; i < MANY; i++) {
    put(p, (rank + 1) % size, i % 7, i);
    if (i % 1000 == 999) commit(p);
  }
  p = again(p, "many", "depth=all");
  for (int i = 0; i < MANY; i++) REQUIRE(get(p, (rank + size - 1) % size, i % 7) == i);
  CHECK(get(p, MPI_ANY_SOURCE, MPI_ANY_TAG) == -1);
  discard(p);
  p = open_key("many", "depth=1"); /* tags instead of numbers, overwritten */
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < MANY; i++) put(p, rank, i, i + turn);
  commit(p);
  p = again(p, "many", "depth=1");
  for (int i = 0; i < MANY; i++) REQUIRE(get(p, rank, i) == i + 1);
  discard(p);
}

/* A file that has become large is rewritten with the same content. */
static void files_stay_small(void)
{
  enum { VALUES = 4096, COMMITS = 200 };
  static double values[VALUES], found[VALUES];
  MPI_Comm p = open_key("small", "sync=no");
  for (int i = 1; i <= COMMITS; i++) {
    for (int k = 0; k < VALUES; k++) values[k] = i + 1e-3 * k;
    REQUIRE(MPI_Send(values, VALUES, MPI_DOUBLE, rank, 1, p) == MPI_SUCCESS);
    commit(p);
  }
  char command[400];
  snprintf(command, sizeof command, "exit $(($(du -sk %s | cut -f1) > %d))", folder, 2048 * size);
  CHECK(system(command) == 0); /* without rewriting: 6.4 MB each */
  p = again(p, "small", "sync=no");
  REQUIRE(MPI_Recv(found, VALUES, MPI_DOUBLE, rank, 1, p, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(memcmp(values, found, sizeof values) == 0);
  discard(p);
}

int main(int argc, char **argv)
{
  test_begin(&argc, &argv);
  epochs_are_whole();
  each_has_its_own_epochs();
  common_epochs();
  each_send_is_an_epoch();
  depth_and_order("depth=1", 1, false);
  depth_and_order("depth=3", 3, false);
  depth_and_order("depth=3 order=lifo store=node sync=yes", 3, true);
  depth_and_order("depth=all", 7, false);
  wildcards();
  many_messages();
  files_stay_small();
  return test_finish();
}
