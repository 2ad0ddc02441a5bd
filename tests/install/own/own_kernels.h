/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a program's own. `gathered` copies some cells into rows of its own, and lets the library's kernel collide them there: any
 * lattice, collision and precision, and the bits of the library. `plain` is SRT with Guo's force as textbooks write it: a
 * cell at a time, in double, two fields, with other bits, and so with a revision. */
#include "lbm/kernels/kernel_family.h"

#include <stdatomic.h>
#include <string.h>

#ifndef PLAIN_REVISION /* 0: it says that its bits are those of the library, and is refused */
#define PLAIN_REVISION 1
#endif

enum { GATHERED = 24 };
static atomic_ullong gathered_cells;

static void gather(const gab_sweep *at, const gab_run *runs, size_t count)
{
  double rows[GAB_LATTICE_MAX_Q * GATHERED];
  ptrdiff_t own[GAB_LATTICE_MAX_Q], back[GAB_LATTICE_MAX_Q];
  const size_t bytes = at->reals == GAB_REALS_DOUBLE ? sizeof(double) : sizeof(float);
  const int all = at->lattice->q;
  gab_sweep inner = *at;
  for (int q = 0; q < all; q++) own[q] = (ptrdiff_t)q * GATHERED;
  for (int q = 0; q < all; q++) back[q] = own[gab_lattice_opposite(q)];
  inner.from = inner.to = rows;
  inner.arriving = own;
  inner.sent = back;
  inner.end = NULL;
  for (size_t k = 0; k < count; k++)
    for (int32_t done = 0; done < runs[k].length; done += GATHERED) {
      const int32_t left = runs[k].length - done;
      const gab_run run = {.length = left < GATHERED ? left : GATHERED};
      const size_t part = (size_t)run.length * bytes;
      const ptrdiff_t first = (ptrdiff_t)runs[k].start + done, step = (ptrdiff_t)bytes;
      const char *from = (const char *)at->from + first * step;
      char *to = (char *)at->to + first * step, *mine = (char *)rows;
      for (int q = 0; q < all; q++) memcpy(mine + own[q] * step, from + at->arriving[q] * step, part);
      gab_kernel_sweep(&inner, &run, 1);
      for (int q = 0; q < all; q++) memcpy(to + at->sent[q] * step, mine + back[q] * step, part);
      atomic_fetch_add(&gathered_cells, (unsigned long long)run.length);
    }
}

static const gab_kernel_family gathered = {.name = "gathered",
                                           .doc = "cells are collected into rows",
                                           .fields = 1,
                                           .blocks = GAB_KERNEL_BLOCKS_BY_SHARE,
                                           .sweep = gather};

static void collide_plainly(const gab_sweep *at, double *f)
{
  const gab_lattice *lattice = at->lattice;
  const double omega = at->rates->even, *force = at->rates->force;
  double drho = 0, u[3] = {0, 0, 0}, power = 0;
  for (int q = 0; q < lattice->q; q++) {
    drho += f[q];
    for (int k = 0; k < 3; k++) u[k] += lattice->c[q][k] * f[q];
  }
  for (int k = 0; k < 3; k++) {
    u[k] = (u[k] + 0.5 * force[k]) / (1 + drho);
    power += u[k] * force[k];
  }
  for (int q = 0; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    const double along = c[0] * force[0] + c[1] * force[1] + c[2] * force[2],
                 with = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    f[q] += omega * (gab_lattice_equilibrium(lattice, q, drho, u) - f[q]) +
            (1 - 0.5 * omega) * lattice->weight[q] * (3 * along + 9 * with * along - 3 * power);
  }
}

static void sweep_plainly(const gab_sweep *at, const gab_run *runs, size_t count)
{
  double f[GAB_LATTICE_MAX_Q];
  for (size_t k = 0; k < count; k++)
    for (int32_t i = 0; i < runs[k].length; i++) {
      const double *from = (const double *)at->from + runs[k].start + i;
      double *to = (double *)at->to + runs[k].start + i;
      for (int q = 0; q < at->lattice->q; q++) f[q] = from[at->arriving[q]];
      collide_plainly(at, f);
      for (int q = 0; q < at->lattice->q; q++) to[at->sent[q]] = f[q];
    }
}

static const char *plain_refuses(const gab_collision *collision, const gab_lattice *lattice,
                                 gab_kernel_reals reals, bool forced)
{
  (void)lattice, (void)forced;
  return collision == &gab_collision_srt && reals == GAB_REALS_DOUBLE ? NULL : "it is SRT in double";
}

static const gab_kernel_family plain = {.name = "plain",
                                        .doc = "SRT as textbooks write it",
                                        .fields = 2,
                                        .sweep = sweep_plainly,
                                        .refuses = plain_refuses,
                                        .revision = PLAIN_REVISION};
