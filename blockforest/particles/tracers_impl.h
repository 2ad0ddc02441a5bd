/* SPDX-License-Identifier: Apache-2.0 */
/** @file tracers_impl.h
 *  @brief The inside of tracers.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_TRACERS_IMPL_H
#define GABION_BLOCKFOREST_TRACERS_IMPL_H

#include "blockforest/particles/tracers.h"

struct gab_tracers {
  gab_forest *forest;
  gab_tracers_options options;
  gab_particles *particles;
  gab_block_field field;
  gab_data_id velocity;
  gab_exchange *exchange;
};

/** A block with what its tracers ask for again and again. */
typedef struct gab_tracers_place {
  const gab_tracers *tracers;
  const gab_block *block;
  const gab_field *field; /**< its velocity */
  gab_box cells;
  int level, dimension;
} gab_tracers_place;

gab_tracers_place gab_tracers_place_of(const gab_tracers *tracers, const gab_block *block);

/** Velocity at a position in a block, whose ghosts are filled. Pure. */
void gab_tracers_velocity_at(const gab_tracers_place *place, const double at[3], double velocity[3]);

/** Whether a tracer of a block may be at a position: not in a solid cell, nor beyond a closed side, nor where no block is. */
bool gab_tracers_may_be_at(const gab_tracers_place *place, const double at[3]);

#endif
