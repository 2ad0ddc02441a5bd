/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients on the finest level (Hestenes and Stiefel 1952), preconditioned by the diagonal. FIELD_F holds the residual
 * and FIELD_U the direction, whose ghosts are exchanged; the solution has a field of its own. */
#include "blockforest/elliptic/elliptic_impl.h"

void gab_elliptic_combine(const gab_elliptic *elliptic, gab_data_id to, gab_data_id a, double factor,
                          gab_data_id b)
{
  const ptrdiff_t blocks = (ptrdiff_t)gab_forest_block_count(elliptic->forest);
  const int32_t *cells = elliptic->levels[0].cells;
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < blocks; i++) {
    const gab_block *block = gab_forest_block(elliptic->forest, (size_t)i);
    const gab_field *first = gab_block_data(block, a), *second = gab_block_data(block, b);
    gab_field *made = gab_block_data(block, to);
    for (int32_t z = 0; z < cells[2]; z++)
      for (int32_t y = 0; y < cells[1]; y++) {
        const size_t at = gab_field_index(&made->map, 0, y, z, 0);
        const double *left = (const double *)first->data + at, *right = (const double *)second->data + at;
        double *out = (double *)made->data + at;
        for (int32_t x = 0; x < cells[0]; x++) out[x] = left[x] + factor * right[x];
      }
  }
}

/* The residual divided by the diagonal. */
static void precondition(const gab_elliptic *elliptic)
{
  const elliptic_level *level = &elliptic->levels[0];
  const double constant = gab_elliptic_diagonal(elliptic, level->width);
  const ptrdiff_t blocks = (ptrdiff_t)gab_forest_block_count(elliptic->forest);
  const bool is_own = elliptic->options.operation.apply != NULL;
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < blocks; i++) {
    const gab_block *block = gab_forest_block(elliptic->forest, (size_t)i);
    const gab_field *r = gab_block_data(block, level->blocks[FIELD_F]);
    const double *d =
        is_own ? ((gab_field *)gab_block_data(block, level->blocks[FIELD_DIAGONAL]))->data : NULL;
    gab_field *to = gab_block_data(block, elliptic->preconditioned);
    for (int32_t z = 0; z < level->cells[2]; z++)
      for (int32_t y = 0; y < level->cells[1]; y++) {
        const size_t at = gab_field_index(&r->map, 0, y, z, 0);
        for (size_t x = at; x < at + (size_t)level->cells[0]; x++)
          ((double *)to->data)[x] = ((const double *)r->data)[x] / (d ? d[x] : constant);
      }
  }
}

gab_status gab_elliptic_dot(gab_elliptic *elliptic, gab_data_id a, gab_data_id b, double *dot)
{
  return gab_forest_dot(elliptic->forest, (gab_block_component){a, 0}, (gab_block_component){b, 0}, dot);
}

gab_status gab_elliptic_conjugate(gab_elliptic *elliptic, int most, double limit, int *iterations,
                                  double *residual)
{
  elliptic_level *level = &elliptic->levels[0];
  const gab_data_id u = level->blocks[FIELD_U], r = level->blocks[FIELD_F],
                    applied = level->blocks[FIELD_NEXT], x = elliptic->solution, z = elliptic->preconditioned;
  double rz, pap;
  gab_elliptic_combine(elliptic, x, u, 0, u);             /* the initial guess */
  gab_elliptic_combine(elliptic, r, applied, 0, applied); /* FIELD_NEXT holds its residual */
  precondition(elliptic);
  gab_elliptic_combine(elliptic, u, z, 0, z);
  GAB_TRY(gab_elliptic_dot(elliptic, r, z, &rz));
  for (*iterations = 0; *iterations<most && * residual> limit; ++*iterations) {
    GAB_TRY(gab_elliptic_fill_ghosts(elliptic, level, true));
    gab_elliptic_apply(elliptic, level);
    GAB_TRY(gab_elliptic_dot(elliptic, u, applied, &pap));
    if (!(pap > 0)) break; /* the residual tells */
    gab_elliptic_combine(elliptic, x, x, rz / pap, u);
    gab_elliptic_combine(elliptic, r, r, -rz / pap, applied);
    GAB_TRY(gab_elliptic_largest(elliptic, FIELD_F, residual));
    precondition(elliptic);
    const double before = rz;
    GAB_TRY(gab_elliptic_dot(elliptic, r, z, &rz));
    gab_elliptic_combine(elliptic, u, z, rz / before, u);
  }
  gab_elliptic_combine(elliptic, u, x, 0, x);
  return GAB_OK;
}

/* FIELD_U is the result of the cycle, so the direction has a field of its own, and `preconditioned' holds A times the direction. The
 * V-cycle is symmetric but for rounding and the tolerance of the coarsest level; a product of its own makes the next direction conjugate to
 * the last one all the same (flexible conjugate gradients, Notay 2000, SIAM J. Sci. Comput. 22, 1444). */
gab_status gab_elliptic_conjugate_multigrid(gab_elliptic *elliptic, int most, double limit, int *iterations,
                                            double *residual)
{
  elliptic_level *level = &elliptic->levels[0];
  const gab_data_id u = level->blocks[FIELD_U], r = level->blocks[FIELD_F], next = level->blocks[FIELD_NEXT],
                    applied = elliptic->preconditioned, x = elliptic->solution, p = elliptic->direction;
  double rz, pap, zap;
  gab_elliptic_combine(elliptic, x, u, 0, u);
  gab_elliptic_combine(elliptic, r, next, 0, next);
  GAB_TRY(gab_elliptic_cycle(elliptic, 0, true, true));
  gab_elliptic_combine(elliptic, p, u, 0, u);
  for (*iterations = 0; *iterations<most && * residual> limit; ++*iterations) {
    GAB_TRY(gab_elliptic_dot(elliptic, r, p, &rz));
    gab_elliptic_combine(elliptic, u, p, 0, p);
    GAB_TRY(gab_elliptic_fill_ghosts(elliptic, level, true));
    gab_elliptic_apply(elliptic, level);
    gab_elliptic_combine(elliptic, applied, next, 0, next);
    GAB_TRY(gab_elliptic_dot(elliptic, u, applied, &pap));
    if (!(pap > 0)) break; /* the residual tells */
    gab_elliptic_combine(elliptic, x, x, rz / pap, p);
    gab_elliptic_combine(elliptic, r, r, -rz / pap, applied);
    GAB_TRY(gab_elliptic_largest(elliptic, FIELD_F, residual));
    GAB_TRY(gab_elliptic_cycle(elliptic, 0, true, true));
    GAB_TRY(gab_elliptic_dot(elliptic, u, applied, &zap));
    gab_elliptic_combine(elliptic, p, u, -zap / pap, p);
  }
  gab_elliptic_combine(elliptic, u, x, 0, x);
  return GAB_OK;
}
