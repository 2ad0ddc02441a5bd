/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/links/links_impl.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ sides */

/* -1 below the domain along an axis that is not periodic, 1 above it, 0 inside. */
static int beyond(const gab_link *at, int axis)
{
  const gab_domain *domain = gab_geometry_domain(at->model->geometry);
  int64_t cell = gab_link_cell(at, at->b, axis);
  if (domain->periodic[axis]) return 0;
  return cell < 0 ? -1 : cell >= gab_link_size(at, axis) ? 1 : 0;
}

/* The condition at a cell of the block beyond a side. */
static int condition_of(const gab_link *at, const int32_t cell[3], int side)
{
  int64_t place[3];
  for (int axis = 0; axis < 3; axis++) place[axis] = gab_link_cell(at, cell, axis);
  return gab_condition_at(at->model, at->block->at->level, place, side);
}

static const gab_side *side_at(const gab_link *at, int side)
{
  return gab_lbm_condition(&at->model->options, condition_of(at, at->b, side));
}

/* The side that a cell outside of the domain, but not beyond walls and sides of given velocity, belongs to. */
static int side_of(const gab_link *at)
{
  int best = -1;
  for (int axis = 0; axis < 3; axis++) {
    int where = beyond(at, axis);
    if (where == 0) continue;
    int side = 2 * axis + (where > 0);
    if (best < 0 || gab_side_of(side_at(at, side))->precedence > gab_side_of(side_at(at, best))->precedence)
      best = side;
  }
  return best;
}

/* Of the sides that the boundary cell lies beyond: bits. @param[out] closed  those that throw back */
static unsigned sides_of(const gab_link *at, unsigned *closed)
{
  unsigned sides = 0;
  *closed = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int where = beyond(at, axis), side = 2 * axis + (where > 0);
    if (where == 0) continue;
    sides |= 1U << side;
    if (gab_side_bounces(side_at(at, side))) *closed |= 1U << side;
  }
  return sides;
}

/* The side at `axis` that the boundary cell lies beyond; -1: none. */
static int side_across(const gab_link *at, int axis)
{
  const int where = beyond(at, axis);
  return where == 0 ? -1 : 2 * axis + (where > 0);
}

static bool has_fluctuations(const gab_side *side) { return side->turbulence || side->plane; }

static bool is_turbulent(const gab_link *at)
{
  bool any = false;
  for (int axis = 0; axis < 3; axis++) {
    const int side = side_across(at, axis);
    any |= side >= 0 && has_fluctuations(side_at(at, side));
  }
  return any;
}

/* In edges, and where the link crosses the outline of a patch, the part across the side only: along it there is no partner. */
static gab_status add_fluctuations(const gab_link *at, uint32_t to)
{
  int64_t place[3];
  int count = 0;
  for (int axis = 0; axis < 3; axis++) {
    place[axis] = gab_link_cell(at, at->b, axis);
    count += side_across(at, axis) >= 0;
  }
  for (int axis = 0; axis < 3; axis++) {
    const int side = side_across(at, axis);
    if (side < 0 || !has_fluctuations(side_at(at, side))) continue;
    const int condition = condition_of(at, at->b, side);
    GAB_TRY(gab_side_turbulence_add_link(
        at->model, at->block, side, condition, place,
        (gab_turbulent_link){.to = to,
                             .from = gab_link_origin(at),
                             .q = (int16_t)at->q,
                             .across_only = count > 1 || condition != condition_of(at, at->x, side)}));
  }
  return GAB_OK;
}

/* The wall with a slip length or a log law that alone a boundary cell lies beyond, in front of which the fluid cell lies; -1: none. */
static int slipping_wall(const gab_link *at)
{
  int only = -1;
  for (int axis = 0; axis < 3; axis++) {
    const int side = side_across(at, axis);
    if (side < 0) continue;
    if (only >= 0) return -1;
    only = side;
  }
  if (only < 0 || (side_at(at, only)->slip_length == 0 && side_at(at, only)->roughness == 0)) return -1;
  return condition_of(at, at->b, only) == condition_of(at, at->x, only) ? only : -1;
}

