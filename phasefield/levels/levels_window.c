/* SPDX-License-Identifier: Apache-2.0 */
/* The moving window on several levels: see levels_impl.h. Arriving data goes into phi_new and mu_new, which are unused between
 * steps and then become phi and c. */
#include "phasefield/levels/levels_impl.h"

#include <string.h>

int64_t gab_phasefield_shift_unit(const gab_phasefield *phasefield)
{
  return phasefield->levels ? (int64_t)1 << phasefield->levels->finest : 1;
}

/* Number of own rows by which a block moves. */
static int32_t rows_of(const gab_phasefield_model *model)
{
  return (int32_t)1 << (model->options.levels - model->coarser);
}

/* ------------------------------------------------------------------------------------------ within a level
 */

static bool is_down(const gab_phasefield_model *model, int direction)
{
  int offset[3] = {0, 0, 0};
  offset[model->axis] = -1;
  return direction == gab_direction_of(offset[0], offset[1], offset[2]);
}

static gab_box rows_box(const gab_phasefield_model *model, int32_t first, int32_t rows)
{
  gab_box box = {{0, 0, 0}, {model->cells[0], model->cells[1], model->cells[2]}};
  box.lo[model->axis] = first;
  box.hi[model->axis] = first + rows;
  return box;
}

static size_t rows_size(void *user, int direction)
{
  const gab_phasefield_rows *rows = user;
  if (!is_down(rows->model, direction)) return 0;
  const gab_box box = rows_box(rows->model, 0, rows->rows);
  return gab_box_count(&box) * (size_t)(rows->model->phases + rows->model->independents) * sizeof(double);
}

static void rows_pack(void *user, const void *data, int direction, void *bytes)
{
  (void)direction;
  const gab_phasefield_rows *rows = user;
  const gab_phasefield_block *block = data;
  const gab_box box = rows_box(rows->model, 0, rows->rows);
  gab_field_pack_box(block->phi, &box, NULL, rows->model->phases, bytes);
  gab_field_pack_box(block->c, &box, NULL, rows->model->independents,
                     (unsigned char *)bytes + gab_field_box_bytes(block->phi, &box, rows->model->phases));
}

static void rows_unpack(void *user, void *data, int direction, const void *bytes)
{
  (void)direction;
  const gab_phasefield_rows *rows = user;
  gab_phasefield_block *block = data;
  const gab_box box = rows_box(rows->model, rows->model->cells[rows->model->axis] - rows->rows, rows->rows);
  gab_field_unpack_box(block->phi_new, &box, NULL, rows->model->phases, bytes);
  gab_field_unpack_box(block->mu_new, &box, NULL, rows->model->independents,
                       (const unsigned char *)bytes +
                           gab_field_box_bytes(block->phi, &box, rows->model->phases));
}

gab_ghost_kind gab_phasefield_rows_exchange(gab_phasefield_rows *rows)
{
  return (gab_ghost_kind){.name = "rows",
                          .user = rows,
                          .size = rows_size,
                          .pack = rows_pack,
                          .unpack = rows_unpack,
                          .coupled = true};
}

/* ------------------------------------------------------------------------------------------ between levels
 */

/* The coarser block above sends down, the finer one above sends up: `direction` is where the coarser one lies
 * as seen by the finer. */
static bool passes_rows(const gab_phasefield_model *model, gab_coupling_way way, const gab_contact *contact)
{
  if (way == GAB_COUPLING_ACROSS) return false;
  return is_down(model,
                 way == GAB_COUPLING_UP ? contact->direction : gab_direction_opposite(contact->direction));
}

/* The cells that cross, on the coarser side: a quarter (half) of its lowest or uppermost rows. */
static gab_box coarse_rows(const gab_phasefield_model *model, const gab_contact *contact, int32_t first,
                           int32_t rows)
{
  gab_box box = rows_box(model, first, rows);
  for (int axis = 0; axis < model->dimension; axis++) {
    if (axis == model->axis) continue;
    box.lo[axis] = contact->place[axis] * model->cells[axis] / 2;
    box.hi[axis] = box.lo[axis] + model->cells[axis] / 2;
  }
  return box;
}

static size_t coupled_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                           bool sends)
{
  (void)user;
  const gab_phasefield_model *model = ((const gab_phasefield_block *)data)->model;
  if (!passes_rows(model, way, contact)) return 0;
  const bool is_coarse = sends == (way == GAB_COUPLING_DOWN);
  size_t cells = (size_t)rows_of(model); /* of this block */
  for (int axis = 0; axis < model->dimension; axis++)
    if (axis != model->axis) cells *= (size_t)model->cells[axis];
  if (way == GAB_COUPLING_DOWN && is_coarse) cells *= 2; /* as many along the border, in twice as many rows */
  if (way == GAB_COUPLING_UP) cells /= is_coarse ? 1U << (model->dimension - 1) : 1U << model->dimension;
  return cells * (size_t)(model->phases + model->independents) * sizeof(double);
}

