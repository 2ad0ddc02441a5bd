/* SPDX-License-Identifier: Apache-2.0 */
/* Making events. Stability: internal. */
#ifndef GABION_RESILIENCE_REPORTS_EVENTS_IMPL_H
#define GABION_RESILIENCE_REPORTS_EVENTS_IMPL_H

#include "resilience/reports/events.h"

/** @param[in] folder  existing; NULL: events go nowhere. Local. */
gab_status gab_events_create(gab_world *world, const char *folder, gab_events **events);
void gab_events_destroy(gab_events **events);

/** Begins a line: to be filled with further members and ended by gab_event_end(). @return NULL if events go
 * nowhere, which the functions of core/base/text/json.h take */
gab_json *gab_event_begin(gab_events *events, const char *event);

/** Appends the line, by the calling process. Errors are not reported: an event must not end a run. */
void gab_event_end(gab_events *events, gab_json **event);

/** Empties the file: for the root at the start of a run. */
gab_status gab_events_clear(gab_events *events);

#endif
