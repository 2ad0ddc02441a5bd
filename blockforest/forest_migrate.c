/* Blocks change owner: first every process tells its neighbours where its blocks go, then those that get
 * blocks learn from whom (crystal router), then the blocks travel, packed with their tables, in rounds.
 *
 * A round moves one piece per pair of slots. A piece has at most GAB_MIGRATION_BYTES / (targets of its
 * source) packed bytes, or is a single larger block. Both ends count the rounds of a pair alike, and a
 * process enters a round when it is through with the one before, so some process can always go on: no
 * deadlock. */
#include "blockforest/forest_impl.h"
#include "core/collective.h"

#include <stdlib.h>

/* ================================================================== who owns what from now on */

/* Block `id` (a local one in `mine`, a neighbour in `theirs`) matters between this process and `slot`. */
typedef struct border {
  gab_slot slot;
  gab_slot owner; /* the new one */
  gab_block_id id;
} border;

/* What this process and one other tell each other. */
typedef struct conversation {
  gab_slot slot;
  size_t first, count;             /* in `mine` */
  size_t their_first, their_count; /* in `theirs` */
  gab_buffer out, in;
} conversation;

typedef struct notices {
  border *mine, *theirs; /* ascending by slot, then id; without doubles */
  size_t mine_count, theirs_count;
  conversation *talks;
  size_t talk_count;
} notices;

enum { NOTICE_BYTES = 8 + 4 };

static int by_slot_and_id(const void *a, const void *b)
{
  const border *left = a, *right = b;
  if (left->slot != right->slot) return left->slot < right->slot ? -1 : 1;
  return (left->id > right->id) - (left->id < right->id);
}

static int by_block(const void *a, const void *b)
{
  const border *left = a, *right = b;
  return (left->id > right->id) - (left->id < right->id);
}

static size_t sort_unique(border *borders, size_t count)
{
  if (count > 1) qsort(borders, count, sizeof *borders, by_slot_and_id);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i)
    if (kept == 0 || by_slot_and_id(&borders[kept - 1], &borders[i]) != 0) borders[kept++] = borders[i];
  return kept;
}

static gab_status collect_borders(const gab_forest *forest, const gab_slot *targets, notices *all)
{
  gab_slot me = gab_world_slot(forest->world);
  size_t rows = 0;
  void *memory;
  for (size_t i = 0; i < forest->block_count; ++i) rows += forest->blocks[i]->neighbour_count;
  GAB_TRY(gab_alloc(rows * sizeof(border), GAB_MEMORY_OTHER, &memory));
  all->mine = memory;
  GAB_TRY(gab_alloc(rows * sizeof(border), GAB_MEMORY_OTHER, &memory));
  all->theirs = memory;
  size_t count = 0;
  for (size_t i = 0; i < forest->block_count; ++i) {
    const gab_block *block = forest->blocks[i];
    for (size_t r = 0; r < block->neighbour_count; ++r) {
      const gab_neighbour *row = &block->neighbours[r];
      if (row->owner == me) continue;
      all->mine[count] = (border){row->owner, targets[i], block->id};
      all->theirs[count++] = (border){row->owner, GAB_NO_SLOT, row->id};
    }
  }
  all->mine_count = sort_unique(all->mine, count);
  all->theirs_count = sort_unique(all->theirs, count);
  return GAB_OK;
}

/* Being a neighbour is symmetric, so both lists speak of the same slots in the same order. */
static gab_status plan_conversations(notices *all)
{
  void *memory;
  size_t slots = 0;
  for (size_t i = 0; i < all->mine_count; ++i) slots += i == 0 || all->mine[i].slot != all->mine[i - 1].slot;
  GAB_TRY(gab_alloc(slots * sizeof(conversation), GAB_MEMORY_OTHER, &memory));
  all->talks = memory;
  for (size_t i = 0, j = 0; i < all->mine_count; ++all->talk_count) {
    conversation *talk = &all->talks[all->talk_count];
    talk->slot = all->mine[i].slot;
    gab_buffer_init(&talk->out, GAB_MEMORY_MESSAGE);
    gab_buffer_init(&talk->in, GAB_MEMORY_MESSAGE);
    for (talk->first = i; i < all->mine_count && all->mine[i].slot == talk->slot; ++i) ++talk->count;
    for (talk->their_first = j; j < all->theirs_count && all->theirs[j].slot == talk->slot; ++j)
      ++talk->their_count;
  }
  return GAB_OK;
}

