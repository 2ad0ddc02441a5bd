/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=120 labels=quick */
/* Synthetic turbulence at an inlet. Its waves are divergence-free, and have the requested intensity, integral length
 * and the spectrum of von Karman. The inflow is unchanged, also through a disc between walls. Fluctuations arrive
 * downstream. The bits are equal for all kernels, other blocks and after a restore. Called with "print": the table of
 * doc/sides.md. */
#include "core/messages/collective.h"
#include "lbm/lbm_impl.h"
#include "lbm/sides/side_turbulence_impl.h"
#include "tests/lbm/lbm_common.h"

static const double speed = 0.1;
static bool printing;

static gab_side_turbulence *turbulence_of(const gab_domain *domain, double intensity, double length,
                                          gab_side *side)
{
  const double mean[3] = {speed, 0, 0};
  gab_side_turbulence *made = calloc(1, sizeof *made);
  REQUIRE(made);
  made->rms = intensity;
  made->length = length;
  made->seed = 7;
  side->turbulence = made;
  REQUIRE_OK(gab_side_turbulence_draw(NULL, "boundaries.x_min", GAB_SIDE_X_MIN, domain, mean, side));
  return made;
}

/* ------------------------------------------------------------------------------------------ the formula */

static void check_formula(int dimension)
{
  const gab_domain domain = {.dimension = dimension,
                             .dx = 1,
                             .cells = {64, 96, dimension == 3 ? 96 : 1},
                             .periodic = {false, true, true}};
  enum { POINTS = 4000, LAGS = 60 };
  const double length = 8;
  gab_side side = {.kind = GAB_SIDE_VELOCITY, .velocity = {speed}};
  gab_side_turbulence *it = turbulence_of(&domain, 0.1, length, &side);
  double square[3] = {0}, mean[3] = {0}, correlation[LAGS] = {0}, worst = 0;
  for (int n = 0; n < GAB_SIDE_TURBULENCE_WAVES; n++) {
    double along = 0, size = 0;
    for (int axis = 0; axis < 3; axis++) along += it->k[axis][n] * it->a[axis][n];
    for (int axis = 0; axis < 3; axis++) size += it->k[axis][n] * it->k[axis][n];
    worst = fmax(worst, fabs(along) / sqrt(size) / (0.1 * speed));
  }
  CHECK(worst < 1e-14);
  for (int i = 0; i < POINTS; i++) {
    const double place[3] = {0, 96 * fmod(i * 0.7548776662, 1),
                             dimension == 3 ? 96 * fmod(i * 0.5698402910, 1) : 0};
    double u[3], later[3];
    const double steps = 37.0 * i;
    gab_side_turbulence_at(it, place, steps, u);
    for (int axis = 0; axis < 3; axis++) {
      square[axis] += u[axis] * u[axis] / POINTS;
      mean[axis] += u[axis] / POINTS;
    }
    for (int lag = 0; i % 4 == 0 && lag < LAGS; lag++) {
      gab_side_turbulence_at(it, place, steps + lag / speed, later);
      correlation[lag] += u[0] * later[0] / (POINTS / 4);
    }
  }
  double integral = 0.5;
  for (int lag = 1; lag < LAGS && correlation[lag] > 0; lag++) integral += correlation[lag] / correlation[0];
  for (int axis = 0; axis < dimension; axis++) {
    const double share = sqrt(square[axis]) / (0.1 * speed);
    if (printing)
      printf("%dD, component %d: rms %.3f of what is asked, mean %.1e\n", dimension, axis, share,
             mean[axis] / speed);
    CHECK(fabs(share - 1) < 0.12);
  }
  if (printing) printf("%dD: integral length %.2f, asked %.2f\n", dimension, integral, length);
  CHECK(fabs(integral / length - 1) < (dimension == 3 ? 0.2 : 0.5));
  free(it);
}