static gab_link mirror_of(const gab_link *at, int side);

/* Of a direction along the wall too. The link and its mirror give each other's mass, so that both are there or none. */
static bool slips(const gab_link *at)
{
  const int side = slipping_wall(at);
  if (side < 0) return false;
  const gab_link mirror = mirror_of(at, side);
  return mirror.q != at->q && slipping_wall(&mirror) == side;
}

static gab_status add_navier_link(const gab_link *at, uint32_t to)
{
  gab_links *links = &at->block->links;
  const int side = slipping_wall(at);
  int32_t next[3];
  for (int axis = 0; axis < 3; axis++) next[axis] = at->x[axis] + (axis == side / 2 ? at->c[axis] : 0);
  gab_slip_link made = {.to = to,
                        .from = gab_link_origin(at),
                        .cell = at->cell,
                        .length = ldexp(side_at(at, side)->slip_length, at->block->at->level),
                        .roughness = ldexp(side_at(at, side)->roughness, at->block->at->level),
                        .q = (int16_t)at->q,
                        .side = (int8_t)side,
                        .has_next = gab_link_is_inside(at, next) && gab_link_is_fluid(at, next)};
  if (at->draft) GAB_TRY(gab_sparse_add_open(at->draft, at->cell, &made.cell));
  made.next = made.cell;
  if (made.has_next && at->draft)
    GAB_TRY(gab_sparse_add_open(at->draft, gab_sparse_number(at->draft, next), &made.next));
  else if (made.has_next) made.next = gab_link_index(at, next);
  GAB_LINK_APPEND(links->slips, links->slip_count, made);
  return GAB_OK;
}

/* Beyond walls and sides of given velocity. */
static gab_status add_closed_link(const gab_link *at)
{
  gab_links *links = &at->block->links;
  gab_wall_terms terms;
  uint32_t to = 0;
  bool adds = false;
  int64_t place[3];
  for (int axis = 0; axis < 3; axis++) place[axis] = gab_link_cell(at, at->b, axis);
  gab_side_terms(at->model, at->block->at->level, at->q, place, &terms);
  for (int k = 0; k < terms.count; k++) {
    const double term = terms.of[k].term;
    const int factor = terms.of[k].factor;
    if (term == 0) continue;
    if (!isfinite(term))
      GAB_FAIL(GAB_ERR_INPUT, "%s: the velocity is not finite at some place; look at the formula of shape",
               gab_condition_path(at->model->options.patches, factor % GAB_MOST_CONDITIONS));
    if (!adds) GAB_TRY(gab_link_target(at, &to));
    GAB_LINK_APPEND(links->velocities, links->velocity_count,
                    (gab_velocity_link){.to = to,
                                        .from = gab_link_origin(at),
                                        .term = term,
                                        .q = (int16_t)at->q,
                                        .factor = (int8_t)factor,
                                        .adds = adds});
    adds = true;
  }
  const bool fluctuates = is_turbulent(at), does_slip = slips(at);
  if (!adds && !fluctuates && !does_slip) return gab_link_add_bounce(at);
  if (!adds) {
    GAB_TRY(gab_link_target(at, &to));
    GAB_LINK_APPEND(links->velocities, links->velocity_count,
                    (gab_velocity_link){.to = to, .from = gab_link_origin(at), .q = (int16_t)at->q});
  }
  if (fluctuates) GAB_TRY(add_fluctuations(at, to));
  return does_slip ? add_navier_link(at, to) : GAB_OK;
}

/* Reflected at all sides that the boundary cell lies beyond: what arrives has started in the mirror cell,
 * with the velocity across those sides reversed. */
