/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/step/fused/fused_field_impl.h"

#include <string.h>

enum { FEWEST_BUCKETS = 256 };

int gab_fused_places(const gab_forest_options *forest, int ranks)
{
  const int64_t blocks = (int64_t)forest->grid.roots[0] * forest->grid.roots[1] * forest->grid.roots[2];
  const int64_t eighth = 1 + blocks / ranks / 8;
  const int64_t allowed = eighth > 1 ? eighth + eighth % 2 : 1; /* children come in pairs along x */
  int64_t places = (GAB_FUSED_CELLS + forest->cells[0] - 1) / forest->cells[0];
  if (places > GAB_FUSED_PLACES) places = GAB_FUSED_PLACES;
  if (places > allowed) places = allowed;
  return places > 1 ? (int)places : 1;
}

gab_field_shape gab_fused_shape(const gab_field_shape *block, int places)
{
  gab_field_shape shape = *block;
  shape.cells[0] = places * (block->cells[0] + 2) - 2;
  return shape;
}

/* ------------------------------------------------------------------------------------------ life */

gab_status gab_fused_fields_create(const gab_field_shape *shape, int places, gab_fused_fields **fused_fields)
{
  GAB_TRY(GAB_NEW(fused_fields, GAB_MEMORY_OTHER));
  **fused_fields = (gab_fused_fields){.shape = *shape, .columns = shape->cells[0] + 2};
  (*fused_fields)->cells = (shape->cells[0] + 2) / places - 2;
  const gab_status status = GAB_NEW_ARRAY(&(*fused_fields)->bucket, FEWEST_BUCKETS, GAB_MEMORY_OTHER);
  if (status != GAB_OK) gab_free(fused_fields);
  else (*fused_fields)->buckets = FEWEST_BUCKETS;
  return status;
}

static void drop_fused(gab_fused_field *gone)
{
  gab_field_destroy(&gone->field);
  gab_free(&gone->used);
  gab_free(&gone);
}

void gab_fused_fields_drop_empty(gab_fused_fields *home)
{
  size_t kept = 0;
  for (size_t i = 0; i < home->count; i++)
    if (home->list[i]->users > 0) {
      home->list[i]->index = kept;
      home->list[kept++] = home->list[i];
    } else drop_fused(home->list[i]);
  home->count = kept;
  home->empty = home->first_open = 0;
}

/* Frees everything, if the flow has gone and the last block too. */
static void free_if_empty(gab_fused_fields *fused_fields)
{
  if (!fused_fields->is_closed || fused_fields->empty < fused_fields->count) return;
  gab_fused_fields_drop_empty(fused_fields);
  gab_free(&fused_fields->bucket);
  gab_free(&fused_fields->list);
  gab_free(&fused_fields);
}

void gab_fused_fields_close(gab_fused_fields **fused_fields)
{
  if (!*fused_fields) return;
  (*fused_fields)->is_closed = true;
#pragma omp critical(gab_fused_fields)
  free_if_empty(*fused_fields);
  *fused_fields = NULL;
}

/* The widest free stretch, less two columns on each side where there is a block, one at an end of the fused field. */
static int32_t widest_gap(const gab_fused_fields *home, const gab_fused_field *in)
{
  int32_t widest = 0, first = -1; /* as if a block ended one column ahead of the fused field's first */
  for (int32_t column = 0; column <= home->columns; column++) {
    const bool is_end = column == home->columns;
    if (!is_end && !in->used[column]) continue;
    const int32_t capacity = (is_end ? column + 1 : column) - first - 4;
    if (capacity > widest) widest = capacity;
    first = column + 1;
  }
  return widest;
}

void gab_fused_cover(gab_fused_fields *home, gab_fused_field *in, int32_t column, gab_column as)
{
  in->covered += home->cells * ((as != GAB_COLUMN_FREE) - (in->used[column] != GAB_COLUMN_FREE));
  memset(in->used + column, as, (size_t)home->cells);
  in->capacity = widest_gap(home, in);
  if (in->index < home->first_open) home->first_open = in->index;
}

/* One block more in a fused field, or one less. */
void gab_fused_come(gab_fused_fields *home, gab_fused_field *in)
{
  if (in->users++ == 0) home->empty--;
}
void gab_fused_go(gab_fused_fields *home, gab_fused_field *from)
{
  if (--from->users > 0) return;
  home->empty++;
  if (home->empty > 1 + home->count / 8) gab_fused_fields_drop_empty(home);
}

gab_status gab_fused_fields_add(gab_fused_fields *home, gab_fused_field **added)
{
  GAB_TRY(gab_list_reserve(&home->list, home->count, sizeof *home->list));
  gab_fused_field *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  const gab_status status = GAB_NEW_ARRAY(&made->used, (size_t)home->columns, GAB_MEMORY_OTHER);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  made->capacity = home->columns - 2;
  made->index = home->count;
  home->empty++;
  home->list[home->count++] = made;
  *added = made;
  return GAB_OK;
}

gab_status gab_fused_make_field(const gab_fused_fields *home, gab_fused_field *in)
{
  return in->field ? GAB_OK : gab_field_create_unset(&home->shape, &in->field);
}

/* ------------------------------------------------------------------------------------------ places */

