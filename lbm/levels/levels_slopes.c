#include "lbm/levels/levels_slopes_impl.h"

#include <string.h>

void gab_level_find_entries(const gab_level_maker *by, const int32_t coarse[3], int q,
                            gab_level_entry entries[GAB_CHILD_COUNT_MAX])
{
  const int dimension = by->model->lattice->dimension;
  for (int child = 0; child < 1 << dimension; ++child) {
    gab_path_state start = {.q = q}, middle, end;
    gab_path_step before;
    gab_level_entry *found = &entries[child];
    for (int axis = 0; axis < 3; ++axis)
      start.cell[axis] = axis < dimension ? 2 * coarse[axis] + (child >> axis & 1) : coarse[axis];
    gab_path_kind kind = gab_path_forth(&by->paths, &start, &middle);
    *found = (gab_level_entry){.sub = kind == GAB_PATH_FINE ? 1 : 0};
    memcpy(found->cell, middle.cell, sizeof found->cell);
    if (found->sub == 1) {
      gab_path_back(&by->paths, &start, &before);
      found->is_open = before.kind == GAB_PATH_OPEN;
    } else if (kind == GAB_PATH_COARSE && gab_path_forth(&by->paths, &middle, &end) == GAB_PATH_FINE) {
      found->sub = 2;
      memcpy(found->cell, end.cell, sizeof found->cell);
    }
  }
}

int gab_level_entry_weight(const gab_level_maker *by, const gab_level_entry *found, int child, int q,
                           int axis)
{
  const int half = (child >> axis & 1) ? 1 : -1, c = by->model->lattice->c[q][axis];
  return half + (found->sub == 1 ? -c : c);
}

void gab_level_find_slopes(const gab_level_maker *by, const int32_t coarse[3], int q,
                           const gab_level_entry entries[GAB_CHILD_COUNT_MAX], gab_level_interface_give *give)
{
  const int dimension = by->model->lattice->dimension;
  give->before = give->behind = 0;
  for (int axis = 0; axis < dimension; ++axis) {
    int sum = 0;
    uint8_t use[2] = {0, 0};
    bool is_free = true;
    for (int child = 0; child < 1 << dimension; ++child)
      if (entries[child].sub > 0) sum += gab_level_entry_weight(by, &entries[child], child, q, axis);
    for (int side = 0; side < 2; ++side) {
      int32_t beside[3] = {coarse[0], coarse[1], coarse[2]}, place[3];
      beside[axis] += side == 0 ? -1 : 1;
      for (int k = 0; k < 3; ++k) place[k] = k < dimension ? 2 * beside[k] : beside[k];
      const int kind = gab_level_view_look(&by->view, place).kind;
      const bool is_here = beside[axis] >= 0 && beside[axis] < by->model->cells[axis];
      is_free = is_free && kind != GAB_PATH_FINE && kind != GAB_PATH_FINE_WALL;
      use[side] = kind == GAB_PATH_COARSE && is_here;
    }
    if (!is_free || sum != 0) continue;
    give->before |= (uint8_t)(use[0] << axis);
    give->behind |= (uint8_t)(use[1] << axis);
  }
}
