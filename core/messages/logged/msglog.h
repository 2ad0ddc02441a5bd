/* SPDX-License-Identifier: Apache-2.0 */
/** @file msglog.h
 * @brief Sender-based message log: messages sent on logged channels, until no rank can request them any more.
 *
 * A restored rank needs the messages that its predecessor received since the checkpoint. Their senders keep them: per
 * channel (target, context) numbered in the order of sending, from 0 or the number given to gab_msglog_begin_channel(),
 * each with step, pattern and iteration (sender-based logging; Gamell et al. 2015, section 3.2, "Consistency"). Large
 * messages are not copied: the message log takes the memory of the send buffer and returns a free one. Small ones are
 * copied, so that they do not occupy a page each.
 *
 * Messages belong to *intervals*, each of which begins at a checkpoint; they are freed by intervals, by number, or when
 * their receiver reports that it will not request them. The numbers of the channels are part of an image
 * (gab_msglog_pack_numbers()). The messages are part of it only where receivers may roll back further than their sender
 * (gab_msglog_pack_messages()); otherwise a restored rank sends them again.
 *
 * No MPI, no threads: one thread uses a message log.
 *
 * Stability: internal. */
#ifndef GABION_CORE_MSGLOG_H
#define GABION_CORE_MSGLOG_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_msglog gab_msglog;

/** Properties of a message. */
typedef struct gab_msglog_label {
  gab_step step; /**< in which it was sent */
  uint32_t pattern;
  uint64_t iteration;
} gab_msglog_label;

/** A logged message; owned by the message log. */
typedef struct gab_msglog_entry {
  uint64_t number; /**< on its channel */
  gab_step since;  /**< the checkpoint at which its interval began */
  gab_msglog_label label;
  unsigned char *data; /**< does not move while the entry exists */
  size_t bytes;
} gab_msglog_entry;

typedef struct gab_msglog_stats {
  size_t bytes, peak_bytes; /**< of kept messages, now and maximum */
  size_t free_bytes;        /**< memory on the free list */
  uint64_t messages;        /**< kept now */
  uint64_t handed_over;     /**< messages taken without copying, in total */
  uint64_t copied;          /**< messages copied, in total */
  uint64_t copied_bytes;    /**< their bytes */
  size_t largest_copied;    /**< bytes of the largest of them */
  uint64_t logged_bytes;    /**< of all messages, in total */
} gab_msglog_stats;

/** Messages of less than `copy_below` bytes are copied. A message log begins in the interval of checkpoint -1. */
gab_status gab_msglog_create(size_t copy_below, gab_msglog **msglog);
/** Releases everything, including held messages: no request may be reading them. */
void gab_msglog_destroy(gab_msglog **msglog);

/** Messages from now on belong to the interval that begins at `checkpoint`.
 *  @return ::GAB_ERR_ARGUMENT if that is earlier than the present one */
gab_status gab_msglog_begin_interval(gab_msglog *msglog, gab_step checkpoint);
/** Logs the next message of a channel.
 *  @param[in,out] message  its content; a large one is empty afterwards, with other memory of the same use or
 *  none, and is sent from entry->data. A small one is unchanged.
 *  @param[out] entry  the logged message, valid until its interval is freed, or gab_msglog_let_go() */
gab_status gab_msglog_append(gab_msglog *msglog, gab_rank target, uint32_t context,
                             const gab_msglog_label *label, gab_buffer *message, gab_msglog_entry **entry);
/** @return the message of that number, NULL if it is not kept */
gab_msglog_entry *gab_msglog_find(const gab_msglog *msglog, gab_rank target, uint32_t context,
                                  uint64_t number);
/** Number of the next message of a channel; 0 if it was never used. */
uint64_t gab_msglog_next(const gab_msglog *msglog, gab_rank target, uint32_t context);
/** Number of the oldest message that is kept of a channel; the next one if none is. */
uint64_t gab_msglog_first(const gab_msglog *msglog, gab_rank target, uint32_t context);

/** While an entry is held, its bytes are kept even if its interval is freed: a request is reading them. */
void gab_msglog_hold(gab_msglog *msglog, gab_msglog_entry *entry);
void gab_msglog_let_go(gab_msglog *msglog, gab_msglog_entry *entry);

/** Frees all intervals that began before `checkpoint`. Memory that was taken over goes to the free list; memory there that
 * was not used since the last call is released. */
void gab_msglog_free_before(gab_msglog *msglog, gab_step checkpoint);
/** Frees the messages of a channel below a number: they will not be requested. */
void gab_msglog_free_below(gab_msglog *msglog, gab_rank target, uint32_t context, uint64_t number);
/** Begins a channel: its first message has the number `next`. @return ::GAB_ERR_STATE if there is one to that target in
 * that context */
gab_status gab_msglog_begin_channel(gab_msglog *msglog, gab_rank target, uint32_t context, uint64_t next);
/** Frees all messages to a target and removes its channels, which may begin again. The bytes of held messages are kept
 * until they are let go. */
void gab_msglog_forget_target(gab_msglog *msglog, gab_rank target);
/** Whether more than `limit` bytes are kept; 0 is no limit. */
bool gab_msglog_is_full(const gab_msglog *msglog, size_t limit);
gab_msglog_stats gab_msglog_statistics(const gab_msglog *msglog);

/** Packs target, context and next number of all channels. */
gab_status gab_msglog_pack_numbers(const gab_msglog *msglog, gab_buffer *out);
/** Drops all messages and continues from packed numbers, in the interval of `checkpoint`. The bytes of held messages are
 * kept until they are let go. @return ::GAB_ERR_CORRUPT; the message log is then empty */
gab_status gab_msglog_restart(gab_msglog *msglog, gab_step checkpoint, gab_reader *in);
/** Packs the messages to a target that are kept (Ropars et al. 2013, algorithm 1, line 15: logs are part of a checkpoint). */
gab_status gab_msglog_pack_messages(const gab_msglog *msglog, gab_rank target, gab_buffer *out);
/** After gab_msglog_restart(), with numbers of the same time: restores those messages, as copies. @return
 * ::GAB_ERR_CORRUPT; some messages may then be restored */
gab_status gab_msglog_unpack_messages(gab_msglog *msglog, gab_rank target, gab_reader *in);

#ifdef __cplusplus
}
#endif
#endif
