/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/persist.h
 *  @brief MPI with persistent communicators. Link gabion::gabion-persist.
 *
 *  Stability: stable.
 */
#ifndef GABION_UMBRELLA_PERSIST_H
#define GABION_UMBRELLA_PERSIST_H

#include "resilience/persist/persist.h"

#endif
