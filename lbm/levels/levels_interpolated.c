/* SPDX-License-Identifier: Apache-2.0 */
/* Where an interpolated wall crosses a border between levels.
 *
 * No rule that conserves the mass of each path across the border is of second order there (doc/levels.md). So populations
 * that cross a border within a coarse cell of such a wall are replaced by second-order values. The difference in mass is
 * charged to the walls, which remove it in the next step (wall_balance.c), that in momentum to the body.
 *
 * **Into fine cells.** A child of a coarse cell sends the population extended from its cell with slopes on all axes
 * (levels_slopes_impl.h): the same in both sub-steps, also where the next child has met the wall. Where a fine cell is
 * fluid but its coarse cell is solid (an open place), the population is extended from the nearest coarse fluid cell; there
 * is no half-way link on the border.
 *
 * **Into coarse cells.** Let S be the coarse cell that (X, q) comes from. If the centre of S is solid, (X, q) comes from
 * the wall: by the link of X, or, if S or the second node lies in the finer region, by the same interpolation. The
 * population of the second node is then the arrival in X from there. If S is fluid but only some children of X come from
 * fluid fine cells, their mean is used for all, shifted by the slope in X; if others come from the wall, X is extended.
 *
 * **Slopes.** A cell without a neighbour along an axis takes the slope of a cell next to it; without it, the slope from the
 * wall to its velocity, in the odd part of the equilibrium, unless the wall is too near.
 *
 * **Stability.** Two forms grew by factors per step at curved bodies: the second node extended from X by a whole cell, and
 * the slope from the wall at any distance (doc/levels.md). Tests: tests/lbm/levels/mpi_levels_bodies.c, mpi_levels_walls.c.
 * */
#include "lbm/levels/levels_slopes_impl.h"

#include <string.h>

bool gab_level_is_extended(const gab_level_maker *by, const gab_path_state *at)
{
  int32_t parent[3], source[3];
  gab_path_step before;
  gab_level_parent_of(by, at->cell, parent);
  gab_path_back(&by->paths, at, &before);
  if (before.kind == GAB_PATH_OPEN) return false;
  gab_level_parent_of(by, before.from.cell, source);
  if (!gab_level_is_near_interpolated(by, parent) && !gab_level_is_near_interpolated(by, source))
    return false;
  if (!before.bounced) return true;
  int64_t wall[3];
  for (int axis = 0; axis < 3; axis++) wall[axis] = by->view.origin[axis] + before.wall[axis];
  return gab_level_is_interpolated(by, gab_lbm_body_at(by->model, by->view.level, wall));
}

/* ------------------------------------------------------------------------------------------ open places */

/* Number of a place relative to its base: they are at most three fine cells apart along each axis. */
static int number_of(const gab_level_maker *by, const int32_t place[3], const int32_t base[3])
{
  int number = 0;
  for (int axis = by->model->lattice->dimension - 1; axis >= 0; axis--)
    number = 8 * number + (place[axis] - 2 * base[axis] + 3);
  return GAB_LEVEL_KEY_OPEN_PLACE + number;
}

static gab_status draft_open_place(gab_level_maker *by, const int32_t cell[3], int q)
{
  static const int8_t here[3] = {0, 0, 0};
  const int8_t *c = by->model->lattice->c[q];
  const int32_t place[3] = {cell[0] - c[0], cell[1] - c[1], cell[2] - c[2]};
  int32_t base[3];
  if (gab_level_view_look(&by->view, place).kind != GAB_PATH_WALL ||
      !gab_level_is_open_place(by->model, by->block, place, base))
    return GAB_OK;
  gab_level_explosion_draft made = {.explosion = {.cell = gab_level_index_of(by, place),
                                                  .q = q,
                                                  .instead_of_link = gab_level_index_of(by, cell),
                                                  .body = gab_level_body_near(by, base)}};
  made.first = made.second = made.extended =
      gab_level_key_of(gab_level_seen_from(by, base, here), base, number_of(by, place, base), q);
  return gab_level_add_explosion(by, &made);
}

