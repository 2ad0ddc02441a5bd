/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/observe/plane_flow.h"

#include "core/messages/collective.h"
#include "lbm/lbm_impl.h"
#include "lbm/step/local_force.h"

#include <math.h>

enum { AREA, FLOW, VELOCITY, PRESSURE, SUM_COUNT };

/* One layer of cells of a block. */
typedef struct layer {
  double *density, *velocity;
  uint8_t *fluid;
} layer;

/* Layer of cells of a level at a position. The position is rounded to 2^-32 cells of level 0, so that it lies in blocks
 * of one level wherever the levels meet. */
static int64_t layer_at(const gab_domain *domain, int level, int axis, double position)
{
  const double at = nearbyint(ldexp((position - domain->origin[axis]) / domain->dx, 32));
  const int64_t all = domain->cells[axis] << level, found = (int64_t)floor(ldexp(at, level - 32));
  return at == ldexp((double)domain->cells[axis], 32) ? all - 1 : found;
}

static gab_status add_block(const gab_lbm *lbm, const gab_block *place, int axis, double position,
                            const layer *at, gab_exact_sum sums[SUM_COUNT])
{
  const gab_lbm_model *model = &lbm->model;
  const gab_lbm_block *block = gab_lbm_block_of(lbm, place);
  const int level = block->at->level;
  const int64_t in =
      layer_at(gab_geometry_domain(model->geometry), level, axis, position) - block->first[axis];
  gab_box box = {{0, 0, 0}, {model->cells[0], model->cells[1], model->cells[2]}};
  if (in < 0 || in >= model->cells[axis]) return GAB_OK;
  box.lo[axis] = in;
  box.hi[axis] = in + 1;
  GAB_TRY(gab_lbm_macroscopic(lbm, place, &box, at->density, at->velocity));
  GAB_TRY(gab_lbm_fluid_mask(lbm, place, &box, at->fluid));
  gab_lbm_take_half_force(lbm, place, &box, at->density, at->velocity);
  const double area =
      ldexp(1, -(model->lattice->dimension - 1) * level); /* a power of two: products are exact */
  const uint64_t cells = gab_lbm_cells_of(model) / (uint64_t)model->cells[axis];
  for (uint64_t i = 0; i < cells; i++) {
    if (!at->fluid[i]) continue;
    const double across = at->velocity[3 * i + (uint64_t)axis];
    gab_exact_add(&sums[AREA], area);
    gab_exact_add(&sums[FLOW], area * (at->density[i] * across));
    gab_exact_add(&sums[VELOCITY], area * across);
    gab_exact_add(&sums[PRESSURE], area * ((at->density[i] - 1) / 3));
  }
  return GAB_OK;
}

static gab_status add_blocks(const gab_lbm *lbm, int axis, double position, gab_exact_sum sums[SUM_COUNT])
{
  const uint64_t cells = gab_lbm_cells_of(&lbm->model) / (uint64_t)lbm->model.cells[axis];
  layer at = {0};
  gab_status status = GAB_NEW_ARRAY(&at.density, cells, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&at.velocity, 3 * cells, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&at.fluid, cells, GAB_MEMORY_OTHER);
  for (size_t b = 0; status == GAB_OK && b < gab_forest_block_count(lbm->forest); b++)
    status = add_block(lbm, gab_forest_block(lbm->forest, b), axis, position, &at, sums);
  gab_free(&at.density);
  gab_free(&at.velocity);
  gab_free(&at.fluid);
  return status;
}

gab_status gab_lbm_plane_flow(const gab_lbm *lbm, int axis, double position, gab_plane_flow *flow)
{
  gab_exact_sum sums[SUM_COUNT];
  for (int i = 0; i < SUM_COUNT; i++) gab_exact_clear(&sums[i]);
  *flow = (gab_plane_flow){0};
  if (axis < 0 || axis >= lbm->model.lattice->dimension)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a plane across axis %d: in %dD the axes are 0 to %d", axis,
             lbm->model.lattice->dimension, lbm->model.lattice->dimension - 1);
  GAB_TRY(gab_world_reduce_status(lbm->world, add_blocks(lbm, axis, position, sums)));
  GAB_TRY(gab_world_sum_exact(lbm->world, sums, SUM_COUNT));
  const double area = gab_exact_value(&sums[AREA]);
  if (!(area > 0)) return GAB_OK;
  *flow = (gab_plane_flow){.area = area,
                           .flow = gab_exact_value(&sums[FLOW]),
                           .velocity = gab_exact_value(&sums[VELOCITY]) / area,
                           .pressure = gab_exact_value(&sums[PRESSURE]) / area};
  return GAB_OK;
}
