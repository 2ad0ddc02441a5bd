/* SPDX-License-Identifier: Apache-2.0 */
/** @file run_tree.h
 *  @brief Output folders of runs in a tree of folders.
 *
 *  A run is a folder with events.jsonl. Links and hidden folders are not followed, nor are folders within a run, or more than
 *  eight levels deep. Local.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_RUN_TREE_H
#define GABION_APPS_DRIVER_RUN_TREE_H

#include "core/base/status.h"

/** Calls `visit` for each run, in the order of names, until it fails.
 *  @param[in] folder  of a run, or a parent folder of runs @return status of the last call; ::GAB_ERR_INPUT if there is no run */
gab_status gab_app_run_tree_visit(const char *folder, gab_status (*visit)(void *user, const char *folder),
                                  void *user);
/** Whether a folder is not that of a run and has some below. */
bool gab_app_run_tree_has_runs_below(const char *folder);

#endif
