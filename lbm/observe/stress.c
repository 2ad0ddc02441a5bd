/* SPDX-License-Identifier: Apache-2.0 */
/* Viscous stress in cells, and on walls next to them. */
#include "lbm/observe/stress_impl.h"

#include "lbm/porous/drag_impl.h"
#include "lbm/setup/units.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ in a cell */

/* Of second moments beyond equilibrium: without their trace, which may relax otherwise. */
static double deviator(const gab_lattice *lattice, double moment[3][3], int i, int j)
{
  double trace = 0;
  if (i != j) return moment[i][j];
  for (int axis = 0; axis < lattice->dimension; axis++) trace += moment[axis][axis];
  return i < lattice->dimension ? moment[i][i] - trace / lattice->dimension : 0;
}

/* Share of the moments after a function of one cell, 1 - rate, measured by a trial. The share of the force in
 * `moment` is also in its result (Guo, Zheng & Shi 2002). With a trace only (isotropic compression) the rate is not
 * measurable, and the deviator is rounding. */
static double rate_by_trial(const gab_lbm_model *model, const gab_level_model *at,
                            const double arriving[GAB_LATTICE_MAX_Q], double rho, const double u[3],
                            double moment[3][3])
{
  const gab_lattice *lattice = model->lattice;
  const double *force = at->rates.force;
  double f[GAB_LATTICE_MAX_Q], left[3][3] = {{0}}, before = 0, after = 0, all = 0;
  memcpy(f, arriving, sizeof f);
  model->options.collision->cell(lattice, &at->rates, force[0] != 0 || force[1] != 0 || force[2] != 0, f);
  for (int q = 0; q < lattice->q; q++) {
    const double rest = f[q] - gab_lattice_equilibrium(lattice, q, rho - 1, u);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) left[i][j] += lattice->c[q][i] * lattice->c[q][j] * rest;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) left[i][j] -= 0.5 * (u[i] * force[j] + u[j] * force[i]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const double was = deviator(lattice, moment, i, j);
      before += was * was;
      after += was * deviator(lattice, left, i, j);
      all += moment[i][j] * moment[i][j];
    }
  return before > 1e-12 * all ? 1 - after / before : at->rates.even;
}

/* The rate of the stress in a cell with the second moments `moment` beyond equilibrium. */
static double rate_of_cell(const gab_lbm_model *model, const gab_level_model *at,
                           const double arriving[GAB_LATTICE_MAX_Q], double rho, const double u[3],
                           double moment[3][3])
{
  const gab_collision *collision = model->options.collision;
  double square = 0;
  if (!collision->rate_of_stress)
    return collision->cell ? rate_by_trial(model, at, arriving, rho, u, moment) : at->rates.even;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) square += moment[i][j] * moment[i][j];
  return collision->rate_of_stress(&at->rates, rho, square);
}

/* The collision does not know of the drag: beyond the equilibrium of the velocity with it, and with its source. @param[in] was  velocity of the
 * collision */
static void take_drag(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t number,
                      const double was[3], gab_lbm_second *found)
{
  const double *body = block->at->rates.force;
  double u[3] = {was[0], was[1], was[2]}, drag[3], force[3];
  if (!gab_porous_arriving(model, block, number, found->rho, u, drag)) return;
  for (int axis = 0; axis < 3; axis++) force[axis] = body[axis] + drag[axis];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const double change = found->rho * (was[i] * was[j] - u[i] * u[j]) +
                            0.5 * (u[i] * force[j] + force[i] * u[j] - was[i] * body[j] - body[i] * was[j]);
      found->moment[i][j] += change;
      if (i == j) found->trace += change;
    }
}

