/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/levels/refinement/refinement.h"

#include "field/field.h"
#include "lbm/observe/quantities_impl.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------------------------------- places */

static double physical(const gab_domain *domain, int level, int64_t cell, int axis)
{
  return domain->origin[axis] + ldexp((double)cell, -level) * domain->dx;
}

/* Whether a box of cells meets a physical one in more than a surface. */
static bool meets(const gab_domain *domain, int level, const gab_box *cells, const double lo[3],
                  const double hi[3])
{
  for (int axis = 0; axis < domain->dimension; axis++)
    if (physical(domain, level, cells->hi[axis], axis) <= lo[axis] ||
        physical(domain, level, cells->lo[axis], axis) >= hi[axis])
      return false;
  return true;
}

/* Cells within a distance. Cells beyond a periodic border are not seen. */
static gab_box cells_within(const gab_domain *domain, int level, const gab_box *cells, double distance)
{
  const int64_t margin = (int64_t)ceil(ldexp(distance, level));
  gab_box around = *cells;
  for (int axis = 0; axis < domain->dimension; axis++) {
    const int64_t end = domain->cells[axis] << level;
    around.lo[axis] = cells->lo[axis] > margin ? cells->lo[axis] - margin : 0;
    around.hi[axis] = cells->hi[axis] + margin < end ? cells->hi[axis] + margin : end;
  }
  return around;
}

/* Whether some cells within the distance, or smaller ones in the block, are solid and some are not. */
static bool is_near_a_body(const gab_geometry *geometry, int level, const gab_box *cells, double distance)
{
  const gab_box around = cells_within(gab_geometry_domain(geometry), level, cells, distance);
  const uint64_t fluid = gab_geometry_fluid_cells(geometry, level, &around);
  if (fluid == 0) return gab_geometry_has_fluid(geometry, level, cells); /* only smaller cells are */
  return fluid < gab_box_count(&around);
}

static bool wants_place(const gab_refinement *refinement, const gab_criterion *criterion, int level,
                        const gab_box *cells)
{
  if (level >= criterion->level) return false;
  const gab_domain *domain = gab_geometry_domain(refinement->geometry);
  switch (criterion->kind) {
  case GAB_CRITERION_BODIES:
    return is_near_a_body(refinement->geometry, level, cells, criterion->distance);
  case GAB_CRITERION_CURVATURE: {
    const gab_box around = cells_within(domain, level, cells, criterion->distance);
    return gab_geometry_is_curved(refinement->geometry, level, &around, criterion->angle);
  }
  case GAB_CRITERION_BOX:
    return meets(domain, level, cells, criterion->lo, criterion->hi);
  default:
    return false;
  }
}

static bool some_want_place(const gab_refinement *refinement, int level, const gab_box *cells)
{
  for (size_t i = 0; i < refinement->count; i++)
    if (wants_place(refinement, &refinement->criteria[i], level, cells)) return true;
  return false;
}

