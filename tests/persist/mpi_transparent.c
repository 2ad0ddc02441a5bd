/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=2 timeout=60 labels=quick */
/* Transparent mode stores and delivers. After opening again, messages not yet received come from the store, those already
 * received are not delivered when they are sent again, and all others are live; for any difference between the processes.
 */
#include "tests/persist/persist_test.h"

static void delivers(void)
{
  int value = 0, found[3] = {0}, flag = 0;
  MPI_Request requests[3];
  MPI_Status status;
  MPI_Comm p = open_key("delivers", "mode=transparent");
  if (rank == 0)
    for (int i = 0; i < 6; i++) put(p, 1, 1, i);
  else {
    CHECK(get(p, 0, 1) == 0);
    for (int i = 0; i < 2; i++)
      REQUIRE(MPI_Irecv(&found[i], 1, MPI_INT, 0, 1, p, &requests[i]) == MPI_SUCCESS);
    CHECK(failed_with(gab_persist_commit(p), GAB_PERSIST_REFUSED)); /* some receives are incomplete */
    CHECK(strstr(gab_persist_message(), "2 receives") != NULL);
    REQUIRE(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(found[0] == 1 && found[1] == 2);
    REQUIRE(MPI_Probe(0, 1, p, &status) == MPI_SUCCESS);
    CHECK(get(p, 0, 1) == 3);
    REQUIRE(MPI_Irecv(&value, 1, MPI_INT, 0, 1, p, &requests[0]) == MPI_SUCCESS);
    while (!flag) REQUIRE(MPI_Test(&requests[0], &flag, &status) == MPI_SUCCESS);
    CHECK(value == 4 && status.MPI_SOURCE == 0);
    CHECK(failed_with(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, p, &status), GAB_PERSIST_REFUSED));
    CHECK(failed_with(MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, p, &status), GAB_PERSIST_REFUSED));
    CHECK(get(p, 0, 1) == 5);
  }
  value = 10 + rank;
  REQUIRE(MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - rank, 2, 1 - rank, 2, p, &status) == MPI_SUCCESS);
  CHECK(value == 10 + 1 - rank);
  commit(p);
  discard(p);
}

/* Rank 0 commits after the message `sent`, rank 1 after the message `received`, of ten; then both start again. */
static void apart(int sent, int received)
{
  enum { ALL = 10 };
  MPI_Comm p = open_key("apart", "mode=transparent");
  for (int life = 0; life < 2; life++) {
    const int first = life == 0 ? 0 : rank == 0 ? sent : received;
    for (int i = first; i < ALL; i++) {
      if (rank == 0) put(p, 1, 1, 100 + i);
      else CHECK(get(p, 0, 1) == 100 + i);
      if (i + 1 == (rank == 0 ? sent : received) && life == 0) commit(p);
    }
    if (life == 1) break;
    p = again(p, "apart", "mode=transparent");
    CHECK(gab_failure() == (first < ALL && (rank == 0 ? sent : received) > 0));
  }
  MPI_Barrier(comm); /* no message is left: the next one is new */
  if (rank == 0) put(p, 1, 1, 7);
  else CHECK(get(p, 0, 1) == 7);
  discard(p);
}

static void too_shallow(void)
{
  MPI_Comm p = open_key("shallow", "mode=transparent depth=2");
  for (int i = 0; i < 4; i++)
    if (rank == 0) put(p, 1, 1, i);
  commit(p); /* rank 1 has received nothing */
  MPI_Barrier(comm);
  p = again(p, "shallow", "mode=transparent depth=2");
  int value;
  if (rank == 1) {
    CHECK(failed_with(MPI_Recv(&value, 1, MPI_INT, 0, 1, p, MPI_STATUS_IGNORE), GAB_PERSIST_LOST));
    CHECK(strstr(gab_persist_message(), "persist_depth") != NULL);
  }
  discard(p);
}

int main(int argc, char **argv)
{
  test_begin(&argc, &argv);
  delivers();
  for (int sent = 0; sent <= 10; sent += 5)
    for (int received = 0; received <= 10; received += 2) apart(sent, received);
  too_shallow();
  return test_finish();
}
