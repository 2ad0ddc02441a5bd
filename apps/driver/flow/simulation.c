/* SPDX-License-Identifier: Apache-2.0 */
/* Run of a flow: set-up, tasks of a step, post-step actions, entities, and its end. */
#include "apps/driver/flow/simulation.h"

#include "apps/driver/case/case_impl.h"
#include "apps/driver/run/run_impl.h"
#include "core/base/log.h"
#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- grid and flow */

static unsigned needs_of_output(const flow_case *which)
{
  unsigned needs = 0;
  static const char *const lists[] = {"output.fields.quantities", "output.probes.quantities"};
  for (size_t k = 0; k < 2; k++) {
    size_t count;
    const char *const *names = gab_config_strings(which->base.config, lists[k], &count);
    for (size_t i = 0; i < count; i++) needs |= gab_lbm_quantity_needs(names[i]);
  }
  for (size_t k = 0; k < gab_config_count(which->base.config, "output.planes"); k++) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    size_t count;
    gab_config_path(path, "output.planes.%zu.quantities", k);
    const char *const *names = gab_config_strings(which->base.config, path, &count);
    for (size_t i = 0; i < count; i++) needs |= gab_lbm_quantity_needs(names[i]);
  }
  for (size_t i = 0; i < which->output.slice_count; i++)
    needs |= gab_lbm_quantity_needs(gab_app_slice_quantity(&which->base, i));
  return needs | (which->output.parts ? GAB_LBM_NEEDS_WALLS : 0);
}

static gab_status make_geometry(simulation *made)
{
  const gab_lbm_setup *setup = &made->parameters->setup;
  return gab_geometry_create(&made->parameters->domain, setup->bodies, setup->body_count, &made->geometry);
}

gab_status gab_app_simulation_prepare(gab_app_run *it)
{
  simulation *made = (simulation *)it;
  const flow_case *which = made->parameters = (const flow_case *)it->parameters;
  /* A picture may be missing on one machine only: all have to hear of it. */
  GAB_TRY(gab_world_reduce_status(it->world, make_geometry(made)));
  it->finest_level = which->refinement.max_level;
  gab_forest_options options = it->parameters->grid;
  options.exists = gab_geometry_block_exists;
  options.weight = gab_app_grid_block_weight;
  options.user = made->geometry;
  GAB_TRY(gab_forest_create(it->world, &options, &it->forest));
  GAB_TRY(gab_lbm_create(it->forest, made->geometry, &which->setup.options, &made->lbm));
  made->drive = (mean_drive){.step = -1};
  memcpy(made->drive.force, which->setup.options.force, sizeof made->drive.force);
  gab_lbm_time_blocks(made->lbm, it->parameters->balance.measured);
  GAB_TRY(gab_lbm_quantities_create(it->forest, made->lbm, &which->setup.units, needs_of_output(which),
                                    &made->view));
  GAB_TRY(gab_app_flow_scalars_create(it->forest, made->lbm, &which->scalars, which->refinement.max_level,
                                      &made->scalars));
  it->quantities = gab_lbm_quantities_list(made->view, which->domain.dimension, made->quantity_items);
  it->quantities.count =
      gab_app_flow_scalars_quantities(made->scalars, made->quantity_items, it->quantities.count);
  GAB_TRY(gab_app_flow_means_create(it, &which->means, which->domain.dimension, made->quantity_items,
                                    &made->means));
  GAB_TRY(
      gab_app_flow_until_prepare(&made->until, &which->until, it->forest, made->lbm, which->setup.units.dt));
  GAB_TRY(gab_app_flow_fluid_check(which, made->geometry));
  GAB_TRY(gab_lbm_setup_check_geometry(which->base.config, made->geometry, &which->setup));
  if (which->tracers.is_wanted) {
    const tracer_flow flow = {.forest = it->forest,
                              .lbm = made->lbm,
                              .geometry = made->geometry,
                              .units = &which->setup.units,
                              .config = which->base.config,
                              .is_timed = it->parameters->balance.measured};
    GAB_TRY(gab_app_flow_tracers_create(&flow, &which->tracers, &made->tracers));
    it->tracers = gab_app_flow_tracers_records(made->tracers);
  }
  GAB_TRY(GAB_NEW_ARRAY(&made->porous, which->setup.porous_count, GAB_MEMORY_OTHER));
  return gab_app_forces_prepare(made);
}