/* The children of each cell, one after another. */
static void pack_children(const gab_phasefield_block *block, const gab_contact *contact, double *out)
{
  const gab_phasefield_model *model = block->model;
  const gab_box box = coarse_rows(model, contact, 0, rows_of(model));
  for (int32_t z = (int32_t)box.lo[2]; z < box.hi[2]; z++)
    for (int32_t y = (int32_t)box.lo[1]; y < box.hi[1]; y++)
      for (int32_t x = (int32_t)box.lo[0]; x < box.hi[0]; x++)
        for (int part = 0; part < 1 << model->dimension; part++) {
          const int32_t at[3] = {x, y, z};
          for (int a = 0; a < model->phases; a++)
            *out++ = gab_phasefield_child_value(block->phi, at, a, part, false, model->dimension);
          for (int i = 0; i < model->independents; i++)
            *out++ = gab_phasefield_child_value(block->c, at, i, part, true, model->dimension);
        }
}

/* Into the rows on top. */
static void unpack_children(gab_phasefield_block *block, const double *in)
{
  const gab_phasefield_model *model = block->model;
  const int32_t rows = rows_of(model);
  const gab_box box = rows_box(model, model->cells[model->axis] - rows, rows);
  int32_t step[3], at[3];
  for (int axis = 0; axis < 3; axis++) step[axis] = axis < model->dimension ? 2 : 1;
  for (at[2] = (int32_t)box.lo[2]; at[2] < box.hi[2]; at[2] += step[2])
    for (at[1] = (int32_t)box.lo[1]; at[1] < box.hi[1]; at[1] += step[1])
      for (at[0] = (int32_t)box.lo[0]; at[0] < box.hi[0]; at[0] += step[0])
        for (int part = 0; part < 1 << model->dimension; part++) {
          const int32_t x = at[0] + (part & 1), y = at[1] + (part >> 1 & 1), z = at[2] + (part >> 2 & 1);
          for (int a = 0; a < model->phases; a++) gab_field_set(block->phi_new, x, y, z, a, *in++);
          for (int i = 0; i < model->independents; i++) gab_field_set(block->mu_new, x, y, z, i, *in++);
        }
}

static void pack_parents(const gab_phasefield_block *block, double *out)
{
  const gab_phasefield_model *model = block->model;
  const gab_box box = rows_box(model, 0, rows_of(model));
  int32_t step[3], at[3];
  for (int axis = 0; axis < 3; axis++) step[axis] = axis < model->dimension ? 2 : 1;
  for (at[2] = (int32_t)box.lo[2]; at[2] < box.hi[2]; at[2] += step[2])
    for (at[1] = (int32_t)box.lo[1]; at[1] < box.hi[1]; at[1] += step[1])
      for (at[0] = (int32_t)box.lo[0]; at[0] < box.hi[0]; at[0] += step[0]) {
        for (int a = 0; a < model->phases; a++)
          *out++ = gab_phasefield_parent_value(block->phi, at, a, model->dimension);
        for (int i = 0; i < model->independents; i++)
          *out++ = gab_phasefield_parent_value(block->c, at, i, model->dimension);
      }
}

static void unpack_parents(gab_phasefield_block *block, const gab_contact *contact, const double *in)
{
  const gab_phasefield_model *model = block->model;
  const int32_t rows = rows_of(model);
  const gab_box box = coarse_rows(model, contact, model->cells[model->axis] - rows, rows);
  for (int32_t z = (int32_t)box.lo[2]; z < box.hi[2]; z++)
    for (int32_t y = (int32_t)box.lo[1]; y < box.hi[1]; y++)
      for (int32_t x = (int32_t)box.lo[0]; x < box.hi[0]; x++) {
        const int32_t at[3] = {x, y, z};
        for (int a = 0; a < model->phases; a++) gab_field_set(block->phi_new, x, y, z, a, *in++);
        for (int i = 0; i < model->independents; i++) gab_field_set(block->mu_new, x, y, z, i, *in++);
        if (gab_phasefield_pure(block->phi_new, at) >= 0) continue;
#pragma omp atomic write
        block->astray = 1;
      }
}

static void coupled_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                         void *bytes)
{
  (void)user;
  if (way == GAB_COUPLING_DOWN) pack_children(data, contact, bytes);
  else pack_parents(data, bytes);
}

static void coupled_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                           const void *bytes)
{
  (void)user;
  if (way == GAB_COUPLING_DOWN) unpack_children(data, bytes);
  else unpack_parents(data, contact, bytes);
}

gab_coupling_kind gab_phasefield_rows_coupling(gab_phasefield *phasefield)
{
  return (gab_coupling_kind){.name = "rows between levels",
                             .user = phasefield,
                             .size = coupled_size,
                             .pack = coupled_pack,
                             .unpack = coupled_unpack};
}

/* ------------------------------------------------------------------------------------------ the shift */

