/* SPDX-License-Identifier: Apache-2.0 */
/* The stencil code of the simulated network of local_net.h: ghosts, a global sum, decisions, checkpoints, a global
 * section; and the plain loop for comparison. */
#ifndef GABION_TESTS_LOCAL_APP_H
#define GABION_TESTS_LOCAL_APP_H

#include "tests/resilience/local/local_oracle.h"

static gab_rank app_holder(void *user, gab_rank rank)
{
  const simulated *p = user;
  return p->world->problem->holder[rank];
}

static gab_rank app_cluster(void *user, gab_rank rank)
{
  const simulated *p = user;
  return p->world->problem->cluster[rank];
}

static gab_status app_restore(void *user, gab_rank rank, gab_step checkpoint, gab_reader image)
{
  simulated *p = user;
  world *w = p->world;
  if (p->process < (gab_process)w->problem->ranks && !has_reason(w, p))
    FAILED(w, "process %d restores, which was there from the start", (int)p->process);
  /* others have counted its arrival and may enter before it arrives again */
  if (p->app.arrived) w->excuses.section = true;
  const int regridded = p->app.regridded;
  GAB_TRY(gab_get_bytes(&image, &p->app, sizeof p->app));
  w->out.met.own += checkpoint % w->problem->checkpoint_every != 0;
  w->out.met.across += p->restored > 0 && p->app.regridded > regridded;
  check_partners(p);
  if (p->app.step != checkpoint)
    FAILED(w, "an image of step %d for checkpoint %d", p->app.step, (int)checkpoint);
  if (++p->restored > most_restores(w, p))
    FAILED(w, "rank %d restores %d times, without need", (int)rank, p->restored);
  if (p->restored == 1 && p->process >= (gab_process)w->problem->ranks) w->takeovers++;
  p->line = (int)checkpoint;
  p->own = -1;
  memset(p->inner_life, 0, sizeof p->inner_life);
  p->app.place = AT_DECISION;
  p->computed = p->app.step - 1;
  p->restored_at = w->out.events;
  w->healings[rank].restored = true;
  /* It restores a checkpoint after a section in which others still are, and which it had entered for them. */
  for (gab_process process = 0; w->problem->own_every > 0 && process < w->processes; process++)
    if (process != p->process && w->simulated[process].local) wake(&w->simulated[process]);
  if (w->talks)
    printf("      rank %d restores checkpoint %d at process %d\n", (int)rank, (int)checkpoint,
           (int)p->process);
  return GAB_OK;
}

static gab_status app_differs(void *user, const gab_local_difference *difference)
{
  simulated *p = user;
  const problem *problem = p->world->problem;
  p->world->out.caught = true;
  if (!problem->unsteady || difference->to != gab_local_rank(p->local) ||
      difference->label.step != problem->unsteady || difference->first_step != problem->unsteady ||
      difference->label.pattern != 7 ||
      difference->label.iteration != difference->number - p->app.begun[difference->from][GHOSTS] + 1)
    FAILED(p->world, "message %lu of rank %d, made in step %d, is said to differ",
           (unsigned long)difference->number, (int)difference->from, (int)difference->label.step);
  GAB_FAIL(GAB_ERR_CORRUPT, "made otherwise");
}

/* Additional words of a message: sizes differ between channels, some are below copy_below. */
static uint64_t further_words(gab_rank from, gab_rank to, int context)
{
  return context == GHOSTS ? (uint64_t)(from + to) % 3 * 8 : 0;
}

static gab_status send_value(simulated *p, gab_rank to, int context, uint64_t content)
{
  gab_buffer message;
  gab_buffer_init(&message, GAB_MEMORY_MESSAGE);
  const gab_rank me = gab_local_rank(p->local);
  const int unsteady = p->world->problem->unsteady;
  if (unsteady > 0 && p->app.step == unsteady && p->restored > 0 && context == GHOSTS) content++;
  check_message(p->world, me, to, context, p->app.sent[to][context]++, content, true);
  const gab_msglog_label label = {
      .step = p->app.step, .pattern = pattern_of(p, to), .iteration = p->app.sent[to][context]};
  gab_status status = gab_put_u64(&message, content);
  for (uint64_t i = 0; i < further_words(me, to, context) && status == GAB_OK; i++)
    status = gab_put_u64(&message, content + i);
  if (status == GAB_OK) status = gab_local_send(p->local, to, (uint32_t)context, &label, &message);
  gab_buffer_release(&message);
  return status;
}

