/* SPDX-License-Identifier: Apache-2.0 */
/* Sponge layers in front of sides and patches. After its collision a cell of a sponge sends
 *   f_q = f_eq(rho, u) + g (f_q - f_eq(rho, u)) + s (f_eq(rho_s, u_s) - f_eq(rho, u)).
 * The last term draws density or velocity to those of the side by the share s (as Xu & Sagaut 2013, J. Comput. Phys. 245, 14). The one
 * before makes the fluid more viscous: g is what a collision with the larger viscosity leaves of the stress over what this one leaves.
 * Below rate 1 the sign would change; so the viscosity ends at that of rate 1. In front of a wall with a log law only that term acts, with its
 * turbulent viscosity (ground.c). All of it acts on what a cell sends, behind any
 * collision, and is a pure function of place and time. */
#include "core/base/lower_bound_impl.h"
#include "lbm/lbm_impl.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------ one cell */

/* What a sponge draws a cell to. */
typedef struct target {
  const gab_side *side; /* NULL: the place in front of which the cell lies has no sponge */
  double drho, velocity[3];
} target;

static target target_of(const gab_lbm_model *model, int level, int side, const int64_t cell[3],
                        const double ramp[GAB_SIDE_FACTORS])
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  const int condition = gab_condition_at(model, level, cell, side);
  const gab_side *given = gab_lbm_condition(&model->options, condition);
  target made = {0};
  double share[3] = {0, 0, 0}, shape[2];
  if (given->sponge.thickness == 0) return made;
  made.side = given;
  for (int axis = 0; axis < domain->dimension; axis++)
    share[axis] = ((double)cell[axis] + 0.5) / (double)(domain->cells[axis] << level);
  gab_side_shape_at(given, side, domain, share, shape);
  const double factor = shape[0] * ramp[condition] + shape[1] * ramp[condition + GAB_MOST_CONDITIONS];
  made.drho = (given->density - 1) * factor;
  for (int axis = 0; axis < 3; axis++)
    made.velocity[axis] =
        gab_side_moves(given) ? factor * given->velocity[axis] : given->sponge.velocity[axis];
  return made;
}

/* What a collision with the rate of a larger viscosity leaves of the stress, over what this one leaves. */
static double kept_stress(double rate, double viscosity)
{
  if (rate <= 1) return 1;
  return (1 - fmax(1, 1 / (0.5 + viscosity * (1 / rate - 0.5)))) / (1 - rate);
}

/* What the sponge of one side does to a cell. */
typedef struct share {
  const target *to;
  double weight; /* 1 at the side, 0 at the end of the sponge */
  double mixing; /* length in cells, in front of a wall with a log law; else 0 */
} share;

/* All sponges that a cell lies in act on the same state, so their order does not matter: what they draw adds up, up to all of it; the largest
 * viscosity holds. @param[in,out] f  what the cell has sent */
static void absorb(const gab_lbm_model *model, const gab_level_model *at, const share *shares, int count,
                   double *f)
{
  double drho, u[3], wanted[GAB_SIDE_COUNT], velocity[GAB_SIDE_COUNT][3], draw[GAB_SIDE_COUNT],
      all = 0, viscosity = 1, mixing = 0;
  gab_lbm_moments(model, at, f, &drho, u);
  for (int axis = 0; axis < 3; axis++)
    u[axis] += 0.5 * at->rates.force[axis] / (1 + drho); /* all that f has */
  for (int k = 0; k < count; k++) {
    const target *to = shares[k].to;
    const gab_sponge *sponge = &to->side->sponge;
    const bool has_velocity = gab_side_moves(to->side) || sponge->has_velocity;
    viscosity = fmax(viscosity, 1 + (sponge->viscosity - 1) * shares[k].weight);
    if (shares[k].mixing > 0) mixing = mixing > 0 ? fmin(mixing, shares[k].mixing) : shares[k].mixing;
    draw[k] = ldexp(sponge->rate * shares[k].weight, -at->level);
    all += draw[k];
    wanted[k] = gab_side_is_open(to->side) ? to->drho : drho;
    for (int axis = 0; axis < 3; axis++) velocity[k][axis] = has_velocity ? to->velocity[axis] : u[axis];
  }
  for (int k = 0; k < count && all > 1; k++) draw[k] /= all;
  double keep = kept_stress(at->rates.even, viscosity), now[GAB_LATTICE_MAX_Q], rest[GAB_LATTICE_MAX_Q];
  for (int q = 0; q < model->lattice->q; q++) {
    now[q] = gab_lbm_equilibrium(model, q, drho, u);
    rest[q] = f[q] - now[q];
  }
  if (mixing > 0) {
    const double kept = gab_ground_mix(model, at, drho, mixing, rest);
    keep = keep < kept ? keep / kept : 1;
  }
  for (int q = 0; q < model->lattice->q; q++) {
    double change = 0;
    for (int k = 0; k < count; k++)
      change += draw[k] * (gab_lbm_equilibrium(model, q, wanted[k], velocity[k]) - now[q]);
    f[q] = now[q] + keep * rest[q] + change;
  }
}

