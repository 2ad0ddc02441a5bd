/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/migration/forest_transport_impl.h"

#include "core/messages/collective.h"

#include <stdlib.h>

/* Some blocks of one pair of ranks, sent at once. */
typedef struct piece {
  size_t first, count; /* in journey.leaving */
} piece;

/* One rank that gets blocks from here, or gives some. */
typedef struct route {
  gab_rank rank;
  size_t first_piece; /* in journey.pieces; outgoing only */
  uint64_t piece_count;
  gab_buffer message;
} route;

/* The announcement of a source to a target. */
typedef struct announcement {
  uint64_t blocks, pieces;
} announcement;

typedef struct journey {
  gab_transport *transport;
  gab_leaver *leaving; /* by target, then index */
  size_t leaving_count;
  gab_block **packing; /* capacity for the blocks of one piece */
  piece *pieces;
  size_t piece_count;
  route *out, *in;
  size_t out_count, in_count;
  uint64_t arriving, arrived; /* announced and received blocks */
} journey;

static int by_target(const void *a, const void *b)
{
  const gab_leaver *left = a, *right = b;
  if (left->target != right->target) return left->target < right->target ? -1 : 1;
  return (left->index > right->index) - (left->index < right->index);
}

static gab_status make_routes(journey *all)
{
  size_t count = all->leaving_count, routes = 0;
  GAB_TRY(GAB_NEW_ARRAY(&all->packing, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&all->pieces, count, GAB_MEMORY_OTHER));
  if (count > 1) qsort(all->leaving, count, sizeof(gab_leaver), by_target);
  for (size_t i = 0; i < count; i++) routes += i == 0 || all->leaving[i].target != all->leaving[i - 1].target;
  GAB_TRY(GAB_NEW_ARRAY(&all->out, routes, GAB_MEMORY_OTHER));
  all->out_count = routes;
  for (size_t i = 0; i < routes; i++) gab_buffer_init(&all->out[i].message, GAB_MEMORY_MESSAGE);
  return GAB_OK;
}

/* Cuts the leaving blocks into pieces below the bound. */
static void cut_pieces(journey *all)
{
  if (all->out_count == 0) return;
  const gab_forest *forest = all->transport->forest;
  size_t bound = GAB_MIGRATION_BYTES / all->out_count, filled = 0;
  route *to = all->out - 1;
  for (size_t i = 0; i < all->leaving_count; i++) {
    bool new_route = i == 0 || all->leaving[i].target != all->leaving[i - 1].target;
    size_t bytes = gab_record_size(forest, forest->blocks[all->leaving[i].index]);
    if (new_route) {
      to++;
      to->rank = all->leaving[i].target;
      to->first_piece = all->piece_count;
    }
    if (new_route || bytes > bound - filled) {
      all->pieces[all->piece_count++] = (piece){i, 0};
      to->piece_count++;
      filled = 0;
    }
    all->pieces[all->piece_count - 1].count++;
    filled = bytes < bound - filled ? filled + bytes : bound;
    all->transport->sent_bytes += bytes;
  }
}

static size_t blocks_of(const journey *all, const route *to)
{
  size_t blocks = 0;
  for (size_t p = to->first_piece; p < to->first_piece + to->piece_count; p++) blocks += all->pieces[p].count;
  return blocks;
}

static gab_status read_announcements(const gab_buffer *received, size_t count, journey *all)
{
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(GAB_NEW_ARRAY(&all->in, count, GAB_MEMORY_OTHER));
  for (; all->in_count < count; all->in_count++) {
    route *from = &all->in[all->in_count];
    announcement item;
    GAB_TRY(gab_get_i32(&in, &from->rank));
    GAB_TRY(gab_get_bytes(&in, &item, sizeof item));
    gab_buffer_init(&from->message, GAB_MEMORY_MESSAGE);
    from->piece_count = item.pieces;
    all->arriving += item.blocks;
  }
  return GAB_OK;
}

static gab_status announce(journey *all)
{
  void *memory;
  GAB_TRY(gab_alloc(all->out_count * (sizeof(announcement) + sizeof(gab_rank)), GAB_MEMORY_OTHER, &memory));
  announcement *items = memory;
  gab_rank *targets = (gab_rank *)(items + all->out_count);
  for (size_t i = 0; i < all->out_count; i++) {
    items[i] = (announcement){blocks_of(all, &all->out[i]), all->out[i].piece_count};
    targets[i] = all->out[i].rank;
  }
  gab_buffer received;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  size_t count = 0;
  gab_status status = gab_world_route(all->transport->forest->world, items, targets, all->out_count,
                                      sizeof(announcement), &received, &count);
  if (status == GAB_OK) status = read_announcements(&received, count, all);
  gab_buffer_release(&received);
  gab_free(&memory);
  return status;
}

