/* SPDX-License-Identifier: Apache-2.0 */
/* Images within a node are copied from shared memory, mapped, or sent: in each way the restored bytes are the
 * original ones. Each run uses one way, or a different one on each rank. */
/* gabion-test: np=2,3,4,5,7 quick=4 timeout=90 needs=ulfm */
/* gabion-test: np=2,3,4,5,7 env=GABION_TEST_WAY=share */
/* gabion-test: np=4 env=GABION_TEST_WAY=send */
/* gabion-test: np=4,7 env=GABION_TEST_WAY=mixed */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/messages/collective.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "core/memory/memory_impl.h"

#include <sys/resource.h>

enum { MOST_STEPS = 200, LARGE = (20 << 20) + 123 };

/* ---------------------------------------------------------------- state: blocks, and a note of each rank */

/* Bytes derived from rank and step, with a length that differs per rank and step. */
typedef struct note {
  gab_rank rank;
  gab_step step;
  size_t bytes;
  unsigned char *data;
} note;

typedef struct bench {
  automaton app;
  gab_world *world;
  gab_rank me;
  gab_step step;
  gab_checkpoint *checkpoint;
  note note;
  size_t bytes;          /* length of notes from now on; 0: varying */
  int adopted;           /* correct notes of other ranks */
  const char *waits_for; /* file to wait for before reading a note */
  uint64_t checksums[MOST_STEPS];
} bench;

static unsigned char note_byte(gab_rank rank, gab_step step, size_t at)
{
  return (unsigned char)((uint64_t)at * 31 + (uint64_t)at / 255 + (uint64_t)rank * 101 + (uint64_t)step * 17);
}

static bool note_is_right(const note *n, const unsigned char *data)
{
  for (size_t i = 0; i < n->bytes; i++)
    if (data[i] != note_byte(n->rank, n->step, i)) return false;
  return true;
}

static void write_note(bench *b, size_t bytes)
{
  note *n = &b->note;
  void *memory = n->data;
  REQUIRE_OK(gab_realloc(bytes, GAB_MEMORY_OTHER, &memory));
  *n = (note){.rank = b->me, .step = b->step, .bytes = bytes, .data = memory};
  for (size_t i = 0; i < bytes; i++) n->data[i] = note_byte(n->rank, n->step, i);
}

static gab_status pack_note(void *user, gab_buffer *out)
{
  const note *n = &((bench *)user)->note;
  GAB_TRY(gab_put_i32(out, n->rank));
  GAB_TRY(gab_put_i64(out, n->step));
  GAB_TRY(gab_put_u64(out, n->bytes));
  return gab_put_bytes(out, n->data, n->bytes);
}

static gab_status read_note(gab_reader *in, note *n, gab_reader *data)
{
  uint64_t bytes;
  int64_t step;
  GAB_TRY(gab_get_i32(in, &n->rank));
  GAB_TRY(gab_get_i64(in, &step));
  GAB_TRY(gab_get_u64(in, &bytes));
  n->step = step;
  n->bytes = (size_t)bytes;
  return gab_get_view(in, n->bytes, data);
}

static void wait_for(const char *name, int limit_ms)
{
  for (int i = 0; access(name, F_OK) != 0 && (limit_ms < 0 || i < limit_ms); i++) usleep(1000);
}

static gab_status unpack_note(void *user, gab_reader *in)
{
  bench *b = user;
  gab_reader data;
  note read = {.data = NULL};
  void *memory = b->note.data;
  if (b->waits_for) wait_for(b->waits_for, 300);
  GAB_TRY(read_note(in, &read, &data));
  CHECK(note_is_right(&read, data.at));
  GAB_TRY(gab_realloc(read.bytes, GAB_MEMORY_OTHER, &memory));
  if (read.bytes > 0) memcpy(memory, data.at, read.bytes);
  read.data = memory;
  b->note = read;
  return GAB_OK;
}

