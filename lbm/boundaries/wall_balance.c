/* SPDX-License-Identifier: Apache-2.0 */
/* Interpolated walls send other values than they receive. Over a closed surface the differences add up to an error of the
 * method, which has one sign for as long as the flow lasts: where no side sets the mass, it drifts without end. So what
 * such walls make in a step is summed, and in the next step they take it back, each link its weight of it: a change of
 * pressure alone, of the size of the error. A wall that conserves in each cell would be local, but stands a fraction of a
 * cell beside the surface: of first order (doc/walls.md has the figures).
 *
 * Each process measures what its links have written, rounded as it is stored, in integers: their sum is the same on any
 * number of processes and threads, and the mass of the cells less what is still to be taken back is constant to rounding. */
#include "core/messages/collective.h"
#include "lbm/boundaries/shapes/shapes_impl.h"
#include "lbm/levels/level_interface_impl.h"

#include <math.h>

bool gab_lbm_has_open_side(const gab_lbm_options *options, int dimension)
{
  for (int k = 0; k < gab_lbm_condition_count(options); k++)
    if ((gab_lbm_condition_side(options, k) < 2 * dimension ||
         gab_lbm_condition_side(options, k) == GAB_PATCH_ON_BODY) &&
        gab_lbm_condition_has_faces(options, k) && gab_side_is_open(gab_lbm_condition(options, k)))
      return true;
  return false;
}

bool gab_lbm_balances_walls(const gab_lbm *lbm) { return lbm->model.walls.is_on; }

/* A wall that moves through its own surface gives and takes the same on one level; where levels meet not quite. */
static bool makes_mass(const gab_body *body)
{
  bool moves = false;
  for (int axis = 0; axis < 3; axis++) moves = moves || body->velocity[axis] != 0 || body->spin[axis] != 0;
  return moves || (body->wall == GAB_WALL_INTERPOLATED && gab_body_has_surface(body));
}

bool gab_wall_balance_is_needed(const gab_lbm_model *model)
{
  if (gab_lbm_has_open_side(&model->options, model->lattice->dimension)) return false;
  for (size_t i = 0; i < gab_geometry_body_count(model->geometry); i++)
    if (makes_mass(gab_geometry_body(model->geometry, i))) return true;
  return false;
}

/* A flow that diverges has numbers that fit no integer; the check of its values ends it. */
static int64_t whole(double value, int bits)
{
  const double scaled = ldexp(value, bits);
  return fabs(scaled) < 4e18 ? (int64_t)llrint(scaled) : 0;
}

void gab_wall_balance_collect(gab_lbm *lbm, int level)
{
  if (!lbm->model.walls.is_on) return;
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    if (block->at->level != level) continue;
    /* Rounded once for a block: on finer levels the volume leaves fewer bits, and how many slabs there are depends on fused blocks. */
    int64_t made = 0;
    for (int32_t slab = 0; block->links.excess && slab < lbm->model.slabs; slab++)
      made += whole(block->links.excess[slab], GAB_WALL_EXCESS_BITS);
    const gab_level_interface *interface = block->interface;
    if (interface)
      made += whole(interface->excess_of_explosions + interface->excess_of_arrivals, GAB_WALL_EXCESS_BITS);
    lbm->walls_made += whole(block->at->volume * (double)made, 0);
  }
}

/* A cell of level l holds 2^-dl as much and makes 2^l sub-steps; of an integer that does not depend on blocks. */
static int64_t local_weight(const gab_lbm *lbm)
{
  int64_t sum = 0;
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    sum += whole(block->at->volume * (double)block->links.linear_weight, block->at->level);
  }
  return sum;
}

void gab_wall_balance_set(gab_lbm *lbm, int64_t excess, int64_t weight)
{
  gab_wall_balance *walls = &lbm->model.walls;
  walls->excess = excess;
  walls->weight = weight;
  const double share =
      weight > 0 ? ldexp((double)excess / (double)weight, GAB_WALL_WEIGHT_BITS - GAB_WALL_EXCESS_BITS) : 0;
  for (int q = 0; q < lbm->model.lattice->q; q++) walls->returned[q] = -share * lbm->model.lattice->weight[q];
}

gab_status gab_wall_balance_close(gab_lbm *lbm)
{
  const gab_wall_balance *walls = &lbm->model.walls;
  if (!walls->is_on) return GAB_OK;
  /* modulo 2^64, as two's complement has it */
  uint64_t sums[2] = {(uint64_t)lbm->walls_made, (uint64_t)local_weight(lbm)};
  lbm->walls_made = 0;
  GAB_TRY(gab_world_sum_u64(lbm->world, sums, 2));
  gab_wall_balance_set(lbm, (int64_t)((uint64_t)walls->excess + sums[0]), (int64_t)sums[1]);
  return GAB_OK;
}

double gab_wall_balance_mass(const gab_lbm *lbm)
{
  return ldexp((double)lbm->model.walls.excess, -GAB_WALL_EXCESS_BITS);
}
