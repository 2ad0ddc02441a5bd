/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=1 timeout=60 */
/* Porous regions on two levels: a box has the velocity of the law on both, as does a plug that a border crosses the pressure drop of one level; a
 * channel whose lower half is porous converges; blocks that are split and merged keep their velocity. Called with "print": figures of
 * doc/porous.md. */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "lbm/porous/porous.h"
#include "tests/lbm/lbm_common.h"

static bool prints;

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[0] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}
static gab_mark refine_below(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_status share_out(void *context, gab_proxies *proxies)
{
  const gab_balance_options options = {0};
  (void)context;
  return gab_balance_proxies(proxies, &options, NULL);
}

static flow open_refined(gab_world *world, const gab_forest_options *grid, const gab_lbm_options *options,
                         gab_mark (*mark)(void *, int, const gab_box *))
{
  flow made = {0};
  REQUIRE_OK(gab_forest_create(world, grid, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, options, &made.lbm));
  REQUIRE_OK(gab_forest_build(made.forest, mark, NULL, mark ? 1 : 0, share_out, NULL, NULL));
  return made;
}

static gab_porous_region region_of(double linear, double quadratic, double low, double high, int axis)
{
  gab_porous_region made = {.shape = {.name = "porous", .shape = GAB_SHAPE_BOX}};
  for (int k = 0; k < 3; k++) {
    made.linear[k] = linear;
    made.quadratic[k] = quadratic;
    made.shape.lo[k] = k == axis ? low : -INFINITY;
    made.shape.hi[k] = k == axis ? high : INFINITY;
  }
  return made;
}

/* ------------------------------------------------------------------------------------------ a box */

static void box_obeys_the_law(gab_world *world)
{
  const gab_porous_region region = region_of(0.3, 5, -INFINITY, INFINITY, 0);
  const gab_forest_options grid = {
      .grid = {2, {2, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true, true, true}, .dx = 1};
  const gab_lbm_options options = {
      .omega = 1.1, .force = {3e-3, 1e-3, 0}, .porous = &region, .porous_count = 1};
  flow of = open_refined(world, &grid, &options, refine_first);
  gab_porous_load load;
  flow_run(&of, 200);
  REQUIRE_OK(gab_lbm_porous_loads(of.lbm, &load));
  const double *u = load.velocity, speed = hypot(u[0], u[1]);
  for (int axis = 0; axis < 2; axis++) {
    CHECK(fabs((0.3 + 5 * speed) * u[axis] / options.force[axis] - 1) < 1e-9);
    CHECK(fabs(load.force[axis] / (64 * options.force[axis]) - 1) < 1e-9);
  }
  CHECK(load.cells == 32 + 128 && load.volume == 64);
  flow_close(&of);
}

/* ------------------------------------------------------------------------------------------ a plug */

/* @return the density of the first cell, less 1 */
static double plug(gab_world *world, double drag, bool is_refined)
{
  const gab_porous_region region = region_of(drag, 0, 8, 24, 0);
  const gab_forest_options grid = {
      .grid = {2, {4, 1, 1}}, .cells = {8, 4, 1}, .periodic = {false, true, true}, .dx = 1};
  const gab_lbm_options options = {.omega = 0.8,
                                   .sides = {{.kind = GAB_SIDE_VELOCITY, .velocity = {0.002, 0, 0}},
                                             {.kind = GAB_SIDE_PRESSURE, .density = 1}},
                                   .velocity = {0.002, 0, 0},
                                   .porous = &region,
                                   .porous_count = 1};
  flow of = open_refined(world, &grid, &options, NULL);
  double first = 0;
  if (is_refined) {
    flow_close(&of);
    of = open_refined(world, &grid, &options, refine_first);
  }
  flow_run(&of, 6000);
  for (size_t b = 0; b < gab_forest_block_count(of.forest); b++) {
    const gab_block *block = gab_forest_block(of.forest, b);
    const gab_box place = gab_block_cells(of.forest, block), one = {{0, 0, 0}, {1, 1, 1}};
    double density;
    if (place.lo[0] != 0) continue;
    REQUIRE_OK(gab_lbm_macroscopic(of.lbm, block, &one, &density, NULL));
    first = density - 1;
  }
  flow_close(&of);
  REQUIRE_OK(gab_world_max_f64(world, &first, 1));
  return first;
}

/* ------------------------------------------------------------------------------------------ a channel */

typedef struct channel {
  const flow *of;
  int width;
  double drag, force, viscosity, most[2];
} channel;

/* As in mpi_porous_order.c. */
static double expected_at(const channel *it, double y)
{
  const double k = sqrt(it->drag / it->viscosity), h = 0.5 * it->width, far = it->force / it->drag,
               bend = it->force / (2 * it->viscosity), e = exp(-k * h), s = sinh(k * h), c = cosh(k * h),
               a = (bend * h - far * k * e - far * (1 - e) / h) / (k * c + s / h),
               slope = (far * (1 - e) + a * s) / h;
  return y < h ? far * (1 - exp(-k * y)) + a * sinh(k * y)
               : bend * (it->width - y) * (y - h) + slope * (it->width - y);
}

static double channel_error(gab_world *world, int width, double drag)
{
  const double omega = 1.25;
  const gab_porous_region region = region_of(drag, 0, -INFINITY, 0.5 * width, 1);
  channel it = {.width = width, .drag = drag, .force = 1e-6, .viscosity = (1 / omega - 0.5) / 3};
  const gab_forest_options grid = {
      .grid = {2, {1, 4, 1}}, .cells = {4, width / 4, 1}, .periodic = {true, false, true}, .dx = 1};
  const gab_lbm_options options = {.omega = omega,
                                   .force = {it.force, 0, 0},
                                   .sides = {{0}, {0}, {.kind = GAB_SIDE_WALL}, {.kind = GAB_SIDE_WALL}},
                                   .porous = &region,
                                   .porous_count = 1};
  flow of = open_refined(world, &grid, &options, refine_below);
  flow_run(&of, 12 * width * width);
  for (size_t b = 0; b < gab_forest_block_count(of.forest); b++) {
    const gab_block *block = gab_forest_block(of.forest, b);
    const gab_box place = gab_block_cells(of.forest, block), column = {{0, 0, 0}, {1, width / 4, 1}};
    double u[3 * 64];
    REQUIRE_OK(gab_lbm_macroscopic(of.lbm, block, &column, NULL, u));
    for (int64_t y = 0; y < width / 4; y++) {
      const double wanted =
          expected_at(&it, ldexp((double)(place.lo[1] + y) + 0.5, -gab_block_level(of.forest, block)));
      it.most[0] = fmax(it.most[0], fabs(u[3 * y] - wanted));
      it.most[1] = fmax(it.most[1], wanted);
    }
  }
  flow_close(&of);
  REQUIRE_OK(gab_world_max_f64(world, it.most, 2));
  return it.most[0] / it.most[1];
}

/* ------------------------------------------------------------------------------------------ split and merged */

static gab_status split_all(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)user;
  if (gab_block_level(forest, block) == 0) *mark = GAB_MARK_REFINE;
  return GAB_OK;
}
static gab_status merge_all(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)user;
  if (gab_block_level(forest, block) == 1) *mark = GAB_MARK_COARSEN;
  return GAB_OK;
}

