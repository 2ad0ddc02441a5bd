/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3,5 quick=3 timeout=120 */
/* Particles on blocks (blockforest/particles/particles.h). Particles move in straight lines through a periodic box,
 * on blocks of one level and of three. At each step they have the positions of a list of all particles, are on the
 * block that contains them, and are ordered by id. None is lost or doubled, also when blocks move to other ranks,
 * split and merge, and when all data is packed and restored. Beyond other sides they are removed. Invalid calls are
 * refused. Interpolation is exact for linear fields and of second order. */
#include "blockforest/particles/particles.h"

#include "blockforest/exchange/block_field.h"
#include "core/messages/collective.h"
#include "tests/blockforest/particles/particles_common.h"

#include <math.h>

enum { COUNT = 700, STEPS = 12, CELLS = 8 };

typedef struct dot {
  gab_particle base;
  double speed[3];
  uint64_t blocks; /* visited blocks */
} dot;

typedef struct box {
  gab_forest *forest;
  gab_particles *dots;
  dot all[COUNT]; /* the list of all, on every process */
  bool is_there[COUNT];
} box;

static double draw(uint64_t what, uint64_t which) { return gab_hash_uniform(7, what, which); }

static void make(gab_world *world, box *it, int dimension, bool periodic, bool levels)
{
  gab_rank ranks = gab_world_members(world)->ranks;
  const int32_t deep = dimension == 3;
  const gab_forest_options options = {.grid = {dimension, {4, 4, deep ? 4 : 1}},
                                      .periodic = {periodic, periodic, periodic && deep},
                                      .cells = {CELLS, CELLS, deep ? CELLS : 1},
                                      .origin = {-0.3, 0.2, 1},
                                      .dx = 1. / (4 * CELLS)};
  int32_t all_cells = 4 * CELLS;
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_particles_create(it->forest, &(gab_particle_kind){"dots", sizeof(dot)}, &it->dots));
  REQUIRE_OK(gab_forest_build(it->forest, levels ? around_the_middle : NULL, &all_cells, 2, blocks_in_turn,
                              &ranks, NULL));
  for (uint64_t i = 0; i < COUNT; i++) {
    dot *one = &it->all[i];
    *one = (dot){.base = {.id = (i * 389) % COUNT}}; /* ids in another order than places */
    for (int axis = 0; axis < dimension; axis++) {
      one->base.at[axis] = options.origin[axis] + draw(1 + (uint64_t)axis, i);
      one->speed[axis] = 0.1 * (draw(11 + (uint64_t)axis, i) - 0.5);
    }
    it->is_there[i] = true;
    REQUIRE_OK(gab_particles_add(it->dots, one, NULL));
  }
}

static void destroy(box *it)
{
  gab_particles_destroy(&it->dots);
  gab_forest_destroy(&it->forest);
}

static uint64_t number_of(const dot *one)
{
  for (uint64_t i = 0; i < COUNT; i++)
    if ((i * 389) % COUNT == one->base.id) return i;
  return COUNT;
}

static void push(box *it, dot *one)
{
  (void)it;
  for (int axis = 0; axis < 3; axis++) one->base.at[axis] += one->speed[axis];
}

/* Moves the list in the same way; wraps and removes directly. */
static void push_list(box *it, int dimension, bool periodic)
{
  const double *origin = gab_forest_get_options(it->forest)->origin;
  for (int i = 0; i < COUNT; i++) {
    push(it, &it->all[i]);
    for (int axis = 0; axis < dimension; axis++) {
      double *at = &it->all[i].base.at[axis];
      const bool out = *at < origin[axis] || *at >= origin[axis] + 1;
      if (out && !periodic) it->is_there[i] = false;
      if (out && periodic) *at += *at < origin[axis] ? 1 : -1;
    }
  }
}

static void check(box *it, int dimension)
{
  uint64_t found = 0, expected = 0, counted;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_box cells = gab_block_cells(it->forest, block);
    const double width = gab_forest_dx(it->forest, gab_block_level(it->forest, block));
    size_t count;
    const dot *dots = gab_particles_of(it->dots, block, &count);
    found += count;
    for (size_t i = 0; i < count; i++) {
      const dot *same = &it->all[number_of(&dots[i])];
      REQUIRE(i == 0 || dots[i - 1].base.id < dots[i].base.id);
      REQUIRE(it->is_there[number_of(&dots[i])]);
      for (int axis = 0; axis < dimension; axis++) {
        const double place =
            (dots[i].base.at[axis] - gab_forest_get_options(it->forest)->origin[axis]) / width;
        REQUIRE(fabs(dots[i].base.at[axis] - same->base.at[axis]) < 1e-12);
        REQUIRE(dots[i].speed[axis] == same->speed[axis]);
        REQUIRE(place >= (double)cells.lo[axis] && place < (double)cells.hi[axis]);
      }
    }
  }
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(it->forest), &found, 1));
  REQUIRE_OK(gab_particles_count(it->dots, &counted));
  for (int i = 0; i < COUNT; i++) expected += it->is_there[i];
  REQUIRE(found == expected && counted == expected);
}

