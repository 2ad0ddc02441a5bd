/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots as in Kohl et al. 2017, section 7: blocks of the sizes named there, one or several per process;
 * time of creation, and of the way back where all processes drop their data and restore their partner's. */
#include "apps/papers/kohl2017/paper_phase.h"

#include "core/messages/collective.h"
#include "core/messages/port.h"
#include "core/memory/system_memory.h"
#include "resilience/checkpoint/checkpoint.h"

typedef struct load {
  int32_t cells[3]; /* of a block */
  int32_t blocks;   /* per process */
  bool is_phase;    /* the phase field, 12 values a cell; else D3Q19 */
} load;

static const load loads[] = {
    {{20, 20, 20}, 1, false},   {{20, 20, 20}, 8, false},   {{40, 40, 20}, 1, false},
    {{40, 40, 20}, 4, false},   {{100, 100, 20}, 1, false}, {{100, 100, 20}, 2, false},
    {{100, 100, 40}, 1, false}, {{20, 20, 20}, 1, true},    {{40, 40, 20}, 1, true},
    {{100, 100, 20}, 1, true},  {{100, 100, 40}, 1, true},  {{100, 100, 20}, 6, true}};
enum { LOAD_COUNT = sizeof loads / sizeof loads[0] };

/* What is timed, in seconds. RESTORE has the verification of hashes and the agreement that all are whole
 * (VERIFY) in it. MEMCPY and MPI: one copy of an image, and its exchange with the partner, by these alone. */
enum { PACK, EXCHANGE, COMMIT, CREATE, RESTORE, VERIFY, MEMCPY, MPI, STEP, PART_COUNT };
static const char *const part_names[PART_COUNT] = {"pack",   "exchange", "commit", "create", "restore",
                                                   "verify", "memcpy",   "mpi",    "step"};

typedef struct trial {
  bench *b;
  const load *load;
  bench_flow flow; /* one of them */
  paper_phase phase;
  gab_checkpoint *checkpoint;
  bench_copy copy;
  bench_swap swap;
  uint64_t image; /* bytes, the largest of all processes */
  double times[PART_COUNT][BENCH_MOST_SAMPLES];
} trial;

/* As near to a cube as so many blocks can be. */
static void shape(int32_t blocks, int32_t roots[3])
{
  roots[0] = roots[1] = 1;
  roots[2] = blocks;
  for (int32_t x = 1; x * x * x <= blocks; x++)
    for (int32_t y = x; blocks % x == 0 && x * y * y <= blocks; y++) {
      if (blocks / x % y != 0) continue;
      roots[0] = x;
      roots[1] = y;
      roots[2] = blocks / x / y;
    }
}

static gab_status open_flow(trial *t)
{
  bench_flow_options options = {.lattice = &gab_lattice_d3q19, .kernel = "auto"};
  shape(bench_processes(t->b) * t->load->blocks, options.roots);
  for (int i = 0; i < 3; i++) options.cells[i] = t->load->cells[i];
  return bench_flow_create(t->b, &options, &t->flow);
}

/* One block high, as theirs: all processes have part of the front. */
static gab_status open_phase(trial *t)
{
  gab_forest_options domain = {.grid = {.dimension = 3}, .periodic = {true, true, false}, .dx = 1};
  int32_t roots[3];
  shape(bench_processes(t->b) * t->load->blocks, roots);
  domain.grid.roots[0] = roots[2];
  domain.grid.roots[1] = roots[0] * roots[1];
  domain.grid.roots[2] = 1;
  for (int i = 0; i < 3; i++) domain.cells[i] = t->load->cells[i];
  return paper_phase_create(t->b, &domain, &t->phase);
}

/* Two snapshots first: afterwards both buffers have their memory. */
static gab_status open_trial(trial *t)
{
  GAB_TRY(t->load->is_phase ? open_phase(t) : open_flow(t));
  gab_forest *forest = t->load->is_phase ? t->phase.forest : t->flow.forest;
  GAB_TRY(gab_checkpoint_create(forest, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, &t->checkpoint));
  for (int i = 0; i < 2; i++) GAB_TRY(gab_checkpoint_take(t->checkpoint, i));
  t->image = gab_checkpoint_get_stats(t->checkpoint).image_bytes;
  GAB_TRY(gab_world_max_u64(t->b->world, &t->image, 1));
  GAB_TRY(bench_copy_create((size_t)t->image, &t->copy));
  return bench_swap_create(t->b, (size_t)t->image, GAB_CHUNK_BYTES, &t->swap);
}

static void close_trial(trial *t)
{
  gab_checkpoint_destroy(&t->checkpoint);
  bench_flow_destroy(&t->flow);
  paper_phase_destroy(&t->phase);
  bench_copy_destroy(&t->copy);
  bench_swap_destroy(&t->swap);
}

