/* Ghosts of sparse blocks. A way between a cell and a ghost has two places, own(x, opposite of out) of the
 * cell and the extra one of the way: in the even state the cell has sent into the first and the ghost's
 * population belongs into the second, in the odd state the other way round. */
#include "lbm/sparse_impl.h"

#include <string.h>

static size_t place_of(const gab_lbm_block *block, const gab_sparse_group *group, uint32_t way, bool is_own)
{
  const gab_sparse *sparse = block->sparse;
  if (!is_own) return sparse->ghosts + way;
  return (size_t)gab_lattice_opposite(group->out) * sparse->stride + sparse->ways[way].cell;
}
static size_t out_place(const gab_lbm_block *block, const gab_sparse_group *group, uint32_t way)
{
  return place_of(block, group, way, !gab_sparse_is_odd(block));
}
static size_t in_place(const gab_lbm_block *block, const gab_sparse_group *group, uint32_t way)
{
  return place_of(block, group, way, gab_sparse_is_odd(block));
}

static void move_value(void *to, size_t to_place, const void *from, size_t from_place, size_t bytes)
{
  if (bytes == sizeof(float)) memcpy((float *)to + to_place, (const float *)from + from_place, sizeof(float));
  else memcpy((double *)to + to_place, (const double *)from + from_place, sizeof(double));
}

/* The groups of a direction are side by side. */
static const gab_sparse_group *groups_of(const gab_sparse *sparse, int direction)
{
  const gab_sparse_group *group = sparse->groups, *end = group + sparse->group_count;
  while (group < end && group->direction < direction) ++group;
  return group;
}

/* The first way of a group whose cell (or ghost, with its shift) has at least a position. */
static uint32_t first_from(const gab_sparse *sparse, const gab_sparse_group *group, int64_t position)
{
  uint32_t first = group[0].first, last = group[1].first;
  while (first < last) {
    uint32_t middle = first + (last - first) / 2;
    if ((int64_t)sparse->ways[middle].position < position) first = middle + 1;
    else last = middle;
  }
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
  for (int q = 1; q < lattice->q; ++q) {
    bool crosses = true;
    for (int axis = 0; axis < 3; ++axis)
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
  for (const gab_sparse_group *group = groups_of(sparse, direction); group->direction == direction; ++group)
    for (uint32_t w = group[0].first; w < group[1].first; ++w)
      move_value(bytes, (size_t)group->out_item * cells + sparse->ways[w].position, block->src->data,
                 out_place(block, group, w), each);
}

void gab_sparse_unpack_ghosts(const gab_lbm_model *model, gab_lbm_block *block, int direction,
                              const void *bytes)
{
  const size_t each = gab_precision_bytes(model->options.precision), cells = cells_of(model, direction);
  const gab_sparse *sparse = block->sparse;
  const int from = gab_direction_opposite(direction);
  for (const gab_sparse_group *group = groups_of(sparse, from); group->direction == from; ++group) {
    const size_t first = (size_t)group->in_item * cells + (size_t)(ptrdiff_t)group->shift;
    for (uint32_t w = group[0].first; w < group[1].first; ++w)
      move_value(block->src->data, in_place(block, group, w), bytes, first + sparse->ways[w].position, each);
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
  while (other->direction == direction && (other->out != group->in || other->in != group->out)) ++other;
  return other;
}

static void fetch_between(gab_lbm_block *target, const gab_lbm_block *source, const gab_sparse_group *group,
                          uint32_t first, uint32_t last, size_t each)
{
  const gab_sparse_group *other = other_end(source->sparse, group);
  for (uint32_t w = first; w < last; ++w)
    move_value(target->src->data, in_place(target, group, w), source->src->data,
               out_place(source, other, w - group->first + other->first), each);
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
  for (uint32_t w = first; w < last; ++w) {
    const int64_t position = (int64_t)target->sparse->ways[w].position + group->shift;
    move_value(target->src->data, in_place(target, group, w), source->src->data,
               gab_place(index_at(&source->src->map, box, position), sent), each);
  }
}

static void fetch_into_dense(gab_lbm_block *target, const gab_lbm_block *source, const gab_box *box,
                             const gab_sparse_group *group, uint32_t first, uint32_t last, size_t each)
{
  const ptrdiff_t sent = target->now->sent[group->out];
  for (uint32_t w = first; w < last; ++w)
    move_value(target->src->data,
               gab_place(index_at(&target->src->map, box, source->sparse->ways[w].position), sent),
               source->src->data, out_place(source, group, w), each);
}

void gab_sparse_fetch(const gab_lbm_model *model, gab_lbm_block *target, const gab_lbm_block *source,
                      int direction, int axis, int32_t lo, int32_t hi)
{
  const size_t each = gab_precision_bytes(model->options.precision);
  const gab_lbm_block *listed = target->sparse ? target : source;
  const int listed_direction = target->sparse ? gab_direction_opposite(direction) : direction;
  const gab_box send = gab_direction_send_box(direction, model->cells, 1),
                receive = gab_direction_receive_box(gab_direction_opposite(direction), model->cells, 1);
  int64_t layer = (int64_t)gab_box_count(&send), begin = 0, end = layer;
  if (axis >= 0) {
    layer /= send.hi[axis] - send.lo[axis]; /* the axis of slabs is the slowest one */
    begin = (lo - send.lo[axis]) * layer;
    end = (hi - send.lo[axis]) * layer;
  }
  for (const gab_sparse_group *group = groups_of(listed->sparse, listed_direction);
       group->direction == listed_direction; ++group) {
    /* The layers are those of the ghosts. */
    const int32_t shift = target->sparse ? group->shift : 0;
    const uint32_t first = first_from(listed->sparse, group, begin - shift),
                   last = first_from(listed->sparse, group, end - shift);
    if (!target->sparse) fetch_into_dense(target, source, &receive, group, first, last, each);
    else if (source->sparse) fetch_between(target, source, group, first, last, each);
    else fetch_from_dense(target, source, &send, group, first, last, each);
  }
}
