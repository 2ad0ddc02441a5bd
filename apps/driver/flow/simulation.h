/** @file simulation.h
 *  @brief A flow that runs: everything that is built from a case, and what is done at its steps.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_SIMULATION_H
#define GABION_APPS_DRIVER_SIMULATION_H

#include "apps/driver/flow/flow.h"
#include "apps/driver/flow/periods.h"
#include "lbm/observe/quantities.h"
#include "apps/driver/plan/traffic.h"
#include "resilience/reports/summary.h"
#include "resilience/resilience_config.h"

/** What is remembered of the coefficients of one body over the second half of a run. */
typedef struct body_record {
  double count, sum[3], least[3], most[3];
  lift_periods lift; /**< of its coefficient along y */
} body_record;

/** What the mass was when a monitor last looked. */
typedef struct mass_monitor {
  bool wanted;
  bool known;
  gab_step step;
  double mass;
} mass_monitor;

typedef struct simulation {
  const flow_case *parameters; /**< borrowed, as the rest of this group */
  const driver_options *options;
  const char *folder;
  gab_world *world;

  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
  gab_balance_report balance; /**< of the last distribution */
  gab_refinement refinement;
  uint64_t updates;     /**< of cells in a step of level 0, all slots */
  uint64_t adaptations; /**< of the grid that changed something, those that were rolled back left out */
  uint64_t level_blocks[GAB_BALANCE_LEVELS]; /**< at the end: blocks of each level */
  gab_lbm_integrals start;                   /**< of the initial state; fluid_cells is what counts */
  mass_monitor mass;
  recompute_plan recompute;
  driver_traffic traffic;
  gab_lbm_quantities *view;
  gab_quantity quantity_items[GAB_LBM_MOST_QUANTITIES];
  gab_quantity_list quantities;
  gab_output *output;
  gab_output *failure_output, *good_output; /**< if the run diverges: its last state, and the last good one */
  bool keep_series;                         /**< going back does not cut them any more */
  gab_timeloop *loop;
  gab_restart *restart; /**< until the loop has it */
  double force_scale;   /**< coefficient = force in lattice units * this; 0: no coefficients */
  double (*forces)[3];
  body_record *records;
  gab_summary summary;
} simulation;

/** The part of simulation_create() that makes no blocks and touches no file: what it refuses, `gabion check` refuses
 *  too. Local but for the making of collective objects. */
gab_status simulation_prepare(gab_world *world, const flow_case *which, const driver_options *options,
                              const char *folder, simulation *made);
/** What its cells take, after simulation_prepare(). Refinement only adds to it. */
driver_memory simulation_memory(const simulation *made);
/** Builds everything; `made` is to be released by simulation_release() whatever the status. Collective. The
 *  output folder is touched only after all else has succeeded.
 *  @param[in,out] begin  its restart is owned from now on, its lock is borrowed */
gab_status simulation_create(gab_world *world, const flow_case *which, const driver_options *options,
                             const char *folder, driver_continuation *begin, simulation *made);
void simulation_release(simulation *which);

/** Adds the writers that the case asks for. Local. */
gab_status simulation_add_writers(simulation *which);
/** Adds tasks, duties, entities to the time loop. */
gab_status simulation_add_duties(simulation *which);
/** Adds the look whether the numbers are finite: behind the monitors that the case asks for, which may know what was the
 *  matter before. */
gab_status simulation_add_check(simulation *which);

/** The mass is another one now, and rightly so: at the surface of a body, cells of other sizes hold other volumes of
 *  fluid. Collective. */
gab_status simulation_note_mass(simulation *which, gab_step step);

/** Builds the grid, refined and distributed, and the blocks' data. Collective. */
gab_status grid_build(simulation *made);
/** A gab_rebalance_fn. @param[in] user  the simulation */
gab_status grid_rebalance(void *user, gab_forest *forest);
/** A duty: the grid follows the flow. */
bool grid_adapt_due(const void *user, gab_step step);
gab_status grid_adapt(void *user, gab_step step);
/** A duty: blocks are shared out anew by what they took. */
bool grid_rebalance_due(const void *user, gab_step step);
gab_status grid_rebalance_now(void *user, gab_step step);
/** Work of a block in a step of level 0; for gab_forest_options, `user` is the geometry. */
uint64_t grid_block_weight(void *user, int level, const gab_box *cells);
/** Says in the log what the grid is at the start. */
void grid_describe(const simulation *which);
/** Counts the blocks of each level as they are now. Collective. @param[out] blocks  one per level */
gab_status grid_count(const simulation *which, uint64_t blocks[GAB_BALANCE_LEVELS]);
/** What became of the grid, for summary.json: the member "grid". */
void grid_summarize(const simulation *which, gab_json *json);
/** Says the same in the log, at the end. */
void grid_report(const simulation *which);

/** Series of forces and integrals. */
gab_status forces_prepare(simulation *which);
gab_status forces_row(void *user, gab_step step, double time, double *values);
gab_status integrals_row(void *user, gab_step step, double time, double *values);
extern const char *const integrals_columns[6];
gab_status forces_pack(const simulation *which, gab_buffer *out);
gab_status forces_unpack(simulation *which, gab_reader *in);
/** Mean, range and Strouhal number of the coefficients, in the log. */
void forces_report(const simulation *which);

double simulation_time(const simulation *which, gab_step step);

#endif
