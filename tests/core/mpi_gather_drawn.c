/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers of drawn strings by processes that are slow at drawn places, refuse some and forget channels in between: all see the rules of
 * core/messages/gather.c kept, by a record of what everybody has sent that lies in memory which all share; and nothing is left of any
 * of them. */
/* gabion-test: np=2,6,13 timeout=60 */
#include "core/base/hash.h"
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "tests/mpi_test.h"

#include <stdatomic.h>
#include <time.h>

enum { ROUNDS = 60, MOST = 16 };

static gab_world *world;
static gab_rank ranks, me;
static uint64_t round_now;

/* Messages from process a to process b in this gather: pieces of strings, and acknowledgements; and its own string, if the
 * root has requested it. */
typedef struct record {
  _Atomic int pieces[MOST][MOST], answers[MOST][MOST];
  _Atomic size_t of_long[MOST];
} record;
static record *all;
static gab_rank called[MOST]; /* by the root, in this order */
static int calls;

/* ------------------------------------------------------------------------------------ drawn */

static uint64_t draw(uint64_t stream, gab_rank rank, uint64_t below)
{
  return gab_hash_counter(round_now * 64 + (uint64_t)rank, stream, 0) % below;
}

/* Sizes: zero, short, just below the limit of long strings (these fill pieces), long up to a chunk, and longer. In some
 * rounds all are of one kind; in others inner members of the tree have long ones, and their descendants such that fill
 * pieces. */
static size_t size_of(gab_rank rank)
{
  enum { MEDIUM = 2, LONG = 5, KINDS = 8 };
  static const size_t of_kind[KINDS] = {0,
                                        1,
                                        GAB_GATHER_LONG_BYTES - 1000,
                                        GAB_GATHER_LONG_BYTES - 1000,
                                        GAB_GATHER_LONG_BYTES - 1000,
                                        GAB_GATHER_LONG_BYTES + 1,
                                        GAB_CHUNK_BYTES - 1000,
                                        GAB_CHUNK_BYTES + 1};
  uint64_t kind = draw(1, round_now % 4 == 0 ? 0 : rank, KINDS);
  if (round_now % 4 == 1) kind = rank % 4 == 0 ? LONG : MEDIUM;
  return of_kind[kind] + (kind > 0 ? (size_t)draw(2, rank, 1000) : 0);
}

static void be_slow(uint64_t stream)
{
  static uint64_t places;
  if (gab_hash_counter(stream, (uint64_t)me, places++) % 8 == 0)
    nanosleep(&(struct timespec){0, 500000}, NULL);
}

static unsigned char byte_of(gab_rank rank, size_t at)
{
  return (unsigned char)(at * 29 + (at >> 9) * 3 + (size_t)rank * 17 + round_now * 7);
}

/* ------------------------------------------------------------------------------------ between library and MPI */

static void sends_piece(int to, int count)
{
  REQUIRE((size_t)count <= GAB_ENVELOPE_BYTES + 1 + GAB_GATHER_PIECE_BYTES);
  REQUIRE(to == (me & (me - 1)));                       /* the parent */
  REQUIRE(all->pieces[me][to] == all->answers[to][me]); /* which has received all earlier ones */
  all->pieces[me][to]++;
}

