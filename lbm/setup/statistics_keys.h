/* SPDX-License-Identifier: Apache-2.0 */
/** @file statistics_keys.h
 *  @brief Statistics of the flow in the factors of sides: keys of a parameter file.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_STATISTICS_KEYS_H
#define GABION_LBM_STATISTICS_KEYS_H

#include "lbm/setup/lbm_config.h"

gab_status gab_statistics_declare(gab_config *config);
/** Takes the section, and finds the sides and patches that factors name. All sides have been read. @return ::GAB_ERR_INPUT with the place
 *  in the file */
gab_status gab_statistics_read(const gab_config *config, const gab_domain *domain, gab_lbm_setup *setup);

#endif