/* Moves the remaining content of a block down. */
static void move_own_rows(gab_phasefield_block *block)
{
  const gab_phasefield_model *model = block->model;
  const int32_t rows = rows_of(model), rest = model->cells[model->axis] - rows;
  if (rest == 0) return;
  const gab_box from = rows_box(model, rows, rest), to = rows_box(model, 0, rest);
  gab_field_copy_box(block->phi_new, &to, block->phi, &from, NULL, model->phases);
  gab_field_copy_box(block->mu_new, &to, block->c, &from, NULL, model->independents);
}

/* New rows at the top continue the uppermost one, see window.c. */
static void enter_rows(gab_phasefield_block *block)
{
  const gab_phasefield_model *model = block->model;
  const gab_phasefield_side *side = &model->options.sides[2 * model->axis + 1];
  const int32_t top = model->cells[model->axis], rows = rows_of(model);
  const gab_box box = rows_box(model, top - rows, rows);
  int32_t at[3];
  for (at[2] = (int32_t)box.lo[2]; at[2] < box.hi[2]; at[2]++)
    for (at[1] = (int32_t)box.lo[1]; at[1] < box.hi[1]; at[1]++) {
      const gab_phasefield_slice slice =
          gab_phasefield_slice_at(model, block->first[model->axis] + at[model->axis], model->step);
      for (at[0] = (int32_t)box.lo[0]; at[0] < box.hi[0]; at[0]++) {
        double phi[GAB_MOST_PHASES], mu[GAB_MOST_INDEPENDENTS], c[GAB_MOST_INDEPENDENTS];
        int32_t old[3] = {at[0], at[1], at[2]};
        old[model->axis] = top - 1;
        for (int a = 0; a < model->phases; a++) phi[a] = gab_field_get(block->phi, old[0], old[1], old[2], a);
        for (int i = 0; i < model->independents; i++)
          mu[i] = side->kind == GAB_PHASEFIELD_RESERVOIR
                      ? side->mu[i]
                      : gab_field_get(block->mu, old[0], old[1], old[2], i);
        gab_phasefield_c_of_mu(model, &slice, phi, mu, c);
        for (int a = 0; a < model->phases; a++) gab_field_set(block->phi_new, at[0], at[1], at[2], a, phi[a]);
        for (int i = 0; i < model->independents; i++)
          gab_field_set(block->mu_new, at[0], at[1], at[2], i, c[i]);
      }
    }
}

static void enter_ledger(gab_phasefield *phasefield, const gab_phasefield_block *block, int32_t first,
                         double sign)
{
  for (int32_t row = 0; row < rows_of(block->model); row++)
    gab_phasefield_ledger_row(phasefield, block, first + row, sign);
}

static gab_status send_rows(gab_phasefield *phasefield)
{
  const gab_phasefield_levels *levels = phasefield->levels;
  for (int level = 0; level <= levels->finest; level++)
    GAB_TRY(gab_exchange_start(levels->rows_exchange[level]));
  for (int way = GAB_COUPLING_DOWN; way <= GAB_COUPLING_UP; way++)
    for (int level = 0; level < levels->finest; level++) {
      GAB_TRY(gab_coupling_start(levels->rows, (gab_coupling_way)way, level));
      GAB_TRY(gab_coupling_finish(levels->rows));
    }
  for (int level = 0; level <= levels->finest; level++)
    GAB_TRY(gab_exchange_finish(levels->rows_exchange[level]));
  return gab_phasefield_levels_check(phasefield);
}

static void take_over(gab_phasefield *phasefield, gab_phasefield_block *block)
{
  const gab_phasefield_model *model = block->model;
  const bool top = gab_phasefield_is_at_side(model, block, 2 * model->axis + 1);
  if (gab_phasefield_is_at_side(model, block, 2 * model->axis)) enter_ledger(phasefield, block, 0, -1);
  if (top) enter_rows(block);
  gab_field *const phi = block->phi, *const c = block->c;
  block->phi = block->phi_new;
  block->phi_new = phi;
  block->c = block->mu_new;
  block->mu_new = c;
  if (top) enter_ledger(phasefield, block, model->cells[model->axis] - rows_of(model), 1);
  gab_phasefield_make_mu(model, block);
}

gab_status gab_phasefield_levels_shift(gab_phasefield *phasefield, int64_t rows)
{
  const int64_t unit = gab_phasefield_shift_unit(phasefield);
  const size_t blocks = gab_forest_block_count(phasefield->forest);
  if (rows % unit != 0)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "a window with %d levels of coarser cells moves by multiples of %" PRId64
             " rows, not by %" PRId64,
             phasefield->levels->finest, unit, rows);
  for (int64_t row = 0; row < rows; row += unit) {
    for (size_t i = 0; i < blocks; i++) move_own_rows(gab_phasefield_block_of(phasefield, i));
    GAB_TRY(send_rows(phasefield));
    phasefield->model.shift += unit;
    gab_phasefield_levels_sync(phasefield);
    for (size_t i = 0; i < blocks; i++) take_over(phasefield, gab_phasefield_block_of(phasefield, i));
    phasefield->revision = 0; /* the ghosts of phi are those of the old place */
  }
  return GAB_OK;
}
