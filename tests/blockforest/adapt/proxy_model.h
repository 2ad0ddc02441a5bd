/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of proxies: every process keeps the whole grid as a list of leaves and finds contacts by comparing
 * boxes. Levels are decided as in Schornbaum & Rüde 2018: splits first, then merges from the finest level up. Boxes
 * of missing children are compared too. */
#ifndef GABION_TESTS_PROXY_MODEL_H
#define GABION_TESTS_PROXY_MODEL_H

#include "blockforest/adaptation/proxy.h"
#include "core/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct proxy_setup {
  uint64_t seed;
  uint64_t holes; /* number of empty places among 16 … */
  int hole_level; /* … on levels up to this */
  gab_forest_options options;
} proxy_setup;

static inline uint64_t setup_draw(uint64_t seed, uint64_t what, uint64_t below)
{
  return gab_hash_counter(seed, 1, what) % below;
}

static inline bool setup_exists(void *user, int level, const gab_box *cells)
{
  const proxy_setup *setup = user;
  if (level > setup->hole_level) return true;
  uint64_t place = gab_hash_counter((uint64_t)cells->lo[0], (uint64_t)cells->lo[1], (uint64_t)cells->lo[2]);
  return gab_hash_counter(setup->seed, 2 + (uint64_t)level, place) % 16 >= setup->holes;
}

static inline uint64_t setup_weight(void *user, int level, const gab_box *cells)
{
  return 1 + gab_hash_counter(((const proxy_setup *)user)->seed, (uint64_t)level, (uint64_t)cells->lo[0]) % 9;
}

/* The setup is its own options.user, so it must not be moved afterwards. */
static inline void setup_make(proxy_setup *setup, uint64_t seed)
{
  *setup = (proxy_setup){.seed = seed};
  gab_forest_options *options = &setup->options;
  options->grid.dimension = 2 + (int)setup_draw(seed, 1, 2);
  uint64_t most = options->grid.dimension == 3 ? 3 : 5;
  for (int axis = 0; axis < 3; axis++) {
    bool flat = axis == 2 && options->grid.dimension == 2;
    options->grid.roots[axis] = flat ? 1 : 1 + (int32_t)setup_draw(seed, 10 + (uint64_t)axis, most);
    options->cells[axis] = flat ? 1 : 2 + (int32_t)axis;
    options->periodic[axis] = setup_draw(seed, 30 + (uint64_t)axis, 2);
  }
  options->dx = 1;
  options->user = setup;
  options->weight = setup_weight;
  setup->holes = setup_draw(seed, 2, 3) * 2;
  setup->hole_level = setup_draw(seed, 3, 2) ? 30 : 0;
  if (setup->holes > 0) options->exists = setup_exists;
}

typedef struct leaf_row {
  size_t leaf;
  int direction;
} leaf_row;

typedef struct leaf {
  gab_proxy is; /* its table is in `rows` */
  gab_rank owner;
  int level;
  gab_block_place place;
  leaf_row *rows;
  size_t row_count;
} leaf;

typedef struct model {
  const proxy_setup *setup;
  leaf *leaves; /* ascending by id */
  size_t count;
  int depth;
} model;

/* ------------------------------------------------------------------------------------------ geometry */

static inline gab_box model_box(const model *grid, const leaf *of)
{
  gab_box box;
  for (int axis = 0; axis < 3; axis++) {
    int shift = axis < grid->setup->options.grid.dimension ? grid->depth - of->level : 0;
    box.lo[axis] = (int64_t)of->place.at[axis] << shift;
    box.hi[axis] = (int64_t)(of->place.at[axis] + (int64_t)1) << shift;
  }
  return box;
}

/* Adds the rows of the touching leaf `b` to the table of `a`. */
static inline void add_contacts(leaf *a, const gab_box *box, size_t b, const gab_box *other)
{
  bool beside[3][3];
  bool inside = true;
  for (int axis = 0; axis < 3; axis++) {
    int64_t size = box->hi[axis] - box->lo[axis];
    for (int side = -1; side <= 1; side++)
      beside[axis][side + 1] =
          other->lo[axis] < box->hi[axis] + side * size && other->hi[axis] > box->lo[axis] + side * size;
    inside &= beside[axis][1];
  }
  if (inside) return;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
    if (beside[0][direction % 3] && beside[1][direction / 3 % 3] && beside[2][direction / 9]) {
      if (a->row_count % 32 == 0) a->rows = realloc(a->rows, (a->row_count + 32) * sizeof *a->rows);
      a->rows[a->row_count++] = (leaf_row){b, direction};
    }
}

