/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=120 labels=quick */
/* Sponges in front of sides, characteristic and convective outlets. The reflection of a plane pulse of sound at a side with a
 * sponge follows from the damping, and two leaving vortices send less sound upstream; a convective outlet distorts them
 * less than an outflow. The sponge has the specified
 * viscosity. A flow with the values of the side is unchanged. The bits are equal for dense and sparse blocks, all
 * kernels, other blocks and after a restore, also on patches. Called with "print": the tables of doc/sides.md. */
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

static const double sound = 0.57735026918962576;
static bool printing;

/* ------------------------------------------------------------------------------------------ sound */

enum { TUBE = 240, MIDDLE = 120 };
static double pulse_width;

static void pulse(void *user, const double centre[3], gab_lbm_state *state)
{
  const double *amplitude = user, x = (centre[0] - MIDDLE) / pulse_width;
  const double drho = *amplitude * exp(-x * x / 2);
  state->density = 1 + drho;
  state->velocity[0] += sound * drho;
  state->gradient[0][0] = -sound * drho * x / pulse_width;
}

/* The reflected wave: (p - rho c u) / 2 of sound, divided by c^2. */
static void take_echo(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *most = user;
  if (fluid && cell[0] >= 40 && cell[0] < 200)
    *most = fmax(*most, fabs(density - 1 - (u[0] - most[1]) / sound) / 2);
}

/* Share of the amplitude of a pulse that the side x_max reflects. */
static double reflection(gab_world *world, const gab_collision *collision, const gab_side *side, double width,
                         double speed)
{
  static const double amplitude = 1e-4;
  flow_case given = {.dimension = 2, .cells = {TUBE, 4, 1}, .block = {40, 4, 1}};
  given.options = (gab_lbm_options){.lattice = &gab_lattice_d2q9,
                                    .collision = collision,
                                    .omega = 1.9,
                                    .velocity = {speed},
                                    .initial = pulse,
                                    .initial_user = (void *)(uintptr_t)&amplitude};
  given.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {speed}};
  given.options.sides[GAB_SIDE_X_MAX] = *side;
  pulse_width = width;
  flow it = flow_open(world, &given);
  flow_run(&it, (int)((TUBE - MIDDLE) / (sound + speed) + (TUBE - MIDDLE) / (sound - speed)));
  double seen[2] = {0, speed};
  flow_visit(&it, take_echo, seen);
  REQUIRE_OK(gab_world_max_f64(world, seen, 1));
  flow_close(&it);
  return seen[0] / amplitude;
}

/* ------------------------------------------------------------------------------------------ vortices */

enum { HEIGHT = 48, SHORT = 96, LONG = 3 * SHORT, EVERY = 10, ROWS = 100, PLANE = 12 };
static const double wind = 0.08;
static double spin = 0.06;

static void two_vortices(void *user, const double centre[3], gab_lbm_state *state)
{
  static const double place[2][2] = {{42, 18}, {56, 30}};
  (void)user;
  for (int v = 0; v < 2; v++) {
    const double radius = 6, x = centre[0] - place[v][0], y = centre[1] - place[v][1],
                 turn =
                     (v == 0 ? 1 : -1) * spin / radius * exp(0.5 - (x * x + y * y) / (2 * radius * radius));
    state->velocity[0] -= turn * y;
    state->velocity[1] += turn * x;
    state->density -= 1.5 * turn * turn * radius * radius; /* dp/dr = rho u^2 / r */
  }
}

/* Velocities of the cells of a process, 0 elsewhere; the flow rate through a plane, which is in one block. */
typedef struct snapshot {
  double u[SHORT][HEIGHT][2], rate;
} snapshot;

static void take_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  snapshot *seen = user;
  if (!fluid || cell[0] >= SHORT) return;
  for (int k = 0; k < 2; k++) seen->u[cell[0]][cell[1]][k] = u[k];
  if (cell[0] == PLANE) seen->rate += density * u[0] / (wind * HEIGHT);
}

static flow channel_of(gab_world *world, const gab_side *side, int length)
{
  flow_case given = {.dimension = 2, .cells = {length, HEIGHT, 1}, .block = {32, HEIGHT, 1}};
  given.options = (gab_lbm_options){
      .lattice = &gab_lattice_d2q9, .omega = 1.9, .velocity = {wind}, .initial = two_vortices};
  for (int k = 2; k < 4; k++) given.options.sides[k].kind = GAB_SIDE_FREE_SLIP;
  given.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {wind}};
  given.options.sides[GAB_SIDE_X_MAX] = *side;
  return flow_open(world, &given);
}

