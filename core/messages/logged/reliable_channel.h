/* SPDX-License-Identifier: Apache-2.0 */
/** @file reliable_channel.h
 *  @brief Messages between processes that continue after deaths, without a repair.
 *
 *  Named messages on the communicator of all processes, which may have dead members. Messages to one
 *  process arrive in the order of sending; those to the dead are lost. Each process learns of a death
 *  by the error of a call that names the dead process, or from MPIX_Comm_get_failed(), and again when
 *  it sends to the dead. Nothing breaks, as long as the policy of the world is
 *  ::GAB_POLICY_MARK_DOWN.
 *
 *  A reliable channel numbers processes by *places*, fixed at its creation: members by ascending
 *  rank, then spares. It ends with the next repair. A world has one at most.
 *
 *  Stability: internal. */
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
  /** A message was received. @param[in] bytes  valid during the call
   *  @param[in,out] payload  NULL: the payload follows the head in `bytes`. Else the message is long, `bytes` is its
   *  head, and gab_buffer_swap() may take the payload; the buffer given in exchange receives a later one. Its capacity is
   *  less than twice its size, so that it may be kept */
  gab_status (*message)(void *user, gab_process place, uint32_t lane, const void *bytes, size_t count,
                        gab_buffer *payload);
  gab_status (*down)(void *user, gab_process place);
  /** MPI no longer uses the payload that gab_reliable_channel_send() borrowed. @param[in] lent  as given there */
  void (*sent)(void *user, void *lent);
} gab_reliable_channel_events;

/** Local. @param[in] events  copied @return ::GAB_ERR_STATE if the world has one */
gab_status gab_reliable_channel_create(gab_world *world, const gab_reliable_channel_events *events,
                                       gab_reliable_channel **channel);
/** Releases all memory. After gab_reliable_channel_end(), or without pending messages. */
void gab_reliable_channel_destroy(gab_reliable_channel **channel);
/** Ends all requests during a repair, after all survivors have met; sent messages may then be unreadable. */
void gab_reliable_channel_end(gab_reliable_channel *channel);

/** Number of places, with that of this process; and the place of this process. */
gab_process gab_reliable_channel_places(const gab_reliable_channel *channel);
gab_process gab_reliable_channel_place(const gab_reliable_channel *channel);
/** Whether the process at that place is known to be dead. */
bool gab_reliable_channel_is_dead(const gab_reliable_channel *channel, gab_process place);
/** Places that each gab_reliable_channel_serve() probes. While one probe finds any source this has no effect; when places
 *  are probed one by one (thousands of places, or after a death), the others take turns. */
gab_status gab_reliable_channel_add_near(gab_reliable_channel *channel, gab_process place);
/** Keeps near places for which `stays` returns true; the others take turns again. */
void gab_reliable_channel_keep_near(gab_reliable_channel *channel,
                                    bool (*stays)(const void *user, gab_process place), const void *user);

/** Sends head and payload as one message. The head is copied.
 *  @param[in] lent  if not NULL, the payload is borrowed until `sent` is called with it; else it is copied
 *  @return GAB_OK also if the place is dead; ::GAB_ERR_FAULT if the world is broken */
gab_status gab_reliable_channel_send(gab_reliable_channel *channel, gab_process place, uint32_t lane,
                                     const gab_buffer *head, const void *payload, size_t bytes, void *lent);
/** Polls once: delivers received messages, returns lent buffers, and reports deaths every 0.1 ms. Waits only for the rest
 *  of a message whose reception has begun.
 *  @return what an event returned; ::GAB_ERR_FAULT if the world is broken */
gab_status gab_reliable_channel_serve(gab_reliable_channel *channel);

typedef struct gab_reliable_channel_stats {
  uint64_t sent, received; /**< messages */
  size_t sent_bytes;
  size_t near; /**< places that are probed each time */
} gab_reliable_channel_stats;
gab_reliable_channel_stats gab_reliable_channel_statistics(const gab_reliable_channel *channel);

#ifdef __cplusplus
}
#endif
#endif
