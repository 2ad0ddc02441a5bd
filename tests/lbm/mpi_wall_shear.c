/* gabion-test: np=1,2,4 timeout=120 labels=quick */
/* The wall shear stress. Of flows whose stress is linear it is exact to rounding, in physical units, whatever blocks (of one layer
 * of cells, too) and processes share them: a channel driven by a force, half its height times the force on both walls, and Couette
 * flow, against the motion on the wall that moves. Cells without a wall beside them have none, nor have those beside open sides. In
 * pipes of 10, 20 and 40 cells with interpolated walls it is radius times force / 2 with first order, the mean to 1, 0.5 and 0.3 %
 * and every cell to 8, 4 and 2.5 %; blocks that store fluid cells alone say the same. Around the cylinders of an array
 * friction and pressure, this in the middle of cells, together are the force on them to 8 %, and friction is about half of it. */
#include "lbm_common.h"

#include "core/messages/collective.h"
#include "lbm/observe/quantities.h"

static const gab_units units = {.dx = 0.5, .dt = 0.125, .density = 3};
#define TO_STRESS (3 * (0.5 / 0.125) * (0.5 / 0.125)) /* density * (dx / dt)^2 */

typedef struct view {
  flow it;
  gab_lbm_quantities *quantities;
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity *shear, *pressure;
} view;

/* As flow_open(), with the quantities before there are blocks. */
static view open_view(gab_world *world, const flow_case *given)
{
  view made = {0};
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; ++axis) {
    options.grid.roots[axis] = given->cells[axis] / given->block[axis];
    options.cells[axis] = given->block[axis];
    options.periodic[axis] =
        axis < given->dimension && given->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
    made.it.cells[axis] = given->cells[axis];
  }
  const gab_domain domain = gab_lbm_domain(&options);
  REQUIRE_OK(gab_geometry_create(&domain, given->bodies, given->body_count, &made.it.geometry));
  options.exists = gab_geometry_block_exists;
  options.weight = gab_geometry_block_weight;
  options.user = made.it.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.it.forest));
  REQUIRE_OK(gab_lbm_create(made.it.forest, made.it.geometry, &given->options, &made.it.lbm));
  REQUIRE(gab_lbm_quantity_needs("wall_shear_stress.x") == GAB_LBM_NEEDS_STRESS);
  REQUIRE_OK(
      gab_lbm_quantities_create(made.it.forest, made.it.lbm, &units, GAB_LBM_NEEDS_STRESS, &made.quantities));
  REQUIRE_OK(gab_balance_initial(made.it.forest, NULL, NULL));
  return made;
}

static void close_view(view *gone)
{
  gab_lbm_quantities_destroy(&gone->quantities);
  flow_close(&gone->it);
}

/* Called with each local cell, its shear and its pressure. */
typedef void (*shear_visitor)(void *user, const int64_t cell[3], const double shear[3], double pressure);

static void visit(view *of, shear_visitor see, void *user)
{
  const int32_t *cells = gab_forest_get_options(of->it.forest)->cells;
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  const gab_quantity_list list = gab_lbm_quantities_list(
      of->quantities, gab_forest_get_options(of->it.forest)->grid.dimension, of->items);
  double *shear = malloc(3 * count * sizeof *shear), *pressure = malloc(count * sizeof *pressure);
  REQUIRE(shear && pressure);
  REQUIRE_OK(gab_quantity_find(list, "wall_shear_stress", &of->shear));
  REQUIRE_OK(gab_quantity_find(list, "pressure", &of->pressure));
  REQUIRE_OK(gab_lbm_quantities_update(of->quantities));
  for (size_t b = 0; b < gab_forest_block_count(of->it.forest); ++b) {
    const gab_block *block = gab_forest_block(of->it.forest, b);
    const gab_box place = gab_block_cells(of->it.forest, block);
    REQUIRE_OK(of->shear->evaluate(of->shear->user, of->it.forest, block, shear));
    REQUIRE_OK(of->pressure->evaluate(of->pressure->user, of->it.forest, block, pressure));
    for (size_t i = 0; i < count; ++i) {
      const size_t x = i % (size_t)cells[0], y = i / (size_t)cells[0] % (size_t)cells[1],
                   z = i / (size_t)cells[0] / (size_t)cells[1];
      const int64_t cell[3] = {place.lo[0] + (int64_t)x, place.lo[1] + (int64_t)y, place.lo[2] + (int64_t)z};
      see(user, cell, shear + 3 * i, pressure[i]);
    }
  }
  free(shear);
  free(pressure);
}

