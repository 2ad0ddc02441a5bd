/* SPDX-License-Identifier: Apache-2.0 */
/** @file local_impl.h
 *  @brief What the sources of local recovery share.
 *
 *  local.c (making one, dispatch), local_partner.c (with whom it has to do), local_note.c (control messages, which process
 *  runs which rank), local_channel.c (greeting, numbers, replay), local_replay.c (how far ahead that is),
 *  local_verify.c (hashes of what is left out), local_takeover.c (deaths, holder, spare), local_commit.c
 *  (checkpoints, tree, decisions, sections), local_stop.c (when all stop), local_image.c (what the machine adds to
 *  an image), local_keep.c (which images and decisions are kept), local_cluster.c (clusters of several ranks),
 *  local_own.c (checkpoints of a cluster alone).
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_RESILIENCE_LOCAL_IMPL_H
#define GABION_RESILIENCE_LOCAL_IMPL_H

#include "resilience/local/protocol/local.h"

/** Numbers of channels that a global section has made begin at that section, counted from 1, times 2 to the power of
 *  this. */
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

/** The fields of a control message; which of them mean something depends on the kind (doc/local-recovery.md).
 */
typedef struct gab_local_note {
  uint32_t kind;
  gab_rank from;
  gab_incarnation from_incarnation;
  uint32_t from_life;
  uint32_t from_taken,
      taken_below; /**< filled in by whoever sends: gab_local.taken_over, and with all below it */
  gab_rank about;
  gab_incarnation about_incarnation;
  gab_process about_process;
  gab_step checkpoint;
  uint64_t number, value;
  gab_step stop_behind; /**< filled in by whoever sends: local_stop.c */
  uint64_t stop_why;
  /* with own times only */
  gab_step committed, cluster_committed; /**< as its sender knows; filled in by whoever sends */
  uint8_t own;                           /**< COPY, COPIED, IMAGE: of a checkpoint of the cluster alone */
} gab_local_note;

/** A message that has arrived and is not delivered yet. */
typedef struct gab_local_arrival {
  gab_buffer bytes;
  gab_msglog_label label;
  bool asks; /**< its sender replays, and wants to hear when it is delivered */
} gab_local_arrival;

/** Of a message that has arrived. */
typedef struct gab_local_hash {
  uint64_t value;
  gab_step step; /**< in which it was sent */
} gab_local_hash;

/** Those from number `base` on; none without `verify`. */
typedef struct gab_local_hashes {
  gab_local_hash *list;
  size_t count, capacity;
  uint64_t base;
} gab_local_hashes;

/** Both directions between a partner and this rank in one context. */
typedef struct gab_local_channel {
  uint64_t delivered; /**< to the application here */
  gab_local_arrival *arrived;
  size_t arrived_count;
  gab_local_hashes hashes;
  uint64_t handled; /**< the messages of this life below are sent, or left out and told of */
  uint64_t sent;    /**< the partner has these, or they are under way to its present life */
  /* of the partner's present life */
  uint64_t replayed;     /**< the messages below were replayed, or it had them when it greeted */
  uint64_t acknowledged; /**< thereof those below are delivered, as it has told */
  bool replaying;
  /* with clusters, over all lives of both; both only grow */
  uint64_t reached; /**< of what the partner sends, so many have ever arrived here, in any life */
  uint64_t had; /**< of what this rank sends, so many had arrived at the partner, or were made here, before a
                         roll-back */
} gab_local_channel;

/** An image as it is kept: head of the machine, then the application's. */
typedef struct gab_local_image {
  gab_step checkpoint;
  bool own;           /**< of the cluster alone */
  uint64_t decisions; /**< made before it */
  gab_buffer bytes;
} gab_local_image;

typedef struct gab_local_images {
  /** Ascending by checkpoint; two, with own times two of either kind, and what a change needs for a moment. */
  gab_local_image list[8];
  int count;
  gab_buffer idle; /**< memory of one that was dropped, for the next: pages that were touched already */
} gab_local_images;

/** Values from number `base` on. */
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
  bool inner;    /**< of the own cluster: messages to it are not logged */
  bool up;       /**< greeted in its present life */
  bool down;     /**< its process is dead, no successor known */
  bool met;      /**< greeted in some life since this process runs */
  uint32_t life; /**< of its incarnation */
  gab_local_channel channels[GAB_LOCAL_CONTEXTS];
  gab_process asking; /**< number of the spare that is asked which process runs the rank; -1: none */
  uint64_t hashes_told,
      hashes_answered; /**< of what it had already: so many were sent to it, and compared there */
  /* a child */
  gab_step have;
  uint64_t arrived;
  uint32_t taken_below; /**< so many takeovers it and all below it have told of */
  /* with own times */
  gab_step cluster_have;      /**< of a child in the tree of members: it and all below have that checkpoint */
  gab_step cluster_committed; /**< in its cluster, as far as it has told */
  /* a protected rank */
  gab_local_images images;
  gab_local_decisions decisions;
  bool offered; /**< to the spare number `tried` */
  gab_incarnation offer_incarnation;
  gab_process tried;   /**< so many spares were asked; they never become free again */
  uint32_t taken_over; /**< how often a spare has accepted the rank, as far as known */
  gab_process *askers; /**< who wants to know which process runs it */
  size_t asker_count;
} gab_local_partner;

