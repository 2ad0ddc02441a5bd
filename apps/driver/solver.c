/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that cases of all solvers have in common. */
#include "apps/driver/case/case_impl.h"
#include "apps/driver/solver_impl.h"

#include "core/base/log.h"

#include <string.h>

const char *gab_app_slice_quantity(const gab_app_case *which, size_t index)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(path, "output.slices.%zu.quantity", index);
  return gab_config_is_set(which->config, path) ? gab_config_string(which->config, path)
                                                : which->solver->usual_slice;
}

gab_monitor_list gab_app_case_monitors(const gab_app_case *which)
{
  return which->solver->monitors ? which->solver->monitors() : (gab_monitor_list){0};
}

/* Refuses a check that the solver does not have. */
static gab_status refuse_check(const gab_app_case *which)
{
  const gab_solver *solver = which->solver;
  if (solver->check_finite || solver->check_recomputed || which->check_every == 0 ||
      !gab_config_is_set(which->config, "run.check_every"))
    return GAB_OK;
  return gab_config_fail(which->config, "run.check_every", "%s has no such check", solver->title);
}

gab_status gab_app_case_settle(gab_app_case *which)
{
  GAB_TRY(gab_app_steps_read(which->config, which->dt, &which->steps, &which->check_every));
  GAB_TRY(refuse_check(which));
  GAB_TRY(gab_app_recompute_plan_read(which->config, which->check_every, &which->recompute));
  GAB_TRY(gab_resilience_check(which->config, gab_app_case_monitors(which)));
  return gab_app_injections_check(which->options);
}

static bool has(const gab_solver *solver, const char *section)
{
  for (const char *const *own = solver->own; *own; own++)
    if (strcmp(*own, section) == 0) return true;
  return false;
}

gab_status gab_app_case_refuse_others(const gab_app_case *which)
{
  const gab_solver *other;
  for (int i = 0; (other = gab_app_solver_at(i)); i++)
    for (const char *const *path = other->own; *path; path++)
      if (gab_config_is_set(which->config, *path) && !has(which->solver, *path))
        return gab_config_fail(which->config, *path, "belongs to %s, but this is %s", other->title,
                               which->solver->title);
  return GAB_OK;
}

gab_status gab_app_case_read_alike(gab_app_case *which, int dimension)
{
  const gab_config *config = which->config;
  const char *title = which->solver->title;
  char why[160];
  GAB_TRY(gab_app_case_refuse_others(which));
  GAB_TRY(gab_app_domain_read(config, &which->domain));
  if (dimension != 0 && which->domain.grid.dimension != dimension)
    return gab_config_fail(config, "domain.cells", "%s is computed in %dD", title, dimension);
  which->grid = which->domain;
  which->dt = 1;
  GAB_TRY(gab_app_balance_read(config, &which->balance, &which->rebalance));
  if (which->balance.measured)
    return gab_config_fail(config, "balance.work", "the work of %s is not measured: all its blocks are alike",
                           title);
  snprintf(why, sizeof why, "%s: blocks without any copy cannot be approximated", title);
  return gab_app_reconstruct_refuse(config, why);
}
