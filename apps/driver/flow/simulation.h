/* SPDX-License-Identifier: Apache-2.0 */
/** @file simulation.h
 *  @brief Run of a flow: objects built from a case, and actions at its steps.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_SIMULATION_H
#define GABION_APPS_DRIVER_SIMULATION_H

#include "apps/driver/flow/flow_case.h"
#include "apps/driver/flow/carried/flow_tracers.h"
#include "apps/driver/flow/observe/periods.h"
#include "blockforest/exchange/resample.h"
#include "lbm/observe/plane_flow.h"
#include "lbm/observe/wall_loads.h"
#include "lbm/setup/consistent.h"
#include "apps/driver/run/run.h"
#include "resilience/resilience_config.h"

/** Record of the coefficients of one body over the second half of a run. */
typedef struct body_record {
  double count, sum[3], least[3], most[3];
  lift_periods lift; /**< of its coefficient along y */
} body_record;

/** Mass at the last check of a monitor. */
typedef struct mass_monitor {
  bool wanted;
  bool known;
  gab_step step;
  double mass;
} mass_monitor;

/** Numbers of the last state, for the log and summary.json; of porosity and permeability 0: not known. */
typedef struct flow_results {
  double porosity;        /**< share of the domain that is fluid; of a sample with a permeability */
  double permeability[3]; /**< m^2, along periodic axes with an acceleration */
  double mean_velocity[3], max_speed; /**< m/s, of the fluid */
  double kinetic_energy;              /**< mean over the fluid, J/m^3 */
} flow_results;

/** A force that holds the mean velocity: fluid.mean_velocity. Equal on all ranks, part of the state. */
typedef struct mean_drive {
  gab_step step;            /**< of the last adjustment; -1: none */
  double force[3], mean[3]; /**< then */
} mean_drive;

enum { FORCES_MOST_COLUMNS = 24, FORCES_COLUMN_CAPACITY = 16 };

/** Source of a start from the state of another run. */
typedef struct start_report {
  char folder[GAB_APP_PATH_LENGTH]; /**< of that run; empty: there is none */
  gab_step step;
  double time, dx, dt;                    /**< of that run */
  double speed;                           /**< largest, in cells per step */
  uint64_t blocks;                        /**< of that run */
  uint64_t cells[GAB_RESAMPLED_SAME + 1]; /**< fluid cells of each kind; zeros: they were not read */
  bool copies;                            /**< populations are copied where cells are the same */
  size_t scalars;
} start_report;

/** Integrals of a plane of output.planes. */
typedef struct flow_plane {
  const struct simulation *of;
  const char *name; /**< borrowed from the case */
  int axis;
  double position;
  gab_plane_flow found; /**< of the last row; of the last state at the end */
} flow_plane;

typedef struct simulation {
  gab_app_run base;
  const flow_case *parameters; /**< the same as base.parameters */
  gab_geometry *geometry;
  gab_lbm *lbm;
  gab_refinement refinement;
  uint64_t updates;                         /**< of cells in a step of level 0, all ranks */
  uint64_t adaptations;                     /**< number of grid changes up to this state */
  gab_side_sums sides[GAB_MOST_CONDITIONS]; /**< of the grid that there is */
  uint32_t warned;                          /**< conditions that gab_app_sides_warn() has named */
  gab_lbm_integrals start;                  /**< of the initial state; only fluid_cells is used */
  flow_results results;
  start_report begun;
  bool has_initial; /**< an initial velocity was set by equations: */
  gab_consistent_report initial;
  mass_monitor mass;
  mean_drive drive;
  flow_tracers *tracers; /**< NULL: none */
  flow_scalars *scalars; /**< NULL: none */
  gab_means *means;      /**< NULL: none */
  means_profile profile; /**< of the means */
  flow_until until;
  gab_lbm_quantities *view;
  gab_quantity quantity_items[FLOW_MOST_QUANTITIES];
  double force_scale;   /**< coefficient = force in lattice units * this; 0: no coefficients */
  gab_body_load *loads; /**< of the bodies */
  gab_wall_load *parts; /**< the same by pressure and friction; NULL: not wanted */
  gab_step forces_step; /**< of which they are; -1: none */
  body_record *records;
  gab_side_load side_loads[GAB_MOST_CONDITIONS]; /**< by condition */
  gab_step side_loads_step;                      /**< of which they are; -1: none */
  flow_plane *planes;                            /**< as in output.planes */
  size_t plane_count;
  gab_porous_load *porous; /**< of the regions, last known */
  bool has_plane_results;  /**< of the last state */
} simulation;

