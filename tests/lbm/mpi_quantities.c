/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=60 */
/* Quantities of a flow with a linear velocity, u = G x, have the values of G, in physical units. Next to a solid body
 * gradients are still G (one-sided), and solid cells have no value. For a quadratic velocity central differences are
 * exact and one-sided ones are not: at borders between blocks and processes they are central. Gradients that were not
 * requested, or are older than the grid, are refused. */
#include "lbm_common.h"

#include "core/messages/collective.h"
#include "lbm/observe/quantities.h"

static const double G[3][3] = {{0.001, 0.004, -0.002}, {-0.003, 0.002, 0.0015}, {0.0005, 0.001, -0.003}};
static const gab_units units = {.dx = 0.5, .dt = 0.125, .density = 3};

typedef struct setting {
  int dimension;
  double middle[3];
  double curvature; /* of each component along the next axis; 0: linear */
} setting;

static void velocity_at(const setting *at, const double x[3], double u[3], double gradient[3][3])
{
  for (int i = 0; i < at->dimension; i++) {
    const int across = (i + 1) % at->dimension;
    const double away = x[across] - at->middle[across];
    u[i] += at->curvature * away * away;
    for (int j = 0; j < at->dimension; j++) {
      u[i] += G[i][j] * (x[j] - at->middle[j]);
      gradient[i][j] = G[i][j] + (j == across ? 2 * at->curvature * away : 0);
    }
  }
}

static void initial(void *user, const double centre[3], gab_lbm_state *state)
{
  velocity_at(user, centre, state->velocity, state->gradient);
  state->density = 1.02;
}

/* Value of each quantity in a fluid cell. */
static void expect(const char *name, const setting *at, const double u[3], double gradient[3][3],
                   double values[3])
{
  const double per_second = 1 / units.dt, to_speed = units.dx / units.dt;
  double g[3][3] = {{0}}, trace = 0, square = 0;
  for (int i = 0; i < at->dimension; i++)
    for (int j = 0; j < at->dimension; j++) g[i][j] = gradient[i][j] * per_second;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      trace += g[i][j] * g[j][i];
      square += (g[i][j] + g[j][i]) * (g[i][j] + g[j][i]) / 2;
    }
  if (strcmp(name, "density") == 0) values[0] = 1.02 * units.density;
  if (strcmp(name, "pressure") == 0) values[0] = 0.02 / 3 * units.density * to_speed * to_speed;
  for (int k = 0; k < 3 && strcmp(name, "velocity") == 0; k++) values[k] = u[k] * to_speed;
  if (strcmp(name, "speed") == 0) values[0] = to_speed * sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  if (strcmp(name, "q_criterion") == 0) values[0] = -trace / 2;
  if (strcmp(name, "shear_rate") == 0) values[0] = sqrt(square);
  if (strcmp(name, "viscosity") == 0) values[0] = units.dx * units.dx / units.dt / 18; /* omega 1.5 */
  if (strcmp(name, "level") == 0) values[0] = 0;
  if (strcmp(name, "vorticity") != 0) return;
  const double curl[3] = {g[2][1] - g[1][2], g[0][2] - g[2][0], g[1][0] - g[0][1]};
  if (at->dimension == 2) values[0] = curl[2];
  else memcpy(values, curl, sizeof curl);
}

static void judge_block(const flow *it, const setting *at, const gab_quantity *quantity,
                        const gab_block *block, const double *values, uint64_t seen[2])
{
  const gab_box place = gab_block_cells(it->forest, block);
  for (int64_t z = place.lo[2]; z < place.hi[2]; z++)
    for (int64_t y = place.lo[1]; y < place.hi[1]; y++)
      for (int64_t x = place.lo[0]; x < place.hi[0]; x++, values += quantity->components) {
        const double cell[3] = {(double)x + 0.5, (double)y + 0.5, (double)z + 0.5};
        double u[3] = {0}, gradient[3][3] = {{0}}, right[3] = {0}, away = 0;
        bool inside = true; /* the field is not periodic */
        velocity_at(at, cell, u, gradient);
        for (int i = 0; i < at->dimension; i++) {
          away += (cell[i] - 8) * (cell[i] - 8);
          inside = inside && cell[i] > 1 && cell[i] < it->cells[i] - 1;
        }
        if (strcmp(quantity->name, "owner") == 0) continue;
        if (strcmp(quantity->name, "wall_shear_stress") == 0) continue; /* mpi_wall_shear.c */
        const bool solid = away < 9 && strcmp(quantity->name, "level") != 0;
        if (solid) REQUIRE(isnan(values[0]));
        if (at->curvature != 0) inside = inside && away > 25;
        seen[solid] += solid || inside;
        if (solid || !inside) continue;
        expect(quantity->name, at, u, gradient, right);
        for (int k = 0; k < quantity->components; k++)
          REQUIRE_NEAR(values[k], right[k], 1e-12 + 1e-12 * fabs(right[k]));
      }
}

/* The other quantities would be evaluated from old ghosts: they must be refused. */
static void pointwise_ones_need_no_update(const gab_forest *forest, gab_quantity_list list, double *values)
{
  for (size_t q = 0; q < list.count; q++) {
    const gab_quantity *one = &list.items[q];
    REQUIRE(one->pointwise == !gab_lbm_quantity_needs(one->name));
    for (size_t b = 0; b < gab_forest_block_count(forest); b++)
      REQUIRE(one->evaluate(one->user, forest, gab_forest_block(forest, b), values) ==
              (one->pointwise ? GAB_OK : GAB_ERR_STATE));
  }
}

