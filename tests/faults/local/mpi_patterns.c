/* SPDX-License-Identifier: Apache-2.0 */
/* The rendezvous of Ropars et al. 2013, figure 4, under strategy `local`: receivers do not know their senders and probe for
 * messages. One process is killed; a spare becomes its rank and recomputes, and the others replay their messages to it. Its
 * channels are forced into an order that was impossible the first time: a message of the next round, from another rank,
 * arrives before the expected one. With the ids of core/messages/pattern.h it takes the right message, and every sum is
 * that of the undisturbed run; if all rounds have the same number, as without ids, it takes the wrong one.
 *
 * With ids, rounds may also overlap without a barrier between them; early messages are then normal.
 *
 * GABION_SCHEDULE=N: which rank dies when, and which ranks send to each other. GABION_PATTERN_IDS=0: without ids.
 * GABION_ROUNDS_OVERLAP=1. GABION_GLOBAL=1: strategy `spare`, so all roll back, and the replacement process counts its
 * rounds as they do.
 *
 * mpi_patterns_clusters.c is the same with clusters of several ranks (doc/clusters.md); there two may die at the same time.
 */
/* gabion-test: np=4 timeout=60 needs=ulfm labels=quick */
/* gabion-test: np=4 env=GABION_PATTERN_IDS=0 */
/* gabion-test: np=4 env=GABION_SCHEDULE=4 */
/* gabion-test: np=4 env=GABION_ROUNDS_OVERLAP=1 */
/* gabion-test: np=4 env=GABION_GLOBAL=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "core/world/world_impl.h" /* to give all iterations one number, and to inspect queues */

#ifndef ACTIVE
#define ACTIVE  3
#define CLUSTER 1 /* ranks of a cluster */
#define SPARES  1
#define ROOTS   6, 2, 2
#endif

enum { EVERY = 10, STEPS = 40, CONTACT = 1, ANSWER = 2, DONE = 3, END = 4 };

typedef struct rendezvous {
  automaton app; /* gives the ranks blocks, and so neighbours */
  gab_world *world;
  gab_pattern pattern;
  gab_mailbox *mail;
  gab_mailbox *ends; /* for termination: its messages may overtake answers, so they need separate channels */
  uint64_t seed;
  gab_rank victim, second; /* GAB_NO_RANK: the victim dies alone */
  gab_step dies_in;
  bool ids, overlap, global;
  uint64_t sum; /* of the received messages: the state */
  int forced;   /* schedules that were forced on this process */
} rendezvous;

/* ---------------------------------------------------------------- senders and receivers: data that only the sender reads */

/* The victim receives from one rank of the next cluster in a round, and from another one in the next round; these replay to
 * it. */
static bool speaks_to(const rendezvous *r, gab_rank from, gab_rank to, gab_step step)
{
  if (from == to) return false;
  if (to != r->victim) return gab_hash_counter(r->seed, (uint64_t)step, (uint64_t)(from * ACTIVE + to)) & 1;
  const gab_rank next = (r->victim / CLUSTER + 1) * CLUSTER;
  const gab_rank first = next % ACTIVE, second = (next + 1) % ACTIVE;
  return from == (((uint64_t)step + r->seed) % 2 ? first : second);
}

static uint64_t word_of(gab_rank from, gab_rank to, gab_step step)
{
  return gab_hash_counter(7, (uint64_t)step, (uint64_t)(from * ACTIVE + to));
}

static uint64_t sum_of(const rendezvous *r, gab_rank to)
{
  uint64_t sum = 0;
  for (gab_step step = 0; step < STEPS; step++)
    for (gab_rank from = 0; from < ACTIVE; from++)
      if (speaks_to(r, from, to, step)) sum += word_of(from, to, step);
  return sum;
}

/* ---------------------------------------------------------------- the forced schedule */

/* Whether the queue has a message of that rank that was sent after this step. */
static bool has_early(const rendezvous *r, gab_rank from, gab_step step)
{
  for (const gab_letter *letter = r->mail->first; letter; letter = letter->next)
    if (letter->about.source == from && letter->about.tag == CONTACT && letter->about.step > step)
      return true;
  return false;
}

