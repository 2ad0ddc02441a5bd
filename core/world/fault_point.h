/* SPDX-License-Identifier: Apache-2.0 */
/** @file fault_point.h
 *  @brief Fault points: named phases of a run at which faults can be injected.
 *
 *  The framework announces each fault point of a step (gab_world_enter()). A hook may be set: fault injections kill
 *  there, and diagnostics of a stalled run print the last fault point.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_FAULT_POINT_H
#define GABION_CORE_FAULT_POINT_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One list, three uses: enum, names, documentation. */
#define GAB_FAULT_POINTS(X)                                                                                  \
  X(COMPUTE, "compute", "a task of a time step computes")                                                    \
  X(EXCHANGE, "exchange", "ghost layers are under way")                                                      \
  X(REDUCTION, "reduction", "values are combined over all ranks")                                            \
  X(SNAPSHOT, "snapshot", "images are packed and sent to their holders")                                     \
  X(COMMIT, "commit", "the ranks agree that a snapshot is complete")                                         \
  X(SWAP, "swap", "the new snapshot becomes the valid one")                                                  \
  X(REPAIR, "repair", "the communicators are rebuilt without the dead")                                      \
  X(RECOVERY, "recovery", "blocks and entities are restored and adopted")                                    \
  X(HAND_OVER, "hand-over", "images are under way to processes that replace dead ones")                      \
  X(MIGRATION, "migration", "blocks move to other ranks")                                                    \
  X(OUTPUT, "output", "fields, pictures or probes are written")                                              \
  X(ADAPT_MARK, "adapt-mark", "blocks decide on their levels, 2:1 balance included")                         \
  X(ADAPT_BALANCE, "adapt-balance", "the blocks of the new grid are given to ranks")                         \
  X(ADAPT_MIGRATE, "adapt-migrate", "blocks move, split and merge")                                          \
  X(ADAPT_REBUILD, "adapt-rebuild", "neighbour tables and what depends on the grid are rebuilt")             \
  X(DISK_WRITE, "disk-write", "part of an image is on its way to a file")                                    \
  X(DISK_COMMIT, "disk-commit", "the files are complete, the manifest is not written yet")                   \
  X(RESPAWN, "respawn", "processes are started to take the ranks of the dead")                               \
  X(RECOMPUTE, "recompute", "blocks have been computed, and are about to be computed again to compare")

typedef enum gab_fault_point {
#define GAB_FAULT_POINT_ENUM(id, name, doc) GAB_FAULT_POINT_##id,
  GAB_FAULT_POINTS(GAB_FAULT_POINT_ENUM)
#undef GAB_FAULT_POINT_ENUM
      GAB_FAULT_POINT_COUNT
} gab_fault_point;

/** @return the name used in parameter files and logs, e.g. "exchange"; "?" outside the list. */
const char *gab_fault_point_name(gab_fault_point point);
/** @return the fault point of that name, else GAB_FAULT_POINT_COUNT. */
gab_fault_point gab_fault_point_from_name(const char *name);

#ifdef __cplusplus
}
#endif
#endif
