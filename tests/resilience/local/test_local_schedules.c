/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=300 labels=quick args=--schedules 6000 */
/* Local recovery under random schedules: single, multiple and adjacent deaths of active processes, holders and spares
 * at any event, messages of different lanes delayed and reordered, late reports of deaths. local_net.h has the
 * assertions.
 *
 *   test_resilience_local_schedules [--schedules N] [--seed S] [--clusters] [--own] [--table] [--no-shrink]
 *
 * Schedule i has seed S + i. A failing one is shrunk (deaths and choices are left out while it still fails) and
 * printed event by event; --seed with its number and --schedules 1 runs it again. --clusters: with clusters of
 * several ranks. --own: with checkpoints of single clusters, some of one rank. --table: results by reason. */
#include "tests/resilience/local/local_schedule.h"

/* ---------------------------------------------------------------- making schedules */

static int between(uint64_t *random, int least, int most)
{
  return least + (int)(next_random(random) % (uint64_t)(most - least + 1));
}

static void connect(problem *problem, gab_rank a, gab_rank b)
{
  if (a != b && a < problem->ranks && b < problem->ranks)
    problem->adjacent[a][b] = problem->adjacent[b][a] = true;
}

/* Rings, chains, grids, and random graphs as of refined forests. */
static void make_neighbours(problem *problem, uint64_t *random)
{
  const int kind = between(random, 0, 3), width = between(random, 2, 3);
  for (gab_rank s = 0; s < problem->ranks; s++) {
    if (kind != 2 && (s + 1 < problem->ranks || kind == 0)) connect(problem, s, (s + 1) % problem->ranks);
    if (kind == 2 && (s + 1) % width != 0) connect(problem, s, s + 1);
    if (kind == 2) connect(problem, s, s + width);
    if (kind == 3) connect(problem, s, (gab_rank)between(random, 0, problem->ranks - 1));
  }
}

/* One cluster, ranges, or random ones: members adjacent or not, holders inside or outside. */
static void make_clusters(problem *problem, uint64_t seed)
{
  uint64_t random = mix(seed, 0xc1);
  const int kind = between(&random, 0, 4), size = between(&random, 2, 4), many = between(&random, 2, 4);
  problem->clusters = true;
  for (gab_rank s = 0; s < problem->ranks; s++)
    problem->cluster[s] = kind == 0 ? 0 : kind <= 2 ? s / size : between(&random, 0, many - 1);
}

static void make_problem(problem *problem, uint64_t *random)
{
  *problem = (struct problem){.ranks = between(random, 2, MOST_RANKS),
                              .spares = between(random, 0, 4),
                              .checkpoint_every = between(random, 1, 5),
                              .reduce_every = between(random, 0, 5),
                              .decide_every = between(random, 0, 5),
                              .ahead = (uint64_t)between(random, 2, 6),
                              .children = between(random, 1, 4)};
  problem->steps = between(random, 3 * problem->checkpoint_every, 6 * problem->checkpoint_every);
  if (problem->spares == 0 && between(random, 0, 3) > 0) problem->spares = between(random, 2, 4);
  make_neighbours(problem, random);
  const bool pairwise = problem->ranks % 2 == 0 && between(random, 0, 2) == 0;
  const int shift = between(random, 1, problem->ranks - 1);
  for (gab_rank s = 0; s < problem->ranks; s++)
    problem->holder[s] = pairwise ? s ^ 1 : (s + shift) % problem->ranks;
  problem->stop_behind =
      problem->checkpoint_every * (int)(gab_hash_counter(*random, 3, 0) % 4); /* without a random draw */
  if (between(random, 0, 9) == 0) problem->section_at = problem->checkpoint_every * between(random, 1, 2);
}

/* Purpose of a schedule. Early deaths, deaths in a global section, and too few spares occur in the last kind only. */
typedef enum kind { SEPARATE, ADJACENT, IN_RECOVERY, BETWEEN, REGRIDDED, ANYTHING, KIND_COUNT } kind;

static const char *const kind_names[KIND_COUNT] = {
    "separate", "adjacent", "in recovery", "a checkpoint between", "behind regrids", "anything"};

static kind kind_of(uint64_t seed) { return (kind)(mix(seed, 4) % KIND_COUNT); }

