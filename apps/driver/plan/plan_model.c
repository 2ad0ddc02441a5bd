/* SPDX-License-Identifier: Apache-2.0 */
/* Runs gab_solver.plan of a case, for `gabion plan`. */
#include "apps/driver/driver.h"
#include "apps/driver/case/case_impl.h"

#include "core/base/log.h"
#include "core/world/alone.h"
#include "core/world/launcher.h"

gab_status gab_app_plan_add_data(gab_app_plan *plan, gab_data_id data)
{
  size_t held, packed;
  if (gab_proxies_count(plan->proxies) == 0)
    GAB_FAIL(GAB_ERR_INPUT, "a grid without blocks cannot be planned");
  const gab_block_id id = gab_proxies_get(plan->proxies, 0)->id;
  GAB_TRY(gab_forest_measure_data(plan->run->forest, id, data, &held, &packed));
  plan->block.state += (double)held;
  plan->block.image += (double)packed;
  return GAB_OK;
}

void gab_app_plan_add_ghosts(gab_app_plan *plan, const gab_ghost_kind *ghosts)
{
  gab_app_plan_add_exchanges(plan, ghosts, 1);
}

void gab_app_plan_add_exchanges(gab_app_plan *plan, const gab_ghost_kind *ghosts, double times)
{
  const int last = GAB_APP_MOST_EXCHANGES - 1, own = plan->exchanges < last ? plan->exchanges : last;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
    if (direction != GAB_DIRECTION_CENTRE)
      plan->crossing[own][direction] += (double)ghosts->size(ghosts->user, direction);
  plan->times[own] = times;
  plan->exchanges = own + 1;
}

void gab_app_plan_add_reduction(gab_app_plan *plan, double bytes, double times)
{
  if (plan->reductions == GAB_APP_MOST_REDUCTIONS) return;
  plan->reduced[plan->reductions] = bytes;
  plan->reduced_times[plan->reductions++] = times;
}

/* ---------------------------------------------------------------- the plan of a case */

static gab_status fill(gab_app_plan *plan, const gab_app_case *which, gab_app_plan_fn *use, void *user)
{
  GAB_TRY(gab_proxies_create(plan->run->world, gab_forest_get_options(plan->run->forest), &plan->proxies));
  plan->block.updates = (double)which->grid.cells[0] * which->grid.cells[1] * which->grid.cells[2];
  GAB_TRY(which->solver->plan(plan->run, plan));
  return use(user, plan);
}

static gab_status plan_in(gab_world *world, const gab_app_case *which, int32_t ranks, gab_app_plan_fn *use,
                          void *user)
{
  char folder[GAB_APP_PATH_LENGTH];
  gab_app_plan plan = {.ranks = ranks, .fields = "fields", .cycles = 11}; /* 1e-10 by 0.12 each */
  if (which->options->cycles > 0) plan.cycles = which->options->cycles;
  if (gab_launcher_processes() > 1)
    GAB_FAIL(GAB_ERR_INPUT, "one process plans for all: start `gabion plan' without mpirun");
  gab_app_default_folder(which->options->word, folder, sizeof folder);
  gab_status status = gab_app_run_create(world, which, folder, &plan.run);
  if (status == GAB_OK) status = fill(&plan, which, use, user);
  gab_proxies_destroy(&plan.proxies);
  gab_app_run_destroy(&plan.run);
  return status;
}

/* The error message is kept beyond the end of the world. */
gab_status gab_app_case_plan(const gab_app_case *which, int32_t ranks, gab_app_plan_fn *use, void *user,
                             double *started)
{
  const gab_solver *solver = which->solver;
  gab_world *world = NULL;
  char message[1024];
  if (!solver->plan)
    return gab_config_fail(which->config, solver->section ? solver->section : "run",
                           "gabion plan does not know %s", solver->title);
  GAB_TRY(gab_world_create_alone(&world));
  if (started) *started = gab_seconds();
  gab_status status = plan_in(world, which, ranks, use, user);
  snprintf(message, sizeof message, "%s", gab_error_message());
  gab_world_destroy(&world);
  if (status != GAB_OK) gab_error_set(status, __FILE__, __LINE__, "%s", message);
  return status;
}
