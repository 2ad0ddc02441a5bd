/* SPDX-License-Identifier: Apache-2.0 */
/* What memory.c needs of shared_memory.c. Internal. */
#ifndef GABION_CORE_SHARED_MEMORY_IMPL_H
#define GABION_CORE_SHARED_MEMORY_IMPL_H

#include "core/memory/shared_memory.h"

enum {
  GAB_SHARED_MEMORY_OFFSET =
      64 /* of what is handed out, in the file: a header of memory.c stands before it */
};

/* Maps a new file, zeroed. Thread safe. @param[out] file  its number, to be handed back @return NULL if there is none */
void *gab_shared_memory_take(size_t bytes, uint64_t *file);
/* @return where it is now, NULL if it cannot be: then all is as it was. Views stay what they are, with zeros in place of what is cut off */
void *gab_shared_memory_resize(void *memory, size_t bytes, size_t wanted, uint64_t file);
/* Views of it stay. */
void gab_shared_memory_give(void *memory, size_t bytes, uint64_t file);
/* The key of a file of this process. @return false if the system does not tell what machine this is: then nobody is on the same */
bool gab_shared_memory_key(uint64_t file, gab_shared_key *key);

#endif
