/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory_pool_impl.h
 *  @brief Memory of one size side by side, on huge pages.
 *
 *  The fields of small blocks are a fraction of a huge page each, or a few with odd ends. From arenas they
 *  share huge pages, so that the translations of addresses of many blocks fit into the processor.
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
/** Takes memory; untouched where the system gave it just now, so that each page lands near the thread that
 *  first writes to it. Thread safe.
 *  @param[in] zeroed  else it may hold anything
 *  @param[out] arena  to be handed back with the memory
 *  @return aligned to a cache line; NULL if there is none */
void *gab_pool_take(size_t bytes, bool zeroed, gab_arena **arena);
/** Thread safe. What lies idle is at most as much as what is in use; the rest goes back to the system. */
void gab_pool_give(gab_arena *arena, void *memory);
/** Until it is turned off as often as on nothing goes back. Thread safe. */
void gab_pool_hold(bool on);

#endif
