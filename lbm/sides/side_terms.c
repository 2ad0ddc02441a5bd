/* SPDX-License-Identifier: Apache-2.0 */
/* What sides and patches of given velocity add to populations that they throw back. */
#include "lbm/lbm_impl.h"

#include <math.h>
#include <string.h>

/* A link from a place beyond sides into a fluid cell. */
typedef struct side_link {
  const gab_lbm_model *model;
  const gab_domain *domain;
  int level, q;
  int64_t b[3], x[3]; /* cells of the domain */
} side_link;

static int64_t size_of(const side_link *at, int axis)
{
  return at->domain->cells[axis] << (axis < at->domain->dimension ? at->level : 0);
}

/* What a wall of velocity u gives to the population that it reflects, density 1: twice the odd part of the equilibrium,
 * 2 w c·u / c_s^2 (Ladd 1994) and, with a collision whose equilibrium is of third order or more, what that adds. */
double gab_momentum_term(const gab_lbm_model *model, int q, const double velocity[3])
{
  const gab_collision *collision = model->options.collision;
  const gab_lattice *lattice = model->lattice;
  const int8_t *c = lattice->c[q];
  double cu = c[0] * velocity[0] + c[1] * velocity[1] + c[2] * velocity[2];
  const double term = 6 * lattice->weight[q] * cu;
  if (!collision->equilibrium_beyond) return term;
  return term + (collision->equilibrium_beyond(lattice, q, 0, velocity) -
                 collision->equilibrium_beyond(lattice, gab_lattice_opposite(q), 0, velocity));
}

double gab_side_shape_of_link(const gab_lbm_model *model, int level, int q, const int64_t place[3],
                              const gab_side *given, int side, int part)
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  const int8_t *c = model->lattice->c[q];
  double share[3] = {0, 0, 0}, shape[2];
  for (int axis = 0; axis < domain->dimension; axis++)
    share[axis] =
        (double)(place[axis] + (place[axis] + c[axis]) + 1) / 2 / (double)(domain->cells[axis] << level);
  gab_side_shape_at(given, side, domain, share, shape);
  return shape[part];
}

/* The sides beyond which the place lies: bits. */
static unsigned sides_of(const side_link *at)
{
  unsigned sides = 0;
  for (int axis = 0; axis < 3; axis++) {
    if (at->domain->periodic[axis] || (at->b[axis] >= 0 && at->b[axis] < size_of(at, axis))) continue;
    sides |= 1U << (2 * axis + (at->b[axis] >= 0));
  }
  return sides;
}

/* A condition beyond which a place lies, one for each axis at most. */
typedef struct given_at {
  int side, condition; /* side -1: none across this axis */
  const gab_side *side_is;
} given_at;

/* The share of a side in the velocity that a place gives to what it throws back: of the part across a side all of its own, of others
 * as lbm/lbm.h says. @param[in] all  by axis @param[in] of  one of them @param[in] part  0, or 1: see #GAB_SIDE_FACTORS
 * @param[in] sides,closed  bits of the sides beyond which the place lies, and of these that throw back */
static void velocity_of(const side_link *at, const given_at all[3], int of, int part, unsigned sides,
                        unsigned closed, double velocity[3])
{
  const gab_side *given = all[of].side_is;
  const double factor = gab_side_shape_of_link(at->model, at->level, at->q, at->b, given, all[of].side, part);
  int count = 0;
  bool rests = false;
  for (int other = 0; other < 3; other++) {
    if (!(closed >> 2 * other & 3)) continue;
    count++;
    rests |= !gab_side_moves(all[other].side_is);
  }
  for (int axis = 0; axis < 3; axis++) {
    const bool is_open = (sides >> 2 * axis & 3) && !(closed >> 2 * axis & 3);
    const bool slips = is_open && gab_side_reflects(all[axis].side_is);
    double share = rests ? 0 : 1.0 / count;
    if (slips) share = 0;
    else if ((sides >> 2 * axis & 3) && !is_open) share = axis == of ? 1 : 0;
    velocity[axis] = share == 0 ? 0 : share * factor * given->velocity[axis];
  }
}

/* The conditions at a cell, of the sides that the place lies beyond, by axis. @return whether they differ from some others */
static bool list_given(const side_link *at, const int64_t cell[3], unsigned sides, given_at all[3])
{
  bool differs = false;
  for (int axis = 0; axis < 3; axis++) {
    const unsigned across = sides >> 2 * axis & 3;
    const given_at before = all[axis];
    all[axis].side = across ? 2 * axis + (int)(across >> 1) : -1;
    all[axis].condition = across ? gab_condition_at(at->model, at->level, cell, all[axis].side) : -1;
    all[axis].side_is = across ? gab_lbm_condition(&at->model->options, all[axis].condition) : NULL;
    differs = differs || before.condition != all[axis].condition;
  }
  return differs;
}

