/* SPDX-License-Identifier: Apache-2.0 */
/* Derives a case from a checked parameter file. */
#include "apps/driver/case/case_impl.h"
#include "core/base/log.h"
#include "core/messages/collective.h"
#include "resilience/resilience_config.h"

#include <math.h>
#include <string.h>

void gab_app_folder_of(const char *path, char *folder, size_t capacity)
{
  const char *slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) : 1;
  snprintf(folder, capacity, "%.*s", length ? length : 1, slash ? path : ".");
}

/* ---------------------------------------------------------------- domain */

static gab_status read_cells(const gab_config *config, gab_forest_options *forest)
{
  size_t count, block_count;
  const int64_t *cells = gab_config_ints(config, "domain.cells", &count);
  const int64_t *block = gab_config_ints(config, "domain.block", &block_count);
  if (block_count != count)
    return gab_config_fail(config, "domain.block", "%zu numbers, but domain.cells has %zu", block_count,
                           count);
  forest->grid.dimension = (int)count;
  forest->grid.roots[2] = forest->cells[2] = 1;
  for (size_t d = 0; d < count; d++) {
    if (cells[d] % block[d] != 0)
      return gab_config_fail(config, "domain.block",
                             "%" PRId64 " cells along %c are not a multiple of blocks of %" PRId64, cells[d],
                             (int)"xyz"[d], block[d]);
    forest->cells[d] = (int32_t)block[d];
    forest->grid.roots[d] = (int32_t)(cells[d] / block[d]);
  }
  if (gab_root_grid_check(&forest->grid) != GAB_OK)
    return gab_config_fail(config, "domain.block", "%s", gab_error_message());
  return GAB_OK;
}

static gab_status read_scale(const gab_config *config, gab_forest_options *forest)
{
  forest->dx = 1;
  if (gab_config_is_set(config, "domain.dx")) forest->dx = gab_config_real(config, "domain.dx");
  if (gab_config_is_set(config, "domain.length"))
    forest->dx =
        gab_config_real(config, "domain.length") / ((double)forest->grid.roots[0] * forest->cells[0]);
  size_t count;
  const double *origin = gab_config_reals(config, "domain.origin", &count);
  for (size_t d = 0; d < 3; d++) forest->origin[d] = d < count ? origin[d] : 0;
  for (int d = 0; d < forest->grid.dimension; d++) {
    const double lower = forest->origin[d],
                 upper = lower + (double)forest->grid.roots[d] * forest->cells[d] * forest->dx;
    if (!(lower + 0.5 * forest->dx > lower && upper - 0.5 * forest->dx < upper))
      return gab_config_fail(config,
                             gab_config_is_set(config, "domain.origin") ? "domain.origin" : "domain.cells",
                             "cells of width %g cannot be told apart along %c, from %g to %g", forest->dx,
                             (int)"xyz"[d], lower, upper);
  }
  return GAB_OK;
}

gab_status gab_app_domain_read(const gab_config *config, gab_forest_options *forest)
{
  GAB_TRY(read_cells(config, forest));
  return read_scale(config, forest);
}

/* ---------------------------------------------------------------- run */

gab_status gab_app_steps_read(const gab_config *config, double dt, gab_step *steps, gab_step *check_every)
{
  bool has_steps = gab_config_is_set(config, "run.steps"), has_time = gab_config_is_set(config, "run.time");
  if (!has_steps && !has_time)
    return gab_config_fail(config, "run", "one of run.steps and run.time is needed");
  *check_every = gab_config_int(config, "run.check_every");
  *steps = gab_config_int(config, "run.steps");
  if (!has_time || !(dt > 0)) return GAB_OK;
  double wanted = gab_config_real(config, "run.time") / dt;
  if (!(wanted < 9e15)) return gab_config_fail(config, "run.time", "that would be %g steps", wanted);
  *steps = llround(wanted);
  if (*steps == 0) return gab_config_fail(config, "run.time", "is less than half a step of %g", dt);
  return GAB_OK;
}

static gab_status refuse_strategy(const gab_config *config, const gab_strategy *strategy, const char *why)
{
  size_t count = 0;
  const char *const *names = NULL;
  if (gab_config_is_set(config, "resilience.strategies"))
    names = gab_config_strings(config, "resilience.strategies", &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], strategy->name) == 0)
      return gab_config_fail(config, "resilience.strategies", "'%s' is not for this case: %s", names[i], why);
  return GAB_OK;
}

gab_status gab_app_reconstruct_refuse(const gab_config *config, const char *why)
{
  return refuse_strategy(config, &gab_strategy_reconstruct, why);
}

