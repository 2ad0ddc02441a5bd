/* SPDX-License-Identifier: Apache-2.0 */
#include "core/messages/collective.h"
#include "lbm/sides/side_loads_impl.h"
#include "lbm/levels/level_interface_impl.h"

#include <string.h>

void gab_lbm_request_forces(gab_lbm *lbm) { lbm->wants_forces = true; }

/* A link hands the body c_q f_q on the way out and takes c_opposite f_opposite = -c_q f_opposite on the way
 * in. A cell of a finer level holds less mass, and its sub-steps add up. The weights, which the deviations
 * lack, would add 2 w_q c_q: zero over a closed body, and so is their torque. */
static void add_block(gab_lbm *lbm, const gab_lbm_block *block)
{
  const gab_links *links = &block->links;
  static const ptrdiff_t at_once[GAB_LATTICE_MAX_Q] = {0}; /* sparse blocks note places */
  const ptrdiff_t *sent = block->sparse ? at_once : block->now->sent;
  for (size_t i = 0; i < links->momentum_count; i++) {
    const gab_momentum_link *link = &links->momenta[i];
    const int out = gab_lattice_opposite((int)link->q);
    double given = gab_value_at(block->src, gab_place(link->from, sent[out])) +
                   gab_value_at(block->src, gab_place(link->to, sent[link->q]));
    double centre[3];
    gab_centre_of_index(&lbm->model, block, link->cell, centre);
    gab_body_push(&lbm->model, block->at->level, link->body, centre, lbm->model.lattice->c[out],
                  block->at->volume * given, lbm->forces);
  }
}

void gab_lbm_clear_forces(gab_lbm *lbm)
{
  if (lbm->wants_side_loads)
    gab_lbm_clear_side_loads(lbm); /* else they stay those of the step that was asked for */
  size_t bodies = gab_geometry_body_count(lbm->model.geometry);
  for (size_t body = 0; body < bodies; body++)
    for (int axis = 0; axis < 3; axis++) {
      gab_exact_clear(&lbm->forces[body].force[axis]);
      gab_exact_clear(&lbm->forces[body].torque[axis]);
    }
}

void gab_lbm_add_forces(gab_lbm *lbm, int level, int sub)
{
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    if (block->at->level != level) continue;
    add_block(lbm, block);
    gab_lbm_add_side_loads(lbm, block);
    gab_level_interface_add_forces(&lbm->model, block, sub, lbm->forces);
  }
}

void gab_lbm_add_replaced_forces(gab_lbm *lbm, int level)
{
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    if (block->at->level == level) gab_level_interface_add_replaced_forces(&lbm->model, block, lbm->forces);
  }
}

/* Of `count` bodies from the first on. */
static gab_status sum_loads(gab_lbm *lbm, size_t first, size_t count, gab_body_load *loads)
{
  gab_body_sums *sums;
  if (!lbm->has_forces) GAB_FAIL(GAB_ERR_STATE, "no step has been asked for its forces yet");
  if (count == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&sums, count, GAB_MEMORY_OTHER));
  memcpy(sums, &lbm->forces[first], count * sizeof *sums);
  gab_status status =
      gab_world_sum_exact(lbm->world, sums[0].force, count * (sizeof *sums / sizeof *sums[0].force));
  for (size_t body = 0; status == GAB_OK && body < count; body++)
    for (int axis = 0; axis < 3; axis++) {
      loads[body].force[axis] = gab_exact_value(&sums[body].force[axis]);
      loads[body].torque[axis] = gab_exact_value(&sums[body].torque[axis]);
    }
  gab_free(&sums);
  return status;
}

gab_status gab_lbm_force(gab_lbm *lbm, size_t body, double force[3])
{
  gab_body_load load;
  size_t bodies = gab_geometry_body_count(lbm->model.geometry);
  if (lbm->has_forces && body >= bodies)
    GAB_FAIL(GAB_ERR_ARGUMENT, "there is no body %zu among %zu", body, bodies);
  GAB_TRY(sum_loads(lbm, body, 1, &load));
  memcpy(force, load.force, sizeof load.force);
  return GAB_OK;
}

gab_status gab_lbm_forces(gab_lbm *lbm, double (*forces)[3])
{
  gab_body_load *loads;
  const size_t bodies = gab_geometry_body_count(lbm->model.geometry);
  GAB_TRY(GAB_NEW_ARRAY(&loads, bodies, GAB_MEMORY_OTHER));
  const gab_status status = gab_lbm_loads(lbm, loads);
  for (size_t body = 0; status == GAB_OK && body < bodies; body++)
    memcpy(forces[body], loads[body].force, sizeof loads[body].force);
  gab_free(&loads);
  return status;
}

gab_status gab_lbm_loads(gab_lbm *lbm, gab_body_load *loads)
{
  return sum_loads(lbm, 0, gab_geometry_body_count(lbm->model.geometry), loads);
}
