/* SPDX-License-Identifier: Apache-2.0 */
/* Report of the redundancy of a run: copies of each rank, and deaths that it would not survive. */
#include "resilience/loop/timeloop_impl.h"

#include "core/base/log.h"
#include "resilience/reports/events_impl.h"
#include "resilience/schemes/domains_impl.h"
#include "resilience/checkpoint/checkpoint_impl.h"

static int32_t replacements(const gab_members *members)
{
  int32_t taken = 0;
  for (int32_t i = 0; i < members->return_count; i++) taken += (int32_t)members->returns[i].incarnation;
  return taken;
}

static void tell_redundancy(const gab_protection_state *protection, const gab_placement *placement)
{
  char text[1024];
  gab_log(GAB_LOG_INFO, "redundancy: %s", gab_placement_describe(placement, text, sizeof text));
  if (gab_placement_warning(placement, gab_checkpoint_redundancy(protection->checkpoint), text, sizeof text))
    gab_log(GAB_LOG_WARNING, "%s", text);
}

static const char *newest_kind(const gab_world *world)
{
  const gab_members *members = gab_world_members(world);
  for (int32_t i = 0; i < members->return_count; i++)
    if (members->returns[i].process >= gab_world_first_processes(world)) return "new process";
  return "spare";
}

/* A replacement process may be in another domain: copies were placed again. */
static void tell_separation(const gab_timeloop *loop, const gab_placement *placement, bool separate)
{
  const char *kind = gab_domain_name(placement->separate);
  if (!placement->domains)
    gab_log(GAB_LOG_WARNING,
            "positions of respawned processes are unknown: copies are placed without regard to "
            "failure domains");
  else if (separate)
    gab_log(GAB_LOG_INFO, "no image lies in one %s with all of its copies any more: any one %s can be lost",
            kind, kind);
  else
    gab_log(
        GAB_LOG_WARNING,
        "a %s sits in another %s than the process whose rank it took, and however copies are placed, some images lie in "
        "one %s with all of theirs: the loss of a %s may be more than they cover",
        newest_kind(loop->world), kind, kind, kind);
  if (!gab_world_is_root(loop->world)) return;
  gab_json *event = gab_event_begin(loop->events, "failure domains");
  gab_json_text(event, "kind", kind);
  gab_json_bool(event, "separate", separate);
  gab_event_end(loop->events, &event);
}

void gab_protection_tell(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  const gab_members *members = gab_world_members(loop->world);
  const int32_t count = gab_members_count(members), replaced = replacements(members);
  const gab_placement *placement = gab_checkpoint_placement(protection->checkpoint);
  if (!placement || count < 2 || (count == protection->told && replaced == protection->replaced)) return;
  const bool separate = gab_placement_get_costs(placement, 1).any_domain;
  if (count != protection->told) tell_redundancy(protection, placement);
  else if (separate != protection->separate) tell_separation(loop, placement, separate);
  protection->told = count;
  protection->replaced = replaced;
  protection->separate = separate;
}

void gab_protection_warn(const gab_timeloop *loop)
{
  const gab_protection_state *protection = loop->protection;
  if (!gab_world_survives_deaths(loop->world))
    gab_log(GAB_LOG_WARNING,
            "this MPI has no fault tolerance (ULFM): the run will not survive the death of a process");
  else if (protection->checkpoint && gab_members_count(gab_world_members(loop->world)) == 1)
    gab_log(GAB_LOG_INFO, "one process only: no other process can store a copy of its state");
}
