/* SPDX-License-Identifier: Apache-2.0 */
/* Ghosts of sparse blocks. A way between a cell and a ghost has two places, own(x, opposite of out) of the cell and
 * the extra one of the way. In the even state the first has the population sent by the cell, and the second receives
 * that of the ghost; in the odd state the reverse. */
#include "lbm/sparse/sparse_impl.h"
#include "core/base/lower_bound_impl.h"

#include <assert.h>
#include <string.h>

/* One end of the ways of a group: way w lies at first + w or, with cells, at first + ways[w].cell. */
typedef struct end {
  size_t first;
  const gab_sparse_way *cells;
} end;

static end end_of(const gab_lbm_block *block, const gab_sparse_group *group, bool is_own)
{
  const gab_sparse *sparse = block->sparse;
  if (!is_own) return (end){.first = sparse->ghosts + group->first};
  return (end){.first = (size_t)gab_lattice_opposite(group->out) * sparse->stride,
               .cells = sparse->ways + group->first};
}
static end out_end(const gab_lbm_block *block, const gab_sparse_group *group)
{
  return end_of(block, group, !gab_sparse_is_odd(block));
}
static end in_end(const gab_lbm_block *block, const gab_sparse_group *group)
{
  return end_of(block, group, gab_sparse_is_odd(block));
}
static size_t place_at(const end *at, uint32_t way)
{
  return at->first + (at->cells ? at->cells[way].cell : way);
}

static void move_value(void *to, size_t to_place, const void *from, size_t from_place, size_t bytes)
{
  if (bytes == sizeof(float)) memcpy((float *)to + to_place, (const float *)from + from_place, sizeof(float));
  else memcpy((double *)to + to_place, (const double *)from + from_place, sizeof(double));
}

#define REAL       double
#define NAME(part) move_doubles##part
#include "lbm/sparse/sparse_ghosts_body.inc"

#define REAL       float
#define NAME(part) move_floats##part
#include "lbm/sparse/sparse_ghosts_body.inc"

/* The groups of a direction are side by side. */
static const gab_sparse_group *groups_of(const gab_sparse *sparse, int direction)
{
  return sparse->groups + sparse->first_group[direction];
}

/* The first way of a group whose cell has at least a position. */
static uint32_t first_from(const gab_sparse *sparse, const gab_sparse_group *group, int64_t position)
{
  uint32_t first = group[0].first;
  GAB_LOWER_BOUND(uint32_t, first, group[1].first, i, (int64_t)sparse->ways[i].position < position);
  return first;
}

/* ------------------------------------------------------------------------------------------ messages */

static size_t cells_of(const gab_lbm_model *model, int direction)
{
  gab_box box = gab_direction_send_box(direction, model->cells, 1);
  return gab_box_count(&box);
}

static int crossing_count(const gab_lbm_model *model, int direction)
{
  const gab_lattice *lattice = model->lattice;
  int offset[3], count = 0;
  gab_direction_offset(direction, offset);
  for (int q = 1; q < lattice->q; q++) {
    bool crosses = true;
    for (int axis = 0; axis < 3; axis++)
      crosses = crosses && (offset[axis] == 0 || lattice->c[q][axis] == offset[axis]);
    count += crosses;
  }
  return count;
}

void gab_sparse_pack_ghosts(const gab_lbm_model *model, const gab_lbm_block *block, int direction,
                            void *bytes)
{
  const size_t each = gab_precision_bytes(model->options.precision), cells = cells_of(model, direction);
  const gab_sparse *sparse = block->sparse;
  memset(bytes, 0, cells * (size_t)crossing_count(model, direction) * each);
  for (const gab_sparse_group *group = groups_of(sparse, direction); group->direction == direction; group++) {
    const gab_sparse_way *ways = sparse->ways + group->first;
    const end from = out_end(block, group);
    for (uint32_t w = 0; w < group[1].first - group[0].first; w++)
      move_value(bytes, (size_t)group->out_item * cells + ways[w].position, block->src->data,
                 place_at(&from, w), each);
  }
}

void gab_sparse_unpack_ghosts(const gab_lbm_model *model, gab_lbm_block *block, int direction,
                              const void *bytes)
{
  const size_t each = gab_precision_bytes(model->options.precision), cells = cells_of(model, direction);
  const gab_sparse *sparse = block->sparse;
  const int from = gab_direction_opposite(direction);
  for (const gab_sparse_group *group = groups_of(sparse, from); group->direction == from; group++) {
    const size_t first = (size_t)group->in_item * cells + (size_t)(ptrdiff_t)group->shift;
    const gab_sparse_way *ways = sparse->ways + group->first;
    const end to = in_end(block, group);
    for (uint32_t w = 0; w < group[1].first - group[0].first; w++)
      move_value(block->src->data, place_at(&to, w), bytes, first + ways[w].position, each);
  }
}

/* ------------------------------------------------------------------------------------------ from block to
 * block
 */

/* Both ends list the same ways in the same order. */
static const gab_sparse_group *other_end(const gab_sparse *source, const gab_sparse_group *group)
{
  const int direction = gab_direction_opposite(group->direction);
  const gab_sparse_group *other = groups_of(source, direction);
  while (other->direction == direction && (other->out != group->in || other->in != group->out)) other++;
  return other;
}

