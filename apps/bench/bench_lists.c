/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings of a porous medium: 19 arrays rewritten through index lists of the fluid cells of a real flow. */
#include "apps/bench/bench.h"

#include "core/memory/memory.h"

enum { Q = 19, NONE = -1 };

/* Numbers the fluid cells in order; NONE for solid ones. */
static gab_status number_cells(const bench_flow *flow, int32_t *numbers, size_t *fluid)
{
  const gab_block *block = gab_forest_block(flow->forest, 0);
  const int32_t *cells = gab_forest_get_options(flow->forest)->cells;
  gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  size_t all = gab_box_count(&box);
  uint8_t *mask;
  GAB_TRY(GAB_NEW_ARRAY(&mask, all, GAB_MEMORY_OTHER));
  gab_status status = gab_lbm_fluid_mask(flow->lbm, block, &box, mask);
  *fluid = 0;
  for (size_t i = 0; i < all; i++) numbers[i] = mask[i] ? (int32_t)(*fluid)++ : NONE;
  gab_free(&mask);
  return status;
}

/* The number of the cell that lies c before this one. */
static int32_t number_before(const int32_t *numbers, const int32_t size[3], const int32_t at[3],
                             const int8_t c[3])
{
  int32_t from[3];
  for (int axis = 0; axis < 3; axis++) from[axis] = (at[axis] - c[axis] + size[axis]) % size[axis];
  return numbers[((size_t)from[2] * (size_t)size[1] + (size_t)from[1]) * (size_t)size[0] + (size_t)from[0]];
}

static void link_cells(const int32_t *numbers, const int32_t size[3], bench_lists *lists)
{
  const gab_lattice *lattice = &gab_lattice_d3q19;
  size_t n = lists->cells, stride = (size_t)lists->compact.stride;
  for (int32_t z = 0; z < size[2]; z++)
    for (int32_t y = 0; y < size[1]; y++)
      for (int32_t x = 0; x < size[0]; x++) {
        size_t place = ((size_t)z * (size_t)size[1] + (size_t)y) * (size_t)size[0] + (size_t)x;
        if (numbers[place] == NONE) continue;
        size_t me = (size_t)numbers[place];
        lists->fluid[me] = (uint32_t)place;
        for (int q = 0; q < Q; q++) {
          int32_t from = number_before(numbers, size, (int32_t[]){x, y, z}, lattice->c[q]);
          size_t row = (size_t)(from == NONE ? gab_lattice_opposite(q) : q);
          lists->arrives[(size_t)q * n + me] = (uint32_t)(row * stride + (from == NONE ? me : (size_t)from));
        }
      }
}

static gab_status fill_lists(const int32_t *numbers, const int32_t size[3], bench_lists *lists)
{
  GAB_TRY(bench_streams_create(Q, GAB_PRECISION_DOUBLE, lists->cells, BENCH_ONE_GRID, &lists->compact));
  GAB_TRY(bench_streams_create(Q, GAB_PRECISION_DOUBLE, lists->all_cells, BENCH_ONE_GRID, &lists->dense));
  GAB_TRY(GAB_NEW_ARRAY(&lists->fluid, lists->cells, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&lists->arrives, Q * lists->cells, GAB_MEMORY_OTHER));
  link_cells(numbers, size, lists);
  return GAB_OK;
}

gab_status bench_lists_create(const bench_flow *flow, bench_lists *lists)
{
  *lists = (bench_lists){0};
  if (gab_forest_block_count(flow->forest) != 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "index lists are made from one block, not from %zu",
             gab_forest_block_count(flow->forest));
  const int32_t *size = gab_forest_get_options(flow->forest)->cells;
  lists->all_cells = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
  int32_t *numbers;
  GAB_TRY(GAB_NEW_ARRAY(&numbers, lists->all_cells, GAB_MEMORY_OTHER));
  gab_status status = number_cells(flow, numbers, &lists->cells);
  if (status == GAB_OK) status = fill_lists(numbers, size, lists);
  gab_free(&numbers);
  if (status != GAB_OK) bench_lists_destroy(lists);
  return status;
}

void bench_lists_destroy(bench_lists *lists)
{
  gab_free(&lists->fluid);
  gab_free(&lists->arrives);
  bench_streams_destroy(&lists->compact);
  bench_streams_destroy(&lists->dense);
}

/* One direction after the other, in pieces whose lists fit into the cache. Element by element: several times faster
 * than vectors on processors that split scattered stores. */
enum { PIECE = 1024 };

static void compact_part(double *f, const uint32_t *arrives, size_t cells, size_t first, size_t last,
                         double one)
{
  for (size_t piece = first; piece < last; piece += PIECE) {
    size_t end = piece + PIECE < last ? piece + PIECE : last;
    for (size_t q = 0; q < Q; q++)
      for (size_t i = piece; i < end; i++) f[arrives[q * cells + i]] *= one;
  }
}

static void dense_part(double *f, ptrdiff_t stride, const uint32_t *fluid, size_t first, size_t last,
                       double one)
{
  for (size_t piece = first; piece < last; piece += PIECE) {
    size_t end = piece + PIECE < last ? piece + PIECE : last;
    for (ptrdiff_t q = 0; q < Q; q++)
      for (size_t i = piece; i < end; i++) f[q * stride + (ptrdiff_t)fluid[i]] *= one;
  }
}

static void compact_sweep(const bench_lists *lists)
{
  double one = bench_unknown_one();
#pragma omp parallel
  {
    size_t first, last;
    bench_my_share(lists->cells, 64, &first, &last);
    compact_part(lists->compact.to->data, lists->arrives, lists->cells, first, last, one);
  }
}

static void direct_sweep(const bench_lists *lists)
{
  double one = bench_unknown_one();
#pragma omp parallel
  {
    size_t first, last;
    bench_my_share(lists->cells, 64, &first, &last);
    bench_streams_update_part(&lists->compact, (ptrdiff_t)first, (ptrdiff_t)last, one);
  }
}

gab_status bench_lists_compact(void *user)
{
  direct_sweep(user);
  compact_sweep(user);
  return GAB_OK;
}

gab_status bench_lists_dense(void *user)
{
  const bench_lists *lists = user;
  double one = bench_unknown_one();
  for (int i = 0; i < BENCH_SWEEPS; i++)
#pragma omp parallel
  {
    size_t first, last;
    bench_my_share(lists->cells, 64, &first, &last);
    dense_part(lists->dense.to->data, lists->dense.stride, lists->fluid, first, last, one);
  }
  return GAB_OK;
}