gab_mark gab_refinement_mark_place(void *user, int level, const gab_box *cells)
{
  return some_want_place(user, level, cells) ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* ---------------------------------------------------------------------------------------- values */

/* Velocities of a block, for differences. */
typedef struct sample {
  const int32_t *cells;
  double *velocity, *density;
  uint8_t *fluid;
} sample;

static size_t cell_index(const sample *from, const int32_t at[3])
{
  return (size_t)at[0] + (size_t)from->cells[0] * ((size_t)at[1] + (size_t)from->cells[1] * (size_t)at[2]);
}

/* d u / d x_axis at a fluid cell, per cell. */
static void slope(const sample *from, const int32_t at[3], int axis, double du[3])
{
  int32_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
  if (low[axis] > 0) low[axis]--;
  if (high[axis] + 1 < from->cells[axis]) high[axis]++;
  const size_t here = cell_index(from, at);
  size_t below = cell_index(from, low), above = cell_index(from, high);
  if (!from->fluid[below]) below = here;
  if (!from->fluid[above]) above = here;
  const double width = (double)((above != here) + (below != here));
  for (int i = 0; i < 3; i++)
    du[i] = width > 0
                ? (from->velocity[3 * above + (size_t)i] - from->velocity[3 * below + (size_t)i]) / width
                : 0;
}

/* The largest value of a user-defined criterion; values that are not finite are passed on. */
static double largest_own(const gab_lbm *lbm, const sample *from, const gab_criterion *criterion,
                          gab_lbm_cell *cell, const gab_forest *forest, const gab_block *block)
{
  const double per_cell = ldexp(1 / criterion->units.dt, cell->level);
  double largest = -DBL_MAX; /* of a block without fluid: nothing wants it */
  int32_t at[3];
  for (at[2] = 0; at[2] < from->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < from->cells[1]; at[1]++)
      for (at[0] = 0; at[0] < from->cells[0]; at[0]++) {
        const size_t here = cell_index(from, at);
        if (!from->fluid[here]) continue;
        gab_block_cell_centre(forest, block, at[0], at[1], at[2], cell->centre);
        if (cell->dimension == 2) cell->centre[2] = 0;
        cell->density = from->density[here] * criterion->units.density;
        cell->pressure = gab_units_pressure_to_physical(&criterion->units, from->density[here]);
        for (int i = 0; i < 3; i++)
          cell->velocity[i] =
              gab_units_velocity_to_physical(&criterion->units, from->velocity[3 * here + (size_t)i]);
        for (int axis = 0; axis < cell->dimension; axis++) {
          double du[3];
          slope(from, at, axis, du);
          for (int i = 0; i < 3; i++) cell->gradient[i][axis] = du[i] * per_cell;
        }
        cell->viscosity = gab_lbm_viscosity_at(lbm, &criterion->units, gab_lbm_shear_rate(cell->gradient));
        const double value = criterion->own->value(cell);
        if (!isfinite(value)) return value;
        largest = fmax(largest, value);
      }
  return largest;
}

static double value_at(const sample *from, const int32_t at[3], int dimension, gab_criterion_kind kind)
{
  double du[3][3] = {{0}}; /* [axis][component] */
  for (int axis = 0; axis < dimension; axis++) slope(from, at, axis, du[axis]);
  double square = 0;
  if (kind == GAB_CRITERION_VORTICITY) {
    const double curl[3] = {du[1][2] - du[2][1], du[2][0] - du[0][2], du[0][1] - du[1][0]};
    for (int i = 0; i < 3; i++) square += curl[i] * curl[i];
  } else {
    for (int i = 0; i < 9; i++) square += du[i / 3][i % 3] * du[i / 3][i % 3];
  }
  return sqrt(square);
}

static double largest_value(const sample *from, int dimension, gab_criterion_kind kind)
{
  double largest = 0;
  int32_t at[3];
  for (at[2] = 0; at[2] < from->cells[2]; at[2]++)
    for (at[1] = 0; at[1] < from->cells[1]; at[1]++)
      for (at[0] = 0; at[0] < from->cells[0]; at[0]++)
        if (from->fluid[cell_index(from, at)]) {
          const double value = value_at(from, at, dimension, kind);
          if (!isfinite(value)) return value; /* fmax() would overlook it */
          largest = fmax(largest, value);
        }
  return largest;
}

/* Samples a block. @param[out] memory  to be released whatever the status */
static gab_status take_sample(const gab_lbm *lbm, const gab_forest *forest, const gab_block *block,
                              void **memory, sample *from)
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  const gab_box box = {{0, 0, 0}, {options->cells[0], options->cells[1], options->cells[2]}};
  const size_t count = gab_box_count(&box);
  *memory = NULL;
  GAB_TRY(gab_alloc(count * (4 * sizeof(double) + 1), GAB_MEMORY_OTHER, memory));
  *from = (sample){.cells = options->cells, .velocity = *memory};
  from->density = from->velocity + 3 * count;
  from->fluid = (uint8_t *)(from->density + count);
  GAB_TRY(gab_lbm_macroscopic(lbm, block, &box, from->density, from->velocity));
  return gab_lbm_fluid_mask(lbm, block, &box, from->fluid);
}

/* The largest value of a block. */
static gab_status own_value(const gab_refinement *refinement, const gab_criterion *criterion,
                            const gab_forest *forest, const gab_block *block, double *value)
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  const int level = gab_block_level(forest, block);
  gab_lbm_cell cell = {
      .dimension = options->grid.dimension, .level = level, .dx = ldexp(options->dx, -level)};
  void *memory;
  sample from;
  const gab_status status = take_sample(refinement->lbm, forest, block, &memory, &from);
  if (status == GAB_OK) *value = largest_own(refinement->lbm, &from, criterion, &cell, forest, block);
  gab_free(&memory);
  GAB_TRY(status);
  if (!isfinite(*value))
    GAB_FAIL(GAB_ERR_DIVERGED, "block " GAB_PRI_BLOCK ": criterion '%s' is not finite",
             gab_block_get_id(block), criterion->own->name);
  return GAB_OK;
}

