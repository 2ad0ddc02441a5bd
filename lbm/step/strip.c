#include "lbm/step/strip_impl.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_BUCKETS = 256, MOST_COLUMNS = 160 };

typedef struct strip {
  gab_field *field;
  size_t users;
  int32_t covered; /* columns, by the cells of blocks */
  int32_t room;    /* the widest pencil that still fits */
  uint8_t *used;   /* per column, ghosts included: covered by the cells of a block */
  size_t index;    /* in the list */
} strip;

/* Of a block on its level: the level, and its index along z, y, x. */
typedef struct block_key {
  int64_t at[4];
} block_key;

struct gab_strip_place {
  gab_strips *home;
  strip *in;
  int32_t column; /* of its first cell; column 0 is a ghost */
  block_key key;
  const gab_storage *now; /* of its block */
  gab_strip_place *next;  /* in its bucket */
};

struct gab_strips {
  gab_field_shape shape;
  int places;
  int32_t columns, cells; /* of a strip, with ghosts; of a block */
  strip **list;
  size_t count, empty; /* those in which no block lies: kept for those that come next */
  size_t first_open;   /* none before it has room for a block */
  gab_strip_place **bucket;
  size_t buckets, places_known;
  bool is_closed;
};

/* ------------------------------------------------------------------------------------------ widths */

int gab_strip_places(const gab_forest_options *forest, int workers)
{
  const int64_t blocks = (int64_t)forest->grid.roots[0] * forest->grid.roots[1] * forest->grid.roots[2];
  const int64_t each = workers > 0 ? blocks / workers : blocks;
  int bits = 0;
  while (each >> (bits + 1) > 0) ++bits;
  const int along = (bits + forest->grid.dimension - 1) / forest->grid.dimension;
  int places = 1;
  while (2 * places <= GAB_STRIP_PLACES && 2 * places <= 1 << along &&
         2 * places * forest->cells[0] <= MOST_COLUMNS)
    places *= 2;
  if (places > forest->grid.roots[0]) places = forest->grid.roots[0];
  return forest->cells[0] < 4 ? 1 : places;
}

gab_field_shape gab_strip_shape(const gab_field_shape *block, int places)
{
  gab_field_shape shape = *block;
  shape.cells[0] = places * (block->cells[0] + 2) - 2;
  return shape;
}

/* ------------------------------------------------------------------------------------------ life */

gab_status gab_strips_create(const gab_field_shape *shape, int places, gab_strips **strips)
{
  void *memory;
  GAB_TRY(gab_alloc(sizeof **strips, GAB_MEMORY_OTHER, &memory));
  *strips = memory;
  **strips = (gab_strips){.shape = *shape, .places = places, .columns = shape->cells[0] + 2};
  (*strips)->cells = (shape->cells[0] + 2) / places - 2;
  const gab_status status = gab_alloc(FEWEST_BUCKETS * sizeof(gab_strip_place *), GAB_MEMORY_OTHER, &memory);
  if (status != GAB_OK) gab_free(strips);
  else {
    (*strips)->bucket = memory;
    (*strips)->buckets = FEWEST_BUCKETS;
  }
  return status;
}

static void drop_strip(strip *gone)
{
  gab_field_destroy(&gone->field);
  gab_free(&gone->used);
  gab_free(&gone);
}

static void drop_empty(gab_strips *home)
{
  size_t kept = 0;
  for (size_t i = 0; i < home->count; ++i)
    if (home->list[i]->users > 0) {
      home->list[i]->index = kept;
      home->list[kept++] = home->list[i];
    } else drop_strip(home->list[i]);
  home->count = kept;
  home->empty = home->first_open = 0;
}

static void free_if_empty(gab_strips *strips)
{
  if (!strips->is_closed || strips->empty < strips->count) return;
  drop_empty(strips);
  gab_free(&strips->bucket);
  gab_free(&strips->list);
  gab_free(&strips);
}

