/* SPDX-License-Identifier: Apache-2.0 */
/* A bit that flips in memory is found before it becomes state, and what it was in is replaced where there is
 * another copy, or parities; where there is nothing left the message says whose image it was. */
/* gabion-test: np=1,2,3,4,5 quick=3 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/loop/timeloop_impl.h"

static void flip(gab_buffer *bytes, size_t bit) { bytes->data[bit / 8] ^= (unsigned char)(1u << bit % 8); }

static const gab_redundancy schemes[] = {{.scheme = &gab_scheme_pairwise},
                                         {.scheme = &gab_scheme_ring, .copies = 2},
                                         {.scheme = &gab_scheme_parity},
                                         {.scheme = &gab_scheme_reed_solomon, .losses = 2}};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

/* Data in the memory of one rank. */
enum { OWN, REPLICATED, KEPT, PARITIES, PART_COUNT };

static gab_buffer *part_of(gab_snapshot *snapshot, int part)
{
  if (part == OWN) return &snapshot->own;
  if (part == REPLICATED) return &snapshot->replicated;
  if (part == KEPT) return snapshot->copy_count > 0 ? &snapshot->copies[0].image : NULL;
  return snapshot->parities.group.parities > 0 ? &snapshot->parities.rows : NULL;
}

/* In the middle of the used bytes. */
static void spoil(gab_snapshot *snapshot, int part)
{
  gab_buffer *bytes = part_of(snapshot, part);
  size_t head = part == OWN || part == KEPT ? GAB_ENVELOPE_BYTES : 0;
  if (bytes) flip(bytes, 8 * (head + (bytes->size - head) / 2) + 3);
}

typedef struct bench {
  automaton *app;
  gab_checkpoint *checkpoint;
  gab_snapshot *snapshot;
  uint64_t checksum;
} bench;

static void begin(bench *b, automaton *app, const gab_redundancy *redundancy)
{
  gab_entity entity = automaton_entity(app);
  b->app = app;
  CHECK(gab_checkpoint_create(app->forest, redundancy, &b->checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_add_entity(b->checkpoint, &entity) == GAB_OK);
  CHECK(gab_checkpoint_take(b->checkpoint, 5) == GAB_OK);
  b->snapshot = &b->checkpoint->snapshots[b->checkpoint->valid];
  CHECK(gab_forest_checksum(app->forest, &b->checksum) == GAB_OK);
  CHECK(automaton_step(app, 0) == GAB_OK);
}

static void comes_back(bench *b)
{
  gab_restore_report report;
  uint64_t restored = 0;
  CHECK(gab_checkpoint_restore(b->checkpoint, &report) == GAB_OK);
  CHECK(gab_forest_checksum(b->app->forest, &restored) == GAB_OK);
  CHECK(report.step == 5 && restored == b->checksum);
}

static uint64_t all_replaced(const bench *b)
{
  uint64_t sum = gab_checkpoint_get_stats(b->checkpoint).replaced;
  CHECK(gab_world_sum_u64(b->app->world, &sum, 1) == GAB_OK);
  return sum;
}

/* Each part of one rank, in turn; found by a rollback, and by a scrub between checkpoints. */
static void what_changed_is_replaced(automaton *app, const gab_redundancy *redundancy)
{
  bench b;
  begin(&b, app, redundancy);
  int32_t count = gab_members_count(gab_world_members(app->world));
  for (int scrub = 0; scrub < 2; scrub++)
    for (int part = 0; part < PART_COUNT; part++) {
      bool here = gab_world_rank(app->world) == part % count, beyond = true;
      uint64_t before = all_replaced(&b), due = here && part_of(b.snapshot, part) != NULL;
      if (here) spoil(b.snapshot, part);
      CHECK(gab_world_sum_u64(app->world, &due, 1) == GAB_OK);
      if (scrub) CHECK(gab_checkpoint_scrub(b.checkpoint, &beyond) == GAB_OK && !beyond);
      else comes_back(&b);
      /* Copies and parities that are not needed are checked by a scrub only. */
      if (scrub || part == OWN || part == REPLICATED) CHECK(all_replaced(&b) == before + due);
      CHECK(gab_checkpoint_scrub(b.checkpoint, &beyond) == GAB_OK && !beyond);
      CHECK(all_replaced(&b) == before + due);
      comes_back(&b);
    }
  gab_checkpoint_destroy(&b.checkpoint);
}

/* Any bit is detected, also the first and the last of an image. */
static void every_bit_of_an_own_image_counts(automaton *app)
{
  bench b;
  begin(&b, app, &(gab_redundancy){0});
  const size_t first = 8 * (size_t)GAB_ENVELOPE_BYTES, last = 8 * b.snapshot->own.size - 1;
  const size_t places[] = {first, first + 63, first + 64, first + 8 * 1000 + 3, last};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    uint64_t before = all_replaced(&b);
    if (gab_world_is_root(app->world)) flip(&b.snapshot->own, places[i]);
    comes_back(&b);
    CHECK(all_replaced(&b) == before + 1);
  }
  gab_checkpoint_destroy(&b.checkpoint);
}

