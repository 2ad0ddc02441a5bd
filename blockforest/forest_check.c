/* What a forest may look like: places next to each other, rows of tables, and the check of a whole part. */
#include "blockforest/forest_impl.h"

#include <math.h>

gab_block_id gab_forest_next_to(const gab_forest *forest, gab_block_id id, int direction)
{
  const gab_forest_options *options = &forest->options;
  int offset[3];
  gab_direction_offset(direction, offset);
  if (direction == GAB_DIRECTION_CENTRE || (options->grid.dimension == 2 && offset[2] != 0))
    return GAB_NO_BLOCK;
  gab_block_place place = gab_block_id_place(&options->grid, id);
  for (int axis = 0; axis < options->grid.dimension; ++axis) {
    int64_t extent = (int64_t)options->grid.roots[axis] << place.level;
    int64_t at = (int64_t)place.at[axis] + offset[axis];
    if (options->periodic[axis]) at = (at + extent) % extent;
    if (at < 0 || at >= extent) return GAB_NO_BLOCK;
    place.at[axis] = (int32_t)at;
  }
  return gab_block_id_of(&options->grid, place);
}

bool gab_forest_row_is_possible(const gab_forest *forest, gab_block_id id, const gab_neighbour *row)
{
  if (row->direction < 0 || row->direction >= GAB_DIRECTIONS || row->id == GAB_NO_BLOCK) return false;
  if (row->owner < 0 || row->owner >= gab_world_members(forest->world)->slots) return false;
  return row->id == gab_forest_next_to(forest, id, row->direction);
}

static const gab_neighbour *row_in(const gab_block *block, int direction)
{
  for (size_t i = 0; i < block->neighbour_count; ++i)
    if (block->neighbours[i].direction == direction) return &block->neighbours[i];
  return NULL;
}

static gab_status check_table(const gab_forest *forest, const gab_block *block)
{
  gab_slot me = gab_world_slot(forest->world);
  for (size_t i = 0; i < block->neighbour_count; ++i) {
    const gab_neighbour *row = &block->neighbours[i];
    if (!gab_forest_row_is_possible(forest, block->id, row))
      GAB_FAIL(GAB_ERR_STATE,
               "block " GAB_PRI_BLOCK ": impossible neighbour " GAB_PRI_BLOCK " in direction %d", block->id,
               row->id, row->direction);
    if (i > 0 && row[-1].direction >= row->direction)
      GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK ": neighbours out of order", block->id);
    if (!gab_members_has(gab_world_members(forest->world), row->owner))
      GAB_FAIL(GAB_ERR_STATE,
               "block " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " belongs to slot %" GAB_PRI_SLOT
               ", which is gone",
               block->id, row->id, row->owner);
    if ((row->owner == me) != (gab_forest_find(forest, row->id) != NULL))
      GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " is %s, against the table",
               block->id, row->id, row->owner == me ? "not here" : "here");
  }
  for (int direction = 0; direction < GAB_DIRECTIONS; ++direction) {
    gab_block_id next = gab_forest_next_to(forest, block->id, direction);
    if (next != GAB_NO_BLOCK && gab_forest_find(forest, next) && !row_in(block, direction))
      GAB_FAIL(GAB_ERR_STATE,
               "block " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " is here but not in the table", block->id,
               next);
  }
  return GAB_OK;
}

static gab_status check_part(const gab_forest *forest)
{
  if (forest->torn) GAB_FAIL(GAB_ERR_STATE, "a migration of this forest failed half-way");
  GAB_TRY(gab_root_grid_check(&forest->options.grid));
  for (size_t i = 0; i < forest->block_count; ++i) {
    const gab_block *block = forest->blocks[i];
    if (!gab_block_id_is_valid(&forest->options.grid, block->id))
      GAB_FAIL(GAB_ERR_STATE, "local block %zu has the impossible id " GAB_PRI_BLOCK, i, block->id);
    if (i > 0 && forest->blocks[i - 1]->id >= block->id)
      GAB_FAIL(GAB_ERR_STATE, "local blocks out of order at " GAB_PRI_BLOCK, block->id);
    if (block->kinds_made != forest->kind_count)
      GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " lacks data", block->id);
    GAB_TRY(check_table(forest, block));
  }
  return GAB_OK;
}

bool gab_forest_is_valid(const gab_forest *forest) { return check_part(forest) == GAB_OK; }
