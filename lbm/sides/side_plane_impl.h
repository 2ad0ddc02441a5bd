/* SPDX-License-Identifier: Apache-2.0 */
/** @file side_plane_impl.h
 *  @brief Velocity of a side from a plane of another run (blockforest/output/planes/planes.h).
 *
 *  The mean over all rows of the velocity across the side is its `velocity` and profile (::GAB_PROFILE_PLANE). What the velocity differs
 *  from that at a time is added to the links, as fluctuations are (side_turbulence_impl.h). It is a pure function of the file, the place and
 *  the time: each process with such links reads the rows that it needs, two at a time, and no process needs another one.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SIDE_PLANE_IMPL_H
#define GABION_LBM_SIDE_PLANE_IMPL_H

#include "blockforest/output/planes/plane_input.h"
#include "lbm/sides/boundary.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_domain;

typedef struct gab_side_plane {
  gab_plane_input input;
  double scale;     /**< times m/s: cells per step */
  double from_time; /**< of the file, at the start of the run; s */
  bool repeats;
  double offset[3]; /**< added to the places of the file; m */
  double dt;        /**< s */
  int side;
  int axes[2];          /**< along the side */
  bool is_periodic[2];  /**< the points go round */
  double mean;          /**< velocity across the side, mean over points and rows; cells per step */
  double peak;          /**< largest speed over the absolute value of that */
  double *shape;        /**< by point: mean over the rows, over `mean` */
  double *row[2], *now; /**< [point][3]; `now`: at the time, less the mean; cells per step */
  int64_t held[2];      /**< the rows in `row`; -1: none */
  double steps;         /**< the time of `now`; NaN: none */
  bool is_wanted;       /**< by links of this process */
} gab_side_plane;

/** Keys of a side of given velocity, for descriptors. */
#define GAB_SIDE_PLANE_KEYS                                                                                   \
  {.name = "from",                                                                                            \
   .type = GAB_CONFIG_STRING,                                                                                 \
   .file = GAB_CONFIG_FILE_BY_CASE,                                                                           \
   .default_text = GAB_CONFIG_OPTIONAL,                                                                       \
   .instead_of = "velocity|flow_rate",                                                                        \
   .doc =                                                                                                     \
       "Instead of velocity: file of a plane of another run (output.planes) with its velocity, in place and " \
       "time."},                                                                                              \
      {.name = "from_time",                                                                                   \
       .type = GAB_CONFIG_REAL,                                                                               \
       .unit = "s",                                                                                           \
       .default_text = "0",                                                                                   \
       .doc = "Only with from: time in the file at the start of this run."},                                  \
      {.name = "from_repeats",                                                                                \
       .type = GAB_CONFIG_BOOL,                                                                               \
       .default_text = "false",                                                                               \
       .doc =                                                                                                 \
           "Only with from: after its last row the file starts again with the first one, of which the last "  \
           "one is a copy."},                                                                                 \
      {.name = "from_scale",                                                                                  \
       .type = GAB_CONFIG_REAL,                                                                               \
       .min = -INFINITY,                                                                                      \
       .max = INFINITY,                                                                                       \
       .default_text = "1",                                                                                   \
       .doc = "Only with from: factor of the velocities."},                                                   \
  {                                                                                                           \
    .name = "from_offset", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m",            \
    .default_text = GAB_CONFIG_OPTIONAL,                                                                      \
    .doc = "Only with from: vector that is added to the places of the file."                                  \
  }

/** Takes #GAB_SIDE_PLANE_KEYS and opens the file. @return ::GAB_ERR_INPUT with the place in the file of parameters */
gab_status gab_side_read_plane(const gab_config *config, const char *path, int dimension,
                               const struct gab_units *units, gab_side *side);
/** Reads all rows once, for the mean and the largest speed, and sets velocity and profile of the side. @param[in] duration  of the run, s
 *  @return ::GAB_ERR_INPUT if the plane does not cover the side or the time of the run */
gab_status gab_side_plane_complete(const gab_config *config, const char *path, int index,
                                   const struct gab_domain *domain, double duration, gab_side *side);
void gab_side_plane_release(gab_side_plane **plane);

/** The mean velocity across the side at a place over its mean over the points. Pure. @param[in] place  m */
double gab_side_plane_shape(const gab_side_plane *plane, const double place[3]);
/** Reads the rows that it needs at a time, in steps. Local; not by several threads at once.
 *  @return ::GAB_ERR_IO or ::GAB_ERR_INPUT with the file and the reason */
gab_status gab_side_plane_set_time(gab_side_plane *plane, double steps);
/** At that time, what the velocity at a place differs from its mean. Pure. @param[in] along  place along the two axes of the side, m */
void gab_side_plane_at(const gab_side_plane *plane, const double along[2], double u[3]);

#ifdef __cplusplus
}
#endif
#endif
