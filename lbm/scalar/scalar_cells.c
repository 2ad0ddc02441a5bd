/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells of a block are solid for a scalar, the walls between them and fluid cells, given inflow, and its source. */
#include "lbm/scalar/scalar_impl.h"

#include "core/memory/memory.h"
#include "lbm/sides/side_flow_impl.h"

static bool is_solid(const gab_geometry *geometry, int level, const int64_t cell[3])
{
  return gab_geometry_cell(geometry, level, cell) >= 0;
}

/* ---------------------------------------------------------------- walls */

typedef struct builder {
  const gab_lbm_scalar *it;
  const gab_geometry *geometry;
  int level;
  gab_box box; /* cells of the block */
  scalar_cells *made;
} builder;

/* What conducts in a cell of a body; NULL: nothing. @param[in] body  as gab_geometry_cell() says */
static const gab_lbm_scalar_wall *conductor(const builder *by, int body)
{
  const gab_lbm_scalar_wall *bodies = by->it->options.bodies;
  return body >= 0 && bodies && bodies[body].kind == GAB_SCALAR_CONDUCTS ? &bodies[body] : NULL;
}

/* Share of a face in the area of the wall: the component of the surface normal along the axis, at the intersection of
 * the wall and the line between the cells. */
static double area_of(const builder *by, const int64_t cell[3], const int64_t solid[3], int axis, int body,
                      double distance)
{
  double outer[3], inner[3], unused;
  if (!gab_geometry_normal(by->geometry, by->level, cell, body, outer, &unused)) return 1;
  if (!gab_geometry_normal(by->geometry, by->level, solid, body, inner, &unused)) return 1;
  return fabs((1 - distance) * outer[axis] + distance * inner[axis]);
}

/* From the cell at a side of a solid one. */
static double wall_distance(const builder *by, const int64_t solid[3], int body, int side)
{
  int8_t c[3] = {0, 0, 0};
  c[side / 2] = side % 2 ? 1 : -1;
  return gab_geometry_wall_distance(by->geometry, by->level, solid, body, c);
}

/* @param[in] own  body of the cell */
static gab_status add_face(builder *by, const int32_t at[3], const int64_t cell[3], const int64_t solid[3],
                           int side, int own, int body)
{
  const double distance = own < 0 ? wall_distance(by, solid, body, side ^ 1) : 0.5;
  GAB_TRY(gab_list_reserve(&by->made->faces, by->made->face_count, sizeof *by->made->faces));
  by->made->faces[by->made->face_count++] =
      (scalar_face){.cell = {at[0], at[1], at[2]},
                    .side = side,
                    .body = body,
                    .distance = distance,
                    .area = own < 0 ? area_of(by, cell, solid, side / 2, body, distance) : 1};
  return GAB_OK;
}

static bool is_at_end(const builder *by, const int64_t cell[3], int side)
{
  return side % 2 ? cell[side / 2] + 1 == by->box.hi[side / 2] : cell[side / 2] == by->box.lo[side / 2];
}

/* Between a cell and the next one, if one of them conducts and is solid and the other one is fluid or conducts, too.
 * @param[in] own, body  of both */
static scalar_path path_between(const builder *by, const int64_t cell[3], const int64_t next[3], int side,
                                int own, int body)
{
  const gab_lbm_scalar_wall *here = conductor(by, own), *there = conductor(by, body);
  scalar_path path = {.beyond = GAB_CELL_FLUID};
  if (here && there)
    path.solid = own == body ? 1 / here->conductivity : 0.5 / here->conductivity + 0.5 / there->conductivity;
  else if (here && body == GAB_CELL_FLUID) {
    path.fluid = wall_distance(by, cell, own, side);
    path.solid = (1 - path.fluid) / here->conductivity;
  } else if (there && own == GAB_CELL_FLUID) {
    path.fluid = wall_distance(by, next, body, side ^ 1);
    path.solid = (1 - path.fluid) / there->conductivity;
  }
  return path;
}

/* The cell beyond a side of one at the end of the block, on the next coarser level. */
static int body_beyond(const builder *by, const int64_t next[3])
{
  int64_t coarse[3];
  for (int axis = 0; axis < 3; axis++)
    coarse[axis] = axis < by->it->dimension ? (next[axis] - (next[axis] < 0 ? 1 : 0)) / 2 : next[axis];
  return gab_geometry_cell(by->geometry, by->level - 1, coarse);
}