/* Given stresses are those of the waves, whatever the seed: in samples to what their number allows. */
static void check_stresses(int dimension)
{
  static const double asked[3][3] = {{9e-5, -3e-5, 1e-5}, {-3e-5, 4e-5, 5e-6}, {1e-5, 5e-6, 2.5e-5}};
  enum { POINTS = 20000 };
  const gab_domain domain = {.dimension = dimension,
                             .dx = 1,
                             .cells = {64, 96, dimension == 3 ? 96 : 1},
                             .periodic = {false, true, true}};
  for (uint64_t seed = 1; seed < 4; seed++) {
    const double velocity[3] = {speed, 0, 0};
    gab_side side = {.kind = GAB_SIDE_VELOCITY, .velocity = {speed}};
    gab_side_turbulence *it = calloc(1, sizeof *it);
    double seen[3][3] = {{0}};
    REQUIRE(it);
    *it = (gab_side_turbulence){.rms = 1, .has_stresses = true, .length = 6, .seed = seed};
    memcpy(it->stress, asked, sizeof asked);
    side.turbulence = it;
    REQUIRE_OK(gab_side_turbulence_draw(NULL, "boundaries.x_min", GAB_SIDE_X_MIN, &domain, velocity, &side));
    for (int i = 0; i < POINTS; i++) {
      const double place[3] = {0, 96 * fmod(i * 0.7548776662, 1),
                               dimension == 3 ? 96 * fmod(i * 0.5698402910, 1) : 0};
      double u[3];
      gab_side_turbulence_at(it, place, 137.0 * i, u);
      for (int a = 0; a < 9; a++) seen[a / 3][a % 3] += u[a / 3] * u[a % 3] / POINTS;
    }
    for (int a = 0; a < dimension; a++)
      for (int b = 0; b <= a; b++) {
        const double error = fabs(seen[a][b] - asked[a][b]) / sqrt(asked[a][a] * asked[b][b]);
        if (printing)
          printf("%dD, seed %d: stress %c%c is off by %.4f\n", dimension, (int)seed, "xyz"[a], "xyz"[b],
                 error);
        CHECK(error < 2 * sqrt(2.0 / POINTS));
      }
    free(it);
  }
}

/* ------------------------------------------------------------------------------------------ flows */

static gab_domain domain_of(const flow_case *given)
{
  gab_domain made = {.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    made.cells[axis] = given->cells[axis];
    made.periodic[axis] =
        axis >= given->dimension || given->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
  }
  return made;
}

static double sum_of(gab_world *world, double mine)
{
  gab_exact_sum sum = {0};
  gab_exact_add(&sum, mine);
  REQUIRE_OK(gab_world_sum_exact(world, &sum, 1));
  return gab_exact_value(&sum);
}

static void add_mass(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  (void)cell;
  (void)u;
  if (fluid) *(double *)user += density - 1;
}

/* Largest change of the mass, divided by the inflow per step, between an inlet with turbulence and an outlet of the
 * same flow rate. */
static double lost_mass(gab_world *world, const gab_lattice *lattice, bool through_disc)
{
  const bool deep = lattice->dimension == 3;
  flow_case given = {
      .dimension = lattice->dimension, .cells = {16, 24, deep ? 24 : 1}, .block = {8, 12, deep ? 12 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice, .omega = 1.6};
  for (int side = 2; side < 2 * lattice->dimension; side++)
    given.options.sides[side].kind = through_disc ? GAB_SIDE_WALL : GAB_SIDE_PERIODIC;
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {speed, 0, 0}};
  gab_side inlet = {.kind = GAB_SIDE_VELOCITY, .velocity = {speed, 0, 0}};
  given.options.sides[GAB_SIDE_X_MIN] = inlet;
  const gab_domain domain = domain_of(&given);
  gab_patches *patches = calloc(1, sizeof *patches);
  REQUIRE(patches);
  gab_side_turbulence *it;
  if (through_disc) {
    given.options.sides[GAB_SIDE_X_MIN] = given.options.sides[GAB_SIDE_X_MAX] =
        (gab_side){.kind = GAB_SIDE_WALL};
    patches->count = 2;
    for (int k = 0; k < 2; k++)
      patches->list[k] = (gab_patch){.name = "disc",
                                     .side = k,
                                     .region = GAB_PATCH_DISC,
                                     .centre = {0, 11, deep ? 10 : 0},
                                     .radius = 8,
                                     .condition = inlet};
    REQUIRE_OK(gab_patches_complete(patches, &domain));
    given.options.patches = patches;
    it = turbulence_of(&domain, 0.2, 3, &patches->list[0].condition);
  } else it = turbulence_of(&domain, 0.2, 3, &given.options.sides[GAB_SIDE_X_MIN]);
  flow flow_of = flow_open(world, &given);
  double worst = 0;
  for (int step = 0; step < 60; step++) {
    double mass = 0;
    flow_run(&flow_of, 1);
    flow_visit(&flow_of, add_mass, &mass);
    worst = fmax(worst, fabs(sum_of(world, mass)));
  }
  flow_close(&flow_of);
  gab_patches_release(patches); /* also frees the patch of the disc */
  if (!through_disc) free(it);
  free(patches);
  return worst / (speed * 24 * (deep ? 24 : 1));
}

