/* SPDX-License-Identifier: Apache-2.0 */
/* Implicit fields of a stencil: one elliptic equation per field and step. */
#include "apps/driver/stencil/stencil_impl.h"

#include "blockforest/elliptic/costs.h"
#include "core/base/log.h"

gab_status gab_app_stencil_implicit_create(stencil_run *it)
{
  const int finest = it->parameters->finest;
  const double dx = ldexp(it->base.parameters->grid.dx, -finest);
  for (size_t i = 0; i < gab_app_stencil->implicit_count; i++) {
    double alpha = 0, beta = 0;
    gab_app_stencil->implicit[i].operation(it->base.parameters->config, &alpha, &beta);
    gab_elliptic_options options = {.operation = {.alpha = alpha, .beta = beta * dx * dx}, .finest = finest};
    GAB_TRY(gab_app_stencil_sides_of(it->parameters, gab_app_stencil->implicit[i].field, options.sides));
    GAB_TRY(gab_app_blame(it->base.parameters->config, "domain.block",
                          gab_elliptic_create(it->base.forest, &options, &it->implicit[i])));
  }
  return GAB_OK;
}

/* Solves that were repeated after a death count twice. */
static void report(const stencil_run *it)
{
  if (it->solves > 0 && gab_world_is_root(it->base.world))
    gab_log(GAB_LOG_INFO, "  implicit fields: %" PRId64 " cycles of the solver in %" PRId64 " solves",
            it->cycles, it->solves);
}

gab_status gab_app_stencil_implicit_plan(const stencil_run *it, gab_app_plan *plan)
{
  if (gab_app_stencil->implicit_count > 0)
    gab_log(
        GAB_LOG_WARNING,
        "%g cycles of the solver of implicit fields are assumed in a solve; set --cycles to what a run reports",
        plan->cycles);
  for (size_t i = 0; i < gab_app_stencil->implicit_count; i++) {
    gab_elliptic_costs costs;
    GAB_TRY(gab_elliptic_find_costs(it->implicit[i], &costs));
    for (int k = 0; k < costs.data_count; k++) GAB_TRY(gab_app_plan_add_data(plan, costs.data[k]));
    for (int k = 0; k < costs.exchange_count; k++)
      gab_app_plan_add_exchanges(plan, &costs.exchanges[k],
                                 costs.exchange_repeats[k].once +
                                     plan->cycles * costs.exchange_repeats[k].per_cycle);
    for (int k = 0; k < costs.reduction_count; k++)
      gab_app_plan_add_reduction(plan, costs.reductions[k],
                                 costs.reduction_repeats[k].once +
                                     plan->cycles * costs.reduction_repeats[k].per_cycle);
    plan->process_state += costs.process_bytes;
  }
  return GAB_OK;
}

void gab_app_stencil_implicit_destroy(stencil_run *it)
{
  report(it);
  for (size_t i = 0; i < gab_app_stencil->implicit_count; i++) gab_elliptic_destroy(&it->implicit[i]);
}

gab_status gab_app_stencil_implicit_solve(stencil_run *it)
{
  for (size_t i = 0; i < gab_app_stencil->implicit_count; i++) {
    const gab_block_component field = {it->now, gab_app_stencil->implicit[i].field};
    gab_elliptic_result result;
    if (gab_app_stencil->implicit[i].stage != it->stage) continue;
    GAB_TRY(gab_elliptic_solve(it->implicit[i], field, field, &result));
    it->solves++;
    it->cycles += result.iterations;
  }
  return GAB_OK;
}

/* Three fields per level, each with an eighth (a quarter in 2D) of the cells of the level before. */
double gab_app_stencil_implicit_bytes(void)
{
  return (double)gab_app_stencil->implicit_count * 3 * sizeof(double) * 4 / 3;
}
