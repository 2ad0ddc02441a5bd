/* SPDX-License-Identifier: Apache-2.0 */
/** @file level_interface_impl.h
 *  @brief Exchange of a block with blocks of other levels, as lists that each step processes.
 *
 *  The lists follow from child_paths_impl.h, the table of neighbours and the geometry. Each end of a contact
 *  (blockforest/exchange/coupling.h) builds its own list in the same order, so messages carry values only. Lists are
 *  rebuilt when a neighbour changes its level.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_LEVEL_INTERFACE_IMPL_H
#define GABION_LBM_LEVEL_INTERFACE_IMPL_H

#include "blockforest/exchange/coupling.h"
#include "lbm/boundaries/body_sums_impl.h"
#include "lbm/levels/child_paths_impl.h"

/** Revision of the coupling between levels; raise it when the same parameters give other bits on several levels.
 * Checkpoints of flows that may have several levels contain it. History: 1 (not recorded): children next to walls lacked
 * their slopes. 2 to 5: no exchange of mass along a border (levels_carry.c). One more each for lattices with directions
 * along space diagonals (before gab_level_balance_edges(), which other lattices do not need), sides with a ramp (before
 * gab_level_balance_ramps()), equilibria beyond second order (rounding of splits and merges of partly solid blocks), open
 * sides and interpolated bodies (first-order borders there before). */
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

/** The part of a list that belongs to one contact. Directions are those of the finer block; on the coarser block the place
 * of the finer one is added, see gab_level_interface_group(). */
typedef struct gab_level_interface_part {
  int32_t group;
  uint32_t first, last;
} gab_level_interface_part;
typedef struct gab_level_interface_parts {
  gab_level_interface_part *item; /* ascending by group */
  size_t count;
} gab_level_interface_parts;

/** Value that ghost `cell`, a child of a coarse cell, sends in direction q: indices of the values in s1 and s2. Next to
 * interpolated walls it sends `extended` in both; the difference in mass is charged to the walls, that in momentum to the
 * body (levels_interpolated.c). */
typedef struct gab_level_interface_explosion {
  uint32_t cell, first, second, extended; /**< extended: UINT32_MAX if there is none */
  uint32_t instead_of_link; /**< of this fine cell, which would otherwise bounce back; UINT32_MAX: none */
  int32_t q;
  int32_t body; /**< if extended: the interpolated body next to it; -1: none */
} gab_level_interface_explosion;

/** Kind of a value sent to another block. */
typedef enum gab_outgoing_kind {
  /** A population of a cell. For a child it is taken at weight / 4 cells from the centre of the cell along each axis. The
   * slope along an axis is the difference between the usable neighbours before and behind. */
  GAB_OUTGOING_SENT,
  GAB_OUTGOING_ARRIVING, /**< population that arrives in a cell by its link */
  /** Population of a child in s2 that entered through an open side: the one that the cell sent, plus half of the change
   * that its link made in `next`, since the child has moved half as far (doc/sides.md). */
  GAB_OUTGOING_FROM_SIDE
} gab_outgoing_kind;

typedef struct gab_level_interface_outgoing {
  uint32_t cell;
  int16_t q;
  uint8_t kind;           /**< gab_outgoing_kind */
  uint8_t before, behind; /**< bits by axis */
  int8_t weight[3]; /**< for GAB_OUTGOING_FROM_SIDE: offset of the cell with population `next`, in cells */
  /** By axis: 0; 1 + the direction of the neighbour whose slope is used instead; or ::GAB_SLOPE_BY_WALL. */
  uint8_t via[3];
} gab_level_interface_outgoing;

enum { GAB_SLOPE_BY_WALL = 255 };
/** A cell next to an interpolated wall without a neighbour for a slope: the slope follows from the velocities of wall and
 * cell. */
typedef struct gab_level_interface_wall {
  uint32_t cell;
  double normal[3]; /**< of the wall, over the distance in cells */
  double velocity[3];
} gab_level_interface_wall;

