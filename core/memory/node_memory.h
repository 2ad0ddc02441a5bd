/* SPDX-License-Identifier: Apache-2.0 */
/** @file node_memory.h
 *  @brief Node memory, which outlives processes: storage for snapshots.
 *
 *  When the daemon of a node dies, Open MPI ends the whole job, and the memory of all processes is lost. So snapshots may be
 *  stored in files in /dev/shm, or in a folder on a local disk. Once gab_node_memory_open() has named such a folder, all
 *  memory for snapshots (::GAB_MEMORY_SNAPSHOT) is mapped from files there. It is used and counted like any other memory.
 *  The files remain after a SIGKILL, and the next job on the same node finds their content (gab_node_memory_claim()).
 *
 *  Other users can access /dev/shm. So folder and files must belong to this user alone (checked at every open:
 *  core/system/own_folder.h), and each file carries the key of its run and case; files with another key are not used. Each
 *  process that works in a folder holds a shared lock on it (flock), which ends with the process: a folder without a lock
 *  is not in use.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_NODE_MEMORY_H
#define GABION_CORE_NODE_MEMORY_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What files are stamped with. */
typedef struct gab_memory_key {
  uint64_t word[2];
} gab_memory_key;

/** Snapshots lie in files of FOLDER/NODE from now on. Local; once, before the first snapshot.
 *  @param[in] folder  of the run, which it locks (shared); made if it is not there; its parent has to exist
 *  @param[in] node  name of the node: several may share a file system, and emulated ones share a machine
 *  @param[in] key  of the run
 *  @return ::GAB_ERR_IO if it cannot be made or used, or does not belong to this user alone; ::GAB_ERR_STATE
 * if a folder was named already */
gab_status gab_node_memory_open(const char *folder, const char *node, gab_memory_key key);
/** Memory is ordinary again; what is still mapped stays until it is released, which removes its file. If
 * nothing is, the folder of the node goes, unless there are files in it. Local.
 *  @param[in] spent  nobody will go on from what the run has left: then the last of its processes on this
 * node removes the whole folder of the run, with what the dead have left */
void gab_node_memory_close(bool spent);

/** What is released from now on keeps its file: this job ends, and another one resumes from there. Local. */
void gab_node_memory_leave(void);

/** A piece of memory that a process which has ended has left. */
typedef struct gab_left_memory {
  char path[1000], name[100]; /**< of the folder, and of the file in it, which belongs to this process now */
  void *mapped;               /**< all of the file; owned */
  size_t mapped_bytes;
  const void *content; /**< the bytes that were allocated; used ones first, as the process left them */
  size_t content_bytes;
  int refused; /**< files that were met and are none of this user alone, or have another key */
} gab_left_memory;

/** Takes a piece that nobody else has claimed: one that a process of this machine has left which is not alive
 * any more. Files without content and those with another key are removed, those of other users left alone.
 * Local; of several processes that look at once each gets others.
 *  @param[in] folder  FOLDER/NODE of gab_node_memory_open() @param[in] key  that they have to have
 *  @param[out] left  to be released by gab_left_memory_release(), whatever was found
 *  @return GAB_OK with left->mapped == NULL if there is none (any more); ::GAB_ERR_IO if the folder cannot be
 * read or does not belong to this user alone */
gab_status gab_node_memory_claim(const char *folder, gab_memory_key key, gab_left_memory *left);
/** Unmaps. @param[in] remove  whether the file goes too: if not, the next one can claim it */
void gab_left_memory_release(gab_left_memory *left, bool remove);

#ifdef __cplusplus
}
#endif
#endif
