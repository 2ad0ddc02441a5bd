/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to a process that dies before receiving them: a port takes over the buffer of a sent message, and returns
 * that of a sent and kept one, with all its bytes, for sending again. A port that ends before the repair takes both,
 * since its owner may release them then. */
/* gabion-test: np=3 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "tests/mpi_test.h"

enum { FIRST = 1, SECOND = 2, BYTES = 5 * 768 * 1024 + 17 };

static gab_world *world;
static gab_port *port;

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 31 + i / 255); }

static void fill(gab_buffer *message)
{
  void *place;
  REQUIRE_OK(gab_message_begin(message));
  REQUIRE_OK(gab_buffer_extend(message, BYTES, &place));
  for (size_t i = 0; i < BYTES; i++) ((unsigned char *)place)[i] = byte_at(i);
}

static bool is_whole(const gab_buffer *message)
{
  size_t right = 0;
  if (gab_message_bytes(message) != BYTES) return false;
  while (right < BYTES && message->data[GAB_ENVELOPE_BYTES + right] == byte_at(right)) right++;
  return right == BYTES;
}

/* The receiver dies without receiving; the others notice it in their sends, or in the barrier. */
static void send_in_vain(gab_rank target, gab_buffer *kept, gab_buffer *given)
{
  test_kill(world, target);
  gab_status status = gab_port_send_kept(port, target, kept);
  if (status == GAB_OK) status = gab_port_send(port, target, given);
  else gab_buffer_clear(given); /* the death is known already */
  if (status == GAB_OK) status = gab_port_finish(port);
  CHECK(status == GAB_ERR_FAULT);
  while (gab_world_barrier(world) == GAB_OK) {}
}

static void repair(void)
{
  gab_status abort_request;
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
}

int main(int argc, char **argv)
{
  gab_buffer kept, given, received;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE_OK(gab_port_create(world, "words", &port));
  gab_buffer_init(&kept, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&given, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  fill(&kept);
  fill(&given);
  send_in_vain(FIRST, &kept, &given);
  CHECK(is_whole(&kept));
  CHECK(gab_message_bytes(&given) == 0);
  repair();
  CHECK(is_whole(&kept));
  const gab_rank me = gab_world_rank(world), other = SECOND - me;
  REQUIRE_OK(gab_port_receive(port, other, &received, GAB_SIZE_UNKNOWN));
  REQUIRE_OK(gab_port_send_kept(port, other, &kept));
  REQUIRE_OK(gab_port_finish(port));
  CHECK(is_whole(&received) && is_whole(&kept));
  fill(&given);
  send_in_vain(SECOND, &kept, &given);
  CHECK(is_whole(&kept));
  REQUIRE(world->deferred != NULL);
  gab_port_destroy(&port);
  CHECK(gab_message_bytes(&kept) == 0);
  repair();
  REQUIRE(world->deferred == NULL);
  gab_buffer_release(&kept);
  gab_buffer_release(&given);
  gab_buffer_release(&received);
  return test_end(&world);
}
