/* SPDX-License-Identifier: Apache-2.0 */
/* An adversary for local recovery: many processes in one, a network that delays and reorders whatever it may,
 * deaths at any event, and a small stencil code that computes with it. What is asserted knows the application
 * and the events, not the machine:
 *
 *  - the n-th message of a channel is the same whenever it is made or delivered, by whichever life of a rank;
 *  - partners of a rank are those that have a role now, however often neighbours have changed;
 *  - decisions, which follow a clock that never shows the same twice, are the same for all, always;
 *  - no rank passes a global section twice, no replay is further ahead than it may, on a channel and over all
 *  channels of a process;
 *  - who was there from the start restores nothing and computes no step twice, unless a rank of its cluster has died; who
 * restores a second time has a reason;
 *  - what one life of a rank delivers of another one of its cluster was made in one life of that, and is not kept there;
 * when all is over, all ranks of a cluster went back to the same checkpoint last;
 *  - no two living processes run one rank; nobody takes a checkpoint before it knows that all have taken the last
 *  one (one of its
 * cluster alone, all of the cluster), nor, who came back, before all that it has left out is compared;
 *  - with checkpoints of clusters (problem.own_every) nobody jumps, and the last common one that anybody knows to be committed is at
 * each rank or at its holder, unless two of these were lost together;
 *  - if nothing is under way and nobody can go on, the run is over;
 *  - at the end every rank has the value that a plain loop without processes gives;
 *  - a rank that makes a message otherwise than before its death (problem.unsteady) is caught exactly if somebody has
 *    delivered the first one: the run does not end then;
 *  - or the run was handed over to the next strategy in a situation where that may be (struct excuses).
 *
 * A schedule is a list of deaths and a list of choices: which of the things that can happen next does happen.
 * Choice 0 is what has waited longest, so a schedule without choices is an orderly run, and shrinking is to
 * leave out. */
#ifndef GABION_TESTS_LOCAL_NET_H
#define GABION_TESTS_LOCAL_NET_H

#include "resilience/local/protocol/local.h"

#include "core/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_RANKS = 9,
  MOST_PROCESSES = 14,
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
  gab_rank ranks;
  gab_process spares;
  bool adjacent[MOST_RANKS][MOST_RANKS];
  gab_rank holder[MOST_RANKS];
  gab_rank cluster[MOST_RANKS]; /* of each rank, with `clusters`; without, each is one by itself */
  bool clusters;
  int steps, checkpoint_every, reduce_every, decide_every;
  int own_every;     /* clusters take checkpoints of their own, each so often, at steps of its own; 0: none */
  int section_at;    /* a checkpoint step with a global section before it; 0: none */
  int section_every; /* and so many steps behind it, again and again; 0: there is one only */
  int section_end;   /* before this step; 0: up to the end */
  bool regrids;      /* in each of them neighbours change, to those of `later`, and back */
  bool stays;        /* they do so though somebody came back before, where all should gather */
  bool later[MOST_RANKS][MOST_RANKS];
  int extra; /* in this step rank 3 sends rank 4 one message more, which nobody receives; 0: it does not */
  int extra_until; /* it does not come before this section has been passed */
  int stop_behind; /* a checkpoint: at the next one all have to know that they are to stop, though they go on here; 0: none */
  uint64_t ahead;
  gab_rank children; /* of a rank in the trees, that of acknowledgements and the one of the application */
  bool verify;       /* hashes of what is left out are compared */
  int unsteady;      /* who came back makes its ghosts of this step otherwise; 0: nobody does */
} problem;

typedef struct death {
  long event;
  gab_process process;
} death;

typedef struct schedule {
  uint64_t seed; /* of what is lost with a dead process, and of random choices */
  problem problem;
  death deaths[MOST_DEATHS];
  int death_count;
  int behind
      [MOST_DEATHS]; /* their events count from where the first process has passed this section; 0: from the begin */
  bool late
      [MOST_PROCESSES]; /* of the death of that process nobody hears as long as anything else can happen, but who holds its rank */
  uint32_t *choices; /* NULL: made at random, and noted in `noted` */
  long choice_count;
} schedule;

/* ---------------------------------------------------------------- the network and its processes */

typedef struct parcel {
  struct parcel *next;
  uint64_t number;  /* on its lane, from 1 */
  bool is_repeated; /* by the network */
  bool is_replayed; /* by the sender, which says so in the last byte of the head */
  int section;      /* in which its sender has heard of its neighbours */
  size_t bytes;
  size_t head; /* of them; every other message is handed in as head and payload */
  unsigned char data[];
} parcel;

