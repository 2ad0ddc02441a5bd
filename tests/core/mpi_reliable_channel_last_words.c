/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody has sent who is dead now: it lies there, nobody can receive it, and it hides nothing of what the living send; a message
 * of which the sender dies half way is not told of. Nobody is asked for by any source again once MPI refuses that, or has found such
 * a message. */
/* gabion-test: np=3,5 quick=3 timeout=60 needs=ulfm */
/* gabion-test: np=3 env=GABION_TEST_REFUSES=1 */
/* gabion-test: np=3,5 env=GABION_TEST_TORN=1 */
#include "core/messages/collective.h"
#include "core/messages/logged/reliable_channel.h"
#include "core/messages/port.h"
#include "core/world/world_impl.h"
#include "tests/mpi_test.h"

/* A payload of LONG bytes is sent in three parts after the head; the second part is not sent any more. */
enum { WORDS = 70, LONG = 3 * 768 * 1024, HEAD = 8, MOST = 8, SENT_OF_TORN = 2 };

static gab_process me, dead;
static uint64_t came[MOST]; /* received from each place */
static int down[MOST];
static int dead_rank, found_dead, asked_any_again;
static bool refuses, is_refused;
static int left_to_send = -1; /* MPI messages until this process dies; negative: it does not die */

/* Intercepts calls of the MPI library. */
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
  if (source != MPI_ANY_SOURCE || tag != GAB_CONTEXT_RELIABLE)
    return PMPI_Iprobe(source, tag, comm, there, status);
  asked_any_again += is_refused;
  is_refused = refuses;
  if (refuses) return MPIX_ERR_PROC_FAILED_PENDING;
  const int code = PMPI_Iprobe(source, tag, comm, there, status);
  if (code == MPI_SUCCESS && *there) found_dead += status->MPI_SOURCE == dead_rank;
  return code;
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  if (left_to_send == 0) raise(SIGKILL);
  left_to_send -= left_to_send > 0;
  return PMPI_Isend(bytes, count, type, target, tag, comm, request);
}

static gab_status on_message(void *user, gab_process place, uint32_t lane, const void *bytes, size_t count,
                             gab_buffer *payload)
{
  gab_reliable_channel *const *channel = user;
  gab_reader in = gab_reader_of(bytes, count);
  uint64_t number;
  REQUIRE(gab_reliable_channel_place(*channel) == me && lane == 1);
  REQUIRE_OK(gab_get_u64(&in, &number));
  REQUIRE(number == came[place]++);
  REQUIRE((payload != NULL) == (number == WORDS - 1));
  for (size_t i = 0; payload && i < LONG; i += 4093)
    REQUIRE(payload->data[i] == (unsigned char)(i + (size_t)place));
  return GAB_OK;
}

static gab_status on_down(void *user, gab_process place)
{
  (void)user;
  down[place]++;
  return GAB_OK;
}

static gab_status say(gab_reliable_channel *channel, gab_process to, uint64_t number, size_t bytes)
{
  static unsigned char payload[LONG];
  gab_buffer head;
  gab_buffer_init(&head, GAB_MEMORY_OTHER);
  for (size_t i = 0; i < bytes; i++) payload[i] = (unsigned char)(i + (size_t)me);
  REQUIRE_OK(gab_put_u64(&head, number));
  const gab_status status = gab_reliable_channel_send(channel, to, 1, &head, payload, bytes, NULL);
  gab_buffer_release(&head);
  return status;
}

/* Short messages, followed by a long one. */
static void say_all(gab_reliable_channel *channel, gab_process to)
{
  for (uint64_t number = 0; number < WORDS; number++)
    REQUIRE_OK(say(channel, to, number, number == WORDS - 1 ? LONG : 0));
}

/* Dies when all processes are known to have its messages in their queues. */
static void die_behind_words(gab_world *world, gab_reliable_channel *channel)
{
  for (gab_process to = 0; to < dead && me == dead; to++) say_all(channel, to);
  for (int there = me == dead; !there;)
    PMPI_Iprobe(dead_rank, GAB_CONTEXT_RELIABLE, world->comm, &there, MPI_STATUS_IGNORE);
  REQUIRE_OK(gab_world_barrier(world));
  test_kill(world, dead);
  for (int deaths = 0; deaths == 0; gab_mpi_progress()) {
    int32_t active;
    REQUIRE_OK(gab_world_count_deaths(world, &deaths, &active));
  }
}

/* Dies while it sends a message that the first process is receiving. */
static void die_within(gab_reliable_channel *channel)
{
  test_doom(dead);
  if (me == dead) {
    left_to_send = SENT_OF_TORN;
    REQUIRE_OK(say(channel, 0, 0, LONG));
  }
  while (down[dead] == 0) REQUIRE_OK(gab_reliable_channel_serve(channel));
  CHECK(came[dead] == 0);
}

static void talk_on(gab_reliable_channel *channel)
{
  for (gab_process to = 0; to < dead; to++)
    if (to != me) say_all(channel, to);
  for (gab_process from = 0; from < dead; from++)
    while (from != me && came[from] < WORDS) REQUIRE_OK(gab_reliable_channel_serve(channel));
  while (down[dead] == 0) REQUIRE_OK(gab_reliable_channel_serve(channel));
  for (gab_process place = 0; place < dead; place++) CHECK(down[place] == 0);
}

/* Tells all that this process has finished, and waits for the same from them, or for the repair, which begins later. */
static void end(gab_reliable_channel *channel)
{
  gab_status status = GAB_OK;
  for (gab_process to = 0; to < dead && status == GAB_OK; to++)
    if (to != me) status = say(channel, to, WORDS, 0);
  for (gab_process from = 0; from < dead; from++)
    while (from != me && came[from] <= WORDS && status == GAB_OK)
      status = gab_reliable_channel_serve(channel);
  REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_reliable_channel *channel;
  gab_status abort_request;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const gab_reliable_channel_events events = {.user = &channel, .message = on_message, .down = on_down};
  gab_world_set_policy(world, GAB_POLICY_MARK_DOWN);
  REQUIRE_OK(gab_reliable_channel_create(world, &events, &channel));
  me = gab_reliable_channel_place(channel);
  dead = gab_reliable_channel_places(channel) - 1;
  dead_rank = gab_world_comm_rank(world, dead);
  refuses = getenv("GABION_TEST_REFUSES");
  if (getenv("GABION_TEST_TORN")) die_within(channel);
  else die_behind_words(world, channel);
  talk_on(channel);
  end(channel);
  CHECK(asked_any_again == 0 && is_refused == refuses);
  /* once when the message could not be received, and once more */
  CHECK(came[dead] < WORDS && found_dead <= (int)came[dead] + 2);

  REQUIRE_OK(gab_world_repair(world, &abort_request));
  gab_reliable_channel_destroy(&channel);
  CHECK(gab_members_count(gab_world_members(world)) == dead);
  return test_end(&world);
}
