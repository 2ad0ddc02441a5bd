/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1 timeout=240 labels=quick */
/* Interpolated walls with balanced mass are of second order in the maximum norm, as without the balance: plates at
 * any distance from the cells, a channel at an angle to the lattice, and cylinders at rest and spinning. Called with
 * "print" and the finest width in cells: all errors with and without the balance, and the change of the mass
 * (doc/walls.md). */
#include "lbm/lbm_impl.h"
#include "lbm/step/local_force.h"
#include "tests/lbm/lbm_common.h"

static const double pi = 3.14159265358979323846;

/* A flow with a known solution. */
typedef struct example {
  const char *name;
  flow_case given;
  gab_body bodies[2];
  double width, most;           /* of the gap, in cells; largest speed */
  double low, centre, inner, c; /* plates; cylinders: expected_around() */
  void (*expected)(const struct example *it, const double at[3], double u[2]);
  bool around;
  const gab_forest *forest;
  double worst, torque[2]; /* torque: relative errors of both cylinders, by Couette's formula */
} example;

static double parabola(const example *it, double s) { return 4 * it->most * s * (1 - s); }

/* ------------------------------------------------------------------------------------------ plates */

static void expected_plates(const example *it, const double at[3], double u[2])
{
  u[0] = parabola(it, (at[1] - it->low) / it->width);
  u[1] = 0;
}

static void make_plates(example *it, int width, double offset)
{
  *it = (example){.name = "plates", .width = width - 1 + 1.8 * offset, .low = 2.5 - offset};
  it->given = (flow_case){.dimension = 2, .cells = {4, width + 4, 1}, .block = {4, width + 4, 1}};
  it->expected = expected_plates;
  for (int k = 0; k < 2; k++)
    it->bodies[k] = (gab_body){.shape = GAB_SHAPE_BOX,
                               .wall = GAB_WALL_INTERPOLATED,
                               .lo = {-INFINITY, k == 0 ? -INFINITY : it->low + it->width, -INFINITY},
                               .hi = {INFINITY, k == 0 ? it->low : INFINITY, INFINITY}};
  it->given.body_count = 2;
}

/* ------------------------------------------------------------------------------------------ at an angle */

/* Along (2, 1), with a period of numbers[0] across; of width numbers[1]. */
static double across(const double numbers[GAB_SHAPE_NUMBERS], const double point[3])
{
  const double s = (2 * point[1] - point[0]) / sqrt(5) / numbers[0];
  return (s - floor(s) - 0.5) * numbers[0];
}
static double tilted_distance(const gab_body *body, const double point[3])
{
  return body->numbers[1] / 2 - fabs(across(body->numbers, point));
}
static const gab_body_shape tilted = {
    .name = "tilted", .doc = "A channel at an angle.", .distance = tilted_distance};

static void expected_tilted(const example *it, const double at[3], double u[2])
{
  const double speed = parabola(it, across(it->bodies[0].numbers, at) / it->width + 0.5);
  u[0] = 2 / sqrt(5) * speed;
  u[1] = 1 / sqrt(5) * speed;
}

static void make_tilted(example *it, int width, double offset)
{
  (void)offset;
  const int32_t height = (int32_t)ceil((width + 6) * sqrt(5) / 2);
  *it = (example){.name = "tilted", .width = width};
  it->given = (flow_case){.dimension = 2, .cells = {2 * height, height, 1}, .block = {2 * height, height, 1}};
  it->expected = expected_tilted;
  it->bodies[0] = (gab_body){.shape = GAB_SHAPE_OWN,
                             .own = &tilted,
                             .numbers = {height * 2 / sqrt(5), width},
                             .wall = GAB_WALL_INTERPOLATED,
                             .lo = {-INFINITY, -INFINITY, -INFINITY},
                             .hi = {INFINITY, INFINITY, INFINITY}};
  it->given.body_count = 1;
}

/* ------------------------------------------------------------------------------------------ cylinders */

/* Between two cylinders at rest a force 2 nu c / r around their axis drives the flow c (k r - r log(r) + b / r). */
static double around(const example *it, double r)
{
  const double a = it->inner, b = it->inner + it->width;
  const double k = (b * b * log(b) - a * a * log(a)) / (b * b - a * a);
  return it->c * (r * (k - log(r)) - a * a * b * b * log(b / a) / (b * b - a * a) / r);
}

static void expected_around(const example *it, const double at[3], double u[2])
{
  const double x = at[0] - it->centre, y = at[1] - it->centre, r = hypot(x, y), speed = around(it, r);
  u[0] = -speed * y / r;
  u[1] = speed * x / r;
}

