/* SPDX-License-Identifier: Apache-2.0 */
/* Area and flow rate of sides on the cells of the grid, and the scale that a given flow rate needs. */
#include "core/messages/collective.h"
#include "lbm/boundaries/body_patch_impl.h"
#include "lbm/sides/side_flow_impl.h"
#include "lbm/sides/side_impl.h"
#include "lbm/sides/side_turbulence_impl.h"
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

/* Adds what the links of a direction into the cell let enter per step at factor and scale 1: their terms across the side at density 1. */
static void add_flow(const face *at, const gab_side *side, int q, double flow[2])
{
  const gab_lattice *lattice = at->model->lattice;
  const int axis = at->side / 2, inward = at->side % 2 ? -1 : 1;
  const int8_t *c = lattice->c[q];
  double share[3] = {0, 0, 0}, shape[2];
  for (int d = 0; d < at->domain->dimension; d++)
    share[d] = (double)(2 * at->cell[d] - c[d] + 1) / 2 / (double)size_of(at, d);
  gab_side_shape_at(side, at->side, at->domain, share, shape);
  for (int part = 0; part < 2; part++)
    flow[part] += 6 * lattice->weight[q] * inward * side->velocity[axis] * shape[part];
}

/* What enters the cell counts for the conditions of the places that its links come from. */
int gab_face_flows(const gab_lbm_model *model, int level, int index, const int64_t cell[3],
                   gab_face_flow flows[GAB_MOST_CONDITIONS])
{
  const face face_at = {.model = model,
                        .domain = gab_geometry_domain(model->geometry),
                        .level = level,
                        .side = index,
                        .cell = {cell[0], cell[1], cell[2]}};
  const face *at = &face_at;
  const gab_lattice *lattice = model->lattice;
  const int axis = index / 2, inward = index % 2 ? -1 : 1;
  double flow[GAB_MOST_CONDITIONS][2] = {{0}};
  uint32_t given = 0;
  int count = 0;
  for (int q = 1; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    int64_t place[3];
    if (c[axis] != inward) continue;
    for (int d = 0; d < 3; d++) place[d] = at->cell[d] - (d == axis ? 0 : c[d]);
    /* What the place in front of a fluid cell gives to this one, that of this one gives to it: their links have one midpoint. Counted
     * here, since the other cell may be of another level. */
    if (gab_geometry_cell(at->model->geometry, at->level, place) == GAB_CELL_FLUID)
      for (int d = 0; d < 3; d++) place[d] = at->cell[d];
    const int condition = gab_condition_at(at->model, at->level, place, at->side);
    const gab_side *side = gab_lbm_condition(&at->model->options, condition);
    if (!gab_side_moves(side)) continue;
    add_flow(at, side, q, flow[condition]);
    given |= 1U << condition;
  }
  for (int k = 0; k < GAB_MOST_CONDITIONS; k++)
    if (given >> k & 1) flows[count++] = (gab_face_flow){.condition = k, .flow = {flow[k][0], flow[k][1]}};
  return count;
}

/* Whether the face of a cell has another condition, which throws back. */
static bool is_wall_before(const face *at, int condition, const int64_t cell[3])
{
  const int other = gab_condition_at(at->model, at->level, cell, at->side);
  return other != condition && gab_side_bounces(gab_lbm_condition(&at->model->options, other));
}

/* Whether the outline of a patch to the face of a cell is that of a box. */
static bool is_straight(const face *at, int condition, const int64_t cell[3])
{
  const gab_patches *patches = at->model->options.patches;
  const int other = gab_condition_at(at->model, at->level, cell, at->side);
  const int patch = condition >= GAB_SIDE_COUNT ? condition : other;
  return other != condition && gab_geometry_cell(at->model->geometry, at->level, cell) == GAB_CELL_FLUID &&
         patches->list[patch - GAB_SIDE_COUNT].region == GAB_PATCH_BOX;
}

