/* gabion run of a phase field: model, window, output, protection. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"
#include "loadbalance/balance.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---------------------------------------------------------------- a step */

/* Each part of a step is a task, so that each has its time. Messages of one field travel while the other is swept. */

static gab_status send_mu(void *user, gab_step step)
{
  growth *it = user;
  if (recompute_plan_has(&it->parameters->base.recompute, step + 1))
    GAB_TRY(gab_phasefield_request_recomputation(it->model, it->parameters->base.recompute.share));
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

/* ---------------------------------------------------------------- duties */

static bool check_due(const void *user, gab_step step)
{
  const growth *it = user;
  const gab_step every = it->parameters->base.check_every;
  return every > 0 && (step % every == 0 || step == it->parameters->base.steps);
}

static gab_status check(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_output_settle(it->world, gab_phasefield_check_finite(it->model));
}

static bool recompute_due(const void *user, gab_step step)
{
  const growth *it = user;
  return recompute_plan_looks(&it->parameters->base.recompute, step);
}

static gab_status check_recomputed(void *user, gab_step step)
{
  (void)step;
  growth *it = user;
  return gab_phasefield_check_recomputed(it->model, false);
}

static gab_status check_at_rest(void *user, gab_step step)
{
  (void)step;
  growth *it = user;
  return gab_phasefield_check_recomputed(it->model, true);
}

/* As of a flow, monitors.c. */
static gab_status add_recompute(void *user, gab_timeloop *loop)
{
  GAB_TRY(gab_timeloop_add_monitor(loop, "recompute", recompute_due, check_recomputed, user));
  return gab_timeloop_add_rest_monitor(loop, "recompute, at rest", check_at_rest, user);
}

gab_monitor_list solidification_monitors(void)
{
  static const gab_monitor monitors[] = {
      {"recompute", "blocks that are computed twice differ", add_recompute}};
  return (gab_monitor_list){monitors, sizeof monitors / sizeof monitors[0]};
}

/* ---------------------------------------------------------------- entities and the end */

/* What the case is. */
static void put_case(void *user, gab_json *json)
{
  const growth *it = user;
  growth_summarize_grid(it, json);
  driver_put_case(json, it->parameters->base.config, it->options, it->parameters->setup.options.dt,
                  growth_time(it, gab_timeloop_step(it->loop)));
}

static gab_status write_summary(growth *it, gab_status why)
{
  GAB_TRY(growth_count_grid(it));
  GAB_TRY(gab_summary_gather(it->loop, &it->summary));
  const gab_sample_report sample = gab_phasefield_recomputation(it->model);
  GAB_TRY(recompute_report(it->world, &it->parameters->base.recompute, &sample));
  return gab_output_settle(it->world, gab_summary_write(&it->summary, it->loop, why, it->folder,
                                                        (gab_summary_extra){put_case, it}));
}

static gab_status finish(void *user, gab_step step)
{
  growth *it = user;
  GAB_TRY(growth_finish_output(it, step));
  return write_summary(it, GAB_OK);
}

static void name_levers(const growth *it)
{
  gab_log(GAB_LOG_INFO,
          "  what may help: a smaller time step (phasefield.dt, now %g) or wider cells (domain.dx, now %g); "
          "a wider "
          "interface; smaller driving forces, that is temperatures nearer to equilibrium",
          it->parameters->setup.options.dt, it->parameters->forest.dx);
}

/* As of a flow, duties.c. */
static gab_status leave_evidence(growth *it, gab_step step, gab_status why)
{
  gab_step good;
  GAB_TRY(growth_leave_evidence(it, it->failure_output, "diverged", step));
  GAB_TRY(gab_output_flush(it->output));
  GAB_TRY(write_summary(it, why));
  name_levers(it);
  it->keep_series = true;
  GAB_TRY(gab_timeloop_go_back(it->loop, &good));
  if (good < 0) return GAB_OK;
  GAB_TRY(gab_output_settle(it->world, gab_phasefield_check_finite(it->model)));
  return growth_leave_evidence(it, it->good_output, "last_good", good);
}

static gab_status note_failure(void *user, gab_step step, gab_status why)
{
  growth *it = user;
  if (why == GAB_ERR_DIVERGED) return leave_evidence(it, step, why);
  GAB_TRY(gab_output_flush(it->output));
  return write_summary(it, why);
}

static void note_fault(void *user, const gab_fault *fault)
{
  (void)fault;
  if (growth_note_blocks(user) != GAB_OK) gab_log_all(GAB_LOG_WARNING, "%s", gab_error_message());
}

static void forget_derived(void *user, gab_step step)
{
  const growth *it = user;
  (void)step;
  gab_phasefield_forget_derived(it->model);
}

static gab_status add_duties(growth *it)
{
  const gab_entity place = {.name = "phasefield",
                            .kind = GAB_ENTITY_REPLICATED,
                            .user = it->model,
                            .pack = gab_phasefield_pack,
                            .unpack = gab_phasefield_unpack};
  const gab_entity output = {.name = "output",
                             .kind = GAB_ENTITY_REPLICATED,
                             .user = it,
                             .pack = growth_pack_output,
                             .unpack = growth_unpack_output};
  const gab_entity ledger = {.name = "ledger",
                             .kind = GAB_ENTITY_PER_SLOT,
                             .user = it->model,
                             .pack = gab_phasefield_ledger_pack,
                             .unpack = gab_phasefield_ledger_unpack,
                             .adopt = gab_phasefield_ledger_adopt};
  GAB_TRY(gab_timeloop_add_entity(it->loop, &place));
  GAB_TRY(gab_timeloop_add_entity(it->loop, &ledger));
  GAB_TRY(gab_timeloop_add_entity(it->loop, &output));
  GAB_TRY(gab_timeloop_add_task(it->loop, "send ghosts", send_mu, it));
  GAB_TRY(gab_timeloop_add_task(it->loop, "phi", sweep_phi, it));
  GAB_TRY(gab_timeloop_add_task(it->loop, "send ghosts", send_phi, it));
  GAB_TRY(gab_timeloop_add_task(it->loop, "wait for ghosts", wait_for_mu, it));
  GAB_TRY(gab_timeloop_add_task(it->loop, "mu, while ghosts travel", sweep_mu_inner, it));
  GAB_TRY(gab_timeloop_add_task(it->loop, "wait for ghosts", wait_for_phi, it));
  GAB_TRY(gab_timeloop_add_task(it->loop, "mu", sweep_mu, it));
  GAB_TRY(gab_timeloop_add_duty(it->loop, "window", growth_window_due, growth_move_window, it));
  GAB_TRY(gab_timeloop_add_duty(it->loop, "grid", growth_grid_due, growth_adapt_grid, it));
  if (it->parameters->base.rebalance.every > 0)
    GAB_TRY(gab_timeloop_add_duty(it->loop, "balance", growth_rebalance_due, growth_rebalance, it));
  GAB_TRY(gab_timeloop_add_duty(it->loop, "output", growth_output_due, growth_write_output, it));
  GAB_TRY(driver_traffic_add(&it->traffic, it->options->traffic, it->loop, it->world));
  GAB_TRY(gab_timeloop_add_finish(it->loop, "finish", finish, it));
  gab_timeloop_on_fault(it->loop, note_fault, it);
  gab_timeloop_on_checkpoint(it->loop, forget_derived, it);
  return gab_timeloop_on_failure(it->loop, note_failure, it);
}

/* ---------------------------------------------------------------- all of it */

static gab_status rebalance(void *user, gab_forest *forest)
{
  growth *it = user;
  GAB_TRY(growth_draw_lost(it));
  return gab_balance_forest(forest, &it->parameters->base.balance, NULL);
}

static void log_start(const growth *it)
{
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
#endif
  gab_log(GAB_LOG_INFO, "Gabion %s, %s", GAB_VERSION, gab_config_name(it->parameters->base.config));
  for (size_t i = 0; i < it->options->setting_count; i++)
    gab_log(GAB_LOG_INFO, "  --set %s", it->options->settings[i]);
  for (size_t i = 0; i < it->options->drill_count; i++)
    gab_log(GAB_LOG_INFO, "  --inject %s", it->options->drills[i]);
  solidification_describe(it->parameters);
  const int processes = (int)gab_members_count(gab_world_members(it->world));
  gab_log(GAB_LOG_INFO, "  %" PRIu64 " blocks on %d process%s of %d thread%s, imbalance %.3f, kernel %s",
          it->balance.blocks, processes, processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
          it->balance.imbalance, gab_phasefield_kernel_name(it->model));
  gab_log(GAB_LOG_INFO, "  results go to %s", it->folder);
}

/* What slabs.c, output.c and `gabion assemble' write beside what the writers do. */
#define GROWTH_FILES                                                                                         \
  "profile.csv\nsolid.h5\nsolid.xdmf\nslabs/slab_<n>-<n>.h5\nslabs/slab_<n>-<n>-<n>.h5\nslabs/"              \
  "last_<n>-<n>.h5\n"                                                                                        \
  "slabs/last_<n>-<n>-<n>.h5\n"

/* All that makes no blocks and touches no file. */
static gab_status prepare(growth *it)
{
  const solidification_case *which = it->parameters;
  GAB_TRY(gab_forest_create(it->world, &which->base.grid, &it->forest));
  GAB_TRY(gab_phasefield_create(it->forest, &which->setup.options, &it->model));
  gab_phasefield_time_blocks(it->model, which->base.balance.measured);
  it->quantities = gab_phasefield_quantities(it->model, it->items);
  return growth_add_writers(it);
}

/* Phases and potentials twice, concentrations; of the coarsest grid that there may be. */
static driver_memory solidification_memory(const solidification_case *which)
{
  const double phases = which->setup.options.thermo.phases,
               independents = which->setup.options.thermo.independents;
  driver_memory memory = {.cells = 1,
                          .state = (2 * phases + 2 * independents) * sizeof(double),
                          .image = (phases + independents) * sizeof(double)};
  for (int d = 0; d < which->base.grid.grid.dimension; d++)
    memory.cells *= (double)which->base.grid.grid.roots[d] * which->base.grid.cells[d];
  return memory;
}

static gab_status build(growth *it)
{
  const solidification_case *which = it->parameters;
  GAB_TRY(gab_output_settle(it->world, prepare(it)));
  GAB_TRY(driver_processes_check(it->world, which->base.config, it->options));
  const driver_memory memory = solidification_memory(which);
  GAB_TRY(driver_memory_settle(it->world, which->base.config, it->options, &memory));
  GAB_TRY(growth_build_grid(it));
  GAB_TRY(growth_note_blocks(it));
  GAB_TRY(driver_folder_open(it->world, which->base.config, it->options, it->folder, it->restart != NULL));
  log_start(it);
  GAB_TRY(gab_timeloop_create(it->forest, which->base.steps, &it->loop));
  const bool continues = it->restart != NULL;
  const gab_status continued = gab_timeloop_continue(it->loop, it->restart);
  it->restart = NULL;
  GAB_TRY(continued);
  GAB_TRY(add_duties(it));
  const gab_resilience_context context = {.rebalance = rebalance,
                                          .rebalance_user = it,
                                          .monitors = solidification_monitors(),
                                          .monitor_user = it,
                                          .folder = it->folder,
                                          .lock = it->lock,
                                          .inject = it->options->drills,
                                          .inject_count = it->options->drill_count,
                                          .walltime = it->options->walltime};
  GAB_TRY(gab_resilience_protect(it->loop, which->base.config, &context));
  GAB_TRY(gab_timeloop_add_monitor(it->loop, "check", check_due, check, it)); /* as of a flow, duties.c */
  gab_output *const outputs[] = {it->output, it->failure_output, it->good_output, it->recovery_output, NULL};
  return driver_folder_settle(it->world, it->folder, outputs, GROWTH_FILES, continues);
}

static void release(growth *it)
{
  gab_timeloop_destroy(&it->loop);
  gab_restart_destroy(&it->restart);
  gab_output_destroy(&it->output);
  gab_output_destroy(&it->failure_output);
  gab_output_destroy(&it->good_output);
  gab_output_destroy(&it->recovery_output);
  gab_parts_destroy(&it->slabs);
  gab_buffer_release(&it->own_blocks);
  if (it->model) gab_phasefield_destroy(&it->model);
  if (it->forest) gab_forest_destroy(&it->forest);
}

static void report(const growth *it)
{
  gab_summary_log(&it->summary, it->loop, it->folder);
  if (it->slabs)
    gab_log(GAB_LOG_INFO,
            "  the solid that has left the window: %s/slabs; `gabion assemble %s' makes one field of all",
            it->folder, it->folder);
}

static gab_status grow(growth *it)
{
  gab_status status = driver_end_of_setup(it->world, build(it));
  if (status == GAB_OK) status = gab_timeloop_run(it->loop);
  if (status == GAB_OK) report(it);
  else driver_tell_end(it->world, status);
  release(it);
  return status;
}

gab_status solidification_try(gab_world *world, const solidification_case *which)
{
  void *memory;
  GAB_TRY(gab_alloc(sizeof(growth), GAB_MEMORY_OTHER, &memory));
  growth *it = memory;
  *it = (growth){.parameters = which, .options = which->base.options, .folder = ".", .world = world};
  gab_status status = prepare(it);
  release(it);
  gab_free(&memory);
  return status;
}

gab_status solidification_run(gab_world *world, const driver_case *which, const char *folder,
                              driver_continuation *begin)
{
  void *memory;
  GAB_TRY(gab_alloc(sizeof(growth), GAB_MEMORY_OTHER, &memory));
  growth *it = memory;
  *it = (growth){.parameters = (const solidification_case *)which,
                 .options = which->options,
                 .folder = folder,
                 .world = world,
                 .lock = begin->lock,
                 .restart = begin->restart};
  begin->restart = NULL;
  const gab_status status = grow(it);
  gab_free(&memory);
  return status;
}
