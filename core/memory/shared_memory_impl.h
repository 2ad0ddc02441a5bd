/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of shared_memory.c for memory.c. Internal. */
#ifndef GABION_CORE_SHARED_MEMORY_IMPL_H
#define GABION_CORE_SHARED_MEMORY_IMPL_H

#include "core/memory/shared_memory.h"

enum {
  GAB_SHARED_MEMORY_OFFSET = 64 /* offset of an allocated block in the file, after the header of memory.c */
};

/* Maps a new file, zeroed. Thread safe. @param[out] file  its number, to be returned @return NULL if there is none */
void *gab_shared_memory_take(size_t bytes, uint64_t *file);
/* @return the new address, NULL on failure without changes. Views are kept, with zeros in the truncated part */
void *gab_shared_memory_resize(void *memory, size_t bytes, size_t wanted, uint64_t file);
/* Views of it are kept. */
void gab_shared_memory_give(void *memory, size_t bytes, uint64_t file);
/* The key of a file of this process. @return false if the system does not identify the machine: no process then counts as
 * on the same one */
bool gab_shared_memory_key(uint64_t file, gab_shared_key *key);

#endif
