/* SPDX-License-Identifier: Apache-2.0 */
/** @file message_logger.h
 *  @brief Message loggers, which carry the messages of logged ports instead of MPI; ranks taken over without a repair.
 *
 *  A rank that rolls back alone needs the messages of *logged* ports again: ghost exchange, coupling of
 *  levels, reductions and broadcasts. While a world has a message logger, it sends and delivers them
 *  (doc/local-recovery.md, "On MPI"); everything that needs all processes at once is refused: other ports,
 *  agreements. Without a message logger a logged port is a port like any other.
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

/** The messages of a port are logged where there is a message logger. To be called right after gab_port_create(), on
 *  all alike: logged ports are numbered in this order. Local. */
void gab_port_set_logged(gab_port *port);
/** Logged ports so far, those that were closed included; the same on all. */
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
/** Turns counting on or off; it is on at first. A time loop turns it off in post-step actions and final actions, which
 *  run without the message logger, so that no log stores their messages. Local. */
void gab_world_count_sent(gab_world *world, bool counts);

/** All functions are for the thread that talks. `context` is the number of the logged port. */
typedef struct gab_message_logger {
  void *user;
  /** Takes a message, envelope included, at once. @param[in,out] message  as in gab_msglog_append() */
  gab_status (*send)(void *user, gab_rank target, uint32_t context, const gab_msglog_label *label,
                     gab_buffer *message);
  /** Gives the next message if it is there. @param[in,out] message  replaced if so */
  gab_status (*receive)(void *user, gab_rank source, uint32_t context, gab_buffer *message, bool *there);
  /** Whether that rank can be written to, and read from. NULL: all can */
  bool (*reaches)(void *user, gab_rank rank);
  /** Looks after others once: called again and again by who waits. @return ::GAB_ERR_FAULT to unwind */
  gab_status (*serve)(void *user);
  /** Of the root: makes a decision that it will make again if it comes back. @param[in,out] value */
  gab_status (*decide)(void *user, uint64_t *value);
} gab_message_logger;

/** @param[in] logger  borrowed; NULL: none any more. Drops what ports have under way. Local */
void gab_world_set_message_logger(gab_world *world, const gab_message_logger *logger);
bool gab_world_has_message_logger(const gab_world *world);

/** Called by a spare at rest between two looks. @param[out] took_rank  it has taken a rank, by gab_world_take_rank():
 *  the rest is over */
typedef gab_status (*gab_rest_fn)(void *user, bool *took_rank);
/** @param[in] call  NULL: none */
void gab_world_set_rest(gab_world *world, gab_rest_fn call, void *user);

/* ------------------------------------------------------------------------------------ claims */

enum { GAB_MOST_CLAIMS = 16 }; /* they travel with the notes of a repair, which are short */

/** What a process says of the rank that it took without a repair. */
typedef struct gab_claim {
  gab_rank rank;
  gab_process process;
  gab_incarnation
      taken; /**< number of takeovers of the rank since the last repair; 0: of an earlier life, see below */
  gab_step restored_step; /**< of the checkpoint from which it went on */
  gab_step lost_step;     /**< that was being computed when its predecessor died, as far as known; -1: not */
  gab_step whole_from;    /**< since this checkpoint it holds all it should; INT64_MAX: not yet */
  double seconds;         /**< from the offer to the end of restoring */
} gab_claim;

/** A spare runs `rank` from now on, in the next incarnation. Only this process knows; the next repair informs all.
 *  Local. @return ::GAB_ERR_STATE if it is no spare */
gab_status gab_world_take_rank(gab_world *world, gab_rank rank);
/** The claim of this process, to be kept up to date; NULL if it has none. */
gab_claim *gab_world_claim(gab_world *world);
/** Of processes that had taken the rank of this claim before and died: one claim each, the earliest first, with
 *  `taken` 0; copied. No more than #GAB_MOST_CLAIMS - 1 count. Local. */
void gab_world_claim_earlier(gab_world *world, const gab_claim *earlier, int count);
/** The claims that the last repair found, the same on all; those of earlier lives stand ahead of that of the present one.
 *  @param[out] count */
const gab_claim *gab_world_claims(const gab_world *world, int *count);
/** Lets the ranks of those claims come back in `members`, which were those before. */
gab_status gab_world_apply_claims(const gab_world *world, gab_members *members);

/** Between two looks at requests, where processes share cores: lets others have the core, the longer the more looks there
 *  have been. @param[in,out] looks  0 before the first */
void gab_world_pause(const gab_world *world, int *looks);
/** Whether the program has derived communicators (gab_world_dup(), gab_world_split()). */
bool gab_world_has_own_comms(const gab_world *world);
/** Whether the application has a mailbox: what is delivered to it by some step depends on the network. */
bool gab_world_has_mailbox(const gab_world *world);
/** Revokes the communicators without an abort request: all enter the repair. Local. */
void gab_world_call_repair(gab_world *world);
/** Drops what this process has under way in all ports, messages to itself included: it goes back alone. Local. */
void gab_world_drop_messages(gab_world *world);

/** Agreements, repairs and new communicators in which this process has taken part. */
uint64_t gab_world_meetings(const gab_world *world);

/** Like gab_world_broadcast() of a number of the root's, which is fit to depend on the clock: with a message logger it is
 *  logged before it is spread. Collective. */
gab_status gab_world_decide(gab_world *world, uint64_t *value);

#ifdef __cplusplus
}
#endif
#endif
