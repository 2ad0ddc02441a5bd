/* SPDX-License-Identifier: Apache-2.0 */
/* Proxies take over the tables of a forest, and refuse invalid calls without a change. In a broken world every call
 * ends with a fault and no memory or message is left behind. */
/* gabion-test: np=1,2,3,5 quick=3 timeout=120 needs=ulfm */
#include "blockforest/adaptation/proxy_impl.h"
#include "core/messages/collective.h"
#include "tests/blockforest/random_domain.h"

enum { DOMAINS = 12, BREAKS = 24, SOME_BLOCKS = 4096 };

static gab_mark marks[SOME_BLOCKS];
static gab_rank targets[SOME_BLOCKS];

static void mark_all(gab_proxies *proxies, gab_mark mark)
{
  REQUIRE(gab_proxies_count(proxies) <= SOME_BLOCKS);
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) marks[i] = mark;
}

static gab_status move_on(gab_proxies *proxies)
{
  gab_rank ranks = gab_world_members(gab_proxies_world(proxies))->ranks;
  REQUIRE(gab_proxies_count(proxies) <= SOME_BLOCKS);
  for (size_t i = 0; i < gab_proxies_count(proxies); i++)
    targets[i] = (gab_rank)(gab_hash_counter(9, 9, gab_proxies_get(proxies, i)->id >> 2) % (uint64_t)ranks);
  return gab_proxies_move(proxies, targets);
}

/* Sum over all proxies of a hash of the proxy and its neighbours. */
static uint64_t fingerprint(gab_proxies *proxies)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    uint64_t own = gab_hash_counter(proxy->id, proxy->weight, (uint64_t)proxy->origin);
    for (int c = 0; c < GAB_CHILDREN_MAX; c++) own = gab_hash_counter(own, 1, (uint64_t)proxy->sources[c]);
    for (size_t r = 0; r < proxy->neighbour_count; r++)
      own = gab_hash_counter(own, proxy->neighbours[r].id,
                             (uint64_t)proxy->neighbours[r].owner * 27 +
                                 (uint64_t)proxy->neighbours[r].direction);
    sum += own;
  }
  return sum;
}

static void compare_with_forest(gab_forest *forest, gab_proxies *proxies)
{
  REQUIRE(gab_proxies_count(proxies) == gab_forest_block_count(forest));
  REQUIRE(gab_proxies_world(proxies) == gab_forest_world(forest));
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    REQUIRE(proxy->id == gab_block_get_id(block));
    REQUIRE(proxy->origin == GAB_ORIGIN_SELF);
    REQUIRE(proxy->sources[0] == gab_world_rank(gab_forest_world(forest)));
    REQUIRE(proxy->weight == gab_forest_block_weight(forest, proxy->id));
    REQUIRE(proxy->neighbour_count == gab_block_neighbour_count(block));
    for (size_t r = 0; r < proxy->neighbour_count; r++) {
      const gab_neighbour *a = &proxy->neighbours[r], *b = &gab_block_neighbours(block)[r];
      REQUIRE(a->id == b->id && a->owner == b->owner && a->direction == b->direction);
    }
  }
}

/* After splits, moves and merges the proxies report that all data stays in place. */
static void proxies_of_a_forest_find_back(gab_world *world, uint64_t seed)
{
  random_domain domain;
  domain_make(&domain, seed);
  domain.options.exists = NULL;
  random_owners owners = owners_make(world, seed);
  gab_forest *forest;
  gab_proxies *proxies;
  gab_refine_report report;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  domain.holes = 0;
  domain_populate(forest, random_owner, &owners);
  REQUIRE_OK(gab_proxies_of_forest(forest, &proxies));
  REQUIRE(gab_proxies_are_valid(proxies));
  compare_with_forest(forest, proxies);
  mark_all(proxies, GAB_MARK_REFINE);
  REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, &report));
  REQUIRE(report.split == domain_blocks(&domain) && report.forced == 0);
  REQUIRE_OK(move_on(proxies));
  mark_all(proxies, GAB_MARK_COARSEN);
  REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, &report));
  REQUIRE(report.merged == report.blocks && report.blocks == domain_blocks(&domain));
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    REQUIRE(proxy->origin == GAB_ORIGIN_SELF);
    REQUIRE(proxy->sources[0] == random_owner(&owners, proxy->id));
  }
  gab_proxies_destroy(&proxies);
  gab_forest_destroy(&forest);
}

