/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/porous/drag_impl.h"

#include <math.h>
#include <string.h>

double gab_lbm_shear_rate(double gradient[3][3])
{
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += gradient[i][j] * (gradient[i][j] + gradient[j][i]);
  return sqrt(fmax(sum, 0));
}

/* Populations after collision: equilibrium, (1 - omega) of the non-equilibrium that belongs to a velocity
 * gradient, f1 = -w rho / (omega c_s^2) (c c - c_s^2 1):grad u (Chapman & Enskog, first order), and half of
 * the force's source, which is what f1 lacks and the collision adds. */
double gab_lbm_population(const gab_lbm_model *model, const gab_level_model *at, int q,
                          const gab_lbm_state *state)
{
  const double *u = state->velocity, *force = at->rates.force;
  const int8_t *c = model->lattice->c[q];
  const gab_collision *collision = model->options.collision;
  double w = model->lattice->weight[q], omega = at->rates.even;
  if (collision->rate_of_strain) {
    double gradient[3][3];
    memcpy(gradient, state->gradient, sizeof gradient);
    omega = collision->rate_of_strain(&at->rates, gab_lbm_shear_rate(gradient));
  }
  double stress = 0, cu = 0, cf = 0, uf = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) stress += (c[i] * c[j] - (i == j ? 1.0 / 3.0 : 0.0)) * state->gradient[i][j];
    cu += c[i] * u[i];
    cf += c[i] * force[i];
    uf += u[i] * force[i];
  }
  stress = ldexp(stress, -at->level); /* the gradients are per cell of level 0 */
  double relaxed = -(1 - omega) * 3 * w * state->density / omega * stress;
  double source = w * (3 * (cf - uf) + 9 * cu * cf);
  return gab_lbm_equilibrium(model, q, state->density - 1, u) + relaxed + 0.5 * source;
}

gab_lbm_state gab_lbm_uniform_state(const gab_lbm_options *options)
{
  return (gab_lbm_state){.density = options->density,
                         .velocity = {options->velocity[0], options->velocity[1], options->velocity[2]}};
}

void gab_lbm_initialise(const gab_lbm_model *model, const gab_forest *forest, const gab_block *block,
                        gab_lbm_block *data)
{
  const gab_lbm_options *options = &model->options;
  for (size_t k = 0; k < data->run_count; k++)
    for (int32_t i = 0; i < data->runs[k].length; i++) {
      const gab_run *run = &data->runs[k];
      gab_lbm_state state = gab_lbm_uniform_state(options);
      if (options->initial) {
        double centre[3];
        gab_block_cell_centre(forest, block, run->x + i, run->y, run->z, centre);
        options->initial(options->initial_user, centre, &state);
      }
      double f[GAB_LATTICE_MAX_Q];
      for (int q = 0; q < model->lattice->q; q++) f[q] = gab_lbm_population(model, data->at, q, &state);
      gab_porous_put(model, data, (const int32_t[3]){run->x + i, run->y, run->z}, f);
      for (int q = 0; q < model->lattice->q; q++)
        gab_value_set(data->src, gab_place(run->start + (uint32_t)i, data->now->sent[q]), f[q]);
    }
}
