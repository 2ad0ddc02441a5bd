/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of bulk: blocks of a single phase, of which there are many (the melt ahead of a front, grains behind it). Their phi need
 * not be swept, nor its ghosts be copied to other blocks of the process.
 *
 * A cell keeps its phi, to the last bit, if it and its neighbours across faces are of one phase: kernels that find bulk (fast ones)
 * report whether a sweep has met another phase. Between steps, with `sweeps` of a block > 0,
 *   1. phi and phi_new are of its phase in all of its cells: the last sweep has read the one and written the other;
 *   2. so are the ghosts of phi in every adjacent block of the process, as copied after that sweep. Ghosts in phi_new were filled
 *      a step before, from the field that the sweep has read: with #GAB_PHASEFIELD_BULK_COPIED sweeps both are of its phase, and
 *      need no further copy.
 * A sweep skips a block (`is_skipped`) if 1 holds and the ghosts beyond its faces are of its phase as well. This follows from 2 for
 * adjacent blocks of the process. Beyond sides of the domain and next to other levels the ghosts continue the block itself; ghosts
 * from messages are checked. So the sweep would have found one phase, and counts as one that did.
 *
 * The information is discarded whenever all ghosts are filled again: after changes of blocks, rollbacks, moves of the window.
 * Every #GAB_PHASEFIELD_LOOK_AGAIN steps no block is skipped, and ghosts are copied in that step and the next one, into both fields.
 * Memory errors in a field without writes thus take part in the computation again, as they do elsewhere. */
#include "phasefield/levels/levels_impl.h"

static int phase_of_first_cell(const gab_phasefield_block *block)
{
  return gab_phasefield_pure(block->phi, (const int32_t[3]){0, 0, 0});
}

static void find_beside(const gab_phasefield *phasefield, const gab_block *place, gab_phasefield_bulk *bulk)
{
  const gab_forest *forest = phasefield->forest;
  const gab_rank here = gab_world_rank(gab_forest_world(forest));
  const gab_neighbour *rows = gab_block_neighbours(place);
  for (size_t r = 0; r < gab_block_neighbour_count(place); r++) {
    int offset[3], axis = 0;
    gab_direction_offset(rows[r].direction, offset);
    if ((offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0) != 1) continue;
    if (gab_block_id_level(&gab_forest_get_options(forest)->grid, rows[r].id) !=
        gab_block_level(forest, place))
      continue;
    while (offset[axis] == 0) axis++;
    const int face = 2 * axis + (offset[axis] > 0);
    if (rows[r].owner != here) bulk->messages |= 1U << face;
    else bulk->beside[face] = gab_block_data(gab_forest_find(forest, rows[r].id), phasefield->data);
  }
}

void gab_phasefield_bulk_begin(gab_phasefield *phasefield)
{
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    gab_phasefield_bulk *bulk = &gab_phasefield_block_of(phasefield, i)->bulk;
    *bulk = (gab_phasefield_bulk){0};
    find_beside(phasefield, gab_forest_block(phasefield->forest, i), bulk);
  }
}

/* Whether the ghosts beyond a face are of a phase. */
static bool is_of_phase(const gab_phasefield_block *block, int face, int phase)
{
  gab_box box = gab_field_interior(block->phi);
  const int axis = face / 2;
  box.lo[axis] = face % 2 == 0 ? -1 : block->model->cells[axis];
  box.hi[axis] = box.lo[axis] + 1;
  for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
    for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
      for (int64_t x = box.lo[0]; x < box.hi[0]; x++)
        if (gab_field_get(block->phi, (int32_t)x, (int32_t)y, (int32_t)z, phase) != 1) return false;
  return true;
}

static bool stays(const gab_phasefield_block *block)
{
  const gab_phasefield_bulk *bulk = &block->bulk;
  if (bulk->sweeps == 0) return false;
  for (int face = 0; face < 6; face++) {
    const gab_phasefield_block *other = bulk->beside[face];
    if (other && (other->bulk.sweeps == 0 || other->bulk.phase != bulk->phase)) return false;
  }
  for (int face = 0; face < 6; face++)
    if (bulk->messages >> face & 1 && !is_of_phase(block, face, bulk->phase)) return false;
  return true;
}

void gab_phasefield_bulk_decide(gab_phasefield *phasefield, bool stale)
{
  const size_t blocks = gab_forest_block_count(phasefield->forest);
  const bool finds = phasefield->model.kernel->finds_bulk && !stale;
  for (size_t i = 0; i < blocks; i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    gab_phasefield_bulk *bulk = &block->bulk;
    bulk->is_mixed = !finds;
    bulk->is_skipped = false;
    if (!finds || phasefield->model.step % GAB_PHASEFIELD_LOOK_AGAIN == 0) continue;
    if (gab_phasefield_is_coarse(block)) bulk->phase = phase_of_first_cell(block);
    bulk->is_skipped = gab_phasefield_is_coarse(block) ? bulk->phase >= 0 : stays(block);
  }
}

void gab_phasefield_bulk_enter(gab_phasefield *phasefield)
{
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    gab_phasefield_bulk *bulk = &block->bulk;
    const bool is_counted = bulk->sweeps > 0 && bulk->counted == phasefield->model.step;
    if (gab_phasefield_is_coarse(block)) continue;
    if (bulk->is_mixed) bulk->sweeps = 0;
    else if (bulk->sweeps < GAB_PHASEFIELD_BULK_COPIED && !is_counted) bulk->sweeps++;
    if (bulk->sweeps == 1) bulk->phase = phase_of_first_cell(block);
    bulk->counted = phasefield->model.step;
  }
}
