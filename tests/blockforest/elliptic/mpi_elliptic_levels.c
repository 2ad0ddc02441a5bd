/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=1 long=2 timeout=120 threads=2 needs=ulfm */
/* Elliptic solvers on blocks of several levels (blockforest/elliptic/elliptic.h). Solutions converge to exact ones
 * with second order in the maximum norm, in 2D and 3D: for values, gradients and periodic sides, on two and three
 * levels, with a source in the refined region. A V-cycle reduces the residual as on one level. The operator
 * conserves: its sum over the volume is 0 without sides. So does a user-defined operator with a coefficient that
 * varies across borders of levels; therefore singular ones have solutions. BiCGStab finds the solutions of V-cycles
 * in fewer iterations.
 * On a grid of one level the solution has the same bits as that of a solver of one level. Results have the same bits
 * for any owners of the blocks. Options that levels do not support are refused. */
#include "core/base/exact_sum.h"
#include "tests/blockforest/elliptic/elliptic_setup.h"

enum { MOST_CELLS = 128 }; /* of level 0 along an axis */

typedef struct equation {
  const char *name;
  int dimension, finest;
  int32_t roots, cells;
  bool periodic[3];
  gab_elliptic_options options;
  double most_factor;
  double (*exact)(const double at[3]);
  double (*right)(const gab_elliptic_operator *a, const double at[3]);
} equation;

/* Around a place without symmetry, in 1/64 of the domain; each level half as wide as the one above. */
static gab_mark near_a_place(void *user, int level, const gab_box *cells)
{
  const gab_forest_options *options = user;
  const double half[] = {0.26, 0.13, 0.065}, place[] = {0.40, 0.62, 0.45};
  for (int axis = 0; axis < options->grid.dimension; axis++) {
    const double width = ldexp(options->dx, -level), low = (double)cells->lo[axis] * width,
                 high = (double)cells->hi[axis] * width;
    if (high < place[axis] - half[level] || low > place[axis] + half[level]) return GAB_MARK_KEEP;
  }
  return GAB_MARK_REFINE;
}

static void centre_of(const setup *it, const gab_block *block, int32_t x, int32_t y, int32_t z, double at[3])
{
  gab_block_cell_centre(it->forest, block, x, y, z, at);
}

/* @param[in] finer  factor of the cells of a block along an axis @param[in] deepest  level of the grid */
static void make(gab_world *world, setup *it, const equation *of, int32_t finer, int deepest, gab_rank ranks)
{
  const int32_t deep = of->dimension == 3, roots = of->roots, cells = of->cells * finer;
  gab_forest_options options = {.grid = {of->dimension, {roots, roots, deep ? roots : 1}},
                                .periodic = {of->periodic[0], of->periodic[1], of->periodic[2]},
                                .cells = {cells, cells, deep ? cells : 1},
                                .dx = 1. / (roots * cells)};
  gab_elliptic_options with = of->options;
  *it = (setup){.field = {.shape = {.cells = {cells, cells, deep ? cells : 1},
                                    .ghosts = {1, 1, deep},
                                    .components = COMPONENTS}}};
  const gab_block_data_kind data = gab_block_field_data(&it->field, "equation");
  with.finest = of->finest;
  REQUIRE(roots * cells <= MOST_CELLS);
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &data, &it->data));
  REQUIRE_OK(gab_elliptic_create(it->forest, &with, &it->elliptic));
  REQUIRE_OK(gab_forest_build(it->forest, deepest > 0 ? near_a_place : NULL, &options, deepest,
                              blocks_in_turn, &ranks, NULL));
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    gab_field *field = gab_block_data(block, it->data);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < field->shape.cells[1]; y++)
        for (int32_t x = 0; x < field->shape.cells[0]; x++) {
          double at[3];
          centre_of(it, block, x, y, z, at);
          gab_field_set(field, x, y, z, F, of->right(&of->options.operation, at));
          gab_field_set(field, x, y, z, EXACT, of->exact(at));
        }
  }
}

