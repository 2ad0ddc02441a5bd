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

/** Address of a block for other processes. Plain bytes without holes, in the byte order of the machine. */
typedef struct gab_shared_key {
  char boot[GAB_PROCESS_WORD]; /**< of the machine, see gab_process_space */
  int64_t process, file;       /**< its number, and its file descriptor */
  uint64_t device, number;     /**< of the file: unique on this machine */
} gab_shared_key;

/** View of the first bytes of a block of another process, or of this one. Zero-initialise; closed by
 * gab_shared_view_close(). */
typedef struct gab_shared_view {
  const void *bytes; /**< NULL: not open */
  size_t count;
  gab_shared_key key;
  void *mapped; /**< the whole mapping, including bytes before the block */
  size_t mapped_bytes;
} gab_shared_view;

/** Opens a view; keeps it if it is a view of that block and long enough; closes one of another block first. Local.
 * @param[in] bytes  required bytes of the block @return false, with no open view, if the block is not accessible from here,
 * no longer exists, or was never that long */
bool gab_shared_view_open(gab_shared_view *view, const gab_shared_key *key, size_t bytes);
/** Maps all pages of an open view now, so that its reader need not wait for them. They count as resident memory of this
 * process and of the owner, but exist once. Local. */
void gab_shared_view_prepare(const gab_shared_view *view);
/** No effect on a closed one. */
void gab_shared_view_close(gab_shared_view *view);

#ifdef __cplusplus
}
#endif
#endif
