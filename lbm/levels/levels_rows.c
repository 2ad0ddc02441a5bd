/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting and merging of blocks without solid cells, row by row, with the bits of the cell-by-cell version in
 * levels_split.c. */
#include "lbm/levels/level_interface_impl.h"
#include "lbm/step/fused/fused_impl.h"

#include "core/memory/nontemporal_impl.h"

#include <math.h>
#include <string.h>

/* Some cells with all their sent populations. */
typedef struct row {
  int32_t count;
  double f[GAB_LATTICE_MAX_Q][GAB_LBM_ROW];
  double drho[GAB_LBM_ROW], u[3][GAB_LBM_ROW], square[GAB_LBM_ROW];
} row;

/* ------------------------------------------------------------------------------------------ memory */

/* And none of them porous. */
static bool is_all_fluid(const gab_lbm_model *model, const gab_lbm_block *block)
{
  return !block->sparse && !block->porous && block->fluid_cells == gab_lbm_cells_of(model);
}

/* Index of population q of the first cell of a row. */
static size_t place_of(const gab_lbm_block *block, int32_t x, int32_t y, int32_t z, int q)
{
  return gab_place(gab_field_index(&block->src->map, x, y, z, 0), block->now->sent[q]);
}

/* Rows of coarse cells, adjacent along y, and the first of their fine cells. */
typedef struct patch {
  int32_t at[3], fine[3], count, rows; /* start; cells per row; number of rows */
  int fine_rows;                       /* fine rows per coarse row: four, in 2D two */
  ptrdiff_t fine_row[4];               /* their offsets from the first one */
} patch;

static double *first_of_row(double f[][GAB_LBM_ROW], const patch *it, int n)
{
  return f[n / it->rows] + n % it->rows * it->count;
}

/* Rows are short, with data of other blocks between them: hardware prefetchers read much of that and stop at the end
 * of a row. So the lines of a row are prefetched while an earlier row is processed. Completely written rows share at
 * most their first and last lines. */
enum { ROWS_AHEAD = 2 };

static void ask_to_read(const void *row, size_t bytes)
{
  const uintptr_t first = (uintptr_t)row / GAB_CACHE_LINE * GAB_CACHE_LINE, end = (uintptr_t)row + bytes;
  for (uintptr_t line = first; line < end; line += GAB_CACHE_LINE) __builtin_prefetch((const void *)line, 0);
}

static void ask_to_write(const void *row, size_t bytes)
{
  const uintptr_t first = (uintptr_t)row / GAB_CACHE_LINE * GAB_CACHE_LINE, end = (uintptr_t)row + bytes;
  for (uintptr_t line = first; line < end; line += GAB_CACHE_LINE) __builtin_prefetch((const void *)line, 1);
}

static void ask_to_write_ends(const void *row, size_t bytes)
{
  const uintptr_t first = (uintptr_t)row, end = first + bytes;
  if (first % GAB_CACHE_LINE != 0) __builtin_prefetch((const void *)first, 1);
  if (end % GAB_CACHE_LINE != 0) __builtin_prefetch((const void *)end, 1);
}

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

static inline double dot(const double a[3], double x, double y, double z)
{
  return a[0] * x + a[1] * y + a[2] * z;
}

/* Guo's source without the rates, in a direction. @param[in] cf, cu, uf  products of it, the force and the velocity */
static inline double source(double weight, double cf, double cu, double uf)
{
  return weight * (3 * (cf - uf) + 9 * cu * cf);
}

/* Terms for the conversion of a pair of opposite directions. */
typedef struct pair_terms {
  double c[3], weight, scale, had[3], has[3]; /* had, has: the forces on both levels */
} pair_terms;

/* Scales the non-equilibrium part, the mean of both directions of a pair; removes the force terms of level `from`
 * and adds those of level `to`. Without branches, so that the loop is vectorised. */
static inline void scale_cells(pair_terms at, bool forced, const row *it, double *restrict a,
                               double *restrict b)
{
  const double *restrict drho = it->drho, *restrict square = it->square;
  const double *restrict ux = it->u[0], *restrict uy = it->u[1], *restrict uz = it->u[2];
  const double back[3] = {-at.c[0], -at.c[1], -at.c[2]};
  const double had_a = dot(at.c, at.had[0], at.had[1], at.had[2]);
  const double had_b = dot(back, at.had[0], at.had[1], at.had[2]);
  const double has_a = dot(at.c, at.has[0], at.has[1], at.has[2]);
  const double has_b = dot(back, at.has[0], at.has[1], at.has[2]);
#pragma omp simd
  for (int32_t i = 0; i < it->count; i++) {
    const double cu = dot(at.c, ux[i], uy[i], uz[i]), even = 4.5 * cu * cu, rho = 1 + drho[i];
    const double equal_a = at.weight * (drho[i] + rho * (3 * cu + even - 1.5 * square[i]));
    const double equal_b = at.weight * (drho[i] + rho * (-3 * cu + even - 1.5 * square[i]));
    double beyond_a = a[i] - equal_a, beyond_b = b[i] - equal_b;
    if (forced) {
      const double uf = ux[i] * at.had[0] + uy[i] * at.had[1] + uz[i] * at.had[2];
      beyond_a -= 0.5 * source(at.weight, had_a, cu, uf);
      beyond_b -= 0.5 * source(at.weight, had_b, -cu, uf);
    }
    const double scaled = at.scale * (0.5 * (beyond_a + beyond_b));
    double to_a = equal_a + scaled, to_b = equal_b + scaled;
    if (forced) {
      const double uf = ux[i] * at.has[0] + uy[i] * at.has[1] + uz[i] * at.has[2];
      to_a += 0.5 * source(at.weight, has_a, cu, uf);
      to_b += 0.5 * source(at.weight, has_b, -cu, uf);
    }
    a[i] = to_a;
    b[i] = to_b;
  }
}

