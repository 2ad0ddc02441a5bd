/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=120 threads=2 needs=ulfm */
/* Elliptic solvers on blocks (blockforest/elliptic/elliptic.h). Solutions converge to exact ones with second order,
 * in 2D and 3D: for values and gradients at sides, periodic axes, singular operators and a user-defined operator with
 * a variable coefficient. A V-cycle reduces the residual to 0.15 or less, for any size and for blocks with odd
 * numbers of cells. Results have the same bits for any owners of the blocks. Dot products and norms are exact.
 * Invalid arguments are refused. */
#include "tests/blockforest/elliptic/elliptic_setup.h"

/* An equation with its solution. */
typedef struct equation {
  const char *name;
  int dimension;
  int32_t roots, cells; /* of the coarsest grid, per axis */
  bool periodic[3];
  gab_elliptic_options options;
  double (*exact)(const double at[3]);
  double (*right)(const struct equation *this, const double at[3]);
} equation;

/* @param[in] finer  factor of the number of blocks */
static void make(gab_world *world, setup *it, const equation *of, int32_t finer, gab_rank ranks)
{
  const int32_t deep = of->dimension == 3, roots = of->roots * finer;
  const gab_forest_options options = {.grid = {of->dimension, {roots, roots, deep ? roots : 1}},
                                      .periodic = {of->periodic[0], of->periodic[1], of->periodic[2]},
                                      .cells = {of->cells, of->cells, deep ? of->cells : 1},
                                      .dx = 1. / (roots * of->cells)};
  *it = (setup){.field = {.shape = {.cells = {of->cells, of->cells, deep ? of->cells : 1},
                                    .ghosts = {1, 1, deep},
                                    .components = COMPONENTS}}};
  const gab_block_data_kind data = gab_block_field_data(&it->field, "equation");
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &data, &it->data));
  REQUIRE_OK(gab_elliptic_create(it->forest, &of->options, &it->elliptic));
  REQUIRE_OK(gab_forest_build(it->forest, NULL, NULL, 0, blocks_in_turn, &ranks, NULL));
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    gab_field *field = gab_block_data(block, it->data);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < field->shape.cells[1]; y++)
        for (int32_t x = 0; x < field->shape.cells[0]; x++) {
          double at[3];
          gab_block_cell_centre(it->forest, block, x, y, z, at);
          gab_field_set(field, x, y, z, F, of->right(of, at));
          gab_field_set(field, x, y, z, EXACT, of->exact(at));
        }
  }
}

/* The largest error. */
static double error_of(setup *it)
{
  gab_norms norms;
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    gab_field *field = gab_block_data(gab_forest_block(it->forest, i), it->data);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < field->shape.cells[1]; y++)
        for (int32_t x = 0; x < field->shape.cells[0]; x++)
          gab_field_set(field, x, y, z, EXACT,
                        gab_field_get(field, x, y, z, EXACT) - gab_field_get(field, x, y, z, U));
  }
  REQUIRE_OK(gab_forest_norms(it->forest, part(it, EXACT), &norms));
  return norms.max;
}

/* ---------------------------------------------------------------- equations */

static double sines(const double at[3]) { return 0.5 + sin(PI * at[0]) * sin(PI * at[1]) * sin(PI * at[2]); }
static double sines_right(const equation *this, const double at[3])
{
  const gab_elliptic_operator *a = &this->options.operation;
  return a->alpha * sines(at) + a->beta * 3 * PI * PI * (sines(at) - 0.5);
}

static double channel(const double at[3]) { return at[0] * at[0] + sin(2 * PI * at[1]); }
static double channel_right(const equation *this, const double at[3])
{
  const gab_elliptic_operator *a = &this->options.operation;
  return a->alpha * channel(at) - a->beta * (2 - 4 * PI * PI * sin(2 * PI * at[1]));
}

/* 1 at the upper side in x, zero gradient at the lower one. */
static double ramp(const double at[3]) { return at[0] * at[0] + (1 - at[0] * at[0]) * sin(2 * PI * at[1]); }
static double ramp_right(const equation *this, const double at[3])
{
  const double y = sin(2 * PI * at[1]);
  return -this->options.operation.beta * (2 - 2 * y - 4 * PI * PI * (1 - at[0] * at[0]) * y);
}

