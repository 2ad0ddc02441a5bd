/* SPDX-License-Identifier: Apache-2.0 */
/** @file scalar.h
 *  @brief A temperature or concentration carried by a flow, on the same blocks; it may drive the flow.
 *
 *      dT/dt + div(j T) = D Laplace(T) + s
 *
 *  with the momentum j of the flow: finite volumes on its cells, central differences, explicit in time. The sum of T over all
 *  fluid cells, weighted by volume, changes only by the source s and by fluxes through sides and walls of bodies, on any number
 *  of levels. It may drive the flow (Boussinesq) by the local force F = buoyancy (T - reference) (lbm/step/local_force.h);
 *  several scalars may.
 *  @code
 *    const gab_lbm_scalar_options air = {.name = "temperature", .diffusivity = 0.02, .reference = 0.5,
 *                                        .sides = {{GAB_SCALAR_FIXED, 1}, {GAB_SCALAR_FIXED, 0}},
 *                                        .buoyancy = {0, 1e-5}};
 *    GAB_TRY(gab_lbm_scalar_create(forest, lbm, &air, finest, &temperature));
 *    ...
 *    GAB_TRY(gab_lbm_step(lbm));
 *    GAB_TRY(gab_lbm_scalar_step(temperature));
 *  @endcode
 *  Sides of the domain are periodic as in the forest; otherwise they lie half a cell beyond the last cells. Through
 *  open sides the scalar is carried with the flow: with the value of the side if that is fixed, otherwise with that of
 *  the cell. Through a side or patch of given velocity its flow rate carries, with the factor in time at the start of
 *  the step. Cells of bodies are solid; errors at their walls: doc/heat.md.
 *
 *  Levels: finer levels of the flow take more and shorter steps, during which the scalar is constant; the scalar takes the
 *  step of level 0 everywhere. The flux through a coarse face is the sum of those through the fine faces opposite to it.
 *
 *  Large eddies: D of a cell is the molecular one plus the eddy viscosity of the flow over a turbulent Prandtl number, D of a face
 *  the mean of both cells.
 *
 *  Conducting bodies (::GAB_SCALAR_CONDUCTS): c dT/dt = div(k D grad T) + source with their own conductivity k and capacity c. Value and flux are
 *  continuous at the surface: between a fluid cell and a solid one both resistances are in series, as long as the parts of the
 *  line between them in the fluid and in the body. The body keeps its blocks (gab_body.keeps_blocks) and does not move.
 *
 *  Stability (Hindmarsh, Gresho & Griffiths 1984, Int. J. Numer. Methods Fluids 4, 853), with n sub-steps in a step:
 *  D 4^level <= n / (2 d) in d dimensions, and u^2 / 2 <= n D for the largest speed u: gab_lbm_scalar_substeps().
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
  GAB_SCALAR_INSULATED = 0, /**< nothing is conducted */
  GAB_SCALAR_FIXED,         /**< a value at the side */
  GAB_SCALAR_FLUX,     /**< value: conducted flux into the fluid per area, in cells and steps of level 0 */
  GAB_SCALAR_TRANSFER, /**< transfer (value - T at the wall) per area is conducted into the fluid */
  GAB_SCALAR_CONDUCTS /**< of a body: it has a scalar of its own, which diffuses in it and passes its surface */
} gab_lbm_scalar_side_kind;

typedef struct gab_lbm_scalar_side {
  gab_lbm_scalar_side_kind kind;
  double value;
} gab_lbm_scalar_side;

/** Condition at the walls of a body. */
typedef struct gab_lbm_scalar_wall {
  gab_lbm_scalar_side_kind kind;
  double value,
      transfer; /**< as of a side; transfer of ::GAB_SCALAR_TRANSFER, in cells and steps of level 0 */
  double conductivity,
      capacity; /**< of ::GAB_SCALAR_CONDUCTS: of the body over that of the fluid, both positive */
  double
      source; /**< of ::GAB_SCALAR_CONDUCTS: per volume and step, in units of value times capacity of the fluid */
} gab_lbm_scalar_wall;