/* Fluid cells of level 0, in the order of the blocks, until they are too many. */
static double count_fluid(const void *user, double most)
{
  const simulation *made = user;
  const gab_forest_options *forest = &made->base.parameters->grid;
  const int64_t roots = gab_app_root_count(forest);
  double count = 0;
  for (int64_t root = 0; root < roots && count <= most; root++) {
    const gab_box box = gab_app_root_cells(forest, root);
    count += (double)gab_geometry_fluid_cells(made->geometry, 0, &box);
  }
  return count;
}

void gab_app_flow_extra_bytes(const flow_case *which, double *state, double *image)
{
  const int dimension = which->domain.dimension;
  gab_app_scalars_bytes(&which->scalars, dimension, state, image);
  const int values = (which->means.names ? gab_means_values(which->means.names) : 0) +
                     (which->until.every > 0 ? dimension : 0);
  const double statistics = values * (double)sizeof(double);
  *state += statistics;
  *image += statistics;
}

gab_app_memory gab_app_simulation_memory(const gab_app_run *it)
{
  const flow_case *which = (const flow_case *)it->parameters;
  const gab_lbm_options *options = &which->setup.options;
  const double bytes = options->lattice->q * (double)gab_precision_bytes(options->precision);
  double fields, images;
  gab_app_flow_extra_bytes(which, &fields, &images);
  gab_app_memory memory = {
      .cells = 1, .state = gab_lbm_fields(options) * bytes + fields, .image = bytes + images, .user = it};
  for (int d = 0; d < which->domain.dimension; d++) memory.cells *= (double)which->domain.cells[d];
  if (which->setup.body_count > 0) memory.count = count_fluid;
  return memory;
}

gab_status gab_app_simulation_build(gab_app_run *it)
{
  simulation *made = (simulation *)it;
  GAB_TRY(gab_app_porous_check_first(made));
  GAB_TRY(gab_app_grid_build(made));
  GAB_TRY(gab_app_sides_find(made));
  GAB_TRY(gab_app_porous_check(made, NULL, true));
  gab_app_sides_warn(made);
  if (made->tracers) GAB_TRY(gab_app_flow_tracers_begin(made->tracers));
  if (made->scalars) gab_app_flow_scalars_begin(made->scalars);
  if (gab_app_start_is_wanted(made->parameters) && !it->restart) GAB_TRY(gab_app_start_load(made));
  if (made->parameters->setup.initial_flow.is_used && !it->restart) GAB_TRY(gab_app_initial_set(made));
  return gab_lbm_integrate(made->lbm, false, &made->start);
}

void gab_app_simulation_describe(const gab_app_run *it)
{
  const simulation *made = (const simulation *)it;
  char cells[48];
  snprintf(cells, sizeof cells, " (%" PRIu64 " fluid cells)", made->start.fluid_cells);
  gab_app_run_describe(it, cells, gab_lbm_kernel_name(made->lbm));
  gab_app_grid_describe(made);
  gab_app_sides_describe(made);
  gab_app_start_describe(made);
  gab_app_initial_describe(made);
}

/* ---------------------------------------------------------------- tasks */

/* Each part of a step is a task, so that each has its time. */

