/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of moving sides where a border between levels ends at them, so that the border creates no mass: at the edges of
 * sides, and along whole sides during a ramp.
 *
 * **Pairs.** A side of velocity u adds t = 6 w_q c_q.u to each population that it bounces back. On one level the sum is the
 * inflow, otherwise zero: the *partner* of the link (X, q) is the cell X - c', c' being c_q without its parts across sides
 * that the link comes from beyond, with c' reversed in q; both have the same midpoint. At an edge a link belongs to one of
 * the sides only (lbm/lbm.h).
 *
 * **Terms needed by a coarse cell.** Next to a border the partner may lie in the fine region, which has two sub-steps and n
 * = 2^dimension children per cell. All pairs cancel, and the inflow is that away from borders, if X at a side is given, in
 * 1 / n of a population,
 *
 *     n t(X, q)      of parts of u that have no partner, and for (X, q) whose partner is not in the fine region,
 *     2 t(x, q)      for each child x of X whose partner x - c' is a fine cell: the terms of that cell in two sub-steps.
 *
 * **Terms it receives.** keep t(X, q) by its links, t for each touched child that the side bounces back in s2, and t for
 * each child that the side bounces back in s1 and that enters a fine cell in s2 (child_paths_impl.h). Where sides continue,
 * the sum over q is the needed one. At an edge of two sides s and o, the missing terms (needed minus received) are counted
 * here for the links of each side as if it moved: m_s and m_o. Each is an integer multiple of c_q per class of directions,
 * and zero except along space diagonals: all other directions that cross the border have no component across o, or none
 * across s. These have m_s = +-3 along the edge, 3/8 of a term, u / 96 on D3Q27, the opposite at the other border of a
 * region, and m_o = -m_s.
 *
 * **Uniform flows** between sides that move with them must remain uniform. So no term may be added where both sides move
 * together, although m_s + m_o is +-4 for u along s and across o, towards the wall or away from it. This is the end of a
 * current: along a border in the plane of s, populations carry 4/8 of a diagonal's t per step too much, and terms carry it
 * back. Both appear only at ends of the border: at corners of the fine region within the plane of s, and at edges. In a
 * flow at rest the current starts at one end and ends at the other, for any motion of o, and conserves mass in sum. So
 * where o is at rest, the cell gets from s
 *
 *     m_s t for the component of u across s: inlets have the prescribed inflow,
 *     -m_o t for components along s: the term of o if it moved with s; along the edge this is m_s t.
 *
 * Both are linear, so any two sides may move; for the same u they cancel. The mass is distributed by weight to all arrivals
 * from both sides. Edges with free-slip sides need no term. Not done next to bodies and open sides, nor for sides with a
 * profile, whose terms differ from link to link.
 *
 * **Ramps.** The above holds for constant u. With a ramp r, coarse links, all arrivals and s1 have u r(t), but s2 has u
 * r(t'), t' being half a coarse step later: for fine cells by their own links, and by explosions that a side bounced back
 * in s1. As only r(t) is balanced, a coarse cell lacks r(t') - r(t) times the terms of its children in s2, in 1 / n of a
 * population,
 *
 *     t(x, q)        for each child x of X whose partner is a fine cell: of the components of u that pair; added to (X, q),
 *     -t(x, q)       for each child x that the side bounces back in s1 and that enters a fine cell in s2; added to (X, q).
 *
 * (X, q) is an arrival in both cases: the child behind x across the side is touched; and (X, -q) has as many touched starts
 * as (X, q) has touched ends. So fine and coarse cells have the same flux as away from borders, for all edges and profiles.
 * Without it each pair that a border divides makes 2 t (r(t') - r(t)) / n a step, over the whole ramp t / n: for each
 * coarse cell along the border u / 24 in sum on all lattices, and the opposite at the other border of a region.
 *
 * Test: tests/lbm/levels/mpi_levels_lids.c. */
#include "lbm/levels/levels_lists_impl.h"

#include <stdlib.h>
#include <string.h>

/* Classes of directions, by number of non-zero components: all of one class have the same weight. */
enum { CLASSES = 4 };
enum { SHARES = 2 }; /* of a population whose term two sides share */

typedef struct balance {
  gab_level_maker *by;
  int32_t cell[3];                             /* X */
  int32_t missing[GAB_SIDE_COUNT][CLASSES][3]; /* of c_q, in 1 / (n SHARES) of a population */
  bool by_terms;                               /* at the outline of a patch: counted here instead, */
  double mass[GAB_SIDE_FACTORS];               /* in 1 / n of a population */
} balance;

static int child_count(const gab_level_maker *by) { return 1 << by->model->lattice->dimension; }

static int class_of(const int8_t c[3]) { return abs(c[0]) + abs(c[1]) + abs(c[2]); }

static bool is_even_wall(const gab_side *side)
{
  return gab_side_bounces(side) && (!gab_side_moves(side) || side->profile == GAB_PROFILE_CONSTANT);
}

/* Bits of the sides that a place lies beyond. */
static unsigned sides_before(const gab_level_maker *by, const int32_t place[3])
{
  const gab_domain *domain = gab_geometry_domain(by->model->geometry);
  unsigned sides = 0;
  for (int axis = 0; axis < domain->dimension; axis++) {
    const int64_t at = by->view.origin[axis] + place[axis], end = domain->cells[axis] << by->view.level;
    if (domain->periodic[axis]) continue;
    sides |= (unsigned)(at < 0) << 2 * axis | (unsigned)(at >= end) << (2 * axis + 1);
  }
  return sides;
}

static bool is_beyond(unsigned sides, int axis) { return sides >> 2 * axis & 3; }

/* The cell with which a link shares its midpoint. @param[in] sides  those that it comes from beyond */
static void partner_of(const gab_level_maker *by, const int32_t cell[3], int q, unsigned sides,
                       int32_t partner[3])
{
  const int8_t *c = by->model->lattice->c[q];
  for (int axis = 0; axis < 3; axis++) partner[axis] = cell[axis] - (is_beyond(sides, axis) ? 0 : c[axis]);
}

/* Terms that a place adds to the population it bounces back in direction q. */
static gab_wall_terms terms_of(const gab_level_maker *by, const int32_t wall[3], int q)
{
  int64_t global[3];
  gab_wall_terms terms;
  for (int axis = 0; axis < 3; axis++) global[axis] = by->view.origin[axis] + wall[axis];
  gab_links_wall_terms(by->model, by->view.level, global, q, &terms);
  return terms;
}

static double term_of(const gab_wall_terms *terms, int factor)
{
  for (int k = 0; k < terms->count; k++)
    if (terms->of[k].factor == factor) return terms->of[k].term;
  return 0;
}

static const gab_side *condition(const gab_level_maker *by, int number)
{
  return gab_lbm_condition(&by->model->options, number);
}

/* Condition of a place beyond a side. */
static int condition_of(const gab_level_maker *by, const int32_t place[3], int side)
{
  int64_t global[3];
  for (int axis = 0; axis < 3; axis++) global[axis] = by->view.origin[axis] + place[axis];
  return gab_condition_at(by->model, by->view.level, global, side);
}

/* The same for the link of the coarse cell. */
static gab_wall_terms coarse_terms_of(const balance *of, int q)
{
  const int8_t *c = of->by->model->lattice->c[q];
  const int32_t coarse[3] = {of->cell[0] - c[0], of->cell[1] - c[1], of->cell[2] - c[2]};
  int64_t global[3];
  gab_wall_terms terms;
  gab_level_coarse_of_domain(of->by, coarse, global);
  gab_links_wall_terms(of->by->model, of->by->view.level - 1, global, q, &terms);
  return terms;
}

static void add_terms(balance *of, const gab_wall_terms *terms, double paired, double unpaired)
{
  for (int k = 0; k < terms->count; k++) {
    const double across = terms->of[k].across;
    of->mass[terms->of[k].factor] += paired * (terms->of[k].term - across) + unpaired * across;
  }
}

/* Adds the terms that a place would give in direction q if its side moved. @param[in] paired,unpaired  factors of the
 * components with a partner, and of the others */
static void add(balance *of, const int32_t wall[3], int q, bool is_coarse, int32_t paired, int32_t unpaired)
{
  if (of->by_terms) {
    const gab_wall_terms terms = is_coarse ? coarse_terms_of(of, q) : terms_of(of->by, wall, q);
    add_terms(of, &terms, paired, unpaired);
    return;
  }
  const int8_t *c = of->by->model->lattice->c[q];
  const unsigned sides = sides_before(of->by, wall);
  int32_t count = 0, walls = 0;
  bool rests[GAB_SIDE_COUNT] = {false};
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    if (!(sides >> side & 1)) continue;
    rests[side] = !gab_side_moves(condition(of->by, condition_of(of->by, wall, side)));
    count++;
    walls += rests[side];
  }
  /* As in links: the component across a side counts for that side, the rest for walls at rest, or half each. */
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    if (!(sides >> side & 1)) continue;
    for (int axis = 0; axis < 3; axis++) {
      int32_t times = 0;
      if (is_beyond(sides, axis)) times = axis == side / 2 ? SHARES * unpaired : 0;
      else if (walls == 0) times = SHARES / count * paired;
      else if (rests[side]) times = SHARES / walls * paired;
      of->missing[side][class_of(c)][axis] += c[axis] * times;
    }
  }
}

/* The place that the coarse link of (X, q) comes from. */
static void source_of(const balance *of, int q, int32_t place[3])
{
  const int8_t *c = of->by->model->lattice->c[q];
  const int32_t coarse[3] = {of->cell[0] - c[0], of->cell[1] - c[1], of->cell[2] - c[2]};
  gab_path_child(&of->by->paths, coarse, 0, place);
}

/* Direction of the partner's link. @param[in] sides  those that both links come from beyond */
static int partner_direction(const gab_lattice *lattice, int q, unsigned sides)
{
  for (int other = 1; other < lattice->q; other++) {
    bool is_it = true;
    for (int axis = 0; axis < 3; axis++)
      is_it &= lattice->c[other][axis] == (is_beyond(sides, axis) ? 1 : -1) * lattice->c[q][axis];
    if (is_it) return other;
  }
  return 0;
}

/* For a link and a partner on different sides of an outline. Each place must have its velocity times its area as inflow.
 * The coarse link stands for half of the inflow of its place, the links of fine cells for the other half; the same amount
 * is missing for the place in front of X. */
static void add_outline(balance *of, int q, const int32_t source[3], const int32_t partner[3], int n)
{
  const gab_level_maker *by = of->by;
  const gab_wall_terms theirs = coarse_terms_of(of, q);
  const unsigned sides = sides_before(by, source);
  int32_t beyond[3];
  int64_t global[3];
  gab_wall_terms ours;
  if (sides == 0 || !theirs.crosses_outline) return;
  for (int axis = 0; axis < 3; axis++)
    beyond[axis] = of->cell[axis] - by->model->lattice->c[q][axis] + of->cell[axis] - partner[axis];
  gab_level_coarse_of_domain(by, beyond, global);
  gab_links_wall_terms(by->model, by->view.level - 1, global, partner_direction(by->model->lattice, q, sides),
                       &ours);
  add_terms(of, &theirs, 0, -n / 2.0);
  add_terms(of, &ours, 0, n / 2.0);
}

/* Terms needed by X, minus those it would receive if all came by its links, minus those of children that leave it. */
static void add_needs(balance *of, int q)
{
  const gab_level_maker *by = of->by;
  const int8_t *c = by->model->lattice->c[q];
  const int n = child_count(by);
  int32_t source[3], partner[3], place[3];
  source_of(of, q, source);
  partner_of(by, of->cell, q, sides_before(by, source), partner);
  gab_path_child(&by->paths, partner, 0, place);
  const int kind = gab_level_view_look(&by->view, place).kind;
  if (kind == GAB_PATH_FINE || kind == GAB_PATH_FINE_WALL) {
    add(of, source, q, true, -n, 0);
    if (of->by_terms) add_outline(of, q, source, partner, n);
  }
  for (int child = 0; child < n; child++) {
    gab_path_state at = {.q = q}, next;
    gab_path_step step;
    gab_path_child(&by->paths, of->cell, child, at.cell);
    for (int axis = 0; axis < 3; axis++) source[axis] = at.cell[axis] - c[axis];
    partner_of(by, at.cell, q, sides_before(by, source), partner);
    if (gab_level_view_look(&by->view, partner).kind == GAB_PATH_FINE) add(of, source, q, false, 2, 0);
    gab_path_back(&by->paths, &at, &step); /* in s1 */
    if (step.bounced && gab_path_forth(&by->paths, &at, &next) == GAB_PATH_FINE)
      add(of, step.wall, q, false, -1, -1);
  }
}

static gab_status add_arrival(void *user, const gab_child_arrival *arrival)
{
  balance *of = user;
  const int lost = child_count(of->by) - arrival->keep;
  int32_t source[3];
  source_of(of, arrival->q, source);
  add(of, source, arrival->q, true, lost, lost);
  for (int i = 0; i < arrival->touched; i++)
    if (arrival->touch[i].bounced) add(of, arrival->touch[i].wall, arrival->q, false, -1, -1);
  return GAB_OK;
}

/* Bits of the sides that a cell lies at. */
static unsigned sides_at(const gab_level_maker *by, const int32_t coarse[3])
{
  unsigned sides = 0;
  for (int axis = 0; axis < by->model->lattice->dimension; axis++)
    for (int way = -1; way <= 1; way += 2) {
      int32_t beside[3] = {coarse[0], coarse[1], coarse[2]}, place[3];
      beside[axis] += way;
      gab_path_child(&by->paths, beside, 0, place);
      sides |= sides_before(by, place);
    }
  return sides;
}

/* Whether all cells around a cell within the domain are fluid. */
static bool is_clear(const gab_level_maker *by, const int32_t coarse[3])
{
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    if (by->model->lattice->dimension == 2 && offset[2] != 0) continue;
    const int32_t beside[3] = {coarse[0] + offset[0], coarse[1] + offset[1], coarse[2] + offset[2]};
    for (int child = 0; child < child_count(by); child++) {
      int32_t place[3];
      gab_path_child(&by->paths, beside, child, place);
      const int kind = gab_level_view_look(&by->view, place).kind;
      if (sides_before(by, place) == 0 && kind != GAB_PATH_COARSE && kind != GAB_PATH_FINE) return false;
    }
  }
  return true;
}

/* Two sides that a coarse cell lies at, and their conditions. */
typedef struct edge {
  int side[2], condition[2];
} edge;

/* Whether all places around a cell beyond one of its sides have one condition. @param[in] reach  coarse cells along the
 * side @param[out] number  of the condition */
static bool is_uniform(const gab_level_maker *by, const int32_t coarse[3], int side, int reach, int *number)
{
  const int dimension = by->model->lattice->dimension, axis = side / 2;
  int32_t at[3], place[3];
  *number = -1;
  for (int32_t k = dimension == 3 ? -reach : 0; k <= (dimension == 3 ? reach : 0); k++)
    for (int32_t j = -reach; j <= reach; j++)
      for (int32_t i = -reach; i <= reach; i++) {
        const int32_t offset[3] = {i, j, k};
        if (offset[axis] != 0) continue;
        for (int d = 0; d < 3; d++) at[d] = coarse[d] + offset[d];
        at[axis] += side % 2 ? 1 : -1;
        gab_path_child(&by->paths, at, 0, place);
        const int found = condition_of(by, place, side);
        if (*number >= 0 && found != *number) return false;
        *number = found;
      }
  return true;
}

/* Finds the edge of a cell at two sides of which one moves. @return false if the cell is not at such an edge */
static bool find_edge(const gab_level_maker *by, const int32_t coarse[3], edge *found)
{
  const unsigned sides = sides_at(by, coarse);
  int count = 0;
  bool moves = false;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    int number;
    if (!(sides >> side & 1)) continue;
    if (count == 2 || !is_uniform(by, coarse, side, 1, &number) || !is_even_wall(condition(by, number)))
      return false;
    moves = moves || gab_side_moves(condition(by, number));
    found->condition[count] = number;
    found->side[count++] = side;
  }
  return count == 2 && moves && is_clear(by, coarse);
}