/* A restored rank probes only the sender of the next round until its message has arrived. */
static gab_status force_order(rendezvous *r, gab_step step)
{
  const gab_claim *claim = gab_world_claim(r->world);
  bool there;
  if (!claim || claim->restored_step != step || r->forced > 0) return GAB_OK;
  for (gab_rank from = 0; from < ACTIVE; from++)
    while (speaks_to(r, from, r->victim, step + 1) && !has_early(r, from, step))
      GAB_TRY(gab_mailbox_probe(r->mail, from, END, &there, NULL)); /* no message of that kind is sent here */
  r->forced++;
  return GAB_OK;
}

/* ---------------------------------------------------------------- figure 4 */

static gab_status reply(rendezvous *r, gab_step step, uint64_t *replied)
{
  int64_t word[2];
  gab_mail mail;
  bool there;
  GAB_TRY(gab_mailbox_probe(r->mail, GAB_ANY_RANK, CONTACT, &there, &mail));
  if (!there) return GAB_OK;
  GAB_TRY(gab_mailbox_receive(r->mail, mail.source, CONTACT, word, sizeof word, &mail));
  if (word[0] != step)
    GAB_FAIL(GAB_ERR_DIVERGED, "mismatch: round %" GAB_PRI_STEP " took a message of round %" PRId64, step,
             word[0]);
  r->sum += (uint64_t)word[1];
  ++*replied;
  return gab_mailbox_send(r->mail, mail.source, ANSWER, &word[1], sizeof word[1]);
}

static gab_status take_answers(rendezvous *r, gab_step step, bool *open)
{
  const gab_rank me = gab_world_rank(r->world);
  for (gab_rank to = 0; to < ACTIVE; to++) {
    bool there = false;
    uint64_t word;
    if (open[to]) GAB_TRY(gab_mailbox_probe(r->mail, to, ANSWER, &there, NULL));
    if (!there) continue;
    GAB_TRY(gab_mailbox_receive(r->mail, to, ANSWER, &word, sizeof word, NULL));
    if (word != word_of(me, to, step)) GAB_FAIL(GAB_ERR_DIVERGED, "mismatch: an answer to another message");
    open[to] = false;
  }
  return GAB_OK;
}

static bool any(const bool *open)
{
  for (int i = 0; i < ACTIVE; i++)
    if (open[i]) return true;
  return false;
}

/* A rank with all answers reports its receivers to rank 0. When all have reported, rank 0 sends to each rank the number of
 * its senders. A plain "end" message would not work: in a replay it may arrive before the messages that it follows
 * (core/messages/pattern.h). */
typedef struct ending {
  bool told;             /* by this process */
  int heard;             /* by rank 0: number of reports */
  uint64_t each[ACTIVE]; /* at rank 0: number of senders to each rank */
  uint64_t replied;      /* by this process */
  bool known;
  uint64_t due; /* once known */
} ending;

static gab_status hear(rendezvous *r, ending *end, gab_rank from)
{
  uint64_t spoken[ACTIVE];
  GAB_TRY(gab_mailbox_receive(r->ends, from, DONE, spoken, sizeof spoken, NULL));
  for (int to = 0; to < ACTIVE; to++) end->each[to] += spoken[to];
  if (++end->heard < ACTIVE) return GAB_OK;
  for (gab_rank to = 0; to < ACTIVE; to++)
    GAB_TRY(gab_mailbox_send(r->ends, to, END, &end->each[to], sizeof end->each[to]));
  return GAB_OK;
}

