/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=3 timeout=60 */
/* gabion-test: np=2 env=GABION_TEST_OUTSIDE=1 */
/* Deposits of particles (blockforest/particles/particles.h). On one level each cell has, to the last bit, the sum of
 * a loop over all particles in the order of their ids; so the owners of blocks do not matter. A deposit is the
 * adjoint of interpolation. On several levels, at sides and next to places without a block no deposit is lost. Each
 * position is in one block of one process. */
#include "blockforest/particles/particles.h"

#include "blockforest/exchange/block_field.h"
#include "blockforest/forest/position.h"
#include "core/messages/collective.h"
#include "tests/blockforest/particles/particles_common.h"

#include <math.h>

enum { COUNT = 900, CELLS = 8, ROOTS = 4, SIDE = CELLS * ROOTS };

typedef struct dot {
  gab_particle base;
  double amount[2];
} dot;

typedef struct box {
  gab_forest *forest;
  gab_particles *dots;
  gab_block_field field;
  gab_data_id data;
  int dimension;
  bool periodic;
  dot all[COUNT]; /* by id */
} box;

static double draw(uint64_t what, uint64_t which) { return gab_hash_uniform(11, what, which); }

/* A root block is missing. */
static bool has_a_hole(void *user, int level, const gab_box *cells)
{
  (void)user;
  const int64_t lo = CELLS << level, hi = 2 * CELLS << level;
  return !(cells->lo[0] >= lo && cells->hi[0] <= hi && cells->lo[1] >= lo && cells->hi[1] <= hi);
}

static void make(gab_world *world, box *it, int dimension, bool periodic, bool levels, bool hole)
{
  gab_rank ranks = gab_world_members(world)->ranks;
  const int32_t deep = dimension == 3;
  const gab_forest_options options = {.grid = {dimension, {ROOTS, ROOTS, deep ? ROOTS : 1}},
                                      .periodic = {periodic, periodic, periodic && deep},
                                      .cells = {CELLS, CELLS, deep ? CELLS : 1},
                                      .exists = hole ? has_a_hole : NULL,
                                      .origin = {-0.3, 0.2, 1},
                                      .dx = 1. / SIDE};
  *it = (box){.dimension = dimension, .periodic = periodic};
  it->field.shape =
      (gab_field_shape){.cells = {CELLS, CELLS, deep ? CELLS : 1}, .ghosts = {1, 1, deep}, .components = 3};
  const gab_block_data_kind kind = gab_block_field_data(&it->field, "sums");
  int32_t all_cells = 4 * CELLS;
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &kind, &it->data));
  REQUIRE_OK(gab_particles_create(it->forest, &(gab_particle_kind){"dots", sizeof(dot)}, &it->dots));
  REQUIRE_OK(gab_forest_build(it->forest, levels ? around_the_middle : NULL, &all_cells, 2, blocks_in_turn,
                              &ranks, NULL));
  for (uint64_t i = 0; i < COUNT; i++) {
    dot *one = &it->all[i];
    *one = (dot){.base = {.id = i}, .amount = {draw(5, i) - 0.3, 1 + draw(6, i)}};
    for (int axis = 0; axis < dimension; axis++) {
      double part = draw(1 + (uint64_t)axis, i);
      if (i % 5 == 0) part = floor(part * ROOTS) / ROOTS + 0.4 / SIDE; /* near borders of blocks */
      if (hole && axis == 1 && part < 0.5) part += 0.5;
      one->base.at[axis] = options.origin[axis] + part;
    }
    REQUIRE_OK(gab_particles_add(it->dots, one, NULL));
  }
}

static void destroy(box *it)
{
  gab_particles_destroy(&it->dots);
  gab_forest_destroy(&it->forest);
}

static void amounts_of(void *user, const void *record, double *amounts)
{
  *(bool *)user = true;
  memcpy(amounts, ((const dot *)record)->amount, sizeof((const dot *)record)->amount);
}

static void deposit(box *it)
{
  bool called = false;
  const gab_status status = gab_particles_deposit(it->dots, it->data, 1, 2, amounts_of, &called);
  REQUIRE_OK(status);
}

/* ---------------------------------------------------------------- one level: bit by bit */

