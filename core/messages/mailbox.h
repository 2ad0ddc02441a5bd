/** @file mailbox.h
 *  @brief Messages of an application, received from a named source or from any, matched by pattern and iteration.
 *
 *  For rendezvous in which nobody knows who will write to him: each process knows to whom it has to speak, and finds by probing
 *  who speaks to it (Ropars et al. 2013, figure 4). Who knows all partners uses an exchange or a port instead.
 *
 *  A mailbox is a logged port (core/messages/port.h, core/messages/logged/carrier.h) and a *queue of what came too early*. A message leaves its channel
 *  in the order of the channel, and waits in the queue until a receive fits: the same tag, the same id (core/messages/pattern.h) as is
 *  active at the receive, and the source that was named, if one was. Of several that fit it is the one that came first, so
 *  messages of one channel, tag and id do not overtake each other.
 *
 *  *To MPI* nothing is received from any source: Open MPI 5 reports after a death what did not happen. The members are probed by
 *  name, #GAB_MAILBOX_LOOKS of them at a time, in turn. So the time until a message is found grows with the number of members
 *  beyond that; with a named source it does not.
 *
 *  *To the journal.* Under strategy `local` a message counts as delivered when it has come into the queue, and the queue is part
 *  of the image: so what a channel has delivered stays a single number, whatever is taken in which order. In a global
 *  rollback all go back to the same step, at which nothing is under way, and the queue is emptied: what lay there was sent behind
 *  the checkpoint and will be sent again. Only partners can be written to then: owners of adjacent blocks, neighbours in
 *  the tree of reductions, holders.
 *
 *  *Refused, and why.* Any source outside of an iteration: a replay could confuse its messages (theorem 1), and nobody would
 *  notice. Any tag: there is no such wildcard. A message that is longer than the memory for it stays in the queue. A message of an
 *  iteration that has ended here is an error as soon as it is found; a checkpoint within an iteration, or with messages of earlier
 *  steps in the queue, fails.
 *
 *  A mailbox belongs to one thread, the one that talks. A repair empties it.
 *
 *  Tier: user header.
 */
#ifndef GABION_CORE_MAILBOX_H
#define GABION_CORE_MAILBOX_H

#include "core/base/buffer.h"
#include "core/messages/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_mailbox gab_mailbox;

/** Stands for every member as a source. */
#define GAB_ANY_RANK ((gab_rank)-2)
enum {
  GAB_MAILBOX_LOOKS = 64 /**< sources that are looked at in one look */
};

/** What is known of a message. */
typedef struct gab_mail {
  gab_rank source;
  uint32_t tag;
  size_t bytes;
  gab_pattern_id id; /**< of its sender when it was sent */
  gab_step step;     /**< in which it was sent */
} gab_mail;

/** Collective in the sense of gab_port_create(); no communication. Before the time loop runs. @param[in] name  copied
 *  @return ::GAB_ERR_STATE while a protected time loop runs */
gab_status gab_mailbox_create(gab_world *world, const char *name, gab_mailbox **mailbox);
/** Drops what lies in it and what is still being sent: not before the others have received that. Before the world is
 *  destroyed. Local. */
void gab_mailbox_destroy(gab_mailbox **mailbox);

/** Sends a message, with the id that is active. The bytes are copied, so the call does not wait. A rank may send to itself.
 *  Local. @param[in] bytes  may be NULL if count is 0
 *  @return ::GAB_ERR_ARGUMENT for a target that does not take part, or is no partner under strategy `local`; ::GAB_ERR_FAULT */
gab_status gab_mailbox_send(gab_mailbox *mailbox, gab_rank target, uint32_t tag, const void *bytes,
                            size_t count);
/** Looks once whether a message is there. Does not wait, but for the rest of a message that has begun to come.
 *  @param[in] source  a member, or #GAB_ANY_RANK @param[out] found  of the message, which stays; NULL: not wanted
 *  @return ::GAB_ERR_STATE for any source outside of an iteration, or if a message came too late for its iteration;
 *  ::GAB_ERR_ARGUMENT for a source that does not take part; ::GAB_ERR_FAULT, also if a member has died */
gab_status gab_mailbox_probe(gab_mailbox *mailbox, gab_rank source, uint32_t tag, bool *there,
                             gab_mail *found);
/** Waits for a message and takes it. To take the one that a probe from any source has found, name its source.
 *  @param[out] bytes  room for `capacity` bytes @param[out] got  NULL: not wanted
 *  @return as gab_mailbox_probe(); ::GAB_ERR_ARGUMENT if it is longer, then it stays and `got` tells its size;
 *  ::GAB_ERR_STATE if a message from oneself is waited for that is not there */
gab_status gab_mailbox_receive(gab_mailbox *mailbox, gab_rank source, uint32_t tag, void *bytes,
                               size_t capacity, gab_mail *got);

/** Messages in the queue. */
size_t gab_mailbox_waiting(const gab_mailbox *mailbox);

/* ------------------------------------------------------------------------------------ for checkpoints (extenders) */

/** Whether the world has patterns or mailboxes. */
bool gab_world_has_mail(const gab_world *world);
/** From now on there are no new ones: an image knows those that there are. @param[in] closed  false: there may be again */
void gab_world_close_mail(gab_world *world, bool closed);
/** The callbacks of an entity per rank (core/base/entity.h): patterns and mailboxes of a gab_world. */
gab_status gab_world_pack_mail(void *world, gab_buffer *out);
gab_status gab_world_unpack_mail(void *world, gab_reader *in);

#ifdef __cplusplus
}
#endif
#endif
