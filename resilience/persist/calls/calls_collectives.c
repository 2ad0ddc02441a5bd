/* SPDX-License-Identifier: Apache-2.0 */
/** @file calls_collectives.c
 *  @brief Collective operations, each made of messages, so that each of these can be stored, received again, and replayed.
 *  A call stores the contribution of this process; or, while it reads restored data, returns what it would have received from
 *  all; or, in transparent mode, does both. The receiver computes reductions, in the order of ranks. */
#include "resilience/persist/persist_impl.h"

#include <stdio.h>

const char gab_persist_calls_collectives = 0;

/* Tags that no program can have; -1 is MPI_ANY_TAG. */
enum {
  TAG_BCAST = -2,
  TAG_REDUCE = -3,
  TAG_GATHER = -4,
  TAG_SCATTER = -5,
  TAG_ALLTOALL = -6,
  TAG_ALLGATHER = -7,
  TAG_ALLREDUCE = -8
};

/* A collective call under way. */
typedef struct operation {
  persist_session *session;
  const char *name;
  int tag;
  bool gives, takes;
  MPI_Request *requests; /* one per rank */
  bool *gave, *took;     /* by rank: what this call has stored, and received; gave[size]: for all */
  int code;              /* of the first failure; its error handler was not called yet */
} operation;

static operation begin(persist_session *session, const char *name, int tag, int root)
{
  operation now = {.session = session, .name = name, .tag = tag};
  void *memory = NULL;
  const gab_status fine = gab_persist_check(session);
  now.takes = session->set.transparent || session->retrieves;
  now.gives = session->set.transparent || !session->retrieves;
  if (fine != GAB_OK) {
    now.code = gab_persist_code(session, fine);
  } else if (root < 0 || root >= session->size) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "%s: there is no root %d", name, root);
    now.code = MPI_ERR_ROOT;
  } else {
    const size_t n = (size_t)session->size;
    if (gab_alloc(n * sizeof(MPI_Request) + 2 * n + 1, GAB_MEMORY_OTHER, &memory) != GAB_OK)
      now.code = MPI_ERR_NO_MEM;
    else now.gave = (bool *)((MPI_Request *)memory + n);
    now.took = now.gave ? now.gave + n + 1 : NULL;
  }
  now.requests = memory;
  for (int i = 0; now.requests && i < session->size; i++) now.requests[i] = MPI_REQUEST_NULL;
  return now;
}

/* After a death the whole call is to be made again: what it has stored is taken back, and what it has received comes from the
 * store, since the senders have sent it. */
static void take_back(const operation *now)
{
  persist_session *session = now->session;
  persist_map *received = &session->msglog.received;
  for (int i = 0; i < session->size; i++) {
    if (now->gave[i]) gab_persist_msglog_unstore(&session->msglog, i, now->tag);
    if (now->took[i])
      (void)gab_persist_map_put(received, i, now->tag, gab_persist_map_get(received, i, now->tag) - 1);
  }
  if (now->gave[session->size]) gab_persist_msglog_unstore(&session->msglog, PERSIST_TO_ALL, now->tag);
}

/* After a death requests stay with MPI, which ends them: the communicator is revoked. */
static int end(operation *now)
{
  for (int i = 0; now->requests && i < now->session->size; i++) {
    if (now->requests[i] == MPI_REQUEST_NULL) continue;
    const int code = gab_persist_live_code(now->session, PMPI_Wait(&now->requests[i], MPI_STATUS_IGNORE));
    if (now->code == MPI_SUCCESS) now->code = code;
  }
  if (now->requests && now->session->set.transparent && gab_persist_is_fault(now->code)) take_back(now);
  gab_free(&now->requests);
  return gab_persist_raise(now->session, now->code);
}

/* This process's part for a target, or for all. */
static void give(operation *now, int target, const void *buffer, int count, MPI_Datatype type)
{
  if (!now->gives || now->code != MPI_SUCCESS) return;
  MPI_Request *requests = target == PERSIST_TO_ALL ? now->requests : &now->requests[target];
  const gab_status status =
      gab_persist_store(now->session, target, now->tag, buffer, count, type, PERSIST_SEND, requests);
  now->code = gab_persist_code(now->session, status);
  if (status == GAB_OK) now->gave[target == PERSIST_TO_ALL ? now->session->size : target] = true;
}