/* All requested strings have arrived except the last one, and that too if this one has more than a chunk. */
static void sends_call(int to)
{
  const size_t size = size_of(to);
  REQUIRE(me == 0 && calls < MOST && size > GAB_GATHER_LONG_BYTES);
  REQUIRE(calls == 0 || to > called[calls - 1]);
  for (int i = 0; i < calls - (size <= GAB_CHUNK_BYTES); i++)
    REQUIRE(all->of_long[called[i]] >= size_of(called[i]));
  called[calls++] = to;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  const bool is_of_tree = tag == GAB_CONTEXT_GATHER || tag == GAB_CONTEXT_GATHER_ODD;
  const bool is_empty = count == GAB_ENVELOPE_BYTES;
  if (is_of_tree || tag == GAB_CONTEXT_GATHER_LONG) be_slow(3);
  if (is_of_tree && is_empty) all->answers[me][to]++;
  else if (is_of_tree) sends_piece(to, count);
  else if (tag == GAB_CONTEXT_GATHER_LONG && is_empty) sends_call(to);
  else if (tag == GAB_CONTEXT_GATHER_LONG) all->of_long[me] += (size_t)count;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* ------------------------------------------------------------------------------------ a gather */

typedef struct visits {
  gab_rank next, refused;
} visits;

static gab_status look(void *user, gab_rank from, gab_reader bytes)
{
  visits *v = user;
  const size_t size = size_of(from);
  REQUIRE(me == 0 && from == v->next++ && from <= v->refused);
  REQUIRE(gab_reader_left(&bytes) == size);
  size_t right = 0;
  while (right < size && bytes.at[right] == byte_of(from, right)) right++;
  REQUIRE(right == size);
  be_slow(4);
  return from == v->refused ? gab_error_set(GAB_ERR_IO, "here", 1, "disk full") : GAB_OK;
}

/* In every fifth round one string is refused: the others arrive, and are not visited. */
static void gather(void)
{
  const bool refuses = round_now % 5 == 4;
  visits v = {.refused = refuses ? (gab_rank)draw(5, 0, (uint64_t)ranks) : ranks};
  gab_buffer mine = {0};
  void *place;
  be_slow(6);
  REQUIRE_OK(gab_buffer_extend(&mine, size_of(me), &place));
  for (size_t i = 0; i < mine.size; i++) mine.data[i] = byte_of(me, i);
  const gab_status status = gab_world_gather(world, &mine, look, &v);
  REQUIRE(status == (refuses && me == 0 ? GAB_ERR_IO : GAB_OK));
  REQUIRE(me > 0 || v.next == (refuses ? v.refused + 1 : ranks));
  gab_buffer_release(&mine);
}

/* Each member has sent to its parent, which has acknowledged all; no rank has a pending message. */
static void nothing_is_left(void)
{
  const gab_rank parent = me & (me - 1);
  REQUIRE(me == 0 || (all->pieces[me][parent] > 0 && all->pieces[me][parent] == all->answers[parent][me]));
  for (int from = 0; from < ranks; from++)
    for (int tag = GAB_CONTEXT_GATHER; tag <= GAB_CONTEXT_GATHER_LONG; tag++) {
      int there = 0;
      REQUIRE(MPI_Iprobe(from, tag, world->comm, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      REQUIRE(!there);
    }
}

/* Without messages of the world. */
static void meet(gab_comm *comm) { REQUIRE(MPI_Barrier(gab_comm_mpi(comm)) == MPI_SUCCESS); }

int main(int argc, char **argv)
{
  gab_comm *comm;
  MPI_Win window;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  ranks = gab_members_count(gab_world_members(world));
  me = gab_world_rank(world);
  REQUIRE(ranks <= MOST);
  REQUIRE_OK(gab_world_dup(world, &comm));
  MPI_Aint bytes;
  int unit;
  REQUIRE(MPI_Win_allocate_shared(me == 0 ? sizeof *all : 0, 1, MPI_INFO_NULL, gab_comm_mpi(comm), &all,
                                  &window) == MPI_SUCCESS);
  REQUIRE(MPI_Win_shared_query(window, 0, &bytes, &unit, &all) == MPI_SUCCESS &&
          bytes >= (MPI_Aint)sizeof *all);
  for (round_now = 0; round_now < ROUNDS; round_now++) {
    meet(comm);
    if (me == 0) memset(all, 0, sizeof *all);
    calls = 0;
    if (draw(7, me, 4) == 0) gab_world_drop_messages(world); /* the next gather resets the channels anyway */
    meet(comm);
    gather();
    meet(comm);
    nothing_is_left();
  }
  meet(comm);
  gab_world_drop_messages(world); /* so that all channels are equal again */
  meet(comm);
  REQUIRE(MPI_Win_free(&window) == MPI_SUCCESS);
  return test_end(&world);
}
