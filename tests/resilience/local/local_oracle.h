/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions about local recovery while a schedule runs (list in local_net.h). */
#ifndef GABION_TESTS_LOCAL_ORACLE_H
#define GABION_TESTS_LOCAL_ORACLE_H

#include "tests/resilience/local/local_net.h"

static bool is_section(const problem *problem, int step)
{
  if (problem->section_at == 0 || step < problem->section_at) return false;
  if (problem->section_end > 0 && step >= problem->section_end) return false;
  return step == problem->section_at ||
         (problem->section_every > 0 && (step - problem->section_at) % problem->section_every == 0);
}

/* Number of sections up to the one at the end of the step. */
static int sections_until(const problem *problem, int step)
{
  if (problem->section_at == 0 || step < problem->section_at) return 0;
  if (problem->section_end > 0 && step >= problem->section_end) step = problem->section_end - 1;
  return 1 + (problem->section_every > 0 ? (step - problem->section_at) / problem->section_every : 0);
}

static bool are_neighbours(const problem *problem, int step, gab_rank a, gab_rank b)
{
  const bool changed = problem->regrids && sections_until(problem, step) % 2 == 1;
  return changed ? problem->later[a][b] : problem->adjacent[a][b];
}

static simulated *process_of(world *w, gab_rank rank)
{
  for (gab_process process = 0; process < w->processes; process++) {
    simulated *p = &w->simulated[process];
    if (p->alive && gab_local_rank(p->local) == rank && gab_local_state_of(p->local) == GAB_LOCAL_ACTIVE)
      return p;
  }
  return NULL;
}

/* Checks the n-th message of a channel when it is sent (again) or delivered. */
static void check_message(world *w, gab_rank from, gab_rank to, int context, uint32_t n, uint64_t content,
                          bool is_made)
{
  if (n >= MOST_MESSAGES) {
    FAILED(w, "message %u of a channel", n);
    return;
  }
  uint64_t *known = &w->messages[from][to][context][n];
  if (is_made && *known == 0) *known = content;
  if (!is_made && n >= w->delivered[from][to][context]) w->delivered[from][to][context] = n + 1;
  if (w->problem->unsteady > 0 && *known != 0 && *known != content) {
    /* it differs after the first delivery, or the first one of a dead process is delivered late */
    if (!is_made || n < w->delivered[from][to][context]) w->out.differs = true;
    if (is_made) *known = content;
    return;
  }
  if (*known == 0) FAILED(w, "rank %d got message %u of rank %d before it was made", (int)to, n, (int)from);
  else if (*known != content)
    FAILED(w, "message %u from rank %d to rank %d in context %d %s otherwise", n, (int)from, (int)to, context,
           is_made ? "was made" : "was delivered");
}

static bool is_inner(const world *w, gab_rank a, gab_rank b)
{
  return w->problem->clusters && w->problem->cluster[a] == w->problem->cluster[b];
}

/* A unique number of the life of a process. */
static uint32_t life_of(const simulated *p) { return 8 + 64 * (uint32_t)p->process + (uint32_t)p->restored; }

/* Messages within a cluster contain the life of their sender; logged ones must not. */
static uint32_t pattern_of(const simulated *p, gab_rank to)
{
  return is_inner(p->world, gab_local_rank(p->local), to) ? life_of(p) : 7;
}

static bool has_pattern(simulated *p, gab_rank from, uint32_t pattern)
{
  if (!is_inner(p->world, from, gab_local_rank(p->local))) return pattern == 7;
  if (p->inner_life[from] == 0) p->inner_life[from] = pattern;
  return pattern >= 8 && p->inner_life[from] == pattern;
}

/* A rank of its cluster has died. */
static bool has_reason(const world *w, const simulated *p)
{
  for (gab_rank s = 0; s < w->problem->ranks; s++)
    if (w->rank_deaths[s] > 0 && is_inner(w, s, gab_local_rank(p->local))) return true;
  return false;
}

/* An active process rolls back when it learns of a death, and when it learns of a later checkpoint. */
static int most_restores(const world *w, const simulated *p)
{
  return 1 + (has_reason(w, p) ? 2 * w->deaths : w->takeovers > 1);
}

