/* SPDX-License-Identifier: Apache-2.0 */
#include "field/field.h"

#include <string.h>
#include <sys/mman.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_GHOSTS = 8 };

static ptrdiff_t round_up(ptrdiff_t value, ptrdiff_t unit) { return (value + unit - 1) / unit * unit; }

/* Strides are products of what is asked for. Padding makes a row longer by an eighth or a cache line at most,
 * and adds some lines to a component: with a factor of 16 there is capacity for all of it. */
static gab_status check_size(const gab_field_shape *shape)
{
  double bytes = 16.0 * shape->components * (double)gab_precision_bytes(shape->precision);
  for (int axis = 0; axis < 3; axis++) bytes *= (double)shape->cells[axis] + 2.0 * shape->ghosts[axis];
  if (bytes < (double)PTRDIFF_MAX) return GAB_OK;
  GAB_FAIL(GAB_ERR_ARGUMENT,
           "a field of %" PRId32 " x %" PRId32 " x %" PRId32
           " cells of %d components is larger than any memory",
           shape->cells[0], shape->cells[1], shape->cells[2], shape->components);
}

static gab_status check_shape(const gab_field_shape *shape)
{
  for (int axis = 0; axis < 3; axis++)
    if (shape->cells[axis] < 1 || shape->ghosts[axis] < 0 || shape->ghosts[axis] > MOST_GHOSTS)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "a field cannot have %" PRId32 " cells and %" PRId32 " ghost layers along axis %d",
               shape->cells[axis], shape->ghosts[axis], axis);
  if (shape->components < 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a field cannot have %d components", shape->components);
  if ((shape->layout != GAB_LAYOUT_SOA && shape->layout != GAB_LAYOUT_AOS) ||
      (shape->precision != GAB_PRECISION_DOUBLE && shape->precision != GAB_PRECISION_FLOAT))
    GAB_FAIL(GAB_ERR_ARGUMENT, "a field cannot have layout %d and precision %d", (int)shape->layout,
             (int)shape->precision);
  return check_size(shape);
}

/* Full cache lines, unless they would be more than an eighth of padding: short rows then do better to share
 * lines. */
static ptrdiff_t row_stride(ptrdiff_t values, ptrdiff_t line)
{
  ptrdiff_t padded = round_up(values, line);
  return 8 * (padded - values) <= values ? padded : values;
}

gab_status gab_field_map_of(const gab_field_shape *shape, gab_field_map *map)
{
  GAB_TRY(check_shape(shape));
  const int32_t *cells = shape->cells, *ghosts = shape->ghosts;
  ptrdiff_t line = (ptrdiff_t)(GAB_ALIGNMENT / gab_precision_bytes(shape->precision));
  bool soa = shape->layout == GAB_LAYOUT_SOA;
  ptrdiff_t width = soa ? 1 : shape->components;
  map->stride[0] = width;
  map->stride[1] = row_stride(((ptrdiff_t)cells[0] + 2 * ghosts[0]) * width, line);
  map->stride[2] = map->stride[1] * ((ptrdiff_t)cells[1] + 2 * ghosts[1]);
  ptrdiff_t before = ghosts[1] * map->stride[1] + ghosts[2] * map->stride[2];
  map->origin = round_up(ghosts[0] * width + before, line);
  /* The lead stands before the first row only: the last row then needs as much behind it. */
  ptrdiff_t lead = map->origin - before;
  ptrdiff_t lines = (map->stride[2] * ((ptrdiff_t)cells[2] + 2 * ghosts[2]) + lead + line - 1) / line;
  if (soa && lines % 2 == 0) lines++;
  map->component_stride = soa ? lines * line : 1;
  map->elements = (size_t)(lines * line) * (size_t)(soa ? shape->components : 1);
  return GAB_OK;
}

/* A sweep over many components, and layers across x even more, touch a new page every few rows: with huge
 * pages the translations fit into the processor. Only what a large field fills completely is asked for; a
 * system that has none goes on without. */
