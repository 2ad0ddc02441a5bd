/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: images of forests. The first byte chooses how the rest is cut into images.
 *
 * fuzz-sources: core/[a-z]*.c blockforest/forest/block_id.c blockforest/forest/topology.c
 * fuzz-sources: blockforest/forest*.c blockforest/forest/tasks.c
 * fuzz-sources: blockforest/proxy*.c blockforest/adaptation/apply_regrid.c blockforest/adaptation/adapt.c
 */
#include "tests/fuzz/fuzz_main.h"

#include "blockforest/adaptation/adapt.h"

enum { PILE = 3 };

static gab_status pile_create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user;
  (void)forest;
  GAB_TRY(gab_alloc(PILE * sizeof(uint32_t), GAB_MEMORY_OTHER, data));
  ((uint32_t *)*data)[0] = (uint32_t)gab_block_get_id(block);
  return GAB_OK;
}

static void pile_destroy(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}

static size_t pile_size(void *user, const void *data)
{
  (void)user;
  (void)data;
  return PILE * 4;
}

static gab_status pile_pack(void *user, const void *data, gab_buffer *out)
{
  (void)user;
  for (int i = 0; i < PILE; i++) GAB_TRY(gab_put_u32(out, ((const uint32_t *)data)[i]));
  return GAB_OK;
}

static gab_status pile_unpack(void *user, void *data, gab_reader *in)
{
  (void)user;
  for (int i = 0; i < PILE; i++) GAB_TRY(gab_get_u32(in, (uint32_t *)data + i));
  return GAB_OK;
}

static gab_world *the_world(void)
{
  static gab_world *world;
  if (!world) FUZZ_EXPECT(gab_world_create(NULL, NULL, &world) == GAB_OK);
  return world;
}

/* Blocks whose bit is set. */
static bool is_wanted(void *user, int level, const gab_box *cells)
{
  return *(const unsigned *)user >> (cells->lo[0] / 2 + cells->lo[1]) & 1 || level > 0;
}

/* @param[in] blocks  those that exist; NULL: all */
static gab_forest *make_forest(unsigned *blocks)
{
  gab_forest_options options = {
      .grid = {2, {2, 2, 1}}, .cells = {2, 2, 1}, .periodic = {true, false, false}, .dx = 1};
  options.user = blocks;
  if (blocks) options.exists = is_wanted;
  gab_block_data_kind kind = {.name = "pile",
                              .create = pile_create,
                              .destroy = pile_destroy,
                              .packed_size = pile_size,
                              .pack = pile_pack,
                              .unpack = pile_unpack};
  gab_forest *forest;
  gab_data_id id;
  FUZZ_EXPECT(gab_forest_create(the_world(), &options, &forest) == GAB_OK);
  FUZZ_EXPECT(gab_forest_add_data(forest, &kind, &id) == GAB_OK);
  return forest;
}

static gab_status stay(void *context, gab_proxies *proxies)
{
  (void)context, (void)proxies;
  return GAB_OK;
}

/* Appends the image of a forest with those of the four blocks whose bit is set. */
static void image_of(unsigned blocks, gab_buffer *out)
{
  gab_forest *forest = make_forest(&blocks);
  FUZZ_EXPECT(gab_forest_build(forest, NULL, NULL, 0, stay, NULL, NULL) == GAB_OK);
  FUZZ_EXPECT(gab_forest_pack(forest, out) == GAB_OK);
  gab_forest_destroy(&forest);
}

