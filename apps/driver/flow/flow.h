/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow.h
 *  @brief What a program may ask of a flow of the driver: in a run, and for `gabion plan`.
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
/** The flow of a run of gab_solver_flow, or of a copy of that table in which a program has put functions of its own before
 *  or behind those of the flow: behind its add(), a task is done after each step of the flow. Not where prepare() is another.
 *  @return NULL of another solver, and before the flow is made */
struct gab_lbm *gab_app_run_flow(const gab_app_run *it);
/** Adds a flow whose cells are all fluid, and says that finer levels take more steps. Local. */
void gab_app_plan_add_flow(gab_app_plan *plan, const struct gab_lbm *lbm);

#ifdef __cplusplus
}
#endif

#endif
