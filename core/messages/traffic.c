/* SPDX-License-Identifier: Apache-2.0 */
/** @file traffic.c
 *  @brief Messages in transit: their requests, waiting, verification, and cancellation.
 *
 *  Transfers cancelled after a fault become deferred frees, with their memory: a peer that has not detected the fault yet
 *  may still read a message from the sender's memory, which must not be released or overwritten. Deferred frees are
 *  executed when all live processes have met in the repair. Memory of gab_port_send_kept() remains with its owner, who must
 *  not change it; it becomes a deferred free only if the port is destroyed before the repair.
 */
#include "core/world/world_impl.h"

#include <string.h>
#include <time.h>

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static gab_status ensure_traffic(gab_port *port)
{
  if (port->traffic) return GAB_OK;
  GAB_TRY(GAB_NEW(&port->traffic, GAB_MEMORY_OTHER));
  return GAB_OK;
}

gab_status gab_traffic_add(gab_port *port, gab_buffer *message, gab_transfer **transfer)
{
  GAB_TRY(ensure_traffic(port));
  gab_traffic *traffic = port->traffic;
  void *array = traffic->transfers;
  GAB_TRY(gab_array_reserve(&array, &traffic->transfer_capacity, traffic->transfer_count + 1,
                            sizeof *traffic->transfers));
  traffic->transfers = array;
  *transfer = &traffic->transfers[traffic->transfer_count++];
  **transfer = (gab_transfer){.message = message};
  gab_buffer_init(&(*transfer)->held, message->use);
  return GAB_OK;
}

static gab_status post_chunk(gab_port *port, gab_transfer *transfer, size_t bytes)
{
  gab_world *world = port->world;
  gab_traffic *traffic = port->traffic;
  void *array = traffic->requests;
  GAB_TRY(gab_array_reserve(&array, &traffic->request_capacity, traffic->request_count + 1,
                            sizeof *traffic->requests));
  traffic->requests = array;
  MPI_Request *request = &traffic->requests[traffic->request_count];
  *request = MPI_REQUEST_NULL;
  traffic->request_count++;
  unsigned char *data = transfer->message->data + transfer->posted;
  const int comm_rank = gab_world_comm_rank(world, transfer->peer), tag = (int)port->context;
  if (transfer->outgoing)
    return gab_world_mpi(world, MPI_Isend(data, (int)bytes, MPI_BYTE, comm_rank, tag, world->comm, request),
                         "MPI_Isend");
  return gab_world_mpi(world, MPI_Irecv(data, (int)bytes, MPI_BYTE, comm_rank, tag, world->comm, request),
                       "MPI_Irecv");
}

gab_status gab_traffic_post(gab_port *port, gab_transfer *transfer, size_t end)
{
  if (transfer->posted == 0) transfer->first = port->traffic->request_count;
  while (transfer->posted < end) {
    const size_t bytes = smaller(end - transfer->posted, GAB_CHUNK_BYTES);
    GAB_TRY(post_chunk(port, transfer, bytes));
    transfer->posted += bytes;
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ verification */

static gab_status verify(const gab_port *port, gab_transfer *transfer)
{
  const gab_world *world = port->world;
  gab_envelope is;
  GAB_TRY(gab_message_envelope(transfer->message, &is));
  if (is.source != transfer->peer || is.target != world->rank || is.context != port->context)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "port %s: a message from rank %" GAB_PRI_RANK " to rank %" GAB_PRI_RANK " in context %" PRIu32
             " came where one from rank %" GAB_PRI_RANK " in context %" PRIu32 " was due",
             port->name, is.source, is.target, is.context, transfer->peer, port->context);
  if (is.epoch != world->epoch || is.source_incarnation != gab_world_incarnation(world, is.source) ||
      is.target_incarnation != gab_world_incarnation(world, is.target))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "port %s: a message from rank %" GAB_PRI_RANK " is of epoch %" GAB_PRI_EPOCH
             " (this is epoch %" GAB_PRI_EPOCH ") or of another life of a rank",
             port->name, is.source, is.epoch, world->epoch);
  if (is.sequence != transfer->sequence)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "port %s: message %" PRIu64 " from rank %" GAB_PRI_RANK " came where %" PRIu64 " was due",
             port->name, is.sequence, is.source, transfer->sequence);
  const bool known = transfer->total != GAB_SIZE_UNKNOWN;
  if (is.bytes > SIZE_MAX / 2 || (known && is.bytes != transfer->total - GAB_ENVELOPE_BYTES))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "port %s: a message from rank %" GAB_PRI_RANK " has %" PRIu64 " bytes, %zu were due", port->name,
             is.source, is.bytes, known ? transfer->total - GAB_ENVELOPE_BYTES : 0);
  transfer->total = (size_t)is.bytes + GAB_ENVELOPE_BYTES;
  transfer->checked = true;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ progress */

/* The rest of a message can be posted only when its envelope, with the size, has arrived; a message of several chunks is
 * waited for as a whole only when the envelope shows that all chunks will arrive. */