enum { LONG = 64, WIDE = 24, FROM = 1500, TO = 3000 };
typedef struct statistics {
  double sum[LONG], square[LONG], count[LONG];
} statistics;

static void add_sample(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  statistics *it = user;
  (void)fluid;
  (void)density;
  it->sum[cell[0]] += u[0];
  it->square[cell[0]] += u[0] * u[0];
  it->count[cell[0]]++;
}

/* The rms of the velocity along x downstream, divided by that at the inlet. */
static void check_downstream(gab_world *world)
{
  flow_case given = {.dimension = 3, .cells = {LONG, WIDE, WIDE}, .block = {32, 24, 24}};
  given.options = (gab_lbm_options){
      .lattice = &gab_lattice_d3q19, .collision = &gab_collision_rr, .omega = 1.96, .velocity = {speed}};
  given.options.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {speed}};
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_OUTFLOW, .density = 1};
  const gab_domain domain = domain_of(&given);
  gab_side_turbulence *it = turbulence_of(&domain, 0.1, 6, &given.options.sides[GAB_SIDE_X_MIN]);
  flow made = flow_open(world, &given);
  statistics seen = {.sum = {0}};
  const int to = printing ? TO : 1000, from = printing ? FROM : 700;
  flow_run(&made, from);
  for (int step = from; step < to; step += 10) {
    flow_visit(&made, add_sample, &seen);
    flow_run(&made, 10);
  }
  flow_close(&made);
  free(it);
  for (int x = 4; x < LONG; x += 8) {
    const double mean = seen.sum[x] / seen.count[x];
    const double rms = sqrt(seen.square[x] / seen.count[x] - mean * mean) / (0.1 * speed);
    if (printing && gab_world_rank(world) == 0) printf("x %d: mean %.5f, rms %.3f\n", x, mean / speed, rms);
    CHECK(fabs(mean / speed - 1) < 0.01);
    if (x == 4) CHECK(rms > 0.6 && rms < 1.25);
    if (x == 28) CHECK(rms > 0.4 && rms < 1.2);
  }
}

/* A flow rate through half of a side doubles the velocity there, and not the fluctuations of given stresses; also after a restore. */
static void check_scale(gab_world *world, bool has_stresses)
{
  const gab_body body = {.shape = GAB_SHAPE_BOX, .lo = {-3, 12, -3}, .hi = {6, 30, 3}};
  flow_case given = {
      .dimension = 2, .cells = {16, 24, 1}, .block = {8, 8, 1}, .bodies = &body, .body_count = 1};
  given.options = (gab_lbm_options){.omega = 1.2};
  for (int side = 0; side < 4; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  given.options.sides[GAB_SIDE_X_MIN] =
      (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.5 * speed}, .flow_rate = 12 * speed};
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_OUTFLOW, .density = 1};
  const gab_domain domain = domain_of(&given);
  gab_side_turbulence *it = turbulence_of(&domain, 0.1, 3, &given.options.sides[GAB_SIDE_X_MIN]);
  it->has_stresses = has_stresses;
  flow made = flow_open(world, &given);
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  REQUIRE_OK(gab_lbm_sum_sides(made.lbm, sums));
  REQUIRE_OK(gab_lbm_set_flow_rates(made.lbm, sums, NULL));
  for (int restored = 0; restored < 2; restored++) {
    static gab_side_turbulence_now now;
    const double factor = gab_lbm_side_factor(made.lbm, GAB_SIDE_X_MIN, 0);
    REQUIRE_NEAR(factor, 2, 1e-12);
    gab_side_turbulence_set_time(&made.lbm->model, GAB_SIDE_X_MIN, 0, &now);
    REQUIRE_NEAR(factor * now.cosine[5], (has_stresses ? 1 : 2) * cos(it->phase[5]), 1e-12);
    flow_image image;
    flow_pack(&made, &image);
    it->scale = 0;
    flow_restore(&made, &image);
    flow_image_release(&image);
  }
  flow_close(&made);
  free(it);
}

