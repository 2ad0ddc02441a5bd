/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: prefix sums over all blocks of a forest, in an order that does not depend on their owners. */
#ifndef GABION_BLOCKFOREST_BLOCK_SCAN_IMPL_H
#define GABION_BLOCKFOREST_BLOCK_SCAN_IMPL_H

#include "blockforest/forest/forest.h"

/* Sums the values of all blocks that precede each local block. The order is that of the root blocks, x fastest, and within a
 * root block that of the path down the tree. Collective. Each rank receives the blocks of an equal part of the domain's
 * volume at the finest level, so its memory grows with the number of blocks there.
 * @param[in] values  of each local block @param[out] before  for each local block
 * @param[out] total  over all blocks; the same on all ranks */
gab_status gab_block_scan(const gab_forest *forest, const uint64_t *values, uint64_t *before,
                          uint64_t *total);

#endif
