/* SPDX-License-Identifier: Apache-2.0 */
/* Integrals and output quantities of a scalar that a flow carries. */
#include "lbm/scalar/scalar_impl.h"

#include "core/base/exact_sum.h"
#include "core/base/text/text_impl.h"
#include "core/memory/memory.h"
#include "core/messages/collective.h"

enum { LOWER, UPPER, VOLUME, SUMS };

typedef struct measuring {
  int axis;
  gab_exact_sum sums[SUMS];
  double change;
} measuring;

static bool is_empty_at(const gab_lbm_scalar *it, const gab_block *block, const int32_t x[3])
{
  return scalar_is_empty(gab_block_data(block, it->cells), scalar_cell_at(gab_block_data(block, it->now), x));
}

/* On a finer level fluxes are in smaller cells, and per area of smaller faces; a step has several sub-steps. */
static void measure_block(const gab_lbm_scalar *it, const gab_block *block, measuring *by)
{
  const int level = gab_block_level(it->forest, block), axis = by->axis;
  const gab_box cells = gab_block_cells(it->forest, block), domain = scalar_domain(it, block);
  const gab_field *now = gab_block_data(block, it->now), *next = gab_block_data(block, it->next);
  int32_t x[3];
  for (x[2] = 0; x[2] < now->shape.cells[2]; x[2]++)
    for (x[1] = 0; x[1] < now->shape.cells[1]; x[1]++)
      for (x[0] = 0; x[0] < now->shape.cells[0]; x[0]++) {
        if (is_empty_at(it, block, x)) continue;
        const double in = it->substeps * gab_lbm_scalar_flux_at(it, block, x, 2 * axis),
                     out = it->substeps * gab_lbm_scalar_flux_at(it, block, x, 2 * axis + 1);
        const double t = gab_field_get(now, x[0], x[1], x[2], SCALAR_VALUE);
        const int64_t place = cells.lo[axis] + x[axis];
        gab_exact_add(&by->sums[VOLUME], ldexp(in + out, -(it->dimension + 1) * level - 1));
        if (place == domain.lo[axis]) gab_exact_add(&by->sums[LOWER], ldexp(in, -it->dimension * level));
        if (place + 1 == domain.hi[axis]) gab_exact_add(&by->sums[UPPER], ldexp(out, -it->dimension * level));
        by->change =
            fmax(by->change, it->substeps * fabs(gab_field_get(next, x[0], x[1], x[2], SCALAR_VALUE) - t));
      }
}

gab_status gab_lbm_scalar_measure(gab_lbm_scalar *it, int axis, gab_lbm_scalar_flux *measured)
{
  measuring by = {.axis = axis};
  if (axis < 0 || axis >= it->dimension) GAB_FAIL(GAB_ERR_ARGUMENT, "there is no axis %d here", axis);
  for (int i = 0; i < SUMS; i++) gab_exact_clear(&by.sums[i]);
  const double step = (double)gab_lbm_get_step(it->lbm);
  GAB_TRY(gab_lbm_scalar_find_next(it, step, step));
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++)
    measure_block(it, gab_forest_block(it->forest, b), &by);
  gab_world *world = gab_forest_world(it->forest);
  GAB_TRY(gab_world_sum_exact(world, by.sums, SUMS));
  GAB_TRY(gab_world_max_f64(world, &by.change, 1));
  *measured = (gab_lbm_scalar_flux){.lower = gab_exact_value(&by.sums[LOWER]),
                                    .upper = gab_exact_value(&by.sums[UPPER]),
                                    .volume = gab_exact_value(&by.sums[VOLUME]),
                                    .change = by.change};
  return GAB_OK;
}

/* ---------------------------------------------------------------- balance */

enum { CELLS, SUM, SOURCE, SIDES, AREAS = SIDES + 6, BALANCE_SUMS = AREAS + 6 };
enum { BODY_FLUX, BODY_AREA, BODY_CELLS, BODY_SUM, BODY_SUMS };

typedef struct balancing {
  gab_exact_sum *sums; /* BALANCE_SUMS, then BODY_SUMS of each body */
  double *most;        /* of the value, of its negative, and in each body */
} balancing;

/* A cell of the fluid, or of a body. */
static void balance_value(const gab_lbm_scalar *it, const gab_block *block, const int32_t x[3], double volume,
                          balancing *by)
{
  const scalar_cells *cells = gab_block_data(block, it->cells);
  const gab_field *now = gab_block_data(block, it->now);
  const double t = gab_field_get(now, x[0], x[1], x[2], SCALAR_VALUE);
  const size_t index = scalar_cell_at(now, x);
  const gab_lbm_scalar_wall *body = scalar_conductor(it, cells, index);
  if (body) {
    gab_exact_sum *sums = &by->sums[BALANCE_SUMS + BODY_SUMS * cells->bodies[index]];
    double *most = &by->most[2 + cells->bodies[index]];
    gab_exact_add(&sums[BODY_CELLS], volume);
    gab_exact_add(&sums[BODY_SUM], volume * t);
    gab_exact_add(&by->sums[SOURCE], volume * body->source);
    *most = fmax(*most, t);
    return;
  }
  gab_exact_add(&by->sums[CELLS], volume);
  gab_exact_add(&by->sums[SUM], volume * t);
  by->most[0] = fmax(by->most[0], t);
  by->most[1] = fmax(by->most[1], -t);
  if (it->options.source)
    gab_exact_add(&by->sums[SOURCE],
                  volume * gab_lbm_scalar_source_at(it, block, x, (double)gab_lbm_get_step(it->lbm)));
}

