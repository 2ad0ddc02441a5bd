/* SPDX-License-Identifier: Apache-2.0 */
/* Populations that cross from a block into its neighbours: packed for other processes, fetched from local blocks.
 *
 * All blocks have the same map, so the start and extent of a side, and the populations that cross it, are computed once per
 * direction. Only the storage of the two fields differs by block and step (gab_storage). */
#include "lbm/sparse/sparse_impl.h"
#include "lbm/step/temporal_block_impl.h"

#include <string.h>

/* Only the populations that move across the common face, edge or corner are needed on the other side: those
 * whose velocity agrees with every non-zero component of the direction. */
static void list_crossing(const gab_lattice *lattice, const int offset[3], gab_ghost_side *side)
{
  side->along_x = (int8_t)offset[0];
  for (int q = 1; q < lattice->q; q++) {
    bool crosses = true;
    for (int axis = 0; axis < 3; axis++)
      crosses = crosses && (offset[axis] == 0 || lattice->c[q][axis] == offset[axis]);
    if (!crosses) continue;
    side->leaves_below[side->count] = offset[0] == 0 && lattice->c[q][0] < 0;
    side->leaves_above[side->count] = offset[0] == 0 && lattice->c[q][0] > 0;
    side->q[side->count++] = (int16_t)q;
  }
}

static ptrdiff_t index_of(const gab_field_map *map, const int64_t cell[3])
{
  return (ptrdiff_t)gab_field_index(map, (int32_t)cell[0], (int32_t)cell[1], (int32_t)cell[2], 0);
}

void gab_lbm_list_sides(gab_lbm_model *model)
{
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    gab_ghost_side *side = &model->ghost_sides[direction];
    *side = (gab_ghost_side){0};
    int offset[3];
    gab_direction_offset(direction, offset);
    if (direction == GAB_DIRECTION_CENTRE || (model->lattice->dimension == 2 && offset[2] != 0)) continue;
    list_crossing(model->lattice, offset, side);
    gab_box send = gab_direction_send_box(direction, model->cells, 1);
    gab_box receive = gab_direction_receive_box(gab_direction_opposite(direction), model->cells, 1);
    side->across = offset[model->slab_axis] != 0;
    side->send = index_of(&model->map, send.lo);
    side->receive = index_of(&model->map, receive.lo);
    side->cells = gab_box_count(&send);
    for (int axis = 0; axis < 3; axis++) side->extent[axis] = (int32_t)(send.hi[axis] - send.lo[axis]);
  }
}

/* A box to be copied: strides of rows and layers at both ends, in values. */
typedef struct copy_shape {
  int32_t extent[3];
  ptrdiff_t to_step[2], from_step[2];
} copy_shape;

/* Populations in the sides of one shape. */
enum { MOST_LINES = 2 * GAB_LATTICE_MAX_Q };

#define REAL       double
#define NAME(part) ghosts_double##part
#include "lbm/step/ghosts_body.inc"

#define REAL       float
#define NAME(part) ghosts_float##part
#include "lbm/step/ghosts_body.inc"

static bool in_float(const gab_lbm_model *model) { return model->options.precision == GAB_PRECISION_FLOAT; }

/* From field to field; callers set packed ends. */
static copy_shape shape_of(const gab_lbm_model *model, const gab_ghost_side *side)
{
  const ptrdiff_t *stride = model->map.stride;
  copy_shape shape = {.to_step = {stride[1], stride[2]}, .from_step = {stride[1], stride[2]}};
  memcpy(shape.extent, side->extent, sizeof shape.extent);
  return shape;
}

static void set_packed(ptrdiff_t step[2], const gab_ghost_side *side)
{
  step[0] = side->extent[0];
  step[1] = (ptrdiff_t)side->extent[0] * side->extent[1];
}

static size_t ghost_size(void *user, int direction)
{
  const gab_lbm_model *model = user;
  const gab_ghost_side *side = &model->ghost_sides[direction];
  return side->cells * (size_t)side->count * gab_precision_bytes(model->options.precision);
}