static inline int by_row(const void *x, const void *y)
{
  const leaf_row *a = x, *b = y;
  if (a->direction != b->direction) return a->direction < b->direction ? -1 : 1;
  return (a->leaf > b->leaf) - (a->leaf < b->leaf);
}

/* Blocks at a periodic border also touch leaves at the opposite border, shifted by whole domains. */
static inline void find_contacts(model *grid, const gab_box *boxes, size_t i, const int64_t span[3])
{
  const gab_forest_options *options = &grid->setup->options;
  const gab_box *box = &boxes[i];
  int low[3], high[3];
  for (int axis = 0; axis < 3; axis++) {
    bool wraps = axis < options->grid.dimension && options->periodic[axis];
    low[axis] = wraps && box->lo[axis] == 0 ? -1 : 0;
    high[axis] = wraps && box->hi[axis] == span[axis] ? 1 : 0;
  }
  for (int z = low[2]; z <= high[2]; z++)
    for (int y = low[1]; y <= high[1]; y++)
      for (int x = low[0]; x <= high[0]; x++) {
        const int64_t by[3] = {x * span[0], y * span[1], z * span[2]};
        for (size_t b = 0; b < grid->count; b++) {
          gab_box other = boxes[b];
          bool touches = true;
          for (int axis = 0; axis < 3; axis++) {
            other.lo[axis] += by[axis];
            other.hi[axis] += by[axis];
            touches &= other.lo[axis] <= box->hi[axis] && other.hi[axis] >= box->lo[axis];
          }
          if (touches) add_contacts(&grid->leaves[i], box, b, &other);
        }
      }
}

static inline void model_find_rows(model *grid)
{
  const gab_forest_options *options = &grid->setup->options;
  int64_t span[3];
  grid->depth = 0;
  for (size_t i = 0; i < grid->count; i++)
    if (grid->leaves[i].level > grid->depth) grid->depth = grid->leaves[i].level;
  for (int axis = 0; axis < 3; axis++)
    span[axis] = (int64_t)options->grid.roots[axis] << (axis < options->grid.dimension ? grid->depth : 0);
  gab_box *boxes = malloc((grid->count + 1) * sizeof *boxes);
  for (size_t i = 0; i < grid->count; i++) boxes[i] = model_box(grid, &grid->leaves[i]);
  for (size_t i = 0; i < grid->count; i++) {
    leaf *a = &grid->leaves[i];
    free(a->rows);
    a->rows = NULL;
    a->row_count = 0;
    find_contacts(grid, boxes, i, span);
    if (a->row_count > 1) qsort(a->rows, a->row_count, sizeof *a->rows, by_row);
  }
  free(boxes);
}

/* ------------------------------------------------------------------------------------------ the leaves */

static inline void model_release(model *grid)
{
  for (size_t i = 0; i < grid->count; i++) free(grid->leaves[i].rows);
  free(grid->leaves);
  grid->leaves = NULL;
  grid->count = 0;
}

static inline bool model_exists(const model *grid, gab_block_id id, uint64_t *weight)
{
  const gab_forest_options *options = &grid->setup->options;
  gab_block_place place = gab_block_id_place(&options->grid, id);
  gab_box cells;
  for (int axis = 0; axis < 3; axis++) {
    cells.lo[axis] = (int64_t)place.at[axis] * options->cells[axis];
    cells.hi[axis] = cells.lo[axis] + options->cells[axis];
  }
  if (weight) *weight = options->weight(options->user, place.level, &cells);
  return !options->exists || options->exists(options->user, place.level, &cells);
}

/* Appends a leaf if it exists. */
static inline leaf *model_add(model *grid, gab_block_id id, gab_rank owner, gab_origin origin)
{
  uint64_t weight;
  if (!model_exists(grid, id, &weight)) return NULL;
  grid->leaves = realloc(grid->leaves, (grid->count + 1) * sizeof *grid->leaves);
  leaf *added = &grid->leaves[grid->count++];
  *added = (leaf){.is = {.id = id, .weight = weight, .origin = origin}, .owner = owner};
  for (int c = 0; c < GAB_CHILDREN_MAX; c++) added->is.sources[c] = GAB_NO_RANK;
  added->place = gab_block_id_place(&grid->setup->options.grid, id);
  added->level = added->place.level;
  return added;
}

static inline int by_leaf(const void *x, const void *y)
{
  const leaf *a = x, *b = y;
  return (a->is.id > b->is.id) - (a->is.id < b->is.id);
}

