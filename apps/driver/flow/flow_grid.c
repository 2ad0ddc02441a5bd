/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of a run: how it is built, given to ranks, and adapts to the flow. */
#include "apps/driver/flow/simulation.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "apps/driver/case/case_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- parameters */

/* Criteria that could never want anything. */
static gab_status check_criteria(const flow_case *which)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const gab_refinement_setup *setup = &which->refinement;
  const gab_domain *domain = &which->domain;
  for (size_t i = 0; i < setup->count; i++) {
    const gab_criterion *criterion = &setup->criteria[i];
    const char *type =
        gab_config_string(which->base.config, gab_config_path(path, "refinement.criteria.%zu.type", i));
    const bool is_at_bodies =
        criterion->kind == GAB_CRITERION_BODIES || criterion->kind == GAB_CRITERION_CURVATURE;
    const bool flows = !is_at_bodies && criterion->kind != GAB_CRITERION_BOX;
    if (is_at_bodies && which->setup.body_count == 0)
      return gab_config_fail(which->base.config, path, "criterion '%s', but the case has no bodies", type);
    if (flows && setup->every == 0)
      return gab_config_fail(
          which->base.config, path,
          "criterion '%s' depends on the flow, but refinement.every is 0: the grid never adapts", type);
    if (is_at_bodies) continue;
    const double *lo = flows ? criterion->region_lo : criterion->lo,
                 *hi = flows ? criterion->region_hi : criterion->hi;
    for (int d = 0; d < domain->dimension; d++) {
      double least = domain->origin[d], most = least + (double)domain->cells[d] * domain->dx;
      if (hi[d] <= least || lo[d] >= most)
        return gab_config_fail(
            which->base.config, path,
            "the box of criterion '%s' lies outside of the domain: from %g to %g along %c, "
            "where the domain reaches from %g to %g",
            type, lo[d], hi[d], (int)"xyz"[d], least, most);
    }
  }
  return GAB_OK;
}

gab_status gab_app_grid_plan_read(flow_case *which)
{
  const gab_config *config = which->base.config;
  GAB_TRY(gab_app_balance_read(config, &which->base.balance, &which->base.rebalance));
  GAB_TRY(gab_refinement_from_config(config, &which->domain, &which->setup.units, &which->refinement));
  const int deepest = gab_root_grid_max_level(&which->base.grid.grid);
  if (which->refinement.max_level > deepest)
    return gab_config_fail(config, "refinement.levels",
                           "%d levels are too many below %" PRId32 " x %" PRId32 " x %" PRId32
                           " blocks: block ids allow %d",
                           which->refinement.max_level, which->base.grid.grid.roots[0],
                           which->base.grid.grid.roots[1], which->base.grid.grid.roots[2], deepest);
  for (int d = 0; d < which->domain.dimension && which->refinement.max_level > 0; d++)
    if (which->base.grid.cells[d] % 2 != 0 || which->base.grid.cells[d] < 4)
      return gab_config_fail(config, "domain.block",
                             "blocks of %" PRId32
                             " cells along %c cannot be split evenly: with refinement an "
                             "even number, 4 or more, is needed",
                             which->base.grid.cells[d], (int)"xyz"[d]);
  GAB_TRY(check_criteria(which));
  which->setup.options.border_speed =
      fmax(which->refinement.max_level > 0
               ? gab_lbm_border_speed(which->setup.speed, which->refinement.border_speed)
               : 0,
           which->setup.open_speed);
  return gab_lbm_setup_check_bodies(&which->setup, &which->domain, &which->refinement);
}

/* ---------------------------------------------------------------- weights */

/* Fluid cells times the steps that the level takes in one of level 0. */
uint64_t gab_app_grid_block_weight(void *user, int level, const gab_box *cells)
{
  return gab_geometry_block_weight(user, level, cells) << level;
}