static double waves(const double at[3]) { return sin(2 * PI * at[0]) * cos(4 * PI * at[1]); }
static double waves_right(const equation *this, const double at[3])
{
  return this->options.operation.beta * 20 * PI * PI * waves(at) + 7; /* a mean without a solution */
}

/* -d/dx(k du/dx) - d/dy(k du/dy) with k = 1 + x/2 and u = sin(pi x) sin(pi y), zero at all sides. */
static double k_at(double x) { return 1 + 0.5 * x; }
static double plane(const double at[3]) { return sin(PI * at[0]) * sin(PI * at[1]); }
static double plane_right(const equation *this, const double at[3])
{
  (void)this;
  return 2 * PI * PI * k_at(at[0]) * plane(at) - 0.5 * PI * cos(PI * at[0]) * sin(PI * at[1]);
}

static void conduct(const gab_elliptic_cells *at)
{
  const double scale = 1 / (at->width * at->width);
  REQUIRE(*(const int *)at->user == 42);
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double left = at->origin[0] + x * at->width, middle = left + at->width / 2;
      const double low = scale * k_at(left), high = scale * k_at(left + at->width),
                   side = scale * k_at(middle);
      const double centre = low + high + 2 * side;
      if (at->diagonal) {
        gab_field_set(at->diagonal, x, y, 0, 0, centre);
        continue;
      }
      const double around =
          low * gab_field_get(at->u, x - 1, y, 0, 0) + high * gab_field_get(at->u, x + 1, y, 0, 0) +
          side * (gab_field_get(at->u, x, y - 1, 0, 0) + gab_field_get(at->u, x, y + 1, 0, 0));
      gab_field_set(at->out, x, y, 0, 0, centre * gab_field_get(at->u, x, y, 0, 0) - around);
    }
}

static int answer = 42;

static const equation equations[] = {
    {"Poisson, values, in space",
     3,
     2,
     8,
     {0, 0, 0},
     {.operation = {.beta = 1}, .sides = {VALUE(.5), VALUE(.5), VALUE(.5), VALUE(.5), VALUE(.5), VALUE(.5)}},
     sines,
     sines_right},
    {"implicit diffusion, gradients and periodic, in the plane",
     2,
     2,
     8,
     {0, 1, 0},
     {.operation = {.alpha = 3, .beta = 0.7}, .sides = {GRADIENT(0), GRADIENT(2)}},
     channel,
     channel_right},
    {"Poisson, value and gradient",
     2,
     2,
     8,
     {0, 1, 0},
     {.operation = {.beta = 2}, .sides = {GRADIENT(0), VALUE(1)}},
     ramp,
     ramp_right},
    {"Poisson, periodic", 2, 2, 16, {1, 1, 0}, {.operation = {.beta = 1}}, waves, waves_right},
    {"blocks of odd numbers of cells", 2, 4, 5, {1, 1, 0}, {.operation = {.beta = 1}}, waves, waves_right},
    {"a coefficient that varies",
     2,
     2,
     8,
     {0, 0, 0},
     {.operation = {.apply = conduct, .user = &answer}},
     plane,
     plane_right},
};

static void converge(gab_world *world, const equation *of, gab_elliptic_method method)
{
  double errors[3], factor = 0;
  const gab_rank ranks = gab_world_members(world)->ranks;
  equation with = *of;
  with.options.method = method;
  for (int i = 0; i < 3; i++) {
    setup it;
    make(world, &it, &with, 1 << i, ranks);
    const gab_elliptic_result result = solve(&it);
    factor = result.factor;
    errors[i] = error_of(&it);
    destroy(&it);
  }
  const double order = log2(errors[1] / errors[2]);
  if (gab_world_is_root(world))
    printf("%-60s method %d: errors %.3g %.3g %.3g, order %.3f, factor %.4f\n", of->name, (int)method,
           errors[0], errors[1], errors[2], order, factor);
  REQUIRE(order > 1.9 && order < 2.1);
  if (method == GAB_ELLIPTIC_MULTIGRID) REQUIRE(factor < 0.15);
}

