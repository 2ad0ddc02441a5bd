/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/patches_impl.h"

#include "core/memory/memory.h"
#include "lbm/boundaries/shapes/shapes_impl.h"
#include "lbm/setup/vectors_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ------------------------------------------------------------------------------------------ tables */

static const gab_config_key patch_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .distinct = true,
     .doc = "Name of the patch in messages and results, at most 31 characters."},
    {.name = "region",
     .type = GAB_CONFIG_CHOICE,
     .choices = "box|disc|polygon|mask",
     .doc =
         "Which faces of the side it has: doc/sides.md. Components of positions across the side are ignored."},
    {.name = "lo",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Only box and mask: lower corner."},
    {.name = "hi",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Only box and mask: upper corner."},
    {.name = "centre",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Centre of a disc; also of the profiles pipe and womersley: default the middle of the patch."},
    {.name = "radius",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Radius of a disc; also of the profiles pipe and womersley."},
    {.name = "points",
     .type = GAB_CONFIG_REAL,
     .length_min = 6,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Only polygon, in 3D: corners, each by its two coordinates along the side in the order x, y, z."},
    {.name = "file",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Only mask, in 3D: PNG file, whose dark pixels are the patch; to the right along the first axis of the "
         "side, upwards along the second one."},
};

/* Of all regions: which need a key. */
static const struct {
  const char *key;
  unsigned regions;
} region_keys[] = {
    {"lo", 1U << GAB_PATCH_BOX | 1U << GAB_PATCH_MASK},
    {"hi", 1U << GAB_PATCH_BOX | 1U << GAB_PATCH_MASK},
    {"centre", 1U << GAB_PATCH_DISC},
    {"radius", 1U << GAB_PATCH_DISC},
    {"points", 1U << GAB_PATCH_POLYGON},
    {"file", 1U << GAB_PATCH_MASK},
};
static const char *const region_names[] = {"box", "disc", "polygon", "mask"};

enum { MOST_KINDS = GAB_SIDE_OWN + GAB_MOST_BOUNDARIES, MOST_KEYS = 32 };

/* The keys of a kind that all patches do not have. */
static size_t keys_of_kind(const gab_config_key *keys, size_t count, gab_config_key left[MOST_KEYS])
{
  size_t used = 0;
  for (size_t i = 0; i < count && used < MOST_KEYS; i++) {
    bool is_common = false;
    for (size_t k = 0; k < COUNT(patch_keys); k++)
      is_common = is_common || strcmp(keys[i].name, patch_keys[k].name) == 0;
    if (!is_common) left[used++] = keys[i];
  }
  return used;
}

gab_status gab_lbm_declare_patches(gab_config *config)
{
  static char paths[GAB_SIDE_COUNT][32];
  static gab_config_section common[GAB_SIDE_COUNT], sections[GAB_SIDE_COUNT][MOST_KINDS];
  static gab_config_key keys[MOST_KINDS][MOST_KEYS];
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    snprintf(paths[side], sizeof paths[side], "%s.patches", gab_side_paths[side]);
    common[side] =
        (gab_config_section){.path = paths[side],
                             .doc = "Parts of the side with conditions of their own; the first one that has "
                                    "a face owns it.",
                             .keys = patch_keys,
                             .count = COUNT(patch_keys),
                             .is_list = true};
    GAB_TRY(gab_config_declare(config, &common[side]));
    for (int i = 0; gab_boundary_name(i); i++) {
      const gab_side_descriptor *kind = i < GAB_SIDE_OWN ? gab_side_kinds[i] : NULL;
      const gab_boundary *own = gab_boundary_at(i - GAB_SIDE_OWN);
      if (kind == &gab_side_periodic) continue;
      sections[side][i] =
          (gab_config_section){.path = paths[side],
                               .doc = kind ? kind->doc : own->doc,
                               .keys = keys[i],
                               .count = keys_of_kind(kind ? kind->keys : own->keys,
                                                     kind ? kind->key_count : own->key_count, keys[i]),
                               .is_list = true,
                               .variant = gab_boundary_name(i)};
      GAB_TRY(gab_config_declare(config, &sections[side][i]));
    }
  }
  return GAB_OK;
}

gab_side_kind gab_side_kind_from_config(const gab_config *config, const char *path)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  const char *name = gab_config_string(config, gab_config_path(key, "%s.type", path));
  for (int kind = 0; kind < GAB_SIDE_OWN; kind++)
    if (strcmp(name, gab_side_kinds[kind]->name) == 0) return (gab_side_kind)kind;
  return gab_boundary_by_name(name) ? GAB_SIDE_OWN : GAB_SIDE_PERIODIC;
}

/* ------------------------------------------------------------------------------------------ regions */

static gab_status check_region_keys(const gab_config *config, const gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY], region[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(region, "%s.region", patch->path);
  for (size_t i = 0; i < COUNT(region_keys); i++) {
    const bool is_set =
        gab_config_is_set(config, gab_config_path(key, "%s.%s", patch->path, region_keys[i].key));
    const bool is_wanted = region_keys[i].regions >> patch->region & 1;
    /* Those of a disc belong to profiles, too, which say themselves what they need. */
    if ((region_keys[i].regions >> GAB_PATCH_DISC & 1) && gab_side_moves(&patch->condition) && !is_wanted)
      continue;
    if (is_set && !is_wanted)
      return gab_config_fail(config, key, "has no effect: the region is a %s", region_names[patch->region]);
    if (!is_set && is_wanted)
      return gab_config_fail(config, region, "%s needs %s", region_names[patch->region], region_keys[i].key);
  }
  return GAB_OK;
}

static gab_status read_corners(const gab_config *config, int dimension, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(gab_lbm_read_vector(config, gab_config_path(key, "%s.lo", patch->path), dimension, patch->lo));
  GAB_TRY(gab_lbm_read_vector(config, gab_config_path(key, "%s.hi", patch->path), dimension, patch->hi));
  for (int axis = 0; axis < dimension; axis++)
    if (axis != patch->side / 2 && !(patch->lo[axis] < patch->hi[axis]))
      return gab_config_fail(config, key, "is not above the lower corner: %g and %g along %c",
                             patch->hi[axis], patch->lo[axis], (int)"xyz"[axis]);
  return GAB_OK;
}

static gab_status read_disc(const gab_config *config, int dimension, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  patch->radius = gab_config_real(config, gab_config_path(key, "%s.radius", patch->path));
  return gab_lbm_read_vector(config, gab_config_path(key, "%s.centre", patch->path), dimension,
                             patch->centre);
}

static gab_status read_polygon(const gab_config *config, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  const double *points = gab_config_reals(config, gab_config_path(key, "%s.points", patch->path), &count);
  if (count % 2 != 0) return gab_config_fail(config, key, "has an odd number of coordinates: %zu", count);
  GAB_TRY(GAB_NEW_ARRAY(&patch->points, count, GAB_MEMORY_OTHER));
  memcpy(patch->points, points, count * sizeof *points);
  patch->point_count = count / 2;
  return GAB_OK;
}

static gab_status read_mask(const gab_config *config, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY], file[GAB_PATH_LENGTH], why[512];
  GAB_TRY(gab_config_file_of(config, gab_config_path(key, "%s.file", patch->path), file));
  GAB_TRY(GAB_NEW(&patch->mask, GAB_MEMORY_OTHER));
  const gab_status status = gab_mask_read(file, patch->mask);
  if (status == GAB_OK || status == GAB_ERR_MEMORY) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(config, key, "%s", why);
}

static gab_status read_region(const gab_config *config, int dimension, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  patch->region =
      (gab_patch_region)gab_config_choice_index(config, gab_config_path(key, "%s.region", patch->path));
  if (dimension == 2 && patch->region != GAB_PATCH_BOX && patch->region != GAB_PATCH_DISC)
    return gab_config_fail(config, key, "in 2D a side is a line: the region must be box or disc");
  GAB_TRY(check_region_keys(config, patch));
  switch (patch->region) {
  case GAB_PATCH_BOX:
    return read_corners(config, dimension, patch);
  case GAB_PATCH_DISC:
    return read_disc(config, dimension, patch);
  case GAB_PATCH_POLYGON:
    return read_polygon(config, patch);
  case GAB_PATCH_MASK:
    GAB_TRY(read_corners(config, dimension, patch));
    return read_mask(config, patch);
  case GAB_PATCH_GROUP:
    break;
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ lists */

gab_status gab_lbm_read_patch_name(const gab_config *config, const gab_patches *patches, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  const char *name = gab_config_string(config, gab_config_path(key, "%s.name", patch->path));
  if (!name[0]) return gab_config_fail(config, key, "is empty: a patch needs a name");
  if (strlen(name) >= sizeof patch->name)
    return gab_config_fail(config, key, "has more than %zu characters", sizeof patch->name - 1);
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    if (strcmp(gab_side_paths[side] + strlen("boundaries."), name) == 0)
      return gab_config_fail(config, key, "'%s' is the name of a side", name);
  for (const gab_patch *other = patches->list; other < patch; other++)
    if (strcmp(other->name, name) == 0)
      return gab_config_fail(config, key, "'%s' is the name of %s already", name, other->path);
  snprintf(patch->name, sizeof patch->name, "%s", name);
  return GAB_OK;
}

static gab_status read_patch(const gab_config *config, const gab_domain *domain, const gab_units *units,
                             int side, size_t item, gab_patches *patches)
{
  const int index = patches->count;
  if (index == GAB_MOST_CONDITIONS - GAB_SIDE_COUNT)
    return gab_config_fail(config, gab_side_paths[side], "the sides have more than %d patches in all", index);
  gab_patch *patch = &patches->list[patches->count++];
  *patch = (gab_patch){.side = side, .condition.density = 1};
  gab_config_path(patch->path, "%s.patches.%zu", gab_side_paths[side], item);
  patch->condition.kind = gab_side_kind_from_config(config, patch->path);
  patch->condition.part = (gab_side_part){.patches = patches, .condition = GAB_SIDE_COUNT + index};
  GAB_TRY(gab_lbm_read_patch_name(config, patches, patch));
  GAB_TRY(read_region(config, domain->dimension, patch));
  const gab_side_descriptor *kind = gab_side_of(&patch->condition);
  return kind->read ? kind->read(config, patch->path, domain->dimension, units, &patch->condition) : GAB_OK;
}

/* "0.4 x 0.7" */
static void describe_size(const gab_patch *patch, const gab_domain *domain, char *text, size_t capacity)
{
  text[0] = '\0';
  for (int axis = 0; axis < domain->dimension; axis++) {
    double lo, hi;
    const size_t used = strlen(text);
    if (axis == patch->side / 2) continue;
    gab_patch_extent(patch, axis, &lo, &hi);
    snprintf(text + used, capacity - used, "%s%.3g", used > 0 ? " x " : "", (hi - lo) / domain->dx);
  }
}

/* Names of earlier patches that have a face of a region. */
static void list_covers(const gab_patches *patches, int index, char *text, size_t capacity)
{
  const gab_patch *patch = &patches->list[index];
  text[0] = '\0';
  for (int i = 0; i < index; i++) {
    const gab_patch *other = &patches->list[i];
    bool meets = other->side == patch->side;
    for (int axis = 0; axis < 3; axis++)
      meets = meets && (axis == patch->side / 2 ||
                        (other->first[axis] < patch->last[axis] && patch->first[axis] < other->last[axis]));
    const size_t used = strlen(text);
    if (meets) snprintf(text + used, capacity - used, "%s%s", used > 0 ? ", " : "", other->name);
  }
}

static gab_status complete(const gab_config *config, const gab_domain *domain, gab_patches *patches)
{
  char text[256];
  const gab_status status = gab_patches_complete(patches, domain);
  int index = 0;
  if (status != GAB_ERR_INPUT) return status;
  while (index < patches->count - 1 && patches->list[index].faces > 0) index++;
  const gab_patch *patch = &patches->list[index];
  if (patch->region_faces > 0) {
    list_covers(patches, index, text, sizeof text);
    return gab_config_fail(
        config, patch->path,
        "patch '%s' has no face: all %llu of its region belong to earlier patches (%s); move it "
        "before them in the list",
        patch->name, (unsigned long long)patch->region_faces, text);
  }
  describe_size(patch, domain, text, sizeof text);
  return gab_config_fail(
      config, patch->path,
      "patch '%s' covers no face of the side: its extent is %s cells, and no centre of a face lies "
      "in it; make it larger, move it onto the side, or make the cells smaller",
      patch->name, text);
}

/* What is left to a side with patches. */
static gab_status check_rest(const gab_config *config, const gab_patches *patches, int side, gab_side *rest)
{
  rest->part = (gab_side_part){.patches = patches, .condition = side};
  const bool is_wall = gab_side_bounces(rest) && !gab_side_moves(rest);
  if (patches->side_faces[side] > 0 || is_wall) return GAB_OK;
  return gab_config_fail(config, gab_side_paths[side],
                         "type has no effect: patches cover all of the side; make it type: wall");
}

gab_status gab_lbm_read_patches(const gab_config *config, const gab_domain *domain, const gab_units *units,
                                gab_side sides[GAB_SIDE_COUNT], gab_patches **patches)
{
  *patches = NULL;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    const size_t count = gab_config_count(config, gab_config_path(path, "%s.patches", gab_side_paths[side]));
    if (count == 0) continue;
    if (side >= 2 * domain->dimension || gab_side_is_periodic(&sides[side]))
      return gab_config_fail(config, path,
                             "a periodic side has no patches; give it another type, e.g. type: wall");
    if (!*patches) GAB_TRY(GAB_NEW(patches, GAB_MEMORY_OTHER));
    for (size_t item = 0; item < count; item++)
      GAB_TRY(read_patch(config, domain, units, side, item, *patches));
  }
  if (!*patches) return GAB_OK;
  GAB_TRY(complete(config, domain, *patches));
  for (int side = 0; side < 2 * domain->dimension; side++)
    if ((*patches)->sides >> side & 1) GAB_TRY(check_rest(config, *patches, side, &sides[side]));
  return GAB_OK;
}