gab_status gab_refinement_value(const gab_lbm *lbm, const gab_forest *forest, const gab_block *block,
                                gab_criterion_kind kind, double *value)
{
  void *memory;
  sample from;
  const gab_status status = take_sample(lbm, forest, block, &memory, &from);
  /* per cell and step of the block's level; both halve from level to level, and velocities stay */
  if (status == GAB_OK)
    *value = ldexp(largest_value(&from, gab_forest_get_options(forest)->grid.dimension, kind),
                   gab_block_level(forest, block));
  gab_free(&memory);
  GAB_TRY(status);
  if (!isfinite(*value))
    GAB_FAIL(GAB_ERR_DIVERGED, "block " GAB_PRI_BLOCK ": the %s is not finite: the flow has diverged",
             gab_block_get_id(block),
             kind == GAB_CRITERION_VORTICITY ? "vorticity" : "gradient of the velocity");
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- marks */

static bool looks_at_the_flow(const gab_criterion *criterion)
{
  return criterion->kind == GAB_CRITERION_VORTICITY || criterion->kind == GAB_CRITERION_GRADIENT ||
         criterion->kind == GAB_CRITERION_OWN;
}

/* Mark of one criterion of the flow for a block. */
static gab_status mark_by_flow(const gab_refinement *refinement, const gab_criterion *criterion,
                               const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const gab_domain *domain = gab_geometry_domain(refinement->geometry);
  const int level = gab_block_level(forest, block);
  const gab_box cells = gab_block_cells(forest, block);
  double value;
  *mark = GAB_MARK_COARSEN;
  if (level > criterion->level) return GAB_OK;
  if (!meets(domain, level, &cells, criterion->region_lo, criterion->region_hi)) return GAB_OK;
  if (criterion->kind == GAB_CRITERION_OWN) GAB_TRY(own_value(refinement, criterion, forest, block, &value));
  else GAB_TRY(gab_refinement_value(refinement->lbm, forest, block, criterion->kind, &value));
  if (value >= criterion->coarsen_below) *mark = GAB_MARK_KEEP;
  if (value > criterion->refine_above && level < criterion->level) *mark = GAB_MARK_REFINE;
  return GAB_OK;
}

/* The place of the parent, in its cells. */
static gab_box parent_cells(const gab_box *cells, int dimension)
{
  gab_box parent = *cells;
  for (int axis = 0; axis < dimension; axis++) {
    const int64_t width = cells->hi[axis] - cells->lo[axis], place = cells->lo[axis] / width / 2;
    parent.lo[axis] = place * width;
    parent.hi[axis] = parent.lo[axis] + width;
  }
  return parent;
}

gab_status gab_refinement_mark(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const gab_refinement *refinement = user;
  const int level = gab_block_level(forest, block);
  const gab_box cells = gab_block_cells(forest, block);
  *mark = some_want_place(refinement, level, &cells) ? GAB_MARK_REFINE
          : level > 0                                ? GAB_MARK_COARSEN
                                                     : GAB_MARK_KEEP;
  for (size_t i = 0; i < refinement->count && *mark != GAB_MARK_REFINE; i++) {
    gab_mark wanted;
    if (!looks_at_the_flow(&refinement->criteria[i])) continue;
    GAB_TRY(mark_by_flow(refinement, &refinement->criteria[i], forest, block, &wanted));
    if (wanted > *mark) *mark = wanted;
  }
  if (*mark != GAB_MARK_COARSEN) return GAB_OK;
  const gab_box parent = parent_cells(&cells, gab_forest_get_options(forest)->grid.dimension);
  if (some_want_place(refinement, level - 1, &parent)) *mark = GAB_MARK_KEEP;
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- checks */

static gab_status check_criterion(const gab_criterion *criterion, size_t index, const gab_domain *domain,
                                  int max_level)
{
  if (criterion->level < 1 || criterion->level > max_level)
    GAB_FAIL(GAB_ERR_INPUT, "criterion %zu refines up to level %d; possible are 1 to %d", index,
             criterion->level, max_level);
  const bool is_at_bodies =
      criterion->kind == GAB_CRITERION_BODIES || criterion->kind == GAB_CRITERION_CURVATURE;
  if (criterion->kind == GAB_CRITERION_CURVATURE && !(criterion->angle > 0))
    GAB_FAIL(GAB_ERR_INPUT, "criterion %zu: an angle of %g must be positive", index, criterion->angle);
  if (is_at_bodies && !(criterion->distance >= 0))
    GAB_FAIL(GAB_ERR_INPUT, "criterion %zu: a distance of %g cells cannot be", index, criterion->distance);
  for (int axis = 0; axis < domain->dimension; axis++)
    if (criterion->kind == GAB_CRITERION_BOX && !(criterion->lo[axis] < criterion->hi[axis]))
      GAB_FAIL(GAB_ERR_INPUT, "criterion %zu: the box from %g to %g in %c is empty", index,
               criterion->lo[axis], criterion->hi[axis], "xyz"[axis]);
  if (!looks_at_the_flow(criterion)) return GAB_OK;
  const bool is_own = criterion->kind == GAB_CRITERION_OWN;
  if (is_own && !criterion->own)
    GAB_FAIL(GAB_ERR_INPUT, "criterion %zu does not say which of the program's own it is", index);
  if (!((is_own || criterion->coarsen_below >= 0) && criterion->coarsen_below < criterion->refine_above))
    GAB_FAIL(GAB_ERR_INPUT,
             "criterion %zu contradicts itself: it refines above %g and coarsens below %g; the "
             "second must be smaller",
             index, criterion->refine_above, criterion->coarsen_below);
  return GAB_OK;
}

gab_status gab_refinement_check(const gab_refinement *refinement, int max_level)
{
  for (size_t i = 0; i < refinement->count; i++)
    GAB_TRY(
        check_criterion(&refinement->criteria[i], i, gab_geometry_domain(refinement->geometry), max_level));
  return GAB_OK;
}
