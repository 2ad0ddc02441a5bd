/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of a block next to finer ones: values for their cells, and arrivals from there. */
#include "lbm/levels/levels_slopes_impl.h"

#include <stdlib.h>
#include <string.h>

/* Whether the source cell of (X, q) lies beyond open sides only. @param[out] along  q without its components across those
 * sides */
static bool comes_from_open_side(const gab_level_maker *by, const int32_t coarse[3], int q, int8_t along[3])
{
  const gab_domain *domain = gab_geometry_domain(by->model->geometry);
  int beyond = 0;
  int64_t from[3];
  for (int axis = 0; axis < 3; axis++) {
    along[axis] = by->model->lattice->c[q][axis];
    from[axis] =
        by->view.origin[axis] + (axis < domain->dimension ? 2 : 1) * (int64_t)(coarse[axis] - along[axis]);
  }
  for (int axis = 0; axis < 3; axis++) {
    const bool is_above = from[axis] >= domain->cells[axis] << by->view.level;
    if (along[axis] == 0 || domain->periodic[axis] || (from[axis] >= 0 && !is_above)) continue;
    if (!gab_side_is_open(gab_side_at(by->model, by->view.level, from, 2 * axis + is_above))) return false;
    along[axis] = 0;
    beyond++;
  }
  return beyond > 0;
}

/* Whether a cell next to X is a coarse fluid cell of this block. @param[in] sign  of the offset */
static bool is_cell_of_block(const gab_level_maker *by, const int32_t coarse[3], const int8_t along[3],
                             int sign)
{
  int32_t cell[3], place[3];
  for (int axis = 0; axis < 3; axis++) {
    cell[axis] = coarse[axis] + sign * along[axis];
    if (cell[axis] < 0 || cell[axis] >= by->model->cells[axis]) return false;
  }
  gab_path_child(&by->paths, cell, 0, place);
  return gab_level_view_look(&by->view, place).kind == GAB_PATH_COARSE;
}

/* Population in s2 of a child of a coarse cell that entered through an open side. The link of the cell takes `next` from
 * the neighbour against q along the side; if that is not in this block, or the link is of another kind, the arrival is
 * sent. */
static gab_level_interface_outgoing outgoing_from_side(const gab_level_maker *by, const int32_t coarse[3],
                                                       int q)
{
  gab_level_interface_outgoing made = {
      .cell = gab_level_index_of(by, coarse), .q = (int16_t)q, .kind = GAB_OUTGOING_ARRIVING};
  int8_t along[3];
  if (!comes_from_open_side(by, coarse, q, along) || !is_cell_of_block(by, coarse, along, -1)) return made;
  made.kind = GAB_OUTGOING_FROM_SIDE;
  for (int axis = 0; axis < 3; axis++) made.weight[axis] = (int8_t)-along[axis];
  return made;
}

