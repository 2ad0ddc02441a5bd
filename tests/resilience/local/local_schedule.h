/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a schedule: starts the processes of local_net.h, executes events one by one, kills processes, and checks the
 * end. */
#ifndef GABION_TESTS_LOCAL_SCHEDULE_H
#define GABION_TESTS_LOCAL_SCHEDULE_H

#include "tests/resilience/local/local_app.h"

static void begin_process(world *w, gab_process process)
{
  const problem *problem = w->problem;
  simulated *p = &w->simulated[process];
  gab_rank neighbours[MOST_RANKS], protected_ranks[MOST_RANKS];
  gab_local_setup setup = {.ranks = problem->ranks,
                           .spares = problem->spares,
                           .process = process,
                           .contexts = CONTEXTS,
                           .ahead = problem->ahead,
                           .children = problem->children,
                           .copy_below = 64,
                           .verify = problem->verify,
                           .own_times = problem->own_every > 0,
                           .neighbours = neighbours,
                           .protected_ranks = protected_ranks};
  *p = (simulated){.world = w, .process = process, .alive = true, .computed = -1, .line = -1, .own = -1};
  for (gab_rank other = 0; other < problem->ranks && process < (gab_process)problem->ranks; other++) {
    if (problem->adjacent[process][other]) neighbours[setup.neighbour_count++] = other;
    if (problem->holder[other] == (gab_rank)process) protected_ranks[setup.protected_count++] = other;
  }
  const gab_local_transport transport = {.user = p, .send = net_send, .hand_over = net_hand_over};
  const gab_local_application application = {.user = p,
                                             .holder = app_holder,
                                             .cluster = problem->clusters ? app_cluster : NULL,
                                             .restore = app_restore,
                                             .differs = app_differs};
  if (gab_local_create(&setup, &transport, &application, &p->local) != GAB_OK)
    FAILED(w, "%s", gab_error_message());
  else if (process < (gab_process)problem->ranks) {
    p->app.value = mix((uint64_t)process, 17);
    p->app.place = AT_SECTION;
    wake(p);
  }
}

static void drop_parcels(lane *from, uint64_t keep)
{
  parcel **place = &from->first;
  while (*place && keep-- > 0) place = &(*place)->next;
  while (*place) {
    parcel *gone = *place;
    *place = gone->next;
    free(gone);
  }
  from->last = NULL;
  for (parcel *p = from->first; p; p = p->next) from->last = p;
}

/* Its sent messages may arrive later, up to some number; messages to it are lost. */
static void kill_process(world *w, gab_process process)
{
  simulated *dead = &w->simulated[process];
  if (!dead->alive) return;
  note_death(w, dead);
  w->deaths++;
  dead->alive = false;
  if (w->talks) printf("      process %d (rank %d) dies\n", (int)process, (int)gab_local_rank(dead->local));
  for (int i = w->source_count - 1; i >= 0; i--) {
    const source s = w->sources[i];
    const bool is_lane = s.kind == FROM_LANE;
    if (is_lane && s.a == process && s.b != process) {
      const uint64_t luck = gab_hash_counter(w->plan->seed, (uint64_t)(process * 64 + s.b), (uint64_t)s.c);
      if (luck % 2) drop_parcels(&w->lanes[s.a][s.b][s.c], luck / 2 % 4);
    }
    if (is_lane && s.b == process) drop_parcels(&w->lanes[s.a][s.b][s.c], 0);
    const bool is_empty = is_lane && !w->lanes[s.a][s.b][s.c].first;
    if (is_empty || (!is_lane && s.a == process)) remove_source(w, i);
  }
  for (gab_process other = 0; other < w->processes; other++)
    if (w->simulated[other].alive) tell_death(w, (int)other, (int)process);
}

static bool is_slow(const world *w, source s)
{
  switch (s.kind) {
  case FROM_LANE:
    return w->slow_lane[s.a][s.b][s.c];
  case FROM_APP:
    return w->slow_app[s.a];
  default:
    return w->slow_news;
  }
}

/* The message that is not received, held back until after all of its step and earlier steps. */
static bool is_held(const world *w, source s)
{
  const problem *problem = w->problem;
  if (s.kind != FROM_LANE || problem->extra_until == 0 || s.a != 3 || s.b != 4 || s.c != 1 + GHOSTS)
    return false;
  return w->left_at[problem->extra_until] == 0 &&
         w->lanes[s.a][s.b][s.c].first->number == (uint64_t)problem->extra + 2;
}