static void step(box *it, uint64_t *removed)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    size_t count;
    dot *dots = gab_particles_of(it->dots, gab_forest_block(it->forest, b), &count);
    for (size_t i = 0; i < count; i++) push(it, &dots[i]);
  }
  REQUIRE_OK(gab_particles_move(it->dots, removed));
}

static void migrate(box *it, int round)
{
  gab_world *world = gab_forest_world(it->forest);
  const size_t count = gab_forest_block_count(it->forest);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++)
    targets[i] = (gab_rank)((gab_block_get_id(gab_forest_block(it->forest, i)) + (uint64_t)round) %
                            (uint64_t)gab_world_members(world)->ranks);
  REQUIRE_OK(gab_forest_migrate(it->forest, targets));
  free(targets);
}

/* Packs this process's part, moves all particles further, and restores it. */
static void go_back(box *it)
{
  gab_buffer image;
  uint64_t before, between, after;
  gab_buffer_init(&image, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_forest_checksum(it->forest, &before));
  REQUIRE_OK(gab_forest_pack(it->forest, &image));
  step(it, NULL);
  REQUIRE_OK(gab_forest_checksum(it->forest, &between));
  gab_reader in = gab_reader_of_buffer(&image);
  REQUIRE_OK(gab_forest_restore(it->forest, &in, 1, NULL, NULL));
  REQUIRE_OK(gab_forest_checksum(it->forest, &after));
  REQUIRE(before == after && before != between);
  gab_buffer_release(&image);
}

static void travel(gab_world *world, int dimension, bool periodic, bool levels)
{
  static box it;
  uint64_t gone = 0;
  make(world, &it, dimension, periodic, levels);
  check(&it, dimension);
  for (int i = 0; i < STEPS; i++) {
    uint64_t removed;
    if (i == 4) migrate(&it, i);
    if (i == 7) go_back(&it);
    push_list(&it, dimension, periodic);
    step(&it, &removed);
    gone += removed;
    check(&it, dimension);
  }
  REQUIRE_OK(gab_world_sum_u64(world, &gone, 1));
  REQUIRE(periodic ? gone == 0 : gone > COUNT / 10);
  destroy(&it);
}

/* ---------------------------------------------------------------- changing levels */

static gab_status all_or_none(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)forest, (void)block;
  *mark = *(const bool *)user ? GAB_MARK_REFINE : GAB_MARK_COARSEN;
  return GAB_OK;
}

static void adapts(gab_world *world)
{
  static box it;
  uint64_t before, split, after;
  make(world, &it, 2, true, false);
  REQUIRE_OK(gab_forest_checksum(it.forest, &before));
  for (int round = 0; round < 2; round++) {
    bool refine = round == 0;
    const gab_adapt_options options = {.max_level = 1, .mark = all_or_none, .user = &refine};
    REQUIRE_OK(gab_forest_adapt(it.forest, &options, NULL));
    check(&it, 2);
    REQUIRE_OK(gab_forest_checksum(it.forest, round == 0 ? &split : &after));
  }
  REQUIRE(before == after && before != split);
  destroy(&it);
}

/* ---------------------------------------------------------------- misuse */

static void refuses(gab_world *world)
{
  static box it;
  gab_particles *none;
  bool added;
  make(world, &it, 2, false, false);
  REQUIRE(gab_particles_add(it.dots, &(dot){.base = {1, {5, 0.5, 0}}}, &added) == GAB_ERR_INPUT && !added);
  REQUIRE(gab_particles_add(it.dots, &(dot){.base = {1, {NAN, 0.5, 0}}}, &added) == GAB_ERR_INPUT);
  REQUIRE(gab_particles_create(it.forest, &(gab_particle_kind){"odd", sizeof(dot) + 1}, &none) ==
          GAB_ERR_ARGUMENT);
  REQUIRE(gab_particles_create(it.forest, &(gab_particle_kind){"small", 8}, &none) == GAB_ERR_ARGUMENT);
  REQUIRE(!none);
  destroy(&it);
}

