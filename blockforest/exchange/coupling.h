/* SPDX-License-Identifier: Apache-2.0 */
/** @file coupling.h
 * @brief Messages across the boundaries of levels: an object with start and finish, one message per neighbour rank.
 *
 * A *contact* is a finer block, one of its directions, and the coarser block there. A coarser block in several directions
 * of a finer one has one contact with it for each. There are three *ways*:
 * - down: from the coarser block of a contact to the finer one;
 * - up: from the finer one to the coarser one;
 * - across: between blocks of one level that are neighbours in a direction with more than one non-zero component, for data
 *   that passes between them through a coarser block next to both. Here `fine` is the sender, `other` the receiver. The
 *   user defines the data of each way: sizes may differ between contacts, but both ends must compute the same size.
 *   Messages contain nothing else.
 *
 * Stability: internal. */
#ifndef GABION_BLOCKFOREST_COUPLING_H
#define GABION_BLOCKFOREST_COUPLING_H

#include "blockforest/forest/direction.h"
#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_coupling gab_coupling;

typedef enum gab_coupling_way {
  GAB_COUPLING_DOWN = 0,
  GAB_COUPLING_UP,
  GAB_COUPLING_ACROSS,
  GAB_COUPLING_WAYS
} gab_coupling_way;

typedef struct gab_contact {
  gab_block_id fine, other; /**< finer and coarser block; across: sender and receiver */
  int direction;            /**< direction from `fine` to `other` */
  /** Position of the finer block, in blocks of its size from the lower corner of the coarser one: -1 … 2 along each axis of
   * the domain, 0 along others. Across: not set. */
  int8_t place[3];
} gab_contact;

/** Exchanged data. Local. Called by several threads at once, also for the same block with different contacts; some contacts
 * may be unpacked before others of the same way are packed. */
typedef struct gab_coupling_kind {
  const char *name;
  void *user;
  /** Bytes of one contact and way; 0: none. Called at both ends when the forest has changed. @param[in] data  of the block
   * at this end @param[in] sends  this end sends */
  size_t (*size)(void *user, const void *data, gab_coupling_way way, const gab_contact *contact, bool sends);
  void (*pack)(void *user, const void *data, gab_coupling_way way, const gab_contact *contact, void *bytes);
  void (*unpack)(void *user, void *data, gab_coupling_way way, const gab_contact *contact, const void *bytes);
} gab_coupling_kind;

/** @param[in] kind  copied. Collective (opens a port).
 *  @return ::GAB_ERR_ARGUMENT for data of another forest or none, or without size, pack and unpack */
gab_status gab_coupling_create(gab_forest *forest, gab_data_id data, const gab_coupling_kind *kind,
                               gab_coupling **coupling);
/** Drops messages in transit. Call it before the forest is destroyed. */
void gab_coupling_destroy(gab_coupling **coupling);

/** Packs and starts sending. One way of one level may be under way at a time. Collective among the blocks that have
 * contacts. Enters ::GAB_FAULT_POINT_EXCHANGE. The sent data may be changed after the return. A failure of this process
 * alone breaks the world (gab_world_raise()); after a repair, start again. @param[in] level  of the coarser blocks; across:
 * of the blocks @return ::GAB_ERR_STATE if one is in progress, ::GAB_ERR_ARGUMENT for an invalid way or level */
gab_status gab_coupling_start(gab_coupling *coupling, gab_coupling_way way, int level);
/** Completes the present exchange: all contacts have been unpacked. The forest must not have changed since its start. */
gab_status gab_coupling_finish(gab_coupling *coupling);

#ifdef __cplusplus
}
#endif
#endif
