/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a cell: interpolation, the relation of c and mu, the simplex. */
#include "phasefield/phasefield_impl.h"

void gab_phasefield_interpolate(const gab_phasefield_model *model, const double *phi, double *h)
{
  const int n = model->phases;
  if (model->options.interpolation == GAB_INTERPOLATION_MOELANS) {
    double squares = 0;
    for (int a = 0; a < n; a++) squares += phi[a] * phi[a];
    for (int a = 0; a < n; a++) h[a] = phi[a] * phi[a] / squares;
    return;
  }
  for (int a = 0; a < n; a++) {
    double pairs = 0;
    for (int b = 0; b < n; b++)
      for (int c = b + 1; c < n; c++)
        if (a != b && a != c) pairs += phi[b] * phi[c];
    h[a] = phi[a] * (phi[a] * (3 - 2 * phi[a]) + 2 * pairs);
  }
}

/* Cramer's rule for a symmetric matrix of order n <= 3. */
static void solve(int n, double a[GAB_MOST_INDEPENDENTS][GAB_MOST_INDEPENDENTS], const double *b, double *x)
{
  if (n == 1) {
    x[0] = b[0] / a[0][0];
    return;
  }
  if (n == 2) {
    const double inverse = 1 / (a[0][0] * a[1][1] - a[0][1] * a[0][1]);
    x[0] = (a[1][1] * b[0] - a[0][1] * b[1]) * inverse;
    x[1] = (a[0][0] * b[1] - a[0][1] * b[0]) * inverse;
    return;
  }
  const double c00 = a[1][1] * a[2][2] - a[1][2] * a[1][2], c01 = a[0][2] * a[1][2] - a[0][1] * a[2][2],
               c02 = a[0][1] * a[1][2] - a[0][2] * a[1][1], c11 = a[0][0] * a[2][2] - a[0][2] * a[0][2],
               c12 = a[0][1] * a[0][2] - a[0][0] * a[1][2], c22 = a[0][0] * a[1][1] - a[0][1] * a[0][1];
  const double inverse = 1 / (a[0][0] * c00 + a[0][1] * c01 + a[0][2] * c02);
  x[0] = (c00 * b[0] + c01 * b[1] + c02 * b[2]) * inverse;
  x[1] = (c01 * b[0] + c11 * b[1] + c12 * b[2]) * inverse;
  x[2] = (c02 * b[0] + c12 * b[1] + c22 * b[2]) * inverse;
}

void gab_phasefield_mu_of_c(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                            const double *phi, const double *c, double *mu)
{
  const int n = model->independents;
  double h[GAB_MOST_PHASES], rest[GAB_MOST_INDEPENDENTS];
  double chi[GAB_MOST_INDEPENDENTS][GAB_MOST_INDEPENDENTS] = {{0}};
  gab_phasefield_interpolate(model, phi, h);
  for (int i = 0; i < n; i++) {
    rest[i] = c[i];
    for (int a = 0; a < model->phases; a++) rest[i] -= h[a] * slice->offset[a][i];
    for (int j = 0; j < n; j++)
      for (int a = 0; a < model->phases; a++)
        chi[i][j] += h[a] * model->options.thermo.susceptibility[a][i][j];
  }
  solve(n, chi, rest, mu);
}

void gab_phasefield_c_of_mu(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                            const double *phi, const double *mu, double *c)
{
  double h[GAB_MOST_PHASES];
  gab_phasefield_interpolate(model, phi, h);
  for (int i = 0; i < model->independents; i++) {
    c[i] = 0;
    for (int a = 0; a < model->phases; a++) {
      double mine = slice->offset[a][i];
      for (int j = 0; j < model->independents; j++)
        mine += model->options.thermo.susceptibility[a][i][j] * mu[j];
      c[i] += h[a] * mine;
    }
  }
}

void gab_phasefield_project(int n, unsigned active, double *phi)
{
  for (bool again = true; again;) {
    double sum = -1;
    int count = 0;
    for (int a = 0; a < n; a++)
      if (active >> a & 1) {
        sum += phi[a];
        count++;
      }
    const double excess = sum / count;
    again = false;
    for (int a = 0; a < n; a++)
      if (active >> a & 1 && !(phi[a] - excess > GAB_PHASEFIELD_LEAST_PHI)) {
        active &= ~(1U << a);
        again = true;
      }
    if (again) continue;
    for (int a = 0; a < n; a++) phi[a] = count == 1 ? 1 : phi[a] - excess;
    for (int a = 0; a < n; a++)
      if (!(active >> a & 1)) phi[a] = 0;
  }
}

static void read_values(const gab_field *field, const int32_t at[3], double *values)
{
  for (int k = 0; k < field->shape.components; k++) values[k] = gab_field_get(field, at[0], at[1], at[2], k);
}

void gab_phasefield_make_mu(const gab_phasefield_model *model, gab_phasefield_block *block)
{
  int32_t at[3], row = -1;
  gab_phasefield_slice slice = {0};
  for (at[2] = 0; at[2] < model->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < model->cells[1]; at[1]++) {
      if (at[model->axis] != row)
        slice = gab_phasefield_slice_at(model, block->first[model->axis] + at[model->axis], model->step);
      row = at[model->axis];
      for (at[0] = 0; at[0] < model->cells[0]; at[0]++) {
        double phi[GAB_MOST_PHASES], c[GAB_MOST_INDEPENDENTS], mu[GAB_MOST_INDEPENDENTS];
        read_values(block->phi, at, phi);
        read_values(block->c, at, c);
        gab_phasefield_mu_of_c(model, &slice, phi, c, mu);
        for (int i = 0; i < model->independents; i++) gab_field_set(block->mu, at[0], at[1], at[2], i, mu[i]);
      }
    }
}
