/* SPDX-License-Identifier: Apache-2.0 */
/* Random forests have the correct blocks and tables, and keep them and their data through random migrations.
 * gabion-test: np=1,2,3,4,7 quick=3 long=4 timeout=180 */
#include "blockforest/exchange/block_field.h"
#include "core/messages/collective.h"
#include "tests/blockforest/random_domain.h"

enum { DOMAINS = 40, MIGRATIONS = 5 };

/* Blocks that stay keep their data in place. */
typedef struct staying {
  gab_block_id id;
  void *data;
} staying;

static void migrate_and_check(const random_domain *domain, gab_forest *forest, gab_data_id id, uint64_t seed)
{
  gab_rank me = gab_world_rank(gab_forest_world(forest));
  random_owners owners = owners_make(gab_forest_world(forest), seed);
  size_t count = gab_forest_block_count(forest), kept = 0;
  uint64_t moved = 0;
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  staying *stay = malloc((count + 1) * sizeof *stay);
  for (size_t i = 0; i < count; i++) {
    gab_block *block = gab_forest_block(forest, i);
    targets[i] = random_owner(&owners, gab_block_get_id(block));
    moved += targets[i] != me;
    if (targets[i] == me) stay[kept++] = (staying){gab_block_get_id(block), gab_block_data(block, id)};
  }
  uint64_t before, after, revision = gab_forest_revision(forest);
  REQUIRE_OK(gab_forest_checksum(forest, &before));
  REQUIRE_OK(gab_forest_migrate(forest, targets));
  REQUIRE_OK(gab_forest_checksum(forest, &after));
  REQUIRE(before == after);
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(forest), &moved, 1));
  REQUIRE((gab_forest_revision(forest) != revision) == (moved > 0));
  domain_check(domain, forest, random_owner, &owners);
  signs_check(forest, id);
  for (size_t i = 0; i < kept; i++)
    REQUIRE(gab_block_data(gab_forest_find(forest, stay[i].id), id) == stay[i].data);
  free(targets);
  free(stay);
}

static void try_domain(gab_world *world, uint64_t seed)
{
  random_domain domain;
  domain_make(&domain, seed);
  random_owners owners = owners_make(world, seed);
  gab_forest *forest;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  gab_data_id id = stones_register(forest, &seed);
  domain_populate(forest, random_owner, &owners);
  domain_check(&domain, forest, random_owner, &owners);
  uint64_t count, first, second;
  REQUIRE_OK(gab_forest_global_blocks(forest, &count));
  REQUIRE(count == domain_blocks(&domain));
  REQUIRE_OK(gab_forest_checksum(forest, &first));
  stones_change(forest, id);
  REQUIRE_OK(gab_forest_checksum(forest, &second));
  REQUIRE(count < 5 || first != second);
  for (uint64_t m = 0; m < MIGRATIONS; m++) {
    migrate_and_check(&domain, forest, id, gab_hash_counter(seed, 8, m));
    stones_change(forest, id);
  }
  gab_forest_destroy(&forest);
  REQUIRE(!forest);
}

/* Data so large that blocks move one by one and in several rounds. */
static size_t big_size(void *user, const void *data)
{
  (void)user;
  (void)data;
  return GAB_MIGRATION_BYTES / 3;
}

static gab_status big_create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)forest;
  void *memory;
  GAB_TRY(gab_alloc(big_size(NULL, NULL), GAB_MEMORY_FIELD, &memory));
  memset(memory, (int)((gab_block_get_id(block) + *(const uint64_t *)user) % 251), big_size(NULL, NULL));
  *data = memory;
  return GAB_OK;
}

static void big_destroy(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}

static gab_status big_pack(void *user, const void *data, gab_buffer *out)
{
  return gab_put_bytes(out, data, big_size(user, data));
}

static gab_status big_unpack(void *user, void *data, gab_reader *in)
{
  return gab_get_bytes(in, data, big_size(user, data));
}

