/* SPDX-License-Identifier: Apache-2.0 */
/** @file node_restart.h
 *  @brief Resuming from snapshots that an earlier job left in the memory of its nodes.
 *
 *  With Open MPI 5.0 the death of a node's daemon ends the whole job, though all other nodes still stand. If the
 *  snapshots lay in memory of the nodes (core/memory/node_memory.h), the next job, started on the nodes that are left, finds
 *  them there: own images, and the copies that the dead node's partners keep, as after the death of processes, and
 *  without a file system that all share. On an MPI without ULFM every death takes this way.
 *
 *  What lies there says itself what it is (rank, snapshot, hash), so nothing else has to survive. Each process claims
 *  pieces of its node; ranks that serve as homes find out which snapshot is there as a whole (two are, mostly: the
 *  newest one is taken), and say who sends which image to whom. Member number i of n then falls to member number
 *  floor(i m / n) of the m of now, as with checkpoints on disk (restart.h). Images that lie in the memory of the
 *  process to which they fall are not copied.
 *
 *  Redundancy by parities is not made use of here: if the own image of a rank is gone and nobody has a copy, the
 *  snapshot counts as lost.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_NODE_RESTART_H
#define GABION_RESILIENCE_NODE_RESTART_H

#include "core/memory/node_memory.h"
#include "resilience/checkpoint/checkpoint.h"
#include "resilience/disk/restart.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A snapshot that was found, the same on all ranks. */
typedef struct gab_node_restart gab_node_restart;

/** Claims what lies in this node's folder, and finds the newest snapshot that is whole. Collective (opens a port).
 *  @param[in] folder  of this node; need not exist @param[in] key  that what lies there has to be stamped with
 *  @param[out] node_restart  owned by the caller, who keeps it until there is a new snapshot: until then what was found is
 *  there for another try, should this job end too */
gab_status gab_node_restart_find(gab_world *world, const char *folder, gab_memory_key key,
                                 gab_node_restart **node_restart);
/** @param[in] spent  whether the pieces of memory go back to the node: true once there is a new snapshot; else they
 *  stay for the next job */
void gab_node_restart_destroy(gab_node_restart **node_restart, bool spent);
/** @return the step of the snapshot, -1 if none is whole */
gab_step gab_node_restart_step(const gab_node_restart *node_restart);

/** Replaces the state by the snapshot. Collective. Snapshots of this job are forgotten: take one next. Announces
 *  ::GAB_FAULT_POINT_RECOVERY. @return ::GAB_ERR_STATE if none is whole */
gab_status gab_node_restart_load(gab_node_restart *node_restart, gab_checkpoint *checkpoint,
                                 gab_restart_report *report);

#ifdef __cplusplus
}
#endif
#endif
