/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a fused field are packed and unpacked together. The bits equal those of each block alone, also when
 * restored; solid cells, ghosts and gaps next to them are unchanged. In both precisions, both states of streaming in
 * place and two grids, with bodies, on several levels, in full and partly filled fused fields, with threads, with and
 * without a follower of the image. */
/* gabion-test: np=1,3 long=1 timeout=120 */
#include "blockforest/adaptation/adapt.h"
#include "lbm/step/fused/fused_impl.h"
#include "tests/lbm/lbm_common.h"
#include "tests/threads.h"

/* ------------------------------------------------------------------------------------------ followers of the image */

/* Follower that records each byte at its final place. */
typedef struct witness {
  unsigned char *start, *shown;
  size_t count;
} witness;

static void look(void *user, gab_follower_note *note, const unsigned char *place, const unsigned char *bytes,
                 size_t count)
{
  (void)note;
  witness *it = user;
  memcpy(it->shown + (place - it->start), bytes, count);
#pragma omp atomic
  it->count += count;
}

static const unsigned char *follow(void *user, const unsigned char *from, const unsigned char *to)
{
  witness *it = user;
  memcpy(it->shown + (from - it->start), from, (size_t)(to - from));
  return to;
}

typedef enum audience { NOBODY, ONE_WHO_FOLLOWS, ONE_WHO_LOOKS_AHEAD } audience;

/* @return bytes written by non-temporal stores */
static size_t pack(const gab_forest *forest, audience whose, gab_buffer *image)
{
  const size_t bytes = gab_forest_packed_size(forest);
  gab_buffer_init(image, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_buffer_reserve(image, bytes));
  witness it = {.start = image->data, .shown = calloc(1, bytes)};
  REQUIRE(it.shown);
  const gab_buffer_follower follower = {
      .follow = follow, .look = whose == ONE_WHO_LOOKS_AHEAD ? look : NULL, .user = &it};
  if (whose != NOBODY) image->follower = &follower;
  REQUIRE_OK(gab_forest_pack(forest, image));
  gab_buffer_follow(image);
  image->follower = NULL;
  REQUIRE(image->size == bytes);
  if (whose != NOBODY) REQUIRE(memcmp(it.shown, image->data, bytes) == 0);
  free(it.shown);
  return it.count;
}

/* ------------------------------------------------------------------------------------------ one by one */

typedef struct comparison {
  const flow *it;
  const unsigned char *image;
  size_t blocks, bytes; /* bytes: of all packed populations */
} comparison;

/* The end of a record equals the image of its block alone. */
static gab_status compare_block(void *user, gab_block_id id, size_t offset, size_t bytes)
{
  comparison *with = user;
  const gab_lbm_block *block = gab_lbm_block_of(with->it->lbm, gab_forest_find(with->it->forest, id));
  gab_buffer alone = {0};
  REQUIRE_OK(gab_lbm_pack(&with->it->lbm->model, block, &alone));
  REQUIRE(alone.size == gab_lbm_packed_size(&with->it->lbm->model, block));
  if (alone.size > 0) REQUIRE(memcmp(with->image + offset + bytes - alone.size, alone.data, alone.size) == 0);
  with->blocks++;
  with->bytes += alone.size;
  gab_buffer_release(&alone);
  return GAB_OK;
}

static comparison compare(const flow *it, const gab_buffer *image)
{
  comparison with = {.it = it, .image = image->data};
  REQUIRE_OK(gab_forest_visit_image(it->forest, gab_reader_of_buffer(image), compare_block, &with));
  REQUIRE(with.blocks == gab_forest_block_count(it->forest));
  return with;
}

/* Random bits: they are not used in computations. */
typedef struct changing {
  const flow *it;
  unsigned char *image;
  uint64_t seed;
} changing;

