/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/recovery/recovery.h"

#include "core/messages/collective.h"
#include "core/messages/logged/message_logger.h"
#include "core/base/log.h"
#include "resilience/disk/disk_impl.h"

#include <stdio.h>

void gab_note_fault(gab_events *events, const gab_world *world)
{
  gab_json *event = gab_event_begin(events, "fault noticed");
  gab_json_text(event, "phase", gab_fault_point_name(gab_world_fault_point(world)));
  gab_event_end(events, &event);
}

/* ---------------------------------------------------------------- who is lost, who is new */

/* Who has died since the fault was noticed: members of then that are none now, or have come back. */
static gab_status find_lost(const gab_world *world, const gab_members *before, gab_rank **lost,
                            gab_fault *fault)
{
  const gab_members *now = gab_world_members(world);
  const gab_process first_respawned = gab_world_first_processes(world);
  gab_members survivors = {0};
  GAB_TRY(gab_members_survivors(before, now, &survivors));
  gab_status status = GAB_RESIZE_ARRAY(lost, (size_t)survivors.gone_count + 1, GAB_MEMORY_OTHER);
  fault->lost_count = fault->returned = fault->respawned = 0;
  fault->incarnation = 0;
  for (int32_t i = 0; i < survivors.gone_count && status == GAB_OK; i++) {
    if (!gab_members_has(before, survivors.gone[i])) continue;
    (*lost)[fault->lost_count++] = survivors.gone[i];
    const bool returned = gab_members_has(now, survivors.gone[i]);
    const gab_incarnation incarnation = gab_members_incarnation(now, survivors.gone[i]);
    fault->returned += returned;
    if (returned && incarnation > fault->incarnation) fault->incarnation = incarnation;
    fault->respawned += gab_members_process(now, survivors.gone[i]) >= first_respawned;
  }
  fault->lost = *lost;
  gab_members_release(&survivors);
  return status;
}

/* What a replacement process is told by the donor before anything is restored. */
static gab_status put_account(const gab_recovery *recovery, const gab_members *before, const gab_fault *fault,
                              double since, gab_buffer *out)
{
  GAB_TRY(gab_members_pack(before, out));
  GAB_TRY(gab_put_i64(out, fault->noticed_step));
  GAB_TRY(gab_put_i32(out, fault->rounds));
  GAB_TRY(gab_put_u8(out, fault->suspect));
  GAB_TRY(gab_put_f64(out, gab_seconds() - since));
  return recovery->pack_history ? recovery->pack_history(recovery->history_user, out) : GAB_OK;
}

static gab_status take_account(const gab_recovery *recovery, gab_members *before, gab_fault *fault,
                               double *since, gab_reader in)
{
  double age;
  int64_t noticed;
  int32_t rounds;
  uint8_t suspect;
  GAB_TRY(gab_members_unpack(before, &in));
  GAB_TRY(gab_get_i64(&in, &noticed));
  GAB_TRY(gab_get_i32(&in, &rounds));
  GAB_TRY(gab_get_u8(&in, &suspect));
  GAB_TRY(gab_get_f64(&in, &age));
  *since = gab_seconds() - age;
  fault->noticed_step = noticed;
  fault->rounds = rounds;
  fault->suspect = suspect != 0;
  return recovery->unpack_history ? recovery->unpack_history(recovery->history_user, &in) : GAB_OK;
}

/* Who takes part in a recovery: a process that was there before, or one that was called to it. */
typedef struct part {
  const gab_status
      *called; /* the abort request of the repair that called it, until it has joined; else NULL */
  bool is_new;
  double since;       /* seconds: when the fault was noticed */
  gab_members before; /* the members before the fault */
  char words[1024];   /* of a monitor that complained */
} part;