void gab_strips_close(gab_strips **strips)
{
  if (!*strips) return;
  (*strips)->is_closed = true;
#pragma omp critical(gab_strips)
  free_if_empty(*strips);
  *strips = NULL;
}

/* The widest free stretch, less two columns on each side where there is a block, one at an end of the strip. */
static int32_t room_in(const gab_strips *home, const strip *in)
{
  int32_t widest = 0, first = -1; /* as if a block ended one column ahead of the strip's first */
  for (int32_t column = 0; column <= home->columns; ++column) {
    const bool is_end = column == home->columns;
    if (!is_end && !in->used[column]) continue;
    const int32_t room = (is_end ? column + 1 : column) - first - 4;
    if (room > widest) widest = room;
    first = column + 1;
  }
  return widest;
}

static void cover(gab_strips *home, strip *in, int32_t column, bool covers)
{
  memset(in->used + column, covers, (size_t)home->cells);
  in->covered += covers ? home->cells : -home->cells;
  in->room = room_in(home, in);
  if (in->index < home->first_open) home->first_open = in->index;
}

/* One block more in a strip, or one less. */
static void come(gab_strips *home, strip *in)
{
  if (in->users++ == 0) --home->empty;
}
static void go(gab_strips *home, strip *from)
{
  if (--from->users > 0) return;
  ++home->empty;
  if (home->empty > 1 + home->count / 8) drop_empty(home);
}

