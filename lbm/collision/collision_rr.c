/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive-regularised collision (Malaspinas 2015, arXiv:1505.06900; Coreixas, Wissocq, Puigt, Boussuge & Sagaut
 * 2017, Phys. Rev. E 96, 033306; on D3Q19 Jacob, Malaspinas & Sagaut 2018, J. Turbul. 19, 1051).
 *
 * After collision the populations hold Hermite moments alone: density, momentum, the second moments, and the moments
 * of third and, in 2D, fourth order of the lattice,
 *   f_q = w (drho + 3 c·j + 9/2 (c c - I/3) : T2 + 27/2 sum (...) T3 + 81/4 (c_x^2 - 1/3)(c_y^2 - 1/3) T4).
 * With n = f - f_eq + force/2 the second moments are T_ij = rho u_i u_j + (1 - omega) n_ij + (u_i F_j + F_i u_j) / 2,
 * where j includes the whole force. The higher moments are not relaxed. They follow from these at first order of the Chapman-Enskog expansion: a_ij = (1 - omega) n_ij gives
 *   T_ijj = rho u_i u_j^2 + u_i a_jj + 2 u_j a_ij,
 *   T_xxyy = rho u_x^2 u_y^2 + u_y^2 a_xx + u_x^2 a_yy + 4 u_x u_y a_xy.
 * Other moments of the lattice, hardly damped near omega 2, are thereby removed. D2Q9 carries xyy, yxx and xxyy.
 * D3Q19 carries of third order the sums and differences of two, xyy + xzz and xyy - xzz (and y, z): with their
 * different norms, all six T_ijj come out at the diagonals, 9 (c_i T_ijj + c_j T_jii), and minus their sums, 9, at
 * the axes. Its fourth order is zero. D3Q27 carries all products of Hermite polynomials up to order 2 of each axis, so
 * xyz too, and orders up to six; all follow by the same rule, each pair of indices taken out once,
 *   T_abc... = rho u_a u_b u_c ... + sum over pairs a_ab (product of the other u).
 * The coefficient of a moment is the product over the axes of 1, 3, 9/2 for orders 0, 1, 2. The force's source (Guo et al. 2002) is that of second order.
 * Velocity sides and moving walls return twice the odd part of all these moments, so that inflow at an angle is correct. */
#include "lbm/kernels/kernel_cell_impl.h"
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#define MODEL          rr
#define MODEL_PATH     "/RR"
#define CELL           "lbm/kernels/source/kernel_cell_recursive.inc"
#define CELL_RATES     "lbm/kernels/source/kernel_cell_recursive_rates.inc"
#define REFERENCE_CELL "lbm/kernels/source/kernel_reference_recursive.inc"
#define ON_LATTICE     HAS_HERMITE
#include "lbm/kernels/source/kernel_families.inc"

/* rho u_x^l u_y^m u_z^n for l + m + n > 2, each with its polynomial, for lattices that carry all of these. */
static double beyond_of_full(const int8_t *c, const double u[3])
{
  double along[3][3], sum = 0; /* by axis and order */
  for (int axis = 0; axis < 3; axis++) {
    along[axis][0] = 1;
    along[axis][1] = 3 * c[axis] * u[axis];
    along[axis][2] = 4.5 * (c[axis] * c[axis] - 1.0 / 3) * u[axis] * u[axis];
  }
  for (int l = 0; l < 3; l++)
    for (int m = 0; m < 3; m++)
      for (int n = 0; n < 3; n++)
        if (l + m + n > 2) sum += along[0][l] * along[1][m] * along[2][n];
  return sum;
}

double gab_collision_equilibrium_beyond(const gab_lattice *lattice, int q, double drho, const double u[3])
{
  const int8_t *c = lattice->c[q];
  const int dimension = lattice->dimension;
  if (dimension == 3 && lattice->is_full) return lattice->weight[q] * (1 + drho) * beyond_of_full(c, u);
  double sum = 0;
  for (int i = 0; i < dimension; i++) {
    double others = 0, at_planes = 0;
    for (int j = 0; j < dimension; j++) {
      if (j == i) continue;
      others += u[j] * u[j];
      at_planes += c[j] * c[j] * u[j] * u[j];
    }
    const bool along = c[i] != 0 && GAB_SQUARE(c[0], c[1], c[2]) == 1;
    sum += c[i] * u[i] * (along ? (dimension == 3 ? -9 : -4.5) * others : 9 * at_planes);
  }
  if (dimension == 2) {
    const int square = GAB_SQUARE(c[0], c[1], c[2]);
    sum += (square == 0 ? 2.25 : square == 1 ? -4.5 : 9) * u[0] * u[0] * u[1] * u[1];
  }
  return lattice->weight[q] * (1 + drho) * sum;
}

static double magic_of_omega(const gab_lbm_options *options, double even)
{
  (void)options;
  return even * even;
}

const gab_collision gab_collision_rr = {
    .name = "rr",
    .title = "RR",
    .doc = "recursive-regularised (Malaspinas 2015), for cells with a Reynolds number of 10 and above",
    .revision = 2, /* 2: moving walls give momentum of third order too */
    .kernels = &gab_kernels_rr,
    .equilibrium_beyond = gab_collision_equilibrium_beyond,
    .magic = magic_of_omega,
};
