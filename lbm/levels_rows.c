/* Splitting and merging blocks that are nothing but fluid, row by row: the same as levels_split.c does cell
 * by cell, to the last bit. */
#include "lbm/levels_impl.h"

#include <string.h>

/* Cells side by side, with all that they have sent. */
typedef struct row {
  int32_t count;
  double f[GAB_LATTICE_MAX_Q][GAB_LBM_ROW];
  double drho[GAB_LBM_ROW], u[3][GAB_LBM_ROW], square[GAB_LBM_ROW];
} row;

/* ------------------------------------------------------------------------------------------ memory */

static bool is_all_fluid(const gab_lbm_model *model, const gab_lbm_block *block)
{
  const uint64_t cells = (uint64_t)model->cells[0] * (uint64_t)model->cells[1] * (uint64_t)model->cells[2];
  return !block->sparse && block->fluid_cells == cells;
}

/* Where the first cell of a row has its population q. */
static size_t place_of(const gab_lbm_block *block, int32_t x, int32_t y, int32_t z, int q)
{
  return gab_place(gab_field_index(&block->src->map, x, y, z, 0), block->now->sent[q]);
}

static void store(gab_field *field, size_t place, int32_t count, const double *values)
{
  if (field->shape.precision == GAB_PRECISION_FLOAT) {
    float *to = (float *)field->data + place;
    for (int32_t i = 0; i < count; ++i) to[i] = (float)values[i];
  } else memcpy((double *)field->data + place, values, (size_t)count * sizeof *values);
}

/* Adds every value. */
static void add(const gab_field *field, size_t place, int32_t count, double *restrict sum)
{
  if (field->shape.precision == GAB_PRECISION_FLOAT) {
    const float *from = (const float *)field->data + place;
    for (int32_t i = 0; i < count; ++i) sum[i] += (double)from[i];
  } else {
    const double *from = (const double *)field->data + place;
    for (int32_t i = 0; i < count; ++i) sum[i] += from[i];
  }
}

/* Adds two at a time, one after the other. */
static void add_pairs(const gab_field *field, size_t place, int32_t count, double *restrict sum)
{
  if (field->shape.precision == GAB_PRECISION_FLOAT) {
    const float *from = (const float *)field->data + place;
    for (int32_t i = 0; i < count; ++i) sum[i] = sum[i] + (double)from[2 * i] + (double)from[2 * i + 1];
  } else {
    const double *from = (const double *)field->data + place;
    for (int32_t i = 0; i < count; ++i) sum[i] = sum[i] + from[2 * i] + from[2 * i + 1];
  }
}

/* ------------------------------------------------------------------------------------------ state */

static void find_moments(const gab_lattice *lattice, const gab_level_model *at, row *it)
{
  const int32_t count = it->count;
  for (int32_t i = 0; i < count; ++i) {
    it->drho[i] = it->f[0][i];
    it->u[0][i] = it->u[1][i] = it->u[2][i] = 0;
  }
  for (int q = 1; q < lattice->q; q += 2) {
    const double *a = it->f[q], *b = it->f[q + 1];
    for (int32_t i = 0; i < count; ++i) it->drho[i] += a[i] + b[i];
    for (int axis = 0; axis < 3; ++axis) {
      const double c = lattice->c[q][axis];
      if (c == 0) continue;
      for (int32_t i = 0; i < count; ++i) it->u[axis][i] += c * (a[i] - b[i]);
    }
  }
  for (int axis = 0; axis < 3; ++axis)
    for (int32_t i = 0; i < count; ++i)
      it->u[axis][i] = (it->u[axis][i] - 0.5 * at->rates.force[axis]) / (1 + it->drho[i]);
  for (int32_t i = 0; i < count; ++i)
    it->square[i] = it->u[0][i] * it->u[0][i] + it->u[1][i] * it->u[1][i] + it->u[2][i] * it->u[2][i];
}

/* Guo's source without the rates, in direction c. */
static double source(const double c[3], double weight, const double force[3], double cu, const double u[3])
{
  const double cf = c[0] * force[0] + c[1] * force[1] + c[2] * force[2];
  const double uf = u[0] * force[0] + u[1] * force[1] + u[2] * force[2];
  return weight * (3 * (cf - uf) + 9 * cu * cf);
}

/* What is beyond equilibrium, the mean of both directions of a pair, is scaled; all of level `from` is left
 * out, that of level `to` put in. */
static void scale_pair(const gab_lattice *lattice, const gab_level_model *from, const gab_level_model *to,
                       double scale, int q, row *it)
{
  const double c[3] = {lattice->c[q][0], lattice->c[q][1], lattice->c[q][2]};
  const double back[3] = {-c[0], -c[1], -c[2]}, w = lattice->weight[q];
  const double *had = from->rates.force, *has = to->rates.force;
  const bool forced = had[0] != 0 || had[1] != 0 || had[2] != 0;
  double *restrict a = it->f[q], *restrict b = it->f[gab_lattice_opposite(q)];
  const double *restrict drho = it->drho, *restrict square = it->square;
#pragma omp simd
  for (int32_t i = 0; i < it->count; ++i) {
    const double u[3] = {it->u[0][i], it->u[1][i], it->u[2][i]};
    const double cu = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    const double even = 4.5 * cu * cu, rho = 1 + drho[i];
    const double equal_a = w * (drho[i] + rho * (3 * cu + even - 1.5 * square[i]));
    const double equal_b = w * (drho[i] + rho * (-3 * cu + even - 1.5 * square[i]));
    double beyond_a = a[i] - equal_a, beyond_b = b[i] - equal_b;
    if (forced) {
      beyond_a -= 0.5 * source(c, w, had, cu, u);
      beyond_b -= 0.5 * source(back, w, had, -cu, u);
    }
    const double scaled = scale * (0.5 * (beyond_a + beyond_b));
    a[i] = equal_a + scaled;
    b[i] = equal_b + scaled;
    if (forced) {
      a[i] += 0.5 * source(c, w, has, cu, u);
      b[i] += 0.5 * source(back, w, has, -cu, u);
    }
  }
}