static gab_status add_slip_link(const gab_link *at)
{
  const gab_lattice *lattice = at->model->lattice;
  int32_t mirror[3];
  int c[3];
  for (int axis = 0; axis < 3; axis++) {
    int where = beyond(at, axis);
    mirror[axis] = at->b[axis] - where;
    c[axis] = where != 0 ? -at->c[axis] : at->c[axis];
  }
  if (gab_link_is_fluid(at, mirror)) return gab_link_add_copy(at, mirror, gab_lattice_direction(lattice, c));
  at->block->links.fallbacks++;
  return gab_link_add_bounce(at);
}

/* Of the sides of a place, those that fluid passes: bits. @param[in] sides  of sides_of() */
static unsigned open_among(const gab_link *at, unsigned sides)
{
  unsigned open = 0;
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    if ((sides >> side & 1) && gab_side_is_open(side_at(at, side))) open |= 1U << side;
  return open;
}

/* Whether open links may read what arrives from a cell: it is no finer one, and not beyond an open side. */
static bool has_sent(const gab_link *at, const int32_t cell[3])
{
  unsigned closed;
  gab_link from = *at;
  memcpy(from.b, cell, sizeof from.b);
  const unsigned sides = sides_of(&from, &closed);
  if (gab_flags_get(at->block->flags, cell[0], cell[1], cell[2]) & GAB_CELL_IS_FINER) return false;
  return closed || !open_among(&from, sides);
}

/* The axes along a side in whose two directions all that arrives in the fluid cell is known. */
static uint8_t known_axes(const gab_link *at, int side)
{
  uint8_t axes = 0;
  for (int axis = 0; axis < at->model->lattice->dimension; axis++) {
    int32_t below[3] = {at->x[0], at->x[1], at->x[2]}, above[3] = {at->x[0], at->x[1], at->x[2]};
    below[axis]--;
    above[axis]++;
    if (axis != side / 2 && at->model->along[axis] > 0 && has_sent(at, below) && has_sent(at, above))
      axes |= (uint8_t)(1 << axis);
  }
  return axes;
}

/* A place beyond an open side, next to a body there: the body continues beyond the side. */
static bool stands_before_body(const gab_link *at)
{
  int32_t inside[3];
  for (int axis = 0; axis < 3; axis++) inside[axis] = at->b[axis] - beyond(at, axis);
  return gab_flags_are_on(at->block->flags, inside[0], inside[1], inside[2], GAB_CELL_IS_SOLID);
}

/* Source of the population that arrives through one open side, if the next cell across that is fluid. @param[out] from,q  the cell that has
 * sent it and the direction; beyond free-slip sides, the mirror images of both */
static gab_open_source source_of(const gab_link *at, int side, int32_t from[3], int8_t *q)
{
  int c[3];
  int32_t other[3];
  for (int axis = 0; axis < 3; axis++) {
    const int where = beyond(at, axis);
    c[axis] = where != 0 && axis != side / 2 ? -at->c[axis] : at->c[axis];
    from[axis] = at->b[axis] - where;
    other[axis] = at->x[axis] + (where == 0 ? at->c[axis] : 0);
  }
  *q = (int8_t)gab_lattice_direction(at->model->lattice, c);
  const gab_flag_bits flags = gab_flags_get(at->block->flags, from[0], from[1], from[2]);
  if (flags & GAB_CELL_IS_FLUID) return GAB_OPEN_NEXT;
  if (!(flags & GAB_CELL_IS_FINER) || !gab_link_is_inside(at, other) || !gab_link_is_fluid(at, other))
    return GAB_OPEN_SELF;
  memcpy(from, other, sizeof other);
  *q = (int8_t)at->q;
  return GAB_OPEN_LINEAR;
}

/* The link of the same cell with the components along the side reversed. */
static gab_link mirror_of(const gab_link *at, int side)
{
  gab_link made = *at;
  int c[3];
  for (int axis = 0; axis < 3; axis++) c[axis] = axis == side / 2 ? at->c[axis] : -at->c[axis];
  made.q = gab_lattice_direction(at->model->lattice, c);
  made.c = at->model->lattice->c[made.q];
  for (int axis = 0; axis < 3; axis++) made.b[axis] = at->x[axis] - made.c[axis];
  return made;
}