static gab_status talk(const gab_forest *forest, notices *all)
{
  for (size_t t = 0; t < all->talk_count; ++t) {
    conversation *with = &all->talks[t];
    GAB_TRY(gab_message_begin(&with->out));
    for (size_t i = with->first; i < with->first + with->count; ++i) {
      GAB_TRY(gab_put_u64(&with->out, all->mine[i].id));
      GAB_TRY(gab_put_i32(&with->out, all->mine[i].owner));
    }
    GAB_TRY(gab_port_receive(forest->port, with->slot, &with->in, with->their_count * NOTICE_BYTES));
  }
  for (size_t t = 0; t < all->talk_count; ++t)
    GAB_TRY(gab_port_send(forest->port, all->talks[t].slot, &all->talks[t].out));
  return gab_port_finish(forest->port);
}

static gab_status listen(notices *all)
{
  for (size_t t = 0; t < all->talk_count; ++t) {
    conversation *with = &all->talks[t];
    gab_reader in = gab_message_reader(&with->in);
    for (size_t i = with->their_first; i < with->their_first + with->their_count; ++i) {
      gab_block_id id;
      GAB_TRY(gab_get_u64(&in, &id));
      GAB_TRY(gab_get_i32(&in, &all->theirs[i].owner));
      if (id != all->theirs[i].id)
        GAB_FAIL(GAB_ERR_STATE,
                 "slot %" GAB_PRI_SLOT " knows block " GAB_PRI_BLOCK
                 " as a neighbour, here it is " GAB_PRI_BLOCK,
                 with->slot, id, all->theirs[i].id);
    }
    GAB_TRY(gab_reader_expect_end(&in));
  }
  return GAB_OK;
}

static gab_slot target_of(const gab_forest *forest, const gab_slot *targets, gab_block_id id)
{
  size_t low = 0, high = forest->block_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (forest->blocks[middle]->id < id) low = middle + 1;
    else high = middle;
  }
  return low < forest->block_count && forest->blocks[low]->id == id ? targets[low] : GAB_NO_SLOT;
}

static gab_status update_tables(gab_forest *forest, const gab_slot *targets, notices *all)
{
  gab_slot me = gab_world_slot(forest->world);
  if (all->theirs_count > 1) qsort(all->theirs, all->theirs_count, sizeof(border), by_block);
  for (size_t i = 0; i < forest->block_count; ++i)
    for (size_t r = 0; r < forest->blocks[i]->neighbour_count; ++r) {
      gab_neighbour *row = &forest->blocks[i]->neighbours[r];
      if (row->owner == me) {
        row->owner = target_of(forest, targets, row->id);
        if (row->owner == GAB_NO_SLOT)
          GAB_FAIL(GAB_ERR_STATE, "neighbour " GAB_PRI_BLOCK " should be here, but is not", row->id);
      } else {
        border key = {.id = row->id};
        const border *found = bsearch(&key, all->theirs, all->theirs_count, sizeof key, by_block);
        row->owner = found->owner; /* every foreign neighbour is in the list */
      }
    }
  return GAB_OK;
}

/* After a failure while messages are under way: breaks the world, so that the others do not wait for this
 * process and the port lets go of the buffers. */
static gab_status abandon(gab_forest *forest, gab_status status)
{
  if (status != GAB_ERR_FAULT) status = gab_world_raise(forest->world, status);
  (void)gab_port_finish(forest->port);
  return status;
}

