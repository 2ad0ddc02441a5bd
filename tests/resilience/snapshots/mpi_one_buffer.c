/* SPDX-License-Identifier: Apache-2.0 */
/* Where no process keeps anything of another, one image in memory is enough: a process that finds its state wrong right ahead of
 * a checkpoint, while the others have begun it, takes all back to the one before. Two images where that does not do. */
/* gabion-test: np=1,2,4 quick=4 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint_impl.h"

#include <time.h>

enum { STEPS = 35, EVERY = 10, BAD = 20 };

typedef struct watch {
  automaton app;
  gab_rank complains; /* once, at step BAD; GAB_NO_RANK: none */
  bool has_complained;
  size_t snapshots; /* bytes, at the last step */
} watch;

/* The others finish their check, and would have packed, long before this one. */
static gab_status look(void *user, gab_step step)
{
  watch *it = user;
  if (step != BAD || it->has_complained || gab_world_rank(it->app.world) != it->complains) return GAB_OK;
  it->has_complained = true;
  nanosleep(&(struct timespec){0, 200000000}, NULL);
  GAB_FAIL(GAB_ERR_SUSPECT, "a number is wrong");
}

static bool at_checkpoints(const void *user, gab_step step)
{
  (void)user;
  return step % EVERY == 0;
}

static gab_status weigh(void *user, gab_step step)
{
  watch *it = user;
  if (step == STEPS) it->snapshots = gab_memory_now(GAB_MEMORY_SNAPSHOT);
  return GAB_OK;
}

static gab_status find_nothing(void *user, gab_step step)
{
  (void)user, (void)step;
  return GAB_OK;
}

/* @param[in] at_rest  a monitor checks the packed state @return images in memory for each own one */
static double run(gab_world *world, const gab_protection *protection, bool at_rest, gab_rank complains)
{
  watch it = {.complains = complains};
  gab_timeloop *loop;
  REQUIRE_OK(automaton_create(&it.app, world, (int32_t[]){4, 3, 2}));
  REQUIRE_OK(gab_timeloop_create(it.app.forest, STEPS, &loop));
  REQUIRE_OK(automaton_add(&it.app, loop));
  REQUIRE_OK(gab_timeloop_add_monitor(loop, "numbers", at_checkpoints, look, &it));
  if (at_rest) REQUIRE_OK(gab_timeloop_add_rest_monitor(loop, "at rest", find_nothing, NULL));
  REQUIRE_OK(gab_timeloop_add_action(loop, "weigh", NULL, weigh, &it));
  REQUIRE_OK(gab_timeloop_protect(loop, protection));
  REQUIRE_OK(gab_timeloop_run(loop));
  const gab_run_stats stats = gab_timeloop_get_stats(loop);
  CHECK(automaton_is_right(&it.app, STEPS));
  CHECK(stats.suspicions == (complains == GAB_NO_RANK ? 0 : 1));
  CHECK(stats.rolled_back == (complains == GAB_NO_RANK ? 0 : EVERY));
  CHECK(stats.reserve_seconds > 0 && stats.seconds > 0);
  const double images = (double)it.snapshots / (double)stats.checkpoint.image_bytes;
  gab_timeloop_destroy(&loop);
  automaton_destroy(&it.app);
  return images;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the test needs the warnings */
  gab_protection none = {.redundancy = {.scheme = &gab_scheme_none}, .every = {.steps = EVERY}};
  const gab_protection pairwise = {.every = {.steps = EVERY}};
  const gab_rank last = gab_world_members(world)->ranks - 1;
  const bool alone = last == 0;
  double images = run(world, &none, false, GAB_NO_RANK);
  CHECK(images >= 1 && images < 1.9);
  images = run(world, &none, false, last);
  CHECK(images >= 1 && images < 1.9);
  images = run(world, &none, true, last);
  CHECK(images >= 2 && images < 2.9);
  none.scrub = 7;
  images = run(world, &none, false, GAB_NO_RANK);
  CHECK(images >= 2 && images < 2.9);
  none.scrub = 0;
  none.buffers = 2;
  images = run(world, &none, false, GAB_NO_RANK);
  CHECK(images >= 2 && images < 2.9);
  images = run(world, &pairwise, false, last);
  CHECK(alone ? images >= 1 && images < 1.9 : images >= 3.5 && images < 4.9);
  return test_end(&world);
}
