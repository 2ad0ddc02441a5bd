/* SPDX-License-Identifier: Apache-2.0 */
/* The velocity at a position, where cells around it may be solid, beyond a side, or on another level. */
#include "blockforest/particles/tracers_impl.h"

#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/position.h"

#include <math.h>

/* What a cell is that has no velocity. */
typedef enum kind { SOLID, UNKNOWN } kind;

enum { MOST_CORNERS = 8 };

gab_tracers_place gab_tracers_place_of(const gab_tracers *tracers, const gab_block *block)
{
  return (gab_tracers_place){.tracers = tracers,
                             .block = block,
                             .field = gab_block_data(block, tracers->velocity),
                             .cells = gab_block_cells(tracers->forest, block),
                             .level = gab_block_level(tracers->forest, block),
                             .dimension = tracers->forest->options.grid.dimension};
}

/* The cells around a position. */
typedef struct stencil {
  const gab_tracers_place *place;
  int dimension;
  int32_t low[3];
  double share[3]; /* below 0 or above 1 where it extrapolates */
} stencil;

static bool is_known(const stencil *at, const int32_t cell[3])
{
  return isfinite(gab_field_get(at->place->field, cell[0], cell[1], cell[2], 0));
}

/* A cell without velocity: solid, or beyond a side, on another level or where no block is. */
static kind kind_of(const stencil *at, const int32_t cell[3], double velocity[3])
{
  const gab_forest *forest = at->place->tracers->forest;
  const gab_box all = gab_forest_domain_cells(forest);
  int64_t there[3] = {0, 0, 0};
  velocity[0] = velocity[1] = velocity[2] = 0;
  for (int axis = 0; axis < at->dimension; axis++) {
    const int64_t cells = all.hi[axis] << at->place->level;
    there[axis] = at->place->cells.lo[axis] + cell[axis];
    if (forest->options.periodic[axis]) there[axis] = (there[axis] + cells) % cells;
    else if (there[axis] < 0 || there[axis] >= cells) return UNKNOWN;
  }
  const gab_tracers_options *options = &at->place->tracers->options;
  return options->is_solid && options->is_solid(options->user, at->place->level, there, velocity) ? SOLID
                                                                                                  : UNKNOWN;
}

static void corner_cell(const stencil *at, int corner, int32_t cell[3])
{
  for (int axis = 0; axis < 3; axis++)
    cell[axis] = at->low[axis] + (axis < at->dimension ? corner >> axis & 1 : 0);
}

/* Whether a ghost that the stencil reads along an axis is unknown. */
static bool lacks_ghosts(const stencil *at, int axis, int upper)
{
  for (int corner = 0; corner < 1 << at->dimension; corner++) {
    int32_t cell[3];
    double wall[3];
    if ((corner >> axis & 1) != upper) continue;
    corner_cell(at, corner, cell);
    if (!is_known(at, cell) && kind_of(at, cell, wall) == UNKNOWN) return true;
  }
  return false;
}

/* Where ghosts are unknown the stencil moves into the block, axis by axis. */
static void move_inside(stencil *at)
{
  for (int axis = 0; axis < at->dimension; axis++) {
    const int32_t cells = at->place->field->shape.cells[axis];
    if (cells < 2) continue;
    if (at->low[axis] < 0 && lacks_ghosts(at, axis, 0)) {
      at->low[axis]++;
      at->share[axis] -= 1;
    } else if (at->low[axis] + 1 >= cells && lacks_ghosts(at, axis, 1)) {
      at->low[axis]--;
      at->share[axis] += 1;
    }
  }
}

static stencil stencil_of(const gab_tracers_place *place, const double at[3])
{
  stencil made = {.place = place, .dimension = place->dimension};
  for (int axis = 0; axis < made.dimension; axis++) {
    const double cell = gab_position_in_cells(place->tracers->forest, place->level, at, axis) -
                        (double)place->cells.lo[axis] - 0.5;
    made.low[axis] = (int32_t)floor(cell);
    made.share[axis] = cell - made.low[axis];
  }
  return made;
}

/* Values of the corners; true if all are known. */
static bool read_corners(const stencil *at, double values[MOST_CORNERS][3], bool known[MOST_CORNERS])
{
  const gab_field_map *map = &at->place->field->map;
  const double *first =
      (const double *)at->place->field->data + gab_field_index(map, at->low[0], at->low[1], at->low[2], 0);
  bool all = true;
  for (int corner = 0; corner < 1 << at->dimension; corner++) {
    const double *from = first + (corner & 1) * map->stride[0] + (corner >> 1 & 1) * map->stride[1] +
                         (corner >> 2 & 1) * map->stride[2];
    known[corner] = isfinite(*from);
    all &= known[corner];
    for (int k = 0; k < at->dimension; k++) values[corner][k] = from[k * map->component_stride];
  }
  return all;
}

