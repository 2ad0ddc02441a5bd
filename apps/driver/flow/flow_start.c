/* SPDX-License-Identifier: Apache-2.0 */
/* `initial: {type: run}`: the state of another run, read from its checkpoint on disk into a second forest, and evaluated in the
 * cells of this one. */
#include "apps/driver/flow/simulation.h"

#include "apps/driver/driver.h"
#include "blockforest/exchange/resample.h"
#include "core/base/log.h"
#include "core/base/text/text_impl.h"
#include "core/messages/collective.h"
#include "lbm/setup/flow_state.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char key_from[] = "initial.from", key_step[] = "initial.step", key_rest[] = "initial.velocity";

bool gab_app_start_is_wanted(const flow_case *which)
{
  return strcmp(gab_config_string(which->base.config, "initial.type"), "run") == 0;
}

/* ---------------------------------------------------------------- the other run */

typedef struct source {
  gab_app_options options;
  char folder[PATH_MAX], file[PATH_MAX + 16];
  gab_app_case *which;
  gab_restart *restart;
  size_t index; /* of the checkpoint */
  gab_app_run *run;
  gab_resampler *resampler;
} source;

static const gab_manifest *manifest_of(const source *from)
{
  return gab_restart_manifest(from->restart, from->index);
}

static void source_release(source *from)
{
  gab_resampler_destroy(&from->resampler);
  gab_app_run_destroy(&from->run);
  gab_restart_destroy(&from->restart);
  gab_app_case_destroy(&from->which);
}

/* Adds key and run to the message of an expected failure. */
static gab_status blame(const gab_config *config, const source *from, gab_status status)
{
  char why[900];
  if (status != GAB_ERR_INPUT && status != GAB_ERR_IO && status != GAB_ERR_CORRUPT) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(config, key_from, "the run in %s cannot be read: %s", from->folder, why);
}

/* Messages about the other case were logged when it ran. */
static void be_silent(const gab_app_options *options, bool silent)
{
  const gab_log_level usual = options->quiet     ? GAB_LOG_WARNING
                              : options->verbose ? GAB_LOG_DEBUG
                                                 : GAB_LOG_INFO;
  gab_log_set_level(silent ? GAB_LOG_ERROR : usual, silent             ? GAB_LOG_ERROR
                                                    : options->verbose ? GAB_LOG_DEBUG
                                                                       : GAB_LOG_INFO);
}

/* The root's part. */
static gab_status check_folder(const simulation *made, const source *from)
{
  char there[PATH_MAX], here[PATH_MAX];
  const gab_config *config = made->parameters->base.config;
  if (access(from->file, F_OK) != 0)
    return gab_config_fail(config, key_from, "%s is not the output folder of a run: it has no case.yaml",
                           from->folder);
  if (realpath(from->folder, there) && realpath(made->base.folder, here) && strcmp(there, here) == 0)
    return gab_config_fail(config, key_from, "%s is the output folder of this run; choose another --out",
                           from->folder);
  return GAB_OK;
}

static gab_status open_case(const simulation *made, source *from)
{
  gab_world *world = made->base.world;
  const gab_app_case *mine = &made->parameters->base;
  GAB_TRY(gab_config_file_of(mine->config, key_from, from->folder));
  snprintf(from->file, sizeof from->file, "%s/case.yaml", from->folder);
  from->options = (gab_app_options){.word = from->file};
  GAB_TRY(gab_world_reduce_status(world, gab_world_is_root(world) ? check_folder(made, from) : GAB_OK));
  be_silent(mine->options, true);
  const gab_status status = gab_app_case_share(world, &from->options, &from->which);
  be_silent(mine->options, false);
  GAB_TRY(blame(mine->config, from, status));
  if (from->which->solver->read != mine->solver->read)
    return gab_config_fail(mine->config, key_from, "the run in %s is one of solver '%s', not of a flow",
                           from->folder, from->which->solver->name);
  return GAB_OK;
}

