/* SPDX-License-Identifier: Apache-2.0 */
/* Random sequences of operations on proxies, compared with the model. A failing sequence is reduced as long as it
 * still fails, and printed. */
#ifndef GABION_TESTS_PROXY_SEQUENCE_H
#define GABION_TESTS_PROXY_SEQUENCE_H

#include "core/messages/collective.h"
#include "tests/blockforest/adapt/proxy_model.h"
#include "blockforest/adaptation/proxy_impl.h"

#include <stdarg.h>

typedef enum step_kind { STEP_REFINE, STEP_MOVE, STEP_ARRIVE, STEP_KINDS } step_kind;

/* Marks are stored by id, so that a step can be repeated without the previous ones. */
typedef struct step_mark {
  gab_block_id id;
  gab_mark mark;
} step_mark;

typedef struct step {
  step_kind kind; /* ARRIVE: as if the data had moved with the proxies */
  uint64_t salt;  /* MOVE: of the owners */
  int max_level;
  step_mark *marks;
  size_t mark_count;
  bool drawn;
} step;

typedef enum sequence_style {
  STYLE_ANY,   /* everything */
  STYLE_DEEP,  /* always finer at the same point, no data */
  STYLE_PULSE, /* some blocks finer, then all coarser */
  STYLES
} sequence_style;

typedef struct sequence {
  uint64_t seed;
  size_t most_leaves;
  sequence_style style;
  step *steps;
  size_t count;
} sequence;

static char failure[512]; /* failure on this process; "" if none */

static inline bool fail(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (!failure[0]) vsnprintf(failure, sizeof failure, format, arguments);
  va_end(arguments);
  return false;
}

/* ------------------------------------------------------------------------------------------ comparing */

static inline bool compare_table(const model *grid, const leaf *wanted, const gab_proxy *proxy)
{
  if (proxy->neighbour_count != wanted->row_count)
    return fail("block " GAB_PRI_BLOCK " has %zu rows instead of %zu", proxy->id, proxy->neighbour_count,
                wanted->row_count);
  for (size_t r = 0; r < wanted->row_count; r++) {
    const gab_neighbour *row = &proxy->neighbours[r];
    const leaf *other = &grid->leaves[wanted->rows[r].leaf];
    if (row->id != other->is.id || row->owner != other->owner || row->direction != wanted->rows[r].direction)
      return fail("row %zu of block " GAB_PRI_BLOCK " is " GAB_PRI_BLOCK
                  " on rank %d in %d instead of " GAB_PRI_BLOCK " on rank %d in %d",
                  r, proxy->id, row->id, (int)row->owner, row->direction, other->is.id, (int)other->owner,
                  wanted->rows[r].direction);
  }
  return true;
}

static inline bool compare(const model *grid, gab_proxies *proxies)
{
  gab_rank me = gab_world_rank(gab_proxies_world(proxies));
  size_t mine = 0;
  if (!gab_proxies_are_valid(proxies)) return fail("not valid: %s", gab_error_message());
  for (size_t i = 0; i < grid->count; i++) {
    const leaf *wanted = &grid->leaves[i];
    if (wanted->owner != me) continue;
    if (mine == gab_proxies_count(proxies)) return fail("block " GAB_PRI_BLOCK " is missing", wanted->is.id);
    const gab_proxy *proxy = gab_proxies_get(proxies, mine++);
    if (proxy->id != wanted->is.id)
      return fail("block " GAB_PRI_BLOCK " instead of " GAB_PRI_BLOCK, proxy->id, wanted->is.id);
    if (proxy->weight != wanted->is.weight)
      return fail("block " GAB_PRI_BLOCK " has a wrong weight", proxy->id);
    if (proxy->origin != wanted->is.origin ||
        memcmp(proxy->sources, wanted->is.sources, sizeof proxy->sources) != 0)
      return fail("block " GAB_PRI_BLOCK " has origin %d (%d ...) instead of %d (%d ...)", proxy->id,
                  (int)proxy->origin, (int)proxy->sources[0], (int)wanted->is.origin,
                  (int)wanted->is.sources[0]);
    if (!compare_table(grid, wanted, proxy)) return false;
  }
  if (mine != gab_proxies_count(proxies))
    return fail("%zu blocks too many", gab_proxies_count(proxies) - mine);
  return true;
}

