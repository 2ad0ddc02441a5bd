/* SPDX-License-Identifier: Apache-2.0 */
/* Migration of proxies: first the neighbours learn the target of each one, then the targets learn their sources (crystal router),
 * then the proxies are sent with their tables, in rounds of one piece per pair of ranks. A piece has at most
 * GAB_PROXY_MOVE_BYTES / (targets of its source) bytes, or is a single larger proxy. As in forest_transport.c some process can
 * always proceed: both ends count the rounds of a pair alike. */
#include "blockforest/adaptation/proxy_impl.h"
#include "core/messages/collective.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 8 + 4 + 1, HEAD_BYTES = 8 + 8 + 1 + 4 * GAB_CHILDREN_MAX + 8 };

/* A proxy that moves to another rank. */
typedef struct leaver {
  gab_rank target;
  size_t index;
} leaver;

/* Announced number of proxies and rows from one rank to another. */
typedef struct announcement {
  uint64_t proxies, rows, pieces;
} announcement;

/* A rank that receives proxies from this one, or sends some. */
typedef struct route {
  gab_rank rank;
  size_t next, end;  /* outgoing: in `leaving` */
  announcement left; /* not yet transferred; zero at the end */
  gab_buffer message;
} route;

typedef struct transport {
  leaver *leaving; /* by target, then index */
  size_t leaving_count;
  route *out, *in;
  size_t out_count, in_count;
  size_t piece_bytes; /* limit, except for single proxies */
  gab_proxy *made; /* remaining proxies, followed by received ones; their rows are in `rows` in this order */
  gab_neighbour *rows;
  size_t made_count, row_count;
} transport;

/* ------------------------------------------------------------------------------------------ who gets what */

static gab_status check_targets(const gab_proxies *all, const gab_rank *targets)
{
  const gab_members *members = gab_world_members(all->world);
  for (size_t i = 0; i < all->count; i++)
    if (!gab_members_has(members, targets[i]))
      GAB_FAIL(GAB_ERR_ARGUMENT, "proxy " GAB_PRI_BLOCK " is to go to rank %" GAB_PRI_RANK ", which is gone",
               all->proxies[i].id, targets[i]);
  return GAB_OK;
}

static gab_status announce_holders(gab_proxies *all, gab_border *border, const gab_rank *targets)
{
  gab_rank *holders;
  GAB_TRY(GAB_NEW_ARRAY(&holders, all->count + border->theirs_count, GAB_MEMORY_OTHER));
  if (all->count > 0) memcpy(holders, targets, all->count * sizeof *holders);
  gab_status status = gab_border_exchange(all, border, holders, sizeof *holders);
  if (status == GAB_OK)
    for (size_t r = 0; r < all->row_count; r++) all->rows[r].owner = holders[border->links[r]];
  gab_free(&holders);
  return status;
}

static int by_target(const void *a, const void *b)
{
  const leaver *left = a, *right = b;
  if (left->target != right->target) return left->target < right->target ? -1 : 1;
  return (left->index > right->index) - (left->index < right->index);
}

static size_t packed_bytes(const gab_proxy *proxy) { return HEAD_BYTES + proxy->neighbour_count * ROW_BYTES; }

/* The end, in `leaving`, of the piece that begins at `first`. */
static size_t end_of_piece(const gab_proxies *all, const transport *move, size_t first, size_t end)
{
  size_t bytes = 0, at = first;
  for (; at < end; at++) {
    const size_t more = packed_bytes(&all->proxies[move->leaving[at].index]);
    if (at > first && more > move->piece_bytes - bytes) break;
    bytes = more < move->piece_bytes - bytes ? bytes + more : move->piece_bytes;
  }
  return at;
}

static void count_route(const gab_proxies *all, const transport *move, route *to)
{
  to->left.proxies = to->end - to->next;
  for (size_t i = to->next; i < to->end; i++)
    to->left.rows += all->proxies[move->leaving[i].index].neighbour_count;
  for (size_t at = to->next; at < to->end; at = end_of_piece(all, move, at, to->end)) to->left.pieces++;
}

