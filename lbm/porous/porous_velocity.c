/* SPDX-License-Identifier: Apache-2.0 */
/* Velocities of porous cells, from populations that they have sent and from those that arrive. */
#include "lbm/porous/drag_impl.h"

typedef struct recovery {
  const gab_lbm_model *model;
  int level;
  gab_lbm_row *row;
} recovery;

static void recover_row(void *user, int32_t first, int32_t count, const uint8_t *region,
                        double (*half)[GAB_LBM_ROW])
{
  const recovery *it = user;
  for (int32_t i = 0; i < count; i++) {
    const int32_t k = first + i;
    const double push[3] = {half[0][i], half[1][i], half[2][i]}, rho = 1 + it->row->drho[k];
    double u[3] = {it->row->u[0][k], it->row->u[1][k], it->row->u[2][k]};
    if (region[i] == 0) continue;
    const gab_drag_law law = gab_drag_law_of(&it->model->porous->regions[region[i] - 1], it->level);
    gab_drag_velocity(&law, -1, rho, push, u);
    for (int axis = 0; axis < 3; axis++) it->row->u[axis][k] = u[axis] + push[axis] / rho;
  }
}

void gab_porous_recover(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, int32_t count,
                        gab_lbm_row *row)
{
  recovery it = {.model = model, .level = block->at->level, .row = row};
  gab_porous_visit(model, block, cell, count, recover_row, &it);
}

typedef struct arrival {
  double half[3];
  int region; /* 1 + its number */
} arrival;

static void note_arrival(void *user, int32_t first, int32_t count, const uint8_t *region,
                         double (*half)[GAB_LBM_ROW])
{
  arrival *it = user;
  (void)first, (void)count;
  it->region = region[0];
  for (int axis = 0; axis < 3; axis++) it->half[axis] = half[axis][0];
}

bool gab_porous_arriving(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t number, double rho,
                         double u[3], double force[3])
{
  arrival it = {.region = 0};
  double m[3];
  gab_porous_visit(model, block, number, 1, note_arrival, &it);
  if (it.region == 0) return false;
  const gab_drag_law law = gab_drag_law_of(&model->porous->regions[it.region - 1], block->at->level);
  for (int axis = 0; axis < 3; axis++) m[axis] = u[axis] + it.half[axis] / rho;
  gab_drag_solve(&law, 1, m, u);
  gab_drag_force(&law, rho, u, force);
  return true;
}
