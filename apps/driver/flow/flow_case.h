/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow_case.h
 *  @brief A flow: values derived from a parameter file.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_FLOW_CASE_H
#define GABION_APPS_DRIVER_FLOW_CASE_H

#include "apps/driver/driver.h"
#include "apps/driver/flow/observe/flow_means.h"
#include "apps/driver/flow/carried/flow_scalars.h"
#include "apps/driver/flow/carried/tracer_plan.h"
#include "lbm/levels/refinement/refinement.h"
#include "lbm/observe/quantities.h"
#include "lbm/setup/lbm_config.h"

enum {
  FLOW_MOST_POINTS = 1000000, /**< of all lines and points together */
  FLOW_MOST_QUANTITIES = GAB_LBM_MOST_QUANTITIES + FLOW_MOST_SCALARS + GAB_MOST_MEAN_QUANTITIES
};

/** Schedules of output. */
typedef struct output_plan {
  gab_schedule probes, forces, sides, integrals, porous;
  bool strain;
  bool parts;       /**< of forces: by pressure and by friction */
  bool side_forces; /**< of sides: also the forces on them */
  size_t slice_count, point_count, line_count;
} output_plan;

/** Content of a parameter file. */
typedef struct flow_case {
  gab_app_case base;
  gab_domain domain;
  gab_refinement_setup refinement;
  gab_lbm_setup setup; /**< points into itself: a flow_case stays where it is */
  output_plan output;
  tracer_plan tracers;
  scalars_plan scalars;
  means_plan means;
  until_plan until;
  bool has_setup;
} flow_case;

/** As in ::gab_solver. The folder of pictures is that of the case file. All that is wrong is reported at once. */
gab_status gab_app_flow_declare(gab_config *config);
gab_status gab_app_flow_case_read(gab_app_case *which);
void gab_app_flow_case_release(gab_app_case *which);
/** The live monitors that a flow has: cases ask for them by name. */
gab_monitor_list gab_app_flow_monitors(void);
/** Checks output.planes. flow_planes.c @param[in] list  quantities that there are */
gab_status gab_app_planes_check(const flow_case *which, gab_quantity_list list);
/** Reads the sections `balance` and `refinement`. */
gab_status gab_app_grid_plan_read(flow_case *which);
/** Logs deviations of the collision from the file, and possible instabilities. Local.
 *  @param[in] blocks  of each level, `levels` of them */
void gab_app_grid_describe_collision(const flow_case *which, const uint64_t blocks[GAB_BALANCE_LEVELS],
                                     int levels);
/** ::GAB_ERR_INPUT if there is no fluid cell. Local. */
gab_status gab_app_flow_fluid_check(const flow_case *which, const gab_geometry *geometry);
/** Logs a summary of the case, line by line. */
void gab_app_flow_case_describe(const gab_app_case *which);
/** The same of its blocks. @param[in] proxies  of the grid at the start; NULL: root blocks only */
void gab_app_flow_case_describe_blocks(const flow_case *which, const gab_geometry *geometry,
                                       gab_proxies *proxies);

#endif