/* Only what the fluid carries is taken. */
static gab_status check_bodies(const flow_case *mine)
{
  const scalars_plan *scalars = &mine->scalars;
  for (size_t i = 0; i < scalars->count; i++)
    for (size_t b = 0; b < mine->setup.body_count; b++)
      if (scalars->items[i].bodies[b].kind == GAB_SCALAR_CONDUCTS)
        return gab_config_fail(
            mine->base.config, key_from,
            "the temperature inside of conducting bodies cannot be taken from another run yet: body "
            "'%s' conducts %s",
            mine->setup.bodies[b].name, scalars->items[i].name);
  return GAB_OK;
}

static gab_status check_domain(const flow_case *mine, const flow_case *theirs, const source *from)
{
  const gab_domain *here = &mine->domain, *there = &theirs->domain;
  const gab_config *config = mine->base.config;
  if (here->dimension != there->dimension)
    return gab_config_fail(config, key_from, "the run in %s has %d dimensions, this case has %d",
                           from->folder, there->dimension, here->dimension);
  for (int axis = 0; axis < here->dimension && !gab_config_is_set(config, key_rest); axis++) {
    const double low = here->origin[axis], high = low + (double)here->cells[axis] * here->dx;
    const double from_low = there->origin[axis],
                 from_high = from_low + (double)there->cells[axis] * there->dx, slack = 1e-6 * here->dx;
    if (there->periodic[axis] || (low >= from_low - slack && high <= from_high + slack)) continue;
    return gab_config_fail(
        config, key_from,
        "the run in %s covers %c = %g to %g, this domain reaches from %g to %g: give %s for the "
        "rest, or change domain.origin",
        from->folder, (int)"xyz"[axis], from_low, from_high, low, high, key_rest);
  }
  return GAB_OK;
}

/* "100, 200" */
static void list_steps(const gab_restart *restart, char *text, size_t capacity)
{
  text[0] = '\0';
  for (size_t i = gab_restart_count(restart); i-- > 0;) {
    const size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%" GAB_PRI_STEP, used ? ", " : "",
             gab_restart_manifest(restart, i)->step);
  }
}

static gab_status choose_checkpoint(const gab_config *config, source *from)
{
  char steps[256];
  const size_t count = gab_restart_count(from->restart);
  if (count == 0) {
    const gab_status broken = gab_restart_check_none(from->restart);
    if (broken != GAB_OK) return blame(config, from, broken);
    return gab_config_fail(config, key_from,
                           "the run in %s has no checkpoint on disk; run it with resilience.disk.every",
                           from->folder);
  }
  if (!gab_config_is_set(config, key_step)) return GAB_OK;
  const gab_step wanted = gab_config_int(config, key_step);
  while (from->index < count && manifest_of(from)->step != wanted) from->index++;
  list_steps(from->restart, steps, sizeof steps);
  return from->index < count
             ? GAB_OK
             : gab_config_fail(config, key_step,
                               "the run in %s has no checkpoint of step %" GAB_PRI_STEP ", but of %s",
                               from->folder, wanted, steps);
}

/* The case in the folder, with the present pictures and meshes, must be that of the checkpoint: it determines cells
 * that are not stored. Files read only at the start of that run do not matter. */
static gab_status check_state(const gab_config *config, const source *from)
{
  gab_buffer differences = {0};
  size_t count;
  gab_status status =
      gab_app_manifest_compare(from->which->config, manifest_of(from), true, &differences, &count);
  if (status == GAB_OK && count > 0)
    status = gab_config_fail(
        config, key_from, "the case in %s is not that of its checkpoint of step %" GAB_PRI_STEP ":\n%.900s",
        from->folder, manifest_of(from)->step, (const char *)differences.data);
  gab_buffer_release(&differences);
  return status;
}

/* All but its state. */
static gab_status open_source(const simulation *made, source *from)
{
  gab_world *world = made->base.world;
  const flow_case *mine = made->parameters;
  char checkpoints[PATH_MAX + 16];
  GAB_TRY(open_case(made, from));
  GAB_TRY(check_bodies(mine));
  GAB_TRY(check_domain(mine, (const flow_case *)from->which, from));
  snprintf(checkpoints, sizeof checkpoints, "%s/checkpoints", from->folder);
  GAB_TRY(blame(mine->base.config, from, gab_restart_find(world, checkpoints, false, &from->restart)));
  GAB_TRY(choose_checkpoint(mine->base.config, from));
  return check_state(mine->base.config, from);
}

