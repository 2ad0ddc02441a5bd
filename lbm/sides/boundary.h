/* SPDX-License-Identifier: Apache-2.0 */
/** @file boundary.h
 *  @brief Boundary conditions at the sides of the domain: those of the library, by name, and user-defined ones.
 *
 *  A user-defined condition is a function from the populations that a fluid cell has sent to the one that arrives in it from
 *  beyond a side: a slip length, a porous or a compliant wall, another outlet. It is registered before the configuration is
 *  declared, the same on all processes, and chosen as `type` of a side in the parameter file, with its own keys:
 *  @code
 *    static double arrives(const gab_boundary_link *at) { return at->sent[gab_lattice_opposite(at->q)]; }
 *    static const gab_boundary resting = {.name = "resting", .doc = "Half-way bounce-back.", .arrives = arrives};
 *    GAB_TRY(gab_boundary_register(&resting));   boundaries: {y_min: {type: resting}}
 *  @endcode
 *  The flow treats such a side as open, even if it is not: a box that an inlet fills without another outlet is not refused,
 *  and where levels touch at it mass is conserved only to the error of the method (the resting wall above: 2.6e-10 of it
 *  per step; on one level none). A condition is evaluated for one side. In an edge between two such sides it does not know
 *  the other one, and its contributions along the side need not cancel there. At edges it comes after walls, velocity and
 *  pressure sides and before outlets and free slip (doc/sides.md); next to a body it is not evaluated. Blocks have at least
 *  two cells across it. Where levels touch at it, coarse cells evaluate it like all others.
 *  Its stability is unknown: gab_lbm_open_speed() ignores it. Checkpoints record its name and its keys only, so a change of
 *  the function changes results without notice.
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_BOUNDARY_H
#define GABION_LBM_BOUNDARY_H

#include "core/config/config.h"
#include "core/config/time_series.h"
#include "lbm/kernels/lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_units;

/** Sides of the domain, in this order everywhere. */
typedef enum gab_side_index {
  GAB_SIDE_X_MIN = 0,
  GAB_SIDE_X_MAX,
  GAB_SIDE_Y_MIN,
  GAB_SIDE_Y_MAX,
  GAB_SIDE_Z_MIN,
  GAB_SIDE_Z_MAX,
  GAB_SIDE_COUNT
} gab_side_index;

/** Shape of the velocity over a side. */
typedef enum gab_profile {
  GAB_PROFILE_CONSTANT = 0,
  GAB_PROFILE_PARABOLIC, /**< velocity is the maximum; zero at the edges of the side towards sides that are not
                             periodic, a product of two parabolas in 3D */
  GAB_PROFILE_DUCT,      /**< exact flow in a rectangular duct; velocity is the maximum */
  GAB_PROFILE_PIPE,      /**< 1 - r^2 / R^2 about a centre, zero beyond; velocity is the maximum */
  GAB_PROFILE_POWER_LAW, /**< (h / reference height)^exponent above a ground; velocity is that at the reference height */
  GAB_PROFILE_LOGARITHMIC, /**< ln((h - d + z0) / z0) above a ground, zero below d; velocity is that at the reference height */
  GAB_PROFILE_WOMERSLEY, /**< flow in a channel or tube whose mean over the section is velocity cos(2 pi t / period) */
  GAB_PROFILE_PLANE, /**< mean of a plane of another run; velocity is its mean across the side: gab_side.plane */
  GAB_PROFILE_FORMULA /**< gab_side.shape */
} gab_profile;

/** The kinds of the library, in the order of the parameter reference; the last is what a program has registered. KIND(NAME, name)
 *  makes the enumerator GAB_SIDE_NAME and asks for the descriptor gab_side_name (lbm/sides/side_impl.h). */
#define GAB_SIDE_KINDS(KIND)                                                                                 \
  KIND(PERIODIC, periodic)                                                                                   \
  KIND(WALL, wall)                                                                                           \
  KIND(VELOCITY, velocity)                                                                                   \
  KIND(PRESSURE, pressure)                                                                                   \
  KIND(OUTFLOW, outflow)                                                                                     \
  KIND(CHARACTERISTIC, characteristic)                                                                       \
  KIND(CONVECTIVE, convective)                                                                               \
  KIND(FREE_SLIP, free_slip)                                                                                 \
  KIND(OWN, own)

#define GAB_SIDE_ENUMERATOR(upper, lower) GAB_SIDE_##upper,
/** What happens at a side of the domain: GAB_SIDE_PERIODIC (0), GAB_SIDE_WALL and so on. What each does: doc/sides.md. */
typedef enum gab_side_kind { GAB_SIDE_KINDS(GAB_SIDE_ENUMERATOR) GAB_SIDE_KIND_COUNT } gab_side_kind;
#undef GAB_SIDE_ENUMERATOR