/* Whether a fluid cell lies in front of another kind of patch than its free-slip place. A reflection takes what the mirror cell has sent,
 * and gives that one what this cell has sent: the link of the mirror cell comes from the place in front of this one, which does not
 * reflect. So both throw back, or one population would be used twice and another one never. */
static bool slips_next_to_other(const gab_link *at)
{
  bool is_next = false;
  for (int axis = 0; axis < 3; axis++) {
    const int where = beyond(at, axis), side = 2 * axis + (where > 0);
    if (where == 0) continue;
    const int own = condition_of(at, at->x, side);
    is_next = is_next || !gab_side_reflects(gab_lbm_condition(&at->model->options, own));
  }
  return is_next;
}

/* Whether what arrives in the next cell across an open side, in the same direction, is thrown back by a patch there. */
static bool is_thrown_back_at(const gab_link *at, int side, const int32_t next[3])
{
  gab_link further = *at;
  memcpy(further.x, next, sizeof further.x);
  further.b[side / 2] += at->c[side / 2];
  return slips_next_to_other(&further);
}

/* Of the link, or of its mirror. @param[in] next  the next cell across the side */
static void find_source(const gab_link *at, int k, const int32_t next[3], gab_open_link *open)
{
  unsigned closed;
  int32_t from[3];
  const unsigned sides = sides_of(at, &closed);
  open->source[k] = GAB_OPEN_SELF;
  if (closed || stands_before_body(at)) open->source[k] = GAB_OPEN_CLOSED;
  else if (open_among(at, sides) == 1U << open->side && gab_link_is_fluid(at, next) &&
           !is_thrown_back_at(at, open->side, next)) {
    open->source[k] = (uint8_t)source_of(at, open->side, from, &open->from_q[k]);
    open->from[k] = gab_link_index(at, from);
  }
}

/* In edges of open sides the fluid cell is the only source. */
static gab_status find_sources(const gab_link *at, gab_open_link *open)
{
  const int side = open->side;
  const gab_link mirror = mirror_of(at, side);
  int32_t next[3];
  unsigned closed;
  const unsigned sides = sides_of(at, &closed);
  for (int other = 0; other < GAB_SIDE_COUNT; other++) {
    if (!(sides >> other & 1) || side_at(at, other)->kind != side_at(at, side)->kind) continue;
    open->sides |= (uint8_t)(1U << other);
    open->conditions[other / 2] = (int8_t)condition_of(at, at->b, other);
  }
  open->mirror = (int8_t)mirror.q;
  open->source[0] = open->source[1] = GAB_OPEN_SELF;
  if (open_among(at, sides) != 1U << side) return GAB_OK;
  open->axes = known_axes(at, side);
  for (int axis = 0; axis < 3; axis++) next[axis] = at->x[axis] + (axis == side / 2 ? at->c[axis] : 0);
  find_source(at, 0, next, open);
  find_source(&mirror, 1, next, open);
  if (open->source[0] == GAB_OPEN_NEXT && !at->draft) open->next = gab_link_index(at, next);
  if (!at->draft || !gab_link_is_fluid(at, next)) return GAB_OK;
  GAB_TRY(gab_sparse_add_open(at->draft, gab_sparse_number(at->draft, next), &open->from[0]));
  open->from[1] = open->from[0];
  return GAB_OK;
}

/* What open sides give at a link, before their factors in time. */
static gab_status set_given(const gab_link *at, gab_open_link *open)
{
  int64_t place[3];
  for (int axis = 0; axis < 3; axis++) place[axis] = gab_link_cell(at, at->b, axis);
  for (int other = 0; other < GAB_SIDE_COUNT; other++) {
    if (!(open->sides >> other & 1)) continue;
    const gab_side *side = side_at(at, other);
    const double given =
        (side->density - 1) *
        (side->shape ? gab_side_shape_of_link(at->model, at->block->at->level, at->q, place, side, other, 0)
                     : 1);
    if (!isfinite(given))
      GAB_FAIL(GAB_ERR_INPUT, "%s: the pressure is not finite at some place; look at the formula of shape",
               gab_condition_path(at->model->options.patches, open->conditions[other / 2]));
    open->given[other / 2] = given;
  }
  return GAB_OK;
}

