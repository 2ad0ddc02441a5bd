/** @file shared_memory.h
 *  @brief Memory of one process that the other processes of its machine can read.
 *
 *  A block of it (gab_alloc_shared()) is used, counted and released like any other; it grows and shrinks where it is. Besides, it has a
 *  key (gab_shared_key_of()), some bytes that can be sent in a message. Who has the key, runs on the same machine as the same user and is let to it by the
 *  system opens a *view*: the same pages, for reading only. A view outlives the process that the block belongs to, however that ended.
 *
 *  A view may show more than the block has by now: zeros, where it has shrunk since.
 *
 *  Nothing here says when it may be read. Who writes has to tell that it has ended, and to hear that it was read before it writes again
 *  (resilience/checkpoint/transfer.c does both).
 *
 *  The block is a file without a name (memfd_create(2)), which others find through /proc. A key that leads to another file, since it comes
 *  from another machine or from a container with numbers of processes of its own, is noticed: numbers of files are not given twice.
 *
 *  Tier: extender header.
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
