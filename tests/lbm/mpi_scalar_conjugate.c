/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=1 timeout=120 */
/* Conducting bodies (lbm/scalar/scalar.h). Heat through layers of a fluid at rest and of slabs is exact to rounding, wherever the walls
 * lie, on one level and on two. A mode of a slab and a fluid decays with errors of second order. A square array of conducting discs has the
 * conductivity of Perrins, McKenzie & McPhedran, and a heated disc the profile of Poisson's equation. The sum, weighted by capacities, stays.
 * Blocks inside of a conducting body exist. Unsupported cases are refused. */
#include "lbm/scalar/scalar.h"

#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>

typedef struct heated {
  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_scalar *scalar;
} heated;

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

typedef struct setting {
  int32_t blocks[2], cells[2]; /* of the domain */
  double dx;
  bool refined;
  double lid; /* velocity of the upper side */
} setting;

static heated make(gab_world *world, const setting *by, const gab_body *bodies, size_t count,
                   const gab_lbm_scalar_options *options)
{
  gab_forest_options grid = {.grid = {2, {by->blocks[0], by->blocks[1], 1}},
                             .cells = {by->cells[0] / by->blocks[0], by->cells[1] / by->blocks[1], 1},
                             .dx = by->dx,
                             .exists = gab_geometry_block_exists};
  const gab_side wall = {.kind = GAB_SIDE_WALL};
  gab_lbm_options flow = {.omega = 1.3, .kernel = "in_place", .sides = {wall, wall, wall, wall}};
  gab_domain domain = gab_lbm_domain(&grid);
  heated it;
  if (by->lid != 0) flow.sides[3] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {by->lid}};
  domain.deepest = by->refined;
  REQUIRE_OK(gab_geometry_create(&domain, bodies, count, &it.geometry));
  grid.user = it.geometry;
  REQUIRE_OK(gab_forest_create(world, &grid, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &flow, &it.lbm));
  REQUIRE_OK(gab_lbm_scalar_create(it.forest, it.lbm, options, by->refined, &it.scalar));
  REQUIRE_OK(gab_forest_build(it.forest, by->refined ? refine_first : NULL, NULL, by->refined,
                              gab_balance_distribute, NULL, NULL));
  return it;
}

static void drop(heated *it)
{
  gab_lbm_scalar_destroy(&it->scalar);
  gab_lbm_destroy(&it->lbm);
  gab_forest_destroy(&it->forest);
  gab_geometry_destroy(&it->geometry);
}

static void conduct(heated *it, int steps)
{
  for (int step = 0; step < steps; step++) REQUIRE_OK(gab_lbm_scalar_step(it->scalar));
  REQUIRE_OK(gab_lbm_scalar_check_finite(it->scalar));
}

/* Largest difference in cells with values. */
static double error_of(gab_world *world, const heated *it, gab_lbm_scalar_fn *exact, void *user)
{
  double found = 0, values[4096];
  gab_quantity items[2];
  gab_lbm_scalar_quantities(it->scalar, items);
  REQUIRE(gab_quantity_block_values(it->forest, items) <= 4096);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const int32_t *cells = gab_forest_get_options(it->forest)->cells;
    REQUIRE_OK(items->evaluate(items->user, it->forest, block, values));
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(it->forest, block, x, y, 0, at);
        const double value = values[y * cells[0] + x];
        if (!isnan(value)) found = fmax(found, fabs(value - exact(user, at, 0)));
      }
  }
  REQUIRE_OK(gab_world_max_f64(world, &found, 1));
  return found;
}

static gab_body box(double left, double right, gab_wall wall)
{
  return (gab_body){
      .shape = GAB_SHAPE_BOX, .lo = {left, -1000}, .hi = {right, 1000}, .wall = wall, .keeps_blocks = true};
}

/* ---- layers */

/* Walls of two slabs, and what each layer resists per length. */
typedef struct layers {
  double walls[5], resistance[4];
} layers;

static double resistance_up_to(const layers *by, double x)
{
  double sum = 0;
  for (int i = 0; i < 4; i++)
    if (x > by->walls[i]) sum += by->resistance[i] * (fmin(x, by->walls[i + 1]) - by->walls[i]);
  return sum;
}

static double in_layers(void *user, const double at[3], double step)
{
  (void)step;
  return 2 - resistance_up_to(user, at[0]) / resistance_up_to(user, 1e9);
}

