/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* The state of a flow around a cylinder as the start of another flow (lbm/setup/flow_state.h). Copied populations
 * give the same bits, in that step and later ones, for any storage. Pressure, velocity and rate of strain on cells of
 * half the width give a flow with the same velocities, and the rate of strain of these velocities. */
#include "lbm/setup/flow_state.h"

#include "tests/lbm/lbm_common.h"
#include "core/messages/collective.h"

#define PI 3.14159265358979323846

typedef struct start {
  flow flow;
  gab_resampler *resampler;
} start;

static void vortices(void *user, const double centre[3], gab_lbm_state *state)
{
  const double k = 2 * PI / *(const double *)user;
  state->velocity[0] = 0.03 * sin(k * centre[0]) * cos(k * centre[1]);
  state->velocity[1] = -0.03 * cos(k * centre[0]) * sin(k * centre[1]);
}

/* A flow on 32 dx times 32 dx, with a resampler. */
static start open_flow(gab_world *world, const gab_lbm_options *given, double dx, const gab_body *body)
{
  start made = {.resampler = NULL};
  const int32_t cells = (int32_t)(32 / dx);
  const gab_domain domain = {
      .dimension = 2, .cells = {cells, cells, 1}, .periodic = {true, true, false}, .dx = dx};
  gab_forest_options options = {.grid = {2, {cells / 8, cells / 8, 1}},
                                .cells = {8, 8, 1},
                                .periodic = {true, true, false},
                                .dx = dx,
                                .exists = gab_geometry_block_exists};
  REQUIRE_OK(gab_geometry_create(&domain, body, 1, &made.flow.geometry));
  options.user = made.flow.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.flow.forest));
  REQUIRE_OK(gab_lbm_create(made.flow.forest, made.flow.geometry, given, &made.flow.lbm));
  REQUIRE_OK(gab_resampler_create(made.flow.forest, gab_lbm_state_values(2), &made.resampler));
  REQUIRE_OK(gab_balance_initial(made.flow.forest, NULL, NULL));
  return made;
}

static void close_flow(start *gone)
{
  gab_resampler_destroy(&gone->resampler);
  flow_close(&gone->flow);
}

/* Quantities to take, and their source. */
typedef struct taking {
  start *to;
  gab_units units;
  bool copies;
  const uint8_t *kinds;
  const double *values, *populations;
  uint64_t counts[GAB_RESAMPLED_SAME + 1];
} taking;

static const double *take_cell(void *user, const int32_t at[3], gab_lbm_state *state)
{
  taking *it = user;
  const size_t cell = (size_t)(8 * at[1] + at[0]);
  it->counts[it->kinds[cell]]++;
  gab_lbm_state_of(&it->units, 2, it->values + cell * (size_t)gab_lbm_state_values(2), state);
  return it->copies ? it->populations + cell * 9 : NULL;
}

static gab_status take_block(void *user, const gab_block *block, const uint8_t *kinds, const double *values,
                             const double *copied)
{
  taking *it = user;
  it->kinds = kinds;
  it->values = values;
  it->populations = copied;
  return gab_lbm_set_states(it->to->flow.lbm, block, take_cell, it);
}

static void put(start *from, const gab_units *units)
{
  gab_resampler_clear(from->resampler);
  REQUIRE_OK(gab_lbm_put_states(from->flow.lbm, units, from->resampler));
  REQUIRE_OK(gab_resampler_spread(from->resampler));
}

static taking take(start *from, start *to, const gab_units *units, bool copies)
{
  taking it = {.to = to, .units = *units, .copies = copies};
  gab_lbm_populations populations = {.lbm = from->flow.lbm};
  const gab_resampler_copy copy = {9, gab_lbm_populations_read, &populations};
  REQUIRE_OK(
      gab_resampler_evaluate(from->resampler, to->flow.forest, copies ? &copy : NULL, take_block, &it));
  gab_lbm_populations_release(&populations);
  return it;
}

