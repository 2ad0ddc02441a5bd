/* SPDX-License-Identifier: Apache-2.0 */
/* A receive from any source takes messages of its own pattern and iteration and of its tag only, each once, whole and in the
 * order of its channel, however early others have come; what cannot be received rightly is refused; and who waits for a
 * message hears of a death. */
/* gabion-test: np=1,2,4,7 quick=4 timeout=60 needs=ulfm */
/* gabion-test: np=2,4 env=GABION_SHARES_CORES=0 */
#define GAB_SPBC_NAMES
#include "core/messages/collective.h"
#include "core/messages/mailbox.h"
#include "core/messages/port.h"
#include "tests/mpi_test.h"

enum { TAG = 5, OTHER_TAG = 6, NO_TAG = 99, MOST = 16 };

static gab_world *world;
static int32_t ranks, me;
static gab_mailbox *box;
static gab_pattern talk, other;

/* Moves all arrived messages into the queue: probes with a tag that no message has. */
static void bring_in(size_t count)
{
  bool there;
  while (gab_mailbox_waiting(box) < count)
    for (gab_rank source = 0; source < ranks; source++) {
      REQUIRE_OK(gab_mailbox_probe(box, source, NO_TAG, &there, NULL));
      REQUIRE(!there);
    }
  REQUIRE(gab_mailbox_waiting(box) == count);
}

static uint64_t take(gab_rank source, uint32_t tag, gab_mail *mail)
{
  uint64_t value = 0;
  REQUIRE_OK(gab_mailbox_receive(box, source, tag, &value, sizeof value, mail));
  REQUIRE(mail->bytes == sizeof value && mail->tag == tag);
  return value;
}

static void put(gab_rank target, uint32_t tag, uint64_t value)
{
  REQUIRE_OK(gab_mailbox_send(box, target, tag, &value, sizeof value));
}

/* ---------------------------------------------------------------- matching */

static void messages_of_all_come_once_and_in_the_order_of_their_channel(void)
{
  enum { EACH = 50 };
  uint64_t next[MOST] = {0};
  gab_mail mail;
  REQUIRE_OK(gab_pattern_begin(world, talk));
  for (uint64_t i = 0; i < EACH; i++)
    for (gab_rank to = 0; to < ranks; to++) put(to, TAG, i);
  for (int i = 0; i < EACH * ranks; i++) {
    const uint64_t value = take(GAB_ANY_RANK, TAG, &mail);
    REQUIRE(mail.source >= 0 && mail.source < ranks && value == next[mail.source]++);
  }
  REQUIRE(gab_mailbox_waiting(box) == 0);
  REQUIRE_OK(gab_pattern_end(world, talk));
  REQUIRE_OK(gab_world_barrier(world));
}

/* Other ranks are three iterations ahead, in two patterns and with two tags, before the first receive. */
static void early_messages_wait_for_their_iteration(void)
{
  const gab_rank target = 0;
  const uint64_t first = gab_pattern_iteration(world, talk) + 1;
  const uint64_t first_other = gab_pattern_iteration(world, other) + 1;
  gab_mail mail;
  put(target, TAG, 1000);
  for (uint64_t round = 0; round < 3 && me != target; round++) {
    BEGIN_ITERATION(world, talk);
    put(target, OTHER_TAG, 100 + round);
    put(target, TAG, round);
    REQUIRE_OK(END_ITERATION(world, talk));
    BEGIN_ITERATION(world, other);
    put(target, TAG, 10 + round);
    REQUIRE_OK(END_ITERATION(world, other));
  }
  REQUIRE_OK(gab_world_barrier(world));
  if (me == target) {
    bring_in(10 * (size_t)(ranks - 1) + 1);
    for (uint64_t round = 0; round < 3; round++) {
      /* the other pattern first, in reverse order of the sends */
      REQUIRE_OK(gab_pattern_begin(world, other));
      for (int i = 1; i < ranks; i++) {
        REQUIRE(take(GAB_ANY_RANK, TAG, &mail) == 10 + round);
        REQUIRE(mail.id.pattern == other && mail.id.iteration == first_other + round);
      }
      REQUIRE_OK(gab_pattern_end(world, other));
      REQUIRE_OK(gab_pattern_begin(world, talk));
      for (int i = 1; i < ranks; i++) {
        REQUIRE(take(GAB_ANY_RANK, TAG, &mail) == round);
        REQUIRE(mail.id.pattern == talk && mail.id.iteration == first + round);
      }
      bool there;
      REQUIRE_OK(gab_mailbox_probe(box, GAB_ANY_RANK, TAG, &there, NULL));
      REQUIRE(!there);
      for (gab_rank from = 1; from < ranks; from++) REQUIRE(take(from, OTHER_TAG, &mail) == 100 + round);
      REQUIRE_OK(gab_pattern_end(world, talk));
    }
  }
  for (gab_rank from = 0; me == target && from < ranks; from++) REQUIRE(take(from, TAG, &mail) == 1000);
  REQUIRE(gab_mailbox_waiting(box) == 0);
  while (gab_pattern_iteration(world, talk) < first + 2) /* all ranks are in the same iterations again */
    REQUIRE(gab_pattern_begin(world, talk) == GAB_OK && gab_pattern_end(world, talk) == GAB_OK);
  REQUIRE_OK(gab_world_barrier(world));
}

