/* SPDX-License-Identifier: Apache-2.0 */
/** @file persist_msglog_file_impl.h
 *  @brief The message log of a process in a file: on a disk, or in the memory of the node.
 *
 *  FOLDER/rank-N begins with a head with checksum (key, rank, number of processes, settings); behind it stand groups of
 *  persist_msglog_impl.h, each followed by a mark of 32 bytes that is written when the group is (with persist_sync: when it has
 *  reached the medium). A commit appends one group; now and then the file is written anew, beside the old one, which it
 *  then replaces. FOLDER/rank-N.lock is locked (flock) by the process that has the message log open: the lock ends with it.
 *
 *  What is found at the end of the file:
 *  - a group that does not match its checksum, and no valid mark behind it: the writer died in it; ignored;
 *  - a whole group without a mark: the epoch is there, and is used;
 *  - a group that does not match its checksum, and a valid mark, or anything else that is whole: damage; refused.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_RESILIENCE_PERSIST_MSGLOG_FILE_IMPL_H
#define GABION_RESILIENCE_PERSIST_MSGLOG_FILE_IMPL_H

#include "resilience/persist/persist_msglog_impl.h"

typedef struct persist_file {
  int folder, file, lock; /**< descriptors; -1 */
  char path[1200];        /**< of the folder, for messages and for discarding */
  char name[32];
  gab_buffer head; /**< of the file, without run and checksum */
  uint64_t run;  /**< in the head: which run under the key it is of; read by loading, written by rewriting */
  uint64_t size; /**< bytes that are good */
  uint64_t base; /**< bytes when the file was last written anew */
  bool sync;
  bool done;   /**< found: somebody was about to remove it, see gab_persist_file_mark_done() */
  bool broken; /**< what is in the file is not known any more: a write failed and could not be undone */
} persist_file;

typedef struct persist_file_id {
  const char *key;
  uint64_t settings; /**< what has to be the same when the file is opened again */
  int rank, size;
} persist_file_id;

/** Opens PARENT/NAME/rank-N, made if need be, and locks it. @param[in] wait  seconds that the lock may be held by somebody who
 *  is just ending @return ::GAB_ERR_STATE if the key is in use; ::GAB_ERR_IO if it cannot be made or is not this user's alone */
gab_status gab_persist_file_open(persist_file *file, const char *parent, const char *name,
                                 const persist_file_id *id, bool sync, double wait);
/** Reads it. @param[out] msglog  initialised @param[out] found  there is a message log
 *  @return ::GAB_ERR_INPUT if it is of another number of processes or other settings; ::GAB_ERR_CORRUPT if it is damaged */
gab_status gab_persist_file_load(persist_file *file, const persist_file_id *id, persist_msglog *msglog,
                                 bool *found);
/** Appends a group; it is there when this returns GAB_OK. @return ::GAB_ERR_IO: it is not there */
gab_status gab_persist_file_append(persist_file *file, const gab_buffer *group);
/** Replaces the content: the message log without its open epoch. */
gab_status gab_persist_file_rewrite(persist_file *file, const persist_msglog *msglog);
/** Whether most of the file is of no use any more. @param[in] live  bytes that rewriting would leave, about */
bool gab_persist_file_is_stale(const persist_file *file);
/** Gives lock and descriptors free; the file stays. Harmless on a closed one. */
void gab_persist_file_close(persist_file *file);
/** The first half of discarding: rank-N.done says that all are to be removed. A message log has been discarded when
 *  every file of it
 * that is still there is marked, and not before: so it goes as a whole, whenever somebody dies. Taken back by
 * gab_persist_file_rewrite(). */
gab_status gab_persist_file_mark_done(persist_file *file);
/** Removes the content; the file stays open and locked. */
gab_status gab_persist_file_clear(persist_file *file);
/** The second half: removes the file, and the folder if it is the last one, and closes. */
gab_status gab_persist_file_remove(persist_file *file);

#endif
