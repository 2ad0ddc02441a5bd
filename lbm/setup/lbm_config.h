/* SPDX-License-Identifier: Apache-2.0 */
/** @file lbm_config.h
 *  @brief The sections `lbm`, `fluid`, `units`, `boundaries`, `bodies`, `porous` and `initial` of parameter files.
 *
 *  All lengths, velocities and times in the file are physical (any consistent units); with dx = dt = 1 they
 *  are lattice units. The cell width comes from the domain, the time step from one of: units.dt,
 *  units.lattice_velocity together with fluid.velocity, or fluid.omega together with a viscosity; with
 *  fluid.omega alone dt is 1 and the viscosity follows.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_LBM_LBM_CONFIG_H
#define GABION_LBM_LBM_CONFIG_H

#include "core/config/config.h"
#include "lbm/lbm.h"
#include "lbm/levels/refinement/refinement.h"
#include "lbm/setup/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Declares the sections. */
gab_status gab_lbm_declare(gab_config *config);

/** Which axes are periodic, as the sides say; z is in 2D. After gab_config_check(). For gab_forest_options
 * and gab_domain. @return ::GAB_ERR_INPUT if only one of two opposite sides is periodic */
gab_status gab_lbm_periodic_from_config(const gab_config *config, int dimension, bool periodic[3]);

/** A vortex array as initial state; `initial_user` of the options. */
typedef struct gab_taylor_green {
  int dimension;
  double origin[3], wave_number[3]; /**< physical; 2 pi / length of the domain */
  double velocity, dx;              /**< amplitude in cells per step; cell width */
  double density;
} gab_taylor_green;
/** u = U sin x cos y (cos z), v = -U cos x sin y (cos z), w = 0, with the density of the pressure that
 * belongs to it (Taylor & Green 1937; DeBonis 2013). @param user  a gab_taylor_green */
GAB_EXTENDER void gab_taylor_green_initial(void *user, const double centre[3], gab_lbm_state *state);

/** An initial state by formulas; `initial_user` of the options. */
typedef struct gab_initial_formulas {
  int dimension;
  const gab_expression *velocity[3],
      *pressure; /**< physical, of x, y, z; NULL: 0; borrowed from the configuration */
  gab_units units;
  double speed; /**< largest, in cells per step */
} gab_initial_formulas;
/** Reads and checks `initial` of type formula: finite, and nearly free of divergence unless it is projected.
 *  @return ::GAB_ERR_INPUT with the place in the file */
GAB_EXTENDER gab_status gab_initial_formulas_read(const gab_config *config, const gab_domain *domain,
                                                  const gab_units *units, gab_initial_formulas *formulas);
/** Velocity, its gradient by differences of fourth order, and density. @param user  a gab_initial_formulas */
GAB_EXTENDER void gab_initial_formulas_at(void *user, const double centre[3], gab_lbm_state *state);
/** The velocity in m/s. @param user  a gab_initial_formulas */
GAB_EXTENDER void gab_initial_formulas_velocity(void *user, const double centre[3], double velocity[3]);

/** A vortex of an initial state, about an axis along z. */
typedef struct gab_initial_vortex {
  double centre[2], radius;
  double speed;         /**< largest, m/s; negative: clockwise */
  bool has_circulation; /**< Lamb & Oseen; else Taylor */
} gab_initial_vortex;

struct gab_turbulence;

/** An initial velocity by name or by formulas from which the state follows by equations (lbm/setup/consistent.h). */
typedef struct gab_initial_flow {
  bool is_used;
  bool projects; /**< the velocity is made free of divergence */
  bool solves;   /**< the pressure follows from the velocity */
  void (*velocity)(void *user, const double centre[3], double velocity[3]); /**< a gab_velocity_fn, m/s */
  void *user;
  double speed; /**< estimate of the largest, m/s */
  double mean[3];
  double low[3], length[3]; /**< of the domain */
  bool periodic[3];
  struct gab_turbulence *turbulence; /**< owned; NULL: none */
  gab_initial_vortex *vortices;      /**< owned */
  size_t vortex_count;
  double thickness, at[2], perturbation; /**< of layers of shear; their speed is `layer_speed` */
  double layer_speed;
  size_t layer_count;
  int64_t waves;
} gab_initial_flow;

/** Declares the variants of `initial` that are velocities by name. */
GAB_EXTENDER gab_status gab_initial_flows_declare(gab_config *config);
/** Reads one of these; `is_used` is false for other variants. @param[out] flow  to be released whatever the status
 *  @return ::GAB_ERR_INPUT with the place in the file */
