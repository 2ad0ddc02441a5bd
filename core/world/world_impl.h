/* SPDX-License-Identifier: Apache-2.0 */
/** @file world_impl.h
 *  @brief What the sources of the world share: its parts, ranks in communicators, deferred frees, and the ways into
 *  and out of faults.
 *
 *  From the bottom: ranks.c (which process runs which rank, and its rank in the communicator), spares_chosen.c (who is a
 *  spare), replay.c (the set-up once more), fault.c (the error handler and the broken state), reliable_channel.c
 *  (messages that go on after deaths), pattern.c, traffic.c, port_logged.c and port.c (messages, those with a
 *  message logger too), collective.c, gather.c, message_logger.c (what goes on without a repair, and its claims),
 *  mailbox.c (messages of an application, from any source), mail.c (these in an image), comm.c (communicators of
 *  applications), route.c, nodes.c (who sits on this node), connect_root.c, spawn.c, comm_world.c (MPI_COMM_WORLD is
 *  refused after a fault), respawn_facts.c and respawn.c (processes that are started later; respawn_impl.h),
 *  repair.c, spares.c (waiting, and being called), world.c (beginning and end). Each uses those before it.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_CORE_WORLD_IMPL_H
#define GABION_CORE_WORLD_IMPL_H

#include "core/messages/logged/message_logger.h"
#include "core/messages/mailbox.h"
#include "core/messages/logged/reliable_channel.h"
#ifdef GAB_HAVE_ULFM
#include <mpi-ext.h>
#endif

/** Contexts, which are tags of the main communicator. Ports of the framework's users come behind these. */
enum {
  GAB_CONTEXT_REPAIR,      /**< plain MPI messages of a repair */
  GAB_CONTEXT_TREE,        /**< reductions, broadcasts, scans */
  GAB_CONTEXT_GATHER,      /**< gathers, between members of even depth in the tree and their children */
  GAB_CONTEXT_GATHER_ODD,  /**< and of odd depth */
  GAB_CONTEXT_GATHER_LONG, /**< between the root and owners of long strings */
  GAB_CONTEXT_ROUTE,
  GAB_CONTEXT_REST,     /**< plain MPI messages to spares at rest */
  GAB_CONTEXT_RELIABLE, /**< those of a gab_reliable_channel */
  GAB_CONTEXT_CONNECT,  /**< plain MPI messages of gab_world_connect_root() */
  GAB_CONTEXT_FIRST_FREE
};

/** What everyone has to agree on, as bits of an agreement (bitwise AND): a bit that is left in the result was
 *  set by all. Each call of an agreement offers one of the first six; payload stands above them. */
enum {
  GAB_AGREE_WORK = 1,         /**< "I am at work": gab_world_agree() */
  GAB_AGREE_REPAIR = 2,       /**< "I have come to repair" */
  GAB_AGREE_SHRUNK = 4,       /**< "I hold the new communicator" */
  GAB_AGREE_REPAIRED = 8,     /**< "my part of the repair is done" */
  GAB_AGREE_NOTED = 16,       /**< "I know what all know": ranks may be given away */
  GAB_AGREE_SPAWNED = 32,     /**< "processes were started", "I hold the communicator with them" */
  GAB_AGREE_IN_PLACE = 64,    /**< beside it: "I do not know that they sit elsewhere than they were to" */
  GAB_AGREE_PAYLOAD_SHIFT = 8 /**< the payload has #GAB_AGREE_FLAGS bits */
};

struct gab_comm {
  gab_world *world;
  MPI_Comm mpi;
  bool split; /**< by MPI_Comm_split with the colour; else a duplicate */
  int colour;
  gab_comm *next; /**< in order of creation, the same on all */
};

/** A logical message under way; it has one request per chunk. */
typedef struct gab_transfer {
  gab_buffer *message; /**< borrowed; NULL once the transfer is given up, unless `kept` */
  gab_buffer held;     /**< takes over the content of `message` when the transfer is given up */
  gab_rank peer;
  uint64_t sequence;
  size_t total;  /**< bytes with envelope; GAB_SIZE_UNKNOWN until the envelope has come */
  size_t posted; /**< bytes that have requests, from the front */
  size_t first;  /**< number of the request of the first chunk */
  bool outgoing;
  bool kept; /**< outgoing: the content stays in `message`, which outlives the deferred frees or the port */
  bool checked; /**< incoming: the envelope has been verified */
} gab_transfer;