/* Velocities of the conditions that move, by part and axis. */
typedef struct given_velocities {
  given_at all[3];
  double velocity[6][3];
} given_velocities;

static unsigned closed_of(const given_velocities *given)
{
  unsigned closed = 0;
  for (int axis = 0; axis < 3; axis++)
    if (given->all[axis].side >= 0 && gab_side_bounces(given->all[axis].side_is))
      closed |= 1U << given->all[axis].side;
  return closed;
}

/* Conditions that vary alike are one, the first of them. @param[in] across,along  shares of the parts across sides and along them */
static void add_velocities(const side_link *at, unsigned sides, unsigned closed, double across, double along,
                           given_velocities *made, double sum[3])
{
  const given_at *all = made->all;
  for (int number = 0; number < 6; number++) {
    const int of = number % 3;
    if (!(closed >> 2 * of & 3) || !gab_side_bounces(all[of].side_is) || !gab_side_moves(all[of].side_is))
      continue;
    if (number != of && all[of].side_is->profile != GAB_PROFILE_WOMERSLEY) continue;
    double share[3];
    int group = number;
    velocity_of(at, all, of, number / 3, sides, closed, share);
    for (int other = number == of ? of - 1 : -1; other >= 0; other--)
      if ((closed >> 2 * other & 3) && gab_side_moves(all[other].side_is) &&
          gab_side_vary_alike(all[other].side_is, all[of].side_is))
        group = other;
    for (int axis = 0; axis < 3; axis++) {
      share[axis] *= sides >> 2 * axis & 3 ? across : along;
      made->velocity[group][axis] += share[axis];
      sum[axis] += share[axis];
    }
  }
}

static void append_terms(const side_link *at, unsigned sides, const given_velocities *given, double *added,
                         gab_wall_terms *terms)
{
  for (int number = 0; number < 6; number++) {
    const double *u = given->velocity[number];
    if (u[0] == 0 && u[1] == 0 && u[2] == 0) continue;
    struct gab_wall_term *made = &terms->of[terms->count++];
    made->factor = given->all[number % 3].condition + number / 3 * GAB_MOST_CONDITIONS;
    *added += made->term = gab_momentum_term(at->model, at->q, u);
    if (!at->model->options.patches) continue;
    double across[3];
    for (int axis = 0; axis < 3; axis++) across[axis] = sides >> 2 * axis & 3 ? u[axis] : 0;
    made->across = gab_momentum_term(at->model, at->q, across);
  }
}

/* What sides give to the population that a place beyond them throws back. Sides that vary alike give it together, as the first of them:
 * so does a third-order equilibrium, to which velocities do not add up. Where the link crosses the outline of a patch, the place gives
 * the part across the side, and the place in front of the cell half of the part along it: the partner of the link, which has the same
 * midpoint, gets the opposite of that part. Of a cell in front of an open condition there is no partner; next to free slip nothing is
 * given along the side. */
void gab_side_terms(const gab_lbm_model *model, int level, int q, const int64_t place[3],
                    gab_wall_terms *terms)
{
  side_link link = {.model = model, .domain = gab_geometry_domain(model->geometry), .level = level, .q = q};
  const side_link *at = &link;
  given_velocities there = {0}, here = {0};
  double sum[3] = {0, 0, 0}, added = 0, along = 1;
  *terms = (gab_wall_terms){0};
  for (int axis = 0; axis < 3; axis++) {
    link.b[axis] = place[axis];
    link.x[axis] = place[axis] + model->lattice->c[q][axis];
  }
  const unsigned sides = sides_of(at);
  if (!sides) return;
  (void)list_given(at, at->b, sides, there.all);
  const unsigned closed = closed_of(&there);
  if (!closed) return;
  if (at->model->options.patches) {
    memcpy(here.all, there.all, sizeof here.all);
    terms->crosses_outline = list_given(at, at->x, sides, here.all);
  }
  for (int axis = 0; terms->crosses_outline && axis < 3; axis++) {
    if (!(closed >> 2 * axis & 3) || here.all[axis].condition == there.all[axis].condition) continue;
    if (gab_side_bounces(here.all[axis].side_is)) along = fmin(along, 0.5);
    if (gab_side_reflects(here.all[axis].side_is)) along = 0;
  }
  add_velocities(at, sides, closed, 1, along, &there, sum);
  if (along == 0.5) add_velocities(at, sides, closed, 0, 0.5, &here, sum);
  append_terms(at, sides, &there, &added, terms);
  append_terms(at, sides, &here, &added, terms);
  if (terms->count > 1) terms->of[0].term += gab_momentum_term(at->model, at->q, sum) - added;
}
