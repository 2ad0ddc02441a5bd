/* SPDX-License-Identifier: Apache-2.0 */
/** @file run_impl.h
 *  @brief What the sources of a run share.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_RUN_IMPL_H
#define GABION_APPS_DRIVER_RUN_IMPL_H

#include "apps/driver/case/case_impl.h"
#include "apps/driver/run/run.h"

/** The part of a run that makes no blocks and touches no file: what it refuses, `gabion check` refuses too. Local but for the
 *  making of collective objects. @param[out] made  to be destroyed whatever the status */
gab_status gab_app_run_create(gab_world *world, const gab_app_case *which, const char *folder,
                              gab_app_run **made);
void gab_app_run_destroy(gab_app_run **which);
/** `gabion check` of what has been made so. Collective. */
gab_status gab_app_run_check(gab_app_run *it);
/** Computes a case, from step 0 or from the checkpoint of an earlier run in the folder, and says in the log how that ended. The
 *  output folder is touched only after all else has succeeded. Collective. */
gab_status gab_app_run_case(gab_world *world, const gab_app_case *which, const char *folder);
/** What all have: the state of the output as an entity, the end, the end by a failure. */
gab_status gab_app_run_add_actions(gab_app_run *it);
/** The look whether the numbers are finite: behind the monitors that the case asks for, which may know what was the matter
 *  before. As a monitor, since these look ahead of each checkpoint too: the last one is finite when a run diverges. */
gab_status gab_app_run_add_check(gab_app_run *it);
/** Adds fields and slices that the case asks for, and what a run leaves that diverged. Local. */
gab_status gab_app_run_add_writers(gab_app_run *it);
/** Says in the log what strategy `local` comes to in a run, if the case wants it: whether it will be in force, and how far delays mask
 *  each other. Local, after prepare(). */
void gab_app_run_describe_local(const gab_app_run *it);
/** Warns of a program with communicators of its own that gab_solver.own_comms does not tell of, where that ends strategy `local`.
 *  Local. */
void gab_app_run_warn_of_comms(const gab_app_run *it);
/** Says in the log what it came to. Collective. */
gab_status gab_app_recompute_report(gab_world *world, const gab_app_recompute *plan,
                                    const gab_sample_report *mine);
/* ---------------------------------------------------------------- the folder */

/** Makes the output folder with the case in it, and opens the log there. Collective.
 *  @param[in] continues  the run goes on from a checkpoint there: the log is kept. Else old checkpoints go if the
 *  options say so */
gab_status gab_app_folder_open(gab_world *world, const gab_app_case *which, const char *folder,
                               bool continues);

/** Clears away what an earlier run left that this one does not go on from, and lists what this one writes.
 * Collective; the last thing before the run, so that a run that is refused clears nothing away.
 *  @param[in] outputs  of the run, NULL-terminated @param[in] more  further names, a line each; may be NULL
 */
gab_status gab_app_folder_settle(gab_world *world, const char *folder, gab_output *const *outputs,
                                 const char *more, bool continues);

/* ---------------------------------------------------------------- a start that is refused */

enum { GAB_APP_KEPT_FILES = 4, GAB_APP_KEPT_LOGS = 2 };

/** What the folder holds of the run before; of the root. */
typedef struct gab_app_kept_folder {
  bool is_kept;
  bool is_there[GAB_APP_KEPT_FILES];
  gab_buffer content[GAB_APP_KEPT_FILES];
  int64_t size[GAB_APP_KEPT_LOGS]; /**< -1: it is not there */
} gab_app_kept_folder;

/** Notes it, ahead of gab_app_folder_open(). Local. @param[in,out] kept  zero-initialised */
void gab_app_folder_keep(const char *folder, gab_app_kept_folder *kept);
/** Makes the folder what it was; nobody writes there any more. Local. */
void gab_app_folder_put_back(const char *folder, const gab_app_kept_folder *kept);
void gab_app_kept_folder_release(gab_app_kept_folder *kept);

/* ---------------------------------------------------------------- a set-up that fails */

/** The outcome of setting a run up, the same on all and for the right reason, also if processes died. */
gab_status gab_app_end_of_setup(gab_world *world, gab_status status);
/** The same before there is anything to run, with the reason in the log. */
gab_status gab_app_refuse(gab_world *world, gab_status status);

/** Says in the log what is computed where. @param[in] cells  behind the number of blocks, as @param[in] kernel  may be NULL */
void gab_app_run_describe(const gab_app_run *it, const char *cells, const char *kernel);

/** Whether blocks are computed twice in the step with this number, from 1. */
bool gab_app_run_recomputes(const gab_app_run *it, gab_step steps);

/** Adds quantities of a list in the parameter file to `picked`, which has capacity for #GAB_APP_MOST_PICKED. */
gab_status gab_app_run_pick(const gab_app_run *it, const char *path, gab_quantity *picked, size_t *count);

#endif
