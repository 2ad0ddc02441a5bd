/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/porous/drag_impl.h"

#define REAL double
#define NAME row_double
#include "lbm/observe/moments_body.inc"

#define REAL float
#define NAME row_float
#include "lbm/observe/moments_body.inc"

void gab_lbm_row_moments(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t start,
                         int32_t count, uint32_t cell, gab_lbm_row *row)
{
  if (model->options.precision == GAB_PRECISION_FLOAT) row_float(model, block, start, count, row);
  else row_double(model, block, start, count, row);
  if (block->porous) gab_porous_recover(model, block, cell, count, row);
}

void gab_lbm_moments(const gab_lbm_model *model, const gab_level_model *at, const double *f, double *drho,
                     double velocity[3])
{
  const gab_lattice *lattice = model->lattice;
  double sum = f[0], j[3] = {0, 0, 0};
  for (int q = 1; q < lattice->q; q += 2) {
    sum += f[q] + f[q + 1];
    for (int axis = 0; axis < 3; axis++) j[axis] += lattice->c[q][axis] * (f[q] - f[q + 1]);
  }
  *drho = sum;
  for (int axis = 0; axis < 3; axis++) velocity[axis] = (j[axis] - 0.5 * at->rates.force[axis]) / (1 + sum);
}