/* Checks the present partners, neighbours or not; clusters have a separate tree (local_cluster.c). */
static void check_partners(const simulated *p)
{
  world *w = p->world;
  const problem *problem = w->problem;
  const gab_rank me = gab_local_rank(p->local);
  int partners = 0;
  for (gab_rank other = 0; other < problem->ranks; other++) {
    const bool is_relative = problem->holder[me] == other || problem->holder[other] == me ||
                             (me > 0 && (me - 1) / problem->children == other) ||
                             (other > 0 && (other - 1) / problem->children == me);
    const bool may = is_inner(w, me, other), has = gab_local_is_partner(p->local, other);
    const bool should = is_relative || are_neighbours(problem, p->app.step, me, other);
    if (other != me && has != should && !(has && may))
      FAILED(w, "rank %d is %s partner of rank %d in step %d", (int)other, has ? "a" : "no", (int)me,
             p->app.step);
    partners += has;
  }
  if (partners > w->out.most_partners) w->out.most_partners = partners;
}

/* After a single death all sent messages are known to others: a rank that was restored or rolled back has caught up
 * when it has recomputed them. */
static void check_behind(world *w)
{
  for (gab_process process = 0; process < w->processes && w->plan->death_count == 1; process++) {
    const simulated *p = &w->simulated[process];
    if (!p->alive || p->restored == 0 || gab_local_state_of(p->local) != GAB_LOCAL_ACTIVE) continue;
    const gab_rank me = gab_local_rank(p->local);
    bool is_behind = false;
    if (w->problem->regrids && p->app.regridded < sections_until(w->problem, p->app.step))
      continue; /* at the entrance of a section it still has its former neighbours */
    for (gab_rank other = 0; other < w->problem->ranks; other++)
      for (int c = 0; c < CONTEXTS && are_neighbours(w->problem, p->app.step, me, other); c++)
        is_behind = is_behind || p->app.sent[other][c] < w->delivered[me][other][c];
    if (is_behind && !gab_local_is_behind(p->local))
      FAILED(w, "rank %d has caught up in step %d, too early", (int)me, p->app.step);
    w->out.met.caught_up += !is_behind && !gab_local_is_behind(p->local);
  }
}

static void check_decision(world *w, uint32_t n, uint64_t value)
{
  if (n == w->decided) w->decisions[w->decided++] = value;
  else if (n > w->decided || w->decisions[n] != value) FAILED(w, "decision %u was made otherwise", n);
}

static int taken_by_all(const world *w)
{
  int least = w->taken[0];
  for (gab_rank s = 1; s < w->problem->ranks; s++)
    if (w->taken[s] < least) least = w->taken[s];
  return least;
}

/* Ends excuses when each active process knows the commit of that checkpoint, or was restored from a later one. */
static void end_excuses(world *w)
{
  const int sure = taken_by_all(w) - w->problem->checkpoint_every;
  if (sure >= 0) w->excuses.no_checkpoint = false;
  for (gab_rank s = 0; s < w->problem->ranks; s++)
    if (w->healings[s].ill && w->healings[s].across) return;
  if (sure >= w->section_checkpoint) w->excuses.section = false;
}

/* Clusters take checkpoints at different steps, except common ones. */
static bool takes_own(const problem *problem, gab_rank rank, int step)
{
  const int cluster = problem->clusters ? (int)problem->cluster[rank] : (int)rank;
  if (problem->own_every == 0 || step % problem->checkpoint_every == 0) return false;
  return step % problem->own_every == cluster % problem->own_every;
}

static void note_taken_in_cluster(world *w, gab_rank rank, int step)
{
  int before = step - 1;
  while (before >= 0 && before % w->problem->checkpoint_every != 0 && !takes_own(w->problem, rank, before))
    before--;
  for (gab_rank s = 0; s < w->problem->ranks && w->problem->own_every > 0; s++)
    if ((s == rank || is_inner(w, s, rank)) && w->taken_any[s] < before)
      FAILED(w, "rank %d took checkpoint %d before rank %d of its cluster took %d", (int)rank, step, (int)s,
             before);
  if (step > w->taken_any[rank]) w->taken_any[rank] = step;
}