static gab_rank some_neighbour(const problem *problem, gab_rank rank, uint64_t *random)
{
  const gab_rank any = (gab_rank)between(random, 0, problem->ranks - 1);
  for (gab_rank s = any; s < any + problem->ranks; s++)
    if (problem->adjacent[rank][s % problem->ranks]) return s % problem->ranks;
  return any;
}

static gab_process first_spare_of(const problem *problem, gab_rank rank, int number)
{
  return (gab_process)(problem->ranks + (rank + number) % problem->spares);
}

/* The next victim after the death of `rank`. */
static gab_process next_victim(const problem *problem, gab_rank rank, kind kind, uint64_t *random)
{
  const gab_rank any = (gab_rank)between(random, 0, problem->ranks - 1),
                 neighbour = some_neighbour(problem, rank, random);
  const bool touch = problem->holder[rank] == neighbour || problem->holder[neighbour] == rank;
  if (kind == SEPARATE) return (gab_process)any;
  if (kind == BETWEEN && between(random, 0, 3) == 0) return (gab_process)problem->holder[rank];
  if ((kind == ADJACENT || kind == BETWEEN) && !touch && between(random, 0, 2) != (int)(kind == BETWEEN))
    return (gab_process)neighbour;
  if (problem->spares > 0 && between(random, 0, kind == ANYTHING ? 2 : 1) == 0)
    return first_spare_of(problem, rank, between(random, 0, 1));
  if (kind != ANYTHING) return (gab_process)any;
  switch (between(random, 0, 4)) {
  case 0:
    return (gab_process)problem->holder[rank];
  case 1:
    for (gab_rank s = 0; s < problem->ranks; s++)
      if (problem->holder[s] == rank) return (gab_process)s;
    break;
  case 2:
    return (gab_process)neighbour;
  default:
    break;
  }
  return (gab_process)any;
}

/* The grid alternates at each checkpoint, or at every second one, in the first half of the run. */
static void make_sections(problem *problem, uint64_t *random)
{
  problem->section_at = problem->checkpoint_every * between(random, 1, 2);
  problem->section_every = problem->checkpoint_every * between(random, 1, 2);
  problem->section_end = problem->section_at + problem->section_every * between(random, 0, 3) + 1;
  if (problem->section_end > problem->steps / 2) problem->section_end = problem->steps / 2;
}

static void make_deaths(schedule *plan, kind kind, uint64_t *random)
{
  problem *problem = &plan->problem;
  static const int counts[] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6};
  plan->death_count = counts[next_random(random) % (sizeof counts / sizeof counts[0])];
  if (kind != ANYTHING) {
    if (plan->death_count > 4) plan->death_count = 2;
    problem->spares = plan->death_count + 1;
    problem->steps = MOST_STEPS - 2;
    problem->section_at = 0;
    if (kind == REGRIDDED) make_sections(problem, random);
  }
  int per_step = 2 * problem->ranks;
  for (gab_rank a = 0; a < problem->ranks; a++)
    for (gab_rank b = 0; b < problem->ranks; b++) per_step += problem->adjacent[a][b] * 2;
  gab_rank rank = (gab_rank)between(random, 0, problem->ranks - 1);
  const int begin = kind == ANYTHING ? 0 : 2 * per_step * problem->checkpoint_every;
  const int end = per_step * problem->steps * (kind == SEPARATE ? 2 : 3) / 4;
  long event = between(random, begin, end > begin ? end : begin);
  int behind = 0;
  if (kind == REGRIDDED) { /* the last one, sometimes an earlier one */
    behind = 1 + (problem->section_end - 1 - problem->section_at) / problem->section_every;
    if (behind > 1 && between(random, 0, 3) == 0) behind--;
    event = between(random, 0, 2 * per_step * problem->checkpoint_every);
  }
  for (int i = 0; i < plan->death_count; i++) {
    const gab_process victim = i == 0 ? (gab_process)rank : next_victim(problem, rank, kind, random);
    plan->deaths[i] = (death){event, victim};
    plan->behind[i] = behind;
    if (victim < (gab_process)problem->ranks) rank = (gab_rank)victim;
    if (kind == SEPARATE) event += 3 * per_step;
    else if (kind == BETWEEN) event += between(random, 0, 3 * per_step * problem->checkpoint_every);
    else event += between(random, 0, between(random, 0, 3) == 0 ? per_step * 4 : per_step);
  }
}