void gab_lbm_second_moments(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell,
                            uint32_t number, gab_lbm_second *found)
{
  const gab_lattice *lattice = model->lattice;
  const double *force = block->at->rates.force;
  double f[GAB_LATTICE_MAX_Q] = {0}, drho = 0, u[3] = {0, 0, 0}, stress[3][3] = {{0}};
  for (int q = 0; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    f[q] = gab_value_at(block->src, gab_place(cell, block->now->arriving[q]));
    drho += f[q];
    for (int axis = 0; axis < 3; axis++) u[axis] += c[axis] * f[q];
  }
  for (int axis = 0; axis < 3; axis++) u[axis] = (u[axis] + 0.5 * force[axis]) / (1 + drho);
  for (int q = 0; q < lattice->q; q++) {
    double rest = f[q] - gab_lattice_equilibrium(lattice, q, drho, u);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) stress[i][j] += lattice->c[q][i] * lattice->c[q][j] * rest;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      found->moment[i][j] = stress[i][j] + 0.5 * (u[i] * force[j] + u[j] * force[i]);
  found->trace = stress[0][0] + stress[1][1] + stress[2][2];
  for (int axis = 0; axis < 3; axis++) found->trace += u[axis] * force[axis];
  found->rho = 1 + drho;
  found->rate = found->fluid_rate = rate_of_cell(model, block->at, f, found->rho, u, found->moment);
  if (model->sponges != 0)
    found->rate = gab_sponge_rate(model, block, number, found->rho, found->moment, found->rate);
  if (block->porous) take_drag(model, block, number, u, found);
}

/* ------------------------------------------------------------------------------------------ in all cells */

typedef enum filled { FILLED_STRESS, FILLED_RATE, FILLED_EDDY_VISCOSITY } filled;

typedef struct filling {
  const gab_lbm_model *model;
  const gab_run *run; /* of the cell that comes next, or one before it */
  gab_field *field;
  filled what;
  int component; /* of the field; the stress has all */
} filling;

static bool fill_row(void *user, const gab_lbm_block *arriving, uint32_t start, int32_t count, uint32_t cell)
{
  filling *to = user;
  const int dimension = to->model->lattice->dimension;
  for (int32_t k = 0; k < count; k++) {
    const uint32_t number = cell + (uint32_t)k;
    gab_lbm_second second;
    int component = 0;
    while (number - to->run->start >= (uint32_t)to->run->length) to->run++;
    const int32_t x = to->run->x + (int32_t)(number - to->run->start);
    gab_lbm_second_moments(to->model, arriving, start + (uint32_t)k, number, &second);
    if (to->what != FILLED_STRESS)
      gab_field_set(to->field, x, to->run->y, to->run->z, to->component,
                    to->what == FILLED_RATE ? second.rate
                                            : gab_viscosity_of_omega(second.fluid_rate) -
                                                  gab_viscosity_of_omega(arriving->at->rates.even));
    for (int i = 0; i < dimension && to->what == FILLED_STRESS; i++)
      for (int j = i; j < dimension; j++)
        gab_field_set(to->field, x, to->run->y, to->run->z, component++,
                      -(1 - 0.5 * second.rate) * second.moment[i][j]);
  }
  return true;
}

static void fill(const gab_lbm *lbm, const gab_block *block, gab_field *field, filled what, int component)
{
  const gab_lbm_block *data = gab_lbm_block_of(lbm, block);
  filling to = {
      .model = &lbm->model, .run = data->runs, .field = field, .what = what, .component = component};
  const gab_lbm_job job = {.block = (gab_lbm_block *)(uintptr_t)data, .parts = 1}; /* which is only read */
  (void)gab_lbm_visit_arriving_rows(&lbm->model, &job, fill_row, &to);
}

void gab_lbm_fill_stress(const gab_lbm *lbm, const gab_block *block, gab_field *stress)
{
  fill(lbm, block, stress, FILLED_STRESS, 0);
}

void gab_lbm_fill_rate(const gab_lbm *lbm, const gab_block *block, gab_field *rates, int component)
{
  fill(lbm, block, rates, FILLED_RATE, component);
}

void gab_lbm_fill_eddy_viscosity(const gab_lbm *lbm, const gab_block *block, gab_field *field, int component)
{
  fill(lbm, block, field, FILLED_EDDY_VISCOSITY, component);
}

/* ------------------------------------------------------------------------------------------ walls */

/* A wall that does not move across itself. */
static bool is_wall(const gab_side *side, int axis)
{
  return gab_side_bounces(side) && (!gab_side_moves(side) || side->velocity[axis] == 0);
}

/* Whether a cell lies beyond one side of the domain alone, which is a wall. */
static bool is_beyond_wall(const gab_lbm_model *model, int level, const int64_t cell[3])
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  int beyond = 0, side = 0;
  for (int axis = 0; axis < domain->dimension; axis++) {
    if (domain->periodic[axis] || (cell[axis] >= 0 && cell[axis] < domain->cells[axis] << level)) continue;
    side = 2 * axis + (cell[axis] >= 0);
    beyond++;
  }
  return beyond == 1 && is_wall(gab_side_at(model, level, cell, side), side / 2);
}

