/* An adversary for local recovery: many processes in one, a network that delays and reorders whatever it may,
 * deaths at any event, and a small stencil code that computes with it. What is asserted knows the application
 * and the events, not the machine:
 *
 *  - the n-th message of a channel is the same whenever it is made or delivered, by whichever life of a slot;
 *  - decisions, which follow a clock that never shows the same twice, are the same for all, always;
 *  - no slot passes a global section twice, no replay is further ahead than it may;
 *  - who was there from the start restores nothing and computes no step twice, unless a slot of its cluster has died; who
 * restores a second time has a reason;
 *  - what one life of a slot delivers of another one of its cluster was made in one life of that, and is not kept there;
 * when all is over, all slots of a cluster went back to the same checkpoint last;
 *  - no two living processes play one slot; nobody takes a checkpoint before all have taken the last one but
 * one;
 *  - if nothing is under way and nobody can go on, the run is over;
 *  - at the end every slot has the value that a plain loop without processes gives;
 *  - a slot that makes a message otherwise than before its death (problem.unsteady) is caught exactly if somebody has
 *    delivered the first one: the run does not end then;
 *  - or the run was handed over to the next strategy in a situation where that may be (struct excuses).
 *
 * A schedule is a list of deaths and a list of choices: which of the things that can happen next does happen.
 * Choice 0 is what has waited longest, so a schedule without choices is an orderly run, and shrinking is to
 * leave out. */
#ifndef GABION_TESTS_LOCAL_NET_H
#define GABION_TESTS_LOCAL_NET_H

#include "resilience/local/local.h"

#include "core/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_SLOTS = 9,
  MOST_SEATS = 14,
  MOST_DEATHS = 8,
  MOST_STEPS = 32,
  MOST_MESSAGES = 4 * MOST_STEPS, /* of a channel */
  LANES = 3,
  CONTEXTS = 2,
  GHOSTS = 0,
  TREE = 1,
  MOST_EVENTS = 100000
};

/* ---------------------------------------------------------------- what is run */

typedef struct problem {
  gab_slot slots;
  gab_seat spares;
  bool adjacent[MOST_SLOTS][MOST_SLOTS];
  gab_slot holder[MOST_SLOTS];
  gab_slot cluster[MOST_SLOTS]; /* of each slot, with `clusters`; without, each is one by itself */
  bool clusters;
  int steps, checkpoint_every, reduce_every, decide_every;
  int section_at; /* a checkpoint step with a global section before it; 0: none */
  bool regrids;   /* behind it neighbours are those of `later` */
  bool later[MOST_SLOTS][MOST_SLOTS];
  int stop_behind; /* a checkpoint: at the next one all have to know that they are to stop, though they go on here; 0: none */
  uint64_t ahead;
  bool verify;  /* hashes of what is left out are compared */
  int unsteady; /* who came back makes its ghosts of this step otherwise; 0: nobody does */
} problem;

typedef struct death {
  long event;
  gab_seat seat;
} death;

typedef struct schedule {
  uint64_t seed; /* of what is lost with a dead process, and of random choices */
  problem problem;
  death deaths[MOST_DEATHS];
  int death_count;
  bool late
      [MOST_SEATS]; /* of the death of that seat nobody hears as long as anything else can happen, but who holds its slot */
  uint32_t *choices; /* NULL: made at random, and noted in `noted` */
  long choice_count;
} schedule;

/* ---------------------------------------------------------------- the network and its processes */

typedef struct parcel {
  struct parcel *next;
  uint64_t number;  /* on its lane, from 1 */
  bool is_repeated; /* by the network */
  bool is_replayed; /* by the sender, which says so in the last byte of the head */
  size_t bytes;
  unsigned char data[];
} parcel;

typedef struct lane {
  parcel *first, *last;
  uint64_t sent, delivered;
} lane;

typedef enum source_kind { FROM_LANE, FROM_APP, FROM_DEATH } source_kind;

/* Something that can happen next. */
typedef struct source {
  source_kind kind;
  int a, b, c; /* lane: source, target, lane; application: process; death: who is told, who died */
} source;

typedef enum place {
  AT_SECTION,
  AT_CHECKPOINT,
  AT_DECISION,
  AT_SPREAD,
  AT_SEND,
  AT_RECEIVE,
  AT_SUM,
  AT_TOTAL,
  AT_END,
  DONE
} place;

/* The application of one process: value and step are its state, the rest says where in the step it is. */
typedef struct app {
  uint64_t value, partial, total;
  int step;
  place place;
  gab_slot next; /* neighbour or child that is due */
  uint32_t sent[MOST_SLOTS][CONTEXTS], received[MOST_SLOTS][CONTEXTS];
  uint32_t decisions;
  bool arrived, regridded;
} app;

typedef struct process {
  struct world *world;
  gab_local *local;
  gab_seat seat;
  bool alive, queued; /* queued: its application is among the sources */
  app app;
  int computed; /* the last step that it finished, -1: none */
  int restored; /* how often */
  int line;     /* the checkpoint that it restored last; -1: none */
  uint32_t inner_life
      [MOST_SLOTS]; /* of the slots of its cluster: whose messages it has got in this life; 0: none yet */
  int passed;       /* global sections */
  long restored_at;
} process;

/* After a death of a slot: how far it is until nothing that hangs on it can be lost by one more death. */
typedef struct healing {
  bool ill;
  bool restored; /* somebody plays it again */
} healing;

/* A holder that came back needs three round trips with a ward before it surely has its copies. */
typedef struct renewal {
  int rounds;
  bool asked;      /* a control message of the new holder has come to the ward */
  uint64_t marker; /* of the ward's answer on its lane; 0: none yet */
} renewal;

