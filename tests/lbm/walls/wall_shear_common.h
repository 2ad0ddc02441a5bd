/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tests of the wall shear stress: a flow with that quantity, and a visitor of its cells. */
#ifndef GABION_TESTS_LBM_WALL_SHEAR_COMMON_H
#define GABION_TESTS_LBM_WALL_SHEAR_COMMON_H

#include "blockforest/adaptation/adapt.h"
#include "tests/lbm/lbm_common.h"

#include "core/messages/collective.h"
#include "lbm/observe/quantities.h"

static const gab_units units = {.dx = 0.5, .dt = 0.125, .density = 3};
static const double pi = 3.14159265358979323846;
#define TO_STRESS (3 * (0.5 / 0.125) * (0.5 / 0.125)) /* density * (dx / dt)^2 */

typedef struct view {
  flow it;
  gab_lbm_quantities *quantities;
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity *shear, *pressure;
} view;

/* As flow_open(), with the quantities added before the blocks. @param[in] mark  blocks to refine once, called with
 * user; NULL: none @param[in] deepest  level */
static inline view open_view_on(gab_world *world, const flow_case *given, gab_mark_place_fn mark, void *user,
                                int deepest)
{
  view made = {0};
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    options.grid.roots[axis] = given->cells[axis] / given->block[axis];
    options.cells[axis] = given->block[axis];
    options.periodic[axis] =
        axis < given->dimension && given->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
    made.it.cells[axis] = given->cells[axis];
  }
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = deepest;
  REQUIRE_OK(gab_geometry_create(&domain, given->bodies, given->body_count, &made.it.geometry));
  options.exists = gab_geometry_block_exists;
  options.weight = gab_geometry_block_weight;
  options.user = made.it.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.it.forest));
  REQUIRE_OK(gab_lbm_create(made.it.forest, made.it.geometry, &given->options, &made.it.lbm));
  REQUIRE(gab_lbm_quantity_needs("wall_shear_stress.x") == GAB_LBM_NEEDS_STRESS);
  REQUIRE_OK(gab_lbm_quantities_create(made.it.forest, made.it.lbm, &units,
                                       GAB_LBM_NEEDS_STRESS | GAB_LBM_NEEDS_WALLS, &made.quantities));
  if (!mark) REQUIRE_OK(gab_balance_initial(made.it.forest, NULL, NULL));
  else REQUIRE_OK(gab_forest_build(made.it.forest, mark, user, deepest, gab_balance_distribute, NULL, NULL));
  return made;
}

static inline view open_view(gab_world *world, const flow_case *given, gab_mark_place_fn mark, void *user)
{
  return open_view_on(world, given, mark, user, mark ? 1 : 0);
}

static inline void close_view(view *gone)
{
  gab_lbm_quantities_destroy(&gone->quantities);
  flow_close(&gone->it);
}

/* A local cell, in lattice units. */
typedef struct sight {
  int64_t cell[3]; /* of its level */
  int level;
  double centre[3], shear[3], pressure; /* NaN: none */
  double stress[6];                     /* in the cell: xx, xy, yy, or xx, xy, xz, yy, yz, zz */
} sight;
typedef void (*shear_visitor)(void *user, const sight *at);

static inline void visit(view *of, shear_visitor see, void *user)
{
  const int32_t *cells = gab_forest_get_options(of->it.forest)->cells;
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  const gab_quantity_list list = gab_lbm_quantities_list(
      of->quantities, gab_forest_get_options(of->it.forest)->grid.dimension, of->items);
  double *shear = malloc(3 * count * sizeof *shear), *pressure = malloc(count * sizeof *pressure);
  REQUIRE(shear && pressure);
  REQUIRE_OK(gab_quantity_find(list, "wall_shear_stress", &of->shear));
  REQUIRE_OK(gab_quantity_find(list, "pressure", &of->pressure));
  REQUIRE_OK(gab_lbm_quantities_update(of->quantities));
  gab_data_id kept[GAB_LBM_MOST_NEEDS];
  REQUIRE(gab_lbm_quantities_data(of->quantities, kept) == 2);
  for (size_t b = 0; b < gab_forest_block_count(of->it.forest); b++) {
    const gab_block *block = gab_forest_block(of->it.forest, b);
    const gab_box place = gab_block_cells(of->it.forest, block);
    const gab_field *stress = gab_block_data(block, kept[0]);
    REQUIRE_OK(of->shear->evaluate(of->shear->user, of->it.forest, block, shear));
    REQUIRE_OK(of->pressure->evaluate(of->pressure->user, of->it.forest, block, pressure));
    for (size_t i = 0; i < count; i++) {
      const int32_t in[3] = {(int32_t)(i % (size_t)cells[0]),
                             (int32_t)(i / (size_t)cells[0] % (size_t)cells[1]),
                             (int32_t)(i / (size_t)cells[0] / (size_t)cells[1])};
      sight at = {.level = gab_block_level(of->it.forest, block), .pressure = pressure[i] / TO_STRESS};
      gab_block_cell_centre(of->it.forest, block, in[0], in[1], in[2], at.centre);
      for (int k = 0; k < 3; k++) {
        at.cell[k] = place.lo[k] + in[k];
        at.shear[k] = shear[3 * i + (size_t)k] / TO_STRESS;
      }
      for (int k = 0; k < stress->shape.components; k++)
        at.stress[k] = gab_field_get(stress, in[0], in[1], in[2], k);
      see(user, &at);
    }
  }
  free(shear);
  free(pressure);
}

/* The sum over all processes. */
static inline double sum_of(gab_world *world, double share)
{
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  gab_exact_add(&sum, share);
  REQUIRE_OK(gab_world_sum_exact(world, &sum, 1));
  return gab_exact_value(&sum);
}

#endif