static gab_status announce_owners(gab_forest *forest, const gab_slot *targets)
{
  notices all = {0};
  gab_status status = collect_borders(forest, targets, &all);
  if (status == GAB_OK) status = plan_conversations(&all);
  if (status == GAB_OK) status = talk(forest, &all);
  if (status == GAB_OK) status = listen(&all);
  if (status == GAB_OK) status = update_tables(forest, targets, &all);
  if (status != GAB_OK) status = abandon(forest, status);
  for (size_t t = 0; t < all.talk_count; ++t) {
    gab_buffer_release(&all.talks[t].out);
    gab_buffer_release(&all.talks[t].in);
  }
  gab_free(&all.mine);
  gab_free(&all.theirs);
  gab_free(&all.talks);
  return status;
}

/* ================================================================== the blocks travel */

/* Some blocks of one pair of slots, sent at once. */
typedef struct piece {
  size_t first, count; /* in transport.leaving */
} piece;

/* One slot that gets blocks from here, or gives some. */
typedef struct route {
  gab_slot slot;
  size_t first_piece; /* in transport.pieces; outgoing only */
  uint64_t piece_count;
  gab_buffer message;
} route;

/* The announcement of a source to a target. */
typedef struct announcement {
  uint64_t blocks, pieces;
} announcement;

/* A block that leaves, and where to. */
typedef struct leaver {
  gab_slot target;
  size_t index; /* in forest->blocks */
} leaver;

typedef struct transport {
  leaver *leaving; /* by target, then index */
  size_t leaving_count;
  gab_block **packing; /* room for the blocks of one piece */
  piece *pieces;
  size_t piece_count;
  route *out, *in;
  size_t out_count, in_count;
  gab_block **arrived;
  size_t arrived_count, arriving;
} transport;

static int by_target(const void *a, const void *b)
{
  const leaver *left = a, *right = b;
  if (left->target != right->target) return left->target < right->target ? -1 : 1;
  return (left->index > right->index) - (left->index < right->index);
}

static gab_status find_leavers(const gab_forest *forest, const gab_slot *targets, transport *all)
{
  gab_slot me = gab_world_slot(forest->world);
  size_t most = forest->block_count;
  void *memory;
  GAB_TRY(gab_alloc(most * sizeof(leaver), GAB_MEMORY_OTHER, &memory));
  all->leaving = memory;
  GAB_TRY(gab_alloc(most * sizeof(gab_block *), GAB_MEMORY_OTHER, &memory));
  all->packing = memory;
  GAB_TRY(gab_alloc(most * sizeof(piece), GAB_MEMORY_OTHER, &memory));
  all->pieces = memory;
  for (size_t i = 0; i < most; ++i)
    if (targets[i] != me) all->leaving[all->leaving_count++] = (leaver){targets[i], i};
  if (all->leaving_count > 1) qsort(all->leaving, all->leaving_count, sizeof(leaver), by_target);
  size_t routes = 0;
  for (size_t i = 0; i < all->leaving_count; ++i)
    routes += i == 0 || all->leaving[i].target != all->leaving[i - 1].target;
  GAB_TRY(gab_alloc(routes * sizeof(route), GAB_MEMORY_OTHER, &memory));
  all->out = memory;
  all->out_count = routes;
  for (size_t i = 0; i < all->out_count; ++i) gab_buffer_init(&all->out[i].message, GAB_MEMORY_MESSAGE);
  return GAB_OK;
}

/* Cuts what leaves into pieces that keep to the bound. */
static void cut_pieces(const gab_forest *forest, transport *all)
{
  if (all->out_count == 0) return;
  size_t bound = GAB_MIGRATION_BYTES / all->out_count, filled = 0;
  route *to = all->out - 1;
  for (size_t i = 0; i < all->leaving_count; ++i) {
    bool new_route = i == 0 || all->leaving[i].target != all->leaving[i - 1].target;
    size_t bytes = gab_record_size(forest, forest->blocks[all->leaving[i].index]);
    if (new_route) {
      ++to;
      to->slot = all->leaving[i].target;
      to->first_piece = all->piece_count;
    }
    if (new_route || bytes > bound - filled) {
      all->pieces[all->piece_count++] = (piece){i, 0};
      ++to->piece_count;
      filled = 0;
    }
    ++all->pieces[all->piece_count - 1].count;
    filled = bytes < bound - filled ? filled + bytes : bound;
  }
}

