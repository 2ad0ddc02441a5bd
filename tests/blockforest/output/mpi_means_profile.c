/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=60 */
/* Profiles of means have the total fluctuation about the mean of each layer: of a travelling wave A^2/2 after any number
 * of samples, of a laminar flow none. On several levels their sums are those over all cells. They keep their bits when
 * blocks change their owners. */
#include "blockforest/output/means.h"
#include "tests/blockforest/adapt/adapting.h"

enum { CELLS = 4, WIDTH = 2 * CELLS, HEIGHT = 3 * CELLS };

static const double turn = 6.283185307179586;

typedef enum flow { LAMINAR, WAVE, STEPS } flow;

typedef struct fixture {
  flow flow;
  int sample;
  gab_forest *forest;
  gab_means *means;
  char names[GAB_MOST_PROFILE_COLUMNS][GAB_PROFILE_COLUMN_CAPACITY];
  size_t columns, count;
  double *rows;
} fixture;

static double parabola(double y) { return y * (HEIGHT - y) / 32; }

/* In 1/8, so that sums are exact; every third cell is solid. */
static double stepped(const double at[3], int sample, int component)
{
  const int number = (int)floor(4 * at[0]) + 3 * (int)floor(4 * at[1]) + 5 * (int)floor(4 * at[2]);
  return number % 3 == 0 ? NAN : (number % 7 + 2 * component + (sample & 1) * (number % 5)) / 8.0;
}

static double value_at(const fixture *it, const double at[3], int component)
{
  if (it->flow == STEPS) return stepped(at, it->sample, component);
  const double phase = turn * at[0] / WIDTH - 0.83 * it->sample + (component == 1 ? turn / 6 : 0);
  const double amplitude[3] = {0.5, 0.25, 0};
  return (component == 0 ? parabola(at[1]) : 0) + (it->flow == WAVE ? amplitude[component] * sin(phase) : 0);
}

static gab_status evaluate(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  for (int32_t z = 0; z < CELLS; z++)
    for (int32_t y = 0; y < CELLS; y++)
      for (int32_t x = 0; x < CELLS; x++) {
        double at[3];
        gab_block_cell_centre(forest, block, x, y, z, at);
        for (int c = 0; c < 3; c++) *values++ = value_at(user, at, c);
      }
  return GAB_OK;
}

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level < 1 && cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static fixture *make(gab_world *world, flow flow)
{
  static fixture it;
  const gab_forest_options options = {.grid = {3, {2, 3, 1}}, .cells = {CELLS, CELLS, CELLS}, .dx = 1};
  const gab_quantity velocity = {
      .name = "velocity", .components = 3, .pointwise = true, .evaluate = evaluate, .user = &it};
  gab_rank ranks = gab_world_members(world)->ranks;
  it = (fixture){.flow = flow};
  REQUIRE_OK(gab_means_create(
      &(gab_means_options){
          .quantities = &velocity, .quantity_count = 1, .dimension = 3, .rms = true, .stresses = true},
      &it.means));
  REQUIRE_OK(gab_forest_create(world, &options, &it.forest));
  REQUIRE_OK(gab_means_attach(it.means, it.forest));
  REQUIRE_OK(gab_forest_build(it.forest, flow == STEPS ? refine_first : NULL, NULL, 1, blocks_in_turn, &ranks,
                              NULL));
  return &it;
}

static void profile(fixture *it, int axis)
{
  gab_free(&it->rows);
  it->columns = gab_means_profile_columns(it->means, axis, it->names);
  REQUIRE_OK(gab_means_profile(it->means, axis, &it->rows, &it->count));
}

static void take(fixture *it, int samples)
{
  for (; it->sample < samples; it->sample++) REQUIRE_OK(gab_means_sample(it->means));
}

static void destroy(fixture *it)
{
  gab_free(&it->rows);
  gab_means_destroy(&it->means);
  gab_forest_destroy(&it->forest);
}

static double at(const fixture *it, size_t row, const char *name)
{
  for (size_t c = 0; c < it->columns; c++)
    if (strcmp(it->names[c], name) == 0) return it->rows[row * it->columns + c];
  REQUIRE(!"a column of that name");
  return NAN;
}

static void a_laminar_flow_has_its_parabola_and_no_fluctuation(gab_world *world)
{
  fixture *it = make(world, LAMINAR);
  profile(it, 1);
  REQUIRE(it->count == HEIGHT && it->columns == 2 + 3 + 3 + 6 + 1);
  REQUIRE(strcmp(it->names[0], "y") == 0 && at(it, 0, "cells") == 0 && isnan(at(it, 0, "mean_velocity.x")));
  take(it, 3);
  profile(it, 1);
  for (size_t row = 0; row < it->count; row++) {
    REQUIRE(at(it, row, "y") == (double)row + 0.5);
    REQUIRE(at(it, row, "cells") == WIDTH * CELLS);
    REQUIRE_NEAR(at(it, row, "mean_velocity.x"), parabola((double)row + 0.5), 1e-15);
    REQUIRE_NEAR(at(it, row, "rms_velocity.x"), 0, 1e-15);
    REQUIRE(at(it, row, "mean_velocity.y") == 0 && at(it, row, "turbulent_kinetic_energy") <= 1e-30);
  }
  destroy(it);
}