/* ---------------------------------------------------------------- between plates */

typedef struct plates {
  int64_t height;
  double low, high; /* what is expected there */
  double worst;
  uint64_t seen;
} plates;

static void compare_plates(void *user, const int64_t cell[3], const double shear[3], double pressure)
{
  plates *at = user;
  const bool beside = cell[1] == 0 || cell[1] == at->height - 1;
  (void)pressure;
  for (int k = 0; k < 3; ++k) REQUIRE(isnan(shear[k]) == !beside);
  if (!beside) return;
  const double expected = TO_STRESS * (cell[1] == 0 ? at->low : at->high);
  at->worst = fmax(at->worst, fabs(shear[0] / expected - 1));
  at->worst = fmax(at->worst, (fabs(shear[1]) + fabs(shear[2])) / fabs(expected));
  ++at->seen;
}

typedef struct profile {
  double height, fastest, lid;
} profile;

static void start_profile(void *user, const double centre[3], gab_lbm_state *state)
{
  const profile *p = user;
  const double s = centre[1] / p->height;
  state->velocity[0] = 4 * p->fastest * s * (1 - s) + p->lid * s;
  state->gradient[0][1] = (4 * p->fastest * (1 - 2 * s) + p->lid) / p->height;
}

static void between_plates(gab_world *world, int dimension, int32_t layers, const gab_lattice *lattice,
                           const gab_collision *collision, double omega, bool couette)
{
  const int32_t height = 12;
  const double nu = (1 / omega - 0.5) / 3;
  profile p = {.height = height, .fastest = couette ? 0 : 0.01, .lid = couette ? 0.02 : 0};
  flow_case given = {.dimension = dimension,
                     .cells = {8, height, dimension == 3 ? 4 : 1},
                     .block = {4, layers, dimension == 3 ? 4 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice,
                                    .collision = collision,
                                    .omega = omega,
                                    .initial = start_profile,
                                    .initial_user = &p};
  if (collision != &gab_collision_srt) given.options.magic = 3. / 16;
  given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  if (couette) {
    given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_VELOCITY;
    given.options.sides[GAB_SIDE_Y_MAX].velocity[0] = p.lid;
  }
  given.options.force[0] = 8 * nu * p.fastest / (height * height);
  view of = open_view(world, &given);
  flow_run(&of.it, (int)(25 * height * height / (9.87 * nu)));
  plates at = {.height = height,
               .low = couette ? nu * p.lid / height : given.options.force[0] * height / 2,
               .high = couette ? -nu * p.lid / height : given.options.force[0] * height / 2};
  visit(&of, compare_plates, &at);
  REQUIRE_OK(gab_world_sum_u64(world, &at.seen, 1));
  REQUIRE(at.seen == 2 * 8 * (uint64_t)given.cells[2]);
  if (!(at.worst < 1e-9))
    printf("%s, %s, omega %g, %s: off by %g\n", lattice->name, collision->name, omega,
           couette ? "Couette" : "Poiseuille", at.worst);
  CHECK(at.worst < 1e-9);
  close_view(&of);
}

static void look_for_walls(void *user, const int64_t cell[3], const double shear[3], double pressure)
{
  const int64_t *height = user;
  (void)pressure;
  REQUIRE(isnan(shear[0]) == (cell[1] > 0 && cell[1] < *height - 1));
}

static void between_open_sides(gab_world *world)
{
  int64_t height = 8;
  flow_case given = {.dimension = 2, .cells = {16, 8, 1}, .block = {4, 4, 1}, .options = {.omega = 1.2}};
  gab_side *sides = given.options.sides;
  sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.01, 0, 0}};
  sides[GAB_SIDE_X_MAX].kind = GAB_SIDE_OUTFLOW;
  sides[GAB_SIDE_Y_MIN].kind = sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  view of = open_view(world, &given);
  flow_run(&of.it, 3);
  visit(&of, look_for_walls, &height);
  close_view(&of);
}

