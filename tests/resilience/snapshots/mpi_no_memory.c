/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=2,4 quick=2 timeout=60 needs=ulfm */
/* A process without memory for a message, after it has begun to receive others, has no buffers lent to MPI when it returns
 * the error: it may release them. All get its abort request, and may try again. */
#include "tests/mpi_test.h"

#include "blockforest/exchange/block_field.h"
#include "core/base/log.h"
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "loadbalance/balance.h"
#include "resilience/schemes/redundancy_impl.h"

#include <stdlib.h> /* __GLIBC__ */

/* ---------------------------------------------------------------- an allocator that refuses */

/* A buffer of a short message, with its header. */
enum { SHORT_MESSAGE = 256 + 2 * GAB_ALIGNMENT, REFUSALS = 2 };
static _Thread_local int refused; /* number of the allocation that fails from now on; 0: none */

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__
#define CAN_REFUSE 1
extern void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes)
{
  if (refused > 0 && bytes == SHORT_MESSAGE && --refused == 0) return NULL;
  return __libc_malloc(bytes);
}
#else
#define CAN_REFUSE 0
#endif

/* ---------------------------------------------------------------- memory of checkpoints */

static const gab_block_field field = {.shape = {.cells = {4, 4, 4}, .components = 2}};

static size_t lent(const gab_port *port) { return port->traffic ? port->traffic->transfer_count : 0; }

static MPI_Comm everybody; /* for the test: MPI_COMM_WORLD is refused after the first fault */

/* @param[in] which  allocation that fails: the first is for received, the second for sent data */
static void without_memory(gab_world *world, gab_forest *forest, const gab_redundancy *redundancy, int which)
{
  gab_checkpoint *checkpoint;
  gab_status abort_request;
  const bool poor = gab_world_rank(world) == 1;
  REQUIRE_OK(gab_checkpoint_create(forest, redundancy, &checkpoint));
  /* All others have left when this process gives up. */
  REQUIRE(MPI_Barrier(everybody) == MPI_SUCCESS);
  if (poor) refused = which;
  const gab_status status = gab_checkpoint_reserve(checkpoint);
  CHECK(refused == 0);
  CHECK(!poor || status == GAB_ERR_MEMORY);
  CHECK(lent(checkpoint->port) == 0);
  CHECK((poor ? gab_world_raise(world, status) : gab_world_barrier(world)) == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  CHECK(abort_request == GAB_ERR_MEMORY);
  gab_checkpoint_destroy(&checkpoint);
  REQUIRE_OK(gab_checkpoint_create(forest, redundancy, &checkpoint));
  REQUIRE_OK(gab_checkpoint_reserve(checkpoint));
  REQUIRE_OK(gab_checkpoint_take(checkpoint, 1));
  gab_checkpoint_destroy(&checkpoint);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_forest *forest;
  gab_data_id id;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE(MPI_Comm_dup(MPI_COMM_WORLD, &everybody) == MPI_SUCCESS);
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the test needs the warnings */
  const gab_redundancy all[] = {{.scheme = &gab_scheme_pairwise}, {.scheme = &gab_scheme_parity, .group = 4}};
  const gab_forest_options options = {
      .grid = {3, {2 * gab_world_members(world)->ranks, 1, 1}}, .cells = {4, 4, 4}, .dx = 1};
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  const gab_block_data_kind kind = gab_block_field_data(&field, "numbers");
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  REQUIRE_OK(gab_balance_initial(forest, NULL, NULL));
  for (size_t i = 0; CAN_REFUSE && i < sizeof all / sizeof all[0]; i++)
    for (int which = 1; which <= REFUSALS; which++)
      if (all[i].group <= gab_world_members(world)->ranks) without_memory(world, forest, &all[i], which);
  gab_forest_destroy(&forest);
  return test_end(&world);
}