static bool hangs_on_first_chunk(const gab_transfer *transfer)
{
  return !transfer->outgoing && !transfer->checked &&
         (transfer->total == GAB_SIZE_UNKNOWN || transfer->total > GAB_CHUNK_BYTES);
}

static gab_status take_first_chunk(gab_port *port, gab_transfer *transfer, const MPI_Status *status)
{
  gab_buffer *message = transfer->message;
  int count = 0;
  MPI_Get_count(status, MPI_BYTE, &count);
  const bool unknown = transfer->total == GAB_SIZE_UNKNOWN;
  if (unknown) message->size = (size_t)count;
  GAB_TRY(verify(port, transfer));
  if ((size_t)count != smaller(transfer->total, GAB_CHUNK_BYTES))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "port %s: a message from rank %" GAB_PRI_RANK " is %d bytes long instead of %zu", port->name,
             transfer->peer, count, transfer->total);
  if (!unknown || transfer->total == (size_t)count) return GAB_OK;
  void *place;
  GAB_TRY(gab_buffer_extend(message, transfer->total - (size_t)count, &place));
  transfer->posted = (size_t)count;
  return gab_traffic_post(port, transfer, transfer->total);
}

gab_status gab_port_take_own(gab_port *port, gab_transfer *transfer, bool *taken)
{
  *taken = port->own_count > 0;
  if (!*taken) return GAB_OK;
  gab_buffer_clear(transfer->message);
  GAB_TRY(gab_put_bytes(transfer->message, port->own[0].data, port->own[0].size));
  gab_buffer_release(&port->own[0]);
  port->own_count--;
  memmove(port->own, port->own + 1, port->own_count * sizeof *port->own);
  return GAB_OK;
}

/* Messages to this rank itself do not use MPI. */
static gab_status check_own(gab_port *port, gab_transfer *transfer, bool *pending)
{
  bool taken;
  GAB_TRY(gab_port_take_own(port, transfer, &taken));
  if (!taken) *pending = true;
  return taken ? verify(port, transfer) : GAB_OK;
}

gab_status gab_traffic_check(gab_port *port, bool *pending)
{
  *pending = false;
  /* Every call may end in a fault, which removes the traffic of the port: then it must not be accessed. */
  for (size_t i = 0; port->traffic && i < port->traffic->transfer_count; i++) {
    gab_transfer *transfer = &port->traffic->transfers[i];
    if (transfer->outgoing || transfer->checked) continue;
    if (transfer->peer == port->world->rank) {
      GAB_TRY(check_own(port, transfer, pending));
    } else if (hangs_on_first_chunk(transfer)) {
      int done = 0;
      MPI_Status status;
      GAB_TRY(gab_world_mpi(port->world, MPI_Test(&port->traffic->requests[transfer->first], &done, &status),
                            "MPI_Test"));
      if (done) GAB_TRY(take_first_chunk(port, transfer, &status));
      else *pending = true;
    }
  }
  return GAB_OK;
}

gab_status gab_traffic_test(gab_port *port, bool *done)
{
  gab_traffic *traffic = port->traffic;
  *done = true;
  for (size_t i = 0; traffic && *done && i < traffic->request_count; i++) {
    int flag = 1;
    if (traffic->requests[i] == MPI_REQUEST_NULL) continue;
    GAB_TRY(
        gab_world_mpi(port->world, MPI_Test(&traffic->requests[i], &flag, MPI_STATUS_IGNORE), "MPI_Test"));
    *done = flag != 0;
  }
  return GAB_OK;
}

/* MPI waits by polling and yields in between. This is unsafe if processes share cores: with many such processes a scheduler
 * may leave a ready one without a core for minutes (Linux 6.18). A sleeping process always releases its core. Sleeps are
 * short and rare: a large message is transferred piece by piece, only while both ends poll (a pause at every poll made a
 * recovery of 90 ms take 260 ms). */
void gab_world_pause(const gab_world *world, int *looks)
{
  enum { LOOKS_BEFORE = 1000, LOOKS_BETWEEN = 100, PAUSE_NS = 20000 };
  if (!world->shares_cores || ++*looks < LOOKS_BEFORE) return;
  *looks -= LOOKS_BETWEEN;
  nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
}

/* One by one, so that a failure of one is detected while another is pending. */
static gab_status look_at_all(gab_port *port, int *left, int *came)
{
  gab_traffic *traffic = port->traffic;
  for (size_t i = 0; i < traffic->request_count; i++) {
    int done = 0;
    if (traffic->requests[i] == MPI_REQUEST_NULL) continue;
    GAB_TRY(
        gab_world_mpi(port->world, MPI_Test(&traffic->requests[i], &done, MPI_STATUS_IGNORE), "MPI_Test"));
    if (done) ++*came;
    else ++*left;
  }
  return GAB_OK;
}