typedef struct outcome {
  bool finished, over;
  bool extinct; /* no player is left: nobody to recover anything */
  bool differs; /* a message was made otherwise, and the first one was delivered */
  bool caught;  /* the machine says so */
  bool
      gathers; /* neighbours are to change, and somebody came back before: that is for a new generation of machines */
  gab_local_reason reason;
  long events;
  char failure[400];
  gab_local_stats stats;
} outcome;

typedef struct world {
  const schedule *plan;
  const problem *problem;
  gab_seat seats;
  process processes[MOST_SEATS];
  lane lanes[MOST_SEATS][MOST_SEATS][LANES];
  source *sources;
  int source_count, source_capacity;
  uint64_t random;
  bool slow_lane[MOST_SEATS][MOST_SEATS][LANES], slow_app[MOST_SEATS], slow_news;
  uint32_t *noted;
  long noted_capacity;
  bool talks;
  outcome out;
  /* the oracle */
  uint64_t messages[MOST_SLOTS][MOST_SLOTS][CONTEXTS][MOST_MESSAGES]; /* 0: not made yet */
  uint64_t decisions[MOST_STEPS + 1];
  uint32_t decided;
  int answer; /* of slot 0 at the checkpoint stop_behind: WHY, or -1: go on; 0: nobody knows yet */
  uint32_t delivered[MOST_SLOTS][MOST_SLOTS][CONTEXTS]; /* so many of a channel */
  int taken[MOST_SLOTS];                                /* the newest checkpoint that the slot ever took */
  int passed[MOST_SLOTS];                               /* sections that the slot has passed */
  int arrived_most;                                     /* sections at which somebody arrived */
  int section_checkpoint;                               /* that closes the newest of them */
  healing healings[MOST_SLOTS];
  renewal renewals[MOST_SLOTS]; /* of the ward's copies */
  int deaths, takeovers;
  int slot_deaths[MOST_SLOTS];
  struct {
    bool no_checkpoint, holder_lost, section;
  } excuses;
} world;

static inline uint64_t mix(uint64_t a, uint64_t b) { return gab_hash_counter(a, b, 0x5ca1ab1e); }

static uint64_t next_random(uint64_t *state) { return *state = mix(*state, 1); }

#define FAILED(world, ...)                                                                                   \
  do {                                                                                                       \
    if (!(world)->out.failure[0]) snprintf((world)->out.failure, sizeof(world)->out.failure, __VA_ARGS__);   \
  } while (0)

static void add_source(world *w, source added)
{
  if (w->source_count == w->source_capacity) {
    w->source_capacity = w->source_capacity ? 2 * w->source_capacity : 64;
    w->sources = realloc(w->sources, (size_t)w->source_capacity * sizeof *w->sources);
    if (!w->sources) abort();
  }
  w->sources[w->source_count++] = added;
}

static void remove_source(world *w, int place)
{
  w->source_count--;
  memmove(&w->sources[place], &w->sources[place + 1], (size_t)(w->source_count - place) * sizeof *w->sources);
}

static bool has_news(const world *w, int observer, int dead)
{
  for (int i = 0; i < w->source_count; i++)
    if (w->sources[i].kind == FROM_DEATH && w->sources[i].a == observer && w->sources[i].b == dead)
      return true;
  return false;
}

static void tell_death(world *w, int observer, int dead)
{
  if (!has_news(w, observer, dead)) add_source(w, (source){FROM_DEATH, observer, dead, 0});
}

static void wake(process *p)
{
  if (p->queued || !p->alive || gab_local_state_of(p->local) != GAB_LOCAL_PLAYING || p->app.place == DONE)
    return;
  p->queued = true;
  add_source(p->world, (source){FROM_APP, (int)p->seat, 0, 0});
}

/* A replay does not flood its target: at most `ahead` of one life, and what is left of the life before; of several lives
 * where clusters go back. */
static void check_window(world *w, const lane *to, const parcel *added, uint64_t lives)
{
  uint64_t many = added->is_replayed;
  for (const parcel *p = to->first; p; p = p->next) many += p->is_replayed && !p->is_repeated;
  if (many > lives * w->problem->ahead)
    FAILED(w, "%lu replayed messages are under way on one channel", (unsigned long)many);
}

static gab_status net_send(void *user, gab_seat target, uint32_t which, const gab_buffer *head,
                           const void *payload, size_t bytes, gab_journal_entry *entry)
{
  process *from = user;
  world *w = from->world;
  (void)entry;
  if (target < 0 || target >= w->seats || target == from->seat || which >= LANES) {
    FAILED(w, "seat %d sends to seat %d in lane %u", (int)from->seat, (int)target, which);
    return GAB_OK;
  }
  if (!w->processes[target].alive) {
    tell_death(w, (int)from->seat, (int)target);
    return GAB_OK;
  }
  parcel *made = malloc(sizeof *made + head->size + bytes);
  if (!made) abort();
  lane *to = &w->lanes[from->seat][target][which];
  made->next = NULL;
  made->number = ++to->sent;
  made->is_repeated = false;
  made->is_replayed = which != GAB_LOCAL_CONTROL && head->data[head->size - 1] != 0;
  check_window(w, to, made,
               2 + (w->problem->clusters ? (uint64_t)(from->restored + w->processes[target].restored) : 0));
  made->bytes = head->size + bytes;
  memcpy(made->data, head->data, head->size);
  if (bytes > 0) memcpy(made->data + head->size, payload, bytes);
  if (to->first) to->last->next = made;
  else {
    to->first = made;
    add_source(w, (source){FROM_LANE, (int)from->seat, (int)target, (int)which});
  }
  to->last = made;
  return GAB_OK;
}

