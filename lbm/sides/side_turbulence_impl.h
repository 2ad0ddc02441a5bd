/* SPDX-License-Identifier: Apache-2.0 */
/** @file side_turbulence_impl.h
 *  @brief Fluctuations of the velocity at a side: a sum of waves, without a state.
 *
 *  u'(x, t) = sum over n of a_n cos(k_n . (x - V t) + phi_n), with a_n perpendicular to k_n: free of divergence, and carried by the mean
 *  velocity V of the side (Kraichnan 1970, Phys. Fluids 13, 22; Davidson 2007). The energies of the waves follow the spectrum of von Karman.
 *  Along the side, waves have whole periods over the part that the condition covers. All numbers follow from the seed by a counter.
 *
 *  Of given Reynolds stresses R, each a_n is multiplied by L_R L_C^-1, the lower Cholesky factors of R and of the covariance C of the waves
 *  (Lund, Wu & Squires 1998, J. Comput. Phys. 140, 233, with C = 1). The sum then has R in the mean over space and time, and is no longer free of divergence.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SIDE_TURBULENCE_IMPL_H
#define GABION_LBM_SIDE_TURBULENCE_IMPL_H

#include "lbm/sides/boundary.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_domain;
struct gab_lbm_model;
struct gab_lbm;
struct gab_lbm_block;

enum { GAB_SIDE_TURBULENCE_WAVES = 256, GAB_SIDE_TURBULENCE_LANES = 8 };

typedef struct gab_side_turbulence {
  double rms; /**< of each component, in cells per step; with stresses a bound of that along any direction */
  bool has_stresses;
  double stress[3][3]; /**< of the fluctuations, in (cells per step)^2 */
  double scale;        /**< of the flow rate, by which fluctuations of given stresses are divided; 0: none */
  double length;       /**< longitudinal integral length, in cells of level 0 */
  uint64_t seed;
  double k[3][GAB_SIDE_TURBULENCE_WAVES], a[3][GAB_SIDE_TURBULENCE_WAVES];
  double phase[GAB_SIDE_TURBULENCE_WAVES], rate[GAB_SIDE_TURBULENCE_WAVES]; /**< rate: k . V */
  /** Complex amplitude of the mean of the fluctuation across the side over all faces, which is taken away: cosine and sine. */
  double net[2][GAB_SIDE_TURBULENCE_WAVES];
} gab_side_turbulence;

/** Keys of a side of given velocity that make it turbulent, for descriptors. */
#define GAB_SIDE_TURBULENCE_KEYS                                                                                     \
  {.name = "turbulence_intensity",                                                                                   \
   .type = GAB_CONFIG_REAL,                                                                                          \
   .min = 0,                                                                                                         \
   .max = 1,                                                                                                         \
   .min_excluded = true,                                                                                             \
   .default_text = GAB_CONFIG_OPTIONAL,                                                                              \
   .instead_of = "turbulence_stresses",                                                                              \
   .doc =                                                                                                            \
       "Synthetic turbulence: rms value of each component of the fluctuations over the mean velocity of the side."}, \
      {.name = "turbulence_stresses",                                                                                \
       .type = GAB_CONFIG_REAL,                                                                                      \
       .length_min = 3,                                                                                              \
       .length_max = 6,                                                                                              \
       .unit = "m^2/s^2",                                                                                            \
       .default_text = GAB_CONFIG_OPTIONAL,                                                                          \
       .instead_of = "turbulence_intensity",                                                                         \
       .doc =                                                                                                        \
           "Instead of turbulence_intensity: mean products of the fluctuations, xx, yy, zz, xy, xz, yz, in 2D "      \
           "xx, yy, xy."},                                                                                           \
      {.name = "turbulence_length",                                                                                  \
       .type = GAB_CONFIG_REAL,                                                                                      \
       .min = 0,                                                                                                     \
       .max = INFINITY,                                                                                              \
       .min_excluded = true,                                                                                         \
       .unit = "m",                                                                                                  \
       .default_text = GAB_CONFIG_OPTIONAL,                                                                          \
       .doc = "Longitudinal integral length of the fluctuations."},                                                  \
  {                                                                                                                  \
    .name = "turbulence_seed", .type = GAB_CONFIG_INT, .min = 0, .max = 4294967295.0, .default_text = "1",           \
    .doc = "Another seed gives other fluctuations with the same statistics."                                         \
  }
/** Takes #GAB_SIDE_TURBULENCE_KEYS. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_side_read_turbulence(const gab_config *config, const char *path, int dimension,
                                    const struct gab_units *units, gab_side *side);
/** Draws the waves, once the domain and the mean velocity of the side are known. @param[in] mean  in cells per step
 *  @return ::GAB_ERR_INPUT if the integral length is not resolved or exceeds the side */
gab_status gab_side_turbulence_draw(const gab_config *config, const char *path, int index,
                                    const struct gab_domain *domain, const double mean[3], gab_side *side);
/** Finds the mean over the faces of a condition at the fluid of level 0. Local; equal on all ranks. */
void gab_side_turbulence_balance(const struct gab_lbm_model *model, int condition);
/** Fluctuations of given stresses do not grow with the scale of a flow rate: after each change of the scales. Local. */
void gab_side_turbulence_set_scales(struct gab_lbm *lbm);

/** @param[in] place  in cells of level 0 @param[in] steps  of level 0. Pure. */
void gab_side_turbulence_at(const gab_side_turbulence *turbulence, const double place[3], double steps,
                            double u[3]);

/** A link whose population gets a fluctuation. */
typedef struct gab_turbulent_link {
  uint32_t to, from; /**< as those of a gab_velocity_link */
  int32_t row[2];    /**< of the tables: the middle of the link along the two axes of the side */
  int16_t q;
  int8_t table;     /**< of gab_side_turbulence_tables */
  bool across_only; /**< the fluctuation along the side does not count */
} gab_turbulent_link;

/** Waves of a condition along the axes of its side at the middles of the links of a block. */
typedef struct gab_side_turbulence_table {
  int condition, side;
  const struct gab_side_plane *plane; /**< NULL: waves */
  double start[2],
      step; /**< of a plane: place of the first row along the two axes, and of the next one to it, m */
  int32_t rows[2];
  double *values[2]; /**< owned; by row: cosines, then sines of all waves; NULL of a plane */
} gab_side_turbulence_table;

/** The waves at a time. */
typedef struct gab_side_turbulence_now {
  double cosine[GAB_SIDE_TURBULENCE_WAVES], sine[GAB_SIDE_TURBULENCE_WAVES];
  double net;
} gab_side_turbulence_now;

/** Adds what a condition with turbulence gives to a link of a block. @param[in] at,x  place beyond the side and fluid cell, in cells of
 *  the domain @param[in] made  with its places */
gab_status gab_side_turbulence_add_link(const struct gab_lbm_model *model, struct gab_lbm_block *block,
                                        int side, int condition, const int64_t at[3],
                                        gab_turbulent_link made);
void gab_side_turbulence_set_time(const struct gab_lbm_model *model, int condition, double steps,
                                  gab_side_turbulence_now *now);
/** What the link adds to its population, for factor 1. Pure. */
double gab_side_turbulence_of_link(const struct gab_lbm_model *model, const gab_side_turbulence_table *table,
                                   const gab_side_turbulence_now *now, const gab_turbulent_link *link);

#ifdef __cplusplus
}
#endif
#endif
