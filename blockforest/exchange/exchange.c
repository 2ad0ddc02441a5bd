/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of an exchange: per neighbour rank the data to send and to receive, with offsets in the message. Both ends order it
 * by (receiving block, direction as seen by the sender, sending block), which follows from their tables alone, so messages carry
 * only cells. */
#include "blockforest/exchange/exchange.h"

#include "blockforest/forest/forest_impl.h"
#include "core/messages/logged/message_logger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One crossing from a block to a neighbour. */
typedef struct crossing {
  gab_rank peer;
  int direction; /* as seen by the sender */
  gab_block_id receiver, sender;
  void *from, *to;   /* the data; NULL if not on this rank */
  const void *place; /* address of the ghosts at the start of the exchange; NULL: it cannot change */
  size_t offset, bytes;
  size_t channel; /* index of the peer */
} crossing;

typedef struct crossings {
  crossing *item;
  size_t count;
} crossings;

typedef struct channel {
  gab_rank rank;
  size_t send_bytes, receive_bytes;
  gab_buffer out, in;
  unsigned char *place;         /* of the payload in out */
  const unsigned char *arrived; /* of the payload in in */
} channel;

struct gab_exchange {
  gab_forest *forest;
  gab_data_id data;
  int level; /* of the blocks; -1: all levels */
  gab_ghost_kind ghost;
  gab_port *port;
  /* the plan, and the state for which it was made */
  crossings sends, receives, copies;
  channel *channels;
  size_t channel_count;
  bool planned;
  uint64_t plans; /* number of plans so far */
  uint64_t revision;
  gab_epoch epoch;
  bool under_way;
  uint64_t resets; /* of the ports of the world when it was started */
};

/* ------------------------------------------------------------------ plan */

static int in_common_order(const void *a, const void *b)
{
  const crossing *left = a, *right = b;
  if (left->peer != right->peer) return left->peer < right->peer ? -1 : 1;
  if (left->receiver != right->receiver) return left->receiver < right->receiver ? -1 : 1;
  if (left->direction != right->direction) return left->direction - right->direction;
  return (left->sender > right->sender) - (left->sender < right->sender);
}

static void drop_plan(gab_exchange *exchange)
{
  for (size_t c = 0; c < exchange->channel_count; c++) {
    gab_buffer_release(&exchange->channels[c].out);
    gab_buffer_release(&exchange->channels[c].in);
  }
  gab_free(&exchange->channels);
  gab_free(&exchange->sends.item);
  gab_free(&exchange->receives.item);
  gab_free(&exchange->copies.item);
  exchange->channel_count = exchange->sends.count = exchange->receives.count = exchange->copies.count = 0;
  exchange->planned = false;
}

static size_t crossing_bytes(const gab_exchange *exchange, int direction)
{
  return exchange->ghost.size(exchange->ghost.user, direction);
}

static void add(crossings *list, crossing item)
{
  if (item.bytes > 0) list->item[list->count++] = item;
}

static int level_of(const gab_exchange *exchange, gab_block_id id)
{
  return gab_block_id_level(&exchange->forest->options.grid, id);
}

/* Adds a row of a table: an outgoing and an incoming transfer; between blocks of one level. */
static void add_row(gab_exchange *exchange, gab_block *block, const gab_neighbour *row)
{
  void *data = gab_block_data(block, exchange->data);
  int there = row->direction, back = gab_direction_opposite(row->direction);
  int level = level_of(exchange, block->id);
  if (level_of(exchange, row->id) != level || (exchange->level >= 0 && exchange->level != level)) return;
  crossing out = {
      .peer = row->owner, .direction = there, .receiver = row->id, .sender = block->id, .from = data};
  out.bytes = crossing_bytes(exchange, there);
  if (row->owner == gab_world_rank(exchange->forest->world)) {
    out.to = gab_block_data(gab_forest_find(exchange->forest, row->id), exchange->data);
    add(&exchange->copies, out);
    return;
  }
  crossing in = {.peer = row->owner, .direction = back, .receiver = block->id, .sender = row->id, .to = data};
  in.bytes = crossing_bytes(exchange, back);
  add(&exchange->sends, out);
  add(&exchange->receives, in);
}

