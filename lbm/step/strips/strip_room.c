#include "lbm/step/strips/strip_room_impl.h"

#include <string.h>

enum { FEWEST_BUCKETS = 256 };

int gab_strip_places(const gab_forest_options *forest, int ranks)
{
  const int64_t blocks = (int64_t)forest->grid.roots[0] * forest->grid.roots[1] * forest->grid.roots[2];
  const int64_t eighth = 1 + blocks / ranks / 8;
  const int64_t allowed = eighth > 1 ? eighth + eighth % 2 : 1; /* children come in pairs along x */
  int64_t places = (GAB_STRIP_CELLS + forest->cells[0] - 1) / forest->cells[0];
  if (places > GAB_STRIP_PLACES) places = GAB_STRIP_PLACES;
  if (places > allowed) places = allowed;
  return places > 1 ? (int)places : 1;
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
  **strips = (gab_strips){.shape = *shape, .columns = shape->cells[0] + 2};
  (*strips)->cells = (shape->cells[0] + 2) / places - 2;
  const gab_status status = gab_alloc(FEWEST_BUCKETS * sizeof(gab_strip_place *), GAB_MEMORY_OTHER, &memory);
  if (status != GAB_OK) gab_free(strips);
  else {
    (*strips)->bucket = memory;
    (*strips)->buckets = FEWEST_BUCKETS;
  }
  return status;
}

static void drop_strip(gab_strip *gone)
{
  gab_field_destroy(&gone->field);
  gab_free(&gone->used);
  gab_free(&gone);
}

void gab_strips_drop_empty(gab_strips *home)
{
  size_t kept = 0;
  for (size_t i = 0; i < home->count; i++)
    if (home->list[i]->users > 0) {
      home->list[i]->index = kept;
      home->list[kept++] = home->list[i];
    } else drop_strip(home->list[i]);
  home->count = kept;
  home->empty = home->first_open = 0;
}

