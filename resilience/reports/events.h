/* SPDX-License-Identifier: Apache-2.0 */
/** @file events.h
 *  @brief OUT/events.jsonl: the events of a run, one JSON object per line, never rolled back.
 *
 *  Each line has `time` (seconds since 1970), `rank`, `epoch`, `step` and `event`; other members depend on the event.
 *  Lines are appended by single writes, so that a process killed afterwards leaves its last one.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_EVENTS_H
#define GABION_RESILIENCE_EVENTS_H

#include "core/base/text/json.h"
#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_events gab_events;

#ifdef __cplusplus
}
#endif
#endif