static gab_status reserve_capacity(crossings *list, size_t rows)
{
  GAB_TRY(GAB_NEW_ARRAY(&list->item, rows, GAB_MEMORY_OTHER));
  return GAB_OK;
}

/* Whether the callbacks can handle the data of the blocks. */
static gab_status check_data(const gab_exchange *exchange)
{
  const gab_ghost_kind *ghost = &exchange->ghost;
  for (size_t i = 0; i < exchange->forest->block_count && ghost->check; i++)
    GAB_TRY(ghost->check(ghost->user, gab_block_data(exchange->forest->blocks[i], exchange->data)));
  return GAB_OK;
}

static gab_status list_crossings(gab_exchange *exchange)
{
  const gab_forest *forest = exchange->forest;
  size_t rows = 0;
  GAB_TRY(check_data(exchange));
  for (size_t i = 0; i < forest->block_count; i++) rows += forest->blocks[i]->neighbour_count;
  GAB_TRY(reserve_capacity(&exchange->sends, rows));
  GAB_TRY(reserve_capacity(&exchange->receives, rows));
  GAB_TRY(reserve_capacity(&exchange->copies, rows));
  for (size_t i = 0; i < forest->block_count; i++)
    for (size_t r = 0; r < forest->blocks[i]->neighbour_count; r++)
      add_row(exchange, forest->blocks[i], &forest->blocks[i]->neighbours[r]);
  crossings *lists[] = {&exchange->sends, &exchange->receives, &exchange->copies};
  for (int l = 0; l < 3; l++)
    if (lists[l]->count > 1) qsort(lists[l]->item, lists[l]->count, sizeof(crossing), in_common_order);
  return GAB_OK;
}

static size_t count_peers(const crossings *list)
{
  size_t peers = 0;
  for (size_t i = 0; i < list->count; i++) peers += i == 0 || list->item[i].peer != list->item[i - 1].peer;
  return peers;
}

/* The channel of a rank; appended if it is new. */
static channel *channel_to(gab_exchange *exchange, gab_rank rank)
{
  for (size_t c = exchange->channel_count; c > 0; c--)
    if (exchange->channels[c - 1].rank == rank) return &exchange->channels[c - 1];
  channel *made = &exchange->channels[exchange->channel_count++];
  made->rank = rank;
  gab_buffer_init(&made->out, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&made->in, GAB_MEMORY_MESSAGE);
  return made;
}

static gab_status make_channels(gab_exchange *exchange)
{
  size_t most = count_peers(&exchange->sends) + count_peers(&exchange->receives);
  GAB_TRY(GAB_NEW_ARRAY(&exchange->channels, most, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < exchange->sends.count; i++) {
    crossing *item = &exchange->sends.item[i];
    channel *to = channel_to(exchange, item->peer);
    item->channel = (size_t)(to - exchange->channels);
    item->offset = to->send_bytes;
    to->send_bytes += item->bytes;
  }
  for (size_t i = 0; i < exchange->receives.count; i++) {
    crossing *item = &exchange->receives.item[i];
    channel *from = channel_to(exchange, item->peer);
    item->channel = (size_t)(from - exchange->channels);
    item->offset = from->receive_bytes;
    from->receive_bytes += item->bytes;
  }
  return GAB_OK;
}

/* Rebuilds the plan if the forest or the world has changed. */
static gab_status update_plan(gab_exchange *exchange)
{
  uint64_t revision = gab_forest_revision(exchange->forest);
  gab_epoch epoch = gab_world_epoch(exchange->forest->world);
  if (exchange->planned && exchange->revision == revision && exchange->epoch == epoch) return GAB_OK;
  drop_plan(exchange);
  gab_status status = list_crossings(exchange);
  if (status == GAB_OK) status = make_channels(exchange);
  if (status != GAB_OK) {
    drop_plan(exchange);
    return status;
  }
  exchange->planned = true;
  exchange->plans++;
  exchange->revision = revision;
  exchange->epoch = epoch;
  return GAB_OK;
}

/* Ghosts next to blocks of another level would silently keep old values. */
static gab_status check_levels(const gab_exchange *exchange)
{
  const gab_forest *forest = exchange->forest;
  if (exchange->ghost.coupled || forest->borders == GAB_BORDERS_NONE) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_STATE,
      "exchange `%s' of data `%s': blocks of different levels touch, and these ghosts are not coupled "
      "across levels: "
      "keep the grid on one level, or fill the ghosts between levels (blockforest/exchange/coupling.h) and set "
      "gab_ghost_kind.coupled",
      exchange->ghost.name, forest->kinds[exchange->data.index - 1].name);
}