static void fetch_between(gab_lbm_block *target, const gab_lbm_block *source, const gab_sparse_group *group,
                          uint32_t first, uint32_t last, size_t each)
{
  const gab_sparse_group *other = other_end(source->sparse, group);
  const end to = in_end(target, group), from = out_end(source, other);
  assert(other->direction == gab_direction_opposite(group->direction) &&
         other[1].first - other[0].first == group[1].first - group[0].first);
  if (each == sizeof(float)) move_floats_all(target->src->data, &to, source->src->data, &from, first, last);
  else move_doubles_all(target->src->data, &to, source->src->data, &from, first, last);
}

/* Index in a dense block of a position in a box. */
static size_t index_at(const gab_field_map *map, const gab_box *box, int64_t position)
{
  const int32_t width = (int32_t)(box->hi[0] - box->lo[0]), height = (int32_t)(box->hi[1] - box->lo[1]);
  const int32_t row = (int32_t)position / width, x = (int32_t)position % width;
  return gab_field_index(map, (int32_t)box->lo[0] + x, (int32_t)box->lo[1] + row % height,
                         (int32_t)box->lo[2] + row / height, 0);
}

static void fetch_from_dense(gab_lbm_block *target, const gab_lbm_block *source, const gab_box *box,
                             const gab_sparse_group *group, uint32_t first, uint32_t last, size_t each)
{
  const ptrdiff_t sent = source->now->sent[group->in];
  const end to = in_end(target, group);
  for (uint32_t w = first; w < last; w++) {
    const int64_t position = (int64_t)target->sparse->ways[group->first + w].position + group->shift;
    move_value(target->src->data, place_at(&to, w), source->src->data,
               gab_place(index_at(&source->src->map, box, position), sent), each);
  }
}

static void fetch_into_dense(gab_lbm_block *target, const gab_lbm_block *source, const gab_box *box,
                             const gab_sparse_group *group, uint32_t first, uint32_t last, size_t each)
{
  const ptrdiff_t sent = target->now->sent[group->out];
  const gab_sparse_way *ways = source->sparse->ways + group->first;
  const end from = out_end(source, group);
  for (uint32_t w = first; w < last; w++)
    move_value(target->src->data, gab_place(index_at(&target->src->map, box, ways[w].position), sent),
               source->src->data, place_at(&from, w), each);
}

/* The ways [*first, *last) of a group, counted from its first one, whose ghosts lie in some slabs. */
static void ways_of_slabs(const gab_lbm_model *model, const gab_sparse *sparse, const gab_sparse_group *group,
                          size_t first_slab, size_t last_slab, uint32_t *first, uint32_t *last)
{
  const uint32_t *starts = sparse->slab_ways + (size_t)(group - sparse->groups) * ((size_t)model->slabs + 1);
  *first = starts[first_slab] - group->first;
  *last = starts[last_slab] - group->first;
}

/* The same where the ghosts lie in a dense block, at the positions of the cells. */
static void ways_of_layers(const gab_sparse *sparse, const gab_sparse_group *group, int64_t begin,
                           int64_t end, uint32_t *first, uint32_t *last)
{
  *first = first_from(sparse, group, begin) - group->first;
  *last = first_from(sparse, group, end) - group->first;
}

static void fetch_into_sparse(const gab_lbm_model *model, gab_lbm_block *target, const gab_lbm_block *source,
                              int direction, const gab_lbm_slabs *slabs)
{
  const size_t each = gab_precision_bytes(model->options.precision);
  const gab_box send = gab_direction_send_box(direction, model->cells, 1);
  const int from = gab_direction_opposite(direction);
  const gab_sparse *sparse = target->sparse;
  for (const gab_sparse_group *group = groups_of(sparse, from); group->direction == from; group++) {
    uint32_t first = 0, last = group[1].first - group[0].first;
    if (slabs) ways_of_slabs(model, sparse, group, slabs->first, slabs->last, &first, &last);
    if (source->sparse) fetch_between(target, source, group, first, last, each);
    else fetch_from_dense(target, source, &send, group, first, last, each);
  }
}

void gab_sparse_fetch(const gab_lbm_model *model, gab_lbm_block *target, const gab_lbm_block *source,
                      int direction, const gab_lbm_slabs *slabs)
{
  if (target->sparse) {
    fetch_into_sparse(model, target, source, direction, slabs);
    return;
  }
  const size_t each = gab_precision_bytes(model->options.precision);
  const gab_sparse *sparse = source->sparse;
  const gab_box box = gab_direction_receive_box(gab_direction_opposite(direction), model->cells, 1);
  const int64_t slab = (int64_t)gab_box_count(&box) / (box.hi[model->slab_axis] - box.lo[model->slab_axis]) *
                       model->slab_layers;
  for (const gab_sparse_group *group = groups_of(sparse, direction); group->direction == direction; group++) {
    uint32_t first = 0, last = group[1].first - group[0].first;
    if (slabs)
      ways_of_layers(sparse, group, (int64_t)slabs->first * slab, (int64_t)slabs->last * slab, &first, &last);
    fetch_into_dense(target, source, &box, group, first, last, each);
  }
}
