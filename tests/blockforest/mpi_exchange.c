/* SPDX-License-Identifier: Apache-2.0 */
/* Ghost exchanges fill every ghost cell that has a neighbour with the value of its interior cell, and no other cell:
 * for random domains, widths, directions and owners, again after migrations.
 * gabion-test: np=1,2,3,4,7 quick=3 timeout=60 threads=2
 * gabion-test: np=1,2,3,4,7 quick=3 timeout=60 threads=2 */
#include "core/messages/collective.h"
#include "tests/blockforest/random_ghosts.h"

enum { DOMAINS = 30, ROUNDS = 4 };

static void exchange_once(gab_forest *forest, gab_exchange *exchange, gab_data_id id)
{
  cells_fill(forest, id);
  REQUIRE_OK(gab_exchange_start(exchange));
  REQUIRE_OK(gab_exchange_finish(exchange));
  cells_check(forest, id);
}

/* Volume of an exchange, from the tables. */
static void check_volume(gab_forest *forest, gab_exchange *exchange, ghost_setup *setup)
{
  gab_exchange_volume volume = gab_exchange_get_volume(exchange);
  size_t bytes = 0, local_bytes = 0, messages = 0;
  for (gab_rank rank = 0; rank < gab_world_members(gab_forest_world(forest))->ranks; rank++) {
    size_t to_rank = 0;
    for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
      const gab_block *block = gab_forest_block(forest, b);
      for (size_t r = 0; r < gab_block_neighbour_count(block); r++) {
        const gab_neighbour *row = &gab_block_neighbours(block)[r];
        if (row->owner == rank) to_rank += ghosts_size(setup, row->direction);
      }
    }
    if (rank == gab_world_rank(gab_forest_world(forest))) local_bytes = to_rank;
    else {
      bytes += to_rank;
      messages += to_rank > 0;
    }
  }
  REQUIRE(volume.bytes == bytes && volume.local_bytes == local_bytes && volume.messages == messages);
}

static void migrate(gab_forest *forest, uint64_t seed)
{
  random_owners owners = owners_make(gab_forest_world(forest), seed);
  size_t count = gab_forest_block_count(forest);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++)
    targets[i] = random_owner(&owners, gab_block_get_id(gab_forest_block(forest, i)));
  REQUIRE_OK(gab_forest_migrate(forest, targets));
  free(targets);
}

static void try_domain(gab_world *world, uint64_t seed)
{
  random_domain domain;
  domain_make(&domain, seed);
  random_owners owners = owners_make(world, seed + 1);
  ghost_setup setup = {.domain = &domain, .seed = seed};
  setup.width = 1 + (int)domain_draw(&domain, 40, 2);
  setup.sparse = domain_draw(&domain, 41, 2);
  gab_block_data_kind kind = {
      .name = "cells", .user = &setup, .create = cells_create, .destroy = cells_destroy};
  gab_ghost_kind ghost = ghosts_kind(&setup, domain_draw(&domain, 42, 2));
  gab_forest *forest;
  gab_exchange *exchange;
  gab_data_id id;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  domain_populate(forest, random_owner, &owners);
  REQUIRE_OK(gab_exchange_create(forest, id, &ghost, &exchange));
  for (uint64_t round = 0; round < ROUNDS; round++) {
    check_volume(forest, exchange, &setup);
    setup.time = 100 + 2 * round;
    exchange_once(forest, exchange, id);
    setup.time++;
    exchange_once(forest, exchange, id);
    migrate(forest, gab_hash_counter(seed, 12, round));
  }
  gab_exchange_destroy(&exchange);
  REQUIRE(!exchange);
  gab_forest_destroy(&forest);
}

static void wrong_order_is_refused(gab_world *world)
{
  random_domain domain;
  domain_make(&domain, 3);
  random_owners owners = {1, gab_world_members(world)->ranks, 0};
  ghost_setup setup = {.domain = &domain, .width = 1};
  gab_block_data_kind kind = {
      .name = "cells", .user = &setup, .create = cells_create, .destroy = cells_destroy};
  gab_ghost_kind ghost = ghosts_kind(&setup, true);
  gab_forest *forest;
  gab_exchange *exchange;
  gab_data_id id;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  domain_populate(forest, random_owner, &owners);
  REQUIRE(gab_exchange_create(forest, (gab_data_id){0}, &ghost, &exchange) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_exchange_create(forest, id, &ghost, &exchange));
  cells_fill(forest, id);
  REQUIRE(gab_exchange_finish(exchange) == GAB_ERR_STATE);
  REQUIRE_OK(gab_exchange_start(exchange));
  REQUIRE(gab_exchange_start(exchange) == GAB_ERR_STATE);
  REQUIRE_OK(gab_exchange_finish(exchange));
  cells_check(forest, id);
  gab_exchange_destroy(&exchange);
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < DOMAINS; seed++) try_domain(world, seed);
  wrong_order_is_refused(world);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