/* ------------------------------------------------------------------------------------------ bits */

static uint64_t hash_of(gab_world *world, const char *kernel, int block, bool restores)
{
  const gab_body body = {.shape = GAB_SHAPE_SPHERE, .centre = {2, 8, 6}, .radius = 3.2};
  flow_case given = {
      .dimension = 3, .cells = {24, 16, 12}, .block = {block, block, 4}, .bodies = &body, .body_count = 1};
  given.options = (gab_lbm_options){
      .lattice = &gab_lattice_d3q27, .omega = 1.8, .kernel = kernel, .initial = noisy_state};
  given.options.sides[GAB_SIDE_X_MIN] =
      (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {speed, 0, 0}, .ramp_steps = 10};
  given.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_OUTFLOW, .density = 1};
  given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  given.options.sides[GAB_SIDE_Y_MIN].slip_length = 1.5;
  given.options.sides[GAB_SIDE_Y_MAX].roughness = 0.2;
  given.options.sides[GAB_SIDE_Y_MAX].sponge = (gab_sponge){.thickness = 6, .viscosity = 1, .roughness = 0.2};
  given.options.sides[GAB_SIDE_Z_MIN].kind = given.options.sides[GAB_SIDE_Z_MAX].kind = GAB_SIDE_WALL;
  given.options.sides[GAB_SIDE_Z_MAX].slip_length = 0.5;
  const gab_domain domain = domain_of(&given);
  gab_side_turbulence *it = turbulence_of(&domain, 0.3, 2.5, &given.options.sides[GAB_SIDE_X_MIN]);
  flow made = flow_open(world, &given);
  flow_run(&made, 9);
  if (restores) {
    flow_image image;
    flow_pack(&made, &image);
    flow_run(&made, 3);
    flow_restore(&made, &image);
    flow_image_release(&image);
  }
  flow_run(&made, 10);
  uint64_t hash = flow_hash(&made);
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  flow_close(&made);
  free(it);
  return hash;
}

static void check_bits(gab_world *world)
{
  const uint64_t wanted = hash_of(world, "reference", 8, false);
  CHECK(hash_of(world, "in_place", 8, false) == wanted);
  CHECK(hash_of(world, "sparse", 8, false) == wanted);
  CHECK(hash_of(world, "vector", 4, true) == wanted);
  CHECK(hash_of(world, "sparse", 4, true) == wanted);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  check_bits(world);
  if (gab_members_count(gab_world_members(world)) > 1) return test_end(&world);
  check_formula(3);
  check_stresses(2);
  check_stresses(3);
  check_formula(2);
  const gab_lattice *const lattices[] = {&gab_lattice_d2q9, &gab_lattice_d3q19, &gab_lattice_d3q27};
  for (int k = 0; k < 3; k++)
    for (int disc = 0; disc < 2; disc++) {
      const double lost = lost_mass(world, lattices[k], disc);
      if (printing)
        printf("%s, %s: mass %.1e of what enters\n", lattices[k]->name, disc ? "disc" : "all", lost);
      CHECK(lost < 1e-12);
    }
  check_scale(world, false);
  check_scale(world, true);
  check_downstream(world);
  return test_end(&world);
}
