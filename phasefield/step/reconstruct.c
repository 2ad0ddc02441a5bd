/* SPDX-License-Identifier: Apache-2.0 */
/* Approximation of blocks without any copy: concentrations from phases, their Gibbs energies and the temperature (Kohl et al.
 * 2017, section 5.1), phases and chemical potentials from those across the faces of the block. */
#include "blockforest/forest/direction.h"
#include "phasefield/phasefield_impl.h"

#include <math.h>
#include <string.h>

/* Chemical potentials of the phases in a row: a solid's are those of its tie line with the melt at the
 * temperature of the row, the melt's those of the reservoir above or, beyond a closed side, the mean of the
 * solids. */
typedef struct row_potentials {
  double of[GAB_MOST_PHASES][GAB_MOST_INDEPENDENTS];
} row_potentials;

static row_potentials potentials_at(const gab_phasefield_model *model, int64_t row)
{
  const gab_phasefield_side *top = &model->options.sides[2 * model->axis + 1];
  const double temperature = gab_phasefield_row_temperature(model, row, model->step);
  row_potentials made = {{{0}}};
  for (int a = 0; a < model->melt; a++) {
    memcpy(made.of[a], model->options.mu, sizeof made.of[a]);
    if (gab_thermo_tie_line(&model->options.thermo, a, model->melt, temperature, made.of[a]) != GAB_OK)
      memcpy(made.of[a], model->options.mu, sizeof made.of[a]); /* it does not melt here */
    for (int i = 0; i < model->independents; i++) made.of[model->melt][i] += made.of[a][i] / model->melt;
  }
  if (top->kind == GAB_PHASEFIELD_RESERVOIR) memcpy(made.of[model->melt], top->mu, sizeof top->mu);
  return made;
}

/* State across a face of the block from a cell. */
typedef struct across {
  int32_t ghost[3];
  double weight; /* the nearer the more */
} across;

static across look_across(const gab_phasefield_model *model, const int32_t at[3], int face)
{
  const int axis = face / 2;
  across seen = {.ghost = {at[0], at[1], at[2]}};
  seen.ghost[axis] = face % 2 == 0 ? -1 : model->cells[axis];
  const double gap = at[axis] - seen.ghost[axis];
  seen.weight = 1 / (gap * gap);
  return seen;
}

/* mu across the faces from c there, if the same phases are present: the potential of a solid when the front passed,
 * and that of the melt before enrichment or depletion. @return false if none of the cells has these phases */
static bool potentials_across(const gab_phasefield_model *model, const gab_phasefield_block *block,
                              const int32_t at[3], unsigned faces, const double *phi, double *mu)
{
  double sum = 0, sums[GAB_MOST_INDEPENDENTS] = {0};
  for (int face = 0; face < 2 * model->dimension; face++) {
    double theirs[GAB_MOST_PHASES], c[GAB_MOST_INDEPENDENTS], potential[GAB_MOST_INDEPENDENTS], common = 0;
    if (!(faces >> face & 1)) continue;
    const across seen = look_across(model, at, face);
    for (int a = 0; a < model->phases; a++) {
      theirs[a] = gab_field_get(block->phi, seen.ghost[0], seen.ghost[1], seen.ghost[2], a);
      common += phi[a] * theirs[a];
    }
    if (!(common > 0)) continue;
    for (int i = 0; i < model->independents; i++)
      c[i] = gab_field_get(block->c, seen.ghost[0], seen.ghost[1], seen.ghost[2], i);
    const gab_phasefield_slice slice =
        gab_phasefield_slice_at(model, block->first[model->axis] + seen.ghost[model->axis], model->step);
    gab_phasefield_mu_of_c(model, &slice, theirs, c, potential);
    sum += seen.weight * common;
    for (int i = 0; i < model->independents; i++) sums[i] += seen.weight * common * potential[i];
  }
  for (int i = 0; i < model->independents && sum > 0; i++) mu[i] = sums[i] / sum;
  return sum > 0;
}

/* @param[in] faces  bits of those across which c is known, too */
static void concentrations(const gab_phasefield_model *model, gab_phasefield_block *block, unsigned faces)
{
  gab_phasefield_slice slice = {0};
  row_potentials row = {{{0}}};
  int32_t at[3], last = -1;
  for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < model->cells[1]; at[1]++) {
      if (at[model->axis] != last) {
        last = at[model->axis];
        slice = gab_phasefield_slice_at(model, block->first[model->axis] + last, model->step);
        row = potentials_at(model, block->first[model->axis] + last);
      }
      for (at[0] = 0; at[0] < model->cells[0]; at[0]++) {
        double phi[GAB_MOST_PHASES], mu[GAB_MOST_INDEPENDENTS] = {0}, c[GAB_MOST_INDEPENDENTS];
        for (int a = 0; a < model->phases; a++) phi[a] = gab_field_get(block->phi, at[0], at[1], at[2], a);
        if (!potentials_across(model, block, at, faces, phi, mu))
          for (int a = 0; a < model->phases; a++)
            for (int i = 0; i < model->independents; i++) mu[i] += phi[a] * row.of[a][i];
        gab_phasefield_c_of_mu(model, &slice, phi, mu, c);
        for (int i = 0; i < model->independents; i++) gab_field_set(block->c, at[0], at[1], at[2], i, c[i]);
      }
    }
}