/** Whether the fluid passes a side with a velocity that is not given: such a side sets the mass of the domain. A user-defined one counts
 *  as such. Pure. */
bool gab_side_kind_is_open(gab_side_kind kind);
/** Whether fluid can pass a side: it is open or has a given velocity. Pure. */
bool gab_side_kind_passes_fluid(gab_side_kind kind);

/** Numbers that a side has for its condition; conditions that can be registered. */
#define GAB_BOUNDARY_NUMBERS 8
/** Values of sides by name in one formula: ::GAB_EXPRESSION_MOST_VARIABLES without the others. */
#define GAB_SIDE_MOST_MEASURED 11
/** Conditions of a flow: six sides and at most 26 patches (lbm/sides/patch.h). */
#define GAB_MOST_CONDITIONS 32
/** Factors in time of all conditions: one for each, then a second one for each, of the sine of ::GAB_PROFILE_WOMERSLEY; then the time
 *  itself, in steps of level 0, and 1. */
#define GAB_SIDE_FACTORS    (2 * GAB_MOST_CONDITIONS + 2)
#define GAB_SIDE_TIME       (2 * GAB_MOST_CONDITIONS)
#define GAB_SIDE_UNIT       (2 * GAB_MOST_CONDITIONS + 1)
#define GAB_MOST_BOUNDARIES 16

/** What a profile needs, in physical units. */
typedef struct gab_profile_numbers {
  double centre[3], radius; /**< PIPE, and WOMERSLEY in a tube; radius 0: in a channel */
  int ground;               /**< POWER_LAW, LOGARITHMIC: a gab_side_index, along this side */
  double height;            /**< of the reference */
  double exponent, roughness, displacement;
  double period, alpha; /**< WOMERSLEY; alpha: half height or radius times sqrt(2 pi / (period viscosity)) */
} gab_profile_numbers;

/** The faces that a condition has; zero: all of a side without patches. */
typedef struct gab_side_part {
  const struct gab_patches *patches; /**< of the flow; NULL: none; borrowed */
  int condition; /**< its number: a side's index, or #GAB_SIDE_COUNT plus that of a patch */
  /** Profiles refer to this part of the domain, as shares of it, and vanish at its ends; false: to the side, and at sides. */
  bool has_frame;
  double lo[3], hi[3];
  bool is_bounded[3]; /**< by axis; not where the frame is all of a periodic axis */
} gab_side_part;

/** A layer in front of a side that draws the flow to it, all zero: none (lbm/sides/sponge.c). */
typedef struct gab_sponge {
  double thickness; /**< in cells of level 0 */
  double
      rate; /**< at the side: share by which a difference shrinks in a step; falls with the square of the distance to 0 */
  double viscosity;   /**< at the side, over that of the fluid; 0 means 1 */
  double velocity[3]; /**< of sides whose velocity is not given */
  bool has_velocity;
  double
      roughness; /**< of a wall: the layer has the turbulent viscosity of its log law (lbm/sides/ground.c), and no more; else 0 */
} gab_sponge;

/** What the velocity of a patch of a body means. */
typedef enum gab_body_velocity {
  GAB_BODY_VELOCITY_GIVEN = 0, /**< all of it */
  GAB_BODY_VELOCITY_NORMAL, /**< the first component is the speed along the normal of the surface, into the fluid */
  GAB_BODY_VELOCITY_ALONG /**< of a wall: the part along the surface */
} gab_body_velocity;

