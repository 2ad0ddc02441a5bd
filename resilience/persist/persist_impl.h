/* SPDX-License-Identifier: Apache-2.0 */
/** @file persist_impl.h
 *  @brief Persistent communicators: the session of a key, shared by the sources of this library.
 *
 *  A session holds the message log of this process (persist_msglog_impl.h), its files (persist_msglog_file_impl.h), copies of the logs of other
 *  processes (`replicas`), and the inbox: stored messages that may be received again.
 *
 *      nothing --open--> OPEN --death, revocation--> BROKEN --opened again with the repaired communicator--> OPEN
 *                         |                            |
 *                         +--MPI_Comm_free-> nothing   +--the process dies, or frees: nothing (in memory)
 *
 *  Opening (open.c) is collective, in six stages; after each, all processes know whether all can continue. All messages
 *  between processes use `inner` and `live`, which are revoked with `comm` or its source.
 *
 *  Stages, invariants and why a restart finds a consistent state: doc/persist.md, "How it works".
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_RESILIENCE_PERSIST_PERSIST_IMPL_H
#define GABION_RESILIENCE_PERSIST_PERSIST_IMPL_H

#include "resilience/persist/persist_msglog_file_impl.h"
#include "resilience/persist/persist.h"
#ifdef GAB_HAVE_ULFM
#include <mpi-ext.h>
#endif

enum { PERSIST_KEY_MOST = 200, PERSIST_FOLDER_CAPACITY = 600, PERSIST_FILES = 2 };

typedef enum persist_commit_kind {
  PERSIST_COMMIT_SELF,
  PERSIST_COMMIT_TOGETHER,
  PERSIST_COMMIT_EACH
} persist_commit_kind;

/** Settings from info. */
typedef struct persist_settings {
  bool transparent, lifo, sync, in_file, in_node, in_neighbour;
  bool ring;  /**< copies on the next ranks; else spread evenly */
  int copies; /**< copies of each process on others */
  persist_commit_kind commit;
  uint64_t depth; /**< UINT64_MAX: all */
  uint64_t bytes; /**< expected per process; 0: not given */
  char folder[PERSIST_FOLDER_CAPACITY], node_folder[PERSIST_FOLDER_CAPACITY];
} persist_settings;

/** A message that may be received again. */
typedef struct persist_letter {
  int32_t source, tag, target; /**< target: this process, or #PERSIST_TO_ALL */
  bool taken;
  uint64_t number, serial, checksum;
  size_t bytes;
  const unsigned char *data; /**< in inbox.memory */
} persist_letter;

typedef struct persist_inbox {
  persist_letter *letters; /**< by source, then serial */
  size_t count, first;     /**< those before `first` have been received */
  gab_buffer *memory;
  size_t memory_count;
} persist_inbox;

/** The message log of another process. */
typedef struct persist_replica {
  int rank;
  persist_msglog msglog;
} persist_replica;

/** A live receive of transparent mode that has not completed. */
typedef struct persist_live {
  MPI_Request request;
  int32_t source, tag;
  uint64_t number;
} persist_live;

typedef struct persist_session {
  char key[PERSIST_KEY_MOST + 1];
  persist_settings set;
  uint64_t run; /**< random number from the fresh start: files of other runs do not match */
  int rank, size;
  MPI_Comm parent; /**< MPI_COMM_NULL after it was freed */
  MPI_Comm comm;   /**< the user's handle */
  MPI_Comm inner;  /**< traffic of the library */
  MPI_Comm live;   /**< transparent mode: delivers messages */
  persist_msglog msglog;
  persist_file files[PERSIST_FILES];
  int file_count;
  persist_replica *replicas;
  int replica_count;
  persist_inbox inbox;
  persist_map before;  /**< transparent: (source, tag) -> number sent by the source when this was opened */
  persist_map already; /**< transparent: (target, tag) -> number received by the target then */
  persist_live *lives;
  size_t live_count;
  bool survivor;  /**< during opening: its state was in memory */
  bool restored;  /**< gab_failure() */
  bool retrieves; /**< collective operations return stored data */
  bool complete;  /**< it has a state */
  bool opened;    /**< MPIX_Comm_persist() has returned it to the program */
  bool broken;
  int code; /**< of MPI, when the session broke */
  struct persist_session *next;
} persist_session;

/* ---------------------------------------------------------------- session.c */

/** Number of open sessions; 0 makes persist_of() cheap. */
extern int gab_persist_open_count;
extern size_t gab_persist_live_count; /**< of all sessions */
persist_session *gab_persist_find(MPI_Comm comm);
/** The session of a persistent communicator, NULL for any other. */
static inline persist_session *persist_of(MPI_Comm comm)
{
  return gab_persist_open_count == 0 ? NULL : gab_persist_find(comm);
}
/** The session of a key, open or broken. */
persist_session *gab_persist_find_key(const char *key);
/** The sessions whose communicators came from `comm`: call until NULL. @param[in] last  the one before, NULL at first */
persist_session *gab_persist_child(MPI_Comm comm, const persist_session *last);
/** The first of the list; the others by ->next. */
persist_session *gab_persist_first(void);
void gab_persist_enter(persist_session *session);
/** Removes it from the list. */
void gab_persist_leave(persist_session *session);
/** Prints a warning if messages were sent but not committed: of one session, of all open ones. */
void gab_persist_say_pending_of(const persist_session *session);
void gab_persist_say_pending(void);
/** Frees the communicators. */
void gab_persist_free_comms(persist_session *session);
/** Closes files and releases all data. The session is not in the list. */
void gab_persist_destroy(persist_session *session);
void gab_persist_inbox_release(persist_inbox *inbox);