static void move_more_than_the_bound(gab_world *world)
{
  random_domain domain = {0};
  uint64_t user = 1;
  domain.options =
      (gab_forest_options){.grid = {2, {4, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true, false}, .dx = 1};
  gab_block_data_kind kind = {.name = "big",
                              .user = &user,
                              .create = big_create,
                              .destroy = big_destroy,
                              .packed_size = big_size,
                              .pack = big_pack,
                              .unpack = big_unpack};
  gab_data_id id;
  gab_forest *forest;
  gab_rank ranks = gab_world_members(world)->ranks;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  random_owners owners = {0, 1, 0};
  domain_populate(forest, random_owner, &owners);
  user = 2; /* data created from now on differs from data in transit */
  uint64_t before, after;
  REQUIRE_OK(gab_forest_checksum(forest, &before));
  random_owners rules[] = {{5, ranks, 0}, {0, ranks, ranks - 1}, {6, ranks, 0}};
  for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
    gab_rank targets[8];
    for (size_t i = 0; i < gab_forest_block_count(forest); i++)
      targets[i] = random_owner(&rules[r], gab_block_get_id(gab_forest_block(forest, i)));
    gab_memory_reset_peak();
    REQUIRE_OK(gab_forest_migrate(forest, targets));
    domain_check(&domain, forest, random_owner, &rules[r]);
    REQUIRE_OK(gab_forest_checksum(forest, &after));
    REQUIRE(before == after);
  }
  gab_forest_destroy(&forest);
}

static void wrong_calls_are_refused(gab_world *world)
{
  gab_forest *forest;
  gab_forest_options bad[] = {{.grid = {3, {0, 1, 1}}, .cells = {4, 4, 4}, .dx = 1},
                              {.grid = {3, {1, 1, 1}}, .cells = {4, 0, 4}, .dx = 1},
                              {.grid = {2, {1, 1, 1}}, .cells = {4, 4, 4}, .dx = 1},
                              {.grid = {2, {1, 1, 1}}, .cells = {4, 4, 1}, .dx = 0}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    REQUIRE(gab_forest_create(world, &bad[i], &forest) == GAB_ERR_INPUT);
    REQUIRE(!forest);
  }
  gab_forest_options good = {.grid = {2, {1, 1, 1}}, .cells = {4, 4, 1}, .dx = 1};
  uint64_t seed = 0;
  gab_data_id id;
  REQUIRE_OK(gab_forest_create(world, &good, &forest));
  stones_register(forest, &seed);
  gab_block_data_kind again = {.name = "sign", .create = sign_create, .destroy = sign_destroy};
  REQUIRE(gab_forest_add_data(forest, &again, &id) == GAB_ERR_ARGUMENT);
  gab_block_data_kind half = {
      .name = "half", .create = sign_create, .destroy = sign_destroy, .pack = stones_pack};
  REQUIRE(gab_forest_add_data(forest, &half, &id) == GAB_ERR_ARGUMENT);
  gab_forest_destroy(&forest);
}

static gab_status stay(void *context, gab_proxies *proxies)
{
  (void)context, (void)proxies;
  return GAB_OK;
}

/* A block may fill half the memory of a process: its checksum is computed piece by piece. */
static void a_checksum_takes_the_memory_of_a_component(gab_world *world)
{
  enum { SIZE = 24, COMPONENTS = 16 };
  const size_t component = sizeof(double) * SIZE * SIZE * SIZE;
  static const gab_block_field field = {
      .shape = {.cells = {SIZE, SIZE, SIZE}, .components = COMPONENTS, .layout = GAB_LAYOUT_SOA}};
  const int32_t ranks = gab_world_members(world)->ranks;
  gab_forest_options options = {.grid = {3, {ranks, 1, 1}}, .cells = {SIZE, SIZE, SIZE}, .dx = 1};
  gab_forest *forest;
  gab_data_id id;
  uint64_t checksum;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  const gab_block_data_kind kind = gab_block_field_data(&field, "many numbers");
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  REQUIRE_OK(gab_forest_build(forest, NULL, NULL, 0, stay, NULL, NULL));
  const size_t before = gab_memory_now(GAB_MEMORY_USE_COUNT);
  gab_memory_reset_peak();
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  if (gab_forest_block_count(forest) > 0)
    CHECK(gab_memory_peak(GAB_MEMORY_USE_COUNT) - before < 2 * component); /* of 16 */
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < DOMAINS; seed++) try_domain(world, seed);
  /* Buffers kept by the world have their final size by now. */
  size_t held = gab_memory_now(GAB_MEMORY_USE_COUNT);
  for (uint64_t seed = 0; seed < DOMAINS; seed++) try_domain(world, seed);
  REQUIRE(gab_memory_now(GAB_MEMORY_USE_COUNT) == held);
  move_more_than_the_bound(world);
  a_checksum_takes_the_memory_of_a_component(world);
  wrong_calls_are_refused(world);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
