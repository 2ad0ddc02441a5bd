/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/phasefield.h
 *  @brief Phase fields of solidification.
 *
 *  Stability: stable.
 */
#ifndef GABION_UMBRELLA_PHASEFIELD_H
#define GABION_UMBRELLA_PHASEFIELD_H

#include "phasefield/phasefield.h"
#include "phasefield/model/thermo.h"
#include "phasefield/levels/refinement.h"
#include "phasefield/observe/statistics.h"
#include "phasefield/setup/initial.h"
#include "phasefield/setup/phasefield_config.h"

#endif