/* Scalars of both runs without an initial value in the case. */
typedef struct shared_scalars {
  size_t count, mine[FLOW_MOST_SCALARS], theirs[FLOW_MOST_SCALARS];
} shared_scalars;

static shared_scalars find_scalars(const flow_case *mine, const flow_case *theirs)
{
  shared_scalars found = {.count = 0};
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < mine->scalars.count; i++)
    for (size_t k = 0; k < theirs->scalars.count; k++) {
      if (strcmp(mine->scalars.items[i].name, theirs->scalars.items[k].name) != 0 ||
          gab_config_is_set(mine->base.config, gab_config_path(path, "scalars.%zu.initial", i)))
        continue;
      found.mine[found.count] = i;
      found.theirs[found.count++] = k;
    }
  return found;
}

static void note(simulation *made, const source *from)
{
  const gab_manifest *manifest = manifest_of(from);
  const flow_case *theirs = (const flow_case *)from->which;
  made->begun = (start_report){.step = manifest->step,
                               .time = (double)manifest->step * from->which->dt,
                               .blocks = manifest->blocks,
                               .dx = theirs->domain.dx,
                               .dt = from->which->dt,
                               .scalars = find_scalars(made->parameters, theirs).count};
  snprintf(made->begun.folder, sizeof made->begun.folder, "%.*s", GAB_APP_PATH_LENGTH - 1, from->folder);
}

gab_status gab_app_start_check(simulation *made)
{
  source from = {.index = 0};
  gab_status status = open_source(made, &from);
  if (status == GAB_OK) note(made, &from);
  source_release(&from);
  return status;
}

/* ---------------------------------------------------------------- reading */

/* Behind the state of the flow, as differences to the reference value of that run. */
static void put_scalars(const simulation *theirs, const shared_scalars *shared,
                        const gab_resampler *resampler)
{
  const int first = 1 + gab_lbm_state_values(theirs->parameters->domain.dimension);
  for (size_t b = 0; b < gab_forest_block_count(theirs->base.forest); b++) {
    const gab_block *block = gab_forest_block(theirs->base.forest, b);
    gab_field *to = gab_resampler_field(resampler, block);
    const int32_t *cells = to->shape.cells;
    for (size_t i = 0; i < shared->count; i++) {
      const gab_field *from = gab_app_flow_scalars_field(theirs->scalars, shared->theirs[i], block);
      for (int32_t z = 0; z < cells[2]; z++)
        for (int32_t y = 0; y < cells[1]; y++)
          for (int32_t x = 0; x < cells[0]; x++)
            gab_field_set(to, x, y, z, first + (int)i, gab_field_get(from, x, y, z, 0));
    }
  }
}

static gab_status read_source(const simulation *made, source *from, const shared_scalars *shared)
{
  const gab_app_options *options = made->parameters->base.options;
  const int values = gab_lbm_state_values(made->parameters->domain.dimension) + (int)shared->count;
  gab_restart_report report;
  be_silent(options, true);
  gab_status status = gab_app_run_create(made->base.world, from->which, from->folder, &from->run);
  status = gab_world_reduce_status(made->base.world, status);
  be_silent(options, false);
  GAB_TRY(blame(made->parameters->base.config, from, status));
  simulation *theirs = (simulation *)from->run;
  GAB_TRY(gab_resampler_create(theirs->base.forest, values, &from->resampler));
  status = gab_restart_load_forest(from->restart, from->index, theirs->base.forest, &report);
  GAB_TRY(blame(made->parameters->base.config, from, status));
  gab_lbm_set_step(theirs->lbm, manifest_of(from)->step);
  GAB_TRY(gab_app_sides_find(theirs));
  gab_resampler_clear(from->resampler);
  GAB_TRY(gab_lbm_put_states(theirs->lbm, &theirs->parameters->setup.units, from->resampler));
  put_scalars(theirs, shared, from->resampler);
  return gab_resampler_spread(from->resampler);
}

/* ---------------------------------------------------------------- into this run */

