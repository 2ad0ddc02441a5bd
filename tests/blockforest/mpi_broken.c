/* SPDX-License-Identifier: Apache-2.0 */
/* After a world broke during an exchange, the exchange can start again. After it broke during a migration, images
 * restore the forest.
 * gabion-test: np=1,2,3,4 quick=3 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "tests/blockforest/random_ghosts.h"

enum { EXCHANGES = 12, MIGRATIONS = 12 };

static gab_status repair(gab_world *world)
{
  gab_status abort_request;
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  return abort_request;
}

/* All ranks have arrived when the first one leaves; then the world may break, before this rank knows. */
static bool meet(gab_world *world)
{
  gab_status status = gab_world_barrier(world);
  REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT);
  return status == GAB_OK;
}

static void break_exchanges(gab_world *world)
{
  random_domain domain = {0};
  domain.options = (gab_forest_options){
      .grid = {3, {3, 3, 2}}, .cells = {4, 3, 5}, .periodic = {true, false, true}, .dx = 1};
  ghost_setup setup = {.domain = &domain, .width = 1, .seed = 5};
  gab_block_data_kind kind = {
      .name = "cells", .user = &setup, .create = cells_create, .destroy = cells_destroy};
  gab_ghost_kind ghost = ghosts_kind(&setup, false);
  random_owners owners = {3, gab_world_members(world)->ranks, 0};
  gab_forest *forest;
  gab_exchange *exchange;
  gab_data_id id;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  domain_populate(forest, random_owner, &owners);
  REQUIRE_OK(gab_exchange_create(forest, id, &ghost, &exchange));
  for (int round = 0; round < EXCHANGES; round++) {
    cells_fill(forest, id);
    gab_rank villain = (gab_rank)round % owners.ranks;
    bool whole = meet(world);
    if (gab_world_rank(world) != villain) {
      gab_status status = gab_exchange_start(exchange);
      REQUIRE(whole || status == GAB_ERR_FAULT);
      if (status == GAB_OK && round % 3 > 0) status = gab_exchange_finish(exchange);
      REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT);
    } else {
      /* Other ranks may be in repair already: ranks that do not finish go there at once. */
      if (round % 2) (void)gab_exchange_start(exchange);
      REQUIRE(gab_world_raise(world, GAB_ERR_DIVERGED) == GAB_ERR_FAULT);
      REQUIRE(gab_exchange_start(exchange) == GAB_ERR_FAULT);
      REQUIRE(gab_exchange_finish(exchange) == GAB_ERR_FAULT);
    }
    REQUIRE(repair(world) == GAB_ERR_DIVERGED);
    setup.time++;
    cells_fill(forest, id);
    REQUIRE_OK(gab_exchange_start(exchange));
    REQUIRE_OK(gab_exchange_finish(exchange));
    cells_check(forest, id);
  }
  gab_exchange_destroy(&exchange);
  gab_forest_destroy(&forest);
}

/* ---- block data that fails to pack */

static gab_block_id refused; /* the block whose data fails */

static gab_status heavy_pack(void *user, const void *data, gab_buffer *out)
{
  const stones *from = data;
  if (from->value[from->count] == refused) GAB_FAIL(GAB_ERR_MEMORY, "no hands free");
  return stones_pack(user, data, out);
}

static gab_status heavy_create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  GAB_TRY(stones_create(user, forest, block, data));
  stones *made = *data;
  made->value[made->count] = gab_block_get_id(block); /* there is capacity for an id after the last value */
  return GAB_OK;
}

static void break_migration(const random_domain *domain, gab_forest *forest, gab_data_id id, uint64_t seed,
                            const random_owners *now)
{
  gab_world *world = gab_forest_world(forest);
  size_t count = gab_forest_block_count(forest);
  gab_rank targets[64], next = (gab_world_rank(world) + 1) % gab_world_members(world)->ranks;
  for (size_t i = 0; i < count; i++) targets[i] = next;
  gab_buffer image;
  uint64_t before, after;
  gab_buffer_init(&image, GAB_MEMORY_SNAPSHOT);
  REQUIRE_OK(gab_forest_pack(forest, &image));
  REQUIRE_OK(gab_forest_checksum(forest, &before));

  FOR_PLACES(domain, at)
  if (gab_hash_counter(seed, 30, domain_id(domain, at)) % 8 == 0) refused = domain_id(domain, at);
  (void)meet(world);
  gab_status status = gab_forest_migrate(forest, targets);
  bool culprit = gab_forest_find(forest, refused) && random_owner(now, refused) == gab_world_rank(world);
  REQUIRE(culprit ? status == GAB_ERR_FAULT : status == GAB_OK || status == GAB_ERR_FAULT);
  if (culprit) REQUIRE(gab_forest_migrate(forest, targets) == GAB_ERR_FAULT);
  refused = GAB_NO_BLOCK;
  /* Ranks that had finished may have broken the world before the culprit failed to pack. */
  gab_status abort_request = repair(world);
  REQUIRE(abort_request == GAB_ERR_MEMORY || abort_request == GAB_OK);
  if (culprit) REQUIRE(gab_forest_migrate(forest, targets) == GAB_ERR_STATE); /* the forest is torn */

  stones_change(forest, id);
  gab_reader in = gab_reader_of_buffer(&image);
  REQUIRE_OK(gab_forest_restore(forest, &in, 1, NULL, NULL));
  domain_check(domain, forest, random_owner, now);
  REQUIRE_OK(gab_forest_checksum(forest, &after));
  REQUIRE(before == after);
  gab_buffer_release(&image);
}

static void break_migrations(gab_world *world)
{
  random_domain domain = {0};
  domain.options = (gab_forest_options){
      .grid = {3, {4, 2, 3}}, .cells = {2, 2, 2}, .periodic = {false, false, true}, .dx = 1};
  uint64_t seed = 17;
  gab_block_data_kind kind = {.name = "stones",
                              .user = &seed,
                              .create = heavy_create,
                              .destroy = stones_destroy,
                              .packed_size = stones_size,
                              .pack = heavy_pack,
                              .unpack = stones_unpack};
  random_owners owners = {3, gab_world_members(world)->ranks, 0};
  gab_forest *forest;
  gab_data_id id;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  domain_populate(forest, random_owner, &owners);
  for (uint64_t round = 0; round < MIGRATIONS; round++) {
    break_migration(&domain, forest, id, round, &owners);
    gab_rank targets[64];
    owners.seed = 40 + round;
    for (size_t i = 0; i < gab_forest_block_count(forest); i++)
      targets[i] = random_owner(&owners, gab_block_get_id(gab_forest_block(forest, i)));
    REQUIRE_OK(gab_forest_migrate(forest, targets));
    domain_check(&domain, forest, random_owner, &owners);
  }
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  break_exchanges(world);
  if (gab_world_members(world)->ranks > 1) break_migrations(world); /* on one rank no block moves */
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