/* Largest differences from a channel three times as long, while vortices leave: of the flow rate upstream and of the velocity, anywhere,
 * over the largest one of the vortices. On one process. */
typedef struct leaving {
  double noise, distortion;
} leaving;

static leaving vortices_leave(gab_world *world, const gab_side *side, double fastest)
{
  static const gab_side outflow = {.kind = GAB_SIDE_OUTFLOW, .density = 1};
  static snapshot near, far;
  leaving worst = {0};
  spin = fastest;
  flow here = channel_of(world, side, SHORT), reference = channel_of(world, &outflow, LONG);
  for (int row = 0; row < ROWS; row++) {
    near.rate = far.rate = 0;
    flow_run(&here, EVERY);
    flow_run(&reference, EVERY);
    flow_visit(&here, take_cell, &near);
    flow_visit(&reference, take_cell, &far);
    worst.noise = fmax(worst.noise, fabs(near.rate - far.rate));
    for (int x = 0; x < SHORT; x++)
      for (int y = 0; y < HEIGHT; y++)
        for (int k = 0; k < 2; k++)
          worst.distortion = fmax(worst.distortion, fabs(near.u[x][y][k] - far.u[x][y][k]) / fastest);
  }
  flow_close(&here);
  flow_close(&reference);
  return worst;
}

/* ------------------------------------------------------------------------------------------ viscosity, rest */

static void take_peak(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *most = user;
  (void)cell;
  (void)density;
  if (fluid) *most = fmax(*most, u[0]);
}

/* Maximum of the flow between plates driven by a force, divided by that with the fluid's viscosity. */
static double channel_peak(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                           double omega, double viscosity)
{
  const bool deep = lattice->dimension == 3;
  const int height = 16;
  flow_case given = {
      .dimension = lattice->dimension, .cells = {8, height, deep ? 2 : 1}, .block = {4, 8, deep ? 2 : 1}};
  given.options =
      (gab_lbm_options){.lattice = lattice, .collision = collision, .omega = omega, .force = {1e-6}};
  given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  given.options.sides[GAB_SIDE_Y_MIN] =
      (gab_side){.kind = GAB_SIDE_VELOCITY, .sponge = {.thickness = 1e9, .viscosity = viscosity}};
  flow it = flow_open(world, &given);
  const double nu = (1 / omega - 0.5) / 3;
  flow_run(&it, (int)(2.0 * height * height / (fmin(viscosity, 4) * nu)));
  double most = 0;
  flow_visit(&it, take_peak, &most);
  REQUIRE_OK(gab_world_max_f64(world, &most, 1));
  flow_close(&it);
  return most / (1e-6 * height * height / (8 * nu));
}

static void check_viscosity(gab_world *world)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt,
                                                    &gab_collision_mrt, &gab_collision_rr};
  for (int c = 0; c < 4; c++) {
    const double two = channel_peak(world, &gab_lattice_d2q9, collisions[c], 1.6, 2);
    if (printing) printf("viscosity 2, %s: %.4f\n", collisions[c]->name, two);
    CHECK(fabs(two - 0.5) < 0.02);
  }
  CHECK(fabs(channel_peak(world, &gab_lattice_d3q19, &gab_collision_trt, 1.8, 4) - 0.25) < 0.015);
  /* The sponge ends at rate 1: viscosity 1/6, here 4 times that of the fluid. */
  CHECK(fabs(channel_peak(world, &gab_lattice_d2q9, &gab_collision_trt, 1.6, 100) - 0.25) < 0.02);
}

static void take_difference(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *most = user;
  (void)cell;
  if (fluid) *most = fmax(*most, fmax(fabs(density - 1), fabs(u[0] - wind) + fabs(u[1] - 0.02)));
}

static void check_uniform(gab_world *world)
{
  flow_case given = {.dimension = 2, .cells = {32, 16, 1}, .block = {8, 8, 1}};
  given.options = (gab_lbm_options){.lattice = &gab_lattice_d2q9, .omega = 1.7, .velocity = {wind, 0.02}};
  const gab_sponge sponge = {
      .thickness = 20, .rate = 0.3, .viscosity = 3, .velocity = {wind, 0.02}, .has_velocity = true};
  given.options.sides[GAB_SIDE_X_MIN] =
      (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {wind, 0.02}, .sponge = sponge};
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_OUTFLOW, .density = 1, .sponge = sponge};
  flow it = flow_open(world, &given);
  flow_run(&it, 200);
  double most = 0;
  flow_visit(&it, take_difference, &most);
  REQUIRE_OK(gab_world_max_f64(world, &most, 1));
  CHECK(most < 1e-13);
  flow_close(&it);
}

