/* SPDX-License-Identifier: Apache-2.0 */
/** @file local.h
 *  @brief Local recovery as a state machine: only a lost rank rolls back, its partners replay to it.
 *
 *  One object per process, active or spare. It knows neither MPI nor a clock: messages leave through a transport and
 *  arrive by gab_local_deliver(); deaths are reported by gab_local_peer_down(). Specification (roles, messages,
 *  restored checkpoint, freeing of logs, transfer to the next strategy): doc/local-recovery.md. After Gamell et al.
 *  2015 (sections 3 and 5.2); decisions, commit, the jump and the transfer to the next strategy are not in the paper.
 *
 *  Clusters (doc/clusters.md, after Ropars et al. 2013): a death rolls back all ranks of its cluster, living ones from
 *  their own images; messages within a cluster are not logged. Without clusters only the lost rank rolls back. With
 *  `own_times` clusters take checkpoints between the common ones, with their logs in the images.
 *
 *  An active process calls gab_local_send(), gab_local_receive(), gab_local_checkpoint(), gab_local_decide() and
 *  gab_local_arrive(). A call that cannot proceed returns false in its output flag and is repeated after a delivery.
 *  Between two calls the process may have to restore a later checkpoint, or, in clusters of several ranks, an earlier
 *  one (gab_local_deliver() then calls `restore`).
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
  GAB_LOCAL_CONTROL = 0,   /**< lane of the protocol; context c has lane 1 + c */
  GAB_LOCAL_CONTEXTS = 32, /**< maximum number of contexts (logged ports) */
  /** Maximum number of replayed messages of a process that are not delivered yet, over all its channels; in
   * addition, one on each channel without such a message (Ropars et al. 2013, section 5.2.2: up to 50 per process). */
  GAB_LOCAL_AHEAD = 50,
  /** Children of a rank in the tree of acknowledgements. A commit climbs one level whenever a process checks its
   * messages, which may be once per step. So a flat tree commits sooner, and a death undoes fewer steps. */
  GAB_LOCAL_CHILDREN = 8
};

typedef enum gab_local_state {
  GAB_LOCAL_SPARE,     /**< runs no rank yet */
  GAB_LOCAL_RESTORING, /**< waits for an image; the application has nothing to do */
  GAB_LOCAL_ACTIVE,
  GAB_LOCAL_OVER /**< handed over to the next strategy */
} gab_local_state;

/** Reason of a transfer to the next strategy: doc/local-recovery.md, "Transfer to the next strategy". */
typedef enum gab_local_reason {
  GAB_LOCAL_NO_CHECKPOINT,
  GAB_LOCAL_HOLDER_LOST,
  GAB_LOCAL_POOL_EMPTY,
  GAB_LOCAL_GLOBAL_SECTION,
  GAB_LOCAL_REASON_COUNT
} gab_local_reason;

/** @return a fixed English name, e.g. "pool empty" */
const char *gab_local_reason_name(gab_local_reason reason);

/** Transport of outgoing messages. Messages of one lane to one process arrive in the order of sending; messages to
 * dead processes are lost. A sender to a dead process, and each of its partners, is notified by
 * gab_local_peer_down() eventually, at least once. */
typedef struct gab_local_transport {
  void *user;
  /** Sends head and payload as one message. Both may change after the return, but the payload of a logged
   * message stays as long as its entry is held.
   *  @param[in] entry  of the payload in the message log; NULL: the payload is not a logged message */
  gab_status (*send)(void *user, gab_process target, uint32_t lane, const gab_buffer *head,
                     const void *payload, size_t bytes, gab_msglog_entry *entry);
  /** Ends local recovery on all ranks, since `rank` cannot be restored. Called once. */
  void (*hand_over)(void *user, gab_local_reason reason, gab_rank rank);
} gab_local_transport;

/** A message that a restored rank has recomputed with a different content. */
typedef struct gab_local_difference {
  gab_rank from, to;
  uint32_t context;
  uint64_t number;        /**< sequence number on its channel */
  gab_msglog_label label; /**< of the recomputed message */
  gab_step first_step;    /**< step in which it was first sent */
} gab_local_difference;

typedef struct gab_local_application {
  void *user;
  /** Returns the rank that stores the image of `rank`. Pure, the same on all. */
  gab_rank (*holder)(void *user, gab_rank rank);
  /** Returns the cluster of `rank`: ranks with equal numbers roll back together. Pure, the same on all; NULL: each
   * rank is a cluster. */
  gab_rank (*cluster)(void *user, gab_rank rank);
  /** Restores the state of `rank` at `checkpoint`. @param[in] image as passed to gab_local_checkpoint() */
  gab_status (*restore)(void *user, gab_rank rank, gab_step checkpoint, gab_reader image);
  /** Reports a recomputed message with a different content; with setup.verify only. @return an error, which
   * gab_local_deliver() returns */
  gab_status (*differs)(void *user, const gab_local_difference *difference);
} gab_local_application;

