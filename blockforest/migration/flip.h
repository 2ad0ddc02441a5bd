/* SPDX-License-Identifier: Apache-2.0 */
/** @file flip.h
 *  @brief A bit of the state that changes by itself, on purpose: what fault injections make of a process's blocks.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_FLIP_H
#define GABION_BLOCKFOREST_FLIP_H

#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flips a bit of the packed state of the blocks that are here, all blocks and kinds one after another, as if
 * it had happened in memory. Local.
 *  @param[in] bit  which one, modulo their number
 *  @param[out] block  whose it was; 0 if there is no state here, and nothing has happened */
gab_status gab_forest_flip_bit(gab_forest *forest, uint64_t bit, gab_block_id *block);

#ifdef __cplusplus
}
#endif
#endif
