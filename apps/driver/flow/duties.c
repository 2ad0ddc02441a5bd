/* What a run does: the tasks of a step, what is due after it, what survives, and how it ends. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

/* ---------------------------------------------------------------- tasks */

/* Each part of a step is a task, so that each has its time. */

static gab_status send_ghosts(void *user, gab_step step)
{
  simulation *which = user;
  if (gab_schedule_due(which->parameters->output.forces, step + 1)) gab_lbm_request_forces(which->lbm);
  if (recompute_plan_has(&which->recompute, step + 1))
    GAB_TRY(gab_lbm_request_recomputation(which->lbm, which->recompute.share));
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

/* ---------------------------------------------------------------- duties */

static bool check_due(const void *user, gab_step step)
{
  const simulation *which = user;
  gab_step every = which->parameters->base.check_every;
  return every > 0 && (step % every == 0 || step == which->parameters->base.steps);
}

/* All learn of it at the same step, so that what is written afterwards is one state. */
static gab_status check(void *user, gab_step step)
{
  (void)step;
  const simulation *which = user;
  return gab_output_settle(which->world, gab_lbm_check_finite(which->lbm, NULL));
}

static bool output_due(const void *user, gab_step step)
{
  const simulation *which = user;
  return gab_output_due(which->output, step);
}

static gab_status write_output(void *user, gab_step step)
{
  simulation *which = user;
  GAB_TRY(gab_lbm_quantities_update(which->view));
  return gab_output_write(which->output, step, simulation_time(which, step));
}

/* ---------------------------------------------------------------- end */

/* Kinds whose last state has not been written by their schedule but is wanted. */
static unsigned kinds_to_finish(const simulation *which, gab_step step)
{
  const output_plan *plan = &which->parameters->output;
  const gab_config *config = which->parameters->base.config;
  double dt = which->parameters->setup.units.dt;
  unsigned kinds = 0;
  if (plan->fields && plan->fields_final && !gab_schedule_due(plan->fields_schedule, step))
    kinds |= GAB_OUTPUT_VOLUME;
  for (size_t i = 0; i < plan->slice_count; i++) {
    char item[GAB_CONFIG_PATH_CAPACITY], final[GAB_CONFIG_PATH_CAPACITY];
    gab_schedule schedule = {0};
    gab_config_path(item, "output.slices.%zu", i);
    bool known = output_schedule_read(config, item, dt, &schedule) == GAB_OK;
    if (known && gab_config_bool(config, gab_config_path(final, "%s.final", item)) &&
        !gab_schedule_due(schedule, step))
      kinds |= GAB_OUTPUT_SLICE;
  }
  return kinds;
}

/* What the case is. */
static void put_case(void *user, gab_json *json)
{
  const simulation *which = user;
  const flow_case *found = which->parameters;
  const gab_units *units = &found->setup.units;
  grid_summarize(which, json);
  driver_put_case(json, found->base.config, which->options, units->dt,
                  simulation_time(which, gab_timeloop_step(which->loop)));
}

static gab_status write_summary(simulation *which, gab_status why)
{
  GAB_TRY(gab_summary_gather(which->loop, &which->summary));
  GAB_TRY(grid_count(which, which->level_blocks));
  const gab_sample_report sample = gab_lbm_recomputation(which->lbm);
  GAB_TRY(recompute_report(which->world, &which->recompute, &sample));
  const gab_summary_extra extra = {put_case, which};
  return gab_output_settle(which->world,
                           gab_summary_write(&which->summary, which->loop, why, which->folder, extra));
}

static gab_status finish(void *user, gab_step step)
{
  simulation *which = user;
  unsigned kinds = kinds_to_finish(which, step);
  if (kinds) {
    GAB_TRY(gab_lbm_quantities_update(which->view));
    GAB_TRY(gab_output_write_now(which->output, kinds, step, simulation_time(which, step)));
  }
  GAB_TRY(gab_output_flush(which->output));
  return write_summary(which, GAB_OK);
}

static void name_levers(const simulation *which)
{
  const gab_lbm_setup *setup = &which->parameters->setup;
  const gab_config *config = which->parameters->base.config;
  gab_log(
      GAB_LOG_INFO,
      "  what may help: another collision model (lbm.collision, now %s), its lbm.magic (now %g) or its rates "
      "(lbm.rate_*); a smaller omega (now %.6g), that is more viscosity or, at the same Reynolds number, "
      "more cells "
      "(domain.cells); slower flow in cells per step (now %.3g; units.dt, units.lattice_velocity)",
      gab_config_string(config, "lbm.collision"), setup->options.magic > 0 ? setup->options.magic : 3.0 / 16,
      setup->options.omega, setup->speed);
}

static gab_status write_failed(simulation *which, gab_output *output, const char *what, const char *name,
                               gab_step step)
{
  GAB_TRY(gab_lbm_quantities_update(which->view));
  GAB_TRY(gab_output_write_now(output, GAB_OUTPUT_ALL, step, simulation_time(which, step)));
  gab_log(GAB_LOG_INFO, "the %s, of step %" GAB_PRI_STEP ", is in %s/fields/%s.xdmf%s%s%s", what, step,
          which->folder, name, gab_slice_is_built() ? " and " : "", gab_slice_is_built() ? name : "",
          gab_slice_is_built() ? "_*.png" : "");
  return GAB_OK;
}

/* A run that diverged leaves its last state, so that one can see where, and the last checkpoint before it, so
 * that one can see from what. The summary is that of the state that diverged. */
static gab_status leave_evidence(simulation *which, gab_step step, gab_status why)
{
  gab_step good;
  GAB_TRY(write_failed(which, which->failure_output, "state that diverged", "diverged", step));
  GAB_TRY(gab_output_flush(which->output));
  GAB_TRY(write_summary(which, why));
  name_levers(which);
  which->keep_series = true;
  GAB_TRY(gab_timeloop_go_back(which->loop, &good));
  if (good < 0) return GAB_OK;
  GAB_TRY(gab_output_settle(which->world, gab_lbm_check_finite(which->lbm, NULL)));
  return write_failed(which, which->good_output, "last good state", "last_good", good);
}

/* However a run ends, it says why; with the field that went wrong if that is what ended it. */
static gab_status note_failure(void *user, gab_step step, gab_status why)
{
  simulation *which = user;
  if (why == GAB_ERR_DIVERGED) return leave_evidence(which, step, why);
  GAB_TRY(gab_output_flush(which->output));
  return write_summary(which, why);
}

/* ---------------------------------------------------------------- entities */

static gab_status pack_flow(void *user, gab_buffer *out)
{
  const simulation *which = user;
  GAB_TRY(gab_lbm_put_arithmetic(which->lbm, out));
  GAB_TRY(gab_put_i64(out, gab_lbm_get_step(which->lbm)));
  GAB_TRY(gab_put_u64(out, which->adaptations));
  return forces_pack(which, out);
}

static gab_status unpack_flow(void *user, gab_reader *in)
{
  simulation *which = user;
  int64_t step;
  GAB_TRY(gab_lbm_check_arithmetic(which->lbm, in));
  GAB_TRY(gab_get_i64(in, &step));
  GAB_TRY(gab_get_u64(in, &which->adaptations));
  gab_lbm_set_step(which->lbm, step);
  return forces_unpack(which, in);
}

static gab_status pack_output(void *user, gab_buffer *out)
{
  const simulation *which = user;
  return gab_output_pack(which->output, out);
}

static gab_status unpack_output(void *user, gab_reader *in)
{
  const simulation *which = user;
  if (which->keep_series) { /* the series tell how it diverged */
    in->at = in->end;
    return GAB_OK;
  }
  return gab_output_unpack(which->output, in);
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

gab_status simulation_add_duties(simulation *which)
{
  gab_timeloop *loop = which->loop;
  const gab_entity flow = {
      .name = "flow", .kind = GAB_ENTITY_REPLICATED, .user = which, .pack = pack_flow, .unpack = unpack_flow};
  const gab_entity output = {.name = "output",
                             .kind = GAB_ENTITY_REPLICATED,
                             .user = which,
                             .pack = pack_output,
                             .unpack = unpack_output};
  GAB_TRY(gab_timeloop_add_entity(loop, &flow));
  GAB_TRY(gab_timeloop_add_entity(loop, &output));
  GAB_TRY(gab_timeloop_add_task(loop, "send ghosts", send_ghosts, which));
  GAB_TRY(gab_timeloop_add_task(loop, "collide, while ghosts travel", collide_inner, which));
  GAB_TRY(gab_timeloop_add_task(loop, "wait for ghosts", wait_for_ghosts, which));
  GAB_TRY(gab_timeloop_add_task(loop, "collide and boundaries", collide, which));
  which->recompute = which->parameters->base.recompute;
  GAB_TRY(gab_timeloop_add_duty(loop, "output", output_due, write_output, which));
  if (which->parameters->refinement.every > 0)
    GAB_TRY(gab_timeloop_add_duty(loop, "adapt", grid_adapt_due, grid_adapt, which));
  if (which->parameters->base.rebalance.every > 0)
    GAB_TRY(gab_timeloop_add_duty(loop, "balance", grid_rebalance_due, grid_rebalance_now, which));
  GAB_TRY(driver_traffic_add(&which->traffic, which->options->traffic, loop, which->world));
  GAB_TRY(gab_timeloop_add_finish(loop, "finish", finish, which));
  gab_timeloop_on_checkpoint(loop, clear_solid, which);
  return gab_timeloop_on_failure(loop, note_failure, which);
}

/* As a monitor, since these look ahead of each checkpoint too: the last one is finite when a run diverges. */
gab_status simulation_add_check(simulation *which)
{
  return gab_timeloop_add_monitor(which->loop, "check", check_due, check, which);
}