/* ---------------------------------------------------------------- errors.c */

/** Code that a call returns for a status with its message. */
int gab_persist_code(const persist_session *session, gab_status status);
/** Calls the error handler and returns the code. */
int gab_persist_raise(persist_session *session, int code);
/** Return value of a call: gab_persist_raise() of gab_persist_code(); MPI_SUCCESS for GAB_OK. */
int gab_persist_return(persist_session *session, gab_status status);
int gab_persist_code_of(gab_persist_error error);
/** Sets the message, calls the error handler, returns the code. */
int gab_persist_refuse(persist_session *session, gab_persist_error error, const char *format, ...)
    GAB_PRINTF(3, 4);
/** Refuses `call` with a message that names it. */
int gab_persist_unsupported(persist_session *session, const char *call);

/* ---------------------------------------------------------------- parcels.c */

bool gab_persist_is_fault(int code);
/** Marks the session broken and revokes its communicators. No effect on a broken one. */
void gab_persist_break(persist_session *session, int code);
/** Whether the session can be used: GAB_OK, or GAB_ERR_FAULT after a death or a revocation. */
gab_status gab_persist_check(persist_session *session);
/** GAB_OK for MPI_SUCCESS; else breaks the session. */
gab_status gab_persist_mpi(persist_session *session, int code, const char *what);
/** Collective: GAB_OK if all call it with that; else the same failure on all, with the message of the lowest rank with the
 * worst failure. A status of GAB_ERR_FAULT is returned at once. */
gab_status gab_persist_all(persist_session *session, gab_status status);

typedef struct persist_parcel {
  int peer;
  gab_buffer *bytes; /**< received: appended */
} persist_parcel;
/** Sends and receives buffers whose sizes the receiver does not know, at most one per peer and direction. A peer in `from`
 * must have this process in `to`. */
gab_status gab_persist_trade(persist_session *session, const persist_parcel *to, int to_count,
                             const persist_parcel *from, int from_count);
/** Exchange between all pairs. @param[in,out] to  one per rank, released @param[out] from  one per rank, empty before */
gab_status gab_persist_trade_all(persist_session *session, gab_buffer *to, gab_buffer *from);

/* ---------------------------------------------------------------- settings.c */

gab_status gab_persist_settings_read(MPI_Info info, int size, persist_settings *settings);
/** Equal for equal settings. */
uint64_t gab_persist_settings_hash(const persist_settings *settings);
/** Hash of the settings that a file must match. */
uint64_t gab_persist_settings_of_file(const persist_settings *settings);

/* ---------------------------------------------------------------- copies.c */

/** Sends a group, or whole message logs (`whole`), to the holders, and receives those of the protected ranks. Collective. */
gab_status gab_persist_copy(persist_session *session, const gab_buffer *groups, bool whole);

/* ---------------------------------------------------------------- open.c, inbox.c, commit.c */

/** Opens the session, whose communicators, key and settings are set. Collective. */
gab_status gab_persist_open(persist_session *session);
/** Fills the inbox and the two counts from the message logs of all. Collective. */
gab_status gab_persist_fill_inbox(persist_session *session);
gab_status gab_persist_commit_epoch(persist_session *session);

/* ---------------------------------------------------------------- messages.c */

typedef enum persist_send_kind {
  PERSIST_SEND,
  PERSIST_BSEND,
  PERSIST_SSEND,
  PERSIST_RSEND
} persist_send_kind;

/** Bytes of a message, packed. */
gab_status gab_persist_pack(persist_session *session, const void *buffer, int count, MPI_Datatype type,
                            gab_buffer *bytes);
/** Unpacks into a receive buffer as MPI would. */
int gab_persist_deliver(persist_session *session, const persist_letter *letter, void *buffer, int count,
                        MPI_Datatype type, MPI_Status *status);
/** Stores; in transparent mode also delivers, unless it was received before. @param[out] request  NULL: blocking; else one
 * request, for #PERSIST_TO_ALL one per rank, unchanged where nothing is pending */
gab_status gab_persist_store(persist_session *session, int32_t target, int tag, const void *buffer, int count,
                             MPI_Datatype type, persist_send_kind kind, MPI_Request *request);
/** The next message to receive: a letter or none; *live says that it comes from the sender. */
gab_status gab_persist_next_letter(persist_session *session, int source, int tag, persist_letter **letter,
                                   bool *live);
/** Receives, blocking. Tags below 0 belong to collective operations. @return code of MPI; the error handler has not been
 * called */
int gab_persist_take(persist_session *session, void *buffer, int count, MPI_Datatype type, int source,
                     int tag, MPI_Status *status);
/** Communicator and tag by which a message is delivered. */
MPI_Comm gab_persist_live_comm(const persist_session *session, int tag);
int gab_persist_live_tag(int tag);
/** Handles a fault that a live call returned; any other code is passed on. Does not call the error handler. */
int gab_persist_live_code(persist_session *session, int code);

/* ---------------------------------------------------------------- requests.c */

/** A request that is complete. */
/** @param[in] status  NULL: of a send */
int gab_persist_request_done(const MPI_Status *status, MPI_Request *request);
gab_status gab_persist_live_add(persist_session *session, MPI_Request request, int source, int tag,
                                uint64_t number);
/** Incomplete receives will be received again: withdraws their numbers. */
gab_status gab_persist_lives_forget(persist_session *session);

/* Each file of interposed calls defines one, so that all are linked if one is. */
extern const char gab_persist_calls_messages, gab_persist_calls_requests, gab_persist_calls_collectives,
    gab_persist_calls_refused, gab_persist_calls_refused_more, gab_persist_calls_life;

#endif
