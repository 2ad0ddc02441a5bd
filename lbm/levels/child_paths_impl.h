/* SPDX-License-Identifier: Apache-2.0 */
/** @file child_paths_impl.h
 *  @brief Paths of populations across the border of two levels, in one coarse step.
 *
 *  A coarse cell near finer ones consists of n = 2^dimension virtual fine cells, its children. A population of a coarse
 *  cell is sent as n populations, one per child (explosion), equal or with differences that cancel (levels_slopes_impl.h).
 *  Each moves one fine cell in each of the two sub-steps of a coarse step; virtual cells do not collide. A population that
 *  enters a fine cell belongs to it from then on. A population that a fine cell sends into the coarse region moves as a
 *  child until the end of the second sub-step; then the n children of a coarse cell are averaged (coalescence). After
 *  Rohde, Kandhai, Derksen & van den Akker 2006 (Int. J. Numer. Meth. Fluids 51, 439), in a form in which the path of every
 *  child starts once and ends once, at edges and corners of the finer region too. So mass and, away from walls, momentum
 *  are conserved to rounding.
 *
 *  One sub-step is a bijection of (fluid cell, direction): to the next cell; bounced back at a solid cell; mirrored at
 *  free-slip sides. Reversing all directions inverts it, so the same code follows a path from its end to its start and from
 *  its start to its end.
 *
 *  A coarse end (X, q) is *touched* in those of its n children whose path begins in a fine cell. With m' touched children
 *  here, and m starts of the coarse source (Y, r) of (X, q) that lead into fine cells,
 *  @code
 *    n arrival(X, q) = (n - M) f(Y, r) + (M - m') f(X, -q) + (sum of the arrivals in the touched children)
 *    M = max(m, m')
 *  @endcode
 *  (X, -q) has as many touched starts as (X, q) has touched ends. So all others are matched: along the coarse link or,
 *  where m and m' differ, by bounce-back. (Y, r) is X - c_q with q; (X, -q) at a wall; the mirror cell at a free-slip side.
 *  Where X - c_q lies in the fine region there is no coarse link, and all untouched ends are bounced back. Next to half-way
 *  walls (X, -q) may have given more or less than its value to children that enter fine cells; the sum is corrected by that
 *  (levels_slopes_impl.h).
 *
 *  All functions are pure functions of a callback that returns the kind of a place.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_CHILD_PATHS_IMPL_H
#define GABION_LBM_CHILD_PATHS_IMPL_H

#include "blockforest/forest/direction.h"
#include "lbm/kernels/lattice.h"

/** Kind of a place of fine resolution. */
typedef enum gab_path_kind {
  GAB_PATH_COARSE = 0, /**< child of a coarse fluid cell */
  GAB_PATH_FINE,       /**< a fine fluid cell */
  GAB_PATH_WALL, /**< bounces back: coarse solid cells, walls and velocity sides, places without a block */
  GAB_PATH_FINE_WALL, /**< bounces back, in the fine region */
  GAB_PATH_SLIP,      /**< beyond free-slip sides only */
  GAB_PATH_OPEN       /**< beyond an open side */
} gab_path_kind;

typedef struct gab_path_place {
  uint8_t kind; /**< gab_path_kind */
  uint8_t flip; /**< for GAB_PATH_SLIP: bit a is set if the place lies beyond a side across axis a */
} gab_path_place;

/** Returns the kind of a fine-resolution cell; a pure function. The children of coarse cell X are 2 X and 2 X + 1 along
 * each axis of the lattice. */
typedef gab_path_place (*gab_path_oracle)(const void *user, const int32_t cell[3]);

typedef struct gab_paths {
  const gab_lattice *lattice;
  gab_path_oracle what;
  const void *user;
} gab_paths;

/** A moving population. */
typedef struct gab_path_state {
  int32_t cell[3]; /**< at fine resolution */
  int q;
} gab_path_state;

