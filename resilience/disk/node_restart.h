/* SPDX-License-Identifier: Apache-2.0 */
/** @file node_restart.h
 *  @brief Restart from snapshots that an earlier job left in node memory.
 *
 *  With Open MPI 5.0 the death of a node's daemon ends the whole job, though all other nodes are alive.
 *  If snapshots are in node memory (core/memory/node_memory.h), the next job on the remaining nodes
 *  restores them from own images and copies, as after the death of processes, and without a shared file
 *  system. With an MPI without ULFM all deaths are handled this way.
 *
 *  Pieces of memory describe themselves (rank, snapshot, hash), so no other data has to survive. Each
 *  process claims pieces of its node. Rendezvous ranks determine the newest complete snapshot and the
 *  transfers of images. Rank i of n becomes part of rank floor(i m / n) of the present m, as with
 *  checkpoints on disk (restart.h). Images that are already in the memory of their new process are not
 *  copied.
 *
 *  Parities are not used here: without an own image or a copy of some rank, the snapshot counts as
 *  lost.
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

/** A snapshot in node memory, the same on all ranks. */
typedef struct gab_node_restart gab_node_restart;

/** Claims the pieces of memory in this node's folder and finds the newest complete snapshot. Collective (opens a
 * port). @param[in] folder of this node; need not exist @param[in] key of the pieces; others are ignored @param[out]
 * node_restart owned by the caller. Keep it until a new snapshot exists, so that the next job can try again if this
 * one fails */
gab_status gab_node_restart_find(gab_world *world, const char *folder, gab_memory_key key,
                                 gab_node_restart **node_restart);
/** @param[in] spent true once a new snapshot exists: frees the pieces of memory; false: they remain for the next
 * job */
void gab_node_restart_destroy(gab_node_restart **node_restart, bool spent);
/** @return the step of the snapshot, -1 if none is complete */
gab_step gab_node_restart_step(const gab_node_restart *node_restart);

/** Restores the snapshot. Collective. Drops the snapshots of this job, so take one next. Enters
 * ::GAB_FAULT_POINT_RECOVERY. @return ::GAB_ERR_STATE if none is complete */
gab_status gab_node_restart_load(gab_node_restart *node_restart, gab_checkpoint *checkpoint,
                                 gab_restart_report *report);

#ifdef __cplusplus
}
#endif
#endif
