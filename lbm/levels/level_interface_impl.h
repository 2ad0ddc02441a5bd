/* SPDX-License-Identifier: Apache-2.0 */
/** @file level_interface_impl.h
 *  @brief Exchange of a block with blocks of other levels, as lists that a step processes.
 *
 *  The lists follow from child_paths_impl.h, the table of neighbours and the geometry. Each end of a contact
 *  (blockforest/exchange/coupling.h) builds its own list in the same order, so messages carry values only. Lists are rebuilt
 *  when a neighbour has changed its level.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_LEVEL_INTERFACE_IMPL_H
#define GABION_LBM_LEVEL_INTERFACE_IMPL_H

#include "blockforest/exchange/coupling.h"
#include "lbm/boundaries/body_sums_impl.h"
#include "lbm/levels/child_paths_impl.h"

/** Of the coupling: to be raised whenever the same parameters give other bits on several levels. Part of what a checkpoint of a flow
 *  that may have some records. 1, which records do not name: children beside walls lacked their slopes. 2 to 5: cells along a border
 *  carried nothing (levels_carry.c). On lattices with directions along diagonals of space it is one more, since they once had no
 *  gab_level_balance_edges(), which the others do not need. With a side that has
 *  a ramp it is one more: before, borders there had no gab_level_balance_ramps(). With an equilibrium beyond second order it is
 *  one more: before, cells of blocks that are not all fluid were split and merged with other roundings than rows. With an open side
 *  it is one more: before, borders that ended there were of first order. With an interpolated body it is one more: before, such walls crossed
 *  borders with first order. */
#define GAB_LEVELS_REVISION                6
#define GAB_LEVELS_REVISION_WITH_DIAGONALS 7

/** Whether the velocity of a side or patch varies in time. */
static inline bool gab_any_ramp(const gab_lbm_options *options)
{
  bool any = false;
  for (int condition = 0; condition < gab_lbm_condition_count(options); condition++) {
    const gab_side *side = gab_lbm_condition(options, condition);
    any |= gab_side_moves(side) && gab_side_varies(side);
  }
  return any;
}

/** Whether there is an interpolated body. */
static inline bool gab_any_interpolated(const gab_geometry *geometry)
{
  bool any = false;
  for (size_t i = 0; i < gab_geometry_body_count(geometry); i++)
    any |= gab_geometry_body(geometry, i)->wall == GAB_WALL_INTERPOLATED;
  return any;
}

static inline int gab_levels_revision(const gab_lattice *lattice, const gab_lbm_options *options,
                                      const gab_geometry *geometry)
{
  const int more = gab_any_ramp(options) + (options->collision->equilibrium_beyond != NULL) +
                   gab_lbm_has_open_side(options, lattice->dimension) + gab_any_interpolated(geometry);
  for (int q = 0; q < lattice->q; q++)
    if (lattice->c[q][0] != 0 && lattice->c[q][1] != 0 && lattice->c[q][2] != 0)
      return GAB_LEVELS_REVISION_WITH_DIAGONALS + more;
  return GAB_LEVELS_REVISION + more;
}

/** A part of a list: what belongs to one contact. Down and up as the finer block has it: the direction of the
 *  contact. As the coarser block has it, the finer one's place too, see gab_level_interface_group(). */
typedef struct gab_level_interface_part {
  int32_t group;
  uint32_t first, last;
} gab_level_interface_part;
typedef struct gab_level_interface_parts {
  gab_level_interface_part *item; /* ascending by group */
  size_t count;
} gab_level_interface_parts;

/** What ghost `cell`, a child of a coarse cell, sends in direction q: indices of the values in s1 and s2. Next to interpolated walls it
 *  sends `extended` in both, and the walls are charged with the difference in mass, the body with that in momentum
 *  (levels_interpolated.c). */
typedef struct gab_level_interface_explosion {
  uint32_t cell, first, second, extended; /**< extended: UINT32_MAX: none */
  uint32_t instead_of_link; /**< of this fine cell, whose population would be thrown back; UINT32_MAX: none */
  int32_t q;
  int32_t body; /**< if it is extended: the interpolated body next to it; -1: none */
} gab_level_interface_explosion;

