/* SPDX-License-Identifier: Apache-2.0 */
/* Refinement of a stencil: section NAME.refinement, and the measures of a block. */
#include "apps/driver/stencil/stencil_impl.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- measures */

static double largest_difference(const gab_field *now, int field)
{
  const gab_box cells = gab_field_interior(now);
  const int axes = now->shape.ghosts[2] > 0 ? 3 : 2;
  double most = 0;
  for (int32_t z = 0; z < cells.hi[2]; z++)
    for (int32_t y = 0; y < cells.hi[1]; y++)
      for (int32_t x = 0; x < cells.hi[0]; x++) {
        const double here = gab_field_get(now, x, y, z, field);
        for (int side = 0; side < 2 * axes; side++) {
          int32_t to[3] = {x, y, z};
          to[side / 2] += side % 2 ? 1 : -1;
          most = fmax(most, fabs(gab_field_get(now, to[0], to[1], to[2], field) - here));
        }
      }
  return most;
}

static double largest_value(const gab_field *now, int field)
{
  const gab_box cells = gab_field_interior(now);
  double most = 0;
  for (int32_t z = 0; z < cells.hi[2]; z++)
    for (int32_t y = 0; y < cells.hi[1]; y++)
      for (int32_t x = 0; x < cells.hi[0]; x++) most = fmax(most, fabs(gab_field_get(now, x, y, z, field)));
  return most;
}

static const gab_stencil_criterion usual[] = {
    {"gradient", "Change of a field: the largest difference between neighbouring cells.", largest_difference},
    {"value", "Size of a field: its largest absolute value.", largest_value},
};
enum { USUAL = sizeof usual / sizeof usual[0] };

const gab_stencil_criterion *gab_app_stencil_criterion_at(size_t index)
{
  if (index < USUAL) return &usual[index];
  return index - USUAL < gab_app_stencil->criterion_count ? &gab_app_stencil->criteria[index - USUAL] : NULL;
}

/* ---------------------------------------------------------------- parameters */

static const gab_config_key refinement_keys[] = {
    {.name = "levels",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = GAB_STENCIL_MOST_LEVELS,
     .default_text = "0",
     .doc = "Number of coarser levels; each doubles the width of cells where no criterion requires "
            "small ones. The finest cells are those of domain.cells, which must be whole blocks of "
            "the coarsest. All levels take the same time step. 0: one grid."},
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 1,
     .max = 9e15,
     .default_text = "20",
     .doc = "Interval of adaptations, in steps."},
};

/* One table per criterion: the first key of a table depends on the fields of the program. */
static gab_config_key rule_keys[3];
static gab_config_section sections[2 + USUAL + GAB_STENCIL_MOST_CRITERIA];
static char paths[2][GAB_CONFIG_PATH_CAPACITY];

static gab_config_choice field_choice(int index)
{
  return (gab_config_choice){.name = index < gab_app_stencil_field_count() ? gab_app_stencil->fields[index]
                                                                           : NULL};
}

static void make_rule_keys(void)
{
  rule_keys[0] = (gab_config_key){.name = "field",
                                  .type = GAB_CONFIG_CHOICE,
                                  .choice_at = field_choice,
                                  .default_text = gab_app_stencil->fields[0],
                                  .doc = "The field that is measured."};
  rule_keys[1] = (gab_config_key){.name = "above",
                                  .type = GAB_CONFIG_REAL,
                                  .min = 0,
                                  .max = INFINITY,
                                  .min_excluded = true,
                                  .doc = "A block with a larger measure is refined."};
  rule_keys[2] =
      (gab_config_key){.name = "below",
                       .type = GAB_CONFIG_REAL,
                       .min = 0,
                       .max = INFINITY,
                       .default_text = GAB_CONFIG_OPTIONAL,
                       .doc = "A block with a smaller measure may be merged with its siblings; at most half "
                              "of above, or blocks would split and merge repeatedly. Omitted: a quarter."};
}

