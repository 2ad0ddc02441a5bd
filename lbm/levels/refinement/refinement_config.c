/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/levels/refinement/refinement_impl.h"

#include <math.h>
#include <string.h>

static const double degree = 3.14159265358979323846 / 180;

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const gab_config_key refinement_keys[] = {
    {.name = "levels",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = GAB_LBM_LEVELS - 1,
     .default_text = "0",
     .doc = "Finest level; each level halves cell width and time step. 0: one level, that of "
            "domain.cells."},
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 0,
     .max = 9e15,
     .default_text = "0",
     .doc = "Interval of adaptations to the flow, in steps of level 0; 0: the initial grid stays."},
    {.name = "start",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 0,
     .max = 9e15,
     .default_text = "0",
     .doc = "First step after which the grid adapts."},
    {.name = "border_speed",
     .type = GAB_CONFIG_REAL,
     .unit = "m/s",
     .min = 0,
     .max = INFINITY,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "TRT and MRT: flow speed up to which borders between levels do not amplify waves; reduces"
            " lbm.magic on levels that need it. Default: twice the largest speed in this file; 0: "
            "lbm.magic on all levels."},
};
static const gab_config_section refinement_section = {
    .path = "refinement",
    .doc = "Static and adaptive grid refinement.",
    .keys = refinement_keys,
    .count = COUNT(refinement_keys),
};

#define LEVEL_KEY                                                                                            \
  {                                                                                                          \
    .name = "level", .type = GAB_CONFIG_INT, .min = 1, .max = GAB_LBM_LEVELS - 1,                            \
    .default_text = GAB_CONFIG_OPTIONAL,                                                                     \
    .doc = "Finest level of this criterion; default: refinement.levels."                                     \
  }
#define BOX_KEYS(given, low_doc, high_doc)                                                                   \
  {.name = "lo",                                                                                             \
   .type = GAB_CONFIG_REAL,                                                                                  \
   .length_min = 2,                                                                                          \
   .length_max = 3,                                                                                          \
   .unit = "m",                                                                                              \
   .default_text = given,                                                                                    \
   .doc = low_doc},                                                                                          \
  {                                                                                                          \
    .name = "hi", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m",                    \
    .default_text = given, .doc = high_doc                                                                   \
  }
#define FLOW_KEYS                                                                                            \
  LEVEL_KEY,                                                                                                 \
      {.name = "above",                                                                                      \
       .type = GAB_CONFIG_REAL,                                                                              \
       .unit = "1/s",                                                                                        \
       .min = 0,                                                                                             \
       .max = INFINITY,                                                                                      \
       .min_excluded = true,                                                                                 \
       .doc = "Refine if the maximum in the block exceeds this."},                                           \
      {.name = "below",                                                                                      \
       .type = GAB_CONFIG_REAL,                                                                              \
       .unit = "1/s",                                                                                        \
       .min = 0,                                                                                             \
       .max = INFINITY,                                                                                      \
       .doc = "Coarsening is allowed if the maximum is below this; must be less than above."},               \
      BOX_KEYS(GAB_CONFIG_OPTIONAL, "Lower corner of the box to which the criterion is restricted.",         \
               "Upper corner of the box to which the criterion is restricted.")

#define DISTANCE_KEY(text)                                                                                   \
  {                                                                                                          \
    .name = "distance", .type = GAB_CONFIG_REAL, .unit = "m", .min = 0, .max = INFINITY,                     \
    .default_text = "0", .doc = text                                                                         \
  }

static const gab_config_key bodies_keys[] = {
    LEVEL_KEY,
    DISTANCE_KEY("Distance from the surface of a body up to which cells are fine."),
};
static const gab_config_key curvature_keys[] = {
    LEVEL_KEY,
    {.name = "angle",
     .type = GAB_CONFIG_REAL,
     .unit = "degrees",
     .min = 0,
     .max = 180,
     .min_excluded = true,
     .doc =
         "Refine if the normal of a surface turns by more than this over the width of a cell; sharp edges turn at once."},
    DISTANCE_KEY("Distance from curved parts of a surface up to which cells are fine."),
};
static const gab_config_key box_keys[] = {LEVEL_KEY, BOX_KEYS(NULL, "Lower corner.", "Upper corner.")};
static const gab_config_key flow_keys[] = {FLOW_KEYS};

#define CRITERION(kind, text, list)                                                                          \
  {                                                                                                          \
    .path = "refinement.criteria", .doc = text, .keys = list, .count = COUNT(list), .is_list = true,         \
    .variant = kind                                                                                          \
  }
static const gab_config_section criteria_sections[] = {
    {.path = "refinement.criteria",
     .doc = "Refinement criteria: a block is refined if any of them requires it.",
     .is_list = true},
    CRITERION("bodies", "Near the surface of bodies.", bodies_keys),
    CRITERION("box", "In a box.", box_keys),
    CRITERION("curvature", "Where the surface of bodies is curved.", curvature_keys),
    CRITERION("vorticity", "Vorticity: maximum |curl u| in the block.", flow_keys),
    CRITERION("gradient", "Velocity gradient: maximum norm in the block.", flow_keys),
};
gab_status gab_refinement_declare(gab_config *config)
{
  GAB_TRY(gab_config_declare(config, &refinement_section));
  for (size_t i = 0; i < COUNT(criteria_sections); i++)
    GAB_TRY(gab_config_declare(config, &criteria_sections[i]));
  return gab_lbm_criteria_declare(config);
}

/* ---------------------------------------------------------------------------------------- reading */

/* A corner; `fallback` along axes that are not given. */
static gab_status read_corner(const gab_config *config, const char *path, int dimension, double fallback,
                              double corner[3])
{
  size_t count = 0;
  const double *given = NULL;
  for (int axis = 0; axis < 3; axis++) corner[axis] = fallback;
  if (!gab_config_is_set(config, path)) return GAB_OK;
  given = gab_config_reals(config, path, &count);
  if (count != (size_t)dimension)
    return gab_config_fail(config, path, "%zu numbers, but the domain has %d dimensions", count, dimension);
  for (size_t axis = 0; axis < count; axis++) corner[axis] = given[axis];
  return GAB_OK;
}

static gab_status read_box(const gab_config *config, const char *at, int dimension, double lo[3],
                           double hi[3])
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(read_corner(config, gab_config_path(path, "%s.lo", at), dimension, -INFINITY, lo));
  GAB_TRY(read_corner(config, gab_config_path(path, "%s.hi", at), dimension, INFINITY, hi));
  for (int axis = 0; axis < dimension; axis++)
    if (!(lo[axis] < hi[axis]))
      return gab_config_fail(config, at, "the box is empty along %c: from %g to %g", (int)"xyz"[axis],
                             lo[axis], hi[axis]);
  return GAB_OK;
}

