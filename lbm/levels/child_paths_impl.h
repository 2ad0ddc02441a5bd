/* SPDX-License-Identifier: Apache-2.0 */
/** @file child_paths_impl.h
 *  @brief Paths of populations across the border of two levels, in one coarse step.
 *
 *  A coarse cell near finer ones consists of n = 2^dimension virtual fine cells, its children. A population of a coarse
 *  cell is sent as n ones, one per child (explosion), equal or with differences that cancel (levels_slopes_impl.h). Each
 *  moves one fine cell in each of the two sub-steps of a coarse step; virtual cells do not collide. A population that
 *  enters a fine cell belongs to it from then on. One that a fine cell sends into the coarse region moves on as a child
 *  until the end of the second sub-step; then the n children of a coarse cell are averaged (coalescence). After Rohde,
 *  Kandhai, Derksen & van den Akker 2006 (Int. J. Numer. Meth. Fluids 51, 439), in a form in which the path of every child
 *  starts once and ends once, at edges and corners of the finer region too. So mass and, away from walls, momentum are
 *  conserved to rounding.
 *
 *  One sub-step is a bijection of (fluid cell, direction): to the next cell; back with the opposite direction at a solid
 *  cell; mirrored at free-slip sides. Reversing all directions reverses it. So a path is found from its end, and the same
 *  code finds the end of a start.
 *
 *  A coarse end (X, q) is *touched* in those of its n children whose path begins in a fine cell. With m' touched children
 *  here, and m starts of the coarse source (Y, r) of (X, q) that lead into fine cells,
 *  @code
 *    n arrival(X, q) = (n - M) f(Y, r) + (M - m') f(X, -q) + (sum of the arrivals in the touched children)
 *    M = max(m, m')
 *  @endcode
 *  As many starts of (X, -q) as ends of (X, q) are touched, so all others are matched: along the coarse link or, where m
 *  and m' differ, thrown back. (Y, r) is X - c_q with q; (X, -q) at a wall; the mirror cell at a free-slip side. Where
 *  X - c_q lies in the fine region there is no coarse link, and all untouched ones are thrown back. Next to half-way walls
 *  (X, -q) may have given more or less than its value to children that enter fine cells; the sum is corrected by that
 *  (levels_slopes_impl.h).
 *
 *  All functions are pure functions of an oracle for the kind of a place.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_CHILD_PATHS_IMPL_H
#define GABION_LBM_CHILD_PATHS_IMPL_H

#include "blockforest/forest/direction.h"
#include "lbm/kernels/lattice.h"

/** What is at a place of fine resolution. */
typedef enum gab_path_kind {
  GAB_PATH_COARSE = 0, /**< child of a coarse fluid cell */
  GAB_PATH_FINE,       /**< a fine fluid cell */
  GAB_PATH_WALL, /**< throws back: coarse solid cells, walls and velocity sides, places without a block */
  GAB_PATH_FINE_WALL, /**< throws back, and lies in the fine region */
  GAB_PATH_SLIP,      /**< beyond free-slip sides only */
  GAB_PATH_OPEN       /**< beyond a side that lets through */
} gab_path_kind;

typedef struct gab_path_place {
  uint8_t kind; /**< gab_path_kind */
  uint8_t flip; /**< of GAB_PATH_SLIP: bit a is on if the place lies beyond a side across axis a */
} gab_path_place;

/** A pure function. Cells of fine resolution; the children of coarse cell X are 2 X and 2 X + 1 along each
 * axis of the lattice. */
typedef gab_path_place (*gab_path_oracle)(const void *user, const int32_t cell[3]);

typedef struct gab_paths {
  const gab_lattice *lattice;
  gab_path_oracle what;
  const void *user;
} gab_paths;

/** A population under way. */
typedef struct gab_path_state {
  int32_t cell[3]; /**< of fine resolution */
  int q;
} gab_path_state;

