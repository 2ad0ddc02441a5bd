/* SPDX-License-Identifier: Apache-2.0 */
/** @file cache.h
 *  @brief How large the caches of this machine are.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_CACHE_H
#define GABION_CORE_CACHE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of the last cache before memory that a processor has if all that share it want as much: its size by the number of
 *  processors. As Linux says of the first processor (/sys/devices/system/cpu/cpu0/cache); #GAB_CACHE_USUAL where nothing is
 *  said. For how much is worked on at once, never for what comes out. Looked up once; thread safe. Local. */
size_t gab_cache_share(void);
#define GAB_CACHE_USUAL ((size_t)4 << 20)

/** The same of a folder like that one. @return 0 if nothing is said there */
size_t gab_cache_share_in(const char *folder);

#ifdef __cplusplus
}
#endif

#endif
