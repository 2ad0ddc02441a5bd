/* SPDX-License-Identifier: Apache-2.0 */
/** @file persist_msglog_impl.h
 *  @brief All that one process has stored and may be asked for again: messages by signature and number, in epochs.
 *
 *  A message log belongs to a sender. Its own process has one, and so has each holder of a copy; a file is one, written down.
 *  Nothing here knows MPI.
 *
 *  Epochs. Messages are stored into the *open* epoch, number `epoch` + 1. Closing it (a *group* of bytes) and having
 *  that stored somewhere makes it complete: `epoch` grows by one. Invariants:
 *  - the state at every epoch from `floor` to `epoch` can be given back: for each channel the newest `depth` messages of that
 *    epoch and those before, and how much had been received; floor is `epoch`, or one less where another process may
 *    be one behind (persist_commit = together);
 *  - numbers of a channel are consecutive, ascend with epochs and serials, and each channel has a message: so the next
 *    number and the next serial follow from the messages;
 *  - going back to an epoch forgets all that came after it: what is sent again has the numbers that it had.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_RESILIENCE_PERSIST_MSGLOG_IMPL_H
#define GABION_RESILIENCE_PERSIST_MSGLOG_IMPL_H

#include "core/base/buffer.h"

enum {
  PERSIST_TO_ALL = -1 /**< target of what a collective operation stores for everybody */
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
/** 0 if there is none. */
uint64_t gab_persist_map_get(const persist_map *map, int32_t peer, int32_t tag);

/* ---------------------------------------------------------------- persist_msglog.c */

typedef struct persist_record {
  uint64_t number; /**< on its channel, from 1 */
  uint64_t serial; /**< among all that the sender has stored, from 1 */
  uint64_t epoch;
  uint64_t checksum; /**< hash of the bytes, and of all that identifies them */
  size_t bytes;
  unsigned char *data; /**< owned */
} persist_record;

/** The messages of a sender to one target with one tag, ascending. */
typedef struct persist_channel {
  int32_t target, tag;
  persist_record *records;
  size_t first, end, capacity; /**< those in use, and what is allocated */
} persist_channel;

typedef struct persist_msglog {
  uint64_t epoch, floor;
  uint64_t depth; /**< messages that are kept per channel; UINT64_MAX: all */
  bool lags;      /**< floor stays one behind */
  uint64_t serial;
  persist_channel *channels;
  size_t channel_count;
  persist_map index; /**< (target, tag) -> position in channels */
  /** (source, tag) -> messages received by this process, transparent mode alone: now, at `epoch`, at `floor`. */
  persist_map received, received_epoch, received_floor;
} persist_msglog;

void gab_persist_msglog_init(persist_msglog *msglog, uint64_t depth, bool lags);
void gab_persist_msglog_release(persist_msglog *msglog);
void gab_persist_msglog_swap(persist_msglog *a, persist_msglog *b);

/** Stores a message into the open epoch. @param[out] number  may be NULL */
gab_status gab_persist_msglog_store(persist_msglog *msglog, int32_t target, int32_t tag, const void *bytes,
                                    size_t count, uint64_t *number);
/** The same with all that is known of the message but its bytes, which are copied: from a group. */
gab_status gab_persist_msglog_add(persist_msglog *msglog, int32_t target, int32_t tag,
                                  const persist_record *like, const void *bytes);
/** Index of the first record of a later epoch: channel->end if there is none. */
size_t gab_persist_channel_behind(const persist_channel *channel, uint64_t epoch);
/** Takes the newest message of a channel back, if it is of the open epoch: its delivery failed. */
void gab_persist_msglog_unstore(persist_msglog *msglog, int32_t target, int32_t tag);
/** Messages of the open epoch. */
uint64_t gab_persist_msglog_pending(const persist_msglog *msglog);
/** The newest number of a channel, 0 if there is none. */
uint64_t gab_persist_msglog_last(const persist_msglog *msglog, int32_t target, int32_t tag);
/** Checksum of a message. */
uint64_t gab_persist_checksum(int32_t target, int32_t tag, uint64_t number, const void *bytes, size_t count);

/* ---------------------------------------------------------------- persist_msglog_groups.c */

/** The open epoch as a group of bytes, appended. */
gab_status gab_persist_msglog_close_epoch(const persist_msglog *msglog, gab_buffer *group);
/** That group is stored: the epoch is complete. */
gab_status gab_persist_msglog_complete(persist_msglog *msglog);
/** Everything but the open epoch, as one or two groups from which an empty message log becomes the same. */
gab_status gab_persist_msglog_write(const persist_msglog *msglog, gab_buffer *groups);

typedef enum persist_group_state {
  PERSIST_GROUP_WHOLE,
  PERSIST_GROUP_CUT,    /**< the bytes end before the group does */
  PERSIST_GROUP_DAMAGED /**< a checksum does not match */
} persist_group_state;
/** Looks at the group at the head of the bytes. @param[out] length  bytes of the group, where its head is whole */
persist_group_state gab_persist_group_look(gab_reader bytes, size_t *length);
/** Takes the next group into the message log: a base replaces all, another one the epochs from its own on.
 *  @return ::GAB_ERR_CORRUPT if it is none, or does not follow */
gab_status gab_persist_msglog_take(persist_msglog *msglog, gab_reader *bytes);

/** Goes back to an epoch. @return ::GAB_ERR_LOST if it is not between floor and epoch */
gab_status gab_persist_msglog_go_back(persist_msglog *msglog, uint64_t epoch);

#endif