typedef struct taking {
  simulation *made;
  const shared_scalars *shared;
  const flow_case *theirs;
  /* of this run, with the density of that one: a flow determines p / rho, independent of its density */
  gab_units kinematic;
  int dimension, values, copied;
  /* Of the block that is set. */
  const uint8_t *kinds;
  const double *state, *populations;
  gab_field *scalars[FLOW_MOST_SCALARS];
  const int32_t *cells;
} taking;

static size_t index_of(const taking *it, const int32_t at[3])
{
  return ((size_t)at[2] * (size_t)it->cells[1] + (size_t)at[1]) * (size_t)it->cells[0] + (size_t)at[0];
}

/* @param[in] values  behind those of the flow, as differences to the reference value of that run */
static void take_scalars(const taking *it, const int32_t at[3], const double *values)
{
  for (size_t i = 0; i < it->shared->count; i++) {
    const double shift = it->theirs->scalars.items[it->shared->theirs[i]].reference -
                         it->made->parameters->scalars.items[it->shared->mine[i]].reference;
    gab_field_set(it->scalars[i], at[0], at[1], at[2], 0, shift != 0 ? values[i] + shift : values[i]);
  }
}

static const double *take_cell(void *user, const int32_t at[3], gab_lbm_state *state)
{
  taking *it = user;
  const size_t cell = index_of(it, at);
  const gab_resampled kind = it->kinds[cell];
  it->made->begun.cells[kind]++;
  if (kind == GAB_RESAMPLED_OUTSIDE) return NULL;
  memset(state->velocity, 0, sizeof state->velocity);
  if (kind == GAB_RESAMPLED_NOTHING) return NULL;
  gab_lbm_state_of(&it->kinematic, it->dimension, it->state + cell * (size_t)it->values, state);
  take_scalars(it, at, it->state + cell * (size_t)it->values + gab_lbm_state_values(it->dimension));
  const double *u = state->velocity;
  it->made->begun.speed = fmax(it->made->begun.speed, sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
  return kind == GAB_RESAMPLED_SAME && it->copied > 0 ? it->populations + cell * (size_t)it->copied : NULL;
}

static gab_status take_block(void *user, const gab_block *block, const uint8_t *kinds, const double *values,
                             const double *copied)
{
  taking *it = user;
  it->kinds = kinds;
  it->state = values;
  it->populations = copied;
  for (size_t i = 0; i < it->shared->count; i++)
    it->scalars[i] = gab_app_flow_scalars_field(it->made->scalars, it->shared->mine[i], block);
  return gab_lbm_set_states(it->made->lbm, block, take_cell, it);
}

/* Whether populations of both runs mean the same in cells of one width. */
static bool shares_populations(const flow_case *mine, const flow_case *theirs)
{
  const gab_lbm_options *here = &mine->setup.options, *there = &theirs->setup.options;
  const double *force = here->force, *other = there->force;
  return here->lattice == there->lattice && gab_lbm_collision(here) == gab_lbm_collision(there) &&
         here->omega == there->omega && memcmp(here->numbers, there->numbers, sizeof here->numbers) == 0 &&
         mine->domain.dx == theirs->domain.dx && mine->setup.units.dt == theirs->setup.units.dt &&
         force[0] == other[0] && force[1] == other[1] && force[2] == other[2];
}

static gab_status sum_report(simulation *made)
{
  GAB_TRY(gab_world_sum_u64(made->base.world, made->begun.cells, GAB_RESAMPLED_SAME + 1));
  return gab_world_max_f64(made->base.world, &made->begun.speed, 1);
}

/* A run of other units may be too fast for these. */
static gab_status check_speed(const simulation *made)
{
  const gab_config *config = made->parameters->base.config;
  const gab_status status = gab_flow_check(&(gab_flow_scales){.omega = 1, .velocity = made->begun.speed});
  return gab_app_blame(config, key_from, status);
}

static double finest_level(const gab_forest *forest)
{
  int finest = 0;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const int level = gab_block_level(forest, gab_forest_block(forest, b));
    if (level > finest) finest = level;
  }
  return finest;
}

