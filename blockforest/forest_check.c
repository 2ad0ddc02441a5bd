/* What a forest may look like: rows of tables, and the check of a whole part. */
#include "blockforest/forest_impl.h"

gab_status gab_forest_check_even(const gab_forest *forest)
{
  for (int axis = 0; axis < forest->options.grid.dimension; ++axis)
    if (forest->options.cells[axis] % 2 != 0)
      GAB_FAIL(GAB_ERR_INPUT,
               "blocks have %" PRId32
               " cells in %c; where blocks split and merge it has to be an even number",
               forest->options.cells[axis], "xyz"[axis]);
  return GAB_OK;
}

static int level_of(const gab_forest *forest, gab_block_id id)
{
  return gab_block_id_level(&forest->options.grid, id);
}

/* Of one direction only finer blocks share the rows, ascending; ids of finer blocks are greater. */
static bool may_follow(const gab_forest *forest, gab_block_id id, const gab_neighbour *before,
                       const gab_neighbour *row)
{
  if (!before || row->direction > before->direction) return true;
  return row->direction == before->direction && row->id > before->id &&
         level_of(forest, before->id) > level_of(forest, id);
}

bool gab_forest_row_is_possible(const gab_forest *forest, gab_block_id id, const gab_neighbour *before,
                                const gab_neighbour *row)
{
  if (row->owner < 0 || row->owner >= gab_world_members(forest->world)->slots) return false;
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
             "block " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " belongs to slot %" GAB_PRI_SLOT
             ", which is gone",
             block->id, row->id, row->owner);
  if ((row->owner == gab_world_slot(forest->world)) != (gab_forest_find(forest, row->id) != NULL))
    GAB_FAIL(GAB_ERR_STATE,
             "block " GAB_PRI_BLOCK ": whether neighbour " GAB_PRI_BLOCK
             " is here, table and forest do not agree",
             block->id, row->id);
  return GAB_OK;
}

/* The children that touch and are not left out. */
static size_t existing_children(const gab_forest *forest, gab_block_id id, int direction)
{
  gab_block_id children[GAB_CHILDREN_MAX];
  size_t exist = 0;
  int touching = gab_topology_touching_children(&forest->topology, id, direction, children);
  for (int i = 0; i < touching; ++i) exist += gab_forest_place_exists(forest, children[i]);
  return exist;
}

/* A place without rows: nothing of it may be here, nor has to be anywhere. */
static gab_status check_empty(const gab_forest *forest, const gab_block *block, int direction)
{
  gab_block_id next = gab_topology_next_to(&forest->topology, block->id, direction);
  if (next == GAB_NO_BLOCK) return GAB_OK;
  gab_block_id parent = gab_block_id_parent(&forest->options.grid, next), children[GAB_CHILDREN_MAX];
  int touching = gab_topology_touching_children(&forest->topology, block->id, direction, children);
  bool here = gab_forest_find(forest, next) || (parent != GAB_NO_BLOCK && gab_forest_find(forest, parent));
  for (int i = 0; i < touching; ++i) here = here || gab_forest_find(forest, children[i]);
  if (here || existing_children(forest, block->id, direction) > 0)
    GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " knows of no neighbour in direction %d, but there is one",
             block->id, direction);
  return GAB_OK;
}

static gab_status check_table(const gab_forest *forest, const gab_block *block)
{
  const gab_neighbour *rows = block->neighbours;
  for (size_t i = 0; i < block->neighbour_count; ++i)
    GAB_TRY(check_row(forest, block, i > 0 ? &rows[i - 1] : NULL, &rows[i]));
  size_t next = 0;
  for (int direction = 0; direction < GAB_DIRECTIONS; ++direction) {
    size_t first = next;
    while (next < block->neighbour_count && rows[next].direction == direction) ++next;
    if (next == first) GAB_TRY(check_empty(forest, block, direction));
    else if (level_of(forest, rows[first].id) > level_of(forest, block->id) &&
             next - first != existing_children(forest, block->id, direction))
      GAB_FAIL(GAB_ERR_STATE,
               "block " GAB_PRI_BLOCK ": %zu finer neighbours in direction %d, there should be %zu",
               block->id, next - first, direction, existing_children(forest, block->id, direction));
  }
  return GAB_OK;
}

static gab_status check_part(const gab_forest *forest)
{
  if (forest->torn) GAB_FAIL(GAB_ERR_STATE, "a migration or adaptation of this forest failed half-way");
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
