/* SPDX-License-Identifier: Apache-2.0 */
/* Particles and fields: interpolation, and deposits, its adjoint.
 *
 * A deposit adds shares in the order of ids, whoever owns the blocks. So records near a border are sent to the blocks that get a share of
 * them, as *visitors*, and each block adds the shares of its own records and of visitors in one pass. */
#include "blockforest/particles/particles_impl.h"

#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/position.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CORNERS = 8 };

/* The cells around a position between whose centres it lies. */
typedef struct corners {
  int count;
  int64_t cell[MOST_CORNERS][3]; /* of the level; wrapped at periodic sides, else moved into the domain */
  double weight[MOST_CORNERS];
} corners;

/* A record near a border, in a block that gets a share of it. */
typedef struct visitor {
  gab_block_id block;
  uint64_t id;
  int64_t level; /* of the block that contains it */
  double at[3];
  double amounts[GAB_PARTICLE_MOST_AMOUNTS];
} visitor;

typedef struct deposit {
  gab_particles *particles;
  gab_data_id field;
  int first, count;
  gab_particle_amounts_fn amounts;
  void *user;
  visitor *visitors; /* ascending by block and id */
  size_t visitor_count;
} deposit;

/* ---------------------------------------------------------------- weights */

static int64_t into_domain(int64_t cell, int64_t cells, bool is_periodic)
{
  if (is_periodic) return ((cell % cells) + cells) % cells;
  return cell < 0 ? 0 : cell >= cells ? cells - 1 : cell;
}

static corners corners_of(const gab_forest *forest, int level, const double at[3])
{
  const gab_forest_options *options = &forest->options;
  const gab_box all = gab_forest_domain_cells(forest);
  const int dimension = options->grid.dimension;
  int64_t low[3] = {0, 0, 0};
  double share[3] = {0, 0, 0};
  corners found = {.count = 1 << dimension};
  for (int axis = 0; axis < dimension; axis++) {
    const double place = gab_position_in_cells(forest, level, at, axis) - 0.5;
    low[axis] = (int64_t)floor(place);
    share[axis] = place - (double)low[axis];
  }
  for (int corner = 0; corner < found.count; corner++) {
    found.weight[corner] = 1;
    for (int axis = 0; axis < dimension; axis++) {
      const int upper = corner >> axis & 1;
      found.cell[corner][axis] =
          into_domain(low[axis] + upper, all.hi[axis] << level, options->periodic[axis]);
      found.weight[corner] *= upper ? share[axis] : 1 - share[axis];
    }
  }
  return found;
}

/* The cells of a block that a cell of a level next to its own is, is a part of, or consists of. */
static bool overlap(const gab_forest *forest, int block_level, const gab_box *block, int level,
                    const int64_t cell[3], gab_box *part)
{
  *part = (gab_box){{0, 0, 0}, {1, 1, 1}};
  for (int axis = 0; axis < forest->options.grid.dimension; axis++) {
    const int64_t lo = block_level > level   ? cell[axis] * 2
                       : block_level < level ? cell[axis] >> 1
                                             : cell[axis];
    part->lo[axis] = lo - block->lo[axis];
    part->hi[axis] = part->lo[axis] + (block_level > level ? 2 : 1);
    if (lo < block->lo[axis] || lo >= block->hi[axis]) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- values at positions */

double gab_field_interpolate(const gab_forest *forest, const gab_block *block, const gab_field *field,
                             int component, const double at[3])
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  const gab_box cells = gab_block_cells(forest, block);
  const int level = gab_block_level(forest, block), dimension = options->grid.dimension;
  int32_t low[3] = {0, 0, 0};
  double share[3] = {0, 0, 0}, sum = 0;
  for (int axis = 0; axis < dimension; axis++) {
    const double place = gab_position_in_cells(forest, level, at, axis) - (double)cells.lo[axis] - 0.5;
    low[axis] = (int32_t)floor(place);
    share[axis] = place - low[axis];
  }
  for (int corner = 0; corner < 1 << dimension; corner++) {
    double weight = 1;
    int32_t cell[3] = {0, 0, 0};
    for (int axis = 0; axis < dimension; axis++) {
      const int upper = corner >> axis & 1;
      cell[axis] = low[axis] + upper;
      weight *= upper ? share[axis] : 1 - share[axis];
    }
    sum += weight * gab_field_get(field, cell[0], cell[1], cell[2], component);
  }
  return sum;
}

/* ---------------------------------------------------------------- visitors go out */

/* The neighbour that gets the share of a cell. */
static const gab_neighbour *neighbour_of(const gab_forest *forest, const gab_block *block, int level,
                                         const int64_t cell[3])
{
  gab_box part;
  for (size_t r = 0; r < block->neighbour_count; r++) {
    const gab_neighbour *row = &block->neighbours[r];
    const gab_box cells = gab_forest_place_cells(forest, row->id);
    const int there = gab_block_id_level(&forest->options.grid, row->id);
    if (overlap(forest, there, &cells, level, cell, &part)) return row;
  }
  return NULL;
}

static gab_status send_visitor(const deposit *it, const gab_neighbour *to, int level,
                               const gab_particle *record)
{
  gab_particles_channel *by = gab_particles_channel_to(it->particles, to->owner);
  visitor going = {.block = to->id, .id = record->id, .level = level};
  for (int axis = 0; axis < it->particles->forest->options.grid.dimension; axis++)
    going.at[axis] = record->at[axis];
  it->amounts(it->user, record, going.amounts);
  return gab_put_bytes(by ? &by->out : &it->particles->here, &going, sizeof going);
}

static gab_status send_record(const deposit *it, const gab_block *block, const gab_box *cells, int level,
                              const gab_particle *record)
{
  const gab_forest *forest = it->particles->forest;
  const corners around = corners_of(forest, level, record->at);
  gab_block_id told[MOST_CORNERS];
  int told_count = 0;
  if (!gab_cells_contain(forest, level, cells, record->at))
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "particle %" PRIu64 " at (%g, %g, %g) is outside of its block " GAB_PRI_BLOCK
             ": call gab_particles_move() before a deposit",
             record->id, record->at[0], record->at[1], record->at[2], block->id);
  for (int corner = 0; corner < around.count; corner++) {
    gab_box part;
    if (overlap(forest, level, cells, level, around.cell[corner], &part)) continue;
    const gab_neighbour *to = neighbour_of(forest, block, level, around.cell[corner]);
    if (!to) continue;
    bool is_told = false;
    for (int t = 0; t < told_count; t++) is_told |= told[t] == to->id;
    if (is_told) continue;
    told[told_count++] = to->id;
    GAB_TRY(send_visitor(it, to, level, record));
  }
  return GAB_OK;
}