static void scale_rest(const gab_lattice *lattice, const gab_level_model *from, const gab_level_model *to,
                       double scale, row *it)
{
  const double c[3] = {0, 0, 0}, w = lattice->weight[0];
  for (int32_t i = 0; i < it->count; ++i) {
    const double u[3] = {it->u[0][i], it->u[1][i], it->u[2][i]};
    const double equal = w * (it->drho[i] + (1 + it->drho[i]) * (0 - 1.5 * it->square[i]));
    const double beyond = it->f[0][i] - equal - 0.5 * source(c, w, from->rates.force, 0, u);
    it->f[0][i] = equal + scale * beyond + 0.5 * source(c, w, to->rates.force, 0, u);
  }
}

static void convert(const gab_lbm_model *model, const gab_level_model *from, const gab_level_model *to,
                    row *it)
{
  const double scale = gab_lbm_level_factor(from, to);
  find_moments(model->lattice, from, it);
  scale_rest(model->lattice, from, to, scale, it);
  for (int q = 1; q < model->lattice->q; q += 2) scale_pair(model->lattice, from, to, scale, q, it);
}

/* ------------------------------------------------------------------------------------------ rows */

/* Part of a row of the coarser block: `count` cells from `at` on, and the first of the finer cells there. */
typedef struct stretch {
  int32_t at[3], fine[3], count;
  int rows[2]; /* of finer cells along y and z */
} stretch;

static void split_stretch(const gab_lbm_model *model, const gab_lbm_block *parent, gab_lbm_block *child,
                          const stretch *it, row *work)
{
  double twice[2 * GAB_LBM_ROW];
  work->count = it->count;
  for (int q = 0; q < model->lattice->q; ++q) {
    memset(work->f[q], 0, (size_t)it->count * sizeof *work->f[q]);
    add(parent->src, place_of(parent, it->at[0], it->at[1], it->at[2], q), it->count, work->f[q]);
  }
  convert(model, parent->at, child->at, work);
  for (int q = 0; q < model->lattice->q; ++q) {
    for (int32_t i = 0; i < it->count; ++i) twice[2 * i] = twice[2 * i + 1] = work->f[q][i];
    for (int z = 0; z < it->rows[1]; ++z)
      for (int y = 0; y < it->rows[0]; ++y)
        store(child->src, place_of(child, it->fine[0], it->fine[1] + y, it->fine[2] + z, q), 2 * it->count,
              twice);
  }
}

static void merge_stretch(const gab_lbm_model *model, const gab_lbm_block *child, gab_lbm_block *parent,
                          const stretch *it, row *work)
{
  const double share = 1.0 / (1 << model->lattice->dimension);
  work->count = it->count;
  for (int q = 0; q < model->lattice->q; ++q) {
    double *sum = work->f[q];
    memset(sum, 0, (size_t)it->count * sizeof *sum);
    for (int z = 0; z < it->rows[1]; ++z)
      for (int y = 0; y < it->rows[0]; ++y)
        add_pairs(child->src, place_of(child, it->fine[0], it->fine[1] + y, it->fine[2] + z, q), it->count,
                  sum);
    for (int32_t i = 0; i < it->count; ++i) sum[i] *= share;
  }
  convert(model, child->at, parent->at, work);
  for (int q = 0; q < model->lattice->q; ++q)
    store(parent->src, place_of(parent, it->at[0], it->at[1], it->at[2], q), it->count, work->f[q]);
}

/* Goes through the part of a parent that a child covers. */
static void visit(const gab_lbm_model *model, gab_lbm_block *parent, gab_lbm_block *child,
                  const int32_t corner[3], bool splits)
{
  const int dimension = model->lattice->dimension;
  const int32_t half = model->cells[0] / 2, layers = dimension == 3 ? model->cells[2] / 2 : 1;
  row work;
  for (int32_t z = 0; z < layers; ++z)
    for (int32_t y = 0; y < model->cells[1] / 2; ++y)
      for (int32_t x = 0; x < half; x += GAB_LBM_ROW) {
        const stretch it = {.at = {corner[0] + x, corner[1] + y, corner[2] + z},
                            .fine = {2 * x, 2 * y, dimension == 3 ? 2 * z : 0},
                            .count = half - x < GAB_LBM_ROW ? half - x : GAB_LBM_ROW,
                            .rows = {2, dimension == 3 ? 2 : 1}};
        if (splits) split_stretch(model, parent, child, &it, &work);
        else merge_stretch(model, child, parent, &it, &work);
      }
}

bool gab_lbm_split_rows(const gab_lbm_model *model, const gab_lbm_block *parent, gab_lbm_block *child,
                        const int32_t corner[3])
{
  if (!is_all_fluid(model, parent) || !is_all_fluid(model, child)) return false;
  visit(model, (gab_lbm_block *)(uintptr_t)parent, child, corner, true); /* only read */
  return true;
}

bool gab_lbm_merge_rows(const gab_lbm_model *model, const gab_lbm_block *child, gab_lbm_block *parent,
                        const int32_t corner[3])
{
  if (!is_all_fluid(model, parent) || !is_all_fluid(model, child)) return false;
  visit(model, parent, (gab_lbm_block *)(uintptr_t)child, corner, false); /* only read */
  return true;
}
