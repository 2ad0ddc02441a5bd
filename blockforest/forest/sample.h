/* SPDX-License-Identifier: Apache-2.0 */
/** @file sample.h
 *  @brief A sample of the blocks of a step, the same whoever owns them: which blocks are computed twice, to
 * be compared (live monitors, resilience/loop/timeloop.h).
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_SAMPLE_H
#define GABION_BLOCKFOREST_SAMPLE_H

#include "core/base/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a block belongs to the sample of a step: each does with probability `share`, by a counter-based
 * random number, so nobody has to be asked. Pure. @param[in] share  0: no block does; 1: all do */
static inline bool gab_sample_has(double share, gab_block_id id, gab_step step)
{
  const uint64_t seed = UINT64_C(0x7477696365);
  const double range = (double)(UINT64_C(1) << 53); /* of the 53 bits that are kept; C++11 has no 0x1p-53 */
  return (double)(gab_hash_counter(seed, id, (uint64_t)step) >> 11) / range < share;
}

/** Which one of so many sub-steps of the step is meant. Pure. */
static inline uint64_t gab_sample_substep(gab_block_id id, gab_step step, uint64_t count)
{
  const uint64_t seed = UINT64_C(0x737562);
  return gab_hash_counter(seed, id, (uint64_t)step) % count;
}

/** What came of computing blocks twice, on this process. */
typedef struct gab_sample_report {
  uint64_t blocks;   /**< so many were computed twice and compared */
  uint64_t differed; /**< so many of them differed */
  uint64_t changed;  /**< so many changed while nobody was to touch them */
  double seconds;    /**< that all of it took */
} gab_sample_report;

#ifdef __cplusplus
}
#endif
#endif
