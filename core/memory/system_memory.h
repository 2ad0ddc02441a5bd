/* SPDX-License-Identifier: Apache-2.0 */
/** @file system_memory.h
 *  @brief What the system has left of memory, and whether it has ended processes for lack of it.
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
  bool known; /**< false: the system does not say (it is no Linux) */
  uint64_t
      available; /**< bytes that can still be had on this machine, or in the control group of this process if that
                         leaves fewer; what only caches files counts as free */
  uint64_t limit; /**< bytes that the control group may have in all, if it is that which decides; else 0 */
  uint64_t
      killed; /**< processes of the control group of this process that the system has ended for lack of memory; 0 where no
                         group says. Only differences mean something */
} gab_system_memory;

/** Looks at /proc and /sys/fs/cgroup (versions 1 and 2), or at the same files below the folder that the environment
 *  variable GABION_SYSTEM names, for tests. Local. */
gab_system_memory gab_system_memory_look(void);

/** Bytes of memory that this process had at most so far, of whatever kind: all that it touched, libraries and MPI included.
 *  0 if the system does not say. Local. */
uint64_t gab_system_memory_resident_peak(void);

#ifdef __cplusplus
}
#endif
#endif