/** A rank that is not run by the process of the start. */
typedef struct gab_local_address {
  gab_rank rank;
  gab_process process;
  gab_incarnation incarnation;
} gab_local_address;

/** A rank of the own cluster. */
typedef struct gab_local_member {
  gab_rank rank;
  gab_incarnation incarnation; /**< what an earlier one did has been left behind */
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
  uint32_t life; /**< how often it has restored */
  /** How often a spare has accepted this rank and was sent its image. The incarnation may be higher: it counts
   *  spares that died before their acceptance was heard. */
  uint32_t taken_over;
  gab_process image_from; /**< while restoring */
  gab_local_address *addresses;
  size_t address_count;
  gab_local_partner *partners; /**< ascending by rank */
  size_t partner_count;
  gab_local_member
      *members; /**< of the own cluster, itself included, ascending by rank: the same list at all of them */
  size_t member_count;
  gab_step
      line; /**< the checkpoint from which the cluster goes on; with members[].incarnation its recovery line */
  gab_local_deferred *deferred; /**< what came while restoring, in order */
  size_t deferred_count;
  gab_buffer head; /**< of the message that is being sent */
  gab_msglog *msglog;
  /* checkpoints; -1: none */
  gab_step taken, acknowledged, committed;
  gab_step common, common_acknowledged; /**< the newest of those that all take; without own times as above */
  gab_step cluster_committed, told_cluster_have; /**< with own times only */
  gab_step base;                                 /**< from here on the message log is whole */
  gab_local_images images;
  gab_incarnation renewed; /**< the incarnation of the holder that has them */
  gab_step told_have;
  uint64_t told_arrived;
  /* global sections, counted from 1 */
  uint64_t arrived, entered, left;
  /* decisions */
  gab_local_decisions decisions;
  uint64_t decided;        /**< given to the application */
  uint64_t decided_logged; /**< acknowledged by the holder */
  /* stopping; reasons are not 0 */
  uint64_t asked_to_stop; /**< here or below; told to the parent */
  gab_step answered;    /**< of the first rank: the checkpoint of its last answer, which is not public yet */
  uint64_t answer;      /**< 0: go on */
  gab_step stop_behind; /**< at the checkpoint after this one all stop, if there is a reason */
  uint64_t stop_why;
  gab_local_stats stats;
};

/* local_note.c */
gab_process gab_local_process(const gab_local *local, gab_rank rank);
gab_incarnation gab_local_incarnation_of(const gab_local *local, gab_rank rank);
/** Of two incarnations the later one is right. */
gab_status gab_local_learn(gab_local *local, gab_rank rank, gab_process process, gab_incarnation incarnation);
gab_status gab_local_pack_addresses(const gab_local *local, gab_buffer *out);
gab_status gab_local_unpack_addresses(gab_local *local, gab_reader *in);
/** Fills in who sends, and sends. @param[in] body  may be NULL */
gab_status gab_local_tell(gab_local *local, gab_process target, gab_local_note note, const gab_buffer *body);
/** Counts how often the sender's rank was taken over. */
void gab_local_learn_taken(const gab_local *local, const gab_local_note *note);
gab_status gab_local_read_note(const gab_local *local, gab_reader *in, gab_local_note *note);

/* local.c */
gab_status gab_local_hand_over(gab_local *local, gab_local_reason reason, gab_rank rank);

/* local_partner.c */
/** NULL: it is none. Valid until partners are added or dropped. */
gab_local_partner *gab_local_find(const gab_local *local, gab_rank rank);
gab_status gab_local_add_partner(gab_local *local, gab_rank rank, uint32_t roles);
gab_status gab_local_add_relatives(gab_local *local);
void gab_local_release_partner(gab_local_partner *partner);
/** Forgets partners without a role, and their channels. */
void gab_local_drop_former(gab_local *local);
/** Whether the note comes from the active process of a partner as it is known now. */
gab_local_partner *gab_local_current(const gab_local *local, gab_process source, const gab_local_note *note);

