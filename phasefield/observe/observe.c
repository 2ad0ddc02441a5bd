/* SPDX-License-Identifier: Apache-2.0 */
/* Integrals and checks. */
#include "core/messages/collective.h"
#include "phasefield/phasefield_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const gab_phasefield_options *gab_phasefield_get_options(const gab_phasefield *phasefield)
{
  return &phasefield->model.options;
}
const char *gab_phasefield_kernel_name(const gab_phasefield *phasefield)
{
  return phasefield->model.kernel->name;
}
gab_data_id gab_phasefield_data(const gab_phasefield *phasefield) { return phasefield->data; }
double gab_phasefield_temperature_at(const gab_phasefield *phasefield, int64_t row)
{
  return gab_phasefield_row_temperature(&phasefield->model, row, phasefield->model.step);
}

gab_phasefield_view gab_phasefield_look(const gab_phasefield *phasefield, const gab_block *block)
{
  gab_phasefield_block *data = gab_block_data(block, phasefield->data);
  if (phasefield->revision != gab_forest_revision(phasefield->forest))
    gab_phasefield_make_mu(data->model, data);
  return (gab_phasefield_view){.phi = data->phi, .c = data->c, .mu = data->mu};
}

/* ------------------------------------------------------------------------------------------ integrals */

enum { SUM_PHI = 0, SUM_C = GAB_MOST_PHASES, SUM_ENERGY = SUM_C + GAB_MOST_INDEPENDENTS, SUM_COUNT };

/* |q_ab|^2 on the upper face of a cell, as far as it goes across that face: summed over the axes it is all of
 * it. In the direction of an anisotropic pair it counts a_ab^2. */
static double face_square(const gab_phasefield_model *model, const gab_field_map *map, const double *cell,
                          int axis, int p, int q)
{
  const double *one = cell + p * map->component_stride, *other = cell + q * map->component_stride;
  const ptrdiff_t up = map->stride[axis];
  const double cross = (one[0] * other[up] - other[0] * one[up]) / model->dx;
  if (model->options.anisotropy[p][q] == 0) return cross * cross;
  double direction[3];
  gab_phasefield_face_q(model, map, cell, axis, p, q, direction);
  const double a =
      gab_phasefield_anisotropy(model->dimension, model->options.anisotropy[p][q], direction, NULL) * cross;
  return a * a;
}

/* w of a cell, and a of its upper faces: the fluxes also use differences over one cell. */
static double interface_energy(const gab_phasefield_model *model, const gab_field *field, const int32_t at[3])
{
  const bool obstacle = model->options.potential == GAB_POTENTIAL_OBSTACLE;
  const ptrdiff_t next = field->map.component_stride;
  const double *cell = (const double *)field->data + gab_field_index(&field->map, at[0], at[1], at[2], 0);
  double a = 0, w = 0;
  for (int p = 0; p < model->phases; p++)
    for (int q = p + 1; q < model->phases; q++) {
      const double *one = cell + p * next, *other = cell + q * next, product = *one * *other;
      for (int k = 0; k < model->dimension; k++)
        a += model->options.gamma[p][q] * face_square(model, &field->map, cell, k, p, q);
      w += model->options.gamma[p][q] * (obstacle ? 1.6211389382774043 * product : 9 * product * product);
      for (int r = q + 1; r < model->phases; r++) w += model->gamma3[p][q][r] * product * cell[r * next];
    }
  return model->options.epsilon * a + w / model->options.epsilon;
}

static void add_block(const gab_phasefield_block *block, gab_exact_sum *sums)
{
  const gab_phasefield_model *model = block->model;
  const double weight =
      (double)((int64_t)1 << (model->coarser * model->dimension)); /* cells of the finest level */
  int32_t at[3];
  for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < model->cells[1]; at[1]++)
      for (at[0] = 0; at[0] < model->cells[0]; at[0]++) {
        for (int a = 0; a < model->phases; a++)
          gab_exact_add(&sums[SUM_PHI + a], weight * gab_field_get(block->phi, at[0], at[1], at[2], a));
        for (int i = 0; i < model->independents; i++)
          gab_exact_add(&sums[SUM_C + i], weight * gab_field_get(block->c, at[0], at[1], at[2], i));
        gab_exact_add(&sums[SUM_ENERGY], weight * interface_energy(model, block->phi, at));
      }
}

gab_status gab_phasefield_integrate(gab_phasefield *phasefield, gab_phasefield_integrals *integrals)
{
  const gab_phasefield_model *model = &phasefield->model;
  gab_exact_sum sums[SUM_COUNT] = {{{0}, 0, 0}};
  if (phasefield->levels) GAB_TRY(gab_phasefield_settle(phasefield)); /* finds the neighbours */
  phasefield->phi_ghosts.which = WHICH_PHI;
  GAB_TRY(gab_exchange_start(phasefield->phi_exchange));
  GAB_TRY(gab_exchange_finish(phasefield->phi_exchange));
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    gab_phasefield_fill_rest(block, WHICH_PHI);
    add_block(block, sums);
  }
  GAB_TRY(gab_world_sum_exact(gab_forest_world(phasefield->forest), sums, SUM_COUNT));
  *integrals = (gab_phasefield_integrals){.cells = (double)model->domain[0] * (double)model->domain[1] *
                                                   (double)model->domain[2]};
  for (int a = 0; a < model->phases; a++) integrals->fraction[a] = gab_exact_value(&sums[SUM_PHI + a]);
  for (int i = 0; i < model->independents; i++) integrals->content[i] = gab_exact_value(&sums[SUM_C + i]);
  integrals->energy = gab_exact_value(&sums[SUM_ENERGY]) * pow(model->dx, model->dimension);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ divergence */

static gab_status check_cell(const gab_phasefield_model *model, const gab_phasefield_block *block,
                             const int32_t at[3])
{
  double sum = 0, least = 0, content = 0;
  for (int a = 0; a < model->phases; a++) {
    double phi = gab_field_get(block->phi, at[0], at[1], at[2], a);
    sum += phi;
    if (!(phi >= least)) least = phi;
  }
  for (int i = 0; i < model->independents; i++) content += gab_field_get(block->c, at[0], at[1], at[2], i);
  /* Written so that a NaN is wrong. */
  if (fabs(sum - 1) < 1e-9 && least >= 0 && fabs(content) < 1e6) return GAB_OK;
  GAB_FAIL(GAB_ERR_DIVERGED,
           "the phase field diverged at step %" GAB_PRI_STEP ": cell (%" PRId64 ", %" PRId64 ", %" PRId64
           ") has fractions from %g with the sum %.17g and concentrations with the sum %g",
           model->step, block->first[0] + at[0], block->first[1] + at[1], block->first[2] + at[2], least, sum,
           content);
}

gab_status gab_phasefield_check_finite(const gab_phasefield *phasefield)
{
  const gab_phasefield_model *model = &phasefield->model;
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    int32_t at[3];
    for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
      for (at[1] = 0; at[1] < model->cells[1]; at[1]++)
        for (at[0] = 0; at[0] < model->cells[0]; at[0]++) GAB_TRY(check_cell(model, block, at));
  }
  return GAB_OK;
}
