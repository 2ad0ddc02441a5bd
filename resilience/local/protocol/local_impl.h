/* SPDX-License-Identifier: Apache-2.0 */
/** @file local_impl.h
 *  @brief Internal declarations of the state machine of local recovery.
 *
 *  local.c (creation, dispatch), local_partner.c (partners), local_note.c (control messages, process of each rank),
 *  local_channel.c (greeting, sequence numbers, replay), local_replay.c (limit of a replay), local_verify.c (hashes of
 *  omitted messages), local_takeover.c (deaths, holder, spare), local_commit.c (checkpoints, tree, decisions,
 *  sections), local_stop.c (stop requests), local_image.c (the machine's part of an image), local_keep.c (stored images
 *  and decisions), local_cluster.c (clusters of several ranks), local_own.c (checkpoints of a single cluster).
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_RESILIENCE_LOCAL_IMPL_H
#define GABION_RESILIENCE_LOCAL_IMPL_H

#include "resilience/local/protocol/local.h"

/** Sequence numbers of channels that were created in global section n (from 1) begin at n times 2 to the power of
 * this. */
enum { GAB_LOCAL_SECTION_SHIFT = 32 };

typedef enum gab_local_kind {
  NOTE_HELLO,
  NOTE_PROGRESS,
  NOTE_LOST,
  NOTE_OFFER,
  NOTE_ACCEPT,
  NOTE_REFUSE,
  NOTE_IMAGE,
  NOTE_FETCH,
  NOTE_WHO,
  NOTE_RUNS,
  NOTE_NOT_ME,
  NOTE_COPY,
  NOTE_COPIED,
  NOTE_HAVE,
  NOTE_COMMITTED,
  NOTE_DECISION,
  NOTE_DECIDED,
  NOTE_HASH,
  NOTE_COMPARED,
  NOTE_CLUSTER_HAVE,
  NOTE_CLUSTER_COMMITTED,
  NOTE_RECEIVED,
  NOTE_KIND_COUNT
} gab_local_kind;

/** The fields of a control message; the kind determines the ones in use (doc/local-recovery.md). */
typedef struct gab_local_note {
  uint32_t kind;
  gab_rank from;
  gab_incarnation from_incarnation;
  uint32_t from_life;
  uint32_t from_taken,
      taken_below; /**< set by gab_local_tell(): takeovers of the sender, and with its descendants */
  gab_rank about;
  gab_incarnation about_incarnation;
  gab_process about_process;
  gab_step checkpoint;
  uint64_t number, value;
  gab_step stop_behind; /**< set by gab_local_tell(): local_stop.c */
  uint64_t stop_why;
  /* with own times only */
  gab_step committed, cluster_committed; /**< known to the sender; set by gab_local_tell() */
  uint8_t own;                           /**< COPY, COPIED, IMAGE: of a checkpoint of a single cluster */
} gab_local_note;

/** A message that has arrived and is not delivered. */
typedef struct gab_local_arrival {
  gab_buffer bytes;
  gab_msglog_label label;
  bool wants_note; /**< replayed; the sender expects a note on delivery */
} gab_local_arrival;

/** Hash of a received message. */
typedef struct gab_local_hash {
  uint64_t value;
  gab_step step; /**< step in which it was sent */
} gab_local_hash;

/** Hashes from sequence number `base` on; empty without `verify`. */
typedef struct gab_local_hashes {
  gab_local_hash *list;
  size_t count, capacity;
  uint64_t base;
} gab_local_hashes;

/** Both directions between a partner and this rank in one context. */
typedef struct gab_local_channel {
  uint64_t delivered; /**< to the application of this rank */
  gab_local_arrival *arrived;
  size_t arrived_count;
  gab_local_hashes hashes;
  uint64_t handled; /**< messages of this life below this number are sent, or omitted and their hashes sent */
  uint64_t sent;    /**< the partner has the messages below, or they are in transit to its present life */
  /* of the partner's present life */
  uint64_t replayed;     /**< messages below were replayed, or it had them when it greeted */
  uint64_t acknowledged; /**< messages below are delivered, as it has reported */
  bool is_replaying;
  /* with clusters, over all lives of both ranks; never decrease */
  uint64_t reached; /**< messages of the partner that have arrived here, in any life */
  uint64_t had; /**< messages of this rank that had arrived at the partner, or were sent, before a rollback */
} gab_local_channel;