static bool with_clusters, with_own;

/* Common checkpoints at the usual or a larger distance, with those of clusters in between. */
static void make_own_times(schedule *plan, uint64_t seed)
{
  problem *problem = &plan->problem;
  if (mix(seed, 21) % 4 == 0) problem->clusters = false;
  const int longer = problem->section_at > 0 ? 1 : 1 + (int)(mix(seed, 22) % 3);
  if (problem->checkpoint_every * longer <= problem->steps / 3) {
    problem->checkpoint_every *= longer;
    problem->stop_behind *= longer;
  }
  if (problem->section_at == 0 && mix(seed, 24) % 4 == 0) { /* only the common one of the start */
    problem->checkpoint_every = problem->steps;
    problem->stop_behind = 0;
  }
  problem->own_every = 1 + (int)(mix(seed, 23) % (uint64_t)problem->checkpoint_every);
  if (problem->own_every > 4 && mix(seed, 25) % 2 == 0) problem->own_every = 3;
}

static void make_schedule(schedule *plan, uint64_t seed)
{
  uint64_t random = mix(seed, 0x90b1);
  *plan = (schedule){.seed = mix(seed, 3)};
  make_problem(&plan->problem, &random);
  make_deaths(plan, kind_of(seed), &random);
  plan->problem.verify = mix(seed, 6) % 4 != 0;
  plan->problem.regrids =
      kind_of(seed) == REGRIDDED || (plan->problem.section_at > 0 && mix(seed, 9) % 2 == 0);
  if (kind_of(seed) == ANYTHING && plan->problem.section_at > 0 && mix(seed, 11) % 2 == 0)
    plan->problem.section_every = plan->problem.checkpoint_every * (1 + (int)(mix(seed, 12) % 3));
  for (gab_rank a = 0; a < plan->problem.ranks; a++) /* some pairs become or cease to be neighbours */
    for (gab_rank b = 0; b < plan->problem.ranks; b++)
      plan->problem.later[a][b] =
          plan->problem.adjacent[a][b] !=
          (a != b && mix(seed + 10, (uint64_t)(a + b) + 31 * (uint64_t)(a * b)) % 3 == 0);
  /* With several deaths the receiver of the first message may have been restored and lack its hash; in a cluster
   * that rolls back, members receive the new messages only. */
  if (!with_clusters && plan->problem.verify && plan->death_count == 1 && mix(seed, 7) % 4 == 0)
    plan->problem.unsteady = 1 + (int)(mix(seed, 8) % (uint64_t)(plan->problem.steps - 1));
  if (with_clusters) make_clusters(&plan->problem, seed);
  if (with_own) make_own_times(plan, seed);
}

/* ---------------------------------------------------------------- shrinking */

static bool still_fails(const schedule *plan) { return run_schedule(plan, false, NULL).failure[0] != 0; }

static bool leave_out_death(schedule *plan)
{
  for (int i = 0; i < plan->death_count; i++) {
    schedule less = *plan;
    less.death_count--;
    memmove(&less.deaths[i], &less.deaths[i + 1], (size_t)(less.death_count - i) * sizeof(death));
    memmove(&less.behind[i], &less.behind[i + 1], (size_t)(less.death_count - i) * sizeof(int));
    if (!still_fails(&less)) continue;
    *plan = less;
    return true;
  }
  return false;
}

/* Sets pieces of the choices to 0, the oldest event (delta debugging, Zeller and Hildebrandt 2002). */
static bool leave_out_choices(schedule *plan, long piece)
{
  bool any = false;
  uint32_t *kept = malloc((size_t)piece * sizeof *kept);
  if (!kept) abort();
  for (long at = 0; at < plan->choice_count; at += piece) {
    const long end = at + piece < plan->choice_count ? at + piece : plan->choice_count;
    bool is_zero = true;
    for (long i = at; i < end; i++) is_zero = is_zero && plan->choices[i] == 0;
    if (is_zero) continue;
    memcpy(kept, plan->choices + at, (size_t)(end - at) * sizeof *kept);
    memset(plan->choices + at, 0, (size_t)(end - at) * sizeof *kept);
    if (still_fails(plan)) any = true;
    else memcpy(plan->choices + at, kept, (size_t)(end - at) * sizeof *kept);
  }
  free(kept);
  return any;
}

