/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow_tracers.h
 *  @brief Tracers of a flow that runs.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_FLOW_TRACERS_H
#define GABION_APPS_DRIVER_FLOW_TRACERS_H

#include "apps/driver/flow/carried/tracer_plan.h"
#include "apps/driver/plan/app_plan.h"
#include "blockforest/particles/tracers.h"
#include "lbm/lbm.h"
#include "lbm/setup/units.h"
#include "lbm/step/local_force.h"

typedef struct flow_tracers flow_tracers;

/** Input of tracers from a flow; borrowed. */
typedef struct tracer_flow {
  gab_forest *forest;
  const gab_lbm *lbm;
  const gab_geometry *geometry;
  const gab_units *units;
  const gab_config *config;
  bool is_timed; /**< blocks are balanced by measured times */
} tracer_flow;

/** Refuses seeds in bodies; registers the block data of tracers. Collective, before the blocks. @param[in] plan
 *  borrowed */
gab_status gab_app_flow_tracers_create(const tracer_flow *flow, const tracer_plan *plan,
                                       flow_tracers **tracers);
void gab_app_flow_tracers_destroy(flow_tracers **tracers);
/** Tracers of step 0. Collective, once the flow has its initial state. */
gab_status gab_app_flow_tracers_begin(flow_tracers *tracers);
/** Adds the task of a step and the counts that survive. */
gab_status gab_app_flow_tracers_add(flow_tracers *tracers, gab_timeloop *loop);
/** Their records. Borrowed. */
const gab_particles *gab_app_flow_tracers_records(const flow_tracers *tracers);
/** Adds files and series. */
gab_status gab_app_flow_tracers_add_writers(flow_tracers *tracers, gab_output *output);
/** Adds their memory and messages to the plan. */
gab_status gab_app_flow_tracers_plan(const flow_tracers *tracers, gab_app_plan *plan);
/** Logs the seeds and their start steps. */
void gab_app_flow_tracers_describe(const tracer_plan *plan, double dt);

#endif
