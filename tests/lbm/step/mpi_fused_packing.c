/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=3 timeout=60 */
/* Fused fields are rearranged when the grid has not changed for some steps: neighbours along x are then adjacent, fused
 * fields are full, and no bit changes, in either state of the fields, with threads, bodies and forces. Also tests the
 * default width of fused fields. */
#include "lbm/step/fused/fused_field_impl.h"
#include "tests/lbm/lbm_common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* ------------------------------------------------------------------------------------------ packing */

enum { CHECKED = 3, AT_REST = 50 /* gab_lbm_pack_fused() */ };

typedef struct outcome {
  uint64_t checksum[CHECKED];
  double force[3];
} outcome;

typedef struct layout {
  size_t blocks, joined, fused_fields;
} layout;

static layout layout_of(const flow *it)
{
  layout found = {.blocks = gab_forest_block_count(it->forest)};
  const gab_fused_fields *fused_fields = it->lbm->model.fused_fields;
  for (size_t i = 0; i < found.blocks; i++)
    found.joined += gab_lbm_block_of(it->lbm, gab_forest_block(it->forest, i))->right != NULL;
  found.fused_fields = fused_fields ? fused_fields->count - fused_fields->empty : 0;
  return found;
}

/* All blocks migrate to the root, those of some planes across x first: neighbours find no adjacent space. */
static void gather_out_of_order(gab_world *world, flow *it)
{
  const gab_members *members = gab_world_members(world);
  const gab_rank last = gab_members_rank(members, gab_members_count(members) - 1);
  for (int round = 0; round < 3; round++) {
    const size_t count = gab_forest_block_count(it->forest);
    gab_rank *targets = malloc((count + 1) * sizeof *targets);
    REQUIRE(targets);
    for (size_t i = 0; i < count; i++) {
      const gab_box cells = gab_block_cells(it->forest, gab_forest_block(it->forest, i));
      const bool is_early = cells.lo[0] / 4 % 2 == 0;
      targets[i] = round == 0 || (round == 1 && !is_early) ? last : gab_world_root(world);
    }
    REQUIRE_OK(gab_forest_migrate(it->forest, targets));
    free(targets);
  }
}

/* In rows of seven blocks. */
static outcome run(gab_world *world, int places, int steps_before, layout *before, layout *after)
{
  const gab_body body = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {17.3, 11.8, 11.1}, .radius = 4.1};
  flow_case given = {
      .dimension = 3, .cells = {28, 24, 24}, .block = {4, 6, 6}, .bodies = &body, .body_count = 1};
  outcome found;
  double force[1][3];
  given.options.omega = 1.6;
  given.options.initial = noisy_state;
  given.options.fused_blocks = places;
  given.options.kernel = "in_place";
  flow it = flow_open(world, &given);
  gather_out_of_order(world, &it);
  flow_run(&it, steps_before);
  REQUIRE_OK(gab_forest_checksum(it.forest, &found.checksum[0]));
  *before = layout_of(&it);
  flow_run(&it, AT_REST + 1 - steps_before); /* one step in rearranged fused fields */
  REQUIRE_OK(gab_forest_checksum(it.forest, &found.checksum[1]));
  *after = layout_of(&it);
  flow_run(&it, 4);
  gab_lbm_request_forces(it.lbm);
  flow_run(&it, 1);
  REQUIRE_OK(gab_lbm_forces(it.lbm, force));
  memcpy(found.force, force[0], sizeof found.force);
  REQUIRE_OK(gab_forest_checksum(it.forest, &found.checksum[2]));
  flow_close(&it);
  return found;
}

/* On the process with the blocks. With one process all blocks were made in order, and there may be no gain. */
static void look_at(int places, bool was_scattered, const layout *before, const layout *after)
{
  const size_t rows = 16, blocks = 7 * rows, most = (blocks + (size_t)places - 1) / (size_t)places;
  REQUIRE(after->blocks == blocks && before->blocks == blocks);
  REQUIRE(after->joined >= before->joined && after->fused_fields <= before->fused_fields);
  if (!was_scattered) return;
  REQUIRE(before->joined == 0);
  REQUIRE(after->fused_fields <= most);
  REQUIRE(after->joined + rows + after->fused_fields >=
          blocks); /* other blocks begin a row or a fused field */
}

static void fused_fields_are_filled_anew(gab_world *world)
{
  static const int places[] = {2, 3, 5, 16};
  const bool is_scattered = gab_members_count(gab_world_members(world)) > 1;
  layout before, after;
  for (int threads = 1; threads <= 2; threads++) {
#ifdef _OPENMP
    omp_set_num_threads(threads);
#endif
    const outcome alone = run(world, 1, 1, &before, &after);
    REQUIRE(before.fused_fields == 0 && after.joined == 0);
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
      const outcome found = run(world, places[p], 1 + (int)p, &before, &after);
      REQUIRE(memcmp(found.checksum + 1, alone.checksum + 1,
                     sizeof alone.checksum - sizeof alone.checksum[0]) == 0);
      REQUIRE(memcmp(found.force, alone.force, sizeof alone.force) == 0);
      if (p == 0) REQUIRE(found.checksum[0] == alone.checksum[0]);
      if (after.blocks > 0) look_at(places[p], is_scattered, &before, &after);
    }
  }
}

/* ------------------------------------------------------------------------------------------ widths */

static int chosen(int32_t roots, int32_t cells, int dimension, int ranks)
{
  const gab_forest_options options = {
      .grid = {.dimension = dimension, .roots = {roots, roots, dimension == 3 ? roots : 1}},
      .cells = {cells, cells, dimension == 3 ? cells : 1}};
  return gab_fused_places(&options, ranks);
}

static void widths_fit_blocks(void)
{
  REQUIRE(chosen(1, 128, 3, 1) == 1);
  REQUIRE(chosen(2, 64, 3, 1) == 2); /* one of eight may be empty */
  REQUIRE(chosen(2, 64, 3, 2) == 1); /* one of four not */
  REQUIRE(chosen(3, 32, 3, 1) == 4);
  REQUIRE(chosen(4, 32, 3, 8) == 2);
  REQUIRE(chosen(8, 16, 3, 2) == 8); /* rows of 128 cells */
  REQUIRE(chosen(16, 8, 3, 4) == 16);
  REQUIRE(chosen(64, 4, 3, 1) == GAB_FUSED_PLACES);
  REQUIRE(chosen(16, 200, 3, 1) == 1);
  REQUIRE(chosen(8, 48, 3, 1) == 3);
  REQUIRE(chosen(16, 16, 2, 4) == 8);
  REQUIRE(chosen(2, 8, 2, 16) == 1); /* processes without blocks */
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  widths_fit_blocks();
  fused_fields_are_filled_anew(world);
  return test_end(&world);
}
