/* SPDX-License-Identifier: Apache-2.0 */
/** @file world_impl.h
 *  @brief Internal declarations of the world: its parts, ranks in communicators, deferred frees, entry into and exit
 *  from the broken state.
 *
 *  Bottom up: ranks.c (process of each rank, and its rank in the communicator), spares_chosen.c (choice of spares),
 *  replay.c (recorded set-up), fault.c (error handler and broken state), reliable_channel.c (messages despite deaths),
 *  pattern.c, traffic.c, port_logged.c and port.c (messages, also with a message logger), collective.c, gather.c,
 *  message_logger.c (recovery without a repair, and its claims), mailbox.c (messages of an application, from any
 *  source), mail.c (these in an image), comm.c (communicators of applications), route.c, nodes.c (processes of this
 *  node), connect_root.c, spawn.c, comm_world.c (MPI_COMM_WORLD is refused after a fault), respawn_facts.c and
 *  respawn.c (respawned processes; respawn_impl.h), repair.c, spares.c (idling and assignment), world.c (creation and
 *  end). Each file uses those before it.
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

/** Contexts, which are tags of the main communicator. Ports of other modules follow. */
enum {
  GAB_CONTEXT_REPAIR,      /**< plain MPI messages of a repair */
  GAB_CONTEXT_TREE,        /**< reductions, broadcasts, scans */
  GAB_CONTEXT_GATHER,      /**< gathers, between members of even depth in the tree and their children */
  GAB_CONTEXT_GATHER_ODD,  /**< and of odd depth */
  GAB_CONTEXT_GATHER_LONG, /**< between the root and owners of long strings */
  GAB_CONTEXT_ROUTE,
  GAB_CONTEXT_REST,     /**< plain MPI messages to idle spares */
  GAB_CONTEXT_RELIABLE, /**< messages of a gab_reliable_channel */
  GAB_CONTEXT_CONNECT,  /**< plain MPI messages of gab_world_connect_root() */
  GAB_CONTEXT_FIRST_FREE
};

/** Bits of an agreement (bitwise AND): a bit in the result was set by all. Each agreement uses one of the first six;
 * the payload is above them. */
enum {
  GAB_AGREE_WORK = 1,         /**< in a step: gab_world_agree() */
  GAB_AGREE_REPAIR = 2,       /**< in a repair */
  GAB_AGREE_SHRUNK = 4,       /**< has the new communicator */
  GAB_AGREE_REPAIRED = 8,     /**< has finished its part of the repair */
  GAB_AGREE_NOTED = 16,       /**< has the merged notes: ranks may be assigned */
  GAB_AGREE_SPAWNED = 32,     /**< processes were started; has the communicator with them */
  GAB_AGREE_IN_PLACE = 64,    /**< in addition: as far as known, they were placed as requested */
  GAB_AGREE_PAYLOAD_SHIFT = 8 /**< the payload has #GAB_AGREE_FLAGS bits */
};

struct gab_comm {
  gab_world *world;
  MPI_Comm mpi;
  bool split; /**< by MPI_Comm_split with the colour; else a duplicate */
  int colour;
  gab_comm *next; /**< in order of creation, the same on all */
};

/** A logical message in transit; it has one request per chunk. */
typedef struct gab_transfer {
  gab_buffer *message; /**< borrowed; NULL after the transfer was abandoned, unless `kept` */
  gab_buffer held;     /**< content of `message` after the transfer was abandoned */
  gab_rank peer;
  uint64_t sequence;
  size_t total;  /**< bytes with envelope; GAB_SIZE_UNKNOWN until the envelope has arrived */
  size_t posted; /**< leading bytes that have requests */
  size_t first;  /**< number of the request of the first chunk */
  bool outgoing;
  bool kept; /**< outgoing: the content stays in `message`, which outlives the deferred frees or the port */
  bool checked; /**< incoming: the envelope has been verified */
} gab_transfer;

