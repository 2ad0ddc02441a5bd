/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients (cg.h): cg_reinit.c, for those who have no processes to spare. Who keeps the copy of what a dead process
 * had takes that over; then the planes are shared out anew among those who are left. */
#include "apps/papers/reinit2020/cg.h"
#include "resilience/recovery/state.h"

#include <stdlib.h>
#include <string.h>

enum {
  NUMBER,
  HEIGHT,
  RHO,
  VALUES
}; /* of a plane as it is saved: which of how many, r . r of all, then x, r and p */

static cg solver;
static double *saved; /* planes as they were loaded, until they have been shared out */
static int saved_count;
static double *outgoing, *incoming; /* kept: MPI may still look at them when a process has gone back */

static size_t words(void) { return VALUES + 3 * solver.plane; }

static void *allocate(double *memory, int planes)
{
  void *larger = realloc(memory, (size_t)(planes + 1) * words() * sizeof(double));
  if (!larger) MPI_Abort(MPI_COMM_WORLD, 1);
  return larger;
}

/* ---------------------------------------------------------------- a part of the state that can be adopted */

static gab_status pack(void *user, gab_buffer *out)
{
  const double *const vectors[] = {solver.x, solver.r, solver.p + solver.plane};
  (void)user;
  if (saved_count) return gab_put_bytes(out, saved, (size_t)saved_count * words() * sizeof(double));
  for (int z = 0; z < solver.planes; z++) {
    GAB_TRY(gab_put_bytes(
        out, (double[]){[NUMBER] = solver.first + z, [HEIGHT] = solver.height, [RHO] = solver.state->rho},
        VALUES * sizeof(double)));
    for (int k = 0; k < 3; k++)
      GAB_TRY(gab_put_bytes(out, vectors[k] + (size_t)z * solver.plane, solver.plane * sizeof(double)));
  }
  return GAB_OK;
}

static gab_status adopt(void *user, gab_rank dead, gab_reader *in)
{
  const size_t bytes = gab_reader_left(in);
  const int planes = (int)(bytes / (words() * sizeof(double)));
  (void)user, (void)dead;
  if (bytes % (words() * sizeof(double)) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "saved are planes of another --size than %d", solver.edge);
  saved = allocate(saved, saved_count + planes);
  double *first = saved + (size_t)saved_count * words();
  GAB_TRY(gab_get_bytes(in, first, bytes));
  if (planes > 0 && first[HEIGHT] != solver.height)
    GAB_FAIL(GAB_ERR_INPUT, "saved are %.0f planes, these are %d: the same number of processes has to start",
             first[HEIGHT], solver.height);
  saved_count += planes;
  return GAB_OK;
}

static gab_status unpack(void *user, gab_reader *in)
{
  saved_count = 0;
  return adopt(user, GAB_NO_RANK, in);
}

/* ---------------------------------------------------------------- sharing out */

static int owner_of(int plane)
{
  int rank = solver.processes - 1;
  while (cg_first_plane(solver.height, rank, solver.processes) > plane) rank--;
  return rank;
}

static void take(const double *plane)
{
  const size_t from = ((size_t)plane[NUMBER] - (size_t)solver.first) * solver.plane;
  double *const vectors[] = {solver.x, solver.r, solver.p + solver.plane};
  for (int k = 0; k < 3; k++)
    memcpy(vectors[k] + from, plane + VALUES + (size_t)k * solver.plane, solver.plane * sizeof(double));
  solver.state->rho = plane[RHO];
}

/* Every plane goes to whom it belongs now. Behind a death what has come is anything: it is not looked at, and the next call of
 * the framework is the way out. */
static void share_out(void)
{
  const int processes = solver.processes, width = (int)words();
  int counts[4][processes]; /* numbers to and from each, and where they begin */
  int *to = counts[0], *from = counts[1], *to_at = counts[2], *from_at = counts[3], at = 0;
  memset(to, 0, sizeof counts[0]);
  outgoing = allocate(outgoing, saved_count), incoming = allocate(incoming, solver.planes);
  for (int rank = 0; rank < processes; rank++) {
    to_at[rank] = at * width;
    for (int i = 0; i < saved_count; i++) {
      const double *plane = saved + (size_t)i * words();
      if (owner_of((int)plane[NUMBER]) != rank) continue;
      memcpy(outgoing + (size_t)at++ * words(), plane, words() * sizeof(double));
    }
    to[rank] = at * width - to_at[rank];
  }
  saved_count = 0;
  if (MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, solver.comm)) return;
  at = 0;
  for (int rank = 0; rank < processes; at += from[rank++]) from_at[rank] = at;
  if (at != solver.planes * width) return;
  if (MPI_Alltoallv(outgoing, to, to_at, MPI_DOUBLE, incoming, from, from_at, MPI_DOUBLE, solver.comm))
    return;
  for (int z = 0; z < solver.planes; z++) take(incoming + (size_t)z * words());
}

/* ---------------------------------------------------------------- the program */

static gab_status run(gab_state *state, int argc, char **argv)
{
  const proxy_options options = proxy_read_options(argc, argv, (proxy_options){.size = 64, .steps = 50});
  const MPI_Comm comm = gab_state_comm(state);
  const gab_entity planes = {
      .name = "cg", .kind = GAB_ENTITY_PER_RANK, .pack = pack, .unpack = unpack, .adopt = adopt};
  int64_t step = 0;
  cg_begin_planes(&solver, comm, options.size,
                  options.size * gab_world_members(gab_state_world(state))->ranks);
  saved_count = 0;
  GAB_TRY(gab_state_add_entity(state, &planes));
  GAB_TRY(gab_state_load(state, &step));
  if (step > 0) share_out();
  proxy_enter(comm, step);
  while (step < options.steps) {
    proxy_iteration(step);
    cg_iterate(&solver);
    GAB_TRY(gab_state_save(state, ++step));
  }
  proxy_leave(comm, step);
  cg_report(&solver);
  cg_end(&solver);
  return 0;
}

int main(int argc, char **argv) { return gab_state_main(argc, argv, run); }
