/** @file phase.h
 *  @brief What a process is doing right now, by name.
 *
 *  The framework announces the phases of a step as it enters them (gab_world_enter()). A hook may listen:
 *  fault drills kill there, diagnostics of a stalled run print the last one.
 *
 *  Tier: extender header.
 */
#ifndef GABION_CORE_PHASE_H
#define GABION_CORE_PHASE_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One list, three uses: enum, names, documentation. */
#define GAB_PHASES(X)                                                                                        \
  X(COMPUTE, "compute", "a task of a time step computes")                                                    \
  X(EXCHANGE, "exchange", "ghost layers are under way")                                                      \
  X(REDUCTION, "reduction", "values are combined over all slots")                                            \
  X(SNAPSHOT, "snapshot", "images are packed and sent to their holders")                                     \
  X(COMMIT, "commit", "the slots agree that a snapshot is complete")                                         \
  X(SWAP, "swap", "the new snapshot becomes the valid one")                                                  \
  X(REPAIR, "repair", "the communicators are rebuilt without the dead")                                      \
  X(RECOVERY, "recovery", "blocks and entities are restored and adopted")                                    \
  X(MIGRATION, "migration", "blocks move to other slots")                                                    \
  X(OUTPUT, "output", "fields, pictures or probes are written")                                              \
  X(ADAPT_MARK, "adapt-mark", "blocks decide on their levels, 2:1 balance included")                         \
  X(ADAPT_BALANCE, "adapt-balance", "the blocks of the new grid are given to slots")                         \
  X(ADAPT_MIGRATE, "adapt-migrate", "blocks move, split and merge")                                          \
  X(ADAPT_REBUILD, "adapt-rebuild", "neighbour tables and what depends on the grid are made anew")           \
  X(DISK_WRITE, "disk-write", "part of an image is on its way to a file")                                    \
  X(DISK_COMMIT, "disk-commit", "the files are complete, the manifest is not written yet")                   \
  X(RESPAWN, "respawn", "processes are started to take the slots of the dead")                               \
  X(RECOMPUTE, "recompute", "blocks have been computed, and are about to be computed again to compare")

typedef enum gab_phase {
#define GAB_PHASE_ENUM(id, name, doc) GAB_PHASE_##id,
  GAB_PHASES(GAB_PHASE_ENUM)
#undef GAB_PHASE_ENUM
      GAB_PHASE_COUNT
} gab_phase;

/** @return the name used in parameter files and logs, e.g. "exchange"; "?" outside the list. */
const char *gab_phase_name(gab_phase phase);
/** @return the phase of that name, GAB_PHASE_COUNT if there is none. */
gab_phase gab_phase_from_name(const char *name);

#ifdef __cplusplus
}
#endif
#endif
