/* SPDX-License-Identifier: Apache-2.0 */
/* Memory with a key, by which other processes of the node can read it (core/memory/shared_memory.h); for checkpoints in memory.
 * Stability: internal. */
#ifndef GABION_CORE_MEMORY_IMPL_H
#define GABION_CORE_MEMORY_IMPL_H

#include "core/memory/memory.h"
#include "core/memory/shared_memory.h"

/** Allocates memory with a key, which it keeps when it grows or shrinks; otherwise like gab_alloc(). Memory of snapshots in
 * node memory (core/memory/node_memory.h) is allocated here, too, and has no key. @return ::GAB_ERR_MEMORY if the system
 * has no such memory or too little, or limits the length of files below `bytes` */
gab_status gab_alloc_shared(size_t bytes, gab_memory_use use, void **memory);

/** The key of a block, for other processes of this machine. Local. @return false if it has no key, like all memory not from
 * gab_alloc_shared(); NULL is allowed */
bool gab_shared_key_of(const void *memory, gab_shared_key *key);

/** Counts memory that gab_alloc() has not allocated, such as a mapped file. Thread safe. @param[in] is_held  false: it is released */
void gab_memory_count(gab_memory_use use, size_t bytes, bool is_held);

#endif
