/* SPDX-License-Identifier: Apache-2.0 */
/* Byte strings of all processes to the root: the gather of the framework, compared with a root that asks one process
 * after another. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "core/messages/port.h"

#include <string.h>

typedef struct gathering {
  gab_world *world;
  gab_port *port;
  gab_buffer mine, in, out; /* the string; messages of the port */
  int repeats;
  size_t seen; /* bytes, on the root */
} gathering;

static gab_status see(void *user, gab_rank from, gab_reader bytes)
{
  gathering *g = user;
  (void)from;
  g->seen += gab_reader_left(&bytes);
  return GAB_OK;
}

static gab_status gather(void *user)
{
  gathering *g = user;
  for (int i = 0; i < g->repeats; i++) GAB_TRY(gab_world_gather(g->world, &g->mine, see, g));
  return GAB_OK;
}

static gab_status exchange(gathering *g, gab_rank with, bool asks)
{
  GAB_TRY(gab_message_begin(&g->out));
  if (asks) GAB_TRY(gab_port_send(g->port, with, &g->out));
  GAB_TRY(gab_port_receive(g->port, with, &g->in, asks ? GAB_SIZE_UNKNOWN : 0));
  GAB_TRY(gab_port_finish(g->port));
  if (asks) return see(g, with, gab_message_reader(&g->in));
  GAB_TRY(gab_put_bytes(&g->out, g->mine.data, g->mine.size));
  GAB_TRY(gab_port_send(g->port, with, &g->out));
  return gab_port_finish(g->port);
}

static gab_status ask_one_after_another(void *user)
{
  gathering *g = user;
  const gab_members *members = gab_world_members(g->world);
  const gab_rank root = gab_world_root(g->world);
  for (int i = 0; i < g->repeats; i++) {
    if (!gab_world_is_root(g->world)) GAB_TRY(exchange(g, root, false));
    else GAB_TRY(see(g, root, gab_reader_of_buffer(&g->mine)));
    for (int32_t k = 1; gab_world_is_root(g->world) && k < gab_members_count(members); k++)
      GAB_TRY(exchange(g, gab_members_rank(members, k), true));
  }
  return GAB_OK;
}

static gab_status compare(bench *b, gathering *g, size_t bytes, int repeats)
{
  const bool is_long = bytes >= 4096;
  const double amount = (is_long ? (double)bytes * bench_processes(b) : 1.0) * repeats;
  void *place;
  char name[64];
  bench_pair_result result;
  g->repeats = repeats;
  gab_buffer_clear(&g->mine);
  GAB_TRY(gab_buffer_extend(&g->mine, bytes, &place));
  memset(place, 1, bytes);
  const bench_pair pair = {.work = gather,
                           .work_user = g,
                           .work_amount = amount,
                           .ceiling = ask_one_after_another,
                           .ceiling_user = g,
                           .ceiling_amount = amount};
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  if (is_long) snprintf(name, sizeof name, "gather.%zu-kB", bytes >> 10);
  else snprintf(name, sizeof name, "gather.%zu-B", bytes);
  bench_report_pair(b, name, &result, is_long ? 1e-9 : 1e-3, is_long ? "GB/s" : "gathers/ms");
  return GAB_OK;
}

static gab_status compare_all(bench *b, gathering *g)
{
  const size_t whole = b->quick ? (size_t)8 << 20 : (size_t)64 << 20; /* of all processes together */
  const size_t sizes[] = {100, 4 << 10, 64 << 10, 128 << 10, 1 << 20, whole / (size_t)bench_processes(b)};
  const int repeats[] = {200, 100, 20, 10, 4, 1};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) GAB_TRY(compare(b, g, sizes[i], repeats[i]));
  return GAB_OK;
}

gab_status bench_gather(bench *b)
{
  gathering g = {.world = b->world};
  GAB_TRY(gab_port_create(b->world, "bench (gather)", &g.port));
  const gab_status status = compare_all(b, &g);
  gab_port_destroy(&g.port);
  gab_buffer_release(&g.mine);
  gab_buffer_release(&g.in);
  gab_buffer_release(&g.out);
  return status;
}
