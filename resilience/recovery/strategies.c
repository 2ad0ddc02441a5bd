/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies by name, and how each restores the state. */
#include "resilience/recovery/recovery_impl.h"

#include "core/base/log.h"
#include "core/base/registry_impl.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/disk/restart_impl.h"
#include "resilience/reports/events_impl.h"
#include "resilience/checkpoint/checkpoint_impl.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- shrink */

static gab_status note(const gab_restore_report *restored, gab_fault *fault)
{
  fault->restored_step = restored->step;
  fault->adopted += restored->adopted;
  fault->restore = restored->seconds + restored->agree_seconds;
  return GAB_OK;
}

static gab_status shrink(const gab_recovery *recovery, gab_fault *fault)
{
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_restore(recovery->checkpoint, &restored));
  return note(&restored, fault);
}

const gab_strategy gab_strategy_shrink = {
    .name = "shrink",
    .doc = "continue with the survivors: holders of copies adopt the blocks of the dead, then "
           "rebalance",
    .restore = shrink,
};

/* ---------------------------------------------------------------- spare */

static gab_status replace(const gab_recovery *recovery, gab_fault *fault)
{
  const int32_t spares = fault->returned - fault->respawned;
  if (spares < fault->lost_count)
    GAB_FAIL(GAB_ERR_LOST, "there were spare processes for %" PRId32 " of %" PRId32 " lost ranks", spares,
             fault->lost_count);
  return shrink(recovery, fault);
}

const gab_strategy gab_strategy_spare = {
    .name = "spare",
    .doc = "spare processes (gabion-launch --spares) take the ranks of the dead: same ranks, same "
           "blocks",
    .restore = replace,
    .replacement = GAB_REPLACEMENT_SPARES,
};

/* ---------------------------------------------------------------- respawn */

static gab_status respawn(const gab_recovery *recovery, gab_fault *fault)
{
  if (fault->returned < fault->lost_count)
    GAB_FAIL(GAB_ERR_LOST, "processes could be started for %" PRId32 " of %" PRId32 " lost ranks",
             fault->returned, fault->lost_count);
  return shrink(recovery, fault);
}

const gab_strategy gab_strategy_respawn = {
    .name = "respawn",
    .doc = "spare processes, and new ones where none is left, take the ranks of the dead: same "
           "ranks, same blocks",
    .restore = respawn,
    .replacement = GAB_REPLACEMENT_SPARES | GAB_REPLACEMENT_RESPAWN,
};

/* ---------------------------------------------------------------- reconstruct */

/* The count of approximated blocks is part of the state, hence of the checkpoint that follows. */
static gab_status reconstruct(const gab_recovery *recovery, gab_fault *fault)
{
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_reconstruct(recovery->checkpoint, &restored));
  gab_approximated *approximated = recovery->approximated;
  if (approximated && restored.approximated > 0) {
    if (approximated->blocks == 0) approximated->since = restored.step;
    approximated->blocks += restored.approximated;
  }
  fault->approximated = restored.approximated;
  return note(&restored, fault);
}

const gab_strategy gab_strategy_reconstruct = {
    .name = "reconstruct",
    .doc = "continue with the survivors: blocks without any copy are approximated from their "
           "neighbours, for kinds of data that can; reported",
    .restore = reconstruct,
    .approximates = true,
};

/* ---------------------------------------------------------------- disk */

static gab_status load_from_disk(const gab_recovery *recovery, const char *before, gab_restart_report *report)
{
  gab_restart *restart;
  GAB_TRY(gab_restart_find(recovery->world, gab_disk_folder(recovery->disk), false, &restart));
  gab_status status = gab_restart_check_none(restart);
  if (gab_restart_count(restart) > 0) status = gab_restart_load(restart, recovery->checkpoint, report);
  else if (status == GAB_OK)
    status = gab_error_set(GAB_ERR_LOST, __FILE__, __LINE__, "%s; and no complete checkpoint in %s", before,
                           gab_disk_folder(recovery->disk));
  gab_restart_destroy(&restart);
  return status;
}

