#include "resilience/recovery.h"

#include "core/log.h"

#include <stdio.h>
#include <string.h>

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

static gab_status shrink(const gab_recovery *recovery, gab_fault *fault)
{
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_restore(recovery->checkpoint, &restored));
  fault->restored_step = restored.step;
  fault->adopted += restored.adopted;
  fault->restore = restored.seconds + restored.agree_seconds;
  double start = gab_seconds();
  GAB_TRY(gab_checkpoint_take(recovery->checkpoint, restored.step));
  fault->reprotect = gab_seconds() - start;
  return rebalance(recovery, fault);
}

const gab_strategy gab_strategy_shrink = {
    .name = "shrink",
    .doc = "go on with the survivors; the holders of copies adopt the blocks of the dead, then rebalance",
    .recover = shrink,
};

static const gab_strategy *const strategies[] = {&gab_strategy_shrink};

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
  for (;;) {
    gab_status intent = GAB_OK;
    fault->rounds++;
    GAB_TRY(gab_world_repair(recovery->world, &intent));
    if (intent != GAB_OK) return intent;
    gab_status status = note_repair(recovery, before, lost, fault);
    if (status == GAB_OK) status = escalate(recovery, list, count, fault);
    if (status == GAB_OK) return GAB_OK;
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
