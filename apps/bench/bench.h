/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the sources of gabion-bench. Stability: internal. */
#ifndef GABION_APPS_BENCH_BENCH_H
#define GABION_APPS_BENCH_BENCH_H

#include "blockforest/adaptation/adapt.h"
#include "core/world/world.h"
#include "lbm/lbm.h"

#include <stdio.h>

/* ---------------------------------------------------------------- the run */

/* Everything is collective over the living processes. */
typedef struct bench {
  gab_world *world;
  int most_threads; /* per process */
  int threads;      /* per process, at present: see bench_set_threads() */
  int repetitions;  /* measured ones of each series, after warm-up */
  bool quick;
  bool told_head;     /* of the table */
  FILE *table, *json; /* root writes; NULL: nowhere */
  gab_comm *comm;     /* for MPI calls of our own; NULL until bench_comm() */
  gab_step measured;  /* runs of anything so far: the progress that a launcher sees */
} bench;

int32_t bench_processes(const bench *b);
/* A communicator of our own; made on the first call, collectively. */
gab_status bench_comm(bench *b, gab_comm **comm);
void bench_set_threads(bench *b, int threads);
/* Cells along the edge of the domain of 3D benchmarks. */
int32_t bench_edge(const bench *b);

typedef gab_status (*bench_fn)(bench *b);
/* The benchmarks, in the order in which they run. */
gab_status bench_bandwidth(bench *b);
gab_status bench_kernels(bench *b);
gab_status bench_sweeps(bench *b);
gab_status bench_steps(bench *b);
gab_status bench_team(bench *b);
gab_status bench_blocks(bench *b);
gab_status bench_temporal_blocking(bench *b);
gab_status bench_porous(bench *b);
gab_status bench_levels(bench *b);
gab_status bench_regrid(bench *b);
gab_status bench_proxies(bench *b);
gab_status bench_delays(bench *b);
gab_status bench_count(bench *b);
gab_status bench_transport(bench *b);
gab_status bench_gather(bench *b);
gab_status bench_exchange(bench *b);
gab_status bench_checkpoint(bench *b);
gab_status bench_overlap(bench *b);
gab_status bench_schemes(bench *b);
gab_status bench_restore(bench *b);
gab_status bench_paper(bench *b);
gab_status bench_recovery(bench *b);
gab_status bench_adoption(bench *b);

/* ---------------------------------------------------------------- measuring */

typedef struct bench_series {
  double median, min, max;
  int count;
} bench_series;

enum { BENCH_MOST_SAMPLES = 64 };
/* Sorts the samples. */
bench_series bench_summarise(double *samples, int count);

/* One run of something; repeats are its own business. Collective. */
typedef gab_status (*bench_work)(void *user);
/* Seconds of one run: that of the slowest process, all start together. */
gab_status bench_time(bench *b, bench_work work, void *user, double *seconds);

/* A measurement in turn with its ceiling, so that a change of the machine's load affects both: rates are amounts per
 * second, the share is the median of the ratios of the rates. */
typedef struct bench_pair {
  bench_work work, ceiling;
  void *work_user, *ceiling_user;
  double work_amount, ceiling_amount; /* done by one run of each, over all processes */
} bench_pair;
typedef struct bench_pair_result {
  bench_series rate, ceiling;
  double share; /* 1: as fast as the ceiling */
} bench_pair_result;
gab_status bench_measure_pair(bench *b, const bench_pair *pair, bench_pair_result *result);
/* Without a ceiling. */
gab_status bench_measure(bench *b, bench_work work, void *user, double amount, bench_series *rate);

/* ---------------------------------------------------------------- reporting */

typedef struct bench_result {
  const char *name;
  double value, min, max;
  int samples;
  const char *unit;
  double ceiling;    /* in the same unit; 0: there is none */
  double percent;    /* of the ceiling; 0 with a ceiling: value / ceiling */
  int32_t processes; /* if not as many as now: recoveries lose some */
} bench_result;
/* Adds the numbers of processes and threads to the line. Root only writes; local. */
void bench_report(bench *b, const bench_result *result);
/* A series as it is, times `scale`. */
void bench_report_series(bench *b, const char *name, const bench_series *series, double scale,
                         const char *unit);
void bench_report_pair(bench *b, const char *name, const bench_pair_result *pair, double scale,
                       const char *unit);
/* A part of a measurement that was also timed as a whole, sample by sample, in nanoseconds; its share of the whole is
 * in the column of the ceiling. The samples are not changed. */
void bench_report_part(bench *b, const char *name, const double *part, const double *whole);
/* Why something was not measured: a line of the table. */
void bench_remark(bench *b, const char *format, ...) GAB_PRINTF(2, 3);

/* ---------------------------------------------------------------- streams */

/* Sweeps, steps and their ceilings are repeated this many times: streaming in place has two kinds of steps, and both
 * must count. */
enum { BENCH_SWEEPS = 2 };

/* Arrays for reading and writing in turn, as in a lattice: the components of fields, so that their distances and
 * pages are those of the populations. */
typedef struct bench_streams {
  int count; /* 9 or 19 */
  gab_precision precision;
  size_t elements;  /* of each array */
  ptrdiff_t stride; /* from one array to the next, in elements */
  bool ahead;       /* the in-place loop asks for lines before it needs them: set if that is faster here */
  gab_field *from;  /* NULL: in place only */
  gab_field *to;
} bench_streams;

