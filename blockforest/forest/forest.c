/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/forest/forest_impl.h"

#include "core/base/log.h"
#include "core/base/lower_bound_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------- creation */

static gab_status check_options(const gab_forest_options *options)
{
  GAB_TRY(gab_root_grid_check(&options->grid));
  for (int axis = 0; axis < 3; axis++) {
    if (options->cells[axis] < 1)
      GAB_FAIL(GAB_ERR_INPUT, "blocks have %" PRId32 " cells in %c; at least one is needed",
               options->cells[axis], "xyz"[axis]);
    if (!isfinite(options->origin[axis]))
      GAB_FAIL(GAB_ERR_INPUT, "the origin of the domain in %c is not finite", "xyz"[axis]);
  }
  if (options->grid.dimension == 2 && options->cells[2] != 1)
    GAB_FAIL(GAB_ERR_INPUT, "blocks in 2D have %" PRId32 " cells in z; expected exactly one",
             options->cells[2]);
  if (!(options->dx > 0) || !isfinite(options->dx))
    GAB_FAIL(GAB_ERR_INPUT, "the width of a cell is %g; it must be positive and finite", options->dx);
  return GAB_OK;
}

gab_status gab_forest_create(gab_world *world, const gab_forest_options *options, gab_forest **forest)
{
  *forest = NULL;
  GAB_TRY(check_options(options));
  gab_forest *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  static uint32_t stamps;
  made->world = world;
  made->stamp = ++stamps;
  made->options = *options;
  made->topology.grid = options->grid;
  for (int axis = 0; axis < 3; axis++) made->topology.periodic[axis] = options->periodic[axis];
  gab_status status = gab_port_create(world, "forest", &made->port);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  *forest = made;
  return GAB_OK;
}

void gab_forest_destroy(gab_forest **forest)
{
  gab_forest *dying = *forest;
  if (!dying) return;
  gab_port_destroy(&dying->port);
  gab_forest_clear(dying);
  for (int kind = 0; kind < dying->kind_count; kind++) {
    char *name = (char *)(uintptr_t)dying->kinds[kind].name;
    gab_free(&name);
  }
  gab_free(&dying->kinds);
  gab_free(forest);
}

bool gab_kind_is_stored(const gab_block_data_kind *kind) { return kind->pack != NULL; }

/* Whether blocks of this forest can have data of the kind. */
static gab_status check_fit(const gab_forest *forest, const gab_block_data_kind *kind)
{
  char why[1024];
  const gab_status status = kind->check ? kind->check(kind->user, forest) : GAB_OK;
  if (status == GAB_OK) return GAB_OK;
  snprintf(why, sizeof why, "%s", gab_error_message());
  GAB_FAIL(status, "data `%s': %s", kind->name, why);
}

static gab_status check_kind(const gab_forest *forest, const gab_block_data_kind *kind)
{
  if (!kind->name || kind->name[0] == '\0') GAB_FAIL(GAB_ERR_ARGUMENT, "a kind of block data has no name");
  if (forest->is_closed)
    GAB_FAIL(GAB_ERR_STATE, "data `%s' is registered after the forest was populated", kind->name);
  if (!kind->create || !kind->destroy)
    GAB_FAIL(GAB_ERR_ARGUMENT, "data `%s' cannot be created or destroyed", kind->name);
  int stored = !!kind->packed_size + !!kind->pack + !!kind->unpack;
  if (stored != 0 && stored != 3)
    GAB_FAIL(GAB_ERR_ARGUMENT, "data `%s' has only some of packed_size, pack and unpack", kind->name);
  const int together = !!kind->place + !!kind->pack_together + !!kind->unpack_together;
  if (together != 0 && (together != 3 || stored != 3))
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "data `%s' has only some of place, pack_together and unpack_together, or is not stored",
             kind->name);
  for (int other = 0; other < forest->kind_count; other++)
    if (strcmp(forest->kinds[other].name, kind->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "data `%s' is registered twice", kind->name);
  return check_fit(forest, kind);
}

gab_status gab_forest_add_data(gab_forest *forest, const gab_block_data_kind *kind, gab_data_id *id)
{
  *id = (gab_data_id){0};
  GAB_TRY(check_kind(forest, kind));
  void *name;
  GAB_TRY(GAB_RESIZE_ARRAY(&forest->kinds, (size_t)forest->kind_count + 1, GAB_MEMORY_OTHER));
  size_t length = strlen(kind->name) + 1;
  GAB_TRY(gab_alloc(length, GAB_MEMORY_OTHER, &name));
  memcpy(name, kind->name, length);
  forest->kinds[forest->kind_count] = *kind;
  forest->kinds[forest->kind_count].name = name;
  *id = (gab_data_id){.forest = forest->stamp, .index = ++forest->kind_count};
  return GAB_OK;
}