/** All messages of a port in transit. */
typedef struct gab_traffic {
  gab_transfer *transfers;
  size_t transfer_count, transfer_capacity;
  MPI_Request *requests;
  size_t request_count, request_capacity;
  const gab_port *port;     /**< deferred free: the port that abandoned it, until the port is destroyed */
  struct gab_traffic *next; /**< in the list of deferred frees */
} gab_traffic;

/** Position on the two channels to and from one peer. */
typedef struct gab_channel {
  gab_rank peer;
  uint64_t sent, received;
  uint64_t counted,
      counted_bytes; /**< sent since gab_world_forget_sent() or the last repair, envelopes included */
} gab_channel;

struct gab_port {
  gab_world *world; /**< NULL after the world was destroyed */
  bool logged;
  uint32_t log_context; /**< its number among the logged ports */
  char name[48];
  uint32_t context;
  bool has_pattern; /**< by gab_port_set_pattern(); else messages carry the active pattern of the world */
  gab_pattern_id pattern;
  gab_channel *channels; /**< ascending by peer; only peers with messages */
  size_t channel_count, channel_capacity;
  gab_traffic *traffic; /**< NULL if there has been none since the last abandonment */
  gab_buffer *own;      /**< messages to this rank itself that are not received yet, oldest first */
  size_t own_count, own_capacity;
  gab_port *next;
};

/** A message in the queue of a mailbox. */
typedef struct gab_letter {
  struct gab_letter *next;
  gab_mail about;
  gab_buffer bytes; /**< the message, envelope and tag included */
} gab_letter;

/** A message being sent. */
typedef struct gab_parcel {
  struct gab_parcel *next;
  gab_buffer bytes; /**< lent to the port */
} gab_parcel;

struct gab_mailbox {
  gab_world *world;
  gab_port *port;
  gab_epoch epoch;          /**< epoch of the queue */
  gab_letter *first, **end; /**< in order of arrival */
  gab_parcel *sending;      /**< kept until none is in transit */
  int32_t next;             /**< member to probe next */
  gab_mailbox *older;
};

/** Patterns of the application. */
typedef struct gab_patterns {
  uint64_t *iterations; /**< of the patterns 1, 2, ... */
  size_t count;
  gab_pattern active;
} gab_patterns;

/** Recorded collective calls of the set-up: those with a result on processes without a rank. */
typedef enum gab_replay_kind {
  GAB_REPLAY_BROADCAST,
  GAB_REPLAY_REDUCTION,
  GAB_REPLAY_SCAN,
  GAB_REPLAY_AGREEMENT,
  GAB_REPLAY_KINDS
} gab_replay_kind;

/** Limit of the record; above it no process can be respawned. */
enum { GAB_REPLAY_MOST_BYTES = 1 << 20 };

typedef struct gab_replay {
  enum {
    GAB_REPLAY_WRITES, /**< in the set-up */
    GAB_REPLAY_READS,  /**< in the set-up of a respawned process */
    GAB_REPLAY_OVER,   /**< after the set-up; the record is kept if processes may be respawned */
    GAB_REPLAY_LOST,   /**< unusable: see why_lost */
    GAB_REPLAY_NONE    /**< nothing is recorded: the launcher does not allow respawned processes */
  } state;
  const char *why_lost;
  gab_buffer record;
  size_t at; /**< position of a reader */
} gab_replay;

/** State that a respawned process receives, and applies after its set-up (respawn.c). */
typedef struct gab_arrival gab_arrival;