static void net_hand_over(void *user, gab_local_reason reason, gab_slot slot)
{
  process *from = user;
  world *w = from->world;
  if (w->talks)
    printf("      seat %d hands over: %s, slot %d\n", (int)from->seat, gab_local_reason_name(reason),
           (int)slot);
  if (w->out.over) return;
  w->out.over = true;
  w->out.reason = reason;
}

/* ---------------------------------------------------------------- the oracle */

static process *player_of(world *w, gab_slot slot)
{
  for (gab_seat seat = 0; seat < w->seats; seat++) {
    process *p = &w->processes[seat];
    if (p->alive && gab_local_slot(p->local) == slot && gab_local_state_of(p->local) == GAB_LOCAL_PLAYING)
      return p;
  }
  return NULL;
}

/* The n-th message of a channel: made (again), or delivered. */
static void check_message(world *w, gab_slot from, gab_slot to, int context, uint32_t n, uint64_t content,
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
    /* made otherwise behind the delivery, or delivered behind that: what a dead process had sent arrives late */
    if (!is_made || n < w->delivered[from][to][context]) w->out.differs = true;
    if (is_made) *known = content;
    return;
  }
  if (*known == 0) FAILED(w, "slot %d got message %u of slot %d before it was made", (int)to, n, (int)from);
  else if (*known != content)
    FAILED(w, "message %u from slot %d to slot %d in context %d %s otherwise", n, (int)from, (int)to, context,
           is_made ? "was made" : "was delivered");
}

static bool is_inner(const world *w, gab_slot a, gab_slot b)
{
  return w->problem->clusters && w->problem->cluster[a] == w->problem->cluster[b];
}

/* Tells the lives of processes apart. */
static uint32_t life_of(const process *p) { return 8 + 64 * (uint32_t)p->seat + (uint32_t)p->restored; }

/* Messages within a cluster say in which life of their sender they were made, which those that are logged must not. */
static uint32_t pattern_of(const process *p, gab_slot to)
{
  return is_inner(p->world, gab_local_slot(p->local), to) ? life_of(p) : 7;
}

static bool has_pattern(process *p, gab_slot from, uint32_t pattern)
{
  if (!is_inner(p->world, from, gab_local_slot(p->local))) return pattern == 7;
  if (p->inner_life[from] == 0) p->inner_life[from] = pattern;
  return pattern >= 8 && p->inner_life[from] == pattern;
}

/* A slot of its cluster has died. */
static bool has_reason(const world *w, const process *p)
{
  for (gab_slot s = 0; s < w->problem->slots; s++)
    if (w->slot_deaths[s] > 0 && is_inner(w, s, gab_local_slot(p->local))) return true;
  return false;
}

/* Whoever plays goes back when it hears of a death, and when it hears of a later checkpoint. */
static int most_restores(const world *w, const process *p)
{
  return 1 + (has_reason(w, p) ? 2 * w->deaths : w->takeovers > 1);
}

static void check_decision(world *w, uint32_t n, uint64_t value)
{
  if (n == w->decided) w->decisions[w->decided++] = value;
  else if (n > w->decided || w->decisions[n] != value) FAILED(w, "decision %u was made otherwise", n);
}

static int taken_by_all(const world *w)
{
  int least = w->taken[0];
  for (gab_slot s = 1; s < w->problem->slots; s++)
    if (w->taken[s] < least) least = w->taken[s];
  return least;
}

/* Every player knows of the first checkpoint by then that it is committed, or came back from a later one. */
static void end_excuses(world *w)
{
  const int sure = taken_by_all(w) - w->problem->checkpoint_every;
  if (sure >= 0) w->excuses.no_checkpoint = false;
  if (sure >= w->section_checkpoint) w->excuses.section = false;
}

static void note_taken(world *w, gab_slot slot, int step)
{
  const int before = step - w->problem->checkpoint_every;
  for (gab_slot s = 0; s < w->problem->slots; s++)
    if (w->taken[s] < before)
      FAILED(w, "slot %d took checkpoint %d before slot %d took %d", (int)slot, step, (int)s, before);
  if (step > w->taken[slot]) w->taken[slot] = step;
  healing *healing = &w->healings[slot];
  if (healing->ill && healing->restored) *healing = (struct healing){0};
  end_excuses(w);
}

/* What a death may be an excuse for, judged when it happens. */
static void note_death(world *w, const process *dead)
{
  const gab_slot slot = gab_local_slot(dead->local);
  const problem *problem = w->problem;
  if (slot == GAB_NO_SLOT) return;
  const int sure = taken_by_all(w) - problem->checkpoint_every; /* everybody knows that this is committed */
  if (sure < 0) w->excuses.no_checkpoint = true;
  if (w->arrived_most > 0 && sure < w->section_checkpoint) w->excuses.section = true;
  for (gab_slot other = 0; other < problem->slots; other++) {
    const bool is_holder = problem->holder[slot] == other, is_ward = problem->holder[other] == slot;
    if (is_holder && (w->healings[other].ill || w->renewals[slot].rounds > 0)) w->excuses.holder_lost = true;
    if (is_ward && w->healings[other].ill) w->excuses.holder_lost = true;
  }
  for (gab_slot ward = 0; ward < problem->slots; ward++)
    if (problem->holder[ward] == slot) w->renewals[ward] = (renewal){.rounds = 3};
  w->healings[slot] = (healing){.ill = true};
  w->slot_deaths[slot]++;
}

