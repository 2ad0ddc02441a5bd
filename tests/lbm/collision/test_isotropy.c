/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=60 uses=lbm */
/* A straight flow u_z(x, y) has no acceleration, so there is no flow across it. On D3Q19 truncation errors of the
 * nonlinear terms drive a secondary flow, as d_x d_y (d_x^2 - d_y^2) u_z^2. D3Q27 has the isotropic moment c_x^2
 * c_y^2 c_z^2: a flow along an axis has no secondary flow, whatever the angle of its profile (White & Chong 2011, J.
 * Comput. Phys. 230, 6367; Silva & Semiao 2014, J. Comput. Phys. 269, 259). Along a diagonal both lattices have one,
 * since c_x^6 = c_x^2 on both; on D3Q27 it is about half as large. Vortices in 3D decay with second order on both. */
#include "lbm/setup/lbm_config.h"
#include "tests/lbm/lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;
static const double pi = 3.14159265358979323846;

/* Along z, with a profile of two waves across x and y; the same rotated by 45 degrees about z and stretched to fit
 * the box; or along the diagonal of x and y, with the profile across the other diagonal and z. */
typedef enum flow_kind { ALONG_AXIS, TURNED_PROFILE, ALONG_DIAGONAL, KINDS } flow_kind;
typedef struct profile {
  double speed, k;
  double along[3], first[3], second[3]; /* unit vector of the flow; wave vectors in units of k */
} profile;

static profile profile_of(flow_kind kind, int cells)
{
  const double half = sqrt(0.5);
  profile made = {
      .speed = 0.05, .k = 2 * pi / cells, .along = {0, 0, 1}, .first = {1, 0, 0}, .second = {0, 2, 0}};
  if (kind == TURNED_PROFILE) made = (profile){made.speed, made.k, {0, 0, 1}, {1, 1, 0}, {2, -2, 0}};
  if (kind == ALONG_DIAGONAL) made = (profile){made.speed, made.k, {half, half, 0}, {0, 0, 1}, {2, -2, 0}};
  return made;
}

static void straight_flow(void *user, const double centre[3], gab_lbm_state *state)
{
  const profile *it = user;
  double phase[2] = {0, 0};
  for (int axis = 0; axis < 3; axis++) {
    phase[0] += it->k * it->first[axis] * centre[axis];
    phase[1] += it->k * it->second[axis] * centre[axis];
  }
  for (int i = 0; i < 3; i++) {
    state->velocity[i] = it->speed * it->along[i] * (cos(phase[0]) + cos(phase[1]));
    for (int j = 0; j < 3; j++)
      state->gradient[i][j] =
          -it->speed * it->k * it->along[i] * (it->first[j] * sin(phase[0]) + it->second[j] * sin(phase[1]));
  }
}

typedef struct across {
  const profile *start;
  double largest;
} across;

static void largest_across(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  across *it = user;
  (void)cell, (void)fluid, (void)density;
  double along = 0, square = 0;
  for (int axis = 0; axis < 3; axis++) along += it->start->along[axis] * u[axis];
  for (int axis = 0; axis < 3; axis++) square += pow(u[axis] - along * it->start->along[axis], 2);
  it->largest = fmax(it->largest, sqrt(square));
}

/* The largest velocity across the flow divided by its speed, after some steps. */
static double secondary_flow(const gab_lattice *lattice, const gab_collision *collision, flow_kind kind)
{
  enum { N = 24, STEPS = 150 };
  profile start = profile_of(kind, N);
  flow_case given = {.dimension = 3, .cells = {N, N, N}, .block = {N, N, N}};
  if (kind != ALONG_DIAGONAL) given.cells[2] = given.block[2] = 4;
  given.options = (gab_lbm_options){.lattice = lattice,
                                    .collision = collision,
                                    .omega = 1.8,
                                    .initial = straight_flow,
                                    .initial_user = &start};
  flow it = flow_open(world, &given);
  flow_run(&it, STEPS);
  across seen = {.start = &start};
  flow_visit(&it, largest_across, &seen);
  flow_close(&it);
  return seen.largest / start.speed;
}

