/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=60 needs=ulfm */
/* A swap of fields during their ghost exchange is detected on any number of processes. Otherwise ghosts between
 * blocks of one process would be in one array, and received ones in the other. A swap before or after the exchange is
 * allowed. */
#include "tests/blockforest/adapt/adapting.h"

enum { CELLS = 4 };

typedef struct plate {
  gab_block_field field;
  gab_forest *forest;
  gab_data_id now, next;
  gab_exchange *exchange;
} plate;

static void swap_all(plate *it)
{
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    REQUIRE_OK(gab_field_swap(gab_block_data(block, it->now), gab_block_data(block, it->next)));
  }
}

static void plate_build(gab_world *world, plate *it)
{
  const random_owners owners = {3, gab_world_members(world)->ranks, 0};
  const gab_forest_options options = {
      .grid = {2, {4, 4, 1}}, .cells = {CELLS, CELLS, 1}, .periodic = {true, true}, .dx = 1};
  *it = (plate){.field = {.shape = {.cells = {CELLS, CELLS, 1}, .ghosts = {1, 1, 0}, .components = 1}}};
  const gab_block_data_kind now = gab_block_field_data(&it->field, "now"),
                            next = gab_block_field_scratch(&it->field, "next");
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&it->field);
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &now, &it->now));
  REQUIRE_OK(gab_forest_add_data(it->forest, &next, &it->next));
  REQUIRE_OK(gab_exchange_create(it->forest, it->now, &ghosts, &it->exchange));
  REQUIRE_OK(
      gab_forest_build(it->forest, NULL, NULL, 0, distribute_by_rule, (void *)(uintptr_t)&owners, NULL));
}

static void step(plate *it)
{
  REQUIRE_OK(gab_exchange_start(it->exchange));
  REQUIRE_OK(gab_exchange_finish(it->exchange));
  swap_all(it);
}

static void try_it(gab_world *world)
{
  plate it;
  gab_status abort_request;
  plate_build(world, &it);
  for (int i = 0; i < 3; i++) step(&it);
  gab_status status = gab_world_barrier(world);
  if (status == GAB_OK) status = gab_exchange_start(it.exchange);
  swap_all(&it);
  if (status == GAB_OK) status = gab_exchange_finish(it.exchange);
  if (status == GAB_OK) status = gab_world_barrier(world); /* a rank without blocks has no fields to swap */
  REQUIRE(status == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_ERR_STATE &&
          strstr(gab_error_message(), "swapped while exchange `field' was under way"));
  for (int i = 0; i < 3; i++) step(&it);
  gab_exchange_destroy(&it.exchange);
  gab_forest_destroy(&it.forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  try_it(world);
  return test_end(&world);
}
