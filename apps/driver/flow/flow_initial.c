/* SPDX-License-Identifier: Apache-2.0 */
/* Initial velocities by name, or by formulas with a Poisson equation. They are computed on a second forest like that
 * of the run, but with all blocks, and evaluated in the cells of the run. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "lbm/setup/flow_state.h"
#include "lbm/setup/turbulence.h"

#include <math.h>
#include <string.h>

/* The forest of the equations, and its data. */
typedef struct workshop {
  gab_forest *forest;
  gab_consistent *consistent;
} workshop;

static void workshop_release(workshop *gone)
{
  gab_consistent_destroy(&gone->consistent);
  if (gone->forest) gab_forest_destroy(&gone->forest);
}

static gab_status check_sides(const simulation *made)
{
  const flow_case *which = made->parameters;
  const gab_initial_flow *flow = &which->setup.initial_flow;
  for (int side = 0; side < 2 * which->domain.dimension && flow->solves; side++) {
    const gab_side *given = &which->setup.options.sides[side];
    if (gab_side_kind_is_open(given->kind) && given->shape)
      return gab_config_fail(
          which->base.config, "initial.consistent_pressure",
          "is not for sides whose pressure has a shape, as that of %s: the equation takes one value for a side",
          gab_app_side_name(made, side));
  }
  if (which->setup.patches && flow->projects)
    return gab_config_fail(
        which->base.config, "initial.project",
        "is not for sides with patches: their normal velocities are not known to the equation");
  return GAB_OK;
}

static gab_status create(const simulation *made, workshop *shop)
{
  const flow_case *which = made->parameters;
  const gab_initial_flow *flow = &which->setup.initial_flow;
  const gab_consistent_options options = {.flow = &which->setup.options,
                                          .domain = &which->domain,
                                          .units = which->setup.units,
                                          .finest = which->refinement.max_level,
                                          .projects = flow->projects,
                                          .solves = flow->solves,
                                          .velocity = flow->velocity,
                                          .user = flow->user};
  gab_forest_options grid = which->base.grid;
  GAB_TRY(check_sides(made));
  GAB_TRY(gab_forest_create(made->base.world, &grid, &shop->forest));
  return gab_app_blame(which->base.config, "initial",
                       gab_consistent_create(shop->forest, &options, &shop->consistent));
}

gab_status gab_app_initial_check(simulation *made)
{
  workshop shop = {.forest = NULL};
  const gab_status status = create(made, &shop);
  workshop_release(&shop);
  return status;
}

static gab_status build(simulation *made, workshop *shop)
{
  const flow_case *which = made->parameters;
  gab_balance_report balance = made->base.balance;
  GAB_TRY(create(made, shop));
  const gab_status status = gab_forest_build(
      shop->forest, which->refinement.max_level > 0 ? gab_refinement_mark_place : NULL, &made->refinement,
      which->refinement.max_level, gab_app_run_distribute_first, made, NULL);
  made->base.balance = balance; /* that of the run */
  return status;
}

typedef struct taking {
  simulation *made;
  const uint8_t *kinds;
  const double *values;
} taking;

static const double *take_cell(void *user, const int32_t at[3], gab_lbm_state *state)
{
  const taking *it = user;
  const flow_case *which = it->made->parameters;
  const int32_t *cells = which->base.grid.cells;
  const int dimension = which->domain.dimension;
  const size_t cell = ((size_t)at[2] * (size_t)cells[1] + (size_t)at[1]) * (size_t)cells[0] + (size_t)at[0];
  if (it->kinds[cell] >= GAB_RESAMPLED_FILLED)
    gab_lbm_state_of(&which->setup.units, dimension,
                     it->values + cell * (size_t)gab_lbm_state_values(dimension), state);
  return NULL;
}

static gab_status take_block(void *user, const gab_block *block, const uint8_t *kinds, const double *values,
                             const double *copied)
{
  taking *it = user;
  (void)copied;
  it->kinds = kinds;
  it->values = values;
  return gab_lbm_set_states(it->made->lbm, block, take_cell, it);
}

static gab_status check_speed(const simulation *made)
{
  const flow_case *which = made->parameters;
  const double speed = gab_units_velocity_to_lattice(&which->setup.units, made->initial.speed);
  return gab_app_blame(which->base.config, "initial",
                       gab_flow_check(&(gab_flow_scales){.omega = 1, .velocity = speed}));
}

/* As for formulas, where divergence is refused: here the divergence at sides counts, too. */
static void warn_of_divergence(const simulation *made)
{
  const double most = 0.05, found = made->initial.divergence[1];
  if (found <= most) return;
  gab_log(
      GAB_LOG_WARNING,
      "initial: the divergence of the velocity, sides included, is %.2g of its gradient (root mean squares), more than %g: it "
      "leaves as sound%s",
      found, most, made->parameters->setup.initial_flow.projects ? "" : "; initial.project removes it");
}

gab_status gab_app_initial_set(simulation *made)
{
  workshop shop = {.forest = NULL};
  taking it = {.made = made};
  gab_status status = build(made, &shop);
  if (status == GAB_OK)
    status = gab_app_blame(made->parameters->base.config, "initial",
                           gab_consistent_solve(shop.consistent, &made->initial));
  if (status == GAB_OK)
    status = gab_resampler_evaluate(gab_consistent_resampler(shop.consistent), made->base.forest, NULL,
                                    take_block, &it);
  workshop_release(&shop);
  if (status == GAB_OK) status = check_speed(made);
  if (status == GAB_OK) warn_of_divergence(made);
  made->has_initial = status == GAB_OK;
  return status;
}

/* ---------------------------------------------------------------- in words */

static void describe_turbulence(const gab_turbulence *turbulence)
{
  gab_log(GAB_LOG_INFO, "    turbulence of %" PRId64 " pairs of modes, integral length scale %.4g m",
          gab_turbulence_modes(turbulence), gab_turbulence_integral_length(turbulence));
}

void gab_app_initial_describe(const simulation *made)
{
  const gab_initial_flow *flow = &made->parameters->setup.initial_flow;
  const gab_consistent_report *it = &made->initial;
  if (!made->has_initial) return;
  gab_log(GAB_LOG_INFO,
          "  initial velocity: up to %.4g m/s, kinetic energy %.6g m^2/s^2, divergence %.2g of the gradient",
          it->speed, it->energy[1], it->divergence[1]);
  if (flow->projects)
    gab_log(GAB_LOG_INFO,
            "    projected: before, kinetic energy %.6g m^2/s^2, divergence %.2g of the gradient",
            it->energy[0], it->divergence[0]);
  if (flow->solves)
    gab_log(GAB_LOG_INFO, "    pressure of this velocity: %.4g to %.4g Pa", it->pressure[0], it->pressure[1]);
  if (flow->turbulence) describe_turbulence(flow->turbulence);
}
