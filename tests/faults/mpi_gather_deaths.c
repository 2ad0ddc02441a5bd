/* SPDX-License-Identifier: Apache-2.0 */
/* Processes die by SIGKILL during a gather, one after another: an inner one of the tree, a leaf, the root. The others
 * are notified, and after the repair a gather collects the strings of all survivors. */
/* gabion-test: np=5,8,13 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "tests/mpi_test.h"

static gab_world *world;
static int pieces_left = -1; /* pieces of a gather until this process dies */
static gab_rank dies_at_visit = GAB_NO_RANK;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  const bool is_piece =
      (tag == GAB_CONTEXT_GATHER || tag == GAB_CONTEXT_GATHER_ODD || tag == GAB_CONTEXT_GATHER_LONG) &&
      count > GAB_ENVELOPE_BYTES;
  if (is_piece && pieces_left-- == 0) raise(SIGKILL);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* Long ones, and such as go up the tree, of which no two are in one piece. */
static size_t size_of(gab_rank rank)
{
  return rank % 3 == 1 ? 3 * GAB_GATHER_PIECE_BYTES + (size_t)rank : GAB_GATHER_LONG_BYTES - (size_t)rank % 3;
}

static gab_status look(void *user, gab_rank from, gab_reader bytes)
{
  int32_t *next = user;
  REQUIRE(gab_world_is_root(world) && from == gab_members_rank(gab_world_members(world), (*next)++));
  if (from == dies_at_visit) raise(SIGKILL);
  REQUIRE(gab_reader_left(&bytes) == size_of(from));
  size_t right = 0;
  while (right < size_of(from) && bytes.at[right] == (unsigned char)(right * 7 + (right >> 9) + (size_t)from))
    right++;
  REQUIRE(right == size_of(from));
  return GAB_OK;
}

static gab_status gather(int32_t *visits)
{
  const gab_rank me = gab_world_rank(world);
  gab_buffer mine = {0};
  void *place;
  REQUIRE_OK(gab_buffer_extend(&mine, size_of(me), &place));
  for (size_t i = 0; i < mine.size; i++) mine.data[i] = (unsigned char)(i * 7 + (i >> 9) + (size_t)me);
  *visits = 0;
  const gab_status status = gab_world_gather(world, &mine, look, visits);
  gab_buffer_release(&mine);
  return status;
}

static void gather_all(void)
{
  int32_t visits;
  REQUIRE_OK(gather(&visits));
  REQUIRE(visits == (gab_world_is_root(world) ? gab_members_count(gab_world_members(world)) : 0));
}

/* The member of that place, which is not the root, dies instead of sending a further piece. */
static void dies_after(int32_t place, int pieces)
{
  const gab_rank victim = gab_members_rank(gab_world_members(world), place);
  if (gab_world_rank(world) == victim) pieces_left = pieces;
  test_doom(victim);
}

static void root_dies_at(int32_t place)
{
  const gab_rank victim = gab_world_root(world);
  if (gab_world_rank(world) == victim) dies_at_visit = gab_members_rank(gab_world_members(world), place);
  test_doom(victim);
}

static void gather_hears_of_it_and_works_again(void)
{
  const int32_t before = gab_members_count(gab_world_members(world));
  const bool was_root = gab_world_is_root(world);
  int32_t visits;
  gab_status abort_request;
  const gab_status status = gather(&visits);
  REQUIRE(status == GAB_ERR_FAULT || (status == GAB_OK && !was_root));
  REQUIRE(gab_world_barrier(world) == GAB_ERR_FAULT);
  REQUIRE(gather(&visits) == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_OK && gab_members_count(gab_world_members(world)) == before - 1);
  gather_all();
  REQUIRE_OK(gab_world_barrier(world));
  gather_all();
}

int main(int argc, char **argv)
{
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gather_all();
  dies_after(2, 1); /* with the string of its child */
  gather_hears_of_it_and_works_again();
  dies_after(3, 1); /* a leaf, below an inner member, when the root asks for its long string */
  gather_hears_of_it_and_works_again();
  root_dies_at(1);
  gather_hears_of_it_and_works_again();
  return test_end(&world);
}
