/* SPDX-License-Identifier: Apache-2.0 */
/* BiCGStab on the finest level (van der Vorst 1992, SIAM J. Sci. Stat. Comput. 13, 631), preconditioned from the right by a V-cycle. It
 * needs no symmetric operator, so levels of blocks may be there. FIELD_F is the right-hand side of a cycle, and FIELD_U its result. */
#include "blockforest/elliptic/elliptic_impl.h"

#include <math.h>

/* FIELD_U = V-cycle for `from`; FIELD_NEXT = A FIELD_U. Collective. */
static gab_status precondition_and_apply(gab_elliptic *elliptic, gab_data_id from)
{
  elliptic_level *level = &elliptic->levels[0];
  gab_elliptic_combine(elliptic, level->blocks[FIELD_F], from, 0, from);
  GAB_TRY(gab_elliptic_cycle(elliptic, 0, true, true));
  GAB_TRY(gab_elliptic_fill_ghosts(elliptic, level, true));
  gab_elliptic_apply(elliptic, level);
  return GAB_OK;
}

/* A quotient of products that vanish or are no numbers ends the iteration: the residual tells. */
static bool has_quotient(double over, double under, double *quotient)
{
  *quotient = under != 0 ? over / under : 0;
  if (!isfinite(*quotient)) *quotient = 0;
  return *quotient != 0;
}

/* One iteration. `applied` is A times the preconditioned direction. @param[in,out] rho  product of first and present residual
 * @param[out] broken  the method cannot continue from here */
static gab_status step(gab_elliptic *elliptic, double *rho, double *residual, bool *broken)
{
  elliptic_level *level = &elliptic->levels[0];
  const gab_data_id u = level->blocks[FIELD_U], next = level->blocks[FIELD_NEXT], f = level->blocks[FIELD_F],
                    x = elliptic->solution, r = elliptic->rest, p = elliptic->direction,
                    applied = elliptic->preconditioned;
  double product, square, length, damping, beta;
  *broken = true;
  GAB_TRY(precondition_and_apply(elliptic, p));
  gab_elliptic_combine(elliptic, applied, next, 0, next);
  GAB_TRY(gab_elliptic_dot(elliptic, elliptic->shadow, applied, &product));
  if (!has_quotient(*rho, product, &length)) return GAB_OK;
  gab_elliptic_combine(elliptic, x, x, length, u);
  gab_elliptic_combine(elliptic, r, r, -length, applied);
  GAB_TRY(precondition_and_apply(elliptic, r));
  GAB_TRY(gab_elliptic_dot(elliptic, next, r, &product));
  GAB_TRY(gab_elliptic_dot(elliptic, next, next, &square));
  const bool is_damped = has_quotient(product, square, &damping);
  gab_elliptic_combine(elliptic, x, x, damping, u);
  gab_elliptic_combine(elliptic, r, r, -damping, next);
  gab_elliptic_combine(elliptic, f, r, 0, r);
  GAB_TRY(gab_elliptic_largest(elliptic, FIELD_F, residual));
  const double before = *rho;
  GAB_TRY(gab_elliptic_dot(elliptic, elliptic->shadow, r, rho));
  if (!is_damped || !has_quotient(*rho, before, &beta)) return GAB_OK;
  beta *= length / damping;
  gab_elliptic_combine(elliptic, p, p, -damping, applied);
  gab_elliptic_combine(elliptic, p, r, beta, p);
  *broken = false;
  return GAB_OK;
}

gab_status gab_elliptic_bicgstab(gab_elliptic *elliptic, int most, double limit, int *iterations,
                                 double *residual)
{
  const elliptic_level *level = &elliptic->levels[0];
  const gab_data_id u = level->blocks[FIELD_U], next = level->blocks[FIELD_NEXT], x = elliptic->solution;
  bool broken = false;
  double rho;
  gab_elliptic_combine(elliptic, x, u, 0, u);                    /* the initial guess */
  gab_elliptic_combine(elliptic, elliptic->rest, next, 0, next); /* FIELD_NEXT holds its residual */
  gab_elliptic_combine(elliptic, elliptic->shadow, next, 0, next);
  gab_elliptic_combine(elliptic, elliptic->direction, next, 0, next);
  GAB_TRY(gab_elliptic_dot(elliptic, elliptic->shadow, elliptic->rest, &rho));
  for (*iterations = 0; *iterations<most && * residual> limit && !broken; ++*iterations)
    GAB_TRY(step(elliptic, &rho, residual, &broken));
  gab_elliptic_combine(elliptic, u, x, 0, x);
  return GAB_OK;
}
