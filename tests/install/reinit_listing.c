/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of resilience/recovery/reinit.h, word for word, around waves.h; for script_reinit.sh, which compares the two:
 * reinit_listing STEPS */
#include "core/base/log.h"
#include "resilience/recovery/state.h"
#include "resilience/reports/completion.h"
#include "waves.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct application {
  gab_state *saved;
  int steps;
  waves *x;
  size_t bytes;
} application;

static void set_up(application *app, int argc, char **argv)
{
  static waves all;
  app->steps = argc > 1 ? atoi(argv[1]) : 100;
  app->x = &all;
  app->bytes = sizeof all;
  waves_begin(app->x, gab_state_comm(app->saved));
}

static void compute(application *app, gab_step step)
{
  waves_step(app->x, gab_state_comm(app->saved), (int)step);
}

static gab_status foo(gab_world *world, int argc, char **argv, gab_reinit_state state, void *user)
{
  application *app = user;
  gab_step k = 0;
  set_up(app, argc, argv); // as at the very start, in every call
  GAB_TRY(gab_state_add(app->saved, "x", app->x, app->bytes));
  GAB_TRY(gab_state_load(app->saved, &k)); // leaves x and k as they are if nothing was saved
  printf("rank %d is process %d in state %d, from step %d\n", (int)gab_world_rank(world), (int)getpid(),
         (int)state, (int)k);
  fflush(stdout);
  while (k < app->steps) {
    compute(app, k);                          // codes of MPI need not be looked at
    GAB_TRY(gab_state_save(app->saved, ++k)); // after a death: the way out
  }
  waves_print_sum(app->x, gab_state_comm(app->saved));
  return GAB_OK;
}

int main(int argc, char **argv)
{
  gab_world *world;
  application app = {.steps = 0};
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  gab_status status = gab_state_create(world, NULL, &app.saved);
  if (status == GAB_OK) status = gab_reinit(world, argc, argv, foo, &app);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  gab_state_destroy(&app.saved);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