static inline void model_sort(model *grid)
{
  if (grid->count > 1) qsort(grid->leaves, grid->count, sizeof *grid->leaves, by_leaf);
  model_find_rows(grid);
}

static inline leaf *model_find(const model *grid, gab_block_id id)
{
  leaf key = {.is = {.id = id}};
  return grid->count > 0 ? bsearch(&key, grid->leaves, grid->count, sizeof key, by_leaf) : NULL;
}

/* Roots in the order of their index, an equal part of the places for each rank. */
static inline void model_start(model *grid, const proxy_setup *setup, gab_rank ranks)
{
  const int32_t *roots = setup->options.grid.roots;
  int64_t places = (int64_t)roots[0] * roots[1] * roots[2];
  *grid = (model){.setup = setup};
  for (int64_t i = 0; i < places; i++) {
    gab_block_place place = {
        0, {(int32_t)(i % roots[0]), (int32_t)(i / roots[0] % roots[1]), (int32_t)(i / roots[0] / roots[1])}};
    model_add(grid, gab_block_id_of(&setup->options.grid, place), (gab_rank)(i * ranks / places),
              GAB_ORIGIN_NONE);
  }
  model_sort(grid);
}

static inline void model_copy(model *to, const model *from)
{
  *to = *from;
  to->leaves = malloc((from->count + 1) * sizeof *to->leaves);
  for (size_t i = 0; i < from->count; i++) {
    to->leaves[i] = from->leaves[i];
    to->leaves[i].rows = NULL;
  }
  model_find_rows(to);
}

/* ------------------------------------------------------------------------------------------ refining */

static inline bool split_for_balance(const model *grid, int *change)
{
  for (size_t i = 0; i < grid->count; i++)
    for (size_t r = 0; r < grid->leaves[i].row_count; r++) {
      size_t n = grid->leaves[i].rows[r].leaf;
      if (change[i] > 0 || change[n] <= 0) continue;
      if (grid->leaves[n].level + 1 <= grid->leaves[i].level + 1) continue;
      change[i] = 1;
      return true;
    }
  return false;
}

#define MISSING SIZE_MAX

/* Family of leaf i, as indices by child. @return false if an existing child is absent */
static inline bool family_of(const model *grid, size_t i, size_t family[GAB_CHILDREN_MAX])
{
  int dimension = grid->setup->options.grid.dimension;
  for (size_t c = 0; c < (size_t)1 << dimension; c++) {
    gab_block_id id = grid->leaves[i].is.id >> dimension << dimension | c;
    const leaf *child = model_find(grid, id);
    if (!child && model_exists(grid, id, NULL)) return false;
    family[c] = child ? (size_t)(child - grid->leaves) : MISSING;
  }
  return true;
}

static inline bool is_first_of_family(const model *grid, size_t i)
{
  int dimension = grid->setup->options.grid.dimension;
  gab_block_id first = grid->leaves[i].is.id >> dimension << dimension;
  for (gab_block_id id = first; id < grid->leaves[i].is.id; id++)
    if (model_find(grid, id)) return false;
  return true;
}

/* A nonexistent place inside a split place. */
typedef struct hole {
  gab_block_id id;
  int level;
} hole;

typedef struct hole_list {
  hole *holes;
  size_t count;
} hole_list;

static inline int by_hole(const void *x, const void *y)
{
  const hole *a = x, *b = y;
  return (a->id > b->id) - (a->id < b->id);
}

static inline hole_list model_holes(const model *grid)
{
  hole_list list = {NULL, 0};
  int dimension = grid->setup->options.grid.dimension;
  for (size_t i = 0; i < grid->count; i++) {
    gab_block_id place = grid->leaves[i].is.id >> dimension;
    for (int level = grid->leaves[i].level; level > 0; level--, place >>= dimension)
      for (gab_block_id c = 0; c < (gab_block_id)1 << dimension; c++) {
        hole found = {place << dimension | c, level};
        if (model_exists(grid, found.id, NULL)) continue;
        if (list.count % 64 == 0) list.holes = realloc(list.holes, (list.count + 64) * sizeof found);
        list.holes[list.count++] = found;
      }
  }
  if (list.count > 1) qsort(list.holes, list.count, sizeof *list.holes, by_hole);
  size_t kept = 0;
  for (size_t i = 0; i < list.count; i++)
    if (kept == 0 || list.holes[kept - 1].id != list.holes[i].id) list.holes[kept++] = list.holes[i];
  list.count = kept;
  return list;
}

