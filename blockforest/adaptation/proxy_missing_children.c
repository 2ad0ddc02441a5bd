/* SPDX-License-Identifier: Apache-2.0 */
/* Families with missing children can merge too. Their parent then touches blocks at the far side of the missing
 * children, which the existing siblings do not know. So while levels are decided and changed, a *hole*, a proxy without
 * weight, takes the place of each missing child. Holes and their neighbours find each other through rendezvous ranks: a
 * proxy without a neighbour in some direction registers at the rendezvous rank of its place and at those of all places
 * that could cover the gap. Proxies and holes that meet there and touch are notified of each other.
 *
 * For 2:1 a hole counts as its parent, which is split and may be restored: an adjacent block does not become coarser
 * than one level below that parent, also by merging. So every split can be reversed. Holes never refine a block.
 * Holes in places whose other children are all split do not merge now; they are *passive*: each rank with a block
 * below such a place registers them, and no rank holds them. */
#include "blockforest/adaptation/proxy_impl.h"
#include "core/messages/collective.h"
#include "core/base/hash.h"
#include "blockforest/forest/topology_impl.h"

#include <stdlib.h>
#include <string.h>

typedef enum guest_kind { GUEST_PROXY, GUEST_HOLE, GUEST_PASSIVE } guest_kind;

/* A registration at a place: its own, or one that the proxy would touch. */
typedef struct meeting {
  gab_block_id place, id;
  uint64_t kind;
} meeting;

/* Two adjacent blocks, one of which is a hole; sent to the holder of the first. */
typedef struct contact {
  gab_block_id own, other;
  gab_rank other_rank;
  int32_t other_kind;
} contact;

/* Items and their target ranks. */
typedef struct post {
  void *items;
  gab_rank *targets;
  size_t count, capacity, item_bytes;
} post;

static gab_status post_add(post *to, const void *item, gab_rank target)
{
  if (to->count == to->capacity) {
    void *memory = to->items;
    const size_t capacity = 2 * to->capacity + 64;
    GAB_TRY(gab_realloc(capacity * to->item_bytes, GAB_MEMORY_OTHER, &memory));
    to->items = memory;
    GAB_TRY(GAB_RESIZE_ARRAY(&to->targets, capacity, GAB_MEMORY_OTHER));
    to->capacity = capacity;
  }
  memcpy((unsigned char *)to->items + to->count * to->item_bytes, item, to->item_bytes);
  to->targets[to->count++] = target;
  return GAB_OK;
}

/* Sends all items. @param[out] received as of gab_world_route() */
static gab_status post_send(const gab_proxies *all, post *what, gab_buffer *received, size_t *count)
{
  gab_status status =
      gab_world_route(all->world, what->items, what->targets, what->count, what->item_bytes, received, count);
  gab_free(&what->items);
  gab_free(&what->targets);
  what->count = what->capacity = 0;
  return status;
}

/* ------------------------------------------------------------------------------------------ which holes */

enum { MOST_LEVELS = 64, MOST_PLACES = GAB_DIRECTIONS * MOST_LEVELS };

typedef struct hole_list {
  gab_block_id *ids;
  size_t count, capacity;
} hole_list;

static gab_status add_hole(hole_list *holes, gab_block_id id)
{
  if (holes->count == holes->capacity) {
    const size_t capacity = 2 * holes->capacity + 64;
    GAB_TRY(GAB_RESIZE_ARRAY(&holes->ids, capacity, GAB_MEMORY_OTHER));
    holes->capacity = capacity;
  }
  holes->ids[holes->count++] = id;
  return GAB_OK;
}

/* Adds the missing siblings of a proxy, if it is the first of its family. All siblings touch, so they know each
 * other, and the holder of the first one holds the holes and the merged block. */
static gab_status add_holes_of(const gab_proxies *all, size_t index, hole_list *holes)
{
  const gab_proxy *proxy = &all->proxies[index];
  const int dimension = all->options.grid.dimension;
  const gab_block_id last = ((gab_block_id)1 << dimension) - 1, first = proxy->id & ~last;
  unsigned here = 1U << (proxy->id & last);
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    const gab_block_id id = proxy->neighbours[r].id;
    if ((id & ~last) == first) here |= 1U << (id & last);
  }
  if (here & ((1U << (proxy->id & last)) - 1)) return GAB_OK;
  for (gab_block_id c = 0; c <= last; c++)
    if (!(here >> c & 1) && !gab_proxy_exists(all, first | c)) GAB_TRY(add_hole(holes, first | c));
  return GAB_OK;
}