bool gab_lbm_leads_to_wall(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t there[3],
                           const int64_t cell[3], int *body)
{
  const int level = block->at->level;
  const gab_flag_bits flag = gab_lbm_flag_of(model, block, there);
  *body = -1;
  if (flag & GAB_CELL_IS_OUTSIDE) return is_beyond_wall(model, level, cell);
  if (flag & GAB_CELL_IS_FINER ? gab_geometry_cell(model->geometry, level, cell) < 0
                               : !(flag & GAB_CELL_IS_SOLID))
    return false;
  *body = gab_lbm_body_at(model, level, cell);
  return true;
}

/* Links of a cell to walls. */
typedef struct wall_links {
  int8_t c[GAB_LATTICE_MAX_Q][3];   /* from the wall */
  double length[GAB_LATTICE_MAX_Q]; /* to the wall, of that of the link */
  int count, body;                  /* that all lead to; -1: to sides, or several */
  double sum[3];                    /* of w c */
} wall_links;

static void find_links(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3],
                       wall_links *found)
{
  *found = (wall_links){.body = -1};
  for (int q = 1; q < model->lattice->q; q++) {
    const int8_t *c = model->lattice->c[q];
    const int32_t there[3] = {at[0] - c[0], at[1] - c[1], at[2] - c[2]};
    const int64_t cell[3] = {block->first[0] + there[0], block->first[1] + there[1],
                             block->first[2] + there[2]};
    int body;
    if (!gab_lbm_leads_to_wall(model, block, there, cell, &body)) continue;
    const int k = found->count++;
    found->body = k == 0 || body == found->body ? body : -1;
    found->length[k] = gab_geometry_wall_distance(model->geometry, block->at->level, cell, body, c);
    for (int axis = 0; axis < 3; axis++) {
      found->c[k][axis] = c[axis];
      found->sum[axis] += model->lattice->weight[q] * c[axis];
    }
  }
}

/* If links are cut half-way: by the one nearest to the normal. */
static bool find_distance(const wall_links *links, const double normal[3], double *distance)
{
  double best = 0;
  for (int k = 0; k < links->count; k++) {
    const int8_t *c = links->c[k];
    const double across = c[0] * normal[0] + c[1] * normal[1] + c[2] * normal[2];
    const double along = across / sqrt((double)(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]));
    if (along <= best) continue;
    best = along;
    *distance = links->length[k] * across;
  }
  return best > 0;
}

bool gab_lbm_wall_beside(const gab_lbm *lbm, const gab_block *place, const int32_t at[3], double normal[3],
                         double *distance, int *body)
{
  const gab_lbm_model *model = &lbm->model;
  const gab_lbm_block *block = gab_lbm_block_of(lbm, place);
  const int level = block->at->level;
  const int64_t cell[3] = {block->first[0] + at[0], block->first[1] + at[1], block->first[2] + at[2]};
  wall_links links;
  find_links(model, block, at, &links);
  *body = links.body;
  if (links.count == 0) return false;
  if (links.body >= 0 && gab_geometry_normal(model->geometry, level, cell, links.body, normal, distance))
    return gab_geometry_body(model->geometry, (size_t)links.body)->wall == GAB_WALL_INTERPOLATED ||
           find_distance(&links, normal, distance);
  *body = -1;
  const double length =
      sqrt(links.sum[0] * links.sum[0] + links.sum[1] * links.sum[1] + links.sum[2] * links.sum[2]);
  if (length < 1e-12) return false; /* walls on opposite sides */
  for (int axis = 0; axis < 3; axis++) normal[axis] = links.sum[axis] / length;
  return find_distance(&links, normal, distance);
}

bool gab_lbm_has_walls(const gab_lbm *lbm, const gab_block *block)
{
  const gab_lbm_model *model = &lbm->model;
  const int level = gab_block_level(lbm->forest, block);
  gab_box around = gab_block_cells(lbm->forest, block);
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  bool outside = false;
  for (int axis = 0; axis < domain->dimension; axis++) {
    around.lo[axis]--;
    around.hi[axis]++;
    outside |=
        !domain->periodic[axis] && (around.lo[axis] < 0 || around.hi[axis] > domain->cells[axis] << level);
  }
  return outside || !gab_geometry_is_clear(model->geometry, level, &around);
}