/* local_channel.c */
gab_status gab_local_greet(gab_local *local, const gab_local_partner *partner, bool answer);
gab_status gab_local_on_hello(gab_local *local, gab_process source, const gab_local_note *note,
                              gab_reader *in);
gab_status gab_local_on_message(gab_local *local, gab_process source, uint32_t context, gab_reader in,
                                gab_buffer *payload);
void gab_local_forget_arrivals(gab_local_partner *partner);
/** Sends what the partner lacks, as far as it may. */
gab_status gab_local_pump(gab_local *local, gab_local_partner *to, uint32_t context);

/* local_replay.c */
/** How many messages may be replayed on that channel now. @param[in] left  so many are to be */
uint64_t gab_local_may_replay(const gab_local *local, const gab_local_channel *channel, uint64_t left);
/** A partner in a new life has the messages below `sent`. @param[in] next  so many were made */
void gab_local_begin_replay(gab_local_channel *channel, uint64_t next);
gab_status gab_local_on_progress(gab_local *local, gab_process source, const gab_local_note *note);

/* local_verify.c */
/** Keeps the hash of what has just arrived. Nothing without `verify`. */
gab_status gab_local_keep_hash(const gab_local *local, gab_local_channel *channel,
                               const gab_local_arrival *arrival);
/** Messages from that number on will come once more. */
void gab_local_forget_hashes(gab_local_channel *channel, uint64_t from);
/** Nothing of what is delivered by now can be compared: this rank was restored. */
void gab_local_restart_hashes(gab_local_channel *channel);
/** Nobody will go back to a checkpoint earlier than that. */
void gab_local_free_hashes(gab_local *local, gab_step before);
/** Passes over what was made again and the partner has, and tells it the hashes. */
gab_status gab_local_leave_out(gab_local *local, gab_local_partner *to, uint32_t context);
/** Whether the partners have compared all hashes that they were told, as far as they live. */
bool gab_local_is_verified(const gab_local *local);
gab_status gab_local_on_hash(gab_local *local, gab_process source, const gab_local_note *note,
                             gab_reader *in);
gab_status gab_local_on_compared(gab_local *local, gab_process source, const gab_local_note *note);

