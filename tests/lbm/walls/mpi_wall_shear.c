/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 long=1,4 timeout=120 */
/* The wall shear stress. For flows with a linear stress it is exact to rounding, in physical units, for any blocks
 * (also of one layer of cells) and processes: a channel driven by a force has half its height times the force on both
 * walls; Couette flow has it against the motion on the moving wall. Cells without an adjacent wall have none, also
 * next to open sides. In pipes of 10, 20 and 40 cells with interpolated walls it is radius times force / 2, the mean
 * to 1.2, 0.45 and 0.15 % and every cell to 3, 2 and 0.9 %; sparse blocks give the same values. */
#include "tests/lbm/walls/wall_shear_common.h"

/* ---------------------------------------------------------------- between plates */

typedef struct plates {
  int64_t height;
  double low, high; /* expected values there */
  double worst;
  uint64_t seen;
} plates;

static void compare_plates(void *user, const sight *seen)
{
  plates *at = user;
  const double *shear = seen->shear;
  const bool low = seen->cell[1] == 0, beside = low || seen->cell[1] == at->height - 1;
  for (int k = 0; k < 3; k++) REQUIRE(isnan(shear[k]) == !beside);
  if (!beside) return;
  const double expected = low ? at->low : at->high;
  at->worst = fmax(at->worst, fabs(shear[0] / expected - 1));
  at->worst = fmax(at->worst, (fabs(shear[1]) + fabs(shear[2])) / fabs(expected));
  at->seen++;
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

/* Two relaxation times as a function of one cell, with a rate that does not depend on omega; the trace of the stress
 * relaxes with another rate. */
static const double own_rate = 1.3, own_rate_of_trace = 0.9;
static void collide_cell(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced, double *f)
{
  const double *force = rates->force, odd = 1 / (0.5 + 3. / 16 / (1 / own_rate - 0.5));
  double drho = 0, u[3] = {0}, excess[GAB_LATTICE_MAX_Q], trace = 0, power = 0;
  (void)forced;
  for (int q = 0; q < lattice->q; q++) {
    drho += f[q];
    for (int axis = 0; axis < 3; axis++) u[axis] += lattice->c[q][axis] * f[q];
  }
  for (int axis = 0; axis < 3; axis++) {
    u[axis] = (u[axis] + 0.5 * force[axis]) / (1 + drho);
    power += u[axis] * force[axis];
  }
  for (int q = 0; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    excess[q] = f[q] - gab_lattice_equilibrium(lattice, q, drho, u);
    trace += (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) * excess[q];
  }
  for (int q = 0; q < lattice->q; q++) {
    const int back = gab_lattice_opposite(q);
    const int8_t *c = lattice->c[q];
    const double along = c[0] * force[0] + c[1] * force[1] + c[2] * force[2],
                 with = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    const double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    /* The isotropic part of the second moments with trace 1: its sum over q is 0. */
    const double even_trace =
        lattice->weight[q] * 4.5 * (square - lattice->dimension / 3.) / lattice->dimension;
    f[q] += -own_rate * 0.5 * (excess[q] + excess[back]) - odd * 0.5 * (excess[q] - excess[back]) +
            (own_rate - own_rate_of_trace) * even_trace * (trace + power) +
            lattice->weight[q] *
                ((1 - 0.5 * own_rate) * (9 * with * along - 3 * power) + (1 - 0.5 * odd) * 3 * along);
  }
}

static double own_magic(const gab_lbm_options *options, double even)
{
  (void)options, (void)even;
  return 3. / 16;
}

static const gab_collision by_cell = {.name = "by_cell",
                                      .title = "ByCell",
                                      .doc = "two relaxation times",
                                      .kernels = &gab_collision_kernels_of_cell,
                                      .cell = collide_cell,
                                      .magic = own_magic};

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
  if (collision == &by_cell) given.options.omega = 1.9; /* not the rate of the stress */
  else if (collision != &gab_collision_srt) given.options.magic = 3. / 16;
  given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  if (couette) {
    given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_VELOCITY;
    given.options.sides[GAB_SIDE_Y_MAX].velocity[0] = p.lid;
  }
  given.options.force[0] = 8 * nu * p.fastest / (height * height);
  view of = open_view(world, &given, NULL, NULL);
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

static void look_for_walls(void *user, const sight *seen)
{
  const int64_t *height = user;
  REQUIRE(isnan(seen->shear[0]) == (seen->cell[1] > 0 && seen->cell[1] < *height - 1));
}

static void between_open_sides(gab_world *world)
{
  int64_t height = 8;
  flow_case given = {.dimension = 2, .cells = {16, 8, 1}, .block = {4, 4, 1}, .options = {.omega = 1.2}};
  gab_side *sides = given.options.sides;
  sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.01, 0, 0}};
  sides[GAB_SIDE_X_MAX].kind = GAB_SIDE_OUTFLOW;
  sides[GAB_SIDE_Y_MIN].kind = sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  view of = open_view(world, &given, NULL, NULL);
  flow_run(&of.it, 3);
  visit(&of, look_for_walls, &height);
  close_view(&of);
}