gab_status gab_forest_check_data(const gab_forest *forest, gab_data_id id, const char *whose)
{
  if (id.forest == 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: data that is not registered (gab_forest_add_data() gives the handle)",
             whose);
  if (id.forest != forest->stamp)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: data that is registered with another forest", whose);
  if (id.index < 1 || id.index > forest->kind_count)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: no handle of data (number %" PRId32 " of %d)", whose, id.index,
             forest->kind_count);
  return GAB_OK;
}

/* -------------------------------------------------------------------------------------------- blocks */

gab_status gab_block_make(const gab_forest *forest, gab_block_id id, gab_block **block)
{
  void *memory;
  *block = NULL;
  GAB_TRY(
      gab_alloc(sizeof(gab_block) + (size_t)forest->kind_count * sizeof(void *), GAB_MEMORY_OTHER, &memory));
  *block = memory;
  (*block)->id = id;
  (*block)->stamp = forest->stamp;
  return GAB_OK;
}

void gab_forest_expect(const gab_forest *forest, const gab_block_id *ids, size_t count)
{
  for (int k = 0; k < forest->kind_count; k++) {
    const gab_block_data_kind *kind = &forest->kinds[k];
    if (kind->expect) kind->expect(kind->user, forest, ids, count);
  }
}

gab_status gab_block_make_data(const gab_forest *forest, gab_block *block)
{
  while (block->kinds_made < forest->kind_count) {
    const gab_block_data_kind *kind = &forest->kinds[block->kinds_made];
    GAB_TRY(kind->create(kind->user, forest, block, &block->data[block->kinds_made]));
    block->kinds_made++;
  }
  return GAB_OK;
}

gab_status gab_forest_measure_data(const gab_forest *forest, gab_block_id id, gab_data_id data, size_t *held,
                                   size_t *packed)
{
  gab_block *block = NULL;
  void *made = NULL;
  GAB_TRY(gab_forest_check_data(forest, data, "measuring"));
  const gab_block_data_kind *kind = &forest->kinds[data.index - 1];
  GAB_TRY(gab_block_make(forest, id, &block));
  const size_t before = gab_memory_now(GAB_MEMORY_FIELD);
  const gab_status status = kind->create(kind->user, forest, block, &made);
  if (status == GAB_OK) {
    *held = gab_memory_now(GAB_MEMORY_FIELD) - before;
    *packed = gab_kind_is_stored(kind) ? kind->packed_size(kind->user, made) : 0;
    kind->destroy(kind->user, made);
  }
  gab_block_unmake(forest, &block);
  return status;
}

gab_status gab_block_initialise(const gab_forest *forest, gab_block *block)
{
  for (int i = 0; i < forest->kind_count; i++) {
    const gab_block_data_kind *kind = &forest->kinds[i];
    if (kind->initialise) GAB_TRY(kind->initialise(kind->user, forest, block, block->data[i]));
  }
  return GAB_OK;
}

void gab_block_unmake(const gab_forest *forest, gab_block **block)
{
  gab_block *dying = *block;
  if (!dying) return;
  while (dying->kinds_made > 0) {
    const gab_block_data_kind *kind = &forest->kinds[--dying->kinds_made];
    kind->destroy(kind->user, dying->data[dying->kinds_made]);
  }
  gab_free(&dying->neighbours);
  gab_free(block);
}

gab_status gab_block_add_neighbour(gab_block *block, gab_neighbour row)
{
  if (block->neighbour_count == block->neighbour_capacity) {
    size_t capacity = block->neighbour_capacity ? 2 * block->neighbour_capacity : GAB_DIRECTIONS - 1;
    GAB_TRY(GAB_RESIZE_ARRAY(&block->neighbours, capacity, GAB_MEMORY_OTHER));
    block->neighbour_capacity = capacity;
  }
  block->neighbours[block->neighbour_count++] = row;
  return GAB_OK;
}

void gab_forest_clear(gab_forest *forest)
{
  for (size_t i = 0; i < forest->block_count; i++) gab_block_unmake(forest, &forest->blocks[i]);
  gab_free(&forest->blocks);
  forest->block_count = 0;
  forest->torn = false;
  forest->is_closed = false;
  forest->borders = GAB_BORDERS_NONE;
  forest->revision++;
}

gab_status gab_forest_abandon(gab_forest *forest, gab_status status)
{
  if (status != GAB_ERR_FAULT) status = gab_world_raise(forest->world, status);
  (void)gab_port_finish(forest->port);
  return status;
}

static int by_id(const void *a, const void *b)
{
  gab_block_id left = (*(gab_block *const *)a)->id, right = (*(gab_block *const *)b)->id;
  return (left > right) - (left < right);
}

