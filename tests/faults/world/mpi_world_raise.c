/* SPDX-License-Identifier: Apache-2.0 */
/* Failures other than deaths are handled like faults: all processes leave with the same abort request and message. Repeated
 * breaking and repairing does not leak requests, memory, or open files.
 *
 *   mpi_world_raise [CYCLES]    -v as second argument prints growing resources */
/* gabion-test: np=1,2,3,4,8 quick=4 timeout=120 needs=ulfm */
#include "core/messages/collective.h"
#include "core/messages/port.h"
#include "tests/mpi_test.h"
#include "core/world/world_impl.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gab_world *world;
static int32_t ranks, me;
static gab_port *port;
static gab_comm *everyone, *parity;

static gab_status fail_with(gab_status status, int number)
{
  GAB_FAIL(status, "rank %d, number %d", (int)me, number);
}

/* No process breaks the world while others still read it. (After a barrier or a reduction some may still be inside
 * when the first are out; an agreement is the same for all.) */
static void meet(void)
{
  uint32_t flags = 1;
  REQUIRE(gab_world_agree(world, &flags) == GAB_OK);
}

static void repair_to(gab_status expected, const char *message)
{
  gab_status abort_request;
  const gab_epoch before = gab_world_epoch(world);
  REQUIRE(gab_world_repair(world, &abort_request) == GAB_OK);
  REQUIRE(abort_request == expected);
  if (message) REQUIRE(strcmp(gab_error_message(), message) == 0);
  if (message) REQUIRE(strstr(gab_error_where(), "mpi_world_raise.c:") != NULL);
  REQUIRE(gab_world_epoch(world) > before && gab_world_check(world) == GAB_OK);
  REQUIRE(gab_members_count(gab_world_members(world)) == ranks);
  uint64_t epoch[2] = {gab_world_epoch(world), UINT64_MAX - gab_world_epoch(world)};
  REQUIRE(gab_world_max_u64(world, epoch, 2) == GAB_OK && epoch[0] == UINT64_MAX - epoch[1]);
  meet();
}

/* ------------------------------------------------------------------------------------ abort requests */

static void the_abort_request_of_one_reaches_all(void)
{
  char expected[64];
  for (int32_t raiser = 0; raiser < ranks; raiser++) {
    snprintf(expected, sizeof expected, "rank %d, number %d", (int)raiser, 7);
    uint32_t flags = 1;
    if (me == raiser) {
      (void)fail_with(GAB_ERR_DIVERGED, 7);
      REQUIRE(gab_world_raise(world, GAB_ERR_DIVERGED) == GAB_ERR_FAULT);
      REQUIRE(gab_world_check(world) == GAB_ERR_FAULT);
      REQUIRE(gab_world_agree(world, &flags) == GAB_ERR_FAULT);
      REQUIRE(strstr(gab_error_message(), expected)); /* the raising process gets the reason, too */
    } else if ((me + raiser) % 2) {
      REQUIRE(gab_world_agree(world, &flags) == GAB_ERR_FAULT); /* meets the raiser in its repair */
    } else {
      REQUIRE(gab_world_barrier(world) == GAB_ERR_FAULT);
    }
    repair_to(GAB_ERR_DIVERGED, expected);
  }
}

static void of_several_abort_requests_the_highest_of_the_lowest_rank_wins(void)
{
  char expected[64];
  const gab_status abort_request = me >= ranks / 2 ? GAB_ERR_IO : GAB_ERR_INPUT;
  snprintf(expected, sizeof expected, "rank %d, number %d", (int)(ranks / 2), (int)GAB_ERR_IO);
  REQUIRE(gab_world_raise(world, fail_with(abort_request, (int)abort_request)) == GAB_ERR_FAULT);
  REQUIRE(gab_world_raise(world, fail_with(GAB_ERR_INPUT, 99)) == GAB_ERR_FAULT);
  repair_to(GAB_ERR_IO, expected);
}

static void a_repair_of_a_whole_world_is_harmless(void)
{
  repair_to(GAB_OK, NULL);
  if (me != ranks - 1) REQUIRE(ranks == 1 || gab_world_barrier(world) != GAB_OK);
  repair_to(GAB_OK, NULL);
}

static void only_statuses_that_mean_something_can_be_raised(void)
{
  REQUIRE(gab_world_raise(world, GAB_OK) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_world_raise(world, GAB_ERR_FAULT) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_world_check(world) == GAB_OK);
  meet();
}

/* An application that ignores the code of its own call gets no wrong result through. */
static void an_mpi_error_of_the_application_ends_all_alike(void)
{
  gab_status abort_request;
  if (me == 0) {
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, ranks + 5, 0, gab_comm_mpi(everyone)); /* no such rank */
    REQUIRE(gab_world_check(world) == GAB_ERR_FAULT);
  }
  REQUIRE(gab_world_barrier(world) == GAB_ERR_FAULT || (ranks == 1 && me == 0));
  REQUIRE(gab_world_repair(world, &abort_request) == GAB_OK && abort_request == GAB_ERR_MPI);
  REQUIRE(strstr(gab_error_message(), "RANK") != NULL);
  meet();
}

/* ------------------------------------------------------------------------------------ derived communicators
 */

