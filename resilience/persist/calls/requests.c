/* SPDX-License-Identifier: Apache-2.0 */
/** @file requests.c
 *  @brief Requests of non-blocking calls. Stored or found messages complete at once, by a generalised request, which every call
 *  of MPI accepts. Live receives of transparent mode are polled until they complete; without any, the calls below are those of
 *  MPI. */
#include "resilience/persist/persist_impl.h"

#include <string.h>

const char gab_persist_calls_requests = 0;

/* ------------------------------------------------------------------------------------ complete ones */

typedef struct done {
  int source, tag;
  MPI_Count bytes;
} done;

static int give_status(void *state, MPI_Status *status)
{
  const done *own = state;
  status->MPI_SOURCE = own->source;
  status->MPI_TAG = own->tag;
  PMPI_Status_set_elements_x(status, MPI_BYTE, own->bytes);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}

static int forget(void *state)
{
  gab_free(&state);
  return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

int gab_persist_request_done(const MPI_Status *status, MPI_Request *request)
{
  done *own;
  if (GAB_NEW(&own, GAB_MEMORY_OTHER) != GAB_OK) return MPI_ERR_NO_MEM;
  *own = (done){MPI_ANY_SOURCE, MPI_ANY_TAG, 0};
  if (status) {
    own->source = status->MPI_SOURCE;
    own->tag = status->MPI_TAG;
    PMPI_Get_elements_x(status, MPI_BYTE, &own->bytes);
  }
  int code = PMPI_Grequest_start(give_status, forget, cancel, own, request);
  if (code == MPI_SUCCESS) code = PMPI_Grequest_complete(*request);
  return code;
}

/* ------------------------------------------------------------------------------------ live ones */

/* The place of a request among the live ones. */
static persist_live *find_live(MPI_Request request, persist_session **owner)
{
  if (request == MPI_REQUEST_NULL) return NULL;
  for (persist_session *session = gab_persist_first(); session; session = session->next)
    for (size_t i = 0; i < session->live_count; i++)
      if (session->lives[i].request == request) {
        *owner = session;
        return &session->lives[i];
      }
  return NULL;
}

/* A request has left the hands of MPI. @return its code, after a fault was noted */
static int finished(MPI_Request request, int code)
{
  persist_session *session = NULL;
  persist_live *live = find_live(request, &session);
  if (!live) return code;
  if (gab_persist_is_fault(code)) { /* it stays on the list: its message has not been received */
    (void)gab_persist_live_code(session, code);
    return gab_persist_raise(session, code);
  }
  *live = session->lives[--session->live_count];
  gab_persist_live_count--;
  return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
  if (gab_persist_live_count == 0) return PMPI_Wait(request, status);
  const MPI_Request was = *request;
  const int code = PMPI_Wait(request, status);
  return finished(was, code);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
  if (gab_persist_live_count == 0) return PMPI_Test(request, flag, status);
  const MPI_Request was = *request;
  const int code = PMPI_Test(request, flag, status);
  return *flag || code != MPI_SUCCESS ? finished(was, code) : code;
}

/* Several requests: those that were live and are not pending any more. The call's own code says little about each. */
static int several_finished(const MPI_Request *was, int count, const MPI_Request *now, int code)
{
  for (int i = 0; i < count; i++) {
    persist_session *session = NULL;
    if (!find_live(was[i], &session)) continue;
    if (now[i] == MPI_REQUEST_NULL && code == MPI_SUCCESS) (void)finished(was[i], MPI_SUCCESS);
    else if (code != MPI_SUCCESS && gab_persist_check(session) != GAB_OK)
      return gab_persist_raise(session, session->code);
  }
  return code;
}

static MPI_Request *copy_of(const MPI_Request *requests, int count)
{
  void *memory = NULL;
  if (count <= 0 || gab_alloc((size_t)count * sizeof *requests, GAB_MEMORY_OTHER, &memory) != GAB_OK)
    return NULL;
  return memcpy(memory, requests, (size_t)count * sizeof *requests);
}

/* One by one: so it is known which one a death has failed. */
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
  if (gab_persist_live_count == 0) return PMPI_Waitall(count, requests, statuses);
  int worst = MPI_SUCCESS;
  for (int i = 0; i < count; i++) {
    MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    const int code = MPI_Wait(&requests[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
    if (code == MPI_SUCCESS) continue;
    worst = code;
    if (gab_persist_is_fault(code)) break;
  }
  return worst == MPI_SUCCESS || gab_persist_is_fault(worst) ? worst : MPI_ERR_IN_STATUS;
}

#define SEVERAL(count, requests, call)                                                                       \
  if (gab_persist_live_count == 0) return call;                                                              \
  MPI_Request *was = copy_of(requests, count);                                                               \
  if (!was && (count) > 0) return MPI_ERR_NO_MEM;                                                            \
  const int code = call;                                                                                     \
  const int result = was ? several_finished(was, count, requests, code) : code;                              \
  gab_free(&was);                                                                                            \
  return result

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
  SEVERAL(count, requests, PMPI_Testall(count, requests, flag, statuses));
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
  SEVERAL(count, requests, PMPI_Waitany(count, requests, index, status));
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
  SEVERAL(count, requests, PMPI_Testany(count, requests, index, flag, status));
}

int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
  SEVERAL(incount, requests, PMPI_Waitsome(incount, requests, outcount, indices, statuses));
}

int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
  SEVERAL(incount, requests, PMPI_Testsome(incount, requests, outcount, indices, statuses));
}

static int refuse_live(MPI_Request request, const char *call)
{
  persist_session *session = NULL;
  return find_live(request, &session) ? gab_persist_unsupported(session, call) : MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request)
{
  const int code = gab_persist_live_count == 0 ? MPI_SUCCESS : refuse_live(*request, "MPI_Cancel");
  return code != MPI_SUCCESS ? code : PMPI_Cancel(request);
}

int MPI_Request_free(MPI_Request *request)
{
  const int code = gab_persist_live_count == 0 ? MPI_SUCCESS : refuse_live(*request, "MPI_Request_free");
  return code != MPI_SUCCESS ? code : PMPI_Request_free(request);
}