/* A slab at the hot side, fluid, another slab whose neighbour is the cold side. The first wall is a border of levels, or near one. */
static void layers_are_exact(gab_world *world, gab_wall wall, bool refined, bool bounded)
{
  const double first = wall == GAB_WALL_INTERPOLATED ? 5.3 : 4,
               second = wall == GAB_WALL_INTERPOLATED ? 10.85 : 11;
  const gab_body slabs[2] = {box(-10, first, wall), box(second, 100, wall)};
  const gab_lbm_scalar_wall bodies[2] = {
      {.kind = GAB_SCALAR_CONDUCTS, .conductivity = 4, .capacity = 2},
      {.kind = GAB_SCALAR_CONDUCTS, .conductivity = 0.25, .capacity = 0.5}};
  const setting by = {.blocks = {4, 2}, .cells = {16, 8}, .dx = 1, .refined = refined};
  gab_lbm_scalar_options options = {
      .name = "heat", .diffusivity = 0.03, .bodies = bodies, .bounded = bounded, .substeps = 4};
  layers exact = {.walls = {0, first, second, 16, 16}, .resistance = {1. / 4, 1, 4, 0}};
  gab_lbm_scalar_balance balance;
  gab_lbm_scalar_body found[2];
  options.sides[0] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 2};
  options.sides[1] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 1};
  heated it = make(world, &by, slabs, 2, &options);
  gab_lbm_scalar_set(it.scalar, in_layers, &exact);
  conduct(&it, 200);
  CHECK(error_of(world, &it, in_layers, &exact) < 1e-13);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, found));
  const double flux = 8 * options.diffusivity / resistance_up_to(&exact, 16);
  CHECK(fabs(balance.sides[0] / flux - 1) < 1e-12 && fabs(balance.sides[1] / flux + 1) < 1e-12);
  CHECK(fabs(found[0].flux / flux - 1) < 1e-12 && fabs(found[1].flux / flux + 1) < 1e-12);
  CHECK(found[0].volume == 8 * floor(first) && found[1].volume == 40 &&
        balance.volume == 88 - found[0].volume);
  CHECK(found[0].most < 2 && found[1].most < found[0].most);
  drop(&it);
}

/* ---- a mode of a slab and a fluid: cos in the slab, which is insulated outside, sin in the fluid up to a side at 0 */

typedef struct mode {
  double length, wall; /* of both, of the slab */
  double slab, fluid;  /* wave numbers */
  double amplitude;
} mode;

static double in_mode(void *user, const double at[3], double step)
{
  const mode *by = user;
  (void)step;
  if (at[0] < by->wall) return by->amplitude * cos(by->slab * at[0]);
  return by->amplitude * cos(by->slab * by->wall) * sin(by->fluid * (by->length - at[0])) /
         sin(by->fluid * (by->length - by->wall));
}

/* Flux of the slab at the wall less that of the fluid, over the value. */
static double mismatch(const mode *by, double conductivity)
{
  return conductivity * by->slab * tan(by->slab * by->wall) -
         by->fluid / tan(by->fluid * (by->length - by->wall));
}

static double mode_error(gab_world *world, int fine)
{
  enum { CELLS = 20 };
  const double k = 3, c = 2, diffusivity = 0.05;
  const gab_lbm_scalar_wall conducts = {.kind = GAB_SCALAR_CONDUCTS, .conductivity = k, .capacity = c};
  const setting set = {.blocks = {2, 1}, .cells = {CELLS * fine, 4}, .dx = 1};
  const gab_body slab = box(-100, 8. * fine, GAB_WALL_STAIRCASE);
  gab_lbm_scalar_options options = {.name = "heat", .diffusivity = diffusivity, .bodies = &conducts};
  mode by = {.length = CELLS * fine, .wall = 8. * fine, .amplitude = 1};
  double low = 1e-6, high = acos(-1.0) / (by.length - by.wall);
  for (int i = 0; i < 100; i++) {
    by.fluid = 0.5 * (low + high);
    by.slab = by.fluid * sqrt(c / k);
    if (mismatch(&by, k) < 0) low = by.fluid;
    else high = by.fluid;
  }
  options.sides[1] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 0};
  heated it = make(world, &set, &slab, 1, &options);
  gab_lbm_scalar_set(it.scalar, in_mode, &by);
  const int steps = 2000 * fine * fine;
  conduct(&it, steps);
  by.amplitude = exp(-diffusivity * by.fluid * by.fluid * steps);
  CHECK(by.amplitude > 0.1 && by.amplitude < 0.8);
  const double error = error_of(world, &it, in_mode, &by);
  drop(&it);
  return error;
}