gab_status gab_app_domain_check_levels(const gab_config *config, const gab_forest_options *forest)
{
  for (int axis = 0; axis < forest->grid.dimension; axis++)
    if (forest->cells[axis] % 2 != 0 || forest->cells[axis] < 4)
      return gab_config_fail(
          config, "domain.block",
          "blocks of %" PRId32
          " cells along %c cannot be split evenly: with levels an even number, 4 or more, is needed",
          forest->cells[axis], (int)"xyz"[axis]);
  return GAB_OK;
}

gab_status gab_app_blame(const gab_config *config, const char *path, gab_status status)
{
  if (status != GAB_ERR_INPUT) return status;
  char message[1024];
  snprintf(message, sizeof message, "%s", gab_error_message());
  return gab_config_fail(config, path, "%s", message);
}

gab_status gab_app_slice_settle(const gab_config *config, size_t index, gab_status status)
{
  static const char lost[] = "_lost";
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(item, "output.slices.%zu", index);
  const char *name = gab_config_string(config, gab_config_path(path, "%s.name", item));
  const size_t length = strlen(name);
  if (strcmp(name, "diverged") == 0 || strcmp(name, "last_good") == 0)
    return gab_config_fail(config, path, "'%s' is the name of pictures of a run that diverged", name);
  if (length >= sizeof lost - 1 && strcmp(name + length - (sizeof lost - 1), lost) == 0)
    return gab_config_fail(config, path, "NAME%s is the name of pictures after a death", lost);
  if (!gab_config_is_set(config, path)) path[0] = '\0';
  if (status == GAB_ERR_INPUT && path[0] && gab_output_name_check(name) != GAB_OK)
    return gab_app_blame(config, path, status);
  return gab_app_blame(config, item, status);
}

gab_status gab_app_column_check(const gab_config *config, const char *path)
{
  const char *name = gab_config_string(config, path);
  if (strlen(name) > GAB_APP_LONGEST_NAME)
    return gab_config_fail(config, path, "'%.40s...' has %zu bytes, more than %d", name, strlen(name),
                           (int)GAB_APP_LONGEST_NAME);
  return gab_app_blame(config, path, gab_column_check(name));
}

gab_status gab_app_injections_check(const gab_app_options *options)
{
  for (size_t i = 0; i < options->injection_count; i++) {
    gab_fault_injection injection;
    if (gab_fault_injection_parse(options->injections[i], &injection) == GAB_OK) continue;
    char message[1024];
    snprintf(message, sizeof message, "%s", gab_error_message());
    GAB_FAIL(GAB_ERR_INPUT, "--inject %s: %s", options->injections[i], message);
  }
  return GAB_OK;
}

gab_status gab_app_processes_check(gab_world *world, const gab_app_case *which)
{
  const gab_config *config = which->config;
  const gab_app_options *options = which->options;
  gab_status status = GAB_OK;
  if (gab_world_is_root(world))
    status = gab_resilience_check_ranks(config, options->injections, options->injection_count,
                                        gab_world_members(world)->ranks, gab_world_spares(world));
  if (status == GAB_OK) status = gab_resilience_check_spares(config, world);
  return gab_world_reduce_status(world, status);
}

gab_status gab_app_any_processes_check(const gab_app_case *which, uint64_t most)
{
  const gab_app_options *options = which->options;
  return gab_resilience_check_any_ranks(which->config, options->injections, options->injection_count,
                                        most < INT32_MAX ? (int32_t)most : INT32_MAX);
}

int64_t gab_app_root_count(const gab_forest_options *forest)
{
  const int32_t *roots = forest->grid.roots;
  return (int64_t)roots[0] * roots[1] * roots[2];
}

gab_box gab_app_root_cells(const gab_forest_options *forest, int64_t root)
{
  gab_box box;
  for (int d = 0; d < 3; d++) {
    box.lo[d] = root % forest->grid.roots[d] * forest->cells[d];
    box.hi[d] = box.lo[d] + forest->cells[d];
    root /= forest->grid.roots[d];
  }
  return box;
}

void gab_app_describe_spares(const gab_config *config, int64_t processes)
{
  const gab_spares_asked asked = gab_resilience_spares(config);
  if (asked.count == 0) return;
  gab_log(GAB_LOG_INFO,
          "  spare processes: %" PRId32 "%s beside the %" PRId64
          ", each with memory for one of them once it is called",
          asked.count, asked.per_node ? " on each node" : "", processes);
}
