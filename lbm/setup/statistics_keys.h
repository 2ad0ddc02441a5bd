/* SPDX-License-Identifier: Apache-2.0 */
/** @file statistics_keys.h
 *  @brief Statistics of the flow in the factors of sides: keys of a parameter file.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_STATISTICS_KEYS_H
#define GABION_LBM_STATISTICS_KEYS_H

#include "lbm/lbm.h"
#include "lbm/setup/units.h"

gab_status gab_statistics_declare(gab_config *config);
/** Takes the section, and finds the sides and patches that factors name. All sides have been read.
 *  @param[in,out] options,patches  sides and patches get the numbers of what they name; patches may be NULL @param[out] every  interval in
 *  steps @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_statistics_read(const gab_config *config, const gab_domain *domain, const gab_units *units,
                               gab_lbm_options *options, gab_patches *patches, gab_step *every);

#endif
