/* SPDX-License-Identifier: Apache-2.0 */
/* Walls with a slip length b: the fluid at the wall has the velocity b du/dn along it (Navier). With u_1 and u_2 in the first two cells,
 * 1/2 and 3/2 cells away, the parabola through both that fulfils this has at the wall b (9 u_1 - u_2) / (8 b + 3): exact for
 * Couette and Poiseuille flow. The wall throws back as one that moves with that velocity. */
#include "lbm/lbm_impl.h"

double gab_slip_of_link(const gab_lbm_model *model, const gab_level_model *at, const gab_slip_link *link,
                        const double *sent, const double *free, const double *next_free)
{
  const gab_lattice *lattice = model->lattice;
  const double b = link->length;
  if (link->roughness > 0) return gab_ground_of_link(model, at, link, sent, free);
  double drho, first[3], second[3], sum = 0;
  gab_lbm_moments(model, at, free, &drho, first);
  if (link->has_next) gab_lbm_moments(model, at, next_free, &drho, second);
  for (int axis = 0; axis < lattice->dimension; axis++) {
    if (axis == link->side / 2) continue;
    sum += lattice->c[link->q][axis] * (link->has_next ? b * (9 * first[axis] - second[axis]) / (8 * b + 3)
                                                       : b / (b + 0.5) * first[axis]);
  }
  return 6 * lattice->weight[link->q] * sum;
}