/* Adds the populations of a coarse cell that fine blocks receive. */
static gab_status draft_outgoing(gab_level_maker *by, const int32_t coarse[3])
{
  const uint32_t around = gab_child_surroundings(&by->paths, coarse);
  for (int q = 1; q < by->model->lattice->q; q++) {
    const int8_t *c = by->model->lattice->c[q];
    if (!gab_child_may_meet(around, (const int[3]){c[0], c[1], c[2]})) continue;
    gab_level_entry entries[GAB_CHILD_COUNT_MAX];
    gab_level_slopes slopes;
    gab_level_interface_outgoing outgoing = {.cell = gab_level_index_of(by, coarse), .q = (int16_t)q};
    gab_level_find_entries(by, coarse, q, entries);
    gab_level_find_slopes(by, coarse, q, entries, &slopes);
    outgoing.before = slopes.before;
    outgoing.behind = slopes.behind;
    for (int child = 0; child < 1 << by->model->lattice->dimension; child++) {
      const gab_level_entry *found = &entries[child];
      if (found->sub == 0) continue;
      for (int axis = 0; axis < by->model->lattice->dimension; axis++)
        outgoing.weight[axis] = (int8_t)gab_level_entry_weight(by, found, child, q, axis);
      GAB_TRY(gab_level_add_outgoing(by, found->cell, coarse, child, &outgoing));
      gab_path_state at = {.q = q};
      gab_path_child(&by->paths, coarse, child, at.cell);
      if (found->sub == 1 && gab_level_is_extended(by, &at)) {
        gab_level_interface_outgoing extended = outgoing;
        GAB_TRY(gab_level_find_usable(by, coarse, &extended.before, &extended.behind, extended.via));
        GAB_TRY(gab_level_add_outgoing(by, found->cell, coarse, GAB_LEVEL_KEY_EXTENDED + child, &extended));
      }
      if (!found->is_open) continue;
      const gab_level_interface_outgoing from_side = outgoing_from_side(by, coarse, q);
      GAB_TRY(gab_level_add_outgoing(by, found->cell, coarse, GAB_LEVEL_KEY_ARRIVES, &from_side));
    }
  }
  return GAB_OK;
}

static bool comes_from_finer(const gab_level_maker *by, const gab_child_arrival *arrival)
{
  const int8_t *c = by->model->lattice->c[arrival->q];
  int32_t child[3];
  for (int axis = 0; axis < 3; axis++)
    child[axis] = (arrival->cell[axis] - c[axis]) * (axis < by->model->lattice->dimension ? 2 : 1);
  int kind = gab_level_view_look(&by->view, child).kind;
  return kind == GAB_PATH_FINE || kind == GAB_PATH_FINE_WALL;
}

/* The wall that bounces children back on their path to (X, q): the first one met. @param[out] middle  of all those
 * children, in children from the corner of the view: symmetric under reflection @return false if there is none */
static bool find_wall(const gab_level_maker *by, const int32_t coarse[3], int q, int32_t wall[3],
                      double middle[3])
{
  const int dimension = by->model->lattice->dimension;
  const int8_t *c = by->model->lattice->c[q];
  unsigned met = 0;
  double sum[3] = {0, 0, 0};
  int count = 0;
  for (int way = 1; way <= 2; way++)
    for (int child = 0; child < 1 << dimension; child++) {
      int32_t own[3], beyond[3];
      gab_path_child(&by->paths, coarse, child, own);
      for (int axis = 0; axis < 3; axis++) beyond[axis] = own[axis] - way * c[axis];
      const int kind = gab_level_view_look(&by->view, beyond).kind;
      if ((met >> child & 1) || (kind != GAB_PATH_WALL && kind != GAB_PATH_FINE_WALL)) continue;
      if (count++ == 0) memcpy(wall, beyond, sizeof beyond);
      met |= 1U << child;
      for (int axis = 0; axis < 3; axis++) sum[axis] += own[axis] + 0.5;
    }
  for (int axis = 0; axis < 3 && count > 0; axis++) middle[axis] = sum[axis] / count;
  return count > 0;
}

/* Impulses of the last arrival: its bounced-back part of (X, -q); minus the lent amount; minus the part of its link that is
 * not kept. */