static void balance_cell(const gab_lbm_scalar *it, const gab_block *block, const int32_t x[3], balancing *by)
{
  const int level = gab_block_level(it->forest, block);
  const gab_field *now = gab_block_data(block, it->now);
  if (is_empty_at(it, block, x)) return;
  balance_value(it, block, x, ldexp(1, -it->dimension * level), by);
  for (int side = 0; side < 2 * it->dimension; side++) {
    if (x[side / 2] != (side % 2 ? now->shape.cells[side / 2] - 1 : 0)) continue;
    if (!gab_lbm_scalar_is_at_side(it, block, side)) continue;
    const double flux = it->substeps * gab_lbm_scalar_flux_at(it, block, x, side);
    gab_exact_add(&by->sums[SIDES + side], ldexp(side % 2 ? -flux : flux, -it->dimension * level));
    gab_exact_add(&by->sums[AREAS + side], ldexp(1, -(it->dimension - 1) * level));
  }
}

/* Into the cell of a face, in a step. */
static double flux_from_wall(const gab_lbm_scalar *it, const gab_block *block, const scalar_face *face)
{
  const gab_field *next = gab_block_data(block, it->next);
  if (it->options.bodies && it->options.bodies[face->body].kind == GAB_SCALAR_CONDUCTS)
    return (face->side % 2 ? -it->substeps : it->substeps) *
           gab_lbm_scalar_flux_at(it, block, face->cell, face->side);
  const scalar_contact wall =
      gab_lbm_scalar_contact_of(it, face, scalar_rates_in(it, block, scalar_rates_of(it, block), face->cell));
  const double later = gab_field_get(next, face->cell[0], face->cell[1], face->cell[2], SCALAR_VALUE);
  return it->substeps * (wall.conductance * (wall.value - later) + wall.flux);
}

static void balance_block(const gab_lbm_scalar *it, const gab_block *block, balancing *by)
{
  const int level = gab_block_level(it->forest, block);
  const scalar_cells *cells = gab_block_data(block, it->cells);
  const gab_field *next = gab_block_data(block, it->next);
  int32_t x[3];
  for (x[2] = 0; x[2] < next->shape.cells[2]; x[2]++)
    for (x[1] = 0; x[1] < next->shape.cells[1]; x[1]++)
      for (x[0] = 0; x[0] < next->shape.cells[0]; x[0]++) balance_cell(it, block, x, by);
  for (size_t i = 0; i < cells->face_count; i++) {
    const scalar_face *face = &cells->faces[i];
    gab_exact_sum *sums = &by->sums[BALANCE_SUMS + BODY_SUMS * face->body];
    gab_exact_add(&sums[BODY_FLUX], ldexp(flux_from_wall(it, block, face), -it->dimension * level));
    gab_exact_add(&sums[BODY_AREA], ldexp(face->area, -(it->dimension - 1) * level));
  }
}

static gab_status find_balance(gab_lbm_scalar *it, size_t count, size_t body_count, balancing *by)
{
  gab_world *world = gab_forest_world(it->forest);
  for (size_t i = 0; i < count; i++) gab_exact_clear(&by->sums[i]);
  for (size_t i = 0; i < 2 + body_count; i++) by->most[i] = -INFINITY;
  const double step = (double)gab_lbm_get_step(it->lbm);
  GAB_TRY(gab_lbm_scalar_find_next(it, step, step));
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++)
    balance_block(it, gab_forest_block(it->forest, b), by);
  GAB_TRY(gab_world_sum_exact(world, by->sums, count));
  return gab_world_max_f64(world, by->most, 2 + body_count);
}

static void take_balance(const balancing *by, gab_lbm_scalar_balance *balance)
{
  *balance = (gab_lbm_scalar_balance){.volume = gab_exact_value(&by->sums[CELLS]),
                                      .sum = gab_exact_value(&by->sums[SUM]),
                                      .least = -by->most[1],
                                      .most = by->most[0],
                                      .source = gab_exact_value(&by->sums[SOURCE])};
  for (int side = 0; side < 6; side++) {
    balance->sides[side] = gab_exact_value(&by->sums[SIDES + side]);
    balance->side_areas[side] = gab_exact_value(&by->sums[AREAS + side]);
  }
}

