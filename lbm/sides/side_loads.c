/* SPDX-License-Identifier: Apache-2.0 */
/* What passes sides and patches in a step: mass and momentum by their links, and the pressure there. */
#include "lbm/sides/side_loads_impl.h"

#include "lbm/boundaries/body_sums_impl.h"
#include "lbm/porous/drag_impl.h"
#include "lbm/sparse/sparse_impl.h"

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

/* The sides that a place lies beyond. @param[out] condition  by axis; -1: not beyond @return their number */
static int conditions_of_link(const gab_lbm_model *model, int level, const int64_t place[3], int condition[3])
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  int count = 0;
  for (int axis = 0; axis < 3; axis++) {
    condition[axis] = -1;
    if (axis >= domain->dimension || domain->periodic[axis]) continue;
    const bool is_above = place[axis] >= size_of(model, level, axis);
    if (place[axis] >= 0 && !is_above) continue;
    condition[axis] = gab_condition_at(model, level, place, 2 * axis + is_above);
    count++;
  }
  return count;
}

/* Of a link from beyond several sides. The velocity u of its cell tells what each has of the mass, 6 w c_a u_a, and of the flux of momentum
 * along another axis, 18 w c_a u_a u_b; the rest of the mass is that of all that fluid passes, the rest of the momentum that of the side across it.
 * So each side of a uniform flow at an angle has all of its flux, and in a fluid at rest each has its pressure, in whatever order the axes are. */
static void add_edge(const side_visit *by, const int condition[3], int q, double mass, const double u[3])
{
  const gab_lattice *lattice = by->model->lattice;
  const int8_t *c = lattice->c[q];
  const double net = by->is_arriving ? mass : -mass,
               known = by->is_arriving ? 0 : by->block->at->volume * lattice->weight[q];
  bool counts[3];
  int passages = 0, beyond = 0;
  double flow = 0;
  for (int axis = 0; axis < 3; axis++) {
    counts[axis] =
        condition[axis] >= 0 && passes(gab_lbm_condition(&by->model->options, condition[axis]), axis);
    passages += counts[axis];
    beyond += condition[axis] >= 0;
  }
  for (int axis = 0; axis < 3; axis++) flow += counts[axis] ? 6 * known * c[axis] * u[axis] : 0;
  for (int axis = 0; axis < 3; axis++)
    if (passages == 0 ? condition[axis] >= 0 : counts[axis])
      gab_exact_add(&by->sums[condition[axis]].flow,
                    passages == 0 ? net / beyond : (net - flow) / passages + 6 * known * c[axis] * u[axis]);
  for (int along = 0; along < 3; along++) {
    double rest = -c[along] * mass;
    for (int axis = 0; axis < 3; axis++) {
      if (condition[axis] < 0 || axis == along) continue;
      const double sheared = -18 * known * c[axis] * u[axis] * u[along];
      gab_exact_add(&by->sums[condition[axis]].force[along], sheared);
      rest -= sheared;
    }
    for (int axis = 0; axis < 3; axis++) {
      const bool is_owner = condition[along] >= 0 ? axis == along : condition[axis] >= 0;
      if (is_owner)
        gab_exact_add(&by->sums[condition[axis]].force[along], condition[along] >= 0 ? rest : rest / beyond);
    }
  }
}

