/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-bench: the phase field. Stability: internal. */
#ifndef GABION_APPS_BENCH_PHASES_H
#define GABION_APPS_BENCH_PHASES_H

#include "apps/bench/bench.h"
#include "phasefield/phasefield.h"

/* Sweeps and steps of four phases of three components in regions of one kind, and at a front. */
gab_status bench_phasefield(bench *b);
/* A front below much melt, on a grid that follows it. */
gab_status bench_growth(bench *b);

/* Al-Ag-Cu: phases, interfaces, temperature and time step. */
void bench_phases_alloy(gab_phasefield_options *options);

#endif
