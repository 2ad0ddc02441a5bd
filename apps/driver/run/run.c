/* SPDX-License-Identifier: Apache-2.0 */
/* From a case to its end, the same for every solver. */
#include "apps/driver/solver_impl.h"
#include "apps/driver/run/run_impl.h"
#include "apps/driver/plan/plan_traffic.h"

#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/messages/collective.h"
#include "resilience/resilience_config.h"
#include "apps/driver/case/case_impl.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---------------------------------------------------------------- made and unmade */

static gab_status prepare(gab_app_run *it)
{
  gab_output **const outputs[] = {&it->output, &it->failure_output, &it->good_output, &it->recovery_output};
  GAB_TRY(it->parameters->solver->prepare(it));
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
    GAB_TRY(gab_output_create(it->forest, it->folder, outputs[i]));
  GAB_TRY(gab_app_run_add_writers(it));
  return it->parameters->solver->add_writers ? it->parameters->solver->add_writers(it) : GAB_OK;
}

static gab_status make(gab_world *world, const gab_app_case *which, const char *folder, gab_app_run **made)
{
  void *memory = NULL;
  *made = NULL;
  GAB_TRY(gab_alloc(which->solver->run_bytes, GAB_MEMORY_OTHER, &memory));
  *made = memory;
  **made = (gab_app_run){.parameters = which, .folder = folder, .world = world};
  const gab_status status = gab_alloc(sizeof(gab_app_traffic), GAB_MEMORY_OTHER, &memory);
  if (status == GAB_OK) (*made)->traffic = memory;
  else gab_free(made);
  return status;
}

gab_status gab_app_run_create(gab_world *world, const gab_app_case *which, const char *folder,
                              gab_app_run **made)
{
  GAB_TRY(make(world, which, folder, made));
  return prepare(*made);
}

void gab_app_run_destroy(gab_app_run **which)
{
  gab_app_run *it = *which;
  if (!it) return;
  gab_timeloop_destroy(&it->loop);
  gab_restart_destroy(&it->restart);
  gab_output_destroy(&it->recovery_output);
  gab_output_destroy(&it->good_output);
  gab_output_destroy(&it->failure_output);
  gab_output_destroy(&it->output);
  it->parameters->solver->release_run(it);
  gab_free(&it->traffic);
  gab_free(which);
}

gab_status gab_app_run_check(gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  const gab_config *config = which->config;
  if (which->solver->check) {
    GAB_TRY(which->solver->check(it));
  } else {
    GAB_TRY(gab_app_any_processes_check(which, (uint64_t)gab_app_root_count(&which->grid)));
    gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(config));
    which->solver->describe(which);
    gab_app_describe_spares(config, gab_config_int(config, "run.processes"));
  }
  gab_app_run_describe_local(it);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the first lines of the log */

void gab_app_run_describe(const gab_app_run *it, const char *cells, const char *kernel)
{
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
#endif
  const int processes = (int)gab_members_count(gab_world_members(it->world));
  gab_log(GAB_LOG_INFO, "  %" PRIu64 " blocks%s on %d process%s of %d thread%s, imbalance %.3f%s%s",
          it->balance.blocks, cells ? cells : "", processes, processes == 1 ? "" : "es", threads,
          threads == 1 ? "" : "s", it->balance.imbalance, kernel ? ", kernel " : "", kernel ? kernel : "");
}

static void log_start(const gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  gab_log(GAB_LOG_INFO, "Gabion %s, %s", GAB_VERSION, gab_config_name(which->config));
  for (size_t i = 0; i < which->options->setting_count; i++)
    gab_log(GAB_LOG_INFO, "  --set %s", which->options->settings[i]);
  for (size_t i = 0; i < which->options->injection_count; i++)
    gab_log(GAB_LOG_INFO, "  --inject %s", which->options->injections[i]);
  which->solver->describe(which);
  if (which->solver->describe_run) which->solver->describe_run(it);
  else gab_app_run_describe(it, NULL, NULL);
  gab_log(GAB_LOG_INFO, "  results go to %s", it->folder);
}

/* ---------------------------------------------------------------- main */

static gab_status rebalance(void *user, gab_forest *forest)
{
  gab_app_run *it = user;
  return gab_balance_forest(forest, &it->parameters->balance, &it->balance);
}

static gab_status protect(gab_app_run *it)
{
  const gab_app_options *options = it->parameters->options;
  const gab_solver *solver = it->parameters->solver;
  const gab_resilience_context context = {.rebalance = solver->rebalance ? solver->rebalance : rebalance,
                                          .rebalance_user = it,
                                          .monitors = gab_app_case_monitors(it->parameters),
                                          .monitor_user = it,
                                          .folder = it->folder,
                                          .lock = it->lock,
                                          .inject = options->injections,
                                          .inject_count = options->injection_count,
                                          .walltime = options->walltime};
  return gab_resilience_protect(it->loop, it->parameters->config, &context);
}

static gab_status fit_memory(gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  if (!which->solver->memory) return GAB_OK;
  const gab_app_memory memory = which->solver->memory(it);
  return gab_app_memory_settle(it->world, which, &memory);
}