static gab_status plan_routes(const gab_proxies *all, const gab_rank *targets, transport *move)
{
  const gab_rank me = gab_world_rank(all->world);
  size_t leaving = 0, routes = 0;
  for (size_t i = 0; i < all->count; i++) leaving += targets[i] != me;
  GAB_TRY(GAB_NEW_ARRAY(&move->leaving, leaving, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < all->count; i++)
    if (targets[i] != me) move->leaving[move->leaving_count++] = (leaver){targets[i], i};
  if (leaving > 1) qsort(move->leaving, leaving, sizeof(leaver), by_target);
  for (size_t i = 0; i < leaving; i++)
    routes += i == 0 || move->leaving[i].target != move->leaving[i - 1].target;
  GAB_TRY(GAB_NEW_ARRAY(&move->out, routes, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < leaving; i++) {
    if (i == 0 || move->leaving[i].target != move->leaving[i - 1].target) {
      route *to = &move->out[move->out_count++];
      *to = (route){.rank = move->leaving[i].target, .next = i};
      gab_buffer_init(&to->message, GAB_MEMORY_MESSAGE);
    }
    move->out[move->out_count - 1].end = i + 1;
  }
  if (routes > 0) move->piece_bytes = GAB_PROXY_MOVE_BYTES / routes;
  for (size_t t = 0; t < routes; t++) count_route(all, move, &move->out[t]);
  return GAB_OK;
}

static gab_status read_announcements(const gab_buffer *received, size_t count, transport *move)
{
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(GAB_NEW_ARRAY(&move->in, count, GAB_MEMORY_OTHER));
  for (; move->in_count < count; move->in_count++) {
    route *from = &move->in[move->in_count];
    GAB_TRY(gab_get_i32(&in, &from->rank));
    GAB_TRY(gab_get_bytes(&in, &from->left, sizeof from->left));
    gab_buffer_init(&from->message, GAB_MEMORY_MESSAGE);
  }
  return GAB_OK;
}

static gab_status announce_proxies(const gab_proxies *all, transport *move)
{
  void *memory;
  GAB_TRY(gab_alloc(move->out_count * (sizeof(announcement) + sizeof(gab_rank)), GAB_MEMORY_OTHER, &memory));
  announcement *items = memory;
  gab_rank *ranks = (gab_rank *)(items + move->out_count);
  for (size_t i = 0; i < move->out_count; i++) {
    items[i] = move->out[i].left;
    ranks[i] = move->out[i].rank;
  }
  gab_buffer received;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  size_t count = 0;
  gab_status status =
      gab_world_route(all->world, items, ranks, move->out_count, sizeof *items, &received, &count);
  if (status == GAB_OK) status = read_announcements(&received, count, move);
  gab_buffer_release(&received);
  gab_free(&memory);
  return status;
}

/* ------------------------------------------------------------------------------------------ they travel */

static gab_status pack_proxy(const gab_proxy *proxy, gab_buffer *out)
{
  GAB_TRY(gab_put_u64(out, proxy->id));
  GAB_TRY(gab_put_u64(out, proxy->weight));
  GAB_TRY(gab_put_u8(out, (uint8_t)proxy->origin));
  for (int c = 0; c < GAB_CHILDREN_MAX; c++) GAB_TRY(gab_put_i32(out, proxy->sources[c]));
  GAB_TRY(gab_put_u64(out, proxy->neighbour_count));
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    GAB_TRY(gab_put_u64(out, proxy->neighbours[r].id));
    GAB_TRY(gab_put_i32(out, proxy->neighbours[r].owner));
    GAB_TRY(gab_put_u8(out, (uint8_t)proxy->neighbours[r].direction));
  }
  return GAB_OK;
}

static gab_status unpack_proxy(const gab_proxies *all, route *from, gab_reader *in, transport *move)
{
  if (from->left.proxies-- == 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " sends more proxies than it announced", from->rank);
  gab_proxy *proxy = &move->made[move->made_count];
  uint8_t origin, direction;
  *proxy = (gab_proxy){0};
  GAB_TRY(gab_get_u64(in, &proxy->id));
  GAB_TRY(gab_get_u64(in, &proxy->weight));
  GAB_TRY(gab_get_u8(in, &origin));
  for (int c = 0; c < GAB_CHILDREN_MAX; c++) GAB_TRY(gab_get_i32(in, &proxy->sources[c]));
  GAB_TRY(gab_get_count(in, ROW_BYTES, &proxy->neighbour_count));
  if (!gab_block_id_is_valid(&all->options.grid, proxy->id) || origin > GAB_ORIGIN_CHILDREN)
    GAB_FAIL(GAB_ERR_CORRUPT, "proxy of the impossible block " GAB_PRI_BLOCK, proxy->id);
  proxy->origin = (gab_origin)origin;
  if (proxy->neighbour_count > from->left.rows)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " sends longer tables than it announced", from->rank);
  from->left.rows -= proxy->neighbour_count;
  proxy->neighbours = move->rows + move->row_count;
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    gab_neighbour *row = &proxy->neighbours[r];
    GAB_TRY(gab_get_u64(in, &row->id));
    GAB_TRY(gab_get_i32(in, &row->owner));
    GAB_TRY(gab_get_u8(in, &direction));
    if (direction >= GAB_DIRECTIONS)
      GAB_FAIL(GAB_ERR_CORRUPT, "proxy " GAB_PRI_BLOCK ": no direction %d", proxy->id, direction);
    row->direction = (int8_t)direction;
  }
  move->row_count += proxy->neighbour_count;
  move->made_count++;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ the new part */