/** All messages of a port that are under way. */
typedef struct gab_traffic {
  gab_transfer *transfers;
  size_t transfer_count, transfer_capacity;
  MPI_Request *requests;
  size_t request_count, request_capacity;
  const gab_port *port;     /**< a deferred free: the port that gave it up, until that is destroyed */
  struct gab_traffic *next; /**< among the deferred frees */
} gab_traffic;

/** Position on the two channels to and from one peer. */
typedef struct gab_channel {
  gab_rank peer;
  uint64_t sent, received;
  uint64_t counted,
      counted_bytes; /**< sent since gab_world_forget_sent() or the last repair, envelopes included */
} gab_channel;

struct gab_port {
  gab_world *world; /**< NULL once the world is gone */
  bool logged;
  uint32_t log_context; /**< its number among the logged ports */
  char name[48];
  uint32_t context;
  bool has_pattern; /**< gab_port_set_pattern(); else messages carry what is active in the world */
  gab_pattern_id pattern;
  gab_channel *channels; /**< ascending by peer; only peers that were talked to */
  size_t channel_count, channel_capacity;
  gab_traffic *traffic; /**< NULL if there has been none since it was given up */
  gab_buffer *own;      /**< messages to oneself that are not received yet, the oldest first */
  size_t own_count, own_capacity;
  gab_port *next;
};

/** A message in the queue of a mailbox. */
typedef struct gab_letter {
  struct gab_letter *next;
  gab_mail about;
  gab_buffer bytes; /**< the message, envelope and tag included */
} gab_letter;

/** A message that is being sent. */
typedef struct gab_parcel {
  struct gab_parcel *next;
  gab_buffer bytes; /**< lent to the port */
} gab_parcel;

struct gab_mailbox {
  gab_world *world;
  gab_port *port;
  gab_epoch epoch;          /**< to which the queue belongs */
  gab_letter *first, **end; /**< in the order in which they came */
  gab_parcel *sending;      /**< all of them, until none is under way */
  int32_t next;             /**< member that is looked at next */
  gab_mailbox *older;
};

/** Patterns of the application. */
typedef struct gab_patterns {
  uint64_t *iterations; /**< of the patterns 1, 2, ... */
  size_t count;
  gab_pattern active;
} gab_patterns;

/** Collective calls of the set-up that are recorded: those that give something to a process that runs no rank. */
typedef enum gab_replay_kind {
  GAB_REPLAY_BROADCAST,
  GAB_REPLAY_REDUCTION,
  GAB_REPLAY_SCAN,
  GAB_REPLAY_AGREEMENT,
  GAB_REPLAY_KINDS
} gab_replay_kind;

/** More than that is not kept: then nobody can be respawned. */
enum { GAB_REPLAY_MOST_BYTES = 1 << 20 };

typedef struct gab_replay {
  enum {
    GAB_REPLAY_WRITES, /**< in the set-up */
    GAB_REPLAY_READS,  /**< in the set-up of a respawned process */
    GAB_REPLAY_OVER,   /**< behind it; the record is kept if processes may be respawned */
    GAB_REPLAY_LOST,   /**< it cannot serve any more: why_lost */
    GAB_REPLAY_NONE    /**< nothing is recorded: the launcher has not said that processes may be respawned */
  } state;
  const char *why_lost;
  gab_buffer record;
  size_t at; /**< of a reader */
} gab_replay;

/** What a respawned process is told, and becomes when its set-up is done (respawn.c). */
typedef struct gab_arrival gab_arrival;

