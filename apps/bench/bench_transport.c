/* SPDX-License-Identifier: Apache-2.0 */
/* The layers below: MPI alone, then the ports of the framework. */
#include "apps/bench/bench.h"

#include "core/messages/port.h"

#include <string.h>

static gab_rank partner_of(gab_world *world)
{
  const gab_members *members = gab_world_members(world);
  int32_t index = gab_members_index(members, gab_world_rank(world)) ^ 1;
  return gab_members_rank(members, index < gab_members_count(members) ? index : index ^ 1);
}

/* In a communicator of the world's that is rebuilt by repairs, ranks are the order of the members. */
static int partner_rank(gab_world *world)
{
  return (int)gab_members_index(gab_world_members(world), partner_of(world));
}

static gab_status mpi_status(gab_world *world, int code)
{
  GAB_TRY(gab_world_check(world));
  if (code != MPI_SUCCESS) GAB_FAIL(GAB_ERR_MPI, "MPI gave code %d", code);
  return GAB_OK;
}

/* ---------------------------------------------------------------- both ways at once */

gab_status bench_swap_create(bench *b, size_t bytes, size_t piece, bench_swap *swap)
{
  *swap = (bench_swap){.world = b->world, .bytes = bytes, .piece = piece, .repeats = 1};
  GAB_TRY(bench_comm(b, &swap->comm));
  gab_status status = gab_alloc(bytes, GAB_MEMORY_MESSAGE, &swap->out);
  if (status == GAB_OK) status = gab_alloc(bytes, GAB_MEMORY_MESSAGE, &swap->in);
  if (status != GAB_OK) {
    bench_swap_destroy(swap);
    return status;
  }
  memset(swap->out, 1, bytes);
  memset(swap->in, 2, bytes);
  return GAB_OK;
}

void bench_swap_destroy(bench_swap *swap)
{
  gab_free(&swap->out);
  gab_free(&swap->in);
}

static int post_pieces(const bench_swap *swap, MPI_Request *requests)
{
  MPI_Comm comm = gab_comm_mpi(swap->comm);
  int comm_rank = partner_rank(swap->world), code = MPI_SUCCESS, count = 0;
  for (int out = 0; out < 2; out++)
    for (size_t at = 0; at < swap->bytes && code == MPI_SUCCESS; at += swap->piece) {
      int size = (int)(swap->bytes - at < swap->piece ? swap->bytes - at : swap->piece);
      unsigned char *place = (unsigned char *)(out ? swap->out : swap->in) + at;
      code = out ? MPI_Isend(place, size, MPI_BYTE, comm_rank, 1, comm, &requests[count])
                 : MPI_Irecv(place, size, MPI_BYTE, comm_rank, 1, comm, &requests[count]);
      count++;
    }
  return code == MPI_SUCCESS ? MPI_Waitall(count, requests, MPI_STATUSES_IGNORE) : code;
}

gab_status bench_swap_run(void *user)
{
  const bench_swap *swap = user;
  MPI_Request *requests;
  size_t pieces = (swap->bytes + swap->piece - 1) / swap->piece;
  GAB_TRY(GAB_NEW_ARRAY(&requests, 2 * pieces, GAB_MEMORY_OTHER));
  int code = MPI_SUCCESS;
  for (int i = 0; i < swap->repeats && code == MPI_SUCCESS; i++) code = post_pieces(swap, requests);
  gab_free(&requests);
  return mpi_status(swap->world, code);
}

/* ---------------------------------------------------------------- ping-pong */

typedef struct ping {
  gab_world *world;
  gab_comm *comm;
  void *bytes;
  int size, repeats;
} ping;

/* The first of each pair begins; one without partner does nothing. */
static gab_status ping_pong(void *user)
{
  const ping *p = user;
  MPI_Comm comm = gab_comm_mpi(p->comm);
  int me = 0, comm_rank = partner_rank(p->world), code = MPI_Comm_rank(comm, &me);
  for (int i = 0; comm_rank != me && code == MPI_SUCCESS && i < 2 * p->repeats; i++) {
    if ((me < comm_rank) == (i % 2 == 0)) code = MPI_Send(p->bytes, p->size, MPI_BYTE, comm_rank, 2, comm);
    else code = MPI_Recv(p->bytes, p->size, MPI_BYTE, comm_rank, 2, comm, MPI_STATUS_IGNORE);
  }
  return mpi_status(p->world, code);
}

