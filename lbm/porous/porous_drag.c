/* SPDX-License-Identifier: Apache-2.0 */
/* What the drag of porous regions does to populations.
 *
 * A cell that would send momentum j, of which G and L are the body force and the local force of this sub-step, has the velocity
 * u = (j - (G + L) / 2 + F / 2) / density. The drag F then acts as if it had been in the collision with the force G (Guo, Zheng & Shi
 * 2002): with T = G + L + F, its second moments lack
 *   D = u F + F u + ((1 - omega / 2) (F G + G F) / 2 - omega / 4 (F F + F L + L F)) / density,
 * since the equilibrium of the collision had the velocity without F. Without D the convective term in a region would be wrong by a
 * share of the order of a. All other moments relax as they should; D takes the rate of the viscosity of the fluid where that
 * of the collision varies. */
#include "lbm/porous/drag_impl.h"

#include "core/base/lower_bound_impl.h"

/* ------------------------------------------------------------------------------------------ one cell */

/* Adds momentum and second moments to populations, times a factor. */
static void add(const gab_lattice *lattice, const double force[3], double second[3][3], double factor,
                double *f)
{
  const double trace = second[0][0] + second[1][1] + second[2][2];
  for (int q = 0; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    double along = 0, both = 0;
    for (int i = 0; i < 3; i++) {
      along += c[i] * force[i];
      both += c[i] * (c[0] * second[i][0] + c[1] * second[i][1] + c[2] * second[i][2]);
    }
    f[q] += factor * lattice->weight[q] * (3 * along + 4.5 * both - 1.5 * trace);
  }
}

/* A state after the collision contains half of the source of its forces, as in initial.c. @param[in] sign  -1: takes it out */
static void add_half(const gab_lbm_model *model, const gab_drag_law *law, double rho, const double u[3],
                     double sign, double *f)
{
  double force[3], second[3][3];
  gab_drag_force(law, rho, u, force);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) second[i][j] = u[i] * force[j] + force[i] * u[j];
  add(model->lattice, force, second, 0.5 * sign, f);
}

void gab_porous_put(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3],
                    double f[GAB_LATTICE_MAX_Q])
{
  const int region = gab_porous_region_at(model, block, at);
  double drho, u[3];
  if (region < 0) return;
  const gab_drag_law law = gab_drag_law_of(&model->porous->regions[region], block->at->level);
  gab_lbm_moments(model, block->at, f, &drho, u);
  add_half(model, &law, 1 + drho, u, 1, f);
}

/* The region of a cell, and half of the local force in it. */
typedef struct found_cell {
  double half[3];
  int region; /* 1 + its number */
} found_cell;

static void note_cell(void *user, int32_t first, int32_t count, const uint8_t *region,
                      double (*half)[GAB_LBM_ROW])
{
  found_cell *it = user;
  (void)first, (void)count;
  it->region = region[0];
  for (int axis = 0; axis < 3; axis++) it->half[axis] = half[axis][0];
}

static void take(const gab_lbm_model *model, const gab_lbm_block *block, const found_cell *cell, double *f)
{
  double drho, u[3];
  if (cell->region == 0) return;
  const gab_drag_law law = gab_drag_law_of(&model->porous->regions[cell->region - 1], block->at->level);
  gab_lbm_moments(model, block->at, f, &drho, u);
  gab_drag_velocity(&law, -1, 1 + drho, cell->half, u);
  add_half(model, &law, 1 + drho, u, -1, f);
}

void gab_porous_take(const gab_lbm_model *model, const gab_lbm_block *block, const gab_block *place,
                     const int32_t at[3], double f[GAB_LATTICE_MAX_Q])
{
  found_cell cell = {.region = 0};
  if (block->porous) gab_porous_visit_part(model, block, place, at, 0, 1, note_cell, &cell);
  take(model, block, &cell, f);
}

void gab_porous_take_sent(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t number,
                          double f[GAB_LATTICE_MAX_Q])
{
  found_cell cell = {.region = 0};
  gab_porous_visit(model, block, number, 1, note_cell, &cell);
  take(model, block, &cell, f);
}

void gab_porous_lag(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t number,
                    const double sent[GAB_LATTICE_MAX_Q], double lag[3])
{
  found_cell cell = {.region = 0};
  double drho, u[3];
  for (int axis = 0; axis < 3; axis++) lag[axis] = 0;
  gab_porous_visit(model, block, number, 1, note_cell, &cell);
  if (cell.region == 0) return;
  const gab_drag_law law = gab_drag_law_of(&model->porous->regions[cell.region - 1], block->at->level);
  gab_lbm_moments(model, block->at, sent, &drho, lag);
  for (int axis = 0; axis < 3; axis++) u[axis] = lag[axis];
  gab_drag_velocity(&law, -1, 1 + drho, cell.half, u);
  for (int axis = 0; axis < 3; axis++) lag[axis] -= u[axis] + cell.half[axis] / (1 + drho);
}

void gab_porous_law_at(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3],
                       double law[GAB_DRAG_NUMBERS])
{
  const int region = gab_porous_region_at(model, block, at);
  gab_drag_law found = {.knee = 0};
  if (region >= 0) found = gab_drag_law_of(&model->porous->regions[region], block->at->level);
  for (int axis = 0; axis < 3; axis++) {
    law[axis] = found.linear[axis];
    law[3 + axis] = found.quadratic[axis];
  }
}