static gab_status wait_for_all(gab_port *port)
{
  gab_traffic *traffic = port->traffic;
  const int count = (int)traffic->request_count;
  if (count == 0) return GAB_OK;
  if (!port->world->shares_cores)
    return gab_world_mpi(port->world, MPI_Waitall(count, traffic->requests, MPI_STATUSES_IGNORE),
                         "MPI_Waitall");
  for (int looks = 0;;) {
    int left = 0, came = 0;
    GAB_TRY(look_at_all(port, &left, &came));
    if (left == 0) return GAB_OK;
    if (came > 0) looks = 0;
    else gab_world_pause(port->world, &looks);
  }
}

gab_status gab_traffic_wait(gab_port *port)
{
  gab_traffic *traffic = port->traffic;
  if (!traffic) return GAB_OK;
  GAB_TRY(wait_for_all(port));
  for (size_t i = 0; i < traffic->transfer_count; i++) {
    gab_transfer *transfer = &traffic->transfers[i];
    if (!transfer->outgoing && !transfer->checked) GAB_TRY(verify(port, transfer));
  }
  traffic->transfer_count = traffic->request_count = 0;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ what is there */

static gab_status receive_now(gab_port *port, const gab_transfer *transfer, size_t bytes)
{
  gab_world *world = port->world;
  void *place;
  GAB_TRY(gab_buffer_extend(transfer->message, bytes, &place));
  return gab_world_mpi(world,
                       MPI_Recv(place, (int)bytes, MPI_BYTE, gab_world_comm_rank(world, transfer->peer),
                                (int)port->context, world->comm, MPI_STATUS_IGNORE),
                       "MPI_Recv");
}

/* The sender posted all chunks together. */
gab_status gab_traffic_poll(gab_port *port, gab_transfer *transfer, bool *there)
{
  gab_world *world = port->world;
  MPI_Status status;
  int found = 0, count = 0;
  *there = false;
  GAB_TRY(gab_world_mpi(world,
                        MPI_Iprobe(gab_world_comm_rank(world, transfer->peer), (int)port->context,
                                   world->comm, &found, &status),
                        "MPI_Iprobe"));
  if (!found) return GAB_OK;
  MPI_Get_count(&status, MPI_BYTE, &count);
  GAB_TRY(receive_now(port, transfer, (size_t)count));
  GAB_TRY(verify(port, transfer));
  if ((size_t)count != smaller(transfer->total, GAB_CHUNK_BYTES))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "port %s: a message from rank %" GAB_PRI_RANK " is %d bytes long instead of %zu", port->name,
             transfer->peer, count, transfer->total);
  for (size_t done = (size_t)count; done < transfer->total; done = transfer->message->size)
    GAB_TRY(receive_now(port, transfer, smaller(transfer->total - done, GAB_CHUNK_BYTES)));
  *there = true;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ giving up */

void gab_traffic_destroy(gab_traffic *traffic)
{
  if (!traffic) return;
  for (size_t i = 0; i < traffic->transfer_count; i++) gab_buffer_release(&traffic->transfers[i].held);
  gab_free(&traffic->transfers);
  gab_free(&traffic->requests);
  gab_free(&traffic);
}

void gab_port_abandon(gab_port *port)
{
  gab_traffic *traffic = port->traffic;
  if (!traffic || traffic->transfer_count == 0) return;
  for (size_t i = 0; i < traffic->transfer_count; i++) {
    gab_transfer *transfer = &traffic->transfers[i];
    if (transfer->kept) continue;
    gab_buffer_swap(transfer->message, &transfer->held);
    transfer->message = NULL;
  }
  traffic->port = port;
  port->traffic = NULL;
  traffic->next = port->world->deferred;
  port->world->deferred = traffic;
}

void gab_traffic_take_kept(const gab_port *port)
{
  for (gab_traffic *traffic = port->world->deferred; traffic; traffic = traffic->next) {
    if (traffic->port != port) continue;
    for (size_t i = 0; i < traffic->transfer_count; i++) {
      gab_transfer *transfer = &traffic->transfers[i];
      if (!transfer->message) continue;
      gab_buffer_swap(transfer->message, &transfer->held);
      transfer->message = NULL;
    }
    traffic->port = NULL;
  }
}

static void end_requests(gab_traffic *traffic)
{
  for (size_t i = 0; i < traffic->transfer_count; i++) {
    const gab_transfer *transfer = &traffic->transfers[i];
    if (!transfer->outgoing && transfer->posted > 0 && traffic->requests[transfer->first] != MPI_REQUEST_NULL)
      MPI_Cancel(&traffic->requests[transfer->first]);
  }
  for (size_t i = 0; i < traffic->request_count; i++) {
    int done = 0;
    if (traffic->requests[i] == MPI_REQUEST_NULL) continue;
    MPI_Test(&traffic->requests[i], &done, MPI_STATUS_IGNORE);
    if (traffic->requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&traffic->requests[i]);
  }
}

void gab_world_free_deferred(gab_world *world)
{
  if (world->channel) gab_reliable_channel_end(world->channel);
  while (world->deferred) {
    gab_traffic *traffic = world->deferred;
    world->deferred = traffic->next;
    end_requests(traffic);
    gab_traffic_destroy(traffic);
  }
}
