/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/stencil.h
 *  @brief A program from one stencil table. Link gabion::app.
 *
 *  Stability: stable.
 */
#ifndef GABION_UMBRELLA_STENCIL_H
#define GABION_UMBRELLA_STENCIL_H

#include "apps/driver/stencil/stencil.h"

#endif