static bool is_late(const world *w, source s)
{
  if (is_held(w, s)) return true;
  return s.kind == FROM_DEATH && w->plan->late[s.b] && s.b < w->problem->ranks &&
         s.a != w->problem->holder[s.b];
}

/* The chosen source, or the next one that is not held back. */
static uint32_t not_late(const world *w, uint32_t chosen)
{
  for (int i = 0; i < w->source_count; i++) {
    const uint32_t next = (chosen + (uint32_t)i) % (uint32_t)w->source_count;
    if (!is_late(w, w->sources[next])) return next;
  }
  return chosen;
}

static uint32_t choose(world *w)
{
  const long event = w->out.events;
  if (w->plan->choices)
    return event < w->plan->choice_count ? w->plan->choices[event] % (uint32_t)w->source_count : 0;
  uint32_t chosen = 0;
  for (int tries = 0; tries < 4; tries++) {
    chosen = (uint32_t)(next_random(&w->random) % (uint64_t)w->source_count);
    if (!is_slow(w, w->sources[chosen])) break;
  }
  if (event >= w->noted_capacity) {
    w->noted_capacity = w->noted_capacity ? 2 * w->noted_capacity : 1024;
    w->noted = realloc(w->noted, (size_t)w->noted_capacity * sizeof *w->noted);
    if (!w->noted) abort();
  }
  w->noted[event] = chosen;
  return chosen;
}

/* As a reliable channel that has received a long payload separately. */
static gab_status hand_in(gab_local *local, gab_process source, uint32_t lane, const parcel *of)
{
  gab_buffer payload;
  if (of->number % 2 == 0 || of->bytes == of->head)
    return gab_local_deliver(local, source, lane, of->data, of->bytes, NULL);
  gab_buffer_init(&payload, GAB_MEMORY_MESSAGE);
  gab_status status = gab_put_bytes(&payload, of->data + of->head, of->bytes - of->head);
  if (status == GAB_OK) status = gab_local_deliver(local, source, lane, of->data, of->head, &payload);
  gab_buffer_release(&payload);
  return status;
}

/* Duplicates a logged message after those in transit, which sequence numbers must handle, although MPI does not
 * duplicate; not across a section in which neighbours change. */
static void repeat_sometimes(world *w, lane *on, const parcel *first)
{
  if (gab_hash_counter(w->plan->seed, first->number, (uint64_t)(on - &w->lanes[0][0][0])) % 16 != 0) return;
  parcel *again = malloc(sizeof *again + first->bytes);
  if (!again) abort();
  memcpy(again, first, sizeof *first + first->bytes);
  again->next = NULL;
  again->is_repeated = true;
  on->last->next = again;
  on->last = again;
}

static void deliver(world *w, source s, int place)
{
  lane *from = &w->lanes[s.a][s.b][s.c];
  parcel *first = from->first;
  simulated *to = &w->simulated[s.b];
  if (s.c != GAB_LOCAL_CONTROL && !first->is_repeated) repeat_sometimes(w, from, first);
  from->first = first->next;
  if (!from->first) remove_source(w, place);
  from->delivered = first->number;
  if (w->talks) {
    uint32_t word;
    memcpy(&word, first->data, sizeof word);
    printf("%5ld %s %d, number %lu: process %d to process %d\n", w->out.events,
           s.c ? "message of lane" : "control", s.c ? s.c : (int)word, (unsigned long)first->number, s.a,
           s.b);
  }
  const bool is_past = first->is_repeated && first->section != to->app.regridded;
  if (!is_past && hand_in(to->local, (gab_process)s.a, (uint32_t)s.c, first) != GAB_OK && !w->out.caught)
    FAILED(w, "%s", gab_error_message());
  free(first);
  wake(to);
  if (s.c == GAB_LOCAL_CONTROL) {
    const simulated *sender = &w->simulated[s.a];
    follow_control(w, s.a, s.b, sender->restored > 0 && w->out.events > sender->restored_at);
  }
}