static gab_status add_impulses_of_arrival(gab_level_maker *by, const gab_child_arrival *arrival)
{
  const int n = 1 << by->model->lattice->dimension;
  int32_t wall[3];
  double middle[3];
  gab_level_interface_impulse made = {.when = GAB_LEVEL_IN_EACH,
                                      .at = gab_level_index_of(by, arrival->cell),
                                      .q = (int8_t)gab_lattice_opposite(arrival->q),
                                      .sent_q = (int8_t)gab_lattice_opposite(arrival->q)};
  const uint32_t number = (uint32_t)by->interface->arrival_count - 1;
  const gab_level_interface_arrival *last = &by->interface->arrivals[number];
  if ((last->before | last->behind) && find_wall(by, arrival->cell, arrival->q, wall, middle)) {
    gab_level_interface_impulse less = made;
    less.kind = GAB_IMPULSE_LENT;
    less.at = number;
    less.share = 1.0 / n;
    GAB_TRY(gab_level_add_impulse(by, less, wall, middle, false));
  }
  if (arrival->back > 0 && find_wall(by, arrival->cell, arrival->q, wall, middle)) {
    made.kind = GAB_IMPULSE_SENT;
    made.share = (double)arrival->back / n;
    GAB_TRY(gab_level_add_impulse(by, made, wall, middle, false));
  }
  for (int axis = 0; axis < 3; axis++)
    wall[axis] = (arrival->cell[axis] - by->model->lattice->c[arrival->q][axis]) *
                 (axis < by->model->lattice->dimension ? 2 : 1);
  if (arrival->keep == n || gab_level_view_look(&by->view, wall).kind != GAB_PATH_WALL) return GAB_OK;
  made.kind = GAB_IMPULSE_LINK;
  made.share = (double)arrival->keep / n - 1;
  for (int axis = 0; axis < 3; axis++) middle[axis] = wall[axis] + 1.0; /* of the solid coarse cell */
  return gab_level_add_impulse(by, made, wall, middle, false);
}

/* Arrival where a border ends at an open side and (X, q) comes from beyond both: see gab_level_interface_arrival. A quarter
 * of its children comes from fine cells, from a place half a coarse cell nearer than X - c across the side; the others from
 * beyond the side. Where q also has a component along the end of the border, that quarter does not represent all: the link
 * is used. */
static void find_arrival_at_side(const gab_level_maker *by, const gab_child_arrival *arrival,
                                 gab_level_interface_arrival *made)
{
  const int n = 1 << by->model->lattice->dimension;
  const int8_t *c = by->model->lattice->c[arrival->q];
  int8_t along[3];
  made->times = 1;
  if (arrival->touched != n / 4 || !comes_from_open_side(by, arrival->cell, arrival->q, along)) return;
  const int across = abs(c[0] - along[0]) + abs(c[1] - along[1]) + abs(c[2] - along[2]);
  if (across != 1 || abs(along[0]) + abs(along[1]) + abs(along[2]) != 1) return;
  if (!is_cell_of_block(by, arrival->cell, along, 1)) return;
  made->times = 4;
  made->keep = (int8_t)(n / 2);
  memcpy(made->other, along, sizeof made->other);
}

static gab_status draft_arrival(void *user, const gab_child_arrival *arrival)
{
  gab_level_maker *by = user;
  gab_level_interface *interface = by->interface;
  const int n = 1 << by->model->lattice->dimension;
  gab_level_key sums[GAB_CHILD_COUNT_MAX];
  gab_level_keys list = {.item = sums};
  for (int i = 0; i < arrival->touched; i++)
    sums[list.count++] =
        gab_level_coarse_key(by, arrival->touch[i].start.cell, arrival->cell, GAB_LEVEL_KEY_SUM, arrival->q);
  gab_level_keys_sort(&list);
  void *items = interface->arrivals;
  GAB_TRY(gab_level_list_grow(&items, interface->arrival_count, &by->arrival_capacity,
                              sizeof *interface->arrivals));
  interface->arrivals = items;
  gab_level_interface_arrival made = {.cell = gab_level_index_of(by, arrival->cell),
                                      .q = (int16_t)arrival->q,
                                      .keep = (int8_t)arrival->keep,
                                      .back = (int8_t)arrival->back,
                                      .from_finer = comes_from_finer(by, arrival),
                                      .first = (uint32_t)interface->order_count};
  find_arrival_at_side(by, arrival, &made);
  gab_level_find_lent(by, &made, arrival->cell);
  for (size_t i = 0; i < list.count; i++) {
    GAB_TRY(gab_level_keys_add(&by->keys, sums[i]));
    items = by->order;
    GAB_TRY(gab_level_list_grow(&items, interface->order_count, &by->order_capacity, sizeof *by->order));
    by->order = items;
    by->order[interface->order_count++] = sums[i];
  }
  made.last = (uint32_t)interface->order_count;
  for (int i = 0; i < arrival->touched; i++)
    if (arrival->touch[i].bounced)
      GAB_TRY(gab_level_add_term(by, &interface->arrival_terms, &interface->arrival_term_count,
                                 (uint32_t)interface->arrival_count, arrival->touch[i].wall, arrival->q,
                                 1.0 / n));
  interface->arrivals[interface->arrival_count++] = made;
  return add_impulses_of_arrival(by, arrival);
}

