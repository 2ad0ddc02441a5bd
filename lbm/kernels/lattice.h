/* SPDX-License-Identifier: Apache-2.0 */
/** @file lattice.h
 *  @brief The lattices D2Q9, D3Q19 (Qian, d'Humières & Lallemand 1992), D3Q27 (He & Luo 1997, Phys. Rev. E 56, 6811) and
 *  user-defined ones; c_s^2 = 1/3.
 *
 *  Direction 0 rests; 2p-1 and 2p (p = 1, 2, …) are opposite to each other, the odd one with the positive first non-zero
 *  component.
 *
 *  D3Q19 lacks the velocities along the diagonals of space, so its truncation errors are not isotropic: a straight flow
 *  whose profile varies along both transverse axes gets a secondary flow (White & Chong 2011, J. Comput. Phys. 230, 6367;
 *  Silva & Semiao 2014, J. Comput. Phys. 269, 259). D3Q27 has none across a flow along an axis, and about half of it
 *  along a diagonal (tests/lbm/collision/test_isotropy.c), at 27/19 of the memory.
 *
 *  A program registers its lattice before the configuration is declared, the same on all processes, and chooses it by
 *  `lbm.lattice` in the parameter file or gab_lbm_options.lattice:
 *  @code
 *    static const gab_lattice own = {.name = "D3Q15", .doc = "axes and corners", .dimension = 3, .q = 15,
 *                                    .c = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, ...}, .weight = {2. / 9, 1. / 9, 1. / 9, ...}};
 *    GAB_TRY(gab_lattice_register(&own));     lbm: {lattice: d3q15}
 *  @endcode
 *  Flows on it are computed cell by cell, several times slower than on the others: with TRT and SRT, with any collision that
 *  is a function of one cell, and with user-defined kernels. Populations in float are collided in double. Walls, bodies,
 *  open sides, levels, sparse blocks and checkpoints work as on the others. A state on disk records its numbers.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_LBM_LATTICE_H
#define GABION_LBM_LATTICE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GAB_LATTICE_MAX_Q 27
/** That there can be, with the library's; and letters of a name. */
enum { GAB_MOST_LATTICES = 16, GAB_LATTICE_MOST_LETTERS = 24 };

typedef struct gab_lattice {
  const char *name; /**< "D2Q9" */
  int dimension;
  int q;                          /**< number of directions */
  int8_t c[GAB_LATTICE_MAX_Q][3]; /**< velocities, cells per step */
  double weight[GAB_LATTICE_MAX_Q];
  bool is_full;    /**< all velocities with components -1, 0 and 1: D2Q9, D3Q27 */
  const char *doc; /**< a clause */
} gab_lattice;

extern const gab_lattice gab_lattice_d2q9;
extern const gab_lattice gab_lattice_d3q19;
extern const gab_lattice gab_lattice_d3q27;

/** Adds a user-defined lattice to those that can be chosen by name. Before a configuration is declared, the same on
 *  all processes. @param[in] lattice  borrowed until the process ends, must not change
 *  @return ::GAB_ERR_ARGUMENT if the name is taken (in any case of its letters) or invalid (1 to
 *  #GAB_LATTICE_MOST_LETTERS letters, digits, - and _ are required; not auto), a member is missing,
 *  gab_lattice_check() refuses it, or the table is full */
gab_status gab_lattice_register(const gab_lattice *lattice);
/** Whether a flow can be computed on it: the requirements of ghosts, links, borders between levels and collisions.
 *  Components of at most 1; the rest at 0 and pairs of opposite directions, in the order of the head of this file,
 *  without repetition; positive weights, the same for a direction and its mirror images along each axis, isotropic to
 *  fourth order with c_s^2 = 1/3; in 2D no z component. Pure.
 *  @return ::GAB_ERR_ARGUMENT with the first property that it lacks */
gab_status gab_lattice_check(const gab_lattice *lattice);
/** @return a hash of dimension, directions and weights: lattices of other numbers have another one. Pure. */
uint64_t gab_lattice_numbers(const gab_lattice *lattice);

/** @return the index-th of all lattices, those of the library first, NULL behind the last */
GAB_STABLE const gab_lattice *gab_lattice_at(int index);
/** @return its number among them, -1 if it is none of them */
int gab_lattice_number(const gab_lattice *lattice);
/** @return the default: D2Q9 in 2D, D3Q19 in 3D */
const gab_lattice *gab_lattice_usual(int dimension);
/** @return the lattice of that name in any case ("d3q19"); NULL with an error message that lists the names */
GAB_STABLE const gab_lattice *gab_lattice_by_name(const char *name);

GAB_STABLE static inline int gab_lattice_opposite(int q) { return q == 0 ? 0 : q % 2 == 1 ? q + 1 : q - 1; }
/** The direction with that velocity, which the lattice must have. Pure. */
static inline int gab_lattice_direction(const gab_lattice *lattice, const int c[3])
{
  int q = 0;
  while (lattice->c[q][0] != c[0] || lattice->c[q][1] != c[1] || lattice->c[q][2] != c[2]) q++;
  return q;
}

/** Equilibrium of second order, as deviation from the weight: w [drho + rho (3 c·u + 9/2 (c·u)^2 - 3/2 u^2)].
 *  @param[in] drho  density minus 1 */
double gab_lattice_equilibrium(const gab_lattice *lattice, int q, double drho, const double u[3]);

#ifdef __cplusplus
}
#endif
#endif