static void shrink(schedule *plan)
{
  bool better = true;
  for (int round = 0; better && round < 6; round++) {
    better = leave_out_death(plan);
    for (long piece = plan->choice_count; piece >= 1; piece /= 4)
      if (leave_out_choices(plan, piece)) better = true;
  }
}

static void print_schedule(const schedule *plan)
{
  const problem *problem = &plan->problem;
  printf("%d ranks, %d spares, %d steps, checkpoint every %d, reduction every %d, decision every %d, section "
         "at %d and every %d, %d ahead, %d below each in the tree, checkpoints of clusters every %d\n",
         (int)problem->ranks, (int)problem->spares, problem->steps, problem->checkpoint_every,
         problem->reduce_every, problem->decide_every, problem->section_at, problem->section_every,
         (int)problem->ahead, (int)problem->children, problem->own_every);
  for (gab_rank s = 0; s < problem->ranks; s++) {
    printf("  rank %d: ", (int)s);
    if (problem->clusters) printf("cluster %d, ", (int)problem->cluster[s]);
    printf("holder %d, neighbours", (int)problem->holder[s]);
    for (gab_rank n = 0; n < problem->ranks; n++)
      if (problem->adjacent[s][n]) printf(" %d", (int)n);
    printf("\n");
  }
  for (int i = 0; i < plan->death_count; i++)
    printf(plan->behind[i] ? "  death of process %d at event %ld behind section %d\n"
                           : "  death of process %d at event %ld\n",
           (int)plan->deaths[i].process, plan->deaths[i].event, plan->behind[i]);
  for (long i = 0; i < plan->choice_count; i++)
    if (plan->choices[i]) printf("  choice %u at event %ld\n", plan->choices[i], i);
}

static void report(uint64_t seed, const char *failure, bool shrinks)
{
  schedule plan;
  make_schedule(&plan, seed);
  printf("schedule %lu: %s\n", (unsigned long)seed, failure);
  const outcome first = run_schedule(&plan, false, &plan.choices);
  plan.choice_count = first.events + 1;
  plan.choices = realloc(plan.choices, (size_t)plan.choice_count * sizeof *plan.choices);
  if (!plan.choices) abort();
  plan.choices[plan.choice_count - 1] = 0;
  if (shrinks && still_fails(&plan)) shrink(&plan);
  print_schedule(&plan);
  const outcome last = run_schedule(&plan, true, NULL);
  printf("      %s\nagain: --seed %lu --schedules 1\n", last.failure, (unsigned long)seed);
  free(plan.choices);
}

/* ---------------------------------------------------------------- counting */

typedef struct table {
  long behind, uncommitted, holder, regridded, former, caught_up, across;
  long runs[KIND_COUNT], finished[KIND_COUNT], extinct[KIND_COUNT], gathered[KIND_COUNT], caught,
      over[KIND_COUNT][GAB_LOCAL_REASON_COUNT];
  double events;
  gab_local_stats stats;
} table;

static void count(table *table, kind kind, const outcome *out)
{
  table->runs[kind]++;
  table->events += (double)out->events;
  table->finished[kind] += out->finished;
  table->extinct[kind] += out->extinct;
  table->gathered[kind] += out->gathers;
  table->caught += out->caught;
  table->behind += out->met.behind;
  table->uncommitted += out->met.uncommitted;
  table->holder += out->met.holder;
  table->regridded += out->met.regridded;
  table->former += out->met.former;
  table->caught_up += out->met.caught_up;
  table->across += out->met.across;
  table->stats.compared += out->stats.compared;
  if (out->over) table->over[kind][out->reason]++;
  table->stats.duplicates += out->stats.duplicates;
  table->stats.stale += out->stats.stale;
  table->stats.left_out += out->stats.left_out;
  table->stats.replayed += out->stats.replayed;
  table->stats.takeovers += out->stats.takeovers;
  table->stats.jumps += out->stats.jumps;
  table->stats.rollbacks += out->stats.rollbacks;
  table->stats.own_checkpoints += out->stats.own_checkpoints;
  table->stats.restored_messages += out->stats.restored_messages;
}