/* The largest error; if the solution is unique up to a constant, relative to the volume mean. */
static double error_of(setup *it, bool is_singular)
{
  gab_exact_sum sum;
  gab_norms norms;
  double mean = 0;
  gab_exact_clear(&sum);
  for (int pass = is_singular ? 0 : 1; pass < 2; pass++) {
    for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
      const gab_block *block = gab_forest_block(it->forest, i);
      gab_field *field = gab_block_data(block, it->data);
      const double dx = gab_forest_dx(it->forest, gab_block_level(it->forest, block));
      const double volume = field->shape.cells[2] > 1 ? dx * dx * dx : dx * dx;
      for (int32_t z = 0; z < field->shape.cells[2]; z++)
        for (int32_t y = 0; y < field->shape.cells[1]; y++)
          for (int32_t x = 0; x < field->shape.cells[0]; x++) {
            const double error = gab_field_get(field, x, y, z, U) - gab_field_get(field, x, y, z, EXACT);
            if (pass == 0) gab_exact_add(&sum, volume * error);
            else gab_field_set(field, x, y, z, EXACT, error - mean);
          }
    }
    if (pass == 0) {
      REQUIRE_OK(gab_world_sum_exact(gab_forest_world(it->forest), &sum, 1));
      mean = gab_exact_value(&sum);
    }
  }
  REQUIRE_OK(gab_forest_norms(it->forest, part(it, EXACT), &norms));
  return norms.max;
}

/* ---------------------------------------------------------------- equations */

static double sines(const double at[3])
{
  return 0.5 + sin(PI * at[0]) * sin(2 * PI * at[1]) * sin(PI * at[2]);
}
static double sines_right(const gab_elliptic_operator *a, const double at[3])
{
  return a->alpha * sines(at) + a->beta * 6 * PI * PI * (sines(at) - 0.5);
}

static double plane(const double at[3]) { return sin(PI * at[0]) * sin(2 * PI * at[1]); }
static double plane_right(const gab_elliptic_operator *a, const double at[3])
{
  return a->alpha * plane(at) + a->beta * 5 * PI * PI * plane(at);
}

static double waves(const double at[3]) { return sin(2 * PI * at[0]) * cos(4 * PI * at[1]); }
static double waves_right(const gab_elliptic_operator *a, const double at[3])
{
  return a->beta * 20 * PI * PI * waves(at) + 7; /* a mean without a solution */
}

static double channel(const double at[3]) { return at[0] * at[0] + sin(2 * PI * at[1]); }
static double channel_right(const gab_elliptic_operator *a, const double at[3])
{
  return a->alpha * channel(at) - a->beta * (2 - 4 * PI * PI * sin(2 * PI * at[1]));
}

/* A narrow bump in the refined region: u = exp(-r^2/w^2), zero at the sides to 1e-12 and less. */
static const double bump_width = 0.07;
static double bump(const double at[3])
{
  const double x = at[0] - 0.40, y = at[1] - 0.62;
  return exp(-(x * x + y * y) / (bump_width * bump_width));
}
static double bump_right(const gab_elliptic_operator *a, const double at[3])
{
  const double x = at[0] - 0.40, y = at[1] - 0.62, w = bump_width * bump_width;
  return -a->beta * bump(at) * (4 * (x * x + y * y) / (w * w) - 4 / w);
}

/* An operator of the program, alpha u - div(k grad u), with the coefficient k at the centres of faces. */
static const double own_alpha = 2;
/* k = scale (1 + 0.6 along[0](x) along[1](y)). */
typedef struct coefficient {
  double scale;
  double (*along[2])(double at);
} coefficient;

static double product(const coefficient *k, double along_x, double along_y)
{
  return k->scale * (1 + 0.6 * along_x * along_y);
}

static double coefficient_at(const coefficient *k, const double at[3])
{
  return product(k, k->along[0](at[0]), k->along[1](at[1]));
}