/** One sub-step backwards in time. */
typedef struct gab_path_step {
  gab_path_state from; /**< state before the sub-step; if it entered through an open side: the present one */
  gab_path_kind kind;  /**< of `from`: COARSE, FINE or OPEN */
  bool bounced;        /**< bounced back at `wall` */
  int32_t wall[3];
} gab_path_step;

void gab_path_back(const gab_paths *paths, const gab_path_state *now, gab_path_step *step);
/** One sub-step forward. @return kind of the next place: COARSE, FINE; OPEN: leaves the domain */
gab_path_kind gab_path_forth(const gab_paths *paths, const gab_path_state *now, gab_path_state *next);

/** The coarse cell of a place. */
void gab_path_parent(const gab_paths *paths, const int32_t cell[3], int32_t parent[3]);
/** The place of a child of a coarse cell. @param[in] child  bit a: upper half along axis a */
void gab_path_child(const gab_paths *paths, const int32_t coarse[3], int child, int32_t cell[3]);

/** A population that a fine cell receives from a coarse cell: sent by place `at` in direction at.q, in s1 and in s2. */
typedef struct gab_child_explosion {
  gab_path_state at; /**< child of a coarse fluid cell; in s1 it sends the population of its coarse cell */
  /** Source of the value sent in s2, after s1. COARSE: population from.q of the coarse cell of from.cell; FINE: population
   * from.q that from.cell sent in s1; OPEN: population at.q that arrives in the coarse cell of at.cell by its own link. */
  gab_path_step second;
} gab_child_explosion;
typedef gab_status (*gab_child_explosion_fn)(void *user, const gab_child_explosion *explosion);
/** Visits all explosions into the fine cells of a box, each place and direction once. */
gab_status gab_child_explosions(const gab_paths *paths, const int32_t lo[3], const int32_t hi[3],
                                gab_child_explosion_fn visit, void *user);

#define GAB_CHILD_COUNT_MAX 8
/** A path from a fine cell to a child of a coarse cell. */
typedef struct gab_child_touch {
  int child;            /**< bit a: upper half along axis a */
  bool second;          /**< sent in s2, else in s1 */
  gab_path_state start; /**< the fine cell and the direction of the population */
  bool bounced;         /**< in s2, at place `wall` */
  int32_t wall[3];
} gab_child_touch;

/** An arrival in a coarse cell that is not ordinary streaming. */
typedef struct gab_child_arrival {
  int32_t cell[3]; /**< coarse */
  int q;
  int keep,
      back; /**< n arrival = keep * (from the coarse link) + back * (sent by the cell in -q) + (touched) */
  int touched;
  gab_child_touch touch[GAB_CHILD_COUNT_MAX]; /**< in the order of children */
} gab_child_arrival;
typedef gab_status (*gab_child_arrival_fn)(void *user, const gab_child_arrival *arrival);
/** Visits all such arrivals in the coarse fluid cells of a box, in the order z, y, x, q. */
gab_status gab_child_arrivals(const gab_paths *paths, const int32_t lo[3], const int32_t hi[3],
                              gab_child_arrival_fn visit, void *user);

/** Coarse fluid cells among a cell and its neighbours: bits by direction (blockforest/forest/direction.h). */
uint32_t gab_child_surroundings(const gab_paths *paths, const int32_t coarse[3]);
/** False only if the children of a coarse cell that move along c meet only coarse fluid. @param[in] around
 * gab_child_surroundings() of the cell @param[in] c  direction, -1 to 1 along each axis */
bool gab_child_may_meet(uint32_t around, const int c[3]);

/** End of a population that a fine cell sends into the coarse region. @return COARSE if it ends there; all other kinds,
 * FINE included, do not change coarse cells @param[in] second  sent in s2, else in s1 @param[out] end  place and direction
 * after s2 */
bool gab_child_leaves(const gab_paths *paths, const gab_path_state *start, bool second, gab_path_state *end);

#endif
