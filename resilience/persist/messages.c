/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include <limits.h>

enum { TAG_OF_COLLECTIVES = 16 };

/* ------------------------------------------------------------------------------------ packing */

/* Converts data to and from bytes by a message of this process to itself, so that MPI handles derived types, partial
 * receives and statuses. */
static gab_status self(MPI_Comm *comm)
{
  static MPI_Comm own = MPI_COMM_NULL;
  if (own == MPI_COMM_NULL) {
    if (PMPI_Comm_dup(MPI_COMM_SELF, &own) != MPI_SUCCESS)
      GAB_FAIL(GAB_ERR_MPI, "MPI_COMM_SELF cannot be copied");
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  }
  *comm = own;
  return GAB_OK;
}

static gab_status size_of(int count, MPI_Datatype type, size_t *bytes)
{
  MPI_Count each = 0;
  if (count < 0) GAB_FAIL(GAB_ERR_ARGUMENT, "a message of %d elements", count);
  if (PMPI_Type_size_x(type, &each) != MPI_SUCCESS || each == MPI_UNDEFINED)
    GAB_FAIL(GAB_ERR_ARGUMENT, "the size of a type is not known");
  *bytes = (size_t)count * (size_t)each;
  if (count > 0 && *bytes / (size_t)count != (size_t)each)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a message is too large");
  return GAB_OK;
}

gab_status gab_persist_pack(persist_session *session, const void *buffer, int count, MPI_Datatype type,
                            gab_buffer *bytes)
{
  size_t size = 0;
  void *place;
  MPI_Comm comm = MPI_COMM_NULL;
  GAB_TRY(size_of(count, type, &size));
  if (size > INT_MAX)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a message of %zu bytes: at most %d can be stored", size, INT_MAX);
  GAB_TRY(self(&comm));
  GAB_TRY(gab_buffer_extend(bytes, size, &place));
  const int code =
      PMPI_Sendrecv(buffer, count, type, 0, 0, place, (int)size, MPI_PACKED, 0, 0, comm, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) return GAB_OK;
  session->code = code;
  GAB_FAIL(GAB_ERR_MPI, "a message cannot be packed");
}

int gab_persist_deliver(persist_session *session, const persist_letter *letter, void *buffer, int count,
                        MPI_Datatype type, MPI_Status *status)
{
  size_t capacity = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Status own;
  if (size_of(count, type, &capacity) != GAB_OK) return MPI_ERR_COUNT;
  if (gab_persist_checksum(letter->target, letter->tag, letter->number, letter->data, letter->bytes) !=
      letter->checksum) {
    gab_error_set(GAB_ERR_CORRUPT, __FILE__, __LINE__,
                  "message %" PRIu64 " of rank %d with tag %d does not match its checksum", letter->number,
                  (int)letter->source, (int)letter->tag);
    return gab_persist_code_of(GAB_PERSIST_DAMAGED);
  }
  if (letter->bytes > capacity) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                  "message %" PRIu64
                  " of rank %d with tag %d has %zu bytes, the buffer takes %zu; it stays stored",
                  letter->number, (int)letter->source, (int)letter->tag, letter->bytes, capacity);
    return MPI_ERR_TRUNCATE;
  }
  const gab_status got = self(&comm);
  if (got != GAB_OK) return gab_persist_code(session, got);
  const int code = PMPI_Sendrecv(letter->data, (int)letter->bytes, MPI_PACKED, 0, 0, buffer, count, type, 0,
                                 0, comm, &own);
  if (code != MPI_SUCCESS) return code;
  own.MPI_SOURCE = letter->source;
  own.MPI_TAG = letter->tag;
  if (status != MPI_STATUS_IGNORE) *status = own;
  return MPI_SUCCESS;
}

/* ------------------------------------------------------------------------------------ sending */

MPI_Comm gab_persist_live_comm(const persist_session *session, int tag)
{
  return tag < 0 ? session->inner : session->live;
}
int gab_persist_live_tag(int tag) { return tag < 0 ? TAG_OF_COLLECTIVES - tag : tag; }

int gab_persist_live_code(persist_session *session, int code)
{
  if (gab_persist_is_fault(code)) (void)gab_persist_mpi(session, code, "");
  return code;
}

static int send_live(persist_session *session, int target, int tag, const void *buffer, int count,
                     MPI_Datatype type, persist_send_kind kind, MPI_Request *request)
{
  const MPI_Comm comm = gab_persist_live_comm(session, tag);
  tag = gab_persist_live_tag(tag);
  switch (kind) {
  case PERSIST_BSEND:
    return request ? PMPI_Ibsend(buffer, count, type, target, tag, comm, request)
                   : PMPI_Bsend(buffer, count, type, target, tag, comm);
  case PERSIST_SSEND:
    return request ? PMPI_Issend(buffer, count, type, target, tag, comm, request)
                   : PMPI_Ssend(buffer, count, type, target, tag, comm);
  case PERSIST_RSEND:
    return request ? PMPI_Irsend(buffer, count, type, target, tag, comm, request)
                   : PMPI_Rsend(buffer, count, type, target, tag, comm);
  default:
    return request ? PMPI_Isend(buffer, count, type, target, tag, comm, request)
                   : PMPI_Send(buffer, count, type, target, tag, comm);
  }
}

