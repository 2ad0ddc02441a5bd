/** @file pattern.h
 *  @brief Communication patterns: which messages belong together, so that a replay cannot confuse them.
 *
 *  After Ropars et al. 2013 (SPBC), sections 4.3 and 5.1. When a slot goes back alone, or its cluster does, the others send
 *  again what it lacks, from their journals, as soon as they can. On each channel the order is that of the first time. Between
 *  channels it is not: a message that could not exist before another one was received may now come first. A receive that
 *  names its source does not notice. One from *any* source may take a message of the next round for one of this round.
 *
 *  So every message carries the id (pattern, iteration) that was active when it was sent, and a receive from any source takes
 *  messages of the id that is active where it is made, and no others (core/messages/mailbox.h). That is enough: a message m and a receive
 *  r from any source can be confused only if r always happens before the receive of m (theorem 1 of the paper), and iterations
 *  are what separates those.
 *
 *  @code
 *    GAB_TRY(gab_pattern_declare(world, &contacts));       in the set-up, all alike
 *    ...
 *    GAB_TRY(gab_pattern_begin(world, contacts));          its iteration is now one more
 *    ...  whatever is sent and received here has the id (contacts, iteration)
 *    GAB_TRY(gab_pattern_end(world, contacts));            back to the default pattern
 *  @endcode
 *
 *  *State* of a process: how many patterns were declared; per pattern the number of its iteration, 0 before the first; which
 *  pattern is active. Outside of all it is the default pattern, whose iteration is 0 for ever. None of the functions
 *  communicates: ids are equal because programs are.
 *
 *  *Invariants.* Ids of one pattern only grow. At most one pattern is active: begin within an iteration is refused, since the
 *  end of the inner one would restore the default pattern (section 5.1) and leave the outer one without a word. What is sent is
 *  labelled at the time of sending, also in the journal, so a message has the same id when it is sent again. The state is part of
 *  each image of a protected time loop, which registers it by itself.
 *
 *  *What remains the user's duty.*
 *  - Messages of different rounds are in different iterations, and one round has the same number with all who take part. A
 *    program that is right without faults keeps its rounds apart anyway (a barrier, a termination algorithm).
 *  - *Channel-determinism* (definition 2): on each channel, which is (source, target, mailbox), the sequence of messages is the
 *    same whatever the order in which others arrive. Answers that may overtake each other on one channel belong into two
 *    mailboxes: that of a termination algorithm, for instance, into one of its own.
 *  - Completing whichever comes first of several *named* receives whose order is fixed by the program is a mistake (figure 3:
 *    Waitany, or probing one source after the other): a replay completes them in the wrong order, and no id can tell. Wait for
 *    the first of them.
 *  - For the same reason a round must not end by a plain word "it is over" while messages are expected from any source: replayed,
 *    that word comes before the messages that it follows. It has to say how many there are. Where a program gets that wrong
 *    the left-over message is found and told (gab_pattern_end()), not lost. (The termination that figure 4 leaves out.)
 *  - An iteration begins and ends within one step of a time loop. A checkpoint inside one is refused.
 *
 *  Tier: user header.
 */
#ifndef GABION_CORE_PATTERN_H
#define GABION_CORE_PATTERN_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pattern, numbered from 1 in the order of declaration. */
typedef uint32_t gab_pattern;
/** That of all communication outside of declared patterns. */
#define GAB_DEFAULT_PATTERN ((gab_pattern)0)

/** What messages carry. */
typedef struct gab_pattern_id {
  gab_pattern pattern;
  uint64_t iteration; /**< from 1; 0 in the default pattern */
} gab_pattern_id;

/** Makes a new pattern. Local, but all processes declare the same ones in the same order, spares too: in the set-up.
 *  @return ::GAB_ERR_STATE while a protected time loop runs: its images would not know of it */
gab_status gab_pattern_declare(gab_world *world, gab_pattern *pattern);
/** The pattern becomes the active one, in its next iteration. Local.
 *  @return ::GAB_ERR_ARGUMENT if it was not declared; ::GAB_ERR_STATE if one is active already */
gab_status gab_pattern_begin(gab_world *world, gab_pattern pattern);
/** The default pattern becomes the active one again. Local.
 *  @return ::GAB_ERR_STATE if `pattern` is not active, then nothing changes; or if messages of this iteration lie in a
 *  mailbox: nobody can receive them any more, and the program is wrong. The iteration has ended then, too */
gab_status gab_pattern_end(gab_world *world, gab_pattern pattern);
/** The id of what would be sent now. */
gab_pattern_id gab_pattern_active(const gab_world *world);
/** The number of the present or last iteration of a pattern; 0: none has begun, or there is no such pattern. */
uint64_t gab_pattern_iteration(const gab_world *world, gab_pattern pattern);

/* The names of the paper, for programs that were written after it; the world is the one parameter more. */
#ifdef GAB_SPBC_NAMES
#define DECLARE_PATTERN(world, pattern) gab_pattern_declare((world), (pattern))
#define BEGIN_ITERATION(world, pattern) gab_pattern_begin((world), (pattern))
#define END_ITERATION(world, pattern)   gab_pattern_end((world), (pattern))
#endif

#ifdef __cplusplus
}
#endif
#endif