static int by_id(const void *a, const void *b)
{
  const gab_block_id *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

/* Sorts and removes duplicates. */
static void put_in_order(hole_list *list)
{
  size_t kept = 0;
  if (list->count > 1) qsort(list->ids, list->count, sizeof *list->ids, by_id);
  for (size_t i = 0; i < list->count; i++)
    if (kept == 0 || list->ids[kept - 1] != list->ids[i]) list->ids[kept++] = list->ids[i];
  list->count = kept;
}

static gab_status find_holes(const gab_proxies *all, hole_list *holes)
{
  for (size_t i = 0; i < all->count; i++)
    if (gab_proxies_level(all, all->proxies[i].id) > 0) GAB_TRY(add_holes_of(all, i, holes));
  put_in_order(holes);
  return GAB_OK;
}

/* Finds passive holes in the places of families and their ancestors. @param[out] places scratch */
static gab_status find_passive(const gab_proxies *all, hole_list *places, hole_list *holes)
{
  const int dimension = all->options.grid.dimension;
  gab_block_id last[MOST_LEVELS] = {0}; /* last place of each level, often equal to the next one */
  for (size_t i = 0; i < all->count; i++) {
    gab_block_id place = all->proxies[i].id >> dimension;
    for (int level = gab_proxies_level(all, all->proxies[i].id) - 2; level >= 0; level--) {
      place >>= dimension;
      if (last[level] == place) break;
      last[level] = place;
      GAB_TRY(add_hole(places, place));
    }
  }
  put_in_order(places);
  for (size_t i = 0; i < places->count; i++)
    for (int c = 0; c < gab_topology_child_count(&all->topology); c++) {
      const gab_block_id child = places->ids[i] << dimension | (gab_block_id)c;
      if (!gab_proxy_exists(all, child)) GAB_TRY(add_hole(holes, child));
    }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ who touches them
 */

static gab_rank meeting_rank(const gab_proxies *all, gab_block_id place)
{
  const gab_members *members = gab_world_members(all->world);
  const uint64_t drawn = gab_hash_counter(0, 0, place) % (uint64_t)gab_members_count(members);
  return gab_members_rank(members, (int32_t)drawn);
}

/* Number of rows in a direction without missing blocks. */
static size_t full_rows(const gab_proxies *all, gab_block_id next, int direction, gab_block_id row)
{
  int offset[3], along = 0;
  if (row <= next) return 1; /* the place itself, or a coarser one */
  gab_direction_offset(direction, offset);
  for (int axis = 0; axis < all->options.grid.dimension; axis++) along += offset[axis] == 0;
  return (size_t)1 << along;
}

/* Adds the place and its ancestors. Root places cannot be holes, so only holes register there. */
static size_t add_places(const gab_proxies *all, gab_block_id place, bool is_hole, gab_block_id *places,
                         size_t count)
{
  for (int level = gab_proxies_level(all, place); level >= (is_hole ? 0 : 1); level--) {
    places[count++] = place;
    place >>= all->options.grid.dimension;
  }
  return count;
}

/* @param[in] proxy with its rows; NULL for a hole */
static gab_status meet(const gab_proxies *all, gab_block_id id, const gab_proxy *proxy, guest_kind kind,
                       post *out)
{
  gab_block_id around[GAB_DIRECTIONS], places[MOST_PLACES + 1];
  size_t count = 0, r = 0;
  bool is_open = !proxy;
  (void)gab_topology_around(&all->topology, id, around);
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    size_t rows = 0;
    const gab_block_id first = proxy && r < proxy->neighbour_count ? proxy->neighbours[r].id : GAB_NO_BLOCK;
    for (; proxy && r < proxy->neighbour_count && proxy->neighbours[r].direction == direction; r++) rows++;
    if (around[direction] == GAB_NO_BLOCK) continue;
    if (rows == 0) count = add_places(all, around[direction], !proxy, places, count);
    is_open |= rows == 0 || rows < full_rows(all, around[direction], direction, first);
  }
  if (!is_open) return GAB_OK;
  places[count++] = id;
  qsort(places, count, sizeof *places, by_id);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || places[i] != places[i - 1])
      GAB_TRY(post_add(out, &(meeting){places[i], id, kind}, meeting_rank(all, places[i])));
  return GAB_OK;
}

typedef struct guest {
  meeting is;
  gab_rank rank;
} guest;

/* The block of the place precedes all others that meet there. */
static int by_place(const void *a, const void *b)
{
  const guest *left = a, *right = b;
  if (left->is.place != right->is.place) return left->is.place < right->is.place ? -1 : 1;
  const bool left_is_host = left->is.id == left->is.place, right_is_host = right->is.id == right->is.place;
  if (left_is_host != right_is_host) return left_is_host ? -1 : 1;
  if (left->is.kind != right->is.kind) return left->is.kind < right->is.kind ? -1 : 1; /* held blocks first */
  if (left->is.id != right->is.id) return left->is.id < right->is.id ? -1 : 1;
  return (left->rank > right->rank) - (left->rank < right->rank);
}