static void use_derived_communicators(void)
{
  int size, comm_rank, sum = 0, one = 1;
  MPI_Comm_size(gab_comm_mpi(everyone), &size);
  MPI_Comm_rank(gab_comm_mpi(everyone), &comm_rank);
  REQUIRE(size == ranks && comm_rank == me);
  REQUIRE(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, gab_comm_mpi(everyone)) == MPI_SUCCESS &&
          sum == ranks);
  if (me == ranks - 1 && ranks > 1) {
    REQUIRE(gab_comm_mpi(parity) == MPI_COMM_NULL);
    return;
  }
  int32_t expected = 0;
  for (int32_t i = 0; i < (ranks > 1 ? ranks - 1 : 1); i++) expected += i % 2 == me % 2;
  MPI_Comm_rank(gab_comm_mpi(parity), &comm_rank);
  REQUIRE(comm_rank == me / 2);
  REQUIRE(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, gab_comm_mpi(parity)) == MPI_SUCCESS &&
          sum == expected);
}

static void derived_communicators_are_made_anew(void)
{
  use_derived_communicators();
  meet();
}

/* ------------------------------------------------------------------------------------ nothing grows */

typedef struct holdings {
  size_t heap, ours, files, ports;
} holdings;

static holdings count_holdings(void)
{
  holdings held = {.ours = gab_memory_now(GAB_MEMORY_USE_COUNT)};
  const struct mallinfo2 info = mallinfo2();
  held.heap = info.uordblks + info.hblkhd;
  DIR *folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) held.files++;
  if (folder) closedir(folder);
  for (const gab_port *p = world->ports; p; p = p->next) held.ports++;
  return held;
}

/* Breaks the world while messages of all kinds are under way, some of them unanswered. */
static void cycle(int number)
{
  enum { BYTES = 1200000 };
  gab_buffer out[2] = {{0}}, in[3] = {{0}};
  const int32_t up = (me + 1) % ranks, down = (me + ranks - 1) % ranks;
  void *memory;
  gab_status status = GAB_OK;
  for (int i = 0; i < 2; i++) {
    REQUIRE(gab_message_begin(&out[i]) == GAB_OK && gab_buffer_extend(&out[i], BYTES, &memory) == GAB_OK);
    memset(memory, number, BYTES);
  }
  const bool raiser = me == number % ranks;
  if (status == GAB_OK) status = gab_port_receive(port, down, &in[0], BYTES);
  if (status == GAB_OK) status = gab_port_receive(port, down, &in[1], BYTES);
  if (status == GAB_OK && me != up) status = gab_port_receive(port, up, &in[2], GAB_SIZE_UNKNOWN);
  if (status == GAB_OK) status = gab_port_send(port, up, &out[0]);
  if (raiser) status = gab_world_raise(world, fail_with(GAB_ERR_IO, number));
  if (status == GAB_OK) status = gab_port_send(port, up, &out[1]);
  if (status == GAB_OK) status = gab_port_finish(port);
  if (status == GAB_OK) status = gab_world_barrier(world);
  REQUIRE(status == GAB_ERR_FAULT);
  for (int i = 0; i < 3; i++) {
    if (i < 2) gab_buffer_release(&out[i]); /* buffers that others may still read are kept */
    gab_buffer_release(&in[i]);
  }
  char expected[64];
  snprintf(expected, sizeof expected, "rank %d, number %d", number % (int)ranks, number);
  repair_to(GAB_ERR_IO, expected);
  REQUIRE(world->deferred == NULL);
}

static void repairs_cost_nothing_that_lasts(int cycles, bool talk)
{
  for (int i = 0; i < 10; i++) cycle(i);
  const holdings before = count_holdings();
  for (int i = 0; i < cycles; i++) cycle(i);
  const holdings after = count_holdings();
  const long heap = (long)after.heap - (long)before.heap;
  if (talk && me == 0)
    printf("per repair: heap %ld bytes, ours %ld bytes; files %zu -> %zu\n", heap / cycles,
           ((long)after.ours - (long)before.ours) / cycles, before.files, after.files);
  REQUIRE(after.ours == before.ours);
  REQUIRE(after.files == before.files);
  REQUIRE(after.ports == before.ports);
  /* One lost message would be 1.2 MB per repair; the MPI itself keeps some kB. */
  REQUIRE(heap < 64 * 1024L * cycles);
}

int main(int argc, char **argv)
{
  const int cycles = argc > 1 ? atoi(argv[1]) : 50;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  ranks = gab_members_count(gab_world_members(world));
  me = gab_world_rank(world);
  REQUIRE(gab_port_create(world, "ring", &port) == GAB_OK);
  REQUIRE(gab_world_dup(world, &everyone) == GAB_OK);
  const int colour = me == ranks - 1 && ranks > 1 ? MPI_UNDEFINED : (int)me % 2;
  REQUIRE(gab_world_split(world, colour, &parity) == GAB_OK);
  derived_communicators_are_made_anew();
  the_abort_request_of_one_reaches_all();
  derived_communicators_are_made_anew();
  of_several_abort_requests_the_highest_of_the_lowest_rank_wins();
  a_repair_of_a_whole_world_is_harmless();
  only_statuses_that_mean_something_can_be_raised();
  an_mpi_error_of_the_application_ends_all_alike();
  repairs_cost_nothing_that_lasts(cycles, argc > 2);
  derived_communicators_are_made_anew();
  gab_port_destroy(&port);
  gab_world_destroy(&world);
  REQUIRE(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0);
  return test_end(&world);
}
