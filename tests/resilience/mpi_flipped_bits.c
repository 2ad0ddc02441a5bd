/* A bit that flips in a held image is found before it becomes state, and the message says whose image it was.
 */
/* gabion-test: np=1,3 timeout=60 labels=quick needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/faults/check.h"

#include "resilience/checkpoint_impl.h"
#include "resilience/timeloop_impl.h"

static void flip(gab_buffer *bytes, size_t bit) { bytes->data[bit / 8] ^= (unsigned char)(1u << bit % 8); }

/* Restoring is local but for the agreement before it, so every slot may find its own image corrupt. */
static void is_found(gab_checkpoint *checkpoint, gab_buffer *held, size_t bit, uint64_t checksum)
{
  gab_restore_report report;
  uint64_t now = 0;
  flip(held, bit);
  CHECK(gab_checkpoint_restore(checkpoint, &report) == GAB_ERR_CORRUPT);
  CHECK(strstr(gab_error_message(), "slot") != NULL);
  flip(held, bit);
  CHECK(gab_forest_checksum(checkpoint->forest, &now) == GAB_OK);
  CHECK(now == checksum);
}

static void every_bit_of_an_own_image_counts(automaton *app)
{
  gab_checkpoint *checkpoint;
  gab_restore_report report;
  gab_entity entity = automaton_entity(app);
  uint64_t checksum = 0, restored = 0;
  CHECK(gab_checkpoint_create(app->forest, &(gab_redundancy){0}, &checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_add_entity(checkpoint, &entity) == GAB_OK);
  CHECK(gab_checkpoint_take(checkpoint, 5) == GAB_OK);
  gab_snapshot *snapshot = &checkpoint->snapshots[checkpoint->valid];
  CHECK(gab_forest_checksum(app->forest, &checksum) == GAB_OK);
  const size_t first = 8 * (size_t)GAB_ENVELOPE_BYTES;
  const size_t places[] = {first, first + 63, first + 64, first + 8 * 1000 + 3};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    is_found(checkpoint, &snapshot->own, places[i], checksum);
  is_found(checkpoint, &snapshot->replicated, 8 * snapshot->replicated.size - 1, checksum);
  CHECK(automaton_step(app, 0) == GAB_OK);
  CHECK(gab_checkpoint_restore(checkpoint, &report) == GAB_OK);
  CHECK(gab_forest_checksum(app->forest, &restored) == GAB_OK);
  CHECK(report.step == 5 && restored == checksum);
  gab_checkpoint_destroy(&checkpoint);
}

/* Slot 0 holds the image of the last of three slots, which dies. */
typedef struct flipper {
  automaton *app;
  gab_timeloop *loop;
} flipper;

static gab_status flip_in_copy(void *user, gab_step step)
{
  const flipper *f = user;
  gab_checkpoint *checkpoint = f->loop->guard->checkpoint;
  gab_snapshot *snapshot = &checkpoint->snapshots[checkpoint->valid];
  if (step != 6 || gab_world_slot(f->app->world) != 0) return GAB_OK;
  CHECK(snapshot->copy_count == 1 && snapshot->copies[0].slot == 2);
  flip(&snapshot->copies[0].image, 8 * snapshot->copies[0].image.size - 100);
  return GAB_OK;
}

static void a_corrupt_copy_ends_the_run_on_all(automaton *app)
{
  if (gab_world_members(app->world)->slots != 3) return;
  gab_drill drill = {.step = 7, .phase = GAB_PHASE_EXCHANGE, .visit = 1, .slot_count = 1, .slots = {2}};
  gab_protection protection = {.every = {.steps = 5}, .drills = &drill, .drill_count = 1};
  flipper f = {.app = app};
  CHECK(gab_timeloop_create(app->forest, 20, &f.loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(f.loop, "flip", flip_in_copy, &f) == GAB_OK);
  CHECK(gab_timeloop_add_task(f.loop, "automaton", automaton_step, app) == GAB_OK);
  CHECK(gab_timeloop_protect(f.loop, &protection) == GAB_OK);
  CHECK(gab_timeloop_run(f.loop) == GAB_ERR_CORRUPT);
  CHECK(strstr(gab_error_message(), "image of slot 2") != NULL);
  CHECK(strstr(gab_error_message(), "that slot 0 holds") != NULL);
  CHECK(gab_members_count(gab_world_members(app->world)) == 2);
  gab_timeloop_destroy(&f.loop);
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  CHECK(automaton_create(&app, world, (int32_t[]){3, 2, 2}) == GAB_OK);
  every_bit_of_an_own_image_counts(&app);
  a_corrupt_copy_ends_the_run_on_all(&app);
  uint64_t all = (uint64_t)failures;
  CHECK(gab_world_sum_u64(world, &all, 1) == GAB_OK);
  if (gab_world_is_root(world) && all == 0 && failures == 0) printf("gabion-test: passed\n");
  fflush(stdout);
  automaton_destroy(&app);
  gab_world_destroy(&world);
  return failures > 0;
}