/* The amount of melt follows from the faces along the isotherm, if any: fronts are normal to the growth, and so keep
 * their profile. The kind of solid follows from all faces: grains are longer along the growth than wide. */
static void phases_at(const gab_phasefield_model *model, gab_field *phi, const int32_t at[3], unsigned faces)
{
  static const double slenderness = 4;
  const unsigned along = 3U << 2 * model->axis, asked = faces & ~along ? faces & ~along : faces;
  double votes[GAB_MOST_PHASES] = {0}, melt = 0, sum = 0;
  int most = 0;
  for (int face = 0; face < 2 * model->dimension; face++) {
    if (!(faces >> face & 1)) continue;
    const across seen = look_across(model, at, face);
    const double weight = seen.weight * (along >> face & 1 ? slenderness * slenderness : 1);
    for (int a = 0; a < model->melt; a++)
      votes[a] += weight * gab_field_get(phi, seen.ghost[0], seen.ghost[1], seen.ghost[2], a);
    if (!(asked >> face & 1)) continue;
    melt += seen.weight * gab_field_get(phi, seen.ghost[0], seen.ghost[1], seen.ghost[2], model->melt);
    sum += seen.weight;
  }
  melt /= sum;
  if (!(asked & ~along)) melt = 2 * melt > 1; /* between solid below and melt above no profile is known */
  if (melt < GAB_PHASEFIELD_LEAST_PHI) melt = 0;
  if (melt > 1 - GAB_PHASEFIELD_LEAST_PHI) melt = 1;
  for (int a = 1; a < model->melt; a++)
    if (votes[a] > votes[most]) most = a;
  for (int a = 0; a < model->phases; a++)
    gab_field_set(phi, at[0], at[1], at[2], a, a == model->melt ? melt : a == most ? 1 - melt : 0);
}

static void make_phases(const gab_phasefield_model *model, gab_phasefield_block *block, unsigned faces)
{
  int32_t at[3];
  for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < model->cells[1]; at[1]++)
      for (at[0] = 0; at[0] < model->cells[0]; at[0]++) phases_at(model, block->phi, at, faces);
}

gab_status gab_phasefield_reconstruct(void *phasefield, const gab_forest *forest, const gab_block *place,
                                      void *data, unsigned known)
{
  enum { FACES = 63 };
  gab_phasefield *it = phasefield;
  gab_phasefield_block *block = data;
  const gab_phasefield_model *model = block->model;
  const unsigned faces = known / GAB_PHASEFIELD_KNOWS_FACE_0 & FACES;
  if (!(known & GAB_PHASEFIELD_KNOWS_PHI) && faces == 0) {
    GAB_TRY(gab_phasefield_initialise(it, forest, place, data));
  } else if (!(known & GAB_PHASEFIELD_KNOWS_PHI)) make_phases(model, block, faces);
  concentrations(model, block, known & GAB_PHASEFIELD_KNOWS_FACE_C ? faces : 0);
#pragma omp atomic write
  it->revision = 0;
  return GAB_OK;
}

gab_status gab_phasefield_gather(void *phasefield)
{
  gab_phasefield *it = phasefield;
  it->revision = 0;
  it->phi_ghosts.which = WHICH_PHI;
  GAB_TRY(gab_exchange_start(it->phi_exchange));
  GAB_TRY(gab_exchange_finish(it->phi_exchange));
  GAB_TRY(gab_exchange_start(it->c_exchange));
  return gab_exchange_finish(it->c_exchange);
}

gab_status gab_phasefield_approximate(void *phasefield, const gab_forest *forest, const gab_block *place,
                                      void *data, uint32_t known)
{
  unsigned faces = GAB_PHASEFIELD_KNOWS_FACE_C;
  for (int face = 0; face < 6; face++) {
    int offset[3] = {0, 0, 0};
    offset[face / 2] = face % 2 == 0 ? -1 : 1;
    if (known >> gab_direction_of(offset[0], offset[1], offset[2]) & 1)
      faces |= (unsigned)GAB_PHASEFIELD_KNOWS_FACE_0 << face;
  }
  return gab_phasefield_reconstruct(phasefield, forest, place, data, faces);
}