/* The largest differences of velocities and rates of strain of two started flows, away from the rod, whose staircases
 * differ. */
typedef struct difference {
  const start *to;
  double velocity, strain, size[2];
} difference;

static gab_status compare(void *user, const gab_block *block, const uint8_t *kinds, const double *values,
                          const double *copied)
{
  difference *worst = user;
  (void)copied;
  const gab_field *mine = gab_resampler_field(worst->to->resampler, block);
  for (int32_t i = 0; i < 64; i++) {
    const double *theirs = values + i * gab_lbm_state_values(2);
    double centre[3];
    gab_block_cell_centre(worst->to->flow.forest, block, i % 8, i / 8, 0, centre);
    if (kinds[i] != GAB_RESAMPLED_INTERPOLATED || hypot(centre[0] - 12, centre[1] - 20) < 7) continue;
    for (int k = 1; k < 6; k++) {
      const double here = gab_field_get(mine, i % 8, i / 8, 0, 1 + k);
      double *most = k < 3 ? &worst->velocity : &worst->strain;
      *most = fmax(*most, fabs(here - theirs[k]));
      worst->size[k > 2] = fmax(worst->size[k > 2], fabs(here));
    }
  }
  return GAB_OK;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  double length = 32;
  const gab_body rod = {.shape = GAB_SHAPE_CYLINDER, .centre = {12, 20, 0}, .axis = 2, .radius = 5};
  const gab_lbm_options options = {
      .omega = 1.3, .force = {1e-6, 0}, .initial = vortices, .initial_user = &length};
  gab_units units, fine;
  REQUIRE_OK(gab_units_from_dt(1, 1, 1, &units));
  REQUIRE_OK(gab_units_from_dt(0.5, 0.25, 1, &fine));
  start from = open_flow(world, &options, 1, &rod);
  flow_run(&from.flow, 15);
  put(&from, &units);

  static const char *const kernels[] = {"in_place", "sparse", "reference"};
  const uint64_t expected = flow_hash(&from.flow);
  uint64_t later[3];
  for (int i = 0; i < 3; i++) {
    gab_lbm_options other = options;
    other.initial = NULL;
    other.kernel = kernels[i];
    start to = open_flow(world, &other, 1, &rod);
    const taking it = take(&from, &to, &units, true);
    CHECK(it.counts[GAB_RESAMPLED_INTERPOLATED] == 0 && it.counts[GAB_RESAMPLED_FILLED] == 0);
    CHECK(flow_hash(&to.flow) == expected);
    flow_run(&to.flow, 10);
    later[i] = flow_hash(&to.flow);
    close_flow(&to);
  }
  flow_run(&from.flow, 10);
  for (int i = 0; i < 3; i++) CHECK(later[i] == flow_hash(&from.flow));

  /* The same viscosity with steps of a quarter. */
  gab_lbm_options other = options;
  other.force[0] *= 0.125;
  start to = open_flow(world, &other, 0.5, &rod);
  put(&from, &units);
  (void)take(&from, &to, &fine, false);
  flow_run(&to.flow, 1);
  put(&to, &fine);
  difference worst = {.to = &to};
  REQUIRE_OK(gab_resampler_evaluate(from.resampler, to.flow.forest, NULL, compare, &worst));
  REQUIRE_OK(gab_world_max_f64(world, &worst.velocity, 1));
  REQUIRE_OK(gab_world_max_f64(world, &worst.strain, 1));
  REQUIRE_OK(gab_world_max_f64(world, worst.size, 2));
  if (gab_world_is_root(world))
    printf("velocity %.3g of %.3g, strain %.3g of %.3g\n", worst.velocity, worst.size[0], worst.strain,
           worst.size[1]);
  CHECK(worst.velocity < 0.05 * worst.size[0] && worst.size[0] > 0.01);
  CHECK(worst.strain < 0.2 * worst.size[1] && worst.size[1] > 1e-3);
  close_flow(&to);
  close_flow(&from);
  return test_end(&world);
}
