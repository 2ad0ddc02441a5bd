/* SPDX-License-Identifier: Apache-2.0 */
/** @file side_state_impl.h
 *  @brief State of convective sides: populations of the ghost cells beyond them, one for each direction that enters.
 *
 *  Where: a second kind of block data ("lbm.sides"), registered only in flows that have such a side, so that other
 *  checkpoints keep their content and their names of data. A block has, for each of its sides with such a condition, a
 *  number for each cell at the side and each direction that enters across it: sides in order, then directions, then cells,
 *  the lower axis first. The layout is a pure function of the place of the block, whatever bodies, patches and neighbours
 *  there are. A number without an open link is NaN after a sub-step at the latest, so that `now` is all of the state. The forest packs, unpacks, migrates, splits and merges them with the
 *  block: snapshots, disk checkpoints, replay and adaptation need nothing else. A child copies its parent, a parent takes
 *  the mean of its children.
 *
 *  When: links compute the next numbers from the present ones (gab_side_state_advance()), as often as they are evaluated in
 *  a sub-step; the sweep turns them over with the populations. NaN means not yet: the first value is what the fluid cell
 *  sends. All levels have the same velocity in cells per sub-step. Numbers are doubles in any precision of the populations,
 *  and do not depend on their storage: one or two fields, parity, fused and sparse blocks.
 *
 *  Temporal blocking is off: it would need the numbers of several steps. The identity of the arithmetic has a revision.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SIDE_STATE_IMPL_H
#define GABION_LBM_SIDE_STATE_IMPL_H

#include "blockforest/forest/block_data.h"
#include "lbm/sides/boundary.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gab_lbm_model;

/** Of a block. */
typedef struct gab_side_state {
  double *now, *next;               /**< `count` numbers; now: packed. Owned */
  size_t start[GAB_SIDE_COUNT + 1]; /**< the first number of each side */
} gab_side_state;

/** Bits of sides with a condition, also on a patch, that keeps a state. Pure. */
unsigned gab_side_state_sides(const struct gab_lbm_model *model);
/** The kind of block data. @param[in] model  borrowed; with `state_sides` set */
gab_block_data_kind gab_side_state_kind(struct gab_lbm_model *model);
/** Where the number of a link is, from 1. Pure. @param[in] first  cell of the domain of the block, of `level`
 *  @param[in] cell  the fluid cell, in the block @param[in] q  direction that enters across the side */
uint32_t gab_side_state_place(const struct gab_lbm_model *model, int level, const int64_t first[3],
                              const int32_t cell[3], int side, int q);

/** Takes the population of the ghost cell one sub-step further: backward Euler of dg/dt + U dg/dn = 0 between the ghost and
 *  the last fluid cell (Yang 2013; Lou, Guo & Shi 2013).
 *  @param[in] place  from 1 @param[in] sent  by the last fluid cell in that direction, one cell before the ghost
 *  @return the population that the ghost cell sends */
static inline double gab_side_state_advance(gab_side_state *of, uint32_t place, double advection, double sent)
{
  const double before = of->now[place - 1];
  return of->next[place - 1] = isnan(before) ? sent : (before + advection * sent) / (1 + advection);
}

/** After the sweep of the whole block; what no link writes next is NaN then. @param[in] of  NULL: nothing */
static inline void gab_side_state_turn_over(gab_side_state *of)
{
  if (!of) return;
  double *done = of->next;
  of->next = of->now;
  of->now = done;
  for (size_t i = 0; i < of->start[GAB_SIDE_COUNT]; i++) of->next[i] = NAN;
}

#ifdef __cplusplus
}
#endif
#endif
