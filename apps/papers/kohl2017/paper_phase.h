/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-bench: the phase field of Kohl et al. 2017, section 7, with 12 values a cell. Stability: internal. */
#ifndef GABION_APPS_PAPERS_KOHL2017_PAPER_PHASE_H
#define GABION_APPS_PAPERS_KOHL2017_PAPER_PHASE_H

#include "apps/bench/bench_phases.h"
#include "phasefield/setup/initial.h"

/* Ours stores 6 values a cell (four phases, two chemical potentials or concentrations), theirs needs 12:
 * beside it lies a field of the 6 that are missing, which is packed and restored with it. */
enum { PAPER_VALUES = 12 };

typedef struct paper_phase {
  gab_phasefield_start start;
  gab_forest *forest;
  gab_phasefield *model;
} paper_phase;

/* Directional solidification of Al-Ag-Cu in such a forest. @param[out] made  to be destroyed whatever the
 * status */
gab_status paper_phase_create(bench *b, const gab_forest_options *domain, paper_phase *made);
void paper_phase_destroy(paper_phase *made);
/* Bytes that a process needs for so many cells: fields with what they are swept into, and two snapshots of
 * its own and of its partner's. */
double paper_phase_bytes(double cells);

#endif
