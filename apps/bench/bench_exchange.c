/* SPDX-License-Identifier: Apache-2.0 */
/* Ghost exchange of the populations, by size of block. */
#include "apps/bench/bench.h"

#include "blockforest/forest/direction.h"
#include "core/messages/collective.h"
#include "core/messages/port.h"

/* Volume of an exchange, from the tables of neighbours: bytes to other ranks and between own blocks. */
typedef struct volume {
  uint64_t remote, local;
} volume;

static uint64_t populations_across(const gab_lattice *lattice, int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  uint64_t count = 0;
  for (int q = 1; q < lattice->q; q++) {
    bool crosses = true;
    for (int axis = 0; axis < 3; axis++)
      crosses = crosses && (offset[axis] == 0 || lattice->c[q][axis] == offset[axis]);
    count += crosses;
  }
  return count;
}

static volume volume_of(const bench *b, const bench_flow *flow)
{
  const gab_lbm_options *options = gab_lbm_get_options(flow->lbm);
  const int32_t *cells = gab_forest_get_options(flow->forest)->cells;
  volume sum = {0, 0};
  for (size_t i = 0; i < gab_forest_block_count(flow->forest); i++) {
    const gab_block *block = gab_forest_block(flow->forest, i);
    const gab_neighbour *rows = gab_block_neighbours(block);
    for (size_t r = 0; r < gab_block_neighbour_count(block); r++) {
      gab_box box = gab_direction_send_box(rows[r].direction, cells, 1);
      uint64_t bytes = gab_box_count(&box) * gab_precision_bytes(options->precision) *
                       populations_across(options->lattice, rows[r].direction);
      if (rows[r].owner == gab_world_rank(b->world)) sum.local += bytes;
      else sum.remote += bytes;
    }
  }
  return sum;
}

enum { REPEATS = 5 };

static gab_status exchange_ghosts(void *user)
{
  bench_flow *flow = user;
  for (int i = 0; i < REPEATS; i++) {
    GAB_TRY(gab_lbm_exchange_start(flow->lbm));
    GAB_TRY(gab_lbm_exchange_finish(flow->lbm));
  }
  return GAB_OK;
}

/* Time of an exchange: packing, sending, unpacking. Messages between own blocks wait for the sweep. */
static gab_status time_exchange(bench *b, bench_flow *flow, int32_t block)
{
  bench_series rate;
  GAB_TRY(bench_measure(b, exchange_ghosts, flow, REPEATS, &rate));
  char name[64];
  snprintf(name, sizeof name, "exchange.time.blocks-of-%" PRId32, block);
  bench_report(b, &(bench_result){.name = name,
                                  .value = 1e3 / rate.median,
                                  .min = 1e3 / rate.max,
                                  .max = 1e3 / rate.min,
                                  .samples = rate.count,
                                  .unit = "ms"});
  return GAB_OK;
}

/* Seconds in which all threads copy ghosts between own blocks in one step, if it were shared out evenly. */
static gab_status time_fetching(bench *b, bench_flow *flow, double *seconds)
{
  GAB_TRY(gab_lbm_time_parts(flow->lbm, true));
  GAB_TRY(gab_lbm_step(flow->lbm));
  *seconds = gab_lbm_get_times(flow->lbm).ghosts / b->threads;
  GAB_TRY(gab_lbm_time_parts(flow->lbm, false));
  return gab_world_max_f64(b->world, seconds, 1);
}

/* Ghosts between own blocks, fetched within a step, against memcpy. */
static gab_status against_memcpy(bench *b, bench_flow *flow, int32_t block, double fetched)
{
  bench_copy copy;
  double rates[BENCH_MOST_SAMPLES], ceilings[BENCH_MOST_SAMPLES], shares[BENCH_MOST_SAMPLES];
  GAB_TRY(bench_copy_create((size_t)128 << 20, &copy));
  gab_status status = GAB_OK;
  for (int i = -1; status == GAB_OK && i < b->repetitions; i++) {
    double seconds = 1, fetching = 1;
    status = bench_time(b, bench_copy_run, &copy, &seconds);
    if (status == GAB_OK) status = time_fetching(b, flow, &fetching);
    if (i < 0) continue;
    rates[i] = fetched / fetching;
    ceilings[i] = (double)copy.bytes * bench_processes(b) / seconds;
    shares[i] = rates[i] / ceilings[i];
  }
  bench_copy_destroy(&copy);
  GAB_TRY(status);
  bench_pair_result result = {.rate = bench_summarise(rates, b->repetitions),
                              .ceiling = bench_summarise(ceilings, b->repetitions),
                              .share = bench_summarise(shares, b->repetitions).median};
  char name[64];
  snprintf(name, sizeof name, "exchange.fetched.blocks-of-%" PRId32, block);
  bench_report_pair(b, name, &result, 1e-9, "GB/s");
  return GAB_OK;
}

/* Messages to other ranks, compared with MPI alone for the same bytes. */
static gab_status against_mpi(bench *b, bench_flow *flow, int32_t block, size_t mine, double remote)
{
  bench_swap swap;
  GAB_TRY(bench_swap_create(b, mine, GAB_CHUNK_BYTES, &swap));
  swap.repeats = REPEATS;
  bench_pair pair = {.work = exchange_ghosts,
                     .work_user = flow,
                     .work_amount = remote * REPEATS,
                     .ceiling = bench_swap_run,
                     .ceiling_user = &swap,
                     .ceiling_amount = (double)mine * REPEATS * bench_processes(b)};
  bench_pair_result result;
  gab_status status = bench_measure_pair(b, &pair, &result);
  bench_swap_destroy(&swap);
  GAB_TRY(status);
  char name[64];
  snprintf(name, sizeof name, "exchange.sent.blocks-of-%" PRId32, block);
  bench_report_pair(b, name, &result, 1e-9, "GB/s");
  return GAB_OK;
}

static gab_status measure_flow(bench *b, bench_flow *flow, int32_t block)
{
  volume mine = volume_of(b, flow);
  uint64_t sums[3] = {mine.remote, mine.local, mine.remote};
  GAB_TRY(gab_world_sum_u64(b->world, sums, 2));
  GAB_TRY(gab_world_max_u64(b->world, &sums[2], 1));
  GAB_TRY(time_exchange(b, flow, block));
  if (sums[1] > 0) GAB_TRY(against_memcpy(b, flow, block, (double)sums[1]));
  return sums[2] > 0 ? against_mpi(b, flow, block, (size_t)sums[2], (double)sums[0]) : GAB_OK;
}

gab_status bench_exchange(bench *b)
{
  int32_t edge = bench_edge(b);
  for (int32_t block = edge / 2; block >= 16; block /= 2) {
    int32_t along = edge / block;
    if (edge % block != 0 || along * along * along < bench_processes(b)) continue;
    bench_flow_options options = bench_flow_usual(b, block);
    bench_flow flow;
    GAB_TRY(bench_flow_create(b, &options, &flow));
    gab_status status = measure_flow(b, &flow, block);
    bench_flow_destroy(&flow);
    GAB_TRY(status);
  }
  return GAB_OK;
}
