/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/lbm_impl.h"

gab_step gab_lbm_get_step(const gab_lbm *lbm) { return lbm->step; }
void gab_lbm_set_step(gab_lbm *lbm, gab_step step) { lbm->step = step; }

gab_status gab_lbm_clear_solid(gab_lbm *lbm)
{
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++)
    GAB_TRY(gab_lbm_clear_solid_of(&lbm->model, gab_block_data(gab_forest_block(lbm->forest, i), lbm->data)));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ facts */

const gab_lbm_options *gab_lbm_get_options(const gab_lbm *lbm) { return &lbm->model.options; }
const gab_geometry *gab_lbm_get_geometry(const gab_lbm *lbm) { return lbm->model.geometry; }
const char *gab_lbm_kernel_name(const gab_lbm *lbm) { return lbm->model.kernel->name; }
double gab_lbm_viscosity(const gab_lbm *lbm) { return (1 / lbm->model.level[0].rates.even - 0.5) / 3; }

gab_lbm_counts gab_lbm_count(const gab_lbm *lbm)
{
  gab_lbm_counts counts = {0};
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    const int32_t *cells = lbm->model.cells;
    const gab_links *links = &block->links;
    counts.fluid_cells += block->fluid_cells;
    counts.cells += (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2];
    counts.links += links->copied_cells + links->velocity_count + links->linear_count + links->open_count;
    counts.fallback_links += links->fallbacks;
  }
  return counts;
}
