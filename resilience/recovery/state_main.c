/* SPDX-License-Identifier: Apache-2.0 */
/* main() of a program that saves its state. */
#include "resilience/recovery/state_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gab_status read_steps(const char *name, gab_step *steps)
{
  const char *text = getenv(name);
  char *end = NULL;
  if (!text) return GAB_OK;
  *steps = strtoll(text, &end, 10);
  if (end == text || *end || *steps < 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s=%.40s: a number of at least 0 is needed", name, text);
  return GAB_OK;
}

gab_status gab_state_options_read(gab_state_options *options)
{
  const char *scheme = getenv("GABION_STATE_SCHEME"), *folder = getenv("GABION_STATE_FOLDER");
  gab_step wait = 0;
  *options = (gab_state_options){.folder = folder && *folder ? folder : NULL};
  if (scheme && *scheme) options->redundancy.scheme = gab_scheme_by_name(scheme);
  if (scheme && *scheme && !options->redundancy.scheme) {
    char why[256];
    snprintf(why, sizeof why, "%s", gab_error_message());
    GAB_FAIL(GAB_ERR_INPUT, "GABION_STATE_SCHEME: %s", why);
  }
  GAB_TRY(read_steps("GABION_STATE_EVERY", &options->file_every));
  GAB_TRY(read_steps("GABION_STATE_WAIT", &wait));
  options->file_wait = wait != 0;
  return GAB_OK;
}

typedef struct guarded {
  gab_state *state;
  gab_state_program program;
  double left_at; /* 0: in the program */
} guarded;

/* Maximum over all processes, since a replacement process has measured only its own time. */
static gab_status tell_cost(gab_state *state)
{
  const gab_state_times own = gab_state_get_times(state);
  double most[5] = {own.save, own.files, own.load, own.away, (double)own.saves};
  GAB_TRY(gab_world_max_f64(state->world, most, 5));
  gab_log(GAB_LOG_INFO,
          "state: %zu bytes, %.0f saves %.6f s (files %.6f s), loading %.6f s, away for repairs %.6f s, "
          "%" GAB_PRI_EPOCH " repairs",
          gab_checkpoint_get_stats(state->checkpoint).image_bytes, most[4], most[0], most[1], most[2],
          most[3], gab_world_epoch(state->world));
  return GAB_OK;
}

static gab_status call(gab_world *world, int argc, char **argv, gab_reinit_state how, void *user)
{
  guarded *run = user;
  (void)world, (void)how;
  if (run->left_at > 0) run->state->times.away += gab_seconds() - run->left_at;
  gab_status status = run->program(run->state, argc, argv);
  if (status == GAB_OK) status = gab_state_finish(run->state);
  if (status == GAB_OK) status = tell_cost(run->state);
  run->left_at = status == GAB_ERR_FAULT ? gab_seconds() : 0;
  return status;
}

static gab_status prepare(gab_world *world, gab_state **state)
{
  gab_state_options options;
  gab_step respawns = 0, shrinks = 0;
  const char *log = getenv("GABION_STATE_LOG");
  if (log && *log) GAB_TRY(gab_log_open(log));
  GAB_TRY(read_steps("GABION_STATE_RESPAWN", &respawns));
  GAB_TRY(gab_reinit_allow_respawning(world, respawns != 0));
  GAB_TRY(read_steps("GABION_STATE_SHRINK", &shrinks));
  gab_reinit_allow_shrinking(world, shrinks != 0);
  GAB_TRY(gab_state_options_read(&options));
  return gab_state_create(world, &options, state);
}

#undef gab_state_main /* the macro records the version of the headers of a program */
int gab_state_main(int argc, char **argv, gab_state_program program)
{
  gab_world *world;
  guarded run = {.program = program};
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], gab_error_message());
    return EXIT_FAILURE;
  }
  gab_status status = prepare(world, &run.state);
  if (status == GAB_OK) status = gab_reinit(world, argc, argv, call, &run);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  gab_state_destroy(&run.state);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