static gab_status change_block(void *user, gab_block_id id, size_t offset, size_t bytes)
{
  const changing *by = user;
  const gab_lbm_block *block = gab_lbm_block_of(by->it->lbm, gab_forest_find(by->it->forest, id));
  const size_t payload = gab_lbm_packed_size(&by->it->lbm->model, block);
  unsigned char *values = by->image + offset + bytes - payload;
  for (size_t i = 0; i < payload; i++)
    values[i] = (unsigned char)(gab_hash_counter(by->seed, id, i / 8) >> (8 * (i % 8)));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ all memory */

/* Calls for each value in the fields of all dense blocks, including ghosts and solid cells, always in the same order. */
static void each_value(const flow *it, void (*call)(void *user, unsigned char *value, size_t bytes),
                       void *user)
{
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(it->lbm, gab_forest_block(it->forest, i));
    if (block->sparse) continue;
    const gab_field_shape *shape = &block->src->shape;
    const size_t bytes = gab_precision_bytes(shape->precision);
    int32_t at[3];
    for (int q = 0; q < shape->components; q++)
      for (at[2] = -shape->ghosts[2]; at[2] < shape->cells[2] + shape->ghosts[2]; at[2]++)
        for (at[1] = -shape->ghosts[1]; at[1] < shape->cells[1] + shape->ghosts[1]; at[1]++)
          for (at[0] = -shape->ghosts[0]; at[0] < shape->cells[0] + shape->ghosts[0]; at[0]++)
            call(user,
                 (unsigned char *)block->src->data +
                     gab_field_index(&block->src->map, at[0], at[1], at[2], q) * bytes,
                 bytes);
  }
}

static void scribble(void *user, unsigned char *value, size_t bytes)
{
  uint64_t *count = user;
  const uint64_t word = gab_hash_counter(99, ++*count, 0);
  memcpy(value, &word, bytes);
}

static void add_to_hash(void *user, unsigned char *value, size_t bytes)
{
  uint64_t *hash = user, word = 0;
  memcpy(&word, value, bytes);
  *hash = gab_hash_counter(*hash, word, 1);
}

static void scribble_all(const flow *it)
{
  uint64_t count = 0;
  each_value(it, scribble, &count);
}

static uint64_t hash_of_all(const flow *it)
{
  uint64_t hash = 0;
  each_value(it, add_to_hash, &hash);
  return hash;
}

static gab_status unpack_block(void *user, gab_block_id id, size_t offset, size_t bytes)
{
  const comparison *from = user;
  gab_lbm_block *block = gab_lbm_block_of(from->it->lbm, gab_forest_find(from->it->forest, id));
  const size_t payload = gab_lbm_packed_size(&from->it->lbm->model, block);
  gab_reader in = gab_reader_of(from->image + offset + bytes - payload, payload);
  return gab_lbm_unpack(&from->it->lbm->model, block, &in);
}

/* Blocks restored together have the same content as when restored one by one, and no other memory is changed. */
static void nothing_else_is_touched(const flow *it, const gab_buffer *image)
{
  comparison from = {.it = it, .image = image->data};
  gab_reader in = gab_reader_of_buffer(image);
  scribble_all(it);
  REQUIRE_OK(gab_forest_restore(it->forest, &in, 1, NULL, NULL));
  const uint64_t together = hash_of_all(it);
  scribble_all(it);
  REQUIRE_OK(gab_forest_visit_image(it->forest, gab_reader_of_buffer(image), unpack_block, &from));
  REQUIRE(hash_of_all(it) == together);
}