gab_status gab_lbm_scalar_get_balance(gab_lbm_scalar *it, gab_lbm_scalar_balance *balance,
                                      gab_lbm_scalar_body *bodies)
{
  const size_t body_count = gab_geometry_body_count(gab_lbm_get_geometry(it->lbm)),
               count = BALANCE_SUMS + BODY_SUMS * body_count;
  balancing by = {0};
  gab_status status = GAB_NEW_ARRAY(&by.sums, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&by.most, 2 + body_count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = find_balance(it, count, body_count, &by);
  if (status == GAB_OK) take_balance(&by, balance);
  for (size_t i = 0; status == GAB_OK && bodies && i < body_count; i++) {
    const gab_exact_sum *sums = &by.sums[BALANCE_SUMS + BODY_SUMS * i];
    bodies[i] = (gab_lbm_scalar_body){.flux = gab_exact_value(&sums[BODY_FLUX]),
                                      .area = gab_exact_value(&sums[BODY_AREA]),
                                      .volume = gab_exact_value(&sums[BODY_CELLS]),
                                      .sum = gab_exact_value(&sums[BODY_SUM]),
                                      .most = by.most[2 + i]};
  }
  gab_free(&by.sums);
  gab_free(&by.most);
  return status;
}

/* ---------------------------------------------------------------- looks */

double gab_lbm_scalar_difference(const gab_lbm_scalar *it, const gab_block *block)
{
  const gab_field *now = gab_block_data(block, it->now);
  double found = 0;
  int32_t x[3];
  for (x[2] = 0; x[2] < now->shape.cells[2]; x[2]++)
    for (x[1] = 0; x[1] < now->shape.cells[1]; x[1]++)
      for (x[0] = 0; x[0] < now->shape.cells[0]; x[0]++)
        for (int axis = 0; axis < it->dimension; axis++) {
          const double *t = scalar_row(now, x[1], x[2]) + x[0];
          int32_t before[3] = {x[0], x[1], x[2]};
          before[axis]--;
          if (x[axis] == 0 || is_empty_at(it, block, x) || is_empty_at(it, block, before)) continue;
          found = fmax(found, fabs(*t - t[-(ptrdiff_t)now->map.stride[axis]]));
        }
  return found;
}

gab_status gab_lbm_scalar_check_finite(const gab_lbm_scalar *it)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_field *now = gab_block_data(block, it->now);
    for (int c = 0; c < now->shape.components; c++)
      for (int32_t z = 0; z < now->shape.cells[2]; z++)
        for (int32_t y = 0; y < now->shape.cells[1]; y++)
          for (int32_t x = 0; x < now->shape.cells[0]; x++) {
            const double value = gab_field_get(now, x, y, z, c);
            char place[GAB_TEXT_PLACE_CAPACITY];
            double centre[3];
            if (isfinite(value)) continue;
            gab_block_cell_centre(it->forest, block, x, y, z, centre);
            gab_text_format_place(centre, it->dimension, place);
            GAB_FAIL(GAB_ERR_DIVERGED, "%s is %g at %s", c == SCALAR_VALUE ? it->options.name : "a velocity",
                     value, place);
          }
  }
  return GAB_OK;
}

static gab_status evaluate_value(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const gab_lbm_scalar *it = user;
  const int component = SCALAR_VALUE;
  const gab_field *now = gab_block_data(block, it->now);
  const scalar_cells *cells = gab_block_data(block, it->cells);
  const gab_box box = gab_field_interior(now);
  (void)forest;
  gab_field_pack_box(now, &box, &component, 1, values);
  for (size_t i = 0; it->options.zero != 0 && i < gab_box_count(&box); i++) values[i] += it->options.zero;
  for (size_t i = 0; cells->closed && i < gab_box_count(&box); i++)
    if (scalar_is_empty(cells, i)) values[i] = NAN;
  return GAB_OK;
}

static gab_status evaluate_velocity(void *user, const gab_forest *forest, const gab_block *block,
                                    double *values)
{
  const gab_lbm_scalar *it = user;
  const gab_field *now = gab_block_data(block, it->now);
  (void)forest;
  for (int32_t z = 0; z < now->shape.cells[2]; z++)
    for (int32_t y = 0; y < now->shape.cells[1]; y++)
      for (int32_t x = 0; x < now->shape.cells[0]; x++)
        for (int axis = 0; axis < 3; axis++)
          *values++ = axis < it->dimension ? gab_field_get(now, x, y, z, SCALAR_MOMENTUM + axis) : 0;
  return GAB_OK;
}

void gab_lbm_scalar_quantities(gab_lbm_scalar *it, gab_quantity items[2])
{
  items[0] = (gab_quantity){.name = it->options.name,
                            .doc = "what the flow carries",
                            .unit = it->options.unit,
                            .components = 1,
                            .pointwise = true,
                            .evaluate = evaluate_value,
                            .user = it};
  items[1] = (gab_quantity){.name = "velocity",
                            .doc = "of the flow, times its density",
                            .components = 3,
                            .pointwise = true,
                            .evaluate = evaluate_velocity,
                            .user = it};
}
