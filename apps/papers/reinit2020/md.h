/* SPDX-License-Identifier: Apache-2.0 */
/* Molecular dynamics as the ExMatEx proxy application CoMD does it: Lennard-Jones with a cutoff, linked
 * cells, ghosts of one layer of cells, velocity Verlet, space cut into boxes. Reduced units; the liquid of
 * density 0.8442 and temperature 1.44 that begins as an fcc crystal, of which the energies are well known
 * (that of LAMMPS' bench/in.lj). size^3 crystal cells of 4 atoms a process. */
#ifndef PROXY_MD_H
#define PROXY_MD_H

#include "apps/papers/reinit2020/proxy_common.h"

typedef struct md_atom {
  double r[3], v[3], f[3];
  double id; /* a whole number; all of an atom are doubles */
} md_atom;

/* What changes from step to step, in one piece. */
typedef struct md_state {
  double count;   /* atoms of this process */
  double initial; /* energy of all at the start, per atom */
  md_atom atoms[];
} md_state;

typedef struct md {
  MPI_Comm
      comm; /* a grid of processes would be one more that changes after a death: coordinates are worked out */
  int rank, boxes[3], at[3];
  int neighbour[3][2];          /* ranks below and above */
  double low[3], width[3];      /* of this process's box */
  double length[3];             /* of all space, periodic */
  int cells[3];                 /* of the box; one more layer on each side for ghosts */
  int local, ghosts, most;      /* local: as the state says it */
  md_atom *atoms, *scratch;     /* atoms: in the state; behind the local ones, ghosts */
  int *cell_of, *first, *order; /* atoms by cell */
  double *out, *in;             /* messages */
  double potential, shifted;    /* of the local atoms: with the energy at the cutoff, and without */
  double total_atoms;
  md_state *state;
  size_t state_bytes;
} md;

/* The crystal with its velocities and forces; `md` is zero or was begun before: then that is freed.
 * Collective. */
void md_begin(md *md, MPI_Comm comm, int edge);
/* A step of length 0.002. */
void md_step(md *md);
/* Energies per atom, their drift since the start, number of atoms, checksum: rank 0 prints them. Collective.
 */
void md_report(md *md);
void md_end(md *md);

#endif