static void ghost_pack(void *user, const void *data, int direction, void *bytes)
{
  const gab_lbm_model *model = user;
  const gab_ghost_side *side = &model->ghost_sides[direction];
  const gab_lbm_block *block = data;
  if (block->sparse) {
    gab_sparse_pack_ghosts(model, block, direction, bytes);
    return;
  }
  copy_shape shape = shape_of(model, side);
  set_packed(shape.to_step, side);
  if (in_float(model)) ghosts_float_pack(side, data, &shape, bytes);
  else ghosts_double_pack(side, data, &shape, bytes);
}

static void ghost_unpack(void *user, void *data, int direction, const void *bytes)
{
  const gab_lbm_model *model = user;
  const gab_ghost_side *side = &model->ghost_sides[direction];
  gab_lbm_block *block = data;
  if (block->sparse) {
    gab_sparse_unpack_ghosts(model, block, direction, bytes);
    return;
  }
  copy_shape shape = shape_of(model, side);
  set_packed(shape.from_step, side);
  if (in_float(model)) ghosts_float_unpack(side, data, &shape, bytes);
  else ghosts_double_unpack(side, data, &shape, bytes);
}

/* Between local blocks nothing is copied when the exchange starts. The populations of the source keep their place during
 * and after its sweep (storage_impl.h), until its ghosts are filled again. So they are fetched when the target is swept,
 * into a cache that needs them at once. The sources are recorded once per exchange plan. */
static int in_order(const gab_ghost_side *a, const gab_ghost_side *b)
{
  int difference = memcmp(a->extent, b->extent, sizeof a->extent);
  return difference != 0 ? difference : (int)a->across - (int)b->across;
}

static bool crosses_x_alone(int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  return offset[1] == 0 && offset[2] == 0;
}

void gab_lbm_note_way(void *user, const void *from, void *to, int direction)
{
  const gab_lbm_model *model = user;
  gab_lbm_block *target = to;
  if (!from) {
    target->remote |= UINT32_C(1) << direction;
    return;
  }
  const int along_x = model->ghost_sides[direction].along_x;
  if (along_x != 0 && from == (along_x > 0 ? target->left : target->right) && crosses_x_alone(direction))
    return;
  /* sides of one shape are adjacent */
  const gab_lbm_fetch fetch = {
      .source = from, .side = &model->ghost_sides[direction], .last = target, .blocks = 1};
  int place = target->fetch_count++;
  for (; place > 0 && in_order(target->fetches[place - 1].side, fetch.side) > 0; place--)
    target->fetches[place] = target->fetches[place - 1];
  target->fetches[place] = fetch;
}

/* The neighbour in the fused field on the side of the source. */
static const gab_lbm_block *beside(const gab_lbm_block *block, int along_x)
{
  return along_x < 0 ? block->right : along_x > 0 ? block->left : NULL;
}

/* The last transfer so far in each direction. */
typedef struct ways {
  gab_lbm_fetch *way[GAB_DIRECTIONS];
  const gab_lbm_block *source[GAB_DIRECTIONS]; /* of its last block */
} ways;

static bool goes_on(const ways *last, int direction, const gab_lbm_fetch *fetch)
{
  const gab_lbm_fetch *way = last->way[direction];
  return way && fetch->side->along_x == 0 && way->last == fetch->last->left &&
         last->source[direction]->right == fetch->source && fetch->source->left == last->source[direction];
}

