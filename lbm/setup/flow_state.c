/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/flow_state.h"

#include "lbm/observe/stress_impl.h"
#include "lbm/porous/drag_impl.h"
#include "core/memory/memory.h"

#include <math.h>
#include <string.h>

int gab_lbm_state_values(int dimension) { return 1 + dimension + dimension * (dimension + 1) / 2; }

/* ------------------------------------------------------------------------------------------ out of a flow */

static size_t cells_of(const gab_lbm *lbm) { return (size_t)gab_lbm_cells_of(&lbm->model); }

/* Pressure and velocity. @param[in] density, velocity, fluid  capacity for a block */
static gab_status put_moments(const gab_lbm *lbm, const gab_units *units, const gab_block *block,
                              double *density, double *velocity, uint8_t *fluid, gab_field *to)
{
  const int32_t *cells = lbm->model.cells;
  const int dimension = lbm->model.lattice->dimension;
  const gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  size_t i = 0;
  GAB_TRY(gab_lbm_macroscopic(lbm, block, &box, density, velocity));
  GAB_TRY(gab_lbm_fluid_mask(lbm, block, &box, fluid));
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++, i++) {
        if (!fluid[i]) continue;
        gab_field_set(to, x, y, z, 0, 0);
        gab_field_set(to, x, y, z, 1, gab_units_pressure_to_physical(units, density[i]));
        for (int axis = 0; axis < dimension; axis++)
          gab_field_set(to, x, y, z, 2 + axis,
                        gab_units_velocity_to_physical(units, velocity[3 * i + (size_t)axis]));
      }
  return GAB_OK;
}

typedef struct straining {
  const gab_lbm_model *model;
  const gab_run *run; /* of the cell that comes next, or one before it */
  gab_field *to;
  double scale; /* of a rate per step of the level to physical units */
} straining;

/* S = -omega / (2 rho c_s^2) times the second moments of the non-equilibrium, which relax with omega. */
static bool put_strain(void *user, const gab_lbm_block *arriving, uint32_t start, int32_t count,
                       uint32_t cell)
{
  straining *it = user;
  const int dimension = it->model->lattice->dimension;
  for (int32_t k = 0; k < count; k++) {
    const uint32_t number = cell + (uint32_t)k;
    gab_lbm_second second;
    int component = 2 + dimension;
    double trace = 0;
    while (number - it->run->start >= (uint32_t)it->run->length) it->run++;
    const int32_t x = it->run->x + (int32_t)(number - it->run->start);
    gab_lbm_second_moments(it->model, arriving, start + (uint32_t)k, number, &second);
    for (int i = 0; i < dimension; i++) trace += second.moment[i][i];
    for (int i = 0; i < dimension; i++)
      for (int j = i; j < dimension; j++) {
        const double moment = second.moment[i][j] - (i == j ? trace / dimension : 0);
        gab_field_set(it->to, x, it->run->y, it->run->z, component++,
                      -1.5 * second.rate / second.rho * moment * it->scale);
      }
  }
  return true;
}

static gab_status put_blocks(gab_lbm *lbm, const gab_units *units, gab_resampler *resampler, double *density,
                             double *velocity, uint8_t *fluid)
{
  for (size_t b = 0; b < gab_forest_block_count(lbm->forest); b++) {
    const gab_block *block = gab_forest_block(lbm->forest, b);
    gab_lbm_block *data = gab_lbm_block_of(lbm, block);
    straining strain = {.model = &lbm->model,
                        .run = data->runs,
                        .to = gab_resampler_field(resampler, block),
                        .scale = ldexp(1 / units->dt, data->at->level)};
    const gab_lbm_job job = {.block = data, .parts = 1};
    GAB_TRY(put_moments(lbm, units, block, density, velocity, fluid, strain.to));
    (void)gab_lbm_visit_arriving_rows(&lbm->model, &job, put_strain, &strain);
  }
  return GAB_OK;
}

