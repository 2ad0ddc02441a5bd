/* With one buffer a death finds those that have taken the new snapshot beside one that has not begun it:
 * nothing in memory is common to all, and all say so alike, so that the disk can be tried. */
/* gabion-test: np=4 timeout=30 labels=quick needs=ulfm */
#include "tests/faults/automaton.c"

#include "resilience/checkpoint.h"

#include <signal.h>
#include <unistd.h>

/* Copies go from 0 to 2 and back: these two get to the commit, where they wait for 1, which dies, and for 3.
 */
static void part(gab_world *world, gab_checkpoint *checkpoint)
{
  const gab_slot me = gab_world_slot(world);
  if (me == 0 || me == 2) (void)gab_checkpoint_take(checkpoint, 1);
  else usleep(500000);
  if (me == 1) kill(getpid(), SIGKILL);
}

static bool all_lose_it_alike(gab_world *world, gab_checkpoint *checkpoint)
{
  gab_status intent;
  gab_restore_report report;
  if (gab_world_repair(world, &intent) != GAB_OK || intent != GAB_OK) return false;
  const gab_status status = gab_checkpoint_restore(checkpoint, &report);
  if (status == GAB_ERR_LOST && strstr(gab_error_message(), "with one buffer")) return true;
  printf("mpi_single_buffer: slot %d: %s: %s\n", (int)gab_world_slot(world), gab_status_name(status),
         gab_error_message());
  return false;
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  gab_checkpoint *checkpoint = NULL;
  const gab_redundancy pairs = {.copies = 1, .separate = GAB_DOMAIN_NONE};
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  gab_status status = automaton_create(&app, world, (int32_t[]){3, 2, 2});
  if (status == GAB_OK) status = gab_checkpoint_create(app.forest, &pairs, &checkpoint);
  if (status == GAB_OK) status = gab_checkpoint_set_buffers(checkpoint, 1);
  if (status == GAB_OK) status = gab_checkpoint_take(checkpoint, 0);
  bool fine = status == GAB_OK;
  if (fine) part(world, checkpoint);
  fine = fine && all_lose_it_alike(world, checkpoint);
  uint64_t good = fine;
  fine = gab_world_min_u64(world, &good, 1) == GAB_OK && good;
  if (fine && gab_world_is_root(world)) printf("gabion-test: passed\n");
  fflush(stdout);
  gab_checkpoint_destroy(&checkpoint);
  automaton_destroy(&app);
  gab_world_destroy(&world);
  return fine ? 0 : 1;
}
