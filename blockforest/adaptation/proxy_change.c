/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting and merging of proxies.
 *
 * Each block sends its fate to its neighbours: the blocks that replace it and their holders. A merged block is on
 * the rank of its first child (for holes, proxy_missing_children.c, of its first existing one), so holders of the
 * other children send these there, with the fates of all their neighbours. Then each process knows all blocks of the
 * new grid that can touch a local one. */
#include "blockforest/adaptation/proxy_impl.h"

#include <stdlib.h>
#include <string.h>

/* A child from another rank that is merged here. */
typedef struct gift {
  gab_block_id id;
  gab_rank source; /* rank of its data */
  gab_origin origin;
  bool is_hole; /* a missing child */
} gift;

typedef struct change {
  gab_proxies *all;
  gab_border *border;
  const int8_t *now;    /* levels of local proxies */
  const int8_t *levels; /* by number; new levels */
  gab_fate *fates;      /* by number */
  gift *gifts;          /* ascending by id */
  size_t gift_count;
  gab_known around; /* remote blocks of the new grid */
  size_t around_capacity;
  gab_proxy *made; /* ascending by id */
  size_t made_count;
  gab_neighbour *rows;
  size_t row_count;
} change;

enum { FATE_BYTES = 8 + 4 + 1 + 1, GIFT_HEAD_BYTES = 8 + 4 + 1 + 8 };

static int child_number(const change *what, gab_block_id id)
{
  return (int)(id & (gab_block_id)(gab_topology_child_count(&what->all->topology) - 1));
}

static gab_block_id parent_of(const change *what, gab_block_id id)
{
  return id >> what->all->options.grid.dimension;
}

static gab_block_id child_of(const change *what, gab_block_id id, int child)
{
  return id << what->all->options.grid.dimension | (gab_block_id)child;
}

/* ------------------------------------------------------------------------------------------ fates */

/* The row of sibling `child` in the table of proxy `index`; a merging proxy has all siblings in its table. */
static gab_status sibling_row(const change *what, size_t index, int child, size_t *row)
{
  const gab_proxy *proxy = &what->all->proxies[index];
  const gab_block_id id = child_of(what, parent_of(what, proxy->id), child);
  for (*row = 0; *row < proxy->neighbour_count; ++*row)
    if (proxy->neighbours[*row].id == id) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " does not know its sibling " GAB_PRI_BLOCK, proxy->id, id);
}

static gab_status decide_fate(change *what, size_t index)
{
  const gab_proxies *all = what->all;
  const gab_proxy *proxy = &all->proxies[index];
  gab_fate *fate = &what->fates[index];
  fate->holder = gab_world_rank(all->world);
  fate->change = (int8_t)(what->levels[index] - what->now[index]);
  if (fate->change > 0) {
    for (int c = 0; c < gab_topology_child_count(&all->topology); c++)
      if (gab_proxy_exists(all, child_of(what, proxy->id, c))) fate->children |= (uint8_t)(1U << c);
  } else if (fate->change < 0 && child_number(what, proxy->id) != 0) {
    size_t row;
    GAB_TRY(sibling_row(what, index, 0, &row));
    fate->holder = proxy->neighbours[row].owner;
  } else if (gab_proxy_is_hole(proxy) && fate->change == 0) {
    fate->change = 1; /* it disappears: it has no children */
  }
  return GAB_OK;
}