/* Cell updates of a step of level 0, for the rate in the log. */
static gab_status count_updates(simulation *which)
{
  uint64_t updates = 0;
  for (size_t i = 0; i < gab_forest_block_count(which->base.forest); i++)
    updates += gab_forest_block_weight(which->base.forest,
                                       gab_block_get_id(gab_forest_block(which->base.forest, i)));
  GAB_TRY(gab_world_sum_u64(which->base.world, &updates, 1));
  which->updates = updates;
  if (which->base.loop) gab_timeloop_set_updates(which->base.loop, updates);
  return GAB_OK;
}

/* ---------------------------------------------------------------- owners */

static gab_status set_refinement(simulation *made)
{
  const flow_case *which = made->parameters;
  made->refinement = (gab_refinement){.geometry = made->geometry,
                                      .lbm = made->lbm,
                                      .criteria = which->refinement.criteria,
                                      .count = which->refinement.count};
  return gab_refinement_check(&made->refinement, which->refinement.max_level);
}

gab_status gab_app_grid_refine(simulation *made, gab_proxies *proxies)
{
  const int max_level = made->parameters->refinement.max_level;
  GAB_TRY(set_refinement(made));
  if (max_level == 0) return GAB_OK;
  return gab_proxies_refine_places(proxies, gab_refinement_mark_place, &made->refinement, max_level, NULL);
}

gab_status gab_app_grid_build(simulation *made)
{
  const flow_case *which = made->parameters;
  GAB_TRY(set_refinement(made));
  GAB_TRY(gab_forest_build(
      made->base.forest, which->refinement.max_level > 0 ? gab_refinement_mark_place : NULL,
      &made->refinement, which->refinement.max_level, gab_app_run_distribute_first, made, NULL));
  return count_updates(made);
}

gab_status gab_app_grid_rebalance(void *user, gab_forest *forest)
{
  simulation *which = user;
  GAB_TRY(gab_balance_forest(forest, &which->parameters->base.balance, &which->base.balance));
  return count_updates(which);
}

/* ---------------------------------------------------------------- adaptation */

bool gab_app_grid_adapt_due(const void *user, gab_step step)
{
  const simulation *which = user;
  const gab_refinement_setup *setup = &which->parameters->refinement;
  return setup->every > 0 && step >= setup->start && (step - setup->start) % setup->every == 0;
}

/* `gabion check` and the start of a run see the initial grid only: a patch of a body can lose its last link later. */
static gab_status find_sides(simulation *which, gab_step step)
{
  char message[1024];
  const gab_status status = gab_app_sides_find(which);
  if (status != GAB_ERR_INPUT) return status;
  snprintf(message, sizeof message, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_INPUT,
           "%s (on the grid as adapted in step %" GAB_PRI_STEP
           "; or let a refinement criterion keep the surface there at one level)",
           message, step);
}

gab_status gab_app_grid_adapt(void *user, gab_step step)
{
  simulation *which = user;
  const gab_adapt_options options = {.max_level = which->parameters->refinement.max_level,
                                     .mark = gab_refinement_mark,
                                     .user = &which->refinement,
                                     .distribute = gab_app_run_distribute,
                                     .distribute_context = which};
  gab_adapt_report report;
  GAB_TRY(gab_forest_adapt(which->base.forest, &options, &report));
  if (!report.changed) return GAB_OK;
  gab_balance_forget_work(which->base.forest);
  GAB_TRY(count_updates(which));
  GAB_TRY(find_sides(which, step));
  gab_app_sides_warn(which);
  GAB_TRY(gab_app_simulation_note_mass(which, step));
  which->adaptations++;
  gab_log(GAB_LOG_DEBUG,
          "step %" GAB_PRI_STEP ": the grid adapts: %" PRIu64 " blocks split (%" PRIu64 " for 2:1), %" PRIu64
          " merged, %" PRIu64 " now, imbalance %.3f",
          step, report.grid.split, report.grid.forced, report.grid.merged, report.grid.blocks,
          which->base.balance.imbalance);
  return GAB_OK;
}