static gab_status adopt_note(void *user, gab_rank dead, gab_reader *in)
{
  bench *b = user;
  gab_reader data;
  note read = {.data = NULL};
  GAB_TRY(read_note(in, &read, &data));
  CHECK(read.rank == dead && read.step == b->note.step && note_is_right(&read, data.at));
  b->adopted++;
  return GAB_OK;
}

/* ---------------------------------------------------------------- ways */

static gab_within_node way_of(gab_rank rank)
{
  const char *way = getenv("GABION_TEST_WAY");
  if (!way) return GAB_WITHIN_NODE_COPY;
  if (strcmp(way, "mixed") == 0) return (gab_within_node)(rank % GAB_WITHIN_NODE_COUNT);
  return strcmp(way, "share") == 0 ? GAB_WITHIN_NODE_SHARE : GAB_WITHIN_NODE_SEND;
}

/* As if the first three ranks were on one node, and the others on another one. */
static const char *two_nodes(gab_rank rank) { return rank < 3 ? "first" : "second"; }
static const char *one_node(gab_rank rank) { return rank < 0 ? "none" : "all"; }
typedef const char *(*node_fn)(gab_rank rank);

static void open_checkpoint(bench *b, const gab_redundancy *redundancy, node_fn node_of)
{
  const gab_entity total = automaton_entity(&b->app), notes = {.name = "note",
                                                               .kind = GAB_ENTITY_PER_RANK,
                                                               .user = b,
                                                               .pack = pack_note,
                                                               .unpack = unpack_note,
                                                               .adopt = adopt_note};
  setenv("GABION_NODE", node_of(b->me), 1);
  REQUIRE_OK(gab_checkpoint_create(b->app.forest, redundancy, &b->checkpoint));
  REQUIRE_OK(gab_checkpoint_add_entity(b->checkpoint, &total));
  REQUIRE_OK(gab_checkpoint_add_entity(b->checkpoint, &notes));
  REQUIRE(gab_checkpoint_set_within_node(b->checkpoint, GAB_WITHIN_NODE_COUNT) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_checkpoint_set_within_node(b->checkpoint, way_of(b->me)));
}

/* Expected answer to the offer of the image of `rank` at a holder. */
static gab_offer_answer answer_due(gab_rank rank, gab_rank holder, node_fn node_of)
{
  if (way_of(rank) == GAB_WITHIN_NODE_SEND || strcmp(node_of(rank), node_of(holder)) != 0)
    return GAB_OFFER_NONE;
  return way_of(holder) == GAB_WITHIN_NODE_SHARE ? GAB_OFFER_SHARED : GAB_OFFER_COPIED;
}

static gab_snapshot *valid_snapshot(const bench *b)
{
  return &b->checkpoint->snapshots[b->checkpoint->valid];
}

/* ---------------------------------------------------------------- steps and snapshots */

static size_t some_bytes(gab_rank rank, gab_step step)
{
  return (size_t)(gab_hash_counter(5, (uint64_t)rank, (uint64_t)step) % 200000);
}

/* Hashes of the own images of all, the same on all. */
static void hash_own_images(const bench *b, uint64_t hashes[TEST_MOST_RANKS])
{
  const gab_reader own = gab_message_reader(&valid_snapshot(b)->own);
  memset(hashes, 0, TEST_MOST_RANKS * sizeof *hashes);
  hashes[b->me] = gab_hash64(own.at, gab_reader_left(&own), 1);
  REQUIRE_OK(gab_world_max_u64(b->world, hashes, TEST_MOST_RANKS));
}

static void copies_are_right(const bench *b)
{
  uint64_t hashes[TEST_MOST_RANKS];
  const gab_snapshot *snapshot = valid_snapshot(b);
  hash_own_images(b, hashes);
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_reader copy = gab_message_reader(&snapshot->copies[i].image);
    CHECK(gab_hash64(copy.at, gab_reader_left(&copy), 1) == hashes[snapshot->copies[i].rank]);
  }
  REQUIRE_OK(gab_world_barrier(b->world)); /* all reads end before bits are flipped */
}

