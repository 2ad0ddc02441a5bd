/* SPDX-License-Identifier: Apache-2.0 */
/** @file sample.h
 * @brief A sample of the blocks of a step, independent of owners. These blocks are computed twice and compared (live
 * monitors, resilience/loop/timeloop.h).
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_SAMPLE_H
#define GABION_BLOCKFOREST_SAMPLE_H

#include "core/base/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a block belongs to the sample of a step: with probability `share`, by a counter-based random number,
 * without communication. Pure. @param[in] share  0: no block; 1: all blocks */
static inline bool gab_sample_has(double share, gab_block_id id, gab_step step)
{
  const uint64_t seed = UINT64_C(0x7477696365);
  const double range = (double)(UINT64_C(1) << 53); /* of the 53 bits that are kept; C++11 has no 0x1p-53 */
  return (double)(gab_hash_counter(seed, id, (uint64_t)step) >> 11) / range < share;
}

/** Index of the checked sub-step, of `count`. Pure. */
static inline uint64_t gab_sample_substep(gab_block_id id, gab_step step, uint64_t count)
{
  const uint64_t seed = UINT64_C(0x737562);
  return gab_hash_counter(seed, id, (uint64_t)step) % count;
}

/** Results of the second computation, on this process. */
typedef struct gab_sample_report {
  uint64_t blocks;   /**< computed twice and compared */
  uint64_t differed; /**< differed */
  uint64_t changed;  /**< changed outside of their own update */
  double seconds;    /**< total time */
} gab_sample_report;

#ifdef __cplusplus
}
#endif
#endif
