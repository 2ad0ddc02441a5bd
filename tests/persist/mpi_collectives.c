/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=60 */
/* Collective operations store the contribution of each process, and return what all would have received; or also deliver
 * it. */
#include "tests/persist/persist_test.h"

enum { COUNT = 3 };

static int part(int source, int target, int turn, int k)
{
  return ((turn * 10 + source) * 10 + target) * 10 + k;
}

/* a op b = a + 1000003 b mod a prime: order matters. */
static void in_order(void *in, void *inout, int *count, MPI_Datatype *type)
{
  (void)type;
  const long long *a = in;
  long long *b = inout;
  for (int i = 0; i < *count; i++) b[i] = (a[i] + 1000003 * b[i]) % 2147483629;
}

/* One round of all operations. `checks': verifies the results. */
static void round_of_all(MPI_Comm p, int turn, bool checks, MPI_Op op)
{
  const int root = turn % size;
  int one[COUNT], all[4 * COUNT], mine[4 * COUNT];
  long long number[2] = {rank + 1, turn}, sum[2] = {-1, -1};
  for (int k = 0; k < COUNT; k++) one[k] = rank == root ? part(root, 0, turn, k) : -1;
  REQUIRE(MPI_Bcast(one, COUNT, MPI_INT, root, p) == MPI_SUCCESS);
  for (int k = 0; checks && k < COUNT; k++) CHECK(one[k] == part(root, 0, turn, k));

  for (int k = 0; k < COUNT; k++) one[k] = part(rank, 1, turn, k);
  memset(all, -1, sizeof all);
  REQUIRE(MPI_Gather(one, COUNT, MPI_INT, all, COUNT, MPI_INT, root, p) == MPI_SUCCESS);
  for (int i = 0; checks && rank == root && i < size * COUNT; i++)
    CHECK(all[i] == part(i / COUNT, 1, turn, i % COUNT));

  memset(all, -1, sizeof all);
  REQUIRE(MPI_Allgather(one, COUNT, MPI_INT, all, COUNT, MPI_INT, p) == MPI_SUCCESS);
  for (int i = 0; checks && i < size * COUNT; i++) CHECK(all[i] == part(i / COUNT, 1, turn, i % COUNT));
  memset(all, -1, sizeof all);
  memcpy(&all[rank * COUNT], one, sizeof one);
  REQUIRE(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, COUNT, MPI_INT, p) == MPI_SUCCESS);
  for (int i = 0; checks && i < size * COUNT; i++) CHECK(all[i] == part(i / COUNT, 1, turn, i % COUNT));
  REQUIRE(MPI_Gather(rank == root ? MPI_IN_PLACE : (void *)one, COUNT, MPI_INT, all, COUNT, MPI_INT, root,
                     p) == MPI_SUCCESS);
  for (int i = 0; checks && rank == root && i < size * COUNT; i++)
    CHECK(all[i] == part(i / COUNT, 1, turn, i % COUNT));

  for (int i = 0; i < size * COUNT; i++) mine[i] = part(rank, i / COUNT, turn, i % COUNT);
  memset(all, -1, sizeof all);
  REQUIRE(MPI_Alltoall(mine, COUNT, MPI_INT, all, COUNT, MPI_INT, p) == MPI_SUCCESS);
  for (int i = 0; checks && i < size * COUNT; i++) CHECK(all[i] == part(i / COUNT, rank, turn, i % COUNT));
  memset(one, -1, sizeof one);
  REQUIRE(MPI_Scatter(mine, COUNT, MPI_INT, one, COUNT, MPI_INT, root, p) == MPI_SUCCESS);
  for (int k = 0; checks && k < COUNT; k++) CHECK(one[k] == part(root, rank, turn, k));

  long long expected[2] = {size, turn};
  for (int i = size - 1; i > 0; i--) {
    long long a[2] = {i, turn};
    int two = 2;
    in_order(a, expected, &two, NULL);
  }
  REQUIRE(MPI_Reduce(number, sum, 2, MPI_LONG_LONG, op, root, p) == MPI_SUCCESS);
  if (checks && rank == root) CHECK(sum[0] == expected[0] && sum[1] == expected[1]);
  sum[0] = number[0];
  sum[1] = number[1];
  REQUIRE(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_LONG_LONG, op, p) == MPI_SUCCESS);
  if (checks) CHECK(sum[0] == expected[0] && sum[1] == expected[1]);
}