static void a_probe_shows_what_a_receive_takes(void)
{
  const gab_rank up = (me + 1) % ranks, down = (me + ranks - 1) % ranks;
  bool there = false;
  gab_mail found, mail;
  REQUIRE_OK(gab_pattern_begin(world, talk));
  gab_world_set_step(world, 17);
  put(up, TAG, 1);
  put(up, TAG, 2);
  while (!there) REQUIRE_OK(gab_mailbox_probe(box, GAB_ANY_RANK, TAG, &there, &found));
  REQUIRE(found.source == down && found.bytes == 8 && found.step == 17);
  REQUIRE_OK(gab_mailbox_probe(box, GAB_ANY_RANK, TAG, &there, &found));
  REQUIRE(there && found.source == down);
  REQUIRE(take(found.source, TAG, &mail) == 1 && take(GAB_ANY_RANK, TAG, &mail) == 2);
  REQUIRE_OK(gab_mailbox_probe(box, GAB_ANY_RANK, TAG, &there, &found));
  REQUIRE(!there);
  REQUIRE_OK(gab_pattern_end(world, talk));
  REQUIRE_OK(gab_world_barrier(world));
}

/* ---------------------------------------------------------------- sizes */

static unsigned char byte_of(gab_rank from, size_t size, size_t at)
{
  return (unsigned char)(from * 37 + (int)(size % 251) + (int)(at * 31) + (int)(at >> 12));
}

/* No rank receives before all have sent, and sends do not wait. */
static void messages_of_all_sizes_arrive_whole_and_senders_do_not_wait(void)
{
  static const size_t sizes[] = {0,
                                 1,
                                 5000,
                                 GAB_CHUNK_BYTES - GAB_ENVELOPE_BYTES - 4,
                                 GAB_CHUNK_BYTES - GAB_ENVELOPE_BYTES - 3,
                                 3 * GAB_CHUNK_BYTES};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  const gab_rank up = (me + 1) % ranks, down = (me + ranks - 1) % ranks;
  unsigned char *bytes = malloc(3 * GAB_CHUNK_BYTES);
  gab_mail mail;
  REQUIRE(bytes);
  REQUIRE_OK(gab_pattern_begin(world, talk));
  for (int s = 0; s < SIZES; s++) {
    for (size_t i = 0; i < sizes[s]; i++) bytes[i] = byte_of(me, sizes[s], i);
    REQUIRE_OK(gab_mailbox_send(box, up, TAG, bytes, sizes[s]));
    memset(bytes, 0, sizes[s]);
  }
  for (int s = 0; s < SIZES; s++) {
    bool right = true;
    if (sizes[s] > 0) { /* one byte too long: it stays, and its size is reported */
      bytes[sizes[s] - 1] = 77;
      REQUIRE(gab_mailbox_receive(box, GAB_ANY_RANK, TAG, bytes, sizes[s] - 1, &mail) == GAB_ERR_ARGUMENT);
      REQUIRE(mail.bytes == sizes[s] && mail.source == down && bytes[sizes[s] - 1] == 77);
    }
    REQUIRE_OK(gab_mailbox_receive(box, down, TAG, bytes, sizes[s], &mail));
    REQUIRE(mail.bytes == sizes[s]);
    for (size_t i = 0; i < sizes[s]; i++) right = right && bytes[i] == byte_of(down, sizes[s], i);
    REQUIRE(right);
  }
  REQUIRE_OK(gab_pattern_end(world, talk));
  free(bytes);
  REQUIRE_OK(gab_world_barrier(world));
}

/* ---------------------------------------------------------------- what is refused */

