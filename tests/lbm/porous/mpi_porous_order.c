/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1 timeout=120 labels=quick */
/* Porous regions (lbm/porous/porous.h) against known solutions: Brinkman's channel and a channel whose lower half is porous converge; a plug has
 * the pressure drop of Darcy and Forchheimer; a body force in a porous box gives the velocity of the law, along each axis its own, with every
 * collision and kernel, and the force on the region is the body force. Called with "print": the figures of doc/porous.md. */
#include "lbm/lbm_impl.h"
#include "lbm/porous/drag_impl.h"
#include "tests/lbm/lbm_common.h"

static bool prints;

static const gab_body everywhere = {.name = "porous",
                                    .shape = GAB_SHAPE_BOX,
                                    .lo = {-INFINITY, -INFINITY, -INFINITY},
                                    .hi = {INFINITY, INFINITY, INFINITY}};

/* ------------------------------------------------------------------------------------------ channels */

typedef struct channel {
  int width;
  double linear, force, viscosity;
  double slip;  /* length, in cells */
  bool is_half; /* porous up to the middle only */
  double numbers[4];
  double most, worst; /* of the expected velocity; error */
} channel;

static double brinkman(const channel *it, double y)
{
  const double root = sqrt(it->linear / it->viscosity), middle = 0.5 * it->width;
  return it->force / it->linear *
         (1 - cosh(root * (y - middle)) / (cosh(root * middle) + it->slip * root * sinh(root * middle)));
}

/* Velocity and stress are continuous in the middle: u = U (1 - e^-ky) + A sinh(ky) below, with U = force / linear; above,
 * u = f/(2 nu) (H - y) (y - h) + S (H - y) with h = H/2. */
static double half_porous(const channel *it, double y)
{
  const double k = sqrt(it->linear / it->viscosity), h = 0.5 * it->width, far = it->force / it->linear,
               bend = it->force / (2 * it->viscosity);
  /* far (1 - e) + A s = S h;  far k e + A k c = bend h - S */
  const double e = exp(-k * h), s = sinh(k * h), c = cosh(k * h);
  const double a = (bend * h - far * k * e - far * (1 - e) / h) / (k * c + s / h);
  const double slope = (far * (1 - e) + a * s) / h;
  return y < h ? far * (1 - exp(-k * y)) + a * sinh(k * y)
               : bend * (it->width - y) * (y - h) + slope * (it->width - y);
}

static void compare(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  channel *it = user;
  const double y = (double)cell[1] + 0.5, expected = it->is_half ? half_porous(it, y) : brinkman(it, y);
  (void)density;
  if (!fluid) return;
  it->most = fmax(it->most, fabs(expected));
  it->worst = fmax(it->worst, fabs(u[0] - expected));
}

/* @return the largest error over the largest velocity */
static double channel_error(gab_world *world, int width, double drag, double slip, bool is_half)
{
  const double omega = 1.25;
  channel it = {.width = width, .linear = drag, .force = 1e-6, .slip = slip, .is_half = is_half};
  const gab_side wall = {.kind = GAB_SIDE_WALL, .slip_length = slip};
  gab_porous_region region = {.shape = everywhere, .linear = {drag, drag, drag}};
  it.viscosity = (1 / omega - 0.5) / 3;
  if (is_half) region.shape.hi[1] = 0.5 * width;
  const flow_case given = {.dimension = 2,
                           .cells = {2, width, 1},
                           .block = {2, width / 2, 1},
                           .options = {.omega = omega,
                                       .force = {it.force, 0, 0},
                                       .sides = {{0}, {0}, wall, wall},
                                       .porous = &region,
                                       .porous_count = 1}};
  flow of = flow_open(world, &given);
  flow_run(&of, 20 * width * width);
  flow_visit(&of, compare, &it);
  flow_close(&of);
  return it.worst / it.most;
}

static void channels_converge(gab_world *world, bool is_half, double drag, double slip, double order)
{
  double last = 0;
  for (int width = 8; width <= (prints ? 64 : 32); width *= 2) {
    const double here = channel_error(world, width, drag * 64 / (width * width), slip * width / 8, is_half);
    if (prints)
      printf("%s%s a %.3g at width %d: error %.3e, order %.2f\n", is_half ? "half" : "brinkman",
             slip > 0 ? " with slip" : "", drag * 64 / (width * width), width, here,
             last > 0 ? log2(last / here) : 0);
    CHECK(last == 0 || here < 1e-12 || log2(last / here) > order);
    last = here;
  }
}

/* ------------------------------------------------------------------------------------------ a plug */