static void step(bench *b)
{
  REQUIRE_OK(automaton_step(&b->app, b->step++));
  REQUIRE(b->step < MOST_STEPS);
  REQUIRE_OK(gab_forest_checksum(b->app.forest, &b->checksums[b->step]));
  write_note(b, b->bytes ? b->bytes : some_bytes(b->me, b->step));
}

/* Blocking, or in parts. */
static gab_status take(bench *b)
{
  bool there = false;
  if (b->step % 2 == 0) return gab_checkpoint_take(b->checkpoint, b->step);
  GAB_TRY(gab_checkpoint_begin(b->checkpoint, b->step));
  for (int i = 0; i < 3 && !there; i++) GAB_TRY(gab_checkpoint_progress(b->checkpoint, &there));
  return gab_checkpoint_complete(b->checkpoint);
}

static void step_and_take(bench *b)
{
  step(b);
  REQUIRE_OK(take(b));
  copies_are_right(b);
}

/* Checks that the state is that of a step and can be continued. */
static void is_at(bench *b, gab_step at)
{
  uint64_t checksum = 0;
  REQUIRE_OK(gab_forest_checksum(b->app.forest, &checksum));
  CHECK(checksum == b->checksums[at]);
  CHECK(b->note.step == at && note_is_right(&b->note, b->note.data));
  b->step = at;
}

static void comes_back(bench *b, gab_step least, gab_step most)
{
  gab_restore_report report;
  uint64_t adopted;
  b->adopted = 0;
  REQUIRE_OK(gab_checkpoint_restore(b->checkpoint, &report));
  CHECK(report.step >= least && report.step <= most);
  is_at(b, report.step);
  adopted = (uint64_t)b->adopted;
  REQUIRE_OK(gab_world_sum_u64(b->world, &adopted, 1));
  CHECK(adopted == (uint64_t)report.lost_ranks);
}

static void repair(const bench *b)
{
  gab_status abort_request;
  REQUIRE_OK(gab_world_repair(b->world, &abort_request));
  REQUIRE_OK(abort_request);
}

/* ---------------------------------------------------------------- numbers */

static size_t memory_of(const gab_snapshot *snapshot)
{
  size_t bytes = snapshot->own.capacity + snapshot->replicated.capacity;
  for (int i = 0; i < snapshot->copy_count; i++)
    if (!snapshot->copies[i].image.fixed) bytes += snapshot->copies[i].image.capacity;
  return bytes;
}

static void numbers_are_right(const bench *b, node_fn node_of, size_t before)
{
  const gab_snapshot *snapshot = valid_snapshot(b);
  const gab_checkpoint_stats stats = gab_checkpoint_get_stats(b->checkpoint);
  size_t sent = 0, kept = 0, shared = 0;
  for (int k = 0; k < gab_placement_copies(&snapshot->placement); k++) {
    const gab_rank holder = gab_placement_holder(&snapshot->placement, b->me, k);
    if (holder != GAB_NO_RANK && answer_due(b->me, holder, node_of) != GAB_OFFER_SHARED)
      sent += stats.image_bytes;
  }
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_copy *copy = &snapshot->copies[i];
    const bool looked_at = answer_due(copy->rank, b->me, node_of) == GAB_OFFER_SHARED;
    CHECK(copy->decision == answer_due(copy->rank, b->me, node_of));
    CHECK(copy->image.fixed == looked_at);
    CHECK(!looked_at || (const void *)copy->image.data == copy->view.bytes);
    kept += gab_message_bytes(&copy->image);
    if (looked_at) shared += gab_message_bytes(&copy->image);
  }
  CHECK(stats.image_bytes >= b->note.bytes);
  CHECK(stats.sent_bytes == sent && stats.copies_bytes == kept && stats.shared_bytes == shared);
  CHECK(gab_memory_now(GAB_MEMORY_SNAPSHOT) - before ==
        memory_of(&b->checkpoint->snapshots[0]) + memory_of(&b->checkpoint->snapshots[1]));
}

