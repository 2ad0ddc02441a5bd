/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* The pressure of a velocity, and a velocity made divergence-free (lbm/setup/consistent.h): for vortices in a
 * periodic square, and between walls, on one level and two. Second order; first order for a projected velocity next
 * to borders of levels. The same bits on any number of processes. */
#include "lbm/setup/consistent.h"

#include "core/messages/collective.h"
#include "lbm/setup/flow_state.h"
#include "tests/blockforest/adapt/adapting.h"

#define PI 3.14159265358979323846

/* A divergence-free velocity, u = (sin x cos y, -cos x sin y) with walls at 0 and pi, and an added gradient. */
typedef struct given {
  double added;
  bool has_walls;
  bool is_channel; /* parabola between an inlet and a pressure side; adds the gradient of cos(x/2) cos(2y) */
} given;

static void velocity_at(void *user, const double centre[3], double velocity[3])
{
  const given *it = user;
  const double x = centre[0], y = centre[1];
  if (it->is_channel) {
    velocity[0] = 4 * y * (PI - y) / (PI * PI) - 0.5 * it->added * sin(x / 2) * cos(2 * y);
    velocity[1] = -2 * it->added * cos(x / 2) * sin(2 * y);
    return;
  }
  velocity[0] = sin(x) * cos(y) - it->added * 2 * sin(2 * x) * cos(y);
  velocity[1] = -cos(x) * sin(y) - it->added * cos(2 * x) * sin(y);
}

/* rho = 1000. */
static double pressure_at(const double centre[3])
{
  return 1000 * (cos(2 * centre[0]) + cos(2 * centre[1])) / 4;
}

static gab_mark a_corner(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] < 8 && cells->lo[1] < 8 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

typedef struct look {
  gab_forest *forest;
  bool is_channel;
  double velocity, pressure; /* largest errors */
  uint64_t bits;
} look;

static gab_status take(void *user, const gab_block *block, const uint8_t *kinds, const double *values,
                       const double *copied)
{
  look *it = user;
  const int32_t *cells = gab_forest_get_options(it->forest)->cells;
  const given exact = {.is_channel = it->is_channel};
  (void)copied;
  for (int32_t i = 0; i < cells[0] * cells[1]; i++) {
    double centre[3], u[3];
    const double *found = values + i * gab_lbm_state_values(2);
    gab_block_cell_centre(it->forest, block, i % cells[0], i / cells[0], 0, centre);
    velocity_at((void *)(uintptr_t)&exact, centre, u);
    CHECK(kinds[i] == GAB_RESAMPLED_SAME);
    it->pressure = fmax(it->pressure, fabs(found[0] - pressure_at(centre)) / 1000);
    it->velocity = fmax(it->velocity, fmax(fabs(found[1] - u[0]), fabs(found[2] - u[1])));
    it->bits += gab_hash64(found, 6 * sizeof *found, gab_hash64(centre, sizeof centre, 1));
  }
  return GAB_OK;
}

static gab_consistent_report last;

static look solve(gab_world *world, const given *by, int32_t roots, int levels, gab_rank ranks)
{
  const bool periodic = !by->has_walls;
  const double length = periodic ? 2 * PI : PI;
  const gab_forest_options options = {.grid = {2, {roots, roots, 1}},
                                      .cells = {8, 8, 1},
                                      .periodic = {periodic, periodic, false},
                                      .dx = length / (8 * roots)};
  gab_lbm_options flow = {.omega = 1};
  for (int side = 0; side < 4; side++)
    flow.sides[side] = (gab_side){.kind = periodic ? GAB_SIDE_PERIODIC : GAB_SIDE_WALL, .density = 1};
  const gab_domain domain = {.dimension = 2,
                             .cells = {8 * roots, 8 * roots, 1},
                             .dx = options.dx,
                             .periodic = {periodic, periodic, false}};
  gab_consistent_options consistent = {.flow = &flow,
                                       .domain = &domain,
                                       .finest = levels - 1,
                                       .projects = by->added != 0,
                                       .solves = true,
                                       .velocity = velocity_at,
                                       .user = (void *)(uintptr_t)by};
  REQUIRE_OK(gab_units_from_dt(options.dx, 0.1 * options.dx, 1000, &consistent.units));
  if (by->is_channel) {
    flow.sides[0] = (gab_side){.kind = GAB_SIDE_VELOCITY,
                               .density = 1,
                               .profile = GAB_PROFILE_PARABOLIC,
                               .velocity = {gab_units_velocity_to_lattice(&consistent.units, 1), 0, 0}};
    flow.sides[1] = (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1};
  }
  look it = {.is_channel = by->is_channel};
  gab_consistent *made;
  REQUIRE_OK(gab_forest_create(world, &options, &it.forest));
  REQUIRE_OK(gab_consistent_create(it.forest, &consistent, &made));
  REQUIRE_OK(gab_forest_build(it.forest, levels > 1 ? a_corner : NULL, NULL, levels - 1, blocks_in_turn,
                              &ranks, NULL));
  REQUIRE_OK(gab_consistent_solve(made, &last));
  REQUIRE_OK(gab_resampler_evaluate(gab_consistent_resampler(made), it.forest, NULL, take, &it));
  gab_consistent_destroy(&made);
  gab_forest_destroy(&it.forest);
  REQUIRE_OK(gab_world_sum_u64(world, &it.bits, 1));
  REQUIRE_OK(gab_world_max_f64(world, &it.velocity, 1));
  REQUIRE_OK(gab_world_max_f64(world, &it.pressure, 1));
  return it;
}

/* The mean of the pressure over the square is exactly 0. */
static void converges(gab_world *world, const char *name, const given *by, int levels)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  const look coarse = solve(world, by, 4, levels, ranks), fine = solve(world, by, 8, levels, ranks);
  CHECK(solve(world, by, 4, levels, 1).bits == coarse.bits);
  if (gab_world_is_root(world))
    printf("%s, %d level(s): velocity %.3g, %.3g; pressure %.3g, %.3g; divergence %.3g\n", name, levels,
           coarse.velocity, fine.velocity, coarse.pressure, fine.pressure, last.divergence[1]);
  /* By symmetry the error on one level is rounding. Next to borders of levels the gradient of the potential has first
   * order. */
  const double least = levels > 1 ? 1.4 : 3;
  CHECK(by->is_channel ||
        (fine.pressure < 0.01 && (fine.pressure < 1e-10 || fine.pressure < coarse.pressure / 2.5)));
  CHECK(by->added == 0 ? fine.velocity == 0
                       : fine.velocity < coarse.velocity / least && fine.velocity < 0.01);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  converges(world, "periodic", &(given){.added = 0}, 1);
  converges(world, "periodic", &(given){.added = 0}, 2);
  converges(world, "periodic, projected", &(given){.added = 0.2}, 1);
  converges(world, "walls, projected", &(given){.added = 0.2, .has_walls = true}, 1);
  converges(world, "walls, projected", &(given){.added = 0.2, .has_walls = true}, 2);
  converges(world, "channel, projected", &(given){.added = 0.2, .has_walls = true, .is_channel = true}, 1);
  return test_end(&world);
}