struct gab_world {
  MPI_Comm comm; /**< all live processes, spares too, ordered by process; all ports use it */
  MPI_Comm
      active_comm; /**< members, ordered by rank: agreements while spares idle, communicators of the application.
                         Equal to `comm` if possible */
  bool meets_on_active; /**< a process may wait in an agreement on `active_comm`, not knowing of the repair */
  gab_members processes;   /**< live processes, as "ranks" of a gab_members */
  gab_process process;     /**< this process */
  int32_t spares_per_node; /**< spares per node at the start; 0: counted for the whole run */
  gab_process
      first_processes; /**< number of processes at the start of the job; processes with higher numbers were respawned */
  gab_replay replay;    /**< record of the set-up for respawned processes */
  gab_arrival *arrival; /**< on a respawned process in its set-up; else NULL */
  char *folder;         /**< working folder at the start of the program */
  int32_t spawns;       /**< attempts to respawn in this repair */
  bool has_spawned;     /**< a respawn was ever attempted */
  bool has_nodes;       /**< the run is, or was, on more than one node */
  gab_rank *node_ranks; /**< ranks of this node at the end of the last repair; none before gab_world_rest() */
  int32_t node_rank_count;
  gab_process *origins; /**< for each respawned process: gab_world_process_beside() */
  int32_t origin_count;
  bool resting;    /**< spares idle: collective calls involve members only */
  bool dismissing; /**< all members are at the end: gab_world_dismiss() */
  bool
      is_abandoned; /**< a process raised an abort request after gab_world_dismiss() and takes no further part */
  bool calls_nobody; /**< some process is dismissing, as known to the present repair: no spare is assigned */
  gab_replacement replacement; /**< treatment of the ranks of dead processes */
  gab_distance_fn distance;    /**< NULL: all spares are alike */
  const void *distance_user;
  gab_members whole; /**< members at the start of the present repair */
  gab_members members;
  gab_rank rank; /**< of a spare: above all ranks, see gab_world_rank() */
  gab_epoch epoch;
  gab_step step;
  gab_fault_point point;
  gab_fault_point_hook hook;
  void *hook_user;
  gab_policy policy;

  bool broken;    /**< every call fails until the next repair */
  bool repairing; /**< the error handler does nothing */
  int last_code;  /**< seen by the error handler: calls on several requests return less information */
  bool lost;      /**< a repair has failed for good */
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
  gab_buffer inbox, outbox; /**< of collective operations */
  uint32_t logged_ports;
  bool sent_is_uncounted;           /**< gab_world_count_sent() */
  const gab_message_logger *logger; /**< NULL: MPI carries all messages */
  gab_reliable_channel *channel;    /**< NULL: none */
  gab_rest_fn rest;                 /**< called by idle spares; NULL: none */
  void *rest_user;
  bool has_claim;
  gab_claim claim;                        /**< claim of this process, until the next repair */
  gab_claim earlier[GAB_MOST_CLAIMS - 1]; /**< see gab_world_claim_earlier() */
  int earlier_count;
  gab_claim claims[GAB_MOST_CLAIMS];
  int claim_count;       /**< number of claims merged by the last repair */
  uint64_t meetings;     /**< see gab_world_meetings() */
  gab_traffic *deferred; /**< abandoned messages whose memory MPI may still use */

  bool shares_cores; /**< this node has more processes than cores: see gab_world_pause() */
  bool owns_mpi;
  bool guards_comm_world; /**< see comm_world.c */
  bool is_without_mpi;    /**< gab_world_create_alone(): all communicators are MPI_COMM_NULL */
  gab_world *next;        /**< list of the error handler, which gets no user pointer from MPI */
};

/* ---------------------------------------------------------------- ranks.c */

/** The only functions that convert a rank to a rank in `comm`, in which processes keep their order. -1 if the rank
 * is lost. A spare has the number of gab_world_rank(). */
int gab_world_comm_rank(const gab_world *world, gab_rank rank);
gab_process gab_world_process_of_comm_rank(const gab_world *world, int comm_rank);
/** Whether `active_comm` must differ from `comm`: there are spares, or the order of ranks differs from that of processes. */
bool gab_world_has_benches(const gab_world *world);

