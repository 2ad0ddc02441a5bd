/* SPDX-License-Identifier: Apache-2.0 */
/** @file particles_impl.h
 *  @brief The inside of a container of particles.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_PARTICLES_IMPL_H
#define GABION_BLOCKFOREST_PARTICLES_IMPL_H

#include "blockforest/particles/particles.h"
#include "core/messages/port.h"

/** The data of a block. */
typedef struct gab_particles_bag {
  unsigned char *records; /**< ascending by id */
  size_t count, capacity;
  uint64_t work; /**< nanoseconds, as gab_particles_add_work() was told; never part of an image */
} gab_particles_bag;

/** Messages of one neighbour rank. */
typedef struct gab_particles_channel {
  gab_rank rank;
  gab_buffer out, in; /**< block (u64) and record, one after another */
} gab_particles_channel;

struct gab_particles {
  gab_forest *forest;
  size_t record_bytes;
  gab_data_id data;
  gab_port *port;
  gab_buffer here;                 /**< as a channel, for blocks of this process */
  gab_particles_channel *channels; /**< ascending by rank */
  size_t channel_count;
  bool has_channels; /**< of this revision of the forest and epoch of the world */
  uint64_t revision;
  gab_epoch epoch;
};

/** Makes the channels of the forest as it is, if they are not made yet. Local. */
gab_status gab_particles_open_channels(gab_particles *particles);
/** @return NULL for a rank that is not a neighbour, this one included */
gab_particles_channel *gab_particles_channel_to(const gab_particles *particles, gab_rank rank);
/** Begins a message on each channel. Local. */
gab_status gab_particles_begin_messages(gab_particles *particles);
/** Sends and receives the messages of all channels. Collective among neighbours. */
gab_status gab_particles_swap_messages(gab_particles *particles);
/** Ends what failed: breaks the world, unless it is broken. @return the status to end with */
gab_status gab_particles_abandon(gab_particles *particles, gab_status status);

#endif