/** A stored image: part of the machine, then part of the application. */
typedef struct gab_local_image {
  gab_step checkpoint;
  bool own;           /**< checkpoint of the cluster only */
  uint64_t decisions; /**< number of decisions before it */
  gab_buffer bytes;
} gab_local_image;

typedef struct gab_local_images {
  /** Ascending by checkpoint; two, with own_times two of each kind, and temporarily more during a change. */
  gab_local_image list[8];
  int count;
  gab_buffer idle; /**< memory of a dropped image, reused for its touched pages */
} gab_local_images;

/** Decisions from number `base` on. */
typedef struct gab_local_decisions {
  uint64_t *values;
  uint64_t base, count;
} gab_local_decisions;

enum {
  ROLE_NEIGHBOUR = 1,
  ROLE_HOLDER = 2,
  ROLE_PROTECTED = 4,
  ROLE_PARENT = 8,
  ROLE_CHILD = 16,
  ROLE_MEMBER = 32
};

typedef struct gab_local_partner {
  gab_rank rank;
  uint32_t roles;
  bool is_inner; /**< in the own cluster: messages to it are not logged */
  bool is_up;    /**< greeted in its present life */
  bool is_down;  /**< its process is dead, no successor known */
  bool was_met;  /**< greeted in some life since the start of this process */
  uint32_t life; /**< of its incarnation */
  gab_local_channel channels[GAB_LOCAL_CONTEXTS];
  gab_process asking; /**< number of the spare that was asked for the process of the rank; -1: none */
  uint64_t hashes_sent,
      hashes_answered; /**< hashes of omitted messages: number sent to it, and compared there */
  /* a child */
  gab_step have;
  uint64_t arrived;
  uint32_t taken_below; /**< reported takeovers of it and its descendants */
  /* with own times */
  gab_step cluster_have; /**< child in the tree of members: it and its descendants have that checkpoint */
  gab_step cluster_committed; /**< in its cluster, as it has reported */
  /* a protected rank */
  gab_local_images images;
  gab_local_decisions decisions;
  bool is_offered; /**< to the spare number `tried` */
  gab_incarnation offer_incarnation;
  gab_process tried;   /**< number of spares asked; a spare never becomes free again */
  uint32_t taken_over; /**< known number of acceptances of the rank by spares */
  gab_process *askers; /**< processes that have asked for the process of the rank */
  size_t asker_count;
} gab_local_partner;

/** A rank that a replacement process runs. */
typedef struct gab_local_address {
  gab_rank rank;
  gab_process process;
  gab_incarnation incarnation;
} gab_local_address;

/** A rank of the own cluster. */
typedef struct gab_local_member {
  gab_rank rank;
  gab_incarnation incarnation; /**< messages of earlier incarnations are undone */
} gab_local_member;

typedef struct gab_local_deferred {
  gab_process source;
  gab_buffer bytes;
} gab_local_deferred;

