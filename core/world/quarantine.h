/* SPDX-License-Identifier: Apache-2.0 */
/** @file quarantine.h
 *  @brief Makes a network cut permanent for a run: messages of processes that were silent for some time are ignored.
 *
 *  A cable may be restored when its silence is about to count as death and only some processes have noticed. MPI believes every
 *  report of a death, so any process could be declared dead. Therefore processes that are cut off from each other first make
 *  the cut permanent, together; only then do they count as dead.
 *
 *  They communicate through the output folder (as fencing tokens do, resilience/recovery/fence.h). Times are shares of the
 *  limit of silence (gabion-launch --cut-after), for addresses that do not answer a keep-alive:
 *  - from ::GAB_QUARANTINE_LOOKS on, a process polls for an announcement and remembers the address;
 *  - at ::GAB_QUARANTINE_ANNOUNCES one of them announces the cut: it creates FOLDER/cut-1, or the next number (atomic);
 *  - a process that reads a new announcement ignores all remembered addresses: data from there is neither received nor
 *    acknowledged, and no connection from there is accepted;
 *  - ::GAB_QUARANTINE_LASTS_UNTIL later, when all have read it, the process closes its connections with them. Only now does MPI
 *    detect the deaths.
 *
 *  Silence is counted from the first unanswered keep-alive, which the system sends also for a stopped process. Idle connections
 *  send one after GAB_QUARANTINE_IDLE, and lost packets are sent again with doubled pauses. So each pair of cut-off processes
 *  has remembered each other before an announcement: the cut becomes permanent as a whole or not at all. A process that cannot
 *  reach the folder loses its connections by their limit (::GAB_QUARANTINE_LIMIT), and the others ignore it all the same.
 *
 *  Not covered: two processes without a connection, more than a thousand addresses per process, networks other than TCP. The
 *  root has a connection to every process (core/world/connect_root.c).
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_QUARANTINE_H
#define GABION_CORE_QUARANTINE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shares of the limit of silence. With --dead-after the heartbeats of MPI have an interval of a tenth of it, so
 * MPI's detector reports from 0.9 on. */
#define GAB_QUARANTINE_IDLE        0.15
#define GAB_QUARANTINE_LOOKS       0.25
#define GAB_QUARANTINE_ANNOUNCES   0.70
#define GAB_QUARANTINE_LASTS_UNTIL 0.08
#define GAB_QUARANTINE_LIMIT       0.86

/** Starts the watch from GABION_CUT_AFTER, which the launcher sets; without it does nothing. */
gab_status gab_quarantine_watch_as_told(void);
/** @return whether connections are watched */
bool gab_quarantine_is_watched(void);

/** Sets the folder of announcements, the same for all processes. Local. NULL or "": none. */
void gab_quarantine_set_folder(const char *folder);
/** Reads the folder. Local. @return the number of cuts announced since the start of the job; 0 without a folder */
uint64_t gab_quarantine_announced(void);

#ifdef __cplusplus
}
#endif
#endif
