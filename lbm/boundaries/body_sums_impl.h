/* SPDX-License-Identifier: Apache-2.0 */
/** @file body_sums_impl.h
 *  @brief Sums of force and torque per body.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_BODY_SUMS_IMPL_H
#define GABION_LBM_BODY_SUMS_IMPL_H

#include "lbm/lbm_impl.h"

/** The share of a process in the load of a body. */
typedef struct gab_body_sums {
  gab_exact_sum force[3], torque[3]; /**< torque about the body's torque point, in cells of level 0 */
} gab_body_sums;

/** Momentum that a body receives along a link. As it points along the link, its torque is the same for all points of the link: the
 *  place where the wall cuts it need not be known.
 *  @param[in] point  any point of the link, in cells of `level` from the corner of the domain
 *  @param[in] c  direction @param[in] given  momentum / c */
void gab_body_push(const gab_lbm_model *model, int level, size_t body, const double point[3],
                   const int8_t c[3], double given, gab_body_sums *sums);

/** The same into sums of a part of the body. */
void gab_body_push_on(const gab_lbm_model *model, int level, size_t body, const double point[3],
                      const int8_t c[3], double given, gab_exact_sum force[3], gab_exact_sum torque[3]);

/** Centre of a cell of a block, in cells of its level from the corner of the domain. @param[in] index  in component 0 */
static inline void gab_centre_of_index(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t index,
                                       double centre[3])
{
  const gab_field_map *map = &model->map;
  ptrdiff_t rest = (ptrdiff_t)index - map->origin, low = 0;
  int32_t cell[3];
  for (int axis = 0; axis < 3; axis++) low += model->shape.ghosts[axis] * map->stride[axis];
  rest += low;
  for (int axis = 2; axis >= 0; axis--) {
    cell[axis] = (int32_t)(rest / map->stride[axis]) - model->shape.ghosts[axis];
    rest %= map->stride[axis];
    centre[axis] = (double)(block->first[axis] + cell[axis]) + 0.5;
  }
}

#endif