static gab_status look_around(builder *by, const int32_t at[3], const int64_t cell[3], size_t index)
{
  const int own = gab_geometry_cell(by->geometry, by->level, cell);
  const bool solid = own >= 0, conducts = conductor(by, own) != NULL;
  if (solid) by->made->closed[index] = conducts ? SCALAR_SOLID | SCALAR_CONDUCTS : SCALAR_SOLID;
  if (by->made->bodies) by->made->bodies[index] = conducts || !solid ? own : -2;
  for (int side = 0; side < 2 * by->it->dimension; side++) {
    int64_t next[3] = {cell[0], cell[1], cell[2]};
    next[side / 2] += side % 2 ? 1 : -1;
    const int body = gab_geometry_cell(by->geometry, by->level, next);
    if (by->made->far) {
      int64_t far[3] = {next[0], next[1], next[2]};
      far[side / 2] += side % 2 ? 1 : -1;
      if (is_solid(by->geometry, by->level, far)) by->made->far[index] |= (uint8_t)(1 << side);
    }
    if (solid || body >= 0) by->made->closed[index] |= (uint8_t)(1 << side);
    if (body >= 0 && (!solid || (conducts && !conductor(by, body))))
      GAB_TRY(add_face(by, at, cell, next, side, own, body));
    scalar_path *path = by->made->paths ? &by->made->paths[index * 6 + (size_t)side] : NULL;
    if (path) *path = path_between(by, cell, next, side, own, body);
    if (by->level == 0 || !is_at_end(by, cell, side)) continue;
    const int beyond = body_beyond(by, next);
    if (beyond >= 0) by->made->beyond[index] |= (uint8_t)(1 << side);
    if (path) path->beyond = beyond;
  }
  return GAB_OK;
}

static bool has_conductors(const builder *by)
{
  for (size_t i = 0; i < gab_geometry_body_count(by->geometry); i++)
    if (conductor(by, (int)i)) return true;
  return false;
}

static gab_status find_walls(builder *by)
{
  const int64_t *lo = by->box.lo, *hi = by->box.hi;
  const size_t count = gab_box_count(&by->box);
  gab_box around = by->box;
  size_t index = 0;
  for (int axis = 0; axis < by->it->dimension; axis++) {
    around.lo[axis] -= 2;
    around.hi[axis] += 2;
  }
  if (gab_geometry_is_clear(by->geometry, by->level, &around)) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&by->made->closed, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&by->made->beyond, count, GAB_MEMORY_OTHER));
  if (by->it->options.bounded) GAB_TRY(GAB_NEW_ARRAY(&by->made->far, count, GAB_MEMORY_OTHER));
  if (has_conductors(by)) {
    GAB_TRY(GAB_NEW_ARRAY(&by->made->bodies, count, GAB_MEMORY_OTHER));
    GAB_TRY(GAB_NEW_ARRAY(&by->made->paths, 6 * count, GAB_MEMORY_OTHER));
  }
  for (int64_t z = lo[2]; z < hi[2]; z++)
    for (int64_t y = lo[1]; y < hi[1]; y++)
      for (int64_t x = lo[0]; x < hi[0]; x++, index++)
        GAB_TRY(look_around(
            by, (const int32_t[3]){(int32_t)(x - lo[0]), (int32_t)(y - lo[1]), (int32_t)(z - lo[2])},
            (const int64_t[3]){x, y, z}, index));
  return GAB_OK;
}

/* Only the first body of the list that covers a cell owns it, and bodies that are parts of sets are in no list. */
scalar_contact gab_lbm_scalar_contact_of(const gab_lbm_scalar *it, const scalar_face *face, scalar_rates at)
{
  const gab_lbm_scalar_wall none = {0}, *wall = it->options.bodies ? &it->options.bodies[face->body] : &none;
  const double conducts = at.conducts / face->distance, transfers = wall->transfer * at.passes * face->area;
  switch (wall->kind) {
  case GAB_SCALAR_FIXED:
    return (scalar_contact){.conductance = conducts, .value = wall->value};
  case GAB_SCALAR_FLUX:
    return (scalar_contact){.flux = wall->value * at.passes * face->area};
  case GAB_SCALAR_TRANSFER:
    return (scalar_contact){.conductance = conducts * transfers / (conducts + transfers),
                            .value = wall->value};
  case GAB_SCALAR_CONDUCTS: /* from cell to cell */
  case GAB_SCALAR_INSULATED:
    break;
  }
  return (scalar_contact){0};
}