static size_t blocks_of(const transport *all, const route *to)
{
  size_t blocks = 0;
  for (size_t p = to->first_piece; p < to->first_piece + to->piece_count; ++p) blocks += all->pieces[p].count;
  return blocks;
}

static gab_status read_announcements(const gab_buffer *received, size_t count, transport *all)
{
  void *memory;
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(gab_alloc(count * sizeof(route), GAB_MEMORY_OTHER, &memory));
  all->in = memory;
  for (; all->in_count < count; ++all->in_count) {
    route *from = &all->in[all->in_count];
    announcement item;
    GAB_TRY(gab_get_i32(&in, &from->slot));
    GAB_TRY(gab_get_bytes(&in, &item, sizeof item));
    gab_buffer_init(&from->message, GAB_MEMORY_MESSAGE);
    from->piece_count = item.pieces;
    all->arriving += (size_t)item.blocks;
  }
  GAB_TRY(gab_alloc(all->arriving * sizeof(gab_block *), GAB_MEMORY_OTHER, &memory));
  all->arrived = memory;
  return GAB_OK;
}

static gab_status announce_blocks(const gab_forest *forest, transport *all)
{
  void *memory;
  GAB_TRY(gab_alloc(all->out_count * (sizeof(announcement) + sizeof(gab_slot)), GAB_MEMORY_OTHER, &memory));
  announcement *items = memory;
  gab_slot *targets = (gab_slot *)(items + all->out_count);
  for (size_t i = 0; i < all->out_count; ++i) {
    items[i] = (announcement){blocks_of(all, &all->out[i]), all->out[i].piece_count};
    targets[i] = all->out[i].slot;
  }
  gab_buffer received;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  size_t count = 0;
  gab_status status =
      gab_world_route(forest->world, items, targets, all->out_count, sizeof(announcement), &received, &count);
  if (status == GAB_OK) status = read_announcements(&received, count, all);
  gab_buffer_release(&received);
  gab_free(&memory);
  return status;
}

static gab_status send_piece(const gab_forest *forest, transport *all, route *to, uint64_t round)
{
  const piece *now = &all->pieces[to->first_piece + round];
  for (size_t i = 0; i < now->count; ++i)
    all->packing[i] = forest->blocks[all->leaving[now->first + i].index];
  GAB_TRY(gab_message_begin(&to->message));
  GAB_TRY(gab_put_u64(&to->message, now->count));
  GAB_TRY(gab_records_pack(forest, all->packing, now->count, &to->message));
  return gab_port_send(forest->port, to->slot, &to->message);
}

static void drop_piece(gab_forest *forest, const transport *all, const piece *gone)
{
  for (size_t i = 0; i < gone->count; ++i)
    gab_block_unmake(forest, &forest->blocks[all->leaving[gone->first + i].index]);
}

static gab_status take_piece(const gab_forest *forest, transport *all, const route *from)
{
  gab_reader in = gab_message_reader(&from->message);
  size_t count;
  void *memory;
  GAB_TRY(gab_get_count(&in, gab_record_least_size(forest), &count));
  if (count > all->arriving - all->arrived_count)
    GAB_FAIL(GAB_ERR_CORRUPT, "slot %" GAB_PRI_SLOT " sends more blocks than it announced", from->slot);
  GAB_TRY(gab_alloc(count * sizeof(gab_record), GAB_MEMORY_OTHER, &memory));
  gab_record *records = memory;
  gab_status status = GAB_OK;
  for (size_t i = 0; i < count && status == GAB_OK; ++i) status = gab_record_find(forest, &in, &records[i]);
  if (status == GAB_OK) status = gab_reader_expect_end(&in);
  if (status == GAB_OK) status = gab_records_realise(forest, records, count, NULL, NULL);
  for (size_t i = 0; i < count; ++i) all->arrived[all->arrived_count++] = records[i].block;
  gab_free(&records);
  return status;
}