/** A population of a fine cell that is summed for a coarse cell. */
typedef struct gab_level_interface_coalescence {
  uint32_t cell, sum;
  int32_t q;
} gab_level_interface_coalescence;

/** Adds weight * ((f_q - f_-q) of one fine cell - that of the other) to a sum: levels_carry.c. */
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

/** n times the arrival in a coarse cell is keep times the present value + back times the population sent in the opposite
 * direction + the sums order[first ... last - 1] - the lent amount (levels_slopes_impl.h) + gains. Where a border ends at
 * an open side: times that sum + keep times the change that the link made. */
typedef struct gab_level_interface_arrival {
  uint32_t cell, first, last;
  int16_t q;
  int8_t keep, back;
  int8_t times;           /**< 1; other values at open sides only */
  int8_t other[3];        /**< at open sides: offset of the cell that the link extrapolated from; 0: none */
  bool from_finer;        /**< the source is a ghost in a finer block */
  uint8_t before, behind; /**< bits by axis, as in gab_level_interface_outgoing; 0: nothing is lent */
  int8_t lent[3];         /**< sum of the weights that the cell lent in the opposite direction */
} gab_level_interface_arrival;

/** Value used instead of `arrival` next to an interpolated wall; the difference in mass is charged to the walls, that in
 * momentum to the body (levels_interpolated.c). */
typedef enum gab_replacement_kind {
  GAB_REPLACED_BY_LINK,             /**< by the link of the cell, or streaming */
  GAB_REPLACED_BY_WALL,             /**< by a * near + b * far + term */
  GAB_REPLACED_BY_WALL_AND_ARRIVAL, /**< the same, but far is the value of arrival `far` from the second node */
  GAB_REPLACED_BY_EXTENSION,        /**< by the population that X itself sent, shifted */
  GAB_REPLACED_BY_MEAN /**< by the mean of `count` children, shifted by weight / count quarters of a cell */
} gab_replacement_kind;
typedef struct gab_level_interface_replacement {
  uint32_t arrival, near, far;
  int16_t near_q, far_q;
  uint8_t kind, count;
  uint8_t before, behind; /**< as in gab_level_interface_outgoing, also weight and via */
  int8_t weight[3];
  uint8_t via[3];
  int32_t body;   /**< the interpolated body next to it; -1: none */
  double dropped; /**< contribution of moving bodies to the arrival, left out */
  double a, b, term;
} gab_level_interface_replacement;

/** Contribution of a moving wall to explosion or arrival `at`. */
typedef struct gab_level_interface_term {
  uint32_t at;
  int32_t factor; /**< of #GAB_SIDE_FACTORS; -1: none */
  bool grows;     /**< scale by the growth of the ramp until s2 of the finer level, not by the ramp */
  double term;
} gab_level_interface_term;

/** Momentum that populations between the levels transfer to a body where no link of a block counts it, and the part of a
 * link's count that does not apply. */
typedef enum gab_impulse_kind {
  GAB_IMPULSE_SENT,     /**< by the population that a cell sent in direction sent_q and that comes back */
  GAB_IMPULSE_EXPLODED, /**< by explosion `at` in s2: it moved in direction q and came back in s1 */
  GAB_IMPULSE_LINK,     /**< by the population that a cell sent in direction sent_q and the value that its
                         * link returns */
  GAB_IMPULSE_LENT      /**< by the amount that arrival `at` lacks: bounced-back children lent it to others */
} gab_impulse_kind;
typedef struct gab_level_interface_impulse {
  uint32_t at; /**< cell, explosion or arrival */
  uint32_t body;
  double share; /**< fraction of a population of the block */
  double point
      [3]; /**< on the path through the wall, in cells of the block's level from the corner of the domain */
  double term; /**< of a moving wall */
  int8_t q;    /**< direction in which it meets the wall; sent_q unless a free-slip side changed it */
  int8_t sent_q;
  uint8_t kind; /**< gab_impulse_kind */
  uint8_t when; /**< bits: in which sub-steps */
} gab_level_interface_impulse;