/* ---------------------------------------------------------------- in words */

/* "8 + 20 + 16": blocks of each level; says how many levels there are. */
static int list_blocks(const uint64_t blocks[GAB_BALANCE_LEVELS], char *text, size_t capacity)
{
  int levels = GAB_BALANCE_LEVELS;
  while (levels > 1 && blocks[levels - 1] == 0) levels--;
  text[0] = '\0';
  for (int level = 0; level < levels; level++) {
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%" PRIu64, level ? " + " : "", blocks[level]);
  }
  return levels;
}

static int coarsest_of(const uint64_t blocks[GAB_BALANCE_LEVELS], int levels)
{
  int coarsest = 0;
  while (coarsest < levels - 1 && blocks[coarsest] == 0) coarsest++;
  return coarsest;
}

/* Changes of the collision because of several levels or open sides: lbm/lbm.h. */
static void describe_bounds(const flow_case *which, int levels)
{
  const gab_lbm_options *options = &which->setup.options;
  char text[256];
  const int last = gab_lbm_describe_bounds(options, levels, text, sizeof text);
  if (last < 0) return;
  gab_log(GAB_LOG_INFO,
          "  the magic parameter of the collision is bounded, to %s on level%s 0%s%.0d: so %s are stable up "
          "to %.3g m/s",
          text, last ? "s" : "", last ? " to " : "", last,
          levels > 1 ? "borders between levels" : "open sides",
          gab_units_velocity_to_physical(&which->setup.units, options->border_speed));
}

static void warn(const char *advice)
{
  if (advice[0]) gab_log(GAB_LOG_WARNING, "%s", advice);
}

void gab_app_grid_describe_collision(const flow_case *which, const uint64_t blocks[GAB_BALANCE_LEVELS],
                                     int levels)
{
  char advice[320];
  const gab_lbm_options *options = &which->setup.options;
  const double speed = which->setup.speed;
  const int coarsest = coarsest_of(blocks, levels);
  describe_bounds(which, levels);
  if (coarsest < levels - 1) {
    gab_lbm_advise_borders(options, speed, coarsest, advice, sizeof advice);
    warn(advice);
    gab_lbm_advise_borders_of_space(options, which->domain.dimension, speed, coarsest, advice, sizeof advice);
    warn(advice);
  }
  gab_lbm_advise(options, speed, coarsest, advice, sizeof advice);
  warn(advice);
  gab_lbm_advise_open(options, coarsest, advice, sizeof advice);
  warn(advice);
}

void gab_app_grid_describe(const simulation *which)
{
  char text[256];
  uint64_t blocks[GAB_BALANCE_LEVELS] = {0};
  const gab_refinement_setup *setup = &which->parameters->refinement;
  for (int level = 0; level < which->base.balance.levels; level++)
    blocks[level] = which->base.balance.level[level].blocks;
  int levels = list_blocks(blocks, text, sizeof text);
  if (levels > 1) gab_log(GAB_LOG_INFO, "  blocks of levels 0 to %d: %s", levels - 1, text);
  gab_app_grid_describe_collision(which->parameters, blocks, levels);
  if (setup->every > 0 && setup->max_level > 0)
    gab_log(GAB_LOG_INFO, "  the grid adapts to the flow every %" GAB_PRI_STEP " steps, down to level %d",
            setup->every, setup->max_level);
}

void gab_app_grid_put(const gab_app_run *it, gab_json *json)
{
  gab_json_uint(json, "adaptations", ((const simulation *)it)->adaptations);
}

void gab_app_grid_report(const simulation *which)
{
  char text[256];
  if (which->parameters->refinement.max_level == 0) return;
  int levels = list_blocks(which->base.level_blocks, text, sizeof text);
  gab_log(GAB_LOG_INFO,
          "  the grid adapted %" PRIu64 " time%s; at the end it has %s blocks of levels 0 to %d",
          which->adaptations, which->adaptations == 1 ? "" : "s", text, levels - 1);
}