/* @param[in] cell  of the domain @param[in] index  of it in the view @param[in] number  of it in the block */
static void add_cell(const side_visit *by, const gab_lbm_block *view, uint32_t index, uint32_t number,
                     const int64_t cell[3])
{
  const gab_lattice *lattice = by->model->lattice;
  const double volume = by->block->at->volume;
  double u[3] = {0, 0, 0};
  bool has_velocity = by->is_arriving;
  for (int q = 1; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    const int out = gab_lattice_opposite(q);
    const int64_t place[3] = {cell[0] - c[0], cell[1] - c[1], cell[2] - c[2]};
    int condition[3];
    const int count = conditions_of_link(by->model, by->block->at->level, place, condition);
    if (count == 0) continue;
    const ptrdiff_t where = by->is_arriving ? view->now->arriving[q] : view->now->sent[out];
    const double mass = volume * gab_value_at(view->src, gab_place(index, where));
    if (count > 1) {
      double f[GAB_LATTICE_MAX_Q], drho, lag[3];
      for (int k = 0; k < lattice->q && !has_velocity; k++)
        f[k] = gab_value_at(view->src, gab_place(index, view->now->sent[k]));
      if (!has_velocity) {
        gab_lbm_moments(by->model, by->block->at, f, &drho, u);
        gab_porous_lag(by->model, by->block, number, f, lag);
        for (int axis = 0; axis < 3; axis++) u[axis] -= lag[axis];
      }
      has_velocity = true;
      add_edge(by, condition, q, mass, u);
      continue;
    }
    const int axis_of = condition[0] >= 0 ? 0 : condition[1] >= 0 ? 1 : 2;
    gab_side_load_sums *to = &by->sums[condition[axis_of]];
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
    if (is_at_side) add_cell(by, view, start + (uint32_t)k, at, cell);
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

/* What bodies exchange with the fluid by the links of their patches. In the odd state of a sparse block the two places of a link are exchanged. */
static void add_body_links(gab_lbm *lbm, const gab_lbm_block *block)
{
  static const ptrdiff_t at_once[GAB_LATTICE_MAX_Q] = {0}; /* sparse blocks note places */
  const ptrdiff_t *sent = block->sparse ? at_once : block->now->sent;
  for (size_t i = 0; i < block->links.momentum_count; i++) {
    const gab_momentum_link *link = &block->links.momenta[i];
    if (link->condition == 0) continue;
    const int back = gab_lattice_opposite((int)link->q);
    gab_side_load_sums *to = &lbm->side_loads[link->condition];
    const double one = block->at->volume * gab_value_at(block->src, gab_place(link->from, sent[back])),
                 other = block->at->volume * gab_value_at(block->src, gab_place(link->to, sent[link->q]));
    const bool is_exchanged = block->sparse && gab_sparse_is_odd(block);
    const double out = is_exchanged ? other : one, in = is_exchanged ? one : other;
    double centre[3];
    gab_centre_of_index(&lbm->model, block, link->cell, centre);
    gab_exact_add(&to->flow, in);
    gab_exact_add(&to->flow, -out);
    gab_body_push_on(&lbm->model, block->at->level, link->body, centre, lbm->model.lattice->c[back], out + in,
                     to->force, to->torque);
  }
}

void gab_lbm_add_side_loads(gab_lbm *lbm, gab_lbm_block *block)
{
  const gab_lbm_job job = {.block = block, .parts = 1};
  side_visit by = {.model = &lbm->model, .block = block, .sums = lbm->side_loads};
  if (!lbm->wants_side_loads || block->run_count == 0) return;
  if (lbm->model.options.patches && lbm->model.options.patches->on_bodies > 0) add_body_links(lbm, block);
  if (!is_at_sides(&lbm->model, block)) return;
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

/* Of patches of bodies that fluid passes: that of the cells of their links, each with the weight 6 w_q. */
static gab_status add_patch_pressures(gab_lbm *lbm, gab_side_load_sums *sums)
{
  const gab_lbm_model *model = &lbm->model;
  if (!model->options.patches || model->options.patches->on_bodies == 0) return GAB_OK;
  for (size_t b = 0; b < gab_forest_block_count(lbm->forest); b++) {
    const gab_block *place = gab_forest_block(lbm->forest, b);
    const gab_lbm_block *block = gab_lbm_block_of(lbm, place);
    const double area = ldexp(6, -(model->lattice->dimension - 1) * block->at->level);
    for (size_t i = 0; i < block->links.momentum_count; i++) {
      const gab_momentum_link *link = &block->links.momenta[i];
      double centre[3], density;
      gab_box box;
      if (link->condition == 0 || !gab_lbm_passes_fluid(lbm, (int)link->condition)) continue;
      gab_centre_of_index(model, block, link->cell, centre);
      for (int axis = 0; axis < 3; axis++) {
        box.lo[axis] = (int64_t)floor(centre[axis]) - block->first[axis];
        box.hi[axis] = box.lo[axis] + 1;
      }
      GAB_TRY(gab_lbm_macroscopic(lbm, place, &box, &density, NULL));
      const double weight = area * model->lattice->weight[link->q];
      gab_exact_add(&sums[link->condition].area, weight);
      gab_exact_add(&sums[link->condition].pressure, weight * (density - 1) / 3);
    }
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ all of them */

gab_status gab_lbm_side_loads(gab_lbm *lbm, gab_side_load loads[GAB_MOST_CONDITIONS])
{
  gab_side_load_sums sums[GAB_MOST_CONDITIONS];
  const int count = gab_lbm_condition_count(&lbm->model.options);
  if (!lbm->has_side_loads) GAB_FAIL(GAB_ERR_STATE, "no step has been asked for what passes its sides yet");
  memcpy(sums, lbm->side_loads, (size_t)count * sizeof *sums);
  GAB_TRY(gab_world_reduce_status(lbm->world, add_pressures(lbm, sums)));
  GAB_TRY(gab_world_reduce_status(lbm->world, add_patch_pressures(lbm, sums)));
  GAB_TRY(
      gab_world_sum_exact(lbm->world, &sums[0].area, (size_t)count * sizeof *sums / sizeof(gab_exact_sum)));
  for (int k = 0; k < count; k++) {
    const double area = gab_exact_value(&sums[k].area);
    loads[k] = (gab_side_load){.area = area,
                               .flow = gab_exact_value(&sums[k].flow),
                               .pressure = area > 0 ? gab_exact_value(&sums[k].pressure) / area : 0};
    for (int axis = 0; axis < 3; axis++) {
      loads[k].force[axis] = gab_exact_value(&sums[k].force[axis]);
      loads[k].torque[axis] = gab_exact_value(&sums[k].torque[axis]);
    }
  }
  return GAB_OK;
}
