/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=3 timeout=60 */
/* Blocks made together are in rows, for any threads that make them; places of blocks that never arrive cost nothing.
 * Rearranged fused fields: no bit of state or messages changes, for any previous arrangement and in either state; little
 * additional memory is used; and without that memory nothing is changed. */
#include "blockforest/adaptation/adapt.h"
#include "core/memory/memory.h"
#include "lbm/step/fused/fused_field_impl.h"
#include "tests/lbm/step/fused_common.h"
#include "tests/threads.h"

#include <sys/resource.h>

static size_t block_count(const flow *it) { return gab_forest_block_count(it->forest); }
static gab_lbm_block *block_at(const flow *it, size_t index)
{
  return gab_lbm_block_of(it->lbm, gab_forest_block(it->forest, index));
}

/* ------------------------------------------------------------------------------------------ in rows */

/* Place of a block. */
typedef struct lying {
  gab_fused_key key;
  size_t fused;
  int32_t column, unused;
} lying;

static int in_rows(const void *a, const void *b)
{
  const lying *x = a, *y = b;
  for (int i = 0; i < 4; i++)
    if (x->key.at[i] != y->key.at[i]) return x->key.at[i] < y->key.at[i] ? -1 : 1;
  return 0;
}

static lying *list_places(const flow *it)
{
  const size_t count = block_count(it);
  lying *list = calloc(count + 1, sizeof *list);
  REQUIRE(list);
  for (size_t i = 0; i < count; i++) {
    const gab_fused_place *place = block_at(it, i)->in_fused;
    REQUIRE(place);
    list[i] = (lying){.key = place->key, .fused = place->in->index, .column = place->column};
  }
  qsort(list, count, sizeof *list, in_rows);
  return list;
}

static bool follow(const lying *a, const lying *b)
{
  return memcmp(a->key.at, b->key.at, 3 * sizeof(int64_t)) == 0 && b->key.at[3] == a->key.at[3] + 1;
}

/* Neighbours are adjacent unless the fused field ends there. */
static void rows_are_whole(const flow *it, const lying *list)
{
  const gab_fused_fields *fused_fields = it->lbm->model.fused_fields;
  for (size_t i = 1; i < block_count(it); i++) {
    const lying *a = &list[i - 1], *b = &list[i];
    if (!follow(a, b)) continue;
    const bool is_beside = a->fused == b->fused && b->column == a->column + fused_fields->cells;
    REQUIRE(is_beside || a->column + 2 * fused_fields->cells + 1 > fused_fields->columns);
  }
}

static flow_case box_of_blocks(int places)
{
  flow_case given = {.dimension = 3, .cells = {32, 36, 30}, .block = {4, 6, 6}};
  given.options.omega = 1.6;
  given.options.initial = noisy_state;
  given.options.fused_blocks = places;
  given.options.kernel = "in_place";
  return given;
}

static void fresh_grids_lie_in_rows(gab_world *world)
{
  for (int places = 3; places <= 16; places += 5) {
    const flow_case given = box_of_blocks(places);
    lying *wanted = NULL;
    for (int threads = 1; threads <= 4; threads++) {
      use_threads(threads);
      flow it = flow_open(world, &given);
      lying *seen = list_places(&it);
      rows_are_whole(&it, seen);
      REQUIRE(it.lbm->model.fused_fields->awaited == 0);
      if (wanted) REQUIRE(memcmp(wanted, seen, block_count(&it) * sizeof *seen) == 0);
      else {
        wanted = seen;
        seen = NULL;
      }
      free(seen);
      flow_close(&it);
    }
    free(wanted);
  }
}

static gab_status split_some(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const uint64_t *round = user;
  (void)forest;
  const uint64_t dice = gab_hash_counter(*round, 3, gab_block_get_id(block)) % 8;
  *mark = dice == 0 ? GAB_MARK_REFINE : dice < 5 ? GAB_MARK_COARSEN : GAB_MARK_KEEP;
  return GAB_OK;
}

/* Hash of right neighbours: independent of the numbers of fused fields. */
static uint64_t hash_of_neighbours(const flow *it)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < block_count(it); i++) {
    const gab_lbm_block *block = block_at(it, i);
    if (block->right) sum += gab_hash_counter(1, block->id, block->right->id);
  }
  return sum;
}

/* With one process: with several, blocks that arrive only to be split occupy places for a while, so their order matters. */
static void adapted_grids_do_not_depend_on_threads(gab_world *world)
{
  enum { ROUNDS = 3 };
  uint64_t wanted[ROUNDS];
  if (gab_members_count(gab_world_members(world)) > 1) return;
  for (int threads = 1; threads <= 3; threads++) {
    flow_case given = box_of_blocks(8);
    use_threads(threads);
    flow it = flow_open(world, &given);
    for (uint64_t round = 0; round < ROUNDS; round++) {
      gab_adapt_report report;
      const gab_adapt_options options = {.max_level = 1, .mark = split_some, .user = &round};
      REQUIRE_OK(gab_forest_adapt(it.forest, &options, &report));
      flow_run(&it, 1);
      REQUIRE(it.lbm->model.fused_fields->awaited == 0);
      if (threads == 1) wanted[round] = hash_of_neighbours(&it);
      REQUIRE(hash_of_neighbours(&it) == wanted[round]);
    }
    flow_close(&it);
  }
}

