/* SPDX-License-Identifier: Apache-2.0 */
/* Noise on interfaces: random numbers that are a function of seed, step and place, so that they are the same
 * for any decomposition, number of threads, restart and place of the window. */
#include "phasefield/phasefield_impl.h"

#include <math.h>

/* Philox 4x32 with ten rounds (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2,
 * 3"). */
void gab_phasefield_random(const uint32_t counter[4], const uint32_t key[2], uint32_t random[4])
{
  uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; round++) {
    const uint64_t first = UINT64_C(0xD2511F53) * x[0], second = UINT64_C(0xCD9E8D57) * x[2];
    const uint32_t next[4] = {(uint32_t)(second >> 32) ^ x[1] ^ k[0], (uint32_t)second,
                              (uint32_t)(first >> 32) ^ x[3] ^ k[1], (uint32_t)first};
    for (int i = 0; i < 4; i++) x[i] = next[i];
    k[0] += UINT32_C(0x9E3779B9);
    k[1] += UINT32_C(0xBB67AE85);
  }
  for (int i = 0; i < 4; i++) random[i] = x[i];
}

/* The number of a cell in the domain as if its window had never moved. */
static uint64_t place_of(const gab_phasefield_model *model, const gab_phasefield_block *block,
                         const int32_t at[3])
{
  uint64_t place = 0;
  for (int axis = model->axis; axis >= 0; axis--) {
    const int64_t cell = block->first[axis] + at[axis] + (axis == model->axis ? model->shift : 0);
    place = place * (uint64_t)model->domain[axis] + (uint64_t)cell;
  }
  return place;
}

/* Noise does not create or remove phases: a cell of one phase has none. */
static void disturb_cell(const gab_phasefield_model *model, const gab_phasefield_block *block,
                         const int32_t at[3])
{
  const gab_phasefield_noise *noise = &model->options.noise;
  double phi[GAB_MOST_PHASES];
  unsigned active = 0;
  for (int a = 0; a < model->phases; a++) {
    phi[a] = gab_field_get(block->phi_new, at[0], at[1], at[2], a);
    active |= (unsigned)(phi[a] > 0) << a;
  }
  if ((active & (active - 1)) == 0) return;
  const uint64_t place = place_of(model, block, at), step = (uint64_t)model->step;
  const uint32_t key[2] = {(uint32_t)noise->seed, (uint32_t)(noise->seed >> 32)};
  const double size = noise->amplitude * sqrt(3 * model->options.dt);
  uint32_t random[4] = {0};
  for (int a = 0; a < model->phases; a++) {
    if (a % 4 == 0) { /* four phases at a time; no run has 2^62 steps */
      const uint64_t turn = step | (uint64_t)(a / 4) << 62;
      gab_phasefield_random((const uint32_t[4]){(uint32_t)place, (uint32_t)(place >> 32), (uint32_t)turn,
                                                (uint32_t)(turn >> 32)},
                            key, random);
    }
    phi[a] += size * (((double)random[a % 4] - 0x1p31) * 0x1p-31) * (4 * phi[a] * (1 - phi[a]));
  }
  gab_phasefield_project(model->phases, active, phi);
  for (int a = 0; a < model->phases; a++) gab_field_set(block->phi_new, at[0], at[1], at[2], a, phi[a]);
}

gab_status gab_phasefield_run_phi(const gab_phasefield_model *model, const gab_phasefield_job *job)
{
  GAB_TRY(model->kernel->phi(model, job));
  if (model->options.noise.amplitude == 0) return GAB_OK;
  for (int64_t z = job->box.lo[2]; z < job->box.hi[2]; z++)
    for (int64_t y = job->box.lo[1]; y < job->box.hi[1]; y++)
      for (int64_t x = job->box.lo[0]; x < job->box.hi[0]; x++)
        disturb_cell(model, job->block, (const int32_t[3]){(int32_t)x, (int32_t)y, (int32_t)z});
  return GAB_OK;
}