typedef struct gab_local_setup {
  gab_rank ranks; /**< at least 2; processes 0 … ranks-1 run them, spares follow */
  gab_process spares;
  gab_process process;        /**< this process */
  uint32_t contexts;          /**< at most #GAB_LOCAL_CONTEXTS */
  uint64_t ahead;             /**< #GAB_LOCAL_AHEAD; at least 2 */
  gab_rank children;          /**< #GAB_LOCAL_CHILDREN; at least 1; the same on all */
  size_t copy_below;          /**< bytes: the message log copies shorter messages */
  const gab_rank *neighbours; /**< ranks that exchange logged messages with this one; none for a spare */
  int32_t neighbour_count;
  const gab_rank *protected_ranks; /**< ranks whose images this rank stores */
  int32_t protected_count;
  bool verify;     /**< compare hashes of recomputed messages with the first ones; the same on all */
  size_t unhashed; /**< bytes at the head of a message that are not compared: they name incarnations */
  /** Clusters may take separate checkpoints (gab_local_checkpoint_own()) and roll back to them; the same on all.
   * Each message must be received in the step in which it was sent. */
  bool own_times;
} gab_local_setup;

typedef struct gab_local_stats {
  uint64_t duplicates;        /**< messages dropped for their sequence number */
  uint64_t stale;             /**< messages dropped because they belong to another life */
  uint64_t left_out;          /**< sends omitted because the receiver has the message */
  uint64_t compared;          /**< hashes of omitted messages of others compared here */
  uint64_t replayed;          /**< messages sent again from the message log */
  uint64_t takeovers;         /**< ranks that this holder has passed to spares */
  uint64_t jumps;             /**< further restores, from a later checkpoint */
  uint64_t rollbacks;         /**< restores together with the cluster, from an own or fetched image */
  uint64_t logged_bytes;      /**< of all messages to other clusters, recomputed ones included */
  uint64_t own_checkpoints;   /**< taken by the cluster only */
  uint64_t restored_messages; /**< messages of a log restored from an image */
} gab_local_stats;

/** @param[in] setup  read during the call only @param[in] transport,application  copied */
gab_status gab_local_create(const gab_local_setup *setup, const gab_local_transport *transport,
                            const gab_local_application *application, gab_local **local);
void gab_local_destroy(gab_local **local);

/* ---- calls of the transport */

/** Processes a message. @param[in,out] payload NULL: `bytes` contains head and payload. Else `bytes` is the head only, and the
 * function may exchange the payload for another buffer @return the status of a callback; ::GAB_ERR_CORRUPT for an invalid message */
gab_status gab_local_deliver(gab_local *local, gab_process source, uint32_t lane, const void *bytes,
                             size_t count, gab_buffer *payload);
/** Reports that `process` is dead. Must be true; final. */
gab_status gab_local_peer_down(gab_local *local, gab_process process);

/* ---- calls of the application; ::GAB_ERR_STATE unless active */

/** Logs the next message of a channel, and sends it if the target is
 * reachable and lacks it. @param[in,out] message as in
 * gab_msglog_append() */
gab_status gab_local_send(gab_local *local, gab_rank target, uint32_t context, const gab_msglog_label *label,
                          gab_buffer *message);
/** Takes the next message of a channel, if it has arrived; it is then delivered. @param[in,out] message replaced if
 * one has arrived @param[out] label may be NULL */
gab_status gab_local_receive(gab_local *local, gab_rank source, uint32_t context, gab_buffer *message,
                             gab_msglog_label *label, bool *there);
/** Takes a common checkpoint: all ranks take one at that step. @param[out] taken false: the previous one is not
 * known to be committed, or hashes of omitted messages are not compared; call again */
gab_status gab_local_checkpoint(gab_local *local, gab_step step, const gab_buffer *image, bool *taken);
/** Takes a checkpoint of this cluster only (setup.own_times). No message within the cluster may be in
 * transit; other clusters are not involved. Only this cluster rolls back to it; the next strategy does not
 * use it. @param[out] taken as above; the previous checkpoint, of either kind, must be committed in the
 * cluster */
gab_status gab_local_checkpoint_own(gab_local *local, gab_step step, const gab_buffer *image, bool *taken);
/** Logs a decision that depends on the clock, so that a restored rank decides the same. @param[in] proposal used unless
 * the decision is in the log @param[out] decided false: not logged yet; call again @param[out] value the decision */