struct gab_level_interface {
  bool borrows;    /* all lists and parts belong to another interface */
  double *storage; /* of all values; NULL in interfaces that only lend their lists */
  /* next to coarser blocks */
  gab_level_interface_explosion *explosions;
  gab_level_interface_term *explosion_terms;
  double *
      values; /* in storage, like all values; received from coarser blocks, then from fine ones; kept until s2 */
  gab_level_interface_parts down_in, across_in;
  gab_level_interface_outgoing *across; /* sent to other fine blocks */
  gab_level_interface_parts across_out;
  gab_level_interface_coalescence *coalescences[2]; /* of s1 and of s2 */
  gab_level_interface_carry *carries;               /* of s1 */
  double *sums;
  gab_level_interface_parts up_out;
  size_t explosion_count, explosion_term_count, value_count, across_count, coalescence_count[2], carry_count,
      sum_count;
  /* next to finer blocks */
  gab_level_interface_outgoing *outgoing_list;
  gab_level_interface_parts down_out;
  gab_level_interface_arrival *arrivals;
  gab_level_interface_term *arrival_terms;
  gab_level_interface_gain *gains;
  gab_level_interface_replacement *replacements;
  gab_level_interface_wall *walls;
  uint32_t *order;
  double *partials; /* received */
  double *fresh;    /* one per arrival */
  double *charged;  /* one per replacement: the value minus the momentum-conserving one */
  gab_level_interface_parts up_in;
  size_t outgoing_count, arrival_count, arrival_term_count, gain_count, replacement_count, wall_count,
      order_count, partial_count;
  /* next to either */
  gab_level_interface_impulse *impulses;
  size_t impulse_count;
  /* Mass that walls of bodies create between the levels in a sub-step, in addition to gab_links.excess: by explosions from
   * coarser blocks, and by arrivals from finer ones. */
  double excess_of_explosions, excess_of_arrivals;
};

static inline int32_t gab_level_interface_group(const int8_t place[3], int direction)
{
  return ((place[2] + 1) * 16 + (place[1] + 1) * 4 + place[0] + 1) * GAB_DIRECTIONS + direction;
}

/** Above this rate of the coarser level, flows along extended walls are unstable (doc/levels.md); there each path conserves
 * its mass. */
static inline bool gab_level_is_too_fast(const gab_lbm_model *model, int coarse_level)
{
  const double most_rate = 1.85;
  return model->level[coarse_level].rates.even > most_rate;
}
/** Finds `base`, see gab_level_is_open_place(). @param[in] place of fine resolution, from the corner of the block
 * @param[in] as_coarse the block is the coarse one */
bool gab_level_find_base(const gab_lbm_model *model, const gab_lbm_block *block, bool as_coarse,
                         const int32_t place[3], int32_t base[3]);
/** Whether a place in a coarser block is fluid at fine resolution although its coarse cell is solid by an interpolated
 * body. There is then no wall, and so no link, between the place and a fluid cell next to it. Its populations are extended
 * from the nearest coarse fluid cell next to its own coarse cell. @param[in] place  a ghost of the block @param[out] base
 * that cell, from the corner of the block in coarse cells; may be NULL @return false also if there is no such cell */
bool gab_level_is_open_place(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t place[3],
                             int32_t base[3]);

/** Builds the lists of a block from its neighbours; NULL if none has another level. */
gab_status gab_level_interface_list(const gab_lbm_model *model, const gab_lbm_block *block,
                                    gab_level_interface **interface);
/** Reserves capacity for the values of lists. */
gab_status gab_level_interface_allocate(gab_level_interface *interface);
/** Makes another interface with the same lists and its own storage. @param[in] lender  must outlive it */
gab_status gab_level_interface_borrow(const gab_level_interface *lender, gab_level_interface **interface);
void gab_level_interface_destroy(gab_level_interface **interface);