/* One operation of a kind per round and root. */
static void given_back(void)
{
  const char *const settings = "depth=2 commit=together";
  MPI_Comm p = open_key("back", settings);
  int value, all[4];
  for (int turn = 1; turn <= 3; turn++) {
    value = rank == 0 ? turn : -1;
    REQUIRE(MPI_Bcast(&value, 1, MPI_INT, 0, p) == MPI_SUCCESS);
    CHECK(value == (rank == 0 ? turn : -1)); /* not delivered */
    value = 10 * turn + rank;
    REQUIRE(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, p) == MPI_SUCCESS);
    REQUIRE(MPI_Reduce(&value, all, 1, MPI_INT, MPI_SUM, size - 1, p) == MPI_SUCCESS);
  }
  commit(p);
  p = again(p, "back", settings);
  for (int turn = 2; turn <= 3; turn++) {
    value = -1;
    REQUIRE(MPI_Bcast(&value, 1, MPI_INT, 0, p) == MPI_SUCCESS);
    CHECK(value == turn);
    value = -5; /* not read */
    REQUIRE(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, p) == MPI_SUCCESS);
    for (int i = 0; i < size; i++) CHECK(all[i] == 10 * turn + i);
    REQUIRE(MPI_Reduce(&value, all, 1, MPI_INT, MPI_SUM, size - 1, p) == MPI_SUCCESS);
    if (rank == size - 1) CHECK(all[0] == 10 * turn * size + size * (size - 1) / 2);
  }
  CHECK(failed_with(MPI_Bcast(&value, 1, MPI_INT, 0, p), GAB_PERSIST_NOTHING));
  REQUIRE(gab_persist_recovered(p) == MPI_SUCCESS);
  value = rank == 0 ? 4 : -1;
  REQUIRE(MPI_Bcast(&value, 1, MPI_INT, 0, p) == MPI_SUCCESS); /* stores again */
  commit(p);
  p = again(p, "back", settings);
  for (int turn = 3; turn <= 4; turn++) {
    REQUIRE(MPI_Bcast(&value, 1, MPI_INT, 0, p) == MPI_SUCCESS);
    CHECK(value == turn);
  }
  discard(p);
}

static void everything_is_given_back(MPI_Op op)
{
  const char *const settings = "depth=all commit=together";
  MPI_Comm p = open_key("everything", settings);
  for (int turn = 1; turn <= 3; turn++) round_of_all(p, turn, false, op);
  commit(p);
  round_of_all(p, 4, false, op); /* of an epoch that is never committed */
  p = again(p, "everything", settings);
  for (int turn = 1; turn <= 3; turn++) round_of_all(p, turn, true, op);
  long long waiting = -1;
  CHECK(gab_persist_status(p, NULL, MPI_ANY_SOURCE, MPI_ANY_TAG, &waiting) == MPI_SUCCESS && waiting == 0);
  CHECK(get(p, MPI_ANY_SOURCE, MPI_ANY_TAG) == -1); /* no receive finds them */
  discard(p);
}

static void delivered_too(MPI_Op op)
{
  const char *const settings = "mode=transparent commit=together";
  MPI_Comm p = open_key("delivered", settings);
  for (int turn = 1; turn <= 3; turn++) {
    round_of_all(p, turn, true, op);
    if (turn == 2) commit(p);
  }
  p = again(p, "delivered", settings);
  CHECK(gab_failure());
  for (int turn = 3; turn <= 5; turn++) round_of_all(p, turn, true, op);
  discard(p);
}

static void refused(void)
{
  int value = 0, both[4] = {0};
  MPI_Comm p = open_key("refused", "");
  CHECK(failed_with(MPI_Scatter(both, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, p), GAB_PERSIST_UNSUPPORTED));
  CHECK(failed_with(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, both, 1, MPI_INT, p), GAB_PERSIST_UNSUPPORTED));
  int class = 0;
  MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, size, p), &class);
  CHECK(class == MPI_ERR_ROOT);
  discard(p);
}

int main(int argc, char **argv)
{
  MPI_Op op;
  test_begin(&argc, &argv);
  MPI_Op_create(in_order, 0, &op);
  given_back();
  everything_is_given_back(op);
  delivered_too(op);
  refused();
  MPI_Op_free(&op);
  return test_finish();
}
