/* SPDX-License-Identifier: Apache-2.0 */
/** @file members.h
 *  @brief Members of a run: its ranks, with the process and the incarnation of each.
 *
 *  The ranks 0 … ranks-1 of the start without the lost ones, stored as the sorted list of lost ranks. Memory and time
 *  grow with the number of deaths, not of processes (contract 7). The *index* of a rank is its position among the
 *  members. A snapshot stores the members of its time, so that the holders of copies can be derived after further deaths.
 *
 *  Processes of MPI are numbered once in a run. At the start process i runs rank i in incarnation 0. A rank whose process
 *  died can return: another process runs it, in the next incarnation; a second short list has these ranks. The new
 *  process has no earlier state. So the ranks alive for a snapshot, gab_members_survivors(), are the members with the
 *  incarnation of that time.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_CORE_MEMBERS_H
#define GABION_CORE_MEMBERS_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A rank whose present, or last, process differs from that of the start. */
typedef struct gab_return {
  gab_rank rank;
  gab_process process;
  gab_incarnation incarnation; /**< 1, 2, … */
} gab_return;

typedef struct gab_members {
  gab_rank ranks;       /**< number of ranks at the start */
  int32_t gone_count;   /**< number of lost ranks */
  gab_rank *gone;       /**< ascending; owned; NULL if none */
  int32_t return_count; /**< number of ranks that have ever returned */
  gab_return *returns;  /**< ascending by rank; owned; NULL if none */
} gab_members;

/** Initialises with all of `ranks` ranks. */
void gab_members_init(gab_members *members, gab_rank ranks);
void gab_members_release(gab_members *members);
gab_status gab_members_copy(gab_members *to, const gab_members *from);
/** Removes a rank; no effect if it is removed already. */
gab_status gab_members_remove(gab_members *members, gab_rank rank);
/** Returns a lost rank to the members, run by `process`, in the next incarnation. @return ::GAB_ERR_ARGUMENT if it
 * is not lost, or the process runs another rank */
gab_status gab_members_return(gab_members *members, gab_rank rank, gab_process process);

GAB_STABLE int32_t gab_members_count(const gab_members *members);
GAB_STABLE bool gab_members_has(const gab_members *members, gab_rank rank);
/** @return the position of `rank` among the members, -1 if it is not a member */
GAB_STABLE int32_t gab_members_index(const gab_members *members, gab_rank rank);
/** @return the rank at position `index`, GAB_NO_RANK outside [0, count) */
GAB_STABLE gab_rank gab_members_rank(const gab_members *members, int32_t index);

/** @return the present incarnation of a rank; the last one of a lost rank */
gab_incarnation gab_members_incarnation(const gab_members *members, gab_rank rank);
/** @return the process that runs `rank`, GAB_NO_PROCESS if it is lost */
gab_process gab_members_process(const gab_members *members, gab_rank rank);
/** @return the process that runs `rank`, or ran it last */
gab_process gab_members_last_process(const gab_members *members, gab_rank rank);
/** @return the rank that `process` runs, GAB_NO_RANK if none */
gab_rank gab_members_rank_of_process(const gab_members *members, gab_process process);

/** Whether `rank` is a member of both, in the same incarnation. */
bool gab_members_has_survived(const gab_members *then, const gab_members *now, gab_rank rank);
/** Determines the members of `now` that have survived since `then`. Time: number of deaths and returns.
 * @param[in,out] survivors initialised; replaced on success */
gab_status gab_members_survivors(const gab_members *then, const gab_members *now, gab_members *survivors);

gab_status gab_members_pack(const gab_members *members, gab_buffer *out);
/** @param[in,out] members  initialised; replaced on success only */
gab_status gab_members_unpack(gab_members *members, gab_reader *in);

#ifdef __cplusplus
}
#endif
#endif