static void a_flow_along_an_axis_stays_straight_on_the_full_lattice_alone(void **state)
{
  (void)state;
  const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt, &gab_collision_rr};
  for (int i = 0; i < 3; i++)
    for (int kind = 0; kind < KINDS; kind++) {
      const double few = secondary_flow(&gab_lattice_d3q19, collisions[i], (flow_kind)kind),
                   all = secondary_flow(&gab_lattice_d3q27, collisions[i], (flow_kind)kind);
      const double most = kind == ALONG_DIAGONAL ? 0.6 * few : 1e-14;
      if (few < 5e-3 || all > most)
        fail_msg("%s, flow %d: %g of the speed across it on D3Q19, %g on D3Q27", collisions[i]->name, kind,
                 few, all);
    }
}

/* ------------------------------------------------------------------------------------------ vortices */

/* Arnold, Beltrami and Childress: the vorticity is k times the velocity, so it decays with exp(-nu k^2 t), and the
 * pressure is -u^2 / 2. */
typedef struct vortices {
  double speed, k, decay, error, norm;
} vortices;

static void vortices_at(const vortices *it, const double at[3], double u[3], double gradient[3][3])
{
  for (int i = 0; i < 3; i++) {
    const int sine = (i + 2) % 3, cosine = (i + 1) % 3;
    u[i] = it->speed * (sin(it->k * at[sine]) + cos(it->k * at[cosine]));
    for (int j = 0; j < 3; j++) gradient[i][j] = 0;
    gradient[i][sine] = it->speed * it->k * cos(it->k * at[sine]);
    gradient[i][cosine] = -it->speed * it->k * sin(it->k * at[cosine]);
  }
}

static void vortices_initial(void *user, const double centre[3], gab_lbm_state *state)
{
  const vortices *it = user;
  vortices_at(it, centre, state->velocity, state->gradient);
  double square = -3 * it->speed * it->speed; /* mean of u^2 */
  for (int axis = 0; axis < 3; axis++) square += state->velocity[axis] * state->velocity[axis];
  state->density = 1 - 1.5 * square;
}

static void compare_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  vortices *it = user;
  (void)fluid, (void)density;
  const double centre[3] = {(double)cell[0] + 0.5, (double)cell[1] + 0.5, (double)cell[2] + 0.5};
  double exact[3], gradient[3][3];
  vortices_at(it, centre, exact, gradient);
  for (int axis = 0; axis < 3; axis++) {
    it->error += pow(u[axis] - it->decay * exact[axis], 2);
    it->norm += pow(it->decay * exact[axis], 2);
  }
}

/* Relative L2 error after a fixed physical time; the velocity falls with the cell width (diffusive scaling). */
static double error_at(int32_t n, const gab_lattice *lattice, const gab_collision *collision)
{
  const double omega = collision->equilibrium_beyond ? 1.0 : 1.4;
  vortices it = {.speed = 0.3 / n, .k = 2 * pi / n};
  flow_case given = {.dimension = 3, .cells = {n, n, n}, .block = {n, n, n / 2}};
  given.options = (gab_lbm_options){.lattice = lattice,
                                    .collision = collision,
                                    .omega = omega,
                                    .initial = vortices_initial,
                                    .initial_user = &it};
  flow made = flow_open(world, &given);
  const int steps = n * n / 16;
  flow_run(&made, steps);
  it.decay = exp(-(1 / omega - 0.5) / 3 * it.k * it.k * steps);
  flow_visit(&made, compare_cell, &it);
  flow_close(&made);
  return sqrt(it.error / it.norm);
}

static void vortices_in_space_decay_with_second_order(void **state)
{
  (void)state;
  for (int variant = 0; variant < 6; variant++) {
    const gab_lattice *lattice = variant % 2 ? &gab_lattice_d3q27 : &gab_lattice_d3q19;
    const gab_collision *collision = (const gab_collision *const[]){&gab_collision_trt, &gab_collision_srt,
                                                                    &gab_collision_rr}[variant / 2];
    const double coarse = error_at(12, lattice, collision), middle = error_at(24, lattice, collision),
                 fine = error_at(36, lattice, collision);
    const double first = log2(coarse / middle), second = log(middle / fine) / log(1.5);
    if (first < 1.9 || second < 1.9)
      fail_msg("%s, %s: errors %g, %g, %g: orders %g and %g", lattice->name, collision->name, coarse, middle,
               fine, first, second);
  }
}

int main(void)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flow_along_an_axis_stays_straight_on_the_full_lattice_alone),
      cmocka_unit_test(vortices_in_space_decay_with_second_order),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}