/* ------------------------------------------------------------------------------------------ playing */

/* Whether a block holds a point of the domain. Some points are lines. */
static inline bool holds_point(const model *grid, const leaf *of, uint64_t which)
{
  uint64_t seed = gab_hash_counter(grid->setup->seed, 6, which);
  int axes = seed % 4 == 0 ? grid->setup->options.grid.dimension - 1 : 3;
  for (int axis = 0; axis < axes; axis++) {
    uint64_t point = gab_hash_counter(seed, 7, (uint64_t)axis);
    uint64_t at = (uint64_t)of->place.at[axis], below = ((uint64_t)1 << of->level) - 1;
    if (axis >= grid->setup->options.grid.dimension) continue;
    if (at >> of->level != point % (uint64_t)grid->setup->options.grid.roots[axis]) return false;
    if (of->level > 0 && (at & below) != point >> (64 - of->level)) return false;
  }
  return true;
}

/* Blocks at a point become finer, those elsewhere coarser; or marks by chance. */
static inline gab_mark draw_mark(const sequence *all, const step *at, const model *grid, const leaf *of)
{
  uint64_t chance = gab_hash_counter(at->salt, 5, of->is.id) % 16;
  if (all->style == STYLE_DEEP) return holds_point(grid, of, 0) ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  if (all->style == STYLE_PULSE)
    return at->salt / 7 % 5 < 2 ? GAB_MARK_COARSEN : chance < 4 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  switch (at->salt / 7 % 4) {
  case 0:
    return chance < 3 ? GAB_MARK_REFINE : chance < 12 ? GAB_MARK_COARSEN : GAB_MARK_KEEP;
  case 1:
    return chance < 1 ? GAB_MARK_REFINE : GAB_MARK_COARSEN;
  case 2:
    return holds_point(grid, of, at->salt % 2) ? GAB_MARK_REFINE : GAB_MARK_COARSEN;
  default:
    return holds_point(grid, of, at->salt % 2) ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  }
}

static inline void draw_marks(const sequence *all, step *at, const model *grid)
{
  at->drawn = true;
  at->marks = malloc((grid->count + 1) * sizeof *at->marks);
  size_t refined = 0, children = grid->setup->options.grid.dimension == 3 ? 8 : 4;
  for (size_t i = 0; i < grid->count; i++) {
    gab_mark mark = draw_mark(all, at, grid, &grid->leaves[i]);
    if (mark == GAB_MARK_REFINE && grid->count + (++refined + 4) * children > all->most_leaves)
      mark = GAB_MARK_COARSEN;
    if (mark != GAB_MARK_KEEP) at->marks[at->mark_count++] = (step_mark){grid->leaves[i].is.id, mark};
  }
}

static inline gab_mark mark_of(const step *at, gab_block_id id)
{
  for (size_t m = 0; m < at->mark_count; m++)
    if (at->marks[m].id == id) return at->marks[m].mark;
  return GAB_MARK_KEEP;
}

static inline bool play_refine(const step *at, model *grid, gab_proxies *proxies)
{
  gab_refine_report wanted, got = {0};
  size_t count = gab_proxies_count(proxies);
  gab_mark *all = malloc((grid->count + 1) * sizeof *all), *mine = malloc((count + 1) * sizeof *mine);
  for (size_t i = 0; i < grid->count; i++) all[i] = mark_of(at, grid->leaves[i].is.id);
  for (size_t i = 0; i < count; i++) mine[i] = mark_of(at, gab_proxies_get(proxies, i)->id);
  int deepest = gab_root_grid_max_level(&grid->setup->options.grid);
  int max_level = at->max_level < deepest ? at->max_level : deepest;
  bool possible = model_refine(grid, all, max_level, &wanted);
  gab_status status = gab_proxies_refine(proxies, mine, max_level, &got);
  free(all);
  free(mine);
  if (status != (possible ? GAB_OK : GAB_ERR_STATE))
    return fail("refining ends with: %s (%s)", gab_status_name(status), status ? gab_error_message() : "");
  if (!possible) return true;
  if (!model_is_sound(grid)) return fail("the model is not sound");
  if (got.rounds < 1 || got.rounds > 2 * (grid->depth + 4)) return fail("%d rounds", got.rounds);
  got.rounds = wanted.rounds = 0;
  if (got.split != wanted.split || got.merged != wanted.merged || got.forced != wanted.forced ||
      got.refused != wanted.refused || got.blocks != wanted.blocks)
    return fail("the report is wrong");
  return true;
}