static int64_t into(const box *it, int64_t cell)
{
  if (it->periodic) return (cell + SIDE) % SIDE;
  return cell < 0 ? 0 : cell >= SIDE ? SIDE - 1 : cell;
}

/* Result of a loop over all particles. */
static void add_in_order(const box *it, double *sums)
{
  const double *origin = gab_forest_get_options(it->forest)->origin;
  for (int i = 0; i < COUNT; i++)
    for (int corner = 0; corner < 1 << it->dimension; corner++) {
      double weight = 1;
      int64_t cell[3] = {0, 0, 0};
      for (int axis = 0; axis < it->dimension; axis++) {
        const double place = (it->all[i].base.at[axis] - origin[axis]) / (1. / SIDE) - 0.5;
        const double low = floor(place), share = place - low;
        const int upper = corner >> axis & 1;
        cell[axis] = into(it, (int64_t)low + upper);
        weight *= upper ? share : 1 - share;
      }
      for (int k = 0; k < 2; k++)
        sums[2 * ((cell[2] * SIDE + cell[1]) * SIDE + cell[0]) + k] += weight * it->all[i].amount[k];
    }
}

static void compare(const box *it, const double *sums)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_box cells = gab_block_cells(it->forest, block);
    const gab_field *field = gab_block_data(block, it->data);
    for (int64_t z = cells.lo[2]; z < cells.hi[2]; z++)
      for (int64_t y = cells.lo[1]; y < cells.hi[1]; y++)
        for (int64_t x = cells.lo[0]; x < cells.hi[0]; x++)
          for (int k = 0; k < 2; k++)
            REQUIRE(gab_field_get(field, (int32_t)(x - cells.lo[0]), (int32_t)(y - cells.lo[1]),
                                  (int32_t)(z - cells.lo[2]),
                                  1 + k) == sums[2 * ((z * SIDE + y) * SIDE + x) + k]);
  }
}

static void equals_a_loop(gab_world *world, int dimension, bool periodic)
{
  static box it;
  static double sums[2 * SIDE * SIDE * SIDE];
  memset(sums, 0, sizeof sums);
  make(world, &it, dimension, periodic, false, false);
  add_in_order(&it, sums);
  deposit(&it);
  compare(&it, sums);
  destroy(&it);
}

/* ---------------------------------------------------------------- nothing is lost */

static void conserves(gab_world *world, int dimension, bool periodic, bool levels, bool hole)
{
  static box it;
  double sums[2] = {0, 0};
  gab_exact_sum cells[2], dots[2];
  for (int k = 0; k < 2; k++) {
    gab_exact_clear(&cells[k]);
    gab_exact_clear(&dots[k]);
  }
  make(world, &it, dimension, periodic, levels, hole);
  deposit(&it);
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const gab_field *field = gab_block_data(block, it.data);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < CELLS; y++)
        for (int32_t x = 0; x < CELLS; x++)
          for (int k = 0; k < 2; k++) gab_exact_add(&cells[k], gab_field_get(field, x, y, z, 1 + k));
  }
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < 2; k++) gab_exact_add(&dots[k], it.all[i].amount[k]);
  for (int k = 0; k < 2; k++) {
    REQUIRE_OK(gab_world_sum_exact(world, &cells[k], 1));
    sums[k] = gab_exact_value(&cells[k]);
    REQUIRE(fabs(sums[k] - gab_exact_value(&dots[k])) < 1e-12 * COUNT);
  }
  destroy(&it);
}

/* ---------------------------------------------------------------- the adjoint */

static double wave(const double at[3]) { return sin(6 * at[0]) * cos(5 * at[1]) + at[2]; }