/** What a value for another block is. */
typedef enum gab_outgoing_kind {
  /** A population of a cell. For a child it is taken from beside the middle of the cell: weight / 4 cells along each axis. Its
   *  slope is the difference between the cells before and behind along that axis, as far as they may be used. */
  GAB_OUTGOING_SENT,
  GAB_OUTGOING_ARRIVING, /**< what arrives in a cell, by its link */
  /** What a child sends in s2 that has come from beyond an open side: what the cell itself has sent, and half of what
   *  its link has changed in `next`, for the child has come half as far (doc/sides.md). */
  GAB_OUTGOING_FROM_SIDE
} gab_outgoing_kind;

typedef struct gab_level_interface_outgoing {
  uint32_t cell;
  int16_t q;
  uint8_t kind;           /**< gab_outgoing_kind */
  uint8_t before, behind; /**< bits by axis */
  int8_t
      weight[3]; /**< of GAB_OUTGOING_FROM_SIDE: where the cell lies whose population is `next`, in cells */
  /** By axis: 0; 1 + the direction of the cell next to it whose slope is taken instead; or ::GAB_SLOPE_BY_WALL. */
  uint8_t via[3];
} gab_level_interface_outgoing;

enum { GAB_SLOPE_BY_WALL = 255 };
/** A cell next to an interpolated wall that has no neighbour to take a slope from: the velocity changes from that of the wall to its own. */
typedef struct gab_level_interface_wall {
  uint32_t cell;
  double normal[3]; /**< of the wall, over the distance in cells */
  double velocity[3];
} gab_level_interface_wall;

/** A population of a fine cell that is part of a sum for a coarse one. */
typedef struct gab_level_interface_coalescence {
  uint32_t cell, sum;
  int32_t q;
} gab_level_interface_coalescence;

/** Adds weight * ((f_q - f_-q) of the one fine cell - that of the other) to a sum: levels_carry.c. */
typedef struct gab_level_interface_carry {
  uint32_t upper, lower, sum;
  int32_t q;
  double weight;
} gab_level_interface_carry;
/** Adds weight * a sum to an arrival. */
typedef struct gab_level_interface_gain {
  uint32_t arrival, sum;
  double weight;
} gab_level_interface_gain;

/** n times what arrives in a coarse cell is keep times what is there + back times what the cell sends in the
 *  opposite direction + the sums order[first ... last - 1] - what the cell has lent (levels_slopes_impl.h). Gains come on top.
 *  Where a border ends at an open side: times that sum + keep times what the link has changed. */
typedef struct gab_level_interface_arrival {
  uint32_t cell, first, last;
  int16_t q;
  int8_t keep, back;
  int8_t times;    /**< 1; another number at open sides only */
  int8_t other[3]; /**< at open sides: where the cell lies that the link has extrapolated from; 0: nowhere */
  bool from_finer; /**< a finer block is where it comes from: the place is a ghost's */
  uint8_t before, behind; /**< bits by axis, as gab_level_interface_outgoing has them; 0: nothing is lent */
  int8_t lent[3]; /**< the weights, all together, of what the cell has given in the opposite direction */
} gab_level_interface_arrival;

/** What arrives in a coarse cell next to an interpolated wall instead of `arrival`; the walls are charged with the difference in mass,
 *  the body with that in momentum (levels_interpolated.c). */
typedef enum gab_replacement_kind {
  GAB_REPLACED_BY_LINK,             /**< by what the link of the cell gives, or streaming */
  GAB_REPLACED_BY_WALL,             /**< by a * near + b * far + term */
  GAB_REPLACED_BY_WALL_AND_ARRIVAL, /**< the same; far is what arrival `far` brings from the second node */
  GAB_REPLACED_BY_EXTENSION,        /**< by what X itself has sent, shifted */
  GAB_REPLACED_BY_MEAN /**< by the mean of what `count` children bring, shifted by weight / count quarters of a cell */
} gab_replacement_kind;
typedef struct gab_level_interface_replacement {
  uint32_t arrival, near, far;
  int16_t near_q, far_q;
  uint8_t kind, count;
  uint8_t before, behind; /**< as gab_level_interface_outgoing has them, and weight and via */
  int8_t weight[3];
  uint8_t via[3];
  int32_t body;   /**< the interpolated body next to it; -1: none */
  double dropped; /**< what moving bodies would have given to the arrival */
  double a, b, term;
} gab_level_interface_replacement;

/** What a moving wall gives to explosion or arrival `at`. */
typedef struct gab_level_interface_term {
  uint32_t at;
  int32_t factor; /**< of #GAB_SIDE_FACTORS; -1: none */
  bool grows;     /**< times what the ramp grows by until s2 of the finer level, not times the ramp */
  double term;
} gab_level_interface_term;