/* ---------------------------------------------------------------- bits, reductions, misuse */

/* The same bits for any owners, and on one process: `alone' puts all blocks on rank 0. */
static void has_the_same_bits(gab_world *world, const equation *of, gab_elliptic_method method)
{
  uint64_t sums[2];
  equation with = *of;
  with.options.method = method;
  for (int alone = 0; alone < 2; alone++) {
    setup it;
    make(world, &it, &with, 1, alone ? 1 : gab_world_members(world)->ranks);
    (void)solve(&it);
    REQUIRE_OK(gab_forest_checksum(it.forest, &sums[alone]));
    destroy(&it);
  }
  REQUIRE(sums[0] == sums[1]);
}

/* A second solve from the solution does nothing; a solve with another right-hand side iterates. */
static void starts_from_the_guess(gab_world *world)
{
  setup it;
  make(world, &it, &equations[0], 1, gab_world_members(world)->ranks);
  REQUIRE(solve(&it).iterations > 2);
  REQUIRE(solve(&it).iterations == 0);
  REQUIRE_OK(gab_elliptic_set(it.elliptic, 1, 1));
  REQUIRE(solve(&it).iterations > 0);
  destroy(&it);
}

static void says_what_it_does_not_reach(gab_world *world)
{
  setup it;
  equation hard = equations[0];
  hard.options.most = 1;
  make(world, &it, &hard, 1, gab_world_members(world)->ranks);
  REQUIRE(gab_elliptic_solve(it.elliptic, part(&it, F), part(&it, U), NULL) == GAB_ERR_DIVERGED);
  REQUIRE(strstr(gab_error_message(), "after 1 iterations"));
  destroy(&it);
  hard.options.most = 0;
  make(world, &it, &hard, 1, gab_world_members(world)->ranks);
  if (gab_forest_block_count(it.forest) > 0) {
    gab_field *field = gab_block_data(gab_forest_block(it.forest, 0), it.data);
    gab_field_set(field, 1, 1, 0, F, (double)NAN);
  }
  REQUIRE(gab_elliptic_solve(it.elliptic, part(&it, F), part(&it, U), NULL) == GAB_ERR_DIVERGED);
  destroy(&it);
}

static void refuses(gab_world *world)
{
  gab_forest *forest;
  const gab_forest_options grid = {
      .grid = {2, {1, 1, 1}}, .periodic = {true, true, false}, .cells = {1025, 1025, 1}, .dx = 1};
  REQUIRE_OK(gab_forest_create(world, &grid, &forest));
  refuse(forest, (gab_elliptic_options){.operation = {0}}, GAB_ERR_ARGUMENT, "not both 0");
  refuse(forest, (gab_elliptic_options){.operation = {.beta = -1}}, GAB_ERR_ARGUMENT, "beta -1");
  refuse(forest, (gab_elliptic_options){.operation = {.beta = 1}, .tolerance = 2}, GAB_ERR_ARGUMENT,
         "tolerance");
  refuse(forest, (gab_elliptic_options){.operation = {.beta = 1}, .sweeps = 9}, GAB_ERR_ARGUMENT, "9 sweeps");
  refuse(forest, (gab_elliptic_options){.operation = {.beta = 1}, .sides = {VALUE(NAN)}}, GAB_ERR_ARGUMENT,
         "side -x");
  refuse(forest, (gab_elliptic_options){.operation = {.beta = 1}}, GAB_ERR_INPUT, "use blocks of 2^n cells");
  gab_forest_destroy(&forest);
}