struct gab_local {
  gab_local_setup setup; /**< without the lists */
  gab_local_transport transport;
  gab_local_application application;
  gab_local_state state;
  gab_rank rank;
  gab_incarnation incarnation;
  uint32_t life; /**< number of restores */
  /** Number of spares that have accepted this rank and were sent its image. The incarnation may be higher: it also
   * counts spares that died before their acceptance arrived. */
  uint32_t taken_over;
  gab_process image_from; /**< while restoring */
  gab_local_address *addresses;
  size_t address_count;
  gab_local_partner *partners; /**< ascending by rank */
  size_t partner_count;
  gab_local_member
      *members; /**< of the own cluster, this rank included, ascending; the same list on all members */
  size_t member_count;
  gab_step
      line; /**< checkpoint from which the cluster resumes; with members[].incarnation the recovery line */
  gab_local_deferred *deferred; /**< notes that arrived while restoring, in order */
  size_t deferred_count;
  gab_buffer head; /**< head of the message being sent */
  gab_msglog *msglog;
  /* checkpoints; -1: none */
  gab_step taken, acknowledged, committed;
  gab_step common, common_acknowledged; /**< the newest common checkpoint; without own_times as above */
  gab_step cluster_committed, reported_cluster_have; /**< with own_times only */
  gab_step base; /**< the message log is complete from this checkpoint on */
  gab_local_images images;
  gab_incarnation renewed; /**< incarnation of the holder that has the images */
  gab_step reported_have;
  uint64_t reported_arrived;
  /* global sections, counted from 1 */
  uint64_t arrived, entered, left;
  /* decisions */
  gab_local_decisions decisions;
  uint64_t decided;        /**< returned to the application */
  uint64_t decided_logged; /**< acknowledged by the holder */
  /* stopping; reasons are not 0 */
  uint64_t asked_to_stop; /**< here or by a descendant; reported to the parent */
  gab_step answered;      /**< first rank: checkpoint of its last answer, which is not public yet */
  uint64_t answer;        /**< 0: continue */
  gab_step stop_behind;   /**< all stop at the checkpoint after this one, if stop_why is nonzero */
  uint64_t stop_why;
  gab_local_stats stats;
};

/* local_note.c */
gab_process gab_local_process(const gab_local *local, gab_rank rank);
gab_incarnation gab_local_incarnation_of(const gab_local *local, gab_rank rank);
/** Stores the process of a rank; of two incarnations the later one is valid. */
gab_status gab_local_learn(gab_local *local, gab_rank rank, gab_process process, gab_incarnation incarnation);
gab_status gab_local_pack_addresses(const gab_local *local, gab_buffer *out);
gab_status gab_local_unpack_addresses(gab_local *local, gab_reader *in);
/** Fills in the fields of the sender and sends the note. @param[in] body may be NULL */
gab_status gab_local_tell(gab_local *local, gab_process target, gab_local_note note, const gab_buffer *body);
/** Updates the known number of takeovers of the sender's rank. */
void gab_local_learn_taken(const gab_local *local, const gab_local_note *note);
gab_status gab_local_read_note(const gab_local *local, gab_reader *in, gab_local_note *note);

/* local.c */
gab_status gab_local_hand_over(gab_local *local, gab_local_reason reason, gab_rank rank);

/* local_partner.c */
/** Returns NULL if the rank is not a partner. Valid until partners are added or dropped. */
gab_local_partner *gab_local_find(const gab_local *local, gab_rank rank);
gab_status gab_local_add_partner(gab_local *local, gab_rank rank, uint32_t roles);
gab_status gab_local_add_relatives(gab_local *local);
void gab_local_release_partner(gab_local_partner *partner);
/** Forgets partners without a role, and their channels. */
void gab_local_drop_former(gab_local *local);
/** Returns the partner if the note comes from its known active process, else NULL. */
gab_local_partner *gab_local_current(const gab_local *local, gab_process source, const gab_local_note *note);

/* local_channel.c */
gab_status gab_local_greet(gab_local *local, const gab_local_partner *partner, bool answer);
gab_status gab_local_on_hello(gab_local *local, gab_process source, const gab_local_note *note,
                              gab_reader *in);
gab_status gab_local_on_message(gab_local *local, gab_process source, uint32_t context, gab_reader in,
                                gab_buffer *payload);
void gab_local_forget_arrivals(gab_local_partner *partner);
/** Sends messages that the partner lacks, within the limit of a replay. */
gab_status gab_local_pump(gab_local *local, gab_local_partner *to, uint32_t context);

/* local_replay.c */
/** Returns the number of messages that may be replayed on that channel now. @param[in] left number still to be
 * replayed */
uint64_t gab_local_may_replay(const gab_local *local, const gab_local_channel *channel, uint64_t left);
/** Begins a replay to a partner in a new life, which has the messages below `sent`. @param[in] next number of
 * messages logged */
void gab_local_begin_replay(gab_local_channel *channel, uint64_t next);
gab_status gab_local_on_progress(gab_local *local, gab_process source, const gab_local_note *note);

