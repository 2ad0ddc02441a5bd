/* What no copy holds any more, approximately: concentrations from phases, their Gibbs energies and the
 * temperature (Kohl et al. 2017, section 5.1), phases from those across the faces of the block. */
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
  for (int a = 0; a < model->melt; ++a) {
    memcpy(made.of[a], model->options.mu, sizeof made.of[a]);
    if (gab_thermo_tie_line(&model->options.thermo, a, model->melt, temperature, made.of[a]) != GAB_OK)
      memcpy(made.of[a], model->options.mu, sizeof made.of[a]); /* it does not melt here */
    for (int i = 0; i < model->independents; ++i) made.of[model->melt][i] += made.of[a][i] / model->melt;
  }
  if (top->kind == GAB_PHASEFIELD_RESERVOIR) memcpy(made.of[model->melt], top->mu, sizeof top->mu);
  return made;
}

static void concentrations(const gab_phasefield_model *model, gab_phasefield_block *block)
{
  gab_phasefield_slice slice = {0};
  row_potentials row = {{{0}}};
  int32_t at[3], last = -1;
  for (at[2] = 0; at[2] < model->cells[2]; ++at[2])
    for (at[1] = 0; at[1] < model->cells[1]; ++at[1]) {
      if (at[model->axis] != last) {
        last = at[model->axis];
        slice = gab_phasefield_slice_at(model, block->first[model->axis] + last, model->step);
        row = potentials_at(model, block->first[model->axis] + last);
      }
      for (at[0] = 0; at[0] < model->cells[0]; ++at[0]) {
        double phi[GAB_MOST_PHASES], mu[GAB_MOST_INDEPENDENTS] = {0}, c[GAB_MOST_INDEPENDENTS];
        for (int a = 0; a < model->phases; ++a) {
          phi[a] = gab_field_get(block->phi, at[0], at[1], at[2], a);
          for (int i = 0; i < model->independents; ++i) mu[i] += phi[a] * row.of[a][i];
        }
        gab_phasefield_c_of_mu(model, &slice, phi, mu, c);
        for (int i = 0; i < model->independents; ++i) gab_field_set(block->c, at[0], at[1], at[2], i, c[i]);
      }
    }
}

/* The phase of which there is most across the faces, the nearer the more. */
static int phase_from_faces(const gab_phasefield_model *model, const gab_field *phi, const int32_t at[3],
                            unsigned faces)
{
  double votes[GAB_MOST_PHASES] = {0};
  int most = 0;
  for (int face = 0; face < 2 * model->dimension; ++face) {
    if (!(faces >> face & 1)) continue;
    const int axis = face / 2;
    int32_t ghost[3] = {at[0], at[1], at[2]};
    ghost[axis] = face % 2 == 0 ? -1 : model->cells[axis];
    const double gap = at[axis] - ghost[axis];
    for (int a = 0; a < model->phases; ++a)
      votes[a] += gab_field_get(phi, ghost[0], ghost[1], ghost[2], a) / (gap * gap);
  }
  for (int a = 1; a < model->phases; ++a)
    if (votes[a] > votes[most]) most = a;
  return most;
}

gab_status gab_phasefield_reconstruct(void *phasefield, const gab_forest *forest, const gab_block *place,
                                      void *data, unsigned known)
{
  gab_phasefield *it = phasefield;
  gab_phasefield_block *block = data;
  const gab_phasefield_model *model = block->model;
  const unsigned faces = known >> 1;
  if (!(known & GAB_PHASEFIELD_KNOWS_PHI) && faces == 0) {
    const gab_block_data_kind kind = gab_phasefield_block_kind(it);
    GAB_TRY(kind.initialise(kind.user, forest, place, data));
  } else if (!(known & GAB_PHASEFIELD_KNOWS_PHI)) {
    int32_t at[3];
    for (at[2] = 0; at[2] < model->cells[2]; ++at[2])
      for (at[1] = 0; at[1] < model->cells[1]; ++at[1])
        for (at[0] = 0; at[0] < model->cells[0]; ++at[0]) {
          const int phase = phase_from_faces(model, block->phi, at, faces);
          for (int a = 0; a < model->phases; ++a)
            gab_field_set(block->phi, at[0], at[1], at[2], a, a == phase ? 1 : 0);
        }
  }
  concentrations(model, block);
  it->revision = 0;
  return GAB_OK;
}