static void drive_around(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                         double *const force[3])
{
  const example *it = user;
  const double nu = (1 / it->given.options.omega - 0.5) / 3;
  for (int32_t i = 0; i < count; i++) {
    double at[3];
    gab_block_cell_centre(it->forest, block, first[0] + i, first[1], first[2], at);
    const double x = at[0] - it->centre, y = at[1] - it->centre, r2 = x * x + y * y;
    force[0][i] = -2 * nu * it->c * y / r2;
    force[1][i] = 2 * nu * it->c * x / r2;
  }
}

static void make_around(example *it, int width, double offset)
{
  (void)offset;
  *it = (example){.name = "cylinders", .width = width, .inner = 0.5 * width + 0.13, .around = true};
  const int32_t cells = (int32_t)(3 * width + 6);
  it->centre = cells / 2. + 0.21;
  it->given = (flow_case){.dimension = 2, .cells = {cells, cells, 1}, .block = {cells, cells, 1}};
  it->expected = expected_around;
  for (int k = 0; k < 2; k++)
    it->bodies[k] = (gab_body){.shape = GAB_SHAPE_CYLINDER,
                               .wall = GAB_WALL_INTERPOLATED,
                               .inside_is_fluid = k == 1,
                               .centre = {it->centre, it->centre, 0},
                               .radius = it->inner + k * it->width,
                               .axis = 2};
  it->given.body_count = 2;
}

/* The inner one spins, the outer one is at rest (Taylor-Couette): a r + b / r. */
static void expected_between(const example *it, const double at[3], double u[2])
{
  const double x = at[0] - it->centre, y = at[1] - it->centre, r2 = x * x + y * y;
  const double a = it->inner, b = it->inner + it->width,
               share = it->most * a / (b * b - a * a) * (b * b / r2 - 1);
  u[0] = -share * y;
  u[1] = share * x;
}

static void make_spinning(example *it, int width, double offset)
{
  make_around(it, width, offset);
  it->name = "spinning";
  it->around = false;
  it->expected = expected_between;
  it->bodies[0].spin[2] = 0.64 / it->width / it->inner; /* speed 0.64 / width, as of all examples */
  for (int axis = 0; axis < 2; axis++) it->bodies[0].spin_centre[axis] = it->centre;
}

/* ------------------------------------------------------------------------------------------ errors */

static void compare(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  example *it = user;
  const double at[3] = {(double)cell[0] + 0.5, (double)cell[1] + 0.5, 0};
  double wanted[2];
  (void)density;
  if (!fluid) return;
  it->expected(it, at, wanted);
  it->worst = fmax(it->worst, hypot(u[0] - wanted[0], u[1] - wanted[1]) / it->most);
}

static void initial(void *user, const double centre[3], gab_lbm_state *state)
{
  const example *it = user;
  it->expected(it, centre, state->velocity);
}

static flow open_flow(gab_world *world, const flow_case *given, bool balanced)
{
  flow made = {0};
  gab_forest_options options = {.grid.dimension = 2, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    options.grid.roots[axis] = 1;
    options.cells[axis] = given->cells[axis];
    options.periodic[axis] = axis < 2;
  }
  gab_domain domain = gab_lbm_domain(&options);
  REQUIRE_OK(gab_geometry_create(&domain, given->bodies, given->body_count, &made.geometry));
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, made.geometry, &given->options, &made.lbm));
  REQUIRE(made.lbm->model.walls.is_on);
  made.lbm->model.walls.is_on = balanced;
  REQUIRE_OK(gab_balance_initial(made.forest, NULL, NULL));
  return made;
}

/* The torque of the inner cylinder on the fluid, and of the fluid on the outer one, is 4 pi rho nu a^2 b^2 spin /
 * (b^2 - a^2). */
static void compare_torque(flow *of, example *it, double nu)
{
  gab_body_load loads[2];
  const double a = it->inner, b = it->inner + it->width,
               wanted = 4 * pi * nu * a * a * b * b * it->bodies[0].spin[2] / (b * b - a * a);
  gab_lbm_request_forces(of->lbm);
  flow_run(of, 1);
  REQUIRE_OK(gab_lbm_loads(of->lbm, loads));
  for (int k = 0; k < 2; k++) it->torque[k] = (k == 0 ? -1 : 1) * loads[k].torque[2] / wanted - 1;
  CHECK(fabs(loads[0].torque[2] + loads[1].torque[2]) < 1e-4 * wanted); /* in a steady flow they balance */
  for (int axis = 0; axis < 2; axis++)
    CHECK(fabs(loads[0].force[axis] + loads[1].force[axis]) < 1e-4 * wanted / a);
}

