/* SPDX-License-Identifier: Apache-2.0 */
/* Deaths in local recovery: notification, offer of the rank by its holder to a spare, and discovery between ranks
 * that are lost at the same time. */
#include "resilience/local/protocol/local_impl.h"

static gab_process spare_process(const gab_local *local, gab_rank rank, gab_process number)
{
  const gab_process spares = local->setup.spares;
  return (gab_process)local->setup.ranks + (gab_process)((rank + number) % spares);
}

static gab_rank holder_of(const gab_local *local, gab_rank rank)
{
  return local->application.holder(local->application.user, rank);
}

/* ---------------------------------------------------------------- asking spares */

/* Asks the next spare for the process that runs the rank of the partner, or that of its holder. */
static gab_status ask_spare(gab_local *local, gab_local_partner *partner)
{
  if (partner->asking >= local->setup.spares) {
    partner->asking = -1;
    return gab_local_hand_over(local, GAB_LOCAL_HOLDER_LOST, partner->rank);
  }
  const gab_rank holder = holder_of(local, partner->rank);
  const gab_local_note note = {.kind = NOTE_WHO,
                               .about = partner->rank,
                               .number = holder == local->rank ? UINT64_MAX : (uint64_t)holder};
  const gab_process spare = (gab_process)local->setup.ranks + partner->asking;
  if (spare != local->setup.process) return gab_local_tell(local, spare, note, NULL);
  partner->asking++;
  return ask_spare(local, partner);
}

static gab_status search(gab_local *local, gab_local_partner *partner)
{
  if (partner->asking >= 0) return GAB_OK;
  partner->asking = 0;
  return ask_spare(local, partner);
}

gab_status gab_local_on_who(gab_local *local, gab_process source, const gab_local_note *note)
{
  const bool mine =
      local->rank != GAB_NO_RANK && (local->rank == note->about || (uint64_t)local->rank == note->number);
  const gab_local_note answer = {.kind = mine ? NOTE_RUNS : NOTE_NOT_ME,
                                 .about = mine ? local->rank : note->about,
                                 .about_incarnation = local->incarnation,
                                 .about_process = local->setup.process};
  return gab_local_tell(local, source, answer, NULL);
}

gab_status gab_local_on_not_me(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *partner = gab_local_find(local, note->about);
  if (!partner || partner->asking < 0 || source != (gab_process)local->setup.ranks + partner->asking)
    return GAB_OK;
  partner->asking++;
  return ask_spare(local, partner);
}

/* ---------------------------------------------------------------- the holder */

static gab_status offer(gab_local *local, gab_local_partner *protected)
{
  const bool was_spare = protected->tried < local->setup.spares &&
                         spare_process(local, protected->rank, protected->tried) == local->setup.process;
  if (was_spare) protected->tried++;
  if (protected->tried >= local->setup.spares)
    return gab_local_hand_over(local, GAB_LOCAL_POOL_EMPTY, protected->rank);
  protected->is_offered = true;
  const gab_local_note note = {.kind = NOTE_OFFER,
                               .about = protected->rank,
                               .about_incarnation = protected->offer_incarnation,
                               .number = protected->taken_over};
  return gab_local_tell(local, spare_process(local, protected->rank, protected->tried), note, NULL);
}

static gab_status offer_next(gab_local *local, gab_local_partner *protected)
{
  protected->tried++;
  return offer(local, protected);
}

/* A restored holder does not know the present processes of its protected ranks, so it asks before it makes an offer. */
static gab_status lost_protected(gab_local *local, gab_local_partner *protected)
{
  if (!protected->was_met) return search(local, protected);
  if (local->committed < 0) return gab_local_hand_over(local, GAB_LOCAL_NO_CHECKPOINT, protected->rank);
  if (!gab_local_newest(&protected->images, gab_local_may_go_back_to(local, protected)))
    return gab_local_hand_over(local, GAB_LOCAL_HOLDER_LOST, protected->rank);
  protected->offer_incarnation = gab_local_incarnation_of(local, protected->rank) + 1;
  return offer(local, protected);
}

