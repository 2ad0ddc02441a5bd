/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that recovered alone, or rolled back with their cluster, and have not caught up with the others, from the
 * events of a run (gabion status). Internal. */
#ifndef GABION_APPS_STATUS_BEHIND_H
#define GABION_APPS_STATUS_BEHIND_H

#include "core/base/text/json.h"

enum { STATUS_MOST_BEHIND = 64 };

typedef struct status_behind {
  int64_t ranks[STATUS_MOST_BEHIND];
  int64_t from[STATUS_MOST_BEHIND]; /* the step of the checkpoint from which it resumed */
  bool with_cluster[STATUS_MOST_BEHIND];
  int count;
} status_behind;

/* Takes the next event, whatever it is. @param[in] name  of it */
void gab_app_status_behind_take(status_behind *behind, const char *name, gab_json_document *event);
/* One line, or none if nobody is behind. */
void gab_app_status_behind_print(const status_behind *behind);
/* A list `behind` of objects with rank and from_step; empty if nobody is. */
void gab_app_status_behind_put(const status_behind *behind, gab_json *json);

#endif