/** A function of the physical centre of a cell. Pure; called by several threads. @param[in] step  of level 0, also parts of one */
typedef double gab_lbm_scalar_fn(void *user, const double centre[3], double step);

typedef struct gab_lbm_scalar_options {
  const char *name;             /**< "temperature"; borrowed as long as the scalar */
  double diffusivity;           /**< D, in cells and steps of level 0 */
  gab_lbm_scalar_side sides[6]; /**< lower x, upper x, lower y, ... of those that are not periodic */
  /** Prandtl or Schmidt number of eddies: their viscosity, divided by it, adds to D. Only with a collision that has one
   *  (::gab_collision_smagorinsky) [0: none] */
  double turbulent_prandtl;
  double buoyancy[3], reference;      /**< F in lattice units of level 0; zeros: it does not drive the flow */
  double transfer[6];                 /**< of sides of kind ::GAB_SCALAR_TRANSFER */
  const gab_lbm_scalar_wall *bodies;  /**< of each body of the geometry; borrowed; NULL: all are insulated */
  const gab_lbm_scalar_wall *patches; /**< of each patch of the flow's sides; borrowed; NULL: as the side */
  gab_lbm_scalar_fn *source;          /**< per step of level 0 [NULL: none] */
  bool source_varies;                 /**< it depends on the step */
  void *source_user;                  /**< borrowed as long as the scalar */
  /** Limited fluxes (van Leer 1974, J. Comput. Phys. 14, 361) with Heun's steps: no value leaves the range of the
   *  values around it, except by the divergence of the flow. Blocks need two cells along each axis; for sub-steps
   *  gab_lbm_scalar_bounded_substeps() */
  bool bounded;
  int substeps;     /**< in a step of level 0 [0: 1] */
  const char *unit; /**< of output, borrowed [NULL: none] */
  /** physical value of 0 in output: cells store the difference, so that rounding and the divergence of the discrete
   *  flow act on the difference alone [0] */
  double zero;
} gab_lbm_scalar_options;

typedef struct gab_lbm_scalar gab_lbm_scalar;

/** Adds its block data to a forest (packed with the blocks: value, then momentum) and, with buoyancy, sets the local
 *  force of the flow. Before the forest is built, after gab_lbm_create(). Collective (opens ports).
 *  @param[in] forest, lbm  borrowed @param[in] finest  possible level, from 0
 *  @return ::GAB_ERR_INPUT for a diffusivity that is unstable in a fluid at rest; ::GAB_ERR_ARGUMENT without a name,
 *  for blocks that cannot be refined with finest > 0, with buoyancy for a flow that has another local force; as
 *  gab_lbm_set_local_force() */
gab_status gab_lbm_scalar_create(gab_forest *forest, gab_lbm *lbm, const gab_lbm_scalar_options *options,
                                 int finest, gab_lbm_scalar **scalar);
/** Before the flow and the forest. */
void gab_lbm_scalar_destroy(gab_lbm_scalar **scalar);

/** Whether a diffusivity is stable. Pure. @param[in] finest  level that there may be @param[in] speed  of the flow at most, in
 *  lattice units @return ::GAB_ERR_INPUT with the numbers */
gab_status gab_lbm_scalar_check_stable(double diffusivity, int dimension, int finest, double speed);

/** The least number of sub-steps with which a scalar is stable. Pure. @param[in] diffusivity, dimension, finest, speed  as of
 *  gab_lbm_scalar_check_stable(); the diffusivity is positive */
int gab_lbm_scalar_substeps(double diffusivity, int dimension, int finest, double speed);

/** The diffusivity that counts for the stability of a conducting body in a fluid with `diffusivity`: that of the body, or the conductance of a
 *  short distance to an interpolated wall. Pure. @return that of the fluid for bodies that do not conduct */
double gab_lbm_scalar_body_diffusivity(double diffusivity, const gab_lbm_scalar_wall *wall,
                                       bool is_interpolated);

/** The largest eddy diffusivity in cells of the finest level, in cells and steps of level 0, if no velocity is larger than `speed`:
 *  (C dx)^2 |S| / turbulent_prandtl with |S| of twice the speed over a cell. Pure. @param[in] constant  of Smagorinsky */
