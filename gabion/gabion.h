/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/gabion.h
 *  @brief All that a simulation needs. Link gabion::gabion.
 *
 *  Stability: stable.
 */
#ifndef GABION_UMBRELLA_GABION_H
#define GABION_UMBRELLA_GABION_H

#include "gabion/grid.h"
#include "gabion/resilience.h"
#include "gabion/lbm.h"
#include "gabion/phasefield.h"

#endif