static gab_status send_visitors(const deposit *it)
{
  const gab_forest *forest = it->particles->forest;
  for (size_t b = 0; b < forest->block_count; b++) {
    const gab_block *block = forest->blocks[b];
    const gab_particles_bag *bag = gab_block_data(block, it->particles->data);
    const gab_box cells = gab_block_cells(forest, block);
    for (size_t i = 0; i < bag->count; i++)
      GAB_TRY(send_record(it, block, &cells, gab_block_level(forest, block),
                          (const void *)(bag->records + i * it->particles->record_bytes)));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- and come in */

static int by_block_and_id(const void *a, const void *b)
{
  const visitor *left = a, *right = b;
  if (left->block != right->block) return left->block < right->block ? -1 : 1;
  return left->id < right->id ? -1 : left->id > right->id;
}

static gab_status take_in(deposit *it, gab_reader in)
{
  const size_t left = gab_reader_left(&in), count = left / sizeof(visitor);
  if (left % sizeof(visitor) != 0) GAB_FAIL(GAB_ERR_CORRUPT, "%zu bytes of visitors of a deposit", left);
  if (count == 0) return GAB_OK;
  GAB_TRY(GAB_RESIZE_ARRAY(&it->visitors, it->visitor_count + count, GAB_MEMORY_MESSAGE));
  GAB_TRY(gab_get_bytes(&in, it->visitors + it->visitor_count, left));
  it->visitor_count += count;
  return GAB_OK;
}

static gab_status exchange_visitors(deposit *it)
{
  gab_particles *particles = it->particles;
  GAB_TRY(gab_particles_open_channels(particles));
  GAB_TRY(gab_particles_begin_messages(particles));
  GAB_TRY(send_visitors(it));
  GAB_TRY(gab_particles_swap_messages(particles));
  GAB_TRY(take_in(it, gab_reader_of_buffer(&particles->here)));
  for (size_t c = 0; c < particles->channel_count; c++)
    GAB_TRY(take_in(it, gab_message_reader(&particles->channels[c].in)));
  if (it->visitor_count > 1) qsort(it->visitors, it->visitor_count, sizeof(visitor), by_block_and_id);
  return GAB_OK;
}

/* ---------------------------------------------------------------- sums */

/* Of a block that adds. */
typedef struct place {
  const gab_block *block;
  gab_box cells;
  int level;
  gab_field *field;
} place;

static void add_to_cells(const deposit *it, const place *to, const gab_box *part, double weight,
                         const double *amounts)
{
  weight /= (double)gab_box_count(part);
  for (int64_t z = part->lo[2]; z < part->hi[2]; z++)
    for (int64_t y = part->lo[1]; y < part->hi[1]; y++)
      for (int64_t x = part->lo[0]; x < part->hi[0]; x++)
        for (int k = 0; k < it->count; k++) {
          const int32_t at[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
          const double before = gab_field_get(to->field, at[0], at[1], at[2], it->first + k);
          gab_field_set(to->field, at[0], at[1], at[2], it->first + k, before + weight * amounts[k]);
        }
}

/* Where nobody gets the share of a cell, the nearest cell of the record's block does. */
static void nearest(const place *to, int64_t cell[3])
{
  for (int axis = 0; axis < 3; axis++) {
    if (cell[axis] < to->cells.lo[axis]) cell[axis] = to->cells.lo[axis];
    if (cell[axis] >= to->cells.hi[axis]) cell[axis] = to->cells.hi[axis] - 1;
  }
}

/* @param[in] level  of the block that contains the position @param[in] is_own  which is this one */
static void add_shares(const deposit *it, const place *to, int level, bool is_own, const double at[3],
                       const double *amounts)
{
  const gab_forest *forest = it->particles->forest;
  corners around = corners_of(forest, level, at);
  for (int corner = 0; corner < around.count; corner++) {
    gab_box part;
    bool is_here = overlap(forest, to->level, &to->cells, level, around.cell[corner], &part);
    if (!is_here && is_own && !neighbour_of(forest, to->block, level, around.cell[corner])) {
      nearest(to, around.cell[corner]);
      is_here = overlap(forest, to->level, &to->cells, level, around.cell[corner], &part);
    }
    if (is_here) add_to_cells(it, to, &part, around.weight[corner], amounts);
  }
}

static size_t first_visitor(const deposit *it, gab_block_id block)
{
  size_t lo = 0, hi = it->visitor_count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (it->visitors[middle].block < block) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

static void add_to_block(const deposit *it, const gab_block *block)
{
  const gab_forest *forest = it->particles->forest;
  const place to = {.block = block,
                    .cells = gab_block_cells(forest, block),
                    .level = gab_block_level(forest, block),
                    .field = gab_block_data(block, it->field)};
  const gab_particles_bag *bag = gab_block_data(block, it->particles->data);
  size_t v = first_visitor(it, block->id);
  for (size_t i = 0; i <= bag->count; i++) {
    const gab_particle *record =
        i < bag->count ? (const void *)(bag->records + i * it->particles->record_bytes) : NULL;
    for (; v < it->visitor_count && it->visitors[v].block == block->id &&
           (!record || it->visitors[v].id < record->id);
         v++)
      add_shares(it, &to, (int)it->visitors[v].level, false, it->visitors[v].at, it->visitors[v].amounts);
    if (!record) break;
    double amounts[GAB_PARTICLE_MOST_AMOUNTS] = {0};
    it->amounts(it->user, record, amounts);
    add_shares(it, &to, to.level, true, record->at, amounts);
  }
}

static gab_status check_components(const deposit *it)
{
  const gab_forest *forest = it->particles->forest;
  GAB_TRY(gab_forest_check_data(forest, it->field, "a deposit of particles"));
  const gab_field *field = forest->block_count > 0 ? gab_block_data(forest->blocks[0], it->field) : NULL;
  if (it->count < 1 || it->count > GAB_PARTICLE_MOST_AMOUNTS || it->first < 0 ||
      (field && it->first + it->count > field->shape.components))
    GAB_FAIL(
        GAB_ERR_ARGUMENT,
        "a deposit of %d amounts from component %d on: the field has %d, and 1 to %d amounts are possible",
        it->count, it->first, field ? field->shape.components : 0, (int)GAB_PARTICLE_MOST_AMOUNTS);
  return GAB_OK;
}

static gab_status add_all(deposit *it)
{
  const gab_forest *forest = it->particles->forest;
  GAB_TRY(check_components(it));
  GAB_TRY(exchange_visitors(it));
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t b = 0; b < forest->block_count; b++) add_to_block(it, forest->blocks[b]);
  return GAB_OK;
}

gab_status gab_particles_deposit(gab_particles *particles, gab_data_id field, int first, int count,
                                 gab_particle_amounts_fn amounts, void *user)
{
  gab_world *world = gab_forest_world(particles->forest);
  deposit it = {.particles = particles,
                .field = field,
                .first = first,
                .count = count,
                .amounts = amounts,
                .user = user};
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_FAULT_POINT_EXCHANGE);
  const gab_status status = add_all(&it);
  gab_free(&it.visitors);
  return status == GAB_OK ? GAB_OK : gab_particles_abandon(particles, status);
}
