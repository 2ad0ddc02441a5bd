/* SPDX-License-Identifier: Apache-2.0 */
/* What passes sides and patches in a step: mass and momentum by their links, and the pressure there. */
#include "lbm/boundaries/side_loads_impl.h"

#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

void gab_lbm_request_side_loads(gab_lbm *lbm)
{
  lbm->wants_forces = lbm->wants_side_loads = true; /* a step with side loads is one with forces */
}

void gab_lbm_clear_side_loads(gab_lbm *lbm)
{
  for (int k = 0; k < gab_lbm_condition_count(&lbm->model.options); k++)
    lbm->side_loads[k] = (gab_side_load_sums){0};
}

/* ------------------------------------------------------------------------------------------ links */

/* The cells of a block at sides, visited row by row. */
typedef struct side_visit {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  const gab_run *run; /* of the cell that comes next, or one before it */
  bool is_arriving;   /* what comes from beyond the sides, else what is sent there */
  gab_side_load_sums *sums;
} side_visit;

static int64_t size_of(const gab_lbm_model *model, int level, int axis)
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  return domain->cells[axis] << (axis < domain->dimension ? level : 0);
}

static bool passes(const gab_side *side, int axis)
{
  return gab_side_is_open(side) || (gab_side_moves(side) && side->velocity[axis] != 0);
}

/* The condition that a link from a place beyond sides counts for; in edges, one that fluid passes. -1: the place is inside. */
static int condition_of_link(const gab_lbm_model *model, int level, const int64_t place[3])
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  int found = -1;
  bool has_passage = false;
  for (int axis = 0; axis < domain->dimension; axis++) {
    const bool is_above = place[axis] >= size_of(model, level, axis);
    if (domain->periodic[axis] || (place[axis] >= 0 && !is_above)) continue;
    const int condition = gab_condition_at(model, level, place, 2 * axis + is_above);
    const bool is_passage = passes(gab_lbm_condition(&model->options, condition), axis);
    if (found < 0 || (is_passage && !has_passage)) found = condition;
    has_passage = has_passage || is_passage;
  }
  return found;
}

/* @param[in] cell  of the domain @param[in] index  of it in the view */
static void add_cell(const side_visit *by, const gab_lbm_block *view, uint32_t index, const int64_t cell[3])
{
  const gab_lattice *lattice = by->model->lattice;
  const double volume = by->block->at->volume;
  for (int q = 1; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    const int out = gab_lattice_opposite(q);
    const int64_t place[3] = {cell[0] - c[0], cell[1] - c[1], cell[2] - c[2]};
    const int condition = condition_of_link(by->model, by->block->at->level, place);
    if (condition < 0) continue;
    const ptrdiff_t where = by->is_arriving ? view->now->arriving[q] : view->now->sent[out];
    const double mass = volume * gab_value_at(view->src, gab_place(index, where));
    gab_side_load_sums *to = &by->sums[condition];
    gab_exact_add(&to->flow, by->is_arriving ? mass : -mass);
    for (int axis = 0; axis < 3; axis++)
      if (c[axis] != 0) gab_exact_add(&to->force[axis], -c[axis] * mass);
  }
}

static bool add_row(void *user, const gab_lbm_block *view, uint32_t start, int32_t count, uint32_t number)
{
  side_visit *by = user;
  const int level = by->block->at->level;
  for (int32_t k = 0; k < count; k++) {
    const uint32_t at = number + (uint32_t)k;
    while (at - by->run->start >= (uint32_t)by->run->length) by->run++;
    const int64_t cell[3] = {by->block->first[0] + by->run->x + (int32_t)(at - by->run->start),
                             by->block->first[1] + by->run->y, by->block->first[2] + by->run->z};
    bool is_at_side = false;
    for (int axis = 0; axis < by->model->lattice->dimension; axis++)
      is_at_side = is_at_side || cell[axis] == 0 || cell[axis] + 1 == size_of(by->model, level, axis);
    if (is_at_side) add_cell(by, view, start + (uint32_t)k, cell);
  }
  return true;
}

static bool is_at_sides(const gab_lbm_model *model, const gab_lbm_block *block)
{
  bool is_there = false;
  for (int axis = 0; axis < model->lattice->dimension; axis++)
    is_there = is_there || block->first[axis] == 0 ||
               block->first[axis] + model->cells[axis] == size_of(model, block->at->level, axis);
  return is_there;
}

void gab_lbm_add_side_loads(gab_lbm *lbm, gab_lbm_block *block)
{
  const gab_lbm_job job = {.block = block, .parts = 1};
  side_visit by = {.model = &lbm->model, .block = block, .sums = lbm->side_loads};
  if (!lbm->wants_side_loads || block->run_count == 0 || !is_at_sides(&lbm->model, block)) return;
  by.run = block->runs;
  (void)gab_lbm_visit_rows(&lbm->model, &job, add_row, &by);
  by.run = block->runs;
  by.is_arriving = true;
  (void)gab_lbm_visit_arriving_rows(&lbm->model, &job, add_row, &by);
}

/* ------------------------------------------------------------------------------------------ pressure */