static inline bool places_touch(const model *grid, gab_block_id a, gab_block_id b)
{
  const gab_forest_options *options = &grid->setup->options;
  leaf place = {.place = gab_block_id_place(&options->grid, a)},
       other = {.place = gab_block_id_place(&options->grid, b)};
  place.level = place.place.level;
  other.level = other.place.level;
  gab_box box = model_box(grid, &place), beside = model_box(grid, &other);
  for (int axis = 0; axis < 3; axis++) {
    bool refines = axis < options->grid.dimension, touches = false;
    int64_t span = (int64_t)options->grid.roots[axis] << (refines ? grid->depth : 0);
    int64_t wraps = refines && options->periodic[axis];
    for (int64_t by = -wraps * span; by <= wraps * span; by += span)
      touches |= beside.lo[axis] + by <= box.hi[axis] && beside.hi[axis] + by >= box.lo[axis];
    if (!touches) return false;
  }
  return true;
}

/* A missing place limits the merge of a block at `level` that touches it (directly or through its own hole `id`): the
 * parent of the missing place may return. */
static inline bool holes_allow(const model *grid, const hole_list *list, gab_block_id id, int level)
{
  int dimension = grid->setup->options.grid.dimension;
  for (size_t h = 0; h < list->count; h++)
    if (list->holes[h].id >> dimension != id >> dimension && list->holes[h].level - 2 > level - 1 &&
        places_touch(grid, id, list->holes[h].id))
      return false;
  return true;
}

/* A merged block touches the same blocks as a missing child. */
static inline bool beyond_allows(const model *grid, const int *change, gab_block_id missing, int level)
{
  int dimension = grid->setup->options.grid.dimension;
  for (size_t n = 0; n < grid->count; n++) {
    const leaf *other = &grid->leaves[n];
    if (other->is.id >> dimension == missing >> dimension || !places_touch(grid, missing, other->is.id))
      continue;
    if (other->level + change[n] > level || other->level < level - 2) return false;
  }
  return true;
}

static inline bool may_merge(const model *grid, const hole_list *list, const int *change,
                             const gab_mark *marks, size_t i)
{
  size_t family[GAB_CHILDREN_MAX];
  int level = grid->leaves[i].level;
  if (!family_of(grid, i, family)) return false;
  for (size_t c = 0; c < (size_t)1 << grid->setup->options.grid.dimension; c++) {
    const gab_block_id first = grid->leaves[i].is.id >> grid->setup->options.grid.dimension
                                                            << grid->setup->options.grid.dimension;
    if (!holes_allow(grid, list, first | c, level)) return false;
    if (family[c] == MISSING) {
      if (!beyond_allows(grid, change, first | c, level)) return false;
      continue;
    }
    const leaf *child = &grid->leaves[family[c]];
    if (marks[family[c]] != GAB_MARK_COARSEN || change[family[c]] > 0) return false;
    for (size_t r = 0; r < child->row_count; r++) {
      size_t n = child->rows[r].leaf;
      if (grid->leaves[n].level + change[n] <= level) continue;
      return false;
    }
  }
  return true;
}

/* New level of every leaf. @param[out] change  -1, 0, 1 */
static inline void model_decide(const model *grid, const gab_mark *marks, int max_level, int *change)
{
  for (size_t i = 0; i < grid->count; i++)
    change[i] = marks[i] == GAB_MARK_REFINE && grid->leaves[i].level < max_level;
  while (split_for_balance(grid, change)) {}
  hole_list list = model_holes(grid);
  for (int level = grid->depth; level > 0; level--)
    for (size_t i = 0; i < grid->count; i++) {
      size_t family[GAB_CHILDREN_MAX];
      if (grid->leaves[i].level != level || change[i] < 0 || !may_merge(grid, &list, change, marks, i))
        continue;
      (void)family_of(grid, i, family);
      for (size_t c = 0; c < (size_t)1 << grid->setup->options.grid.dimension; c++)
        if (family[c] != MISSING) change[family[c]] = -1;
    }
  free(list.holes);
}

static inline void model_split(model *next, const model *grid, const leaf *parent)
{
  for (int c = 0; c < 1 << grid->setup->options.grid.dimension; c++) {
    gab_block_id id = gab_block_id_child(&grid->setup->options.grid, parent->is.id, c);
    leaf *child = model_add(next, id, parent->owner, GAB_ORIGIN_NONE);
    if (!child || parent->is.origin == GAB_ORIGIN_NONE) continue;
    bool whole = parent->is.origin == GAB_ORIGIN_SELF;
    child->is.origin = whole ? GAB_ORIGIN_PARENT : GAB_ORIGIN_SELF;
    child->is.sources[0] = parent->is.sources[whole ? 0 : c];
  }
}

