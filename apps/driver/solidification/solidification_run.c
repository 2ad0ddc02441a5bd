/* SPDX-License-Identifier: Apache-2.0 */
/* Run of a phase field: tasks of a step, post-step actions, entities. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"
#include "loadbalance/balance.h"
#include "apps/driver/run/run_impl.h"

/* ---------------------------------------------------------------- a step */

/* Each part of a step is a task, so that each has its time. Messages of one field travel while the other is swept. */

static gab_status send_mu(void *user, gab_step step)
{
  growth *it = user;
  if (gab_app_run_recomputes(&it->base, step + 1))
    GAB_TRY(gab_phasefield_request_recomputation(it->model, it->base.parameters->recompute.share));
  return gab_phasefield_exchange_mu_start(it->model);
}

static gab_status sweep_phi(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_phasefield_sweep_phi(it->model);
}

static gab_status send_phi(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_phasefield_exchange_phi_start(it->model);
}

static gab_status wait_for_mu(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_phasefield_exchange_mu_finish(it->model);
}

static gab_status sweep_mu_inner(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_phasefield_sweep_mu_inner(it->model);
}

static gab_status wait_for_phi(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_phasefield_exchange_phi_finish(it->model);
}

static gab_status sweep_mu(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_phasefield_sweep_mu(it->model);
}

gab_monitor_list gab_app_solidification_monitors(void)
{
  static const gab_monitor monitors[] = {GAB_APP_MONITOR_RECOMPUTE};
  return (gab_monitor_list){monitors, sizeof monitors / sizeof monitors[0]};
}

/* ---------------------------------------------------------------- entities and the end */

void gab_app_growth_name_levers(const gab_app_run *run)
{
  gab_log(GAB_LOG_INFO,
          "  what may help: a smaller time step (phasefield.dt, now %g) or wider cells (domain.dx, now %g); "
          "a wider "
          "interface; smaller driving forces, that is temperatures nearer to equilibrium",
          run->parameters->dt, run->parameters->domain.dx);
}

static void note_fault(void *user, const gab_fault *fault)
{
  (void)fault;
  if (gab_app_growth_note_blocks(user) != GAB_OK) gab_log_all(GAB_LOG_WARNING, "%s", gab_error_message());
}

static void forget_derived(void *user, gab_step step)
{
  const growth *it = user;
  (void)step;
  gab_phasefield_forget_derived(it->model);
}

gab_status gab_app_growth_add(gab_app_run *run)
{
  growth *it = (growth *)run;
  gab_timeloop *loop = run->loop;
  const gab_entity place = {.name = "phasefield",
                            .kind = GAB_ENTITY_REPLICATED,
                            .user = it->model,
                            .pack = gab_phasefield_pack,
                            .unpack = gab_phasefield_unpack};
  const gab_entity ledger = {.name = "ledger",
                             .kind = GAB_ENTITY_PER_RANK,
                             .user = it->model,
                             .pack = gab_phasefield_ledger_pack,
                             .unpack = gab_phasefield_ledger_unpack,
                             .adopt = gab_phasefield_ledger_adopt};
  GAB_TRY(gab_timeloop_add_entity(loop, &place));
  GAB_TRY(gab_timeloop_add_entity(loop, &ledger));
  GAB_TRY(gab_timeloop_add_task(loop, "send ghosts", send_mu, it));
  GAB_TRY(gab_timeloop_add_task(loop, "phi", sweep_phi, it));
  GAB_TRY(gab_timeloop_add_task(loop, "send ghosts", send_phi, it));
  GAB_TRY(gab_timeloop_add_task(loop, "wait for ghosts", wait_for_mu, it));
  GAB_TRY(gab_timeloop_add_task(loop, "mu, while ghosts travel", sweep_mu_inner, it));
  GAB_TRY(gab_timeloop_add_task(loop, "wait for ghosts", wait_for_phi, it));
  GAB_TRY(gab_timeloop_add_task(loop, "mu", sweep_mu, it));
  GAB_TRY(gab_timeloop_add_action(loop, "window", gab_app_growth_window_due, gab_app_growth_move_window, it));
  GAB_TRY(gab_timeloop_add_action(loop, "grid", gab_app_growth_grid_due, gab_app_growth_adapt_grid, it));
  GAB_TRY(gab_app_run_add_balance(run));
  GAB_TRY(gab_app_run_add_output(run));
  gab_timeloop_on_fault(loop, note_fault, it);
  gab_timeloop_on_checkpoint(loop, forget_derived, it);
  return GAB_OK;
}