gab_status gab_local_answer_askers(gab_local *local, gab_local_partner *partner)
{
  const gab_local_note note = {.kind = NOTE_RUNS,
                               .about = partner->rank,
                               .about_incarnation = gab_local_incarnation_of(local, partner->rank),
                               .about_process = gab_local_process(local, partner->rank)};
  const size_t count = partner->asker_count;
  gab_status status = GAB_OK;
  partner->asker_count = 0;
  for (size_t i = 0; i < count && status == GAB_OK; i++)
    status = gab_local_tell(local, partner->askers[i], note, NULL);
  gab_free(&partner->askers);
  return status;
}

gab_status gab_local_on_accept(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *protected = gab_local_find(local, note->about);
  if (!protected || !protected->is_offered || note->about_incarnation != protected->offer_incarnation)
    return GAB_OK;
  GAB_TRY(gab_local_learn(local, protected->rank, source, note->about_incarnation));
  protected->is_offered = false;
  protected->tried++;
  protected->taken_over++;
  local->stats.takeovers++;
  GAB_TRY(gab_local_send_image(local, protected, source, -1));
  return gab_local_answer_askers(local, protected);
}

gab_status gab_local_on_refuse(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *protected = gab_local_find(local, note->about);
  if (!protected || !protected->is_offered ||
      source != spare_process(local, protected->rank, protected->tried))
    return GAB_OK;
  return offer_next(local, protected);
}

gab_status gab_local_on_fetch(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *protected = gab_local_find(local, note->from);
  const gab_incarnation known = gab_local_incarnation_of(local, note->from);
  if (!protected || !(protected->roles & ROLE_PROTECTED) || note->from_incarnation < known) return GAB_OK;
  /* this holder was restored after it had sent that process its image: it has no copy */
  if (note->from_incarnation > known)
    return gab_local_hand_over(local, GAB_LOCAL_HOLDER_LOST, protected->rank);
  GAB_TRY(gab_local_learn_of_protected(local, protected, note->checkpoint));
  return gab_local_send_image(local, protected, source, note->checkpoint);
}

/* ---------------------------------------------------------------- the spare */

/* Spares need it to detect that no process is active. Sent only after the image has arrived: a spare that dies
 * before has run nothing, and the holder gives the same incarnation to the next spare. */
gab_status gab_local_tell_spares(gab_local *local)
{
  const gab_local_note note = {.kind = NOTE_RUNS,
                               .about = local->rank,
                               .about_incarnation = local->incarnation,
                               .about_process = local->setup.process};
  for (gab_process i = 0; i < local->setup.spares; i++) {
    const gab_process spare = (gab_process)local->setup.ranks + i;
    if (spare != local->setup.process) GAB_TRY(gab_local_tell(local, spare, note, NULL));
  }
  return GAB_OK;
}

gab_status gab_local_on_offer(gab_local *local, gab_process source, const gab_local_note *note)
{
  const bool is_free = local->state == GAB_LOCAL_SPARE;
  const gab_local_note answer = {.kind = is_free ? NOTE_ACCEPT : NOTE_REFUSE,
                                 .about = note->about,
                                 .about_incarnation = note->about_incarnation};
  if (is_free) {
    local->rank = note->about;
    local->incarnation = note->about_incarnation;
    local->taken_over = (uint32_t)note->number + 1;
    local->image_from = source;
    local->renewed = note->from_incarnation;
    local->state = GAB_LOCAL_RESTORING;
  }
  return gab_local_tell(local, source, answer, NULL);
}

gab_status gab_local_jump(gab_local *local, gab_step checkpoint)
{
  if (checkpoint <= local->taken)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "rank %" GAB_PRI_RANK " lacks messages from before checkpoint %" GAB_PRI_STEP
             ", which it has taken already",
             local->rank, checkpoint);
  local->stats.jumps++;
  if (local->member_count < 2) return gab_local_fetch(local, checkpoint);
  local->line = checkpoint; /* with all members of its cluster */
  return gab_local_retreat(local);
}

/* ---------------------------------------------------------------- those who notice */

static gab_status tell_holder(gab_local *local, const gab_local_partner *partner)
{
  const gab_local_note note = {.kind = NOTE_LOST,
                               .about = partner->rank,
                               .about_incarnation = gab_local_incarnation_of(local, partner->rank),
                               .about_process = gab_local_process(local, partner->rank)};
  return gab_local_tell(local, gab_local_process(local, holder_of(local, partner->rank)), note, NULL);
}