struct gab_world {
  MPI_Comm comm; /**< of everybody who lives, spares too, in the order of processes; all ports talk here */
  MPI_Comm
      active_comm; /**< of the members, in the order of ranks: agreements while spares rest, communicators of
                         the application. The same as `comm` where that is both */
  bool meets_on_active;  /**< somebody may be waiting in an agreement on `active_comm`: nobody repairs yet */
  gab_members processes; /**< the processes that live, as "ranks" of a gab_members */
  gab_process process;   /**< this process */
  int32_t spares_per_node; /**< that were set aside on each node; 0: they were counted for the whole run */
  gab_process
      first_processes;  /**< processes that the job was started with: those behind them were respawned */
  gab_replay replay;    /**< the set-up, for respawned processes */
  gab_arrival *arrival; /**< of a respawned process in its set-up; else NULL */
  char *folder;         /**< in which the program was started */
  int32_t spawns;       /**< how often this repair has tried to respawn */
  bool has_spawned;     /**< it was tried ever */
  bool has_nodes;       /**< the run is, or was, on more than one node */
  gab_rank *node_ranks; /**< that were run on this node when the last repair ended; none before the rest */
  int32_t node_rank_count;
  gab_process *origins; /**< of each respawned process: see gab_world_process_beside() */
  int32_t origin_count;
  bool resting;    /**< spares rest: collective calls are for the members alone */
  bool dismissing; /**< all members are at the end: see gab_world_dismiss() */
  bool
      is_abandoned; /**< a process raised an abort request from behind gab_world_dismiss(): it will not take part any more */
  bool calls_nobody;           /**< somebody is, as the present repair knows: no spare is called any more */
  gab_replacement replacement; /**< what becomes of the ranks of the dead */
  gab_distance_fn distance;    /**< NULL: all spares are alike */
  const void *distance_user;
  gab_members whole; /**< the members when the present repair began */
  gab_members members;
  gab_rank rank; /**< of a spare: beyond all ranks, see gab_world_rank() */
  gab_epoch epoch;
  gab_step step;
  gab_fault_point point;
  gab_fault_point_hook hook;
  void *hook_user;
  gab_policy policy;

  bool broken;    /**< until the next repair every call fails */
  bool repairing; /**< the error handler stays out of it */
  int last_code;  /**< of the error handler: calls on several requests return less than it is told */
  bool lost;      /**< a repair has failed: nothing helps any more */
  gab_status abort_request;
  gab_rank abort_rank;
  char *abort_message, *abort_where;
  gab_repair_times times;

  gab_comm *comms;
  gab_port *ports;
  void (*drop_messages)(
      gab_world *world); /**< of the ports: called when a call is to fail because of a fault */
  uint64_t port_resets;  /**< gab_world_port_resets() */
  uint32_t next_context;
  gab_port *tree, *gather[2], *gather_long, *route;
  gab_patterns patterns;
  gab_mailbox *mailboxes;   /**< the latest first */
  bool mail_is_closed;      /**< gab_world_close_mail() */
  gab_buffer inbox, outbox; /**< of the collective operations */
  uint32_t logged_ports;
  bool sent_is_uncounted;           /**< gab_world_count_sent() */
  const gab_message_logger *logger; /**< NULL: MPI carries all messages */
  gab_reliable_channel *channel;    /**< NULL: none */
  gab_rest_fn rest;                 /**< of spares at rest; NULL: they have nothing else to do */
  void *rest_user;
  bool has_claim;
  gab_claim claim;                        /**< of this process, until the next repair */
  gab_claim earlier[GAB_MOST_CLAIMS - 1]; /**< see gab_world_claim_earlier() */
  int earlier_count;
  gab_claim claims[GAB_MOST_CLAIMS];
  int claim_count;       /**< that the last repair found */
  uint64_t meetings;     /**< see gab_world_meetings() */
  gab_traffic *deferred; /**< given-up messages; MPI may still hold their memory */

  bool shares_cores; /**< there are more processes on this node than it has cores: see gab_world_pause() */
  bool owns_mpi;
  bool guards_comm_world; /**< see comm_world.c */
  bool is_without_mpi;    /**< gab_world_create_alone(): `comm` and all others are MPI_COMM_NULL */
  gab_world *next;        /**< list of the error handler, which MPI hands no user pointer */
};

/* ---------------------------------------------------------------- ranks.c */

/** The only functions that turn a rank into a rank in `comm`: processes keep their order in it. -1 if the rank is gone. A
 *  spare is found by the number that gab_world_rank() gives it. */
