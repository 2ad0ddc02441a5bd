/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.h
 *  @brief Declarations shared by the sources of the driver `gabion`: all of its subfolders, plans and commands.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_DRIVER_H
#define GABION_APPS_DRIVER_DRIVER_H

#include "apps/driver/case/case_impl.h"
#include "apps/driver/solver_impl.h"
#include "apps/driver/plan/app_plan.h"
#include "apps/driver/run/run_impl.h"

#include <stdio.h>

/** Calls `use` with the resources of a case on `ranks` processes and its initial grid, which this process builds without MPI.
 *  plan/plan_model.c.
 *  @param[out] started  gab_seconds() before `use` is called; may be NULL
 *  @return ::GAB_ERR_INPUT if there are several processes, or if the solver cannot be planned */
gab_status gab_app_case_plan(const gab_app_case *which, int32_t ranks, gab_app_plan_fn *use, void *user,
                             double *started);

/** Sets a run up as far as that is possible without computing, and logs what is derived from the case. Local, without MPI.
 *  commands/command_check.c. @return ::GAB_ERR_INPUT with the reason why it cannot run */
gab_status gab_app_case_check(const gab_app_case *which);

/* ---------------------------------------------------------------- commands, each returns an exit code */

/** Stores the name by which this program was called, for the next two functions. */
void gab_app_program_note(const char *path);
const char *gab_app_program(void);
/** Writes a usage text; replaces `gabion ` by the name of this program. */
void gab_app_usage_put(const char *usage, FILE *out);
int gab_app_command_run(int argc, char **argv);
int gab_app_command_check(int argc, char **argv);
int gab_app_command_status(int argc, char **argv);
int gab_app_command_clean(int argc, char **argv);
int gab_app_command_help(int argc, char **argv);
int gab_app_command_info(int argc, char **argv);
int gab_app_command_checkpoint(int argc, char **argv);
int gab_app_command_assemble(int argc, char **argv);
int gab_app_command_converge(int argc, char **argv); /**< campaign/converge.c */
int gab_app_command_compare(int argc, char **argv);  /**< campaign/compare.c */
int gab_app_command_sweep(int argc, char **argv);    /**< campaign/sweep/sweep_command.c */

#endif
