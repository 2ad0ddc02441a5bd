/* SPDX-License-Identifier: Apache-2.0 */
/* Validity of a forest: rows of tables, and the whole part of a process. */
#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/topology_impl.h"

gab_status gab_forest_check_even(const gab_forest *forest)
{
  for (int axis = 0; axis < forest->options.grid.dimension; axis++)
    if (forest->options.cells[axis] % 2 != 0)
      GAB_FAIL(GAB_ERR_INPUT,
               "blocks have %" PRId32 " cells in %c; where blocks split and merge it must be an even number",
               forest->options.cells[axis], "xyz"[axis]);
  return GAB_OK;
}

static int level_of(const gab_forest *forest, gab_block_id id)
{
  return gab_block_id_level(&forest->options.grid, id);
}

/* Only finer blocks share a direction, in ascending order; ids of finer blocks are greater. */
static bool may_follow(const gab_forest *forest, gab_block_id id, const gab_neighbour *before,
                       const gab_neighbour *row)
{
  if (!before || row->direction > before->direction) return true;
  return row->direction == before->direction && row->id > before->id &&
         level_of(forest, before->id) > level_of(forest, id);
}

bool gab_forest_sees_border(const gab_forest *forest)
{
  for (size_t i = 0; i < forest->block_count; i++) {
    const gab_block *block = forest->blocks[i];
    for (size_t r = 0; r < block->neighbour_count; r++)
      if (level_of(forest, block->neighbours[r].id) != level_of(forest, block->id)) return true;
  }
  return false;
}

bool gab_forest_row_is_possible(const gab_forest *forest, gab_block_id id, const gab_neighbour *before,
                                const gab_neighbour *row)
{
  if (row->owner < 0 || row->owner >= gab_world_members(forest->world)->ranks) return false;
  return gab_topology_row_is_possible(&forest->topology, id, row) && may_follow(forest, id, before, row);
}

bool gab_forest_place_exists(const gab_forest *forest, gab_block_id id)
{
  const gab_forest_options *options = &forest->options;
  if (!options->exists) return true;
  for (; id != GAB_NO_BLOCK; id = gab_block_id_parent(&options->grid, id)) {
    gab_box cells = gab_forest_place_cells(forest, id);
    if (!options->exists(options->user, level_of(forest, id), &cells)) return false;
  }
  return true;
}

static gab_status check_row(const gab_forest *forest, const gab_block *block, const gab_neighbour *before,
                            const gab_neighbour *row)
{
  if (!gab_forest_row_is_possible(forest, block->id, before, row))
    GAB_FAIL(GAB_ERR_STATE,
             "block " GAB_PRI_BLOCK ": impossible neighbour " GAB_PRI_BLOCK
             " in direction %d, or out of order",
             block->id, row->id, row->direction);
  if (!gab_members_has(gab_world_members(forest->world), row->owner))
    GAB_FAIL(GAB_ERR_STATE,
             "block " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " belongs to rank %" GAB_PRI_RANK
             ", which is gone",
             block->id, row->id, row->owner);
  if ((row->owner == gab_world_rank(forest->world)) != (gab_forest_find(forest, row->id) != NULL))
    GAB_FAIL(GAB_ERR_STATE,
             "block " GAB_PRI_BLOCK ": whether neighbour " GAB_PRI_BLOCK
             " is here, table and forest do not agree",
             block->id, row->id);
  return GAB_OK;
}

/* True if some grandchild place of `child` that touches the block in `direction` exists. Otherwise a split removes
 * `child` from that border; at the deepest level nothing splits. */
static bool is_lasting(const gab_forest *forest, gab_block_id child, int direction)
{
  gab_block_id inside = gab_topology_next_to(&forest->topology, child, gab_direction_opposite(direction));
  gab_block_id places[GAB_CHILDREN_MAX];
  int count = gab_topology_touching_children(&forest->topology, inside, direction, places);
  for (int i = 0; i < count; i++)
    if (gab_forest_place_exists(forest, places[i])) return true;
  return count == 0;
}

/* The finer blocks of a direction: none may be missing. @param[in] rows  of this direction */
static gab_status check_finer(const gab_forest *forest, const gab_block *block, int direction,
                              const gab_neighbour *rows, size_t count)
{
  gab_block_id children[GAB_CHILDREN_MAX];
  int touching = gab_topology_touching_children(&forest->topology, block->id, direction, children);
  for (int i = 0; i < touching; i++) {
    size_t row = 0;
    while (row < count && rows[row].id != children[i]) row++;
    if (row < count || !gab_forest_place_exists(forest, children[i])) continue;
    if (gab_forest_find(forest, children[i]) || is_lasting(forest, children[i], direction))
      GAB_FAIL(GAB_ERR_STATE,
               "block " GAB_PRI_BLOCK ": there should be a neighbour " GAB_PRI_BLOCK " in direction %d",
               block->id, children[i], direction);
  }
  return GAB_OK;
}

/* A place without rows: its block must not be local, and need not exist. */
static gab_status check_empty(const gab_forest *forest, const gab_block *block, int direction)
{
  gab_block_id next = gab_topology_next_to(&forest->topology, block->id, direction);
  if (next == GAB_NO_BLOCK) return GAB_OK;
  gab_block_id parent = gab_block_id_parent(&forest->options.grid, next);
  if (gab_forest_find(forest, next) || (parent != GAB_NO_BLOCK && gab_forest_find(forest, parent)))
    GAB_FAIL(GAB_ERR_STATE,
             "block " GAB_PRI_BLOCK " does not know its neighbour in direction %d, which is here", block->id,
             direction);
  return check_finer(forest, block, direction, NULL, 0);
}

static gab_status check_table(const gab_forest *forest, const gab_block *block)
{
  const gab_neighbour *rows = block->neighbours;
  for (size_t i = 0; i < block->neighbour_count; i++)
    GAB_TRY(check_row(forest, block, i > 0 ? &rows[i - 1] : NULL, &rows[i]));
  size_t next = 0;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    size_t first = next;
    while (next < block->neighbour_count && rows[next].direction == direction) next++;
    if (next == first) GAB_TRY(check_empty(forest, block, direction));
    else if (level_of(forest, rows[first].id) > level_of(forest, block->id))
      GAB_TRY(check_finer(forest, block, direction, &rows[first], next - first));
  }
  return GAB_OK;
}

static gab_status check_part(const gab_forest *forest)
{
  if (forest->torn) GAB_FAIL(GAB_ERR_STATE, "a migration or adaptation of this forest failed half-way");
  GAB_TRY(gab_root_grid_check(&forest->options.grid));
  for (size_t i = 0; i < forest->block_count; i++) {
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
