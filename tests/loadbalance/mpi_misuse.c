/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=60 */
/* What balance.h forbids is refused, on all ranks alike, by a message that says what is wrong, and blocks
 * stay where they are: forests without blocks, strategies that are none, plans that do not fit. */
#include "core/base/log.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

typedef struct subject {
  gab_world *world;
  gab_forest *forest, *empty; /* of six blocks; of none */
  gab_proxies *proxies;       /* of the six */
} subject;

static gab_status assign_nothing(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                                 gab_balance_report *report)
{
  (void)options, (void)proxies, (void)part, (void)report;
  return GAB_OK;
}

/* ---- strategies */

static gab_status strategy_of_no_name(subject *it)
{
  (void)it;
  return gab_balancer_register(&(gab_balancer){.assign = assign_nothing, .is_built = true});
}
static gab_status strategy_that_does_nothing(subject *it)
{
  (void)it;
  return gab_balancer_register(&(gab_balancer){.name = "idle", .is_built = true});
}
static gab_status strategy_of_a_name_that_is_taken(subject *it)
{
  (void)it;
  return gab_balancer_register(
      &(gab_balancer){.name = "hilbert", .assign = assign_nothing, .is_built = true});
}
static gab_status strategy_that_nobody_knows(subject *it)
{
  (void)it;
  return gab_balancer_by_name("hilbrt") ? GAB_OK : GAB_ERR_INPUT;
}
static gab_status balance_by_what_does_nothing(subject *it)
{
  const gab_balancer idle = {.name = "idle", .is_built = true};
  return gab_balance_forest(it->forest, &(gab_balance_options){.balancer = &idle}, NULL);
}
static gab_status balance_in_no_way(subject *it)
{
  return gab_balance_forest(it->forest, &(gab_balance_options){.by = (gab_balance_by)7}, NULL);
}

/* ---- forests */

static gab_status balance_without_blocks(subject *it) { return gab_balance_forest(it->empty, NULL, NULL); }
static gab_status improve_without_blocks(subject *it)
{
  gab_balance_gain gain;
  return gab_balance_improve(it->empty, NULL, 1, &gain);
}
static gab_status populate_twice(subject *it) { return gab_balance_initial(it->forest, NULL, NULL); }

/* ---- plans */

static gab_status plan(subject *it, int32_t parts)
{
  int32_t part[6] = {0};
  return gab_balance_proxies(it->proxies, &(gab_balance_options){.plan = part, .parts = parts}, NULL);
}
static gab_status plan_for_nobody(subject *it) { return plan(it, 0); }
static gab_status contacts(subject *it, int32_t last)
{
  int32_t partners[2];
  const int32_t part[6] = {0, 1, 0, 1, 0, last};
  return gab_balance_contacts(it->proxies, part, 2, partners, NULL, NULL);
}
static gab_status contacts_of_a_part_too_many(subject *it) { return contacts(it, 2); }
static gab_status contacts_of_no_part(subject *it) { return contacts(it, -1); }

typedef struct misuse {
  const char *what;
  gab_status (*call)(subject *it);
  gab_status expected;
  const char *says, *says_of_several; /* on several processes, where that is refused first; NULL: the same */
} misuse;

#define ROW(call, expected, ...)                                                                             \
  {                                                                                                          \
#call, call, GAB_ERR_##expected, __VA_ARGS__                                                             \
  }
static const misuse misuses[] = {
    ROW(strategy_of_no_name, ARGUMENT, "needs a name", NULL),
    ROW(strategy_that_does_nothing, ARGUMENT, "a function that assigns", NULL),
    ROW(strategy_of_a_name_that_is_taken, ARGUMENT, "already a balancing strategy 'hilbert'", NULL),
    ROW(strategy_that_nobody_knows, INPUT, "no balancing strategy 'hilbrt' (there are: morton, hilbert",
        NULL),
    ROW(balance_by_what_does_nothing, ARGUMENT, "'idle' assigns nothing", NULL),
    ROW(balance_in_no_way, ARGUMENT, "in way 7", NULL),
    ROW(balance_without_blocks, STATE, "without blocks", NULL),
    ROW(improve_without_blocks, STATE, "without blocks", NULL),
    ROW(populate_twice, STATE, "has blocks already", NULL),
    ROW(plan_for_nobody, ARGUMENT, "0 parts", "planning is for one process"),
    ROW(contacts_of_a_part_too_many, ARGUMENT, "part 2 of 2", "planning is for one process"),
    ROW(contacts_of_no_part, ARGUMENT, "part -1 of 2", "planning is for one process"),
};

static void is_refused(subject *it, const misuse *one)
{
  const bool several = gab_members_count(gab_world_members(it->world)) > 1;
  const char *says = several && one->says_of_several ? one->says_of_several : one->says;
  gab_error_clear();
  const gab_status status = one->call(it);
  const bool refused = status == one->expected && strstr(gab_error_message(), says);
  if (!refused) fprintf(stderr, "%s: %s (%s)\n", one->what, gab_status_name(status), gab_error_message());
  CHECK(refused);
}

int main(int argc, char **argv)
{
  subject it = {.world = NULL};
  REQUIRE_OK(gab_world_create(&argc, &argv, &it.world));
  gab_log_set_level((gab_log_level)-1, (gab_log_level)-1);
  const gab_forest_options options = {.grid = {2, {3, 2, 1}}, .cells = {4, 4, 1}, .dx = 1};
  REQUIRE_OK(gab_forest_create(it.world, &options, &it.forest));
  REQUIRE_OK(gab_forest_create(it.world, &options, &it.empty));
  REQUIRE_OK(gab_balance_initial(it.forest, NULL, NULL));
  REQUIRE_OK(gab_proxies_of_forest(it.forest, &it.proxies));
  const uint64_t revision = gab_forest_revision(it.forest);
  const size_t blocks = gab_forest_block_count(it.forest);
  for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) is_refused(&it, &misuses[i]);
  CHECK(gab_forest_revision(it.forest) == revision && gab_forest_block_count(it.forest) == blocks);
  REQUIRE_OK(gab_world_check(it.world)); /* nothing of it broke the world */
  REQUIRE_OK(gab_balance_forest(it.forest, NULL, NULL));
  gab_proxies_destroy(&it.proxies);
  gab_forest_destroy(&it.forest);
  gab_forest_destroy(&it.empty);
  return test_end(&it.world);
}
