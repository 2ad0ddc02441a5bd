/* SPDX-License-Identifier: Apache-2.0 */
/* Data of blocks that share memory is packed and unpacked together (blockforest/forest/block_data.h): the image is to the byte that of
 * Data of blocks that share memory is packed and unpacked together (blockforest/forest/block_data.h). The image has
 * the bytes of a kind whose data is packed block by block, and restores the data. The data of one call is in one
 * memory, in the order of places, and within the limit of a call. A kind that packs or reads another number of bytes
 * than announced is detected for each block of a call. A kind with only some of the callbacks is refused. */
/* gabion-test: np=1,2,3 quick=3 timeout=60 */
#include "core/memory/memory.h"
#include "core/messages/collective.h"
#include "tests/blockforest/random_domain.h"
#include "tests/threads.h"

enum {
  WIDE = 16,
  HIGH = 10,
  SHELVES = 3,
  MOST = 32
}; /* MOST: in one call (blockforest/migration/forest_together.c) */

/* ---------------------------------------------------------------- block data in shared memory ("shelves") */

typedef struct book {
  gab_block_id id;
  size_t words;
  uint64_t text[8];
} book;

/* Of all callbacks of a kind. */
typedef struct library {
  long calls, most, alone, wrong;
  size_t cheated; /* index of the block in the call that has a word less than announced; none: SIZE_MAX */
  gab_block_id victim; /* its id */
} library;

static gab_data_place place_of(void *user, const void *data)
{
  const book *it = data;
  (void)user;
  return (gab_data_place){.memory = it->id % SHELVES, .at = gab_hash_counter(3, it->id, 0)};
}

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user, (void)forest;
  GAB_TRY(gab_alloc(sizeof(book), GAB_MEMORY_OTHER, data));
  book *made = *data;
  made->id = gab_block_get_id(block);
  made->words = 1 + made->id % 8;
  return GAB_OK;
}

static void destroy(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}

static size_t packed_size(void *user, const void *data)
{
  (void)user;
  return ((const book *)data)->words * 8;
}

static gab_status put(const book *from, size_t words, gab_buffer *out)
{
  for (size_t i = 0; i < words; ++i) GAB_TRY(gab_put_u64(out, from->text[i]));
  return GAB_OK;
}

static gab_status get(book *to, size_t words, gab_reader *in)
{
  for (size_t i = 0; i < words; ++i) GAB_TRY(gab_get_u64(in, &to->text[i]));
  return GAB_OK;
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  library *all = user;
  const book *it = data;
#pragma omp atomic
  all->alone++;
  return put(it, it->words, out);
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  book *it = data;
  (void)user;
  return get(it, it->words, in);
}

/* Several blocks of one shelf, in order. */
static void look_at(library *all, const void *const *data, size_t count)
{
  long wrong = count < 2 || count > MOST;
  for (size_t i = 0; i < count; ++i) {
    const gab_data_place place = place_of(all, data[i]);
    wrong += place.memory == 0 || place.memory != place_of(all, data[0]).memory;
    wrong += i > 0 && place_of(all, data[i - 1]).at >= place.at;
  }
#pragma omp critical
  {
    all->calls++;
    all->wrong += wrong;
    if ((long)count > all->most) all->most = (long)count;
  }
}

static size_t words_of(library *all, const book *it, size_t index)
{
  if (index != all->cheated) return it->words;
  all->victim = it->id;
  return it->words - 1;
}

static gab_status pack_together(void *user, const void *const *data, size_t count, gab_buffer *const *out)
{
  look_at(user, data, count);
  for (size_t i = 0; i < count; ++i) GAB_TRY(put(data[i], words_of(user, data[i], i), out[i]));
  return GAB_OK;
}

static gab_status unpack_together(void *user, void *const *data, size_t count, gab_reader *const *in)
{
  look_at(user, (const void *const *)data, count);
  for (size_t i = 0; i < count; ++i) GAB_TRY(get(data[i], words_of(user, data[i], i), in[i]));
  return GAB_OK;
}

static gab_block_data_kind kind_of(library *all, bool together)
{
  gab_block_data_kind kind = {.name = "books",
                              .user = all,
                              .create = create,
                              .destroy = destroy,
                              .packed_size = packed_size,
                              .pack = pack,
                              .unpack = unpack};
  if (!together) return kind;
  kind.place = place_of;
  kind.pack_together = pack_together;
  kind.unpack_together = unpack_together;
  return kind;
}

/* ---------------------------------------------------------------- a forest of such blocks */

static gab_rank owner_of(const void *rule, gab_block_id id)
{
  return (gab_rank)(id / 7 % *(const uint64_t *)rule);
}

static const gab_forest_options options = {
    .grid = {.dimension = 2, .roots = {WIDE, HIGH, 1}}, .cells = {2, 2, 1}, .dx = 1};

static void write_all(gab_forest *forest, gab_data_id data, uint64_t seed)
{
  for (size_t i = 0; i < gab_forest_block_count(forest); ++i) {
    book *it = gab_block_data(gab_forest_block(forest, i), data);
    for (size_t k = 0; k < it->words; ++k) it->text[k] = gab_hash_counter(seed, it->id, k);
  }
}