static gab_mark first_root(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* Appends the image of the four blocks, one of them split: tables with finer and coarser neighbours. */
static void image_of_levels(gab_buffer *out)
{
  gab_forest *forest = make_forest(NULL);
  FUZZ_EXPECT(gab_forest_build(forest, first_root, NULL, 1, stay, NULL, NULL) == GAB_OK);
  FUZZ_EXPECT(gab_forest_block_count(forest) == 7);
  FUZZ_EXPECT(gab_forest_pack(forest, out) == GAB_OK);
  gab_forest_destroy(&forest);
}

static gab_rank same(void *context, gab_rank owner)
{
  (void)context;
  FUZZ_EXPECT(owner >= 0); /* ranks that are none of this run are refused with what the map makes of them */
  return owner;
}

/* What was taken has to be a forest whose image brings back the same. */
static void use(gab_forest *forest)
{
  gab_buffer first = {0}, second = {0};
  uint64_t before, after;
  FUZZ_EXPECT(gab_forest_checksum(forest, &before) == GAB_OK);
  FUZZ_EXPECT(gab_forest_pack(forest, &first) == GAB_OK);
  FUZZ_EXPECT(first.size == gab_forest_packed_size(forest));
  gab_reader image = gab_reader_of_buffer(&first);
  FUZZ_EXPECT(gab_forest_restore(forest, &image, 1, same, NULL) == GAB_OK);
  FUZZ_EXPECT(gab_reader_left(&image) == 0);
  FUZZ_EXPECT(gab_forest_checksum(forest, &after) == GAB_OK && before == after);
  FUZZ_EXPECT(gab_forest_pack(forest, &second) == GAB_OK);
  FUZZ_EXPECT(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
  gab_buffer_release(&first);
  gab_buffer_release(&second);
}

static size_t memory_in_use(void)
{
  return gab_memory_now(GAB_MEMORY_USE_COUNT) - gab_memory_now(GAB_MEMORY_MESSAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  (void)the_world();
  size_t held = memory_in_use();
  gab_forest *forest = make_forest(NULL);
  if (size > 0 && data[0] & 4) { /* some blocks are here before */
    gab_buffer start = {0};
    image_of(6, &start);
    gab_reader image = gab_reader_of_buffer(&start);
    FUZZ_EXPECT(gab_forest_restore(forest, &image, 1, NULL, NULL) == GAB_OK);
    gab_buffer_release(&start);
  }
  size_t rest = size > 0 ? size - 1 : 0, first = size > 0 && data[0] & 1 ? rest / 2 : rest;
  const uint8_t *bytes = size > 0 ? data + 1 : data;
  gab_reader images[2] = {gab_reader_of(bytes, first), gab_reader_of(bytes + first, rest - first)};
  gab_status status = gab_forest_restore(forest, images, first < rest ? 2 : 1, same, NULL);
  FUZZ_EXPECT(status == GAB_OK || status == GAB_ERR_CORRUPT);
  if (status == GAB_OK) use(forest);
  else FUZZ_EXPECT(gab_forest_block_count(forest) == 0);
  gab_forest_destroy(&forest);
  FUZZ_EXPECT(memory_in_use() == held);
  return 0;
}

#ifndef GAB_LIBFUZZER
enum { LEVELS = 16, SEEDS = 7 };

static void make_seed(const unsigned what[3], gab_buffer *out)
{
  FUZZ_EXPECT(gab_put_u8(out, (uint8_t)what[0]) == GAB_OK);
  for (int i = 1; i <= 1 + (int)(what[0] & 1); i++)
    if (what[i] == LEVELS) image_of_levels(out);
    else image_of(what[i], out);
}

/* Real images are the seeds: one, two side by side, the same twice, one onto blocks that are here; the same
 * with levels. */
int main(int argc, char **argv)
{
  static const unsigned blocks[SEEDS][3] = {{0, 15, 0}, {1, 5, 10},     {1, 3, 3},     {4, 15, 0},
                                            {5, 9, 6},  {0, LEVELS, 0}, {5, LEVELS, 1}};
  fuzz_seed seeds[SEEDS];
  gab_buffer bytes[SEEDS];
  for (int s = 0; s < SEEDS; s++) {
    gab_buffer_init(&bytes[s], GAB_MEMORY_MESSAGE);
    make_seed(blocks[s], &bytes[s]);
    seeds[s] = (fuzz_seed){(const char *)bytes[s].data, bytes[s].size};
  }
  gab_forest *forest = make_forest(NULL); /* mutations are worth something only if the seeds are good */
  gab_reader image = gab_reader_of(seeds[0].bytes + 1, seeds[0].size - 1);
  FUZZ_EXPECT(gab_forest_restore(forest, &image, 1, NULL, NULL) == GAB_OK);
  FUZZ_EXPECT(gab_forest_block_count(forest) == 4);
  image = gab_reader_of(seeds[5].bytes + 1, seeds[5].size - 1); /* another grid, onto this one */
  FUZZ_EXPECT(gab_forest_restore(forest, &image, 1, NULL, NULL) == GAB_OK);
  FUZZ_EXPECT(gab_forest_block_count(forest) == 7 && gab_forest_is_valid(forest));
  gab_forest_destroy(&forest);
  int failures = fuzz_main(argc, argv, seeds, SEEDS);
  for (int s = 0; s < SEEDS; s++) gab_buffer_release(&bytes[s]);
  gab_world *world = the_world();
  gab_world_destroy(&world);
  return failures;
}
#endif
