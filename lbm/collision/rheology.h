/* SPDX-License-Identifier: Apache-2.0 */
/** @file rheology.h
 *  @brief Fluids whose viscosity depends on the shear rate: power law, Carreau, Herschel-Bulkley.
 *
 *  A fluid is a kinematic viscosity nu(g) of the shear rate g = sqrt(2 S:S), S the strain rate. In each cell the viscous stress follows
 *  from the populations, and the relaxation rate is the one at which nu(g) g is that stress. All else is TRT with its magic
 *  parameter, so half-way walls stay where they are at any viscosity.
 *
 *  In parameter files: `fluid.model` (lbm/setup/rheology_keys.c). Measurements: doc/fluids.md.
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_RHEOLOGY_H
#define GABION_LBM_RHEOLOGY_H

#include "lbm/collision/collision.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_rheology_law {
  GAB_RHEOLOGY_POWER_LAW, /**< nu = k g^(n-1) */
  GAB_RHEOLOGY_CARREAU,   /**< nu = at_high + (k - at_high) (1 + (time g)^2)^((n-1)/2) */
  GAB_RHEOLOGY_HERSCHEL_BULKLEY, /**< nu = k g^(n-1) + yield (1 - exp(-time g)) / g (Papanastasiou 1987); n = 1: Bingham */
} gab_rheology_law;

/** A fluid, in lattice units of level 0; stress is divided by density. */
typedef struct gab_rheology {
  gab_rheology_law law;
  double k;              /**< above 0 */
  double exponent;       /**< n, above 0 */
  double yield;          /**< yield stress over density, at least 0 */
  double time;           /**< relaxation time of Carreau, or regularisation of Herschel-Bulkley, in steps */
  double at_high;        /**< viscosity of Carreau at high shear rates, from 0 to below k */
  double least, largest; /**< limits of nu, above 0 */
} gab_rheology;

/** TRT with the viscosity of a fluid in each cell; chosen by gab_rheology_set(), not by name. `omega` of the options is that of a
 *  reference viscosity: initial state, open sides and checks of stability use it. */
extern const gab_collision gab_collision_rheology;

/** Makes a flow have this fluid. Pure. @param[in,out] options  `collision` and `numbers` are set
 *  @return ::GAB_ERR_ARGUMENT for numbers that cannot be */
gab_status gab_rheology_set(const gab_rheology *fluid, struct gab_lbm_options *options);
/** Refuses sponges and grounds with a viscosity of their own next to such a fluid. Part of gab_lbm_create(). Pure. @param[in] config  to name the place
 * in the file; may be NULL @return ::GAB_ERR_INPUT */
gab_status gab_rheology_check_sides(const gab_config *config, const struct gab_lbm_options *options);
/** The fluid of options with ::gab_collision_rheology. Pure. */
gab_rheology gab_rheology_of(const double numbers[GAB_COLLISION_NUMBERS]);
/** Viscosity at a shear rate, within its limits. Pure. @param[in] shear_rate  at least 0, per step of level 0 */
double gab_rheology_viscosity(const gab_rheology *fluid, double shear_rate);

#ifdef __cplusplus
}
#endif
#endif
