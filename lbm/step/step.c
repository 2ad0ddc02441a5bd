/* SPDX-License-Identifier: Apache-2.0 */
/* A step as called by a program: exchange, sweep of cells that need no message, the rest. Other levels step within it
 * (levels.c). */
#include "lbm/sides/side_impl.h"
#include "lbm/lbm_impl.h"

#include <math.h>

/* Checks the factors of sides at all sub-steps of the step: `check` evaluates them only at samples of the time. */
static gab_status check_sides(const gab_lbm *lbm)
{
  const int lacks = gab_lbm_lacks_flow_rate(lbm);
  if (lacks >= 0)
    GAB_FAIL(GAB_ERR_STATE, "%s: the flow rate needs gab_lbm_set_flow_rates() before the first step",
             gab_condition_path(lbm->model.options.patches, lacks));
  const int deepest = gab_geometry_domain(lbm->model.geometry)->deepest;
  const gab_lbm_options *options = &lbm->model.options;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *which = gab_lbm_condition(options, k);
    for (int part = 0; which->factor && part < 1 << deepest; part++)
      GAB_TRY(gab_lbm_check_factor(lbm, k, (double)lbm->step + ldexp(part, -deepest)));
  }
  return GAB_OK;
}

gab_status gab_lbm_exchange_start(gab_lbm *lbm)
{
  if (gab_forest_revision(lbm->forest) == 0)
    GAB_FAIL(GAB_ERR_STATE,
             "the forest of the flow has no blocks yet (gab_balance_initial() or gab_forest_build())");
  GAB_TRY(check_sides(lbm));
  GAB_TRY(gab_lbm_join(lbm));
  gab_lbm_pack_fused(lbm);
  GAB_TRY(gab_lbm_start_on(lbm, 0));
  lbm->ghosts = GAB_GHOSTS_UNDER_WAY;
  return GAB_OK;
}

gab_status gab_lbm_collide_inner(gab_lbm *lbm)
{
  if (lbm->ghosts != GAB_GHOSTS_UNDER_WAY)
    GAB_FAIL(GAB_ERR_STATE,
             "gab_lbm_collide_inner() is for the time between start and finish of an exchange");
  if (lbm->deepest > 0) return GAB_OK; /* levels sweep inner cells within gab_lbm_advance() */
  return gab_lbm_collide_inner_on(lbm, &(gab_lbm_substep){.time = (double)lbm->step});
}

gab_status gab_lbm_exchange_finish(gab_lbm *lbm)
{
  GAB_TRY(gab_lbm_finish_on(lbm, 0));
  lbm->ghosts = GAB_GHOSTS_THERE;
  if (!lbm->wants_forces) return GAB_OK;
  if (lbm->stage[0].inner_is_swept)
    GAB_FAIL(GAB_ERR_STATE, "forces must be asked for before the inner cells of a step are swept");
  gab_lbm_clear_forces(lbm);
  if (lbm->deepest > 0) return GAB_OK; /* with levels, sub-steps add them */
  GAB_TRY(gab_lbm_settle_on(lbm, &(gab_lbm_substep){.time = (double)lbm->step}));
  gab_lbm_add_forces(lbm, 0, 0);
  return GAB_OK;
}

gab_status gab_lbm_collide_stale(gab_lbm *lbm)
{
  GAB_TRY(gab_lbm_join(lbm));
  lbm->ghosts = GAB_GHOSTS_STALE;
  lbm->walls_made = 0;
  if (lbm->deepest > 0) GAB_TRY(gab_lbm_advance(lbm));
  else GAB_TRY(gab_lbm_collide_on(lbm, &(gab_lbm_substep){.time = (double)lbm->step}));
  GAB_TRY(gab_wall_balance_close(lbm));
  if (lbm->wants_forces) lbm->has_forces = true;
  if (lbm->wants_side_loads) lbm->has_side_loads = true;
  lbm->wants_forces = lbm->wants_side_loads = false;
  lbm->step++;
  return GAB_OK;
}

gab_status gab_lbm_collide(gab_lbm *lbm)
{
  if (lbm->ghosts != GAB_GHOSTS_THERE)
    GAB_FAIL(GAB_ERR_STATE,
             "gab_lbm_collide() without an exchange of ghosts that has been finished since the last one");
  return gab_lbm_collide_stale(lbm);
}

gab_status gab_lbm_step(gab_lbm *lbm)
{
  GAB_TRY(gab_lbm_exchange_start(lbm));
  GAB_TRY(gab_lbm_collide_inner(lbm));
  GAB_TRY(gab_lbm_exchange_finish(lbm));
  return gab_lbm_collide(lbm);
}
