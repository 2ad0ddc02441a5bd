/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=120 labels=quick */
/* Walls with a slip length. Couette flow has the slip and the profile of Navier's condition with all collisions,
 * Poiseuille flow with TRT; with others it converges to them. Walls with a roughness length: below a lid, a log law
 * that starts with half of its velocity becomes exact in all cells, with all collisions, for any ratio of height and
 * roughness length. A closed box conserves mass. Called with "print": the table of doc/sides.md. */
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

static bool printing;
enum { HIGHEST = 64 };

static void take_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *profile = user;
  (void)density;
  if (fluid && cell[0] == 0 && cell[2] == 0) profile[cell[1]] = u[0];
}

/* Largest difference from the exact profile divided by its maximum; slip length `share' of the height on one or both
 * walls. */
static double error_of(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                       double omega, int height, double share, bool is_couette)
{
  const bool deep = lattice->dimension == 3;
  const double b = share * height, top = 0.01 * 8.0 / height, nu = (1 / omega - 0.5) / 3,
               force = 8 * nu * top / (height * height);
  flow_case given = {
      .dimension = lattice->dimension, .cells = {4, height, deep ? 2 : 1}, .block = {4, 4, deep ? 2 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice, .collision = collision, .omega = omega};
  for (int side = 2; side < 4; side++)
    given.options.sides[side] = (gab_side){.kind = GAB_SIDE_WALL, .slip_length = b};
  if (is_couette)
    given.options.sides[GAB_SIDE_Y_MAX] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {top, 0, 0}};
  else given.options.force[0] = force;
  flow it = flow_open(world, &given);
  flow_run(&it, (int)(2.5 * (1 + 3 * share) * height * height / nu));
  double profile[HIGHEST] = {0}, worst = 0, most = 0;
  flow_visit(&it, take_cell, profile);
  REQUIRE_OK(gab_world_max_f64(world, profile, HIGHEST));
  flow_close(&it);
  for (int i = 0; i < height; i++) {
    const double y = i + 0.5, exact = is_couette ? top * (y + b) / (height + b)
                                                 : force / (2 * nu) * (y * (height - y) + b * height);
    worst = fmax(worst, fabs(profile[i] - exact));
    most = fmax(most, exact);
  }
  return worst / most;
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

typedef struct log_law {
  double height, rough, top;
} log_law;

static double law_at(const log_law *law, double z)
{
  return law->top * log(1 + z / law->rough) / log(1 + law->height / law->rough);
}

static void start_law(void *user, const double centre[3], gab_lbm_state *state)
{
  state->velocity[0] = 0.5 * law_at(user, centre[1]);
}

/* Largest difference from the log law divided by its maximum, below a lid with the velocity of the law. */
static double error_of_law(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                           int height, double rough)
{
  const bool deep = lattice->dimension == 3;
  log_law law = {.height = height, .rough = rough, .top = 0.05};
  flow_case given = {
      .dimension = lattice->dimension, .cells = {4, height, deep ? 2 : 1}, .block = {4, 4, deep ? 2 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice,
                                    .collision = collision,
                                    .omega = 1 / (0.5 + 3e-7),
                                    .initial = start_law,
                                    .initial_user = &law};
  given.options.sides[GAB_SIDE_Y_MIN] =
      (gab_side){.kind = GAB_SIDE_WALL,
                 .roughness = rough,
                 .sponge = {.thickness = height, .viscosity = 1, .roughness = rough}};
  given.options.sides[GAB_SIDE_Y_MAX] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {law.top, 0, 0}};
  /* u_*; eddies have the time scale height / u_* */
  const double friction = 0.4 * law.top / log(1 + height / rough);
  flow it = flow_open(world, &given);
  flow_run(&it, (int)(10 * height / friction));
  double profile[HIGHEST] = {0}, worst = 0;
  flow_visit(&it, take_cell, profile);
  REQUIRE_OK(gab_world_max_f64(world, profile, HIGHEST));
  flow_close(&it);
  for (int i = 0; i < height; i++) worst = fmax(worst, fabs(profile[i] - law_at(&law, i + 0.5)));
  return worst / law.top;
}

/* A box with a moving lid and other walls that slip, or are rough. */
static double lost_mass(gab_world *world, const gab_lattice *lattice, bool is_rough)
{
  const bool deep = lattice->dimension == 3;
  flow_case given = {
      .dimension = lattice->dimension, .cells = {16, 16, deep ? 8 : 1}, .block = {8, 8, deep ? 8 : 1}};
  given.options = (gab_lbm_options){.lattice = lattice, .omega = 1.7};
  for (int side = 0; side < 2 * lattice->dimension; side++)
    given.options.sides[side] = is_rough ? (gab_side){.kind = GAB_SIDE_WALL, .roughness = 0.1 + side}
                                         : (gab_side){.kind = GAB_SIDE_WALL, .slip_length = side};
  given.options.sides[GAB_SIDE_Y_MAX] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.05, 0, 0}};
  flow it = flow_open(world, &given);
  flow_run(&it, 300);
  double mass = 0;
  flow_visit(&it, add_mass, &mass);
  flow_close(&it);
  return fabs(sum_of(world, mass));
}

int main(int argc, char **argv)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt,
                                                    &gab_collision_mrt, &gab_collision_rr};
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  for (int is_rough = 0; is_rough < 2; is_rough++) {
    CHECK(lost_mass(world, &gab_lattice_d2q9, is_rough) < 1e-11);
    CHECK(lost_mass(world, &gab_lattice_d3q27, is_rough) < 1e-10);
  }
  CHECK(error_of(world, &gab_lattice_d3q19, &gab_collision_trt, 1.2, 8, 0.25, false) < 2e-3);
  const bool is_alone = gab_members_count(gab_world_members(world)) == 1;
  for (int c = 0; c < (is_alone ? 4 : 1); c++)
    for (int s = 0; s < 2; s++) {
      const double error = error_of_law(world, &gab_lattice_d2q9, collisions[c], 8, s ? 0.5 : 0.02);
      if (error >= 1e-3) printf("log law, %s, %d: off by %g\n", collisions[c]->name, s, error);
      CHECK(error < 1e-3);
    }
  if (is_alone) CHECK(error_of_law(world, &gab_lattice_d3q19, &gab_collision_rr, 8, 0.1) < 1e-3);
  for (int c = 0; c < (is_alone ? 4 : 1); c++)
    for (int s = 0; s < 2; s++) {
      const double share = s ? 1 : 0.1;
      const double couette = error_of(world, &gab_lattice_d2q9, collisions[c], 1, 8, share, true);
      double error[3];
      for (int k = 0; k < (printing ? 3 : 2); k++)
        error[k] = error_of(world, &gab_lattice_d2q9, collisions[c], 1, 8 << k, share, false);
      if (printing)
        printf("| %s, %g | %.1e | %.1e | %.1e | %.1e |\n", collisions[c]->name, share, couette, error[0],
               error[1], error[2]);
      CHECK(couette < 1e-6);
      if (collisions[c] == &gab_collision_trt) CHECK(error[0] < 1e-6 && error[1] < 1e-6);
      CHECK(error[0] < 8e-2 && error[1] < 0.55 * error[0] + 1e-6);
    }
  return test_end(&world);
}
