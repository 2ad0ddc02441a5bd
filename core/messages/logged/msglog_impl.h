/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the sources of the message log: msglog.c (channels, intervals, free list), msglog_image.c
 * (messages in an image).
 *
 * Internal. */
#ifndef GABION_CORE_MSGLOG_IMPL_H
#define GABION_CORE_MSGLOG_IMPL_H

#include "core/messages/logged/msglog.h"

/* The public entry comes first, so that a pointer to it is a pointer to this. */
typedef struct gab_kept {
  gab_msglog_entry entry;
  gab_buffer memory; /* owns the bytes */
  uint32_t holds;
  bool handed_over;
  bool dropped; /* its interval is freed, but it is held */
} gab_kept;

typedef struct gab_msglog_channel {
  gab_rank target;
  uint32_t context;
  uint64_t next;
  gab_kept **kept; /* in order of their numbers, from kept[first] on */
  size_t first, end, capacity;
} gab_msglog_channel;

/* A buffer on the free list. */
typedef struct gab_msglog_spare {
  gab_buffer buffer;
  bool old; /* unused since the last call of gab_msglog_free_before() */
} gab_msglog_spare;

struct gab_msglog {
  size_t copy_below;
  gab_step interval;
  gab_msglog_channel *channels; /* ascending by target, then context */
  size_t channel_count;
  gab_msglog_spare *free;
  size_t free_count, free_capacity;
  gab_msglog_stats stats;
};

/* NULL if there is no such channel. */
const gab_msglog_channel *gab_msglog_channel_of(const gab_msglog *msglog, gab_rank target, uint32_t context);
/* Reserves capacity for one more message. */
gab_status gab_msglog_reserve(gab_msglog_channel *to);
/* Releases a message that is not held, and its bytes. */
void gab_msglog_release(gab_kept *message);

#endif