gab_status gab_local_mark_down(gab_local *local, gab_local_partner *partner)
{
  if (partner->is_down) return GAB_OK;
  partner->is_down = true;
  partner->is_up = false;
  if (gab_local_is_inside(local)) return gab_local_hand_over(local, GAB_LOCAL_GLOBAL_SECTION, partner->rank);
  return partner->roles & ROLE_PROTECTED ? lost_protected(local, partner) : tell_holder(local, partner);
}

static gab_status note_asker(gab_local_partner *protected, gab_process asker)
{
  GAB_TRY(gab_list_reserve(&protected->askers, protected->asker_count, sizeof *protected->askers));
  protected->askers[protected->asker_count++] = asker;
  return GAB_OK;
}

gab_status gab_local_on_lost(gab_local *local, gab_process source, const gab_local_note *note)
{
  gab_local_partner *protected = gab_local_find(local, note->about);
  if (!protected || !(protected->roles & ROLE_PROTECTED)) return GAB_OK;
  const gab_incarnation known = gab_local_incarnation_of(local, protected->rank);
  GAB_TRY(note_asker(protected, source));
  if (note->about_incarnation < known)
    return protected->is_down ? GAB_OK : gab_local_answer_askers(local, protected);
  /* from a spare that accepted and died: its acceptance is in transit or lost, and the transport reports its death */
  if (protected->is_offered && note->about_incarnation <= protected->offer_incarnation) return GAB_OK;
  if (note->about_incarnation > known) {
    protected->was_met = false;
    GAB_TRY(gab_local_learn(local, protected->rank, note->about_process, note->about_incarnation));
  }
  return gab_local_mark_down(local, protected);
}

/* Notifies the holder of lost partners, whose process is known now, of their loss. @param[in] all also partners for
 * which no spare is asked: the earlier notification went to the predecessor of the holder */
static gab_status tell_found_holder(gab_local *local, gab_rank holder, bool all)
{
  for (size_t i = 0; i < local->partner_count; i++) {
    gab_local_partner *lost = &local->partners[i];
    if (!lost->is_down || (lost->asking < 0 && !all) || holder_of(local, lost->rank) != holder) continue;
    lost->asking = -1;
    GAB_TRY(tell_holder(local, lost));
  }
  return GAB_OK;
}

gab_status gab_local_on_runs(gab_local *local, const gab_local_note *note)
{
  /* late news of a spare that ran this rank before */
  if (note->about == local->rank) return GAB_OK;
  const bool is_news = note->about_incarnation > gab_local_incarnation_of(local, note->about);
  gab_local_partner *partner = gab_local_find(local, note->about);
  /* from a spare that accepted and died: the rank is offered to the next one, whose answer is pending */
  if (partner && partner->is_offered && note->about_incarnation < partner->offer_incarnation) return GAB_OK;
  GAB_TRY(gab_local_learn(local, note->about, note->about_process, note->about_incarnation));
  if (is_news && partner) {
    GAB_TRY(gab_local_greet(local, partner, true));
    GAB_TRY(gab_local_answer_askers(local, partner));
  }
  return tell_found_holder(local, note->about, is_news);
}

gab_status gab_local_on_new_process(gab_local *local, gab_rank rank)
{
  return tell_found_holder(local, rank, true);
}

/* Handles the death of a spare with a pending question or offer. */
gab_status gab_local_spare_down(gab_local *local, gab_process process)
{
  for (size_t i = 0; i < local->partner_count; i++) {
    gab_local_partner *partner = &local->partners[i];
    if (partner->is_offered && process == spare_process(local, partner->rank, partner->tried)) {
      partner->offer_incarnation++; /* it may have accepted and greeted */
      GAB_TRY(offer_next(local, partner));
    }
    if (partner->is_down && partner->asking >= 0 &&
        process == (gab_process)local->setup.ranks + partner->asking) {
      partner->asking++;
      GAB_TRY(ask_spare(local, partner));
    }
    const gab_rank holder = holder_of(local, partner->rank);
    if (partner->is_down && holder != local->rank && gab_local_process(local, holder) == process)
      GAB_TRY(search(local, partner));
    if (local->state == GAB_LOCAL_OVER) return GAB_OK;
  }
  return GAB_OK;
}