static gab_status introduce(guest *guests, size_t count, post *out)
{
  const guest *host = NULL;
  if (count > 1) qsort(guests, count, sizeof *guests, by_place);
  for (size_t i = 0; i < count; i++) {
    const guest *at = &guests[i];
    if (!host || host->is.place != at->is.place) {
      host = at->is.id == at->is.place ? at : NULL;
      continue;
    }
    if (at->is.id == at->is.place || (host->is.kind == GUEST_PROXY && at->is.kind == GUEST_PROXY)) continue;
    /* each rank with a block below a passive hole registers it */
    if (at[-1].is.id == at->is.id && at[-1].is.kind == at->is.kind && at->is.kind == GUEST_PASSIVE) continue;
    if (host->is.kind != GUEST_PASSIVE)
      GAB_TRY(post_add(out, &(contact){host->is.id, at->is.id, at->rank, (int32_t)at->is.kind}, host->rank));
    if (at->is.kind != GUEST_PASSIVE)
      GAB_TRY(
          post_add(out, &(contact){at->is.id, host->is.id, host->rank, (int32_t)host->is.kind}, at->rank));
  }
  return GAB_OK;
}

/* Reads the registrations at this rank. */
static gab_status read_guests(const gab_buffer *received, size_t count, guest **guests)
{
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(GAB_NEW_ARRAY(guests, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    GAB_TRY(gab_get_i32(&in, &(*guests)[i].rank));
    GAB_TRY(gab_get_bytes(&in, &(*guests)[i].is, sizeof(meeting)));
  }
  return GAB_OK;
}

static int by_contact(const void *a, const void *b)
{
  const contact *left = a, *right = b;
  if (left->own != right->own) return left->own < right->own ? -1 : 1;
  if (left->other != right->other) return left->other < right->other ? -1 : 1;
  return (left->other_kind > right->other_kind) - (left->other_kind < right->other_kind);
}

/* Blocks of equal size meet at both places, and many may register a passive hole; each contact is stored once. */
static gab_status read_contacts(const gab_buffer *received, size_t *count, contact **contacts)
{
  size_t kept = 0;
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(GAB_NEW_ARRAY(contacts, *count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < *count; i++) {
    gab_rank home;
    GAB_TRY(gab_get_i32(&in, &home));
    GAB_TRY(gab_get_bytes(&in, &(*contacts)[i], sizeof(contact)));
  }
  if (*count > 1) qsort(*contacts, *count, sizeof **contacts, by_contact);
  for (size_t i = 0; i < *count; i++)
    if (kept == 0 || (*contacts)[kept - 1].own != (*contacts)[i].own ||
        (*contacts)[kept - 1].other != (*contacts)[i].other)
      (*contacts)[kept++] = (*contacts)[i];
  *count = kept;
  return GAB_OK;
}

/* @param[out] contacts  ascending; gab_free() */
static gab_status find_contacts(const gab_proxies *all, const hole_list *holes, const hole_list *passive,
                                contact **contacts, size_t *count)
{
  post meetings = {.item_bytes = sizeof(meeting)}, answers = {.item_bytes = sizeof(contact)};
  gab_buffer received;
  guest *guests = NULL;
  gab_status status = GAB_OK;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  for (size_t i = 0; i < all->count && status == GAB_OK; i++)
    status = meet(all, all->proxies[i].id, &all->proxies[i], GUEST_PROXY, &meetings);
  for (size_t i = 0; i < holes->count && status == GAB_OK; i++)
    status = meet(all, holes->ids[i], NULL, GUEST_HOLE, &meetings);
  for (size_t i = 0; i < passive->count && status == GAB_OK; i++)
    status = meet(all, passive->ids[i], NULL, GUEST_PASSIVE, &meetings);
  if (status == GAB_OK) status = post_send(all, &meetings, &received, count);
  if (status == GAB_OK) status = read_guests(&received, *count, &guests);
  if (status == GAB_OK) status = introduce(guests, *count, &answers);
  if (status == GAB_OK) status = post_send(all, &answers, &received, count);
  if (status == GAB_OK) status = read_contacts(&received, count, contacts);
  gab_free(&meetings.items);
  gab_free(&meetings.targets);
  gab_free(&answers.items);
  gab_free(&answers.targets);
  gab_free(&guests);
  gab_buffer_release(&received);
  return status;
}

/* ------------------------------------------------------------------------------------------ all together */

static gab_proxy hole_of(gab_block_id id)
{
  gab_proxy hole = {.id = id, .origin = GAB_ORIGIN_NONE};
  for (int c = 0; c < GAB_CHILDREN_MAX; c++) hole.sources[c] = GAB_NO_RANK;
  return hole;
}

/* The lowest level that a proxy with a contact may reach by merging, for any change of the other one. */
static int8_t least_level(const gab_proxies *all, const contact *of, bool own_is_hole)
{
  const int own = gab_proxies_level(all, of->own), other = gab_proxies_level(all, of->other);
  if (of->other_kind != GUEST_PROXY) return (int8_t)(other - 2);
  return (int8_t)(own_is_hole && other < own - 2 ? own : 0);
}

/* Merges proxies and holes in the order of ids, each with its rows followed by its contacts. */
static void fill(const gab_proxies *all, const gab_mark *marks, const hole_list *holes,
                 const contact *contacts, size_t contact_count, gab_widened *wide)
{
  size_t i = 0, h = 0, c = 0;
  gab_proxies *with = &wide->proxies;
  while (i < all->count || h < holes->count) {
    const bool is_hole = i == all->count || (h < holes->count && holes->ids[h] < all->proxies[i].id);
    gab_proxy *proxy = &with->proxies[with->count];
    wide->marks[with->count] = is_hole ? GAB_MARK_COARSEN : marks[i];
    *proxy = is_hole ? hole_of(holes->ids[h++]) : all->proxies[i++];
    gab_neighbour *rows = with->rows + with->row_count;
    if (proxy->neighbour_count > 0) memcpy(rows, proxy->neighbours, proxy->neighbour_count * sizeof *rows);
    proxy->neighbours = rows;
    int8_t *least = &wide->least[with->count++];
    for (*least = 0; c < contact_count && contacts[c].own == proxy->id; c++) {
      const gab_block_id other = contacts[c].other;
      const int8_t bound = least_level(all, &contacts[c], is_hole);
      if (bound > *least) *least = bound;
      if (contacts[c].other_kind == GUEST_PASSIVE) continue;
      const bool to_hole = contacts[c].other_kind == GUEST_HOLE;
      rows[proxy->neighbour_count++] = (gab_neighbour){
          .id = other, .owner = contacts[c].other_rank, .direction = to_hole ? GAB_DIRECTION_HOLE : 0};
    }
    with->row_count += proxy->neighbour_count;
  }
}

static gab_status widen(const gab_proxies *all, const gab_mark *marks, const hole_list *holes,
                        const contact *contacts, size_t contact_count, gab_widened *wide)
{
  const size_t count = all->count + holes->count;
  GAB_TRY(GAB_NEW_ARRAY(&wide->proxies.proxies, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&wide->proxies.rows, all->row_count + contact_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&wide->marks, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&wide->least, count, GAB_MEMORY_OTHER));
  fill(all, marks, holes, contacts, contact_count, wide);
  return GAB_OK;
}

/* Holes affect only merging, so they are determined only if a block may merge. */
static gab_status is_worth_it(const gab_proxies *all, const gab_mark *marks, bool *answer)
{
  uint64_t merges = 0;
  *answer = false;
  if (!all->options.exists) return GAB_OK;
  for (size_t i = 0; i < all->count; i++)
    merges |= marks[i] == GAB_MARK_COARSEN && gab_proxies_level(all, all->proxies[i].id) > 0;
  GAB_TRY(gab_world_max_u64(all->world, &merges, 1));
  *answer = merges > 0;
  return GAB_OK;
}

gab_status gab_proxies_widen(const gab_proxies *all, const gab_mark *marks, gab_widened *wide)
{
  hole_list holes = {0}, passive = {0}, places = {0};
  contact *contacts = NULL;
  size_t contact_count = 0;
  *wide = (gab_widened){.proxies = *all};
  wide->proxies.proxies = NULL;
  wide->proxies.rows = NULL;
  wide->proxies.count = wide->proxies.row_count = 0;
  GAB_TRY(is_worth_it(all, marks, &wide->is_wide));
  if (!wide->is_wide) return GAB_OK;
  gab_status status = find_holes(all, &holes);
  if (status == GAB_OK) status = find_passive(all, &places, &passive);
  if (status == GAB_OK) status = find_contacts(all, &holes, &passive, &contacts, &contact_count);
  if (status == GAB_OK) status = widen(all, marks, &holes, contacts, contact_count, wide);
  gab_free(&holes.ids);
  gab_free(&passive.ids);
  gab_free(&places.ids);
  gab_free(&contacts);
  return status;
}

void gab_widened_release(gab_widened *wide)
{
  gab_free(&wide->proxies.proxies);
  gab_free(&wide->proxies.rows);
  gab_free(&wide->marks);
  gab_free(&wide->least);
}
