/* SPDX-License-Identifier: Apache-2.0 */
/** @file msglog.h
 *  @brief Sender-based message log: what was sent on logged channels, until nobody can ask for it any more.
 *
 *  A rank that comes back needs the messages that it had received since its checkpoint. Their senders keep
 *  them: per channel (target, context) numbered in the order of sending, from 0 or from where
 *  gab_msglog_begin_channel() said, each with step, pattern and iteration (sender-based logging; Gamell et
 *  al. 2015, section 3.2, "Consistency"). Large messages are not copied: the message log takes the memory of the send
 *  buffer and hands back a free one. Small ones are copied, so that a page is not spent on a number.
 *
 *  Messages belong to *intervals*, each of which begins at a checkpoint; they are freed by intervals, or by their
 * numbers if they only pass through, or when their receiver says that it will not ask for them. The
 * numbers of the channels are part of an image (gab_msglog_pack_numbers()). The messages are so only where receivers
 * may go back further than their sender (gab_msglog_pack_messages()); else a rank that comes back makes them again.
 *
 *  No MPI, no threads: one thread uses a message log.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_MSGLOG_H
#define GABION_CORE_MSGLOG_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_msglog gab_msglog;

/** What is known of a message beside its bytes. */
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
  unsigned char *data; /**< stays where it is as long as the entry lives */
  size_t bytes;
} gab_msglog_entry;

typedef struct gab_msglog_stats {
  size_t bytes, peak_bytes; /**< of messages that are kept, now and at most */
  size_t free_bytes;        /**< memory on the free list */
  uint64_t messages;        /**< kept now */
  uint64_t handed_over;     /**< messages ever taken without copying */
  uint64_t copied;          /**< messages ever copied */
  uint64_t copied_bytes;    /**< their bytes */
  size_t largest_copied;    /**< bytes of the largest of them */
  uint64_t logged_bytes;    /**< of all messages ever taken */
} gab_msglog_stats;

/** Messages of less than `copy_below` bytes are copied. A message log begins in the interval of checkpoint -1. */
gab_status gab_msglog_create(size_t copy_below, gab_msglog **msglog);
/** Releases everything, messages that are held included: no request may be reading them. */
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

/** While an entry is held, its bytes stay although its interval is freed: a request is reading them. */
void gab_msglog_hold(gab_msglog *msglog, gab_msglog_entry *entry);
void gab_msglog_let_go(gab_msglog *msglog, gab_msglog_entry *entry);

/** Frees all intervals that began before `checkpoint`. Memory that was handed over goes to the free list;
 * what lay there unused since the last call is released. */
void gab_msglog_free_before(gab_msglog *msglog, gab_step checkpoint);
/** Frees the messages of a channel below a number: nobody will ask for them. */
void gab_msglog_free_below(gab_msglog *msglog, gab_rank target, uint32_t context, uint64_t number);
/** Begins a channel: its first message has the number `next`.
 *  @return ::GAB_ERR_STATE if there is one to that target in that context */
gab_status gab_msglog_begin_channel(gab_msglog *msglog, gab_rank target, uint32_t context, uint64_t next);
/** Frees all messages to a target and forgets its channels, which may begin again. The bytes of messages that are held
 *  stay until they are let go. */
void gab_msglog_forget_target(gab_msglog *msglog, gab_rank target);
/** Whether more than `limit` bytes are kept; 0 is no limit. */
bool gab_msglog_is_full(const gab_msglog *msglog, size_t limit);
gab_msglog_stats gab_msglog_statistics(const gab_msglog *msglog);

/** Packs target, context and next number of all channels. */
gab_status gab_msglog_pack_numbers(const gab_msglog *msglog, gab_buffer *out);
/** Forgets all messages and goes on from packed numbers, in the interval of `checkpoint`. The bytes of those that are
 *  held stay until they are let go.
 *  @return ::GAB_ERR_CORRUPT, then the message log is empty */
gab_status gab_msglog_restart(gab_msglog *msglog, gab_step checkpoint, gab_reader *in);
/** Packs the messages to a target that are kept (Ropars et al. 2013, algorithm 1, line 15: logs are part of a checkpoint). */
gab_status gab_msglog_pack_messages(const gab_msglog *msglog, gab_rank target, gab_buffer *out);
/** Behind gab_msglog_restart(), with numbers of the same moment: keeps those messages again, as copies.
 *  @return ::GAB_ERR_CORRUPT, then some may be kept */
gab_status gab_msglog_unpack_messages(gab_msglog *msglog, gab_rank target, gab_reader *in);

#ifdef __cplusplus
}
#endif
#endif