static gab_forest *open(gab_world *world, library *all, bool together, gab_data_id *data)
{
  const uint64_t ranks = (uint64_t)gab_world_members(world)->ranks;
  const gab_block_data_kind kind = kind_of(all, together);
  gab_forest *forest;
  *all = (library){.cheated = SIZE_MAX};
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, data));
  domain_populate(forest, owner_of, &ranks);
  write_all(forest, *data, 1);
  return forest;
}

static bool is_alone(gab_world *world) { return gab_world_members(world)->ranks == 1; }

static long without_shelf(const gab_forest *forest, gab_data_id data)
{
  long many = 0;
  for (size_t i = 0; i < gab_forest_block_count(forest); ++i)
    many += place_of(NULL, gab_block_data(gab_forest_block(forest, i), data)).memory == 0;
  return many;
}

static void the_same_image_and_back(gab_world *world, int threads)
{
  library all, single;
  gab_data_id data, other;
  gab_buffer image = {0}, alone = {0};
  use_threads(threads);
  gab_forest *forest = open(world, &all, true, &data), *plain = open(world, &single, false, &other);
  const long blocks = (long)gab_forest_block_count(forest);
  REQUIRE_OK(gab_forest_pack(forest, &image));
  REQUIRE_OK(gab_forest_pack(plain, &alone));
  REQUIRE(single.alone == blocks && single.calls == 0);
  REQUIRE(image.size == alone.size && memcmp(image.data, alone.data, image.size) == 0);
  /* Packed alone: blocks without a shelf, and a single remaining block of each shelf, or at the end of a thread's
   * part. */
  REQUIRE(all.alone <= without_shelf(forest, data) + SHELVES - 1 + 2 * threads && all.calls > 0);
  if (is_alone(world) && threads == 1) REQUIRE(all.most == MOST);
  write_all(forest, data, 2);
  const long packed = all.calls;
  gab_reader in = gab_reader_of_buffer(&image);
  REQUIRE_OK(gab_forest_restore(forest, &in, 1, NULL, NULL));
  REQUIRE(all.calls == 2 * packed && all.wrong == 0);
  for (size_t i = 0; i < gab_forest_block_count(forest); ++i)
    REQUIRE(memcmp(((book *)gab_block_data(gab_forest_block(forest, i), data))->text,
                   ((book *)gab_block_data(gab_forest_block(plain, i), other))->text,
                   sizeof(uint64_t[8])) == 0);
  gab_buffer_release(&image);
  gab_buffer_release(&alone);
  gab_forest_destroy(&forest);
  gab_forest_destroy(&plain);
}

/* The first block of a call, and the second. */
static void another_number_of_bytes_is_found_out(gab_world *world)
{
  library all;
  gab_data_id data;
  gab_buffer image = {0};
  use_threads(1);
  gab_forest *forest = open(world, &all, true, &data);
  REQUIRE_OK(gab_forest_pack(forest, &image));
  for (size_t which = 0; which < 2; ++which) {
    gab_buffer short_one = {0};
    char named[64];
    all.cheated = which;
    REQUIRE(gab_forest_pack(forest, &short_one) == GAB_ERR_ARGUMENT);
    snprintf(named, sizeof named, "data `books' of block " GAB_PRI_BLOCK " announced", all.victim);
    REQUIRE(strstr(gab_error_message(), named));
    gab_buffer_release(&short_one);
    gab_reader in = gab_reader_of_buffer(&image);
    REQUIRE(gab_forest_restore(forest, &in, 1, NULL, NULL) == GAB_ERR_CORRUPT);
    all.cheated = SIZE_MAX;
    in = gab_reader_of_buffer(&image);
    REQUIRE_OK(gab_forest_restore(forest, &in, 1, NULL, NULL));
  }
  gab_buffer_release(&image);
  gab_forest_destroy(&forest);
}

static void some_of_the_callbacks_are_refused(gab_world *world)
{
  library all = {.cheated = SIZE_MAX};
  for (int missing = 0; missing < 5; ++missing) {
    gab_forest *forest;
    gab_data_id data;
    gab_block_data_kind kind = kind_of(&all, true);
    if (missing == 0) kind.place = NULL;
    if (missing == 1) kind.pack_together = NULL;
    if (missing == 2) kind.unpack_together = NULL;
    if (missing == 3) kind.place = NULL, kind.pack_together = NULL;
    if (missing == 4) kind.packed_size = NULL, kind.pack = NULL, kind.unpack = NULL; /* not stored */
    REQUIRE_OK(gab_forest_create(world, &options, &forest));
    REQUIRE(gab_forest_add_data(forest, &kind, &data) == GAB_ERR_ARGUMENT);
    REQUIRE(strstr(gab_error_message(),
                   "has only some of place, pack_together and unpack_together, or is not stored"));
    gab_forest_destroy(&forest);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int threads = 1; threads <= 4; ++threads) the_same_image_and_back(world, threads);
  another_number_of_bytes_is_found_out(world);
  some_of_the_callbacks_are_refused(world);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
