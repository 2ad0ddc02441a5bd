/* SPDX-License-Identifier: Apache-2.0 */
/** @file flip.h
 *  @brief A deliberate flip of a bit of the state, for fault injection.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_FLIP_H
#define GABION_BLOCKFOREST_FLIP_H

#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flips a bit of the packed state of the local blocks, all blocks and kinds one after another, as a memory error
 *  would. Local.
 *  @param[in] bit  its number, modulo the number of bits
 *  @param[out] block  its block; 0 without local state: no bit was flipped */
gab_status gab_forest_flip_bit(gab_forest *forest, uint64_t bit, gab_block_id *block);

#ifdef __cplusplus
}
#endif
#endif
