/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/extend.h
 *  @brief Extensions: boundary conditions, collision models, kernels, lattices, shapes, criteria, quantities, monitors, load
 *  balancers, redundancy schemes, recovery strategies; ports and mailboxes.
 *
 *  Stability: extender.
 */
#ifndef GABION_UMBRELLA_EXTEND_H
#define GABION_UMBRELLA_EXTEND_H

#include "gabion/gabion.h"
#include "core/base/timer.h"
#include "core/messages/port.h"
#include "core/messages/mailbox.h"
#include "core/messages/pattern.h"
#include "blockforest/adaptation/proxy.h"
#include "blockforest/output/means.h"
#include "blockforest/output/own_quantity.h"
#include "blockforest/migration/reconstruct.h"
#include "lbm/sides/boundary.h"
#include "lbm/boundaries/body_shape.h"
#include "lbm/collision/collision.h"
#include "lbm/kernels/kernel_family.h"
#include "lbm/levels/refinement/cell_criterion.h"
#include "lbm/observe/cell_quantity.h"
#include "phasefield/observe/cell_quantity.h"
#include "loadbalance/curve.h"
#include "resilience/checkpoint/checkpoint.h"
#include "resilience/loop/monitor.h"
#include "resilience/recovery/recovery.h"
#include "resilience/schemes/scheme.h"

#endif
