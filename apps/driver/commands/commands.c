/* SPDX-License-Identifier: Apache-2.0 */
/* The commands, and which of them is meant. */
#include "apps/driver/driver.h"
#include "apps/driver/plan/plan.h"

#include <string.h>

typedef struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *usage, *doc;
} command;

static const command commands[] = {
    {"run", gab_app_command_run, "gabion run CASE.yaml [options]", "run a case"},
    {"check", gab_app_command_check, "gabion check CASE.yaml [--set KEY=VALUE]...",
     "check a case and print derived quantities, without computing"},
    {"plan", gab_app_command_plan, "gabion plan CASE.yaml -n PROCESSES [options]",
     "memory, messages and checkpoint costs on many processes, from one"},
    {"converge", gab_app_command_converge, "gabion converge CASE.yaml --cells 1,2,4",
     "grid convergence: order, limit and uncertainty of the results"},
    {"sweep", gab_app_command_sweep, "gabion sweep SWEEP.yaml [--dry-run]",
     "many runs of a case, several at once, and a table of their results"},
    {"compare", gab_app_command_compare, "gabion compare FOLDER_A FOLDER_B",
     "differences of two runs: parameters, results, series"},
    {"assemble", gab_app_command_assemble, "gabion assemble OUT [--linked]",
     "join the slabs of a moving window into one field"},
    {"status", gab_app_command_status, "gabion status FOLDER... [--json]",
     "progress and faults of a run, also after its death, or of a tree of runs"},
    {"clean", gab_app_command_clean, "gabion clean FOLDER... [--dry-run]",
     "remove what finished runs need no more, never results"},
    {"checkpoint", gab_app_command_checkpoint, "gabion checkpoint list|verify|extract DIR",
     "list, verify or extract checkpoints on disk"},
    {"help", gab_app_command_help, "gabion help [KEY | --reference]", "explain the parameters"},
    {"info", gab_app_command_info, "gabion info [CASE.yaml]", "features of this build"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out)
{
  char line[128];
  fprintf(out, "Gabion %s: simulations on blocks that survive the death of processes.\n\n", GAB_VERSION);
  for (int i = 0; i < COMMAND_COUNT; i++) {
    snprintf(line, sizeof line, "%s%s", gab_app_program(), commands[i].usage + strlen("gabion"));
    fprintf(out, "  %-46s %s\n", line, commands[i].doc);
  }
  fprintf(out,
          "\n"
          "`%s COMMAND --help` prints the options of a command.\n",
          gab_app_program());
  gab_app_usage_put("On several processes: gabion-launch -n 4 -- gabion run CASE.yaml\n", out);
}

#undef gab_app_main /* the macro that records the version of a program's headers */
int gab_app_main(int argc, char **argv, const gab_solver *const *solvers, int count)
{
  if (gab_version_check_headers() != GAB_OK || gab_app_solver_set(solvers, count) != GAB_OK) {
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  gab_app_program_note(argc > 0 ? argv[0] : NULL);
  const char *names[COMMAND_COUNT + 1] = {NULL};
  for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  const char *word = argv[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    print_usage(stdout);
    return 0;
  }
  if (strcmp(word, "--version") == 0) {
    printf("gabion %s\n", GAB_VERSION);
    return 0;
  }
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(word, names[i]) == 0) return commands[i].run(argc - 2, argv + 2);
  fprintf(stderr, "%s: unknown command '%s'; did you mean '%s'? (%s --help lists them)\n", gab_app_program(),
          word, gab_app_closest(word, names), gab_app_program());
  return 2;
}
