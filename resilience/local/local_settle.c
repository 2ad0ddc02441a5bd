/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a generation of local recovery, in a repair: stored images become snapshots of
 * resilience/checkpoint/checkpoint.h, and takeovers become fault records. If all ranks had gathered, nothing needs
 * to be restored. */
#include "resilience/local/local_run_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/events_impl.h"
#include "resilience/schemes/placement_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- whole images */

typedef struct search {
  gab_step checkpoint;
  gab_reader image;
  bool found;
} search;

static gab_status compare(void *user, gab_step checkpoint, gab_reader image)
{
  search *what = user;
  if (checkpoint != what->checkpoint) return GAB_OK;
  what->found = true;
  what->image = image;
  return GAB_OK;
}

static gab_status find_image(const gab_local_run *run, gab_rank place, gab_step checkpoint, search *what)
{
  *what = (search){.checkpoint = checkpoint};
  return gab_local_each_image(run->machine, place, compare, what);
}

typedef struct protected_ranks {
  const gab_local_run *run;
  gab_step checkpoint;
  bool all;
} protected_ranks;

static gab_status look_for_copy(void *user, gab_rank rank, int copy)
{
  protected_ranks *of = user;
  search what = {0};
  if (copy > 0) return GAB_OK;
  GAB_TRY(find_image(of->run, gab_local_place(of->run, rank), of->checkpoint, &what));
  of->all = of->all && what.found;
  return GAB_OK;
}

/* Whether this process has its own image and all copies that it must store of a checkpoint. */
static bool is_whole(const gab_local_run *run, gab_step checkpoint)
{
  protected_ranks of = {.run = run, .checkpoint = checkpoint, .all = true};
  search own;
  const gab_rank me = gab_world_rank(run->world);
  return find_image(run, gab_local_place(run, me), checkpoint, &own) == GAB_OK && own.found &&
         gab_placement_each_kept(&run->placement, me, look_for_copy, &of) == GAB_OK && of.all;
}

bool gab_local_before_repair(gab_timeloop *loop)
{
  gab_local_run *run = loop->protection->local;
  gab_claim *claim = gab_world_claim(run->world);
  if (!claim || !run->machine) return run->is_gathering;
  const gab_step committed = gab_local_committed(run->machine);
  /* If all ranks have gathered, only one checkpoint exists. Otherwise others may have dropped the checkpoint from
   * which this rank resumed. */
  const bool counts = run->is_gathering || (run->first_own >= 0 && run->first_own <= committed);
  claim->whole_from = counts && is_whole(run, committed) ? committed : INT64_MAX;
  return run->is_gathering;
}

/* ---------------------------------------------------------------- images become snapshots */

static gab_status fill(gab_buffer *to, gab_reader from)
{
  gab_buffer_clear(to);
  return gab_put_bytes(to, from.at, gab_reader_left(&from));
}

/* Members at the time of a checkpoint. A replacement process counts from the first checkpoint that it stores
 * completely. */
static gab_status members_at(const gab_local_run *run, gab_step checkpoint, gab_members *members)
{
  int count;
  const gab_claim *claims = gab_world_claims(run->world, &count);
  GAB_TRY(gab_members_copy(members, &run->members));
  for (int i = 0; i < count; i++) {
    if (claims[i].whole_from > checkpoint) continue;
    for (gab_incarnation k = 0; k < claims[i].taken; k++) {
      GAB_TRY(gab_members_remove(members, claims[i].rank));
      GAB_TRY(gab_members_return(members, claims[i].rank, claims[i].process));
    }
  }
  return GAB_OK;
}

static gab_status fill_snapshot(gab_local_run *run, gab_step checkpoint, gab_snapshot *to)
{
  gab_local_parts parts;
  search what;
  GAB_TRY(find_image(run, gab_local_place(run, gab_world_rank(run->world)), checkpoint, &what));
  GAB_TRY(gab_local_cut(what.image, &parts));
  to->complete = to->told = false;
  to->serial = parts.header.serial;
  to->step = checkpoint;
  to->blocks = parts.blocks;
  to->own_blocks = parts.own_blocks;
  GAB_TRY(gab_members_copy(&to->members,
                           &run->members)); /* for the plan, which needs the holders of the generation */
  GAB_TRY(
      gab_redundancy_plan(run->loop->protection->checkpoint, to, run->loop->protection->checkpoint->domains));
  GAB_TRY(members_at(run, checkpoint, &to->members));
  GAB_TRY(fill(&to->own, parts.own));
  GAB_TRY(fill(&to->replicated, parts.replicated));
  to->sent_each = gab_message_bytes(&to->own);
  gab_condition_forget(to);
  for (int i = 0; i < to->copy_count; i++) {
    GAB_TRY(find_image(run, gab_local_place(run, to->copies[i].rank), checkpoint, &what));
    GAB_TRY(gab_local_cut(what.image, &parts));
    GAB_TRY(fill(&to->copies[i].image, parts.own));
  }
  to->complete = true;
  return GAB_OK;
}

typedef struct whole_list {
  gab_local_run *run;
  gab_step checkpoints[2]; /* the newest, ascending */
  uint64_t serials[2];
  int count;
} whole_list;

static gab_status note_whole(void *user, gab_step checkpoint, gab_reader image)
{
  whole_list *list = user;
  gab_local_parts parts;
  if (!is_whole(list->run, checkpoint)) return GAB_OK;
  GAB_TRY(gab_local_cut(image, &parts));
  if (list->count < 2) list->count++;
  else {
    list->checkpoints[0] = list->checkpoints[1];
    list->serials[0] = list->serials[1];
  }
  list->checkpoints[list->count - 1] = checkpoint;
  list->serials[list->count - 1] = parts.header.serial;
  return GAB_OK;
}

