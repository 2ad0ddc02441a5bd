/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=120 */
/* Ghosts between levels (blockforest/exchange/level_ghosts.h). A linear field has exact ghosts beyond every face, in
 * 2D and 3D, with several components, also on levels from random marks; a uniform field has them to the last bit.
 * Conduction of heat across borders of three levels conserves it, and converges to the exact solution with second
 * order. Its bits do not depend on the number of processes. */
#include "blockforest/exchange/level_ghosts.h"

#include "tests/blockforest/adapt/adapting.h"

enum { FINEST = 2, COMPONENTS = 2 };

typedef struct plate {
  gab_block_field field;
  gab_forest *forest;
  gab_data_id now, next;
  gab_level_ghosts *ghosts;
} plate;

static void plate_make(gab_world *world, plate *it, int dimension, int32_t roots, int32_t cells,
                       bool periodic, gab_mark_place_fn mark, gab_rank ranks)
{
  const int32_t deep = dimension == 3;
  const gab_forest_options options = {.grid = {dimension, {roots, roots, deep ? roots : 1}},
                                      .periodic = {periodic, periodic, periodic && deep},
                                      .cells = {cells, cells, deep ? cells : 1},
                                      .dx = 1. / (roots * cells)};
  *it = (plate){.field = {.shape = {.cells = {cells, cells, deep ? cells : 1},
                                    .ghosts = {1, 1, deep},
                                    .components = COMPONENTS},
                          .faces_only = true,
                          .linear_split = true}};
  const gab_block_data_kind now = gab_block_field_data(&it->field, "temperature"),
                            next = gab_block_field_scratch(&it->field, "next");
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &now, &it->now));
  REQUIRE_OK(gab_forest_add_data(it->forest, &next, &it->next));
  REQUIRE_OK(gab_level_ghosts_create(it->forest, it->now, &it->field, FINEST, &it->ghosts));
  REQUIRE_OK(gab_forest_build(it->forest, mark, NULL, FINEST, blocks_in_turn, &ranks, NULL));
}

static void plate_destroy(plate *it)
{
  gab_level_ghosts_destroy(&it->ghosts);
  gab_forest_destroy(&it->forest);
}

typedef double value_fn(const double at[3], int component);

/* In 2D z is 0, although the centre of a cell depends on its level. */
static void centre_of(const plate *it, const gab_block *block, const int32_t cell[3], double centre[3])
{
  gab_block_cell_centre(it->forest, block, cell[0], cell[1], cell[2], centre);
  if (gab_forest_get_options(it->forest)->grid.dimension == 2) centre[2] = 0;
}

static void fill(const plate *it, value_fn *value)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    gab_field *now = gab_block_data(block, it->now);
    for (int32_t z = 0; z < now->shape.cells[2]; z++)
      for (int32_t y = 0; y < now->shape.cells[1]; y++)
        for (int32_t x = 0; x < now->shape.cells[0]; x++) {
          double at[3];
          centre_of(it, block, (const int32_t[3]){x, y, z}, at);
          for (int c = 0; c < COMPONENTS; c++) gab_field_set(now, x, y, z, c, value(at, c));
        }
  }
}

static void bring_ghosts(const plate *it)
{
  REQUIRE_OK(gab_level_ghosts_start(it->ghosts));
  REQUIRE_OK(gab_level_ghosts_finish(it->ghosts));
}

/* ------------------------------------------------------------------ linear in space */

static double linear(const double at[3], int component)
{
  return component ? 5 + at[0] - 2 * at[1] + 3 * at[2] : 2 - 3 * at[0] + at[1] / 2 - 7 * at[2];
}
static double uniform(const double at[3], int component)
{
  (void)at;
  return component ? 0.1 : 1. / 3;
}

/* Checks ghosts beyond the faces of a block; there are none at sides of the domain. */
static void look_at_block(const plate *it, const gab_block *block, value_fn *value, double most,
                          uint64_t *seen)
{
  const gab_field *now = gab_block_data(block, it->now);
  const int dimension = gab_forest_get_options(it->forest)->grid.dimension;
  for (int side = 0; side < 2 * dimension; side++) {
    const int axis = side / 2;
    gab_box ghosts = gab_field_interior(now);
    ghosts.lo[axis] = side % 2 ? ghosts.hi[axis] : -1;
    ghosts.hi[axis] = ghosts.lo[axis] + 1;
    int32_t at[3];
    for (at[2] = (int32_t)ghosts.lo[2]; at[2] < ghosts.hi[2]; at[2]++)
      for (at[1] = (int32_t)ghosts.lo[1]; at[1] < ghosts.hi[1]; at[1]++)
        for (at[0] = (int32_t)ghosts.lo[0]; at[0] < ghosts.hi[0]; at[0]++) {
          double centre[3];
          centre_of(it, block, at, centre);
          if (centre[axis] < 0 || centre[axis] > 1) continue;
          for (int c = 0; c < COMPONENTS; c++)
            CHECK(fabs(gab_field_get(now, at[0], at[1], at[2], c) - value(centre, c)) <= most);
          ++*seen;
        }
  }
}

static void look(const plate *it, value_fn *value, double most)
{
  uint64_t seen = 0;
  fill(it, value);
  bring_ghosts(it);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++)
    look_at_block(it, gab_forest_block(it->forest, b), value, most, &seen);
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(it->forest), &seen, 1));
  REQUIRE(seen > 0);
}

