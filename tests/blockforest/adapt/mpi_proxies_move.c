/* SPDX-License-Identifier: Apache-2.0 */
/* More proxies move than fit one message: all arrive, tables are correct, and the bytes in transit stay below the
 * bound. */
/* gabion-test: np=1,2,3 quick=3 timeout=90 */
#include "core/messages/collective.h"
#include "tests/blockforest/random_domain.h"
#include "blockforest/adaptation/proxy_impl.h"

enum { SIDE = 36, ROUNDS = 4 };

static void require_all(gab_proxies *proxies, const random_owners *owners)
{
  gab_world *world = gab_proxies_world(proxies);
  uint64_t count = gab_proxies_count(proxies), sum[2] = {count, 0};
  for (size_t i = 0; i < count; i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    REQUIRE(random_owner(owners, proxy->id) == gab_world_rank(world));
    REQUIRE(proxy->weight == 1 + proxy->id % 7);
    for (size_t r = 0; r < proxy->neighbour_count; r++)
      REQUIRE(proxy->neighbours[r].owner == random_owner(owners, proxy->neighbours[r].id));
    sum[1] += proxy->neighbour_count;
  }
  REQUIRE(gab_proxies_are_valid(proxies));
  REQUIRE_OK(gab_world_sum_u64(world, sum, 2));
  REQUIRE(sum[0] == (uint64_t)SIDE * SIDE * SIDE);
  const uint64_t line = 3 * SIDE - 2; /* pairs of places at a distance of at most one, along one axis */
  REQUIRE(sum[1] == line * line * line - sum[0]);
}

static void move_them(gab_proxies *proxies, const random_owners *owners)
{
  const uint64_t ranks = (uint64_t)gab_world_members(gab_proxies_world(proxies))->ranks;
  const size_t count = gab_proxies_count(proxies);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++) targets[i] = random_owner(owners, gab_proxies_get(proxies, i)->id);
  gab_memory_reset_peak();
  REQUIRE_OK(gab_proxies_move(proxies, targets));
  /* sent bytes, and received bytes of each other rank; buffers grow by half */
  REQUIRE(gab_memory_peak(GAB_MEMORY_MESSAGE) < ranks * GAB_PROXY_MOVE_BYTES * 3 / 2 + ((size_t)4 << 20));
  free(targets);
}

static uint64_t odd_weight(void *user, int level, const gab_box *cells)
{
  const random_domain *domain = user;
  const int32_t at[3] = {(int32_t)cells->lo[0], (int32_t)cells->lo[1], (int32_t)cells->lo[2]};
  return 1 + gab_block_id_of(&domain->options.grid, (gab_block_place){level, {at[0], at[1], at[2]}}) % 7;
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_proxies *proxies;
  random_domain domain = {0};
  domain.options = (gab_forest_options){
      .grid = {3, {SIDE, SIDE, SIDE}}, .cells = {1, 1, 1}, .dx = 1, .weight = odd_weight, .user = &domain};
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const gab_rank ranks = gab_world_members(world)->ranks;
  REQUIRE_OK(gab_proxies_create(world, &domain.options, &proxies));
  for (gab_rank round = 0; round < ROUNDS; round++) {
    const gab_rank one = round % ranks;
    random_owners owners = {(uint64_t)round, round % 2 ? ranks : one + 1, round % 2 ? 0 : one};
    move_them(proxies, &owners);
    require_all(proxies, &owners);
  }
  gab_proxies_destroy(&proxies);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
