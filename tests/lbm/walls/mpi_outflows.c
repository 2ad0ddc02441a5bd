/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=120 labels=quick */
/* Outflows, also characteristic and convective ones. Channel flow in front of one converges with second order to the flow driven by
 * a force. Vortices that leave send no sound back: the flow rate through a plane far upstream is that in a channel
 * three times as long, where the vortices have not reached the outlet. Called with "print": the figures of
 * doc/sides.md. */
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

static bool printing;
static gab_side_kind outlet = GAB_SIDE_OUTFLOW;

static double advection; /* of a convective outlet */

static gab_side outlet_side(void)
{
  return (gab_side){.kind = outlet,
                    .density = 1,
                    .relaxation = outlet == GAB_SIDE_CHARACTERISTIC ? 0.58 : 0,
                    .advection = advection};
}

static void expect(const gab_world *world, const flow_case *of, const char *what, double seen, double most)
{
  const gab_lbm_options *options = &of->options;
  if (!printing) {
    if (!(seen < most))
      fprintf(stderr, "%s, %s, omega %g, %s: %.3e\n", options->lattice->name, options->collision->name,
              options->omega, what, seen);
    CHECK(seen < most);
  } else if (gab_world_rank(world) == 0)
    printf("%s, %s, omega %g, %s: %.3e\n", options->lattice->name, options->collision->name, options->omega,
           what, seen);
}

/* ------------------------------------------------------------------------------------------ channels */

static const double top_speed = 1e-5;

typedef struct last_column {
  int64_t x;
  double u[64], v[64];
} last_column;

static void take_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  last_column *it = user;
  (void)fluid;
  (void)density;
  if (cell[0] != it->x || cell[2] != 0) return;
  it->u[cell[1]] = u[0];
  it->v[cell[1]] = u[1];
}

static last_column column_of(gab_world *world, const flow_case *given, int steps)
{
  last_column seen = {.x = given->cells[0] - 1}, lowest = {0};
  flow it = flow_open(world, given);
  flow_run(&it, steps);
  flow_visit(&it, take_cell, &seen);
  for (int y = 0; y < 64; y++) {
    lowest.u[y] = -seen.u[y];
    lowest.v[y] = -seen.v[y];
  }
  REQUIRE_OK(gab_world_max_f64(world, seen.u, 128));
  REQUIRE_OK(gab_world_max_f64(world, lowest.u, 128));
  for (int y = 0; y < 64; y++) { /* each cell is on one process, 0 on the others */
    seen.u[y] = seen.u[y] != 0 ? seen.u[y] : -lowest.u[y];
    seen.v[y] = seen.v[y] != 0 ? seen.v[y] : -lowest.v[y];
  }
  flow_close(&it);
  return seen;
}

/* The largest difference in the last column from the flow driven by a force, divided by its maximum. */
static double channel_error(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                            double omega, int height, flow_case *given)
{
  const int steps = (int)(4 * height * height / ((1 / omega - 0.5) / 3));
  const double viscosity = (1 / omega - 0.5) / 3;
  const bool deep = lattice->dimension == 3;
  *given = (flow_case){.dimension = lattice->dimension,
                       .cells = {2 * height, height, deep ? 2 : 1},
                       .block = {height / 2, height / 2, deep ? 2 : 1}};
  given->options = (gab_lbm_options){.lattice = lattice, .collision = collision, .omega = omega};
  for (int side = 2; side < 4; side++) given->options.sides[side].kind = GAB_SIDE_WALL;
  flow_case driven = *given;
  driven.options.force[0] = 8 * viscosity * top_speed / (height * height);
  given->options.sides[GAB_SIDE_X_MIN] =
      (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {top_speed, 0, 0}, .profile = GAB_PROFILE_PARABOLIC};
  advection = 0.08; /* the state follows in some 1 / 0.08 steps, and ends at the same flow with any */
  given->options.sides[GAB_SIDE_X_MAX] = outlet_side();
  const last_column expected = column_of(world, &driven, steps), seen = column_of(world, given, steps);
  double worst = 0, most = 0;
  for (int y = 0; y < height; y++) {
    worst = fmax(worst, fmax(fabs(seen.u[y] - expected.u[y]), fabs(seen.v[y] - expected.v[y])));
    most = fmax(most, fabs(expected.u[y]));
  }
  return worst / most;
}

static void channel_orders(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                           double omega, int finest)
{
  flow_case given;
  double before = 0;
  for (int height = 8; height <= finest; height *= 2) {
    char what[80];
    const double error = channel_error(world, lattice, collision, omega, height, &given);
    snprintf(what, sizeof what, "error in front of an outflow, %d cells", height);
    expect(world, &given, what, error, 0.03);
    if (before > 0) expect(world, &given, "error over that with half the cells", error / before, 0.3);
    before = error;
  }
}

/* ------------------------------------------------------------------------------------------ vortices */

enum { HEIGHT = 48, SHORT = 96, LONG = 3 * SHORT, STEPS = 700, EVERY = 10, ROWS = STEPS / EVERY, PLANE = 12 };
static const double speed = 0.08;

