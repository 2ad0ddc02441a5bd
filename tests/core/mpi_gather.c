/* SPDX-License-Identifier: Apache-2.0 */
/* A gather shows the root all strings whole and in order, whatever their lengths are; nobody holds more than some pieces of
 * them, and the root talks to as many processes as the tree has levels. */
/* gabion-test: np=1,2,3,5,8,13 quick=5 timeout=60 */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "tests/mpi_test.h"

#include <time.h>

#define PIECE GAB_GATHER_PIECE_BYTES
#define LONG  GAB_GATHER_LONG_BYTES
enum { HEAD = 12 }; /* before each string */

static gab_world *world;
static gab_rank ranks, me;

/* ------------------------------------------------------------------------------------ between library and MPI */

static struct {
  int pieces, answers;  /* sent by this process in gathers */
  size_t bytes_of_long; /* and of long strings */
  int called;           /* rank of the last owner whose long string was requested */
  int longest_piece;
  bool to[TEST_MOST_RANKS];
} sent;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  if (tag == GAB_CONTEXT_GATHER || tag == GAB_CONTEXT_GATHER_ODD) {
    if (count > GAB_ENVELOPE_BYTES) sent.pieces++;
    else sent.answers++;
    if (count > sent.longest_piece) sent.longest_piece = count;
    sent.to[to] = true;
  }
  if (tag == GAB_CONTEXT_GATHER_LONG && count > GAB_ENVELOPE_BYTES) sent.bytes_of_long += (size_t)count;
  if (tag == GAB_CONTEXT_GATHER_LONG && count == GAB_ENVELOPE_BYTES) sent.called = to;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* ------------------------------------------------------------------------------------ strings that everybody knows */

static const size_t sizes[] = {0,    1,        100,          LONG - HEAD - 1, LONG - HEAD, LONG - 1,
                               LONG, LONG + 1, PIECE - HEAD, PIECE,           PIECE + 1,   3 * PIECE + 17};
enum { SIZES = sizeof sizes / sizeof *sizes };

static size_t mixed(int round, gab_rank rank) { return sizes[(round + 4 * rank) % SIZES]; }
static size_t short_ones(int round, gab_rank rank) { return (size_t)(100 + round + rank); }
static size_t medium_ones(int round, gab_rank rank) { return LONG - (size_t)(round + rank) % 7; }
static size_t long_ones(int round, gab_rank rank) { return 24 * PIECE + (size_t)(round + rank); }

/* Owners of long strings above others that each fill half a piece: they forward pieces while the root requests their
 * strings. */
static size_t long_above_medium(int round, gab_rank rank)
{
  return rank % 4 ? LONG : LONG + 1 + (size_t)round;
}
static size_t of_a_chunk(int round, gab_rank rank) { return GAB_CHUNK_BYTES - (size_t)(round + rank); }
static size_t last_alone(int round, gab_rank rank)
{
  return rank == ranks - 1 ? 50 * 1000 * 1000 + (size_t)round : 0;
}

typedef size_t (*size_fn)(int round, gab_rank rank);

static unsigned char byte_of(int round, gab_rank rank, size_t place)
{
  return (unsigned char)(place * 31 + (place >> 8) * 7 + (place >> 16) * 3 + (size_t)rank * 13 +
                         (size_t)round * 5);
}

typedef struct visit {
  int round;
  size_fn size;
  gab_rank next, refused; /* rank whose string is next; rank whose string is refused */
} visit;

static gab_status look(void *user, gab_rank from, gab_reader bytes)
{
  visit *v = user;
  REQUIRE(me == 0 && from == v->next++);
  const size_t size = v->size(v->round, from);
  REQUIRE(gab_reader_left(&bytes) == size);
  size_t right = 0;
  while (right < size && bytes.at[right] == byte_of(v->round, from, right)) right++;
  REQUIRE(right == size);
  return from == v->refused ? gab_error_set(GAB_ERR_IO, "here", 1, "disk full") : GAB_OK;
}

