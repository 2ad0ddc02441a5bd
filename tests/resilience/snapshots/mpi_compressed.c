/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed copies: they are smaller, what is restored from them is the same, what has changed in them is
 * found, and they mend what has changed elsewhere. */
/* gabion-test: np=2,3,5 quick=3 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint_impl.h"

/* Compressible data of each rank, in addition to the automaton, which is not compressible; more than one compression unit.
 * A dead rank's part is added to that of its adopter. */
enum { NUMBERS = 1 << 20 };
typedef struct ledger {
  double numbers[NUMBERS];
} ledger;

static gab_status pack_ledger(void *user, gab_buffer *out)
{
  return gab_put_f64s(out, ((ledger *)user)->numbers, NUMBERS);
}
static gab_status unpack_ledger(void *user, gab_reader *in)
{
  return gab_get_f64s(in, ((ledger *)user)->numbers, NUMBERS);
}
static gab_status adopt_ledger(void *user, gab_rank dead, gab_reader *in)
{
  ledger *l = user;
  (void)dead;
  for (int i = 0; i < NUMBERS; i++) {
    double number;
    GAB_TRY(gab_get_f64s(in, &number, 1));
    l->numbers[i] += number;
  }
  return GAB_OK;
}

static ledger book;

static gab_entity ledger_entity(void)
{
  return (gab_entity){.name = "ledger",
                      .kind = GAB_ENTITY_PER_RANK,
                      .user = &book,
                      .pack = pack_ledger,
                      .unpack = unpack_ledger,
                      .adopt = adopt_ledger};
}

static void fill_book(gab_rank rank)
{
  for (int i = 0; i < NUMBERS; i++) book.numbers[i] = 1 + rank + i / 4096;
}

static bool book_is_that_of(gab_rank rank)
{
  int wrong = 0;
  for (int i = 0; i < NUMBERS; i++) wrong += book.numbers[i] != 1 + rank + i / 4096;
  return wrong == 0;
}

static void flip(gab_buffer *bytes, size_t byte) { bytes->data[byte] ^= 4; }

static void restores(automaton *app, gab_checkpoint *checkpoint, uint64_t sum)
{
  gab_restore_report report;
  uint64_t now = 0;
  memset(&book, 0, sizeof book);
  CHECK(gab_checkpoint_restore(checkpoint, &report) == GAB_OK && report.step == 3);
  CHECK(gab_forest_checksum(app->forest, &now) == GAB_OK && now == sum);
  CHECK(book_is_that_of(gab_world_rank(app->world)));
}

static uint64_t all_replaced(const automaton *app, const gab_checkpoint *checkpoint)
{
  uint64_t sum = gab_checkpoint_get_stats(checkpoint).replaced;
  CHECK(gab_world_sum_u64(app->world, &sum, 1) == GAB_OK);
  return sum;
}

static void copies_are_smaller_and_mend(automaton *app, gab_compression compression)
{
  gab_checkpoint *checkpoint;
  const gab_entity entities[2] = {automaton_entity(app), ledger_entity()};
  const bool root = gab_world_is_root(app->world);
  uint64_t sum = 0;
  bool beyond = true;
  CHECK(gab_checkpoint_create(app->forest, &(gab_redundancy){.copies = 1}, &checkpoint) == GAB_OK);
  for (int i = 0; i < 2; i++) CHECK(gab_checkpoint_add_entity(checkpoint, &entities[i]) == GAB_OK);
  CHECK(gab_checkpoint_set_compression(checkpoint, compression) == GAB_OK);
  CHECK(gab_forest_checksum(app->forest, &sum) == GAB_OK);
  fill_book(gab_world_rank(app->world));
  const uint64_t before = gab_memory_now(GAB_MEMORY_SNAPSHOT);
  CHECK(gab_checkpoint_take(checkpoint, 3) == GAB_OK);
  const gab_checkpoint_stats stats = gab_checkpoint_get_stats(checkpoint);
  CHECK(stats.ratio > 4 && stats.sent_bytes * 4 < stats.image_bytes);
  CHECK(stats.copied_bytes > sizeof book && stats.copies_bytes * 4 < stats.copied_bytes);
  CHECK(stats.compressed_bytes == stats.image_bytes);
  CHECK(gab_memory_now(GAB_MEMORY_SNAPSHOT) - before <
        stats.image_bytes * 3 / 2); /* the memory of transfers was released */
  gab_snapshot *snapshot = &checkpoint->snapshots[checkpoint->valid];
  if (root)
    flip(&snapshot->copies[0].image, snapshot->copies[0].image.size - 9); /* its rank has it, uncompressed */
  CHECK(gab_checkpoint_scrub(checkpoint, &beyond) == GAB_OK && !beyond);
  CHECK(all_replaced(app, checkpoint) == 1);
  CHECK(automaton_step(app, 0) == GAB_OK);
  restores(app, checkpoint, sum);
  CHECK(gab_checkpoint_take(checkpoint, 3) == GAB_OK);
  snapshot = &checkpoint->snapshots[checkpoint->valid];
  if (root) flip(&snapshot->own, snapshot->own.size / 2); /* its holder has it, compressed */
  restores(app, checkpoint, sum);
  CHECK(all_replaced(app, checkpoint) == 2);
  restores(app, checkpoint, sum); /* state at present */
  CHECK(all_replaced(app, checkpoint) == 2);
  gab_checkpoint_destroy(&checkpoint);
}

