/* SPDX-License-Identifier: Apache-2.0 */
/** @file local.h
 *  @brief Local recovery as a state machine: only a lost rank rolls back, its partners replay to it.
 *
 *  One object per process, active or spare. It knows neither MPI nor a clock: messages leave through a transport and arrive
 *  by gab_local_deliver(); deaths are reported by gab_local_peer_down(). Specification (roles, messages, restored checkpoint,
 *  freeing of logs, transfer to the next strategy): doc/local-recovery.md. After Gamell et al. 2015 (sections 3 and 5.2);
 *  decisions, commit, the jump and the transfer to the next strategy are not in the paper.
 *
 *  Clusters (doc/clusters.md, after Ropars et al. 2013): a death rolls back all ranks of its cluster, living ones from their
 *  own images; messages within a cluster are not logged. Without clusters only the lost rank rolls back. With `own_times`
 *  clusters take checkpoints between the common ones, with their logs in the images.
 *
 *  An active process calls gab_local_send(), gab_local_receive(), gab_local_checkpoint(), gab_local_decide() and
 *  gab_local_arrive(). Calls that cannot proceed say so and are repeated after a delivery. Between two calls the process may
 *  have to restore a later checkpoint, or, where clusters have several ranks, an earlier one (`restore` is called from
 *  gab_local_deliver()).
 *
 *  Not collective, not thread safe. resilience/local/local_run_impl.h runs it on MPI.
 *
 *  Stability: internal. */
#ifndef GABION_RESILIENCE_LOCAL_H
#define GABION_RESILIENCE_LOCAL_H

#include "core/messages/logged/msglog.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_local gab_local;

enum {
  GAB_LOCAL_CONTROL = 0,   /**< the lane of the protocol; lane 1 + c is that of context c */
  GAB_LOCAL_CONTEXTS = 32, /**< contexts (logged ports) at most */
  /** Messages of a process that are replayed and not delivered yet, over all its channels; beside that, one on each
   *  channel without any (Ropars et al. 2013, section 5.2.2: up to 50 of a process). */
  GAB_LOCAL_AHEAD = 50,
  /** Of a rank in the tree of acknowledgements. A commit climbs one level each time that a process looks at its
   *  messages, which may be once a step: a flat tree commits sooner, and a death then leads back less far. */
  GAB_LOCAL_CHILDREN = 8
};

typedef enum gab_local_state {
  GAB_LOCAL_SPARE,     /**< runs no rank yet */
  GAB_LOCAL_RESTORING, /**< waits for an image; the application has nothing to do */
  GAB_LOCAL_ACTIVE,
  GAB_LOCAL_OVER /**< handed over to the next strategy */
} gab_local_state;

/** Why local recovery gives up; doc/local-recovery.md, "Transfer to the next strategy". */
typedef enum gab_local_reason {
  GAB_LOCAL_NO_CHECKPOINT,
  GAB_LOCAL_HOLDER_LOST,
  GAB_LOCAL_POOL_EMPTY,
  GAB_LOCAL_GLOBAL_SECTION,
  GAB_LOCAL_REASON_COUNT
} gab_local_reason;

/** @return a fixed English name, e.g. "pool empty" */
const char *gab_local_reason_name(gab_local_reason reason);

/** How messages leave. Messages of one lane to one process arrive in the order of sending, those to the dead are
 * lost. Whoever sends to a dead process, or has it as a partner, is told by gab_local_peer_down() at some time,
 * once or more often. */
typedef struct gab_local_transport {
  void *user;
  /** Sends head and payload as one message. Both may change after the return, but the payload of a logged
   * message stays as long as its entry is held.
   *  @param[in] entry  of the payload in the message log; NULL: the payload is no logged message */
  gab_status (*send)(void *user, gab_process target, uint32_t lane, const gab_buffer *head,
                     const void *payload, size_t bytes, gab_msglog_entry *entry);
  /** The local strategy ends here, for all: `rank` cannot be brought back. Called once. */
  void (*hand_over)(void *user, gab_local_reason reason, gab_rank rank);
} gab_local_transport;

/** A message that a rank which came back has made again, and otherwise. */
typedef struct gab_local_difference {
  gab_rank from, to;
  uint32_t context;
  uint64_t number;        /**< on its channel */
  gab_msglog_label label; /**< as it is now */
  gab_step first_step;    /**< in which it was sent the first time */
} gab_local_difference;