/* ------------------------------------------------------------------ life */

static gab_status check_new(const gab_forest *forest, gab_data_id data, const gab_ghost_kind *ghost,
                            int level)
{
  char whose[96];
  if (!ghost->name || !ghost->size || !ghost->pack || !ghost->unpack)
    GAB_FAIL(GAB_ERR_ARGUMENT, "exchange `%s' has no name, size, pack or unpack",
             ghost->name ? ghost->name : "");
  snprintf(whose, sizeof whose, "exchange `%s'", ghost->name);
  GAB_TRY(gab_forest_check_data(forest, data, whose));
  const int deepest = gab_root_grid_max_level(&forest->options.grid);
  if (level < -1 || level > deepest)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s on level %d: there are levels 0 to %d, and -1 means all", whose, level,
             deepest);
  return GAB_OK;
}

gab_status gab_exchange_create_on_level(gab_forest *forest, gab_data_id data, const gab_ghost_kind *ghost,
                                        int level, gab_exchange **exchange)
{
  *exchange = NULL;
  GAB_TRY(check_new(forest, data, ghost, level));
  gab_exchange *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  made->data = data;
  made->level = level;
  made->ghost = *ghost;
  gab_status status = gab_port_create(forest->world, ghost->name, &made->port);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  gab_port_set_logged(made->port);
  *exchange = made;
  return GAB_OK;
}

gab_status gab_exchange_create(gab_forest *forest, gab_data_id data, const gab_ghost_kind *ghost,
                               gab_exchange **exchange)
{
  return gab_exchange_create_on_level(forest, data, ghost, -1, exchange);
}

void gab_exchange_destroy(gab_exchange **exchange)
{
  if (!*exchange) return;
  gab_port_destroy(&(*exchange)->port); /* first: it may still borrow the buffers */
  drop_plan(*exchange);
  gab_free(exchange);
}

/* ------------------------------------------------------------------ start and finish */

static void pack_all(gab_exchange *exchange)
{
  const gab_ghost_kind *ghost = &exchange->ghost;
#pragma omp parallel for schedule(dynamic, 4) if (exchange->sends.count > 4)
  for (size_t i = 0; i < exchange->sends.count; i++) {
    const crossing *item = &exchange->sends.item[i];
    ghost->pack(ghost->user, item->from, item->direction,
                exchange->channels[item->channel].place + item->offset);
  }
}

static void unpack_all(gab_exchange *exchange)
{
  const gab_ghost_kind *ghost = &exchange->ghost;
#pragma omp parallel for schedule(dynamic, 4) if (exchange->receives.count > 4)
  for (size_t i = 0; i < exchange->receives.count; i++) {
    const crossing *item = &exchange->receives.item[i];
    ghost->unpack(ghost->user, item->to, item->direction,
                  exchange->channels[item->channel].arrived + item->offset);
  }
}

static size_t largest(const crossings *list)
{
  size_t bytes = 0;
  for (size_t i = 0; i < list->count; i++)
    if (list->item[i].bytes > bytes) bytes = list->item[i].bytes;
  return bytes;
}

