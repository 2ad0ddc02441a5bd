/* SPDX-License-Identifier: Apache-2.0 */
/* Walls with the log law of a rough ground: u = u_* / kappa ln((z + z0) / z0), z above the wall, and the friction rho u_*^2.
 *
 * The friction follows from the velocity in the first cell, half a cell above the wall. The wall throws back as one that moves, with the velocity
 * that gives the cell just that friction: with what the cell sends to the wall, f_q', and the sum of 6 w_q c_qt^2 over the links of the cell to
 * the wall, 1/3, the momentum that it gets along t is the sum of 2 c_qt f_q' plus u_t / 3.
 *
 * The eddies that bear the friction on have the viscosity l^2 |S|, as of Smagorinsky (collision_smagorinsky.c), with the mixing length
 * l = kappa h(z). In a steady shear flow the velocities of neighbouring cells differ by the stress times the mean of their 1 / viscosity (the
 * steady state of any of the collisions, from the moments of populations that pass between them). So with
 *   (1/h(z) + 1/h(z + 1)) / 2 = ln((z + 1 + z0) / (z + z0)),   h(z) = z + z0 far from the wall,
 * the log law is exact in all cells, the first included, where h = z + z0 would be 20 % off. Of what a cell sends beyond equilibrium only the
 * stress is left: moments of third order, which a small viscosity of the fluid hardly damps, would add normal stresses to |S|. */
#include "lbm/lbm_impl.h"

#include <math.h>

static const double kappa = 0.4;

double gab_ground_of_link(const gab_lbm_model *model, const gab_level_model *at, const gab_slip_link *link,
                          const double *sent, const double *free)
{
  const gab_lattice *lattice = model->lattice;
  const int across = link->side / 2, inwards = link->side % 2 ? -1 : 1;
  double drho, u[3], given[3] = {0, 0, 0}, square = 0, sum = 0;
  gab_lbm_moments(model, at, free, &drho, u);
  for (int axis = 0; axis < lattice->dimension; axis++)
    if (axis != across) square += u[axis] * u[axis];
  for (int q = 1; q < lattice->q; q++)
    if (lattice->c[q][across] == inwards)
      for (int axis = 0; axis < lattice->dimension; axis++)
        given[axis] += lattice->c[q][axis] * sent[gab_lattice_opposite(q)];
  const double share = kappa / log((0.5 + link->roughness) / link->roughness),
               drag = (1 + drho) * share * share * sqrt(square); /* friction over velocity */
  for (int axis = 0; axis < lattice->dimension; axis++)
    if (axis != across) sum -= lattice->c[link->q][axis] * 3 * (drag * u[axis] + 2 * given[axis]);
  return 6 * lattice->weight[link->q] * sum;
}

/* 1/h, from the series of the difference equation for large z, step by step down to the height. */
double gab_ground_mixing_length(double height)
{
  enum { FAR = 12 };
  const int steps = height < FAR ? (int)ceil(FAR - height) : 0;
  const double z = height + steps, z2 = 1 / (z * z);
  double inverse = (1 - z2 / 6 + z2 * z2 / 5) / z;
  for (int k = steps - 1; k >= 0; k--) inverse = 2 * log((height + k + 1) / (height + k)) - inverse;
  return kappa / inverse;
}

double gab_ground_kept(double rate, double length, double square, double divisor)
{
  if (rate <= 1) return 1;
  const double tau = 1 / rate, eddies = 18 * length * length * sqrt(2 * square) / divisor;
  return (1 / fmin(1, (tau + sqrt(tau * tau + eddies)) / 2) - 1) / (rate - 1);
}

double gab_ground_mix(const gab_lbm_model *model, const gab_level_model *at, double drho, double length,
                      double rest[GAB_LATTICE_MAX_Q])
{
  const gab_lattice *lattice = model->lattice;
  const double rate = at->rates.even;
  double moment[3][3] = {{0}}, square = 0, trace = 0;
  if (rate <= 1) return 1;
  for (int q = 0; q < lattice->q; q++)
    for (int i = 0; i < lattice->dimension; i++)
      for (int j = 0; j < lattice->dimension; j++)
        moment[i][j] += lattice->c[q][i] * lattice->c[q][j] * rest[q];
  for (int k = 0; k < 9; k++) square += moment[k / 3][k % 3] * moment[k / 3][k % 3];
  for (int axis = 0; axis < 3; axis++) trace += moment[axis][axis];
  /* Before the collision the moments were 1 / (rate - 1) times as large. */
  const double keep = gab_ground_kept(rate, length, square, (rate - 1) * (1 + drho));
  for (int q = 0; q < lattice->q; q++) {
    double sum = -trace / 3;
    for (int i = 0; i < lattice->dimension; i++)
      for (int j = 0; j < lattice->dimension; j++) sum += lattice->c[q][i] * lattice->c[q][j] * moment[i][j];
    rest[q] = keep * 4.5 * lattice->weight[q] * sum;
  }
  return keep;
}
