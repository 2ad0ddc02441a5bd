/* SPDX-License-Identifier: Apache-2.0 */
/** @file exchange.h
 *  @brief Ghost-layer exchange: an object with start and finish, one logical message per neighbour rank.
 *
 *  Between start and finish the inner cells can be computed. Both sides know order and sizes from the forest,
 *  so the messages carry cells only. Ghosts are those between blocks of one level. Data between levels is handled by
 *  `gab_coupling` (blockforest/exchange/coupling.h); set gab_ghost_kind.coupled.
 *  Blocks of the same process are copied directly. Packing runs in threads.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_EXCHANGE_H
#define GABION_BLOCKFOREST_EXCHANGE_H

#include "blockforest/forest/direction.h"
#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_exchange gab_exchange;

/** Data that is sent from a block to its neighbour in a direction. Local. Called by several threads at once, also for the
 *  same block in different directions: pack() only reads, unpack() and copy() write the ghosts of their direction only.
 *  Sizes are the same for every block of a level and for sender and receiver. */
typedef struct gab_ghost_kind {
  const char *name;
  void *user;
  /** Bytes for one direction as seen from the sender; 0: nothing is sent. */
  size_t (*size)(void *user, int direction);
  void (*pack)(void *user, const void *data, int direction, void *bytes);
  /** @param direction  as seen from the sender: fill the ghosts on the opposite side of this block */
  void (*unpack)(void *user, void *data, int direction, const void *bytes);
  /** From one local block straight into another (or, over a periodic border, into itself); NULL: pack and
   *  unpack. */
  void (*copy)(void *user, const void *from, void *to, int direction);
  /** Checks, when the plan is made, whether these callbacks can handle the data of a block. NULL: they can.
   *  @return ::GAB_ERR_ARGUMENT with what does not fit */
  gab_status (*check)(void *user, const void *data);
  /** Address of the ghosts of a block, if it can change during an exchange (gab_field_swap()); ghosts would then arrive
   *  in the wrong array, and gab_exchange_finish() refuses that. NULL: it cannot change. */
  const void *(*place)(void *user, const void *data);
  /** Ghosts next to a block of another level are filled by a coupling, or never read. If false, an
   *  exchange is refused on a grid where blocks of different levels touch, since these ghosts would stay
   *  unset. */
  bool coupled;
  /** Nothing is copied between local blocks; the user of the ghosts fetches them, see gab_exchange_visit(). */
  bool fetched;
} gab_ghost_kind;

/** @param[in] data  the block data whose ghosts are exchanged; ghost is copied. Collective (opens a port).
 *  @return ::GAB_ERR_ARGUMENT for data of another forest or none, or without size, pack and unpack */
gab_status gab_exchange_create(gab_forest *forest, gab_data_id data, const gab_ghost_kind *ghost,
                               gab_exchange **exchange);
/** The same for the blocks of one level only. @param[in] level  -1: all levels
 *  @return ::GAB_ERR_ARGUMENT also for a level that no block can have */
GAB_EXTENDER gab_status gab_exchange_create_on_level(gab_forest *forest, gab_data_id data,
                                                     const gab_ghost_kind *ghost, int level,
                                                     gab_exchange **exchange);
/** Drops an unfinished exchange. Call it before gab_forest_destroy(). */
void gab_exchange_destroy(gab_exchange **exchange);

/** Packs and starts sending, copies between local blocks. Collective among neighbours. Announces
 *  ::GAB_FAULT_POINT_EXCHANGE. The sent data may be changed after the return; ghosts are undefined until
 *  gab_exchange_finish(). After a fault and its repair, start the exchange again. A failure of this process alone
 *  breaks the world (gab_world_raise()).
 *  @return ::GAB_ERR_STATE if one is under way already; or, on all ranks alike, if blocks of different levels
 *  touch and the ghosts are not coupled (in a forest that was restored by gab_forest_restore() the world breaks by
 *  it) */
gab_status gab_exchange_start(gab_exchange *exchange);
/** Completes the exchange: all ghosts are set. A change of the forest since the start, or of the place of the ghosts
 *  (gab_ghost_kind.place), breaks the world with ::GAB_ERR_STATE. */
gab_status gab_exchange_finish(gab_exchange *exchange);

/** Advances messages while the caller computes between start and finish; by the thread that calls MPI. @param[out] done
 * true: finish will not block; may be NULL @return as gab_exchange_finish(): after a failure the exchange has ended */
gab_status gab_exchange_progress(gab_exchange *exchange, bool *done);

/** Makes the plan of the exchange if there is none yet for the forest as it is. Local.
 *  @param[out] number  from 1; grows whenever the plan is rebuilt. Data derived from gab_exchange_visit() is valid for
 *  one number
 *  @return ::GAB_ERR_STATE if the forest has changed since a start that has not been finished, or levels touch that are
 *  not coupled */
GAB_EXTENDER gab_status gab_exchange_plan(gab_exchange *exchange, uint64_t *number);
/** Visits the transfers into blocks of this process in the last plan: first those between local blocks,
 *  ordered by receiver, then (`from` NULL) those from other ranks. `direction` is as seen by the
 *  sender. */
GAB_EXTENDER void gab_exchange_visit(const gab_exchange *exchange,
                                     void (*visit)(void *user, const void *from, void *to, int direction),
                                     void *user);

/** Bytes sent to other ranks and number of messages by one exchange, of this process. */
typedef struct gab_exchange_volume {
  size_t bytes, messages, local_bytes;
} gab_exchange_volume;
/** Of the forest as it is now. Local; zeros if there is no memory for the plan. */
GAB_EXTENDER gab_exchange_volume gab_exchange_get_volume(gab_exchange *exchange);

#ifdef __cplusplus
}
#endif
#endif
