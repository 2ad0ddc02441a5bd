/* SPDX-License-Identifier: Apache-2.0 */
/* A spare gets an image and, before it restores it, learns that local recovery must be abandoned. It does not become the
 * rank, which would count as recovered, but remains idle until the global repair.
 *
 * Ranks 0 and 2 store each other's images, and so do 1 and 3. There are two spares, processes 4 and 5. First spare 5 dies,
 * then rank 1 (or 3), which its holder offers to spare 4; then 0 and 2. Spare 4 reads its messages only after all four
 * deaths: it accepts, and learns of 0 and 2 while it waits for the image, when it ignores them. When it has the image and
 * greets its partners, it learns of 0 and 2 again, in the same call: no process runs these ranks or has an image of them,
 * so it hands over to the global repair. */
/* gabion-test: np=6 timeout=60 needs=ulfm */
/* gabion-test: np=6 env=GABION_TEST_OTHER=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "tests/faults/local/local_order.h"

enum { DEATHS = 25, CALLED = ORDER_ACTIVE, UNCALLED = ORDER_ACTIVE + 1 };

static gab_rank lost = 1, keeper = 3;

static const char *const there[] = {"0 is there", "1 is there", "2 is there", "3 is there"};

static bool all_there(const local_order *order)
{
  for (int i = 0; i < ORDER_ACTIVE; i++)
    if (!order_has(order, there[i])) return false;
  return true;
}

/* ---------------------------------------------------------------- the holder */

static const gab_local_run *giving; /* of the holder, while it sends the image */

static bool is_offered(const gab_local *local)
{
  const gab_local_partner *protected = gab_local_find(local, lost);
  return protected->is_offered && (lost + protected->tried) % ORDER_SPARES == CALLED - ORDER_ACTIVE;
}

static bool is_given(const gab_local *local) { return gab_local_incarnation_of(local, lost) > 0; }

/* Intercepts the call of the MPI library: the spare would otherwise accept and reply that it does not run 0 and 2, and the
 * holder would hand over instead. */
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *there_is, MPI_Status *status)
{
  if (tag != GAB_CONTEXT_RELIABLE || !giving || !is_given(giving->machine))
    return PMPI_Iprobe(source, tag, comm, there_is, status);
  *there_is = 0;
  return MPI_SUCCESS;
}

static gab_status give(local_order *order)
{
  GAB_TRY(order_serve(order, is_offered));
  order_tell(order, "offered");
  order_wait(order, "all dead");
  giving = order->loop->protection->local;
  GAB_TRY(order_serve(order, is_given));
  order_tell(order, "given");
  order_wait(order, "looked");
  giving = NULL;
  return GAB_OK;
}

static gab_status part(local_order *order, gab_rank rank)
{
  order_tell(order, there[rank]);
  for (int i = 0; i < ORDER_ACTIVE; i++) GAB_TRY(order_serve_for(order, there[i]));
  order_wait(order, "spare dies");
  if (rank == lost) raise(SIGKILL);
  if (rank == keeper) return give(order);
  order_wait(order, "offered");
  raise(SIGKILL);
  return GAB_ERR_STATE; /* not reached */
}

/* ---------------------------------------------------------------- the spares */

static bool was_over; /* with its image */

static gab_status await_deaths(const local_order *order)
{
  int dead = 0;
  int32_t active;
  for (; dead < 4; usleep(1000)) {
    gab_mpi_progress();
    GAB_TRY(gab_world_count_deaths(order->app.world, &dead, &active));
  }
  return GAB_OK;
}

static gab_status rest(void *user, bool *took_rank)
{
  local_order *order = user;
  gab_local_run *run = order->loop->protection->local;
  static bool knows;
  if (!knows && all_there(order)) {
    if (test_rank() == UNCALLED) order_die(order, "spare dies");
    GAB_TRY(await_deaths(order));
    knows = true;
  }
  if (run->machine && gab_local_state_of(run->machine) == GAB_LOCAL_RESTORING) order_wait(order, "given");
  const gab_status status = gab_local_rest(run, took_rank);
  if (!knows || !run->machine) return status;
  if (gab_local_state_of(run->machine) == GAB_LOCAL_RESTORING) order_tell(order, "all dead");
  if (gab_local_state_of(run->machine) != GAB_LOCAL_OVER) return status;
  was_over = run->restart.has_image || *took_rank;
  CHECK(!*took_rank);
  order_tell(order, "looked");
  return status;
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"0 is there", "1 is there", "2 is there", "3 is there", "spare dies",
                                       "offered",    "all dead",   "given",      "looked",     NULL};
  local_order order = {.at = DEATHS, .part = part};
  if (getenv("GABION_TEST_OTHER")) lost = 3, keeper = 1;
  REQUIRE_OK(order_create(&order, argc, argv));
  gab_world *world = order.app.world;
  gab_world_set_rest(world, rest, &order);
  const gab_status status = gab_timeloop_run(order.loop);
  test_doom(0), test_doom(2), test_doom(lost), test_doom(UNCALLED);
  if (order.was_spare) order_remove(&order, events);
  CHECK(status == GAB_ERR_LOST); /* 0 and 2 stored each other's images, and there is no checkpoint on disk */
  CHECK(was_over == order.was_spare);
  CHECK(gab_timeloop_get_stats(order.loop).local.faults == 0);
  gab_timeloop_destroy(&order.loop);
  automaton_destroy(&order.app);
  return test_end(&world);
}
