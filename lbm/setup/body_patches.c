/* SPDX-License-Identifier: Apache-2.0 */
/* The section `body_patches` of parameter files: parts of the surfaces of bodies with conditions of their own. */
#include "lbm/setup/patches_impl.h"

#include "core/memory/memory.h"
#include "lbm/boundaries/mesh/mesh.h"
#include "lbm/boundaries/shapes/shapes_impl.h"
#include "lbm/setup/vectors_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SECTION      "body_patches"

/* ------------------------------------------------------------------------------------------ tables */

#define VECTOR(key, in, text)                                                                                \
  {                                                                                                          \
    .name = (key), .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = (in),                  \
    .default_text = GAB_CONFIG_OPTIONAL, .doc = (text)                                                       \
  }

static const gab_config_key common_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .distinct = true,
     .doc = "Name of the patch in messages and results, at most 31 characters."},
    {.name = "body", .type = GAB_CONFIG_STRING, .doc = "Name of the body that it is a part of."},
    {.name = "region",
     .type = GAB_CONFIG_CHOICE,
     .choices = "box|disc|polygon|group",
     .doc = "Which part of the surface it has: doc/geometry.md."},
    VECTOR("lo", "m", "Only box: lower corner."),
    VECTOR("hi", "m", "Only box: upper corner."),
    VECTOR("centre", "m", "Only disc: its centre."),
    {.name = "radius",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Only disc: all of the surface that is not further away from the centre."},
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Only polygon: axis along which it is drawn out."},
    {.name = "points",
     .type = GAB_CONFIG_REAL,
     .length_min = 6,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Only polygon: corners, each by its two coordinates across the axis in the order x, y, z."},
    {.name = "group",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Only group, of a mesh: name of an object, group or material of its OBJ file, or of a solid of its "
         "ASCII STL file."},
};

static const gab_config_key velocity_keys[] = {
    {.name = "velocity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "normal_velocity|flow_rate",
     .doc = "Velocity at the surface; of profile pipe the maximum."},
    {.name = "normal_velocity",
     .type = GAB_CONFIG_REAL,
     .unit = "m/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "velocity|flow_rate",
     .doc =
         "Instead of velocity: speed along the normal of the surface into the fluid; negative: out of it."},
    {.name = "flow_rate",
     .type = GAB_CONFIG_REAL,
     .unit = "m^3/s, in 2D m^2/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "velocity|normal_velocity",
     .doc =
         "Instead of velocity: flow rate along the normal into the fluid, exact on the grid; negative: out of it."},
    {.name = "profile",
     .type = GAB_CONFIG_CHOICE,
     .choices = "constant|pipe",
     .default_text = "constant",
     .instead_of = "shape",
     .doc = "Profile of the velocity. pipe: 1 - r^2 / radius^2 of a disc."},
    {.name = "shape",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|y|z",
     .min = -INFINITY,
     .max = INFINITY,
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "profile",
     .doc = "Formula by which the velocity is multiplied, at points of the surface in m."},
    GAB_SIDE_TIME_KEYS("velocity"),
};

static const gab_config_key pressure_keys[] = {
    {.name = "pressure",
     .type = GAB_CONFIG_REAL,
     .unit = "Pa",
     .default_text = "0",
     .doc = "Difference to the reference pressure."},
    {.name = "shape",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|y|z",
     .min = -INFINITY,
     .max = INFINITY,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Formula by which the pressure is multiplied, at points of the surface in m."},
    GAB_SIDE_TIME_KEYS("pressure"),
};

static const gab_config_key wall_keys[] = {
    VECTOR("velocity", "m/s",
           "Velocity of the wall, of which the part along the surface counts; default: that of the body."),
};

#define KIND(kind, text, table)                                                                              \
  {                                                                                                          \
    .path = SECTION, .doc = (text), .keys = (table), .count = COUNT(table), .is_list = true,                 \
    .variant = (kind)                                                                                        \
  }

static const gab_config_section sections[] = {
    {.path = SECTION,
     .doc =
         "Parts of the surfaces of bodies with conditions or forces of their own; the first one that has a point owns it.",
     .keys = common_keys,
     .count = COUNT(common_keys),
     .is_list = true},
    KIND("velocity", "Given velocity through the surface: inlet or outlet.", velocity_keys),
    KIND("pressure", "Given pressure; the fluid may flow in or out.", pressure_keys),
    KIND("wall", "No slip; the wall may have a velocity of its own.", wall_keys),
};

gab_status gab_lbm_declare_body_patches(gab_config *config)
{
  for (size_t i = 0; i < COUNT(sections); i++) GAB_TRY(gab_config_declare(config, &sections[i]));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ regions */

typedef struct patch_reader {
  const gab_config *config;
  const gab_domain *domain;
  const gab_units *units;
  const gab_body *bodies;
  size_t body_count;
  double duration;
  gab_patches *patches;
} patch_reader;

/* Which region needs a key, by gab_config_choice_index() of `region`. */
enum { BOX, DISC, POLYGON, GROUP };
static const struct {
  const char *key;
  int region;
} region_keys[] = {{"lo", BOX},       {"hi", BOX},         {"centre", DISC}, {"radius", DISC},
                   {"axis", POLYGON}, {"points", POLYGON}, {"group", GROUP}};
static const char *const region_names[] = {"box", "disc", "polygon", "group"};

static gab_status check_region_keys(const patch_reader *by, const gab_patch *patch, int region)
{
  char key[GAB_CONFIG_PATH_CAPACITY], name[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(name, "%s.region", patch->path);
  for (size_t i = 0; i < COUNT(region_keys); i++) {
    const bool is_set =
        gab_config_is_set(by->config, gab_config_path(key, "%s.%s", patch->path, region_keys[i].key));
    if (is_set && region_keys[i].region != region)
      return gab_config_fail(by->config, key, "has no effect: the region is a %s", region_names[region]);
    if (!is_set && region_keys[i].region == region)
      return gab_config_fail(by->config, name, "%s needs %s", region_names[region], region_keys[i].key);
  }
  if (by->domain->dimension == 2 && region >= POLYGON)
    return gab_config_fail(by->config, name, "in 2D the region must be box or disc");
  return GAB_OK;
}

/* Area of a named part of a body, of the body itself or of a part of a set. A rotation of the body does not count for the box. */
static double area_of_group(const gab_body *body, const char *group, double lo[3], double hi[3])
{
  double sum = 0;
  if (body->set == GAB_SET_NONE)
    return body->own && body->own->group_area ? body->own->group_area(body, group, lo, hi) : 0;
  for (size_t i = 0; i < body->part_count; i++) sum += area_of_group(&body->parts[i], group, lo, hi);
  return sum;
}

static gab_status read_group(const patch_reader *by, gab_patch *patch, double *area)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  const gab_body *body = &by->bodies[patch->body];
  const char *group = gab_config_string(by->config, gab_config_path(key, "%s.group", patch->path));
  if (!group[0] || strlen(group) >= sizeof patch->group)
    return gab_config_fail(by->config, key, "must have 1 to %zu characters", sizeof patch->group - 1);
  snprintf(patch->group, sizeof patch->group, "%s", group);
  *area = area_of_group(body, group, patch->lo, patch->hi);
  if (*area > 0) {
    gab_body_extent(body, by->domain->dimension, patch->lo, patch->hi);
    return GAB_OK;
  }
  return gab_config_fail(
      by->config, key,
      "body '%s' has no part '%s': a group is an object, group or material of an OBJ file or a "
      "solid of an ASCII STL file, which has %d names at most",
      body->name, group, GAB_MESH_MOST_GROUPS);
}

static gab_status read_points(const patch_reader *by, gab_patch *patch, double *area)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  patch->axis = gab_config_choice_index(by->config, gab_config_path(key, "%s.axis", patch->path));
  const double *points = gab_config_reals(by->config, gab_config_path(key, "%s.points", patch->path), &count);
  if (count % 2 != 0) return gab_config_fail(by->config, key, "has an odd number of coordinates: %zu", count);
  GAB_TRY(GAB_NEW_ARRAY(&patch->points, count, GAB_MEMORY_OTHER));
  memcpy(patch->points, points, count * sizeof *points);
  patch->point_count = count / 2;
  for (size_t i = 0; i < patch->point_count; i++) {
    const double *a = points + 2 * i, *b = points + 2 * ((i + 1) % patch->point_count);
    *area += 0.5 * (a[0] * b[1] - a[1] * b[0]);
  }
  *area = fabs(*area);
  return GAB_OK;
}

/* @param[out] area  estimate of the area of the patch */
static gab_status read_region(const patch_reader *by, gab_patch *patch, double *area)
{
  static const gab_patch_region regions[] = {GAB_PATCH_BOX, GAB_PATCH_DISC, GAB_PATCH_POLYGON,
                                             GAB_PATCH_GROUP};
  const double pi = 3.14159265358979323846;
  const int dimension = by->domain->dimension;
  char key[GAB_CONFIG_PATH_CAPACITY];
  const int region = gab_config_choice_index(by->config, gab_config_path(key, "%s.region", patch->path));
  patch->region = regions[region];
  GAB_TRY(check_region_keys(by, patch, region));
  *area = 0;
  if (region == GROUP) return read_group(by, patch, area);
  if (region == POLYGON) return read_points(by, patch, area);
  if (region == DISC) {
    patch->radius = gab_config_real(by->config, gab_config_path(key, "%s.radius", patch->path));
    *area = dimension == 2 ? 2 * patch->radius : pi * patch->radius * patch->radius;
    return gab_lbm_read_vector(by->config, gab_config_path(key, "%s.centre", patch->path), dimension,
                               patch->centre);
  }
  GAB_TRY(gab_lbm_read_vector(by->config, gab_config_path(key, "%s.lo", patch->path), dimension, patch->lo));
  GAB_TRY(gab_lbm_read_vector(by->config, gab_config_path(key, "%s.hi", patch->path), dimension, patch->hi));
  for (int axis = 0; axis < dimension; axis++) {
    const int b = (axis + 1) % dimension, c = (axis + 2) % dimension;
    if (!(patch->lo[axis] < patch->hi[axis]))
      return gab_config_fail(by->config, key, "is not above the lower corner: %g and %g along %c",
                             patch->hi[axis], patch->lo[axis], (int)"xyz"[axis]);
    *area = fmax(*area, dimension == 2 ? patch->hi[axis] - patch->lo[axis]
                                       : (patch->hi[b] - patch->lo[b]) * (patch->hi[c] - patch->lo[c]));
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ conditions */

static gab_status check_normal(const patch_reader *by, const char *key, const gab_patch *patch)
{
  const gab_body *body = &by->bodies[patch->body];
  if (gab_body_has_surface(body)) return GAB_OK;
  return gab_config_fail(by->config, key, "body '%s' has no exact surface, so no normal: give velocity",
                         body->name);
}

static gab_status read_shape(const patch_reader *by, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_side *side = &patch->condition;
  side->shape = gab_config_expression(by->config, gab_config_path(key, "%s.shape", patch->path));
  if (side->shape) side->profile = GAB_PROFILE_FORMULA;
  return GAB_OK;
}

/* A flow rate has an estimate of its velocity, which the grid scales. */
static gab_status read_velocity(const patch_reader *by, gab_patch *patch, double area)
{
  char key[GAB_CONFIG_PATH_CAPACITY], profile[GAB_CONFIG_PATH_CAPACITY];
  gab_side *side = &patch->condition;
  const gab_units *units = by->units;
  const int dimension = by->domain->dimension;
  side->kind = GAB_SIDE_VELOCITY;
  GAB_TRY(read_shape(by, patch));
  gab_config_path(profile, "%s.profile", patch->path);
  if (!side->shape && gab_config_choice_index(by->config, profile) == 1) {
    side->profile = GAB_PROFILE_PIPE;
    if (patch->region != GAB_PATCH_DISC)
      return gab_config_fail(by->config, profile, "pipe needs a region of type disc");
    memcpy(side->of_profile.centre, patch->centre, sizeof patch->centre);
    side->of_profile.radius = patch->radius;
  }
  if (gab_config_is_set(by->config, gab_config_path(key, "%s.velocity", patch->path))) {
    GAB_TRY(gab_lbm_read_plane_vector(by->config, key, dimension, side->velocity));
    for (int axis = 0; axis < 3; axis++) side->velocity[axis] *= units->dt / units->dx;
    return GAB_OK;
  }
  side->on_body = GAB_BODY_VELOCITY_NORMAL;
  if (gab_config_is_set(by->config, gab_config_path(key, "%s.normal_velocity", patch->path))) {
    side->velocity[0] = gab_config_real(by->config, key) * units->dt / units->dx;
    return check_normal(by, key, patch);
  }
  if (!gab_config_is_set(by->config, gab_config_path(key, "%s.flow_rate", patch->path)))
    return gab_config_fail(by->config, patch->path, "needs velocity, normal_velocity or flow_rate");
  side->flow_rate = gab_config_real(by->config, key) * units->dt / pow(units->dx, dimension);
  if (side->flow_rate == 0)
    return gab_config_fail(by->config, key, "must not be 0; a part that rests is of type wall");
  side->velocity[0] = side->flow_rate / (area / pow(units->dx, dimension - 1));
  return check_normal(by, key, patch);
}

static gab_status read_pressure(const patch_reader *by, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_side *side = &patch->condition;
  side->kind = GAB_SIDE_PRESSURE;
  GAB_TRY(read_shape(by, patch));
  gab_config_path(key, "%s.pressure", patch->path);
  side->density = gab_units_pressure_to_density(by->units, gab_config_real(by->config, key));
  if (side->density > 0.5 && side->density < 2) return GAB_OK;
  return gab_config_fail(by->config, key,
                         "gives the density %g on the lattice, outside (0.5, 2): shorten the time step",
                         side->density);
}

static gab_status read_wall(const patch_reader *by, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_side *side = &patch->condition;
  side->kind = GAB_SIDE_WALL;
  if (!gab_config_is_set(by->config, gab_config_path(key, "%s.velocity", patch->path))) return GAB_OK;
  side->kind = GAB_SIDE_VELOCITY;
  side->on_body = GAB_BODY_VELOCITY_ALONG;
  GAB_TRY(gab_lbm_read_plane_vector(by->config, key, by->domain->dimension, side->velocity));
  for (int axis = 0; axis < 3; axis++) side->velocity[axis] *= by->units->dt / by->units->dx;
  return check_normal(by, key, patch);
}

static gab_status read_body(const patch_reader *by, gab_patch *patch)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  const char *name = gab_config_string(by->config, gab_config_path(key, "%s.body", patch->path));
  for (patch->body = 0; patch->body < by->body_count; patch->body++)
    if (name[0] && strcmp(by->bodies[patch->body].name, name) == 0) return GAB_OK;
  return gab_config_fail(by->config, key,
                         "no body has the name '%s'; parts of sets have no surface of their own", name);
}

static gab_status read_patch(const patch_reader *by, size_t item)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_patches *patches = by->patches;
  double area;
  if (patches->count == GAB_MOST_CONDITIONS - GAB_SIDE_COUNT)
    return gab_config_fail(by->config, SECTION, "sides and bodies have more than %d patches in all",
                           patches->count);
  gab_patch *patch = &patches->list[patches->count++];
  patches->on_bodies++;
  *patch = (gab_patch){.side = GAB_PATCH_ON_BODY, .faces = 1, .region_faces = 1, .condition.density = 1};
  gab_config_path(patch->path, SECTION ".%zu", item);
  patch->condition.part =
      (gab_side_part){.patches = patches, .condition = GAB_SIDE_COUNT + patches->count - 1};
  GAB_TRY(gab_lbm_read_patch_name(by->config, patches, patch));
  GAB_TRY(read_body(by, patch));
  GAB_TRY(read_region(by, patch, &area));
  const char *type = gab_config_string(by->config, gab_config_path(key, "%s.type", patch->path));
  if (strcmp(type, "wall") == 0) return read_wall(by, patch);
  if (strcmp(type, "pressure") == 0) GAB_TRY(read_pressure(by, patch));
  else GAB_TRY(read_velocity(by, patch, area));
  GAB_TRY(gab_side_read_time(by->config, patch->path, by->units, &patch->condition));
  return gab_side_complete_on_body(by->config, patch->path, by->duration, &patch->condition);
}

gab_status gab_lbm_read_body_patches(const gab_config *config, const gab_domain *domain,
                                     const gab_units *units, const gab_body *bodies, size_t count,
                                     double duration, gab_patches **patches)
{
  patch_reader by = {.config = config,
                     .domain = domain,
                     .units = units,
                     .bodies = bodies,
                     .body_count = count,
                     .duration = duration};
  const size_t items = gab_config_count(config, SECTION);
  if (items == 0) return GAB_OK;
  if (!*patches) GAB_TRY(GAB_NEW(patches, GAB_MEMORY_OTHER));
  by.patches = *patches;
  for (size_t item = 0; item < items; item++) GAB_TRY(read_patch(&by, item));
  return GAB_OK;
}
