/* SPDX-License-Identifier: Apache-2.0 */
/* The section `porous` of parameter files. */
#include "lbm/setup/porous_keys_impl.h"

#include "core/memory/memory.h"
#include "lbm/collision/rheology.h"
#include "lbm/setup/bodies_impl.h"
#include "lbm/sides/side_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One number for all axes, or one for each. */
static gab_status read_axes(const gab_config *config, const char *path, int dimension, double values[3])
{
  size_t count;
  const double *given = gab_config_reals(config, path, &count);
  if (count != 1 && count != (size_t)dimension)
    return gab_config_fail(config, path, "needs one number, or %d, one for each axis", dimension);
  for (size_t axis = 0; axis < 3; axis++) values[axis] = given[count == 1 || axis >= count ? 0 : axis];
  return GAB_OK;
}

static gab_status read_region(const gab_config *config, int dimension, const gab_units *units,
                              double viscosity, size_t number, gab_porous_region *region)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  double permeability[3], beta[3];
  gab_body *shape = &region->shape;
  if (!shape->name[0]) snprintf(shape->name, sizeof shape->name, "porous %zu", number);
  gab_config_path(path, "porous.%zu.permeability", shape->item);
  if (!gab_config_is_set(config, path)) return gab_config_fail(config, path, "is needed");
  GAB_TRY(read_axes(config, path, dimension, permeability));
  gab_config_path(path, "porous.%zu.forchheimer", shape->item);
  GAB_TRY(read_axes(config, path, dimension, beta));
  for (int axis = 0; axis < 3; axis++) {
    region->linear[axis] = viscosity / permeability[axis] * units->dt;
    region->quadratic[axis] = beta[axis] * units->dx;
  }
  return GAB_OK;
}

/* As gab_porous_check_options(), with the place in the file. */
static gab_status check_eddies(const gab_config *config, const gab_lbm_options *options)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  if (options->collision && options->collision->rate_of_stress)
    return gab_config_fail(
        config, "lbm.collision",
        "%s takes the drag of porous regions for a rate of strain, so that its viscosity is wrong: choose "
        "trt, rr, srt or mrt, or leave out the section porous",
        options->collision->name);
  for (int k = 0; k < gab_lbm_condition_count(options); k++)
    if (gab_lbm_condition(options, k)->sponge.roughness > 0)
      return gab_config_fail(
          config, gab_config_path(path, "%s.eddy_height", gab_condition_path(options->patches, k)),
          "takes the drag of porous regions for a rate of strain, so that its viscosity is wrong: leave it or the section "
          "porous out");
  return GAB_OK;
}

/* They would have the same columns in tables. */
static gab_status check_names(const gab_config *config, const gab_porous_region *regions, size_t count)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(regions[i].shape.name, regions[k].shape.name) == 0)
        return gab_config_fail(config, gab_config_path(path, "porous.%zu.name", regions[i].shape.item),
                               "'%s' is the name of another region", regions[i].shape.name);
  return GAB_OK;
}

gab_status gab_lbm_read_porous(const gab_config *config, int dimension, const char *folder,
                               const gab_units *units, double viscosity, gab_lbm_options *options,
                               gab_porous_region **regions, size_t *count)
{
  gab_body *shapes = NULL;
  size_t found = 0;
  *count = 0;
  if (gab_config_count(config, "porous") == 0) return GAB_OK;
  if (options->collision == &gab_collision_rheology)
    return gab_config_fail(
        config, "porous",
        "needs a fluid with one viscosity: Darcy's law does not hold for a fluid.model; choose newtonian");
  GAB_TRY(check_eddies(config, options));
  gab_status status = gab_lbm_read_bodies(config, "porous", dimension, folder, units, &shapes, &found);
  if (status == GAB_OK && found > GAB_MOST_POROUS)
    status = gab_config_fail(config, "porous", "has %zu regions: there can be %d", found, GAB_MOST_POROUS);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(regions, found, GAB_MEMORY_OTHER);
  for (; status == GAB_OK && *count < found; ++*count) (*regions)[*count].shape = shapes[*count];
  if (*count == 0) gab_lbm_release_bodies(shapes, found);
  gab_free(&shapes);
  for (size_t i = 0; status == GAB_OK && i < *count; i++)
    status = read_region(config, dimension, units, viscosity, i + 1, &(*regions)[i]);
  options->porous = *regions;
  options->porous_count = *count;
  return status == GAB_OK ? check_names(config, *regions, *count) : status;
}

void gab_lbm_release_porous(gab_porous_region *regions, size_t count)
{
  for (size_t i = 0; i < count; i++) gab_lbm_release_bodies(&regions[i].shape, 1);
}