static gab_mark at_random(void *user, int level, const gab_box *cells)
{
  (void)user;
  const uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2]);
  return gab_hash_counter(7, (uint64_t)level, place) % (level ? 40 : 6) == 0 ? GAB_MARK_REFINE
                                                                             : GAB_MARK_KEEP;
}

static void is_exact(gab_world *world, int dimension)
{
  plate it;
  plate_make(world, &it, dimension, dimension == 2 ? 10 : 5, 4, false, at_random,
             gab_world_members(world)->ranks);
  uint64_t levels[FINEST + 1] = {0};
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++)
    levels[gab_block_level(it.forest, gab_forest_block(it.forest, b))]++;
  REQUIRE_OK(gab_world_sum_u64(world, levels, FINEST + 1));
  for (int level = 0; level <= FINEST; level++) REQUIRE(levels[level] > 0);
  look(&it, linear, 1e-13);
  look(&it, uniform, 0);
  plate_destroy(&it);
}

/* ------------------------------------------------------------------ conduction */

static const double pi = 3.14159265358979323846, end = 0.005;

static double decay(double time) { return exp(-8 * pi * pi * time); }
static double wave(const double at[3], int component)
{
  return component ? cos(2 * pi * at[0]) * cos(2 * pi * at[1])
                   : 1 + sin(2 * pi * at[0]) * cos(2 * pi * at[1]);
}

/* Finer towards a place without symmetry in the waves. */
static gab_mark near_a_place(void *user, int level, const gab_box *cells)
{
  const int64_t size = cells->hi[0] - cells->lo[0], x = cells->lo[0] / size, y = cells->lo[1] / size;
  (void)user;
  const bool wanted = level == 0 ? x >= 1 && x <= 2 && y >= 2 : x >= 3 && x <= 4 && y >= 5 && y <= 6;
  return wanted ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static void conduct(const plate *it, double dt)
{
  bring_ghosts(it);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    gab_field *now = gab_block_data(block, it->now), *next = gab_block_data(block, it->next);
    const double dx = gab_forest_dx(it->forest, gab_block_level(it->forest, block)), k = dt / (dx * dx);
    for (int c = 0; c < COMPONENTS; c++)
      for (int32_t y = 0; y < now->shape.cells[1]; y++)
        for (int32_t x = 0; x < now->shape.cells[0]; x++) {
          const double here = gab_field_get(now, x, y, 0, c);
          const double around = gab_field_get(now, x - 1, y, 0, c) + gab_field_get(now, x + 1, y, 0, c) +
                                gab_field_get(now, x, y - 1, 0, c) + gab_field_get(now, x, y + 1, 0, c);
          gab_field_set(next, x, y, 0, c, here + k * (around - 4 * here));
        }
    REQUIRE_OK(gab_field_swap(now, next));
  }
}

typedef struct looks {
  double sum[COMPONENTS], square; /* over the cells, by their volume; of the error */
} looks;

static looks look_at_all(const plate *it, double time)
{
  gab_exact_sum sums[COMPONENTS + 1];
  looks found;
  for (int i = 0; i <= COMPONENTS; i++) gab_exact_clear(&sums[i]);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_field *now = gab_block_data(block, it->now);
    const double dx = gab_forest_dx(it->forest, gab_block_level(it->forest, block));
    for (int32_t y = 0; y < now->shape.cells[1]; y++)
      for (int32_t x = 0; x < now->shape.cells[0]; x++)
        for (int c = 0; c < COMPONENTS; c++) {
          double at[3];
          gab_block_cell_centre(it->forest, block, x, y, 0, at);
          const double mean = c ? 0 : 1, value = gab_field_get(now, x, y, 0, c),
                       error = value - mean - (wave(at, c) - mean) * decay(time);
          gab_exact_add(&sums[c], dx * dx * value);
          gab_exact_add(&sums[COMPONENTS], dx * dx * error * error);
        }
  }
  REQUIRE_OK(gab_world_sum_exact(gab_forest_world(it->forest), sums, COMPONENTS + 1));
  for (int c = 0; c < COMPONENTS; c++) found.sum[c] = gab_exact_value(&sums[c]);
  found.square = gab_exact_value(&sums[COMPONENTS]);
  return found;
}

/* The error, root of the mean square, after the waves have decayed for a while. */
static double error_of(gab_world *world, int32_t cells, gab_rank ranks, uint64_t *checksum)
{
  plate it;
  plate_make(world, &it, 2, 4, cells, true, near_a_place, ranks);
  fill(&it, wave);
  const double fine = gab_forest_dx(it.forest, FINEST), dt = 0.2 * fine * fine;
  const int steps = (int)(end / dt);
  const looks before = look_at_all(&it, 0);
  for (int step = 0; step < steps; step++) conduct(&it, dt);
  const looks after = look_at_all(&it, steps * dt);
  for (int c = 0; c < COMPONENTS; c++) REQUIRE(fabs(after.sum[c] - before.sum[c]) < 1e-13);
  REQUIRE_OK(gab_forest_checksum(it.forest, checksum));
  plate_destroy(&it);
  return sqrt(after.square);
}

static void conducts(gab_world *world)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  double error[3];
  uint64_t checksum, alone;
  (void)error_of(world, 4, 1, &alone);
  for (int i = 0; i < 3; i++) {
    error[i] = error_of(world, 4 << i, ranks, &checksum);
    if (i == 0) CHECK(checksum == alone);
  }
  CHECK(error[2] < 1e-3);
  CHECK(error[0] / error[1] > 3.4);
  CHECK(error[1] / error[2] > 3.4);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  is_exact(world, 2);
  is_exact(world, 3);
  conducts(world);
  return test_end(&world);
}
