/* SPDX-License-Identifier: Apache-2.0 */
/** @file shared_memory.h
 *  @brief Memory of one process that other processes of its machine can read.
 *
 *  A shared block (gab_alloc_shared()) is used, counted and released like any other; it can grow and shrink in place. It has a
 *  key (gab_shared_key_of()), some bytes that can be sent in a message. A process with the key, on the same machine and of
 *  the same user, opens a *view*, if the system permits it: the same pages, read-only. A view outlives the process that owns
 *  the block. It may show more than the block has by now: zeros, where it has shrunk since.
 *
 *  No synchronisation: the writer must announce that it has finished, and learn that its data was read before it writes
 *  again (resilience/checkpoint/image_moves.c does both).
 *
 *  The block is a file without a name (memfd_create(2)), which others find through /proc. A key that leads to another file,
 *  from another machine or from a container with its own process numbers, is detected: file numbers are unique.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_SHARED_MEMORY_H
#define GABION_CORE_SHARED_MEMORY_H

#include "core/system/process.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where others find a block. Plain bytes without holes, of a machine's own order. */
typedef struct gab_shared_key {
  char boot[GAB_PROCESS_WORD]; /**< of the machine, see gab_process_space */
  int64_t process, file;       /**< its number, and that of the file in it */
  uint64_t device, number;     /**< of the file: what tells it from any other of this machine */
} gab_shared_key;

/** The first bytes of a block of another process, or of this one. Zero-initialise; closed by gab_shared_view_close(). */
typedef struct gab_shared_view {
  const void *bytes; /**< NULL: it is not open */
  size_t count;
  gab_shared_key key;
  void *mapped; /**< all of it, what is ahead of the block included */
  size_t mapped_bytes;
} gab_shared_view;

/** Opens a view, or lets it be what it is if it is of that block and as long already; one of another block is closed before. Local.
 *  @param[in] bytes  of the block that are wanted
 *  @return false, and none is open, if the block cannot be seen from here, or is not there any more, or never had so many */
bool gab_shared_view_open(gab_shared_view *view, const gab_shared_key *key, size_t bytes);
/** Has all pages of an open view mapped now, so that nobody waits for them who reads it. They count as memory that this process has, as
 *  they do of the one whose block it is, though they are there once. Local. */
void gab_shared_view_prepare(const gab_shared_view *view);
/** Also of one that is not open. */
void gab_shared_view_close(gab_shared_view *view);

#ifdef __cplusplus
}
#endif
#endif