/* ------------------------------------------------------------------------------------------ bits */

static gab_side convective_side(double speed)
{
  return (gab_side){.kind = GAB_SIDE_CONVECTIVE, .density = 1, .advection = speed};
}

/* A box with a body, sponges on two sides and a patch with a sponge. */
static uint64_t hash_of(gab_world *world, bool convective, const char *kernel, int block, bool restores)
{
  const gab_body body = {.shape = GAB_SHAPE_SPHERE, .centre = {9, 8, 6}, .radius = 3.2};
  const gab_domain domain = {
      .dimension = 3, .dx = 1, .cells = {24, 16, 12}, .periodic = {false, false, true}};
  gab_patches *patches = calloc(1, sizeof *patches);
  REQUIRE(patches);
  patches->count = 1;
  patches->list[0] = (gab_patch){
      .name = "vent",
      .side = GAB_SIDE_Y_MAX,
      .region = GAB_PATCH_DISC,
      .centre = {15, 0, 6},
      .radius = 4,
      .condition = {.kind = GAB_SIDE_PRESSURE, .density = 1.004, .sponge = {.thickness = 6, .rate = 0.2}}};
  REQUIRE_OK(gab_patches_complete(patches, &domain));
  flow_case given = {
      .dimension = 3, .cells = {24, 16, 12}, .block = {block, block, 4}, .bodies = &body, .body_count = 1};
  given.options = (gab_lbm_options){.lattice = &gab_lattice_d3q19,
                                    .omega = 1.8,
                                    .kernel = kernel,
                                    .initial = noisy_state,
                                    .patches = patches};
  given.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY,
                                                   .velocity = {0.05, 0, 0},
                                                   .profile = GAB_PROFILE_PARABOLIC,
                                                   .ramp_steps = 10,
                                                   .sponge = {.thickness = 7.3, .rate = 0.1, .viscosity = 2}};
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_CHARACTERISTIC,
                                                   .density = 1,
                                                   .relaxation = 0.58,
                                                   .sponge = {.thickness = 9, .rate = 0.2, .viscosity = 9}};
  given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  if (convective) {
    given.options.sides[GAB_SIDE_X_MAX] = convective_side(0.05);
    patches->list[0].condition = convective_side(0.03);
    patches->list[0].condition.density = 1.004;
    patches->list[0].condition.part = given.options.sides[GAB_SIDE_Y_MAX].part;
  }
  flow it = flow_open(world, &given);
  flow_run(&it, 9);
  if (restores) {
    flow_image image;
    flow_pack(&it, &image);
    flow_run(&it, 3);
    flow_restore(&it, &image);
    flow_image_release(&image);
  }
  flow_run(&it, 10);
  uint64_t hash = flow_hash(&it);
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  flow_close(&it);
  gab_patches_release(patches);
  free(patches);
  return hash;
}

static void check_bits(gab_world *world, bool convective)
{
  const uint64_t wanted = hash_of(world, convective, "reference", 8, false);
  CHECK(hash_of(world, convective, "in_place", 8, false) == wanted);
  CHECK(hash_of(world, convective, "sparse", 8, false) == wanted);
  CHECK(hash_of(world, convective, "vector", 4, false) == wanted);
  CHECK(hash_of(world, convective, "sparse", 4, true) == wanted);
  CHECK(hash_of(world, convective, "in_place", 4, true) == wanted);
}

/* ------------------------------------------------------------------------------------------ tables */

/* A sponge by the damping of sound, as in parameter files. */
static gab_sponge sponge_of(double thickness, double damping, double viscosity, bool has_velocity,
                            double speed)
{
  return (gab_sponge){.thickness = thickness,
                      .rate = 1.5 * sound * damping / (has_velocity ? 1 : 0.5) / thickness,
                      .viscosity = viscosity,
                      .velocity = {speed},
                      .has_velocity = has_velocity};
}