/* The border of the face to what does not slip. The outline of bodies is counted on lines along two axes and two diagonals (Cauchy &
 * Crofton): exact on the mean over all directions, 5 % short along an axis. */
static double wetted_of(const face *at, int condition)
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
          straight += gab_side_bounces(gab_side_at(at->model, at->level, beside, outside));
        const bool is_wall = what >= 0 || (what == GAB_CELL_FLUID && is_wall_before(at, condition, beside));
        if (is_wall && is_straight(at, condition, beside)) straight += count == 1;
        else if (is_wall && count == 1) along++;
        else if (is_wall && count == 2) across++;
      }
  if (at->domain->dimension == 2) return straight + along;
  return straight + pi / 8 * (along + across / sqrt(2));
}

static void add_face(const face *at, gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  const int dimension = at->domain->dimension;
  const int condition = gab_condition_at(at->model, at->level, at->cell, at->side);
  const double area = ldexp(1, -(dimension - 1) * at->level);
  gab_exact_add(&sums[condition].area, area);
  gab_exact_add(&sums[condition].wetted, wetted_of(at, condition) * ldexp(1, -(dimension - 2) * at->level));
  gab_face_flow flows[GAB_MOST_CONDITIONS];
  const int count = gab_face_flows(at->model, at->level, at->side, at->cell, flows);
  for (int i = 0; i < count; i++) gab_exact_add(&sums[flows[i].condition].flow, area * flows[i].flow[0]);
}

/* Whether fluid passes a side or any of its patches. */
static bool any_passes_fluid(const gab_lbm *lbm, int side)
{
  const gab_lbm_options *options = &lbm->model.options;
  for (int k = 0; k < gab_lbm_condition_count(options); k++)
    if (gab_lbm_condition_side(options, k) == side && gab_lbm_passes_fluid(lbm, k)) return true;
  return false;
}

void gab_lbm_add_side_sums(const gab_lbm *lbm, int level, const gab_box *cells,
                           gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  face at = {.model = &lbm->model, .domain = gab_geometry_domain(lbm->model.geometry), .level = level};
  gab_body_patches_add_sums(&lbm->model, level, cells, sums);
  for (at.side = 0; at.side < 2 * at.domain->dimension; at.side++) {
    gab_box slice = *cells;
    const int axis = at.side / 2;
    const int64_t place = at.side % 2 ? size_of(&at, axis) - 1 : 0;
    if (!any_passes_fluid(lbm, at.side) || place < cells->lo[axis] || place >= cells->hi[axis]) continue;
    slice.lo[axis] = place;
    slice.hi[axis] = place + 1;
    for (at.cell[2] = slice.lo[2]; at.cell[2] < slice.hi[2]; at.cell[2]++)
      for (at.cell[1] = slice.lo[1]; at.cell[1] < slice.hi[1]; at.cell[1]++)
        for (at.cell[0] = slice.lo[0]; at.cell[0] < slice.hi[0]; at.cell[0]++)
          if (gab_geometry_cell(at.model->geometry, level, at.cell) == GAB_CELL_FLUID) add_face(&at, sums);
  }
}

bool gab_lbm_passes_fluid(const gab_lbm *lbm, int condition)
{
  const gab_lbm_options *options = &lbm->model.options;
  const gab_side *it = gab_lbm_condition(options, condition);
  if (!gab_lbm_condition_has_faces(options, condition)) return false;
  if (gab_lbm_condition_side(options, condition) == GAB_PATCH_ON_BODY)
    return gab_side_is_open(it) || (gab_side_moves(it) && it->on_body != GAB_BODY_VELOCITY_ALONG);
  return gab_side_is_open(it) ||
         (gab_side_moves(it) && it->velocity[gab_lbm_condition_side(options, condition) / 2] != 0);
}

