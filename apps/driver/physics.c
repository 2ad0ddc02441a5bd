/* Which physics there are, and what is the same for the cases of all. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/memory/memory.h"

#include <string.h>

static const gab_physics *const *all;
static int all_count;

static int length(const char *const *names)
{
  int count = 0;
  while (names[count]) count++;
  return count;
}

static bool is_complete(const gab_physics *one)
{
  return one->name && one->title && one->own && one->case_bytes >= sizeof(gab_app_case) && one->declare &&
         one->read && one->describe && one->run_bytes >= sizeof(gab_app_run) && one->prepare && one->build &&
         one->add && one->release_run && one->usual_fields && one->usual_slice &&
         length(one->usual_fields) <= GAB_APP_MOST_PICKED;
}

gab_status gab_app_physics_set(const gab_physics *const *physics, int count)
{
  int without_section = 0;
  for (int i = 0; i < count; i++) {
    if (!is_complete(physics[i]))
      GAB_FAIL(GAB_ERR_ARGUMENT, "the physics %s lacks what has to be there (apps/driver/physics.h)",
               physics[i]->name ? physics[i]->name : "without a name");
    without_section += !physics[i]->section;
  }
  if (count < 1 || without_section > 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d physics, %d of them without a section", count, without_section);
  all = physics;
  all_count = count;
  return GAB_OK;
}

const gab_physics *gab_app_physics_at(int index)
{
  return index >= 0 && index < all_count ? all[index] : NULL;
}

gab_config_word gab_app_physics_quantity(const gab_physics *physics, int index)
{
  if (physics->quantities) return physics->quantities(index);
  return (gab_config_word){.name =
                               index < length(physics->usual_fields) ? physics->usual_fields[index] : NULL};
}

const char *gab_app_slice_quantity(const gab_app_case *which, size_t index)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(path, "output.slices.%zu.quantity", index);
  return gab_config_is_set(which->config, path) ? gab_config_string(which->config, path)
                                                : which->physics->usual_slice;
}

const gab_physics *gab_app_physics_of(const gab_config *config)
{
  const gab_physics *fallback = all[all_count - 1];
  for (int i = 0; i < all_count; i++) {
    if (!all[i]->section) fallback = all[i];
    else if (gab_config_is_set(config, all[i]->section)) return all[i];
  }
  return fallback;
}

gab_status gab_app_case_create(const gab_config *config, const gab_app_options *options, gab_app_case **found)
{
  const gab_physics *physics = gab_app_physics_of(config);
  void *memory = NULL;
  *found = NULL;
  GAB_TRY(gab_alloc(physics->case_bytes, GAB_MEMORY_OTHER, &memory));
  *found = memory;
  **found = (gab_app_case){.physics = physics, .config = config, .options = options};
  return physics->read(*found);
}

void gab_app_case_destroy(gab_app_case **which)
{
  if (*which && (*which)->physics->release) (*which)->physics->release(*which);
  gab_free(which);
}

gab_monitor_list gab_app_case_monitors(const gab_app_case *which)
{
  return which->physics->monitors ? which->physics->monitors() : (gab_monitor_list){0};
}

/* A check that would never be made. */
static gab_status refuse_check(const gab_app_case *which)
{
  const gab_physics *physics = which->physics;
  if (physics->check_finite || physics->check_recomputed || which->check_every == 0 ||
      !gab_config_is_set(which->config, "run.check_every"))
    return GAB_OK;
  return gab_config_fail(which->config, "run.check_every", "there is no such check for %s", physics->title);
}

gab_status gab_app_case_settle(gab_app_case *which)
{
  GAB_TRY(gab_app_steps_read(which->config, which->dt, &which->steps, &which->check_every));
  GAB_TRY(refuse_check(which));
  GAB_TRY(gab_app_recompute_plan_read(which->config, which->check_every, &which->recompute));
  GAB_TRY(gab_resilience_check(which->config, gab_app_case_monitors(which)));
  return gab_app_drills_check(which->options);
}

static bool has(const gab_physics *physics, const char *section)
{
  for (const char *const *own = physics->own; *own; own++)
    if (strcmp(*own, section) == 0) return true;
  return false;
}

gab_status gab_app_case_refuse_others(const gab_app_case *which)
{
  for (int i = 0; i < all_count; i++)
    for (const char *const *path = all[i]->own; *path; path++)
      if (gab_config_is_set(which->config, *path) && !has(which->physics, *path))
        return gab_config_fail(which->config, *path, "belongs to %s, but this is %s", all[i]->title,
                               which->physics->title);
  return GAB_OK;
}