static gab_status run_round(gab_forest *forest, transport *all, uint64_t round)
{
  for (size_t i = 0; i < all->in_count; ++i)
    if (round < all->in[i].piece_count)
      GAB_TRY(gab_port_receive(forest->port, all->in[i].slot, &all->in[i].message, GAB_SIZE_UNKNOWN));
  for (size_t i = 0; i < all->out_count; ++i)
    if (round < all->out[i].piece_count) GAB_TRY(send_piece(forest, all, &all->out[i], round));
  GAB_TRY(gab_port_finish(forest->port));
  for (size_t i = 0; i < all->out_count; ++i)
    if (round < all->out[i].piece_count) {
      drop_piece(forest, all, &all->pieces[all->out[i].first_piece + round]);
      gab_buffer_release(&all->out[i].message);
    }
  for (size_t i = 0; i < all->in_count; ++i)
    if (round < all->in[i].piece_count) {
      GAB_TRY(take_piece(forest, all, &all->in[i]));
      gab_buffer_release(&all->in[i].message);
    }
  return GAB_OK;
}

static uint64_t count_rounds(const transport *all)
{
  uint64_t rounds = 0;
  for (size_t i = 0; i < all->in_count; ++i)
    if (all->in[i].piece_count > rounds) rounds = all->in[i].piece_count;
  for (size_t i = 0; i < all->out_count; ++i)
    if (all->out[i].piece_count > rounds) rounds = all->out[i].piece_count;
  return rounds;
}

/* Puts together what stayed and what came; after a failure whatever is left, so that nothing leaks. */
static gab_status settle(gab_forest *forest, transport *all)
{
  size_t stayed = forest->block_count;
  void *memory = forest->blocks;
  gab_status status =
      gab_realloc((stayed + all->arrived_count) * sizeof(gab_block *), GAB_MEMORY_OTHER, &memory);
  gab_block **together = memory;
  forest->blocks = NULL;
  if (status != GAB_OK) {
    for (size_t i = 0; i < all->arrived_count; ++i) gab_block_unmake(forest, &all->arrived[i]);
    all->arrived_count = 0;
  }
  for (size_t i = 0; i < all->arrived_count; ++i) together[stayed + i] = all->arrived[i];
  gab_forest_adopt(forest, together, stayed + all->arrived_count);
  return status;
}

static void release_transport(transport *all)
{
  for (size_t i = 0; i < all->out_count; ++i) gab_buffer_release(&all->out[i].message);
  for (size_t i = 0; i < all->in_count; ++i) gab_buffer_release(&all->in[i].message);
  gab_free(&all->leaving);
  gab_free(&all->packing);
  gab_free(&all->pieces);
  gab_free(&all->out);
  gab_free(&all->in);
  gab_free(&all->arrived);
}

static gab_status move_blocks(gab_forest *forest, const gab_slot *targets)
{
  transport all = {0};
  gab_status status = find_leavers(forest, targets, &all);
  if (status == GAB_OK) {
    cut_pieces(forest, &all);
    status = announce_blocks(forest, &all);
  }
  uint64_t rounds = count_rounds(&all);
  for (uint64_t round = 0; round < rounds && status == GAB_OK; ++round)
    status = run_round(forest, &all, round);
  if (status != GAB_OK) status = abandon(forest, status);
  gab_status settled = settle(forest, &all);
  release_transport(&all);
  return status != GAB_OK ? status : settled;
}

gab_status gab_forest_migrate(gab_forest *forest, const gab_slot *targets)
{
  const gab_members *members = gab_world_members(forest->world);
  if (forest->torn) GAB_FAIL(GAB_ERR_STATE, "a migration of this forest failed; it has to be restored first");
  GAB_TRY(gab_world_check(forest->world));
  for (size_t i = 0; i < forest->block_count; ++i)
    if (!gab_members_has(members, targets[i]))
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "block " GAB_PRI_BLOCK " is to go to slot %" GAB_PRI_SLOT ", which is not there",
               forest->blocks[i]->id, targets[i]);
  gab_world_enter(forest->world, GAB_PHASE_MIGRATION);
  forest->torn = true;
  ++forest->revision;
  GAB_TRY(announce_owners(forest, targets));
  GAB_TRY(move_blocks(forest, targets));
  forest->torn = false;
  return GAB_OK;
}