static gab_status gather(int round, size_fn size, visit *v, gab_visit_fn call)
{
  gab_buffer mine = {0};
  void *place;
  const size_t count = size(round, me);
  REQUIRE_OK(gab_buffer_extend(&mine, count, &place));
  for (size_t i = 0; i < count; i++) mine.data[i] = byte_of(round, me, i);
  *v = (visit){.round = round, .size = size, .refused = v->refused};
  const gab_status status = gab_world_gather(world, &mine, call, v);
  REQUIRE(mine.size == count);
  gab_buffer_release(&mine);
  return status;
}

static void gather_all(int round, size_fn size)
{
  visit v = {.refused = GAB_NO_RANK};
  REQUIRE_OK(gather(round, size, &v, look));
  REQUIRE(v.next == (me == 0 ? ranks : 0));
}

/* ------------------------------------------------------------------------------------ claims */

static void strings_of_any_length_come_whole_and_in_order(void)
{
  for (int round = 0; round < SIZES; round++) gather_all(round, mixed);
}

static void an_owner_of_a_long_string_hears_the_root_while_it_passes_others_on(void)
{
  for (int round = 0; round < 3; round++) gather_all(round, long_above_medium);
}

static void one_string_may_be_all_there_is(void) { gather_all(0, last_alone); }

/* After the present string. */
static gab_status look_who_was_called(void *user, gab_rank from, gab_reader bytes)
{
  visit *v = user;
  const bool ahead = v->size == of_a_chunk;
  REQUIRE(sent.called <= from + ahead);
  if (ahead && from > 0 && from + 1 < ranks && (from & (from + 1)) != 0) REQUIRE(sent.called == from + 1);
  return look(user, from, bytes);
}

static void the_root_calls_for_one_string_ahead_unless_it_is_of_more_than_a_chunk(void)
{
  visit v = {.refused = GAB_NO_RANK};
  memset(&sent, 0, sizeof sent);
  REQUIRE_OK(gather(15, of_a_chunk, &v, look_who_was_called));
  memset(&sent, 0, sizeof sent);
  REQUIRE_OK(gather(15, long_ones, &v, look_who_was_called));
}

static void gathers_stand_between_other_operations(void)
{
  uint64_t sum = 1, before, total;
  gather_all(1, short_ones);
  gather_all(2, long_ones);
  gather_all(3, medium_ones);
  REQUIRE_OK(gab_world_sum_u64(world, &sum, 1));
  REQUIRE(sum == (uint64_t)ranks);
  gather_all(4, mixed);
  REQUIRE_OK(gab_world_scan_u64(world, 1, &before, &total));
  REQUIRE(before == (uint64_t)me && total == (uint64_t)ranks);
  gather_all(5, short_ones);
  REQUIRE_OK(gab_world_barrier(world));
}

static void a_refusal_is_told_to_the_root_alone(void)
{
  for (gab_rank refused = 0; refused < ranks; refused++) {
    visit v = {.refused = refused};
    const gab_status status = gather(6, refused % 2 ? mixed : short_ones, &v, look);
    REQUIRE(status == (me == 0 ? GAB_ERR_IO : GAB_OK));
    REQUIRE(v.next == (me == 0 ? refused + 1 : 0));
    gather_all(7, short_ones);
  }
}

/* Short strings: one piece and one answer per child. */
static void the_root_talks_to_as_many_as_there_are_levels(void)
{
  int levels = 0, partners = 0;
  while (1 << levels < ranks) levels++;
  memset(&sent, 0, sizeof sent);
  gather_all(8, short_ones);
  for (int i = 0; i < ranks; i++) partners += sent.to[i];
  REQUIRE(sent.pieces == (me == 0 ? 0 : 1));
  if (me == 0) REQUIRE(sent.answers == levels && partners == levels);
  else REQUIRE(sent.answers == partners - 1 && sent.to[me & (me - 1)]);
}

/* The total length of the strings is much larger. */
static void nobody_holds_more_than_some_pieces(void)
{
  const size_t slack = 64 * 1024, longest = long_ones(9, ranks - 1);
  gab_memory_reset_peak();
  const size_t before = gab_memory_now(GAB_MEMORY_MESSAGE);
  gather_all(9, long_ones);
  const size_t more = gab_memory_peak(GAB_MEMORY_MESSAGE) - before;
  REQUIRE(more <= (me == 0 ? GAB_CHUNK_BYTES : 3 * GAB_CHUNK_BYTES) + longest + slack);
}