static void take(operation *now, int source, void *buffer, int count, MPI_Datatype type)
{
  if (!now->takes || now->code != MPI_SUCCESS) return;
  now->code = gab_persist_take(now->session, buffer, count, type, source, now->tag, MPI_STATUS_IGNORE);
  now->took[source] = now->code == MPI_SUCCESS;
}

/* What this process gave to all, itself included, and no message brings. */
static void copy_own(operation *now, const void *from, int from_count, MPI_Datatype from_type, void *to,
                     int count, MPI_Datatype type)
{
  gab_buffer bytes = {0};
  if (now->code != MPI_SUCCESS) return;
  const gab_status packed = gab_persist_pack(now->session, from, from_count, from_type, &bytes);
  now->code = gab_persist_code(now->session, packed);
  if (packed == GAB_OK) {
    const persist_letter letter = {.bytes = bytes.size,
                                   .data = bytes.data,
                                   .checksum = gab_persist_checksum(0, 0, 0, bytes.data, bytes.size)};
    now->code = gab_persist_deliver(now->session, &letter, to, count, type, MPI_STATUS_IGNORE);
  }
  gab_buffer_release(&bytes);
}

static void *at(const void *buffer, int index, int count, MPI_Datatype type)
{
  MPI_Aint low, extent = 0;
  PMPI_Type_get_extent(type, &low, &extent);
  return (char *)(uintptr_t)buffer + (MPI_Aint)index * count * extent;
}

/* ------------------------------------------------------------------------------------ moving data */

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Bcast(buffer, count, type, root, comm);
  operation now = begin(session, "MPI_Bcast", TAG_BCAST, root);
  const bool is_root = session->rank == root;
  if (is_root) give(&now, PERSIST_TO_ALL, buffer, count, type);
  if (!is_root || !now.gives) take(&now, root, buffer, count, type);
  return end(&now);
}

int MPI_Gather(const void *sent, int sent_count, MPI_Datatype sent_type, void *buffer, int count,
               MPI_Datatype type, int root, MPI_Comm comm)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Gather(sent, sent_count, sent_type, buffer, count, type, root, comm);
  operation now = begin(session, "MPI_Gather", TAG_GATHER, root);
  const bool in_place = sent == MPI_IN_PLACE, is_root = session->rank == root;
  gab_buffer copy = {0}; /* in place, the part would be received over itself */
  if (in_place && is_root && now.gives && now.code == MPI_SUCCESS) {
    now.code = gab_persist_code(session,
                                gab_persist_pack(session, at(buffer, root, count, type), count, type, &copy));
    give(&now, root, copy.data, (int)copy.size, MPI_PACKED);
  } else {
    give(&now, root, sent, sent_count, sent_type);
  }
  for (int i = 0; is_root && i < session->size; i++) take(&now, i, at(buffer, i, count, type), count, type);
  const int code = end(&now);
  gab_buffer_release(&copy);
  return code;
}

int MPI_Allgather(const void *sent, int sent_count, MPI_Datatype sent_type, void *buffer, int count,
                  MPI_Datatype type, MPI_Comm comm)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Allgather(sent, sent_count, sent_type, buffer, count, type, comm);
  operation now = begin(session, "MPI_Allgather", TAG_ALLGATHER, 0);
  const bool in_place = sent == MPI_IN_PLACE;
  void *own = at(buffer, session->rank, count, type);
  give(&now, PERSIST_TO_ALL, in_place ? own : sent, in_place ? count : sent_count,
       in_place ? type : sent_type);
  for (int i = 0; i < session->size; i++)
    if (i != session->rank || !now.gives) take(&now, i, at(buffer, i, count, type), count, type);
  if (now.gives && now.takes && !in_place) copy_own(&now, sent, sent_count, sent_type, own, count, type);
  return end(&now);
}

