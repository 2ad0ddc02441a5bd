/* SPDX-License-Identifier: Apache-2.0 */
/** @file rheology_keys.h
 *  @brief `fluid.model` of parameter files and its parameters.
 *
 *  The reference viscosity, which gives Reynolds number and time step, is that of the fluid at the shear rate
 *  fluid.velocity / fluid.length; of `carreau` that at rest.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_RHEOLOGY_KEYS_H
#define GABION_LBM_RHEOLOGY_KEYS_H

#include "core/config/config.h"
#include "lbm/lbm.h"
#include "lbm/setup/units.h"

/** Declares the keys. */
gab_status gab_rheology_declare(gab_config *config);
/** Reference viscosity that follows from fluid.consistency. @param[out] viscosity  m^2/s; unchanged without that key
 *  @return ::GAB_ERR_INPUT with the place of a key that does not fit the model */
gab_status gab_rheology_read_viscosity(const gab_config *config, double *viscosity);
/** Sets collision and numbers of the options; nothing for `newtonian`. @param[in] viscosity  reference, m^2/s
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_rheology_read(const gab_config *config, const gab_units *units, double viscosity,
                             gab_lbm_options *options);
/** One line for people: law and parameters in physical units. @param[out] text  empty for `newtonian` */
void gab_rheology_describe(const gab_config *config, const gab_units *units, const gab_lbm_options *options,
                           char *text, size_t capacity);

#endif