/* Values along an axis are computed once per block: at faces and centres in turn. */
static void apply_coefficient(const gab_elliptic_cells *at, double alpha, const coefficient *of)
{
  const double h = at->width, per = 1 / (h * h);
  double along[2][2 * MOST_CELLS + 1];
  for (int axis = 0; axis < 2; axis++)
    for (int32_t i = 0; i <= 2 * at->cells[axis]; i++)
      along[axis][i] = of->along[axis](at->origin[axis] + i * (h / 2));
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double *in_x = &along[0][2 * x + 1], *in_y = &along[1][2 * y + 1];
      const double k[4] = {product(of, in_x[-1], *in_y), product(of, in_x[1], *in_y),
                           product(of, *in_x, in_y[-1]), product(of, *in_x, in_y[1])};
      const double diagonal = alpha + per * (k[0] + k[1] + k[2] + k[3]);
      if (at->diagonal) {
        gab_field_set(at->diagonal, x, y, 0, 0, diagonal);
        continue;
      }
      const double around =
          k[0] * gab_field_get(at->u, x - 1, y, 0, 0) + k[1] * gab_field_get(at->u, x + 1, y, 0, 0) +
          k[2] * gab_field_get(at->u, x, y - 1, 0, 0) + k[3] * gab_field_get(at->u, x, y + 1, 0, 0);
      gab_field_set(at->out, x, y, 0, 0, diagonal * gab_field_get(at->u, x, y, 0, 0) - per * around);
    }
}

static double wave(double x) { return sin(2 * PI * x); }
static double slow_wave(double y) { return cos(3 * y); }
static const coefficient own = {1, {wave, slow_wave}};
static void apply_own(const gab_elliptic_cells *at) { apply_coefficient(at, own_alpha, &own); }

static double own_right(const gab_elliptic_operator *a, const double at[3])
{
  const double x = at[0], y = at[1];
  const double dk[2] = {0.6 * 2 * PI * cos(2 * PI * x) * cos(3 * y), -0.6 * 3 * sin(2 * PI * x) * sin(3 * y)};
  const double du[2] = {PI * cos(PI * x) * sin(2 * PI * y), 2 * PI * sin(PI * x) * cos(2 * PI * y)};
  (void)a;
  return own_alpha * plane(at) + coefficient_at(&own, at) * 5 * PI * PI * plane(at) - dk[0] * du[0] -
         dk[1] * du[1];
}

/* A singular one, -div(k grad u). */
static double moved_wave(double y) { return cos(2 * PI * (y - 0.2)); }
static const coefficient periodic = {1, {wave, moved_wave}};
static void apply_singular(const gab_elliptic_cells *at) { apply_coefficient(at, 0, &periodic); }

static double singular_right(const gab_elliptic_operator *a, const double at[3])
{
  const double x = 2 * PI * at[0], y = 2 * PI * at[1], z = y - 0.4 * PI;
  const double dk[2] = {0.6 * 2 * PI * cos(x) * cos(z), -0.6 * 2 * PI * sin(x) * sin(z)};
  const double du[2] = {2 * PI * cos(x) * cos(2 * y), -4 * PI * sin(x) * sin(2 * y)};
  (void)a;
  return coefficient_at(&periodic, at) * 20 * PI * PI * waves(at) - dk[0] * du[0] - dk[1] * du[1];
}

#define SIX(v)                                                                                               \
  {                                                                                                          \
    VALUE(v), VALUE(v), VALUE(v), VALUE(v), VALUE(v), VALUE(v)                                               \
  }

static const equation equations[] = {
    {"Poisson, values, in the plane, 2 levels",
     2,
     1,
     8,
     4,
     {0, 0, 0},
     {.operation = {.beta = 1}, .sides = SIX(0)},
     0.15,
     plane,
     plane_right},
    {"Poisson, values, in the plane, 3 levels",
     2,
     2,
     8,
     4,
     {0, 0, 0},
     {.operation = {.beta = 1}, .sides = SIX(0)},
     0.15,
     plane,
     plane_right},
    {"Poisson, a source in the refined region, 3 levels",
     2,
     2,
     8,
     4,
     {0, 0, 0},
     {.operation = {.beta = 1}, .sides = SIX(0)},
     0.15,
     bump,
     bump_right},
    {"Poisson, periodic, 3 levels",
     2,
     2,
     8,
     4,
     {1, 1, 0},
     {.operation = {.beta = 1}},
     0.15,
     waves,
     waves_right},
    {"implicit diffusion, gradients and periodic, 2 levels",
     2,
     1,
     8,
     4,
     {0, 1, 0},
     {.operation = {.alpha = 3, .beta = 0.7}, .sides = {GRADIENT(0), GRADIENT(2)}},
     0.15,
     channel,
     channel_right},
    {"an operator of the program, values, 3 levels",
     2,
     2,
     8,
     4,
     {0, 0, 0},
     {.operation = {.apply = apply_own}, .sides = SIX(0)},
     0.2,
     plane,
     own_right},
    {"a singular operator of the program, 3 levels",
     2,
     2,
     8,
     4,
     {1, 1, 0},
     {.operation = {.apply = apply_singular, .is_singular = true}},
     0.2,
     waves,
     singular_right},
    {"Poisson, values, in space, 2 levels",
     3,
     1,
     4,
     4,
     {0, 0, 0},
     {.operation = {.beta = 1}, .sides = SIX(.5)},
     0.15,
     sines,
     sines_right},
};