static void join_ways(const gab_ghost_side *sides, gab_lbm_block *block, ways *last)
{
  int kept = 0;
  for (int i = 0; i < block->fetch_count; i++) {
    const gab_lbm_fetch fetch = block->fetches[i];
    const int direction = (int)(fetch.side - sides);
    const bool is_dense = !fetch.source->sparse && !block->sparse;
    if (is_dense && beside(block, fetch.side->along_x)) continue;
    if (is_dense && goes_on(last, direction, &fetch)) {
      last->way[direction]->last = block;
      last->way[direction]->blocks++;
    } else {
      block->fetches[kept] = fetch;
      last->way[direction] = is_dense ? &block->fetches[kept] : NULL;
      kept++;
    }
    last->source[direction] = fetch.source;
  }
  block->fetch_count = kept;
}

void gab_lbm_join_ways(const gab_ghost_side *sides, gab_lbm_block *first)
{
  ways last = {{NULL}, {NULL}};
  for (gab_lbm_block *block = first; block; block = block->next) join_ways(sides, block, &last);
}

static bool is_sparse(const gab_lbm_block *target, const gab_lbm_fetch *fetch)
{
  return target->sparse || fetch->source->sparse;
}

/* Number of sides from the first one on that have its shape and connect dense blocks. */
static int equal_sides(const gab_lbm_block *target, const gab_lbm_fetch *fetches, int count)
{
  int equal = 1, lines = fetches[0].side->count;
  if (is_sparse(target, fetches)) return 1;
  while (equal < count && !is_sparse(target, &fetches[equal]) &&
         in_order(fetches[equal].side, fetches[0].side) == 0 && fetches[equal].blocks == fetches[0].blocks &&
         (lines += fetches[equal].side->count) <= MOST_LINES)
    equal++;
  return equal;
}

void gab_lbm_fill_ghosts(const gab_lbm_model *model, const gab_lbm_job *job, bool across)
{
  const int axis = model->slab_axis;
  const int32_t lo = (int32_t)job->first_slab * model->slab_layers;
  const int32_t end = (int32_t)job->last_slab * model->slab_layers;
  const int32_t hi = end < model->cells[axis] ? end : model->cells[axis];
  const ptrdiff_t skipped = across ? 0 : lo * model->map.stride[axis];
  gab_lbm_block *target = job->block;
  for (int first = 0, equal; first < target->fetch_count; first += equal) {
    const gab_lbm_fetch *fetches = &target->fetches[first];
    equal = equal_sides(target, fetches, target->fetch_count - first);
    if (fetches->side->across != across) continue;
    if (is_sparse(target, fetches)) {
      const int direction = (int)(fetches->side - model->ghost_sides);
      const gab_lbm_slabs slabs = {job->first_slab, job->last_slab};
      gab_sparse_fetch(model, target, fetches->source, direction, across ? NULL : &slabs);
      continue;
    }
    copy_shape shape = shape_of(model, fetches->side);
    if (!across) shape.extent[axis] = hi - lo;
    shape.extent[0] *= fetches->blocks;
    if (in_float(model)) ghosts_float_fetch(target, fetches, equal, &shape, skipped);
    else ghosts_double_fetch(target, fetches, equal, &shape, skipped);
  }
}

void gab_lbm_fetch_part(const gab_lbm_model *model, const gab_lbm_block *target, const gab_lbm_fetch *fetch,
                        const int32_t first[3], const int32_t extent[3])
{
  const ptrdiff_t *stride = model->map.stride;
  const ptrdiff_t skipped = first[0] * stride[0] + first[1] * stride[1] + first[2] * stride[2];
  copy_shape shape = shape_of(model, fetch->side);
  memcpy(shape.extent, extent, sizeof shape.extent);
  if (in_float(model)) ghosts_float_fetch(target, fetch, 1, &shape, skipped);
  else ghosts_double_fetch(target, fetch, 1, &shape, skipped);
}

gab_ghost_kind gab_lbm_ghost_kind(gab_lbm_model *model)
{
  return (gab_ghost_kind){.name = "lbm.populations",
                          .user = model,
                          .size = ghost_size,
                          .pack = ghost_pack,
                          .unpack = ghost_unpack,
                          .coupled = true, /* gab_level_interface_kind() */
                          .fetched = true};
}
