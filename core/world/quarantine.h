/** @file quarantine.h
 *  @brief A network that is cut stays cut for a run: whoever was silent for some time is not listened to any more.
 *
 *  A cable may come back in the very moment in which its silence begins to count as death: some have noticed and some
 *  have not. MPI believes whoever says that a process is dead, so that each process is taken for dead by somebody, and
 *  nobody is left. Therefore processes that are cut off from each other first make the cut lasting, together, and only
 *  then does anybody count as dead. What happens afterwards does not depend on the cable.
 *
 *  They cannot speak with each other; they have the folder of the run (that which fencing tokens lie in, fence.h). In shares
 *  of the time after which silence is a cut (gabion-launch --cut-after), of addresses from which nothing comes though
 *  something was asked:
 *  - from ::GAB_QUARANTINE_LOOKS on a process looks for an announcement, and remembers the address;
 *  - at ::GAB_QUARANTINE_ANNOUNCES one announces the cut: it makes FOLDER/cut-1, or the next number, which one can do only;
 *  - who sees a new announcement is deaf from then on to all addresses that it remembers, whether they can be heard again
 *    or not: what comes from there is not received and not acknowledged, no connection from there is accepted;
 *  - ::GAB_QUARANTINE_LASTS_UNTIL later, when all have seen it, it ends its connections with them. Only now MPI finds out.
 *  Silence is counted from when a connection is asked for signs of life, which the system does also while the process is stopped: a
 *  connection that was made just before that and was silent for long says nothing about the network.
 *
 *  Every pair of processes that are cut off from each other remembers the other before anybody announces, since connections are asked for a
 *  sign of life when they have been idle for GAB_QUARANTINE_IDLE, and what was lost is sent again soon: the pauses double,
 *  so that one who announces has been silent from before the time at which the others began to remember. So all hold to the
 *  whole cut, or nobody does. Who cannot reach the folder is left to the limit of its connections (::GAB_QUARANTINE_LIMIT), and the
 *  others are deaf to it all the same.
 *
 *  What it does not see to: two processes without a connection do not remember each other, nor does a process more than a thousand
 *  addresses. The root has a connection to everybody (core/world/connect_root.c). On networks other than TCP nothing of
 *  this happens.
 *
 *  Tier: extender header.
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