/* ------------------------------------------------------------------------------------------ blocks that never arrive */

static void places_of_no_block_cost_nothing(gab_world *world)
{
  const flow_case given = box_of_blocks(4);
  use_threads(2);
  flow it = flow_open(world, &given);
  gab_fused_fields *fused_fields = it.lbm->model.fused_fields;
  const gab_root_grid *grid = &gab_forest_get_options(it.forest)->grid;
  const size_t fields = gab_memory_now(GAB_MEMORY_FIELD), all = gab_memory_now(GAB_MEMORY_USE_COUNT),
               before = fused_fields->count, count = block_count(&it);
  gab_block_id *ids = malloc(8 * (count + 1) * sizeof *ids);
  REQUIRE(ids);
  for (size_t i = 0; i < 8 * count; i++)
    ids[i] = gab_block_id_child(grid, gab_block_get_id(gab_forest_block(it.forest, i / 8)), (int)(i % 8));
  gab_fused_fields_expect(&it.lbm->model, grid, ids, 8 * count);
  REQUIRE(fused_fields->awaited == 8 * count);
  REQUIRE(gab_memory_now(GAB_MEMORY_FIELD) == fields);
  gab_fused_fields_expect(&it.lbm->model, grid, NULL, 0);
  REQUIRE(fused_fields->awaited == 0 && fused_fields->count == before);
  REQUIRE(gab_memory_now(GAB_MEMORY_USE_COUNT) <= all + all / 16); /* a wider table and list */
  flow_run(&it, 2);
  free(ids);
  flow_close(&it);
}

/* ------------------------------------------------------------------------------------------ rearrangement */

/* Makes the next step plan again. */
static void forget_plans(flow *it)
{
  for (int level = 0; level < GAB_LBM_LEVELS; level++) it->lbm->stage[level].plan.exchange = 0;
}

/* Scatters all blocks, no two neighbours adjacent, in either state. */
static void scatter(flow *it, uint64_t seed)
{
  const gab_lbm_model *model = &it->lbm->model;
  gab_fused_fields *fused_fields = model->fused_fields;
  const size_t count = block_count(it),
               capacity = (size_t)(fused_fields->columns / (fused_fields->cells + 2));
  gab_fused_move *moves = malloc((count + 1) * sizeof *moves);
  gab_fused_field *in = NULL;
  REQUIRE(moves);
  for (size_t i = 0; i < count; i++) moves[i].block = block_at(it, i);
  for (size_t i = count; i > 1; i--) {
    const size_t other = gab_hash_counter(seed, 7, i) % i;
    gab_lbm_block *swapped = moves[i - 1].block;
    moves[i - 1].block = moves[other].block;
    moves[other].block = swapped;
  }
  for (size_t i = 0; i < count; i++) {
    if (i % capacity == 0) {
      REQUIRE_OK(gab_fused_fields_add(fused_fields, &in));
      REQUIRE_OK(gab_fused_make_field(fused_fields, in));
      memset(in->field->data, (int)(seed % 250 + 1),
             in->field->map.elements * gab_precision_bytes(in->field->shape.precision));
    }
    moves[i].in = in;
    moves[i].column = 1 + (int32_t)(i % capacity) * (fused_fields->cells + 2);
    moves[i].now = &model->storage[gab_hash_counter(seed, 8, i) % 2];
  }
  REQUIRE_OK(gab_fused_fields_move(model, moves, count));
  for (size_t i = 0; i < count; i++) {
    block_at(it, i)->left = block_at(it, i)->right = NULL;
    gab_fused_clear_ghosts(model, block_at(it, i));
  }
  gab_fused_fields_drop_empty(fused_fields);
  forget_plans(it);
  free(moves);
}

static bool is_wide(const flow *it) { return it->lbm->model.fused_fields && block_count(it) > 0; }

static size_t joined(const flow *it)
{
  size_t found = 0;
  for (size_t i = 0; i < block_count(it); i++) found += block_at(it, i)->right != NULL;
  return found;
}

typedef struct course {
  uint64_t checksum, messages[6];
} course;

/* Steps, with or without scattering and rearrangement in between. */
static course take(gab_world *world, const flow_case *given, uint64_t seed, bool moves)
{
  course out = {0};
  flow it = flow_open(world, given);
  flow_run(&it, 1 + (int)(seed % 2));
  if (moves && is_wide(&it)) {
    scatter(&it, seed);
    flow_run(&it, 1);
    gab_fused_fields_pack(it.lbm);
    forget_plans(&it);
    lying *list = list_places(&it);
    rows_are_whole(&it, list);
    free(list);
  } else flow_run(&it, 1);
  for (int i = 0; i < 6; i++) {
    out.messages[i] = hash_of_messages(&it);
    if (moves && is_wide(&it) && i % 2 == 1) scatter(&it, seed + (uint64_t)i);
    if (i == 4) {
      gab_fused_fields_pack(it.lbm);
      forget_plans(&it);
    }
    flow_run(&it, 1);
  }
  REQUIRE_OK(gab_forest_checksum(it.forest, &out.checksum));
  flow_close(&it);
  return out;
}