gab_status gab_lbm_sum_sides(const gab_lbm *lbm, gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  const int count = gab_lbm_condition_count(&lbm->model.options);
  bool any = false;
  for (int k = 0; k < GAB_MOST_CONDITIONS; k++) sums[k] = (gab_side_sums){0};
  for (int k = 0; k < count; k++)
    any = any || gab_lbm_passes_fluid(lbm, k) ||
          gab_lbm_condition_side(&lbm->model.options, k) == GAB_PATCH_ON_BODY;
  if (!any) return GAB_OK;
  for (size_t i = 0; i < gab_forest_block_count(lbm->forest); i++) {
    const gab_block *block = gab_forest_block(lbm->forest, i);
    const gab_box cells = gab_block_cells(lbm->forest, block);
    gab_lbm_add_side_sums(lbm, gab_block_level(lbm->forest, block), &cells, sums);
  }
  return gab_world_sum_exact(lbm->world, (gab_exact_sum *)sums,
                             (size_t)count * sizeof *sums / sizeof(gab_exact_sum));
}

/* ------------------------------------------------------------------------------------------ flow rates */

int gab_lbm_lacks_flow_rate(const gab_lbm *lbm)
{
  int lacks = -1;
  for (int k = 0; k < GAB_MOST_CONDITIONS && lacks < 0; k++)
    if (lbm->scale[k] == 0) lacks = k;
  return lacks;
}

static gab_status find_scale(const gab_lbm *lbm, int index, const gab_side_sums *sums, double *scale)
{
  const gab_side *side = gab_lbm_condition(&lbm->model.options, index);
  const int of = gab_lbm_condition_side(&lbm->model.options, index),
            axis = of == GAB_PATCH_ON_BODY ? 0 : of / 2; /* of a body: along the normal */
  const double flow = gab_exact_value(&sums->flow);
  char why[512];
  if (!(flow / side->flow_rate > 0))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "the profile lets %g cells per step pass the %g fluid cells of the side, which no factor makes %g; "
        "move bodies away from the side or choose another profile",
        flow, gab_exact_value(&sums->area), side->flow_rate);
  *scale = side->flow_rate / flow;
  const bool has_stresses = side->turbulence && side->turbulence->has_stresses;
  double speed = *scale * fabs(side->velocity[axis]) * gab_side_peak(side) +
                 (has_stresses ? 1 : *scale) * gab_side_fluctuation(side);
  if (of == GAB_PATCH_ON_BODY &&
      side->profile == GAB_PROFILE_FORMULA) /* on the mean: the formula has any scale */
    speed = fabs(side->flow_rate) / gab_exact_value(&sums->area) * gab_side_peak(side);
  if (gab_flow_check(&(gab_flow_scales){.velocity = speed, .omega = 1}) == GAB_OK) return GAB_OK;
  snprintf(why, sizeof why, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_INPUT, "through the %g fluid cells of the side: %s", gab_exact_value(&sums->area), why);
}

gab_status gab_lbm_set_flow_rates(gab_lbm *lbm, const gab_side_sums sums[GAB_MOST_CONDITIONS], int *failed)
{
  for (int k = 0; k < gab_lbm_condition_count(&lbm->model.options); k++) {
    if (failed) *failed = k;
    if (gab_lbm_condition(&lbm->model.options, k)->flow_rate != 0)
      GAB_TRY(find_scale(lbm, k, &sums[k], &lbm->scale[k]));
  }
  gab_side_turbulence_set_scales(lbm);
  return GAB_OK;
}

double gab_lbm_side_factor(const gab_lbm *lbm, int condition, double step)
{
  double ramp[GAB_SIDE_FACTORS];
  gab_lbm_ramps(lbm, step, ramp);
  return ramp[condition];
}

double gab_lbm_side_peak(const gab_lbm *lbm, int condition)
{
  const double peak = gab_lbm_condition(&lbm->model.options, condition)->peak_in_time;
  return lbm->scale[condition] * (peak > 0 ? peak : 1);
}