static void judge(gab_world *world, int dimension, const int32_t block[3], double curvature)
{
  static const gab_body ball = {.shape = GAB_SHAPE_SPHERE, .centre = {8, 8, 8}, .radius = 3};
  setting at = {.dimension = dimension, .middle = {12, 8, dimension == 2 ? 0.5 : 8}, .curvature = curvature};
  flow_case given = {.dimension = dimension,
                     .cells = {24, 16, dimension == 2 ? 1 : 16},
                     .bodies = &ball,
                     .body_count = 1,
                     .options = {.omega = 1.5, .initial = initial, .initial_user = &at}};
  memcpy(given.block, block, sizeof given.block);
  flow it = {0};
  gab_forest_options options = {.grid.dimension = dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    options.grid.roots[axis] = given.cells[axis] / block[axis];
    options.cells[axis] = block[axis];
    options.periodic[axis] = axis < dimension;
    it.cells[axis] = given.cells[axis];
  }
  const gab_domain domain = gab_lbm_domain(&options);
  gab_lbm_quantities *view;
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  REQUIRE_OK(gab_geometry_create(&domain, &ball, 1, &it.geometry));
  options.exists = gab_geometry_block_exists;
  options.weight = gab_geometry_block_weight;
  options.user = it.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &given.options, &it.lbm));
  REQUIRE_OK(gab_lbm_quantities_create(it.forest, it.lbm, &units,
                                       GAB_LBM_NEEDS_GRADIENT | GAB_LBM_NEEDS_STRESS, &view));
  REQUIRE_OK(gab_balance_initial(it.forest, NULL, NULL));
  const gab_quantity_list list = gab_lbm_quantities_list(view, dimension, items);
  const gab_quantity *curl;
  REQUIRE_OK(gab_quantity_find(list, "vorticity", &curl));
  double *values = malloc(gab_quantity_block_values(it.forest, curl) * 3 * sizeof *values);
  uint64_t seen[2] = {0, 0};
  REQUIRE(values);
  pointwise_ones_need_no_update(it.forest, list, values);
  REQUIRE_OK(gab_lbm_quantities_update(view));
  gab_world_set_step(world, gab_world_step(world) + 1);
  pointwise_ones_need_no_update(it.forest, list, values);
  REQUIRE_OK(gab_lbm_quantities_update(view));
  for (size_t q = 0; q < list.count; q++)
    for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
      const gab_block *one = gab_forest_block(it.forest, b);
      REQUIRE_OK(items[q].evaluate(items[q].user, it.forest, one, values));
      judge_block(&it, &at, &items[q], one, values, seen);
    }
  REQUIRE_OK(gab_world_sum_u64(world, seen, 2));
  REQUIRE(seen[0] > 800 && seen[1] > 100);
  free(values);
  gab_lbm_quantities_destroy(&view);
  flow_close(&it);
}

static void without_gradients(gab_world *world)
{
  flow_case given = {.dimension = 2, .cells = {8, 8, 1}, .block = {4, 4, 1}, .options = {.omega = 1.5}};
  flow it = flow_open(world, &given);
  gab_lbm_quantities *view;
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  double values[16];
  REQUIRE_OK(gab_lbm_quantities_create(it.forest, it.lbm, &units, 0, &view));
  REQUIRE_OK(gab_lbm_quantities_update(view));
  const gab_quantity_list list = gab_lbm_quantities_list(view, 2, items);
  for (size_t q = 0; q < list.count; q++) {
    if (!gab_lbm_quantity_needs(items[q].name)) continue;
    for (size_t b = 0; b < gab_forest_block_count(it.forest); b++)
      REQUIRE(items[q].evaluate(items[q].user, it.forest, gab_forest_block(it.forest, b), values) ==
              GAB_ERR_STATE);
  }
  gab_lbm_quantities_destroy(&view);
  flow_close(&it);
}

/* Lattice units have no names, unless they were given. */
static void units_of_one_have_names_if_they_were_given(gab_world *world)
{
  flow_case given = {.dimension = 2, .cells = {8, 8, 1}, .block = {4, 4, 1}, .options = {.omega = 1.5}};
  flow it = flow_open(world, &given);
  for (int are_given = 0; are_given < 2; are_given++) {
    const gab_units one = {.dx = 1, .dt = 1, .density = 1, .are_given = are_given};
    gab_lbm_quantities *view;
    gab_quantity items[GAB_LBM_MOST_QUANTITIES];
    const gab_quantity *speed;
    REQUIRE_OK(gab_lbm_quantities_create(it.forest, it.lbm, &one, 0, &view));
    REQUIRE_OK(gab_quantity_find(gab_lbm_quantities_list(view, 2, items), "speed", &speed));
    CHECK(are_given ? speed->unit && strcmp(speed->unit, "m/s") == 0 : !speed->unit);
    gab_lbm_quantities_destroy(&view);
  }
  flow_close(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int curved = 0; curved < 2; curved++) {
    judge(world, 3, (const int32_t[]){8, 8, 8}, 2e-4 * curved);
    judge(world, 3, (const int32_t[]){12, 4, 16}, 2e-4 * curved);
    judge(world, 2, (const int32_t[]){6, 8, 1}, 2e-4 * curved);
  }
  without_gradients(world);
  units_of_one_have_names_if_they_were_given(world);
  CHECK(gab_lbm_quantity_needs("vorticity.x") && !gab_lbm_quantity_needs("vorticity_x"));
  return test_end(&world);
}