static void nothing_that_is_sent_changes(gab_world *world)
{
  enum { FLOWS = 12 };
  for (uint64_t seed = 0; seed < FLOWS; seed++) {
    const bool is_flat = seed % 3 == 0;
    const gab_body bodies[2] = {{.shape = GAB_SHAPE_BOX, .lo = {14, 6, 0}, .hi = {26, 18, 9}},
                                {.shape = GAB_SHAPE_SPHERE,
                                 .wall = GAB_WALL_INTERPOLATED,
                                 .centre = {1.3, 17.1, is_flat ? 0.5 : 8.2},
                                 .radius = 5.3}};
    flow_case given = {.dimension = is_flat ? 2 : 3,
                       .cells = {40, 24, is_flat ? 1 : 12},
                       .block = {seed % 2 ? 8 : 4, 6, is_flat ? 1 : 4},
                       .bodies = bodies,
                       .body_count = 2};
    for (int side = 0; side < (is_flat ? 4 : 6); side++)
      given.options.sides[side].kind = seed % 4 < 2 ? GAB_SIDE_WALL : GAB_SIDE_PERIODIC;
    given.options.omega = 1.5;
    given.options.precision = seed % 5 < 2 ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE;
    given.options.initial = is_flat ? noisy_plane : noisy_state;
    given.options.kernel = "in_place";
    given.options.fused_blocks = 2 + (int)(seed * 5 % 15);
    use_threads(1 + (int)(seed % 3));
    const course still = take(world, &given, seed, false), moved = take(world, &given, seed, true);
    REQUIRE(memcmp(&still, &moved, sizeof still) == 0);
  }
}

/* ------------------------------------------------------------------------------------------ memory */

/* Two of 19 directions of the cells, and lists. */
static void little_memory_is_needed(gab_world *world)
{
  const flow_case given = box_of_blocks(8);
  use_threads(2);
  flow it = flow_open(world, &given);
  if (is_wide(&it)) {
    scatter(&it, 5);
    const size_t before = gab_memory_now(GAB_MEMORY_USE_COUNT), count = block_count(&it),
                 values = 2 * (size_t)gab_lbm_cells_of(&it.lbm->model) * count;
    gab_memory_reset_peak();
    gab_fused_fields_pack(it.lbm);
    forget_plans(&it);
    REQUIRE(joined(&it) > 0);
    REQUIRE(gab_memory_peak(GAB_MEMORY_USE_COUNT) <= before + values * sizeof(double) + 256 * count);
  }
  flow_run(&it, 1);
  flow_close(&it);
}

typedef struct hoard {
  struct hoard *next;
} hoard;

/* Blocks of that number of bytes can no longer be allocated. */
static hoard *take_all_memory(size_t bytes, struct rlimit *before)
{
  hoard *all = NULL;
  REQUIRE(getrlimit(RLIMIT_AS, before) == 0);
  const struct rlimit none = {1 << 20, before->rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &none) == 0);
  for (hoard *chunk; (chunk = malloc(bytes)) != NULL; all = chunk) chunk->next = all;
  return all;
}

static void give_memory_back(hoard *all, const struct rlimit *before)
{
  for (hoard *next; all; all = next) {
    next = all->next;
    free(all);
  }
  REQUIRE(setrlimit(RLIMIT_AS, before) == 0);
}

static void without_memory_all_stays(gab_world *world, size_t bytes)
{
  const flow_case given = box_of_blocks(8);
  uint64_t wanted, seen;
  use_threads(1);
  flow it = flow_open(world, &given);
  flow_run(&it, 6);
  REQUIRE_OK(gab_forest_checksum(it.forest, &wanted));
  flow_close(&it);
  it = flow_open(world, &given);
  flow_run(&it, 3);
  if (is_wide(&it)) {
    struct rlimit limit;
    scatter(&it, 9);
    lying *before = list_places(&it);
    hoard *all = take_all_memory(bytes, &limit);
    gab_fused_fields_pack(it.lbm);
    const bool is_silent = gab_error_message()[0] == '\0';
    give_memory_back(all, &limit);
    lying *after = list_places(&it);
    REQUIRE(is_silent);
    REQUIRE(memcmp(before, after, block_count(&it) * sizeof *before) == 0);
    REQUIRE(joined(&it) == 0);
    free(before);
    free(after);
  }
  flow_run(&it, 3);
  REQUIRE_OK(gab_forest_checksum(it.forest, &seen));
  REQUIRE(seen == wanted);
  flow_close(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  fresh_grids_lie_in_rows(world);
  adapted_grids_do_not_depend_on_threads(world);
  places_of_no_block_cost_nothing(world);
  nothing_that_is_sent_changes(world);
  little_memory_is_needed(world);
#if !defined(__SANITIZE_ADDRESS__)          /* ends a program without memory */
  without_memory_all_stays(world, 2048);    /* for lists */
  without_memory_all_stays(world, 1 << 15); /* for temporary storage */
#endif
  return test_end(&world);
}
