/** @file balance.h
 *  @brief Who owns which block: cutting a space-filling curve into pieces of equal weight.
 *
 *  Every slot is *home* to an equal piece of the curve's positions. At the start it looks at that piece only
 *  (which blocks exist, what they weigh); later the owners send their blocks' weights to the homes. A prefix
 *  sum over the homes gives each block its target. No process ever sees all blocks (contract 7). The result
 *  is a function of forest, weights and number of members only, not of who owned what before.
 *
 *  Every member gets a connected piece of the curve of at most mean weight + heaviest block, and at least one
 *  block if there are as many blocks as members (balance.c says how). The sum of all weights has to fit into
 *  64 bits. Homes divide the places of the root grid evenly, however long and thin it is.
 *
 *  Tier: user header.
 */
#ifndef GABION_LOADBALANCE_BALANCE_H
#define GABION_LOADBALANCE_BALANCE_H

#include "blockforest/forest.h"
#include "loadbalance/curve.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a distribution came to. */
typedef struct gab_balance_report {
  uint64_t blocks, blocks_moved;
  uint64_t weight_max, weight_total; /**< heaviest slot, sum over all */
  double imbalance;                  /**< heaviest slot / mean slot, 1 is perfect */
} gab_balance_report;

/** Fills an empty forest with its root blocks. Collective.
 *  @param[out] report  may be NULL
 *  @return ::GAB_ERR_INPUT if there are fewer blocks than members (with both numbers) */
gab_status gab_balance_initial(gab_forest *forest, const gab_curve *curve, gab_balance_report *report);

/** Gives every block of a populated forest its place on the curve cut for the present members, and migrates.
 *  With fewer blocks than members (possible if the forest was populated otherwise) some get none.
 *  Collective. @param[in] weights  one per local block, > 0; NULL: gab_forest_block_weight() */
gab_status gab_balance_curve(gab_forest *forest, const gab_curve *curve, const uint64_t *weights,
                             gab_balance_report *report);

#ifdef __cplusplus
}
#endif
#endif
