/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from and to a dead process do not reach any process after a replacement runs its rank; and an envelope
 * that claims an earlier incarnation is refused. */
/* gabion-test: np=3 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "tests/mpi_test.h"

enum { MORTAL = 1, FROM_OLD = 1, TO_OLD = 10, FROM_NEW = 2, TO_NEW = 20, FORGED = 3 };

static gab_world *world;
static gab_port *port;
static gab_buffer out, in;

static void send_to(gab_rank rank, uint64_t word)
{
  REQUIRE_OK(gab_message_begin(&out));
  REQUIRE_OK(gab_put_u64(&out, word));
  REQUIRE_OK(gab_port_send(port, rank, &out));
}

static uint64_t received_from(gab_rank rank)
{
  uint64_t word;
  REQUIRE_OK(gab_port_receive(port, rank, &in, sizeof word));
  REQUIRE_OK(gab_port_finish(port));
  gab_reader reader = gab_message_reader(&in);
  REQUIRE_OK(gab_get_u64(&reader, &word));
  return word;
}

/* Both messages have left, and neither is received. */
static void first_life(void)
{
  const bool is_mortal = gab_world_rank(world) == MORTAL;
  gab_status abort_request;
  send_to(is_mortal ? 0 : MORTAL, is_mortal ? FROM_OLD : TO_OLD);
  REQUIRE_OK(gab_port_finish(port));
  REQUIRE_OK(gab_world_barrier(world));
  if (is_mortal) raise(SIGKILL);
  while (gab_world_barrier(world) == GAB_OK) {}
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
}

/* An envelope that is right but for the incarnation of its sender, past the port. */
static void forge(void)
{
  REQUIRE_OK(gab_message_begin(&out));
  REQUIRE_OK(gab_put_u64(&out, FORGED));
  const gab_envelope envelope = {.epoch = gab_world_epoch(world),
                                 .source = MORTAL,
                                 .target = 0,
                                 .source_incarnation = 0,
                                 .context = port->context,
                                 .sequence = 1,
                                 .step = gab_world_step(world),
                                 .bytes = sizeof(uint64_t)};
  gab_envelope_write(&envelope, out.data);
  REQUIRE(MPI_Send(out.data, (int)out.size, MPI_BYTE, gab_world_comm_rank(world, 0), (int)port->context,
                   world->comm) == MPI_SUCCESS);
}

static void second_life(void)
{
  const bool is_mortal = gab_world_rank(world) == MORTAL;
  gab_envelope envelope;
  REQUIRE(gab_world_incarnation(world, MORTAL) == 1);
  send_to(is_mortal ? 0 : MORTAL, is_mortal ? FROM_NEW : TO_NEW);
  REQUIRE(received_from(is_mortal ? 0 : MORTAL) == (is_mortal ? TO_NEW : FROM_NEW));
  REQUIRE_OK(gab_message_envelope(&in, &envelope));
  REQUIRE(envelope.source_incarnation == (is_mortal ? 0u : 1u) &&
          envelope.target_incarnation == (is_mortal ? 1u : 0u));
  REQUIRE(envelope.sequence == 0);
  if (is_mortal) {
    forge();
  } else {
    REQUIRE_OK(gab_port_receive(port, MORTAL, &in, sizeof(uint64_t)));
    REQUIRE(gab_port_finish(port) == GAB_ERR_CORRUPT);
    REQUIRE(strstr(gab_error_message(), "another life"));
  }
  REQUIRE_OK(gab_world_barrier(world));
}

int main(int argc, char **argv)
{
  gab_status abort_request;
  setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE_OK(gab_port_create(world, "words", &port));
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  const bool was_spare = gab_world_is_spare(world);
  test_doom(MORTAL);
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  REQUIRE(!gab_world_is_spare(world));
  if (!was_spare) first_life();
  second_life();
  REQUIRE_OK(gab_world_dismiss(world, GAB_OK));
  gab_buffer_release(&in);
  gab_buffer_release(&out);
  gab_port_destroy(&port);
  return test_end(&world);
}
