/* SPDX-License-Identifier: Apache-2.0 */
/** @file fence.h
 *  @brief Fencing tokens: if parts of a run are cut off from each other, only one continues.
 *
 *  Tokens are the files FOLDER/fencing/1, 2, …, made by link(), which is atomic on shared file systems too. A token names
 *  the processes of the part that made it. A run takes one when it begins, one in every recovery from a death (after the
 *  repair and before entities are restored, which may change files), and one when it has agreed that it is over.
 *
 *  A part continues only if it holds the next token. A process that is cut off, or cannot reach the folder, ends by an
 *  uncatchable signal: it closes no file, and node memory stays as it is. A part that has lost half of the processes of its
 *  last token, or more, waits before it asks; one that cannot restore waits twice as long. With announced cuts
 *  (core/world/quarantine.h) and none since that token, nobody waits.
 *
 *  Protocol and invariants: doc/recovery.md, "Fencing tokens".
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_FENCE_H
#define GABION_RESILIENCE_FENCE_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_fence gab_fence;

#ifdef __cplusplus
}
#endif
#endif
