/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,5 quick=2 timeout=60 */
/* A ghost exchange of data without coupling across levels is refused when blocks of different levels touch anywhere.
 * All ranks return the same message, and the world stays intact. This holds after a build, an adaptation and a
 * restore of such a grid. On one level the exchange works again. */
#include "core/base/hash.h"
#include "tests/blockforest/adapt/adapting.h"

enum { BLOCKS = 4, CELLS = 4 };

typedef struct plate {
  gab_block_field field;
  gab_forest *forest;
  gab_data_id id;
  gab_exchange *plain, *coupled;
  gab_mark all; /* mark of all blocks except the one at the origin */
  gab_mark first;
} plate;

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_status mark(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const plate *it = user;
  const int level = gab_block_level(forest, block);
  const gab_box cells = gab_block_cells(forest, block);
  const bool first = cells.lo[0] >> level < CELLS && cells.lo[1] >> level < CELLS;
  *mark = first ? it->first : it->all;
  return GAB_OK;
}

/* Blocks to ranks in the order of a curve. */
static void plate_build(gab_world *world, plate *it, bool refined)
{
  const gab_forest_options options = {.grid = {2, {BLOCKS, BLOCKS, 1}}, .cells = {CELLS, CELLS, 1}, .dx = 1};
  gab_rank ranks = gab_world_members(world)->ranks;
  *it = (plate){.field = {.shape = {.cells = {CELLS, CELLS, 1}, .ghosts = {1, 1, 0}, .components = 1}}};
  gab_block_data_kind kind = gab_block_field_data(&it->field, "temperature");
  gab_ghost_kind ghosts = gab_block_field_ghosts(&it->field);
  REQUIRE_OK(gab_forest_create(world, &options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &kind, &it->id));
  REQUIRE_OK(gab_exchange_create(it->forest, it->id, &ghosts, &it->plain));
  ghosts.coupled = true;
  REQUIRE_OK(gab_exchange_create(it->forest, it->id, &ghosts, &it->coupled));
  REQUIRE_OK(
      gab_forest_build(it->forest, refined ? refine_first : NULL, NULL, 1, blocks_in_turn, &ranks, NULL));
}

static void plate_destroy(plate *it)
{
  gab_exchange_destroy(&it->plain);
  gab_exchange_destroy(&it->coupled);
  gab_forest_destroy(&it->forest);
}

static void adapt(plate *it, gab_mark first, gab_mark all)
{
  it->first = first;
  it->all = all;
  REQUIRE_OK(
      gab_forest_adapt(it->forest, &(gab_adapt_options){.max_level = 2, .mark = mark, .user = it}, NULL));
}

static void exchange(gab_exchange *exchange)
{
  REQUIRE_OK(gab_exchange_start(exchange));
  REQUIRE_OK(gab_exchange_finish(exchange));
}

/* Equal on all ranks: a failure of one rank would leave the others in the barrier. */
static void is_refused(plate *it)
{
  gab_world *world = gab_forest_world(it->forest);
  uint64_t plan;
  REQUIRE(gab_exchange_start(it->plain) == GAB_ERR_STATE);
  REQUIRE(strstr(gab_error_message(), "field") && strstr(gab_error_message(), "levels"));
  uint64_t words = gab_hash64(gab_error_message(), strlen(gab_error_message()), 0), least = words;
  REQUIRE_OK(gab_world_max_u64(world, &words, 1));
  REQUIRE_OK(gab_world_min_u64(world, &least, 1));
  REQUIRE(least == words);
  REQUIRE(gab_exchange_plan(it->plain, &plan) == GAB_ERR_STATE);
  REQUIRE(gab_exchange_finish(it->plain) == GAB_ERR_STATE); /* not started */
  REQUIRE_OK(gab_world_check(world));
  exchange(it->coupled);
}

static void built_so(gab_world *world)
{
  plate it;
  plate_build(world, &it, true);
  is_refused(&it);
  plate_destroy(&it);
}

static void adapted(gab_world *world)
{
  plate it;
  plate_build(world, &it, false);
  exchange(it.plain);
  adapt(&it, GAB_MARK_REFINE, GAB_MARK_KEEP);
  is_refused(&it);
  adapt(&it, GAB_MARK_COARSEN, GAB_MARK_KEEP);
  exchange(it.plain);
  adapt(&it, GAB_MARK_REFINE, GAB_MARK_REFINE); /* one level again, one finer */
  exchange(it.plain);
  plate_destroy(&it);
}

/* Restoring is local: a rank that finds such a border informs the others by breaking the world. */
static void restored(gab_world *world)
{
  plate it;
  gab_status abort_request;
  gab_buffer flat, refined;
  plate_build(world, &it, false);
  gab_buffer_init(&flat, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&refined, GAB_MEMORY_SNAPSHOT);
  REQUIRE_OK(gab_forest_pack(it.forest, &flat));
  adapt(&it, GAB_MARK_REFINE, GAB_MARK_KEEP);
  REQUIRE_OK(gab_forest_pack(it.forest, &refined));
  gab_reader in = gab_reader_of_buffer(&flat);
  REQUIRE_OK(gab_forest_restore(it.forest, &in, 1, NULL, NULL));
  exchange(it.plain);
  in = gab_reader_of_buffer(&refined);
  REQUIRE_OK(gab_forest_restore(it.forest, &in, 1, NULL, NULL));
  exchange(it.coupled);
  gab_status status = gab_world_barrier(world); /* the first rank may fail before the others know */
  if (status == GAB_OK) status = gab_exchange_start(it.plain);
  if (status == GAB_OK) status = gab_exchange_finish(it.plain);
  if (status == GAB_OK) status = gab_world_barrier(world);
  REQUIRE(status == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_ERR_STATE && strstr(gab_error_message(), "levels"));
  gab_buffer_release(&flat);
  gab_buffer_release(&refined);
  plate_destroy(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  built_so(world);
  adapted(world);
  if (gab_world_survives_deaths(world)) restored(world);
  return test_end(&world);
}