GAB_EXTENDER gab_status gab_initial_flows_read(const gab_config *config, const gab_domain *domain,
                                               gab_initial_flow *flow);
GAB_EXTENDER void gab_initial_flows_release(gab_initial_flow *flow);

/** Everything that the file says about the flow. */
typedef struct gab_lbm_setup {
  gab_lbm_options options; /**< points into this struct: do not copy it while in use */
  int temporal_steps;      /**< lbm.temporal_blocking, as in gab_lbm_temporal_block() */
  gab_units units;
  double viscosity;          /**< physical */
  double reynolds;           /**< velocity * length / viscosity, 0 if length or velocity is not given */
  double reference_velocity; /**< physical, fluid.velocity; 0 if not given */
  double reference_length;   /**< fluid.length; 0 if not given */
  double mean_velocity[3];   /**< to be held by a force, in cells per step; 0: not controlled */
  gab_step mean_velocity_every;
  gab_step statistics_every; /**< interval of the statistics that factors of sides use */
  double speed;              /**< largest in the file, in cells per step; 0 if it says none */
  double open_speed;         /**< border_speed for the open sides, in cells per step; 0: none */
  gab_body *bodies;          /**< owned */
  size_t body_count;
  gab_porous_region *porous; /**< owned, with what their shapes own */
  size_t porous_count;
  gab_patches *patches; /**< owned; NULL: none */
  gab_taylor_green vortices;
  gab_initial_formulas formulas;
  gab_initial_flow initial_flow;
} gab_lbm_setup;

/** Reads and checks (Mach number, omega: gab_flow_check()). Paths of pictures are
 * relative to `folder` (NULL: the working folder). @param[out] setup  to be released by
 * gab_lbm_setup_release()
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_lbm_setup_from_config(const gab_config *config, const gab_domain *domain, const char *folder,
                                     gab_lbm_setup *setup);
/** Checks the resolution of round bodies (gab_flow_check()): cells across the smallest, on the level that is
 *  there at the start. @param[in] refinement  NULL: there is level 0 only */
GAB_EXTENDER gab_status gab_lbm_setup_check_bodies(const gab_lbm_setup *setup, const gab_domain *domain,
                                                   const gab_refinement_setup *refinement);
/** Looks for what can be computed but cannot be meant, after all else was fine. Refuses a body outside of the
 * domain, a box into which fluid flows and from which none can (or the other way round), an acceleration that
 * nothing withstands and that would make the flow too fast in so many steps; warns (log) of one that would not,
 * and of keys that have no effect with the collision that was chosen. Pure but for the log.
 *  @return ::GAB_ERR_INPUT with the place in the file and the numbers */
GAB_EXTENDER gab_status gab_lbm_setup_check_meaning(const gab_config *config, const gab_domain *domain,
                                                    const gab_lbm_setup *setup, int64_t steps);
/** The same for what follows from the geometry of the case. Refuses a body that covers no cell of any level, and bodies whose
 *  velocity changes the mass of a box that has no open side, and a height of eddies below all cells; warns of a body that covers cells of finer levels only, where no
 *  criterion refines near bodies. Local.
 *  @return ::GAB_ERR_INPUT with the place in the file and the numbers */
GAB_EXTENDER gab_status gab_lbm_setup_check_geometry(const gab_config *config, const gab_geometry *geometry,
                                                     const gab_lbm_setup *setup);
/** The same for patches of bodies, once the grid is known. Refuses one that has no link, and patches of given velocity that fill or empty a
 *  box without a pressure, alone or with bodies that move. Local; equal on all ranks if the sums are. @param[in] sums  gab_lbm_sum_sides()
 *  @return ::GAB_ERR_INPUT with the place in the file */
GAB_EXTENDER gab_status gab_lbm_setup_check_patches(const gab_config *config, const gab_geometry *geometry,
                                                    const gab_lbm_setup *setup,
                                                    const gab_side_sums sums[GAB_MOST_CONDITIONS]);
/** Warns (log) of patches of bodies with a pressure that have links on several levels: those across the border act as a wall. Warns of walls
 *  with a slip length or a log law where there may be several levels. Local.
 *  @param[in,out] warned  bits of the conditions that were named already; initially 0 */
GAB_EXTENDER void gab_lbm_setup_warn_of_levels(const gab_config *config, const gab_geometry *geometry,
                                               const gab_lbm_setup *setup,
                                               const gab_side_sums sums[GAB_MOST_CONDITIONS],
                                               uint32_t *warned);
void gab_lbm_setup_release(gab_lbm_setup *setup);

#ifdef __cplusplus
}
#endif
#endif