static inline gab_rank drawn_owner(const step *at, gab_block_id id, gab_rank ranks)
{
  uint64_t style = at->salt % 3;
  if (style == 0) return (gab_rank)(at->salt / 3 % (uint64_t)ranks);
  return (gab_rank)(gab_hash_counter(at->salt, 8, style == 1 ? id : id >> 5) % (uint64_t)ranks);
}

static inline bool play_move(const step *at, model *grid, gab_proxies *proxies)
{
  gab_rank ranks = gab_world_members(gab_proxies_world(proxies))->ranks;
  size_t count = gab_proxies_count(proxies);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++) targets[i] = drawn_owner(at, gab_proxies_get(proxies, i)->id, ranks);
  for (size_t i = 0; i < grid->count; i++)
    grid->leaves[i].owner = drawn_owner(at, grid->leaves[i].is.id, ranks);
  gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status == GAB_OK || fail("moving ends with: %s (%s)", gab_status_name(status), gab_error_message());
}

static inline bool play_arrive(model *grid, gab_proxies *proxies)
{
  for (size_t i = 0; i < gab_proxies_count(proxies) + grid->count; i++) {
    bool here = i < gab_proxies_count(proxies);
    leaf *of = here ? NULL : &grid->leaves[i - gab_proxies_count(proxies)];
    gab_proxy *proxy = here ? gab_proxies_get(proxies, i) : &of->is;
    proxy->origin = GAB_ORIGIN_SELF;
    for (int c = 0; c < GAB_CHILDREN_MAX; c++) proxy->sources[c] = GAB_NO_RANK;
    proxy->sources[0] = here ? gab_world_rank(gab_proxies_world(proxies)) : of->owner;
  }
  return true;
}

static inline bool play_step(const sequence *all, step *at, model *grid, gab_proxies *proxies)
{
  if (at->kind == STEP_REFINE && !at->drawn) draw_marks(all, at, grid);
  bool good = at->kind == STEP_REFINE ? play_refine(at, grid, proxies)
              : at->kind == STEP_MOVE ? play_move(at, grid, proxies)
                                      : play_arrive(grid, proxies);
  return good && compare(grid, proxies);
}

/* Whether any process failed; repairs a broken world. */
static inline bool any_failed(gab_world *world, bool good)
{
  uint64_t failed = !good;
  if (gab_world_max_u64(world, &failed, 1) == GAB_OK) return failed != 0;
  gab_status abort_request;
  if (gab_world_repair(world, &abort_request) != GAB_OK) {
    fprintf(stderr, "the world is broken: %s\n", failure);
    _Exit(1);
  }
  return true;
}

/* @return false if a step failed on any process */
static inline bool play(gab_world *world, sequence *all)
{
  proxy_setup setup;
  model grid;
  gab_proxies *proxies = NULL;
  failure[0] = 0;
  setup_make(&setup, all->seed);
  model_start(&grid, &setup, gab_world_members(world)->ranks);
  gab_status status = gab_proxies_create(world, &setup.options, &proxies);
  bool good = status == GAB_OK ? compare(&grid, proxies) : fail("no proxies: %s", gab_error_message());
  bool failed = any_failed(world, good);
  for (size_t i = 0; i < all->count && !failed; i++)
    failed = any_failed(world, play_step(all, &all->steps[i], &grid, proxies));
  gab_proxies_destroy(&proxies);
  model_release(&grid);
  return !failed;
}

/* ------------------------------------------------------------------------------------------ reduction */

static inline bool still_fails(gab_world *world, sequence *all, int *tries)
{
  return --*tries >= 0 && !play(world, all);
}

static inline void drop_steps(gab_world *world, sequence *all, int *tries)
{
  for (size_t i = all->count; i-- > 0;) {
    step dropped = all->steps[i];
    memmove(&all->steps[i], &all->steps[i + 1], (all->count - i - 1) * sizeof dropped);
    all->count--;
    if (still_fails(world, all, tries)) {
      free(dropped.marks);
      continue;
    }
    memmove(&all->steps[i + 1], &all->steps[i], (all->count - i) * sizeof dropped);
    all->steps[i] = dropped;
    all->count++;
  }
}