typedef struct ends {
  int64_t length;
  double density[2], flow; /* in the first and the last cell; mass flow */
} ends;

static void find_ends(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  ends *it = user;
  (void)fluid;
  if (cell[1] != 0) return;
  if (cell[0] == 0) it->density[0] = density;
  if (cell[0] == it->length - 1) it->density[1] = density;
  if (cell[0] == it->length / 2) it->flow = density * u[0];
}

/* Along the plug d(density/3 + density u^2)/dx = -(A m + B m^2 / density) with the mass flow m: integrated in small steps.
 * @param[in] reaches_out  the plug ends at the outlet */
static double plug_error(gab_world *world, double linear, double quadratic, double speed, bool reaches_out)
{
  enum { LONG = 64, STEPS = 24000 };
  gab_porous_region region = {.shape = everywhere,
                              .linear = {linear, linear, linear},
                              .quadratic = {quadratic, quadratic, quadratic}};
  region.shape.lo[0] = LONG / 2 - 8;
  region.shape.hi[0] = reaches_out ? INFINITY : LONG / 2 + 8;
  const double plug = reaches_out ? LONG / 2 + 8 : 16;
  const flow_case given = {.dimension = 2,
                           .cells = {LONG, 2, 1},
                           .block = {LONG / 2, 2, 1},
                           .options = {.omega = 0.8,
                                       .sides = {{.kind = GAB_SIDE_VELOCITY, .velocity = {speed, 0, 0}},
                                                 {.kind = GAB_SIDE_PRESSURE, .density = 1}},
                                       .velocity = {speed, 0, 0},
                                       .porous = &region,
                                       .porous_count = 1}};
  ends it = {.length = LONG};
  flow of = flow_open(world, &given);
  gab_porous_load load;
  flow_run(&of, STEPS);
  flow_visit(&of, find_ends, &it);
  REQUIRE_OK(gab_lbm_porous_loads(of.lbm, &load));
  flow_close(&of);
  double momentum = 1 / 3.0 + it.flow * it.flow, density = 1;
  for (int i = 0; i < 1000; i++) {
    momentum += plug / 1000 * (linear * it.flow + quadratic * it.flow * it.flow / density);
    for (int k = 0; k < 50; k++) density = 3 * (momentum - it.flow * it.flow / density);
  }
  const double expected = (density - 1) / 3, found = (it.density[0] - 1) / 3;
  if (prints)
    printf("plug A %g B %g u %g%s: drop %.6e, expected %.6e, error %.2e; force %.6e, %.2e off\n", linear,
           quadratic, speed, reaches_out ? " at the outlet" : "", found, expected, fabs(found / expected - 1),
           load.force[0] / 2, fabs(load.force[0] / 2 / expected - 1));
  return fabs(found / expected - 1);
}

/* ------------------------------------------------------------------------------------------ boxes */

/* Uniform flow: the drag balances the body force. */
static void box_obeys_the_law(gab_world *world, int dimension, const gab_collision *collision,
                              const char *kernel, gab_precision precision)
{
  const int32_t size = 4, deep = dimension == 3 ? size : 1;
  const double exact = precision == GAB_PRECISION_FLOAT ? 2e-4 : 1e-9;
  const gab_porous_region region = {
      .shape = everywhere, .linear = {0.3, 0.02, 1.5}, .quadratic = {2, 30, 0.5}};
  const flow_case given = {.dimension = dimension,
                           .cells = {2 * size, size, deep},
                           .block = {size, size, deep},
                           .options = {.omega = 1.1,
                                       .collision = collision,
                                       .kernel = kernel,
                                       .precision = precision,
                                       .force = {4e-3, 1e-3, dimension == 3 ? -2e-3 : 0},
                                       .porous = &region,
                                       .porous_count = 1}};
  const gab_lbm_options *options = &given.options;
  flow of = flow_open(world, &given);
  gab_porous_load load;
  flow_run(&of, 800);
  REQUIRE_OK(gab_lbm_porous_loads(of.lbm, &load));
  gab_lbm_integrals sums;
  REQUIRE_OK(gab_lbm_integrate(of.lbm, false, &sums));
  const double *u = load.velocity, speed = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int axis = 0; axis < dimension; axis++) {
    const double drag = (region.linear[axis] + region.quadratic[axis] * speed) * u[axis];
    CHECK(fabs(drag / options->force[axis] - 1) < exact);
    CHECK(fabs(load.force[axis] / load.volume / options->force[axis] - 1) < exact);
    CHECK(fabs(sums.momentum[axis] / sums.mass / u[axis] - 1) < exact);
  }
  CHECK(load.cells == (uint64_t)(2 * size * size * deep));
  flow_close(&of);
}

