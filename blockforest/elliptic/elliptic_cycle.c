/* SPDX-License-Identifier: Apache-2.0 */
/* V-cycles of the multigrid solver, and the coarsest level. */
#include "blockforest/elliptic/elliptic_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- the coarsest level */

static size_t cells_in(const elliptic_level *level)
{
  return (size_t)level->cells[0] * (size_t)level->cells[1] * (size_t)level->cells[2];
}

/* Between an array without ghosts and a whole field. */
static void copy_rows(const elliptic_level *level, gab_field *field, double *values, bool to_field)
{
  const size_t bytes = (size_t)level->cells[0] * sizeof(double);
  for (int32_t z = 0; z < level->cells[2]; z++)
    for (int32_t y = 0; y < level->cells[1]; y++, values += level->cells[0]) {
      double *row = (double *)field->data + gab_field_index(&field->map, 0, y, z, 0);
      if (to_field) memcpy(row, values, bytes);
      else memcpy(values, row, bytes);
    }
}

static double dot(const double *a, const double *b, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void subtract_mean(double *values, size_t count)
{
  double mean = 0;
  for (size_t i = 0; i < count; i++) mean += values[i];
  mean /= (double)count;
  for (size_t i = 0; i < count; i++) values[i] -= mean;
}

/* All processes compute the same, in the same order. Each iteration needs A p: p lies in FIELD_U for that. */
void gab_elliptic_bottom(gab_elliptic *elliptic, elliptic_level *level)
{
  const size_t count = cells_in(level);
  double *x = elliptic->bottom[0], *r = elliptic->bottom[1], *p = elliptic->bottom[2];
  gab_field *u = level->whole[FIELD_U], *applied = level->whole[FIELD_NEXT];
  memset(x, 0, count * sizeof *x);
  copy_rows(level, level->whole[FIELD_F], r, false);
  if (elliptic->is_singular) subtract_mean(r, count);
  memcpy(p, r, count * sizeof *p);
  double rr = dot(r, r, count);
  const double enough = 1e-20 * rr;
  for (size_t i = 0; i < 4 * count && rr > enough; i++) {
    copy_rows(level, u, p, true);
    (void)gab_elliptic_fill_ghosts(elliptic, level, true); /* of one piece: nothing to wait for */
    gab_elliptic_apply(elliptic, level);
    double ap = 0;
    for (int32_t z = 0, at = 0; z < level->cells[2]; z++)
      for (int32_t y = 0; y < level->cells[1]; y++, at += level->cells[0])
        ap += dot(p + at, (double *)applied->data + gab_field_index(&applied->map, 0, y, z, 0),
                  (size_t)level->cells[0]);
    if (!(ap > 0)) break;
    const double step = rr / ap, before = rr;
    for (int32_t z = 0, at = 0; z < level->cells[2]; z++)
      for (int32_t y = 0; y < level->cells[1]; y++, at += level->cells[0]) {
        const double *row = (double *)applied->data + gab_field_index(&applied->map, 0, y, z, 0);
        for (int32_t c = 0; c < level->cells[0]; c++) {
          x[at + c] += step * p[at + c];
          r[at + c] -= step * row[c];
        }
      }
    rr = dot(r, r, count);
    for (size_t c = 0; c < count; c++) p[c] = r[c] + rr / before * p[c];
  }
  copy_rows(level, u, x, true);
}

/* ---------------------------------------------------------------- a cycle */

static gab_status smooth(gab_elliptic *elliptic, elliptic_level *level, bool from_zero, bool homogeneous)
{
  for (int i = 0; i < elliptic->options.sweeps; i++) {
    if (i == 0 && from_zero) {
      GAB_TRY(gab_elliptic_first_sweep(elliptic, level, elliptic->weights[0]));
      continue;
    }
    GAB_TRY(gab_elliptic_fill_ghosts(elliptic, level, homogeneous));
    GAB_TRY(gab_elliptic_sweep(elliptic, level, elliptic->weights[i]));
  }
  return GAB_OK;
}

gab_status gab_elliptic_cycle(gab_elliptic *elliptic, int number, bool from_zero, bool homogeneous)
{
  elliptic_level *level = &elliptic->levels[number];
  if (number == elliptic->level_count - 1) {
    gab_elliptic_bottom(elliptic, level);
    return GAB_OK;
  }
  int next = number + 1 + (number == 0 ? elliptic->unused : 0); /* levels between have the same cells */
  if (number < elliptic->first_whole && next > elliptic->first_whole) next = elliptic->first_whole;
  elliptic_level *coarse = &elliptic->levels[next];
  GAB_TRY(smooth(elliptic, level, from_zero, homogeneous));
  GAB_TRY(gab_elliptic_fill_ghosts(elliptic, level, homogeneous));
  gab_elliptic_residual(elliptic, level);
  gab_elliptic_restrict(elliptic, level, coarse);
  if (next == elliptic->first_whole) GAB_TRY(gab_elliptic_gather(elliptic));
  GAB_TRY(gab_elliptic_cycle(elliptic, next, true, true));
  GAB_TRY(gab_elliptic_fill_ghosts(elliptic, coarse, true));
  gab_elliptic_prolong(elliptic, level, coarse);
  return smooth(elliptic, level, false, homogeneous);
}
