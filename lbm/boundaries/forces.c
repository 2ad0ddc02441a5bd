/* SPDX-License-Identifier: Apache-2.0 */
#include "core/messages/collective.h"
#include "lbm/levels/level_interface_impl.h"

#include <string.h>

void gab_lbm_request_forces(gab_lbm *lbm) { lbm->wants_forces = true; }

/* A link hands the body c_q f_q on the way out and takes c_opposite f_opposite = -c_q f_opposite on the way
 * in. A cell of a finer level holds less mass, and its sub-steps add up. The weights, which the deviations
 * lack, would add 2 w_q c_q: zero over a closed body. */
static void add_block(gab_lbm *lbm, const gab_lbm_block *block)
{
  const gab_links *links = &block->links;
  static const ptrdiff_t at_once[GAB_LATTICE_MAX_Q] = {0}; /* sparse blocks note places */
  const ptrdiff_t *sent = block->sparse ? at_once : block->now->sent;
  for (size_t i = 0; i < links->momentum_count; i++) {
    const gab_momentum_link *link = &links->momenta[i];
    const int out = gab_lattice_opposite((int)link->q);
    const int8_t *c = lbm->model.lattice->c[out];
    double given = gab_value_at(block->src, gab_place(link->from, sent[out])) +
                   gab_value_at(block->src, gab_place(link->to, sent[link->q]));
    for (int axis = 0; axis < 3; axis++)
      if (c[axis] != 0) gab_exact_add(&lbm->forces[link->body][axis], c[axis] * (block->at->volume * given));
  }
}

void gab_lbm_clear_forces(gab_lbm *lbm)
{
  size_t bodies = gab_geometry_body_count(lbm->model.geometry);
  for (size_t body = 0; body < bodies; body++)
    for (int axis = 0; axis < 3; axis++) gab_exact_clear(&lbm->forces[body][axis]);
}

void gab_lbm_add_forces(gab_lbm *lbm, int level, int sub)
{
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, i));
    if (block->at->level != level) continue;
    add_block(lbm, block);
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

static gab_status check_forces(const gab_lbm *lbm)
{
  if (!lbm->has_forces) GAB_FAIL(GAB_ERR_STATE, "no step has been asked for its forces yet");
  return GAB_OK;
}

gab_status gab_lbm_force(gab_lbm *lbm, size_t body, double force[3])
{
  GAB_TRY(check_forces(lbm));
  size_t bodies = gab_geometry_body_count(lbm->model.geometry);
  if (body >= bodies) GAB_FAIL(GAB_ERR_ARGUMENT, "there is no body %zu among %zu", body, bodies);
  gab_exact_sum sums[3];
  memcpy(sums, lbm->forces[body], sizeof sums);
  GAB_TRY(gab_world_sum_exact(lbm->world, sums, 3));
  for (int axis = 0; axis < 3; axis++) force[axis] = gab_exact_value(&sums[axis]);
  return GAB_OK;
}

gab_status gab_lbm_forces(gab_lbm *lbm, double (*forces)[3])
{
  GAB_TRY(check_forces(lbm));
  size_t bodies = gab_geometry_body_count(lbm->model.geometry);
  if (bodies == 0) return GAB_OK;
  gab_exact_sum(*sums)[3];
  GAB_TRY(GAB_NEW_ARRAY(&sums, bodies, GAB_MEMORY_OTHER));
  memcpy(sums, lbm->forces, bodies * sizeof *sums);
  gab_status status = gab_world_sum_exact(lbm->world, sums[0], 3 * bodies);
  for (size_t body = 0; status == GAB_OK && body < bodies; body++)
    for (int axis = 0; axis < 3; axis++) forces[body][axis] = gab_exact_value(&sums[body][axis]);
  gab_free(&sums);
  return status;
}
