/** @file node_memory.h
 *  @brief Memory of a node that outlives its processes: a place for snapshots.
 *
 *  When the daemon of a node dies, Open MPI ends the whole job; what the other nodes hold of the state goes with
 *  their processes. Unless it lies in memory that belongs to the node: files in /dev/shm, or in a folder on a local
 *  disk. Once gab_node_memory_open() has named such a folder, all memory for snapshots (::GAB_MEMORY_SNAPSHOT)
 *  is mapped from files there. It is used like any other memory and counted as such; only the files are
 *  still there after a SIGKILL, and the next job of the same node finds in them what was in that memory
 *  (gab_node_memory_claim()).
 *
 *  Tier: extender header.
 */
#ifndef GABION_CORE_NODE_MEMORY_H
#define GABION_CORE_NODE_MEMORY_H

#include "core/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Snapshots lie in files of this folder from now on. Local; once, before the first snapshot.
 *  @param[in] folder  made if it is not there; its parent has to exist
 *  @return ::GAB_ERR_IO if files cannot be made there; ::GAB_ERR_STATE if a folder was named already */
gab_status gab_node_memory_open(const char *folder);
/** The folder, "" if none was named. */
const char *gab_node_memory_folder(void);
/** Memory is ordinary again; what is still mapped stays until it is released, which removes its file. If nothing is,
 *  the folder goes, unless others use it. Local. */
void gab_node_memory_close(void);

/** A piece of memory that a process which has ended has left. */
typedef struct gab_left_memory {
  char path[1100];   /**< of its file, which belongs to this process now */
  void *mapped;      /**< all of the file; owned */
  size_t mapped_bytes;
  gab_reader content; /**< the bytes that were allocated; used ones first, as the process left them */
} gab_left_memory;

/** Takes a piece that nobody else has claimed: one that a process of this machine has left which is not alive any
 *  more. Files without content are removed. Local; of several processes that look at once each gets others.
 *  @param[out] left  to be released by gab_left_memory_release(), whatever was found
 *  @return GAB_OK with left->mapped == NULL if there is none (any more); ::GAB_ERR_IO if the folder cannot be read */
gab_status gab_node_memory_claim(const char *folder, gab_left_memory *left);
/** Unmaps. @param[in] remove  whether the file goes too: if not, the next one can claim it */
void gab_left_memory_release(gab_left_memory *left, bool remove);

#ifdef __cplusplus
}
#endif
#endif