/* One child of four or eight always exists, so a split never removes a whole block. */
static bool some_exist(void *user, int level, const gab_box *cells)
{
  const random_domain *domain = user;
  bool is_first = true;
  for (int axis = 0; axis < domain->options.grid.dimension; axis++)
    is_first = is_first && cells->lo[axis] / domain->options.cells[axis] % 2 == level % 2;
  uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2] + level);
  return is_first || gab_hash_counter(domain->seed, 9, place) % 16 >= 8;
}

/* Splits and moves at random, round after round. */
static void split_and_move(gab_proxies *proxies, int rounds, uint64_t seed)
{
  for (int round = 0; round < rounds; round++) {
    mark_all(proxies, GAB_MARK_KEEP);
    for (size_t i = 0; i < gab_proxies_count(proxies); i++)
      if (gab_hash_counter(seed, 10 + (uint64_t)round, gab_proxies_get(proxies, i)->id) % 8 < 2)
        marks[i] = GAB_MARK_REFINE;
    REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, NULL));
    REQUIRE_OK(move_on(proxies));
  }
}

/* Whatever children are missing, all blocks and tables return to the original ones. */
static void what_was_split_comes_back(gab_world *world, uint64_t seed)
{
  enum { LEVELS = 4 };
  random_domain domain;
  gab_proxies *proxies;
  gab_refine_report report;
  domain_make(&domain, seed);
  domain.options.exists = some_exist;
  for (int axis = 0; axis < domain.options.grid.dimension; axis++)
    domain.options.grid.roots[axis] = 1 + domain.options.grid.roots[axis] % 3;
  REQUIRE_OK(gab_proxies_create(world, &domain.options, &proxies));
  uint64_t roots = gab_proxies_count(proxies), rows = 0;
  for (size_t i = 0; i < gab_proxies_count(proxies); i++)
    rows += gab_proxies_get(proxies, i)->neighbour_count;
  split_and_move(proxies, LEVELS, seed);
  do { /* some blocks stay for a while, so that levels beyond the missing children differ */
    mark_all(proxies, GAB_MARK_COARSEN);
    for (size_t i = 0; i < gab_proxies_count(proxies); i++)
      if (gab_hash_counter(seed, 11, gab_proxies_get(proxies, i)->id >> 2) % 4 == 0) marks[i] = GAB_MARK_KEEP;
    REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, &report));
    REQUIRE(gab_proxies_are_valid(proxies));
    REQUIRE(report.split == 0);
    REQUIRE_OK(move_on(proxies));
  } while (report.merged > 0);
  do {
    mark_all(proxies, GAB_MARK_COARSEN);
    REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, &report));
    REQUIRE(gab_proxies_are_valid(proxies));
    REQUIRE(report.split == 0);
    REQUIRE_OK(move_on(proxies));
  } while (report.merged > 0);
  uint64_t sums[4] = {roots, rows, gab_proxies_count(proxies), 0};
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    sums[3] += gab_proxies_get(proxies, i)->neighbour_count;
    REQUIRE(gab_proxies_level(proxies, gab_proxies_get(proxies, i)->id) == 0);
  }
  REQUIRE_OK(gab_world_sum_u64(world, sums, 4));
  REQUIRE(sums[0] == sums[2] && sums[1] == sums[3]);
  gab_proxies_destroy(&proxies);
}

/* The last eighth of the left root block is excluded on levels with blocks that narrow. */
static bool behind_a_wall(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level < 3 || cells->lo[0] / 4 >> (level - 3) != 7;
}

/* Marks for a round: the left block is refined towards the wall, to level `deepest`, above level 2 only from block
 * `lowest` of the four; or the blocks on the right are coarsened. */
