/* Slices of rows, kept for all blocks of a level: the state of the phases at the temperature of a row is the same for all that lie
 * beside each other, and in small blocks takes as long as a sweep of melt. The next step begins with what this one has for the later
 * time. A table only ever saves work: what it does not hold is computed. */
#include "phasefield/phasefield_impl.h"

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
  return gab_phasefield_slice_made(model, row, step);
}

static gab_status reserve(gab_phasefield_slices *kept, int64_t count)
{
  if (count <= kept->room) return GAB_OK;
  gab_phasefield_slices_release(kept);
  for (int i = 0; i < 2; i++) {
    void *memory;
    GAB_TRY(gab_alloc((size_t)count * sizeof(gab_phasefield_slice), GAB_MEMORY_OTHER, &memory));
    kept->at[i] = memory;
  }
  kept->room = count;
  return GAB_OK;
}

static void make(const gab_phasefield_model *model, gab_phasefield_slices *kept, int i)
{
  for (int64_t row = 0; row < kept->count; row++)
    kept->at[i][row] = gab_phasefield_slice_made(model, kept->first + row, kept->step + i);
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
