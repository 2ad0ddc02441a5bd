/* SPDX-License-Identifier: Apache-2.0 */
/** @file calls_messages.c
 *  @brief Point-to-point calls of MPI: those on persistent communicators are handled here, all others are passed to MPI. */
#include "resilience/persist/persist_impl.h"

const char gab_persist_calls_messages = 0;

static gab_status check_peer(const persist_session *session, int peer, int tag, bool receives)
{
  const bool any = receives && peer == MPI_ANY_SOURCE;
  if (!any && (peer < 0 || peer >= session->size))
    GAB_FAIL(GAB_ERR_ARGUMENT, "rank %d is none of the %d of the persistent communicator `%s'", peer,
             session->size, session->key);
  if (tag < 0 && !(receives && tag == MPI_ANY_TAG)) GAB_FAIL(GAB_ERR_ARGUMENT, "tag %d is below 0", tag);
  return GAB_OK;
}

static int send(persist_session *session, const void *buffer, int count, MPI_Datatype type, int target,
                int tag, persist_send_kind kind)
{
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  gab_status status = check_peer(session, target, tag, false);
  if (status == GAB_OK) status = gab_persist_store(session, target, tag, buffer, count, type, kind, NULL);
  return gab_persist_return(session, status);
}

#define SEND(name, kind)                                                                                     \
  int MPI_##name(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm)       \
  {                                                                                                          \
    persist_session *session = persist_of(comm);                                                             \
    if (!session) return PMPI_##name(buffer, count, type, target, tag, comm);                                \
    return send(session, buffer, count, type, target, tag, kind);                                            \
  }
SEND(Send, PERSIST_SEND)
SEND(Bsend, PERSIST_BSEND)
SEND(Ssend, PERSIST_SSEND)
SEND(Rsend, PERSIST_RSEND)

static int isend(persist_session *session, const void *buffer, int count, MPI_Datatype type, int target,
                 int tag, persist_send_kind kind, MPI_Request *request)
{
  gab_status status = GAB_OK;
  *request = MPI_REQUEST_NULL;
  if (target != MPI_PROC_NULL) {
    status = check_peer(session, target, tag, false);
    if (status == GAB_OK)
      status = gab_persist_store(session, target, tag, buffer, count, type, kind, request);
  }
  if (status != GAB_OK || *request != MPI_REQUEST_NULL) return gab_persist_return(session, status);
  return gab_persist_raise(session, gab_persist_request_done(NULL, request));
}

#define ISEND(name, kind)                                                                                    \
  int MPI_##name(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,       \
                 MPI_Request *request)                                                                       \
  {                                                                                                          \
    persist_session *session = persist_of(comm);                                                             \
    if (!session) return PMPI_##name(buffer, count, type, target, tag, comm, request);                       \
    return isend(session, buffer, count, type, target, tag, kind, request);                                  \
  }
ISEND(Isend, PERSIST_SEND)
ISEND(Ibsend, PERSIST_BSEND)
ISEND(Issend, PERSIST_SSEND)
ISEND(Irsend, PERSIST_RSEND)

/* ------------------------------------------------------------------------------------ receives */

