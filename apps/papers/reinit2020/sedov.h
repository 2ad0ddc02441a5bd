/* SPDX-License-Identifier: Apache-2.0 */
/* Shock hydrodynamics: the blast wave of Sedov (1959) in one octant, the problem of the LLNL proxy
 * application LULESH, here by finite volumes on a fixed grid: Euler's equations of an ideal gas (gamma 1.4),
 * directions in turn, MUSCL-Hancock with the limiter minmod, HLLC fluxes (Toro 2009,
 * sections 10.4, 13.4, 14.4, 16.5). size^3 cells a process; all sides are mirrors. */
#ifndef PROXY_SEDOV_H
#define PROXY_SEDOV_H

#include "apps/papers/reinit2020/proxy_common.h"

enum { GAS_VALUES = 5, GAS_GHOSTS = 2 };

/* Density, momenta, energy per volume. */
typedef struct gas {
  double q[GAS_VALUES];
} gas;

/* What changes from step to step, in one piece. */
typedef struct sedov_state {
  double time, steps;
  gas cells[]; /* with ghosts, x fastest */
} sedov_state;

typedef struct sedov {
  MPI_Comm comm;
  int rank, boxes[3], at[3], neighbour[3][2]; /* MPI_PROC_NULL: a mirror */
  int edge, padded;
  double dx;
  gas *cells, *line, *flux, *out, *in;
  sedov_state *state;
  size_t state_bytes;
} sedov;

/* Gas at rest, and the energy that makes a radius of 1 at time 1, in the corner; `sedov` is zero or was begun
 * before: then that is freed. Collective. */
void sedov_begin(sedov *sedov, MPI_Comm comm, int edge);
void sedov_step(sedov *sedov);
/* Time, radius of the shock and the exact one, change of mass and energy since the start, checksum: rank 0
 * prints them. Collective. */
void sedov_report(const sedov *sedov);
void sedov_end(sedov *sedov);

#endif
