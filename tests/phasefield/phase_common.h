/* SPDX-License-Identifier: Apache-2.0 */
/* A phase field on a small forest, for the tests. */
#ifndef GABION_TESTS_PHASEFIELD_COMMON_H
#define GABION_TESTS_PHASEFIELD_COMMON_H

#include "core/base/hash.h"
#include "loadbalance/balance.h"
#include "phasefield/phasefield.h"
#include "systems.h"
#include "tests/mpi_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct phase_case {
  int dimension;
  int32_t cells[3], block[3]; /* of the domain, of a block; z is 1 in 2D */
  double dx;
  gab_phasefield_options options;
} phase_case;

typedef struct phase_run {
  gab_forest *forest;
  gab_phasefield *model;
  int32_t cells[3];
  double dx;
} phase_run;

/* Surface energies and kinetic coefficients, the same for all pairs. */
static inline void equal_interfaces(gab_phasefield_options *options, double gamma, double tau)
{
  for (int a = 0; a < GAB_MOST_PHASES; a++)
    for (int b = 0; b < GAB_MOST_PHASES; b++) {
      options->gamma[a][b] = gamma;
      options->tau[a][b] = tau;
    }
}

static inline void all_sides(gab_phasefield_options *options, gab_phasefield_side_kind kind)
{
  for (int side = 0; side < 6; side++) options->sides[side].kind = kind;
}

static inline phase_run phase_open(gab_world *world, const phase_case *given)
{
  phase_run made = {.dx = given->dx};
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = given->dx};
  for (int axis = 0; axis < 3; axis++) {
    REQUIRE(given->cells[axis] % given->block[axis] == 0);
    options.grid.roots[axis] = given->cells[axis] / given->block[axis];
    options.cells[axis] = given->block[axis];
    options.periodic[axis] =
        axis < given->dimension && given->options.sides[2 * axis].kind == GAB_PHASEFIELD_PERIODIC;
    made.cells[axis] = given->cells[axis];
  }
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_phasefield_create(made.forest, &given->options, &made.model));
  REQUIRE_OK(gab_balance_initial(made.forest, NULL, NULL));
  return made;
}

static inline void phase_close(phase_run *gone)
{
  gab_phasefield_destroy(&gone->model);
  gab_forest_destroy(&gone->forest);
}

static inline void phase_steps(phase_run *it, int64_t steps)
{
  for (int64_t i = 0; i < steps; i++) REQUIRE_OK(gab_phasefield_step(it->model));
}

static inline gab_phasefield_integrals phase_sums(phase_run *it)
{
  gab_phasefield_integrals sums;
  REQUIRE_OK(gab_phasefield_integrate(it->model, &sums));
  return sums;
}

/* One value of a cell of the domain, which has to be on this process. */
static inline double phase_value(const phase_run *it, char what, int64_t x, int64_t y, int64_t z,
                                 int component)
{
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    const gab_box place = gab_block_cells(it->forest, block);
    if (x < place.lo[0] || x >= place.hi[0] || y < place.lo[1] || y >= place.hi[1] || z < place.lo[2] ||
        z >= place.hi[2])
      continue;
    const gab_phasefield_view view = gab_phasefield_look(it->model, block);
    const gab_field *field = what == 'p' ? view.phi : what == 'c' ? view.c : view.mu;
    return gab_field_get(field, (int32_t)(x - place.lo[0]), (int32_t)(y - place.lo[1]),
                         (int32_t)(z - place.lo[2]), component);
  }
  REQUIRE(!"the cell is here");
  return 0;
}

/* The sum over all local cells of a hash of place and values of phi, c and mu. */
static inline uint64_t phase_hash(const phase_run *it)
{
  uint64_t sum = 0;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_box place = gab_block_cells(it->forest, block);
    const gab_phasefield_view view = gab_phasefield_look(it->model, block);
    const gab_field *fields[] = {view.phi, view.c, view.mu};
    const int32_t *cells = view.phi->shape.cells;
    for (int32_t z = 0; z < cells[2]; z++)
      for (int32_t y = 0; y < cells[1]; y++)
        for (int32_t x = 0; x < cells[0]; x++) {
          double numbers[3 + GAB_MOST_PHASES + 2 * GAB_MOST_INDEPENDENTS] = {
              (double)(place.lo[0] + x), (double)(place.lo[1] + y), (double)(place.lo[2] + z)};
          size_t count = 3;
          for (int f = 0; f < 3; f++)
            for (int k = 0; k < fields[f]->shape.components; k++)
              numbers[count++] = gab_field_get(fields[f], x, y, z, k);
          sum += gab_hash64(numbers, count * sizeof *numbers, 1);
        }
  }
  return sum;
}

/* A number in [0, 1) for a cell. */
static inline double noise(uint64_t stream, const int64_t cell[3])
{
  uint64_t bits = gab_hash_counter(stream, (uint64_t)cell[0], (uint64_t)(cell[1] * 100003 + cell[2]));
  return (double)(bits >> 11) * 0x1p-53;
}

/* Two phases, a solid and its melt; chi = 1, and psi_melt - psi_solid = drive at mu = 0, where their
 * compositions differ by gap. Phases beyond the second are further solids like the first, without drive. */
static inline gab_thermo simple_system(int phases, double gap, double drive)
{
  static const char *const names[] = {"solid", "other", "third", "fourth", "fifth", "sixth", "seventh"};
  gab_thermo made = {.phases = phases, .independents = 1};
  for (int a = 0; a < phases; a++) {
    gab_phase_energy *phase = &made.phase[a];
    const bool melt = a == phases - 1;
    name_phase(phase, melt ? "melt" : names[a]);
    phase->curvature[0][0] = 0.5;
    phase->linear[0] = fixed(melt ? 0 : gap); /* c = mu - xi: the melt has more */
    phase->constant = fixed(melt ? drive : 0.5 * gap * gap);
  }
  made.phase[phases - 1].diffusivity = 1;
  return made;
}

#endif
