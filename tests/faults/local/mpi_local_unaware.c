/* SPDX-License-Identifier: Apache-2.0 */
/* Two neighbours die at the same step. Their replacement spares learned of both deaths while they were idle, and ignored
 * them; neither holder knows the other replacement when it sends the image. Each replacement sends its greeting to a dead
 * process and must find out that it is dead, and which process runs that rank now. */
/* gabion-test: np=6 timeout=120 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "tests/faults/local/local_order.h"

enum { DEATHS = 25 };

/* Rank whose messages are hidden although they have arrived. Each holder asks the other one which process runs the
 * neighbouring rank, and sends with the image all that it has learned before. */
static int hidden_rank = MPI_PROC_NULL;

/* Intercepts the call of the MPI library. MPI_ANY_SOURCE is refused, as is allowed when a process is dead: all ranks are
 * then probed individually. */
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
  if (source == MPI_ANY_SOURCE && hidden_rank != MPI_PROC_NULL) return MPIX_ERR_PROC_FAILED_PENDING;
  if (source != hidden_rank || tag != GAB_CONTEXT_RELIABLE)
    return PMPI_Iprobe(source, tag, comm, there, status);
  *there = 0;
  return MPI_SUCCESS;
}

static bool first_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 1) > 0; }
static bool second_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 2) > 0; }

/* Holders 3 of 1 and 0 of 2 do not serve others when these die. */
static gab_status part(local_order *order, gab_rank rank)
{
  if (rank == 0 || rank == 3) order_tell(order, rank == 0 ? "0 is there" : "3 is there");
  if (rank == 1 || rank == 2) {
    GAB_TRY(order_serve_for(order, "0 is there"));
    GAB_TRY(order_serve_for(order, "3 is there"));
  }
  if (rank == 1) order_die(order, "1 dies");
  if (rank == 2) order_die(order, "2 dies");
  order_wait(order, "spare 4 knows");
  order_wait(order, "spare 5 knows");
  hidden_rank = gab_world_comm_rank(order->app.world, rank == 0 ? 3 : 0);
  GAB_TRY(order_serve(order, rank == 0 ? second_is_given : first_is_given));
  const gab_local *local = order->loop->protection->local->machine;
  CHECK(!(rank == 0 ? first_is_given : second_is_given)(local));
  order_tell(order, rank == 0 ? "0 has given" : "3 has given");
  order_wait(order, rank == 0 ? "3 has given" : "0 has given");
  hidden_rank = MPI_PROC_NULL;
  return GAB_OK;
}

/* ---------------------------------------------------------------- a spare at rest */

/* As gab_local_rest(), but signals when it knows of both deaths, and reads the image only after both have been sent. */
static gab_status rest(void *user, bool *took_rank)
{
  local_order *order = user;
  static bool knows;
  gab_local_run *run = order->loop->protection->local;
  int dead;
  int32_t active;
  GAB_TRY(gab_world_count_deaths(order->app.world, &dead, &active));
  char event[32];
  if (run->machine && gab_local_state_of(run->machine) == GAB_LOCAL_RESTORING) {
    order_wait(order, "0 has given");
    order_wait(order, "3 has given");
  }
  GAB_TRY(gab_local_rest(run, took_rank));
  if (knows || dead < 2) return GAB_OK;
  knows = true;
  snprintf(event, sizeof event, "spare %d knows", test_rank());
  order_tell(order, event);
  return GAB_OK;
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"1 dies",        "2 dies",      "spare 4 knows",
                                       "spare 5 knows", "0 has given", "3 has given",
                                       "0 is there",    "3 is there",  NULL};
  local_order order = {.at = DEATHS, .part = part};
  gab_run_stats stats;
  REQUIRE_OK(order_create(&order, argc, argv));
  gab_world_set_rest(order.app.world, rest, &order);
  REQUIRE_OK(gab_timeloop_run(order.loop));
  test_doom(1), test_doom(2);
  gab_world *world = order_end(&order, &stats, events);
  CHECK(stats.local.steps_again == 0);
  return test_end(&world);
}
