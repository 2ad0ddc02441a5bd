/* SPDX-License-Identifier: Apache-2.0 */
/* A death between the last step and the end of the program: the marker is written once more by whoever is
 * left, with the code of the run. */
/* gabion-test: np=2,5 quick=2 timeout=30 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "resilience/reports/completion.h"

/* The root is gone before it writes the marker, or when it has written another one. */
static void die_at(gab_world *world, int moment, const char *marker)
{
  if (gab_world_rank(world) == 0 && moment == 1) {
    FILE *file = fopen(marker, "w");
    if (file) fputs("exit 99\n", file);
    if (file) fclose(file);
  }
  test_kill(world, 0);
}

static bool marker_says(const char *marker, const char *due)
{
  char text[32] = "";
  FILE *file = fopen(marker, "r");
  if (!file) return false;
  bool read = fgets(text, sizeof text, file) != NULL;
  fclose(file);
  return read && strcmp(text, due) == 0;
}

static gab_status run(automaton *app)
{
  gab_timeloop *loop;
  gab_protection protection = {.every = {.steps = 5}, .rebalance = automaton_rebalance};
  GAB_TRY(gab_timeloop_create(app->forest, 12, &loop));
  gab_status status = gab_timeloop_add_task(loop, "automaton", automaton_step, app);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, &protection);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  gab_timeloop_destroy(&loop);
  return status;
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const char *marker = "last-moment.marker"; /* the folder is that of this run */
  setenv("GABION_COMPLETION", marker, 1);
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){3, 2, 2}));
  REQUIRE_OK(run(&app));
  die_at(world, gab_world_members(world)->ranks > 2, marker);
  REQUIRE(gab_report_completion(world, 0) == 0);
  if (gab_world_is_root(world)) {
    REQUIRE(gab_world_rank(world) == 1 && marker_says(marker, "exit 0\n"));
    unlink(marker);
  }
  automaton_destroy(&app);
  return test_end(&world);
}
