/* SPDX-License-Identifier: Apache-2.0 */
/** @file float_modes.h
 *  @brief How the processor rounds, and whether denormal numbers count: modes that every thread has for itself, and on which
 *  the bits of results depend.
 *
 *  A rank that is computed again, by another process, has to give the same bits (doc/local-recovery.md). A library that was
 *  compiled with -ffast-math may have denormal numbers taken as zero in every program that loads it, and a program may change
 *  the rounding for a while and forget to set it back: in one process and not in another, in one thread and not in another.
 *  So gab_world_create() and gab_timeloop_run() settle the modes.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_FLOAT_MODES_H
#define GABION_CORE_FLOAT_MODES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Rounding to nearest, denormal numbers as they are (IEEE 754): in the calling thread and in those of the next parallel regions
 *  (OpenMP); threads that they start inherit it. Where the processor is neither x86-64 nor AArch64 only the rounding is set.
 *  Warns if some thread had other modes. Local; outside of parallel regions. @return whether some had */
bool gab_float_modes_settle(void);

#ifdef __cplusplus
}
#endif

#endif
