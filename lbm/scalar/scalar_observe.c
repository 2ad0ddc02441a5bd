/* SPDX-License-Identifier: Apache-2.0 */
/* Integrals and output quantities of a scalar that a flow carries. */
#include "lbm/scalar/scalar_impl.h"

#include "core/base/exact_sum.h"
#include "core/messages/collective.h"

enum { LOWER, UPPER, VOLUME, SUMS };

typedef struct measuring {
  int axis;
  gab_exact_sum sums[SUMS];
  double change;
} measuring;

/* Of a finer level what passes is counted in smaller cells, and per area of smaller faces. */
static void measure_block(const gab_lbm_scalar *it, const gab_block *block, measuring *by)
{
  const int level = gab_block_level(it->forest, block), axis = by->axis;
  const scalar_rates at = scalar_rates_of(it, block);
  const gab_box cells = gab_block_cells(it->forest, block), domain = scalar_domain(it, block);
  const gab_field *now = gab_block_data(block, it->now), *next = gab_block_data(block, it->next);
  const ptrdiff_t stride = now->map.stride[axis];
  int32_t x[3];
  for (x[2] = 0; x[2] < now->shape.cells[2]; x[2]++)
    for (x[1] = 0; x[1] < now->shape.cells[1]; x[1]++)
      for (x[0] = 0; x[0] < now->shape.cells[0]; x[0]++) {
        const double *t = scalar_row(now, x[1], x[2]) + x[0],
                     *j = t + (SCALAR_MOMENTUM + axis) * now->map.component_stride;
        const double in = scalar_flux(t, j, -stride, at),
                     out = scalar_flux(t + stride, j + stride, -stride, at);
        const int64_t place = cells.lo[axis] + x[axis];
        gab_exact_add(&by->sums[VOLUME], ldexp(in + out, -(it->dimension + 1) * level - 1));
        if (place == domain.lo[axis]) gab_exact_add(&by->sums[LOWER], ldexp(in, -it->dimension * level));
        if (place + 1 == domain.hi[axis]) gab_exact_add(&by->sums[UPPER], ldexp(out, -it->dimension * level));
        by->change = fmax(by->change, fabs(gab_field_get(next, x[0], x[1], x[2], SCALAR_VALUE) - *t));
      }
}

gab_status gab_lbm_scalar_measure(gab_lbm_scalar *it, int axis, gab_lbm_scalar_flux *measured)
{
  measuring by = {.axis = axis};
  if (axis < 0 || axis >= it->dimension) GAB_FAIL(GAB_ERR_ARGUMENT, "there is no axis %d here", axis);
  for (int i = 0; i < SUMS; i++) gab_exact_clear(&by.sums[i]);
  GAB_TRY(gab_lbm_scalar_find_next(it));
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
          if (x[axis] > 0) found = fmax(found, fabs(*t - t[-(ptrdiff_t)now->map.stride[axis]]));
        }
  return found;
}

gab_status gab_lbm_scalar_check_finite(const gab_lbm_scalar *it)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_field *now = gab_block_data(block, it->now);
    for (int c = 0; c < SCALAR_MOMENTUM + it->dimension; c++)
      for (int32_t z = 0; z < now->shape.cells[2]; z++)
        for (int32_t y = 0; y < now->shape.cells[1]; y++)
          for (int32_t x = 0; x < now->shape.cells[0]; x++) {
            const double value = gab_field_get(now, x, y, z, c);
            double centre[3];
            if (isfinite(value)) continue;
            gab_block_cell_centre(it->forest, block, x, y, z, centre);
            GAB_FAIL(GAB_ERR_DIVERGED, "%s is %g at (%g, %g, %g)",
                     c == SCALAR_VALUE ? it->options.name : "a velocity", value, centre[0], centre[1],
                     centre[2]);
          }
  }
  return GAB_OK;
}

static gab_status evaluate_value(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const gab_lbm_scalar *it = user;
  const int component = SCALAR_VALUE;
  const gab_field *now = gab_block_data(block, it->now);
  const gab_box box = gab_field_interior(now);
  (void)forest;
  gab_field_pack_box(now, &box, &component, 1, values);
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
