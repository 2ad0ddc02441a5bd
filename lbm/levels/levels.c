/* SPDX-License-Identifier: Apache-2.0 */
/* A step on several levels. A level makes two sub-steps in one step of the level above (recursively):
 *
 * 1. ghosts between blocks of the level; ghosts in coarser blocks, from the populations that these sent at the start of
 *   their step (s1) or from values kept from then (s2); in s1 the populations sent into the coarse region are summed;
 *   links;
 * 2. if there is a finer level: values for its cells are sent down, values between its blocks around the corners of coarser
 *   blocks across; its first sub-step; sums are sent up; arrivals in the cells next to finer blocks are corrected;
 * 3. the sweep; after s1 the populations sent into the coarse region are summed again;
 * 4. the second sub-step of the finer level.
 *
 * Links precede the corrections: they read populations of cells next to finer blocks, and corrections overwrite those that
 * such cells have sent to each other, which only the sweep reads afterwards.
 *
 * Threads synchronise rarely: blocks of the finest level do 1 and 3 in one task, others one task for each. */
#include "lbm/boundaries/links/link_template_impl.h"
#include "lbm/levels/level_interface_impl.h"
#include "lbm/step/fused/fused_impl.h"

#include <math.h>
#include <stdio.h>

static gab_lbm_block *block_at(const gab_lbm *lbm, size_t index)
{
  return gab_lbm_block_of(lbm, gab_forest_block(lbm->forest, index));
}

/* ------------------------------------------------------------------------------------------ joining */

static gab_status join_block(gab_lbm *lbm, size_t index)
{
  const gab_block *place = gab_forest_block(lbm->forest, index);
  gab_lbm_block *block = gab_lbm_block_of(lbm, place);
  GAB_TRY(gab_lbm_remake(&lbm->model, lbm->forest, place, block));
  if (lbm->model.state_sides) block->side_state = gab_block_data(place, lbm->side_states);
  if (block->is_joined) return GAB_OK;
  gab_level_interface_destroy(&block->interface);
  if (block->link_template) GAB_TRY(gab_link_template_join(&lbm->model, block, &block->interface));
  else {
    GAB_TRY(gab_level_interface_list(&lbm->model, block, &block->interface));
    if (block->interface) GAB_TRY(gab_level_interface_allocate(block->interface));
  }
  block->is_joined = true;
  return GAB_OK;
}

static int deepest_of(const gab_lbm *lbm)
{
  int deepest = 0;
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = block_at(lbm, i);
    int level = block->at->level + (block->interface && block->interface->arrival_count > 0);
    if (level > deepest) deepest = level;
  }
  return deepest;
}

gab_status gab_lbm_join(gab_lbm *lbm)
{
  const uint64_t revision = gab_forest_revision(lbm->forest);
  if (lbm->joined == revision) return GAB_OK;
  gab_status status = GAB_OK;
  char message[512] = "";
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    gab_status mine = join_block(lbm, i);
    if (mine == GAB_OK) continue;
      /* Error messages are kept per thread, so the one of this thread is copied. */
#pragma omp critical(gab_lbm_join)
    if (status == GAB_OK) {
      status = mine;
      snprintf(message, sizeof message, "%s", gab_error_message());
    }
  }
  if (status == GAB_OK) {
    status = gab_fused_fields_link(lbm);
    if (status != GAB_OK) snprintf(message, sizeof message, "%s", gab_error_message());
  }
  if (status != GAB_OK) { /* other processes wait for this one */
    (void)gab_error_set(status, __FILE__, __LINE__, "%s", message);
    return gab_world_raise(lbm->world, status);
  }
  lbm->deepest = deepest_of(lbm);
  lbm->joined = revision;
  lbm->joined_in = lbm->step;
  lbm->is_packed = false;
  return GAB_OK;
}

/* Plans depend on which blocks are fused. */
void gab_lbm_pack_fused(gab_lbm *lbm)
{
  enum { STEPS_AT_REST = 50 }; /* moving all blocks costs some steps */
  if (!lbm->model.fused_fields || lbm->is_packed ||
      (lbm->step >= lbm->joined_in && lbm->step - lbm->joined_in < STEPS_AT_REST))
    return;
  gab_fused_fields_pack(lbm);
  for (int level = 0; level < GAB_LBM_LEVELS; level++) lbm->stage[level].plan.exchange = 0;
  lbm->is_packed = true;
}

/* ------------------------------------------------------------------------------------------ one level */