/* For ghost kinds that cannot copy. */
static gab_status copy_through_bytes(gab_exchange *exchange)
{
  const gab_ghost_kind *ghost = &exchange->ghost;
  size_t bytes = largest(&exchange->copies);
  bool starved = false;
#pragma omp parallel
  {
    void *scratch;
    bool mine = gab_alloc(bytes, GAB_MEMORY_MESSAGE, &scratch) == GAB_OK;
    if (!mine) {
#pragma omp atomic write
      starved = true;
    }
#pragma omp for schedule(dynamic, 4)
    for (size_t i = 0; i < exchange->copies.count; i++) {
      const crossing *item = &exchange->copies.item[i];
      if (!mine) continue;
      ghost->pack(ghost->user, item->from, item->direction, scratch);
      ghost->unpack(ghost->user, item->to, item->direction, scratch);
    }
    gab_free(&scratch);
  }
  if (starved) GAB_FAIL(GAB_ERR_MEMORY, "no memory for copies between blocks (%zu bytes per thread)", bytes);
  return GAB_OK;
}

static gab_status copy_all(gab_exchange *exchange)
{
  const gab_ghost_kind *ghost = &exchange->ghost;
  if (ghost->fetched) return GAB_OK;
  if (!ghost->copy) return copy_through_bytes(exchange);
#pragma omp parallel for schedule(dynamic, 4)
  for (size_t i = 0; i < exchange->copies.count; i++) {
    const crossing *item = &exchange->copies.item[i];
    ghost->copy(ghost->user, item->from, item->to, item->direction);
  }
  return GAB_OK;
}

static gab_status post_receives(gab_exchange *exchange)
{
  for (size_t c = 0; c < exchange->channel_count; c++) {
    channel *from = &exchange->channels[c];
    if (from->receive_bytes > 0)
      GAB_TRY(gab_port_receive(exchange->port, from->rank, &from->in, from->receive_bytes));
  }
  return GAB_OK;
}

static gab_status send_all(gab_exchange *exchange)
{
  for (size_t c = 0; c < exchange->channel_count; c++) {
    channel *to = &exchange->channels[c];
    void *place;
    if (to->send_bytes == 0) continue;
    GAB_TRY(gab_message_begin(&to->out));
    GAB_TRY(gab_buffer_extend(&to->out, to->send_bytes, &place));
    to->place = place;
  }
  pack_all(exchange);
  for (size_t c = 0; c < exchange->channel_count; c++) {
    channel *to = &exchange->channels[c];
    if (to->send_bytes > 0) GAB_TRY(gab_port_send(exchange->port, to->rank, &to->out));
  }
  return GAB_OK;
}

/* Ends a failed exchange: breaks the world if it is still intact, so that no process waits for this one and the port
 * releases the buffers. */
static gab_status abandon(gab_exchange *exchange, gab_status status)
{
  if (status != GAB_ERR_FAULT) status = gab_world_raise(exchange->forest->world, status);
  (void)gab_port_finish(exchange->port);
  exchange->under_way = false;
  return status;
}

/* Local ghosts are set at the start, the others at the finish: both must be in one array, or the result would depend on the
 * owners. */
static void note_places(gab_exchange *exchange)
{
  const gab_ghost_kind *ghost = &exchange->ghost;
  crossings *lists[] = {&exchange->receives, &exchange->copies};
  for (int l = 0; l < 2 && ghost->place; l++)
    for (size_t i = 0; i < lists[l]->count; i++)
      lists[l]->item[i].place = ghost->place(ghost->user, lists[l]->item[i].to);
}

static gab_status check_places(const gab_exchange *exchange)
{
  const gab_ghost_kind *ghost = &exchange->ghost;
  const crossings *lists[] = {&exchange->receives, &exchange->copies};
  for (int l = 0; l < 2 && ghost->place; l++)
    for (size_t i = 0; i < lists[l]->count; i++)
      if (lists[l]->item[i].place != ghost->place(ghost->user, lists[l]->item[i].to))
        GAB_FAIL(GAB_ERR_STATE,
                 "the data of block " GAB_PRI_BLOCK
                 " was swapped while exchange `%s' was under way: finish it before",
                 lists[l]->item[i].receiver, ghost->name);
  return GAB_OK;
}

