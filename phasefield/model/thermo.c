/* SPDX-License-Identifier: Apache-2.0 */
#include "phasefield/model/thermo_impl.h"

#include <math.h>
#include <string.h>

double gab_of_temperature_at(const gab_of_temperature *what, double temperature)
{
  if (what->count == 0) return what->value + what->slope * temperature;
  int piece = 0;
  while (piece < what->count - 2 && temperature > what->temperatures[piece + 1]) piece++;
  const double *t = what->temperatures + piece, *v = what->values + piece;
  return v[0] + (v[1] - v[0]) / (t[1] - t[0]) * (temperature - t[0]);
}

/* ------------------------------------------------------------------------------------------ algebra */

/* L of A = L L^T; false if A is not positive definite. */
static bool factorise(int n, const double *a, double l[GAB_MOST_INDEPENDENTS][GAB_MOST_INDEPENDENTS])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double rest = a[GAB_MOST_INDEPENDENTS * i + j];
      for (int k = 0; k < j; k++) rest -= l[i][k] * l[j][k];
      if (i == j && !(rest > 0 && isfinite(rest))) return false;
      l[i][j] = i == j ? sqrt(rest) : rest / l[j][j];
    }
  return true;
}

bool gab_thermo_solve(int n, const double *a, const double *b, double *x)
{
  double l[GAB_MOST_INDEPENDENTS][GAB_MOST_INDEPENDENTS], y[GAB_MOST_INDEPENDENTS];
  if (!factorise(n, a, l)) return false;
  for (int i = 0; i < n; i++) {
    y[i] = b[i];
    for (int k = 0; k < i; k++) y[i] -= l[i][k] * y[k];
    y[i] /= l[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] = y[i];
    for (int k = i + 1; k < n; k++) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
  }
  return true;
}

/* ------------------------------------------------------------------------------------------ checks */

static gab_status check_table(const gab_phase_energy *phase, const gab_of_temperature *what, const char *name)
{
  if (what->count == 0) {
    if (isfinite(what->value) && isfinite(what->slope)) return GAB_OK;
    GAB_FAIL(GAB_ERR_INPUT, "phase %s: %s is not finite", phase->name, name);
  }
  if (what->count < 2 || what->count > GAB_THERMO_TABLE_LENGTH)
    GAB_FAIL(GAB_ERR_INPUT, "phase %s: the table of %s has %d points, it needs 2 to %d", phase->name, name,
             what->count, (int)GAB_THERMO_TABLE_LENGTH);
  for (int i = 0; i < what->count; i++) {
    if (!isfinite(what->temperatures[i]) || !isfinite(what->values[i]))
      GAB_FAIL(GAB_ERR_INPUT, "phase %s: point %d of the table of %s is not finite", phase->name, i, name);
    if (i > 0 && !(what->temperatures[i] > what->temperatures[i - 1]))
      GAB_FAIL(GAB_ERR_INPUT, "phase %s: the temperatures of the table of %s do not ascend: %g, %g",
               phase->name, name, what->temperatures[i - 1], what->temperatures[i]);
  }
  return GAB_OK;
}

/* Sylvester: the leading minors are positive; the message has the first one that is not. */
static double leading_minor(const gab_phase_energy *phase, int order)
{
  const double(*a)[GAB_MOST_INDEPENDENTS] = phase->curvature;
  if (order == 1) return a[0][0];
  if (order == 2) return a[0][0] * a[1][1] - a[0][1] * a[1][0];
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

static gab_status check_name(const char *name)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (!name[0] || name[strspn(name, allowed)])
    GAB_FAIL(GAB_ERR_INPUT, "`%s' cannot be the name of a phase: letters, digits, _ and -", name);
  return GAB_OK;
}

static gab_status check_phase(const gab_thermo *thermo, int index)
{
  const gab_phase_energy *phase = &thermo->phase[index];
  double factor[GAB_MOST_INDEPENDENTS][GAB_MOST_INDEPENDENTS];
  int n = thermo->independents;
  GAB_TRY(check_name(phase->name));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if (phase->curvature[i][j] != phase->curvature[j][i])
        GAB_FAIL(GAB_ERR_INPUT, "phase %s: Xi is not symmetric: element (%d, %d) is %g, (%d, %d) is %g",
                 phase->name, i, j, phase->curvature[i][j], j, i, phase->curvature[j][i]);
  if (!factorise(n, &phase->curvature[0][0], factor)) {
    int order = 1;
    while (order < n && leading_minor(phase, order) > 0) order++;
    GAB_FAIL(GAB_ERR_INPUT, "phase %s: Xi is not positive definite: its leading minor of order %d is %g",
             phase->name, order, leading_minor(phase, order));
  }
  if (!(phase->diffusivity >= 0 && isfinite(phase->diffusivity)))
    GAB_FAIL(GAB_ERR_INPUT, "phase %s: the diffusivity cannot be %g", phase->name, phase->diffusivity);
  for (int i = 0; i < n; i++) GAB_TRY(check_table(phase, &phase->linear[i], "xi"));
  GAB_TRY(check_table(phase, &phase->constant, "X"));
  for (int other = 0; other < index; other++)
    if (strcmp(phase->name, thermo->phase[other].name) == 0)
      GAB_FAIL(GAB_ERR_INPUT, "two phases are called `%s'", phase->name);
  return GAB_OK;
}

