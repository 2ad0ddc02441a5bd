/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a curve: every block has one owner, the one that a cut of the sorted list of all blocks gives; no
 * member gets more than mean + heaviest block, none stays empty; who owned what before does not matter.
 * gabion-test: np=1,2,3,4,7 quick=4 timeout=60 */
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/blockforest/random_domain.h"

enum { DOMAINS = 40, MOST = 1000 };

static uint64_t random_weight(void *user, int level, const gab_box *cells)
{
  const random_domain *domain = user;
  (void)level;
  uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2]);
  uint64_t weight = gab_hash_counter(domain->seed, 20, place);
  return weight % 9 == 0 ? 1 + weight % 1000 : 1 + weight % 10; /* now and then a heavy one */
}

/* ---- the answer from scratch: all blocks, sorted along the curve, cut one by one */

typedef struct listed {
  uint64_t position, weight;
  gab_block_id id;
  gab_rank owner;
} listed;

typedef struct listing {
  listed block[MOST];
  int64_t count;
  uint64_t total, heaviest;
} listing;

static int along_the_curve(const void *a, const void *b)
{
  const listed *left = a, *right = b;
  return (left->position > right->position) - (left->position < right->position);
}

static uint64_t weight_at(const random_domain *domain, const int32_t at[3])
{
  gab_box cells;
  for (int axis = 0; axis < 3; axis++) cells.lo[axis] = (int64_t)at[axis] * domain->options.cells[axis];
  return domain->options.weight ? random_weight((void *)(uintptr_t)domain, 0, &cells) : 1;
}

static void list_blocks(const random_domain *domain, const gab_curve *curve, listing *all)
{
  const int32_t *roots = domain->options.grid.roots;
  int bits = 0; /* of the smallest cube around the grid */
  while (1 << bits < roots[0] || 1 << bits < roots[1] || 1 << bits < roots[2]) bits++;
  *all = (listing){.count = 0};
  FOR_PLACES(domain, at)
  {
    if (!domain_has(domain, at)) continue;
    listed *block = &all->block[all->count++];
    uint32_t place[3] = {(uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]};
    block->position = curve->encode(domain->options.grid.dimension, bits, place);
    block->id = domain_id(domain, at);
    block->weight = weight_at(domain, at);
    all->total += block->weight;
    if (block->weight > all->heaviest) all->heaviest = block->weight;
  }
  qsort(all->block, (size_t)all->count, sizeof(listed), along_the_curve);
}

/* One after another: where the block begins, but no more than one member further than the block before, and
 * not so late that members stay empty. */
static void cut_list(listing *all, int64_t members)
{
  uint64_t before = 0;
  int64_t last = -1, upto = -1;
  for (int64_t j = 0; j < all->count; j++) {
    int64_t starts_in = (int64_t)(before * (uint64_t)members / all->total);
    upto = starts_in < upto + 1 || j == 0 ? starts_in : upto + 1;
    int64_t owner = upto;
    if (all->count >= members && owner < members - (all->count - j)) owner = members - (all->count - j);
    REQUIRE(owner >= last && owner < members);
    last = owner;
    all->block[j].owner = (gab_rank)owner;
    before += all->block[j].weight;
  }
}

static void check_bounds(const listing *all, int64_t members, const gab_balance_report *report)
{
  uint64_t heaviest = 0;
  for (int64_t m = 0; m < members; m++) {
    uint64_t weight = 0;
    int64_t blocks = 0;
    for (int64_t j = 0; j < all->count; j++) {
      if (all->block[j].owner != m) continue;
      weight += all->block[j].weight;
      blocks++;
    }
    REQUIRE(all->count < members || blocks > 0);
    REQUIRE(weight * (uint64_t)members <= all->total + all->heaviest * (uint64_t)members);
    if (weight > heaviest) heaviest = weight;
  }
  REQUIRE(report->blocks == (uint64_t)all->count);
  REQUIRE(report->weight_total == all->total);
  REQUIRE(report->weight_max == heaviest);
  REQUIRE(report->imbalance == (double)heaviest * (double)members / (double)all->total);
}

static gab_rank listed_owner(const void *rule, gab_block_id id)
{
  const listing *all = rule;
  for (int64_t j = 0; j < all->count; j++)
    if (all->block[j].id == id) return all->block[j].owner;
  return GAB_NO_RANK;
}

/* ---- the tests */

static const gab_curve *curve_of(const gab_balancer *balancer)
{
  return balancer == &gab_balancer_morton ? &gab_curve_morton : &gab_curve_hilbert;
}

static void scatter(gab_forest *forest, uint64_t seed)
{
  random_owners owners = owners_make(gab_forest_world(forest), seed);
  gab_rank targets[MOST];
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    targets[i] = random_owner(&owners, gab_block_get_id(gab_forest_block(forest, i)));
  REQUIRE_OK(gab_forest_migrate(forest, targets));
}

static void rebalance(const random_domain *domain, gab_forest *forest, const gab_balancer *curve,
                      listing *all)
{
  const gab_balance_options options = {.balancer = curve};
  gab_balance_report report;
  int64_t members = gab_world_members(gab_forest_world(forest))->ranks;
  uint64_t before, after;
  REQUIRE_OK(gab_forest_checksum(forest, &before));
  list_blocks(domain, curve_of(curve), all);
  cut_list(all, members);
  REQUIRE_OK(gab_balance_forest(forest, &options, &report));
  domain_check(domain, forest, listed_owner, all);
  check_bounds(all, members, &report);
  REQUIRE_OK(gab_balance_forest(forest, &options, &report));
  REQUIRE(report.blocks_moved == 0);
  REQUIRE_OK(gab_forest_checksum(forest, &after));
  REQUIRE(before == after);
}

static void try_domain(gab_world *world, uint64_t seed, const gab_balancer *curve, const gab_balancer *other)
{
  const gab_balance_options options = {.balancer = curve};
  static listing all;
  random_domain domain;
  domain_make(&domain, seed);
  if (domain_draw(&domain, 50, 2)) domain.options.weight = random_weight;
  int64_t members = gab_world_members(world)->ranks;
  gab_forest *forest;
  gab_balance_report report;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  stones_register(forest, &seed);
  list_blocks(&domain, curve_of(curve), &all);
  gab_status status = gab_balance_initial(forest, &options, &report);
  if (all.count < members) {
    char shown[32];
    snprintf(shown, sizeof shown, "%d blocks", (int)all.count);
    REQUIRE(status == GAB_ERR_INPUT && strstr(gab_error_message(), shown));
    gab_forest_destroy(&forest);
    return;
  }
  REQUIRE_OK(status);
  cut_list(&all, members);
  check_bounds(&all, members, &report);
  domain_check(&domain, forest, listed_owner, &all);
  REQUIRE(gab_balance_initial(forest, &options, NULL) == GAB_ERR_STATE);
  for (uint64_t round = 0; round < 2; round++) {
    scatter(forest, gab_hash_counter(seed, 21, round));
    rebalance(&domain, forest, curve, &all);
    rebalance(&domain, forest, other, &all);
  }
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < DOMAINS; seed++) {
    bool swap = seed % 2;
    try_domain(world, seed, swap ? &gab_balancer_hilbert : &gab_balancer_morton,
               swap ? &gab_balancer_morton : &gab_balancer_hilbert);
  }
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
