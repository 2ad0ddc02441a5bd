/* SPDX-License-Identifier: Apache-2.0 */
/* Live monitors of a flow: states that no flow reaches by itself, so that the hardware may be faulty; and blocks that
 * are computed twice. */
#include "apps/driver/flow/simulation.h"
#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

/* Rounding of a step changes the mass by less than this share of it, with a margin. */
#define ROUNDING_FLOAT  1e-6
#define ROUNDING_DOUBLE 1e-10
/* Nothing flows in or out faster than this, in lattice units: gab_lbm_check_finite() ends runs that do. */
#define FASTEST 0.6
/* minimum number of links of a cell next to a body */
#define LINKS_OF_A_CELL 3

static bool due(const void *user, gab_step step)
{
  const simulation *which = user;
  const gab_step every = which->parameters->base.check_every;
  return every > 0 && step % every == 0;
}

static gab_status check_bounds(void *user, gab_step step)
{
  char why[1024];
  const simulation *which = user;
  (void)step;
  gab_status status = gab_lbm_check_finite(which->lbm, NULL);
  if (status != GAB_ERR_DIVERGED) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_SUSPECT, "%s", why);
}

/* Share of the mass that can pass the open sides in a step. */
static double passing(const simulation *which)
{
  const gab_forest_options *forest = &which->parameters->base.grid;
  double share = 0;
  const gab_lbm_options *options = &which->parameters->setup.options;
  for (int side = 0; side < 2 * forest->grid.dimension; side++) {
    const double cells = (double)forest->grid.roots[side / 2] * forest->cells[side / 2];
    bool passes = false;
    for (int k = 0; k < gab_lbm_condition_count(options); k++)
      passes = passes || (gab_lbm_condition_side(options, k) == side &&
                          gab_side_kind_passes_fluid(gab_lbm_condition(options, k)->kind));
    if (passes) share += FASTEST / cells;
  }
  for (int k = 0; k < gab_lbm_condition_count(options); k++) /* through as much as a side */
    if (gab_lbm_condition_side(options, k) == GAB_PATCH_ON_BODY && gab_lbm_passes_fluid(which->lbm, k))
      share += FASTEST / ((double)forest->grid.roots[0] * forest->cells[0]);
  return share;
}

/* Interpolated walls send other populations than they receive, unless their mass is balanced; the sum over moving
 * walls is zero only if they are closed. */
static bool keeps_mass(const simulation *which, const gab_body *body)
{
  const double *u = body->velocity;
  if (gab_lbm_balances_walls(which->lbm)) return true;
  return body->wall == GAB_WALL_STAIRCASE && u[0] == 0 && u[1] == 0 && u[2] == 0;
}

/* Bound of the mass exchanged with bodies in a step: a cell of level 0 holds about 1, finer ones less. Collective. */
static gab_status passing_bodies(const simulation *which, double *mass)
{
  bool all_keep = true;
  *mass = 0;
  for (size_t i = 0; i < gab_geometry_body_count(which->geometry); i++)
    all_keep = all_keep && keeps_mass(which, gab_geometry_body(which->geometry, i));
  if (all_keep) return GAB_OK;
  uint64_t links = gab_lbm_count(which->lbm).links;
  GAB_TRY(gab_world_sum_u64(which->base.world, &links, 1));
  *mass = FASTEST / LINKS_OF_A_CELL * (double)links;
  return GAB_OK;
}

/* Change since the last check, or the start; the last values are part of the state. */
static gab_status check_mass(void *user, gab_step step)
{
  simulation *which = user;
  mass_monitor *last = &which->mass;
  gab_lbm_integrals now;
  double through_bodies;
  GAB_TRY(gab_lbm_integrate(which->lbm, false, &now));
  GAB_TRY(passing_bodies(which, &through_bodies));
  const double before = last->known ? last->mass : which->start.mass;
  const double steps = (double)(step - (last->known ? last->step : 0)) + 1;
  const bool in_double = which->parameters->setup.options.precision == GAB_PRECISION_DOUBLE;
  const double rounding = in_double ? ROUNDING_DOUBLE : ROUNDING_FLOAT;
  const double bound = steps * (before * (passing(which) + rounding) + through_bodies);
  if (!(fabs(now.mass - before) <= bound))
    GAB_FAIL(GAB_ERR_SUSPECT,
             "the mass changed from %.12g to %.12g since step %" GAB_PRI_STEP
             ", %.3g is the most that can be",
             before, now.mass, last->known ? last->step : 0, bound);
  last->known = true;
  last->step = step;
  last->mass = now.mass;
  return GAB_OK;
}

gab_status gab_app_simulation_note_mass(simulation *which, gab_step step)
{
  gab_lbm_integrals now;
  if (!which->mass.wanted) return GAB_OK;
  GAB_TRY(gab_lbm_integrate(which->lbm, false, &now));
  which->mass.known = true;
  which->mass.step = step;
  which->mass.mass = now.mass;
  return GAB_OK;
}

static gab_status pack_mass(void *user, gab_buffer *out)
{
  const simulation *which = user;
  GAB_TRY(gab_put_u8(out, which->mass.known));
  GAB_TRY(gab_put_i64(out, which->mass.step));
  return gab_put_f64(out, which->mass.mass);
}

static gab_status unpack_mass(void *user, gab_reader *in)
{
  simulation *which = user;
  uint8_t known;
  int64_t step;
  GAB_TRY(gab_get_u8(in, &known));
  GAB_TRY(gab_get_i64(in, &step));
  GAB_TRY(gab_get_f64(in, &which->mass.mass));
  which->mass.known = known != 0;
  which->mass.step = step;
  return GAB_OK;
}

static gab_status add_bounds(void *user, gab_timeloop *loop)
{
  return gab_timeloop_add_monitor(loop, "bounds", due, check_bounds, user);
}

static gab_status add_mass(void *user, gab_timeloop *loop)
{
  simulation *which = user;
  const gab_entity mass = {.name = "mass monitor",
                           .kind = GAB_ENTITY_REPLICATED,
                           .user = which,
                           .pack = pack_mass,
                           .unpack = unpack_mass};
  which->mass.wanted = true;
  GAB_TRY(gab_timeloop_add_entity(loop, &mass));
  return gab_timeloop_add_monitor(loop, "mass", due, check_mass, which);
}

gab_monitor_list gab_app_flow_monitors(void)
{
  static const gab_monitor monitors[] = {
      {"bounds", "density or velocity outside of the range of a flow", add_bounds},
      {"mass", "the mass changes by more than can pass sides and bodies", add_mass},
      GAB_APP_MONITOR_RECOMPUTE,
  };
  return (gab_monitor_list){monitors, sizeof monitors / sizeof monitors[0]};
}