/* The image of rank 0 everywhere at once: the previous snapshot still exists, then none. */
static void what_changed_everywhere_is_told(automaton *app)
{
  bench b;
  gab_restore_report report;
  uint64_t now = 0, then = 0;
  bool beyond = false;
  begin(&b, app, &(gab_redundancy){0});
  CHECK(gab_forest_checksum(app->forest, &now) == GAB_OK);
  CHECK(gab_checkpoint_take(b.checkpoint, 6) == GAB_OK);
  for (int round = 0; round < 2; round++) {
    gab_snapshot *snapshot = &b.checkpoint->snapshots[b.checkpoint->valid];
    if (gab_world_rank(app->world) == 0) spoil(snapshot, OWN);
    for (int i = 0; i < snapshot->copy_count; i++)
      if (snapshot->copies[i].rank == 0)
        flip(&snapshot->copies[i].image, 8 * snapshot->copies[i].image.size - 9);
    CHECK(gab_checkpoint_scrub(b.checkpoint, &beyond) == GAB_OK && beyond);
    if (round == 0) {
      comes_back(&b); /* to the older one: the newer one must not be used any more */
      CHECK(!b.checkpoint->snapshots[!b.checkpoint->valid].complete);
      continue;
    }
    CHECK(gab_checkpoint_restore(b.checkpoint, &report) == GAB_ERR_LOST);
    CHECK(strstr(gab_error_message(), "the image of rank 0") != NULL);
    CHECK(strstr(gab_error_message(), "changed in memory") != NULL);
    CHECK(gab_forest_checksum(app->forest, &then) == GAB_OK && then == b.checksum);
  }
  gab_checkpoint_destroy(&b.checkpoint);
}

/* The first copy of the image of rank 2, which dies in the next step. */
typedef struct flipper {
  automaton *app;
  gab_timeloop *loop;
  gab_step step;
} flipper;

static gab_status flip_in_copy(void *user, gab_step step)
{
  const flipper *f = user;
  gab_checkpoint *checkpoint = f->loop->protection->checkpoint;
  gab_snapshot *snapshot = &checkpoint->snapshots[checkpoint->valid];
  if (step != f->step) return GAB_OK;
  for (int i = 0; i < snapshot->copy_count; i++)
    if (snapshot->copies[i].rank == 2 && snapshot->copies[i].number == 0)
      flip(&snapshot->copies[i].image, 8 * snapshot->copies[i].image.size - 100);
  return GAB_OK;
}

static gab_status run_with_corrupt_copy(automaton *app, gab_step step, int copies)
{
  gab_fault_injection injection = {
      .step = step + 1, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {2}};
  gab_protection protection = {.every = {.steps = 5},
                               .redundancy = {.scheme = &gab_scheme_ring, .copies = copies},
                               .injections = &injection,
                               .injection_count = 1};
  flipper f = {.app = app, .step = step};
  test_doom(2);
  CHECK(gab_timeloop_create(app->forest, 20, &f.loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(f.loop, "flip", flip_in_copy, &f) == GAB_OK);
  CHECK(gab_timeloop_add_task(f.loop, "automaton", automaton_step, app) == GAB_OK);
  CHECK(gab_timeloop_protect(f.loop, &protection) == GAB_OK);
  gab_status status = gab_timeloop_run(f.loop);
  gab_timeloop_destroy(&f.loop);
  return status;
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the test needs the warnings */
  CHECK(automaton_create(&app, world, (int32_t[]){3, 2, 2}) == GAB_OK);
  int32_t ranks = gab_world_members(world)->ranks;
  for (int s = 0; s < SCHEMES && ranks > 1; s++) what_changed_is_replaced(&app, &schemes[s]);
  if (ranks > 1) every_bit_of_an_own_image_counts(&app);
  what_changed_everywhere_is_told(&app);
  /* Before the second snapshot no other data exists; later there is the previous one, or another copy. */
  if (ranks == 3) CHECK(run_with_corrupt_copy(&app, 2, 1) == GAB_ERR_LOST);
  if (ranks == 3) CHECK(strstr(gab_error_message(), "rank 2") && strstr(gab_error_message(), "rank 0 holds"));
  if (ranks == 4) CHECK(run_with_corrupt_copy(&app, 6, 1) == GAB_OK);
  if (ranks == 5) CHECK(run_with_corrupt_copy(&app, 2, 3) == GAB_OK);
  automaton_destroy(&app);
  return test_end(&world);
}
