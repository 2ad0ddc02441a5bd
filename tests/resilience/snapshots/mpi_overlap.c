/* SPDX-License-Identifier: Apache-2.0 */
/* Overlapped snapshots: the state restored before and after completion while the state changes, and a time loop with
 * overlapped snapshots. */
/* gabion-test: np=1,2,4 quick=4 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/disk/restart.h"

#include <unistd.h>

static uint64_t checksum(const automaton *app)
{
  uint64_t sum = 0;
  CHECK(gab_forest_checksum(app->forest, &sum) == GAB_OK);
  return sum;
}

static void break_and_repair(automaton *app)
{
  gab_status abort_request = GAB_OK;
  uint32_t flags = 1;
  CHECK(gab_world_agree(app->world, &flags) == GAB_OK); /* the others have left the step */
  if (gab_world_is_root(app->world)) gab_world_raise(app->world, GAB_ERR_REQUEUE);
  CHECK(gab_world_repair(app->world, &abort_request) == GAB_OK && abort_request == GAB_ERR_REQUEUE);
}

static void restores(automaton *app, gab_checkpoint *checkpoint, gab_step step, uint64_t sum)
{
  gab_restore_report report;
  CHECK(gab_checkpoint_restore(checkpoint, &report) == GAB_OK);
  CHECK(report.step == step && checksum(app) == sum);
}