/** What a body is given by populations that meet it between the levels, where no link of a block counts them;
 * and the part of a link's count that does not come about. */
typedef enum gab_impulse_kind {
  GAB_IMPULSE_SENT,     /**< by what a cell has sent in direction sent_q, which comes back */
  GAB_IMPULSE_EXPLODED, /**< by what explosion `at` takes in s2: it has gone in direction q and come back in s1 */
  GAB_IMPULSE_LINK,     /**< by what a cell has sent in direction sent_q and what its link gives back */
  GAB_IMPULSE_LENT      /**< by what arrival `at` lacks: those that are thrown back have lent it to others */
} gab_impulse_kind;
typedef struct gab_level_interface_impulse {
  uint32_t at; /**< cell, explosion or arrival */
  uint32_t body;
  double share; /**< of a population of the block */
  double point
      [3]; /**< on its way through the wall, in cells of the block's level from the corner of the domain */
  double term; /**< of a moving wall */
  int8_t q;    /**< in which it meets the wall; sent_q, unless a free-slip side has turned it */
  int8_t sent_q;
  uint8_t kind; /**< gab_impulse_kind */
  uint8_t when; /**< in which sub-steps: bits */
} gab_level_interface_impulse;

struct gab_level_interface {
  bool borrows;    /* all lists and parts are another's */
  double *storage; /* of all values; NULL in those that only lend their lists */
  /* beside coarser blocks */
  gab_level_interface_explosion *explosions;
  gab_level_interface_term *explosion_terms;
  double *values; /* in storage, as all values; have arrived: down, then across; kept until s2 */
  gab_level_interface_parts down_in, across_in;
  gab_level_interface_outgoing *across; /* given to other fine blocks */
  gab_level_interface_parts across_out;
  gab_level_interface_coalescence *coalescences[2]; /* of s1 and of s2 */
  gab_level_interface_carry *carries;               /* of s1 */
  double *sums;
  gab_level_interface_parts up_out;
  size_t explosion_count, explosion_term_count, value_count, across_count, coalescence_count[2], carry_count,
      sum_count;
  /* beside finer blocks */
  gab_level_interface_outgoing *outgoing_list;
  gab_level_interface_parts down_out;
  gab_level_interface_arrival *arrivals;
  gab_level_interface_term *arrival_terms;
  gab_level_interface_gain *gains;
  gab_level_interface_replacement *replacements;
  gab_level_interface_wall *walls;
  uint32_t *order;
  double *partials; /* have arrived */
  double *fresh;    /* one per arrival */
  double *charged;  /* one per replacement: what arrives, less what would conserve momentum */
  gab_level_interface_parts up_in;
  size_t outgoing_count, arrival_count, arrival_term_count, gain_count, replacement_count, wall_count,
      order_count, partial_count;
  /* beside either */
  gab_level_interface_impulse *impulses;
  size_t impulse_count;
  /* Mass that walls of bodies make between the levels in a sub-step, beyond gab_links.excess: by what has come from coarser
   * blocks, and by what arrives from finer ones. */
  double excess_of_explosions, excess_of_arrivals;
};

static inline int32_t gab_level_interface_group(const int8_t place[3], int direction)
{
  return ((place[2] + 1) * 16 + (place[1] + 1) * 4 + place[0] + 1) * GAB_DIRECTIONS + direction;
}

/** Above this rate of the coarser level flows along extended walls were unstable (doc/levels.md): there each path keeps its mass. */
static inline bool gab_level_is_too_fast(const gab_lbm_model *model, int coarse_level)
{
  const double most_rate = 1.85;
  return model->level[coarse_level].rates.even > most_rate;
}
/** See gab_level_is_open_place(). @param[in] place  of fine resolution, from the corner of the block @param[in] as_coarse  the block is
 *  the coarse one */
bool gab_level_find_base(const gab_lbm_model *model, const gab_lbm_block *block, bool as_coarse,
                         const int32_t place[3], int32_t base[3]);
/** Whether a place in a coarser block is fluid in fine resolution, though the coarse cell there is solid by an interpolated body: no wall
 *  is between it and a fluid cell next to it, so there is no link. What it sends is extended from the nearest coarse fluid cell next to
 *  that one. @param[in] place  a ghost of the block @param[out] base  that cell, from the corner of the block in coarse cells; may be NULL
 *  @return false also if there is no such cell */
bool gab_level_is_open_place(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t place[3],
                             int32_t base[3]);

