/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=120 */
/* Values of one forest in the cells of another (blockforest/exchange/resample.h). Polynomials of second degree along
 * each axis are exact, from levels of random marks to other widths, origins, blocks and levels. A smooth field has
 * second order. The same grid gives the same bits, also for copied data. Cells without a value get that of the
 * nearest cells; periodic axes continue; cells outside of the source domain have no value. */
#include "blockforest/exchange/resample.h"

#include "core/messages/logged/message_logger.h"
#include "tests/blockforest/adapt/adapting.h"

enum { FINEST = 2, VALUES = 2, COPIED = 3 };

typedef struct grid {
  int dimension;
  int32_t roots, cells;
  double origin, width; /* of the domain, along each axis */
  bool periodic, refined;
} grid;

static gab_mark at_random(void *user, int level, const gab_box *cells)
{
  (void)user;
  const uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2]);
  return gab_hash_counter(7, (uint64_t)level, place) % (level ? 20 : 4) == 0 ? GAB_MARK_REFINE
                                                                             : GAB_MARK_KEEP;
}

static gab_forest *make(gab_world *world, const grid *given)
{
  const int32_t deep = given->dimension == 3;
  const gab_forest_options options = {
      .grid = {given->dimension, {given->roots, given->roots, deep ? given->roots : 1}},
      .periodic = {given->periodic, given->periodic, given->periodic && deep},
      .cells = {given->cells, given->cells, deep ? given->cells : 1},
      .origin = {given->origin, given->origin, deep ? given->origin : 0},
      .dx = given->width / (given->roots * given->cells)};
  gab_forest *forest;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  return forest;
}

/* Blocks on the first `ranks` ranks. */
static void build(gab_forest *forest, const grid *given, gab_rank ranks)
{
  REQUIRE_OK(gab_forest_build(forest, given->refined ? at_random : NULL, NULL, FINEST, blocks_in_turn, &ranks,
                              NULL));
}

typedef double value_fn(const double at[3], int value);

static double curved(const double at[3], int value)
{
  return value ? 1 - 3 * at[0] * at[0] + at[1] + at[2] * at[2] : 2 + at[0] - at[1] * at[1] / 2 - 7 * at[2];
}
static double smooth(const double at[3], int value)
{
  return sin(6 * at[0] + value) * cos(5 * at[1]) * cos(2 * at[2]);
}

static bool is_hole(const double at[3])
{
  return (at[0] - 0.6) * (at[0] - 0.6) + (at[1] - 0.4) * (at[1] - 0.4) < 0.15 * 0.15;
}

typedef struct look {
  gab_forest *source, *target;
  value_fn *value;
  bool has_hole;
  uint64_t kinds[GAB_RESAMPLED_SAME + 1];
  double worst;        /* error of interpolated and equal cells */
  double worst_filled; /* of filled ones */
  uint64_t bits;       /* hash of all values by place */
} look;

static void centre_of(const gab_forest *forest, const gab_block *block, const int32_t at[3], double centre[3])
{
  gab_block_cell_centre(forest, block, at[0], at[1], at[2], centre);
  if (gab_forest_get_options(forest)->grid.dimension == 2) centre[2] = 0;
}

static void fill(const look *it, gab_resampler *resampler)
{
  gab_resampler_clear(resampler);
  for (size_t b = 0; b < gab_forest_block_count(it->source); b++) {
    const gab_block *block = gab_forest_block(it->source, b);
    gab_field *field = gab_resampler_field(resampler, block);
    int32_t at[3];
    for (at[2] = 0; at[2] < field->shape.cells[2]; at[2]++)
      for (at[1] = 0; at[1] < field->shape.cells[1]; at[1]++)
        for (at[0] = 0; at[0] < field->shape.cells[0]; at[0]++) {
          double centre[3];
          centre_of(it->source, block, at, centre);
          if (it->has_hole && is_hole(centre)) continue;
          gab_field_set(field, at[0], at[1], at[2], 0, 0);
          for (int k = 0; k < VALUES; k++)
            gab_field_set(field, at[0], at[1], at[2], 1 + k, it->value(centre, k));
        }
  }
}

static gab_status copy_centre(void *user, const gab_block *block, const int32_t at[3], double *values)
{
  centre_of(user, block, at, values);
  return GAB_OK;
}

static gab_status take(void *user, const gab_block *block, const uint8_t *kinds, const double *values,
                       const double *copied)
{
  look *it = user;
  const int32_t *cells = gab_forest_get_options(it->target)->cells;
  size_t i = 0;
  int32_t at[3];
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++, i++) {
        double centre[3];
        centre_of(it->target, block, at, centre);
        it->kinds[kinds[i]]++;
        if (kinds[i] < GAB_RESAMPLED_FILLED) continue;
        for (int k = 0; k < VALUES; k++) {
          const double error = fabs(values[VALUES * i + (size_t)k] - it->value(centre, k));
          double *worst = kinds[i] == GAB_RESAMPLED_FILLED ? &it->worst_filled : &it->worst;
          *worst = fmax(*worst, error);
        }
        it->bits +=
            gab_hash64(&values[VALUES * i], VALUES * sizeof *values, gab_hash64(centre, sizeof centre, 1));
        if (kinds[i] != GAB_RESAMPLED_SAME || !copied) continue;
        for (int k = 0; k < COPIED; k++) CHECK(copied[COPIED * i + (size_t)k] == centre[k]);
      }
  return GAB_OK;
}

