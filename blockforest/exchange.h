/** @file exchange.h
 *  @brief Ghost-layer exchange: an object with start and finish, one logical message per neighbour slot.
 *
 *  Between start and finish the inner cells can be computed. Both sides know order and sizes from the forest,
 *  so the messages carry cells only. Blocks of the same process are copied directly. Packing runs in threads.
 *
 *  Tier: user header.
 */
#ifndef GABION_BLOCKFOREST_EXCHANGE_H
#define GABION_BLOCKFOREST_EXCHANGE_H

#include "blockforest/direction.h"
#include "blockforest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_exchange gab_exchange;

/** What crosses from a block to its neighbour in a direction. Local, thread safe for different blocks; sizes
 *  are the same for every block of a level and for sender and receiver. */
typedef struct gab_ghost_kind {
  const char *name;
  void *user;
  /** Bytes for one direction as seen from the sender; 0: nothing crosses there. */
  size_t (*size)(void *user, int direction);
  void (*pack)(void *user, const void *data, int direction, void *bytes);
  /** @param direction  as seen from the sender: fill the ghosts on the opposite side of this block */
  void (*unpack)(void *user, void *data, int direction, const void *bytes);
  /** From one local block straight into another; NULL: pack and unpack. */
  void (*copy)(void *user, const void *from, void *to, int direction);
} gab_ghost_kind;

/** @param[in] data  the block data whose ghosts are exchanged; ghost is copied. Collective (opens a port). */
gab_status gab_exchange_create(gab_forest *forest, gab_data_id data, const gab_ghost_kind *ghost,
                               gab_exchange **exchange);
void gab_exchange_destroy(gab_exchange **exchange);

/** Packs and starts sending, copies between local blocks. Collective among neighbours. Announces
 *  ::GAB_PHASE_EXCHANGE. */
gab_status gab_exchange_start(gab_exchange *exchange);
/** Completes: all ghosts are filled. */
gab_status gab_exchange_finish(gab_exchange *exchange);

/** Bytes sent to other slots and number of messages by one exchange, of this process. */
typedef struct gab_exchange_volume {
  size_t bytes, messages, local_bytes;
} gab_exchange_volume;
gab_exchange_volume gab_exchange_get_volume(gab_exchange *exchange);

#ifdef __cplusplus
}
#endif
#endif
