/* SPDX-License-Identifier: Apache-2.0 */
/* An agreement of the world is one of MPI: on any number of processes, also of the active processes while a spare
 * rests; each gives the AND of all flags to all. */
/* gabion-test: np=1,2,3,5 quick=3 timeout=60 needs=ulfm */
/* gabion-test: np=3,4 env=GABION_SPARES=1 */
#include "core/messages/collective.h"
#include "tests/mpi_test.h"

#include <mpi-ext.h>
#include <stdint.h>

enum { ROUNDS = 10 };

static gab_world *world;
static int agreements;

int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
  agreements++;
  return PMPIX_Comm_agree(comm, flag);
}

/* @param[in] me,count  index and number of the participants */
static void agree_again_and_again(uint32_t me, uint32_t count)
{
  const int before = agreements;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t flags = me == round % count ? 0xff & ~(1u << round % 8) : 0xff;
    REQUIRE_OK(gab_world_agree(world, &flags));
    REQUIRE(flags == (0xff & ~(1u << round % 8)));
  }
  REQUIRE(agreements - before == ROUNDS);
}

int main(int argc, char **argv)
{
  gab_status abort_request;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const uint32_t ranks = (uint32_t)gab_world_members(world)->ranks;
  agree_again_and_again((uint32_t)gab_world_process(world), (uint32_t)gab_world_processes(world));
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  const bool was_spare = gab_world_is_spare(world);
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  if (!was_spare) agree_again_and_again((uint32_t)gab_world_rank(world), ranks);
  REQUIRE_OK(gab_world_dismiss(world, GAB_OK));
  return test_end(&world);
}
