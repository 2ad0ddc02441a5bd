/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include <stdio.h>
#include <string.h>

enum { TAG_SIZE = 1, TAG_BYTES = 2, CHUNK = 512 << 10, TEXT_CAPACITY = 400 };

bool gab_persist_is_fault(int code)
{
#ifdef GAB_HAVE_ULFM
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) PMPI_Error_class(code, &class);
  return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED;
#else
  (void)code;
  return false;
#endif
}

void gab_persist_break(persist_session *session, int code)
{
  if (session->broken) return;
  session->broken = true;
  session->code = code;
#ifdef GAB_HAVE_ULFM
  const MPI_Comm all[] = {session->comm, session->inner, session->live};
  for (int i = 0; i < 3; i++)
    if (all[i] != MPI_COMM_NULL) PMPIX_Comm_revoke(all[i]);
#endif
}

static gab_status say_fault(const persist_session *session)
{
  GAB_FAIL(
      GAB_ERR_FAULT,
      "a process of the persistent communicator `%s' died, or it was revoked: mend the communicator that it came from, "
      "and open the key again",
      session->key);
}

gab_status gab_persist_check(persist_session *session)
{
#ifdef GAB_HAVE_ULFM
  if (!session->broken) {
    int revoked = 0;
    PMPIX_Comm_is_revoked(session->comm, &revoked);
    if (revoked) gab_persist_break(session, MPIX_ERR_REVOKED);
  }
#endif
  return session->broken ? say_fault(session) : GAB_OK;
}

gab_status gab_persist_mpi(persist_session *session, int code, const char *what)
{
  if (code == MPI_SUCCESS) return GAB_OK;
  gab_persist_break(session, code);
  if (gab_persist_is_fault(code)) return say_fault(session);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  GAB_FAIL(GAB_ERR_MPI, "%s: %s", what, text);
}

gab_status gab_persist_all(persist_session *session, gab_status status)
{
  if (status == GAB_ERR_FAULT) return status;
  int mine[2] = {(int)status, session->rank}, worst[2];
  GAB_TRY(gab_persist_mpi(session, PMPI_Allreduce(mine, worst, 1, MPI_2INT, MPI_MAXLOC, session->inner),
                          "MPI_Allreduce"));
  if (worst[0] == GAB_OK) return GAB_OK;
  char text[TEXT_CAPACITY] = "";
  if (worst[1] == session->rank) snprintf(text, sizeof text, "%s", gab_error_message());
  GAB_TRY(gab_persist_mpi(session, PMPI_Bcast(text, sizeof text, MPI_CHAR, worst[1], session->inner),
                          "MPI_Bcast"));
  if (worst[1] == session->rank) return status;
  text[sizeof text - 1] = '\0';
  GAB_FAIL((gab_status)worst[0], "rank %d: %s", worst[1], text);
}

/* ------------------------------------------------------------------------------------ parcels */

typedef struct traffic {
  MPI_Request *requests;
  size_t count, capacity;
} traffic;

static gab_status post(persist_session *session, traffic *all, bool out, void *bytes, size_t count, int peer,
                       int tag)
{
  unsigned char *at = bytes;
  do {
    const size_t part = count < CHUNK ? count : CHUNK;
    if (all->count == all->capacity) {
      const size_t capacity = all->capacity > 0 ? 2 * all->capacity : 16;
      GAB_TRY(GAB_RESIZE_ARRAY(&all->requests, capacity, GAB_MEMORY_OTHER));
      all->capacity = capacity;
    }
    MPI_Request *request = &all->requests[all->count];
    const int code = out ? PMPI_Isend(at, (int)part, MPI_BYTE, peer, tag, session->inner, request)
                         : PMPI_Irecv(at, (int)part, MPI_BYTE, peer, tag, session->inner, request);
    GAB_TRY(gab_persist_mpi(session, code, out ? "MPI_Isend" : "MPI_Irecv"));
    all->count++;
    at += part;
    count -= part;
  } while (count > 0);
  return GAB_OK;
}