static gab_status look_for_end(rendezvous *r, gab_step step, ending *end)
{
  const gab_rank me = gab_world_rank(r->world);
  uint64_t spoken[ACTIVE];
  gab_mail mail;
  bool there = true;
  for (gab_rank to = 0; to < ACTIVE; to++) spoken[to] = speaks_to(r, me, to, step);
  if (!end->told) GAB_TRY(gab_mailbox_send(r->ends, 0, DONE, spoken, sizeof spoken));
  end->told = true;
  while (me == 0 && there && end->heard < ACTIVE) {
    GAB_TRY(gab_mailbox_probe(r->ends, GAB_ANY_RANK, DONE, &there, &mail));
    if (there) GAB_TRY(hear(r, end, mail.source));
  }
  there = false;
  if (!end->known) GAB_TRY(gab_mailbox_probe(r->ends, 0, END, &there, NULL));
  if (there) GAB_TRY(gab_mailbox_receive(r->ends, 0, END, &end->due, sizeof end->due, NULL));
  end->known = end->known || there;
  return GAB_OK;
}

static gab_status meet(rendezvous *r, gab_step step)
{
  const gab_rank me = gab_world_rank(r->world);
  bool open[ACTIVE] = {false};
  ending end = {.told = false};
  for (gab_rank to = 0; to < ACTIVE; to++) {
    const int64_t word[2] = {step, (int64_t)word_of(me, to, step)};
    open[to] = speaks_to(r, me, to, step);
    if (open[to]) GAB_TRY(gab_mailbox_send(r->mail, to, CONTACT, word, sizeof word));
  }
  GAB_TRY(force_order(r, step));
  while (!end.known || end.replied < end.due) {
    GAB_TRY(reply(r, step, &end.replied));
    GAB_TRY(take_answers(r, step, open));
    if (!any(open)) GAB_TRY(look_for_end(r, step, &end));
  }
  return GAB_OK;
}

/* A round, and the barrier that separates rounds while no rank replays. */
static gab_status step_and_meet(void *user, gab_step step)
{
  rendezvous *r = user;
  uint64_t one = 1;
  if (step == 0) GAB_TRY(automaton_sum(&r->app, 0));
  GAB_TRY(gab_pattern_begin(r->world, r->pattern));
  GAB_TRY(meet(r, step));
  if (!r->ids) r->world->patterns.iterations[r->pattern - 1] = 0; /* so that each iteration has number 1 */
  GAB_TRY(gab_pattern_end(r->world, r->pattern));
  GAB_TRY(automaton_step(&r->app, step));
  if (automaton_sum_due(&r->app, step + 1)) GAB_TRY(automaton_sum(&r->app, step + 1));
  return r->overlap ? GAB_OK : gab_world_sum_u64(r->world, &one, 1);
}

/* ---------------------------------------------------------------- the run */

static gab_status pack(void *user, gab_buffer *out)
{
  const rendezvous *r = user;
  return gab_put_u64(out, r->sum);
}

static gab_status unpack(void *user, gab_reader *in)
{
  rendezvous *r = user;
  return gab_get_u64(in, &r->sum);
}

static bool is_dead(const rendezvous *r, gab_rank rank) { return rank == r->victim || rank == r->second; }

static gab_status run(rendezvous *r, gab_timeloop **loop)
{
  char clusters[16];
  const gab_fault_injection injection = {.step = r->dies_in,
                                         .point = GAB_FAULT_POINT_COMPUTE,
                                         .visit = 1,
                                         .rank_count = r->second == GAB_NO_RANK ? 1 : 2,
                                         .ranks = {r->victim, r->second}};
  snprintf(clusters, sizeof clusters, "%d", ACTIVE / CLUSTER);
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .injections = &injection,
                                     .injection_count = 1,
                                     .local_clusters = CLUSTER > 1 ? clusters : NULL,
                                     .strategies = {r->global ? &gab_strategy_spare : &gab_strategy_local}};
  const gab_entity sum = {
      .name = "sum", .kind = GAB_ENTITY_PER_RANK, .user = r, .pack = pack, .unpack = unpack};
  const gab_entity total = automaton_entity(&r->app);
  GAB_TRY(gab_timeloop_create(r->app.forest, STEPS, loop));
  GAB_TRY(gab_timeloop_add_task(*loop, "rendezvous", step_and_meet, r));
  GAB_TRY(gab_timeloop_add_entity(*loop, &sum));
  GAB_TRY(gab_timeloop_add_entity(*loop, &total));
  GAB_TRY(gab_timeloop_protect(*loop, &protection));
  return gab_timeloop_run(*loop);
}