gab_status gab_lbm_put_states(gab_lbm *lbm, const gab_units *units, gab_resampler *resampler)
{
  double *density = NULL, *velocity = NULL;
  uint8_t *fluid = NULL;
  GAB_TRY(gab_lbm_fill_arrivals(lbm));
  gab_status status = GAB_NEW_ARRAY(&density, cells_of(lbm), GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&velocity, 3 * cells_of(lbm), GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&fluid, cells_of(lbm), GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = put_blocks(lbm, units, resampler, density, velocity, fluid);
  gab_free(&density);
  gab_free(&velocity);
  gab_free(&fluid);
  return status;
}

/* ------------------------------------------------------------------------------------------ populations */

/* Numbers of the fluid cells of a block, in the order in which they are packed. */
static void number_cells(const gab_lbm *lbm, const gab_lbm_block *block, uint32_t *numbers)
{
  const int32_t *cells = lbm->model.cells;
  uint32_t next = 0;
  for (size_t k = 0; k < block->run_count; k++) {
    const gab_run *run = &block->runs[k];
    const size_t row = ((size_t)run->z * (size_t)cells[1] + (size_t)run->y) * (size_t)cells[0];
    for (int32_t i = 0; i < run->length; i++) numbers[row + (size_t)(run->x + i)] = next++;
  }
}

static double packed_value(const gab_lbm_model *model, const gab_buffer *packed, size_t index)
{
  double value;
  float rounded;
  if (model->options.precision == GAB_PRECISION_DOUBLE) {
    memcpy(&value, packed->data + index * sizeof value, sizeof value);
    return value;
  }
  memcpy(&rounded, packed->data + index * sizeof rounded, sizeof rounded);
  return (double)rounded;
}

static void set_packed(const gab_lbm_model *model, unsigned char *packed, size_t index, double value)
{
  const float rounded = (float)value;
  if (model->options.precision == GAB_PRECISION_DOUBLE)
    memcpy(packed + index * sizeof value, &value, sizeof value);
  else memcpy(packed + index * sizeof rounded, &rounded, sizeof rounded);
}

static gab_status open_block(gab_lbm_populations *it, const gab_block *block)
{
  const gab_lbm_block *data = gab_lbm_block_of(it->lbm, block);
  if (!it->numbers) GAB_TRY(GAB_NEW_ARRAY(&it->numbers, cells_of(it->lbm), GAB_MEMORY_OTHER));
  gab_buffer_clear(&it->packed);
  GAB_TRY(gab_lbm_pack(&it->lbm->model, data, &it->packed));
  number_cells(it->lbm, data, it->numbers);
  it->block = block;
  return GAB_OK;
}

gab_status gab_lbm_populations_read(void *user, const gab_block *block, const int32_t at[3], double *values)
{
  gab_lbm_populations *it = user;
  const gab_lbm_model *model = &it->lbm->model;
  if (it->block != block) GAB_TRY(open_block(it, block));
  const int32_t *cells = model->cells;
  const size_t row = ((size_t)at[2] * (size_t)cells[1] + (size_t)at[1]) * (size_t)cells[0];
  const size_t number = it->numbers[row + (size_t)at[0]];
  const size_t fluid = (size_t)gab_lbm_block_of(it->lbm, block)->fluid_cells;
  for (int q = 0; q < model->lattice->q; q++)
    values[q] = packed_value(model, &it->packed, (size_t)q * fluid + number);
  const gab_lbm_block *data = gab_lbm_block_of(it->lbm, block);
  if (it->has_drag) {
    memcpy(values + model->lattice->q, values, (size_t)model->lattice->q * sizeof *values);
    gab_porous_law_at(model, data, at, values + 2 * model->lattice->q);
  }
  /* drag of this flow's porous regions; the other one adds its own */
  gab_porous_take(model, data, block, at, values);
  return GAB_OK;
}

void gab_lbm_populations_release(gab_lbm_populations *populations)
{
  gab_buffer_release(&populations->packed);
  gab_free(&populations->numbers);
}

/* ------------------------------------------------------------------------------------------ into a flow */

void gab_lbm_state_of(const gab_units *units, int dimension, const double *values, gab_lbm_state *state)
{
  const double *strain = values + 1 + dimension;
  state->density = gab_units_pressure_to_density(units, values[0]);
  for (int i = 0; i < dimension; i++) {
    state->velocity[i] = gab_units_velocity_to_lattice(units, values[1 + i]);
    for (int j = i; j < dimension; j++) state->gradient[i][j] = state->gradient[j][i] = *strain++ * units->dt;
  }
}

/* To take the drag out and to add the same again would change rounding. */
static void set_populations(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3],
                            const double *values, double f[GAB_LATTICE_MAX_Q])
{
  const size_t count = (size_t)model->lattice->q;
  double law[GAB_DRAG_NUMBERS];
  memcpy(f, values, count * sizeof *f);
  if (!model->porous) return;
  gab_porous_law_at(model, block, at, law);
  if (memcmp(law, values + 2 * count, sizeof law) == 0) memcpy(f, values + count, count * sizeof *f);
  else gab_porous_put(model, block, at, f);
}

static void set_state(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3],
                      const gab_lbm_state *state, double f[GAB_LATTICE_MAX_Q])
{
  for (int q = 0; q < model->lattice->q; q++) f[q] = gab_lbm_population(model, block->at, q, state);
  gab_porous_put(model, block, at, f);
}

int gab_lbm_population_values(const gab_lbm_options *options)
{
  return options->lattice->q * (options->porous_count > 0 ? 2 : 1) +
         (options->porous_count > 0 ? GAB_DRAG_NUMBERS : 0);
}

gab_status gab_lbm_set_states(gab_lbm *lbm, const gab_block *block, gab_lbm_state_fn *state_at, void *user)
{
  const gab_lbm_model *model = &lbm->model;
  gab_lbm_block *data = gab_lbm_block_of(lbm, block);
  const size_t fluid = (size_t)data->fluid_cells;
  gab_buffer packed = {0};
  void *place;
  size_t number = 0;
  gab_status status = gab_buffer_extend(&packed, gab_lbm_packed_size(model, data), &place);
  for (size_t k = 0; status == GAB_OK && k < data->run_count; k++)
    for (int32_t i = 0; i < data->runs[k].length; i++, number++) {
      const int32_t at[3] = {data->runs[k].x + i, data->runs[k].y, data->runs[k].z};
      gab_lbm_state state = gab_lbm_uniform_state(&model->options);
      const double *populations = state_at(user, at, &state);
      double f[GAB_LATTICE_MAX_Q];
      if (populations) set_populations(model, data, at, populations, f);
      else set_state(model, data, at, &state, f);
      for (int q = 0; q < model->lattice->q; q++)
        set_packed(model, packed.data, (size_t)q * fluid + number, f[q]);
    }
  gab_reader reader = gab_reader_of_buffer(&packed);
  if (status == GAB_OK) status = gab_lbm_unpack(model, data, &reader);
  gab_buffer_release(&packed);
  return status;
}