static void check_echoes(gab_world *world)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt,
                                                    &gab_collision_mrt, &gab_collision_rr,
                                                    &gab_collision_smagorinsky};
  gab_side outlet = {.kind = GAB_SIDE_CHARACTERISTIC, .density = 1, .relaxation = 0.58};
  for (int c = 0; c < 5; c++) {
    const double echo = reflection(world, collisions[c], &outlet, 8, wind);
    if (printing) printf("characteristic, %s: %.3f\n", collisions[c]->name, echo);
    CHECK(echo < 0.07);
  }
  outlet = (gab_side){.kind = GAB_SIDE_OUTFLOW, .density = 1, .sponge = sponge_of(32, 4, 1, true, wind)};
  CHECK(reflection(world, &gab_collision_trt, &outlet, 12, wind) < 0.01);
  outlet.sponge = sponge_of(32, 2, 1, true, wind);
  const double less = reflection(world, &gab_collision_trt, &outlet, 12, wind);
  CHECK(less > 0.01 && less < 0.05); /* exp(-2) times the reflection of the outflow */
}

static void check_vortices(gab_world *world)
{
  const gab_side outflow = {.kind = GAB_SIDE_OUTFLOW, .density = 1}, convective = convective_side(wind);
  const leaving before = vortices_leave(world, &outflow, 0.06),
                now = vortices_leave(world, &convective, 0.06);
  CHECK(now.distortion < 0.5 * before.distortion);
  CHECK(now.noise < 0.5 * before.noise);
  CHECK(reflection(world, &gab_collision_trt, &convective, 12, wind) < 0.25);
}

static void print_table(gab_world *world)
{
  static const struct {
    const char *name;
    gab_side_kind kind;
    double thickness, damping, viscosity;
    bool has_velocity;
  } rows[] = {{"pressure", GAB_SIDE_PRESSURE, 0, 0, 1, false},
              {"outflow", GAB_SIDE_OUTFLOW, 0, 0, 1, false},
              {"characteristic", GAB_SIDE_CHARACTERISTIC, 0, 0, 1, false},
              {"convective", GAB_SIDE_CONVECTIVE, 0, 0, 1, false},
              {"pressure, sponge 32", GAB_SIDE_PRESSURE, 32, 4, 1, false},
              {"outflow, sponge 32", GAB_SIDE_OUTFLOW, 32, 4, 1, false},
              {"outflow, sponge 32, viscosity 50", GAB_SIDE_OUTFLOW, 32, 4, 50, false},
              {"pressure, sponge 32, velocity", GAB_SIDE_PRESSURE, 32, 4, 1, true},
              {"outflow, sponge 32, velocity", GAB_SIDE_OUTFLOW, 32, 4, 1, true},
              {"outflow, sponge 16, velocity", GAB_SIDE_OUTFLOW, 16, 4, 1, true},
              {"outflow, sponge 32, velocity, damping 8", GAB_SIDE_OUTFLOW, 32, 8, 1, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    gab_side side = {
        .kind = rows[i].kind, .density = 1, .relaxation = rows[i].kind == GAB_SIDE_CHARACTERISTIC ? 0.58 : 0};
    double seen[4];
    if (rows[i].kind == GAB_SIDE_CONVECTIVE) side.advection = wind;
    const double widths[] = {4, 12, 24};
    for (int k = 0; k < 4; k++) {
      const double speed = k < 3 ? 0 : wind;
      if (rows[i].thickness > 0)
        side.sponge =
            sponge_of(rows[i].thickness, rows[i].damping, rows[i].viscosity, rows[i].has_velocity, speed);
      seen[k] = reflection(world, &gab_collision_trt, &side, k == 3 ? 12 : widths[k], speed);
    }
    const leaving weak = vortices_leave(world, &side, 0.06), strong = vortices_leave(world, &side, 0.12);
    if (gab_world_rank(world) == 0)
      printf("| %s | %.2g | %.2g | %.2g | %.2g | %.2g %% | %.2g | %.2g %% | %.2g |\n", rows[i].name, seen[0],
             seen[1], seen[2], seen[3], 100 * weak.noise, weak.distortion, 100 * strong.noise,
             strong.distortion);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  if (printing) print_table(world);
  check_bits(world, false);
  check_bits(world, true);
  check_uniform(world);
  if (gab_members_count(gab_world_members(world)) > 1) return test_end(&world);
  check_viscosity(world);
  check_echoes(world);
  check_vortices(world);
  return test_end(&world);
}
