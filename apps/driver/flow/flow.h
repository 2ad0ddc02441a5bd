/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow.h
 *  @brief Access of a program to a flow of the driver: in a run, and for `gabion plan`.
 *
 *  gab_solver_flow itself is in apps/driver/solver.h.
 *
 *  Stability: extender.
 */
#ifndef GABION_APPS_DRIVER_FLOW_H
#define GABION_APPS_DRIVER_FLOW_H

#include "apps/driver/plan/app_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_lbm; /* lbm/lbm.h */
/** The flow of a run of gab_solver_flow, or of a copy of that table in which a program calls user-defined functions
 *  before or after those of the flow: a task added after its add() runs after each step of the flow. Not with another
 *  prepare().
 *  @return NULL for another solver, and before the flow is made */
struct gab_lbm *gab_app_run_flow(const gab_app_run *it);
/** Adds a flow without solid cells, and the sub-steps of finer levels. Local. */
void gab_app_plan_add_flow(gab_app_plan *plan, const struct gab_lbm *lbm);

#ifdef __cplusplus
}
#endif

#endif
