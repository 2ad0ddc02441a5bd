/* SPDX-License-Identifier: Apache-2.0 */
/** @file reliable_channel.h
 *  @brief Messages between processes that continue after deaths, without a repair.
 *
 *  Plain named messages on the communicator of everybody, which may have dead members. Those to one process arrive in
 *  the order of sending; those to the dead are lost. A death is told to all, by the error of a call that names the
 *  process or by MPIX_Comm_get_failed(), and again to who sends to the dead. Nothing breaks, as long as the policy
 *  of the world is ::GAB_POLICY_MARK_DOWN.
 *
 *  A reliable channel numbers processes by *places*, as they are when it is made: the members in the order of ranks, then the
 *  spares. It ends with the next repair. There is one to a world.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_RELIABLE_CHANNEL_H
#define GABION_CORE_RELIABLE_CHANNEL_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_world gab_world;
typedef struct gab_reliable_channel gab_reliable_channel;

/** Callbacks of a reliable channel, called by gab_reliable_channel_serve() only, except for `sent`. */
typedef struct gab_reliable_channel_events {
  void *user;
  /** A message has come. @param[in] bytes  valid during the call
   *  @param[in,out] payload  NULL: it is in `bytes`, behind the head. Else it is long, `bytes` are the head, and it may be taken by
   *  gab_buffer_swap(): what it is exchanged for holds a later one. It has not twice the memory that the message needs, so that it
   *  may be kept */
  gab_status (*message)(void *user, gab_process place, uint32_t lane, const void *bytes, size_t count,
                        gab_buffer *payload);
  gab_status (*down)(void *user, gab_process place);
  /** MPI has done with what gab_reliable_channel_send() borrowed. @param[in] lent  as given there */
  void (*sent)(void *user, void *lent);
} gab_reliable_channel_events;

/** Local. @param[in] events  copied @return ::GAB_ERR_STATE if the world has one */
gab_status gab_reliable_channel_create(gab_world *world, const gab_reliable_channel_events *events,
                                       gab_reliable_channel **channel);
/** Gives all memory back. After gab_reliable_channel_end(), or where nothing is under way. */
void gab_reliable_channel_destroy(gab_reliable_channel **channel);
/** Ends all requests, in a repair, when all the living have met: what was sent may be read no more. */
void gab_reliable_channel_end(gab_reliable_channel *channel);

/** Places of the reliable channel, the own one included; and the own one. */
gab_process gab_reliable_channel_places(const gab_reliable_channel *channel);
gab_process gab_reliable_channel_place(const gab_reliable_channel *channel);
/** Whether the process at that place is known to be dead. */
bool gab_reliable_channel_is_dead(const gab_reliable_channel *channel, gab_process place);
/** Places that are looked at in each gab_reliable_channel_serve(), as all are while one probe can find any; where
 *  they are probed one by one (of thousands, or when somebody has died) the others are looked at in turn. */
gab_status gab_reliable_channel_add_near(gab_reliable_channel *channel, gab_process place);
/** Of these only those stay for which `stays` says so; the others are looked at in turn again. */
void gab_reliable_channel_keep_near(gab_reliable_channel *channel,
                                    bool (*stays)(const void *user, gab_process place), const void *user);

/** Sends head and payload as one message. The head is copied.
 *  @param[in] lent  if not NULL the payload is borrowed until `sent` is told of it; else it is copied
 *  @return GAB_OK also if the place is dead; ::GAB_ERR_FAULT if the world is broken */
gab_status gab_reliable_channel_send(gab_reliable_channel *channel, gab_process place, uint32_t lane,
                                     const gab_buffer *head, const void *payload, size_t bytes, void *lent);
/** Polls once: delivers received messages, returns lent buffers, and reports deaths every 0.1 ms. Without waiting for anybody, but for the
 *  rest of a message that has begun to come.
 *  @return what an event returned; ::GAB_ERR_FAULT if the world is broken */
gab_status gab_reliable_channel_serve(gab_reliable_channel *channel);

typedef struct gab_reliable_channel_stats {
  uint64_t sent, received; /**< messages */
  size_t sent_bytes;
  size_t near; /**< places that are looked at each time, now */
} gab_reliable_channel_stats;
gab_reliable_channel_stats gab_reliable_channel_statistics(const gab_reliable_channel *channel);

#ifdef __cplusplus
}
#endif
#endif