/* In every round, since a process may be called in any. Collective. */
static gab_status tell_replacements(const gab_recovery *recovery, part *mine, gab_fault *fault)
{
  gab_checkpoint *checkpoint = recovery->checkpoint;
  gab_world *world = recovery->world;
  gab_buffer account;
  if (!gab_replacements_possible(checkpoint)) return GAB_OK;
  GAB_TRY(gab_replacements_find_donor(checkpoint));
  if (checkpoint->all_are_new) gab_fence_leave_to_active(recovery->fence);
  const bool is_donor = gab_world_rank(world) == checkpoint->donor;
  gab_buffer_init(&account, GAB_MEMORY_OTHER);
  gab_status status = is_donor ? put_account(recovery, &mine->before, fault, mine->since, &account) : GAB_OK;
  if (status == GAB_OK) status = gab_world_broadcast(world, checkpoint->donor, &account);
  if (status == GAB_OK && mine->is_new && !is_donor)
    status = take_account(recovery, &mine->before, fault, &mine->since, gab_reader_of_buffer(&account));
  gab_buffer_release(&account);
  return status;
}

/* ---------------------------------------------------------------- rounds */

static gab_status escalate(const gab_recovery *recovery, const gab_strategy *const *list, int count,
                           gab_fault *fault)
{
  gab_status status = GAB_ERR_LOST;
  gab_error_clear();
  fault->approximated = 0;
  fault->from_disk = false;
  for (int i = 0; i < count && status == GAB_ERR_LOST; i++) {
    fault->strategy = list[i]->name;
    fault->is_local = list[i]->is_local;
    status = list[i]->recover(recovery, fault);
  }
  return status;
}

static void note_repair(const gab_recovery *recovery, gab_fault *fault)
{
  gab_repair_times times = gab_world_repair_times(recovery->world);
  fault->revoke = times.revoke;
  fault->shrink = times.shrink;
  fault->agree = times.agree;
}

/* @param[out] end  GAB_OK, or the abort request that ends the run */
static gab_status repair(const gab_recovery *recovery, part *mine, gab_fault *fault, gab_status *end)
{
  gab_status abort_request = GAB_OK;
  *end = GAB_OK;
  if (mine->called) {
    abort_request = *mine->called;
    mine->called = NULL;
    fault->rounds++;
  } else {
    if (fault->rounds++ >
        0) /* the first was noticed outside; where each was tells which snapshots it can have */
      gab_note_fault(recovery->events, recovery->world);
    GAB_TRY(gab_world_repair(recovery->world, &abort_request));
  }
  if (abort_request == GAB_ERR_SUSPECT) fault->suspect = true;
  else *end = abort_request;
  if (abort_request == GAB_ERR_SUSPECT) snprintf(mine->words, sizeof mine->words, "%s", gab_error_message());
  if (abort_request == GAB_ERR_SUSPECT)
    gab_log(GAB_LOG_WARNING, "%s", mine->words); /* whatever becomes of it */
  return GAB_OK;
}

/* Of a round: whether its part of the run has been found to be the one that goes on. */
typedef struct asking {
  gab_fence *fence;
  bool asked;
} asking;

/* What there is suffices to go on. Entities may cut files back when they are restored, so that a part which does not
 * go on must not come to that. */
static gab_status ask_fence_before_entities(void *user)
{
  asking *round = user;
  if (round->asked) return GAB_OK;
  GAB_TRY(gab_fence_claim(round->fence, true));
  round->asked = true;
  return GAB_OK;
}

/* What came out holds only for the part of the run that goes on. Before it has asked a part has written nothing but lines
 * of the log and the event `fault noticed'. */
static gab_status recover(const gab_recovery *recovery, const gab_strategy *const *list, int count,
                          gab_fault *fault)
{
  char message[1024];
  asking round = {.fence = recovery->fence};
  gab_checkpoint *checkpoint = recovery->checkpoint;
  if (!recovery->fence || fault->lost_count == 0) return escalate(recovery, list, count, fault);
  checkpoint->before_entities = ask_fence_before_entities;
  checkpoint->before_entities_user = &round;
  const gab_status status = escalate(recovery, list, count, fault);
  checkpoint->before_entities = NULL;
  if (round.asked || (status != GAB_OK && status != GAB_ERR_LOST)) return status;
  snprintf(message, sizeof message, "%s", gab_error_message());
  GAB_TRY(gab_fence_claim(recovery->fence, status == GAB_OK));
  return status == GAB_OK ? GAB_OK : gab_error_set(status, __FILE__, __LINE__, "%s", message);
}

