/* SPDX-License-Identifier: Apache-2.0 */
/* Porous regions, and the porous cells of blocks. */
#include "lbm/porous/drag_impl.h"

#include "core/base/lower_bound_impl.h"
#include "lbm/sides/side_impl.h"
#include "lbm/step/local_force.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ regions */

static gab_status check_region(const gab_porous_region *region, const char *name)
{
  for (int axis = 0; axis < 3; axis++)
    if (!(region->linear[axis] >= 0 && region->quadratic[axis] >= 0 && isfinite(region->linear[axis]) &&
          isfinite(region->quadratic[axis])))
      GAB_FAIL(GAB_ERR_INPUT,
               "porous region %s: a drag of %g and %g along %c must be finite and not negative", name,
               region->linear[axis], region->quadratic[axis], (int)"xyz"[axis]);
  return GAB_OK;
}

static gab_status fill(gab_porous *porous, const gab_lbm_options *options, const gab_domain *domain)
{
  gab_body *shapes;
  porous->count = options->porous_count;
  GAB_TRY(GAB_NEW_ARRAY(&porous->regions, porous->count, GAB_MEMORY_OTHER));
  memcpy(porous->regions, options->porous, porous->count * sizeof *porous->regions);
  GAB_TRY(GAB_NEW_ARRAY(&shapes, porous->count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < porous->count; i++) shapes[i] = porous->regions[i].shape;
  gab_status status = gab_geometry_create(domain, shapes, porous->count, &porous->where);
  gab_free(&shapes);
  for (size_t i = 0; status == GAB_OK && i < porous->count; i++)
    status = check_region(&porous->regions[i], gab_geometry_body(porous->where, i)->name);
  return status;
}

/* The stress in the populations contains that of the drag, rho (m m - u u) and more, which a uniform flow has as well. */
gab_status gab_porous_check_options(const gab_lbm_options *options)
{
  const gab_collision *collision = options->collision;
  if (collision->rate_of_stress)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "collision %s: takes the drag of porous regions for a rate of strain, so that its viscosity is wrong; choose "
        "trt, rr, srt or mrt, or leave the regions out",
        collision->name);
  for (int k = 0; k < gab_lbm_condition_count(options); k++)
    if (gab_lbm_condition(options, k)->sponge.roughness > 0)
      GAB_FAIL(
          GAB_ERR_INPUT,
          "%s.eddy_height: takes the drag of porous regions for a rate of strain, so that its viscosity is wrong; leave it "
          "or the regions out",
          gab_condition_path(options->patches, k));
  return GAB_OK;
}

gab_status gab_porous_create(gab_lbm_model *model, const gab_domain *domain)
{
  const gab_lbm_options *options = &model->options;
  if (options->porous_count == 0) return GAB_OK;
  GAB_TRY(gab_porous_check_options(options));
  if (options->porous_count > GAB_MOST_POROUS)
    GAB_FAIL(GAB_ERR_INPUT, "%zu porous regions: there can be %d", options->porous_count, GAB_MOST_POROUS);
  GAB_TRY(GAB_NEW(&model->porous, GAB_MEMORY_OTHER));
  return fill(model->porous, options, domain);
}

void gab_porous_destroy(gab_porous **porous)
{
  if (!*porous) return;
  gab_geometry_destroy(&(*porous)->where);
  gab_free(&(*porous)->regions);
  gab_free(porous);
}

/* ------------------------------------------------------------------------------------------ sides */

typedef struct meeting {
  size_t region;
  int condition;
} meeting;

/* In a layer of cells at a side. */
static bool layer_meets(const gab_lbm_model *model, int level, const gab_box *box, int side, meeting *found)
{
  const int axis = side / 2;
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
      for (int64_t x = box->lo[0]; x < box->hi[0]; x++) {
        const int64_t cell[3] = {x, y, z};
        int64_t beyond[3] = {x, y, z};
        beyond[axis] += side % 2 ? 1 : -1;
        const int condition = gab_condition_at(model, level, beyond, side);
        if (!gab_side_of(gab_lbm_condition(&model->options, condition))->refuses_porous) continue;
        const int region = gab_geometry_cell(model->porous->where, level, cell);
        if (region < 0 || gab_geometry_cell(model->geometry, level, cell) != GAB_CELL_FLUID) continue;
        *found = (meeting){(size_t)region, condition};
        return true;
      }
  return false;
}

static bool box_meets(const gab_lbm_model *model, int level, const gab_box *box, meeting *found)
{
  const gab_domain *domain = gab_geometry_domain(model->porous->where);
  bool refuses = false;
  for (int k = 0; k < gab_lbm_condition_count(&model->options); k++)
    refuses = refuses || gab_side_of(gab_lbm_condition(&model->options, k))->refuses_porous;
  if (!refuses || gab_geometry_is_clear(model->porous->where, level, box)) return false;
  for (int side = 0; side < 2 * domain->dimension; side++) {
    const int axis = side / 2;
    const int64_t last = (domain->cells[axis] << level) - 1, at = side % 2 ? last : 0;
    gab_box layer = *box;
    if (domain->periodic[axis] || at < box->lo[axis] || at >= box->hi[axis]) continue;
    layer.lo[axis] = at;
    layer.hi[axis] = at + 1;
    if (layer_meets(model, level, &layer, side, found)) return true;
  }
  return false;
}