static void note_taken(world *w, gab_rank rank, int step, bool own)
{
  const int before = step - w->problem->checkpoint_every;
  for (gab_rank s = 0; s < w->problem->ranks && !own; s++)
    if (w->taken[s] < before)
      FAILED(w, "rank %d took checkpoint %d before rank %d took %d", (int)rank, step, (int)s, before);
  note_taken_in_cluster(w, rank, step);
  if (step > w->taken[rank] && !own) w->taken[rank] = step;
  healing *healing = &w->healings[rank];
  if (healing->ill && healing->restored) *healing = (struct healing){0};
  end_excuses(w);
}

/* A restored rank takes no checkpoint before hashes of all omitted messages are compared. If only one rank was
 * restored all can be compared (judge_comparison() in local_schedule.h). */
static void check_compared(const simulated *p)
{
  world *w = p->world;
  if (!w->problem->verify || w->problem->clusters || w->plan->death_count > 1 || p->restored == 0) return;
  const uint64_t left_out = gab_local_statistics(p->local).left_out;
  uint64_t compared = 0;
  for (gab_process process = 0; process < w->processes; process++)
    compared += gab_local_statistics(w->simulated[process].local).compared;
  if (compared != left_out)
    FAILED(w, "rank %d took a checkpoint when %lu of %lu messages that it had left out were compared",
           (int)gab_local_rank(p->local), (unsigned long)compared, (unsigned long)left_out);
}

/* Counts the situations that schedules reach. */
static void count_situations(world *w, const simulated *dead, gab_rank rank)
{
  const problem *problem = w->problem;
  const gab_step committed = gab_local_committed(dead->local);
  int newest = -1;
  for (gab_rank s = 0; s < problem->ranks; s++)
    if (w->taken[s] > newest) newest = w->taken[s];
  for (gab_rank s = 0; s < problem->ranks; s++) {
    const simulated *other = process_of(w, s);
    if (!other || s == rank) continue;
    const bool is_behind = other->restored > 0 && other->own < 0 && newest > other->line;
    w->out.met.behind += is_behind && are_neighbours(problem, other->app.step, s, rank);
    w->out.met.holder += is_behind && problem->holder[s] == rank;
  }
  w->out.met.uncommitted += dead->restored > 0 && dead->own >= 0 && committed < dead->own;
  const int sections = dead->app.regridded;
  bool former = false;
  for (gab_rank s = 0; s < problem->ranks && sections > 0; s++)
    former = former || (s != rank && problem->adjacent[s][rank] != problem->later[s][rank] &&
                        !gab_local_is_partner(dead->local, s));
  w->out.met.regridded += sections > 0 && dead->computed < problem->section_end;
  w->out.met.former += former;
}

/* Excuses by a death, evaluated when it happens. */
static void note_death(world *w, const simulated *dead)
{
  const gab_rank rank = gab_local_rank(dead->local);
  const problem *problem = w->problem;
  if (rank == GAB_NO_RANK) return;
  count_situations(w, dead, rank);
  const int sure = taken_by_all(w) - problem->checkpoint_every; /* all ranks know its commit */
  if (sure < 0) w->excuses.no_checkpoint = true;
  const bool across = w->arrived_most > 0 && sure < w->section_checkpoint;
  if (across) w->excuses.section = true;
  for (gab_rank other = 0; other < problem->ranks; other++) {
    const bool is_holder = problem->holder[rank] == other, is_protected = problem->holder[other] == rank;
    if (is_holder && (w->healings[other].ill || w->renewals[rank].rounds > 0)) w->excuses.holder_lost = true;
    if (is_protected && w->healings[other].ill) w->excuses.holder_lost = true;
  }
  for (gab_rank protected_rank = 0; protected_rank < problem->ranks; protected_rank++)
    if (problem->holder[protected_rank] == rank) w->renewals[protected_rank] = (renewal){.rounds = 3};
  w->two_lost = w->two_lost || w->excuses.holder_lost;
  w->healings[rank] = (healing){.ill = true, .across = across};
  w->rank_deaths[rank]++;
}

