/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=1 timeout=100 */
/* Borders between levels, in a melt, with blocks of three levels and corners both ways: a uniform state stays uniform
 * to the bit; diffusion conserves to rounding and is of second order, for any owners. Steep mu makes cells small,
 * interfaces keep them small. */
#include "tests/phasefield/levels/levels_common.h"

#include "core/messages/collective.h"

static const double pi = 3.14159265358979323846;

/* Fine where two boxes are, which share a corner region; fractions of the domain. */
static gab_mark mark_boxes(void *user, int level, const gab_box *cells)
{
  const phase_case *given = user;
  static const double boxes[2][3][2] = {{{.25, .5}, {.25, .5}, {.25, .75}}, {{.4, .7}, {.45, .8}, {0, .5}}};
  for (int b = 0; b < 2; b++) {
    bool meets = true;
    for (int axis = 0; axis < given->dimension; axis++) {
      const double all = ldexp(given->cells[axis], level - given->options.levels);
      meets = meets && (double)cells->lo[axis] < boxes[b][axis][1] * all &&
              (double)cells->hi[axis] > boxes[b][axis][0] * all;
    }
    if (meets) return GAB_MARK_REFINE;
  }
  return GAB_MARK_KEEP;
}

static void melt(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const phase_case *given = user;
  (void)cell, (void)mu;
  phi[given->options.thermo.phases - 1] = 1;
}

static double wave_number(const phase_case *given, int axis)
{
  return (axis == given->dimension - 1 ? 1 : 2) * pi / (given->cells[axis] * given->dx);
}

static double wave(const phase_case *given, const double place[3], double time)
{
  double value = 1, square = 0;
  for (int axis = 0; axis < given->dimension; axis++) {
    const double k = wave_number(given, axis);
    value *= cos(k * place[axis] + (axis < given->dimension - 1));
    square += k * k;
  }
  return value * exp(-square * time);
}

static void wavy_melt(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const phase_case *given = user;
  double place[3];
  melt(user, cell, phi, mu);
  for (int axis = 0; axis < 3; axis++) place[axis] = ((double)cell[axis] + 0.5) * given->dx;
  mu[0] = wave(given, place, 0);
}

static void noisy_melt(void *user, const int64_t cell[3], double *phi, double *mu)
{
  melt(user, cell, phi, mu);
  mu[0] += noise(3, cell);
}

/* Unit diffusion in a melt of one independent component; the length of the domain is 1 along x. */
static phase_case melt_case(int dimension, int32_t block, gab_phasefield_initial_fn initial)
{
  phase_case given = {
      .dimension = dimension, .cells = {block * 16, block * 16, block * 16}, .block = {block, block, block}};
  if (dimension == 2) given.cells[2] = given.block[2] = 1;
  given.dx = 1. / given.cells[0];
  given.options =
      (gab_phasefield_options){.thermo = simple_system(2, 0.5, 0), .initial = initial, .levels = 2};
  given.options.epsilon = 4 * given.dx;
  given.options.dt = (dimension == 2 ? 0.2 : 0.15) * given.dx * given.dx;
  equal_interfaces(&given.options, 1, 1);
  for (int side = 2 * dimension - 2; side < 6; side++) given.options.sides[side].kind = GAB_PHASEFIELD_CLOSED;
  return given;
}

static phase_run open_boxes(gab_world *world, phase_case *given)
{
  given->options.initial_user = given;
  phase_run made = levels_create(world, given);
  uint64_t blocks[GAB_PHASEFIELD_MOST_LEVELS + 1];
  REQUIRE_OK(gab_forest_build(made.forest, mark_boxes, given, 2, gab_balance_distribute, NULL, NULL));
  levels_count(&made, blocks);
  REQUIRE(blocks[0] > 0 && blocks[1] > 0 && blocks[2] > 0);
  return made;
}

static void stays_uniform(gab_world *world, int dimension)
{
  phase_case given = melt_case(dimension, 4, melt);
  given.options.mu[0] = 0.7371;
  phase_run it = open_boxes(world, &given);
  const uint64_t before = levels_checksum(&it);
  phase_steps(&it, 20);
  REQUIRE(levels_checksum(&it) == before);
  phase_close(&it);
}

/* Without an interface all merge, whatever neighbouring cells have. */
static void merging_conserves(phase_run *it, double content)
{
  const gab_phasefield_grid grid = {.margin = 2, .steepest = 100, .distribute = gab_balance_distribute};
  uint64_t blocks[GAB_PHASEFIELD_MOST_LEVELS + 1];
  gab_adapt_report report;
  do REQUIRE_OK(gab_phasefield_adapt(it->model, &grid, &report));
  while (report.changed);
  levels_count(it, blocks);
  REQUIRE(blocks[0] > 0 && blocks[1] == 0 && blocks[2] == 0);
  REQUIRE(fabs(phase_sums(it).content[0] - content) < 1e-14 * content);
}

static void is_conserved(gab_world *world, int dimension)
{
  phase_case given = melt_case(dimension, 4, noisy_melt);
  phase_run it = open_boxes(world, &given);
  const gab_phasefield_integrals before = phase_sums(&it);
  const uint64_t state = levels_checksum(&it);
  phase_steps(&it, 100);
  const gab_phasefield_integrals after = phase_sums(&it);
  REQUIRE(levels_checksum(&it) != state);
  REQUIRE(before.cells == (double)given.cells[0] * given.cells[1] * given.cells[2] &&
          before.content[0] > 0.3 * before.cells);
  REQUIRE(fabs(after.content[0] - before.content[0]) < 1e-14 * before.content[0]);
  merging_conserves(&it, after.content[0]);
  phase_close(&it);
}

