/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings of memory: as many arrays side by side as a lattice has directions, and memcpy. */
#include "apps/bench/bench.h"

#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define NINE(X)     X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define NINETEEN(X) NINE(X) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18)

#define COPY    copy_9_double
#define UPDATE  update_9_double
#define AHEAD   ahead_9_double
#define REAL    double
#define STREAMS NINE
#include "apps/bench/bench_streams_body.inc"
#define COPY    copy_19_double
#define UPDATE  update_19_double
#define AHEAD   ahead_19_double
#define REAL    double
#define STREAMS NINETEEN
#include "apps/bench/bench_streams_body.inc"
#define COPY    copy_9_float
#define UPDATE  update_9_float
#define AHEAD   ahead_9_float
#define REAL    float
#define STREAMS NINE
#include "apps/bench/bench_streams_body.inc"
#define COPY    copy_19_float
#define UPDATE  update_19_float
#define AHEAD   ahead_19_float
#define REAL    float
#define STREAMS NINETEEN
#include "apps/bench/bench_streams_body.inc"

/* Read at run time, so that it is not a constant. */
static volatile double unknown_one = 1;

double bench_unknown_one(void) { return unknown_one; }

void bench_my_share(size_t count, size_t grain, size_t *first, size_t *last)
{
  size_t me = 0, all = 1;
#ifdef _OPENMP
  me = (size_t)omp_get_thread_num(), all = (size_t)omp_get_num_threads();
#endif
  size_t grains = (count + grain - 1) / grain;
  *first = grains * me / all * grain;
  *last = grains * (me + 1) / all * grain;
  if (*first > count) *first = count;
  if (*last > count) *last = count;
}

/* Written by the threads that will work on it. */
static void fill(const bench_streams *s, gab_field *field)
{
#pragma omp parallel
  {
    size_t first, last;
    bench_my_share(s->elements, 64, &first, &last);
    for (int q = 0; q < s->count; q++)
      for (size_t i = first; i < last; i++) {
        ptrdiff_t place = q * s->stride + (ptrdiff_t)i;
        if (s->precision == GAB_PRECISION_FLOAT) ((float *)field->data)[place] = 1;
        else ((double *)field->data)[place] = 1;
      }
  }
}

static gab_status make_field(const bench_streams *s, gab_field **field)
{
  gab_field_shape shape = {.cells = {(int32_t)s->elements, 1, 1},
                           .components = s->count,
                           .precision = s->precision,
                           .layout = GAB_LAYOUT_SOA};
  GAB_TRY(gab_field_create(&shape, field));
  return GAB_OK;
}

static void choose_loop(bench_streams *s);

gab_status bench_streams_create(int count, gab_precision precision, size_t elements, bench_grids grids,
                                bench_streams *s)
{
  *s = (bench_streams){.count = count, .precision = precision, .elements = elements};
  gab_status status = make_field(s, &s->to);
  if (status == GAB_OK && grids == BENCH_TWO_GRIDS) status = make_field(s, &s->from);
  if (status != GAB_OK) {
    bench_streams_destroy(s);
    return status;
  }
  s->stride = s->to->map.component_stride;
  fill(s, s->to);
  if (s->from) fill(s, s->from);
  choose_loop(s);
  return GAB_OK;
}

void bench_streams_destroy(bench_streams *s)
{
  gab_field_destroy(&s->from);
  gab_field_destroy(&s->to);
}

static void copy_part(const bench_streams *s, ptrdiff_t a, ptrdiff_t z, double one)
{
  void *to = s->to->data;
  const void *from = s->from->data;
  if (s->precision == GAB_PRECISION_FLOAT) {
    if (s->count == 9) copy_9_float(to, from, s->stride, a, z, (float)one);
    else copy_19_float(to, from, s->stride, a, z, (float)one);
  } else {
    if (s->count == 9) copy_9_double(to, from, s->stride, a, z, one);
    else copy_19_double(to, from, s->stride, a, z, one);
  }
}

void bench_streams_update_part(const bench_streams *s, ptrdiff_t a, ptrdiff_t z, double one)
{
  void *to = s->to->data;
  if (s->precision == GAB_PRECISION_FLOAT) {
    if (s->count == 9) (s->ahead ? ahead_9_float : update_9_float)(to, s->stride, a, z, (float)one);
    else (s->ahead ? ahead_19_float : update_19_float)(to, s->stride, a, z, (float)one);
  } else {
    if (s->count == 9) (s->ahead ? ahead_9_double : update_9_double)(to, s->stride, a, z, one);
    else (s->ahead ? ahead_19_double : update_19_double)(to, s->stride, a, z, one);
  }
}

/* The threads meet after every sweep, as after a step. */
static void sweep(const bench_streams *s, void (*part)(const bench_streams *, ptrdiff_t, ptrdiff_t, double))
{
  double one = unknown_one;
  for (int i = 0; i < BENCH_SWEEPS; i++)
#pragma omp parallel
  {
    size_t first, last;
    bench_my_share(s->elements, 64, &first, &last);
    part(s, (ptrdiff_t)first, (ptrdiff_t)last, one);
  }
}