/* The grid of a start follows from bodies and boxes: criteria of the flow refine it later. */
static gab_status warn_of_levels(const simulation *made, const source *from)
{
  double finest[2] = {finest_level(made->base.forest), finest_level(from->run->forest)};
  GAB_TRY(gab_world_max_f64(made->base.world, finest, 2));
  if (finest[1] > finest[0])
    gab_log(
        GAB_LOG_WARNING,
        "initial.from: that run has blocks up to level %g, this one starts with blocks up to level %g: what only finer cells resolve "
        "is lost; criteria of bodies and boxes refine a grid before the start, those of the flow after it",
        finest[1], finest[0]);
  return GAB_OK;
}

static gab_status load(simulation *made, source *from)
{
  GAB_TRY(open_source(made, from));
  const flow_case *mine = made->parameters, *theirs = (const flow_case *)from->which;
  const shared_scalars shared = find_scalars(mine, theirs);
  note(made, from);
  GAB_TRY(read_source(made, from, &shared));
  GAB_TRY(warn_of_levels(made, from));
  const bool copies = shares_populations(mine, theirs);
  gab_lbm_populations populations = {.lbm = ((const simulation *)from->run)->lbm,
                                     .has_drag = mine->setup.porous_count > 0};
  const gab_resampler_copy copy = {.values = gab_lbm_population_values(&mine->setup.options),
                                   .read = gab_lbm_populations_read,
                                   .user = &populations};
  taking it = {.made = made,
               .shared = &shared,
               .theirs = theirs,
               .kinematic = mine->setup.units,
               .dimension = mine->domain.dimension,
               .values = gab_lbm_state_values(mine->domain.dimension) + (int)shared.count,
               .copied = copies ? copy.values : 0,
               .cells = mine->base.grid.cells};
  it.kinematic.density = theirs->setup.units.density;
  made->begun.copies = copies;
  const gab_status status =
      gab_resampler_evaluate(from->resampler, made->base.forest, copies ? &copy : NULL, take_block, &it);
  gab_lbm_populations_release(&populations);
  GAB_TRY(status);
  GAB_TRY(sum_report(made));
  return check_speed(made);
}

gab_status gab_app_start_load(simulation *made)
{
  source from = {.index = 0};
  const gab_status status = load(made, &from);
  source_release(&from);
  return status;
}

/* ---------------------------------------------------------------- in words */

static void describe_cells(const start_report *it)
{
  char text[512] = "";
  const uint64_t counts[] = {
      it->copies ? it->cells[GAB_RESAMPLED_SAME] : 0,
      it->cells[GAB_RESAMPLED_INTERPOLATED] + (it->copies ? 0 : it->cells[GAB_RESAMPLED_SAME]),
      it->cells[GAB_RESAMPLED_FILLED], it->cells[GAB_RESAMPLED_NOTHING], it->cells[GAB_RESAMPLED_OUTSIDE]};
  static const char *const names[] = {"copied", "interpolated", "from the nearest fluid, since solid there",
                                      "at rest, since there was no block near",
                                      "with initial.velocity, since outside of it"};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    const size_t used = strlen(text);
    if (counts[i] > 0)
      snprintf(text + used, sizeof text - used, "%s%" PRIu64 " %s", used ? ", " : "", counts[i], names[i]);
  }
  gab_log(GAB_LOG_INFO, "    fluid cells: %s", text);
}

void gab_app_start_describe(const simulation *made)
{
  const start_report *it = &made->begun;
  const flow_case *which = made->parameters;
  char scalars[64] = "";
  uint64_t cells = 0;
  if (!it->folder[0]) return;
  if (it->scalars > 0)
    snprintf(scalars, sizeof scalars, "; %zu scalar%s", it->scalars, it->scalars == 1 ? "" : "s");
  gab_log(GAB_LOG_INFO,
          "  starts from the run in %s: step %" GAB_PRI_STEP ", time %.6g s, %" PRIu64
          " blocks; cells %.4g and time steps %.4g times as wide%s",
          it->folder, it->step, it->time, it->blocks, it->dx / which->domain.dx,
          it->dt / which->setup.units.dt, scalars);
  for (int kind = 0; kind <= GAB_RESAMPLED_SAME; kind++) cells += it->cells[kind];
  if (cells > 0) describe_cells(it);
}
