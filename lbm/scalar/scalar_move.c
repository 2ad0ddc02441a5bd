/* SPDX-License-Identifier: Apache-2.0 */
/* A sub-step of a scalar on a block: fluxes between cells, walls of bodies, source. */
#include "lbm/scalar/scalar_impl.h"

#include "lbm/lbm_impl.h"

/* ---------------------------------------------------------------- fluxes through a row of faces */

enum { ROW = 128 };

typedef struct row_of_faces {
  const gab_lbm_scalar *it;
  const gab_field *now, *next;
  const scalar_cells *cells;
  scalar_rates rates;
  int32_t x, y, z, count; /* of the cells */
} row_of_faces;

/* After the flux between cells: closed faces have no flux, and faces at the end of the block may have a separate one. */
static double face_or(const row_of_faces *row, const int32_t ghost[3], double flux)
{
  const double own = gab_field_get(row->next, ghost[0], ghost[1], ghost[2], SCALAR_VALUE);
  return isnan(own) ? flux : own;
}

/* Along the axis, through a side of a cell where one of both cells is solid. */
static double conducted(const row_of_faces *row, int32_t x, int side)
{
  const gab_field *now = row->now;
  const int component = scalar_eddies(row->it);
  const int32_t cell[3] = {x, row->y, row->z};
  int32_t next[3] = {x, row->y, row->z};
  const size_t index = scalar_cell_at(now, cell);
  const scalar_path *path = &row->cells->paths[index * 6 + (size_t)side];
  if (path->fluid == 0 && path->solid == 0) return 0;
  next[side / 2] += side % 2 ? 1 : -1;
  const int32_t *fluid = row->cells->closed[index] & SCALAR_SOLID ? next : cell;
  const double eddies = component ? gab_field_get(now, fluid[0], fluid[1], fluid[2], component) : 0;
  const double resistance =
      path->fluid / (row->rates.conducts + row->rates.spreads * eddies) + path->solid / row->rates.conducts;
  const double rise = gab_field_get(now, next[0], next[1], next[2], SCALAR_VALUE) -
                      gab_field_get(now, x, row->y, row->z, SCALAR_VALUE);
  return (side % 2 ? -rise : rise) / resistance;
}

static void close_faces(const row_of_faces *row, int side, double *flux)
{
  if (!row->cells->closed) return;
  const uint8_t *closed =
      row->cells->closed + scalar_cell_at(row->now, (const int32_t[3]){row->x, row->y, row->z});
  for (int32_t i = 0; i < row->count; i++)
    if (closed[i] >> side & 1) flux[i] = row->cells->paths ? conducted(row, row->x + i, side) : 0;
}

/* Of the cells with the values t; NULL: there are none. */
static const double *eddies_of(const row_of_faces *row, const double *t)
{
  const int component = scalar_eddies(row->it);
  return component ? t + component * row->now->map.component_stride : NULL;
}

/* Through faces of a row. @param[in] t, j  of the cells above the faces */
static void find_central(const row_of_faces *row, const double *t, const double *j, ptrdiff_t before,
                         int32_t count, double *flux)
{
  const double *eddies = eddies_of(row, t);
  const scalar_rates rates = row->rates;
  if (!eddies) {
#pragma omp simd
    for (int32_t i = 0; i < count; i++) flux[i] = scalar_flux(t + i, j + i, before, rates);
    return;
  }
#pragma omp simd
  for (int32_t i = 0; i < count; i++)
    flux[i] = scalar_flux(t + i, j + i, before, scalar_rates_between(rates, eddies[i], eddies[i + before]));
}

/* Through the faces of cells of a row at a side, with limited values. @param[in] t, j  of the cells above the faces */
static void find_bounded(const row_of_faces *row, int side, const double *t, const double *j, double *flux)
{
  const size_t first = scalar_cell_at(row->now, (const int32_t[3]){row->x, row->y, row->z});
  const uint8_t *closed = row->cells->closed ? row->cells->closed + first : NULL,
                *far = row->cells->far ? row->cells->far + first : NULL;
  const ptrdiff_t before = -row->now->map.stride[side / 2];
  const double *eddies = eddies_of(row, t);
  const bool is_upper = side % 2;
  for (int32_t i = 0; i < row->count; i++) {
    const bool inner = scalar_has_bit(closed, (size_t)i, side ^ 1),
               outer = scalar_has_bit(far, (size_t)i, side);
    const scalar_rates rates =
        eddies ? scalar_rates_between(row->rates, eddies[i], eddies[i + before]) : row->rates;
    flux[i] =
        scalar_bounded_flux(t + i, j + i, before, rates, is_upper ? inner : outer, is_upper ? outer : inner);
  }
}

