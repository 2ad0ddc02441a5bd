/* SPDX-License-Identifier: Apache-2.0 */
/* Sides of the domain of a stencil: the section `boundaries'. */
#include "apps/driver/stencil/stencil_impl.h"

#include <math.h>
#include <string.h>

static const char *const paths[6] = {"boundaries.x_min", "boundaries.x_max", "boundaries.y_min",
                                     "boundaries.y_max", "boundaries.z_min", "boundaries.z_max"};
static const char *const kinds[] = {"periodic", "value", "gradient", "mirrored", "own"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const char *gab_app_stencil_side_path(int side) { return paths[side]; }

/* ---------------------------------------------------------------- parameters */

static gab_config_choice field_choice(int index)
{
  return (gab_config_choice){.name = index < gab_app_stencil_field_count() ? gab_app_stencil->fields[index]
                                                                           : NULL};
}

/* A key for each field. */
static void make_keys(gab_config_key *keys, const char *doc)
{
  for (int f = 0; f < gab_app_stencil_field_count(); f++)
    keys[f] = (gab_config_key){.name = gab_app_stencil->fields[f],
                               .type = GAB_CONFIG_EXPRESSION,
                               .variables = "x|y|z|t",
                               .min = -INFINITY,
                               .max = INFINITY,
                               .default_text = "0",
                               .doc = doc};
}

gab_status gab_app_stencil_sides_declare(gab_config *config)
{
  static gab_config_key values[GAB_STENCIL_MOST_FIELDS], gradients[GAB_STENCIL_MOST_FIELDS], odd[1];
  static gab_config_section sections[6][KINDS];
  const size_t fields = (size_t)gab_app_stencil_field_count();
  make_keys(values, "Value at the side.");
  make_keys(gradients, "Derivative along the outward normal, per length of domain.length.");
  odd[0] =
      (gab_config_key){.name = "odd",
                       .type = GAB_CONFIG_STRING,
                       .length_max = GAB_STENCIL_MOST_FIELDS,
                       .default_text = GAB_CONFIG_OPTIONAL,
                       .choice_at = field_choice,
                       .doc = "Fields that change their sign in the mirror, as a velocity across the side."};
  for (int side = 0; side < 6; side++) {
    const gab_config_section each[KINDS] = {
        {.doc = "Opposite sides meet.", .variant_is_default = true},
        {.doc = "Values at the side, one for each field.", .keys = values, .count = fields},
        {.doc = "Derivatives at the side, one for each field.", .keys = gradients, .count = fields},
        {.doc = "Ghosts beyond the side are the mirror image.", .keys = odd, .count = 1},
        {.doc = "The program sets the ghosts beyond the side."}};
    for (int kind = 0; kind < KINDS; kind++) {
      sections[side][kind] = each[kind];
      sections[side][kind].path = paths[side];
      sections[side][kind].variant = kinds[kind];
      sections[side][kind].optional = true;
    }
    GAB_TRY(gab_app_declare(config, sections[side], gab_app_stencil->beyond ? KINDS : STENCIL_SIDE_OWN));
  }
  return GAB_OK;
}

static gab_status read_odd(const gab_config *config, const char *path, stencil_side *side)
{
  size_t count = 0;
  if (!gab_config_is_set(config, path)) return GAB_OK;
  const char *const *names = gab_config_strings(config, path, &count);
  for (size_t i = 0; i < count; i++) {
    int field = 0;
    while (gab_app_stencil->fields[field] && strcmp(gab_app_stencil->fields[field], names[i]) != 0) field++;
    if (!gab_app_stencil->fields[field])
      return gab_config_fail(config, path, "unknown field '%s'; see `help %s'", names[i], path);
    side->is_odd[field] = true;
  }
  return GAB_OK;
}

static gab_status read_side(const gab_config *config, const char *at, stencil_side *side)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const char *type = gab_config_string(config, gab_config_path(path, "%s.type", at));
  for (int kind = 0; kind < KINDS; kind++)
    if (type && strcmp(type, kinds[kind]) == 0) side->kind = (stencil_side_kind)kind;
  side->varies = side->kind == STENCIL_SIDE_OWN;
  if (side->kind == STENCIL_SIDE_MIRRORED) return read_odd(config, gab_config_path(path, "%s.odd", at), side);
  if (side->kind != STENCIL_SIDE_VALUE && side->kind != STENCIL_SIDE_GRADIENT) return GAB_OK;
  for (int f = 0; gab_app_stencil->fields[f]; f++) {
    side->values[f] =
        gab_config_expression(config, gab_config_path(path, "%s.%s", at, gab_app_stencil->fields[f]));
    side->varies = side->varies || !gab_expression_is_constant(side->values[f]);
  }
  return GAB_OK;
}

gab_status gab_app_stencil_sides_read(stencil_case *which)
{
  const gab_config *config = which->base.config;
  const int axes = which->base.domain.grid.dimension;
  for (int side = 0; side < 6; side++) {
    GAB_TRY(read_side(config, paths[side], &which->sides[side]));
    if (side / 2 >= axes && which->sides[side].kind != STENCIL_SIDE_PERIODIC)
      return gab_config_fail(config, paths[side], "the grid has %d dimensions; remove it", axes);
  }
  for (int axis = 0; axis < axes; axis++) {
    const bool is_periodic = which->sides[2 * axis].kind == STENCIL_SIDE_PERIODIC;
    if (is_periodic != (which->sides[2 * axis + 1].kind == STENCIL_SIDE_PERIODIC))
      return gab_config_fail(config, paths[2 * axis + is_periodic],
                             "one side along %c is periodic, the other one is not; set type of both",
                             "xyz"[axis]);
    which->base.domain.periodic[axis] = which->base.grid.periodic[axis] = is_periodic;
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- sides of implicit fields */

static gab_status find_side(const stencil_case *which, int side, int field, gab_elliptic_side *found)
{
  const stencil_side *from = &which->sides[side];
  const bool is_value =
      from->kind == STENCIL_SIDE_VALUE || (from->kind == STENCIL_SIDE_MIRRORED && from->is_odd[field]);
  const gab_expression *value = from->values[field];
  *found = (gab_elliptic_side){is_value ? GAB_ELLIPTIC_VALUE : GAB_ELLIPTIC_GRADIENT, 0};
  if (from->kind == STENCIL_SIDE_OWN)
    return gab_config_fail(which->base.config, paths[side],
                           "the implicit field %s cannot have a side of type own",
                           gab_app_stencil->fields[field]);
  if (!value) return GAB_OK;
  if (!gab_expression_is_constant(value))
    return gab_config_fail(which->base.config, paths[side],
                           "the implicit field %s needs a number here, not the formula '%s'",
                           gab_app_stencil->fields[field], gab_expression_text(value));
  found->value = gab_expression_at(value, NULL);
  return GAB_OK;
}

gab_status gab_app_stencil_sides_of(const stencil_case *which, int field, gab_elliptic_side sides[6])
{
  for (int side = 0; side < 6; side++) GAB_TRY(find_side(which, side, field, &sides[side]));
  return GAB_OK;
}