/* Two Gaussian vortices of opposite rotation, one behind the other, off the centre line. */
static void two_vortices(void *user, const double centre[3], gab_lbm_state *state)
{
  static const double place[2][2] = {{58, 18}, {76, 30}};
  (void)user;
  for (int v = 0; v < 2; v++) {
    const double radius = 6, x = centre[0] - place[v][0], y = centre[1] - place[v][1],
                 turn =
                     (v == 0 ? 1 : -1) * 0.06 / radius * exp(0.5 - (x * x + y * y) / (2 * radius * radius));
    state->velocity[0] -= turn * y;
    state->velocity[1] += turn * x;
    state->density -= 1.5 * turn * turn * radius * radius; /* dp/dr = rho u^2 / r */
  }
}

static void add_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *sum = user;
  if (fluid && cell[0] == PLANE && cell[2] == 0) *sum += density * u[0];
}

/* Flow rate through the plane divided by that of the inlet, each EVERY steps. */
static void rates(gab_world *world, const flow_case *like, int length, double rate[ROWS])
{
  flow_case given = *like;
  given.cells[0] = length;
  flow it = flow_open(world, &given);
  for (int row = 0; row < ROWS; row++) {
    double sum = 0; /* the plane is in one block */
    flow_run(&it, EVERY);
    flow_visit(&it, add_cell, &sum);
    rate[row] = sum / (speed * HEIGHT);
  }
  REQUIRE_OK(gab_world_max_f64(world, rate, ROWS));
  flow_close(&it);
}

static void vortices_leave(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                           double omega, double most)
{
  const bool deep = lattice->dimension == 3;
  flow_case given = {.dimension = lattice->dimension,
                     .cells = {SHORT, HEIGHT, deep ? 2 : 1},
                     .block = {32, HEIGHT, deep ? 2 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice,
                                    .collision = collision,
                                    .omega = omega,
                                    .velocity = {speed},
                                    .initial = two_vortices};
  for (int side = 2; side < 4; side++) given.options.sides[side].kind = GAB_SIDE_FREE_SLIP;
  given.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {speed}};
  advection = speed;
  given.options.sides[GAB_SIDE_X_MAX] = outlet_side();
  double near[ROWS], far[ROWS], worst = 0;
  rates(world, &given, SHORT, near);
  rates(world, &given, LONG, far);
  for (int row = 0; row < ROWS; row++) worst = fmax(worst, fabs(near[row] - far[row]));
  expect(world, &given, "change of the flow rate upstream of vortices that leave", worst, most);
}

static void print_tables(gab_world *world, const gab_collision *const collisions[5])
{
  static const double rates_of_vortices[] = {0.8, 1.5, 1.8, 1.9, 1.94}, rates_of_channels[] = {0.7, 1, 1.7};
  static const gab_side_kind outlets[] = {GAB_SIDE_CONVECTIVE, GAB_SIDE_OUTFLOW, GAB_SIDE_CHARACTERISTIC};
  for (int c = 0; c < 15; c++) {
    outlet = outlets[c / 5];
    for (int o = 0; o < 5; o++)
      vortices_leave(world, &gab_lattice_d2q9, collisions[c % 5], rates_of_vortices[o], 1);
    for (int o = 0; o < 3; o++)
      channel_orders(world, &gab_lattice_d2q9, collisions[c % 5], rates_of_channels[o], 32);
  }
}

int main(int argc, char **argv)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt,
                                                    &gab_collision_mrt, &gab_collision_rr,
                                                    &gab_collision_smagorinsky};
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  if (printing) print_tables(world, collisions);
  outlet = GAB_SIDE_OUTFLOW;
  const bool is_alone = gab_members_count(gab_world_members(world)) == 1;
  for (int c = 0; c < (is_alone ? 5 : 1); c++)
    vortices_leave(world, &gab_lattice_d2q9, collisions[c], 1.8, 2e-3);
  for (int c = 0; c < (is_alone ? 3 : 0); c++) channel_orders(world, &gab_lattice_d2q9, collisions[c], 1, 16);
  channel_orders(world, &gab_lattice_d2q9, &gab_collision_rr, 1.7, 16);
  if (is_alone) {
    vortices_leave(world, &gab_lattice_d2q9, &gab_collision_trt, 1.94, 2e-3);
    vortices_leave(world, &gab_lattice_d2q9, &gab_collision_trt, 0.8, 2.5e-3);
    vortices_leave(world, &gab_lattice_d3q19, &gab_collision_trt, 1.8, 2e-3);
    channel_orders(world, &gab_lattice_d3q27, &gab_collision_trt, 1, 16);
    outlet = GAB_SIDE_CHARACTERISTIC;
    vortices_leave(world, &gab_lattice_d2q9, &gab_collision_rr, 1.8, 2e-2);
    channel_orders(world, &gab_lattice_d2q9, &gab_collision_trt, 1.7, 16);
    outlet = GAB_SIDE_CONVECTIVE;
    channel_orders(world, &gab_lattice_d2q9, &gab_collision_trt, 1.7, 16);
    vortices_leave(world, &gab_lattice_d2q9, &gab_collision_rr, 1.8, 2e-3);
    vortices_leave(world, &gab_lattice_d3q19, &gab_collision_trt, 1.8, 2e-3);
  }
  return test_end(&world);
}