typedef enum bench_grids { BENCH_ONE_GRID, BENCH_TWO_GRIDS } bench_grids;
gab_status bench_streams_create(int count, gab_precision precision, size_t elements, bench_grids grids,
                                bench_streams *streams);
void bench_streams_destroy(bench_streams *streams);
/* bench_work over a bench_streams: BENCH_SWEEPS times all elements. */
gab_status bench_streams_copy(void *user);
gab_status bench_streams_update(void *user);
/* Once the elements [first, last), in place. Local, one thread. */
void bench_streams_update_part(const bench_streams *streams, ptrdiff_t first, ptrdiff_t last, double one);
/* The part [*first, *last) of `count` that this thread does, cut at multiples of `grain`. */
void bench_my_share(size_t count, size_t grain, size_t *first, size_t *last);
/* 1, but the compiler does not know. */
double bench_unknown_one(void);

/* Copies `bytes` by memcpy, shared by the threads. */
typedef struct bench_copy {
  void *from, *to;
  size_t bytes;
} bench_copy;
gab_status bench_copy_create(size_t bytes, bench_copy *copy);
void bench_copy_destroy(bench_copy *copy);
gab_status bench_copy_run(void *user);

/* Every process sends to its partner and receives from it as many bytes, in pieces of `piece`, through MPI
 * alone. The partner of rank index i is i ^ 1; a last one without partner talks to itself. */
typedef struct bench_swap {
  gab_world *world;
  gab_comm *comm;
  void *out, *in;
  size_t bytes, piece;
  int repeats;
} bench_swap;
gab_status bench_swap_create(bench *b, size_t bytes, size_t piece, bench_swap *swap);
void bench_swap_destroy(bench_swap *swap);
gab_status bench_swap_run(void *user);

/* ---------------------------------------------------------------- flows */

/* Fluid in motion, in a periodic or a closed box. */
typedef struct bench_flow {
  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
  uint64_t cells;                  /* fluid, over all processes */
  uint64_t local_cells;            /* fluid, of this process */
  uint64_t field_bytes, all_bytes; /* taken from memory for forest and flow by this process */
} bench_flow;

typedef struct bench_flow_options {
  const gab_lattice *lattice;
  gab_precision precision;
  bool mixed; /* floats, collided in double */
  const gab_collision *collision;
  bool forced;
  bool walls; /* at all sides, else all are periodic */
  const char *kernel;
  int fused_blocks;           /* as gab_lbm_options.fused_blocks */
  int32_t roots[3], cells[3]; /* blocks, and cells of each */
  const gab_body *bodies;     /* blocks that they fill are left out */
  size_t body_count;
  gab_mark_place_fn refine; /* NULL: blocks of one level */
  int max_level;
} bench_flow_options;

gab_status bench_flow_create(bench *b, const bench_flow_options *options, bench_flow *flow);
void bench_flow_destroy(bench_flow *flow);
/* bench_work over a bench_flow, BENCH_SWEEPS times. */
gab_status bench_flow_collide(void *user);
gab_status bench_flow_step(void *user);
/* The same of one that stays in the caches: BENCH_CACHED_SWEEPS times, so that it takes some time. */
enum { BENCH_CACHED_SWEEPS = 200 };
gab_status bench_flow_collide_cached(void *user);
/* Measures and reports the sweep alone with negligible cost of memory: blocks as those of `large`, one on each
 * process, but of rows of 128 (in 2D 2048) cells with about that many bytes per thread. In bench_kernels.c.
 * @param[in] streams  the ceiling, with the same number of arrays in memory */
gab_status bench_in_cache(bench *b, const bench_flow_options *large, size_t bytes, bench_streams *streams,
                          const char *name);
/* Bytes of the populations of this process without ghosts: the content of a snapshot. */
size_t bench_flow_bytes(const bench_flow *flow);
/* The usual periodic flow in cubes of `block` cells: D3Q19, double, TRT, the kernel that is chosen by itself.
 */
bench_flow_options bench_flow_usual(const bench *b, int32_t block);
/* "in_place.D3Q19.double.TRT.force" */
typedef struct bench_flow_name {
  char text[64];
} bench_flow_name;
bench_flow_name bench_flow_name_of(const bench_flow_options *options);

/* ---------------------------------------------------------------- index lists */

/* Fluid cells of a block, stored one after another, and for every direction the place of the incoming population: in
 * the source cell or, next to a wall, in the cell itself. Every place is in the list once. */
typedef struct bench_lists {
  size_t cells;                 /* fluid */
  size_t all_cells;             /* of the block */
  uint32_t *fluid;              /* their places among all cells, ascending */
  uint32_t *arrives;            /* 19 rows of `cells` */
  bench_streams compact, dense; /* of the fluid cells; of all cells of the block */
} bench_lists;
/* From the fluid cells of the one block that this process has, with periodic sides. */
gab_status bench_lists_create(const bench_flow *flow, bench_lists *lists);
void bench_lists_destroy(bench_lists *lists);
/* bench_work over bench_lists, each two sweeps over 19 arrays in place. Compact: one without, one through the list of
 * incoming populations, as streaming in place alternates. Dense: both through the list of cells. */
gab_status bench_lists_compact(void *user);
gab_status bench_lists_dense(void *user);

#endif
