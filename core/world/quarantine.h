/* SPDX-License-Identifier: Apache-2.0 */
/** @file quarantine.h
 *  @brief Makes a network cut permanent for a run: processes that were silent for some time are no longer heard.
 *
 *  A cable may come back at the moment at which its silence begins to count as death, when some processes have noticed and
 *  some have not. MPI believes every report of a death, so all could be taken for dead by somebody. So processes that are
 *  cut off from each other first make the cut permanent, together; only then does any of them count as dead.
 *
 *  They communicate through the folder of the run (that of the fencing tokens, resilience/recovery/fence.h). Times are
 *  shares of the limit for silence (gabion-launch --cut-after), for addresses that do not answer a request:
 *  - from ::GAB_QUARANTINE_LOOKS on, a process polls for an announcement and remembers the address;
 *  - at ::GAB_QUARANTINE_ANNOUNCES one of them announces the cut: it makes FOLDER/cut-1, or the next number (atomic);
 *  - a process that sees a new announcement ignores all remembered addresses from then on: data from there is neither
 *    received nor acknowledged, and no connection from there is accepted;
 *  - ::GAB_QUARANTINE_LASTS_UNTIL later, when all have seen it, it closes its connections with them. Only now MPI finds out.
 *
 *  Silence is counted from the time at which a connection is asked for a sign of life, which the system does also while the
 *  process is stopped. Idle connections are asked after GAB_QUARANTINE_IDLE, and lost packets are sent again with doubled
 *  pauses, so every pair of cut-off processes has remembered each other before an announcement: either the whole cut is
 *  permanent, or nothing of it. A process that cannot reach the folder is left to the limit of its connections
 *  (::GAB_QUARANTINE_LIMIT), and the others ignore it all the same.
 *
 *  Not covered: two processes without a connection, more than a thousand addresses per process, networks other than TCP.
 *  The root has a connection to every process (core/world/connect_root.c).
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_QUARANTINE_H
#define GABION_CORE_QUARANTINE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shares of the time after which silence is a cut. With --dead-after heartbeats of MPI come after a tenth of it, so that MPI's own
 * detector begins to speak at 0.9. */
#define GAB_QUARANTINE_IDLE        0.15
#define GAB_QUARANTINE_LOOKS       0.25
#define GAB_QUARANTINE_ANNOUNCES   0.70
#define GAB_QUARANTINE_LASTS_UNTIL 0.08
#define GAB_QUARANTINE_LIMIT       0.86

/** What the launcher asked for: GABION_CUT_AFTER; without it nothing. */
gab_status gab_quarantine_watch_as_told(void);
/** @return whether connections are watched */
bool gab_quarantine_is_watched(void);

/** Where cuts are announced: the same folder for all that are to agree. Local. NULL or "": nowhere any more. */
void gab_quarantine_set_folder(const char *folder);
/** Local: one look at the folder. @return how many cuts were announced there since the job began; 0 without a folder */
uint64_t gab_quarantine_announced(void);

#ifdef __cplusplus
}
#endif
#endif
