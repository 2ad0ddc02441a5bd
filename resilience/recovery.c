#include "resilience/recovery.h"

#include "core/log.h"
#include "resilience/disk_impl.h"
#include "resilience/restart.h"

#include <stdio.h>
#include <string.h>

void gab_note_fault(gab_events *events, const gab_world *world)
{
  gab_json *event = gab_event_begin(events, "fault noticed");
  gab_json_text(event, "phase", gab_phase_name(gab_world_phase(world)));
  gab_event_end(events, &event);
}

/* ---------------------------------------------------------------- shrink */

static gab_status rebalance(const gab_recovery *recovery, gab_fault *fault)
{
  if (!recovery->rebalance || fault->lost_count == 0) return GAB_OK;
  double start = gab_seconds();
  GAB_TRY(recovery->rebalance(recovery->rebalance_user, recovery->forest));
  GAB_TRY(gab_checkpoint_take(recovery->checkpoint, fault->restored_step));
  fault->rebalance = gab_seconds() - start;
  return GAB_OK;
}

/* @param[in] restored  what going back came to */
static gab_status go_on_from(const gab_recovery *recovery, gab_restore_report restored, gab_fault *fault)
{
  fault->restored_step = restored.step;
  fault->adopted += restored.adopted;
  fault->restore = restored.seconds + restored.agree_seconds;
  double start = gab_seconds();
  GAB_TRY(gab_checkpoint_take(recovery->checkpoint, restored.step));
  fault->reprotect = gab_seconds() - start;
  return rebalance(recovery, fault);
}

static gab_status shrink(const gab_recovery *recovery, gab_fault *fault)
{
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_restore(recovery->checkpoint, &restored));
  return go_on_from(recovery, restored, fault);
}

const gab_strategy gab_strategy_shrink = {
    .name = "shrink",
    .doc = "go on with the survivors; the holders of copies adopt the blocks of the dead, then rebalance",
    .recover = shrink,
};

/* ---------------------------------------------------------------- reconstruct */

/* It is counted before the next checkpoint is taken, of which it is a part. */
static gab_status reconstruct(const gab_recovery *recovery, gab_fault *fault)
{
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_reconstruct(recovery->checkpoint, &restored));
  gab_made_up *made_up = recovery->made_up;
  if (made_up && restored.made_up > 0) {
    if (made_up->blocks == 0) made_up->since = restored.step;
    made_up->blocks += restored.made_up;
  }
  fault->made_up = restored.made_up;
  return go_on_from(recovery, restored, fault);
}

const gab_strategy gab_strategy_reconstruct = {
    .name = "reconstruct",
    .doc = "go on with the survivors; blocks that nobody holds any more are made up: an approximation",
    .recover = reconstruct,
};

/* ---------------------------------------------------------------- disk */

static gab_status load_from_disk(const gab_recovery *recovery, const char *before, gab_restart_report *report)
{
  gab_restart *restart;
  GAB_TRY(gab_restart_find(recovery->world, gab_disk_folder(recovery->disk), false, &restart));
  gab_status status;
  if (gab_restart_count(restart) > 0) status = gab_restart_load(restart, recovery->checkpoint, report);
  else
    status = gab_error_set(GAB_ERR_LOST, __FILE__, __LINE__, "%s; and there is no whole checkpoint in %s",
                           before, gab_disk_folder(recovery->disk));
  gab_restart_destroy(&restart);
  return status;
}

static gab_status go_back_to_disk(const gab_recovery *recovery, gab_fault *fault)
{
  char before[1024];
  gab_restart_report loaded;
  snprintf(before, sizeof before, "%s", gab_error_message());
  if (!recovery->disk)
    GAB_FAIL(GAB_ERR_LOST, "%s", before[0] ? before : "there are no checkpoints on disk to go back to");
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
  double start = gab_seconds();
  GAB_TRY(gab_checkpoint_take(recovery->checkpoint, loaded.step));
  fault->reprotect = gab_seconds() - start;
  return rebalance(recovery, fault);
}

const gab_strategy gab_strategy_disk = {
    .name = "disk",
    .doc = "go back to the newest checkpoint on disk, with the survivors",
    .recover = go_back_to_disk,
};

static const gab_strategy *const strategies[] = {&gab_strategy_shrink, &gab_strategy_reconstruct, &gab_strategy_disk};

