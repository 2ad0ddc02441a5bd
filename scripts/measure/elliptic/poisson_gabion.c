/* SPDX-License-Identifier: Apache-2.0 */
/* Poisson's equation on N^3 cells in blocks of B^3, zero at all sides, with a rough right-hand side: poisson_gabion N B. The same
 * equation as poisson_hypre.c. */
#include "blockforest/adaptation/adapt.h"
#include "blockforest/elliptic/elliptic.h"
#include "blockforest/exchange/block_field.h"
#include "core/base/log.h"
#include "loadbalance/balance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void fill(gab_forest *forest, gab_data_id data, double h)
{
  const double pi = acos(-1);
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    const gab_box cells = gab_block_cells(forest, block);
    gab_field *field = gab_block_data(block, data);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < field->shape.cells[1]; y++)
        for (int32_t x = 0; x < field->shape.cells[0]; x++) {
          const int64_t at[3] = {cells.lo[0] + x, cells.lo[1] + y, cells.lo[2] + z};
          double smooth = 3 * pi * pi;
          for (int axis = 0; axis < 3; axis++) smooth *= sin(pi * ((double)at[axis] + 0.5) * h);
          gab_field_set(field, x, y, z, 0, smooth + (double)((at[0] * 7 + at[1] * 13 + at[2] * 29) % 17 - 8));
        }
  }
}

static gab_status solve(gab_world *world, int32_t n, int32_t b)
{
  gab_forest *forest;
  gab_data_id data;
  gab_elliptic *elliptic;
  gab_elliptic_result result;
  const gab_forest_options grid = {.grid = {3, {n / b, n / b, n / b}}, .cells = {b, b, b}, .dx = 1.0 / n};
  const gab_block_field field = {.shape = {.cells = {b, b, b}, .ghosts = {1, 1, 1}, .components = 2}};
  const gab_block_data_kind kind = gab_block_field_data(&field, "equation");
  const gab_elliptic_options options = {.operation = {.beta = 1}};
  GAB_TRY(gab_forest_create(world, &grid, &forest));
  GAB_TRY(gab_forest_add_data(forest, &kind, &data));
  GAB_TRY(gab_elliptic_create(forest, &options, &elliptic));
  GAB_TRY(gab_balance_initial(forest, NULL, NULL));
  fill(forest, data, 1.0 / n);
  const double start = gab_seconds();
  GAB_TRY(
      gab_elliptic_solve(elliptic, (gab_block_component){data, 0}, (gab_block_component){data, 1}, &result));
  if (gab_world_is_root(world))
    printf("gabion  %4d^3  %3d cycles  factor %.4f  %8.3f s\n", (int)n, result.iterations, result.factor,
           gab_seconds() - start);
  gab_elliptic_destroy(&elliptic);
  gab_forest_destroy(&forest);
  return GAB_OK;
}

int main(int argc, char **argv)
{
  gab_world *world;
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  const gab_status status = solve(world, argc > 1 ? atoi(argv[1]) : 64, argc > 2 ? atoi(argv[2]) : 16);
  if (status != GAB_OK) fprintf(stderr, "%s\n", gab_error_message());
  gab_world_destroy(&world);
  return status != GAB_OK;
}