/* ---- discs */

static gab_body disc(double x, double y, double radius)
{
  return (gab_body){.shape = GAB_SHAPE_CYLINDER,
                    .axis = 2,
                    .centre = {x, y},
                    .radius = radius,
                    .wall = GAB_WALL_INTERPOLATED,
                    .keeps_blocks = true};
}

static double linear(void *user, const double at[3], double step)
{
  (void)user, (void)step;
  return at[0];
}

/* Perrins, McKenzie & McPhedran 1979, Proc. R. Soc. A 369, 207: of a square array. */
static double conductivity_of_array(double conductivity, double share)
{
  const double t = (1 + conductivity) / (1 - conductivity), f4 = pow(share, 4), f8 = f4 * f4;
  return 1 - 2 * share / (t + share - 0.305827 * f4 * t / (t * t - 1.402958 * f8) - 0.013362 * f8 / t);
}

/* A quarter of a disc of radius 0.3 in its half of a period. */
static double array_error(gab_world *world, int32_t cells)
{
  const double k = 4;
  const gab_body quarter = disc(0, 0, 0.3);
  const gab_lbm_scalar_wall conducts = {.kind = GAB_SCALAR_CONDUCTS, .conductivity = k, .capacity = 1};
  const setting set = {.blocks = {2, 2}, .cells = {cells, cells}, .dx = 0.5 / cells};
  gab_lbm_scalar_options options = {.name = "heat", .diffusivity = 0.06, .bodies = &conducts};
  gab_lbm_scalar_balance balance;
  options.sides[0] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 0};
  options.sides[1] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 1};
  heated it = make(world, &set, &quarter, 1, &options);
  gab_lbm_scalar_set(it.scalar, linear, NULL);
  conduct(&it, 20 * cells * cells);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, NULL));
  CHECK(fabs(balance.sides[0] / balance.sides[1] + 1) < 1e-5);
  drop(&it);
  return -balance.sides[0] / options.diffusivity / conductivity_of_array(k, acos(-1.0) * 0.09) - 1;
}

#define OUTER 0.45
#define INNER 0.21

static double heated_disc(void *user, const double at[3], double step)
{
  const double r = hypot(at[0] - 0.5037, at[1] - 0.4951), k = *(const double *)user;
  (void)step;
  if (r > INNER) return INNER * INNER / 2 * log(OUTER / r);
  return INNER * INNER / 2 * log(OUTER / INNER) + (INNER * INNER - r * r) / (4 * k);
}

static void disc_errors(gab_world *world, int32_t cells, double errors[2])
{
  const double diffusivity = 0.06, pi = acos(-1.0);
  double k = 4;
  gab_body bodies[2] = {disc(0.5037, 0.4951, INNER), disc(0.5037, 0.4951, OUTER)};
  bodies[1].inside_is_fluid = true;
  bodies[1].keeps_blocks = false;
  const gab_lbm_scalar_wall walls[2] = {
      {.kind = GAB_SCALAR_CONDUCTS, .conductivity = k, .capacity = 1, .source = diffusivity / cells / cells},
      {.kind = GAB_SCALAR_FIXED}};
  const setting set = {.blocks = {4, 4}, .cells = {cells, cells}, .dx = 1.0 / cells};
  const gab_lbm_scalar_options options = {.name = "heat", .diffusivity = diffusivity, .bodies = walls};
  gab_lbm_scalar_balance balance;
  gab_lbm_scalar_body found[2];
  heated it = make(world, &set, bodies, 2, &options);
  gab_lbm_scalar_set(it.scalar, heated_disc, &k);
  conduct(&it, 6 * cells * cells);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, found));
  errors[0] = error_of(world, &it, heated_disc, &k) / (INNER * INNER / 2);
  errors[1] = found[0].flux / (pi * INNER * INNER * diffusivity) - 1;
  CHECK(fabs(found[0].flux / balance.source - 1) < 1e-4 && fabs(found[1].flux / balance.source + 1) < 1e-4);
  drop(&it);
}

/* ---- conservation */

static double spots(void *user, const double at[3], double step)
{
  (void)user, (void)step;
  return 1 + sin(at[0] + 2 * at[1]);
}

