/* SPDX-License-Identifier: Apache-2.0 */
/** @file patches_impl.h
 *  @brief Patches of sides in parameter files: the lists `boundaries.x_min.patches` and so on.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_PATCHES_IMPL_H
#define GABION_LBM_PATCHES_IMPL_H

#include "lbm/sides/side_impl.h"
#include "lbm/setup/units.h"

/** The kind that the key `type` of a side or patch names. @param[in] path  of it */
gab_side_kind gab_side_kind_from_config(const gab_config *config, const char *path);
/** Takes the name of a patch, which no side and no patch before it in the list has. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_lbm_read_patch_name(const gab_config *config, const gab_patches *patches, gab_patch *patch);
/** Declares the list `body_patches`. */
gab_status gab_lbm_declare_body_patches(gab_config *config);
/** Reads it, after the bodies and the patches of sides. @param[in] duration  of the run, physical
 *  @param[in,out] patches  made if there are none yet @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_lbm_read_body_patches(const gab_config *config, const gab_domain *domain,
                                     const gab_units *units, const gab_body *bodies, size_t count,
                                     double duration, gab_patches **patches);
/** Declares a list for each side. After the tables of the sides. */
gab_status gab_lbm_declare_patches(gab_config *config);
/** Reads all lists, counts faces, and notes in the sides which faces are left to them.
 *  @param[out] patches  owned by the caller, also after a failure; NULL: there are none
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_lbm_read_patches(const gab_config *config, const gab_domain *domain, const gab_units *units,
                                gab_side sides[GAB_SIDE_COUNT], gab_patches **patches);

#endif
