/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/exchange/resample.h"

#include "blockforest/exchange/block_field.h"
#include "core/memory/memory.h"
#include "core/messages/collective.h"
#include "core/messages/port.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MASK = 0,             /* component: 0 its own value, n > 0 filled in sweep n, NaN none */
  BATCH_CELLS = 1 << 16 /* requested by a process at once, at least one block */
};

struct gab_resampler {
  gab_forest *source;
  int values;
  gab_block_field shape;
  gab_data_id data;
  gab_exchange *exchange;
  gab_port *port;
};

/* ---------------------------------------------------------------- life */

gab_status gab_resampler_create(gab_forest *source, int values, gab_resampler **resampler)
{
  const gab_forest_options *options = gab_forest_get_options(source);
  gab_resampler *made;
  *resampler = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made =
      (gab_resampler){.source = source,
                      .values = values,
                      .shape = {.shape = {.cells = {options->cells[0], options->cells[1], options->cells[2]},
                                          .ghosts = {1, 1, options->grid.dimension == 2 ? 0 : 1},
                                          .components = 1 + values},
                                .faces_only = true}};
  const gab_block_data_kind kind = gab_block_field_scratch(&made->shape, "resampled");
  gab_ghost_kind ghosts = gab_block_field_ghosts(&made->shape);
  ghosts.coupled = true; /* next to other levels they have no value */
  gab_status status = gab_forest_add_data(source, &kind, &made->data);
  if (status == GAB_OK) status = gab_exchange_create(source, made->data, &ghosts, &made->exchange);
  if (status == GAB_OK) status = gab_port_create(gab_forest_world(source), "resampling", &made->port);
  *resampler = made;
  if (status != GAB_OK) gab_resampler_destroy(resampler);
  return status;
}

void gab_resampler_destroy(gab_resampler **resampler)
{
  if (!*resampler) return;
  gab_port_destroy(&(*resampler)->port);
  gab_exchange_destroy(&(*resampler)->exchange);
  gab_free(resampler);
}

gab_field *gab_resampler_field(const gab_resampler *resampler, const gab_block *block)
{
  return gab_block_data(block, resampler->data);
}

void gab_resampler_clear(gab_resampler *resampler)
{
  for (size_t b = 0; b < gab_forest_block_count(resampler->source); b++) {
    gab_field *field = gab_resampler_field(resampler, gab_forest_block(resampler->source, b));
    const gab_box whole = gab_field_whole(field);
    gab_field_fill(field, MASK, &whole, NAN);
  }
}

/* ---------------------------------------------------------------- cells without a value */

static void step_along(const int32_t at[3], int axis, int by, int32_t to[3])
{
  memcpy(to, at, 3 * sizeof *to);
  to[axis] += by;
}

/* The mean of the neighbours with a value from an earlier sweep. @return whether there are any */
static bool fill_cell(gab_field *field, const int32_t at[3], int sweep)
{
  const int axes = field->shape.ghosts[2] > 0 ? 3 : 2;
  int32_t from[6][3];
  int count = 0;
  for (int side = 0; side < 2 * axes; side++) {
    step_along(at, side / 2, side % 2 ? 1 : -1, from[count]);
    if (gab_field_get(field, from[count][0], from[count][1], from[count][2], MASK) < sweep) count++;
  }
  for (int k = 1; k < field->shape.components && count > 0; k++) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += gab_field_get(field, from[i][0], from[i][1], from[i][2], k);
    gab_field_set(field, at[0], at[1], at[2], k, sum / count);
  }
  if (count > 0) gab_field_set(field, at[0], at[1], at[2], MASK, sweep);
  return count > 0;
}

