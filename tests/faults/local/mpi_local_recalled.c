/* SPDX-License-Identifier: Apache-2.0 */
/* A running rank must roll back with its cluster. Before it does, it learns that the cluster resumes from a later
 * checkpoint, whose image it has to fetch. It must wait for that image and resume from it, without a rollback to the
 * earlier checkpoint.
 *
 * Six ranks store each other's images in pairs (0 and 3, 1 and 4, 2 and 5). Ranks 1 and 2 are one cluster, each
 * other rank is a cluster. In the tree of acknowledgements 1 and 2 are children of 0, 3 and 4 of 1, and 5 of 2.
 * After the checkpoint of step 20, ranks 1 and 3 die when 0 knows that it is committed and before they do, so 4 and
 * 5 do not know it either. Rank 4 passes 1 to a spare, which resumes from step 10. When 5 knows of that, 2 dies; 5
 * passes it to another spare, which greets 1 from step 10. Last, 0 passes 3 to the third spare, from step 20: the
 * earlier messages of 3 are freed, so 2 greets 1 again from step 20. Rank 1 receives these messages only after the
 * end of this sequence, and messages of others only after the first greeting of 2. */
/* gabion-test: np=9 timeout=120 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#define ORDER_ACTIVE 6
#define ORDER_SPARES 3
#include "tests/faults/local/local_order.h"

enum { EARLIER = 10, LATER = 20 };

static const gab_rank first = 1, second = 2; /* ranks to be restored */

static gab_rank keeper_of(gab_rank rank) { return rank + ORDER_ACTIVE / 2; }

/* ---------------------------------------------------------------- sequence of events */

static bool children_have(const gab_local *local)
{
  return gab_local_find(local, 1)->have >= LATER && gab_local_find(local, 2)->have >= LATER;
}
static bool is_committed(const gab_local *local) { return local->committed >= LATER; }
static bool first_is_given(const gab_local *local) { return gab_local_incarnation_of(local, first) > 0; }
static bool second_is_given(const gab_local *local) { return gab_local_incarnation_of(local, second) > 0; }
/* Whether the rank and its descendants have the checkpoint, and it stores the images of its protected ranks. */
static bool subtree_has(const gab_local *local)
{
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *protected = &local->partners[i];
    const gab_local_images *images = &protected->images;
    if (!(protected->roles & ROLE_PROTECTED)) continue;
    if (images->count == 0 || images->list[images->count - 1].checkpoint < LATER) return false;
  }
  return local->reported_have >= LATER;
}

static gab_status root_part(const local_order *order)
{
  GAB_TRY(order_serve(order, children_have));
  GAB_TRY(order_serve(order, is_committed));
  order_tell(order, "committed");
  order_wait(order, "second given");
  return GAB_OK;
}

static const char *const dies[] = {NULL, "1 dies", "2 dies", "3 dies"};

static gab_status part(local_order *order, gab_rank rank)
{
  if (rank == 0) return root_part(order);
  GAB_TRY(order_serve(order, subtree_has));
  if (rank == second) order_wait(order, "first known");
  if (rank <= 3) {
    order_wait(order, "committed");
    order_die(order, dies[rank]);
  }
  order_wait(order, dies[first]);
  order_wait(order, dies[3]);
  if (rank == keeper_of(first)) {
    GAB_TRY(order_serve(order, first_is_given));
    order_wait(order, "second given");
    return GAB_OK;
  }
  order_wait(order, "first is active");
  GAB_TRY(order_serve(order, first_is_given)); /* the receiver of the greeting of `second` */
  order_tell(order, "first known");
  order_wait(order, dies[second]);
  GAB_TRY(order_serve(order, second_is_given));
  order_tell(order, "second given");
  return GAB_OK;
}

/* ---------------------------------------------------------------- the two restored ranks */

static local_order *back; /* of a process that was a spare */
static bool was_torn;     /* it had an image, and had to wait for another one */

/* Messages that `first` may receive now: none, those of `second`, all. */
static enum { NOTHING, SECOND, ALL } heard(const gab_local_run *run)
{
  static bool is_recalled;
  if (!run->took_part || gab_local_rank(run->machine) != first) return ALL;
  if (!order_has(back, "second later")) return NOTHING;
  is_recalled = is_recalled || run->restart.has_image || gab_local_state_of(run->machine) != GAB_LOCAL_ACTIVE;
  return is_recalled ? ALL : SECOND;
}

/* Intercepts the call of the MPI library. */
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
  const gab_local_run *run = back ? back->loop->protection->local : NULL;
  if (tag != GAB_CONTEXT_RELIABLE || !run || !run->machine)
    return PMPI_Iprobe(source, tag, comm, there, status);
  if (run->restart.has_image && gab_local_rank(run->machine) == second && run->restart.checkpoint == LATER)
    order_tell(back, "second later");
  if (run->restart.has_image && run->took_part && gab_local_state_of(run->machine) == GAB_LOCAL_RESTORING)
    was_torn = run->restart.checkpoint == EARLIER;
  *there = 0;
  if (heard(run) == NOTHING) return MPI_SUCCESS;
  if (heard(run) == ALL) return PMPI_Iprobe(source, tag, comm, there, status);
  /* the rank modulo the number of spares is the first candidate */
  const int comm_rank =
      gab_world_comm_rank(run->world, (gab_rank)gab_world_spare(run->world, second % ORDER_SPARES));
  return source == MPI_ANY_SOURCE || source == comm_rank ? PMPI_Iprobe(comm_rank, tag, comm, there, status)
                                                         : MPI_SUCCESS;
}

static gab_status rest(void *user, bool *took_rank)
{
  local_order *order = user;
  const gab_local_run *run = order->loop->protection->local;
  GAB_TRY(gab_local_rest(order->loop->protection->local, took_rank));
  if (*took_rank && gab_local_rank(run->machine) == first) {
    CHECK(order->loop->step == EARLIER);
    order_tell(order, "first is active");
  }
  return GAB_OK;
}

/* Each process writes a separate file; the one of rank 0 is read. */
static void write_clusters(char *path)
{
  static const char text[] = "one 0\ntwo 1-2\nthree 3\nfour 4\nfive 5\n";
  const int file = mkstemp(path);
  REQUIRE(file >= 0 && write(file, text, sizeof text - 1) == (ssize_t)(sizeof text - 1));
  REQUIRE(close(file) == 0);
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"committed",    "1 dies",          "2 dies",
                                       "3 dies",       "first is active", "first known",
                                       "second given", "second later",    NULL};
  local_order order = {.at = LATER, .part = part, .commit_wait = -1, .commit_children = 2};
  gab_run_stats stats;
  char clusters[] = "/tmp/gabion-clusters.XXXXXX";
  write_clusters(clusters);
  order.clusters = clusters;
  REQUIRE_OK(order_create(&order, argc, argv));
  unlink(clusters);
  gab_world_set_rest(order.app.world, rest, &order);
  if (order.was_spare) back = &order;
  REQUIRE_OK(gab_timeloop_run(order.loop));
  back = NULL;
  test_doom(1), test_doom(2), test_doom(3);
  gab_world *world = order_end(&order, &stats, events);
  CHECK(was_torn == (gab_world_rank(world) == first));
  return test_end(&world);
}
