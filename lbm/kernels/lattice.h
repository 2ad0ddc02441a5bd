/** @file lattice.h
 *  @brief The lattices D2Q9, D3Q19 (Qian, d'Humières & Lallemand 1992) and D3Q27 (He & Luo 1997, Phys. Rev. E 56, 6811), c_s^2 = 1/3.
 *
 *  D3Q19 lacks the eight velocities along the diagonals of space. So it does not carry the moments c_x c_y c_z and
 *  c_x^2 c_y^2 c_z^2, and its truncation errors in the nonlinear terms are not those of an isotropic fluid: a straight
 *  flow whose profile varies along both axes across it gets a secondary flow (White & Chong 2011, J. Comput. Phys. 230,
 *  6367; Silva & Semiao 2014, J. Comput. Phys. 269, 259). D3Q27 carries them: across a flow along an axis there is none,
 *  across one along a diagonal about half of that of D3Q19 (tests/lbm/test_isotropy.c), at 27/19 of the memory.
 *
 *  Direction 0 rests; 2p-1 and 2p (p = 1, 2, …) are opposite to each other, the odd one with the positive
 *  first non-zero component.
 *
 *  Tier: user header.
 */
#ifndef GABION_LBM_LATTICE_H
#define GABION_LBM_LATTICE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GAB_LATTICE_MAX_Q 27

typedef struct gab_lattice {
  const char *name; /**< "D2Q9" */
  int dimension;
  int q;                          /**< number of directions */
  int8_t c[GAB_LATTICE_MAX_Q][3]; /**< velocities, cells per step */
  double weight[GAB_LATTICE_MAX_Q];
  bool is_full; /**< all velocities with components -1, 0 and 1: D2Q9, D3Q27 */
} gab_lattice;

extern const gab_lattice gab_lattice_d2q9;
extern const gab_lattice gab_lattice_d3q19;
extern const gab_lattice gab_lattice_d3q27;

/** @return the index-th of all lattices that have kernels, NULL behind the last */
const gab_lattice *gab_lattice_at(int index);
/** @return its number among them, -1 if it is none of them */
int gab_lattice_number(const gab_lattice *lattice);
/** @return the one that is taken if nothing is said: D2Q9 in 2D, D3Q19 in 3D */
const gab_lattice *gab_lattice_usual(int dimension);
/** @return the lattice of that name in any case ("d3q19"); NULL with an error message that lists the names */
const gab_lattice *gab_lattice_by_name(const char *name);

static inline int gab_lattice_opposite(int q) { return q == 0 ? 0 : q % 2 == 1 ? q + 1 : q - 1; }

/** Equilibrium of second order, as deviation from the weight: w [drho + rho (3 c·u + 9/2 (c·u)^2 - 3/2 u^2)].
 *  @param[in] drho  density minus 1 */
double gab_lattice_equilibrium(const gab_lattice *lattice, int q, double drho, const double u[3]);

#ifdef __cplusplus
}
#endif
#endif