/* ------------------------------------------------------------------------------------------ rows */

/* Distance of the centre of a cell from a side, in cells of level 0. */
static double distance_from(const gab_lbm_model *model, int level, int side, int64_t cell)
{
  const int64_t size = gab_geometry_domain(model->geometry)->cells[side / 2] << level;
  return ldexp((double)(side % 2 ? size - 1 - cell : cell) + 0.5, -level);
}

/* The deepest sponge of a side or its patches. */
static double reach_of(const gab_lbm_model *model, int side)
{
  double most = 0;
  for (int k = 0; k < gab_lbm_condition_count(&model->options); k++)
    if (gab_lbm_condition_side(&model->options, k) == side)
      most = fmax(most, gab_lbm_condition(&model->options, k)->sponge.thickness);
  return most;
}

/* Whether all cells of a row have the same target. */
static bool is_uniform(const gab_lbm_model *model, int side, const target *to)
{
  const gab_patches *patches = model->options.patches;
  if (side / 2 == 0) return true;
  return !(patches && (patches->sides >> side & 1)) &&
         (!to->side || to->side->profile == GAB_PROFILE_CONSTANT);
}

/* @param[in] sides  bits of those whose sponges the block has cells of */
static void absorb_row(const gab_lbm_model *model, const gab_lbm_block *block, const gab_sponge_cells *at,
                       const gab_run *run, int32_t first, int32_t last, unsigned sides,
                       const double reach[GAB_SIDE_COUNT], const double ramp[GAB_SIDE_FACTORS])
{
  const int level = block->at->level;
  target to[GAB_SIDE_COUNT];
  bool known[GAB_SIDE_COUNT] = {false};
  int64_t cell[3] = {block->first[0] + run->x + first, block->first[1] + run->y, block->first[2] + run->z};
  for (int side = 2; side < GAB_SIDE_COUNT; side++)
    if ((sides >> side & 1) && distance_from(model, level, side, cell[side / 2]) >= reach[side])
      sides &= ~(1U << side);
  for (int32_t i = first; i < last && sides != 0; i++, cell[0]++) {
    share shares[GAB_SIDE_COUNT];
    double f[GAB_LATTICE_MAX_Q];
    int count = 0;
    for (int side = 0; side < GAB_SIDE_COUNT; side++) {
      if (!(sides >> side & 1)) continue;
      const double away = distance_from(model, level, side, cell[side / 2]);
      if (away >= reach[side]) continue;
      if (!known[side]) to[side] = target_of(model, level, side, cell, ramp);
      known[side] = is_uniform(model, side, &to[side]);
      if (!to[side].side || away >= to[side].side->sponge.thickness) continue;
      const double left = 1 - away / to[side].side->sponge.thickness, rough = to[side].side->sponge.roughness;
      shares[count] = (share){.to = &to[side], .weight = left * left};
      if (rough > 0) shares[count].mixing = gab_ground_mixing_length(ldexp(away + rough, level));
      count++;
    }
    if (count == 0) continue;
    const size_t start = run->start + (uint32_t)i - at->shift;
    for (int q = 0; q < model->lattice->q; q++) f[q] = gab_value_at(at->field, gab_place(start, at->sent[q]));
    absorb(model, block->at, shares, count, f);
    for (int q = 0; q < model->lattice->q; q++) gab_value_set(at->field, gab_place(start, at->sent[q]), f[q]);
  }
}