gab_status gab_thermo_prepare(gab_thermo *thermo)
{
  if (thermo->phases < 2 || thermo->phases > GAB_MOST_PHASES)
    GAB_FAIL(GAB_ERR_INPUT, "%d phases: expected 2 to %d", thermo->phases, (int)GAB_MOST_PHASES);
  if (thermo->independents < 1 || thermo->independents > GAB_MOST_INDEPENDENTS)
    GAB_FAIL(GAB_ERR_INPUT, "%d components: expected 2 to %d", thermo->independents + 1,
             (int)GAB_MOST_COMPONENTS);
  for (int phase = 0; phase < thermo->phases; phase++) {
    GAB_TRY(check_phase(thermo, phase));
    for (int i = 0; i < thermo->independents; i++) {
      double unit[GAB_MOST_INDEPENDENTS] = {0}, column[GAB_MOST_INDEPENDENTS];
      unit[i] = 0.5;
      gab_thermo_solve(thermo->independents, &thermo->phase[phase].curvature[0][0], unit, column);
      for (int j = 0; j < thermo->independents; j++) thermo->susceptibility[phase][j][i] = column[j];
    }
    for (int i = 0; i < thermo->independents; i++) /* symmetric to the last bit */
      for (int j = 0; j < i; j++) thermo->susceptibility[phase][i][j] = thermo->susceptibility[phase][j][i];
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ one phase */

gab_phase_state gab_thermo_state(const gab_thermo *thermo, int phase, double temperature)
{
  const gab_phase_energy *energy = &thermo->phase[phase];
  gab_phase_state state = {.constant = gab_of_temperature_at(&energy->constant, temperature)};
  for (int i = 0; i < thermo->independents; i++)
    state.xi[i] = gab_of_temperature_at(&energy->linear[i], temperature);
  for (int i = 0; i < thermo->independents; i++)
    for (int j = 0; j < thermo->independents; j++)
      state.offset[i] -= thermo->susceptibility[phase][i][j] * state.xi[j];
  return state;
}

void gab_thermo_concentration(const gab_thermo *thermo, int phase, double temperature, const double *mu,
                              double *c)
{
  gab_phase_state state = gab_thermo_state(thermo, phase, temperature);
  for (int i = 0; i < thermo->independents; i++) {
    c[i] = state.offset[i];
    for (int j = 0; j < thermo->independents; j++) c[i] += thermo->susceptibility[phase][i][j] * mu[j];
  }
}

void gab_thermo_chemical_potential(const gab_thermo *thermo, int phase, double temperature, const double *c,
                                   double *mu)
{
  for (int i = 0; i < thermo->independents; i++) {
    mu[i] = gab_of_temperature_at(&thermo->phase[phase].linear[i], temperature);
    for (int j = 0; j < thermo->independents; j++) mu[i] += 2 * thermo->phase[phase].curvature[i][j] * c[j];
  }
}

double gab_thermo_grand_potential(const gab_thermo *thermo, int phase, double temperature, const double *mu)
{
  gab_phase_state state = gab_thermo_state(thermo, phase, temperature);
  double form = 0;
  for (int i = 0; i < thermo->independents; i++)
    for (int j = 0; j < thermo->independents; j++)
      form += (mu[i] - state.xi[i]) * thermo->susceptibility[phase][i][j] * (mu[j] - state.xi[j]);
  return state.constant - 0.5 * form;
}

gab_status gab_thermo_linear_solid(gab_thermo *thermo, int solid, double eutectic_temperature,
                                   const double *c_solid, const double *c_melt, const double *slopes)
{
  const int n = thermo->independents;
  const gab_phase_energy *melt = &thermo->phase[thermo->phases - 1];
  gab_phase_energy *made = &thermo->phase[solid];
  double gap[GAB_MOST_INDEPENDENTS], fall = 0; /* Dc; m . Dc */
  for (int i = 0; i < n; i++) {
    gap[i] = c_melt[i] - c_solid[i];
    fall += slopes[i] * gap[i];
  }
  if (!(fall < 0))
    GAB_FAIL(GAB_ERR_INPUT,
             "phase %s: m . (c_melt - c_solid) must be negative for a solid below its liquidus, "
             "not %g",
             made->name, fall);
  memcpy(made->curvature, melt->curvature, sizeof made->curvature);
  /* xi_s = 2 Xi Dc: at mu, the solid has the composition of the melt less Dc. psi_s - psi_l vanishes where
   * X_s = -(c_l + c_s) . Xi Dc, whose c_l and c_s move along Dc with the temperature: linear in T. */
  double form = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    double row = 0;
    for (int j = 0; j < n; j++) row += melt->curvature[i][j] * gap[j];
    made->linear[i] = (gab_of_temperature){.value = 2 * row};
    form += gap[i] * row;
    sum += (c_melt[i] + c_solid[i]) * row;
  }
  const double slope = -2 * form / fall;
  made->constant = (gab_of_temperature){.value = -sum - slope * eutectic_temperature, .slope = slope};
  return GAB_OK;
}