gab_status gab_local_decide(gab_local *local, uint64_t proposal, uint64_t *value, bool *decided);
/** Requests a stop of all ranks, for a nonzero reason. The first rank eventually receives the request unless ranks
 * on its way die. */
gab_status gab_local_ask_to_stop(gab_local *local, uint64_t why);
/** @return the reason of a stop request known here; 0: none */
uint64_t gab_local_asked_to_stop(const gab_local *local);
/** Called by the first rank before each checkpoint: the reason why all stop at the next checkpoint after it. Logged,
 * so that a restored rank gives the same answer. @param[in] proposal used unless the answer is in the log; 0:
 * continue */
gab_status gab_local_answer(gab_local *local, gab_step checkpoint, uint64_t proposal);
/** Whether the last checkpoint of this rank is known to be committed, so that the next one can be taken. With the
 * commit all ranks know whether they stop at the next checkpoint. @param[out] why the reason to stop there; 0:
 * continue */
bool gab_local_stops(const gab_local *local, uint64_t *why);
/** Announces the arrival at the next global section, as soon as all hashes of omitted messages are compared. Repeat
 * the call until gab_local_is_inside(). */
gab_status gab_local_arrive(gab_local *local);
bool gab_local_is_inside(const gab_local *local);
gab_status gab_local_leave(gab_local *local);
/** Replaces the neighbours, i.e. the ranks that exchange logged messages with this one. All ranks call it in the
 * same global section, so the relation stays symmetric. A former neighbour without another role (holder, protected
 * rank, relative in the tree) is no longer a partner. Call it before messages of ranks that have left the section
 * are delivered, and only if no rank was restored in this generation, since new neighbours do not know its
 * incarnation. @return ::GAB_ERR_STATE outside of a section, if this rank was restored or knows of a restored one,
 * or if a message of a former partner was not received */
gab_status gab_local_set_neighbours(gab_local *local, const gab_rank *neighbours, int32_t count);

/** Whether no work is pending here: the last checkpoint is known to be committed, this rank has the copies of it
 * that it stores for others, all partners are up, and hashes of omitted messages are compared. A rank that arrives
 * at a global section waits for this. */
bool gab_local_is_settled(const gab_local *local);

/** Whether that rank is a partner, so that messages can be exchanged with it. */
bool gab_local_is_partner(const gab_local *local, gab_rank rank);

/** Whether this rank has not caught up: a neighbour has messages of it, or had them before it rolled back with its
 * cluster, that this rank has not recomputed; or the neighbour has not been greeted since this rank was restored.
 * Messages that only dead neighbours had are unknown. */
bool gab_local_is_behind(const gab_local *local);

/* ---- for the next strategy */

/** @param[in] image as passed to gab_local_checkpoint(); valid during the call */
typedef gab_status (*gab_local_image_fn)(void *user, gab_step checkpoint, gab_reader image);
/** Calls `call` for each stored image of `rank` at common checkpoints, oldest first: own images,
 * or those of a protected rank. Other ranks have none. @return the status of `call`;
 * ::GAB_ERR_CORRUPT */
gab_status gab_local_each_image(const gab_local *local, gab_rank rank, gab_local_image_fn call, void *user);

/* ---- queries */

/** Whether further messages of the sender may follow. False only for the note in which a process announces its
 * rank. */
bool gab_local_is_followed(const gab_local *local, uint32_t lane, const void *bytes, size_t count);
gab_local_state gab_local_state_of(const gab_local *local);
/** @return the process that runs `rank`, as known here. A spare is notified of each other spare that takes a
 * rank */
gab_process gab_local_process_of(const gab_local *local, gab_rank rank);
/** @return the rank that this process runs or is about to run, GAB_NO_RANK if none */
gab_rank gab_local_rank(const gab_local *local);
/** @return how often spares have taken over this rank, this process included */
uint32_t gab_local_taken_over(const gab_local *local);
/** @return the sum of takeovers of this rank and its descendants in the tree of acknowledgements, as of their last
 * notes; on rank 0, of all ranks */
uint32_t gab_local_taken_known(const gab_local *local);
/** @return the newest checkpoint known to be committed by all, -1 if none */
gab_step gab_local_committed(const gab_local *local);
/** @return the newest checkpoint of either kind known to be committed in the own cluster, -1 if none; without
 * own_times as above */
gab_step gab_local_committed_in_cluster(const gab_local *local);
gab_local_stats gab_local_statistics(const gab_local *local);
gab_msglog *gab_local_msglog(gab_local *local);

#ifdef __cplusplus
}
#endif
#endif