typedef struct gab_local_application {
  void *user;
  /** The rank that keeps the image of `rank`; a pure function, the same on all. */
  gab_rank (*holder)(void *user, gab_rank rank);
  /** The cluster of `rank`: all ranks with the same number go back together. A pure function, the same on all; NULL:
   *  each rank is one by itself. */
  gab_rank (*cluster)(void *user, gab_rank rank);
  /** Becomes the state of `rank` at `checkpoint`. @param[in] image  as given to gab_local_checkpoint() */
  gab_status (*restore)(void *user, gab_rank rank, gab_step checkpoint, gab_reader image);
  /** Says that a message was made otherwise, where setup.verify is on. @return an error, which gab_local_deliver()
   *  returns */
  gab_status (*differs)(void *user, const gab_local_difference *difference);
} gab_local_application;

typedef struct gab_local_setup {
  gab_rank ranks; /**< at least 2; their processes are 0 … ranks-1, those of spares come behind */
  gab_process spares;
  gab_process process;        /**< this process */
  uint32_t contexts;          /**< at most #GAB_LOCAL_CONTEXTS */
  uint64_t ahead;             /**< #GAB_LOCAL_AHEAD; at least 2 */
  gab_rank children;          /**< #GAB_LOCAL_CHILDREN; at least 1; the same on all */
  size_t copy_below;          /**< of the message log */
  const gab_rank *neighbours; /**< with whom this rank exchanges logged messages; a spare has none */
  int32_t neighbour_count;
  const gab_rank *protected_ranks; /**< whose images this rank keeps */
  int32_t protected_count;
  bool
      verify; /**< hashes of messages that are left out are compared with those of the first time; the same on all */
  size_t unhashed; /**< bytes at the head of a message that are not compared: they differ from life to life */
  /** Clusters may take checkpoints of their own (gab_local_checkpoint_own()), and go back to them; the same on all.
   *  Each message has to be received in the step in which it was sent. */
  bool own_times;
} gab_local_setup;

typedef struct gab_local_stats {
  uint64_t duplicates;        /**< messages dropped by their number */
  uint64_t stale;             /**< messages dropped since they came from or for another life */
  uint64_t left_out;          /**< sends that the other side had already */
  uint64_t compared;          /**< thereof of others: their hashes were compared here */
  uint64_t replayed;          /**< messages sent again from the message log */
  uint64_t takeovers;         /**< ranks given to spares by this holder */
  uint64_t jumps;             /**< restored again, from a later checkpoint */
  uint64_t rollbacks;         /**< restored again with its cluster, an image that it kept or fetched */
  uint64_t logged_bytes;      /**< of all messages to other clusters, each time they are made */
  uint64_t own_checkpoints;   /**< taken by the cluster alone */
  uint64_t restored_messages; /**< of a log, that came with an image */
} gab_local_stats;

/** @param[in] setup  read during the call only @param[in] transport,application  copied */
gab_status gab_local_create(const gab_local_setup *setup, const gab_local_transport *transport,
                            const gab_local_application *application, gab_local **local);
void gab_local_destroy(gab_local **local);

/* ---- what the transport tells */

/** A message has come. @param[in,out] payload  NULL: it stands in `bytes`, behind the head. Else `bytes` are the head alone, and
 *  it may be exchanged for another buffer @return what a callback returned; ::GAB_ERR_CORRUPT for a message that cannot be */
gab_status gab_local_deliver(gab_local *local, gab_process source, uint32_t lane, const void *bytes,
                             size_t count, gab_buffer *payload);
/** `process` is dead, which is true and final. */
gab_status gab_local_peer_down(gab_local *local, gab_process process);

/* ---- what the application does; only while active, else ::GAB_ERR_STATE */

/** Sends the next logged message of a channel: to the message log, and on its way if the target can be reached
 * and lacks it.
 *  @param[in,out] message  as in gab_msglog_append() */
gab_status gab_local_send(gab_local *local, gab_rank target, uint32_t context, const gab_msglog_label *label,
                          gab_buffer *message);
/** Takes the next message of a channel if it is there. It counts as delivered then.
 *  @param[in,out] message  replaced if there is one @param[out] label  may be NULL */
gab_status gab_local_receive(gab_local *local, gab_rank source, uint32_t context, gab_buffer *message,
                             gab_msglog_label *label, bool *there);
/** Takes a checkpoint, which all ranks take at that step. @param[out] taken  false: the one before is not known to be
 *  committed yet, or hashes of what was left out are not compared yet; call again */
gab_status gab_local_checkpoint(gab_local *local, gab_step step, const gab_buffer *image, bool *taken);
/** Takes one that only the ranks of this cluster take at that step (setup.own_times). Nothing that was sent within the
 *  cluster may be under way; nothing is asked of others. Nobody but the cluster goes back to it: it is none for the
 *  next strategy.
 *  @param[out] taken  as above; the one before, of either kind, has to be committed in the cluster */
