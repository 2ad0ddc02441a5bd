/* SPDX-License-Identifier: Apache-2.0 */
/** @file side_flow_impl.h
 *  @brief Volume that the links of a face at a side let pass: for flow rates, and for scalars that are carried through the side.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SIDE_FLOW_IMPL_H
#define GABION_LBM_SIDE_FLOW_IMPL_H

#include "lbm/lbm_impl.h"

/** Part of a condition in the flow through a face. */
typedef struct gab_face_flow {
  int condition;
  double flow
      [2]; /**< volume per step into the domain, in cells of the level, at factor 1: of both factors of #GAB_SIDE_FACTORS */
} gab_face_flow;

/** Flow that the links with a given velocity let into a fluid cell at a side, at density 1. Pure.
 *  @param[in] cell  of the domain, of `level`, at `side` @param[out] flows  by condition, ascending @return their number */
int gab_face_flows(const gab_lbm_model *model, int level, int side, const int64_t cell[3],
                   gab_face_flow flows[GAB_MOST_CONDITIONS]);

#endif
