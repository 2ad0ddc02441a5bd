/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/app.h
 *  @brief Programs with the commands of `gabion` and their own solver. Link gabion::app.
 *
 *  Stability: extender.
 */
#ifndef GABION_UMBRELLA_APP_H
#define GABION_UMBRELLA_APP_H

#include "gabion/gabion.h"
#include "gabion/stencil.h"
#include "apps/driver/solver.h"
#include "apps/driver/flow/flow.h"

#endif
