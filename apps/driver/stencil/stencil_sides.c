/* SPDX-License-Identifier: Apache-2.0 */
/* Sides of the domain of a stencil: the section `boundaries', and ghosts beyond sides. */
#include "apps/driver/stencil/stencil_impl.h"

#include <math.h>
#include <string.h>

static const char *const paths[6] = {"boundaries.x_min", "boundaries.x_max", "boundaries.y_min",
                                     "boundaries.y_max", "boundaries.z_min", "boundaries.z_max"};
static const char *const kinds[] = {"periodic", "value", "gradient", "mirrored"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

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
                               .type = GAB_CONFIG_REAL,
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
        {.doc = "What lies beyond the side is the mirror image.", .keys = odd, .count = 1}};
    for (int kind = 0; kind < KINDS; kind++) {
      sections[side][kind] = each[kind];
      sections[side][kind].path = paths[side];
      sections[side][kind].variant = kinds[kind];
      sections[side][kind].optional = true;
    }
    GAB_TRY(gab_app_declare(config, sections[side], KINDS));
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
  if (side->kind == STENCIL_SIDE_MIRRORED) return read_odd(config, gab_config_path(path, "%s.odd", at), side);
  for (int f = 0; side->kind != STENCIL_SIDE_PERIODIC && gab_app_stencil->fields[f]; f++)
    side->values[f] = gab_config_real(config, gab_config_path(path, "%s.%s", at, gab_app_stencil->fields[f]));
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

/* ---------------------------------------------------------------- ghosts */

/* The ghost of a layer, 0 next to the side, from the cell as far inside: a value is the mean of both, a gradient their difference. */
static double beyond(const stencil_side *side, int field, double inside, int layer, double width)
{
  if (side->kind == STENCIL_SIDE_VALUE) return 2 * side->values[field] - inside;
  if (side->kind == STENCIL_SIDE_GRADIENT) return inside + (2 * layer + 1) * width * side->values[field];
  return side->is_odd[field] ? -inside : inside;
}

static void fill_side(const stencil_side *side, gab_field *now, int axis, bool is_upper, double width)
{
  /* Edges and corners: x before y before z, each with the ghosts of the others, so that the last one sees those of the first. */
  gab_box box = gab_app_stencil->diagonals ? gab_field_whole(now) : gab_field_interior(now);
  const int32_t cells = now->shape.cells[axis];
  box.lo[axis] = 0;
  box.hi[axis] = now->shape.ghosts[axis];
  for (int f = 0; f < now->shape.components; f++)
    for (int32_t z = (int32_t)box.lo[2]; z < box.hi[2]; z++)
      for (int32_t y = (int32_t)box.lo[1]; y < box.hi[1]; y++)
        for (int32_t x = (int32_t)box.lo[0]; x < box.hi[0]; x++) {
          int32_t inside[3] = {x, y, z}, ghost[3] = {x, y, z};
          const int32_t layer = inside[axis];
          ghost[axis] = is_upper ? cells + layer : -1 - layer;
          inside[axis] = is_upper ? cells - 1 - layer : layer;
          gab_field_set(
              now, ghost[0], ghost[1], ghost[2], f,
              beyond(side, f, gab_field_get(now, inside[0], inside[1], inside[2], f), layer, width));
        }
}

void gab_app_stencil_fill_sides(const stencil_case *which, gab_field *now, const int64_t first[3], int level)
{
  const gab_forest_options *grid = &which->base.grid;
  for (int axis = 0; axis < grid->grid.dimension; axis++) {
    const int64_t end = (int64_t)(grid->grid.roots[axis] * (int64_t)grid->cells[axis]) << level;
    const double width = ldexp(grid->dx, -level);
    if (grid->periodic[axis]) continue;
    if (first[axis] == 0) fill_side(&which->sides[2 * axis], now, axis, false, width);
    if (first[axis] + grid->cells[axis] == end)
      fill_side(&which->sides[2 * axis + 1], now, axis, true, width);
  }
}

gab_status gab_app_stencil_exchange(stencil_run *it, double time)
{
  const gab_forest *forest = it->base.forest;
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(forest);
  (void)time;
  GAB_TRY(gab_level_ghosts_start(it->ghosts));
  GAB_TRY(gab_level_ghosts_finish(it->ghosts));
#pragma omp parallel for schedule(static)
  for (ptrdiff_t i = 0; i < count; i++) {
    const gab_block *block = gab_forest_block(forest, (size_t)i);
    const gab_box cells = gab_block_cells(forest, block);
    gab_app_stencil_fill_sides(it->parameters, gab_block_data(block, it->now), cells.lo,
                               gab_block_level(forest, block));
  }
  return GAB_OK;
}

gab_elliptic_side gab_app_stencil_side_of(const stencil_case *which, int side, int field)
{
  const stencil_side *from = &which->sides[side];
  const bool is_value =
      from->kind == STENCIL_SIDE_VALUE || (from->kind == STENCIL_SIDE_MIRRORED && from->is_odd[field]);
  return (gab_elliptic_side){is_value ? GAB_ELLIPTIC_VALUE : GAB_ELLIPTIC_GRADIENT, from->values[field]};
}