static void patterns_are_not_nested_and_end_once(void)
{
  const uint64_t before = gab_pattern_iteration(world, talk);
  REQUIRE(gab_pattern_active(world).pattern == GAB_DEFAULT_PATTERN);
  REQUIRE(gab_pattern_active(world).iteration == 0);
  REQUIRE(gab_pattern_end(world, talk) == GAB_ERR_STATE);
  REQUIRE(gab_pattern_end(world, GAB_DEFAULT_PATTERN) == GAB_ERR_STATE);
  REQUIRE(gab_pattern_begin(world, GAB_DEFAULT_PATTERN) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_pattern_begin(world, other + 1) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_pattern_begin(world, talk));
  REQUIRE(gab_pattern_begin(world, other) == GAB_ERR_STATE);
  REQUIRE(gab_pattern_begin(world, talk) == GAB_ERR_STATE);
  REQUIRE(gab_pattern_end(world, other) == GAB_ERR_STATE);
  REQUIRE(gab_pattern_active(world).pattern == talk && gab_pattern_active(world).iteration == before + 1);
  REQUIRE_OK(gab_pattern_end(world, talk));
  REQUIRE(gab_pattern_end(world, talk) == GAB_ERR_STATE);
  REQUIRE(gab_pattern_iteration(world, talk) == before + 1 && gab_pattern_iteration(world, other + 1) == 0);
}

static void wildcards_outside_of_iterations_and_strangers_are_refused(void)
{
  bool there;
  uint64_t value;
  REQUIRE(gab_mailbox_probe(box, GAB_ANY_RANK, TAG, &there, NULL) == GAB_ERR_STATE);
  REQUIRE(gab_mailbox_receive(box, GAB_ANY_RANK, TAG, &value, 8, NULL) == GAB_ERR_STATE);
  REQUIRE(gab_mailbox_probe(box, ranks, TAG, &there, NULL) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_mailbox_probe(box, GAB_NO_RANK, TAG, &there, NULL) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_mailbox_send(box, ranks, TAG, NULL, 0) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_mailbox_send(box, GAB_ANY_RANK, TAG, NULL, 0) == GAB_ERR_ARGUMENT);
  REQUIRE(gab_mailbox_receive(box, me, TAG, &value, 8, NULL) == GAB_ERR_STATE);
}

/* It has arrived when its iteration ends, or arrives later: both are errors. */
static void a_message_that_nobody_can_receive_any_more_is_an_error(void)
{
  const gab_rank up = (me + 1) % ranks, down = (me + ranks - 1) % ranks;
  bool there;
  gab_mailbox *good = box;
  REQUIRE_OK(gab_mailbox_create(world, "late", &box));
  REQUIRE_OK(gab_pattern_begin(world, talk));
  put(up, TAG, 1);
  REQUIRE_OK(gab_world_barrier(world));
  bring_in(1);
  REQUIRE(gab_pattern_end(world, talk) == GAB_ERR_STATE);
  REQUIRE(gab_pattern_active(world).pattern == GAB_DEFAULT_PATTERN);
  REQUIRE_OK(gab_world_barrier(world));
  gab_mailbox_destroy(&box);
  REQUIRE_OK(gab_mailbox_create(world, "later", &box));
  REQUIRE_OK(gab_pattern_begin(world, talk));
  put(up, TAG, 1);
  REQUIRE_OK(gab_pattern_end(world, talk));
  gab_status status = GAB_OK;
  while (status == GAB_OK) status = gab_mailbox_probe(box, down, NO_TAG, &there, NULL);
  REQUIRE(status == GAB_ERR_STATE && strstr(gab_error_message(), "has ended here"));
  REQUIRE_OK(gab_world_barrier(world));
  gab_mailbox_destroy(&box);
  box = good;
}

/* ---------------------------------------------------------------- images */

