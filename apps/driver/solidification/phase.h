/** @file phase.h
 *  @brief Cases of the phase field: what they come to, and how they run.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_PHASE_H
#define GABION_APPS_DRIVER_PHASE_H

#include "apps/driver/driver.h"
#include "phasefield/setup/phasefield_config.h"
#include "phasefield/levels/refinement.h"

/** What a parameter file comes to, worked out without communication. */
typedef struct phase_case {
  const gab_config *config;  /**< borrowed */
  gab_forest_options forest; /**< the domain in cells of its finest level */
  gab_forest_options grid;   /**< the same in cells of level 0 */
  gab_phasefield_refinement_setup refinement;
  gab_balance_options balance;
  driver_rebalance rebalance;
  gab_phasefield_setup setup; /**< points into itself: a phase_case stays where it is */
  gab_step steps, check_every, series_every;
  recompute_plan recompute;
  bool has_setup;
} phase_case;

/** Whether a checked file is about a phase field. */
bool phase_case_is(const gab_config *config);
/** Local. @return ::GAB_ERR_INPUT with the places in the file; `found` is to be released all the same */
gab_status phase_case_read(const gab_config *config, const driver_options *options, phase_case *found);
void phase_case_release(phase_case *which);
void phase_case_describe(const phase_case *which);
/** What phasefield.refinement makes of the domain; after the rest has been read. */
gab_status phase_grid_read(const gab_config *config, phase_case *which);
void phase_grid_describe(const phase_case *which);

/** What a run of the case would refuse, short of making its blocks and files. Collective. */
gab_status phase_try(gab_world *world, const phase_case *which, const driver_options *options);
/** `gabion check` and `gabion run` of such a case; the second one says in the log what is wrong. */
gab_status phase_check(const gab_config *config, const driver_options *options);
gab_status phase_run(gab_world *world, gab_config *config, const driver_options *options);

#endif
