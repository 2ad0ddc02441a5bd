/* SPDX-License-Identifier: Apache-2.0 */
/** @file output_retry.h
 *  @brief Waiting time of a process while the disk refuses.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_OUTPUT_RETRY_H
#define GABION_BLOCKFOREST_OUTPUT_RETRY_H

#ifdef __cplusplus
extern "C" {
#endif

#define GAB_OUTPUT_RETRY 60.0 /**< seconds, unless gab_output_set_retry() says otherwise */
/** Sets the waiting time of this process while the disk refuses a file of its output (no space, quota, a server that
 *  does not answer). It sleeps, tries again, and fails after that time. Applies to series, fields, pictures and
 *  summaries. Permanent errors (permissions, a missing folder) fail at once. Local; the same on all ranks, before the
 *  run.
 *  @param[in] seconds  0: no retry */
void gab_output_set_retry(double seconds);

/** Sets a callback for each wait, called before the next attempt to write: another part of the run may have continued
 *  meanwhile. Local. @param[in] call  NULL: none  @param[in] user  borrowed until the next call */
void gab_output_on_wait(void (*call)(const void *user), const void *user);

#ifdef __cplusplus
}
#endif
#endif