/* One sample: all of the variance is that within the layer. Many: nearly all of it is in time. */
static void a_travelling_wave_has_half_the_square_of_its_amplitude(gab_world *world)
{
  const int samples[] = {1, 3, 200};
  fixture *it = make(world, WAVE);
  for (size_t i = 0; i < 3; i++) {
    take(it, samples[i]);
    profile(it, 1);
    for (size_t row = 0; row < it->count; row++) {
      REQUIRE_NEAR(at(it, row, "mean_velocity.x"), parabola((double)row + 0.5), 1e-14);
      REQUIRE_NEAR(at(it, row, "rms_velocity.x"), 0.5 / sqrt(2), 1e-14);
      REQUIRE_NEAR(at(it, row, "reynolds_stress_xx"), 0.25 / 2, 1e-14);
      REQUIRE_NEAR(at(it, row, "reynolds_stress_yy"), 0.0625 / 2, 1e-14);
      REQUIRE_NEAR(at(it, row, "reynolds_stress_xy"), 0.5 * 0.25 / 2 * cos(turn / 6), 1e-14);
      REQUIRE_NEAR(at(it, row, "turbulent_kinetic_energy"), (0.25 + 0.0625) / 4, 1e-14);
      REQUIRE(at(it, row, "rms_velocity.z") == 0 && at(it, row, "reynolds_stress_xz") == 0);
    }
  }
  destroy(it);
}

/* Sums of the fluid and of its velocity over all blocks; in volumes of fine cells. */
static void sum_blocks(const fixture *it, gab_exact_sum sums[2])
{
  gab_quantity items[GAB_MOST_MEAN_QUANTITIES];
  double values[3 * CELLS * CELLS * CELLS];
  gab_means_quantities(it->means, items);
  gab_exact_clear(&sums[0]);
  gab_exact_clear(&sums[1]);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const double volume = gab_block_level(it->forest, block) == 1 ? 1 : 8;
    REQUIRE_OK(items[0].evaluate(items[0].user, it->forest, block, values));
    for (size_t i = 0; i < CELLS * CELLS * CELLS; i++)
      if (!isnan(values[3 * i])) {
        gab_exact_add(&sums[0], volume);
        gab_exact_add(&sums[1], volume * values[3 * i]);
      }
  }
  REQUIRE_OK(gab_world_sum_exact(gab_forest_world(it->forest), sums, 2));
}

static void sums_over_levels_are_those_over_the_cells(gab_world *world)
{
  fixture *it = make(world, STEPS);
  gab_exact_sum sums[2];
  take(it, 4);
  sum_blocks(it, sums);
  for (int axis = 0; axis < 3; axis++) {
    double cells = 0, of_velocity = 0;
    profile(it, axis);
    REQUIRE(it->count == (size_t)(axis == 0 ? 2 * WIDTH : axis == 1 ? 2 * HEIGHT : 2 * CELLS));
    for (size_t row = 0; row < it->count; row++) {
      REQUIRE(at(it, row, it->names[0]) == 0.5 * (double)row + 0.25);
      cells += at(it, row, "cells");
      of_velocity += at(it, row, "cells") * at(it, row, "mean_velocity.x");
    }
    REQUIRE(cells == gab_exact_value(&sums[0]) && cells > 0 && cells < 2 * WIDTH * 2 * HEIGHT * 2 * CELLS);
    REQUIRE_NEAR(of_velocity, gab_exact_value(&sums[1]), 1e-12 * of_velocity);
    REQUIRE(of_velocity > 0.1 * cells);
  }
  destroy(it);
}

static void owners_do_not_change_a_bit(gab_world *world)
{
  fixture *it = make(world, STEPS);
  gab_rank targets[16];
  const gab_rank ranks = gab_world_members(world)->ranks, mine = gab_world_rank(world);
  take(it, 5);
  profile(it, 1);
  const size_t bytes = it->count * it->columns * sizeof(double), blocks = gab_forest_block_count(it->forest);
  double *before = malloc(bytes);
  REQUIRE(before && blocks <= sizeof targets / sizeof *targets);
  memcpy(before, it->rows, bytes);
  for (size_t b = 0; b < blocks; b++) targets[b] = b % 2 ? mine : (mine + 1) % ranks;
  REQUIRE_OK(gab_forest_migrate(it->forest, targets));
  profile(it, 1);
  REQUIRE(memcmp(before, it->rows, bytes) == 0);
  free(before);
  destroy(it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  a_laminar_flow_has_its_parabola_and_no_fluctuation(world);
  a_travelling_wave_has_half_the_square_of_its_amplitude(world);
  sums_over_levels_are_those_over_the_cells(world);
  owners_do_not_change_a_bit(world);
  return test_end(&world);
}