/* Images of varying sizes; one is larger than a piece of a copy. */
static void snapshots_of_any_size(bench *b, const gab_redundancy *redundancy, node_fn node_of)
{
  const size_t sizes[] = {0, 5000, LARGE, 1, 300000, 0, 0};
  const size_t before = gab_memory_now(GAB_MEMORY_SNAPSHOT);
  open_checkpoint(b, redundancy, node_of);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    b->bytes = b->me == 1 || sizes[i] < LARGE ? sizes[i] : 0;
    step_and_take(b);
    numbers_are_right(b, node_of, before);
    const gab_step taken = b->step;
    b->bytes = 0;
    step(b);
    comes_back(b, taken, taken);
  }
  gab_checkpoint_destroy(&b->checkpoint);
  CHECK(gab_memory_now(GAB_MEMORY_SNAPSHOT) == before);
}

/* Ways change from one snapshot to the next. */
static void ways_may_change(bench *b)
{
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, one_node);
  for (int i = 0; i < 8; i++) {
    const gab_within_node way = (gab_within_node)((i / 2 + (int)b->me * (i % 3)) % GAB_WITHIN_NODE_COUNT);
    REQUIRE_OK(gab_checkpoint_set_within_node(b->checkpoint, way));
    (void)gab_checkpoint_set_compression(b->checkpoint, i == 5 ? GAB_COMPRESSION_AUTO : GAB_COMPRESSION_NONE);
    step(b);
    REQUIRE_OK(take(b));
    if (i != 5) copies_are_right(b);
    comes_back(b, b->step, b->step);
  }
  gab_checkpoint_destroy(&b->checkpoint);
}

/* Restoring the state of another rank from copies only. */
static void copies_are_as_good(bench *b)
{
  gab_restore_report report;
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, one_node);
  for (int i = 0; i < 2; i++) {
    step_and_take(b);
    step(b);
    REQUIRE_OK(gab_checkpoint_restore_swapped(b->checkpoint, &report));
    CHECK(b->note.rank != b->me);
    is_at(b, report.step);
  }
  gab_checkpoint_destroy(&b->checkpoint);
}

/* ---------------------------------------------------------------- one buffer */

static int visits; /* of the fault point `snapshot` */

static void leave_word(void *user, gab_world *world, gab_fault_point point)
{
  const char *name = user;
  (void)world;
  if (point != GAB_FAULT_POINT_SNAPSHOT || ++visits != 2) return;
  FILE *file = fopen(name, "w");
  REQUIRE(file && fclose(file) == 0);
}

/* With one buffer the next image overwrites one that another rank may be reading; it waits, since after a restore all ranks
 * meet to count their blocks. */
static void one_buffer_waits_for_who_looks(bench *b)
{
  char mine[32], theirs[32];
  gab_restore_report report;
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, one_node);
  REQUIRE_OK(gab_checkpoint_set_buffers(b->checkpoint, 1));
  b->bytes = 3000;
  step_and_take(b);
  step_and_take(b);
  REQUIRE(valid_snapshot(b)->copy_count == 1);
  snprintf(mine, sizeof mine, "begun.%" GAB_PRI_RANK, b->me);
  snprintf(theirs, sizeof theirs, "begun.%" GAB_PRI_RANK, valid_snapshot(b)->copies[0].rank);
  visits = 0;
  gab_world_set_fault_point_hook(b->world, leave_word, mine);
  if (b->me == 0) b->waits_for = theirs;
  REQUIRE_OK(gab_checkpoint_restore_swapped(b->checkpoint, &report));
  b->waits_for = NULL;
  CHECK(note_is_right(&b->note, b->note.data));
  b->step = report.step;
  write_note(b, 3000);
  REQUIRE_OK(gab_checkpoint_take(b->checkpoint, b->step));
  gab_world_set_fault_point_hook(b->world, NULL, NULL);
  comes_back(b, report.step, report.step);
  b->bytes = 0;
  gab_checkpoint_destroy(&b->checkpoint);
}

