/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that need series: rectangular ducts, oscillating flow in channels and tubes. */
#include <stdbool.h>

#include "lbm/sides/profiles_impl.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------------------------ Bessel */

/* Ascending series: Abramowitz & Stegun 9.1.10. On the diagonal of the plane its terms cancel to exp(-0.29 |z|) of the largest. */
static double _Complex ascending(int order, double _Complex z)
{
  const double _Complex square = -z * z / 4;
  double _Complex term = order == 0 ? 1 : z / 2, sum = term;
  for (int k = 1; k < 200; k++) {
    term *= square / ((double)k * (k + order));
    sum += term;
    if (cabs(term) < 1e-18 * cabs(sum)) break;
  }
  return sum;
}

/* Hankel's expansion: Abramowitz & Stegun 9.2.5, for a real part above 0, until its terms grow. */
static double _Complex asymptotic(int order, double _Complex z)
{
  const double mu = 4.0 * order * order;
  double _Complex p = 1, q = 0, term = 1;
  double last = 1;
  for (int k = 1; k < 60; k++) {
    const double odd = 2 * k - 1;
    term *= (mu - odd * odd) / (k * 8 * z);
    if (cabs(term) >= last) break;
    last = cabs(term);
    const double sign = k / 2 % 2 == 0 ? 1 : -1;
    if (k % 2 == 0) p += sign * term;
    else q += sign * term;
    if (last < 1e-18) break;
  }
  const double _Complex phase = z - (0.5 * order + 0.25) * pi;
  return csqrt(2 / (pi * z)) * (p * ccos(phase) - q * csin(phase));
}

double _Complex gab_bessel_j(int order, double _Complex z)
{
  if (cabs(z) <= 20) return ascending(order, z);
  if (creal(z) >= 0) return asymptotic(order, z);
  return order == 0 ? asymptotic(0, -z) : -asymptotic(1, -z);
}

/* ------------------------------------------------------------------------------------------ duct */

/* cosh(x) / cosh(y) without overflow, 0 <= x <= y. */
static double ratio_of_cosh(double x, double y) { return exp(x - y) * (1 + exp(-2 * x)) / (1 + exp(-2 * y)); }

/* The parabola across a, less a series whose terms fall with the distance from the walls at b. Times 2 viscosity / pressure gradient. */
static double duct(double y, double z, double a, double b)
{
  double sum = 0;
  for (int n = 1; n < 20001; n += 2) {
    const double k = n * pi / (2 * a), most = ratio_of_cosh(k * fabs(z), k * b) / ((double)n * n * n);
    sum += (n / 2 % 2 == 0 ? 1 : -1) * most * cos(k * y);
    if (most < 1e-17) break;
  }
  return a * a - y * y - 32 * a * a / (pi * pi * pi) * sum;
}

double gab_profile_duct(double y, double z, double a, double b)
{
  if (!(fabs(y) < a && fabs(z) < b)) return 0;
  const double middle = a <= b ? duct(0, 0, a, b) : duct(0, 0, b, a);
  /* The direction in which the series converges faster here; both give the same function. */
  const bool across_z = (b - fabs(z)) / a >= (a - fabs(y)) / b;
  return (across_z ? duct(y, z, a, b) : duct(z, y, b, a)) / middle;
}

/* ------------------------------------------------------------------------------------------ Womersley */

/* cosh(k x) / cosh(k) for 0 <= x <= 1 and a real part of k that is not negative. */
static double _Complex ratio_of_complex_cosh(double _Complex k, double x)
{
  return cexp(k * (x - 1)) * (1 + cexp(-2 * k * x)) / (1 + cexp(-2 * k));
}

double _Complex gab_profile_womersley(bool tube, double alpha, double place)
{
  const double along = alpha / sqrt(2), x = fabs(place);
  if (!(x < 1)) return 0;
  if (!tube) {
    const double _Complex k = along * (1 + I), tangent = (1 - cexp(-2 * k)) / (1 + cexp(-2 * k));
    return (1 - ratio_of_complex_cosh(k, x)) / (1 - tangent / k);
  }
  const double _Complex k = along * (1 - I), at_wall = gab_bessel_j(0, k);
  return (1 - gab_bessel_j(0, k * x) / at_wall) / (1 - 2 * gab_bessel_j(1, k) / (k * at_wall));
}