static gab_status send_ghosts(void *user, gab_step step)
{
  simulation *which = user;
  if (gab_app_forces_wanted(which, step + 1)) gab_lbm_request_forces(which->lbm);
  if (gab_app_side_series_wanted(which, step + 1) || gab_app_statistics_wanted(which, step + 1))
    gab_lbm_request_side_loads(which->lbm);
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

static bool takes_sample(const simulation *which, gab_step steps_done)
{
  return which->means && gab_schedule_due(which->parameters->means.schedule, steps_done);
}

/* A task and not an action, so that a sample is part of its step: a resumed run does not repeat it. */
static gab_status sample_means(void *user, gab_step step)
{
  const simulation *which = user;
  return gab_app_flow_means_sample(&which->parameters->means, which->means, step + 1);
}

/* Output of a step in addition to the state. */
static bool leaves_more(const simulation *which, gab_step steps_done)
{
  return takes_sample(which, steps_done) || gab_app_forces_wanted(which, steps_done) ||
         gab_app_side_series_wanted(which, steps_done) || gab_app_statistics_wanted(which, steps_done) ||
         gab_app_run_recomputes(&which->base, steps_done);
}

/* Several steps instead of these tasks, before the step with additional output. */
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
  const simulation *which = (const simulation *)it;
  GAB_TRY(gab_lbm_check_finite(which->lbm, NULL));
  return gab_app_flow_scalars_check_finite(which->scalars);
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

static void name_levers_of_flow(const gab_lbm_setup *setup)
{
  char of_collision[400];
  gab_lbm_advise_diverged(&setup->options, of_collision, sizeof of_collision);
  gab_log(
      GAB_LOG_INFO,
      "  what may help: %sa smaller omega (now %.6g), that is more viscosity or, at the same Reynolds number, "
      "more cells (domain.cells); slower flow in cells per step (now %.3g; units.dt, units.lattice_velocity)",
      of_collision, setup->options.omega, setup->speed);
}

void gab_app_simulation_name_levers(const gab_app_run *it)
{
  const simulation *which = (const simulation *)it;
  uint64_t has_flow_diverged = gab_lbm_check_finite(which->lbm, NULL) != GAB_OK;
  if (gab_world_max_u64(it->world, &has_flow_diverged, 1) != GAB_OK) has_flow_diverged = 1;
  const bool has_named = gab_app_flow_scalars_name_levers(which->scalars, has_flow_diverged);
  if (has_flow_diverged || !has_named) name_levers_of_flow(&which->parameters->setup);
}

/* ---------------------------------------------------------------- the end */

gab_status gab_app_simulation_finish(gab_app_run *it, gab_step step)
{
  simulation *which = (simulation *)it;
  const double most = 1e-4;
  gab_lbm_integrals now;
  GAB_TRY(gab_lbm_integrate(which->lbm, false, &now));
  gab_app_results_find(which, &now);
  GAB_TRY(gab_app_planes_finish(which));
  GAB_TRY(gab_app_porous_finish(which));
  if (which->scalars) GAB_TRY(gab_app_flow_scalars_finish(which->scalars));
  GAB_TRY(gab_app_flow_means_finish(it, &which->parameters->means, which->means, step));
  if (gab_lbm_has_open_side(&which->parameters->setup.options, which->parameters->domain.dimension))
    return GAB_OK;
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
  GAB_TRY(gab_app_drive_pack(which, out));
  return gab_app_forces_pack(which, out);
}

static gab_status unpack_flow(void *user, gab_reader *in)
{
  simulation *which = user;
  GAB_TRY(gab_lbm_unpack_state(which->lbm, in));
  GAB_TRY(gab_get_u64(in, &which->adaptations));
  GAB_TRY(gab_app_drive_unpack(which, in));
  return gab_app_forces_unpack(which, in);
}

/* Without the memory for it results stay correct, but the compared data may differ. */
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
  if (which->scalars) GAB_TRY(gab_app_flow_scalars_add(which->scalars, loop));
  if (which->means) GAB_TRY(gab_timeloop_add_task(loop, "means", sample_means, which));
  if (which->tracers) GAB_TRY(gab_app_flow_tracers_add(which->tracers, loop));
  else if (!which->scalars && which->parameters->setup.temporal_steps != 1)
    GAB_TRY(gab_timeloop_add_temporal_block(loop, "several steps in a temporal block", which->means ? 5 : 4,
                                            temporal_block, which));
  GAB_TRY(gab_app_drive_add(which, loop));
  GAB_TRY(gab_app_statistics_add(which, loop));
  GAB_TRY(gab_app_flow_until_add(&which->until, loop));
  GAB_TRY(gab_timeloop_add_action(loop, "last forces", gab_app_forces_last_due, gab_app_forces_last, which));
  GAB_TRY(gab_timeloop_add_action(loop, "last flow rates", gab_app_side_series_last_due,
                                  gab_app_side_series_last, which));
  GAB_TRY(gab_app_run_add_output(it));
  if (which->parameters->refinement.every > 0)
    GAB_TRY(gab_timeloop_add_action(loop, "adapt", gab_app_grid_adapt_due, gab_app_grid_adapt, which));
  GAB_TRY(gab_app_run_add_balance(it));
  gab_timeloop_on_checkpoint(loop, clear_solid, which);
  return GAB_OK;
}

void gab_app_simulation_release(gab_app_run *it)
{
  simulation *made = (simulation *)it;
  gab_app_flow_until_release(&made->until);
  gab_means_destroy(&made->means);
  gab_app_flow_scalars_destroy(&made->scalars);
  gab_app_flow_tracers_destroy(&made->tracers);
  gab_lbm_quantities_destroy(&made->view);
  if (made->lbm) gab_lbm_destroy(&made->lbm);
  if (it->forest) gab_forest_destroy(&it->forest);
  if (made->geometry) gab_geometry_destroy(&made->geometry);
  gab_free(&made->loads);
  gab_free(&made->parts);
  gab_free(&made->planes);
  gab_free(&made->porous);
  gab_free(&made->records);
}
