/* SPDX-License-Identifier: Apache-2.0 */
/* A flow on a small forest, for the tests of lbm. */
#ifndef GABION_TESTS_LBM_COMMON_H
#define GABION_TESTS_LBM_COMMON_H

#include "core/base/hash.h"
#include "lbm/lbm.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct flow_case {
  int dimension;
  int32_t cells[3], block[3]; /* of the domain, of a block; z is 1 in 2D */
  const gab_body *bodies;
  size_t body_count;
  gab_lbm_options options;
} flow_case;

typedef struct flow {
  gab_forest *forest;
  gab_geometry *geometry;
  gab_lbm *lbm;
  int32_t cells[3];
} flow;

static inline flow flow_open(gab_world *world, const flow_case *given)
{
  flow made = {0};
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    REQUIRE(given->cells[axis] % given->block[axis] == 0);
    options.grid.roots[axis] = given->cells[axis] / given->block[axis];
    options.cells[axis] = given->block[axis];
    options.periodic[axis] =
        axis < given->dimension && given->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
    made.cells[axis] = given->cells[axis];
  }
  gab_domain domain = gab_lbm_domain(&options);
  REQUIRE_OK(gab_geometry_create(&domain, given->bodies, given->body_count, &made.geometry));
  options.exists = gab_geometry_block_exists;
  options.weight = gab_geometry_block_weight;
  options.user = made.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, made.geometry, &given->options, &made.lbm));
  REQUIRE_OK(gab_balance_initial(made.forest, NULL, NULL));
  return made;
}

static inline void flow_close(flow *gone)
{
  gab_lbm_destroy(&gone->lbm);
  gab_forest_destroy(&gone->forest);
  gab_geometry_destroy(&gone->geometry);
}

static inline void flow_run(flow *it, int steps)
{
  for (int i = 0; i < steps; i++) REQUIRE_OK(gab_lbm_step(it->lbm));
}

/* State of a flow: its blocks, the steps done and the mass balance of its walls. */
typedef struct flow_image {
  gab_buffer blocks, rest;
} flow_image;

static inline void flow_pack(flow *it, flow_image *image)
{
  *image = (flow_image){0};
  REQUIRE_OK(gab_forest_pack(it->forest, &image->blocks));
  REQUIRE_OK(gab_lbm_pack_state(it->lbm, &image->rest));
}
static inline void flow_restore(flow *it, const flow_image *image)
{
  gab_reader blocks = gab_reader_of_buffer(&image->blocks), rest = gab_reader_of_buffer(&image->rest);
  REQUIRE_OK(gab_forest_restore(it->forest, &blocks, 1, NULL, NULL));
  REQUIRE_OK(gab_lbm_unpack_state(it->lbm, &rest));
}
static inline void flow_image_release(flow_image *image)
{
  gab_buffer_release(&image->blocks);
  gab_buffer_release(&image->rest);
}

/* Called with density and velocity of each local cell, and the cell of the domain. */
typedef void (*cell_visitor)(void *user, const int64_t cell[3], bool fluid, double density,
                             const double u[3]);
static inline void flow_visit(const flow *it, cell_visitor visit, void *user)
{
  const int32_t *cells = gab_forest_get_options(it->forest)->cells;
  gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  double *density = malloc(count * sizeof *density), *velocity = malloc(3 * count * sizeof *velocity);
  uint8_t *fluid = malloc(count);
  REQUIRE(density && velocity && fluid);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    gab_box place = gab_block_cells(it->forest, block);
    REQUIRE_OK(gab_lbm_macroscopic(it->lbm, block, &box, density, velocity));
    REQUIRE_OK(gab_lbm_fluid_mask(it->lbm, block, &box, fluid));
    for (size_t i = 0; i < count; i++) {
      size_t x = i % (size_t)cells[0], y = i / (size_t)cells[0] % (size_t)cells[1],
             z = i / (size_t)cells[0] / (size_t)cells[1];
      int64_t cell[3] = {place.lo[0] + (int64_t)x, place.lo[1] + (int64_t)y, place.lo[2] + (int64_t)z};
      visit(user, cell, fluid[i], density[i], velocity + 3 * i);
    }
  }
  free(density);
  free(velocity);
  free(fluid);
}

static inline void flow_hash_cell(void *user, const int64_t cell[3], bool fluid, double density,
                                  const double u[3])
{
  uint64_t *sum = user;
  double numbers[7] = {(double)cell[0], (double)cell[1], (double)cell[2], density, u[0], u[1], u[2]};
  if (fluid) *sum += gab_hash64(numbers, sizeof numbers, 1);
}
/* Sum over all local fluid cells of a hash of position and values: does not depend on blocks and owners. */
static inline uint64_t flow_hash(const flow *it)
{
  uint64_t sum = 0;
  flow_visit(it, flow_hash_cell, &sum);
  return sum;
}

/* A number in [-1, 1) for a cell. */
static inline double noise(uint64_t stream, const int64_t cell[3])
{
  uint64_t bits = gab_hash_counter(stream, (uint64_t)cell[0], (uint64_t)(cell[1] * 100003 + cell[2]));
  return (double)(bits >> 11) * 0x1p-52 - 1;
}
static inline void noisy_state(void *user, const double centre[3], gab_lbm_state *state)
{
  (void)user;
  int64_t cell[3] = {(int64_t)floor(centre[0]), (int64_t)floor(centre[1]), (int64_t)floor(centre[2])};
  state->density += 0.01 * noise(1, cell);
  for (int axis = 0; axis < 3; axis++) state->velocity[axis] += 0.02 * noise(2 + (uint64_t)axis, cell);
}
static inline void noisy_plane(void *user, const double centre[3], gab_lbm_state *state)
{
  noisy_state(user, centre, state);
  state->velocity[2] = 0;
}

#endif