/* Reserves capacity for remaining and announced proxies. */
static gab_status reserve_capacity(const gab_proxies *all, const gab_rank *targets, transport *move)
{
  size_t proxies = 0, rows = 0;
  const gab_rank me = gab_world_rank(all->world);
  for (size_t i = 0; i < all->count; i++) {
    if (targets[i] != me) continue;
    proxies++;
    rows += all->proxies[i].neighbour_count;
  }
  for (size_t i = 0; i < move->in_count; i++) {
    proxies += move->in[i].left.proxies;
    rows += move->in[i].left.rows;
  }
  GAB_TRY(GAB_NEW_ARRAY(&move->made, proxies, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&move->rows, rows, GAB_MEMORY_OTHER));
  return GAB_OK;
}

static void keep_stayers(const gab_proxies *all, const gab_rank *targets, transport *move)
{
  const gab_rank me = gab_world_rank(all->world);
  for (size_t i = 0; i < all->count; i++) {
    const gab_proxy *proxy = &all->proxies[i];
    if (targets[i] != me) continue;
    gab_proxy *kept = &move->made[move->made_count++];
    *kept = *proxy;
    kept->neighbours = move->rows + move->row_count;
    if (proxy->neighbour_count > 0)
      memcpy(kept->neighbours, proxy->neighbours, proxy->neighbour_count * sizeof(gab_neighbour));
    move->row_count += proxy->neighbour_count;
  }
}

static int by_proxy_id(const void *a, const void *b)
{
  const gab_proxy *left = a, *right = b;
  return (left->id > right->id) - (left->id < right->id);
}

/* Sorts the proxies, and puts the rows in their order. */
static gab_status put_in_order(transport *move)
{
  gab_neighbour *rows;
  bool ascending = true;
  for (size_t i = 1; i < move->made_count; i++) ascending &= move->made[i - 1].id < move->made[i].id;
  if (ascending) return GAB_OK;
  qsort(move->made, move->made_count, sizeof(gab_proxy), by_proxy_id);
  GAB_TRY(GAB_NEW_ARRAY(&rows, move->row_count, GAB_MEMORY_OTHER));
  gab_neighbour *at = rows;
  for (size_t i = 0; i < move->made_count; i++) {
    const gab_proxy *proxy = &move->made[i];
    if (proxy->neighbour_count > 0) memcpy(at, proxy->neighbours, proxy->neighbour_count * sizeof *at);
    at += proxy->neighbour_count;
  }
  gab_free(&move->rows);
  move->rows = rows;
  gab_proxy_tables_attach(move->made, move->made_count, rows);
  return GAB_OK;
}

