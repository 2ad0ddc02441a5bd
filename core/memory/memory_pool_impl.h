/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory_pool_impl.h
 *  @brief Adjacent memory blocks of one size, on huge pages.
 *
 *  The fields of small blocks are smaller than a huge page, or not a multiple of it. In arenas they share huge pages, so
 *  that the TLB covers many blocks.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_MEMORY_POOL_IMPL_H
#define GABION_CORE_MEMORY_POOL_IMPL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gab_arena gab_arena;

/** True for sizes that arenas serve. */
bool gab_pool_serves(size_t bytes);
/** Takes memory; untouched if it is new from the system, so that each page is placed near the thread that first writes to
 * it. Thread safe. @param[in] zeroed  else the content is undefined @param[out] arena  to be returned with the memory
 * @return aligned to a cache line; NULL if there is none */
void *gab_pool_take(size_t bytes, bool zeroed, gab_arena **arena);
/** Returns memory. Thread safe. At most as many bytes are kept idle as are in use; the rest is returned to the system. */
void gab_pool_give(gab_arena *arena, void *memory);
/** While on, nothing is returned to the system; ends when turned off as often as on. Thread safe. */
void gab_pool_hold(bool on);

#endif
