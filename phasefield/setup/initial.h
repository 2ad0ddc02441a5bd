/* SPDX-License-Identifier: Apache-2.0 */
/** @file initial.h
 *  @brief Initial states: solids below a height or around seeds, melt elsewhere.
 *
 *  @code
 *    gab_phasefield_start start = {.shape = GAB_START_VORONOI, .height = 20, .solids = 3, .share = {.2, .4,
 *  .4}, .seeds = 30, .seed = 7}; GAB_TRY(gab_phasefield_start_prepare(&start, &forest_options, melt));
 *    options.initial = gab_phasefield_start_state;
 *    options.initial_user = &start;
 *  @endcode
 *  Interfaces are sharp: they find their profile in the first steps. All states are functions of the position and of
 *  integers, so they do not depend on the decomposition.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_PHASEFIELD_INITIAL_H
#define GABION_PHASEFIELD_INITIAL_H

#include "phasefield/phasefield.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_start_shape {
  GAB_START_PLANE = 0, /**< the first solid below a height */
  GAB_START_SPHERE,    /**< the first solid around a centre */
  GAB_START_LAMELLAE,  /**< solids side by side along x below a height, one after another with their shares of
                          a  period, which repeats */
  /** Columns below a height, each nearest to one of the seeds in the plane normal to the axis of growth, assigned to
   *  the solids such that their shares are as given, to within a column. */
  GAB_START_VORONOI,
  /** Output of an earlier run (blockforest/output/fields/hdf5_output.h), read block by block on demand: phi_NAME of
   *  all phases, and c_1, ... or else mu_1, ...; of one level, on the same number of cells. */
  GAB_START_FILE
} gab_start_shape;

enum { GAB_START_MOST_SEEDS = 4096 };

typedef struct gab_phasefield_start_file gab_phasefield_start_file;

/** All lengths in cells. */
typedef struct gab_phasefield_start {
  gab_start_shape shape;
  double height;
  double centre[3], radius;      /**< of a sphere */
  int solids;                    /**< how many of the lists are used */
  int solid[GAB_MOST_PHASES];    /**< phases */
  double share[GAB_MOST_PHASES]; /**< their shares; sum 1 */
  double period;                 /**< of lamellae */
  int seeds;
  uint64_t seed;
  const char *path;         /**< of a file: OUT/fields/NAME_0000001000, with or without .xdmf */
  const gab_thermo *thermo; /**< needed for a file: the names of the phases; borrowed */
  /* Made by gab_phasefield_start_prepare(): */
  int melt, dimension;
  int64_t cells[3];
  bool periodic[3];
  double (*place)[2];              /**< of the seeds, owned */
  int *column;                     /**< phase of each seed, owned */
  gab_phasefield_start_file *file; /**< owned */
  bool as_stored;                  /**< the file has c: for `initial_as_stored` of the options */
} gab_phasefield_start;

/** Checks and completes. Local, the same on all processes. @param[in] melt  index of the melt
 *  @return ::GAB_ERR_INPUT with the numbers for shares that do not sum to one, invalid solids, ... */
gab_status gab_phasefield_start_prepare(gab_phasefield_start *start, const gab_forest_options *forest,
                                        int melt);
void gab_phasefield_start_release(gab_phasefield_start *start);

/** For `initial` of the options. @param user  a prepared gab_phasefield_start */
void gab_phasefield_start_state(void *user, const int64_t cell[3], double *phi, double *mu);
/** For `initial_status` of the options: whether all requested data could be read.
 *  @return ::GAB_ERR_INPUT also if the file has numbers that are not finite, or phases that do not sum to 1 */
GAB_EXTENDER gab_status gab_phasefield_start_status(void *user);

#ifdef __cplusplus
}
#endif
#endif
