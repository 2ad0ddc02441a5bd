/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of fused blocks, for their tests. */
#ifndef GABION_TESTS_FUSED_COMMON_H
#define GABION_TESTS_FUSED_COMMON_H

#include "lbm/lbm_impl.h"
#include "tests/lbm/lbm_common.h"

/* Hash of the bytes that blocks would send in each direction, including solid cells. */
static inline uint64_t hash_of_messages(const flow *it)
{
  enum { MOST = 1 << 16 };
  static unsigned char bytes[MOST];
  gab_ghost_kind kind = gab_lbm_ghost_kind(&it->lbm->model);
  uint64_t sum = 0;
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(it->lbm, gab_forest_block(it->forest, i));
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
      if (direction == GAB_DIRECTION_CENTRE || block->beside.kind[direction] != GAB_BESIDE_SAME) continue;
      const size_t size = kind.size(kind.user, direction);
      REQUIRE(size <= MOST);
      kind.pack(kind.user, block, direction, bytes);
      sum += gab_hash64(bytes, size, block->id * GAB_DIRECTIONS + (uint64_t)direction);
    }
  }
  return sum;
}

#endif
