/* SPDX-License-Identifier: Apache-2.0 */
/* Anisotropic energy and mobility of interfaces; formulas: doc/phase-field.md, "The model". */
#include "phasefield/phasefield_impl.h"

double gab_phasefield_anisotropy(int dimension, double delta, const double *q, double *factor)
{
  double square = 0, share[3], shares = 0; /* share: m_i */
  for (int k = 0; k < dimension; k++) square += q[k] * q[k];
  for (int k = 0; factor && k < dimension; k++) factor[k] = 1;
  if (!(square > 0)) return 1;
  for (int k = 0; k < dimension; k++) {
    share[k] = q[k] * q[k] * (1 / square);
    shares += share[k] * share[k];
  }
  const double a = 1 + delta * (4 * shares - 3);
  for (int k = 0; factor && k < dimension; k++) factor[k] = a * (a + 16 * delta * (share[k] - shares));
  return a;
}

void gab_phasefield_face_q(const gab_phasefield_model *model, const gab_field_map *map, const double *phi,
                           int axis, int a, int b, double q[3])
{
  const double *left_a = phi + a * map->component_stride, *right_a = left_a + map->stride[axis];
  const double *left_b = phi + b * map->component_stride, *right_b = left_b + map->stride[axis];
  for (int k = 0; k < model->dimension; k++) {
    const ptrdiff_t next = map->stride[k];
    if (k == axis) q[k] = left_a[0] * right_b[0] - left_b[0] * right_a[0];
    else
      q[k] = 0.125 *
             ((left_a[0] + right_a[0]) * ((left_b[next] - left_b[-next]) + (right_b[next] - right_b[-next])) -
              (left_b[0] + right_b[0]) * ((left_a[next] - left_a[-next]) + (right_a[next] - right_a[-next])));
  }
}
