/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/body_sums_impl.h"

void gab_body_push_on(const gab_lbm_model *model, int level, size_t body, const double point[3],
                      const int8_t c[3], double given, gab_exact_sum force[3], gab_exact_sum torque[3])
{
  double arm[3];
  gab_geometry_arm(model->geometry, level, body, point, arm);
  for (int axis = 0; axis < 3; axis++) {
    const int b = (axis + 1) % 3, d = (axis + 2) % 3;
    const double turns = arm[b] * c[d] - arm[d] * c[b];
    if (c[axis] != 0) gab_exact_add(&force[axis], c[axis] * given);
    if (turns != 0) gab_exact_add(&torque[axis], turns * given);
  }
}

void gab_body_push(const gab_lbm_model *model, int level, size_t body, const double point[3],
                   const int8_t c[3], double given, gab_body_sums *sums)
{
  gab_body_push_on(model, level, body, point, c, given, sums[body].force, sums[body].torque);
}
