/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that are behind: "took over" and "went back with its cluster" put one on the list, "caught up" takes it off.
 * After a global recovery, a start or the end, all ranks are at the same step. */
#include "apps/driver/commands/status_behind.h"

#include <stdio.h>
#include <string.h>

static void drop(status_behind *behind, int64_t rank)
{
  int kept = 0;
  for (int i = 0; i < behind->count; i++) {
    if (behind->ranks[i] == rank) continue;
    behind->ranks[kept] = behind->ranks[i];
    behind->with_cluster[kept] = behind->with_cluster[i];
    behind->from[kept++] = behind->from[i];
  }
  behind->count = kept;
}

static void add(status_behind *behind, int64_t rank, int64_t from, bool with_cluster)
{
  drop(behind, rank); /* the rank may have returned before, or resumes from a later checkpoint */
  if (behind->count == STATUS_MOST_BEHIND) return;
  behind->ranks[behind->count] = rank;
  behind->with_cluster[behind->count] = with_cluster;
  behind->from[behind->count++] = from;
}

void gab_app_status_behind_take(status_behind *behind, const char *name, gab_json_document *event)
{
  const int64_t rank = gab_json_get_int(event, "/rank");
  const bool with_cluster = strcmp(name, "went back with its cluster") == 0;
  if (with_cluster || strcmp(name, "took over") == 0 || strcmp(name, "went on from a later checkpoint") == 0)
    add(behind, rank, gab_json_get_int(event, "/of_step"), with_cluster);
  else if (strcmp(name, "caught up") == 0) drop(behind, rank);
  else if (strcmp(name, "recovery") == 0 || strcmp(name, "start") == 0 || strcmp(name, "end") == 0)
    behind->count = 0;
}

void gab_app_status_behind_print(const status_behind *behind)
{
  if (behind->count == 0) return;
  printf("  behind the others:");
  for (int i = 0; i < behind->count; i++)
    printf("%s rank %lld, which %s step %lld", i ? ";" : "", (long long)behind->ranks[i],
           behind->with_cluster[i] ? "went back with its cluster to" : "came back alone from",
           (long long)behind->from[i]);
  printf("\n");
}

void gab_app_status_behind_put(const status_behind *behind, gab_json *json)
{
  gab_json_list(json, "behind");
  for (int i = 0; i < behind->count; i++) {
    gab_json_object(json, NULL);
    gab_json_int(json, "rank", behind->ranks[i]);
    gab_json_int(json, "from_step", behind->from[i]);
    gab_json_close(json);
  }
  gab_json_close(json);
}