/* Mass missing for a side: by its velocity across itself, and along. @param[in] which  of the two */
static double mass_of(const balance *of, const edge *at, int which)
{
  const gab_lattice *lattice = of->by->model->lattice;
  const gab_side *given = condition(of->by, at->condition[which]);
  const int side = at->side[which], other = at->side[1 - which];
  double weight[CLASSES] = {0}, mass = 0;
  if (!gab_side_moves(given)) return 0;
  for (int q = 1; q < lattice->q; q++) weight[class_of(lattice->c[q])] = lattice->weight[q];
  for (int k = 0; k < CLASSES; k++)
    for (int axis = 0; axis < 3; axis++) {
      const int32_t count = axis == side / 2 ? of->missing[side][k][axis] : -of->missing[other][k][axis];
      if (count != 0) mass += 6 * weight[k] * count * given->velocity[axis];
    }
  return mass / (SHARES * child_count(of->by));
}

/* Distributes it by weight to the arrivals from both sides. @param[in] first  arrival of the cell */
static gab_status give(const balance *of, unsigned sides, int factor, double mass, size_t first)
{
  gab_level_interface *interface = of->by->interface;
  const gab_lattice *lattice = of->by->model->lattice;
  double weights = 0;
  for (int pass = 0; pass < 2 && mass != 0; pass++)
    for (size_t i = first; i < interface->arrival_count; i++) {
      const int q = interface->arrivals[i].q;
      int32_t source[3];
      source_of(of, q, source);
      if (!(sides_before(of->by, source) & sides)) continue;
      const gab_level_interface_term made = {
          .at = (uint32_t)i, .factor = factor, .term = mass * lattice->weight[q] / weights};
      if (pass == 0) weights += lattice->weight[q];
      else GAB_TRY(gab_level_append_term(&interface->arrival_terms, &interface->arrival_term_count, made));
    }
  return GAB_OK;
}

