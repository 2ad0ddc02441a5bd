/* SPDX-License-Identifier: Apache-2.0 */
/** @file leftovers.h
 *  @brief What Open MPI leaves on a node when its daemon is killed: segments of shared memory and session folders.
 *
 *  The `sm` transport makes a file /dev/shm/sm_segment.HOST.USER.JOB.RANK for each process, and each daemon a folder
 *  prterun.HOST.PID.USER or prted.HOST.PID.USER for its session. The daemon removes both. Where it has died they stay.
 *
 *  Depends on no other file of the project: gabion-launch compiles it in.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_LEFTOVERS_H
#define GABION_CORE_LEFTOVERS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Removes what of this user is in use by no process: segments that nobody has open or mapped for writing; session folders whose
 *  daemon has ended, with shared files that nobody has mapped so. The kernel says what is in use by the grant of a lease, for
 *  processes of all containers of the machine. Not for a file system of several machines. Local.
 *  @param[in] memory  folder of segments; NULL: /dev/shm @param[in] temporary  of sessions; NULL: TMPDIR, else /tmp
 *  @return how many segments and folders were removed */
int gab_leftovers_sweep(const char *memory, const char *temporary);

#ifdef __cplusplus
}
#endif

#endif