/* Waits for all, even after a failure: the communicator is then revoked, which ends pending messages. */
static gab_status finish(persist_session *session, traffic *all, gab_status status)
{
  char text[TEXT_CAPACITY] = "";
  if (status != GAB_OK) snprintf(text, sizeof text, "%s", gab_error_message());
  if (status != GAB_OK) gab_persist_break(session, MPI_ERR_OTHER);
  for (size_t i = 0; i < all->count; i++) {
    const gab_status one =
        gab_persist_mpi(session, PMPI_Wait(&all->requests[i], MPI_STATUS_IGNORE), "MPI_Wait");
    if (status == GAB_OK && one != GAB_OK) {
      status = one;
      snprintf(text, sizeof text, "%s", gab_error_message());
    }
  }
  all->count = all->capacity = 0;
  gab_free(&all->requests);
  if (status != GAB_OK) GAB_FAIL(status, "%s", text);
  return GAB_OK;
}

gab_status gab_persist_trade(persist_session *session, const persist_parcel *to, int to_count,
                             const persist_parcel *from, int from_count)
{
  traffic all = {0};
  uint64_t *sizes = NULL;
  const size_t parcels = (size_t)(to_count + from_count);
  GAB_TRY(GAB_NEW_ARRAY(&sizes, parcels, GAB_MEMORY_OTHER));
  gab_status status = GAB_OK;
  for (int i = 0; i < from_count && status == GAB_OK; i++)
    status = post(session, &all, false, &sizes[to_count + i], sizeof *sizes, from[i].peer, TAG_SIZE);
  for (int i = 0; i < to_count && status == GAB_OK; i++) {
    sizes[i] = to[i].bytes->size;
    status = post(session, &all, true, &sizes[i], sizeof *sizes, to[i].peer, TAG_SIZE);
  }
  status = finish(session, &all, status);
  for (int i = 0; i < from_count && status == GAB_OK; i++) {
    void *place = NULL;
    status = gab_buffer_extend(from[i].bytes, (size_t)sizes[to_count + i], &place);
    if (status == GAB_OK && sizes[to_count + i] > 0)
      status = post(session, &all, false, place, (size_t)sizes[to_count + i], from[i].peer, TAG_BYTES);
  }
  for (int i = 0; i < to_count && status == GAB_OK; i++)
    if (sizes[i] > 0)
      status = post(session, &all, true, to[i].bytes->data, (size_t)sizes[i], to[i].peer, TAG_BYTES);
  status = finish(session, &all, status);
  gab_free(&sizes);
  return status;
}

gab_status gab_persist_trade_all(persist_session *session, gab_buffer *to, gab_buffer *from)
{
  const size_t n = (size_t)session->size;
  uint64_t *sizes = NULL;
  persist_parcel *parcels = NULL;
  gab_status status = GAB_NEW_ARRAY(&sizes, 2 * n, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&parcels, 2 * n, GAB_MEMORY_OTHER);
  GAB_TRY_GOTO(status, end, gab_persist_all(session, status));
  for (size_t i = 0; i < n; i++) sizes[i] = to[i].size;
  GAB_TRY_GOTO(status, end,
               gab_persist_mpi(
                   session, PMPI_Alltoall(sizes, 1, MPI_UINT64_T, sizes + n, 1, MPI_UINT64_T, session->inner),
                   "MPI_Alltoall"));
  int outgoing = 0, incoming = 0;
  for (size_t i = 0; i < n; i++) {
    if ((int)i == session->rank) {
      gab_buffer_swap(&to[i], &from[i]);
      continue;
    }
    if (sizes[i] > 0) parcels[outgoing++] = (persist_parcel){(int)i, &to[i]};
    if (sizes[n + i] > 0) parcels[n + (size_t)incoming++] = (persist_parcel){(int)i, &from[i]};
  }
  status = gab_persist_trade(session, parcels, outgoing, parcels + n, incoming);
end:
  for (size_t i = 0; i < n; i++) gab_buffer_release(&to[i]);
  gab_free(&sizes);
  gab_free(&parcels);
  return status;
}
