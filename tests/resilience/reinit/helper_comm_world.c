/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of Reinit++ as printed, around gab_reinit(): the program still uses MPI_COMM_WORLD after a process was
 * replaced. For script_comm_world.sh:
 *
 *   helper_comm_world USE WAY     use of MPI_COMM_WORLD, see below; WAY: replacement of the dead process (respawn, spare, shrink)
 *
 * Of three ranks number 1 dies in step 3, once. Prints the sum over all ranks and steps. */
#include "resilience/recovery/state.h"
#include "resilience/reports/completion.h"
#include "core/base/log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 6, VICTIM = 1 };

static const char *use;
static gab_state *saved;

static bool uses(const char *what) { return strcmp(use, what) == 0; }

/* One value from each: by reductions, or by messages around the ring. */
static int64_t sum_of_all(MPI_Comm comm, int me, int count, int64_t own)
{
  int64_t sum = own, passed = own;
  if (!uses("messages")) {
    MPI_Allreduce(&own, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    return sum;
  }
  for (int k = 1; k < count; k++) {
    int64_t next = 0;
    MPI_Sendrecv(&passed, 1, MPI_INT64_T, (me + 1) % count, 0, &next, 1, MPI_INT64_T,
                 (me + count - 1) % count, 0, comm, MPI_STATUS_IGNORE);
    passed = next;
    sum += passed;
  }
  return sum;
}

static gab_status foo(gab_world *world, int argc, char **argv, gab_reinit_state state, void *user)
{
  const bool all = uses("listing") || uses("reduction") || uses("handler") || uses("messages");
  const MPI_Comm comm = all ? MPI_COMM_WORLD : gab_state_comm(saved);
  int me = (int)gab_world_rank(world), count = gab_members_count(gab_world_members(world));
  int64_t total = 0;
  gab_step step = 0;
  (void)argc, (void)argv, (void)user;
  if (uses("handler") || uses("nothing")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (uses("listing") || uses("rank")) MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (uses("listing") || uses("size")) MPI_Comm_size(MPI_COMM_WORLD, &count);
  GAB_TRY(gab_state_add(saved, "total", &total, sizeof total));
  GAB_TRY(gab_state_load(saved, &step));
  while (step < STEPS) {
    if (step == 3 && state == GAB_REINIT_NEW && gab_world_rank(world) == VICTIM) kill(getpid(), SIGKILL);
    total += sum_of_all(comm, me, count, 100 * count + me);
    GAB_TRY(gab_state_save(saved, ++step));
  }
  if (gab_world_is_root(world)) printf("sum %lld\n", (long long)total);
  return GAB_OK;
}

int main(int argc, char **argv)
{
  gab_world *world;
  int me = 0;
  if (argc < 3 || gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  use = argv[1];
  gab_status status = gab_state_create(world, NULL, &saved);
  if (uses("setup")) MPI_Bcast(&me, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status == GAB_OK) status = gab_reinit_allow_respawning(world, strcmp(argv[2], "respawn") == 0);
  gab_reinit_allow_shrinking(world, strcmp(argv[2], "shrink") == 0);
  if (status == GAB_OK) status = gab_reinit(world, argc, argv, foo, NULL);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  if (uses("end")) MPI_Barrier(MPI_COMM_WORLD);
  gab_state_destroy(&saved);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