gab_status gab_local_checkpoint_own(gab_local *local, gab_step step, const gab_buffer *image, bool *taken);
/** Decides something that depends on the clock. @param[in] proposal  used unless it was decided before
 *  @param[out] decided  false: it is not logged yet; call again @param[out] value  what was decided */
gab_status gab_local_decide(gab_local *local, uint64_t proposal, uint64_t *value, bool *decided);
/** Wants all to stop, for a reason that is not 0: whoever runs the first rank hears of it in time, unless those on the
 *  way die. */
gab_status gab_local_ask_to_stop(gab_local *local, uint64_t why);
/** @return the reason for which some rank has asked, as far as has come here; 0: none */
uint64_t gab_local_asked_to_stop(const gab_local *local);
/** Of the first rank, ahead of each checkpoint: why all stop at the one after it. Logged, so that who comes back says
 *  the same.
 *  @param[in] proposal  used unless it was decided before; 0: all go on */
gab_status gab_local_answer(gab_local *local, gab_step checkpoint, uint64_t proposal);
/** Whether the last checkpoint that this rank took is known to be committed, and the next one can be taken; with the
 *  commit all know whether they stop at the next.
 *  @param[out] why  the reason to stop there; 0: go on */
bool gab_local_stops(const gab_local *local, uint64_t *why);
/** Comes to the next global section, as soon as all hashes of what was left out are compared. To be called again until
 *  gab_local_is_inside(). */
gab_status gab_local_arrive(gab_local *local);
bool gab_local_is_inside(const gab_local *local);
gab_status gab_local_leave(gab_local *local);
/** Within a global section: with whom this rank exchanges logged messages from now on. All ranks do so in the same
 *  section, so that neighbours are so of each other. Who was one before and is nothing else (holder, protected rank,
 *  in the tree) is no partner any more. To be called before anything of who has left is delivered, and where nobody
 *  came back in this generation (who did is not known to new neighbours).
 *  @return ::GAB_ERR_STATE outside of a section, if this rank came back or knows of one that did, or if a message of
 *  who ceases to be a partner is there and was not received */
gab_status gab_local_set_neighbours(gab_local *local, const gab_rank *neighbours, int32_t count);

/** Whether nothing is open here: the last checkpoint is known to be committed, the copies of it that this rank keeps
 *  for others are here, all partners are up, and what was left out is compared. Who comes to a global section waits for
 *  that. */
bool gab_local_is_settled(const gab_local *local);

/** Whether messages can be sent to that rank and received from it: it is a partner. */
bool gab_local_is_partner(const gab_local *local, gab_rank rank);

/** Whether some neighbour has messages, or had some before it went back with the cluster, that this rank has not made
 *  again yet, or was not greeted since it came back. What nobody alive has had is not known: of a rank whose neighbours
 *  are lost with it. */
bool gab_local_is_behind(const gab_local *local);

/* ---- for the next strategy */

/** @param[in] image  as given to gab_local_checkpoint(); valid during the call */
typedef gab_status (*gab_local_image_fn)(void *user, gab_step checkpoint, gab_reader image);
/** The images of `rank` that are kept here, the oldest first: the own ones, or those of a protected rank; of common
 *  checkpoints. None of others.
 *  @return what `call` returned; ::GAB_ERR_CORRUPT */
gab_status gab_local_each_image(const gab_local *local, gab_rank rank, gab_local_image_fn call, void *user);

/* ---- facts */

/** Whether a message may be followed by others from its sender: all but the note in which a process tells which rank
 *  it runs. */
bool gab_local_is_followed(const gab_local *local, uint32_t lane, const void *bytes, size_t count);
gab_local_state gab_local_state_of(const gab_local *local);
/** @return the process that runs `rank`, as far as this process knows. A spare hears of each other spare that takes
 *  a rank */
gab_process gab_local_process_of(const gab_local *local, gab_rank rank);
/** @return the rank that this process runs or is about to, GAB_NO_RANK if none */
gab_rank gab_local_rank(const gab_local *local);
/** @return how often spares have taken over this rank, this process included */
uint32_t gab_local_taken_over(const gab_local *local);
/** @return the same of this rank and of all below it in the tree of acknowledgements, as of their last notes; of
 *  rank 0: of all */
uint32_t gab_local_taken_known(const gab_local *local);
/** @return the newest checkpoint known to be committed by all, -1 if none */
gab_step gab_local_committed(const gab_local *local);
/** @return the newest checkpoint of either kind known to be committed in the own cluster, -1 if none; without own times
 *  as above */
gab_step gab_local_committed_in_cluster(const gab_local *local);
gab_local_stats gab_local_statistics(const gab_local *local);
gab_msglog *gab_local_msglog(gab_local *local);

#ifdef __cplusplus
}
#endif
#endif