/* Checks the complete message: a replay must be neither truncated nor from a reused buffer. */
static gab_status read_value(simulated *p, gab_rank from, int context, const gab_buffer *message,
                             uint64_t *content)
{
  const uint64_t further = further_words(from, gab_local_rank(p->local), context);
  gab_reader in = gab_reader_of_buffer(message);
  if (gab_reader_left(&in) != 8 * (1 + further)) {
    FAILED(p->world, "a message of %zu bytes from rank %d to rank %d in context %d, not of %zu",
           gab_reader_left(&in), (int)from, (int)gab_local_rank(p->local), context,
           (size_t)(8 * (1 + further)));
    return GAB_OK;
  }
  GAB_TRY(gab_get_u64(&in, content));
  for (uint64_t i = 0; i < further; i++) {
    uint64_t word;
    GAB_TRY(gab_get_u64(&in, &word));
    if (word != *content + i)
      FAILED(p->world, "word %lu of a message from rank %d to rank %d is another", (unsigned long)(1 + i),
             (int)from, (int)gab_local_rank(p->local));
  }
  return GAB_OK;
}

static gab_status receive_value(simulated *p, gab_rank from, int context, uint64_t *content, bool *there)
{
  gab_buffer message = {0};
  gab_msglog_label label;
  gab_status status = gab_local_receive(p->local, from, (uint32_t)context, &message, &label, there);
  if (status == GAB_OK && *there) {
    status = read_value(p, from, context, &message, content);
    check_message(p->world, from, gab_local_rank(p->local), context, p->app.received[from][context]++,
                  *content, false);
    if (!has_pattern(p, from, label.pattern))
      FAILED(p->world, "rank %d gets a message of rank %d in context %d from life %u of it",
             (int)gab_local_rank(p->local), (int)from, context, label.pattern);
    if (label.step != p->app.step || label.iteration != p->app.received[from][context])
      FAILED(p->world, "a message of step %d, iteration %lu in step %d, iteration %lu", (int)label.step,
             (unsigned long)label.iteration, p->app.step, (unsigned long)p->app.received[from][context]);
  }
  gab_buffer_release(&message);
  return status;
}

static gab_rank parent_of(const simulated *p)
{
  return (gab_local_rank(p->local) - 1) / p->world->problem->children;
}
static gab_rank first_child_of(const simulated *p)
{
  return gab_local_rank(p->local) * p->world->problem->children + 1;
}
static gab_rank end_of_children_of(const simulated *p)
{
  const gab_rank end = first_child_of(p) + p->world->problem->children;
  return end < p->world->problem->ranks ? end : p->world->problem->ranks;
}
static bool is_due(int step, int every) { return every > 0 && step % every == 0; }

/* Passes a number down the tree. */
static gab_status pass_down(simulated *p, uint64_t content)
{
  for (gab_rank child = first_child_of(p); child < end_of_children_of(p); child++)
    GAB_TRY(send_value(p, child, TREE, content));
  return GAB_OK;
}

/* Within the section all ranks get their new neighbours, and none leaves before, as with collectives. */
static gab_status regrid(simulated *p, bool *moved)
{
  world *w = p->world;
  const gab_rank me = gab_local_rank(p->local);
  const int section = sections_until(w->problem, p->app.step);
  if (p->app.regridded < section) {
    gab_rank neighbours[MOST_RANKS];
    int32_t count = 0;
    for (gab_rank other = 0; other < w->problem->ranks; other++) {
      if (!are_neighbours(w->problem, p->app.step, me, other)) continue;
      neighbours[count++] = other;
      for (int c = 0; c < CONTEXTS && !gab_local_is_partner(p->local, other); c++)
        p->app.begun[other][c] = ((uint64_t)section << 32) - p->app.received[other][c];
    }
    GAB_TRY(gab_local_set_neighbours(p->local, neighbours, count));
    p->app.regridded = section;
    check_partners(p);
    for (gab_process process = 0; process < w->processes; process++)
      if (process != p->process) wake(&w->simulated[process]);
  }
  for (gab_rank rank = 0; rank < w->problem->ranks && *moved; rank++) {
    const simulated *other = process_of(w, rank);
    *moved = other && other->app.regridded >= section;
  }
  return GAB_OK;
}

