/* SPDX-License-Identifier: Apache-2.0 */
/** @file persist_msglog_file_impl.h
 *  @brief The message log of a process in a file: on a disk, or in the memory of the node.
 *
 *  FOLDER/rank-N begins with a head with checksum (key, rank, number of processes, settings). Groups of
 *  persist_msglog_impl.h follow, each with a mark of 32 bytes that is written after the group (with persist_sync: when it
 *  has reached the medium). A commit appends one group; occasionally the file is rewritten under another name and replaces
 *  the old one. FOLDER/rank-N.lock is locked (flock) by the process that has the message log open: the lock ends with it.
 *
 *  Cases at the end of the file:
 *  - a group that does not match its checksum, without a valid mark after it: the writer died while writing it; ignored;
 *  - a complete group without a mark: the epoch is valid and used;
 *  - a group that does not match its checksum, followed by a valid mark or other complete data: damage; refused.
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
  uint64_t run;    /**< in the head: the run under the key; read when loading, written when rewriting */
  uint64_t size;   /**< valid bytes */
  uint64_t base;   /**< bytes when the file was last rewritten */
  bool sync;
  bool done;   /**< found with a mark of a started removal, see gab_persist_file_mark_done() */
  bool broken; /**< the content is unknown: a write failed and could not be undone */
} persist_file;

typedef struct persist_file_id {
  const char *key;
  uint64_t settings; /**< must be equal when the file is opened again */
  int rank, size;
} persist_file_id;

/** Opens PARENT/NAME/rank-N, creates it if needed, and locks it. @param[in] wait  seconds to wait for a lock of a process
 * that is ending @return ::GAB_ERR_STATE if the key is in use; ::GAB_ERR_IO if it cannot be created or is accessible to
 * other users */
gab_status gab_persist_file_open(persist_file *file, const char *parent, const char *name,
                                 const persist_file_id *id, bool sync, double wait);
/** Reads it. @param[out] msglog  initialised @param[out] found  there is a message log @return ::GAB_ERR_INPUT if it has
 * another number of processes or other settings; ::GAB_ERR_CORRUPT if it is damaged */
gab_status gab_persist_file_load(persist_file *file, const persist_file_id *id, persist_msglog *msglog,
                                 bool *found);
/** Appends a group; it is stored if this returns GAB_OK. @return ::GAB_ERR_IO: it is not stored */
gab_status gab_persist_file_append(persist_file *file, const gab_buffer *group);
/** Replaces the content: the message log without its open epoch. */
gab_status gab_persist_file_rewrite(persist_file *file, const persist_msglog *msglog);
/** Whether most of the file is obsolete. */
bool gab_persist_file_is_stale(const persist_file *file);
/** Releases lock and descriptors; the file is kept. No effect on a closed one. */
void gab_persist_file_close(persist_file *file);
/** First half of discarding: creates rank-N.done, which marks the file for removal. A message log is discarded when, and
 * only when, all its remaining files are marked: so it is removed as a whole, even if a process dies meanwhile.
 * gab_persist_file_rewrite() removes the mark. */
gab_status gab_persist_file_mark_done(persist_file *file);
/** Removes the content; the file stays open and locked. */
gab_status gab_persist_file_clear(persist_file *file);
/** Second half: removes the file, the folder if the file is the last one, and closes. */
gab_status gab_persist_file_remove(persist_file *file);

#endif
