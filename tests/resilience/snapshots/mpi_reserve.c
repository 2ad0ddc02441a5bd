/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of checkpoints is there, every page of it, before the first one is taken, and stays what it is: no checkpoint of a
 * grid that rests has to wait for the system. */
/* gabion-test: np=1,2,4,5 quick=4 timeout=60 */
#define _DEFAULT_SOURCE /* mincore() */
#include "tests/mpi_test.h"

#include "blockforest/exchange/block_field.h"
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "resilience/schemes/redundancy_impl.h"

#include <sys/mman.h>

enum { SIZE = 24, COMPONENTS = 8, BLOCKS = 3, TAKEN = 5 };

static const gab_block_field field = {
    .shape = {.cells = {SIZE, SIZE, SIZE}, .components = COMPONENTS, .layout = GAB_LAYOUT_SOA}};

/* Of pages that are entirely in it; those at its ends may contain other data. */
static bool is_resident(const gab_buffer *buffer)
{
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = ((uintptr_t)buffer->data + page - 1) / page * page,
                  end = ((uintptr_t)buffer->data + buffer->capacity) / page * page;
  static unsigned char there[1 << 16];
  if (end <= first) return true;
  const size_t pages = (end - first) / page;
  REQUIRE(pages <= sizeof there);
  REQUIRE(mincore((unsigned char *)buffer->data + (first - (uintptr_t)buffer->data), pages * page, there) ==
          0);
  for (size_t i = 0; i < pages; i++)
    if (!(there[i] & 1)) return false;
  return true;
}

/* Memory of a snapshot: the own image, those of others, parities. */
typedef struct places {
  const unsigned char *data[GAB_MOST_GROUP];
  size_t capacity[GAB_MOST_GROUP];
  int count;
} places;

static void add_place(places *all, const gab_buffer *buffer)
{
  REQUIRE(all->count < GAB_MOST_GROUP);
  all->data[all->count] = buffer->data;
  all->capacity[all->count++] = buffer->capacity;
}

static places places_of(const gab_snapshot *snapshot)
{
  places all = {.count = 0};
  add_place(&all, &snapshot->own);
  for (int i = 0; i < snapshot->copy_count; i++) add_place(&all, &snapshot->copies[i].image);
  if (snapshot->parities.group.count > 0 && snapshot->parities.group.parities > 0)
    add_place(&all, &snapshot->parities.rows);
  return all;
}

static void check_there(const gab_snapshot *snapshot, size_t own_bytes, int copies)
{
  CHECK(snapshot->own.capacity >= own_bytes && snapshot->own.capacity <= own_bytes + own_bytes / 64 + 4096);
  CHECK(is_resident(&snapshot->own));
  CHECK(snapshot->copy_count == copies);
  for (int i = 0; i < snapshot->copy_count; i++) {
    CHECK(snapshot->copies[i].image.capacity > 0);
    CHECK(is_resident(&snapshot->copies[i].image));
  }
  if (snapshot->parities.group.count > 0 && snapshot->parities.group.parities > 0) {
    CHECK(snapshot->parities.rows.capacity > 0);
    CHECK(is_resident(&snapshot->parities.rows));
  }
}

static int copies_due(const gab_redundancy *redundancy, int32_t ranks)
{
  if (ranks == 1 || redundancy->scheme->kind != GAB_SCHEME_COPIES || redundancy->scheme == &gab_scheme_none)
    return 0;
  const int asked = redundancy->copies > 0 ? redundancy->copies : 1;
  return asked < ranks ? asked : ranks - 1;
}

static void nothing_is_asked_for_behind_the_first(gab_world *world, gab_forest *forest,
                                                  const gab_redundancy *redundancy)
{
  gab_checkpoint *checkpoint;
  const int32_t ranks = gab_world_members(world)->ranks;
  const int copies = copies_due(redundancy, ranks);
  places before[2];
  REQUIRE_OK(gab_checkpoint_create(forest, redundancy, &checkpoint));
  const size_t own = gab_image_capacity(checkpoint, 0);
  for (int i = 0; i < TAKEN; i++) {
    gab_snapshot *next = gab_checkpoint_next(checkpoint);
    const int which = next == &checkpoint->snapshots[1];
    if (i < 2) {
      REQUIRE_OK(gab_checkpoint_reserve(checkpoint));
      /* With an odd number of processes some store no pairwise copy, some two. */
      check_there(next, own, ranks % 2 == 0 || copies != 1 ? copies : next->copy_count);
      before[which] = places_of(next);
    } else CHECK(gab_checkpoint_reserve(checkpoint) == GAB_ERR_STATE);
    gab_memory_reset_peak();
    const size_t held = gab_memory_now(GAB_MEMORY_SNAPSHOT);
    REQUIRE_OK(gab_checkpoint_take(checkpoint, i));
    const places now = places_of(next);
    CHECK(gab_memory_peak(GAB_MEMORY_SNAPSHOT) <= held + 4096); /* replicated entities */
    CHECK(now.count == before[which].count);
    for (int k = 0; k < now.count; k++) {
      CHECK(now.data[k] == before[which].data[k]);
      CHECK(now.capacity[k] == before[which].capacity[k]);
    }
  }
  gab_checkpoint_destroy(&checkpoint);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_forest *forest;
  gab_data_id id;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const gab_redundancy all[] = {{.scheme = &gab_scheme_pairwise},
                                {.scheme = &gab_scheme_ring, .copies = 2},
                                {.scheme = &gab_scheme_parity, .group = 4},
                                {.scheme = &gab_scheme_reed_solomon, .group = 4, .losses = 2},
                                {.scheme = &gab_scheme_none}};
  /* Equal numbers of blocks except on one rank, so that images differ in length. */
  gab_forest_options options = {.grid = {3, {BLOCKS * gab_world_members(world)->ranks + 1, 1, 1}},
                                .cells = {SIZE, SIZE, SIZE},
                                .dx = 1};
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  const gab_block_data_kind kind = gab_block_field_data(&field, "many numbers");
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  REQUIRE_OK(gab_balance_initial(forest, NULL, NULL));
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (all[i].group > 0 && all[i].group > gab_world_members(world)->ranks) continue;
    nothing_is_asked_for_behind_the_first(world, forest, &all[i]);
  }
  gab_forest_destroy(&forest);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