static gab_status read_flow_criterion(const gab_config *config, const char *at, int dimension,
                                      const gab_units *units, gab_criterion *criterion)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const double above = gab_config_real(config, gab_config_path(path, "%s.above", at));
  const double below = gab_config_real(config, gab_config_path(path, "%s.below", at));
  if (!(below < above))
    return gab_config_fail(config, path,
                           "%g is not smaller than above: %g; a block would be refined and coarsened at once",
                           below, above);
  const double scale = criterion->kind == GAB_CRITERION_OWN ? 1 : units->dt;
  criterion->refine_above = above * scale;
  criterion->coarsen_below = below * scale;
  return read_box(config, at, dimension, criterion->region_lo, criterion->region_hi);
}

static void read_distance(const gab_config *config, const char *at, const gab_domain *domain,
                          gab_criterion *criterion)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  criterion->distance = gab_config_real(config, gab_config_path(path, "%s.distance", at)) / domain->dx;
}

static gab_status read_criterion(const gab_config *config, size_t index, const gab_domain *domain,
                                 const gab_units *units, int max_level, gab_criterion *criterion)
{
  char at[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(at, "refinement.criteria.%zu", index);
  const char *type = gab_config_string(config, gab_config_path(path, "%s.type", at));
  int index_of_type = 0;
  while (gab_lbm_criterion_name(index_of_type + 1) &&
         strcmp(type, gab_lbm_criterion_name(index_of_type)) != 0)
    index_of_type++;
  criterion->kind = index_of_type < GAB_CRITERION_OWN ? (gab_criterion_kind)index_of_type : GAB_CRITERION_OWN;
  criterion->own = gab_lbm_criterion_at(index_of_type - GAB_CRITERION_OWN);
  criterion->units = *units;
  gab_config_path(path, "%s.level", at);
  criterion->level = gab_config_is_set(config, path) ? (int)gab_config_int(config, path) : max_level;
  if (criterion->level > max_level)
    return gab_config_fail(config, path, "%d is more than refinement.levels: %d", criterion->level,
                           max_level);
  switch (criterion->kind) {
  case GAB_CRITERION_CURVATURE:
    criterion->angle = gab_config_real(config, gab_config_path(path, "%s.angle", at)) * degree;
    read_distance(config, at, domain, criterion);
    return GAB_OK;
  case GAB_CRITERION_BODIES:
    read_distance(config, at, domain, criterion);
    return GAB_OK;
  case GAB_CRITERION_BOX:
    return read_box(config, at, domain->dimension, criterion->lo, criterion->hi);
  default:
    return read_flow_criterion(config, at, domain->dimension, units, criterion);
  }
}

static gab_status read_border_speed(const gab_config *config, const gab_units *units,
                                    gab_refinement_setup *setup)
{
  const char *path = "refinement.border_speed";
  if (!gab_config_is_set(config, path)) return GAB_OK;
  const double most = 0.5, speed = gab_config_real(config, path);
  setup->border_speed = gab_units_velocity_to_lattice(units, speed);
  if (!(setup->border_speed < most))
    return gab_config_fail(
        config, path, "%g is %.3g cells per step, which must be below %g: faster flows cannot be computed",
        speed, setup->border_speed, most);
  return GAB_OK;
}

gab_status gab_refinement_from_config(const gab_config *config, const gab_domain *domain,
                                      const gab_units *units, gab_refinement_setup *setup)
{
  *setup = (gab_refinement_setup){.max_level = (int)gab_config_int(config, "refinement.levels"),
                                  .every = gab_config_int(config, "refinement.every"),
                                  .start = gab_config_int(config, "refinement.start"),
                                  .border_speed = -1};
  const size_t count = gab_config_count(config, "refinement.criteria");
  if (setup->max_level == 0 && count > 0)
    return gab_config_fail(config, "refinement.criteria", "there are criteria, but refinement.levels is 0");
  if (setup->max_level > 0 && count == 0)
    return gab_config_fail(config, "refinement.levels", "%d levels, but no criterion that asks for them",
                           setup->max_level);
  GAB_TRY(read_border_speed(config, units, setup));
  GAB_TRY(GAB_NEW_ARRAY(&setup->criteria, count, GAB_MEMORY_OTHER));
  setup->count = count;
  gab_status status = GAB_OK;
  for (size_t i = 0; i < count && status == GAB_OK; i++)
    status = read_criterion(config, i, domain, units, setup->max_level, &setup->criteria[i]);
  if (status != GAB_OK) gab_refinement_setup_release(setup);
  return status;
}

/* A box that holds the body as a whole; along a cylinder it may be shorter than that. */
static bool holds(const gab_criterion *box, const gab_domain *domain, const gab_body *body)
{
  for (int axis = 0; axis < domain->dimension; axis++) {
    if (body->shape == GAB_SHAPE_CYLINDER && axis == body->axis) continue;
    if (box->lo[axis] > body->centre[axis] - body->radius ||
        box->hi[axis] < body->centre[axis] + body->radius)
      return false;
  }
  return true;
}

/* The level on which the normal of a round body turns slowly enough: gab_geometry_is_curved(). */
static int level_by_curvature(const gab_criterion *criterion, const gab_domain *domain, const gab_body *body)
{
  int level = 0;
  while (level < criterion->level &&
         2 * atan(ldexp(domain->dx, -level) / (2 * body->radius)) > criterion->angle)
    level++;
  return level;
}

int gab_refinement_level_at(const gab_refinement_setup *setup, const gab_domain *domain, const gab_body *body)
{
  int level = 0;
  for (size_t i = 0; i < setup->count; i++) {
    const gab_criterion *criterion = &setup->criteria[i];
    const bool is_curvature = criterion->kind == GAB_CRITERION_CURVATURE;
    const bool covers = criterion->kind == GAB_CRITERION_BODIES || is_curvature ||
                        (criterion->kind == GAB_CRITERION_BOX && holds(criterion, domain, body));
    const int finest = is_curvature ? level_by_curvature(criterion, domain, body) : criterion->level;
    if (covers && finest > level) level = finest;
  }
  return level;
}

void gab_refinement_setup_release(gab_refinement_setup *setup)
{
  gab_free(&setup->criteria);
  setup->count = 0;
}

/* ------------------------------------------------------------------------------------------ of a program's own */

enum { KEYS_OF_ONE = 5 };

static void fill_keys(const gab_lbm_criterion *own, gab_config_key keys[KEYS_OF_ONE])
{
  const gab_config_key value = {
      .type = GAB_CONFIG_REAL, .unit = own->unit, .min = -INFINITY, .max = INFINITY};
  const gab_config_key corner = {.type = GAB_CONFIG_REAL,
                                 .length_min = 2,
                                 .length_max = 3,
                                 .unit = "m",
                                 .default_text = GAB_CONFIG_OPTIONAL};
  keys[0] = (gab_config_key){.name = "level",
                             .type = GAB_CONFIG_INT,
                             .min = 1,
                             .max = GAB_LBM_LEVELS - 1,
                             .default_text = GAB_CONFIG_OPTIONAL,
                             .doc = "Finest level of this criterion; default: refinement.levels."};
  keys[1] = keys[2] = value;
  keys[1].name = "above";
  keys[1].doc = "Refine if the maximum in the block exceeds this.";
  keys[2].name = "below";
  keys[2].doc = "Coarsening is allowed if the maximum is below this; must be less than above.";
  keys[3] = keys[4] = corner;
  keys[3].name = "lo";
  keys[3].doc = "Lower corner of the box to which the criterion is restricted.";
  keys[4].name = "hi";
  keys[4].doc = "Upper corner of the box to which the criterion is restricted.";
}

gab_status gab_lbm_criteria_declare(gab_config *config)
{
  static gab_config_key keys[GAB_LBM_MOST_OWN_CRITERIA][KEYS_OF_ONE];
  static gab_config_section sections[GAB_LBM_MOST_OWN_CRITERIA];
  for (int i = 0; gab_lbm_criterion_at(i); i++) {
    const gab_lbm_criterion *own = gab_lbm_criterion_at(i);
    fill_keys(own, keys[i]);
    sections[i] = (gab_config_section){.path = "refinement.criteria",
                                       .doc = own->doc,
                                       .keys = keys[i],
                                       .count = KEYS_OF_ONE,
                                       .is_list = true,
                                       .variant = own->name};
    GAB_TRY(gab_config_declare(config, &sections[i]));
  }
  return GAB_OK;
}
