/* SPDX-License-Identifier: Apache-2.0 */
/* A process dies in each phase of a set of moves (image_moves_impl.h): the set ends at every survivor, kept images
 * are unchanged, no message is pending after the repair, and the next set with the same list moves the images of the
 * survivors. */
/* gabion-test: np=6 timeout=60 needs=ulfm */
#include "core/memory/memory_impl.h"
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "resilience/checkpoint/image_moves_impl.h"
#include "tests/mpi_test.h"

#include <fcntl.h>

enum { BYTES = (9 << 20) + 77 /* two pieces of a copy, several chunks of a message */ };

typedef struct death {
  int32_t victim; /* index among the living */
  gab_image_phase phase;
  gab_image_way way;
  bool maps, is_hidden;
  bool is_repaired_first; /* the set is ended after the repair, not before */
} death;

static const death deaths[] = {
    {1, GAB_IMAGES_SENDING, GAB_IMAGE_KEPT, false, false, false},
    {4, GAB_IMAGES_REFUSED, GAB_IMAGE_OFFERED, false, true, true},
    {1, GAB_IMAGES_COPYING, GAB_IMAGE_OFFERED, false, false, false},
    {0, GAB_IMAGES_ANSWERS, GAB_IMAGE_OFFERED, true, false, true},
};

typedef struct bench {
  gab_world *world;
  gab_rank me;
  gab_image_moves moves;
  int set; /* number of the set: its images differ from those of the others */
  gab_buffer own;
  gab_copy copy;
  uint64_t pids[TEST_MOST_RANKS]; /* by rank */
} bench;

static unsigned char byte_of(gab_rank rank, int set, size_t at)
{
  return (unsigned char)(at * 7 + at / 251 + (size_t)rank * 31 + (size_t)set * 5);
}

static bool is_image(const gab_buffer *image, gab_rank rank, int set)
{
  if (gab_message_bytes(image) != BYTES) return false;
  for (size_t i = 0; i < BYTES; i++)
    if (image->data[GAB_ENVELOPE_BYTES + i] != byte_of(rank, set, i)) return false;
  return true;
}

/* Processes that open this file from now on find another one. */
static void hide(int file)
{
  const int other = open("/dev/null", O_RDWR);
  REQUIRE(other >= 0 && dup2(other, file) == file);
  close(other);
}

/* In memory that other processes of the node can read, unless its file is hidden: then they refuse its offers. */
static void make_own(bench *b, bool is_hidden)
{
  void *memory;
  gab_buffer_release(&b->own);
  gab_buffer_init(&b->own, GAB_MEMORY_SNAPSHOT);
  REQUIRE_OK(gab_alloc_shared(GAB_ENVELOPE_BYTES + BYTES, GAB_MEMORY_SNAPSHOT, &memory));
  b->own.data = memory;
  b->own.capacity = GAB_ENVELOPE_BYTES + BYTES;
  REQUIRE_OK(gab_message_begin(&b->own));
  REQUIRE_OK(gab_buffer_extend(&b->own, BYTES, &memory));
  gab_shared_key key;
  if (is_hidden && gab_shared_key_of(b->own.data, &key)) hide((int)key.file);
  for (size_t i = 0; i < BYTES; i++) b->own.data[GAB_ENVELOPE_BYTES + i] = byte_of(b->me, b->set, i);
}

/* In the ring of the living. */
static gab_rank neighbour(const bench *b, int32_t distance)
{
  const gab_members *members = gab_world_members(b->world);
  const int32_t count = gab_members_count(members);
  return gab_members_rank(members, (gab_members_index(members, b->me) + count + distance) % count);
}

static void post(bench *b, gab_image_way way, bool is_hidden)
{
  b->set++;
  make_own(b, is_hidden);
  gab_copy_forget(&b->copy);
  b->copy.rank = neighbour(b, -1);
  b->copy.decision = GAB_OFFER_NONE;
  REQUIRE_OK(gab_image_moves_receive(&b->moves, b->copy.rank, &b->copy.image, &b->copy));
  REQUIRE_OK(gab_image_moves_send(&b->moves, neighbour(b, 1), &b->own, way));
  const gab_status status = gab_image_moves_post(&b->moves);
  REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT); /* a neighbour may be dead by now */
}