static gab_status send(gab_lbm *lbm, gab_coupling_way way, int level)
{
  const double start = gab_lbm_clock_now(lbm);
  GAB_TRY(gab_coupling_start(lbm->coupling, way, level));
  gab_status status = gab_coupling_finish(lbm->coupling);
  gab_lbm_clock_messages(lbm, start);
  return status;
}

/* ------------------------------------------------------------------------------------------ stepping */

/* One (sub-)step of a level and all finer ones. On the finest level nothing reads the settled state, so the sweep settles
 * it slab by slab.
 *
 * Messages within a level start as soon as its cells have been swept: those of the finer level before the work of this
 * level, and those of its second sub-step before the sums of the first are sent up. On the finest level, which has most of
 * the work, the blocks that need no message are swept before the wait.
 * @param[in] time  in steps of level 0 */
static gab_status advance(gab_lbm *lbm, int level, int sub, double time)
{
  const gab_lbm_substep at = {
      .level = level, .time = time, .sub = sub, .has_coarser = level > 0, .has_finer = level < lbm->deepest};
  if (at.has_finer) GAB_TRY(gab_lbm_start_on(lbm, level + 1));
  if (level > 0) {
    GAB_TRY(gab_lbm_collide_inner_on(lbm, &at));
    GAB_TRY(gab_lbm_finish_on(lbm, level));
  }
  if (at.has_finer || lbm->wants_forces) GAB_TRY(gab_lbm_settle_on(lbm, &at));
  if (lbm->wants_forces) gab_lbm_add_forces(lbm, level, sub);
  if (at.has_finer) {
    GAB_TRY(send(lbm, GAB_COUPLING_DOWN, level));
    GAB_TRY(send(lbm, GAB_COUPLING_ACROSS, level + 1));
    GAB_TRY(advance(lbm, level + 1, 0, time));
    GAB_TRY(gab_lbm_start_on(lbm, level + 1));
    GAB_TRY(send(lbm, GAB_COUPLING_UP, level));
  }
  GAB_TRY(gab_lbm_collide_on(lbm, &at));
  if (lbm->wants_forces && at.has_finer) gab_lbm_add_replaced_forces(lbm, level);
  return at.has_finer ? advance(lbm, level + 1, 1, time + ldexp(1, -(level + 1))) : GAB_OK;
}

gab_status gab_lbm_advance(gab_lbm *lbm) { return advance(lbm, 0, 0, (double)lbm->step); }

/* ------------------------------------------------------------------------------------------ at a standstill
 */

static void coalesce_all(gab_lbm *lbm, int level)
{
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_lbm_block *block = block_at(lbm, i);
    if (block->at->level != level) continue;
    gab_level_interface_coalesce_first(block);
    gab_level_interface_coalesce_second(block, block->src, block->now);
  }
}

static void correct_ghosts(gab_lbm *lbm, int level)
{
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++)
    if (block_at(lbm, i)->at->level == level) {
      gab_level_interface_find_arrivals(&lbm->model, block_at(lbm, i));
      gab_level_interface_correct(block_at(lbm, i), NULL, NULL, true);
    }
}

/* Arrivals from finer cells are computed as if these stood still for a step. Only arrivals from places in finer blocks are
 * written: other places hold the state. */
static gab_status fill_arrivals(gab_lbm *lbm)
{
  const double time = (double)lbm->step;
  GAB_TRY(gab_lbm_join(lbm));
  for (int level = 0; level <= lbm->deepest; level++) {
    const gab_lbm_substep at = {.level = level, .time = time, .has_coarser = level > 0};
    GAB_TRY(gab_lbm_start_on(lbm, level));
    GAB_TRY(gab_lbm_finish_on(lbm, level));
    GAB_TRY(gab_lbm_settle_on(lbm, &at));
    if (level < lbm->deepest) GAB_TRY(send(lbm, GAB_COUPLING_DOWN, level));
  }
  for (int level = 0; level < lbm->deepest; level++) {
    coalesce_all(lbm, level + 1);
    GAB_TRY(send(lbm, GAB_COUPLING_UP, level));
    correct_ghosts(lbm, level);
  }
  return GAB_OK;
}

/* The boundary values are those that the next step writes again; so a request for forces remains pending. */
gab_status gab_lbm_fill_arrivals(gab_lbm *lbm)
{
  const bool wants_forces = lbm->wants_forces;
  lbm->wants_forces = false;
  const gab_status status = fill_arrivals(lbm);
  lbm->wants_forces = wants_forces;
  return status;
}
