/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=2 timeout=60 labels=quick */
/* Types, requests, wrong sizes, and all refusals, with their messages. */
#include "tests/persist/persist_test.h"

#include <sys/resource.h>

static void derived_types(void)
{
  int matrix[4][5], column[4] = {0}, back[4][5];
  MPI_Datatype columns;
  MPI_Type_vector(4, 1, 5, MPI_INT, &columns);
  MPI_Type_commit(&columns);
  for (int i = 0; i < 20; i++) matrix[i / 5][i % 5] = i;
  MPI_Comm p = open_key("types", "depth=all");
  REQUIRE(MPI_Send(&matrix[0][2], 1, columns, rank, 1, p) == MPI_SUCCESS);
  REQUIRE(MPI_Send(column, 0, MPI_INT, rank, 2, p) == MPI_SUCCESS);
  REQUIRE(MPI_Send(&matrix[0][0], 3, MPI_INT, rank, 3, p) == MPI_SUCCESS); /* less than a column */
  REQUIRE(MPI_Send(&matrix[0][2], 1, columns, rank, 4, p) == MPI_SUCCESS);
  for (int i = 0; i < 4; i++) matrix[i][2] = -1; /* it was copied */
  commit(p);
  p = again(p, "types", "depth=all");
  MPI_Status status;
  int count = -1;
  REQUIRE(MPI_Recv(column, 4, MPI_INT, rank, 1, p, &status) == MPI_SUCCESS);
  CHECK(column[0] == 2 && column[1] == 7 && column[2] == 12 && column[3] == 17);
  CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 4);
  REQUIRE(MPI_Recv(column, 4, MPI_INT, rank, 2, p, &status) == MPI_SUCCESS);
  CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 0);
  memset(back, 0, sizeof back);
  REQUIRE(MPI_Recv(&back[0][1], 1, columns, rank, 3, p, &status) == MPI_SUCCESS);
  CHECK(back[0][1] == 0 && back[1][1] == 1 && back[2][1] == 2 && back[3][1] == 0);
  CHECK(MPI_Get_count(&status, columns, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
  CHECK(MPI_Get_elements(&status, columns, &count) == MPI_SUCCESS && count == 3);
  REQUIRE(MPI_Recv(&back[0][3], 1, columns, rank, 4, p, &status) == MPI_SUCCESS);
  CHECK(back[0][3] == 2 && back[3][3] == 17 && back[3][2] == 0);
  MPI_Type_free(&columns);
  discard(p);
}

/* The buffer is not changed, and the message remains for a buffer that is large enough. */
static void truncation(void)
{
  int values[4] = {1, 2, 3, 4}, small[3] = {-1, -1, -1}, large[8] = {0}, count = 0, flag = 0;
  MPI_Status status;
  MPI_Comm p = open_key("truncation", "");
  REQUIRE(MPI_Send(values, 4, MPI_INT, rank, 1, p) == MPI_SUCCESS);
  commit(p);
  p = again(p, "truncation", "");
  const int code = MPI_Recv(small, 3, MPI_INT, rank, 1, p, MPI_STATUS_IGNORE);
  int class = 0;
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_TRUNCATE && small[0] == -1);
  CHECK(strstr(gab_persist_message(), "16 bytes, the buffer takes 12") != NULL);
  REQUIRE(MPI_Probe(rank, MPI_ANY_TAG, p, &status) == MPI_SUCCESS);
  CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 4 && status.MPI_TAG == 1);
  REQUIRE(MPI_Iprobe(MPI_ANY_SOURCE, 1, p, &flag, &status) == MPI_SUCCESS);
  CHECK(flag && status.MPI_SOURCE == rank);
  REQUIRE(MPI_Recv(large, 8, MPI_INT, rank, 1, p, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(large[3] == 4 && large[4] == 0);
  REQUIRE(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(!flag);
  CHECK(failed_with(MPI_Probe(rank, 1, p, &status), GAB_PERSIST_NOTHING));
  discard(p);
}

static void requests(void)
{
  enum { COUNT = 5 };
  int values[COUNT], found[COUNT] = {0}, flag = 0, index = -1, count = 0;
  MPI_Request all[COUNT + 1];
  MPI_Status statuses[COUNT + 1];
  MPI_Comm p = open_key("requests", "depth=all");
  for (int i = 0; i < COUNT; i++) {
    values[i] = 10 * rank + i;
    REQUIRE((i % 2 ? MPI_Isend : MPI_Issend)(&values[i], 1, MPI_INT, 1 - rank, i, p, &all[i]) == MPI_SUCCESS);
    CHECK(all[i] != MPI_REQUEST_NULL);
  }
  REQUIRE(MPI_Isend(values, 1, MPI_INT, MPI_PROC_NULL, 0, p, &all[COUNT]) == MPI_SUCCESS);
  REQUIRE(MPI_Waitall(COUNT + 1, all, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(all[0] == MPI_REQUEST_NULL);
  REQUIRE(MPI_Sendrecv(values, 1, MPI_INT, 1 - rank, 77, found, 1, MPI_INT, MPI_PROC_NULL, 0, p, statuses) ==
          MPI_SUCCESS);
  commit(p);
  p = again(p, "requests", "depth=all");
  for (int i = 0; i < COUNT; i++)
    REQUIRE(MPI_Irecv(&found[i], 1, MPI_INT, i == 3 ? MPI_ANY_SOURCE : 1 - rank, i, p, &all[i]) ==
            MPI_SUCCESS);
  /* together with a request of another communicator */
  int other = -1;
  const int mine = 1000 + rank;
  REQUIRE(MPI_Irecv(&other, 1, MPI_INT, 1 - rank, 0, comm, &all[COUNT]) == MPI_SUCCESS);
  REQUIRE(MPI_Send(&mine, 1, MPI_INT, 1 - rank, 0, comm) == MPI_SUCCESS);
  REQUIRE(MPI_Wait(&all[0], &statuses[0]) == MPI_SUCCESS);
  CHECK(statuses[0].MPI_SOURCE == 1 - rank && statuses[0].MPI_TAG == 0);
  REQUIRE(MPI_Test(&all[1], &flag, &statuses[1]) == MPI_SUCCESS);
  CHECK(flag && statuses[1].MPI_TAG == 1);
  REQUIRE(MPI_Waitany(1, &all[2], &index, &statuses[2]) == MPI_SUCCESS);
  CHECK(index == 0 && MPI_Get_count(&statuses[2], MPI_INT, &count) == MPI_SUCCESS && count == 1);
  REQUIRE(MPI_Waitall(COUNT + 1, all, statuses) == MPI_SUCCESS);
  CHECK(statuses[3].MPI_SOURCE == 1 - rank && other == 1000 + 1 - rank);
  for (int i = 0; i < COUNT; i++) CHECK(found[i] == 10 * (1 - rank) + i);
  CHECK(get(p, 1 - rank, 77) == 10 * (1 - rank));
  CHECK(failed_with(MPI_Irecv(found, 1, MPI_INT, 1 - rank, 0, p, all), GAB_PERSIST_NOTHING));
  CHECK(all[0] == MPI_REQUEST_NULL);
  discard(p);
}

static void unsupported(void)
{
  int value = 0, counts[2] = {1, 1}, places[2] = {0, 1}, both[2];
  MPI_Comm p = open_key("unsupported", ""), other;
  MPI_Request request;
  MPI_Win window;
  CHECK(failed_with(MPI_Barrier(p), GAB_PERSIST_UNSUPPORTED));
  CHECK(strstr(gab_persist_message(), "MPI_Barrier") && strstr(gab_persist_message(), "unsupported"));
  CHECK(failed_with(MPI_Comm_dup(p, &other), GAB_PERSIST_UNSUPPORTED));
  CHECK(failed_with(MPI_Comm_split(p, 0, 0, &other), GAB_PERSIST_UNSUPPORTED));
  CHECK(failed_with(MPI_Send_init(&value, 1, MPI_INT, 0, 1, p, &request), GAB_PERSIST_UNSUPPORTED));
  CHECK(failed_with(MPI_Ibcast(&value, 1, MPI_INT, 0, p, &request), GAB_PERSIST_UNSUPPORTED));
  CHECK(failed_with(MPI_Gatherv(&value, 1, MPI_INT, both, counts, places, MPI_INT, 0, p),
                    GAB_PERSIST_UNSUPPORTED));
  CHECK(failed_with(MPI_Win_create(&value, 4, 4, MPI_INFO_NULL, p, &window), GAB_PERSIST_UNSUPPORTED));
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  CHECK(MPI_Error_string(MPI_Barrier(p), text, &length) == MPI_SUCCESS && strstr(text, "not supported"));
  int own = -1, all = -1; /* queries are passed to MPI */
  CHECK(MPI_Comm_rank(p, &own) == MPI_SUCCESS && own == rank);
  CHECK(MPI_Comm_size(p, &all) == MPI_SUCCESS && all == size);
  CHECK(failed_with(MPI_Send(&value, 1, MPI_INT, size, 1, p), GAB_PERSIST_REFUSED));
  CHECK(failed_with(MPI_Send(&value, 1, MPI_INT, 0, -5, p), GAB_PERSIST_REFUSED));
  CHECK(failed_with(MPI_Recv(&value, 1, MPI_INT, -7, 1, p, MPI_STATUS_IGNORE), GAB_PERSIST_REFUSED));
  discard(p);
}

static void expect_refused(const char *key, const char *settings, gab_persist_error error, const char *words)
{
  MPI_Comm p;
  CHECK(failed_with(open_with(comm, key, settings, &p), error));
  CHECK(p == MPI_COMM_NULL);
  if (!strstr(gab_persist_message(), words)) fprintf(stderr, "%s: %s\n", words, gab_persist_message());
  CHECK(strstr(gab_persist_message(), words) != NULL);
}

static void refused(void)
{
  expect_refused("", "", GAB_PERSIST_REFUSED, "1 to 200 characters");
  expect_refused("k", "dept=1", GAB_PERSIST_REFUSED, "persist_dept is unknown");
  expect_refused("k", "depth=0", GAB_PERSIST_REFUSED, "persist_depth");
  expect_refused("k", "depth=-1", GAB_PERSIST_REFUSED, "persist_depth");
  expect_refused("k", "store=tape", GAB_PERSIST_REFUSED, "tape");
  expect_refused("k", "commit=never", GAB_PERSIST_REFUSED, "never");
  expect_refused("k", "store=neighbour", GAB_PERSIST_REFUSED, "persist_commit = together");
  expect_refused("k", "copies=2", GAB_PERSIST_REFUSED, "persist_copies");
  expect_refused("k", "mode=transparent order=lifo", GAB_PERSIST_REFUSED, "lifo");
  expect_refused("k", "bytes=9000000000000000000", GAB_PERSIST_IO, "has space for");
  expect_refused("k", rank == 0 ? "depth=2" : "depth=3", GAB_PERSIST_REFUSED, "not the same on all");
  expect_refused(rank == 0 ? "k" : "l", "", GAB_PERSIST_REFUSED, "not the same on all");
  expect_refused("k", rank == 0 ? "depth=x" : "", GAB_PERSIST_REFUSED,
                 rank == 0 ? "info persist_depth" : "rank 0: info");

  MPI_Comm p = open_key("k", "commit=together");
  put(p, rank, 1, 5);
  commit(p);
  expect_refused("k", "commit=together", GAB_PERSIST_IN_USE, "in use");
  MPI_Comm_free(&p);
  expect_refused("k", "commit=self", GAB_PERSIST_REFUSED, "another persist_mode or persist_commit");
  MPI_Comm alone; /* another number of processes: rank 0 finds its file, rank 1 has another communicator */
  MPI_Comm_split(comm, rank, 0, &alone);
  MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  CHECK(rank != 0 || failed_with(open_with(alone, "k", "commit=together", &p), GAB_PERSIST_REFUSED));
  CHECK(rank != 0 || strstr(gab_persist_message(), "of 2 processes, these are 1") != NULL);
  MPI_Barrier(comm);
  MPI_Comm_free(&alone);
  p = open_key("k", "commit=together");
  CHECK(get(p, rank, 1) == 5);
  discard(p);
  CHECK(failed_with(gab_persist_commit(comm), GAB_PERSIST_REFUSED));
}

/* One damaged file: refused by all, and its owner reports the place. */
static void damaged(void)
{
  MPI_Comm p = open_key("damaged", "");
  for (int i = 0; i < 3; i++) {
    put(p, rank, 1, i);
    commit(p);
  }
  MPI_Comm_free(&p);
  MPI_Barrier(comm);
  char command[500];
  snprintf(
      command, sizeof command,
      "f=$(echo %s/persist-*/rank-1); printf 'x' | dd of=$f bs=1 seek=$(($(stat -c %%s $f) - 60)) conv=notrunc status=none",
      folder);
  if (rank == 0) REQUIRE(system(command) == 0);
  MPI_Barrier(comm);
  expect_refused("damaged", "", GAB_PERSIST_DAMAGED, rank == 1 ? "is damaged" : "rank 1: ");
  snprintf(command, sizeof command, "rm -r %s/persist-*", folder);
  if (rank == 0) REQUIRE(system(command) == 0);
  MPI_Barrier(comm);
}

/* The file of one process is missing while the other one has committed. */
static void lost(void)
{
  MPI_Comm p = open_key("lost", "");
  put(p, rank, 1, 1);
  commit(p);
  MPI_Comm_free(&p);
  MPI_Barrier(comm);
  char command[500];
  snprintf(command, sizeof command, "rm %s/persist-*/rank-1", folder);
  if (rank == 0) REQUIRE(system(command) == 0);
  MPI_Barrier(comm);
  expect_refused("lost", "", GAB_PERSIST_LOST, "rank 1");
  snprintf(command, sizeof command, "rm -r %s/persist-*", folder);
  if (rank == 0) REQUIRE(system(command) == 0);
  MPI_Barrier(comm);
}

/* The file of rank 1 cannot be written: a common commit fails on all, though rank 0 has stored its part, and all roll back;
 * or it is repeated, and is stored once. */
static void failed_commit(bool made_again)
{
  MPI_Comm p = open_key("failed", "commit=together");
  put(p, rank, 1, 1);
  commit(p);
  put(p, rank, 1, 2);
  struct rlimit limit, none;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  none = limit;
  none.rlim_cur = 1;
  signal(SIGXFSZ, SIG_IGN);
  if (rank == 1) REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  const int code = gab_persist_commit(p);
  if (rank == 1) REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(failed_with(code, GAB_PERSIST_IO));
  CHECK(strstr(gab_persist_message(), "cannot be written") != NULL);
  MPI_Barrier(comm);
  if (made_again) {
    put(p, rank, 2, 3);
    commit(p);
  }
  p = again(p, "failed", "commit=together");
  long long epoch = -1;
  CHECK(gab_persist_status(p, &epoch, 0, 0, NULL) == MPI_SUCCESS && epoch == (made_again ? 2 : 1));
  CHECK(get(p, rank, 1) == (made_again ? 2 : 1));
  CHECK(get(p, rank, 2) == (made_again ? 3 : -1));
  discard(p);
}

/* Rank 0 has the file of one run, rank 1 that of another one, with the same key and the same epoch. */
static void other_runs(void)
{
  char command[600];
  for (int run = 0; run < 2; run++) {
    MPI_Comm p = open_key("runs", "commit=together");
    put(p, rank, 1, run);
    commit(p);
    MPI_Comm_free(&p);
    MPI_Barrier(comm);
    snprintf(command, sizeof command, "cd %s && mv persist-* run%d", folder, run);
    if (rank == 0) REQUIRE(system(command) == 0);
    MPI_Barrier(comm);
  }
  snprintf(command, sizeof command,
           "cd %s && mkdir -m 700 both && cp run0/rank-0 both && cp run1/rank-1 both", folder);
  if (rank == 0) REQUIRE(system(command) == 0);
  MPI_Barrier(comm);
  MPI_Comm p = open_key("runs", "commit=together"); /* to get the name of its folder */
  MPI_Comm_free(&p);
  MPI_Barrier(comm);
  snprintf(command, sizeof command, "cd %s && name=$(ls -d persist-*) && rm -r $name && mv both $name",
           folder);
  if (rank == 0) REQUIRE(system(command) == 0);
  MPI_Barrier(comm);
  expect_refused("runs", "commit=together", GAB_PERSIST_REFUSED, "of different runs");
  snprintf(command, sizeof command, "cd %s && rm -r persist-* run0 run1", folder);
  if (rank == 0) REQUIRE(system(command) == 0);
  MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
  test_begin(&argc, &argv);
  derived_types();
  truncation();
  requests();
  unsupported();
  refused();
  damaged();
  lost();
  other_runs();
  failed_commit(false);
  failed_commit(true);
  return test_finish();
}
