/* SPDX-License-Identifier: Apache-2.0 */
/** @file forest_transport_impl.h
 *  @brief Transport of packed blocks, for migration and adaptation.
 *
 *  Receivers learn their sources by the crystal router, then the blocks are sent in rounds. A round moves one piece
 *  per pair of ranks. A piece has at most GAB_MIGRATION_BYTES / (targets of its source) packed bytes, or is a single
 *  larger block. Both ends count the rounds of a pair alike, and a process enters a round after completing the one
 *  before, so some process can always continue: no deadlock.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_BLOCKFOREST_FOREST_TRANSPORT_IMPL_H
#define GABION_BLOCKFOREST_FOREST_TRANSPORT_IMPL_H

#include "blockforest/forest/forest_impl.h"

/** A block that is sent, and where to. A block may go to several ranks. */
typedef struct gab_leaver {
  gab_rank target;
  size_t index; /* in forest->blocks */
} gab_leaver;

typedef struct gab_transport {
  gab_forest *forest;
  void *context;
  /** Block `index` has gone to one of its targets. The places of blocks in the forest stay as they are. */
  void (*sent)(void *context, size_t index);
  /** Makes something of records that arrived; owns their blocks, whatever the outcome. The bytes behind
   *  the records go afterwards. */
  gab_status (*take)(void *context, gab_record *records, size_t count);
  uint64_t sent_bytes; /* out: packed bytes that left */
} gab_transport;

/** Sends copies of blocks to other ranks and receives theirs. Collective. After a failure the world is broken.
 *  @param[in] leaving  is sorted */
gab_status gab_transport_run(gab_transport *transport, gab_leaver *leaving, size_t count);

#endif
