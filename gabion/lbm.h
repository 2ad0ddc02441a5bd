/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/lbm.h
 *  @brief Lattice Boltzmann flows, and scalars that they carry.
 *
 *  Stability: stable.
 */
#ifndef GABION_UMBRELLA_LBM_H
#define GABION_UMBRELLA_LBM_H

#include "lbm/lbm.h"
#include "lbm/boundaries/geometry.h"
#include "lbm/kernels/lattice.h"
#include "lbm/levels/refinement/refinement.h"
#include "lbm/observe/quantities.h"
#include "lbm/scalar/scalar.h"
#include "lbm/setup/lbm_config.h"
#include "lbm/setup/units.h"
#include "lbm/step/local_force.h"

#endif
