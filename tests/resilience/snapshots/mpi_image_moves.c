/* SPDX-License-Identifier: Apache-2.0 */
/* Transport of images: in each way of transfer, receivers get the bytes of the holders, and a kept image does not
 * change. */
/* gabion-test: np=1,2,3 quick=2 */
#include "tests/mpi_test.h"

#include "core/memory/memory_impl.h"
#include "core/messages/collective.h"
#include "resilience/checkpoint/image_moves_impl.h"

#include <string.h>

enum { SMALL = 1000, LARGE = (9 << 20) + 77 /* two pieces of a copy */ };

typedef struct bench {
  gab_world *world;
  gab_rank me, ranks;
  gab_image_moves moves;
} bench;

static unsigned char byte_of(gab_rank rank, size_t at)
{
  return (unsigned char)(at * 7 + at / 251 + (size_t)rank * 31);
}

/* @param[in] shared in memory that other processes of the node can read, if the system supports it */
static void make_image(gab_rank rank, size_t bytes, bool shared, gab_buffer *image)
{
  void *memory;
  gab_buffer_init(image, GAB_MEMORY_SNAPSHOT);
  if (shared) {
    REQUIRE_OK(gab_alloc_shared(GAB_ENVELOPE_BYTES + bytes, GAB_MEMORY_SNAPSHOT, &memory));
    image->data = memory;
    image->capacity = GAB_ENVELOPE_BYTES + bytes;
  }
  REQUIRE_OK(gab_message_begin(image));
  REQUIRE_OK(gab_buffer_extend(image, bytes, &memory));
  for (size_t i = 0; i < bytes; i++) image->data[GAB_ENVELOPE_BYTES + i] = byte_of(rank, i);
}

static bool is_image(const gab_buffer *image, gab_rank rank, size_t bytes)
{
  if (gab_message_bytes(image) != bytes) return false;
  for (size_t i = 0; i < bytes; i++)
    if (image->data[GAB_ENVELOPE_BYTES + i] != byte_of(rank, i)) return false;
  return true;
}

static gab_rank next_of(const bench *b) { return (b->me + 1) % b->ranks; }
static gab_rank previous_of(const bench *b) { return (b->me + b->ranks - 1) % b->ranks; }

/* Each rank sends its image to the next one. @return the answer to an offer */
static gab_offer_answer pass_on(bench *b, size_t bytes, bool shared, gab_image_way way, bool waits)
{
  gab_buffer own;
  gab_copy copy = {.rank = previous_of(b)};
  bool done = false;
  gab_buffer_init(&copy.image, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&copy.answer, GAB_MEMORY_MESSAGE);
  make_image(b->me, bytes, shared, &own);
  REQUIRE_OK(gab_image_moves_receive(&b->moves, copy.rank, &copy.image, &copy));
  REQUIRE_OK(gab_image_moves_send(&b->moves, next_of(b), &own, way));
  REQUIRE_OK(gab_image_moves_post(&b->moves));
  if (waits) REQUIRE_OK(gab_image_moves_finish(&b->moves));
  while (!waits && !done) REQUIRE_OK(gab_image_moves_progress(&b->moves, &done));
  const gab_offer_answer answered = b->moves.departures[0].answered;
  CHECK(is_image(&copy.image, copy.rank, bytes));
  CHECK(is_image(&own, b->me, bytes));
  CHECK(copy.image.fixed == (copy.decision == GAB_OFFER_SHARED));
  REQUIRE_OK(gab_image_moves_end(&b->moves, GAB_OK));
  REQUIRE_OK(gab_world_barrier(b->world)); /* the next rank may read the image until here */
  gab_copy_release(&copy);
  gab_buffer_release(&own);
  return answered;
}

static void images_arrive_by_messages(bench *b)
{
  for (int waits = 0; waits < 2; waits++) {
    CHECK(pass_on(b, SMALL, false, GAB_IMAGE_SENT, waits) == GAB_OFFER_NONE);
    CHECK(pass_on(b, LARGE, false, GAB_IMAGE_KEPT, waits) == GAB_OFFER_NONE);
    /* Private memory is not offered. */
    CHECK(pass_on(b, SMALL, false, GAB_IMAGE_OFFERED, waits) == GAB_OFFER_NONE);
  }
}

static void offered_images_are_copied_or_mapped(bench *b)
{
  gab_buffer probe;
  gab_shared_key key;
  make_image(0, 1, true, &probe);
  const bool can_be_seen = gab_shared_key_of(probe.data, &key);
  gab_buffer_release(&probe);
  if (!can_be_seen || b->ranks == 1) return;
  for (int waits = 0; waits < 2; waits++)
    for (int maps = 0; maps < 2; maps++) {
      b->moves.maps = maps;
      const gab_offer_answer answered = pass_on(b, LARGE, true, GAB_IMAGE_OFFERED, waits);
      CHECK(answered == (maps ? GAB_OFFER_SHARED : GAB_OFFER_COPIED) || answered == GAB_OFFER_REFUSED);
    }
}