static inline void drop_marks(gab_world *world, sequence *all, step *of, int *tries)
{
  for (size_t chunk = of->mark_count; chunk > 0; chunk /= 2)
    for (size_t first = 0; first<of->mark_count && * tries> 0;) {
      size_t count = chunk < of->mark_count - first ? chunk : of->mark_count - first;
      step whole = *of;
      of->marks = malloc((of->mark_count + 1) * sizeof *of->marks);
      memcpy(of->marks, whole.marks, first * sizeof *of->marks);
      memcpy(of->marks + first, whole.marks + first + count,
             (whole.mark_count - first - count) * sizeof *of->marks);
      of->mark_count -= count;
      bool fails = still_fails(world, all, tries);
      free(fails ? whole.marks : of->marks);
      if (!fails) *of = whole;
      if (!fails) first += chunk;
    }
}

static inline void print_sequence(const sequence *all)
{
  proxy_setup setup;
  setup_make(&setup, all->seed);
  const gab_forest_options *options = &setup.options;
  printf("seed %" PRIu64 ": %dD, %" PRId32 " x %" PRId32 " x %" PRId32
         " roots, periodic %d%d%d, holes %d/16 to level %d\n",
         all->seed, options->grid.dimension, options->grid.roots[0], options->grid.roots[1],
         options->grid.roots[2], options->periodic[0], options->periodic[1], options->periodic[2],
         (int)setup.holes, setup.hole_level);
  for (size_t i = 0; i < all->count; i++) {
    const step *at = &all->steps[i];
    if (at->kind == STEP_ARRIVE) printf("  data arrives\n");
    if (at->kind == STEP_MOVE) printf("  move, salt %" PRIu64 "\n", at->salt);
    if (at->kind != STEP_REFINE) continue;
    printf("  refine up to level %d:", at->max_level);
    for (size_t m = 0; m < at->mark_count; m++)
      printf(" " GAB_PRI_BLOCK "%c", at->marks[m].id, at->marks[m].mark > 0 ? '+' : '-');
    printf("\n");
  }
}

static inline void report_failure(gab_world *world, sequence *all)
{
  int tries = 400;
  for (int round = 0; round < 2; round++) {
    drop_steps(world, all, &tries);
    for (size_t i = 0; i < all->count; i++) drop_marks(world, all, &all->steps[i], &tries);
  }
  (void)play(world, all);
  if (gab_world_is_root(world)) print_sequence(all);
  fflush(stdout);
  (void)gab_world_barrier(world);
  if (failure[0]) printf("rank %d: %s\n", (int)gab_world_rank(world), failure);
  fflush(stdout);
}

/* @return false, with a reduced sequence printed, if the proxies differ from the model */
static inline bool try_sequence(gab_world *world, uint64_t seed, size_t steps, size_t most_leaves)
{
  sequence all = {.seed = seed, .most_leaves = most_leaves, .count = steps};
  all.style = (sequence_style)setup_draw(seed, 4, STYLES);
  if (all.style == STYLE_DEEP) {
    all.count = 2 * steps;
    all.most_leaves = 4 * most_leaves;
  }
  if (all.style == STYLE_PULSE) all.count = 5 * steps; /* cheap ones */
  all.steps = calloc(all.count, sizeof *all.steps);
  for (size_t i = 0; i < all.count; i++) {
    uint64_t chance = setup_draw(seed, 100 + i, 8);
    step *at = &all.steps[i];
    at->kind = chance < 5 ? STEP_REFINE : chance < 7 ? STEP_MOVE : STEP_ARRIVE;
    if (all.style == STYLE_DEEP && chance == 7) at->kind = STEP_REFINE;
    at->salt = setup_draw(seed, 200 + i, 1 << 20);
    bool unlimited = all.style != STYLE_ANY || setup_draw(seed, 300 + i, 4) > 0;
    at->max_level = unlimited ? 12 : (int)setup_draw(seed, 400 + i, 5);
  }
  bool good = play(world, &all);
  if (!good) report_failure(world, &all);
  for (size_t i = 0; i < all.count; i++) free(all.steps[i].marks);
  free(all.steps);
  return good;
}

#endif