/* A particle that crosses two blocks in a step ends the run on all ranks, with its id. */
static void jumps(gab_world *world)
{
  static box it;
  make(world, &it, 2, false, false);
  const gab_block *first = gab_forest_find(
      it.forest, gab_block_id_of(&gab_forest_get_options(it.forest)->grid, (gab_block_place){0, {0, 0, 0}}));
  size_t count = 0;
  dot *dots = first ? gab_particles_of(it.dots, first, &count) : NULL;
  REQUIRE(!first || count > 0);
  if (count > 0) dots[0].base.at[0] += 0.7;
  /* all have their blocks; the fault may arrive while some ranks are still in the barrier */
  (void)gab_world_barrier(world);
  const gab_status status = gab_particles_move(it.dots, NULL);
  REQUIRE(status == GAB_ERR_ARGUMENT || status == GAB_ERR_FAULT || (!first && status == GAB_OK));
  destroy(&it);
}

/* ---------------------------------------------------------------- interpolation */

static double wave(const double at[3]) { return sin(6 * at[0]) * cos(5 * at[1]); }
static double plane(const double at[3]) { return 3 - 2 * at[0] + 0.5 * at[1]; }

static double largest_error(gab_world *world, int32_t roots, double (*of)(const double at[3]))
{
  const gab_forest_options options = {
      .grid = {2, {roots, roots, 1}}, .cells = {CELLS, CELLS, 1}, .dx = 1. / (roots * CELLS)};
  const gab_block_field field = {.shape = {.cells = {CELLS, CELLS, 1}, .ghosts = {1, 1, 0}, .components = 2}};
  const gab_block_data_kind kind = gab_block_field_data(&field, "wave");
  gab_rank ranks = gab_world_members(world)->ranks;
  gab_forest *forest;
  gab_data_id data;
  double most = 0;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &data));
  REQUIRE_OK(gab_forest_build(forest, NULL, NULL, 0, blocks_in_turn, &ranks, NULL));
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    gab_field *on = gab_block_data(block, data);
    double at[3];
    for (int32_t y = -1; y <= CELLS; y++)
      for (int32_t x = -1; x <= CELLS; x++) {
        gab_block_cell_centre(forest, block, x, y, 0, at);
        gab_field_set(on, x, y, 0, 1, of(at));
      }
    for (int32_t y = 0; y < 4 * CELLS; y++)
      for (int32_t x = 0; x < 4 * CELLS; x++) {
        gab_block_cell_centre(forest, block, 0, 0, 0, at);
        at[0] += ((x + 0.3) / 4 - 0.5) * options.dx;
        at[1] += ((y + 0.6) / 4 - 0.5) * options.dx;
        most = fmax(most, fabs(gab_field_interpolate(forest, block, on, 1, at) - of(at)));
      }
  }
  REQUIRE_OK(gab_world_max_f64(world, &most, 1));
  gab_forest_destroy(&forest);
  return most;
}

/* A program removes every second record of each block; the others stay in order. */
static void keeps(gab_world *world)
{
  box it = {0};
  make(world, &it, 2, true, false);
  uint64_t left = 0, counted;
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    size_t count, after;
    dot *dots = gab_particles_of(it.dots, block, &count);
    for (size_t i = 1; 2 * i < count; i++) dots[i] = dots[2 * i];
    gab_particles_keep(it.dots, block, (count + 1) / 2);
    dots = gab_particles_of(it.dots, block, &after);
    REQUIRE(after == (count + 1) / 2);
    for (size_t i = 1; i < after; i++) CHECK(dots[i - 1].base.id < dots[i].base.id);
    left += after;
  }
  REQUIRE_OK(gab_world_sum_u64(world, &left, 1));
  REQUIRE_OK(gab_particles_count(it.dots, &counted));
  CHECK(counted == left && left < COUNT);
  destroy(&it);
}

static void interpolates(gab_world *world)
{
  REQUIRE(largest_error(world, 2, plane) < 1e-14);
  const double coarse = largest_error(world, 4, wave), fine = largest_error(world, 8, wave);
  REQUIRE(fabs(log2(coarse / fine) - 2) < 0.1);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int periodic = 0; periodic < 2; periodic++) travel(world, dimension, periodic, false);
  travel(world, 2, true, true);
  travel(world, 2, false, true);
  adapts(world);
  keeps(world);
  interpolates(world);
  refuses(world);
  if (test_may_break(world)) jumps(world);
  return test_end(&world);
}