static gab_status one_ping(bench *b, int size, int repeats)
{
  ping p = {.world = b->world, .size = size, .repeats = repeats};
  GAB_TRY(bench_comm(b, &p.comm));
  GAB_TRY(gab_alloc((size_t)size, GAB_MEMORY_MESSAGE, &p.bytes));
  memset(p.bytes, 1, (size_t)size);
  double samples[BENCH_MOST_SAMPLES], seconds;
  gab_status status = bench_time(b, ping_pong, &p, &seconds);
  for (int i = 0; status == GAB_OK && i < b->repetitions; i++) {
    status = bench_time(b, ping_pong, &p, &seconds);
    double one_way = seconds / (2.0 * repeats);
    samples[i] = size > 8 ? size / one_way * 1e-9 : one_way * 1e6;
  }
  gab_free(&p.bytes);
  GAB_TRY(status);
  char name[64] = "mpi.latency";
  if (size > 8) snprintf(name, sizeof name, "mpi.ping-pong.%d-kB", size >> 10);
  bench_series series = bench_summarise(samples, b->repetitions);
  bench_report_series(b, name, &series, 1, size > 8 ? "GB/s" : "us");
  return GAB_OK;
}

/* ---------------------------------------------------------------- ports */

typedef struct port_swap {
  gab_world *world;
  gab_port *port;
  gab_buffer out, in;
  size_t bytes;
  int repeats;
} port_swap;

static gab_status port_swap_run(void *user)
{
  port_swap *swap = user;
  gab_rank partner = partner_of(swap->world);
  for (int i = 0; i < swap->repeats; i++) {
    GAB_TRY(gab_port_receive(swap->port, partner, &swap->in, swap->bytes));
    GAB_TRY(gab_port_send(swap->port, partner, &swap->out));
    GAB_TRY(gab_port_finish(swap->port));
  }
  return GAB_OK;
}

static gab_status open_port(bench *b, size_t bytes, port_swap *swap)
{
  void *place;
  GAB_TRY(gab_port_create(b->world, "bench", &swap->port));
  GAB_TRY(gab_message_begin(&swap->out));
  GAB_TRY(gab_buffer_extend(&swap->out, bytes, &place));
  memset(place, 1, bytes);
  return GAB_OK;
}

static gab_status compare_port(bench *b, size_t bytes, int repeats)
{
  port_swap swap = {.world = b->world, .bytes = bytes, .repeats = repeats};
  bench_swap plain = {0};
  bench_pair_result result;
  gab_status status = open_port(b, bytes, &swap);
  if (status == GAB_OK)
    status = bench_swap_create(b, bytes, bytes < GAB_CHUNK_BYTES ? bytes : GAB_CHUNK_BYTES, &plain);
  plain.repeats = repeats;
  double amount = (double)bytes * repeats * bench_processes(b);
  bench_pair pair = {.work = port_swap_run,
                     .work_user = &swap,
                     .work_amount = amount,
                     .ceiling = bench_swap_run,
                     .ceiling_user = &plain,
                     .ceiling_amount = amount};
  if (status == GAB_OK) status = bench_measure_pair(b, &pair, &result);
  gab_port_destroy(&swap.port);
  gab_buffer_release(&swap.out);
  gab_buffer_release(&swap.in);
  bench_swap_destroy(&plain);
  GAB_TRY(status);
  char name[64];
  snprintf(name, sizeof name, "port.both-ways.%zu-kB", bytes >> 10);
  bench_report_pair(b, name, &result, 1e-9, "GB/s");
  return GAB_OK;
}

gab_status bench_transport(bench *b)
{
  GAB_TRY(one_ping(b, 8, 1000));
  GAB_TRY(one_ping(b, 64 << 10, 100));
  GAB_TRY(one_ping(b, 1 << 20, 20));
  GAB_TRY(one_ping(b, 64 << 20, 1));
  GAB_TRY(compare_port(b, 4 << 10, 500));
  GAB_TRY(compare_port(b, 512 << 10, 20));
  return compare_port(b, (size_t)64 << 20, 1);
}