/** Number of participants of collective calls: members, followed by spares unless they idle. */
int32_t gab_world_participants(const gab_world *world);
/** @return -1 for an idle spare */
int32_t gab_world_my_place(const gab_world *world);
gab_rank gab_world_participant(const gab_world *world, int32_t place);
/** The index-th spare, ordered by process. */
gab_process gab_world_spare(const gab_world *world, int32_t index);

/** Assigns the ranks that became vacant since `whole` to available spares: the nearest first, the lowest to the
 * lowest. The same result on all. Local. */
gab_status gab_world_call_spares(gab_world *world);

/** Reserves capacity for `count` elements in a growing array. */
gab_status gab_array_reserve(void **array, size_t *capacity, size_t count, size_t element_bytes);

/* ---------------------------------------------------------------- spares_chosen.c */

/** Requested number of spares, GABION_SPARES: "K" for the run, or "K/node" for each node. */
typedef struct gab_spares_wish {
  int32_t count;
  bool per_node;
} gab_spares_wish;

/** Parses GABION_SPARES. @return ::GAB_ERR_INPUT for an invalid value. Local; the same on all */
gab_status gab_spares_told(gab_spares_wish *wish);
/** Creates the communicator of all processes from MPI_COMM_WORLD, spares last. Collective, without agreement: after
 * a death it may exist on some processes only. @param[out] spares their number @return code of MPI */
int gab_spares_set_aside(const gab_spares_wish *wish, MPI_Comm *comm, int32_t *spares);

/* ---------------------------------------------------------------- fault.c */

/** Adds the world to, and removes it from, the list of the error handler. */
gab_status gab_world_watch(gab_world *world);
void gab_world_unwatch(gab_world *world);
/** Attaches the error handler to a communicator. */
void gab_world_watch_comm(MPI_Comm comm);
bool gab_mpi_is_fault(int code);
void gab_world_revoke(gab_world *world);
/** Marks the world broken and revokes all its communicators. */
void gab_world_break(gab_world *world);
/** Detaches all ports from the memory of their callers and returns ::GAB_ERR_FAULT with a message. Every call in a
 * broken world returns by this function. */
gab_status gab_world_fault(gab_world *world);
/** Converts the code of an MPI function to GAB_OK, ::GAB_ERR_FAULT or ::GAB_ERR_MPI. */
gab_status gab_world_mpi(gab_world *world, int code, const char *function);
/** Keeps the present error message for the repair. */
void gab_world_keep_abort_request(gab_world *world, gab_status abort_request, gab_rank rank,
                                  const char *message, const char *where);
void gab_world_forget_abort_request(gab_world *world);
/** Bitwise AND over the live processes of `comm`, which may contain dead ones or be revoked. @param[out] deaths an
 * unacknowledged death exists; may be NULL */
gab_status gab_comm_agree(MPI_Comm comm, int *bits, bool *deaths);
void gab_comm_revoke(MPI_Comm comm);

/** Lets MPI make progress without waiting. */
void gab_mpi_progress(void);
/** Counts the processes of `comm` that MPI has reported dead, and those among them that run a rank. Local. */
gab_status gab_world_count_deaths(gab_world *world, int *processes, int32_t *members);
/** @return ::GAB_ERR_STATE with a message logger, since `what` would wait for all processes */
gab_status gab_world_refuse_logged(const gab_world *world, const char *what);
/** Ends a respawned process whose set-up has failed, which the others detect as a death. Does not return. */
void gab_world_leave(void);
/** Breaks the world if a member has died. For waits without an MPI request, which MPI cannot interrupt. Local. */
gab_status gab_world_look_for_deaths(gab_world *world);

/* ---------------------------------------------------------------- pattern.c */

/** The pattern id of messages that a port sends now. */
gab_pattern_id gab_port_pattern(const gab_port *port);
/** Whether no receive here can match that id any more. */
bool gab_pattern_is_over(const gab_world *world, gab_pattern_id id);
/** @return ::GAB_ERR_STATE if a mailbox contains messages of a finished iteration */
gab_status gab_mailboxes_check(const gab_world *world);

