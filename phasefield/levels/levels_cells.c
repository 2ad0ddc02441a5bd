/* SPDX-License-Identifier: Apache-2.0 */
/* Cells and their children on the next finer level: see levels_impl.h. */
#include "phasefield/levels/levels_impl.h"

int gab_phasefield_pure(const gab_field *phi, const int32_t at[3])
{
  for (int a = 0; a < phi->shape.components; a++)
    if (gab_field_get(phi, at[0], at[1], at[2], a) == 1) return a;
  return -1;
}

double gab_phasefield_child_value(const gab_field *field, const int32_t at[3], int component, int part,
                                  bool linear, int dimension)
{
  double value = gab_field_get(field, at[0], at[1], at[2], component), shift = 0;
  for (int axis = 0; axis < dimension && linear; axis++) {
    int32_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    if (low[axis] > 0) low[axis]--;
    if (high[axis] + 1 < field->shape.cells[axis]) high[axis]++;
    const double quarter = 0.25 *
                           (gab_field_get(field, high[0], high[1], high[2], component) -
                            gab_field_get(field, low[0], low[1], low[2], component)) /
                           (high[axis] - low[axis]);
    shift += part >> axis & 1 ? quarter : -quarter;
  }
  return value + shift;
}

double gab_phasefield_mean_of_parts(double *values, int dimension)
{
  const int parts = 1 << dimension;
  for (int pairs = parts / 2; pairs > 0; pairs /= 2)
    for (int i = 0; i < pairs; i++) values[i] = values[2 * i] + values[2 * i + 1];
  return values[0] / parts;
}

double gab_phasefield_parent_value(const gab_field *field, const int32_t at[3], int component, int dimension)
{
  double values[8];
  for (int part = 0; part < 1 << dimension; part++)
    values[part] =
        gab_field_get(field, at[0] + (part & 1), at[1] + (part >> 1 & 1), at[2] + (part >> 2 & 1), component);
  return gab_phasefield_mean_of_parts(values, dimension);
}
