/* SPDX-License-Identifier: Apache-2.0 */
/** @file entity.h
 *  @brief Entities: what has to survive besides the blocks.
 *
 *  The blocks of the forest are an entity that is always there. Whatever else has to be rolled back with them
 *  registers: the time loop registers its step counter, an application its own state. Modules that have such a state hand out the entity
 *  of it, ready to be registered (gab_lbm_entity(), gab_output_entity()): they say what they are beside their blocks, and
 *  need not know who keeps it; so this table stands in `core`.
 *
 *  Stability: stable.
 */
#ifndef GABION_CORE_ENTITY_H
#define GABION_CORE_ENTITY_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_entity_kind {
  GAB_ENTITY_REPLICATED, /**< equal on all ranks: each keeps its own copy, nothing is exchanged */
  GAB_ENTITY_PER_RANK    /**< each rank its own: travels with the blocks, adopted after a death */
} gab_entity_kind;

/** All callbacks are local. */
typedef struct gab_entity {
  const char *name; /**< unique; copied */
  gab_entity_kind kind;
  void *user; /**< handed to the callbacks; borrowed */
  /** Per rank also called before the first step, on spares and on new processes, too. */
  gab_status (*pack)(void *user, gab_buffer *out);
  /** Goes back to what was packed; has to read exactly that. */
  gab_status (*unpack)(void *user, gab_reader *in);
  /** Per rank only: called on the rank that takes over the blocks of `dead`, after unpack() of its own part,
   *  with what the dead rank packed: merge it, take it or leave it. NULL: dropped. */
  gab_status (*adopt)(void *user, gab_rank dead, gab_reader *in);

  /* An entity may own its buffers (Kohl et al. 2017, section 5.2.1): it has two and gives all three of these. Its pack
   * and unpack may then be NULL: nothing of it is copied, hashed or sent, and it can be restored by those only who have
   * its buffers: not by spares or new processes that take a rank, nor from disk, which a protected run refuses when it
   * begins, nor by gab_checkpoint_restore_swapped(); the part of a dead rank is dropped. Where both are given they
   * serve those who have no buffer of their own, and adopt(). */

  /** Writes the state into the buffer that is not the valid one. */
  gab_status (*create)(void *user);
  /** Goes back to the valid buffer, which stays as it is. */
  gab_status (*restore)(void *user);
  /** The other buffer becomes the valid one. Called when all have committed, and cannot fail; and before restore(),
   *  where the fault has met this process right before or behind that. */
  void (*swap)(void *user);
} gab_entity;

#ifdef __cplusplus
}
#endif
#endif