/* A process that rolls back, with all others or alone, has abandoned its exchange. */
static bool is_under_way(const gab_exchange *exchange)
{
  const gab_world *world = exchange->forest->world;
  return exchange->under_way && exchange->epoch == gab_world_epoch(world) &&
         exchange->resets == gab_world_port_resets(world);
}

gab_status gab_exchange_start(gab_exchange *exchange)
{
  gab_world *world = exchange->forest->world;
  GAB_TRY(gab_world_check(world));
  if (is_under_way(exchange))
    GAB_FAIL(GAB_ERR_STATE, "exchange `%s' is started twice without a finish", exchange->ghost.name);
  gab_status status = check_levels(exchange);
  if (status != GAB_OK && exchange->forest->borders == GAB_BORDERS_SOMEWHERE)
    return status; /* the same on all */
  gab_world_enter(world, GAB_FAULT_POINT_EXCHANGE);
  if (status == GAB_OK) status = update_plan(exchange);
  exchange->under_way = true;
  exchange->resets = gab_world_port_resets(world);
  if (status == GAB_OK) note_places(exchange);
  if (status == GAB_OK) status = post_receives(exchange);
  if (status == GAB_OK) status = send_all(exchange);
  if (status == GAB_OK) status = copy_all(exchange);
  return status == GAB_OK ? GAB_OK : abandon(exchange, status);
}

gab_status gab_exchange_progress(gab_exchange *exchange, bool *done)
{
  GAB_TRY(gab_world_check(exchange->forest->world));
  if (!is_under_way(exchange))
    GAB_FAIL(GAB_ERR_STATE, "exchange `%s' is helped along without a start", exchange->ghost.name);
  gab_status status = gab_port_progress(exchange->port, done);
  return status == GAB_OK ? GAB_OK : abandon(exchange, status);
}

gab_status gab_exchange_finish(gab_exchange *exchange)
{
  GAB_TRY(gab_world_check(exchange->forest->world));
  if (!is_under_way(exchange))
    GAB_FAIL(GAB_ERR_STATE, "exchange `%s' is finished without a start", exchange->ghost.name);
  if (exchange->revision != gab_forest_revision(exchange->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest changed while exchange `%s' was under way", exchange->ghost.name);
  gab_status status = check_places(exchange);
  if (status == GAB_OK) status = gab_port_finish(exchange->port);
  if (status != GAB_OK) return abandon(exchange, status);
  for (size_t c = 0; c < exchange->channel_count; c++)
    if (exchange->channels[c].receive_bytes > 0)
      exchange->channels[c].arrived = gab_message_reader(&exchange->channels[c].in).at;
  unpack_all(exchange);
  exchange->under_way = false;
  return GAB_OK;
}

gab_status gab_exchange_plan(gab_exchange *exchange, uint64_t *number)
{
  GAB_TRY(check_levels(exchange));
  if (!is_under_way(exchange)) GAB_TRY(update_plan(exchange));
  else if (exchange->revision != gab_forest_revision(exchange->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest changed while exchange `%s' was under way", exchange->ghost.name);
  *number = exchange->plans;
  return GAB_OK;
}

void gab_exchange_visit(const gab_exchange *exchange,
                        void (*visit)(void *user, const void *from, void *to, int direction), void *user)
{
  for (size_t i = 0; i < exchange->copies.count; i++) {
    const crossing *item = &exchange->copies.item[i];
    visit(user, item->from, item->to, item->direction);
  }
  for (size_t i = 0; i < exchange->receives.count; i++)
    visit(user, NULL, exchange->receives.item[i].to, exchange->receives.item[i].direction);
}

gab_exchange_volume gab_exchange_get_volume(gab_exchange *exchange)
{
  gab_exchange_volume volume = {0, 0, 0};
  if (!is_under_way(exchange) && update_plan(exchange) != GAB_OK) return volume;
  for (size_t c = 0; c < exchange->channel_count; c++) {
    volume.bytes += exchange->channels[c].send_bytes;
    volume.messages += exchange->channels[c].send_bytes > 0;
  }
  for (size_t i = 0; i < exchange->copies.count; i++) volume.local_bytes += exchange->copies.item[i].bytes;
  return volume;
}