static gab_status send_piece(journey *all, route *to, uint64_t round)
{
  gab_forest *forest = all->transport->forest;
  const piece *now = &all->pieces[to->first_piece + round];
  for (size_t i = 0; i < now->count; i++)
    all->packing[i] = forest->blocks[all->leaving[now->first + i].index];
  GAB_TRY(gab_message_begin(&to->message));
  GAB_TRY(gab_put_u64(&to->message, now->count));
  GAB_TRY(gab_records_pack(forest, all->packing, now->count, &to->message));
  return gab_port_send(forest->port, to->rank, &to->message);
}

static gab_status take_piece(journey *all, const route *from)
{
  const gab_forest *forest = all->transport->forest;
  gab_reader in = gab_message_reader(&from->message);
  size_t count;
  GAB_TRY(gab_get_count(&in, gab_record_least_size(forest), &count));
  if (count > all->arriving - all->arrived)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " sends more blocks than it announced", from->rank);
  all->arrived += count;
  gab_record *records;
  GAB_TRY(GAB_NEW_ARRAY(&records, count, GAB_MEMORY_OTHER));
  gab_status status = GAB_OK;
  for (size_t i = 0; i < count && status == GAB_OK; i++) status = gab_record_find(forest, &in, &records[i]);
  if (status == GAB_OK) status = gab_reader_expect_end(&in);
  if (status == GAB_OK) status = all->transport->take(all->transport->context, records, count);
  gab_free(&records);
  return status;
}

static void let_go(journey *all, route *to, uint64_t round)
{
  const piece *gone = &all->pieces[to->first_piece + round];
  for (size_t i = 0; i < gone->count; i++)
    all->transport->sent(all->transport->context, all->leaving[gone->first + i].index);
  gab_buffer_release(&to->message);
}

static gab_status run_round(journey *all, uint64_t round)
{
  gab_port *port = all->transport->forest->port;
  for (size_t i = 0; i < all->in_count; i++)
    if (round < all->in[i].piece_count)
      GAB_TRY(gab_port_receive(port, all->in[i].rank, &all->in[i].message, GAB_SIZE_UNKNOWN));
  for (size_t i = 0; i < all->out_count; i++)
    if (round < all->out[i].piece_count) GAB_TRY(send_piece(all, &all->out[i], round));
  GAB_TRY(gab_port_finish(port));
  for (size_t i = 0; i < all->out_count; i++)
    if (round < all->out[i].piece_count) let_go(all, &all->out[i], round);
  for (size_t i = 0; i < all->in_count; i++)
    if (round < all->in[i].piece_count) {
      GAB_TRY(take_piece(all, &all->in[i]));
      gab_buffer_release(&all->in[i].message);
    }
  return GAB_OK;
}

static uint64_t count_rounds(const journey *all)
{
  uint64_t rounds = 0;
  for (size_t i = 0; i < all->in_count; i++)
    if (all->in[i].piece_count > rounds) rounds = all->in[i].piece_count;
  for (size_t i = 0; i < all->out_count; i++)
    if (all->out[i].piece_count > rounds) rounds = all->out[i].piece_count;
  return rounds;
}

static void release(journey *all)
{
  for (size_t i = 0; i < all->out_count; i++) gab_buffer_release(&all->out[i].message);
  for (size_t i = 0; i < all->in_count; i++) gab_buffer_release(&all->in[i].message);
  gab_free(&all->packing);
  gab_free(&all->pieces);
  gab_free(&all->out);
  gab_free(&all->in);
}

gab_status gab_transport_run(gab_transport *transport, gab_leaver *leaving, size_t count)
{
  journey all = {.transport = transport, .leaving = leaving, .leaving_count = count};
  transport->sent_bytes = 0;
  gab_status status = make_routes(&all);
  if (status == GAB_OK) {
    cut_pieces(&all);
    status = announce(&all);
  }
  uint64_t rounds = count_rounds(&all);
  for (uint64_t round = 0; round < rounds && status == GAB_OK; round++) status = run_round(&all, round);
  if (status != GAB_OK) status = gab_forest_abandon(transport->forest, status);
  release(&all);
  return status;
}
