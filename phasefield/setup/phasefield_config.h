/* SPDX-License-Identifier: Apache-2.0 */
/** @file phasefield_config.h
 *  @brief The section `phasefield` of parameter files.
 *
 *  Stability: stable.
 */
#ifndef GABION_PHASEFIELD_PHASEFIELD_CONFIG_H
#define GABION_PHASEFIELD_PHASEFIELD_CONFIG_H

#include "core/config/config.h"
#include "phasefield/setup/initial.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Declares the sections. */
gab_status gab_phasefield_declare(gab_config *config);

/** Which axes are periodic: all but the last one if the sides are. After gab_config_check(). */
void gab_phasefield_periodic_from_config(const gab_config *config, int dimension, bool periodic[3]);

/** Parameters of the model from the file, and derived quantities. */
typedef struct gab_phasefield_setup {
  gab_phasefield_options options; /**< points into this struct: do not copy it while in use */
  gab_phasefield_start start;
  double stable_dt;
  bool has_eutectic; /**< N = K + 1, and the search succeeded */
  double eutectic_temperature, eutectic_mu[GAB_MOST_INDEPENDENTS];
  int64_t window_row; /**< where the front is kept; -1: the window stays */
  gab_step window_every;
  int64_t window_rows; /**< by how many it moves at once */
} gab_phasefield_setup;

/** Reads and checks. @param[out] setup  to be released by gab_phasefield_setup_release()
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_phasefield_setup_from_config(const gab_config *config, const gab_forest_options *forest,
                                            gab_phasefield_setup *setup);
void gab_phasefield_setup_release(gab_phasefield_setup *setup);

/** Logs a summary: equilibria, compositions, tau, time step. */
void gab_phasefield_setup_describe(const gab_phasefield_setup *setup);

#ifdef __cplusplus
}
#endif
#endif
