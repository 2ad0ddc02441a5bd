/* SPDX-License-Identifier: Apache-2.0 */
/** @file costs.h
 *  @brief What an elliptic solver takes in memory and sends: for plans.
 *
 *  Exact on one level of blocks. On several levels an estimate: all blocks count as of the finest level, and what passes between levels
 *  as if they were one.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_ELLIPTIC_COSTS_H
#define GABION_BLOCKFOREST_ELLIPTIC_COSTS_H

#include "blockforest/elliptic/elliptic.h"
#include "blockforest/exchange/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_ELLIPTIC_MOST_COSTS = 48, GAB_ELLIPTIC_MOST_DATA = 128 };

/** Exchanges of ghosts, or reductions over all processes, in a solve: once + cycles * per_cycle. */
typedef struct gab_elliptic_repeats {
  int once, per_cycle;
} gab_elliptic_repeats;

typedef struct gab_elliptic_costs {
  gab_data_id data[GAB_ELLIPTIC_MOST_DATA]; /**< of blocks */
  int data_count;
  double process_bytes; /**< of fields that each process has besides */
  gab_ghost_kind exchanges[GAB_ELLIPTIC_MOST_COSTS];
  gab_elliptic_repeats exchange_repeats[GAB_ELLIPTIC_MOST_COSTS];
  int exchange_count;
  double reductions[GAB_ELLIPTIC_MOST_COSTS]; /**< bytes of the values */
  gab_elliptic_repeats reduction_repeats[GAB_ELLIPTIC_MOST_COSTS];
  int reduction_count;
} gab_elliptic_costs;

/** Of a solve by multigrid. Local. @return ::GAB_ERR_ARGUMENT for another method */
gab_status gab_elliptic_find_costs(const gab_elliptic *elliptic, gab_elliptic_costs *costs);

#ifdef __cplusplus
}
#endif
#endif