static void happen(world *w)
{
  const int place = (int)not_late(w, choose(w));
  const source s = w->sources[place];
  if (s.kind == FROM_LANE) {
    deliver(w, s, place);
  } else if (s.kind == FROM_DEATH) {
    remove_source(w, place);
    if (w->talks) printf("%5ld process %d hears that process %d is dead\n", w->out.events, s.a, s.b);
    if (gab_local_peer_down(w->simulated[s.a].local, (gab_process)s.b) != GAB_OK)
      FAILED(w, "%s", gab_error_message());
    wake(&w->simulated[s.a]);
  } else {
    simulated *p = &w->simulated[s.a];
    bool moved = false;
    remove_source(w, place);
    p->queued = false;
    if (gab_local_state_of(p->local) != GAB_LOCAL_ACTIVE) return;
    if (w->talks)
      printf("%5ld rank %d: step %d, place %d\n", w->out.events, (int)gab_local_rank(p->local), p->app.step,
             (int)p->app.place);
    if (run_app(p, &moved) != GAB_OK) FAILED(w, "%s", gab_error_message());
    if (moved) wake(p);
  }
}

static bool is_extinct(const world *w)
{
  for (gab_process process = 0; process < w->processes; process++)
    if (w->simulated[process].alive && gab_local_rank(w->simulated[process].local) != GAB_NO_RANK)
      return false;
  return w->source_count == 0;
}

static bool is_done(world *w)
{
  for (gab_rank rank = 0; rank < w->problem->ranks; rank++) {
    const simulated *p = process_of(w, rank);
    if (!p || p->app.place != DONE) return false;
  }
  return true;
}

/* The values of all ranks after the last step, computed without processes. */
static void plain_loop(const world *w, uint64_t *values)
{
  const problem *problem = w->problem;
  uint64_t next[MOST_RANKS];
  uint32_t decisions = 0;
  for (gab_rank s = 0; s < problem->ranks; s++) values[s] = mix((uint64_t)s, 17);
  for (int step = 0; step < problem->steps; step++) {
    for (gab_rank s = 0; s < problem->ranks; s++) {
      if (is_section(problem, step)) values[s] = mix(values[s], 4242);
      if (is_due(step, problem->decide_every)) values[s] = mix(values[s], w->decisions[decisions]);
    }
    if (is_due(step, problem->decide_every)) decisions++;
    uint64_t total = 0;
    for (gab_rank s = 0; s < problem->ranks; s++) {
      next[s] = values[s];
      for (gab_rank n = 0; n < problem->ranks; n++)
        if (are_neighbours(problem, step, s, n)) next[s] = mix(next[s], mix(values[n], (uint64_t)s));
      next[s] = mix(next[s], (uint64_t)step);
      total += next[s];
    }
    for (gab_rank s = 0; s < problem->ranks; s++)
      values[s] = is_due(step + 1, problem->reduce_every) ? mix(next[s], total) : next[s];
  }
}

static void compare_with_plain_loop(world *w)
{
  uint64_t values[MOST_RANKS];
  plain_loop(w, values);
  for (gab_rank rank = 0; rank < w->problem->ranks; rank++)
    if (process_of(w, rank)->app.value != values[rank])
      FAILED(w, "rank %d ends with another value", (int)rank);
}

/* Of messages within a cluster only unsent ones are stored. */
static void check_clusters(world *w)
{
  for (gab_rank a = 0; a < w->problem->ranks; a++)
    for (gab_rank b = 0; b < w->problem->ranks; b++) {
      const simulated *p = process_of(w, a);
      if (a == b || !is_inner(w, a, b)) continue;
      const gab_msglog *msglog = gab_local_msglog(p->local);
      for (uint32_t c = 0; c < CONTEXTS; c++)
        if (gab_msglog_first(msglog, b, c) != gab_msglog_next(msglog, b, c))
          FAILED(w, "rank %d keeps messages to rank %d of its cluster", (int)a, (int)b);
      if (p->line != process_of(w, b)->line)
        FAILED(w, "rank %d went back to checkpoint %d, rank %d of its cluster to %d", (int)a, p->line, (int)b,
               process_of(w, b)->line);
    }
}

static void begin_world(world *w, const schedule *plan)
{
  w->plan = plan;
  w->problem = &plan->problem;
  w->processes = (gab_process)plan->problem.ranks + plan->problem.spares;
  w->random = plan->seed;
  const uint64_t mode = next_random(&w->random) % 5;
  w->slow_news = next_random(&w->random) % 3 == 0;
  for (gab_process a = 0; a < w->processes; a++) {
    w->slow_app[a] = mode & 1 && next_random(&w->random) % 3 == 0;
    for (gab_process b = 0; b < w->processes; b++)
      for (int c = 0; c < LANES; c++) w->slow_lane[a][b][c] = mode & 2 && next_random(&w->random) % 3 == 0;
  }
  for (gab_rank s = 0; s < plan->problem.ranks; s++) w->taken[s] = w->taken_any[s] = -1;
  for (gab_process process = 0; process < w->processes; process++) begin_process(w, process);
}

