/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/campaign/run_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The program itself, or another one in its folder. */
static gab_status find_program(const char *name, char path[GAB_APP_PATH_LENGTH + 64])
{
  const ssize_t length = readlink("/proc/self/exe", path, GAB_APP_PATH_LENGTH);
  if (length <= 0 || length >= GAB_APP_PATH_LENGTH)
    GAB_FAIL(GAB_ERR_INPUT, "the file of this program cannot be found");
  path[length] = '\0';
  if (!name) return GAB_OK;
  snprintf(strrchr(path, '/') + 1, 48, "%s", name);
  if (access(path, X_OK) != 0) snprintf(path, GAB_APP_PATH_LENGTH, "%s", name); /* on PATH */
  return GAB_OK;
}

gab_status gab_app_run_command_make(const gab_app_run_start *start, gab_app_run_command *command)
{
  size_t count = 0, options = 0;
  while (start->launch_options && start->launch_options[options]) options++;
  if (options + 2 * (start->setting_count[0] + start->setting_count[1]) + 32 > GAB_APP_MOST_WORDS)
    GAB_FAIL(GAB_ERR_INPUT, "more than %d words to start a run: too many --set", GAB_APP_MOST_WORDS);
  GAB_TRY(find_program(NULL, command->program));
  GAB_TRY(find_program("gabion-launch", command->launcher));
  const char **words = command->words;
  if (start->processes) {
    words[count++] = command->launcher, words[count++] = "-n", words[count++] = start->processes;
    for (size_t i = 0; i < options; i++) words[count++] = start->launch_options[i];
    words[count++] = "--";
  }
  words[count++] = command->program, words[count++] = "run", words[count++] = start->case_file;
  words[count++] = "--out", words[count++] = start->out;
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < start->setting_count[k]; i++)
      words[count++] = "--set", words[count++] = start->settings[k][i];
  if (start->walltime) words[count++] = "--walltime", words[count++] = start->walltime;
  if (start->fresh) words[count++] = "--fresh";
  if (start->quiet) words[count++] = "--quiet";
  words[count] = NULL;
  return GAB_OK;
}
