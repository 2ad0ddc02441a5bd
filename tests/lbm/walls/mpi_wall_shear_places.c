/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 long=1 timeout=200 */
/* The wall shear stress at walls with known values. On both walls of a plane channel it is half the height times the
 * force, to rounding. This holds with a large-eddy model whose eddies carry more than half of it (equal on both walls
 * for equal widths of cells, since eddies depend on the cells), for a local force, and with a finer level at the
 * walls of one half. For a local force in the lower half alone it is 3/8 and 1/8 of the height times the force. In
 * channels along a diagonal of the grid exactly the cells with a link to the wall have a value: with interpolated
 * walls each to 2.5 and 1.3 % over 16 and 32 cells, on a staircase the mean to 1e-5 and each to the width of a cell.
 * Where an interpolated wall crosses a border between levels, the mean is exact to 0.8 and 0.5 % over 16 and 32
 * cells; for a wall along the grid each cell to 1 % at omega = 1, the mean to 0.1 %. */
#include "lbm/step/local_force.h"
#include "tests/lbm/walls/wall_shear_common.h"

#include <string.h>

/* Values in cells with an adjacent wall, compared with known ones. */
typedef struct known {
  double (*expect)(const struct known *known, const sight *at, double direction[3]);
  double height, force, omega, constant; /* of the channel */
  gab_forest *forest;
  double sum, worst, across; /* of shear divided by the expected value; largest errors */
  double away, far;          /* largest error of fine cells at that distance from the border */
  uint64_t seen[2];          /* by level */
} known;

static void compare(void *user, const sight *at)
{
  known *with = user;
  double direction[3];
  if (isnan(at->shear[0])) return;
  const double expected = with->expect(with, at, direction);
  double along = 0, square = 0;
  for (int k = 0; k < 3; k++) {
    along += at->shear[k] * direction[k];
    square += at->shear[k] * at->shear[k];
  }
  with->sum += along / expected;
  with->worst = fmax(with->worst, fabs(along / expected - 1));
  if (at->level == 1 && at->centre[0] > with->away && at->centre[0] < with->height / 2 - with->away)
    with->far = fmax(with->far, fabs(along / expected - 1));
  with->across = fmax(with->across, sqrt(fmax(0, square - along * along)) / fabs(expected));
  with->seen[at->level]++;
}

/* @return the error of the mean */
static double evaluate(gab_world *world, view *of, known *with)
{
  visit(of, compare, with);
  double most[3] = {with->worst, with->across, with->far};
  REQUIRE_OK(gab_world_max_f64(world, most, 3));
  REQUIRE_OK(gab_world_sum_u64(world, with->seen, 2));
  with->worst = most[0];
  with->across = most[1];
  with->far = most[2];
  return sum_of(world, with->sum) / (double)(with->seen[0] + with->seen[1]) - 1;
}

/* ---------------------------------------------------------------- plane channels */

static double on_plates(const known *with, const sight *at, double direction[3])
{
  (void)at;
  direction[0] = 1;
  direction[1] = direction[2] = 0;
  return with->force * with->height / 2;
}

static double half_driven(const known *with, const sight *at, double direction[3])
{
  direction[0] = 1;
  direction[1] = direction[2] = 0;
  return with->force * with->height * (at->centre[1] < with->height / 2 ? 3. / 8 : 1. / 8);
}

static double viscosity_of(const known *with) { return (1 / with->omega - 0.5) / 3; }

static void start_plates(void *user, const double centre[3], gab_lbm_state *state)
{
  const known *p = user;
  const double s = centre[1] / p->height, top = p->force * p->height * p->height / (8 * viscosity_of(p));
  if (p->constant > 0) return;
  state->velocity[0] = 4 * top * s * (1 - s);
  state->gradient[0][1] = 4 * top * (1 - 2 * s) / p->height;
}

static void drive(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                  double *const force[3])
{
  const known *p = user;
  double centre[3];
  gab_block_cell_centre(p->forest, block, first[0], first[1], first[2], centre);
  if (p->expect == half_driven && centre[1] > p->height / 2) return;
  for (int32_t i = 0; i < count; i++) force[0][i] = p->force;
}