/* Transfers one piece to and from each rank with remaining pieces. */
static gab_status run_round(gab_proxies *all, transport *move)
{
  for (size_t i = 0; i < move->in_count; i++)
    if (move->in[i].left.pieces > 0)
      GAB_TRY(gab_port_receive(all->port, move->in[i].rank, &move->in[i].message, GAB_SIZE_UNKNOWN));
  for (size_t i = 0; i < move->out_count; i++) {
    route *to = &move->out[i];
    if (to->left.pieces == 0) continue;
    const size_t end = end_of_piece(all, move, to->next, to->end);
    GAB_TRY(gab_message_begin(&to->message));
    for (; to->next < end; to->next++)
      GAB_TRY(pack_proxy(&all->proxies[move->leaving[to->next].index], &to->message));
    GAB_TRY(gab_port_send(all->port, to->rank, &to->message));
    to->left.pieces--;
  }
  GAB_TRY(gab_port_finish(all->port));
  for (size_t i = 0; i < move->in_count; i++) {
    route *from = &move->in[i];
    if (from->left.pieces == 0) continue;
    gab_reader in = gab_message_reader(&from->message);
    while (gab_reader_left(&in) > 0) GAB_TRY(unpack_proxy(all, from, &in, move));
    from->left.pieces--;
  }
  return GAB_OK;
}

static bool is_under_way(const transport *move)
{
  for (size_t i = 0; i < move->in_count; i++)
    if (move->in[i].left.pieces > 0) return true;
  for (size_t i = 0; i < move->out_count; i++)
    if (move->out[i].left.pieces > 0) return true;
  return false;
}

static gab_status travel(gab_proxies *all, const gab_rank *targets, transport *move)
{
  GAB_TRY(reserve_capacity(all, targets, move));
  keep_stayers(all, targets, move);
  while (is_under_way(move)) GAB_TRY(run_round(all, move));
  for (size_t i = 0; i < move->in_count; i++)
    if (move->in[i].left.proxies + move->in[i].left.rows > 0)
      GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " sends less than it announced", move->in[i].rank);
  return put_in_order(move);
}

static gab_status make_move(gab_proxies *all, const gab_rank *targets, transport *move)
{
  GAB_TRY(check_targets(all, targets));
  gab_border border;
  gab_status status = gab_border_make(all, &border);
  if (status == GAB_OK) status = announce_holders(all, &border, targets);
  if (status != GAB_OK) status = gab_proxies_abandon(all, status);
  gab_border_release(&border);
  GAB_TRY(status);
  GAB_TRY(plan_routes(all, targets, move));
  GAB_TRY(announce_proxies(all, move));
  return travel(all, targets, move);
}

static void release_routes(route *routes, size_t count)
{
  for (size_t i = 0; i < count; i++) gab_buffer_release(&routes[i].message);
}

gab_status gab_proxies_move(gab_proxies *proxies, const gab_rank *targets)
{
  GAB_TRY(gab_proxies_check(proxies));
  gab_world_enter(proxies->world, GAB_FAULT_POINT_ADAPT_BALANCE);
  transport move = {0};
  gab_status status = make_move(proxies, targets, &move);
  if (status == GAB_OK) {
    gab_free(&proxies->proxies);
    gab_free(&proxies->rows);
    proxies->proxies = move.made;
    proxies->count = move.made_count;
    proxies->rows = move.rows;
    proxies->row_count = move.row_count;
    move.made = NULL;
    move.rows = NULL;
  } else {
    status = gab_proxies_abandon(proxies, status);
  }
  release_routes(move.out, move.out_count);
  release_routes(move.in, move.in_count);
  gab_free(&move.leaving);
  gab_free(&move.out);
  gab_free(&move.in);
  gab_free(&move.made);
  gab_free(&move.rows);
  return status;
}
