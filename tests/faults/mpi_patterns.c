/* The rendezvous of Ropars et al. 2013, figure 4, under strategy `local`: nobody knows who will write to him, probes find out.
 * One process is killed; a spare takes its slot and computes again, and the others replay to it. Its channels are made to
 * deliver in an order that the first time could not have: before the message that this round is waiting for, one of the next
 * round from somebody else. With the ids of core/messages/pattern.h it takes the right one, and every sum is as undisturbed; when all
 * rounds have the same number, as without ids, it takes the wrong one.
 *
 * With ids rounds may also overlap, without a barrier between them: then early messages are nothing unusual.
 *
 * GABION_SCHEDULE=N: who dies when, and who speaks to whom. GABION_PATTERN_IDS=0: without ids.
 * GABION_ROUNDS_OVERLAP=1. GABION_GLOBAL=1: strategy `spare`, so all go back, and the newcomer counts its rounds as they do. */
/* gabion-test: np=4 timeout=60 labels=quick needs=ulfm */
/* gabion-test: np=4 env=GABION_PATTERN_IDS=0 */
/* gabion-test: np=4 env=GABION_SCHEDULE=4 */
/* gabion-test: np=4 env=GABION_ROUNDS_OVERLAP=1 */
/* gabion-test: np=4 env=GABION_GLOBAL=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "core/world/world_impl.h" /* to give all iterations one number, and to see what lies in a queue */

enum { PLAYERS = 3, EVERY = 10, STEPS = 40, CONTACT = 1, ANSWER = 2, DONE = 3, END = 4 };

typedef struct rendezvous {
  automaton app; /* gives the slots blocks, so neighbours */
  gab_world *world;
  gab_pattern pattern;
  gab_mailbox *mail;
  gab_mailbox
      *ends; /* of the termination: its messages may overtake answers, so they need channels of their own */
  uint64_t seed;
  gab_slot victim;
  gab_step dies_in;
  bool ids, overlap, global;
  uint64_t sum; /* of what was received: the state */
  int forced;   /* schedules that were forced on this process */
} rendezvous;

/* ---------------------------------------------------------------- who speaks to whom: data that only the speaker looks at */

/* The victim hears of one of the other two in a round, and of the other one in the next. */
static bool speaks_to(const rendezvous *r, gab_slot from, gab_slot to, gab_step step)
{
  if (from == to) return false;
  if (to != r->victim) return gab_hash_counter(r->seed, (uint64_t)step, (uint64_t)(from * PLAYERS + to)) & 1;
  const gab_slot first = (r->victim + 1) % PLAYERS, second = (r->victim + 2) % PLAYERS;
  return from == (((uint64_t)step + r->seed) % 2 ? first : second);
}

static uint64_t word_of(gab_slot from, gab_slot to, gab_step step)
{
  return gab_hash_counter(7, (uint64_t)step, (uint64_t)(from * PLAYERS + to));
}

static uint64_t sum_of(const rendezvous *r, gab_slot to)
{
  uint64_t sum = 0;
  for (gab_step step = 0; step < STEPS; step++)
    for (gab_slot from = 0; from < PLAYERS; from++)
      if (speaks_to(r, from, to, step)) sum += word_of(from, to, step);
  return sum;
}

/* ---------------------------------------------------------------- the forced schedule */

/* Whether a message of that slot lies in the queue that was sent behind this step. */
static bool has_early(const rendezvous *r, gab_slot from, gab_step step)
{
  for (const gab_letter *letter = r->mail->first; letter; letter = letter->next)
    if (letter->about.source == from && letter->about.tag == CONTACT && letter->about.step > step)
      return true;
  return false;
}

/* Who came back: looks at the one who speaks in the next round only, until his message is there. */
static gab_status force_order(rendezvous *r, gab_step step)
{
  const gab_claim *claim = gab_world_claim(r->world);
  bool there;
  if (!claim || claim->restored_step != step || r->forced > 0) return GAB_OK;
  for (gab_slot from = 0; from < PLAYERS; from++)
    while (speaks_to(r, from, r->victim, step + 1) && !has_early(r, from, step))
      GAB_TRY(gab_mailbox_probe(r->mail, from, END, &there, NULL)); /* nobody sends that here */
  r->forced++;
  return GAB_OK;
}

/* ---------------------------------------------------------------- figure 4 */

