/* SPDX-License-Identifier: Apache-2.0 */
/** @file initial_flows_impl.h
 *  @brief Keys of equations for initial states.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_INITIAL_FLOWS_IMPL_H
#define GABION_LBM_INITIAL_FLOWS_IMPL_H

#include "core/config/config.h"

/** Keys of a pressure by the Poisson equation. @param default_text  "true" or "false" */
#define GAB_CONSISTENT_KEY(its_default)                                                                      \
  {                                                                                                          \
    .name = "consistent_pressure", .type = GAB_CONFIG_BOOL, .default_text = its_default,                     \
    .doc = "Pressure of the velocity by a Poisson equation; false: the reference pressure."                  \
  }
#define GAB_PROJECT_KEY                                                                                            \
  {                                                                                                                \
    .name = "project", .type = GAB_CONFIG_BOOL, .default_text = "false",                                           \
    .doc =                                                                                                         \
        "Make the velocity free of divergence by a Poisson equation, with normal velocities of sides as they are." \
  }

#endif
