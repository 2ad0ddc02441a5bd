/* SPDX-License-Identifier: Apache-2.0 */
/** @file lease.h
 *  @brief Ends a process that was stopped for too long, by a signal or with its whole machine.
 *
 *  With `gabion-launch --dead-after SECONDS` a process that is silent for that time counts as dead, and the others continue
 *  without it. If it was only stopped and wakes up, it is not a member any more. It could write into a file of its
 *  successor, and its failure detector would see that the clock has advanced and declare others dead. So it must not do
 *  anything.
 *
 *  A thread records the time at short intervals; a gap shows that the process was stopped. After a gap of half of SECONDS
 *  (the other half allows for overdue heartbeats) it ends itself by an uncatchable signal, whether or not it was missed: no
 *  file is closed, no buffer flushed, nothing finalised. The gap is found in the handler of SIGCONT, which runs before the
 *  main thread continues; in the thread itself (a frozen machine sends no signal); and by other threads that write. It
 *  needs no communication, so it works across machines.
 *
 *  Stability: internal.
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