/* Two bodies that touch, one across the border of levels, in a driven box; a block of the second one is all solid. */
static void sum_stays(gab_world *world, bool refined, bool bounded)
{
  const gab_body bodies[2] = {disc(7.3, 8.1, 3.2),
                              {.shape = GAB_SHAPE_BOX, .lo = {8, 4}, .hi = {20, 12}, .keeps_blocks = true}};
  const gab_lbm_scalar_wall walls[2] = {{.kind = GAB_SCALAR_CONDUCTS, .conductivity = 3, .capacity = 1.7},
                                        {.kind = GAB_SCALAR_CONDUCTS, .conductivity = 0.4, .capacity = 0.6}};
  const setting set = {.blocks = {4, 4}, .cells = {16, 16}, .dx = 1, .refined = refined, .lid = 0.1};
  const gab_lbm_scalar_options options = {
      .name = "heat", .diffusivity = 0.02, .bodies = walls, .bounded = bounded, .substeps = 3};
  gab_lbm_scalar_balance balance;
  gab_lbm_scalar_body found[2];
  double sum[2], fluid[2];
  heated it = make(world, &set, bodies, 2, &options);
  uint64_t blocks = gab_forest_block_count(it.forest);
  REQUIRE_OK(gab_world_sum_u64(world, &blocks, 1));
  CHECK(blocks == 16 + (refined ? 3 : 0));
  gab_lbm_scalar_set(it.scalar, spots, NULL);
  for (int i = 0; i < 2; i++) {
    REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, found));
    fluid[i] = balance.sum;
    sum[i] = balance.sum + walls[0].capacity * found[0].sum + walls[1].capacity * found[1].sum;
    for (int step = 0; i == 0 && step < 100; step++) {
      REQUIRE_OK(gab_lbm_step(it.lbm));
      REQUIRE_OK(gab_lbm_scalar_step(it.scalar));
    }
  }
  CHECK(fabs(fluid[1] / fluid[0] - 1) > 1e-3);
  CHECK(fabs(sum[1] / sum[0] - 1) < 1e-13);
  drop(&it);
}

/* ---- refused */

static void are_refused(gab_world *world)
{
  const gab_forest_options grid = {
      .grid = {2, {2, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true, true}, .dx = 1};
  const gab_domain domain = gab_lbm_domain(&grid);
  const gab_lbm_options flow = {.omega = 1.3};
  for (int i = 0; i < 4; i++) {
    gab_body body = disc(4, 4, 2);
    const gab_lbm_scalar_wall wall = {
        .kind = GAB_SCALAR_CONDUCTS, .conductivity = i == 1 ? 100 : 2, .capacity = i == 2 ? 0 : 1};
    gab_lbm_scalar_options options = {.name = "heat", .diffusivity = 0.02, .bodies = &wall};
    heated it = {0};
    if (i == 0) body.keeps_blocks = false;
    if (i == 3) options.sides[0].kind = GAB_SCALAR_CONDUCTS;
    REQUIRE_OK(gab_geometry_create(&domain, &body, 1, &it.geometry));
    REQUIRE_OK(gab_forest_create(world, &grid, &it.forest));
    REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &flow, &it.lbm));
    CHECK(gab_lbm_scalar_create(it.forest, it.lbm, &options, 0, &it.scalar) ==
          (i == 1 ? GAB_ERR_INPUT : GAB_ERR_ARGUMENT));
    CHECK(!it.scalar);
    drop(&it);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  double coarse[2], fine[2];
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int i = 0; i < 8; i++)
    layers_are_exact(world, i % 2 ? GAB_WALL_INTERPOLATED : GAB_WALL_STAIRCASE, i / 2 % 2, i / 4);
  coarse[0] = mode_error(world, 1), fine[0] = mode_error(world, 2);
  CHECK(coarse[0] < 2e-4 && log2(coarse[0] / fine[0]) > 1.8);
  CHECK(fabs(array_error(world, 12)) < 3e-3 && fabs(array_error(world, 20)) < 1.5e-3);
  disc_errors(world, 20, coarse);
  disc_errors(world, 40, fine);
  CHECK(coarse[0] < 0.03 && log2(coarse[0] / fine[0]) > 1);
  CHECK(fabs(coarse[1]) < 0.03 && fabs(fine[1]) < 0.01); /* of the area */
  for (int i = 0; i < 4; i++) sum_stays(world, i % 2, i / 2);
  are_refused(world);
  return test_end(&world);
}