/* Cells of a block at a side and the next ones, x fastest. */
typedef struct layer {
  gab_box box;
  double *density[2];
  uint8_t *fluid[2];
} layer;

static gab_status read_layers(const gab_lbm *lbm, const gab_block *block, int side, layer *at)
{
  const int32_t *cells = lbm->model.cells;
  const int axis = side / 2;
  for (int k = 0; k < 2; k++) {
    const int32_t depth = k < cells[axis] ? k : 0;
    at->box = (gab_box){{0, 0, 0}, {cells[0], cells[1], cells[2]}};
    at->box.lo[axis] = side % 2 ? cells[axis] - 1 - depth : depth;
    at->box.hi[axis] = at->box.lo[axis] + 1;
    GAB_TRY(gab_lbm_macroscopic(lbm, block, &at->box, at->density[k], NULL));
    GAB_TRY(gab_lbm_fluid_mask(lbm, block, &at->box, at->fluid[k]));
  }
  return GAB_OK;
}

/* Each face: the pressure of its cell, extrapolated by the next one. */
static void add_faces(const gab_lbm *lbm, const gab_lbm_block *block, int side, const layer *at,
                      gab_side_load_sums *sums)
{
  const gab_lbm_model *model = &lbm->model;
  const int axis = side / 2, level = block->at->level;
  const double area = ldexp(1, -(model->lattice->dimension - 1) * level);
  size_t i = 0;
  int64_t cell[3];
  int32_t in[3], last[3];
  for (int d = 0; d < 3; d++) last[d] = d == axis ? 1 : model->cells[d];
  for (in[2] = 0; in[2] < last[2]; in[2]++)
    for (in[1] = 0; in[1] < last[1]; in[1]++)
      for (in[0] = 0; in[0] < last[0]; in[0]++, i++) {
        if (!at->fluid[0][i]) continue;
        for (int d = 0; d < 3; d++) cell[d] = block->first[d] + in[d];
        cell[axis] = side % 2 ? size_of(model, level, axis) - 1 : 0;
        const double here = at->density[0][i] - 1;
        const double found = at->fluid[1][i] ? 1.5 * here - 0.5 * (at->density[1][i] - 1) : here;
        gab_side_load_sums *to = &sums[gab_condition_at(model, level, cell, side)];
        gab_exact_add(&to->area, area);
        gab_exact_add(&to->pressure, area * found / 3);
      }
}

static gab_status add_pressures(const gab_lbm *lbm, gab_side_load_sums *sums)
{
  const gab_domain *domain = gab_geometry_domain(lbm->model.geometry);
  const size_t cells = gab_lbm_cells_of(&lbm->model);
  layer at = {0};
  gab_status status = GAB_OK;
  for (int k = 0; k < 2 && status == GAB_OK; k++) {
    status = GAB_NEW_ARRAY(&at.density[k], cells, GAB_MEMORY_OTHER);
    if (status == GAB_OK) status = GAB_NEW_ARRAY(&at.fluid[k], cells, GAB_MEMORY_OTHER);
  }
  for (size_t b = 0; status == GAB_OK && b < gab_forest_block_count(lbm->forest); b++) {
    const gab_block *place = gab_forest_block(lbm->forest, b);
    const gab_lbm_block *block = gab_lbm_block_of(lbm, place);
    for (int side = 0; status == GAB_OK && side < 2 * domain->dimension; side++) {
      const int axis = side / 2;
      const int64_t size = size_of(&lbm->model, block->at->level, axis);
      const bool is_there =
          side % 2 ? block->first[axis] + lbm->model.cells[axis] == size : block->first[axis] == 0;
      if (domain->periodic[axis] || !is_there) continue;
      status = read_layers(lbm, place, side, &at);
      if (status == GAB_OK) add_faces(lbm, block, side, &at, sums);
    }
  }
  for (int k = 0; k < 2; k++) {
    gab_free(&at.density[k]);
    gab_free(&at.fluid[k]);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------ all of them */

gab_status gab_lbm_side_loads(gab_lbm *lbm, gab_side_load loads[GAB_MOST_CONDITIONS])
{
  gab_side_load_sums sums[GAB_MOST_CONDITIONS];
  const int count = gab_lbm_condition_count(&lbm->model.options);
  if (!lbm->has_side_loads) GAB_FAIL(GAB_ERR_STATE, "no step has been asked for what passes its sides yet");
  memcpy(sums, lbm->side_loads, (size_t)count * sizeof *sums);
  GAB_TRY(gab_world_reduce_status(lbm->world, add_pressures(lbm, sums)));
  GAB_TRY(
      gab_world_sum_exact(lbm->world, &sums[0].area, (size_t)count * sizeof *sums / sizeof(gab_exact_sum)));
  for (int k = 0; k < count; k++) {
    const double area = gab_exact_value(&sums[k].area);
    loads[k] = (gab_side_load){.area = area,
                               .flow = gab_exact_value(&sums[k].flow),
                               .pressure = area > 0 ? gab_exact_value(&sums[k].pressure) / area : 0};
    for (int axis = 0; axis < 3; axis++) loads[k].force[axis] = gab_exact_value(&sums[k].force[axis]);
  }
  return GAB_OK;
}