/* A receiver of two images copies one per call, so that each call fits between two tasks. */
static void each_call_copies_one_piece(bench *b)
{
  gab_buffer images[2];
  gab_copy copies[2];
  bool done = false;
  if (b->ranks != 3) return;
  b->moves.maps = false;
  for (int i = 0; i < 2; i++) {
    const gab_rank other = (b->me + 1 + i) % 3;
    make_image(b->me, SMALL, true, &images[i]);
    copies[i] = (gab_copy){.rank = other};
    gab_buffer_init(&copies[i].image, GAB_MEMORY_SNAPSHOT);
    gab_buffer_init(&copies[i].answer, GAB_MEMORY_MESSAGE);
    REQUIRE_OK(gab_image_moves_receive(&b->moves, other, &copies[i].image, &copies[i]));
    REQUIRE_OK(gab_image_moves_send(&b->moves, other, &images[i], GAB_IMAGE_OFFERED));
  }
  REQUIRE_OK(gab_image_moves_post(&b->moves));
  for (int before = 0; !done;) {
    int copied = 0;
    REQUIRE_OK(gab_image_moves_progress(&b->moves, &done));
    for (int i = 0; i < 2; i++)
      copied += copies[i].decision == GAB_OFFER_COPIED && is_image(&copies[i].image, copies[i].rank, SMALL);
    CHECK(copied <= before + 1);
    before = copied;
  }
  REQUIRE_OK(gab_image_moves_end(&b->moves, GAB_OK));
  REQUIRE_OK(gab_world_barrier(b->world)); /* the others may read the images until here */
  for (int i = 0; i < 2; i++) {
    CHECK(is_image(&copies[i].image, copies[i].rank, SMALL));
    gab_copy_release(&copies[i]);
    gab_buffer_release(&images[i]);
  }
}

/* A restorer sends several images to several ranks, and keeps them. */
static void one_holder_serves_all_others(bench *b)
{
  gab_buffer *images;
  gab_status status = GAB_OK;
  REQUIRE_OK(GAB_NEW_ARRAY(&images, (size_t)b->ranks, GAB_MEMORY_OTHER));
  for (gab_rank rank = 0; rank < b->ranks; rank++) {
    make_image(rank, SMALL + (size_t)rank, false, &images[rank]);
    if (rank > 0 && b->me == 0 && status == GAB_OK)
      status = gab_image_moves_send(&b->moves, rank, &images[rank], GAB_IMAGE_KEPT);
  }
  gab_buffer mine;
  gab_buffer_init(&mine, GAB_MEMORY_SNAPSHOT);
  if (b->me > 0) status = gab_image_moves_receive(&b->moves, 0, &mine, NULL);
  REQUIRE_OK(gab_image_moves_run(&b->moves, status));
  if (b->me > 0) CHECK(is_image(&mine, b->me, SMALL + (size_t)b->me));
  for (gab_rank rank = 0; rank < b->ranks; rank++) {
    CHECK(is_image(&images[rank], rank, SMALL + (size_t)rank));
    gab_buffer_release(&images[rank]);
  }
  gab_buffer_release(&mine);
  gab_free(&images);
}

/* A mapped image is copied when it is listed, since the port writes an envelope before it. */
static void a_mapped_image_is_copied_before_it_is_sent(bench *b)
{
  gab_buffer image, view;
  make_image(b->me, SMALL, false, &image);
  view = gab_buffer_over(image.data, image.size);
  view.size = image.size;
  REQUIRE_OK(gab_image_moves_send(&b->moves, next_of(b), &view, GAB_IMAGE_KEPT));
  CHECK(!view.fixed && view.data != image.data && is_image(&view, b->me, SMALL));
  REQUIRE_OK(gab_image_moves_end(&b->moves, GAB_OK));
  gab_buffer_release(&view);
  gab_buffer_release(&image);
}

static void a_set_that_cannot_be_posted_is_empty_afterwards(bench *b)
{
  gab_buffer image;
  make_image(b->me, SMALL, false, &image);
  const gab_status listed = gab_image_moves_send(&b->moves, b->ranks + 5, &image, GAB_IMAGE_SENT);
  CHECK(gab_image_moves_run(&b->moves, listed) == GAB_ERR_ARGUMENT);
  CHECK(b->moves.departure_count == 0 && b->moves.arrival_count == 0);
  CHECK(is_image(&image, b->me, SMALL));
  CHECK(gab_image_moves_run(&b->moves, GAB_OK) == GAB_OK); /* nothing to move */
  gab_buffer_release(&image);
}

int main(int argc, char **argv)
{
  bench b = {.me = 0};
  REQUIRE_OK(gab_world_create(&argc, &argv, &b.world));
  b.me = gab_world_rank(b.world);
  b.ranks = gab_world_members(b.world)->ranks;
  REQUIRE_OK(gab_port_create(b.world, "images", &b.moves.port));
  images_arrive_by_messages(&b);
  offered_images_are_copied_or_mapped(&b);
  each_call_copies_one_piece(&b);
  one_holder_serves_all_others(&b);
  a_mapped_image_is_copied_before_it_is_sent(&b);
  a_set_that_cannot_be_posted_is_empty_afterwards(&b);
  gab_port_destroy(&b.moves.port);
  gab_image_moves_release(&b.moves);
  return test_end(&b.world);
}