/* A ceiling is the rate of the faster loop: each is run several times in turn, its best time counts. */
static void choose_loop(bench_streams *s)
{
  double best[2] = {INFINITY, INFINITY};
  for (int i = 0; i < 6; i++) {
    s->ahead = i % 2 == 1;
    double start = MPI_Wtime();
    sweep(s, bench_streams_update_part);
    best[i % 2] = fmin(best[i % 2], MPI_Wtime() - start);
  }
  s->ahead = best[1] < best[0];
}

gab_status bench_streams_copy(void *user)
{
  sweep(user, copy_part);
  return GAB_OK;
}

gab_status bench_streams_update(void *user)
{
  sweep(user, bench_streams_update_part);
  return GAB_OK;
}

/* ---------------------------------------------------------------- memcpy */

gab_status bench_copy_create(size_t bytes, bench_copy *copy)
{
  *copy = (bench_copy){.bytes = bytes};
  gab_status status = gab_alloc(bytes, GAB_MEMORY_OTHER, &copy->from);
  if (status == GAB_OK) status = gab_alloc(bytes, GAB_MEMORY_OTHER, &copy->to);
  if (status != GAB_OK) {
    bench_copy_destroy(copy);
    return status;
  }
#pragma omp parallel
  {
    size_t first, last;
    bench_my_share(bytes, 4096, &first, &last);
    memset((unsigned char *)copy->from + first, 1, last - first);
    memset((unsigned char *)copy->to + first, 2, last - first);
  }
  return GAB_OK;
}

void bench_copy_destroy(bench_copy *copy)
{
  gab_free(&copy->from);
  gab_free(&copy->to);
}

gab_status bench_copy_run(void *user)
{
  const bench_copy *copy = user;
#pragma omp parallel
  {
    size_t first, last;
    bench_my_share(copy->bytes, 4096, &first, &last);
    memcpy((unsigned char *)copy->to + first, (const unsigned char *)copy->from + first, last - first);
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- the benchmark */

static gab_status one_lattice(bench *b, const char *lattice, int count, gab_precision precision,
                              size_t elements)
{
  bench_streams streams;
  GAB_TRY(bench_streams_create(count, precision, elements, BENCH_TWO_GRIDS, &streams));
  const char *real = precision == GAB_PRECISION_FLOAT ? "float" : "double";
  double cells = (double)elements * bench_processes(b) * BENCH_SWEEPS;
  double word = (double)((size_t)count * gab_precision_bytes(precision));
  static const struct {
    const char *name;
    bench_work run;
    int words; /* read, write, and the reading of what is written (write-allocate) */
  } loops[] = {{"copy", bench_streams_copy, 3}, {"in-place", bench_streams_update, 2}};
  gab_status status = GAB_OK;
  for (int i = 0; i < 2 && status == GAB_OK; i++) {
    bench_series rate;
    char name[64];
    status = bench_measure(b, loops[i].run, &streams, cells, &rate);
    if (status != GAB_OK) break;
    snprintf(name, sizeof name, "bandwidth.%s.%d-stream.%s", loops[i].name, count, real);
    bench_report_series(b, name, &rate, loops[i].words * word * 1e-9, "GB/s");
    snprintf(name, sizeof name, "ceiling.%s.%s.%s", i == 0 ? "two-grid" : "in-place", lattice, real);
    bench_report_series(b, name, &rate, 1e-6, "MLUPS");
  }
  bench_streams_destroy(&streams);
  return status;
}

static gab_status memory_copy(bench *b)
{
  bench_copy copy;
  size_t bytes = (size_t)(b->quick ? 128 : 320) << 20;
  GAB_TRY(bench_copy_create(bytes, &copy));
  bench_series rate;
  gab_status status = bench_measure(b, bench_copy_run, &copy, (double)bytes * bench_processes(b), &rate);
  if (status == GAB_OK) bench_report_series(b, "bandwidth.memcpy", &rate, 1e-9, "GB/s");
  bench_copy_destroy(&copy);
  return status;
}

gab_status bench_bandwidth(bench *b)
{
  size_t edge = (size_t)bench_edge(b), cells = edge * edge * edge / (size_t)bench_processes(b);
  for (int threads = 1;; threads = b->most_threads) {
    bench_set_threads(b, threads);
    GAB_TRY(one_lattice(b, "D3Q19", 19, GAB_PRECISION_DOUBLE, cells));
    GAB_TRY(one_lattice(b, "D3Q19", 19, GAB_PRECISION_FLOAT, cells));
    GAB_TRY(one_lattice(b, "D2Q9", 9, GAB_PRECISION_DOUBLE, 2 * cells));
    GAB_TRY(one_lattice(b, "D2Q9", 9, GAB_PRECISION_FLOAT, 2 * cells));
    GAB_TRY(memory_copy(b));
    if (threads == b->most_threads) return GAB_OK;
  }
}
