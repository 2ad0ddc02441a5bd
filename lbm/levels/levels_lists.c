/* The lists of a block, made from the paths of children. Whatever crosses from block to block is named by a
 * key that both ends can make: the contact, the cell counted from the block's own corner, the direction. The
 * corners are a constant apart, so sorting gives both ends the same order. */
#include "lbm/levels/levels_impl.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ keys */

/* Numbers below GAB_CHILD_COUNT_MAX: what a child of a coarse cell has been given to send. */
enum { KEY_ARRIVES = GAB_CHILD_COUNT_MAX, KEY_ACROSS, KEY_SUM };

typedef struct key {
  int32_t group;   /* first: they become the parts */
  int32_t z, y, x; /* a coarse cell; across: a fine one */
  int32_t what, q;
} key;

typedef struct key_list {
  key *item;
  size_t count, capacity;
} key_list;

static int in_order(const void *a, const void *b)
{
  const int32_t *left = a, *right = b;
  for (size_t i = 0; i < sizeof(key) / sizeof(int32_t); ++i)
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  return 0;
}

static gab_status grow(void **items, size_t count, size_t *capacity, size_t bytes_each)
{
  if (count < *capacity) return GAB_OK;
  size_t wanted = *capacity ? 2 * *capacity : 64;
  GAB_TRY(gab_realloc(wanted * bytes_each, GAB_MEMORY_OTHER, items));
  *capacity = wanted;
  return GAB_OK;
}

static gab_status add_key(key_list *list, key made)
{
  void *items = list->item;
  GAB_TRY(grow(&items, list->count, &list->capacity, sizeof made));
  list->item = items;
  list->item[list->count++] = made;
  return GAB_OK;
}

static void sort_unique(key_list *list)
{
  if (list->count > 1) qsort(list->item, list->count, sizeof(key), in_order);
  size_t kept = 0;
  for (size_t i = 0; i < list->count; ++i)
    if (kept == 0 || in_order(&list->item[kept - 1], &list->item[i]) != 0) list->item[kept++] = list->item[i];
  list->count = kept;
}

static uint32_t index_of_key(const key_list *list, const key *wanted)
{
  const key *found = bsearch(wanted, list->item, list->count, sizeof *wanted, in_order);
  return (uint32_t)(found - list->item);
}