/* ---------------------------------------------------------------- mailbox.c */

/** Appends a message to the queue. @param[in,out] message empty after success */
gab_status gab_mailbox_put(gab_mailbox *mailbox, gab_buffer *message);
void gab_mailbox_empty(gab_mailbox *mailbox);

/* ---------------------------------------------------------------- port_logged.c */

gab_status gab_logged_send(gab_port *port, gab_rank target, gab_buffer *message);
/** Tests all pending receives once. @param[out] pending some messages have not arrived */
gab_status gab_logged_take(gab_port *port, bool *pending);
/** Lets the message logger serve other processes. */
gab_status gab_logged_serve(gab_port *port);
/** Takes the next message of a channel, if the message logger has it. */
gab_status gab_logged_poll(gab_port *port, gab_transfer *transfer, bool *there);

/* ---------------------------------------------------------------- message_logger.c */

/** In a repair: assigns the claimed ranks to their new processes. Equal on all. */
gab_status gab_world_settle_claims(gab_world *world);

/* ---------------------------------------------------------------- comm.c */

/** Creates `active_comm` and the registered communicators again from world->comm. Collective, without agreement. */
gab_status gab_world_remake_comms(gab_world *world);
void gab_world_free_comms(gab_world *world);
/** Frees a replaced or temporary communicator of a repair after the new ones exist. Open MPI (5.0.7,
 * ompi_comm_nextcid()) creates communicators one after another, ordered by the context ids of their parents.
 * If a creation fails after a death, the id stays in that queue, and any creation from a parent with a higher
 * id, such as the next shrink, waits forever. While old communicators keep their ids, new ones get higher ids
 * than world->comm, which was created first. @param[in] comm must not be used afterwards; MPI_COMM_NULL: no
 * effect */
void gab_comm_retire(MPI_Comm comm);
void gab_comm_free_retired(void);
/** Retires all communicators of gab_world_free_comms(). */
void gab_world_retire_comms(gab_world *world);

/* ---------------------------------------------------------------- replay.c */

/** Whether this is a respawned process in its set-up, whose collective calls return recorded results. */
bool gab_world_replays(const gab_world *world);
/** Marks the record, if any, as unusable. @param[in] why borrowed forever */
void gab_replay_give_up(gab_world *world, const char *why);
/** Records the result of a collective call in the set-up. */
void gab_replay_note(gab_world *world, gab_replay_kind kind, const void *bytes, size_t count);
/** Reads the next recorded result. @return ::GAB_ERR_STATE if the recorded call is of another kind */
gab_status gab_replay_next(gab_world *world, gab_replay_kind kind, gab_reader *bytes);
/** The same for a result of known size. */
gab_status gab_replay_into(gab_world *world, gab_replay_kind kind, void *bytes, size_t count);
/** Ends the recording after the set-up. */
void gab_replay_close(gab_world *world);
/** Drops the record. */
void gab_replay_end(gab_world *world);

/* ---------------------------------------------------------------- nodes.c */

/** Determines the ranks of this node. Collective over `comm`. */
gab_status gab_nodes_find(gab_world *world);

/* ---------------------------------------------------------------- connect_root.c */

/** Connects the root with all processes, if silent connections are watched. Collective over `comm`. @return
 * ::GAB_ERR_FAULT on some or all if a process died */
gab_status gab_world_connect_root(gab_world *world);

/* ---------------------------------------------------------------- spawn.c */

/** Stores the name of the current folder, in which respawned processes start. */
gab_status gab_world_note_folder(gab_world *world);

/** Whether this process was respawned by another one of the same program (known before MPI is initialised). */
bool gab_world_was_spawned(void);
/** On a respawned process, before MPI_Init: it ends itself if it is not accepted in time, since no process may be waiting for it. */
void gab_spawn_limit_set(void);

/* ---------------------------------------------------------------- comm_world.c */