const gab_strategy *gab_strategy_at(int index)
{
  int count = (int)(sizeof strategies / sizeof strategies[0]);
  return index >= 0 && index < count ? strategies[index] : NULL;
}

const gab_strategy *gab_strategy_by_name(const char *name)
{
  char known[256] = "";
  for (int i = 0; gab_strategy_at(i); i++) {
    if (strcmp(strategies[i]->name, name) == 0) return strategies[i];
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", strategies[i]->name);
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no recovery strategy '%s' (there are: %s)", name, known);
  return NULL;
}

/* ---------------------------------------------------------------- rounds */

/* Who has died since the fault was noticed: those that are gone now and were members then. */
static void find_lost(const gab_members *before, const gab_members *now, gab_slot *lost, int32_t *count)
{
  *count = 0;
  for (int32_t i = 0; i < now->gone_count; i++)
    if (gab_members_has(before, now->gone[i])) lost[(*count)++] = now->gone[i];
}

static gab_status escalate(const gab_recovery *recovery, const gab_strategy *const *list, int count,
                           gab_fault *fault)
{
  gab_status status = GAB_ERR_LOST;
  gab_error_clear();
  fault->made_up = 0;
  fault->from_disk = false;
  for (int i = 0; i < count && status == GAB_ERR_LOST; i++) status = list[i]->recover(recovery, fault);
  return status;
}

/* Who is lost, anew in every round: the list may have grown. */
static gab_status note_repair(const gab_recovery *recovery, const gab_members *before, gab_slot **lost,
                              gab_fault *fault)
{
  const gab_members *now = gab_world_members(recovery->world);
  void *room = *lost;
  GAB_TRY(gab_realloc(((size_t)now->gone_count + 1) * sizeof(gab_slot), GAB_MEMORY_OTHER, &room));
  *lost = room;
  find_lost(before, now, *lost, &fault->lost_count);
  fault->lost = *lost;
  gab_repair_times times = gab_world_repair_times(recovery->world);
  fault->revoke = times.revoke;
  fault->shrink = times.shrink;
  fault->agree = times.agree;
  return GAB_OK;
}

/* Repairs until a try goes through. What only one slot meets (no memory, a corrupt copy) is raised, so that
 * the next repair ends the run on all of them with one status. */
static gab_status rounds(const gab_recovery *recovery, const gab_strategy *const *list, int count,
                         const gab_members *before, gab_slot **lost, gab_fault *fault)
{
  char words[1024] = "";
  for (;;) {
    gab_status intent = GAB_OK;
    if (fault->rounds++ > 0) /* the first was noticed outside; where each was tells which snapshots it can have */
      gab_note_fault(recovery->events, recovery->world);
    GAB_TRY(gab_world_repair(recovery->world, &intent));
    if (intent == GAB_ERR_SUSPECT) fault->suspect = true;
    else if (intent != GAB_OK) return intent;
    if (intent == GAB_ERR_SUSPECT) snprintf(words, sizeof words, "%s", gab_error_message());
    if (intent == GAB_ERR_SUSPECT) gab_log(GAB_LOG_WARNING, "%s", words); /* whatever becomes of it */
    gab_status status = note_repair(recovery, before, lost, fault);
    if (status == GAB_OK) status = escalate(recovery, list, count, fault);
    if (status == GAB_OK) {
      if (fault->suspect) (void)gab_error_set(GAB_ERR_SUSPECT, __FILE__, __LINE__, "%s", words);
      return GAB_OK;
    }
    if (status != GAB_ERR_FAULT) gab_world_raise(recovery->world, status);
  }
}

gab_status gab_recover(const gab_recovery *recovery, const gab_strategy *const *list, int count,
                       gab_slot **lost, gab_fault *fault)
{
  double start = gab_seconds();
  fault->rounds = 0;
  fault->adopted = 0;
  gab_members before;
  gab_members_init(&before, 0);
  gab_status status = gab_members_copy(&before, gab_world_members(recovery->world));
  if (status != GAB_OK) gab_world_raise(recovery->world, status); /* the others wait in the repair */
  status = rounds(recovery, list, count, &before, lost, fault);
  gab_members_release(&before);
  fault->seconds = gab_seconds() - start;
  return status;
}
