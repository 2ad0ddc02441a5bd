/* SPDX-License-Identifier: Apache-2.0 */
/** @file solidification.h
 *  @brief Solidification by a phase field: its cases and runs.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_SOLIDIFICATION_H
#define GABION_APPS_DRIVER_SOLIDIFICATION_H

#include "apps/driver/driver.h"
#include "phasefield/setup/phasefield_config.h"
#include "phasefield/levels/refinement.h"

/** Content of a parameter file, derived without communication. */
typedef struct solidification_case {
  gab_app_case base;
  gab_phasefield_refinement_setup refinement;
  gab_phasefield_setup setup; /**< points into itself: a solidification_case stays where it is */
  gab_step series_every;
  bool has_setup;
} solidification_case;

/** As in ::gab_solver. */
gab_status gab_app_solidification_declare(gab_config *config);
/** Quantities for output: gab_config_choice_fn. */
gab_config_choice gab_app_solidification_quantity(int index);
/** The live monitors that a solidification has: cases ask for them by name. */
gab_monitor_list gab_app_solidification_monitors(void);
/** Applies phasefield.refinement to the domain; after the rest has been read. */
gab_status gab_app_solidification_grid_read(solidification_case *which);
void gab_app_solidification_grid_describe(const solidification_case *which);

#endif