/* What a receive from MPI_PROC_NULL, or a send, gives. */
static void status_of_nobody(MPI_Status *status)
{
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = MPI_ANY_TAG;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

static int take(persist_session *session, void *buffer, int count, MPI_Datatype type, int source, int tag,
                MPI_Status *status)
{
  if (source == MPI_PROC_NULL) {
    status_of_nobody(status);
    return MPI_SUCCESS;
  }
  const gab_status fine = check_peer(session, source, tag, true);
  if (fine != GAB_OK) return gab_persist_return(session, fine);
  return gab_persist_raise(session, gab_persist_take(session, buffer, count, type, source, tag, status));
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Recv(buffer, count, type, source, tag, comm, status);
  return take(session, buffer, count, type, source, tag, status);
}

/* A live receive has its number from here on. */
static int irecv_live(persist_session *session, void *buffer, int count, MPI_Datatype type, int source,
                      int tag, MPI_Request *request)
{
  persist_map *received = &session->msglog.received;
  const uint64_t number = gab_persist_map_get(received, source, tag) + 1;
  const int code =
      gab_persist_live_code(session, PMPI_Irecv(buffer, count, type, source, gab_persist_live_tag(tag),
                                                gab_persist_live_comm(session, tag), request));
  if (code != MPI_SUCCESS) return gab_persist_raise(session, code);
  gab_status status = gab_persist_map_put(received, source, tag, number);
  if (status == GAB_OK) status = gab_persist_live_add(session, *request, source, tag, number);
  return gab_persist_return(session, status);
}

static int irecv(persist_session *session, void *buffer, int count, MPI_Datatype type, int source, int tag,
                 MPI_Request *request)
{
  MPI_Status status;
  persist_letter *letter = NULL;
  bool live = false;
  *request = MPI_REQUEST_NULL;
  if (source != MPI_PROC_NULL) {
    gab_status found = check_peer(session, source, tag, true);
    if (found == GAB_OK) found = gab_persist_next_letter(session, source, tag, &letter, &live);
    if (found != GAB_OK) return gab_persist_return(session, found);
  }
  if (live) return irecv_live(session, buffer, count, type, source, tag, request);
  const int code = take(session, buffer, count, type, source, tag, &status);
  if (code != MPI_SUCCESS) return code;
  return gab_persist_raise(session, gab_persist_request_done(&status, request));
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
  return irecv(session, buffer, count, type, source, tag, request);
}

/* ------------------------------------------------------------------------------------ both */

static int wait_for(MPI_Request *request, int code)
{
  const int waited = *request != MPI_REQUEST_NULL ? MPI_Wait(request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
  return code != MPI_SUCCESS ? code : waited;
}

int MPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int target, int sent_tag,
                 void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
  persist_session *session = persist_of(comm);
  if (!session)
    return PMPI_Sendrecv(sent, sent_count, sent_type, target, sent_tag, buffer, count, type, source, tag,
                         comm, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = isend(session, sent, sent_count, sent_type, target, sent_tag, PERSIST_SEND, &request);
  if (code == MPI_SUCCESS) code = take(session, buffer, count, type, source, tag, status);
  if (!gab_persist_is_fault(code)) return wait_for(&request, code);
  /* Both halves are to be done again. */
  if (request != MPI_REQUEST_NULL) gab_persist_msglog_unstore(&session->msglog, target, sent_tag);
  return code;
}

int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int target, int sent_tag, int source,
                         int tag, MPI_Comm comm, MPI_Status *status)
{
  persist_session *session = persist_of(comm);
  if (!session)
    return PMPI_Sendrecv_replace(buffer, count, type, target, sent_tag, source, tag, comm, status);
  gab_buffer copy = {0};
  const gab_status packed = gab_persist_pack(session, buffer, count, type, &copy);
  int code = gab_persist_return(session, packed);
  if (code == MPI_SUCCESS)
    code = MPI_Sendrecv(copy.data, (int)copy.size, MPI_PACKED, target, sent_tag, buffer, count, type, source,
                        tag, comm, status);
  if (!gab_persist_is_fault(code)) gab_buffer_release(&copy); /* else MPI may still hold it */
  return code;
}

/* ------------------------------------------------------------------------------------ looking */

/* @param[out] flag  NULL: there has to be one */
static int probe(persist_session *session, int source, int tag, int *flag, MPI_Status *status)
{
  persist_letter *letter = NULL;
  bool live = false;
  gab_status found = check_peer(session, source, tag, true);
  if (found == GAB_OK) found = gab_persist_next_letter(session, source, tag, &letter, &live);
  if (found != GAB_OK) return gab_persist_return(session, found);
  if (live) {
    const int code = flag ? PMPI_Iprobe(source, tag, session->live, flag, status)
                          : PMPI_Probe(source, tag, session->live, status);
    return gab_persist_raise(session, gab_persist_live_code(session, code));
  }
  if (flag) *flag = letter != NULL;
  if (!letter && flag) return MPI_SUCCESS;
  if (!letter)
    return gab_persist_refuse(session, GAB_PERSIST_NOTHING,
                              "nothing is stored for rank %d from source %d with tag %d", session->rank,
                              source, tag);
  if (status == MPI_STATUS_IGNORE) return MPI_SUCCESS;
  status->MPI_SOURCE = letter->source;
  status->MPI_TAG = letter->tag;
  PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)letter->bytes);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Probe(source, tag, comm, status);
  if (source != MPI_PROC_NULL) return probe(session, source, tag, NULL, status);
  status_of_nobody(status);
  return MPI_SUCCESS;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Iprobe(source, tag, comm, flag, status);
  if (source != MPI_PROC_NULL) return probe(session, source, tag, flag, status);
  *flag = 1;
  status_of_nobody(status);
  return MPI_SUCCESS;
}