static void is_adjoint(gab_world *world)
{
  static box it;
  double sums[2] = {0, 0};
  make(world, &it, 3, true, false, false);
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&it.field);
  gab_exchange *exchange;
  REQUIRE_OK(gab_exchange_create(it.forest, it.data, &ghosts, &exchange));
  deposit(&it);
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    gab_field *field = gab_block_data(block, it.data);
    for (int32_t z = 0; z < CELLS; z++)
      for (int32_t y = 0; y < CELLS; y++)
        for (int32_t x = 0; x < CELLS; x++) {
          double at[3];
          gab_block_cell_centre(it.forest, block, x, y, z, at);
          gab_field_set(field, x, y, z, 0, wave(at));
          sums[0] += wave(at) * gab_field_get(field, x, y, z, 1);
        }
  }
  REQUIRE_OK(gab_exchange_start(exchange));
  REQUIRE_OK(gab_exchange_finish(exchange));
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    size_t count;
    const dot *dots = gab_particles_of(it.dots, block, &count);
    for (size_t i = 0; i < count; i++)
      sums[1] += dots[i].amount[0] *
                 gab_field_interpolate(it.forest, block, gab_block_data(block, it.data), 0, dots[i].base.at);
  }
  gab_exact_sum exact[2];
  for (int k = 0; k < 2; k++) {
    gab_exact_clear(&exact[k]);
    gab_exact_add(&exact[k], sums[k]);
    REQUIRE_OK(gab_world_sum_exact(world, &exact[k], 1));
  }
  REQUIRE(fabs(gab_exact_value(&exact[0]) - gab_exact_value(&exact[1])) < 1e-10);
  gab_exchange_destroy(&exchange);
  destroy(&it);
}

/* ---------------------------------------------------------------- positions */

static void finds_blocks(gab_world *world)
{
  static box it;
  make(world, &it, 2, true, true, false);
  for (int i = 0; i < COUNT; i++) {
    uint64_t found = 0;
    double at[3] = {it.all[i].base.at[0] + (double)(i % 5 - 2), it.all[i].base.at[1] - (double)(i % 2), 0};
    REQUIRE(gab_forest_wrap(it.forest, at));
    REQUIRE(fabs(at[0] - it.all[i].base.at[0]) < 1e-14 && fabs(at[1] - it.all[i].base.at[1]) < 1e-14);
    const gab_block *block = gab_forest_block_at(it.forest, it.all[i].base.at);
    for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
      const gab_block *other = gab_forest_block(it.forest, b);
      const gab_box cells = gab_block_cells(it.forest, other);
      const bool has =
          gab_cells_contain(it.forest, gab_block_level(it.forest, other), &cells, it.all[i].base.at);
      const gab_neighbour *row = gab_block_neighbour_at(it.forest, other, it.all[i].base.at);
      REQUIRE(has == (other == block));
      if (row && row->owner == gab_world_rank(world)) REQUIRE(gab_forest_find(it.forest, row->id) == block);
      found += has;
    }
    REQUIRE_OK(gab_world_sum_u64(world, &found, 1));
    REQUIRE(found == 1);
  }
  destroy(&it);
  make(world, &it, 2, false, false, false);
  REQUIRE(!gab_forest_wrap(it.forest, (double[3]){-0.31, 0.5, 0}));
  REQUIRE(!gab_forest_wrap(it.forest, (double[3]){NAN, 0.5, 0}));
  REQUIRE(!gab_forest_block_at(it.forest, (double[3]){0.7, 0.5, 0})); /* the upper end is outside */
  destroy(&it);
}

/* ---------------------------------------------------------------- misuse */

/* A record outside of its block, without a move. */
static void refuses(gab_world *world, bool outside)
{
  static box it;
  bool called = false;
  make(world, &it, 2, true, false, false);
  size_t count = 0;
  dot *dots = outside ? gab_particles_of(it.dots, gab_forest_block(it.forest, 0), &count) : NULL;
  for (size_t i = 0; i < count; i++) dots[i].base.at[0] += 0.3;
  /* all have their blocks; the fault may arrive while some ranks are still in the barrier */
  (void)gab_world_barrier(world);
  const gab_status status = gab_particles_deposit(it.dots, it.data, outside ? 1 : 2, 2, amounts_of, &called);
  REQUIRE(status == GAB_ERR_ARGUMENT || status == GAB_ERR_FAULT);
  destroy(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int periodic = 0; periodic < 2; periodic++) {
      equals_a_loop(world, dimension, periodic);
      conserves(world, dimension, periodic, true, false);
    }
  conserves(world, 2, false, false, true);
  is_adjoint(world);
  finds_blocks(world);
  if (test_may_break(world)) refuses(world, getenv("GABION_TEST_OUTSIDE") != NULL);
  return test_end(&world);
}
