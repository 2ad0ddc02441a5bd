/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients on the matrix of a 27-point stencil, as the Mantevo proxy application HPCCG has it:
 * diagonal 27, -1 for each neighbour, right-hand side such that the solution is 1 everywhere. size^3 rows a
 * process, stacked in z. Sums over all rows are made plane by plane, in the order of the planes: no bit of the result
 * depends on which process has which planes, nor on how many processes there are. */
#ifndef PROXY_CG_H
#define PROXY_CG_H

#include "apps/papers/reinit2020/proxy_common.h"

/* What changes from iteration to iteration, in one piece. */
typedef struct cg_state {
  double rho;      /* r . r */
  double values[]; /* x, r, p with a plane of ghosts on either side */
} cg_state;

typedef struct cg {
  MPI_Comm comm;
  int rank, processes, edge;
  int height, first, planes; /* in z: of all processes; of this one */
  size_t rows, plane;        /* of this process; of a plane */
  /* Compressed rows; columns count from the lower plane of ghosts on. */
  size_t *row;
  int *column;
  double *value;
  double *b, *Ap;
  double *sums;      /* of the planes, one for each of all */
  double *x, *r, *p; /* in the state; p begins with the lower plane of ghosts */
  cg_state *state;
  size_t state_bytes;
} cg;

/* Matrix, right-hand side, and the state ahead of the first iteration; `cg` is zero or was begun before: then
 * that is freed. `edge` planes a process. Collective. */
void cg_begin(cg *cg, MPI_Comm comm, int edge);
/* The same of so many planes in all, shared out evenly; not less than there are processes. Collective. */
void cg_begin_planes(cg *cg, MPI_Comm comm, int edge, int height);
/* The first plane of process `rank` of `processes`; of rank `processes`: `height`. */
int cg_first_plane(int height, int rank, int processes);
void cg_iterate(cg *cg);
/* Residual, largest distance from the solution, checksum: rank 0 prints them. Collective. */
void cg_report(const cg *cg);
void cg_end(cg *cg);

#endif
