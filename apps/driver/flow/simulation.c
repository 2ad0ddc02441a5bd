/* SPDX-License-Identifier: Apache-2.0 */
/* Setting a flow up and taking it down. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "apps/driver/case/case_impl.h"
#include "apps/driver/run/run_impl.h"

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
  for (size_t i = 0; i < which->output.slice_count; i++)
    needs |= gab_lbm_quantity_needs(gab_app_slice_quantity(&which->base, i));
  return needs;
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
  gab_forest_options options = it->parameters->grid;
  options.exists = gab_geometry_block_exists;
  options.weight = gab_app_grid_block_weight;
  options.user = made->geometry;
  GAB_TRY(gab_forest_create(it->world, &options, &it->forest));
  GAB_TRY(gab_lbm_create(it->forest, made->geometry, &which->setup.options, &made->lbm));
  gab_lbm_time_blocks(made->lbm, it->parameters->balance.measured);
  GAB_TRY(gab_lbm_quantities_create(it->forest, made->lbm, &which->setup.units, needs_of_output(which),
                                    &made->view));
  it->quantities = gab_lbm_quantities_list(made->view, which->domain.dimension, made->quantity_items);
  GAB_TRY(gab_app_flow_fluid_check(which, made->geometry));
  GAB_TRY(gab_lbm_setup_check_geometry(which->base.config, made->geometry, &which->setup));
  if (which->tracers.is_wanted) {
    const tracer_flow flow = {.forest = it->forest,
                              .lbm = made->lbm,
                              .geometry = made->geometry,
                              .units = &which->setup.units,
                              .config = which->base.config};
    GAB_TRY(flow_tracers_create(&flow, &which->tracers, &made->tracers));
    it->tracers = flow_tracers_records(made->tracers);
  }
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

gab_app_memory gab_app_simulation_memory(const gab_app_run *it)
{
  const flow_case *which = (const flow_case *)it->parameters;
  const gab_lbm_options *options = &which->setup.options;
  const double bytes = options->lattice->q * (double)gab_precision_bytes(options->precision);
  gab_app_memory memory = {.cells = 1, .state = gab_lbm_fields(options) * bytes, .image = bytes, .user = it};
  for (int d = 0; d < which->domain.dimension; d++) memory.cells *= (double)which->domain.cells[d];
  if (which->setup.body_count > 0) memory.count = count_fluid;
  return memory;
}

gab_status gab_app_simulation_build(gab_app_run *it)
{
  simulation *made = (simulation *)it;
  GAB_TRY(gab_app_grid_build(made));
  if (made->tracers) GAB_TRY(flow_tracers_begin(made->tracers));
  return gab_lbm_integrate(made->lbm, false, &made->start);
}

void gab_app_simulation_describe(const gab_app_run *it)
{
  const simulation *made = (const simulation *)it;
  char cells[48];
  snprintf(cells, sizeof cells, " (%" PRIu64 " fluid cells)", made->start.fluid_cells);
  gab_app_run_describe(it, cells, gab_lbm_kernel_name(made->lbm));
  gab_app_grid_describe(made);
}

void gab_app_simulation_release(gab_app_run *it)
{
  simulation *made = (simulation *)it;
  flow_tracers_destroy(&made->tracers);
  gab_lbm_quantities_destroy(&made->view);
  if (made->lbm) gab_lbm_destroy(&made->lbm);
  if (it->forest) gab_forest_destroy(&it->forest);
  if (made->geometry) gab_geometry_destroy(&made->geometry);
  gab_free(&made->forces);
  gab_free(&made->records);
}