/* ---------------------------------------------------------------- inflow */

static gab_status add_inflows(builder *by, int side, size_t face, const int64_t cell[3])
{
  gab_face_flow flows[GAB_MOST_CONDITIONS];
  scalar_cells *made = by->made;
  size_t *count = &made->inflow_start[side + 1];
  if (is_solid(by->geometry, by->level, cell)) return GAB_OK;
  const int found = gab_face_flows(&by->it->lbm->model, by->level, side, cell, flows);
  for (int i = 0; i < 2 * found; i++) {
    const double flow = flows[i / 2].flow[i % 2];
    if (flow == 0) continue;
    GAB_TRY(gab_list_reserve(&made->inflows, *count, sizeof *made->inflows));
    made->inflows[(*count)++] =
        (scalar_inflow){face, flows[i / 2].condition + i % 2 * GAB_MOST_CONDITIONS, flow};
  }
  return GAB_OK;
}

static gab_status find_inflows(builder *by, const gab_block *block)
{
  const int64_t *lo = by->box.lo;
  for (int side = 0; side < 6; side++) {
    by->made->inflow_start[side + 1] = by->made->inflow_start[side];
    if (side >= 2 * by->it->dimension || !gab_lbm_scalar_is_at_side(by->it, block, side)) continue;
    gab_box slice = by->box;
    size_t face = 0;
    slice.lo[side / 2] = side % 2 ? slice.hi[side / 2] - 1 : lo[side / 2];
    slice.hi[side / 2] = slice.lo[side / 2] + 1;
    for (int64_t z = slice.lo[2]; z < slice.hi[2]; z++)
      for (int64_t y = slice.lo[1]; y < slice.hi[1]; y++)
        for (int64_t x = slice.lo[0]; x < slice.hi[0]; x++, face++)
          GAB_TRY(add_inflows(by, side, face, (const int64_t[3]){x, y, z}));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- block data */

double gab_lbm_scalar_source_at(const gab_lbm_scalar *it, const gab_block *block, const int32_t x[3],
                                double step)
{
  const scalar_cells *cells = gab_block_data(block, it->cells);
  double centre[3];
  if (cells->source) return cells->source[scalar_cell_at(gab_block_data(block, it->now), x)];
  gab_block_cell_centre(it->forest, block, x[0], x[1], x[2], centre);
  return it->options.source(it->options.source_user, centre, step);
}

static gab_status find_source(const gab_lbm_scalar *it, const gab_forest *forest, const gab_block *block,
                              scalar_cells *made)
{
  const gab_lbm_scalar_options *options = &it->options;
  const int32_t *cells = it->shape.shape.cells;
  double centre[3];
  size_t index = 0;
  if (!options->source || options->source_varies) return GAB_OK;
  GAB_TRY(
      GAB_NEW_ARRAY(&made->source, (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2], GAB_MEMORY_OTHER));
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        gab_block_cell_centre(forest, block, x, y, z, centre);
        made->source[index++] = options->source(options->source_user, centre, 0);
      }
  return GAB_OK;
}

static void destroy(void *user, void *data)
{
  scalar_cells *gone = data;
  (void)user;
  if (!gone) return;
  gab_free(&gone->closed);
  gab_free(&gone->beyond);
  gab_free(&gone->far);
  gab_free(&gone->bodies);
  gab_free(&gone->paths);
  gab_free(&gone->faces);
  gab_free(&gone->inflows);
  gab_free(&gone->source);
  gab_free(&gone);
}

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  const gab_lbm_scalar *it = user;
  scalar_cells *made;
  *data = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (scalar_cells){0};
  builder by = {.it = it,
                .geometry = gab_lbm_get_geometry(it->lbm),
                .level = gab_block_level(forest, block),
                .box = gab_block_cells(forest, block),
                .made = made};
  gab_status status = find_walls(&by);
  if (status == GAB_OK) status = find_inflows(&by, block);
  if (status == GAB_OK) status = find_source(it, forest, block, made);
  if (status != GAB_OK) destroy(NULL, made);
  else *data = made;
  return status;
}

gab_block_data_kind gab_lbm_scalar_cells_kind(gab_lbm_scalar *it)
{
  return (gab_block_data_kind){.name = "cells of a scalar", .user = it, .create = create, .destroy = destroy};
}
