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

/** Stamp of the files. */
typedef struct gab_memory_key {
  uint64_t word[2];
} gab_memory_key;

/** From now on snapshots are in files of FOLDER/NODE. Local; once, before the first snapshot. @param[in] folder  of the
 * run, which it locks (shared); created if needed in an existing parent @param[in] node  name of the node: several may
 * share a file system, and emulated ones share a machine @param[in] key  of the run @return ::GAB_ERR_IO if it cannot be
 * created or used, or is accessible to other users; ::GAB_ERR_STATE if a folder was named already */
gab_status gab_node_memory_open(const char *folder, const char *node, gab_memory_key key);
/** New memory is ordinary again; mapped memory is kept until it is released, which removes its file. Without any, the
 * folder of the node is removed if it is empty. Local. @param[in] spent  no job will resume from the files: then the last
 * process of the run on this node removes the whole folder of the run, including files of dead processes */
void gab_node_memory_close(bool spent);

/** Memory released from now on keeps its file: this job ends, and another one resumes from there. Local. */
void gab_node_memory_leave(void);

/** A file of an ended process. */
typedef struct gab_left_memory {
  char path[1000], name[100]; /**< of the folder, and of the file in it, which now belongs to this process */
  void *mapped;               /**< the whole file; owned */
  size_t mapped_bytes;
  const void *content; /**< the allocated bytes; used ones first, as the process left them */
  size_t content_bytes;
  int refused; /**< number of files that are accessible to others, or have another key */
} gab_left_memory;

/** Claims a file of a process of this machine that is no longer alive. Files without content and those with another key are
 * removed, those of other users are left. Local; processes that search at the same time get different files. @param[in]
 * folder  FOLDER/NODE of gab_node_memory_open() @param[in] key  required key @param[out] left  to be released by
 * gab_left_memory_release() for any result @return GAB_OK with left->mapped == NULL if there is none (any more);
 * ::GAB_ERR_IO if the folder cannot be read or is accessible to other users */
gab_status gab_node_memory_claim(const char *folder, gab_memory_key key, gab_left_memory *left);
/** Unmaps. @param[in] remove  also remove the file; otherwise the next process can claim it */
void gab_left_memory_release(gab_left_memory *left, bool remove);

#ifdef __cplusplus
}
#endif
#endif
