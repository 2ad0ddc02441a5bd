/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/campaign/grid_convergence.h"

#include <math.h>
#include <stdbool.h>

/* Differences of at most that many rounding errors of the values count as 0. */
static const double roundings = 64 * 0x1p-52, least_order = 0.1, most_order = 20;

/* @param[in] quotient  |e32 / e21|. @return NaN if the iteration does not converge */
static double order_of(double quotient, double r21, double r32, double sign)
{
  double p = log(quotient) / log(r21);
  for (int i = 0; i < 200; i++) {
    const double lower = pow(r32, p) - sign, q = r21 == r32 ? 0 : log((pow(r21, p) - sign) / lower);
    const double next = fabs(log(quotient) + q) / log(r21);
    if (!isfinite(next)) return NAN;
    if (fabs(next - p) <= 1e-12 * fmax(1, p)) return next;
    p = 0.5 * (p + next);
  }
  return NAN;
}

static gab_convergence extrapolated(gab_convergence_kind kind, double order, double used, double fine,
                                    double coarse, double ratio, double factor)
{
  const double step = (fine - coarse) / (pow(ratio, used) - 1);
  return (gab_convergence){kind, order, fine + step, factor * fabs(step)};
}

gab_convergence gab_convergence_of(const double *value, const double *width, size_t count, double assumed,
                                   double noise)
{
  const double fine = value[count - 1], middle = value[count - 2], e21 = middle - fine;
  const double r21 = width[count - 2] / width[count - 1];
  const double e32 = count > 2 ? value[count - 3] - middle : 0;
  noise = fmax(noise, roundings * fmax(fabs(fine), fabs(middle)));
  if (fabs(e21) <= noise && fabs(e32) <= noise)
    return (gab_convergence){GAB_CONVERGENCE_EQUAL, NAN, fine, noise};
  if (count == 2) return extrapolated(GAB_CONVERGENCE_ASSUMED, assumed, assumed, fine, middle, r21, 3);
  const gab_convergence none = {GAB_CONVERGENCE_NONE, NAN, fine,
                                fmax(fabs(e21), fmax(fabs(e32), fabs(e21 + e32)))};
  if (fabs(e21) <= noise || fabs(e32) <= noise) return none;
  const double r32 = width[count - 3] / width[count - 2], sign = e32 / e21 > 0 ? 1 : -1;
  const double order = order_of(fabs(e32 / e21), r21, r32, sign);
  const bool decreases = fabs(e32 / e21) > log(r32) / log(r21); /* ratio for an order of 0 */
  if (isnan(order) || order < least_order || order > most_order || !decreases) return none;
  if (sign < 0)
    return (gab_convergence){GAB_CONVERGENCE_OSCILLATING, NAN, fine, 0.5 * fmax(fabs(e21), fabs(e32))};
  const double used = fmin(order, assumed);
  return extrapolated(GAB_CONVERGENCE_MONOTONIC, order, used, fine, middle, r21, 1.25);
}
