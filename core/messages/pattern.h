/* SPDX-License-Identifier: Apache-2.0 */
/** @file pattern.h
 *  @brief Communication patterns: message ids that keep a replay from confusing messages of different rounds.
 *
 *  After Ropars et al. 2013 (SPBC), sections 4.3 and 5.1. During a replay, messages of different channels may arrive in
 *  another order than the first time. A receive from any source could then take a message of a later round. So every
 *  message carries the id (pattern, iteration) active when it was sent, and a receive from any source takes only messages
 *  of the id active where it is called (core/messages/mailbox.h).
 *
 *  @code
 *    GAB_TRY(gab_pattern_declare(world, &contacts));       in the set-up, in the same order on all
 *    ...
 *    GAB_TRY(gab_pattern_begin(world, contacts));          increments its iteration
 *    ...  messages sent and received here have the id (contacts, iteration)
 *    GAB_TRY(gab_pattern_end(world, contacts));            back to the default pattern, whose iteration is 0
 *  @endcode
 *
 *  No function communicates; ids agree because all ranks run the same program. At most one pattern is active. The state is
 *  part of each image of a protected time loop, and message logs keep the ids.
 *
 *  Requirements on the program:
 *  - Messages of different rounds have different iterations, and a round has the same number on all its participants.
 *  - Channel determinism (definition 2): on each channel (source, target, mailbox) the sequence of messages does not depend
 *    on the order in which others arrive. Answers that may overtake each other need two mailboxes.
 *  - It does not complete the earliest of several named receives (MPI_Waitany, or probing one source after the other;
 *    figure 3). It waits for the first of them.
 *  - The message that ends a round contains the number of messages. gab_pattern_end() reports unreceived messages.
 *  - An iteration begins and ends within one step of a time loop; a checkpoint inside one is refused.
 *
 *  Reasons and tests: doc/clusters.md, "Patterns".
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_PATTERN_H
#define GABION_CORE_PATTERN_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pattern, numbered from 1 in the order of declaration. */
typedef uint32_t gab_pattern;
/** The pattern of all communication outside of declared patterns. */
#define GAB_DEFAULT_PATTERN ((gab_pattern)0)

/** The id in a message. */
typedef struct gab_pattern_id {
  gab_pattern pattern;
  uint64_t iteration; /**< from 1; 0 in the default pattern */
} gab_pattern_id;

/** Makes a new pattern. Local, but all processes, including spares, declare the same ones in the same order in the set-up.
 * @return ::GAB_ERR_STATE while a protected time loop runs: its images would not contain it */
gab_status gab_pattern_declare(gab_world *world, gab_pattern *pattern);
/** Activates the pattern with its next iteration. Local. @return ::GAB_ERR_ARGUMENT if it was not declared; ::GAB_ERR_STATE
 * if one is active already */
gab_status gab_pattern_begin(gab_world *world, gab_pattern pattern);
/** Activates the default pattern again. Local. @return ::GAB_ERR_STATE if `pattern` is not active: no effect; or if a
 * mailbox still has messages of this iteration, which can no longer be received (an error in the program): the iteration
 * has ended nevertheless */
gab_status gab_pattern_end(gab_world *world, gab_pattern pattern);
/** The id of a message sent now. */
gab_pattern_id gab_pattern_active(const gab_world *world);
/** The number of the present or last iteration of a pattern; 0 if none has begun or there is no such pattern. */
uint64_t gab_pattern_iteration(const gab_world *world, gab_pattern pattern);

/* The names of the paper, for existing programs; the world is an additional parameter. */
#ifdef GAB_SPBC_NAMES
#define DECLARE_PATTERN(world, pattern) gab_pattern_declare((world), (pattern))
#define BEGIN_ITERATION(world, pattern) gab_pattern_begin((world), (pattern))
#define END_ITERATION(world, pattern)   gab_pattern_end((world), (pattern))
#endif

#ifdef __cplusplus
}
#endif
#endif