static uint64_t number_from(const char *name, uint64_t usual)
{
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : usual;
}

/* The rank that dies with the victim: none (0), the next one of its cluster (1), one of the cluster after its sender, which
 * does not store its image (2). */
static gab_rank second_of(gab_rank victim, uint64_t which)
{
  const gab_rank first = victim / CLUSTER * CLUSTER;
  if (which == 0) return GAB_NO_RANK;
  return which == 1 ? first + (victim - first + 1) % CLUSTER : (first + 2 * CLUSTER + 1) % ACTIVE;
}

int main(int argc, char **argv)
{
  rendezvous r = {.seed = number_from("GABION_SCHEDULE", 1),
                  .ids = number_from("GABION_PATTERN_IDS", 1) != 0,
                  .overlap = number_from("GABION_ROUNDS_OVERLAP", 0) != 0,
                  .global = number_from("GABION_GLOBAL", 0) != 0};
  gab_timeloop *loop = NULL;
  char spares[16];
  snprintf(spares, sizeof spares, "%d", SPARES);
  setenv("GABION_SPARES", spares, 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &r.world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(r.world)->ranks == ACTIVE && gab_world_spares(r.world) == SPARES);
  r.victim = (gab_rank)(gab_hash_counter(1, r.seed, 0) % ACTIVE);
  r.second = second_of(r.victim, number_from("GABION_SECOND", 0));
  r.dies_in =
      (gab_step)(EVERY * (1 + gab_hash_counter(1, r.seed, 1) % 3) + 2 + gab_hash_counter(1, r.seed, 2) % 8);
  REQUIRE_OK(automaton_create(&r.app, r.world, (int32_t[]){ROOTS}));
  REQUIRE_OK(gab_pattern_declare(r.world, &r.pattern));
  REQUIRE_OK(gab_mailbox_create(r.world, "contacts", &r.mail));
  REQUIRE_OK(gab_mailbox_create(r.world, "ends", &r.ends));
  const gab_status status = run(&r, &loop);
  test_doom(r.victim);
  if (r.second != GAB_NO_RANK) test_doom(r.second);
  const gab_rank me = gab_world_rank(r.world);
  const bool came_back = me == r.victim, is_idle = gab_world_is_spare(r.world); /* a spare until the end */
  REQUIRE(status == (r.ids ? GAB_OK : GAB_ERR_DIVERGED));
  /* without ids another rank of its cluster may take a wrong message before it, unforced */
  CHECK(!came_back || r.forced == !r.global || (CLUSTER > 1 && !r.ids));
  const gab_run_stats stats = gab_timeloop_get_stats(loop);
  if (r.ids && !is_idle) {
    CHECK(r.sum == sum_of(&r, me));
    CHECK(automaton_is_right(&r.app, STEPS));
    CHECK(gab_mailbox_waiting(r.mail) == 0 && gab_mailbox_waiting(r.ends) == 0);
    CHECK(gab_pattern_iteration(r.world, r.pattern) == STEPS);
    const int dead = r.second == GAB_NO_RANK ? 1 : 2;
    CHECK(stats.fault_count == dead && stats.local.faults == (r.global ? 0 : (uint64_t)dead));
    CHECK(r.global || (stats.local.meetings == 0 && stats.local.steps_again == 0));
    /* survivors roll back exactly if a rank of their cluster died */
    const bool goes_back =
        me / CLUSTER == r.victim / CLUSTER || (r.second != GAB_NO_RANK && me / CLUSTER == r.second / CLUSTER);
    CHECK(r.global || is_dead(&r, me) || (stats.local.rollbacks > 0) == goes_back);
  }
  if (!r.ids) CHECK(strstr(gab_error_message(), "mismatch"));
  gab_timeloop_destroy(&loop);
  gab_mailbox_destroy(&r.mail);
  gab_mailbox_destroy(&r.ends);
  automaton_destroy(&r.app);
  return test_end(&r.world);
}