static gab_status go_back_to_disk(const gab_recovery *recovery, gab_fault *fault)
{
  char before[1024];
  gab_restart_report loaded;
  snprintf(before, sizeof before, "%s", gab_error_message());
  if (!recovery->disk) GAB_FAIL(GAB_ERR_LOST, "%s", before[0] ? before : "no checkpoints on disk to restore");
  GAB_TRY(load_from_disk(recovery, before, &loaded));
  gab_log(GAB_LOG_WARNING,
          "%s: all go back to the checkpoint of step %" GAB_PRI_STEP " on disk (written by %" PRId32
          " processes)",
          before[0] ? before : "recovery", loaded.step, loaded.members);
  if (gab_world_is_root(recovery->world)) {
    gab_json *event = gab_event_begin(recovery->events, "restored from disk");
    gab_json_int(event, "of_step", loaded.step);
    gab_json_rounded(event, "seconds", loaded.seconds, 6);
    gab_event_end(recovery->events, &event);
  }
  gab_disk_went_back(recovery->disk, loaded.step);
  fault->from_disk = true;
  fault->restored_step = loaded.step;
  fault->restore = loaded.seconds;
  return GAB_OK;
}

const gab_strategy gab_strategy_disk = {
    .name = "disk",
    .doc = "restore the newest checkpoint on disk, with the survivors",
    .restore = go_back_to_disk,
    .needs_disk = true,
};

/* ---------------------------------------------------------------- by name */

static gab_registry strategies = {.kind = "recovery strategy",
                                  .most = 6 + 16,
                                  .entries = {&gab_strategy_shrink, &gab_strategy_spare,
                                              &gab_strategy_respawn, &gab_strategy_reconstruct,
                                              &gab_strategy_disk, &gab_strategy_local}};

const gab_strategy *gab_strategy_at(int index) { return gab_registry_at(&strategies, index); }

gab_status gab_strategy_register(const gab_strategy *strategy)
{
  if (!strategy->name || !strategy->name[0] || !strategy->doc || !strategy->restore)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a strategy needs a name, a doc line and restore");
  return gab_registry_add(&strategies, strategy);
}

gab_status gab_strategies_check(const gab_strategy *const *list, int count)
{
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < i; k++)
      if (strcmp(list[k]->name, list[i]->name) == 0)
        GAB_FAIL(GAB_ERR_INPUT, "strategy '%s' is named twice", list[i]->name);
    for (int k = 0; k < i; k++)
      if (list[i]->replacement != GAB_REPLACEMENT_NONE && list[k]->replacement == GAB_REPLACEMENT_NONE)
        GAB_FAIL(GAB_ERR_INPUT,
                 "strategy '%s' cannot follow '%s', which leaves no vacant rank: list it before",
                 list[i]->name, list[k]->name);
    for (int k = 0; k < i; k++)
      if (list[i]->replacement == GAB_REPLACEMENT_SPARES && (list[k]->replacement & GAB_REPLACEMENT_RESPAWN))
        GAB_FAIL(
            GAB_ERR_INPUT,
            "strategy '%s' cannot be reached behind '%s', which uses up the spare processes first: name it first",
            list[i]->name, list[k]->name);
    if (i > 0 && list[i]->local)
      GAB_FAIL(GAB_ERR_INPUT,
               "strategy '%s' must be the first of the list: after '%s' all ranks have already "
               "rolled back",
               list[i]->name, list[i - 1]->name);
    for (int k = 0; k < i; k++)
      if (list[i]->approximates && list[k]->replacement != GAB_REPLACEMENT_NONE)
        GAB_FAIL(
            GAB_ERR_INPUT,
            "strategies '%s' and '%s' cannot be combined: a process that takes a rank has nothing to approximate "
            "blocks from",
            list[k]->name, list[i]->name);
  }
  return GAB_OK;
}

const gab_local_recovery *gab_strategies_local(const gab_strategy *const *list)
{
  for (int i = 0; i < GAB_MOST_STRATEGIES && list[i]; i++)
    if (list[i]->local) return list[i]->local;
  return NULL;
}

const gab_strategy *gab_strategy_by_name(const char *name) { return gab_registry_require(&strategies, name); }
