/* SPDX-License-Identifier: Apache-2.0 */
/* The initial state of a cell of any level and of a block. */
#include "phasefield/levels/levels_impl.h"

#include <math.h>
#include <string.h>

/* Apart from rounding of the projection, e.g. in single precision. */
static bool is_on_simplex(int phases, const double *phi)
{
  double sum = 0;
  bool inside = true;
  for (int a = 0; a < phases; a++) {
    sum += phi[a];
    inside = inside && (phi[a] == 0 || phi[a] > GAB_PHASEFIELD_LEAST_PHI);
  }
  return inside && fabs(sum - 1) < 1e-14;
}

void gab_phasefield_initial_cell(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                                 const int64_t cell[3], double *phi, double *c)
{
  const gab_phasefield_options *options = &model->options;
  double mu[GAB_MOST_INDEPENDENTS];
  memset(phi, 0, GAB_MOST_PHASES * sizeof *phi);
  memcpy(mu, options->mu, sizeof mu);
  options->initial(options->initial_user, cell, phi, mu);
  if (options->initial_as_stored && is_on_simplex(model->phases, phi)) {
    memcpy(c, mu, (size_t)model->independents * sizeof *c);
    return;
  }
  gab_phasefield_project(model->phases, (1U << model->phases) - 1, phi);
  if (options->initial_as_stored) memcpy(c, mu, (size_t)model->independents * sizeof *c);
  else gab_phasefield_c_of_mu(model, slice, phi, mu, c);
}

bool gab_phasefield_initial_mean(const gab_phasefield *phasefield, const int64_t cell[3], int coarser,
                                 double *phi, double *c)
{
  const gab_phasefield_model *model = &phasefield->model;
  if (coarser == 0) {
    const gab_phasefield_slice slice = gab_phasefield_slice_at(model, cell[model->axis], model->step);
    gab_phasefield_initial_cell(model, &slice, cell, phi, c);
    return true;
  }
  const int parts = 1 << model->dimension;
  double all[GAB_MOST_INDEPENDENTS][8];
  for (int part = 0; part < parts; part++) {
    int64_t at[3];
    double of_phi[GAB_MOST_PHASES], of_c[GAB_MOST_INDEPENDENTS];
    for (int axis = 0; axis < 3; axis++)
      at[axis] = axis < model->dimension ? 2 * cell[axis] + (part >> axis & 1) : cell[axis];
    if (!gab_phasefield_initial_mean(phasefield, at, coarser - 1, of_phi, of_c)) return false;
    for (int a = 0; a < model->phases; a++)
      if ((of_phi[a] != 0 && of_phi[a] != 1) || (part > 0 && of_phi[a] != phi[a])) return false;
    memcpy(phi, of_phi, (size_t)model->phases * sizeof *phi);
    for (int i = 0; i < model->independents; i++) all[i][part] = of_c[i];
  }
  for (int i = 0; i < model->independents; i++) c[i] = gab_phasefield_mean_of_parts(all[i], model->dimension);
  return true;
}

gab_status gab_phasefield_initialise(void *user, const gab_forest *forest, const gab_block *place, void *data)
{
  (void)forest, (void)place;
  gab_phasefield_block *block = data;
  const gab_phasefield_model *model = block->model;
  for (int32_t z = 0; z < model->cells[2]; z++)
    for (int32_t y = 0; y < model->cells[1]; y++) {
      const int64_t row = block->first[model->axis] + (model->axis == 2 ? z : y);
      const gab_phasefield_slice slice = gab_phasefield_slice_at(model, row, model->step);
      for (int32_t x = 0; x < model->cells[0]; x++) {
        const int64_t cell[3] = {block->first[0] + x, block->first[1] + y, block->first[2] + z};
        double phi[GAB_MOST_PHASES], c[GAB_MOST_INDEPENDENTS];
        if (!gab_phasefield_is_coarse(block)) gab_phasefield_initial_cell(model, &slice, cell, phi, c);
        else if (!gab_phasefield_initial_mean(user, cell, model->coarser, phi, c))
          GAB_FAIL(GAB_ERR_STATE,
                   "cell (%" PRId64 ", %" PRId64 ", %" PRId64
                   ") of width %g has an interface at the start: there the grid must be fine",
                   cell[0], cell[1], cell[2], model->dx);
        for (int a = 0; a < model->phases; a++) gab_field_set(block->phi, x, y, z, a, phi[a]);
        for (int i = 0; i < model->independents; i++) gab_field_set(block->c, x, y, z, i, c[i]);
      }
    }
  const gab_phasefield_options *options = &model->options;
  return options->initial_status ? options->initial_status(options->initial_user) : GAB_OK;
}