/* ---------------------------------------------------------------- looks and words */

int gab_app_growth_levels(const gab_app_run *run)
{
  return ((const growth *)run)->parameters->refinement.levels + 1;
}

gab_status gab_app_growth_update_quantities(gab_app_run *run)
{
  return gab_phasefield_update_quantities(((growth *)run)->model);
}

gab_status gab_app_growth_check_finite(gab_app_run *run)
{
  return gab_phasefield_check_finite(((growth *)run)->model);
}

gab_status gab_app_growth_check_recomputed(gab_app_run *run, bool at_rest)
{
  return gab_phasefield_check_recomputed(((growth *)run)->model, at_rest);
}

gab_sample_report gab_app_growth_recomputation(const gab_app_run *run)
{
  return gab_phasefield_recomputation(((const growth *)run)->model);
}

void gab_app_growth_describe(const gab_app_run *run)
{
  const growth *it = (const growth *)run;
  gab_app_run_describe(run, NULL, gab_phasefield_kernel_name(it->model));
}

void gab_app_growth_report(const gab_app_run *run)
{
  if (((const growth *)run)->slabs)
    gab_log(GAB_LOG_INFO,
            "  the solid that has left the window: %s/slabs; `gabion assemble %s' makes one field of all",
            run->folder, run->folder);
}

/* ---------------------------------------------------------------- made and unmade */

/* Files of slabs.c, solidification_output.c and `gabion assemble'. */
const char gab_app_growth_files[] =
    "profile.csv\nsolid.h5\nsolid.xdmf\nslabs/slab_<n>-<n>.h5\n"
    "slabs/slab_<n>-<n>-<n>.h5\nslabs/last_<n>-<n>.h5\nslabs/last_<n>-<n>-<n>.h5\n";

gab_status gab_app_growth_prepare(gab_app_run *run)
{
  growth *it = (growth *)run;
  const solidification_case *which = it->parameters = (const solidification_case *)run->parameters;
  GAB_TRY(gab_forest_create(run->world, &run->parameters->grid, &run->forest));
  GAB_TRY(gab_phasefield_create(run->forest, &which->setup.options, &it->model));
  gab_phasefield_time_blocks(it->model, run->parameters->balance.measured);
  run->quantities = gab_phasefield_quantities(it->model, it->items);
  run->finest_level = which->refinement.levels;
  return GAB_OK;
}

/* Phases and potentials twice, concentrations; of the coarsest grid that there may be. */
gab_app_memory gab_app_growth_memory(const gab_app_run *run)
{
  const solidification_case *which = (const solidification_case *)run->parameters;
  const gab_forest_options *grid = &run->parameters->grid;
  const double phases = which->setup.options.thermo.phases,
               independents = which->setup.options.thermo.independents;
  gab_app_memory memory = {.cells = 1,
                           .state = (2 * phases + 2 * independents) * sizeof(double),
                           .image = (phases + independents) * sizeof(double)};
  for (int d = 0; d < grid->grid.dimension; d++) memory.cells *= (double)grid->grid.roots[d] * grid->cells[d];
  return memory;
}

gab_status gab_app_growth_build(gab_app_run *run)
{
  growth *it = (growth *)run;
  GAB_TRY(gab_app_growth_build_grid(it));
  return gab_app_growth_note_blocks(it);
}

gab_status gab_app_growth_rebalance(void *user, gab_forest *forest)
{
  growth *it = user;
  GAB_TRY(gab_app_growth_draw_lost(it));
  return gab_balance_forest(forest, &it->base.parameters->balance, NULL);
}

void gab_app_growth_release(gab_app_run *run)
{
  growth *it = (growth *)run;
  gab_slab_writer_destroy(&it->slabs);
  gab_buffer_release(&it->own_blocks);
  if (it->model) gab_phasefield_destroy(&it->model);
  if (run->forest) gab_forest_destroy(&run->forest);
}