static gab_status deliver_live(persist_session *session, int32_t target, int tag, uint64_t number,
                               const void *buffer, int count, MPI_Datatype type, persist_send_kind kind,
                               MPI_Request *request)
{
  const bool all = target == PERSIST_TO_ALL;
  for (int rank = all ? 0 : target; rank < (all ? session->size : target + 1); rank++) {
    if (number <= gab_persist_map_get(&session->already, rank, tag))
      continue; /* it was received before the fault */
    if (all && rank == session->rank) continue;
    MPI_Request *own = request ? &request[all ? rank : 0] : NULL;
    const int code =
        gab_persist_live_code(session, send_live(session, rank, tag, buffer, count, type, kind, own));
    if (code == MPI_SUCCESS) continue;
    session->code = code;
    if (gab_persist_is_fault(code)) return gab_persist_check(session);
    GAB_FAIL(GAB_ERR_MPI, "a message to rank %d could not be sent", rank);
  }
  return GAB_OK;
}

gab_status gab_persist_store(persist_session *session, int32_t target, int tag, const void *buffer, int count,
                             MPI_Datatype type, persist_send_kind kind, MPI_Request *request)
{
  gab_buffer bytes = {0};
  uint64_t number = 0;
  GAB_TRY(gab_persist_check(session));
  gab_status status = gab_persist_pack(session, buffer, count, type, &bytes);
  if (status == GAB_OK)
    status = gab_persist_msglog_store(&session->msglog, target, tag, bytes.data, bytes.size, &number);
  gab_buffer_release(&bytes);
  if (status != GAB_OK) return status;
  if (tag >= 0) session->retrieves = false;
  if (session->set.transparent) {
    status = deliver_live(session, target, tag, number, buffer, count, type, kind, request);
    if (status != GAB_OK) gab_persist_msglog_unstore(&session->msglog, target, tag); /* will be sent again */
    if (status != GAB_OK) return status;
  }
  if (session->set.commit == PERSIST_COMMIT_EACH) GAB_TRY(gab_persist_commit_epoch(session));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ receiving */

static bool matches(const persist_letter *letter, int source, int tag)
{
  if (letter->taken || (source != MPI_ANY_SOURCE && letter->source != source)) return false;
  return tag == MPI_ANY_TAG ? letter->tag >= 0 : letter->tag == tag;
}

/* Finds the next stored message: sources in the order of ranks, messages of a source in the order that info specifies. */
static persist_letter *find_stored(persist_session *session, int source, int tag)
{
  persist_inbox *inbox = &session->inbox;
  persist_letter *found = NULL;
  while (inbox->first < inbox->count && inbox->letters[inbox->first].taken) inbox->first++;
  for (size_t i = inbox->first; i < inbox->count; i++) {
    persist_letter *letter = &inbox->letters[i];
    if (found && letter->source != found->source) break;
    if (!matches(letter, source, tag)) continue;
    found = letter;
    if (!session->set.lifo) break;
  }
  return found;
}

static gab_status next_transparent(persist_session *session, int source, int tag, persist_letter **letter,
                                   bool *live)
{
  if (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "in transparent mode a receive names source and tag: with wildcards it could not be replayed");
  const uint64_t next = gab_persist_map_get(&session->msglog.received, source, tag) + 1;
  *live = next > gab_persist_map_get(&session->before, source, tag);
  if (*live) return GAB_OK;
  *letter = find_stored(session, source, tag);
  if (*letter && (*letter)->number == next) return GAB_OK;
  *letter = NULL;
  GAB_FAIL(GAB_ERR_LOST,
           "message %" PRIu64 " of rank %d with tag %d was overwritten: info persist_depth is too small",
           next, source, tag);
}

gab_status gab_persist_next_letter(persist_session *session, int source, int tag, persist_letter **letter,
                                   bool *live)
{
  *live = false;
  *letter = NULL;
  GAB_TRY(gab_persist_check(session));
  if (session->set.transparent) return next_transparent(session, source, tag, letter, live);
  *letter = find_stored(session, source, tag);
  return GAB_OK;
}

static void letter_is_taken(persist_session *session, persist_letter *letter)
{
  letter->taken = true;
  if (session->set.transparent)
    (void)gab_persist_map_put(&session->msglog.received, letter->source, letter->tag, letter->number);
}

static int nothing(const persist_session *session, int source, int tag)
{
  gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                "persistent communicator `%s': nothing %sis stored for rank %d from source %d with tag %d",
                session->key, session->inbox.count > 0 ? "more " : "", session->rank, source, tag);
  return gab_persist_code_of(GAB_PERSIST_NOTHING);
}

int gab_persist_take(persist_session *session, void *buffer, int count, MPI_Datatype type, int source,
                     int tag, MPI_Status *status)
{
  persist_letter *letter = NULL;
  bool live = false;
  const gab_status found = gab_persist_next_letter(session, source, tag, &letter, &live);
  if (found != GAB_OK) return gab_persist_code(session, found);
  if (live) {
    MPI_Status own;
    const int code =
        gab_persist_live_code(session, PMPI_Recv(buffer, count, type, source, gab_persist_live_tag(tag),
                                                 gab_persist_live_comm(session, tag), &own));
    if (code != MPI_SUCCESS && !gab_persist_is_fault(code) && code != MPI_ERR_TRUNCATE) return code;
    if (gab_persist_is_fault(code)) return code;
    persist_map *received = &session->msglog.received;
    const gab_status counted =
        gab_persist_map_put(received, source, tag, gab_persist_map_get(received, source, tag) + 1);
    if (status != MPI_STATUS_IGNORE) *status = own;
    return code != MPI_SUCCESS ? code : gab_persist_code(session, counted);
  }
  if (!letter) return nothing(session, source, tag);
  const int code = gab_persist_deliver(session, letter, buffer, count, type, status);
  if (code == MPI_SUCCESS) letter_is_taken(session, letter);
  return code;
}