int gab_world_comm_rank(const gab_world *world, gab_rank rank);
gab_process gab_world_process_of_comm_rank(const gab_world *world, int comm_rank);
/** Whether `active_comm` has to be a communicator of its own: there are spares, or processes run other ranks. */
bool gab_world_has_benches(const gab_world *world);

/** Those who take part in collective calls: the members, and behind them the spares unless they rest. */
int32_t gab_world_participants(const gab_world *world);
/** @return -1 for a spare at rest */
int32_t gab_world_my_place(const gab_world *world);
gab_rank gab_world_participant(const gab_world *world, int32_t place);
/** The index-th of the spares, in the order of processes. */
gab_process gab_world_spare(const gab_world *world, int32_t index);

/** Gives the ranks that have become vacant since `whole` to spares, as far as there are any: to those near by first, the
 *  lowest to the lowest. Everyone finds the same. Local. */
gab_status gab_world_call_spares(gab_world *world);

/** Reserves capacity for `count` elements in a growing array. */
gab_status gab_array_reserve(void **array, size_t *capacity, size_t count, size_t element_bytes);

/* ---------------------------------------------------------------- spares_chosen.c */

/** How many processes are to be set aside, as GABION_SPARES says: "K" of the run, or "K/node" of each node. */
typedef struct gab_spares_wish {
  int32_t count;
  bool per_node;
} gab_spares_wish;

/** @return ::GAB_ERR_INPUT for anything else in the environment. Local; the same on all */
gab_status gab_spares_told(gab_spares_wish *wish);
/** Makes the communicator of everybody from MPI_COMM_WORLD, spares last. Collective; unagreed, as MPI left it: a death may
 *  leave it made on some processes only. @param[out] spares  how many there are @return code of MPI */
int gab_spares_set_aside(const gab_spares_wish *wish, MPI_Comm *comm, int32_t *spares);

/* ---------------------------------------------------------------- fault.c */

/** Enters the world into, and takes it from, the error handler's list. */
gab_status gab_world_watch(gab_world *world);
void gab_world_unwatch(gab_world *world);
/** Hangs the error handler onto a communicator. */
void gab_world_watch_comm(MPI_Comm comm);
bool gab_mpi_is_fault(int code);
void gab_world_revoke(gab_world *world);
/** Marks the world broken and revokes all its communicators. */
void gab_world_break(gab_world *world);
/** Takes all ports off the memory of their callers and gives ::GAB_ERR_FAULT with a message: the way out of
 *  every call in a broken world. */
gab_status gab_world_fault(gab_world *world);
/** GAB_OK, ::GAB_ERR_FAULT or ::GAB_ERR_MPI for the code that an MPI function returned. */
gab_status gab_world_mpi(gab_world *world, int code, const char *function);
/** Keeps the present error message for the repair. */
void gab_world_keep_abort_request(gab_world *world, gab_status abort_request, gab_rank rank,
                                  const char *message, const char *where);
void gab_world_forget_abort_request(gab_world *world);
/** Bitwise AND over the living of `comm`, dead or revoked or not.
 *  @param[out] deaths  somebody who has not been counted is dead; may be NULL */
gab_status gab_comm_agree(MPI_Comm comm, int *bits, bool *deaths);
void gab_comm_revoke(MPI_Comm comm);

/** Lets MPI look round without waiting for anything. */
void gab_mpi_progress(void);
/** How many processes of everybody's communicator MPI has reported dead, and how many of them run a rank. Local. */
gab_status gab_world_count_deaths(gab_world *world, int *processes, int32_t *members);
/** ::GAB_ERR_STATE if there is a message logger: `what` would wait for all processes. */
gab_status gab_world_refuse_logged(const gab_world *world, const char *what);
/** Ends a respawned process whose set-up has failed, so that the others hear of it. Does not return. */
void gab_world_leave(void);
/** Breaks the world if a member has died: for waits that MPI does not end, since they have no request. Local. */
gab_status gab_world_look_for_deaths(gab_world *world);

/* ---------------------------------------------------------------- pattern.c */