int MPI_Scatter(const void *sent, int sent_count, MPI_Datatype sent_type, void *buffer, int count,
                MPI_Datatype type, int root, MPI_Comm comm)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Scatter(sent, sent_count, sent_type, buffer, count, type, root, comm);
  if (buffer == MPI_IN_PLACE) return gab_persist_unsupported(session, "MPI_Scatter with MPI_IN_PLACE");
  operation now = begin(session, "MPI_Scatter", TAG_SCATTER, root);
  for (int i = 0; session->rank == root && i < session->size; i++)
    give(&now, i, now.gives ? at(sent, i, sent_count, sent_type) : NULL, sent_count, sent_type);
  take(&now, root, buffer, count, type);
  return end(&now);
}

int MPI_Alltoall(const void *sent, int sent_count, MPI_Datatype sent_type, void *buffer, int count,
                 MPI_Datatype type, MPI_Comm comm)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Alltoall(sent, sent_count, sent_type, buffer, count, type, comm);
  if (sent == MPI_IN_PLACE) return gab_persist_unsupported(session, "MPI_Alltoall with MPI_IN_PLACE");
  operation now = begin(session, "MPI_Alltoall", TAG_ALLTOALL, 0);
  for (int i = 0; i < session->size; i++)
    give(&now, i, now.gives ? at(sent, i, sent_count, sent_type) : NULL, sent_count, sent_type);
  for (int i = 0; i < session->size; i++) take(&now, i, at(buffer, i, count, type), count, type);
  return end(&now);
}

/* ------------------------------------------------------------------------------------ reductions */

typedef struct scratch {
  void *memory;
  char *data; /* where a buffer of that type would begin */
} scratch;

static void scratch_make(operation *now, int count, MPI_Datatype type, scratch *space)
{
  MPI_Aint low, extent = 0, true_low = 0, true_extent = 0;
  *space = (scratch){NULL, NULL};
  if (now->code != MPI_SUCCESS) return;
  PMPI_Type_get_extent(type, &low, &extent);
  PMPI_Type_get_true_extent(type, &true_low, &true_extent);
  const size_t bytes = (size_t)(true_extent + (count > 0 ? count - 1 : 0) * extent);
  if (gab_alloc(bytes > 0 ? bytes : 1, GAB_MEMORY_MESSAGE, &space->memory) != GAB_OK)
    now->code = MPI_ERR_NO_MEM;
  else space->data = (char *)space->memory - true_low;
}

/* a0 op (a1 op (a2 ...)), as if in the order of ranks; `own` is what no message brings, or NULL. */
static void reduce(operation *now, const void *own, void *buffer, int count, MPI_Datatype type, MPI_Op op)
{
  scratch sum, part;
  scratch_make(now, count, type, &sum);
  scratch_make(now, count, type, &part);
  const int size = now->session->size;
  for (int i = size - 1; i >= 0 && now->code == MPI_SUCCESS; i--) {
    void *to = i == size - 1 ? sum.data : part.data;
    if (i == now->session->rank && own) copy_own(now, own, count, type, to, count, type);
    else take(now, i, to, count, type);
    if (i < size - 1 && now->code == MPI_SUCCESS)
      now->code = PMPI_Reduce_local(part.data, sum.data, count, type, op);
  }
  copy_own(now, sum.data, count, type, buffer, count, type);
  gab_free(&sum.memory);
  gab_free(&part.memory);
}

int MPI_Reduce(const void *sent, void *buffer, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Reduce(sent, buffer, count, type, op, root, comm);
  operation now = begin(session, "MPI_Reduce", TAG_REDUCE, root);
  give(&now, root, sent == MPI_IN_PLACE ? buffer : sent, count, type);
  if (session->rank == root && now.takes) reduce(&now, NULL, buffer, count, type, op);
  return end(&now);
}

int MPI_Allreduce(const void *sent, void *buffer, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  persist_session *session = persist_of(comm);
  if (!session) return PMPI_Allreduce(sent, buffer, count, type, op, comm);
  operation now = begin(session, "MPI_Allreduce", TAG_ALLREDUCE, 0);
  const void *own = sent == MPI_IN_PLACE ? buffer : sent;
  give(&now, PERSIST_TO_ALL, own, count, type);
  if (now.takes) reduce(&now, now.gives ? own : NULL, buffer, count, type, op);
  return end(&now);
}