/* Random numbers are not compressed, for any speed of the network. They are nearly all of the image; tables of neighbours
 * can be compressed, and whether that pays depends on measured times. */
static void what_does_not_shrink_is_left_alone(automaton *app)
{
  gab_checkpoint *checkpoint;
  const gab_entity noise = ledger_entity();
  for (uint64_t i = 0; i < NUMBERS; i++) {
    const uint64_t bits = gab_hash_counter(23, (uint64_t)gab_world_rank(app->world), i);
    memcpy(&book.numbers[i], &bits, sizeof bits);
  }
  CHECK(gab_checkpoint_create(app->forest, &(gab_redundancy){0}, &checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_add_entity(checkpoint, &noise) == GAB_OK);
  CHECK(gab_checkpoint_set_compression(checkpoint, GAB_COMPRESSION_AUTO) == GAB_OK);
  for (int i = 0; i < 3; i++) CHECK(gab_checkpoint_take(checkpoint, i) == GAB_OK);
  const gab_checkpoint_stats stats = gab_checkpoint_get_stats(checkpoint);
  CHECK(stats.ratio == 1 && stats.compressed_bytes == 0 && stats.copies_bytes == stats.copied_bytes);
  gab_checkpoint_destroy(&checkpoint);
}

/* The last rank dies: its data is restored from a compressed copy, blocks and book. */
static gab_status run_with_a_death(automaton *app, bool overlap)
{
  const gab_rank ranks = gab_world_members(app->world)->ranks;
  const gab_entity entities[2] = {automaton_entity(app), ledger_entity()};
  const gab_fault_injection injection = {
      .step = 7, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {ranks - 1}};
  gab_protection protection = {.every = {.steps = 5},
                               .overlap = overlap,
                               .compression = GAB_COMPRESSION_ZSTD,
                               .injections = &injection,
                               .injection_count = 1};
  gab_timeloop *loop;
  test_doom(ranks - 1);
  fill_book(gab_world_rank(app->world));
  CHECK(gab_timeloop_create(app->forest, 12, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "automaton", automaton_step, app) == GAB_OK);
  CHECK(gab_timeloop_add_action(loop, "sum", automaton_sum_due, automaton_sum, app) == GAB_OK);
  for (int i = 0; i < 2; i++) CHECK(gab_timeloop_add_entity(loop, &entities[i]) == GAB_OK);
  CHECK(gab_timeloop_protect(loop, &protection) == GAB_OK);
  gab_status status = gab_timeloop_run(loop);
  CHECK(gab_timeloop_get_stats(loop).fault_count == 1);
  CHECK(gab_timeloop_get_stats(loop).checkpoint.taken > 3);
  gab_timeloop_destroy(&loop);
  uint64_t sum = (uint64_t)book.numbers[NUMBERS - 1];
  CHECK(gab_world_sum_u64(app->world, &sum, 1) == GAB_OK);
  CHECK(sum == (uint64_t)ranks * (ranks - 1) / 2 + (uint64_t)ranks * (1 + (NUMBERS - 1) / 4096));
  CHECK(automaton_is_right(app, 12));
  return status;
}

static void run_all(gab_world *world)
{
  automaton app;
  CHECK(automaton_create(&app, world, (int32_t[]){3, 3, 2}) == GAB_OK);
  copies_are_smaller_and_mend(&app, GAB_COMPRESSION_LZ4);
  copies_are_smaller_and_mend(&app, GAB_COMPRESSION_ZSTD);
  what_does_not_shrink_is_left_alone(&app);
  CHECK(run_with_a_death(&app, gab_world_members(world)->ranks == 3) == GAB_OK);
  automaton_destroy(&app);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR); /* the test needs the warnings */
  if (gab_codec_is_built(GAB_CODEC_LZ4)) run_all(world);
  return test_end(&world);
}