static gab_status reply(rendezvous *r, gab_step step, uint64_t *replied)
{
  int64_t word[2];
  gab_mail mail;
  bool there;
  GAB_TRY(gab_mailbox_probe(r->mail, GAB_ANY_SLOT, CONTACT, &there, &mail));
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
  const gab_slot me = gab_world_slot(r->world);
  for (gab_slot to = 0; to < PLAYERS; to++) {
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
  for (int i = 0; i < PLAYERS; i++)
    if (open[i]) return true;
  return false;
}

/* Who has all answers tells slot 0 to whom it spoke, which tells each how many have spoken to it when everybody has. A plain
 * "it is over" would not do: in a replay that comes before the messages that it follows (core/messages/pattern.h). */
typedef struct ending {
  bool told;              /* by this process */
  int heard;              /* by slot 0, of how many */
  uint64_t each[PLAYERS]; /* at slot 0: so many spoke to them */
  uint64_t replied;       /* by this process */
  bool known;
  uint64_t due; /* once it is known */
} ending;

static gab_status hear(rendezvous *r, ending *end, gab_slot from)
{
  uint64_t spoken[PLAYERS];
  GAB_TRY(gab_mailbox_receive(r->ends, from, DONE, spoken, sizeof spoken, NULL));
  for (int to = 0; to < PLAYERS; to++) end->each[to] += spoken[to];
  if (++end->heard < PLAYERS) return GAB_OK;
  for (gab_slot to = 0; to < PLAYERS; to++)
    GAB_TRY(gab_mailbox_send(r->ends, to, END, &end->each[to], sizeof end->each[to]));
  return GAB_OK;
}

static gab_status look_for_end(rendezvous *r, gab_step step, ending *end)
{
  const gab_slot me = gab_world_slot(r->world);
  uint64_t spoken[PLAYERS];
  gab_mail mail;
  bool there = true;
  for (gab_slot to = 0; to < PLAYERS; to++) spoken[to] = speaks_to(r, me, to, step);
  if (!end->told) GAB_TRY(gab_mailbox_send(r->ends, 0, DONE, spoken, sizeof spoken));
  end->told = true;
  while (me == 0 && there && end->heard < PLAYERS) {
    GAB_TRY(gab_mailbox_probe(r->ends, GAB_ANY_SLOT, DONE, &there, &mail));
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
  const gab_slot me = gab_world_slot(r->world);
  bool open[PLAYERS] = {false};
  ending end = {.told = false};
  for (gab_slot to = 0; to < PLAYERS; to++) {
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

/* A round, and the barrier that keeps rounds apart as long as nobody replays. */
static gab_status step_and_meet(void *user, gab_step step)
{
  rendezvous *r = user;
  uint64_t one = 1;
  if (step == 0) GAB_TRY(automaton_sum(&r->app, 0));
  GAB_TRY(gab_pattern_begin(r->world, r->pattern));
  GAB_TRY(meet(r, step));
  if (!r->ids) r->world->patterns.iterations[r->pattern - 1] = 0; /* so that each of them is number 1 */
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

static gab_status run(rendezvous *r, gab_timeloop **loop)
{
  const gab_drill drill = {
      .step = r->dies_in, .phase = GAB_PHASE_COMPUTE, .visit = 1, .slot_count = 1, .slots = {r->victim}};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .drills = &drill,
                                     .drill_count = 1,
                                     .strategies = {r->global ? &gab_strategy_spare : &gab_strategy_local}};
  const gab_entity sum = {
      .name = "sum", .kind = GAB_ENTITY_PER_SLOT, .user = r, .pack = pack, .unpack = unpack};
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

int main(int argc, char **argv)
{
  rendezvous r = {.seed = number_from("GABION_SCHEDULE", 1),
                  .ids = number_from("GABION_PATTERN_IDS", 1) != 0,
                  .overlap = number_from("GABION_ROUNDS_OVERLAP", 0) != 0,
                  .global = number_from("GABION_GLOBAL", 0) != 0};
  gab_timeloop *loop = NULL;
  setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &r.world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(r.world)->slots == PLAYERS && gab_world_spares(r.world) == 1);
  r.victim = (gab_slot)(gab_hash_counter(1, r.seed, 0) % PLAYERS);
  r.dies_in =
      (gab_step)(EVERY * (1 + gab_hash_counter(1, r.seed, 1) % 3) + 2 + gab_hash_counter(1, r.seed, 2) % 8);
  REQUIRE_OK(automaton_create(&r.app, r.world, (int32_t[]){6, 2, 2}));
  REQUIRE_OK(gab_pattern_declare(r.world, &r.pattern));
  REQUIRE_OK(gab_mailbox_create(r.world, "contacts", &r.mail));
  REQUIRE_OK(gab_mailbox_create(r.world, "ends", &r.ends));
  const gab_status status = run(&r, &loop);
  test_doom(r.victim);
  const bool came_back = gab_world_slot(r.world) == r.victim;
  REQUIRE(status == (r.ids ? GAB_OK : GAB_ERR_DIVERGED));
  CHECK(!came_back || r.forced == !r.global);
  const gab_run_stats stats = gab_timeloop_get_stats(loop);
  if (r.ids) {
    CHECK(r.sum == sum_of(&r, gab_world_slot(r.world)));
    CHECK(automaton_is_right(&r.app, STEPS));
    CHECK(gab_mailbox_waiting(r.mail) == 0 && gab_mailbox_waiting(r.ends) == 0);
    CHECK(gab_pattern_iteration(r.world, r.pattern) == STEPS);
    CHECK(stats.fault_count == 1 && stats.local.faults == !r.global);
    CHECK(r.global || (stats.local.meetings == 0 && stats.local.steps_again == 0));
  } else {
    CHECK(strstr(gab_error_message(), "mismatch"));
  }
  gab_timeloop_destroy(&loop);
  gab_mailbox_destroy(&r.mail);
  gab_mailbox_destroy(&r.ends);
  automaton_destroy(&r.app);
  return test_end(&r.world);
}
