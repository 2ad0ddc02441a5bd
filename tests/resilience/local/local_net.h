/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated network for tests of local recovery: many processes in one, messages delayed and reordered as far as
 * allowed, deaths at any event, and a small stencil code. The assertions use the application and the events, not the
 * state machine:
 *
 * - the n-th message of a channel is always the same, in each life of a rank, when sent and when delivered;
 * - partners of a rank are the ranks with a present role, after any change of neighbours;
 * - decisions, which depend on a clock with unique values, are equal on all ranks and in all lives;
 * - no rank passes a global section twice, and no replay exceeds its limit, on a channel and over all channels of a
 *   process;
 * - a process of the start restores nothing and computes no step twice, unless a rank of its cluster has died; each
 *   further restore has a reason;
 * - messages within a cluster that one life of a rank delivers were sent in one life of the sender, which does not log
 *   them; at the end, the last rollback of all ranks of a cluster was to the same checkpoint;
 * - no two live processes run one rank; no rank takes a checkpoint before it knows that all have taken the last one
 *   (for one of its cluster, all of the cluster), nor, after a restore, before hashes of all omitted messages are
 *   compared;
 * - with checkpoints of clusters (problem.own_every) no rank jumps, and the newest common one known to be committed is
 *   stored by each rank or its holder, unless two of these were lost together;
 * - if no message is in transit and no rank can continue, the run is over;
 * - at the end each rank has the value of a plain loop without processes;
 * - a rank that recomputes a different message (problem.unsteady) is detected exactly if the first one was delivered:
 *   the run then does not finish;
 * - or the run was passed to the next strategy in an allowed situation (struct excuses).
 *
 * A schedule is a list of deaths and a list of choices of the next event. Choice 0 is the oldest event, so a
 * schedule without choices is an orderly run, and shrinking means leaving out choices. */
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
  gab_rank cluster[MOST_RANKS]; /* cluster of each rank, with `clusters`; else each rank is a cluster */
  bool clusters;
  int steps, checkpoint_every, reduce_every, decide_every;
  int own_every;     /* interval of checkpoints of single clusters, at different steps; 0: none */
  int section_at;    /* a checkpoint step with a global section before it; 0: none */
  int section_every; /* interval of further sections; 0: only one section */
  int section_end;   /* last step of sections; 0: up to the end */
  bool regrids;      /* in each section neighbours alternate between the first ones and `later` */
  bool stays;        /* neighbours change even after a restore, where all ranks should gather */
  bool later[MOST_RANKS][MOST_RANKS];
  int extra;       /* in this step rank 3 sends rank 4 an additional message that is not received; 0: none */
  int extra_until; /* it arrives after this section */
  int stop_behind; /* a checkpoint: at the next one all must know the stop request, but they continue; 0: none */
  uint64_t ahead;
  gab_rank children; /* per rank in the trees of acknowledgements and of the application */
  bool verify;       /* hashes of omitted messages are compared */
  int unsteady;      /* a restored rank sends different ghosts in this step; 0: none */
} problem;

typedef struct death {
  long event;
  gab_process process;
} death;

typedef struct schedule {
  uint64_t seed; /* of losses at deaths, and of random choices */
  problem problem;
  death deaths[MOST_DEATHS];
  int death_count;
  int behind[MOST_DEATHS]; /* their events count from the first exit of this section; 0: from the start */
  bool
      late[MOST_PROCESSES]; /* the death of that process is reported last, except to the holder of its rank */
  uint32_t *choices;        /* NULL: random, recorded in `noted` */
  long choice_count;
} schedule;

/* ---------------------------------------------------------------- the network and its processes */

typedef struct parcel {
  struct parcel *next;
  uint64_t number;  /* on its lane, from 1 */
  bool is_repeated; /* by the network */
  bool is_replayed; /* by the sender; flag in the last byte of the head */
  int section;      /* section in which its sender got its neighbours */
  size_t bytes;
  size_t head; /* size of the head; every other message is delivered as head and payload */
  unsigned char data[];
} parcel;

typedef struct lane {
  parcel *first, *last;
  uint64_t sent, delivered;
} lane;

/* Numbers of messages replayed by one life of a process to one life of another. */
typedef struct replayed {
  int sender_life;
  uint32_t target_life;
  uint64_t first, end;
} replayed;

typedef enum source_kind { FROM_LANE, FROM_APP, FROM_DEATH } source_kind;

