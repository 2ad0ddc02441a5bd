/* SPDX-License-Identifier: Apache-2.0 */
/* Access to blocks, their fields and positions, and the model of a level. */
#include "phasefield/levels/levels_impl.h"

gab_phasefield_block *gab_phasefield_block_of(const gab_phasefield *phasefield, size_t index)
{
  return gab_block_data(gab_forest_block(phasefield->forest, index), phasefield->data);
}

gab_field *gab_phasefield_field(const gab_phasefield_block *block, gab_phasefield_which which)
{
  gab_field *const fields[] = {[WHICH_PHI] = block->phi,
                               [WHICH_PHI_NEW] = block->phi_new,
                               [WHICH_MU] = block->mu,
                               [WHICH_C] = block->c};
  return fields[which];
}

bool gab_phasefield_is_at_side(const gab_phasefield_model *model, const gab_phasefield_block *block, int side)
{
  const int axis = side / 2;
  return side % 2 == 0 ? block->first[axis] == 0
                       : block->first[axis] + model->cells[axis] == model->domain[axis];
}

const gab_phasefield_model *gab_phasefield_model_of(const gab_phasefield *phasefield, int level)
{
  const gab_phasefield_levels *levels = phasefield->levels;
  return levels && level < levels->finest ? &levels->coarse[level] : &phasefield->model;
}