static gab_status tell_fates(change *what)
{
  const size_t numbers = what->all->count + what->border->theirs_count;
  GAB_TRY(GAB_NEW_ARRAY(&what->fates, numbers, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < what->all->count; i++) GAB_TRY(decide_fate(what, i));
  return gab_border_exchange(what->all, what->border, what->fates, sizeof *what->fates);
}

/* ------------------------------------------------------------------------------------------ what is around
 */

static gab_status add_around(change *what, gab_block_id id, gab_rank holder)
{
  if (holder == gab_world_rank(what->all->world)) return GAB_OK; /* it is in the list of created proxies */
  gab_known *around = &what->around;
  if (around->count == what->around_capacity) {
    size_t capacity = 2 * what->around_capacity + 256;
    GAB_TRY(GAB_RESIZE_ARRAY(&around->blocks, capacity, GAB_MEMORY_OTHER));
    what->around_capacity = capacity;
  }
  around->blocks[around->count++] = (gab_known_block){id, holder};
  return GAB_OK;
}

/* Adds the successors of a block. */
static gab_status add_fate(change *what, gab_block_id id, const gab_fate *fate)
{
  if (fate->change == 0) return add_around(what, id, fate->holder);
  if (fate->change < 0) return add_around(what, parent_of(what, id), fate->holder);
  for (int c = 0; c < GAB_CHILDREN_MAX; c++)
    if (fate->children >> c & 1) GAB_TRY(add_around(what, child_of(what, id, c), fate->holder));
  return GAB_OK;
}

static gab_status add_fates(change *what)
{
  for (size_t i = 0; i < what->all->count; i++)
    if (what->fates[i].holder != gab_world_rank(what->all->world))
      GAB_TRY(add_fate(what, what->all->proxies[i].id, &what->fates[i]));
  for (size_t i = 0; i < what->border->theirs_count; i++)
    GAB_TRY(add_fate(what, what->border->theirs[i].id, &what->fates[what->all->count + i]));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ handing over */

static gab_status put_gift(const change *what, size_t index, gab_buffer *out)
{
  const gab_proxy *proxy = &what->all->proxies[index];
  GAB_TRY(gab_put_u64(out, proxy->id));
  GAB_TRY(gab_put_i32(out, proxy->sources[0]));
  GAB_TRY(gab_put_u8(out, (uint8_t)proxy->origin));
  GAB_TRY(gab_put_u64(out, proxy->neighbour_count));
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    const gab_fate *fate = &what->fates[gab_border_link(what->all, what->border, index, r)];
    GAB_TRY(gab_put_u64(out, proxy->neighbours[r].id));
    GAB_TRY(gab_put_i32(out, fate->holder));
    GAB_TRY(gab_put_u8(out, (uint8_t)(fate->change + 1)));
    GAB_TRY(gab_put_u8(out, fate->children));
  }
  return GAB_OK;
}

static gab_status get_gift(change *what, gab_reader *in, gift *got)
{
  uint8_t origin;
  size_t rows;
  GAB_TRY(gab_get_u64(in, &got->id));
  GAB_TRY(gab_get_i32(in, &got->source));
  GAB_TRY(gab_get_u8(in, &origin));
  got->origin = (gab_origin)origin;
  GAB_TRY(gab_get_count(in, FATE_BYTES, &rows));
  for (size_t r = 0; r < rows; r++) {
    gab_fate fate = {0};
    gab_block_id id;
    uint8_t rise;
    GAB_TRY(gab_get_u64(in, &id));
    GAB_TRY(gab_get_i32(in, &fate.holder));
    GAB_TRY(gab_get_u8(in, &rise));
    GAB_TRY(gab_get_u8(in, &fate.children));
    if (rise > 2) GAB_FAIL(GAB_ERR_CORRUPT, "block " GAB_PRI_BLOCK " changes its level by %d", id, rise - 1);
    fate.change = (int8_t)(rise - 1);
    GAB_TRY(add_fate(what, id, &fate));
  }
  return GAB_OK;
}

static bool is_merged_here(const change *what, size_t index)
{
  return what->fates[index].change < 0 && child_number(what, what->all->proxies[index].id) == 0;
}

/* Packs children that are merged elsewhere, and counts those that are merged here. */
static gab_status prepare_gifts(change *what, size_t *expected)
{
  const gab_rank me = gab_world_rank(what->all->world);
  *expected = 0;
  for (size_t i = 0; i < what->all->count; i++) {
    const gab_proxy *proxy = &what->all->proxies[i];
    if (what->fates[i].change >= 0) continue;
    if (what->fates[i].holder != me) {
      gab_talk *talk = gab_border_talk(what->border, what->fates[i].holder);
      if (!talk->sends) GAB_TRY(gab_message_begin(&talk->out));
      talk->sends = true;
      GAB_TRY(put_gift(what, i, &talk->out));
    } else if (is_merged_here(what, i)) {
      for (int c = 1; c < gab_topology_child_count(&what->all->topology); c++) {
        size_t row;
        GAB_TRY(sibling_row(what, i, c, &row));
        if (proxy->neighbours[row].owner == me) continue;
        gab_border_talk(what->border, proxy->neighbours[row].owner)->receives = true;
        ++*expected;
      }
    }
  }
  return GAB_OK;
}

static int by_gift_id(const void *a, const void *b)
{
  const gift *left = a, *right = b;
  return (left->id > right->id) - (left->id < right->id);
}

static gab_status hand_over(change *what)
{
  size_t expected;
  GAB_TRY(prepare_gifts(what, &expected));
  GAB_TRY(GAB_NEW_ARRAY(&what->gifts, expected, GAB_MEMORY_OTHER));
  GAB_TRY(gab_border_talk_all(what->all, what->border));
  for (size_t t = 0; t < what->border->talk_count; t++) {
    const gab_talk *talk = &what->border->talks[t];
    if (!talk->receives) continue;
    gab_reader in = gab_message_reader(&talk->in);
    while (gab_reader_left(&in) > 0) {
      if (what->gift_count == expected)
        GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " hands over more proxies than belong here",
                 talk->rank);
      GAB_TRY(get_gift(what, &in, &what->gifts[what->gift_count++]));
    }
  }
  if (what->gift_count > 1) qsort(what->gifts, what->gift_count, sizeof(gift), by_gift_id);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ new proxies */

static gab_proxy new_proxy(const change *what, gab_block_id id)
{
  gab_proxy made = {.id = id, .weight = gab_proxy_weight(what->all, id), .origin = GAB_ORIGIN_NONE};
  for (int c = 0; c < GAB_CHILDREN_MAX; c++) made.sources[c] = GAB_NO_RANK;
  return made;
}

static gab_proxy split_off(const change *what, const gab_proxy *parent, int child)
{
  gab_proxy made = new_proxy(what, child_of(what, parent->id, child));
  if (parent->origin == GAB_ORIGIN_SELF) {
    made.origin = GAB_ORIGIN_PARENT;
    made.sources[0] = parent->sources[0];
  } else if (parent->origin == GAB_ORIGIN_CHILDREN) { /* merged and split again: the data was never merged */
    made.origin = GAB_ORIGIN_SELF;
    made.sources[0] = parent->sources[child];
  }
  return made;
}

static gab_status find_child(const change *what, size_t first, int child, gift *found)
{
  const gab_proxies *all = what->all;
  size_t index = first;
  if (child > 0) {
    size_t row;
    GAB_TRY(sibling_row(what, first, child, &row));
    index = gab_border_link(all, what->border, first, row);
    found->id = all->proxies[first].neighbours[row].id;
  }
  if (index < all->count) {
    const gab_proxy *proxy = &all->proxies[index];
    *found = (gift){proxy->id, proxy->sources[0], proxy->origin, gab_proxy_is_hole(proxy)};
    return GAB_OK;
  }
  const gift *got = NULL;
  if (what->gift_count > 0) got = bsearch(found, what->gifts, what->gift_count, sizeof(gift), by_gift_id);
  if (!got) GAB_FAIL(GAB_ERR_CORRUPT, "block " GAB_PRI_BLOCK " was not handed over to be merged", found->id);
  *found = *got;
  return GAB_OK;
}

/* Children of one block have the same origin: parent if they were split, self otherwise. Missing ones have no
 * source. */
static gab_status merge_up(const change *what, size_t first, gab_proxy *made)
{
  gift one = {.is_hole = true}; /* of the children */
  *made = new_proxy(what, parent_of(what, what->all->proxies[first].id));
  for (int c = 0; c < gab_topology_child_count(&what->all->topology); c++) {
    gift child = {0};
    GAB_TRY(find_child(what, first, c, &child));
    if (child.is_hole) continue;
    if (one.is_hole) one = child;
    if (child.origin != one.origin)
      GAB_FAIL(GAB_ERR_STATE, "the children of block " GAB_PRI_BLOCK " have data of different kinds",
               made->id);
    if (one.origin == GAB_ORIGIN_SELF) made->sources[c] = child.source;
  }
  if (one.origin == GAB_ORIGIN_SELF) made->origin = GAB_ORIGIN_CHILDREN;
  if (one.origin == GAB_ORIGIN_PARENT) { /* split and merged again: the data was never split */
    made->origin = GAB_ORIGIN_SELF;
    made->sources[0] = one.source;
  }
  return GAB_OK;
}

/* New ids of one kind of change ascend with the old ones. Each of the three kinds has a cursor; the lowest id is
 * next. */
typedef struct cursor {
  size_t index; /* in the old proxies */
  int child;    /* of a split block */
  gab_block_id next;
} cursor;

static void advance(const change *what, int8_t kind, cursor *at)
{
  const gab_proxies *all = what->all;
  at->next = GAB_NO_BLOCK;
  for (; at->index < all->count; at->index++, at->child = 0) {
    const gab_block_id id = all->proxies[at->index].id;
    if (what->fates[at->index].change != kind) continue;
    if (kind == 0) at->next = id;
    else if (kind < 0 && is_merged_here(what, at->index)) at->next = parent_of(what, id);
    while (kind > 0 && at->child < GAB_CHILDREN_MAX && !(what->fates[at->index].children >> at->child & 1))
      at->child++;
    if (kind > 0 && at->child < GAB_CHILDREN_MAX) at->next = child_of(what, id, at->child);
    if (at->next != GAB_NO_BLOCK) return;
  }
}

static size_t count_made(const change *what)
{
  size_t count = 0;
  for (size_t i = 0; i < what->all->count; i++) {
    const gab_fate *fate = &what->fates[i];
    if (fate->change == 0) count++;
    else if (fate->change < 0) count += is_merged_here(what, i);
    else
      for (int c = 0; c < GAB_CHILDREN_MAX; c++) count += fate->children >> c & 1;
  }
  return count;
}

static gab_status make_proxies(change *what)
{
  const size_t count = count_made(what);
  GAB_TRY(GAB_NEW_ARRAY(&what->made, count, GAB_MEMORY_OTHER));
  cursor at[3] = {{0}, {0}, {0}};
  for (int kind = 0; kind < 3; kind++) advance(what, (int8_t)(kind - 1), &at[kind]);
  for (; what->made_count < count; what->made_count++) {
    int lowest = -1;
    for (int kind = 0; kind < 3; kind++)
      if (at[kind].next != GAB_NO_BLOCK && (lowest < 0 || at[kind].next < at[lowest].next)) lowest = kind;
    const gab_proxy *old = &what->all->proxies[at[lowest].index];
    gab_proxy *made = &what->made[what->made_count];
    if (lowest == 0) GAB_TRY(merge_up(what, at[lowest].index, made));
    else *made = lowest == 1 ? *old : split_off(what, old, at[lowest].child);
    if (lowest == 2) at[lowest].child++;
    else at[lowest].index++;
    advance(what, (int8_t)(lowest - 1), &at[lowest]);
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ new tables */

static gab_status make_tables(change *what)
{
  const gab_rank me = gab_world_rank(what->all->world);
  gab_known *around = &what->around, known = {0};
  gab_known_sort(around);
  GAB_TRY(GAB_NEW_ARRAY(&known.blocks, around->count + what->made_count, GAB_MEMORY_OTHER));
  for (size_t i = 0, j = 0; i < around->count || j < what->made_count;) {
    bool foreign = j == what->made_count || (i < around->count && around->blocks[i].id < what->made[j].id);
    known.blocks[known.count++] = foreign ? around->blocks[i++] : (gab_known_block){what->made[j++].id, me};
  }
  gab_status status = gab_proxy_tables_make(&what->all->topology, &known, what->made, what->made_count,
                                            &what->rows, &what->row_count);
  gab_free(&known.blocks);
  return status;
}

static gab_status make_change(change *what)
{
  GAB_TRY(tell_fates(what));
  GAB_TRY(hand_over(what));
  GAB_TRY(add_fates(what));
  GAB_TRY(make_proxies(what));
  return make_tables(what);
}

gab_status gab_proxies_change(gab_proxies *all, gab_border *border, const int8_t *now, const int8_t *levels)
{
  change what = {.all = all, .border = border, .now = now, .levels = levels};
  gab_status status = make_change(&what);
  if (status == GAB_OK) {
    gab_free(&all->proxies);
    gab_free(&all->rows);
    all->proxies = what.made;
    all->count = what.made_count;
    all->rows = what.rows;
    all->row_count = what.row_count;
    what.made = NULL;
  }
  gab_free(&what.made);
  gab_free(&what.fates);
  gab_free(&what.gifts);
  gab_free(&what.around.blocks);
  return status;
}