static void print_table(const table *table)
{
  printf("%-20s %9s %9s", "schedules", "all", "finished");
  for (int i = 0; i < GAB_LOCAL_REASON_COUNT; i++)
    printf(" %14s", gab_local_reason_name((gab_local_reason)i));
  printf(" %14s %14s\n", "nobody left", "all gather");
  for (int k = 0; k < KIND_COUNT; k++) {
    printf("%-20s %9ld %9ld", kind_names[k], table->runs[k], table->finished[k]);
    for (int i = 0; i < GAB_LOCAL_REASON_COUNT; i++) printf(" %14ld", table->over[k][i]);
    printf(" %14ld %14ld\n", table->extinct[k], table->gathered[k]);
  }
  printf(
      "deaths beside a rank that came back and is behind a checkpoint of others %ld, of its holder %ld; of who came back, before the "
      "first checkpoint that it took was committed %ld; between the first regrid and the last section %ld; of a rank with former neighbours %ld\n"
      "restored again, from behind a regrid after from before it %ld\n",
      table->behind, table->holder, table->uncommitted, table->regridded, table->former, table->across);
  const gab_local_stats *s = &table->stats;
  printf(
      "events %.0f, take-overs %lu, replayed %lu, left out %lu, compared %lu, caught %ld, duplicates dropped %lu, stale dropped "
      "%lu, restored later again %lu, went back with its cluster %lu, checkpoints of clusters %lu, messages restored %lu\n",
      table->events, (unsigned long)s->takeovers, (unsigned long)s->replayed, (unsigned long)s->left_out,
      (unsigned long)s->compared, table->caught, (unsigned long)s->duplicates, (unsigned long)s->stale,
      (unsigned long)s->jumps, (unsigned long)s->rollbacks, (unsigned long)s->own_checkpoints,
      (unsigned long)s->restored_messages);
}

/* Checks that the schedules have reached all situations. */
static bool has_been_everywhere(const table *table)
{
  const gab_local_stats *s = &table->stats;
  bool all = s->takeovers > 0 && s->replayed > 0 && s->left_out > 0 && s->duplicates > 0 && s->stale > 0 &&
             (s->jumps > 0) == !with_own && (s->restored_messages > 0) == with_own && s->compared > 0 &&
             (table->caught > 0) == !with_clusters && (s->rollbacks > 0) == with_clusters;
  all = all && table->behind > 0 && table->uncommitted > 0 && table->holder > 0 && table->regridded > 0 &&
        table->former > 0 && table->caught_up > 0;
  for (int i = 0; i < GAB_LOCAL_REASON_COUNT; i++) all = all && table->over[ANYTHING][i] > 0;
  for (int k = 0; k < KIND_COUNT; k++) all = all && table->finished[k] > 0;
  return all;
}

int main(int argc, char **argv)
{
  long schedules = 6000;
  uint64_t seed = 1;
  bool wants_table = false, shrinks = true;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--schedules") == 0 && i + 1 < argc) schedules = strtol(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) seed = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--clusters") == 0) with_clusters = true;
    else if (strcmp(argv[i], "--own") == 0) with_own = with_clusters = true;
    else if (strcmp(argv[i], "--table") == 0) wants_table = true;
    else if (strcmp(argv[i], "--no-shrink") == 0) shrinks = false;
    else return fprintf(stderr, "%s: what is %s?\n", argv[0], argv[i]), 2;
  }
  table table = {0};
  int failures = 0;
  for (long i = 0; i < schedules && failures < 3; i++) {
    schedule plan;
    make_schedule(&plan, seed + (uint64_t)i);
    const outcome out = run_schedule(&plan, false, NULL);
    count(&table, kind_of(seed + (uint64_t)i), &out);
    if (!out.failure[0]) continue;
    failures++;
    report(seed + (uint64_t)i, out.failure, shrinks);
  }
  if (wants_table || failures > 0) print_table(&table);
  if (failures == 0 && schedules >= 6000 && !has_been_everywhere(&table)) {
    print_table(&table);
    printf("there are places to which no schedule comes\n");
    failures++;
  }
  return failures > 0;
}
