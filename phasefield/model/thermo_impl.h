/* SPDX-License-Identifier: Apache-2.0 */
/* The linear system of the thermodynamic model. Stability: internal. */
#ifndef GABION_PHASEFIELD_MODEL_THERMO_IMPL_H
#define GABION_PHASEFIELD_MODEL_THERMO_IMPL_H

#include "phasefield/model/thermo.h"

/** Solves the symmetric positive definite system A x = b of order n <= 3 by Cholesky.
 *  @param[in] a  rows of GAB_MOST_INDEPENDENTS, as in the members above
 *  @return false if A is not positive definite */
bool gab_thermo_solve(int n, const double *a, const double *b, double *x);

#endif
