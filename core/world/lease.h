/** @file lease.h
 *  @brief A process that was away for too long, stopped by a signal or with its whole machine, ends itself.
 *
 *  With `gabion-launch --dead-after SECONDS` a process that does not speak for so long counts as dead, and
 * the others go on without it. It may be stopped only, and wake up: then it is no member any more, but would
 * go on where it was, in the middle of a file that its successor writes, say; and its own failure detector
 * would look at a clock that has run on and declare others dead. So it must not do anything at all.
 *
 *  This works as a lease: a thread notes the time again and again. A gap between two notes tells that the
 * process was away. After half of SECONDS it ends itself when it is back, whether or not anybody has missed
 * it (the other half allows for heartbeats that were due), by a signal that nobody can catch: no file is
 * closed, no buffer flushed, nothing finalised. The gap is found in the handler of SIGCONT, which runs before
 * the main thread does anything else, in the thread itself (where no signal is sent: a frozen machine), and
 * by those other threads that write. Nothing is asked of anybody, so it works across machines.
 *
 *  Tier: extender header.
 */
#ifndef GABION_CORE_LEASE_H
#define GABION_CORE_LEASE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** From now on the process ends if it is away for more than half of `seconds`. Local; a second call does
 * nothing. Takes over SIGCONT. @return ::GAB_ERR_MEMORY if no thread can be started */
gab_status gab_lease_start(double seconds);
/** What the launcher asked for: GABION_DEAD_AFTER; without it nothing. */
gab_status gab_lease_start_from_environment(void);
/** Ends the process if it was away. For other threads than the main one, before they write. */
void gab_lease_check(void);

#ifdef __cplusplus
}
#endif
#endif
