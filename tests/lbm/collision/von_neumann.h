/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of small waves about a uniform flow, from the collision of the library: its reference kernel is linearised
 * numerically, and a wave of wave number k streams as exp(-i k c). */
#ifndef GABION_TESTS_LBM_VON_NEUMANN_H
#define GABION_TESTS_LBM_VON_NEUMANN_H

#include "lbm/lbm_impl.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double complex wave;

typedef struct collision_matrix {
  const gab_lattice *lattice;
  double entry[GAB_LATTICE_MAX_Q][GAB_LATTICE_MAX_Q];
} collision_matrix;

/* Collides the populations of one cell in place. */
static inline void collide_cell(const gab_kernel *kernel, const gab_collision *collision,
                                const gab_collision_rates *rates, const gab_lattice *lattice, double *f)
{
  gab_storage own = {.next = NULL};
  for (int i = 0; i < lattice->q; i++) own.arriving[i] = own.sent[i] = i;
  const gab_sweep sweep = {.from = f,
                           .to = f,
                           .arriving = own.arriving,
                           .sent = own.sent,
                           .rates = rates,
                           .lattice = lattice,
                           .collision = collision};
  const gab_run cell = {.length = 1};
  kernel->run(&sweep, &cell, 1);
}

/* Central differences of two widths, extrapolated: the error is of fourth order in the width, about 1e-12. */
static inline collision_matrix linearised(const gab_kernel *kernel, const gab_collision *model,
                                          const gab_collision_rates *rates, const gab_lattice *lattice,
                                          const double u[3])
{
  collision_matrix made = {.lattice = lattice};
  for (int j = 0; j < lattice->q; j++)
    for (int half = 0; half < 2; half++) {
      const double width = half ? 1e-3 : 2e-3, weight = half ? 4.0 / 3 : -1.0 / 3;
      double above[GAB_LATTICE_MAX_Q], below[GAB_LATTICE_MAX_Q];
      for (int q = 0; q < lattice->q; q++) above[q] = below[q] = gab_lattice_equilibrium(lattice, q, 0, u);
      above[j] += width;
      below[j] -= width;
      collide_cell(kernel, model, rates, lattice, above);
      collide_cell(kernel, model, rates, lattice, below);
      for (int i = 0; i < lattice->q; i++) made.entry[i][j] += weight * (above[i] - below[i]) / (2 * width);
    }
  return made;
}

/* C = A A */
static inline void square_of(int n, const wave *a, wave *c)
{
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      const double re = creal(a[i * n + k]), im = cimag(a[i * n + k]);
      for (int j = 0; j < n; j++) {
        const double br = creal(a[k * n + j]), bi = cimag(a[k * n + j]);
        c[i * n + j] += (re * br - im * bi) + (re * bi + im * br) * I;
      }
    }
}

/* An upper bound of log(spectral radius): log |A^m| / m for m = 1, 2, 4, …, by squaring (Gelfand's formula: each is a
 * bound, and they converge to it). Ends with the first bound below `enough`. */
static inline double log_growth(int n, wave *a, double enough)
{
  wave next[GAB_LATTICE_MAX_Q * GAB_LATTICE_MAX_Q];
  double bound = 0, share = 1;
  for (int squarings = 0;; squarings++, share /= 2) {
    double norm = 0;
    for (int i = 0; i < n * n; i++) norm += creal(a[i]) * creal(a[i]) + cimag(a[i]) * cimag(a[i]);
    norm = sqrt(norm);
    bound += share * log(norm);
    if (bound <= enough || squarings == 24) return bound;
    for (int i = 0; i < n * n; i++) a[i] /= norm;
    square_of(n, a, next);
    memcpy(a, next, (size_t)(n * n) * sizeof *a);
  }
}

/* An upper bound of the log of the growth of a wave per step; see log_growth(). */
static inline double wave_growth(const collision_matrix *collision, const double k[3], double enough)
{
  const int n = collision->lattice->q;
  wave a[GAB_LATTICE_MAX_Q * GAB_LATTICE_MAX_Q];
  for (int i = 0; i < n; i++) {
    const int8_t *c = collision->lattice->c[i];
    const double phase = -(k[0] * c[0] + k[1] * c[1] + k[2] * c[2]);
    for (int j = 0; j < n; j++) a[i * n + j] = (cos(phase) + sin(phase) * I) * collision->entry[i][j];
  }
  return log_growth(n, a, enough);
}

#endif