/* Follows the round trips between a restored holder and its protected ranks. */
static void follow_control(world *w, int from, int to, bool is_fresh)
{
  for (gab_rank protected_rank = 0; protected_rank < w->problem->ranks; protected_rank++) {
    renewal *renewal = &w->renewals[protected_rank];
    if (renewal->rounds == 0) continue;
    const simulated *holder = process_of(w, w->problem->holder[protected_rank]),
                    *active = process_of(w, protected_rank);
    if (!holder || !active || holder->restored == 0) continue;
    if (holder->process == from && active->process == to && is_fresh) renewal->asked = true;
    const lane *back = &w->lanes[active->process][holder->process][GAB_LOCAL_CONTROL];
    if (renewal->asked && renewal->marker == 0) renewal->marker = back->sent;
    if (renewal->marker > 0 && back->delivered >= renewal->marker) {
      renewal->rounds--;
      renewal->asked = false;
      renewal->marker = 0;
    }
  }
}

static bool pool_is_empty(const world *w)
{
  for (gab_process process = (gab_process)w->problem->ranks; process < w->processes; process++)
    if (w->simulated[process].alive && gab_local_rank(w->simulated[process].local) == GAB_NO_RANK)
      return false;
  return true;
}

static void judge_hand_over(world *w)
{
  bool may = false;
  switch (w->out.reason) {
  case GAB_LOCAL_NO_CHECKPOINT:
    may = w->excuses.no_checkpoint;
    break;
  case GAB_LOCAL_HOLDER_LOST:
    may = w->excuses.holder_lost;
    break;
  case GAB_LOCAL_POOL_EMPTY:
    may = pool_is_empty(w);
    break;
  case GAB_LOCAL_GLOBAL_SECTION:
    may = w->excuses.section;
    break;
  default:
    break;
  }
  if (!may)
    FAILED(w, "handed over without need: %s, %d deaths", gab_local_reason_name(w->out.reason), w->deaths);
}

typedef struct wanted {
  world *world;
  gab_step checkpoint;
  bool found;
} wanted;

static gab_status find_common(void *user, gab_step checkpoint, gab_reader image)
{
  wanted *wanted = user;
  (void)image;
  if (checkpoint % wanted->world->problem->checkpoint_every != 0)
    FAILED(wanted->world, "the image of step %d is of a cluster alone, and given to the next strategy",
           (int)checkpoint);
  wanted->found = wanted->found || checkpoint == wanted->checkpoint;
  return GAB_OK;
}

static bool keeps(world *w, gab_rank who, gab_rank rank, gab_step checkpoint)
{
  const simulated *p = process_of(w, who);
  wanted wanted = {.world = w, .checkpoint = checkpoint};
  for (gab_process process = 0; !p && process < w->processes; process++) /* a process that has handed over */
    if (w->simulated[process].alive && gab_local_rank(w->simulated[process].local) == who)
      p = &w->simulated[process];
  if (p && gab_local_each_image(p->local, rank, find_common, &wanted) != GAB_OK)
    FAILED(w, "%s", gab_error_message());
  return wanted.found;
}

/* Checks the images for the next strategy. */
static void check_common_images(world *w)
{
  gab_step newest = -1;
  for (gab_process process = 0; process < w->processes; process++)
    if (w->simulated[process].alive && gab_local_committed(w->simulated[process].local) > newest)
      newest = gab_local_committed(w->simulated[process].local);
  for (gab_rank s = 0; s < w->problem->ranks && newest >= 0 && !w->two_lost; s++)
    if (!keeps(w, s, s, newest) && !keeps(w, w->problem->holder[s], s, newest))
      FAILED(w, "the image of rank %d of common checkpoint %d is nowhere", (int)s, (int)newest);
}

static void check_active(world *w)
{
  for (gab_process a = 0; a < w->processes; a++) {
    const simulated *p = &w->simulated[a];
    if (!p->alive || gab_local_rank(p->local) == GAB_NO_RANK) continue;
    for (gab_process b = a + 1; b < w->processes; b++)
      if (w->simulated[b].alive && gab_local_rank(w->simulated[b].local) == gab_local_rank(p->local))
        FAILED(w, "processes %d and %d both run rank %d", (int)a, (int)b, (int)gab_local_rank(p->local));
  }
}

#endif
