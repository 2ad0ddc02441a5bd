/* SPDX-License-Identifier: Apache-2.0 */
/** @file scalar_impl.h
 *  @brief What moving a scalar and looking at it share.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SCALAR_IMPL_H
#define GABION_LBM_SCALAR_IMPL_H

#include "lbm/scalar/scalar.h"

#include "blockforest/exchange/level_ghosts.h"
#include "lbm/step/local_force.h"

#include <math.h>

/* Components of its field. */
enum { SCALAR_VALUE, SCALAR_MOMENTUM };

struct gab_lbm_scalar {
  gab_lbm_scalar_options options;
  gab_forest *forest;
  gab_lbm *lbm;
  int dimension;
  gab_local_force force;
  gab_block_field shape;
  gab_data_id now, next;
  gab_level_ghosts *ghosts;
};

/* Values of a row of cells along x. */
static inline const double *scalar_row(const gab_field *now, int32_t y, int32_t z)
{
  return (const double *)now->data + gab_field_index(&now->map, 0, y, z, SCALAR_VALUE);
}

/* In cells of the level of a block. */
static inline gab_box scalar_domain(const gab_lbm_scalar *it, const gab_block *block)
{
  gab_box domain = gab_forest_domain_cells(it->forest);
  for (int axis = 0; axis < it->dimension; axis++) domain.hi[axis] <<= gab_block_level(it->forest, block);
  return domain;
}

/* A step of level 0 in cells of a level that are 2^-level as wide: how much faster is carried, and conducted. */
typedef struct scalar_rates {
  double carries, conducts;
} scalar_rates;

static inline scalar_rates scalar_rates_of(const gab_lbm_scalar *it, const gab_block *block)
{
  const int level = gab_block_level(it->forest, block);
  return (scalar_rates){ldexp(0.25, level), ldexp(it->options.diffusivity, 2 * level)};
}

/* What passes through the face between a cell and the one before it along an axis. */
static inline double scalar_flux(const double *t, const double *j, ptrdiff_t before, scalar_rates at)
{
  return at.carries * (j[0] + j[before]) * (t[0] + t[before]) - at.conducts * (t[0] - t[before]);
}

/* The values one step later, into `next`, and ghosts of what there is now. Collective among neighbours. */
gab_status gab_lbm_scalar_find_next(const gab_lbm_scalar *it);

#endif