/* Frees everything, if the flow has gone and the last block too. */
static void free_if_empty(gab_strips *strips)
{
  if (!strips->is_closed || strips->empty < strips->count) return;
  gab_strips_drop_empty(strips);
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
static int32_t widest_gap(const gab_strips *home, const gab_strip *in)
{
  int32_t widest = 0, first = -1; /* as if a block ended one column ahead of the strip's first */
  for (int32_t column = 0; column <= home->columns; column++) {
    const bool is_end = column == home->columns;
    if (!is_end && !in->used[column]) continue;
    const int32_t capacity = (is_end ? column + 1 : column) - first - 4;
    if (capacity > widest) widest = capacity;
    first = column + 1;
  }
  return widest;
}

void gab_strip_cover(gab_strips *home, gab_strip *in, int32_t column, gab_column as)
{
  in->covered += home->cells * ((as != GAB_COLUMN_FREE) - (in->used[column] != GAB_COLUMN_FREE));
  memset(in->used + column, as, (size_t)home->cells);
  in->capacity = widest_gap(home, in);
  if (in->index < home->first_open) home->first_open = in->index;
}

/* One block more in a strip, or one less. */
void gab_strip_come(gab_strips *home, gab_strip *in)
{
  if (in->users++ == 0) home->empty--;
}
void gab_strip_go(gab_strips *home, gab_strip *from)
{
  if (--from->users > 0) return;
  home->empty++;
  if (home->empty > 1 + home->count / 8) gab_strips_drop_empty(home);
}

gab_status gab_strips_add(gab_strips *home, gab_strip **added)
{
  void *list = home->list, *memory, *used;
  GAB_TRY(gab_list_reserve(&list, home->count, sizeof *home->list));
  home->list = list;
  GAB_TRY(gab_alloc(sizeof **added, GAB_MEMORY_OTHER, &memory));
  gab_strip *made = memory;
  const gab_status status = gab_alloc((size_t)home->columns, GAB_MEMORY_OTHER, &used);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  made->used = used;
  made->capacity = home->columns - 2;
  made->index = home->count;
  home->empty++;
  home->list[home->count++] = made;
  *added = made;
  return GAB_OK;
}

gab_status gab_strip_make_field(const gab_strips *home, gab_strip *in)
{
  return in->field ? GAB_OK : gab_field_create_unset(&home->shape, &in->field);
}

/* ------------------------------------------------------------------------------------------ places */

static size_t bucket_of(const gab_strips *home, const gab_strip_key *key)
{
  const uint64_t mixed = (uint64_t)key->at[3] * UINT64_C(0x9E3779B97F4A7C15) +
                         (uint64_t)key->at[2] * UINT64_C(0xC2B2AE3D27D4EB4F) +
                         (uint64_t)key->at[1] * UINT64_C(0x165667B19E3779F9) +
                         (uint64_t)key->at[0] * UINT64_C(0x27D4EB2F165667C5);
  return (size_t)(mixed >> 24) & (home->buckets - 1);
}

/* Without capacity for a larger table the chains get longer. */
static void widen_table(gab_strips *home)
{
  void *memory;
  gab_strip_place **old = home->bucket;
  const size_t count = home->buckets;
  if (gab_alloc(4 * count * sizeof *old, GAB_MEMORY_OTHER, &memory) != GAB_OK) return;
  home->bucket = memory;
  home->buckets = 4 * count;
  for (size_t b = 0; b < count; b++)
    for (gab_strip_place *place = old[b], *next; place; place = next) {
      next = place->next;
      gab_strip_place **first = &home->bucket[bucket_of(home, &place->key)];
      place->next = *first;
      *first = place;
    }
  gab_free(&old);
}

/* Enters a place in the table, unless there is one of the same block that it is to replace. */
static void enter_place(gab_strips *home, gab_strip_place *place)
{
  gab_strip_place **known = gab_strips_place_of(home, &place->key);
  if (*known) return; /* it is to replace that one */
  *known = place;
  if (++home->places_known > 2 * home->buckets) widen_table(home);
}

/* Takes it out. */
static void take_out(gab_strips *home, const gab_strip_place *place)
{
  gab_strip_place **known = gab_strips_place_of(home, &place->key);
  if (*known != place) return;
  *known = place->next;
  home->places_known--;
}

gab_status gab_strips_add_place(gab_strips *home, const gab_strip_key *key, gab_strip *in, int32_t column,
                                const gab_storage *now, gab_column as, gab_strip_place **made)
{
  void *memory;
  GAB_TRY(gab_alloc(sizeof **made, GAB_MEMORY_OTHER, &memory));
  *made = memory;
  **made = (gab_strip_place){.home = home,
                             .in = in,
                             .column = column,
                             .key = *key,
                             .now = now,
                             .is_awaited = as == GAB_COLUMN_AWAITED};
  gab_strip_cover(home, in, column, as);
  gab_strip_come(home, in);
  enter_place(home, *made);
  home->awaited += (*made)->is_awaited;
  return GAB_OK;
}

void gab_strips_remove_place(gab_strip_place **place)
{
  gab_strips *home = (*place)->home;
  home->awaited -= (*place)->is_awaited;
  take_out(home, *place);
  gab_strip_cover(home, (*place)->in, (*place)->column, GAB_COLUMN_FREE);
  gab_strip_go(home, (*place)->in);
  gab_free(place);
  free_if_empty(home);
}

/* ------------------------------------------------------------------------------------------ capacity */

gab_strip_key gab_strip_key_of(const gab_lbm_block *block, const int32_t cells[3])
{
  gab_strip_key key = {
      {block->at->level, block->first[2] / cells[2], block->first[1] / cells[1], block->first[0] / cells[0]}};
  return key;
}

gab_strip_place **gab_strips_place_of(gab_strips *home, const gab_strip_key *key)
{
  gab_strip_place **place = &home->bucket[bucket_of(home, key)];
  while (*place && memcmp(&(*place)->key, key, sizeof *key) != 0) place = &(*place)->next;
  return place;
}

/* The one `distance` blocks away along x. */
static const gab_strip_place *neighbour(gab_strips *home, const gab_strip_key *key, int distance)
{
  gab_strip_key other = *key;
  other.at[3] += distance;
  return *gab_strips_place_of(home, &other);
}

static bool is_free(const gab_strips *home, const gab_strip *in, int32_t first, int32_t last)
{
  if (first < 0) first = 0;
  for (int32_t column = first; column < last && column < home->columns; column++)
    if (in->used[column]) return false;
  return true;
}

/* Capacity for some columns, with two free ones on both sides. */
static bool find_gap(const gab_strips *home, const gab_strip *in, int32_t width, int32_t *column)
{
  if (in->capacity < width) return false;
  for (int32_t at = 1; at + width + 1 <= home->columns; at++)
    if (is_free(home, in, at - 2, at + width + 2)) {
      *column = at;
      return true;
    }
  return false;
}

gab_status gab_strips_find(gab_strips *home, int blocks, gab_strip **in, int32_t *column)
{
  while (home->first_open < home->count && home->list[home->first_open]->capacity < home->cells)
    home->first_open++;
  for (; blocks > 0; blocks /= 2)
    for (size_t i = home->first_open; i < home->count; i++)
      if (find_gap(home, home->list[i], blocks * home->cells, column)) {
        *in = home->list[i];
        return GAB_OK;
      }
  *column = 1;
  return gab_strips_add(home, in);
}

bool gab_strips_find_beside(gab_strips *home, const gab_strip_key *key, gab_strip **in, int32_t *column,
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