/* Half of the ranks reset all channels before a gather, the others after it. */
static void a_gather_does_not_mind_who_has_dropped_messages(void)
{
  gather_all(12, mixed); /* so that sequence numbers are not 0 */
  REQUIRE_OK(gab_world_barrier(world));
  if (me % 2) gab_world_drop_messages(world);
  gather_all(13, mixed);
  gather_all(14, long_ones);
  if (me % 2 == 0) gab_world_drop_messages(world);
  REQUIRE_OK(gab_world_barrier(world));
}

/* Nor one message with several strings just below the limit. */
static void a_piece_has_an_end(void)
{
  memset(&sent, 0, sizeof sent);
  for (int round = 0; round < 7; round++) gather_all(round, medium_ones);
  REQUIRE(sent.longest_piece <= (int)(GAB_ENVELOPE_BYTES + 1 + PIECE) && sent.bytes_of_long == 0);
}

static void long_strings_are_sent_once(void)
{
  memset(&sent, 0, sizeof sent);
  gather_all(11, long_ones);
  const size_t once = me == 0 ? 0 : long_ones(11, me);
  REQUIRE(sent.bytes_of_long >= once && sent.bytes_of_long <= once + 1024);
  REQUIRE(sent.longest_piece <= 1024); /* heads */
}

/* ------------------------------------------------------------------------------------ who waits for whom */

enum { RETURNED = 1 };

static MPI_Comm ours;

static void rest_a_little(void) { nanosleep(&(struct timespec){0, 2000000}, NULL); }

static bool is_there(MPI_Comm comm, int from, int tag)
{
  int found = 0;
  REQUIRE(MPI_Iprobe(from, tag, comm, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  return found != 0;
}

/* In its first visit (its own string) the root has received nothing. It waits for a piece of each child, and longer. */
static gab_status dawdle(void *user, gab_rank from, gab_reader bytes)
{
  if (from == 0)
    for (gab_rank child = 1; child < ranks; child *= 2) {
      while (!is_there(world->comm, gab_world_comm_rank(world, child), GAB_CONTEXT_GATHER)) rest_a_little();
      for (int looks = 0; looks < 10; looks++) {
        REQUIRE(!is_there(ours, child, RETURNED));
        rest_a_little();
      }
    }
  return look(user, from, bytes);
}

static void who_sends_to_the_root_returns_when_it_has_received(void)
{
  const bool is_child = me > 0 && (me & (me - 1)) == 0;
  int word = 0;
  visit v = {.refused = GAB_NO_RANK};
  REQUIRE_OK(gather(10, short_ones, &v, dawdle));
  if (is_child) REQUIRE(MPI_Send(&word, 1, MPI_INT, 0, RETURNED, ours) == MPI_SUCCESS);
  for (gab_rank child = 1; me == 0 && child < ranks; child *= 2)
    REQUIRE(MPI_Recv(&word, 1, MPI_INT, child, RETURNED, ours, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
  gab_comm *comm;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  ranks = gab_members_count(gab_world_members(world));
  me = gab_world_rank(world);
  REQUIRE_OK(gab_world_dup(world, &comm));
  ours = gab_comm_mpi(comm);
  nobody_holds_more_than_some_pieces(); /* first, since the capacity of long strings is kept */
  strings_of_any_length_come_whole_and_in_order();
  an_owner_of_a_long_string_hears_the_root_while_it_passes_others_on();
  one_string_may_be_all_there_is();
  the_root_calls_for_one_string_ahead_unless_it_is_of_more_than_a_chunk();
  gathers_stand_between_other_operations();
  a_refusal_is_told_to_the_root_alone();
  the_root_talks_to_as_many_as_there_are_levels();
  a_gather_does_not_mind_who_has_dropped_messages();
  a_piece_has_an_end();
  long_strings_are_sent_once();
  who_sends_to_the_root_returns_when_it_has_received();
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