static bool all_but_one(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] != 16 || cells->lo[1] != 16;
}

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* A grid with a hole, or with a finer block, ends the run on all ranks. */
static void ends_on(gab_world *world, bool has_hole)
{
  gab_rank ranks = gab_world_members(world)->ranks;
  const gab_forest_options options = {.grid = {2, {4, 4, 1}},
                                      .periodic = {true, true, false},
                                      .cells = {16, 16, 1},
                                      .dx = 1. / 64,
                                      .exists = has_hole ? all_but_one : NULL};
  setup it = {.field = {.shape = {.cells = {16, 16, 1}, .ghosts = {1, 1, 0}, .components = COMPONENTS}}};
  const gab_block_data_kind data = gab_block_field_data(&it.field, "equation");
  gab_status request;
  REQUIRE_OK(gab_forest_create(world, &options, &it.forest));
  REQUIRE_OK(gab_forest_add_data(it.forest, &data, &it.data));
  REQUIRE_OK(gab_elliptic_create(it.forest, &equations[3].options, &it.elliptic));
  REQUIRE_OK(
      gab_forest_build(it.forest, has_hole ? NULL : refine_first, NULL, 1, blocks_in_turn, &ranks, NULL));
  /* all have their blocks; the fault may arrive while some ranks are still in the barrier */
  (void)gab_world_barrier(world);
  REQUIRE(gab_elliptic_solve(it.elliptic, part(&it, F), part(&it, U), NULL) == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &request));
  REQUIRE(request == GAB_ERR_STATE &&
          strstr(gab_error_message(), has_hole ? "without holes" : "up to level 0"));
  destroy(&it);
}

/* Values whose sum in doubles depends on the order: 1e16, 1, -1e16, repeated over the cells. */
static void reduces_exactly(gab_world *world)
{
  setup it;
  gab_norms norms;
  double dot, sum;
  make(world, &it, &equations[3], 1, gab_world_members(world)->ranks);
  for (size_t i = 0; i < gab_forest_block_count(it.forest); i++) {
    const gab_block *block = gab_forest_block(it.forest, i);
    const gab_box cells = gab_block_cells(it.forest, block);
    gab_field *field = gab_block_data(block, it.data);
    for (int32_t y = 0; y < 16; y++)
      for (int32_t x = 0; x < 16; x++) {
        const int64_t at = cells.lo[0] + x + 32 * (cells.lo[1] + y);
        gab_field_set(field, x, y, 0, F,
                      at % 3 == 0 && at != 1023 ? 1e16
                      : at % 3 == 1             ? 1
                      : at == 1023              ? 0
                                                : -1e16);
        gab_field_set(field, x, y, 0, U, 2);
      }
  }
  /* Each remainder has 341 of the numbers 0 to 1022; the value of 1023 is zero. */
  REQUIRE_OK(gab_forest_sum(it.forest, part(&it, F), &sum));
  REQUIRE(sum == 341);
  REQUIRE_OK(gab_forest_dot(it.forest, part(&it, F), part(&it, U), &dot));
  REQUIRE(dot == 682);
  REQUIRE_OK(gab_forest_norms(it.forest, part(&it, F), &norms));
  REQUIRE(norms.cells == 1024 && norms.sum == 341 && norms.one == 682 * 1e16 + 341);
  REQUIRE(norms.max == 1e16 && norms.lowest == -1e16 && norms.highest == 1e16);
  REQUIRE_OK(gab_forest_norms(it.forest, part(&it, U), &norms));
  REQUIRE(norms.two == 64 && norms.lowest == 2 && norms.highest == 2 && norms.max == 2);
  destroy(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (size_t i = 0; i < sizeof equations / sizeof equations[0]; i++) {
    converge(world, &equations[i], GAB_ELLIPTIC_MULTIGRID);
    has_the_same_bits(world, &equations[i], GAB_ELLIPTIC_MULTIGRID);
    if (equations[i].dimension == 2) has_the_same_bits(world, &equations[i], GAB_ELLIPTIC_CONJUGATE);
  }
  converge(world, &equations[1], GAB_ELLIPTIC_CONJUGATE);
  converge(world, &equations[5], GAB_ELLIPTIC_CONJUGATE);
  starts_from_the_guess(world);
  says_what_it_does_not_reach(world);
  refuses(world);
  reduces_exactly(world);
  ends_on(world, true);
  ends_on(world, false);
  return test_end(&world);
}