/** Packing and unpacking for blockforest/exchange/coupling.h. @param[in] model  its user */
gab_coupling_kind gab_level_interface_kind(gab_lbm_model *model);

/** Fills the ghosts in coarser blocks. @param[in] sub  0: s1, 1: s2 */
void gab_level_interface_explode(const gab_lbm_block *block, int sub, const double ramp[GAB_SIDE_FACTORS]);
/** Sets the sums to the populations that the cells send into the coarse region in s1. */
void gab_level_interface_coalesce_first(const gab_lbm_block *block);
/** Adds those sent in s2. @param[in] sent,storage  state after the first sweep, and its layout */
void gab_level_interface_coalesce_second(const gab_lbm_block *block, const gab_field *sent,
                                         const gab_storage *storage);
/** Computes the arrivals next to finer blocks, after links, ghosts and all sums. Call it for all blocks of a fused group
 * before correcting any: an arrival in one may be a population sent by another. */
void gab_level_interface_find_arrivals(const gab_lbm_model *model, const gab_lbm_block *block);
/** Writes the arrivals. @param[in] growth  of the ramps until s2 of the finer level @param[in] ghosts_only  only those from
 * places in finer blocks, without wall terms: ramp and growth are not read */
void gab_level_interface_correct(const gab_lbm_block *block, const double ramp[GAB_SIDE_FACTORS],
                                 const double growth[GAB_SIDE_FACTORS], bool ghosts_only);

/** Factor of the non-equilibrium part of a cell from level `from` to level `to`. */
double gab_lbm_level_factor(const gab_level_model *from, const gab_level_model *to);
/** Gives a child its part of the state of its parent, which begins at cell `corner` of the parent; and the next child along
 * x its own, if the two are adjacent in memory. @param[in] children  that child, and the next one or NULL @return number of
 * children processed: 0 unless the first child and the parent store all cells and all are fluid */
int gab_lbm_split_rows(const gab_lbm_model *model, const gab_lbm_block *parent,
                       gab_lbm_block *const children[2], const int32_t corner[3]);
/** The same from children to their parent. */
int gab_lbm_merge_rows(const gab_lbm_model *model, const gab_lbm_block *const children[2],
                       gab_lbm_block *parent, const int32_t corner[3]);

/** Adds the momentum transfers of a sub-step to the forces, per body; after links and ghosts, before the corrections. */
void gab_level_interface_add_forces(const gab_lbm_model *model, const gab_lbm_block *block, int sub,
                                    gab_body_sums *forces);
/** Adds the momentum of the replacements of a coarse block to the forces, per body; after
 * gab_level_interface_find_arrivals(). */
void gab_level_interface_add_replaced_forces(const gab_lbm_model *model, const gab_lbm_block *block,
                                             gab_body_sums *forces);

/** The surroundings of a block at fine resolution; a callback of child_paths_impl.h. */
typedef struct gab_level_view {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  bool as_coarse;    /**< places are children of the block's cells; else its cells */
  int level;         /**< of the places */
  int64_t origin[3]; /**< place of the domain at (0, 0, 0) */
  int32_t rim, size[3];
  ptrdiff_t centre, stride[3]; /**< of `known`: place (0, 0, 0), and the strides */
  gab_path_place *known;       /**< owned; kind 255: not determined yet */
} gab_level_view;
gab_status gab_level_view_make(const gab_lbm_model *model, const gab_lbm_block *block, bool as_coarse,
                               gab_level_view *view);
void gab_level_view_release(gab_level_view *view);
/** Whether the place of a cell outside the block is in a finer block. @param[in] cell  of the block's level, up to a block
 * away */
bool gab_is_in_finer(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t cell[3],
                     int direction);
gab_path_place gab_level_view_look(const void *view, const int32_t cell[3]);

#endif