/** Lengths, velocities and times in lattice units. */
typedef struct gab_side {
  gab_side_kind kind;
  double velocity[3];        /**< of GAB_SIDE_VELOCITY */
  gab_body_velocity on_body; /**< of a patch of a body */
  gab_profile profile;
  gab_profile_numbers of_profile;
  /** Into the domain, in cells of level 0 per step: the velocity, which points across the side, is scaled to it
   *  (gab_lbm_set_flow_rates()). Of the cosine with ::GAB_PROFILE_WOMERSLEY. 0: not given */
  double flow_rate;
  double ramp_steps; /**< the velocity grows as (1 - cos(pi t / ramp_steps)) / 2 over that many steps; 0: at
                        once */
  const gab_expression
      *shape; /**< of ::GAB_PROFILE_FORMULA: times the velocity, of x, y, z in physical units; borrowed. Of
                 GAB_SIDE_PRESSURE and the outlets, as all that follows: times the difference of the density from 1 */
  const gab_expression
      *factor; /**< times the velocity, of t and statistics in physical units; NULL: 1; borrowed */
  struct gab_side_turbulence
      *turbulence; /**< of GAB_SIDE_VELOCITY: fluctuations; NULL: none; owned by the setup */
  struct gab_side_plane
      *plane; /**< of ::GAB_PROFILE_PLANE: velocity from a file; NULL: none; owned by the setup */
  gab_time_series *series; /**< the same, from a file; NULL: 1; borrowed */
  double dt;               /**< physical length of a time step, for these two */
  double peak;             /**< bound of |shape x factor x series|; with a factor rounded up; 0: 1 */
  double peak_in_time;     /**< of factor and series alone; 0: 1 */
  double density; /**< of GAB_SIDE_PRESSURE, GAB_SIDE_OUTFLOW and GAB_SIDE_CHARACTERISTIC; 0 means 1 */
  double
      relaxation; /**< of outlets: sigma of Poinsot & Lele (1992); 0: 2 of GAB_SIDE_OUTFLOW, 1 of GAB_SIDE_CONVECTIVE, else not drawn */
  double
      advection; /**< of GAB_SIDE_CONVECTIVE: mean velocity out of the domain, in (0, 0.5) cells per step */
  double slip_length; /**< of GAB_SIDE_WALL, in cells of level 0 */
  double roughness;   /**< of GAB_SIDE_WALL: roughness length of its log law, in cells of level 0; 0: none */
  const struct gab_boundary *own; /**< of GAB_SIDE_OWN; borrowed */
  double numbers[GAB_BOUNDARY_NUMBERS];
  gab_sponge sponge;  /**< not of free slip and user-defined conditions */
  gab_side_part part; /**< of a side with patches, or of a patch: set by gab_patches_complete() */

  /** A factor with statistics of the flow (lbm/sides/side_statistics.c). */
  bool is_measured;
  double factor_limit;                     /**< bound of the absolute factor */
  double interval;                         /**< physical time between two measurements */
  int own_condition;                       /**< its number */
  int measured_at[GAB_SIDE_MOST_MEASURED]; /**< conditions by the index of gab_expression_named() */
} gab_side;

/** A population that a condition is asked for. */
typedef struct gab_boundary_link {
  const gab_lattice *lattice;
  int q;              /**< the direction it arrives with */
  int side;           /**< a gab_side_index */
  int level;          /**< of the cell: it is 2^-level as wide as a cell of level 0 */
  double omega;       /**< relaxation rate of the shear stress on that level */
  double density;     /**< of the fluid cell; 1 is that of the fluid at rest */
  double velocity[3]; /**< of the fluid cell, in cells per step */
  const double *sent; /**< what the fluid cell has sent, by direction: deviations from the weights */
  double
      next; /**< what arrives with q in the next cell across the side: q of a flow without a gradient across it */
  const double *
      spread; /**< by axis along the side: half of what the cell has sent along it, both ways, less what arrives; else 0 */
  const double *numbers; /**< #GAB_BOUNDARY_NUMBERS, of the side */
} gab_boundary_link;

typedef struct gab_boundary {
  const char *name;           /**< in parameter files */
  const char *doc;            /**< one sentence */
  const gab_config_key *keys; /**< of a side of this type; NULL: none */
  size_t key_count;
  /** Takes the keys of a side. NULL: there is nothing to take. @param[in] path  "boundaries.x_min"
   *  @param[in] units  of the lattice (lbm/setup/units.h) @param[out] numbers  zero at first
   *  @return ::GAB_ERR_INPUT with the place in the file */
  gab_status (*read)(const gab_config *config, const char *path, const struct gab_units *units,
                     double numbers[GAB_BOUNDARY_NUMBERS]);
  /** The deviation from the weight that arrives. A pure function, called by all threads at once. */
  double (*arrives)(const gab_boundary_link *link);
} gab_boundary;

/** Adds a condition to those that can be chosen. Before a configuration is declared, the same on all processes.
 *  @param[in] boundary  borrowed for ever
 *  @return ::GAB_ERR_ARGUMENT if the name is taken, something is missing (keys without a function that reads them,
 *  too) or the table is full */
gab_status gab_boundary_register(const gab_boundary *boundary);
/** @return the index-th that was registered, NULL behind the last */
const gab_boundary *gab_boundary_at(int index);
/** @return the registered one of that name, NULL if there is none */
const gab_boundary *gab_boundary_by_name(const char *name);
/** @return the name of the index-th condition of all, those of the library first, NULL behind the last */
const char *gab_boundary_name(int index);

#ifdef __cplusplus
}
#endif
#endif