static size_t bucket_of(const gab_fused_fields *home, const gab_fused_key *key)
{
  const uint64_t mixed = (uint64_t)key->at[3] * UINT64_C(0x9E3779B97F4A7C15) +
                         (uint64_t)key->at[2] * UINT64_C(0xC2B2AE3D27D4EB4F) +
                         (uint64_t)key->at[1] * UINT64_C(0x165667B19E3779F9) +
                         (uint64_t)key->at[0] * UINT64_C(0x27D4EB2F165667C5);
  return (size_t)(mixed >> 24) & (home->buckets - 1);
}

/* Without capacity for a larger table the chains get longer. */
static void widen_table(gab_fused_fields *home)
{
  gab_fused_place **old = home->bucket;
  const size_t count = home->buckets;
  gab_fused_place **wider;
  if (GAB_NEW_ARRAY(&wider, 4 * count, GAB_MEMORY_OTHER) != GAB_OK) return;
  home->bucket = wider;
  home->buckets = 4 * count;
  for (size_t b = 0; b < count; b++)
    for (gab_fused_place *place = old[b], *next; place; place = next) {
      next = place->next;
      gab_fused_place **first = &home->bucket[bucket_of(home, &place->key)];
      place->next = *first;
      *first = place;
    }
  gab_free(&old);
}

/* Enters a place in the table, unless there is one of the same block that it is to replace. */
static void enter_place(gab_fused_fields *home, gab_fused_place *place)
{
  gab_fused_place **known = gab_fused_fields_place_of(home, &place->key);
  if (*known) return; /* it is to replace that one */
  *known = place;
  if (++home->places_known > 2 * home->buckets) widen_table(home);
}

/* Takes it out. */
static void take_out(gab_fused_fields *home, const gab_fused_place *place)
{
  gab_fused_place **known = gab_fused_fields_place_of(home, &place->key);
  if (*known != place) return;
  *known = place->next;
  home->places_known--;
}

gab_status gab_fused_fields_add_place(gab_fused_fields *home, const gab_fused_key *key, gab_fused_field *in,
                                      int32_t column, const gab_storage *now, gab_column as,
                                      gab_fused_place **made)
{
  GAB_TRY(GAB_NEW(made, GAB_MEMORY_OTHER));
  **made = (gab_fused_place){.home = home,
                             .in = in,
                             .column = column,
                             .key = *key,
                             .now = now,
                             .is_awaited = as == GAB_COLUMN_AWAITED};
  gab_fused_cover(home, in, column, as);
  gab_fused_come(home, in);
  enter_place(home, *made);
  home->awaited += (*made)->is_awaited;
  return GAB_OK;
}

void gab_fused_fields_remove_place(gab_fused_place **place)
{
  gab_fused_fields *home = (*place)->home;
  home->awaited -= (*place)->is_awaited;
  take_out(home, *place);
  gab_fused_cover(home, (*place)->in, (*place)->column, GAB_COLUMN_FREE);
  gab_fused_go(home, (*place)->in);
  gab_free(place);
  free_if_empty(home);
}

/* ------------------------------------------------------------------------------------------ capacity */

gab_fused_key gab_fused_key_of(const gab_lbm_block *block, const int32_t cells[3])
{
  gab_fused_key key = {
      {block->at->level, block->first[2] / cells[2], block->first[1] / cells[1], block->first[0] / cells[0]}};
  return key;
}

gab_fused_place **gab_fused_fields_place_of(gab_fused_fields *home, const gab_fused_key *key)
{
  gab_fused_place **place = &home->bucket[bucket_of(home, key)];
  while (*place && memcmp(&(*place)->key, key, sizeof *key) != 0) place = &(*place)->next;
  return place;
}

/* The one `distance` blocks away along x. */
static const gab_fused_place *neighbour(gab_fused_fields *home, const gab_fused_key *key, int distance)
{
  gab_fused_key other = *key;
  other.at[3] += distance;
  return *gab_fused_fields_place_of(home, &other);
}

static bool is_free(const gab_fused_fields *home, const gab_fused_field *in, int32_t first, int32_t last)
{
  if (first < 0) first = 0;
  for (int32_t column = first; column < last && column < home->columns; column++)
    if (in->used[column]) return false;
  return true;
}

/* Capacity for some columns, with two free ones on both sides. */
static bool find_gap(const gab_fused_fields *home, const gab_fused_field *in, int32_t width, int32_t *column)
{
  if (in->capacity < width) return false;
  for (int32_t at = 1; at + width + 1 <= home->columns; at++)
    if (is_free(home, in, at - 2, at + width + 2)) {
      *column = at;
      return true;
    }
  return false;
}

gab_status gab_fused_fields_find(gab_fused_fields *home, int blocks, gab_fused_field **in, int32_t *column)
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
  return gab_fused_fields_add(home, in);
}

bool gab_fused_fields_find_beside(gab_fused_fields *home, const gab_fused_key *key, gab_fused_field **in,
                                  int32_t *column, const gab_storage **now)
{
  const gab_fused_place *left = neighbour(home, key, -1), *right = neighbour(home, key, 1);
  const int32_t cells = home->cells;
  if (!left && !right) return false;
  const gab_fused_place *beside = left ? left : right;
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