bool gab_lbm_porous_meets_outlet(const gab_lbm *lbm, int level, const gab_box *box, size_t *region,
                                 const char **place)
{
  meeting found;
  if (!lbm->model.porous || !box_meets(&lbm->model, level, box, &found)) return false;
  *region = found.region;
  *place = gab_condition_path(lbm->model.options.patches, found.condition);
  return true;
}

static gab_status check_sides(const gab_lbm_model *model, int level, const gab_box *box)
{
  meeting found;
  if (!box_meets(model, level, box, &found)) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_INPUT,
      "porous region %s: has cells at %s, an outlet that takes the drag for pressure; give it the type pressure, or end "
      "the region a cell before it",
      gab_geometry_body(model->porous->where, found.region)->name,
      gab_condition_path(model->options.patches, found.condition));
}

/* ------------------------------------------------------------------------------------------ cells of a block */

static gab_status check_drag(const gab_porous *porous, size_t region, int level)
{
  const double drag = gab_porous_drag_on(&porous->regions[region], level, 0);
  if (drag <= GAB_POROUS_MOST_DRAG) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_INPUT,
      "porous region %s: the drag takes %.3g of the momentum in a step of level %d, more than %g: shorten units.dt, refine the "
      "region, or make it a body",
      gab_geometry_body(porous->where, region)->name, drag, level, GAB_POROUS_MOST_DRAG);
}

gab_status gab_porous_mark(const gab_lbm_model *model, gab_lbm_block *block)
{
  const gab_porous *porous = model->porous;
  const int level = block->at->level;
  gab_box box;
  bool has_any = false;
  if (!porous) return GAB_OK;
  for (int axis = 0; axis < 3; axis++) {
    box.lo[axis] = block->first[axis];
    box.hi[axis] = block->first[axis] + model->cells[axis];
  }
  if (gab_geometry_is_clear(porous->where, level, &box)) return GAB_OK;
  GAB_TRY(check_sides(model, level, &box));
  GAB_TRY(GAB_NEW_ARRAY(&block->porous, gab_lbm_cells_of(model), GAB_MEMORY_OTHER));
  for (size_t r = 0; r < block->run_count; r++) {
    const gab_run *run = &block->runs[r];
    uint8_t *row =
        block->porous + ((size_t)run->z * (size_t)model->cells[1] + (size_t)run->y) * (size_t)model->cells[0];
    for (int32_t x = run->x; x < run->x + run->length; x++) {
      const int64_t cell[3] = {block->first[0] + x, block->first[1] + run->y, block->first[2] + run->z};
      const int region = gab_geometry_cell(porous->where, level, cell);
      if (region < 0) continue;
      GAB_TRY(check_drag(porous, (size_t)region, level));
      row[x] = (uint8_t)(region + 1);
      has_any = true;
    }
  }
  if (!has_any) gab_free(&block->porous);
  return GAB_OK;
}

void gab_lbm_count_porous(const gab_lbm *lbm, int level, const gab_box *box, uint64_t *cells)
{
  const gab_porous *porous = lbm->model.porous;
  if (!porous || gab_geometry_is_clear(porous->where, level, box)) return;
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
      for (int64_t x = box->lo[0]; x < box->hi[0]; x++) {
        const int64_t cell[3] = {x, y, z};
        const int region = gab_geometry_cell(porous->where, level, cell);
        if (region >= 0 && gab_geometry_cell(lbm->model.geometry, level, cell) == GAB_CELL_FLUID)
          cells[region]++;
      }
}

/* ------------------------------------------------------------------------------------------ visits */

static bool has_any(const uint8_t *region, int32_t count)
{
  uint8_t all = 0;
  for (int32_t i = 0; i < count; i++) all |= region[i];
  return all != 0;
}

void gab_porous_visit_part(const gab_lbm_model *model, const gab_lbm_block *block, const gab_block *place,
                           const int32_t at[3], int32_t first, int32_t count, gab_porous_visitor visit,
                           void *user)
{
  const uint8_t *region =
      block->porous + ((size_t)at[2] * (size_t)model->cells[1] + (size_t)at[1]) * (size_t)model->cells[0] +
      (size_t)at[0];
  const gab_local_force *local = model->local_force;
  double rows[3][GAB_LBM_ROW] = {{0}};
  double *const to[3] = {rows[0], rows[1], rows[2]};
  if (!has_any(region, count)) return;
  if (local) {
    if (!place) place = gab_forest_find(model->forest, block->id);
    local->row(local->user, place, at, count, to);
    for (int axis = 0; axis < 3; axis++)
      for (int32_t i = 0; i < count; i++) rows[axis][i] = ldexp(rows[axis][i], -block->at->level - 1);
  }
  visit(user, first, count, region, rows);
}

void gab_porous_visit(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, int32_t count,
                      gab_porous_visitor visit, void *user)
{
  const gab_run *runs = block->runs;
  size_t r = 0;
  if (!block->porous) return;
  GAB_LOWER_BOUND(size_t, r, block->run_count, i, runs[i].start + (uint32_t)runs[i].length <= cell);
  for (int32_t done = 0; done < count; r++) {
    const gab_run *run = &runs[r];
    const int32_t skip = (int32_t)(cell + (uint32_t)done - run->start), left = run->length - skip,
                  part = left < count - done ? left : count - done;
    gab_porous_visit_part(model, block, NULL, (const int32_t[3]){run->x + skip, run->y, run->z}, done, part,
                          visit, user);
    done += part;
  }
}
