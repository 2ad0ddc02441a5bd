/* SPDX-License-Identifier: Apache-2.0 */
/* Temperature of a row of cells, and values that follow from it.
 *
 * They are equal for all blocks side by side, and in small blocks take as long to compute as a sweep of melt. So they are kept
 * for all rows of a level and a step; the next step starts with those of the later time. The table only saves work: missing
 * entries are computed. */
#include "phasefield/phasefield_impl.h"

/* From integers, so that it is the same for a window that has moved as for a domain that is longer. */
double gab_phasefield_row_temperature(const gab_phasefield_model *model, int64_t row, gab_step step)
{
  const gab_phasefield_temperature *t = &model->options.temperature;
  const double x = model->origin + ((double)(row + model->shift) + 0.5) * model->dx;
  return t->value + t->gradient * (x - t->velocity * ((double)step * model->options.dt));
}

static gab_phasefield_slice make_slice(const gab_phasefield_model *model, int64_t row, gab_step step)
{
  gab_phasefield_slice slice;
  const double temperature = gab_phasefield_row_temperature(model, row, step);
  for (int a = 0; a < model->phases; a++) {
    gab_phase_state state = gab_thermo_state(&model->options.thermo, a, temperature);
    slice.base[a] = state.constant;
    for (int i = 0; i < model->independents; i++) {
      slice.offset[a][i] = state.offset[i];
      slice.base[a] += 0.5 * state.xi[i] * state.offset[i];
    }
  }
  return slice;
}

static bool is_of(const gab_phasefield_slices *kept, const gab_phasefield_model *model)
{
  return kept && kept->count > 0 && kept->shift == model->shift;
}

gab_phasefield_slice gab_phasefield_slice_at(const gab_phasefield_model *model, int64_t row, gab_step step)
{
  const gab_phasefield_slices *kept = model->slices;
  if (is_of(kept, model) && (step == kept->step || step == kept->step + 1) && row >= kept->first &&
      row < kept->first + kept->count)
    return kept->at[step - kept->step][row - kept->first];
  return make_slice(model, row, step);
}

static gab_status reserve(gab_phasefield_slices *kept, int64_t count)
{
  if (count <= kept->capacity) return GAB_OK;
  gab_phasefield_slices_release(kept);
  for (int i = 0; i < 2; i++) { GAB_TRY(GAB_NEW_ARRAY(&kept->at[i], (size_t)count, GAB_MEMORY_OTHER)); }
  kept->capacity = count;
  return GAB_OK;
}

static void make(const gab_phasefield_model *model, gab_phasefield_slices *kept, int i)
{
  for (int64_t row = 0; row < kept->count; row++)
    kept->at[i][row] = make_slice(model, kept->first + row, kept->step + i);
}

gab_status gab_phasefield_slices_fill(const gab_phasefield_model *model, int64_t first, int64_t last)
{
  gab_phasefield_slices *kept = model->slices;
  const bool covers = is_of(kept, model) && first == kept->first && last - first == kept->count;
  if (!kept || (covers && kept->step == model->step)) return GAB_OK;
  const bool follows = covers && kept->step + 1 == model->step;
  GAB_TRY(reserve(kept, last - first));
  kept->first = first;
  kept->count = last - first;
  kept->step = model->step;
  kept->shift = model->shift;
  if (follows) {
    gab_phasefield_slice *later = kept->at[1];
    kept->at[1] = kept->at[0];
    kept->at[0] = later;
  } else make(model, kept, 0);
  make(model, kept, 1);
  return GAB_OK;
}

void gab_phasefield_slices_release(gab_phasefield_slices *kept)
{
  for (int i = 0; i < 2; i++) gab_free(&kept->at[i]);
  *kept = (gab_phasefield_slices){0};
}