/** Adds the measurement of statistics that factors of sides use to the loop, if there are any: flow_sides.c. */
gab_status gab_app_statistics_add(simulation *which, gab_timeloop *loop);
/** Whether the step is to leave what passes its sides for them. Pure. */
bool gab_app_statistics_wanted(const simulation *which, gab_step steps_done);
/** Adds the adjustment of the force to the loop, if the case has one. */
gab_status gab_app_drive_add(simulation *which, gab_timeloop *loop);
gab_status gab_app_drive_pack(const simulation *which, gab_buffer *out);
gab_status gab_app_drive_unpack(simulation *which, gab_reader *in);
/** Logs the force at the end. */
void gab_app_drive_report(const simulation *which);
/** Sums of the sides on the grid that there is, and from them the velocities of sides with a flow rate. Collective. */
gab_status gab_app_sides_find(simulation *which);
/** The same from sums that are known. Local. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_sides_set(simulation *which, const gab_side_sums sums[GAB_MOST_CONDITIONS]);
/** Area, flow rate, mean velocity and Reynolds number of each side that passes fluid. */
void gab_app_sides_describe(const simulation *which);
/** Warns of patches of bodies that a border between levels crosses, once of each. Local. */
void gab_app_sides_warn(simulation *which);
/** "x_min", or the name of a patch. */
const char *gab_app_side_name(const simulation *which, int condition);
/** The patches, for `results` of summary.json. */
void gab_app_sides_put(const simulation *which, gab_json *json);

/** Additional bytes per cell of a flow besides populations: in memory, and in an image. */
void gab_app_flow_extra_bytes(const flow_case *which, double *state, double *image);

/** Whether the case starts from another run: `initial: {type: run}`. Pure. */
bool gab_app_start_is_wanted(const flow_case *which);
/** Checks whether that run can be used, and records its properties, without reading its state. Collective.
 *  @return ::GAB_ERR_INPUT with the place in the parameter file */
gab_status gab_app_start_check(simulation *made);
/** Replaces the initial state by that of the other run. After the grid is built. Collective.
 *  @return as gab_app_start_check(); also for a damaged checkpoint */
gab_status gab_app_start_load(simulation *made);
/** Logs the source of the start. Local. */
void gab_app_start_describe(const simulation *made);
/** Whether the equations below can be solved on the grid of the case. Collective. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_initial_check(simulation *made);
/** Sets an initial velocity from which the state follows by equations (lbm/setup/consistent.h). After the grid is built. Collective.
 *  @return ::GAB_ERR_INPUT with the place in the parameter file */
gab_status gab_app_initial_set(simulation *made);
/** Logs a summary of the initial velocity. Local. */
void gab_app_initial_describe(const simulation *made);

/** As in ::gab_solver. */
gab_status gab_app_simulation_prepare(gab_app_run *it);
gab_status gab_app_simulation_add_writers(gab_app_run *it);
gab_app_memory gab_app_simulation_memory(const gab_app_run *it);
gab_status gab_app_simulation_build(gab_app_run *it);
void gab_app_simulation_describe(const gab_app_run *it);
void gab_app_simulation_release(gab_app_run *it);
gab_status gab_app_simulation_add(gab_app_run *it);
/** Where no side sets the mass: logs its relative change over the run, and warns of more than 1e-4. Collective. */
gab_status gab_app_simulation_finish(gab_app_run *it, gab_step step);
gab_status gab_app_simulation_check_finite(gab_app_run *it);
gab_status gab_app_simulation_check_recomputed(gab_app_run *it, bool at_rest);
gab_sample_report gab_app_simulation_recomputation(const gab_app_run *it);
gab_status gab_app_simulation_update_quantities(gab_app_run *it);
void gab_app_simulation_name_levers(const gab_app_run *it);
void gab_app_simulation_pick_evidence(const gab_app_run *it, gab_quantity *picked, size_t *count,
                                      const char **quantity, gab_slice_options *slice);

/** The mass is another one now, and rightly so: at the surface of a body, cells of other sizes hold other volumes of
 *  fluid. Collective. */
gab_status gab_app_simulation_note_mass(simulation *which, gab_step step);

/** As in ::gab_solver. */
gab_status gab_app_simulation_draw(gab_app_run *it, const char *folder);

