/* SPDX-License-Identifier: Apache-2.0 */
/* A small forest with known values in every cell, for tests of output. */
#ifndef GABION_TESTS_OUTPUT_COMMON_H
#define GABION_TESTS_OUTPUT_COMMON_H

#include "blockforest/adaptation/adapt.h"
#include "blockforest/output/output.h"
#include "tests/mpi_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(claim)   REQUIRE(claim)
#define EXPECT_OK(call) REQUIRE_OK(call)

/* Values by global cell; cells in a ball (disc) have no value. */
static inline bool case_is_solid(const int64_t at[3])
{
  double x = (double)at[0] - 7.0, y = (double)at[1] - 5.0, z = (double)at[2] - 3.0;
  return x * x + y * y + (z > 0 ? z : 0) < 6.5;
}

static inline double case_density(const int64_t at[3])
{
  return case_is_solid(at) ? NAN : 1.0 + 0.25 * (double)at[0] + 0.5 * (double)at[1] + 0.125 * (double)at[2];
}

static inline double case_velocity(const int64_t at[3], int component)
{
  if (case_is_solid(at)) return NAN;
  const double factor[3] = {0.5, -0.25, 1.0};
  return factor[component] * (double)(at[component] + 1) - 2.0;
}

static inline gab_status case_evaluate(void *user, const gab_forest *forest, const gab_block *block,
                                       double *values)
{
  const gab_quantity *quantity = user;
  gab_box box = gab_block_cells(forest, block);
  int64_t at[3];
  for (at[2] = box.lo[2]; at[2] < box.hi[2]; at[2]++) {
    for (at[1] = box.lo[1]; at[1] < box.hi[1]; at[1]++) {
      for (at[0] = box.lo[0]; at[0] < box.hi[0]; at[0]++) {
        for (int c = 0; c < quantity->components; c++) {
          *values++ = quantity->components == 1 ? case_density(at) : case_velocity(at, c);
        }
      }
    }
  }
  return GAB_OK;
}

static gab_quantity case_quantities[2] = {
    {.name = "density",
     .unit = "kg/m\xc2\xb3",
     .components = 1,
     .evaluate = case_evaluate,
     .user = &case_quantities[0]},
    {.name = "velocity",
     .unit = "m/s",
     .components = 3,
     .diverging = true,
     .evaluate = case_evaluate,
     .user = &case_quantities[1]},
};

/* The first owner of each root block: equal parts of the linear order. */
static inline gab_rank case_owner(const gab_forest *forest, gab_block_id id)
{
  const gab_root_grid *grid = &gab_forest_get_options(forest)->grid;
  gab_block_place place = gab_block_id_place(grid, id);
  int64_t count = (int64_t)grid->roots[0] * grid->roots[1] * grid->roots[2];
  int64_t linear = ((int64_t)place.at[2] * grid->roots[1] + place.at[1]) * grid->roots[0] + place.at[0];
  const gab_members *members = gab_world_members(gab_forest_world(forest));
  return gab_members_rank(members, (int32_t)(linear * gab_members_count(members) / count));
}

static inline gab_status case_stay(void *context, gab_proxies *proxies)
{
  (void)context, (void)proxies;
  return GAB_OK;
}

/* A forest with its root blocks: equal parts of the linear order. */
static inline gab_forest *case_forest(gab_world *world, const gab_forest_options *options)
{
  gab_forest *forest = NULL;
  EXPECT_OK(gab_forest_create(world, options, &forest));
  EXPECT_OK(gab_forest_build(forest, NULL, NULL, 0, case_stay, NULL, NULL));
  return forest;
}

/* The block at the far corner does not exist. */
static inline bool case_exists(void *user, int level, const gab_box *cells)
{
  (void)user;
  (void)level;
  return !(cells->lo[0] >= 18 && cells->lo[1] >= 5 && cells->lo[2] >= 4);
}

static const gab_forest_options case_options = {.grid = {.dimension = 3, .roots = {4, 2, 2}},
                                                .cells = {6, 5, 4},
                                                .origin = {-1.0, 0.5, 2.0},
                                                .dx = 0.125,
                                                .exists = case_exists};

#endif