/* Packs, changes, restores, and packs again. @return share of non-temporal stores with a follower that looks ahead */
static double there_and_back(flow *it, uint64_t seed)
{
  gab_buffer image, again;
  double share = 0;
  for (audience whose = NOBODY; whose <= ONE_WHO_LOOKS_AHEAD; whose++) {
    const size_t past = pack(it->forest, whose, &image);
    const comparison with = compare(it, &image);
    if (with.bytes > 0) share = (double)past / (double)with.bytes;
    REQUIRE(whose == ONE_WHO_LOOKS_AHEAD || past == 0);
    gab_buffer_release(&image);
  }
  pack(it->forest, NOBODY, &image);
  changing by = {.it = it, .image = image.data, .seed = seed};
  REQUIRE_OK(gab_forest_visit_image(it->forest, gab_reader_of_buffer(&image), change_block, &by));
  nothing_else_is_touched(it, &image);
  gab_reader in = gab_reader_of_buffer(&image);
  REQUIRE_OK(gab_forest_restore(it->forest, &in, 1, NULL, NULL));
  compare(it, &image);
  pack(it->forest, ONE_WHO_LOOKS_AHEAD, &again);
  REQUIRE(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
  gab_buffer_release(&image);
  gab_buffer_release(&again);
  return share;
}

/* ------------------------------------------------------------------------------------------ layouts */

static gab_status mark_corner(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)user;
  const gab_box cells = gab_block_cells(forest, block);
  const bool is_near = cells.lo[0] < 24 && cells.lo[1] < 12;
  *mark = gab_block_level(forest, block) == 0 && is_near ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  return GAB_OK;
}

static void refine(flow *it)
{
  gab_adapt_report report;
  const gab_adapt_options options = {.max_level = 1, .mark = mark_corner};
  REQUIRE_OK(gab_forest_adapt(it->forest, &options, &report));
}

typedef struct layout {
  int fused_blocks, threads;
  gab_precision precision;
  const char *kernel;
  bool has_body, has_levels;
} layout;

static double run(gab_world *world, const layout *as, uint64_t seed)
{
  const gab_body body = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {30.3, 8.8, 6.1}, .radius = 5.3};
  flow_case given = {
      .dimension = 3, .cells = {48, 24, 12}, .block = {6, 6, 6}, .bodies = &body, .body_count = as->has_body};
  given.options.omega = 1.6;
  given.options.initial = noisy_state;
  given.options.fused_blocks = as->fused_blocks;
  given.options.precision = as->precision;
  given.options.kernel = as->kernel;
  use_threads(as->threads);
  flow it = flow_open(world, &given);
  if (as->has_levels) refine(&it);
  const double share = there_and_back(&it, seed);
  flow_close(&it);
  it = flow_open(world, &given);
  if (as->has_levels) refine(&it);
  flow_run(&it, 1); /* the other state of streaming in place */
  there_and_back(&it, seed + 1);
  flow_close(&it);
  return share;
}

/* One process: every third layout, which covers each pair of choices; three processes, which wait for each other: every
 * seventh. All with GABION_TEST_EVERY_CASE in the environment (script_every_case_long.sh). */
static void layouts(gab_world *world)
{
  static const int fused_blocks[] = {1, 2, 3, 8, 16};
  const bool is_alone = gab_members_count(gab_world_members(world)) == 1;
  const size_t stride = getenv("GABION_TEST_EVERY_CASE") ? 1 : is_alone ? 3 : 7;
  for (size_t i = 0; i < 5 * 2 * 2 * 4; i += stride) {
    layout as = {.fused_blocks = fused_blocks[i % 5], .threads = 1 + (int)(i / 5 % 2)};
    as.precision = i / 10 % 2 ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE;
    const size_t rest = i / 20;
    as.has_body = rest % 2;
    as.has_levels = rest / 2;
    as.kernel = rest == 1 ? "auto" : "in_place";
    const double share = run(world, &as, 2 * i);
    /* Together, except blocks alone in a fused field at an end, or with another thread's. */
    if (is_alone) REQUIRE(share > 0.8);
    if (is_alone && as.fused_blocks == 2 && !as.has_body) REQUIRE(share == 1);
  }
}

static void two_grids(gab_world *world)
{
  const layout as = {.fused_blocks = 4, .threads = 2, .kernel = "vector", .has_body = true};
  run(world, &as, 1000);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  layouts(world);
  two_grids(world);
  return test_end(&world);
}