/* @param[in] ranks  with blocks of the source; all ranks have blocks of the target */
static look resample_from(gab_world *world, const grid *from, const grid *to, value_fn *value, bool has_hole,
                          gab_rank ranks)
{
  look it = {.source = make(world, from), .target = make(world, to), .value = value, .has_hole = has_hole};
  gab_resampler *resampler;
  REQUIRE_OK(gab_resampler_create(it.source, VALUES, &resampler));
  build(it.source, from, ranks);
  build(it.target, to, gab_world_members(world)->ranks);
  fill(&it, resampler);
  REQUIRE_OK(gab_resampler_spread(resampler));
  const gab_resampler_copy copy = {.values = COPIED, .read = copy_centre, .user = it.source};
  REQUIRE_OK(gab_resampler_evaluate(resampler, it.target, &copy, take, &it));
  gab_resampler_destroy(&resampler);
  gab_forest_destroy(&it.source);
  gab_forest_destroy(&it.target);
  REQUIRE_OK(gab_world_sum_u64(world, it.kinds, GAB_RESAMPLED_SAME + 1));
  REQUIRE_OK(gab_world_sum_u64(world, &it.bits, 1));
  REQUIRE_OK(gab_world_max_f64(world, &it.worst, 1));
  REQUIRE_OK(gab_world_max_f64(world, &it.worst_filled, 1));
  return it;
}

static look resample(gab_world *world, const grid *from, const grid *to, value_fn *value, bool has_hole)
{
  const look spread = resample_from(world, from, to, value, has_hole, gab_world_members(world)->ranks);
  CHECK(resample_from(world, from, to, value, has_hole, 1).bits == spread.bits);
  return spread;
}

/* From and to levels, with ratios of widths of 1.21 to 1, and of 2 to 1. */
static void curves_are_exact(gab_world *world, int dimension)
{
  const grid from = {.dimension = dimension, .roots = 5, .cells = 4, .width = 1, .refined = true};
  const grid to = {
      .dimension = dimension, .roots = 3, .cells = 8, .origin = 0.003, .width = 0.99, .refined = true};
  const grid half = {.dimension = dimension, .roots = 5, .cells = 8, .width = 1};
  const look other = resample(world, &from, &to, curved, false);
  CHECK(other.kinds[GAB_RESAMPLED_INTERPOLATED] > 0 && other.kinds[GAB_RESAMPLED_NOTHING] == 0 &&
        other.kinds[GAB_RESAMPLED_OUTSIDE] == 0 && other.worst < 1e-9);
  CHECK(resample(world, &from, &half, curved, false).worst < 1e-12);
  const look same = resample(world, &from, &from, smooth, false);
  CHECK(same.kinds[GAB_RESAMPLED_SAME] > 0 && same.kinds[GAB_RESAMPLED_INTERPOLATED] == 0 && same.worst == 0);
}

/* The random grids differ, and so do the places of the largest errors: two halvings are compared. */
static void has_second_order(gab_world *world)
{
  double first = 0, worst = 0;
  for (int32_t roots = 4; roots <= 16; roots *= 2) {
    const grid from = {.dimension = 2, .roots = roots, .cells = 4, .width = 1, .refined = true};
    const grid to = {.dimension = 2, .roots = 3, .cells = 8, .origin = 0.1, .width = 0.7};
    worst = resample(world, &from, &to, smooth, false).worst;
    if (gab_world_is_root(world)) printf("%d cells: error %.3g\n", 4 * roots, worst);
    if (first == 0) first = worst;
  }
  CHECK(worst < first / 14);
}

static void fills_and_ends(gab_world *world)
{
  const grid from = {.dimension = 2, .roots = 5, .cells = 8, .width = 1};
  const grid beyond = {.dimension = 2, .roots = 4, .cells = 8, .origin = -0.25, .width = 1};
  grid round = from;
  const look it = resample(world, &from, &beyond, curved, true);
  CHECK(it.kinds[GAB_RESAMPLED_OUTSIDE] == 32 * 32 - 24 * 24);
  CHECK(it.kinds[GAB_RESAMPLED_FILLED] > 50 && it.kinds[GAB_RESAMPLED_NOTHING] == 0);
  CHECK(it.worst < 1e-12 && it.worst_filled < 1.5);
  round.periodic = true;
  const look continued = resample(world, &round, &beyond, curved, false);
  CHECK(continued.kinds[GAB_RESAMPLED_OUTSIDE] == 0);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const uint32_t ports = gab_world_logged_ports(world);
  curves_are_exact(world, 2);
  curves_are_exact(world, 3);
  has_second_order(world);
  fills_and_ends(world);
  CHECK(gab_world_logged_ports(world) == ports); /* local recovery has numbers for 32 */
  return test_end(&world);
}