static gab_status at_section(simulated *p, bool *moved)
{
  app *app = &p->app;
  world *w = p->world;
  const bool is_end = app->place == AT_END;
  if (!is_end && !is_section(w->problem, app->step)) {
    app->place = AT_CHECKPOINT;
    return GAB_OK;
  }
  const int section = sections_until(w->problem, app->step - is_end) + is_end;
  if (!app->arrived && section > w->arrived_most) {
    w->arrived_most = section;
    w->section_checkpoint = is_end ? 1000000 : app->step;
  }
  if (!app->arrived && !gab_local_is_settled(p->local)) { /* as a run does before it enters */
    *moved = false;
    return GAB_OK;
  }
  app->arrived = true;
  GAB_TRY(gab_local_arrive(p->local));
  *moved = gab_local_is_inside(p->local);
  if (*moved && !is_end && w->problem->regrids) {
    w->out.gathers = w->takeovers > 0 && !w->problem->stays;
    if (w->out.gathers) return GAB_OK;
    GAB_TRY(regrid(p, moved));
  }
  if (!*moved) return GAB_OK;
  app->arrived = false;
  /* messages to it within the section are lost, unless all inside are dead */
  bool has_witness = false;
  for (gab_process process = 0; process < w->processes; process++)
    has_witness = has_witness || (w->simulated[process].alive && w->simulated[process].passed >= section);
  if (has_witness && section <= w->passed[gab_local_rank(p->local)])
    FAILED(w, "rank %d passes section %d again", (int)gab_local_rank(p->local), section);
  p->passed = section;
  if (w->left_at[section] == 0) w->left_at[section] = w->out.events + 1;
  w->passed[gab_local_rank(p->local)] = section;
  if (is_end) {
    app->place = DONE;
    return GAB_OK;
  }
  app->value = mix(app->value, 4242);
  app->place = AT_CHECKPOINT;
  return gab_local_leave(p->local);
}

enum { WHY = 7 };

/* All ranks must know the same answer to a stop request in time, although rank 0 might answer differently in each
 * life. */
static bool check_stop(simulated *p)
{
  world *w = p->world;
  const problem *problem = w->problem;
  const int step = p->app.step, before = step - problem->checkpoint_every, special = problem->stop_behind;
  uint64_t why;
  if (step > 0 && !gab_local_stops(p->local, &why)) return false;
  if (step > 0 && special > 0 && before == special && w->answer == 0) w->answer = why ? WHY : -1;
  const uint64_t right = special > 0 && before == special && w->answer == WHY ? WHY : 0;
  if (step > 0 && why != right)
    FAILED(w, "rank %d at checkpoint %d: told %lu of stopping", (int)gab_local_rank(p->local), step,
           (unsigned long)why);
  if (gab_local_rank(p->local) != 0) return true;
  const bool wants = special > 0 && step == special && mix((uint64_t)w->out.events, 77) % 2;
  if (gab_local_answer(p->local, step, wants ? WHY : 0) != GAB_OK) FAILED(w, "%s", gab_error_message());
  return true;
}

static gab_status at_checkpoint(simulated *p, bool *moved)
{
  app *app = &p->app;
  const bool own = takes_own(p->world->problem, gab_local_rank(p->local), app->step);
  if (own || is_due(app->step, p->world->problem->checkpoint_every)) {
    gab_buffer image;
    const bool may = own || check_stop(p); /* otherwise the attempt must be refused */
    const uint64_t kept = gab_msglog_statistics(gab_local_msglog(p->local)).messages;
    gab_buffer_init(&image, GAB_MEMORY_OTHER);
    gab_status status = gab_put_bytes(&image, app, sizeof *app);
    if (status == GAB_OK)
      status = (own ? gab_local_checkpoint_own : gab_local_checkpoint)(p->local, app->step, &image, moved);
    gab_buffer_release(&image);
    if (status != GAB_OK || !*moved) return status;
    if (!may)
      FAILED(p->world, "rank %d took checkpoint %d and does not know that all have the last one",
             (int)gab_local_rank(p->local), app->step);
    note_taken(p->world, gab_local_rank(p->local), app->step, own);
    if (kept > p->world->out.most_kept) p->world->out.most_kept = kept;
    if (p->own < 0) p->own = app->step;
    check_compared(p);
  }
  app->place = AT_DECISION;
  return GAB_OK;
}

