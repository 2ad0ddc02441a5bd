/* SPDX-License-Identifier: Apache-2.0 */
/** @file coupling.h
 *  @brief Messages across the boundaries of levels: an object with start and finish, one message per
 * neighbour rank.
 *
 *  A *contact* is a finer block, one of its directions, and the coarser block that lies there. A coarser
 * block that lies in several directions of a finer one has a contact with it for each. There are three
 * *ways*:
 *    - down: from the coarser block of a contact to the finer one;
 *    - up: from the finer one to the coarser one;
 *    - across: between blocks of one level that are neighbours in a direction with more than one non-zero
 *      component, for data that passes between them through a coarser block next to both. Here `fine`
 * is who sends, `other` who receives. What goes each way is up to the user: sizes may differ from contact to
 * contact, but both ends have to come to the same one by themselves. Messages carry nothing else.
 *
 *  Stability: internal.
 */
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
  int direction;            /**< of `other` as seen by `fine` */
  /** Where the finer block lies, counted in blocks of its size from the lower corner of the coarser one: -1 …
   * 2 along each axis of the domain, 0 along others. Across: not set. */
  int8_t place[3];
} gab_contact;

/** What crosses. Local. Called by several threads at once, also for the same block with different contacts;
 * some contacts may be unpacked before others of the same way are packed.
 */
typedef struct gab_coupling_kind {
  const char *name;
  void *user;
  /** Bytes of one contact and way; 0: nothing. Asked at both ends, when the forest has changed.
   *  @param[in] data  of the block at this end
   *  @param[in] sends  this end sends */
  size_t (*size)(void *user, const void *data, gab_coupling_way way, const gab_contact *contact, bool sends);
  void (*pack)(void *user, const void *data, gab_coupling_way way, const gab_contact *contact, void *bytes);
  void (*unpack)(void *user, void *data, gab_coupling_way way, const gab_contact *contact, const void *bytes);
} gab_coupling_kind;

/** @param[in] kind  copied. Collective (opens a port).
 *  @return ::GAB_ERR_ARGUMENT for data of another forest or none, or without size, pack and unpack */
gab_status gab_coupling_create(gab_forest *forest, gab_data_id data, const gab_coupling_kind *kind,
                               gab_coupling **coupling);
/** Drops what is under way. Before the forest is destroyed. */
void gab_coupling_destroy(gab_coupling **coupling);

/** Packs and starts sending. One way of one level may be under way at a time. Collective among the blocks
 * that have contacts. Announces ::GAB_FAULT_POINT_EXCHANGE. What is sent may be changed once it returns. A failure
 * of this process alone breaks the world (gab_world_raise()); after a repair, start again.
 *  @param[in] level  of the coarser blocks; across: of the blocks
 *  @return ::GAB_ERR_STATE if one is under way already, ::GAB_ERR_ARGUMENT for a way or level that cannot be
 */
gab_status gab_coupling_start(gab_coupling *coupling, gab_coupling_way way, int level);
/** Completes the one under way: all contacts have been unpacked. The forest must not have changed since. */
gab_status gab_coupling_finish(gab_coupling *coupling);

#ifdef __cplusplus
}
#endif
#endif
