/* SPDX-License-Identifier: Apache-2.0 */
/* gabion run: from the command line to the exit code, on all processes alike. */

#include "apps/driver/driver.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"

#define RUN_OPTIONS "osivqwfcmSt"

static const char usage[] =
    "usage: gabion run CASE.yaml [options]\n"
    "\n"
    "  --out DIR, -o         output folder (default: out/NAME for NAME.yaml)\n"
    "  --set KEY=VALUE, -s   override the file, e.g. --set run.steps=1000; may be repeated\n"
    "  --inject FAULT        inject a fault, e.g. rank=2,step=500,phase=exchange\n"
    "                        or random=1,seed=7,step=500; may be repeated (gabion help faults)\n"
    "  --walltime TIME       stop before this time with a checkpoint: 24 h, 30 min, 12:00:00\n"
    "  --fresh               start from step 0; replaces results and checkpoints in the output folder\n"
    "  --continue-anyway     resume from a checkpoint although the case has changed\n"
    "  --overcommit          start even if node memory is insufficient\n"
    "  --traffic FILE        at the end, write the traffic between processes (gabion plan --traffic)\n"
    "  --verbose, -v         more messages\n"
    "  --quiet, -q           warnings and errors only\n"
    "  --print-spares        only print the number of spare processes of the case (resilience.spares),\n"
    "                        in the form of gabion-launch --spares\n"
    "  --help, -h            this text\n"
    "\n"
    "Results of a finished run in the output folder are not replaced without --fresh.\n"
    "With checkpoints on disk (resilience.disk.every) the same command in the same folder resumes from\n"
    "the newest complete one.\n"
    "On several processes: gabion-launch -n 4 -- gabion run CASE.yaml\n"
    "Exit code: 0 done, 2 invalid input, 3 data lost beyond the redundancy, 4 diverged,\n"
    "75 checkpointed before the time limit; run the same command to resume,\n"
    "76 a process died before the first step; run the same command again (gabion-launch does so once),\n"
    "1 other errors.\n";

static gab_status run(gab_world *world, const gab_app_options *options)
{
  gab_app_case *which;
  char folder[GAB_APP_PATH_LENGTH];
  gab_log_level level = options->quiet ? GAB_LOG_WARNING : options->verbose ? GAB_LOG_DEBUG : GAB_LOG_INFO;
  gab_log_set_level(level, options->verbose ? GAB_LOG_DEBUG : GAB_LOG_INFO);
  gab_status status = gab_app_case_share(world, options, &which);
  if (status == GAB_OK) {
    gab_app_default_folder(options->word, folder, sizeof folder);
    status = gab_app_run_case(world, which, options->out ? options->out : folder);
  } else status = gab_app_refuse(world, status);
  gab_app_case_destroy(&which);
  return status;
}

/* Before there is a world: gabion-launch asks, to know how many processes that is to have. @return exit code
 */
static int print_spares(const gab_app_options *options)
{
  gab_config *config = NULL;
  const gab_status status = gab_app_config_from_file(options, &config);
  if (status == GAB_OK) {
    const gab_spares_asked asked = gab_resilience_spares(config);
    printf("%" PRId32 "%s\n", asked.count, asked.per_node ? "/node" : "");
  } else {
    gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  }
  gab_config_destroy(&config);
  return gab_status_exit_code(status);
}

int gab_app_command_run(int argc, char **argv)
{
  gab_world *world;
  gab_app_options options;
  const bool understood = gab_app_options_parse(argc, argv, RUN_OPTIONS, &options) == GAB_OK;
  if (understood && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (understood && options.print_spares && options.word) return print_spares(&options);
  /* MPI comes first, so that a wrong command line is complained about once, not by every process. */
  gab_status status = gab_world_create(NULL, NULL, &world);
  if (status != GAB_OK) {
    fprintf(stderr, "gabion: %s\n", gab_error_message());
    return gab_status_exit_code(status);
  }
  status = gab_app_options_parse(argc, argv, RUN_OPTIONS, &options);
  if (status == GAB_OK && !options.word)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no case file given (gabion run --help)");
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  else status = run(world, &options);
  int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
