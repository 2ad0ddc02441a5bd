/* SPDX-License-Identifier: Apache-2.0 */
/** @file refined_case.h
 *  @brief The same flow on a finer grid: which parameters change.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_REFINED_CASE_H
#define GABION_APPS_DRIVER_REFINED_CASE_H

#include "apps/driver/driver.h"

/** How the time step follows the width of a cell. */
typedef enum gab_app_scaling {
  GAB_APP_SCALING_DIFFUSIVE, /**< dt ~ dx^2: omega is kept, the Mach number decreases with dx; order 2 of all errors */
  GAB_APP_SCALING_ACOUSTIC /**< dt ~ dx: the Mach number is kept, and with it the compressibility error */
} gab_app_scaling;

enum { GAB_APP_SETTING_LENGTH = 512 };

/** Assignments (as of --set) that change a case. */
typedef struct gab_app_refined {
  char settings[GAB_APP_MOST_SETTINGS][GAB_APP_SETTING_LENGTH];
  size_t count;
} gab_app_refined;

/** Assignments that give a flow `factor` times the cells along each axis. Place, time and fluid keep their physical
 *  values. Numbers of the parameter file in cells, steps or cells per step are converted, except for those of the
 *  sections balance and resilience and the size of a block. Local.
 *  @return ::GAB_ERR_INPUT for another solver, or if the scaling does not fit the way in which the case gives its time
 *  step */
gab_status gab_app_refine_case(const gab_app_case *which, int64_t factor, gab_app_scaling scaling,
                               gab_app_refined *refined);

#endif