/** From now on MPI_COMM_WORLD is revoked together with the communicators of this world, and its use after a fault
 * raises ::GAB_ERR_STATE. The communicators of the world must exist. Local. */
gab_status gab_comm_world_guard(gab_world *world);
void gab_comm_world_unguard(const gab_world *world);
/** Installs the error handler again: the application may have set its own before the fault. */
void gab_comm_world_watch(const gab_world *world);
/** Raises an error that a respawned process caused in its set-up, after it has joined the others. */
void gab_comm_world_raise_late(gab_world *world);

/* ---------------------------------------------------------------- respawn.c */

/** On a respawned process, instead of creating the main communicator: joins the survivors and receives their state. */
gab_status gab_world_arrive(gab_world *world);
/** After the set-up of a respawned process: adopts the state of the others, whose repair must be finished together. */
gab_status gab_world_appear(gab_world *world);
/** In a repair: starts a process for each rank that is still vacant, and moves the world to
 * a communicator with them. Collective over `comm`. @param[out] good false: repeat the
 * attempt */
gab_status gab_world_respawn(gab_world *world, bool *good);
void gab_arrival_destroy(gab_arrival **arrival);

/* ---------------------------------------------------------------- world.c */

/** Initialises the members common to all worlds. */
void gab_world_initialise(gab_world *world);
/** Opens the ports of the collective operations. */
gab_status gab_world_open_ports(gab_world *world);
/** Frees the world and its resources except communicators. */
void gab_world_release(gab_world *world);

/* ---------------------------------------------------------------- repair.c */

/** gab_world_repair() on a respawned process after its set-up: the end of the repair that started it. */
gab_status gab_world_join(gab_world *world, gab_status *abort_request);

/* ---------------------------------------------------------------- port.c, traffic.c */

/** Detaches all ports of a world from the memory of their callers: drop_messages. */
void gab_world_abandon_ports(gab_world *world);
gab_status gab_port_open(gab_world *world, const char *name, uint32_t context, gab_port **port);
/** Detaches a port from the memory of its callers: messages in transit become deferred frees. */
void gab_port_abandon(gab_port *port);
/** Resets both channels to a peer; both sides must call it at the same place. */
void gab_port_forget(gab_port *port, gab_rank peer);
/** Empties all ports and resets all channels. */
void gab_world_reset_ports(gab_world *world);

/** Appends a transfer with its buffer only. */
gab_status gab_traffic_add(gab_port *port, gab_buffer *message, gab_transfer **transfer);
/** Posts the bytes of the message from `posted` up to `end`, in chunks. */
gab_status gab_traffic_post(gab_port *port, gab_transfer *transfer, size_t end);
/** Tests first chunks whose transfers need further requests. @param[out] pending some have not arrived */
gab_status gab_traffic_check(gab_port *port, bool *pending);
/** @param[out] done  all requests are finished */
gab_status gab_traffic_test(gab_port *port, bool *done);
/** Waits for all requests, verifies received messages, and drops all transfers. */
gab_status gab_traffic_wait(gab_port *port);
/** Ends the requests of deferred frees and releases their memory. */
void gab_world_free_deferred(gab_world *world);
void gab_traffic_destroy(gab_traffic *traffic);
/** Before a port is destroyed: messages of gab_port_send_kept() become deferred frees, since callers may free them afterwards. */
void gab_traffic_take_kept(const gab_port *port);
/** Receives the next message of a channel completely, if its first chunk has arrived. */
gab_status gab_traffic_poll(gab_port *port, gab_transfer *transfer, bool *there);
/** Takes the oldest message to this rank itself for a receive. @param[out] taken false if there is none */
gab_status gab_port_take_own(gab_port *port, gab_transfer *transfer, bool *taken);

#define GAB_ENVELOPE_MAGIC 0x4d424147u /* "GABM" */
void gab_envelope_write(const gab_envelope *envelope, unsigned char *bytes);

#endif
