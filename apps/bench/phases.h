/* gabion-bench: the phase field. Tier: internal. */
#ifndef GABION_APPS_BENCH_PHASES_H
#define GABION_APPS_BENCH_PHASES_H

#include "apps/bench/bench.h"

/* Sweeps and steps of four phases of three components in regions of one kind, and at a front. */
gab_status bench_phasefield(bench *b);

#endif