/* A possible next event. */
typedef struct source {
  source_kind kind;
  int a, b, c; /* lane: source, target, lane; application: process; death: informed process, dead process */
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

/* The application of one process: value and step are its state, the rest is its position in the step. */
typedef struct app {
  uint64_t value, partial, total;
  int step;
  place place;
  gab_rank next; /* next neighbour or child */
  uint32_t sent[MOST_RANKS][CONTEXTS], received[MOST_RANKS][CONTEXTS];
  uint64_t begun[MOST_RANKS]
                [CONTEXTS]; /* offset of sequence numbers from the count of received messages, per channel */
  uint32_t decisions;
  bool arrived;
  int regridded; /* last section in which it got its neighbours */
} app;

typedef struct simulated {
  struct world *world;
  gab_local *local;
  gab_process process;
  bool alive, queued; /* queued: its application is among the sources */
  app app;
  int computed; /* the last step that it finished, -1: none */
  int restored; /* number of restores */
  int line;     /* the checkpoint that it restored last; -1: none */
  uint32_t inner_life
      [MOST_RANKS]; /* lives of the ranks of its cluster that sent messages to this life; 0: none yet */
  int passed;       /* global sections */
  int own;          /* first checkpoint since its restore, or its start; -1: none */
  long restored_at;
} simulated;

/* Progress after a death until one more death can no longer cause a loss. */
typedef struct healing {
  bool ill;
  bool restored; /* a process runs the rank again */
  bool across;   /* its image may be from before an entered section, and in transit */
} healing;

/* A restored holder needs three round trips with a protected rank to have its copies. */
typedef struct renewal {
  int rounds;
  bool asked;      /* a control message of the new holder has reached the protected rank */
  uint64_t marker; /* number of the protected rank's answer on its lane; 0: none yet */
} renewal;

typedef struct outcome {
  bool finished, over;
  bool extinct; /* no active process is left for a recovery */
  bool differs; /* a recomputed message differs, and the first one was delivered */
  bool caught;  /* the machine has detected it */
  bool gathers; /* neighbours change after a restore, which needs a new generation of machines */
  gab_local_reason reason;
  long events;
  long beyond; /* replayed messages sent on an idle channel although the common limit was reached */
  struct {
    /* deaths by situation, see note_death(); events at which a restored rank has caught up */
    long behind, uncommitted, holder, regridded, former, caught_up;
    long own;    /* restores of a checkpoint of a single cluster */
    long across; /* second restores from after a regrid, with the first one from before it */
  } met;
  int most_partners;  /* of a rank, after a section */
  uint64_t most_kept; /* messages in the log of a rank at a checkpoint */
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
  uint64_t messages[MOST_RANKS][MOST_RANKS][CONTEXTS][MOST_MESSAGES]; /* 0: not sent yet */
  uint64_t decisions[MOST_STEPS + 1];
  uint32_t decided;
  int answer; /* answer of rank 0 at checkpoint stop_behind: WHY; -1: continue; 0: not given yet */
  uint32_t delivered[MOST_RANKS][MOST_RANKS][CONTEXTS]; /* number per channel */
  int taken[MOST_RANKS];                                /* newest common checkpoint of the rank */
  int taken_any[MOST_RANKS];                            /* the newest of either kind */
  int passed[MOST_RANKS];                               /* sections that the rank has passed */
  int arrived_most;                                     /* number of sections with an arrival */
  int section_checkpoint;                               /* checkpoint at the end of the newest of them */
  long left_at[MOST_STEPS + 2]; /* event of the first exit of that section; 0: not yet */
  healing healings[MOST_RANKS];
  renewal renewals[MOST_RANKS]; /* per protected rank */
  int deaths, takeovers;
  int rank_deaths[MOST_RANKS];
  struct {
    bool no_checkpoint, holder_lost, section;
  } excuses;
  bool two_lost; /* holder and protected rank were lost together */
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

/* A replay is limited to `ahead` messages of one life, plus the rest of the previous life; with rollbacks of
 * clusters, of several lives. */
static void check_window(world *w, const lane *to, const parcel *added, uint64_t lives)
{
  uint64_t many = added->is_replayed;
  for (const parcel *p = to->first; p; p = p->next) many += p->is_replayed && !p->is_repeated;
  if (many > lives * w->problem->ahead)
    FAILED(w, "%lu replayed messages are under way on one channel", (unsigned long)many);
}

/* Number of messages that are not delivered to the application. */
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

/* At most `ahead` over all channels of a process, except one message on an idle channel, since the others may wait
 * for its target. */
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