/* local_takeover.c */
gab_status gab_local_mark_down(gab_local *local, gab_local_partner *partner);
gab_status gab_local_on_lost(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_offer(gab_local *local, gab_process source, const gab_local_note *note);
/** Tells all other spares that this process runs its rank now. */
gab_status gab_local_tell_spares(gab_local *local);
gab_status gab_local_on_accept(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_refuse(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_fetch(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_who(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_runs(gab_local *local, const gab_local_note *note);
/** A partner has greeted for the first time in a life: it may keep images of others that are lost. */
gab_status gab_local_on_new_process(gab_local *local, gab_rank rank);
gab_status gab_local_on_not_me(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_spare_down(gab_local *local, gab_process process);
/** What others wait to hear of a partner whose active process is known again. */
gab_status gab_local_answer_askers(gab_local *local, gab_local_partner *partner);
/** Restores once more, from a later checkpoint. */
gab_status gab_local_jump(gab_local *local, gab_step checkpoint);

/* local_stop.c */
void gab_local_learn_stop(gab_local *local, gab_step checkpoint, uint64_t why);
void gab_local_publish_answer(gab_local *local);

/* local_keep.c */
/** The newest checkpoint to which the cluster of that partner (NULL: the own one) may go back, as known here. */
gab_step gab_local_may_go_back_to(const gab_local *local, const gab_local_partner *partner);
/** The newest image not later than that. */
const gab_local_image *gab_local_newest(const gab_local_images *images, gab_step limit);
bool gab_local_has_image(const gab_local_images *images, gab_step checkpoint);
/** @param[in] what  checkpoint, own, and decisions @param[in] bytes  are copied */
gab_status gab_local_keep_image(gab_local_images *images, const gab_local_image *what,
                                const gab_buffer *bytes);
/** The same without copying. @param[in,out] bytes  handed over; empty afterwards */
gab_status gab_local_keep_packed(gab_local_images *images, const gab_local_image *what, gab_buffer *bytes);
/** @return an empty buffer, with the memory of an image that was dropped if there is one; the caller's */
gab_buffer gab_local_take_idle(gab_local_images *images);
void gab_local_forget_images(gab_local_images *images);
/** Forgets what nobody will ask for: of this rank, or of a protected rank. */
void gab_local_prune(gab_local *local);
void gab_local_prune_protected(const gab_local *local, gab_local_partner *protected);

/* local_own.c: without own times all do nothing but what is said */
/** What a note says of commits in its head. */
gab_status gab_local_learn_from(gab_local *local, const gab_local_note *note);
gab_status gab_local_learn_cluster_committed(gab_local *local, gab_step checkpoint);
/** A protected rank asks for that checkpoint, which is committed: in its cluster, or without own times by all. */
gab_status gab_local_learn_of_protected(gab_local *local, gab_local_partner *protected, gab_step checkpoint);
gab_status gab_local_tell_cluster_values(gab_local *local, const gab_local_partner *partner);
gab_status gab_local_update_cluster(gab_local *local);
gab_status gab_local_on_cluster_have(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_received(gab_local *local, gab_process source, const gab_local_note *note,
                                 gab_reader *in);
/** What an image holds for own times: the last common checkpoint, and the log. */
gab_status gab_local_pack_log(const gab_local *local, bool own, gab_step step, gab_buffer *out);
/** @param[out] common  the last checkpoint of all, at that of the image or before it */
gab_status gab_local_unpack_log(gab_local *local, gab_step checkpoint, gab_step *common, gab_reader *in);
gab_status gab_local_skip_log(const gab_local *local, gab_reader *in);
/** The common images that go with one that is sent to a spare, and out of them. */
gab_status gab_local_pack_commons(const gab_local *local, const gab_local_images *images,
                                  const gab_local_image *beside, gab_buffer *out);
gab_status gab_local_unpack_commons(gab_local *local, gab_reader *in);

/* local_commit.c */
/** A checkpoint is under way, and the next one (of the cluster alone, or common) waits for its commit. */
bool gab_local_has_to_wait(const gab_local *local, bool own);
/** Like gab_local_decide(), but does not wait for the holder: to be spread only when an image that is taken later is there. */
gab_status gab_local_decide_behind(gab_local *local, uint64_t proposal, uint64_t *value);
gab_status gab_local_log_decision(gab_local_decisions *decisions, uint64_t number, uint64_t value);
/** The holder is up: what it lacks goes there. */
gab_status gab_local_renew_copies(gab_local *local, bool all);
gab_status gab_local_learn_committed(gab_local *local, gab_step checkpoint);
gab_status gab_local_learn_entered(gab_local *local, uint64_t section);
/** Tells a parent or child that is up what is known of the tree. */
gab_status gab_local_tell_values(gab_local *local, const gab_local_partner *partner);
/** Tells the parent, or at the root everybody, what is new. */
gab_status gab_local_update_tree(gab_local *local);
/** @param[in,out] payload  NULL, or what `in` reads: its memory is kept instead of a copy */
gab_status gab_local_on_copy(gab_local *local, gab_process source, const gab_local_note *note, gab_reader *in,
                             gab_buffer *payload);
gab_status gab_local_on_copied(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_have(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_committed(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_decision(gab_local *local, gab_process source, const gab_local_note *note);
gab_status gab_local_on_decided(gab_local *local, gab_process source, const gab_local_note *note);

/* local_cluster.c */
/** Whether the rank is another one of the own cluster. */
bool gab_local_is_member(const gab_local *local, gab_rank rank);
/** Finds out who is in the cluster of the rank that this process runs; all are connected by partners. */
gab_status gab_local_make_members(gab_local *local);
gab_status gab_local_pack_line(const gab_local *local, const gab_local_partner *to, gab_buffer *out);
/** Compares the line of a member that greets with the own one. @param[out] same  false: who is behind goes back first, and
 *  greets again then */
gab_status gab_local_meet_line(gab_local *local, gab_local_partner *partner, const gab_local_note *note,
                               gab_reader *in, bool *same);
/** Restores what the line demands: from an own image, or that of the holder. */
gab_status gab_local_retreat(gab_local *local);
/** Asks the holder for an image of that checkpoint or a later one. */
gab_status gab_local_fetch(gab_local *local, gab_step checkpoint);

/* local_image.c */
gab_status gab_local_pack_image(const gab_local *local, gab_step step, bool own,
                                const gab_buffer *application, gab_buffer *out);
/** What each partner's messages had come to in an image: calls for each entry of it. */
gab_status gab_local_each_delivered(const gab_local *local, gab_reader image,
                                    gab_status (*call)(void *user, gab_rank rank, gab_reader numbers),
                                    void *user);
/** Sends the newest committed image of a protected rank, not earlier than `at_least`. */
gab_status gab_local_send_image(gab_local *local, gab_local_partner *protected, gab_process target,
                                gab_step at_least);
gab_status gab_local_on_image(gab_local *local, const gab_local_note *note, gab_reader *in);
/** Begins the next life, from an image as it is kept, and greets everybody. @param[in] committed  known to be so */
gab_status gab_local_restore(gab_local *local, gab_step checkpoint, gab_step committed, gab_reader in);

#endif