static void converge(gab_world *world, const equation *of)
{
  double errors[3], factor = 0;
  const gab_rank ranks = gab_world_members(world)->ranks;
  const bool is_singular = of->periodic[0] && of->periodic[1];
  for (int i = 0; i < 3; i++) {
    setup it;
    make(world, &it, of, 1 << i, of->finest, ranks);
    const gab_elliptic_result result = solve(&it);
    factor = result.factor;
    errors[i] = error_of(&it, is_singular);
    destroy(&it);
  }
  const double order = log2(errors[1] / errors[2]);
  if (gab_world_is_root(world))
    printf("%-52s errors %.3g, %.3g, %.3g, order %.3f, factor %.4f\n", of->name, errors[0], errors[1],
           errors[2], order, factor);
  CHECK(order > 1.8 && order < 2.2);
  CHECK(factor < of->most_factor);
}

/* ---------------------------------------------------------------- bits, conservation, misuse */

static uint64_t checksum_of(gab_world *world, const equation *of, int32_t finer, int deepest, gab_rank ranks)
{
  uint64_t sum;
  setup it;
  make(world, &it, of, finer, deepest, ranks);
  (void)solve(&it);
  REQUIRE_OK(gab_forest_checksum(it.forest, &sum));
  destroy(&it);
  return sum;
}

/* For any owners, and on one process. */
static void has_the_same_bits(gab_world *world, const equation *of)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  REQUIRE(checksum_of(world, of, 2, of->finest, ranks) == checksum_of(world, of, 2, of->finest, 1));
}

/* The difference from the solution of V-cycles, relative to its largest value, is about the tolerance. */
static void is_found_by_bicgstab(gab_world *world, const equation *of)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  equation by = *of;
  setup cycles, krylov;
  gab_norms norms;
  by.options.method = GAB_ELLIPTIC_BICGSTAB_MULTIGRID;
  make(world, &cycles, of, 1, of->finest, ranks);
  make(world, &krylov, &by, 1, of->finest, ranks);
  const gab_elliptic_result given = solve(&cycles), found = solve(&krylov);
  for (size_t i = 0; i < gab_forest_block_count(krylov.forest); i++) {
    gab_field *field = gab_block_data(gab_forest_block(krylov.forest, i), krylov.data),
              *other = gab_block_data(gab_forest_block(cycles.forest, i), cycles.data);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < field->shape.cells[1]; y++)
        for (int32_t x = 0; x < field->shape.cells[0]; x++)
          gab_field_set(field, x, y, z, EXACT,
                        gab_field_get(field, x, y, z, U) - gab_field_get(other, x, y, z, U));
  }
  REQUIRE_OK(gab_forest_norms(krylov.forest, part(&krylov, EXACT), &norms));
  if (gab_world_is_root(world))
    printf("%-52s %d V-cycles, or %d iterations of BiCGStab, apart by %.3g\n", of->name, given.iterations,
           found.iterations, norms.max);
  CHECK(norms.max > 0 && norms.max < 1e-8);
  CHECK(found.iterations > 0 && 2 * found.iterations <= given.iterations + 2);
  destroy(&krylov);
  destroy(&cycles);
  REQUIRE(checksum_of(world, &by, 1, of->finest, ranks) == checksum_of(world, &by, 1, of->finest, 1));
}

/* Levels without blocks change nothing, if more than 4096 cells are left. */
static void is_that_of_one_level(gab_world *world)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  equation one = equations[1], two = equations[1];
  one.finest = 0;
  REQUIRE(checksum_of(world, &one, 4, 0, ranks) == checksum_of(world, &two, 4, 0, ranks));
  two.finest = 1;
  REQUIRE(checksum_of(world, &equations[1], 4, 1, ranks) == checksum_of(world, &two, 4, 1, ranks));
}

