/** @file events.h
 *  @brief OUT/events.jsonl: what happened to a run, one JSON object per line, never rolled back.
 *
 *  Each line has `time` (seconds since 1970), `slot`, `epoch`, `step` and `event`; the rest depends on the
 *  event. Lines are appended by single writes, so that a process which is killed next leaves its last one.
 *
 *  Tier: extender header.
 */
#ifndef GABION_RESILIENCE_EVENTS_H
#define GABION_RESILIENCE_EVENTS_H

#include "core/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_events gab_events;

/** @param[in] folder  existing; NULL: events go nowhere. Local. */
gab_status gab_events_create(gab_world *world, const char *folder, gab_events **events);
void gab_events_destroy(gab_events **events);

/** Appends a line; whoever calls it writes. Errors are not reported: an event must not end a run.
 *  @param[in] fields  printf-like: further JSON members without the leading comma, or "" */
void gab_event(gab_events *events, const char *event, const char *fields, ...) GAB_PRINTF(3, 4);

/** A text as a JSON string with its quotes; cut where it does not fit. @return `out` */
const char *gab_event_quote(char *out, size_t room, const char *text);

/** Starts the file anew: for the root at the start of a run. */
gab_status gab_events_clear(gab_events *events);

#ifdef __cplusplus
}
#endif
#endif
