/* SPDX-License-Identifier: Apache-2.0 */
/* Staggered fields: positions of their values in a cell. */
#include "apps/driver/stencil/stencil_impl.h"

bool gab_app_stencil_is_on_face(int field, int axis)
{
  return gab_app_stencil->centring && ((unsigned)gab_app_stencil->centring[field] >> axis & 1);
}

bool gab_app_stencil_is_staggered(void)
{
  for (int f = 0; gab_app_stencil->centring && f < gab_app_stencil_field_count(); f++)
    if (gab_app_stencil->centring[f] != GAB_STENCIL_CELL) return true;
  return false;
}

static gab_status check_side(const stencil_case *which, int side, int field)
{
  const stencil_side *at = &which->sides[side];
  if (at->kind == STENCIL_SIDE_VALUE || (at->kind == STENCIL_SIDE_MIRRORED && at->is_odd[field]))
    return GAB_OK;
  return gab_config_fail(which->base.config, gab_app_stencil_side_path(side),
                         "values of %s lie on this side; set type value, or mirrored with %s in odd",
                         gab_app_stencil->fields[field], gab_app_stencil->fields[field]);
}

gab_status gab_app_stencil_check_centring(const stencil_case *which)
{
  if (!gab_app_stencil_is_staggered()) return GAB_OK;
  for (int side = 0; side < 6; side++) {
    const int axis = side / 2;
    if (which->sides[side].kind == STENCIL_SIDE_PERIODIC) continue;
    if (which->base.grid.cells[axis] <= gab_app_stencil_depth())
      return gab_config_fail(which->base.config, "domain.block",
                             "staggered fields between sides need blocks of more than %d cells along %c",
                             gab_app_stencil_depth(), "xyz"[axis]);
    for (int f = 0; f < gab_app_stencil_field_count(); f++)
      if (gab_app_stencil_is_on_face(f, axis)) GAB_TRY(check_side(which, side, f));
    if (which->sides[side].kind == STENCIL_SIDE_OWN)
      return gab_config_fail(which->base.config, gab_app_stencil_side_path(side),
                             "staggered fields cannot have a side of type own");
  }
  return GAB_OK;
}

void gab_stencil_position(const gab_stencil_block *at, int field, int32_t x, int32_t y, int32_t z,
                          double position[3])
{
  const double half = gab_forest_dx(at->forest, gab_block_level(at->forest, at->block) + 1);
  gab_block_cell_centre(at->forest, at->block, x, y, z, position);
  for (int axis = 0; axis < 3; axis++)
    if (gab_app_stencil_is_on_face(field, axis)) position[axis] -= half;
}

/* ---------------------------------------------------------------- on a side */

/* Layer 0 is on the side: cell 0 at the lower one, the first ghost at the upper one. */
static int32_t layer_at(int32_t layer, int32_t cells, bool is_upper)
{
  return is_upper ? cells + layer : -layer;
}

void gab_app_stencil_fill_on_side(gab_field *now, const gab_box *along, int field, int axis, bool is_upper,
                                  stencil_side_value *value, void *by)
{
  const int32_t cells = now->shape.cells[axis], last = now->shape.ghosts[axis] - is_upper;
  gab_box box = *along;
  box.lo[axis] = 0;
  box.hi[axis] = 1;
  for (int32_t z = (int32_t)box.lo[2]; z < box.hi[2]; z++)
    for (int32_t y = (int32_t)box.lo[1]; y < box.hi[1]; y++)
      for (int32_t x = (int32_t)box.lo[0]; x < box.hi[0]; x++) {
        int32_t at[3] = {x, y, z}, inside[3] = {x, y, z};
        at[axis] = layer_at(0, cells, is_upper);
        const double here = value(by, field, at);
        gab_field_set(now, at[0], at[1], at[2], field, here);
        for (int32_t layer = 1; layer <= last; layer++) {
          at[axis] = layer_at(layer, cells, is_upper);
          inside[axis] = layer_at(-layer, cells, is_upper);
          gab_field_set(now, at[0], at[1], at[2], field,
                        2 * here - gab_field_get(now, inside[0], inside[1], inside[2], field));
        }
      }
}
