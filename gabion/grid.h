/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/grid.h
 *  @brief World, parameter files, fields on blocks, ghosts, refinement, load balancing and output.
 *
 *  Stability: stable.
 */
#ifndef GABION_UMBRELLA_GRID_H
#define GABION_UMBRELLA_GRID_H

#include "core/base/version.h"
#include "core/base/status.h"
#include "core/base/log.h"
#include "core/base/exact_sum.h"
#include "core/base/entity.h"
#include "core/memory/memory.h"
#include "core/config/config.h"
#include "core/world/world.h"
#include "core/messages/collective.h"
#include "field/field.h"
#include "blockforest/forest/forest.h"
#include "blockforest/exchange/block_field.h"
#include "blockforest/exchange/level_ghosts.h"
#include "blockforest/adaptation/adapt.h"
#include "blockforest/elliptic/elliptic.h"
#include "blockforest/elliptic/reduce.h"
#include "blockforest/output/output.h"
#include "blockforest/particles/particles.h"
#include "blockforest/particles/tracers.h"
#include "blockforest/forest/position.h"
#include "blockforest/output/output_files.h"
#include "blockforest/pictures/png_slice.h"
#include "loadbalance/balance.h"

#endif