/* ---------------------------------------------------------------- in a pipe */

typedef struct duct {
  double centre, radius, fastest, expected;
  double sum, worst, across; /* of the shear along the pipe, its largest error, what is not along it */
  uint64_t seen, wrong;
} duct;

static void start_pipe(void *user, const double centre[3], gab_lbm_state *state)
{
  const duct *p = user;
  const double y = centre[1] - p->centre, z = centre[2] - p->centre, square = p->radius * p->radius;
  state->velocity[0] = p->fastest * (1 - (y * y + z * z) / square);
  state->gradient[0][1] = -2 * p->fastest * y / square;
  state->gradient[0][2] = -2 * p->fastest * z / square;
}

static void compare_pipe(void *user, const int64_t cell[3], const double shear[3], double pressure)
{
  duct *at = user;
  const double y = (double)cell[1] + 0.5 - at->centre, z = (double)cell[2] + 0.5 - at->centre;
  const double away = at->radius - sqrt(y * y + z * z);
  (void)pressure;
  at->wrong += isnan(shear[0]) ? away > 0 && away < 0.5 : away < 0 || away > 1.75;
  if (isnan(shear[0])) return;
  at->sum += shear[0] / TO_STRESS / at->expected;
  at->worst = fmax(at->worst, fabs(shear[0] / TO_STRESS / at->expected - 1));
  at->across = fmax(at->across, hypot(shear[1], shear[2]) / TO_STRESS / at->expected);
  ++at->seen;
}

/* @return the error of the mean */
static double in_a_pipe(gab_world *world, int radius, const char *kernel, double *worst)
{
  const double omega = 1, nu = 1. / 6;
  const int32_t width = 2 * radius + 4;
  duct p = {.centre = width / 2. + 0.2, .radius = radius + 0.1, .fastest = 0.02};
  const gab_body body = {.shape = GAB_SHAPE_CYLINDER,
                         .wall = GAB_WALL_INTERPOLATED,
                         .inside_is_fluid = true,
                         .centre = {0, p.centre, p.centre},
                         .radius = p.radius,
                         .axis = 0};
  flow_case given = {.dimension = 3,
                     .cells = {4, width, width},
                     .block = {4, width / 2, width / 2},
                     .bodies = &body,
                     .body_count = 1};
  given.options =
      (gab_lbm_options){.omega = omega, .kernel = kernel, .initial = start_pipe, .initial_user = &p};
  given.options.force[0] = 4 * nu * p.fastest / (p.radius * p.radius);
  p.expected = given.options.force[0] * p.radius / 2;
  view of = open_view(world, &given);
  flow_run(&of.it, (int)(p.radius * p.radius / nu));
  visit(&of, compare_pipe, &p);
  uint64_t counts[2] = {p.seen, p.wrong};
  double most[2] = {p.worst, p.across};
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  gab_exact_add(&sum, p.sum);
  REQUIRE_OK(gab_world_sum_exact(world, &sum, 1));
  REQUIRE_OK(gab_world_sum_u64(world, counts, 2));
  REQUIRE_OK(gab_world_max_f64(world, most, 2));
  CHECK(counts[0] > 4 * 6 * (uint64_t)radius && counts[1] == 0);
  CHECK(most[1] < 0.02 / radius);
  *worst = most[0];
  close_view(&of);
  return fabs(gab_exact_value(&sum) / (double)counts[0] - 1);
}

/* ---------------------------------------------------------------- around a cylinder */