/** Makes the lists of a block from what is beside it; NULL if no other level is. */
gab_status gab_level_interface_list(const gab_lbm_model *model, const gab_lbm_block *block,
                                    gab_level_interface **interface);
/** Reserves capacity for the values of lists. */
gab_status gab_level_interface_allocate(gab_level_interface *interface);
/** Another interface with the same lists and storage of its own. @param[in] lender  has to stay longer */
gab_status gab_level_interface_borrow(const gab_level_interface *lender, gab_level_interface **interface);
void gab_level_interface_destroy(gab_level_interface **interface);

/** Packing and unpacking for blockforest/exchange/coupling.h. @param[in] model  its user */
gab_coupling_kind gab_level_interface_kind(gab_lbm_model *model);

/** Fills the ghosts in coarser blocks. @param[in] sub  0: s1, 1: s2 */
void gab_level_interface_explode(const gab_lbm_block *block, int sub, const double ramp[GAB_SIDE_FACTORS]);
/** Adds what the cells send into the coarse region in s1 to the sums, which start from zero. */
void gab_level_interface_coalesce_first(const gab_lbm_block *block);
/** Adds what they send in s2. @param[in] sent,storage  what the first sweep has left, and how it lies there
 */
void gab_level_interface_coalesce_second(const gab_lbm_block *block, const gab_field *sent,
                                         const gab_storage *storage);
/** Finds what arrives beside finer blocks; links and ghosts have been done, all sums are there. Of all blocks of a fused group
 * before any of them is corrected: what arrives in a cell of the one is what a cell of the other has sent. */
void gab_level_interface_find_arrivals(const gab_lbm_model *model, const gab_lbm_block *block);
/** Writes it. @param[in] growth  of the ramps until s2 of the finer level @param[in] ghosts_only  only what comes from places in
 *  finer blocks, without what walls give: ramp and growth are not looked at */
void gab_level_interface_correct(const gab_lbm_block *block, const double ramp[GAB_SIDE_FACTORS],
                                 const double growth[GAB_SIDE_FACTORS], bool ghosts_only);

/** What is beyond equilibrium in a cell, over what is in one of another level. */
double gab_lbm_level_factor(const gab_level_model *from, const gab_level_model *to);
/** Gives a child its part of the state of its parent, which begins at cell `corner` of the parent; and the next one along x
 *  its own, if the two lie side by side in memory.
 *  @param[in] children  that one, and the next one or NULL
 *  @return how many it has dealt with: none unless the first and the parent store all cells and all are fluid */
int gab_lbm_split_rows(const gab_lbm_model *model, const gab_lbm_block *parent,
                       gab_lbm_block *const children[2], const int32_t corner[3]);
/** The same from children to their parent. */
int gab_lbm_merge_rows(const gab_lbm_model *model, const gab_lbm_block *const children[2],
                       gab_lbm_block *parent, const int32_t corner[3]);

/** Adds the pushes of a sub-step to the forces, per body. Links and ghosts have been done, but no
 * corrections. */
void gab_level_interface_add_forces(const gab_lbm_model *model, const gab_lbm_block *block, int sub,
                                    gab_body_sums *forces);
/** Adds the momentum of the replacements of a coarse block to the forces, per body. The corrections of the step have been found. */
void gab_level_interface_add_replaced_forces(const gab_lbm_model *model, const gab_lbm_block *block,
                                             gab_body_sums *forces);

/** The view of a block's surroundings in fine resolution, an oracle of child_paths_impl.h. */
typedef struct gab_level_view {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  bool as_coarse;    /**< places are children of the block's cells; else the cells themselves */
  int level;         /**< of the places */
  int64_t origin[3]; /**< place of the domain at (0, 0, 0) */
  int32_t rim, size[3];
  ptrdiff_t centre, stride[3]; /**< of `known`: place (0, 0, 0), and from one place to the next */
  gab_path_place *known;       /**< owned; kind 255: not asked yet */
} gab_level_view;
gab_status gab_level_view_make(const gab_lbm_model *model, const gab_lbm_block *block, bool as_coarse,
                               gab_level_view *view);
void gab_level_view_release(gab_level_view *view);
/** Whether a finer block is where a cell of the place beside the block would be. @param[in] cell  of the
 * block's level, up to a block away */
bool gab_is_in_finer(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t cell[3],
                     int direction);
gab_path_place gab_level_view_look(const void *view, const int32_t cell[3]);

#endif