static gab_status advance_to(bench *b, gab_image_phase phase)
{
  bool done = false;
  gab_status status = GAB_OK;
  while (status == GAB_OK && !done && b->moves.phase < phase)
    status = gab_image_moves_progress(&b->moves, &done);
  return status;
}

static void die(bench *b, const death *how)
{
  REQUIRE_OK(advance_to(b, how->phase));
  REQUIRE(b->moves.phase == how->phase);
  raise(SIGKILL);
}

static void repair(bench *b)
{
  gab_status abort_request;
  REQUIRE_OK(gab_world_repair(b->world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
}

/* The rank that answers only after the death. Without the answer of the next rank the victim stays in `answers'; without that of
 * the one behind it the next rank does not receive the refused image, and the victim stays in `refused'. */
static bool is_late(const bench *b, const death *how)
{
  const gab_members *members = gab_world_members(b->world);
  const int32_t behind = how->phase == GAB_IMAGES_ANSWERS ? 1 : how->phase == GAB_IMAGES_REFUSED ? 2 : 0;
  return behind > 0 &&
         gab_members_index(members, b->me) == (how->victim + behind) % gab_members_count(members);
}

static void lose_one(bench *b, const death *how)
{
  const gab_rank victim = gab_members_rank(gab_world_members(b->world), how->victim);
  const bool is_lent = how->phase == GAB_IMAGES_REFUSED;
  test_doom(victim);
  if (b->me == victim) die(b, how);
  while (is_late(b, how) && kill((pid_t)b->pids[victim], 0) == 0) usleep(1000);
  gab_status status = advance_to(b, GAB_IMAGES_ANSWERS);
  if (status == GAB_OK) status = gab_image_moves_finish(&b->moves);
  CHECK(status == GAB_OK || status == GAB_ERR_FAULT); /* this rank may have all it waits for */
  while (gab_world_barrier(b->world) == GAB_OK) {}
  CHECK(is_image(&b->own, b->me, b->set) || (is_lent && gab_message_bytes(&b->own) == 0));
  if (how->is_repaired_first) {
    repair(b);
    status = GAB_OK;
  }
  CHECK(gab_image_moves_end(&b->moves, status) == status);
  if (!how->is_repaired_first) repair(b);
  CHECK(is_image(&b->own, b->me, b->set) || (is_lent && gab_message_bytes(&b->own) == 0));
  REQUIRE(b->world->deferred == NULL);
}

static void move_all(bench *b, gab_image_way way)
{
  post(b, way, false);
  REQUIRE_OK(gab_image_moves_finish(&b->moves));
  CHECK(is_image(&b->copy.image, b->copy.rank, b->set));
  CHECK(is_image(&b->own, b->me, b->set));
  REQUIRE_OK(gab_image_moves_end(&b->moves, GAB_OK));
  REQUIRE_OK(gab_world_barrier(b->world)); /* the next rank may read the own image until here */
}

static bool can_be_seen(void)
{
  void *memory;
  gab_shared_key key;
  REQUIRE_OK(gab_alloc_shared(1, GAB_MEMORY_SNAPSHOT, &memory));
  const bool seen = gab_shared_key_of(memory, &key);
  gab_free(&memory);
  return seen;
}

int main(int argc, char **argv)
{
  bench b = {.set = 0};
  REQUIRE_OK(gab_world_create(&argc, &argv, &b.world));
  b.me = gab_world_rank(b.world);
  b.pids[b.me] = (uint64_t)getpid();
  REQUIRE_OK(gab_world_max_u64(b.world, b.pids, (size_t)gab_world_members(b.world)->ranks));
  REQUIRE_OK(gab_port_create(b.world, "images", &b.moves.port));
  gab_buffer_init(&b.own, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&b.copy.image, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&b.copy.answer, GAB_MEMORY_MESSAGE);
  const size_t count = can_be_seen() ? sizeof deaths / sizeof *deaths : 1;
  for (size_t i = 0; i < count; i++) {
    b.moves.maps = deaths[i].maps;
    post(&b, deaths[i].way, deaths[i].is_hidden);
    lose_one(&b, &deaths[i]);
    move_all(&b, GAB_IMAGE_KEPT);
    move_all(&b, GAB_IMAGE_OFFERED);
  }
  gab_port_destroy(&b.moves.port);
  gab_image_moves_release(&b.moves);
  gab_copy_release(&b.copy);
  gab_buffer_release(&b.own);
  return test_end(&b.world);
}
