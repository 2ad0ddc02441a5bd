/* SPDX-License-Identifier: Apache-2.0 */
/** @file porous_keys_impl.h
 *  @brief Porous regions of a parameter file.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_POROUS_KEYS_IMPL_H
#define GABION_LBM_POROUS_KEYS_IMPL_H

#include "core/config/config.h"
#include "lbm/lbm.h"
#include "lbm/setup/units.h"

/** Reads the section `porous`. @param[in] viscosity  physical @param[in,out] options  with the collision; then with the regions
 *  @param[out] regions  owned, to be released by gab_lbm_release_porous() and freed by gab_free(), after a failure, too
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_lbm_read_porous(const gab_config *config, int dimension, const char *folder,
                               const gab_units *units, double viscosity, gab_lbm_options *options,
                               gab_porous_region **regions, size_t *count);
/** Frees what they own. */
void gab_lbm_release_porous(gab_porous_region *regions, size_t count);

#endif
