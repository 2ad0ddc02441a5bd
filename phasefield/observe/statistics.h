/* SPDX-License-Identifier: Apache-2.0 */
/** @file statistics.h
 *  @brief Statistics of a microstructure: layers of cells, spacing of lamellae.
 *
 *  Sums are exact, so results do not depend on the number of processes.
 *
 *  Stability: stable.
 */
#ifndef GABION_PHASEFIELD_STATISTICS_H
#define GABION_PHASEFIELD_STATISTICS_H

#include "phasefield/phasefield.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Means over one layer of cells across the axis of growth. */
typedef struct gab_phasefield_layer {
  double fraction[GAB_MOST_PHASES];
  double content[GAB_MOST_INDEPENDENTS];
} gab_phasefield_layer;

/** The layers from row `first` of the domain on. Collective. @param[out] layers  `count` of them */
gab_status gab_phasefield_layers(gab_phasefield *phasefield, int64_t first, size_t count,
                                 gab_phasefield_layer *layers);

/** Distances in one layer, from the crossings of interfaces along the lines of cells in it (along x; in 3D along y
 *  too): the mean linear intercept of stereology (Underwood 1970). The largest fraction determines the phase of a
 *  cell. */
typedef struct gab_phasefield_spacing {
  double width;                    /**< mean distance of two interfaces; infinite if there is none */
  double spacing[GAB_MOST_PHASES]; /**< mean from one piece of a phase to the next one of it: the wavelength
                                      of lamellae ABCABC; infinite if there is no interface of this phase */
} gab_phasefield_spacing;
/** Collective. @param[in] row  of the domain @return ::GAB_ERR_ARGUMENT for one outside */
gab_status gab_phasefield_measure(gab_phasefield *phasefield, int64_t row, gab_phasefield_spacing *spacing);

#ifdef __cplusplus
}
#endif
#endif
