/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 long=1 timeout=180 threads=2 */
/* Conduction in media with conductivities that jump by 1000 (blockforest/elliptic/elliptic.h): a good conductor
 * (disc), a bad one (disc), a layer thinner than cells of coarse levels, and random tiles. Conjugate gradients with a
 * V-cycle need about the same iterations for any number of cells. They give the solution of conjugate gradients
 * without one, with the same bits for any owners of the blocks. BiCGStab does so too, also on blocks of two and three
 * levels whose borders cross the jumps: its solutions are near those of one level. */
#include "blockforest/elliptic/elliptic.h"

#include "blockforest/exchange/block_field.h"
#include "core/base/hash.h"
#include "tests/blockforest/random_domain.h"

#include <math.h>

enum { F = 0, U, OTHER, COMPONENTS, CELLS = 8 };
#define CONTRAST 1000.

typedef double medium_fn(double x, double y);

static double disc(double x, double y) { return hypot(x - 0.43, y - 0.57) < 0.23 ? CONTRAST : 1; }
static double hole(double x, double y) { return hypot(x - 0.43, y - 0.57) < 0.23 ? 1 / CONTRAST : 1; }
static double layer(double x, double y)
{
  (void)x;
  return fabs(y - 0.43) < 0.03 ? CONTRAST : 1;
}
static double tiles(double x, double y)
{
  return gab_hash_counter(3, (uint64_t)(x * 8), (uint64_t)(y * 8)) % 2 ? CONTRAST : 1;
}

typedef struct medium {
  const char *name;
  medium_fn *at;
  double fine; /* width of the narrowest cells */
  int most;    /* iterations */
} medium;

/* Harmonic mean of the cells on both sides of a narrow face; at sides the cell inside. @param[in] x, y  of the centre */
static double narrow_face(const medium *of, double x, double y, int axis)
{
  double low[2] = {x, y}, high[2] = {x, y};
  low[axis] -= of->fine / 2;
  high[axis] += of->fine / 2;
  const double a = of->at(low[axis] < 0 ? high[0] : low[0], low[axis] < 0 ? high[1] : low[1]),
               b = of->at(high[axis] > 1 ? low[0] : high[0], high[axis] > 1 ? low[1] : high[1]);
  return 2 * a * b / (a + b);
}

/* Mean of the narrow faces that make up a face. */
static double face(const medium *of, double x, double y, int axis, double width)
{
  const int count = (int)lround(width / of->fine);
  double sum = 0;
  for (int i = 0; i < count; i++) {
    const double along = (i + 0.5) * of->fine - width / 2;
    sum += narrow_face(of, axis == 0 ? x : x + along, axis == 0 ? y + along : y, axis);
  }
  return sum / count;
}

static void conduct(const gab_elliptic_cells *at)
{
  const medium *of = at->user;
  const double h = at->width, scale = 1 / (h * h);
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double middle[2] = {at->origin[0] + (x + 0.5) * h, at->origin[1] + (y + 0.5) * h};
      const double west = scale * face(of, middle[0] - h / 2, middle[1], 0, h),
                   east = scale * face(of, middle[0] + h / 2, middle[1], 0, h),
                   south = scale * face(of, middle[0], middle[1] - h / 2, 1, h),
                   north = scale * face(of, middle[0], middle[1] + h / 2, 1, h),
                   centre = (west + east) + (south + north);
      if (at->diagonal) {
        gab_field_set(at->diagonal, x, y, 0, 0, centre);
        continue;
      }
      const gab_field *u = at->u;
      const double around =
          (west * gab_field_get(u, x - 1, y, 0, 0) + east * gab_field_get(u, x + 1, y, 0, 0)) +
          (south * gab_field_get(u, x, y - 1, 0, 0) + north * gab_field_get(u, x, y + 1, 0, 0));
      gab_field_set(at->out, x, y, 0, 0, centre * gab_field_get(u, x, y, 0, 0) - around);
    }
}

typedef struct found {
  gab_status status;
  gab_elliptic_result result;
  double highest, difference; /* of u; from conjugate gradients */
  uint64_t checksum;
} found;

static void fill_and_compare(gab_forest *forest, gab_data_id data, bool fills)
{
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    gab_field *field = gab_block_data(gab_forest_block(forest, i), data);
    for (int32_t y = 0; y < CELLS; y++)
      for (int32_t x = 0; x < CELLS; x++) {
        if (fills) gab_field_set(field, x, y, 0, F, 1);
        else
          gab_field_set(field, x, y, 0, OTHER,
                        gab_field_get(field, x, y, 0, OTHER) - gab_field_get(field, x, y, 0, U));
      }
  }
}

/* Towards x = 0; each level half as wide as the one above, so that borders cross all media. */
static gab_mark towards_a_side(void *user, int level, const gab_box *cells)
{
  const gab_forest_options *options = user;
  return (double)cells->lo[0] * ldexp(options->dx, -level) < ldexp(0.5, -level) - 1e-9 ? GAB_MARK_REFINE
                                                                                       : GAB_MARK_KEEP;
}

