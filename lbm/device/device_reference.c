/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of a step on a device: the same cell, in a plain loop from one array into another. */
#include "lbm/device/device_flow.h"

#include "core/base/hash.h"
#include "lbm/kernels/kernel_cell_impl.h"
#include "lbm/kernels/lattice_list_impl.h"

#define R(number)  ((REAL)(number))
#define PAIRS      GAB_D3Q19_PAIRS
#define AXES       GAB_D3Q19_AXES
#define PLANES     GAB_D3Q19_PLANES
#define REST       GAB_D3Q19_REST
#define DEEP       1
#define MRT        0
#define CELL       "lbm/kernels/source/kernel_cell.inc"
#define CELL_RATES "lbm/kernels/source/kernel_cell_rates.inc"

/* Place of the incoming population of a cell in a direction: sent by the opposite cell, or by the cell itself to a
 * wall. */
typedef struct place {
  size_t all;        /* cells */
  ptrdiff_t size[3]; /* of the box */
  const uint8_t *solid;
} place;

static size_t next_cell(const place *box, const ptrdiff_t x[3], int q, int sign)
{
  const int8_t *c = gab_lattice_d3q19.c[q];
  ptrdiff_t to[3];
  for (int axis = 0; axis < 3; axis++)
    to[axis] = (x[axis] + sign * c[axis] + box->size[axis]) % box->size[axis];
  return (size_t)((to[2] * box->size[1] + to[1]) * box->size[0] + to[0]);
}

static size_t arriving(const place *box, const ptrdiff_t x[3], size_t cell, int q)
{
  const size_t from = next_cell(box, x, q, -1);
  const bool reflected = box->solid && box->solid[from];
  return reflected ? (size_t)gab_lattice_opposite(q) * box->all + cell : (size_t)q * box->all + from;
}

#define NAME   double_free
#define REAL   double
#define STORED double
#define FORCED 0
#include "lbm/device/device_reference_body.inc"
#define NAME   double_forced
#define REAL   double
#define STORED double
#define FORCED 1
#include "lbm/device/device_reference_body.inc"
#define NAME   float_free
#define REAL   float
#define STORED float
#define FORCED 0
#include "lbm/device/device_reference_body.inc"
#define NAME   float_forced
#define REAL   float
#define STORED float
#define FORCED 1
#include "lbm/device/device_reference_body.inc"
#define NAME   mixed_free
#define REAL   double
#define STORED float
#define FORCED 0
#include "lbm/device/device_reference_body.inc"
#define NAME   mixed_forced
#define REAL   double
#define STORED float
#define FORCED 1
#include "lbm/device/device_reference_body.inc"

void gab_device_flow_reference(const gab_device_flow_options *box, const void *from, void *to)
{
  static void (*const loops[GAB_REALS_COUNT][2])(const place *, const gab_collision_rates *, const void *,
                                                 void *) = {[GAB_REALS_DOUBLE] = {double_free, double_forced},
                                                            [GAB_REALS_FLOAT] = {float_free, float_forced},
                                                            [GAB_REALS_MIXED] = {mixed_free, mixed_forced}};
  const double *force = box->rates.force;
  place where = {.all = gab_device_flow_cells(box), .solid = box->solid};
  for (int axis = 0; axis < 3; axis++) where.size[axis] = (ptrdiff_t)box->cells[axis] * box->blocks[axis];
  loops[box->reals][force[0] != 0 || force[1] != 0 || force[2] != 0](&where, &box->rates, from, to);
}

void gab_device_flow_wave(const gab_device_flow_options *box, uint64_t seed, void *sent)
{
  const gab_lattice *lattice = box->lattice ? box->lattice : &gab_lattice_d3q19;
  const size_t all = gab_device_flow_cells(box), width = (size_t)box->cells[0] * (size_t)box->blocks[0];
  const bool is_double = gab_device_flow_real(box) == sizeof(double);
#pragma omp parallel for schedule(static)
  for (size_t cell = 0; cell < all; cell++) {
    const bool is_solid = box->solid && box->solid[cell];
    const double wave = sin(6.283185307179586 * (double)(cell % width) / (double)width);
    const double u[3] = {0.03 * wave, 0.02 * wave, -0.01 * wave};
    for (int q = 0; q < gab_device_flow_directions(box); q++) {
      const size_t at = (size_t)q * all + cell;
      const double noise = gab_hash_uniform(seed, 0, at) - 0.5;
      const double value = is_solid ? 0 : gab_lattice_equilibrium(lattice, q, 0.01 * wave, u) + 1e-3 * noise;
      if (is_double) ((double *)sent)[at] = value;
      else ((float *)sent)[at] = (float)value;
    }
  }
}