/* Whether a block has cells of a side's sponge. */
static bool reaches(const gab_lbm_model *model, const gab_lbm_block *block, int side)
{
  const int axis = side / 2;
  const int64_t nearest = block->first[axis] + (side % 2 ? model->cells[axis] - 1 : 0);
  return (model->sponges >> side & 1) &&
         distance_from(model, block->at->level, side, nearest) < reach_of(model, side);
}

void gab_sponge_apply(const gab_lbm_model *model, const gab_lbm_block *block, size_t slab,
                      const gab_sponge_cells *at, const double ramp[GAB_SIDE_FACTORS])
{
  const gab_run *runs = block->runs;
  double reach[GAB_SIDE_COUNT] = {0};
  unsigned sides = 0;
  for (int side = 0; side < 2 * model->lattice->dimension; side++) {
    if (!reaches(model, block, side)) continue;
    sides |= 1U << side;
    reach[side] = reach_of(model, side);
  }
  if (sides == 0) return;
  size_t r = block->run_start[slab];
  const size_t end = block->run_start[slab + 1];
  if (at->is_part) GAB_LOWER_BOUND(size_t, r, end, i, runs[i].start + (uint32_t)runs[i].length <= at->shift);
  for (; r < end && (!at->is_part || runs[r].start < at->shift + at->count); r++) {
    int32_t first = 0, last = runs[r].length;
    if (at->is_part && runs[r].start < at->shift) first = (int32_t)(at->shift - runs[r].start);
    if (at->is_part && runs[r].start + (uint32_t)last > at->shift + at->count)
      last = (int32_t)(at->shift + at->count - runs[r].start);
    absorb_row(model, block, at, &runs[r], first, last, sides, reach, ramp);
  }
}

double gab_sponge_rate(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, double rho,
                       double moment[3][3], double rate)
{
  const int level = block->at->level;
  const gab_run *runs = block->runs;
  double viscosity = 1, mixing = 0, square = 0;
  size_t r = 0;
  const size_t end = block->run_start[model->slabs];
  if (model->sponges == 0) return rate;
  GAB_LOWER_BOUND(size_t, r, end, i, runs[i].start + (uint32_t)runs[i].length <= cell);
  const int64_t place[3] = {block->first[0] + runs[r].x + (int32_t)(cell - runs[r].start),
                            block->first[1] + runs[r].y, block->first[2] + runs[r].z};
  for (int side = 0; side < 2 * model->lattice->dimension; side++) {
    if (!(model->sponges >> side & 1)) continue;
    const int condition = gab_condition_at(model, level, place, side);
    const gab_sponge *sponge = &gab_lbm_condition(&model->options, condition)->sponge;
    const double away = distance_from(model, level, side, place[side / 2]);
    if (away >= sponge->thickness) continue;
    const double left = 1 - away / sponge->thickness;
    viscosity = fmax(viscosity, 1 + (sponge->viscosity - 1) * left * left);
    if (sponge->roughness == 0) continue;
    const double length = gab_ground_mixing_length(ldexp(away + sponge->roughness, level));
    mixing = mixing > 0 ? fmin(mixing, length) : length;
  }
  for (int k = 0; k < 9; k++) square += moment[k / 3][k % 3] * moment[k / 3][k % 3];
  double keep = kept_stress(block->at->rates.even, viscosity);
  if (mixing > 0) keep = fmin(keep, gab_ground_kept(block->at->rates.even, mixing, square, rho));
  return 1 - keep * (1 - rate);
}

void gab_sponge_list(gab_lbm_model *model)
{
  model->sponges = 0;
  for (int side = 0; side < 2 * model->lattice->dimension; side++)
    if (reach_of(model, side) > 0) model->sponges |= 1U << side;
}
