/* SPDX-License-Identifier: Apache-2.0 */
/* A protected run of the automaton that checks itself: every block is correct, and exists exactly once.
 *
 *   mpi_automaton [--steps N] [--every N] [--scheme NAME] [--copies N] [--group N] [--losses N] [--per-node N]
 *                 [--scrub N] [--overlap | --overlap-auto] [--no-rebalance] [FAULT ...]
 *
 * With --per-node the processes report nodes of N processes as failure domains. Prints the checksum. */
/* gabion-test: np=1,2,4,7 quick=4 timeout=60 args=--steps 60 --every 10 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

enum { MOST_INJECTIONS = 32 };

typedef struct options {
  gab_step steps;
  int per_node;
  gab_protection protection;
  gab_fault_injection injections[MOST_INJECTIONS];
} options;

static gab_status read_value(const char *name, const char *value, options *o)
{
  if (strcmp(name, "--steps") == 0) o->steps = atoll(value);
  else if (strcmp(name, "--copies") == 0) o->protection.redundancy.copies = atoi(value);
  else if (strcmp(name, "--group") == 0) o->protection.redundancy.group = atoi(value);
  else if (strcmp(name, "--losses") == 0) o->protection.redundancy.losses = atoi(value);
  else if (strcmp(name, "--scrub") == 0) o->protection.scrub = atoll(value);
  else if (strcmp(name, "--per-node") == 0) o->per_node = atoi(value);
  else if (strcmp(name, "--every") == 0) return gab_interval_parse(value, 1, &o->protection.every);
  else if (strcmp(name, "--scheme") == 0) o->protection.redundancy.scheme = gab_scheme_by_name(value);
  else GAB_FAIL(GAB_ERR_INPUT, "unknown option %s", name);
  return strcmp(name, "--scheme") == 0 && !o->protection.redundancy.scheme ? GAB_ERR_INPUT : GAB_OK;
}

static gab_status read_options(int argc, char **argv, options *o)
{
  *o = (options){.steps = 60, .protection = {.every = {.steps = 10}, .rebalance = automaton_rebalance}};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--no-rebalance") == 0) {
      o->protection.rebalance = NULL;
    } else if (strcmp(argv[i], "--overlap") == 0) {
      o->protection.overlap = GAB_OVERLAP_ALWAYS;
    } else if (strcmp(argv[i], "--overlap-auto") == 0) {
      o->protection.overlap = GAB_OVERLAP_AUTO;
    } else if (strncmp(argv[i], "--", 2) == 0) {
      GAB_TRY(read_value(argv[i], value, o));
      i++;
    } else {
      if (o->protection.injection_count == MOST_INJECTIONS)
        GAB_FAIL(GAB_ERR_INPUT, "at most %d fault injections", MOST_INJECTIONS);
      GAB_TRY(gab_fault_injection_parse(argv[i], &o->injections[o->protection.injection_count++]));
    }
  }
  o->protection.injections = o->injections;
  return GAB_OK;
}

/* Protected like the rest: a death here takes the run back. */
typedef struct judge {
  automaton *app;
  gab_step steps;
  uint64_t checksum;
  bool right;
} judge;

static gab_status judge_result(void *user, gab_step step)
{
  judge *j = user;
  uint64_t wrong = automaton_is_right(j->app, j->steps) ? 0 : 1, blocks;
  GAB_TRY(gab_world_sum_u64(j->app->world, &wrong, 1));
  GAB_TRY(gab_forest_global_blocks(j->app->forest, &blocks));
  GAB_TRY(gab_forest_checksum(j->app->forest, &j->checksum));
  const int32_t *roots = j->app->roots;
  uint64_t due = (uint64_t)roots[0] * (uint64_t)roots[1] * (uint64_t)roots[2];
  j->right = wrong == 0 && blocks == due && step == j->steps;
  if (!j->right && gab_world_is_root(j->app->world))
    printf("wrong on %" PRIu64 " ranks, %" PRIu64 " of %" PRIu64 " blocks, step %" GAB_PRI_STEP "\n", wrong,
           blocks, due, step);
  return GAB_OK;
}

/* As if this machine were several. */
static void pretend_nodes(const gab_world *world, options *o)
{
  char name[32];
  if (o->per_node == 0) return;
  snprintf(name, sizeof name, "node%d", gab_world_rank(world) / o->per_node);
  setenv("GABION_NODE", name, 1);
  o->protection.redundancy.separate = GAB_DOMAIN_NODE;
}

static gab_status run(automaton *app, options *o, judge *j)
{
  gab_timeloop *loop;
  GAB_TRY(gab_timeloop_create(app->forest, o->steps, &loop));
  gab_entity entity = automaton_entity(app);
  *j = (judge){.app = app, .steps = o->steps};
  gab_status status = gab_timeloop_add_task(loop, "automaton", automaton_step, app);
  if (status == GAB_OK) status = gab_timeloop_add_action(loop, "sum", automaton_sum_due, automaton_sum, app);
  if (status == GAB_OK) status = gab_timeloop_add_finish(loop, "judge", judge_result, j);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &entity);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, &o->protection);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  gab_timeloop_destroy(&loop);
  return status;
}

/* Each fault injection has to come, and nobody else may die. */
static void doom(const options *o)
{
  for (size_t d = 0; d < o->protection.injection_count; d++) {
    REQUIRE(o->injections[d].random == 0 && o->injections[d].stopped == 0 && !o->injections[d].flips);
    for (int i = 0; i < o->injections[d].rank_count; i++) test_doom(o->injections[d].ranks[i]);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  options o;
  automaton app;
  judge j = {.right = false};
  REQUIRE_OK(read_options(argc, argv, &o));
  doom(&o);
  pretend_nodes(world, &o);
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){3, 3, 2}));
  REQUIRE_OK(run(&app, &o, &j));
  REQUIRE(j.right);
  if (gab_world_is_root(world)) printf("checksum %016" PRIx64 "\n", j.checksum);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&app);
  return test_end(&world);
}