/* Groups first_group <= group < end as parts that count from the first key of all. */
static gab_status make_parts(const key_list *list, int32_t first_group, int32_t end,
                             gab_level_interface_parts *parts)
{
  size_t groups = 0;
  for (size_t i = 0; i < list->count; ++i) groups += i == 0 || list->item[i].group != list->item[i - 1].group;
  void *memory;
  GAB_TRY(gab_alloc(groups * sizeof(gab_level_interface_part), GAB_MEMORY_OTHER, &memory));
  parts->item = memory;
  for (size_t i = 0; i < list->count; ++i) {
    int32_t group = list->item[i].group;
    if (group < first_group || group >= end) continue;
    gab_level_interface_part *last = parts->count > 0 ? &parts->item[parts->count - 1] : NULL;
    if (last && last->group == group - first_group) ++last->last;
    else
      parts->item[parts->count++] = (gab_level_interface_part){
          .group = group - first_group, .first = (uint32_t)i, .last = (uint32_t)i + 1};
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ on the way */

/* A list on its way, with the keys its items refer to; one entry each. */
typedef struct pull_draft {
  gab_level_interface_pull pull;
  key first, second;
} pull_draft;
typedef struct pick_draft {
  gab_level_interface_pick pick;
  key sum;
} pick_draft;

typedef struct give_draft {
  key name;
  gab_level_interface_give give;
} give_draft;

typedef struct maker {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  gab_level_interface *interface;
  gab_level_view view;
  gab_paths paths;
  key_list keys, gives; /* what comes in; what goes out */
  pull_draft *pulls;
  pick_draft *picks[2];
  key *order;
  give_draft *drafts;
  size_t draft_count, draft_capacity;
  size_t pull_capacity, pick_capacity[2], order_capacity, arrival_capacity, term_capacity;
} maker;

enum {
  ACROSS = GAB_DIRECTIONS
}; /* groups of the finer side from here on are across, by direction of the sender */

static uint32_t index_of(const maker *by, const int32_t cell[3])
{
  return (uint32_t)gab_field_index(&by->model->map, cell[0], cell[1], cell[2], 0);
}

static void parent_of(const maker *by, const int32_t cell[3], int32_t parent[3])
{
  gab_path_parent(&by->paths, cell, parent);
}

/* Direction of coarse cell `coarse` as seen by the fine block at `place`, in fine blocks from the corner that
 * cells are counted from. */
static int seen_from(const maker *by, const int32_t coarse[3], const int8_t place[3])
{
  int offset[3] = {0, 0, 0};
  for (int axis = 0; axis < by->model->lattice->dimension; ++axis) {
    int32_t at = 2 * coarse[axis] - place[axis] * by->model->cells[axis];
    offset[axis] = at < 0 ? -1 : at >= by->model->cells[axis] ? 1 : 0;
  }
  return gab_direction_of(offset[0], offset[1], offset[2]);
}

static key key_of(int32_t group, const int32_t cell[3], int what, int q)
{
  return (key){.group = group, .z = cell[2], .y = cell[1], .x = cell[0], .what = what, .q = q};
}

/* Where a fine place lies, in fine blocks. */
static void place_of(const maker *by, const int32_t cell[3], int8_t place[3])
{
  for (int axis = 0; axis < 3; ++axis) {
    int32_t n = by->model->cells[axis];
    place[axis] = (int8_t)((cell[axis] + 2 * n) / n - 2);
  }
}

static int child_at(const maker *by, const int32_t cell[3])
{
  int child = 0;
  for (int axis = 0; axis < by->model->lattice->dimension; ++axis) child |= (cell[axis] & 1) << axis;
  return child;
}

static const int8_t here[3] = {0, 0, 0};

static gab_status add_term(maker *by, gab_level_interface_term **terms, size_t *count, uint32_t at,
                           const int32_t wall[3], int q, double share)
{
  int64_t global[3];
  gab_level_interface_term made = {.at = at};
  for (int axis = 0; axis < 3; ++axis) global[axis] = by->view.origin[axis] + wall[axis];
  made.term = share * gab_links_wall_term(by->model, by->view.level, global, q, &made.side);
  if (made.term == 0) return GAB_OK;
  void *items = *terms;
  GAB_TRY(gab_realloc((*count + 1) * sizeof made, GAB_MEMORY_OTHER, &items));
  *terms = items;
  (*terms)[(*count)++] = made;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ pushes */

enum { IN_FIRST = 1, IN_SECOND = 2, IN_EACH = 3 };

/* Left out if the wall is none of a body. @param[in] wall  place; the parts of `made` that follow from it are
 * set here @param[in] moves  what a moving wall gives counts too */
static gab_status add_push(maker *by, gab_level_interface_push made, const int32_t wall[3], bool moves)
{
  int64_t global[3];
  int32_t side;
  gab_level_interface *interface = by->interface;
  for (int axis = 0; axis < 3; ++axis) global[axis] = by->view.origin[axis] + wall[axis];
  const int body = gab_lbm_body_at(by->model, by->view.level, global);
  if (body < 0) return GAB_OK;
  made.body = (uint32_t)body;
  if (moves)
    made.term = gab_links_wall_term(by->model, by->view.level, global, gab_lattice_opposite(made.q), &side);
  void *items = interface->pushes;
  GAB_TRY(gab_realloc((interface->push_count + 1) * sizeof made, GAB_MEMORY_OTHER, &items));
  interface->pushes = items;
  interface->pushes[interface->push_count++] = made;
  return GAB_OK;
}

/* By what a fine cell sends in s1, if it is thrown back in s2. */
static gab_status add_push_of_pick(maker *by, const gab_path_state *start)
{
  gab_path_state middle, turned;
  gab_path_step step;
  (void)gab_path_forth(&by->paths, start, &middle);
  turned = middle;
  turned.q = gab_lattice_opposite(middle.q);
  gab_path_back(&by->paths, &turned, &step);
  if (!step.bounced) return GAB_OK;
  const gab_level_interface_push made = {.kind = GAB_PUSH_SENT,
                                         .when = IN_FIRST,
                                         .at = index_of(by, start->cell),
                                         .q = (int8_t)middle.q,
                                         .sent_q = (int8_t)start->q,
                                         .share = 1};
  return add_push(by, made, step.wall, true);
}

/* ------------------------------------------------------------------------------------------ the finer side
 */

static gab_status draft_pull(void *user, const gab_child_pull *pull)
{
  maker *by = user;
  const gab_path_step *second = &pull->second;
  int32_t parent[3], source[3];
  parent_of(by, pull->at.cell, parent);
  parent_of(by, second->from.cell, source);
  pull_draft made = {.pull = {.cell = index_of(by, pull->at.cell), .q = pull->at.q}};
  made.first = key_of(seen_from(by, parent, here), parent, child_at(by, pull->at.cell), pull->at.q);
  made.second = key_of(seen_from(by, source, here), source, child_at(by, second->from.cell), second->from.q);
  if (second->kind == GAB_PATH_OPEN)
    made.second = key_of(seen_from(by, parent, here), parent, KEY_ARRIVES, pull->at.q);
  if (second->kind == GAB_PATH_FINE) {
    int offset[3];
    for (int axis = 0; axis < 3; ++axis)
      offset[axis] = second->from.cell[axis] < 0                         ? 1
                     : second->from.cell[axis] >= by->model->cells[axis] ? -1
                                                                         : 0;
    made.second = key_of(ACROSS + gab_direction_of(offset[0], offset[1], offset[2]), second->from.cell,
                         KEY_ACROSS, second->from.q);
  }
  GAB_TRY(add_key(&by->keys, made.first));
  GAB_TRY(add_key(&by->keys, made.second));
  void *items = by->pulls;
  gab_level_interface *interface = by->interface;
  GAB_TRY(grow(&items, interface->pull_count, &by->pull_capacity, sizeof made));
  by->pulls = items;
  if (second->bounced)
    GAB_TRY(add_term(by, &interface->pull_terms, &interface->pull_term_count, (uint32_t)interface->pull_count,
                     second->wall, pull->at.q, 1));
  const gab_level_interface_push push = {.kind = GAB_PUSH_PULLED,
                                         .when = IN_SECOND,
                                         .at = (uint32_t)interface->pull_count,
                                         .q = (int8_t)gab_lattice_opposite(pull->at.q),
                                         .share = 1};
  if (second->bounced) GAB_TRY(add_push(by, push, second->wall, true));
  by->pulls[interface->pull_count++] = made;
  return GAB_OK;
}

static gab_status draft_pick(maker *by, const gab_path_state *start, bool second)
{
  gab_path_state end, on_the_way;
  int32_t parent[3];
  gab_level_interface *interface = by->interface;
  if (gab_child_leaves(&by->paths, start, second, &end)) {
    if (!second) GAB_TRY(add_push_of_pick(by, start));
    parent_of(by, end.cell, parent);
    pick_draft made = {.pick = {.cell = index_of(by, start->cell), .q = start->q},
                       .sum = key_of(seen_from(by, parent, here), parent, KEY_SUM, end.q)};
    GAB_TRY(add_key(&by->keys, made.sum));
    void *items = by->picks[second];
    GAB_TRY(grow(&items, interface->pick_count[second], &by->pick_capacity[second], sizeof made));
    by->picks[second] = items;
    by->picks[second][interface->pick_count[second]++] = made;
    return GAB_OK;
  }
  if (second || gab_path_forth(&by->paths, start, &on_the_way) != GAB_PATH_COARSE ||
      gab_path_forth(&by->paths, &on_the_way, &end) != GAB_PATH_FINE)
    return GAB_OK;
  int offset[3];
  for (int axis = 0; axis < 3; ++axis)
    offset[axis] = end.cell[axis] < 0 ? -1 : end.cell[axis] >= by->model->cells[axis] ? 1 : 0;
  return add_key(&by->gives, key_of(gab_direction_of(offset[0], offset[1], offset[2]), start->cell,
                                    KEY_ACROSS, start->q));
}

/* All that the outermost cells send. */
static gab_status draft_picks(maker *by)
{
  const int32_t *cells = by->model->cells;
  const bool deep = by->model->lattice->dimension == 3;
  gab_path_state start;
  for (int32_t z = 0; z < cells[2]; ++z)
    for (int32_t y = 0; y < cells[1]; ++y)
      for (int32_t x = 0; x < cells[0]; ++x) {
        bool inner = y > 0 && y + 1 < cells[1] && (!deep || (z > 0 && z + 1 < cells[2]));
        if (inner && x == 1 && cells[0] > 2) x = cells[0] - 1;
        start = (gab_path_state){.cell = {x, y, z}};
        if (gab_level_view_look(&by->view, start.cell).kind != GAB_PATH_FINE) continue;
        for (start.q = 1; start.q < by->model->lattice->q; ++start.q) {
          const int8_t *c = by->model->lattice->c[start.q];
          const int32_t next[3] = {x + c[0], y + c[1], z + c[2]};
          if (gab_level_view_look(&by->view, next).kind == GAB_PATH_FINE) continue; /* goes nowhere else */
          for (int second = 0; second < 2; ++second) GAB_TRY(draft_pick(by, &start, second));
        }
      }
  return GAB_OK;
}

static gab_status keep_pulls(maker *by)
{
  gab_level_interface *interface = by->interface;
  void *memory;
  sort_unique(&by->keys);
  GAB_TRY(make_parts(&by->keys, 0, ACROSS, &interface->down_in));
  GAB_TRY(make_parts(&by->keys, ACROSS, INT32_MAX, &interface->across_in));
  interface->value_count = by->keys.count;
  GAB_TRY(gab_alloc(interface->pull_count * sizeof(gab_level_interface_pull), GAB_MEMORY_OTHER, &memory));
  interface->pulls = memory;
  for (size_t i = 0; i < interface->pull_count; ++i) {
    interface->pulls[i] = by->pulls[i].pull;
    interface->pulls[i].first = index_of_key(&by->keys, &by->pulls[i].first);
    interface->pulls[i].second = index_of_key(&by->keys, &by->pulls[i].second);
  }
  return GAB_OK;
}

static gab_status keep_across(maker *by)
{
  gab_level_interface *interface = by->interface;
  void *memory;
  sort_unique(&by->gives);
  GAB_TRY(make_parts(&by->gives, 0, INT32_MAX, &interface->across_out));
  interface->across_count = by->gives.count;
  GAB_TRY(gab_alloc(interface->across_count * sizeof *interface->across, GAB_MEMORY_OTHER, &memory));
  interface->across = memory;
  for (size_t i = 0; i < interface->across_count; ++i) {
    const key *from = &by->gives.item[i];
    const int32_t cell[3] = {from->x, from->y, from->z};
    interface->across[i] = (gab_level_interface_give){.cell = index_of(by, cell), .q = (int16_t)from->q};
  }
  return GAB_OK;
}

static gab_status keep_picks(maker *by)
{
  gab_level_interface *interface = by->interface;
  sort_unique(&by->keys);
  GAB_TRY(make_parts(&by->keys, 0, INT32_MAX, &interface->up_out));
  interface->sum_count = by->keys.count;
  for (int sub = 0; sub < 2; ++sub) {
    void *memory;
    GAB_TRY(
        gab_alloc(interface->pick_count[sub] * sizeof(gab_level_interface_pick), GAB_MEMORY_OTHER, &memory));
    interface->picks[sub] = memory;
    for (size_t i = 0; i < interface->pick_count[sub]; ++i) {
      interface->picks[sub][i] = by->picks[sub][i].pick;
      interface->picks[sub][i].sum = index_of_key(&by->keys, &by->picks[sub][i].sum);
    }
  }
  return keep_across(by);
}

static gab_status make_finer_side(maker *by)
{
  const int32_t lo[3] = {0, 0, 0};
  GAB_TRY(gab_child_pulls(&by->paths, lo, by->model->cells, draft_pull, by));
  GAB_TRY(keep_pulls(by));
  by->keys.count = 0;
  GAB_TRY(draft_picks(by));
  return keep_picks(by);
}

/* ------------------------------------------------------------------------------------------ the coarser side
 */

static key coarse_key(const maker *by, const int32_t fine[3], const int32_t coarse[3], int what, int q)
{
  int8_t place[3];
  place_of(by, fine, place);
  return key_of(gab_level_interface_group(place, seen_from(by, coarse, place)), coarse, what, q);
}

/* Which way the children of (X, q) go. */
typedef struct entry {
  int sub;         /* 0: it stays among coarse cells; 1, 2: it enters a fine cell in s1, s2 */
  int32_t cell[3]; /* that fine cell */
  bool is_open;    /* it enters in s1 and would in s2, had it come in by an open side */
} entry;

static void find_entries(const maker *by, const int32_t coarse[3], int q, entry entries[GAB_CHILD_COUNT_MAX])
{
  const int dimension = by->model->lattice->dimension;
  for (int child = 0; child < 1 << dimension; ++child) {
    gab_path_state start = {.q = q}, middle, end;
    gab_path_step before;
    entry *found = &entries[child];
    for (int axis = 0; axis < 3; ++axis)
      start.cell[axis] = axis < dimension ? 2 * coarse[axis] + (child >> axis & 1) : coarse[axis];
    gab_path_kind kind = gab_path_forth(&by->paths, &start, &middle);
    *found = (entry){.sub = kind == GAB_PATH_FINE ? 1 : 0};
    memcpy(found->cell, middle.cell, sizeof found->cell);
    if (found->sub == 1) {
      gab_path_back(&by->paths, &start, &before);
      found->is_open = before.kind == GAB_PATH_OPEN;
    } else if (kind == GAB_PATH_COARSE && gab_path_forth(&by->paths, &middle, &end) == GAB_PATH_FINE) {
      found->sub = 2;
      memcpy(found->cell, end.cell, sizeof found->cell);
    }
  }
}

/* In quarters of a coarse cell: where a child lies, and along its way where half a sub-step before or after
 * the middle of the two would be. */
static int weight_of(const maker *by, const entry *found, int child, int q, int axis)
{
  const int half = (child >> axis & 1) ? 1 : -1, c = by->model->lattice->c[q][axis];
  return half + (found->sub == 1 ? -c : c);
}

/* Along axes in which no finer cell lies beside X, children are given what (X, q) would be where they are.
 * Across the boundary the value of the cell is right as it is: children of the near layer enter in s1, those
 * of the far one in s2, and what they lack in place they have in time. Only where the differences of all that
 * enter cancel, so that nothing is lost. */
static void find_slopes(const maker *by, const int32_t coarse[3], int q,
                        const entry entries[GAB_CHILD_COUNT_MAX], gab_level_interface_give *give)
{
  const int dimension = by->model->lattice->dimension;
  give->before = give->behind = 0;
  for (int axis = 0; axis < dimension; ++axis) {
    int sum = 0;
    uint8_t use[2] = {0, 0};
    bool is_free = true;
    for (int child = 0; child < 1 << dimension; ++child)
      if (entries[child].sub > 0) sum += weight_of(by, &entries[child], child, q, axis);
    for (int side = 0; side < 2; ++side) {
      int32_t beside[3] = {coarse[0], coarse[1], coarse[2]}, place[3];
      beside[axis] += side == 0 ? -1 : 1;
      for (int k = 0; k < 3; ++k) place[k] = k < dimension ? 2 * beside[k] : beside[k];
      const int kind = gab_level_view_look(&by->view, place).kind;
      const bool is_here = beside[axis] >= 0 && beside[axis] < by->model->cells[axis];
      is_free = is_free && kind != GAB_PATH_FINE && kind != GAB_PATH_FINE_WALL;
      use[side] = kind == GAB_PATH_COARSE && is_here;
    }
    if (!is_free || sum != 0) continue;
    give->before |= (uint8_t)(use[0] << axis);
    give->behind |= (uint8_t)(use[1] << axis);
  }
}

static gab_status add_give(maker *by, key made, const gab_level_interface_give *give)
{
  void *items = by->drafts;
  GAB_TRY(add_key(&by->gives, made));
  GAB_TRY(grow(&items, by->draft_count, &by->draft_capacity, sizeof *by->drafts));
  by->drafts = items;
  by->drafts[by->draft_count++] = (give_draft){.name = made, .give = *give};
  return GAB_OK;
}

/* What fine blocks take of what a coarse cell sends. */
static gab_status draft_gives(maker *by, const int32_t coarse[3])
{
  const uint32_t around = gab_child_surroundings(&by->paths, coarse);
  for (int q = 1; q < by->model->lattice->q; ++q) {
    const int8_t *c = by->model->lattice->c[q];
    if (!gab_child_may_meet(around, (const int[3]){c[0], c[1], c[2]})) continue;
    entry entries[GAB_CHILD_COUNT_MAX];
    gab_level_interface_give give = {.cell = index_of(by, coarse), .q = (int16_t)q};
    find_entries(by, coarse, q, entries);
    find_slopes(by, coarse, q, entries, &give);
    for (int child = 0; child < 1 << by->model->lattice->dimension; ++child) {
      const entry *found = &entries[child];
      if (found->sub == 0) continue;
      for (int axis = 0; axis < by->model->lattice->dimension; ++axis)
        give.weight[axis] = (int8_t)weight_of(by, found, child, q, axis);
      GAB_TRY(add_give(by, coarse_key(by, found->cell, coarse, child, q), &give));
      const gab_level_interface_give arriving = {.cell = give.cell, .q = give.q, .arrives = true};
      if (found->is_open)
        GAB_TRY(add_give(by, coarse_key(by, found->cell, coarse, KEY_ARRIVES, q), &arriving));
    }
  }
  return GAB_OK;
}

static bool comes_from_finer(const maker *by, const gab_child_arrival *arrival)
{
  const int8_t *c = by->model->lattice->c[arrival->q];
  int32_t child[3];
  for (int axis = 0; axis < 3; ++axis)
    child[axis] = (arrival->cell[axis] - c[axis]) * (axis < by->model->lattice->dimension ? 2 : 1);
  int kind = gab_level_view_look(&by->view, child).kind;
  return kind == GAB_PATH_FINE || kind == GAB_PATH_FINE_WALL;
}

/* The wall that throws children back on their way to (X, q): the first one that a child meets.
 * @return false if there is none */
static bool find_wall(const maker *by, const int32_t coarse[3], int q, int32_t wall[3])
{
  const int dimension = by->model->lattice->dimension;
  const int8_t *c = by->model->lattice->c[q];
  for (int way = 1; way <= 2; ++way)
    for (int child = 0; child < 1 << dimension; ++child) {
      for (int axis = 0; axis < 3; ++axis)
        wall[axis] =
            (axis < dimension ? 2 * coarse[axis] + (child >> axis & 1) : coarse[axis]) - way * c[axis];
      const int kind = gab_level_view_look(&by->view, wall).kind;
      if (kind == GAB_PATH_WALL || kind == GAB_PATH_FINE_WALL) return true;
    }
  return false;
}

/* By what (X, -q) is thrown back of; and less by its link, as far as that is not kept. */
static gab_status add_pushes_of_arrival(maker *by, const gab_child_arrival *arrival)
{
  const int n = 1 << by->model->lattice->dimension;
  int32_t wall[3];
  gab_level_interface_push made = {.when = IN_EACH,
                                   .at = index_of(by, arrival->cell),
                                   .q = (int8_t)gab_lattice_opposite(arrival->q),
                                   .sent_q = (int8_t)gab_lattice_opposite(arrival->q)};
  if (arrival->back > 0 && find_wall(by, arrival->cell, arrival->q, wall)) {
    made.kind = GAB_PUSH_SENT;
    made.share = (double)arrival->back / n;
    GAB_TRY(add_push(by, made, wall, false));
  }
  for (int axis = 0; axis < 3; ++axis)
    wall[axis] = (arrival->cell[axis] - by->model->lattice->c[arrival->q][axis]) *
                 (axis < by->model->lattice->dimension ? 2 : 1);
  if (arrival->keep == n || gab_level_view_look(&by->view, wall).kind != GAB_PATH_WALL) return GAB_OK;
  made.kind = GAB_PUSH_LINK;
  made.share = (double)arrival->keep / n - 1;
  return add_push(by, made, wall, false);
}

static gab_status draft_arrival(void *user, const gab_child_arrival *arrival)
{
  maker *by = user;
  gab_level_interface *interface = by->interface;
  const int n = 1 << by->model->lattice->dimension;
  key sums[GAB_CHILD_COUNT_MAX];
  key_list list = {.item = sums};
  for (int i = 0; i < arrival->touched; ++i)
    sums[list.count++] = coarse_key(by, arrival->touch[i].start.cell, arrival->cell, KEY_SUM, arrival->q);
  sort_unique(&list);
  void *items = interface->arrivals;
  GAB_TRY(grow(&items, interface->arrival_count, &by->arrival_capacity, sizeof *interface->arrivals));
  interface->arrivals = items;
  gab_level_interface_arrival made = {.cell = index_of(by, arrival->cell),
                                      .q = (int16_t)arrival->q,
                                      .keep = (int8_t)arrival->keep,
                                      .back = (int8_t)arrival->back,
                                      .from_finer = comes_from_finer(by, arrival),
                                      .first = (uint32_t)interface->order_count};
  for (size_t i = 0; i < list.count; ++i) {
    GAB_TRY(add_key(&by->keys, sums[i]));
    items = by->order;
    GAB_TRY(grow(&items, interface->order_count, &by->order_capacity, sizeof *by->order));
    by->order = items;
    by->order[interface->order_count++] = sums[i];
  }
  made.last = (uint32_t)interface->order_count;
  for (int i = 0; i < arrival->touched; ++i)
    if (arrival->touch[i].bounced)
      GAB_TRY(add_term(by, &interface->arrival_terms, &interface->arrival_term_count,
                       (uint32_t)interface->arrival_count, arrival->touch[i].wall, arrival->q, 1.0 / n));
  interface->arrivals[interface->arrival_count++] = made;
  return add_pushes_of_arrival(by, arrival);
}

/* True if a finer block lies within two coarse cells. */
static bool is_near_finer(const maker *by, const int32_t coarse[3])
{
  enum { REACH = 2 };
  for (int direction = 0; direction < GAB_DIRECTIONS; ++direction) {
    int offset[3];
    gab_direction_offset(direction, offset);
    bool near = by->block->beside.kind[direction] == GAB_BESIDE_FINER;
    for (int axis = 0; axis < 3 && near; ++axis)
      near = (offset[axis] >= 0 || coarse[axis] < REACH) &&
             (offset[axis] <= 0 || coarse[axis] >= by->model->cells[axis] - REACH);
    if (near) return true;
  }
  return false;
}

static gab_status keep_coarser_side(maker *by)
{
  gab_level_interface *interface = by->interface;
  void *memory;
  sort_unique(&by->gives);
  GAB_TRY(make_parts(&by->gives, 0, INT32_MAX, &interface->down_out));
  interface->give_count = by->gives.count;
  GAB_TRY(gab_alloc(interface->give_count * sizeof *interface->gives, GAB_MEMORY_OTHER, &memory));
  interface->gives = memory;
  for (size_t i = 0; i < by->draft_count; ++i) /* one that several children share is the same in all */
    interface->gives[index_of_key(&by->gives, &by->drafts[i].name)] = by->drafts[i].give;
  sort_unique(&by->keys);
  GAB_TRY(make_parts(&by->keys, 0, INT32_MAX, &interface->up_in));
  interface->partial_count = by->keys.count;
  GAB_TRY(gab_alloc(interface->order_count * sizeof *interface->order, GAB_MEMORY_OTHER, &memory));
  interface->order = memory;
  for (size_t i = 0; i < interface->order_count; ++i)
    interface->order[i] = index_of_key(&by->keys, &by->order[i]);
  return GAB_OK;
}

static gab_status make_coarser_side(maker *by)
{
  const int32_t *cells = by->model->cells;
  by->keys.count = by->gives.count = 0;
  for (int32_t z = 0; z < cells[2]; ++z)
    for (int32_t y = 0; y < cells[1]; ++y)
      for (int32_t x = 0; x < cells[0]; ++x) {
        const int32_t lo[3] = {x, y, z}, hi[3] = {x + 1, y + 1, z + 1};
        const int32_t child[3] = {2 * x, 2 * y, by->model->lattice->dimension == 3 ? 2 * z : z};
        if (!is_near_finer(by, lo) || gab_level_view_look(&by->view, child).kind != GAB_PATH_COARSE) continue;
        GAB_TRY(draft_gives(by, lo));
        GAB_TRY(gab_child_arrivals(&by->paths, lo, hi, draft_arrival, by));
      }
  return keep_coarser_side(by);
}

/* ------------------------------------------------------------------------------------------ all of it */

static bool has_beside(const gab_lbm_block *block, gab_beside_kind kind)
{
  for (int direction = 0; direction < GAB_DIRECTIONS; ++direction)
    if (block->beside.kind[direction] == kind) return true;
  return false;
}

static gab_status make_side(maker *by, bool as_coarse)
{
  GAB_TRY(gab_level_view_make(by->model, by->block, as_coarse, &by->view));
  by->paths = (gab_paths){.lattice = by->model->lattice, .what = gab_level_view_look, .user = &by->view};
  gab_status status = as_coarse ? make_coarser_side(by) : make_finer_side(by);
  gab_level_view_release(&by->view);
  return status;
}

gab_status gab_level_interface_list(const gab_lbm_model *model, const gab_lbm_block *block,
                                    gab_level_interface **interface)
{
  *interface = NULL;
  bool is_fine = has_beside(block, GAB_BESIDE_COARSER), is_coarse = has_beside(block, GAB_BESIDE_FINER);
  if (!is_fine && !is_coarse) return GAB_OK;
  void *memory;
  GAB_TRY(gab_alloc(sizeof **interface, GAB_MEMORY_OTHER, &memory));
  maker by = {.model = model, .block = block, .interface = memory};
  gab_status status = GAB_OK;
  if (is_fine) status = make_side(&by, false);
  if (is_coarse && status == GAB_OK) status = make_side(&by, true);
  gab_free(&by.keys.item);
  gab_free(&by.gives.item);
  gab_free(&by.pulls);
  gab_free(&by.picks[0]);
  gab_free(&by.picks[1]);
  gab_free(&by.order);
  gab_free(&by.drafts);
  if (status != GAB_OK) gab_level_interface_destroy(&by.interface);
  *interface = by.interface;
  return status;
}