/* Besides the images of the machine there may be a snapshot committed by an agreement, at the start of the
 * generation or in a section. The two newest of all are kept. */
static gab_status fill_snapshots(gab_local_run *run)
{
  gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  whole_list list = {.run = run};
  GAB_TRY(gab_local_each_image(run->machine, gab_local_place(run, gab_world_rank(run->world)), note_whole,
                               &list));
  for (int i = list.count - 1; i >= 0; i--) {
    gab_snapshot *both = checkpoint->snapshots, *to = NULL;
    for (int k = 0; k < 2; k++) {
      if (both[k].complete && both[k].serial >= list.serials[i]) continue;
      if (!to || !both[k].complete || (to->complete && both[k].serial < to->serial)) to = &both[k];
    }
    if (!to) continue;
    GAB_TRY(fill_snapshot(run, list.checkpoints[i], to));
  }
  const gab_snapshot *both = checkpoint->snapshots;
  const bool second = both[1].complete && (!both[0].complete || both[1].serial > both[0].serial);
  checkpoint->valid = second ? 1 : 0;
  return GAB_OK;
}

/* This process took its rank and has no complete checkpoint yet. */
static void become_replacement(gab_checkpoint *checkpoint)
{
  for (int i = 0; i < 2; i++) checkpoint->snapshots[i].complete = checkpoint->snapshots[i].told = false;
  checkpoint->since = UINT64_MAX;
}

static const gab_claim *own_claim(const gab_local_run *run)
{
  int count;
  const gab_claim *claims = gab_world_claims(run->world, &count);
  for (int i = 0; i < count; i++)
    if (claims[i].taken > 0 && claims[i].rank == gab_world_rank(run->world)) return &claims[i];
  return NULL;
}

static gab_status settle_images(gab_local_run *run)
{
  gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  const gab_claim *claim = own_claim(run);
  if (claim && claim->whole_from == INT64_MAX) {
    become_replacement(checkpoint);
    return GAB_OK;
  }
  GAB_TRY(fill_snapshots(run));
  if (!claim) return GAB_OK;
  /* Older snapshots are incomplete on this process. */
  for (int i = 0; i < 2; i++)
    if (checkpoint->snapshots[i].complete && checkpoint->snapshots[i].step < claim->whole_from)
      checkpoint->snapshots[i].complete = false;
  const gab_snapshot *newest = &checkpoint->snapshots[checkpoint->valid];
  checkpoint->since = newest->complete ? newest->serial : UINT64_MAX;
  return GAB_OK;
}

/* ---------------------------------------------------------------- claims become faults */

/* A process that died before it had caught up did not know the last step of its predecessor; its successor does. */
static gab_step step_of_death(const gab_claim *life, const gab_claim *last)
{
  const gab_step known = life->lost_step >= 0 ? life->lost_step : last->lost_step;
  return known > life->restored_step ? known : life->restored_step;
}

/* @param[in] last claim of the process that now runs the rank */
static void remember(gab_timeloop *loop, const gab_claim *claim, const gab_claim *last,
                     gab_incarnation incarnation)
{
  gab_run_stats *stats = &loop->stats;
  const gab_fault fault = {.noticed_step = step_of_death(claim, last),
                           .restored_step = claim->restored_step,
                           .lost_count = 1,
                           .strategy = loop->protection->strategies[0]->name,
                           .is_local = true,
                           .returned = 1,
                           .incarnation = incarnation,
                           .seconds = claim->seconds};
  if (stats->fault_count < GAB_MOST_FAULT_RECORDS) {
    gab_fault_record *record = &loop->records[stats->fault_count];
    record->fault = fault;
    record->lost[0] = claim->rank;
  }
  stats->fault_count++;
  stats->lost_ranks++;
  stats->local.faults++;
  if (gab_world_is_root(loop->world)) {
    gab_json *event = gab_event_begin(loop->events, "recovery");
    gab_fault_to_json(event, &fault, &claim->rank, 1);
    gab_event_end(loop->events, &event);
  }
  gab_fault told = fault;
  told.lost = &claim->rank;
  if (loop->on_fault) loop->on_fault(loop->on_fault_user, &told);
}

/* Records each takeover of the rank. A process that took no checkpoint left no claim of its own; its successor
 * resumed from the same checkpoint. */
static void remember_all(gab_timeloop *loop, const gab_claim *claims, int own)
{
  const gab_claim *last = &claims[own];
  const gab_incarnation now = gab_members_incarnation(gab_world_members(loop->world), last->rank);
  gab_incarnation told = 0;
  for (int i = 0; i < own && told + 1 < last->taken; i++)
    if (claims[i].taken == 0 && claims[i].rank == last->rank)
      remember(loop, &claims[i], last, now - last->taken + ++told);
  while (told < last->taken) remember(loop, last, last, now - last->taken + ++told);
}

gab_status gab_local_after_repair(gab_timeloop *loop, gab_members *before)
{
  gab_local_run *run = loop->protection->local;
  int count;
  const gab_claim *claims = gab_world_claims(run->world, &count);
  gab_status status = GAB_OK;
  run->has_gathered = false;
  if (run->machine) gab_local_note_totals(run);
  if (run->machine && run->took_part) status = settle_images(run);
  for (int i = 0; i < count; i++) /* the repair has counted the others already */
    if (claims[i].taken > 0) remember_all(loop, claims, i);
  if (status == GAB_OK) status = gab_world_apply_claims(run->world, before);
  const bool gathers = run->is_gathering;
  gab_local_discard(run);
  run->is_gathering = gathers;
  return status;
}
