/* Splitting and merging blocks that are nothing but fluid, row by row: the same as levels_split.c does cell
 * by cell, to the last bit. */
#include "lbm/levels/level_interface_impl.h"

#include <math.h>
#include <string.h>

/* Some cells, with all that they have sent. */
typedef struct row {
  int32_t count;
  double f[GAB_LATTICE_MAX_Q][GAB_LBM_ROW];
  double drho[GAB_LBM_ROW], u[3][GAB_LBM_ROW], square[GAB_LBM_ROW];
} row;

/* ------------------------------------------------------------------------------------------ memory */

static bool is_all_fluid(const gab_lbm_model *model, const gab_lbm_block *block)
{
  return !block->sparse && block->fluid_cells == gab_lbm_cells_of(model);
}

/* Where the first cell of a row has its population q. */
static size_t place_of(const gab_lbm_block *block, int32_t x, int32_t y, int32_t z, int q)
{
  return gab_place(gab_field_index(&block->src->map, x, y, z, 0), block->now->sent[q]);
}

/* Rows of cells of the coarser block, one above the other along y, and the first of the finer cells there. */
typedef struct patch {
  int32_t at[3], fine[3], count, rows; /* cells in each of so many rows */
  int layers;                          /* of finer cells in the one of coarser ones */
} patch;

#define REAL       double
#define NAME(part) rows_double##part
#include "lbm/levels/levels_rows_body.inc"

#define REAL       float
#define NAME(part) rows_float##part
#include "lbm/levels/levels_rows_body.inc"

/* ------------------------------------------------------------------------------------------ state */

static void find_moments(const gab_lattice *lattice, const gab_level_model *at, row *it)
{
  const int32_t count = it->count;
  for (int32_t i = 0; i < count; i++) {
    it->drho[i] = it->f[0][i];
    it->u[0][i] = it->u[1][i] = it->u[2][i] = 0;
  }
  for (int q = 1; q < lattice->q; q += 2) {
    const double *a = it->f[q], *b = it->f[q + 1];
    for (int32_t i = 0; i < count; i++) it->drho[i] += a[i] + b[i];
    for (int axis = 0; axis < 3; axis++) {
      const double c = lattice->c[q][axis];
      if (c == 0) continue;
      for (int32_t i = 0; i < count; i++) it->u[axis][i] += c * (a[i] - b[i]);
    }
  }
  for (int axis = 0; axis < 3; axis++)
    for (int32_t i = 0; i < count; i++)
      it->u[axis][i] = (it->u[axis][i] - 0.5 * at->rates.force[axis]) / (1 + it->drho[i]);
  for (int32_t i = 0; i < count; i++)
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
  for (int32_t i = 0; i < it->count; i++) {
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
  for (int32_t i = 0; i < it->count; i++) {
    const double u[3] = {it->u[0][i], it->u[1][i], it->u[2][i]};
    const double equal = w * (it->drho[i] + (1 + it->drho[i]) * (0 - 1.5 * it->square[i]));
    const double beyond = it->f[0][i] - equal - 0.5 * source(c, w, from->rates.force, 0, u);
    it->f[0][i] = equal + scale * beyond + 0.5 * source(c, w, to->rates.force, 0, u);
  }
}

/* What the equilibrium has beyond second order is left out before, and put in after all. */
static void add_beyond(const gab_lbm_model *model, double sign, row *it)
{
  const gab_collision *collision = model->options.collision;
  for (int q = 0; collision->equilibrium_beyond && q < model->lattice->q; q++)
    for (int32_t i = 0; i < it->count; i++) {
      const double u[3] = {it->u[0][i], it->u[1][i], it->u[2][i]};
      it->f[q][i] += sign * collision->equilibrium_beyond(model->lattice, q, it->drho[i], u);
    }
}

static double lost_by_collision(const gab_level_model *at)
{
  return ldexp(1 / at->rates.even - 1, -at->level);
}

double gab_lbm_level_factor(const gab_level_model *from, const gab_level_model *to)
{
  const double had = lost_by_collision(from), softness = ldexp(0.05, -from->level);
  return lost_by_collision(to) * had / (had * had + softness * softness);
}

static void convert(const gab_lbm_model *model, const gab_level_model *from, const gab_level_model *to,
                    double scale, row *it)
{
  find_moments(model->lattice, from, it);
  add_beyond(model, -1, it);
  scale_rest(model->lattice, from, to, scale, it);
  for (int q = 1; q < model->lattice->q; q += 2) scale_pair(model->lattice, from, to, scale, q, it);
  add_beyond(model, 1, it);
}

/* ------------------------------------------------------------------------------------------ blocks */

static void cross_patch(const gab_lbm_model *model, const gab_lbm_block *from, gab_lbm_block *to,
                        const patch *it, double scale)
{
  row work;
  work.count = it->count * it->rows;
  const bool in_float = model->options.precision == GAB_PRECISION_FLOAT, splits = from->at < to->at;
  if (splits && in_float) rows_float_read(model, from, it, work.f);
  else if (splits) rows_double_read(model, from, it, work.f);
  else if (in_float) rows_float_gather(model, from, it, work.f);
  else rows_double_gather(model, from, it, work.f);
  convert(model, from->at, to->at, scale, &work);
  if (splits && in_float) rows_float_spread(model, to, it, work.f);
  else if (splits) rows_double_spread(model, to, it, work.f);
  else if (in_float) rows_float_write(model, to, it, work.f);
  else rows_double_write(model, to, it, work.f);
}

/* Goes through the part of a parent that a child covers, from cell `corner` of the parent on. */
static void cross_all(const gab_lbm_model *model, const gab_lbm_block *from, gab_lbm_block *to,
                      const int32_t corner[3])
{
  const bool deep = model->lattice->dimension == 3;
  const int32_t half = model->cells[0] / 2, width = half < GAB_LBM_ROW ? half : GAB_LBM_ROW;
  const int32_t height = model->cells[1] / 2, most_rows = GAB_LBM_ROW / width;
  const double scale = gab_lbm_level_factor(from->at, to->at);
  for (int32_t z = 0; z < (deep ? model->cells[2] / 2 : 1); z++)
    for (int32_t y = 0; y < height; y += most_rows)
      for (int32_t x = 0; x < half; x += width) {
        const patch it = {.at = {corner[0] + x, corner[1] + y, corner[2] + z},
                          .fine = {2 * x, 2 * y, deep ? 2 * z : 0},
                          .count = half - x < width ? half - x : width,
                          .rows = height - y < most_rows ? height - y : most_rows,
                          .layers = deep ? 2 : 1};
        cross_patch(model, from, to, &it, scale);
      }
}

bool gab_lbm_cross_rows(const gab_lbm_model *model, const gab_lbm_block *from, gab_lbm_block *to,
                        const int32_t corner[3])
{
  if (!is_all_fluid(model, from) || !is_all_fluid(model, to)) return false;
  cross_all(model, from, to, corner);
  return true;
}
