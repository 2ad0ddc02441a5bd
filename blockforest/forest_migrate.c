/* Blocks change owner: first every process tells its neighbours where its blocks go, then the blocks travel,
 * packed with their tables. */
#include "blockforest/forest_transport_impl.h"

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

gab_status gab_forest_abandon(gab_forest *forest, gab_status status)
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
  if (status != GAB_OK) status = gab_forest_abandon(forest, status);
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

typedef struct migration {
  gab_forest *forest;
  gab_block **arrived;
  size_t arrived_count, capacity;
} migration;

static void drop_sent(void *context, size_t index)
{
  gab_forest *forest = ((migration *)context)->forest;
  gab_block_unmake(forest, &forest->blocks[index]);
}

static gab_status take_records(void *context, gab_record *records, size_t count)
{
  migration *all = context;
  if (all->arrived_count + count > all->capacity) {
    size_t capacity = 2 * all->capacity + count;
    void *memory = all->arrived;
    GAB_TRY(gab_realloc(capacity * sizeof(gab_block *), GAB_MEMORY_OTHER, &memory));
    all->arrived = memory;
    all->capacity = capacity;
  }
  gab_status status = gab_records_realise(all->forest, records, count, NULL, NULL);
  for (size_t i = 0; i < count; ++i) all->arrived[all->arrived_count++] = records[i].block;
  return status;
}

/* Puts together what stayed and what came; after a failure whatever is left, so that nothing leaks. */
static gab_status settle(migration *all)
{
  gab_forest *forest = all->forest;
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

static gab_status move_blocks(gab_forest *forest, const gab_slot *targets)
{
  migration all = {.forest = forest};
  gab_transport transport = {.forest = forest, .context = &all, .sent = drop_sent, .take = take_records};
  void *memory;
  size_t count = 0;
  gab_status status = gab_alloc(forest->block_count * sizeof(gab_leaver), GAB_MEMORY_OTHER, &memory);
  if (status != GAB_OK) return gab_forest_abandon(forest, status);
  gab_leaver *leaving = memory;
  for (size_t i = 0; i < forest->block_count; ++i)
    if (targets[i] != gab_world_slot(forest->world)) leaving[count++] = (gab_leaver){targets[i], i};
  status = gab_transport_run(&transport, leaving, count);
  gab_status settled = settle(&all);
  gab_free(&all.arrived);
  gab_free(&leaving);
  return status != GAB_OK ? status : settled;
}

gab_status gab_forest_migrate(gab_forest *forest, const gab_slot *targets)
{
  const gab_members *members = gab_world_members(forest->world);
  if (forest->torn)
    GAB_FAIL(GAB_ERR_STATE, "a migration or adaptation of this forest failed; it has to be restored first");
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