/* Through the faces of the cells of a row at a side along y or z. */
static void find_lateral(const row_of_faces *row, int side, double *flux)
{
  const int axis = side / 2;
  const ptrdiff_t before = -row->now->map.stride[axis];
  int32_t cell[3] = {row->x, row->y, row->z};
  cell[axis] += side % 2;
  const double *t = scalar_row(row->now, cell[1], cell[2]) + row->x;
  const double *j = t + (SCALAR_MOMENTUM + axis) * row->now->map.component_stride;
  if (row->it->options.bounded) find_bounded(row, side, t, j, flux);
  else find_central(row, t, j, before, row->count, flux);
  close_faces(row, side, flux);
  if (cell[axis] != 0 && cell[axis] != row->now->shape.cells[axis]) return;
  cell[axis] -= cell[axis] == 0;
  for (int32_t i = 0; i < row->count; i++, cell[0]++) flux[i] = face_or(row, cell, flux[i]);
}

/* Through the lower faces along x, and the upper one of the last cell. */
static void find_along(const row_of_faces *row, double *flux)
{
  const double *t = scalar_row(row->now, row->y, row->z) + row->x;
  const double *j = t + SCALAR_MOMENTUM * row->now->map.component_stride;
  const int32_t end = row->now->shape.cells[0];
  if (row->it->options.bounded) {
    find_bounded(row, 1, t + 1, j + 1, flux + 1);
    row_of_faces lower = *row;
    lower.count = 1; /* the others are upper faces of cells before */
    find_bounded(&lower, 0, t, j, flux);
  } else find_central(row, t, j, -1, row->count + 1, flux);
  close_faces(row, 0, flux);
  close_faces(row, 1, flux + 1);
  if (row->x == 0) flux[0] = face_or(row, (const int32_t[3]){-1, row->y, row->z}, flux[0]);
  if (row->x + row->count == end)
    flux[row->count] = face_or(row, (const int32_t[3]){end, row->y, row->z}, flux[row->count]);
}

/* @param[in,out] below  the fluxes through the lower faces along y; then those through the upper ones, which the next row has below */
static void move_row(const row_of_faces *row, double *below, double *later)
{
  double along[ROW + 1], lower[ROW], upper[ROW];
  const double *t = scalar_row(row->now, row->y, row->z) + row->x;
  find_along(row, along);
  find_lateral(row, 3, upper);
#pragma omp simd
  for (int32_t i = 0; i < row->count; i++) {
    later[i] = t[i] + (along[i] - along[i + 1]) + (below[i] - upper[i]);
    below[i] = upper[i];
  }
  if (row->it->dimension < 3) return;
  find_lateral(row, 4, lower);
  find_lateral(row, 5, upper);
#pragma omp simd
  for (int32_t i = 0; i < row->count; i++) later[i] += lower[i] - upper[i];
}

double gab_lbm_scalar_flux_at(const gab_lbm_scalar *it, const gab_block *block, const int32_t cell[3],
                              int side)
{
  const row_of_faces row = {.it = it,
                            .now = gab_block_data(block, it->now),
                            .next = gab_block_data(block, it->next),
                            .cells = gab_block_data(block, it->cells),
                            .rates = scalar_rates_of(it, block),
                            .x = cell[0],
                            .y = cell[1],
                            .z = cell[2],
                            .count = 1};
  double flux[2];
  if (side / 2 > 0) {
    find_lateral(&row, side, flux);
    return flux[0];
  }
  find_along(&row, flux);
  return flux[side];
}

/* ---------------------------------------------------------------- source and walls */

/* A body takes up what its cells got by its own capacity, and its source. */
static void heat_bodies(const gab_lbm_scalar *it, const gab_block *block, const gab_field *now,
                        gab_field *next)
{
  const scalar_cells *cells = gab_block_data(block, it->cells);
  int32_t x[3];
  size_t index = 0;
  if (!cells->bodies) return;
  for (x[2] = 0; x[2] < now->shape.cells[2]; x[2]++)
    for (x[1] = 0; x[1] < now->shape.cells[1]; x[1]++)
      for (x[0] = 0; x[0] < now->shape.cells[0]; x[0]++, index++) {
        const gab_lbm_scalar_wall *body = scalar_conductor(it, cells, index);
        if (!body) continue;
        const double t = gab_field_get(now, x[0], x[1], x[2], SCALAR_VALUE),
                     gain = gab_field_get(next, x[0], x[1], x[2], SCALAR_VALUE) - t +
                            body->source / it->substeps;
        gab_field_set(next, x[0], x[1], x[2], SCALAR_VALUE, t + gain / body->capacity);
      }
}

static void add_source(const gab_lbm_scalar *it, const gab_block *block, gab_field *next, double step)
{
  const scalar_cells *cells = gab_block_data(block, it->cells);
  int32_t x[3];
  size_t index = 0;
  if (!it->options.source) return;
  for (x[2] = 0; x[2] < next->shape.cells[2]; x[2]++)
    for (x[1] = 0; x[1] < next->shape.cells[1]; x[1]++)
      for (x[0] = 0; x[0] < next->shape.cells[0]; x[0]++, index++)
        if (!scalar_conductor(it, cells, index))
          gab_field_set(next, x[0], x[1], x[2], SCALAR_VALUE,
                        gab_field_get(next, x[0], x[1], x[2], SCALAR_VALUE) +
                            gab_lbm_scalar_source_at(it, block, x, step) / it->substeps);
}