/* ---------------------------------------------------------------- memory that cannot be shared */

static void set_limit(int which, rlim_t soft)
{
  struct rlimit limit;
  REQUIRE(getrlimit(which, &limit) == 0);
  limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
  REQUIRE(setrlimit(which, &limit) == 0);
}

/* Odd ranks cannot open files or memory of others: all images are sent by messages until they can; images without a
 * file are sent even then. */
static void refused_offers_are_sent(bench *b)
{
  const bool odd = b->me % 2 == 1;
  struct rlimit usual;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_ring}, one_node);
  REQUIRE_OK(gab_world_barrier(b->world));
  if (odd) set_limit(RLIMIT_NOFILE, 3); /* open files stay open */
  for (int i = 0; i < 3; i++) {
    step_and_take(b);
    const gab_snapshot *snapshot = valid_snapshot(b);
    const gab_checkpoint_stats stats = gab_checkpoint_get_stats(b->checkpoint);
    gab_shared_key key;
    if (odd) CHECK(!gab_shared_key_of(snapshot->own.data, &key));
    if (odd) CHECK(stats.shared_bytes == 0 && snapshot->copies[0].view.bytes == NULL);
    if (gab_placement_holder(&snapshot->placement, b->me, 0) % 2 == 1)
      CHECK(stats.sent_bytes == stats.image_bytes);
    if (odd && way_of(b->me - 1) != GAB_WITHIN_NODE_SEND)
      CHECK(snapshot->copies[0].decision == GAB_OFFER_REFUSED);
    step(b);
    comes_back(b, b->step - 1, b->step - 1);
  }
  if (odd) set_limit(RLIMIT_NOFILE, usual.rlim_cur);
  for (int i = 0; i < 2; i++) step_and_take(b);
  const gab_copy *kept = &valid_snapshot(b)->copies[0];
  CHECK(kept->decision == (kept->rank % 2 == 1 ? GAB_OFFER_NONE : answer_due(kept->rank, b->me, one_node)));
  comes_back(b, b->step, b->step);
  gab_checkpoint_destroy(&b->checkpoint);
}

/* The image grows beyond the limit of file sizes: it moves to private memory and is sent by messages. */
static void images_grow_beyond_a_limit_of_files(bench *b)
{
  struct rlimit usual;
  gab_shared_key key;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &usual) == 0);
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_ring}, one_node);
  b->bytes = 100000;
  for (int i = 0; i < 2; i++) step_and_take(b);
  CHECK(gab_shared_key_of(valid_snapshot(b)->own.data, &key) == (way_of(b->me) != GAB_WITHIN_NODE_SEND));
  set_limit(RLIMIT_FSIZE, valid_snapshot(b)->own.capacity + 50000);
  b->bytes = 1000000;
  for (int i = 0; i < 3; i++) step_and_take(b);
  CHECK(!gab_shared_key_of(valid_snapshot(b)->own.data, &key));
  CHECK(gab_checkpoint_get_stats(b->checkpoint).shared_bytes == 0);
  comes_back(b, b->step, b->step);
  set_limit(RLIMIT_FSIZE, usual.rlim_cur);
  b->bytes = 0;
  gab_checkpoint_destroy(&b->checkpoint);
}

/* ---------------------------------------------------------------- flipped bits */

static void flip_in_note(gab_buffer *image) { image->data[image->size - 9] ^= 4; }

