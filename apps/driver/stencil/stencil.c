/* SPDX-License-Identifier: Apache-2.0 */
/* A solver with a few numbers per cell, for programs that supply only the equation. */
#include "apps/driver/stencil/stencil_impl.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "apps/driver/case/case_impl.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- a case */

static gab_status declare(gab_config *config)
{
  static gab_config_section section;
  section = (gab_config_section){.path = gab_app_stencil->name,
                                 .doc = gab_app_stencil->title,
                                 .keys = gab_app_stencil->keys,
                                 .count = gab_app_stencil->key_count};
  GAB_TRY(gab_app_declare(config, &section, 1));
  GAB_TRY(gab_app_stencil_end_declare(config));
  GAB_TRY(gab_app_stencil_sides_declare(config));
  GAB_TRY(gab_app_stencil_initial_declare(config));
  GAB_TRY(gab_app_stencil_time_declare(config));
  GAB_TRY(gab_app_stencil_integrator_declare(config));
  return gab_app_stencil->adaptive ? gab_app_stencil_refinement_declare(config) : GAB_OK;
}

/* Ghosts must come from the adjacent block alone. */
static gab_status check_depth(const gab_app_case *which)
{
  const int depth = gab_app_stencil_depth();
  for (int axis = 0; axis < which->grid.grid.dimension; axis++)
    if (which->grid.cells[axis] < depth)
      return gab_config_fail(which->config, "domain.block",
                             "blocks of %" PRId32
                             " cells along %c: %s reads %d cells beyond a block; use blocks of at least %d",
                             which->grid.cells[axis], "xyz"[axis], gab_app_stencil -> title, depth, depth);
  return GAB_OK;
}

static gab_status read_case(gab_app_case *which)
{
  GAB_TRY(gab_app_case_read_alike(which, gab_app_stencil->dimension));
  GAB_TRY(gab_app_stencil_sides_read((stencil_case *)which));
  gab_app_stencil_initial_read((stencil_case *)which);
  GAB_TRY(check_depth(which));
  GAB_TRY(gab_app_stencil_check_centring((const stencil_case *)which));
  GAB_TRY(gab_app_stencil_refinement_read((stencil_case *)which));
  gab_app_stencil_time_read((stencil_case *)which);
  gab_app_stencil_integrator_read((stencil_case *)which);
  GAB_TRY(gab_app_case_settle(which));
  return gab_app_stencil_end_read((stencil_case *)which);
}

static void describe(const gab_app_case *which)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const stencil_case *mine = (const stencil_case *)which;
  gab_log(GAB_LOG_INFO, "  %s", gab_app_stencil->title);
  for (size_t i = 0; i < gab_app_stencil->key_count; i++)
    if (gab_app_stencil->keys[i].type == GAB_CONFIG_REAL && gab_app_stencil->keys[i].length_max == 0 &&
        gab_config_is_set(which->config, gab_app_stencil_path(path, gab_app_stencil->keys[i].name)))
      gab_log(GAB_LOG_INFO, "  %s = %g", path, gab_config_real(which->config, path));
  if (mine->finest > 0)
    gab_log(
        GAB_LOG_INFO,
        "  cells up to %d times as wide where no criterion requires small ones; the grid adapts every %" GAB_PRI_STEP
        " steps",
        1 << mine->finest, mine->every);
}

static double fields_bytes(void) { return (double)gab_app_stencil_field_count() * sizeof(double); }

/* ---------------------------------------------------------------- made and unmade */