static void what_is_under_way_counts_when_it_is_complete(automaton *app, const gab_redundancy *redundancy)
{
  gab_checkpoint *checkpoint;
  gab_entity entity = automaton_entity(app);
  bool there = false, beyond = true;
  CHECK(gab_checkpoint_create(app->forest, redundancy, &checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_add_entity(checkpoint, &entity) == GAB_OK);
  CHECK(gab_checkpoint_complete(checkpoint) == GAB_ERR_STATE);
  CHECK(gab_checkpoint_take(checkpoint, 1) == GAB_OK && !gab_checkpoint_is_pending(checkpoint));
  const uint64_t first = checksum(app);
  CHECK(automaton_step(app, 0) == GAB_OK);
  const uint64_t second = checksum(app);
  CHECK(gab_checkpoint_begin(checkpoint, 2) == GAB_OK && gab_checkpoint_is_pending(checkpoint));
  CHECK(gab_checkpoint_begin(checkpoint, 2) == GAB_ERR_STATE);
  CHECK(gab_checkpoint_scrub(checkpoint, &beyond) == GAB_OK && !beyond);
  CHECK(automaton_step(app, 1) == GAB_OK);
  CHECK(gab_checkpoint_get_stats(checkpoint).last_step == 1);
  break_and_repair(app);
  CHECK(!gab_checkpoint_is_pending(checkpoint));
  restores(app, checkpoint, 1, first);
  CHECK(automaton_step(app, 0) == GAB_OK && checksum(app) == second);
  CHECK(gab_checkpoint_begin(checkpoint, 2) == GAB_OK);
  for (int i = 0; i < 5; i++) {
    CHECK(automaton_step(app, 1 + i) == GAB_OK);
    CHECK(gab_checkpoint_progress(checkpoint, &there) == GAB_OK);
  }
  CHECK(gab_checkpoint_complete(checkpoint) == GAB_OK && !gab_checkpoint_is_pending(checkpoint));
  CHECK(gab_checkpoint_progress(checkpoint, &there) == GAB_OK && there);
  restores(app, checkpoint, 2, second);
  CHECK(gab_checkpoint_get_stats(checkpoint).taken == 2);
  gab_checkpoint_destroy(&checkpoint);
}

/* Destruction during a snapshot: no access to freed memory (address sanitizer). */
static void one_under_way_may_be_dropped(automaton *app)
{
  gab_checkpoint *checkpoint;
  CHECK(gab_checkpoint_create(app->forest, &(gab_redundancy){0}, &checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_begin(checkpoint, 1) == GAB_OK);
  break_and_repair(app);
  gab_checkpoint_destroy(&checkpoint);
}

/* Steps at which snapshots became the valid one, as an application sees them. */
typedef struct watcher {
  gab_timeloop *loop;
  gab_step behind; /* maximum of steps between the state and the valid snapshot */
  uint64_t begun_at_due;
} watcher;

static gab_status watch(void *user, gab_step step)
{
  watcher *w = user;
  const gab_step valid = gab_timeloop_get_stats(w->loop).checkpoint.last_step;
  if (step - valid > w->behind) w->behind = step - valid;
  w->begun_at_due += valid % 4 == 0;
  return GAB_OK;
}

static void a_loop_takes_them_behind_its_steps(automaton *app, bool overlap, uint64_t *sum)
{
  watcher w = {0};
  gab_entity entity = automaton_entity(app);
  CHECK(gab_timeloop_create(app->forest, 30, &w.loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(w.loop, "automaton", automaton_step, app) == GAB_OK);
  CHECK(gab_timeloop_add_task(w.loop, "watch", watch, &w) == GAB_OK);
  CHECK(gab_timeloop_add_entity(w.loop, &entity) == GAB_OK);
  gab_protection protection = {.every = {.steps = 4}, .overlap = overlap};
  CHECK(gab_timeloop_protect(w.loop, &protection) == GAB_OK);
  CHECK(gab_timeloop_run(w.loop) == GAB_OK);
  const gab_run_stats stats = gab_timeloop_get_stats(w.loop);
  CHECK(stats.checkpoint.taken == 8 && stats.checkpoint.last_step == 28);
  CHECK(w.begun_at_due == 30); /* each snapshot is of its due step */
  const bool travels = overlap && gab_members_count(gab_world_members(app->world)) > 1;
  CHECK(travels ? w.behind > 3 : w.behind == 3);
  *sum = checksum(app);
  gab_timeloop_destroy(&w.loop);
}

/* Checkpoints on disk are due once, too, independent of the time of the copies. */
static void each_that_goes_to_disk_is_begun_once(automaton *app)
{
  char folder[64];
  gab_timeloop *loop;
  snprintf(folder, sizeof folder, "mpi_overlap-np%" GAB_PRI_RANK ".tmp",
           gab_world_members(app->world)->ranks);
  if (gab_world_is_root(app->world)) CHECK(gab_restart_remove_all(folder) == GAB_OK);
  CHECK(gab_world_barrier(app->world) == GAB_OK);
  CHECK(gab_timeloop_create(app->forest, 50, &loop) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "automaton", automaton_step, app) == GAB_OK);
  gab_protection protection = {
      .every = {.steps = 10}, .overlap = true, .disk = {.folder = folder}, .disk_every = {.steps = 20}};
  CHECK(gab_timeloop_protect(loop, &protection) == GAB_OK);
  CHECK(gab_timeloop_run(loop) == GAB_OK);
  const gab_run_stats stats = gab_timeloop_get_stats(loop);
  CHECK(stats.checkpoint.taken == 6); /* 0, 10, 20, 30, 40, and 50 for the disk */
  CHECK(stats.disk.begun <= 3);       /* 20, 40, 50 */
  gab_timeloop_destroy(&loop);
  CHECK(gab_world_barrier(app->world) == GAB_OK);
  if (gab_world_is_root(app->world)) CHECK(gab_restart_remove_all(folder) == GAB_OK && rmdir(folder) == 0);
}

static void run_all(gab_world *world)
{
  static const gab_redundancy schemes[] = {{.scheme = &gab_scheme_pairwise},
                                           {.scheme = &gab_scheme_ring, .copies = 2},
                                           {.scheme = &gab_scheme_parity}};
  uint64_t sums[2] = {0, 1};
  automaton app;
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    CHECK(automaton_create(&app, world, (int32_t[]){3, 3, 2}) == GAB_OK);
    what_is_under_way_counts_when_it_is_complete(&app, &schemes[i]);
    automaton_destroy(&app);
  }
  for (int overlap = 0; overlap < 2; overlap++) {
    CHECK(automaton_create(&app, world, (int32_t[]){3, 3, 2}) == GAB_OK);
    if (overlap) one_under_way_may_be_dropped(&app);
    a_loop_takes_them_behind_its_steps(&app, overlap, &sums[overlap]);
    automaton_destroy(&app);
  }
  CHECK(sums[0] == sums[1]);
  CHECK(automaton_create(&app, world, (int32_t[]){3, 3, 2}) == GAB_OK);
  each_that_goes_to_disk_is_begun_once(&app);
  automaton_destroy(&app);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR);
  run_all(world);
  return test_end(&world);
}