static void end_world(world *w)
{
  for (gab_process process = 0; process < w->processes; process++) {
    if (w->simulated[process].local) {
      const gab_local_stats stats = gab_local_statistics(w->simulated[process].local);
      w->out.stats.duplicates += stats.duplicates;
      w->out.stats.stale += stats.stale;
      w->out.stats.left_out += stats.left_out;
      w->out.stats.compared += stats.compared;
      w->out.stats.replayed += stats.replayed;
      w->out.stats.takeovers += stats.takeovers;
      w->out.stats.jumps += stats.jumps;
      w->out.stats.rollbacks += stats.rollbacks;
      w->out.stats.logged_bytes += stats.logged_bytes;
      w->out.stats.own_checkpoints += stats.own_checkpoints;
      w->out.stats.restored_messages += stats.restored_messages;
    }
    gab_local_destroy(&w->simulated[process].local);
    for (gab_process to = 0; to < w->processes; to++)
      for (int c = 0; c < LANES; c++) drop_parcels(&w->lanes[process][to][c], 0);
  }
  free(w->sources);
}

/* If only one rank was restored all omitted messages can be compared, since the receivers still have their hashes. */
static void judge_comparison(world *w)
{
  const outcome *out = &w->out;
  if (out->finished && w->problem->verify && w->plan->death_count <= 1 &&
      out->stats.compared != out->stats.left_out)
    FAILED(w, "%lu of %lu messages that were left out were compared", (unsigned long)out->stats.compared,
           (unsigned long)out->stats.left_out);
  if (!w->problem->verify && out->stats.compared > 0) FAILED(w, "compared without being asked to");
  if (w->problem->own_every > 0 && out->stats.jumps > 0)
    FAILED(w, "a rank jumped, though logs are in images");
  if (out->caught && !out->differs) FAILED(w, "what nobody had delivered is said to differ");
  if (out->finished && out->differs && w->problem->verify)
    FAILED(w, "a rank went on with messages that it has made otherwise");
}

static void talk_of_the_end(world *w)
{
  for (gab_rank rank = 0; rank < w->problem->ranks && w->talks; rank++) {
    const simulated *p = process_of(w, rank);
    if (!p) printf("      nobody runs rank %d\n", (int)rank);
    else
      printf("      rank %d: step %d, place %d, next %d, restored %d times, committed %d and %d\n", (int)rank,
             p->app.step, (int)p->app.place, (int)p->app.next, p->restored,
             (int)gab_local_committed(p->local), (int)gab_local_committed_in_cluster(p->local));
  }
}

static bool is_time(const world *w, int number)
{
  const int section = w->plan->behind[number];
  const long begin = section > 0 ? w->left_at[section] : 0;
  return (section == 0 || begin > 0) && begin + w->plan->deaths[number].event == w->out.events;
}

/* Runs a schedule. @param[out] noted the random choices, owned by the caller; may be NULL */
static outcome run_schedule(const schedule *plan, bool talks, uint32_t **noted)
{
  world *w = calloc(1, sizeof *w);
  if (!w) abort();
  w->talks = talks;
  begin_world(w, plan);
  while (!w->out.failure[0] && !w->out.over && !w->out.extinct && !w->out.caught && !w->out.gathers &&
         !(w->out.finished = is_done(w))) {
    for (int i = 0; i < plan->death_count; i++)
      if (is_time(w, i)) kill_process(w, plan->deaths[i].process);
    if (is_extinct(w)) w->out.extinct = true;
    else if (w->source_count == 0) FAILED(w, "deadlock: nothing is under way and nobody can go on");
    else happen(w);
    check_active(w);
    check_behind(w);
    if (++w->out.events >= MOST_EVENTS) FAILED(w, "it does not come to an end");
  }
  if (w->out.failure[0]) talk_of_the_end(w);
  if (w->out.finished && !plan->problem.unsteady) compare_with_plain_loop(w);
  if (w->out.finished) check_clusters(w);
  if (w->out.over && !w->out.failure[0]) judge_hand_over(w);
  if (plan->problem.own_every > 0) check_common_images(w);
  end_world(w);
  judge_comparison(w);
  if (noted) *noted = w->noted;
  else free(w->noted);
  const outcome out = w->out;
  free(w);
  return out;
}

#endif