/* ---------------------------------------------------------------- without shear */

static double told_rate(const gab_collision_rates *rates, double rho, double square)
{
  (void)rates, (void)rho, (void)square;
  return own_rate;
}

static void start_pulse(void *user, const double centre[3], gab_lbm_state *state)
{
  double square = 0;
  (void)user;
  for (int axis = 0; axis < 3; axis++) square += (centre[axis] - 4.5) * (centre[axis] - 4.5);
  state->density += 0.01 * exp(-square / 4);
}

/* A pulse of pressure: in its centre the compression is isotropic, and the rate of the stress cannot be measured
 * there. The strain is that of a collision with a known rate. */
static void in_a_pulse(gab_world *world)
{
  static gab_collision telling;
  enum { STEPS = 200 };
  double strain[2][STEPS];
  telling = by_cell;
  telling.rate_of_stress = told_rate;
  for (int told = 0; told < 2; told++) {
    flow_case given = {.dimension = 3, .cells = {9, 9, 9}, .block = {9, 3, 3}};
    given.options = (gab_lbm_options){.lattice = &gab_lattice_d3q19,
                                      .collision = told ? &telling : &by_cell,
                                      .omega = own_rate,
                                      .initial = start_pulse};
    flow it = flow_open(world, &given);
    for (int step = 0; step < STEPS; step++) {
      gab_lbm_integrals now;
      flow_run(&it, 1);
      REQUIRE_OK(gab_lbm_integrate(it.lbm, true, &now));
      strain[told][step] = now.strain;
    }
    flow_close(&it);
  }
  for (int step = 0; step < STEPS; step++) {
    const double off = fabs(strain[0][step] / strain[1][step] - 1);
    if (!(off < 1e-6)) printf("a pulse, step %d: strain off by %g\n", step, off);
    CHECK(strain[1][step] > 0 && off < 1e-6);
  }
}

/* ---------------------------------------------------------------- in a pipe */

typedef struct duct {
  double centre, radius, fastest, expected;
  double sum, worst, across; /* of the shear along the pipe; its largest error; the largest part across */
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

static void compare_pipe(void *user, const sight *seen)
{
  duct *at = user;
  const double *shear = seen->shear, y = seen->centre[1] - at->centre, z = seen->centre[2] - at->centre;
  const double away = at->radius - sqrt(y * y + z * z), longest_link = sqrt(2);
  at->wrong += isnan(shear[0]) ? away > 0 && away < 0.5 : away < 0 || away > longest_link;
  if (isnan(shear[0])) return;
  at->sum += shear[0] / at->expected;
  at->worst = fmax(at->worst, fabs(shear[0] / at->expected - 1));
  at->across = fmax(at->across, hypot(shear[1], shear[2]) / at->expected);
  at->seen++;
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
  view of = open_view(world, &given, NULL, NULL);
  flow_run(&of.it, (int)(p.radius * p.radius / nu));
  visit(&of, compare_pipe, &p);
  uint64_t counts[2] = {p.seen, p.wrong};
  double most[2] = {p.worst, p.across};
  const double sum = sum_of(world, p.sum);
  REQUIRE_OK(gab_world_sum_u64(world, counts, 2));
  REQUIRE_OK(gab_world_max_f64(world, most, 2));
  CHECK(counts[0] > 4 * 6 * (uint64_t)radius && counts[1] == 0);
  CHECK(most[1] < 0.02 / radius);
  *worst = most[0];
  close_view(&of);
  return fabs(sum / (double)counts[0] - 1);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int couette = 0; couette < 2; couette++) {
    between_plates(world, 2, 1, &gab_lattice_d2q9, &gab_collision_trt, 1.6, couette);
    between_plates(world, 2, 4, &gab_lattice_d2q9, &gab_collision_srt, 1, couette);
    between_plates(world, 3, 4, &gab_lattice_d3q19, &gab_collision_trt, 1.2, couette);
    between_plates(world, 2, 2, &gab_lattice_d2q9, &by_cell, own_rate, couette);
    between_plates(world, 3, 4, &gab_lattice_d3q19, &by_cell, own_rate, couette);
  }
  between_open_sides(world);
  in_a_pulse(world);
  double worst[3], sparse;
  const double coarse = in_a_pipe(world, 5, "in_place", &worst[0]),
               middle = in_a_pipe(world, 10, "in_place", &worst[1]);
  const double fine = in_a_pipe(world, 20, "in_place", &worst[2]),
               alone = in_a_pipe(world, 10, "sparse", &sparse);
  CHECK(coarse < 0.012 && middle < 0.0045 && fine < 0.0015 && coarse > 7 * fine); /* order 1.4 at least */
  CHECK(worst[0] < 0.03 && worst[1] < 0.02 && worst[2] < 0.009);
  CHECK(fabs(alone - middle) < 1e-12 && fabs(sparse - worst[1]) < 1e-12);
  return test_end(&world);
}