/* Rank 0 reads the clock; the others get the decision along the tree. */
static gab_status at_decision(simulated *p, bool *moved)
{
  app *app = &p->app;
  const gab_rank me = gab_local_rank(p->local);
  uint64_t value = 0;
  if (is_due(app->step, p->world->problem->decide_every)) {
    if (me == 0)
      GAB_TRY(gab_local_decide(p->local, mix((uint64_t)p->world->out.events, 99) | 1, &value, moved));
    else GAB_TRY(receive_value(p, parent_of(p), TREE, &value, moved));
    if (!*moved) return GAB_OK;
    check_decision(p->world, app->decisions++, value);
    app->value = mix(app->value, value);
    GAB_TRY(pass_down(p, value));
  }
  app->place = AT_SEND;
  return GAB_OK;
}

static gab_status at_send(simulated *p)
{
  app *app = &p->app;
  const gab_rank me = gab_local_rank(p->local);
  for (gab_rank other = 0; other < p->world->problem->ranks; other++)
    if (are_neighbours(p->world->problem, app->step, me, other))
      GAB_TRY(send_value(p, other, GHOSTS, mix(app->value, (uint64_t)other)));
  if (p->world->problem->extra > 0 && p->world->problem->extra == app->step && me == 3)
    GAB_TRY(send_value(p, 4, GHOSTS, 1));
  app->partial = app->value;
  app->next = 0;
  app->place = AT_RECEIVE;
  return GAB_OK;
}

static void finish_step(simulated *p)
{
  app *app = &p->app;
  if (app->step != p->computed + 1)
    FAILED(p->world, "process %d computes step %d after %d", (int)p->process, app->step, p->computed);
  p->computed = app->step++;
  app->place = app->step == p->world->problem->steps ? AT_END : AT_SECTION;
}

static gab_status at_receive(simulated *p, bool *moved)
{
  app *app = &p->app;
  const problem *problem = p->world->problem;
  const gab_rank me = gab_local_rank(p->local);
  while (app->next < problem->ranks && !are_neighbours(problem, app->step, me, app->next)) app->next++;
  if (app->next < problem->ranks) {
    uint64_t ghost = 0;
    GAB_TRY(receive_value(p, app->next, GHOSTS, &ghost, moved));
    if (*moved) app->partial = mix(app->partial, ghost), app->next++;
    return GAB_OK;
  }
  app->value = mix(app->partial, (uint64_t)app->step);
  if (is_due(app->step + 1, problem->reduce_every)) {
    app->total = app->value;
    app->next = first_child_of(p);
    app->place = AT_SUM;
  } else finish_step(p);
  return GAB_OK;
}

static gab_status at_sum(simulated *p, bool *moved)
{
  app *app = &p->app;
  const gab_rank me = gab_local_rank(p->local);
  if (app->next < end_of_children_of(p)) {
    uint64_t part = 0;
    GAB_TRY(receive_value(p, app->next, TREE, &part, moved));
    if (*moved) app->total += part, app->next++;
    return GAB_OK;
  }
  if (me > 0) GAB_TRY(send_value(p, parent_of(p), TREE, app->total));
  app->place = AT_TOTAL;
  return GAB_OK;
}

static gab_status at_total(simulated *p, bool *moved)
{
  app *app = &p->app;
  const gab_rank me = gab_local_rank(p->local);
  if (me > 0) GAB_TRY(receive_value(p, parent_of(p), TREE, &app->total, moved));
  if (!*moved) return GAB_OK;
  GAB_TRY(pass_down(p, app->total));
  app->value = mix(app->value, app->total);
  finish_step(p);
  return GAB_OK;
}

static gab_status run_app(simulated *p, bool *moved)
{
  *moved = true;
  switch (p->app.place) {
  case AT_SECTION:
  case AT_END:
    return at_section(p, moved);
  case AT_CHECKPOINT:
    return at_checkpoint(p, moved);
  case AT_DECISION:
    return at_decision(p, moved);
  case AT_SEND:
    return at_send(p);
  case AT_RECEIVE:
    return at_receive(p, moved);
  case AT_SUM:
    return at_sum(p, moved);
  case AT_TOTAL:
    return at_total(p, moved);
  default:
    *moved = false;
    return GAB_OK;
  }
}

#endif
