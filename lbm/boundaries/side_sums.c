/* SPDX-License-Identifier: Apache-2.0 */
/* Area and flow rate of sides on the cells of the grid, and the scale that a given flow rate needs. */
#include "core/messages/collective.h"
#include "lbm/boundaries/side_impl.h"
#include "lbm/lbm_impl.h"
#include "lbm/setup/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A fluid cell at a side. */
typedef struct face {
  const gab_lbm_model *model;
  const gab_domain *domain;
  int level, side;
  int64_t cell[3];
} face;

static int64_t size_of(const face *at, int axis)
{
  return at->domain->cells[axis] << (axis < at->domain->dimension ? at->level : 0);
}

/* What enters the cell per step at factor and scale 1, by the links that the step uses: their terms across the side at density 1. */
static double flow_of(const face *at)
{
  const gab_side *side = &at->model->options.sides[at->side];
  const gab_lattice *lattice = at->model->lattice;
  const int axis = at->side / 2, inward = at->side % 2 ? -1 : 1;
  double sum = 0;
  for (int q = 1; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    double share[3] = {0, 0, 0}, shape[2];
    if (c[axis] != inward) continue;
    for (int d = 0; d < at->domain->dimension; d++)
      share[d] = (double)(2 * at->cell[d] - c[d] + 1) / 2 / (double)size_of(at, d);
    gab_side_shape_at(side, at->side, at->domain, share, shape);
    sum += 6 * lattice->weight[q] * inward * side->velocity[axis] * shape[0];
  }
  return sum;
}

/* The border of the face to what does not slip. The outline of bodies is counted on lines along two axes and two diagonals (Cauchy &
 * Crofton): exact on the mean over all directions, 5 % short along an axis. */
static double wetted_of(const face *at)
{
  const double pi = 3.14159265358979323846;
  double straight = 0, along = 0, across = 0;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
        const int step[3] = {i, j, k}, count = abs(i) + abs(j) + abs(k);
        int64_t beside[3];
        int outside = -1;
        if (count == 0 || count > 2 || step[at->side / 2] != 0) continue;
        if (at->domain->dimension == 2 && k != 0) continue;
        for (int d = 0; d < 3; d++) {
          beside[d] = at->cell[d] + step[d];
          if (step[d] != 0) outside = 2 * d + (step[d] > 0);
        }
        const int what = gab_geometry_cell(at->model->geometry, at->level, beside);
        if (what == GAB_CELL_OUTSIDE && count == 1)
          straight += gab_side_bounces(&at->model->options.sides[outside]);
        if (what >= 0 && count == 1) along++;
        if (what >= 0 && count == 2) across++;
      }
  if (at->domain->dimension == 2) return straight + along;
  return straight + pi / 8 * (along + across / sqrt(2));
}

static void add_face(const face *at, gab_side_sums *sums)
{
  const int dimension = at->domain->dimension;
  const double area = ldexp(1, -(dimension - 1) * at->level);
  gab_exact_add(&sums->area, area);
  gab_exact_add(&sums->wetted, wetted_of(at) * ldexp(1, -(dimension - 2) * at->level));
  if (gab_side_moves(&at->model->options.sides[at->side])) gab_exact_add(&sums->flow, area * flow_of(at));
}

void gab_lbm_add_side_sums(const gab_lbm *lbm, int level, const gab_box *cells,
                           gab_side_sums sums[GAB_SIDE_COUNT])
{
  face at = {.model = &lbm->model, .domain = gab_geometry_domain(lbm->model.geometry), .level = level};
  for (at.side = 0; at.side < 2 * at.domain->dimension; at.side++) {
    gab_box slice = *cells;
    const int axis = at.side / 2;
    const int64_t place = at.side % 2 ? size_of(&at, axis) - 1 : 0;
    if (!gab_lbm_passes_fluid(lbm, at.side) || place < cells->lo[axis] || place >= cells->hi[axis]) continue;
    slice.lo[axis] = place;
    slice.hi[axis] = place + 1;
    for (at.cell[2] = slice.lo[2]; at.cell[2] < slice.hi[2]; at.cell[2]++)
      for (at.cell[1] = slice.lo[1]; at.cell[1] < slice.hi[1]; at.cell[1]++)
        for (at.cell[0] = slice.lo[0]; at.cell[0] < slice.hi[0]; at.cell[0]++)
          if (gab_geometry_cell(at.model->geometry, level, at.cell) == GAB_CELL_FLUID)
            add_face(&at, &sums[at.side]);
  }
}

bool gab_lbm_passes_fluid(const gab_lbm *lbm, int side)
{
  const gab_side *it = &lbm->model.options.sides[side];
  return gab_side_is_open(it) || (gab_side_moves(it) && it->velocity[side / 2] != 0);
}

gab_status gab_lbm_sum_sides(const gab_lbm *lbm, gab_side_sums sums[GAB_SIDE_COUNT])
{
  bool any = false;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    sums[side] = (gab_side_sums){0};
    any = any || gab_lbm_passes_fluid(lbm, side);
  }
  if (!any) return GAB_OK;
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_block *block = gab_forest_block(lbm->forest, i);
    const gab_box cells = gab_block_cells(lbm->forest, block);
    gab_lbm_add_side_sums(lbm, gab_block_level(lbm->forest, block), &cells, sums);
  }
  return gab_world_sum_exact(lbm->world, (gab_exact_sum *)sums,
                             GAB_SIDE_COUNT * sizeof *sums / sizeof(gab_exact_sum));
}

/* ------------------------------------------------------------------------------------------ flow rates */

int gab_lbm_lacks_flow_rate(const gab_lbm *lbm)
{
  int lacks = -1;
  for (int side = 0; side < GAB_SIDE_COUNT && lacks < 0; side++)
    if (lbm->scale[side] == 0) lacks = side;
  return lacks;
}

static gab_status find_scale(const gab_lbm *lbm, int index, const gab_side_sums *sums, double *scale)
{
  const gab_side *side = &lbm->model.options.sides[index];
  const double flow = gab_exact_value(&sums->flow);
  char why[512];
  if (!(flow / side->flow_rate > 0))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "the profile lets %g cells per step pass the %g fluid cells of the side, which no factor makes %g; "
        "move bodies away from the side or choose another profile",
        flow, gab_exact_value(&sums->area), side->flow_rate);
  *scale = side->flow_rate / flow;
  const double speed = *scale * fabs(side->velocity[index / 2]) * gab_side_peak(side);
  if (gab_flow_check(&(gab_flow_scales){.velocity = speed, .omega = 1}) == GAB_OK) return GAB_OK;
  snprintf(why, sizeof why, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_INPUT, "through the %g fluid cells of the side: %s", gab_exact_value(&sums->area), why);
}

gab_status gab_lbm_set_flow_rates(gab_lbm *lbm, const gab_side_sums sums[GAB_SIDE_COUNT], int *failed)
{
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    if (failed) *failed = side;
    if (lbm->model.options.sides[side].flow_rate != 0)
      GAB_TRY(find_scale(lbm, side, &sums[side], &lbm->scale[side]));
  }
  return GAB_OK;
}

double gab_lbm_side_factor(const gab_lbm *lbm, int side, double step)
{
  double ramp[GAB_SIDE_FACTORS];
  gab_lbm_ramps(lbm, step, ramp);
  return ramp[side];
}

double gab_lbm_side_peak(const gab_lbm *lbm, int side)
{
  const double peak = lbm->model.options.sides[side].peak_in_time;
  return lbm->scale[side] * (peak > 0 ? peak : 1);
}
