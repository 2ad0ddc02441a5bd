/* SPDX-License-Identifier: Apache-2.0 */
/** @file message_logger.h
 *  @brief Message loggers, which transport the messages of logged ports instead of MPI; ranks taken over without a repair.
 *
 *  A rank that rolls back alone needs the messages of *logged* ports again: ghost exchange, coupling of levels, reductions
 *  and broadcasts. A message logger of the world sends and delivers them (doc/local-recovery.md, "On MPI"); calls that need
 *  all processes at once are then refused: other ports, agreements. Without a message logger a logged port is an ordinary
 *  port.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_MESSAGE_LOGGER_H
#define GABION_CORE_MESSAGE_LOGGER_H

#include "core/messages/logged/msglog.h"
#include "core/messages/port.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Marks a port as logged. Call it right after gab_port_create(), in the same order on all ranks, which defines the numbers
 * of logged ports. Local. */
void gab_port_set_logged(gab_port *port);
/** Number of logged ports so far, including closed ones; the same on all. */
uint32_t gab_world_logged_ports(const gab_world *world);
/** @return the name of the logged port of that number; "" if it was closed */
const char *gab_world_logged_name(const gab_world *world, uint32_t context);

/** Counts of messages that this process sent to another one through a logged port since the last repair or
 *  gab_world_forget_sent(), while counting was on. @param[in] bytes  with envelopes, as in a message log */
typedef gab_status (*gab_sent_fn)(void *user, gab_rank target, uint64_t messages, uint64_t bytes);
/** Calls for each logged port and target. Local. @return what `call` returned */
gab_status gab_world_each_sent(const gab_world *world, gab_sent_fn call, void *user);
/** Counts from zero. Local. */
void gab_world_forget_sent(gab_world *world);
/** Turns counting on or off; initially on. A time loop turns it off in post-step and final actions, which run without the
 * message logger, so that their messages are not logged. Local. */
void gab_world_count_sent(gab_world *world, bool counts);

/** All functions are for the thread that calls MPI. `context` is the number of the logged port. */
typedef struct gab_message_logger {
  void *user;
  /** Takes a message, including its envelope, at once. @param[in,out] message  as in gab_msglog_append() */
  gab_status (*send)(void *user, gab_rank target, uint32_t context, const gab_msglog_label *label,
                     gab_buffer *message);
  /** Returns the next message if it has arrived. @param[in,out] message  replaced in that case */
  gab_status (*receive)(void *user, gab_rank source, uint32_t context, gab_buffer *message, bool *there);
  /** Whether messages to and from that rank are possible. NULL: for all */
  bool (*reaches)(void *user, gab_rank rank);
  /** Serves other processes once; called repeatedly while waiting. @return ::GAB_ERR_FAULT to unwind */
  gab_status (*serve)(void *user);
  /** On the root: makes a decision that is repeated after a restore. @param[in,out] value */
  gab_status (*decide)(void *user, uint64_t *value);
} gab_message_logger;

/** @param[in] logger  borrowed; NULL: none. Drops messages of ports in transit. Local */
void gab_world_set_message_logger(gab_world *world, const gab_message_logger *logger);
bool gab_world_has_message_logger(const gab_world *world);

/** Called by an idle spare between two polls. @param[out] took_rank  it has taken a rank, by gab_world_take_rank(), and is
 * no longer idle */
typedef gab_status (*gab_rest_fn)(void *user, bool *took_rank);
/** @param[in] call  NULL: none */
void gab_world_set_rest(gab_world *world, gab_rest_fn call, void *user);

/* ------------------------------------------------------------------------------------ claims */

enum { GAB_MOST_CLAIMS = 16 }; /* they are sent with the notes of a repair, which are short */

/** Claim of a process that took a rank without a repair. */
typedef struct gab_claim {
  gab_rank rank;
  gab_process process;
  gab_incarnation
      taken; /**< number of takeovers of the rank since the last repair; 0: of an earlier process, see below */
  gab_step restored_step; /**< of the checkpoint from which it resumed */
  gab_step lost_step;     /**< step computed when its predecessor died, as far as known; -1: unknown */
  gab_step whole_from;    /**< first checkpoint of which it stores all parts; INT64_MAX: none yet */
  double seconds;         /**< from the offer to the end of restoring */
} gab_claim;

/** This spare runs `rank` from now on, in the next incarnation. Known only to this process; the next repair informs all.
 * Local. @return ::GAB_ERR_STATE if it is not a spare */
gab_status gab_world_take_rank(gab_world *world, gab_rank rank);
/** The claim of this process, to be updated by the caller; NULL if it has none. */
gab_claim *gab_world_claim(gab_world *world);
/** Adds claims of earlier processes of this rank that died: one claim each, the earliest first, with `taken` 0; copied. At
 * most #GAB_MOST_CLAIMS - 1. Local. */
void gab_world_claim_earlier(gab_world *world, const gab_claim *earlier, int count);
/** The claims found by the last repair, the same on all; those of earlier processes precede that of the present one.
 * @param[out] count */
const gab_claim *gab_world_claims(const gab_world *world, int *count);
/** Returns the ranks of those claims to `members`, the members before. */
gab_status gab_world_apply_claims(const gab_world *world, gab_members *members);

/** Called between two polls for requests where processes share cores: releases the core, longer with more polls.
 * @param[in,out] looks  0 before the first */
void gab_world_pause(const gab_world *world, int *looks);
/** Whether the program has derived communicators (gab_world_dup(), gab_world_split()). */
bool gab_world_has_own_comms(const gab_world *world);
/** Whether the application has a mailbox: its content at a given step depends on the network. */
bool gab_world_has_mailbox(const gab_world *world);
/** Revokes the communicators without an abort request: all enter the repair. Local. */
void gab_world_call_repair(gab_world *world);
/** Drops all messages of this process in transit in all ports, including those to itself, since it rolls back alone. Local. */
void gab_world_drop_messages(gab_world *world);

/** Number of agreements, repairs and new communicators in which this process took part. */
uint64_t gab_world_meetings(const gab_world *world);

/** Like gab_world_broadcast() for a number of the root that may depend on the clock: with a message logger it is logged
 * before it is sent. Collective. */
gab_status gab_world_decide(gab_world *world, uint64_t *value);

#ifdef __cplusplus
}
#endif
#endif