enum { SECTORS = 48 };
typedef struct ring {
  double centre, sum[SECTORS][2]; /* friction and pressure along x */
  double count[SECTORS];
} ring;

static void add_to_ring(void *user, const int64_t cell[3], const double shear[3], double pressure)
{
  ring *at = user;
  if (isnan(shear[0])) return;
  const double angle = atan2((double)cell[1] + 0.5 - at->centre, (double)cell[0] + 0.5 - at->centre);
  const int sector =
      (int)((angle + 3.14159265358979323846) / (2 * 3.14159265358979323846) * SECTORS) % SECTORS;
  at->sum[sector][0] += shear[0] / TO_STRESS;
  at->sum[sector][1] += -cos(angle) * pressure / TO_STRESS;
  at->count[sector] += 1;
}

static void around_a_cylinder(gab_world *world)
{
  const double radius = 12, nu = 1. / 6;
  const int32_t width = 64;
  ring at = {.centre = width / 2.};
  const gab_body body = {.shape = GAB_SHAPE_CYLINDER,
                         .wall = GAB_WALL_INTERPOLATED,
                         .centre = {at.centre, at.centre, 0},
                         .radius = radius,
                         .axis = 2};
  flow_case given = {
      .dimension = 2, .cells = {width, width, 1}, .block = {16, 32, 1}, .bodies = &body, .body_count = 1};
  given.options = (gab_lbm_options){.omega = 1 / (3 * nu + 0.5)};
  given.options.force[0] = 2e-6;
  view of = open_view(world, &given);
  flow_run(&of.it, 6000);
  gab_lbm_request_forces(of.it.lbm);
  flow_run(&of.it, 1);
  double force[3], total[2] = {0, 0};
  REQUIRE_OK(gab_lbm_force(of.it.lbm, 0, force));
  visit(&of, add_to_ring, &at);
  for (int sector = 0; sector < SECTORS; ++sector) {
    gab_exact_sum sums[3];
    for (int k = 0; k < 3; ++k) {
      gab_exact_clear(&sums[k]);
      gab_exact_add(&sums[k], k < 2 ? at.sum[sector][k] : at.count[sector]);
    }
    REQUIRE_OK(gab_world_sum_exact(world, sums, 3));
    REQUIRE(gab_exact_value(&sums[2]) > 0);
    for (int k = 0; k < 2; ++k)
      total[k] += gab_exact_value(&sums[k]) / gab_exact_value(&sums[2]) * 2 * 3.14159265358979323846 *
                  radius / SECTORS;
  }
  const double fluid = width * width - 3.14159265358979323846 * radius * radius;
  CHECK(fabs(force[0] / (fluid * given.options.force[0]) - 1) < 0.01);
  CHECK(fabs((total[0] + total[1]) / force[0] - 1) < 0.08);
  CHECK(total[0] > 0.25 * force[0] && total[0] < 0.6 * force[0]);
  close_view(&of);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int couette = 0; couette < 2; ++couette) {
    between_plates(world, 2, 1, &gab_lattice_d2q9, &gab_collision_trt, 1.6, couette);
    between_plates(world, 2, 4, &gab_lattice_d2q9, &gab_collision_srt, 1, couette);
    between_plates(world, 3, 4, &gab_lattice_d3q19, &gab_collision_trt, 1.2, couette);
  }
  between_open_sides(world);
  double worst[3], sparse;
  const double coarse = in_a_pipe(world, 5, "in_place", &worst[0]),
               middle = in_a_pipe(world, 10, "in_place", &worst[1]);
  const double fine = in_a_pipe(world, 20, "in_place", &worst[2]),
               alone = in_a_pipe(world, 10, "sparse", &sparse);
  CHECK(coarse < 0.01 && middle < 0.005 && fine < 0.003 && coarse > 2.5 * fine);
  CHECK(worst[0] < 0.08 && worst[1] < 0.04 && worst[2] < 0.025);
  CHECK(fabs(alone - middle) < 1e-12 && fabs(sparse - worst[1]) < 1e-12);
  around_a_cylinder(world);
  return test_end(&world);
}