/* At the outline of a patch: as at edges, but with the terms of the surrounding places. */
static gab_status balance_outline(gab_level_maker *by, const int32_t coarse[3], unsigned sides, size_t first)
{
  balance of = {.by = by, .cell = {coarse[0], coarse[1], coarse[2]}, .by_terms = true};
  const int32_t end[3] = {coarse[0] + 1, coarse[1] + 1, coarse[2] + 1};
  for (int q = 1; q < by->model->lattice->q; q++) add_needs(&of, q);
  GAB_TRY(gab_child_arrivals(&by->paths, coarse, end, add_arrival, &of));
  for (int k = 0; k < GAB_SIDE_FACTORS; k++)
    GAB_TRY(give(&of, sides, k, of.mass[k] / child_count(by), first));
  return GAB_OK;
}

/* Whether a cell at sides has different conditions around it on one of them. */
static bool is_at_outline(const gab_level_maker *by, const int32_t coarse[3], unsigned sides)
{
  bool differs = false;
  for (int side = 0; side < GAB_SIDE_COUNT && by->model->options.patches; side++) {
    int number;
    if (sides >> side & 1) differs = differs || !is_uniform(by, coarse, side, 1, &number);
  }
  return differs;
}

gab_status gab_level_balance_edges(gab_level_maker *by, const int32_t coarse[3], size_t first)
{
  edge at;
  if (first == by->interface->arrival_count) return GAB_OK;
  const unsigned around = sides_at(by, coarse);
  if (is_at_outline(by, coarse, around) && is_clear(by, coarse))
    return balance_outline(by, coarse, around, first);
  if (!find_edge(by, coarse, &at)) return GAB_OK;
  const gab_side *sides[2] = {condition(by, at.condition[0]), condition(by, at.condition[1])};
  balance of = {.by = by, .cell = {coarse[0], coarse[1], coarse[2]}};
  const int32_t end[3] = {coarse[0] + 1, coarse[1] + 1, coarse[2] + 1};
  for (int q = 1; q < by->model->lattice->q; q++) add_needs(&of, q);
  GAB_TRY(gab_child_arrivals(&by->paths, coarse, end, add_arrival, &of));
  double mass[2] = {mass_of(&of, &at, 0), mass_of(&of, &at, 1)};
  /* Exactly zero for sides that move together. */
  if (gab_side_moves(sides[0]) && gab_side_moves(sides[1]) && gab_side_vary_alike(sides[0], sides[1])) {
    mass[0] += mass[1];
    mass[1] = 0;
  }
  const unsigned both = 1U << at.side[0] | 1U << at.side[1];
  for (int i = 0; i < 2; i++) GAB_TRY(give(&of, both, at.condition[i], mass[i], first));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ ramps */

/* Adds the terms that (X, q) lacks for one child, by side. */
static void add_late(const gab_level_maker *by, const int32_t coarse[3], int child, int q,
                     double late[GAB_SIDE_FACTORS])
{
  const int8_t *c = by->model->lattice->c[q];
  gab_path_state at = {.q = q}, next;
  gab_path_step step;
  int32_t source[3], partner[3], other[3];
  gab_path_child(&by->paths, coarse, child, at.cell);
  for (int axis = 0; axis < 3; axis++) source[axis] = at.cell[axis] - c[axis];
  const unsigned sides = sides_before(by, source);
  partner_of(by, at.cell, q, sides, partner);
  if (sides != 0 && gab_level_view_look(&by->view, partner).kind == GAB_PATH_FINE) {
    /* The component across is equal in both links, the others are opposite. */
    for (int axis = 0; axis < 3; axis++) other[axis] = source[axis] + at.cell[axis] - partner[axis];
    const gab_wall_terms theirs = terms_of(by, other, partner_direction(by->model->lattice, q, sides)),
                         ours = terms_of(by, source, q);
    for (int k = 0; k < GAB_SIDE_FACTORS && !ours.crosses_outline; k++)
      late[k] += (term_of(&ours, k) - term_of(&theirs, k)) / 2;
    for (int k = 0; k < ours.count && ours.crosses_outline; k++) late[ours.of[k].factor] += ours.of[k].term;
    for (int k = 0; k < theirs.count && ours.crosses_outline; k++)
      late[theirs.of[k].factor] -= theirs.of[k].across;
  }
  gab_path_back(&by->paths, &at, &step); /* in s1 */
  if (step.bounced && sides_before(by, step.wall) != 0 &&
      gab_path_forth(&by->paths, &at, &next) == GAB_PATH_FINE) {
    const gab_wall_terms ours = terms_of(by, step.wall, q);
    for (int k = 0; k < ours.count; k++) late[ours.of[k].factor] -= ours.of[k].term;
  }
}

gab_status gab_level_balance_ramps(gab_level_maker *by, const int32_t coarse[3], size_t first)
{
  gab_level_interface *interface = by->interface;
  if (!gab_any_ramp(&by->model->options) || sides_at(by, coarse) == 0) return GAB_OK;
  for (size_t i = first; i < interface->arrival_count; i++) {
    double late[GAB_SIDE_FACTORS] = {0};
    for (int child = 0; child < child_count(by); child++)
      add_late(by, coarse, child, interface->arrivals[i].q, late);
    for (int k = 0; k < GAB_SIDE_FACTORS; k++) {
      const gab_level_interface_term made = {
          .at = (uint32_t)i, .factor = k, .grows = true, .term = late[k] / child_count(by)};
      if (made.term == 0 || !gab_side_varies(condition(by, k % GAB_MOST_CONDITIONS))) continue;
      GAB_TRY(gab_level_append_term(&interface->arrival_terms, &interface->arrival_term_count, made));
    }
  }
  return GAB_OK;
}