static gab_status add_open_link(const gab_link *at, int side)
{
  gab_links *links = &at->block->links;
  gab_open_link open = {.cell = at->cell, .q = (int8_t)at->q, .side = (int8_t)side};
  if (stands_before_body(at)) return gab_link_add_bounce(at);
  GAB_TRY(gab_link_target(at, &open.to));
  if (at->draft) GAB_TRY(gab_sparse_add_open(at->draft, at->cell, &open.cell));
  GAB_TRY(find_sources(at, &open));
  GAB_TRY(set_given(at, &open));
  if (gab_side_of(side_at(at, side))->keeps_state)
    open.state = gab_side_state_place(at->model, at->block->at->level, at->block->first, at->x, side, at->q);
  GAB_LINK_APPEND(links->opens, links->open_count, open);
  return GAB_OK;
}

static gab_status add_side_link(const gab_link *at)
{
  unsigned closed;
  (void)sides_of(at, &closed);
  if (closed) return add_closed_link(at);
  const int side = side_of(at);
  switch (gab_side_of(side_at(at, side))->arrival) {
  case GAB_ARRIVAL_REFLECTED:
    return slips_next_to_other(at) ? gab_link_add_bounce(at) : add_slip_link(at);
  case GAB_ARRIVAL_COMPUTED:
    return add_open_link(at, side);
  case GAB_ARRIVAL_WRAPPED:
  case GAB_ARRIVAL_BOUNCED:
    break;
  }
  return gab_link_add_bounce(at);
}

void gab_links_wall_terms(const gab_lbm_model *model, int level, const int64_t wall[3], int q,
                          gab_wall_terms *terms)
{
  gab_lbm_block place = {.at = &model->level[level], .first = {wall[0], wall[1], wall[2]}};
  const int8_t *c = model->lattice->c[q];
  const gab_link at = {.model = model, .block = &place, .q = q, .c = c, .x = {c[0], c[1], c[2]}};
  unsigned closed;
  gab_side_terms(model, level, q, wall, terms);
  if (sides_of(&at, &closed) != 0) return;
  const int body = gab_lbm_body_at(model, level, wall);
  if (body >= 0) gab_link_body_terms(model, level, wall, body, q, terms);
}

/* ------------------------------------------------------------------------------------------ all of a block
 */

/* The mirror of a side's link reverses directions along the side only. */
static bool is_of_body(const gab_open_link *link) { return link->mirror == gab_lattice_opposite(link->q); }

/* Moves the open links of bodies before those of sides, which read what arrives in their cell along the side (gab_open_view.spread): a
 * pressure patch of a body may write that. All links of a cell are of one run. @param[in] first  of the run */
static void sort_opens_of_run(gab_links *links, size_t first)
{
  size_t bodies = first;
  for (size_t i = first; i < links->open_count; i++) {
    const gab_open_link link = links->opens[i];
    if (!is_of_body(&link)) continue;
    memmove(&links->opens[bodies + 1], &links->opens[bodies], (i - bodies) * sizeof link);
    links->opens[bodies++] = link;
  }
}