/* One more layer. @return number of filled cells */
static uint64_t fill_layer(const gab_resampler *it, int sweep)
{
  uint64_t count = 0;
  for (size_t b = 0; b < gab_forest_block_count(it->source); b++) {
    gab_field *field = gab_resampler_field(it, gab_forest_block(it->source, b));
    const int32_t *cells = field->shape.cells;
    int32_t at[3];
    for (at[2] = 0; at[2] < cells[2]; at[2]++)
      for (at[1] = 0; at[1] < cells[1]; at[1]++)
        for (at[0] = 0; at[0] < cells[0]; at[0]++)
          if (isnan(gab_field_get(field, at[0], at[1], at[2], MASK))) count += fill_cell(field, at, sweep);
  }
  return count;
}

gab_status gab_resampler_spread(gab_resampler *it)
{
  uint64_t filled = 1;
  for (int sweep = 1; filled > 0; sweep++) {
    GAB_TRY(gab_exchange_start(it->exchange));
    GAB_TRY(gab_exchange_finish(it->exchange));
    filled = fill_layer(it, sweep);
    GAB_TRY(gab_world_sum_u64(gab_forest_world(it->source), &filled, 1));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- positions */

/* Of a cell of the target along an axis, in cells of level 0 of the source; NaN: outside. Pure. */
static double position_of(const gab_forest_options *source, const gab_forest_options *target, int level,
                          int axis, int64_t cell)
{
  const double centre = target->origin[axis] + (double)(2 * cell + 1) * ldexp(target->dx, -level - 1);
  const double cells = (double)source->grid.roots[axis] * source->cells[axis];
  double at = ldexp(nearbyint(ldexp((centre - source->origin[axis]) / source->dx, 32)), -32);
  if (axis >= source->grid.dimension) return 0.5;
  if (source->periodic[axis]) at -= cells * floor(at / cells);
  return at >= 0 && at < cells ? at : NAN;
}

static bool is_as_wide(const gab_forest_options *source, int level, const gab_forest_options *target,
                       int target_level)
{
  return fabs(ldexp(target->dx, level - target_level) / source->dx - 1) < 1e-9;
}

/* ---------------------------------------------------------------- who has the cells */

/* A block of the target, sent to the owners of all blocks of the source below one root block. */
typedef struct request {
  uint64_t root;
  int64_t first[3]; /* its first cell */
  int32_t level;
  uint32_t index; /* of the requesting process */
} request;

/* A block of the source, at the rendezvous of its root block. */
typedef struct leaf {
  uint64_t root;
  gab_block_id id;
  gab_rank owner;
} leaf;

/* A request for the cells in one block of the source. */
typedef struct errand {
  request what;
  gab_block_id id;
  gab_rank asker, reserved;
} errand;

/* Items of one size with their targets. */
typedef struct post {
  gab_buffer items, targets, received;
  size_t count, received_count;
} post;

static gab_status post_add(post *mail, const void *item, size_t bytes, gab_rank target)
{
  GAB_TRY(gab_put_bytes(&mail->items, item, bytes));
  GAB_TRY(gab_put_bytes(&mail->targets, &target, sizeof target));
  mail->count++;
  return GAB_OK;
}

/* Collective: a process that cannot assemble its items sends none, and all get the error. */
static gab_status post_send(gab_world *world, post *mail, size_t bytes, gab_status status)
{
  GAB_TRY(gab_world_reduce_status(world, status));
  return gab_world_route(world, mail->items.data, (const gab_rank *)(const void *)mail->targets.data,
                         mail->count, bytes, &mail->received, &mail->received_count);
}

static void post_release(post *mail)
{
  gab_buffer_release(&mail->items);
  gab_buffer_release(&mail->targets);
  gab_buffer_release(&mail->received);
}

static uint64_t root_count(const gab_forest_options *options)
{
  const int32_t *roots = options->grid.roots;
  return (uint64_t)roots[0] * (uint64_t)roots[1] * (uint64_t)roots[2];
}

static uint64_t root_at(const gab_forest_options *options, const int32_t at[3])
{
  const int32_t *roots = options->grid.roots;
  return ((uint64_t)at[2] * (uint64_t)roots[1] + (uint64_t)at[1]) * (uint64_t)roots[0] + (uint64_t)at[0];
}

static gab_rank rendezvous_of(const gab_world *world, const gab_forest_options *source, uint64_t root)
{
  const gab_members *members = gab_world_members(world);
  const uint64_t count = (uint64_t)gab_members_count(members);
  return gab_members_rank(members, (int32_t)(root * count / root_count(source)));
}

/* ---------------------------------------------------------------- a batch of blocks */

/* A block of the target that waits for its values. */
typedef struct awaited {
  const gab_block *block;
  uint8_t *kinds;
  double *values, *copied;
} awaited;

typedef struct batch {
  gab_resampler *it;
  gab_forest *target;
  const gab_resampler_copy *copy;
  const gab_forest_options *from, *to;
  size_t cells; /* of a block of the target */
  awaited *blocks;
  size_t first, count;
  leaf *leaves; /* at this rendezvous, by root and id */
  size_t leaf_count;
  double *positions[3]; /* of the cells of a block of the target */
  double *scratch;      /* copied values of a cell */
} batch;

static int by_root(const void *a, const void *b)
{
  const leaf *x = a, *y = b;
  if (x->root != y->root) return x->root < y->root ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static gab_status register_blocks(const batch *in, post *mail)
{
  const gab_forest *source = in->it->source;
  for (size_t b = 0; b < gab_forest_block_count(source); b++) {
    const gab_block *block = gab_forest_block(source, b);
    const gab_block_place place = gab_block_id_place(&in->from->grid, gab_block_get_id(block));
    int32_t root[3];
    for (int axis = 0; axis < 3; axis++)
      root[axis] = axis < in->from->grid.dimension ? place.at[axis] >> place.level : 0;
    leaf item;
    memset(&item, 0, sizeof item);
    item.root = root_at(in->from, root);
    item.id = gab_block_get_id(block);
    item.owner = gab_world_rank(gab_forest_world(source));
    GAB_TRY(post_add(mail, &item, sizeof item, rendezvous_of(gab_forest_world(source), in->from, item.root)));
  }
  return GAB_OK;
}

static gab_status meet(batch *in)
{
  gab_world *world = gab_forest_world(in->it->source);
  post mail = {.count = 0};
  gab_status status = post_send(world, &mail, sizeof(leaf), register_blocks(in, &mail));
  gab_reader reader = gab_reader_of_buffer(&mail.received);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&in->leaves, mail.received_count + 1, GAB_MEMORY_OTHER);
  for (; status == GAB_OK && in->leaf_count < mail.received_count; in->leaf_count++) {
    gab_rank from;
    status = gab_get_i32(&reader, &from);
    if (status == GAB_OK) status = gab_get_bytes(&reader, &in->leaves[in->leaf_count], sizeof(leaf));
  }
  if (status == GAB_OK) qsort(in->leaves, in->leaf_count, sizeof(leaf), by_root);
  post_release(&mail);
  return gab_world_reduce_status(world, status);
}

/* Positions of the cells of a block of the target. */
static void find_positions(const batch *in, int level, const int64_t first[3])
{
  for (int axis = 0; axis < 3; axis++)
    for (int32_t i = 0; i < in->to->cells[axis]; i++)
      in->positions[axis][i] = position_of(in->from, in->to, level, axis, first[axis] + i);
}

/* Marks the root blocks along an axis that contain cells. */
static void mark_roots(const batch *in, int axis, uint8_t *marks)
{
  memset(marks, 0, (size_t)in->from->grid.roots[axis]);
  for (int32_t i = 0; i < in->to->cells[axis]; i++) {
    const double at = in->positions[axis][i];
    if (!isnan(at)) marks[(size_t)(at / in->from->cells[axis])] = 1;
  }
}

/* Sends requests to the rendezvous of all root blocks with cells of one awaited block, and marks cells outside. */
static gab_status ask_for(const batch *in, size_t index, uint8_t *const marks[3], post *mail)
{
  awaited *it = &in->blocks[index];
  const gab_box cells = gab_block_cells(in->target, it->block);
  const int level = gab_block_level(in->target, it->block);
  size_t i = 0;
  find_positions(in, level, cells.lo);
  for (int32_t z = 0; z < in->to->cells[2]; z++)
    for (int32_t y = 0; y < in->to->cells[1]; y++)
      for (int32_t x = 0; x < in->to->cells[0]; x++, i++)
        it->kinds[i] = isnan(in->positions[0][x]) || isnan(in->positions[1][y]) || isnan(in->positions[2][z])
                           ? GAB_RESAMPLED_OUTSIDE
                           : GAB_RESAMPLED_NOTHING;
  for (int axis = 0; axis < 3; axis++) mark_roots(in, axis, marks[axis]);
  const int32_t *roots = in->from->grid.roots;
  int32_t at[3];
  for (at[2] = 0; at[2] < roots[2]; at[2]++)
    for (at[1] = 0; marks[2][at[2]] && at[1] < roots[1]; at[1]++)
      for (at[0] = 0; marks[1][at[1]] && at[0] < roots[0]; at[0]++) {
        if (!marks[0][at[0]]) continue;
        request item;
        memset(&item, 0, sizeof item);
        item.root = root_at(in->from, at);
        memcpy(item.first, cells.lo, sizeof item.first);
        item.level = level;
        item.index = (uint32_t)index;
        GAB_TRY(post_add(mail, &item, sizeof item,
                         rendezvous_of(gab_forest_world(in->it->source), in->from, item.root)));
      }
  return GAB_OK;
}

static gab_status ask(const batch *in, post *mail)
{
  uint8_t *marks[3] = {NULL, NULL, NULL};
  gab_status status = GAB_OK;
  for (int axis = 0; axis < 3 && status == GAB_OK; axis++)
    status = GAB_NEW_ARRAY(&marks[axis], (size_t)in->from->grid.roots[axis], GAB_MEMORY_OTHER);
  for (size_t i = 0; i < in->count && status == GAB_OK; i++) status = ask_for(in, i, marks, mail);
  for (int axis = 0; axis < 3; axis++) gab_free(&marks[axis]);
  return status;
}

/* As a rendezvous: forwards requests to the owners. */
static gab_status hand_on(const batch *in, const post *asked, post *mail)
{
  gab_reader reader = gab_reader_of_buffer(&asked->received);
  for (size_t i = 0; i < asked->received_count; i++) {
    errand item;
    memset(&item, 0, sizeof item);
    GAB_TRY(gab_get_i32(&reader, &item.asker));
    GAB_TRY(gab_get_bytes(&reader, &item.what, sizeof item.what));
    size_t low = 0, high = in->leaf_count;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (in->leaves[middle].root < item.what.root) low = middle + 1;
      else high = middle;
    }
    for (; low < in->leaf_count && in->leaves[low].root == item.what.root; low++) {
      item.id = in->leaves[low].id;
      GAB_TRY(post_add(mail, &item, sizeof item, in->leaves[low].owner));
    }
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- evaluation */

static bool has_value(const gab_field *field, const int32_t at[3], int axis, int by)
{
  int32_t to[3];
  step_along(at, axis, by, to);
  if (to[axis] < -1 || to[axis] > field->shape.cells[axis]) return false;
  return gab_field_get(field, to[0], to[1], to[2], MASK) == 0;
}

static double value_at(const gab_field *field, const int32_t at[3], int axis, int by, int component)
{
  int32_t to[3];
  step_along(at, axis, by, to);
  return gab_field_get(field, to[0], to[1], to[2], component);
}

/* Change of the value of a cell at `off` cells from its centre, from the neighbours along an axis. */
static double change_along(const gab_field *field, const int32_t at[3], int axis, int component, double off)
{
  const double here = gab_field_get(field, at[0], at[1], at[2], component);
  const bool below = has_value(field, at, axis, -1), above = has_value(field, at, axis, 1);
  if (off == 0 || (!below && !above)) return 0;
  if (below && above) {
    const double down = value_at(field, at, axis, -1, component),
                 up = value_at(field, at, axis, 1, component);
    return off * (0.5 * (up - down)) + off * off * (0.5 * (up - here + (down - here)));
  }
  const int to = above ? 1 : -1;
  const double next = value_at(field, at, axis, to, component) - here, way = to * off;
  if (!has_value(field, at, axis, 2 * to)) return way * next;
  const double last = value_at(field, at, axis, 2 * to, component) - here;
  return way * (2 * next - 0.5 * last) + way * way * (0.5 * last - next);
}

/* A cell of the target in a block of the source: its kind, and its values. */
static gab_status put_cell(const batch *in, const gab_block *block, const int32_t at[3], const double off[3],
                           bool is_as_wide_as, gab_buffer *out)
{
  const gab_field *field = gab_resampler_field(in->it, block);
  const double mask = gab_field_get(field, at[0], at[1], at[2], MASK);
  const bool is_centre = off[0] == 0 && off[1] == 0 && off[2] == 0;
  const gab_resampled kind = isnan(mask)                  ? GAB_RESAMPLED_NOTHING
                             : mask > 0                   ? GAB_RESAMPLED_FILLED
                             : is_centre && is_as_wide_as ? GAB_RESAMPLED_SAME
                                                          : GAB_RESAMPLED_INTERPOLATED;
  GAB_TRY(gab_put_u8(out, (uint8_t)kind));
  for (int k = 1; k <= in->it->values && kind != GAB_RESAMPLED_NOTHING; k++) {
    double value = gab_field_get(field, at[0], at[1], at[2], k), change = 0;
    for (int axis = 0; axis < in->from->grid.dimension && kind == GAB_RESAMPLED_INTERPOLATED; axis++)
      change += change_along(field, at, axis, k, off[axis]);
    GAB_TRY(gab_put_f64(out, value + change));
  }
  if (kind != GAB_RESAMPLED_SAME || !in->copy) return GAB_OK;
  GAB_TRY(in->copy->read(in->copy->user, block, at, in->scratch));
  return gab_put_f64s(out, in->scratch, (size_t)in->copy->values);
}

/* The cells of a block of the target in one of the source, a product of lists along the axes. */
typedef struct window {
  int32_t count[3];
  int32_t *index[3], *at[3]; /* in the blocks of target and source */
  double *off[3];
} window;

static gab_status window_create(const gab_forest_options *to, window *made)
{
  *made = (window){.count = {0}};
  for (int axis = 0; axis < 3; axis++) {
    const size_t cells = (size_t)to->cells[axis];
    GAB_TRY(GAB_NEW_ARRAY(&made->index[axis], cells, GAB_MEMORY_OTHER));
    GAB_TRY(GAB_NEW_ARRAY(&made->at[axis], cells, GAB_MEMORY_OTHER));
    GAB_TRY(GAB_NEW_ARRAY(&made->off[axis], cells, GAB_MEMORY_OTHER));
  }
  return GAB_OK;
}

static void window_release(window *gone)
{
  for (int axis = 0; axis < 3; axis++) {
    gab_free(&gone->index[axis]);
    gab_free(&gone->at[axis]);
    gab_free(&gone->off[axis]);
  }
}

static bool window_find(const batch *in, const gab_block *block, window *found)
{
  const gab_box cells = gab_block_cells(in->it->source, block);
  const int level = gab_block_level(in->it->source, block);
  for (int axis = 0; axis < 3; axis++) {
    const int refined = axis < in->from->grid.dimension ? level : 0;
    int32_t count = 0;
    for (int32_t i = 0; i < in->to->cells[axis]; i++) {
      const double at = ldexp(in->positions[axis][i], refined);
      if (!(at >= (double)cells.lo[axis] && at < (double)cells.hi[axis])) continue;
      const double cell = floor(at);
      found->index[axis][count] = i;
      found->at[axis][count] = (int32_t)((int64_t)cell - cells.lo[axis]);
      found->off[axis][count++] = at - cell - 0.5;
    }
    found->count[axis] = count;
    if (count == 0) return false;
  }
  return true;
}

static gab_status put_window(const batch *in, const errand *it, const gab_block *block, const window *cells,
                             gab_buffer *out)
{
  const bool is_as_wide_as =
      is_as_wide(in->from, gab_block_level(in->it->source, block), in->to, it->what.level);
  GAB_TRY(gab_put_u32(out, it->what.index));
  for (int axis = 0; axis < 3; axis++) {
    GAB_TRY(gab_put_i32(out, cells->count[axis]));
    for (int32_t i = 0; i < cells->count[axis]; i++) GAB_TRY(gab_put_i32(out, cells->index[axis][i]));
  }
  for (int32_t z = 0; z < cells->count[2]; z++)
    for (int32_t y = 0; y < cells->count[1]; y++)
      for (int32_t x = 0; x < cells->count[0]; x++) {
        const int32_t at[3] = {cells->at[0][x], cells->at[1][y], cells->at[2][z]};
        const double off[3] = {cells->off[0][x], cells->off[1][y], cells->off[2][z]};
        GAB_TRY(put_cell(in, block, at, off, is_as_wide_as, out));
      }
  return GAB_OK;
}

/* ---------------------------------------------------------------- replies */

/* Messages to requesters, or from repliers. */
typedef struct reply {
  gab_rank rank;
  gab_buffer message;
} reply;

typedef struct replies {
  reply *list;
  size_t count;
} replies;

static void replies_release(replies *gone)
{
  for (size_t i = 0; i < gone->count; i++) gab_buffer_release(&gone->list[i].message);
  gab_free(&gone->list);
  gone->count = 0;
}

static gab_status reply_to(replies *all, gab_rank rank, gab_buffer **message)
{
  size_t i = 0;
  while (i < all->count && all->list[i].rank != rank) i++;
  if (i == all->count) {
    GAB_TRY(gab_list_reserve(&all->list, all->count, sizeof *all->list));
    all->list[i] = (reply){.rank = rank};
    gab_buffer_init(&all->list[i].message, GAB_MEMORY_MESSAGE);
    all->count++;
    GAB_TRY(gab_message_begin(&all->list[i].message));
  }
  *message = &all->list[i].message;
  return GAB_OK;
}

static gab_status run_errands(const batch *in, const post *errands, replies *out)
{
  gab_reader reader = gab_reader_of_buffer(&errands->received);
  window cells;
  gab_status status = window_create(in->to, &cells);
  for (size_t i = 0; i < errands->received_count && status == GAB_OK; i++) {
    gab_rank rendezvous;
    errand it;
    gab_buffer *message;
    status = gab_get_i32(&reader, &rendezvous);
    if (status == GAB_OK) status = gab_get_bytes(&reader, &it, sizeof it);
    if (status != GAB_OK) break;
    const gab_block *block = gab_forest_find(in->it->source, it.id);
    if (!block) continue;
    find_positions(in, it.what.level, it.what.first);
    if (!window_find(in, block, &cells)) continue;
    status = reply_to(out, it.asker, &message);
    if (status == GAB_OK) status = put_window(in, &it, block, &cells, message);
  }
  window_release(&cells);
  return status;
}

static gab_status take_cell(const batch *in, awaited *it, size_t cell, gab_reader *reader)
{
  const size_t values = (size_t)in->it->values;
  GAB_TRY(gab_get_u8(reader, &it->kinds[cell]));
  if (it->kinds[cell] == GAB_RESAMPLED_NOTHING) return GAB_OK;
  GAB_TRY(gab_get_f64s(reader, it->values + cell * values, values));
  if (it->kinds[cell] != GAB_RESAMPLED_SAME || !in->copy) return GAB_OK;
  const size_t copied = (size_t)in->copy->values;
  return gab_get_f64s(reader, it->copied + cell * copied, copied);
}

/* One window of a message. */
static gab_status take_window(const batch *in, gab_reader *reader)
{
  uint32_t index;
  int32_t count[3], *cells[3] = {NULL, NULL, NULL};
  gab_status status = gab_get_u32(reader, &index);
  if (status == GAB_OK && index >= in->count) status = GAB_ERR_CORRUPT;
  for (int axis = 0; axis < 3 && status == GAB_OK; axis++) {
    status = gab_get_i32(reader, &count[axis]);
    if (status == GAB_OK && (count[axis] < 0 || count[axis] > in->to->cells[axis])) status = GAB_ERR_CORRUPT;
    if (status == GAB_OK) status = GAB_NEW_ARRAY(&cells[axis], (size_t)count[axis] + 1, GAB_MEMORY_OTHER);
    for (int32_t i = 0; status == GAB_OK && i < count[axis]; i++)
      status = gab_get_i32(reader, &cells[axis][i]);
  }
  for (int32_t z = 0; status == GAB_OK && z < count[2]; z++)
    for (int32_t y = 0; status == GAB_OK && y < count[1]; y++)
      for (int32_t x = 0; status == GAB_OK && x < count[0]; x++) {
        const size_t row = (size_t)cells[2][z] * (size_t)in->to->cells[1] + (size_t)cells[1][y];
        status =
            take_cell(in, &in->blocks[index], row * (size_t)in->to->cells[0] + (size_t)cells[0][x], reader);
      }
  for (int axis = 0; axis < 3; axis++) gab_free(&cells[axis]);
  return status;
}

static gab_status deliver(const batch *in, replies *sent, const post *notices, replies *received)
{
  gab_port *port = in->it->port;
  gab_reader reader = gab_reader_of_buffer(&notices->received);
  gab_status status = GAB_NEW_ARRAY(&received->list, notices->received_count + 1, GAB_MEMORY_OTHER);
  for (size_t i = 0; status == GAB_OK && i < notices->received_count; i++) {
    uint64_t bytes = 0;
    reply *from = &received->list[received->count++];
    *from = (reply){.rank = GAB_NO_RANK};
    gab_buffer_init(&from->message, GAB_MEMORY_MESSAGE);
    status = gab_get_i32(&reader, &from->rank);
    if (status == GAB_OK) status = gab_get_bytes(&reader, &bytes, sizeof bytes);
    if (status == GAB_OK) status = gab_port_receive(port, from->rank, &from->message, (size_t)bytes);
  }
  for (size_t i = 0; status == GAB_OK && i < sent->count; i++)
    status = gab_port_send(port, sent->list[i].rank, &sent->list[i].message);
  GAB_TRY(gab_port_give_up(port, status));
  return gab_port_finish(port);
}

static gab_status list_notices(const replies *out, post *mail)
{
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t bytes = gab_message_bytes(&out->list[i].message);
    GAB_TRY(post_add(mail, &bytes, sizeof bytes, out->list[i].rank));
  }
  return GAB_OK;
}

static gab_status take_replies(const batch *in, const replies *received)
{
  for (size_t i = 0; i < received->count; i++) {
    gab_reader reader = gab_message_reader(&received->list[i].message);
    while (gab_reader_left(&reader) > 0) GAB_TRY(take_window(in, &reader));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- all batches */

static gab_status fetch(const batch *in)
{
  gab_world *world = gab_forest_world(in->it->source);
  post asked = {.count = 0}, errands = {.count = 0}, notices = {.count = 0};
  replies out = {.list = NULL}, received = {.list = NULL};
  gab_status status = post_send(world, &asked, sizeof(request), ask(in, &asked));
  if (status == GAB_OK) status = post_send(world, &errands, sizeof(errand), hand_on(in, &asked, &errands));
  if (status == GAB_OK) {
    const gab_status done = run_errands(in, &errands, &out);
    status =
        post_send(world, &notices, sizeof(uint64_t), done == GAB_OK ? list_notices(&out, &notices) : done);
  }
  if (status == GAB_OK) status = deliver(in, &out, &notices, &received);
  if (status == GAB_OK) status = take_replies(in, &received);
  replies_release(&out);
  replies_release(&received);
  post_release(&asked);
  post_release(&errands);
  post_release(&notices);
  return status;
}

static gab_status batch_create(batch *in, size_t capacity)
{
  const size_t values = (size_t)in->it->values, copied = in->copy ? (size_t)in->copy->values : 0;
  GAB_TRY(GAB_NEW_ARRAY(&in->blocks, capacity, GAB_MEMORY_OTHER));
  for (int axis = 0; axis < 3; axis++)
    GAB_TRY(GAB_NEW_ARRAY(&in->positions[axis], (size_t)in->to->cells[axis], GAB_MEMORY_OTHER));
  for (size_t i = 0; i < capacity; i++) {
    GAB_TRY(GAB_NEW_ARRAY(&in->blocks[i].kinds, in->cells, GAB_MEMORY_OTHER));
    GAB_TRY(GAB_NEW_ARRAY(&in->blocks[i].values, in->cells * values, GAB_MEMORY_OTHER));
    if (copied > 0) GAB_TRY(GAB_NEW_ARRAY(&in->blocks[i].copied, in->cells * copied, GAB_MEMORY_OTHER));
  }
  return copied > 0 ? GAB_NEW_ARRAY(&in->scratch, copied, GAB_MEMORY_OTHER) : GAB_OK;
}

static void batch_release(batch *in, size_t capacity)
{
  for (size_t i = 0; in->blocks && i < capacity; i++) {
    gab_free(&in->blocks[i].kinds);
    gab_free(&in->blocks[i].values);
    gab_free(&in->blocks[i].copied);
  }
  for (int axis = 0; axis < 3; axis++) gab_free(&in->positions[axis]);
  gab_free(&in->scratch);
  gab_free(&in->blocks);
  gab_free(&in->leaves);
}

static gab_status evaluate_batch(batch *in, size_t capacity, gab_resampled_fn *take, void *user)
{
  const size_t blocks = gab_forest_block_count(in->target);
  in->count = in->first < blocks ? blocks - in->first : 0;
  if (in->count > capacity) in->count = capacity;
  for (size_t i = 0; i < in->count; i++) in->blocks[i].block = gab_forest_block(in->target, in->first + i);
  gab_status status = fetch(in);
  for (size_t i = 0; i < in->count && status == GAB_OK; i++)
    status = take(user, in->blocks[i].block, in->blocks[i].kinds, in->blocks[i].values, in->blocks[i].copied);
  in->first += in->count;
  return gab_world_reduce_status(gab_forest_world(in->target), status);
}

gab_status gab_resampler_evaluate(gab_resampler *it, gab_forest *target, const gab_resampler_copy *copy,
                                  gab_resampled_fn *take, void *user)
{
  const gab_forest_options *from = gab_forest_get_options(it->source), *to = gab_forest_get_options(target);
  gab_world *world = gab_forest_world(target);
  if (from->grid.dimension != to->grid.dimension)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a source of %d dimensions for a target of %d", from->grid.dimension,
             to->grid.dimension);
  batch in = {.it = it, .target = target, .copy = copy, .from = from, .to = to};
  in.cells = (size_t)to->cells[0] * (size_t)to->cells[1] * (size_t)to->cells[2];
  const size_t capacity = in.cells < BATCH_CELLS ? BATCH_CELLS / in.cells : 1;
  uint64_t rounds = (gab_forest_block_count(target) + capacity - 1) / capacity;
  gab_status status = gab_world_max_u64(world, &rounds, 1);
  if (status == GAB_OK) status = gab_world_reduce_status(world, batch_create(&in, capacity));
  if (status == GAB_OK) status = meet(&in);
  for (uint64_t round = 0; round < rounds && status == GAB_OK; round++)
    status = evaluate_batch(&in, capacity, take, user);
  batch_release(&in, capacity);
  return status;
}