/* The largest difference from the solution. */
static double error_of(gab_world *world, int dimension, int32_t block, double time)
{
  phase_case given = melt_case(dimension, block, wavy_melt);
  phase_run it = open_boxes(world, &given);
  const int64_t steps = (int64_t)ceil(time / given.options.dt);
  double most = 0;
  phase_steps(&it, steps);
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *place = gab_forest_block(it.forest, b);
    const gab_phasefield_view view = gab_phasefield_look(it.model, place);
    const int32_t *cells = view.mu->shape.cells;
    for (int32_t z = 0; z < cells[2]; z++)
      for (int32_t y = 0; y < cells[1]; y++)
        for (int32_t x = 0; x < cells[0]; x++) {
          double centre[3];
          gab_block_cell_centre(it.forest, place, x, y, z, centre);
          most = fmax(most, fabs(gab_field_get(view.mu, x, y, z, 0) -
                                 wave(&given, centre, (double)steps * given.options.dt)));
        }
  }
  uint64_t bits = (uint64_t)(most * 0x1p60);
  REQUIRE_OK(gab_world_max_u64(world, &bits, 1));
  phase_close(&it);
  return (double)bits * 0x1p-60;
}

static void is_of_second_order(gab_world *world, int dimension, int32_t block, double time)
{
  const double coarse = error_of(world, dimension, block, time),
               fine = error_of(world, dimension, 2 * block, time);
  if (getenv("SHOW"))
    printf("%d dimensions: %g %g: order %.2f\n", dimension, coarse, fine, log2(coarse / fine));
  REQUIRE(fine < 0.01 && log2(coarse / fine) > 1.85);
}

/* Where mu is steep cells become small, where it is flat they become wide again. */
static void steepness_counts(gab_world *world)
{
  phase_case given = melt_case(2, 4, wavy_melt);
  gab_phasefield_grid grid = {.margin = 2, .steepest = 0.2, .distribute = gab_balance_distribute};
  uint64_t blocks[GAB_PHASEFIELD_MOST_LEVELS + 1];
  gab_adapt_report report;
  given.options.initial_user = &given;
  phase_run it = levels_open(world, &given, &grid);
  levels_count(&it, blocks);
  REQUIRE(blocks[0] == 16 && blocks[1] == 0);
  const double before = phase_sums(&it).content[0];
  do REQUIRE_OK(gab_phasefield_adapt(it.model, &grid, &report));
  while (report.changed);
  levels_count(&it, blocks);
  REQUIRE(blocks[0] > 0 && blocks[0] < 16 && blocks[1] > 0);
  REQUIRE(fabs(phase_sums(&it).content[0] - before) < 1e-14 * given.cells[0] * given.cells[1]);
  grid.steepest = 100;
  do REQUIRE_OK(gab_phasefield_adapt(it.model, &grid, &report));
  while (report.changed);
  levels_count(&it, blocks);
  REQUIRE(blocks[0] == 16);
  REQUIRE(fabs(phase_sums(&it).content[0] - before) < 1e-14 * given.cells[0] * given.cells[1]);
  grid.margin = 3;
  REQUIRE(gab_phasefield_adapt(it.model, &grid, &report) == GAB_ERR_INPUT);
  phase_close(&it);
}

/* With an interface there is no coarse block, at the start or by merging. */
typedef struct plate {
  phase_case given;
  int64_t rows; /* solid */
} plate;

static void half_solid(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)mu;
  phi[cell[1] >= ((const plate *)user)->rows] = 1;
}

static gab_mark mark_nothing(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level, (void)cells;
  return GAB_MARK_KEEP;
}

static gab_status merge_all(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)user, (void)forest, (void)block;
  *mark = GAB_MARK_COARSEN;
  return GAB_OK;
}

static void interfaces_stay_fine(gab_world *world)
{
  plate at = {melt_case(2, 4, half_solid), 32};
  at.given.options.initial_user = &at;
  const gab_phasefield_grid grid = {.margin = 2, .distribute = gab_balance_distribute};
  phase_run it = levels_open(world, &at.given, &grid);
  phase_steps(&it, 2);
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *place = gab_forest_block(it.forest, b);
    const gab_box cells = gab_block_cells(it.forest, place);
    const int level = gab_block_level(it.forest, place);
    REQUIRE(level == 2 || cells.hi[1] << (2 - level) < 31 || cells.lo[1] << (2 - level) > 33);
  }
  phase_close(&it);
  if (gab_members_count(gab_world_members(world)) > 1) return; /* the following tests break the world */
  at.rows = 31;                                                /* not at a border of wide cells */
  it = levels_create(world, &at.given);
  REQUIRE(gab_forest_build(it.forest, mark_nothing, NULL, 2, gab_balance_distribute, NULL, NULL) != GAB_OK);
  gab_status abort_request;
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_ERR_STATE && strstr(gab_error_message(), "has an interface at the start"));
  phase_close(&it);
  it = levels_open(world, &at.given, &grid);
  const gab_adapt_options options = {.max_level = 2, .mark = merge_all, .distribute = gab_balance_distribute};
  REQUIRE(gab_forest_adapt(it.forest, &options, NULL) != GAB_OK);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_ERR_STATE && strstr(gab_error_message(), "cannot be merged"));
  phase_close(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++) {
    stays_uniform(world, dimension);
    is_conserved(world, dimension);
  }
  is_of_second_order(world, 2, 4, 0.01);
  is_of_second_order(world, 3, 4, 0.0005);
  steepness_counts(world);
  interfaces_stay_fine(world);
  return test_end(&world);
}