typedef struct lane {
  parcel *first, *last;
  uint64_t sent, delivered;
} lane;

/* What one life of a process has replayed to one life of another one: these numbers. */
typedef struct replayed {
  int sender_life;
  uint32_t target_life;
  uint64_t first, end;
} replayed;

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
  gab_rank next; /* neighbour or child that is due */
  uint32_t sent[MOST_RANKS][CONTEXTS], received[MOST_RANKS][CONTEXTS];
  uint64_t begun[MOST_RANKS]
                [CONTEXTS]; /* numbers on the channel from there are by so much ahead of what was received */
  uint32_t decisions;
  bool arrived;
  int regridded; /* the section in which it has heard of its neighbours last */
} app;

typedef struct simulated {
  struct world *world;
  gab_local *local;
  gab_process process;
  bool alive, queued; /* queued: its application is among the sources */
  app app;
  int computed; /* the last step that it finished, -1: none */
  int restored; /* how often */
  int line;     /* the checkpoint that it restored last; -1: none */
  uint32_t inner_life
      [MOST_RANKS]; /* of the ranks of its cluster: whose messages it has got in this life; 0: none yet */
  int passed;       /* global sections */
  int own;          /* the first checkpoint that it has taken since it restored, or began; -1: none */
  long restored_at;
} simulated;

/* After a death of a rank: how far it is until nothing that hangs on it can be lost by one more death. */
typedef struct healing {
  bool ill;
  bool restored; /* somebody runs it again */
  bool across;   /* its image may be one of before a section that is entered, and on its way by now */
} healing;

/* A holder that came back needs three round trips with a protected rank before it surely has its copies. */
typedef struct renewal {
  int rounds;
  bool asked;      /* a control message of the new holder has come to the protected rank */
  uint64_t marker; /* of the protected rank's answer on its lane; 0: none yet */
} renewal;

typedef struct outcome {
  bool finished, over;
  bool extinct; /* no active process is left: nobody to recover anything */
  bool differs; /* a message was made otherwise, and the first one was delivered */
  bool caught;  /* the machine says so */
  bool
      gathers; /* neighbours are to change, and somebody came back before: that is for a new generation of machines */
  gab_local_reason reason;
  long events;
  long
      beyond; /* messages of replays that were sent since their channel had none under way, though others had as many as they may */
  struct {
    /* deaths in situations that note_death() tells apart; events at which somebody who came back has caught up */
    long behind, uncommitted, holder, regridded, former, caught_up;
    long own;    /* restored a checkpoint of the cluster alone */
    long across; /* restored a second time, from behind a regrid, and the first time from before it */
  } met;
  int most_partners;  /* of a rank, behind a section */
  uint64_t most_kept; /* messages in the message log of a rank when it took a checkpoint */
  char failure[400];
  gab_local_stats stats;
} outcome;

