/* SPDX-License-Identifier: Apache-2.0 */
/** @file run_impl.h
 *  @brief Declarations shared by the sources of a run.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_RUN_IMPL_H
#define GABION_APPS_DRIVER_RUN_IMPL_H

#include "apps/driver/case/case_impl.h"
#include "apps/driver/run/run.h"

/** Makes the run without blocks and without access to files; `gabion check` reports the same errors. Local except for
 * creating collective objects. @param[out] made  to be destroyed for any status */
gab_status gab_app_run_create(gab_world *world, const gab_app_case *which, const char *folder,
                              gab_app_run **made);
void gab_app_run_destroy(gab_app_run **which);
/** `gabion check` of such a run. Collective. */
gab_status gab_app_run_check(gab_app_run *it);
/** Computes a case, from step 0 or from the checkpoint of an earlier run in the folder, and logs how it ended. The output
 * folder is changed only after all else has succeeded. Collective. */
gab_status gab_app_run_case(gab_world *world, const gab_app_case *which, const char *folder);
/** Actions of all runs: the state of the output as an entity, the end, the end by a failure. */
gab_status gab_app_run_add_actions(gab_app_run *it);
/** Checks for finite numbers, after the monitors of the case, which may give a better reason. It is a monitor, since these
 * also run before each checkpoint: so the last checkpoint of a run that diverges is finite. */
gab_status gab_app_run_add_check(gab_app_run *it);
/** Adds fields and slices of the case, and the output of a diverged run. Local. */
gab_status gab_app_run_add_writers(gab_app_run *it);
/* Whether `output.fields` writes VTKHDF files. */
bool gab_app_run_writes_vtkhdf(const gab_app_run *it);
/** Logs the effect of strategy `local` if the case has it: whether it will be active, and the overlap of delays. Local,
 * after prepare(). */
void gab_app_run_describe_local(const gab_app_run *it);
/** Warns if user-defined communicators, not declared by gab_solver.own_comms, end strategy `local`. Local. */
void gab_app_run_warn_of_comms(const gab_app_run *it);
/** Logs the findings. Collective. */
gab_status gab_app_recompute_report(gab_world *world, const gab_app_recompute *plan,
                                    const gab_sample_report *mine);
/* ---------------------------------------------------------------- the folder */

/** Makes the output folder with the case in it, and opens the log there. Collective. @param[in] continues  the run resumes
 * from a checkpoint there, and keeps the log. Else old checkpoints are removed if the options say so */
gab_status gab_app_folder_open(gab_world *world, const gab_app_case *which, const char *folder,
                               bool continues);

/** Removes files of an earlier run from which this one does not resume, and lists the files of this run. Collective; called
 * last before the run, so that a refused run removes nothing. @param[in] outputs  of the run, NULL-terminated @param[in]
 * more  further names, one per line; may be NULL */
gab_status gab_app_folder_settle(gab_world *world, const char *folder, gab_output *const *outputs,
                                 const char *more, bool continues);

/* ---------------------------------------------------------------- a start that is refused */

enum { GAB_APP_KEPT_FILES = 4, GAB_APP_KEPT_LOGS = 2 };

/** Contents of the folder from the previous run; on the root. */
typedef struct gab_app_kept_folder {
  bool is_kept;
  bool is_there[GAB_APP_KEPT_FILES];
  gab_buffer content[GAB_APP_KEPT_FILES];
  int64_t size[GAB_APP_KEPT_LOGS]; /**< -1: absent */
} gab_app_kept_folder;

/** Records them before gab_app_folder_open(). Local. @param[in,out] kept  zero-initialised */
void gab_app_folder_keep(const char *folder, gab_app_kept_folder *kept);
/** Restores the folder; no process may write there any more. Local. */
void gab_app_folder_put_back(const char *folder, const gab_app_kept_folder *kept);
void gab_app_kept_folder_release(gab_app_kept_folder *kept);

/* ---------------------------------------------------------------- a set-up that fails */

/** Status of the set-up of a run, the same on all, with the right reason, also if processes died. */
gab_status gab_app_end_of_setup(gab_world *world, gab_status status);
/** The same before the run exists; logs the reason. */
gab_status gab_app_refuse(gab_world *world, gab_status status);

/** Logs the grid and its distribution. @param[in] cells  text after the number of blocks @param[in] kernel  may be
 * NULL */
void gab_app_run_describe(const gab_app_run *it, const char *cells, const char *kernel);

/** Whether blocks are computed twice in the step with this number, from 1. */
bool gab_app_run_recomputes(const gab_app_run *it, gab_step steps);

/** Adds quantities of a list in the parameter file to `picked`, which has capacity for #GAB_APP_MOST_PICKED. */
gab_status gab_app_run_pick(const gab_app_run *it, const char *path, gab_quantity *picked, size_t *count);

#endif