static void prefer_huge_pages(void *data, size_t bytes)
{
#ifdef MADV_HUGEPAGE
  const uintptr_t huge = (uintptr_t)1 << 21;
  uintptr_t first = ((uintptr_t)data + huge - 1) / huge * huge,
            last = ((uintptr_t)data + bytes) / huge * huge;
  if (last > first) (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

/* Each thread touches the layers across the last axis that are its share of a sweep, so that they lie near
 * it. Not for small fields, nor where blocks are made side by side by several threads: each is then swept by
 * the one that makes it. The memory is zeroed already, or may hold anything. */
static bool is_touched_by_all(const gab_field_shape *shape, const gab_field_map *map)
{
#ifdef _OPENMP
  enum { LEAST_BYTES = 4 << 20 };
  return map->elements * gab_precision_bytes(shape->precision) >= LEAST_BYTES && !omp_in_parallel();
#else
  (void)shape;
  (void)map;
  return false;
#endif
}

static void touch_first(const gab_field *field)
{
#ifdef _OPENMP
  enum { PAGE = 4096 };
  const gab_field_shape *shape = &field->shape;
  const ptrdiff_t each = (ptrdiff_t)gab_precision_bytes(shape->precision);
  const int axis = shape->cells[2] > 1 ? 2 : 1, layers = shape->cells[axis] + 2 * shape->ghosts[axis];
  if (!is_touched_by_all(shape, &field->map)) return;
  const bool soa = shape->layout == GAB_LAYOUT_SOA;
  const ptrdiff_t bytes = field->map.stride[axis] * each;
#pragma omp parallel for schedule(static)
  for (int layer = 0; layer < layers; layer++)
    for (int c = 0; c < (soa ? shape->components : 1); c++) {
      volatile unsigned char *first =
          (unsigned char *)field->data + c * field->map.component_stride * each + layer * bytes;
      for (ptrdiff_t at = 0; at < bytes; at += PAGE) first[at] = 0;
    }
#else
  (void)field;
#endif
}

static gab_status make(const gab_field_shape *shape, bool zeroed, gab_field **field)
{
  *field = NULL;
  gab_field_map map;
  GAB_TRY(gab_field_map_of(shape, &map));
  void *memory, *data = NULL;
  GAB_TRY(gab_alloc(sizeof(gab_field), GAB_MEMORY_FIELD, &memory));
  size_t bytes = map.elements * gab_precision_bytes(shape->precision);
  gab_status status =
      zeroed ? gab_alloc(bytes, GAB_MEMORY_FIELD, &data) : gab_realloc(bytes, GAB_MEMORY_FIELD, &data);
  if (status != GAB_OK) {
    gab_free(&memory);
    return status;
  }
  prefer_huge_pages(data, bytes);
  *field = memory;
  **field = (gab_field){.shape = *shape, .map = map, .data = data};
  return GAB_OK;
}

gab_status gab_field_create(const gab_field_shape *shape, gab_field **field)
{
  GAB_TRY(make(shape, true, field));
  touch_first(*field);
  return GAB_OK;
}

gab_status gab_field_create_unset(const gab_field_shape *shape, gab_field **field)
{
  GAB_TRY(make(shape, false, field));
  touch_first(*field);
#ifndef NDEBUG /* what is read before it is written is not a number */
  memset((*field)->data, 0xff, (*field)->map.elements * gab_precision_bytes(shape->precision));
#endif
  return GAB_OK;
}

void gab_field_destroy(gab_field **field)
{
  if (!*field) return;
  gab_free(&(*field)->data);
  gab_free(field);
}

gab_box gab_field_interior(const gab_field *field)
{
  const int32_t *cells = field->shape.cells;
  return (gab_box){{0, 0, 0}, {cells[0], cells[1], cells[2]}};
}

gab_box gab_field_whole(const gab_field *field)
{
  gab_box box = gab_field_interior(field);
  for (int axis = 0; axis < 3; axis++) {
    box.lo[axis] -= field->shape.ghosts[axis];
    box.hi[axis] += field->shape.ghosts[axis];
  }
  return box;
}

size_t gab_box_count(const gab_box *box)
{
  size_t count = 1;
  for (int axis = 0; axis < 3; axis++) {
    if (box->hi[axis] <= box->lo[axis]) return 0;
    count *= (size_t)(box->hi[axis] - box->lo[axis]);
  }
  return count;
}

void gab_field_fill(gab_field *field, int component, const gab_box *box, double value)
{
  int first = component < 0 ? 0 : component, last = component < 0 ? field->shape.components : component + 1;
  for (int c = first; c < last; c++)
    for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
      for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
        for (int64_t x = box->lo[0]; x < box->hi[0]; x++)
          gab_field_set(field, (int32_t)x, (int32_t)y, (int32_t)z, c, value);
}

static bool same_extent(const gab_field *a, const gab_field *b)
{
  return memcmp(a->shape.cells, b->shape.cells, sizeof a->shape.cells) == 0 &&
         memcmp(a->shape.ghosts, b->shape.ghosts, sizeof a->shape.ghosts) == 0 &&
         a->shape.components == b->shape.components;
}

static bool same_storage(const gab_field *a, const gab_field *b)
{
  return a->shape.layout == b->shape.layout && a->shape.precision == b->shape.precision;
}

gab_status gab_field_copy(gab_field *to, const gab_field *from)
{
  if (!to || !from || to == from)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s", to && from ? "a field is copied to itself" : "no field to copy");
  if (!same_extent(to, from)) GAB_FAIL(GAB_ERR_ARGUMENT, "fields of different extent cannot be copied");
  if (same_storage(to, from)) {
    memcpy(to->data, from->data, to->map.elements * gab_precision_bytes(to->shape.precision));
    return GAB_OK;
  }
  gab_box box = gab_field_whole(to);
  for (int c = 0; c < to->shape.components; c++)
    for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
      for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
        for (int64_t x = box.lo[0]; x < box.hi[0]; x++)
          gab_field_set(to, (int32_t)x, (int32_t)y, (int32_t)z, c,
                        gab_field_get(from, (int32_t)x, (int32_t)y, (int32_t)z, c));
  return GAB_OK;
}

gab_status gab_field_swap(gab_field *a, gab_field *b)
{
  if (!a || !b || a == b)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s", a && b ? "a field is swapped with itself" : "no field to swap");
  if (!same_extent(a, b) || !same_storage(a, b))
    GAB_FAIL(GAB_ERR_ARGUMENT, "fields of different shape cannot be swapped");
  void *data = a->data;
  a->data = b->data;
  b->data = data;
  return GAB_OK;
}