/** One sub-step back. */
typedef struct gab_path_step {
  gab_path_state from; /**< where it was before; if it came in by an open side: where it is now */
  gab_path_kind kind;  /**< of from: COARSE, FINE; or OPEN */
  bool bounced;        /**< thrown back by ... */
  int32_t wall[3];     /**< ... this place */
} gab_path_step;

void gab_path_back(const gab_paths *paths, const gab_path_state *now, gab_path_step *step);
/** One sub-step on. @return what it enters: COARSE, FINE; OPEN: it leaves */
gab_path_kind gab_path_forth(const gab_paths *paths, const gab_path_state *now, gab_path_state *next);

/** The coarse cell of a place. */
void gab_path_parent(const gab_paths *paths, const int32_t cell[3], int32_t parent[3]);
/** The place of a child of a coarse cell. @param[in] child  bit a: upper half along axis a */
void gab_path_child(const gab_paths *paths, const int32_t coarse[3], int child, int32_t cell[3]);

/** A population that a fine cell takes from a coarse one: what place `at` sends in at.q in s1 and in s2. */
typedef struct gab_child_explosion {
  gab_path_state
      at; /**< child of a coarse fluid cell; in s1 it sends what its coarse cell has sent in at.q */
  /** Where it comes from that is sent in s2, after s1: COARSE: what the coarse cell of from.cell has sent in
   * from.q; FINE: what from.cell has sent in s1 in from.q; OPEN: what arrives in the coarse cell of at.cell
   * in at.q by its own link. */
  gab_path_step second;
} gab_child_explosion;
typedef gab_status (*gab_child_explosion_fn)(void *user, const gab_child_explosion *explosion);
/** All explosions of the fine cells of a box. Each place and direction comes once. */
gab_status gab_child_explosions(const gab_paths *paths, const int32_t lo[3], const int32_t hi[3],
                                gab_child_explosion_fn visit, void *user);

#define GAB_CHILD_COUNT_MAX 8
/** A path that ends in a child of a coarse cell and began in a fine one. */
typedef struct gab_child_touch {
  int child;            /**< bit a: upper half along axis a */
  bool second;          /**< it was sent in s2, else in s1 */
  gab_path_state start; /**< the fine cell, and what it sent in */
  bool bounced;         /**< in s2, at place `wall` */
  int32_t wall[3];
} gab_child_touch;

/** A coarse arrival that is not ordinary streaming. */
typedef struct gab_child_arrival {
  int32_t cell[3]; /**< coarse */
  int q;
  int keep,
      back; /**< n arrival = keep * (by the coarse link) + back * (what the cell sent in -q) + (touched) */
  int touched;
  gab_child_touch touch[GAB_CHILD_COUNT_MAX]; /**< in the order of children */
} gab_child_arrival;
typedef gab_status (*gab_child_arrival_fn)(void *user, const gab_child_arrival *arrival);
/** All of them in the coarse fluid cells of a box, in the order z, y, x, q. */
gab_status gab_child_arrivals(const gab_paths *paths, const int32_t lo[3], const int32_t hi[3],
                              gab_child_arrival_fn visit, void *user);

/** Which of the coarse cells around one, itself included, are coarse fluid: bits by direction
 * (blockforest/forest/direction.h). */
uint32_t gab_child_surroundings(const gab_paths *paths, const int32_t coarse[3]);
/** False only if the children of a coarse cell on their way in a direction meet nothing but coarse fluid.
 *  @param[in] around  gab_child_surroundings() of it @param[in] c  the way, -1 to 1 along each axis */
bool gab_child_may_meet(uint32_t around, const int c[3]);

/** Where a population that a fine cell sends ends up, if it enters the coarse region: COARSE. Anything else,
 *  FINE included, is no business of the coarse cells.
 *  @param[in] second  sent in s2, else in s1
 *  @param[out] end  place and direction after s2 */
bool gab_child_leaves(const gab_paths *paths, const gab_path_state *start, bool second, gab_path_state *end);

#endif