/* True if a finer block lies within two coarse cells. */
static bool is_near_finer(const gab_level_maker *by, const int32_t coarse[3])
{
  enum { REACH = 2 };
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    bool near = by->block->beside.kind[direction] == GAB_BESIDE_FINER;
    for (int axis = 0; axis < 3 && near; axis++)
      near = (offset[axis] >= 0 || coarse[axis] < REACH) &&
             (offset[axis] <= 0 || coarse[axis] >= by->model->cells[axis] - REACH);
    if (near) return true;
  }
  return false;
}

static gab_status keep_coarser_side(gab_level_maker *by)
{
  gab_level_interface *interface = by->interface;
  gab_level_keys_sort(&by->outgoing_list);
  GAB_TRY(gab_level_keys_parts(&by->outgoing_list, 0, INT32_MAX, &interface->down_out));
  interface->outgoing_count = by->outgoing_list.count;
  GAB_TRY(GAB_NEW_ARRAY(&interface->outgoing_list, interface->outgoing_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < by->draft_count; i++) /* a wall that several children share is the same for all */
    interface->outgoing_list[gab_level_keys_index(&by->outgoing_list, &by->drafts[i].name)] =
        by->drafts[i].outgoing;
  gab_level_keys_sort(&by->keys);
  GAB_TRY(gab_level_keys_parts(&by->keys, 0, INT32_MAX, &interface->up_in));
  interface->partial_count = by->keys.count;
  GAB_TRY(GAB_NEW_ARRAY(&interface->order, interface->order_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < interface->order_count; i++)
    interface->order[i] = gab_level_keys_index(&by->keys, &by->order[i]);
  GAB_TRY(GAB_NEW_ARRAY(&interface->gains, interface->gain_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < interface->gain_count; i++) {
    interface->gains[i] = by->gains[i].gain;
    interface->gains[i].sum = gab_level_keys_index(&by->keys, &by->gains[i].sum);
  }
  return GAB_OK;
}

gab_status gab_level_make_coarser_side(gab_level_maker *by)
{
  const int32_t *cells = by->model->cells;
  by->keys.count = by->outgoing_list.count = 0;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        const int32_t lo[3] = {x, y, z}, hi[3] = {x + 1, y + 1, z + 1};
        const int32_t child[3] = {2 * x, 2 * y, by->model->lattice->dimension == 3 ? 2 * z : z};
        if (!is_near_finer(by, lo) || gab_level_view_look(&by->view, child).kind != GAB_PATH_COARSE) continue;
        GAB_TRY(draft_outgoing(by, lo));
        GAB_TRY(gab_level_give_open_places(by, lo));
        const size_t first = by->interface->arrival_count;
        GAB_TRY(gab_child_arrivals(&by->paths, lo, hi, draft_arrival, by));
        GAB_TRY(gab_level_balance_edges(by, lo, first));
        GAB_TRY(gab_level_balance_ramps(by, lo, first));
        GAB_TRY(gab_level_draft_gains(by, lo, first));
        GAB_TRY(gab_level_draft_replacements(by, lo, first));
      }
  return keep_coarser_side(by);
}