static gab_status add_strip(gab_strips *home, strip **added)
{
  void *list = home->list, *memory, *used;
  GAB_TRY(gab_list_room(&list, home->count, sizeof *home->list));
  home->list = list;
  GAB_TRY(gab_alloc(sizeof **added, GAB_MEMORY_OTHER, &memory));
  strip *made = memory;
  gab_status status = gab_field_create_unset(&home->shape, &made->field);
  if (status == GAB_OK) {
    status = gab_alloc((size_t)home->columns, GAB_MEMORY_OTHER, &used);
    made->used = status == GAB_OK ? used : NULL;
  }
  if (status != GAB_OK) {
    gab_field_destroy(&made->field);
    gab_free(&made);
    return status;
  }
  made->room = home->columns - 2;
  made->index = home->count;
  ++home->empty;
  home->list[home->count++] = made;
  *added = made;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ room */

static block_key key_of(const gab_lbm_block *block, const int32_t cells[3])
{
  block_key key = {
      {block->at->level, block->first[2] / cells[2], block->first[1] / cells[1], block->first[0] / cells[0]}};
  return key;
}

static size_t bucket_of(const gab_strips *home, const block_key *key)
{
  const uint64_t mixed = (uint64_t)key->at[3] * UINT64_C(0x9E3779B97F4A7C15) +
                         (uint64_t)key->at[2] * UINT64_C(0xC2B2AE3D27D4EB4F) +
                         (uint64_t)key->at[1] * UINT64_C(0x165667B19E3779F9) +
                         (uint64_t)key->at[0] * UINT64_C(0x27D4EB2F165667C5);
  return (size_t)(mixed >> 24) & (home->buckets - 1);
}

static gab_strip_place **place_of(gab_strips *home, const block_key *key)
{
  gab_strip_place **place = &home->bucket[bucket_of(home, key)];
  while (*place && memcmp(&(*place)->key, key, sizeof *key) != 0) place = &(*place)->next;
  return place;
}

/* Without room for a larger table the chains get longer. */
static void widen_table(gab_strips *home)
{
  void *memory;
  gab_strip_place **old = home->bucket;
  const size_t count = home->buckets;
  if (gab_alloc(4 * count * sizeof *old, GAB_MEMORY_OTHER, &memory) != GAB_OK) return;
  home->bucket = memory;
  home->buckets = 4 * count;
  for (size_t b = 0; b < count; ++b)
    for (gab_strip_place *place = old[b], *next; place; place = next) {
      next = place->next;
      gab_strip_place **first = &home->bucket[bucket_of(home, &place->key)];
      place->next = *first;
      *first = place;
    }
  gab_free(&old);
}

static void know(gab_strips *home, gab_strip_place *place)
{
  gab_strip_place **known = place_of(home, &place->key);
  if (*known) return; /* it is to replace that one */
  *known = place;
  if (++home->places_known > 2 * home->buckets) widen_table(home);
}

static void forget(gab_strips *home, const gab_strip_place *place)
{
  gab_strip_place **known = place_of(home, &place->key);
  if (*known != place) return;
  *known = place->next;
  --home->places_known;
}

/* The one `distance` blocks away along x, if both can be in one pencil. */
static const gab_strip_place *neighbour(gab_strips *home, const block_key *key, int distance)
{
  block_key other = *key;
  other.at[3] += distance;
  if (other.at[3] < 0 || other.at[3] / home->places != key->at[3] / home->places) return NULL;
  return *place_of(home, &other);
}

static bool is_free(const gab_strips *home, const strip *in, int32_t first, int32_t last)
{
  if (first < 0) first = 0;
  for (int32_t column = first; column < last && column < home->columns; ++column)
    if (in->used[column]) return false;
  return true;
}

/* Room for some columns, with two free ones on both sides. */
static bool find_room(const gab_strips *home, const strip *in, int32_t width, int32_t *column)
{
  if (in->room < width) return false;
  for (int32_t at = 1; at + width + 1 <= home->columns; ++at)
    if (is_free(home, in, at - 2, at + width + 2)) {
      *column = at;
      return true;
    }
  return false;
}

/* @param[in] but  not this one, and none with less in it; NULL: any */
static bool find_open_strip(gab_strips *home, int32_t width, const strip *but, strip **in, int32_t *column)
{
  while (home->first_open < home->count && home->list[home->first_open]->room < home->cells)
    ++home->first_open;
  for (size_t i = home->first_open; i < home->count; ++i) {
    strip *open = home->list[i];
    if ((but && (open == but || open->covered < but->covered)) || !find_room(home, open, width, column))
      continue;
    *in = open;
    return true;
  }
  return false;
}

static gab_status find_strip(gab_strips *home, int32_t width, strip **in, int32_t *column)
{
  if (find_open_strip(home, width, NULL, in, column)) return GAB_OK;
  *column = 1;
  return add_strip(home, in);
}

/* Behind the neighbour on the left, or ahead of that on the right, or between the two. */
static bool find_beside(gab_strips *home, const block_key *key, strip **in, int32_t *column,
                        const gab_storage **now)
{
  const gab_strip_place *left = neighbour(home, key, -1), *right = neighbour(home, key, 1);
  const int32_t cells = home->cells;
  if (!left && !right) return false;
  const gab_strip_place *beside = left ? left : right;
  const int32_t at = left ? left->column + cells : right->column - cells;
  const bool joins =
      left && right && right->in == left->in && right->column == at + cells && right->now == left->now;
  if (at < 1 || at + cells + 1 > home->columns) return false;
  if (!is_free(home, beside->in, left ? at : at - 2, at + cells + (left && !joins ? 2 : 0))) return false;
  *in = beside->in;
  *column = at;
  *now = beside->now;
  return true;
}

/* ------------------------------------------------------------------------------------------ places */

/* Its own field is a view of the strip from there on. */
static void set_view(const gab_strip_place *place, const gab_field_shape *shape, gab_field *view)
{
  const gab_field *whole = place->in->field;
  const size_t skipped = (size_t)place->column - 1;
  *view = (gab_field){.shape = *shape, .map = whole->map};
  view->map.elements = whole->map.elements - skipped;
  view->data = (unsigned char *)whole->data + skipped * gab_precision_bytes(shape->precision);
}

static gab_status settle(gab_strips *home, gab_lbm_block *block, const block_key *key, strip *in,
                         int32_t column)
{
  void *memory, *view;
  gab_status status = gab_alloc(sizeof(gab_strip_place), GAB_MEMORY_OTHER, &memory);
  if (status == GAB_OK) {
    status = gab_alloc(sizeof(gab_field), GAB_MEMORY_FIELD, &view);
    if (status != GAB_OK) gab_free(&memory);
  }
  if (status != GAB_OK) return status;
  block->src = view;
  block->in_strip = memory;
  *block->in_strip =
      (gab_strip_place){.home = home, .in = in, .column = column, .key = *key, .now = block->now};
  cover(home, in, column, true);
  come(home, in);
  know(home, block->in_strip);
  return GAB_OK;
}

static gab_status take(gab_strips *home, const gab_lbm_model *model, gab_lbm_block *block)
{
  const block_key key = key_of(block, model->cells);
  strip *in = NULL;
  int32_t column = 0;
  block->now = &model->storage[0];
  const bool is_second = *place_of(home, &key) != NULL; /* one that is to replace the other */
  if (is_second || !find_beside(home, &key, &in, &column, &block->now))
    GAB_TRY(find_strip(home, home->cells, &in, &column));
  GAB_TRY(settle(home, block, &key, in, column));
  set_view(block->in_strip, &model->shape, block->src);
  gab_strip_clear_solid(model, block); /* no other thread may take the place beside it meanwhile */
  return GAB_OK;
}

gab_status gab_strip_take(const gab_lbm_model *model, gab_lbm_block *block)
{
  gab_status status;
#pragma omp critical(gab_strips)
  status = take(model->strips, model, block);
  return status;
}

static void give_up(gab_strip_place *place)
{
  gab_strips *home = place->home;
  forget(home, place);
  cover(home, place->in, place->column, false);
  go(home, place->in);
  gab_free(&place);
  free_if_empty(home);
}

void gab_strip_leave(gab_lbm_block *block)
{
  if (!block->in_strip) return;
  gab_free(&block->src); /* the view; the data is the strip's */
#pragma omp critical(gab_strips)
  give_up(block->in_strip);
  block->in_strip = NULL;
}

void gab_strip_turn_over(gab_lbm_block *block)
{
  if (block->in_strip) block->in_strip->now = block->now;
}

/* ------------------------------------------------------------------------------------------ solid cells */

static void clear_cells(const gab_lbm_model *model, gab_lbm_block *block, int32_t first, int32_t last,
                        int32_t y, int32_t z)
{
  const size_t each = gab_precision_bytes(model->options.precision);
  if (last <= first) return;
  const size_t start = gab_field_index(&model->map, first, y, z, 0);
  for (int q = 0; q < model->lattice->q; ++q)
    memset((unsigned char *)block->src->data + gab_place(start, block->now->sent[q]) * each, 0,
           (size_t)(last - first) * each);
}

/* What ghosts from column x on send into the block in direction q, in a row of it or beside. */
static void clear_arrivals(const gab_lbm_model *model, gab_lbm_block *block, int q, int32_t first,
                           int32_t last, int32_t y, int32_t z)
{
  const size_t each = gab_precision_bytes(model->options.precision);
  const size_t start = gab_field_index(&model->map, first, y, z, 0);
  memset((unsigned char *)block->src->data + gab_place(start, block->now->sent[q]) * each, 0,
         (size_t)(last - first) * each);
}

static bool is_inside(const gab_lbm_model *model, int axis, int32_t at)
{
  return at >= 0 && at < model->cells[axis];
}

/* What a solid cell sends has a place in each of the two states. In the other one it may be that of a ghost outside of
 * the domain, or in a block of another level, which nobody fills. Cells of a neighbour in the strip are no ghosts: what
 * they have sent is its state. */
static void clear_ghosts(const gab_lbm_model *model, gab_lbm_block *block)
{
  const int32_t *n = model->cells, *g = model->shape.ghosts, width = n[0];
  const uint8_t *used = block->in_strip->in->used + block->in_strip->column;
  for (int q = 1; q < model->lattice->q; ++q) {
    const int8_t *c = model->lattice->c[q];
    for (int32_t z = -g[2]; z < n[2] + g[2]; ++z)
      for (int32_t y = -g[1]; y < n[1] + g[1]; ++y) {
        if (!is_inside(model, 1, y + c[1]) || !is_inside(model, 2, z + c[2])) continue;
        if (!is_inside(model, 1, y) || !is_inside(model, 2, z))
          clear_arrivals(model, block, q, -c[0], width - c[0], y, z);
        else if (c[0] > 0 && !used[-1]) clear_arrivals(model, block, q, -1, 0, y, z);
        else if (c[0] < 0 && !used[width]) clear_arrivals(model, block, q, width, width + 1, y, z);
      }
  }
}

void gab_strip_clear_solid(const gab_lbm_model *model, gab_lbm_block *block)
{
  size_t k = 0;
  if (block->fluid_cells == gab_lbm_cells_of(model)) return;
  clear_ghosts(model, block);
  for (int32_t z = 0; z < model->cells[2]; ++z)
    for (int32_t y = 0; y < model->cells[1]; ++y) {
      int32_t x = 0;
      for (; k < block->run_count && block->runs[k].y == y && block->runs[k].z == z; ++k) {
        clear_cells(model, block, x, block->runs[k].x, y, z);
        x = block->runs[k].x + block->runs[k].length;
      }
      clear_cells(model, block, x, model->cells[0], y, z);
    }
}

/* ------------------------------------------------------------------------------------------ packing */

static bool follows(const gab_lbm_block *a, const gab_lbm_block *b)
{
  if (a->in_strip->in != b->in_strip->in) return false;
  return b->in_strip->column == a->in_strip->column + a->in_strip->home->cells && a->now == b->now &&
         memcmp(a->in_strip->key.at, b->in_strip->key.at, 3 * sizeof(int64_t)) == 0 &&
         b->in_strip->key.at[3] == a->in_strip->key.at[3] + 1;
}

static int in_rows(const void *a, const void *b)
{
  const gab_lbm_block *x = *(gab_lbm_block *const *)a, *y = *(gab_lbm_block *const *)b;
  for (int i = 0; i < 4; ++i)
    if (x->in_strip->key.at[i] != y->in_strip->key.at[i])
      return x->in_strip->key.at[i] < y->in_strip->key.at[i] ? -1 : 1;
  return 0;
}

/* Whether b belongs behind a. */
static bool belongs(const gab_lbm_block *a, const gab_lbm_block *b)
{
  const int64_t *x = a->in_strip->key.at, *y = b->in_strip->key.at;
  return memcmp(x, y, 3 * sizeof *x) == 0 && y[3] == x[3] + 1 &&
         y[3] / a->in_strip->home->places == x[3] / a->in_strip->home->places;
}

/* What the fluid cells have sent, into another view and state. */
static void copy_state(const gab_lbm_model *model, const gab_lbm_block *from, const gab_field *to,
                       const gab_storage *state)
{
  const size_t each = gab_precision_bytes(model->options.precision);
  for (int q = 0; q < model->lattice->q; ++q)
    for (size_t k = 0; k < from->run_count; ++k) {
      const gab_run *run = &from->runs[k];
      memcpy((unsigned char *)to->data + gab_place(run->start, state->sent[q]) * each,
             (const unsigned char *)from->src->data + gab_place(run->start, from->now->sent[q]) * each,
             (size_t)run->length * each);
    }
}

static void move_to(const gab_lbm_model *model, gab_lbm_block *block, strip *in, int32_t column,
                    const gab_storage *state)
{
  gab_strip_place *place = block->in_strip;
  strip *left = place->in;
  gab_field view;
  cover(place->home, left, place->column, false);
  place->in = in;
  place->column = column;
  cover(place->home, in, column, true);
  come(place->home, in);
  set_view(place, &model->shape, &view);
  copy_state(model, block, &view, state);
  *block->src = view;
  block->now = place->now = state;
  gab_strip_clear_solid(model, block);
  go(place->home, left);
}

/* Blocks that belong behind each other, ascending. */
static gab_status pack_pencil(const gab_lbm_model *model, gab_lbm_block **blocks, size_t count)
{
  bool is_packed = true;
  for (size_t i = 1; i < count; ++i) is_packed = is_packed && follows(blocks[i - 1], blocks[i]);
  if (is_packed) return GAB_OK;
  gab_strips *home = model->strips;
  strip *in;
  int32_t column;
  GAB_TRY(find_strip(home, (int32_t)count * home->cells, &in, &column));
  const gab_storage *state = blocks[0]->now;
  for (size_t i = 0; i < count; ++i) move_to(model, blocks[i], in, column + (int32_t)i * home->cells, state);
  return GAB_OK;
}

/* All blocks in strips, row by row. @param[out] blocks  owned by the caller */
static gab_status list_rows(const gab_lbm *lbm, gab_lbm_block ***blocks, size_t *count)
{
  size_t all, kept = 0;
  GAB_TRY(gab_lbm_list_blocks(lbm, -1, blocks, &all));
  for (size_t i = 0; i < all; ++i) {
    (*blocks)[i]->left = (*blocks)[i]->right = NULL;
    if ((*blocks)[i]->in_strip) (*blocks)[kept++] = (*blocks)[i];
  }
  if (kept > 1) qsort(*blocks, kept, sizeof **blocks, in_rows);
  *count = kept;
  return GAB_OK;
}

static void link_rows(gab_lbm_block *const *blocks, size_t count)
{
  for (size_t i = 1; i < count; ++i)
    if (follows(blocks[i - 1], blocks[i])) {
      blocks[i - 1]->right = blocks[i];
      blocks[i]->left = blocks[i - 1];
    }
}

/* Fills strips that have some room from those that have more. */
static void fill_up(const gab_lbm_model *model, gab_lbm_block **blocks, size_t count)
{
  gab_strips *home = model->strips;
  strip *in, *from = blocks[0]->in_strip->in;
  int32_t column;
  if (!find_open_strip(home, (int32_t)count * home->cells, from, &in, &column)) return;
  for (size_t i = 0; i < count; ++i)
    move_to(model, blocks[i], in, column + (int32_t)i * home->cells, blocks[i]->now);
}

static bool is_wasteful(const gab_strips *home)
{
  int64_t covered = 0;
  for (size_t i = 0; i < home->count; ++i) covered += home->list[i]->covered;
  const int64_t needed = covered + 2 * covered / home->cells;
  return 2 * (int64_t)home->count * home->columns > 3 * needed + 2 * home->columns;
}

gab_status gab_strips_link(gab_lbm *lbm)
{
  gab_lbm_block **blocks;
  size_t count;
  if (!lbm->model.strips) return GAB_OK;
  if (is_wasteful(lbm->model.strips)) return gab_strips_pack(lbm);
  GAB_TRY(list_rows(lbm, &blocks, &count));
  link_rows(blocks, count);
  gab_free(&blocks);
  return GAB_OK;
}

gab_status gab_strips_pack(gab_lbm *lbm)
{
  gab_lbm_block **blocks;
  size_t count;
  gab_status status = GAB_OK;
  if (!lbm->model.strips) return GAB_OK;
  GAB_TRY(list_rows(lbm, &blocks, &count));
  for (size_t first = 0, last; status == GAB_OK && first < count; first = last) {
    for (last = first + 1; last < count && belongs(blocks[last - 1], blocks[last]); ++last) continue;
    status = pack_pencil(&lbm->model, blocks + first, last - first);
  }
  const bool fills_up = is_wasteful(lbm->model.strips);
  for (size_t first = 0, last; status == GAB_OK && fills_up && first < count; first = last) {
    for (last = first + 1; last < count && follows(blocks[last - 1], blocks[last]); ++last) continue;
    fill_up(&lbm->model, blocks + first, last - first);
  }
  if (fills_up) drop_empty(lbm->model.strips);
  link_rows(blocks, count);
  gab_free(&blocks);
  return status;
}
