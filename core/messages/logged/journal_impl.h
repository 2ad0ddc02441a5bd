/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the journal share: journal.c (channels, intervals, free list), journal_image.c (messages in an image).
 *
 * Internal. */
#ifndef GABION_CORE_JOURNAL_IMPL_H
#define GABION_CORE_JOURNAL_IMPL_H

#include "core/messages/logged/journal.h"

/* The public entry comes first, so that a pointer to it is one to this. */
typedef struct gab_kept {
  gab_journal_entry entry;
  gab_buffer memory; /* owns the bytes */
  uint32_t holds;
  bool handed_over;
  bool dropped; /* its interval is freed, but it is held */
} gab_kept;

typedef struct gab_journal_channel {
  gab_rank target;
  uint32_t context;
  uint64_t next;
  gab_kept **kept; /* in order of their numbers, from kept[first] on */
  size_t first, end, capacity;
} gab_journal_channel;

/* A buffer that waits for its next message. */
typedef struct gab_journal_spare {
  gab_buffer buffer;
  bool old; /* it has lain here since the last call of gab_journal_free_before() */
} gab_journal_spare;

struct gab_journal {
  size_t copy_below;
  gab_step interval;
  gab_journal_channel *channels; /* ascending by target, then context */
  size_t channel_count;
  gab_journal_spare *free;
  size_t free_count, free_capacity;
  gab_journal_stats stats;
};

/* NULL: the journal has none. */
const gab_journal_channel *gab_journal_channel_of(const gab_journal *journal, gab_rank target,
                                                  uint32_t context);
/* Reserves capacity for one message more. */
gab_status gab_journal_reserve(gab_journal_channel *to);
/* Gives back a message that nobody holds, and its bytes. */
void gab_journal_release(gab_kept *message);

#endif
