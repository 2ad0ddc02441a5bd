/* SPDX-License-Identifier: Apache-2.0 */
/** @file threads.h
 *  @brief The threads of OpenMP, and one where the library was built without it.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_THREADS_H
#define GABION_CORE_THREADS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How many the next parallel region may have. Local. */
size_t gab_thread_count(void);
/** The number of the caller in its parallel region, 0 outside of one. Local. */
size_t gab_thread_number(void);
/** How many the parallel region of the caller really has, 1 outside of one. Local. */
size_t gab_team_size(void);

#ifdef __cplusplus
}
#endif
#endif
