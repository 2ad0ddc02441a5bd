/* SPDX-License-Identifier: Apache-2.0 */
/** @file solver_impl.h
 *  @brief The solvers of the program, and their cases.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_SOLVER_IMPL_H
#define GABION_APPS_DRIVER_SOLVER_IMPL_H

#include "apps/driver/solver.h"

/* ---------------------------------------------------------------- solver_known.c */

/** Sets the solvers, before any file is read. @param[in] solvers  of `count`, borrowed until the process ends; the one
 * without a section gets all other cases @return ::GAB_ERR_ARGUMENT, with no solvers set, if an entry lacks a required
 * member, or several have no section */
gab_status gab_app_solver_set(const gab_solver *const *solvers, int count);
/** @return solver number `index`, NULL after the last */
const gab_solver *gab_app_solver_at(int index);
/** Quantity number `index` of a solver, without a name after the last. */
gab_config_choice gab_app_solver_quantity(const gab_solver *solver, int index);
/** The solver of a checked parameter file. */
const gab_solver *gab_app_solver_of(const gab_config *config);

/* ---------------------------------------------------------------- case/read_case.c */

/** Reads the case of a command line. Local. @param[in] options  borrowed @param[out] found  call gab_app_case_destroy() for
 * any status; NULL if its parameters cannot be read */
gab_status gab_app_case_from_file(const gab_app_options *options, gab_app_case **found);
/** Reads the case on all processes of a run: the root reads the file, and hashes the files named in it. Collective. @return the
 *  same on all */
gab_status gab_app_case_share(gab_world *world, const gab_app_options *options, gab_app_case **found);
void gab_app_case_destroy(gab_app_case **which);

/* ---------------------------------------------------------------- solver.c */

/** The live monitors of its solver. */
gab_monitor_list gab_app_case_monitors(const gab_app_case *which);
/** Quantity of a slice: from output.slices, or the default of the solver. */
const char *gab_app_slice_quantity(const gab_app_case *which, size_t index);

#endif