/* local_verify.c */
/** Stores the hash of a message that has just arrived. Does nothing without `verify`. */
gab_status gab_local_keep_hash(const gab_local *local, gab_local_channel *channel,
                               const gab_local_arrival *arrival);
/** Drops hashes from that number on, since these messages will be sent again. */
void gab_local_forget_hashes(gab_local_channel *channel, uint64_t from);
/** Drops the hashes of all delivered messages, since this rank was restored. */
void gab_local_restart_hashes(gab_local_channel *channel);
/** Frees hashes of messages before that checkpoint, to which no rank will roll back. */
void gab_local_free_hashes(gab_local *local, gab_step before);
/** Omits recomputed messages that the partner has, and sends their hashes instead. */
gab_status gab_local_leave_out(gab_local *local, gab_local_partner *to, uint32_t context);
/** Whether all live partners have compared the hashes that were sent to them. */
bool gab_local_is_verified(const gab_local *local);
gab_status gab_local_on_hash(gab_local *local, gab_process source, const gab_local_note *note,
                             gab_reader *in);
gab_status gab_local_on_compared(gab_local *local, gab_process source, const gab_local_note *note);

/* local_takeover.c */
gab_status gab_local_mark_down(gab_local *local, gab_local_partner *partner);
gab_status gab_local_on_lost(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_offer(gab_local *local, gab_process source, const gab_local_note *note);
/** Notifies all other spares that this process runs its rank now. */
gab_status gab_local_tell_spares(gab_local *local);
gab_status gab_local_on_accept(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_refuse(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_fetch(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_who(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_runs(gab_local *local, const gab_local_note *note);
/** Called when a partner greets for the first time in a life: it may store images of lost ranks. */
gab_status gab_local_on_new_process(gab_local *local, gab_rank rank);
gab_status gab_local_on_not_me(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_spare_down(gab_local *local, gab_process process);
/** Answers the askers of a partner whose active process is known again. */
gab_status gab_local_answer_askers(gab_local *local, gab_local_partner *partner);
/** Restores again, from a later checkpoint. */
gab_status gab_local_jump(gab_local *local, gab_step checkpoint);

/* local_stop.c */
void gab_local_learn_stop(gab_local *local, gab_step checkpoint, uint64_t why);
void gab_local_publish_answer(gab_local *local);

/* local_keep.c */
/** Returns the newest checkpoint known here to which the cluster of that partner (NULL: the own one) may roll back. */
gab_step gab_local_may_go_back_to(const gab_local *local, const gab_local_partner *partner);
/** Returns the newest image not later than `limit`. */
const gab_local_image *gab_local_newest(const gab_local_images *images, gab_step limit);
bool gab_local_has_image(const gab_local_images *images, gab_step checkpoint);
/** @param[in] what checkpoint, own and decisions @param[in] bytes copied */
gab_status gab_local_keep_image(gab_local_images *images, const gab_local_image *what,
                                const gab_buffer *bytes);
/** The same without a copy. @param[in,out] bytes ownership passes; empty afterwards */
gab_status gab_local_keep_packed(gab_local_images *images, const gab_local_image *what, gab_buffer *bytes);
/** @return an empty buffer owned by the caller, with the memory of a dropped image if possible */
gab_buffer gab_local_take_idle(gab_local_images *images);
void gab_local_forget_images(gab_local_images *images);
/** Drops images and decisions that are no longer needed: of this rank, or of a protected rank. */
void gab_local_prune(gab_local *local);
void gab_local_prune_protected(const gab_local *local, gab_local_partner *protected);

/* local_own.c: without own_times these do nothing unless stated */
/** Evaluates the commits in the head of a note. */
gab_status gab_local_learn_from(gab_local *local, const gab_local_note *note);
gab_status gab_local_learn_cluster_committed(gab_local *local, gab_step checkpoint);
/** Notes that a checkpoint which a protected rank requests is committed: in its cluster, or without own_times by
 * all. */
gab_status gab_local_learn_of_protected(gab_local *local, gab_local_partner *protected, gab_step checkpoint);
gab_status gab_local_tell_cluster_values(gab_local *local, const gab_local_partner *partner);
gab_status gab_local_update_cluster(gab_local *local);
gab_status gab_local_on_cluster_have(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_received(gab_local *local, gab_process source, const gab_local_note *note,
                                 gab_reader *in);
/** Packs the part of an image for own_times: last common checkpoint and message log. */
gab_status gab_local_pack_log(const gab_local *local, bool own, gab_step step, gab_buffer *out);
/** @param[out] common the last common checkpoint, not later than that of the image */
gab_status gab_local_unpack_log(gab_local *local, gab_step checkpoint, gab_step *common, gab_reader *in);
gab_status gab_local_skip_log(const gab_local *local, gab_reader *in);
/** Packs and unpacks the common images that accompany an image sent to a spare. */
gab_status gab_local_pack_commons(const gab_local *local, const gab_local_images *images,
                                  const gab_local_image *beside, gab_buffer *out);
gab_status gab_local_unpack_commons(gab_local *local, gab_reader *in);

/* local_commit.c */
/** Whether the next checkpoint (of the cluster only, or common) must wait for the commit of the present one. */
bool gab_local_has_to_wait(const gab_local *local, bool own);
/** Like gab_local_decide(), but without a wait for the holder. Publish the value only after a later image has
 * reached the holder. */
gab_status gab_local_decide_behind(gab_local *local, uint64_t proposal, uint64_t *value);
gab_status gab_local_log_decision(gab_local_decisions *decisions, uint64_t number, uint64_t value);
/** Sends the holder, which is up, the images and decisions that it lacks. */
gab_status gab_local_renew_copies(gab_local *local, bool all);
gab_status gab_local_learn_committed(gab_local *local, gab_step checkpoint);
gab_status gab_local_learn_entered(gab_local *local, uint64_t section);
/** Sends known values of the tree to a parent or child that is up. */
gab_status gab_local_tell_values(gab_local *local, const gab_local_partner *partner);
/** Sends new values to the parent, or from the root to all. */
gab_status gab_local_update_tree(gab_local *local);
/** @param[in,out] payload NULL, or the buffer that `in` reads; its memory is kept instead of a copy */
gab_status gab_local_on_copy(gab_local *local, gab_process source, const gab_local_note *note, gab_reader *in,
                             gab_buffer *payload);
gab_status gab_local_on_copied(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_have(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_committed(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_decision(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_decided(gab_local *local, gab_process source, const gab_local_note *note);

/* local_cluster.c */
/** Whether the rank is another member of the own cluster. */
bool gab_local_is_member(const gab_local *local, gab_rank rank);
/** Lists the members of the own cluster and makes neighbours in their tree partners. */
gab_status gab_local_make_members(gab_local *local);
gab_status gab_local_pack_line(const gab_local *local, const gab_local_partner *to, gab_buffer *out);
/** Compares the recovery line of a greeting member with the own one. @param[out] same false: the member that is
 * behind rolls back first, and then greets again */
gab_status gab_local_meet_line(gab_local *local, gab_local_partner *partner, const gab_local_note *note,
                               gab_reader *in, bool *same);
/** Restores the checkpoint of the line, from an own image or from the holder. */
gab_status gab_local_retreat(gab_local *local);
/** Requests an image of that checkpoint, or a later one, from the holder. */
gab_status gab_local_fetch(gab_local *local, gab_step checkpoint);

/* local_image.c */
gab_status gab_local_pack_image(const gab_local *local, gab_step step, bool own,
                                const gab_buffer *application, gab_buffer *out);
/** Calls `call` for the sequence numbers of each partner in an image. */
gab_status gab_local_each_delivered(const gab_local *local, gab_reader image,
                                    gab_status (*call)(void *user, gab_rank rank, gab_reader numbers),
                                    void *user);
/** Sends the newest committed image of a protected rank, not earlier than `at_least`. */
gab_status gab_local_send_image(gab_local *local, gab_local_partner *protected, gab_process target,
                                gab_step at_least);
gab_status gab_local_on_image(gab_local *local, const gab_local_note *note, gab_reader *in);
/** Begins the next life from a stored image and greets all partners. @param[in] committed newest checkpoint known to
 * be committed */
gab_status gab_local_restore(gab_local *local, gab_step checkpoint, gab_step committed, gab_reader in);

#endif
