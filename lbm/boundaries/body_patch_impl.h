/* SPDX-License-Identifier: Apache-2.0 */
/** @file body_patch_impl.h
 *  @brief Patches of bodies: the condition of a link by the point at which it crosses the surface.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_BODY_PATCH_IMPL_H
#define GABION_LBM_BODY_PATCH_IMPL_H

#include "lbm/lbm_impl.h"

/** Where a link meets a patch. */
typedef struct gab_body_patch_link {
  int body;
  double point[3]; /**< in cells of level 0 from the corner of the domain */
  double place[3]; /**< the same, physical: the image beyond periodic sides that is nearest to the region */
  double distance; /**< from the fluid cell, in units of the link's length; of the surface as described */
} gab_body_patch_link;

/** The first patch of a body whose region has the point where a link crosses its surface. A pure function of the description: equal on all
 *  processes. @param[in] q  from the solid cell into the fluid one @param[out] on  only if there is one
 *  @return its condition; -1: none */
int gab_body_patch_of_link(const gab_lbm_model *model, int level, const int64_t solid[3], int body, int q,
                           gab_body_patch_link *on);
/** Factor of velocity or pressure in space. Pure. */
double gab_body_patch_shape(const gab_lbm_model *model, int condition, const gab_body_patch_link *on);
/** Velocity of a patch at a link, before factors in time. Pure. */
void gab_body_patch_velocity(const gab_lbm_model *model, int condition, const gab_body_patch_link *on,
                             double velocity[3]);
/** What a difference of density at the surface is half-way between the cells of the link, over it. Pure. */
double gab_body_patch_reach(const gab_lbm_model *model, const gab_body_patch_link *on);
/** Adds area and flow rate of the links of a box of cells, by condition. Local. @param[in] cells  of the level */
void gab_body_patches_add_sums(const gab_lbm_model *model, int level, const gab_box *cells,
                               gab_side_sums sums[GAB_MOST_CONDITIONS]);

#endif