static gab_status create_once(trial *t, int sample)
{
  bench *b = t->b;
  GAB_TRY(bench_time(b, bench_copy_run, &t->copy, &t->times[MEMCPY][sample]));
  GAB_TRY(bench_time(b, bench_swap_run, &t->swap, &t->times[MPI][sample]));
  gab_checkpoint_stats before = gab_checkpoint_get_stats(t->checkpoint);
  GAB_TRY(gab_world_barrier(b->world));
  GAB_TRY(gab_checkpoint_take(t->checkpoint, before.last_step + 1));
  gab_checkpoint_stats after = gab_checkpoint_get_stats(t->checkpoint);
  double seconds[] = {after.pack_seconds - before.pack_seconds,
                      after.exchange_seconds - before.exchange_seconds,
                      after.commit_seconds - before.commit_seconds, after.last_seconds};
  GAB_TRY(gab_world_max_f64(b->world, seconds, 4));
  for (int part = PACK; part <= CREATE; part++) t->times[part][sample] = seconds[part - PACK];
  return GAB_OK;
}

static gab_status restore_once(trial *t, int sample)
{
  gab_restore_report report;
  GAB_TRY(gab_world_barrier(t->b->world));
  GAB_TRY(gab_checkpoint_restore_swapped(t->checkpoint, &report));
  double seconds[2] = {report.agree_seconds + report.seconds, report.agree_seconds};
  GAB_TRY(gab_world_max_f64(t->b->world, seconds, 2));
  t->times[RESTORE][sample] = seconds[0];
  t->times[VERIFY][sample] = seconds[1];
  return GAB_OK;
}

static gab_status measure_steps(trial *t)
{
  double warm_up;
  GAB_TRY(bench_time(t->b, bench_flow_step, &t->flow, &warm_up));
  for (int i = 0; i < t->b->repetitions; i++) {
    GAB_TRY(bench_time(t->b, bench_flow_step, &t->flow, &t->times[STEP][i]));
    t->times[STEP][i] /= BENCH_SWEEPS;
  }
  return GAB_OK;
}

static gab_status measure(trial *t)
{
  if (!t->load->is_phase) GAB_TRY(measure_steps(t));
  for (int i = 0; i < t->b->repetitions; i++) GAB_TRY(create_once(t, i));
  GAB_TRY(restore_once(t, 0)); /* warm-up: blocks get memory that nobody has touched */
  for (int i = 0; i < t->b->repetitions; i++) GAB_TRY(restore_once(t, i));
  return GAB_OK;
}

static void report(trial *t)
{
  char name[80], what[48];
  snprintf(what, sizeof what, "paper.%s%" PRId32 "x%" PRId32 "x%" PRId32 ".blocks-%" PRId32,
           t->load->is_phase ? "phase-" : "", t->load->cells[0], t->load->cells[1], t->load->cells[2],
           t->load->blocks);
  double megabytes = 1e-6 * (double)t->image;
  snprintf(name, sizeof name, "%s.image", what);
  bench_report_series(t->b, name, &(bench_series){megabytes, megabytes, megabytes, 1}, 1, "MB");
  for (int part = 0; part < (t->load->is_phase ? STEP : PART_COUNT); part++) {
    bench_series series = bench_summarise(t->times[part], t->b->repetitions);
    snprintf(name, sizeof name, "%s.%s", what, part_names[part]);
    bench_report_series(t->b, name, &series, 1e3, "ms");
  }
}

/* Processes of this run are taken to share one machine. The same on all. */
static gab_status fits(bench *b, const load *load, bool *does)
{
  const double cells = (double)load->cells[0] * load->cells[1] * load->cells[2] * load->blocks;
  const gab_system_memory memory = gab_system_memory_look();
  const double needed = paper_phase_bytes(cells) * bench_processes(b);
  uint64_t good = !load->is_phase || !memory.known || needed < 0.8 * (double)memory.available;
  GAB_TRY(gab_world_min_u64(b->world, &good, 1));
  *does = good != 0;
  if (!*does)
    bench_remark(b, "paper: %" PRId32 " blocks per process left out: %.3g GB are needed", load->blocks,
                 1e-9 * needed);
  return GAB_OK;
}

gab_status bench_paper(bench *b)
{
  trial t;
  for (int i = 0; i < LOAD_COUNT; i++) {
    bool does;
    GAB_TRY(fits(b, &loads[i], &does));
    if (!does) continue;
    t = (trial){.b = b, .load = &loads[i]};
    gab_status status = open_trial(&t);
    if (status == GAB_OK) status = measure(&t);
    if (status == GAB_OK) report(&t);
    close_trial(&t);
    GAB_TRY(status);
  }
  return GAB_OK;
}