typedef struct world {
  const schedule *plan;
  const problem *problem;
  gab_process processes;
  simulated simulated[MOST_PROCESSES];
  lane lanes[MOST_PROCESSES][MOST_PROCESSES][LANES];
  replayed replays[MOST_PROCESSES][MOST_PROCESSES][CONTEXTS];
  source *sources;
  int source_count, source_capacity;
  uint64_t random;
  bool slow_lane[MOST_PROCESSES][MOST_PROCESSES][LANES], slow_app[MOST_PROCESSES], slow_news;
  uint32_t *noted;
  long noted_capacity;
  bool talks;
  outcome out;
  /* the oracle */
  uint64_t messages[MOST_RANKS][MOST_RANKS][CONTEXTS][MOST_MESSAGES]; /* 0: not made yet */
  uint64_t decisions[MOST_STEPS + 1];
  uint32_t decided;
  int answer; /* of rank 0 at the checkpoint stop_behind: WHY, or -1: go on; 0: nobody knows yet */
  uint32_t delivered[MOST_RANKS][MOST_RANKS][CONTEXTS]; /* so many of a channel */
  int taken[MOST_RANKS];        /* the newest common checkpoint that the rank ever took */
  int taken_any[MOST_RANKS];    /* the newest of either kind */
  int passed[MOST_RANKS];       /* sections that the rank has passed */
  int arrived_most;             /* sections at which somebody arrived */
  int section_checkpoint;       /* that closes the newest of them */
  long left_at[MOST_STEPS + 2]; /* the event at which the first process has passed that section; 0: not yet */
  healing healings[MOST_RANKS];
  renewal renewals[MOST_RANKS]; /* of the protected rank's copies */
  int deaths, takeovers;
  int rank_deaths[MOST_RANKS];
  struct {
    bool no_checkpoint, holder_lost, section;
  } excuses;
  bool two_lost; /* holder and protected rank, at some time */
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

static void wake(simulated *p)
{
  if (p->queued || !p->alive || gab_local_state_of(p->local) != GAB_LOCAL_ACTIVE || p->app.place == DONE)
    return;
  p->queued = true;
  add_source(p->world, (source){FROM_APP, (int)p->process, 0, 0});
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

/* So many are not delivered to the application. */
static uint64_t undelivered(const world *w, const simulated *from, gab_process target, int context)
{
  const replayed *sent = &w->replays[from->process][target][context];
  const simulated *to = &w->simulated[target];
  if (!to->alive || sent->sender_life != from->restored || sent->target_life != (uint32_t)to->restored)
    return 0;
  const gab_rank me = gab_local_rank(from->local);
  const uint64_t delivered = to->app.begun[me][context] + to->app.received[me][context];
  const uint64_t first = delivered > sent->first ? delivered : sent->first;
  return sent->end > first ? sent->end - first : 0;
}

/* Over all channels of a process at most `ahead`; but one on a channel that has none under way, since its target may be the one for
 * whom the others wait. */
static void check_limit(world *w, const simulated *from, gab_process target, int context,
                        const gab_buffer *head)
{
  replayed *sent = &w->replays[from->process][target][context];
  gab_reader in = gab_reader_of_buffer(head);
  uint32_t life = 0;
  uint64_t number = 0, all = 0;
  for (int word = 0; word < 5; word++) (void)gab_get_u32(&in, &life);
  (void)gab_get_u32(&in, &(uint32_t){0});
  if (gab_get_u64(&in, &number) != GAB_OK) FAILED(w, "a message without a number");
  if (sent->sender_life != from->restored || sent->target_life != life || sent->end == 0)
    *sent = (replayed){from->restored, life, number, number};
  for (gab_process process = 0; process < w->processes; process++)
    for (int c = 0; c < CONTEXTS; c++) all += undelivered(w, from, process, c);
  if (all >= w->problem->ahead && undelivered(w, from, target, context) > 0)
    FAILED(w, "rank %d replays to rank %d, %lu messages beyond what is delivered of all that it replays",
           (int)gab_local_rank(from->local), (int)gab_local_rank(w->simulated[target].local),
           (unsigned long)all + 1);
  if (all >= w->problem->ahead) w->out.beyond++;
  sent->end = number + 1;
}

static gab_status net_send(void *user, gab_process target, uint32_t which, const gab_buffer *head,
                           const void *payload, size_t bytes, gab_msglog_entry *entry)
{
  simulated *from = user;
  world *w = from->world;
  (void)entry;
  if (target < 0 || target >= w->processes || target == from->process || which >= LANES) {
    FAILED(w, "process %d sends to process %d in lane %u", (int)from->process, (int)target, which);
    return GAB_OK;
  }
  if (!w->simulated[target].alive) {
    tell_death(w, (int)from->process, (int)target);
    return GAB_OK;
  }
  parcel *made = malloc(sizeof *made + head->size + bytes);
  if (!made) abort();
  lane *to = &w->lanes[from->process][target][which];
  made->next = NULL;
  made->number = ++to->sent;
  made->is_repeated = false;
  made->section = from->app.regridded;
  made->is_replayed = which != GAB_LOCAL_CONTROL && head->data[head->size - 1] != 0;
  if (made->is_replayed) check_limit(w, from, target, (int)which - 1, head);
  check_window(w, to, made,
               2 + (w->problem->clusters ? (uint64_t)(from->restored + w->simulated[target].restored) : 0));
  made->bytes = head->size + bytes;
  made->head = head->size;
  memcpy(made->data, head->data, head->size);
  if (bytes > 0) memcpy(made->data + head->size, payload, bytes);
  if (to->first) to->last->next = made;
  else {
    to->first = made;
    add_source(w, (source){FROM_LANE, (int)from->process, (int)target, (int)which});
  }
  to->last = made;
  return GAB_OK;
}

static void net_hand_over(void *user, gab_local_reason reason, gab_rank rank)
{
  simulated *from = user;
  world *w = from->world;
  if (w->talks)
    printf("      process %d hands over: %s, rank %d\n", (int)from->process, gab_local_reason_name(reason),
           (int)rank);
  if (w->out.over) return;
  w->out.over = true;
  w->out.reason = reason;
}

#endif