/** Finds the results of the last state and says them in the log. Local. */
void gab_app_results_find(simulation *which, const gab_lbm_integrals *last);
/** As in ::gab_solver. */
void gab_app_results_put(const gab_app_run *it, gab_json *json);

/** Builds the grid, refined and distributed, and the blocks' data. Collective. */
gab_status gab_app_grid_build(simulation *made);
/** Refines the blocks of level 0 as that does, without blocks. Collective. */
gab_status gab_app_grid_refine(simulation *made, gab_proxies *proxies);
/** A gab_rebalance_fn. @param[in] user  the simulation */
gab_status gab_app_grid_rebalance(void *user, gab_forest *forest);
/** A post-step action: the grid follows the flow. */
bool gab_app_grid_adapt_due(const void *user, gab_step step);
gab_status gab_app_grid_adapt(void *user, gab_step step);
/** Work of a block in a step of level 0; for gab_forest_options, `user` is the geometry. */
uint64_t gab_app_grid_block_weight(void *user, int level, const gab_box *cells);
/** Logs the initial grid. */
void gab_app_grid_describe(const simulation *which);
/** As in ::gab_solver. */
void gab_app_grid_put(const gab_app_run *it, gab_json *json);
/** Says the same in the log, at the end. */
void gab_app_grid_report(const simulation *which);

/** The planes of output.planes; and their files in the log. flow_planes.c */
gab_status gab_app_planes_add(simulation *which);
void gab_app_planes_report(const simulation *which);
/** Integrals of the last state, for the log and for `results` of summary.json. Collective. */
gab_status gab_app_planes_finish(simulation *which);
void gab_app_planes_put(const simulation *which, gab_json *json);
/** Porous regions: checks their drag on the levels of the grid, and describes them on request; their series and results. porous_series.c
 *  @param[in] proxies  the refined grid; NULL: that of the run, or level 0 before there is one. Collective. @return ::GAB_ERR_INPUT with the
 *  place in the file */
gab_status gab_app_porous_check(simulation *which, gab_proxies *proxies, bool describes);
/** Of a grid without levels, before it is built. Collective. */
gab_status gab_app_porous_check_first(const simulation *which);
gab_status gab_app_porous_add(simulation *which);
/** Loads of the last state. Collective. */
gab_status gab_app_porous_finish(simulation *which);
void gab_app_porous_report(const simulation *which);
void gab_app_porous_put(const simulation *which, gab_json *json);
/** The series of loads of sides and patches; as the series of forces below, which keeps their last row. */
gab_status gab_app_side_series_add(simulation *which);
bool gab_app_side_series_wanted(const simulation *which, gab_step steps_done);
bool gab_app_side_series_last_due(const void *user, gab_step step);
gab_status gab_app_side_series_last(void *user, gab_step step);
void gab_app_side_series_report(const simulation *which);
void gab_app_side_series_put(const simulation *which, gab_json *json);

/** Series of forces and integrals. */
gab_status gab_app_forces_prepare(simulation *which);
/** Whether the step is to leave the forces: their rows are due, or it is the last one, which is always a row. */
bool gab_app_forces_wanted(const simulation *which, gab_step steps_done);
/** A post-step action: sums the forces of the last step, if no row is due, and keeps them in the state until the last
 *  row is written. */
bool gab_app_forces_last_due(const void *user, gab_step step);
gab_status gab_app_forces_last(void *user, gab_step step);
gab_status gab_app_forces_row(void *user, gab_step step, double time, double *values);
gab_status gab_app_integrals_row(void *user, gab_step step, double time, double *values);
extern const char *const gab_app_integrals_columns[6];
gab_status gab_app_forces_pack(const simulation *which, gab_buffer *out);
gab_status gab_app_forces_unpack(simulation *which, gab_reader *in);
/** Mean, range and Strouhal number of the coefficients, and torques of the last row, in the log. */
void gab_app_forces_report(const simulation *which);
/** Columns of forces.csv of one body, with its name in front: "fx", ... @param[out] names  at most #FORCES_MOST_COLUMNS
 *  @return their number */
int gab_app_forces_columns(const simulation *which, char names[][FORCES_COLUMN_CAPACITY]);
/** The bodies with force, torque and centre of pressure of the last row, for `results` of summary.json. */
void gab_app_forces_put(const simulation *which, gab_json *json);

#endif
