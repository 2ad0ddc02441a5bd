/* SPDX-License-Identifier: Apache-2.0 */
/** @file scalar.h
 *  @brief A temperature or concentration that a flow carries, on the same blocks; it may drive the flow.
 *
 *      dT/dt + div(j T) = D Laplace(T)
 *
 *  with the momentum j of the flow: finite volumes on its cells, central differences, explicit in time. On one level the sum
 *  of T over all cells changes only by fluxes through the sides. It may drive the flow (Boussinesq) by the local force
 *  F = buoyancy (T - reference) (lbm/step/local_force.h).
 *  @code
 *    const gab_lbm_scalar_options air = {.name = "temperature", .diffusivity = 0.02, .reference = 0.5,
 *                                        .sides = {{GAB_SCALAR_FIXED, 1}, {GAB_SCALAR_FIXED, 0}},
 *                                        .buoyancy = {0, 1e-5}};
 *    GAB_TRY(gab_lbm_scalar_create(forest, lbm, &air, finest, &temperature));
 *    ...
 *    GAB_TRY(gab_lbm_step(lbm));
 *    GAB_TRY(gab_lbm_scalar_step(temperature));
 *  @endcode
 *  Sides of the domain are periodic as in the forest; else they are walls without flow, half a cell beyond the last cells.
 *  Not for flows with open sides or with bodies.
 *
 *  Levels: finer levels of the flow take more and shorter steps, during which the scalar is constant; the scalar takes the
 *  step of level 0 everywhere. Conducted fluxes are equal on both sides of a border (blockforest/exchange/level_ghosts.h),
 *  advected ones are not.
 *
 *  Stability (Hindmarsh, Gresho & Griffiths 1984, Int. J. Numer. Methods Fluids 4, 853): D 4^level <= 1 / (2 d) in d
 *  dimensions, and u^2 / 2 <= D for the largest speed u: gab_lbm_scalar_check_stable().
 *
 *  Stability: stable.
 */
#ifndef GABION_LBM_SCALAR_H
#define GABION_LBM_SCALAR_H

#include "blockforest/output/output_quantity.h"
#include "lbm/lbm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_lbm_scalar_side_kind {
  GAB_SCALAR_INSULATED = 0, /**< nothing passes */
  GAB_SCALAR_FIXED          /**< a value at the side */
} gab_lbm_scalar_side_kind;

typedef struct gab_lbm_scalar_side {
  gab_lbm_scalar_side_kind kind;
  double value;
} gab_lbm_scalar_side;

typedef struct gab_lbm_scalar_options {
  const char *name;              /**< "temperature"; borrowed as long as the scalar */
  double diffusivity;            /**< D, in cells and steps of level 0 */
  gab_lbm_scalar_side sides[6];  /**< lower x, upper x, lower y, ... of those that are not periodic */
  double buoyancy[3], reference; /**< F in lattice units of level 0; zeros: it does not drive the flow */
} gab_lbm_scalar_options;

typedef struct gab_lbm_scalar gab_lbm_scalar;

/** Adds its block data to a forest (which is packed with the blocks: value, then momentum) and, with buoyancy, sets the local
 *  force of the flow. Before the forest is built, after gab_lbm_create(). Collective (opens ports).
 *  @param[in] forest, lbm  borrowed @param[in] finest  level that there may be, from 0
 *  @return ::GAB_ERR_INPUT for a diffusivity that is not stable in a fluid at rest; ::GAB_ERR_ARGUMENT without a name, for a flow with
 *  open sides or bodies, with buoyancy for one that has a local force; as gab_level_ghosts_create() and gab_lbm_set_local_force() */
gab_status gab_lbm_scalar_create(gab_forest *forest, gab_lbm *lbm, const gab_lbm_scalar_options *options,
                                 int finest, gab_lbm_scalar **scalar);
/** Before the flow and the forest. */
void gab_lbm_scalar_destroy(gab_lbm_scalar **scalar);

/** Whether a diffusivity is stable. Pure. @param[in] finest  level that there may be @param[in] speed  of the flow at most, in
 *  lattice units @return ::GAB_ERR_INPUT with the numbers */
gab_status gab_lbm_scalar_check_stable(double diffusivity, int dimension, int finest, double speed);

/** The same value in all cells of this process. Local. */
void gab_lbm_scalar_fill(gab_lbm_scalar *scalar, double value);
/** Its block data: a gab_field whose component 0 is the value, 1 and so on the momentum of the flow along each axis. */
gab_data_id gab_lbm_scalar_data(const gab_lbm_scalar *scalar);
/** What it has on blocks and exchanges in a step, for `plan`. @param[out] data  the values, and those of the next step
 *  @return the exchange between blocks of one level; borrows from the scalar */
gab_ghost_kind gab_lbm_scalar_fields(const gab_lbm_scalar *scalar, gab_data_id data[2]);

/** A step of level 0, behind gab_lbm_step(): takes over the momentum of the flow, then moves the scalar. Collective among
 *  neighbours. */
gab_status gab_lbm_scalar_step(gab_lbm_scalar *scalar);

/** What passes along an axis in a step of level 0, in units of value times cells of level 0, positive upwards. */
typedef struct gab_lbm_scalar_flux {
  double lower, upper; /**< through the sides; 0 where they are periodic */
  double volume;       /**< integral over the domain: divided by its width the mean of all cross-sections */
  double change;       /**< of a value in the next step if the flow stays as it is, the largest */
} gab_lbm_scalar_flux;
/** Collective. Digits do not depend on processes. Behind a step. */
gab_status gab_lbm_scalar_measure(gab_lbm_scalar *scalar, int axis, gab_lbm_scalar_flux *flux);

/** Largest difference from a cell to the next one within a block, for criteria of refinement. Local. */
double gab_lbm_scalar_difference(const gab_lbm_scalar *scalar, const gab_block *block);
/** @return ::GAB_ERR_DIVERGED with what and where if a value or a momentum is not finite. Local. */
gab_status gab_lbm_scalar_check_finite(const gab_lbm_scalar *scalar);
/** The value, by its name, and the momentum per density 1 as `velocity`. @param[out] items  with the scalar as user */
void gab_lbm_scalar_quantities(gab_lbm_scalar *scalar, gab_quantity items[2]);

#ifdef __cplusplus
}
#endif
#endif