gab_status gab_level_draft_open_places(gab_level_maker *by)
{
  const int32_t *cells = by->model->cells;
  int32_t cell[3];
  if (gab_geometry_body_count(by->model->geometry) == 0) return GAB_OK;
  for (cell[2] = 0; cell[2] < cells[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < cells[1]; cell[1]++)
      for (cell[0] = 0; cell[0] < cells[0]; cell[0]++) {
        if (gab_level_view_look(&by->view, cell).kind != GAB_PATH_FINE) continue;
        for (int q = 1; q < by->model->lattice->q; q++) GAB_TRY(draft_open_place(by, cell, q));
      }
  return GAB_OK;
}

/* Adds the populations that X sends for an open place. */
static gab_status give_open_place(gab_level_maker *by, const int32_t coarse[3], const int32_t place[3])
{
  const int dimension = by->model->lattice->dimension;
  int32_t base[3];
  if (!gab_level_find_base(by->model, by->block, true, place, base) || memcmp(base, coarse, sizeof base) != 0)
    return GAB_OK;
  for (int q = 1; q < by->model->lattice->q; q++) {
    const int8_t *c = by->model->lattice->c[q];
    const int32_t fine[3] = {place[0] + c[0], place[1] + c[1], place[2] + c[2]};
    gab_level_interface_outgoing made = {.cell = gab_level_index_of(by, coarse), .q = (int16_t)q};
    if (gab_level_view_look(&by->view, fine).kind != GAB_PATH_FINE) continue;
    GAB_TRY(gab_level_find_usable(by, coarse, &made.before, &made.behind, made.via));
    for (int axis = 0; axis < dimension; axis++)
      made.weight[axis] = (int8_t)(2 * place[axis] + 1 - (4 * coarse[axis] + 2) - c[axis]);
    GAB_TRY(gab_level_add_outgoing(by, fine, coarse, number_of(by, place, coarse), &made));
  }
  return GAB_OK;
}

gab_status gab_level_give_open_places(gab_level_maker *by, const int32_t coarse[3])
{
  const bool deep = by->model->lattice->dimension == 3;
  int32_t place[3];
  if (!gab_level_is_near_interpolated(by, coarse)) return GAB_OK;
  for (int32_t z = deep ? -2 : 0; z < (deep ? 4 : 1); z++)
    for (int32_t y = -2; y < 4; y++)
      for (int32_t x = -2; x < 4; x++) {
        place[0] = 2 * coarse[0] + x;
        place[1] = 2 * coarse[1] + y;
        place[2] = deep ? 2 * coarse[2] + z : coarse[2];
        if (gab_level_view_look(&by->view, place).kind == GAB_PATH_WALL)
          GAB_TRY(give_open_place(by, coarse, place));
      }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ coarse cells */

/* Whether a coarse cell lies in the finer region. */
static bool is_in_finer_region(const gab_level_maker *by, const int32_t coarse[3])
{
  int32_t place[3];
  gab_path_child(&by->paths, coarse, 0, place);
  const int kind = gab_level_view_look(&by->view, place).kind;
  return kind == GAB_PATH_FINE || kind == GAB_PATH_FINE_WALL;
}

static bool is_coarse_fluid(const gab_level_maker *by, const int32_t coarse[3])
{
  int32_t place[3];
  gab_path_child(&by->paths, coarse, 0, place);
  return gab_level_view_look(&by->view, place).kind == GAB_PATH_COARSE;
}

static bool is_fluid_in_finer_region(const gab_level_maker *by, const int32_t coarse[3])
{
  int64_t cell[3];
  gab_level_coarse_of_domain(by, coarse, cell);
  return is_in_finer_region(by, coarse) &&
         gab_geometry_cell(by->model->geometry, by->view.level - 1, cell) == GAB_CELL_FLUID;
}

/* Bouzidi, Firdaouss & Lallemand 2001, as in links. Where the second node lies in the finer region, its population is the
 * arrival from there. An extension from X instead would weigh the populations of X by more than 1 and was unstable. Without
 * a second node, half-way. */
static void by_wall(const gab_level_maker *by, const int32_t coarse[3], const int64_t solid[3], int body,
                    int q, gab_level_interface_replacement *wall)
{
  const int8_t *c = by->model->lattice->c[q];
  const int level = by->view.level - 1;
  gab_wall_terms terms;
  const int32_t second[3] = {coarse[0] + c[0], coarse[1] + c[1], coarse[2] + c[2]};
  const double delta = gab_geometry_wall_distance(by->model->geometry, level, solid, body, c);
  gab_links_wall_terms(by->model, level, solid, q, &terms);
  gab_level_interface_replacement made = {.kind = GAB_REPLACED_BY_WALL,
                                          .near = gab_level_index_of(by, coarse),
                                          .near_q = (int16_t)gab_lattice_opposite(q),
                                          .a = 1,
                                          .term = terms.body};
  made.far = made.near;
  made.far_q = made.near_q;
  if (delta < 0.5 && is_coarse_fluid(by, second)) made.far = gab_level_index_of(by, second);
  else if (delta < 0.5 && is_fluid_in_finer_region(by, second)) made.kind = GAB_REPLACED_BY_WALL_AND_ARRIVAL;
  if (delta < 0.5 && (made.far != made.near || made.kind == GAB_REPLACED_BY_WALL_AND_ARRIVAL)) {
    made.a = 2 * delta;
    made.b = 1 - 2 * delta;
  } else if (delta > 0.5) {
    made.far_q = (int16_t)q;
    made.a = 1 / (2 * delta);
    made.b = (2 * delta - 1) / (2 * delta);
    made.term /= 2 * delta;
  }
  *wall = made;
}

typedef struct search {
  int q;
  bool is_found;
  gab_child_arrival arrival;
} search;

static gab_status take_arrival(void *user, const gab_child_arrival *arrival)
{
  search *it = user;
  if (arrival->q != it->q) return GAB_OK;
  it->is_found = true;
  it->arrival = *arrival;
  return GAB_OK;
}

/* Arrival from a fluid cell in the finer region, if some of the children do not come from there: the mean of those that do,
 * or the population that X sent, shifted. */
static gab_status from_finer(gab_level_maker *by, const int32_t coarse[3], int q, bool *is_needed,
                             gab_level_interface_replacement *made)
{
  const int dimension = by->model->lattice->dimension;
  const int8_t *c = by->model->lattice->c[q];
  const int32_t end[3] = {coarse[0] + 1, coarse[1] + 1, coarse[2] + 1};
  search seen = {.q = q};
  GAB_TRY(gab_child_arrivals(&by->paths, coarse, end, take_arrival, &seen));
  const gab_child_arrival *arrival = &seen.arrival;
  bool is_straight = seen.is_found && arrival->touched > 0;
  for (int i = 0; i < arrival->touched; i++)
    is_straight = is_straight && !arrival->touch[i].bounced && arrival->touch[i].start.q == q;
  *is_needed = !is_straight || arrival->touched < 1 << dimension;
  *made = (gab_level_interface_replacement){.kind = GAB_REPLACED_BY_EXTENSION};
  for (int axis = 0; axis < 3; axis++) made->weight[axis] = (int8_t)(-4 * c[axis]);
  GAB_TRY(gab_level_find_usable(by, coarse, &made->before, &made->behind, made->via));
  if (!is_straight) return GAB_OK;
  made->kind = GAB_REPLACED_BY_MEAN;
  made->count = (uint8_t)arrival->touched;
  memset(made->weight, 0, sizeof made->weight);
  for (int i = 0; i < arrival->touched; i++) {
    const gab_child_touch *touch = &arrival->touch[i];
    for (int axis = 0; axis < dimension; axis++) {
      const int half = (touch->child >> axis & 1) ? 1 : -1;
      made->weight[axis] = (int8_t)(made->weight[axis] - (half + (touch->second ? c[axis] : -c[axis])));
    }
  }
  return GAB_OK;
}

/* Terms of sides are balanced among arrivals. */
static bool has_side_term(const gab_level_interface *interface, size_t arrival)
{
  for (size_t i = 0; i < interface->arrival_term_count; i++)
    if (interface->arrival_terms[i].at == arrival && interface->arrival_terms[i].factor >= 0) return true;
  return false;
}

/* @param[in] is_listed  there is an arrival already */
static gab_status find_replacement(gab_level_maker *by, const int32_t coarse[3], int q, bool is_listed,
                                   bool *is_needed, gab_level_interface_replacement *made)
{
  const int8_t *c = by->model->lattice->c[q];
  const int32_t source[3] = {coarse[0] - c[0], coarse[1] - c[1], coarse[2] - c[2]};
  int64_t solid[3];
  *made = (gab_level_interface_replacement){.kind = GAB_REPLACED_BY_LINK};
  *is_needed = is_listed;
  if (q == 0) return GAB_OK;
  gab_level_coarse_of_domain(by, source, solid);
  const int body = gab_geometry_cell(by->model->geometry, by->view.level - 1, solid);
  const bool is_finer = is_in_finer_region(by, source);
  if (body == GAB_CELL_FLUID && is_finer) return from_finer(by, coarse, q, is_needed, made);
  if (body == GAB_CELL_FLUID && is_coarse_fluid(by, source)) return GAB_OK;
  *is_needed = is_listed && gab_level_is_interpolated(by, body);
  if (!gab_level_is_interpolated(by, body)) return GAB_OK;
  gab_level_interface_replacement wall;
  by_wall(by, coarse, solid, body, q, &wall);
  if (!is_finer && wall.kind == GAB_REPLACED_BY_WALL) return GAB_OK;
  *is_needed = true;
  *made = wall;
  return GAB_OK;
}

/* @return contribution of moving bodies */
static double drop_terms(gab_level_interface *interface, size_t arrival)
{
  size_t kept = 0;
  double dropped = 0;
  for (size_t i = 0; i < interface->arrival_term_count; i++)
    if (interface->arrival_terms[i].at != arrival)
      interface->arrival_terms[kept++] = interface->arrival_terms[i];
    else dropped += interface->arrival_terms[i].term;
  interface->arrival_term_count = kept;
  return dropped;
}

/* Replaces the arrival of (X, q), if needed. @param[in] by_arrivals  only replacements that use other arrivals; else only
 * the others */
static gab_status draft_replacement(gab_level_maker *by, const int32_t coarse[3], int q, size_t first,
                                    bool by_arrivals)
{
  gab_level_interface *interface = by->interface;
  bool is_listed = false, is_needed;
  gab_level_interface_replacement made;
  for (size_t i = first; i < interface->arrival_count; i++)
    is_listed = is_listed || interface->arrivals[i].q == q;
  GAB_TRY(find_replacement(by, coarse, q, is_listed, &is_needed, &made));
  if (!is_needed || (made.kind == GAB_REPLACED_BY_WALL_AND_ARRIVAL) != by_arrivals) return GAB_OK;
  GAB_TRY(gab_level_arrival_of(by, coarse, q, first, &made.arrival));
  if (has_side_term(interface, made.arrival)) return GAB_OK;
  if (by_arrivals) GAB_TRY(gab_level_arrival_of(by, coarse, gab_lattice_opposite(q), first, &made.far));
  made.body = gab_level_body_near(by, coarse);
  made.dropped = drop_terms(interface, made.arrival);
  if (made.kind == GAB_REPLACED_BY_WALL || by_arrivals) interface->arrivals[made.arrival].from_finer = true;
  void *items = interface->replacements;
  GAB_TRY(gab_level_list_grow(&items, interface->replacement_count, &by->replacement_capacity, sizeof made));
  interface->replacements = items;
  interface->replacements[interface->replacement_count++] = made;
  return GAB_OK;
}

gab_status gab_level_draft_replacements(gab_level_maker *by, const int32_t coarse[3], size_t first)
{
  if (first == by->interface->arrival_count || !gab_level_is_near_interpolated(by, coarse)) return GAB_OK;
  for (int by_arrivals = 0; by_arrivals < 2; by_arrivals++)
    for (int q = 0; q < by->model->lattice->q; q++)
      GAB_TRY(draft_replacement(by, coarse, q, first, by_arrivals));
  return GAB_OK;
}
