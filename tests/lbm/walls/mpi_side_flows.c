/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=240 */
/* Sides next to walls. Flow between pressure sides, and in front of an outflow, is the flow driven by a force, with
 * all collisions and lattices, also with flow across the channel, and where a border between levels ends at the side.
 * A uniform flow at an angle to velocity sides stays uniform with all collisions. Called with "print": results of
 * each case. */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

enum { MOST = 32 };
static bool printing;
static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt, &gab_collision_mrt,
                                                  &gab_collision_rr, &gab_collision_smagorinsky};
enum { COLLISIONS = 5 };

typedef struct channel {
  const gab_lattice *lattice;
  const gab_collision *collision;
  double omega, cross; /* cross: velocity through both walls across y */
  gab_side_kind ends[2];
  bool refined; /* the lower half; in 3D z is periodic then */
} channel;

enum { LENGTH = 12, HEIGHT = 8 };
static const double top_speed = 1e-5;

static gab_mark mark_lower(void *user, int level, const gab_box *cells)
{
  const channel *given = user;
  return given->refined && level == 0 && cells->lo[1] < HEIGHT / 2 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* Driven by a pressure difference, an inlet with the profile, or (periodic ends) a force. */
static flow open_channel(gab_world *world, channel *given)
{
  flow made = {0};
  const bool deep = given->lattice->dimension == 3;
  const double viscosity = (1 / given->omega - 0.5) / 3, push = 8 * viscosity * top_speed / (HEIGHT * HEIGHT);
  const bool is_driven = given->ends[0] == GAB_SIDE_PERIODIC;
  gab_forest_options options = {
      .grid = {.dimension = given->lattice->dimension, .roots = {3, 2, deep ? 2 : 1}},
      .cells = {4, 4, deep ? 4 : 1},
      .periodic = {is_driven, false, deep && given->refined},
      .dx = 1};
  gab_lbm_options wanted = {.lattice = given->lattice, .collision = given->collision, .omega = given->omega};
  wanted.deepest = given->refined;
  for (int side = 2; side < 2 * given->lattice->dimension; side++) {
    wanted.sides[side].kind = side >= 4 && given->refined ? GAB_SIDE_PERIODIC : GAB_SIDE_WALL;
    if (side < 4 && given->cross != 0)
      wanted.sides[side] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0, given->cross, 0}};
  }
  if (is_driven) wanted.force[0] = push;
  for (int end = 0; end < 2 && !is_driven; end++)
    wanted.sides[end] = (gab_side){.kind = given->ends[end],
                                   .velocity = {top_speed, 0, 0},
                                   .profile = GAB_PROFILE_PARABOLIC,
                                   .density = 1 + (end == 0 ? 1.5 : -1.5) * push * LENGTH};
  wanted.velocity[1] = given->cross;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, &wanted, &made.lbm));
  REQUIRE_OK(
      gab_forest_build(made.forest, mark_lower, given, given->refined, gab_balance_distribute, NULL, NULL));
  return made;
}

/* By cell of the finest level; of all processes. */
typedef struct picture {
  double u[3][LENGTH][MOST][MOST];
} picture;

static void draw(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  picture *it = user;
  (void)density;
  (void)fluid;
  if (cell[0] >= LENGTH) return; /* of a finer level: only the first half of the channel */
  for (int axis = 0; axis < 3; axis++) it->u[axis][cell[0]][cell[1]][cell[2]] = u[axis];
}

/* Only of the blocks of one level. */
static void draw_level(const flow *it, int level, picture *drawn)
{
  const int32_t *cells = gab_forest_get_options(it->forest)->cells;
  const gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  double velocity[3 * 64];
  REQUIRE(count <= 64);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    if (gab_block_level(it->forest, block) != level) continue;
    const gab_box place = gab_block_cells(it->forest, block);
    REQUIRE_OK(gab_lbm_macroscopic(it->lbm, block, &box, NULL, velocity));
    for (size_t i = 0; i < count; i++) {
      const int64_t cell[3] = {place.lo[0] + (int64_t)i % cells[0],
                               place.lo[1] + (int64_t)i / cells[0] % cells[1],
                               place.lo[2] + (int64_t)i / cells[0] / cells[1]};
      draw(drawn, cell, true, 1, velocity + 3 * i);
    }
  }
}

static picture *picture_of(gab_world *world, channel given, int steps, int level)
{
  picture *drawn = calloc(1, sizeof *drawn);
  REQUIRE(drawn);
  flow it = open_channel(world, &given);
  flow_run(&it, steps);
  REQUIRE_OK(gab_lbm_check_finite(it.lbm, NULL));
  draw_level(&it, level, drawn);
  flow_close(&it);
  /* Each process has other cells, and zero elsewhere. */
  double *all = (double *)drawn;
  const size_t count = sizeof *drawn / sizeof(double);
  double *lowest = malloc(count * sizeof *lowest);
  REQUIRE(lowest);
  for (size_t i = 0; i < count; i++) lowest[i] = -all[i];
  REQUIRE_OK(gab_world_max_f64(world, all, (int)count));
  REQUIRE_OK(gab_world_max_f64(world, lowest, (int)count));
  for (size_t i = 0; i < count; i++) all[i] = all[i] != 0 ? all[i] : -lowest[i];
  free(lowest);
  return drawn;
}

/* The largest difference between two flows divided by the maximum of the first; of the second, column `column`
 * everywhere if not negative. */