/* ------------------------------------------------------------------------------------------ after a sweep */

typedef struct dragging {
  const gab_lbm_model *model;
  const gab_level_model *level;
  const gab_sponge_cells *at;
  size_t start; /* of the first cell of the row in the field */
} dragging;

/* Cells of one region side by side. */
typedef struct drag_rows {
  int32_t count;
  double drho[GAB_LBM_ROW], u[3][GAB_LBM_ROW], force[3][GAB_LBM_ROW];
  double second[6][GAB_LBM_ROW]; /* xx, yy, zz, xy, xz, yz */
} drag_rows;

#define REAL       double
#define NAME(part) drag_double##part
#include "lbm/porous/porous_rows_body.inc"

#define REAL       float
#define NAME(part) drag_float##part
#include "lbm/porous/porous_rows_body.inc"

/* The velocity and the drag. @param[in] half  of the local force, from cell `first` on */
static void find_drag(const gab_drag_law *law, double (*half)[GAB_LBM_ROW], int32_t first, drag_rows *rows)
{
  for (int32_t i = 0; i < rows->count; i++) {
    const double push[3] = {half[0][first + i], half[1][first + i], half[2][first + i]};
    double u[3] = {rows->u[0][i], rows->u[1][i], rows->u[2][i]}, force[3];
    gab_drag_velocity(law, 1, 1 + rows->drho[i], push, u);
    gab_drag_force(law, 1 + rows->drho[i], u, force);
    for (int axis = 0; axis < 3; axis++) {
      rows->u[axis][i] = u[axis];
      rows->force[axis][i] = force[axis];
    }
  }
}

/* What second moments lack: D. @param[in] half  as above */
static void find_second(const gab_level_model *level, double (*half)[GAB_LBM_ROW], int32_t first,
                        drag_rows *rows)
{
  static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const double of_body = 0.5 - 0.25 * level->rates.even, of_drag = 0.25 * level->rates.even;
  for (int k = 0; k < 6; k++) {
    const int a = pairs[k][0], b = pairs[k][1];
    const double body_a = level->rates.force[a], body_b = level->rates.force[b];
    const double *u_a = rows->u[a], *u_b = rows->u[b], *force_a = rows->force[a], *force_b = rows->force[b],
                 *half_a = half[a] + first, *half_b = half[b] + first;
    double *restrict second = rows->second[k];
    for (int32_t i = 0; i < rows->count; i++) {
      const double pushed = force_a[i] * half_b[i] + half_a[i] * force_b[i];
      const double beyond = of_body * (force_a[i] * body_b + body_a * force_b[i]) -
                            of_drag * (force_a[i] * force_b[i] + 2 * pushed);
      second[i] = u_a[i] * force_b[i] + force_a[i] * u_b[i] + beyond / (1 + rows->drho[i]);
    }
  }
}

static void drag_row(void *user, int32_t first, int32_t count, const uint8_t *region,
                     double (*half)[GAB_LBM_ROW])
{
  const dragging *it = user;
  const bool in_float = it->at->field->shape.precision == GAB_PRECISION_FLOAT;
  drag_rows rows;
  for (int32_t i = 0; i < count; i += rows.count) {
    rows.count = 1;
    while (i + rows.count < count && region[i + rows.count] == region[i]) rows.count++;
    if (region[i] == 0) continue;
    const size_t start = it->start + (size_t)(first + i);
    const gab_drag_law law = gab_drag_law_of(&it->model->porous->regions[region[i] - 1], it->level->level);
    if (in_float) drag_float_read(it, start, &rows);
    else drag_double_read(it, start, &rows);
    find_drag(&law, half, i, &rows);
    find_second(it->level, half, i, &rows);
    if (in_float) drag_float_write(it, start, &rows);
    else drag_double_write(it, start, &rows);
  }
}

void gab_porous_apply(const gab_lbm_model *model, const gab_lbm_block *block, size_t slab,
                      const gab_sponge_cells *at)
{
  const gab_run *runs = block->runs;
  dragging it = {.model = model, .level = block->at, .at = at};
  size_t r = block->run_start[slab];
  const size_t end = block->run_start[slab + 1];
  if (!block->porous) return;
  if (at->is_part) GAB_LOWER_BOUND(size_t, r, end, i, runs[i].start + (uint32_t)runs[i].length <= at->shift);
  for (; r < end && (!at->is_part || runs[r].start < at->shift + at->count); r++) {
    const gab_run *run = &runs[r];
    int32_t first = 0, last = run->length;
    if (at->is_part && run->start < at->shift) first = (int32_t)(at->shift - run->start);
    if (at->is_part && run->start + (uint32_t)last > at->shift + at->count)
      last = (int32_t)(at->shift + at->count - run->start);
    for (; first < last; first += GAB_LBM_ROW) {
      const int32_t count = last - first < GAB_LBM_ROW ? last - first : GAB_LBM_ROW;
      it.start = (size_t)run->start + (size_t)first - at->shift;
      gab_porous_visit_part(model, block, NULL, (const int32_t[3]){run->x + first, run->y, run->z}, 0, count,
                            drag_row, &it);
    }
  }
}
