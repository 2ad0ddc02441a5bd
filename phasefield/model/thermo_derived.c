/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities derived from the free energies of several phases. */
#include "phasefield/model/thermo_impl.h"

#include <math.h>
#include <stdio.h>

enum { MOST_UNKNOWNS = GAB_MOST_INDEPENDENTS + 1, NEWTON_STEPS = 60 };

/* Gauss with column pivots; false if the matrix is singular. */
static bool eliminate(int n, double a[MOST_UNKNOWNS][MOST_UNKNOWNS], double *b)
{
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
    if (!(fabs(a[pivot][k]) > 1e-14)) return false;
    for (int j = 0; j < n; j++) {
      double keep = a[k][j];
      a[k][j] = a[pivot][j];
      a[pivot][j] = keep;
    }
    double keep = b[k];
    b[k] = b[pivot];
    b[pivot] = keep;
    for (int i = k + 1; i < n; i++) {
      double factor = a[i][k] / a[k][k];
      for (int j = k; j < n; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return true;
}

/* ------------------------------------------------------------------------------------------ equilibria */

static double difference(const gab_thermo *thermo, int a, int b, double temperature, const double *mu)
{
  return gab_thermo_grand_potential(thermo, a, temperature, mu) -
         gab_thermo_grand_potential(thermo, b, temperature, mu);
}

/* One Newton step for psi_a = psi_melt of all solids. @return the largest difference before it, NaN if there
 * is no step */
static double newton_step(const gab_thermo *thermo, double *temperature, double *mu)
{
  const int n = thermo->independents, melt = thermo->phases - 1;
  const double h = 1e-5 * fmax(fabs(*temperature), 1e-3);
  double a[MOST_UNKNOWNS][MOST_UNKNOWNS], b[MOST_UNKNOWNS], worst = 0;
  double c[GAB_MOST_INDEPENDENTS], c_melt[GAB_MOST_INDEPENDENTS];
  gab_thermo_concentration(thermo, melt, *temperature, mu, c_melt);
  for (int i = 0; i < melt; i++) {
    gab_thermo_concentration(thermo, i, *temperature, mu, c);
    for (int j = 0; j < n; j++) a[i][j] = c_melt[j] - c[j]; /* d psi / d mu = -c */
    a[i][n] = (difference(thermo, i, melt, *temperature + h, mu) -
               difference(thermo, i, melt, *temperature - h, mu)) /
              (2 * h);
    b[i] = difference(thermo, i, melt, *temperature, mu);
    worst = fmax(worst, fabs(b[i]));
  }
  if (!eliminate(n + 1, a, b)) return NAN;
  for (int j = 0; j < n; j++) mu[j] -= b[j];
  *temperature -= b[n];
  return worst;
}

gab_status gab_thermo_eutectic(const gab_thermo *thermo, double *temperature, double *mu)
{
  if (thermo->phases != thermo->independents + 2)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "%d phases of %d components have no point of equilibrium: it takes one phase more than components",
        thermo->phases, thermo->independents + 1);
  double t = *temperature, m[GAB_MOST_INDEPENDENTS] = {0}, worst = INFINITY, before = INFINITY;
  for (int i = 0; i < thermo->independents; i++) m[i] = mu[i];
  for (int step = 0; step < NEWTON_STEPS; step++) {
    worst = newton_step(thermo, &t, m);
    if (!isfinite(worst) || (worst < 1e-12 && worst >= before)) break;
    before = worst;
  }
  if (!(worst < 1e-12) || !isfinite(t))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "no temperature and chemical potentials at which all %d phases are in equilibrium were found from "
        "the temperature %g: the grand potentials still differ by %g",
        thermo->phases, *temperature, worst);
  *temperature = t;
  for (int i = 0; i < thermo->independents; i++) mu[i] = m[i];
  return GAB_OK;
}

gab_status gab_thermo_tie_line(const gab_thermo *thermo, int a, int b, double temperature, double *mu)
{
  const int n = thermo->independents;
  double gap = INFINITY, before = INFINITY;
  for (int step = 0; step < NEWTON_STEPS; step++) {
    double ca[GAB_MOST_INDEPENDENTS], cb[GAB_MOST_INDEPENDENTS], square = 0;
    gab_thermo_concentration(thermo, a, temperature, mu, ca);
    gab_thermo_concentration(thermo, b, temperature, mu, cb);
    gap = difference(thermo, a, b, temperature, mu);
    if (!isfinite(gap) || (fabs(gap) < 1e-12 && fabs(gap) >= before)) break;
    before = fabs(gap);
    for (int i = 0; i < n; i++) square += (ca[i] - cb[i]) * (ca[i] - cb[i]);
    if (!(square > 0)) break;
    for (int i = 0; i < n; i++) mu[i] += gap * (ca[i] - cb[i]) / square;
  }
  if (fabs(gap) < 1e-12) return GAB_OK;
  GAB_FAIL(GAB_ERR_INPUT,
           "no equilibrium of %s and %s at the temperature %g was found: the grand potentials "
           "still differ by %g",
           thermo->phase[a].name, thermo->phase[b].name, temperature, gap);
}