static double difference(const picture *a, const picture *b, int column)
{
  double worst = 0, most = 0;
  for (int x = 0; x < LENGTH; x++)
    for (int y = 0; y < MOST; y++)
      for (int z = 0; z < MOST; z++)
        for (int axis = 0; axis < 3; axis++) {
          if (column >= 0 && x < column) continue;
          const double there = b->u[axis][column >= 0 ? column : x][y][z];
          most = fmax(most, fabs(there));
          worst = fmax(worst, fabs(a->u[axis][x][y][z] - there));
        }
  return most > 0 ? worst / most : 1e300;
}

static void expect(gab_world *world, const channel *given, const char *what, double seen, double most)
{
  if (printing && gab_world_rank(world) == 0)
    printf("%s, %s, omega %g, cross flow %g, %s: %.2e\n", given->lattice->name, given->collision->name,
           given->omega, given->cross, what, seen);
  else {
    if (!(seen < most))
      fprintf(stderr, "%s, %s, omega %g, cross flow %g, %s: %.2e\n", given->lattice->name,
              given->collision->name, given->omega, given->cross, what, seen);
    CHECK(seen < most);
  }
}

static void one_channel(gab_world *world, channel given)
{
  enum { STEPS = 1500 };
  given.ends[0] = given.ends[1] = GAB_SIDE_PERIODIC;
  picture *driven = picture_of(world, given, STEPS, 0);
  given.ends[0] = given.ends[1] = GAB_SIDE_PRESSURE;
  picture *pressure = picture_of(world, given, STEPS, 0);
  expect(world, &given, "between pressure sides", difference(pressure, driven, -1), 2e-4);
  free(pressure);
  free(driven);
  if (given.cross != 0) return;
  given.ends[0] = GAB_SIDE_VELOCITY;
  given.ends[1] = GAB_SIDE_OUTFLOW;
  picture *outflow = picture_of(world, given, STEPS, 0);
  expect(world, &given, "in front of an outflow", difference(outflow, outflow, 9),
         1.5e-2); /* its order: mpi_outflows.c */
  free(outflow);
}

static void levels(gab_world *world, const gab_lattice *lattice, const gab_collision *collision)
{
  channel given = {.lattice = lattice, .collision = collision, .omega = 1.2, .refined = true};
  given.ends[0] = given.ends[1] = GAB_SIDE_PERIODIC;
  for (int level = 0; level < 2; level++) {
    given.ends[0] = given.ends[1] = GAB_SIDE_PERIODIC;
    picture *driven = picture_of(world, given, 1500, level);
    given.ends[0] = given.ends[1] = GAB_SIDE_PRESSURE;
    picture *pressure = picture_of(world, given, 1500, level);
    expect(world, &given,
           level ? "finer half, between pressure sides" : "coarser half, between pressure sides",
           difference(pressure, driven, -1), 2e-5);
    free(pressure);
    free(driven);
  }
}

/* ------------------------------------------------------------------------------------------ uniform */

typedef struct uniform {
  double velocity[3], worst;
} uniform;

static void compare_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  uniform *it = user;
  (void)cell;
  (void)fluid;
  it->worst = fmax(it->worst, fabs(density - 1));
  for (int axis = 0; axis < 3; axis++) it->worst = fmax(it->worst, fabs(u[axis] - it->velocity[axis]));
}

/* Inlets and outlets on all sides. @param[in] open  x+ is a pressure side, y+ an outflow */
static void at_an_angle(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                        bool open)
{
  const bool deep = lattice->dimension == 3;
  flow_case given = {
      .dimension = lattice->dimension, .cells = {8, 8, deep ? 4 : 1}, .block = {4, 4, deep ? 4 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice, .collision = collision, .omega = 1.3};
  uniform it = {.velocity = {0.06, 0.03, deep ? -0.04 : 0}};
  memcpy(given.options.velocity, it.velocity, sizeof it.velocity);
  for (int side = 0; side < 2 * lattice->dimension; side++) {
    given.options.sides[side] = (gab_side){.kind = GAB_SIDE_VELOCITY};
    memcpy(given.options.sides[side].velocity, it.velocity, sizeof it.velocity);
  }
  if (open) given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_PRESSURE};
  if (open) given.options.sides[GAB_SIDE_Y_MAX] = (gab_side){.kind = GAB_SIDE_OUTFLOW};
  flow moved = flow_open(world, &given);
  flow_run(&moved, 60);
  flow_visit(&moved, compare_cell, &it);
  flow_close(&moved);
  if (printing && gab_world_rank(world) == 0)
    printf("%s, %s, uniform flow at an angle%s: %.2e\n", lattice->name, collision->name, open ? ", open" : "",
           it.worst);
  else CHECK(it.worst < 1e-13);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  static const double omegas[] = {1, 0.8, 1.7};
  const bool is_alone = gab_members_count(gab_world_members(world)) == 1;
  for (int l = 0; l < 3; l++)
    for (int c = 0; c < COLLISIONS; c++) {
      const gab_lattice *lattice = gab_lattice_at(l);
      if (collisions[c] == &gab_collision_mrt && lattice == &gab_lattice_d3q27) continue;
      at_an_angle(world, lattice, collisions[c], false);
      at_an_angle(world, lattice, collisions[c], true);
      const bool flat = lattice->dimension == 2;
      for (int o = 0; o < 3; o++)
        if (flat ? is_alone || c == o : is_alone && o == 0 && (l == 1 || c == 3))
          one_channel(world, (channel){.lattice = lattice, .collision = collisions[c], .omega = omegas[o]});
      if (flat && (is_alone || c == 0))
        one_channel(world,
                    (channel){.lattice = lattice, .collision = collisions[c], .omega = 1.3, .cross = 0.01});
      if (is_alone && (flat || (l == 1 && c == 0))) levels(world, lattice, collisions[c]);
    }
  return test_end(&world);
}
