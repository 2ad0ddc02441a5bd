/* SPDX-License-Identifier: Apache-2.0 */
/** @file consistent.h
 *  @brief An initial velocity made free of divergence, and the pressure that belongs to it: Poisson equations on a grid of their own.
 *
 *  A pressure that does not belong to the velocity leaves as sound, and so does the divergent part of a velocity. In physical units:
 *  @code
 *    Laplace(phi) = div u,  u := u - grad phi                      (projection)
 *    Laplace(p) = - rho sum over i, j of d_j u_i d_i u_j           (pressure)
 *  @endcode
 *  with central differences of second order, on blocks like those of the flow but all of them, also solid ones. At sides the normal derivative
 *  of phi and p vanishes, but at open ones phi is 0, and p that of the side or the reference pressure. The normal velocity
 *  at walls is 0, at velocity sides that of the side. Without an open side the mean of p is 0.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_CONSISTENT_H
#define GABION_LBM_CONSISTENT_H

#include "blockforest/exchange/resample.h"
#include "lbm/lbm.h"
#include "lbm/setup/units.h"

/** Velocity at the centre of a cell, m/s. Called cell by cell, x fastest, block by block. */
typedef void gab_velocity_fn(void *user, const double centre[3], double velocity[3]);

typedef struct gab_consistent_options {
  const gab_lbm_options *flow; /**< its sides */
  const gab_domain *domain;    /**< of the flow, for profiles of sides */
  gab_units units;
  int finest;    /**< level that there may be */
  bool projects; /**< the velocity is made free of divergence */
  bool solves;   /**< the pressure follows from the velocity; else it is 0 */
  gab_velocity_fn *velocity;
  void *user;
} gab_consistent_options;

/** What came out, of all ranks. */
typedef struct gab_consistent_report {
  double divergence
      [2]; /**< root mean square before and after the projection, as a part of that of the velocity gradient */
  double energy[2];   /**< mean of u^2 / 2 before and after, m^2/s^2 */
  double pressure[2]; /**< least and most, Pa */
  double speed;       /**< largest, m/s */
} gab_consistent_report;

typedef struct gab_consistent gab_consistent;

/** Registers fields on a forest without blocks, with the domain and cells of the flow's. Collective.
 *  @param[in] options  copied; what it points at is borrowed @param[out] consistent  owned by the caller
 *  @return as gab_elliptic_create() */
gab_status gab_consistent_create(gab_forest *forest, const gab_consistent_options *options,
                                 gab_consistent **consistent);
/** Before the forest. */
void gab_consistent_destroy(gab_consistent **consistent);
/** Once the forest has its blocks: solves, and gives pressure, velocity and rate of strain (gab_lbm_state_values()) to the resampler of
 *  the forest. Collective. @param[out] report  may be NULL
 *  @return as gab_elliptic_solve() */
gab_status gab_consistent_solve(gab_consistent *consistent, gab_consistent_report *report);
/** The resampler, ready to be evaluated. Borrowed. */
gab_resampler *gab_consistent_resampler(const gab_consistent *consistent);

#endif