/* A changed bit in shared memory affects all readers: first the previous snapshot is restored, then none is left. */
static void a_bit_in_shared_memory_is_found(bench *b)
{
  gab_restore_report report;
  bool beyond = false;
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, one_node);
  step_and_take(b);
  step_and_take(b);
  const gab_step last = b->step;
  for (int round = 0; round < 2; round++) {
    if (b->me == 0) flip_in_note(&valid_snapshot(b)->own);
    REQUIRE_OK(gab_world_barrier(b->world));
    REQUIRE_OK(gab_checkpoint_scrub(b->checkpoint, &beyond));
    CHECK(beyond == (answer_due(0, gab_placement_holder(&valid_snapshot(b)->placement, 0, 0), one_node) ==
                     GAB_OFFER_SHARED));
    if (beyond && round == 1) break;
    comes_back(b, beyond ? last - 1 : b->step, beyond ? last - 1 : b->step);
  }
  if (beyond) {
    CHECK(gab_checkpoint_restore(b->checkpoint, &report) == GAB_ERR_LOST);
    CHECK(strstr(gab_error_message(), "the image of rank 0") != NULL);
    is_at(b, last - 1);
  }
  gab_checkpoint_destroy(&b->checkpoint);
}

/* With a copy elsewhere the image is replaced for the rank and its readers, which then have private memory. */
static void a_bit_in_shared_memory_is_replaced_from_elsewhere(bench *b)
{
  bool beyond = true;
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_ring, .copies = 2}, two_nodes);
  step_and_take(b);
  step_and_take(b);
  const gab_step last = b->step;
  if (b->me == 1) flip_in_note(&valid_snapshot(b)->own); /* held by 2, and by 3 elsewhere */
  REQUIRE_OK(gab_world_barrier(b->world));
  REQUIRE_OK(gab_checkpoint_scrub(b->checkpoint, &beyond));
  CHECK(!beyond);
  const bool looked = b->me == 2 && answer_due(1, 2, two_nodes) == GAB_OFFER_SHARED;
  CHECK(gab_checkpoint_get_stats(b->checkpoint).replaced == (uint64_t)(b->me == 1) + looked);
  copies_are_right(b);
  for (int i = 0; i < valid_snapshot(b)->copy_count; i++)
    if (looked && valid_snapshot(b)->copies[i].rank == 1) CHECK(!valid_snapshot(b)->copies[i].image.fixed);
  step(b);
  comes_back(b, last, last);
  for (int i = 0; i < 3; i++) step_and_take(b);
  numbers_are_right(b, two_nodes,
                    gab_memory_now(GAB_MEMORY_SNAPSHOT) - memory_of(&b->checkpoint->snapshots[0]) -
                        memory_of(&b->checkpoint->snapshots[1]));
  gab_checkpoint_destroy(&b->checkpoint);
}

/* ---------------------------------------------------------------- deaths */

static gab_rank last_rank(const bench *b)
{
  const gab_members *members = gab_world_members(b->world);
  return gab_members_rank(members, gab_members_count(members) - 1);
}

/* On all holders, mapped or copied. */
static void spoil_image_of(bench *b, gab_rank rank)
{
  gab_snapshot *snapshot = valid_snapshot(b);
  if (b->me == rank) flip_in_note(&snapshot->own);
  for (int i = 0; i < snapshot->copy_count; i++)
    if (snapshot->copies[i].rank == rank && !snapshot->copies[i].image.fixed)
      flip_in_note(&snapshot->copies[i].image);
  REQUIRE_OK(gab_world_barrier(b->world));
}

/* A rank writes the image of a third snapshot and dies before others have begun. They need the first snapshot, since
 * the second is spoiled, but may read the third one in its place: a complete image if the lengths are equal, or a
 * shorter one followed by the rest of the first. */