static void scale_pair(const gab_lattice *lattice, const gab_level_model *from, const gab_level_model *to,
                       double scale, int q, row *it)
{
  const double *had = from->rates.force, *has = to->rates.force;
  const pair_terms terms = {.c = {lattice->c[q][0], lattice->c[q][1], lattice->c[q][2]},
                            .weight = lattice->weight[q],
                            .scale = scale,
                            .had = {had[0], had[1], had[2]},
                            .has = {has[0], has[1], has[2]}};
  double *a = it->f[q], *b = it->f[gab_lattice_opposite(q)];
  if (had[0] != 0 || had[1] != 0 || had[2] != 0) scale_cells(terms, true, it, a, b);
  else scale_cells(terms, false, it, a, b);
}

static void scale_rest(const gab_lattice *lattice, const gab_level_model *from, const gab_level_model *to,
                       double scale, row *it)
{
  const double w = lattice->weight[0], *had = from->rates.force, *has = to->rates.force, none[3] = {0, 0, 0};
  const double had_x = had[0], had_y = had[1], had_z = had[2], cf_had = dot(none, had_x, had_y, had_z);
  const double has_x = has[0], has_y = has[1], has_z = has[2], cf_has = dot(none, has_x, has_y, has_z);
  double *restrict rest = it->f[0];
  const double *restrict drho = it->drho, *restrict square = it->square;
  const double *restrict ux = it->u[0], *restrict uy = it->u[1], *restrict uz = it->u[2];
#pragma omp simd
  for (int32_t i = 0; i < it->count; i++) {
    const double uf_had = ux[i] * had_x + uy[i] * had_y + uz[i] * had_z;
    const double uf_has = ux[i] * has_x + uy[i] * has_y + uz[i] * has_z;
    const double equal = w * (drho[i] + (1 + drho[i]) * (0 - 1.5 * square[i]));
    const double beyond = rest[i] - equal - 0.5 * source(w, cf_had, 0, uf_had);
    rest[i] = equal + scale * beyond + 0.5 * source(w, cf_has, 0, uf_has);
  }
}

/* Removes the part of the equilibrium beyond second order before the conversion, and adds it afterwards. */
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

/* Visits the part of a parent that a child, or several adjacent children, cover: `wide` cells from cell `corner` of
 * the parent on. */
static void cross_all(const gab_lbm_model *model, const gab_lbm_block *from, gab_lbm_block *to,
                      const int32_t corner[3], int32_t wide)
{
  const bool deep = model->lattice->dimension == 3;
  const int32_t width = wide < GAB_LBM_ROW ? wide : GAB_LBM_ROW;
  const int32_t height = model->cells[1] / 2, most_rows = GAB_LBM_ROW / width;
  const double scale = gab_lbm_level_factor(from->at, to->at);
  const ptrdiff_t above = model->map.stride[1], behind = model->map.stride[2];
  for (int32_t z = 0; z < (deep ? model->cells[2] / 2 : 1); z++)
    for (int32_t y = 0; y < height; y += most_rows)
      for (int32_t x = 0; x < wide; x += width) {
        const patch it = {.at = {corner[0] + x, corner[1] + y, corner[2] + z},
                          .fine = {2 * x, 2 * y, deep ? 2 * z : 0},
                          .count = wide - x < width ? wide - x : width,
                          .rows = height - y < most_rows ? height - y : most_rows,
                          .fine_rows = deep ? 4 : 2,
                          .fine_row = {0, above, deep ? behind : 0, deep ? above + behind : 0}};
        cross_patch(model, from, to, &it, scale);
      }
  gab_nontemporal_fence();
}

/* Number of children processed together: one, or two adjacent ones. */
static int count_together(const gab_lbm_model *model, const gab_lbm_block *first, const gab_lbm_block *next)
{
  if (!next || !first->in_fused || !next->in_fused) return 1;
  if (next->now != first->now || !is_all_fluid(model, next)) return 1;
  const gab_data_place here = gab_fused_place_of(first), there = gab_fused_place_of(next);
  return there.memory == here.memory && there.at == here.at + (uint64_t)model->cells[0] ? 2 : 1;
}

int gab_lbm_split_rows(const gab_lbm_model *model, const gab_lbm_block *parent,
                       gab_lbm_block *const children[2], const int32_t corner[3])
{
  if (!is_all_fluid(model, parent) || !is_all_fluid(model, children[0])) return 0;
  const int count = count_together(model, children[0], children[1]);
  cross_all(model, parent, children[0], corner, count * model->cells[0] / 2);
  return count;
}

int gab_lbm_merge_rows(const gab_lbm_model *model, const gab_lbm_block *const children[2],
                       gab_lbm_block *parent, const int32_t corner[3])
{
  if (!is_all_fluid(model, parent) || !is_all_fluid(model, children[0])) return 0;
  const int count = count_together(model, children[0], children[1]);
  cross_all(model, children[0], parent, corner, count * model->cells[0] / 2);
  return count;
}