/* Follows the round trips between a holder that came back and its wards. */
static void follow_control(world *w, int from, int to, bool is_fresh)
{
  for (gab_slot ward = 0; ward < w->problem->slots; ward++) {
    renewal *renewal = &w->renewals[ward];
    if (renewal->rounds == 0) continue;
    const process *holder = player_of(w, w->problem->holder[ward]), *player = player_of(w, ward);
    if (!holder || !player || holder->restored == 0) continue;
    if (holder->seat == from && player->seat == to && is_fresh) renewal->asked = true;
    const lane *back = &w->lanes[player->seat][holder->seat][GAB_LOCAL_CONTROL];
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
  for (gab_seat seat = (gab_seat)w->problem->slots; seat < w->seats; seat++)
    if (w->processes[seat].alive && gab_local_slot(w->processes[seat].local) == GAB_NO_SLOT) return false;
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

static void check_players(world *w)
{
  for (gab_seat a = 0; a < w->seats; a++) {
    const process *p = &w->processes[a];
    if (!p->alive || gab_local_slot(p->local) == GAB_NO_SLOT) continue;
    for (gab_seat b = a + 1; b < w->seats; b++)
      if (w->processes[b].alive && gab_local_slot(w->processes[b].local) == gab_local_slot(p->local))
        FAILED(w, "seats %d and %d both play slot %d", (int)a, (int)b, (int)gab_local_slot(p->local));
  }
}

/* ---------------------------------------------------------------- the application */

static gab_slot app_holder(void *user, gab_slot slot)
{
  const process *p = user;
  return p->world->problem->holder[slot];
}

static gab_slot app_cluster(void *user, gab_slot slot)
{
  const process *p = user;
  return p->world->problem->cluster[slot];
}

static gab_status app_restore(void *user, gab_slot slot, gab_step checkpoint, gab_reader image)
{
  process *p = user;
  world *w = p->world;
  if (p->seat < (gab_seat)w->problem->slots && !has_reason(w, p))
    FAILED(w, "seat %d restores, which was there from the start", (int)p->seat);
  /* counted at the entrance by others, which may enter before it comes there again */
  if (p->app.arrived) w->excuses.section = true;
  GAB_TRY(gab_get_bytes(&image, &p->app, sizeof p->app));
  if (p->app.step != checkpoint)
    FAILED(w, "an image of step %d for checkpoint %d", p->app.step, (int)checkpoint);
  if (++p->restored > most_restores(w, p))
    FAILED(w, "slot %d restores %d times, without need", (int)slot, p->restored);
  if (p->restored == 1 && p->seat >= (gab_seat)w->problem->slots) w->takeovers++;
  p->line = (int)checkpoint;
  memset(p->inner_life, 0, sizeof p->inner_life);
  p->app.place = AT_DECISION;
  p->computed = p->app.step - 1;
  p->restored_at = w->out.events;
  w->healings[slot].restored = true;
  if (w->talks)
    printf("      slot %d restores checkpoint %d at seat %d\n", (int)slot, (int)checkpoint, (int)p->seat);
  return GAB_OK;
}

static gab_status app_differs(void *user, const gab_local_difference *difference)
{
  process *p = user;
  const problem *problem = p->world->problem;
  p->world->out.caught = true;
  if (!problem->unsteady || difference->to != gab_local_slot(p->local) ||
      difference->label.step != problem->unsteady || difference->first_step != problem->unsteady ||
      difference->label.pattern != 7 || difference->label.iteration != difference->number + 1)
    FAILED(p->world, "message %lu of slot %d, made in step %d, is said to differ",
           (unsigned long)difference->number, (int)difference->from, (int)difference->label.step);
  GAB_FAIL(GAB_ERR_CORRUPT, "made otherwise");
}

/* Words of a message behind its content: the sizes differ from channel to channel, some are below copy_below.
 */
static uint64_t further_words(gab_slot from, gab_slot to, int context)
{
  return context == GHOSTS ? (uint64_t)(from + to) % 3 * 8 : 0;
}

static gab_status send_value(process *p, gab_slot to, int context, uint64_t content)
{
  gab_buffer message;
  gab_buffer_init(&message, GAB_MEMORY_MESSAGE);
  const gab_slot me = gab_local_slot(p->local);
  const int unsteady = p->world->problem->unsteady;
  if (unsteady > 0 && p->app.step == unsteady && p->restored > 0 && context == GHOSTS) content++;
  check_message(p->world, me, to, context, p->app.sent[to][context]++, content, true);
  const gab_journal_label label = {
      .step = p->app.step, .pattern = pattern_of(p, to), .iteration = p->app.sent[to][context]};
  gab_status status = gab_put_u64(&message, content);
  for (uint64_t i = 0; i < further_words(me, to, context) && status == GAB_OK; i++)
    status = gab_put_u64(&message, content + i);
  if (status == GAB_OK) status = gab_local_send(p->local, to, (uint32_t)context, &label, &message);
  gab_buffer_release(&message);
  return status;
}

/* The whole of a message: a replay must neither be cut short nor come from a buffer that was used again. */
static gab_status read_value(process *p, gab_slot from, int context, const gab_buffer *message,
                             uint64_t *content)
{
  const uint64_t further = further_words(from, gab_local_slot(p->local), context);
  gab_reader in = gab_reader_of_buffer(message);
  if (gab_reader_left(&in) != 8 * (1 + further)) {
    FAILED(p->world, "a message of %zu bytes from slot %d to slot %d in context %d, not of %zu",
           gab_reader_left(&in), (int)from, (int)gab_local_slot(p->local), context,
           (size_t)(8 * (1 + further)));
    return GAB_OK;
  }
  GAB_TRY(gab_get_u64(&in, content));
  for (uint64_t i = 0; i < further; i++) {
    uint64_t word;
    GAB_TRY(gab_get_u64(&in, &word));
    if (word != *content + i)
      FAILED(p->world, "word %lu of a message from slot %d to slot %d is another", (unsigned long)(1 + i),
             (int)from, (int)gab_local_slot(p->local));
  }
  return GAB_OK;
}

static gab_status receive_value(process *p, gab_slot from, int context, uint64_t *content, bool *there)
{
  gab_buffer message = {0};
  gab_journal_label label;
  gab_status status = gab_local_receive(p->local, from, (uint32_t)context, &message, &label, there);
  if (status == GAB_OK && *there) {
    status = read_value(p, from, context, &message, content);
    check_message(p->world, from, gab_local_slot(p->local), context, p->app.received[from][context]++,
                  *content, false);
    if (!has_pattern(p, from, label.pattern))
      FAILED(p->world, "slot %d gets a message of slot %d in context %d from life %u of it",
             (int)gab_local_slot(p->local), (int)from, context, label.pattern);
    if (label.step != p->app.step || label.iteration != p->app.received[from][context])
      FAILED(p->world, "a message of step %d, iteration %lu in step %d, iteration %lu", (int)label.step,
             (unsigned long)label.iteration, p->app.step, (unsigned long)p->app.received[from][context]);
  }
  gab_buffer_release(&message);
  return status;
}

static bool are_neighbours(const problem *problem, int step, gab_slot a, gab_slot b)
{
  return problem->regrids && step >= problem->section_at ? problem->later[a][b] : problem->adjacent[a][b];
}

static gab_slot parent_of(gab_slot slot) { return (slot - 1) / 2; }
static bool is_due(int step, int every) { return every > 0 && step % every == 0; }

/* Passes a number down the tree. */
static gab_status pass_down(process *p, uint64_t content)
{
  const gab_slot me = gab_local_slot(p->local);
  for (gab_slot child = 2 * me + 1; child <= 2 * me + 2 && child < p->world->problem->slots; child++)
    GAB_TRY(send_value(p, child, TREE, content));
  return GAB_OK;
}

/* Within the section everybody hears who its neighbours are now, and nobody leaves before all have: as with collectives. */
static gab_status regrid(process *p, bool *moved)
{
  world *w = p->world;
  const gab_slot me = gab_local_slot(p->local);
  if (!p->app.regridded) {
    gab_slot neighbours[MOST_SLOTS];
    int32_t count = 0;
    for (gab_slot other = 0; other < w->problem->slots; other++)
      if (w->problem->later[me][other]) neighbours[count++] = other;
    GAB_TRY(gab_local_set_neighbours(p->local, neighbours, count));
    p->app.regridded = true;
    for (gab_seat seat = 0; seat < w->seats; seat++)
      if (seat != p->seat) wake(&w->processes[seat]);
  }
  for (gab_slot slot = 0; slot < w->problem->slots && *moved; slot++) {
    const process *other = player_of(w, slot);
    *moved = other && other->app.regridded;
  }
  return GAB_OK;
}

static gab_status at_section(process *p, bool *moved)
{
  app *app = &p->app;
  world *w = p->world;
  const bool is_end = app->place == AT_END;
  if (!is_end && (w->problem->section_at == 0 || app->step != w->problem->section_at)) {
    app->place = AT_CHECKPOINT;
    return GAB_OK;
  }
  const int section = is_end && w->problem->section_at > 0 ? 2 : 1;
  if (!app->arrived && section > w->arrived_most) {
    w->arrived_most = section;
    w->section_checkpoint = is_end ? 1000000 : app->step;
  }
  app->arrived = true;
  GAB_TRY(gab_local_arrive(p->local));
  *moved = gab_local_is_inside(p->local);
  if (*moved && !is_end && w->problem->regrids) {
    w->out.gathers = w->takeovers > 0;
    if (w->out.gathers) return GAB_OK;
    GAB_TRY(regrid(p, moved));
  }
  if (!*moved) return GAB_OK;
  app->arrived = false;
  /* what others sent it there is nowhere any more, unless all who were inside are dead */
  bool has_witness = false;
  for (gab_seat seat = 0; seat < w->seats; seat++)
    has_witness = has_witness || (w->processes[seat].alive && w->processes[seat].passed >= section);
  if (has_witness && section <= w->passed[gab_local_slot(p->local)])
    FAILED(w, "slot %d passes section %d again", (int)gab_local_slot(p->local), section);
  p->passed = section;
  w->passed[gab_local_slot(p->local)] = section;
  if (is_end) {
    app->place = DONE;
    return GAB_OK;
  }
  app->value = mix(app->value, 4242);
  app->place = AT_CHECKPOINT;
  return gab_local_leave(p->local);
}

enum { WHY = 7 };

/* Whether to stop is known to all when it has to be, and to all the same, though slot 0 might say something else in each life. */
static bool check_stop(process *p)
{
  world *w = p->world;
  const problem *problem = w->problem;
  const int step = p->app.step, before = step - problem->checkpoint_every, special = problem->stop_behind;
  uint64_t why;
  if (step > 0 && !gab_local_stops(p->local, &why)) return false;
  if (step > 0 && special > 0 && before == special && w->answer == 0) w->answer = why ? WHY : -1;
  const uint64_t right = special > 0 && before == special && w->answer == WHY ? WHY : 0;
  if (step > 0 && why != right)
    FAILED(w, "slot %d at checkpoint %d: told %lu of stopping", (int)gab_local_slot(p->local), step,
           (unsigned long)why);
  if (gab_local_slot(p->local) != 0) return true;
  const bool wants = special > 0 && step == special && mix((uint64_t)w->out.events, 77) % 2;
  if (gab_local_answer(p->local, step, wants ? WHY : 0) != GAB_OK) FAILED(w, "%s", gab_error_message());
  return true;
}

static gab_status at_checkpoint(process *p, bool *moved)
{
  app *app = &p->app;
  if (is_due(app->step, p->world->problem->checkpoint_every)) {
    gab_buffer image;
    *moved = check_stop(p);
    if (!*moved) return GAB_OK;
    gab_buffer_init(&image, GAB_MEMORY_OTHER);
    gab_status status = gab_put_bytes(&image, app, sizeof *app);
    if (status == GAB_OK) status = gab_local_checkpoint(p->local, app->step, &image, moved);
    gab_buffer_release(&image);
    if (status != GAB_OK || !*moved) return status;
    note_taken(p->world, gab_local_slot(p->local), app->step);
  }
  app->place = AT_DECISION;
  return GAB_OK;
}

/* Slot 0 looks at the clock; all the others hear of it along the tree. */
static gab_status at_decision(process *p, bool *moved)
{
  app *app = &p->app;
  const gab_slot me = gab_local_slot(p->local);
  uint64_t value = 0;
  if (is_due(app->step, p->world->problem->decide_every)) {
    if (me == 0)
      GAB_TRY(gab_local_decide(p->local, mix((uint64_t)p->world->out.events, 99) | 1, &value, moved));
    else GAB_TRY(receive_value(p, parent_of(me), TREE, &value, moved));
    if (!*moved) return GAB_OK;
    check_decision(p->world, app->decisions++, value);
    app->value = mix(app->value, value);
    GAB_TRY(pass_down(p, value));
  }
  app->place = AT_SEND;
  return GAB_OK;
}

static gab_status at_send(process *p)
{
  app *app = &p->app;
  const gab_slot me = gab_local_slot(p->local);
  for (gab_slot other = 0; other < p->world->problem->slots; other++)
    if (are_neighbours(p->world->problem, app->step, me, other))
      GAB_TRY(send_value(p, other, GHOSTS, mix(app->value, (uint64_t)other)));
  app->partial = app->value;
  app->next = 0;
  app->place = AT_RECEIVE;
  return GAB_OK;
}

static void finish_step(process *p)
{
  app *app = &p->app;
  if (app->step != p->computed + 1)
    FAILED(p->world, "seat %d computes step %d after %d", (int)p->seat, app->step, p->computed);
  p->computed = app->step++;
  app->place = app->step == p->world->problem->steps ? AT_END : AT_SECTION;
}

static gab_status at_receive(process *p, bool *moved)
{
  app *app = &p->app;
  const problem *problem = p->world->problem;
  const gab_slot me = gab_local_slot(p->local);
  while (app->next < problem->slots && !are_neighbours(problem, app->step, me, app->next)) app->next++;
  if (app->next < problem->slots) {
    uint64_t ghost = 0;
    GAB_TRY(receive_value(p, app->next, GHOSTS, &ghost, moved));
    if (*moved) app->partial = mix(app->partial, ghost), app->next++;
    return GAB_OK;
  }
  app->value = mix(app->partial, (uint64_t)app->step);
  if (is_due(app->step + 1, problem->reduce_every)) {
    app->total = app->value;
    app->next = 2 * me + 1;
    app->place = AT_SUM;
  } else finish_step(p);
  return GAB_OK;
}

static gab_status at_sum(process *p, bool *moved)
{
  app *app = &p->app;
  const gab_slot me = gab_local_slot(p->local);
  if (app->next <= 2 * me + 2 && app->next < p->world->problem->slots) {
    uint64_t part = 0;
    GAB_TRY(receive_value(p, app->next, TREE, &part, moved));
    if (*moved) app->total += part, app->next++;
    return GAB_OK;
  }
  if (me > 0) GAB_TRY(send_value(p, parent_of(me), TREE, app->total));
  app->place = AT_TOTAL;
  return GAB_OK;
}

static gab_status at_total(process *p, bool *moved)
{
  app *app = &p->app;
  const gab_slot me = gab_local_slot(p->local);
  if (me > 0) GAB_TRY(receive_value(p, parent_of(me), TREE, &app->total, moved));
  if (!*moved) return GAB_OK;
  GAB_TRY(pass_down(p, app->total));
  app->value = mix(app->value, app->total);
  finish_step(p);
  return GAB_OK;
}

static gab_status run_app(process *p, bool *moved)
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

/* The same without processes: the values of all slots after the last step. */
static void plain_loop(const world *w, uint64_t *values)
{
  const problem *problem = w->problem;
  uint64_t next[MOST_SLOTS];
  uint32_t decisions = 0;
  for (gab_slot s = 0; s < problem->slots; s++) values[s] = mix((uint64_t)s, 17);
  for (int step = 0; step < problem->steps; step++) {
    for (gab_slot s = 0; s < problem->slots; s++) {
      if (problem->section_at > 0 && step == problem->section_at) values[s] = mix(values[s], 4242);
      if (is_due(step, problem->decide_every)) values[s] = mix(values[s], w->decisions[decisions]);
    }
    if (is_due(step, problem->decide_every)) decisions++;
    uint64_t total = 0;
    for (gab_slot s = 0; s < problem->slots; s++) {
      next[s] = values[s];
      for (gab_slot n = 0; n < problem->slots; n++)
        if (are_neighbours(problem, step, s, n)) next[s] = mix(next[s], mix(values[n], (uint64_t)s));
      next[s] = mix(next[s], (uint64_t)step);
      total += next[s];
    }
    for (gab_slot s = 0; s < problem->slots; s++)
      values[s] = is_due(step + 1, problem->reduce_every) ? mix(next[s], total) : next[s];
  }
}

/* ---------------------------------------------------------------- running a schedule */

static void begin_process(world *w, gab_seat seat)
{
  const problem *problem = w->problem;
  process *p = &w->processes[seat];
  gab_slot neighbours[MOST_SLOTS], wards[MOST_SLOTS];
  gab_local_setup setup = {.slots = problem->slots,
                           .spares = problem->spares,
                           .seat = seat,
                           .contexts = CONTEXTS,
                           .ahead = problem->ahead,
                           .copy_below = 64,
                           .verify = problem->verify,
                           .neighbours = neighbours,
                           .wards = wards};
  *p = (process){.world = w, .seat = seat, .alive = true, .computed = -1, .line = -1};
  for (gab_slot other = 0; other < problem->slots && seat < (gab_seat)problem->slots; other++) {
    if (problem->adjacent[seat][other]) neighbours[setup.neighbour_count++] = other;
    if (problem->holder[other] == (gab_slot)seat) wards[setup.ward_count++] = other;
  }
  const gab_local_transport transport = {.user = p, .send = net_send, .hand_over = net_hand_over};
  const gab_local_application application = {.user = p,
                                             .holder = app_holder,
                                             .cluster = problem->clusters ? app_cluster : NULL,
                                             .restore = app_restore,
                                             .differs = app_differs};
  if (gab_local_create(&setup, &transport, &application, &p->local) != GAB_OK)
    FAILED(w, "%s", gab_error_message());
  else if (seat < (gab_seat)problem->slots) {
    p->app.value = mix((uint64_t)seat, 17);
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

/* What it had sent may arrive later, up to some message; what was sent to it is lost. */
static void kill_process(world *w, gab_seat seat)
{
  process *dead = &w->processes[seat];
  if (!dead->alive) return;
  note_death(w, dead);
  w->deaths++;
  dead->alive = false;
  if (w->talks) printf("      seat %d (slot %d) dies\n", (int)seat, (int)gab_local_slot(dead->local));
  for (int i = w->source_count - 1; i >= 0; i--) {
    const source s = w->sources[i];
    const bool is_lane = s.kind == FROM_LANE;
    if (is_lane && s.a == seat && s.b != seat) {
      const uint64_t luck = gab_hash_counter(w->plan->seed, (uint64_t)(seat * 64 + s.b), (uint64_t)s.c);
      if (luck % 2) drop_parcels(&w->lanes[s.a][s.b][s.c], luck / 2 % 4);
    }
    if (is_lane && s.b == seat) drop_parcels(&w->lanes[s.a][s.b][s.c], 0);
    const bool is_empty = is_lane && !w->lanes[s.a][s.b][s.c].first;
    if (is_empty || (!is_lane && s.a == seat)) remove_source(w, i);
  }
  for (gab_seat other = 0; other < w->seats; other++)
    if (w->processes[other].alive) tell_death(w, (int)other, (int)seat);
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

static bool is_late(const world *w, source s)
{
  return s.kind == FROM_DEATH && w->plan->late[s.b] && s.b < w->problem->slots &&
         s.a != w->problem->holder[s.b];
}

/* The chosen source, or the next one that need not wait. */
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

/* MPI does not, but numbers are there so that it does not matter: a logged message comes a second time,
 * behind those that are under way. */
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
  process *to = &w->processes[s.b];
  if (s.c != GAB_LOCAL_CONTROL && !first->is_repeated) repeat_sometimes(w, from, first);
  from->first = first->next;
  if (!from->first) remove_source(w, place);
  from->delivered = first->number;
  if (w->talks) {
    uint32_t word;
    memcpy(&word, first->data, sizeof word);
    printf("%5ld %s %d, number %lu: seat %d to seat %d\n", w->out.events, s.c ? "message of lane" : "control",
           s.c ? s.c : (int)word, (unsigned long)first->number, s.a, s.b);
  }
  if (gab_local_deliver(to->local, (gab_seat)s.a, (uint32_t)s.c, first->data, first->bytes) != GAB_OK &&
      !w->out.caught)
    FAILED(w, "%s", gab_error_message());
  free(first);
  wake(to);
  if (s.c == GAB_LOCAL_CONTROL) {
    const process *sender = &w->processes[s.a];
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
    if (w->talks) printf("%5ld seat %d hears that seat %d is dead\n", w->out.events, s.a, s.b);
    if (gab_local_peer_down(w->processes[s.a].local, (gab_seat)s.b) != GAB_OK)
      FAILED(w, "%s", gab_error_message());
    wake(&w->processes[s.a]);
  } else {
    process *p = &w->processes[s.a];
    bool moved = false;
    remove_source(w, place);
    p->queued = false;
    if (gab_local_state_of(p->local) != GAB_LOCAL_PLAYING) return;
    if (w->talks)
      printf("%5ld slot %d: step %d, place %d\n", w->out.events, (int)gab_local_slot(p->local), p->app.step,
             (int)p->app.place);
    if (run_app(p, &moved) != GAB_OK) FAILED(w, "%s", gab_error_message());
    if (moved) wake(p);
  }
}

static bool is_extinct(const world *w)
{
  for (gab_seat seat = 0; seat < w->seats; seat++)
    if (w->processes[seat].alive && gab_local_slot(w->processes[seat].local) != GAB_NO_SLOT) return false;
  return w->source_count == 0;
}

static bool is_done(world *w)
{
  for (gab_slot slot = 0; slot < w->problem->slots; slot++) {
    const process *p = player_of(w, slot);
    if (!p || p->app.place != DONE) return false;
  }
  return true;
}

static void compare_with_plain_loop(world *w)
{
  uint64_t values[MOST_SLOTS];
  plain_loop(w, values);
  for (gab_slot slot = 0; slot < w->problem->slots; slot++)
    if (player_of(w, slot)->app.value != values[slot])
      FAILED(w, "slot %d ends with another value", (int)slot);
}

/* What is kept of messages within a cluster is what could not be sent yet. */
static void check_clusters(world *w)
{
  for (gab_slot a = 0; a < w->problem->slots; a++)
    for (gab_slot b = 0; b < w->problem->slots; b++) {
      const process *p = player_of(w, a);
      if (a == b || !is_inner(w, a, b)) continue;
      const gab_journal *journal = gab_local_journal(p->local);
      for (uint32_t c = 0; c < CONTEXTS; c++)
        if (gab_journal_first(journal, b, c) != gab_journal_next(journal, b, c))
          FAILED(w, "slot %d keeps messages to slot %d of its cluster", (int)a, (int)b);
      if (p->line != player_of(w, b)->line)
        FAILED(w, "slot %d went back to checkpoint %d, slot %d of its cluster to %d", (int)a, p->line, (int)b,
               player_of(w, b)->line);
    }
}

static void begin_world(world *w, const schedule *plan)
{
  w->plan = plan;
  w->problem = &plan->problem;
  w->seats = (gab_seat)plan->problem.slots + plan->problem.spares;
  w->random = plan->seed;
  const uint64_t mode = next_random(&w->random) % 5;
  w->slow_news = next_random(&w->random) % 3 == 0;
  for (gab_seat a = 0; a < w->seats; a++) {
    w->slow_app[a] = mode & 1 && next_random(&w->random) % 3 == 0;
    for (gab_seat b = 0; b < w->seats; b++)
      for (int c = 0; c < LANES; c++) w->slow_lane[a][b][c] = mode & 2 && next_random(&w->random) % 3 == 0;
  }
  for (gab_slot s = 0; s < plan->problem.slots; s++) w->taken[s] = -1;
  for (gab_seat seat = 0; seat < w->seats; seat++) begin_process(w, seat);
}

static void end_world(world *w)
{
  for (gab_seat seat = 0; seat < w->seats; seat++) {
    if (w->processes[seat].local) {
      const gab_local_stats stats = gab_local_statistics(w->processes[seat].local);
      w->out.stats.duplicates += stats.duplicates;
      w->out.stats.stale += stats.stale;
      w->out.stats.left_out += stats.left_out;
      w->out.stats.compared += stats.compared;
      w->out.stats.replayed += stats.replayed;
      w->out.stats.takeovers += stats.takeovers;
      w->out.stats.jumps += stats.jumps;
      w->out.stats.rollbacks += stats.rollbacks;
      w->out.stats.logged_bytes += stats.logged_bytes;
    }
    gab_local_destroy(&w->processes[seat].local);
    for (gab_seat to = 0; to < w->seats; to++)
      for (int c = 0; c < LANES; c++) drop_parcels(&w->lanes[seat][to][c], 0);
  }
  free(w->sources);
}

/* Of one slot that came back everything can be compared: nobody else has forgotten what it had received. */
static void judge_comparison(world *w)
{
  const outcome *out = &w->out;
  if (out->finished && w->problem->verify && w->plan->death_count <= 1 &&
      out->stats.compared != out->stats.left_out)
    FAILED(w, "%lu of %lu messages that were left out were compared", (unsigned long)out->stats.compared,
           (unsigned long)out->stats.left_out);
  if (!w->problem->verify && out->stats.compared > 0) FAILED(w, "compared without being asked to");
  if (out->caught && !out->differs) FAILED(w, "what nobody had delivered is said to differ");
  if (out->finished && out->differs && w->problem->verify)
    FAILED(w, "a slot went on with messages that it has made otherwise");
}

/* Runs a schedule. @param[out] noted  the random choices that were made, to be freed; NULL: not wanted */
static outcome run_schedule(const schedule *plan, bool talks, uint32_t **noted)
{
  world *w = calloc(1, sizeof *w);
  if (!w) abort();
  w->talks = talks;
  begin_world(w, plan);
  while (!w->out.failure[0] && !w->out.over && !w->out.extinct && !w->out.caught && !w->out.gathers &&
         !(w->out.finished = is_done(w))) {
    for (int i = 0; i < plan->death_count; i++)
      if (plan->deaths[i].event == w->out.events) kill_process(w, plan->deaths[i].seat);
    if (is_extinct(w)) w->out.extinct = true;
    else if (w->source_count == 0) FAILED(w, "deadlock: nothing is under way and nobody can go on");
    else happen(w);
    check_players(w);
    if (++w->out.events >= MOST_EVENTS) FAILED(w, "it does not come to an end");
  }
  if (w->out.finished && !plan->problem.unsteady) compare_with_plain_loop(w);
  if (w->out.finished) check_clusters(w);
  if (w->out.over && !w->out.failure[0]) judge_hand_over(w);
  end_world(w);
  judge_comparison(w);
  if (noted) *noted = w->noted;
  else free(w->noted);
  const outcome out = w->out;
  free(w);
  return out;
}

#endif