static void find_range(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *range = user;
  (void)cell, (void)fluid, (void)density;
  range[0] = fmin(range[0], u[0]);
  range[1] = fmax(range[1], u[0]);
}

static void all_have(const flow *it, double velocity)
{
  double range[2] = {1, -1};
  flow_visit(it, find_range, range);
  if (prints) printf("velocity %.17g to %.17g\n", range[0], range[1]);
  CHECK(range[1] < range[0] ||
        (fabs(range[0] / velocity - 1) < 1e-12 && fabs(range[1] / velocity - 1) < 1e-12));
}

static void blocks_keep_velocity(gab_world *world)
{
  const gab_porous_region region = region_of(1.2, 6, -INFINITY, INFINITY, 0);
  const gab_forest_options grid = {
      .grid = {2, {2, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true, true, true}, .dx = 1};
  const gab_lbm_options options = {.omega = 1.1,
                                   .force = {1e-3, 0, 0},
                                   .velocity = {0.05, 0.01, 0},
                                   .porous = &region,
                                   .porous_count = 1,
                                   .deepest = 1};
  flow of = open_refined(world, &grid, &options, NULL);
  gab_adapt_report report;
  all_have(&of, 0.05); /* the initial state */
  REQUIRE_OK(gab_forest_adapt(
      of.forest, &(gab_adapt_options){.mark = split_all, .max_level = 1, .distribute = share_out}, &report));
  CHECK(report.grid.split == 4);
  all_have(&of, 0.05);
  REQUIRE_OK(gab_forest_adapt(
      of.forest, &(gab_adapt_options){.mark = merge_all, .max_level = 1, .distribute = share_out}, &report));
  all_have(&of, 0.05);
  flow_close(&of);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  prints = argc > 1 && strcmp(argv[1], "print") == 0;
  blocks_keep_velocity(world);
  box_obeys_the_law(world);
  for (double drag = prints ? 0.001 : 0.01; drag < 1; drag *= 10) {
    const double one = plug(world, drag, false), two = plug(world, drag, true);
    CHECK(fabs(two / one - 1) < 1e-4);
    if (prints)
      printf("plug a %g: drop %.6e on one level, %.6e on two: %.2e off\n", drag, one / 3, two / 3,
             two / one - 1);
  }
  double last = 0;
  for (int width = 16; width <= (prints ? 64 : 32); width *= 2) {
    const double here = channel_error(world, width, 0.1 * 64 / (width * width));
    if (prints)
      printf("half porous on two levels, width %d: error %.3e, order %.2f\n", width, here,
             last > 0 ? log2(last / here) : 0);
    CHECK(last == 0 || log2(last / here) > 1.5);
    last = here;
  }
  return test_end(&world);
}