static gab_status add_links_of_run(gab_link *at, const gab_run *run)
{
  const gab_lbm_model *model = at->model;
  const size_t first_open = at->block->links.open_count;
  for (at->q = 1; at->q < model->lattice->q; at->q++)
    for (int32_t i = 0; i < run->length; i++) {
      at->c = model->lattice->c[at->q];
      const int32_t x[3] = {run->x + i, run->y, run->z};
      for (int axis = 0; axis < 3; axis++) {
        at->x[axis] = x[axis];
        at->b[axis] = x[axis] - at->c[axis];
      }
      at->cell = run->start + (uint32_t)i;
      gab_flag_bits flags = gab_flags_get(at->block->flags, at->b[0], at->b[1], at->b[2]);
      if ((flags & GAB_CELL_IS_FLUID) && at->draft && gab_sparse_number(at->draft, at->b) == UINT32_MAX)
        GAB_TRY(gab_sparse_add_way(at->draft, at->cell, at->q, at->b, at->q));
      if (flags & GAB_CELL_IS_OUTSIDE) GAB_TRY(add_side_link(at));
      if (flags & GAB_CELL_IS_SOLID) GAB_TRY(gab_link_add_body(at));
    }
  sort_opens_of_run(&at->block->links, first_open);
  return GAB_OK;
}

static void note_start(gab_links *links, int32_t slab)
{
  links->start[slab][GAB_LINK_COPIES] = links->copy_count;
  links->start[slab][GAB_LINK_VELOCITIES] = links->velocity_count;
  links->start[slab][GAB_LINK_LINEARS] = links->linear_count;
  links->start[slab][GAB_LINK_OPENS] = links->open_count;
  links->start[slab][GAB_LINK_TURBULENTS] = links->turbulent_count;
  links->start[slab][GAB_LINK_SLIPS] = links->slip_count;
}

#define TRIM(list, count)                                                                                    \
  do {                                                                                                       \
    if ((count) > 0) GAB_TRY(GAB_RESIZE_ARRAY(&(list), (count), GAB_MEMORY_OTHER));                          \
  } while (0)

/* The lists have doubled as they grew: what is left over is given back. */
static gab_status trim_all(gab_links *links)
{
  TRIM(links->copies, links->copy_count);
  TRIM(links->velocities, links->velocity_count);
  TRIM(links->linears, links->linear_count);
  TRIM(links->opens, links->open_count);
  TRIM(links->momenta, links->momentum_count);
  TRIM(links->turbulents, links->turbulent_count);
  TRIM(links->slips, links->slip_count);
  return GAB_OK;
}

/* For the mass balance of the walls: what each slab makes is noted. */
static gab_status prepare_balance(const gab_lbm_model *model, gab_links *links)
{
  if (!model->walls.is_on || links->linear_count == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&links->excess, (size_t)model->slabs, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < links->linear_count; i++)
    links->linear_weight += (int64_t)ldexp(model->lattice->weight[links->linears[i].q], GAB_WALL_WEIGHT_BITS);
  return GAB_OK;
}

gab_status gab_links_build(const gab_lbm_model *model, gab_lbm_block *block, gab_sparse_draft *draft)
{
  GAB_TRY(GAB_NEW_ARRAY(&block->links.start, (size_t)model->slabs + 1, GAB_MEMORY_OTHER));
  gab_link at = {.model = model, .block = block, .draft = draft};
  for (int32_t slab = 0; slab < model->slabs; slab++) {
    note_start(&block->links, slab);
    for (size_t k = block->run_start[slab]; k < block->run_start[slab + 1]; k++)
      GAB_TRY(add_links_of_run(&at, &block->runs[k]));
  }
  note_start(&block->links, model->slabs);
  GAB_TRY(trim_all(&block->links));
  return prepare_balance(model, &block->links);
}

void gab_links_release(gab_links *links)
{
  gab_free(&links->start);
  gab_free(&links->copies);
  gab_free(&links->velocities);
  gab_free(&links->linears);
  gab_free(&links->opens);
  gab_free(&links->momenta);
  for (size_t t = 0; t < links->table_count; t++)
    for (int along = 0; along < 2; along++) gab_free(&links->tables[t].values[along]);
  gab_free(&links->tables);
  gab_free(&links->turbulents);
  gab_free(&links->slips);
  gab_free(&links->excess);
  *links = (gab_links){0};
}