static double volume_sum(setup *it, int component)
{
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    const gab_field *field = gab_block_data(block, it->data);
    const double volume = ldexp(1, -2 * gab_block_level(it->forest, block));
    for (int32_t y = 0; y < field->shape.cells[1]; y++)
      for (int32_t x = 0; x < field->shape.cells[0]; x++)
        gab_exact_add(&sum, volume * gab_field_get(field, x, y, 0, component));
  }
  REQUIRE_OK(gab_world_sum_exact(gab_forest_world(it->forest), &sum, 1));
  return gab_exact_value(&sum);
}

static void apply_diffusion(const gab_elliptic_cells *at)
{
  apply_coefficient(at, 1, &(coefficient){0.01, {wave, moved_wave}});
}

/* u - beta Laplace(u) = f, or u - div(k grad u) = f, without sides: the volume sums of u and f are equal. */
static void conserves(gab_world *world, gab_elliptic_operator operation, double tolerance)
{
  setup it;
  equation diffusion = equations[3];
  diffusion.options.operation = operation;
  diffusion.options.tolerance = tolerance;
  diffusion.right = bump_right;
  make(world, &it, &diffusion, 1, diffusion.finest, gab_world_members(world)->ranks);
  for (size_t i = 0; i < gab_forest_block_count(it.forest); i++) {
    gab_field *field = gab_block_data(gab_forest_block(it.forest, i), it.data);
    for (int32_t y = 0; y < field->shape.cells[1]; y++)
      for (int32_t x = 0; x < field->shape.cells[0]; x++)
        gab_field_set(field, x, y, 0, F, 1 + gab_field_get(field, x, y, 0, F));
  }
  (void)solve(&it);
  const double given = volume_sum(&it, F), found = volume_sum(&it, U);
  if (gab_world_is_root(world)) printf("sums %.17g and %.17g\n", given, found);
  CHECK(given > 100 && fabs(found / given - 1) < tolerance);
  destroy(&it);
}

static void refuses(gab_world *world)
{
  gab_forest *forest;
  const gab_forest_options grid = {
      .grid = {2, {4, 4, 1}}, .periodic = {true, true, false}, .cells = {12, 12, 1}, .dx = 1};
  REQUIRE_OK(gab_forest_create(world, &grid, &forest));
  refuse(forest, (gab_elliptic_options){.operation = {.beta = 1}, .finest = 9}, GAB_ERR_ARGUMENT,
         "finest level 9");
  refuse(forest, (gab_elliptic_options){.operation = {.beta = 1}, .finest = 3}, GAB_ERR_INPUT,
         "a multiple of 8");
  refuse(forest,
         (gab_elliptic_options){.operation = {.beta = 1}, .method = GAB_ELLIPTIC_CONJUGATE, .finest = 1},
         GAB_ERR_ARGUMENT, "use BiCGStab with a V-cycle");
  gab_forest_destroy(&forest);
}

/* A block on a level that the solver lacks ends the run on all ranks. */
static void ends_on_a_deeper_level(gab_world *world)
{
  setup it;
  gab_status request;
  equation shallow = equations[1];
  shallow.finest = 1;
  make(world, &it, &shallow, 1, 2, gab_world_members(world)->ranks);
  /* all have their blocks; the fault may arrive while some ranks are still in the barrier */
  (void)gab_world_barrier(world);
  REQUIRE(gab_elliptic_solve(it.elliptic, part(&it, F), part(&it, U), NULL) == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &request));
  REQUIRE(request == GAB_ERR_STATE && strstr(gab_error_message(), "up to level 1"));
  destroy(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (size_t i = 0; i < sizeof equations / sizeof equations[0]; i++) {
    converge(world, &equations[i]);
    has_the_same_bits(world, &equations[i]);
    if (equations[i].options.operation.apply) is_found_by_bicgstab(world, &equations[i]);
  }
  is_that_of_one_level(world);
  conserves(world, (gab_elliptic_operator){.alpha = 1, .beta = 0.01}, 1e-13);
  conserves(world, (gab_elliptic_operator){.apply = apply_diffusion}, 1e-12);
  refuses(world);
  ends_on_a_deeper_level(world);
  return test_end(&world);
}