/** The id of what a port sends now. */
gab_pattern_id gab_port_pattern(const gab_port *port);
/** Whether no receive here can fit that id any more. */
bool gab_pattern_is_over(const gab_world *world, gab_pattern_id id);
/** ::GAB_ERR_STATE if messages of an iteration that is over lie in a mailbox. */
gab_status gab_mailboxes_check(const gab_world *world);

/* ---------------------------------------------------------------- mailbox.c */

/** Appends a message to the queue. @param[in,out] message  empty afterwards, if that succeeds */
gab_status gab_mailbox_put(gab_mailbox *mailbox, gab_buffer *message);
void gab_mailbox_empty(gab_mailbox *mailbox);

/* ---------------------------------------------------------------- port_logged.c */

gab_status gab_logged_send(gab_port *port, gab_rank target, gab_buffer *message);
/** Looks once after all that is to be received. @param[out] pending  some has not come */
gab_status gab_logged_take(gab_port *port, bool *pending);
/** Lets the message logger look after others. */
gab_status gab_logged_serve(gab_port *port);
/** The next message of a channel, if the message logger has it. */
gab_status gab_logged_poll(gab_port *port, gab_transfer *transfer, bool *there);

/* ---------------------------------------------------------------- message_logger.c */

/** In a repair: ranks that were taken get their new processes. Equal on all. */
gab_status gab_world_settle_claims(gab_world *world);

/* ---------------------------------------------------------------- comm.c */

/** Makes `active_comm` and the registered communicators anew from world->comm. Collective; unagreed. */
gab_status gab_world_remake_comms(gab_world *world);
void gab_world_free_comms(gab_world *world);
/** A repair frees what it replaces, and what it needs for a while only, when the new ones stand. Open MPI (5.0.7,
 *  ompi_comm_nextcid()) makes communicators one after another, in the order of the context ids of those that they are made
 *  of, and when making one fails, since somebody has died, it does not take its id off: whatever is made of a communicator
 *  with a higher id waits for ever, and that would be the next shrink. As long as the old ones have their ids, the new ones that all make together get
 *  higher ids than world->comm, which was made first.
 *  @param[in] comm  MPI_COMM_NULL: nothing. Not to be used any more */
void gab_comm_retire(MPI_Comm comm);
void gab_comm_free_retired(void);
/** All of gab_world_free_comms(). */
void gab_world_retire_comms(gab_world *world);

/* ---------------------------------------------------------------- replay.c */

/** Whether this is a respawned process in its set-up: collective calls return what the others had from theirs. */
bool gab_world_replays(const gab_world *world);
/** The record cannot serve any more, if there is one. @param[in] why  borrowed for ever */
void gab_replay_give_up(gab_world *world, const char *why);
/** Appends what a collective call gave, in the set-up. */
void gab_replay_note(gab_world *world, gab_replay_kind kind, const void *bytes, size_t count);
/** @return ::GAB_ERR_STATE if the others did something else in their place */
gab_status gab_replay_next(gab_world *world, gab_replay_kind kind, gab_reader *bytes);
/** The same for a result of known size. */
gab_status gab_replay_into(gab_world *world, gab_replay_kind kind, void *bytes, size_t count);
/** The set-up is over: nothing is recorded any more. */
void gab_replay_close(gab_world *world);
/** Forgets the record. */
void gab_replay_end(gab_world *world);

/* ---------------------------------------------------------------- nodes.c */

/** Finds out which ranks are run on this node. Collective over `comm`. */
gab_status gab_nodes_find(gab_world *world);

/* ---------------------------------------------------------------- connect_root.c */

/** The root meets all that are there, if silent connections are watched: afterwards each has one to it. Collective over `comm`.
 *  @return ::GAB_ERR_FAULT on some or all if a process died */
gab_status gab_world_connect_root(gab_world *world);

/* ---------------------------------------------------------------- spawn.c */

/** Keeps the name of the current folder: where respawned processes begin. */
gab_status gab_world_note_folder(gab_world *world);