static gab_status prepare(gab_app_run *run)
{
  stencil_run *it = (stencil_run *)run;
  const gab_forest_options *grid = &run->parameters->grid;
  const int fields = gab_app_stencil_field_count(), depth = gab_app_stencil_depth();
  it->parameters = (const stencil_case *)run->parameters;
  run->finest_level = it->parameters->finest;
  it->shape = (gab_block_field){.shape = {.cells = {grid->cells[0], grid->cells[1], grid->cells[2]},
                                          .ghosts = {depth, depth, grid->grid.dimension == 3 ? depth : 0},
                                          .components = fields},
                                .faces_only = !gab_app_stencil->diagonals,
                                .linear_split = true};
  gab_app_stencil_list_quantities(it);
  const gab_block_data_kind now =
      gab_block_field_data(&it->shape, fields == 1 ? gab_app_stencil->fields[0] : gab_app_stencil->name);
  const gab_block_data_kind next = gab_block_field_scratch(&it->shape, "next");
  GAB_TRY(gab_forest_create(run->world, grid, &run->forest));
  GAB_TRY(gab_forest_add_data(run->forest, &now, &it->now));
  GAB_TRY(gab_forest_add_data(run->forest, &next, &it->next));
  GAB_TRY(gab_app_stencil_add_stages(it));
  GAB_TRY(gab_app_stencil_implicit_create(it));
  return gab_level_ghosts_create(run->forest, it->now, &it->shape, it->parameters->finest, &it->ghosts);
}

static void release_run(gab_app_run *run)
{
  gab_level_ghosts_destroy(&((stencil_run *)run)->ghosts);
  gab_app_stencil_implicit_destroy((stencil_run *)run);
  gab_forest_destroy(&run->forest);
}

static gab_app_memory memory(const gab_app_run *run)
{
  const gab_forest_options *grid = &run->parameters->grid;
  gab_app_memory needed = {
      .cells = (double)gab_app_root_count(grid),
      .state = (2 + gab_app_stencil_stage_fields(((const stencil_run *)run)->parameters)) * fields_bytes() +
               gab_app_stencil_implicit_bytes()};
  for (int axis = 0; axis < 3; axis++) needed.cells *= grid->cells[axis];
  needed.image = fields_bytes();
  return needed;
}

/* ---------------------------------------------------------------- cells */

static gab_status check_cell(void *user, const gab_block *block, const int32_t at[3], double *values)
{
  const stencil_run *it = user;
  double centre[3];
  for (int f = 0; gab_app_stencil->fields[f]; f++)
    if (!isfinite(values[f])) {
      gab_block_cell_centre(it->base.forest, block, at[0], at[1], at[2], centre);
      GAB_FAIL(GAB_ERR_DIVERGED, "%s is %g at (%g, %g, %g)", gab_app_stencil->fields[f], values[f], centre[0],
               centre[1], centre[2]);
    }
  return GAB_OK;
}

static gab_status check_finite(gab_app_run *run)
{
  return gab_app_stencil_visit((stencil_run *)run, check_cell, run);
}

/* The formulas of `initial' have finite values. */
static gab_status check_initial(gab_app_run *run)
{
  char why[512];
  if (!((stencil_run *)run)->parameters->has_initial || check_finite(run) == GAB_OK) return GAB_OK;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(run->parameters->config, "initial", "%s", why);
}

static gab_status build(gab_app_run *run)
{
  stencil_run *it = (stencil_run *)run;
  GAB_TRY(gab_app_stencil_build_grid(it));
  const gab_status start = check_initial(run);
  GAB_TRY(gab_world_reduce_status(run->world, start == GAB_OK ? gab_app_stencil_try_start(it) : start));
  return gab_world_reduce_status(run->world, gab_app_stencil_set_on_sides(it, 0));
}

/* ---------------------------------------------------------------- a step */

/* A stage on all blocks. A trial compares the results of the program's function. */
static gab_status compute_blocks(stencil_run *it, gab_step step)
{
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(it->base.forest);
  const bool integrates = it->parameters->integrator != NULL;
  gab_stencil_trial *trial = NULL;
  if (!it->is_tried) GAB_TRY(gab_app_stencil_try(it, step, &trial));
  const bool at_once = integrates && !trial;
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < count; i++) {
    const gab_stencil_block at = gab_app_stencil_block_of(it, (size_t)i, step);
    gab_app_stencil_update(&at);
    if (at_once) gab_app_stencil_integrate(it, (size_t)i);
  }
  GAB_TRY(gab_app_stencil_compare(&trial));
  for (ptrdiff_t i = 0; i < count && integrates && !at_once; i++) gab_app_stencil_integrate(it, (size_t)i);
  return GAB_OK;
}

