/* SPDX-License-Identifier: Apache-2.0 */
/** @file mailbox.h
 *  @brief Messages of an application, received from a named source or from any, matched by pattern and iteration.
 *
 *  For communication in which a receiver does not know its senders (Ropars et al. 2013, figure 4). If all partners are
 *  known, use an exchange or a port.
 *
 *  A mailbox is a logged port (core/messages/port.h, core/messages/logged/message_logger.h) with a queue of early messages. A
 *  message leaves its channel in order and waits in the queue until a receive matches: the same tag, the id that is active
 *  at the receive (core/messages/pattern.h), and the source if one is named. Of several matches the first one is taken, so
 *  messages of one channel, tag and id do not overtake each other.
 *
 *  MPI: no receive is from any source, since Open MPI 5 reports wrong results after a death. Members are probed by name,
 *  #GAB_MAILBOX_LOOKS of them at a time, in turn; with more members the time until a message is found grows.
 *
 *  Message log: under strategy `local` a message counts as delivered when it has entered the queue, and the queue is part of
 *  the image. In a global rollback the queue is emptied; its messages were sent after the checkpoint and are sent again. Under
 *  `local` only partners can be written to: owners of adjacent blocks, neighbours in the tree of reductions, holders.
 *
 *  Refused: any source outside of an iteration, since a replay could confuse its messages (theorem 1); any tag. A message
 *  that is longer than the given memory stays in the queue. A message of an iteration that has ended is an error; a
 *  checkpoint within an iteration, or with messages of earlier steps in the queue, fails.
 *
 *  One thread only, the one that calls MPI. A repair empties a mailbox.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_MAILBOX_H
#define GABION_CORE_MAILBOX_H

#include "core/base/buffer.h"
#include "core/messages/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_mailbox gab_mailbox;

/** Any member as source. */
#define GAB_ANY_RANK ((gab_rank)-2)
enum {
  GAB_MAILBOX_LOOKS = 64 /**< sources probed per call */
};

/** Properties of a message. */
typedef struct gab_mail {
  gab_rank source;
  uint32_t tag;
  size_t bytes;
  gab_pattern_id id; /**< of its sender when it was sent */
  gab_step step;     /**< in which it was sent */
} gab_mail;

/** Collective in the sense of gab_port_create(); no communication. Call it before the time loop runs. @param[in] name
 * copied @return ::GAB_ERR_STATE while a protected time loop runs */
gab_status gab_mailbox_create(gab_world *world, const char *name, gab_mailbox **mailbox);
/** Drops messages in it and unfinished sends: call it after other ranks have received these, and before the world is
 * destroyed. Local. */
void gab_mailbox_destroy(gab_mailbox **mailbox);

/** Sends a message with the active id. The bytes are copied, so the call does not wait. A rank may send to itself. Local.
 * @param[in] bytes may be NULL if count is 0 @return ::GAB_ERR_ARGUMENT for a target that is not a member, or not a partner
 * under strategy `local`; ::GAB_ERR_FAULT */
gab_status gab_mailbox_send(gab_mailbox *mailbox, gab_rank target, uint32_t tag, const void *bytes,
                            size_t count);
/** Checks once for a message. Waits only for the rest of a message whose first chunk has arrived. @param[in] source a
 * member, or #GAB_ANY_RANK @param[out] found properties of the message, which stays in the queue; may be NULL @return
 * ::GAB_ERR_STATE for any source outside of an iteration, or if a message arrived after its iteration; ::GAB_ERR_ARGUMENT
 * for a source that is not a member; ::GAB_ERR_FAULT, also if a member has died */
gab_status gab_mailbox_probe(gab_mailbox *mailbox, gab_rank source, uint32_t tag, bool *there,
                             gab_mail *found);
/** Waits for a message and removes it from the queue. After a probe from any source, pass the source that it found.
 * @param[out] bytes capacity for `capacity` bytes @param[out] got may be NULL @return as gab_mailbox_probe();
 * ::GAB_ERR_ARGUMENT if it is longer: then it stays in the queue and `got` has its size; ::GAB_ERR_STATE if it waits for a
 * message from this rank itself that was not sent */
gab_status gab_mailbox_receive(gab_mailbox *mailbox, gab_rank source, uint32_t tag, void *bytes,
                               size_t capacity, gab_mail *got);

/** Messages in the queue. */
size_t gab_mailbox_waiting(const gab_mailbox *mailbox);

/* ------------------------------------------------------------------------------------ for checkpoints (extenders) */

/** Whether the world has patterns or mailboxes. */
bool gab_world_has_mail(const gab_world *world);
/** Refuses or allows new patterns and mailboxes: an image contains only existing ones. @param[in] closed  false: allowed
 * again */
void gab_world_close_mail(gab_world *world, bool closed);
/** The callbacks of an entity per rank (core/base/entity.h): patterns and mailboxes of a gab_world. */
gab_status gab_world_pack_mail(void *world, gab_buffer *out);
gab_status gab_world_unpack_mail(void *world, gab_reader *in);

#ifdef __cplusplus
}
#endif
#endif