typedef struct way {
  gab_elliptic_method method;
  int finest;     /* level of blocks */
  bool compares;  /* with conjugate gradients, on one level */
  gab_rank ranks; /* with blocks */
} way;

/* Heated everywhere, with 0 at the sides. @param[in] cells  of level 0 along an axis */
static found heat(gab_world *world, const medium *given, int32_t cells, way by)
{
  medium of = *given;
  of.fine = ldexp(1. / cells, -by.finest);
  gab_forest_options grid = {
      .grid = {2, {cells / CELLS, cells / CELLS, 1}}, .cells = {CELLS, CELLS, 1}, .dx = 1. / cells};
  const gab_block_field shape = {
      .shape = {.cells = {CELLS, CELLS, 1}, .ghosts = {1, 1, 0}, .components = COMPONENTS}};
  const gab_block_data_kind kind = gab_block_field_data(&shape, "heat");
  const gab_elliptic_options options = {.operation = {.apply = conduct, .user = &of},
                                        .method = by.method,
                                        .tolerance = 1e-8,
                                        .finest = by.finest};
  gab_elliptic_options plain = options;
  plain.method = GAB_ELLIPTIC_CONJUGATE;
  gab_forest *forest;
  gab_data_id data;
  gab_elliptic *elliptic, *other = NULL;
  gab_norms norms;
  found made = {0};
  REQUIRE_OK(gab_forest_create(world, &grid, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &data));
  REQUIRE_OK(gab_elliptic_create(forest, &options, &elliptic));
  if (by.compares) REQUIRE_OK(gab_elliptic_create(forest, &plain, &other));
  REQUIRE_OK(gab_forest_build(forest, by.finest > 0 ? towards_a_side : NULL, &grid, by.finest, blocks_in_turn,
                              &by.ranks, NULL));
  const gab_block_component f = {data, F}, u = {data, U}, difference = {data, OTHER};
  fill_and_compare(forest, data, true);
  made.status = gab_elliptic_solve(elliptic, f, u, &made.result);
  REQUIRE_OK(gab_forest_checksum(forest, &made.checksum));
  REQUIRE_OK(gab_forest_norms(forest, u, &norms));
  made.highest = norms.max;
  if (by.compares) {
    REQUIRE_OK(gab_elliptic_solve(other, f, difference, NULL));
    fill_and_compare(forest, data, false);
    REQUIRE_OK(gab_forest_norms(forest, difference, &norms));
  }
  made.difference = norms.max;
  gab_elliptic_destroy(&other);
  gab_elliptic_destroy(&elliptic);
  gab_forest_destroy(&forest);
  if (gab_world_is_root(world))
    printf("%-12s %3d cells, %d levels: %d iterations of method %d, factor %.3f, highest %.6g\n", of.name,
           (int)cells, by.finest + 1, made.result.iterations, (int)by.method, made.result.factor,
           made.highest);
  return made;
}

static void solve_on_one_level(gab_world *world, const medium *of, gab_elliptic_method method, int most)
{
  way by = {.method = method, .ranks = gab_world_members(world)->ranks};
  for (int32_t cells = 32; cells <= 128; cells *= 2) {
    by.compares = cells == 32;
    const found made = heat(world, of, cells, by);
    CHECK(made.status == GAB_OK && made.result.iterations <= most);
    if (cells > 32) continue;
    CHECK(made.highest > 1e-3 && made.difference > 0 && made.difference < 1e-6 * made.highest);
    by.ranks = 1;
    CHECK(heat(world, of, cells, by).checksum == made.checksum);
    by.ranks = gab_world_members(world)->ranks;
  }
}

/* Compared with the solution on narrow cells everywhere, for a medium with the same faces. */
static void solve_on_levels(gab_world *world, const medium *of)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  for (int finest = 1; finest <= 2; finest++) {
    way by = {.method = GAB_ELLIPTIC_BICGSTAB_MULTIGRID, .finest = finest, .ranks = ranks};
    const found made = heat(world, of, 32, by);
    CHECK(made.status == GAB_OK && made.result.iterations <= 10);
    by.ranks = 1;
    CHECK(heat(world, of, 32, by).checksum == made.checksum);
    const found fine = heat(world, of, 32 << finest, (way){.method = by.method, .ranks = ranks});
    CHECK(fabs(made.highest / fine.highest - 1) < 0.03);
  }
}

int main(int argc, char **argv)
{
  static const medium media[] = {{"disc 1000", disc, 0, 13},
                                 {"disc 1/1000", hole, 0, 13},
                                 {"layer 1000", layer, 0, 13},
                                 {"tiles 1000", tiles, 0, 15}};
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (size_t i = 0; i < sizeof media / sizeof media[0]; i++) {
    solve_on_one_level(world, &media[i], GAB_ELLIPTIC_CONJUGATE_MULTIGRID, media[i].most);
    solve_on_one_level(world, &media[i], GAB_ELLIPTIC_BICGSTAB_MULTIGRID, 10);
    solve_on_levels(world, &media[i]);
  }
  return test_end(&world);
}