/* Corners without a velocity get one by their neighbours among the corners: mirrored at a wall half-way, else the same. */
static void fill_corners(const stencil *at, double values[MOST_CORNERS][3], const bool known[MOST_CORNERS])
{
  for (int corner = 0; corner < 1 << at->dimension; corner++) {
    int32_t cell[3];
    double wall[3], sum[3] = {0, 0, 0};
    int count = 0;
    if (known[corner]) continue;
    corner_cell(at, corner, cell);
    const kind what = kind_of(at, cell, wall);
    for (int axis = 0; axis < at->dimension; axis++) {
      const int next = corner ^ 1 << axis;
      if (!known[next]) continue;
      count++;
      for (int k = 0; k < at->dimension; k++) sum[k] += values[next][k];
    }
    for (int k = 0; k < at->dimension; k++) {
      const double mean = count > 0 ? sum[k] / count : wall[k];
      values[corner][k] = what == SOLID ? 2 * wall[k] - mean : count > 0 ? mean : 0;
    }
  }
}

void gab_tracers_velocity_at(const gab_tracers_place *place, const double at[3], double velocity[3])
{
  stencil around = stencil_of(place, at);
  double values[MOST_CORNERS][3];
  bool known[MOST_CORNERS];
  if (!read_corners(&around, values, known)) {
    move_inside(&around);
    if (!read_corners(&around, values, known)) fill_corners(&around, values, known);
  }
  velocity[0] = velocity[1] = velocity[2] = 0;
  for (int corner = 0; corner < 1 << around.dimension; corner++) {
    double weight = 1;
    for (int axis = 0; axis < around.dimension; axis++)
      weight *= corner >> axis & 1 ? around.share[axis] : 1 - around.share[axis];
    for (int k = 0; k < around.dimension; k++) velocity[k] += weight * values[corner][k];
  }
}

/* ---------------------------------------------------------------- walls */

static bool is_solid_cell(const gab_tracers *tracers, int level, const int64_t cell[3])
{
  double wall[3] = {0, 0, 0};
  return tracers->options.is_solid && tracers->options.is_solid(tracers->options.user, level, cell, wall);
}

/* Of a position inside the domain. */
static void cell_of(const gab_tracers *tracers, int level, const double at[3], int64_t cell[3])
{
  cell[0] = cell[1] = cell[2] = 0;
  for (int axis = 0; axis < tracers->forest->options.grid.dimension; axis++)
    cell[axis] = (int64_t)floor(gab_position_in_cells(tracers->forest, level, at, axis));
}

/* A cell with a velocity is not solid. */
static bool is_solid_here(const gab_tracers_place *place, const int64_t cell[3])
{
  const gab_box *box = &place->cells;
  const double u = gab_field_get(place->field, (int32_t)(cell[0] - box->lo[0]),
                                 (int32_t)(cell[1] - box->lo[1]), (int32_t)(cell[2] - box->lo[2]), 0);
  return !isfinite(u) && is_solid_cell(place->tracers, place->level, cell);
}

static bool is_beyond_closed(const gab_tracers *tracers, const double at[3])
{
  const gab_forest_options *options = &tracers->forest->options;
  const gab_box all = gab_forest_domain_cells(tracers->forest);
  for (int axis = 0; axis < options->grid.dimension; axis++) {
    const double cell = (at[axis] - options->origin[axis]) / options->dx;
    const bool is_below = cell < 0, is_above = cell >= (double)all.hi[axis];
    if (options->periodic[axis] || !(is_below || is_above)) continue;
    const int side = 2 * axis + is_above;
    if (tracers->options.is_closed ? tracers->options.is_closed(tracers->options.user, side, at)
                                   : tracers->options.closed[side])
      return true;
  }
  return false;
}

bool gab_tracers_may_be_at(const gab_tracers_place *place, const double at[3])
{
  const gab_tracers *tracers = place->tracers;
  const gab_forest *forest = tracers->forest;
  double inside[3] = {at[0], at[1], at[2]};
  int64_t cell[3];
  if (gab_cells_contain(forest, place->level, &place->cells, at)) {
    cell_of(tracers, place->level, at, cell);
    return !is_solid_here(place, cell);
  }
  if (is_beyond_closed(tracers, at)) return false;
  if (!gab_forest_wrap(forest, inside)) return true; /* it leaves through an open side */
  const gab_neighbour *there = gab_block_neighbour_at(forest, place->block, inside);
  if (!there) return false;
  const int level = gab_block_id_level(&forest->options.grid, there->id);
  cell_of(tracers, level, inside, cell);
  return !is_solid_cell(tracers, level, cell);
}