/* In a global rollback counters are restored and queues are emptied; in a local one the queue is restored, too. */
static void images_hold_iterations_and_queues(void)
{
  gab_buffer image = {0}, within = {0};
  gab_mail mail;
  const uint64_t before = gab_pattern_iteration(world, talk);
  gab_world_set_step(world, 20);
  put(me, TAG, 4711);
  bring_in(1);
  REQUIRE_OK(gab_world_pack_mail(world, &image));
  gab_world_set_step(world, 21); /* must have been received before */
  REQUIRE(gab_world_pack_mail(world, &within) == GAB_ERR_STATE);
  REQUIRE_OK(gab_pattern_begin(world, talk));
  REQUIRE(gab_world_pack_mail(world, &within) == GAB_ERR_STATE);
  for (int alone = 0; alone < 2; alone++) {
    gab_reader in = gab_reader_of_buffer(&image);
    gab_world_set_policy(world, alone ? GAB_POLICY_MARK_DOWN : GAB_POLICY_REVOKE_ALL);
    REQUIRE_OK(gab_world_unpack_mail(world, &in));
    REQUIRE_OK(gab_reader_expect_end(&in));
    REQUIRE(gab_pattern_iteration(world, talk) == before && gab_pattern_active(world).pattern == 0);
    REQUIRE(gab_mailbox_waiting(box) == (size_t)alone);
    for (size_t cut = 0; cut < image.size; cut++) {
      gab_reader part = gab_reader_of(image.data, cut);
      REQUIRE(gab_world_unpack_mail(world, &part) != GAB_OK);
    }
    in = gab_reader_of_buffer(&image);
    REQUIRE_OK(gab_world_unpack_mail(world, &in));
  }
  gab_world_set_policy(world, GAB_POLICY_REVOKE_ALL);
  REQUIRE(take(me, TAG, &mail) == 4711 && mail.source == me && gab_mailbox_waiting(box) == 0);
  gab_world_close_mail(world, true);
  gab_pattern more;
  gab_mailbox *late;
  REQUIRE(gab_pattern_declare(world, &more) == GAB_ERR_STATE);
  REQUIRE(gab_mailbox_create(world, "late", &late) == GAB_ERR_STATE);
  gab_world_close_mail(world, false);
  gab_buffer_release(&image);
  gab_buffer_release(&within);
  REQUIRE_OK(gab_world_barrier(world)); /* later messages must not be in the queue of a slower rank */
}

/* ---------------------------------------------------------------- deaths */

/* The last rank dies; one rank waits for any source, one for a live rank, others probe. Afterwards mailboxes are empty and
 * work. */
static void who_waits_hears_of_a_death(void)
{
  const gab_rank dead = ranks - 1;
  gab_status status = GAB_OK, abort_request;
  uint64_t value;
  bool there;
  REQUIRE_OK(gab_pattern_begin(world, talk));
  put(0, OTHER_TAG, 1);
  if (me == 0) bring_in((size_t)ranks);
  REQUIRE_OK(gab_world_barrier(world));
  test_kill(world, dead);
  if (me == 0) status = gab_mailbox_receive(box, GAB_ANY_RANK, TAG, &value, sizeof value, NULL);
  if (me == 1) status = gab_mailbox_receive(box, 0, TAG, &value, sizeof value, NULL);
  while (status == GAB_OK) status = gab_mailbox_probe(box, GAB_ANY_RANK, TAG, &there, NULL);
  REQUIRE(status == GAB_ERR_FAULT);
  REQUIRE(gab_mailbox_send(box, 0, TAG, NULL, 0) == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(gab_mailbox_waiting(box) == 0);
  ranks--;
  REQUIRE_OK(gab_pattern_end(world, talk));
  messages_of_all_come_once_and_in_the_order_of_their_channel();
  REQUIRE(gab_mailbox_probe(box, dead, TAG, &there, NULL) == GAB_ERR_ARGUMENT);
}

int main(int argc, char **argv)
{
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  ranks = gab_world_members(world)->ranks;
  me = gab_world_rank(world);
  REQUIRE(!gab_world_has_mail(world));
  REQUIRE_OK(DECLARE_PATTERN(world, &talk));
  REQUIRE_OK(gab_pattern_declare(world, &other));
  REQUIRE(talk == 1 && other == 2 && gab_world_has_mail(world));
  REQUIRE_OK(gab_mailbox_create(world, "talk", &box));
  messages_of_all_come_once_and_in_the_order_of_their_channel();
  early_messages_wait_for_their_iteration();
  a_probe_shows_what_a_receive_takes();
  messages_of_all_sizes_arrive_whole_and_senders_do_not_wait();
  patterns_are_not_nested_and_end_once();
  wildcards_outside_of_iterations_and_strangers_are_refused();
  a_message_that_nobody_can_receive_any_more_is_an_error();
  images_hold_iterations_and_queues();
  if (ranks > 1) who_waits_hears_of_a_death();
  gab_mailbox_destroy(&box);
  gab_world_destroy(&world);
  REQUIRE(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0); /* including patterns, queues and messages being sent */
  return test_end(&world);
}
