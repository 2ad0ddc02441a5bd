/* SPDX-License-Identifier: Apache-2.0 */
/** @file run_command.h
 *  @brief The command line by which a campaign starts a run, with gabion-launch on several processes.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_RUN_COMMAND_H
#define GABION_APPS_DRIVER_RUN_COMMAND_H

#include "apps/driver/case/case_impl.h"

enum { GAB_APP_MOST_WORDS = 4 * GAB_APP_MOST_SETTINGS + 64 };

/** What to start. All is borrowed by the command, too. */
typedef struct gab_app_run_start {
  const char *case_file, *out;
  const char *processes;             /**< NULL: one, without gabion-launch */
  const char *const *launch_options; /**< further ones of gabion-launch, NULL-terminated; NULL: none */
  const char *const *settings[2];    /**< of --set, the first list before the second one */
  size_t setting_count[2];
  bool fresh, quiet;
  const char *walltime; /**< NULL: none */
} gab_app_run_start;

typedef struct gab_app_run_command {
  char program[GAB_APP_PATH_LENGTH + 64], launcher[GAB_APP_PATH_LENGTH + 64];
  const char *words[GAB_APP_MOST_WORDS]; /**< NULL-terminated */
} gab_app_run_command;

/** Makes the words. Local. @return ::GAB_ERR_INPUT if this program cannot be found, or if there are too many words */
gab_status gab_app_run_command_make(const gab_app_run_start *start, gab_app_run_command *command);

#endif
