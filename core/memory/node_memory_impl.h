/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of node_memory.c for memory.c. Internal. */
#ifndef GABION_CORE_NODE_MEMORY_IMPL_H
#define GABION_CORE_NODE_MEMORY_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  GAB_NODE_MEMORY_STAMP = 64, /* at the beginning of a file: its owner */
  GAB_NODE_MEMORY_OFFSET =
      128 /* offset of an allocated block in the file, after stamp and header of memory.c */
};

/* True while a folder is set. */
bool gab_node_memory_serves(size_t bytes);
/* Maps a new file, zeroed, with its space reserved. Thread safe. @param[out] file  to be returned @return NULL if the file
 * system has no space left */
void *gab_node_memory_take(size_t bytes, uint64_t *file);
/* Unmaps it and removes the file. */
void gab_node_memory_give(void *memory, size_t bytes, uint64_t file);

#endif
