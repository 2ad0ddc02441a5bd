/* SPDX-License-Identifier: Apache-2.0 */
/* Fields with guard cells: an access beyond cells, ghosts or components hits memory that detects it. */
#include "apps/driver/stencil/trial_impl.h"

enum { GUARD = 3, LINE = 8 };

static int32_t round_up(int32_t value) { return (value + LINE - 1) / LINE * LINE; }

/* Rows begin at cache lines, like long rows of a field. */
void gab_app_trial_layout(const gab_field *like, bool diagonals, trial_layout *layout)
{
  const gab_field_shape *shape = &like->shape;
  *layout = (trial_layout){.shape = *shape, .diagonals = diagonals};
  for (int axis = 0; axis < 3; axis++) {
    const int32_t guard = shape->ghosts[axis] > 0 ? shape->ghosts[axis] + GUARD : 1;
    layout->low[axis] = axis == 0 ? round_up(guard) : guard;
    layout->extent[axis] = layout->low[axis] + shape->cells[axis] + guard;
  }
  layout->extent[0] = round_up(layout->extent[0]);
  layout->component = (ptrdiff_t)layout->extent[0] * layout->extent[1] * layout->extent[2];
  if (layout->component < like->map.component_stride)
    layout->component = (like->map.component_stride + LINE - 1) / LINE * LINE;
  layout->elements = (size_t)layout->component * (size_t)(shape->components + 2);
}

trial_place gab_app_trial_place(const trial_layout *layout, size_t element)
{
  ptrdiff_t rest = (ptrdiff_t)element % layout->component;
  trial_place place = {.component = (int)((ptrdiff_t)element / layout->component) - 1};
  for (int axis = 0; axis < 3; axis++) {
    place.at[axis] = (int32_t)(axis < 2 ? rest % layout->extent[axis] : rest) - layout->low[axis];
    rest /= layout->extent[axis];
  }
  return place;
}

trial_region gab_app_trial_region(const trial_layout *layout, const trial_place *place)
{
  int outside = 0;
  if (place->component < 0 || place->component >= layout->shape.components) return TRIAL_COMPONENT;
  for (int axis = 0; axis < 3; axis++) {
    const int32_t at = place->at[axis], cells = layout->shape.cells[axis],
                  ghosts = layout->shape.ghosts[axis];
    if (at < -ghosts || at >= cells + ghosts) return TRIAL_BEYOND;
    outside += at < 0 || at >= cells;
  }
  if (outside == 0) return TRIAL_CELL;
  return outside == 1 || layout->diagonals ? TRIAL_GHOST : TRIAL_UNFILLED;
}

gab_field gab_app_trial_view(const trial_layout *layout, double *memory)
{
  gab_field view = {.shape = layout->shape, .data = memory + layout->component};
  view.map.stride[0] = 1;
  view.map.stride[1] = layout->extent[0];
  view.map.stride[2] = (ptrdiff_t)layout->extent[0] * layout->extent[1];
  view.map.component_stride = layout->component;
  for (int axis = 0; axis < 3; axis++) view.map.origin += layout->low[axis] * view.map.stride[axis];
  view.map.elements = (size_t)layout->component * (size_t)layout->shape.components;
  return view;
}

void gab_app_trial_copy(const trial_layout *layout, gab_field *to, const gab_field *from)
{
  const gab_box all = gab_field_whole(from), cells = gab_field_interior(from);
  const int components = layout->shape.components;
  if (layout->diagonals) {
    gab_field_copy_box(to, &all, from, &all, NULL, components);
    return;
  }
  for (int axis = 0; axis < 3; axis++) { /* the cells, longer along one axis */
    gab_box box = cells;
    box.lo[axis] = all.lo[axis];
    box.hi[axis] = all.hi[axis];
    gab_field_copy_box(to, &box, from, &box, NULL, components);
  }
}