double gab_lbm_scalar_eddy_diffusivity(double constant, double turbulent_prandtl, int finest, double speed);

/** The same for a bounded one: those with which it stays in its bounds. */
int gab_lbm_scalar_bounded_substeps(double diffusivity, int dimension, int finest, double speed);

/** The same value in all cells of this process. Local. */
void gab_lbm_scalar_fill(gab_lbm_scalar *scalar, double value);
/** Values by a function of the place, at step 0, in the fluid cells and conducting bodies of this process. Local. */
void gab_lbm_scalar_set(gab_lbm_scalar *scalar, gab_lbm_scalar_fn *value, void *user);
/** Its block data: a gab_field with the value in component 0, and the momentum of the flow along each axis in
 *  components 1 and so on; with a turbulent Prandtl number a last one, the eddy diffusivity. */
gab_data_id gab_lbm_scalar_data(const gab_lbm_scalar *scalar);
/** Its block data, and the exchange of a step, for `plan`. @param[out] data  the values, and those of the next step
 *  @return the exchange between blocks of one level; borrows from the scalar */
gab_ghost_kind gab_lbm_scalar_fields(const gab_lbm_scalar *scalar, gab_data_id data[2]);

/** A step of level 0, behind gab_lbm_step(): takes over the momentum of the flow, then moves the scalar. Collective among
 *  neighbours. */
gab_status gab_lbm_scalar_step(gab_lbm_scalar *scalar);

/** Flux along an axis in a step of level 0, in units of value times cells of level 0, positive upwards. */
typedef struct gab_lbm_scalar_flux {
  double lower, upper; /**< through the sides; 0 where they are periodic */
  double volume;       /**< integral over the domain: divided by its width the mean of all cross-sections */
  double change;       /**< of a value in the next step if the flow stays as it is, the largest */
} gab_lbm_scalar_flux;
/** Collective. Digits do not depend on processes. Behind a step. */
gab_status gab_lbm_scalar_measure(gab_lbm_scalar *scalar, int axis, gab_lbm_scalar_flux *flux);

/** Sums over the fluid, and fluxes in a step of level 0, in units of value times cells of level 0, positive into the
 *  fluid or a conducting body. */
typedef struct gab_lbm_scalar_balance {
  double volume;        /**< of the fluid */
  double sum;           /**< integral of the value over it */
  double least, most;   /**< value */
  double sides[6];      /**< through the sides, carried and conducted */
  double side_areas[6]; /**< of the faces of fluid cells there */
  double source;        /**< integral of the source, and of those of conducting bodies */
} gab_lbm_scalar_balance;
/** Flux through the walls of a body, and their area: faces of cells times the normal component of the surface. */
typedef struct gab_lbm_scalar_body {
  double flux, area;  /**< flux: out of the body */
  double volume, sum; /**< of a conducting body: as those of the fluid, without its capacity; of others 0 */
  double most;        /**< its largest value */
} gab_lbm_scalar_body;
/** Collective. Digits do not depend on processes. Behind a step, of the next one if the flow stays as it is.
 *  @param[out] bodies  one for each body of the geometry; may be NULL */
gab_status gab_lbm_scalar_get_balance(gab_lbm_scalar *scalar, gab_lbm_scalar_balance *balance,
                                      gab_lbm_scalar_body *bodies);

/** Largest difference from a cell to the next one within a block, both in the fluid or in conducting bodies, for criteria of refinement. Local. */
double gab_lbm_scalar_difference(const gab_lbm_scalar *scalar, const gab_block *block);
/** @return ::GAB_ERR_DIVERGED with quantity and place if a value or a momentum is not finite. Local. */
gab_status gab_lbm_scalar_check_finite(const gab_lbm_scalar *scalar);
/** The value, by its name, NaN in solid cells that do not conduct, and the momentum per density 1 as `velocity`. @param[out] items  with the scalar as user */
void gab_lbm_scalar_quantities(gab_lbm_scalar *scalar, gab_quantity items[2]);

#ifdef __cplusplus
}
#endif
#endif
