/** @file lattice.h
 *  @brief The lattices D2Q9 and D3Q19 (Qian, d'Humières & Lallemand 1992), c_s^2 = 1/3.
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

#define GAB_LATTICE_MAX_Q 19

typedef struct gab_lattice {
  const char *name; /**< "D2Q9" */
  int dimension;
  int q;                          /**< number of directions */
  int8_t c[GAB_LATTICE_MAX_Q][3]; /**< velocities, cells per step */
  double weight[GAB_LATTICE_MAX_Q];
} gab_lattice;

extern const gab_lattice gab_lattice_d2q9;
extern const gab_lattice gab_lattice_d3q19;

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