static gab_status build(gab_app_run *it, gab_app_kept_folder *kept)
{
  const gab_app_case *which = it->parameters;
  const gab_solver *solver = which->solver;
  GAB_TRY(gab_world_reduce_status(it->world, prepare(it)));
  GAB_TRY(gab_app_processes_check(it->world, which));
  GAB_TRY(fit_memory(it));
  GAB_TRY(solver->build(it));
  const bool continues = it->restart != NULL;
  if (continues && gab_world_is_root(it->world)) gab_app_folder_keep(it->folder, kept);
  GAB_TRY(gab_app_folder_open(it->world, which, it->folder, continues));
  log_start(it);
  GAB_TRY(gab_timeloop_create(it->forest, which->steps, &it->loop));
  const gab_status continued = gab_timeloop_continue(it->loop, it->restart);
  it->restart = NULL;
  GAB_TRY(continued);
  GAB_TRY(solver->add(it));
  GAB_TRY(gab_app_run_add_actions(it));
  GAB_TRY(protect(it));
  GAB_TRY(gab_app_run_add_check(it));
  gab_app_run_warn_of_comms(it);
  gab_output *const outputs[] = {it->output, it->failure_output, it->good_output, it->recovery_output, NULL};
  return gab_app_folder_settle(it->world, it->folder, outputs, solver->files, continues);
}

static void report(const gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  gab_summary_log(&it->summary, it->loop, it->folder);
  if (which->solver->report) which->solver->report(it);
  if (gab_config_count(which->config, "output.slices") > 0)
    gab_log(GAB_LOG_INFO, "  pictures: %s/*.png", it->folder);
  if (gab_config_is_set(which->config, "output.fields"))
    gab_log(GAB_LOG_INFO, "  fields, to be opened with ParaView: %s/fields/fields.%s", it->folder,
            gab_app_run_writes_vtkhdf(it) ? "vtkhdf.series" : "xdmf");
}

/* The checkpoint does not fit, or the case is refused: nothing was computed, and previous results are still valid. */
static gab_status leave_folder(gab_app_run *it, gab_status status, gab_app_kept_folder *kept)
{
  const gab_run_stats stats = gab_timeloop_get_stats(it->loop);
  const bool is_refused = (status == GAB_ERR_INPUT || status == GAB_ERR_CORRUPT) &&
                          stats.steps_computed == 0 && stats.checkpoint.taken == 0;
  uint64_t puts_back = is_refused && kept->is_kept;
  char words[1024];
  if (!is_refused) return status;
  snprintf(words, sizeof words, "%s", gab_error_message());
  /* Without fault tolerance a failed run leaves a broken world, but all got this status from a reduction: each process acts
   * alone. */
  const bool is_whole = gab_world_check(it->world) == GAB_OK;
  if (!is_whole && gab_world_survives_deaths(it->world))
    return gab_error_set(status, __FILE__, __LINE__, "%s", words);
  (void)gab_log_open(NULL);
  if (is_whole)
    GAB_TRY(gab_world_max_u64(it->world, &puts_back, 1)); /* no process writes to the log any more */
  if (kept->is_kept) gab_app_folder_put_back(it->folder, kept);
  const char *kept_as_it_was = puts_back ? " (the start is refused; the output folder is as it was)" : "";
  if (status == GAB_ERR_CORRUPT && it->parameters->options->anyway)
    return gab_error_set(
        GAB_ERR_INPUT, __FILE__, __LINE__,
        "the state in the checkpoint does not fit the changed case: %s; undo the changes that "
        "the warning lists, or start with --fresh%s",
        words, kept_as_it_was);
  return gab_error_set(status, __FILE__, __LINE__, "%s%s", words, kept_as_it_was);
}

static gab_status compute(gab_app_run *it)
{
  gab_app_kept_folder kept = {.is_kept = false};
  gab_status status = gab_app_end_of_setup(it->world, build(it, &kept));
  if (status == GAB_OK) {
    status = gab_timeloop_run(it->loop);
    if (status == GAB_OK) report(it);
    else status = leave_folder(it, status, &kept);
  }
  gab_app_kept_folder_release(&kept);
  if (status != GAB_OK) gab_app_tell_end(it->world, status);
  return status;
}

gab_status gab_app_run_case(gab_world *world, const gab_app_case *which, const char *folder)
{
  gab_run_lock *lock = NULL;
  gab_restart *restart = NULL;
  gab_app_run *it = NULL;
  bool is_finished = false;
  gab_status status = gab_app_continuation_find(world, which, folder, &lock, &restart, &is_finished);
  if (status != GAB_OK) status = gab_app_refuse(world, status);
  else if (!is_finished) status = make(world, which, folder, &it);
  if (it) {
    it->lock = lock;
    it->restart = restart;
    restart = NULL;
    status = compute(it);
    gab_app_run_destroy(&it);
  }
  gab_restart_destroy(&restart);
  gab_run_lock_release(&lock, status == GAB_ERR_AGAIN ? GAB_RUN_LOCK_LEAVE : GAB_RUN_LOCK_REMOVE);
  return status;
}
