/* SPDX-License-Identifier: Apache-2.0 */
/* Wide blocks, alone in their fields or several in a fused field: their rows are packed and unpacked by non-temporal
 * accesses. A state restored from any image gives that image again, in either state of streaming in place. An image
 * is the same with and without a follower. */
/* gabion-test: np=1,2 quick=2 timeout=60 */
#include "tests/mpi_test.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "blockforest/forest/forest.h"
#include "core/base/buffer_rows.h"
#include "core/base/hash.h"
#include "lbm/lbm.h"
#include "loadbalance/balance.h"

#include <string.h>

typedef struct flow {
  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
} flow;

static void flow_create(gab_world *world, const int32_t cells[3], gab_precision precision, int fused_blocks,
                        flow *it)
{
  gab_lbm_options model = {.lattice = &gab_lattice_d3q19,
                           .precision = precision,
                           .omega = 1.6,
                           .kernel = "auto",
                           .fused_blocks = fused_blocks,
                           .velocity = {0.03, 0.02}};
  gab_forest_options domain = {.grid = {.dimension = 3, .roots = {4, 2, 1}}, .dx = 1};
  *it = (flow){0};
  for (int axis = 0; axis < 3; axis++) {
    domain.cells[axis] = cells[axis];
    domain.periodic[axis] = true;
  }
  REQUIRE_OK(gab_forest_create(world, &domain, &it->forest));
  REQUIRE_OK(gab_lbm_create(it->forest, it->geometry, &model, &it->lbm));
  REQUIRE_OK(gab_balance_initial(it->forest, NULL, NULL));
}

static void flow_destroy(flow *it)
{
  gab_lbm_destroy(&it->lbm);
  gab_forest_destroy(&it->forest);
  gab_geometry_destroy(&it->geometry);
}

/* ---- images */

typedef struct changing {
  unsigned char *image;
  size_t payload; /* of a block: the end of its record */
  uint64_t seed;
  int blocks;
} changing;

/* Random bits: they are not used in computations. */
static gab_status change_block(void *user, gab_block_id id, size_t offset, size_t bytes)
{
  changing *it = user;
  unsigned char *values = it->image + offset + bytes - it->payload;
  for (size_t i = 0; i < it->payload; i += 8) {
    const uint64_t word = gab_hash_counter(it->seed, id, i);
    memcpy(values + i, &word, 8);
  }
  it->blocks++;
  return GAB_OK;
}

static void look(void *user, gab_follower_note *note, const unsigned char *place, const unsigned char *bytes,
                 size_t count)
{
  (void)note, (void)place, (void)bytes;
  size_t *seen = user;
#pragma omp atomic
  *seen += count;
}

static const unsigned char *follow(void *user, const unsigned char *from, const unsigned char *to)
{
  (void)user, (void)from;
  return to;
}

/* @return number of bytes passed to the follower by non-temporal stores */
static size_t pack(const flow *it, bool is_followed, gab_buffer *image)
{
  size_t seen = 0;
  const gab_buffer_follower follower = {.follow = follow, .look = look, .user = &seen};
  gab_buffer_init(image, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_buffer_reserve(image, gab_forest_packed_size(it->forest)));
  if (is_followed) image->follower = &follower;
  REQUIRE_OK(gab_forest_pack(it->forest, image));
  image->follower = NULL;
  return seen;
}

/* All packed bytes are written by non-temporal stores: long rows, and those of whole fused fields. */
static void there_and_back(flow *it, const int32_t cells[3], size_t word, uint64_t seed)
{
  gab_buffer image, again, followed;
  pack(it, false, &image);
  changing change = {.image = image.data, .seed = seed};
  change.payload = 19 * word * (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  REQUIRE_OK(gab_forest_visit_image(it->forest, gab_reader_of_buffer(&image), change_block, &change));
  REQUIRE(change.blocks > 0);
  gab_reader in = gab_reader_of_buffer(&image);
  REQUIRE_OK(gab_forest_restore(it->forest, &in, 1, NULL, NULL));
  pack(it, false, &again);
  const size_t seen = pack(it, true, &followed);
  CHECK(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
  CHECK(followed.size == image.size && memcmp(followed.data, image.data, image.size) == 0);
  CHECK(seen == change.payload * (size_t)change.blocks);
  gab_buffer_release(&image);
  gab_buffer_release(&again);
  gab_buffer_release(&followed);
}

static void check_blocks(gab_world *world, const int32_t cells[3], gab_precision precision, int fused_blocks)
{
  flow it;
  const size_t word = gab_precision_bytes(precision);
  flow_create(world, cells, precision, fused_blocks, &it);
  there_and_back(&it, cells, word, 1);
  flow_destroy(&it);
  flow_create(world, cells, precision, fused_blocks, &it);
  REQUIRE_OK(gab_lbm_step(it.lbm)); /* the other state of streaming in place */
  there_and_back(&it, cells, word, 2);
  flow_destroy(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
#ifdef _OPENMP
  omp_set_num_threads(
      1); /* with more of them the rest of a fused field may be too small to be packed together */
#endif
  check_blocks(world, (int32_t[]){128, 6, 4}, GAB_PRECISION_DOUBLE, 1);
  check_blocks(world, (int32_t[]){140, 4, 4}, GAB_PRECISION_FLOAT, 1);
  check_blocks(world, (int32_t[]){270, 4, 4}, GAB_PRECISION_FLOAT, 1);
  check_blocks(world, (int32_t[]){9, 5, 4}, GAB_PRECISION_DOUBLE, 1);
  check_blocks(world, (int32_t[]){44, 6, 4}, GAB_PRECISION_DOUBLE, 4);
  check_blocks(world, (int32_t[]){70, 4, 4}, GAB_PRECISION_FLOAT, 4);
  check_blocks(world, (int32_t[]){270, 4, 4}, GAB_PRECISION_DOUBLE, 2); /* rows too long to be gathered */
  return test_end(&world);
}