static void boxes_obey_the_law(gab_world *world)
{
  for (int i = 0; gab_collision_at(i); i++)
    for (int dimension = 2; dimension <= 3; dimension++) {
      const gab_collision *collision = gab_collision_at(i);
      if (collision->rate_of_stress || /* refused */
          gab_collision_check_lattice(collision, gab_lattice_usual(dimension)) != GAB_OK)
        continue;
      box_obeys_the_law(world, dimension, collision, "in_place", GAB_PRECISION_DOUBLE);
    }
  box_obeys_the_law(world, 3, &gab_collision_trt, "vector", GAB_PRECISION_DOUBLE);
  box_obeys_the_law(world, 2, &gab_collision_trt, "reference", GAB_PRECISION_DOUBLE);
  box_obeys_the_law(world, 3, &gab_collision_trt, "sparse", GAB_PRECISION_DOUBLE);
  box_obeys_the_law(world, 2, &gab_collision_trt, "in_place", GAB_PRECISION_FLOAT);
}

/* ------------------------------------------------------------------------------------------ a wave */

enum { WAVE = 32, WAVE_STEPS = 20 };
static const double pi = 3.14159265358979323846;

static void wave(void *user, const double centre[3], gab_lbm_state *state)
{
  (void)user;
  state->velocity[0] += 1e-4 * sin(2 * pi / WAVE * centre[1]);
  state->gradient[0][1] = 1e-4 * 2 * pi / WAVE * cos(2 * pi / WAVE * centre[1]);
}

static void project(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *sums = user;
  const double y = 2 * pi / WAVE * ((double)cell[1] + 0.5);
  (void)fluid, (void)density;
  sums[0] += u[0] * sin(y);
  sums[1] += u[0] * cos(y);
}

/* A wave of shear in a uniform flow across it moves with the flow: the convective term has no share of the drag.
 * @return its speed over that of the flow, less 1 */
static double wave_speed_error(gab_world *world, double drag, const gab_collision *collision)
{
  const double speed = 0.05, omega = 1.6, viscosity = (1 / omega - 0.5) / 3, k = 2 * pi / WAVE;
  const gab_porous_region region = {.shape = everywhere, .linear = {drag, drag, drag}};
  const flow_case given = {.dimension = 2,
                           .cells = {2, WAVE, 1},
                           .block = {2, WAVE / 2, 1},
                           .options = {.omega = omega,
                                       .collision = collision,
                                       .velocity = {0, speed, 0},
                                       .force = {0, drag * speed, 0},
                                       .initial = wave,
                                       .porous = &region,
                                       .porous_count = 1}};
  double sums[2] = {0, 0};
  flow of = flow_open(world, &given);
  flow_run(&of, WAVE_STEPS);
  flow_visit(&of, project, sums);
  flow_close(&of);
  const double found = -atan2(sums[1], sums[0]) / (k * WAVE_STEPS * speed) - 1,
               left = hypot(sums[0], sums[1]) / (1e-4 * WAVE) /
                      pow((1 - drag / 2) / (1 + drag / 2), WAVE_STEPS) / exp(-viscosity * k * k * WAVE_STEPS);
  if (prints)
    printf("wave a %g, %s: speed %.2e off, amplitude %.2e off\n", drag, collision->name, found, left - 1);
  return fabs(found);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  prints = argc > 1 && strcmp(argv[1], "print") == 0;
  boxes_obey_the_law(world);
  for (double drag = prints ? 1 : 0.1; drag > 5e-4; drag /= 10) {
    channels_converge(world, false, drag, 0, prints ? 0.4 : 1.7);
    channels_converge(world, true, drag, 0, prints ? 1.6 : 1.7);
  }
  channels_converge(world, false, 0.1, 2, 1.3);
  for (double drag = 0; drag < 0.5; drag += 0.2) {
    CHECK(wave_speed_error(world, drag, &gab_collision_trt) < 0.02);
    CHECK(wave_speed_error(world, drag, &gab_collision_rr) < 0.02);
  }
  CHECK(plug_error(world, 0.01, 0, 0.01, false) < 1e-4);
  CHECK(plug_error(world, 0.001, 0.2, 0.02, false) < 1e-4);
  CHECK(plug_error(world, 0.5, 5, 0.002, false) < 1e-4);
  CHECK(plug_error(world, 0.001, 0.2, 0.02, true) < 1e-3);
  return test_end(&world);
}