static void what_was_written_over_is_no_snapshot(bench *b, size_t third_bytes)
{
  gab_restore_report report;
  char word[32];
  const gab_rank victim = last_rank(b);
  snprintf(word, sizeof word, "over.%" GAB_PRI_RANK, victim);
  open_checkpoint(b, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, one_node);
  b->bytes = 400000;
  step_and_take(b);
  const gab_step first = b->step;
  step_and_take(b);
  const gab_rank holder = gab_placement_holder(&valid_snapshot(b)->placement, victim, 0);
  const bool looked_at = answer_due(victim, holder, one_node) == GAB_OFFER_SHARED;
  spoil_image_of(b, victim);
  b->bytes = third_bytes;
  step(b);
  if (b->me == victim) {
    visits = 0;
    gab_world_set_fault_point_hook(b->world, leave_word, word);
    CHECK(gab_checkpoint_begin(b->checkpoint, b->step) == GAB_OK);
  } else {
    wait_for(word, -1);
  }
  test_kill(b->world, victim);
  CHECK(gab_world_barrier(b->world) == GAB_ERR_FAULT);
  repair(b);
  if (looked_at) {
    CHECK(gab_checkpoint_restore(b->checkpoint, &report) == GAB_ERR_LOST);
    /* a complete image of the third snapshot, or a shorter one followed by the end of the first */
    const char *const why = third_bytes == 400000 ? "overwritten by another snapshot" : "changed in memory";
    CHECK(strstr(gab_error_message(), why) != NULL);
  } else {
    comes_back(b, first, first);
  }
  b->bytes = 0;
  gab_checkpoint_destroy(&b->checkpoint);
}

typedef struct death {
  bench *b;
  gab_fault_point point;
  int visit, visits;
  gab_rank victim;
} death;

static void die_at(void *user, gab_world *world, gab_fault_point point)
{
  death *d = user;
  if (point == d->point && ++d->visits == d->visit && gab_world_rank(world) == d->victim) raise(SIGKILL);
}

/* Mapped memory belongs to live processes as soon as both snapshots are newer than the death. */
static void nothing_of_the_dead_is_kept(const bench *b)
{
  uint64_t living[TEST_MOST_RANKS] = {0};
  living[b->me] = (uint64_t)getpid();
  REQUIRE_OK(gab_world_max_u64(b->world, living, TEST_MOST_RANKS));
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < b->checkpoint->snapshots[s].copy_capacity; i++) {
      const gab_shared_view *view = &b->checkpoint->snapshots[s].copies[i].view;
      bool lives = !view->bytes;
      for (int rank = 0; rank < TEST_MOST_RANKS; rank++)
        lives = lives || (uint64_t)view->key.process == living[rank];
      CHECK(lives);
    }
}

/* A death at that point of a snapshot, or of the following recovery. The previous or the new snapshot is restored,
 * the same on all. */
static void a_death_at(bench *b, gab_fault_point point, int visit, bool least_is_new)
{
  death d = {.b = b, .point = point, .visit = visit, .victim = last_rank(b)};
  for (int i = 0; i < 2; i++) step_and_take(b);
  nothing_of_the_dead_is_kept(b);
  const gab_step before = b->step;
  step(b);
  test_doom(d.victim);
  gab_world_set_fault_point_hook(b->world, die_at, &d);
  const gab_status status = take(b);
  CHECK(status == GAB_OK || status == GAB_ERR_FAULT);
  const bool is_new = status == GAB_OK;
  if (status == GAB_OK) CHECK(gab_world_barrier(b->world) == GAB_ERR_FAULT);
  repair(b);
  gab_world_set_fault_point_hook(b->world, NULL, NULL);
  comes_back(b, before + (least_is_new || is_new), before + 1);
  uint64_t steps[2] = {(uint64_t)b->step, UINT64_MAX - (uint64_t)b->step};
  REQUIRE_OK(gab_world_max_u64(b->world, steps, 2));
  CHECK(steps[0] == UINT64_MAX - steps[1]);
  /* Again from memory of dead processes, and from snapshots taken since only. */
  step(b);
  comes_back(b, b->step - 1, b->step - 1);
}

/* Two deaths: one in the snapshot, the other in the recovery. */
static void a_death_in_the_recovery(bench *b)
{
  const gab_rank first = last_rank(b);
  gab_restore_report report;
  for (int i = 0; i < 2; i++) step_and_take(b);
  const gab_step last = b->step;
  step(b);
  test_kill(b->world, first);
  CHECK(gab_world_barrier(b->world) == GAB_ERR_FAULT);
  repair(b);
  death d = {.b = b, .point = GAB_FAULT_POINT_RECOVERY, .visit = 2, .victim = last_rank(b)};
  test_doom(d.victim);
  gab_world_set_fault_point_hook(b->world, die_at, &d);
  const gab_status status = gab_checkpoint_restore(b->checkpoint, &report);
  CHECK(status == GAB_OK || status == GAB_ERR_FAULT);
  if (status == GAB_OK) CHECK(gab_world_barrier(b->world) == GAB_ERR_FAULT);
  repair(b);
  gab_world_set_fault_point_hook(b->world, NULL, NULL);
  comes_back(b, last, last);
  step_and_take(b);
  comes_back(b, b->step, b->step);
}