void gab_forest_adopt(gab_forest *forest, gab_block **blocks, size_t count)
{
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (blocks[i]) blocks[kept++] = blocks[i];
  if (kept > 1) qsort(blocks, kept, sizeof *blocks, by_id);
  gab_free(&forest->blocks);
  forest->blocks = blocks;
  forest->block_count = kept;
  forest->is_closed = true;
  forest->revision++;
}

/* -------------------------------------------------------------------------------------------- access */

gab_world *gab_forest_world(const gab_forest *forest) { return forest->world; }
const gab_forest_options *gab_forest_get_options(const gab_forest *forest) { return &forest->options; }
const gab_topology *gab_forest_topology(const gab_forest *forest) { return &forest->topology; }
uint64_t gab_forest_revision(const gab_forest *forest) { return forest->revision; }
size_t gab_forest_block_count(const gab_forest *forest) { return forest->block_count; }
gab_block *gab_forest_block(const gab_forest *forest, size_t index)
{
  return index < forest->block_count ? forest->blocks[index] : NULL;
}

gab_block *gab_forest_find(const gab_forest *forest, gab_block_id id)
{
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, forest->block_count, i, forest->blocks[i]->id < id);
  return at < forest->block_count && forest->blocks[at]->id == id ? forest->blocks[at] : NULL;
}

gab_block_id gab_block_get_id(const gab_block *block) { return block->id; }
/* Logged once: a caller that errs for one block errs for all. */
static void complain_of_handle(const gab_block *block, gab_data_id kind)
{
  static bool said;
  (void)gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "block " GAB_PRI_BLOCK " is asked for data %s",
                      block->id,
                      kind.forest == 0              ? "that was never registered"
                      : kind.forest != block->stamp ? "of another forest"
                                                    : "that it has not got yet");
  if (!said) gab_log_all(GAB_LOG_ERROR, "gab_block_data: %s", gab_error_message());
  said = true;
}

void *gab_block_data(const gab_block *block, gab_data_id kind)
{
  if (kind.forest == block->stamp && kind.index > 0 && kind.index <= block->kinds_made)
    return block->data[kind.index - 1];
  complain_of_handle(block, kind);
  return NULL;
}

size_t gab_block_neighbour_count(const gab_block *block) { return block->neighbour_count; }
const gab_neighbour *gab_block_neighbours(const gab_block *block) { return block->neighbours; }

int gab_block_level(const gab_forest *forest, const gab_block *block)
{
  return gab_block_id_level(&forest->options.grid, block->id);
}

gab_box gab_forest_place_cells(const gab_forest *forest, gab_block_id id)
{
  gab_block_place place = gab_block_id_place(&forest->options.grid, id);
  gab_box box;
  for (int axis = 0; axis < 3; axis++) {
    box.lo[axis] = (int64_t)place.at[axis] * forest->options.cells[axis];
    box.hi[axis] = box.lo[axis] + forest->options.cells[axis];
  }
  return box;
}

gab_box gab_block_cells(const gab_forest *forest, const gab_block *block)
{
  return gab_forest_place_cells(forest, block->id);
}

double gab_forest_dx(const gab_forest *forest, int level) { return ldexp(forest->options.dx, -level); }

void gab_block_cell_centre(const gab_forest *forest, const gab_block *block, int32_t x, int32_t y, int32_t z,
                           double centre[3])
{
  gab_box box = gab_forest_place_cells(forest, block->id);
  double half = gab_forest_dx(forest, gab_block_level(forest, block) + 1);
  const int32_t cell[3] = {x, y, z};
  for (int axis = 0; axis < 3; axis++)
    centre[axis] = forest->options.origin[axis] + (double)(2 * (box.lo[axis] + cell[axis]) + 1) * half;
}

uint64_t gab_forest_block_weight(const gab_forest *forest, gab_block_id id)
{
  if (!forest->options.weight) return 1;
  gab_box cells = gab_forest_place_cells(forest, id);
  uint64_t weight =
      forest->options.weight(forest->options.user, gab_block_id_level(&forest->options.grid, id), &cells);
  return weight > 0 ? weight : 1;
}

uint64_t gab_forest_block_work(const gab_forest *forest, const gab_block *block, bool forget)
{
  uint64_t work = 0;
  for (int k = 0; k < forest->kind_count; k++) {
    const gab_block_data_kind *kind = &forest->kinds[k];
    if (kind->work) work += kind->work(kind->user, block->data[k], forget);
  }
  return work;
}

gab_box gab_forest_domain_cells(const gab_forest *forest)
{
  gab_box box = {{0, 0, 0}, {0, 0, 0}};
  for (int axis = 0; axis < 3; axis++)
    box.hi[axis] = (int64_t)forest->options.grid.roots[axis] * forest->options.cells[axis];
  return box;
}
