/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=2 timeout=1200 labels=long */
/* Known flows on partly refined grids: the error of a forced channel with finer walls or a finer middle, and of a
 * Taylor-Green vortex with a finer centre, decreases with the square of the cell width.
 */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

typedef struct refined_case {
  flow_case flow;
  double lo[3], hi[3]; /* refined part of the domain, in units of its size */
} refined_case;

static gab_mark mark_place(void *user, int level, const gab_box *cells)
{
  const refined_case *given = user;
  for (int axis = 0; axis < given->flow.dimension; axis++) {
    const double size = (double)given->flow.cells[axis] * (1 << level);
    const double middle = (double)(cells->lo[axis] + cells->hi[axis]) / 2 / size;
    if (level > 0 || middle < given->lo[axis] || middle > given->hi[axis]) return GAB_MARK_KEEP;
  }
  return GAB_MARK_REFINE;
}

static flow refined_open(gab_world *world, refined_case *given)
{
  flow made = {0};
  const flow_case *what = &given->flow;
  gab_forest_options options = {.grid.dimension = what->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    options.grid.roots[axis] = what->cells[axis] / what->block[axis];
    options.cells[axis] = what->block[axis];
    options.periodic[axis] =
        axis < what->dimension && what->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
    made.cells[axis] = what->cells[axis];
  }
  gab_refine_report report;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, &what->options, &made.lbm));
  REQUIRE_OK(gab_forest_build(made.forest, mark_place, given, 1, gab_balance_distribute, NULL, &report));
  REQUIRE(report.split > 0);
  return made;
}

/* Exact velocity, for the mean square error over the area. */
typedef void (*exact_fn)(const void *user, const double centre[3], double u[3]);
static double error_of(gab_world *world, const flow *it, exact_fn exact, const void *user)
{
  const int32_t *cells = gab_forest_get_options(it->forest)->cells;
  const gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  double *velocity = malloc(3 * count * sizeof *velocity);
  REQUIRE(velocity);
  gab_exact_sum sums[2];
  gab_exact_clear(&sums[0]);
  gab_exact_clear(&sums[1]);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const double area = ldexp(1, -2 * gab_block_level(it->forest, block));
    REQUIRE_OK(gab_lbm_macroscopic(it->lbm, block, &box, NULL, velocity));
    for (size_t i = 0; i < count; i++) {
      double centre[3], u[3] = {0, 0, 0};
      gab_block_cell_centre(it->forest, block, (int32_t)(i % (size_t)cells[0]),
                            (int32_t)(i / (size_t)cells[0]), 0, centre);
      exact(user, centre, u);
      for (int axis = 0; axis < 2; axis++) {
        const double off = velocity[3 * i + (size_t)axis] - u[axis];
        gab_exact_add(&sums[0], area * off * off);
        gab_exact_add(&sums[1], area * u[axis] * u[axis]);
      }
    }
  }
  free(velocity);
  REQUIRE_OK(gab_world_sum_exact(world, sums, 2));
  return sqrt(gab_exact_value(&sums[0]) / gab_exact_value(&sums[1]));
}

/* ------------------------------------------------------------------------------------------ channel */

typedef struct parabola {
  double height, top;
} parabola;

static void parabola_at(const void *user, const double centre[3], double u[3])
{
  const parabola *it = user;
  const double s = centre[1] / it->height;
  u[0] = 4 * it->top * s * (1 - s);
}
static void parabola_start(void *user, const double centre[3], gab_lbm_state *state)
{
  parabola_at(user, centre, state->velocity);
}

static double channel_error(gab_world *world, int32_t height, double lo, double hi, double omega)
{
  parabola it = {.height = height, .top = 1.6 / height};
  refined_case given = {.lo = {-1, lo, -1}, .hi = {2, hi, 2}};
  given.flow =
      (flow_case){.dimension = 2, .cells = {height / 4, height, 1}, .block = {height / 4, height / 4, 1}};
  gab_lbm_options *options = &given.flow.options;
  options->omega = omega;
  options->sides[GAB_SIDE_Y_MIN].kind = options->sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  const double viscosity = (1 / omega - 0.5) / 3;
  options->force[0] = 8 * viscosity * it.top / (it.height * it.height);
  options->initial = parabola_start;
  options->initial_user = &it;
  flow flow_ = refined_open(world, &given);
  flow_run(&flow_, (int)(0.5 * it.height * it.height / viscosity));
  const double error = error_of(world, &flow_, parabola_at, &it);
  flow_close(&flow_);
  return error;
}

/* ------------------------------------------------------------------------------------------ vortex */

typedef struct vortex {
  double k, speed;
} vortex;

static void vortex_at(const void *user, const double centre[3], double u[3])
{
  const vortex *it = user;
  const double x = it->k * centre[0], y = it->k * centre[1];
  u[0] = -it->speed * cos(x) * sin(y);
  u[1] = it->speed * sin(x) * cos(y);
}
static void vortex_start(void *user, const double centre[3], gab_lbm_state *state)
{
  const vortex *it = user;
  const double x = it->k * centre[0], y = it->k * centre[1], a = it->speed * it->k;
  vortex_at(user, centre, state->velocity);
  state->density = 1 - 0.75 * it->speed * it->speed * (cos(2 * x) + cos(2 * y));
  state->gradient[0][0] = a * sin(x) * sin(y);
  state->gradient[0][1] = -a * cos(x) * cos(y);
  state->gradient[1][0] = a * cos(x) * cos(y);
  state->gradient[1][1] = -a * sin(x) * sin(y);
}

static double vortex_error(gab_world *world, int32_t size, double omega, double border_speed)
{
  vortex it = {.k = 2 * 3.14159265358979323846 / size, .speed = 0.64 / size};
  refined_case given = {.lo = {0.25, 0.25, -1}, .hi = {0.75, 0.75, 2}};
  given.flow = (flow_case){.dimension = 2, .cells = {size, size, 1}, .block = {size / 4, size / 4, 1}};
  given.flow.options.omega = omega;
  given.flow.options.border_speed = border_speed;
  given.flow.options.initial = vortex_start;
  given.flow.options.initial_user = &it;
  flow flow_ = refined_open(world, &given);
  const double viscosity = (1 / omega - 0.5) / 3, rate = 2 * viscosity * it.k * it.k;
  const int steps = (int)(0.7 / rate);
  flow_run(&flow_, steps);
  it.speed *= exp(-rate * steps);
  const double error = error_of(world, &flow_, vortex_at, &it);
  flow_close(&flow_);
  return error;
}

/* ------------------------------------------------------------------------------------------ orders */

static void expect_order(const char *what, const double error[3], double order)
{
  const double seen = log2(error[0] / error[2]) / 2;
  if (seen >= order) return;
  fprintf(stderr, "%s: errors %.3g %.3g %.3g, order %.2f, not %g\n", what, error[0], error[1], error[2], seen,
          order);
  _Exit(1);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  double error[3];
  const double omegas[2] = {1.0, 1.7};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3; i++) error[i] = vortex_error(world, 16 << i, omegas[k], 0);
    expect_order("vortex", error, 1.9);
    for (int i = 0; i < 3; i++) error[i] = channel_error(world, 16 << i, 0.25, 0.75, omegas[k]);
    expect_order("channel, finer middle", error, 1.9);
    for (int i = 0; i < 3; i++) error[i] = channel_error(world, 16 << i, 0.5, 1, omegas[k]);
    expect_order("channel, finer half", error, 1.9);
  }
  for (int i = 0; i < 3; i++) error[i] = vortex_error(world, 16 << i, 1.9, 0.1);
  expect_order("vortex, bounded magic parameter", error, 1.9);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
