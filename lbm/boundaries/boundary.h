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
 *  pressure sides and before outflows and free slip (doc/sides.md); next to a body it is not evaluated. Blocks have at least
 *  two cells across it. Where levels touch at it, coarse cells evaluate it like all others.
 *  Its stability is unknown: gab_lbm_open_speed() ignores it. Checkpoints record its name and its keys only, so a change of
 *  the function changes results without notice.
 *
 *  Tier: extender header.
 */
#ifndef GABION_LBM_BOUNDARY_H
#define GABION_LBM_BOUNDARY_H

#include "core/config/config.h"
#include "lbm/kernels/lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_units;

/** What happens at a side of the domain. */
typedef enum gab_side_kind {
  GAB_SIDE_PERIODIC = 0, /**< has to agree with the forest */
  GAB_SIDE_WALL,         /**< no slip: half-way bounce-back */
  GAB_SIDE_VELOCITY,     /**< given velocity: bounce-back with momentum, Ladd 1994 */
  /** Given density half-way to the first cells; velocities along the side have no gradient across it, that across the side the one
   *  that keeps the flow free of divergence, with the rates of strain of TRT's recurrence equations (Ginzburg et al. 2008). */
  GAB_SIDE_PRESSURE,
  /** Zero gradient across the side, of velocity and shear stress; nothing flows back in. The density is drawn to the given one softly, by
   *  2 c_s / length per step (after Poinsot & Lele 1992). The normal stress keeps the mean momentum flux: vortices leave without sound
   *  (doc/sides.md). */
  GAB_SIDE_OUTFLOW,
  GAB_SIDE_FREE_SLIP, /**< specular reflection: no friction, nothing passes */
  GAB_SIDE_OWN,       /**< what a program has registered: lbm/boundaries/boundary.h */
  GAB_SIDE_KIND_COUNT
} gab_side_kind;

/** Whether the fluid passes a side with a velocity that is not given: such a side sets the mass of the domain. A user-defined one counts
 *  as such. A new kind without an answer here is a warning of the compiler. Pure. */
static inline bool gab_side_kind_is_open(gab_side_kind kind)
{
  switch (kind) {
  case GAB_SIDE_PRESSURE:
  case GAB_SIDE_OUTFLOW:
  case GAB_SIDE_OWN:
    return true;
  case GAB_SIDE_PERIODIC:
  case GAB_SIDE_WALL:
  case GAB_SIDE_VELOCITY:
  case GAB_SIDE_FREE_SLIP:
  case GAB_SIDE_KIND_COUNT:
    return false;
  }
  return false;
}

/** Numbers that a side has for its condition; conditions that can be registered. */
#define GAB_BOUNDARY_NUMBERS 8
#define GAB_MOST_BOUNDARIES  16

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
/** @return the name of the index-th condition of all, those of the library first, NULL behind the last */
const char *gab_boundary_name(int index);

#ifdef __cplusplus
}
#endif
#endif
