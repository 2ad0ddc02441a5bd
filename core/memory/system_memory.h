/* SPDX-License-Identifier: Apache-2.0 */
/** @file system_memory.h
 *  @brief Available memory of the system, and number of processes that it killed for lack of memory.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_SYSTEM_MEMORY_H
#define GABION_CORE_SYSTEM_MEMORY_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_system_memory {
  bool known;         /**< false: unknown (not Linux) */
  uint64_t available; /**< bytes available on this machine, or in the control group of this process if that is
                  * less; file caches count as free */
  uint64_t limit;     /**< limit of the control group in bytes, if it is the smaller one; else 0 */
  uint64_t
      killed; /**< processes of the control group of this process that were killed for lack of memory; 0 if
               * unknown. Use differences only */
} gab_system_memory;

/** Reads /proc and /sys/fs/cgroup (versions 1 and 2), or the same files below the folder in the environment variable
 * GABION_SYSTEM, for tests. Local. */
gab_system_memory gab_system_memory_look(void);

/** Maximum resident memory of this process so far in bytes, including libraries and MPI. 0 if unknown. Local. */
uint64_t gab_system_memory_resident_peak(void);

#ifdef __cplusplus
}
#endif
#endif
