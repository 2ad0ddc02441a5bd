/* SPDX-License-Identifier: Apache-2.0 */
/** @file lease.h
 *  @brief Ends a process that was stopped for too long, by a signal or with its whole machine.
 *
 *  With `gabion-launch --dead-after SECONDS` a process that is silent for that time counts as dead, and the others
 *  continue without it. If it was only stopped and wakes up, it is no longer a member. It could write into a file of
 *  its successor, and its failure detector would declare others dead because the clock has advanced. So it must do
 *  nothing.
 *
 *  A thread records the time at short intervals; a gap shows that the process was stopped. After a gap of half of
 *  SECONDS (the other half allows for overdue heartbeats) the process ends itself by an uncatchable signal, even if the
 *  others have not noticed: no file is closed, no buffer flushed, nothing finalised. The gap is detected in the handler
 *  of SIGCONT, which runs before the main thread continues; in the thread (a frozen machine sends no signal); and by
 *  other threads before they write. No communication is needed, so it works across machines.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_LEASE_H
#define GABION_CORE_LEASE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Starts the lease: the process ends if it is stopped for more than half of `seconds`. Local; a second call does
 * nothing. Installs a handler of SIGCONT. @return ::GAB_ERR_MEMORY if no thread can be started */
gab_status gab_lease_start(double seconds);
/** Starts the lease from GABION_DEAD_AFTER, which the launcher sets; without it does nothing. */
gab_status gab_lease_start_from_environment(void);
/** Ends the process if it was stopped too long. For threads other than the main one, before they write. */
void gab_lease_check(void);

#ifdef __cplusplus
}
#endif
#endif