gab_status gab_app_stencil_refinement_declare(gab_config *config)
{
  const gab_stencil_criterion *criterion;
  size_t count = 0;
  make_rule_keys();
  gab_config_path(paths[0], "%s.refinement", gab_app_stencil->name);
  gab_config_path(paths[1], "%s.refinement.criteria", gab_app_stencil->name);
  sections[count++] = (gab_config_section){.path = paths[0],
                                           .doc = "Blocks of wider cells where small ones are not needed.",
                                           KEYS(refinement_keys)};
  sections[count++] = (gab_config_section){
      .path = paths[1],
      .doc = "Refinement criteria: a block is refined if any of them requires it, and may be merged if"
             " all allow it.",
      .is_list = true};
  for (size_t i = 0; (criterion = gab_app_stencil_criterion_at(i)); i++)
    sections[count++] = (gab_config_section){.path = paths[1],
                                             .doc = criterion->doc,
                                             KEYS(rule_keys),
                                             .is_list = true,
                                             .variant = criterion->name};
  return gab_app_declare(config, sections, count);
}

static gab_status read_rule(const gab_config *config, size_t index, stencil_rule *rule)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const char *const list = paths[1];
  const char *type = gab_config_string(config, gab_config_path(path, "%s.%zu.type", list, index));
  for (size_t i = 0; (rule->criterion = gab_app_stencil_criterion_at(i)); i++)
    if (strcmp(rule->criterion->name, type) == 0) break;
  rule->field = gab_config_choice_index(config, gab_config_path(path, "%s.%zu.field", list, index));
  rule->above = gab_config_real(config, gab_config_path(path, "%s.%zu.above", list, index));
  rule->below = rule->above / 4;
  gab_config_path(path, "%s.%zu.below", list, index);
  if (gab_config_is_set(config, path)) rule->below = gab_config_real(config, path);
  if (!(rule->below <= rule->above / 2))
    return gab_config_fail(config, path, "%g is more than half of above, %g", rule->below, rule->above);
  return GAB_OK;
}

/* Fewer blocks with the same number of cells, wider by 2^finest. */
static gab_status coarsen(const gab_config *config, const char *path, int finest, gab_forest_options *grid)
{
  GAB_TRY(gab_app_domain_check_levels(config, grid));
  for (int axis = 0; axis < grid->grid.dimension; axis++) {
    if (grid->grid.roots[axis] % (1 << finest) != 0)
      return gab_config_fail(config, path,
                             "%" PRId32 " blocks along %c are not a multiple of blocks %d times as wide",
                             grid->grid.roots[axis], (int)"xyz"[axis], 1 << finest);
    grid->grid.roots[axis] >>= finest;
  }
  grid->dx = ldexp(grid->dx, finest);
  return GAB_OK;
}

gab_status gab_app_stencil_refinement_read(stencil_case *which)
{
  const gab_config *config = which->base.config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  if (!gab_app_stencil->adaptive) return GAB_OK;
  which->finest = (int)gab_config_int(config, gab_app_stencil_path(path, "refinement.levels"));
  which->every = gab_config_int(config, gab_app_stencil_path(path, "refinement.every"));
  which->rule_count = gab_config_count(config, paths[1]);
  if (which->rule_count > GAB_STENCIL_MOST_RULES)
    return gab_config_fail(config, paths[1], "%zu criteria: at most %d are possible", which->rule_count,
                           (int)GAB_STENCIL_MOST_RULES);
  for (size_t i = 0; i < which->rule_count; i++) GAB_TRY(read_rule(config, i, &which->rules[i]));
  if (which->finest == 0) return GAB_OK;
  if (which->rule_count == 0)
    return gab_config_fail(config, gab_app_stencil_path(path, "refinement.levels"),
                           "%d levels, but no criterion: nothing would ever be refined", which->finest);
  return coarsen(config, gab_app_stencil_path(path, "refinement.levels"), which->finest, &which->base.grid);
}
