/* SPDX-License-Identifier: Apache-2.0 */
/* The velocity at a position, where cells around it may be solid, beyond a side, or on another level. */
#include "blockforest/particles/tracers_impl.h"

#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/position.h"

#include <math.h>

/* What a cell is that has no velocity. */
typedef enum kind { SOLID, UNKNOWN } kind;

enum { MOST_CORNERS = 8 };

/* The cells around a position. */
typedef struct stencil {
  const gab_tracers *tracers;
  const gab_field *field;
  gab_box cells; /* of the block */
  int level, dimension;
  int32_t low[3];
  double share[3]; /* below 0 or above 1 where it extrapolates */
} stencil;

static bool is_known(const stencil *at, const int32_t cell[3])
{
  return isfinite(gab_field_get(at->field, cell[0], cell[1], cell[2], 0));
}

/* A cell without velocity: solid, or beyond a side, on another level or where no block is. */
static kind kind_of(const stencil *at, const int32_t cell[3], double velocity[3])
{
  const gab_forest *forest = at->tracers->forest;
  const gab_box all = gab_forest_domain_cells(forest);
  int64_t there[3] = {0, 0, 0};
  velocity[0] = velocity[1] = velocity[2] = 0;
  for (int axis = 0; axis < at->dimension; axis++) {
    const int64_t cells = all.hi[axis] << at->level;
    there[axis] = at->cells.lo[axis] + cell[axis];
    if (forest->options.periodic[axis]) there[axis] = (there[axis] + cells) % cells;
    else if (there[axis] < 0 || there[axis] >= cells) return UNKNOWN;
  }
  const gab_tracers_options *options = &at->tracers->options;
  return options->is_solid && options->is_solid(options->user, at->level, there, velocity) ? SOLID : UNKNOWN;
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
    const int32_t cells = at->field->shape.cells[axis];
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

static stencil stencil_of(const gab_tracers *tracers, const gab_block *block, const double at[3])
{
  const gab_forest_options *options = &tracers->forest->options;
  stencil made = {.tracers = tracers,
                  .field = gab_block_data(block, tracers->velocity),
                  .cells = gab_block_cells(tracers->forest, block),
                  .level = gab_block_level(tracers->forest, block),
                  .dimension = options->grid.dimension};
  for (int axis = 0; axis < made.dimension; axis++) {
    const double place = ldexp((at[axis] - options->origin[axis]) / options->dx, made.level) -
                         (double)made.cells.lo[axis] - 0.5;
    made.low[axis] = (int32_t)floor(place);
    made.share[axis] = place - made.low[axis];
  }
  return made;
}

/* Values of the corners; true if all are known. */
static bool read_corners(const stencil *at, double values[MOST_CORNERS][3], bool known[MOST_CORNERS])
{
  bool all = true;
  for (int corner = 0; corner < 1 << at->dimension; corner++) {
    int32_t cell[3];
    corner_cell(at, corner, cell);
    known[corner] = is_known(at, cell);
    all &= known[corner];
    for (int k = 0; k < at->dimension; k++)
      values[corner][k] = gab_field_get(at->field, cell[0], cell[1], cell[2], k);
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

void gab_tracers_velocity_at(const gab_tracers *tracers, const gab_block *block, const double at[3],
                             double velocity[3])
{
  stencil around = stencil_of(tracers, block, at);
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

/* Of a position inside the domain. */
static bool is_solid_at(const gab_tracers *tracers, int level, const double at[3])
{
  const gab_forest_options *options = &tracers->forest->options;
  int64_t cell[3] = {0, 0, 0};
  double wall[3] = {0, 0, 0};
  if (!tracers->options.is_solid) return false;
  for (int axis = 0; axis < options->grid.dimension; axis++)
    cell[axis] = (int64_t)floor(ldexp((at[axis] - options->origin[axis]) / options->dx, level));
  return tracers->options.is_solid(tracers->options.user, level, cell, wall);
}

static bool is_beyond_closed(const gab_tracers *tracers, const double at[3])
{
  const gab_forest_options *options = &tracers->forest->options;
  const gab_box all = gab_forest_domain_cells(tracers->forest);
  for (int axis = 0; axis < options->grid.dimension; axis++) {
    const double cell = (at[axis] - options->origin[axis]) / options->dx;
    if (options->periodic[axis]) continue;
    if (cell < 0 && tracers->options.closed[2 * axis]) return true;
    if (cell >= (double)all.hi[axis] && tracers->options.closed[2 * axis + 1]) return true;
  }
  return false;
}

bool gab_tracers_may_be_at(const gab_tracers *tracers, const gab_block *block, const double at[3])
{
  const gab_forest *forest = tracers->forest;
  const gab_box cells = gab_block_cells(forest, block);
  const int level = gab_block_level(forest, block);
  double inside[3] = {at[0], at[1], at[2]};
  if (gab_cells_contain(forest, level, &cells, at)) return !is_solid_at(tracers, level, at);
  if (is_beyond_closed(tracers, at)) return false;
  if (!gab_forest_wrap(forest, inside)) return true; /* it leaves through an open side */
  const gab_neighbour *there = gab_block_neighbour_at(forest, block, inside);
  return there && !is_solid_at(tracers, gab_block_id_level(&forest->options.grid, there->id), inside);
}
