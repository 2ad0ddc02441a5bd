/* SPDX-License-Identifier: Apache-2.0 */
/* What a flow does: the tasks of a step, what is due after it, what survives. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "apps/driver/run/run_impl.h"

#include <math.h>

/* ---------------------------------------------------------------- tasks */

/* Each part of a step is a task, so that each has its time. */

static gab_status send_ghosts(void *user, gab_step step)
{
  simulation *which = user;
  if (gab_app_forces_wanted(which, step + 1)) gab_lbm_request_forces(which->lbm);
  if (gab_app_run_recomputes(&which->base, step + 1))
    GAB_TRY(gab_lbm_request_recomputation(which->lbm, which->base.parameters->recompute.share));
  return gab_lbm_exchange_start(which->lbm);
}

static gab_status collide_inner(void *user, gab_step step)
{
  (void)step;
  const simulation *which = user;
  return gab_lbm_collide_inner(which->lbm);
}

static gab_status wait_for_ghosts(void *user, gab_step step)
{
  (void)step;
  const simulation *which = user;
  return gab_lbm_exchange_finish(which->lbm);
}

/* With boundaries, ghosts from blocks of the same process, and all of the finer levels, messages included. */
static gab_status collide(void *user, gab_step step)
{
  (void)step;
  const simulation *which = user;
  return gab_lbm_collide(which->lbm);
}

/* What a step is to leave beside the state. */
static bool leaves_more(const simulation *which, gab_step steps_done)
{
  return gab_app_forces_wanted(which, steps_done) || gab_app_run_recomputes(&which->base, steps_done);
}

/* Several steps in the place of these tasks, ahead of the one that is to leave more. */
static gab_status temporal_block(void *user, gab_step step, gab_step most, gab_step *taken)
{
  const simulation *which = user;
  gab_step plain = 0;
  while (plain < most && !leaves_more(which, step + plain + 1)) plain++;
  return gab_lbm_temporal_block(which->lbm, plain, which->parameters->setup.temporal_steps, taken);
}

/* ---------------------------------------------------------------- looks and words */

gab_status gab_app_simulation_check_finite(gab_app_run *it)
{
  return gab_lbm_check_finite(((simulation *)it)->lbm, NULL);
}

gab_status gab_app_simulation_check_recomputed(gab_app_run *it, bool at_rest)
{
  return gab_lbm_check_recomputed(((simulation *)it)->lbm, at_rest);
}

gab_sample_report gab_app_simulation_recomputation(const gab_app_run *it)
{
  return gab_lbm_recomputation(((const simulation *)it)->lbm);
}

gab_status gab_app_simulation_update_quantities(gab_app_run *it)
{
  return gab_lbm_quantities_update(((simulation *)it)->view);
}

void gab_app_simulation_name_levers(const gab_app_run *it)
{
  const gab_lbm_setup *setup = &((const simulation *)it)->parameters->setup;
  char of_collision[400];
  gab_lbm_advise_diverged(&setup->options, of_collision, sizeof of_collision);
  gab_log(
      GAB_LOG_INFO,
      "  what may help: %sa smaller omega (now %.6g), that is more viscosity or, at the same Reynolds number, "
      "more cells (domain.cells); slower flow in cells per step (now %.3g; units.dt, units.lattice_velocity)",
      of_collision, setup->options.omega, setup->speed);
}

/* ---------------------------------------------------------------- the end */

gab_status gab_app_simulation_finish(gab_app_run *it, gab_step step)
{
  const simulation *which = (const simulation *)it;
  const double most = 1e-4;
  gab_lbm_integrals now;
  (void)step;
  if (gab_lbm_has_open_side(&which->parameters->setup.options, which->parameters->domain.dimension))
    return GAB_OK;
  GAB_TRY(gab_lbm_integrate(which->lbm, false, &now));
  /* per volume: a grid that adapts at a body changes which cells are fluid */
  const double change = now.mass / now.volume / (which->start.mass / which->start.volume) - 1;
  gab_log(GAB_LOG_INFO, "mass: relative change over the run %.3g", change);
  if (!(fabs(change) <= most))
    gab_log(GAB_LOG_WARNING,
            "the mass of the flow has changed by %.3g of it over the run, and no side sets it: more than %g. "
            "Velocities of sides may bring it in (they have to add up to nothing)",
            change, most);
  return GAB_OK;
}

/* ---------------------------------------------------------------- entities */

static gab_status pack_flow(void *user, gab_buffer *out)
{
  const simulation *which = user;
  GAB_TRY(gab_lbm_pack_state(which->lbm, out));
  GAB_TRY(gab_put_u64(out, which->adaptations));
  return gab_app_forces_pack(which, out);
}

static gab_status unpack_flow(void *user, gab_reader *in)
{
  simulation *which = user;
  GAB_TRY(gab_lbm_unpack_state(which->lbm, in));
  GAB_TRY(gab_get_u64(in, &which->adaptations));
  return gab_app_forces_unpack(which, in);
}

/* ---------------------------------------------------------------- */

/* Without the memory for it there is nothing that is wrong, but what is compared may differ. */
static void clear_solid(void *user, gab_step step)
{
  const simulation *which = user;
  if (gab_lbm_clear_solid(which->lbm) != GAB_OK)
    gab_log_all(GAB_LOG_WARNING, "step %" GAB_PRI_STEP ": solid cells cannot be cleared: %s", step,
                gab_error_message());
}

gab_status gab_app_simulation_add(gab_app_run *it)
{
  simulation *which = (simulation *)it;
  gab_timeloop *loop = it->loop;
  const gab_entity flow = {
      .name = "flow", .kind = GAB_ENTITY_REPLICATED, .user = which, .pack = pack_flow, .unpack = unpack_flow};
  gab_timeloop_set_updates(loop, which->updates);
  GAB_TRY(gab_timeloop_add_entity(loop, &flow));
  GAB_TRY(gab_timeloop_add_task(loop, "send ghosts", send_ghosts, which));
  GAB_TRY(gab_timeloop_add_task(loop, "collide, while ghosts travel", collide_inner, which));
  GAB_TRY(gab_timeloop_add_task(loop, "wait for ghosts", wait_for_ghosts, which));
  GAB_TRY(gab_timeloop_add_task(loop, "collide and boundaries", collide, which));
  if (which->tracers) GAB_TRY(flow_tracers_add(which->tracers, loop));
  else if (which->parameters->setup.temporal_steps != 1)
    GAB_TRY(
        gab_timeloop_add_temporal_block(loop, "several steps in a temporal block", 4, temporal_block, which));
  GAB_TRY(gab_timeloop_add_action(loop, "last forces", gab_app_forces_last_due, gab_app_forces_last, which));
  GAB_TRY(gab_app_run_add_output(it));
  if (which->parameters->refinement.every > 0)
    GAB_TRY(gab_timeloop_add_action(loop, "adapt", gab_app_grid_adapt_due, gab_app_grid_adapt, which));
  GAB_TRY(gab_app_run_add_balance(it));
  gab_timeloop_on_checkpoint(loop, clear_solid, which);
  return GAB_OK;
}