/* ------------------------------------------------------------------------------------------ interfaces */

static double h_of(gab_interpolation interpolation, double phi)
{
  if (interpolation == GAB_INTERPOLATION_CUBIC) return phi * phi * (3 - 2 * phi);
  double other = 1 - phi;
  return phi * phi / (phi * phi + other * other);
}

double gab_thermo_interface_integral(gab_interpolation interpolation, gab_potential potential)
{
  const double pi = 3.14159265358979323846;
  const bool obstacle = potential == GAB_POTENTIAL_OBSTACLE;
  /* Width in epsilon: exactly pi^2/4; far enough that tails of the well are below rounding. */
  const double half = obstacle ? pi * pi / 8 : 14;
  enum { POINTS = 4000 };
  double sum = 0;
  for (int i = 0; i < POINTS; i++) {
    double x = half * ((2 * i + 1.0) / POINTS - 1);
    double phi = obstacle ? 0.5 * (1 + sin(4 * x / pi)) : 1 / (1 + exp(-3 * x));
    double h = h_of(interpolation, phi);
    sum += h * (1 - h);
  }
  return sum * 2 * half / POINTS;
}

gab_status gab_thermo_kinetics_free_tau(const gab_thermo *thermo, int solid, double temperature,
                                        const double *mu, double epsilon, gab_interpolation interpolation,
                                        gab_potential potential, double *tau)
{
  const int n = thermo->independents, melt = thermo->phases - 1;
  double c[GAB_MOST_INDEPENDENTS], c_melt[GAB_MOST_INDEPENDENTS], x[GAB_MOST_INDEPENDENTS], form = 0;
  const double diffusivity = thermo->phase[melt].diffusivity;
  if (!(diffusivity > 0))
    GAB_FAIL(GAB_ERR_INPUT, "the melt %s has no diffusivity: tau of %s cannot follow from it",
             thermo->phase[melt].name, thermo->phase[solid].name);
  gab_thermo_concentration(thermo, solid, temperature, mu, c);
  gab_thermo_concentration(thermo, melt, temperature, mu, c_melt);
  for (int i = 0; i < n; i++) c[i] = c_melt[i] - c[i];
  gab_thermo_solve(n, &thermo->susceptibility[melt][0][0], c, x);
  for (int i = 0; i < n; i++) form += c[i] * x[i];
  if (!(form > 0))
    GAB_FAIL(GAB_ERR_INPUT, "%s and the melt have the same composition: tau must be given",
             thermo->phase[solid].name);
  *tau = epsilon * gab_thermo_interface_integral(interpolation, potential) * form / diffusivity;
  return GAB_OK;
}

/* The largest eigenvalue of chi_b^-1 chi_a by power iteration: both are symmetric and positive definite. */
static double largest_ratio(const gab_thermo *thermo, int a, int b)
{
  const int n = thermo->independents;
  double v[GAB_MOST_INDEPENDENTS] = {1, 0.61803398875, 0.41421356237}, ratio = 0;
  for (int step = 0; step < 200; step++) {
    double w[GAB_MOST_INDEPENDENTS], x[GAB_MOST_INDEPENDENTS], form = 0, norm = 0, largest = 0;
    for (int i = 0; i < n; i++) {
      w[i] = 0;
      for (int j = 0; j < n; j++) w[i] += thermo->susceptibility[a][i][j] * v[j];
    }
    gab_thermo_solve(n, &thermo->susceptibility[b][0][0], w, x);
    for (int i = 0; i < n; i++) { /* the Rayleigh quotient in the scalar product of chi_b */
      double row = 0;
      for (int j = 0; j < n; j++) row += thermo->susceptibility[b][i][j] * v[j];
      form += v[i] * w[i];
      norm += v[i] * row;
      largest = fmax(largest, fabs(x[i]));
    }
    ratio = form / norm;
    for (int i = 0; i < n; i++) v[i] = x[i] / largest;
  }
  return ratio;
}

double gab_thermo_fastest_diffusion(const gab_thermo *thermo)
{
  double fastest = 0;
  for (int a = 0; a < thermo->phases; a++)
    for (int b = 0; b < thermo->phases && thermo->phase[a].diffusivity > 0; b++)
      fastest = fmax(fastest, thermo->phase[a].diffusivity * largest_ratio(thermo, a, b));
  return fastest;
}
