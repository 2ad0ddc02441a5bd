/* SPDX-License-Identifier: Apache-2.0 */
/** @file output_retry.h
 *  @brief A disk that refuses for a time: how long a process waits for it.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_OUTPUT_RETRY_H
#define GABION_BLOCKFOREST_OUTPUT_RETRY_H

#ifdef __cplusplus
extern "C" {
#endif

#define GAB_OUTPUT_RETRY 60.0 /**< seconds, unless gab_output_set_retry() says otherwise */
/** Sets how long this process waits for a disk that refuses to take a file of its output (no space, quota, a server that does
 *  not answer): it sleeps, tries again, and gives up after that time; series, fields, pictures and summaries. Refusals that do not
 *  pass by themselves (permissions, a folder that is gone) fail at once. Local; the same on all ranks, before the run.
 *  @param[in] seconds  0: never again */
void gab_output_set_retry(double seconds);

/** Sets what is called whenever this process has waited for its disk, before it writes again: another part of the run may have gone
 *  on meanwhile. Local. @param[in] call  NULL: nothing  @param[in] user  borrowed until the next call */
void gab_output_on_wait(void (*call)(const void *user), const void *user);

#ifdef __cplusplus
}
#endif
#endif