static inline void model_merge(model *next, const model *grid, size_t first)
{
  size_t family[GAB_CHILDREN_MAX];
  const leaf *child = &grid->leaves[first];
  gab_block_id id = gab_block_id_parent(&grid->setup->options.grid, child->is.id);
  leaf *parent = model_add(next, id, child->owner, GAB_ORIGIN_NONE);
  if (!parent || child->is.origin == GAB_ORIGIN_NONE || !family_of(grid, first, family)) return;
  bool whole = child->is.origin == GAB_ORIGIN_PARENT;
  parent->is.origin = whole ? GAB_ORIGIN_SELF : GAB_ORIGIN_CHILDREN;
  if (whole) parent->is.sources[0] = child->is.sources[0];
  for (int c = 0; c < 1 << grid->setup->options.grid.dimension && !whole; c++)
    if (family[c] != MISSING) parent->is.sources[c] = grid->leaves[family[c]].is.sources[0];
}

/* @return false if the marks are refused, without a change */
static inline bool model_refine(model *grid, const gab_mark *marks, int max_level, gab_refine_report *report)
{
  int *change = calloc(grid->count + 1, sizeof *change);
  bool possible = true;
  model next = {.setup = grid->setup};
  *report = (gab_refine_report){0};
  model_decide(grid, marks, max_level, change);
  for (size_t i = 0; i < grid->count; i++) {
    const leaf *old = &grid->leaves[i];
    bool first = is_first_of_family(grid, i);
    possible &= !(change[i] > 0 && old->is.origin == GAB_ORIGIN_PARENT);
    possible &= !(change[i] < 0 && old->is.origin == GAB_ORIGIN_CHILDREN);
    report->split += change[i] > 0;
    report->merged += change[i] < 0 && first;
    report->forced += change[i] > 0 && marks[i] != GAB_MARK_REFINE;
    report->refused += marks[i] == GAB_MARK_COARSEN && change[i] >= 0 && old->level > 0;
    if (change[i] > 0) model_split(&next, grid, old);
    if (change[i] < 0 && first) model_merge(&next, grid, i);
    leaf *kept = change[i] == 0 ? model_add(&next, old->is.id, old->owner, old->is.origin) : NULL;
    if (kept) kept->is = old->is;
  }
  free(change);
  if (possible) {
    model_release(grid);
    *grid = next;
    model_sort(grid);
  } else {
    model_release(&next);
  }
  report->blocks = grid->count;
  return possible;
}

/* ------------------------------------------------------------------------------------------ consistency */

/* Leaves below a place; -1 if they do not cover it. */
static inline int64_t leaves_below(const model *grid, gab_block_id id)
{
  int level = gab_block_id_level(&grid->setup->options.grid, id);
  if (!model_exists(grid, id, NULL)) return 0;
  if (model_find(grid, id)) return 1;
  if (level >= grid->depth + 1) return -1;
  int64_t sum = 0;
  for (int c = 0; c < 1 << grid->setup->options.grid.dimension; c++) {
    gab_block_id child = gab_block_id_child(&grid->setup->options.grid, id, c);
    int64_t below = child == GAB_NO_BLOCK ? -1 : leaves_below(grid, child);
    if (below < 0) return -1;
    sum += below;
  }
  return sum;
}

/* Leaves cover the existing domain once, and levels of touching leaves differ by one at most. */
static inline bool model_is_sound(const model *grid)
{
  const int32_t *roots = grid->setup->options.grid.roots;
  int64_t sum = 0;
  for (int32_t z = 0; z < roots[2]; z++)
    for (int32_t y = 0; y < roots[1]; y++)
      for (int32_t x = 0; x < roots[0]; x++) {
        gab_block_id root = gab_block_id_of(&grid->setup->options.grid, (gab_block_place){0, {x, y, z}});
        int64_t below = leaves_below(grid, root);
        if (below < 0) return false;
        sum += below;
      }
  for (size_t i = 0; i < grid->count; i++)
    for (size_t r = 0; r < grid->leaves[i].row_count; r++)
      if (abs(grid->leaves[i].level - grid->leaves[grid->leaves[i].rows[r].leaf].level) > 1) return false;
  return sum == (int64_t)grid->count;
}

#endif