static void mark_beside_wall(gab_proxies *proxies, const gab_forest_options *options, int deepest, int lowest)
{
  mark_all(proxies, GAB_MARK_KEEP);
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_block_place place = gab_block_id_place(&options->grid, gab_proxies_get(proxies, i)->id);
    const int32_t x = place.at[0], wall = ((7 << place.level) - 1) >> 3; /* last existing one */
    const bool is_low = place.level >= 2 && place.at[1] >> (place.level - 2) < lowest;
    if (deepest > 0 && place.level < deepest && x == wall && !is_low) marks[i] = GAB_MARK_REFINE;
    if (deepest == 0 && x >> place.level == 1) marks[i] = GAB_MARK_COARSEN;
  }
}

/* The parent of a missing child touches a wall from the left. Blocks beyond the wall stay at most one level coarser
 * than that parent, also while its other children are all split. Finally the original grid returns. */
static void what_lies_beyond_a_wall_waits(gab_world *world, int deepest, int lowest)
{
  const gab_forest_options options = {
      .grid = {2, {2, 1, 1}}, .cells = {4, 4, 1}, .dx = 1, .exists = behind_a_wall};
  gab_proxies *proxies;
  gab_refine_report report;
  REQUIRE_OK(gab_proxies_create(world, &options, &proxies));
  for (int round = 0; round < deepest; round++) {
    mark_beside_wall(proxies, &options, deepest, lowest);
    REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, NULL));
    REQUIRE_OK(move_on(proxies));
  }
  for (int round = 0; round < 4; round++) {
    mark_beside_wall(proxies, &options, 0, 0);
    REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, &report));
    REQUIRE_OK(move_on(proxies));
  }
  uint64_t right[2] = {0, 0}; /* blocks of level 1, others */
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_block_place place = gab_block_id_place(&options.grid, gab_proxies_get(proxies, i)->id);
    if (place.at[0] >> place.level == 1) right[place.level != 1]++;
  }
  REQUIRE_OK(gab_world_sum_u64(world, right, 2));
  REQUIRE(right[0] == 4 && right[1] == 0);
  do {
    mark_all(proxies, GAB_MARK_COARSEN);
    REQUIRE_OK(gab_proxies_refine(proxies, marks, 8, &report));
    REQUIRE(gab_proxies_are_valid(proxies) && report.split == 0);
    REQUIRE_OK(move_on(proxies));
  } while (report.merged > 0);
  REQUIRE(report.blocks == 2);
  gab_proxies_destroy(&proxies);
}

static const gab_forest_options small = {
    .grid = {3, {3, 2, 2}}, .cells = {4, 4, 4}, .periodic = {true, false, true}, .dx = 1};

static void wrong_calls_change_nothing(gab_world *world)
{
  gab_proxies *proxies = NULL;
  gab_forest_options bad = small;
  bad.grid.roots[1] = 0;
  REQUIRE(gab_proxies_create(world, &bad, &proxies) == GAB_ERR_INPUT);
  REQUIRE(!proxies);
  REQUIRE_OK(gab_proxies_create(world, &small, &proxies));
  int deepest = gab_root_grid_max_level(&small.grid);
  uint64_t before = fingerprint(proxies);
  mark_all(proxies, GAB_MARK_REFINE);
  char number[16];
  REQUIRE(gab_proxies_refine(proxies, marks, -1, NULL) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), "-1"));
  REQUIRE(gab_proxies_refine(proxies, marks, deepest + 1, NULL) == GAB_ERR_INPUT);
  snprintf(number, sizeof number, "%d", deepest + 1);
  REQUIRE(strstr(gab_error_message(), number));
  REQUIRE_OK(gab_proxies_refine(proxies, marks, 0, NULL));
  REQUIRE(fingerprint(proxies) == before);
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) { /* as if their data had moved */
    gab_proxies_get(proxies, i)->origin = GAB_ORIGIN_SELF;
    gab_proxies_get(proxies, i)->sources[0] = gab_world_rank(world);
  }
  REQUIRE_OK(gab_proxies_refine(proxies, marks, deepest, NULL));
  before = fingerprint(proxies);
  mark_all(proxies, GAB_MARK_KEEP); /* a single block, on one rank */
  for (size_t i = 0; i < gab_proxies_count(proxies); i++)
    if (gab_proxies_get(proxies, i)->id == gab_block_id_of(&small.grid, (gab_block_place){1, {0, 0, 0}}))
      marks[i] = GAB_MARK_REFINE;
  REQUIRE(gab_proxies_refine(proxies, marks, deepest, NULL) == GAB_ERR_STATE);
  REQUIRE(fingerprint(proxies) == before);
  REQUIRE(gab_proxies_are_valid(proxies));
  gab_proxies_destroy(&proxies);
  REQUIRE(!proxies);
}