static gab_status compute(void *user, gab_step step)
{
  stencil_run *it = user;
  const double time = gab_app_stencil_time(it, step);
  for (it->stage = 0; it->stage < gab_app_stencil_stages(it->parameters); it->stage++) {
    GAB_TRY(
        gab_app_stencil_exchange(it, it->stage == 0 ? time : time + gab_app_stencil_stage_time(it) * it->dt));
    if (it->stage == 0) GAB_TRY(gab_app_stencil_find_dt(it, step));
    GAB_TRY(compute_blocks(it, step));
    GAB_TRY(gab_app_stencil_end_stage(it));
    GAB_TRY(gab_app_stencil_implicit_solve(it));
  }
  it->stage = 0;
  it->is_tried = it->is_tried || gab_forest_block_count(it->base.forest) > 0;
  gab_app_stencil_advance_time(it);
  GAB_TRY(gab_app_stencil_set_on_sides(it, gab_app_stencil_time(it, step + 1)));
  return gab_app_stencil_end_measure(it, step + 1);
}

static double time_of(const gab_app_run *run, gab_step step)
{
  return gab_app_stencil_time((const stencil_run *)run, step);
}

static gab_status add(gab_app_run *run)
{
  GAB_TRY(gab_timeloop_add_task(run->loop, gab_app_stencil->name, compute, run));
  GAB_TRY(gab_app_stencil_add_time((stencil_run *)run));
  GAB_TRY(gab_app_stencil_add_ends((stencil_run *)run));
  GAB_TRY(gab_app_stencil_add_adaptation((stencil_run *)run));
  return gab_app_run_add_output(run);
}

/* ---------------------------------------------------------------- table of sums */

static gab_status add_writers(gab_app_run *run)
{
  const gab_schedule schedule = {.every = ((const stencil_run *)run)->parameters->look_every};
  if (!gab_app_stencil->sums) return GAB_OK;
  return gab_output_add_series(run->output, schedule, gab_app_stencil->name, gab_app_stencil->sums,
                               (size_t)gab_app_stencil_count(gab_app_stencil->sums), gab_app_stencil_sums_row,
                               run, NULL);
}

/* ---------------------------------------------------------------- plan */

static gab_status plan(gab_app_run *run, gab_app_plan *plan)
{
  const stencil_run *it = (const stencil_run *)run;
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&it->shape);
  plan->fields = gab_app_stencil->fields[0];
  plan->adapts_every = it->parameters->finest > 0 ? it->parameters->every : 0;
  gab_app_plan_add_exchanges(plan, &ghosts, gab_app_stencil_stages(it->parameters));
  if (it->parameters->cfl > 0) gab_app_plan_add_reduction(plan, sizeof(double), 1);
  GAB_TRY(gab_app_stencil_implicit_plan(it, plan));
  GAB_TRY(gab_app_plan_add_data(plan, it->now));
  GAB_TRY(gab_app_plan_add_data(plan, it->next));
  if (gab_app_stencil_stage_fields(it->parameters) > 0) GAB_TRY(gab_app_plan_add_data(plan, it->first));
  if (gab_app_stencil_stage_fields(it->parameters) > 1) GAB_TRY(gab_app_plan_add_data(plan, it->sum));
  return gab_app_stencil_refine(it->parameters, plan->proxies);
}

/* ---------------------------------------------------------------- the table */

