/* SPDX-License-Identifier: Apache-2.0 */
/** @file solver_impl.h
 *  @brief Which solvers there are, and the cases of all.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_SOLVER_IMPL_H
#define GABION_APPS_DRIVER_SOLVER_IMPL_H

#include "apps/driver/solver.h"

/* ---------------------------------------------------------------- solver_known.c */

/** Says which solvers there are, before anything is read. @param[in] solvers  of `count`, borrowed until the process ends; a case that is
 *  none of the others' is of the one without a section
 *  @return ::GAB_ERR_ARGUMENT, without any, if an entry lacks what it has to have, or several have no section */
gab_status gab_app_solver_set(const gab_solver *const *solvers, int count);
/** @return the index-th of all solvers, NULL behind the last */
const gab_solver *gab_app_solver_at(int index);
/** What runs of a solver have to write: the index-th, without a name behind the last. */
gab_config_choice gab_app_solver_quantity(const gab_solver *solver, int index);
/** What a checked parameter file is about. */
const gab_solver *gab_app_solver_of(const gab_config *config);

/* ---------------------------------------------------------------- case/read_case.c */

/** Reads the case that a command line names. Local. @param[in] options  borrowed @param[out] found  to be destroyed by
 *  gab_app_case_destroy() whatever the status; NULL if not even its parameters can be read */
gab_status gab_app_case_from_file(const gab_app_options *options, gab_app_case **found);
/** Reads the case on all processes of a run: the root reads the file, and hashes the files named in it. Collective. @return the
 *  same on all */
gab_status gab_app_case_share(gab_world *world, const gab_app_options *options, gab_app_case **found);
void gab_app_case_destroy(gab_app_case **which);

/* ---------------------------------------------------------------- solver.c */

/** The live monitors of its solver. */
gab_monitor_list gab_app_case_monitors(const gab_app_case *which);
/** What a slice shows: as output.slices says, else what is usual for the solver. */
const char *gab_app_slice_quantity(const gab_app_case *which, size_t index);

#endif