/* A changed copy elsewhere is replaced from mapped memory of the dead process. */
static void what_is_looked_at_replaces_others(bench *b)
{
  bool beyond = true;
  for (int i = 0; i < 2; i++) step_and_take(b);
  test_kill(b->world, 1); /* held by 2, and by 3 elsewhere */
  CHECK(gab_world_barrier(b->world) == GAB_ERR_FAULT);
  repair(b);
  gab_snapshot *snapshot = valid_snapshot(b);
  for (int i = 0; i < snapshot->copy_count; i++)
    if (b->me == 3 && snapshot->copies[i].rank == 1) flip_in_note(&snapshot->copies[i].image);
  REQUIRE_OK(gab_checkpoint_scrub(b->checkpoint, &beyond));
  CHECK(!beyond && gab_checkpoint_get_stats(b->checkpoint).replaced == (b->me == 3));
  comes_back(b, b->step, b->step);
  step_and_take(b);
  comes_back(b, b->step, b->step);
}

static void deaths(bench *b)
{
  static const struct {
    gab_fault_point point;
    int visit;
    bool new;
  } points[] = {{GAB_FAULT_POINT_SNAPSHOT, 2, false}, {GAB_FAULT_POINT_COMMIT, 1, false},
                {GAB_FAULT_POINT_SWAP, 1, true},      {GAB_FAULT_POINT_SNAPSHOT, 3, false},
                {GAB_FAULT_POINT_COMMIT, 1, false},   {GAB_FAULT_POINT_SNAPSHOT, 1, false}};
  const int32_t ranks = gab_members_count(gab_world_members(b->world));
  const gab_redundancy ring = {.scheme = &gab_scheme_ring, .copies = 2};
  open_checkpoint(b, &ring, ranks > 4 ? two_nodes : one_node);
  if (ranks > 4) what_is_looked_at_replaces_others(b);
  if (ranks > 4) a_death_in_the_recovery(b);
  for (size_t i = ranks > 4 ? 3 : 0; i < sizeof points / sizeof *points; i++)
    if (gab_members_count(gab_world_members(b->world)) > 1)
      a_death_at(b, points[i].point, points[i].visit, points[i].new);
  gab_checkpoint_destroy(&b->checkpoint);
}

int main(int argc, char **argv)
{
  bench b = {.step = 0};
  REQUIRE_OK(gab_world_create(&argc, &argv, &b.world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR); /* the errors are wanted */
  b.me = gab_world_rank(b.world);
  const gab_rank ranks = gab_world_members(b.world)->ranks;
  REQUIRE_OK(automaton_create(&b.app, b.world, (int32_t[]){4, 3, 2}));
  snapshots_of_any_size(&b, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, one_node);
  snapshots_of_any_size(&b, &(gab_redundancy){.scheme = &gab_scheme_ring, .copies = 2}, two_nodes);
  ways_may_change(&b);
  refused_offers_are_sent(&b);
  images_grow_beyond_a_limit_of_files(&b);
  a_bit_in_shared_memory_is_found(&b);
  if (ranks > 3) a_bit_in_shared_memory_is_replaced_from_elsewhere(&b);
  one_buffer_waits_for_who_looks(&b);
  copies_are_as_good(&b);
  if (ranks == 4 || ranks == 7) deaths(&b);
  else what_was_written_over_is_no_snapshot(&b, ranks < 5 ? 400000 : 2000);
  automaton_destroy(&b.app);
  gab_free(&b.note.data);
  return test_end(&b.world);
}
