/* SPDX-License-Identifier: Apache-2.0 */
/** @file entity.h
 *  @brief Entities: state that is saved in addition to blocks.
 *
 *  The blocks of the forest are always saved. All other state that is rolled back with them must be registered: the step
 *  counter by the time loop, its own state by an application. Modules with such state return an entity to be registered
 *  (gab_lbm_entity(), gab_output_entity()), independent of the modules that save it; so this table is in `core`.
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
  GAB_ENTITY_REPLICATED, /**< equal on all ranks: each stores its own copy, nothing is exchanged */
  GAB_ENTITY_PER_RANK    /**< different on each rank: saved with its blocks, adopted after a death */
} gab_entity_kind;

/** All callbacks are local. */
typedef struct gab_entity {
  const char *name; /**< unique; copied */
  gab_entity_kind kind;
  void *user; /**< passed to the callbacks; borrowed */
  /** If per rank: also called before the first step, on spares and on new processes, too. */
  gab_status (*pack)(void *user, gab_buffer *out);
  /** Restores the packed state; must read exactly its bytes. */
  gab_status (*unpack)(void *user, gab_reader *in);
  /** Per rank only: called on the rank that adopts the blocks of `dead`, after unpack() of its own part, with the packed
   * part of the dead rank, to merge or ignore it. NULL: dropped. */
  gab_status (*adopt)(void *user, gab_rank dead, gab_reader *in);

  /* An entity with two buffers of its own (Kohl et al. 2017, section 5.2.1) sets all three of these. Its pack and unpack
   * may then be NULL: it is not copied, hashed or sent, and only processes that have its buffers can restore it. Not
   * possible then: spares or new processes that run a rank, checkpoints on disk (a protected run refuses them at its
   * start), gab_checkpoint_restore_swapped(); the part of a dead rank is dropped. If both are set, they serve processes
   * without a buffer of their own, and adopt(). */

  /** Writes the state into the buffer that is not valid. */
  gab_status (*create)(void *user);
  /** Restores the valid buffer, which is not changed. */
  gab_status (*restore)(void *user);
  /** Makes the other buffer valid. Called when all have committed, and cannot fail; also before restore(), if the fault
   * occurred on this process right before or after that. */
  void (*swap)(void *user);
} gab_entity;

#ifdef __cplusplus
}
#endif
#endif