/* Some blocks, some levels. @return status of the first call that failed */
static gab_status work(gab_proxies *proxies, int rounds)
{
  for (int round = 0; round < rounds; round++) {
    mark_all(proxies, GAB_MARK_COARSEN);
    for (size_t i = 0; i < gab_proxies_count(proxies); i++)
      if (gab_hash_counter(3, (uint64_t)round, gab_proxies_get(proxies, i)->id) % 5 == 0)
        marks[i] = GAB_MARK_REFINE;
    GAB_TRY(gab_proxies_refine(proxies, marks, 3, NULL));
    GAB_TRY(move_on(proxies));
  }
  return GAB_OK;
}

static void break_it(gab_world *world, int round)
{
  gab_proxies *proxies;
  gab_rank villain = (gab_rank)round % gab_world_members(world)->ranks;
  REQUIRE_OK(gab_proxies_create(world, &small, &proxies));
  /* All ranks have arrived here when the first one leaves, though the world may break before this rank knows. */
  gab_status status = gab_world_barrier(world);
  if (status == GAB_OK) status = work(proxies, gab_world_rank(world) == villain ? round % 3 : 4);
  REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT);
  if (gab_world_rank(world) == villain) (void)gab_world_raise(world, GAB_ERR_DIVERGED);
  if (gab_world_rank(world) == villain || status == GAB_ERR_FAULT) {
    gab_proxies *none;
    REQUIRE(gab_proxies_refine(proxies, marks, 3, NULL) == GAB_ERR_FAULT);
    REQUIRE(gab_proxies_move(proxies, targets) == GAB_ERR_FAULT);
    REQUIRE(gab_proxies_create(world, &small, &none) == GAB_ERR_FAULT);
  }
  gab_status abort_request;
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_ERR_DIVERGED);
  REQUIRE(gab_proxies_refine(proxies, marks, 3, NULL) == GAB_ERR_STATE);
  REQUIRE(gab_proxies_move(proxies, targets) == GAB_ERR_STATE);
  gab_proxies_destroy(&proxies);
}

static uint64_t all_is_as_ever(gab_world *world)
{
  gab_proxies *proxies;
  REQUIRE_OK(gab_proxies_create(world, &small, &proxies));
  REQUIRE_OK(work(proxies, 4));
  REQUIRE(gab_proxies_are_valid(proxies));
  uint64_t sum = fingerprint(proxies);
  REQUIRE_OK(gab_world_sum_u64(world, &sum, 1));
  gab_proxies_destroy(&proxies);
  return sum;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < DOMAINS; seed++) proxies_of_a_forest_find_back(world, seed);
  for (uint64_t seed = 0; seed < DOMAINS; seed++) what_was_split_comes_back(world, seed);
  for (int deepest = 3; deepest <= 5; deepest++)
    for (int lowest = 0; lowest < 4; lowest++) what_lies_beyond_a_wall_waits(world, deepest, lowest);
  wrong_calls_change_nothing(world);
  uint64_t sum = all_is_as_ever(world);
  size_t held = gab_memory_now(GAB_MEMORY_OTHER);
  REQUIRE(all_is_as_ever(world) == sum);
  REQUIRE(gab_memory_now(GAB_MEMORY_OTHER) == held);
  for (int round = 0; round < BREAKS; round++) break_it(world, round);
  REQUIRE(all_is_as_ever(world) == sum);
  REQUIRE(gab_memory_now(GAB_MEMORY_OTHER) <= held);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