/** Whether this process was respawned by another one of the same program (known before MPI is initialised). */
bool gab_world_was_spawned(void);
/** On a respawned process, before MPI_Init: nobody may ever wait for it, so it ends itself if it is not received in time. */
void gab_spawn_limit_set(void);

/* ---------------------------------------------------------------- comm_world.c */

/** From here on MPI_COMM_WORLD is revoked with the communicators of this world, and refused to the application after a fault
 *  (::GAB_ERR_STATE is raised). The communicators that the world is made of stand already. Local. */
gab_status gab_comm_world_guard(gab_world *world);
void gab_comm_world_unguard(const gab_world *world);
/** Installs the error handler again: the application may have set its own before the fault. */
void gab_comm_world_watch(const gab_world *world);
/** Raises what a respawned process did in its set-up, now that it has joined the others. */
void gab_comm_world_raise_late(gab_world *world);

/* ---------------------------------------------------------------- respawn.c */

/** Takes the place of making the main communicator: joins the survivors, and is told what they know. */
gab_status gab_world_arrive(gab_world *world);
/** Behind the set-up: from now on the world is that of the others, and its repair is to be finished together. */
gab_status gab_world_appear(gab_world *world);
/** In a repair: starts a process for each rank that became vacant and is vacant still, and moves the world to a
 *  communicator with them. Collective over `comm`.
 *  @param[out] good  false: begin again */
gab_status gab_world_respawn(gab_world *world, bool *good);
void gab_arrival_destroy(gab_arrival **arrival);

/* ---------------------------------------------------------------- world.c */

/** What all worlds begin with. */
void gab_world_initialise(gab_world *world);
/** Opens the ports of the collective operations. */
gab_status gab_world_open_ports(gab_world *world);
/** Frees the world and what it owns, but for communicators. */
void gab_world_release(gab_world *world);

/* ---------------------------------------------------------------- repair.c */

/** gab_world_repair() for a respawned process behind its set-up: the end of the repair in which it was started. */
gab_status gab_world_join(gab_world *world, gab_status *abort_request);

/* ---------------------------------------------------------------- port.c, traffic.c */

/** Takes all ports of a world off the memory of their callers: drop_messages. */
void gab_world_abandon_ports(gab_world *world);
gab_status gab_port_open(gab_world *world, const char *name, uint32_t context, gab_port **port);
/** Takes a port off the memory of its callers: what is under way becomes a deferred free. */
void gab_port_abandon(gab_port *port);
/** Lets both channels to a peer begin anew; both sides have to, at the same place. */
void gab_port_forget(gab_port *port, gab_rank peer);
/** Empties all ports and begins all channels anew. */
void gab_world_reset_ports(gab_world *world);

/** Appends a transfer, empty but for its buffer. */
gab_status gab_traffic_add(gab_port *port, gab_buffer *message, gab_transfer **transfer);
/** Posts the bytes of the message from `posted` up to `end`, in chunks. */
gab_status gab_traffic_post(gab_port *port, gab_transfer *transfer, size_t end);
/** Looks once after first chunks on which more depends. @param[out] pending  some have not come */
gab_status gab_traffic_check(gab_port *port, bool *pending);
/** @param[out] done  all requests are finished */
gab_status gab_traffic_test(gab_port *port, bool *done);
/** Waits for all requests, verifies what was received, and forgets all transfers. */
gab_status gab_traffic_wait(gab_port *port);
/** Ends the requests of deferred frees and releases their memory. */
void gab_world_free_deferred(gab_world *world);
void gab_traffic_destroy(gab_traffic *traffic);
/** Before a port ends, and with it the promise of its callers: the messages of gab_port_send_kept() become deferred frees. */
void gab_traffic_take_kept(const gab_port *port);
/** Receives the next message of a channel whole, if its first chunk is there. */
gab_status gab_traffic_poll(gab_port *port, gab_transfer *transfer, bool *there);
/** Takes the oldest message to oneself for a receive. @param[out] taken  false if there is none */
gab_status gab_port_take_own(gab_port *port, gab_transfer *transfer, bool *taken);

#define GAB_ENVELOPE_MAGIC 0x4d424147u /* "GABM" */
void gab_envelope_write(const gab_envelope *envelope, unsigned char *bytes);

#endif