static const char *what_is_wrong(const gab_stencil *which)
{
  const int fields = gab_app_stencil_count(which->fields), sums = gab_app_stencil_count(which->sums);
  if (!which->name || !which->title || !(which->update || which->rate))
    return "name, title, or update or rate is missing";
  if (which->update && which->rate) return "it has an update and a rate; one of them must be NULL";
  if (which->stages < 0 || which->stages > GAB_STENCIL_MOST_STAGES) return "its stages are not in 0 to 16";
  if (which->stage_times && which->stage_times[0] != 0)
    return "its first stage is not at the beginning of the step: stage_times[0] has to be 0";
  if (which->rate && (which->stages > 0 || which->stage_times || which->implicit_count > 0))
    return "stages and implicit fields belong to an update, not to a rate";
  if (fields < 1 || fields > GAB_STENCIL_MOST_FIELDS) return "it has no fields, or too many";
  if (sums > GAB_STENCIL_MOST_SUMS || (sums > fields && !which->add)) return "it has too many sums";
  if (which->adaptive && which->diagonals)
    return "between levels there are no ghosts beyond edges and corners";
  if (which->implicit_count > GAB_STENCIL_MOST_IMPLICIT) return "it has too many implicit fields";
  for (size_t i = 0; i < which->implicit_count; i++)
    if (which->implicit[i].stage < 0 ||
        which->implicit[i].stage > (which->stages > 0 ? which->stages - 1 : 0))
      return "an implicit field is solved after a stage that does not exist";
  for (size_t i = 0; i < which->implicit_count; i++)
    if (which->implicit[i].field < 0 || which->implicit[i].field >= fields || !which->implicit[i].operation)
      return "an implicit field does not exist, or lacks its operation";
  if (which->depth < 0 || which->depth > GAB_STENCIL_MOST_DEPTH) return "its depth is not in 0 to 8";
  if (which->adaptive && which->depth > 1) return "between levels there is one layer of ghosts";
  if (which->criterion_count > GAB_STENCIL_MOST_CRITERIA) return "it has too many criteria";
  if (which->dt < 0 || !(which->dt < INFINITY)) return "its time step is not a positive number";
  for (int f = 0; which->centring && f < fields; f++)
    if (which->centring[f] < GAB_STENCIL_CELL || which->centring[f] > GAB_STENCIL_CORNER)
      return "a field has a centring that does not exist";
    else if (which->centring[f] != GAB_STENCIL_CELL && which->adaptive)
      return "staggered fields need a grid of one level";
  for (size_t i = 0; which->centring && i < which->implicit_count; i++)
    if (which->centring[which->implicit[i].field] != GAB_STENCIL_CELL)
      return "implicit fields lie in the centres of cells";
  for (size_t i = 0; i < which->key_count; i++)
    if ((which->bound && strcmp(which->keys[i].name, "cfl") == 0) ||
        ((which->bound || which->dt > 0) && strcmp(which->keys[i].name, "dt") == 0))
      return "its keys dt and cfl exist already, by gab_stencil.dt and bound";
  return NULL;
}

#undef gab_stencil_main /* the macro that records the version of a program's headers */
int gab_stencil_main(int argc, char **argv, const gab_stencil *which)
{
  static gab_solver solver;
  static const gab_solver *const all[] = {&solver};
  static const char *own[4];
  if (what_is_wrong(which)) {
    gab_log(GAB_LOG_ERROR, "the stencil %s: %s (apps/driver/stencil/stencil.h)",
            which->name ? which->name : "without a name", what_is_wrong(which));
    return gab_status_exit_code(GAB_ERR_ARGUMENT);
  }
  gab_app_stencil = which;
  if (gab_app_stencil_register_quantities() != GAB_OK) {
    gab_log(GAB_LOG_ERROR, "the stencil %s: %s", which->name, gab_error_message());
    return gab_status_exit_code(GAB_ERR_ARGUMENT);
  }
  own[0] = which->name;
  own[1] = "boundaries";
  own[2] = "initial";
  solver = (gab_solver){.name = which->name,
                        .title = which->title,
                        .section = which->name,
                        .own = own,
                        .case_bytes = sizeof(stencil_case),
                        .declare = declare,
                        .read = read_case,
                        .describe = describe,
                        .run_bytes = sizeof(stencil_run),
                        .prepare = prepare,
                        .add_writers = add_writers,
                        .memory = memory,
                        .build = build,
                        .add = add,
                        .time = time_of,
                        .check_finite = check_finite,
                        .update_quantities = gab_app_stencil_update_quantities,
                        .quantities = gab_app_stencil_quantity_choice,
                        .usual_fields = which->fields,
                        .usual_slice = which->fields[0],
                        .release_run = release_run,
                        .plan = plan};
  return gab_app_main(argc, argv, all, 1);
}