/* An abort request ends the run on all, also on who was called by the very repair that delivers it. By what they
 * know of the snapshots all decide how to end, and whether to look at the last one: so a replacement process is told here, too. That is
 * agreed upon, so that nobody ends while others begin again. @return the abort request; ::GAB_ERR_FAULT: somebody died
 * meanwhile, it comes with the next repair */
static gab_status end_alike(const gab_recovery *recovery, part *mine, gab_fault *fault,
                            gab_status abort_request)
{
  uint32_t flags = 0;
  char message[2304];
  if (!gab_replacements_possible(recovery->checkpoint)) return abort_request;
  snprintf(message, sizeof message, "%s", gab_error_message());
  gab_status status = tell_replacements(recovery, mine, fault);
  recovery->checkpoint->donor = GAB_NO_RANK;
  if (status == GAB_OK) status = gab_world_agree(recovery->world, &flags);
  if (status == GAB_OK || status == GAB_ERR_FAULT)
    (void)gab_error_set(abort_request, __FILE__, __LINE__, "%s", message);
  if (status == GAB_OK) return abort_request;
  gab_world_raise(recovery->world, status == GAB_ERR_FAULT ? abort_request : status);
  return GAB_ERR_FAULT;
}

/* Repairs until a try goes through. What only one rank meets (no memory, a corrupt copy) is raised, so that
 * the next repair ends the run on all of them with one status. */
static gab_status rounds(const gab_recovery *recovery, const gab_strategy *const *list, int count, part *mine,
                         gab_rank **lost, gab_fault *fault)
{
  for (;;) {
    gab_status end, status = GAB_OK;
    GAB_TRY(repair(recovery, mine, fault, &end));
    /* Also where an abort request ends the run: somebody may want to look at the last checkpoint. */
    if (recovery->local && end != GAB_ERR_LOST) status = gab_local_settle(recovery->local, &mine->before);
    if (end != GAB_OK) end = end_alike(recovery, mine, fault, end);
    if (end == GAB_ERR_FAULT) continue;
    GAB_TRY(end);
    note_repair(recovery, fault);
    if (status == GAB_OK) status = tell_replacements(recovery, mine, fault);
    if (status == GAB_OK) status = find_lost(recovery->world, &mine->before, lost, fault);
    if (status == GAB_OK) status = recover(recovery, list, count, fault);
    recovery->checkpoint->donor = GAB_NO_RANK;
    if (status == GAB_OK) {
      if (fault->suspect) (void)gab_error_set(GAB_ERR_SUSPECT, __FILE__, __LINE__, "%s", mine->words);
      return GAB_OK;
    }
    if (status != GAB_ERR_FAULT) gab_world_raise(recovery->world, status);
  }
}

gab_status gab_recover(const gab_recovery *recovery, const gab_strategy *const *list, int count,
                       const gab_status *called, gab_rank **lost, gab_fault *fault)
{
  fault->rounds = 0;
  fault->adopted = 0;
  /* Who took a rank alone has missed what all are told. */
  const bool came_alone = !called && gab_world_claim(recovery->world);
  part mine = {.called = called, .is_new = called != NULL || came_alone, .since = gab_seconds()};
  gab_members_init(&mine.before, 0);
  gab_status status = gab_members_copy(&mine.before, gab_world_members(recovery->world));
  if (status != GAB_OK) gab_world_raise(recovery->world, status); /* the others wait in the repair */
  if (status != GAB_OK) mine.called = NULL;
  status = rounds(recovery, list, count, &mine, lost, fault);
  gab_members_release(&mine.before);
  fault->seconds = gab_seconds() - mine.since;
  return status;
}
