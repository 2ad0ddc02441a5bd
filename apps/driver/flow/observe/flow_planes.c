/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of a flow: the list output.planes. */
#include "apps/driver/flow/simulation.h"
#include "apps/driver/run/run_impl.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "resilience/resilience_config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *key_of(char path[GAB_CONFIG_PATH_CAPACITY], size_t index, const char *key)
{
  return gab_config_path(path, "output.planes.%zu.%s", index, key);
}

static gab_status read_schedule(const flow_case *which, size_t index, gab_schedule *schedule)
{
  char item[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(item, "output.planes.%zu", index);
  GAB_TRY(gab_app_schedule_read(which->base.config, item, which->setup.units.dt, schedule));
  return schedule->every > 0 ? GAB_OK
                             : gab_config_fail(which->base.config, item, "every or interval is needed");
}

static gab_status check_one(const flow_case *which, size_t index, gab_quantity_list list)
{
  const gab_config *config = which->base.config;
  const gab_domain *domain = &which->domain;
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_schedule schedule;
  size_t count;
  GAB_TRY(read_schedule(which, index, &schedule));
  const char *const *names = gab_config_strings(config, key_of(path, index, "quantities"), &count);
  for (size_t i = 0; i < count; i++) {
    const gab_quantity *found;
    GAB_TRY(gab_app_blame(config, path, gab_quantity_find(list, names[i], &found)));
  }
  const char *name = gab_config_string(config, key_of(path, index, "name"));
  GAB_TRY(gab_app_blame(config, path, gab_output_name_check(name)));
  const int axis = gab_config_choice_index(config, key_of(path, index, "axis"));
  if (axis >= domain->dimension)
    return gab_config_fail(config, path, "in 2D there is no axis z: give x or y");
  const double at = gab_config_real(config, key_of(path, index, "position")), lower = domain->origin[axis],
               upper = lower + (double)domain->cells[axis] * domain->dx;
  if (!(at >= lower && at <= upper))
    return gab_config_fail(config, path, "%c = %g is outside the domain, which ranges from %g to %g",
                           (int)"xyz"[axis], at, lower, upper);
  return GAB_OK;
}

gab_status gab_app_planes_check(const flow_case *which, gab_quantity_list list)
{
  for (size_t i = 0; i < gab_config_count(which->base.config, "output.planes"); i++)
    GAB_TRY(check_one(which, i, list));
  return GAB_OK;
}

/* A hash of the parameters that the state depends on. */
static gab_status find_identity(const gab_config *config, char text[32])
{
  gab_buffer state = {0};
  const gab_status status = gab_resilience_state_text(config, &state);
  snprintf(text, 32, "%016" PRIx64, gab_hash64(state.data, state.size, 0));
  gab_buffer_release(&state);
  return status;
}

static gab_status add_one(simulation *which, size_t index, const char *identity)
{
  const flow_case *found = which->parameters;
  const gab_config *config = found->base.config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_quantity picked[GAB_APP_MOST_PICKED];
  gab_schedule schedule;
  gab_plane_options options = {.quantities = picked,
                               .identity = identity,
                               .spacing = ldexp(found->domain.dx, -found->refinement.max_level)};
  GAB_TRY(read_schedule(found, index, &schedule));
  options.name = gab_config_string(config, key_of(path, index, "name"));
  options.axis = gab_config_choice_index(config, key_of(path, index, "axis"));
  options.position = gab_config_real(config, key_of(path, index, "position"));
  if (gab_config_is_set(config, key_of(path, index, "spacing")))
    options.spacing = gab_config_real(config, path);
  GAB_TRY(gab_app_run_pick(&which->base, key_of(path, index, "quantities"), picked, &options.quantity_count));
  /* Lattice units have no names. */
  options.time_unit = gab_units_are_physical(&found->setup.units) ? "s" : "";
  gab_config_path(path, "output.planes.%zu", index);
  return gab_app_blame(config, path, gab_output_add_plane(which->base.output, schedule, &options));
}

gab_status gab_app_planes_add(simulation *which)
{
  const gab_config *config = which->parameters->base.config;
  const size_t count = gab_config_count(config, "output.planes");
  char identity[32];
  if (count == 0) return GAB_OK;
  GAB_TRY(find_identity(config, identity));
  for (size_t i = 0; i < count; i++) GAB_TRY(add_one(which, i, identity));
  return GAB_OK;
}

void gab_app_planes_report(const simulation *which)
{
  const gab_config *config = which->parameters->base.config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < gab_config_count(config, "output.planes"); i++)
    gab_log(GAB_LOG_INFO, "  plane: %s/%s.h5", which->base.folder,
            gab_config_string(config, key_of(path, i, "name")));
}