/* The flux to a wall follows from the value at the end of the sub-step, so a wall may be arbitrarily near: T' (c +
 * sum of conductances) = c T + other fluxes + sum of conductance value, with the capacity c. The faces of a cell are consecutive. */
static void add_walls(const gab_lbm_scalar *it, const gab_block *block, gab_field *next)
{
  const scalar_cells *cells = gab_block_data(block, it->cells);
  const scalar_rates level = scalar_rates_of(it, block);
  for (size_t i = 0; i < cells->face_count;) {
    const int32_t *at = cells->faces[i].cell;
    const scalar_rates rates = scalar_rates_in(it, block, level, at);
    const gab_lbm_scalar_wall *body = scalar_conductor(it, cells, scalar_cell_at(next, at));
    const double capacity = body ? body->capacity : 1;
    double total = capacity * gab_field_get(next, at[0], at[1], at[2], SCALAR_VALUE), conductance = 0;
    for (; i < cells->face_count; i++) {
      const scalar_face *face = &cells->faces[i];
      if (face->cell[0] != at[0] || face->cell[1] != at[1] || face->cell[2] != at[2]) break;
      const scalar_contact wall = gab_lbm_scalar_contact_of(it, face, rates);
      total += wall.conductance * wall.value + wall.flux;
      conductance += wall.conductance;
    }
    gab_field_set(next, at[0], at[1], at[2], SCALAR_VALUE, total / (capacity + conductance));
  }
}

/* Cells without a value get the mean of adjacent ones with one: children start with it when a grid adapts. */
static void fill_solid(const gab_lbm_scalar *it, const gab_block *block, const gab_field *now,
                       gab_field *next)
{
  const scalar_cells *cells = gab_block_data(block, it->cells);
  int32_t x[3];
  size_t index = 0;
  if (!cells->closed) return;
  for (x[2] = 0; x[2] < now->shape.cells[2]; x[2]++)
    for (x[1] = 0; x[1] < now->shape.cells[1]; x[1]++)
      for (x[0] = 0; x[0] < now->shape.cells[0]; x[0]++, index++) {
        double sum = 0;
        int count = 0;
        if (!scalar_is_empty(cells, index)) continue;
        for (int side = 0; side < 2 * it->dimension; side++) {
          int32_t to[3] = {x[0], x[1], x[2]};
          to[side / 2] += side % 2 ? 1 : -1;
          if (to[side / 2] < 0 || to[side / 2] >= now->shape.cells[side / 2]) continue;
          if (scalar_is_empty(cells, scalar_cell_at(now, to))) continue;
          sum += gab_field_get(now, to[0], to[1], to[2], SCALAR_VALUE);
          count++;
        }
        gab_field_set(next, x[0], x[1], x[2], SCALAR_VALUE,
                      count ? sum / count : gab_field_get(now, x[0], x[1], x[2], SCALAR_VALUE));
      }
}

/* ---------------------------------------------------------------- a block */

void gab_lbm_scalar_move_block(const gab_lbm_scalar *it, const gab_block *block, double step)
{
  const gab_field *now = gab_block_data(block, it->now);
  gab_field *next = gab_block_data(block, it->next);
  row_of_faces row = {.it = it,
                      .now = now,
                      .next = next,
                      .cells = gab_block_data(block, it->cells),
                      .rates = scalar_rates_of(it, block)};
  for (row.z = 0; row.z < now->shape.cells[2]; row.z++)
    for (row.x = 0; row.x < now->shape.cells[0]; row.x += ROW) {
      const int32_t left = now->shape.cells[0] - row.x;
      double below[ROW];
      row.count = left < ROW ? left : ROW;
      row.y = 0;
      find_lateral(&row, 2, below);
      for (; row.y < now->shape.cells[1]; row.y++)
        move_row(&row, below,
                 (double *)next->data + gab_field_index(&next->map, row.x, row.y, row.z, SCALAR_VALUE));
    }
  heat_bodies(it, block, now, next);
  add_source(it, block, next, step);
  add_walls(it, block, next);
  fill_solid(it, block, now, next);
}

gab_status gab_lbm_scalar_find_next(gab_lbm_scalar *it, double flow_step, double step)
{
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(it->forest);
  gab_lbm_ramps(it->lbm, fmax(0, flow_step), it->factors);
  GAB_TRY(gab_lbm_scalar_exchange(it));
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t b = 0; b < count; b++) {
    const gab_block *block = gab_forest_block(it->forest, (size_t)b);
    gab_lbm_scalar_fill_sides(it, block);
    gab_lbm_scalar_move_block(it, block, step);
  }
  return GAB_OK;
}