static gab_mark mark_lower(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_mark mark_walls(void *user, int level, const gab_box *cells)
{
  const known *p = user;
  return level == 0 && (cells->lo[1] == 0 || cells->hi[1] == (int64_t)p->height) ? GAB_MARK_REFINE
                                                                                 : GAB_MARK_KEEP;
}

static gab_mark mark_left(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[0] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

typedef struct plates {
  int dimension;
  int32_t height;
  const gab_collision *collision; /* with eddies: at a small viscosity */
  gab_mark_place_fn mark;
  bool local, half;
} plates;

/* @return the error of the mean */
static double between_plates(gab_world *world, const plates *p, known *with)
{
  const bool eddies = p->collision == &gab_collision_smagorinsky;
  *with = (known){.expect = p->half ? half_driven : on_plates,
                  .height = p->height,
                  .force = eddies ? 1e-4 : 0.008 / pow(p->height, 3),
                  .omega = eddies ? 1 / (3 * 0.01 + 0.5) : 1,
                  .constant = eddies ? 0.8 : 0,
                  .away = 2};
  const int32_t deep = p->dimension == 3 ? 4 : 1;
  flow_case given = {.dimension = p->dimension,
                     .cells = {p->height, p->height, deep},
                     .block = {p->height / 2, p->height / 4, deep}};
  given.options = (gab_lbm_options){.collision = p->collision,
                                    .omega = with->omega,
                                    .smagorinsky = with->constant,
                                    .kernel = "in_place",
                                    .initial = start_plates,
                                    .initial_user = with};
  if (p->collision == &gab_collision_trt) given.options.magic = 3. / 16;
  given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  if (!p->local) given.options.force[0] = with->force;
  view of = open_view(world, &given, p->mark, with);
  with->forest = of.it.forest;
  const gab_local_force push = {"a push", with, drive};
  if (p->local) REQUIRE_OK(gab_lbm_set_local_force(of.it.lbm, &push));
  /* With a border across the flow its error must decay first, to a percent. */
  const double settled = p->mark == mark_left ? 6 : 25;
  flow_run(&of.it, (int)(settled * p->height * p->height / (9.87 * viscosity_of(with) * (eddies ? 2 : 1))));
  const double mean = evaluate(world, &of, with);
  close_view(&of);
  return mean;
}

static void exact_between_plates(gab_world *world)
{
  const gab_collision *trt = &gab_collision_trt, *srt = &gab_collision_srt, *les = &gab_collision_smagorinsky;
  const plates all[] = {{2, 16, trt, NULL, true, false},        {3, 16, srt, NULL, true, false},
                        {2, 16, trt, NULL, true, true},         {2, 16, les, NULL, false, false},
                        {3, 16, les, NULL, false, false},       {2, 16, les, NULL, true, false},
                        {2, 16, trt, mark_lower, false, false}, {2, 16, trt, mark_lower, true, false},
                        {2, 16, les, mark_walls, false, false}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    known with;
    (void)between_plates(world, &all[k], &with);
    const uint64_t deep = all[k].dimension == 3 ? 4 : 1;
    if (!(with.worst < 1e-9 && with.across < 1e-9))
      printf("case %zu: off by %g, %g\n", k, with.worst, with.across);
    CHECK(with.worst < 1e-9 && with.across < 1e-9);
    CHECK(with.seen[0] == (all[k].mark == mark_walls ? 0 : all[k].mark ? 16 : 32 * deep));
    CHECK(with.seen[1] == (all[k].mark == mark_walls ? 64 : all[k].mark ? 32 : 0));
  }
  /* The rate of shear s at the wall with eddies is the root of (nu + C^2 s) s = force * height / 2: nu s is less than half of it. */
  const double nu = 0.01, square = 0.8 * 0.8, stress = 1e-4 * 16 / 2;
  CHECK(nu * (sqrt(nu * nu + 4 * square * stress) - nu) / (2 * square) < 0.5 * stress);
}

static void across_a_border(gab_world *world)
{
  known with[2];
  double mean[2];
  for (int k = 0; k < 2; k++) {
    const plates p = {2, 16 << k, &gab_collision_trt, mark_left, false, false};
    mean[k] = between_plates(world, &p, &with[k]);
    CHECK(with[k].worst < 0.01 && with[k].far < 0.005 && fabs(mean[k]) < 1e-3);
  }
}

/* ---------------------------------------------------------------- channels along a diagonal */

/* Solid from the line through the origin, width n[0] / sqrt(2) apart, to n[1] / sqrt(2) from it. */
static double diagonal_distance(const gab_body *body, const double x[3])
{
  const double *n = body->numbers;
  const double s = fmod(x[0] - x[1] + 4 * n[0] + 0.3, n[0]);
  return (fmin(s, n[0] - s) - n[1]) / sqrt(2);
}

static double on_diagonal(const known *with, const sight *at, double direction[3])
{
  (void)at;
  direction[0] = direction[1] = sqrt(0.5);
  direction[2] = 0;
  return with->force * with->height / 2;
}

typedef struct diagonal {
  known with;
  double numbers[GAB_SHAPE_NUMBERS];
} diagonal;

static void start_diagonal(void *user, const double centre[3], gab_lbm_state *state)
{
  const diagonal *p = user;
  gab_body body = {0};
  memcpy(body.numbers, p->numbers, sizeof body.numbers);
  const double d = diagonal_distance(&body, centre), half = p->with.force / (2 * viscosity_of(&p->with));
  if (d > 0) state->velocity[0] = state->velocity[1] = sqrt(0.5) * half * d * (p->with.height - d);
}

/* @return the error of the mean */
static double along_diagonal(gab_world *world, int32_t width, gab_wall wall, gab_mark_place_fn mark,
                             known *with)
{
  static const gab_body_shape band = {.name = "band", .doc = "A diagonal.", .distance = diagonal_distance};
  const double thick = (wall == GAB_WALL_INTERPOLATED ? 3.4 : 3.5) * width / 16;
  diagonal it = {.with = {.expect = on_diagonal, .omega = 1, .height = (width - 2 * thick) / sqrt(2)},
                 .numbers = {width, thick}};
  it.with.force = 0.008 / pow(it.with.height, 3);
  gab_body body = {.shape = GAB_SHAPE_OWN,
                   .wall = wall,
                   .own = &band,
                   .lo = {-INFINITY, -INFINITY, -INFINITY},
                   .hi = {INFINITY, INFINITY, INFINITY}};
  memcpy(body.numbers, it.numbers, sizeof body.numbers);
  flow_case given = {.dimension = 2,
                     .cells = {width, width, 1},
                     .block = {width / 2, width / 4, 1},
                     .bodies = &body,
                     .body_count = 1};
  given.options = (gab_lbm_options){
      .omega = it.with.omega, .magic = 3. / 16, .initial = start_diagonal, .initial_user = &it};
  given.options.force[0] = given.options.force[1] = it.with.force * sqrt(0.5);
  view of = open_view(world, &given, mark, NULL);
  flow_run(&of.it, (int)(12 * it.with.height * it.with.height));
  const double mean = evaluate(world, &of, &it.with);
  *with = it.with;
  close_view(&of);
  return mean;
}

static void along_diagonals(gab_world *world)
{
  known smooth, steps;
  double crossing[2];
  for (int32_t width = 16; width <= 32; width *= 2) {
    const uint64_t links = 4 * (uint64_t)width; /* two cells of each row at each wall */
    const double mean = along_diagonal(world, width, GAB_WALL_INTERPOLATED, NULL, &smooth),
                 mean_of_steps = along_diagonal(world, width, GAB_WALL_STAIRCASE, NULL, &steps);
    CHECK(smooth.seen[0] == links && fabs(mean) < 0.012 && smooth.worst < 0.4 / width &&
          smooth.across < 1e-6);
    CHECK(steps.seen[0] == links && fabs(mean_of_steps) < 1e-5 && steps.across < 1e-6);
    CHECK(steps.worst < 2. / width && steps.worst > 1. / width);
    crossing[width / 32] = along_diagonal(world, width, GAB_WALL_INTERPOLATED, mark_left, &smooth);
    CHECK(smooth.worst < 2. / width && smooth.seen[0] == links / 2 && smooth.seen[1] >= links);
  }
  CHECK(fabs(crossing[0]) < 0.008 && fabs(crossing[1]) < 0.005);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  exact_between_plates(world);
  across_a_border(world);
  along_diagonals(world);
  return test_end(&world);
}
