/* SPDX-License-Identifier: Apache-2.0 */
/** @file persist_msglog_impl.h
 *  @brief The stored messages of one process that may be requested again: by signature and number, in epochs.
 *
 *  A message log belongs to a sender. The sender has one, each holder of a copy has one, and a file contains one.
 *  Independent of MPI.
 *
 *  Epochs. Messages are stored into the *open* epoch, number `epoch` + 1. It is closed (as a *group* of bytes) and complete
 *  when the group is stored: `epoch` increases by one. Invariants:
 *  - the state at every epoch from `floor` to `epoch` can be restored: for each channel the newest `depth` messages up to
 *    that epoch, and the number of received ones; floor is `epoch`, or one less if another process may be one behind
 *    (persist_commit = together);
 *  - numbers of a channel are consecutive, ascend with epochs and serials, and each channel has a message: so the next
 *    number and the next serial follow from the messages;
 *  - rolling back to an epoch discards all later ones: messages sent again have the same numbers as before.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_RESILIENCE_PERSIST_MSGLOG_IMPL_H
#define GABION_RESILIENCE_PERSIST_MSGLOG_IMPL_H

#include "core/base/buffer.h"

enum {
  PERSIST_TO_ALL = -1 /**< target of messages that a collective operation stores for all */
};

/* ---------------------------------------------------------------- map.c */

/** (peer, tag) -> a number. Zero-initialise. */
typedef struct persist_map {
  struct persist_map_entry {
    int32_t peer, tag;
    uint64_t value;
    bool used;
  } * entries;
  size_t capacity, count;
} persist_map;

void gab_persist_map_release(persist_map *map);
/** @return NULL if there is none; valid until the next put */
uint64_t *gab_persist_map_find(const persist_map *map, int32_t peer, int32_t tag);
gab_status gab_persist_map_put(persist_map *map, int32_t peer, int32_t tag, uint64_t value);
gab_status gab_persist_map_copy(persist_map *to, const persist_map *from);
/** 0 if absent. */
uint64_t gab_persist_map_get(const persist_map *map, int32_t peer, int32_t tag);

/* ---------------------------------------------------------------- persist_msglog.c */

typedef struct persist_record {
  uint64_t number; /**< on its channel, from 1 */
  uint64_t serial; /**< among all messages stored by the sender, from 1 */
  uint64_t epoch;
  uint64_t checksum; /**< hash of the bytes and of the identity of the message */
  size_t bytes;
  unsigned char *data; /**< owned */
} persist_record;

/** The messages of a sender to one target with one tag, ascending. */
typedef struct persist_channel {
  int32_t target, tag;
  persist_record *records;
  size_t first, end, capacity; /**< used range, and allocated size */
} persist_channel;

typedef struct persist_msglog {
  uint64_t epoch, floor;
  uint64_t depth; /**< messages kept per channel; UINT64_MAX: all */
  bool lags;      /**< floor is one behind */
  uint64_t serial;
  persist_channel *channels;
  size_t channel_count;
  persist_map index; /**< (target, tag) -> position in channels */
  /** (source, tag) -> messages received by this process, transparent mode only: now, at `epoch`, at `floor`. */
  persist_map received, received_epoch, received_floor;
} persist_msglog;

void gab_persist_msglog_init(persist_msglog *msglog, uint64_t depth, bool lags);
void gab_persist_msglog_release(persist_msglog *msglog);
void gab_persist_msglog_swap(persist_msglog *a, persist_msglog *b);

/** Stores a message into the open epoch. @param[out] number  may be NULL */
gab_status gab_persist_msglog_store(persist_msglog *msglog, int32_t target, int32_t tag, const void *bytes,
                                    size_t count, uint64_t *number);
/** The same with given numbers, epoch and checksum; copies the bytes from a group. */
gab_status gab_persist_msglog_add(persist_msglog *msglog, int32_t target, int32_t tag,
                                  const persist_record *like, const void *bytes);
/** Index of the first record of a later epoch: channel->end if there is none. */
size_t gab_persist_channel_behind(const persist_channel *channel, uint64_t epoch);
/** Removes the newest message of a channel if it is in the open epoch: its delivery failed. */
void gab_persist_msglog_unstore(persist_msglog *msglog, int32_t target, int32_t tag);
/** Messages of the open epoch. */
uint64_t gab_persist_msglog_pending(const persist_msglog *msglog);
/** The newest number of a channel; 0 if none. */
uint64_t gab_persist_msglog_last(const persist_msglog *msglog, int32_t target, int32_t tag);
/** Checksum of a message. */
uint64_t gab_persist_checksum(int32_t target, int32_t tag, uint64_t number, const void *bytes, size_t count);

/* ---------------------------------------------------------------- persist_msglog_groups.c */

/** Appends the open epoch as a group of bytes. */
gab_status gab_persist_msglog_close_epoch(const persist_msglog *msglog, gab_buffer *group);
/** Called when that group is stored: the epoch is complete. */
gab_status gab_persist_msglog_complete(persist_msglog *msglog);
/** Writes all but the open epoch, as one or two groups that restore the same log from an empty one. */
gab_status gab_persist_msglog_write(const persist_msglog *msglog, gab_buffer *groups);

typedef enum persist_group_state {
  PERSIST_GROUP_WHOLE,
  PERSIST_GROUP_CUT,    /**< the bytes end before the group */
  PERSIST_GROUP_DAMAGED /**< a checksum does not match */
} persist_group_state;
/** Checks the group at the begin of the bytes. @param[out] length  bytes of the group, if its head is complete */
persist_group_state gab_persist_group_look(gab_reader bytes, size_t *length);
/** Adds the next group to the message log: a base replaces all, another one the epochs from its own on. @return
 * ::GAB_ERR_CORRUPT if it is not a group, or does not follow */
gab_status gab_persist_msglog_take(persist_msglog *msglog, gab_reader *bytes);

/** Rolls back to an epoch. @return ::GAB_ERR_LOST if it is not between floor and epoch */
gab_status gab_persist_msglog_go_back(persist_msglog *msglog, uint64_t epoch);

#endif