/* @param[out] made  relative change of the mass */
static double error_of(gab_world *world, example *it, bool balanced, const gab_collision *collision,
                       double *made)
{
  gab_lbm_integrals start, end;
  const double omega = 1.2, nu = (1 / omega - 0.5) / 3;
  it->most = 0.64 / it->width;
  it->given.bodies = it->bodies;
  it->given.options = (gab_lbm_options){
      .omega = omega, .kernel = "in_place", .collision = collision, .initial = initial, .initial_user = it};
  if (it->around) {
    double most = 0;
    it->c = 1;
    for (int k = 1; k < 100; k++) most = fmax(most, around(it, it->inner + it->width * k / 100));
    it->c = it->most / most;
  } else if (it->expected != expected_between) {
    const double force = 8 * nu * it->most / (it->width * it->width);
    const bool tilts = it->expected == expected_tilted;
    it->given.options.force[0] = force * (tilts ? 2 / sqrt(5) : 1);
    it->given.options.force[1] = tilts ? force / sqrt(5) : 0;
  }
  flow of = open_flow(world, &it->given, balanced);
  it->forest = of.forest;
  const gab_local_force force = {"a stirrer", it, drive_around};
  if (it->around) REQUIRE_OK(gab_lbm_set_local_force(of.lbm, &force));
  REQUIRE_OK(gab_lbm_integrate(of.lbm, false, &start));
  flow_run(&of, (int)(8 * it->width * it->width / (pi * pi * nu)));
  REQUIRE_OK(gab_lbm_integrate(of.lbm, false, &end));
  *made = end.mass / start.mass - 1;
  it->worst = 0;
  flow_visit(&of, compare, it);
  if (it->expected == expected_between) compare_torque(&of, it, nu);
  flow_close(&of);
  return it->worst;
}

typedef void (*maker)(example *it, int width, double offset);
static const struct {
  maker make;
  double offset, least_order, most_error; /* from 8 to 16 cells, where the order is not yet reached; of 16 */
} examples[] = {{make_plates, 0.1, 1.75, 0.02},  {make_plates, 0.3, 1.75, 0.02},
                {make_plates, 0.5, 1.75, 0.02},  {make_plates, 0.7, 1.75, 0.02},
                {make_plates, 0.95, 1.75, 0.02}, {make_tilted, 0, 1.5, 0.01},
                {make_around, 0, 1.55, 0.05},    {make_spinning, 0, 1.5, 0.05}};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static double error_at(gab_world *world, int number, int width, bool balanced, double *made, double torque[2])
{
  example it;
  examples[number].make(&it, width, examples[number].offset);
  const double error = error_of(world, &it, balanced, &gab_collision_trt, made);
  memcpy(torque, it.torque, sizeof it.torque);
  return error;
}

static void print(gab_world *world, int finest)
{
  for (int i = 0; i < EXAMPLES; i++)
    for (int width = 8; width <= finest; width *= 2) {
      double mass[2], error[2], torque[2];
      example it;
      examples[i].make(&it, width, examples[i].offset);
      for (int balanced = 0; balanced < 2; balanced++)
        error[balanced] = error_at(world, i, width, balanced, &mass[balanced], torque);
      printf("%-10s %4.2f %3d cells: before %.3e mass %+.1e, now %.3e mass %+.1e\n", it.name,
             examples[i].offset, width, error[0], mass[0], error[1], mass[1]);
      if (it.expected == expected_between) printf("  torques %+.3e and %+.3e\n", torque[0], torque[1]);
      fflush(stdout);
    }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  if (argc > 2 && strcmp(argv[1], "print") == 0) print(world, atoi(argv[2]));
  for (int i = 0; i < EXAMPLES && argc == 1; i++) {
    double made, torque[2][2];
    const double coarse = error_at(world, i, 8, true, &made, torque[0]),
                 fine = error_at(world, i, 16, true, &made, torque[1]);
    if (fine > examples[i].most_error || log2(coarse / fine) < examples[i].least_order)
      fprintf(stderr, "example %d: errors %.3g and %.3g\n", i, coarse, fine);
    CHECK(fine < examples[i].most_error);
    CHECK(log2(coarse / fine) > examples[i].least_order);
    CHECK(fabs(made) < 1e-13);
    for (int k = 0; k < 2 && examples[i].make == make_spinning; k++)
      CHECK(fabs(torque[1][k]) < 0.01 && fabs(torque[1][k]) < 0.35 * fabs(torque[0][k]));
  }
  return test_end(&world);
}
